/* Contact manifolds with derivatives (X1-X8). docs/derivations/manifold.md All quantities are in the frame of body b.
 * Derivatives are with respect to six variables: rotation of body a about its origin and translation of body a, along
 * the axes of b. For derivatives with respect to shape or smoothing (law-manifold.md, X8), the variables are up to six
 * shape parameters of one body, or the smoothing. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "query/manifold_pair.h"
#include "shapes/field_faces.h"

/* ---------------------------------------------------------------- positions */

/* Returns a dual vector with the value `value` and the derivatives of v. */
static Dual3 set_value(Dual3 v, Vec3 value) {
  return (Dual3){dual_with_value(v.x, value.x), dual_with_value(v.y, value.y), dual_with_value(v.z, value.z)};
}

/* Sets the derivatives of v with respect to variable k - 1. */
static void set_derivative(Dual3* v, int k, Vec3 slope) {
  dual_set_lane(&v->x, k, slope.x);
  dual_set_lane(&v->y, k, slope.y);
  dual_set_lane(&v->z, k, slope.z);
}

/* Adds `slope` to the derivatives of v with respect to variable k - 1. */
static void add_derivative(Dual3* v, int k, Vec3 slope) {
  set_derivative(v, k, vec3_add(vec3(dual_lane(v->x, k), dual_lane(v->y, k), dual_lane(v->z, k)), slope));
}

/* Returns the derivatives of a point of body a with respect to the motion of a: rotation x arm + translation. arm: from
 * the origin of a to the point. The value is set to 0. */
static Dual3 point_derivative_by_motion(Vec3 arm) {
  return (Dual3){dual_of((const double[DUAL_LANES]){0, 0, arm.z, -arm.y, 1}),
                 dual_of((const double[DUAL_LANES]){0, -arm.z, 0, arm.x, 0, 1}),
                 dual_of((const double[DUAL_LANES]){0, arm.y, -arm.x, 0, 0, 0, 1})};
}

/* Returns the derivatives of a direction v fixed to body a with respect to the rotation of a. The value is set to 0. */
static Dual3 direction_derivative_by_rotation(Vec3 v) {
  return (Dual3){dual_of((const double[DUAL_LANES]){0, 0, v.z, -v.y}),
                 dual_of((const double[DUAL_LANES]){0, -v.z, 0, v.x}),
                 dual_of((const double[DUAL_LANES]){0, v.y, -v.x})};
}

/* Converts a point from the frame of its body (0: a, 1: b) to the frame of body b, with derivatives. */
static Dual3 transform_to_b(const ManifoldPair* s, int body, Vec3 point) {
  if (body == 1) return dual3_constant(point);
  Vec3 arm = mat3_mul_vec(s->relative.r, point);
  if (s->cause != MANIFOLD_BY_MOTION) return dual3_constant(vec3_add(arm, s->relative.t));
  return set_value(point_derivative_by_motion(arm), vec3_add(arm, s->relative.t));
}

static bool has_variable_parameters(const ManifoldPair* s, int body) {
  return (int)s->cause == MANIFOLD_BY_SHAPE_A + body;
}

/* Returns surface point i of a body in the frame of body b, with derivatives. The derivatives are with respect to the
 * motion of a or to the shape parameters of the point's body. If the body has corners, its parameters are the
 * coordinates of the corners (X17). */
static Dual3 surface_point(const ManifoldPair* s, int body, int i) {
  const ManifoldBody* local = s->body[body];
  Dual3 out = transform_to_b(s, body, local->points[i]);
  if (!has_variable_parameters(s, body)) return out;
  for (int k = 0; k < s->lanes; k++) {
    Vec3 moved = {0, 0, 0};
    if (!local->corners)
      moved = local->point_slopes[(ptrdiff_t)(s->first + k) * local->point_count + i];
    else if (local->point_corner[i] == (s->first + k) / 3)
      moved = vec3_axis(s->first + k);
    if (body == 0) moved = mat3_mul_vec(s->relative.r, moved);
    set_derivative(&out, k + 1, moved);
  }
  return out;
}

