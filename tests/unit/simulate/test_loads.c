/* Tests loads on links: energy and derivatives, closed forms of pushed bodies, and the extrapolated rotation. All
 * derivatives are compared with differences of the forward functions. */
#include "simulate/loads.h"

#include <string.h>

#include "support/bodies.h"
#include "support/runs.h"
#include "support/sweep.h"

/* ---------------------------------------------------------------- a step's energy */

#define FREE_BODY(integrator, steps)                                                     \
  "simulation: {dt: 0.01, steps: " steps ", gravity: [0, 0, 0], integrator: " integrator \
  "}\n"                                                                                  \
  "contact: {model: none}\n"                                                             \
  "links:\n"                                                                             \
  "  - {name: body, mass: 2, center: [0.1, 0, 0], inertia: [0.1, 0.2, 0.25, 0.01, 0, 0.02]}\n"

static void loads_L1_L2_worked_example(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-9, FREE_BODY("first_order", "1") "loads:\n  - {link: body, force: [0, 0, 2], point: [0.3, 0, 0]}\n");
  step_prepare(run->sim);
  LinkTerms terms;
  memset(&terms, 0, sizeof terms);
  load_add_terms(&run->sim->loads[0], &run->model.links[0], pose_identity(), &terms);
  compare_vec3(terms.force, vec3(0, 0, -2), 0, "force");
  compare_vec3(mat3_axial(terms.moment), vec3(0, 0.4, 0), 1e-16, "torque about the centre of mass");
  ForceMagnitudes work = load_force_magnitudes(&run->sim->loads[0], &run->model.links[0], pose_identity());
  compare_near(work.force, 2, 0, "force at work");
  compare_near(work.torque, 0.4, 1e-16, "torque at work");
  Pose lifted = {mat3_identity(), {0, 0, 0.25}}, here = pose_identity();
  compare_near(load_energy(&run->sim->loads[0], &lifted, &here), -0.5, 1e-16, "energy of a lift");
  run_free(run);
}

typedef struct {
  LinkLoad load;
  ModelLink link;
  Pose pose, now;
  Vec3 center;
} Case;

static bool energy_at(void* context, const double* xi, double* y) {
  Case* c = context;
  Pose moved = pose_twisted(c->pose, c->center, xi);
  y[0] = load_energy(&c->load, &moved, &c->now);
  return true;
}

static void loads_L2_derivatives(void** state) {
  (void)state;
  Random random = {17};
  for (int k = 0; k < 10; k++) {
    Case c = {.load = {.any = true}};
    for (int i = 0; i < 12; i++) c.load.b[i / 4][i % 4] = random_normal(&random);
    c.link.center = random_direction(&random);
    c.pose = random_pose(&random, 1);
    c.now = random_pose(&random, 1);
    c.center = pose_apply(c.pose, c.link.center);
    LinkTerms t;
    memset(&t, 0, sizeof t);
    load_add_terms(&c.load, &c.link, c.pose, &t);
    Vec3 turn = mat3_axial(t.moment);
    const double gradient[6] = {turn.x, turn.y, turn.z, t.force.x, t.force.y, t.force.z};
    Sweep sweep = {.function = energy_at, .context = &c, .inputs = 6, .outputs = 1, .first = 1e-1, .factor = 4};
    sweep.steps = 8;
    sweep_expect(&sweep, gradient, 0, 1e-8, "seed 17, case %d", k);
  }
}

/* ---------------------------------------------------------------- the rotation to come */

static Mat3 turn_of(Vec3 v, double times) { return mat3_from_quat(quat_exp(vec3_scale(v, times))); }

