#include "decompose/part.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- building */

static void* grow_array(void* array, size_t element, int count, int* capacity) {
  if (count < *capacity) return array;
  int wanted = 2 * *capacity + 16;
  array = memory_resize(array, element * (size_t)*capacity, element * (size_t)wanted);
  *capacity = wanted;
  return array;
}

void part_free(Part* part) {
  memory_free(part->points);
  memory_free(part->triangles);
  memory_free(part->edges);
  memory_free(part->caps);
  *part = (Part){0};
}

int part_add_point(Part* part, Vec3 point) {
  part->points = grow_array(part->points, sizeof(Vec3), part->point_count, &part->point_capacity);
  part->points[part->point_count] = point;
  return part->point_count++;
}

void part_add_triangle(Part* part, int a, int b, int c) {
  assert(a >= 0 && a < part->point_count && b >= 0 && b < part->point_count && c >= 0 && c < part->point_count);
  part->triangles =
      grow_array(part->triangles, sizeof *part->triangles, part->triangle_count, &part->triangle_capacity);
  int* corner = part->triangles[part->triangle_count++];
  corner[0] = a, corner[1] = b, corner[2] = c;
}

void part_add_edge(Part* part, int a, int b, int cap) {
  assert(a >= 0 && a < part->point_count && b >= 0 && b < part->point_count && cap >= 0 && cap < part->cap_count);
  part->edges = grow_array(part->edges, sizeof(CapEdge), part->edge_count, &part->edge_capacity);
  part->edges[part->edge_count++] = (CapEdge){a, b, cap};
}

int part_add_cap(Part* part, CutPlane cap) {
  part->caps = grow_array(part->caps, sizeof(CutPlane), part->cap_count, &part->cap_capacity);
  part->caps[part->cap_count] = cap;
  return part->cap_count++;
}

CutPlane plane_flipped(CutPlane plane) { return (CutPlane){vec3_scale(plane.n, -1.0), -plane.offset}; }

/* ---------------------------------------------------------------- volume */

static double six_volumes(Vec3 origin, Vec3 a, Vec3 b, Vec3 c) {
  return vec3_dot(vec3_sub(a, origin), vec3_cross(vec3_sub(b, origin), vec3_sub(c, origin)));
}

/* Sums caps as triangle fans from the first point of their boundary. Triangles outside the cap cancel by their signs.
 */
double part_volume(const Part* part) {
  if (part->point_count == 0) return 0;
  Vec3 origin = part->points[0];
  int* apex = MEMORY_NEW(int, part->cap_count + 1);
  for (int k = 0; k < part->cap_count; k++) apex[k] = -1;
  double sum = 0;
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    sum += six_volumes(origin, part->points[t[0]], part->points[t[1]], part->points[t[2]]);
  }
  for (int i = 0; i < part->edge_count; i++) {
    const CapEdge* edge = &part->edges[i];
    if (apex[edge->cap] < 0) apex[edge->cap] = edge->a;
    sum += six_volumes(origin, part->points[apex[edge->cap]], part->points[edge->a], part->points[edge->b]);
  }
  memory_free(apex);
  return sum / 6.0;
}

/* ---------------------------------------------------------------- cutting */

/* New point where an edge crosses the cutting plane. low, high: lower and higher index of the edge's end points. */
typedef struct {
  int low, high, point; /* index of the new point; -1 for an empty slot of the hash table */
} Crossing;

typedef struct {
  const Part* from;
  Part* to;
  CutPlane plane;
  double* distance; /* signed distance from the plane, 0 within rounding (from->point_count) */
  int* number;      /* index in `to`, or -1 before the point is copied (from->point_count) */
  Crossing* crossings;
  int slots; /* size of the hash table: a power of two, more than twice the number of crossings */
  int cap;   /* index of the new cap */
} Cutter;

static int copy_point(Cutter* c, int i) {
  if (c->number[i] < 0) c->number[i] = part_add_point(c->to, c->from->points[i]);
  return c->number[i];
}

/* Returns the intersection of an edge with the plane, computed from the end with the lower index. All triangles at the
 * edge, on both sides of the cut, thus get bit-identical points. */
