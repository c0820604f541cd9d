#include <dirent.h>
#include <unistd.h>
#include "geometry_testing.h"
#include "support/long.h"

/* ---------------------------------------------------------------- small sets */

static int cube_grid(Vec3* points, int n, Vec3 size) {
  int count = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        points[count++] = vec3(size.x * i / (n - 1), size.y * j / (n - 1), size.z * k / (n - 1));
  return count;
}

static void a_grid_leaves_the_corners_of_its_box(void** state) {
  (void)state;
  Vec3 points[125];
  Random random = {11};
  for (int trial = 0; trial < 200; trial++) {
    Vec3 size = vec3(1, random_uniform(&random, 1e-3, 1), random_uniform(&random, 1e-3, 1));
    int count = cube_grid(points, 5, size);
    Pose pose = trial == 0 ? pose_identity() : random_pose(&random, 1);
    for (int i = 0; i < count; i++) points[i] = pose_apply(pose, points[i]);
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, points, count), HULL_OK);
    check_hull(&hull, points, count);
    assert_int_equal(hull.vertex_count, 8);
    assert_close(volume_by_flux(&hull), size.x * size.y * size.z, 1e-13);
    hull_free(&hull);
  }
}

static void interior_and_duplicate_points_are_dropped(void** state) {
  (void)state;
  const Vec3 points[] = {{0.1, 0.1, 0.1}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0},  {0, 0, 1},
                         {0, 0, 0},       {0, 0, 0}, {0, 0, 1}, {0.2, 0, 0}};
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, points, COUNT(points)), HULL_OK);
  const int kept[] = {1, 2, 4, 5};
  assert_int_equal(hull.vertex_count, 4);
  for (int i = 0; i < 4; i++) assert_memory_equal(&hull.vertices[i], &points[kept[i]], sizeof(Vec3));
  assert_close(volume_by_flux(&hull), 1.0 / 6.0, 1e-16);
  hull_free(&hull);
}

static void sets_without_a_hull_say_why(void** state) {
  (void)state;
  const Vec3 same[] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  const Vec3 three[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  const Vec3 line[] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}};
  const Vec3 square[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1e-11}};
  const Vec3 thin[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1e-9}};
  const Vec3 nan[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, (double)NAN}, {1, 1, 1}};
  const Vec3 infinite[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, HUGE_VAL}, {1, 1, 1}};
  const struct {
    const Vec3* points;
    int count;
    HullResult result;
  } row[] = {
      {same, 5, HULL_TOO_FEW_POINTS}, {three, 4, HULL_TOO_FEW_POINTS}, {three, 0, HULL_TOO_FEW_POINTS},
      {line, 5, HULL_FLAT},           {square, 5, HULL_FLAT},          {thin, 5, HULL_OK},
      {nan, 5, HULL_FAILED},          {infinite, 5, HULL_FAILED},
  };
  for (int i = 0; i < COUNT(row); i++) {
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, row[i].points, row[i].count), row[i].result);
    assert_non_null(hull_result_text(row[i].result));
    if (row[i].result != HULL_OK) assert_int_equal(hull.vertex_count, 0);
    hull_free(&hull);
  }
}

/* A square far away is flat although its rounded corners are not exactly so; a cube there is solid. */
static void flatness_allows_for_the_rounding_of_far_coordinates(void** state) {
  (void)state;
  Random random = {12};
  for (int trial = 0; trial < 100; trial++) {
    Pose pose = random_pose(&random, 1e7);
    Vec3 square[6], cube[8];
    for (int i = 0; i < 6; i++) square[i] = pose_apply(pose, vec3(i % 3, i % 2, 0));
    for (int i = 0; i < 8; i++) cube[i] = pose_apply(pose, vec3(i & 1, i >> 1 & 1, i >> 2));
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, square, 6), HULL_FLAT);
    assert_int_equal(hull_create(&hull, cube, 8), HULL_OK);
    assert_close(volume_by_flux(&hull), 1, 1e-7);
    hull_free(&hull);
  }
}

/* ---------------------------------------------------------------- random sets */

typedef enum { IN_BALL, ON_SPHERE, IN_CUBE, ON_GRID, ON_CYLINDER, NEAR_PLANE, DISTRIBUTIONS } Distribution;

