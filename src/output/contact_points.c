/* Where two links touch, from their shapes and poses alone: contacts.csv has the force of a pair and no place for it.
 */
#include <stdlib.h>
#include "output/render.h"

/* In the plane between two hulls. */
typedef struct {
  double u, v;
} Flat;

typedef struct {
  Flat* corners; /* counter-clockwise */
  int count;
} Polygon;

typedef struct {
  Vec3 normal, u, v; /* unit, world */
  double height;     /* of the plane: normal . x [m] */
} Plane;

typedef struct {
  const Model* model;
  const Pose* poses;
  double tolerance; /* m: corners this far behind the foremost touch too */
  double reach;     /* m: pairs of hulls this near touch */
  Vec3* points;
  int count;
} Search;

/* ---------------------------------------------------------------- polygons */

static double turn(Flat a, Flat b, Flat c) { return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u); }

static int compare_flat(const void* left, const void* right) {
  const Flat *a = left, *b = right;
  if (a->u != b->u) return a->u < b->u ? -1 : 1;
  return a->v < b->v ? -1 : a->v > b->v;
}

/* Convex hull by Andrew's chain, lower side then upper; `points` are sorted on the way. `out` has room for count + 1.
 */
static Polygon polygon_around(Flat* points, int count, Flat* out) {
  qsort(points, (size_t)count, sizeof *points, compare_flat);
  int n = 0;
  for (int side = 0; side < 2 && count > 1; side++) {
    int first = n;
    for (int i = 0; i < count; i++) {
      Flat p = points[side ? count - 1 - i : i];
      while (n >= first + 2 && turn(out[n - 2], out[n - 1], p) <= 0) n--;
      out[n++] = p;
    }
    n--; /* the last is the first of the other side */
  }
  if (n == 0) out[n++] = points[0];
  return (Polygon){out, n};
}

/* What of `shape` (any number of corners) lies inside `frame` (three or more), cut edge by edge (Sutherland and
 * Hodgman). `out` and `spare` have room for the corners of both; the result stands in one of them. */
static Polygon polygon_cut(Polygon shape, Polygon frame, Flat* out, Flat* spare) {
  for (int i = 0; i < shape.count; i++) out[i] = shape.corners[i];
  Polygon left = {out, shape.count};
  for (int e = 0; e < frame.count; e++) {
    Flat from = frame.corners[e], to = frame.corners[(e + 1) % frame.count];
    Polygon cut = {spare, 0};
    for (int i = 0; i < left.count; i++) {
      Flat p = left.corners[i], q = left.corners[(i + 1) % left.count];
      double dp = turn(from, to, p), dq = turn(from, to, q);
      if (dp >= 0) cut.corners[cut.count++] = p;
      if ((dp > 0 && dq < 0) || (dp < 0 && dq > 0))
        cut.corners[cut.count++] = (Flat){p.u + dp / (dp - dq) * (q.u - p.u), p.v + dp / (dp - dq) * (q.v - p.v)};
    }
    spare = left.corners;
    left = cut;
  }
  return left;
}

/* ---------------------------------------------------------------- faces of hulls */

static Plane plane_of(Vec3 normal, double height) {
  Plane plane = {.normal = normal, .height = height};
  plane_axes(normal, &plane.u, &plane.v);
  return plane;
}

static Vec3 plane_point(const Plane* plane, Flat at) {
  Vec3 point = vec3_scale(plane->normal, plane->height);
  return vec3_add_scaled(vec3_add_scaled(point, at.u, plane->u), at.v, plane->v);
}

/* Largest direction . x over the hull. */
static double hull_top(const ModelHull* hull, Pose pose, Vec3 direction) {
  double value;
  support_index(hull->points, mat3_tmul_vec(pose.r, direction), &value);
  return value + vec3_dot(direction, pose.t);
}

/* The vertices within the tolerance of the top against `direction`, as a polygon in the plane; owned by the caller. */
static Polygon hull_face(const ModelHull* hull, Pose pose, Vec3 direction, double tolerance, const Plane* plane) {
  int count = hull->solid.vertex_count, near = 0;
  double top = hull_top(hull, pose, direction);
  Flat *found = MEMORY_NEW(Flat, count + 1), *corners = MEMORY_NEW(Flat, count + 2);
  for (int i = 0; i < count; i++) {
    Vec3 x = pose_apply(pose, hull->solid.vertices[i]);
    if (vec3_dot(direction, x) < top - tolerance) continue;
    found[near++] = (Flat){vec3_dot(plane->u, x), vec3_dot(plane->v, x)};
  }
  Polygon face = polygon_around(found, near, corners);
  memory_free(found);
  return face;
}

