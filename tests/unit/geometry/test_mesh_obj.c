#include "geometry_testing.h"

/* ---------------------------------------------------------------- helpers */

typedef struct {
  Mesh mesh;
  Diagnostics diagnostics;
  Status status;
} Parsed;

static Parsed parse_bytes(const char* text, size_t length, double scale) {
  Parsed parsed = {0};
  char* exact = malloc(length > 0 ? length : 1); /* no NUL behind it: reading past the end shows */
  if (length > 0) memcpy(exact, text, length);
  parsed.status = mesh_parse_obj(&parsed.mesh, "test.obj", exact, length, scale, &parsed.diagnostics);
  free(exact);
  return parsed;
}

static Parsed parse(const char* text) { return parse_bytes(text, strlen(text), 1); }

static void parsed_free(Parsed* parsed) {
  mesh_free(&parsed->mesh);
  diagnostics_free(&parsed->diagnostics);
}

static void print_diagnostics(const Diagnostics* diagnostics) {
  for (int i = 0; i < diagnostics->count; i++)
    print_message("  %s:%d:%d: %s\n", diagnostics->items[i].file, diagnostics->items[i].line,
                  diagnostics->items[i].column, diagnostics->items[i].text);
}

/* Exactly these errors, in this order: place and a part of the text. */
typedef struct {
  int line, column;
  const char* text;
} Expected;

static void check_errors(Parsed* parsed, const Expected* expected, int count) {
  if (parsed->diagnostics.count != count) print_diagnostics(&parsed->diagnostics);
  assert_int_equal(parsed->status, STATUS_BAD_INPUT);
  assert_int_equal(parsed->diagnostics.count, count);
  for (int i = 0; i < count; i++) {
    const Diagnostic* item = &parsed->diagnostics.items[i];
    if (item->line != expected[i].line || item->column != expected[i].column || !strstr(item->text, expected[i].text))
      print_diagnostics(&parsed->diagnostics);
    assert_string_equal(item->file, "test.obj");
    assert_int_equal(item->line, expected[i].line);
    assert_int_equal(item->column, expected[i].column);
    assert_non_null(strstr(item->text, expected[i].text));
  }
  assert_null(parsed->mesh.positions);
  assert_int_equal(parsed->mesh.face_count, 0);
}

static void check_error(const char* text, int line, int column, const char* message) {
  Parsed parsed = parse(text);
  check_errors(&parsed, &(Expected){line, column, message}, 1);
  parsed_free(&parsed);
}

static void check_consistent(const Mesh* mesh) {
  assert_int_equal(mesh->face_first[0], 0);
  assert_int_equal(mesh->face_first[mesh->face_count], mesh->corner_count);
  for (int i = 0; i < mesh->face_count; i++) {
    assert_true(mesh->face_first[i + 1] - mesh->face_first[i] >= 3);
    assert_true(mesh->face_line[i] >= 1);
  }
  for (int i = 0; i < mesh->corner_count; i++) assert_in_range(mesh->corners[i], 0, mesh->position_count - 1);
  int next = 0;
  for (int i = 0; i < mesh->group_count; i++) {
    assert_int_equal(mesh->groups[i].first_face, next);
    assert_true(mesh->groups[i].face_count > 0);
    assert_non_null(mesh->groups[i].name);
    next += mesh->groups[i].face_count;
  }
  assert_int_equal(next, mesh->face_count);
}

static void check_face(const Mesh* mesh, int face, int line, const int* corners, int count) {
  assert_int_equal(mesh->face_line[face], line);
  assert_int_equal(mesh->face_first[face + 1] - mesh->face_first[face], count);
  for (int i = 0; i < count; i++) assert_int_equal(mesh->corners[mesh->face_first[face] + i], corners[i]);
}

#define FACE(mesh, face, line, ...) \
  check_face(mesh, face, line, (const int[]){__VA_ARGS__}, COUNT(((const int[]){__VA_ARGS__})))

