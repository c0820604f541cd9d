/* Distance of hulls by GJK, depth by the expanding polytope; derivatives from the features that are nearest. */
#include <string.h>
#include "query/expanding.h"
#include "query/features.h"
#include "query/query.h"
#include "query/small_solve.h"

/* How far the overlapping hull is taken beyond the surface, for the nearest points there, of the hulls' size. */
#define BEYOND 1e-6
/* A vertex belongs to the nearest feature when it is no farther behind its plane than this part of the size. */
#define ON_FEATURE 1e-9
/* Directions of a feature that are shorter than this part of the size, or of sin of an angle, are none. */
#define FLAT 1e-6
/* Barycentric coordinates of a nearest point that are this near to 0: it is on the border of the feature. */
enum { CORNERS_MAX = 64 };

double point_view_size(PointView view) {
  double size = 0;
  for (int i = 0; i < view.count; i++) size = fmax(size, fabs(view.x[i]) + fabs(view.y[i]) + fabs(view.z[i]));
  return size;
}

Distance distance_query(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache) {
  GjkCache own = {.count = 0};
  GjkCache* simplex = cache ? cache : &own;
  GjkResult near = gjk_distance(a, pose_a, b, pose_b, simplex);
  if (near.distance > 0) return (Distance){near.distance, near.witness_a, near.witness_b, near.normal};
  Vec3 normal = vec3(0, 0, 1);
  double depth = hull_depth(a, pose_a, b, pose_b, simplex, &normal);
  if (!(depth >= 0)) depth = hull_penetration(a, pose_a, b, pose_b, &normal);
  Vec3 shift = vec3_scale(normal, depth + BEYOND * (point_view_size(a) + point_view_size(b)));
  Pose moved = pose_b;
  moved.t = vec3_add(moved.t, shift);
  near = gjk_distance(a, pose_a, b, moved, NULL);
  Distance d = {-depth, near.witness_a, vec3_sub(near.witness_b, shift), normal};
  /* the points differ along the normal only: what rounding left beside it goes */
  Vec3 apart = vec3_sub(d.witness_b, d.witness_a);
  d.witness_b = vec3_sub(d.witness_b, vec3_add_scaled(apart, depth, normal));
  return d;
}

/* ---------------------------------------------------------------- derivatives */

Feature feature_of(PointView view, Pose pose, Vec3 out, double reach) {
  double size = point_view_size(view);
  Feature f = {.directions = 0};
  Vec3 local = mat3_tmul_vec(pose.r, out), corner[CORNERS_MAX];
  double top = -HUGE_VAL;
  for (int i = 0; i < view.count; i++) top = fmax(top, view.x[i] * local.x + view.y[i] * local.y + view.z[i] * local.z);
  int count = 0;
  for (int i = 0; i < view.count && count < CORNERS_MAX; i++)
    if (view.x[i] * local.x + view.y[i] * local.y + view.z[i] * local.z >= top - reach)
      corner[count++] = vec3(view.x[i], view.y[i], view.z[i]);
  Vec3 first = vec3(0, 0, 0);
  for (int i = 1; i < count; i++) {
    Vec3 way = vec3_sub(corner[i], corner[0]);
    double length = vec3_norm(way);
    if (length > vec3_norm(first) && length > FLAT * size) first = way;
  }
  if (!(vec3_norm(first) > 0)) return f;
  f.along[f.directions++] = vec3_normalized(first);
  Vec3 second = vec3(0, 0, 0);
  for (int i = 1; i < count; i++) {
    Vec3 way = vec3_sub(corner[i], corner[0]);
    way = vec3_add_scaled(way, -vec3_dot(way, f.along[0]), f.along[0]);
    if (vec3_norm(way) > vec3_norm(second) && vec3_norm(way) > FLAT * size) second = way;
  }
  if (vec3_norm(second) > 0) f.along[f.directions++] = vec3_normalized(second);
  for (int k = 0; k < f.directions; k++) f.along[k] = mat3_mul_vec(pose.r, f.along[k]);
  return f;
}

/* How one displacement moves the bodies as if rigidly joined to their features: velocity of the point and turn. */
typedef struct {
  Vec3 point[2], turn[2];
} Cause;

/* The nearest points x_a = a0 + sum s_i A_i, x_b = b0 + sum t_j B_j of two flats (H1):
 * A_i . (x_b - x_a) = 0, B_j . (x_b - x_a) = 0; their change by the implicit function theorem. */
