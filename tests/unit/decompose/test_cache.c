/* Tests the cache files of decompositions. Cached hulls are bit-identical, invalid files are ignored, and no cache
 * folder is required. */
#include "decompose/blocks.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/compare.h"
#include "support/long.h"
#include "unit/decompose/decompose_testing.h"

static const double ANGLE[][2] = {{0, 0}, {3.1, 0}, {3.1, 1}, {1, 1.1}, {1, 3}, {0, 3}};
static const DecomposeOptions OPTIONS = {.symmetry_auto = true};

static char folder[64];

static void begin(void) {
  memcpy(folder, "/tmp/sdrs_hulls_XXXXXX", sizeof "/tmp/sdrs_hulls_XXXXXX");
  assert_non_null(mkdtemp(folder));
}

/* Calls `visit` for each file of the folder; returns how many. */
static int each_file(void (*visit)(const char* path)) {
  DIR* open = opendir(folder);
  int count = 0;
  assert_non_null(open);
  for (const struct dirent* entry = readdir(open); entry; entry = readdir(open)) {
    Text path = {0};
    if (entry->d_name[0] == '.') continue;
    text_add(&path, "%s/%s", folder, entry->d_name);
    if (visit) visit(path.data);
    text_free(&path);
    count++;
  }
  closedir(open);
  return count;
}

static void take_away(const char* path) { assert_int_equal(unlink(path), 0); }

static void end(void) {
  each_file(take_away);
  assert_int_equal(rmdir(folder), 0);
}

static void compare_hulls(const Decomposition* a, const Decomposition* b) {
  assert_int_equal(a->hull_count, b->hull_count);
  for (int h = 0; h < a->hull_count; h++) {
    assert_int_equal(a->hulls[h].vertex_count, b->hulls[h].vertex_count);
    assert_int_equal(a->hulls[h].triangle_count, b->hulls[h].triangle_count);
    compare_bytes(a->hulls[h].vertices, b->hulls[h].vertices, sizeof(Vec3) * (size_t)a->hulls[h].vertex_count,
                  "vertices of hull %d", h);
    compare_bytes(a->hulls[h].triangles, b->hulls[h].triangles, 3 * sizeof(int) * (size_t)a->hulls[h].triangle_count,
                  "triangles of hull %d", h);
  }
  const double x[] = {a->diagonal,     a->mesh_volume, a->hull_volume,  a->covered_miss,
                      a->mirror_error, a->depth,       a->depth_at_most};
  const double y[] = {b->diagonal,     b->mesh_volume, b->hull_volume,  b->covered_miss,
                      b->mirror_error, b->depth,       b->depth_at_most};
  compare_bytes(x, y, sizeof x, "measures");
  compare_bytes(a->depths, b->depths, sizeof(double) * (size_t)a->hull_count, "depths");
  assert_int_equal(a->apart, b->apart);
  assert_true(a->pieces == b->pieces && a->mesh_pieces == b->mesh_pieces && a->samples == b->samples);
  assert_true(a->convex == b->convex && a->covers == b->covers && a->connected == b->connected);
  assert_true(a->symmetric == b->symmetric && a->within_budget == b->within_budget);
  assert_true(a->within_tolerance == b->within_tolerance);
  for (int k = 0; k < 3; k++) assert_int_equal(a->mirror[k], b->mirror[k]);
}

/* Decomposes with the cache folder and compares the result with a decomposition without it. Returns true if the hulls
 * were read from the cache, which the joints show. */
static bool was_read(const Mesh* mesh, const DecomposeOptions* options) {
  Decomposition plain, cached;
  assert_int_equal(mesh_decompose(&plain, mesh, options), HULL_OK);
  assert_int_equal(mesh_decompose_cached(&cached, mesh, options, folder), HULL_OK);
  assert_true(plain.joint_count > 0);
  compare_hulls(&plain, &cached);
  bool read = cached.joint_count == 0;
  decomposition_free(&plain);
  decomposition_free(&cached);
  return read;
}

