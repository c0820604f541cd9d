/* Tests separating planes of triangles four at a time against one at a time. The results are bit-identical at all
 * distances, also when recomputed from the plane. */
#include <string.h>

#include "contact/reciprocal.h"
#include "support/bodies.h"
#include "support/runs.h"

enum { DRAWS = 4000, SEED = 411 };
static const char SCENE[] =
    "contact: {model: none}\n"
    "shapes:\n"
    "  stone: {type: points, pieces: triangles, points: [[0, 0, 0], [0, 0.2, 0], [0.3, 0, 0], [0, 0, 0], [0.3, 0, 0], "
    "[0.1, 0.1, 0.2], [0, 0, 0], [0.1, 0.1, 0.2], [0, 0.2, 0], [0, 0.2, 0], [0.1, 0.1, 0.2], [0.3, 0, 0]]}\n"
    "  needle: {type: points, pieces: triangles, points: [[0, 0, 0], [0.5, 0.001, 0], [0.5, 0, 0.002], [0, 0, 0], "
    "[0.5, 0, 0.002], [0.2, 0.003, 0.003], [0, 0, 0], [0.2, 0.003, 0.003], [0.5, 0.001, 0], [0.5, 0.001, 0], [0.2, "
    "0.003, 0.003], [0.5, 0, 0.002]]}\n"
    "links:\n"
    "  - {name: stone, mass: 1, shape: stone}\n"
    "  - {name: needle, mass: 1, position: [9, 0, 0], shape: needle}\n";

static PlaneScratch scratch_of(double room[3][16]) { return (PlaneScratch){room[0], room[1], room[2], 16, 0}; }

/* Returns true if both solutions are equal, apart from padding bytes. */
static bool same(const PlaneSolution* a, const PlaneSolution* b) {
  return memcmp(a, b, offsetof(PlaneSolution, iterations)) == 0 && a->iterations == b->iterations;
}

/* Apart by anything from nearly nothing on: the second is moved along the line of closest points. */
static bool draw_pair(const Model* m, Random* random, HullInstance pair[2], Plane* start) {
  GjkResult found;
  int i = (int)random_uniform(random, 0, 7.999), j = (int)random_uniform(random, 0, 7.999);
  Pose a = random_pose(random, 0.1), b = random_pose(random, 0.5);
  pair[0] = pair_hull_at(&m->hulls[i], &a);
  pair[1] = pair_hull_at(&m->hulls[j], &b);
  if (!(pair_distance(&pair[0], &pair[1], NULL, &found) > 0)) return false;
  double wanted = exp(random_uniform(random, -18, 2));
  b.t = vec3_add_scaled(b.t, wanted - found.distance, found.normal);
  pair[1] = pair_hull_at(&m->hulls[j], &b);
  if (!(pair_distance(&pair[0], &pair[1], NULL, &found) > 0)) return false;
  *start = reciprocal_start(&pair[0], &pair[1], &found);
  return true;
}

static void four_triangles_have_the_bits_of_one(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  assert_int_equal(run->model.hull_count, 8);
  Random random = {SEED};
  double room[3][16];
  PlaneScratch scratch = scratch_of(room);
  int most = 0, least = 1000, compared = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    HullInstance pair[4][2];
    Plane start[4];
    PlaneSolution four[4], one, again[4];
    ReciprocalPlane planes[4];
    int count = 1 + draw % 4, drawn = 0;
    while (drawn < count) drawn += draw_pair(&run->model, &random, pair[drawn], &start[drawn]);
    bool all = reciprocal_solve_four(count, (const HullInstance(*)[2])pair, start, four), each = true;
    for (int k = 0; k < count; k++) {
      bool is = reciprocal_solve_from(&pair[k][0], &pair[k][1], start[k], &scratch, &one);
      each = each && is;
      if (!all || !is) continue;
      if (!same(&four[k], &one)) fail_msg("seed %d, draw %d, pair %d of %d: other bits", SEED, draw, k, count);
      most = one.iterations > most ? one.iterations : most;
      least = one.iterations < least ? one.iterations : least;
      compared++;
    }
    if (all != each) fail_msg("seed %d, draw %d: found %d and %d", SEED, draw, all, each);
    if (!all) continue;
    for (int k = 0; k < count; k++) planes[k] = (ReciprocalPlane){four[k].plane.n, four[k].plane.o};
    reciprocal_recall_four(count, (const HullInstance(*)[2])pair, planes, again);
    for (int k = 0; k < count; k++) {
      reciprocal_recall(&pair[k][0], &pair[k][1], planes[k], &scratch, &one);
      four[k].iterations = 0;
      if (!same(&again[k], &four[k]) || !same(&one, &four[k]))
        fail_msg("seed %d, draw %d, pair %d of %d: not the same again", SEED, draw, k, count);
    }
  }
  assert_true(compared > 2 * DRAWS && most > least + 3); /* some have waited for others */
  run_free(run);
}

/* If the spheres are disjoint, both initial planes lead to the same minimum. */
static void centres_and_closest_points_lead_to_one_plane(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  Random random = {SEED + 1};
  double room[3][16];
  PlaneScratch scratch = scratch_of(room);
  int compared = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    HullInstance pair[2];
    Plane start;
    PlaneSolution near, far;
    if (!draw_pair(&run->model, &random, pair, &start)) continue;
    const Vec3 center[2] = {pair[0].center, pair[1].center};
    const double radius[2] = {pair[0].radius, pair[1].radius};
    if (!(vec3_norm(vec3_sub(center[0], center[1])) > 1.1 * (radius[0] + radius[1]))) continue;
    assert_true(reciprocal_solve_from(&pair[0], &pair[1], start, &scratch, &near));
    start = reciprocal_start_from_spheres(&pair[0], &pair[1], center, radius);
    assert_true(reciprocal_solve_from(&pair[0], &pair[1], start, &scratch, &far));
    compared++;
    if (fabs(far.energy - near.energy) > 1e-14 * near.energy ||
        vec3_norm(vec3_sub(far.plane.n, near.plane.n)) > 1e-10 ||
        fabs(far.plane.o - near.plane.o) > 1e-10 * (1 + fabs(near.plane.o)))
      fail_msg("seed %d, draw %d: P %.17g, not %.17g", SEED + 1, draw, far.energy, near.energy);
  }
  assert_true(compared > DRAWS / 20);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(four_triangles_have_the_bits_of_one),
                                     cmocka_unit_test(centres_and_closest_points_lead_to_one_plane)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
