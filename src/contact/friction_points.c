#include "contact/friction_points.h"

#include <assert.h>

/* ---------------------------------------------------------------- list of contact points */

FrictionPoint* friction_points_add(FrictionPoints* points, const Pose* const pose[2], double load, Vec3 n, Vec3 x_a,
                                   Vec3 x_b) {
  assert(!(load < 0));
  points->list = memory_grow_array(points->list, sizeof(FrictionPoint), points->count, &points->capacity);
  FrictionPoint* out = &points->list[points->count++];
  *out = (FrictionPoint){.load = load,
                         .n = n,
                         .at = {pose_apply_inverse(*pose[0], x_a), pose_apply_inverse(*pose[1], x_b)},
                         .apart = vec3_sub(x_b, x_a)};
  return out;
}

void friction_points_zero_bars(FrictionPoints* points) {
  assert(points);
  if (points->bar_capacity < points->count) {
    memory_free(points->bars);
    points->bar_capacity = points->capacity;
    points->bars = MEMORY_NEW(PointBar, points->bar_capacity);
  }
  for (int i = 0; i < points->count; i++) points->bars[i] = (PointBar){.load = 0};
}

void friction_points_free(FrictionPoints* points) {
  memory_free(points->list);
  memory_free(points->bars);
  *points = (FrictionPoints){.count = 0};
}

/* ---------------------------------------------------------------- displacement of a contact point in a step */

PointDisplacement point_motion(const FrictionPoint* point, const Pose* a, const Pose* b) {
  PointDisplacement m = {.x = {pose_apply(*a, point->at[0]), pose_apply(*b, point->at[1])}};
  m.u = vec3_sub(vec3_sub(m.x[1], m.x[0]), point->apart);
  return m;
}

Vec3 point_rate(const PointDisplacement* m, const Vec3 reference[2], bool half_space, const double twist[2][6]) {
  Vec3 zeta = {0, 0, 0};
  for (int k = 0; k < (half_space ? 1 : 2); k++) {
    Vec3 arm = vec3_sub(m->x[k], reference[k]);
    zeta =
        vec3_add_scaled(zeta, point_side_sign(k), vec3_add(vec3_at(twist[k] + 3), vec3_cross(vec3_at(twist[k]), arm)));
  }
  return zeta;
}

void point_derivatives(const PointDisplacement* m, const Vec3 reference[2], bool half_space, Vec3 pull, Mat3 bend,
                       PairDerivatives* out) {
  int sides = half_space ? 1 : 2;
  Vec3 turn[12]; /* turn[i]: derivative of u with respect to component i of the twists of both bodies */
  for (int side = 0; side < sides; side++) {
    Vec3 force = vec3_scale(pull, point_side_sign(side)), arm = vec3_sub(m->x[side], reference[side]);
    out->force[side] = vec3_add(out->force[side], force);
    out->moment[side] = mat3_add(out->moment[side], mat3_outer(force, arm));
    for (int k = 0; k < 6; k++) {
      Vec3 e = vec3_axis(k);
      turn[6 * side + k] = vec3_scale(k < 3 ? vec3_cross(e, arm) : e, point_side_sign(side));
    }
  }
  if (half_space) out->force[1] = vec3_add(out->force[1], pull);
  for (int k = 0; k < 6 * sides; k++) {
    Vec3 bent = mat3_mul_vec(bend, turn[k]);
    for (int i = 0; i < 6 * sides; i++) out->hessian[i][k] += vec3_dot(turn[i], bent);
  }
}
