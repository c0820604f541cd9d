/* Tests the separating plane (C1, C3) against a second method: Newton's method in long double over all vertices
 * (tests/support). */
#include <float.h>

#include "support/compare.h"
#include "support/long.h"
#include "support/pairs.h"
#include "support/reference_plane.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct {
  double size, support;
} Scale;
/* millimetres to 100 m, the support scaled along, thin and thick against the body */
static const Scale scales[] = {{1e-3, 1e-6}, {5e-3, 1e-4}, {0.1, 1e-3}, {0.5, 1e-2},
                               {2, 1e-3},    {100, 1e-2},  {100, 0.1}};
static const double gaps[] = {0.02, 0.3, 0.9, 1.4, 1.9, 1.99};

/* ---------------------------------------------------------------- the minimum */

static void check_against_reference(const Pair* pair, const char* what) {
  PlaneSolution found = pair_solution(pair, what);
  Vec3 origin = found.plane.origin;
  ReferencePlane wanted = reference_plane(&pair->a, &pair->b, pair->support, origin);
  /* Allowed error: clearances and 1 - |n| are differences of numbers of the size of the coordinates and of 1. Each
   * number has some rounding errors from the rotation of a vertex, the translation, the origin and n . x + o. */
  double allowed = 10 * DBL_EPSILON * wanted.condition;
  compare_relative(found.energy, wanted.energy, allowed, "%s: U", what);
  /* the reference also says that no plane is better than the one found, beyond rounding of the coordinates */
  double own = reference_energy(&pair->a, &pair->b, pair->support, origin, found.plane.n, found.plane.o);
  compare_relative(own, wanted.energy, allowed, "%s: U of the plane found, by the reference", what);
  compare_vec3(found.plane.n, wanted.n, 1e-4, "%s: normal", what);
  compare_near(found.plane.o, wanted.o, 1e-4 * pair->support + 1e-4 * pair->size, "%s: offset", what);
}

static void plane_C1_is_the_minimum_for_every_kind_of_pair(void** state) {
  (void)state;
  Random random = {1};
  for (int kind = 0; kind < PAIR_KINDS_WITH_ROUNDED; kind++)
    for (int k = 0; k < COUNT(scales); k++)
      for (int g = 0; g < COUNT(gaps); g++) {
        Pair pair = pair_create((PairKind)kind, &random, scales[k].size, scales[k].support, gaps[g]);
        char what[160];
        snprintf(what, sizeof what, "seed 1, %s, size %g, s %g, gap %g s", pair_kind_name((PairKind)kind),
                 scales[k].size, scales[k].support, gaps[g]);
        if (tests_pair(k + g, kind % 2, 2)) check_against_reference(&pair, what);
        pair_free(&pair);
      }
}

/* The energy of any other separating plane is larger (the problem is convex: a small neighbourhood would do). */
static void plane_C1_no_plane_nearby_is_better(void** state) {
  (void)state;
  Random random = {2};
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++) {
    Pair pair = pair_create((PairKind)kind, &random, 0.2, 1e-2, 0.7);
    PlaneSolution found = pair_solution(&pair, pair_kind_name((PairKind)kind));
    for (int k = 0; k < 200; k++) {
      double size = pow(10, random_uniform(&random, -6, -2));
      Vec3 n = vec3_add_scaled(found.plane.n, size, random_direction(&random));
      double o = found.plane.o + size * 1e-2 * random_normal(&random);
      double other = reference_energy(&pair.a, &pair.b, pair.support, found.plane.origin, n, o);
      compare_at_most(found.energy, other * (1 + 1e-12), "seed 2, %s: U found against U of a plane %g away",
                      pair_kind_name((PairKind)kind), size);
    }
    pair_free(&pair);
  }
}

/* |n| is less than 1 by less than sigma, independently of the support s. The law has no other length scale. Coordinates
 * are some hundred s, so clearances of about s / 4 have a rounding error of about 1e-13. */
