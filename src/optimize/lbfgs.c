/* The L-BFGS method within the active face of the feasible set at x. Variables are divided by the step of their
 * block. */
#include <math.h>
#include <string.h>
#include "linalg/arrays.h"
#include "optimize/optimizer.h"
#include "optimize/rule.h"

/* A pair (step s, change of the gradient y) is used if s . y exceeds this fraction of |s| |y|. A smaller curvature
 * is a rounding error or negative. */
#define CURVATURE_LEAST 1e-8
/* A point counts as stationary if the projected step is shorter than this fraction of the unprojected step. */
#define STATIONARY 1e-15

/* Indices into the state of the rule. HAS_LAST: 1 if an earlier point is stored. PAIRS: number of stored pairs.
 * HAS_AGGREGATE: 1 if a trial from this point was rejected. AGGREGATE_ERROR: linearization error of the aggregate, a
 * mean of gradients (reject). VECTORS: first entry of the vectors. These are the earlier point, its scaled gradient and
 * the aggregate; then the steps of the pairs and their gradient changes, oldest first. */
enum { HAS_LAST, PAIRS, HAS_AGGREGATE, AGGREGATE_ERROR, VECTORS };

static int state_size(const TaskOptimizer* settings, int count) {
  return VECTORS + 3 * count + 2 * settings->memory * count;
}

/* Returns the length of the workspace. It holds the gradient, the direction, the displacement to the face and the
 * limits; for each pair, two products and the projected pair. */
static int work_size(const TaskOptimizer* settings, const FeasibleSet* set) {
  return 5 * set->count + 2 * set->row_count + 2 * settings->memory + 2 * settings->memory * set->count;
}

static bool is_curved(int count, const double* step, const double* change) {
  return array_dot(count, step, change) > CURVATURE_LEAST * rule_norm(step, count) * rule_norm(change, count);
}

/* ---------------------------------------------------------------- pairs of steps and gradient changes */

typedef struct {
  int count, memory;
  double *last, *last_gradient, *aggregate, *steps, *changes;
} History;

static History history_of(const Optimizer* o) {
  int count = o->set->count, memory = o->settings.memory;
  double* v = o->rule_state + VECTORS;
  return (History){count, memory, v, v + count, v + 2 * count, v + 3 * count, v + (3 + memory) * count};
}

/* Removes the oldest pair of step and gradient change if the memory for pairs is full. */
static void remove_oldest_pair(Optimizer* o, const History* h) {
  if ((int)o->rule_state[PAIRS] < h->memory) return;
  size_t kept = sizeof(double) * (size_t)(h->memory - 1) * (size_t)h->count;
  memmove(h->steps, h->steps + h->count, kept);
  memmove(h->changes, h->changes + h->count, kept);
  o->rule_state[PAIRS] -= 1;
}

static void store_pair(Optimizer* o, const double* x, const double* gradient) {
  History h = history_of(o);
  if (o->rule_state[HAS_LAST] == 1 && h.memory > 0) {
    remove_oldest_pair(o, &h);
    size_t place = (size_t)o->rule_state[PAIRS] * (size_t)h.count;
    double *step = h.steps + place, *change = h.changes + place;
    for (int i = 0; i < h.count; i++) {
      step[i] = x[i] / o->step_of[i] - h.last[i];
      change[i] = gradient[i] - h.last_gradient[i];
    }
    if (is_curved(h.count, step, change)) o->rule_state[PAIRS] += 1;
  }
  for (int i = 0; i < h.count; i++) {
    h.last[i] = x[i] / o->step_of[i];
    h.last_gradient[i] = gradient[i];
  }
  o->rule_state[HAS_LAST] = 1;
  o->rule_state[HAS_AGGREGATE] = 0;
}

/* ---------------------------------------------------------------- the face */

/* Returns the factor on the gradient that gives a step of natural length, which is the inverse of the last
 * curvature. The step bound limits the step. */
static double natural_length(const Optimizer* o, const double* gradient) {
  History h = history_of(o);
  double largest = 0;
  for (int i = 0; i < h.count; i++) largest = fmax(largest, fabs(gradient[i]));
  double length = optimizer_step_bound(o, 0) / o->steps[0] / largest;
  if (o->rule_state[PAIRS] == 0) return length;
  size_t newest = (size_t)(o->rule_state[PAIRS] - 1) * (size_t)h.count;
  const double *step = h.steps + newest, *change = h.changes + newest;
  return fmin(length, array_dot(h.count, step, change) / array_dot(h.count, change, change));
}

