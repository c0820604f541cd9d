#include "unit/robot/urdf_testing.h"

#define LINK(name) "<link name='" name "'/>"
#define JOINT(name, parent, child) "<joint name='" name "' type='fixed'>" ENDS(parent, child) "</joint>\n"

static void two_parents_are_told(void** state) {
  (void)state;
  expect_urdf(
      "<robot>" LINK("a") LINK("b") LINK("c") "\n" JOINT("j", "a", "c") JOINT("k", "b", "c") "</robot>", NULL,
      "3:61: error: link 'c' is also the child of joint 'j': a link has one parent; remove one of the joints\n");
}

static void two_trees_are_told(void** state) {
  (void)state;
  expect_urdf("<robot>" LINK("a") LINK("b") "\n" LINK("c") JOINT("j", "a", "b") "</robot>", NULL,
              "2:13: error: a robot must be one tree, but neither link 'c' nor link 'a' has a parent: connect them by "
              "joints\n");
}

static void rings_are_told(void** state) {
  (void)state;
  expect_urdf(
      "<robot>" LINK("a") LINK("b") "\n" JOINT("j", "a", "b") JOINT("k", "b", "a") "</robot>", NULL,
      "1:20: error: the joints form a loop: every link has a parent; remove the joint whose child is to be the root\n");
  /* a ring beside a tree whose root is not the first link */
  expect_urdf("<robot>" LINK("b") LINK("c") LINK("root") LINK("a") "\n" JOINT("i", "root", "a") JOINT("j", "b", "c")
                  JOINT("k", "c", "b") "</robot>",
              NULL, "4:14: error: the joints form a loop: link 'b' is its own ancestor; remove a joint of the loop\n");
  expect_urdf("<robot>" LINK("a") LINK("b") "\n" JOINT("j", "b", "b") "</robot>", NULL,
              "2:14: error: the joints form a loop: link 'b' is its own ancestor; remove a joint of the loop\n");
}

static void a_joint_without_an_end_is_told_once(void** state) {
  (void)state;
  expect_urdf("<robot>" LINK("a") LINK("b") "\n<joint name='j' type='fixed'><child link='b'/></joint></robot>", NULL,
              "2:1: error: <joint> needs <parent>\n");
}

/* Parents first whatever the order in the file; children in the order of the joints. */
static void links_stand_after_their_parents(void** state) {
  (void)state;
  static const char* const wanted[] = {"root", "b", "c", "a"};
  UrdfCase c = urdf_load(
      "<robot><link name='c'>" INERTIAL(1) "</link><link name='a'>" INERTIAL(1) "</link><link name='b'>" INERTIAL(1)
          "</link><link name='root'>" INERTIAL(1) "</link><joint name='k' type='continuous'>" ENDS("b", "c")
              "</joint><joint name='i' type='continuous'>" ENDS("root", "b")
                  "</joint><joint name='j' type='continuous'>" ENDS("root", "a") "</joint></robot>",
      NULL);
  assert_int_equal(c.scene.link_count, 4);
  for (int i = 0; i < 4; i++) assert_string_equal(c.scene.links[i].name, wanted[i]);
  assert_int_equal(link_named(&c, "c")->parent, 1);
  assert_int_equal(link_named(&c, "a")->parent, 0);
  urdf_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_parents_are_told),
      cmocka_unit_test(two_trees_are_told),
      cmocka_unit_test(rings_are_told),
      cmocka_unit_test(a_joint_without_an_end_is_told_once),
      cmocka_unit_test(links_stand_after_their_parents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