static int intersect_edge(Cutter* c, int i, int j) {
  int low = i < j ? i : j, high = i < j ? j : i;
  uint32_t hash = ((uint32_t)low * 2654435761u) ^ ((uint32_t)high * 2246822519u);
  int slot = (int)(hash & (uint32_t)(c->slots - 1));
  while (c->crossings[slot].point >= 0) {
    if (c->crossings[slot].low == low && c->crossings[slot].high == high) return c->crossings[slot].point;
    slot = (slot + 1) & (c->slots - 1);
  }
  double a = c->distance[low], b = c->distance[high];
  Vec3 p = c->from->points[low], q = c->from->points[high];
  Vec3 point = vec3_add_scaled(p, a / (a - b), vec3_sub(q, p));
  c->crossings[slot] = (Crossing){low, high, part_add_point(c->to, point)};
  return c->crossings[slot].point;
}

/* Corner of a clipped triangle: index in the new part, and whether it lies on the plane. */
typedef struct {
  int point;
  bool on;
} CutCorner;

/* Clips a triangle to the half-space by the algorithm of Sutherland and Hodgman. Returns the number of corners, or 0 if
 * the triangle is outside. */
static int cut_triangle(Cutter* c, const int t[3], CutCorner piece[4]) {
  int count = 0;
  for (int k = 0; k < 3; k++) {
    int i = t[k], j = t[(k + 1) % 3];
    double a = c->distance[i], b = c->distance[j];
    if (a <= 0) piece[count++] = (CutCorner){copy_point(c, i), a == 0};
    if ((a < 0 && b > 0) || (a > 0 && b < 0)) piece[count++] = (CutCorner){intersect_edge(c, i, j), true};
  }
  return count;
}

static Vec3 triangle_normal(const Part* part, const int t[3]) {
  Vec3 a = part->points[t[0]];
  return vec3_cross(vec3_sub(part->points[t[1]], a), vec3_sub(part->points[t[2]], a));
}

/* Clips a triangle to the half-space. Its clipped edges in the plane become boundary edges of the new cap, in the
 * opposite direction. A triangle in the plane is kept if its outward normal equals the normal of the plane. */
static void cut_surface(Cutter* c, const int t[3]) {
  double d[3] = {c->distance[t[0]], c->distance[t[1]], c->distance[t[2]]};
  bool below = d[0] < 0 || d[1] < 0 || d[2] < 0;
  bool flat = d[0] == 0 && d[1] == 0 && d[2] == 0;
  if (!below && !(flat && vec3_dot(triangle_normal(c->from, t), c->plane.n) > 0)) return;
  CutCorner piece[4];
  int count = cut_triangle(c, t, piece);
  for (int k = 2; k < count; k++) part_add_triangle(c->to, piece[0].point, piece[k - 1].point, piece[k].point);
  for (int k = 0; k < count; k++) {
    CutCorner a = piece[k], b = piece[(k + 1) % count];
    if (a.on && b.on) part_add_edge(c->to, b.point, a.point, c->cap);
  }
}

/* ---------------------------------------------------------------- cutting caps */

/* Point at which the boundary of a cap enters the plane (weight 1) or leaves it (weight -1). along: position along the
 * intersection line of the planes. */
typedef struct {
  double along;
  int point, weight;
} LineCrossing;

static int compare_line_crossings(const void* a, const void* b) {
  const LineCrossing *p = a, *q = b;
  if (p->along != q->along) return p->along < q->along ? -1 : 1;
  return p->point < q->point ? -1 : p->point > q->point;
}

typedef struct {
  LineCrossing* items;
  int count, capacity;
} LineCrossings;

static void add_line_crossing(Cutter* c, LineCrossings* line_crossings, Vec3 line, int point, int weight) {
  line_crossings->items =
      grow_array(line_crossings->items, sizeof(LineCrossing), line_crossings->count, &line_crossings->capacity);
  line_crossings->items[line_crossings->count++] = (LineCrossing){vec3_dot(line, c->to->points[point]), point, weight};
}

/* Closes the boundary of a clipped cap along the intersection line of its plane with the cutting plane. The number of
 * segments between two points is the sum of the weights of the points before. The new cap gets the same segments in the
 * opposite direction. */
static void close_cap(Cutter* c, LineCrossings* line_crossings, int cap) {
  if (line_crossings->count == 0) return;
  qsort(line_crossings->items, (size_t)line_crossings->count, sizeof(LineCrossing), compare_line_crossings);
  int sum = 0;
  for (int k = 0; k + 1 < line_crossings->count; k++) {
    sum += line_crossings->items[k].weight;
    int a = line_crossings->items[k].point, b = line_crossings->items[k + 1].point;
    if (a == b) continue;
    for (int copy = 0; copy < abs(sum) && copy < 4; copy++) {
      int from = sum > 0 ? a : b, to = sum > 0 ? b : a;
      part_add_edge(c->to, from, to, cap);
      part_add_edge(c->to, to, from, c->cap);
    }
  }
}

