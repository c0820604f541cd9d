/* Links and joints of a URDF file as those of a scene. Numbers are worked out by hand. */
#include "unit/robot/urdf_testing.h"

#define JOINT(name, type, ends, more) "<joint name='" name "' type='" type "'>" ends more "</joint>"
#define LIMIT(low, high) "<limit lower='" low "' upper='" high "' effort='1e10' velocity='1e10'/>"

/* Two points of mass 1 and 3, two metres apart along x, each with the inertia diag(1, 2, 2.5): the centre is 1.5 m from
 * the first, and 1 * 1.5^2 + 3 * 0.5^2 = 3 comes on top about y and z. */
static void fixed_joints_are_merged_with_their_masses(void** state) {
  (void)state;
  UrdfCase c = urdf_load("<robot><link name='world'/><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(
                             3) "<collision><origin xyz='0 0 1'/><geometry><box size='1 2 3'/></geometry></collision>"
                                "</link>" JOINT("j", "continuous", ENDS("world", "a"),
                                                "") JOINT("k", "fixed", ENDS("a", "b"),
                                                          "<origin xyz='2 0 0' rpy='0 0 3.141592653589793'/>") "</robot>",
                         NULL);
  assert_int_equal(c.scene.link_count, 1); /* the world is not a link of its own */
  const SceneLink* a = link_named(&c, "a");
  const double wanted[6] = {2, 7, 8, 0, 0, 0};
  assert_int_equal(a->parent, -1);
  compare_near(a->mass, 4, 0, "mass");
  compare_vec3(a->center, vec3(1.5, 0, 0), 1e-15, "center");
  for (int k = 0; k < 6; k++) compare_near(a->inertia[k], wanted[k], 1e-14, "inertia %d", k);
  assert_int_equal(a->shape_count, 1);
  compare_vec3(a->shapes[0].position, vec3(2, 0, 1), 1e-15, "shape");
  compare_near(fabs(a->shapes[0].rotation.z), 1, 1e-15, "turned");
  assert_non_null(strstr(c.report.remarks.data, "link 'b' is part of 'a' (fixed joint)"));
  urdf_case_free(&c);
}

static void fixed_links_can_be_kept(void** state) {
  (void)state;
  const RobotOptions keep = {.keep_fixed = true};
  UrdfCase c = urdf_load("<robot><link name='world'/><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(
                             3) "</link><link name='frame'/>" JOINT("j", "continuous", ENDS("world", "a"), "")
                             JOINT("k", "fixed", ENDS("a", "b"), "<origin xyz='2 0 0'/>")
                                 JOINT("l", "fixed", ENDS("b", "frame"), "") "</robot>",
                         &keep);
  assert_int_equal(c.scene.link_count, 2); /* the frame has no mass of its own and moves */
  assert_int_equal(link_named(&c, "b")->joint.type, JOINT_FIXED);
  compare_vec3(link_named(&c, "b")->joint.position, vec3(2, 0, 0), 0, "origin");
  urdf_case_free(&c);
}

static void joints_keep_type_axis_limits_and_damping(void** state) {
  (void)state;
  UrdfCase c = urdf_load("<robot><link name='base'>" INERTIAL(1) "</link><link name='a'>" INERTIAL(1) "</link>"
                         "<link name='b'>" INERTIAL(1) "</link>"
                         "<joint name='j' type='revolute'>" ENDS("base", "a") "<origin xyz='1 2 3' rpy='0.1 0.2 0.3'/>"
                         "<axis xyz='0 1 0'/>" LIMIT("-0.5", "1e10") "<dynamics damping='0.7'/></joint>"
                         "<joint name='k' type='prismatic'>" ENDS("a", "b") LIMIT("-1", "2") "</joint></robot>",
                         NULL);
  const SceneLink *base = link_named(&c, "base"), *a = link_named(&c, "a"), *b = link_named(&c, "b");
  assert_int_equal(base->joint.type, JOINT_FIXED);
  assert_int_equal(a->joint.type, JOINT_HINGE);
  assert_true(a->joint.limited[0]);
  compare_near(a->joint.lower[0], -0.5, 0, "lower");
  assert_true(isinf(a->joint.upper[0]));
  compare_near(a->joint.damping[0], 0.7, 0, "damping");
  compare_vec3(a->joint.position, vec3(1, 2, 3), 0, "origin");
  compare_vec3(a->joint.axes[0], vec3(0, 1, 0), 0, "axis");
  compare_quat(a->joint.rotation, quat_from_rpy(vec3(0.1, 0.2, 0.3)), 0, "turn");
  assert_int_equal(b->joint.type, JOINT_SLIDE);
  assert_string_equal(c.scene.links[b->parent].name, "a");
  compare_near(b->joint.limit_margin, 0.03, 0, "margin");
  urdf_case_free(&c);
}

