/* Shared vertices: convexity then keeps a link in one piece and joints on their links, whatever the design does (SDRS
 * section III-B). */
#include <stdlib.h>
#include <string.h>

#include "optimize/design.h"

/* A ball smaller than this part of the smaller hull's size is no overlap to rely on. */
#define LEAST_OVERLAP 1e-3
/* Of hulls of a decomposed mesh: what a decomposition counts as overlap, or less. */
#define LEAST_DECOMPOSED_OVERLAP 1e-6

/* ---------------------------------------------------------------- the middle of an intersection */

bool intersection_center(const ConvexHull* a, const ConvexHull* b, bool decomposed, Vec3* center) {
  double radius, sizes[2] = {hull_size(a), hull_size(b)};
  double least =
      decomposed ? LEAST_DECOMPOSED_OVERLAP * fmax(sizes[0], sizes[1]) : LEAST_OVERLAP * fmin(sizes[0], sizes[1]);
  return hulls_common_ball(a, b, center, &radius) && radius > least;
}

/* ---------------------------------------------------------------- insertion */

static SharedVertex* add_shared(SharedVertices* s) {
  s->items = memory_grown(s->items, sizeof(SharedVertex), s->count, &s->capacity);
  return &s->items[s->count++];
}

void shared_vertices_free(SharedVertices* s) {
  memory_free(s->items);
  *s = (SharedVertices){0};
}

/* Returns the new vertex's number in its hull. */
static int append_point(Scene* scene, int link, int hull, Vec3 point) {
  SceneShape* shape = &scene->shapes[scene->links[link].shapes[hull].shape];
  size_t old = sizeof(Vec3) * (size_t)shape->point_count;
  shape->points = memory_resize(shape->points, old, old + sizeof(Vec3));
  shape->points[shape->point_count] = point;
  return shape->point_count++;
}

/* The bounded hull of a link nearest to a point; -1 when there is none. */
static int nearest_hull(const Model* model, int link, Vec3 point, double* distance) {
  int best = -1;
  *distance = HUGE_VAL;
  for (int k = 0; k < model->links[link].hull_count; k++) {
    const ModelHull* hull = &model->hulls[model->links[link].hull_first + k];
    double d = hull->kind->bounded ? gjk_point_distance(hull->points, point) : HUGE_VAL;
    if (!(d < *distance)) continue;
    *distance = d;
    best = k;
  }
  return best;
}

static void attach(Scene* scene, const Model* model, int link, int child, Vec3 point, SharedVertices* shared) {
  double outside;
  int hull = nearest_hull(model, link, point, &outside);
  if (hull < 0) return;
  int vertex = append_point(scene, link, hull, point);
  *add_shared(shared) = (SharedVertex){
      .link = link, .hull = {hull, -1}, .vertex = {vertex, -1}, .child = child, .position = point, .outside = outside};
}

/* ---------------------------------------------------------------- corners in common */

typedef struct {
  Vec3 point;
  int hull, vertex;
} Corner;

static bool same_place(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* By place, then in the order of hulls. */
static int order_corners(const void* a, const void* b) {
  const Corner *p = a, *q = b;
  const double u[3] = {p->point.x, p->point.y, p->point.z}, v[3] = {q->point.x, q->point.y, q->point.z};
  for (int k = 0; k < 3; k++)
    if (u[k] != v[k]) return u[k] < v[k] ? -1 : 1;
  if (p->hull != q->hull) return p->hull < q->hull ? -1 : 1;
  return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static int list_corners(const Scene* scene, int link, Corner* corners) {
  int count = 0;
  for (int h = 0; h < scene->links[link].shape_count; h++) {
    const SceneShape* shape = &scene->shapes[scene->links[link].shapes[h].shape];
    for (int m = 0; m < shape->point_count; m++) {
      if (corners) corners[count] = (Corner){shape->points[m], h, m};
      count++;
    }
  }
  return count;
}

static void join_corners(const Scene* scene, int link, SharedVertices* shared) {
  int count = list_corners(scene, link, NULL);
  Corner* corners = MEMORY_NEW(Corner, count);
  list_corners(scene, link, corners);
  qsort(corners, (size_t)count, sizeof(Corner), order_corners);
  for (int i = 0, first = 0; i < count; i++) {
    const Corner *a = &corners[first], *b = &corners[i];
    if (!same_place(a->point, b->point)) {
      first = i;
    } else if (b->hull != corners[i - (i > first)].hull) { /* a place that stands twice in one hull is left alone */
      *add_shared(shared) = (SharedVertex){.link = link,
                                           .hull = {a->hull, b->hull},
                                           .vertex = {a->vertex, b->vertex},
                                           .corner = true,
                                           .child = -1,
                                           .position = a->point};
    }
  }
  memory_free(corners);
}

/* ---------------------------------------------------------------- overlaps */

static bool is_decomposed(const Scene* scene, int link, int hull) {
  return scene->shapes[scene->links[link].shapes[hull].shape].decomposed;
}

static void join_hulls(Scene* scene, const Model* model, int link, SharedVertices* shared) {
  const ModelHull* hulls = model->hulls + model->links[link].hull_first;
  for (int a = 0; a < model->links[link].hull_count; a++)
    for (int b = a + 1; b < model->links[link].hull_count; b++) {
      Vec3 center;
      if (!hulls[a].kind->bounded || !hulls[b].kind->bounded) continue;
      bool decomposed = is_decomposed(scene, link, a) && is_decomposed(scene, link, b);
      if (!intersection_center(&hulls[a].solid, &hulls[b].solid, decomposed, &center)) continue;
      int first = append_point(scene, link, a, center), second = append_point(scene, link, b, center);
      *add_shared(shared) =
          (SharedVertex){.link = link, .hull = {a, b}, .vertex = {first, second}, .child = -1, .position = center};
    }
}

/* The same vertices as in the link that is followed, mapped; it has as many hulls. Its corners in common follow by
 * themselves. */
static void copy_joined(Scene* scene, int link, int from, Mat3 map, SharedVertices* shared) {
  int count = shared->count;
  for (int k = 0; k < count; k++) {
    SharedVertex v = shared->items[k];
    if (v.link != from || v.child >= 0 || v.corner) continue;
    v.link = link;
    v.position = mat3_mul_vec(map, v.position);
    for (int side = 0; side < 2; side++) v.vertex[side] = append_point(scene, link, v.hull[side], v.position);
    *add_shared(shared) = v;
  }
}

void connect_hulls(Scene* scene, const Model* model, const ConnectRequest* request, SharedVertices* shared) {
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->follows[i] < 0) {
      join_corners(scene, i, shared);
      join_hulls(scene, model, i, shared);
    }
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->follows[i] >= 0)
      copy_joined(scene, i, request->follows[i], request->map[i], shared);
  for (int i = 0; i < scene->link_count; i++) {
    int parent = model->links[i].parent;
    if (parent < 0) continue;
    if (request->shapes[i]) attach(scene, model, i, i, vec3(0, 0, 0), shared);
    if (request->shapes[parent] || request->joints[i])
      attach(scene, model, parent, i, scene->links[i].joint.position, shared);
  }
}
