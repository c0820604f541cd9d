/* Distance of convex hulls by GJK, and penetration depth by the expanding polytope algorithm (EPA). Derivatives follow
 * from the nearest features. */
#include <assert.h>
#include <string.h>
#include "query/expanding.h"
#include "query/features.h"
#include "query/query.h"
#include "query/small_solve.h"

/* Overlapping hulls are moved apart by this distance, relative to their size, so that GJK finds their witness
 * points. */
#define SEPARATION_FOR_WITNESSES 1e-6
#define FLAT FEATURE_PARALLEL

double point_view_size(PointView view) {
  assert(view.count > 0);
  double size = 0;
  for (int i = 0; i < view.count; i++) size = fmax(size, fabs(view.x[i]) + fabs(view.y[i]) + fabs(view.z[i]));
  return size;
}

/* Returns the mean of the vertices of a hull, in the world frame [m]. */
static Vec3 mean_vertex(PointView view, Pose pose) {
  Vec3 sum = {0, 0, 0};
  for (int i = 0; i < view.count; i++) sum = vec3_add(sum, point_at(view, i));
  return pose_apply(pose, vec3_scale(sum, 1.0 / view.count));
}

/* Returns the penetration depth of hulls that only touch, and sets *normal. Used if hull_depth and hull_penetration
 * found no normal. The function moves b slightly towards a and subtracts the displacement from the depth. Returns 0,
 * with *normal unchanged, on failure. */
static double depth_of_touching_hulls(PointView a, Pose pose_a, PointView b, Pose pose_b, Vec3* normal) {
  GjkCache simplex = {.count = 0};
  Vec3 offset = vec3_sub(mean_vertex(b, pose_b), mean_vertex(a, pose_a));
  double length = vec3_norm(offset), reach = SEPARATION_FOR_WITNESSES * (point_view_size(a) + point_view_size(b));
  if (!(length > 0)) return 0;
  Vec3 shift = vec3_scale(offset, -reach / length);
  pose_b.t = vec3_add(pose_b.t, shift);
  if (gjk_distance(a, pose_a, b, pose_b, &simplex).distance > 0) return 0;
  double depth = hull_depth(a, pose_a, b, pose_b, &simplex, normal);
  if (!(depth >= 0)) depth = hull_penetration(a, pose_a, b, pose_b, normal);
  return depth + vec3_dot(shift, *normal);
}

Distance distance_query(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache) {
  assert(a.count > 0 && b.count > 0);
  GjkCache no_cache = {.count = 0};
  GjkCache* simplex = cache ? cache : &no_cache;
  GjkResult near = gjk_distance(a, pose_a, b, pose_b, simplex);
  if (near.distance > 0) return (Distance){near.distance, near.witness_a, near.witness_b, near.normal};
  Vec3 normal = vec3(0, 0, 1);
  double depth = hull_depth(a, pose_a, b, pose_b, simplex, &normal);
  if (!(depth >= 0)) depth = hull_penetration(a, pose_a, b, pose_b, &normal);
  if (!(vec3_dot(normal, normal) > 0.5)) depth = depth_of_touching_hulls(a, pose_a, b, pose_b, &normal);
  Vec3 shift = vec3_scale(normal, depth + SEPARATION_FOR_WITNESSES * (point_view_size(a) + point_view_size(b)));
  Pose moved = pose_b;
  moved.t = vec3_add(moved.t, shift);
  near = gjk_distance(a, pose_a, b, moved, NULL);
  Distance d = {-depth, near.witness_a, vec3_sub(near.witness_b, shift), normal};
  /* remove the tangential rounding error, because the witness points differ along the normal only */
  Vec3 apart = vec3_sub(d.witness_b, d.witness_a);
  d.witness_b = vec3_sub(d.witness_b, vec3_add_scaled(apart, depth, normal));
  return d;
}