static bool flats_matrix(const Feature f[2], double m[4][4]) {
  int order = f[0].directions + f[1].directions;
  for (int i = 0; i < order; i++)
    for (int k = 0; k < order; k++) {
      int bi = i >= f[0].directions, bk = k >= f[0].directions;
      Vec3 u = f[bi].along[bi ? i - f[0].directions : i], v = f[bk].along[bk ? k - f[0].directions : k];
      m[i][k] = (bk ? 1 : -1) * vec3_dot(u, v);
    }
  return true;
}

static void column_of(const Feature f[2], const double m[4][4], const int row[4], const Cause* c, Vec3 apart,
                      Vec3 normal, double signed_distance, double* out) {
  int order = f[0].directions + f[1].directions;
  Vec3 drift = vec3_sub(c->point[1], c->point[0]);
  double rhs[4] = {0};
  for (int i = 0; i < order; i++) {
    int b = i >= f[0].directions;
    Vec3 u = f[b].along[b ? i - f[0].directions : i];
    rhs[i] = -(vec3_dot(vec3_cross(c->turn[b], u), apart) + vec3_dot(u, drift));
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
  for (int r = 0; r < DISTANCE_ROWS; r++) out[r * QUERY_POSE_COLUMNS] = rows[r];
}

/* With three directions the normal is that of a face or of two edges, by itself: n does not need the distance. */
static Vec3 normal_change(const Feature f[2], const Cause* c, Vec3 n) {
  Vec3 u, v, du, dv;
  int face = f[0].directions == 2 ? 0 : 1;
  bool edges = f[0].directions == 1 && f[1].directions == 1;
  u = edges ? f[0].along[0] : f[face].along[0];
  v = edges ? f[1].along[0] : f[face].along[1];
  du = vec3_cross(c->turn[edges ? 0 : face], u);
  dv = vec3_cross(c->turn[edges ? 1 : face], v);
  Vec3 cross = vec3_cross(u, v), change = vec3_add(vec3_cross(du, v), vec3_cross(u, dv));
  double length = vec3_norm(cross), sign = vec3_dot(cross, n) < 0 ? -1 : 1;
  Vec3 dn = vec3_scale(change, sign / length);
  return vec3_add_scaled(dn, -vec3_dot(dn, n), n);
}

static bool parallel(const Feature f[2]) {
  if (f[0].directions + f[1].directions > 2) return true;
  if (f[0].directions != 1 || f[1].directions != 1) return false;
  return vec3_norm(vec3_cross(f[0].along[0], f[1].along[0])) < FLAT;
}

const char* distance_derivatives(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                 double* out) {
  double size = point_view_size(a) + point_view_size(b), m[4][4] = {{0}};
  int row[4] = {0};
  Vec3 n = answer->normal;
  if (!(fabs(answer->distance) > ON_FEATURE * size) && !(answer->distance < 0)) return "the hulls just touch";
  const Feature f[2] = {feature_of(a, pose_a, n, ON_FEATURE * size),
                        feature_of(b, pose_b, vec3_scale(n, -1), ON_FEATURE * size)};
  if (parallel(f)) return "the nearest features are parallel: the nearest points are not unique";
  bool own = f[0].directions + f[1].directions == 2;
  if (answer->distance < 0 && !own) return "the hulls overlap by too little to tell their features";
  flats_matrix(f, m);
  int order = f[0].directions + f[1].directions;
  if (!lu_factor(order, 4, &m[0][0], row))
    return "the nearest features are parallel: the nearest points are not unique";
  Vec3 apart = vec3_sub(answer->witness_b, answer->witness_a);
  for (int k = 0; k < QUERY_POSE_COLUMNS; k++) {
    Cause c;
    memset(&c, 0, sizeof c);
    int body = k >= 6, axis = k % 3;
    Vec3 e = vec3(axis == 0, axis == 1, axis == 2);
    if (k % 6 >= 3) {
      c.point[body] = e;
    } else {
      c.turn[body] = e;
      c.point[body] = vec3_cross(e, vec3_sub(body ? answer->witness_b : answer->witness_a, body ? pose_b.t : pose_a.t));
    }
    column_of(f, m, row, &c, apart, n, answer->distance, out + k);
    if (!own) continue;
    Vec3 dn = normal_change(f, &c, n);
    out[DISTANCE_NORMAL * QUERY_POSE_COLUMNS + k] = dn.x;
    out[(DISTANCE_NORMAL + 1) * QUERY_POSE_COLUMNS + k] = dn.y;
    out[(DISTANCE_NORMAL + 2) * QUERY_POSE_COLUMNS + k] = dn.z;
  }
  return NULL;
}