static void plane_C1_normal_is_just_under_unit_length(void** state) {
  (void)state;
  double first = 0;
  for (double s = 100; s > 1e-7; s *= 0.1) {
    Random random = {3};
    Pair pair = pair_create(PAIR_FACES, &random, 100 * s, s, 0.5);
    double below = 1 - vec3_norm(pair_solution(&pair, "faces").plane.n);
    if (first == 0) first = below;
    compare_at_most(below, BARRIER_NORM_WIDTH, "1 - |n| at s = %g", s);
    compare_at_most(0.01 * BARRIER_NORM_WIDTH, below, "a hundredth of sigma against 1 - |n| at s = %g", s);
    compare_relative(below, first, 1e-8, "1 - |n| at s = %g against that at s = 100", s);
    pair_free(&pair);
  }
}

/* ---------------------------------------------------------------- where the potential ends */

static void plane_is_separated_beyond_the_range(void** state) {
  (void)state;
  Random random = {4};
  for (int kind = 0; kind < PAIR_KINDS; kind++)
    for (double s = 1e-4; s < 0.2; s *= 10) {
      double range = plane_range(s) / s;
      Pair pair = pair_create((PairKind)kind, &random, 0.5, s, range * (1 + 1e-6));
      PlaneSolution found;
      const char* name = pair_kind_name((PairKind)kind);
      PlaneOutcome outcome = pair_solve(&pair, pair_start(&pair), &found);
      if (outcome != PLANE_SEPARATED)
        fail_msg("seed 4, %s, s = %g: outcome %d just beyond the range", name, s, (int)outcome);
      for (int side = 0; side < 2; side++) {
        const HullInstance* h = side == 0 ? &pair.a.hull : &pair.b.hull;
        double exact = plane_clearance(h, side == 0 ? -1.0 : 1.0, found.plane);
        compare_at_most(found.clearance[side], exact + 1e-12, "%s: clearance of side %d is a lower bound", name, side);
        assert_true(found.clearance[side] > 0);
      }
      pair_free(&pair);
    }
}

/* Just inside the contact range, U is positive and of fourth order in the remaining distance. */
static void plane_energy_goes_to_zero_at_the_range(void** state) {
  (void)state;
  Random random = {5};
  double s = 1e-2, before = HUGE_VAL;
  for (double left = 0.3; left > 1e-6; left *= 0.25) {
    Pair pair = pair_create(PAIR_TETRAHEDRA, &random, 0.5, s, plane_range(s) / s * (1 - left));
    PlaneSolution found;
    PlaneOutcome outcome = pair_solve(&pair, pair_start(&pair), &found);
    double energy = outcome == PLANE_ACTIVE ? found.energy : 0;
    assert_true(outcome == PLANE_ACTIVE || outcome == PLANE_SEPARATED);
    compare_at_most(energy * s, 40 * pow(left, 4), "s U with %g of the range left", left);
    compare_at_most(energy, before, "U falls as the range ends, %g left", left);
    before = energy;
    pair_free(&pair);
  }
}

static void plane_clearance_is_that_of_the_lowest_vertex(void** state) {
  (void)state;
  Random random = {6};
  for (int kind = 0; kind < PAIR_KINDS; kind++) {
    Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, 0.4);
    PlaneSolution found = pair_solution(&pair, pair_kind_name((PairKind)kind));
    for (int side = 0; side < (pair.b.hull.half_space ? 1 : 2); side++) {
      const Body* body = side == 0 ? &pair.a : &pair.b;
      double least = HUGE_VAL, sigma = side == 0 ? -1 : 1;
      for (int k = 0; k < body->hull.points.count; k++) {
        Vec3 x = vec3_sub(body_vertex(body, k), found.plane.origin);
        least = fmin(least, sigma * (vec3_dot(found.plane.n, x) + found.plane.o));
      }
      compare_near(plane_clearance(&body->hull, sigma, found.plane), least, 1e-14, "%s: side %d",
                   pair_kind_name((PairKind)kind), side);
      compare_near(found.clearance[side], fmin(least, pair.support), 1e-13, "%s: solution's side %d",
                   pair_kind_name((PairKind)kind), side);
    }
    pair_free(&pair);
  }
}

/* ---------------------------------------------------------------- refusals */

