#include "optimize/optimization.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scene/schema.h"

static const TaskContinuation* continuation_settings(const Optimization* o) { return &o->task->continuation; }

static int last_scheduled_iteration(const TaskContinuation* c) {
  int last = c->support.iterations > c->stiffness.iterations ? c->support.iterations : c->stiffness.iterations;
  return c->switch_at > last ? c->switch_at : last;
}

bool continuation_is_active(const Optimization* o, int iteration) {
  return iteration < last_scheduled_iteration(continuation_settings(o));
}

/* Returns the value of a scheduled contact parameter at an iteration k: from (to / from)^(k / n) up to iteration n,
 * then `to`. */
static double ramp_value(const TaskRamp* ramp, int iteration) {
  if (iteration >= ramp->iterations) return ramp->to;
  return ramp->from * math_pow(ramp->to / ramp->from, (double)iteration / ramp->iterations);
}

/* Replaces the contact law of a scene. The parameters of the new law get default values; support, stiffness and rest
 * speed are derived from the scene. */
static void replace_law(SceneContact* contact, ContactModel model) {
  contact->model = model;
  contact->support = contact->stiffness = contact->rest_speed = 0;
  contact->hierarchy = true;
  contact_own_defaults(model, contact->law_parameters);
}

/* Stores the derived contact parameters in the scene, so that they do not change with the design. */
static void store_derived_parameters(Scene* scene) {
  Diagnostics diagnostics = {0};
  Model model = {0};
  if (model_create(&model, scene, &diagnostics) == STATUS_OK) {
    scene_set_contact_parameters(scene, model.contact.support, model.contact.stiffness, model.contact.smoothing);
    scene->contact.rest_speed = model.contact.rest_speed;
    model_fix_pairs(&model, scene);
  }
  model_destroy(&model);
  diagnostics_free(&diagnostics);
}

static void switch_law(ScheduledContact* scheduled, Scene* scene, ContactModel model) {
  if (!scheduled->has_switched) {
    replace_law(&scene->contact, model);
    store_derived_parameters(scene);
    scheduled->switched = scene->contact;
  }
  scheduled->has_switched = true;
  scene->contact = scheduled->switched;
}

static bool set_parameter(double* place, const TaskRamp* ramp, int iteration) {
  double value = ramp_value(ramp, iteration);
  if (ramp->iterations == 0 || *place == value) return false;
  *place = value;
  return true;
}

bool continuation_set(Optimization* o, int iteration) {
  assert(iteration >= 0);
  const TaskContinuation* c = continuation_settings(o);
  bool changed = false;
  for (int k = 0; k < o->task->scenario_count; k++) {
    Scene* scene = &o->task->scenarios[k].scene;
    SceneContact* contact = &scene->contact;
    if (c->switch_at > 0 && iteration >= c->switch_at) {
      if (contact->model == c->model) continue;
      switch_law(&o->contacts[k], scene, c->model);
      changed = true;
      continue;
    }
    changed |= set_parameter(&contact->support, &c->support, iteration);
    changed |= set_parameter(&contact->stiffness, &c->stiffness, iteration);
  }
  return changed;
}

void continuation_restart(Optimization* o) {
  if (last_scheduled_iteration(continuation_settings(o)) == 0) return;
  for (int k = 0; k < o->task->scenario_count; k++) o->task->scenarios[k].scene.contact = o->contacts[k].given;
  continuation_set(o, 0);
}

void continuation_finish(Optimization* o) { continuation_set(o, last_scheduled_iteration(continuation_settings(o))); }

void continuation_reset_optimizer(Optimization* o) {
  automatic_begin(o);
  automatic_create_optimizer(o);
}

Status continuation_advance(Optimization* o) {
  int next = o->iteration + 1;
  bool interrupted, switches = next == continuation_settings(o)->switch_at;
  if (next > last_scheduled_iteration(continuation_settings(o)) || !continuation_set(o, next)) return STATUS_OK;
  double loss;
  TrialOutcome outcome = evaluate_design(o, o->x, &loss, o->trial_terms, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED; /* the next call repeats the evaluation */
  if (outcome == TRIAL_ACCEPTED) outcome = evaluate_gradient(o, o->trial_gradient);
  if (switches) continuation_reset_optimizer(o);
  if (outcome != TRIAL_ACCEPTED) {
    o->loss = HUGE_VAL; /* the current design cannot be simulated; with an infinite loss any valid design is better */
    return STATUS_OK;
  }
  o->unconstrained_loss = loss;
  o->loss = optimization_merit(o, loss, o->trial_terms);
  memcpy(o->gradient, o->trial_gradient, sizeof(double) * (size_t)o->design.variable_count);
  memcpy(o->terms, o->trial_terms, sizeof(double) * (size_t)o->term_count);
  return STATUS_OK;
}

static bool check_key(const Scene* scene, const TaskRamp* ramp, const char* key, Diagnostics* diagnostics) {
  ContactModel law = scene->contact.model;
  if (ramp->iterations == 0 || (law != CONTACT_NONE && contact_law_has_parameter(law, key))) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, ramp->place,
                  "the contact law %s of the scene '%s' has no %s: schedule a parameter of this law",
                  contact_model_name(law), scene->name, key);
  return false;
}

/* Warns that the schedule of a contact parameter does not change link pairs with their own value or contact law. */
static void warn_about_pairs(const Scene* scene, const TaskRamp* ramp, const char* key, int material,
                             Diagnostics* diagnostics) {
  if (ramp->iterations == 0) return;
  for (int k = 0; k < scene->contact.pair_count; k++) {
    const ScenePair* pair = &scene->contact.pairs[k];
    if (!pair->material.given[material] && !(pair->has_model && contact_law_has_parameter(pair->model, key))) continue;
    diagnostics_add(diagnostics, SEVERITY_WARNING, ramp->place,
                    "the schedule does not change the %s of the pair '%s', '%s' in scene '%s', because contact.pairs "
                    "gives the pair its own law or value: remove the pair from contact.pairs if the schedule must "
                    "change the pair",
                    key, pair->name[0], pair->name[1], scene->name);
  }
}

Status continuation_start(Optimization* o, Diagnostics* diagnostics) {
  const TaskContinuation* c = continuation_settings(o);
  bool fine = true;
  o->contacts = MEMORY_NEW(ScheduledContact, o->task->scenario_count);
  for (int k = 0; k < o->task->scenario_count; k++) o->contacts[k].given = o->task->scenarios[k].scene.contact;
  for (int k = 0; k < o->task->scenario_count; k++) {
    const Scene* scene = &o->task->scenarios[k].scene;
    fine &= check_key(scene, &c->support, "barrier_distance", diagnostics);
    fine &= check_key(scene, &c->stiffness, "stiffness", diagnostics);
    warn_about_pairs(scene, &c->support, "barrier_distance", MATERIAL_SUPPORT, diagnostics);
    warn_about_pairs(scene, &c->stiffness, "stiffness", MATERIAL_STIFFNESS, diagnostics);
  }
  if (last_scheduled_iteration(c) > o->task->optimizer.iterations) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, c->place,
                    "the schedule ends at iteration %d, but the optimizer at %d: shorten the schedule or raise "
                    "optimizer.iterations",
                    last_scheduled_iteration(c), o->task->optimizer.iterations);
    fine = false;
  }
  if (!fine) return STATUS_BAD_INPUT;
  continuation_set(o, 0);
  return STATUS_OK;
}
