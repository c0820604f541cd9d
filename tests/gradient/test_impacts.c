/* Gradients of whole runs through impacts with restitution (docs/derivations/impact.md, I7-I12) against central
 * differences of runs that choose their own substeps, and against the saltation matrix of a rigid bounce. */
#include "differentiate/differentiate.h"

#include <string.h>

#include "support/long.h"
#include "support/runs.h"

typedef struct {
  const char* name;
  const char* links; /* and what else the scene has; two bodies at least of which the last is looked at */
  int steps;
  double dt, e, friction;
} Case;

static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};

static Run* scene_of(const Case* c, const char* integrator) {
  return run_model(
      "simulation: {dt: %g, steps: %d, integrator: %s}\n"
      "contact: {friction: %g, restitution: %g}\n"
      "%s",
      c->dt, c->steps, integrator, c->friction, c->e, c->links);
}

/* A run of the model as it stands; its last coordinates and centres stay in the recording. */
static void record(Recording* recording, const Run* run, int steps) {
  RecordOptions options = {.threads = 1, .tolerance = 1e-11};
  RecordReport report;
  Diagnostics none = {0};
  recording_create(recording, &run->model, steps);
  assert_int_equal(recording_run(recording, &run->model, &options, &report, &none), STATUS_OK);
  diagnostics_free(&none);
}

/* A linear function of where the links are in the end. */
static double value_of(const Recording* r, int steps) {
  double sum = 0;
  for (int i = 0; i < r->model->link_count; i++) {
    Vec3 t = recording_pose(r, steps)[i].t;
    sum += t.x - 0.7 * t.y + 1.3 * t.z;
  }
  return sum;
}

static double run_value(const Run* run, int steps) {
  Recording recording;
  record(&recording, run, steps);
  double value = value_of(&recording, steps);
  recording_destroy(&recording);
  return value;
}

static void seed(LossSeeds* seeds, const Model* m, int steps) {
  loss_seeds_clear(seeds);
  for (int i = 0; i < m->link_count; i++) {
    double(*pose)[4] = seeds->pose[(size_t)steps * (size_t)m->link_count + (size_t)i];
    pose[0][3] = 1;
    pose[1][3] = -0.7;
    pose[2][3] = 1.3;
  }
}

static void derive(const Run* run, int steps, ModelGradient* gradient) {
  Recording recording;
  record(&recording, run, steps);
  LossSeeds seeds = loss_seeds_create(&run->model, steps);
  seed(&seeds, &run->model, steps);
  model_gradient_create(gradient, &run->model);
  RunAdjoint* adjoint = run_adjoint_create(&run->model, 1);
  assert_true(run_adjoint(adjoint, &recording, &seeds, 1, gradient).sound);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
  recording_destroy(&recording);
}

/* Every difference of the sweep over three powers of ten must agree: a run that is a sawtooth in its start does not. */
static void check_number(const Case* c, const char* integrator, const Run* run, double* number, double slope,
                         double scale, const char* what, int index) {
  double noise = 2e-10;
  for (double h = 1e-4; h > 1e-7; h *= 0.1) {
    double at = *number, up, down;
    *number = at + h;
    up = run_value(run, c->steps);
    *number = at - h;
    down = run_value(run, c->steps);
    *number = at;
    compare_near((up - down) / (2 * h), slope, scale * (1e-4 + noise / h + 1e7 * h * h), "%s, %s, h = %g: by %s %d",
                 c->name, integrator, h, what, index);
  }
}

