/* Converts the faces of a union to triangles with shared corners (docs/derivations/union.md, U4). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/union.h"

/* A corner is removed if its distance from the line through its neighbours is below this value [unit frame]. Exact
 * planes are rounded by 1e-12, and their intersections at small angles by more. Removing many such corners changes the
 * surface by a negligible amount. */
#define STRAIGHT 1e-9
/* Direction along which points are sorted. Usual solids have no face perpendicular to this direction. */
static const Vec3 SORT_AXIS = {0.5257311121191336, 0.7236067977499790, 0.4472135954999579};

/* Exact points are found by their rounded positions with this tolerance [unit frame]. The rounded positions have an
 * error of about 1e-15. */
#define ROUNDING 1e-12

/* Largest length of an edge that is contracted because surfaces touch along it [weld distances]. */
#define SHORT_EDGE 30
/* Largest number of passes that insert points into edges. An edge with an inserted point can come near other points.
 * One or two passes are usually enough. */
enum { BEND_PASSES = 4 };

/* A face as a loop of point indices, counter-clockwise from outside. The loop is convex up to the weld distance. */
typedef struct {
  PlaneSide side;
  int* ids;
  int count;
} WeldLoop;

typedef struct {
  const ExactPlane* planes;
  const Vec3* normals;
  double weld;
  /* corners of the hulls, followed by corners of the faces */
  Vec3* points;
  const ExactPoint** exact; /* exact corners of faces, borrowed; NULL for corners of hulls */
  int* set;                 /* union-find sets of equal or joined points, see disjoint_sets_find */
  int point_count;
  double* keys; /* positions of the sorted points along SORT_AXIS, ascending */
  int *sorted, sorted_count;
  WeldLoop* loops;
  int loop_count, loop_capacity;
} Patchwork;

static Vec3 loop_normal(const Patchwork* work, PlaneSide side) {
  return vec3_scale(work->normals[side.plane], side.flipped ? -1 : 1);
}

static void add_loop(Patchwork* work, PlaneSide side, const int* ids, int count) {
  work->loops = memory_grow_array(work->loops, sizeof(WeldLoop), work->loop_count, &work->loop_capacity);
  WeldLoop loop = {side, MEMORY_NEW(int, count + 1), count};
  assert(ids);
  memcpy(loop.ids, ids, sizeof(int) * (size_t)count);
  work->loops[work->loop_count++] = loop;
}

static void patchwork_free(Patchwork* work) {
  for (int i = 0; i < work->loop_count; i++) memory_free(work->loops[i].ids);
  memory_free(work->loops);
  memory_free(work->points);
  memory_free(work->exact);
  memory_free(work->set);
  memory_free(work->keys);
  memory_free(work->sorted);
}

/* ---------------------------------------------------------------- points */

typedef struct {
  double key;
  int point;
} SortedPoint;

static int compare_keys(const void* left, const void* right) {
  const SortedPoint *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->point - b->point;
}

static SortedPoint* sort_points(const Patchwork* work) {
  SortedPoint* sorted = MEMORY_NEW(SortedPoint, work->point_count + 1);
  for (int i = 0; i < work->point_count; i++) sorted[i] = (SortedPoint){vec3_dot(SORT_AXIS, work->points[i]), i};
  qsort(sorted, (size_t)work->point_count, sizeof *sorted, compare_keys);
  return sorted;
}

static bool on_planes(const Patchwork* work, const int* planes, int count, int point) {
  for (int k = 0; k < count; k++)
    if (exact_side(&work->planes[planes[k]], work->exact[point]) != 0) return false;
  return true;
}

static int before(const UnionFace* face, int i) { return i > 0 ? i - 1 : face->count - 1; }