/* Zero lies outside of the first joint's limits, at an end of the second's, within the third's. */
static void joints_start_where_their_limits_are_not_felt(void** state) {
  (void)state;
  static const RobotStart starts[] = {{"l", 0.25}};
  const RobotOptions options = {.starts = starts, .start_count = 1};
  const char* text =
      "<robot><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(1) "</link><link name='c'>" INERTIAL(
          1) "</link><link name='d'>" INERTIAL(1) "</link>" JOINT("j", "revolute", ENDS("a", "b"), LIMIT("1", "3"))
          JOINT("k", "prismatic", ENDS("b", "c"), LIMIT("0", "0.04"))
              JOINT("l", "revolute", ENDS("c", "d"), LIMIT("-1", "1")) "</robot>";
  UrdfCase c = urdf_load(text, &options);
  assert_int_equal(c.scene.initial_count, 3);
  compare_near(c.scene.initials[0].coordinates[0], 1.02, 1e-15, "beyond");
  compare_near(c.scene.initials[1].coordinates[0], 0.0004, 1e-15, "at the end");
  compare_near(c.scene.initials[2].coordinates[0], 0.25, 0, "given");
  urdf_case_free(&c);
  static const RobotStart wrong[] = {{"m", 0.25}};
  const RobotOptions other = {.starts = wrong, .start_count = 1};
  c = urdf_import(text, &other);
  assert_int_equal(c.status, STATUS_BAD_INPUT);
  urdf_case_free(&c);
}

static void chains_through_massless_links_become_one_joint(void** state) {
  (void)state;
  UrdfCase c = urdf_load("<robot><link name='base'>" INERTIAL(1) "</link><link name='l1'/><link name='a'>" INERTIAL(
                             1) "</link>"
                             "<joint name='j' type='revolute'>" ENDS("base", "l1") "<origin xyz='1 0 0'/>"
                             "<axis xyz='0 0 1'/>" LIMIT("-1", "1") "</joint>"
                             "<joint name='k' type='continuous'>" ENDS("l1", "a") "<axis xyz='0 0.6 0.8'/></joint>"
                             "</robot>",
                         NULL);
  const SceneLink* a = link_named(&c, "a");
  assert_int_equal(a->joint.type, JOINT_UNIVERSAL);
  compare_vec3(a->joint.axes[0], vec3(0, 0, 1), 0, "first axis");
  compare_vec3(a->joint.axes[1], vec3(0, 0.6, 0.8), 0, "second axis");
  compare_vec3(a->joint.position, vec3(1, 0, 0), 0, "origin");
  assert_true(a->joint.limited[0] && !a->joint.limited[1]);
  assert_int_equal(c.report.joint_count, 2);
  assert_string_equal(c.report.joints[1].name, "k");
  assert_int_equal(c.report.joints[1].dof, 1);
  urdf_case_free(&c);
  c = urdf_load("<robot><link name='base'/><link name='l1'/><link name='l2'/><link name='a'>" INERTIAL(1) "</link>"
                "<joint name='x' type='prismatic'>" ENDS("base", "l1") LIMIT("-1", "1") "</joint>"
                "<joint name='y' type='prismatic'>" ENDS("l1", "l2") "<axis xyz='0 1 0'/>" LIMIT("-1", "1") "</joint>"
                "<joint name='z' type='continuous'>" ENDS("l2", "a") "<axis xyz='0 0 1'/></joint></robot>",
                NULL);
  assert_int_equal(link_named(&c, "a")->joint.type, JOINT_FREE);
  assert_int_equal(link_named(&c, "a")->joint.free_axes, FREE_X | FREE_Y | FREE_RZ);
  urdf_case_free(&c);
}