static double largest(const double* x, int count) {
  double most = 0;
  for (int k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
  return most;
}

static void check_case(const Case* c, const char* integrator) {
  Run* run = scene_of(c, integrator);
  ModelGradient gradient;
  derive(run, c->steps, &gradient);
  Model* m = &run->model;
  double scale = largest(gradient.velocities, m->dof_count);
  for (int k = 0; k < m->dof_count; k++)
    check_number(c, integrator, run, &m->initial_velocities[k], gradient.velocities[k], scale, "velocity", k);
  model_gradient_destroy(&gradient);
  run_free(run);
}

#define GROUND "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n"
#define SLOPE "links:\n  - {name: ground, fixed: true, shape: {type: half_space, normal: [0.3, 0.1, 1]}}\n"
#define BOX(place, rest) \
  "  - {name: b, mass: 1, mass_model: uniform, " place ", shape: {type: box, size: [0.06, 0.08, 0.1]}" rest "}\n"
#define BALL(place) \
  "  - {name: b, mass: 0.3, mass_model: uniform, " place ", shape: {type: sphere, radius: 0.05, resolution: 2}}\n"
#define THROWN(v) "initial: [{link: b, velocities: " v "}]\n"

static const Case CASES[] = {
    {"drop", GROUND BOX("position: [0, 0, 0.15]", "") THROWN("[0, 0, -1, 0, 0, 0]"), 60, 2e-3, 0.6, 0},
    {"drop on a slope", SLOPE BOX("position: [0, 0, 0.2]", "") THROWN("[0, 0, -1, 0, 0, 0]"), 60, 2e-3, 0.9, 0},
    {"edge", GROUND BOX("rpy: [0.6, 0, 0], position: [0, 0, 0.15]", "") THROWN("[0.3, 0.1, -1, 0, 0, 0]"), 60, 2e-3,
     0.6, 0.3},
    {"corner", GROUND BOX("rpy: [0.4, 0.3, 0], position: [0, 0, 0.15]", "") THROWN("[0.3, 0.1, -1, 0.5, -0.7, 0.2]"),
     60, 2e-3, 0.6, 0},
    {"ball that slides through", GROUND BALL("position: [0, 0, 0.15]") THROWN("[2, 0, -2, 0, 3, 0]"), 50, 2e-3, 0.8,
     0.1},
    {"ball that sticks", GROUND BALL("position: [0, 0, 0.15]") THROWN("[1, 0.2, -2, 0, 3, 1]"), 50, 2e-3, 0.8, 0.8},
    {"coarse", GROUND BALL("position: [0, 0, 0.25]") THROWN("[0.1, 0, -1, 0, 0, 0]"), 25, 1e-2, 0.3, 0},
    {"head-on",
     "links:\n"
     "  - {name: a, mass: 0.3, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [-0.12, 0, 1]}\n"
     "  - {name: b, mass: 0.5, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0.12, 0.01, 1]}\n"
     "initial: [{link: a, velocities: [1, 0, 0, 0, 0, 0]}, {link: b, velocities: [-1, 0, 0, 0, 0, 0]}]\n",
     60, 4e-3, 0.9, 0},
    {"pendulum on a wall",
     "links:\n"
     "  - {name: wall, fixed: true, position: [0.13, 0, -0.4], shape: {type: box, size: [0.1, 0.4, 0.2]}}\n"
     "  - {name: b, mass: 0.4, mass_model: uniform, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: box, size: "
     "[0.04, 0.04, 0.4], position: [0, 0, -0.2]}]}\n"
     "initial: [{link: b, coordinates: [0.5], velocities: [0.2]}]\n",
     80, 4e-3, 0.6, 0},
    {"five bounces", GROUND BALL("position: [0, 0, 0.15]") THROWN("[0.1, 0, -1, 0, 0, 0]"), 260, 4e-3, 0.9, 0},
    {"three in a row",
     "links:\n"
     "  - {name: a, mass: 0.3, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [-0.2, 0, 1]}\n"
     "  - {name: c, mass: 0.3, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, 1]}\n"
     "  - {name: b, mass: 0.3, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0.12, 0, 1]}\n"
     "initial: [{link: a, velocities: [2, 0, 0, 0, 0, 0]}]\n",
     40, 4e-3, 0.9, 0},
};

static void impact_I12_gradient_is_that_of_runs_with_their_own_substeps(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++)
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) check_case(&CASES[k], INTEGRATORS[i]);
}

/* A box that falls by d on the ground and goes up until T: z by its initial velocity is -e t1 + (T - t1)((1 + e) g t1 /
 * v1 - e), with the start half a step of gravity early that first_order has. */
static void check_saltation(const char* integrator, double dt, double e) {
  const Case fall = {"fall", GROUND BOX("position: [0, 0, 0.32]", ""), (int)(0.4 / dt + 0.5), dt, e, 0};
  Run* run = scene_of(&fall, integrator);
  ModelGradient gradient;
  derive(run, fall.steps, &gradient);
  double g = 9.81, start = strcmp(integrator, "first_order") == 0 ? -0.5 * g * dt : 0;
  double way = 0.27 - 2 * run->model.contact.support, v1 = sqrt(start * start + 2 * g * way), t1 = (v1 + start) / g;
  double wanted = 1.3 * (-e * t1 + (0.4 - t1) * ((1 + e) * g / v1 * t1 - e)), scale = 1.3 * e * t1;
  compare_near(gradient.velocities[2], wanted, 1e-3 * scale, "%s, dt = %g, e = %g", integrator, dt, e);
  model_gradient_destroy(&gradient);
  run_free(run);
}

static void impact_I12_saltation_of_a_drop(void** state) {
  (void)state;
  const double dt[] = {1e-2, 2e-3, 5e-4}, e[] = {0.6, 0.9};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      for (int n = 0; n < 2; n++) check_saltation(INTEGRATORS[i], dt[k], e[n]);
}

/* ---------------------------------------------------------------- table against the closed form */

/* A body without rotation that falls on the ground, slides through the impact and rises again. */
typedef struct {
  double height, fall, slide; /* above the place of the impact [m], initial velocities down and along [m/s] */
  double gravity, e, friction;
} Landing;

enum { LANDING_NUMBERS = sizeof(Landing) / sizeof(double) };

#define LANDING_SPAN 0.3