/* Exact for a body that turns on: in equal steps, into a step twice as long, and into half of one to third order. */
static void loads_L3_a_body_that_turns_on(void** state) {
  (void)state;
  Random random = {3};
  for (int k = 0; k < 10; k++) {
    Mat3 old = random_pose(&random, 1).r;
    Vec3 v = vec3_scale(random_direction(&random), 0.9);
    Mat3 now = mat3_mul(old, turn_of(v, 1));
    for (int r = 1; r <= 2; r++) {
      StepClock clock = {.time = 1, .dt = 0.01 * r, .dt_before = 0.01, .dt_older = 0.01};
      Mat3 wanted = mat3_mul(now, turn_of(v, r)), found = load_rotation(&clock, now, old, mat3_zero());
      compare_arrays(&found.m[0][0], &wanted.m[0][0], 9, 1e-14, "seed 3, case %d, ratio %d", k, r);
    }
  }
  double error[2];
  for (int k = 0; k < 2; k++) {
    Vec3 v = {0.2 / (k + 1), -0.1 / (k + 1), 0.15 / (k + 1)};
    StepClock clock = {.time = 1, .dt = 0.005, .dt_before = 0.01, .dt_older = 0.01};
    Mat3 now = turn_of(v, 1), wanted = turn_of(v, 1.5), found = load_rotation(&clock, now, mat3_identity(), now);
    error[k] = fabs(mat3_sub(wanted, found).m[0][1]);
  }
  compare_at_most(error[1], error[0] / 6, "half the angle, an eighth of the error (%g)", error[0]);
}

typedef struct {
  StepClock clock;
  Mat3 weight;
} RotationCase;

static Mat3 mat3_from(const double* x) {
  Mat3 m;
  for (int i = 0; i < 9; i++) m.m[i / 3][i % 3] = x[i];
  return m;
}

static bool rotation_at(void* context, const double* x, double* y) {
  const RotationCase* c = context;
  Mat3 r = load_rotation(&c->clock, mat3_from(x), mat3_from(x + 9), mat3_from(x + 18));
  y[0] = 0;
  for (int i = 0; i < 9; i++) y[0] += c->weight.m[i / 3][i % 3] * r.m[i / 3][i % 3];
  return true;
}

static void loads_L3_L4_derivatives_of_the_rotation(void** state) {
  (void)state;
  Random random = {4};
  const double before[] = {0.01, 0.02, 0.004, 0};
  for (int k = 0; k < 4; k++) {
    RotationCase c = {{.time = 1, .dt = 0.01, .dt_before = before[k]}, random_pose(&random, 1).r};
    double x[27];
    for (int i = 0; i < 27; i++) x[i] = random_normal(&random);
    Mat3 bar[3] = {mat3_zero(), mat3_zero(), mat3_zero()};
    load_rotation_adjoint(&c.clock, mat3_from(x), mat3_from(x + 9), c.weight, &bar[0], &bar[1], &bar[2]);
    Sweep sweep = {.function = rotation_at, .context = &c, .inputs = 27, .outputs = 1, .x = x, .first = 1e-1};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, &bar[0].m[0][0], 0, 1e-9, "seed 4, length before %g", before[k]);
  }
}

/* ---------------------------------------------------------------- a load backwards */

static const char LOADED[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: body, mass: 2, mass_model: given, center: [0.1, 0.05, 0], inertia: [0.1, 0.2, 0.25, 0, 0, 0]}\n"
    "loads:\n"
    "  - {link: body, axes: %s, %s force: {type: sines, offset: [1, 2, 3], terms: [[{amplitude: 1, frequency: 2}], "
    "[{amplitude: 0.5, frequency: 1, phase: 1}], []]}, torque: [0.3, -0.4, 0.5]}\n";

typedef struct {
  Run* run;
  double motion[1][3][4];
  double base[64];
} Backward;