static Vec3 draw(Random* random, Distribution distribution) {
  Vec3 p = random_vector(random, 1);
  switch (distribution) {
    case IN_BALL:
      return vec3_scale(random_direction(random), cbrt(random_uniform(random, 0, 1)));
    case ON_SPHERE:
      return random_direction(random);
    case ON_GRID:
      return vec3(round(3 * p.x), round(3 * p.y), round(3 * p.z));
    case ON_CYLINDER:
      return vec3(cos(3 * p.x), sin(3 * p.x), round(p.y));
    case NEAR_PLANE:
      return vec3(p.x, p.y, 1e-7 * p.z);
    default:
      return p;
  }
}

static void random_sets_lie_inside_their_hulls(void** state) {
  (void)state;
  Random random = {13};
  double worst = 0;
  for (int trial = 0; trial < tests_count(800, 3000); trial++) {
    double scale = pow(10, random_uniform(&random, -6, 7));
    Pose pose = random_pose(&random, trial % 3 == 0 ? 1e3 * scale : scale);
    int count = 5 + (int)(random_bits(&random) % (trial % 50 == 0 ? 2000 : 60));
    Vec3* points = MEMORY_NEW(Vec3, count);
    for (int i = 0; i < count; i++)
      points[i] = pose_apply(pose, vec3_scale(draw(&random, (Distribution)(trial % DISTRIBUTIONS)), scale));
    ConvexHull hull;
    HullResult result = hull_create(&hull, points, count);
    if (result == HULL_OK) {
      check_hull(&hull, points, count);
      worst = fmax(worst, outside_of_faces(&hull, points, count));
      assert_true(volume_by_flux(&hull) > 0);
    } else {
      assert_int_equal(result, HULL_FLAT);
    }
    hull_free(&hull);
    memory_free(points);
  }
  print_message("seed 13: worst point outside by %g of the diameter\n", worst);
}

static void the_hull_of_a_hull_is_itself(void** state) {
  (void)state;
  Random random = {14};
  for (int trial = 0; trial < 100; trial++) {
    Vec3 points[100];
    for (int i = 0; i < 100; i++) points[i] = draw(&random, IN_BALL);
    ConvexHull once, twice;
    assert_int_equal(hull_create(&once, points, 100), HULL_OK);
    assert_int_equal(hull_create(&twice, once.vertices, once.vertex_count), HULL_OK);
    assert_int_equal(once.vertex_count, twice.vertex_count);
    assert_memory_equal(once.vertices, twice.vertices, sizeof(Vec3) * (size_t)once.vertex_count);
    hull_free(&once);
    hull_free(&twice);
  }
}

/* ---------------------------------------------------------------- real meshes */

static void check_mesh_file(const char* path, int* hulls) {
  Mesh mesh;
  Diagnostics diagnostics = {0};
  if (mesh_read(&mesh, path, 1, &diagnostics) == STATUS_OK) {
    ConvexHull hull;
    HullResult result = hull_create(&hull, mesh.positions, mesh.position_count);
    if (result == HULL_OK) {
      check_hull(&hull, mesh.positions, mesh.position_count);
      ++*hulls;
    } else {
      print_message("%s: %s\n", path, hull_result_text(result));
      assert_true(strstr(path, "nasty/flat") || strstr(path, "nasty/one_triangle"));
    }
    hull_free(&hull);
  } else {
    assert_non_null(strstr(path, "/nasty/"));
  }
  mesh_free(&mesh);
  diagnostics_free(&diagnostics);
}

static void every_shared_mesh_has_its_hull(void** state) {
  (void)state;
  if (!shared_data_present()) skip();
  static const char* const folders[] = {"diffhand", "nasty", "panda", "real", "shadow", "shapes"};
  int hulls = 0;
  for (int i = 0; i < COUNT(folders); i++) {
    char path[600];
    snprintf(path, sizeof path, SHARED_DATA "%s", folders[i]);
    DIR* folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent* entry; (entry = readdir(folder));) {
      if (!strstr(entry->d_name, ".obj")) continue;
      snprintf(path, sizeof path, SHARED_DATA "%s/%s", folders[i], entry->d_name);
      check_mesh_file(path, &hulls);
    }
    closedir(folder);
  }
  print_message("%d hulls of shared meshes\n", hulls);
  assert_true(hulls >= 70);
}

