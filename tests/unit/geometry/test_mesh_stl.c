#include "geometry_testing.h"

typedef struct {
  Mesh mesh;
  Diagnostics diagnostics;
  Status status;
} Parsed;

static Parsed parse_bytes(const char* data, size_t length, double scale) {
  Parsed parsed = {0};
  char* exact = malloc(length > 0 ? length : 1); /* no NUL behind it: reading past the end shows */
  if (length > 0) memcpy(exact, data, length);
  parsed.status = mesh_parse_stl(&parsed.mesh, "test.stl", exact, length, scale, &parsed.diagnostics);
  free(exact);
  return parsed;
}

static Parsed parse(const char* text) { return parse_bytes(text, strlen(text), 1); }

static void parsed_free(Parsed* parsed) {
  mesh_free(&parsed->mesh);
  diagnostics_free(&parsed->diagnostics);
}

#define FACET(a, b, c) \
  " facet normal 0 0 0\n  outer loop\n   vertex " a "\n   vertex " b "\n   vertex " c "\n  endloop\n endfacet\n"
#define TETRAHEDRON                \
  FACET("0 0 0", "0 1 0", "1 0 0") \
  FACET("0 0 0", "1 0 0", "0 0 1") FACET("0 0 0", "0 0 1", "0 1 0") FACET("1 0 0", "0 1 0", "0 0 1")

static double mesh_volume(const Mesh* mesh) {
  double six = 0;
  for (int f = 0; f < mesh->face_count; f++) {
    const int* c = mesh->corners + mesh->face_first[f];
    six += vec3_dot(mesh->positions[c[0]], vec3_cross(mesh->positions[c[1]], mesh->positions[c[2]]));
  }
  return six / 6;
}

static void text_of_two_solids(void** state) {
  (void)state;
  Parsed parsed = parse("solid first part\n" TETRAHEDRON
                        "endsolid first part\nSOLID\n" FACET("0 0 1e1", "1 0 10.0", "0 1 +10") "endsolid\n");
  assert_int_equal(parsed.status, STATUS_OK);
  assert_int_equal(parsed.mesh.face_count, 5);
  assert_int_equal(parsed.mesh.position_count, 7); /* equal corners are one */
  assert_int_equal(parsed.mesh.group_count, 2);
  assert_string_equal(parsed.mesh.groups[0].name, "first part");
  assert_string_equal(parsed.mesh.groups[1].name, "default");
  assert_int_equal(parsed.mesh.groups[1].first_face, 4);
  assert_int_equal(parsed.mesh.face_line[1], 9);
  assert_vec3_close(parsed.mesh.positions[0], vec3(0, 0, 0), 0);
  assert_vec3_close(parsed.mesh.positions[1], vec3(0, 1, 0), 0);
  parsed.mesh.face_count = 4;
  assert_close(mesh_volume(&parsed.mesh), 1.0 / 6, 1e-15);
  parsed.mesh.face_count = 5;
  parsed_free(&parsed);
}

static void put_floats(char* at, const float* values, int count) {
  for (int i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &values[i], 4);
    for (int k = 0; k < 4; k++) at[4 * i + k] = (char)(bits >> 8 * k & 255);
  }
}

