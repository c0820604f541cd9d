/* Nearest points of two hulls, and the vertices and weights that define them: differentiate/nearest.h. */
#include <assert.h>
#include "differentiate/nearest.h"

#include "linalg/arrays.h"
#include "query/query.h"

void loss_nearest_weights(const Vec3* corner, int count, double* weight) {
  assert(count >= 1 && count <= 3);
  weight[0] = 1;
  weight[1] = weight[2] = weight[3] = 0;
  if (count < 2) return;
  Vec3 to = vec3_scale(corner[0], -1), u = vec3_sub(corner[1], corner[0]);
  if (count == 2) {
    weight[1] = vec3_dot(to, u) / vec3_dot(u, u);
  } else {
    Vec3 w = vec3_sub(corner[2], corner[0]), normal = vec3_cross(u, w);
    double square = vec3_dot(normal, normal);
    weight[1] = vec3_dot(vec3_cross(to, w), normal) / square;
    weight[2] = vec3_dot(vec3_cross(u, to), normal) / square;
  }
  weight[0] = 1 - weight[1] - weight[2];
}

static NearestPoints nearest_of_hulls(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b) {
  PointView view_a = a->points, view_b = b->points;
  GjkCache simplex = {0};
  GjkResult gjk = gjk_distance(view_a, pose_a, view_b, pose_b, &simplex);
  if (!(gjk.distance > 0)) return (NearestPoints){.a = a, .b = b};
  NearestPoints nearest = {.distance = gjk.distance, .a = a, .b = b, .normal = gjk.normal, .count = simplex.count};
  nearest.point_a = pose_apply_inverse(pose_a, gjk.witness_a);
  nearest.point_b = pose_apply_inverse(pose_b, gjk.witness_b);
  Vec3 difference[4];
  for (int i = 0; i < simplex.count; i++) {
    nearest.vertex_a[i] = simplex.a[i];
    nearest.vertex_b[i] = simplex.b[i];
    difference[i] = vec3_sub(pose_apply(pose_a, point_at(view_a, simplex.a[i])),
                             pose_apply(pose_b, point_at(view_b, simplex.b[i])));
  }
  loss_nearest_weights(difference, simplex.count, nearest.weight);
  return nearest;
}

/* Returns the nearest points of a half-space (a) and a hull: the lowest vertex and the surface point below it. */
static NearestPoints nearest_of_half_space(const ModelHull* half_space, const ModelHull* hull, Pose half_space_pose,
                                           Pose hull_pose) {
  NearestPoints nearest = {.a = half_space,
                           .b = hull,
                           .normal = mat3_mul_vec(half_space_pose.r, half_space->normal),
                           .count = 1,
                           .weight = {1}};
  nearest.vertex_a[0] = -1;
  hull->kind->support(hull, mat3_tmul_vec(hull_pose.r, vec3_scale(nearest.normal, -1)), &nearest.vertex_b[0]);
  nearest.point_b = point_at(hull->points, nearest.vertex_b[0]);
  Vec3 seen = pose_apply_inverse(half_space_pose, pose_apply(hull_pose, nearest.point_b));
  nearest.distance = vec3_dot(half_space->normal, seen) - half_space->offset;
  nearest.point_a = vec3_add_scaled(seen, -nearest.distance, half_space->normal);
  return nearest;
}

NearestPoints find_nearest_points(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b) {
  assert(a->kind->bounded || b->kind->bounded);
  if (!a->kind->bounded) return nearest_of_half_space(a, b, pose_a, pose_b);
  if (!b->kind->bounded) return nearest_of_half_space(b, a, pose_b, pose_a);
  return nearest_of_hulls(a, b, pose_a, pose_b);
}

NearestPoints find_signed_nearest_points(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b) {
  NearestPoints found = find_nearest_points(a, b, pose_a, pose_b);
  if (found.count > 0) return found;
  Distance meeting = distance_query(a->points, pose_a, b->points, pose_b, NULL);
  found.distance = meeting.distance;
  found.normal = meeting.normal;
  return found;
}

double distance_lower_bound(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b) {
  double between = vec3_norm(vec3_sub(pose_apply(pose_a, a->center), pose_apply(pose_b, b->center)));
  if (!isnan(between) && (!a->kind->bounded || !b->kind->bounded)) return -HUGE_VAL;
  return between - a->radius - b->radius;
}

