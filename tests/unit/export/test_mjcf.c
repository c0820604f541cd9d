#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "export/export.h"
#include "support/runs.h"

typedef struct {
  Run* run;
  Text xml, controls, feedback;
  Diagnostics notes;
} Export;

static Export export_text(const char* scene) {
  Export e = {.run = run_model("%s", scene)};
  export_mjcf(&e.run->model, "x.xml", &e.xml, &e.controls, &e.feedback, &e.notes);
  return e;
}

static void export_free(Export* e) {
  text_free(&e->xml);
  text_free(&e->controls);
  text_free(&e->feedback);
  diagnostics_free(&e->notes);
  run_free(e->run);
}

static void expect_in(const Export* e, const char* piece) {
  if (!strstr(e->xml.data, piece)) fail_msg("no '%s' in\n%s", piece, e->xml.data);
}

static void expect_not_in(const Export* e, const char* piece) {
  if (strstr(e->xml.data, piece)) fail_msg("'%s' in\n%s", piece, e->xml.data);
}

/* Numbers of an attribute of the first element that begins with `element`. */
static int numbers_of(const Export* e, const char* element, const char* key, double* values, int most) {
  const char* place = strstr(e->xml.data, element);
  assert_non_null(place);
  place = strstr(place, key);
  assert_non_null(place);
  place = strchr(place, '"') + 1;
  int count = 0;
  for (char* end; count < most && *place != '"'; place = end) values[count++] = strtod(place, &end);
  return count;
}

/* The inertia of a uniform box about its centre is m/12 (b^2 + c^2). Here the centre is not the link's origin. */
static void a_link_has_its_mass_centre_and_inertia(void** state) {
  (void)state;
  Export e = export_text(
      "links: [{name: a, mass: 6, mass_model: uniform, shapes: [{type: box, size: [1, 2, 3], position: [0, 0, "
      "5]}]}]\n");
  double v[6];
  assert_int_equal(numbers_of(&e, "<inertial", "fullinertia=", v, 6), 6);
  const double expected[6] = {6.5, 5.0, 2.5, 0, 0, 0};
  for (int k = 0; k < 6; k++) compare_near(v[k], expected[k], 1e-12, "v[k]");
  assert_int_equal(numbers_of(&e, "<inertial", "pos=", v, 3), 3);
  compare_near(v[2], 5, 1e-14, "v[2]");
  expect_in(&e, "mass=\"6\"");
  expect_in(&e, "type=\"box\"");
  export_free(&e);
}

/* The joint frame of a free body is rotated by 90 degrees about z. Linear velocities are exported in world axes.
 * Angular velocities are exported in body axes, which are the joint's axes at zero rotation. */
static void a_free_body_starts_where_ours_does(void** state) {
  (void)state;
  Export e = export_text(
      "links: [{name: a, mass: 1, shape: {type: sphere, radius: 0.1, resolution: 1}, position: [1, 2, 3], "
      "rotation_vector: [0, 0, "
      "1.5707963267948966]}]\n"
      "initial: [{link: a, coordinates: [0.5, 0, 0, 0, 0, 0], velocities: [2, 0, 0, 3, 0, 0]}]\n");
  double q[7], v[6];
  assert_int_equal(numbers_of(&e, "<key", "qpos=", q, 7), 7);
  assert_int_equal(numbers_of(&e, "<key", "qvel=", v, 6), 6);
  const double place[7] = {1, 2.5, 3, sqrt(0.5), 0, 0, sqrt(0.5)}, speed[6] = {0, 2, 0, 3, 0, 0};
  for (int k = 0; k < 7; k++) compare_near(q[k], place[k], 1e-14, "q[k]");
  for (int k = 0; k < 6; k++) compare_near(v[k], speed[k], 1e-14, "v[k]");
  expect_in(&e, "<freejoint");
  expect_in(&e, "<mesh");
  export_free(&e);
}