/* Returns true if derivatives with respect to the smoothing are computed and the body's distance field depends on the
 * smoothing. */
static bool has_variable_smoothing(const ManifoldPair* s, int body) {
  return s->cause == MANIFOLD_BY_SMOOTHING && s->body[body]->field_width > 0;
}

/* Adds to *value and *outward (the normal) the derivatives of a body's distance field with respect to the body's shape
 * parameters or to the smoothing. place: point in the body's frame. */
static void add_parameter_derivatives(const ManifoldPair* s, int body, Vec3 place, Dual* value, Dual3* outward) {
  bool wide = has_variable_smoothing(s, body);
  if (!wide && !has_variable_parameters(s, body)) return;
  double up[DUAL_VARIABLES];
  Vec3 turned[DUAL_VARIABLES];
  if (wide) {
    field_smoothing_derivative(s->body[body]->field, place, up, turned);
    up[0] *= s->body[body]->field_width;
    turned[0] = vec3_scale(turned[0], s->body[body]->field_width);
  } else if (s->body[body]->corners)
    field_corner_derivatives(s->body[body]->corners, place, s->first, s->lanes, up, turned);
  else
    field_parameter_derivatives(s->body[body]->field, place, s->first, s->lanes, up, turned);
  for (int k = 0; k < (wide ? 1 : s->lanes); k++) {
    if (body == 0) turned[k] = mat3_mul_vec(s->relative.r, turned[k]);
    dual_set_lane(value, k + 1, dual_lane(*value, k + 1) + up[k]);
    add_derivative(outward, k + 1, turned[k]);
  }
}

/* Returns the origin of a body's frame, expressed in the frame of body b. */
static Dual3 origin_in_b(const ManifoldPair* s, int body) {
  if (body == 1) return dual3_constant(vec3(0, 0, 0));
  if (s->cause != MANIFOLD_BY_MOTION) return dual3_constant(s->relative.t);
  return set_value(point_derivative_by_motion(vec3(0, 0, 0)), s->relative.t);
}

/* Sets *normal (in the frame of body b) and *offset to the plane of face i of a polyhedron, with derivatives. */
static void face_plane(const ManifoldPair* s, int body, int i, Dual3* normal, Dual* offset) {
  const FieldCorners* corners = s->body[body]->corners;
  Vec3 n = corners->normals[i];
  *offset = dual_constant(corners->offsets[i]);
  *normal = dual3_constant(body == 0 ? mat3_mul_vec(s->relative.r, n) : n);
  if (body == 0 && s->cause == MANIFOLD_BY_MOTION)
    *normal = set_value(direction_derivative_by_rotation(dual3_value(*normal)), dual3_value(*normal));
  if (!has_variable_parameters(s, body)) return;
  for (int k = 0; k < s->lanes; k++) {
    int corner = (s->first + k) / 3;
    Vec3 e = vec3_axis(s->first + k);
    for (int j = corners->first[corner]; j < corners->first[corner + 1]; j++) {
      const CornerDerivative* link = &corners->derivatives[j];
      if (link->element != i) continue;
      Vec3 turned = mat3_mul_vec(link->normal_jacobian, e);
      double moved = vec3_dot(turned, link->along) + link->share * vec3_dot(n, e);
      dual_set_lane(offset, k + 1, dual_lane(*offset, k + 1) + moved);
      if (body == 0) turned = mat3_mul_vec(s->relative.r, turned);
      add_derivative(normal, k + 1, turned);
    }
  }
}

static Dual3 unit_vector(Dual3 v) {
  Dual square = dual_add_constant(dual3_dot(v, v), NORMAL_FLOOR);
  return dual3_scale(v, dual_inverse(dual_sqrt(square)));
}

/* Returns the derivatives of a . b for a constant a. The value of the result has no meaning. */
static Dual dot_constant(Vec3 a, Dual3 b) { return dual3_dot_constant(a.x, a.y, a.z, b); }

