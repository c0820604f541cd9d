/* Surfaces of links as OBJ [m] and binary STL [mm]: every convex piece is a closed solid of its own. Pieces of a link
 * touch or overlap; they are not united (docs/export.md). */
#include <stdlib.h>
#include <string.h>

#include "output/export.h"

/* Pieces no farther apart than this part of the whole hang together, and overlap when they meet deeper. */
#define TOUCH_TOLERANCE 1e-6
/* STL's head, then the number of triangles, then so many bytes each. */
enum { STL_HEAD = 80, STL_TRIANGLE = 50 };
#define MILLIMETRES 1000.0

/* One piece as it is written: coordinates rounded to the format, corners with equal coordinates welded. */
typedef struct {
  double (*points)[3]; /* in the file's unit  (count) */
  int* number;         /* of the first point with the same coordinates  (count) */
  int (*triangles)[3]; /* numbers; those that the rounding has made flat are left out */
  int count, distinct, triangle_count;
} Piece;

/* ---------------------------------------------------------------- pieces */

static int compare_points(const void* left, const void* right) {
  const double *const *a = left, *const *b = right;
  for (int k = 0; k < 3; k++)
    if ((*a)[k] != (*b)[k]) return (*a)[k] < (*b)[k] ? -1 : 1;
  return *a < *b ? -1 : *a > *b;
}

/* Only corners of triangles count as distinct: a hull may keep points inside. */
static void weld(Piece* piece, const bool* used) {
  const double** sorted = (const double**)memory_alloc(sizeof(double*) * (size_t)(piece->count + 1));
  for (int i = 0; i < piece->count; i++) sorted[i] = piece->points[i];
  qsort(sorted, (size_t)piece->count, sizeof *sorted, compare_points);
  int first = -1;
  bool counted = false;
  for (int i = 0; i < piece->count; i++) {
    int index = (int)((const double(*)[3])sorted[i] - (const double(*)[3])piece->points);
    bool same = first >= 0 && memcmp(piece->points[first], sorted[i], sizeof *piece->points) == 0;
    if (!same) first = index, counted = false;
    piece->number[index] = first;
    if (used[index] && !counted) piece->distinct++, counted = true;
  }
  memory_free(sorted);
}

/* A coordinate as the file will hold it. volatile: gcc 12.2 at -O3 forgets the rounding to float in some lanes of the
 * vector that it makes of the caller's loop (tests/unit/output/test_export_surface shows it). */
static double rounded(double value, SurfaceFormat format) {
  volatile float single = (float)(MILLIMETRES * value);
  return (format == SURFACE_STL ? (double)single : value) + 0.0;
}

static Piece piece_create(const ModelHull* hull, Pose pose, SurfaceFormat format) {
  const ConvexHull* solid = &hull->solid;
  Piece piece = {.count = solid->vertex_count};
  piece.points = (double(*)[3])memory_alloc(sizeof *piece.points * (size_t)(piece.count + 1));
  piece.number = MEMORY_NEW(int, piece.count + 1);
  piece.triangles = (int(*)[3])memory_alloc(sizeof *piece.triangles * (size_t)(solid->triangle_count + 1));
  bool* used = MEMORY_NEW(bool, piece.count + 1);
  for (int i = 0; i < piece.count; i++) {
    Vec3 p = pose_apply(pose, solid->vertices[i]);
    const double xyz[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) piece.points[i][k] = rounded(xyz[k], format);
  }
  for (int i = 0; i < 3 * solid->triangle_count; i++) used[solid->triangles[i / 3][i % 3]] = true;
  weld(&piece, used);
  for (int t = 0; t < solid->triangle_count; t++) {
    int* corner = piece.triangles[piece.triangle_count];
    for (int k = 0; k < 3; k++) corner[k] = piece.number[solid->triangles[t][k]];
    if (corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]) piece.triangle_count++;
  }
  memory_free(used);
  return piece;
}

static void piece_free(Piece* piece) {
  memory_free(piece->points);
  memory_free(piece->number);
  memory_free(piece->triangles);
}

/* ---------------------------------------------------------------- checks */

/* Every side of a triangle has exactly one neighbour that runs the other way; with 2 = V - E + F the piece is a sphere.
 */
static void check_edges(const Piece* piece, SurfaceReport* report) {
  int count = 3 * piece->triangle_count;
  uint64_t* sides = MEMORY_NEW(uint64_t, count + 1);
  for (int i = 0; i < count; i++) {
    const int* corner = piece->triangles[i / 3];
    sides[i] = (uint64_t)corner[i % 3] << 32 | (uint64_t)corner[(i + 1) % 3];
  }
  qsort(sides, (size_t)count, sizeof *sides, order_uint64);
  for (int i = 0; i < count; i++) {
    uint64_t opposite = sides[i] << 32 | sides[i] >> 32;
    if (i > 0 && sides[i] == sides[i - 1]) report->manifold = false;
    if (!bsearch(&opposite, sides, (size_t)count, sizeof *sides, order_uint64)) report->closed = false;
  }
  if (piece->distinct - count / 2 + piece->triangle_count != 2) report->manifold = false;
  memory_free(sides);
}

/* Signed volume from the written corners, about the first of them. [unit^3] */
static double piece_volume(const Piece* piece) {
  double six = 0;
  const double* o = piece->points[piece->triangles[0][0]];
  for (int t = 0; t < piece->triangle_count; t++) {
    Vec3 p[3];
    for (int k = 0; k < 3; k++) {
      const double* x = piece->points[piece->triangles[t][k]];
      p[k] = vec3(x[0] - o[0], x[1] - o[1], x[2] - o[2]);
    }
    six += vec3_dot(p[0], vec3_cross(p[1], p[2]));
  }
  return six / 6;
}

