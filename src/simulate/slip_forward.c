/* Forward derivatives through friction that is limited by the impulse of an impact (docs/derivations/impact.md, I16).
 * The Hessian K of such friction is a part of H, and -K a part of the derivatives with respect to the state at t. K
 * exceeds the inertia by a factor of some 1e4. The equations are therefore solved for the change of the sensitivities,
 * S_next - S_now, in a form in which K is multiplied by this change only. */
#include <string.h>

#include "contact/step.h"
#include "simulate/step_forward.h"

/* Sets f->slip_rows (nv x parameters) to (H - K) S_now. */
static void compute_slip_rows(StepForward* f) {
  Sim* s = f->adjoint->sim;
  Assembly assembly;
  int nv = f->model->dof_count, p = f->parameters;
  contact_replay_exclude_impulse_friction(f->adjoint->replay, true);
  step_assemble_keeping_scales(s, contact_replay_terms(f->adjoint->replay), &assembly);
  step_extend_pattern(s, assembly.contact);
  assemble_hessian(&assembly, true, s->solver);
  for (int j = 0; j < p; j++) {
    for (int i = 0; i < nv; i++) f->column[i] = f->sensitivity[1][(size_t)i * (size_t)p + (size_t)j];
    block_solver_multiply(s->solver, f->column, f->right);
    for (int i = 0; i < nv; i++) f->slip_rows[(size_t)i * (size_t)p + (size_t)j] = f->right[i];
  }
}

void slip_forward_begin(StepForward* f, const RecordedStep* step, Assembly* assembly) {
  StepAdjoint* a = f->adjoint;
  f->slips = a->replay && !a->closures && a->sim->prescribed_joints.count == 0 &&
             step->clock.kind == STEP_IMPACT_SUBSTEP && slip_product(a, a->zero);
  if (!f->slips) return;
  compute_slip_rows(f);
  contact_replay_exclude_impulse_friction(a->replay, false);
  step_assemble_keeping_scales(a->sim, contact_replay_terms(a->replay), assembly);
}

void slip_forward_add_product(StepForward* f, const RecordedStep* step) {
  StepAdjoint* a = f->adjoint;
  if (!f->slips) return;
  (void)slip_product(a, a->lambda);
  step_adjoint_reduce_wrenches(a, step, (const double(*)[6])a->slip_wrench, a->ground_bar, f->bar[0].q);
  memset(a->slip_wrench, 0, sizeof(double[6]) * (size_t)f->model->link_count);
}