/* Links are written depth first; coordinates follow, though ours are numbered in the order of the list. */
static void coordinates_follow_the_order_of_the_bodies(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {b: {type: sphere, radius: 0.1}}\n"
      "links:\n"
      "  - {name: root, mass: 1, shape: b, joint: {type: hinge, axis: [0, 1, 0]}}\n"
      "  - {name: left, parent: root, mass: 1, shape: b, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, 0]}}\n"
      "  - {name: right, parent: root, mass: 1, shape: b, joint: {type: slide, axis: [1, 0, 0], position: [-1, 0, "
      "0]}}\n"
      "  - {name: under_left, parent: left, mass: 1, shape: b, joint: {type: hinge, axis: [0, 1, 0], position: [1, 0, "
      "0]}}\n"
      "initial:\n"
      "  - {link: root, coordinates: [0.1]}\n"
      "  - {link: left, coordinates: [0.2]}\n"
      "  - {link: right, coordinates: [0.3]}\n"
      "  - {link: under_left, coordinates: [0.4]}\n");
  double q[4];
  assert_int_equal(numbers_of(&e, "<key", "qpos=", q, 4), 4);
  const double expected[4] = {0.1, 0.2, 0.4, 0.3};
  for (int k = 0; k < 4; k++) compare_near(q[k], expected[k], 1e-15, "q[k]");
  /* ours leaves out parent and child; all others may touch */
  expect_in(&e, "<exclude body1=\"root\" body2=\"left\"/>");
  expect_in(&e, "<exclude body1=\"left\" body2=\"under_left\"/>");
  expect_not_in(&e, "body1=\"left\" body2=\"right\"");
  export_free(&e);
}

/* kp as it is; kd in the step's energy is kd / dt against the rate. Signals come out as controls over time. */
static void controllers_become_actuators(void** state) {
  (void)state;
  Export e = export_text(
      "simulation: {dt: 0.01, steps: 2, integrator: first_order}\n"
      "links: [{name: a, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: hinge, axis: [0, 1, 0], limits: "
      "[-1, null], damping: 0.5}}]\n"
      "controllers: [{link: a, type: pd, position_gain: 7, velocity_gain: 0.3, target: {type: keyframes, times: [0, "
      "1], "
      "values: [1, 3]}}]\n");
  expect_in(&e, "<position name=\"a/angle\" joint=\"a/angle\" kp=\"7\"/>");
  expect_in(&e, "<velocity name=\"a/angle rate\" joint=\"a/angle\" kv=\"30\"/>");
  expect_in(&e, "damping=\"0.5\"");
  expect_in(&e, "limited=\"true\" range=\"-1 10000000000\"");
  expect_in(&e, "ctrl=\"1 2\"");
  assert_string_equal(e.controls.data, "time,a/angle,a/angle rate\n0,1,2\n0.01,1.02,2\n0.02,1.04,2\n");
  export_free(&e);
}

#define LEG                                                                                                            \
  "simulation: {dt: 0.01, steps: 2, integrator: first_order}\n"                                                        \
  "links:\n"                                                                                                           \
  "  - {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: slide, axis: [0, 0, 1], armature: 0.5}}\n" \
  "  - {name: b, parent: a, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: hinge, axis: [0, 1, 0]}}\n"     \
  "controllers:\n"                                                                                                     \
  "  - {link: a, type: pd, position_gain: 1, damping_gain: 3, target: 0}\n"

/* A rate gain D over a step h is implicit with a rotor of h D: here 1 ms x 3 and 1 ms x 20 / 0.01. */
static void drives_that_are_stiff_within_a_step_get_rotors(void** state) {
  (void)state;
  Export e = export_text(LEG "  - {link: b, type: pd, position_gain: 1, velocity_gain: 20, target: 0}\n");
  double armature;
  assert_int_equal(numbers_of(&e, "name=\"b/angle\"", "armature=", &armature, 1), 1);
  compare_near(armature, 2, 1e-15, "armature of b");
  assert_int_equal(numbers_of(&e, "name=\"a/position\"", "armature=", &armature, 1), 1);
  compare_near(armature, 0.503, 1e-15, "armature of a");
  expect_in(&e, "integrator=\"Euler\"");
  assert_int_equal(e.notes.count, 1);
  export_free(&e);
  /* not stiff: 1 ms x 0.01 / 0.01 against 1 kg (0.1 m)^2 */
  e = export_text(LEG "  - {link: b, type: pd, position_gain: 1, velocity_gain: 0.01, target: 0}\n");
  assert_int_equal(numbers_of(&e, "name=\"a/position\"", "armature=", &armature, 1), 1);
  compare_near(armature, 0.5, 1e-15, "armature of a, nothing stiff");
  expect_in(&e, "integrator=\"implicit\"");
  export_free(&e);
  /* a rotor would weigh where the force is at its limit */
  e = export_text(LEG "  - {link: b, type: pd, position_gain: 1, velocity_gain: 20, max_force: 5, target: 0}\n");
  expect_not_in(&e, "armature=\"2\"");
  expect_in(&e, "integrator=\"implicit\"");
  export_free(&e);
}

