#include "decompose/mesh_repair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A triangle is degenerate if twice its area is at most this value [unit size^2]. */
#define AREA_MIN 1e-14
/* Largest number of reversals of patches, relative to the number of patches. Two reversals suffice for a wall between
 * two cavities. */
#define REVERSALS_PER_PATCH 4

double winding_number(const Part* part, Vec3 point) {
  double angle = 0;
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    Vec3 a = vec3_sub(part->points[t[0]], point), b = vec3_sub(part->points[t[1]], point);
    Vec3 c = vec3_sub(part->points[t[2]], point);
    double la = vec3_norm(a), lb = vec3_norm(b), lc = vec3_norm(c);
    double below = la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
    angle += 2 * math_atan2(vec3_dot(a, vec3_cross(b, c)), below);
  }
  return angle / (4 * 3.14159265358979323846);
}

/* ---------------------------------------------------------------- unit size, joining points */

static UnitFrame unit_frame(const Mesh* mesh) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1.0);
  for (int i = 0; i < mesh->corner_count; i++) {
    low = vec3_min(low, mesh->positions[mesh->corners[i]]);
    high = vec3_max(high, mesh->positions[mesh->corners[i]]);
  }
  int exponent;
  frexp(vec3_norm(vec3_sub(high, low)), &exponent);
  return (UnitFrame){vec3_scale(vec3_add(low, high), 0.5), ldexp(1.0, exponent)};
}

typedef struct {
  int64_t x, y, z;
} Cell;

typedef struct {
  int* first; /* index of the first point of each slot of the hash table; -1 for an empty slot */
  int* next;  /* index of the next point in the same slot of the hash table, or -1 */
  uint64_t mask;
  double merge_distance; /* distance within which points are merged, and edge of a hash cell [unit size] */
} CellTable;

static Cell cell_of(const CellTable* table, Vec3 p) {
  return (Cell){llround(p.x / table->merge_distance), llround(p.y / table->merge_distance),
                llround(p.z / table->merge_distance)};
}

static uint64_t slot_of(const CellTable* table, Cell c) {
  uint64_t hash =
      (uint64_t)c.x * 0x9E3779B97F4A7C15u ^ (uint64_t)c.y * 0xC2B2AE3D27D4EB4Fu ^ (uint64_t)c.z * 0x165667B19E3779F9u;
  return (hash ^ hash >> 29) & table->mask;
}

static int find_near_point(const CellTable* table, const Part* part, Vec3 p) {
  if (!part->points) return -1;
  Cell at = cell_of(table, p);
  for (int k = 0; k < 27; k++) {
    Cell c = {at.x + k % 3 - 1, at.y + k / 3 % 3 - 1, at.z + k / 9 - 1};
    for (int i = table->first[slot_of(table, c)]; i >= 0; i = table->next[i])
      if (vec3_norm(vec3_sub(part->points[i], p)) <= table->merge_distance) return i;
  }
  return -1;
}

static CellTable table_create(int count, double merge_distance) {
  CellTable table = {.mask = 15, .merge_distance = merge_distance};
  while (table.mask < 2 * (uint64_t)count) table.mask = 2 * table.mask + 1;
  table.first = MEMORY_NEW(int, table.mask + 1);
  table.next = MEMORY_NEW(int, count + 1);
  for (uint64_t i = 0; i <= table.mask; i++) table.first[i] = -1;
  return table;
}

/* Merges equal points of the faces and adds them to *solid in unit size. Sets number[i] to the new index of mesh
 * position i. */
static void join_points(const Mesh* mesh, UnitFrame frame, double merge_distance, Part* solid, int* number,
                        MeshCondition* condition) {
  CellTable table = table_create(mesh->position_count, merge_distance);
  for (int i = 0; i < mesh->position_count; i++) number[i] = -2;
  for (int i = 0; i < mesh->corner_count; i++) number[mesh->corners[i]] = -1;
  for (int i = 0; i < mesh->position_count; i++) {
    condition->unused_points += number[i] == -2;
    if (number[i] == -2) continue;
    Vec3 p = vec3_scale(vec3_sub(mesh->positions[i], frame.center), 1.0 / frame.scale);
    number[i] = find_near_point(&table, solid, p);
    if (number[i] >= 0) {
      condition->joined_points++;
      continue;
    }
    number[i] = part_add_point(solid, p);
    uint64_t slot = slot_of(&table, cell_of(&table, p));
    table.next[number[i]] = table.first[slot];
    table.first[slot] = number[i];
  }
  memory_free(table.first);
  memory_free(table.next);
}

