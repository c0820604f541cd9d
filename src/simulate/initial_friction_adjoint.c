/* Adjoint of the friction limits in the first step of a run (docs/derivations/friction.md, F7). Converts derivatives of
 * a scalar with respect to the limits of the pairs into derivatives of the scalar with respect to the contact forces at
 * the start and the end of the solve without friction, and with respect to the first state. */
#include <assert.h>
#include <string.h>

#include "simulate/step_adjoint.h"

static void add_magnitude_bar(Vec3* slope, const ContactForces* at, int index, double by_size) {
  if (index < 0 || by_size == 0) return;
  slope[index] = vec3_add_scaled(slope[index], by_size / vec3_norm(at->force[index]), at->force[index]);
}

/* Sets start and end to the derivatives of a scalar with respect to the force of each pair on its first link, at the
 * start and at the end of the solve without friction. Refers to the step loaded in a->replay. Returns false if the
 * derivatives of the scalar with respect to all friction limits are zero. */
static bool compute_force_bars(const StepAdjoint* a, const RecordedStep* step, Vec3* start, Vec3* end) {
  const InitialFriction* g = step->initial_friction;
  bool any = false;
  for (int k = 0; k < g->start.count; k++) start[k] = vec3(0, 0, 0);
  for (int k = 0; k < g->end.count; k++) end[k] = vec3(0, 0, 0);
  for (int k = 0; k < step->contact_count_next; k++) {
    const ContactRecord* r = &step->contacts_next[k];
    double bar = contact_replay_grip_derivative(a->replay, k);
    if (bar == 0) continue;
    ContactGripFactor grip = contact_normal_force_factor(a->model, &g->start, &g->end, r->hull_a, r->hull_b);
    add_magnitude_bar(start, &g->start, grip.start, bar * grip.by_start);
    add_magnitude_bar(end, &g->end, grip.end, bar * grip.by_end);
    any = true;
  }
  return any;
}

RecordedStep initial_friction_step(const RecordedStep* step) {
  assert(step->initial_friction);
  RecordedStep out = *step;
  out.clock = step->initial_friction->clock;
  out.number = 0;
  out.q_next = step->initial_friction->q;
  out.pose_next = step->initial_friction->pose;
  out.momentum_next = step->momentum_now; /* the momenta at the end of this solve are not used */
  out.contacts_next = step->initial_friction->end.records;
  out.contact_count_next = step->initial_friction->end.count;
  out.solve_count = 0;
  out.initial_friction = NULL;
  return out;
}

bool initial_friction_load_start(StepAdjoint* a, const RecordedStep* step, bool forward) {
  const Model* m = a->model;
  const InitialFriction* g = step->initial_friction;
  ContactMoment now = {step->pose_now, step->contacts_now, step->contact_count_now, -1};
  ContactMoment next = {step->pose_now, g->start.records, g->start.count, 0};
  for (int i = 0; i < m->link_count; i++)
    a->sim->assembly.reference[i] = pose_apply(step->pose_now[i], m->links[i].center);
  return forward ? contact_replay_load_forward(a->replay, &now, &next) : contact_replay_load(a->replay, &now, &next);
}

void initial_friction_start_forces(StepAdjoint* a, const RecordedStep* step, const Vec3* slope, double (*now)[3][4],
                                   ModelGradient* gradient) {
  a->by_pair = slope;
  step_adjoint_forces_to_poses(a, NULL, (size_t)step->initial_friction->start.count, step->pose_now, now);
  a->by_pair = NULL;
  ContactField field = {.pair = slope};
  contact_replay_adjoint(a->replay, &field, now, now, gradient);
}

/* Runs the adjoint of the solve without friction. slope: derivatives of a scalar with respect to the forces of the
 * pairs at the end of this solve. The scalar does not depend on the momenta and measured forces at the end of this
 * solve. */
static StepAdjointReport frictionless_solve_adjoint(StepAdjoint* a, const RecordedStep* step, const Vec3* slope,
                                                    StateBar now, StateBar old, StateBar older,
                                                    ModelGradient* gradient) {
  const Model* m = a->model;
  RecordedStep initial_friction = initial_friction_step(step);
  StateBar next = {memory_alloc(sizeof(double[3][4]) * (size_t)m->link_count), MEMORY_NEW(double, m->dof_count)};
  memset(next.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  if (a->contact_force)
    memset(a->contact_force, 0, sizeof(Vec3) * (size_t)m->link_count); /* measured forces are 0 at the start */
  spin_adjoint_move_momentum_bars(a->spin, a->guess_aside);
  const bool fixed = a->lengths->fixed;
  a->lengths->fixed = true;
  a->by_pair = slope;
  StepAdjointReport report = step_adjoint_solve(a, &initial_friction, next, a->zero, NULL, now, old, older, gradient);
  a->by_pair = NULL;
  a->lengths->fixed = fixed;
  spin_adjoint_add_momentum_bars(a->spin, a->guess_aside);
  memory_free(next.pose);
  memory_free(next.q);
  return report;
}

void initial_friction_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                              ModelGradient* gradient, StepAdjointReport* report) {
  const InitialFriction* g = step->initial_friction;
  if (!g || !a->replay) return;
  Vec3 *start = MEMORY_NEW(Vec3, g->start.count + 1), *end = MEMORY_NEW(Vec3, g->end.count + 1);
  if (compute_force_bars(a, step, start, end)) {
    StepAdjointReport solve_report = frictionless_solve_adjoint(a, step, end, now, old, older, gradient);
    report->rounding += solve_report.rounding;
    if (solve_report.sound && !initial_friction_load_start(a, step, false))
      solve_report = (StepAdjointReport){.contact_failed = true};
    if (solve_report.sound)
      initial_friction_start_forces(a, step, start, now.pose, gradient);
    else
      *report = solve_report;
  }
  memory_free(start);
  memory_free(end);
}
