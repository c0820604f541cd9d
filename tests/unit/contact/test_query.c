/* Tests queries of one pair outside of any scene: potential, plane and the gradient at every vertex (C1, C4). The
 * references are a slow implementation and central differences. */
#include "support/paths.h"
#include "support/reference_plane.h"
#include "support/sweep.h"

enum { MOST = 40 };

typedef struct {
  Vec3 a[MOST], b[MOST];
  int a_count, b_count;
  double support;
} Query;

static Query random_query(Random* random, int count, double gap) {
  Query q = {.a_count = count, .b_count = count, .support = 1e-2};
  Body a = body_random(random, count, 0.3, 1), b = body_random(random, count, 0.4, 0.7);
  body_place(&a, random_pose(random, 1));
  Pose pose = random_pose(random, 1);
  pose.t = vec3_add_scaled(a.hull.center, 2, random_direction(random));
  body_place(&b, pose);
  body_bring_near(&a, &b, gap * q.support);
  for (int k = 0; k < count; k++) {
    q.a[k] = body_vertex(&a, k);
    q.b[k] = body_vertex(&b, k);
  }
  body_free(&a);
  body_free(&b);
  return q;
}

static void query_C1_potential_and_plane(void** state) {
  (void)state;
  Random random = {151};
  for (int k = 0; k < 60; k++) {
    Query q = random_query(&random, 4 + k % 37, random_uniform(&random, 0.05, 1.9));
    ContactQuery r;
    Vec3 ga[MOST], gb[MOST];
    assert_true(contact_query(q.a, q.a_count, q.b, q.b_count, q.support, &r, ga, gb));
    Body a = body_create(q.a, q.a_count), b = body_create(q.b, q.b_count);
    ReferencePlane wanted = reference_plane(&a, &b, q.support, vec3(0, 0, 0));
    compare_relative(r.potential, wanted.energy, 1e-8, "seed 151, pair %d: potential", k);
    compare_near(r.distance, body_distance(&a, &b), 1e-14, "seed 151, pair %d: distance", k);
    compare_near(vec3_norm(vec3_sub(r.witness_b, r.witness_a)), r.distance, 1e-13, "seed 151, pair %d: witness points",
                 k);
    Vec3 sum = vec3(0, 0, 0);
    double size = 0;
    for (int m = 0; m < q.a_count; m++) { /* the plane in the coordinates given: a below, b above */
      assert_true(r.plane[0] * q.a[m].x + r.plane[1] * q.a[m].y + r.plane[2] * q.a[m].z + r.plane[3] < 0);
      assert_true(r.plane[0] * q.b[m].x + r.plane[1] * q.b[m].y + r.plane[2] * q.b[m].z + r.plane[3] > 0);
      sum = vec3_add(sum, vec3_add(ga[m], gb[m]));
      size += vec3_norm(ga[m]);
    }
    compare_vec3(sum, vec3(0, 0, 0), 1e-10 * size, "seed 151, pair %d: sum of the gradients", k);
    body_free(&a);
    body_free(&b);
  }
}

/* Input of a query: contact_query or contact_query_mesh. */
typedef struct {
  const Query* query;
  __typeof__(contact_query)* ask;
} Question;

static bool potential_at(void* context, const double* x, double* y) {
  const Question* question = context;
  Query q = *question->query;
  ContactQuery r;
  Vec3 ga[MOST], gb[MOST];
  for (int m = 0; m < q.a_count; m++) {
    q.a[m] = vec3_add(q.a[m], vec3(x[3 * m], x[3 * m + 1], x[3 * m + 2]));
    const double* xb = x + 3 * q.a_count + 3 * m;
    q.b[m] = vec3_add(q.b[m], vec3(xb[0], xb[1], xb[2]));
  }
  if (!question->ask(q.a, q.a_count, q.b, q.b_count, q.support, &r, ga, gb)) return false;
  y[0] = r.potential;
  return true;
}

static void query_C4_gradient_at_every_vertex(void** state) {
  (void)state;
  Random random = {152};
  for (int k = 0; k < 12; k++) {
    Query q = random_query(&random, 4 + k, random_uniform(&random, 0.2, 1.6));
    ContactQuery r;
    Vec3 g[2 * MOST];
    assert_true(contact_query(q.a, q.a_count, q.b, q.b_count, q.support, &r, g, g + q.a_count));
    double unit[6 * MOST];
    for (int i = 0; i < 6 * MOST; i++) unit[i] = 2e-3;
    Question question = {&q, contact_query};
    Sweep sweep = {potential_at, &question, 6 * q.a_count, 1, NULL, unit, NULL, 0.3, 5, 7};
    sweep_expect(&sweep, &g[0].x, 0, 1e-7, "seed 152, pair %d", k);
  }
}

