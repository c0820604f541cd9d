#include "optimize/step_ball.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Entries are divided by the largest one before squaring, to avoid overflow. */
double step_ball_norm(int count, const int* block, const double* d, int which) {
  assert(count >= 0 && (which == 0 || which == 1));
  double largest = 0, sum = 0;
  for (int i = 0; i < count; i++)
    if (block[i] == which) largest = fmax(largest, fabs(d[i]));
  if (largest == 0) return 0;
  for (int i = 0; i < count; i++)
    if (block[i] == which) sum += d[i] / largest * (d[i] / largest);
  return largest * sqrt(sum);
}

/* ---------------------------------------------------------------- limits only */

static double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Sums squares over the variables of a block, for d_i = clamp(-t g_i / largest). Sets *clamped to the sum of bound^2
 * over variables that t moves to a bound. Sets *rest to the sum of (g_i / largest)^2 over the others. */
static void sum_squares(int count, const int* block, int which, const double* low, const double* high, const double* g,
                        double largest, double t, double* clamped, double* rest) {
  *clamped = *rest = 0;
  for (int i = 0; i < count; i++) {
    if (block[i] != which || g[i] == 0) continue;
    double slope = g[i] / largest, bound = g[i] > 0 ? low[i] : high[i];
    if (t * fabs(slope) >= fabs(bound))
      *clamped += bound * bound;
    else
      *rest += slope * slope;
  }
}

/* Sets the entries of d in one block (step_ball_bounds). Each iteration solves |d(t)| = radius with the variables fixed
 * that the last t moved to a bound. Further fixed variables shorten d, so that t increases monotonically to the
 * solution. */
static void solve_block(int count, const int* block, int which, const double* low, const double* high, const double* g,
                        double radius, double* d) {
  double largest = 0, t = 0;
  for (int i = 0; i < count; i++)
    if (block[i] == which) largest = fmax(largest, fabs(g[i]));
  for (int step = 0; step <= count; step++) {
    double clamped, rest;
    sum_squares(count, block, which, low, high, g, largest, t, &clamped, &rest);
    double next = rest > 0 ? sqrt(fmax(radius * radius - clamped, 0.0) / rest) : HUGE_VAL;
    if (!(next > t)) break;
    t = next;
    if (isinf(t)) break;
  }
  for (int i = 0; i < count; i++)
    if (block[i] == which) d[i] = g[i] == 0 ? 0.0 : clamp(-t * (g[i] / largest), low[i], high[i]);
}

void step_ball_bounds(int count, const int* block, const double* low, const double* high, const double* gradient,
                      const double radius[2], double* d) {
  assert(count >= 0 && radius[0] >= 0 && radius[1] >= 0);
  for (int which = 0; which < 2; which++) solve_block(count, block, which, low, high, gradient, radius[which], d);
}

/* ---------------------------------------------------------------- with linear constraints */

/* Length of an unconstrained proximal step in radii. Long steps converge in few iterations; this one loses two of
 * sixteen digits to cancellation. */
#define PROXIMAL_LENGTH 100.0
/* Length of the last proximal step in radii. The optimality condition then holds to 1e-12 of the gradient. */
#define STEP_TOLERANCE 1e-10
#define STEPS_MAX 200
/* Accuracy of the search for a ball's multiplier: distance from the sphere in radii. */
#define SPHERE_TOLERANCE 1e-13
#define SEARCH_MAX 200

typedef struct {
  Projector* projector;
  int count;
  const int* block;
  const ProjectLimits* limits;
  const double* radius;
  double length[2];     /* length T of the proximal term of each block */
  double share[2];      /* 1 / (1 + T * multiplier of the ball) of each block, in (0, 1] */
  const double* target; /* centre of the proximal term: the last step minus T times the gradient */
  double *scale, *d;
  bool empty;
} Ball;

/* Sets d to the point within the limits nearest to share * target, in the metric 1 / (T * share). Returns |d| / radius
 * - 1 for the entries of d in block `which`. */
static double project_to_limits(Ball* ball, int which) {
  for (int i = 0; i < ball->count; i++) {
    int b = ball->block[i];
    ball->d[i] = ball->share[b] * ball->target[i];
    ball->scale[i] = sqrt(ball->length[b] * ball->share[b]);
  }
  if (!projector_project(ball->projector, ball->limits, ball->scale, ball->d)) ball->empty = true;
  return step_ball_norm(ball->count, ball->block, ball->d, which) / ball->radius[which] - 1.0;
}