#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

/* ---------------------------------------------------------------- what is read */

static void numbers_in_all_spellings(void** state) {
  (void)state;
  Parsed parsed = parse(
      "v 1 -2.5 +3\nv .5 1. 1e2\nv 1E-1 -0 0.125e+1 1.0\nv 0 0 1 0.1 0.2 0.3\nv 0 1 0 1 1 1 1\n"
      "f 1 2 3\n");
  assert_int_equal(parsed.status, STATUS_OK);
  const Vec3 want[] = {{1, -2.5, 3}, {0.5, 1, 100}, {0.1, 0, 1.25}, {0, 0, 1}, {0, 1, 0}};
  assert_int_equal(parsed.mesh.position_count, 5);
  for (int i = 0; i < 5; i++) assert_vec3_close(parsed.mesh.positions[i], want[i], 0);
  check_consistent(&parsed.mesh);
  parsed_free(&parsed);
  const char* text = "v 1000 2000 -3000\nv 0 0 0\nv 0 1 0\nf 1 2 3";
  parsed = parse_bytes(text, strlen(text), 1e-3);
  assert_vec3_close(parsed.mesh.positions[0], vec3(1, 2, -3), 1e-15);
  parsed_free(&parsed);
}

static void face_corners_in_all_spellings(void** state) {
  (void)state;
  Parsed parsed = parse(TRIANGLE
                        "v 0 0 1\nvt 0 0\nvn 0 0 1\nf 1 2 3\nf 1/1 2/1 3/1 4/1\nf 1//1 2//1 4//1\n"
                        "f 1/1/1 2/1/1 +3/1/1\nf -1 -2 -3\nf 1/ 2// 3/1/\nf -4//-1 2 3/-1\n");
  if (parsed.status != STATUS_OK) print_diagnostics(&parsed.diagnostics);
  assert_int_equal(parsed.status, STATUS_OK);
  const Mesh* mesh = &parsed.mesh;
  check_consistent(mesh);
  assert_int_equal(mesh->face_count, 7);
  FACE(mesh, 0, 7, 0, 1, 2);
  FACE(mesh, 1, 8, 0, 1, 2, 3);
  FACE(mesh, 2, 9, 0, 1, 3);
  FACE(mesh, 3, 10, 0, 1, 2);
  FACE(mesh, 4, 11, 3, 2, 1);
  FACE(mesh, 5, 12, 0, 1, 2);
  FACE(mesh, 6, 13, 0, 1, 2);
  parsed_free(&parsed);
}

static void indices_may_point_ahead_and_backwards(void** state) {
  (void)state;
  Parsed parsed = parse("f 1 2 3\n" TRIANGLE "f -3 -2 -1\nv 9 9 9\nf -3 -2 -1\n");
  assert_int_equal(parsed.status, STATUS_OK);
  FACE(&parsed.mesh, 0, 1, 0, 1, 2);
  FACE(&parsed.mesh, 1, 5, 0, 1, 2);
  FACE(&parsed.mesh, 2, 7, 1, 2, 3);
  parsed_free(&parsed);
}

static void line_ends_blanks_and_comments(void** state) {
  (void)state;
  static const char* const texts[] = {
      "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n",
      "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r",
      "\xef\xbb\xbfv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
      "  v\t0  0\v0\f\n\tv 1 0 0   \nv 0 1 0 # here\n\tf  1  2  3  \n\n\n",
      "v 0 0 0#c\nv 1 \\\n0 0\nv 0 1 0 # no \\\nf 1 2 3\n",
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 \\  \r\n 2 \\\n\\\n 3",
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 \\",
      "mtllib a b.mtl\nv 0 0 0\nvp 1\nv 1 0 0\ncurv 0 1 \\\n v 3 4\nl 1 2\nv 0 1 0\ns off\nusemtl x\nf 1 2 3\np 1\n",
  };
  for (int i = 0; i < COUNT(texts); i++) {
    Parsed parsed = parse(texts[i]);
    if (parsed.status != STATUS_OK) print_message("text %d\n", i);
    print_diagnostics(&parsed.diagnostics);
    assert_int_equal(parsed.status, STATUS_OK);
    assert_int_equal(parsed.mesh.position_count, 3);
    assert_vec3_close(parsed.mesh.positions[1], vec3(1, 0, 0), 0);
    assert_int_equal(parsed.mesh.face_count, 1);
    FACE(&parsed.mesh, 0, parsed.mesh.face_line[0], 0, 1, 2);
    parsed_free(&parsed);
  }
}

