/* Tests derivatives of polyhedral fields by their corners (Y12) against differences of rebuilt fields. */
#include <string.h>
#include "shapes/field_faces.h"
#include "support/bodies.h"
#include "support/sweep.h"

enum { CORNERS = 24, INPUTS = 3 * CORNERS };

/* Corners are moved by x, or, `linear`, all by v + X v + t. */
typedef struct {
  Vec3 corner[CORNERS];
  int count;
  bool linear;
  bool faces;              /* the field of the faces of the hull (Y13) */
  TriangleSurface surface; /* its triangles; NULL: the hull */
  double smoothing;
  Vec3 place;
} CornerPlace;

static void move_corners(const CornerPlace* at, const double* x, Vec3* out) {
  for (int i = 0; i < at->count; i++) {
    Vec3 v = at->corner[i];
    out[i] = !x           ? v
             : at->linear ? vec3_add(v, vec3(vec3_dot(vec3_at(x), v) + x[9], vec3_dot(vec3_at(x + 3), v) + x[10],
                                             vec3_dot(vec3_at(x + 6), v) + x[11]))
                          : vec3_add(v, vec3_at(x + 3 * (ptrdiff_t)i));
  }
}

static bool field_at_place(void* context, const double* x, double* y) {
  const CornerPlace* at = context;
  Vec3 moved[CORNERS];
  Field field;
  move_corners(at, x, moved);
  if (at->surface.triangles) {
    TriangleSurface surface = at->surface;
    surface.points = moved;
    field_of_triangles(&field, &surface, at->smoothing);
  } else {
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, moved, at->count), HULL_OK);
    const char* rule =
        at->faces ? field_of_faces(&field, &hull, at->smoothing) : field_of_hull(&field, &hull, at->smoothing);
    assert_null(rule);
    hull_free(&hull);
  }
  FieldValue v = field_evaluate(&field, at->place);
  const double rows[4] = {v.value, v.outward.x, v.outward.y, v.outward.z};
  memcpy(y, rows, sizeof rows);
  field_free(&field);
  return true;
}

/* rows[4][3 * count] of the corners' slopes. */
static void corner_rows(const FieldCorners* corners, const CornerPlace* at, double* rows) {
  int count = 3 * at->count;
  double value[INPUTS];
  Vec3 outward[INPUTS];
  for (int first = 0; first < count; first += 7)
    field_corner_derivatives(corners, at->place, first, count - first < 7 ? count - first : 7, value + first,
                             outward + first);
  for (int k = 0; k < count; k++) {
    rows[k] = value[k];
    double n[3];
    vec3_store(outward[k], n);
    for (int r = 0; r < 3; r++) rows[(r + 1) * count + k] = n[r];
  }
}

/* Rows by the twelve numbers of a linear motion. */
static void linear_rows(const CornerPlace* at, const double* rows, double* out) {
  int count = 3 * at->count;
  for (int i = 0; i < 4 * 12; i++) out[i] = 0;
  for (int r = 0; r < 4; r++)
    for (int k = 0; k < count; k++) {
      double v[3];
      vec3_store(at->corner[k / 3], v);
      for (int c = 0; c < 3; c++) out[r * 12 + 3 * (k % 3) + c] += rows[r * count + k] * v[c];
      out[r * 12 + 9 + k % 3] += rows[r * count + k];
    }
}

static void compare_corners(CornerPlace* at, const FieldCorners* corners, Random* random, double size,
                            const char* what) {
  for (int i = 0; i < 12; i++) {
    double rows[4 * INPUTS], linear[4 * 12];
    at->place = vec3_scale(random_direction(random), size * (0.2 + 0.15 * i));
    corner_rows(corners, at, rows);
    at->linear = true;
    linear_rows(at, rows, linear);
    Sweep together = {field_at_place, at, 12, 4, NULL, NULL, NULL, 1e-3 * size, 4, 7};
    sweep_expect(&together, linear, 0.1, 1e-7, "%s, all corners, place %d", what, i);
    at->linear = false;
    if (corners->fitted) continue;
    Sweep each = {field_at_place, at, 3 * at->count, 4, NULL, NULL, NULL, 1e-3 * size, 4, 7};
    sweep_expect(&each, rows, 0.1, 1e-7, "%s, each corner, place %d", what, i);
  }
}

