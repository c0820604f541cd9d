/* Piecewise linear signals: constants, keyframes and sequences. Also signals that are constant during each interval. */
#include <assert.h>

#include "control/kinds.h"

/* Relative tolerance of row times. A time t = k dt that is rounded to just below a row counts as the row, because the
 * slope of the next segment applies there. */
#define ROW_TOLERANCE 1e-12

double signal_row_time(const SceneSignal* source, int row) {
  assert(row >= 0 && (source->type == SIGNAL_CONSTANT || row < source->rows));
  if (source->type == SIGNAL_CONSTANT) return 0;
  return source->type == SIGNAL_SEQUENCE ? row * source->interval : source->times[row];
}

static bool row_reached(const SceneSignal* source, int row, double t) {
  double start = signal_row_time(source, row);
  return t >= start - ROW_TOLERANCE * fabs(start);
}

/* Returns the last row at or before t, or -1 before the first row. */
static int row_find(const SceneSignal* source, double t) {
  int low = -1, high = source->rows;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (row_reached(source, middle, t))
      low = middle;
    else
      high = middle;
  }
  return low;
}

int signal_next_row(const SceneSignal* source, double t) { return row_find(source, t) + 1; }

SignalSegment signal_find_segment(const SceneSignal* source, double t) {
  assert(source->type == SIGNAL_CONSTANT || source->rows > 0);
  if (source->type == SIGNAL_CONSTANT || source->rows < 2) return (SignalSegment){0, 0, 0};
  int row = row_find(source, t);
  if (row < 0) return (SignalSegment){0, 0, 0};
  if (row == source->rows - 1) return (SignalSegment){row, 0, 0};
  double start = signal_row_time(source, row), width = signal_row_time(source, row + 1) - start;
  return (SignalSegment){row, width, (t - start) / width};
}

/* Returns the length of the segment that begins at `row` [s]; INFINITY before the first and after the last row. */
static double segment_length(const SceneSignal* source, int row) {
  if (row < 0 || row >= source->rows - 1) return (double)INFINITY;
  return signal_row_time(source, row + 1) - signal_row_time(source, row);
}

/* Returns true if the segment from `row` to `row` + 1 is a jump (signal_first_jump). */
static bool is_jump(const SceneSignal* source, int row, double shortest) {
  double length = segment_length(source, row);
  double neighbour = fmin(segment_length(source, row - 1), segment_length(source, row + 1));
  return length < shortest && neighbour >= fmax(shortest, 2 * length);
}

static bool is_piecewise_linear(const SceneSignal* source) {
  return (source->type == SIGNAL_KEYFRAMES || source->type == SIGNAL_SEQUENCE) && source->rows >= 2;
}

double signal_first_jump(const Signal* signal, SignalSpan interval, double shortest) {
  const SceneSignal* s = signal->source;
  if (!is_piecewise_linear(s) || s->integrated) return (double)INFINITY;
  double from = interval.from + signal->begin, to = interval.to + signal->begin;
  int first = row_find(s, from);
  for (int row = first < 0 ? 0 : first; row < s->rows - 1 && signal_row_time(s, row) < to; row++) {
    double middle = signal_row_time(s, row) + 0.5 * segment_length(s, row);
    if (middle >= from && middle < to && is_jump(s, row, shortest)) return middle - signal->begin;
  }
  return (double)INFINITY;
}

double signal_first_rate_jump(const Signal* signal, SignalSpan interval, double shortest, double apart) {
  const SceneSignal* s = signal->source;
  if (!is_piecewise_linear(s)) return (double)INFINITY;
  double from = interval.from + signal->begin, to = interval.to + signal->begin;
  int first = row_find(s, from);
  for (int row = first < 0 ? 0 : first; row < s->rows && signal_row_time(s, row) <= to; row++) {
    if (signal_row_time(s, row) <= from) continue;
    bool is_corner = fmin(segment_length(s, row - 1), segment_length(s, row)) >= apart;
    if (s->integrated ? is_jump(s, row, shortest) : is_corner) return signal_row_time(s, row) - signal->begin;
  }
  return (double)INFINITY;
}

void piecewise_eval(const Signal* signal, double t, double* value, double* rate) {
  const SceneSignal* source = signal->source;
  SignalSegment span = signal_find_segment(source, t);
  const double* from = source->values + (size_t)span.row * (size_t)source->channels;
  const double* to = from + source->channels;
  for (int c = 0; c < source->channels; c++) {
    bool held = span.width == 0;
    double change = held ? 0 : to[c] - from[c];
    value[c] = from[c] + span.fraction * change;
    rate[c] = held ? 0 : change / span.width;
  }
}

void piecewise_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  const SceneSignal* source = signal->source;
  SignalSegment span = signal_find_segment(source, t);
  double* from = gradient + (size_t)span.row * (size_t)source->channels;
  double* to = from + source->channels;
  for (int c = 0; c < source->channels; c++) {
    if (span.width == 0) {
      from[c] += a[c];
      continue;
    }
    double toward = a[c] * span.fraction + b[c] / span.width;
    from[c] += a[c] - toward;
    to[c] += toward;
  }
}

/* Returns the row in force during the step that ends at t. A time t = k dt that is rounded up still belongs to step k.
 */
static int hold_row(const SceneSignal* source, double t) {
  double steps = ceil(t / source->interval * (1 - ROW_TOLERANCE)) - 1;
  return steps < 0 ? 0 : steps > source->rows - 1 ? source->rows - 1 : (int)steps;
}

double zero_order_hold_next_end(const SceneSignal* source, double t) {
  return (floor(t / source->interval * (1 + ROW_TOLERANCE)) + 1) * source->interval;
}

void zero_order_hold_eval(const Signal* signal, double t, double* value, double* rate) {
  const SceneSignal* source = signal->source;
  const double* row = source->values + (size_t)hold_row(source, t) * (size_t)source->channels;
  for (int c = 0; c < source->channels; c++) {
    value[c] = row[c];
    rate[c] = 0;
  }
}

void zero_order_hold_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient) {
  const SceneSignal* source = signal->source;
  (void)b;
  double* row = gradient + (size_t)hold_row(source, t) * (size_t)source->channels;
  for (int c = 0; c < source->channels; c++) row[c] += a[c];
}
