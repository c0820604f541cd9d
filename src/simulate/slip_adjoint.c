/* Adjoint of friction that is limited by the impulse of an impact (docs/derivations/impact.md, I16). The Hessian K of
 * such friction exceeds the inertia M / h^2 by a factor of some 1e4 in the direction of slip. K lambda therefore has an
 * error of some 1e4 rounding errors of M lambda / h^2. The derivative with respect to the pose at t contains -K lambda,
 * which must cancel H lambda. */
#include <string.h>

#include "contact/step.h"
#include "simulate/step_adjoint.h"

bool slip_product(StepAdjoint* a, const double* rates) {
  const Sim* s = a->sim;
  step_adjoint_twists(a->model, s->assembly.screws, s->assembly.reference, rates, a->twist);
  memset(a->slip_wrench, 0, sizeof(double[6]) * (size_t)a->model->link_count);
  ContactField field = step_adjoint_field(a->twist, NULL, NULL);
  return contact_replay_slip_product(a->replay, &field, a->slip_wrench);
}

/* Sets a->ground_bar to the derivatives with respect to the entries of the poses that correspond to a->slip_wrench. */
static void compute_pose_bars(StepAdjoint* a, const RecordedStep* step) {
  size_t links = (size_t)a->model->link_count;
  memcpy(a->wrench, a->slip_wrench, sizeof(double[6]) * links);
  memset(a->ground_bar, 0, sizeof(double[3][4]) * links);
  step_adjoint_wrenches_to_poses(a, step->pose_next, a->ground_bar);
}

/* Sets a->slip_residual to r = b - (H - K) lambda - K lambda, with b = -reduced. */
static void compute_residual(StepAdjoint* a, const RecordedStep* step) {
  Sim* s = a->sim;
  Assembly assembly;
  contact_replay_exclude_impulse_friction(a->replay, true);
  step_assemble_keeping_scales(s, contact_replay_terms(a->replay), &assembly);
  step_extend_pattern(s, assembly.contact);
  assemble_hessian(&assembly, true, s->solver);
  block_solver_multiply(s->solver, a->lambda, a->product);
  step_adjoint_reduce_wrenches(a, step, (const double(*)[6])a->slip_wrench, a->ground_bar, a->product);
  for (int k = 0; k < a->model->dof_count; k++)
    a->slip_residual[k] = s->prescribed_joints.is_fixed[k] ? 0 : -a->reduced[k] - a->product[k];
}

/* Replaces a->slip_residual by delta = H^-1 r. Returns false if H is singular. */
static bool solve_correction(StepAdjoint* a, Assembly* assembly) {
  StepAdjointReport report = {0}; /* discarded, because the report of the step itself covers H */
  contact_replay_exclude_impulse_friction(a->replay, false);
  step_assemble_keeping_scales(a->sim, contact_replay_terms(a->replay), assembly);
  if (!step_adjoint_factor(a, assembly, a->slip_residual, &report)) return false;
  block_solver_solve(a->sim->solver, a->slip_residual);
  return true;
}

/* Number of refinement iterations. The first iteration corrects the error of lambda along the directions of K, which is
 * due to rounding in the assembled H. After the second iteration the remaining error is a few rounding errors of
 * lambda. */
enum { REFINEMENT_ITERATIONS = 2 };

void slip_adjoint(StepAdjoint* a, const RecordedStep* step, Assembly* assembly, StateBar now) {
  size_t links = (size_t)a->model->link_count;
  bool wanted = a->replay && !a->closures && step->clock.kind == STEP_IMPACT_SUBSTEP, found = true;
  memset(a->slip_wrench, 0, sizeof(double[6]) * links);
  for (int round = 0; wanted && found && round < REFINEMENT_ITERATIONS; round++) {
    if (!slip_product(a, a->lambda)) return;
    compute_residual(a, step);
    found = solve_correction(a, assembly);
    for (int k = 0; k < a->model->dof_count && found && round + 1 < REFINEMENT_ITERATIONS; k++)
      a->lambda[k] += a->slip_residual[k];
  }
  if (!wanted) return;
  memset(a->slip_wrench, 0, sizeof(double[6]) * links);
  if (found) (void)slip_product(a, a->slip_residual);
  compute_pose_bars(a, step);
  for (size_t i = 0; i < links; i++)
    for (int k = 0; k < 12; k++) now.pose[i][k / 4][k % 4] -= a->ground_bar[i][k / 4][k % 4];
  contact_replay_exclude_impulse_friction(a->replay, true);
}
