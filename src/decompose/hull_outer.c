/* Reduces the number of vertices of a hull such that the new hull contains the old one, by contracting edges in the
 * order of increasing cost. Only the part on one side of the mirror planes of a symmetric hull is processed, and mirror
 * images are added at the end. Points on a mirror plane stay on the plane. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decompose/blocks.h"

/* Largest number of faces around an edge that is contracted. */
enum { AROUND_MAX = 24 };
/* Largest number of planes that bound the new point: one per face, and two per mirror plane. */
enum { BOUNDS_MAX = AROUND_MAX + 6 };
/* The point to which an edge is contracted may lie behind the plane of a face by at most this value [hull size]. */
#define INSIDE_ROUNDING 1e-13
/* Cost factor of volume that a hull adds inside a touching hull. The factor is above zero, because this volume still
 * enlarges the hull. */
#define NEIGHBOUR_COST_FACTOR 0.3
/* Distance from a face to the test points in front of the face, which decide whether a touching hull covers the face
 * [hull size]. */
#define NEIGHBOUR_TEST_DISTANCE 1e-3

typedef struct {
  Vec3* points;
  int point_count;
  int (*faces)[3];
  bool* is_removed;
  int face_count;
  int* stamp;  /* version number of each point, which changes when an adjacent face changes */
  int** rings; /* rings[i]: indices of the faces adjacent to point i */
  int *ring_count, *ring_capacity;
  double* weight; /* cost factor of volume outside each face; 0 for a face in a mirror plane */
  int planes;     /* mirror planes of the hull (bit = axis) */
  int* on;        /* mirror planes that contain each point (bit = axis) */
  double size;
} EdgeMesh;

typedef struct {
  double cost;
  int a, b, stamp;
  Vec3 point;
} Contraction;

typedef struct {
  Contraction* items;
  int count, capacity;
} Heap;

/* ---------------------------------------------------------------- heap of contractions by cost */

static bool is_cheaper(const Contraction* p, const Contraction* q) {
  if (p->cost != q->cost) return p->cost < q->cost;
  return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void heap_push(Heap* heap, Contraction item) {
  heap->items = memory_grow_array(heap->items, sizeof(Contraction), heap->count, &heap->capacity);
  int i = heap->count++;
  for (; i > 0 && is_cheaper(&item, &heap->items[(i - 1) / 2]); i = (i - 1) / 2)
    heap->items[i] = heap->items[(i - 1) / 2];
  heap->items[i] = item;
}

static Contraction heap_pop(Heap* heap) {
  assert(heap->count > 0);
  Contraction top = heap->items[0], last = heap->items[--heap->count];
  int i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child + 1 < heap->count && is_cheaper(&heap->items[child + 1], &heap->items[child])) child++;
    if (child >= heap->count || !is_cheaper(&heap->items[child], &last)) break;
    heap->items[i] = heap->items[child];
    i = child;
  }
  heap->items[i] = last;
  return top;
}

/* ---------------------------------------------------------------- the best contraction point */

/* Minimizes c . x over points x on or outside all planes[count], by trying the intersections of all triples of planes.
 * Returns false if no point satisfies all constraints. */
static bool minimize_linear(const CutPlane* planes, int count, Vec3 c, double rounding, Vec3* point) {
  double best = HUGE_VAL;
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++) {
      Vec3 line = vec3_cross(planes[i].n, planes[j].n);
      if (vec3_dot(line, line) < 1e-12) continue;
      for (int k = j + 1; k < count; k++) {
        double det = vec3_dot(line, planes[k].n);
        if (fabs(det) < 1e-7) continue;
        Vec3 x = vec3_scale(line, planes[k].offset);
        x = vec3_add_scaled(x, planes[i].offset, vec3_cross(planes[j].n, planes[k].n));
        x = vec3_scale(vec3_add_scaled(x, planes[j].offset, vec3_cross(planes[k].n, planes[i].n)), 1.0 / det);
        double value = vec3_dot(c, x);
        if (!(value < best)) continue;
        bool outside = true;
        for (int m = 0; outside && m < count; m++)
          outside = m == i || m == j || m == k || vec3_dot(planes[m].n, x) - planes[m].offset >= -rounding;
        if (outside) best = value, *point = x;
      }
    }
  return isfinite(best);
}