static void check_piece(const Piece* piece, const ModelHull* hull, double unit, SurfaceReport* report) {
  report->pieces++;
  report->triangles += piece->triangle_count;
  check_edges(piece, report);
  if (piece->triangle_count > 0) report->volume += piece_volume(piece) / (unit * unit * unit);
  report->thickness = fmin(report->thickness, model_hull_thickness(hull));
  for (int i = 0; i < piece->count; i++) {
    Vec3 p = vec3_scale(vec3(piece->points[i][0], piece->points[i][1], piece->points[i][2]), 1 / unit);
    report->low = vec3_min(report->low, p);
    report->high = vec3_max(report->high, p);
  }
}

static bool boxes_apart(const ModelHull* a, Pose pose_a, const ModelHull* b, Pose pose_b, double tolerance) {
  Vec3 d = vec3_sub(pose_apply(pose_a, a->center), pose_apply(pose_b, b->center));
  return vec3_norm(d) > a->radius + b->radius + tolerance;
}

/* Which pieces touch, and which overlap. */
static void check_touching(const Model* model, const int* hulls, int count, const Pose* poses, SurfaceReport* report) {
  int* set = MEMORY_NEW(int, count + 1);
  double tolerance = TOUCH_TOLERANCE * vec3_norm(vec3_sub(report->high, report->low));
  sets_separate(set, count);
  for (int i = 0; i < count; i++) {
    for (int j = i + 1; j < count; j++) {
      const ModelHull *a = &model->hulls[hulls[i]], *b = &model->hulls[hulls[j]];
      Pose pose_a = poses[a->link], pose_b = poses[b->link];
      Vec3 normal;
      if (boxes_apart(a, pose_a, b, pose_b, tolerance)) continue;
      if (gjk_distance(a->points, pose_a, b->points, pose_b, NULL).distance > tolerance) continue;
      sets_join(set, i, j);
      report->overlaps += hull_penetration(a->points, pose_a, b->points, pose_b, &normal) > tolerance;
    }
  }
  for (int i = 0; i < count; i++) report->components += sets_root(set, i) == i;
  memory_free(set);
}

/* ---------------------------------------------------------------- formats */

static void add_obj(Text* out, const Model* model, int hull, const Piece* piece, int first) {
  const ModelLink* link = &model->links[model->hulls[hull].link];
  text_add(out, "o %s/%d\n", link->name, hull - link->hull_first);
  for (int i = 0; i < piece->count; i++) {
    text_add(out, "v");
    text_add_numbers(out, piece->points[i], 3);
    text_add(out, "\n");
  }
  for (int t = 0; t < piece->triangle_count; t++) {
    const int* corner = piece->triangles[t];
    text_add(out, "f %d %d %d\n", first + corner[0], first + corner[1], first + corner[2]);
  }
}

static void add_stl(Text* out, const Piece* piece) {
  for (int t = 0; t < piece->triangle_count; t++) {
    Vec3 p[3];
    for (int k = 0; k < 3; k++) {
      const double* x = piece->points[piece->triangles[t][k]];
      p[k] = vec3(x[0], x[1], x[2]);
    }
    Vec3 normal = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
    double length = vec3_norm(normal);
    normal = length > 0 ? vec3_scale(normal, 1 / length) : vec3(0, 0, 0); /* readers take it from the corners then */
    const Vec3 four[4] = {normal, p[0], p[1], p[2]};
    for (int k = 0; k < 4; k++)
      bytes_add_float(out, four[k].x), bytes_add_float(out, four[k].y), bytes_add_float(out, four[k].z);
    bytes_add_integer(out, 0, 2);
  }
}

/* A head of 80 bytes that does not begin with "solid", which would mean text. */
static void begin_stl(Text* out) {
  char head[STL_HEAD] = "binary STL, millimetres, written by sdrs";
  text_add_bytes(out, head, sizeof head);
  bytes_add_integer(out, 0, 4);
}

static void set_stl_count(Text* out, int triangles) {
  for (int k = 0; k < 4; k++) out->data[STL_HEAD + k] = (char)((uint32_t)triangles >> 8 * k & 255);
}

static int list_hulls(const Model* model, int link, int* hulls) {
  int count = 0;
  for (int h = 0; h < model->hull_count; h++)
    if (!model->hulls[h].half_space && (link < 0 || model->hulls[h].link == link)) hulls[count++] = h;
  return count;
}

SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses, SurfaceFormat format) {
  SurfaceReport report = {.closed = true, .manifold = true, .thickness = INFINITY};
  double unit = format == SURFACE_STL ? MILLIMETRES : 1.0;
  int* hulls = MEMORY_NEW(int, model->hull_count + 1);
  int count = list_hulls(model, link, hulls), first = 1;
  report.low = vec3(INFINITY, INFINITY, INFINITY);
  report.high = vec3_scale(report.low, -1);
  if (format == SURFACE_STL)
    begin_stl(out);
  else
    text_add(out, "# %s: convex pieces, each a closed surface of its own; metres\n", model->scene->name);
  for (int i = 0; i < count; i++) {
    const ModelHull* hull = &model->hulls[hulls[i]];
    Piece piece = piece_create(hull, poses[hull->link], format);
    check_piece(&piece, hull, unit, &report);
    if (format == SURFACE_STL)
      add_stl(out, &piece);
    else
      add_obj(out, model, hulls[i], &piece, first);
    first += piece.count;
    if (i == 0 || hull->link != model->hulls[hulls[i - 1]].link) report.mass += model->links[hull->link].mass;
    piece_free(&piece);
  }
  if (format == SURFACE_STL) set_stl_count(out, report.triangles);
  check_touching(model, hulls, count, poses, &report);
  memory_free(hulls);
  return report;
}
