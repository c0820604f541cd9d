/* Shifts of the hinge axes and lever arms of rolling bodies, for friction (docs/derivations/friction.md, F15). */
#include "simulate/roll_shift.h"

#include <string.h>

#include "contact/step.h"

RollShift* roll_shifts_create(const Sim* s) {
  return s->flight && s->model->hull_count > 0 ? MEMORY_NEW(RollShift, s->model->link_count) : NULL;
}

static bool is_hinge(const ModelLink* link) {
  return link->joint.kind == &JOINT_KIND_HINGE && link->joint.slide_count == 0;
}

/* Returns the vector from the centre of mass of a link at its target to the centre of mass at t [m]. */
static Vec3 vector_from_target_to_present(const Sim* s, int link) {
  Vec3 center = s->model->links[link].center;
  return vec3_sub(pose_apply(s->pose_now[link], center), pose_apply(s->target[link], center));
}

/* A floating tree. All links of the tree are in the range root ... end - 1. */
typedef struct {
  int root, end;
  double mass; /* mass of the tree [kg] */
} FloatingTree;

/* Returns the floating tree whose root is link i. Its mass is 0 if link i is not such a root, or if the lever arms of
 * the tree are not shifted. */
static FloatingTree find_floating_tree(const Sim* s, int i) {
  const ModelLink* links = s->model->links;
  FloatingTree tree = {.root = i, .end = i};
  bool root =
      links[i].tree >= 0 && links[i].parent < 0 && joint_is_floating(&links[i].joint) && links[i].prescribed < 0;
  if (!root || !tree_flight_has_target(s->flight, &links[i])) return tree;
  for (int k = i; k < s->model->link_count; k++)
    if (links[k].tree == links[i].tree) {
      tree.mass += links[k].mass;
      tree.end = k + 1;
    }
  return tree;
}

void roll_shifts_compute(Sim* s) {
  const ModelLink* links = s->model->links;
  if (!s->shifts) return;
  memset(s->shifts, 0, sizeof(RollShift) * (size_t)s->model->link_count);
  for (int i = 0; i < s->model->link_count; i++) {
    if (is_hinge(&links[i]) && tree_flight_has_target(s->flight, &links[i])) {
      s->shifts[i].axis_then = mat3_mul_vec(s->pose_now[i].r, links[i].joint.axis[0]);
      s->shifts[i].axis_aim = mat3_mul_vec(s->target[i].r, links[i].joint.axis[0]);
    }
    FloatingTree tree = find_floating_tree(s, i);
    if (!(tree.mass > 0)) continue;
    Vec3 common = {0, 0, 0};
    for (int k = tree.root; k < tree.end; k++)
      if (links[k].tree == links[i].tree)
        common = vec3_add_scaled(common, links[k].mass / tree.mass, vector_from_target_to_present(s, k));
    for (int k = tree.root; k < tree.end; k++)
      if (links[k].tree == links[i].tree) s->shifts[k].lever = vec3_sub(vector_from_target_to_present(s, k), common);
  }
}

static void add_pose_bar(double (*bar)[4], Vec3 by, Vec3 local, double place) {
  Mat3 outer = mat3_outer(by, local);
  const double t[3] = {by.x, by.y, by.z};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) bar[i][k] += outer.m[i][k];
    bar[i][3] += place * t[i];
  }
}

/* Adds the derivatives of by . vector_from_target_to_present(link) with respect to the pose at t, the target and the
 * centre of mass. */
static void center_displacement_adjoint(StepAdjoint* a, int link, Vec3 by, StateBar now, ModelGradient* gradient) {
  const Sim* s = a->sim;
  Vec3 center = a->model->links[link].center;
  add_pose_bar(now.pose[link], by, center, 1);
  add_pose_bar(a->expected_bar[link], vec3_scale(by, -1), center, 1);
  Vec3 local = vec3_sub(mat3_tmul_vec(s->pose_now[link].r, by), mat3_tmul_vec(s->target[link].r, by));
  model_gradient_center(a->model, link, local, gradient);
}

static void axis_adjoint(StepAdjoint* a, int link, const RollShift* bar, StateBar now, ModelGradient* gradient) {
  const Sim* s = a->sim;
  Vec3 axis = a->model->links[link].joint.axis[0];
  add_pose_bar(now.pose[link], bar->axis_then, axis, 0);
  add_pose_bar(a->expected_bar[link], bar->axis_aim, axis, 0);
  Vec3 local =
      vec3_add(mat3_tmul_vec(s->pose_now[link].r, bar->axis_then), mat3_tmul_vec(s->target[link].r, bar->axis_aim));
  gradient->axes[link] = vec3_add(gradient->axes[link], vec3_cross(axis, local));
}

void roll_shifts_adjoint(StepAdjoint* a, StateBar now, ModelGradient* gradient) {
  const Sim* s = a->sim;
  const ModelLink* links = a->model->links;
  if (!a->shift_bar) return;
  for (int i = 0; i < a->model->link_count; i++) {
    if (is_hinge(&links[i]) && tree_flight_has_target(s->flight, &links[i]))
      axis_adjoint(a, i, &a->shift_bar[i], now, gradient);
    FloatingTree tree = find_floating_tree(s, i);
    if (!(tree.mass > 0)) continue;
    Vec3 sum = {0, 0, 0}, common = {0, 0, 0};
    for (int k = tree.root; k < tree.end; k++) {
      if (links[k].tree != links[i].tree) continue;
      sum = vec3_add(sum, a->shift_bar[k].lever);
      common = vec3_add_scaled(common, links[k].mass / tree.mass, vector_from_target_to_present(s, k));
    }
    for (int k = tree.root; k < tree.end; k++) {
      if (links[k].tree != links[i].tree) continue;
      double share = links[k].mass / tree.mass;
      center_displacement_adjoint(a, k, vec3_add_scaled(a->shift_bar[k].lever, -share, sum), now, gradient);
      gradient->moment[k].s[3][3] -= vec3_dot(sum, vec3_sub(vector_from_target_to_present(s, k), common)) / tree.mass;
    }
  }
}