/* x + 1.3 (z - z of the impact) at the end: v1 on the ground at t1, e v1 and slide - mu (1 + e) v1 from there on.
 * late: the weight of the first step that first_order adds to the initial velocity [s]. */
static double landing_value(const Landing* l, double late) {
  double fall = l->fall + l->gravity * late, v1 = sqrt(fall * fall + 2 * l->gravity * l->height);
  double t1 = (v1 - fall) / l->gravity, rest = LANDING_SPAN - t1;
  double x = l->slide * LANDING_SPAN - l->friction * (1 + l->e) * v1 * rest;
  return x + 1.3 * (l->e * v1 * rest - 0.5 * l->gravity * rest * rest);
}

static double landing_slope(const Landing* l, int number, double late) {
  Landing up = *l, down = *l;
  ((double*)&up)[number] += 1e-5;
  ((double*)&down)[number] -= 1e-5;
  return (landing_value(&up, late) - landing_value(&down, late)) / 2e-5;
}

static Run* landing_run(const char* integrator, double dt, const Landing* l) {
  return run_model(
      "simulation: {dt: %g, duration: %g, integrator: %s}\n"
      "contact: {friction: %g, restitution: %g, barrier_distance: 1e-4}\n" GROUND
      "  - {name: b, mass: 1, mass_model: given, inertia: [1e4, 1e4, 1e4, 0, 0, 0], position: [0, 0, 0.3002], shape: "
      "{type: box, size: [0.06, 0.08, 0.1]}}\n" THROWN("[2, 0, -0.2, 0, 0, 0]"),
      dt, LANDING_SPAN, integrator, l->friction, l->e);
}

/* Differences of runs by the initial velocity, over steps from 1e-3 m/s to `least`. */
static void check_landing_differences(Run* run, const char* integrator, const Landing* l, double slope, double least) {
  int steps = run->model.simulation.steps;
  double* number = &run->model.initial_velocities[2];
  for (double h = 1e-3; h > 0.5 * least; h *= 0.1) {
    double at = *number, up, down;
    *number = at + h;
    up = run_value(run, steps);
    *number = at - h;
    down = run_value(run, steps);
    *number = at;
    compare_near((up - down) / (2 * h), slope, 1e-3, "%s, e = %g, friction %g: h = %g", integrator, l->e, l->friction,
                 h);
  }
}

/* Moving the lower face down is moving the body up, but for where it ends: by the body's own height to this much. */
#define FACE_KNOWN 2e-5

/* Slopes below 0.5 are what is left of terms of 1 that cancel. friction 0: nothing is derived by it. */
static void check_landing(const char* integrator, double dt, double e, double friction) {
  static const char* const names[LANDING_NUMBERS] = {"height", "fall", "slide", "gravity", "e", "friction"};
  Landing l = {0.25, 0.2, 2, 9.81, e, friction};
  Run* run = landing_run(integrator, dt, &l);
  const Model* m = &run->model;
  ModelGradient g;
  derive(run, m->simulation.steps, &g);
  double lower_face = 0; /* vertices of the upper one have no derivative */
  for (int v = 0; v < m->vertex_count; v++) lower_face += g.vertices[v].z;
  double late = strcmp(integrator, "first_order") == 0 ? dt / 2 : 0, by_height = landing_slope(&l, 0, late);
  const double found[LANDING_NUMBERS] = {
      g.coordinates[2],           -g.velocities[2], g.velocities[0], -g.gravity.z, g.material[0][MATERIAL_RESTITUTION],
      g.contact[CONTACT_FRICTION]};
  for (int k = 0; k < LANDING_NUMBERS - (friction == 0); k++) {
    double slope = landing_slope(&l, k, late);
    compare_near(found[k], slope, 1e-3 * fmax(fabs(slope), 0.5), "%s, dt = %g, e = %g, friction %g: by %s", integrator,
                 dt, e, friction, names[k]);
  }
  compare_near(lower_face, by_height - 1.3, 1e-3 * (1.3 + fabs(by_height)), "%s, dt = %g, e = %g: by the lower face",
               integrator, dt, e);
  compare_near(lower_face, g.coordinates[2] - 1.3, FACE_KNOWN,
               "%s, dt = %g, e = %g, friction %g: lower face and height", integrator, dt, e, friction);
  compare_near(g.mass[1], 0, 1e-5, "%s, dt = %g, e = %g, friction %g: by mass", integrator, dt, e, friction);
  check_landing_differences(run, integrator, &l, g.velocities[2], 1e-7);
  model_gradient_destroy(&g);
  run_free(run);
}

static void impact_I12_I13_I14_table_of_a_landing(void** state) {
  (void)state;
  const double dt[] = {1e-2, 2e-3, 5e-4}, e[] = {0.3, 0.6, 0.9};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < tests_count(2, 3); k++)
      for (int n = 0; n < 3; n++)
        for (int mu = 0; mu < 2; mu++) check_landing(INTEGRATORS[i], dt[k], e[n], 0.2 * mu);
}

