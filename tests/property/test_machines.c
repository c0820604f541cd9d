/* Tests mechanisms with loops against closed forms, under a hundred times their weight and with every integrator. The
 * mechanisms are a Peaucellier linkage, a scissor lift, and a body on each closure type. Drive forces are checked on a
 * lift and on a gripper. */
#include "simulate/sim.h"
#include "support/runs.h"

static const double GRAVITY = 9.81;
static const char* const INTEGRATORS[] = {"first_order", "second_order", "momentum"};
/* What is promised of gaps [m] and angles [rad]; asked for is 1e-6. */
#define HELD 1e-8

static void expect_held(const Run* run, const char* machine, const char* integrator) {
  for (int k = 0; k < run->model.closure_count; k++) {
    SimClosure c = sim_closure(run->sim, k);
    assert_false(c.broken);
    compare_at_most(c.gap, HELD, "%s, %s: gap of closure %d [m]", machine, integrator, k);
    compare_at_most(c.angle, HELD, "%s, %s: angle of closure %d [rad]", machine, integrator, k);
  }
}

/* ---------------------------------------------------------------- Peaucellier
 * Arms of 0.5 m from O, a rhombus of sides 0.2 m, a crank of 0.2 m about K = (0.2, 0) that ends in C: C runs on a
 * circle through O, |OC| |OP| = 0.5^2 - 0.2^2, so P runs along x = 0.21 / 0.4. */

typedef struct {
  double x, z;
} Point;

static double heading(Point from, Point to) { return atan2(to.z - from.z, to.x - from.x); }

static Run* peaucellier(const char* integrator) {
  const double arm = 0.5, side = 0.2, crank = 0.2, phi = 0.4;
  Point o = {0, 0}, c = {crank + crank * cos(phi), crank * sin(phi)};
  double r = hypot(c.x, c.z), along = (arm * arm - side * side + r * r) / (2 * r),
         off = sqrt(arm * arm - along * along);
  double out = (arm * arm - side * side) / r, ux = c.x / r, uz = c.z / r;
  Point a = {along * ux - off * uz, along * uz + off * ux}, b = {along * ux + off * uz, along * uz - off * ux};
  Point p = {out * ux, out * uz};
  double to_a = heading(o, a), to_b = heading(o, b);
  return run_create(
      1, 0,
      "simulation: {dt: 0.002, steps: 100, integrator: %s}\n"
      "contact: {model: none}\n"
      "shapes: {arm: {type: box, size: [0.5, 0.02, 0.02]}, side: {type: box, size: [0.2, 0.02, 0.02]}}\n"
      "links:\n"
      "  - {name: a, mass: 0.1, joint: &pin {type: hinge, axis: [0, -1, 0]}, shapes: &arm [{shape: arm, position: "
      "[0.25, 0, 0]}]}\n"
      "  - {name: b, mass: 0.1, joint: *pin, shapes: *arm}\n"
      "  - {name: crank, mass: 0.1, joint: {type: hinge, axis: [0, -1, 0], position: [0.2, 0, 0]}, shapes: &side "
      "[{shape: side, position: [0.1, 0, 0]}]}\n"
      "  - {name: ap, parent: a, mass: 0.1, joint: &far {type: hinge, axis: [0, -1, 0], position: [0.5, 0, 0]}, "
      "shapes: *side}\n"
      "  - {name: bp, parent: b, mass: 0.1, joint: *far, shapes: *side}\n"
      "  - {name: ca, parent: crank, mass: 0.1, joint: &end {type: hinge, axis: [0, -1, 0], position: [0.2, 0, 0]}, "
      "shapes: *side}\n"
      "  - {name: cb, parent: crank, mass: 0.1, joint: *end, shapes: *side}\n"
      "closures:\n"
      "  - {type: hinge, a: ca, b: a, point: [%.17g, 0, %.17g], axis: [0, 1, 0]}\n"
      "  - {type: hinge, a: cb, b: b, point: [%.17g, 0, %.17g], axis: [0, 1, 0]}\n"
      "  - {type: hinge, a: ap, b: bp, point: [%.17g, 0, %.17g], axis: [0, 1, 0]}\n"
      "loads: [{link: ap, force: [%.17g, 0, 0], point: [0.2, 0, 0]}]\n" /* across the line: it does no work */
      "initial:\n"
      "  - {link: a, coordinates: [%.17g]}\n  - {link: b, coordinates: [%.17g]}\n  - {link: crank, coordinates: "
      "[0.4]}\n"
      "  - {link: ap, coordinates: [%.17g]}\n  - {link: bp, coordinates: [%.17g]}\n"
      "  - {link: ca, coordinates: [%.17g]}\n  - {link: cb, coordinates: [%.17g]}\n",
      integrator, a.x, a.z, b.x, b.z, p.x, p.z, 100 * 0.7 * GRAVITY, to_a, to_b, heading(a, p) - to_a,
      heading(b, p) - to_b, heading(c, a) - phi, heading(c, b) - phi);
}