Feature feature_find(PointView view, Pose pose, Vec3 out, double reach) {
  assert(view.count > 0 && !(reach < 0));
  double size = point_view_size(view);
  Feature f = {.directions = 0};
  Vec3 local = mat3_tmul_vec(pose.r, out), corner[FEATURE_CORNERS];
  double top = -HUGE_VAL;
  for (int i = 0; i < view.count; i++) top = fmax(top, view.x[i] * local.x + view.y[i] * local.y + view.z[i] * local.z);
  int count = 0;
  for (int i = 0; i < view.count && count < FEATURE_CORNERS; i++)
    if (view.x[i] * local.x + view.y[i] * local.y + view.z[i] * local.z >= top - reach) {
      f.corner[count] = i;
      corner[count++] = point_at(view, i);
    }
  f.corners = count;
  Vec3 first = vec3(0, 0, 0);
  for (int i = 1; i < count; i++) {
    Vec3 edge = vec3_sub(corner[i], corner[0]);
    double length = vec3_norm(edge);
    if (length > vec3_norm(first) && length > FLAT * size) first = edge;
  }
  if (!(vec3_norm(first) > 0)) return f;
  f.along[f.directions++] = vec3_normalized(first);
  Vec3 second = vec3(0, 0, 0);
  for (int i = 1; i < count; i++) {
    Vec3 edge = vec3_sub(corner[i], corner[0]);
    edge = vec3_add_scaled(edge, -vec3_dot(edge, f.along[0]), f.along[0]);
    if (vec3_norm(edge) > vec3_norm(second) && vec3_norm(edge) > FLAT * size) second = edge;
  }
  if (vec3_norm(second) > 0) f.along[f.directions++] = vec3_normalized(second);
  for (int k = 0; k < f.directions; k++) f.along[k] = mat3_mul_vec(pose.r, f.along[k]);
  return f;
}

/* Sets out to the components of the vector `arm` along the directions that span a feature (edge or face), all in the
 * body frame. */
static void feature_coordinates(const Vec3 along[2], int directions, Vec3 arm, double out[2]) {
  for (int k = 0; k < 2; k++) out[k] = k < directions ? vec3_dot(along[k], arm) : 0;
}

/* The weights of a best-fit line or plane are b_i(x) = 1/N + c_i . S^-1 c(x) (growth.md, H5). x: point `place`; N:
 * number of vertices; c_i, c(x): in-plane coordinates of vertex i and of x, relative to the mean of the vertices; S:
 * sum of c_i c_i^T. */
bool feature_weights(const Feature* feature, PointView view, Mat3 turned, Vec3 place, FeatureWeights* out) {
  assert(feature->corners > 0);
  int directions = feature->directions, count = feature->corners;
  if (count >= FEATURE_CORNERS) return false;
  Vec3 along[2], mean = {0, 0, 0};
  for (int k = 0; k < directions; k++) along[k] = mat3_tmul_vec(turned, feature->along[k]);
  for (int i = 0; i < count; i++) mean = vec3_add_scaled(mean, 1.0 / count, point_at(view, feature->corner[i]));
  double spread[3] = {0}, here[2], c[FEATURE_CORNERS][2];
  feature_coordinates(along, directions, vec3_sub(place, mean), here);
  for (int i = 0; i < count; i++) {
    feature_coordinates(along, directions, vec3_sub(point_at(view, feature->corner[i]), mean), c[i]);
    scatter_add(spread, c[i]);
  }
  for (int i = 0; i < count; i++) {
    out->tilt[i][0] = out->tilt[i][1] = 0;
    if (directions > 0) scatter_solve(spread, directions, c[i], out->tilt[i]);
    out->weight[i] = 1.0 / count + out->tilt[i][0] * here[0] + out->tilt[i][1] * here[1];
  }
  return true;
}

/* Velocities of the witness points and of the directions that span the nearest features under one displacement. The
 * points are fixed to their bodies. */
typedef struct {
  Vec3 point[2], along[2][2];
} Displacement;

/* Sets m to the matrix of the conditions for the nearest points of two features (H1). The nearest points are x_a = a0 +
 * sum s_i A_i and x_b = b0 + sum t_j B_j, with directions A_i and B_j and unknowns s_i and t_j. The conditions are A_i
 * . (x_b - x_a) = 0 and B_j . (x_b - x_a) = 0. Always returns true. */
