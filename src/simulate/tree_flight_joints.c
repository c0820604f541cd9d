/* Joint forces that the targets of trees that conserve their momentum contain (docs/derivations/spin.md, W51). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "simulate/tree_flight.h"

/* Sets the copy of the link with the joint properties that the target contains: springs, damping and armatures of plain
 * coordinates. Its infinite friction_speed makes the derivative of the friction force with respect to its coefficient
 * zero. */
void flight_joints_begin(const Sim* s, int link) {
  assert(s->flight && link >= 0 && link < s->model->link_count);
  ModelLink* target = &s->flight->target_links[link];
  *target = s->model->links[link];
  memset(target->limited, 0, sizeof(target->limited));
  memset(target->friction, 0, sizeof(target->friction));
  memset(target->static_friction, 0, sizeof(target->static_friction));
  target->friction_speed = (double)INFINITY;
  target->joint.quaternion = false;
}

JointInput flight_joint_input(const Sim* s, int link) {
  assert(s->flight && link >= 0 && link < s->model->link_count);
  JointInput in = step_joint_input(s, &s->configuration[s->current], link);
  in.link = &s->flight->target_links[link];
  in.q = s->flight->target_q + s->model->links[link].coordinate_first;
  in.stop = NULL;
  in.held = NULL;
  return in;
}

void flight_joints_clear(const Sim* s, int tree) {
  assert(tree >= 0 && tree < s->model->tree_count);
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  size_t size = sizeof(double) * (size_t)t->dof_count;
  f->contains_joint_forces[tree] = false;
  memset(f->joint_force + t->dof_first, 0, size);
  memset(f->joint_stiffness + t->dof_first, 0, size);
}

void flight_joints_evaluate(const Sim* s, int link) {
  assert(link >= 0 && link < s->model->link_count);
  TreeFlight* f = s->flight;
  const ModelLink* l = &s->model->links[link];
  if (!f->contains_joint_forces[l->tree] || !f->has_joint_forces[link]) return;
  JointInput in = flight_joint_input(s, link);
  JointTerms terms;
  (void)joint_terms(&in, true, &terms);
  for (int k = 0; k < l->joint.scalar_count; k++) {
    f->joint_force[l->dof_first + k] = terms.gradient[k];
    f->joint_stiffness[l->dof_first + k] = terms.hessian[k][k];
  }
}
