/* Tests collision-free paths of a body past obstacles: free by dense sampling, tight against a closed form, and none if
 * none exists. */
#include "query/query.h"
#include "support/compare.h"

enum { OBSTACLES_MAX = 10, SAMPLES = 40 };

typedef struct {
  Shape body, obstacle[OBSTACLES_MAX];
  Pose pose[OBSTACLES_MAX];
  PathProblem problem;
} Room;

static void add_ball(Room* room, Vec3 center, double radius) {
  ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {radius, radius, radius}};
  int k = room->problem.count++;
  assert_null(shape_create(&room->obstacle[k], &form));
  room->pose[k] = (Pose){mat3_identity(), center};
}

static void make(Room* room, Vec3 size) {
  ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {size.x, size.y, size.z}};
  *room = (Room){.problem = {.turn = mat3_identity(),
                             .low = {-2, -2, -2},
                             .high = {2, 2, 2},
                             .from = {-1.5, 0, 0},
                             .to = {1.5, 0, 0},
                             .clearance = 0.05,
                             .smoothness = 0.001,
                             .points = 40,
                             .seed = 5}};
  assert_null(shape_create(&room->body, &form));
  room->problem.body = &room->body;
  room->problem.obstacles = room->obstacle;
  room->problem.poses = room->pose;
}

static void drop(Room* room) {
  shape_free(&room->body);
  for (int k = 0; k < room->problem.count; k++) shape_free(&room->obstacle[k]);
}

/* Growth distance at many places of every segment. */
static double least_along(const Room* room, const PlannedPath* path) {
  double least = HUGE_VAL;
  for (int i = 0; i + 1 < path->count; i++)
    for (int s = 0; s <= SAMPLES; s++)
      for (int k = 0; k < room->problem.count; k++) {
        Pose at = {room->problem.turn, vec3_add_scaled(path->points[i], (double)s / SAMPLES,
                                                       vec3_sub(path->points[i + 1], path->points[i]))};
        least = fmin(least, growth_query(&room->body, at, &room->obstacle[k], room->pose[k], NULL).alpha);
      }
  return least;
}

/* Balls of 0.1 and 0.9: alpha = |r|. Around: a straight line to the circle of 1.07, the arc, and off again. */
static void shortest_way_round_a_ball_G18_G19_G20(void** state) {
  (void)state;
  Room room;
  make(&room, vec3(0.1, 0.1, 0.1));
  room.problem.smoothness = 1e-6;
  room.problem.points = 60;
  add_ball(&room, vec3(0, 0, 0), 0.9);
  PlannedPath path = path_plan(&room.problem);
  assert_int_equal(path.outcome, PATH_FOUND);
  double radius = 1.07, line = sqrt(1.5 * 1.5 - radius * radius), arc = radius * (M_PI - 2 * acos(radius / 1.5));
  compare_near(path.length, 2 * line + arc, 0.01, "length");
  assert_true(path.least >= 1.05 && path.length < path.start_length);
  compare_near(path.least, 1.07, 2e-3, "touches the bound");
  path_free(&path);
  drop(&room);
}

static void free_between_its_points_G17(void** state) {
  (void)state;
  Room room;
  for (int seed = 1; seed <= 3; seed++) {
    make(&room, vec3(0.25, 0.15, 0.08));
    room.problem.seed = (uint64_t)seed;
    Random random = {(uint64_t)seed};
    for (int k = 0; k < 8; k++)
      add_ball(&room, vec3(-1 + 2.0 * k / 7, random_uniform(&random, -0.5, 0.5), random_uniform(&random, -0.5, 0.5)),
               random_uniform(&random, 0.2, 0.35));
    PlannedPath path = path_plan(&room.problem);
    assert_int_equal(path.outcome, PATH_FOUND);
    assert_true(least_along(&room, &path) >= 1.05);
    compare_vec3(path.points[0], room.problem.from, 0, "from");
    compare_vec3(path.points[path.count - 1], room.problem.to, 0, "to");
    path_free(&path);
    drop(&room);
  }
}

/* A flat box through a slot of two boxes: their faces lie flat on each other where alpha has a slope, but the system of
 * all derivatives is singular. */
static void through_a_slot_of_boxes_G18_G20(void** state) {
  (void)state;
  ShapeDefinition wall = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 8, .size = {0.4, 2.4, 1}};
  Room room;
  for (int seed = 1; seed <= 4; seed++) {
    make(&room, vec3(0.3, 0.3, 0.1));
    shape_free(&room.body);
    ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 8, .size = {0.3, 0.3, 0.1}};
    assert_null(shape_create(&room.body, &form));
    room.problem.clearance = 0.02;
    room.problem.smoothness = 0.01;
    room.problem.seed = (uint64_t)seed;
    room.problem.from = vec3(-2, 0.5, 1);
    room.problem.to = vec3(2, -0.5, 1.2);
    room.problem.low = vec3(-3, -2, 0);
    room.problem.high = vec3(3, 2, 3);
    for (int k = 0; k < 2; k++) {
      assert_null(shape_create(&room.obstacle[k], &wall));
      room.pose[k] = (Pose){mat3_identity(), vec3(0, 0, 2.3 * k)};
    }
    room.problem.count = 2;
    PlannedPath path = path_plan(&room.problem);
    assert_int_equal(path.outcome, PATH_FOUND);
    assert_true(path.smoothed);
    assert_true(least_along(&room, &path) >= 1.02);
    compare_near(path.length, sqrt(16 + 1 + 0.04), 0.02, "length, little above the straight line's");
    path_free(&path);
    drop(&room);
  }
}

/* Three points are too few to be smoothed past balls on all sides: the polyline of the search is returned. */
static void the_path_of_the_search_where_smoothing_fails(void** state) {
  (void)state;
  Room room;
  make(&room, vec3(0.1, 0.1, 0.1));
  room.problem.points = 3;
  room.problem.low.z = room.problem.high.z = 0;
  room.problem.from = vec3(-1.9, 0, 0);
  room.problem.to = vec3(1.9, 0, 0);
  add_ball(&room, vec3(-0.7, 0.75, 0), 1);
  add_ball(&room, vec3(0.7, -0.75, 0), 1);
  add_ball(&room, vec3(0, 0, 3.6), 3);
  add_ball(&room, vec3(0, 0, -3.6), 3);
  PlannedPath path = path_plan(&room.problem);
  assert_int_equal(path.outcome, PATH_FOUND);
  assert_false(path.smoothed);
  assert_true(path.count > 3);
  assert_true(least_along(&room, &path) >= 1.05);
  compare_near(path.length, path.start_length, 1e-12, "length");
  path_free(&path);
  drop(&room);
}

static void ends_within_obstacles_are_told(void** state) {
  (void)state;
  Room room;
  make(&room, vec3(0.1, 0.1, 0.1));
  add_ball(&room, vec3(1.5, 0.2, 0), 0.4);
  PlannedPath path = path_plan(&room.problem);
  assert_int_equal(path.outcome, PATH_BLOCKED_END);
  assert_null(path.points);
  path_free(&path);
  drop(&room);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shortest_way_round_a_ball_G18_G19_G20),
      cmocka_unit_test(free_between_its_points_G17),
      cmocka_unit_test(through_a_slot_of_boxes_G18_G20),
      cmocka_unit_test(the_path_of_the_search_where_smoothing_fails),
      cmocka_unit_test(ends_within_obstacles_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
