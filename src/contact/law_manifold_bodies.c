/* Finds the contacts and the smallest distance of two bodies, for the contact law `manifold` (law-manifold.md, X9). */
#include <assert.h>
#include <string.h>

#include "contact/law_manifold.h"

/* An edge is used if its distance is below EDGE_WIDTHS times the activity width. Beyond this distance its activity is
 * at most e^-20. */
#define EDGE_WIDTHS 20.0
/* Assumed upper bound of the factor by which the gradient of the distance field changes along an edge. */
#define EDGE_SLOPE 1.5
/* Assumed upper bound of the length of the field's gradient at points where the field is not evaluated. */
#define STEEPEST 2.0

ManifoldBodies manifold_bodies(const ManifoldLaw* law, const int item[2], const HullInstance* a, const HullInstance* b,
                               const Vec3 reference[2]) {
  assert(law->surfaces);
  return (ManifoldBodies){.surface = {&law->surfaces[item[0]], b->half_space ? NULL : &law->surfaces[item[1]]},
                          .pose = {a->pose, b->pose},
                          .reference = {reference[0], reference[1]},
                          .normal = b->normal,
                          .offset = b->offset};
}

/* Returns the distance [m] of the point x from the bounding box of a body. x: in the frame of the body. */
static double box_distance(const ManifoldSurface* s, Vec3 x) {
  Vec3 from = vec3_sub(x, s->center), h = s->half_extent;
  return vec3_norm(vec3(fmax(0, fabs(from.x) - h.x), fmax(0, fabs(from.y) - h.y), fmax(0, fabs(from.z) - h.z)));
}

/* Returns the transform from the frame of body `side` to the frame of the other body. */
static Pose into_other(const ManifoldBodies* b, int side) {
  return pose_mul(pose_inverse(b->pose[1 - side]), b->pose[side]);
}

static int near_points(const ManifoldLaw* law, const ManifoldBodies* b, int side, int* out) {
  const ManifoldBody* body = &b->surface[side]->body;
  Pose into = into_other(b, side);
  int count = 0;
  for (int i = 0; i < body->point_count; i++)
    if (box_distance(b->surface[1 - side], pose_apply(into, body->points[i])) < law->reach) out[count++] = i;
  return count;
}

/* Returns an upper bound of the depth of an edge of body `side` in the other body [m]. Returns -HUGE_VAL if the edge is
 * too far away to have an activity. into: transform from the frame of body `side` to the frame of the other body. edge:
 * two indices of points. */
static double edge_depth(const ManifoldLaw* law, const ManifoldBodies* b, int side, const Pose* into,
                         const int edge[2]) {
  const ManifoldBody* body = &b->surface[side]->body;
  Vec3 from = body->points[edge[0]], to = body->points[edge[1]];
  Vec3 middle = pose_apply(*into, vec3_scale(vec3_add(from, to), 0.5));
  double half = 0.5 * vec3_norm(vec3_sub(to, from)), far = EDGE_WIDTHS * law->options.smoothing;
  if (box_distance(b->surface[1 - side], middle) > EDGE_SLOPE * STEEPEST * half + far) return -HUGE_VAL;
  FieldValue at = field_evaluate(b->surface[1 - side]->body.field, middle);
  double depth = EDGE_SLOPE * fmax(1, vec3_norm(at.gradient)) * half - at.value;
  return depth > -far ? depth : -HUGE_VAL;
}

/* Copies those points and edges of body `side` that may touch the other body into the workspace of the thread. Returns
 * the body with only these points and edges. If more than law->most_edges edges may touch it, the deepest edges are
 * copied. */
static ManifoldBody near_parts(const ManifoldLaw* law, int thread, const ManifoldBodies* b, int side) {
  const ManifoldBody* body = &b->surface[side]->body;
  ManifoldWork* work = &law->work[thread];
  ManifoldBody out = *body;
  out.only = work->points[side];
  out.only_count = near_points(law, b, side, work->points[side]);
  out.edges = work->edges[side];
  out.edge_count = 0;
  Pose into = into_other(b, side);
  for (int i = 0; i < body->edge_count && law->most_edges > 0; i++) {
    double depth = edge_depth(law, b, side, &into, body->edges[i]);
    if (depth == -HUGE_VAL) continue;
    int place = out.edge_count < law->most_edges ? out.edge_count++ : law->most_edges;
    while (place > 0 && work->depth[place - 1] < depth) place--;
    for (int k = out.edge_count - 1; k > place; k--) {
      work->depth[k] = work->depth[k - 1];
      memcpy(out.edges[k], out.edges[k - 1], sizeof out.edges[k]);
    }
    if (place == law->most_edges) continue;
    work->depth[place] = depth;
    memcpy(out.edges[place], body->edges[i], sizeof out.edges[place]);
  }
  return out;
}

/* Sets *out to the contact of a point of body a with the half-space. If `values` is false, also sets the derivatives
 * with respect to six motions of a and six motions of the half-space about the origin of its link. */