static void plane_refuses_a_start_that_does_not_separate(void** state) {
  (void)state;
  Random random = {7};
  for (int kind = 0; kind < PAIR_KINDS; kind++) {
    Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, 0.4);
    Plane start = pair_start(&pair);
    PlaneSolution found;
    start.o += 0.1;
    assert_int_equal(pair_solve(&pair, start, &found), PLANE_INFEASIBLE);
    start.o -= 0.2;
    assert_int_equal(pair_solve(&pair, start, &found), PLANE_INFEASIBLE);
    start.o += 0.1;
    start.n = vec3_scale(vec3_normalized(start.n), 1 + 1e-9); /* |n| >= 1 is not allowed */
    assert_int_equal(pair_solve(&pair, start, &found), PLANE_INFEASIBLE);
    pair_free(&pair);
  }
}

static void plane_refuses_numbers_that_are_not(void** state) {
  (void)state;
  Random random = {8};
  Pair pair = pair_create(PAIR_RANDOM_8, &random, 0.3, 1e-2, 0.4);
  Plane start = pair_start(&pair);
  PlaneSolution found;
  start.o = NAN;
  PlaneOutcome outcome = pair_solve(&pair, start, &found);
  if (outcome != PLANE_INFEASIBLE && outcome != PLANE_FAILED)
    fail_msg("a plane that is not a number: outcome %d", (int)outcome);
  pair_free(&pair);
}

/* Hulls of metres, 1e-13 m apart: the rounding error of n . x is comparable to the clearance, so U is noise. A plane
 * may not be found, but the search must terminate early. */
static void plane_gives_up_where_rounding_hides_it(void** state) {
  (void)state;
  Random random = {21};
  int failed = 0, most = 0;
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++)
    for (int n = 0; n < 30; n++) {
      Pair pair = pair_create((PairKind)kind, &random, 5, 5e-4, 3e-10);
      PlaneSolution found;
      PlaneOutcome outcome = pair_solve(&pair, pair_start(&pair), &found);
      if (outcome != PLANE_INFEASIBLE && found.iterations > most) most = found.iterations;
      failed += outcome == PLANE_FAILED;
      pair_free(&pair);
    }
  print_message("%d failed, at most %d iterations\n", failed, most);
  assert_true(most < 500);
}

/* ---------------------------------------------------------------- invariances */

static void check_same(const PlaneSolution* found, const PlaneSolution* wanted, double tolerance, const char* what) {
  compare_relative(found->energy, wanted->energy, tolerance, "%s: U", what);
  Plane plane = plane_about(found->plane, wanted->plane.origin);
  compare_vec3(plane.n, wanted->plane.n, 1e-5, "%s: normal", what);
  for (int side = 0; side < 2; side++)
    compare_relative(found->side[side].first[3], wanted->side[side].first[3], 1e4 * tolerance, "%s: force of side %d",
                     what, side);
}

static void plane_does_not_depend_on_its_start(void** state) {
  (void)state;
  Random random = {9};
  int most = 0;
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++)
    for (int g = 0; g < COUNT(gaps); g++) {
      Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, gaps[g]);
      PlaneSolution wanted = pair_solution(&pair, pair_kind_name((PairKind)kind)), found;
      int tried = 0;
      for (int k = 0; k < 400 && tried < tests_count(7, 20); k++) {
        Plane start = pair_start(&pair);
        start.n = vec3_scale(
            vec3_normalized(vec3_add_scaled(start.n, random_uniform(&random, 0, 0.5), random_direction(&random))),
            random_uniform(&random, 0.3, 0.9999));
        /* a plane between the two sides along that normal, if there is one */
        double below = plane_clearance(&pair.a.hull, -1.0, start), above = plane_clearance(&pair.b.hull, 1.0, start);
        if (!(below + above > 0)) continue;
        start.o += 0.5 * (below - above);
        tried++;
        if (pair_solve(&pair, start, &found) != PLANE_ACTIVE)
          fail_msg("seed 9, %s: no plane from another start", pair_kind_name((PairKind)kind));
        if (found.iterations > most) most = found.iterations;
        check_same(&found, &wanted, 1e-10, pair_kind_name((PairKind)kind));
      }
      pair_free(&pair);
    }
  print_message("at most %d iterations\n", most);
}

