/* Tests loop closures: energy derivatives against differences, closed forms of mechanisms, forces, breaking, infeasible
 * loops, and scales over many decades. */
#include <stdlib.h>
#include <string.h>

#include "simulate/sim.h"
#include "support/loops.h"
#include "support/runs.h"
#include "support/sweep.h"

/* ---------------------------------------------------------------- derivatives of the step's objective */

typedef struct {
  Run* run;
  double *base, *direction;
} Objective;

/* O + mu c + rho/2 c^2 at base (+) x direction, with the rho that were found at base. */
static bool objective_along(void* context, const double* x, double* y) {
  Objective* o = context;
  Sim* s = o->run->sim;
  Configuration* c = &s->configuration[s->current];
  model_increment(s->model, o->base, o->direction, x[0], c->q);
  model_poses(s->model, c->q, c->pose);
  if (!configuration_evaluate(s, c)) return false;
  y[0] = 0;
  for (int i = 0; i < s->model->link_count; i++) {
    y[0] += c->inertia[i];
    if (s->model->links[i].dof_count > 0) y[0] += c->joints[i].controller;
  }
  for (int k = 0; k < s->closures->count; k++) y[0] += closure_energy(s->closures, k, c->closures);
  return true;
}

/* Derivative of x^2/2 d H d and of g d: differences of the slope of the objective along d. */
static void assembled(Objective* o, double* slope, double* curvature) {
  Sim* s = o->run->sim;
  Assembly a;
  Configuration* c = &s->configuration[s->current];
  memcpy(c->q, o->base, sizeof(double) * (size_t)s->model->coordinate_count);
  model_poses(s->model, c->q, c->pose);
  assert_true(configuration_evaluate(s, c));
  step_assemble_keeping_scales(s, (ContactTermList){0}, &a);
  step_extend_pattern(s, (ContactTermList){0});
  assemble_hessian(&a, true, s->solver);
  double* product = MEMORY_NEW(double, s->model->dof_count);
  block_solver_multiply(s->solver, o->direction, product);
  *slope = *curvature = 0;
  for (int k = 0; k < s->model->dof_count; k++) {
    *slope += s->newton.gradient[k] * o->direction[k];
    *curvature += product[k] * o->direction[k];
  }
  memory_free(product);
}

static void closures_Z2_Z4_derivatives(void** state) {
  (void)state;
  Random random = {41};
  print_message("seed 41\n");
  Run* run = run_create(1, 1e-9, LOOPS_OF_EVERY_TYPE, "first_order");
  Sim* s = run->sim;
  size_t nv = (size_t)s->model->dof_count, nq = (size_t)s->model->coordinate_count;
  Objective o = {run, MEMORY_NEW(double, nq), MEMORY_NEW(double, nv)};
  for (int round = 0; round < 12; round++) {
    step_prepare(s);
    memcpy(o.base, s->q_now, sizeof(double) * nq);
    for (int k = 0; k < s->closures->row_count; k++) s->closures->multiplier[k] = 300 * random_normal(&random);
    for (size_t k = 0; k < nv; k++)
      o.direction[k] = round < 6 ? random_normal(&random) : k == nv * (size_t)(round - 6) / 6;
    double slope, curvature, h = 2e-4, there[3] = {0};
    assembled(&o, &slope, &curvature);
    const double zero = 0;
    Sweep sweep = {.function = objective_along, .context = &o, .inputs = 1, .outputs = 1, .x = &zero, .first = 1e-2};
    sweep.factor = 4;
    sweep.steps = 8;
    sweep_expect(&sweep, &slope, 1, 1e-7, "round %d: slope", round);
    for (int k = -1; k <= 1; k++) {
      double x = k * h;
      assert_true(objective_along(&o, &x, &there[k + 1]));
    }
    compare_near((there[0] - 2 * there[1] + there[2]) / (h * h), curvature, 2e-5 * fabs(curvature), "curvature");
  }
  memory_free(o.base);
  memory_free(o.direction);
  run_free(run);
}

/* ---------------------------------------------------------------- mechanisms against closed forms */

/* How far the four-bar's joints are from its closed form: the rocker's angle from the crank's by the circles of
 * coupler and rocker about their pins. */
static double four_bar_error(const Sim* s) {
  double crank = s->state.q[0], bx = 0.1 * cos(crank), by = 0.1 * sin(crank), dx = 0.4 - bx, dy = -by;
  double apart = sqrt(dx * dx + dy * dy), along = (0.35 * 0.35 - 0.3 * 0.3 + apart * apart) / (2 * apart);
  double beside = sqrt(0.35 * 0.35 - along * along);
  double cx = bx + (along * dx - beside * dy) / apart, cy = by + (along * dy + beside * dx) / apart;
  Vec3 pin = pose_apply(s->state.pose[2], vec3(0.3, 0, 0)), end = pose_apply(s->state.pose[1], vec3(0.35, 0, 0));
  Vec3 truth = vec3(cx, 0, 1 + cy);
  return fmax(vec3_norm(vec3_sub(pin, truth)), vec3_norm(vec3_sub(end, truth)));
}