static void the_second_time_it_is_read(void** state) {
  (void)state;
  begin();
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  assert_false(was_read(&mesh, &OPTIONS));
  assert_int_equal(each_file(NULL), 1);
  assert_true(was_read(&mesh, &OPTIONS));
  assert_int_equal(each_file(NULL), 1);
  mesh_free(&mesh);
  end();
}

/* Defaults that are given are the defaults, and threads change nothing; all else makes other hulls. */
static void the_key_is_all_that_the_hulls_depend_on(void** state) {
  (void)state;
  begin();
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  assert_false(was_read(&mesh, &OPTIONS));
  assert_true(was_read(&mesh, &(DecomposeOptions){.symmetry_auto = true,
                                                  .max_hulls = 16,
                                                  .max_vertices = 64,
                                                  .error = 1e-3,
                                                  .resolution = 1200,
                                                  .threads = 3}));
  const DecomposeOptions others[] = {
      {.symmetry_auto = false},
      {.symmetry_auto = true, .max_hulls = 15},
      {.symmetry_auto = true, .max_vertices = 63},
      {.symmetry_auto = true, .error = 1.0000001e-3},
      {.symmetry_auto = true, .resolution = 1201},
      {.symmetry = {false, false, true}},
  };
  for (int k = 0; k < COUNT(others); k++) {
    assert_false(was_read(&mesh, &others[k]));
    assert_true(was_read(&mesh, &others[k]));
  }
  double* x = &mesh.positions[7].x; /* one bit of one coordinate */
  *x = nextafter(*x, 9);
  assert_false(was_read(&mesh, &OPTIONS));
  assert_int_equal(each_file(NULL), 2 + COUNT(others));
  mesh_free(&mesh);
  end();
}

/* ---------------------------------------------------------------- files that are wrong */

static size_t damage_at;
static int damage_kind;

static void damage(const char* path) {
  char* data;
  size_t length;
  assert_int_equal(file_read(path, &data, &length), STATUS_OK);
  size_t at = damage_at % length;
  if (damage_kind == 0) data[at] ^= 1;
  if (damage_kind == 1) length = at;
  assert_int_equal(file_write(path, data, length), STATUS_OK);
  memory_free(data);
}

static void a_damaged_file_is_made_anew(void** state) {
  (void)state;
  begin();
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  Random random = {23};
  assert_false(was_read(&mesh, &OPTIONS));
  for (int trial = 0; trial < tests_count(3, 30); trial++) {
    damage_at = trial < 2 ? 0 : (size_t)random_bits(&random);
    damage_kind = trial % 2;
    each_file(damage);
    if (was_read(&mesh, &OPTIONS)) fail_msg("a file damaged at %zu (kind %d) was believed", damage_at, damage_kind);
    assert_true(was_read(&mesh, &OPTIONS));
  }
  mesh_free(&mesh);
  end();
}

/* A right hash over wrong numbers: one array is replaced at a time. */
typedef struct {
  const char* name;
  int index;
  int64_t value;
} Lie;

static const Lie* lie;

static void tell_lie(const char* path) {
  NumberFile file, other = {.kind = "hulls"};
  Diagnostics diagnostics = {0};
  assert_int_equal(number_file_read(&file, "hulls", path, &diagnostics), STATUS_OK);
  bool told = false;
  for (int k = 0; k < file.count; k++) {
    NumberArray* array = &file.arrays[k];
    int64_t* integers = MEMORY_NEW(int64_t, array->count);
    double* doubles = MEMORY_NEW(double, array->count);
    memcpy(integers, array->bits, 8 * (size_t)array->count);
    memcpy(doubles, array->bits, 8 * (size_t)array->count);
    int count = array->count;
    if (strcmp(array->name, lie->name) == 0) {
      told = true;
      if (lie->index < 0)
        count += lie->index;
      else
        integers[lie->index] = lie->value, doubles[lie->index] = NAN;
    }
    if (array->is_integers)
      number_file_add_integers(&other, array->name, integers, count);
    else
      number_file_add_doubles(&other, array->name, doubles, count);
    memory_free(integers);
    memory_free(doubles);
  }
  assert_true(told);
  assert_int_equal(number_file_write(&other, path), STATUS_OK);
  number_file_free(&file);
  number_file_free(&other);
  diagnostics_free(&diagnostics);
}

