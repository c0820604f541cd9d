/* Vertices that hulls of a link share, so that the hulls stay connected, and joints stay on their links, when the
 * design changes (SDRS section III-B). */
#include <stdlib.h>
#include <string.h>

#include "optimize/design.h"

/* Two hulls overlap if the largest ball in their intersection has at least this radius, relative to the size of the
 * smaller hull. */
#define LEAST_OVERLAP 1e-3
/* Least radius of the same ball for two hulls of a decomposed mesh, relative to the size of the larger hull. The
 * overlaps of such hulls are small but intended. */
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
  s->items = memory_grow_array(s->items, sizeof(SharedVertex), s->count, &s->capacity);
  return &s->items[s->count++];
}

void shared_vertices_free(SharedVertices* s) {
  memory_free(s->items);
  *s = (SharedVertices){0};
}

/* Appends a point to the hull and returns the number of the point in the hull. */
static int append_point(Scene* scene, int link, int hull, Vec3 point) {
  SceneShape* shape = &scene->shapes[scene->links[link].shapes[hull].shape];
  size_t old = sizeof(Vec3) * (size_t)shape->point_count;
  shape->points = memory_resize(shape->points, old, old + sizeof(Vec3));
  shape->points[shape->point_count] = point;
  return shape->point_count++;
}

/* Returns the bounded hull of a link that is nearest to a point, and sets *distance to its distance [m]. Returns -1
 * if the link has no bounded hull. point: link frame [m]. */
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

/* ---------------------------------------------------------------- common corners */

typedef struct {
  Vec3 point;
  int hull, vertex;
} Corner;

static bool same_place(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Orders corners by position, then by hull, then by vertex (for qsort). */
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
    if (shape->tie != TIE_CORNERS) continue;
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
    } else if (b->hull !=
               corners[i - (i > first)].hull) { /* two corners of one hull at the same position are not shared */
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

/* ---------------------------------------------------------------- one vertex in the middle of a common face */

/* Sets *center to the mean of the corners that two hulls have in common. Returns false if they have fewer than three
 * common corners and so no common face. */
static bool face_center(const SceneShape* a, const SceneShape* b, Vec3* center) {
  int count = 0;
  Vec3 sum = {0, 0, 0};
  for (int i = 0; i < a->point_count; i++)
    for (int k = 0; k < b->point_count; k++)
      if (same_place(a->points[i], b->points[k])) {
        sum = vec3_add(sum, a->points[i]);
        count++;
      }
  *center = vec3_scale(sum, count > 0 ? 1.0 / count : 0);
  return count >= 3;
}

static void add_tie(Scene* scene, int link, int a, int b, Vec3 center, SharedVertices* shared) {
  int first = append_point(scene, link, a, center), second = append_point(scene, link, b, center);
  *add_shared(shared) =
      (SharedVertex){.link = link, .hull = {a, b}, .vertex = {first, second}, .child = -1, .position = center};
}

/* Inserts a shared vertex at the centre of each face that two hulls of the link have in common. Finds all faces
 * before it inserts vertices. */
static void join_faces(Scene* scene, int link, SharedVertices* shared) {
  int hulls = scene->links[link].shape_count, count = 0, capacity = 0;
  struct {
    int a, b;
    Vec3 center;
  }* found = NULL;
  for (int a = 0; a < hulls; a++)
    for (int b = a + 1; b < hulls; b++) {
      const SceneShape *x = design_hull(scene, link, a), *y = design_hull(scene, link, b);
      Vec3 center;
      if (x->tie != TIE_VERTEX || y->tie != TIE_VERTEX || !face_center(x, y, &center)) continue;
      found = memory_grow_array(found, sizeof(*found), count, &capacity);
      found[count].a = a, found[count].b = b, found[count++].center = center;
    }
  for (int k = 0; k < count; k++) add_tie(scene, link, found[k].a, found[k].b, found[k].center, shared);
  memory_free(found);
}

/* ---------------------------------------------------------------- ties in the scene */

static bool tie_fits(const Scene* scene, int link, const int tie[4]) {
  const SceneLink* l = &scene->links[link];
  for (int side = 0; side < 2; side++)
    if (tie[2 * side] >= l->shape_count || tie[2 * side + 1] >= design_hull(scene, link, tie[2 * side])->point_count)
      return false;
  const SceneShape *a = design_hull(scene, link, tie[0]), *b = design_hull(scene, link, tie[2]);
  return tie[0] != tie[2] && same_place(a->points[tie[1]], b->points[tie[3]]);
}

/* Appends the ties of the scene whose vertices still coincide to `shared`. connect_check_ties reports the other
 * ties. */
static void keep_ties(const Scene* scene, int link, SharedVertices* shared) {
  const SceneLink* l = &scene->links[link];
  for (int k = 0; l->ties && k < l->tie_count; k++) {
    const int* tie = l->ties[k];
    if (!tie_fits(scene, link, tie)) continue;
    *add_shared(shared) = (SharedVertex){.link = link,
                                         .hull = {tie[0], tie[2]},
                                         .vertex = {tie[1], tie[3]},
                                         .corner = true,
                                         .child = -1,
                                         .position = design_hull(scene, link, tie[0])->points[tie[1]]};
  }
}

/* Appends the vertex of the link at a joint to `shared`. Returns false if the link has vertices but none at the
 * joint. */
static bool keep_attachment(const Scene* scene, int link, int child, Vec3 point, SharedVertices* shared) {
  int points = 0;
  for (int h = 0; h < scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(scene, link, h);
    points += shape->point_count;
    for (int m = 0; m < shape->point_count; m++) {
      if (!same_place(shape->points[m], point)) continue;
      *add_shared(shared) =
          (SharedVertex){.link = link, .hull = {h, -1}, .vertex = {m, -1}, .child = child, .position = point};
      return true;
    }
  }
  return points == 0;
}

/* Appends the vertices at joints to `shared`. Returns the number of joints without a vertex, and sets *first to the
 * link of the first such joint. */
static int keep_attachments(const Scene* scene, const ConnectRequest* request, SharedVertices* shared, int* first) {
  int loose = 0;
  for (int i = 0; i < scene->link_count; i++) {
    int parent = scene->links[i].parent;
    if (parent < 0) continue;
    bool there = true;
    if (request->shapes[i]) there = keep_attachment(scene, i, i, vec3(0, 0, 0), shared);
    if (request->shapes[parent] || request->joints[i])
      there = keep_attachment(scene, parent, i, scene->links[i].joint.position, shared) && there;
    if (!there && loose++ == 0) *first = i;
  }
  return loose;
}

static void keep_all(const Scene* scene, const ConnectRequest* request, SharedVertices* shared) {
  int first;
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->follows[i] < 0) keep_ties(scene, i, shared);
  keep_attachments(scene, request, shared, &first);
}