/* At most CONTACT_POINTS_MAX in all; of a polygon with more corners, some evenly round it. */
static void add_polygon(Search* search, const Plane* plane, Polygon polygon) {
  int room = CONTACT_POINTS_MAX - search->count, taken = polygon.count < room ? polygon.count : room;
  for (int i = 0; i < taken; i++)
    search->points[search->count++] = plane_point(plane, polygon.corners[i * polygon.count / taken]);
}

/* ---------------------------------------------------------------- pairs of hulls */

static void touch_half_space(Search* search, const ModelHull* ground, const ModelHull* hull) {
  Pose ground_pose = search->poses[ground->link], pose = search->poses[hull->link];
  Vec3 normal = mat3_mul_vec(ground_pose.r, ground->normal), down = vec3_scale(normal, -1);
  double level = ground->offset + vec3_dot(normal, ground_pose.t), low = -hull_top(hull, pose, down);
  Plane plane = plane_of(normal, 0.5 * (level + low));
  Polygon face = hull_face(hull, pose, down, search->tolerance, &plane);
  add_polygon(search, &plane, face);
  memory_free(face.corners);
}

/* Where the two faces that look at each other overlap; the middle of the nearest points where they are too small. */
static void touch_hulls(Search* search, const ModelHull* a, const ModelHull* b, const GjkResult* nearest) {
  Pose pose_a = search->poses[a->link], pose_b = search->poses[b->link];
  Vec3 n = nearest->normal, back = vec3_scale(n, -1);
  Vec3 middle = vec3_scale(vec3_add(nearest->witness_a, nearest->witness_b), 0.5);
  Plane plane = plane_of(vec3_norm(n) > 0 ? n : vec3(0, 0, 1), vec3_dot(n, middle));
  Polygon face_a = hull_face(a, pose_a, n, search->tolerance, &plane);
  Polygon face_b = hull_face(b, pose_b, back, search->tolerance, &plane);
  bool swap = face_b.count < 3;
  int room = 2 * (face_a.count + face_b.count) + 2;
  Flat *one = MEMORY_NEW(Flat, room), *two = MEMORY_NEW(Flat, room);
  Polygon frame = swap ? face_a : face_b, overlap = {0};
  if (frame.count >= 3 && vec3_norm(n) > 0) overlap = polygon_cut(swap ? face_b : face_a, frame, one, two);
  if (overlap.count > 0)
    add_polygon(search, &plane, overlap);
  else if (search->count < CONTACT_POINTS_MAX)
    search->points[search->count++] = middle;
  memory_free(face_a.corners);
  memory_free(face_b.corners);
  memory_free(one);
  memory_free(two);
}

static double pair_distance(const Search* search, const ModelHull* a, const ModelHull* b, GjkResult* nearest) {
  Pose pose_a = search->poses[a->link], pose_b = search->poses[b->link];
  *nearest = (GjkResult){0};
  if (a->half_space && b->half_space) return INFINITY;
  const ModelHull *ground = a->half_space ? a : b, *hull = a->half_space ? b : a;
  if (ground->half_space) {
    Vec3 normal = mat3_mul_vec(search->poses[ground->link].r, ground->normal);
    double level = ground->offset + vec3_dot(normal, search->poses[ground->link].t);
    return -hull_top(hull, search->poses[hull->link], vec3_scale(normal, -1)) - level;
  }
  double centers = vec3_norm(vec3_sub(pose_apply(pose_a, a->center), pose_apply(pose_b, b->center)));
  if (centers - a->radius - b->radius > search->reach) return INFINITY; /* GJK costs more */
  *nearest = gjk_distance(a->points, pose_a, b->points, pose_b, NULL);
  return nearest->distance;
}

static void touch(Search* search, const ModelHull* a, const ModelHull* b, const GjkResult* nearest) {
  if (a->half_space)
    touch_half_space(search, a, b);
  else if (b->half_space)
    touch_half_space(search, b, a);
  else
    touch_hulls(search, a, b, nearest);
}

/* Every pair of hulls that is as near as the nearest, whose gap is known, or nearer than the tolerance beyond it. */
int contact_points(const Model* model, const Pose* poses, int link_a, int link_b, double gap,
                   Vec3 points[CONTACT_POINTS_MAX]) {
  Search search = {model, poses, model->contact.support, gap + model->contact.support, points, 0};
  const ModelLink *a = &model->links[link_a], *b = &model->links[link_b];
  for (int i = 0; i < a->hull_count; i++)
    for (int k = 0; k < b->hull_count; k++) {
      const ModelHull *one = &model->hulls[a->hull_first + i], *two = &model->hulls[b->hull_first + k];
      GjkResult nearest;
      if (pair_distance(&search, one, two, &nearest) <= search.reach) touch(&search, one, two, &nearest);
    }
  return search.count;
}