static void groups_collect_their_faces(void** state) {
  (void)state;
  Parsed parsed = parse("f 1 2 3\no  Left arm \n" TRIANGLE
                        "v 0 0 1\nf 2 3 4\ng upper # part\nf 1 3 4\ng empty\n"
                        "o Right\nf 1 2 4\ng upper\nf 3 2 1\no Left arm\nf 4 3 2\ng upper\nf 4 3 1\ng\nf 4 2 1\n");
  print_diagnostics(&parsed.diagnostics);
  assert_int_equal(parsed.status, STATUS_OK);
  const Mesh* mesh = &parsed.mesh;
  check_consistent(mesh);
  static const struct {
    const char* name;
    int faces, first_line;
  } want[] = {{"default", 1, 1}, {"Left arm", 3, 7}, {"upper", 2, 9}, {"Right", 1, 12}, {"upper", 1, 14}};
  assert_int_equal(mesh->group_count, COUNT(want));
  for (int i = 0; i < COUNT(want); i++) {
    assert_string_equal(mesh->groups[i].name, want[i].name);
    assert_int_equal(mesh->groups[i].face_count, want[i].faces);
    assert_int_equal(mesh->face_line[mesh->groups[i].first_face], want[i].first_line);
  }
  FACE(mesh, 2, 16, 3, 2, 1); /* the second part of the left arm follows the first */
  FACE(mesh, 3, 20, 3, 1, 0);
  parsed_free(&parsed);
}

/* Names swallow '#' and end at a continued line, whose words are then lost; vertices are counted alike. */
static void names_end_where_statements_end(void** state) {
  (void)state;
  static const char* const lost[] = {"o name \\\nv 9 9 9\n", "g name\\\nv 9 9 9\n", "o a#b \\\n v 9 9 9\n",
                                     "o \\\nv 9 9 9\n"};
  static const char* const kept[] = {"o a # b \\\nv 9 9 9\n", "o # b \\\nv 9 9 9\n", "g a\\b\nv 9 9 9\n"};
  for (int i = 0; i < COUNT(lost) + COUNT(kept); i++) {
    bool is_lost = i < COUNT(lost);
    Text text = {0};
    text_add(&text, "%s%sf 1 2 3\n", TRIANGLE, is_lost ? lost[i] : kept[i - COUNT(lost)]);
    Parsed parsed = parse(text.data);
    assert_int_equal(parsed.status, STATUS_OK);
    assert_int_equal(parsed.mesh.position_count, is_lost ? 3 : 4);
    parsed_free(&parsed);
    text_free(&text);
  }
}

static void degenerate_faces_are_dropped_and_counted(void** state) {
  (void)state;
  Parsed parsed = parse(TRIANGLE "v 1 0 0\nf 1 2\nf 3\nf\nf 1 1 2\nf 1 2 4\nf 2 4 2 4\nf 1 2 3\nf 1 2 2 3\n");
  assert_int_equal(parsed.status, STATUS_OK);
  assert_int_equal(parsed.mesh.degenerate_face_count, 6);
  assert_int_equal(parsed.mesh.face_count, 2);
  FACE(&parsed.mesh, 0, 11, 0, 1, 2);
  FACE(&parsed.mesh, 1, 12, 0, 1, 1, 2);
  check_consistent(&parsed.mesh);
  parsed_free(&parsed);
}