/* Finds the active face of the feasible set, at the end of a projected gradient step of natural length. The face
 * includes nearly active bounds and rows, which the search would otherwise hit repeatedly. The projector stores the
 * face. Sets to_face[count] to the shortest displacement onto the face, and direction[count] to the negative
 * gradient along the face, both in steps. Returns false if x is stationary. */
static bool find_face(Optimizer* o, const double* x, const double* gradient, double* limits, double* to_face,
                      double* direction) {
  int count = o->set->count;
  double *low = limits, *high = limits + count, *row_low = limits + 2 * count, *row_high = row_low + o->set->row_count;
  double length = natural_length(o, gradient), norm = rule_norm(gradient, count);
  if (norm == 0) return false;
  rule_shift_limits(o->set, x, low, high, row_low, row_high);
  for (int i = 0; i < count; i++) to_face[i] = -length * gradient[i] * o->step_of[i];
  ProjectLimits all = {low, high, row_low, row_high};
  if (!projector_project(o->projector, &all, o->step_of, to_face)) return false;
  for (int i = 0; i < count; i++) {
    to_face[i] /= o->step_of[i];
    direction[i] = to_face[i];
  }
  if (rule_norm(to_face, count) <= STATIONARY * length * norm) return false;
  projector_project_direction(o->projector, direction);
  for (int i = 0; i < count; i++) {
    to_face[i] -= direction[i];
    direction[i] = -gradient[i];
  }
  projector_project_direction(o->projector, direction);
  return true;
}

/* ---------------------------------------------------------------- the direction */

/* Multiplies direction[count] by the L-BFGS inverse Hessian (two-loop recursion), with the pairs of steps and gradient
 * changes projected onto the active face. Skips pairs without positive curvature on the face. Returns false, with
 * direction unchanged, if no pair is left. */
static bool apply_pairs(const Optimizer* o, double* products, double* within, double* direction) {
  History h = history_of(o);
  int count = h.count, pairs = (int)o->rule_state[PAIRS];
  double *slope = products, *inverse = products + pairs, scale = 0;
  for (int k = pairs - 1; k >= 0; k--) {
    double *step = within + 2 * (size_t)k * (size_t)count, *change = step + count;
    memcpy(step, h.steps + (size_t)k * (size_t)count, sizeof(double) * (size_t)count);
    memcpy(change, h.changes + (size_t)k * (size_t)count, sizeof(double) * (size_t)count);
    projector_project_direction(o->projector, step);
    projector_project_direction(o->projector, change);
    inverse[k] = is_curved(count, step, change) ? 1.0 / array_dot(count, step, change) : 0.0;
    if (inverse[k] == 0) continue;
    if (scale == 0) scale = 1.0 / (inverse[k] * array_dot(count, change, change));
    slope[k] = inverse[k] * array_dot(count, step, direction);
    for (int i = 0; i < count; i++) direction[i] -= slope[k] * change[i];
  }
  if (scale == 0) return false;
  for (int i = 0; i < count; i++) direction[i] *= scale;
  for (int k = 0; k < pairs; k++) {
    if (inverse[k] == 0) continue;
    const double *step = within + 2 * (size_t)k * (size_t)count, *change = step + count;
    double amount = slope[k] - inverse[k] * array_dot(count, change, direction);
    for (int i = 0; i < count; i++) direction[i] += amount * step[i];
  }
  return true;
}

/* Limits the length of direction[count] to the step bound, in steps. A quasi-Newton step (is_newton) is shortened if
 * it exceeds the bound. A gradient step is scaled to the length of the bound. */
static void set_length(const Optimizer* o, bool is_newton, double* direction) {
  double bound = optimizer_step_bound(o, 0) / o->steps[0], largest = 0;
  for (int i = 0; i < o->set->count; i++) largest = fmax(largest, fabs(direction[i]));
  double factor = largest > 0 ? bound / largest : 0.0;
  if (is_newton) factor = fmin(factor, o->clip);
  for (int i = 0; i < o->set->count; i++) direction[i] *= factor;
}

/* Sets trial[count] to the point of the set nearest to x + direction. direction[count]: in steps on entry, in the units
 * of the variables on return. Returns false if the projection finds no point. */
