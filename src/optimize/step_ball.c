#include "optimize/step_ball.h"
#include <math.h>
#include <string.h>

/* Entries are divided by the largest one before squaring, to avoid overflow. */
double step_ball_norm(int count, const int* block, const double* d, int which) {
  double largest = 0, sum = 0;
  for (int i = 0; i < count; i++)
    if (block[i] == which) largest = fmax(largest, fabs(d[i]));
  if (largest == 0) return 0;
  for (int i = 0; i < count; i++)
    if (block[i] == which) sum += d[i] / largest * (d[i] / largest);
  return largest * sqrt(sum);
}

/* ---------------------------------------------------------------- bounds only */

static double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Sums squares over the variables of block `which` at parameter t. Sets *clamped to the sum of squared bounds of the
 * clamped variables, and *rest to the sum of (g / largest)^2 of the other variables. */
static void split(int count, const int* block, int which, const double* low, const double* high, const double* g,
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

/* Sets d to the solution for one block. Each iteration solves |d(t)| = radius for the set of variables that are
 * clamped at the previous t. Further clamping only shortens d, so t increases monotonically to the solution. */
static void solve_block(int count, const int* block, int which, const double* low, const double* high, const double* g,
                        double radius, double* d) {
  double largest = 0, t = 0;
  for (int i = 0; i < count; i++)
    if (block[i] == which) largest = fmax(largest, fabs(g[i]));
  for (int step = 0; step <= count; step++) {
    double clamped, rest;
    split(count, block, which, low, high, g, largest, t, &clamped, &rest);
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
  for (int which = 0; which < 2; which++) solve_block(count, block, which, low, high, gradient, radius[which], d);
}

/* ---------------------------------------------------------------- with linear constraints */

/* Length of an unconstrained proximal step, in radii. Long steps converge in few iterations. This length loses only
 * two of sixteen digits to cancellation. */
#define REACH 100.0
/* The iteration of proximal steps ends if a step is shorter than this value, in radii. The optimality condition then
 * holds to 1e-12 of the gradient. */
#define STEP_TOLERANCE 1e-10
#define STEPS_MAX 200
/* The search for the multiplier of a ball ends within this distance of the sphere, in radii, or at adjacent
 * floating-point numbers. */
#define SPHERE_TOLERANCE 1e-13
#define SEARCH_MAX 200

typedef struct {
  Projector* projector;
  int count;
  const int* block;
  const ProjectLimits* limits;
  const double* radius;
  double length[2];  /* length T of the proximal term of each block */
  double share[2];   /* 1 / (1 + T * multiplier of the ball) of each block, in (0, 1] */
  const double* aim; /* d_last - T g */
  double *scale, *d;
  bool empty;
} Ball;

/* Sets d to the point within the limits nearest to share * aim, in the metric 1 / (T * share). Returns |d| / radius
 * - 1 for block `which`. */
static double evaluate(Ball* ball, int which) {
  for (int i = 0; i < ball->count; i++) {
    int b = ball->block[i];
    ball->d[i] = ball->share[b] * ball->aim[i];
    ball->scale[i] = sqrt(ball->length[b] * ball->share[b]);
  }
  if (!projector_project(ball->projector, ball->limits, ball->scale, ball->d)) ball->empty = true;
  return step_ball_norm(ball->count, ball->block, ball->d, which) / ball->radius[which] - 1.0;
}

static double enter_ball(Ball* ball, int which);

/* Sets the share of block `which` and returns the result of evaluate. For block 0, first finds the share for which
 * block 1 is within its ball. */
static double excess(Ball* ball, int which, double share) {
  ball->share[which] = share;
  if (which == 0) enter_ball(ball, 1);
  return evaluate(ball, which);
}

/* Finds the largest share for which block `which` is within its ball. Sets d to the point for this share and returns
 * |d| / radius - 1, which increases with the share and is -1 at 0. The method is regula falsi (Illinois variant);
 * every fourth step bisects the bracket. */
static double enter_ball(Ball* ball, int which) {
  double high = 1, above = excess(ball, which, high), low = 0, below = -1;
  if (above <= 0 || ball->empty) return above;
  int stayed = 0; /* the end of the bracket that the last step kept: 1 is low, -1 is high */
  for (int step = 1; step < SEARCH_MAX; step++) {
    double middle = step % 4 == 0 ? 0.5 * (low + high) : low + (high - low) * (below / (below - above));
    if (!(middle > low && middle < high)) break;
    double found = excess(ball, which, middle);
    if (ball->empty || fabs(found) <= SPHERE_TOLERANCE) return found;
    if (found > 0) {
      high = middle;
      above = found;
      if (stayed == 1) below *= 0.5;
      stayed = 1;
    } else {
      low = middle;
      below = found;
      if (stayed == -1) above *= 0.5;
      stayed = -1;
    }
  }
  return excess(ball, which, low);
}

/* Sets the lengths T so that an unconstrained proximal step is REACH radii long. A block with zero gradient uses the
 * gradient norm of the other block, in radii. */
static void choose_lengths(Ball* ball, const double* gradient) {
  double push[2];
  for (int b = 0; b < 2; b++) push[b] = step_ball_norm(ball->count, ball->block, gradient, b) * ball->radius[b];
  for (int b = 0; b < 2; b++) {
    double p = push[b] > 0 ? push[b] : push[1 - b] > 0 ? push[1 - b] : 1.0;
    ball->length[b] = REACH * ball->radius[b] * (ball->radius[b] / p);
  }
}

/* Scales d into the balls, which d may exceed by SPHERE_TOLERANCE. Limits and rows contain zero, so they still hold. */
static void shorten(const Ball* ball) {
  double factor = 1;
  for (int b = 0; b < 2; b++) {
    double norm = step_ball_norm(ball->count, ball->block, ball->d, b);
    if (norm > ball->radius[b]) factor = fmin(factor, ball->radius[b] / norm);
  }
  for (int i = 0; i < ball->count; i++) ball->d[i] *= factor;
}

static double largest_move(const Ball* ball, const double* last) {
  double largest = 0;
  for (int i = 0; i < ball->count; i++)
    largest = fmax(largest, fabs(ball->d[i] - last[i]) / ball->radius[ball->block[i]]);
  return largest;
}

bool step_ball_rows(Projector* projector, int count, const int* block, const ProjectLimits* limits,
                    const double* gradient, const double radius[2], double* work, double* d) {
  double *aim = work, *last = work + count;
  Ball ball = {.projector = projector,
               .count = count,
               .block = block,
               .limits = limits,
               .radius = radius,
               .aim = aim,
               .scale = work + 2 * count,
               .d = d};
  choose_lengths(&ball, gradient);
  memset(d, 0, sizeof(double) * (size_t)count);
  for (int step = 0; step < STEPS_MAX; step++) {
    memcpy(last, d, sizeof(double) * (size_t)count);
    for (int i = 0; i < count; i++) aim[i] = d[i] - ball.length[block[i]] * gradient[i];
    ball.share[0] = ball.share[1] = 1;
    enter_ball(&ball, 0);
    if (ball.empty) return false;
    shorten(&ball);
    if (largest_move(&ball, last) <= STEP_TOLERANCE) break;
  }
  return true;
}
