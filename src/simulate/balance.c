/* Convergence test of a step. The residual force is compared with the forces that act on the same bodies
 * (docs/derivations/step.md, S8), so that the result does not depend on units, sizes or masses. */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "model/tree.h"
#include "simulate/closures.h"
#include "simulate/fluid.h"
#include "simulate/loads.h"
#include "simulate/tendons.h"

/* The momentum of a body divided by the step length counts as an acting force with this fraction. The speed of a body
 * without forces then converges to this fraction of the tolerance. */
#define MOMENTUM_FRACTION 1e-3
/* Relative rounding error of a position. The inertial force that belongs to this error counts as an acting force. A
 * body at rest without loads has no other force, and its second-order target differs from its position by rounding.
 * Above the rounding floor this force is negligible. */
#define FORCE_POSITION_ROUNDING (16 * DBL_EPSILON / ROUNDING_FLOOR_RESIDUAL_MAX)

static double frobenius(const Mat3* a) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += a->m[i][j] * a->m[i][j];
  return sqrt(sum);
}

/* Returns the radius of gyration about the centre of mass, sqrt(tr(inertia tensor) / (2 m)) [m]. */
static double gyration_radius(const ModelLink* link) {
  return sqrt(0.5 * mat3_trace(mass_moment_inertia_tensor(&link->moment)) / link->mass);
}

/* Returns the pose of link i one step before the start, extrapolated backward from the initial velocities. Not inlined,
 * because only the first step needs it. */
static __attribute__((noinline)) Pose extrapolate_pose_before_start(const Sim* s, int i) {
  const Pose *now = &s->pose_now[i], *rate = &s->pose_rate[i];
  return (Pose){mat3_sub(now->r, mat3_scale(rate->r, s->clock.dt)), vec3_add_scaled(now->t, -s->clock.dt, rate->t)};
}

/* Returns the magnitudes of the force and the torque that inertia, weight and momentum exert on link i. terms: inertia
 * terms of the link, not yet summed over descendants. */
static ForceMagnitudes compute_link_force_magnitudes(const Sim* s, int i, const LinkTerms* terms) {
  const ModelLink* link = &s->model->links[i];
  if (!(link->mass > 0)) return (ForceMagnitudes){0, 0};
  double weight = step_inertia_weight(s) * step_length_ratio(s), radius = gyration_radius(link);
  Pose first;
  const Pose* old = &s->pose_old[i];
  if (!(s->clock.dt_before > 0)) first = extrapolate_pose_before_start(s, i), old = &first;
  Vec3 travelled = vec3_sub(pose_apply(s->pose_now[i], link->center), pose_apply(*old, link->center));
  Mat3 turned = mat3_sub(s->pose_now[i].r, old->r);
  double momentum = MOMENTUM_FRACTION * weight * link->mass * (vec3_norm(travelled) + radius * frobenius(&turned));
  double rounding =
      FORCE_POSITION_ROUNDING * weight * link->mass * (vec3_norm(pose_apply(s->pose_now[i], link->center)) + radius);
  ForceMagnitudes magnitudes = {
      vec3_norm(terms->force) + momentum + rounding + link->mass * vec3_norm(s->model->simulation.gravity), 0};
  magnitudes.torque = vec3_norm(mat3_axial(terms->moment)) + radius * magnitudes.force;
  return magnitudes;
}

static void add_magnitudes(ForceMagnitudes* to, double force, double torque) {
  to->force += force;
  to->torque += torque;
}

static void set_link_force_scale(Sim* s, int i) {
  s->force_scales.link[i] = compute_link_force_magnitudes(s, i, &s->assembly.terms[i]);
  if (fluid_acts_on(s->fluid, i)) {
    ForceMagnitudes fluid = fluid_force_magnitudes(s, i, &s->configuration[s->current].pose[i]);
    add_magnitudes(&s->force_scales.link[i], fluid.force, fluid.torque);
  }
  if (!s->loads || !s->loads[i].any) return;
  ForceMagnitudes load = load_force_magnitudes(&s->loads[i], &s->model->links[i], s->configuration[s->current].pose[i]);
  add_magnitudes(&s->force_scales.link[i], load.force, load.torque);
}