/* x: R^t, R^(t-1), R'(0), parameters of both signals, centre of mass. */
static void set_inputs(Backward* b, const double* x) {
  Sim* s = b->run->sim;
  s->pose_now[0].r = mat3_from(x);
  s->pose_old[0].r = mat3_from(x + 9);
  s->pose_rate[0].r = mat3_from(x + 18);
  SceneLoad* load = &b->run->scene.loads[0];
  const double* p = x + 27;
  for (int i = 0; i < 3; i++) load->force.values[i] = *p++;
  for (int i = 0; i < 3; i++) load->force.amplitude[i] = *p++;
  for (int i = 0; i < 3; i++) load->force.frequency[i] = *p++;
  for (int i = 0; i < 3; i++) load->force.phase[i] = *p++;
  for (int i = 0; i < 3; i++) load->torque.values[i] = *p++;
  b->run->model.links[0].center = vec3(p[0], p[1], p[2]);
}

static bool power_at(void* context, const double* x, double* y) {
  Backward* b = context;
  set_inputs(b, x);
  loads_prepare_step(b->run->sim);
  y[0] = 0;
  for (int i = 0; i < 12; i++) y[0] -= b->run->sim->loads[0].b[i / 4][i % 4] * b->motion[0][i / 4][i % 4];
  return true;
}

static void backward_case(const char* axes, const char* point, double before) {
  Random random = {9};
  Backward b = {.run = run_create(1, 1e-9, LOADED, axes, point)};
  Sim* s = b.run->sim;
  s->clock = (StepClock){.time = 0.37, .dt = 0.01, .dt_before = before, .dt_older = before};
  double x[45];
  for (int i = 0; i < 27; i++) x[i] = random_normal(&random);
  for (int i = 27; i < 45; i++) x[i] = random_uniform(&random, 0.5, 1.5);
  for (int i = 0; i < 12; i++) b.motion[0][i / 4][i % 4] = random_normal(&random);
  set_inputs(&b, x);
  double now[1][3][4] = {{{0}}}, old[1][3][4] = {{{0}}}, rate[1][3][4] = {{{0}}}, q[6] = {0};
  ModelGradient gradient;
  model_gradient_create(&gradient, &b.run->model);
  loads_adjoint(s, (const double(*)[3][4])b.motion, (StateBar){now, q}, (StateBar){old, q}, rate, &gradient);
  double found[45];
  for (int i = 0; i < 9; i++) {
    found[i] = now[0][i / 3][i % 3];
    found[9 + i] = old[0][i / 3][i % 3];
    found[18 + i] = rate[0][i / 3][i % 3];
  }
  memcpy(found + 27, gradient.control, sizeof(double) * 15);
  const MassMoment* moment = &gradient.moment[0]; /* the centre is S_i4 / m: bar_i = m bar S_i4 */
  for (int i = 0; i < 3; i++) found[42 + i] = b.run->model.links[0].mass * moment->s[i][3];
  Sweep sweep = {.function = power_at, .context = &b, .inputs = 45, .outputs = 1, .x = x, .first = 1e-1};
  sweep.factor = 4, sweep.steps = 8;
  sweep_expect(&sweep, found, 0, 1e-8, "%s axes, %s, length before %g", axes, point, before);
  model_gradient_destroy(&gradient);
  run_free(b.run);
}

static void loads_L4_against_differences(void** state) {
  (void)state;
  static const double before[] = {0.01, 0.02, 0};
  for (int k = 0; k < 3; k++) {
    backward_case("world", "", before[k]);
    backward_case("world", "point: [0.3, -0.2, 0.1],", before[k]);
    backward_case("link", "", before[k]);
    backward_case("link", "point: [0.3, -0.2, 0.1],", before[k]);
  }
}

/* ---------------------------------------------------------------- motion in closed form */

/* A constant force off the centre: the centre goes as if it were pushed there, by 1/2 F/m t^2, exactly so at second
 * order; momentum is F t for every integrator. */