/* Numbers 0, 1, ... of what the corners are in points[count]. */
static int* numbers_of(const CornerPlace* at, const Vec3* points, int count) {
  int* out = MEMORY_NEW(int, count);
  for (int i = 0; i < count; i++)
    for (int k = at->count; k-- > 0;)
      if (memcmp(&points[i], &at->corner[k], sizeof(Vec3)) == 0) out[i] = k;
  return out;
}

static void compare_hull(CornerPlace* at, Random* random, bool fitted, const char* what) {
  ConvexHull hull;
  Field field;
  assert_int_equal(hull_create(&hull, at->corner, at->count), HULL_OK);
  assert_null(field_of_hull(&field, &hull, at->smoothing));
  int* number = numbers_of(at, hull.vertices, hull.vertex_count);
  FieldCorners corners = field_corners_of_hull(&field, &hull, number, at->count);
  assert_int_equal(corners.fitted, fitted);
  compare_corners(at, &corners, random, 1, what);
  field_corners_free(&corners);
  memory_free(number);
  field_free(&field);
  hull_free(&hull);
}

static void corners_of_hulls_Y12(void** state) {
  (void)state;
  Random random = {61};
  CornerPlace at = {.count = 9, .smoothing = 0.07};
  for (int i = 0; i < at.count; i++) at.corner[i] = vec3_scale(random_direction(&random), 1);
  compare_hull(&at, &random, false, "seed 61: triangles");
  at.count = 8;
  for (int i = 0; i < 8; i++) at.corner[i] = vec3(i & 1 ? 0.7 : -0.4, i & 2 ? 0.5 : -0.6, i & 4 ? 0.8 : -0.3);
  compare_hull(&at, &random, true, "seed 61: a box");
  at.count = 24;
  for (int i = 0; i < 24; i++) {
    double angle = 0.5235987755982988 * i;
    at.corner[i] = vec3(cos(angle), sin(angle), i < 12 ? -0.5 : 0.6);
  }
  compare_hull(&at, &random, true, "seed 61: a prism of twelve sides");
}

/* Moves each corner individually. Flat faces of more than three corners then bend. The steps keep the triangles within
 * FACE_ANGLE. A hull that is already bent has the same derivatives to 1e-7. */
static void corners_of_faces_Y13(void** state) {
  (void)state;
  Random random = {63};
  CornerPlace at = {.faces = true, .smoothing = 0.07};
  for (int round = 0; round < 3; round++) {
    at.count = round < 2 ? 8 : 24;
    for (int i = 0; i < at.count; i++) {
      double angle = 0.5235987755982988 * i;
      at.corner[i] = vec3(i & 1 ? 0.7 : -0.4, i & 2 ? 0.5 : -0.6, i & 4 ? 0.8 : -0.3);
      if (round == 1) at.corner[i] = vec3_add_scaled(at.corner[i], 5e-5, random_direction(&random));
      if (round == 2) at.corner[i] = vec3(cos(angle), sin(angle), i < 12 ? -0.5 : 0.6);
    }
    ConvexHull hull;
    Field field;
    assert_int_equal(hull_create(&hull, at.corner, at.count), HULL_OK);
    assert_int_equal(hull.vertex_count, at.count);
    memcpy(at.corner, hull.vertices, sizeof(Vec3) * (size_t)at.count);
    assert_null(field_of_faces(&field, &hull, at.smoothing));
    assert_int_equal(field.shape.face_count, round < 2 ? 6 : 14);
    FieldCorners corners = field_corners_of_faces(&field, &hull);
    for (int i = 0; i < 8; i++) {
      double rows[4 * INPUTS];
      at.place = vec3_scale(random_direction(&random), 0.2 + 0.15 * i);
      corner_rows(&corners, &at, rows);
      Sweep each = {field_at_place, &at, 3 * at.count, 4, NULL, NULL, NULL, 1e-4, 2, 5};
      sweep_expect(&each, rows, 0.1, 1e-6, "faces, round %d, place %d", round, i);
    }
    field_corners_free(&corners);
    field_free(&field);
    hull_free(&hull);
  }
}

