/* Vertices that hulls of a link share, so that hulls and joints stay connected when the design changes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/design.h"

/* Smallest radius of the largest ball in the intersection of two overlapping hulls, relative to the size of the smaller
 * hull. */
#define OVERLAP_MIN 1e-3
/* Smallest radius of the largest ball in the intersection of two hulls of a decomposed mesh, relative to the size of
 * the larger hull. Their overlaps are small but intended. */
#define DECOMPOSED_OVERLAP_MIN 1e-6
/* Largest distance of touching hulls and of equal corners, relative to the size of the smaller hull. Corners of boxes
 * that touch differ by rounding. */
#define TOUCH_TOLERANCE 1e-6

bool intersection_center(const ConvexHull* a, const ConvexHull* b, bool decomposed, Vec3* center) {
  assert(a && b && center && a->vertex_count > 0 && b->vertex_count > 0);
  double radius, sizes[2] = {hull_size(a), hull_size(b)};
  double least =
      decomposed ? DECOMPOSED_OVERLAP_MIN * fmax(sizes[0], sizes[1]) : OVERLAP_MIN * fmin(sizes[0], sizes[1]);
  return hulls_common_ball(a, b, center, &radius) && radius > least;
}

static SharedVertex* append_shared(SharedVertices* s) {
  s->items = memory_grow_array(s->items, sizeof(SharedVertex), s->count, &s->capacity);
  return &s->items[s->count++];
}

void shared_vertices_free(SharedVertices* s) {
  memory_free(s->items);
  *s = (SharedVertices){0};
}

/* Appends a point to a hull and returns its index. */
static int append_point(Scene* scene, int link, int hull, Vec3 point) {
  SceneShape* shape = &scene->shapes[scene->links[link].shapes[hull].shape];
  size_t old = sizeof(Vec3) * (size_t)shape->point_count;
  shape->points = memory_resize(shape->points, old, old + sizeof(Vec3));
  shape->points[shape->point_count] = point;
  return shape->point_count++;
}

/* Returns the bounded hull of a link nearest to a point and its distance [m], or -1 without bounded hulls. point: link
 * frame [m]. */
