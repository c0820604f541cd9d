/* Tests the import of MJCF files: classes, joints, masses, actuators, keyframes, masks. Expected values are by hand;
 * tests/mujoco/mjcf.py compares with MuJoCo. */
#include "unit/robot/mjcf_testing.h"

static void classes_give_what_an_element_does_not_say(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler angle='radian'/><default><joint damping='1'/><geom size='0.1'/><default class='a'>"
      "<joint damping='2' stiffness='5'/><default class='b'><joint stiffness='7'/></default></default></default>"
      "<worldbody><body name='x'><joint class='b'/><geom/><body name='y' childclass='a' pos='1 0 0'><joint/><geom/>"
      "<body name='z' pos='1 0 0'><joint damping='3'/><geom/></body></body></body>"
      "<body name='w' pos='0 5 0'><joint/><geom/></body></worldbody></mujoco>",
      NULL);
  const double wanted[4][2] = {{2, 7}, {2, 5}, {3, 5}, {1, 0}};
  for (int i = 0; i < 4; i++) {
    const SceneJoint* joint = &link_named(&c, (const char*[]){"x", "y", "z", "w"}[i])->joint;
    compare_near(joint->damping[0], wanted[i][0], 0, "damping %d", i);
    compare_near(joint->stiffness[0], wanted[i][1], 0, "stiffness %d", i);
  }
  urdf_case_free(&c);
}

/* Degrees; a joint's anchor beside the body's frame; its zero elsewhere. */
static void joints_keep_anchor_limits_and_reference(void** state) {
  (void)state;
  UrdfCase c =
      mjcf_load(WORLD("<body name='a' pos='1 2 3'><joint name='j' pos='0 0 0.5' axis='0 3 0' range='-90 45' ref='10' "
                      "springref='40' stiffness='2' armature='0.3' frictionloss='0.2'/>"
                      "<geom type='box' size='0.1 0.1 0.1' pos='0 0 0.5'/>"
                      "<body name='b' pos='0 0 1'><joint type='slide' range='-1 2'/><geom size='0.1'/></body></body>"),
                NULL);
  const SceneLink *a = link_named(&c, "a"), *b = link_named(&c, "b");
  const double degree = 3.14159265358979324 / 180;
  compare_vec3(a->joint.position, vec3(1, 2, 3.5), 1e-15, "anchor");
  compare_vec3(a->joint.axes[0], vec3(0, 1, 0), 0, "axis");
  compare_near(a->joint.lower[0], -100 * degree, 1e-15, "lower");
  compare_near(a->joint.upper[0], 35 * degree, 1e-15, "upper");
  compare_near(a->joint.rest[0], 30 * degree, 1e-15, "rest");
  compare_near(a->joint.armature[0], 0.3, 0, "armature");
  compare_near(a->joint.friction[0], 0.2, 0, "dry friction");
  compare_vec3(a->shapes[0].position, vec3(0, 0, 0), 1e-15, "the geom, seen from the anchor");
  compare_vec3(b->joint.position, vec3(0, 0, 0.5), 1e-15, "the body below, seen from the anchor");
  compare_near(b->joint.upper[0], 2, 0, "a slide's range is in metres");
  urdf_case_free(&c);
}