static void loads_L1_a_push_off_the_centre(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 1e-11,
                          "simulation: {dt: 0.01, steps: 100, gravity: [0, 0, 0], integrator: %s}\n"
                          "contact: {model: none}\n"
                          "links:\n"
                          "  - {name: body, mass: 2, center: [0.1, 0, 0], inertia: [0.1, 0.2, 0.25, 0, 0, 0]}\n"
                          "loads:\n"
                          "  - {link: body, force: [1, 2, -3], point: [0, 0.4, 0.3]}\n",
                          integrator[k]);
    run_steps(run, 100);
    Vec3 force = vec3(1, 2, -3), at = vec3_add_scaled(vec3(0.1, 0, 0), 0.25, force);
    if (k > 0) compare_vec3(sim_state(run->sim)->center[0], at, 1e-9, "the centre, %s", integrator[k]);
    if (k == 0) {
      Vec3 lag = vec3_add_scaled(at, 0.25 * 0.01, force); /* x_n = g dt^2 n (n + 1) / 2 */
      compare_vec3(sim_state(run->sim)->center[0], lag, 1e-9, "the centre, %s", integrator[k]);
    }
    /* that of `momentum` belongs to the middle of the last step */
    Vec3 wanted = vec3_scale(force, k == 2 ? 1 - 0.005 : 1);
    compare_vec3(sim_measure(run->sim).momentum, wanted, 1e-8, "momentum, %s", integrator[k]);
    run_free(run);
  }
}

/* A torque about a principal axis: angle m t^2 / (2 I); work m angle is kinetic energy. */
static void loads_L1_a_torque_spins_up(void** state) {
  (void)state;
  static const char* const axes[] = {"world", "link"};
  static const char* const integrator[] = {"first_order", "second_order", "momentum"};
  static const double share[] = {0.03, 2e-4, 0.03};
  for (int k = 0; k < 6; k++) {
    Run* run = run_create(1, 1e-11,
                          "simulation: {dt: 0.005, steps: 200, gravity: [0, 0, 0], integrator: %s}\n"
                          "contact: {model: none}\n"
                          "links:\n"
                          "  - {name: body, mass: 2, center: [0, 0, 0], inertia: [0.1, 0.2, 0.25, 0, 0, 0]}\n"
                          "loads:\n"
                          "  - {link: body, axes: %s, torque: [0, 0, 0.5]}\n",
                          integrator[k % 3], axes[k / 3]);
    run_steps(run, 200);
    Vec3 turn = quat_log(quat_from_mat3(sim_state(run->sim)->pose[0].r));
    SimMeasure m = sim_measure(run->sim);
    compare_near(turn.z, 1, share[k % 3], "angle, %s, %s axes", integrator[k % 3], axes[k / 3]);
    compare_near(m.angular_momentum.z, 0.5, 0.5 * share[k % 3], "angular momentum, %s", integrator[k % 3]);
    compare_near(m.kinetic, 0.5, 0.5 * 2 * share[k % 3], "work is kinetic energy, %s", integrator[k % 3]);
    run_free(run);
  }
}

/* Where a rod is that 3 N push across, half a metre from its middle, in its own axes; see the derivation. */
static double follower_error(const char* integrator, int steps) {
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %.17g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: rod, mass: 2, center: [0, 0, 0], inertia: [0.1, 0.2, 0.25, 0, 0, 0]}\n"
                        "loads:\n"
                        "  - {link: rod, axes: link, force: [0, 3, 0], point: [0.5, 0, 0]}\n",
                        1.0 / steps, steps, integrator);
  run_steps(run, steps);
  Vec3 at = sim_state(run->sim)->center[0], exact = {0, 0, 0};
  enum { SLICES = 20000 };
  for (int i = 0; i < SLICES; i++) { /* midpoint rule, error 1e-9 */
    double s = (i + 0.5) / SLICES;
    exact = vec3_add_scaled(exact, 1.5 * (1 - s) / SLICES, vec3(-sin(3 * s * s), cos(3 * s * s), 0));
  }
  run_free(run);
  return vec3_norm(vec3_sub(at, exact));
}

static void loads_L3_a_follower_is_of_second_order(void** state) {
  (void)state;
  double coarse = follower_error("second_order", 100), fine = follower_error("second_order", 400);
  compare_at_most(coarse, 5e-4, "dt = 0.01");
  compare_at_most(fine, coarse / 14, "a quarter of dt, a sixteenth of the error");
  coarse = follower_error("momentum", 100), fine = follower_error("momentum", 400);
  compare_at_most(fine, coarse / 3.7, "first order in all else");
}