/* MuJoCo's rate of a ball is its angular velocity in
 * its own axes: by the difference of two rotations, R^T dR/dt. */
static void the_target_of_a_ball_turns_by_its_angular_velocity(void** state) {
  (void)state;
  Export e = export_text(
      "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
      "links: [{name: a, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: ball}}]\n"
      "controllers: [{link: a, type: pd, position_gain: 0, velocity_gain: 0.3, target: {type: keyframes, times: [0, "
      "1], values: [[0.5, "
      "-0.3, 0.8], [1.5, 0.2, 0.1]]}}]\n");
  double control[3];
  const Vec3 v = {0.5, -0.3, 0.8}, rate = {1, 0.5, -0.7};
  const double h = 1e-4; /* its error is that of h^2 and of rounding / h */
  Mat3 before = mat3_from_quat(quat_exp(vec3_add_scaled(v, -h, rate)));
  Mat3 after = mat3_from_quat(quat_exp(vec3_add_scaled(v, h, rate)));
  Mat3 turn = mat3_mul(mat3_transpose(before), after);
  const double expected[3] = {turn.m[2][1] - turn.m[1][2], turn.m[0][2] - turn.m[2][0], turn.m[1][0] - turn.m[0][1]};
  assert_int_equal(numbers_of(&e, "<key", "ctrl=", control, 3), 3);
  for (int k = 0; k < 3; k++) compare_near(control[k], expected[k] / (4 * h), 1e-7, "rate");
  export_free(&e);
}

/* MuJoCo takes the larger friction of two geometries: pairs that have another are written out. */
static void pairs_have_their_own_friction(void** state) {
  (void)state;
  Export e = export_text(
      "contact: {friction: 0.5, spinning: 0.01, pairs: [{a: a, b: b, friction: 0.7, rolling: 0.02}]}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: a, mass: 1, friction: 0.2, shape: {type: sphere, radius: 0.1}, position: [0, 0, 1]}\n"
      "  - {name: b, mass: 1, shape: {type: sphere, radius: 0.1}, position: [1, 0, 1]}\n");
  expect_in(&e, "<geom condim=\"4\" friction=\"0.5 0.01 0\"");
  expect_in(&e, "<pair geom1=\"ground/0\" geom2=\"a/0\" condim=\"4\" friction=\"0.2 0.2 0.01 0 0\"/>");
  expect_in(&e, "<pair geom1=\"a/0\" geom2=\"b/0\" condim=\"6\" friction=\"0.7 0.7 0.01 0.02 0.02\"/>");
  expect_in(&e, "<exclude body1=\"ground\" body2=\"a\"/>"); /* else their geoms may touch as well */
  expect_in(&e, "<exclude body1=\"a\" body2=\"b\"/>");
  expect_not_in(&e, "geom1=\"ground/0\" geom2=\"b/0\"");
  expect_not_in(&e, "<exclude body1=\"ground\" body2=\"b\"/>");
  export_free(&e);
}

/* A pair that gives back e of the speed: a spring and damper without pull leaves so much. Integrated here step by step.
 */