/* Adds the force and torque magnitudes of link i to the magnitudes of its parent, with the torque about the parent's
 * centre of mass. Does nothing if the parent cannot move. */
static void add_link_to_parent(Sim* s, int i) {
  int parent = s->model->links[i].parent;
  if (parent < 0 || s->model->links[parent].tree < 0) return;
  double arm = vec3_norm(vec3_sub(s->assembly.reference[i], s->assembly.reference[parent]));
  add_magnitudes(&s->force_scales.link[parent], s->force_scales.link[i].force,
                 s->force_scales.link[i].torque + arm * s->force_scales.link[i].force);
}

static void set_dof_force_scales(Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  const JointTerms* joint = &s->configuration[s->current].joints[i];
  for (int k = 0; k < link->dof_count; k++) {
    const Screw* screw = &s->assembly.screws[link->dof_first + k];
    double turning = vec3_norm(screw->w), arm = vec3_norm(screw_velocity(screw, s->assembly.reference[i])), *sum;
    sum = &s->force_scales.dof[link->dof_first + k];
    *sum = arm * s->force_scales.link[i].force + turning * s->force_scales.link[i].torque + fabs(joint->gradient[k]) +
           joint->inertia_force[k];
  }
}

typedef struct {
  Sim* sim;
  const Assembly* assembly;
} ForceScaleTask;

static void compute_tree_force_scales(void* context, int place, int thread) {
  (void)thread;
  Sim* s = ((ForceScaleTask*)context)->sim;
  const Assembly* a = ((ForceScaleTask*)context)->assembly;
  int tree = s->scope.trees[place];
  if (!s->marks.all_stale && !s->marks.stale[tree]) return;
  int begin = s->trees.first[tree], end = s->trees.first[tree + 1];
  for (int n = begin; n < end; n++) set_link_force_scale(s, s->trees.links[n]);
  for (int n = s->assembly.sides.first[place]; n < s->assembly.sides.first[place + 1]; n++) {
    int side = s->assembly.sides.items[n] & 1;
    ContactTerms t = assembly_term(a, s->assembly.sides.items[n] >> 1);
    add_magnitudes(&s->force_scales.link[side == 0 ? t.link_a : t.link_b], vec3_norm(t.force[side]),
                   frobenius(&t.moment[side]));
  }
  for (int n = end - 1; n >= begin; n--) add_link_to_parent(s, s->trees.links[n]);
  for (int n = begin; n < end; n++) set_dof_force_scales(s, s->trees.links[n]);
}

void balance_compute_force_scales(Sim* s, const Assembly* assembly) {
  ForceScaleTask task = {s, assembly};
  parallel_for(s->options.threads, s->scope.tree_count, TREES_PARALLEL, TREES_GRAIN, compute_tree_force_scales, &task);
  if (s->closures) closures_add_force_magnitudes(s->closures, s->force_scales.dof);
  tendons_add_force_magnitudes(s->tendons, s->force_scales.dof);
}

double balance_tolerance(const Sim* s, int dof) {
  assert(dof >= 0 && dof < s->model->dof_count);
  double absolute = s->model->simulation.force_tolerance;
  if (absolute > 0 && vec3_norm(s->assembly.screws[dof].w) > 0)
    absolute *= s->model->links[s->model->dof_link[dof]].reach;
  return s->tolerance * s->force_scales.dof[dof] + absolute;
}

bool balance_is_reached(const Sim* s, int dof) {
  assert(dof >= 0 && dof < s->model->dof_count);
  double share =
      s->closures ? closures_tolerance_factor(s->closures, s->model->links[s->model->dof_link[dof]].tree) : 1;
  return fabs(s->newton.gradient[dof]) <= share * balance_tolerance(s, dof);
}