/* Joins equal corners of faces. Two points are equal if one lies on the three planes that define the other. */
static void match_equal_points(Patchwork* work, const FaceList* faces, int first) {
  int(*meeting)[3] = (int(*)[3])memory_alloc(sizeof *meeting * (size_t)(work->point_count + 1));
  for (int f = 0, place = first; f < faces->count; f++)
    for (int i = 0; i < faces->items[f].count; i++, place++) {
      const UnionFace* face = &faces->items[f];
      meeting[place][0] = face->side.plane;
      meeting[place][1] = face->edges[i];
      meeting[place][2] = face->edges[before(face, i)];
    }
  SortedPoint* sorted = sort_points(work);
  for (int i = 0; i < work->point_count; i++)
    for (int j = i + 1; j < work->point_count && sorted[j].key - sorted[i].key <= ROUNDING; j++) {
      int p = sorted[i].point, q = sorted[j].point;
      if (!work->exact[p] || !work->exact[q] || disjoint_sets_find(work->set, p) == disjoint_sets_find(work->set, q))
        continue;
      if (vec3_norm(vec3_sub(work->points[p], work->points[q])) > ROUNDING) continue;
      if (on_planes(work, meeting[p], 3, q)) disjoint_sets_unite(work->set, p, q);
    }
  memory_free(sorted);
  memory_free(meeting);
}

/* Sorts the points with wanted[point] set along SORT_AXIS, so that points on edges are found by bisection. */
static void sort_wanted_points(Patchwork* work, const bool* wanted) {
  SortedPoint* sorted = sort_points(work);
  work->sorted_count = 0;
  for (int i = 0; i < work->point_count; i++) {
    int point = sorted[i].point;
    if (!wanted[point]) continue;
    work->keys[work->sorted_count] = sorted[i].key;
    work->sorted[work->sorted_count++] = point;
  }
  memory_free(sorted);
}

/* Joins points closer to each other than the weld distance. A set is represented by its smallest index, which is a
 * hull's corner if the set contains one. */
static void join_near_points(Patchwork* work) {
  SortedPoint* sorted = sort_points(work);
  for (int i = 0; i < work->point_count; i++)
    for (int j = i + 1; j < work->point_count && sorted[j].key - sorted[i].key <= work->weld; j++)
      if (vec3_norm(vec3_sub(work->points[sorted[i].point], work->points[sorted[j].point])) <= work->weld)
        disjoint_sets_unite(work->set, sorted[i].point, sorted[j].point);
  memory_free(sorted);
}

static Patchwork patchwork_create(const WeldInput* input) {
  Patchwork work = {.planes = input->planes, .normals = input->normals, .weld = input->weld};
  const FaceList* faces = input->faces;
  work.point_count = input->corner_count;
  for (int f = 0; f < faces->count; f++) work.point_count += faces->items[f].count;
  work.points = MEMORY_NEW(Vec3, work.point_count + 1);
  work.exact = (const ExactPoint**)memory_alloc(sizeof(ExactPoint*) * (size_t)(work.point_count + 1));
  work.set = MEMORY_NEW(int, work.point_count + 1);
  work.keys = MEMORY_NEW(double, work.point_count + 1);
  work.sorted = MEMORY_NEW(int, work.point_count + 1);
  int place = input->corner_count;
  memcpy(work.points, input->corners, sizeof(Vec3) * (size_t)place);
  for (int f = 0; f < faces->count; f++)
    for (int i = 0; i < faces->items[f].count; i++, place++) {
      work.exact[place] = &faces->items[f].points[i];
      work.points[place] = exact_position(work.exact[place]);
    }
  disjoint_sets_init(work.set, work.point_count);
  match_equal_points(&work, faces, input->corner_count);
  bool* wanted = MEMORY_NEW(bool, work.point_count + 1);
  for (int i = 0; i < work.point_count; i++) wanted[i] = work.exact[i] && disjoint_sets_find(work.set, i) == i;
  sort_wanted_points(&work, wanted);
  memory_free(wanted);
  return work;
}

/* ---------------------------------------------------------------- points on edges */

typedef struct {
  double along;
  int point;
} OnEdge;

static int compare_along(const void* left, const void* right) {
  const OnEdge *a = left, *b = right;
  if (a->along != b->along) return a->along < b->along ? -1 : 1;
  return a->point - b->point;
}

