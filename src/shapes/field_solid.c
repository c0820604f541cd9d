/* The solid phi <= 0 of a field: closed surface by marching tetrahedra (fields.md, Y7), moments by line integrals (Y8).
 */
#include <assert.h>
#include <string.h>
#include "shapes/shapes.h"

enum { CORNERS = 8, TETRAHEDRA = 6, ROOT_STEPS = 100, LINES = 3 };
/* Number of cells along each edge of the bounding box in the computation of moments. */
enum { MASS_CELLS = 32 };

/* ---------------------------------------------------------------- bounding box */

typedef struct {
  Vec3 low, high;
} Bounds;

static Bounds bounds_of_ball(Pose pose, double radius) {
  Vec3 r = vec3(radius, radius, radius);
  return (Bounds){vec3_sub(pose.t, r), vec3_add(pose.t, r)};
}

static Bounds merge_bounds(Bounds a, Bounds b) { return (Bounds){vec3_min(a.low, b.low), vec3_max(a.high, b.high)}; }

static Bounds compute_bounds(const Field* field, Pose outer) {
  Pose pose = pose_mul(outer, field->pose);
  if (field->kind == FIELD_SHAPE) return bounds_of_ball(pose, field->shape.outer);
  double margin = field->kind == FIELD_POINTS ? 2 * field->radius : 2 * field->smoothing;
  Bounds b = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  for (int i = 0; i < field->count; i++) {
    Vec3 p = pose_apply(pose, field->points[i]);
    b = merge_bounds(b, (Bounds){p, p});
  }
  int parts = field->kind == FIELD_SUBTRACTION ? 1 : field->part_count;
  for (int i = 0; i < parts; i++) b = merge_bounds(b, compute_bounds(&field->parts[i], pose));
  Vec3 margins = vec3(margin, margin, margin);
  return (Bounds){vec3_sub(b.low, margins), vec3_add(b.high, margins)};
}

/* ---------------------------------------------------------------- a grid of values */

typedef struct {
  const Field* field;
  Bounds bounds;
  int cells; /* number of cells along each edge */
  Vec3 step;
  double* value; /* values at the nodes (size: (cells + 1)^3) */
} Grid;

static int node_index(const Grid* g, int i, int j, int k) { return (i * (g->cells + 1) + j) * (g->cells + 1) + k; }

static Vec3 node_position(const Grid* g, int node) {
  int n = g->cells + 1, k = node % n, j = node / n % n, i = node / (n * n);
  return vec3(g->bounds.low.x + i * g->step.x, g->bounds.low.y + j * g->step.y, g->bounds.low.z + k * g->step.z);
}

static Grid create_grid(const Field* field, int cells) {
  Grid g = {.field = field, .bounds = compute_bounds(field, pose_identity()), .cells = cells};
  int nodes = (cells + 1) * (cells + 1) * (cells + 1);
  g.step = vec3_scale(vec3_sub(g.bounds.high, g.bounds.low), 1.0 / cells);
  g.value = MEMORY_NEW(double, nodes);
  for (int n = 0; n < nodes; n++) g.value[n] = field_evaluate(field, node_position(&g, n)).value;
  return g;
}

/* A root between two samples has converged if its position changes by less than ROOT_TOLERANCE, relative to the
 * distance of the samples. */
#define ROOT_TOLERANCE 1e-15

/* Returns the zero of the field between a (inside) and b (outside) by Newton's method along the line, beginning with
 * the secant. Bisection replaces a step that leaves the interval of the zero, or that is longer than half of the
 * previous step. */
static Vec3 find_root(const Field* field, Vec3 a, Vec3 b, double at_a, double at_b) {
  double low = 0, high = 1, t = at_a / (at_a - at_b), previous_step = 2;
  Vec3 direction = vec3_sub(b, a);
  if (!(t > 0 && t < 1)) t = 0.5;
  for (int k = 0; k < ROOT_STEPS; k++) {
    FieldValue v = field_evaluate(field, vec3_add_scaled(a, t, direction));
    if (v.value == 0) break;
    *(v.value < 0 ? &low : &high) = t;
    double next = t - v.value / vec3_dot(v.gradient, direction), step = fabs(next - t);
    bool is_valid = next > low && next < high && step < 0.5 * previous_step;
    if (!is_valid) next = 0.5 * (low + high);
    bool done = fabs(next - t) <= ROOT_TOLERANCE;
    previous_step = step;
    t = next;
    if (done) break;
  }
  return vec3_add_scaled(a, t, direction);
}

/* ---------------------------------------------------------------- marching tetrahedra (Y7) */

typedef struct {
  Grid grid;
  uint64_t* keys; /* hash table of the edges cut by the surface, with open addressing */
  int* points;
  int capacity;
  ConvexHull* out;
  int point_capacity, triangle_capacity;
} MarchingTetrahedra;