static bool field_by_smoothing(void* context, const double* x, double* y) {
  CornerPlace at = *(const CornerPlace*)context;
  if (x) at.smoothing += x[0];
  return field_at_place(&at, NULL, y);
}

static void smoothing_of_faces_Y13(void** state) {
  (void)state;
  Random random = {64};
  CornerPlace at = {.count = 8, .faces = true, .smoothing = 0.07};
  for (int i = 0; i < 8; i++) at.corner[i] = vec3(i & 1 ? 0.7 : -0.4, i & 2 ? 0.5 : -0.6, i & 4 ? 0.8 : -0.3);
  ConvexHull hull;
  Field field;
  assert_int_equal(hull_create(&hull, at.corner, at.count), HULL_OK);
  assert_null(field_of_faces(&field, &hull, at.smoothing));
  for (int i = 0; i < 8; i++) {
    Vec3 outward;
    double rows[4], n[3];
    at.place = vec3_scale(random_direction(&random), 0.2 + 0.15 * i);
    field_smoothing_derivative(&field, at.place, &rows[0], &outward);
    vec3_store(outward, n);
    memcpy(rows + 1, n, sizeof n);
    Sweep by_smoothing = {field_by_smoothing, &at, 1, 4, NULL, NULL, NULL, 1e-3, 4, 6};
    sweep_expect(&by_smoothing, rows, 0.1, 1e-7, "smoothing, place %d", i);
  }
  field_free(&field);
  hull_free(&hull);
}

/* A corner that is nowhere near its place, a point of no triangle, and one that is none of the parameters. */
static void corners_of_triangles_Y12(void** state) {
  (void)state;
  Random random = {62};
  ConvexHull hull;
  CornerPlace at = {.count = 10, .smoothing = 0.6};
  for (int i = 0; i < at.count; i++) at.corner[i] = random_direction(&random);
  assert_int_equal(hull_create(&hull, at.corner, at.count), HULL_OK);
  at.surface = surface_of_hull(&hull);
  assert_int_equal(hull.vertex_count, at.count);
  for (int i = 0; i < at.count; i++) at.corner[i] = vec3_scale(at.surface.points[i], i % 3 ? 1 : 0.6); /* hollows */
  memcpy(at.surface.points, at.corner, sizeof(Vec3) * (size_t)at.count);
  Field field;
  field_of_triangles(&field, &at.surface, at.smoothing);
  assert_int_equal(field.count, at.count + at.surface.triangle_count);
  int* number = numbers_of(&at, at.surface.points, at.count);
  FieldCorners corners = field_corners_of_triangles(&field, &at.surface, number, at.count);
  compare_corners(&at, &corners, &random, 1, "seed 62");
  field_corners_free(&corners);
  number[3] = -1;
  corners = field_corners_of_triangles(&field, &at.surface, number, at.count);
  double value[3];
  Vec3 outward[3];
  field_corner_derivatives(&corners, vec3(0.5, 0.5, 0.5), 9, 3, value, outward);
  for (int k = 0; k < 3; k++) assert_true(value[k] == 0 && vec3_norm(outward[k]) == 0);
  field_corners_free(&corners);
  memory_free(number);
  surface_free(&at.surface);
  field_free(&field);
  hull_free(&hull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(corners_of_hulls_Y12),
      cmocka_unit_test(corners_of_triangles_Y12),
      cmocka_unit_test(corners_of_faces_Y13),
      cmocka_unit_test(smoothing_of_faces_Y13),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