static double energy_lost(const char* integrator, double dt, int steps) {
  Run* run = run_create(1, 0, FOUR_BAR, integrator);
  run->model.simulation.dt = dt;
  sim_destroy(run->sim);
  SimOptions options = {.threads = 1};
  assert_int_equal(sim_create(&run->sim, &run->model, &options, &run->diagnostics), STATUS_OK);
  SimMeasure begin = sim_measure(run->sim);
  double worst = 0, turned = run->sim->state.q[0];
  for (int k = 0; k < steps; k++) {
    run_steps(run, 1);
    worst = fmax(worst, four_bar_error(run->sim));
  }
  turned = run->sim->state.q[0] - turned;
  SimMeasure end = sim_measure(run->sim);
  compare_at_most(worst, 1e-8, "four-bar against its closed form [m]");
  assert_true(fabs(turned) > 0.5);
  double scale = 1.5 * 9.81 * 0.1; /* what the weights can do */
  run_free(run);
  return (begin.kinetic + begin.potential - end.kinetic - end.potential) / scale;
}

static void closures_Z1_four_bar(void** state) {
  (void)state;
  double first[2] = {energy_lost("first_order", 2e-3, 400), energy_lost("first_order", 1e-3, 800)};
  double second[2] = {energy_lost("second_order", 2e-3, 400), energy_lost("second_order", 1e-3, 800)};
  print_message("energy lost: first order %.3g %.3g, second order %.3g %.3g\n", first[0], first[1], second[0],
                second[1]);
  assert_true(first[0] > first[1] && first[0] / first[1] > 1.7);
  assert_true(fabs(second[0] / second[1]) > 3.4); /* of second order at least: four times */
  assert_true(fabs(second[1]) < 0.05 * first[1]);
}

/* Crank 0.2 m, rod 0.5 m, piston on the x axis that is pushed with 100 times the machine's weight: where the piston is
 * follows from the crank's angle. unit: of lengths, weigh: of masses. */
static double slider_crank_error(double unit, double weigh, double push, int* iterations) {
  double g = 9.81, dt = 0.004 * sqrt(unit);
  Run* run = run_create(
      1, 0,
      "simulation: {dt: %.17g, steps: 100, integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: crank, mass: %.17g, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: "
      "box, "
      "size: [%.17g, %.17g, %.17g], position: [%.17g, 0, 0]}]}\n"
      "  - {name: rod, parent: crank, mass: %.17g, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], "
      "position: [%.17g, 0, 0]}, shapes: [{type: box, size: [%.17g, %.17g, %.17g], position: [%.17g, 0, 0]}]}\n"
      "  - {name: piston, mass: %.17g, mass_model: uniform, joint: {type: slide, axis: [1, 0, 0], position: [%.17g, 0, "
      "0]}, shape: {type: box, size: [%.17g, %.17g, %.17g]}}\n"
      "closures:\n"
      "  - {type: hinge, a: rod, b: piston, point: [%.17g, 0, 0], axis: [0, 1, 0]}\n"
      "loads:\n"
      "  - {link: piston, force: [%.17g, 0, 0]}\n"
      "initial:\n"
      "  - {link: crank, coordinates: [1.0471975511965976]}\n"
      "  - {link: rod, coordinates: [%.17g]}\n",
      dt, weigh, 0.2 * unit, 0.02 * unit, 0.02 * unit, 0.1 * unit, 2 * weigh, 0.2 * unit, 0.5 * unit, 0.02 * unit,
      0.02 * unit, 0.25 * unit, weigh, unit * (0.1 + sqrt(0.25 - 0.03)), 0.1 * unit, 0.1 * unit, 0.1 * unit,
      unit * (0.1 + sqrt(0.25 - 0.03)), push * 4 * weigh * g,
      -1.0471975511965976 - asin(0.2 * sin(1.0471975511965976) / 0.5));
  double worst = 0;
  *iterations = 0;
  for (int k = 0; k < 100; k++) {
    *iterations += run_steps(run, 1).iterations;
    const SimState* s = sim_state(run->sim);
    double way = 0.2 * unit * sin(s->q[0]), truth = 0.2 * unit * cos(s->q[0]) + sqrt(0.25 * unit * unit - way * way);
    Vec3 end = pose_apply(s->pose[1], vec3(0.5 * unit, 0, 0));
    worst = fmax(worst, fmax(fabs(s->pose[2].t.x - truth), vec3_norm(vec3_sub(end, s->pose[2].t))) / unit);
  }
  run_free(run);
  return worst;
}

static void closures_Z3_slider_crank_at_any_scale(void** state) {
  (void)state;
  static const double units[] = {1, 1e-4, 1e4}, masses[] = {1, 1e-9, 1e6};
  int plain, loaded, other;
  compare_at_most(slider_crank_error(1, 1, 0, &plain), 1e-8, "slider-crank [part of its size]");
  compare_at_most(slider_crank_error(1, 1, -100, &loaded), 1e-8, "under 100 times its weight");
  for (int k = 0; k < 9; k++) {
    compare_at_most(slider_crank_error(units[k % 3], masses[k / 3], -100, &other), 1e-8, "of any size and mass");
    assert_true(abs(other - loaded) <= 5); /* the same work */
  }
}

/* ---------------------------------------------------------------- many loops, any place, any scale */

/* R about (0.36, 0.48, 0.8) by 1.1 rad. */
static const double ASKEW[4] = {0.85252452205950568, 0.18816740241503729, 0.25088986988671642, 0.41814978314452737};

static const char* turned(const Mat3* r, double x, double y, double z, char out[80]) {
  Vec3 v = mat3_mul_vec(*r, vec3(x, y, z));
  (void)snprintf(out, 80, "[%.17g, %.17g, %.17g]", v.x, v.y, v.z);
  return out;
}