static void query_beyond_the_range_and_inside(void** state) {
  (void)state;
  Random random = {153};
  for (int k = 0; k < 20; k++) {
    Query q = random_query(&random, 12, 2.1);
    ContactQuery r;
    Vec3 ga[MOST], gb[MOST];
    assert_true(contact_query(q.a, q.a_count, q.b, q.b_count, q.support, &r, ga, gb));
    compare_near(r.potential, 0, 0, "potential beyond the range");
    compare_relative(r.distance, 2.1 * q.support, 1e-9, "distance");
    for (int m = 0; m < 12; m++) compare_near(vec3_norm(ga[m]) + vec3_norm(gb[m]), 0, 0, "gradient beyond the range");
    for (int m = 0; m < 12; m++) q.b[m] = vec3_add(q.b[m], vec3_scale(vec3_sub(r.witness_a, r.witness_b), 3));
    bool apart = contact_query(q.a, q.a_count, q.b, q.b_count, q.support, &r, ga, gb);
    assert_false(apart);
    compare_near(r.distance, 0, 0, "distance of hulls that intersect");
  }
}

/* ---------------------------------------------------------------- of the mesh contact */

/* The apex of a tetrahedron lies above the centre of a large triangle. Only these two features are within range. */
static void mesh_query_N21_of_an_apex_above_a_triangle(void** state) {
  (void)state;
  const double support = 1e-2;
  for (int k = 1; k <= 12; k++) {
    double d = support * k / 10, t = d - support, wanted = d < support ? -t * t * log(d / support) : 0;
    double slope = d < support ? -2 * t * log(d / support) - t * t / d : 0;
    Vec3 a[3] = {{-3, -2, 0}, {3, -2, 0}, {0, 4, 0}};
    Vec3 b[5] = {{0, 0, d}, {0.5, 0, 1}, {-0.5, 0.4, 1}, {-0.5, -0.4, 1}, {0, 0, 0.9}}; /* the last one inside */
    Vec3 ga[3], gb[5];
    ContactQuery r;
    assert_true(contact_query_mesh(a, 3, b, 5, support, &r, ga, gb));
    compare_near(r.distance, d, 1e-15, "distance, k = %d", k);
    compare_near(r.potential, wanted, 1e-13 * support * support, "potential, k = %d", k);
    compare_vec3(gb[0], vec3(0, 0, slope), 1e-12, "gradient at the apex, k = %d", k);
    for (int m = 0; m < 3; m++) compare_vec3(ga[m], vec3(0, 0, -slope / 3), 1e-12, "a third at each corner");
    for (int m = 1; m < 5; m++) compare_near(vec3_norm(gb[m]), 0, 0, "the others feel nothing");
    compare_near(r.plane[3], -0.5 * d, 1e-15, "the plane lies halfway");
  }
}

static void mesh_query_gradient_at_every_vertex(void** state) {
  (void)state;
  Random random = {154};
  for (int k = 0; k < 8; k++) {
    Query q = random_query(&random, 4 + k, random_uniform(&random, 0.3, 0.8));
    ContactQuery r;
    Vec3 g[2 * MOST];
    assert_true(contact_query_mesh(q.a, q.a_count, q.b, q.b_count, q.support, &r, g, g + q.a_count));
    assert_true(r.potential > 0);
    double unit[6 * MOST];
    for (int i = 0; i < 6 * MOST; i++) unit[i] = 1e-3;
    Question question = {&q, contact_query_mesh};
    Sweep sweep = {potential_at, &question, 6 * q.a_count, 1, NULL, unit, NULL, 0.1, 5, 7};
    sweep_expect(&sweep, &g[0].x, 0, 1e-6, "seed 154, pair %d", k);
  }
}

/* Coplanar points form a fan of triangles. Two squares face to face are in contact at all corners and edges. The sum of
 * distances does not depend on the diagonals and has the closed form below. */
static void mesh_query_of_flat_points(void** state) {
  (void)state;
  Vec3 a[6] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 0}, {0.5, 0, 0}};
  Vec3 b[1] = {{0.7, 0.4, 0.25}}, ga[6], gb[1];
  ContactQuery r;
  assert_true(contact_query_mesh(a, 6, b, 1, 0.5, &r, ga, gb));
  double t = 0.25 - 0.5, slope = 2 * (-t * log(0.5)) - t * t / 0.25;
  /* off the diagonal the other triangle is at sqrt(0.25^2 + (0.3 / sqrt 2)^2) or sqrt(0.25^2 + (0.1 / sqrt 2)^2) */
  double far[2] = {0.3 / sqrt(2.0), 0.1 / sqrt(2.0)}, sum[2];
  for (int k = 0; k < 2; k++) {
    double d = sqrt(0.25 * 0.25 + far[k] * far[k]), u = d - 0.5;
    sum[k] = -t * t * log(0.5) - (d < 0.5 ? u * u * log(d / 0.5) : 0);
  }
  double error = fmin(fabs(r.potential - sum[0]), fabs(r.potential - sum[1]));
  if (!(error < 1e-15)) fail_msg("potential %.17g, closed form %.17g or %.17g", r.potential, sum[0], sum[1]);
  assert_true(gb[0].z < slope);
  compare_near(vec3_norm(ga[4]) + vec3_norm(ga[5]), 0, 0, "points between the corners feel nothing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(query_C1_potential_and_plane),
      cmocka_unit_test(query_C4_gradient_at_every_vertex),
      cmocka_unit_test(query_beyond_the_range_and_inside),
      cmocka_unit_test(mesh_query_N21_of_an_apex_above_a_triangle),
      cmocka_unit_test(mesh_query_gradient_at_every_vertex),
      cmocka_unit_test(mesh_query_of_flat_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