static void check_ties(const Scene* scene, int link, SourcePosition place, Diagnostics* diagnostics) {
  const SceneLink* l = &scene->links[link];
  if (!l->ties) {
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, place,
        "design.connect is keep, but the scene has no 'ties' for the %d hulls of link '%s' (the best.scene.yaml "
        "of a design has them): set design.connect: true to connect the hulls, or set false or `ties: []` "
        "to leave the hulls unconnected",
        l->shape_count, l->name);
    return;
  }
  int lost = 0, first = 0;
  for (int k = l->tie_count - 1; k >= 0; k--)
    if (!tie_fits(scene, link, l->ties[k])) lost++, first = k;
  if (lost == 0) return;
  const int* tie = l->ties[first];
  diagnostics_add(diagnostics, SEVERITY_WARNING, l->place,
                  "link '%s': %d of %d ties are ignored, because their two vertices do not coincide; the first is "
                  "ties[%d], [%d, %d, %d, %d]",
                  l->name, lost, l->tie_count, first, tie[0], tie[1], tie[2], tie[3]);
}

void connect_check_ties(const Scene* scene, const ConnectRequest* request, SourcePosition place,
                        Diagnostics* diagnostics) {
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->follows[i] < 0 && scene->links[i].shape_count > 1)
      check_ties(scene, i, place, diagnostics);
  SharedVertices kept = {0};
  int first = 0, loose = keep_attachments(scene, request, &kept, &first);
  shared_vertices_free(&kept);
  if (loose > 0)
    diagnostics_add(diagnostics, SEVERITY_WARNING, place,
                    "design.connect is keep, but there is no vertex at %d of the joints of changing shapes (first: the "
                    "joint of link '%s'), so shapes may move away from their joints: set design.connect: true to add "
                    "the vertices",
                    loose, scene->links[first].name);
}

