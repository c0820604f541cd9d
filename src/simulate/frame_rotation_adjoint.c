/* Computes derivatives of a scalar with respect to rotations of joint frames and joint axes
 * (docs/derivations/adjoint.md, A20). A rotation of a joint frame acts like a degree of freedom between the parent and
 * the joint. A rotation of the link relative to its joint acts like a degree of freedom between the joint and the link.
 * A rotation of the joint axis is the first rotation combined with the opposite of the second. */
#include <assert.h>

#include "simulate/step_adjoint.h"

/* Returns true if the gradient has derivatives with respect to rotations of the joint frame. For a free body on the
 * world such rotations change only the start of the run. */
static bool has_frame_rotations(const ModelLink* link) { return link->parent >= 0 || !joint_is_floating(&link->joint); }

/* Returns the world pose of joint i's frame on the parent, before the motion of the joint. */
static Pose joint_frame(const Model* m, const Pose* pose, int i) {
  assert(i >= 0 && i < m->link_count);
  const ModelLink* link = &m->links[i];
  return link->parent < 0 ? link->origin : pose_mul(pose[link->parent], link->origin);
}

/* Adds the derivatives of a scalar with respect to rotations of the frame and the axis of joint i. outer: torque about
 * the origin of the joint; inner: torque about the origin of the link; both in world axes. */
static void add_turns(const Model* m, const Pose* pose, int i, Vec3 outer, Vec3 inner, ModelGradient* gradient) {
  Vec3 frame = mat3_tmul_vec(joint_frame(m, pose, i).r, outer), link = mat3_tmul_vec(pose[i].r, inner);
  gradient->turns[i] = vec3_add(gradient->turns[i], frame);
  gradient->axes[i] = vec3_add(gradient->axes[i], vec3_sub(frame, link));
}

void step_adjoint_frame_rotations(const StepAdjoint* a, const Pose* pose, ModelGradient* gradient) {
  const Model* m = a->model;
  for (int i = 0; i < m->link_count && !gradient->without_turns; i++) {
    if (!has_frame_rotations(&m->links[i])) continue;
    Vec3 torque = mat3_axial(a->bar_moment[i]);
    Vec3 arm = vec3_sub(pose[i].t, joint_frame(m, pose, i).t);
    add_turns(m, pose, i, vec3_add(torque, vec3_cross(arm, a->bar_force[i])), torque, gradient);
  }
}

/* Returns the change of the torque on link i that its own joint causes by moving the points of application. It is (K^T
 * - tr K) w + v x f for the twist (w, v) by the rates of joint i alone. K: first moment in->moment[i]; f: force
 * in->force[i]. */
static Vec3 own_curve(const FrameRotationInput* in, const Model* m, int i) {
  const ModelLink* link = &m->links[i];
  Vec3 w = {0, 0, 0}, v = {0, 0, 0};
  for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++) {
    w = vec3_add_scaled(w, in->rates[k], in->screws[k].w);
    v = vec3_add_scaled(v, in->rates[k], screw_velocity(&in->screws[k], in->at[i]));
  }
  Vec3 turned = vec3_sub(mat3_tmul_vec(in->moment[i], w), vec3_scale(w, mat3_trace(in->moment[i])));
  return vec3_add(turned, vec3_cross(v, in->force[i]));
}

/* Returns the change of the torque about the point p = `about` if everything nearer the root rotates with the angular
 * velocity w: (K - tr K) w + (c - p) x (f x w). K: first moment; f: force; c: in->at[i]. */
static Vec3 outer_curve(const FrameRotationInput* in, int i, Vec3 w, Vec3 about) {
  Vec3 turned = vec3_sub(mat3_mul_vec(in->moment[i], w), vec3_scale(w, mat3_trace(in->moment[i])));
  return vec3_add(turned, vec3_cross(vec3_sub(in->at[i], about), vec3_cross(in->force[i], w)));
}

void step_adjoint_frame_rotations_of_motion(StepAdjoint* a, const Pose* pose, const FrameRotationInput* in,
                                            ModelGradient* gradient) {
  if (gradient->without_turns) return;
  const Model* m = a->model;
  Vec3 *torque = a->turn_torque, *force = a->turn_force, *curve = a->turn_curve;
  for (int i = 0; i < m->link_count; i++) {
    torque[i] = in->change ? vec3_at(in->change[i]) : vec3(0, 0, 0);
    force[i] = in->change ? vec3_at(in->change[i] + 3) : vec3(0, 0, 0);
    curve[i] = vec3(0, 0, 0);
  }
  for (int i = m->link_count - 1; i >= 0;
       i--) { /* the entries of link i already contain the entries of its descendants */
    const ModelLink* link = &m->links[i];
    Vec3 with_own = vec3_add(curve[i], own_curve(in, m, i));
    if (has_frame_rotations(link)) {
      Vec3 parent = link->parent < 0 ? vec3(0, 0, 0) : vec3_at(in->twist[link->parent]), twist = vec3_at(in->twist[i]);
      Vec3 origin = joint_frame(m, pose, i).t, frame = pose[i].t;
      Vec3 outer = vec3_add(vec3_add(torque[i], vec3_cross(vec3_sub(in->at[i], origin), force[i])),
                            vec3_add(with_own, outer_curve(in, i, parent, origin)));
      Vec3 inner = vec3_add(vec3_add(torque[i], vec3_cross(vec3_sub(in->at[i], frame), force[i])),
                            vec3_add(curve[i], outer_curve(in, i, twist, frame)));
      add_turns(m, pose, i, outer, inner, gradient);
    }
    if (link->parent < 0) continue;
    Vec3 arm = vec3_sub(in->at[i], in->at[link->parent]);
    torque[link->parent] = vec3_add(torque[link->parent], vec3_add(torque[i], vec3_cross(arm, force[i])));
    force[link->parent] = vec3_add(force[link->parent], force[i]);
    curve[link->parent] = vec3_add(curve[link->parent], with_own);
  }
}
