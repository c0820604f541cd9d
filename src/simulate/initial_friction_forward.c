/* Forward derivatives of the friction limits in the first step of a run (docs/derivations/friction.md, F7). */
#include <string.h>

#include "simulate/step_forward.h"

/* Sets slope[at->count] to the derivative of the magnitude of force `index` with respect to all forces: the unit vector
 * of this force at `index`, zero elsewhere. */
static void set_magnitude_derivative(Vec3* slope, const ContactForces* at, int index) {
  for (int k = 0; k < at->count; k++) slope[k] = vec3(0, 0, 0);
  double size = vec3_norm(at->force[index]);
  if (size > 0) slope[index] = vec3_scale(at->force[index], 1 / size);
}

/* Sets rows (start.count x parameters) to the derivatives of the magnitudes of the contact forces at the start of the
 * step with respect to the parameters. Returns false if initial_friction_load_start fails. */
static bool compute_start_force_rows(StepForward* f, const RecordedStep* step, Vec3* slope, double* rows) {
  StepAdjoint* a = f->adjoint;
  const ContactForces* at = &step->initial_friction->start;
  if (!initial_friction_load_start(a, step, true)) return false;
  for (int k = 0; k < at->count; k++) {
    step_forward_clear(f);
    set_magnitude_derivative(slope, at, k);
    initial_friction_start_forces(a, step, slope, f->bar[0].pose, &f->gradient);
    step_forward_finish_row(f, step, rows + (size_t)k * (size_t)f->parameters);
  }
  return true;
}

/* Adds to row[parameters] the contribution of the poses at the end of the solve without friction to the derivatives of
 * a contact force's magnitude. f->sensitivity[0] contains the sensitivities of the poses. */
static void add_end_pose_contribution(StepForward* f, const RecordedStep* step, StateBar bar, double* row) {
  StepAdjoint* a = f->adjoint;
  const Model* m = f->model;
  memset(bar.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(bar.q, 0, sizeof(double) * (size_t)m->dof_count);
  step_adjoint_forces_to_poses(a, NULL, (size_t)step->contact_count_next, step->pose_next, bar.pose);
  step_adjoint_compose(a, step->pose_next, bar.pose);
  step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, bar.q);
  step_adjoint_frames(a, step->pose_next, &f->gradient);
  step_forward_add_product(row, bar.q, m->dof_count, f->sensitivity[0], f->parameters);
}

/* Sets rows (end.count x parameters) to the derivatives of the magnitudes of the contact forces at the end of the solve
 * without friction. Returns false if step_forward_solve fails. */
static bool compute_end_force_rows(StepForward* f, const RecordedStep* step, Vec3* slope, double* rows) {
  StepAdjoint* a = f->adjoint;
  const Model* m = f->model;
  RecordedStep initial_friction = initial_friction_step(step);
  const ContactForces* at = &step->initial_friction->end;
  if (!step_forward_solve(f, &initial_friction)) return false;
  StateBar bar = {memory_alloc(sizeof(double[3][4]) * (size_t)m->link_count), MEMORY_NEW(double, m->dof_count)};
  for (int k = 0; k < at->count; k++) {
    double* row = rows + (size_t)k * (size_t)f->parameters;
    step_forward_clear(f);
    set_magnitude_derivative(slope, at, k);
    a->by_pair = slope;
    add_end_pose_contribution(f, &initial_friction, bar, row);
    a->by_pair = NULL;
    ContactField field = {.pair = slope};
    memset(a->ground_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
    contact_replay_adjoint(a->replay, &field, f->bar[0].pose, a->ground_bar, &f->gradient);
    step_adjoint_compose(a, initial_friction.pose_next, a->ground_bar);
    step_adjoint_frames(a, initial_friction.pose_next, &f->gradient);
    step_forward_finish_row(f, step, row);
  }
  memory_free(bar.pose);
  memory_free(bar.q);
  return true;
}

static void add_row(double* to, double factor, const double* rows, int index, int count) {
  for (int j = 0; index >= 0 && j < count; j++) to[j] += factor * rows[(size_t)index * (size_t)count + (size_t)j];
}

bool initial_friction_forward(StepForward* f, const RecordedStep* step) {
  const InitialFriction* g = step->initial_friction;
  int p = f->parameters, most = g->start.count > g->end.count ? g->start.count : g->end.count;
  size_t row = sizeof(double) * (size_t)p;
  memory_free(f->friction_limits);
  f->friction_limits = memory_alloc(row * (size_t)(step->contact_count_next + 1));
  double *start = memory_alloc(row * (size_t)(g->start.count + 1)),
         *end = memory_alloc(row * (size_t)(g->end.count + 1));
  Vec3* slope = MEMORY_NEW(Vec3, most + 1);
  memset(f->friction_limits, 0, row * (size_t)(step->contact_count_next + 1));
  memset(start, 0, row * (size_t)(g->start.count + 1));
  memset(end, 0, row * (size_t)(g->end.count + 1));
  bool sound = compute_start_force_rows(f, step, slope, start) && compute_end_force_rows(f, step, slope, end);
  for (int k = 0; k < step->contact_count_next && sound; k++) {
    const ContactRecord* r = &step->contacts_next[k];
    ContactGripFactor grip = contact_normal_force_factor(f->model, &g->start, &g->end, r->hull_a, r->hull_b);
    add_row(f->friction_limits + (size_t)k * (size_t)p, grip.by_start, start, grip.start, p);
    add_row(f->friction_limits + (size_t)k * (size_t)p, grip.by_end, end, grip.end, p);
  }
  memory_free(start);
  memory_free(end);
  memory_free(slope);
  return sound;
}