void balance_test_tree(Sim* s, int tree) {
  assert(tree >= 0 && tree < s->model->tree_count);
  const ModelTree* t = &s->model->trees[tree];
  s->marks.balanced[tree] = true;
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
    s->marks.balanced[tree] = s->marks.balanced[tree] && (s->prescribed_joints.is_fixed[d] || balance_is_reached(s, d));
}

bool balance_tree_is_reached(const Sim* s, int tree, bool arrived) {
  assert(tree >= 0 && tree < s->model->tree_count);
  const ModelTree* t = &s->model->trees[tree];
  bool driven = false;
  for (int d = t->dof_first; s->prescribed_joints.count > 0 && d < t->dof_first + t->dof_count; d++)
    driven = driven || s->prescribed_joints.is_fixed[d];
  return s->marks.balanced[tree] && (arrived || !driven);
}

/* Relative rounding error of a coordinate or a position, from which the rounding errors of forces are estimated. */
#define COORDINATE_ROUNDING_ERROR (16 * DBL_EPSILON)

double balance_position_magnitude(const Sim* s, int link, Vec3 place, const double* q) {
  assert(link >= 0 && link < s->model->link_count);
  const Model* m = s->model;
  double size = vec3_norm(place);
  for (int i = link; i >= 0 && m->links[i].tree >= 0; i = m->links[i].parent)
    for (int k = 0; k < m->links[i].joint.slide_count; k++)
      size = fmax(size, fabs(q[m->links[i].coordinate_first + k]));
  return size;
}

double balance_largest_position(const Sim* s) {
  double size = 0;
  for (int i = 0; i < s->model->link_count; i++)
    if (s->model->links[i].tree >= 0) size = fmax(size, balance_position_magnitude(s, i, s->pose_now[i].t, s->q_now));
  return size;
}

static double link_position_magnitude(const Sim* s, int link) {
  return balance_position_magnitude(s, link, s->assembly.reference[link], s->configuration[s->current].q);
}

/* Returns the speed of a link at a unit rate of the degree of freedom `dof` [m]: speed of its centre of mass plus
 * angular speed times radius of gyration. Returns 0 for a link without mass, and for a link that `dof` does not move.
 */
static double link_speed_per_rate(const Sim* s, int dof, int link) {
  const Model* m = s->model;
  if (!model_descends(m, link, m->dof_link[dof]) || !(m->links[link].mass > 0)) return 0;
  return vec3_norm(screw_velocity(&s->assembly.screws[dof], s->assembly.reference[link])) +
         gyration_radius(&m->links[link]) * vec3_norm(s->assembly.screws[dof].w);
}

/* Returns the change of the generalized force of degree of freedom `dof` if its coordinate and the positions of the
 * links that it moves change by their rounding errors [N, N m]. */
static double joint_rounding_error(const Sim* s, int dof) {
  const Model* m = s->model;
  int joint_link = m->dof_link[dof], k = dof - m->links[joint_link].dof_first;
  const Configuration* c = &s->configuration[s->current];
  const ModelLink* link = &m->links[joint_link];
  double q = k < link->joint.scalar_count ? fabs(c->q[link->coordinate_first + k]) : 1;
  double force = fabs(c->joints[joint_link].hessian[k][k]) * q;
  for (int n = s->trees.first[m->links[joint_link].tree]; n < s->trees.first[m->links[joint_link].tree + 1]; n++) {
    int i = s->trees.links[n];
    double speed = link_speed_per_rate(s, dof, i);
    if (!(speed > 0)) continue;
    force += step_inertia_weight(s) * m->links[i].mass * speed *
             (link_position_magnitude(s, i) + gyration_radius(&m->links[i]));
  }
  return COORDINATE_ROUNDING_ERROR * force;
}

