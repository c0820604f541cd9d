/* Tests links and joints of URDF files as those of a scene. Expected values are by hand. */
#include "unit/robot/urdf_testing.h"

#define JOINT(name, type, ends, more) "<joint name='" name "' type='" type "'>" ends more "</joint>"
#define LIMIT(low, high) "<limit lower='" low "' upper='" high "' effort='1e10' velocity='1e10'/>"

/* Two bodies of mass 1 and 3 are two metres apart along x, each with the inertia diag(1, 2, 2.5). Their common centre
 * is 1.5 m from the first. 1 * 1.5^2 + 3 * 0.5^2 = 3 is added about y and z. */
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
  assert_non_null(
      strstr(c.report.remarks.data,
             "links on fixed joints are merged into their parents (--keep-fixed keeps all links): 'b' of 'a'"));
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

/* Mass, first moment and inertia of both links about the world's origin are those of the file. */
static void a_massless_link_that_carries_gets_a_share(void** state) {
  (void)state;
  UrdfCase c = urdf_load("<robot><link name='base'/><link name='l1'/><link name='a'><inertial><origin xyz='0.1 0.2 0.3'/>"
                         "<mass value='2'/><inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                         "<joint name='j' type='continuous'>" ENDS("base", "l1") "<origin xyz='0 0 1'/></joint>"
                         "<joint name='k' type='continuous'>" ENDS("l1", "a")
                         "<origin xyz='0 0 0.5' rpy='0 0 1.5707963267948966'/></joint></robot>",
                         NULL);
  const SceneLink *between = link_named(&c, "l1"), *a = link_named(&c, "a");
  compare_near(between->mass, 0.02, 1e-15, "share");
  compare_near(a->mass, 1.98, 1e-15, "rest");
  /* a is rotated by 90 degrees about z: its centre is at (-0.2, 0.1, 0.8) in l1, its inertia has x and y exchanged */
  compare_vec3(between->center, vec3(-0.2, 0.1, 0.8), 1e-15, "centre");
  const double inertia[6] = {0.02, 0.01, 0.025, 0, 0, 0};
  for (int k = 0; k < 6; k++) compare_near(between->inertia[k], inertia[k], 1e-16, "inertia %d", k);
  compare_near(a->inertia[1], 1.98, 1e-15, "rest of the inertia");
  assert_non_null(strstr(c.report.remarks.data, "link 'l1' moves and has neither mass nor shape: 1 %"));
  urdf_case_free(&c);
}

static void a_joint_that_carries_nothing_is_fixed(void** state) {
  (void)state;
  UrdfCase c = urdf_load(
      "<robot><link name='base'/><link name='a'>" INERTIAL(1) "</link><link name='tip'/><link name='end'/>" JOINT(
          "i", "continuous", ENDS("base", "a"), "") JOINT("j", "continuous", ENDS("a", "tip"), "")
          JOINT("k", "floating", ENDS("tip", "end"), "") "</robot>",
      NULL);
  assert_int_equal(c.scene.link_count, 1);
  assert_int_equal(c.report.joint_count, 1);
  assert_non_null(strstr(c.report.remarks.data, "joint 'j' is imported as fixed"));
  urdf_case_free(&c);
}

static void shapes_without_mass_are_weighed(void** state) {
  (void)state;
  expect_urdf(
      "<robot><link name='base'/>\n<link name='tip'><collision><geometry><sphere radius='1'/></geometry>"
      "</collision></link>\n<joint name='j' type='continuous'>" ENDS("base", "tip") "</joint></robot>",
      NULL,
      "2:13: warning: link 'tip' moves and has no mass: its shapes get 1000 kg/m^3, as in MuJoCo; set another density "
      "by --density\n");
  const RobotOptions density = {.density = 500};
  UrdfCase c = urdf_load(
      "<robot><link name='base'/>\n<link name='tip'><collision><geometry><sphere radius='1'/>"
      "</geometry></collision></link><joint name='j' type='continuous'>" ENDS("base", "tip") "</joint></robot>",
      &density);
  assert_true(link_named(&c, "tip")->has_density);
  compare_near(link_named(&c, "tip")->density, 500, 0, "density");
  urdf_case_free(&c);
}

#define BEAM "<collision><origin xyz='-0.15 0 0'/><geometry><box size='0.3 0.03 0.02'/></geometry></collision>"

/* A beam of 0.3 x 0.03 x 0.02 m and 1000 kg/m^3 has 0.18 kg at -0.15 m. The other body has 1 kg at -0.5 m with the
 * inertia diag(1, 2, 2.5). The common centre is -0.527 / 1.18 m. The inertia about y is m (a^2 + b^2) / 12 of the beam,
 * plus 2, plus 0.18 * 1 / 1.18 * 0.35^2. */
