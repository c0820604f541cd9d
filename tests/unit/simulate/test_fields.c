/* Tests fields between links: energy derivatives, adjoints of the step's forces, and closed forms of motion. */
#include <string.h>

#include "simulate/loads.h"
#include "support/bodies.h"
#include "support/runs.h"
#include "support/sweep.h"

/* ---------------------------------------------------------------- the energy */

static const SceneField FIELDS[] = {
    {.type = FIELD_POINT, .to = -1, .power = 2},
    {.type = FIELD_POINT, .to = -1, .power = 1, .softening = 0.3},
    {.type = FIELD_POINT, .to = -1, .power = -1},
    {.type = FIELD_POINT, .to = -1, .power = 4, .softening = 0.1},
    {.type = FIELD_DIPOLE, .to = -1},
    {.type = FIELD_UNIFORM, .to = -1},
};
enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static FieldGeometry place_from(const double* x) {
  return (FieldGeometry){.d = vec3_at(x), .u = vec3_at(x + 3), .v = vec3_at(x + 6)};
}

static bool energy_at(void* context, const double* x, double* y) {
  FieldGeometry at = place_from(x);
  y[0] = field_energy_gradient(context, &at).energy;
  return true;
}

static bool slopes_at(void* context, const double* x, double* y) {
  FieldGeometry at = place_from(x);
  FieldEnergy slope = field_energy_gradient(context, &at);
  vec3_store(slope.d, y);
  vec3_store(slope.u, y + 3);
  vec3_store(slope.v, y + 6);
  return true;
}

static void loads_L16_derivatives_of_the_energy(void** state) {
  (void)state;
  Random random = {5};
  for (int k = 0; k < FIELD_COUNT; k++) {
    SceneField field = FIELDS[k];
    double x[9], slope[9], hessian[81];
    for (int i = 0; i < 9; i++) x[i] = random_uniform(&random, 0.5, 1.5);
    slopes_at(&field, x, slope);
    Sweep sweep = {.function = energy_at, .context = &field, .inputs = 9, .outputs = 1, .x = x, .first = 1e-2};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, slope, 0, 1e-8, "energy of field %d", k);
    FieldGeometry at = place_from(x);
    for (int j = 0; j < 9; j++) {
      double one[9] = {0};
      one[j] = 1;
      FieldEnergy way = {.d = vec3_at(one), .u = vec3_at(one + 3), .v = vec3_at(one + 6)};
      FieldEnergy change = field_hessian_product(&field, &at, &way);
      compare_near(change.energy, slope[j], 1e-12 * (1 + fabs(slope[j])), "change of the energy, field %d", k);
      double column[9];
      vec3_store(change.d, column);
      vec3_store(change.u, column + 3);
      vec3_store(change.v, column + 6);
      for (int i = 0; i < 9; i++) hessian[9 * i + j] = column[i];
    }
    sweep.function = slopes_at, sweep.outputs = 9;
    sweep_expect(&sweep, hessian, 0, 1e-8, "slopes of field %d", k);
  }
}

/* ---------------------------------------------------------------- backwards */

static const char TWO[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: a, mass: 2, mass_model: given, center: [0.1, 0.05, 0], inertia: [0.1, 0.2, 0.25, 0, 0, 0]}\n"
    "  - {name: b, position: [4, 0, 0], mass: 3, mass_model: given, center: [0, 0.05, 0.2], inertia: [0.1, 0.2, 0.25, "
    "0, "
    "0, 0]}\n"
    "loads: [{link: a, %s field: {%s, strength: 1.5}}]\n";

typedef struct {
  Run* run;
  double motion[2][3][4];
} Backward;

enum { POSE = 12, PER_LINK = POSE + 9 + 9 + 3, INPUTS = 2 * PER_LINK + 1 };

/* x, of either link: T^t, R^(t-1), R'(0), centre of mass; then the strength. */
static void set_inputs(Backward* b, const double* x) {
  Sim* s = b->run->sim;
  for (int i = 0; i < 2; i++, x += PER_LINK) {
    memcpy(&s->pose_now[i].r.m[0][0], x, sizeof(double) * 9);
    s->pose_now[i].t = vec3_at(x + 9);
    memcpy(&s->pose_old[i].r.m[0][0], x + POSE, sizeof(double) * 9);
    memcpy(&s->pose_rate[i].r.m[0][0], x + POSE + 9, sizeof(double) * 9);
    b->run->model.links[i].center = vec3_at(x + POSE + 18);
  }
  b->run->scene.loads[0].force.values[0] = x[0];
}

