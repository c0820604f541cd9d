/* When is a step solved? What is out of balance is measured against the forces at work on the same bodies
 * (docs/derivations/step.md, S8), so that the answer does not depend on units, sizes or masses. */
#include <float.h>
#include <math.h>

#include "simulate/loads.h"
#include "simulate/tendons.h"

/* Part of the momentum per step that counts as a force: a body that drifts free of all forces is solved to this part of
 * the tolerance of its speed. */
#define MOMENTUM_SHARE 1e-3
/* Roundings of a position that count as a force at the rounding floor: a body at rest that nothing acts on has no
 * other, and second order's target differs from where it is by the last bits. Far too small to count before the floor.
 */
#define POSITION_ROUNDINGS (16 * DBL_EPSILON / FLOOR_MOST)

static double frobenius(const Mat3* a) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += a->m[i][j] * a->m[i][j];
  return sqrt(sum);
}

/* Radius of gyration about the centre of mass: sqrt(tr(inertia tensor) / 2 m) [m]. */
static double gyration_radius(const ModelLink* link) {
  return sqrt(0.5 * mat3_trace(mass_moment_inertia_tensor(&link->moment)) / link->mass);
}

/* Inertia, weight and momentum of one link; terms: its inertia, not yet composed. */
static WorkingForce own_force(const Sim* s, int i, const LinkTerms* terms) {
  const ModelLink* link = &s->model->links[i];
  if (!(link->mass > 0)) return (WorkingForce){0, 0};
  double weight = step_inertia_weight(s) * step_length_ratio(s), radius = gyration_radius(link);
  Vec3 travelled = vec3_sub(pose_apply(s->pose_now[i], link->center), pose_apply(s->pose_old[i], link->center));
  Mat3 turned = mat3_sub(s->pose_now[i].r, s->pose_old[i].r);
  double momentum = MOMENTUM_SHARE * weight * link->mass * (vec3_norm(travelled) + radius * frobenius(&turned));
  double rounding =
      POSITION_ROUNDINGS * weight * link->mass * (vec3_norm(pose_apply(s->pose_now[i], link->center)) + radius);
  WorkingForce own = {
      vec3_norm(terms->force) + momentum + rounding + link->mass * vec3_norm(s->model->simulation.gravity), 0};
  own.torque = vec3_norm(mat3_axial(terms->moment)) + radius * own.force;
  return own;
}

static void add_loads(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  for (int i = 0; s->loads && i < s->model->link_count; i++) {
    if (!s->loads[i].any || !step_is_stale(s, i)) continue;
    WorkingForce own = load_at_work(&s->loads[i], &s->model->links[i], c->pose[i]);
    s->work[i].force += own.force;
    s->work[i].torque += own.torque;
  }
}

static void add_contact_forces(const Sim* s, ContactTermList contact, WorkingForce* work) {
  int count = contact.holder ? contact.count(contact.holder) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    int link[2] = {t.link_a, t.link_b};
    for (int side = 0; side < 2; side++) {
      if (link[side] < 0 || !step_is_stale(s, link[side])) continue;
      work[link[side]].force += vec3_norm(t.force[side]);
      work[link[side]].torque += frobenius(&t.moment[side]);
    }
  }
}

/* Of each link becomes that of the subtree below it, about the link's own centre. */
static void compose(const Sim* s, WorkingForce* work) {
  for (int i = s->model->link_count - 1; i >= 0; i--) {
    int parent = s->model->links[i].parent;
    if (parent < 0 || s->model->links[i].tree < 0 || !step_is_stale(s, i)) continue;
    double arm = vec3_norm(vec3_sub(s->reference[i], s->reference[parent]));
    work[parent].force += work[i].force;
    work[parent].torque += work[i].torque + arm * work[i].force;
  }
}

void balance_measure(Sim* s, ContactTermList contact) {
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++)
    if (step_is_stale(s, i))
      s->work[i] = m->links[i].tree < 0 ? (WorkingForce){0, 0} : own_force(s, i, &s->link_terms[i]);
  add_loads(s);
  add_contact_forces(s, contact, s->work);
  add_contact_forces(s, closures_terms(s->closures), s->work);
  add_contact_forces(s, tendons_terms(s->tendons), s->work);
  compose(s, s->work);
  const JointTerms* joints = s->configuration[s->current].joints;
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < m->links[i].dof_count && step_is_stale(s, i); k++) {
      int dof = m->links[i].dof_first + k;
      const Screw* screw = &s->screws[dof];
      double turning = vec3_norm(screw->w), arm = vec3_norm(screw_velocity(screw, s->reference[i]));
      s->at_work[dof] = arm * s->work[i].force + turning * s->work[i].torque + fabs(joints[i].gradient[k]);
      if (m->links[i].passive) s->at_work[dof] += joints[i].inertia_force[k];
    }
  if (s->closures) closures_add_work(s->closures, s->at_work);
}

double balance_allowed(const Sim* s, int dof) {
  double absolute = s->model->simulation.force_tolerance;
  if (absolute > 0 && vec3_norm(s->screws[dof].w) > 0) absolute *= s->model->links[s->model->dof_link[dof]].reach;
  return s->tolerance * s->at_work[dof] + absolute;
}

bool balance_reached(const Sim* s, int dof) { return fabs(s->gradient[dof]) <= balance_allowed(s, dof); }

double balance_residual(const Sim* s, int* worst) {
  double residual = 0;
  *worst = -1;
  for (int k = 0; k < s->model->dof_count; k++) {
    if (s->fixed[k]) continue;
    if (!isfinite(s->gradient[k])) {
      *worst = k;
      return NAN;
    }
    double part = fabs(s->gradient[k]) * s->tolerance / fmax(balance_allowed(s, k), DBL_MIN);
    if (part > residual) {
      residual = part;
      *worst = k;
    }
  }
  return residual;
}