static DualField evaluate_field_of_b(const ManifoldPair* s, Dual3 place, const FieldValue* v, bool normals) {
  DualField out = {.value = dual_with_value(dot_constant(v->gradient, place), v->value)};
  Dual3 outward = {dual_constant(0), dual_constant(0), dual_constant(0)};
  if (normals) outward = dual3_rotate(v->outward_jacobian, place);
  add_parameter_derivatives(s, 1, dual3_value(place), &out.value, &outward);
  if (normals) out.normal = unit_vector(set_value(outward, v->outward));
  return out;
}

/* Returns the distance field of body a at a point p given in the frame of body b, with derivatives. R, t: pose of a in
 * the frame of b. Relative to a, the point moves by R^T (dp - rotation x (p - t) - translation). The normal rotates
 * with a. */
static DualField evaluate_field_of_a(const ManifoldPair* s, Dual3 place, const FieldValue* v, bool normals) {
  Mat3 r = s->relative.r;
  Vec3 arm = vec3_sub(dual3_value(place), s->relative.t), value = mat3_mul_vec(r, v->outward);
  bool turns = s->cause == MANIFOLD_BY_MOTION;
  Dual3 moved = dual3_rotate(mat3_transpose(r), turns ? dual3_sub(place, point_derivative_by_motion(arm)) : place);
  Dual3 outward = {dual_constant(0), dual_constant(0), dual_constant(0)};
  DualField out = {.value = dual_with_value(dot_constant(v->gradient, moved), v->value)};
  if (normals) outward = dual3_rotate(r, dual3_rotate(v->outward_jacobian, moved));
  if (normals && turns) outward = dual3_add(direction_derivative_by_rotation(value), outward);
  add_parameter_derivatives(s, 0, mat3_tmul_vec(r, arm), &out.value, &outward);
  if (normals) out.normal = unit_vector(set_value(outward, value));
  return out;
}

/* Sets out to the distance field of a body at points given in the frame of body b. count <= BLOCK. If `normals` is
 * false, the normals are zero. */
static void evaluate_fields(const ManifoldPair* s, int body, const Dual3* places, int count, bool normals,
                            DualField* out) {
  assert(count >= 0 && count <= BLOCK);
  Vec3 local[BLOCK] = {{0, 0, 0}}; /* only the first `count` entries are used */
  FieldValue found[BLOCK];
  for (int i = 0; i < count; i++) local[i] = point_in_body_frame(s, body, dual3_value(places[i]));
  field_evaluate_many(s->body[body]->field, local, count, normals ? FIELD_JACOBIANS : FIELD_GRADIENTS, found);
  for (int i = 0; i < count; i++)
    out[i] = body == 0 ? evaluate_field_of_a(s, places[i], &found[i], normals)
                       : evaluate_field_of_b(s, places[i], &found[i], normals);
}

/* ---------------------------------------------------------------- results */

/* Prepares the conversion of derivatives to motions along the world axes (X7). A motion of body a along a world axis is
 * converted to the axes of body b. A motion of b acts like the opposite motion of a about b's origin. In addition, it
 * moves all quantities that are expressed in the frame of b. */
static void set_world_motions(ManifoldPair* s) {
  Mat3 r = s->pose_b.r;
  for (int column = 0; column < 3; column++) {
    Vec3 local = vec3(r.m[column][0], r.m[column][1], r.m[column][2]), arm = vec3_cross(local, s->relative.t);
    const double axis[3] = {local.x, local.y, local.z}, swept[3] = {arm.x, arm.y, arm.z};
    for (int k = 0; k < 3; k++) {
      s->axis[k][column] = axis[k];
      s->swept[k][column] = swept[k];
    }
  }
}

/* Writes the derivatives of one number. Columns 0 to 5 belong to rotation and translation of a, columns 6 to 11 to
 * rotation and translation of b. Derivatives with respect to shape parameters or the smoothing (X8) are copied to
 * columns 0 to 5; the other columns are zero. */