static void plane_of_the_swapped_pair_is_the_other_way_round(void** state) {
  (void)state;
  Random random = {10};
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++)
    for (int g = 0; g < COUNT(gaps); g++) {
      Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, gaps[g]);
      PlaneSolution wanted = pair_solution(&pair, pair_kind_name((PairKind)kind));
      Pair swapped = {pair.b, pair.a, pair.support, pair.size};
      PlaneSolution found = pair_solution(&swapped, pair_kind_name((PairKind)kind));
      compare_relative(found.energy, wanted.energy, 1e-10, "seed 10, %s: U", pair_kind_name((PairKind)kind));
      compare_vec3(vec3_scale(found.plane.n, -1.0), wanted.plane.n, 1e-5, "seed 10, %s: normal",
                   pair_kind_name((PairKind)kind));
      compare_relative(found.side[0].first[3], wanted.side[1].first[3] * -1, 1e-6, "seed 10, %s: force",
                       pair_kind_name((PairKind)kind));
      pair_free(&pair);
    }
}

/* Vertices out of the plane's range change nothing but select the culled code path (more than 16 vertices). */
static void plane_is_the_same_with_and_without_culling(void** state) {
  (void)state;
  Random random = {11};
  for (int trial = 0; trial < 40; trial++) {
    Pair pair = pair_create(trial % 2 ? PAIR_RANDOM_8 : PAIR_FACES, &random, 0.3, 1e-2, gaps[trial % COUNT(gaps)]);
    PlaneSolution wanted = pair_solution(&pair, "plain");
    Vec3 points[256];
    int count = pair.a.hull.points.count;
    for (int k = 0; k < 200; k++) {
      Pose pose = pair.a.hull.pose;
      if (k < count) {
        points[k] = vec3(pair.a.hull.points.x[k], pair.a.hull.points.y[k], pair.a.hull.points.z[k]);
        continue;
      }
      Vec3 far = vec3_add_scaled(pair.a.hull.center, -5.0, vec3_normalized(wanted.plane.n));
      points[k] = pose_apply_inverse(pose, vec3_add_scaled(far, 2.0, random_direction(&random)));
    }
    Body larger = body_create(points, 200);
    body_place(&larger, pair.a.hull.pose);
    Pair second = {larger, pair.b, pair.support, pair.size};
    PlaneSolution found = pair_solution(&second, "with more vertices");
    check_same(&found, &wanted, 1e-10, "culled against plain, seed 11");
    body_free(&larger);
    pair_free(&pair);
  }
}

/* Theorem VII.8: stationarity in o says that the forces cancel. */
static void plane_C3_forces_of_the_two_sides_sum_to_zero(void** state) {
  (void)state;
  Random random = {12};
  double worst = 0;
  for (int kind = 0; kind < PAIR_KINDS; kind++)
    for (int k = 0; k < COUNT(scales); k++)
      for (int g = 0; g < COUNT(gaps); g++) {
        Pair pair = pair_create((PairKind)kind, &random, scales[k].size, scales[k].support, gaps[g]);
        PlaneSolution found = pair_solution(&pair, pair_kind_name((PairKind)kind));
        double a = found.side[0].first[3], b = found.side[1].first[3];
        /* clearances are differences of coordinates: they carry rounding of size / clearance */
        double rounding = 2.2e-16 * scales[k].size / (fmin(found.clearance[0], found.clearance[1]));
        double slope = 6.0 + 4.0 / (1.0 - 0.5 * gaps[g]); /* relative change of the force for one of the clearance */
        double allowed = fmax(1e-10, 20 * slope * rounding);
        worst = fmax(worst, fabs(a + b) / (fabs(a) * allowed));
        compare_near(a, -b, allowed * fabs(a), "seed 12, %s, size %g, s %g, gap %g s: force",
                     pair_kind_name((PairKind)kind), scales[k].size, scales[k].support, gaps[g]);
        pair_free(&pair);
      }
  print_message("largest sum of forces: %.2f of what is allowed\n", worst);
}