static int first_key_from(const Patchwork* work, double key) {
  int low = 0, high = work->sorted_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (work->keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Lists the points on the edge between a and b, in order. With planes, the points must lie exactly on both planes of
 * the edge. Without planes (NULL), points within `room` of the edge are listed. found has space for all points. Returns
 * their number. */
static int points_on_edge(const Patchwork* work, int a, int b, const int* planes, double room, OnEdge* found) {
  Vec3 p = work->points[a], edge = vec3_sub(work->points[b], p);
  double square = vec3_dot(edge, edge), key_a = vec3_dot(SORT_AXIS, p), key_b = key_a + vec3_dot(SORT_AXIS, edge);
  double last = fmax(key_a, key_b) + room;
  int count = 0;
  for (int i = first_key_from(work, fmin(key_a, key_b) - room); i < work->sorted_count; i++) {
    if (work->keys[i] > last) break;
    int c = work->sorted[i];
    Vec3 to = vec3_sub(work->points[c], p);
    double along = vec3_dot(to, edge) / square;
    if (c == a || c == b || !(along > 0 && along < 1)) continue;
    if (vec3_norm(vec3_add_scaled(to, -along, edge)) > room) continue;
    if (!planes || on_planes(work, planes, 2, c)) found[count++] = (OnEdge){along, c};
  }
  qsort(found, (size_t)count, sizeof *found, compare_along);
  return count;
}

/* List of point indices that grows as needed. */
typedef struct {
  int* ids;
  int count, capacity;
} IdList;

static void id_add(IdList* list, int id) {
  list->ids = memory_grow_array(list->ids, sizeof(int), list->count, &list->capacity);
  list->ids[list->count++] = id;
}

/* Removes repeated points (a a) and spikes (a b a) from the loop until none is left. */
static void drop_spikes(IdList* list) {
  for (int i = 0, clean = 0; list->count > 0 && clean < list->count;) {
    int n = list->count, next = (i + 1) % n, second = (i + 2) % n;
    bool repeat = list->ids[i] == list->ids[next], spike = n > 1 && list->ids[i] == list->ids[second];
    if (n <= 2) {
      list->count = 0;
    } else if (repeat || spike) {
      memmove(list->ids + next, list->ids + next + 1, sizeof(int) * (size_t)(n - next - 1));
      list->count--;
      i = (i + list->count - 2) % list->count;
      clean = 0;
    } else {
      i = next;
      clean++;
    }
  }
}

/* Adds a loop to the patchwork. A loop that visits a point twice is divided into two loops. */
static void add_simple_loops(Patchwork* work, PlaneSide side, IdList* list) {
  drop_spikes(list);
  for (int i = 0; i < list->count; i++)
    for (int j = i + 1; j < list->count; j++) {
      if (list->ids[i] != list->ids[j]) continue;
      IdList part = {0};
      for (int k = i; k < j; k++) id_add(&part, list->ids[k]);
      memmove(list->ids + i, list->ids + j, sizeof(int) * (size_t)(list->count - j));
      list->count -= j - i;
      add_simple_loops(work, side, &part);
      add_simple_loops(work, side, list);
      memory_free(part.ids);
      return;
    }
  if (list->count >= 3) add_loop(work, side, list->ids, list->count);
}

/* Adds the loop of a face, including the points on its edges. Edges of neighbouring faces then coincide, and each edge
 * occurs equally often in both directions. Joining points preserves this property. */
static void add_face(Patchwork* work, const UnionFace* face, int first, OnEdge* found, IdList* list) {
  list->count = 0;
  for (int i = 0; i < face->count; i++) {
    int a = disjoint_sets_find(work->set, first + i), b = disjoint_sets_find(work->set, first + (i + 1) % face->count);
    const int planes[2] = {face->side.plane, face->edges[i]};
    id_add(list, a);
    int inserted = a == b ? 0 : points_on_edge(work, a, b, planes, ROUNDING, found);
    for (int k = 0; k < inserted; k++) id_add(list, found[k].point);
  }
  add_loop(work, face->side, list->ids, list->count);
}

static void make_loops(Patchwork* work, const FaceList* faces, int first) {
  OnEdge* found = MEMORY_NEW(OnEdge, work->sorted_count + 1);
  IdList list = {0};
  for (int f = 0; f < faces->count; first += faces->items[f++].count)
    add_face(work, &faces->items[f], first, found, &list);
  memory_free(list.ids);
  memory_free(found);
}

/* Returns the loops and removes them from the patchwork. The caller frees the loops and their indices. */
static WeldLoop* take_loops(Patchwork* work, int* count) {
  WeldLoop* old = work->loops;
  *count = work->loop_count;
  work->loops = NULL;
  work->loop_count = work->loop_capacity = 0;
  return old;
}

/* Replaces the points of loops by the representatives of their sets, and removes loops without area. */
static void weld_loops(Patchwork* work) {
  int count;
  join_near_points(work);
  WeldLoop* old = take_loops(work, &count);
  for (int l = 0; l < count; l++) {
    IdList list = {0};
    for (int i = 0; i < old[l].count; i++) id_add(&list, disjoint_sets_find(work->set, old[l].ids[i]));
    add_simple_loops(work, old[l].side, &list);
    memory_free(list.ids);
    memory_free(old[l].ids);
  }
  memory_free(old);
}

/* Inserts points within the weld distance of an edge as corners. An edge is always processed from its end with the
 * smaller index, so that all loops get the same points. Nearly coincident edges then have the same points. Returns the
 * number of loops with new points. */
static int bend_edges(Patchwork* work) {
  bool* used = MEMORY_NEW(bool, work->point_count + 1);
  for (int l = 0; l < work->loop_count; l++)
    for (int i = 0; i < work->loops[l].count; i++) used[work->loops[l].ids[i]] = true;
  sort_wanted_points(work, used);
  OnEdge* found = MEMORY_NEW(OnEdge, work->sorted_count + 1);
  int count, grown = 0;
  WeldLoop* old = take_loops(work, &count);
  for (int l = 0; l < count; l++) {
    IdList list = {0};
    for (int i = 0; i < old[l].count; i++) {
      int a = old[l].ids[i], b = old[l].ids[(i + 1) % old[l].count];
      int inserted = points_on_edge(work, a < b ? a : b, a < b ? b : a, NULL, work->weld, found);
      id_add(&list, a);
      for (int k = 0; k < inserted; k++) id_add(&list, found[a < b ? k : inserted - 1 - k].point);
    }
    grown += list.count > old[l].count;
    add_simple_loops(work, old[l].side, &list);
    memory_free(list.ids);
    memory_free(old[l].ids);
  }
  memory_free(old);
  memory_free(found);
  memory_free(used);
  return grown;
}

/* ---------------------------------------------------------------- a set of edges */

/* Hash set of undirected edges. A slot contains the key + 1, or 0 if it is free. */
typedef struct {
  uint64_t* slots;
  uint64_t mask;
} EdgeSet;

static EdgeSet edge_set_create(int edges) {
  EdgeSet set = {.mask = 63};
  while (set.mask < 4 * (uint64_t)edges) set.mask = 2 * set.mask + 1;
  set.slots = MEMORY_NEW(uint64_t, set.mask + 1);
  return set;
}

static uint64_t* edge_slot(const EdgeSet* set, int a, int b) {
  uint64_t key = ((uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a)) + 1;
  uint64_t i = (key * 0x9E3779B97F4A7C15u >> 20) & set->mask;
  while (set->slots[i] != 0 && set->slots[i] != key) i = (i + 1) & set->mask;
  return &set->slots[i];
}

static bool edge_is_in(const EdgeSet* set, int a, int b) { return *edge_slot(set, a, b) != 0; }

static void edge_add(EdgeSet* set, int a, int b) {
  *edge_slot(set, a, b) = ((uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a)) + 1;
}

/* Returns the set of edges of all loops, with space for twice as many edges. */
static EdgeSet edges_of_loops(const Patchwork* work) {
  int count = 0;
  for (int l = 0; l < work->loop_count; l++) count += work->loops[l].count;
  EdgeSet set = edge_set_create(2 * count);
  for (int l = 0; l < work->loop_count; l++)
    for (int i = 0; i < work->loops[l].count; i++)
      edge_add(&set, work->loops[l].ids[i], work->loops[l].ids[(i + 1) % work->loops[l].count]);
  return set;
}

/* ---------------------------------------------------------------- joining faces */

/* Returns the distance of point b to the right of the line from point a to point c, seen against `normal`. The distance
 * is not negative if b is a convex corner. */
static double bulge(const Patchwork* work, Vec3 normal, int a, int b, int c) {
  Vec3 p = work->points[a], ac = vec3_sub(work->points[c], p), ab = vec3_sub(work->points[b], p);
  double length = vec3_norm(ac);
  return length > 0 ? vec3_dot(normal, vec3_cross(ab, ac)) / length : 0;
}

/* A directed edge of a loop. key is the first member because compare_uint64 sorts by it. */
typedef struct {
  uint64_t key; /* from << 32 | to */
  int loop, place;
} DirectedEdge;

static uint64_t edge_key(int from, int to) { return (uint64_t)from << 32 | (uint64_t)to; }

static DirectedEdge* directed_edges(const Patchwork* work, int* count) {
  *count = 0;
  for (int l = 0; l < work->loop_count; l++) *count += work->loops[l].count;
  DirectedEdge* edges = MEMORY_NEW(DirectedEdge, *count + 1);
  int place = 0;
  for (int l = 0; l < work->loop_count; l++)
    for (int i = 0; i < work->loops[l].count; i++) {
      const WeldLoop* loop = &work->loops[l];
      edges[place++] = (DirectedEdge){edge_key(loop->ids[i], loop->ids[(i + 1) % loop->count]), l, i};
    }
  qsort(edges, (size_t)*count, sizeof *edges, compare_uint64);
  return edges;
}

static int at(const WeldLoop* loop, int i) {
  int k = i % loop->count;
  return loop->ids[k < 0 ? k + loop->count : k];
}

/* Returns true if two sequences of points have a common point: p_count points of loop p from position i on, and q_count
 * points of loop q from position j on. */
static bool share_points(const WeldLoop* p, int i, int p_count, const WeldLoop* q, int j, int q_count) {
  for (int k = 0; k < p_count; k++)
    for (int m = 0; m < q_count; m++)
      if (at(p, i + k) == at(q, j + m)) return true;
  return false;
}

/* Joins loops p and q along all common edges around the edge from i to i + 1 of p, which is the edge from j + 1 to j of
 * q. Returns false, with both loops unchanged, if the result would not be convex at both ends or would visit a point
 * twice. */
static bool join_loops(const Patchwork* work, WeldLoop* p, int i, WeldLoop* q, int j) {
  int start = i, end = i + 1, q_start = j + 1, q_end = j, shared = 1; /* p[start] = q[q_start], p[end] = q[q_end] */
  while (shared < p->count && at(p, end + 1) == at(q, q_end - 1)) end++, q_end--, shared++;
  while (shared < p->count && at(p, start - 1) == at(q, q_start + 1)) start--, q_start++, shared++;
  int left_p = p->count - shared, left_q = q->count - shared; /* numbers of remaining edges */
  if (left_p < 1 || left_q < 1) return false;
  Vec3 normal = loop_normal(work, p->side);
  if (bulge(work, normal, at(p, start - 1), at(p, start), at(q, q_start + 1)) < -STRAIGHT) return false;
  if (bulge(work, normal, at(q, q_end - 1), at(p, end), at(p, end + 1)) < -STRAIGHT) return false;
  if (share_points(p, end + 1, left_p - 1, q, q_start + 1, left_q - 1)) return false;
  int* ids = MEMORY_NEW(int, left_p + left_q + 1);
  for (int k = 0; k < left_p; k++) ids[k] = at(p, end + k);
  for (int k = 0; k < left_q; k++) ids[left_p + k] = at(q, q_start + k);
  memory_free(p->ids);
  p->ids = ids;
  p->count = left_p + left_q;
  q->count = 0;
  return true;
}

static void drop_empty_loops(Patchwork* work) {
  int kept = 0;
  for (int l = 0; l < work->loop_count; l++)
    if (work->loops[l].count > 0)
      work->loops[kept++] = work->loops[l];
    else
      memory_free(work->loops[l].ids);
  work->loop_count = kept;
}

static bool is_reverse(const WeldLoop* p, int i, const WeldLoop* q, int j) {
  bool same = p->count == q->count;
  for (int k = 0; same && k < p->count; k++) same = at(p, i + k) == at(q, j + 1 - k);
  return same;
}

/* Removes pairs of opposite loops, which enclose no volume. Opposite loops are the two sides of a sheet or crack
 * thinner than the weld distance. */
static void drop_opposite_loops(Patchwork* work) {
  int count;
  DirectedEdge* edges = directed_edges(work, &count);
  for (int e = 0; e < count; e++) {
    uint64_t back = edges[e].key << 32 | edges[e].key >> 32;
    const DirectedEdge* twin = bsearch(&back, edges, (size_t)count, sizeof *edges, compare_uint64);
    if (!twin) continue;
    WeldLoop *p = &work->loops[edges[e].loop], *q = &work->loops[twin->loop];
    if (p == q || p->count == 0 || !is_reverse(p, edges[e].place, q, twin->place)) continue;
    p->count = q->count = 0;
  }
  memory_free(edges);
  drop_empty_loops(work);
}

static bool join_pass(Patchwork* work) {
  int count;
  DirectedEdge* edges = directed_edges(work, &count);
  bool *touched = MEMORY_NEW(bool, work->loop_count + 1), joined = false;
  for (int e = 0; e < count; e++) {
    uint64_t back = edges[e].key << 32 | edges[e].key >> 32;
    const DirectedEdge* twin = bsearch(&back, edges, (size_t)count, sizeof *edges, compare_uint64);
    if (!twin || twin->loop <= edges[e].loop || touched[twin->loop] || touched[edges[e].loop]) continue;
    WeldLoop *p = &work->loops[edges[e].loop], *q = &work->loops[twin->loop];
    if (p->side.plane != q->side.plane || p->side.flipped != q->side.flipped) continue;
    if (!join_loops(work, p, edges[e].place, q, twin->place)) continue;
    touched[edges[e].loop] = touched[twin->loop] = joined = true;
  }
  memory_free(touched);
  memory_free(edges);
  drop_empty_loops(work);
  return joined;
}

/* ---------------------------------------------------------------- straight corners */

static int place_in(const WeldLoop* loop, int id) {
  for (int i = 0; i < loop->count; i++)
    if (loop->ids[i] == id) return i;
  return -1;
}

static bool is_straight(const Patchwork* work, int a, int b, int c) {
  Vec3 p = work->points[a], ac = vec3_sub(work->points[c], p), ab = vec3_sub(work->points[b], p);
  return vec3_norm(vec3_cross(ab, ac)) <= STRAIGHT * vec3_norm(ac);
}

static void remove_place(WeldLoop* loop, int place) {
  memmove(loop->ids + place, loop->ids + place + 1, sizeof(int) * (size_t)(loop->count - place - 1));
  loop->count--;
}

/* Removes points that belong to exactly two loops and lie on the straight line between their neighbours, if both loops
 * have the same neighbours. */
static void drop_straight(Patchwork* work) {
  int *uses = MEMORY_NEW(int, work->point_count + 1), (*user)[2];
  user = (int(*)[2])memory_alloc(sizeof *user * (size_t)(work->point_count + 1));
  for (int l = 0; l < work->loop_count; l++)
    for (int i = 0; i < work->loops[l].count; i++) {
      int id = work->loops[l].ids[i];
      if (uses[id] < 2) user[id][uses[id]] = l;
      uses[id]++;
    }
  EdgeSet edges = edges_of_loops(work);
  for (int id = 0; id < work->point_count; id++) {
    if (uses[id] != 2 || user[id][0] == user[id][1]) continue;
    assert(work->loops);
    WeldLoop *p = &work->loops[user[id][0]], *q = &work->loops[user[id][1]];
    int i = place_in(p, id), j = place_in(q, id);
    if (p->count <= 3 || q->count <= 3) continue;
    if (at(p, i - 1) != at(q, j + 1) || at(p, i + 1) != at(q, j - 1)) continue;
    if (!is_straight(work, at(p, i - 1), id, at(p, i + 1)) || edge_is_in(&edges, at(p, i - 1), at(p, i + 1))) continue;
    edge_add(&edges, at(p, i - 1), at(p, i + 1));
    remove_place(p, i);
    remove_place(q, j);
  }
  memory_free(edges.slots);
  memory_free(user);
  memory_free(uses);
}

/* ---------------------------------------------------------------- triangles */

static double point_to_segment(Vec3 p, Vec3 a, Vec3 b) {
  Vec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
  double t = fmin(fmax(vec3_dot(ap, ab) / vec3_dot(ab, ab), 0), 1);
  return vec3_norm(vec3_add_scaled(ap, -t, ab));
}

/* Returns the quality of cutting off corner i of a loop as a triangle. The quality is the height of the corner over the
 * new edge, relative to the longest side. The quality is negative if the corner is not convex, if another corner lies
 * on the new edge, or if the surface already has the new edge. */
static double ear_quality(const Patchwork* work, const EdgeSet* edges, const WeldLoop* loop, Vec3 normal, int i) {
  int a = at(loop, i - 1), b = at(loop, i), c = at(loop, i + 1);
  double height = bulge(work, normal, a, b, c);
  Vec3 pa = work->points[a], pb = work->points[b], pc = work->points[c];
  double longest = fmax(vec3_norm(vec3_sub(pb, pa)), fmax(vec3_norm(vec3_sub(pc, pb)), vec3_norm(vec3_sub(pa, pc))));
  if (edge_is_in(edges, a, c)) return height / longest - 4;
  for (int k = 2; k < loop->count - 1; k++)
    if (point_to_segment(work->points[at(loop, i + k)], pa, pc) <= work->weld) return height / longest - 2;
  return height / longest;
}

/* Triangulates a loop by cutting off the best corner until no triangle is left. The loops are nearly convex, so no
 * corner lies inside the triangle of another corner. */
static void cut_loop(const Patchwork* work, EdgeSet* edges, WeldLoop* loop, TriangleSurface* surface) {
  Vec3 normal = loop_normal(work, loop->side);
  while (loop->count >= 3) {
    int best = 0;
    double most = -HUGE_VAL;
    for (int i = 0; i < loop->count && loop->count > 3; i++) {
      double quality = ear_quality(work, edges, loop, normal, i);
      if (quality > most) most = quality, best = i;
    }
    int* triangle = surface->triangles[surface->triangle_count++];
    for (int k = 0; k < 3; k++) triangle[k] = at(loop, best - 1 + k);
    edge_add(edges, triangle[2], triangle[0]);
    remove_place(loop, best);
  }
}

static TriangleSurface triangles_of_loops(Patchwork* work, int corner_count, int** corner) {
  TriangleSurface surface = {.point_count = work->point_count};
  int total = 0;
  for (int l = 0; l < work->loop_count; l++) total += work->loops[l].count - 2;
  surface.triangles = (int(*)[3])memory_alloc(sizeof *surface.triangles * (size_t)(total + 1));
  surface.points = MEMORY_NEW(Vec3, work->point_count + 1);
  memcpy(surface.points, work->points, sizeof(Vec3) * (size_t)work->point_count);
  EdgeSet edges = edges_of_loops(work);
  for (int l = 0; l < work->loop_count; l++) cut_loop(work, &edges, &work->loops[l], &surface);
  memory_free(edges.slots);
  surface_collapse_short_edges(&surface, SHORT_EDGE * work->weld);
  *corner = MEMORY_NEW(int, work->point_count + 1);
  surface_remove_unused(&surface, *corner);
  for (int i = 0; i < surface.point_count; i++)
    if ((*corner)[i] >= corner_count) (*corner)[i] = -1;
  return surface;
}

TriangleSurface weld_faces(const WeldInput* input, int** corner) {
  Patchwork work = patchwork_create(input);
  make_loops(&work, input->faces, input->corner_count);
  weld_loops(&work);
  for (int pass = 0; pass < BEND_PASSES && bend_edges(&work) > 0; pass++) {}
  drop_opposite_loops(&work);
  while (join_pass(&work)) {}
  drop_straight(&work);
  TriangleSurface surface = triangles_of_loops(&work, input->corner_count, corner);
  patchwork_free(&work);
  return surface;
}
