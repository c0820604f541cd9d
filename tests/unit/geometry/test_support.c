#include "geometry_testing.h"

/* The plain twin of the kernel: the first vertex that is higher than all before it. */
static int plain_support(const Vec3* points, int count, Vec3 direction) {
  int best = 0;
  for (int i = 1; i < count; i++)
    if (vec3_dot(points[i], direction) > vec3_dot(points[best], direction)) best = i;
  return best;
}

static void random_sets_of_every_size(void** state) {
  (void)state;
  Random random = {31};
  Vec3 points[300];
  for (int count = 1; count <= 300; count++)
    for (int trial = 0; trial < 50; trial++) {
      for (int i = 0; i < count; i++) points[i] = random_vector(&random, 1);
      PointView owned = point_view_create(points, count);
      Vec3 direction = random_direction(&random);
      double value;
      int index = support_index(owned, direction, &value);
      assert_in_range(index, 0, count - 1);
      double want = vec3_dot(points[plain_support(points, count, direction)], direction);
      assert_close(value, want, 1e-15); /* fused operations round differently */
      assert_close(vec3_dot(points[index], direction), want, 1e-15);
      point_view_free(&owned);
    }
}

/* Small integers are summed exactly, so ties are true ties: the smallest index wins, and never the padding. */
static void ties_go_to_the_smallest_index(void** state) {
  (void)state;
  Random random = {32};
  Vec3 points[100];
  for (int trial = 0; trial < 20000; trial++) {
    int count = 1 + (int)(random_bits(&random) % 100);
    for (int i = 0; i < count; i++) {
      Vec3 p = random_vector(&random, 1.5);
      points[i] = vec3(round(p.x), round(p.y), round(p.z));
    }
    PointView owned = point_view_create(points, count);
    Vec3 d = random_vector(&random, 1.5), direction = vec3(round(d.x), round(d.y), round(d.z));
    double value;
    int want = plain_support(points, count, direction);
    assert_int_equal(support_index(owned, direction, &value), want);
    assert_true(value == vec3_dot(points[want], direction));
    point_view_free(&owned);
  }
}

static void a_direction_that_is_not_a_number_gives_some_vertex(void** state) {
  (void)state;
  const Vec3 points[20] = {{1, 2, 3}};
  for (int count = 1; count <= 20; count++) {
    PointView owned = point_view_create(points, count);
    double value;
    assert_in_range(support_index(owned, vec3((double)NAN, 0, 0), &value), 0, count - 1);
    point_view_free(&owned);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sets_of_every_size),
      cmocka_unit_test(ties_go_to_the_smallest_index),
      cmocka_unit_test(a_direction_that_is_not_a_number_gives_some_vertex),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
