/* Tests the order of convergence of both integrators against a fine Runge-Kutta solution. The equations of motion are
 * independent of the program: Lagrange's for a planar chain of rods, Euler's for a free body. Output lines that begin
 * with `csv,` form benchmarks/results/orders.csv. */
#include "scene_run.h"

static const double GRAVITY = 9.81;

/* ---------------------------------------------------------------- reference: chain of n uniform rods in a plane
 * Angles a_i from the vertical. With c_ij = m L^2 (n - 1 - max(i,j) + 1/2), c_ii = m L^2 (n - 1 - i + 1/4) + I:
 *   sum_j c_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) = -m g L (n - 1 - i + 1/2) sin a_i */

enum { RODS_MAX = 8, STATE_MAX = 2 * RODS_MAX };

typedef struct {
  int rods;
  double mass, length, width; /* of a rod of square section */
} Chain;

static double chain_coefficient(const Chain* c, int i, int j) {
  double ml2 = c->mass * c->length * c->length;
  double inertia = c->mass / 12 * (c->length * c->length + c->width * c->width);
  if (i == j) return ml2 * (c->rods - 1 - i + 0.25) + inertia;
  return ml2 * (c->rods - 1 - (i > j ? i : j) + 0.5);
}

/* x <- A^-1 x for a symmetric positive definite A, by elimination without pivoting. */
static void solve_dense(int n, double a[RODS_MAX][RODS_MAX], double* x) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double f = a[i][k] / a[k][k];
      for (int j = k; j < n; j++) a[i][j] -= f * a[k][j];
      x[i] -= f * x[k];
    }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
}

static void chain_rate(const void* context, const double* y, double* rate) {
  const Chain* c = context;
  int n = c->rods;
  double a[RODS_MAX][RODS_MAX] = {{0}}, *acceleration = rate + n;
  for (int i = 0; i < n; i++) {
    rate[i] = y[n + i];
    acceleration[i] = -c->mass * GRAVITY * c->length * (n - 1 - i + 0.5) * sin(y[i]);
    for (int j = 0; j < n; j++) {
      a[i][j] = chain_coefficient(c, i, j) * cos(y[i] - y[j]);
      acceleration[i] -= chain_coefficient(c, i, j) * sin(y[i] - y[j]) * y[n + j] * y[n + j];
    }
  }
  solve_dense(n, a, acceleration);
}

/* ---------------------------------------------------------------- reference: free body (Euler's equations)
 * y = angular velocity in body axes (3), rotation matrix (9):  I w' = -w x I w,  R' = R [w]x */

static void spin_rate(const void* context, const double* y, double* rate) {
  const double* inertia = context;
  Vec3 w = vec3(y[0], y[1], y[2]);
  Vec3 h = vec3(inertia[0] * w.x, inertia[1] * w.y, inertia[2] * w.z), torque = vec3_cross(h, w);
  rate[0] = torque.x / inertia[0];
  rate[1] = torque.y / inertia[1];
  rate[2] = torque.z / inertia[2];
  for (int i = 0; i < 3; i++) {
    Vec3 turned = vec3_cross(vec3(y[3 + 3 * i], y[4 + 3 * i], y[5 + 3 * i]), w);
    rate[3 + 3 * i] = turned.x;
    rate[4 + 3 * i] = turned.y;
    rate[5 + 3 * i] = turned.z;
  }
}

/* ---------------------------------------------------------------- Runge-Kutta of fourth order */

typedef void (*RateFunction)(const void* context, const double* y, double* rate);