static double find_share(Ball* ball, int which);

/* Sets the share of a block and returns radius_excess. For block 0, first finds the share for which block 1 is in its
 * ball. */
static double radius_excess(Ball* ball, int which, double share) {
  ball->share[which] = share;
  if (which == 0) find_share(ball, 1);
  return project_to_limits(ball, which);
}

/* Finds the largest share for which a block is in its ball, by regula falsi (Illinois variant) with a bisection every
 * fourth step. Sets d and returns |d| / radius - 1, which increases with the share from -1 at 0. */
static double find_share(Ball* ball, int which) {
  double high = 1, above = radius_excess(ball, which, high), low = 0, below = -1;
  if (above <= 0 || ball->empty) return above;
  int kept_end = 0; /* end of the bracket that the last step kept: 1 low, -1 high */
  for (int step = 1; step < SEARCH_MAX; step++) {
    double middle = step % 4 == 0 ? 0.5 * (low + high) : low + (high - low) * (below / (below - above));
    if (!(middle > low && middle < high)) break;
    double found = radius_excess(ball, which, middle);
    if (ball->empty || fabs(found) <= SPHERE_TOLERANCE) return found;
    if (found > 0) {
      high = middle;
      above = found;
      if (kept_end == 1) below *= 0.5;
      kept_end = 1;
    } else {
      low = middle;
      below = found;
      if (kept_end == -1) above *= 0.5;
      kept_end = -1;
    }
  }
  return radius_excess(ball, which, low);
}

/* Sets the lengths T of both blocks (Ball.length), so that the proximal step of a block has PROXIMAL_LENGTH radii if no
 * constraint shortens it. A block with zero gradient uses the gradient of the other block. */
static void choose_lengths(Ball* ball, const double* gradient) {
  double push[2];
  for (int b = 0; b < 2; b++) push[b] = step_ball_norm(ball->count, ball->block, gradient, b) * ball->radius[b];
  for (int b = 0; b < 2; b++) {
    double p = push[b] > 0 ? push[b] : push[1 - b] > 0 ? push[1 - b] : 1.0;
    ball->length[b] = PROXIMAL_LENGTH * ball->radius[b] * (ball->radius[b] / p);
  }
}

/* Scales d into the balls, which it may exceed by SPHERE_TOLERANCE. Limits and rows contain zero and still hold. */
static void scale_into_balls(const Ball* ball) {
  double factor = 1;
  for (int b = 0; b < 2; b++) {
    double norm = step_ball_norm(ball->count, ball->block, ball->d, b);
    if (norm > ball->radius[b]) factor = fmin(factor, ball->radius[b] / norm);
  }
  for (int i = 0; i < ball->count; i++) ball->d[i] *= factor;
}

static double largest_step(const Ball* ball, const double* previous) {
  double largest = 0;
  for (int i = 0; i < ball->count; i++)
    largest = fmax(largest, fabs(ball->d[i] - previous[i]) / ball->radius[ball->block[i]]);
  return largest;
}

bool step_ball_rows(Projector* projector, int count, const int* block, const ProjectLimits* limits,
                    const double* gradient, const double radius[2], double* work, double* d) {
  assert(count >= 0 && radius[0] >= 0 && radius[1] >= 0);
  double *target = work, *previous = work + count;
  Ball ball = {.projector = projector,
               .count = count,
               .block = block,
               .limits = limits,
               .radius = radius,
               .target = target,
               .scale = work + 2 * count,
               .d = d};
  choose_lengths(&ball, gradient);
  memset(d, 0, sizeof(double) * (size_t)count);
  for (int step = 0; step < STEPS_MAX; step++) {
    memcpy(previous, d, sizeof(double) * (size_t)count);
    for (int i = 0; i < count; i++) target[i] = d[i] - ball.length[block[i]] * gradient[i];
    ball.share[0] = ball.share[1] = 1;
    find_share(&ball, 0);
    if (ball.empty) return false;
    scale_into_balls(&ball);
    if (largest_step(&ball, previous) <= STEP_TOLERANCE) break;
  }
  return true;
}