/* Clips one boundary segment of a plane face (cap) to the half-space. Drops segments on the plane, because close_cap
 * creates them again. */
static void cut_cap_edge(Cutter* c, LineCrossings* line_crossings, Vec3 line, const CapEdge* edge, int cap) {
  double a = c->distance[edge->a], b = c->distance[edge->b];
  if (!(a < 0 || b < 0)) return;
  int p = a <= 0 ? copy_point(c, edge->a) : intersect_edge(c, edge->a, edge->b);
  int q = b <= 0 ? copy_point(c, edge->b) : intersect_edge(c, edge->a, edge->b);
  part_add_edge(c->to, p, q, cap);
  if (b >= 0) add_line_crossing(c, line_crossings, line, q, 1);
  if (a >= 0) add_line_crossing(c, line_crossings, line, p, -1);
}

/* Keeps a cap in the cutting plane if its outward normal equals the normal of the plane. */
static void keep_flat_cap(Cutter* c, const CapEdge* edges, int count, CutPlane cap) {
  if (!(vec3_dot(cap.n, c->plane.n) > 0)) return;
  int number = part_add_cap(c->to, cap);
  for (int k = 0; k < count; k++) {
    int a = copy_point(c, edges[k].a), b = copy_point(c, edges[k].b);
    part_add_edge(c->to, a, b, number);
    part_add_edge(c->to, b, a, c->cap);
  }
}

static void cut_cap(Cutter* c, const CapEdge* edges, int count, CutPlane cap) {
  bool below = false, above = false;
  for (int k = 0; k < count; k++) {
    below |= c->distance[edges[k].a] < 0 || c->distance[edges[k].b] < 0;
    above |= c->distance[edges[k].a] > 0 || c->distance[edges[k].b] > 0;
  }
  if (!below && !above) keep_flat_cap(c, edges, count, cap);
  if (!below) return;
  int number = part_add_cap(c->to, cap);
  Vec3 line = vec3_cross(cap.n, c->plane.n);
  LineCrossings line_crossings = {0};
  for (int k = 0; k < count; k++) cut_cap_edge(c, &line_crossings, line, &edges[k], number);
  close_cap(c, &line_crossings, number);
  memory_free(line_crossings.items);
}

/* ---------------------------------------------------------------- tidying caps */

static int order_edges(const void* a, const void* b) {
  const CapEdge *p = a, *q = b;
  if (p->cap != q->cap) return p->cap < q->cap ? -1 : 1;
  int pl = p->a < p->b ? p->a : p->b, ql = q->a < q->b ? q->a : q->b;
  if (pl != ql) return pl < ql ? -1 : 1;
  int ph = p->a + p->b - pl, qh = q->a + q->b - ql;
  return ph < qh ? -1 : ph > qh;
}

/* Removes pairs of opposite boundary segments and sorts the remaining segments by cap. */
static void tidy_edges(Part* part) {
  if (part->edge_count == 0) return;
  qsort(part->edges, (size_t)part->edge_count, sizeof(CapEdge), order_edges);
  int kept = 0;
  for (int i = 0, next; i < part->edge_count; i = next) {
    int sum = 0;
    CapEdge first = part->edges[i];
    for (next = i; next < part->edge_count && order_edges(&part->edges[next], &first) == 0; next++)
      sum += part->edges[next].a == first.a ? 1 : -1;
    if (first.a == first.b) continue;
    CapEdge turned = {first.b, first.a, first.cap};
    for (int k = 0; k < abs(sum); k++) part->edges[kept++] = sum > 0 ? first : turned;
  }
  part->edge_count = kept;
}

static void cutter_start(Cutter* c, double rounding) {
  const Part* from = c->from;
  c->distance = MEMORY_NEW(double, from->point_count + 1);
  c->number = MEMORY_NEW(int, from->point_count + 1);
  for (int i = 0; i < from->point_count; i++) {
    double d = vec3_dot(c->plane.n, from->points[i]) - c->plane.offset;
    c->distance[i] = fabs(d) <= rounding ? 0 : d;
    c->number[i] = -1;
  }
  int crossing = 0;
  for (int i = 0; i < from->triangle_count; i++) {
    const int* t = from->triangles[i];
    for (int k = 0; k < 3; k++) crossing += c->distance[t[k]] * c->distance[t[(k + 1) % 3]] < 0;
  }
  for (int i = 0; i < from->edge_count; i++)
    crossing += c->distance[from->edges[i].a] * c->distance[from->edges[i].b] < 0;
  for (c->slots = 16; c->slots <= 2 * crossing;) c->slots *= 2;
  c->crossings = MEMORY_NEW(Crossing, c->slots);
  for (int i = 0; i < c->slots; i++) c->crossings[i].point = -1;
}