static void restitution_becomes_a_damping_ratio(void** state) {
  (void)state;
  Export e = export_text(
      "contact: {restitution: 0, pairs: [{a: a, b: ground, restitution: 0.6}, {a: b, b: ground, restitution: 0.05}]}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0, 1]}\n"
      "  - {name: b, mass: 1, shape: {type: sphere, radius: 0.1}, position: [1, 0, 1]}\n");
  static const char* const PAIRS[] = {"<pair geom1=\"ground/0\" geom2=\"a/0\"",
                                      "<pair geom1=\"ground/0\" geom2=\"b/0\""};
  static const double LEFT[] = {0.6, 0.05};
  for (int k = 0; k < 2; k++) {
    double solref[2] = {1, 1}, depth = 0, speed = 1, h = 1e-7;
    assert_int_equal(numbers_of(&e, PAIRS[k], "solref=", solref, 2), 2);
    double damper = 2 / solref[0], spring = 1 / (solref[0] * solref[0] * solref[1] * solref[1]);
    for (int n = 0; n < 10000000 && damper * speed + spring * depth > 0; n++) {
      speed -= h * (damper * speed + spring * depth);
      depth += h * speed;
    }
    compare_near(-speed, LEFT[k], 1e-4, "what is left of the speed, %d", k);
  }
  expect_in(&e, "<geom condim=\"3\" friction=\"0.5 0 0\" solref=\"0.01 5\"");
  assert_int_equal(e.notes.count, 1);
  assert_non_null(strstr(e.notes.items[0].text, "lands at 1 m/s penetrates by 4.5 mm"));
  export_free(&e);
  e = export_text(
      "contact: {restitution: 0.6}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0, 1]}\n");
  assert_int_equal(e.notes.count, 0);
  export_free(&e);
}

/* Half of a body that slides on a rail of another is a body of its own there, on a slide joint, welded to the rest. */
static void a_slide_that_closes_is_a_part_on_a_rail(void** state) {
  (void)state;
  Export e = export_text(
      "links:\n"
      "  - {name: arm, mass: 1, shape: {type: box, size: [1, 0.1, 0.1]}, joint: {type: hinge, axis: [0, 1, 0]}}\n"
      "  - {name: sleeve, mass: 2, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0.4, 0, 0]}\n"
      "closures: [{type: slide, a: sleeve, b: arm, axis: [-2, 0, 0]}]\n"
      "initial:\n"
      "  - {link: arm, velocities: [2]}\n"
      "  - {link: sleeve, velocities: [-0.3, 0, -0.8, 0, 2, 0]}\n");
  double v[8], mass[1], axis[3];
  assert_int_equal(numbers_of(&e, "<key", "qvel=", v, 8), 8);
  compare_near(v[0], 2, 0, "the arm's rate");
  assert_int_equal(numbers_of(&e, "<joint type=\"slide\"", "axis=", axis, 3), 3);
  compare_near(fabs(axis[0]), 1, 1e-15, "along x");
  compare_near(v[1], -0.3 * axis[0], 1e-14, "the way along the rail");
  assert_int_equal(numbers_of(&e, "<body name=\"closure0\"", "mass=", mass, 1), 1);
  compare_near(mass[0], 1, 0, "one half");
  assert_int_equal(numbers_of(&e, "<body name=\"sleeve\"", "mass=", mass, 1), 1);
  compare_near(mass[0], 1, 0, "the other");
  expect_in(&e, "<weld body1=\"sleeve\" body2=\"closure0\"/>");
  assert_int_equal(e.notes.count, 0);
  export_free(&e);
}

static void gravity_compensation_becomes_a_force(void** state) {
  (void)state;
  Export e = export_text(
      "simulation: {gravity: [0, 1, -10], integrator: first_order}\n"
      "links: [{name: drone, mass: 2, mass_model: given, center: [0.1, 0, 0], inertia: [1, 1, 1, 0, 0, 0], "
      "gravity_compensation: 0.5, shape: {type: sphere, radius: 0.1}}]\n");
  double control[3];
  expect_in(&e, "<site name=\"drone/lift\" pos=\"0.1 0 0\"/>");
  expect_in(&e, "<motor name=\"drone/lift y\" site=\"drone/lift\" refsite=\"world\" gear=\"0 1 0 0 0 0\"/>");
  assert_int_equal(numbers_of(&e, "<key", "ctrl=", control, 3), 2);
  compare_near(control[0], -1, 0, "against gravity, y");
  compare_near(control[1], 10, 0, "against gravity, z");
  export_free(&e);
}

/* Checks the exported sensors and the table of their gains per control. A PD controller with a limit gets its force
 * range. */
