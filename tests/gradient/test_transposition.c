/* Transposition identity u . (J v) = (J^T u) . v of runs with impacts: derivatives of random scenes forwards
 * (identify.md, Q1) and backwards (adjoint.md, A1). SDRS_SEED sets the first seed; failures print theirs. The adjoint
 * is checked against differences in test_impacts.c, test_stops.c and test_run_gradients.c. */
#include "gradient/both_ways.h"

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "support/long.h"

/* Scene of a seed. links, velocities, loads: parts of its text. names: the links with variables. */
typedef struct {
  Random random;
  Text links, velocities, loads;
  const char* names;
} Draw;

static const char* pick(Draw* d, int count, const char* const* choices) {
  return choices[random_bits(&d->random) % (uint64_t)count];
}
static double between(Draw* d, double low, double high) { return random_uniform(&d->random, low, high); }

static const char* const GROUNDS[] = {
    "    - {name: ground, fixed: true, shape: {type: half_space}}\n",
    "    - {name: ground, fixed: true, position: [0, 0, -0.25], shape: {type: box, size: [8, 8, 0.5]}}\n"};
static const char* const SHAPES[] = {"{type: sphere, radius: 0.1", "{type: box, size: [0.2, 0.14, 0.1]",
                                     "{type: capsule, radius: 0.05, length: 0.2",
                                     "{type: cylinder, radius: 0.07, length: 0.15"};

/* Bodies that fall and spin, one above the other. */
static void draw_bodies(Draw* d, int count) {
  d->names = count == 1 ? "b0" : "b0, b1";
  text_add(&d->links, "%s", pick(d, 2, GROUNDS));
  for (int i = 0; i < count; i++) {
    text_add(&d->links, "    - {name: b%d, mass: %.3f, position: [%.3f, 0, %.3f], rpy: [%.2f, %.2f, %.2f], ", i,
             between(d, 0.5, 2), between(d, -0.05, 0.05), 0.2 + 0.4 * i + between(d, 0, 0.1), between(d, -1, 1),
             between(d, -1, 1), between(d, -1, 1));
    text_add(&d->links, "shape: %s}}\n", pick(d, 4, SHAPES));
    text_add(&d->velocities, "    - {link: b%d, velocities: [%.3f, %.3f, %.3f, %.3f, %.3f, %.3f]}\n", i,
             between(d, -1, 1), between(d, -1, 1), between(d, -2, -1), between(d, -9, 9), between(d, -9, 9),
             between(d, -9, 9));
  }
}
static void draw_one(Draw* d) { draw_bodies(d, 1); }
static void draw_two(Draw* d) { draw_bodies(d, 2); }

/* A pendulum that swings against a wall. */
static void draw_pendulum(Draw* d) {
  d->names = "b0";
  text_add(&d->links,
           "    - {name: wall, fixed: true, position: [%.3f, 0, 0.6], shape: {type: box, size: [0.2, 2, 3]}}\n",
           between(d, 0.3, 0.4));
  text_add(&d->links,
           "    - {name: b0, mass: 1, mass_model: uniform, joint: {type: hinge, position: [0, 0, 1], axis: [0, 1, "
           "0.1]}, shapes: [%s, position: [0, 0, -0.5]}]}\n",
           pick(d, 4, SHAPES));
  text_add(&d->velocities, "    - {link: b0, velocities: [%.3f]}\n", -between(d, 2, 3));
}

/* A cart with a pole, both between limits. */
static void draw_cart(Draw* d) {
  d->names = "c, pole";
  text_add(&d->links,
           "    - {name: c, mass: 1, shape: {type: box, size: [0.2, 0.1, 0.1]}, joint: {type: slide, position: [0, "
           "0, 1], axis: [1, 0, 0], limits: [-0.2, %.3f], limit_restitution: 0.6}}\n",
           between(d, 0.05, 0.2));
  text_add(
      &d->links,
      "    - {name: pole, parent: c, mass: 0.5, mass_model: uniform, joint: {type: hinge, axis: [0, 1, 0], limits: "
      "[-1, 1], limit_restitution: 0.5}, shapes: [{type: box, size: [0.05, 0.05, 0.4], position: [0, 0, "
      "-0.3]}]}\n");
  text_add(&d->velocities, "    - {link: c, velocities: [%.3f]}\n    - {link: pole, velocities: [%.3f]}\n",
           between(d, 1, 2), between(d, 3, 6));
}

/* Impacts at limits divide the steps of a body that lands and slides. */
static void draw_cart_and_body(Draw* d) {
  draw_bodies(d, 1);
  draw_cart(d);
  d->names = "c, pole, b0";
}

/* The same with constant loads in world axes and in link axes, off the centres of mass. */
static void draw_loads(Draw* d) {
  static const char* const LINKS[] = {"b0", "c", "pole"};
  static const char* const AXES[] = {"world", "link"};
  draw_cart_and_body(d);
  text_add(&d->loads, "  loads:\n");
  for (int i = 0; i < 3; i++)
    text_add(&d->loads,
             "    - {link: %s, axes: %s, point: [%.3f, %.3f, %.3f], force: [%.2f, %.2f, %.2f], torque: [%.2f, %.2f, "
             "%.2f]}\n",
             LINKS[i], pick(d, 2, AXES), between(d, -0.1, 0.1), between(d, -0.1, 0.1), between(d, -0.4, 0.1),
             between(d, -4, 4), between(d, -4, 4), between(d, -4, 4), between(d, -0.1, 0.1), between(d, -0.1, 0.1),
             between(d, -0.1, 0.1));
}

