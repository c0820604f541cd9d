/* Writes the error message of a failed step. */
#include <assert.h>

#include "simulate/bushings.h"
#include "simulate/closures.h"

/* Largest number of links that the message lists as in contact with the link of the largest residual. */
#define NEIGHBOURS_LISTED_MAX 3

static const char* failure_reason(const StepReport* report) {
  switch (report->outcome) {
    case STEP_NO_SOLUTION:
      return isfinite(report->residual) ? "Newton's method found no solution"
                                        : "a value overflowed the range of double precision";
    case STEP_BLOCKED:
      return "a prescribed link cannot move on, because another body or a limit of its joint blocks its path";
    case STEP_CROSSED:
      return "two bodies would tunnel through each other within the step";
    case STEP_CLOSURE_OPEN:
      return "a closure cannot be closed";
    default:
      return step_outcome_text(report->outcome);
  }
}

/* Appends the name of the link that owns degree of freedom `dof` and the names of links in contact with it, such as
 * `link 'arm' (touching 'box', 'table')`. */
static void append_link_and_neighbours(Text* text, const Model* model, Sim* sim, int dof) {
  int count, named = 0;
  const SimContact* contacts = sim_contacts(sim, &count);
  bool known = dof >= 0 && dof < model->dof_count;
  text_add(text, "link '%s'", known ? model->links[model->dof_link[dof]].name : "?");
  for (int i = 0; known && i < count && named < NEIGHBOURS_LISTED_MAX; i++) {
    int link = model->dof_link[dof];
    if (contacts[i].a != link && contacts[i].b != link) continue;
    int other = contacts[i].a == link ? contacts[i].b : contacts[i].a;
    text_add(text, "%s'%s'", named++ == 0 ? " (touching " : ", ", model->links[other].name);
  }
  if (named > 0) text_add(text, ")");
}

void closure_add_name(Text* text, const Model* model, int index) {
  assert(index >= 0 && index < model->closure_count + model->coupling_count);
  static const char* const word[] = {"weld", "ball", "hinge", "slide", "distance"};
  if (index >= model->closure_count) {
    const ModelCoupling* coupling = &model->couplings[index - model->closure_count];
    text_add(text, "the coupling of '%s'", model->links[model->dof_link[coupling->dof[0]]].name);
    return;
  }
  const ModelClosure* c = &model->closures[index];
  text_add(text, "the %s of '%s' and '%s'", word[c->type], model->links[c->link[0]].name,
           c->link[1] < 0 ? "world" : model->links[c->link[1]].name);
}

static void append_closure_error(Text* text, const Model* model, const StepReport* report) {
  bool joints = report->open_closure >= model->closure_count;
  text_add(text, "; ");
  closure_add_name(text, model, report->open_closure);
  text_add(text,
           " stays open by %.3g %s, because no motion of the %s can close it: change their prescribed motion or limits",
           report->open_gap, joints ? "(m or rad)" : "m (or rad)", joints ? "joints" : "links");
}

/* The message names a bushing whose rotation exceeds this fraction of the largest admissible rotation. */
#define REPORTED_ROTATION_FRACTION 0.8

static void append_bushing_rotation(Text* text, const Model* model, const SimState* state) {
  for (int k = 0; k < model->bushing_count; k++) {
    const SceneBushing* b = model->bushings[k].source;
    double u[6];
    bushing_difference(b, state->pose, u);
    if (!(bushing_rotation(b, u) > REPORTED_ROTATION_FRACTION * BUSHING_ROTATION_MAX)) continue;
    text_add(
        text,
        "; the bushing of '%s' and '%s' is rotated by %.3g rad and works up to %.3g rad: use the joint's stiffness "
        "and damping for larger rotations",
        model->links[b->link[0]].name, b->link[1] < 0 ? "world" : model->links[b->link[1]].name, bushing_rotation(b, u),
        BUSHING_ROTATION_MAX);
    return;
  }
}

void sim_failure_text(Text* out, const Model* model, Sim* sim, const StepReport* report) {
  assert(step_outcome_failed(report->outcome));
  const SimState* state = sim_state(sim);
  text_add(out, "the solver failed at t = %.6g s (step %d): %s", state->time + model->simulation.dt, state->step + 1,
           failure_reason(report));
  if (report->residual_dof >= 0) { /* residual_dof is -1 if the step failed before a residual was computed */
    text_add(out, "; the residual is %.3g of the acting forces (%.3g N or N m) at ", report->residual,
             report->residual_force);
    append_link_and_neighbours(out, model, sim, report->residual_dof);
  }
  text_add(out, " after %d iterations", report->iterations);
  if (report->outcome == STEP_CLOSURE_OPEN) append_closure_error(out, model, report);
  append_bushing_rotation(out, model, state);
}