static void volumes_of_the_convex_shared_meshes(void** state) {
  (void)state;
  if (!shared_data_present()) skip();
  static const struct {
    const char* name;
    double volume, tolerance; /* relative; files with few digits are no better than these */
    int vertices;
  } row[] = {
      {"shapes/cube", 1, 1e-14, 8},
      {"shapes/thin_plate", 0.002, 1e-12, 8},
      {"nasty/quads_ngons_negative", 2.598076, 1e-7, 12},
      {"nasty/vertex_colors_w", 1.0 / 6.0, 1e-15, 4},
      {"nasty/far_away", 1, 1e-9, 8},
      {"nasty/crlf_vt_vn", 1, 1e-14, 8},
      {"nasty/inside_out", 1, 1e-14, 8},
      {"diffhand/gripper_S", 1000, 1e-5, 8},
  };
  for (int i = 0; i < COUNT(row); i++) {
    char path[100];
    snprintf(path, sizeof path, SHARED_DATA "%s.obj", row[i].name);
    Mesh mesh;
    Diagnostics diagnostics = {0};
    assert_int_equal(mesh_read(&mesh, path, 1, &diagnostics), STATUS_OK);
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, mesh.positions, mesh.position_count), HULL_OK);
    print_message("%s: %d of %d vertices, volume %.12g\n", row[i].name, hull.vertex_count, mesh.position_count,
                  volume_by_flux(&hull));
    assert_close(volume_by_flux(&hull), row[i].volume, row[i].tolerance * row[i].volume);
    assert_int_equal(hull.vertex_count, row[i].vertices);
    hull_free(&hull);
    mesh_free(&mesh);
    diagnostics_free(&diagnostics);
  }
}

/* ---------------------------------------------------------------- Qhull stays quiet */

/* Sets that make Qhull complain: its messages must not reach the streams of the program, and no memory may be lost. */
static void qhull_prints_nothing(void** state) {
  (void)state;
  FILE* catcher = tmpfile();
  assert_non_null(catcher);
  int out = dup(1), err = dup(2);
  fflush(NULL);
  dup2(fileno(catcher), 1);
  dup2(fileno(catcher), 2);
  Random random = {15};
  for (int trial = 0; trial < tests_count(100, 300); trial++) {
    Vec3 points[40];
    double thickness = pow(10, random_uniform(&random, -13, -5));
    for (int i = 0; i < 40; i++) {
      points[i] = vec3(random_uniform(&random, -1, 1), round(random_uniform(&random, -2, 2)), 0);
      points[i].z = thickness * random_uniform(&random, -1, 1);
    }
    ConvexHull hull;
    hull_create(&hull, points, 40);
    hull_free(&hull);
  }
  fflush(NULL);
  dup2(out, 1);
  dup2(err, 2);
  long length = lseek(fileno(catcher), 0, SEEK_END);
  fclose(catcher);
  close(out);
  close(err);
  assert_int_equal(length, 0);
}

/* ---------------------------------------------------------------- thinning */

/* Distance of a point to the hull by its faces: an independent lower bound, exact when a face is the nearest. */
static double height_over_faces(const ConvexHull* hull, Vec3 point) {
  double most = -HUGE_VAL;
  for (int i = 0; i < hull->triangle_count; i++) {
    const int* t = hull->triangles[i];
    Vec3 origin = hull->vertices[t[0]];
    Vec3 normal = vec3_cross(vec3_sub(hull->vertices[t[1]], origin), vec3_sub(hull->vertices[t[2]], origin));
    most = fmax(most, vec3_dot(vec3_normalized(normal), vec3_sub(point, origin)));
  }
  return most;
}

static void a_thinned_hull_lies_inside_and_states_its_error(void** state) {
  (void)state;
  ConvexHull sphere;
  assert_int_equal(primitive_sphere(&sphere, 0.5, 3), HULL_OK);
  double last = HUGE_VAL;
  for (int budget = 4; budget <= 256; budget *= 2) {
    ConvexHull hull;
    double error;
    assert_int_equal(hull_create(&hull, sphere.vertices, sphere.vertex_count), HULL_OK);
    assert_int_equal(hull_reduce(&hull, budget, &error), HULL_OK);
    print_message("642 vertices to %d: error %.3g m\n", budget, error);
    assert_int_equal(hull.vertex_count, budget);
    check_hull_surface(&hull);
    check_hull_vertices(&hull, sphere.vertices, sphere.vertex_count);
    assert_true(outside_of_faces(&sphere, hull.vertices, hull.vertex_count) <= 1e-12);
    double bound = 0;
    for (int i = 0; i < sphere.vertex_count; i++) bound = fmax(bound, height_over_faces(&hull, sphere.vertices[i]));
    assert_true(error >= bound - 1e-12);
    assert_true(error <= 1.5 * bound + 1e-12); /* a face is nearest, or an edge hardly farther */
    assert_true(error < last);
    last = error;
    hull_free(&hull);
  }
  hull_free(&sphere);
}

