/* Tests the exploded view of hulls by their distances. tests/cli/decompose-picture tests the picture. */
#include "render/picture.h"

#include "support/bodies.h"
#include "support/compare.h"

enum { MOST = 20 };

typedef struct {
  ModelHull hulls[MOST];
  Model model;
  Pose poses[MOST];
} Parts;

static void add_box(Parts* p, Vec3 low, Vec3 high) {
  Vec3 corners[8];
  for (int k = 0; k < 8; k++) corners[k] = vec3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
  ModelHull* hull = &p->hulls[p->model.hull_count];
  assert_int_equal(hull_create(&hull->solid, corners, 8), HULL_OK);
  hull->link = p->model.hull_count;
  hull->points = point_view_create(hull->solid.vertices, 8);
  hull->center = vec3_scale(vec3_add(low, high), 0.5);
  hull->radius = 0.5 * vec3_norm(vec3_sub(high, low));
  p->poses[p->model.hull_count++] = pose_identity();
  p->model.hulls = p->hulls;
}

static void parts_free(Parts* p) {
  for (int k = 0; k < p->model.hull_count; k++) {
    point_view_free(&p->hulls[k].points);
    hull_free(&p->hulls[k].solid);
  }
}

static void expect_apart(Parts* p, double least, double farthest) {
  separate_hulls(&p->model, p->poses);
  for (int a = 0; a < p->model.hull_count; a++) {
    compare_at_most(vec3_norm(p->poses[a].t), farthest, "way of hull %d", a);
    for (int b = 0; b < a; b++) {
      GjkResult g = gjk_distance(p->hulls[a].points, p->poses[a], p->hulls[b].points, p->poses[b], NULL);
      compare_at_most(least, g.distance, "distance of hulls %d and %d", a, b);
    }
  }
  parts_free(p);
}

/* Two crossed bars with the same centre move apart across, where they are 0.2 thick, not along their length of 0.8. */
static void crossing_bars_part_across(void** state) {
  (void)state;
  Parts p = {0};
  add_box(&p, vec3(-0.4, -0.1, -0.1), vec3(0.4, 0.1, 0.1));
  add_box(&p, vec3(-0.1, -0.4, -0.1), vec3(0.1, 0.4, 0.1));
  expect_apart(&p, 0.9 * hulls_gap(2), 0.5 * (0.2 + hulls_gap(2)) + 1e-6);
}

static void bars_of_a_frame_part(void** state) {
  (void)state;
  Parts p = {0};
  add_box(&p, vec3(-0.4, -0.4, -0.05), vec3(0.4, -0.3, 0.05));
  add_box(&p, vec3(-0.4, 0.3, -0.05), vec3(0.4, 0.4, 0.05));
  add_box(&p, vec3(-0.4, -0.35, -0.05), vec3(-0.3, 0.35, 0.05));
  add_box(&p, vec3(0.3, -0.35, -0.05), vec3(0.4, 0.35, 0.05));
  expect_apart(&p, 0.9 * hulls_gap(4), 0.5);
}

static void a_heap_of_boxes_parts(void** state) {
  (void)state;
  Random random = {41};
  Parts p = {0};
  for (int k = 0; k < 12; k++) {
    Vec3 center = vec3_scale(random_direction(&random), random_uniform(&random, 0, 0.3));
    Vec3 half = vec3(random_uniform(&random, 0.03, 0.15), random_uniform(&random, 0.03, 0.15), 0.1);
    add_box(&p, vec3_sub(center, half), vec3_add(center, half));
  }
  expect_apart(&p, 0.9 * hulls_gap(12), 2);
}

static void one_hull_stays(void** state) {
  (void)state;
  Parts p = {0};
  add_box(&p, vec3(-0.4, -0.4, -0.4), vec3(0.4, 0.4, 0.4));
  expect_apart(&p, 0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crossing_bars_part_across),
      cmocka_unit_test(bars_of_a_frame_part),
      cmocka_unit_test(a_heap_of_boxes_parts),
      cmocka_unit_test(one_hull_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