/* Closed forms of all solids of density 1000; m = density V. */
static void masses_of_geoms(void** state) {
  (void)state;
  const double pi = 3.14159265358979324;
  const struct {
    const char* geom;
    double mass, inertia[3]; /* per kg */
  } cases[] = {
      {"<geom size='0.2'/>", 4.0 / 3 * pi * 8, {0.016, 0.016, 0.016}},
      {"<geom type='box' size='0.1 0.2 0.3'/>", 48, {0.13 / 3, 0.1 / 3, 0.05 / 3}},
      {"<geom type='cylinder' size='0.1 0.3'/>", pi * 6, {0.0025 + 0.03, 0.0325, 0.005}},
      {"<geom type='ellipsoid' size='0.1 0.2 0.3'/>", pi * 8, {0.026, 0.02, 0.01}},
      {"<geom type='capsule' size='0.1' fromto='0 0 -0.3 0 0 0.3'/>",
       pi * 6 + pi * 4 / 3,
       /* (6 (0.0025 + 0.03) + 4/3 (0.004 + 0.09 + 0.0225)) / (22/3), (6 0.005 + 4/3 0.004) / (22/3) */
       {(0.195 + 4.0 / 3 * 0.1165) * 3 / 22, (0.195 + 4.0 / 3 * 0.1165) * 3 / 22, (0.03 + 0.016 / 3) * 3 / 22}},
      {"<geom type='box' size='0.1 0.2 0.3' mass='2'/>", 2, {0.13 / 3, 0.1 / 3, 0.05 / 3}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Text text = {0};
    text_add(&text, WORLD("<body name='a'><joint/>%s</body>"), cases[i].geom);
    UrdfCase c = mjcf_load(text.data, NULL);
    const SceneLink* a = link_named(&c, "a");
    compare_near(a->mass, cases[i].mass, 1e-12 * cases[i].mass, "mass of %s", cases[i].geom);
    for (int k = 0; k < 3; k++)
      compare_near(a->inertia[k], cases[i].mass * cases[i].inertia[k], 1e-12 * cases[i].mass, "inertia of %s",
                   cases[i].geom);
    urdf_case_free(&c);
    text_free(&text);
  }
}

/* torque = gear (gain u + b0 - b1 gear q ...): 2 (50 u - 50 2 q - 5 2 q') holds q = u / 2 with 200 and 20. */
static void actuators_are_controllers(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint name='j'/><geom size='0.1'/></body>"
      "<body name='b' pos='2 0 0'><joint name='k'/><geom size='0.1'/></body>"
      "<body name='c' pos='4 0 0'><joint name='l'/><geom size='0.1'/></body></worldbody><actuator>"
      "<general joint='j' gainprm='50' biastype='affine' biasprm='0 -50 -5' gear='2' forcerange='-3 3'/>"
      "<motor joint='k' gear='4' ctrlrange='-2 2'/><velocity joint='l' kv='6'/></actuator>"
      "<keyframe><key qpos='0.1 0 0' ctrl='0.4 0.5 1.5'/></keyframe></mujoco>",
      NULL);
  assert_int_equal(c.scene.controller_count, 3);
  const SceneController* pd = &c.scene.controllers[0];
  assert_int_equal(pd->type, CONTROLLER_PD);
  compare_near(pd->position_gain[0], 200, 0, "position gain");
  compare_near(pd->damping_gain[0], 20, 0, "damping gain");
  compare_near(pd->max_force[0], 6, 0, "force limit");
  compare_near(pd->target.values[0], 0.2, 1e-15, "target");
  const SceneController* motor = &c.scene.controllers[1];
  assert_int_equal(motor->type, CONTROLLER_TORQUE);
  compare_near(motor->target.values[0], 2, 0, "torque");
  compare_near(motor->max_force[0], 8, 0, "limit of the control times gear");
  const SceneController* velocity = &c.scene.controllers[2];
  assert_int_equal(velocity->type, CONTROLLER_VELOCITY);
  compare_near(velocity->damping_gain[0], 6, 0, "damping gain");
  compare_near(velocity->target.values[0], 1.5, 0, "speed");
  urdf_case_free(&c);
}

/* A free body's keyframe is its joint's frame; a ball's, its coordinates; a slide's and a hinge's, theirs. */
static void a_keyframe_is_where_it_starts(void** state) {
  (void)state;
  const char* text =
      "<mujoco><compiler angle='radian'/><worldbody><body name='f'><freejoint/><geom size='0.1'/>"
      "<body name='s' pos='1 0 0'><joint type='slide'/><geom size='0.1'/></body></body>"
      "<body name='b' pos='5 0 0'><joint type='ball'/><geom size='0.1'/></body></worldbody><keyframe>"
      "<key name='first' qpos='0 0 0 1 0 0 0 0 1 0 0 0'/>"
      "<key name='home' qpos='1 2 3 0 0 0 1 0.25 0.6 0 0.8 0' qvel='1 2 3 4 5 6 7 8 9 10'/></keyframe></mujoco>";
  UrdfCase c = mjcf_load(text, NULL);
  compare_vec3(link_named(&c, "f")->joint.position, vec3(1, 2, 3), 0, "free");
  compare_near(link_named(&c, "f")->joint.rotation.z, 1, 0, "turned");
  assert_int_equal(c.scene.initial_count, 3);
  for (int i = 0; i < 3; i++) {
    const SceneInitial* initial = &c.scene.initials[i];
    const char* name = c.scene.links[initial->link].name;
    if (*name == 's') compare_near(initial->coordinates[0], 0.25, 0, "slide");
    if (*name == 's') compare_near(initial->velocities[0], 7, 0, "its speed");
    if (*name == 'b') compare_near(initial->coordinates[2], 0.8, 0, "ball");
    if (*name == 'f') /* half a turn about z: world velocity (1, 2, 3) is (-1, -2, 3) in the joint's axes */
      for (int k = 0; k < 6; k++)
        compare_near(initial->velocities[k], (const double[]){-1, -2, 3, 4, 5, 6}[k], 1e-15, "velocity %d", k);
  }
  urdf_case_free(&c);
  const RobotOptions none = {.key = "none"}, other = {.key = "away"};
  c = mjcf_load(text, &none);
  compare_vec3(link_named(&c, "f")->joint.position, vec3(0, 0, 0), 0, "without a key");
  urdf_case_free(&c);
  expect_told(text, &other, "error: no keyframe is named 'away'");
}

static void masks_and_excludes_are_pairs(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' contype='1' conaffinity='1'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom size='0.1' contype='1' conaffinity='0'/></body>"
      "<body name='b' pos='0 0 2'><freejoint/><geom size='0.1' contype='1' conaffinity='0'/></body>"
      "<body name='c' pos='0 0 3'><freejoint/><geom size='0.1'/><geom size='0.1' contype='0' conaffinity='0'/></body>"
      "</worldbody><contact><exclude body1='b' body2='c'/></contact></mujoco>",
      NULL);
  assert_true(is_excluded(&c, "a", "b"));
  assert_true(is_excluded(&c, "b", "c"));
  assert_false(is_excluded(&c, "a", "c"));
  assert_false(is_excluded(&c, "a", "ground"));
  assert_int_equal(link_named(&c, "c")->shape_count, 1); /* what touches nothing is no shape */
  urdf_case_free(&c);
}