static void feedback_becomes_sensors_and_a_table(void** state) {
  (void)state;
  Export e = export_text(
      "simulation: {dt: 0.02, integrator: first_order}\n"
      "links:\n"
      "  - {name: cart, mass: 1, shape: {type: box, size: [1, 1, 1]}, joint: {type: slide, axis: [1, 0, 0]}}\n"
      "  - {name: pole, parent: cart, mass: 1, shape: {type: box, size: [1, 1, 1]}, joint: {type: hinge, axis: [0, 1, "
      "0]}}\n"
      "controllers:\n"
      "  - {link: cart, type: torque, target: 0, delay: 0.5, feedback: {measures: [pole/angle/rate, pole/zx, cart/fx], "
      "matrix: [3, 4, 5]}}\n"
      "  - {link: pole, type: pd, position_gain: 7, max_force: 2, target: 0, feedback: {measures: [pole/zx, pole/vy], "
      "matrix: [2, 0]}}\n");
  expect_in(&e, "<jointvel name=\"pole/angle/rate\" joint=\"pole/angle\"/>");
  expect_in(&e, "<framezaxis name=\"pole/zx\" objtype=\"xbody\" objname=\"pole\"/>");
  expect_in(&e, "<framelinvel name=\"pole/vy\" objtype=\"body\" objname=\"pole\"/>");
  expect_not_in(&e, "cart/fx");
  assert_string_equal(e.feedback.data,
                      "actuator,sensor,component,factor,delay,period\n"
                      "cart/position,pole/angle/rate,0,3,0.5,0.02\n"
                      "cart/position,pole/zx,0,4,0.5,0.02\n"
                      "pole/angle,pole/zx,0,14,0,0.02\n");
  export_free(&e);
}

static void half_spaces_become_planes_when_they_stand_still(void** state) {
  (void)state;
  Export e = export_text(
      "shapes: {h: {type: half_space, normal: [1, 0, 0], offset: 2}, b: {type: box, size: [1, 1, 1]}}\n"
      "links:\n"
      "  - {name: still, fixed: true, shape: h}\n"
      "  - {name: moves, shape: {type: half_space, normal: [0, 0, 1], offset: -3}, joint: {type: slide, axis: [0, 0, "
      "1]}}\n"
      "  - {name: box, shape: b, mass: 1, position: [5, 0, 5]}\n"
      "controllers: [{link: moves, type: prescribed, target: 0}]\n");
  double pos[3] = {0}, quat[4] = {0};
  assert_int_equal(numbers_of(&e, "type=\"plane\"", "pos=", pos, 3), 3);
  assert_int_equal(numbers_of(&e, "type=\"plane\"", "quat=", quat, 4), 4);
  compare_near(pos[0], 2, 0, "pos[0]");
  Vec3 normal = mat3_mul_vec(mat3_from_quat((Quat){quat[0], quat[1], quat[2], quat[3]}), vec3(0, 0, 1));
  compare_near(normal.x, 1, 1e-15, "normal.x");
  assert_int_equal(e.notes.count, 4); /* slab, mass, prescribed, soft contact */
  export_free(&e);
}

/* One with a single size above 0 is a capsule along that axis, with no size a sphere; others are meshes. */
static void rounded_boxes_become_capsules_spheres_and_meshes(void** state) {
  (void)state;
  Export e = export_text(
      "links:\n"
      "  - {name: pin, mass: 1, shape: {type: rounded_box, radius: 0.1, size: [0, 0.5, 0]}, position: [1, 0, 0]}\n"
      "  - {name: ball, mass: 1, shape: {type: rounded_box, radius: 0.2, size: [0, 0, 0]}, position: [2, 0, 0]}\n"
      "  - {name: plate, mass: 1, shape: {type: rounded_box, radius: 0.1, size: [1, 0.5, 0]}, position: [4, 0, 0]}\n");
  double size[2] = {0}, quat[4] = {0};
  assert_int_equal(numbers_of(&e, "type=\"capsule\"", "size=", size, 2), 2);
  compare_near(size[0], 0.1, 0, "radius");
  compare_near(size[1], 0.25, 0, "half of the straight part");
  assert_int_equal(numbers_of(&e, "type=\"capsule\"", "quat=", quat, 4), 4);
  Vec3 axis = mat3_mul_vec(mat3_from_quat((Quat){quat[0], quat[1], quat[2], quat[3]}), vec3(0, 0, 1));
  compare_near(axis.y, 1, 1e-15, "axis.y");
  assert_int_equal(numbers_of(&e, "type=\"sphere\"", "size=", size, 2), 1);
  compare_near(size[0], 0.2, 0, "radius of the sphere");
  expect_in(&e, "type=\"mesh\" mesh=\"plate/0\"");
  export_free(&e);
}

