/* Closures that a signal closes and opens during a run (docs/derivations/closures.md, Z12). */
#include <assert.h>
#include <string.h>

#include "simulate/closures.h"
#include "simulate/sim.h"

Model* closures_copy_model(const Model* m) {
  bool any = false;
  for (int k = 0; k < m->closure_count; k++) any = any || closure_is_switched(m, k);
  if (!any) return NULL;
  Model* copy = MEMORY_NEW(Model, 1);
  *copy = *m;
  copy->closures = MEMORY_NEW(ModelClosure, m->closure_count);
  memcpy(copy->closures, m->closures, sizeof(ModelClosure) * (size_t)m->closure_count);
  return copy;
}

void closures_free_model(Model* copy) {
  if (!copy) return;
  memory_free(copy->closures);
  memory_free(copy);
}

static Pose relative_pose(const ModelClosure* c, const Pose* poses) {
  Pose a = model_closure_pose(c, 0, poses), b = model_closure_pose(c, 1, poses);
  return (Pose){mat3_mul(mat3_transpose(a.r), b.r), mat3_tmul_vec(a.r, vec3_sub(b.t, a.t))};
}

void closures_switch_create(ClosureSystem* s, const Pose* start) {
  assert(!s->placed);
  bool any = false;
  for (int k = 0; k < s->model->closure_count; k++) any = any || closure_is_switched(s->model, k);
  if (!any) return;
  s->placed = s->model->closures; /* the copies made by closures_copy_model */
  s->joined = MEMORY_NEW(SimJoin, s->model->closure_count);
  s->joined_saved = MEMORY_NEW(SimJoin, s->model->closure_count);
  s->direction = MEMORY_NEW(Vec3, s->model->closure_row_count);
  for (int k = 0; k < s->model->closure_count; k++)
    s->has_range_closures = s->has_range_closures || s->model->scene->closures[k].within > 0;
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* c = &s->model->closures[k];
    s->joined[k] = (SimJoin){(double)INFINITY, (double)INFINITY, false, relative_pose(c, start)};
    for (int i = 0; i < c->row_count; i++)
      s->direction[c->row_first + i] = mat3_mul_vec(s->joined[k].at.r, c->rows[i].v);
    s->open[k] = closure_is_switched(s->model, k);
  }
}

/* Sets the end on b and the directions in b's frame from the end on a, the directions in a's frame, and the relative
 * pose at closing. */
static void set_geometry_at_closing(ClosureSystem* s, int k) {
  ModelClosure* c = &s->placed[k];
  Pose at = s->joined[k].at;
  c->end[1] = pose_apply_inverse(at, c->end[0]);
  for (int i = 0; i < c->row_count; i++) c->rows[i].v = mat3_tmul_vec(at.r, s->direction[c->row_first + i]);
}

void closures_apply_joined(ClosureSystem* s, const SimJoin* joined) {
  assert(!s->placed || joined);
  if (!s->placed) return;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!closure_is_switched(s->model, k)) continue;
    s->joined[k] = joined[k];
    s->open[k] = s->broken_at[k] < (double)INFINITY || !closure_is_closed(&joined[k]);
    set_geometry_at_closing(s, k);
  }
  s->found = false;
  s->evaluated_weight = -1;
}

/* A distance up to (1 + RANGE_TOLERANCE) times `within` satisfies the condition. */
#define RANGE_TOLERANCE 1e-9

static Vec3 compute_separation(const Model* m, int k, const Pose* poses) {
  const SceneClosure* c = &m->scene->closures[k];
  Vec3 b = c->b < 0 ? c->near[1] : pose_apply(poses[c->b], c->near[1]);
  return vec3_sub(pose_apply(poses[c->a], c->near[0]), b);
}

double closures_range_excess(const Model* m, int k, const Pose* poses) {
  assert(k >= 0 && k < m->closure_count);
  return vec3_norm(compute_separation(m, k, poses)) / m->scene->closures[k].within - 1;
}

void closures_range_excess_adjoint(const Model* m, int k, const Pose* poses, double (*bar)[3][4]) {
  assert(k >= 0 && k < m->closure_count);
  const SceneClosure* c = &m->scene->closures[k];
  Vec3 d = compute_separation(m, k, poses), by = vec3_scale(d, 1 / (c->within * vec3_norm(d)));
  pose_bar_add_point(bar, c->a, by, c->near[0]);
  pose_bar_add_point(bar, c->b, vec3_scale(by, -1), c->near[1]);
}

