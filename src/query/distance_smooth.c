/* Distance of convex bodies, at least one of them a smooth shape (H2-H4). The smooth shape is approximated by the hull
 * of surface points, which is refined near the nearest points. Newton's method on the optimality conditions of the
 * nearest points then gives the exact result. docs/derivations/growth.md */
#include <assert.h>
#include <string.h>
#include "query/deep.h"
#include "query/features.h"
#include "query/query.h"
#include "query/small_solve.h"

enum {
  POINTS_AT_START = 26,
  REFINEMENT_ITERATIONS = 70,
  POINTS_MAX = 104, /* a multiple of 8, at least POINTS_AT_START + REFINEMENT_ITERATIONS */
  NEWTON_STEPS = 40,
  HALVINGS = 12,
  ORDER_MAX = LU_INVERSE_MAX,
};
/* Refinement of the hull of surface points stops at this width of the bounds of the distance, relative to the bodies'
 * size. */
#define BOUND_WIDTH 1e-7
/* Newton's method has converged at this residual of the optimality conditions of the nearest points, in units of the
 * bodies' size. */
#define RESIDUAL_TOLERANCE 1e-10
/* Tolerance when lengths are compared for equality, relative to the bodies' size. */
#define COMPARISON_TOLERANCE 1e-9

/* ---------------------------------------------------------------- hulls of points on the bodies (H2) */

typedef struct {
  _Alignas(64) double x[POINTS_MAX], y[POINTS_MAX], z[POINTS_MAX];
  int count;
} PointCloud;

static void cloud_add(PointCloud* cloud, Vec3 point) {
  for (int i = cloud->count; i < POINTS_MAX && (i == cloud->count || i % 8 != 0); i++) {
    cloud->x[i] = point.x;
    cloud->y[i] = point.y;
    cloud->z[i] = point.z;
  }
  cloud->count++;
}

static PointView cloud_view(const PointCloud* cloud) {
  return (PointView){cloud->x, cloud->y, cloud->z, cloud->count, (cloud->count + 7) / 8 * 8};
}

static void cloud_start(PointCloud* cloud, const Shape* shape) {
  cloud->count = 0;
  for (int i = 0; i < 27; i++) {
    int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
    if (i != 13) cloud_add(cloud, shape_support(shape, vec3(x, y, z)).point);
  }
}

static double body_size(const ConvexBody* body) {
  return body->shape ? body->shape->outer : point_view_size(body->points);
}

Vec3 convex_support_point(const ConvexBody* body, Pose pose, Vec3 direction) {
  Vec3 local = mat3_tmul_vec(pose.r, direction), point;
  if (body->shape) {
    point = shape_support(body->shape, local).point;
  } else {
    double value;
    int i = support_index(body->points, local, &value);
    point = point_at(body->points, i);
  }
  return pose_apply(pose, point);
}

/* Returns the separation of the bodies along the unit direction n from a to b. The separation is a lower bound of the
 * distance (H3). Sets support_point to the point of a farthest along n and the point of b farthest along -n. */
static double separation_along(const ConvexBody body[2], const Pose pose[2], Vec3 n, Vec3 support_point[2]) {
  support_point[0] = convex_support_point(&body[0], pose[0], n);
  support_point[1] = convex_support_point(&body[1], pose[1], vec3_scale(n, -1));
  return vec3_dot(n, vec3_sub(support_point[1], support_point[0]));
}

/* ---------------------------------------------------------------- optimality conditions of the nearest points (H4) */

typedef struct {
  const Shape* shape; /* smooth shape; NULL for a feature of a hull */
  Pose pose;          /* pose of the body, relative to a's origin, with lengths divided by scale */
  Feature feature;
  Vec3 place;              /* nearest point, in the frame and units of `pose` */
  double multiplier, unit; /* the surface's gradient, divided by `unit`, equals +-multiplier * normal */
  int order;               /* number of unknowns of this body */
} NearestSide;