static void several_joints_on_a_body(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      WORLD("<body name='a'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
            "<joint name='r' axis='0 1 0'/><geom size='0.1' mass='3'/></body>"),
      NULL);
  assert_int_equal(c.scene.link_count, 1);
  assert_int_equal(link_named(&c, "a")->joint.free_axes, FREE_X | FREE_Z | FREE_RY);
  compare_near(link_named(&c, "a")->mass, 3, 0, "mass");
  urdf_case_free(&c);
  /* slides move alike from every anchor, as in Gymnasium's hopper */
  c = mjcf_load(
      WORLD("<body name='a' pos='0 0 1.25'><joint type='slide' axis='1 0 0' pos='0 0 -1.25'/>"
            "<joint type='slide' axis='0 0 1' pos='0 0 -1.25' ref='1.25'/><joint axis='0 1 0' pos='0 0 -0.2'/>"
            "<geom size='0.1' mass='3'/></body>"),
      NULL);
  assert_int_equal(c.scene.link_count, 1);
  assert_int_equal(link_named(&c, "a")->joint.free_axes, FREE_X | FREE_Z | FREE_RY);
  compare_vec3(link_named(&c, "a")->joint.position, vec3(0, 0, 1.05), 1e-15, "the hinge's anchor");
  compare_vec3(link_named(&c, "a")->center, vec3(0, 0, 0.2), 1e-15, "the body seen from there");
  urdf_case_free(&c);
  c = mjcf_load(WORLD("<body name='a'><joint name='x' axis='1 0 0'/><joint name='z' axis='0 0 1'/>"
                      "<joint name='y' axis='0 1 0' pos='0 0 0.2'/><geom size='0.1' mass='3'/></body>"),
                NULL);
  assert_int_equal(c.scene.link_count, 3);
  compare_near(link_named(&c, "a_between0")->mass + link_named(&c, "a_between1")->mass + link_named(&c, "a")->mass, 3,
               1e-14, "the mass of all");
  compare_near(link_named(&c, "a_between1")->center.z, 0, 1e-15, "a part of the body, where the body is");
  assert_non_null(strstr(c.report.remarks.data, "are imported as a chain"));
  urdf_case_free(&c);
}

static void what_is_left_out_is_told_once(void** state) {
  (void)state;
  expect_told(
      "<mujoco><worldbody><body name='a'><joint/><geom size='1' condim='4' solref='0.1 1'/><site/></body></worldbody>"
      "<equality><weld body1='a'/></equality><tendon/><sensor/></mujoco>",
      NULL, "left out: geom/condim, sensor, geom/solref except for its damping ratio (restitution)");
}

static void mistakes_have_places(void** state) {
  (void)state;
  expect_told("<robot/>", NULL, "1:1: error: the root element must be <mujoco>, got <robot>");
  expect_told(WORLD(""), NULL, "error: <worldbody> has no body: add a <body>");
  expect_told(WORLD("<body><joint/><geom/></body>"), NULL, "error: a <geom> of type sphere needs 'size'");
  expect_told(WORLD("<body><joint/><geom size='x'/></body>"), NULL,
              "error: size of <geom>: expected 1 to 3 numbers, got 'x'");
  expect_told(WORLD("<body><joint/><geom size='-1'/></body>"), NULL, "error: size of <geom> must be > 0");
  expect_told(WORLD("<body><joint/><geom type='mesh' mesh='m'/></body>"), NULL,
              "error: no <mesh> in <asset> is named 'm'");
  expect_told(WORLD("<body><joint type='hing'/><geom size='1'/></body>"), NULL,
              "error: the type of a joint must be free, ball, slide or hinge, got 'hing'");
  expect_told(WORLD("<body><joint axis='0 0 0'/><geom size='1'/></body>"), NULL, "must have a length other than zero");
  expect_told(WORLD("<body><joint/></body>"), NULL, "moves and has no mass");
  expect_told(WORLD("<body name='a'/><body name='a'/>"), NULL,
              "error: another body has the name 'a' too: rename one of the bodies");
  expect_told(WORLD("<body><freejoint/><geom type='plane' size='1 1 1'/></body>"), NULL,
              "a body cannot contain a plane");
  expect_told("<mujoco><include file='/nowhere.xml'/></mujoco>", NULL, "cannot be read: check the path");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_give_what_an_element_does_not_say),
      cmocka_unit_test(joints_keep_anchor_limits_and_reference),
      cmocka_unit_test(masses_of_geoms),
      cmocka_unit_test(actuators_are_controllers),
      cmocka_unit_test(a_keyframe_is_where_it_starts),
      cmocka_unit_test(masks_and_excludes_are_pairs),
      cmocka_unit_test(several_joints_on_a_body),
      cmocka_unit_test(what_is_left_out_is_told_once),
      cmocka_unit_test(mistakes_have_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