/* A ball that falls on a paddle on a hinge, which a drive holds, three times: shifting the hinge and the ball shifts
 * all of the run. */
#define PADDLE                                                                                                         \
  "  - {name: paddle, mass: 0.4, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, 0.3]}, " \
  "shapes: [{type: box, size: [0.5, 0.1, 0.02], position: [0.25, 0, 0]}]}\n"

static void check_paddle(const char* integrator, double dt, double friction) {
  Run* run = run_model(
      "simulation: {dt: %g, duration: 0.22, integrator: %s}\n"
      "contact: {friction: %g, restitution: 0.3}\n"
      "links:\n" PADDLE
      "  - {name: b, mass: 0.05, mass_model: uniform, position: [0.3, 0, 0.39], shape: {type: sphere, radius: 0.03, "
      "resolution: 2}}\n"
      "controllers: [{link: paddle, type: pd, position_gain: 40, damping_gain: 1, target: 0}]\n"
      "initial: [{link: paddle, coordinates: [0.05]}, {link: b, velocities: [-0.1, 0.05, 0, 1, 3, 0]}]\n",
      dt, integrator, friction);
  const double wanted[3] = {2, -1.4, 2.6}; /* value_of two links */
  ModelGradient g;
  derive(run, run->model.simulation.steps, &g);
  double hinge[3];
  vec3_store(g.attachments[0], hinge);
  for (int axis = 0; axis < 3; axis++)
    compare_near(hinge[axis] + g.coordinates[1 + axis], wanted[axis], 1e-6, "%s, dt = %g, friction %g: axis %d",
                 integrator, dt, friction, axis);
  model_gradient_destroy(&g);
  run_free(run);
}

static void impact_I14_moving_a_paddle_is_moving_the_ball(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 4; k++) check_paddle(INTEGRATORS[i], k / 2 ? 2e-3 : 1e-2, k % 2 ? 0.3 : 0);
}

/* A door on a hinge strikes a ball. The slope of the end by the ball's start is that of differences of the run over
 * 2e-4 m, which rounding does not reach, from eight starts. */
static void impact_W11_a_door_strikes_a_ball(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 0.0005, duration: 0.3, gravity: [0, 0, 0], integrator: momentum}\n"
      "contact: {friction: 0, restitution: 0.6}\n"
      "links:\n"
      "  - {name: door, mass: 1, mass_model: uniform, joint: {type: hinge, axis: [0, 0, 1]}, "
      "shapes: [{type: box, size: [0.6, 0.04, 0.5], position: [0.3, 0, 0]}]}\n"
      "  - {name: b, mass: 0.6, position: [0.4, 0.25, 0], shape: {type: sphere, radius: 0.1}}\n"
      "initial: [{link: door, velocities: [2]}]\n");
  const int steps = run->model.simulation.steps;
  const double start = run->model.initial_coordinates[2], h = 1e-4;
  double* y = &run->model.initial_coordinates[2];
  for (int k = 0; k < 8; k++) {
    ModelGradient gradient;
    *y = start + k * 1e-7;
    derive(run, steps, &gradient);
    *y += h;
    double up = run_value(run, steps);
    *y -= 2 * h;
    double down = run_value(run, steps);
    compare_near(gradient.coordinates[2], (up - down) / (2 * h), 1e-4, "start %d", k);
    model_gradient_destroy(&gradient);
  }
  run_free(run);
}

/* A ball that is thrown, bounces and rolls: a displacement along the ground displaces its end by as much. */
static void impact_I16_a_displacement_along_the_ground_stays(void** state) {
  (void)state;
  const double dt[] = {1e-2, 2e-3, 1e-3};
  for (int k = 0; k < 3; k++) {
    Run* run = run_model("simulation: {dt: %g, duration: 2}\ncontact: {restitution: 0.8}\n" GROUND
                         "  - {name: b, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0, 1]}\n"
                         "initial: [{link: b, velocities: [1, 0, 0, 0, 0, 0]}]\n",
                         dt[k]);
    ModelGradient gradient;
    derive(run, run->model.simulation.steps, &gradient);
    compare_near(gradient.attachments[1].x, 1, 1e-8, "along the way, dt = %g", dt[k]);
    compare_near(gradient.attachments[1].y, -0.7, 1e-8, "across, dt = %g", dt[k]);
    model_gradient_destroy(&gradient);
    run_free(run);
  }
}

/* A ball on a box: a displacement along the box displaces the end by as much, but for a tilt of the plane by 1e-7. The
 * other derivatives are those on a half-space, whose potential and so the place of the impact differ by some 1e-5. */