/* ---------------------------------------------------------------- refused files */

static void bad_numbers_have_line_and_column(void** state) {
  (void)state;
  static const char* const bad[] = {"x",   "nan",   "NaN", "inf", "-inf", "Infinity", "0x10", "1e", "1e+",
                                    "--1", "1.2.3", ".",   "+",   "1,5",  "1e5f",     "e5",   "1d3"};
  for (int i = 0; i < COUNT(bad); i++) {
    char text[100];
    snprintf(text, sizeof text, "%s  v 1 %s 0\nf 1 2 3\n", TRIANGLE, bad[i]);
    check_error(text, 4, 7, "expected a finite decimal number");
  }
  check_error("v 0 0 1e999\n", 1, 7, "too large");
  check_error("v 0 -1e31 0\n", 1, 5, "beyond 1e+30 m");
  check_error("v 0 0\n" TRIANGLE "f 2 3 4\n", 1, 6, "needs 3 coordinates, got 2");
  check_error(TRIANGLE "v\nf 1 2 3", 4, 2, "needs 3 coordinates, got 0");
  check_error("v 0 0 0 1 1 1 1 9\n" TRIANGLE "f 2 3 4\n", 1, 17, "at most 7 numbers");
  check_error("v 0 0 0 red\n" TRIANGLE "f 2 3 4\n", 1, 9, "expected a finite decimal number");
  check_error("v 0 \\\n x 0\n" TRIANGLE "f 2 3 4\n", 2, 2, "'x'");
  check_error("v 0 0 \xc3\xa9 \n", 1, 7, "'\?\?'");
  check_error(
      "g \xc3\xa9\xc3\xa9\nv \xc3\xa9"
      "0 0 0\n",
      2, 3, "expected");
  check_error(TRIANGLE "f 1 2 3 # \xc3\xa9\nf 1/\xc3\xa9 2 3", 5, 3, "expected");
  Parsed tiny = parse("v 1e-400 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"); /* underflow is no error */
  assert_int_equal(tiny.status, STATUS_OK);
  parsed_free(&tiny);
  const char* large = "v 1e25 0 0\nv 0 0 0\nv 0 1 0\nf 1 2 3\n";
  Parsed scaled = parse_bytes(large, strlen(large), 1e10);
  check_errors(&scaled, &(Expected){1, 3, "beyond"}, 1);
  parsed_free(&scaled);
}

static void bad_indices_have_line_and_column(void** state) {
  (void)state;
  check_error(TRIANGLE "f 1 2 99\n", 4, 7, "names vertex '99', but the file has only 3");
  check_error(TRIANGLE "f 0 1 2\n", 4, 3, "vertex 0, but vertices are numbered from 1");
  check_error(TRIANGLE "f 1 -4 2\nv 0 0 1\n", 4, 5, "'-4', but only 3 vertices are defined before the face");
  check_error(TRIANGLE "f 1 2 99999999999999999999999999\n", 4, 7, "but the file has only 3");
  check_error(TRIANGLE "f 1 2 2147483647\n", 4, 7, "but the file has only 3");
  check_error(TRIANGLE "f 1 2 -2147483648\n", 4, 7, "but only 3 vertices are defined before the face");
  static const char* const bad[] = {"x", "1.5", "1/x", "1/2/3/4", "/1", "1e0", "1-2", "-", "1\\2"};
  for (int i = 0; i < COUNT(bad); i++) {
    char text[100];
    snprintf(text, sizeof text, "%sf 1 2 %s 3\n", TRIANGLE, bad[i]);
    check_error(text, 4, 7, "expected a face corner");
  }
}