Part part_cut(const Part* part, CutPlane plane, double rounding) {
  assert(rounding >= 0);
  Part result = {0};
  Cutter c = {.from = part, .to = &result, .plane = plane};
  cutter_start(&c, rounding);
  c.cap = part_add_cap(&result, plane);
  for (int i = 0; i < part->triangle_count; i++) cut_surface(&c, part->triangles[i]);
  for (int i = 0, next; i < part->edge_count; i = next) {
    for (next = i; next < part->edge_count && part->edges[next].cap == part->edges[i].cap;) next++;
    cut_cap(&c, part->edges + i, next - i, part->caps[part->edges[i].cap]);
  }
  tidy_edges(&result);
  memory_free(c.distance);
  memory_free(c.number);
  memory_free(c.crossings);
  return result;
}

/* ---------------------------------------------------------------- components */

typedef struct {
  Vec3 low, high;
} PartBox;

static PartBox part_box(const Part* part) {
  PartBox box = {part->points[0], part->points[0]};
  for (int i = 1; i < part->point_count; i++) {
    box.low = vec3_min(box.low, part->points[i]);
    box.high = vec3_max(box.high, part->points[i]);
  }
  return box;
}

static bool box_contains(PartBox a, PartBox b) {
  return a.low.x <= b.low.x && a.low.y <= b.low.y && a.low.z <= b.low.z && a.high.x >= b.high.x &&
         a.high.y >= b.high.y && a.high.z >= b.high.z;
}

/* Sets component[i] to the component of point i, or to -2 for an unused point. Returns the number of components. */
static int number_components(const Part* part, int* component) {
  int* root = MEMORY_NEW(int, part->point_count + 1);
  disjoint_sets_init(root, part->point_count);
  for (int i = 0; i < part->point_count; i++) component[i] = -2;
  for (int i = 0; i < part->triangle_count; i++)
    for (int k = 0; k < 3; k++) {
      disjoint_sets_unite(root, part->triangles[i][0], part->triangles[i][k]);
      component[part->triangles[i][k]] = -1;
    }
  for (int i = 0; i < part->edge_count; i++) {
    disjoint_sets_unite(root, part->edges[i].a, part->edges[i].b);
    component[part->edges[i].a] = component[part->edges[i].b] = -1;
  }
  int count = 0;
  for (int i = 0; i < part->point_count; i++) {
    if (component[i] == -2) continue;
    int r = disjoint_sets_find(root, i);
    component[i] = r == i ? count++ : component[r];
  }
  memory_free(root);
  return count;
}

/* Copies all points, triangles and edges to the pieces of their components. */
static void distribute_to_pieces(const Part* part, const int* component, Part* pieces, int count) {
  int* number = MEMORY_NEW(int, part->point_count + 1);
  for (int k = 0; k < count; k++)
    for (int cap = 0; cap < part->cap_count; cap++) part_add_cap(&pieces[k], part->caps[cap]);
  for (int i = 0; i < part->point_count; i++)
    if (component[i] >= 0) number[i] = part_add_point(&pieces[component[i]], part->points[i]);
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    part_add_triangle(&pieces[component[t[0]]], number[t[0]], number[t[1]], number[t[2]]);
  }
  for (int i = 0; i < part->edge_count; i++) {
    const CapEdge* e = &part->edges[i];
    part_add_edge(&pieces[component[e->a]], number[e->a], number[e->b], e->cap);
  }
  memory_free(number);
}

/* Returns the piece of a cavity: the smallest piece whose bounding box contains it, otherwise the largest piece. */
static int find_owner(const PartBox* boxes, const double* volumes, int count, int cavity) {
  assert(count > 0);
  int best = -1, largest = 0;
  for (int k = 0; k < count; k++) {
    if (volumes[k] > volumes[largest]) largest = k;
    if (k == cavity || !(volumes[k] > 0) || !box_contains(boxes[k], boxes[cavity])) continue;
    if (best < 0 || volumes[k] < volumes[best]) best = k;
  }
  return best >= 0 ? best : largest;
}

