/* Loads that the targets of trees that conserve their momentum contain (docs/derivations/spin.md, W52). */
#include <assert.h>
#include <string.h>

#include "simulate/loads.h"
#include "simulate/tree_flight.h"

bool flight_loads_begin(const Sim* s, int tree, LinkSpan span) {
  assert(tree >= 0 && tree < s->model->tree_count);
  TreeFlight* f = s->flight;
  for (int k = 0; s->loads && k < span.count; k++) {
    LinkLoad* load = &s->loads[span.links[k]];
    load->in_target = load->any;
    f->contains_loads[tree] = f->contains_loads[tree] || load->any;
  }
  return f->contains_loads[tree];
}

void flight_loads_clear(const Sim* s, int tree, LinkSpan span) {
  assert(tree >= 0 && tree < s->model->tree_count);
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  if (!f->contains_loads[tree]) return;
  f->contains_loads[tree] = false;
  memset(f->load_force + t->dof_first, 0, sizeof(double) * (size_t)t->dof_count);
  for (int k = 0; k < span.count; k++) s->loads[span.links[k]].in_target = false;
}

void flight_loads_add_forces(const Sim* s, LinkSpan span, const Pose* pose, const Screw* screws, double factor,
                             double* out) {
  TreeFlight* f = s->flight;
  for (int k = 0; k < span.count; k++) {
    int i = span.links[k];
    memset(f->load_bar[i], 0, sizeof(f->load_bar[i]));
    if (!load_is_in_target(s, i)) continue;
    load_matrix(&s->loads[i], pose[i].r, f->load_bar[i]);
    for (int n = 0; n < 12; n++) f->load_bar[i][n / 4][n % 4] *= factor;
  }
  pose_bars_sum_forces(s->model, span, pose, f->load_bar, f->force, f->moment);
  pose_bars_reduce(s->model, span, pose, screws, f->force, f->moment, out);
}

/* Sets load_force to the loads on the tree, projected onto the joint coordinates. For a direct degree of freedom (W52),
 * sets joint_force to the same value. The joint force then cancels the load in the target and adds it to the objective.
 */
void flight_loads_project(const Sim* s, int tree, LinkSpan span) {
  assert(tree >= 0 && tree < s->model->tree_count);
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  if (!f->contains_loads[tree]) return;
  memset(f->load_force + t->dof_first, 0, sizeof(double) * (size_t)t->dof_count);
  flight_loads_add_forces(s, span, s->pose_now, f->screws_now, 1, f->load_force);
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
    if (f->is_load_direct[d]) f->joint_force[d] = f->load_force[d];
}
