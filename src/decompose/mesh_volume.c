/* Volume enclosed by a surface that may overlap itself. The divergence theorem counts overlapping regions several
 * times; columns through the solid measure the excess. The result is exact without overlaps. */
#include <stdlib.h>

#include "decompose/mesh_repair.h"

/* Range of the number of columns along x and along y. TESTS_MAX limits the number of tests of a column against a
 * triangle. */
enum { COLUMNS_MAX = 512, COLUMNS_MIN = 16 };
#define TESTS_MAX 4e7
/* Two surfaces at a smaller distance than this count as one surface [unit size]. */
#define SHEET_DISTANCE 1e-9
/* Rotation of the solid before columns are placed. The columns are then not aligned with faces or diagonals of
 * axis-aligned solids, so that the error decreases with the squared distance of the columns. */
#define COLUMN_ROTATION ((Quat){0.8365163037378079, 0.2241438680420134, 0.4330127018922193, 0.2500000000000000})

typedef struct {
  int column, sign; /* +1 if the winding number increases at the crossing, -1 if it decreases */
  double height;
} Crossing;

typedef struct {
  const Part* part;
  Vec3* points; /* points of the part in the rotated frame */
  Vec3 low;
  double edge; /* distance of neighbouring columns [unit size] */
  int count;   /* number of columns along x and along y */
  Crossing* crossings;
  int crossing_count, crossing_capacity;
} VolumeColumns;

static double column_position(const VolumeColumns* c, double low, int k) { return low + (k + 0.5) * c->edge; }

/* Returns the index of the first column at or after the coordinate `from`. */
static int first_column(const VolumeColumns* c, double low, double from) {
  return (int)fmax(0, ceil((from - low) / c->edge - 0.5));
}

static int column_end(const VolumeColumns* c, double low, double to) {
  return (int)fmin(c->count, floor((to - low) / c->edge - 0.5) + 1);
}

/* Returns twice the signed area of the triangle of an edge and a point. Reversing the edge gives exactly the negative
 * value. */
static double signed_double_area(Vec3 a, Vec3 b, double x, double y) {
  bool swap = a.x > b.x || (a.x == b.x && a.y > b.y);
  Vec3 p = swap ? b : a, q = swap ? a : b;
  double area = (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
  return swap ? -area : area;
}

static void cross_column(VolumeColumns* c, const Vec3 t[3], int i, int j) {
  double x = column_position(c, c->low.x, i), y = column_position(c, c->low.y, j);
  double weight[3], sum = 0, height = 0;
  for (int k = 0; k < 3; k++) {
    weight[k] = signed_double_area(t[(k + 1) % 3], t[(k + 2) % 3], x, y);
    sum += weight[k];
    height += weight[k] * t[k].z;
  }
  bool left = weight[0] > 0 && weight[1] > 0 && weight[2] > 0, right = weight[0] < 0 && weight[1] < 0 && weight[2] < 0;
  if (!left && !right) return;
  c->crossings = memory_grow_array(c->crossings, sizeof *c->crossings, c->crossing_count, &c->crossing_capacity);
  c->crossings[c->crossing_count++] = (Crossing){j * c->count + i, left ? -1 : 1, height / sum};
}

static void cross_triangle(VolumeColumns* c, const int* triangle) {
  const Vec3 t[3] = {c->points[triangle[0]], c->points[triangle[1]], c->points[triangle[2]]};
  Vec3 low = vec3_min(t[0], vec3_min(t[1], t[2])), high = vec3_max(t[0], vec3_max(t[1], t[2]));
  for (int j = first_column(c, c->low.y, low.y); j < column_end(c, c->low.y, high.y); j++)
    for (int i = first_column(c, c->low.x, low.x); i < column_end(c, c->low.x, high.x); i++) cross_column(c, t, i, j);
}

static int order_crossings(const void* a, const void* b) {
  const Crossing *p = a, *q = b;
  if (p->column != q->column) return p->column < q->column ? -1 : 1;
  if (p->height != q->height) return p->height < q->height ? -1 : 1;
  return p->sign < q->sign ? -1 : p->sign > q->sign;
}

/* Returns the length by which overlaps are counted too often along a column: the integral of (winding number - 1) over
 * the column inside the solid. Returns 0 if the winding number at the end is not 0, because the column then passes
 * through an edge. */
static double excess_length(const Crossing* crossings, int count) {
  double sum = 0;
  int winding = 0;
  for (int k = 0; k < count; k++) {
    double length = k > 0 ? crossings[k].height - crossings[k - 1].height : 0;
    if (length > SHEET_DISTANCE) sum += (winding - (winding != 0)) * length;
    winding += crossings[k].sign;
  }
  return winding == 0 ? sum : 0;
}

static void place_columns(VolumeColumns* c) {
  const Part* part = c->part;
  Vec3 low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = vec3_scale(low, -1);
  Mat3 turn = mat3_from_quat(quat_normalized(COLUMN_ROTATION));
  for (int i = 0; i < part->point_count; i++) {
    c->points[i] = mat3_mul_vec(turn, part->points[i]);
    low = vec3_min(low, c->points[i]), high = vec3_max(high, c->points[i]);
  }
  double width = fmax(high.x - low.x, high.y - low.y), area = 0;
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    Vec3 a = c->points[t[0]], b = c->points[t[1]], d = c->points[t[2]];
    Vec3 size = vec3_sub(vec3_max(a, vec3_max(b, d)), vec3_min(a, vec3_min(b, d)));
    area += size.x * size.y;
  }
  double most = area > 0 ? width * sqrt(TESTS_MAX / area) : COLUMNS_MAX;
  c->count = (int)fmax(COLUMNS_MIN, fmin(COLUMNS_MAX, most));
  c->edge = width / c->count;
  c->low = low;
}

double part_solid_volume(const Part* part) {
  VolumeColumns c = {.part = part, .points = MEMORY_NEW(Vec3, part->point_count + 1)};
  double overlap = 0;
  place_columns(&c);
  for (int i = 0; i < part->triangle_count && c.edge > 0; i++) cross_triangle(&c, part->triangles[i]);
  if (c.crossing_count > 0) qsort(c.crossings, (size_t)c.crossing_count, sizeof *c.crossings, order_crossings);
  for (int i = 0, next; i < c.crossing_count; i = next) {
    for (next = i; next < c.crossing_count && c.crossings[next].column == c.crossings[i].column;) next++;
    overlap += excess_length(c.crossings + i, next - i);
  }
  memory_free(c.points);
  memory_free(c.crossings);
  return part_volume(part) - overlap * c.edge * c.edge;
}