static void write_row(const ManifoldPair* s, Dual slopes, double out[COLUMNS]) {
  if (s->cause != MANIFOLD_BY_MOTION) {
    memset(out + DUAL_VARIABLES, 0, (COLUMNS - DUAL_VARIABLES) * sizeof *out);
    for (int k = 0; k < DUAL_VARIABLES; k++) out[k] = dual_lane(slopes, k + 1);
    return;
  }
  DualHalf turns =
      dual_lane(slopes, 1) * s->axis[0] + dual_lane(slopes, 2) * s->axis[1] + dual_lane(slopes, 3) * s->axis[2];
  DualHalf moves =
      dual_lane(slopes, 4) * s->axis[0] + dual_lane(slopes, 5) * s->axis[1] + dual_lane(slopes, 6) * s->axis[2];
  DualHalf back = -turns - dual_lane(slopes, 4) * s->swept[0] - dual_lane(slopes, 5) * s->swept[1] -
                  dual_lane(slopes, 6) * s->swept[2],
           away = -moves;
  DualHalf first = __builtin_shufflevector(turns, moves, 0, 1, 2, 4);
  DualHalf second = __builtin_shufflevector(moves, back, 1, 2, 4, 5);
  DualHalf third = __builtin_shufflevector(back, away, 2, 4, 5, 6);
  memcpy(out, &first, sizeof first);
  memcpy(out + 4, &second, sizeof second);
  memcpy(out + 8, &third, sizeof third);
}

static void write_rows(const ManifoldPair* s, Dual3 v, double (*out)[COLUMNS]) {
  write_row(s, v.x, out[0]);
  write_row(s, v.y, out[1]);
  write_row(s, v.z, out[2]);
}

/* Adds to columns 6 to 8 of out the derivatives of a vector v fixed to body b with respect to rotations of b about the
 * world axes. */
static void add_rotation_of_b(Vec3 v, double (*out)[COLUMNS]) {
  out[0][7] += v.z;
  out[0][8] -= v.y;
  out[1][6] -= v.z;
  out[1][8] += v.x;
  out[2][6] += v.y;
  out[2][7] -= v.x;
}

static void write_contact(const ManifoldPair* s, ContactKind kind, Dual3 point, Dual distance, Dual3 normal,
                          Dual activity, int64_t at) {
  if (!s->out) {
    add_to_sums(s->sums, distance, activity);
    return;
  }
  ManifoldContact* out = &s->out[at];
  Mat3 r = s->pose_b.r;
  out->kind = kind;
  out->distance = dual_value(distance);
  out->activity = dual_value(activity);
  out->point = pose_apply(s->pose_b, dual3_value(point));
  out->normal = mat3_mul_vec(r, dual3_value(normal));
  double(*slope)[COLUMNS] = out->slope;
  write_rows(s, dual3_rotate(r, point), slope + MANIFOLD_POINT);
  write_row(s, distance, slope[MANIFOLD_DISTANCE]);
  write_rows(s, dual3_rotate(r, normal), slope + MANIFOLD_NORMAL);
  write_row(s, activity, slope[MANIFOLD_ACTIVITY]);
  if (s->cause != MANIFOLD_BY_MOTION) return;
  add_rotation_of_b(vec3_sub(out->point, s->pose_b.t), slope + MANIFOLD_POINT);
  add_rotation_of_b(out->normal, slope + MANIFOLD_NORMAL);
  for (int k = 0; k < 3; k++) slope[MANIFOLD_POINT + k][9 + k] += 1;
}

#include "query/manifold_contacts.h"

/* ---------------------------------------------------------------- queries */

int64_t manifold_count(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options) {
  int64_t edges = (int64_t)chosen_count(a->edge_count, options->edges) * chosen_count(b->edge_count, options->edges);
  return chosen_count(count_points(a), options->points) + chosen_count(count_points(b), options->points) + 2 * edges;
}