static int find_nearest_hull(const Model* model, int link, Vec3 point, double* distance) {
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

static void insert_joint_vertex(Scene* scene, const Model* model, int link, int child, Vec3 point,
                                SharedVertices* shared) {
  assert(link >= 0 && link < scene->link_count);
  double outside;
  int hull = find_nearest_hull(model, link, point, &outside);
  if (hull < 0) return;
  int vertex = append_point(scene, link, hull, point);
  *append_shared(shared) = (SharedVertex){
      .link = link, .hull = {hull, -1}, .vertex = {vertex, -1}, .child = child, .position = point, .outside = outside};
}

typedef struct {
  Vec3 point;
  int hull, vertex;
} Corner;

static bool is_equal_position(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Comparison for qsort: by position, then hull, then vertex. */
static int compare_corners(const void* a, const void* b) {
  const Corner *p = a, *q = b;
  const double u[3] = {p->point.x, p->point.y, p->point.z}, v[3] = {q->point.x, q->point.y, q->point.z};
  for (int k = 0; k < 3; k++)
    if (u[k] != v[k]) return u[k] < v[k] ? -1 : 1;
  if (p->hull != q->hull) return p->hull < q->hull ? -1 : 1;
  return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static int collect_corners(const Scene* scene, int link, bool all, Corner* corners) {
  int count = 0;
  for (int h = 0; h < scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(scene, link, h);
    if (!all && shape->tie != TIE_CORNERS) continue;
    for (int m = 0; m < shape->point_count; m++) {
      if (corners) corners[count] = (Corner){shape->points[m], h, m};
      count++;
    }
  }
  return count;
}

static double smallest_hull_size(const Model* model, int link) {
  double size = HUGE_VAL;
  for (int k = 0; k < model->links[link].hull_count; k++) {
    const ModelHull* hull = &model->hulls[model->links[link].hull_first + k];
    if (hull->kind->bounded) size = fmin(size, hull_size(&hull->solid));
  }
  return size;
}

/* Moves corners of a link that differ by rounding to the same position, so that hulls can share them. */
static void unify_corners(Scene* scene, const Model* model, int link) {
  double tolerance = TOUCH_TOLERANCE * smallest_hull_size(model, link);
  int count = collect_corners(scene, link, true, NULL);
  if (!isfinite(tolerance)) return;
  Corner* corners = MEMORY_NEW(Corner, count);
  collect_corners(scene, link, true, corners);
  qsort(corners, (size_t)count, sizeof(Corner), compare_corners);
  for (int i = 0; i < count; i++)
    for (int k = i - 1; k >= 0 && corners[i].point.x - corners[k].point.x <= tolerance; k--) {
      if (vec3_norm(vec3_sub(corners[i].point, corners[k].point)) > tolerance) continue;
      corners[i].point = corners[k].point;
      scene->shapes[scene->links[link].shapes[corners[i].hull].shape].points[corners[i].vertex] = corners[k].point;
      break;
    }
  memory_free(corners);
}

static void share_corners(const Scene* scene, int link, SharedVertices* shared) {
  int count = collect_corners(scene, link, false, NULL);
  Corner* corners = MEMORY_NEW(Corner, count);
  collect_corners(scene, link, false, corners);
  qsort(corners, (size_t)count, sizeof(Corner), compare_corners);
  for (int i = 0, first = 0; i < count; i++) {
    const Corner *a = &corners[first], *b = &corners[i];
    if (!is_equal_position(a->point, b->point)) {
      first = i;
    } else if (b->hull !=
               corners[i - (i > first)].hull) { /* two corners of one hull at the same position are not shared */
      *append_shared(shared) = (SharedVertex){.link = link,
                                              .hull = {a->hull, b->hull},
                                              .vertex = {a->vertex, b->vertex},
                                              .corner = true,
                                              .child = -1,
                                              .position = a->point};
    }
  }
  memory_free(corners);
}

/* ---------------------------------------------------------------- vertices at the centres of common faces */

/* Sets *center to the mean of the corners that two hulls have in common. Returns false if they have fewer than three
 * common corners and so no common face. */
static bool common_face_center(const SceneShape* a, const SceneShape* b, Vec3* center) {
  int count = 0;
  Vec3 sum = {0, 0, 0};
  for (int i = 0; i < a->point_count; i++)
    for (int k = 0; k < b->point_count; k++)
      if (is_equal_position(a->points[i], b->points[k])) {
        sum = vec3_add(sum, a->points[i]);
        count++;
      }
  *center = vec3_scale(sum, count > 0 ? 1.0 / count : 0);
  return count >= 3;
}

static void insert_tied_vertex(Scene* scene, int link, int a, int b, Vec3 center, SharedVertices* shared) {
  int first = append_point(scene, link, a, center), second = append_point(scene, link, b, center);
  *append_shared(shared) =
      (SharedVertex){.link = link, .hull = {a, b}, .vertex = {first, second}, .child = -1, .position = center};
}

/* Inserts a shared vertex at the centre of each face that two hulls have in common. Finds all faces before it inserts
 * vertices. */
static void insert_face_vertices(Scene* scene, int link, SharedVertices* shared) {
  int hulls = scene->links[link].shape_count, count = 0, capacity = 0;
  struct {
    int a, b;
    Vec3 center;
  }* found = NULL;
  for (int a = 0; a < hulls; a++)
    for (int b = a + 1; b < hulls; b++) {
      const SceneShape *x = design_hull(scene, link, a), *y = design_hull(scene, link, b);
      Vec3 center;
      if (x->tie != TIE_VERTEX || y->tie != TIE_VERTEX || !common_face_center(x, y, &center)) continue;
      found = memory_grow_array(found, sizeof(*found), count, &capacity);
      found[count].a = a, found[count].b = b, found[count++].center = center;
    }
  for (int k = 0; k < count; k++) insert_tied_vertex(scene, link, found[k].a, found[k].b, found[k].center, shared);
  memory_free(found);
}

static bool tie_is_valid(const Scene* scene, int link, const int tie[4]) {
  const SceneLink* l = &scene->links[link];
  for (int side = 0; side < 2; side++)
    if (tie[2 * side] >= l->shape_count || tie[2 * side + 1] >= design_hull(scene, link, tie[2 * side])->point_count)
      return false;
  const SceneShape *a = design_hull(scene, link, tie[0]), *b = design_hull(scene, link, tie[2]);
  return tie[0] != tie[2] && is_equal_position(a->points[tie[1]], b->points[tie[3]]);
}

/* Appends the tied vertices that the scene lists, if they coincide. connect_check_ties reports the others. */
static void append_ties(const Scene* scene, int link, SharedVertices* shared) {
  const SceneLink* l = &scene->links[link];
  for (int k = 0; l->ties && k < l->tie_count; k++) {
    const int* tie = l->ties[k];
    if (!tie_is_valid(scene, link, tie)) continue;
    *append_shared(shared) = (SharedVertex){.link = link,
                                            .hull = {tie[0], tie[2]},
                                            .vertex = {tie[1], tie[3]},
                                            .corner = true,
                                            .child = -1,
                                            .position = design_hull(scene, link, tie[0])->points[tie[1]]};
  }
}

/* Appends the vertex of the link at a joint. Returns false if the link has vertices but none at the joint. */
static bool append_joint_vertex(const Scene* scene, int link, int child, Vec3 point, SharedVertices* shared) {
  int points = 0;
  for (int h = 0; h < scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(scene, link, h);
    points += shape->point_count;
    for (int m = 0; m < shape->point_count; m++) {
      if (!is_equal_position(shape->points[m], point)) continue;
      *append_shared(shared) =
          (SharedVertex){.link = link, .hull = {h, -1}, .vertex = {m, -1}, .child = child, .position = point};
      return true;
    }
  }
  return points == 0;
}

/* Appends the vertices at joints. Returns the number of joints without a vertex and the link of the first such joint,
 * *first. */
static int append_joint_vertices(const Scene* scene, const ConnectRequest* request, SharedVertices* shared,
                                 int* first) {
  int loose = 0;
  for (int i = 0; i < scene->link_count; i++) {
    int parent = scene->links[i].parent;
    if (parent < 0) continue;
    bool appended = true;
    if (request->shapes[i]) appended = append_joint_vertex(scene, i, i, vec3(0, 0, 0), shared);
    if (request->shapes[parent] || request->joints[i])
      appended = append_joint_vertex(scene, parent, i, scene->links[i].joint.position, shared) && appended;
    if (!appended && loose++ == 0) *first = i;
  }
  return loose;
}

static void append_existing(const Scene* scene, const ConnectRequest* request, SharedVertices* shared) {
  int first;
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->leader[i] < 0) append_ties(scene, i, shared);
  append_joint_vertices(scene, request, shared, &first);
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
    if (!tie_is_valid(scene, link, l->ties[k])) lost++, first = k;
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
    if (request->shapes[i] && request->leader[i] < 0 && scene->links[i].shape_count > 1)
      check_ties(scene, i, place, diagnostics);
  SharedVertices kept = {0};
  int first = 0, loose = append_joint_vertices(scene, request, &kept, &first);
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
                                              : NULL; /* also for a link of several hulls without tied vertices */
    l->tie_count = 0;
    for (int k = 0; k < shared->count; k++) {
      const SharedVertex* v = &shared->items[k];
      if (v->link != i || v->hull[1] < 0) continue;
      const int tie[4] = {v->hull[0], v->vertex[0], v->hull[1], v->vertex[1]};
      memcpy(l->ties[l->tie_count++], tie, sizeof tie);
    }
  }
}

static bool hull_is_decomposed(const Scene* scene, int link, int hull) {
  return scene->shapes[scene->links[link].shapes[hull].shape].decomposed;
}

static void insert_overlap_vertices(Scene* scene, const Model* model, int link, SharedVertices* shared) {
  const ModelHull* hulls = model->hulls + model->links[link].hull_first;
  for (int a = 0; a < model->links[link].hull_count; a++)
    for (int b = a + 1; b < model->links[link].hull_count; b++) {
      Vec3 center;
      if (!hulls[a].kind->bounded || !hulls[b].kind->bounded) continue;
      if (design_hull(scene, link, a)->tie != TIE_CORNERS && design_hull(scene, link, b)->tie != TIE_CORNERS) continue;
      bool decomposed = hull_is_decomposed(scene, link, a) && hull_is_decomposed(scene, link, b);
      if (!intersection_center(&hulls[a].solid, &hulls[b].solid, decomposed, &center)) continue;
      int first = append_point(scene, link, a, center), second = append_point(scene, link, b, center);
      *append_shared(shared) =
          (SharedVertex){.link = link, .hull = {a, b}, .vertex = {first, second}, .child = -1, .position = center};
    }
}

/* Inserts the shared vertices of a link (leader) into its mirror image. map: matrix of the reflection. Both links have
 * equal numbers of hulls. Corners that hulls of the leader share get no entry. */
static void copy_leader_vertices(Scene* scene, int link, int from, Mat3 map, SharedVertices* shared) {
  int count = shared->count;
  for (int k = 0; k < count; k++) {
    SharedVertex v = shared->items[k];
    if (v.link != from || v.child >= 0 || v.corner) continue;
    v.link = link;
    v.position = mat3_mul_vec(map, v.position);
    for (int side = 0; side < 2; side++) v.vertex[side] = append_point(scene, link, v.hull[side], v.position);
    *append_shared(shared) = v;
  }
}

void connect_hulls(Scene* scene, const Model* model, const ConnectRequest* request, SharedVertices* shared) {
  assert(scene && model && request && shared);
  if (request->keep_ties) {
    append_existing(scene, request, shared);
    return;
  }
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->leader[i] < 0) {
      unify_corners(scene, model, i);
      share_corners(scene, i, shared);
      insert_face_vertices(scene, i, shared);
      insert_overlap_vertices(scene, model, i, shared);
    }
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->leader[i] >= 0)
      copy_leader_vertices(scene, i, request->leader[i], request->map[i], shared);
  for (int i = 0; i < scene->link_count; i++) {
    int parent = model->links[i].parent;
    if (parent < 0) continue;
    if (request->shapes[i]) insert_joint_vertex(scene, model, i, i, vec3(0, 0, 0), shared);
    if (request->shapes[parent] || request->joints[i])
      insert_joint_vertex(scene, model, parent, i, scene->links[i].joint.position, shared);
  }
}

/* Finds two touching hulls of a link that no chain of shared vertices connects: pair[2]. Returns false if there are
 * none. */
static bool find_unconnected(const Model* model, int link, const SharedVertices* shared, int pair[2]) {
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
              TOUCH_TOLERANCE * size;
      if (found) pair[0] = a, pair[1] = b;
    }
  memory_free(set);
  return found;
}

void connect_warn_unconnected(const Scene* scene, const Model* model, const ConnectRequest* request,
                              const SharedVertices* shared, Diagnostics* diagnostics) {
  int pair[2];
  for (int i = 0; i < scene->link_count; i++)
    if (request->shapes[i] && request->leader[i] < 0 && find_unconnected(model, i, shared, pair))
      diagnostics_add(diagnostics, SEVERITY_WARNING, scene->links[i].place,
                      "link '%s': shapes %d and %d touch but do not overlap, so no shared vertex connects them and the "
                      "design may separate them: let them overlap by more than %g of the smaller one's size",
                      scene->links[i].name, pair[0], pair[1], OVERLAP_MIN);
}