static void shapes_without_mass_are_weighed_beside_merged_links(void** state) {
  (void)state;
  static const char ARM[] =
      "<robot><link name='base'/><link name='arm'>%s" BEAM
      "</link><link name='tip'>" INERTIAL(1) "</link>" JOINT("j", "continuous", ENDS("base", "arm"), "")
          JOINT("k", "fixed", ENDS("arm", "tip"), "<origin xyz='-0.5 0 0'/>") "</robot>";
  for (int zero = 0; zero < 2; zero++) {
    Text text = {0};
    text_add(&text, ARM, zero ? INERTIAL(0) : "");
    UrdfCase c = urdf_load(text.data, NULL);
    const SceneLink* arm = link_named(&c, "arm");
    assert_int_equal(c.scene.link_count, 1);
    compare_near(arm->mass, 1.18, 1e-12, "mass");
    compare_vec3(arm->center, vec3(-0.527 / 1.18, 0, 0), 1e-12, "centre");
    compare_near(arm->inertia[1], 0.18 * (0.3 * 0.3 + 0.02 * 0.02) / 12 + 2 + 0.18 / 1.18 * 0.35 * 0.35, 1e-12,
                 "inertia");
    assert_non_null(strstr(c.report.remarks.data, "link 'arm' moves and has no mass: its shapes get 1000 kg/m^3"));
    urdf_case_free(&c);
    text_free(&text);
  }
}

static void shapes_on_fixed_joints_add_mass_only_by_density(void** state) {
  (void)state;
  static const char ARM[] =
      "<robot><link name='base'/><link name='arm'>" INERTIAL(1) "</link><link name='pad'>" BEAM "</link>" JOINT(
          "j", "continuous", ENDS("base", "arm"), "") JOINT("k", "fixed", ENDS("arm", "pad"), "") "</robot>";
  UrdfCase c = urdf_load(ARM, NULL);
  compare_near(link_named(&c, "arm")->mass, 1, 0, "mass of the file");
  assert_non_null(strstr(c.report.remarks.data,
                         "links on fixed joints that have shapes but no mass are taken as massless; to give the shapes "
                         "a mass, set --density: 'pad' of 'arm'"));
  urdf_case_free(&c);
  const RobotOptions density = {.density = 500};
  c = urdf_load(ARM, &density);
  compare_near(link_named(&c, "arm")->mass, 1.09, 1e-12, "with the pad");
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
  assert_non_null(strstr(c.report.remarks.data, "link 'a/b' of the file is renamed 'a_b' in the scene"));
  urdf_case_free(&c);
}

static void inertia_must_be_of_a_body(void** state) {
  (void)state;
  const char* text =
      "<robot><link name='w'/><link name='a'>\n<inertial><mass value='1'/>"
      "<inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link>" JOINT(
          "j", "continuous", ENDS("w", "a"), "") "</robot>";
  /* a ball of 1 kg and 1000 kg/m^3 has a radius of 0.0620350 m */
  expect_urdf(text, NULL,
              "2:1: warning: the inertia of link 'a' is zero: the inertia of a solid sphere of the same mass and 1000 "
              "kg/m^3 is assumed, 0.00154 kg m^2; correct <inertia>\n");
  /* iCub's r_ankle_1: zero but for rounding, and positive definite by accident. */
  expect_urdf(
      "<robot><link name='w'/><link name='a'>\n<inertial><mass value='1'/><inertia ixx='2.7e-20' iyy='5.4e-20' "
      "izz='1.4e-20' ixy='-1.7e-21' ixz='0' iyz='0'/></inertial></link>" JOINT("j", "continuous", ENDS("w", "a"),
                                                                               "") "</robot>",
      NULL,
      "2:1: warning: the inertia of link 'a' is zero: the inertia of a solid sphere of the same mass and 1000 kg/m^3 "
      "is assumed, 0.00154 kg m^2; correct <inertia>\n");
  /* The principal moments are 0.4, 0.4 and -0.2. With d about all axes added those of a body need
   * (0.4 + d) + (-0.2 + d) >= 0.4 + d, so d >= 0.2. */
  UrdfCase c = urdf_load(
      "<robot><link name='w'/><link name='a'>\n<inertial><mass value='1'/>"
      "<inertia ixx='0.1' iyy='0.1' izz='0.4' ixy='0.3' ixz='0' iyz='0'/></inertial></link>" JOINT(
          "j", "continuous", ENDS("w", "a"), "") "</robot>",
      NULL);
  const double* i = link_named(&c, "a")->inertia;
  double added = i[0] - 0.1;
  assert_true(added >= 0.2 && added < 0.31);
  compare_near(i[2] - 0.4, added, 1e-15, "the same about all axes");
  compare_near(i[3], 0.3, 0, "products of inertia");
  urdf_case_free(&c);
  expect_urdf(
      "<robot><link name='w'/><link name='a'>\n<inertial><mass value='1'/>"
      "<inertia ixx='1' iyy='1' izz='3' ixy='0' ixz='0' iyz='0'/></inertial></link>" JOINT(
          "j", "continuous", ENDS("w", "a"), "") "</robot>",
      NULL,
      "2:1: warning: no physical body can have the inertia of link 'a', because a principal moment exceeds the sum of "
      "the other two: correct the inertia\n");
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
              "0:0: note: left out: limits of effort of k: no drive moves these joints (--hold adds drives)\n"
              "1:453: note: left out: <mimic> of joint 'i', because the joints mimic each other in a cycle\n"
              "1:548: note: left out: <mimic> of joint 'j', because the joints mimic each other in a cycle\n");
  expect_urdf(MIMIC_ROBOT("", "<mimic joint='i' multiplier='2' offset='1'/>", ""), &options,
              "0:0: note: left out: limits of effort of k: no drive moves these joints (--hold adds drives)\n"
              "1:474: error: joint 'j' mimics 'i' and must start at 1: change or remove the --start of the joint\n");
}