void connect_store_ties(Scene* scene, const SharedVertices* shared) {
  for (int i = 0; i < scene->link_count; i++) {
    SceneLink* l = &scene->links[i];
    int count = 0;
    for (int k = 0; k < shared->count; k++) count += shared->items[k].link == i && shared->items[k].hull[1] >= 0;
    memory_free(l->ties);
    l->ties = count > 0 || l->shape_count > 1 ? memory_alloc(sizeof *l->ties * (size_t)(count + 1))
                                              : NULL; /* also for a link of several hulls without ties */
    l->tie_count = 0;
    for (int k = 0; k < shared->count; k++) {
      const SharedVertex* v = &shared->items[k];
      if (v->link != i || v->hull[1] < 0) continue;
      const int tie[4] = {v->hull[0], v->vertex[0], v->hull[1], v->vertex[1]};
      memcpy(l->ties[l->tie_count++], tie, sizeof tie);
    }
  }
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
      if (design_hull(scene, link, a)->tie != TIE_CORNERS && design_hull(scene, link, b)->tie != TIE_CORNERS) continue;
      bool decomposed = is_decomposed(scene, link, a) && is_decomposed(scene, link, b);
      if (!intersection_center(&hulls[a].solid, &hulls[b].solid, decomposed, &center)) continue;
      int first = append_point(scene, link, a, center), second = append_point(scene, link, b, center);
      *add_shared(shared) =
          (SharedVertex){.link = link, .hull = {a, b}, .vertex = {first, second}, .child = -1, .position = center};
    }
}

/* Inserts the shared vertices of the leader `from` into the following link, mapped by `map`. Both links have the
 * same number of hulls. Shared corners need no entries, because they follow their leader. */
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
  if (request->keep) {
    keep_all(scene, request, shared);
    return;
  }
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->follows[i] < 0) {
      join_corners(scene, i, shared);
      join_faces(scene, i, shared);
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

/* ---------------------------------------------------------------- hulls without a shared vertex */

/* Two hulls count as touching up to this distance, relative to the size of the smaller hull. */
#define TOUCHING 1e-6

/* Sets pair[2] to two touching hulls of a link that are not connected by a chain of shared vertices. Returns false
 * if there are none. */
static bool find_loose(const Model* model, int link, const SharedVertices* shared, int pair[2]) {
  const ModelHull* hulls = model->hulls + model->links[link].hull_first;
  int count = model->links[link].hull_count, *set = MEMORY_NEW(int, count + 1);
  bool found = false;
  disjoint_sets_init(set, count);
  for (int k = 0; k < shared->count; k++) {
    const SharedVertex* v = &shared->items[k];
    if (v->link == link && v->child < 0) disjoint_sets_unite(set, v->hull[0], v->hull[1]);
  }
  for (int a = 0; a < count && !found; a++)
    for (int b = a + 1; b < count && !found; b++) {
      if (disjoint_sets_find(set, a) == disjoint_sets_find(set, b) || !hulls[a].kind->bounded ||
          !hulls[b].kind->bounded)
        continue;
      double size = fmin(hull_size(&hulls[a].solid), hull_size(&hulls[b].solid));
      found = gjk_distance(hulls[a].points, pose_identity(), hulls[b].points, pose_identity(), NULL).distance <=
              TOUCHING * size;
      if (found) pair[0] = a, pair[1] = b;
    }
  memory_free(set);
  return found;
}

void connect_warn_unconnected(const Scene* scene, const Model* model, const ConnectRequest* request,
                              const SharedVertices* shared, Diagnostics* diagnostics) {
  int pair[2];
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->follows[i] < 0 && find_loose(model, i, shared, pair))
      diagnostics_add(diagnostics, SEVERITY_WARNING, scene->links[i].place,
                      "link '%s': shapes %d and %d touch but do not overlap, so no shared vertex connects them and the "
                      "design may separate them: let them overlap by more than %g of the smaller one's size",
                      scene->links[i].name, pair[0], pair[1], LEAST_OVERLAP);
}