/* The four-bar of support/loops.h, turned with its gravity: the same angles all along. No joint leaves its plane, which
 * lies in no plane of coordinates, so that rounding says how the rows across it depend on the joints. */
static void closures_Z3_a_linkage_askew(void** state) {
  (void)state;
  Run* straight = run_create(1, 1e-12, FOUR_BAR, "second_order");
  Mat3 r = mat3_from_quat((Quat){ASKEW[0], ASKEW[1], ASKEW[2], ASKEW[3]});
  char g[80], axis[80], back[80], p[3][80], c[3][80], point[80], q[120];
  (void)snprintf(q, sizeof(q), "[%.17g, %.17g, %.17g, %.17g]", ASKEW[0], ASKEW[1], ASKEW[2], ASKEW[3]);
  (void)turned(&r, 0, -1, 0, axis);
  Run* run = run_create(
      1, 1e-12,
      "simulation: {dt: 0.002, steps: 500, integrator: second_order, gravity: %s}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: crank, mass: 0.2, mass_model: uniform, joint: {type: hinge, axis: %s, position: %s}, shapes: [{type: "
      "box, size: [0.1, 0.02, 0.02], position: %s, rotation: %s}]}\n"
      "  - {name: coupler, parent: crank, mass: 0.7, mass_model: uniform, joint: {type: hinge, axis: %s, position: "
      "%s}, "
      "shapes: [{type: box, size: [0.35, 0.02, 0.02], position: %s, rotation: %s}]}\n"
      "  - {name: rocker, mass: 0.6, mass_model: uniform, joint: {type: hinge, axis: %s, position: %s}, shapes: "
      "[{type: "
      "box, size: [0.3, 0.02, 0.02], position: %s, rotation: %s}]}\n"
      "closures:\n"
      "  - {type: hinge, a: coupler, b: rocker, point: %s, axis: %s}\n"
      "initial:\n"
      "  - {link: crank, coordinates: [1.5707963267948966]}\n"
      "  - {link: coupler, coordinates: [-1.0226484275561756]}\n"
      "  - {link: rocker, coordinates: [1.9151556505110297]}\n",
      turned(&r, 0, 0, -9.81, g), axis, turned(&r, 0, 0, 1, p[0]), turned(&r, 0.05, 0, 0, c[0]), q, axis,
      turned(&r, 0.1, 0, 0, p[1]), turned(&r, 0.175, 0, 0, c[1]), q, axis, turned(&r, 0.4, 0, 1, p[2]),
      turned(&r, 0.15, 0, 0, c[2]), q, turned(&r, 0.29872189505317293, 0, 1.2823875802126918, point),
      turned(&r, 0, 1, 0, back));
  for (int k = 0; k < 300; k++) {
    run_steps(straight, 1);
    run_steps(run, 1);
    compare_arrays(sim_state(run->sim)->q, sim_state(straight->sim)->q, 3, 1e-9, "step %d", k);
  }
  assert_true(fabs(sim_state(run->sim)->q[0] - 1.5707963267948966) > 0.5);
  run_free(straight);
  run_free(run);
}

/* A leg of a Stewart platform: its foot and the place on the plate that it holds, on circles of 0.6 and 0.35 m. */
typedef struct {
  Vec3 foot, place; /* place: in the plate's frame */
} Leg;
enum { LEGS = 6 };
#define PLATE_HEIGHT 0.7

static void find_legs(double unit, Leg* legs) {
  for (int k = 0; k < LEGS; k++) {
    const int pair = k / 2;
    double third = 2 * 3.14159265358979323846 / 3 * pair, sign = k % 2 == 0 ? 1 : -1;
    double foot = third + sign * 0.2, place = third + sign * 0.8;
    legs[k].foot = vec3(0.6 * unit * cos(foot), 0.6 * unit * sin(foot), 0);
    legs[k].place = vec3(0.35 * unit * cos(place), 0.35 * unit * sin(place), 0);
  }
}

/* A leg is a cylinder on a universal joint and a rod on a slide. Everything grows with unit, masses with `weigh`. */
static void write_leg(Text* text, int k, const Leg* leg, double unit, double weigh) {
  Vec3 d = vec3_sub(vec3_add(leg->place, vec3(0, 0, PLATE_HEIGHT * unit)), leg->foot), c = vec3_scale(d, 0.25);
  Vec3 across = vec3(-d.y, d.x, 0), other = vec3_cross(d, across);
  double i = 0.01 * weigh * unit * unit;
  text_add(text,
           "  - {name: leg%d, mass: %.17g, center: [%.17g, %.17g, %.17g], inertia: [%.17g, %.17g, %.17g, 0, 0, 0], "
           "joint: {type: universal, axes: [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]], position: [%.17g, %.17g, "
           "0]}}\n",
           k, 0.8 * weigh, c.x, c.y, c.z, i, i, i, across.x, across.y, across.z, other.x, other.y, other.z, leg->foot.x,
           leg->foot.y);
  text_add(
      text,
      "  - {name: rod%d, parent: leg%d, mass: %.17g, center: [%.17g, %.17g, %.17g], inertia: [%.17g, %.17g, %.17g, "
      "0, 0, 0], joint: {type: slide, axis: [%.17g, %.17g, %.17g]}}\n",
      k, k, 0.25 * weigh, 3 * c.x, 3 * c.y, 3 * c.z, 0.5 * i, 0.5 * i, 0.5 * i, d.x, d.y, d.z);
}