/* A drone that holds itself up and spins: thrust along its axis is exact whatever it turns by in a step. */
static void loads_L1_thrust_along_the_axis(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-11,
                        "simulation: {dt: 0.01, steps: 100, integrator: second_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: drone, mass: 2, center: [0, 0, 0], inertia: [0.1, 0.1, 0.2, 0, 0, 0]}\n"
                        "loads:\n"
                        "  - {link: drone, axes: link, force: [0, 0, 19.62]}\n"
                        "initial:\n"
                        "  - {link: drone, velocities: [0, 0, 0, 0, 0, 30]}\n");
  run_steps(run, 100);
  compare_vec3(sim_state(run->sim)->center[0], vec3(0, 0, 0), 1e-9, "it hovers");
  run_free(run);
}

/* Without its weight a pendulum stays where it is, and a link below may have its own again. */
static void loads_gravity_compensation(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-11,
      "simulation: {dt: 0.01, steps: 50, integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: arm, gravity_compensation: 1, mass: 1, center: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, "
      "0], joint: {type: hinge, axis: [0, 1, 0]}}\n"
      "  - {name: hand, parent: arm, mass: 1, center: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], "
      "joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
      "  - {name: half, gravity_compensation: 0.5, mass: 1, center: [0, 0, 0], inertia: [0.1, 0.1, 0.1, "
      "0, 0, 0], joint: {type: slide, axis: [0, 0, 1]}}\n"
      "  - {name: own, parent: half, gravity_compensation: 0, mass: 1, center: [0, 0, 0], inertia: [0.1, "
      "0.1, 0.1, 0, 0, 0], joint: {type: slide, axis: [0, 0, 1]}}\n");
  compare_near(run->model.links[run_link(run, "hand")].gravity_compensation, 1, 0, "the parent's");
  compare_near(run->model.links[run_link(run, "own")].gravity_compensation, 0, 0, "its own");
  run_steps(run, 50);
  const double* q = sim_state(run->sim)->q;
  compare_near(q[0], 0, 1e-14, "arm");
  compare_near(q[1], 0, 1e-14, "hand");
  /* x_n = g dt^2 n (n + 1) / 2; the one falls at g/2, the other at g */
  compare_near(q[2], -0.5 * 9.81 * 1e-4 * 50 * 51 / 2, 1e-9, "half its weight");
  compare_near(q[2] + q[3], -9.81 * 1e-4 * 50 * 51 / 2, 1e-9, "all of its weight");
  compare_near(sim_measure(run->sim).potential, 9.81 * (0.5 * q[2] + q[2] + q[3]), 1e-9, "potential energy");
  run_free(run);
}

/* ---------------------------------------------------------------- time of signals */

/* Displacement of a body of 1 kg after 1 s under a force. */
static double pushed(const char* integrator, double dt, const char* force) {
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %g, duration: 1, gravity: [0, 0, 0], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 1, inertia: [0.1, 0.2, 0.25, 0, 0, 0]}\n"
                        "loads: [{link: body, force: %s}]\n",
                        dt, integrator, force);
  run_steps(run, (int)(1 / dt + 0.5));
  double x = sim_state(run->sim)->pose[0].t.x;
  run_free(run);
  return x;
}

/* A ramp, a cosine, and a push whose edges are not at ends of steps, against closed forms. `momentum` is of second
 * order with small errors. `first_order` is half a step early: its error is v dt / 2, with the speed v at the end. */