static void other_massless_links_are_refused(void** state) {
  (void)state;
  expect_urdf("<robot><link name='base'/><link name='l1'/>\n<link name='a'>" INERTIAL(1) "</link>\n"
              "<joint name='j' type='continuous'>" ENDS("base", "l1") "</joint>\n"
              "<joint name='k' type='continuous'>" ENDS("l1", "a") "</joint></robot>",
              NULL,
              "4:14: error: the links above joint 'k' have neither mass nor shape, and the joints around them cannot be merged into one joint (two hinges; slides and at most two hinges along x, y, z in this order)\n");
  expect_urdf(
      "<robot><link name='base'/>\n<link name='tip'/>\n"
      "<joint name='j' type='continuous'>" ENDS("base", "tip") "</joint></robot>",
      NULL, "2:13: error: link 'tip' moves and has no mass: give it an <inertial>\n");
  expect_urdf(
      "<robot><link name='base'/>\n<link name='tip'><collision><geometry><sphere radius='1'/></geometry>"
      "</collision></link>\n<joint name='j' type='continuous'>" ENDS("base", "tip") "</joint></robot>",
      NULL,
      "2:13: error: link 'tip' moves and has no mass: give it an <inertial>, or weigh its shapes by "
      "--density\n");
  const RobotOptions density = {.density = 500};
  UrdfCase c = urdf_load(
      "<robot><link name='base'/>\n<link name='tip'><collision><geometry><sphere radius='1'/>"
      "</geometry></collision></link><joint name='j' type='continuous'>" ENDS("base", "tip") "</joint></robot>",
      &density);
  assert_true(link_named(&c, "tip")->has_density);
  compare_near(link_named(&c, "tip")->density, 500, 0, "density");
  urdf_case_free(&c);
}

static void bodies_float_and_bases_are_free(void** state) {
  (void)state;
  const RobotOptions free_base = {.free_base = true, .height = 2, .ground = true};
  UrdfCase c = urdf_load("<robot><link name='ground'>" INERTIAL(1) "</link></robot>", &free_base);
  assert_int_equal(c.scene.link_count, 2);
  assert_string_equal(c.scene.links[0].name, "ground");
  assert_string_equal(c.scene.links[1].name, "ground_");
  assert_int_equal(c.scene.links[1].joint.type, JOINT_FREE);
  compare_vec3(c.scene.links[1].joint.position, vec3(0, 0, 2), 0, "height");
  urdf_case_free(&c);
  /* over a table that does not move: on the world, so that the two can touch */
  c = urdf_load("<robot><link name='table'>" INERTIAL(1) "</link><link name='ball'>" INERTIAL(1) "</link>" JOINT(
                    "j", "floating", ENDS("table", "ball"), "<origin xyz='0 0 1'/>") "</robot>",
                NULL);
  assert_int_equal(link_named(&c, "ball")->parent, -1);
  assert_int_equal(link_named(&c, "ball")->joint.free_axes, FREE_ALL);
  urdf_case_free(&c);
  c = urdf_load("<robot><link name='table'/><link name='puck'>" INERTIAL(1) "</link>" JOINT(
                    "j", "planar", ENDS("table", "puck"), "<axis xyz='0 0 1'/>") "</robot>",
                NULL);
  assert_int_equal(link_named(&c, "puck")->joint.free_axes, FREE_X | FREE_Y | FREE_RZ);
  urdf_case_free(&c);
}

static void names_follow_the_rules_of_a_scene(void** state) {
  (void)state;
  UrdfCase c = urdf_load("<robot><link name='a/b'>" INERTIAL(1) "</link><link name='a_b'>" INERTIAL(1) "</link>" JOINT(
                             "j", "continuous", ENDS("a/b", "a_b"), "") "</robot>",
                         NULL);
  assert_string_equal(c.scene.links[0].name, "a_b");
  assert_string_equal(c.scene.links[1].name, "a_b_");
  assert_non_null(strstr(c.report.remarks.data, "link 'a/b' is named 'a_b'"));
  urdf_case_free(&c);
}

static void inertia_must_be_of_a_body(void** state) {
  (void)state;
  const char* text =
      "<robot><link name='w'/><link name='a'>\n<inertial><mass value='1'/>"
      "<inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link>" JOINT(
          "j", "continuous", ENDS("w", "a"), "") "</robot>";
  expect_urdf(text, NULL, "2:1: error: the inertia of link 'a' must be positive definite\n");
  expect_urdf(
      "<robot><link name='w'/><link name='a'>\n<inertial><mass value='1'/>"
      "<inertia ixx='1' iyy='1' izz='3' ixy='0' ixz='0' iyz='0'/></inertial></link>" JOINT(
          "j", "continuous", ENDS("w", "a"), "") "</robot>",
      NULL, "2:1: warning: no body has the inertia of link 'a': a principal moment exceeds the sum of the others\n");
}