static void a_peaucellier_linkage_draws_a_straight_line(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    Run* run = peaucellier(INTEGRATORS[i]);
    double low = INFINITY, high = -INFINITY;
    for (int step = 0; step < 100; step++) {
      run_steps(run, 1);
      Vec3 pen = pose_apply(sim_state(run->sim)->pose[3], vec3(0.2, 0, 0));
      compare_near(pen.x, 0.21 / 0.4, HELD, "the line, %s, step %d", INTEGRATORS[i], step);
      low = fmin(low, pen.z);
      high = fmax(high, pen.z);
      expect_held(run, "Peaucellier", INTEGRATORS[i]);
    }
    assert_true(high - low > 0.1); /* it moves along it */
    run_free(run);
  }
}

/* ---------------------------------------------------------------- a scissor lift
 * Four pairs of bars of 0.5 m, crossing in their middles; the foot of one bar rolls at c, the top is at
 * 4 sqrt(0.25 - c^2). */

static void add_stage(Text* links, Text* closures, Text* initial, int i, double turn) {
  text_add(
      links,
      "  - {name: a%d, %smass: 0.25, joint: {type: hinge, axis: [0, -1, 0], position: [%s, 0, 0]}, shapes: *bar}\n", i,
      i == 0   ? ""
      : i == 1 ? "parent: b0, "
      : i == 2 ? "parent: b1, "
               : "parent: b2, ",
      i == 0 ? "0" : "0.5");
  text_add(
      links,
      "  - {name: b%d, %smass: 0.25, joint: {type: hinge, axis: [0, -1, 0], position: [%s, 0, 0]}, shapes: *bar}\n", i,
      i == 0   ? "parent: roller, "
      : i == 1 ? "parent: a0, "
      : i == 2 ? "parent: a1, "
               : "parent: a2, ",
      i == 0 ? "0" : "0.5");
  text_add(closures, "  - {type: hinge, a: a%d, b: b%d, point: [0.2, 0, %.17g], axis: [0, 1, 0]}\n", i, i,
           0.3 * (i + 0.5));
  text_add(initial, "  - {link: a%d, coordinates: [%.17g]}\n  - {link: b%d, coordinates: [%.17g]}\n", i,
           i == 0 ? turn : 2 * turn - M_PI, i, i == 0 ? M_PI - turn : M_PI - 2 * turn);
}

static Run* scissor_lift(const char* integrator) {
  Text links = {0}, closures = {0}, initial = {0};
  for (int i = 0; i < 4; i++) add_stage(&links, &closures, &initial, i, acos(0.8));
  double load = 0.5 * 100 * 8 * 0.25 * GRAVITY;
  Run* run = run_create(
      1, 0,
      "simulation: {dt: 0.002, steps: 100, integrator: %s}\n"
      "contact: {model: none}\n"
      "shapes: {bar: {type: box, size: [0.5, 0.02, 0.02]}}\n"
      "links:\n"
      "  - {name: roller, mass: 0.1, joint: {type: slide, axis: [1, 0, 0]}, shapes: &bar [{shape: bar, position: "
      "[0.25, "
      "0, 0]}]}\n"
      "%s"
      "controllers:\n"
      "  - {link: roller, type: prescribed, target: {type: sines, offset: 0.4, terms: [{amplitude: 0.06, frequency: "
      "2}]}}\n"
      "loads:\n"
      "  - {link: a3, force: [0, 0, %.17g], point: [0.5, 0, 0]}\n"
      "  - {link: b3, force: [0, 0, %.17g], point: [0.5, 0, 0]}\n"
      "closures:\n%s"
      "initial:\n%s",
      integrator, links.data, -load, -load, closures.data, initial.data);
  text_free(&links);
  text_free(&closures);
  text_free(&initial);
  return run;
}