static bool power_at(void* context, const double* x, double* y) {
  Backward* b = context;
  set_inputs(b, x);
  loads_prepare_step(b->run->sim);
  y[0] = 0;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 12; k++) y[0] -= b->run->sim->loads[i].b[k / 4][k % 4] * b->motion[i][k / 4][k % 4];
  return true;
}

static void gather(const Backward* b, double now[2][3][4], double old[2][3][4], double rate[2][3][4],
                   const ModelGradient* gradient, double* found) {
  for (int i = 0; i < 2; i++, found += PER_LINK) {
    for (int k = 0; k < 9; k++) {
      found[k] = now[i][k / 3][k % 3];
      found[POSE + k] = old[i][k / 3][k % 3];
      found[POSE + 9 + k] = rate[i][k / 3][k % 3];
    }
    for (int k = 0; k < 3; k++) {
      found[9 + k] = now[i][k][3];
      found[POSE + 18 + k] = b->run->model.links[i].mass * gradient->moment[i].s[k][3];
    }
  }
  *found = gradient->control[0];
}

static void backward_case(const char* point, const char* field, double before) {
  Random random = {9};
  Backward b = {.run = run_create(1, 1e-9, TWO, point, field)};
  Sim* s = b.run->sim;
  s->clock = (StepClock){.time = 0.37, .dt = 0.01, .dt_before = before, .dt_older = before};
  double x[INPUTS], found[INPUTS], q[12] = {0};
  for (int i = 0; i < INPUTS; i++) x[i] = random_normal(&random);
  for (int i = 0; i < 24; i++) b.motion[i / 12][i / 4 % 3][i % 4] = random_normal(&random);
  for (int i = 0; i < 3; i++) x[PER_LINK + 9 + i] += 4; /* well apart */
  set_inputs(&b, x);
  double now[2][3][4] = {{{0}}}, old[2][3][4] = {{{0}}}, rate[2][3][4] = {{{0}}};
  ModelGradient gradient;
  model_gradient_create(&gradient, &b.run->model);
  loads_adjoint(s, (const double(*)[3][4])b.motion, (StateBar){now, q}, (StateBar){old, q}, rate, &gradient);
  gather(&b, now, old, rate, &gradient, found);
  Sweep sweep = {.function = power_at, .context = &b, .inputs = INPUTS, .outputs = 1, .x = x, .first = 1e-2};
  sweep.factor = 4, sweep.steps = 8;
  sweep_expect(&sweep, found, 0, 1e-7, "%s %s, length before %g", point, field, before);
  model_gradient_destroy(&gradient);
  run_free(b.run);
}

static void loads_L17_against_differences(void** state) {
  (void)state;
  static const double before[] = {0.01, 0.02, 0};
  static const char* const points[] = {"", "point: [0.3, -0.2, 0.1],"};
  static const char* const fields[] = {"type: point, to: b",
                                       "type: point, to: b, at: [0.1, 0.2, -0.3], power: 3, softening: 0.2",
                                       "type: point, at: [5, 0, 1], power: -1",
                                       "type: dipole, to: b, axis: [1, 2, 3], moment: [1, 0.5, 2], at: [0.1, 0.2, 0.3]",
                                       "type: dipole, at: [5, 0, 1], axis: [1, 2, 3], moment: [1, 0.5, 2]",
                                       "type: uniform, axis: [1, 2, 3], flux_density: [0.1, 0.2, 0.3]"};
  for (int k = 0; k < 3; k++)
    for (int p = 0; p < 2; p++)
      for (int f = 0; f < 6; f++) backward_case(points[p], fields[f], before[k]);
}

/* ---------------------------------------------------------------- closed forms */

/* Bodies of m and M, d apart, strength k: a circle has the rate sqrt(k (m + M) / (m M d^3)) about the common centre. */
static void loads_L16_two_bodies_circle(void** state) {
  (void)state;
  double rate = sqrt(11.0 * 11 / (10 * 8)), period = 2 * acos(-1) / rate;
  enum { STEPS = 1000 };
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %.17g, steps: %d, gravity: [0, 0, 0], integrator: momentum}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: sun, mass: 10, inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "  - {name: moon, mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [2, 0, 0]}\n"
                        "loads: [{link: moon, field: {type: point, to: sun, strength: 11}}]\n"
                        "initial:\n"
                        "  - {link: moon, velocities: [0, %.17g, 0, 0, 0, 0]}\n"
                        "  - {link: sun, velocities: [0, %.17g, 0, 0, 0, 0]}\n",
                        period / STEPS, STEPS, rate * 20 / 11, -rate * 2 / 11);
  run_steps(run, STEPS);
  const Vec3* c = sim_state(run->sim)->center;
  compare_vec3(vec3_sub(c[1], c[0]), vec3(2, 0, 0), 3e-4, "after a period");
  compare_vec3(vec3_add_scaled(c[1], 10, c[0]), vec3(2, 0, 0), 1e-10, "the common centre stays");
  SimMeasure m = sim_measure(run->sim);
  compare_near(m.kinetic + m.potential, -11.0 / 4, 1e-4, "energy: half of the potential energy");
  compare_vec3(m.momentum, vec3(0, 0, 0), 1e-10, "momentum");
  run_free(run);
}