static void loads_L98_ramp(void** state) {
  (void)state;
  const double w = 2 * acos(-1.0) * 1.3;
  static const char ramp[] = "{type: keyframes, times: [0, 1], values: [[0, 0, 0], [6, 0, 0]]}",
                    cosine[] =
                        "{type: sines, terms: [[{amplitude: 10, frequency: 1.3, phase: 1.5707963267948966}], [], []]}",
                    push[] =
                        "{type: keyframes, times: [0.2033, 0.2034, 0.5047, 0.5048], values: [[0, 0, 0], [6, 0, "
                        "0], [6, 0, 0], [0, 0, 0]]}";
  const struct {
    const char* force;
    double x, speed;
  } cases[] = {{ramp, 1, 3},
               {cosine, 10 * (1 - cos(w)) / (w * w), 10 * sin(w) / w},
               {push, 3 * ((1 - 0.20335) * (1 - 0.20335) - (1 - 0.50475) * (1 - 0.50475)), 6 * 0.3014}};
  for (int k = 0; k < 3; k++)
    for (int n = 0; n < 2; n++) {
      double dt = n == 0 ? 0.01 : 0.0025;
      compare_near(pushed("momentum", dt, cases[k].force), cases[k].x, 0.6 * dt * dt, "momentum, case %d", k);
      compare_near(pushed("first_order", dt, cases[k].force), cases[k].x + 0.5 * dt * cases[k].speed, 2 * dt * dt,
                   "first_order, case %d", k);
      if (k < 2)
        compare_near(pushed("second_order", dt, cases[k].force), cases[k].x, 14 * dt * dt, "second_order, case %d", k);
    }
  compare_near(pushed("momentum", 0.01, ramp), 0.999975, 1e-9, "the worked example");
}

/* Fraction of the lever arm at t + dt for a rod of inertia 0.5 about both axes across it, arm 0.2 along the rod. The
 * trace of the mobilities across the arm is 2 / 0.5, so the squared frequency is force 0.2 4. */
static void loads_L93_fraction_of_the_arm(void** state) {
  (void)state;
  static const char scene[] =
      "simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0], integrator: momentum}\n"
      "contact: {model: none}\n"
      "links: [{name: rod, mass: 2, center: [0, 0, 0.1], inertia: [0.5, 0.5, 0.02, 0, 0, 0]}]\n"
      "loads: [{link: rod, point: [0, 0, 0.3], force: [%.17g, 0, 0]}]\n";
  static const double angles[] = {0.1, 0.5, 1.2, 3, 4, 9};
  for (int k = 0; k < 6; k++) {
    double force = (angles[k] / 0.01) * (angles[k] / 0.01) / (0.2 * 4), x = (angles[k] - 0.5) / 3.5;
    double right = x <= 0 ? 0 : x >= 1 ? 1 : x * x * (3 - 2 * x);
    char text[1024];
    snprintf(text, sizeof text, scene, force);
    Run* run = run_create(1, 1e-9, text);
    step_prepare(run->sim);
    StepSpan span = step_span(run->sim, SIGNAL_IS_FORCE);
    LoadAtStart load = load_at_start(run->sim, &run->model.loads[0], &span);
    compare_near(load.late, right, 1e-12, "frequency times step %g", angles[k]);
    compare_vec3(load.point, vec3(0, 0, 0.1 + 0.2 * right), 1e-12, "point");
    compare_vec3(load.torque, vec3(0, 0.2 * force * (1 - right), 0), 1e-9 * force, "torque");
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_L1_L2_worked_example),
      cmocka_unit_test(loads_L2_derivatives),
      cmocka_unit_test(loads_L3_a_body_that_turns_on),
      cmocka_unit_test(loads_L3_L4_derivatives_of_the_rotation),
      cmocka_unit_test(loads_L4_against_differences),
      cmocka_unit_test(loads_L1_a_push_off_the_centre),
      cmocka_unit_test(loads_L1_a_torque_spins_up),
      cmocka_unit_test(loads_L3_a_follower_is_of_second_order),
      cmocka_unit_test(loads_L1_thrust_along_the_axis),
      cmocka_unit_test(loads_gravity_compensation),
      cmocka_unit_test(loads_L98_ramp),
      cmocka_unit_test(loads_L93_fraction_of_the_arm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