static void a_scissor_lift_rises_by_its_closed_form(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    Run* run = scissor_lift(INTEGRATORS[i]);
    for (int step = 1; step <= 100; step++) {
      run_steps(run, 1);
      double c = 0.4 + 0.06 * sin(2 * M_PI * 2 * 0.002 * step), height = 4 * sqrt(0.25 - c * c);
      for (int side = 0; side < 2; side++) {
        Vec3 top = pose_apply(sim_state(run->sim)->pose[7 + side], vec3(0.5, 0, 0));
        compare_near(top.z, height, 5 * HELD, "height of top %d, %s, step %d", side, INTEGRATORS[i], step);
        compare_near(top.x, side == 0 ? c : 0, 5 * HELD, "place of top %d, %s, step %d", side, INTEGRATORS[i], step);
      }
      expect_held(run, "scissor lift", INTEGRATORS[i]);
    }
    run_free(run);
  }
}

/* ---------------------------------------------------------------- every type */

static void every_type_holds_a_hundred_times_the_weight(void** state) {
  (void)state;
  static const char* const types[] = {"weld, a: body, point: [0.2, 0, 0]", "ball, a: body, point: [0.2, 0.05, 0.1]",
                                      "hinge, a: body, point: [0.2, 0, 0], axis: [0.3, 1, 0.2]",
                                      "slide, a: body, point: [0, 0, 0], axis: [1, 0.1, 0]",
                                      "distance, a: body, point: [0.2, 0, 0], axis: [0, 0.2, 1], length: 0.5"};
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 3; i++) {
      Run* run = run_create(
          1, 0,
          "simulation: {dt: 0.002, steps: 50, integrator: %s}\n"
          "contact: {model: none}\n"
          "links: [{name: body, mass: 2, shape: {type: box, size: [0.4, 0.2, 0.1]}}]\n"
          "loads: [{link: body, force: [700, -1200, -1400], torque: [100, 150, -120]}]\n" /* 1970 N of 19.6 N */
          "closures: [{type: %s}]\n",
          INTEGRATORS[i], types[k]);
      for (int step = 0; step < 50; step++) {
        run_steps(run, 1);
        expect_held(run, types[k], INTEGRATORS[i]);
      }
      run_free(run);
    }
}

/* ---------------------------------------------------------------- forces of drives */

/* A lift of one stage: bars of 0.4 m and 0.3 kg that cross at their middles, the one on a pin, the other on a slider
 * that a stiff drive holds; on the upper left end a plate of 5 kg that a coupling keeps level. By virtual work the
 * slider bears cot(t) g (0.3 + 5) when the bars stand at t (0.3: two bars at half the height). */
