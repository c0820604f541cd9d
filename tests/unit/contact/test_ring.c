/* Tests circles in contact with a plane (docs/derivations/contact.md, C7) against Simpson's rule along the circle. */
#include "contact/ring.h"
#include "support/compare.h"

/* Returns the mean over the circle of P^(order)(middle - spread cos phi) f(cos phi) by Simpson's rule. */
static double simpson(double middle, double spread, int order, int power) {
  enum { INTERVALS = 40000 };
  double end = middle + spread <= 1 ? M_PI : acos((middle - 1) / spread), h = end / INTERVALS, sum = 0;
  for (int i = 0; i <= INTERVALS; i++) {
    double c = middle - spread * cos(i * h), weight = i == 0 || i == INTERVALS ? 1 : i % 2 ? 4 : 2;
    if (!(c < 1)) continue;
    Barrier b = barrier_eval(c);
    sum += weight * (order == 0 ? b.value : order == 1 ? b.first : b.second) * pow(cos(i * h), power);
  }
  return RING_WEIGHT * sum * h / 3 / M_PI;
}

static double by_nodes(const RingPosition* place, int order, int power) {
  RingNodes nodes;
  ring_nodes(place, &nodes);
  double sum = 0;
  for (int i = 0; i < nodes.count; i++) {
    Barrier b = barrier_eval(nodes.clearance[i]);
    sum += 2 * nodes.weight[i] * (order == 0 ? b.value : order == 1 ? b.first : b.second) * pow(nodes.cosine[i], power);
  }
  return sum;
}

static void nodes_C7_have_the_means_round_the_rim(void** state) {
  (void)state;
  static const double SPREADS[] = {0, 1e-9, 1e-3, 0.1, 0.3, 0.45, 0.5, 0.6, 1, 3, 10, 100};
  static const double LEAST[] = {0.01, 0.1, 0.3, 0.6, 0.9, 0.99};
  for (size_t i = 0; i < sizeof SPREADS / sizeof *SPREADS; i++)
    for (size_t k = 0; k < sizeof LEAST / sizeof *LEAST; k++) {
      RingPosition place = {.center_clearance = LEAST[k] + SPREADS[i], .min_clearance = LEAST[k], .spread = SPREADS[i]};
      for (int order = 0; order < 3; order++)
        for (int power = 0; power <= order; power++) {
          double right = simpson(place.center_clearance, place.spread, order, power),
                 size = simpson(place.center_clearance, place.spread, order, 0);
          compare_near(by_nodes(&place, order, power), right, 1e-9 * fabs(size), "order %d, cos^%d, spread %g, %g",
                       order, power, SPREADS[i], LEAST[k]);
        }
    }
}

/* Lying flat the mean is that of a point, and its curvature by the spread is P'' / 2. */
static void a_flat_circle_C7_is_smooth(void** state) {
  (void)state;
  double middle = 0.4, spread = 1e-3;
  RingPosition flat = {.center_clearance = middle, .min_clearance = middle};
  RingPosition tilted = {.center_clearance = middle, .min_clearance = middle - spread, .spread = spread};
  Barrier b = barrier_eval(middle);
  compare_relative(by_nodes(&flat, 0, 0), RING_WEIGHT * b.value, 1e-14, "flat");
  double change = by_nodes(&tilted, 0, 0) - by_nodes(&flat, 0, 0);
  compare_relative(change, RING_WEIGHT * spread * spread / 4 * b.second, 1e-4, "by the square of the spread");
}

static void nothing_C7_beyond_the_support(void** state) {
  (void)state;
  RingPosition place = {.center_clearance = 1.5, .min_clearance = 1, .spread = 0.5};
  RingNodes nodes;
  ring_nodes(&place, &nodes);
  assert_int_equal(nodes.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_C7_have_the_means_round_the_rim),
      cmocka_unit_test(a_flat_circle_C7_is_smooth),
      cmocka_unit_test(nothing_C7_beyond_the_support),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
