/* Tests surface features and the search for features near each other, against all pairs of features
 * (docs/derivations/law-ipc.md, N24). */
#include <string.h>

#include "contact/features.h"
#include "support/bodies.h"
#include "support/compare.h"
#include "support/runs.h"

enum { MOST = 60 };

typedef struct {
  ConvexHull solid;
  Features features;
  Vec3 points[MOST];
} Thing;

static Thing random_thing(Random* random, int count) {
  Thing t = {0};
  Vec3 points[MOST];
  for (int k = 0; k < count; k++) points[k] = vec3_scale(random_direction(random), 0.5);
  assert_int_equal(hull_create(&t.solid, points, count), HULL_OK);
  features_of_solid(&t.solid, &t.features);
  return t;
}

static void place(Thing* t, Pose pose) {
  for (int k = 0; k < t->solid.vertex_count; k++) t->points[k] = pose_apply(pose, t->solid.vertices[k]);
}

static Surface surface_of(const Thing* t) { return (Surface){&t->features, t->points, t->solid.vertex_count, 0}; }

static void thing_free(Thing* t) {
  hull_free(&t->solid);
  features_free(&t->features);
}

/* All vertices against all triangles, all edges against all edges. */
static int count_all(const Thing t[2], double range, double* sum) {
  int count = 0;
  *sum = 0;
  for (int side = 0; side < 2; side++)
    for (int p = 0; p < t[side].solid.vertex_count; p++)
      for (int k = 0; k < t[1 - side].solid.triangle_count; k++) {
        const int* corner = t[1 - side].solid.triangles[k];
        Stencil s = {.x = {t[side].points[p], t[1 - side].points[corner[0]], t[1 - side].points[corner[1]],
                           t[1 - side].points[corner[2]]}};
        stencil_point_triangle(&s);
        count += s.d < range;
        *sum += s.d < range ? s.d : 0;
      }
  for (int i = 0; i < t[0].features.edge_count; i++)
    for (int j = 0; j < t[1].features.edge_count; j++) {
      const int *a = t[0].features.edges[i], *b = t[1].features.edges[j];
      Stencil s = {.x = {t[0].points[a[0]], t[0].points[a[1]], t[1].points[b[0]], t[1].points[b[1]]}};
      stencil_edge_edge(&s);
      count += s.d < range;
      *sum += s.d < range ? s.d : 0;
    }
  return count;
}

static void near_features_N24_against_all_pairs(void** state) {
  (void)state;
  Random random = {601};
  NearFeatures near = {0};
  Stencils found = {0};
  int most = 0;
  for (int n = 0; n < 60; n++) {
    Thing t[2] = {random_thing(&random, 6 + n % 40), random_thing(&random, 5 + (n * 7) % 45)};
    double range = random_uniform(&random, 0.002, 0.3);
    Pose pose = {mat3_from_quat(quat_exp(random_direction(&random))), vec3_scale(random_direction(&random), 3)};
    place(&t[0], pose_identity());
    PointView view = point_view_create(t[0].solid.vertices, t[0].solid.vertex_count),
              other = point_view_create(t[1].solid.vertices, t[1].solid.vertex_count);
    GjkResult gap = gjk_distance(view, pose_identity(), other, pose, NULL);
    for (int k = 0; k < 8; k++) { /* to a part of the range */
      pose.t = vec3_add_scaled(pose.t, random_uniform(&random, 0.05, 0.95) * range - gap.distance, gap.normal);
      gap = gjk_distance(view, pose_identity(), other, pose, NULL);
    }
    place(&t[1], pose);
    double sum, wanted;
    int all = count_all(t, range, &wanted);
    const Surface surface[2] = {surface_of(&t[0]), surface_of(&t[1])};
    for (int known = 0; known < 2; known++) {
      found.count = 0;
      stencils_between(surface, known ? gap.normal : vec3(0, 0, 0), range, 0, &near, &found);
      sum = 0;
      for (int k = 0; k < found.count; k++) sum += found.list[k].d;
      if (found.count != all) fail_msg("seed 601, draw %d: %d stencils of %d", n, found.count, all);
      compare_near(sum, wanted, 1e-12, "seed 601, draw %d: sum of the distances", n);
    }
    if (all > most) most = all;
    point_view_free(&view);
    point_view_free(&other);
    for (int k = 0; k < 2; k++) thing_free(&t[k]);
  }
  assert_true(most > 20);
  near_features_free(&near);
  memory_free(found.list);
}

/* Euler: a closed surface of triangles has V + F - 2 edges. */
static void edges_of_a_solid_once_each(void** state) {
  (void)state;
  Random random = {602};
  for (int n = 0; n < 20; n++) {
    Thing t = random_thing(&random, 8 + 2 * n);
    assert_int_equal(t.features.vertex_count, t.solid.vertex_count);
    assert_int_equal(t.features.edge_count, t.solid.vertex_count + t.solid.triangle_count - 2);
    thing_free(&t);
  }
}

/* The waist of a smooth union is rendered, but polyhedral contact laws and the certificate use its convex hull. A body
 * that flies at the waist is therefore stopped by the hull in every step. */
static void the_waist_of_a_union_is_bridged(void** state) {
  (void)state;
  Run* run =
      run_create(1, 0,
                 "simulation: {dt: 0.005, steps: 40, gravity: [0, 0, 0], integrator: first_order}\n"
                 "contact: {model: ipc, friction: 0}\n"
                 "shapes:\n"
                 "  ball: {type: superellipsoid, size: [0.1, 0.1, 0.1], exponent: 1}\n"
                 "  peanut: {type: union, of: [{shape: ball, position: [0, 0, -0.13]}, {shape: ball, position: [0, 0, "
                 "0.13]}], smoothing: 0.002}\n"
                 "links:\n"
                 "  - {name: peanut, mass: 1, shape: peanut}\n"
                 "  - {name: bullet, mass: 1, position: [0.125, 0, 0], shape: {type: sphere, radius: 0.02}}\n"
                 "initial: [{link: bullet, velocities: [-0.8, 0, 0, 0, 0, 0]}]\n");
  const ModelHull* hull = &run->model.hulls[run->model.links[0].hull_first];
  Features features[2] = {{0}};
  features_of_link(&run->model, 0, features);
  for (int t = 0; t < features[0].triangle_count; t++) {
    const int* corner = features[0].triangles[t];
    Vec3 x = hull->solid.vertices[corner[0]];
    Vec3 n = vec3_cross(vec3_sub(hull->solid.vertices[corner[1]], x), vec3_sub(hull->solid.vertices[corner[2]], x));
    for (int m = 0; m < hull->solid.vertex_count; m++) {
      double outside = vec3_dot(n, vec3_sub(hull->solid.vertices[m], x)) / vec3_norm(n);
      assert_true(outside < 1e-9);
    }
  }
  assert_true(features[0].triangle_count > 0);
  run_steps(run, 40);
  const SimState* now = sim_state(run->sim);
  double away = now->pose[1].t.x - now->pose[0].t.x;
  print_message("%d triangles; the bullet ends %.4f m from the middle of the peanut\n", features[0].triangle_count,
                away);
  assert_true(away > 0.1 + 0.019);
  features_free(&features[0]);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(near_features_N24_against_all_pairs),
      cmocka_unit_test(edges_of_a_solid_once_each),
      cmocka_unit_test(the_waist_of_a_union_is_bridged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