static Run* stewart(const Leg* legs, double unit, double weigh, Vec3 push) {
  Text text = {0};
  double beat = sqrt(unit), i = 0.05 * weigh * unit * unit;
  text_add(&text, "simulation: {dt: %.17g, steps: 250, integrator: first_order}\ncontact: {model: none}\nlinks:\n",
           0.002 * beat);
  for (int k = 0; k < LEGS; k++) write_leg(&text, k, &legs[k], unit, weigh);
  text_add(
      &text,
      "  - {name: plate, mass: %.17g, center: [0, 0, 0], inertia: [%.17g, %.17g, %.17g, 0, 0, 0], position: [0, 0, "
      "%.17g]}\nclosures:\n",
      2.2 * weigh, i, i, 2 * i, PLATE_HEIGHT * unit);
  for (int k = 0; k < LEGS; k++)
    text_add(&text, "  - {type: ball, a: rod%d, b: plate, point: [%.17g, %.17g, %.17g]}\n", k, legs[k].place.x,
             legs[k].place.y, PLATE_HEIGHT * unit);
  text_add(&text, "loads:\n  - {link: plate, force: [%.17g, %.17g, %.17g]}\ncontrollers:\n", push.x, push.y, push.z);
  for (int k = 0; k < LEGS; k++)
    text_add(&text,
             "  - {link: rod%d, type: pd, position_gain: %.17g, damping_gain: %.17g, target: {type: sines, terms: "
             "[{amplitude: %.17g, frequency: %.17g}]}}\n",
             k, 1e5 * weigh / unit, 400 * weigh / beat, unit * (k % 2 == 0 ? 0.01 * (k + 1) : -0.01 * k), 1 / beat);
  Run* run = run_create(1, 0, "%s", text.data);
  text_free(&text);
  return run;
}

/* The largest difference of a leg's length from what the plate's pose says, and of what a closure says it is open by,
 * both as parts of the size. */
static double stewart_error(double unit, double weigh, double push, int* iterations) {
  Leg legs[LEGS];
  find_legs(unit, legs);
  Run* run = stewart(legs, unit, weigh, vec3(0.3 * push, 0.2 * push, -push));
  const SimState* s = sim_state(run->sim);
  double worst = 0, turned = 0, begin[LEGS];
  for (int k = 0; k < LEGS; k++)
    begin[k] = vec3_norm(vec3_sub(vec3_add(legs[k].place, vec3(0, 0, PLATE_HEIGHT * unit)), legs[k].foot));
  *iterations = 0;
  for (int step = 0; step < 250; step++) {
    *iterations += run_steps(run, 1).iterations;
    for (int k = 0; k < LEGS; k++) {
      double length = vec3_norm(vec3_sub(pose_apply(s->pose[2 * LEGS], legs[k].place), legs[k].foot));
      double own = begin[k] + s->q[run->model.links[2 * k + 1].coordinate_first];
      worst = fmax(worst, fmax(fabs(length - own), sim_closure(run->sim, k).gap) / unit);
    }
    turned = fmax(turned, 1 - s->pose[2 * LEGS].r.m[2][2]);
  }
  assert_true(turned > 1e-3); /* 0.045 rad and more */
  run_free(run);
  return worst;
}

static void closures_Z3_stewart_at_any_scale(void** state) {
  (void)state;
  static const double units[] = {1, 1e-3, 1e3}, masses[] = {1, 1e-9, 1e6};
  int plain, loaded, other;
  compare_at_most(stewart_error(1, 1, 0, &plain), 1e-8, "leg lengths [part of its size]");
  compare_at_most(stewart_error(1, 1, 100 * 8.5 * 9.81, &loaded), 1e-8, "under 100 times its weight");
  print_message("iterations in 250 steps: %d, loaded %d\n", plain, loaded);
  for (int k = 0; k < 9; k++) {
    double weigh = masses[k / 3];
    compare_at_most(stewart_error(units[k % 3], weigh, 100 * 8.5 * 9.81 * weigh, &other), 1e-8, "of any size and mass");
    assert_true(abs(other - loaded) <= 15); /* the same work */
  }
}

/* ---------------------------------------------------------------- forces */

/* A flat slider-crank that turns on a free base in space, and the same one with its base tumbling by a hair: what the
 * rows across its plane depend on is more than rounding then, and still nothing that moves them. */
static void closures_Z8_a_flat_linkage_on_a_free_base(void** state) {
  (void)state;
  static const char SCENE[] =
      "simulation: {dt: 0.005, steps: 100, gravity: [0, 0, 0], integrator: first_order}\n" FLAT_ON_FREE_BASE(
          "", "[0, 0, 0, %g, 0, %g]", IN_WORLD);
  static const double tumbling[] = {1e-12, 1e-9, 1e-6};
  Run* flat = run_create(1, 1e-12, SCENE, 0.0, 0.0);
  run_steps(flat, 100);
  const double* q = sim_state(flat->sim)->q;
  assert_true(fabs(q[7]) > 0.5);
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 1e-12, SCENE, tumbling[k], -tumbling[k]);
    for (int step = 0; step < 100; step++) {
      run_steps(run, 1);
      compare_at_most(vec3_norm(sim_closure(run->sim, 0).force), 10, "force at step %d, tumbling by %g", step,
                      tumbling[k]);
    }
    for (int i = 7; i < 10; i++) compare_near(sim_state(run->sim)->q[i], q[i], 1e-9 + tumbling[k], "joint %d", i);
    run_free(run);
  }
  run_free(flat);
}