static void impact_I16_a_ball_on_a_box(void** state) {
  (void)state;
  static const char* const FLOOR[] = {
      GROUND,
      "links:\n  - {name: ground, fixed: true, position: [0, 0, -0.25], shape: {type: box, size: [8, 8, 0.5]}}\n"};
  for (double height = 0.3; height < 0.305; height += 1e-3) {
    double coordinates[2][6], velocities[2][6];
    for (int k = 0; k < 2; k++) {
      Run* run = run_model(
          "simulation: {dt: 2e-3, steps: 300}\ncontact: {restitution: 0.8, friction: 0.5, barrier_distance: 5e-4}\n%s"
          "  - {name: b, mass: 0.3, shape: {type: sphere, radius: 0.05}, position: [0, 0, %.17g]}\n"
          "initial: [{link: b, velocities: [1, 0, 0, 0, 0, 0]}]\n",
          FLOOR[k], height);
      ModelGradient gradient;
      derive(run, 300, &gradient);
      memcpy(coordinates[k], gradient.coordinates, sizeof(coordinates[k]));
      memcpy(velocities[k], gradient.velocities, sizeof(velocities[k]));
      model_gradient_destroy(&gradient);
      run_free(run);
    }
    compare_near(coordinates[1][0], 1, 2e-7, "height %g: along the way", height);
    compare_near(coordinates[1][1], -0.7, 2e-7, "height %g: across", height);
    for (int i = 0; i < 6; i++) {
      compare_near(coordinates[1][i], coordinates[0][i], 2e-4, "height %g: coordinate %d", height, i);
      compare_near(velocities[1][i], velocities[0][i], 2e-4, "height %g: velocity %d", height, i);
    }
  }
}

/* A tumbling box whose first impact leaves rests of all lengths of its step: second differences of the end over 2e-8 m
 * are its rounding. */
static void impact_S15_rounding_after_a_short_rest(void** state) {
  (void)state;
  enum { NEIGHBOURS = 9 };
  const double dt = 5e-4, h = 2e-8;
  for (int place = -4; place <= 4; place++) {
    double end[NEIGHBOURS], most = 0;
    for (int k = 0; k < NEIGHBOURS; k++) {
      double z = 0.5 + place * dt / 16 + k * h;
      Run* run = run_model(
          "simulation: {dt: %g, steps: 800, integrator: second_order}\ncontact: {restitution: 0.8, friction: "
          "0.3}\n" GROUND
          "  - {name: b, mass: 1, position: [0, 0, %.17g], shape: {type: box, size: [0.2, 0.2, 0.2]}}\n"
          "initial: [{link: b, coordinates: [0, 0, %.17g, 0.3, 0.4, 0], velocities: [1, 0, -2, 1, 2, 0.5]}]\n",
          dt, z, z);
      end[k] = run_value(run, 800);
      run_free(run);
    }
    for (int k = 1; k + 1 < NEIGHBOURS; k++) most = fmax(most, fabs(end[k + 1] - 2 * end[k] + end[k - 1]));
    compare_at_most(most, 2e-10, "place %d: rounding of the end [m]", place);
  }
}

/* Friction turns a ball that bounces, and its rotation divides the rest of the step into two substeps. The step after
 * them is longer. The velocity in the middle of a later step is e v1 - g t, with the speed v1 of the impact and the
 * time t since the impact. */
static void impact_S15_weight_after_a_divided_rest(void** state) {
  (void)state;
  const double g = 9.81, e = 0.9, fall = 1, dt = 1e-2, speed = sqrt(2 * g * fall);
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %g, steps: 60, integrator: momentum, gravity: [0, 0, -%.17g]}\n"
                        "contact: {restitution: %g, friction: 0.15, barrier_distance: 1e-4}\n" GROUND
                        "  - {name: b, mass: 0.3, position: [0, 0, %.17g], shape: {type: sphere, radius: 0.05}}\n"
                        "initial: [{link: b, velocities: [2, 0, 0, 0, 0, 0]}]\n",
                        dt, g, e, fall + 0.05 + 2e-4);
  int most = 0;
  for (int k = 0; k < 50; k++) most = (int)fmax(most, run_steps(run, 1).substeps);
  assert_int_equal(most, 8); /* to the impact, five short ones, two halves of the rest */
  double before = sim_state(run->sim)->center[1].z;
  (void)run_steps(run, 1);
  double found = (sim_state(run->sim)->center[1].z - before) / dt;
  compare_near(found, e * speed - g * (50.5 * dt - speed / g), 1e-4, "velocity after the impact [m/s]");
  run_free(run);
}

/* Derivatives by the last six initial velocities, and differences over 1e-6. */
static void check_last_velocities(Run* run, int steps, const char* name) {
  ModelGradient gradient;
  derive(run, steps, &gradient);
  const double h = 1e-6;
  int count = run->model.dof_count;
  for (int k = count - 6; k < count; k++) {
    double* v = &run->model.initial_velocities[k];
    double at = *v, value[2];
    for (int side = 0; side < 2; side++) {
      *v = at + (side ? h : -h);
      value[side] = run_value(run, steps);
    }
    *v = at;
    compare_near(gradient.velocities[k], (value[1] - value[0]) / (2 * h), 5e-5 * largest(gradient.velocities, count),
                 "%s: velocity %d", name, k);
  }
  model_gradient_destroy(&gradient);
  run_free(run);
}

