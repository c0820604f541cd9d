/* Tests invalid URDF files: each message with its line. */
#include "unit/robot/urdf_testing.h"

static void all_problems_are_told_in_one_run(void** state) {
  (void)state;
  expect_urdf(
      "<robot name='r'>\n"
      "<link><inertial><mass value='-1'/></inertial></link>\n"
      "<link name='b'><inertial><mass value='1 2'/><inertia ixx='nan' iyy='0x1' izz='1' ixy='0' ixz='0'/></inertial>\n"
      "<collision><geometry><box size='1 0 1'/></geometry></collision>\n"
      "<collision><geometry><ball radius='1'/></geometry></collision>\n"
      "<collision><geometry><mesh/></geometry></collision>\n"
      "<collision><geometry><cylinder radius='1'/></geometry></collision></link>\n"
      "<joint name='j' type='hinge'><child link='b'/><axis xyz='0 0'/></joint>\n"
      "<joint name='k' type='revolute'><parent link='b'/><child link='c'/><axis xyz='0 0 0'/></joint>\n"
      "</robot>\n",
      NULL,
      "2:1: error: <link> needs 'name'\n"
      "2:30: error: value of <mass> must be >= 0, got -1\n"
      "2:7: error: <inertial> needs <inertia>\n"
      "3:39: error: value of <mass>: expected a number, got '1 2'\n"
      "3:59: error: ixx of <inertia>: expected a number, got 'nan'\n"
      "3:69: error: iyy of <inertia>: expected a number, got '0x1'\n"
      "3:45: warning: <inertia> of link 'b' has no iyz: taken as 0\n"
      "4:33: error: size of <box> must be > 0, got '1 0 1'\n"
      "5:12: error: <geometry> needs <box>, <cylinder>, <sphere>, <capsule>, <mesh> or <plane>\n"
      "6:22: error: <mesh> needs 'filename'\n"
      "7:22: error: <cylinder> needs 'length'\n"
      "8:23: error: the type of a joint must be fixed, revolute, continuous, prismatic, floating, planar or spherical, "
      "got 'hinge'\n"
      "8:1: error: <joint> needs <parent>\n"
      "9:79: error: the axis of joint 'k' must have a length other than zero\n"
      "9:14: warning: the revolute joint 'k' has no <limit> and moves without limits: add <limit> with lower and "
      "upper\n"
      "9:64: error: no link is named 'c'\n");
}

static void names_stand_once(void** state) {
  (void)state;
  expect_urdf("<robot>\n<deformable name='torus'/></robot>", NULL,
              "2:1: error: a robot needs a <link>: <deformable> is soft, and only rigid links are supported\n");
  expect_urdf("<robot>\n<link name='a'/>\n<link name='a'/>\n</robot>", NULL,
              "3:13: error: the name 'a' is taken by the link of line 2: rename one of the two\n"
              "3:13: error: a robot must be one tree, but neither link 'a' nor link 'a' has a parent: connect them by "
              "joints\n");
}

static void limits_out_of_order_are_none_and_efforts_are_not_negative(void** state) {
  (void)state;
  expect_urdf("<robot><link name='a'/><link name='b'>" INERTIAL(1) "</link>\n"
              "<joint name='j' type='prismatic'>" ENDS("a", "b") "\n"
              "<limit lower='1' upper='-1' effort='-2' velocity='x'/><dynamics damping='-1'/></joint></robot>",
              NULL,
              "3:37: error: effort of <limit> must be >= 0, got -2\n"
              "3:51: error: velocity of <limit>: expected a number, got 'x'\n"
              "3:1: warning: joint 'j' moves without limits, as in MuJoCo, because lower is not below upper (1 and -1): "
              "correct <limit>, or give the joint the type 'fixed' if it shall not move\n"
              "3:74: error: damping of <dynamics> must be >= 0, got -1\n");
  UrdfCase c = urdf_load("<robot><link name='a'/><link name='b'>" INERTIAL(1) "</link>\n"
                         "<joint name='j' type='revolute'>" ENDS("a", "b") "<limit effort='0' velocity='1'/></joint></robot>",
                         NULL);
  assert_int_equal(link_named(&c, "b")->joint.type, JOINT_HINGE);
  assert_false(link_named(&c, "b")->joint.limited[0]);
  assert_non_null(strstr(c.report.remarks.data, "joint 'j' moves without limits"));
  urdf_case_free(&c);
}

static void spherical_joints_and_planes_of_bullet_are_read(void** state) {
  (void)state;
  UrdfCase c = urdf_load(
      "<robot><link name='a'><collision><origin xyz='0 0 1'/><geometry><plane normal='0 -3 0'/></geometry></collision>"
      "</link><link name='b'>" INERTIAL(1) "</link>"
      "<joint name='j' type='spherical'>" ENDS("a", "b") "<dynamics damping='0.5'/></joint></robot>",
      NULL);
  const SceneLink *a = link_named(&c, "a"), *b = link_named(&c, "b");
  assert_int_equal(b->joint.type, JOINT_BALL);
  compare_near(b->joint.damping[2], 0.5, 0, "damping");
  assert_int_equal(c.scene.shapes[a->shapes[0].shape].type, SHAPE_HALF_SPACE);
  compare_vec3(a->shapes[0].position, vec3(0, 0, 1), 0, "position");
  compare_vec3(mat3_mul_vec(mat3_from_quat(a->shapes[0].rotation), vec3(0, 0, 1)), vec3(0, -1, 0), 1e-15, "normal");
  urdf_case_free(&c);
}

