/* Natural cubic spline through n knots (t_i, y_i) with second derivatives M_i, M_0 = M_{n-1} = 0.
 * With h = t_{i+1} - t_i, u = (t - t_i) / h, w = 1 - u:
 *   value = w y_i + u y_{i+1} + h^2/6 [ (w^3 - w) M_i + (u^3 - u) M_{i+1} ]
 *   rate  = (y_{i+1} - y_i)/h + h/6 [ (1 - 3 w^2) M_i + (3 u^2 - 1) M_{i+1} ]
 * The interior M solve the symmetric tridiagonal system T M = B y, which makes the rate continuous:
 *   h_{i-1} M_{i-1} + 2 (h_{i-1} + h_i) M_i + h_i M_{i+1} = 6 [ (y_{i+1} - y_i)/h_i - (y_i - y_{i-1})/h_{i-1} ].
 * Derivatives with respect to the y_i need rows of T^-1. Elimination of T from the left gives the pivots L_i,
 * elimination from the right the pivots R_i. Then (T^-1)_ii = 1 / (L_i + R_i - T_ii). All other entries of row i follow
 * outward from entry i by one factor per knot, without additional memory. */
#include <assert.h>

#include "control/kinds.h"

static double knot_width(const SceneSignal* source, int i) { return source->times[i + 1] - source->times[i]; }

static double diagonal(const SceneSignal* source, int i) {
  return 2 * (knot_width(source, i - 1) + knot_width(source, i));
}

static void compute_pivots(const SceneSignal* source, double* left, double* right) {
  int last = source->rows - 2; /* last interior knot */
  for (int i = 1; i <= last; i++) {
    double h = knot_width(source, i - 1);
    left[i] = diagonal(source, i) - (i > 1 ? h * h / left[i - 1] : 0);
  }
  for (int i = last; i >= 1; i--) {
    double h = knot_width(source, i);
    right[i] = diagonal(source, i) - (i < last ? h * h / right[i + 1] : 0);
  }
}

static void solve_curvature(const SceneSignal* source, const double* left, double* curvature) {
  int n = source->rows, channels = source->channels;
  for (int c = 0; c < channels; c++) {
    const double* y = source->values + c;
    double* m = curvature + c;
    for (int i = 1; i < n - 1; i++) {
      double before = knot_width(source, i - 1), after = knot_width(source, i);
      double bend =
          (y[(i + 1) * channels] - y[i * channels]) / after - (y[i * channels] - y[(i - 1) * channels]) / before;
      m[i * channels] = 6 * bend - (i > 1 ? before / left[i - 1] * m[(i - 1) * channels] : 0);
    }
    for (int i = n - 2; i >= 1; i--)
      m[i * channels] = (m[i * channels] - knot_width(source, i) * m[(i + 1) * channels]) / left[i];
  }
}

void spline_create(Signal* signal) {
  const SceneSignal* source = signal->source;
  size_t rows = (size_t)source->rows, channels = (size_t)source->channels;
  signal->curvature = MEMORY_NEW(double, rows* channels);
  signal->pivots = MEMORY_NEW(double, 2 * rows);
  if (source->rows < 3) return; /* one knot gives a constant, two knots a line */
  compute_pivots(source, signal->pivots, signal->pivots + source->rows);
  solve_curvature(source, signal->pivots, signal->curvature);
}

/* Weights of the values and second derivatives at the two knots of a segment, in the value and in the rate of the
 * spline. */
typedef struct {
  double value[4], rate[4];
} Basis;

static Basis compute_basis(SignalSegment span) {
  double h = span.width, u = span.fraction, w = 1 - u;
  Basis basis = {{w, u, h * h / 6 * (w * w * w - w), h * h / 6 * (u * u * u - u)},
                 {-1 / h, 1 / h, h / 6 * (1 - 3 * w * w), h / 6 * (3 * u * u - 1)}};
  return basis;
}

static double basis_sum(const double weight[4], const double* y, const double* m, int channels) {
  return weight[0] * y[0] + weight[1] * y[channels] + weight[2] * m[0] + weight[3] * m[channels];
}

void spline_eval(const Signal* signal, double t, double* value, double* rate) {
  const SceneSignal* source = signal->source;
  SignalSegment span = signal_find_segment(source, t);
  if (span.width == 0) {
    piecewise_eval(signal, t, value, rate);
    return;
  }
  Basis basis = compute_basis(span);
  size_t first = (size_t)span.row * (size_t)source->channels;
  for (int c = 0; c < source->channels; c++) {
    const double *y = source->values + first + c, *m = signal->curvature + first + c;
    value[c] = basis_sum(basis.value, y, m, source->channels);
    rate[c] = basis_sum(basis.rate, y, m, source->channels);
  }
}

/* The acceleration is linear between the second derivatives at the two knots of the segment. */
void spline_acceleration(const Signal* signal, double t, double* acceleration) {
  assert(signal->source->rows > 0);
  const SceneSignal* source = signal->source;
  SignalSegment span = signal_find_segment(source, t);
  if (span.width == 0) return;
  const double* m = signal->curvature + (size_t)span.row * (size_t)source->channels;
  for (int c = 0; c < source->channels; c++)
    acceleration[c] = (1 - span.fraction) * m[c] + span.fraction * m[c + source->channels];
}

/* Adds z times row i of the matrix B, the right-hand side of the system for the second derivatives, to gradient. Row i
 * has three nonzero entries. */
static void add_second_difference_row(const SceneSignal* source, int i, double z, double* gradient) {
  double before = 6 * z / knot_width(source, i - 1), after = 6 * z / knot_width(source, i);
  gradient[(i - 1) * source->channels] += before;
  gradient[i * source->channels] -= before + after;
  gradient[(i + 1) * source->channels] += after;
}

/* Adds weight times the derivatives of the spline's second derivative at knot i with respect to all knot values to
 * gradient. These derivatives are row i of T^-1 B. */
static void add_curvature(const Signal* signal, int i, double weight, double* gradient) {
  const SceneSignal* source = signal->source;
  int last = source->rows - 2;
  if (i < 1 || i > last) return;
  const double *left = signal->pivots, *right = left + source->rows;
  double center = weight / (left[i] + right[i] - diagonal(source, i));
  add_second_difference_row(source, i, center, gradient);
  double z = center;
  for (int j = i - 1; j >= 1; j--)
    add_second_difference_row(source, j, z *= -knot_width(source, j) / left[j], gradient);
  z = center;
  for (int j = i + 1; j <= last; j++)
    add_second_difference_row(source, j, z *= -knot_width(source, j - 1) / right[j], gradient);
}

void spline_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  const SceneSignal* source = signal->source;
  SignalSegment span = signal_find_segment(source, t);
  if (span.width == 0) {
    piecewise_eval_vjp(signal, t, a, b, gradient);
    return;
  }
  Basis basis = compute_basis(span);
  for (int c = 0; c < source->channels; c++) {
    double weight[4];
    for (int k = 0; k < 4; k++) weight[k] = a[c] * basis.value[k] + b[c] * basis.rate[k];
    double* channel = gradient + c;
    channel[span.row * source->channels] += weight[0];
    channel[(span.row + 1) * source->channels] += weight[1];
    add_curvature(signal, span.row, weight[2], channel);
    add_curvature(signal, span.row + 1, weight[3], channel);
  }
}