static void grow_edge_table(MarchingTetrahedra* m);

static int find_slot(const MarchingTetrahedra* m, uint64_t key) {
  uint64_t slot = key * 0x9e3779b97f4a7c15u >> 20;
  for (;; slot++) {
    int at = (int)(slot % (uint64_t)m->capacity);
    if (m->keys[at] == 0 || m->keys[at] == key) return at;
  }
}

static void grow_edge_table(MarchingTetrahedra* m) {
  MarchingTetrahedra old = *m;
  m->capacity = 2 * old.capacity;
  m->keys = MEMORY_NEW(uint64_t, m->capacity);
  m->points = MEMORY_NEW(int, m->capacity);
  for (int k = 0; k < old.capacity; k++) {
    if (old.keys[k] == 0) continue;
    int at = find_slot(m, old.keys[k]);
    m->keys[at] = old.keys[k];
    m->points[at] = old.points[k];
  }
  memory_free(old.keys);
  memory_free(old.points);
}

/* Returns the index of the surface point on the edge from node `in` to node `out`. Creates the point on first use. */
static int find_or_create_point(MarchingTetrahedra* m, int in, int out) {
  uint64_t low = (uint64_t)(in < out ? in : out), high = (uint64_t)(in < out ? out : in);
  uint64_t key = (low + 1) << 32 | high;
  int at = find_slot(m, key);
  if (m->keys[at] == key) return m->points[at];
  ConvexHull* hull = m->out;
  hull->vertices = memory_grow_array(hull->vertices, sizeof(Vec3), hull->vertex_count, &m->point_capacity);
  hull->vertices[hull->vertex_count] = find_root(m->grid.field, node_position(&m->grid, in),
                                                 node_position(&m->grid, out), m->grid.value[in], m->grid.value[out]);
  m->keys[at] = key;
  m->points[at] = hull->vertex_count++;
  int point = m->points[at];
  if (2 * hull->vertex_count > m->capacity) grow_edge_table(m);
  return point;
}

/* Adds a triangle, oriented counter-clockwise as seen from outside. inside: a node on the inner side of the
 * triangle. */
static void add_triangle(MarchingTetrahedra* m, int a, int b, int c, int inside) {
  ConvexHull* hull = m->out;
  const Vec3* v = hull->vertices;
  Vec3 normal = vec3_cross(vec3_sub(v[b], v[a]), vec3_sub(v[c], v[a]));
  bool flipped = vec3_dot(normal, vec3_sub(v[a], node_position(&m->grid, inside))) < 0;
  hull->triangles =
      memory_grow_array(hull->triangles, sizeof *hull->triangles, hull->triangle_count, &m->triangle_capacity);
  int* triangle = hull->triangles[hull->triangle_count++];
  triangle[0] = a;
  triangle[1] = flipped ? c : b;
  triangle[2] = flipped ? b : c;
}

static void march_tetrahedron(MarchingTetrahedra* m, const int node[4]) {
  int in[4], out[4], inside_count = 0, outside_count = 0;
  for (int k = 0; k < 4; k++)
    if (m->grid.value[node[k]] <= 0)
      in[inside_count++] = node[k];
    else
      out[outside_count++] = node[k];
  if (inside_count == 1)
    add_triangle(m, find_or_create_point(m, in[0], out[0]), find_or_create_point(m, in[0], out[1]),
                 find_or_create_point(m, in[0], out[2]), in[0]);
  if (inside_count == 3)
    add_triangle(m, find_or_create_point(m, in[0], out[0]), find_or_create_point(m, in[1], out[0]),
                 find_or_create_point(m, in[2], out[0]), in[0]);
  if (inside_count != 2) return;
  int p[4] = {find_or_create_point(m, in[0], out[0]), find_or_create_point(m, in[0], out[1]),
              find_or_create_point(m, in[1], out[1]), find_or_create_point(m, in[1], out[0])};
  add_triangle(m, p[0], p[1], p[2], in[0]);
  add_triangle(m, p[0], p[2], p[3], in[0]);
}

void field_solid(const Field* field, int cells, ConvexHull* mesh) {
  assert(cells > 0);
  /* the six tetrahedra of a cube are the six paths from corner 0 to corner 7; corner indices are bit masks */
  static const int CORNER_PATHS[TETRAHEDRA][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7},
                                                  {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};
  *mesh = (ConvexHull){0};
  MarchingTetrahedra m = {.grid = create_grid(field, cells), .capacity = 4096, .out = mesh};
  m.keys = MEMORY_NEW(uint64_t, m.capacity);
  m.points = MEMORY_NEW(int, m.capacity);
  for (int i = 0; i < cells; i++)
    for (int j = 0; j < cells; j++)
      for (int k = 0; k < cells; k++)
        for (int t = 0; t < TETRAHEDRA; t++) {
          int node[4];
          for (int c = 0; c < 4; c++)
            node[c] = node_index(&m.grid, i + (CORNER_PATHS[t][c] >> 2 & 1), j + (CORNER_PATHS[t][c] >> 1 & 1),
                                 k + (CORNER_PATHS[t][c] & 1));
          march_tetrahedron(&m, node);
        }
  memory_free(m.grid.value);
  memory_free(m.keys);
  memory_free(m.points);
}

