/* Adjoint of joint reactions (docs/derivations/observables.md, O3). Let `slopes` be the derivatives of a scalar with
 * respect to the reactions. Then slopes . reactions is the work of all forces on links in a virtual motion. In this
 * motion, each link moves by the sum of the slopes of all joints between the link and the world. The twists of the
 * virtual motion (`field`) are added to the twists of lambda. */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/loads.h"
#include "simulate/step_adjoint.h"
#include "simulate/tendons.h"

double reaction_product(const StepAdjoint* a, const double (*slopes)[6]) {
  double sum = 0;
  if (!slopes) return 0;
  double(*found)[6] = a->sim->joint_reports.substep_reactions;
  reactions_from_terms(a->sim, found);
  for (int i = 0; i < a->model->link_count; i++)
    for (int k = 0; k < 6; k++) sum += slopes[i][k] * found[i][k];
  return sum;
}

/* Sets field[links] to the twists of the virtual motion about the points at[links], with the joints at pose[links]. The
 * twist of a link that cannot move is 0. */
static void compute_virtual_twists(const Model* m, const double (*slopes)[6], const Pose* pose, const Vec3* at,
                                   double (*field)[6]) {
  memset(field, 0, sizeof(double[6]) * (size_t)m->link_count);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0) continue;
    Twist t = {vec3_at(slopes[i] + 3), vec3_at(slopes[i])};
    t.v = vec3_add(t.v, vec3_cross(t.w, vec3_sub(at[i], pose[i].t)));
    if (link->parent >= 0) {
      Twist up = twist_from_array(field[link->parent]);
      t.w = vec3_add(t.w, up.w);
      t.v = vec3_add(t.v, vec3_add(up.v, vec3_cross(up.w, vec3_sub(at[i], at[link->parent]))));
    }
    vec3_store(t.w, field[i]);
    vec3_store(t.v, field[i] + 3);
  }
}

/* Force and first moment of one link without its descendants, about the origin of the link's frame. */
typedef struct {
  Vec3 force;
  Mat3 moment;
} LinkForce;

/* Adds the derivatives of the power of the forces on a link in the motion (w, v), with respect to the pose of the link,
 * to bar. w and v are constant: they do not rotate with the link. */
static void add_moment_pose_bar(const LinkForce* link_force, Pose pose, Vec3 w, double bar[3][4]) {
  Mat3 by = mat3_mul(mat3_mul(mat3_cross(w), link_force->moment), pose.r);
  Vec3 t = vec3_cross(link_force->force, w);
  const double shift[3] = {t.x, t.y, t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) bar[i][j] -= by.m[i][j];
    bar[i][3] += shift[i];
  }
}

/* Adds the derivative of slopes . reactions with respect to the origin of the joint, to which the torque of the
 * reaction refers, to bar. force: force on the link and its descendants. */
static void add_origin_bar(Vec3 force, const double slopes[6], double bar[3][4]) {
  Vec3 by = vec3_cross(force, vec3_at(slopes + 3));
  bar[0][3] -= by.x;
  bar[1][3] -= by.y;
  bar[2][3] -= by.z;
}

/* Returns the force and first moment of link i without its descendants. The stored link terms are sums over a link and
 * its descendants. */
static LinkForce link_force_without_descendants(const StepAdjoint* a, int i, const Pose* pose) {
  assert(i >= 0 && i < a->model->link_count);
  const Sim* s = a->sim;
  const Model* m = a->model;
  LinkForce link_force = {s->assembly.terms[i].force, s->assembly.terms[i].moment};
  for (int k = i + 1; k < m->link_count; k++) {
    if (m->links[k].parent != i || m->links[k].tree < 0) continue;
    const LinkTerms* below = &s->assembly.terms[k];
    Mat3 shifted =
        mat3_add(below->moment, mat3_outer(below->force, vec3_sub(s->assembly.reference[k], s->assembly.reference[i])));
    link_force.force = vec3_sub(link_force.force, below->force);
    link_force.moment = mat3_add(link_force.moment, mat3_scale(shifted, -1));
  }
  link_force.moment =
      mat3_add(link_force.moment, mat3_outer(link_force.force, vec3_sub(s->assembly.reference[i], pose[i].t)));
  return link_force;
}