#define MIMIC_ROBOT(I, J, K)                                                                        \
  "<robot><link name='w'/><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(           \
      1) "</link><link name='c'>" INERTIAL(1) "</link>" JOINT("i", "continuous", ENDS("w", "a"), I) \
      JOINT("j", "continuous", ENDS("a", "b"), J) JOINT(                                            \
          "k", "prismatic", ENDS("b", "c"), "<limit lower='-9' upper='9' effort='5' velocity='0.3'/>" K) "</robot>"

/* k = 0.1 j + 0.02, j = -2 i - 1: with i at 0.5 these are -0.18 and -2. */
static void mimics_are_couplings_and_start_where_they_say(void** state) {
  (void)state;
  static const RobotStart start = {"i", 0.5};
  const RobotOptions options = {.starts = &start, .start_count = 1};
  UrdfCase c = urdf_load(MIMIC_ROBOT("", "<mimic joint='i' multiplier='-2' offset='-1'/>",
                                     "<mimic joint='j' multiplier='0.1' offset='0.02'/>"),
                         &options);
  assert_int_equal(c.scene.coupling_count, 2);
  const SceneCoupling* k = &c.scene.couplings[1];
  assert_int_equal(k->count, 2);
  assert_string_equal(c.scene.links[k->terms[0].link].name, "c");
  assert_string_equal(c.scene.links[k->terms[1].link].name, "b");
  compare_near(k->terms[1].ratio, 0.1, 0, "ratio");
  compare_near(link_named(&c, "c")->joint.velocity_limit[0], 0.3, 0, "limit of velocity");
  const char* const names[] = {"a", "b", "c"};
  const double places[] = {0.5, -2, -0.18};
  assert_int_equal(c.scene.initial_count, 3);
  for (int i = 0; i < 3; i++)
    compare_near(c.scene.initials[i].coordinates[0], places[i], 1e-15, "start of %s", names[i]);
  urdf_case_free(&c);
}

static void mimics_that_cannot_be_are_told(void** state) {
  (void)state;
  static const RobotStart start = {"j", 0.5};
  const RobotOptions options = {.starts = &start, .start_count = 1};
  expect_urdf(MIMIC_ROBOT("<mimic joint='j'/>", "<mimic joint='i'/>", ""), NULL,
              "0:0: note: left out: limits of effort of k: there is no drive that could have one\n"
              "1:397: note: left out: mimic of 'i': they follow each other in a cycle\n"
              "1:492: note: left out: mimic of 'j': they follow each other in a cycle\n");
  expect_urdf(MIMIC_ROBOT("", "<mimic joint='i' multiplier='2' offset='1'/>", ""), &options,
              "0:0: note: left out: limits of effort of k: there is no drive that could have one\n"
              "1:474: error: joint 'j' follows 'i' (mimic): it must start at 1: change or remove its --start\n");
}

/* What a scene has no word for, a line for each kind. */
static void what_is_lost_is_told(void** state) {
  (void)state;
  expect_urdf("<robot><link name='w'/><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(1) "</link>"
              "<joint name='j' type='revolute'>" ENDS("w", "a") "<limit lower='-1' upper='1' effort='5' velocity='1'/>"
              "<dynamics friction='0.1'/><safety_controller k_velocity='1'/></joint>"
              "<joint name='k' type='revolute'>" ENDS("a", "b") "<limit lower='-1' upper='1' effort='5' velocity='1'/>"
              "<mimic joint='j'/></joint></robot>", NULL,
              "0:0: note: left out: limits of effort of j, k: there is no drive that could have one\n"
              "0:0: note: left out: safety_controller and calibration of j\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mimics_are_couplings_and_start_where_they_say),
      cmocka_unit_test(mimics_that_cannot_be_are_told),
      cmocka_unit_test(fixed_joints_are_merged_with_their_masses),
      cmocka_unit_test(fixed_links_can_be_kept),
      cmocka_unit_test(joints_keep_type_axis_limits_and_damping),
      cmocka_unit_test(joints_start_where_their_limits_are_not_felt),
      cmocka_unit_test(chains_through_massless_links_become_one_joint),
      cmocka_unit_test(other_massless_links_are_refused),
      cmocka_unit_test(bodies_float_and_bases_are_free),
      cmocka_unit_test(names_follow_the_rules_of_a_scene),
      cmocka_unit_test(inertia_must_be_of_a_body),
      cmocka_unit_test(what_is_lost_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