/* A closure's frame is given in world axes at the start, or in the frame of a. In the frame of a it moves with the
 * mechanism's initial pose. Without gravity another pose of the base then changes nothing. */
static void closures_Z1_axes_of_a_link(void** state) {
  (void)state;
  static const char WORLD[] =
      "simulation: {dt: 0.005, steps: 60, gravity: [0, 0, 0], integrator: first_order}\n" FLAT_ON_FREE_BASE("", "[%s]",
                                                                                                            IN_WORLD);
  static const char ROD[] =
      "simulation: {dt: 0.005, steps: 60, gravity: [0, 0, 0], integrator: first_order}\n" FLAT_ON_FREE_BASE("", "[%s]",
                                                                                                            IN_ROD);
  static const char REST[] = "0, 0, 0, 0, 0, 0",
                    MOVED[] = "0, 0, 0, 0, 0, 0], coordinates: [0.3, -1, 2, 0.6, 0, 0.48, 0.64";
  Run* runs[3] = {run_create(1, 1e-12, WORLD, REST), run_create(1, 1e-12, ROD, REST), run_create(1, 1e-12, ROD, MOVED)};
  for (int k = 0; k < 3; k++) {
    run_steps(runs[k], 60);
    const double *q = sim_state(runs[k]->sim)->q + 7, *first = sim_state(runs[0]->sim)->q + 7;
    compare_at_most(sim_closure(runs[k]->sim, 0).angle, 1e-9, "angle of %d", k);
    for (int i = 0; i < 3; i++) compare_near(q[i], first[i], 1e-9, "joint %d of %d", i, k);
  }
  assert_true(fabs(sim_state(runs[0]->sim)->q[7]) > 0.5);
  for (int k = 0; k < 3; k++) run_free(runs[k]);
}

/* A beam of 2 kg on a hinge at one end and a closure at the other: half its weight each, whatever the closure's type,
 * and though a hinge says more than needs be said. */
static void closures_Z3_forces(void** state) {
  (void)state;
  static const char* const types[] = {"ball, point: [1, 0, 0]", "hinge, point: [1, 0, 0], axis: [0, 1, 0]",
                                      "distance, point: [1, 0, 0], axis: [0, 0, 1], length: 2"};
  for (int k = 0; k < 3; k++) {
    Run* run =
        run_create(1, 1e-10,
                   "simulation: {dt: 0.01, steps: 5, gravity: [0, 0, -10], output: [forces], integrator: first_order}\n"
                   "contact: {model: none}\n"
                   "links:\n"
                   "  - {name: beam, mass: 2, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: box, size: "
                   "[1, 0.1, 0.1], position: [0.5, 0, 0]}]}\n"
                   "closures:\n"
                   "  - {type: %s, a: beam}\n",
                   types[k]);
    run_steps(run, 3);
    SimClosure c = sim_closure(run->sim, 0);
    compare_near(c.force.z, 10, 1e-7, "half the weight");
    compare_near(sim_joint_forces(run->sim)[JOINT_FORCE_CLOSURE], -10, 1e-7, "its torque about the hinge");
    assert_false(c.broken);
    compare_at_most(c.gap, 1e-9, "gap");
    compare_at_most(vec3_norm(sim_state(run->sim)->center[0]) - 0.5, 1e-9, "at rest");
    run_free(run);
  }
}

/* Balls have no curvature: their trees stay components of their own in the matrix, and what one of them asks for all
 * get that hang together, through others too. A string of two and one of three of six free bodies, and one alone. */
static void closures_Z3_clusters(void** state) {
  (void)state;
  static const bool together[6][6] = {
      {true, true, false, true, false, false},   {true, true, false, true, false, false},
      {false, false, true, false, false, false}, {true, true, false, true, false, false},
      {false, false, false, false, true, true},  {false, false, false, false, true, true}};
  Run* run =
      run_create(1, 1e-10,
                 "simulation: {dt: 0.01, steps: 5, integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "shapes: {box: {type: box, size: [0.5, 0.1, 0.1]}}\n"
                 "links:\n"
                 "  - {name: a, mass: 1, shape: box, position: [0, 0, 0]}\n"
                 "  - {name: b, mass: 1, shape: box, position: [2, 0, 0]}\n"
                 "  - {name: alone, mass: 1, shape: box, position: [0, 3, 0]}\n"
                 "  - {name: c, mass: 1, shape: box, position: [1, 0, 0]}\n"
                 "  - {name: d, mass: 1, shape: box, position: [0, 5, 0]}\n"
                 "  - {name: e, mass: 1, shape: box, position: [1, 5, 0]}\n"
                 "closures:\n"
                 "  - {type: ball, a: c, b: b, point: [1.5, 0, 0]}\n"
                 "  - {type: ball, a: a, b: c, point: [0.5, 0, 0]}\n"
                 "  - {type: ball, a: e, b: d, point: [0.5, 5, 0]}\n"
                 "initial: [{link: a, velocities: [0, 1, 0, 0, 0, 3]}, {link: d, velocities: [0, 0, 0, 0, 2, 0]}]\n");
  Sim* s = run->sim;
  run_steps(run, 3);
  assert_int_equal(block_solver_component_count(s->solver), 6);
  for (int k = 0; k < 6; k++) {
    bool marked[6] = {false};
    marked[block_solver_component_of(s->solver, k)] = true;
    closures_mark_connected(s->closures, s->solver, marked);
    for (int other = 0; other < 6; other++)
      assert_int_equal(marked[block_solver_component_of(s->solver, other)], together[k][other]);
  }
  for (int k = 0; k < 3; k++) compare_at_most(sim_closure(s, k).gap, 1e-9, "gap %d", k);
  run_free(run);
}