static bool project_trial(Optimizer* o, const double* x, double* direction, double* trial) {
  for (int i = 0; i < o->set->count; i++) direction[i] *= o->step_of[i];
  return rule_project_step(o, o->step_of, x, direction, trial);
}

static bool descends(int count, const double* gradient, const double* x, const double* trial) {
  double slope = 0;
  for (int i = 0; i < count; i++) slope += gradient[i] * (trial[i] - x[i]);
  return slope < 0;
}

/* Proposes the L-BFGS step (update.md, O9). After a rejected trial the aggregate replaces the gradient (O25). */
static bool propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  int count = o->set->count, memory = o->settings.memory;
  double *scaled = o->work, *direction = scaled + count, *to_face = direction + count, *limits = to_face + count;
  double *products = limits + 2 * count + 2 * o->set->row_count, *within = products + 2 * memory;
  for (int i = 0; i < count; i++) scaled[i] = gradient[i] * o->step_of[i];
  if (o->state[STATE_IS_NEW_POINT] == 1) store_pair(o, x, scaled);
  o->state[STATE_IS_NEW_POINT] = 0;
  if (o->rule_state[HAS_AGGREGATE] == 1) memcpy(scaled, history_of(o).aggregate, sizeof(double) * (size_t)count);
  if (!find_face(o, x, scaled, limits, to_face, direction)) return false;
  set_length(o, apply_pairs(o, products, within, direction), direction);
  for (int i = 0; i < count; i++) direction[i] += to_face[i];
  if (!project_trial(o, x, direction, trial)) return false;
  if (descends(count, gradient, x, trial)) return true;
  /* the projected step does not descend: use the negative gradient, which always descends */
  for (int i = 0; i < count; i++) direction[i] = -gradient[i] * o->step_of[i];
  set_length(o, false, direction);
  return project_trial(o, x, direction, trial) && descends(count, gradient, x, trial);
}

/* Replaces vector[count] by its product with the inverse Hessian of the pairs on the face of the last proposal. Without
 * pairs the inverse Hessian is a step of natural length. */
static void apply_inverse(const Optimizer* o, double* products, double* within, double* vector) {
  if (apply_pairs(o, products, within, vector)) return;
  double length = natural_length(o, history_of(o).aggregate);
  for (int i = 0; i < o->set->count; i++) vector[i] *= length;
}

/* Updates the aggregate, a mean of gradients at the current point and at rejected trials, with the gradient of a
 * rejected trial (O25). */
static void reject(Optimizer* o, const LossAtPoint* current, const LossAtPoint* trial) {
  int count = o->set->count, memory = o->settings.memory;
  History h = history_of(o);
  double *change = o->work, *image = change + count, *products = o->work + 5 * count + 2 * o->set->row_count;
  if (o->rule_state[HAS_AGGREGATE] == 0) {
    for (int i = 0; i < count; i++) h.aggregate[i] = current->gradient[i] * o->step_of[i];
    o->rule_state[AGGREGATE_ERROR] = 0;
    o->rule_state[HAS_AGGREGATE] = 1;
  }
  double error = current->loss - trial->loss;
  for (int i = 0; i < count; i++) {
    error += trial->gradient[i] * (trial->x[i] - current->x[i]);
    image[i] = change[i] = trial->gradient[i] * o->step_of[i] - h.aggregate[i];
  }
  error = fabs(error);
  apply_inverse(o, products, products + 2 * memory, image);
  double curvature = array_dot(count, change, image), slope = error - o->rule_state[AGGREGATE_ERROR];
  for (int i = 0; i < count; i++) slope += trial->gradient[i] * o->step_of[i] * image[i];
  double weight = curvature > 0 ? fmin(fmax(slope / curvature, 0), 1) : 1;
  for (int i = 0; i < count; i++) h.aggregate[i] += (1 - weight) * change[i];
  o->rule_state[AGGREGATE_ERROR] = weight * o->rule_state[AGGREGATE_ERROR] + (1 - weight) * error;
}

const UpdateRule RULE_LBFGS = {.descends = true,
                               .factor_limit = 10,
                               .restores = true,
                               .uses_curvature = true,
                               .state_size = state_size,
                               .work_size = work_size,
                               .propose = propose,
                               .reject = reject};