/* The primitives stand where the points are, which need not be centred; two points are along any axis. */
static void rounded_points_become_spheres_capsules_and_meshes(void** state) {
  (void)state;
  Export e = export_text(
      "links:\n"
      "  - {name: ball, mass: 1, shape: {type: rounded_points, radius: 0.2, points: [[0.1, 0.2, 0.3]]}}\n"
      "  - {name: pin, mass: 1, position: [2, 0, 0], shape: {type: rounded_points, radius: 0.1, points: [[0.1, 0.3, "
      "0.2], [0.5, 0.3, 0.5]]}}\n"
      "  - {name: plate, mass: 1, position: [4, 0, 0], shape: {type: rounded_points, radius: 0.1, points: [[0, 0, 0], "
      "[1, 0, 0], [0, 1, 0]]}}\n");
  double size[2] = {0}, quat[4] = {0}, at[3] = {0};
  assert_int_equal(numbers_of(&e, "type=\"sphere\"", "size=", size, 2), 1);
  compare_near(size[0], 0.2, 0, "radius of the sphere");
  assert_int_equal(numbers_of(&e, "type=\"sphere\"", "pos=", at, 3), 3);
  compare_vec3(vec3(at[0], at[1], at[2]), vec3(0.1, 0.2, 0.3), 1e-15, "centre of the sphere");
  assert_int_equal(numbers_of(&e, "type=\"capsule\"", "size=", size, 2), 2);
  compare_near(size[0], 0.1, 0, "radius");
  compare_near(size[1], 0.25, 1e-15, "half of the straight part");
  assert_int_equal(numbers_of(&e, "type=\"capsule\"", "pos=", at, 3), 3);
  compare_vec3(vec3(at[0], at[1], at[2]), vec3(0.3, 0.3, 0.35), 1e-15, "centre of the capsule");
  assert_int_equal(numbers_of(&e, "type=\"capsule\"", "quat=", quat, 4), 4);
  Vec3 axis = mat3_mul_vec(mat3_from_quat((Quat){quat[0], quat[1], quat[2], quat[3]}), vec3(0, 0, 1));
  compare_near(fabs(axis.x), 0.8, 1e-15, "axis.x");
  compare_near(axis.x * axis.z, 0.48, 1e-15, "axis.x axis.z");
  expect_in(&e, "type=\"mesh\" mesh=\"plate/0\"");
  export_free(&e);
}

/* MuJoCo has none. */
static void fields_are_left_out(void** state) {
  (void)state;
  Export e = export_text(
      "links: [{name: a, position: [1, 0, 0], mass: 1, shape: {type: sphere, radius: 0.1}}]\n"
      "loads: [{link: a, field: {type: point, strength: {type: sines, terms: [[{amplitude: 1, frequency: 2}]]}}}]\n");
  expect_not_in(&e, "load0");
  assert_int_equal(e.notes.count, 1);
  assert_non_null(strstr(e.notes.items[0].text, "the force field on the link is left out: MuJoCo has no force fields"));
  assert_null(e.controls.data);
  export_free(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_link_has_its_mass_centre_and_inertia),
      cmocka_unit_test(a_free_body_starts_where_ours_does),
      cmocka_unit_test(coordinates_follow_the_order_of_the_bodies),
      cmocka_unit_test(controllers_become_actuators),
      cmocka_unit_test(drives_that_are_stiff_within_a_step_get_rotors),
      cmocka_unit_test(the_target_of_a_ball_turns_by_its_angular_velocity),
      cmocka_unit_test(pairs_have_their_own_friction),
      cmocka_unit_test(restitution_becomes_a_damping_ratio),
      cmocka_unit_test(a_slide_that_closes_is_a_part_on_a_rail),
      cmocka_unit_test(gravity_compensation_becomes_a_force),
      cmocka_unit_test(feedback_becomes_sensors_and_a_table),
      cmocka_unit_test(rounded_boxes_become_capsules_spheres_and_meshes),
      cmocka_unit_test(rounded_points_become_spheres_capsules_and_meshes),
      cmocka_unit_test(fields_are_left_out),
      cmocka_unit_test(half_spaces_become_planes_when_they_stand_still),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