static bool is_signal_on(const ModelClosure* c, double time) {
  double value, rate;
  signal_eval(&c->active, time, &value, &rate);
  return value >= 0.5;
}

/* Returns true if closure k has `within`, is open, and its signal at the start of the step allows it to close. begin:
 * start of the step [s]. */
static bool may_close(const ClosureSystem* s, int k, double begin) {
  if (!(s->model->scene->closures[k].within > 0)) return false;
  if (!closure_is_switched(s->model, k) || s->broken_at[k] < (double)INFINITY) return false;
  return !closure_is_closed(&s->joined[k]) && !s->joined[k].barred && is_signal_on(&s->model->closures[k], begin);
}

bool closures_find_closing(const ClosureSystem* s, const Pose* now, const Pose* ahead, double begin,
                           ClosingClosure* entry) {
  bool found = false;
  double least = INFINITY;
  if (!closures_have_events(s)) return false;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!may_close(s, k, begin)) continue;
    double before = closures_range_excess(s->model, k, now), after = closures_range_excess(s->model, k, ahead);
    if (!(before > RANGE_TOLERANCE && after < 0) || before / (before - after) >= least) continue;
    least = before / (before - after);
    *entry = (ClosingClosure){k, before, after};
    found = true;
  }
  return found;
}

static bool is_within_range(const ClosureSystem* s, int k, const Pose* poses, const Pose* old) {
  if (!(s->model->scene->closures[k].within > 0)) return true;
  double now = closures_range_excess(s->model, k, poses), before = closures_range_excess(s->model, k, old);
  return fmin(now, now + CLOSING_TIME_MIN * (now - before)) <= RANGE_TOLERANCE;
}

/* Returns true if closure k has `within` and its points are farther apart than this distance. */
static bool is_beyond_range(const ClosureSystem* s, int k, const Pose* poses) {
  return s->model->scene->closures[k].within > 0 && closures_range_excess(s->model, k, poses) > RANGE_TOLERANCE;
}

bool closures_find_closing_at_end(const ClosureSystem* s, const Pose* now, const Pose* ahead, double begin,
                                  ClosingClosure* entry) {
  if (!closures_have_events(s)) return false;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!may_close(s, k, begin) || !is_within_range(s, k, ahead, now)) continue;
    *entry = (ClosingClosure){k, closures_range_excess(s->model, k, now), closures_range_excess(s->model, k, ahead)};
    if (entry->before > RANGE_TOLERANCE) return true;
  }
  return false;
}

/* Closes (on is true) or opens closure k at `time`. */
static void set_open_state(ClosureSystem* s, int k, bool on, const Pose* poses, double time) {
  const ModelClosure* c = &s->model->closures[k];
  SimJoin* join = &s->joined[k];
  *join = (SimJoin){on ? time : (double)INFINITY, (double)INFINITY, false, on ? relative_pose(c, poses) : join->at};
  if (s->limited) s->load[k] = (ClosureForceHistory){.opening_fraction = INFINITY};
  s->open[k] = !on;
  if (on) set_geometry_at_closing(s, k);
  for (int row = c->row_first; row < c->row_first + c->row_count; row++)
    s->multiplier[row] = s->accepted[row] = s->target_force[row] = 0;
  s->found = false;
  s->evaluated_weight = -1;
  s->past_count = 0;
}

/* Opens closure k within a step. Keeps the time of closing, because earlier substeps of the step contain the closure.
 */
static void open_within_step(ClosureSystem* s, int k, const Pose* poses, double time) {
  const double since = s->joined[k].since;
  set_open_state(s, k, false, poses, time);
  s->joined[k].since = since;
  s->joined[k].until = time;
}

bool closures_update_active(ClosureSystem* s, const Pose* poses, const Pose* old, double begin, double time) {
  bool closes = false;
  if (!s || !s->placed) return false;
  for (int k = 0; k < s->model->closure_count; k++) {
    SimJoin* join = &s->joined[k];
    if (!closure_is_switched(s->model, k) || s->broken_at[k] < (double)INFINITY) continue;
    if (join->until > begin && join->until < (double)INFINITY) continue; /* a closure opens once in a step */
    bool on = is_signal_on(&s->model->closures[k], time - JUMP_TOLERANCE * s->model->simulation.dt);
    if (!on || is_beyond_range(s, k, poses)) join->barred = false;
    if (on == closure_is_closed(join) || join->barred || (on && !is_within_range(s, k, poses, old))) continue;
    if (!on && time > begin)
      open_within_step(s, k, poses, time);
    else
      set_open_state(s, k, on, poses, time);
    closes = closes || on;
  }
  return closes;
}
