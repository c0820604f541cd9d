/* Computes the path of a tendon around a cylinder or a sphere (docs/derivations/loads.md, L8). */
#include <assert.h>

#include "model/model.h"

/* Distance from the surface, relative to the radius, below which an end of the path counts as on the surface. */
#define ON_SURFACE 1e-9

/* Geometry of one end of a tendon's path in the winding plane, in which the path lies, relative to the centre of the
 * wrap's circle. The path consists of a straight segment at each end and an arc on the circle. */
typedef struct {
  Vec3 out;     /* unit vector from the centre to the end */
  double far;   /* distance from the centre [m] */
  double free;  /* length of the straight segment [m] */
  double angle; /* angle at the centre between the end and the point of tangency [rad] */
  Vec3 slope;   /* derivative of the path's length with respect to the end: unit vector along the straight segment */
  Vec3 across;  /* slope rotated by 90 degrees about the normal */
  double turns; /* sense of rotation about the normal of the path as it leaves this end: 1 or -1 */
} WrapEnd;

static WrapEnd find_end(Vec3 arm, double radius) {
  WrapEnd e = {.far = vec3_norm(arm)};
  e.out = vec3_scale(arm, 1 / e.far);
  e.free = sqrt(fmax((e.far - radius) * (e.far + radius), 0));
  e.angle = math_atan2(e.free, radius);
  return e;
}

static void set_slope(WrapEnd* e, Vec3 normal, double turns, double radius) {
  Vec3 forward = vec3_cross(normal, e->out);
  e->turns = turns;
  e->slope = vec3_add(vec3_scale(e->out, e->free / e->far), vec3_scale(forward, -turns * radius / e->far));
  e->across = vec3_cross(normal, e->slope);
}

/* Returns the angle from `direction` to `end` about `normal` [rad], from -pi to pi. */
static double angle_from(Vec3 direction, Vec3 end, Vec3 normal) {
  return math_atan2(vec3_dot(normal, vec3_cross(direction, end)), vec3_dot(direction, end));
}

/* Returns the angle from end[0] to end[1] about the normal [rad], negative for the opposite sense. The path
 * passes the direction `side`. If side is NULL, the path takes the shorter way. */
static double find_angle(const WrapEnd end[2], Vec3 normal, const Vec3* side) {
  if (!side) return angle_from(end[0].out, end[1].out, normal);
  return angle_from(*side, end[1].out, normal) - angle_from(*side, end[0].out, normal);
}

static Mat3 outer(double factor, Vec3 a, Vec3 b) { return mat3_scale(mat3_outer(a, b), factor); }

/* Returns the tendon's path in the winding plane and the derivatives of its length. angle: angle at the centre of the
 * circle between the two ends [rad]. The straight segments remain tangent to the circle, so the derivative with respect
 * to an end does not depend on the other end. */
static TendonWrap path_in_plane(const WrapEnd end[2], double radius, double angle) {
  TendonWrap out = {.touches = true, .by_radius = angle - end[0].angle - end[1].angle, .curvature[2] = mat3_zero()};
  out.length = end[0].free + end[1].free + radius * out.by_radius;
  for (int k = 0; k < 2; k++) {
    double bend = end[k].free > ON_SURFACE * radius ? 1 / end[k].free : 0;
    out.slope[k] = end[k].slope;
    out.curvature[k] = outer(bend, end[k].across, end[k].across);
    out.slope_by_radius[k] = vec3_scale(end[k].across, -end[k].turns * bend);
  }
  return out;
}

/* Changes the planar path *w around a cylinder into a helix. run: displacement from the first to the second end along
 * the cylinder's axis [m]. The length of the helix is the hypotenuse of the planar length and run. */
