/* Friction that rests on the force of its own step, backwards (docs/derivations/friction.md, F9). */
#include <string.h>

#include "simulate/step_adjoint.h"

bool own_force_bars(StepAdjoint* a, const RecordedStep* step) {
  const Model* m = a->model;
  if (!a->replay || !contact_replay_rests_on_own(a->replay)) return false;
  memset(a->own_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  contact_replay_own_bars(a->replay, a->own_bar);
  step_adjoint_compose(a, step->pose_next, a->own_bar);
  memset(a->own, 0, sizeof(double) * (size_t)m->dof_count);
  step_adjoint_reduce(a, step->pose_next, a->sim->screws, a->own);
  return true;
}

/* own of this lambda. */
static void find_own(StepAdjoint* a, const RecordedStep* step, const ContactField* more, const double* lambda) {
  const Sim* s = a->sim;
  StepLengths* l = a->lengths;
  ContactField field = *more;
  step_adjoint_twists(a->model, s->screws, s->reference, lambda, a->twist);
  field.twist = a->twist;
  contact_replay_adjoint(a->replay, &field, l->unused_bar, l->unused_bar, &l->unused);
  (void)own_force_bars(a, step);
}

bool own_force_solve(StepAdjoint* a, const RecordedStep* step, const ContactField* field, double* reduced,
                     double* lambda, double* nu) {
  const Sim* s = a->sim;
  int nv = a->model->dof_count;
  if (!a->replay || !contact_replay_rests_on_own(a->replay)) return true;
  double change = INFINITY, size = 0, *next = a->own_next;
  for (int k = 0; k < OWN_FORCE_ITERATIONS && change > OWN_FORCE_KNOWN * size; k++) {
    find_own(a, step, field, lambda);
    for (int i = 0; i < nv; i++) next[i] = s->fixed[i] ? 0 : -reduced[i] - a->own[i];
    block_solver_solve(s->solver, next);
    if (s->closures && !closures_solve(s->closures, s->solver, NULL, s->fixed, NULL, next, nu)) return false;
    change = size = 0;
    for (int i = 0; i < nv; i++) {
      change = fmax(change, fabs(next[i] - lambda[i]));
      size = fmax(size, fabs(next[i]));
      lambda[i] = next[i];
    }
    if (!isfinite(size)) return false;
  }
  find_own(a, step, field, lambda);
  for (int i = 0; i < nv; i++) reduced[i] += a->own[i];
  return change <= OWN_FORCE_KNOWN * size;
}
