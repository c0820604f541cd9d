#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <zip.h>
#include "export/export.h"
#include "support/runs.h"

static Pose* initial_poses(const Run* run) {
  Pose* poses = MEMORY_NEW(Pose, run->model.link_count);
  model_poses(&run->model, run->model.initial_coordinates, poses);
  return poses;
}

static uint32_t little_endian(const char* data) {
  const unsigned char* b = (const unsigned char*)data;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double float_at(const char* data) {
  uint32_t bits = little_endian(data);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static const char* const BOX =
    "links: [{name: part, shape: {type: box, size: [0.03, 0.02, 0.01]}, mass: 0.5, position: [1, 2, 3]}]\n";

/* The volume of 30 x 20 x 10 mm is 6000 mm^3, computed from the file's triangles by the divergence theorem. */
static void stl_is_binary_in_millimetres(void** state) {
  (void)state;
  Run* run = run_model("%s", BOX);
  Pose own = pose_identity();
  Text text = {0};
  export_surface(&text, &run->model, 0, &own, &(SurfaceOptions){.format = SURFACE_STL});
  assert_int_equal(little_endian(text.data + 80), 12);
  assert_int_equal(text.length, 84 + 12 * 50);
  assert_memory_not_equal(text.data, "solid", 5);
  double volume = 0;
  for (int t = 0; t < 12; t++) {
    const char* triangle = text.data + 84 + 50 * t;
    double x[12];
    for (int k = 0; k < 12; k++) x[k] = float_at(triangle + 4 * k);
    Vec3 n = vec3(x[0], x[1], x[2]), p = vec3(x[3], x[4], x[5]), q = vec3(x[6], x[7], x[8]),
         r = vec3(x[9], x[10], x[11]);
    volume += vec3_dot(p, vec3_cross(q, r)) / 6;
    compare_near(vec3_norm(n), 1, 1e-6, "vec3_norm(n)");
    assert_true(vec3_dot(n, p) > 4.9); /* outwards: the nearest face is 5 mm from the middle */
  }
  compare_near(volume, 6000, 1e-2, "volume");
  text_free(&text);
  run_free(run);
}

static void report_measures_what_was_written(void** state) {
  (void)state;
  Run* run = run_model("%s", BOX);
  Pose* poses = initial_poses(run);
  Text text = {0};
  SurfaceReport report = export_surface(&text, &run->model, -1, poses, &(SurfaceOptions){.format = SURFACE_OBJ});
  assert_int_equal(report.pieces, 1);
  assert_int_equal(report.triangles, 12);
  assert_true(report.closed && report.manifold);
  assert_int_equal(report.components, 1);
  assert_int_equal(report.overlaps, 0);
  compare_near(report.volume, 6e-6, 1e-18, "report.volume");
  compare_near(report.mass, 0.5, 0, "report.mass");
  compare_near(report.thickness, 0.01, 1e-12, "report.thickness");
  compare_near(report.low.z, 2.995, 1e-12, "report.low.z");
  compare_near(report.high.x, 1.015, 1e-12, "report.high.x");
  text_free(&text);
  memory_free(poses);
  run_free(run);
}

/* Three unit cubes in a row: two share a face, and the third is separate or overlaps the second. The union has 2 + 1 or
 * 2.75 m^3. Without union the three volumes are added. */
static void pieces_are_united_or_stand_apart(void** state) {
  (void)state;
  static const double third[2] = {3.0, 1.75};
  for (int c = 0; c < 4; c++) {
    Run* run = run_model(
        "shapes: {cube: {type: box, size: [1, 1, 1]}}\n"
        "links: [{name: a, mass: 1, shapes: [cube, {shape: cube, position: [1, 0, 0]}, {shape: cube, position: [%g, 0, "
        "0]}]}]\n",
        third[c % 2]);
    Pose own = pose_identity();
    Text text = {0};
    SurfaceReport report =
        export_surface(&text, &run->model, 0, &own, &(SurfaceOptions){.format = SURFACE_STL, .pieces = c >= 2});
    assert_true(report.closed && report.manifold && report.oriented && !report.reason);
    assert_true(report.united == (c < 2));
    assert_int_equal(report.pieces, c < 2 ? 1 : 3);
    assert_int_equal(report.triangles, c == 0 ? 24 : c == 1 ? 12 : 36);
    assert_int_equal(report.components, c % 2 == 0 ? 2 : 1);
    assert_int_equal(report.overlaps, c % 2 == 0 ? 0 : 1);
    compare_near(report.volume, c == 1 ? 2.75 : 3, 1e-6, "report.volume");
    compare_near(report.thickness, 1, 1e-6, "report.thickness");
    assert_true((report.thickness_spacing > 0) == (c < 2));
    text_free(&text);
    run_free(run);
  }
}

/* Two cubes with a common edge alone have no manifold as their union: they are written as solids, and it is told. */
/* The model out of a 3MF package. Owned by the caller. */
static Text unpacked(const Text* package) {
  zip_t* zip =
      zip_open_from_source(zip_source_buffer_create(package->data, package->length, 0, NULL), ZIP_RDONLY, NULL);
  assert_non_null(zip);
  zip_file_t* file = zip_fopen(zip, "3D/3dmodel.model", 0);
  assert_non_null(file);
  Text model = {0};
  char part[4096];
  for (zip_int64_t length; (length = zip_fread(file, part, sizeof part)) > 0;)
    text_add_bytes(&model, part, (size_t)length);
  zip_fclose(file);
  zip_discard(zip);
  return model;
}

static void what_cannot_be_united_is_written_in_pieces(void** state) {
  (void)state;
  Run* run = run_model(
      "shapes: {cube: {type: box, size: [1, 1, 1]}}\n"
      "links: [{name: b, mass: 1, shape: cube}, {name: a, mass: 1, position: [4, 0, 0], shapes: [cube, {shape: cube, "
      "position: [1, 1, 0]}]}]\n");
  Pose* poses = initial_poses(run);
  for (int format = SURFACE_OBJ; format <= SURFACE_3MF; format++) {
    Text text = {0};
    SurfaceReport report =
        export_surface(&text, &run->model, -1, poses, &(SurfaceOptions){.format = (SurfaceFormat)format});
    assert_false(report.united);
    assert_non_null(strstr(report.reason, "along an edge only"));
    assert_int_equal(report.reason_link, 1);
    assert_int_equal(report.pieces, 3);
    assert_true(report.closed && report.manifold && report.oriented);
    compare_near(report.volume, 3, 1e-9, "report.volume");
    if (format == SURFACE_3MF) { /* one object of 16 points, its two solids without a common point */
      Text model = unpacked(&text);
      const char* second = model.data ? strstr(model.data, "object id=\"2\"") : NULL;
      assert_true(second && strstr(second, "v1=\"15\""));
      text_free(&model);
    }
    text_free(&text);
  }
  memory_free(poses);
  run_free(run);
}

/* Millimetres in single precision: two corners 1e-9 m apart at 1 m become one, and the solid stays closed. */
static void rounding_keeps_a_solid_closed(void** state) {
  (void)state;
  Run* run = run_model(
      "links: [{name: a, mass: 1, shape: {type: points, points: [[1, 0, 1], [1, 1, 1], [1, 0, 2], [2, 0, 1], "
      "[2.000000001, 0, 1.000000001]]}}]\n");
  Pose own = pose_identity();
  for (int format = SURFACE_OBJ; format <= SURFACE_STL; format++) {
    Text text = {0};
    SurfaceReport report =
        export_surface(&text, &run->model, 0, &own, &(SurfaceOptions){.format = (SurfaceFormat)format});
    assert_true(report.closed && report.manifold);
    assert_int_equal(report.triangles, format == SURFACE_OBJ ? 6 : 4);
    text_free(&text);
  }
  run_free(run);
}

/* A solid thinner than single precision resolves falls together: the check says so. */
static void a_solid_that_rounding_flattens_is_not_manifold(void** state) {
  (void)state;
  Run* run = run_model("links: [{name: a, mass: 1, shape: {type: box, size: [1, 1, 1.0e-9]}, position: [0, 0, 1]}]\n");
  Pose* poses = initial_poses(run);
  Text text = {0};
  SurfaceReport report = export_surface(&text, &run->model, 0, poses, &(SurfaceOptions){.format = SURFACE_STL});
  assert_false(report.closed && report.manifold);
  text_free(&text);
  memory_free(poses);
  run_free(run);
}

/* A written and reread OBJ file gives the same hulls and the same volume. */
static void obj_reads_back_to_the_same_numbers(void** state) {
  (void)state;
  Run* run = run_model(
      "links: [{name: a, mass: 1, shapes: [{type: sphere, radius: 0.1}, {type: box, size: [0.1, 0.2, 0.3], position: "
      "[0.1, 0, 0]}]}]\n");
  Pose own = pose_identity();
  Text text = {0};
  Diagnostics diagnostics = {0};
  Mesh mesh;
  export_surface(&text, &run->model, 0, &own, &(SurfaceOptions){.format = SURFACE_OBJ, .pieces = true});
  assert_int_equal(mesh_parse_obj(&mesh, "a.obj", text.data, text.length, 1, &diagnostics), STATUS_OK);
  assert_int_equal(mesh.group_count, 2);
  int place = 0;
  for (int h = 0; h < 2; h++) {
    const ConvexHull* solid = &run->model.hulls[h].solid;
    for (int i = 0; i < solid->vertex_count; i++, place++)
      assert_memory_equal(&mesh.positions[place], &solid->vertices[i], sizeof(Vec3));
  }
  assert_int_equal(place, mesh.position_count);
  mesh_free(&mesh);
  text_free(&text);
  diagnostics_free(&diagnostics);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stl_is_binary_in_millimetres),
      cmocka_unit_test(report_measures_what_was_written),
      cmocka_unit_test(pieces_are_united_or_stand_apart),
      cmocka_unit_test(what_cannot_be_united_is_written_in_pieces),
      cmocka_unit_test(rounding_keeps_a_solid_closed),
      cmocka_unit_test(a_solid_that_rounding_flattens_is_not_manifold),
      cmocka_unit_test(obj_reads_back_to_the_same_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