/* Returns the number of bytes for the points and edges of one body, including positions, depths, order and weights. */
static size_t workspace_of_body(const ManifoldBody* body, const ManifoldOptions* options) {
  size_t points = (size_t)body->point_count, edges = (size_t)body->edge_count,
         ranked = sizeof(RankedDepth) + sizeof(int) + sizeof(double) + sizeof(Dual);
  size_t wanted = (size_t)chosen_count(body->edge_count, options->edges);
  size_t faces = body->corners ? (size_t)body->corners->plane_count : 0;
  return faces * (sizeof(Dual3) + 7 * sizeof(Dual)) + points * (2 * sizeof(Dual3) + sizeof(Dual) + ranked) +
         edges * (2 * sizeof(Dual3[2]) + sizeof(Dual) + ranked) + wanted * sizeof(Dual);
}

size_t manifold_room(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options) {
  enum { TAKEN = 32 }; /* number of arrays, each rounded up to 64 bytes */
  size_t edges =
      (size_t)chosen_count(a->edge_count, options->edges) * (size_t)chosen_count(b->edge_count, options->edges);
  return workspace_of_body(a, options) + workspace_of_body(b, options) + edges * sizeof(EdgePair) + (size_t)64 * TAKEN;
}

/* Runs a query that writes to `out` or to `mean`; the other pointer is NULL. room: workspace, 64-byte aligned, or NULL
 * to allocate one. */
static void run_query(ManifoldPair* s, ManifoldContact* out, ManifoldMean* mean, void* room) {
  assert((out == NULL) != (mean == NULL));
  assert(s->options->smoothing > 0 && s->options->softness > 0);
  assert((uintptr_t)room % 64 == 0);
  void* local = room ? NULL : memory_alloc(manifold_room(s->body[0], s->body[1], s->options));
  MeanSums sums = {dual_constant(0), dual_constant(0)};
  s->room = room ? room : local;
  s->out = out;
  s->sums = &sums;
  if (s->options->values) {
    s->omitted = manifold_values(s->body[0], s->pose_a, s->body[1], s->pose_b, s->options, out, mean, s->room);
  } else {
    set_world_motions(s);
    write_all_contacts(s);
    if (mean) {
      Dual distance = dual_div(sums.weighted, sums.activity);
      mean->distance = dual_value(distance);
      mean->activity = dual_value(sums.activity);
      write_row(s, distance, mean->slope);
    }
  }
  s->sums = NULL;
  memory_free(local);
}

int manifold_query(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                   const ManifoldOptions* options, ManifoldContact* out, void* room) {
  ManifoldPair s = create_pair(a, pose_a, b, pose_b, options);
  run_query(&s, out, NULL, room);
  return s.omitted;
}

int manifold_mean(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                  const ManifoldOptions* options, ManifoldMean* out, void* room) {
  ManifoldPair s = create_pair(a, pose_a, b, pose_b, options);
  run_query(&s, NULL, out, room);
  return s.omitted;
}

/* Selects the variables of the derivatives: up to DUAL_VARIABLES parameters from `first` on, or the smoothing. */
static void set_variables(ManifoldPair* s, ManifoldCause cause, int first) {
  s->cause = cause;
  s->first = first;
  if (cause == MANIFOLD_BY_SMOOTHING) {
    dual_set_lane(&s->smoothing, 1, 1);
    return;
  }
  int left = manifold_parameter_count(s->body[cause - MANIFOLD_BY_SHAPE_A]) - first;
  s->lanes = left < DUAL_VARIABLES ? left : DUAL_VARIABLES;
}

void manifold_query_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                       const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldContact* out,
                       void* room) {
  assert(first < 1 || cause == MANIFOLD_BY_SMOOTHING ||
         first < manifold_parameter_count(cause == MANIFOLD_BY_SHAPE_A ? a : b));
  assert(first >= 0);
  ManifoldPair s = create_pair(a, pose_a, b, pose_b, options);
  set_variables(&s, cause, first);
  run_query(&s, out, NULL, room);
}

void manifold_mean_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                      const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldMean* out, void* room) {
  assert(first >= 0);
  ManifoldPair s = create_pair(a, pose_a, b, pose_b, options);
  set_variables(&s, cause, first);
  run_query(&s, NULL, out, room);
}