/* A tumbling stone hits a box at rest on the ground several times. Both exchange angular momentum (spin.md, W6) in
 * substeps whose lengths vary. */
static void impact_W6_exchange_in_substeps(void** state) {
  (void)state;
  check_last_velocities(
      run_model(
          "simulation: {dt: 1e-2, steps: 17, integrator: momentum}\ncontact: {restitution: 0.3, friction: 0.5}\n" GROUND
          "  - {name: a, mass: 1, position: [0, 0, 0.0502], shape: {type: box, size: [0.2, 0.2, 0.1]}}\n"
          "  - {name: b, mass: 0.2, position: [-0.45, -0.0386, 0.2282], shape: {type: box, size: [0.08, 0.06, 0.1]}}\n"
          "initial: [{link: b, velocities: [2.164, -0.162, -0.350, -0.126, -2.042, 1.407]}]\n"),
      17, "stone on a box");
}

/* A ball hits a box at rest on a slope. In a later step under second_order, an impact begins with the weights of
 * STEP_FREE but not with the weights that the step requires. The step then does not end at an event. */
static void impact_I12_no_event_with_the_required_weights(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 5e-3, steps: 40, integrator: second_order}\ncontact: {restitution: 0.6, friction: 0.578}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space, normal: [0.13371263304338965, 0, "
      "0.9910201470023724]}}\n"
      "  - {name: a, mass: 1, mass_model: uniform, position: [0.0067524879686911773, 0, 0.050046517423619812], rpy: "
      "[0, "
      "0.13411431616616901, 0], shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
      "  - {name: b, mass: 0.405, mass_model: uniform, position: [-0.010, 0.023, 0.224], rpy: [-0.047, 0.167, 0.816], "
      "shape: {type: sphere, radius: 0.045}}\n"
      "initial: [{link: b, velocities: [0.009, -0.436, -1.244, 1.184, -2.495, 4.097]}]\n");
  check_last_velocities(run, 40, "ball on a box on a slope");
}

/* A ball rolls by 0.28 rad in a step and hits a wall. Over differences of 2 % of a step length it would slip. */
static void impact_F13_a_rolling_ball_hits_a_wall(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++)
    check_last_velocities(
        run_model(
            "simulation: {dt: 1e-2, steps: 20, integrator: %s}\ncontact: {restitution: 0.6, friction: 0.5}\n" GROUND
            "  - {name: wall, fixed: true, position: [0.3, 0, 0.2], rpy: [0, 0, 0.3], shape: {type: box, size: "
            "[0.2, 1, 0.5]}}\n"
            "  - {name: b, mass: 0.2, position: [0, 0, 0.0501], shape: {type: sphere, radius: 0.05}}\n"
            "initial: [{link: b, velocities: [1.4, 0, 0, 0, 28, 0]}]\n",
            INTEGRATORS[i]),
        20, INTEGRATORS[i]);
}

/* One bounce takes its step in seven substeps: to the impact, five short ones, the rest. */
static void impact_I10_a_bounce_costs_six_substeps_more(void** state) {
  (void)state;
  const Case c = {"drop", GROUND BOX("position: [0, 0, 0.15]", ""), 100, 2e-3, 0.6, 0};
  Run* run = run_create(
      1, 0, "simulation: {dt: 2e-3, steps: 100, integrator: first_order}\ncontact: {restitution: 0.6}\n%s", c.links);
  int more = 0;
  for (int k = 0; k < 100; k++) more += run_steps(run, 1).substeps - 1;
  assert_in_range(more, 6, 8);
  run_free(run);
}

/* A ball at 2 m/s without weight and e = 1: its height in the end falls by as much as its start rises. */
static Run* turning_ball(const char* integrator, double dt, double start) {
  return run_model(
      "simulation: {dt: %g, duration: 0.6, gravity: [0, 0, 0], integrator: %s}\n"
      "contact: {restitution: 1, friction: 0}\n" GROUND
      "  - {name: b, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0, %.17g]}\n"
      "initial: [{link: b, velocities: [0, 0, -2, 0, 0, 0]}]\n",
      dt, integrator, start);
}

/* Start and end together, which no start changes [m]. */
static double turned(const char* integrator, double dt, double start) {
  Run* run = turning_ball(integrator, dt, start);
  double sum = run_value(run, run->model.simulation.steps) / 1.3 + start;
  run_free(run);
  return sum;
}

/* The start whose impact begins at the end of a step, dt / 1024 early. */
static double start_at_the_end_of_a_step(const char* integrator, double dt) {
  return 0.5 * (turned(integrator, dt, 0.5) - 0.6 * 2) + 0.3 * 2;
}