#define GRIPPER(LEADER, FOLLOWER, MIMIC)                                                                       \
  "<robot><link name='w'/><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(1) "</link>\n" JOINT( \
      "i", "prismatic", ENDS("w", "a"), LIMIT LEADER) "\n" JOINT("j", "prismatic", ENDS("w", "b"),             \
                                                                 LIMIT FOLLOWER MIMIC) "</robot>"

/* j = i / 2 + 0.1 is in [0.3, 1] where i is in [0.4, 1.8]: i starts at the lower end of that. */
static void a_leader_starts_where_its_followers_can(void** state) {
  (void)state;
  UrdfCase c = urdf_load(GRIPPER(("-1", "2"), ("0.3", "1"), "<mimic joint='i' multiplier='0.5' offset='0.1'/>"), NULL);
  double margin = link_named(&c, "b")->joint.limit_margin, found[2] = {0, 0};
  for (int k = 0; k < c.scene.initial_count; k++)
    found[strcmp(c.scene.links[c.scene.initials[k].link].name, "b") == 0] = c.scene.initials[k].coordinates[0];
  compare_near(found[0], 0.4 + 2 * margin, 1e-15, "leader");
  compare_near(found[1], 0.3 + margin, 1e-15, "follower");
  urdf_case_free(&c);
}

static void a_mimic_against_the_limits_is_told(void** state) {
  (void)state;
  const char* text = GRIPPER(("0", "1"), ("0", "1"), "<mimic joint='i' multiplier='-1'/>");
  UrdfCase c = urdf_import(text, NULL);
  char* found = told(&c.diagnostics);
  assert_int_equal(c.status, STATUS_BAD_INPUT);
  assert_non_null(strstr(found, "3:127: error: <mimic>: joint 'j' must start at -1 'i' + 0 = -0."));
  assert_non_null(strstr(found, ", outside of its limits 0 and 1 (limits of the other joint: 0 and 1)"));
  memory_free(found);
  urdf_case_free(&c);
  const RobotOptions lenient = {.lenient = true};
  c = urdf_load(text, &lenient);
  assert_int_equal(c.scene.coupling_count, 0);
  assert_non_null(strstr(c.report.remarks.data,
                         "left out: <mimic> of joint 'j', because no position is within the limits of both"));
  urdf_case_free(&c);
}

/* Each kind of URDF element that a scene cannot express is reported in one line. */
static void what_is_lost_is_told(void** state) {
  (void)state;
  expect_urdf("<robot><link name='w'/><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(1) "</link>"
              "<joint name='j' type='revolute'>" ENDS("w", "a") "<limit lower='-1' upper='1' effort='5' velocity='1'/>"
              "<dynamics friction='0.1'/><safety_controller k_velocity='1'/></joint>"
              "<joint name='k' type='revolute'>" ENDS("a", "b") "<limit lower='-1' upper='1' effort='5' velocity='1'/>"
              "<mimic joint='j'/></joint></robot>", NULL,
              "0:0: note: left out: limits of effort of j, k: no drive moves these joints (--hold adds drives)\n"
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
      cmocka_unit_test(a_massless_link_that_carries_gets_a_share),
      cmocka_unit_test(a_joint_that_carries_nothing_is_fixed),
      cmocka_unit_test(shapes_without_mass_are_weighed),
      cmocka_unit_test(shapes_without_mass_are_weighed_beside_merged_links),
      cmocka_unit_test(shapes_on_fixed_joints_add_mass_only_by_density),
      cmocka_unit_test(a_leader_starts_where_its_followers_can),
      cmocka_unit_test(a_mimic_against_the_limits_is_told),
      cmocka_unit_test(bodies_float_and_bases_are_free),
      cmocka_unit_test(names_follow_the_rules_of_a_scene),
      cmocka_unit_test(inertia_must_be_of_a_body),
      cmocka_unit_test(what_is_lost_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