static void runge_kutta(RateFunction rate, const void* context, int n, double* y, double time, double step) {
  long steps = lround(time / step);
  double k[4][STATE_MAX], at[STATE_MAX];
  static const double part[4] = {0, 0.5, 0.5, 1};
  for (long s = 0; s < steps; s++) {
    for (int stage = 0; stage < 4; stage++) {
      for (int i = 0; i < n; i++) at[i] = y[i] + (stage ? part[stage] * step * k[stage - 1][i] : 0);
      rate(context, at, k[stage]);
    }
    for (int i = 0; i < n; i++) y[i] += step / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

/* Step of the reference: its own error is then below 1e-9, which is checked by halving it. */
static const double REFERENCE_STEP = 1e-4;

static void reference_at(RateFunction rate, const void* context, int n, double* y, double time) {
  double finer[STATE_MAX];
  memcpy(finer, y, sizeof(double) * (size_t)n);
  runge_kutta(rate, context, n, y, time, REFERENCE_STEP);
  runge_kutta(rate, context, n, finer, time, REFERENCE_STEP / 2);
  for (int i = 0; i < n; i++) expect_near(y[i], finer[i], 1e-9, "the reference itself");
}

/* ---------------------------------------------------------------- sweep over time steps */

typedef struct {
  const char* name;
  double (*error)(const SceneRun* run, const void* reference); /* of the present state */
  const void* reference;
  const char *path, *yaml; /* one of both */
  double time;             /* when the error is taken [s] */
} Convergence;

enum { LEVELS = 4 };

static double error_at(const Convergence* c, const char* integrator, double dt) {
  char first[64], second[64];
  snprintf(first, sizeof first, "simulation.dt=%.17g", dt);
  snprintf(second, sizeof second, "simulation.integrator=%s", integrator);
  const char* overrides[] = {first, second, "simulation.tolerance=1e-10", NULL};
  SceneRun run;
  if (c->path)
    run_open(&run, c->path, overrides);
  else
    run_parse(&run, c->yaml, overrides);
  run_until(&run, c->time);
  double error = c->error(&run, c->reference);
  run_close(&run);
  return error;
}

/* The order seen between the two finest steps must be the one wanted, within a tenth of it. */
static void check_order(const Convergence* c, const char* integrator, double coarsest, double wanted) {
  double before = 0, order = 0;
  for (int level = 0; level < LEVELS; level++) {
    double dt = coarsest / (1 << level), error = error_at(c, integrator, dt);
    order = level ? log2(before / error) : 0;
    printf("csv,%s,%s,%g,%.4e,", c->name, integrator, dt, error);
    printf(level ? "%.3f\n" : "\n", order);
    before = error;
  }
  expect_near(order, wanted, 0.1 * wanted, "order of convergence");
}

/* Distance of the end of the chain from where the reference has it. */
static double tip_error(const SceneRun* run, const void* reference) {
  const double* tip = reference;
  int last = run->model.link_count - 1;
  Vec3 found = pose_apply(sim_state(run->sim)->pose[last], vec3(0, 0, -tip[2]));
  return hypot(found.x - tip[0], found.z - tip[1]);
}

static void check_chain(const char* name, const char* path, Chain chain, const double* angles, double height,
                        double time) {
  double y[STATE_MAX] = {0};
  memcpy(y, angles, sizeof(double) * (size_t)chain.rods);
  reference_at(chain_rate, &chain, 2 * chain.rods, y, time);
  double tip[3] = {0, height, chain.length};
  for (int i = 0; i < chain.rods; i++) {
    tip[0] += chain.length * sin(y[i]);
    tip[1] -= chain.length * cos(y[i]);
  }
  Convergence c = {.name = name, .error = tip_error, .reference = tip, .path = path, .time = time};
  check_order(&c, "first_order", 0.002, 1);
  check_order(&c, "second_order", 0.004, 2);
}

static void pendulum_converges(void** state) {
  (void)state;
  static const double angles[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  check_chain("pendulum", "scenes/pendulum.yaml", (Chain){8, 0.1, 0.25, 0.02}, angles, 2.0, 1.0);
}

static void double_pendulum_converges(void** state) {
  (void)state;
  static const double angles[2] = {2.0, 2.5};
  check_chain("double-pendulum", "scenes/double-pendulum.yaml", (Chain){2, 1.0, 0.5, 0.04}, angles, 1.2, 0.6);
}

/* ---------------------------------------------------------------- a free body */

static const char FREE_BODY[] =
    "name: free\n"
    "simulation: {duration: 2, integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: body, shape: {type: box, size: [0.1, 0.2, 0.3]}, mass: 2.0, mass_model: uniform}\n"
    "initial:\n"
    "  - {link: body, velocities: [0.3, -0.2, 4.0, 3.0, 0.2, 1.0]}\n";

/* Largest distance of a unit vector of the body from where the reference has it. */
static double turn_error(const SceneRun* run, const void* reference) {
  const double* rotation = reference;
  Pose found = run_pose(run, "body");
  double worst = 0;
  for (int column = 0; column < 3; column++) {
    double sum = 0;
    for (int row = 0; row < 3; row++) {
      double difference = found.r.m[row][column] - rotation[3 * row + column];
      sum += difference * difference;
    }
    worst = fmax(worst, sqrt(sum));
  }
  return worst;
}

static void free_body_converges(void** state) {
  (void)state;
  static const double inertia[3] = {2.0 / 12 * (0.04 + 0.09), 2.0 / 12 * (0.01 + 0.09), 2.0 / 12 * (0.01 + 0.04)};
  double y[STATE_MAX] = {3.0, 0.2, 1.0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  reference_at(spin_rate, inertia, 12, y, 1.0);
  Convergence c = {.name = "free-body", .error = turn_error, .reference = y + 3, .yaml = FREE_BODY, .time = 1.0};
  check_order(&c, "first_order", 0.002, 1);
  check_order(&c, "second_order", 0.004, 2);
}

/* ---------------------------------------------------------------- gains and dt */

/* Where a driven arm is after 0.4 s, from rest and 1 rad away, critically damped by a gain of this kind: 4.899 N m
 * s/rad for a step of 0.01 s. */
static double driven_to(const char* integrator, double dt, const char* damping) {
  SceneRun run;
  Text text = {0};
  text_add(
      &text,
      "simulation: {dt: %g, duration: 0.4, integrator: %s, gravity: [0, 0, 0], tolerance: 1.0e-9}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: arm, joint: {type: hinge, axis: [0, -1, 0]}, mass: 1, center: [0.5, 0, 0], inertia: [0.01, 0.05, "
      "0.05, 0, 0, 0]}\n"
      "controllers:\n  - {link: arm, type: pd, target: 1, position_gain: 20, %s}\n",
      dt, integrator, damping);
  run_parse(&run, text.data, NULL);
  run_until(&run, 0.4);
  double q = run_coordinate(&run, "arm", 0);
  run_close(&run);
  text_free(&text);
  return q;
}

/* The same motion for every dt but for the scheme's error, 1 - (1 + w t) exp(-w t) in the limit: ten times finer, ten
 * times (first order) or a hundred times (second) nearer. The paper's gain is another damper at every dt. */
static void damping_gain_does_not_depend_on_dt(void** state) {
  (void)state;
  static const char own[] = "damping_gain: 4.898979485566356", paper[] = "velocity_gain: 0.04898979485566356";
  double w = sqrt(20 / 0.3), wanted = 1 - (1 + 0.4 * w) * exp(-0.4 * w);
  for (int order = 1; order <= 2; order++) {
    const char* integrator = order == 1 ? "first_order" : "second_order";
    double coarse = fabs(driven_to(integrator, 1e-2, own) - wanted),
           fine = fabs(driven_to(integrator, 1e-3, own) - wanted);
    double ratio = order == 1 ? 10 : 100;
    expect_between(coarse, 0, order == 1 ? 0.02 : 0.005, integrator);
    expect_between(coarse / fine, 0.75 * ratio, 1.35 * ratio, "error at 1e-2 over error at 1e-3");
    double same = driven_to(integrator, 1e-2, paper), slow = driven_to(integrator, 1e-3, paper);
    expect_near(same, driven_to(integrator, 1e-2, own), 1e-6, "velocity_gain at its dt");
    expect_between(slow, 0, 0.3, "velocity_gain at a tenth of it: ten times the damper");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_converges),
      cmocka_unit_test(double_pendulum_converges),
      cmocka_unit_test(damping_gain_does_not_depend_on_dt),
      cmocka_unit_test(free_body_converges),
  };
  printf("csv,scene,integrator,dt,error,order\n");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