static void a_right_hash_over_nonsense_is_not_believed(void** state) {
  (void)state;
  static const Lie LIES[] = {
      {"key", 3, 'z'},         {"sizes", 0, 3},      {"sizes", 0, -8},    {"sizes", 1, 1 << 30}, {"sizes", -1, 0},
      {"sizes", 2, INT64_MAX}, {"corners", 4, 8000}, {"corners", 4, -1},  {"corners", -1, 0},    {"points", 2, 0},
      {"points", -3, 0},       {"counts", -1, 0},    {"measures", -1, 0}, {"key", -64, 0},
  };
  begin();
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  assert_false(was_read(&mesh, &OPTIONS));
  for (int k = 0; k < COUNT(LIES); k += tests_count(2, 1)) {
    lie = &LIES[k];
    each_file(tell_lie);
    if (was_read(&mesh, &OPTIONS)) fail_msg("believed: %s %d", lie->name, lie->index);
    assert_true(was_read(&mesh, &OPTIONS));
  }
  mesh_free(&mesh);
  end();
}

/* ---------------------------------------------------------------- folders */

/* A folder that cannot be is no error: the hulls are there all the same. */
static void a_folder_that_cannot_be_made_is_no_error(void** state) {
  (void)state;
  begin();
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  const char* const folders[] = {"/proc/none/such", "/dev/null/below", NULL};
  for (int k = 0; k < COUNT(folders); k++) {
    Decomposition plain, cached;
    assert_int_equal(mesh_decompose(&plain, &mesh, &OPTIONS), HULL_OK);
    assert_int_equal(mesh_decompose_cached(&cached, &mesh, &OPTIONS, folders[k]), HULL_OK);
    compare_hulls(&plain, &cached);
    decomposition_free(&plain);
    decomposition_free(&cached);
  }
  mesh_free(&mesh);
  end();
}

static void what_has_no_hulls_leaves_no_file(void** state) {
  (void)state;
  begin();
  Mesh mesh = mesh_of_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  Decomposition d;
  for (int k = 0; k < 2; k++) assert_int_equal(mesh_decompose_cached(&d, &mesh, &OPTIONS, folder), HULL_FLAT);
  assert_int_equal(each_file(NULL), 0);
  mesh_free(&mesh);
  end();
}

static void expect_folder(const char* own, const char* shared, const char* home, const char* wanted) {
  const char* const names[] = {"SDRS_CACHE", "XDG_CACHE_HOME", "HOME"};
  const char* const values[] = {own, shared, home};
  for (int k = 0; k < 3; k++) {
    if (values[k])
      setenv(names[k], values[k], 1);
    else
      unsetenv(names[k]);
  }
  char* found = decompose_cache_folder();
  if (wanted)
    assert_string_equal(found, wanted);
  else
    assert_null(found);
  memory_free(found);
}

static void the_folder_follows_the_environment(void** state) {
  (void)state;
  expect_folder(NULL, NULL, "/home/eve", "/home/eve/.cache/sdrs");
  expect_folder(NULL, "", "/home/eve", "/home/eve/.cache/sdrs");
  expect_folder(NULL, "relative", "/home/eve", "/home/eve/.cache/sdrs");
  expect_folder(NULL, "/scratch", "/home/eve", "/scratch/sdrs");
  expect_folder("here", "/scratch", "/home/eve", "here");
  expect_folder("off", "/scratch", "/home/eve", NULL);
  expect_folder("", "/scratch", "/home/eve", NULL);
  expect_folder(NULL, NULL, NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_second_time_it_is_read),
      cmocka_unit_test(the_key_is_all_that_the_hulls_depend_on),
      cmocka_unit_test(a_damaged_file_is_made_anew),
      cmocka_unit_test(a_right_hash_over_nonsense_is_not_believed),
      cmocka_unit_test(a_folder_that_cannot_be_made_is_no_error),
      cmocka_unit_test(what_has_no_hulls_leaves_no_file),
      cmocka_unit_test(the_folder_follows_the_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