/* ---------------------------------------------------------------- triangles */

/* Returns the normal of a face times twice its area, by Newell's method. */
static Vec3 face_normal(const Mesh* mesh, const int* corners, int count) {
  Vec3 sum = {0, 0, 0}, origin = mesh->positions[corners[0]];
  for (int k = 1; k + 1 < count; k++)
    sum = vec3_add(sum, vec3_cross(vec3_sub(mesh->positions[corners[k]], origin),
                                   vec3_sub(mesh->positions[corners[k + 1]], origin)));
  return sum;
}

static void add_faces(const Mesh* mesh, const int* number, Part* solid, MeshCondition* condition) {
  for (int f = 0; f < mesh->face_count; f++) {
    const int* corners = mesh->corners + mesh->face_first[f];
    int count = mesh->face_first[f + 1] - mesh->face_first[f];
    int(*pieces)[3] = memory_alloc(sizeof *pieces * (size_t)count);
    int made = polygon_triangulate(mesh->positions, corners, count, face_normal(mesh, corners, count), pieces);
    for (int k = 0; k < made; k++) {
      int a = number[pieces[k][0]], b = number[pieces[k][1]], c = number[pieces[k][2]];
      if (a == b || b == c || c == a)
        condition->degenerate_triangles++;
      else
        part_add_triangle(solid, a, b, c);
    }
    memory_free(pieces);
  }
}

/* A triangle with its corners in ascending order. */
typedef struct {
  int corner[3], triangle;
  bool odd; /* true if an odd number of swaps sorted the corners, which reverses the orientation */
} SortedTriangle;

static int order_triangles(const void* a, const void* b) {
  const SortedTriangle *p = a, *q = b;
  for (int k = 0; k < 3; k++)
    if (p->corner[k] != q->corner[k]) return p->corner[k] < q->corner[k] ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static void sort_two(SortedTriangle* t, int i, int j) {
  assert(i >= 0 && i < j && j < 3);
  if (t->corner[i] <= t->corner[j]) return;
  int kept = t->corner[i];
  t->corner[i] = t->corner[j], t->corner[j] = kept, t->odd = !t->odd;
}

static SortedTriangle* sorted_triangles(const Part* part) {
  SortedTriangle* list = MEMORY_NEW(SortedTriangle, part->triangle_count + 1);
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    list[i] = (SortedTriangle){{t[0], t[1], t[2]}, i, false};
    sort_two(&list[i], 0, 1), sort_two(&list[i], 1, 2), sort_two(&list[i], 0, 1);
  }
  qsort(list, (size_t)part->triangle_count, sizeof *list, order_triangles);
  return list;
}

static void keep_triangles(Part* part, const bool* is_removed) {
  int kept = 0;
  for (int i = 0; i < part->triangle_count; i++)
    if (!is_removed[i]) memcpy(part->triangles[kept++], part->triangles[i], sizeof *part->triangles);
  part->triangle_count = kept;
}

/* Removes duplicates of triangles with the same corners. One triangle of the more frequent orientation stays. If both
 * orientations are equally frequent, one triangle of each stays. */
static void remove_duplicates(Part* part, MeshCondition* condition) {
  SortedTriangle* list = sorted_triangles(part);
  bool* is_removed = MEMORY_NEW(bool, part->triangle_count + 1);
  for (int i = 0, next; i < part->triangle_count; i = next) {
    int turned[2] = {0, 0};
    for (next = i; next < part->triangle_count; next++) {
      if (memcmp(list[next].corner, list[i].corner, sizeof list[i].corner) != 0) break;
      turned[list[next].odd]++;
    }
    bool sheet = turned[0] == turned[1], taken[2] = {false, false};
    for (int k = i; k < next; k++) {
      bool odd = list[k].odd, want = sheet || turned[odd] > turned[!odd];
      is_removed[list[k].triangle] = !want || taken[odd];
      taken[odd] |= want;
      condition->repeated_triangles += is_removed[list[k].triangle];
    }
  }
  keep_triangles(part, is_removed);
  memory_free(list);
  memory_free(is_removed);
}

