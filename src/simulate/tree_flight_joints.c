/* Forces of joints in the aims of trees that conserve their momentum (docs/derivations/spin.md, W51). */
#include <assert.h>
#include <string.h>

#include "simulate/tree_flight.h"

JointInput flight_joint_input(const Sim* s, int i) {
  assert(s->flight && i >= 0 && i < s->model->link_count);
  JointInput in = step_joint_input(s, &s->configuration[s->current], i);
  in.q = s->flight->ahead + s->model->links[i].coordinate_first;
  in.stop = NULL;
  in.held = NULL;
  in.aimed = true;
  return in;
}

void flight_joints_clear(const Sim* s, int tree) {
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  size_t size = sizeof(double) * (size_t)t->dof_count;
  f->holds[tree] = false;
  memset(f->held + t->dof_first, 0, size);
  memset(f->stiff + t->dof_first, 0, size);
}

void flight_joints_place(const Sim* s, int i) {
  TreeFlight* f = s->flight;
  const ModelLink* link = &s->model->links[i];
  if (!f->holds[link->tree] || !f->acts[i]) return;
  JointInput in = flight_joint_input(s, i);
  JointTerms terms;
  (void)joint_terms(&in, true, &terms);
  for (int k = 0; k < link->joint.plain_count; k++) {
    f->held[link->dof_first + k] = terms.gradient[k];
    f->stiff[link->dof_first + k] = terms.hessian[k][k];
  }
}
