/* Tests random scene values against their samples: a cart at its target, and a ball in free flight. */
#include <math.h>

#include "optimize/optimize.h"
#include "support/compare.h"

enum { SEED = 7, TRIES = 20, TRAINING = 1, VALIDATION = 2 };

/* Returns the random stream of (O18), which depends on seed, purpose, number and scenario. */
static Random stream(int what, int number, int scenario) {
  Random random = {SEED};
  random.state = random_bits(&random) + (uint64_t)what;
  random.state = random_bits(&random) + (uint64_t)number;
  random.state = random_bits(&random) + (uint64_t)scenario;
  return random;
}

typedef struct {
  Task task;
  Optimization* optimization;
} Sought;

static void begin(Sought* s, const char* text, const char* draws) {
  Diagnostics diagnostics = {0};
  OptimizationOptions options = {.threads = 2};
  Text whole = {0};
  text_add(&whole, "seed: 7\n%s%s", text, draws);
  Status status = task_parse(&s->task, "inline.yaml", whole.data, whole.length, false, NULL, 0, &diagnostics);
  if (status == STATUS_OK) status = optimization_create(&s->optimization, &s->task, &options, &diagnostics);
  if (status == STATUS_OK) status = optimization_start(s->optimization, &diagnostics);
  for (int k = 0; k < diagnostics.count && status != STATUS_OK; k++) print_message("%s\n", diagnostics.items[k].text);
  assert_int_equal(status, STATUS_OK);
  text_free(&whole);
  diagnostics_free(&diagnostics);
}

static void end(Sought* s) {
  optimization_destroy(s->optimization);
  task_free(&s->task);
}

/* At the end the cart is at knot 1, the ball at 0.5 + 0.6 v. The first draw is the knot's, the second where the ball
 * begins along y, the third along x. */
static const char SCENES[] =
    "scene:\n"
    "  simulation: {dt: 0.01, steps: 60, gravity: [0, 0, 0], integrator: first_order}\n"
    "  contact: {model: none}\n"
    "  links:\n"
    "    - {name: cart, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: sphere, radius: 0.1}}\n"
    "    - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}\n"
    "  controllers:\n"
    "    - {link: cart, type: prescribed, target: {type: keyframes, times: [0, 0.5], values: [[0], [1]]}}\n"
    "  initial: [{link: ball, coordinates: [0.5, 0, 0, 1, 0, 0, 0], velocities: [1, 0, 0, 0, 0, 0]}]\n"
    "loss:\n"
    "  - {type: point, name: cart, link: cart, target: [2, 0, 0]}\n"
    "  - {type: point, name: ball, link: ball, target: [2, 0, 0]}\n";
static const char DRAWS[] =
    "  numbers:\n"
    "    - {link: cart, knots: [1], low: -0.3, high: 0.1}\n"
    "    - {link: ball, of: start, dof: [1], low: 0.2, high: 0.4}\n"
    "    - {link: ball, of: start, dof: [0], low: -0.5, high: 0.5}\n";

static void expect_row(const Sought* s, int iteration, int number, double speed) {
  Random random = stream(TRAINING, number, 0);
  double cart = 1 + random_uniform(&random, -0.3, 0.1) - 2, y = random_uniform(&random, 0.2, 0.4);
  double x = 0.5 + random_uniform(&random, -0.5, 0.5) + 0.6 * speed - 2;
  const double* terms = optimization_terms(s->optimization, iteration);
  compare_near(terms[0], cart * cart, 1e-9, "cart, iteration %d", iteration);
  compare_near(terms[1], x * x + y * y, 1e-9, "ball, iteration %d", iteration);
}

/* A step so short that the variables - of which one is a number that is drawn, too - stay where they are. */
static void other_draws_in_other_iterations_O18(void** state) {
  (void)state;
  for (int every = 0; every < 3; every++) {
    Sought s;
    Text text = {0};
    text_add(&text,
             "optimizer: {type: adam, iterations: 6, design_step: 1.0e-13, control_step: 1.0e-13}\n"
             "control: [{link: cart}]\ndraws:\n  every: %d\n%s",
             every, DRAWS);
    begin(&s, SCENES, text.data);
    for (int k = 0; k < 6; k++) assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
    for (int k = 0; k <= 6; k++) expect_row(&s, k, every > 0 ? k / every : 0, 1);
    end(&s);
    text_free(&text);
  }
}

/* With the same draws all the time the least of the sum is where the mean ball hits, whatever the method. */
static void the_same_draws_have_a_least_point_O18(void** state) {
  (void)state;
  Sought s;
  Text text = {0};
  text_add(&text,
           "optimizer: {type: lbfgs, iterations: 20, control_step: 1}\n"
           "initial: [{link: ball, velocities: true, dof: [0, 1]}]\ndraws:\n  every: 0\n%s",
           DRAWS);
  begin(&s, SCENES, text.data);
  while (optimization_stop(s.optimization) == STOP_NOT_YET)
    assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
  Random random = stream(TRAINING, 0, 0);
  double cart = 1 + random_uniform(&random, -0.3, 0.1) - 2, y = random_uniform(&random, 0.2, 0.4);
  double x = 0.5 + random_uniform(&random, -0.5, 0.5);
  compare_near(optimization_best_loss(s.optimization), cart * cart, 1e-9, "what is left");
  compare_near(optimization_variable(s.optimization, 0).best, (2 - x) / 0.6, 1e-6, "along x");
  compare_near(optimization_variable(s.optimization, 1).best, -y / 0.6, 1e-6, "along y");
  end(&s);
  text_free(&text);
}

