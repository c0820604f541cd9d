/* Distance and depth of hulls with derivatives: boxes in closed form, random hulls against differences. */
#include <string.h>
#include "query/query.h"
#include "support/bodies.h"
#include "support/sweep.h"

typedef struct {
  Body body[2];
  Pose pose[2];
} Hulls;

static Distance query(const Hulls* h) {
  return distance_query(h->body[0].hull.points, h->pose[0], h->body[1].hull.points, h->pose[1], NULL);
}

static void boxes_in_closed_form(void** state) {
  (void)state;
  Hulls h = {{body_box(vec3(1, 1, 1)), body_box(vec3(1, 1, 1))}, {pose_identity(), pose_identity()}};
  h.pose[1].t = vec3(0.1, 0.2, 1.5);
  Distance d = query(&h);
  compare_near(d.distance, 0.5, 1e-14, "boxes apart");
  compare_vec3(d.normal, vec3(0, 0, 1), 1e-14, "normal");
  h.pose[1].t.z = 0.9;
  d = query(&h);
  compare_near(d.distance, -0.1, 1e-12, "boxes that overlap");
  compare_vec3(d.normal, vec3(0, 0, 1), 1e-12, "normal");
  compare_vec3(vec3_sub(d.witness_a, d.witness_b), vec3(0, 0, 0.1), 1e-12, "witness points");
  double out[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  assert_non_null(distance_derivatives(h.body[0].hull.points, h.pose[0], h.body[1].hull.points, h.pose[1], &d, out));
  body_free(&h.body[0]);
  body_free(&h.body[1]);
}

static bool answers_there(void* context, const double* x, double* y) {
  Hulls h = *(Hulls*)context;
  for (int s = 0; s < 2; s++) h.pose[s] = pose_twisted(h.pose[s], h.pose[s].t, x + 6 * s);
  Distance d = query(&h);
  const double rows[DISTANCE_ROWS] = {d.distance,    d.normal.x,    d.normal.y,    d.normal.z,    d.witness_a.x,
                                      d.witness_a.y, d.witness_a.z, d.witness_b.x, d.witness_b.y, d.witness_b.z};
  memcpy(y, rows, sizeof rows);
  return true;
}

/* Hulls of a few vertices, so that features last over a step; apart and overlapping. */
static void derivatives_H1(void** state) {
  (void)state;
  Random random = {41};
  int checked[2] = {0, 0};
  for (int k = 0; k < 400 && checked[0] + checked[1] < 60; k++) {
    Hulls h = {{body_random(&random, 8, 0.5, 1), body_random(&random, 6, 0.7, 1)},
               {random_pose(&random, 1), random_pose(&random, 1)}};
    h.pose[1].t = vec3_add_scaled(h.pose[0].t, k % 2 ? 0.4 : 1.5, random_direction(&random));
    Distance d = query(&h);
    bool overlap = d.distance < 0;
    if (fabs(d.distance) < 0.02 || checked[overlap] == 30) {
      body_free(&h.body[0]);
      body_free(&h.body[1]);
      continue;
    }
    double jacobian[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
    const char* reason =
        distance_derivatives(h.body[0].hull.points, h.pose[0], h.body[1].hull.points, h.pose[1], &d, jacobian);
    assert_null(reason);
    compare_vec3(vec3_sub(d.witness_b, d.witness_a), vec3_scale(d.normal, d.distance), 1e-11, "seed 41, %d: points", k);
    Sweep sweep = {answers_there, &h, QUERY_POSE_COLUMNS, DISTANCE_ROWS, NULL, NULL, NULL, 1e-4, 4, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 41, %d: distance %g", k, d.distance);
    checked[overlap]++;
    body_free(&h.body[0]);
    body_free(&h.body[1]);
  }
  assert_true(checked[0] == 30 && checked[1] == 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_in_closed_form),
      cmocka_unit_test(derivatives_H1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