/* ---------------------------------------------------------------- edges */

/* Removes degenerate triangles. Keeps a degenerate triangle with an edge of exactly two triangles, because its removal
 * would open the surface. */
static void remove_degenerate(Part* part, MeshCondition* condition) {
  bool* is_removed = MEMORY_NEW(bool, part->triangle_count + 1);
  for (int i = 0; i < part->triangle_count; i++) {
    Vec3 a = part->points[part->triangles[i][0]], b = part->points[part->triangles[i][1]];
    Vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(part->points[part->triangles[i][2]], a));
    is_removed[i] = vec3_norm(normal) <= AREA_MIN;
  }
  Side* sides = part_sides(part);
  for (int i = 0, next; i < 3 * part->triangle_count; i = next) {
    next = part_edge_end(sides, 3 * part->triangle_count, i);
    for (int k = i; next - i == 2 && k < next; k++) is_removed[sides[k].triangle] = false;
  }
  for (int i = 0; i < part->triangle_count; i++) condition->degenerate_triangles += is_removed[i];
  keep_triangles(part, is_removed);
  memory_free(sides);
  memory_free(is_removed);
}

/* ---------------------------------------------------------------- consistent orientation */

static void reverse_triangle(int triangle[3]) {
  int kept = triangle[1];
  triangle[1] = triangle[2], triangle[2] = kept;
}

/* Neighbours of triangles across edges of exactly two triangles. neighbour: index, or -1 at an edge of one or of more
 * than two triangles. differs: true if the neighbour has the opposite orientation. */
typedef struct {
  int (*neighbour)[3];
  bool (*differs)[3];
} TriangleNeighbours;

static void link_sides(TriangleNeighbours* n, const Side* a, const Side* b) {
  for (int k = 0; k < 3; k++)
    if (n->neighbour[a->triangle][k] < 0) {
      n->neighbour[a->triangle][k] = b->triangle;
      n->differs[a->triangle][k] = a->backward == b->backward;
      return;
    }
}

static TriangleNeighbours triangle_neighbours(const Part* part, MeshCondition* condition) {
  TriangleNeighbours n = {memory_alloc(sizeof *n.neighbour * (size_t)(part->triangle_count + 1)),
                          memory_alloc(sizeof *n.differs * (size_t)(part->triangle_count + 1))};
  for (int i = 0; i < part->triangle_count; i++)
    for (int k = 0; k < 3; k++) n.neighbour[i][k] = -1;
  Side* sides = part_sides(part);
  for (int i = 0, next; i < 3 * part->triangle_count; i = next) {
    next = part_edge_end(sides, 3 * part->triangle_count, i);
    condition->border_edges += next - i == 1;
    condition->branching_edges += next - i > 2;
    if (next - i != 2) continue;
    link_sides(&n, &sides[i], &sides[i + 1]);
    link_sides(&n, &sides[i + 1], &sides[i]);
  }
  memory_free(sides);
  return n;
}

/* Orients a patch of triangles consistently with its larger area. Edges of exactly two triangles connect a patch. */
static void orient_patch(Part* part, const TriangleNeighbours* n, int seed, int* patch, int number, int* queue,
                         bool* turned, MeshCondition* condition) {
  int head = 0, tail = 0;
  double kept_area = 0, turned_area = 0;
  queue[tail++] = seed, patch[seed] = number;
  while (head < tail) {
    int i = queue[head++];
    const int* t = part->triangles[i];
    Vec3 a = part->points[t[0]];
    double area = vec3_norm(vec3_cross(vec3_sub(part->points[t[1]], a), vec3_sub(part->points[t[2]], a)));
    *(turned[i] ? &turned_area : &kept_area) += area;
    for (int k = 0; k < 3; k++) {
      int j = n->neighbour[i][k];
      if (j < 0 || patch[j] >= 0) continue;
      patch[j] = number, turned[j] = turned[i] != n->differs[i][k], queue[tail++] = j;
    }
  }
  bool all = turned_area > kept_area;
  for (int k = 0; k < tail; k++) {
    if (turned[queue[k]] == all) continue;
    reverse_triangle(part->triangles[queue[k]]);
    condition->turned_triangles++;
  }
}