/* A descent method compares designs under the same samples. The accepted design is evaluated again under new samples.
 */
static void what_stands_is_judged_by_the_same_draws_O18(void** state) {
  (void)state;
  Sought s;
  Text text = {0};
  text_add(&text,
           "optimizer: {type: gradient, iterations: 8, control_step: 0.05}\n"
           "initial: [{link: ball, velocities: true, dof: [0]}]\ndraws:\n  every: 2\n%s",
           DRAWS);
  begin(&s, SCENES, text.data);
  for (int k = 1; k <= 8; k++) {
    assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
    expect_row(&s, k, k / 2, optimization_variable(s.optimization, 0).current);
  }
  end(&s);
  text_free(&text);
}

/* A try counts as feasible if its samples keep both values within their bounds. The tries use samples of their own; the
 * design stays as it is. */
static void tries_are_judged_by_success_O18(void** state) {
  (void)state;
  Sought s;
  Text text = {0};
  text_add(&text,
           "optimizer: {type: adam, iterations: 1, control_step: 1.0e-13}\n"
           "control: [{link: cart}]\n"
           "success:\n"
           "  - {type: point, name: c, link: cart, target: [1, 0, 0], max: 0.04}\n"
           "  - {type: point, name: b, link: ball, target: [1, 0.3, 0], max: 0.09}\n"
           "validation: {tries: 20}\ndraws:\n%s",
           DRAWS);
  begin(&s, SCENES, text.data);
  assert_int_equal(optimization_validation_tries(s.optimization), 0);
  assert_int_equal(optimization_validate(s.optimization), STATUS_OK);
  int held = 0, cart_held = 0;
  for (int k = 0; k < TRIES; k++) {
    Random random = stream(VALIDATION, k, 0);
    double cart = random_uniform(&random, -0.3, 0.1), y = random_uniform(&random, 0.2, 0.4) - 0.3;
    double x = 0.5 + random_uniform(&random, -0.5, 0.5) + 0.6 - 1;
    cart_held += cart * cart <= 0.04;
    held += cart * cart <= 0.04 && x * x + y * y <= 0.09;
  }
  assert_true(held > 0 && held < cart_held && cart_held < TRIES);
  assert_int_equal(optimization_validation_tries(s.optimization), TRIES);
  assert_int_equal(optimization_validation_passed(s.optimization, 0), held);
  end(&s);
  text_free(&text);
}

/* Three rotations at the start: a point of the ball is where a rotation vector's matrix, by Rodrigues' series, takes it
 * from where the scene's own quaternion has it. */
static void turns_of_free_bodies_O18(void** state) {
  (void)state;
  static const char TURNED[] =
      "scene:\n"
      "  simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
      "  contact: {model: none}\n"
      "  links: [{name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}]\n"
      "  initial: [{link: ball, coordinates: [0.5, 0, 0, 0.6, 0, 0.8, 0], velocities: [0, 0, 0, 0, 0, 0]}]\n"
      "loss: [{type: point, link: ball, point: [0.3, -0.2, 0.7], target: [0, 0, 0]},\n"
      "  {type: travel, name: x, link: ball, point: [0.3, -0.2, 0.7], direction: [-1, 0, 0]},\n"
      "  {type: point, name: still, link: ball, point: [0, 0, 0], target: [0, 0, 0]}]\n"
      "initial: [{link: ball, velocities: true, dof: [0]}]\n"
      "optimizer: {type: adam, iterations: 3, control_step: 1.0e-13}\n"
      "draws:\n  numbers:\n    - {link: ball, of: start, dof: [1, 3, 5], low: -1, high: 2}\n";
  Sought s;
  begin(&s, TURNED, "");
  for (int k = 0; k < 3; k++) assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
  for (int k = 0; k <= 3; k++) {
    Random random = stream(TRAINING, k, 0);
    double y = random_uniform(&random, -1, 2),
           v[3] = {random_uniform(&random, -1, 2), 0, random_uniform(&random, -1, 2)};
    /* 0.6, 0, 0.8, 0 is a rotation about y by 2 atan(4/3): cos -0.28, sin 0.96 */
    Vec3 p = {-0.28 * 0.3 + 0.96 * 0.7, -0.2, -0.96 * 0.3 - 0.28 * 0.7}, term = p, sum = p;
    for (int n = 1; n < 40; n++) {
      term = vec3_scale(vec3_cross(vec3_at(v), term), 1.0 / n);
      sum = vec3_add(sum, term);
    }
    Vec3 at = vec3_add(sum, vec3(0.5, y, 0));
    compare_near(optimization_terms(s.optimization, k)[0], vec3_dot(at, at), 1e-9, "iteration %d", k);
    compare_near(optimization_terms(s.optimization, k)[2], 0.25 + y * y, 1e-9, "its origin, iteration %d", k);
  }
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_draws_in_other_iterations_O18),
      cmocka_unit_test(the_same_draws_have_a_least_point_O18),
      cmocka_unit_test(what_stands_is_judged_by_the_same_draws_O18),
      cmocka_unit_test(tries_are_judged_by_success_O18),
      cmocka_unit_test(turns_of_free_bodies_O18),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