typedef struct {
  NearestSide side[2];
  double scale;
  Vec3 normal;
  double distance; /* in units of scale */
  int order;
  double matrix[ORDER_MAX][ORDER_MAX], rest[ORDER_MAX];
} System;

static ShapeValue side_value(const NearestSide* s, double scale) {
  Vec3 z = mat3_tmul_vec(s->pose.r, vec3_sub(s->place, s->pose.t));
  ShapeValue v = shape_evaluate(s->shape, vec3_scale(z, scale));
  double unit = s->unit;
  v.value /= unit;
  v.gradient = vec3_scale(mat3_mul_vec(s->pose.r, v.gradient), scale / unit);
  v.hessian = mat3_scale(mat3_mul(mat3_mul(s->pose.r, v.hessian), mat3_transpose(s->pose.r)), scale * scale / unit);
  return v;
}

static double component(Vec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

/* Sets the equations of smooth body k: the surface's gradient is +-multiplier * normal, and the nearest point lies on
 * the surface. first: index of the first equation and unknown. */
static void set_shape_equations(System* s, int k, int first) {
  NearestSide* side = &s->side[k];
  ShapeValue v = side_value(side, s->scale);
  double sign = k ? -1 : 1;
  for (int i = 0; i < 3; i++) {
    s->rest[first + i] = component(v.gradient, i) - sign * side->multiplier * component(s->normal, i);
    s->matrix[first + i][i] = -sign * side->multiplier;
    for (int j = 0; j < 3; j++) s->matrix[first + i][first + j] = v.hessian.m[i][j];
    s->matrix[first + i][first + 3] = -sign * component(s->normal, i);
    s->matrix[first + 3][first + i] = component(v.gradient, i);
    s->matrix[i][first + i] = sign;
  }
  s->rest[first + 3] = v.value;
}

/* Sets the equations of the nearest vertex, edge or face of a hull: the directions that span it are perpendicular to
 * the normal. first: index of the first equation and unknown. */
static void set_feature_equations(System* s, int k, int first) {
  const Feature* f = &s->side[k].feature;
  double sign = k ? -1 : 1;
  for (int j = 0; j < f->directions; j++) {
    s->rest[first + j] = vec3_dot(f->along[j], s->normal);
    for (int i = 0; i < 3; i++) {
      s->matrix[first + j][i] = component(f->along[j], i);
      s->matrix[i][first + j] = sign * component(f->along[j], i);
    }
  }
}

/* Assembles residual and Jacobian of the optimality conditions of the nearest points. The unknowns are the normal, the
 * distance, and for each body: position and multiplier (smooth) or coordinates along the feature's directions (hull).
 * Returns the largest residual. */
static double assemble_system(System* s) {
  memset(s->matrix, 0, sizeof s->matrix);
  Vec3 gap = vec3_add_scaled(vec3_sub(s->side[0].place, s->side[1].place), s->distance, s->normal);
  for (int i = 0; i < 3; i++) {
    s->rest[i] = component(gap, i);
    s->matrix[i][i] = s->distance;
    s->matrix[i][3] = component(s->normal, i);
    s->matrix[3][i] = component(s->normal, i);
  }
  s->rest[3] = 0.5 * (vec3_dot(s->normal, s->normal) - 1);
  for (int k = 0, first = 4; k < 2; first += s->side[k++].order)
    s->side[k].shape ? set_shape_equations(s, k, first) : set_feature_equations(s, k, first);
  double largest = 0;
  for (int i = 0; i < s->order; i++) largest = fmax(largest, fabs(s->rest[i]));
  return isfinite(largest) ? largest : HUGE_VAL;
}

/* Subtracts t times the vector `step` from the unknowns of the optimality conditions. */
static void take_step(System* s, double t, const double* step) {
  s->normal = vec3_add_scaled(s->normal, -t, vec3(step[0], step[1], step[2]));
  s->distance -= t * step[3];
  for (int k = 0, first = 4; k < 2; first += s->side[k++].order) {
    NearestSide* side = &s->side[k];
    if (side->shape) {
      side->place = vec3_add_scaled(side->place, -t, vec3(step[first], step[first + 1], step[first + 2]));
      side->multiplier -= t * step[first + 3];
    }
    for (int j = 0; !side->shape && j < side->feature.directions; j++)
      side->place = vec3_add_scaled(side->place, -t * step[first + j], side->feature.along[j]);
  }
}

static bool solve_by_newton(System* s) {
  double rest = assemble_system(s);
  for (int k = 0; k < NEWTON_STEPS && rest > 0; k++) {
    int row[ORDER_MAX] = {0};
    double step[ORDER_MAX];
    System next;
    memcpy(step, s->rest, sizeof step);
    if (!lu_factor(s->order, ORDER_MAX, &s->matrix[0][0], row)) return false;
    lu_solve(s->order, ORDER_MAX, &s->matrix[0][0], row, step);
    double t = 1, after = HUGE_VAL;
    for (int halved = 0; halved < HALVINGS && !(after < rest); halved++, t *= 0.5) {
      next = *s;
      take_step(&next, t, step);
      after = assemble_system(&next);
    }
    if (!(after < rest)) break;
    *s = next;
    rest = after;
  }
  assemble_system(s);
  return rest <= RESIDUAL_TOLERANCE;
}

/* Sets up the optimality conditions near the estimate `near` of the nearest points. A hull vertex belongs to the
 * feature if it lies at most `feature_depth` [m] behind the plane perpendicular to the normal. Returns false if a
 * smooth surface has no normal at its nearest point. */
static bool set_up_system(System* s, const ConvexBody body[2], const Pose pose[2], const Distance* near,
                          double feature_depth) {
  double over = 1 / s->scale;
  s->normal = near->normal;
  s->distance = near->distance * over;
  s->order = 4;
  for (int k = 0; k < 2; k++) {
    NearestSide* side = &s->side[k];
    Vec3 witness = k ? near->witness_b : near->witness_a;
    side->pose = (Pose){pose[k].r, vec3_scale(vec3_sub(pose[k].t, pose[0].t), over)};
    side->place = vec3_scale(vec3_sub(witness, pose[0].t), over);
    side->shape = body[k].shape;
    side->multiplier = side->unit = 1;
    if (side->shape) {
      side->unit = vec3_norm(side_value(side, s->scale).gradient);
      if (!(side->unit > 0)) return false;
    } else {
      side->feature = feature_find(body[k].points, pose[k], vec3_scale(near->normal, k ? -1 : 1), feature_depth);
    }
    side->order = side->shape ? 4 : side->feature.directions;
    s->order += side->order;
  }
  return true;
}

/* Returns true if a hull contains a world point within slack [m]. Always true for a smooth body, because the conditions
 * place its point on the surface. */
static bool contains_point(const ConvexBody* body, Pose pose, Vec3 point, double slack) {
  return body->shape || gjk_point_distance(body->points, mat3_tmul_vec(pose.r, vec3_sub(point, pose.t))) <= slack;
}

/* Solves the optimality conditions of the nearest points by Newton's method from the estimate `near`. Returns true if
 * the method converged and the result is verified: the witness points lie inside the bodies, and the separation along
 * the normal equals the distance. */
static bool solve_from_estimate(System* s, const ConvexBody body[2], const Pose pose[2], const Distance* near,
                                double feature_depth, Distance* out) {
  double slack = COMPARISON_TOLERANCE * s->scale;
  Vec3 support_point[2];
  if (!set_up_system(s, body, pose, near, feature_depth) || !solve_by_newton(s)) return false;
  out->distance = s->distance * s->scale;
  out->normal = s->normal;
  out->witness_a = vec3_add_scaled(pose[0].t, s->scale, s->side[0].place);
  out->witness_b = vec3_add_scaled(pose[0].t, s->scale, s->side[1].place);
  return contains_point(&body[0], pose[0], out->witness_a, slack) &&
         contains_point(&body[1], pose[1], out->witness_b, slack) &&
         separation_along(body, pose, out->normal, support_point) >= out->distance - slack;
}

/* Solves the optimality conditions with decreasing values of `feature_depth`. Which vertices belong to a hull's nearest
 * feature is known only once the normal is accurate. */
static bool solve_nearest_points(System* s, const ConvexBody body[2], const Pose pose[2], const Distance* near,
                                 Distance* out) {
  static const double feature_depth[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9, 0};
  s->scale = ldexp(1, ilogb(body_size(&body[0]) + body_size(&body[1])));
  bool hull = !body[0].shape || !body[1].shape;
  for (int i = 0; i < (hull ? (int)(sizeof feature_depth / sizeof feature_depth[0]) : 1); i++)
    if (solve_from_estimate(s, body, pose, near, feature_depth[i] * s->scale, out)) return true;
  return false;
}

/* ---------------------------------------------------------------- distance */

/* The refinement of the depth of overlapping bodies stops at this width of the bounds, relative to the bodies' size.
 * The value is half of the width that counts as proof. */
#define DEPTH_BOUND_WIDTH (0.5 * CONVEX_DISTANCE_PROOF)

/* Replaces the bounds of the distance of overlapping bodies by the bounds of depth_bounds, if depth_bounds gives
 * tighter bounds (H6). */
static void tighten_depth_bounds(const ConvexBody body[2], const Pose pose[2], double size, ConvexDistance* d) {
  DepthBounds deep;
  Vec3 support_point[2];
  if (!depth_bounds(body, pose, DEPTH_BOUND_WIDTH * size, &deep)) return;
  d->high = fmin(d->high, -deep.low);
  if (-deep.high < d->low) return; /* the previous bound is tighter */
  d->low = -deep.high;
  d->nearest.distance = separation_along(body, pose, deep.normal, support_point);
  d->nearest.normal = deep.normal;
  d->nearest.witness_a = support_point[0];
  d->nearest.witness_b = vec3_add_scaled(support_point[0], d->nearest.distance, deep.normal);
}

ConvexDistance convex_distance(const ConvexBody body[2], const Pose pose[2]) {
  assert(body[0].shape || body[1].shape);
  PointCloud cloud[2];
  PointView view[2] = {body[0].points, body[1].points};
  double size = body_size(&body[0]) + body_size(&body[1]);
  ConvexDistance d = {.low = -HUGE_VAL, .high = HUGE_VAL};
  for (int k = 0; k < 2; k++)
    if (body[k].shape) cloud_start(&cloud[k], body[k].shape);
  for (int round = 0; round < REFINEMENT_ITERATIONS && !(d.high - d.low <= BOUND_WIDTH * size); round++) {
    Vec3 support_point[2];
    for (int k = 0; k < 2; k++)
      if (body[k].shape) view[k] = cloud_view(&cloud[k]);
    d.nearest = distance_query(view[0], pose[0], view[1], pose[1], NULL);
    if (!(vec3_norm(d.nearest.normal) > 0)) d.nearest.normal = vec3(0, 0, 1); /* the bodies touch at a point */
    d.high = fmin(d.high, d.nearest.distance);
    d.low = fmax(d.low, separation_along(body, pose, d.nearest.normal, support_point));
    for (int k = 0; k < 2; k++)
      if (body[k].shape) cloud_add(&cloud[k], mat3_tmul_vec(pose[k].r, vec3_sub(support_point[k], pose[k].t)));
  }
  System system = {.order = 0};
  Distance found;
  Vec3 support_point[2];
  double slack = BOUND_WIDTH * size;
  if (d.high < 0 && d.high - d.low > DEPTH_BOUND_WIDTH * size) tighten_depth_bounds(body, pose, size, &d);
  if (solve_nearest_points(&system, body, pose, &d.nearest, &found) && found.distance >= d.low - slack &&
      found.distance <= d.high + slack) {
    d.nearest = found;
    d.low = fmax(d.low, separation_along(body, pose, found.normal, support_point));
    if (found.distance > 0) d.high = fmin(d.high, found.distance);
  }
  bool crossed = d.low > d.high + slack; /* one of the bounds is wrong by more than rounding */
  d.high = fmax(d.high, d.low);
  d.proved = !crossed && d.high - d.low <= CONVEX_DISTANCE_PROOF * size;
  return d;
}

/* ---------------------------------------------------------------- derivatives */

/* Partial derivatives of the optimality conditions with respect to one displacement or shape parameter, while the
 * nearest points are fixed to their bodies. */
typedef struct {
  Vec3 point[2], turn[2], along[2][2];
  double phi[2];
  Vec3 gradient[2];
} Displacement;

/* Sets one column of derivatives of the distance by the implicit function theorem. inverse: inverse of the Jacobian of
 * the optimality conditions. */
static void set_derivative_column(const System* s, const double inverse[ORDER_MAX][ORDER_MAX], const Displacement* c,
                                  double* out, int stride) {
  double f[ORDER_MAX] = {0}, y[ORDER_MAX] = {0};
  Vec3 drift = vec3_sub(c->point[0], c->point[1]), moved[2];
  for (int i = 0; i < 3; i++) f[i] = component(drift, i);
  for (int k = 0, first = 4; k < 2; first += s->side[k++].order) {
    const NearestSide* side = &s->side[k];
    Vec3 normal = vec3_scale(s->normal, (k ? -1 : 1) * side->multiplier);
    Vec3 turned = vec3_add(vec3_cross(c->turn[k], normal), c->gradient[k]);
    for (int i = 0; side->shape && i < 3; i++) f[first + i] = component(turned, i);
    if (side->shape) f[first + 3] = c->phi[k];
    for (int j = 0; !side->shape && j < side->feature.directions; j++)
      f[first + j] = vec3_dot(c->along[k][j], s->normal);
  }
  for (int i = 0; i < s->order; i++)
    for (int j = 0; j < s->order; j++) y[i] -= inverse[i][j] * f[j];
  for (int k = 0, first = 4; k < 2; first += s->side[k++].order) {
    const NearestSide* side = &s->side[k];
    moved[k] = c->point[k];
    if (side->shape) moved[k] = vec3_add(moved[k], vec3(y[first], y[first + 1], y[first + 2]));
    for (int j = 0; !side->shape && j < side->feature.directions; j++)
      moved[k] = vec3_add_scaled(moved[k], y[first + j], side->feature.along[j]);
  }
  double u = s->scale;
  const double rows[DISTANCE_ROWS] = {u * y[3],       y[0],           y[1],           y[2],           u * moved[0].x,
                                      u * moved[0].y, u * moved[0].z, u * moved[1].x, u * moved[1].y, u * moved[1].z};
  for (int r = 0; r < DISTANCE_ROWS; r++) out[r * stride] = rows[r];
}

static Displacement pose_displacement(const System* s, int column) {
  Displacement c = {.phi = {0}};
  int k = column >= 6, axis = column % 3;
  Vec3 e = vec3_axis(axis);
  const NearestSide* side = &s->side[k];
  if (column % 6 >= 3) {
    c.point[k] = vec3_scale(e, 1 / s->scale);
  } else {
    c.turn[k] = e;
    for (int j = 0; !side->shape && j < side->feature.directions; j++)
      c.along[k][j] = vec3_cross(e, side->feature.along[j]);
    c.point[k] = vec3_cross(e, vec3_sub(side->place, side->pose.t));
  }
  return c;
}

static Displacement parameter_displacement(const System* s, int k, int parameter) {
  Displacement c = {.phi = {0}};
  const NearestSide* side = &s->side[k];
  Vec3 z = vec3_scale(mat3_tmul_vec(side->pose.r, vec3_sub(side->place, side->pose.t)), s->scale), gradient;
  shape_parameter_derivative(side->shape, z, parameter, &c.phi[k], &gradient);
  c.phi[k] /= side->unit;
  c.gradient[k] = vec3_scale(mat3_mul_vec(side->pose.r, gradient), s->scale / side->unit);
  return c;
}

/* Solves the optimality conditions of the closest points again, from a known solution, and inverts their Jacobian.
 * Returns NULL on success, otherwise the reason why there is no inverse (static text). */
static const char* solve_and_invert(System* s, double inverse[ORDER_MAX][ORDER_MAX], const ConvexBody body[2],
                                    const Pose pose[2], const ConvexDistance* answer, double* condition) {
  Distance found;
  int row[ORDER_MAX] = {0};
  *condition = HUGE_VAL;
  if (!solve_nearest_points(s, body, pose, &answer->nearest, &found))
    return "the nearest points are not unique, or not found exactly";
  *condition = lu_inverse(s->order, ORDER_MAX, &s->matrix[0][0], row, &inverse[0][0]);
  return *condition <= QUERY_CONDITION_MAX ? NULL : "the condition of the system is above 1e8";
}

const char* convex_distance_derivatives(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                        bool parameters, double* out, double* condition) {
  assert(body[0].shape || body[1].shape);
  System s = {.order = 0};
  double inverse[ORDER_MAX][ORDER_MAX] = {{0}};
  const char* reason = solve_and_invert(&s, inverse, body, pose, answer, condition);
  if (reason) return reason;
  int shape_columns[2] = {0, 0};
  for (int k = 0; parameters && k < 2; k++) shape_columns[k] = body[k].shape ? shape_parameter_count(body[k].shape) : 0;
  int columns = QUERY_POSE_COLUMNS + shape_columns[0] + shape_columns[1];
  for (int k = 0; k < columns; k++) {
    int own_column = k - QUERY_POSE_COLUMNS, of_b = own_column >= shape_columns[0];
    Displacement c = own_column < 0 ? pose_displacement(&s, k)
                                    : parameter_displacement(&s, of_b, own_column - (of_b ? shape_columns[0] : 0));
    set_derivative_column(&s, inverse, &c, out + k, columns);
  }
  return NULL;
}

const char* convex_distance_slope(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                  double out[QUERY_POSE_COLUMNS]) {
  System s = {.order = 0};
  Distance found;
  if (!answer->proved) return "the distance is not proved";
  if (!solve_nearest_points(&s, body, pose, &answer->nearest, &found))
    return "the nearest points are not found exactly";
  distance_gradient_at_points(found.normal, vec3_sub(found.witness_a, pose[0].t), vec3_sub(found.witness_b, pose[1].t),
                              out);
  return NULL;
}

const char* convex_distance_vertex_slopes(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                          VertexSlopes out[2]) {
  System s = {.order = 0};
  double inverse[ORDER_MAX][ORDER_MAX] = {{0}}, condition;
  const char* reason = solve_and_invert(&s, inverse, body, pose, answer, &condition);
  for (int k = 0; k < 2; k++) {
    out[k].count = 0;
    out[k].reason = reason;
    const NearestSide* side = &s.side[k];
    if (reason || side->shape) continue;
    FeatureWeights w = {.weight = {0}};
    Vec3 at = vec3_add_scaled(pose[0].t, s.scale, side->place);
    if (!feature_weights(&side->feature, body[k].points, pose[k].r, pose_apply_inverse(pose[k], at), &w)) {
      out[k].reason = REASON_TOO_MANY_VERTICES;
      continue;
    }
    out[k].count = side->feature.corners;
    out[k].fitted = feature_is_fitted(&side->feature);
    for (int i = 0; i < 3 * out[k].count; i++) {
      Displacement c = {.phi = {0}};
      Vec3 e = mat3_mul_vec(pose[k].r, vec3_axis(i));
      out[k].vertex[i / 3] = side->feature.corner[i / 3];
      c.point[k] = vec3_scale(e, w.weight[i / 3] / s.scale);
      for (int j = 0; j < side->feature.directions; j++) c.along[k][j] = vec3_scale(e, w.tilt[i / 3][j]);
      set_derivative_column(&s, inverse, &c, &out[k].rows[0][i], VERTEX_COLUMNS);
    }
  }
  return reason;
}