static bool set_condition_matrix(const Feature f[2], double m[4][4]) {
  int order = f[0].directions + f[1].directions;
  for (int i = 0; i < order; i++)
    for (int k = 0; k < order; k++) {
      int bi = i >= f[0].directions, bk = k >= f[0].directions;
      Vec3 u = f[bi].along[bi ? i - f[0].directions : i], v = f[bk].along[bk ? k - f[0].directions : k];
      m[i][k] = (bk ? 1 : -1) * vec3_dot(u, v);
    }
  return true;
}

static void set_derivative_column(const Feature f[2], const double m[4][4], const int row[4], const Displacement* c,
                                  Vec3 apart, Vec3 normal, double signed_distance, double* out, int stride) {
  int order = f[0].directions + f[1].directions;
  Vec3 drift = vec3_sub(c->point[1], c->point[0]);
  double rhs[4] = {0};
  for (int i = 0; i < order; i++) {
    int b = i >= f[0].directions;
    Vec3 u = f[b].along[b ? i - f[0].directions : i];
    Vec3 moved = c->along[b][b ? i - f[0].directions : i];
    rhs[i] = -(vec3_dot(moved, apart) + vec3_dot(u, drift));
  }
  if (order > 0) lu_solve(order, 4, &m[0][0], row, rhs);
  Vec3 da = c->point[0], db = c->point[1];
  for (int i = 0; i < order; i++) {
    int b = i >= f[0].directions;
    Vec3 u = f[b].along[b ? i - f[0].directions : i];
    if (b)
      db = vec3_add_scaled(db, rhs[i], u);
    else
      da = vec3_add_scaled(da, rhs[i], u);
  }
  Vec3 change = vec3_sub(db, da);
  double value = vec3_dot(normal, change);
  Vec3 dn = vec3_scale(vec3_add_scaled(change, -value, normal), 1 / signed_distance);
  const double rows[DISTANCE_ROWS] = {value, dn.x, dn.y, dn.z, da.x, da.y, da.z, db.x, db.y, db.z};
  for (int r = 0; r < DISTANCE_ROWS; r++) out[r * stride] = rows[r];
}

/* Returns the derivative of the unit normal n between two hulls if their nearest features are a face and a vertex, or
 * two edges. The normal is the normal of one face, or the cross product of two edges. This derivative does not divide
 * by the distance, which may be zero. */
static Vec3 normal_derivative(const Feature f[2], const Displacement* c, Vec3 n) {
  Vec3 u, v, du, dv;
  int face = f[0].directions == 2 ? 0 : 1;
  bool edges = f[0].directions == 1 && f[1].directions == 1;
  u = edges ? f[0].along[0] : f[face].along[0];
  v = edges ? f[1].along[0] : f[face].along[1];
  du = c->along[edges ? 0 : face][0];
  dv = edges ? c->along[1][0] : c->along[face][1];
  Vec3 cross = vec3_cross(u, v), change = vec3_add(vec3_cross(du, v), vec3_cross(u, dv));
  double length = vec3_norm(cross), sign = vec3_dot(cross, n) < 0 ? -1 : 1;
  Vec3 dn = vec3_scale(change, sign / length);
  return vec3_add_scaled(dn, -vec3_dot(dn, n), n);
}

bool features_are_parallel(const Feature f[2]) {
  if (f[0].directions + f[1].directions > 2) return true;
  if (f[0].directions != 1 || f[1].directions != 1) return false;
  return vec3_norm(vec3_cross(f[0].along[0], f[1].along[0])) < FLAT;
}

/* Factored linear conditions that determine the nearest points of two features, for the derivatives of a distance. */
typedef struct {
  Feature feature[2];
  double matrix[4][4];
  int row[4];
  Vec3 apart, normal;
  double distance;
  bool fixes_normal; /* true if the features alone determine the normal (normal_derivative) */
} NearestConditions;