/* A torque that turns a body far in a step bends the objective down along motions that open the loop: minima of the
 * closed loop are none without it, and Newton's method has to see them as what they are. */
static void closures_Z3_second_order_where_a_torque_turns_far(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.15, steps: 4, gravity: [0, 0, 0], tolerance: 1.0e-12, integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: rotor, mass: 3, mass_model: uniform, shape: {type: box, size: [0.4, 0.5, 1.2]}}\n"
      "  - {name: blade, mass: 1, mass_model: uniform, shape: {type: box, size: [0.3, 0.4, 0.3]}, position: [2, 1, "
      "0]}\n"
      "closures: [{type: hinge, a: rotor, b: blade, axes: link, point: [0, 0.4, 0.3], axis: [0, 1, 0.2]}]\n"
      "loads: [{link: rotor, axes: link, torque: [4, 8, -6]}]\n";
  Run* run = run_create(1, 0, "%s", scene);
  for (int k = 0; k < 4; k++) {
    StepReport report = run_steps(run, 1);
    assert_int_equal(report.outcome, STEP_CONVERGED);
    assert_in_range(report.iterations, 1, 8); /* at first order from 22 to 208 */
  }
  run_free(run);
}

/* A bob of 1 kg hangs on a rope. The pull grows by 100 N/s, so weight and pull reach 15.03 N at 0.0503 s. Each step of
 * `first_order` has the mean pull, which is the pull half a dt earlier. The rope breaks one and a half dt later than
 * 0.0503 s, and the bob falls. */
static void closures_Z5_Z21_breaks(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-10,
                 "simulation: {dt: 0.001, steps: 100, gravity: [0, 0, -10], integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: bob, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: "
                 "[0, 0, 1]}}\n"
                 "closures:\n"
                 "  - {type: distance, a: bob, point: [0, 0, 0], axis: [0, 0, 1], length: 1, break_force: 15.03}\n"
                 "loads:\n"
                 "  - {link: bob, force: {type: keyframes, times: [0, 1], values: [[0, 0, 0], [0, 0, -100]]}}\n");
  run_steps(run, 50);
  assert_false(sim_closure(run->sim, 0).broken);
  compare_at_most(fabs(sim_state(run->sim)->q[0]), 1e-12, "it hangs");
  SimSnapshot* before = sim_save(run->sim);
  run_steps(run, 10);
  SimClosure c = sim_closure(run->sim, 0);
  assert_true(c.broken);
  compare_near(c.broken_at, 0.0518, 1e-10, "when it breaks");
  double fallen = sim_state(run->sim)->q[0], expected = 0, speed = 0, t = 0.0518, last = 0.0008;
  for (int k = 0; k < 9; k++) { /* sum of the scheme: 0.2 of a step, then steps (S15) */
    double dt = k == 0 ? 0.0002 : 0.001, middle = k < 2 ? t + 0.25 * (dt - last) : t + 0.5 * dt; /* of the span (L98) */
    speed -= 0.5 * (dt + last) * (10 + 100 * middle);
    t += dt;
    expected += speed * dt;
    last = dt;
  }
  compare_near(fallen, expected, 1e-10, "it falls");
  sim_restore(run->sim, before); /* and once more, to the bit */
  assert_false(sim_closure(run->sim, 0).broken);
  run_steps(run, 10);
  assert_true(sim_state(run->sim)->q[0] == fallen);
  sim_snapshot_destroy(before);
  run_free(run);
}

/* A slide that is driven along x cannot stay at its distance from a point beyond. */
static void closures_cannot_close(void** state) {
  (void)state;
  Run* run =
      run_create(1, 0,
                 "simulation: {dt: 0.01, steps: 20, integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: driven, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, "
                 "axis: [1, 0, 0]}}\n"
                 "  - {name: arm, mass: 1, parent: driven, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: "
                 "box, size: [0.4, 0.1, 0.1], position: [0.2, 0, 0]}]}\n"
                 "closures:\n"
                 "  - {type: ball, a: arm, point: [0.4, 0, 0]}\n"
                 "controllers:\n"
                 "  - {link: driven, type: prescribed, target: {type: keyframes, times: [0, 1], values: [[0], "
                 "[-1]]}}\n");
  StepReport report = sim_step(run->sim);
  assert_int_equal(report.outcome, STEP_CLOSURE_OPEN);
  assert_int_equal(report.open_closure, 0);
  Text text = {0};
  sim_failure_text(&text, &run->model, run->sim, &report);
  assert_non_null(strstr(text.data, "the ball of 'arm' and 'world' stays open by"));
  text_free(&text);
  run_free(run);
}

/* Two universal joints in line move the point by a lever of 9 mm only. The loop would need large rotations for a small
 * displacement. It cannot close, and this is reported after a few iterations. */
