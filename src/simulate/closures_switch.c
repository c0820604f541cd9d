/* Closures that are closed and opened by a signal during a run (docs/derivations/closures.md, Z12). */
#include <string.h>

#include "simulate/closures.h"

Model* closures_own_model(const Model* m) {
  bool any = false;
  for (int k = 0; k < m->closure_count; k++) any = any || closure_is_switched(m, k);
  if (!any) return NULL;
  Model* own = MEMORY_NEW(Model, 1);
  *own = *m;
  own->closures = MEMORY_NEW(ModelClosure, m->closure_count);
  memcpy(own->closures, m->closures, sizeof(ModelClosure) * (size_t)m->closure_count);
  return own;
}

void closures_free_model(Model* own) {
  if (!own) return;
  memory_free(own->closures);
  memory_free(own);
}

/* Returns the pose of b in the frame of a. */
static Pose relative(const ModelClosure* c, const Pose* poses) {
  Pose a = model_closure_pose(c, 0, poses), b = model_closure_pose(c, 1, poses);
  return (Pose){mat3_mul(mat3_transpose(a.r), b.r), mat3_tmul_vec(a.r, vec3_sub(b.t, a.t))};
}

void closures_switch_create(ClosureSystem* s, const Pose* start) {
  bool any = false;
  for (int k = 0; k < s->model->closure_count; k++) any = any || closure_is_switched(s->model, k);
  if (!any) return;
  s->placed = s->model->closures; /* the copies of closures_own_model */
  s->joined = MEMORY_NEW(SimJoin, s->model->closure_count);
  s->direction = MEMORY_NEW(Vec3, s->model->closure_row_count);
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* c = &s->model->closures[k];
    s->joined[k] = (SimJoin){(double)INFINITY, relative(c, start)};
    for (int i = 0; i < c->row_count; i++)
      s->direction[c->row_first + i] = mat3_mul_vec(s->joined[k].at.r, c->rows[i].v);
    s->open[k] = closure_is_switched(s->model, k);
  }
}

/* Sets the end on b and the directions in b's frame from those of a and the relative pose at closing. */
static void place(ClosureSystem* s, int k) {
  ModelClosure* c = &s->placed[k];
  Pose at = s->joined[k].at;
  c->end[1] = pose_apply_inverse(at, c->end[0]);
  for (int i = 0; i < c->row_count; i++) c->rows[i].v = mat3_tmul_vec(at.r, s->direction[c->row_first + i]);
}

void closures_put(ClosureSystem* s, const SimJoin* joined) {
  if (!s->placed) return;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!closure_is_switched(s->model, k)) continue;
    s->joined[k] = joined[k];
    s->open[k] = s->broken_at[k] < (double)INFINITY || !(joined[k].since < (double)INFINITY);
    place(s, k);
  }
  s->found = false;
  s->placed_weight = -1;
}

bool closures_switch(ClosureSystem* s, const Pose* poses, double time) {
  bool closes = false;
  if (!s || !s->placed) return false;
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* c = &s->model->closures[k];
    SimJoin* join = &s->joined[k];
    double value, rate;
    if (!closure_is_switched(s->model, k) || s->broken_at[k] < (double)INFINITY) continue;
    signal_eval(&c->active, time, &value, &rate);
    bool on = value >= 0.5, holds = join->since < (double)INFINITY;
    if (on == holds) continue;
    *join = (SimJoin){on ? time : (double)INFINITY, on ? relative(c, poses) : join->at};
    s->open[k] = !on;
    if (on) place(s, k);
    closes = closes || on;
    for (int row = c->row_first; row < c->row_first + c->row_count; row++)
      s->multiplier[row] = s->accepted[row] = s->aimed[row] = 0;
    s->found = false;
    s->placed_weight = -1;
    s->way_count = 0;
  }
  return closes;
}
