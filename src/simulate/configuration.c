/* Configurations of a step: coordinates, poses of the links, and energies. Moves a configuration to a line-search trial
 * and computes the change of energy (docs/derivations/step.md, S1, S10). */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/loads.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

/* Returns the time weights of a spring with the given theta (drives.md, M10). flies: true if the spring belongs to a
 * tree that conserves momentum. */
SpringTimeWeights spring_time_weights(const StepClock* clock, const StepWeights* weights, double theta, bool flies) {
  assert(theta >= 0 && theta <= 1);
  double ratio = fmax(clock->dt_before, 0) / clock->dt, sum = theta + (1 - theta) * ratio;
  if (theta == 1) return (SpringTimeWeights){0, 0, 0};
  return (SpringTimeWeights){theta * (1 - theta) * (1 + ratio) / sum, (1 - theta) * (1 - theta) * ratio / sum,
                             flies && weights->factor == 1 ? 1 - sum : 0};
}

SpringTimeWeights spring_time_weights_derivative(const StepClock* clock, const StepWeights* weights, double theta,
                                                 bool flies) {
  double ratio = fmax(clock->dt_before, 0) / clock->dt, sum = theta + (1 - theta) * ratio, by_sum = 1 - ratio;
  SpringTimeWeights at = spring_time_weights(clock, weights, theta, flies);
  return (SpringTimeWeights){((1 - 2 * theta) * (1 + ratio) - at.now * by_sum) / sum,
                             (-2 * (1 - theta) * ratio - at.old * by_sum) / sum,
                             flies && weights->factor == 1 ? -by_sum : 0};
}

static bool is_in_flying_tree(const Sim* s, const ModelLink* l) {
  return l->tree >= 0 && s->model->trees[l->tree].flies;
}

SpringTimeWeights step_spring_time_weights(const Sim* s, int link) {
  assert(link >= 0 && link < s->model->link_count);
  const ModelLink* l = &s->model->links[link];
  return spring_time_weights(&s->clock, &s->weights, l->spring_theta, is_in_flying_tree(s, l));
}

SpringTimeWeights step_spring_time_weights_derivative(const Sim* s, int link) {
  assert(link >= 0 && link < s->model->link_count);
  const ModelLink* l = &s->model->links[link];
  return spring_time_weights_derivative(&s->clock, &s->weights, l->spring_theta, is_in_flying_tree(s, l));
}

JointInput step_joint_input(const Sim* s, const Configuration* c, int link) {
  assert(link >= 0 && link < s->model->link_count);
  const ModelLink* l = &s->model->links[link];
  return (JointInput){l,
                      c->q + l->coordinate_first,
                      s->q_now + l->coordinate_first,
                      s->difference_old + l->dof_first,
                      s->drive_list.drives + s->drive_list.first[link],
                      s->drive_list.first[link + 1] - s->drive_list.first[link],
                      s->gain_dt,
                      s->weights,
                      s->armature_target ? s->armature_target + l->dof_first : NULL,
                      step_inertia_weight(s),
                      step_spring_time_weights(s, link),
                      1 - l->damper_theta,
                      s->rate_before + l->dof_first,
                      s->joint_stops.stop ? s->joint_stops.stop + l->dof_first : NULL,
                      flight_joint_forces(s->flight, l)};
}

static bool evaluate_link(Sim* s, int i, Configuration* c) {
  const ModelLink* link = &s->model->links[i];
  c->inertia[i] = link->tree < 0 ? 0 : inertia_energy(link, c->pose[i], s->target[i], step_inertia_weight(s));
  if (load_acts_in_step(s, i)) c->inertia[i] += load_energy(&s->loads[i], &c->pose[i], &s->pose_now[i]);
  if (fluid_acts_on(s->fluid, i)) c->inertia[i] += fluid_energy(s, i, &c->pose[i]);
  if (link->dof_count == 0) return true;
  JointInput in = step_joint_input(s, c, i);
  return joint_terms(&in, true, &c->joints[i]);
}

typedef struct {
  Sim* s;
  Configuration* to;
} MoveTask;

static void evaluate_tree(void* context, int index, int thread) {
  (void)thread;
  Sim* s = ((MoveTask*)context)->s;
  int tree = s->scope.trees[index];
  s->trial.inside[tree] = true;
  for (int n = s->trees.first[tree]; n < s->trees.first[tree + 1]; n++)
    s->trial.inside[tree] = evaluate_link(s, s->trees.links[n], ((MoveTask*)context)->to) && s->trial.inside[tree];
}