/* Sets target[k] to the index of the piece that contains component k. A cavity belongs to the piece that encloses it.
 * Returns the number of pieces. */
static int join_cavities(const Part* pieces, int count, int* target) {
  PartBox* boxes = MEMORY_NEW(PartBox, count);
  double* volumes = MEMORY_NEW(double, count);
  int* owner = MEMORY_NEW(int, count);
  int kept = 0;
  for (int k = 0; k < count; k++) boxes[k] = part_box(&pieces[k]), volumes[k] = part_volume(&pieces[k]);
  for (int k = 0; k < count; k++) owner[k] = volumes[k] > 0 ? k : find_owner(boxes, volumes, count, k);
  for (int k = 0; k < count; k++) target[k] = owner[k] == k ? kept++ : -1;
  for (int k = 0; k < count; k++)
    if (target[k] < 0) target[k] = target[owner[k]] >= 0 ? target[owner[k]] : 0;
  memory_free(boxes);
  memory_free(volumes);
  memory_free(owner);
  return kept > 0 ? kept : 1;
}

static void free_pieces(Part* pieces, int count) {
  for (int k = 0; k < count; k++) part_free(&pieces[k]);
  memory_free(pieces);
}

/* If there are more than COMPONENTS_MAX surfaces, pairs of surfaces are not compared. Surfaces in the same cell of a
 * grid of CELLS_ALONG^3 cells then form one piece. */
enum { COMPONENTS_MAX = 512, CELLS_ALONG = 8 };

static int cell_along(double at, double low, double high) {
  return high > low ? (int)fmin(CELLS_ALONG - 1, CELLS_ALONG * (at - low) / (high - low)) : 0;
}

static int group_by_cell(const Part* part, const Part* pieces, int count, int* target) {
  PartBox whole = part_box(part);
  int number[CELLS_ALONG * CELLS_ALONG * CELLS_ALONG] = {0}, kept = 0;
  for (int k = 0; k < count; k++) {
    PartBox box = part_box(&pieces[k]);
    Vec3 middle = vec3_scale(vec3_add(box.low, box.high), 0.5);
    int cell = cell_along(middle.x, whole.low.x, whole.high.x);
    cell = cell * CELLS_ALONG + cell_along(middle.y, whole.low.y, whole.high.y);
    cell = cell * CELLS_ALONG + cell_along(middle.z, whole.low.z, whole.high.z);
    if (number[cell] == 0) number[cell] = ++kept;
    target[k] = number[cell] - 1;
  }
  return kept;
}

int part_components(const Part* part, Part** pieces) {
  int* component = MEMORY_NEW(int, part->point_count + 1);
  int count = number_components(part, component);
  *pieces = MEMORY_NEW(Part, count + 1);
  distribute_to_pieces(part, component, *pieces, count);
  if (count > 1) {
    int* target = MEMORY_NEW(int, count);
    bool crumbs = count > COMPONENTS_MAX;
    int kept = crumbs ? group_by_cell(part, *pieces, count, target) : join_cavities(*pieces, count, target);
    if (kept < count) {
      free_pieces(*pieces, count);
      for (int i = 0; i < part->point_count; i++)
        if (component[i] >= 0) component[i] = target[component[i]];
      *pieces = MEMORY_NEW(Part, kept + 1);
      distribute_to_pieces(part, component, *pieces, kept);
      count = kept;
    }
    memory_free(target);
  }
  memory_free(component);
  return count;
}

/* ---------------------------------------------------------------- sides of triangles */

static int order_sides(const void* a, const void* b) {
  const Side *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

Side* part_sides(const Part* part) {
  Side* sides = MEMORY_NEW(Side, 3 * part->triangle_count + 1);
  for (int i = 0; i < part->triangle_count; i++)
    for (int k = 0; k < 3; k++) {
      int a = part->triangles[i][k], b = part->triangles[i][(k + 1) % 3];
      sides[3 * i + k] = a < b ? (Side){a, b, i, false} : (Side){b, a, i, true};
    }
  qsort(sides, 3 * (size_t)part->triangle_count, sizeof *sides, order_sides);
  return sides;
}

int part_edge_end(const Side* sides, int count, int first) {
  assert(first >= 0 && first < count);
  int end = first + 1;
  while (end < count && sides[end].low == sides[first].low && sides[end].high == sides[first].high) end++;
  return end;
}