static void closures_stall(void** state) {
  (void)state;
  Run* run = run_create(
      1, 0,
      "simulation: {dt: 0.1, steps: 3, gravity: [0, 0, 0], integrator: first_order}\n"
      "contact: {model: none}\n"
      "shapes: {box: {type: box, size: [0.2, 0.2, 0.2]}}\n"
      "links:\n"
      "  - {name: base, mass: 1, shape: box}\n"
      "  - {name: driven, parent: base, mass: 1, shape: box, joint: {type: ball, position: [0.2434, 0, 0]}}\n"
      "  - {name: upper, parent: base, mass: 1, shape: box, joint: {type: universal, axes: [[1, 0, 0], "
      "[0, 1, 0]], position: [-0.2434, 0, 0]}}\n"
      "  - {name: lower, parent: upper, mass: 1, shape: box, joint: {type: universal, axes: [[1, 0, 0], "
      "[0, 1, 0]], position: [-0.537, 0, 0]}}\n"
      "controllers:\n"
      "  - {link: driven, type: prescribed, target: {type: keyframes, times: [0, 1.2228], values: "
      "[[0, 0, 0], [0.0082, 0.0666, -0.0832]]}}\n"
      "closures:\n"
      "  - {type: ball, a: driven, b: lower, axes: link, point: [0.1896, -0.6349, 0.0094]}\n");
  StepReport report = sim_step(run->sim);
  assert_int_equal(report.outcome, STEP_CLOSURE_OPEN);
  assert_int_equal(report.open_closure, 0);
  assert_true(report.iterations < run->model.simulation.max_iterations);
  run_free(run);
}

/* A wheel of 2 kg m^2 drives one of 3 kg m^2 by a gear of -1/2 with a torque of 6 N m, and a rack of 5 kg on a pinion
 * of 0.2 m: all go as one inertia, 2 + 3/4 + 5 0.2^2, from the first wheel's side. */
static void closures_Z7_gear_and_rack(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-10,
      "simulation: {dt: 0.001, steps: 100, gravity: [0, 0, 0], integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: first, mass: 1, center: [0, 0, 0], inertia: [2, 2, 2, 0, 0, 0], joint: {type: hinge, axis: [0, "
      "0, 1]}}\n"
      "  - {name: second, mass: 1, center: [0, 0, 0], inertia: [3, 3, 3, 0, 0, 0], joint: {type: hinge, axis: [0, "
      "0, 1], position: [1, 0, 0]}}\n"
      "  - {name: rack, mass: 5, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, axis: [1, "
      "0, 0], position: [0, 1, 0]}}\n"
      "couplings:\n"
      "  - {link: second, of: first, ratio: -0.5}\n"
      "  - {link: rack, of: first, ratio: 0.2}\n"
      "controllers:\n"
      "  - {link: first, type: torque, target: 6}\n");
  run_steps(run, 100);
  const double* q = sim_state(run->sim)->q;
  double inertia = 2 + 3.0 / 4 + 5 * 0.04, wanted = 6 / inertia * 1e-6 * (100 * 101 / 2.0); /* sum of the scheme */
  compare_near(q[0], wanted, 2e-3 * wanted, "turn"); /* turns by small angles a step: the scheme's own error */
  compare_near(q[1], -0.5 * q[0], 1e-10, "gear");
  compare_near(q[2], 0.2 * q[0], 1e-10, "rack");
  run_free(run);
}

/* ---------------------------------------------------------------- the begin of a step */

static void note_cubic(ClosureSystem* c, int step) {
  double x = step, way[3] = {1 + x - 0.5 * x * x + 0.25 * x * x * x, 2 - x * x, 0.3 * x};
  closures_store_increments(c, way, true);
}

static void closures_Z10_foretell_polynomials(void** state) {
  (void)state;
  Run* run = run_create(1, 0, FOUR_BAR, "second_order");
  ClosureSystem* c = run->sim->closures;
  double way[3] = {7, 7, 7}, bent[3] = {1, 2, 3};
  closures_store_increments(c, bent, true);
  closures_extrapolate(c, way);
  compare_near(way[0], 7, 0, "one step foretells nothing");
  closures_store_increments(c, bent, false); /* of another length: what was before does not count */
  closures_extrapolate(c, way);
  compare_near(way[0], 7, 0, "nor does one of another length");
  for (int step = 0; step < 3; step++) note_cubic(c, step);
  note_cubic(c, 3);
  closures_extrapolate(c, way);
  compare_near(way[0], 1 + 4 - 8 + 16, 1e-12, "cubic");
  compare_near(way[1], 2 - 16, 1e-12, "parabola");
  compare_near(way[2], 1.2, 1e-12, "line");
  run_free(run);
}

/* Coordinates of a linkage after 300 steps. */
static int iterations_of_scene(const char* scene, double tolerance, double q[3]) {
  Run* run = run_create(1, 0, scene, "second_order");
  run->model.simulation.dt = 2e-3;
  sim_destroy(run->sim);
  SimOptions options = {.threads = 1, .tolerance = tolerance};
  assert_int_equal(sim_create(&run->sim, &run->model, &options, &run->diagnostics), STATUS_OK);
  int iterations = 0;
  for (int k = 0; k < 300; k++) {
    StepReport report = sim_step(run->sim);
    assert_int_equal(report.outcome, STEP_CONVERGED);
    iterations += report.iterations;
  }
  memcpy(q, sim_state(run->sim)->q, 3 * sizeof(double));
  run_free(run);
  return iterations;
}

