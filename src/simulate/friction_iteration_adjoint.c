/* Adjoint of friction whose limit follows from the forces of the previous solve of the same step
 * (docs/derivations/friction.md, F9). */
#include <assert.h>
#include <string.h>

#include "simulate/delay.h"
#include "simulate/step_adjoint.h"

RecordedStep friction_iteration_step(const RecordedStep* step) {
  assert(step->solve_count > 0);
  RecordedStep out = *step;
  const SimSolve* solve = &step->solves[--out.solve_count];
  out.q_next = solve->q;
  out.pose_next = solve->pose;
  out.momentum_next = step->momentum_now; /* the momenta at the end of this solve are not used */
  out.contacts_next = solve->contacts;
  out.contact_count_next = solve->contact_count;
  return out;
}

void friction_iteration_bars(StepAdjoint* a, const RecordedStep* step) {
  if (step->solve_count == 0 || !a->replay) return;
  memset(a->friction_iteration_bar, 0, sizeof(double[3][4]) * (size_t)a->model->link_count);
  contact_replay_add_solve_derivatives(a->replay, a->friction_iteration_bar);
}

/* Saves and clears the derivatives of a scalar with respect to momenta, measured forces, delayed measurements and
 * contact; restore_bars restores them. Sets solve_bar to the derivatives of the scalar with respect to the end of the
 * previous solve. */
static void save_and_clear_bars(StepAdjoint* a) {
  size_t links = (size_t)a->model->link_count;
  spin_adjoint_move_momentum_bars(a->spin, a->momentum_aside);
  if (a->contact_force) memcpy(a->stored_contact_force, a->contact_force, sizeof(Vec3) * links);
  if (a->contact_force) memset(a->contact_force, 0, sizeof(Vec3) * links);
  delay_pending_move_to_store(a->pending_delays);
  contact_replay_store_carry(a->replay);
  memcpy(a->solve_bar.pose, a->friction_iteration_bar, sizeof(double[3][4]) * links);
  memset(a->solve_bar.q, 0, sizeof(double) * (size_t)a->model->dof_count);
}

static void restore_bars(StepAdjoint* a) {
  spin_adjoint_add_momentum_bars(a->spin, a->momentum_aside);
  for (int i = 0; a->contact_force && i < a->model->link_count; i++)
    a->contact_force[i] = vec3_add(a->contact_force[i], a->stored_contact_force[i]);
  delay_pending_add_store(a->pending_delays);
  contact_replay_add_stored_carry(a->replay);
}

void friction_iteration_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old, StateBar older,
                                ModelGradient* gradient, StepAdjointReport* report) {
  RecordedStep solve = *step;
  const bool fixed = a->lengths->fixed;
  a->lengths->fixed = true;
  while (solve.solve_count > 0 && a->replay && report->sound) {
    solve = friction_iteration_step(&solve);
    save_and_clear_bars(a);
    StepAdjointReport one = step_adjoint_solve(a, &solve, a->solve_bar, a->zero, NULL, now, old, older, gradient);
    restore_bars(a);
    report->rounding += one.rounding;
    if (!one.sound) *report = one;
  }
  a->lengths->fixed = fixed;
}