static Vec3 face_cross(const EdgeMesh* m, int f) {
  Vec3 a = m->points[m->faces[f][0]];
  return vec3_cross(vec3_sub(m->points[m->faces[f][1]], a), vec3_sub(m->points[m->faces[f][2]], a));
}

static bool contains_point(const int face[3], int point) {
  return face[0] == point || face[1] == point || face[2] == point;
}

/* Sets `faces` to the faces adjacent to an end of the edge from a to b, without duplicates. Returns their number, or -1
 * if there are more than AROUND_MAX. */
static int find_adjacent_faces(const EdgeMesh* m, int a, int b, int* faces) {
  assert(a != b);
  int count = 0;
  for (int k = 0; k < m->ring_count[a]; k++) {
    int f = m->rings[a][k];
    if (m->is_removed[f]) continue;
    if (count == AROUND_MAX) return -1;
    faces[count++] = f;
  }
  for (int k = 0; k < m->ring_count[b]; k++) {
    int f = m->rings[b][k];
    if (m->is_removed[f] || contains_point(m->faces[f], a)) continue;
    if (count == AROUND_MAX) return -1;
    faces[count++] = f;
  }
  return count;
}

static Vec3 axis_direction(int axis, double sign) {
  return vec3(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
}

/* Appends to planes[used] the planes that keep a new point on its side of the mirror planes. Returns the new number.
 * The new point stays on the mirror planes `on`, and on the side with coordinate <= 0 of all other mirror planes. */
static int add_mirror_bounds(const EdgeMesh* m, int on, Vec3 origin, CutPlane* planes, int used) {
  for (int axis = 0; axis < 3; axis++) {
    if (!(m->planes >> axis & 1)) continue;
    Vec3 down = axis_direction(axis, -1);
    CutPlane side = {down, -vec3_dot(down, origin)};
    planes[used++] = side;
    if (on >> axis & 1) planes[used++] = plane_flipped(side);
  }
  return used;
}

static Vec3 project_to_planes(Vec3 p, int on) { return vec3(on & 1 ? 0 : p.x, on & 2 ? 0 : p.y, on & 4 ? 0 : p.z); }

/* Finds the cheapest contraction of the edge from a to b. The cost is the weighted added volume: the sum over the
 * adjacent faces of weight (n . x - o) area / 3. x: new point relative to point a; n, o: plane of a face. Returns false
 * if the edge cannot be contracted. */
static bool find_cheapest_contraction(const EdgeMesh* m, int a, int b, Contraction* c) {
  int faces[AROUND_MAX], count = find_adjacent_faces(m, a, b, faces), used = 0;
  if (count < 0) return false;
  CutPlane planes[BOUNDS_MAX];
  Vec3 sum = {0, 0, 0}, origin = m->points[a];
  double base = 0;
  for (int k = 0; k < count; k++) {
    double weight = m->weight[faces[k]];
    Vec3 cross = face_cross(m, faces[k]);
    double length = vec3_norm(cross);
    if (weight == 0 || !(length > 1e-14 * m->size * m->size)) continue;
    Vec3 n = vec3_scale(cross, 1.0 / length);
    planes[used] = (CutPlane){n, vec3_dot(n, vec3_sub(m->points[m->faces[faces[k]][0]], origin))};
    sum = vec3_add_scaled(sum, weight, cross);
    base += weight * length * planes[used++].offset;
  }
  int on = m->on[a] | m->on[b];
  used = add_mirror_bounds(m, on, origin, planes, used);
  Vec3 point = {0, 0, 0};
  if (!minimize_linear(planes, used, sum, INSIDE_ROUNDING * m->size, &point)) return false;
  /* A distant point would create a thin spike between nearly parallel faces. */
  if (vec3_norm(point) > 2 * m->size) return false;
  double cost = (vec3_dot(sum, point) - base) / 6.0;
  *c = (Contraction){cost, a, b, m->stamp[a] + m->stamp[b], project_to_planes(vec3_add(origin, point), on)};
  return true;
}

/* ---------------------------------------------------------------- contracting */

static void ring_add(EdgeMesh* m, int point, int face) {
  if (m->ring_count[point] == m->ring_capacity[point]) {
    int old = m->ring_capacity[point], capacity = 2 * old + 8;
    m->rings[point] = memory_resize(m->rings[point], sizeof(int) * (size_t)old, sizeof(int) * (size_t)capacity);
    m->ring_capacity[point] = capacity;
  }
  m->rings[point][m->ring_count[point]++] = face;
}

static EdgeMesh create_edge_mesh(const ConvexHull* hull, int planes) {
  EdgeMesh m = {.point_count = hull->vertex_count, .face_count = hull->triangle_count};
  m.points = MEMORY_NEW(Vec3, m.point_count);
  m.faces = memory_alloc(sizeof *m.faces * (size_t)m.face_count);
  m.is_removed = MEMORY_NEW(bool, m.face_count);
  m.stamp = MEMORY_NEW(int, m.point_count);
  m.rings = MEMORY_NEW(int*, m.point_count);
  m.ring_count = MEMORY_NEW(int, m.point_count);
  m.ring_capacity = MEMORY_NEW(int, m.point_count);
  m.weight = MEMORY_NEW(double, m.face_count);
  m.on = MEMORY_NEW(int, m.point_count);
  m.planes = planes;
  memcpy(m.points, hull->vertices, sizeof(Vec3) * (size_t)m.point_count);
  memcpy(m.faces, hull->triangles, sizeof *m.faces * (size_t)m.face_count);
  for (int f = 0; f < m.face_count; f++)
    for (int k = 0; k < 3; k++) ring_add(&m, m.faces[f][k], f);
  Vec3 low = m.points[0], high = m.points[0];
  for (int i = 1; i < m.point_count; i++) low = vec3_min(low, m.points[i]), high = vec3_max(high, m.points[i]);
  m.size = vec3_norm(vec3_sub(high, low));
  return m;
}

static void free_edge_mesh(EdgeMesh* m) {
  for (int i = 0; i < m->point_count; i++) memory_free(m->rings[i]);
  memory_free(m->points), memory_free(m->faces), memory_free(m->is_removed), memory_free(m->stamp);
  memory_free(m->rings), memory_free(m->ring_count), memory_free(m->ring_capacity);
  memory_free(m->weight), memory_free(m->on);
}

static void push_contraction(EdgeMesh* m, Heap* heap, int a, int b) {
  Contraction c;
  if (find_cheapest_contraction(m, a < b ? a : b, a < b ? b : a, &c)) heap_push(heap, c);
}

/* Returns the number of mirror images of a point in the complete hull, including the point. */
static int count_images(const EdgeMesh* m, int point) {
  int images = 1;
  for (int axis = 0; axis < 3; axis++)
    if (m->planes >> axis & 1 && !(m->on[point] >> axis & 1)) images *= 2;
  return images;
}

/* Contracts an edge to one point with index c->a, and removes the two faces at the edge. Returns the decrease of the
 * number of points of the complete hull. */
static int contract_edge(EdgeMesh* m, Heap* heap, const Contraction* c) {
  assert(c->a != c->b);
  int before = count_images(m, c->a) + count_images(m, c->b);
  m->on[c->a] |= m->on[c->b];
  m->points[c->a] = c->point;
  for (int k = 0; k < m->ring_count[c->b]; k++) {
    int f = m->rings[c->b][k];
    if (m->is_removed[f]) continue;
    if (contains_point(m->faces[f], c->a)) {
      m->is_removed[f] = true;
      continue;
    }
    for (int i = 0; i < 3; i++)
      if (m->faces[f][i] == c->b) m->faces[f][i] = c->a;
    ring_add(m, c->a, f);
  }
  m->stamp[c->b] = -1000000;
  for (int k = 0; k < m->ring_count[c->a]; k++) {
    int f = m->rings[c->a][k];
    for (int i = 0; !m->is_removed[f] && i < 3; i++) m->stamp[m->faces[f][i]]++;
  }
  for (int k = 0; k < m->ring_count[c->a]; k++) {
    int f = m->rings[c->a][k];
    for (int i = 0; !m->is_removed[f] && i < 3; i++)
      if (m->faces[f][i] == c->a) push_contraction(m, heap, c->a, m->faces[f][(i + 1) % 3]);
  }
  return before - count_images(m, c->a);
}

/* Contracts the edge that adds the least weighted volume. Recomputes outdated costs when they reach the top of the
 * heap. Returns the decrease of the number of points, or 0 if no edge can be contracted. */
static int contract_next(EdgeMesh* m, Heap* heap) {
  while (heap->count > 0) {
    Contraction c = heap_pop(heap);
    if (m->stamp[c.a] < 0 || m->stamp[c.b] < 0) continue;
    if (m->stamp[c.a] + m->stamp[c.b] != c.stamp) {
      push_contraction(m, heap, c.a, c.b);
      continue;
    }
    return contract_edge(m, heap, &c);
  }
  return 0;
}

/* Computes the convex hull of the remaining points and all their mirror images. */
static HullResult compute_hull(const EdgeMesh* m, ConvexHull* hull) {
  Vec3* points = MEMORY_NEW(Vec3, 8 * m->point_count);
  int count = 0;
  for (int which = 0; which < 8; which++)
    for (int i = 0; i < m->point_count; i++)
      if (m->stamp[i] >= 0 && !(which & ~m->planes) && !(which & m->on[i]))
        points[count++] = vec3_mirrored(m->points[i], which);
  HullResult result = hull_create(hull, points, count);
  memory_free(points);
  return result;
}

/* Computes the bounding box of a hull, for use after failed contractions. */
static HullResult bounding_box(const ConvexHull* hull, ConvexHull* box) {
  Vec3 p[2] = {hull->vertices[0], hull->vertices[0]}, corners[8];
  for (int i = 1; i < hull->vertex_count; i++)
    p[0] = vec3_min(p[0], hull->vertices[i]), p[1] = vec3_max(p[1], hull->vertices[i]);
  for (int k = 0; k < 8; k++) corners[k] = vec3(p[k & 1].x, p[k >> 1 & 1].y, p[k >> 2].z);
  return hull_create(box, corners, 8);
}

static double largest_outside_distance(const ConvexHull* outer, const ConvexHull* inner) {
  double worst = -HUGE_VAL;
  for (int i = 0; i < inner->vertex_count; i++) worst = fmax(worst, hull_outside(outer, inner->vertices[i]));
  return worst;
}

/* The old hull may extend outside the new hull by at most this value [hull size]. */
#define OUTER_ROUNDING 1e-10

/* ---------------------------------------------------------------- vertices outside a face */

static bool is_in_neighbour(const NeighbourFaces* near, Vec3 p) {
  for (int h = 0; h < near->count; h++) {
    bool inside = near->first[h + 1] > near->first[h];
    for (int k = near->first[h]; inside && k < near->first[h + 1]; k++)
      inside = vec3_dot(near->planes[k].n, p) <= near->planes[k].offset;
    if (inside) return true;
  }
  return false;
}

/* Returns the fraction of four test points just outside face f that lie in a neighbouring hull. */
static double neighbour_fraction(const EdgeMesh* m, int f, const NeighbourFaces* near) {
  Vec3 cross = face_cross(m, f),
       out = vec3_scale(cross, NEIGHBOUR_TEST_DISTANCE * m->size / fmax(vec3_norm(cross), 1e-300));
  Vec3 sum = {0, 0, 0};
  for (int k = 0; k < 3; k++) sum = vec3_add(sum, m->points[m->faces[f][k]]);
  Vec3 middle = vec3_scale(sum, 1.0 / 3);
  int held = is_in_neighbour(near, vec3_add(middle, out));
  for (int k = 0; k < 3; k++) {
    Vec3 corner = m->points[m->faces[f][k]];
    held += is_in_neighbour(near, vec3_add(vec3_add_scaled(middle, 0.8, vec3_sub(corner, middle)), out));
  }
  return held / 4.0;
}

static void set_face_weights(EdgeMesh* m, const NeighbourFaces* near) {
  for (int f = 0; f < m->face_count; f++) {
    const int* t = m->faces[f];
    m->weight[f] = near ? 1 - (1 - NEIGHBOUR_COST_FACTOR) * neighbour_fraction(m, f, near) : 1;
    /* The cut along a mirror plane created the face. */
    if (m->on[t[0]] & m->on[t[1]] & m->on[t[2]]) m->weight[f] = 0;
  }
}

NeighbourFaces neighbours_create(const Blocks* blocks, int index) {
  NeighbourFaces near = {0};
  int total = 0;
  for (int h = 0; h < blocks->count; h++) total += blocks->items[h].hull.triangle_count;
  near.planes = MEMORY_NEW(CutPlane, total + 1);
  near.first = MEMORY_NEW(int, blocks->count + 1);
  total = 0;
  for (int h = 0; h < blocks->count; h++) {
    const Block* block = &blocks->items[h];
    if (h == index || block->flat || block_distance(&blocks->items[index], block) > TOUCH_DISTANCE) continue;
    near.first[near.count++] = total;
    for (int t = 0; t < block->hull.triangle_count; t++) {
      CutPlane p = hull_plane(&block->hull, t);
      if (vec3_dot(p.n, p.n) > 0) near.planes[total++] = p;
    }
  }
  near.first[near.count] = total;
  return near;
}

void neighbours_free(NeighbourFaces* near) {
  memory_free(near->planes);
  memory_free(near->first);
  *near = (NeighbourFaces){0};
}

/* ---------------------------------------------------------------- complete reduction */

static HullResult cut_to_one_side(ConvexHull* side, const ConvexHull* hull, int planes) {
  Part part = part_of_hull(hull);
  for (int axis = 0; axis < 3; axis++) {
    if (!(planes >> axis & 1)) continue;
    Part cut = part_cut(&part, (CutPlane){axis_direction(axis, 1), 0}, PLANE_ROUNDING);
    part_free(&part);
    part = cut;
  }
  HullResult result = hull_create(side, part.points, part.point_count);
  part_free(&part);
  return result;
}

static void mark_points_on_planes(EdgeMesh* m) {
  for (int i = 0; i < m->point_count; i++) {
    const double x[3] = {m->points[i].x, m->points[i].y, m->points[i].z};
    for (int axis = 0; axis < 3; axis++)
      if (m->planes >> axis & 1 && fabs(x[axis]) <= PLANE_ROUNDING) m->on[i] |= 1 << axis;
    m->points[i] = project_to_planes(m->points[i], m->on[i]);
  }
}

/* Contracts edges until at most max_vertices points are left. The caller checks that the result contains the old hull.
 */
static HullResult contract_all(ConvexHull* outer, const ConvexHull* side, int planes, int max_vertices,
                               const NeighbourFaces* near) {
  EdgeMesh m = create_edge_mesh(side, planes);
  Heap heap = {0};
  mark_points_on_planes(&m);
  set_face_weights(&m, near);
  for (int f = 0; f < m.face_count; f++)
    for (int k = 0; k < 3; k++)
      if (m.faces[f][k] < m.faces[f][(k + 1) % 3]) push_contraction(&m, &heap, m.faces[f][k], m.faces[f][(k + 1) % 3]);
  int left = 0;
  for (int i = 0; i < m.point_count; i++) left += count_images(&m, i);
  for (int less = 1; left > max_vertices && less > 0; left -= less) less = contract_next(&m, &heap);
  HullResult result = compute_hull(&m, outer);
  free_edge_mesh(&m);
  memory_free(heap.items);
  return result;
}

HullResult hull_outer_mirrored(ConvexHull* hull, int planes, int max_vertices, const NeighbourFaces* near) {
  assert(max_vertices >= 4);
  if (hull->vertex_count <= max_vertices) return HULL_OK;
  ConvexHull side, outer = {0};
  HullResult result = cut_to_one_side(&side, hull, planes);
  if (result == HULL_OK) result = contract_all(&outer, &side, planes, max_vertices, near);
  hull_free(&side);
  bool good = result == HULL_OK && outer.vertex_count <= max_vertices &&
              largest_outside_distance(&outer, hull) <= OUTER_ROUNDING * hull_size(hull);
  if (!good) {
    hull_free(&outer);
    if (max_vertices < 8) return HULL_FAILED;
    result = bounding_box(hull, &outer);
  }
  if (result != HULL_OK) return result;
  hull_free(hull);
  *hull = outer;
  return HULL_OK;
}