/* On a common axis dipoles of m1, m2 attract each other by 6 c m1 m2 / r^4, side by side by half of it; one across the
 * other is turned by c m1 m2 / r^3 times 2 or 1. Griffiths, Introduction to Electrodynamics, 6.1. */
static void loads_L16_dipoles_at_rest(void** state) {
  (void)state;
  static const struct {
    const char *at, *axis;
    Vec3 force, torque;
  } cases[] = {{"[0.1, 0, 0]", "[1, 0, 0]", {-6e-7 * 6 / 1e-4, 0, 0}, {0, 0, 0}},
               {"[0, 0.1, 0]", "[-1, 0, 0]", {0, -3e-7 * 6 / 1e-4, 0}, {0, 0, 0}},
               {"[0.1, 0, 0]", "[0, 1, 0]", {0, 3e-7 * 6 / 1e-4, 0}, {0, 0, -2e-7 * 6 / 1e-3}},
               {"[0, 0.1, 0]", "[0, 1, 0]", {3e-7 * 6 / 1e-4, 0, 0}, {0, 0, 1e-7 * 6 / 1e-3}}};
  for (int k = 0; k < 4; k++) {
    Run* run =
        run_create(1, 1e-9,
                   "simulation: {dt: 0.001, steps: 1, gravity: [0, 0, 0]}\n"
                   "contact: {model: none}\n"
                   "links:\n"
                   "  - {name: a, mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: %s}\n"
                   "  - {name: b, mass: 1, inertia: [1, 1, 1, 0, 0, 0]}\n"
                   "loads: [{link: a, field: {type: dipole, to: b, axis: %s, strength: 2, moment: [3, 0, 0]}}]\n",
                   cases[k].at, cases[k].axis);
    FieldWrench w = field_wrench(&run->model, &run->model.loads[0], &(StepSpan){.at = {0, 0}}, run->sim->pose_now);
    compare_vec3(w.force[0], cases[k].force, 1e-12, "force, case %d", k);
    compare_vec3(w.torque[0], cases[k].torque, 1e-12, "torque, case %d", k);
    compare_vec3(vec3_add(w.force[0], w.force[1]), vec3(0, 0, 0), 1e-15, "the opposite force, case %d", k);
    Vec3 turn = vec3_add(w.torque[0], w.torque[1]), arm = vec3_sub(run->sim->pose_now[0].t, run->sim->pose_now[1].t);
    compare_vec3(vec3_add(turn, vec3_cross(arm, w.force[0])), vec3(0, 0, 0), 1e-15, "no torque in all, case %d", k);
    run_free(run);
  }
}

/* A needle of m in a field B on a hinge of inertia I: small swings of sqrt(m B / I) that keep their amplitude. */
static void loads_L16_a_compass(void** state) {
  (void)state;
  double period = 2 * acos(-1) / 20;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %.17g, steps: 2000, gravity: [0, 0, 0], integrator: momentum}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: needle, mass: 1, inertia: [1e-3, 1e-3, 1e-3, 0, 0, 0], joint: {type: hinge, axis: "
                        "[0, 0, 1]}}\n"
                        "loads: [{link: needle, field: {type: uniform, axis: [1, 0, 0], strength: 2, flux_density: "
                        "[0.2, 0, 0]}}]\n"
                        "initial: [{link: needle, coordinates: [0.01]}]\n",
                        period / 200);
  run_steps(run, 2000);
  compare_near(sim_state(run->sim)->q[0], 0.01, 1e-5, "after ten periods");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_L16_derivatives_of_the_energy),
      cmocka_unit_test(loads_L17_against_differences),
      cmocka_unit_test(loads_L16_two_bodies_circle),
      cmocka_unit_test(loads_L16_dipoles_at_rest),
      cmocka_unit_test(loads_L16_a_compass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