static const char* prepare_conditions(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                      NearestConditions* s) {
  double size = point_view_size(a) + point_view_size(b);
  *s = (NearestConditions){
      .apart = vec3_sub(answer->witness_b, answer->witness_a), .normal = answer->normal, .distance = answer->distance};
  if (!(fabs(answer->distance) > FEATURE_TOLERANCE * size) && !(answer->distance < 0))
    return "the distance is too close to 0 to have a derivative";
  Feature* f = s->feature;
  f[0] = feature_find(a, pose_a, s->normal, FEATURE_TOLERANCE * size);
  f[1] = feature_find(b, pose_b, vec3_scale(s->normal, -1), FEATURE_TOLERANCE * size);
  if (features_are_parallel(f)) return "the nearest features are parallel: the nearest points are not unique";
  s->fixes_normal = f[0].directions + f[1].directions == 2;
  if (answer->distance < 0 && !s->fixes_normal) return "the hulls overlap by too little to tell their features";
  set_condition_matrix(f, s->matrix);
  if (!lu_factor(f[0].directions + f[1].directions, 4, &s->matrix[0][0], s->row))
    return "the nearest features are parallel: the nearest points are not unique";
  return NULL;
}

static void append_derivative_column(const NearestConditions* s, const Displacement* c, double* out, int stride) {
  set_derivative_column(s->feature, s->matrix, s->row, c, s->apart, s->normal, s->distance, out, stride);
  if (!s->fixes_normal) return;
  double dn[3];
  vec3_store(normal_derivative(s->feature, c, s->normal), dn);
  for (int r = 0; r < 3; r++) out[(DISTANCE_NORMAL + r) * stride] = dn[r];
}

const char* distance_derivatives(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                 double* out) {
  assert(a.count > 0 && b.count > 0 && out);
  NearestConditions s;
  const char* reason = prepare_conditions(a, pose_a, b, pose_b, answer, &s);
  for (int k = 0; !reason && k < QUERY_POSE_COLUMNS; k++) {
    Displacement c;
    memset(&c, 0, sizeof c);
    int body = k >= 6, axis = k % 3;
    Vec3 e = vec3_axis(axis);
    if (k % 6 >= 3) {
      c.point[body] = e;
    } else {
      for (int j = 0; j < s.feature[body].directions; j++) c.along[body][j] = vec3_cross(e, s.feature[body].along[j]);
      c.point[body] = vec3_cross(e, vec3_sub(body ? answer->witness_b : answer->witness_a, body ? pose_b.t : pose_a.t));
    }
    append_derivative_column(&s, &c, out + k, QUERY_POSE_COLUMNS);
  }
  return reason;
}

const char* distance_vertex_slopes(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                   VertexSlopes out[2]) {
  NearestConditions s;
  const char* reason = prepare_conditions(a, pose_a, b, pose_b, answer, &s);
  for (int body = 0; body < 2; body++) {
    out[body].count = 0;
    out[body].reason = reason;
    if (reason) continue;
    const Feature* f = &s.feature[body];
    Pose pose = body ? pose_b : pose_a;
    FeatureWeights w = {.weight = {0}};
    Vec3 place = pose_apply_inverse(pose, body ? answer->witness_b : answer->witness_a);
    if (!feature_weights(f, body ? b : a, pose.r, place, &w)) {
      out[body].reason = REASON_TOO_MANY_VERTICES;
      continue;
    }
    out[body].count = f->corners;
    out[body].fitted = feature_is_fitted(f);
    for (int k = 0; k < 3 * f->corners; k++) {
      Vec3 e = mat3_mul_vec(pose.r, vec3_axis(k));
      Displacement c;
      memset(&c, 0, sizeof c);
      out[body].vertex[k / 3] = f->corner[k / 3];
      c.point[body] = vec3_scale(e, w.weight[k / 3]);
      for (int j = 0; j < f->directions; j++) c.along[body][j] = vec3_scale(e, w.tilt[k / 3][j]);
      append_derivative_column(&s, &c, &out[body].rows[0][k], VERTEX_COLUMNS);
    }
  }
  return reason;
}