static int orient_patches(Part* part, int* patch, MeshCondition* condition) {
  TriangleNeighbours n = triangle_neighbours(part, condition);
  int* queue = MEMORY_NEW(int, part->triangle_count + 1);
  bool* turned = MEMORY_NEW(bool, part->triangle_count + 1);
  int count = 0;
  for (int i = 0; i < part->triangle_count; i++) patch[i] = -1;
  for (int i = 0; i < part->triangle_count; i++)
    if (patch[i] < 0) orient_patch(part, &n, i, patch, count++, queue, turned, condition);
  memory_free(n.neighbour);
  memory_free(n.differs);
  memory_free(queue);
  memory_free(turned);
  return count;
}

/* Reverses the patch that reduces the number of open edges most. Returns false if no patch does. Needed where several
 * patches share an edge, such as at a wall between two cavities. */
static bool reverse_best_patch(Part* part, const int* patch, int patch_count, MeshCondition* condition) {
  Side* sides = part_sides(part);
  int* gain = MEMORY_NEW(int, patch_count + 1);
  for (int i = 0, next; i < 3 * part->triangle_count; i = next) {
    next = part_edge_end(sides, 3 * part->triangle_count, i);
    int sum = 0;
    for (int k = i; k < next; k++) sum += sides[k].backward ? -1 : 1;
    for (int k = i; k < next; k++) {
      int change = sides[k].backward ? 2 : -2;
      gain[patch[sides[k].triangle]] += abs(sum) - abs(sum + change);
    }
  }
  int best = 0;
  for (int k = 1; k < patch_count; k++)
    if (gain[k] > gain[best]) best = k;
  bool worth = gain[best] > 0;
  for (int i = 0; worth && i < part->triangle_count; i++) {
    if (patch[i] != best) continue;
    reverse_triangle(part->triangles[i]);
    condition->turned_triangles++;
  }
  memory_free(sides);
  memory_free(gain);
  return worth;
}

/* ---------------------------------------------------------------- closing */

/* Sets *list to the open edges, directed as in their triangles, and returns their number. */
static int open_edges(const Part* part, CapEdge** list) {
  Side* sides = part_sides(part);
  *list = MEMORY_NEW(CapEdge, 3 * part->triangle_count + 1);
  int count = 0;
  for (int i = 0, next; i < 3 * part->triangle_count; i = next) {
    next = part_edge_end(sides, 3 * part->triangle_count, i);
    int sum = 0, low = sides[i].low, high = sides[i].high;
    for (int k = i; k < next; k++) sum += sides[k].backward ? -1 : 1;
    for (int k = 0; k < abs(sum); k++) (*list)[count++] = sum > 0 ? (CapEdge){low, high, 0} : (CapEdge){high, low, 0};
  }
  memory_free(sides);
  return count;
}

/* Closes every connected border by a fan of triangles to the mean of its points. */
static void close_borders(Part* part, MeshCondition* condition) {
  CapEdge* edges;
  int count = open_edges(part, &edges), point_count = part->point_count;
  int* root = MEMORY_NEW(int, point_count + 1);
  int* middle = MEMORY_NEW(int, point_count + 1);
  int* members = MEMORY_NEW(int, point_count + 1);
  Vec3* sum = MEMORY_NEW(Vec3, point_count + 1);
  disjoint_sets_init(root, point_count);
  for (int k = 0; k < count; k++) disjoint_sets_unite(root, edges[k].a, edges[k].b);
  for (int k = 0; k < count; k++) {
    int r = disjoint_sets_find(root, edges[k].a);
    sum[r] = vec3_add(sum[r], part->points[edges[k].a]);
    members[r]++;
  }
  for (int i = 0; i < point_count; i++) {
    if (members[i] == 0) continue;
    middle[i] = part_add_point(part, vec3_scale(sum[i], 1.0 / members[i]));
    condition->closed_borders++;
  }
  for (int k = 0; k < count; k++)
    part_add_triangle(part, edges[k].b, edges[k].a, middle[disjoint_sets_find(root, edges[k].a)]);
  memory_free(edges);
  memory_free(root);
  memory_free(middle);
  memory_free(members);
  memory_free(sum);
}

/* ---------------------------------------------------------------- outward orientation */

static void reverse_all(Part* part) {
  for (int i = 0; i < part->triangle_count; i++) reverse_triangle(part->triangles[i]);
}