static void a_lift_s_weight_at_its_slider(void** state) {
  (void)state;
  const double start = 0.5, pi = acos(-1.0), length = 0.4, stiffness = 2e5;
  for (int i = 0; i < 2; i++) {
    Run* run = run_create(
        1, 1e-9,
        "simulation: {dt: 0.002, steps: 500, integrator: %s}\n"
        "contact: {model: none}\n"
        "links:\n"
        "  - {name: up, mass: 0.3, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0]}, shapes: [{type: box, "
        "size: [0.4, 0.02, 0.02], position: [0.2, 0, 0]}]}\n"
        "  - {name: across, parent: up, mass: 0.3, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], "
        "position: [0.2, 0, 0]}, shapes: [{type: box, size: [0.4, 0.02, 0.02]}]}\n"
        "  - {name: plate, parent: across, mass: 5, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], "
        "position: [0.2, 0, 0]}, shapes: [{type: box, size: [0.5, 0.1, 0.02], position: [0.2, 0, 0]}]}\n"
        "  - {name: slider, mass: 0.2, mass_model: uniform, joint: {type: slide, axis: [1, 0, 0], position: [%.17g, 0, "
        "0]}, shape: {type: box, size: [0.05, 0.05, 0.05]}}\n"
        "closures:\n  - {type: hinge, a: across, b: slider, point: [%.17g, 0, 0], axis: [0, 1, 0]}\n"
        "couplings:\n  - {link: plate, terms: [{link: up, ratio: -1}, {link: across, ratio: -1}]}\n"
        "controllers:\n  - {link: slider, type: pd, target: 0, position_gain: %.17g, damping_gain: 4000}\n"
        "initial:\n  - {link: up, coordinates: [%.17g]}\n  - {link: across, coordinates: [%.17g]}\n"
        "  - {link: plate, coordinates: [%.17g]}\n",
        INTEGRATORS[i], length * cos(start), length * cos(start), stiffness, start, pi - 2 * start, start - pi);
    run_steps(run, 500);
    const double* q = sim_state(run->sim)->q;
    double wanted = (0.3 + 5) * GRAVITY / tan(q[0]);
    compare_near(q[0] + q[1] + q[2], 0, 1e-9, "the plate is level");
    compare_near(q[3], length * (cos(q[0]) - cos(start)), HELD, "the slider is where the bars put it");
    compare_relative(stiffness * q[3], wanted, 1e-4, "force of the drive, %s", INTEGRATORS[i]);
    expect_held(run, "lift", INTEGRATORS[i]);
    run_free(run);
  }
}

/* Two fingers are on racks of one pinion of radius r. The motor stalls while the fingers hold a box. Each finger
 * applies max_force / 2r, and the box stays centred. */
static void a_gripper_presses_with_its_motor(void** state) {
  (void)state;
  Run* run = run_create(
      1, 0,
      "simulation: {dt: 0.002, steps: 250, integrator: first_order}\n"
      "contact: {friction: 0.8}\n"
      "shapes: {pad: {type: box, size: [0.02, 0.06, 0.08]}}\n"
      "links:\n"
      "  - {name: pinion, mass: 0.1, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.6]}, shape: {type: "
      "cylinder, radius: 0.02, length: 0.02, segments: 12}}\n"
      "  - {name: left, mass: 0.2, joint: {type: slide, axis: [1, 0, 0], position: [-0.08, 0, 0.4]}, shape: pad}\n"
      "  - {name: right, mass: 0.2, joint: {type: slide, axis: [1, 0, 0], position: [0.08, 0, 0.4]}, shape: pad}\n"
      "  - {name: box, mass: 0.3, position: [0.01, 0, 0.4], shape: {type: box, size: [0.1, 0.05, 0.05]}}\n"
      "couplings:\n  - {link: left, of: pinion, ratio: 0.02}\n  - {link: right, of: pinion, ratio: -0.02}\n"
      "controllers:\n  - {link: pinion, type: pd, target: 3, position_gain: 5, damping_gain: 0.05, max_force: 0.4}\n");
  run_steps(run, 250);
  Vec3 felt[4];
  sim_link_forces(run->sim, felt);
  const SimState* now = sim_state(run->sim);
  compare_relative(felt[2].x, 0.4 / (2 * 0.02), 1e-3, "right finger is pushed outwards [N]");
  compare_relative(-felt[1].x, 0.4 / (2 * 0.02), 1e-3, "left");
  compare_relative(felt[3].z, 0.3 * GRAVITY, 1e-2, "friction bears the box [N]");
  compare_near(now->pose[3].t.x, 0, 1e-4, "the box is centred");
  compare_near(now->q[2], -now->q[1], 1e-10, "both fingers");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_peaucellier_linkage_draws_a_straight_line),
                                     cmocka_unit_test(a_scissor_lift_rises_by_its_closed_form),
                                     cmocka_unit_test(a_lift_s_weight_at_its_slider),
                                     cmocka_unit_test(a_gripper_presses_with_its_motor),
                                     cmocka_unit_test(every_type_holds_a_hundred_times_the_weight)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