static void all_errors_come_in_one_go(void** state) {
  (void)state;
  Parsed parsed = parse("v 0 0 0\nv 1 x 0\nv nan 1 0\nv 0 0 inf\nf 1 2 9 0\nf 1 2 3\n");
  const Expected want[] = {{2, 5, "'x'"}, {3, 3, "'nan'"}, {4, 7, "'inf'"}, {5, 7, "'9'"}, {5, 9, "vertex 0"}};
  check_errors(&parsed, want, COUNT(want));
  parsed_free(&parsed);
}

static void after_twenty_errors_it_stops(void** state) {
  (void)state;
  Text text = {0};
  for (int i = 0; i < 1000; i++) text_add(&text, "v x y z\n");
  Parsed parsed = parse(text.data);
  assert_int_equal(parsed.status, STATUS_BAD_INPUT);
  assert_int_equal(parsed.diagnostics.error_count, 20);
  assert_int_equal(parsed.diagnostics.count, 21);
  assert_int_equal(parsed.diagnostics.items[20].severity, SEVERITY_NOTE);
  assert_int_equal(parsed.diagnostics.items[20].line, 7);
  assert_non_null(strstr(parsed.diagnostics.items[20].text, "rest of the file was not read"));
  parsed_free(&parsed);
  text_free(&text);
}

static void what_is_no_mesh_is_refused(void** state) {
  (void)state;
  check_error("", 1, 0, "no face");
  check_error("\n\n", 2, 0, "no face");
  check_error(TRIANGLE, 3, 0, "no face");
  check_error("solid cube\nfacet normal 0 0 1\n", 2, 0, "no face");
  check_error(TRIANGLE "f 1 2\nf 1 1 2", 5, 0, "no face of the 2 has three different corners");
  Parsed parsed = parse_bytes("v 0 0 0\nv \0 1", 13, 1);
  check_errors(&parsed, &(Expected){2, 3, "not text"}, 1);
  parsed_free(&parsed);
  parsed = parse_bytes("\0", 1, 1);
  check_errors(&parsed, &(Expected){1, 1, "not text"}, 1);
  parsed_free(&parsed);
}

static void files_that_cannot_be_opened(void** state) {
  (void)state;
  static const char* const paths[] = {"no/such/file.obj", "src"};
  for (int i = 0; i < COUNT(paths); i++) {
    Mesh mesh;
    Diagnostics diagnostics = {0};
    assert_int_equal(mesh_read(&mesh, paths[i], 1, &diagnostics), STATUS_IO);
    assert_int_equal(diagnostics.error_count, 1);
    assert_string_equal(diagnostics.items[0].file, paths[i]);
    print_message("%s: %s\n", paths[i], diagnostics.items[0].text);
    mesh_free(&mesh);
    diagnostics_free(&diagnostics);
  }
}

/* A long line of errors or blanks must not take quadratic time, nor a large index memory: with 8 MB the runner's limit
 * of time would end the test. */
static void long_lines_take_linear_time(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, TRIANGLE);
  for (int i = 0; i < 200000; i++) text_add(&text, "f 1 2 3 1 2 3 2000000000 \\ \\ \\\n");
  for (int i = 0; i < 1000000; i++) text_add_bytes(&text, "\\ ", 2);
  Parsed parsed = parse(text.data);
  assert_int_equal(parsed.status, STATUS_BAD_INPUT);
  parsed_free(&parsed);
  text_free(&text);
}

/* ---------------------------------------------------------------- shared files */