/* ---------------------------------------------------------------- vertices of the nearest points */

/* Vertices belong to one face if their heights along the normal differ by less than this fraction of the hull radius.
 * Bodies at rest tilt by less. */
#define FACE_TOLERANCE 1e-6
/* Vertex weights of smaller magnitude (WEIGHT_ROUNDING) and constraints on the weights of smaller norm (ROW_ROUNDING)
 * count as zero. */
#define WEIGHT_ROUNDING 1e-9
#define ROW_ROUNDING 1e-12

static void set_simplex_vertices(WeightedVertices* side, const NearestPoints* nearest, const int* vertex, Vec3 point) {
  side->count = nearest->count;
  side->point = point;
  for (int i = 0; i < nearest->count; i++) {
    side->vertex[i] = vertex[i];
    side->weight[i] = nearest->weight[i];
  }
}

/* Finds the vertices that are farthest along a direction, within `tolerance` [m]. direction: link frame. Returns false
 * if there are more than FACE_VERTICES_MAX. */
static bool find_face_vertices(WeightedVertices* side, PointView view, Vec3 direction, double tolerance) {
  double highest = -HUGE_VAL;
  side->count = 0;
  for (int i = 0; i < view.count; i++) highest = fmax(highest, vec3_dot(direction, point_at(view, i)));
  for (int i = 0; i < view.count; i++) {
    if (vec3_dot(direction, point_at(view, i)) < highest - tolerance) continue;
    if (side->count == FACE_VERTICES_MAX) return false;
    side->vertex[side->count++] = i;
  }
  return true;
}

static void update_point(WeightedVertices* side, PointView view) {
  side->point = vec3(0, 0, 0);
  for (int i = 0; i < side->count; i++)
    side->point = vec3_add_scaled(side->point, side->weight[i], point_at(view, side->vertex[i]));
}

/* Linear constraints on the weights of both sides: row[k] . weight = right_side[k]. The weights of each side have the
 * sum 1, and both points have equal coordinates along two tangents. */
typedef struct {
  int count;
  double row[4][2 * FACE_VERTICES_MAX], right_side[4];
} WeightConstraints;

/* Sets weight[count] to the weights with the least sum of squares that satisfy the constraints. Weights marked in
 * `excluded` are zero. Uses Gram-Schmidt orthogonalization of the constraint rows. */
static void solve_least_squares(const WeightConstraints* constraints, const bool* excluded, double* weight) {
  double basis[4][2 * FACE_VERTICES_MAX], value[4];
  int count = constraints->count, rows = 0;
  for (int i = 0; i < count; i++) weight[i] = 0;
  for (int k = 0; k < 4; k++) {
    double* row = basis[rows];
    value[rows] = constraints->right_side[k];
    for (int i = 0; i < count; i++) row[i] = excluded[i] ? 0 : constraints->row[k][i];
    double before = array_dot(count, row, row);
    for (int j = 0; j < rows; j++) {
      double along = array_dot(count, row, basis[j]);
      for (int i = 0; i < count; i++) row[i] -= along * basis[j][i];
      value[rows] -= along * value[j];
    }
    double square = array_dot(count, row, row), length = sqrt(square);
    if (!(square > ROW_ROUNDING * before)) continue;
    for (int i = 0; i < count; i++) row[i] /= length;
    value[rows] /= length;
    for (int i = 0; i < count; i++) weight[i] += value[rows] * row[i];
    rows++;
  }
}

static bool are_satisfied(const WeightConstraints* constraints, const double* weight) {
  for (int k = 0; k < 4; k++)
    if (!(fabs(array_dot(constraints->count, constraints->row[k], weight) - constraints->right_side[k]) <
          FACE_TOLERANCE))
      return false;
  return true;
}

/* Computes nonnegative weights that satisfy the constraints: excludes the most negative weight until none is negative.
 * Returns false if no such weights are found. */
static bool find_nonnegative_weights(const WeightConstraints* constraints, double* weight) {
  bool excluded[2 * FACE_VERTICES_MAX] = {false};
  for (int tries = 0; tries < constraints->count; tries++) {
    int lowest = 0;
    solve_least_squares(constraints, excluded, weight);
    for (int i = 1; i < constraints->count; i++)
      if (weight[i] < weight[lowest]) lowest = i;
    if (weight[lowest] >= -WEIGHT_ROUNDING) return are_satisfied(constraints, weight);
    excluded[lowest] = true;
  }
  return false;
}