static void an_axis_is_made_a_unit_vector(void** state) {
  (void)state;
  expect_urdf("<robot><link name='a'/><link name='b'>" INERTIAL(1) "</link>\n"
              "<joint name='j' type='continuous'>" ENDS("a", "b") "<axis xyz='0 3 4'/></joint></robot>",
              NULL, "2:81: warning: the axis of joint 'j' has the length 5 and is normalized\n");
  UrdfCase c = urdf_load("<robot><link name='a'/><link name='b'>" INERTIAL(1) "</link>\n"
                         "<joint name='j' type='continuous'>" ENDS("a", "b") "<axis xyz='0 3 4'/></joint></robot>",
                         NULL);
  compare_vec3(link_named(&c, "b")->joint.axes[0], vec3(0, 0.6, 0.8), 1e-15, "axis");
  urdf_case_free(&c);
  /* URDF's own default */
  c = urdf_load("<robot><link name='a'/><link name='b'>" INERTIAL(1) "</link>\n"
                "<joint name='j' type='continuous'>" ENDS("a", "b") "</joint></robot>",
                NULL);
  compare_vec3(link_named(&c, "b")->joint.axes[0], vec3(1, 0, 0), 0, "axis");
  urdf_case_free(&c);
}

static void what_is_not_read_is_told_in_one_line(void** state) {
  (void)state;
  expect_urdf(
      "<robot xmlns:x='y'>\n<gazebo/><link name='a' colour='red'><sensor/></link><transmission/><gazebo/>\n"
      "</robot>",
      NULL,
      "2:33: warning: unknown attribute 'colour' of <link> is ignored\n"
      "0:0: note: elements left out: gazebo, transmission, link/sensor\n");
  expect_urdf(
      "<robot>\n<link name='a'/><xacro:include filename='b'/></robot>", NULL,
      "2:17: error: 'xacro:include' is an element of xacro: expand the file first (xacro file.xacro > file.urdf)\n");
  expect_urdf("<sdf/>", NULL, "1:1: error: the root element of a URDF file must be <robot>, got <sdf>\n");
  expect_urdf("<robot/>", NULL, "1:1: error: a robot needs a <link>\n");
}

static void a_mimic_names_a_joint(void** state) {
  (void)state;
  expect_urdf("<robot><link name='a'/><link name='b'>" INERTIAL(1) "</link>\n"
              "<joint name='j' type='continuous'>" ENDS("a", "b") "<mimic joint='i'/></joint></robot>",
              NULL, "2:84: error: <mimic>: no joint is named 'i'\n");
}

/* A rotation by 90 degrees about z exchanges ixx and iyy. The colour is that of the named material. */
static void inertia_is_turned_into_the_link_and_colour_found(void** state) {
  (void)state;
  UrdfCase c = urdf_load(
      "<robot name='r'><material name='m'><color rgba='0.1 0.2 1.5 1'/></material><link name='a'><inertial>"
      "<origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><mass value='4'/>"
      "<inertia ixx='1' iyy='2' izz='2.5' ixy='0.1' ixz='0.2' iyz='0.3'/></inertial>"
      "<visual><geometry><sphere radius='1'/></geometry><material name='m'/></visual></link></robot>",
      NULL);
  const SceneLink* a = link_named(&c, "a");
  const double wanted[6] = {2, 1, 2.5, -0.1, -0.3, 0.2};
  for (int k = 0; k < 6; k++) compare_near(a->inertia[k], wanted[k], 1e-15, "inertia %d", k);
  compare_vec3(a->center, vec3(1, 2, 3), 0, "center");
  compare_near(a->mass, 4, 0, "mass");
  assert_int_equal(a->mass_model, MASS_GIVEN);
  compare_vec3(vec3(a->color[0], a->color[1], a->color[2]), vec3(0.1, 0.2, 1), 0, "color");
  assert_string_equal(c.scene.name, "r");
  urdf_case_free(&c);
}

/* A material with a colour in one link is known by its name in the others, before and after. */
static void materials_of_other_links_are_known(void** state) {
  (void)state;
#define COLORED(name, material) \
  "<link name='" name "'><visual><geometry><sphere radius='1'/></geometry>" material "</visual></link>"
  UrdfCase c = urdf_load("<robot><material name='b'><color rgba='0 0 1 1'/></material>" COLORED(
                             "base", "<material name='b'/>") COLORED("x", "<material name='w'/>")
                             COLORED("y", "<material name='w'><color rgba='1 1 1 1'/></material>")
                                 COLORED("z", "<material name='unknown'/>") "<joint name='j' type='fixed'>" ENDS(
                                     "base", "x") "</joint><joint name='k' type='fixed'>" ENDS("base", "y")
                                     "</joint><joint name='l' type='fixed'>" ENDS("base", "z") "</joint></robot>",
                         &(RobotOptions){.keep_fixed = true, .visual = true});
  const double wanted[4][3] = {{0, 0, 1}, {1, 1, 1}, {1, 1, 1}, {-1, -1, -1}};
  static const char* const names[] = {"base", "x", "y", "z"};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) compare_near(link_named(&c, names[i])->color[k], wanted[i][k], 0, "%s", names[i]);
  urdf_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_problems_are_told_in_one_run),
      cmocka_unit_test(names_stand_once),
      cmocka_unit_test(limits_out_of_order_are_none_and_efforts_are_not_negative),
      cmocka_unit_test(spherical_joints_and_planes_of_bullet_are_read),
      cmocka_unit_test(an_axis_is_made_a_unit_vector),
      cmocka_unit_test(what_is_not_read_is_told_in_one_line),
      cmocka_unit_test(a_mimic_names_a_joint),
      cmocka_unit_test(materials_of_other_links_are_known),
      cmocka_unit_test(inertia_is_turned_into_the_link_and_colour_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