static int component_numbers(const Part* part, int* number) {
  int* root = MEMORY_NEW(int, part->point_count + 1);
  int count = 0;
  disjoint_sets_init(root, part->point_count);
  for (int i = 0; i < part->triangle_count; i++)
    for (int k = 1; k < 3; k++) disjoint_sets_unite(root, part->triangles[i][0], part->triangles[i][k]);
  int* of_root = MEMORY_NEW(int, part->point_count + 1);
  for (int i = 0; i < part->triangle_count; i++) {
    int r = disjoint_sets_find(root, part->triangles[i][0]);
    if (of_root[r] == 0) of_root[r] = ++count;
    number[i] = of_root[r] - 1;
  }
  memory_free(root);
  memory_free(of_root);
  return count;
}

/* Returns the triangles of one connected surface, or the triangles of all other surfaces if `others` is true. The
 * points are borrowed from `part`. */
static Part borrow_component(const Part* part, const int* number, int component, bool others) {
  Part piece = {.points = part->points, .point_count = part->point_count};
  for (int i = 0; i < part->triangle_count; i++)
    if ((number[i] == component) != others)
      part_add_triangle(&piece, part->triangles[i][0], part->triangles[i][1], part->triangles[i][2]);
  return piece;
}

/* Returns true if the components `other_components` enclose the piece, by the winding number at the extreme points of
 * the piece along the axes. */
static bool is_enclosed(const Part* piece, const Part* other_components) {
  for (int axis = 0; axis < 6; axis++) {
    Vec3 along = vec3(axis / 2 == 0, axis / 2 == 1, axis / 2 == 2), farthest = {0, 0, 0};
    double most = -HUGE_VAL;
    for (int i = 0; i < 3 * piece->triangle_count; i++) {
      Vec3 p = piece->points[piece->triangles[i / 3][i % 3]];
      double reach = (axis % 2 == 0 ? 1 : -1) * vec3_dot(along, p);
      if (reach > most) most = reach, farthest = p;
    }
    if (!(winding_number(other_components, farthest) > 0.5)) return false;
  }
  return true;
}

static void orient_component(Part* part, const int* number, int component, MeshCondition* condition) {
  Part piece = borrow_component(part, number, component, false),
       other_components = borrow_component(part, number, component, true);
  if (piece.triangle_count > 0 && part_volume(&piece) < 0) {
    if (is_enclosed(&piece, &other_components)) {
      condition->cavities++;
    } else {
      for (int i = 0; i < part->triangle_count; i++)
        if (number[i] == component) reverse_triangle(part->triangles[i]), condition->turned_triangles++;
    }
  }
  memory_free(piece.triangles);
  memory_free(other_components.triangles);
}

/* Number of components that are oriented individually. More components occur only in meshes of unconnected triangles.
 */
#define ORIENTED_COMPONENTS_MAX 200

static void orient_surfaces(Part* part, MeshCondition* condition) {
  int* number = MEMORY_NEW(int, part->triangle_count + 1);
  condition->components = component_numbers(part, number);
  if (part_volume(part) < 0) {
    reverse_all(part);
    condition->inside_out = true;
  }
  for (int k = 0; condition->components > 1 && k < condition->components && k < ORIENTED_COMPONENTS_MAX; k++)
    orient_component(part, number, k, condition);
  memory_free(number);
}

/* ---------------------------------------------------------------- double-sided surfaces */

/* Finds closed connected surfaces in which every triangle exists in both orientations. Sets doubled[component] to true
 * for such surfaces, and back[triangle] to true for the second triangle of each pair. */
static void find_doubled(const Part* part, const int* number, bool* doubled, bool* back) {
  SortedTriangle* list = sorted_triangles(part);
  for (int i = 0, next; i < part->triangle_count; i = next) {
    for (next = i + 1; next < part->triangle_count; next++)
      if (memcmp(list[next].corner, list[i].corner, sizeof list[i].corner) != 0) break;
    bool twins = next - i == 2 && list[i].odd != list[i + 1].odd;
    if (twins) back[list[i + 1].triangle] = true;
    for (int k = i; !twins && k < next; k++) doubled[number[list[k].triangle]] = false;
  }
  Side* sides = part_sides(part);
  for (int i = 0, next; i < 3 * part->triangle_count; i = next) {
    next = part_edge_end(sides, 3 * part->triangle_count, i);
    for (int k = i; next - i != 4 && k < next; k++) doubled[number[sides[k].triangle]] = false;
  }
  memory_free(sides);
  memory_free(list);
}