static void add_term_pose_bars(StepAdjoint* a, const RecordedStep* step, const double (*slopes)[6],
                               double (*bar)[3][4]) {
  Sim* s = a->sim;
  const Model* m = a->model;
  const Pose* pose = step->pose_next;
  double weight = step_inertia_weight(s);
  for (int i = 0; i < m->link_count; i++) {
    if (m->links[i].tree < 0) continue;
    LinkForce link_force = link_force_without_descendants(a, i, pose);
    add_moment_pose_bar(&link_force, pose[i], vec3_at(a->field[i]), bar[i]);
    add_origin_bar(s->assembly.terms[i].force, slopes[i], bar[i]);
    Twist t = twist_from_array(a->field[i]);
    Mat3 turn = mat3_mul(mat3_cross(t.w), pose[i].r);
    Vec3 v = vec3_add(t.v, vec3_cross(t.w, vec3_sub(pose[i].t, s->assembly.reference[i])));
    const double motion[3][4] = {{turn.m[0][0], turn.m[0][1], turn.m[0][2], v.x},
                                 {turn.m[1][0], turn.m[1][1], turn.m[1][2], v.y},
                                 {turn.m[2][0], turn.m[2][1], turn.m[2][2], v.z}};
    double pull[3][4];
    inertia_second_moment_product(&m->links[i], motion, pull);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++) bar[i][r][c] += weight * pull[r][c];
  }
  memset(a->wrench, 0, sizeof(double[6]) * (size_t)m->link_count);
  ContactField field = step_adjoint_field(a->field, NULL, NULL);
  if (a->replay) contact_replay_product(a->replay, &field, a->wrench);
  if (a->closures) memset(a->closures->nu, 0, sizeof(double) * (size_t)s->closures->row_count);
  closure_adjoint_hessian_product(a->closures, s, (const double(*)[6])a->field, a->wrench);
  tendons_hessian_product(s->tendons, (const double(*)[6])a->field, a->wrench);
  bushings_hessian_product(s->bushings, (const double(*)[6])a->field, a->wrench);
  fluid_hessian_product(s, (const double(*)[6])a->field, a->wrench);
  step_adjoint_wrenches_to_poses(a, pose, bar);
}

/* Adds the contribution of trees in free flight (tree_flight.h) to bar, the derivatives of slopes . reactions with
 * respect to the poses at t. The targets of such trees contain a change of momentum, which enters the reactions. */
static void add_flight_pose_bars(StepAdjoint* a, const RecordedStep* step, const double (*slopes)[6],
                                 double (*bar)[3][4]) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  const Pose* pose = step->pose_now;
  Vec3* below = a->field_at;
  memset(below, 0, sizeof(Vec3) * (size_t)m->link_count);
  for (int i = m->link_count - 1; s->flight && i >= 0; i--) {
    const ModelLink* link = &m->links[i];
    if (!tree_flight_has_target(s->flight, link)) continue;
    double d[3][4], g[3][4], scale = 1 / s->flight->gravity_time;
    Mat3 by;
    tree_flight_displacement(s, i, d);
    inertia_second_moment_product(link, (const double(*)[4])d, g);
    double load[3][4] = {{0}};
    if (load_is_in_target(s, i)) load_matrix(&s->loads[i], pose[i].r, load);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++) g[r][c] = scale * g[r][c] - load[r][c];
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) by.m[r][c] = g[r][c];
    LinkForce link_force = {vec3(g[0][3], g[1][3], g[2][3]), mat3_mul(by, mat3_transpose(pose[i].r))};
    add_moment_pose_bar(&link_force, pose[i], vec3_at(a->field_now[i]), bar[i]);
    if (s->flight->is_wheel[i]) {
      LinkForce spin = {vec3(0, 0, 0), mat3_scale(mat3_cross(s->flight->screws_now[flight_wheel_dof(s, i)].w),
                                                  0.5 * scale * flight_wheel_residual(s, i))};
      add_moment_pose_bar(&spin, pose[i], vec3_at(a->field_now[i]), bar[i]);
    }
    below[i] = vec3_add(below[i], link_force.force);
    add_origin_bar(below[i], slopes[i], bar[i]);
    if (link->parent >= 0) below[link->parent] = vec3_add(below[link->parent], below[i]);
  }
}

/* Sets a->field_rows[rows] to the work of a unit multiplier of each closure row in the virtual motion. */
static void compute_row_works(StepAdjoint* a, const RecordedStep* step) {
  const Sim* s = a->sim;
  const ClosureSystem* c = s->closures;
  if (!c) return;
  memset(a->field_rows, 0, sizeof(double) * (size_t)c->row_count);
  double* one = a->closures->nu;
  memset(one, 0, sizeof(double) * (size_t)c->row_count);
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* closure = &s->model->closures[k];
    for (int row = closure->row_first; !c->open[k] && row < closure->row_first + closure->row_count; row++) {
      double wrench[12];
      one[row] = 1;
      closure_row_wrench(c, k, step->pose_next, s->assembly.reference, one, wrench);
      one[row] = 0;
      for (int side = 0; side < 2; side++)
        for (int n = 0; closure->link[side] >= 0 && n < 6; n++)
          a->field_rows[row] += wrench[6 * side + n] * a->field[closure->link[side]][n];
    }
  }
}

void reaction_adjoint_load(StepAdjoint* a, const RecordedStep* step, const double (*slopes)[6], StateBar next,
                           StateBar now) {
  const Model* m = a->model;
  a->reacts = false;
  for (int i = 0; slopes && i < m->link_count; i++)
    for (int k = 0; k < 6; k++) a->reacts = a->reacts || slopes[i][k] != 0;
  if (!a->reacts) return;
  Vec3* at = a->field_at;
  for (int i = 0; i < m->link_count; i++) at[i] = step->pose_now[i].t;
  compute_virtual_twists(m, slopes, step->pose_now, at, a->field_now);
  compute_virtual_twists(m, slopes, step->pose_next, a->sim->assembly.reference, a->field);
  add_term_pose_bars(a, step, slopes, next.pose);
  add_flight_pose_bars(a, step, slopes, now.pose);
  compute_row_works(a, step);
}

void reaction_adjoint_add(StepAdjoint* a) {
  for (int i = 0; a->reacts && i < a->model->link_count; i++)
    for (int k = 0; k < 6; k++) a->twist[i][k] += a->field[i][k];
}