/* Fills data with a tetrahedron in binary STL. head: the first bytes of the file. */
static void fill_binary(char data[84 + 200], const char* head) {
  static const float CORNERS[4][9] = {{0, 0, 0, 0, 1, 0, 1, 0, 0},
                                      {0, 0, 0, 1, 0, 0, 0, 0, 1},
                                      {-0.0F, 0, 0, 0, 0, 1, 0, 1, 0},
                                      {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  memset(data, 0, 84 + 200);
  memcpy(data, head, strlen(head));
  data[80] = 4;
  for (int t = 0; t < 4; t++) put_floats(data + 84 + 50 * t + 12, CORNERS[t], 9);
}

static void binary_also_when_it_begins_like_a_text(void** state) {
  (void)state;
  static const char* const heads[] = {"binary", "solid from a program"};
  for (int h = 0; h < 2; h++) {
    char data[84 + 200];
    fill_binary(data, heads[h]);
    Parsed parsed = parse_bytes(data, sizeof data, 0.001);
    assert_int_equal(parsed.status, STATUS_OK);
    assert_int_equal(parsed.mesh.face_count, 4);
    assert_int_equal(parsed.mesh.position_count, 4); /* -0 is 0 */
    assert_close(mesh_volume(&parsed.mesh), 1e-9 / 6, 1e-24);
    parsed_free(&parsed);
  }
}

static void degenerate_triangles_are_counted_and_dropped(void** state) {
  (void)state;
  Parsed parsed = parse("solid\n" FACET("0 0 0", "0 0 0", "1 0 0") TETRAHEDRON);
  assert_int_equal(parsed.status, STATUS_OK);
  assert_int_equal(parsed.mesh.degenerate_face_count, 1);
  assert_int_equal(parsed.mesh.face_count, 4);
  parsed_free(&parsed);
}

static void check_error(Parsed parsed, int line, int column, const char* text) {
  assert_int_equal(parsed.status, STATUS_BAD_INPUT);
  assert_int_equal(parsed.diagnostics.count, 1);
  const Diagnostic* item = &parsed.diagnostics.items[0];
  if (item->line != line || item->column != column || !strstr(item->text, text))
    print_error("%s:%d:%d: %s\n", item->file, item->line, item->column, item->text);
  assert_int_equal(item->line, line);
  assert_int_equal(item->column, column);
  assert_non_null(strstr(item->text, text));
  assert_null(parsed.mesh.positions);
  parsed_free(&parsed);
}

static void mistakes_in_a_text(void** state) {
  (void)state;
  check_error(parse("solid\n" FACET("0 0 0", "0 x 0", "1 0 0")), 5, 13, "expected a finite decimal number, got 'x'");
  check_error(parse("solid\n" FACET("0 0 0", "0 1", "1 0 0")), 5, 4, "a vertex needs 3 coordinates, got 2");
  check_error(parse("solid\n" FACET("0 0 0", "0 1 1e31", "1 0 0")), 5, 15, "beyond 1e+30 m");
  check_error(parse("solid\nvertex 0 0 0\n" TETRAHEDRON), 2, 1, "a vertex outside of a facet");
  check_error(parse("solid\nfacet normal 0 0 1\nvertex 0 0 0\nvertex 1 0 0\nendfacet\n"), 2, 1,
              "a facet needs 3 vertices, got 2");
  check_error(parse("solid\nface\n" TETRAHEDRON), 2, 1, "expected solid, facet, outer, vertex");
  check_error(parse("solid\nendsolid\n"), 0, 0, "no triangle");
  check_error(parse_bytes("solid\n\0\n", 8, 1), 2, 1, "NUL byte");
}

/* A head that begins with "solid" makes no text of it, nor do bytes behind the triangles. */
static void bytes_behind_a_binary_are_not_read(void** state) {
  (void)state;
  char data[84 + 200 + 37];
  const char* const heads[] = {"binary", "solid of a CAD program"};
  for (int k = 0; k < 2; k++) {
    memset(data, 'x', sizeof data);
    fill_binary(data, heads[k]);
    Parsed parsed = parse_bytes(data, sizeof data, 1);
    assert_int_equal(parsed.status, STATUS_OK);
    assert_int_equal(parsed.mesh.face_count, 4);
    assert_int_equal(parsed.mesh.position_count, 4);
    parsed_free(&parsed);
  }
}

static void mistakes_in_a_binary(void** state) {
  (void)state;
  char data[84 + 200];
  fill_binary(data, "binary");
  check_error(parse_bytes(data, sizeof data - 1, 1), 0, 0, "binary STL of 4 triangles, but the file has bytes for 3");
  check_error(parse_bytes(data, 83, 1), 0, 0, "at least 84 bytes, this file 83");
  check_error(parse_bytes("", 0, 1), 0, 0, "not STL");
  put_floats(data + 84 + 100 + 12 + 4, &(float){(float)NAN}, 1);
  check_error(parse_bytes(data, sizeof data, 1), 0, 0, "triangle 3: a coordinate is not finite");
}

static void files_by_their_ending(void** state) {
  (void)state;
  Mesh mesh;
  Diagnostics diagnostics = {0};
  const char *path = "out/test_mesh_stl.STL", *text = "solid\n" TETRAHEDRON;
  assert_int_equal(file_make_folder("out"), STATUS_OK);
  assert_int_equal(file_write(path, text, strlen(text)), STATUS_OK);
  assert_int_equal(mesh_read(&mesh, path, 2, &diagnostics), STATUS_OK);
  assert_close(mesh_volume(&mesh), 8.0 / 6, 1e-15);
  mesh_free(&mesh);
  assert_int_equal(mesh_read(&mesh, "out/none.stl", 1, &diagnostics), STATUS_IO);
  assert_int_equal(diagnostics.error_count, 1);
  diagnostics_free(&diagnostics);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_of_two_solids),
      cmocka_unit_test(binary_also_when_it_begins_like_a_text),
      cmocka_unit_test(degenerate_triangles_are_counted_and_dropped),
      cmocka_unit_test(mistakes_in_a_text),
      cmocka_unit_test(bytes_behind_a_binary_are_not_read),
      cmocka_unit_test(mistakes_in_a_binary),
      cmocka_unit_test(files_by_their_ending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