bool configuration_evaluate(Sim* s, Configuration* c) {
  MoveTask task = {s, c};
  bool inside = true;
  for (int i = 0; i < s->model->link_count; i++)
    if (s->model->links[i].tree < 0) inside = evaluate_link(s, i, c) && inside;
  parallel_for(s->options.threads, s->model->tree_count, TREES_PARALLEL, TREES_GRAIN, evaluate_tree, &task);
  for (int k = 0; k < s->model->tree_count; k++) inside = inside && s->trial.inside[k];
  if (s->closures) closures_compute_values(s->closures, c->pose, c->q, c->closures);
  if (s->tendons) tendons_energies(s->tendons, c->pose, c->q, c->tendons);
  if (s->bushings) bushings_energies(s->bushings, c->pose, c->bushings);
  return inside;
}

static LinkPart energy_change_of_link(const Sim* s, const Configuration* from, const Configuration* to, int i) {
  LinkPart change = {.inertia = to->inertia[i] - from->inertia[i]};
  if (s->model->links[i].dof_count == 0) return change;
  const JointTerms *a = &from->joints[i], *b = &to->joints[i];
  change.joint =
      (b->controller - a->controller) + (b->limit - a->limit) + (b->damping - a->damping) + (b->inertia - a->inertia);
  return change;
}

static void move_tree_to_trial(void* context, int index, int thread) {
  (void)thread;
  Sim* s = ((MoveTask*)context)->s;
  int tree = s->trial.moved_trees[index];
  Configuration* to = ((MoveTask*)context)->to;
  const Configuration* from = &s->configuration[s->current];
  bool moves = s->trial.moving[tree] = !step_tree_is_still(s, tree, s->newton.scaled);
  s->trial.inside[tree] = true;
  for (int n = s->trees.first[tree]; n < s->trees.first[tree + 1]; n++) {
    int i = s->trees.links[n];
    const ModelLink* link = &s->model->links[i];
    int q = link->coordinate_first;
    s->trial.change[i] = (LinkPart){0, 0};
    if (!moves && s->trial.same[i]) continue;
    s->trial.same[i] = !moves;
    s->trial.moved_link[i] = true;
    if (moves) {
      if (link->dof_count > 0)
        joint_increment(&link->joint, from->q + q, s->newton.scaled + link->dof_first, to->q + q);
      model_link_pose(s->model, i, to->q, to->pose);
      s->trial.inside[tree] = evaluate_link(s, i, to) && s->trial.inside[tree];
      s->trial.change[i] = energy_change_of_link(s, from, to, i);
      continue;
    }
    if (link->coordinate_count > 0) memcpy(to->q + q, from->q + q, sizeof(double) * (size_t)link->coordinate_count);
    to->pose[i] = from->pose[i];
    to->inertia[i] = from->inertia[i];
    to->joints[i] = from->joints[i];
  }
}

static void copy_immovable_links(Sim* s, Configuration* to) {
  const Configuration* from = &s->configuration[s->current];
  for (int i = 0; i < s->model->link_count && s->scope.whole; i++) {
    if (s->trial.same[i] || s->island_set.of_link[i] >= 0)
      continue; /* links that cannot move have no island, and are copied once */
    s->trial.same[i] = s->trial.moved_link[i] = true;
    to->pose[i] = from->pose[i];
    to->inertia[i] = from->inertia[i];
    to->joints[i] = from->joints[i];
  }
}

bool configuration_set_trial(Sim* s, Configuration* to) {
  assert(to != &s->configuration[s->current]);
  MoveTask task = {s, to};
  bool inside = true;
  copy_immovable_links(s, to);
  parallel_for(s->options.threads, s->trial.moved_count, TREES_PARALLEL, TREES_GRAIN, move_tree_to_trial, &task);
  for (int n = 0; n < s->scope.tree_count; n++) inside = inside && s->trial.inside[s->scope.trees[n]];
  if (s->closures) closures_compute_values(s->closures, to->pose, to->q, to->closures);
  if (s->tendons) tendons_energies(s->tendons, to->pose, to->q, to->tendons);
  if (s->bushings) bushings_energies(s->bushings, to->pose, to->bushings);
  return inside;
}