/* Starts over a whole step, 41 of them within six short substeps of its end. No start leaves a remainder of dt / 4096,
 * near which rounding dominates the result of second_order (impact.md, Limitations). */
static void impact_I10_the_place_in_a_step_changes_nothing(void** state) {
  (void)state;
  const double dt = 2e-3, v = 2;
  for (int i = 0; i < 3; i++) {
    double low = INFINITY, high = -INFINITY, middle = start_at_the_end_of_a_step(INTEGRATORS[i], dt);
    for (int k = -20; k < 40; k++) {
      double away = k <= 20 ? (k + 0.5) * 0.15 * dt / 1024 : (k - 20) * dt / 20;
      double sum = turned(INTEGRATORS[i], dt, middle + away * v);
      low = fmin(low, sum);
      high = fmax(high, sum);
    }
    compare_at_most(high - low, i == 2 ? 2e-8 : 5e-10, "%s: jump of the run [m]", INTEGRATORS[i]);
  }
}

/* The slope -1 by the start of impacts that begin near the end of a step, and by differences over 1e-6 m. */
static void impact_I10_slopes_near_the_end_of_a_step(void** state) {
  (void)state;
  for (int i = 0; i < 2; i++)
    for (double dt = 2e-3; dt > 4e-4; dt *= 0.25) {
      double middle = start_at_the_end_of_a_step(INTEGRATORS[i], dt);
      for (int k = -8; k <= 8; k++) {
        double start = middle + (k + 0.1) * dt / 1024;
        Run* run = turning_ball(INTEGRATORS[i], dt, start);
        ModelGradient gradient;
        derive(run, run->model.simulation.steps, &gradient);
        compare_near(gradient.coordinates[2] / 1.3, -1, 2e-4, "%s, dt = %g, start %d", INTEGRATORS[i], dt, k);
        double up = turned(INTEGRATORS[i], dt, start + 1e-6), down = turned(INTEGRATORS[i], dt, start - 1e-6);
        compare_near((up - down) / 2e-6, 0, 1e-3, "%s, dt = %g, start %d: differences", INTEGRATORS[i], dt, k);
        model_gradient_destroy(&gradient);
        run_free(run);
      }
    }
}

/* A box of 0.2 m that tumbles and lands on its corners in turn. wy: initial rate about y [rad/s]; z: height [m]. */
static Run* tumbling_box(double friction, double wy, double z) {
  return run_model("simulation: {dt: 1e-2, steps: 40}\ncontact: {restitution: 0.6, friction: %g}\n" GROUND
                   "  - {name: b, mass: 1, position: [0, 0, %.17g], shape: {type: box, size: [0.2, 0.2, 0.2]}}\n"
                   "initial: [{link: b, velocities: [1, 0.3, 0, 0.5, %g, 0.1]}]\n",
                   friction, z, wy);
}

static double tumbled(double friction, double wy, double z) {
  Run* run = tumbling_box(friction, wy, z);
  double value = run_value(run, 40);
  run_free(run);
  return value;
}

/* The approach over the substep that ends at the beginning of an impact can be slower than over the whole step. The
 * impact begins there all the same, with the restitution of its speed. */
static void impact_I10_an_approach_that_is_slower_at_first(void** state) {
  (void)state;
  static const double WY[] = {-1.1, -0.95, 0.2, 1, 1.1};
  for (int k = 0; k < 5; k++) {
    Run* run = tumbling_box(0, WY[k], 0.5);
    ModelGradient gradient;
    derive(run, 40, &gradient);
    double error = INFINITY, z = 0.5;
    for (double h = 1e-5; h > 1e-7; h *= 0.1) {
      double slope = (tumbled(0, WY[k], z + h) - tumbled(0, WY[k], z - h)) / (2 * h);
      error = fmin(error, fabs(slope - gradient.attachments[1].z));
    }
    compare_at_most(error, 5e-6, "wy = %g: slope by height", WY[k]); /* the run rounds by 1e-11 m, h >= 1e-6 */
    model_gradient_destroy(&gradient);
    run_free(run);
  }
}

/* Balls without weight that move by up to ten supports in dt / 1024 leave with e, and with the slope -e of their end by
 * their start. */