/* ---------------------------------------------------------------- moments */

static void plane_C3_moments_are_the_sums_over_vertices(void** state) {
  (void)state;
  Random random = {13};
  for (int kind = 0; kind < PAIR_HALF_SPACE_FACE; kind++) {
    Pair pair = pair_create((PairKind)kind, &random, 0.3, 1e-2, 0.6);
    PlaneSolution found = pair_solution(&pair, pair_kind_name((PairKind)kind));
    for (int side = 0; side < 2; side++) {
      const Body* body = side == 0 ? &pair.a : &pair.b;
      double sigma = side == 0 ? -1 : 1, second[10] = {0}, first[4] = {0}, s = pair.support;
      for (int m = 0; m < body->hull.points.count; m++) {
        Vec3 r = vec3_sub(body_vertex(body, m), found.plane.origin);
        double x[4] = {r.x, r.y, r.z, 1}, c = sigma * (vec3_dot(found.plane.n, r) + found.plane.o);
        if (!(c < s)) continue;
        double d = c - s, c5 = pow(c, 5);
        double p1 = 4 * d * d * d / c5 - 5 * d * d * d * d / (c5 * c);
        double p2 = 12 * d * d / c5 - 40 * d * d * d / (c5 * c) + 30 * d * d * d * d / (c5 * c * c);
        for (int i = 0, k = 0; i < 4; i++) {
          first[i] += sigma * p1 * x[i];
          for (int j = i; j < 4; j++) second[k++] += p2 * x[i] * x[j];
        }
      }
      compare_arrays(found.side[side].second, second, 10, 1e-9, "%s: second moment of side %d",
                     pair_kind_name((PairKind)kind), side);
      compare_arrays(found.side[side].first, first, 4, 1e-9, "%s: first moment of side %d",
                     pair_kind_name((PairKind)kind), side);
    }
    pair_free(&pair);
  }
}

/* contact.md, worked example: one vertex 0.1 over a half-space, s = 0.1. */
static void plane_C1_worked_example(void** state) {
  (void)state;
  const Vec3 points[4] = {{0, 0, 0}, {1, 0, 1}, {-1, 1, 1}, {-1, -1, 1}};
  Pair pair = {body_create(points, 4), body_half_space(vec3(0, 0, 1), -0.1), 0.1, 1};
  PlaneSolution found = pair_solution(&pair, "worked example");
  compare_near(vec3_norm(found.plane.n), 0.999149146540964586, 1e-14, "length of the normal");
  compare_near(found.energy, 0.011096318105853886 + 2 * 20.15374885553636, 1e-10, "U");
  compare_near(found.plane.n.z * found.side[0].first[3], -3624.933464557978, 1e-7, "dU/dz");
  compare_near(found.clearance[0], 0.04995745732704823, 1e-14, "clearance");
  pair_free(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plane_C1_is_the_minimum_for_every_kind_of_pair),
      cmocka_unit_test(plane_C1_worked_example),
      cmocka_unit_test(plane_C1_no_plane_nearby_is_better),
      cmocka_unit_test(plane_C1_normal_is_just_under_unit_length),
      cmocka_unit_test(plane_is_separated_beyond_the_range),
      cmocka_unit_test(plane_energy_goes_to_zero_at_the_range),
      cmocka_unit_test(plane_clearance_is_that_of_the_lowest_vertex),
      cmocka_unit_test(plane_refuses_a_start_that_does_not_separate),
      cmocka_unit_test(plane_refuses_numbers_that_are_not),
      cmocka_unit_test(plane_gives_up_where_rounding_hides_it),
      cmocka_unit_test(plane_does_not_depend_on_its_start),
      cmocka_unit_test(plane_of_the_swapped_pair_is_the_other_way_round),
      cmocka_unit_test(plane_is_the_same_with_and_without_culling),
      cmocka_unit_test(plane_C3_forces_of_the_two_sides_sum_to_zero),
      cmocka_unit_test(plane_C3_moments_are_the_sums_over_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