static void add_run(TendonWrap* w, Vec3 axis, double run) {
  double plane = w->length, length = math_hypot(plane, run), c = plane / length, s = run / length, turn = w->by_radius;
  Vec3 normal[2];
  for (int k = 0; k < 2; k++) {
    Vec3 along = vec3_scale(axis, k == 0 ? 1 : -1), slope = w->slope[k];
    normal[k] = vec3_sub(vec3_scale(slope, s), vec3_scale(along, c));
    w->slope[k] = vec3_add(vec3_scale(slope, c), vec3_scale(along, s));
    w->curvature[k] = mat3_add(mat3_scale(w->curvature[k], c), outer(1 / length, normal[k], normal[k]));
    w->slope_by_radius[k] = vec3_add(vec3_scale(w->slope_by_radius[k], c), vec3_scale(normal[k], turn * s / length));
  }
  w->curvature[2] = outer(1 / length, normal[0], normal[1]);
  w->by_radius = c * turn;
  w->length = length;
}

static TendonWrap round_cylinder(const SceneTendonWrap* wrap, Pose pose, const Vec3 arm[2], const Vec3* side) {
  Vec3 axis = vec3_normalized(mat3_mul_vec(pose.r, wrap->axis)), flat[2];
  WrapEnd end[2];
  double along[2];
  for (int k = 0; k < 2; k++) {
    along[k] = vec3_dot(arm[k], axis);
    flat[k] = vec3_add_scaled(arm[k], -along[k], axis);
    end[k] = find_end(flat[k], wrap->radius);
  }
  double angle = find_angle(end, axis, side), turns = angle < 0 ? -1 : 1;
  if (!(fabs(angle) > end[0].angle + end[1].angle)) return (TendonWrap){0};
  for (int k = 0; k < 2; k++) set_slope(&end[k], axis, k == 0 ? turns : -turns, wrap->radius);
  TendonWrap path = path_in_plane(end, wrap->radius, fabs(angle));
  add_run(&path, axis, along[0] - along[1]);
  return path;
}

/* Returns the path of a tendon around a sphere. arm: vectors from the centre to both ends [m]. The path lies in the
 * plane of both ends and the centre. If an end moves out of the plane, the plane rotates. */
static TendonWrap round_sphere(const SceneTendonWrap* wrap, const Vec3 arm[2], const Vec3* side) {
  Vec3 normal = vec3_cross(arm[0], arm[1]);
  WrapEnd end[2] = {find_end(arm[0], wrap->radius), find_end(arm[1], wrap->radius)};
  double sine = vec3_norm(normal) / (end[0].far * end[1].far);
  if (!(sine > 0)) return (TendonWrap){0};
  normal = vec3_normalized(normal);
  double angle = find_angle(end, normal, side), turns = angle < 0 ? -1 : 1;
  if (!(fabs(angle) > end[0].angle + end[1].angle)) return (TendonWrap){0};
  for (int k = 0; k < 2; k++) set_slope(&end[k], normal, k == 0 ? turns : -turns, wrap->radius);
  TendonWrap path = path_in_plane(end, wrap->radius, fabs(angle));
  double cosine = vec3_dot(end[0].out, end[1].out), bend = turns * wrap->radius / sine;
  for (int k = 0; k < 2; k++)
    path.curvature[k] =
        mat3_add(path.curvature[k], outer((end[k].free + bend * cosine) / (end[k].far * end[k].far), normal, normal));
  path.curvature[2] = outer(-bend / (end[0].far * end[1].far), normal, normal);
  return path;
}

TendonWrap tendon_wrap(const SceneTendonWrap* wrap, Pose pose, Vec3 a, Vec3 b) {
  assert(wrap);
  Vec3 center = pose_apply(pose, wrap->position), arm[2] = {vec3_sub(a, center), vec3_sub(b, center)};
  Vec3 side = mat3_mul_vec(pose.r, vec3_sub(wrap->side, wrap->position));
  if (wrap->type == WRAP_SPHERE) return round_sphere(wrap, arm, wrap->has_side ? &side : NULL);
  return round_cylinder(wrap, pose, arm, wrap->has_side ? &side : NULL);
}