static void thinning_within_the_budget_changes_nothing(void** state) {
  (void)state;
  ConvexHull hull;
  double error = 1;
  assert_int_equal(primitive_box(&hull, vec3(1, 2, 3)), HULL_OK);
  assert_int_equal(hull_reduce(&hull, 8, &error), HULL_OK);
  assert_int_equal(hull.vertex_count, 8);
  assert_true(error == 0);
  assert_int_equal(hull_reduce(&hull, 7, &error), HULL_OK);
  assert_int_equal(hull.vertex_count, 7);
  /* A cut corner of a 1 x 2 x 3 box: the plane x + y/2 + z/3 = 1 is 1 / sqrt(1 + 1/4 + 1/9) = 6/7 away. */
  assert_close(error, 6.0 / 7.0, 1e-15);
  hull_free(&hull);
}

/* ---------------------------------------------------------------- every point kept */

static bool is_corner(const ConvexHull* hull, int vertex) {
  for (int t = 0; t < hull->triangle_count; t++)
    for (int k = 0; k < 3; k++)
      if (hull->triangles[t][k] == vertex) return true;
  return false;
}

/* The same solid as without the points inside, which are vertices of it in the given order and corners of no triangle.
 */
static void keeping_holds_every_point_in_its_place(void** state) {
  (void)state;
  Random random = {29};
  for (int trial = 0; trial < 100; trial++) {
    Vec3 points[60];
    int count = 5 + trial % 50, corners = 0;
    for (int i = 0; i < count; i++)
      points[i] = vec3_scale(random_direction(&random), i % 3 == 0 ? 0.4 * random_uniform(&random, 0, 1) : 1);
    points[count] = points[1]; /* a point twice */
    count++;
    ConvexHull plain, kept;
    assert_int_equal(hull_create(&plain, points, count), HULL_OK);
    assert_int_equal(hull_create_with_interior(&kept, points, count), HULL_OK);
    assert_int_equal(kept.vertex_count, count);
    assert_memory_equal(kept.vertices, points, sizeof(Vec3) * (size_t)count);
    assert_int_equal(kept.triangle_count, plain.triangle_count);
    assert_close(volume_by_flux(&kept), volume_by_flux(&plain), 1e-14);
    for (int i = 0; i < count; i++) corners += is_corner(&kept, i);
    assert_int_equal(corners, plain.vertex_count);
    hull_free(&plain);
    hull_free(&kept);
  }
}

static void keeping_says_why_there_is_no_hull(void** state) {
  (void)state;
  const Vec3 square[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1e-11}};
  const Vec3 nan[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, (double)NAN}, {1, 1, 1}};
  ConvexHull hull;
  assert_int_equal(hull_create_with_interior(&hull, square, 3), HULL_TOO_FEW_POINTS);
  assert_int_equal(hull_create_with_interior(&hull, square, 5), HULL_FLAT);
  assert_int_equal(hull_create_with_interior(&hull, nan, 5), HULL_FAILED);
  assert_int_equal(hull.vertex_count, 0);
  hull_free(&hull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_grid_leaves_the_corners_of_its_box),
      cmocka_unit_test(interior_and_duplicate_points_are_dropped),
      cmocka_unit_test(sets_without_a_hull_say_why),
      cmocka_unit_test(flatness_allows_for_the_rounding_of_far_coordinates),
      cmocka_unit_test(random_sets_lie_inside_their_hulls),
      cmocka_unit_test(the_hull_of_a_hull_is_itself),
      cmocka_unit_test(every_shared_mesh_has_its_hull),
      cmocka_unit_test(volumes_of_the_convex_shared_meshes),
      cmocka_unit_test(qhull_prints_nothing),
      cmocka_unit_test(a_thinned_hull_lies_inside_and_states_its_error),
      cmocka_unit_test(thinning_within_the_budget_changes_nothing),
      cmocka_unit_test(keeping_holds_every_point_in_its_place),
      cmocka_unit_test(keeping_says_why_there_is_no_hull),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