static void nasty_files_are_read_or_refused(void** state) {
  (void)state;
  if (!shared_data_present()) skip();
  static const struct {
    const char* name;
    int faces, degenerate; /* faces -1: refused */
    int line;              /* of the first error */
  } row[] = {
      {"bad_index", -1, 0, 22},
      {"bad_number", -1, 0, 3},
      {"binary", -1, 0, 1},
      {"concave_ngon", 10, 0, 0},
      {"crlf_vt_vn", 6, 0, 0},
      {"degenerate_triangles", 14, 4, 0},
      {"doubled_faces", 24, 0, 0},
      {"empty", -1, 0, 1},
      {"far_away", 12, 0, 0},
      {"flat", 2, 0, 0},
      {"inner_wall", 22, 0, 0},
      {"inside_out", 12, 0, 0},
      {"mixed_orientation", 12, 0, 0},
      {"no_faces", -1, 0, 9},
      {"nonmanifold_edge", 24, 0, 0},
      {"nonmanifold_vertex", 24, 0, 0},
      {"one_triangle", 1, 0, 0},
      {"open_box", 10, 0, 0},
      {"quads_ngons_negative", 8, 0, 0},
      {"two_point_face", 12, 2, 0},
      {"vertex_colors_w", 4, 0, 0},
  };
  for (int i = 0; i < COUNT(row); i++) {
    char path[100];
    snprintf(path, sizeof path, SHARED_DATA "nasty/%s.obj", row[i].name);
    Mesh mesh;
    Diagnostics diagnostics = {0};
    Status status = mesh_read(&mesh, path, 1, &diagnostics);
    print_message("%s: %d faces, %d dropped\n", row[i].name, mesh.face_count, mesh.degenerate_face_count);
    print_diagnostics(&diagnostics);
    assert_int_equal(status, row[i].faces < 0 ? STATUS_BAD_INPUT : STATUS_OK);
    if (row[i].faces < 0) {
      assert_string_equal(diagnostics.items[0].file, path);
      assert_int_equal(diagnostics.items[0].line, row[i].line);
    } else {
      check_consistent(&mesh);
      assert_int_equal(mesh.face_count, row[i].faces);
      assert_int_equal(mesh.degenerate_face_count, row[i].degenerate);
    }
    mesh_free(&mesh);
    diagnostics_free(&diagnostics);
  }
}

/* The table of the shared README: | file | V | F | ... */
static void every_shared_file_has_the_counts_of_its_table(void** state) {
  (void)state;
  if (!shared_data_present()) skip();
  FILE* table = fopen(SHARED_DATA "README.md", "r");
  assert_non_null(table);
  char line[500], name[200], path[300];
  int positions, faces, read = 0;
  while (fgets(line, sizeof line, table)) {
    if (sscanf(line, "| %199[^ |] | %d | %d |", name, &positions, &faces) != 3) continue;
    snprintf(path, sizeof path, SHARED_DATA "%s", name);
    Mesh mesh;
    Diagnostics diagnostics = {0};
    assert_int_equal(mesh_read(&mesh, path, 1, &diagnostics), STATUS_OK);
    check_consistent(&mesh);
    assert_int_equal(mesh.position_count, positions);
    assert_int_equal(mesh.face_count + mesh.degenerate_face_count, faces);
    read++;
    mesh_free(&mesh);
    diagnostics_free(&diagnostics);
  }
  fclose(table);
  print_message("%d files\n", read);
  assert_true(read >= 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_in_all_spellings),
      cmocka_unit_test(face_corners_in_all_spellings),
      cmocka_unit_test(indices_may_point_ahead_and_backwards),
      cmocka_unit_test(line_ends_blanks_and_comments),
      cmocka_unit_test(groups_collect_their_faces),
      cmocka_unit_test(names_end_where_statements_end),
      cmocka_unit_test(degenerate_faces_are_dropped_and_counted),
      cmocka_unit_test(bad_numbers_have_line_and_column),
      cmocka_unit_test(bad_indices_have_line_and_column),
      cmocka_unit_test(all_errors_come_in_one_go),
      cmocka_unit_test(after_twenty_errors_it_stops),
      cmocka_unit_test(what_is_no_mesh_is_refused),
      cmocka_unit_test(files_that_cannot_be_opened),
      cmocka_unit_test(long_lines_take_linear_time),
      cmocka_unit_test(nasty_files_are_read_or_refused),
      cmocka_unit_test(every_shared_file_has_the_counts_of_its_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