/* One iteration a step, and as near to the solution as the tolerance promises and better. */
static void closures_Z10_one_iteration(void** state) {
  (void)state;
  double q[3], exact[3];
  int iterations = iterations_of_scene(FOUR_BAR, 1e-5, q);
  (void)iterations_of_scene(FOUR_BAR, 1e-11, exact);
  print_message("%d iterations in 300 steps, %.2g rad off\n", iterations, fabs(q[0] - exact[0]));
  assert_in_range(iterations, 290, 310);
  for (int k = 0; k < 3; k++) compare_near(q[k], exact[k], 5e-5, "coordinate");
}

/* The prediction is the same in another plane, and with a prescribed crank. */
#define TURNED                                                                                                        \
  "simulation: {dt: 0.002, steps: 500, integrator: %s}\n"                                                             \
  "contact: {model: none}\n"                                                                                          \
  "links:\n"                                                                                                          \
  "  - {name: base, fixed: true, rotation_vector: [0, 0, 0.5], shape: {type: box, size: [0.1, 0.1, 0.1]}}\n"          \
  "  - {name: crank, parent: base, mass: 0.2, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], position: " \
  "[0, 0, 1]}, shapes: [{type: box, size: [0.1, 0.02, 0.02], position: [0.05, 0, 0]}]}\n"                             \
  "  - {name: coupler, parent: crank, mass: 0.7, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], "        \
  "position: [0.1, 0, 0]}, shapes: [{type: box, size: [0.35, 0.02, 0.02], position: [0.175, 0, 0]}]}\n"               \
  "  - {name: rocker, parent: base, mass: 0.6, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], "          \
  "position: [0.4, 0, 1]}, shapes: [{type: box, size: [0.3, 0.02, 0.02], position: [0.15, 0, 0]}]}\n"                 \
  "closures:\n"                                                                                                       \
  "  - {type: hinge, a: coupler, b: rocker, point: [0.2621531259535106, 0.14321490542873563, 1.2823875802126918], "   \
  "axis: [-0.479425538604203, 0.8775825618903728, 0]}\n"                                                              \
  "initial:\n"                                                                                                        \
  "  - {link: coupler, coordinates: [-1.0226484275561756]}\n"                                                         \
  "  - {link: rocker, coordinates: [1.9151556505110297]}\n"

static void closures_Z10_in_any_plane_and_driven(void** state) {
  (void)state;
  double q[3], turned[3];
  (void)iterations_of_scene(FOUR_BAR, 1e-9, q);
  (void)iterations_of_scene(TURNED "  - {link: crank, coordinates: [1.5707963267948966]}\n", 1e-9, turned);
  for (int k = 0; k < 3; k++) compare_near(turned[k], q[k], 1e-8, "coordinate");
  int iterations = iterations_of_scene(TURNED "  - {link: crank, coordinates: [1.5707963267948966]}\n", 1e-5, turned);
  int driven = iterations_of_scene(TURNED
                                   "  - {link: crank, velocities: [2]}\n"
                                   "controllers: [{link: crank, type: prescribed, target: {type: keyframes, "
                                   "times: [0, 1], values: [1.5707963267948966, 3.5707963267948966]}}]\n",
                                   1e-5, q);
  print_message("%d and %d iterations in 300 steps\n", iterations, driven);
  assert_in_range(iterations, 290, 310);
  assert_in_range(driven, 290, 320);
  compare_near(q[0], 1.5707963267948966 + 2 * 0.6, 1e-12, "crank");
}

/* The prediction is part of the state. A run resumed from a snapshot is bit-identical to an uninterrupted one. */
static void closures_Z10_state(void** state) {
  (void)state;
  Run* run = run_create(1, 0, FOUR_BAR, "second_order");
  double q[2][3];
  run_steps(run, 40);
  SimSnapshot* middle = sim_save(run->sim);
  for (int k = 0; k < 2; k++) {
    sim_restore(run->sim, middle);
    run_steps(run, 40);
    memcpy(q[k], sim_state(run->sim)->q, sizeof(q[k]));
  }
  assert_memory_equal(q[0], q[1], sizeof(q[0]));
  sim_snapshot_destroy(middle);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closures_Z2_Z4_derivatives),
      cmocka_unit_test(closures_Z1_four_bar),
      cmocka_unit_test(closures_Z3_slider_crank_at_any_scale),
      cmocka_unit_test(closures_Z3_a_linkage_askew),
      cmocka_unit_test(closures_Z3_stewart_at_any_scale),
      cmocka_unit_test(closures_Z8_a_flat_linkage_on_a_free_base),
      cmocka_unit_test(closures_Z1_axes_of_a_link),
      cmocka_unit_test(closures_Z3_forces),
      cmocka_unit_test(closures_Z3_clusters),
      cmocka_unit_test(closures_Z3_second_order_where_a_torque_turns_far),
      cmocka_unit_test(closures_Z5_Z21_breaks),
      cmocka_unit_test(closures_Z7_gear_and_rack),
      cmocka_unit_test(closures_cannot_close),
      cmocka_unit_test(closures_stall),
      cmocka_unit_test(closures_Z10_foretell_polynomials),
      cmocka_unit_test(closures_Z10_one_iteration),
      cmocka_unit_test(closures_Z10_in_any_plane_and_driven),
      cmocka_unit_test(closures_Z10_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