double balance_speed_error(const Sim* s, int dof) {
  assert(dof >= 0 && dof < s->model->dof_count);
  const Model* m = s->model;
  int joint_link = m->dof_link[dof];
  double inertia = 0, fastest = 0;
  for (int n = s->trees.first[m->links[joint_link].tree]; n < s->trees.first[m->links[joint_link].tree + 1]; n++) {
    double speed = link_speed_per_rate(s, dof, s->trees.links[n]);
    inertia += m->links[s->trees.links[n]].mass * speed * speed;
    fastest = fmax(fastest, speed);
  }
  return inertia > 0 ? fabs(s->newton.gradient[dof]) * s->clock.dt / inertia * fastest : (double)INFINITY;
}

/* Returns the Frobenius norm of the 3x3 block of a pair's Hessian that starts at (row, column). */
static double block_norm(const double (*hessian)[12], int row, int column) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += hessian[row + i][column + j] * hessian[row + i][column + j];
  return sqrt(sum);
}

/* Returns the change of the generalized force that pair terms exert on degree of freedom `dof` if the positions of the
 * links that it moves change by their rounding errors [N, N m]. place: index of the tree in the scope. */
static double pair_rounding_error(const Sim* s, const Assembly* a, int place, int dof) {
  double sum = 0;
  int joint_link = s->model->dof_link[dof];
  for (int n = a->sides->first[place]; n < a->sides->first[place + 1]; n++) {
    int side = a->sides->items[n] & 1;
    ContactTerms t = assembly_term(a, a->sides->items[n] >> 1);
    int link = side == 0 ? t.link_a : t.link_b;
    if (!model_descends(s->model, link, joint_link) || t.only_cross_block || !t.hessian) continue;
    double force = block_norm(t.hessian, 6 * side + 3, 6 * side + 3);
    double torque = block_norm(t.hessian, 6 * side, 6 * side + 3);
    double speed = vec3_norm(screw_velocity(&s->assembly.screws[dof], s->assembly.reference[link])),
           turning = vec3_norm(s->assembly.screws[dof].w);
    sum += (link_position_magnitude(s, link) + s->model->links[link].reach) * (force * speed + torque * turning);
  }
  return COORDINATE_ROUNDING_ERROR * sum;
}

bool balance_is_at_rounding(const Sim* s, const Assembly* a) {
  assert(!a || a->scope == &s->scope);
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->scope.trees[n]];
    for (int k = t->dof_first; k < t->dof_first + t->dof_count; k++) {
      double left = fabs(s->newton.gradient[k]) - balance_tolerance(s, k);
      if (s->prescribed_joints.is_fixed[k] || left <= 0) continue;
      if (!(left <= joint_rounding_error(s, k) + (a ? pair_rounding_error(s, a, n, k) : 0))) return false;
    }
  }
  return true;
}

bool balance_closures_are_reached(const Sim* s) {
  const Model* m = s->model;
  for (int k = 0; s->closures && k < m->tree_count; k++) {
    const ModelTree* t = &m->trees[k];
    if (closures_tolerance_factor(s->closures, k) == 1) continue;
    for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
      if (!s->prescribed_joints.is_fixed[d] && !balance_is_reached(s, d)) return false;
  }
  return true;
}

/* Updates *residual, the largest residual, and *worst, its degree of freedom, by degree of freedom k. Returns false if
 * the gradient of k is not finite. */
static bool update_largest_residual(const Sim* s, int k, double* residual, int* worst) {
  if (!isfinite(s->newton.gradient[k])) {
    *worst = k;
    *residual = (double)NAN;
    return false;
  }
  double part = fabs(s->newton.gradient[k]) * s->tolerance / fmax(balance_tolerance(s, k), DBL_MIN);
  if (part > *residual) {
    *residual = part;
    *worst = k;
  }
  return true;
}

double balance_residual(const Sim* s, int* worst) {
  double residual = 0;
  *worst = -1;
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->scope.trees[n]];
    for (int k = t->dof_first; k < t->dof_first + t->dof_count; k++)
      if (!s->prescribed_joints.is_fixed[k] && !update_largest_residual(s, k, &residual, worst)) return residual;
  }
  return residual;
}
