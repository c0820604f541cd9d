/* Friction that rests on the force of its own step (docs/derivations/friction.md, F8). */
#include <string.h>

#include "simulate/sim.h"

static StepReport solve_again(Sim* s) {
  StepReport report = {.outcome = STEP_NOT_FINITE, .residual_dof = -1};
  if (!contact_relag(s->contact)) return report;
  s->settling = true;
  report = step_solve(s);
  s->settling = false;
  return report;
}

void own_force_settle(Sim* s, StepReport* report) {
  int most = s->model->contact.friction_iterations;
  for (int k = 0; k < most; k++) {
    if (contact_friction_settled(s->contact, s->tolerance, NULL)) return;
    StepReport one = solve_again(s);
    step_add_work(&one, report);
    *report = one;
    if (step_outcome_failed(one.outcome)) return;
  }
  report->friction_open = most > 0 && !contact_friction_settled(s->contact, s->tolerance, report->friction_links);
}
