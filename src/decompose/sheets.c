/* Removes closed surfaces that coincide with another closed surface, whatever their triangulation. An example is a
 * solid with triangles on both sides. Surfaces coincide if bounding box, area and absolute volume are equal. At an edge
 * of four triangles, the fold angle decides which triangles belong to the same surface, because a surface does not fold
 * back on itself. */
#include <string.h>

#include "decompose/mesh_repair.h"

/* Tolerance of equal areas, volumes and bounding boxes of two triangulations of a surface [unit size]. */
#define EQUAL_TOLERANCE 1e-9
/* Largest number of surfaces that are compared. */
enum { SHEETS_MAX = 1000 };

typedef struct {
  Vec3 low, high;
  double area, volume;
  bool closed, is_removed;
} Sheet;

/* Returns the unit vector from the edge towards the third corner of the side's triangle, perpendicular to the edge. */
static Vec3 inward_direction(const Part* part, const Side* side) {
  const int* t = part->triangles[side->triangle];
  Vec3 a = part->points[side->low], along = vec3_normalized(vec3_sub(part->points[side->high], a));
  for (int k = 0; k < 3; k++) {
    if (t[k] == side->low || t[k] == side->high) continue;
    Vec3 to = vec3_sub(part->points[t[k]], a);
    return vec3_normalized(vec3_add_scaled(to, -vec3_dot(to, along), along));
  }
  return along;
}

/* Returns the cosine of the sharper of two fold angles, between a and b and between c and d. */
static double sharper_fold_cosine(const Part* part, const Side* a, const Side* b, const Side* c, const Side* d) {
  return fmax(vec3_dot(inward_direction(part, a), inward_direction(part, b)),
              vec3_dot(inward_direction(part, c), inward_direction(part, d)));
}

/* Joins the triangles at one edge that belong to the same surface. sides[count]: sides at the edge. Returns false if
 * the surface cannot be continued across the edge. */
static bool join_at_edge(const Part* part, const Side* sides, int count, int* root) {
  const Side *forward[2] = {sides, sides}, *backward[2] = {sides, sides};
  int ahead = 0, back = 0;
  if (count != 2 && count != 4) return false;
  for (int k = 0; k < count; k++) {
    int* number = sides[k].backward ? &back : &ahead;
    if (*number == count / 2) return false;
    (sides[k].backward ? backward : forward)[(*number)++] = &sides[k];
  }
  bool crossed = count == 4 && sharper_fold_cosine(part, forward[0], backward[0], forward[1], backward[1]) >
                                   sharper_fold_cosine(part, forward[0], backward[1], forward[1], backward[0]);
  for (int k = 0; k < count / 2; k++)
    disjoint_sets_unite(root, forward[k]->triangle, backward[crossed ? 1 - k : k]->triangle);
  return true;
}

static void add_triangle(Sheet* sheet, const Part* part, const int* t) {
  Vec3 a = part->points[t[0]], b = part->points[t[1]], c = part->points[t[2]];
  sheet->low = vec3_min(sheet->low, vec3_min(a, vec3_min(b, c)));
  sheet->high = vec3_max(sheet->high, vec3_max(a, vec3_max(b, c)));
  sheet->area += 0.5 * vec3_norm(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
  sheet->volume += vec3_dot(a, vec3_cross(b, c)) / 6;
}

static bool is_same(const Sheet* a, const Sheet* b) {
  double low = vec3_norm(vec3_sub(a->low, b->low)), high = vec3_norm(vec3_sub(a->high, b->high));
  return low <= EQUAL_TOLERANCE && high <= EQUAL_TOLERANCE && fabs(a->area - b->area) <= EQUAL_TOLERANCE &&
         fabs(fabs(a->volume) - fabs(b->volume)) <= EQUAL_TOLERANCE && fabs(a->volume) > EQUAL_TOLERANCE;
}

/* Removes one of every two equal surfaces: a surface that is oriented inward, otherwise the later surface. */
static void remove_equal_sheets(Sheet* sheets, int count) {
  for (int i = 0; i < count; i++)
    for (int k = i + 1; k < count && !sheets[i].is_removed; k++) {
      bool same = !sheets[k].is_removed && sheets[i].closed && sheets[k].closed && is_same(&sheets[i], &sheets[k]);
      if (same) sheets[sheets[i].volume < 0 && sheets[k].volume > 0 ? i : k].is_removed = true;
    }
}

/* Sets number[i] to the surface of triangle i. Returns the number of surfaces. */
static int number_sheets(const Part* part, int* number, Sheet* sheets) {
  int sides_count = 3 * part->triangle_count, count = 0;
  int* root = MEMORY_NEW(int, part->triangle_count + 1);
  int* of_root = MEMORY_NEW(int, part->triangle_count + 1);
  bool* open = MEMORY_NEW(bool, part->triangle_count + 1);
  Side* sides = part_sides(part);
  disjoint_sets_init(root, part->triangle_count);
  for (int i = 0, next; i < sides_count; i = next) {
    next = part_edge_end(sides, sides_count, i);
    if (!join_at_edge(part, sides + i, next - i, root))
      for (int k = i; k < next; k++) open[sides[k].triangle] = true;
  }
  for (int i = 0; i < part->triangle_count; i++) {
    int r = disjoint_sets_find(root, i);
    if (of_root[r] == 0 && count < SHEETS_MAX)
      sheets[count] = (Sheet){
          .low = part->points[part->triangles[i][0]], .high = part->points[part->triangles[i][0]], .closed = true};
    if (of_root[r] == 0) of_root[r] = ++count;
    number[i] = of_root[r] - 1;
    if (number[i] >= SHEETS_MAX) continue;
    add_triangle(&sheets[number[i]], part, part->triangles[i]);
    sheets[number[i]].closed &= !open[i];
  }
  memory_free(root);
  memory_free(of_root);
  memory_free(open);
  memory_free(sides);
  return count;
}

int part_remove_equal_surfaces(Part* part) {
  int* number = MEMORY_NEW(int, part->triangle_count + 1);
  Sheet* sheets = MEMORY_NEW(Sheet, SHEETS_MAX);
  int count = number_sheets(part, number, sheets), kept = 0, before = part->triangle_count;
  if (count > 1 && count <= SHEETS_MAX) {
    remove_equal_sheets(sheets, count);
    for (int i = 0; i < before; i++)
      if (!sheets[number[i]].is_removed) memcpy(part->triangles[kept++], part->triangles[i], sizeof *part->triangles);
    part->triangle_count = kept;
  }
  memory_free(number);
  memory_free(sheets);
  return before - part->triangle_count;
}