/* Removes one side of closed connected surfaces in which every triangle exists in both orientations, because they
 * enclose no volume. Open surfaces keep both sides. */
static void remove_back_sides(Part* part, MeshCondition* condition) {
  int* number = MEMORY_NEW(int, part->triangle_count + 1);
  int components = component_numbers(part, number);
  bool* doubled = MEMORY_NEW(bool, components + 1);
  bool* back = MEMORY_NEW(bool, part->triangle_count + 1);
  for (int k = 0; k < components; k++) doubled[k] = true;
  find_doubled(part, number, doubled, back);
  for (int i = 0; i < part->triangle_count; i++) {
    back[i] = back[i] && doubled[number[i]];
    condition->repeated_triangles += back[i];
  }
  keep_triangles(part, back);
  memory_free(number);
  memory_free(doubled);
  memory_free(back);
}

/* ---------------------------------------------------------------- choice of the merge distance */

/* Returns the triangles of the faces, without duplicate and degenerate triangles. Merges points closer than
 * `merge_distance`. */
static Part assemble_part(const Mesh* mesh, UnitFrame frame, double merge_distance, MeshCondition* condition) {
  Part solid = {0};
  *condition =
      (MeshCondition){.degenerate_triangles = mesh->degenerate_face_count, .joining = merge_distance * frame.scale};
  int* number = MEMORY_NEW(int, mesh->position_count + 1);
  join_points(mesh, frame, merge_distance, &solid, number, condition);
  add_faces(mesh, number, &solid, condition);
  memory_free(number);
  remove_duplicates(&solid, condition);
  remove_degenerate(&solid, condition);
  return solid;
}

static int count_borders(const Part* part) {
  Side* sides = part_sides(part);
  int count = 0;
  for (int i = 0, next; i < 3 * part->triangle_count; i = next) {
    next = part_edge_end(sides, 3 * part->triangle_count, i);
    count += next - i == 1;
  }
  memory_free(sides);
  return count;
}

/* Merges the points of the mesh at the distance that closes the surface, because meshes with separate corners for every
 * face have open borders everywhere. Increases the distance by factors of 10, later of 3. Uses a larger distance if it
 * closes nine of ten borders and keeps nine of ten triangles. Intended openings stay open. */
static Part assemble_closed(const Mesh* mesh, UnitFrame frame, MeshCondition* condition) {
  Part solid = assemble_part(mesh, frame, WELD_DISTANCE, condition);
  int borders = count_borders(&solid), triangles = solid.triangle_count;
  for (double merge_distance = 10 * WELD_DISTANCE; borders > 0 && merge_distance <= WELD_DISTANCE_MAX;
       merge_distance *= merge_distance < 5e-4 ? 10 : 3) {
    MeshCondition tried;
    Part other = assemble_part(mesh, frame, merge_distance, &tried);
    int left = count_borders(&other);
    bool better = 10 * (int64_t)left <= borders && 10 * (int64_t)other.triangle_count >= 9 * (int64_t)triangles;
    part_free(better ? &solid : &other);
    if (better) solid = other, *condition = tried, borders = left;
  }
  return solid;
}

bool mesh_repair(const Mesh* mesh, Part* solid, UnitFrame* frame, MeshCondition* condition) {
  *solid = (Part){0};
  *condition = (MeshCondition){.degenerate_triangles = mesh->degenerate_face_count};
  *frame = unit_frame(mesh);
  if (!(frame->scale > 0)) return false;
  *solid = assemble_closed(mesh, *frame, condition);
  remove_back_sides(solid, condition);
  condition->repeated_triangles += part_remove_equal_surfaces(solid);
  int* patch = MEMORY_NEW(int, solid->triangle_count + 1);
  int patches = orient_patches(solid, patch, condition);
  for (int pass = 0; patches > 1 && pass < REVERSALS_PER_PATCH * patches && pass < ORIENTED_COMPONENTS_MAX; pass++)
    if (!reverse_best_patch(solid, patch, patches, condition)) break;
  memory_free(patch);
  close_borders(solid, condition);
  orient_surfaces(solid, condition);
  return solid->triangle_count > 0;
}