static void put_over_ground(const ManifoldBodies* b, Vec3 point, bool values, ManifoldContact* out) {
  *out = (ManifoldContact){.kind = CONTACT_POINT_A, .point = point, .normal = vec3_scale(b->normal, -1), .activity = 1};
  out->distance = vec3_dot(b->normal, point) - b->offset;
  for (int k = 0; k < MANIFOLD_COLUMNS && !values; k++) {
    Vec3 e = vec3_axis(k), moved = e, turned = {0, 0, 0};
    int side = k / 6;
    if (k % 6 < 3) moved = vec3_cross(e, vec3_sub(point, b->pose[side].t));
    if (side == 1 && k % 6 < 3) turned = vec3_cross(e, out->normal);
    out->slope[MANIFOLD_DISTANCE][k] = (side == 0 ? 1 : -1) * vec3_dot(b->normal, moved);
    const double dx[3] = {moved.x, moved.y, moved.z}, dn[3] = {turned.x, turned.y, turned.z};
    for (int i = 0; i < 3; i++) {
      out->slope[MANIFOLD_POINT + i][k] = side == 0 ? dx[i] : 0;
      out->slope[MANIFOLD_NORMAL + i][k] = dn[i];
    }
  }
}

static void put_over_ground_by(const ManifoldBodies* b, int point, int first, ManifoldContact* out) {
  const ManifoldSurface* a = b->surface[0];
  *out = (ManifoldContact){.kind = CONTACT_POINT_A};
  for (int k = 0; k < MANIFOLD_CAUSES && first + k < a->parameters; k++) {
    Vec3 moved = {0, 0, 0};
    if (a->point_slopes)
      moved = a->point_slopes[(ptrdiff_t)(first + k) * a->body.point_count + point];
    else if (point == (first + k) / 3)
      moved = vec3_axis(first + k);
    moved = mat3_mul_vec(b->pose[0].r, moved);
    const double dx[3] = {moved.x, moved.y, moved.z};
    out->slope[MANIFOLD_DISTANCE][k] = vec3_dot(b->normal, moved);
    for (int i = 0; i < 3; i++) out->slope[MANIFOLD_POINT + i][k] = dx[i];
  }
}

/* The derivatives of each contact have twelve columns if `cause` is MANIFOLD_BY_MOTION, and MANIFOLD_CAUSES columns
 * otherwise. */
int manifold_contacts(const ManifoldLaw* law, int thread, const ManifoldBodies* b, bool values, ManifoldCause cause,
                      int first) {
  assert(thread >= 0 && first >= 0);
  ManifoldWork* work = &law->work[thread];
  ManifoldContact* out = cause == MANIFOLD_BY_MOTION ? work->contacts : work->slopes;
  if (!b->surface[1]) {
    const ManifoldBody* a = &b->surface[0]->body;
    for (int i = 0; i < a->point_count; i++)
      if (cause == MANIFOLD_BY_MOTION)
        put_over_ground(b, pose_apply(b->pose[0], a->points[i]), values, &out[i]);
      else if (cause == MANIFOLD_BY_SHAPE_A)
        put_over_ground_by(b, i, first, &out[i]);
      else
        out[i] = (ManifoldContact){.kind = CONTACT_POINT_A};
    return a->point_count;
  }
  ManifoldBody body[2] = {near_parts(law, thread, b, 0), near_parts(law, thread, b, 1)};
  ManifoldOptions options = law->options;
  options.values = values;
  if (cause == MANIFOLD_BY_MOTION)
    manifold_query(&body[0], b->pose[0], &body[1], b->pose[1], &options, out, work->room);
  else
    manifold_query_by(&body[0], b->pose[0], &body[1], b->pose[1], &options, cause, first, out, work->room);
  return (int)manifold_count(&body[0], &body[1], &options);
}

/* ---------------------------------------------------------------- distance of two bodies */

/* Returns the smallest first-order distance of the points of body `side` from the surface of the other body [m]. Beyond
 * law->reach it is only a lower bound, the distance from the bounding box. Sets *point to the point with this distance
 * and *normal to the unit normal from a to b, world axes. */
static double nearest_points(const ManifoldLaw* law, const ManifoldBodies* b, int side, Vec3* point, Vec3* normal) {
  const ManifoldBody *body = &b->surface[side]->body, *other = &b->surface[1 - side]->body;
  Pose into = into_other(b, side), back = b->pose[1 - side];
  double least = HUGE_VAL;
  for (int i = 0; i < body->point_count; i++) {
    Vec3 local = pose_apply(into, body->points[i]);
    double distance = box_distance(b->surface[1 - side], local);
    if (!(distance < least)) continue;
    Vec3 outward = vec3_normalized(vec3_sub(local, b->surface[1 - side]->center));
    if (distance < law->reach) {
      FieldValue v = field_evaluate(other->field, local);
      distance = v.value / fmax(1, vec3_norm(v.gradient));
      outward = v.outward;
      if (!(distance < least)) continue;
    }
    least = distance;
    *point = pose_apply(back, local);
    *normal = mat3_mul_vec(back.r, vec3_scale(outward, side == 0 ? -1 : 1));
  }
  return least;
}

double manifold_least_distance(const ManifoldLaw* law, const ManifoldBodies* b, Vec3* point, Vec3* normal) {
  if (b->surface[1]) {
    Vec3 x, n;
    double least = nearest_points(law, b, 0, point, normal), other = nearest_points(law, b, 1, &x, &n);
    if (!(other < least)) return least;
    *point = x;
    *normal = n;
    return other;
  }
  double least = HUGE_VAL;
  const ManifoldBody* a = &b->surface[0]->body;
  for (int i = 0; i < a->point_count; i++) {
    Vec3 x = pose_apply(b->pose[0], a->points[i]);
    double height = vec3_dot(b->normal, x) - b->offset;
    if (height < least) *point = x;
    least = fmin(least, height);
  }
  *normal = vec3_scale(b->normal, -1);
  return least;
}