static void impact_I10_a_fast_impact_keeps_its_restitution(void** state) {
  (void)state;
  const double e = 0.9, dt[] = {1e-2, 2e-3}, radius[] = {0.05, 0.01}, speed[] = {3, 30, 100};
  for (int k = 0; k < 12; k++) {
    double h = dt[k % 2], r = radius[k / 2 % 2], v = speed[k / 4];
    const int steps = 20;
    Run* run = run_model("simulation: {dt: %g, steps: %d, gravity: [0, 0, 0]}\ncontact: {restitution: %g}\n" GROUND
                         "  - {name: b, mass: 0.3, shape: {type: sphere, radius: %g}, position: [0, 0, %.17g]}\n"
                         "initial: [{link: b, velocities: [0, 0, %g, 0, 0, 0]}]\n",
                         h, steps, e, r, r + 7.3 * h * v, -v);
    Recording recording;
    record(&recording, run, steps);
    double rise = recording_pose(&recording, steps)[1].t.z - recording_pose(&recording, steps - 5)[1].t.z;
    recording_destroy(&recording);
    compare_near(rise / (5 * h * v), e, 2e-4, "dt = %g, radius %g, %g m/s: restitution", h, r, v);
    ModelGradient gradient;
    derive(run, steps, &gradient);
    compare_near(gradient.coordinates[2] / 1.3, -e, 2e-4, "dt = %g, radius %g, %g m/s: slope by start", h, r, v);
    model_gradient_destroy(&gradient);
    run_free(run);
  }
}

/* For the heights in the middle the second impact begins near the end of a step, while the box turns at 12 rad/s. */
static void impact_I5_friction_near_the_end_of_a_step(void** state) {
  (void)state;
  enum { MIDDLE = 6, COUNT = 2 * MIDDLE + 1 };
  double value[COUNT];
  for (int k = 0; k < COUNT; k++) value[k] = tumbled(0.3, 2.15, 0.5 + (k - MIDDLE) * 1e-5);
  double slope = (value[COUNT - 1] - value[0]) / (COUNT - 1);
  for (int k = 0; k < COUNT; k++) compare_near(value[k], value[0] + k * slope, 1e-7, "height %d of %d", k + 1, COUNT);
}

/* The second impact starts from a rotated ball. Its friction stores an elastic slip (F16) that depends on the expected
 * pose (F13). In the first two cases the first impact ends with slip in either direction, in the last two cases the
 * first impact begins at another time in its step. */
static void impact_F16_elastic_slip_depends_on_the_lengths_of_substeps(void** state) {
  (void)state;
  static const struct {
    double z, vx;
    int steps;
  } STARTS[] = {{0.103, 0.352, 4}, {0.103, 0.4, 4}, {0.104, 0.4, 1}, {0.1041, 0.4, 5}};
  for (size_t k = 0; k < sizeof STARTS / sizeof *STARTS; k++) {
    Run* run = run_model(
        "simulation: {dt: 1e-2, steps: %d, integrator: first_order, tolerance: 1e-12}\n"
        "contact: {restitution: 0.6, friction: 0.3}\n" GROUND
        "  - {name: b, mass: 1, position: [0, 0, %.17g], shape: {type: sphere, radius: 0.1}}\n"
        "initial: [{link: b, velocities: [%.17g, 0, -0.13, 0, 3.53, 0]}]\n",
        STARTS[k].steps, STARTS[k].z, STARTS[k].vx);
    ModelGradient gradient;
    derive(run, STARTS[k].steps, &gradient);
    const double h = 1e-5;
    double* z = &run->model.initial_coordinates[2];
    double start = *z, value[4];
    for (int i = 0; i < 4; i++) {
      *z = start + h * (double[]){-2, -1, 1, 2}[i];
      value[i] = run_value(run, STARTS[k].steps);
    }
    *z = start;
    double slope = (8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * h);
    compare_near(gradient.coordinates[2], slope, 5e-8, "height %g m, speed %g m/s", STARTS[k].z, STARTS[k].vx);
    model_gradient_destroy(&gradient);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impact_I12_gradient_is_that_of_runs_with_their_own_substeps),
      cmocka_unit_test(impact_I12_saltation_of_a_drop),
      cmocka_unit_test(impact_I12_I13_I14_table_of_a_landing),
      cmocka_unit_test(impact_I14_moving_a_paddle_is_moving_the_ball),
      cmocka_unit_test(impact_W11_a_door_strikes_a_ball),
      cmocka_unit_test(impact_I16_a_displacement_along_the_ground_stays),
      cmocka_unit_test(impact_I16_a_ball_on_a_box),
      cmocka_unit_test(impact_S15_rounding_after_a_short_rest),
      cmocka_unit_test(impact_S15_weight_after_a_divided_rest),
      cmocka_unit_test(impact_W6_exchange_in_substeps),
      cmocka_unit_test(impact_I12_no_event_with_the_required_weights),
      cmocka_unit_test(impact_F13_a_rolling_ball_hits_a_wall),
      cmocka_unit_test(impact_I10_the_place_in_a_step_changes_nothing),
      cmocka_unit_test(impact_I10_slopes_near_the_end_of_a_step),
      cmocka_unit_test(impact_I10_a_bounce_costs_six_substeps_more),
      cmocka_unit_test(impact_I10_an_approach_that_is_slower_at_first),
      cmocka_unit_test(impact_I10_a_fast_impact_keeps_its_restitution),
      cmocka_unit_test(impact_I5_friction_near_the_end_of_a_step),
      cmocka_unit_test(impact_F16_elastic_slip_depends_on_the_lengths_of_substeps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