/* ---------------------------------------------------------------- moments (Y8) */

/* Adds the moments of a box with density `factor`. */
static void add_box(Vec3 low, Vec3 high, double factor, MassMoment* sum) {
  Vec3 c = vec3_scale(vec3_add(low, high), 0.5), e = vec3_sub(high, low);
  double volume = factor * e.x * e.y * e.z, at[3] = {c.x, c.y, c.z};
  const double edge[3] = {e.x, e.y, e.z};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) sum->s[i][k] += volume * at[i] * at[k];
    sum->s[i][i] += volume * edge[i] * edge[i] / 12;
    sum->s[i][3] += volume * at[i];
    sum->s[3][i] += volume * at[i];
  }
  sum->s[3][3] += volume;
}

static double component(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static Vec3 with_component(Vec3 v, int axis, double x) {
  *(axis == 0 ? &v.x : axis == 1 ? &v.y : &v.z) = x;
  return v;
}

/* Adds the moments of that section of a line along `axis` that lies inside the solid, times `weight`. */
static void add_line(const Grid* g, Vec3 from, Vec3 to, int axis, double weight, MassMoment* sum) {
  double a = field_evaluate(g->field, from).value, b = field_evaluate(g->field, to).value;
  if (a > 0 && b > 0) return;
  Vec3 start = from, end = to;
  if (a > 0) start = find_root(g->field, to, from, b, a);
  if (b > 0) end = find_root(g->field, from, to, a, b);
  /* moments of a line segment without cross-section */
  Vec3 c = vec3_scale(vec3_add(start, end), 0.5);
  double length = component(end, axis) - component(start, axis), mass = weight * length;
  const double at[3] = {c.x, c.y, c.z};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) sum->s[i][k] += mass * at[i] * at[k];
    sum->s[i][3] += mass * at[i];
    sum->s[3][i] += mass * at[i];
  }
  sum->s[axis][axis] += mass * length * length / 12;
  sum->s[3][3] += mass;
}

/* Adds the moments of a cell cut by the surface. The integral uses lines along the axis nearest to the gradient, at
 * Gauss points of the perpendicular plane. */
static void add_cut_cell(const Grid* g, Vec3 low, MassMoment* sum) {
  static const double NODE[LINES] = {0.1127016653792583, 0.5, 0.8872983346207417};
  static const double WEIGHT[LINES] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  Vec3 slope = field_evaluate(g->field, vec3_add_scaled(low, 0.5, g->step)).gradient;
  double steepness[3] = {fabs(slope.x), fabs(slope.y), fabs(slope.z)};
  int axis = steepness[0] >= steepness[1] && steepness[0] >= steepness[2] ? 0 : steepness[1] >= steepness[2] ? 1 : 2;
  int p = (axis + 1) % 3, q = (axis + 2) % 3;
  double area = component(g->step, p) * component(g->step, q);
  for (int i = 0; i < LINES; i++)
    for (int k = 0; k < LINES; k++) {
      Vec3 from = with_component(low, p, component(low, p) + NODE[i] * component(g->step, p));
      from = with_component(from, q, component(low, q) + NODE[k] * component(g->step, q));
      Vec3 to = with_component(from, axis, component(low, axis) + component(g->step, axis));
      add_line(g, from, to, axis, area * WEIGHT[i] * WEIGHT[k], sum);
    }
}

MassMoment field_mass(const Field* field) {
  Grid g = create_grid(field, MASS_CELLS);
  MassMoment sum = mass_moment_zero();
  for (int i = 0; i < g.cells; i++)
    for (int j = 0; j < g.cells; j++)
      for (int k = 0; k < g.cells; k++) {
        int inside = 0;
        for (int c = 0; c < CORNERS; c++)
          inside += g.value[node_index(&g, i + (c >> 2 & 1), j + (c >> 1 & 1), k + (c & 1))] <= 0;
        Vec3 low = node_position(&g, node_index(&g, i, j, k));
        if (inside == CORNERS)
          add_box(low, vec3_add(low, g.step), 1, &sum);
        else if (inside > 0)
          add_cut_cell(&g, low, &sum);
      }
  memory_free(g.value);
  return sum;
}