/* Computes the weights of the vertices of two parallel faces. Returns false if no points of the faces are opposite to
 * each other. */
static bool find_face_weights(const NearestPoints* nearest, PointView view[2], const Pose pose[2], double size,
                              WeightedVertices side[2]) {
  WeightConstraints constraints = {.count = side[0].count + side[1].count, .right_side = {1, 1, 0, 0}};
  Vec3 u = vec3_perpendicular(nearest->normal), along[2] = {u, vec3_cross(nearest->normal, u)};
  double weight[2 * FACE_VERTICES_MAX];
  Vec3 middle = pose_apply(pose[0], nearest->point_a);
  for (int s = 0, n = 0; s < 2; s++)
    for (int i = 0; i < side[s].count; i++, n++) {
      Vec3 x = vec3_sub(pose_apply(pose[s], point_at(view[s], side[s].vertex[i])), middle);
      constraints.row[s][n] = 1;
      for (int k = 0; k < 2; k++) constraints.row[2 + k][n] = (s == 0 ? 1 : -1) * vec3_dot(along[k], x) / size;
    }
  if (!find_nonnegative_weights(&constraints, weight)) return false;
  for (int s = 0, n = 0; s < 2; s++)
    for (int i = 0; i < side[s].count; i++, n++) side[s].weight[i] = weight[n];
  return true;
}

static void find_hull_vertices(const NearestPoints* nearest, const Pose pose[2], WeightedVertices side[2]) {
  PointView view[2] = {nearest->a->points, nearest->b->points};
  double size = nearest->a->radius + nearest->b->radius;
  bool level = true;
  for (int s = 0; s < 2 && level; s++) {
    Vec3 outward = mat3_tmul_vec(pose[s].r, vec3_scale(nearest->normal, s == 0 ? 1 : -1));
    level = find_face_vertices(&side[s], view[s], outward, FACE_TOLERANCE * size);
  }
  if (level && find_face_weights(nearest, view, pose, size, side)) {
    for (int s = 0; s < 2; s++) update_point(&side[s], view[s]);
    return;
  }
  set_simplex_vertices(&side[0], nearest, nearest->vertex_a, nearest->point_a);
  set_simplex_vertices(&side[1], nearest, nearest->vertex_b, nearest->point_b);
}

/* Computes vertices and weights if nearest->a is a half-space. All lowest vertices of the hull have equal weights. */
static void find_half_space_vertices(const NearestPoints* nearest, const Pose pose[2], WeightedVertices side[2]) {
  const ModelHull* hull = nearest->b;
  Vec3 down = mat3_tmul_vec(pose[1].r, vec3_scale(nearest->normal, -1));
  side[0] = (WeightedVertices){.count = 1, .vertex = {-1}, .weight = {1}};
  if (find_face_vertices(&side[1], hull->points, down, FACE_TOLERANCE * hull->radius)) {
    for (int i = 0; i < side[1].count; i++) side[1].weight[i] = 1.0 / side[1].count;
    update_point(&side[1], hull->points);
  } else {
    set_simplex_vertices(&side[1], nearest, nearest->vertex_b, nearest->point_b);
  }
  Vec3 seen = pose_apply_inverse(pose[0], pose_apply(pose[1], side[1].point));
  side[0].point = vec3_add_scaled(seen, -nearest->distance, nearest->a->normal);
}

void find_nearest_vertices(const NearestPoints* nearest, const Pose pose[2], WeightedVertices side[2]) {
  side[0].count = side[1].count = 0;
  if (nearest->vertex_a[0] < 0)
    find_half_space_vertices(nearest, pose, side);
  else
    find_hull_vertices(nearest, pose, side);
}

void add_nearest_vertex_seeds(const ModelHull* hull, const WeightedVertices* side, Vec3 g, LossSeeds* seeds) {
  if (side->count == 0 || side->vertex[0] < 0) return;
  Vec3* vertices = seeds->vertices + hull->vertex_first;
  for (int i = 0; i < side->count; i++)
    vertices[side->vertex[i]] = vec3_add_scaled(vertices[side->vertex[i]], side->weight[i], g);
}