/* Sets `text` to the task of the scene `d`. label: settings that differ between scenes. */
static void write_task(Draw* d, Text* text, Text* label) {
  static const char* const INTEGRATORS[] = {"first_order", "second_order", "momentum"};
  static const char* const FRICTION[] = {"0", "0.1", "0.3", "0.8"};
  static const char* const RESTITUTION[] = {"0", "0.3", "0.6", "0.9"};
  static const char* const DT[] = {"0.01", "0.005", "0.002"};
  static const char* const SUBSTEPS[] = {"1", "1", "2"};
  const char* dt = pick(d, 3, DT);
  text_add(label, "integrator: %s, dt: %s, substeps: %s", pick(d, 3, INTEGRATORS), dt, pick(d, 3, SUBSTEPS));
  text_add(text, "steps: %d\nscene:\n  simulation: {%s, steps: %d}\n", (int)lround(0.4 / atof(dt)), label->data,
           (int)lround(0.4 / atof(dt)));
  const char *mu = pick(d, 4, FRICTION), *e = pick(d, 4, RESTITUTION);
  text_add(text, "  contact: {friction: %s, restitution: %s}\n  links:\n%s%s  initial:\n%s", mu, e, d->links.data,
           d->loads.data ? d->loads.data : "", d->velocities.data);
  text_add(label, ", friction: %s, restitution: %s", mu, e);
  text_add(
      text,
      "initial: [{links: [%s], coordinates: true, velocities: true}]\nparameters:\n"
      "  - {type: mass, links: [%s]}\n  - {type: gravity}\n  - {type: rest_speed}\n  - {type: size, links: [%s]}\n%s%s"
      "loss: [{type: point, link: %s, target: [0, 0, 0]}]\noptimizer: {tolerance: 1.0e-12}\n",
      d->names, d->names, d->names, atof(mu) > 0 ? "  - {type: friction}\n" : "",
      atof(e) > 0 ? "  - {type: restitution}\n" : "", d->names[0] == 'c' ? "c" : "b0");
}

typedef struct {
  const char* name;
  void (*draw)(Draw* d);
} Kind;
static const Kind KINDS[] = {{"one body", draw_one},
                             {"two bodies", draw_two},
                             {"pendulum", draw_pendulum},
                             {"cart", draw_cart},
                             {"cart and body", draw_cart_and_body},
                             {"loads", draw_loads}};
enum { KIND_COUNT = sizeof(KINDS) / sizeof(KINDS[0]) };

/* Bound of the relative difference of both derivatives. Rounding of an impact is multiplied by the stiffness of its
 * spring (impact.md, I14). Seeds 1 to 400: median 1.0e-8, largest 4.2e-6. */
#define LARGEST 1e-5

/* Largest difference of both derivatives, relative to the largest derivative. */
static double difference(const BothWays* b, int* at) {
  double size = 0, most = 0;
  for (int k = 0; k < b->design.variable_count; k++) {
    double apart = fabs(b->forward[k] - b->backward[k]);
    size = fmax(size, fabs(b->backward[k]));
    if (!(apart <= most)) {
      most = apart;
      *at = k;
    }
  }
  return most / size;
}

/* Runs the scene of a seed. Returns the difference of both derivatives; the test fails if it is above the bound. */
static double check_seed(int seed, int* events) {
  Draw d = {.random = {(uint64_t)seed}};
  const Kind* kind = &KINDS[seed % KIND_COUNT];
  Text text = {0}, label = {0};
  kind->draw(&d);
  write_task(&d, &text, &label);
  BothWays b = both_ways(text.data, (uint64_t)seed);
  int at = 0;
  double apart = difference(&b, &at);
  *events += both_ways_ends(&b, END_AT_EVENT);
  if (!b.sound || !(apart <= LARGEST))
    fail_msg("SDRS_SEED=%d: %s, %s: %s, difference %.2g by %s: forward %.9g, backward %.9g", seed, kind->name,
             label.data, b.sound ? "sound" : "no derivative", apart, b.design.variables[at].name, b.forward[at],
             b.backward[at]);
  both_ways_free(&b);
  text_free(&text);
  text_free(&label);
  text_free(&d.links);
  text_free(&d.velocities);
  text_free(&d.loads);
  return apart;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void random_scenes_Q1(void** state) {
  (void)state;
  const char* given = getenv("SDRS_SEED");
  int first = given ? atoi(given) : 1, count = given ? 1 : tests_count(24, 400), events = 0;
  double* apart = MEMORY_NEW(double, count);
  for (int k = 0; k < count; k++) apart[k] = check_seed(first + k, &events);
  qsort(apart, (size_t)count, sizeof(double), ascending);
  print_message("seeds %d to %d: %d events, differences: median %.1e, largest %.1e\n", first, first + count - 1, events,
                apart[count / 2], apart[count - 1]);
  assert_true(given || events > count);
  memory_free(apart);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_scenes_Q1)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
