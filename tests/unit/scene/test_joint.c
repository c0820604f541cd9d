#include "scene_testing.h"

static void degrees_of_freedom_and_coordinates(void** state) {
  (void)state;
  static const struct {
    SceneJoint joint;
    int dof, slides;
    const char* names; /* of the coordinates */
  } CASES[] = {
      {{.type = JOINT_FIXED}, 0, 0, ""},
      {{.type = JOINT_HINGE}, 1, 0, "angle "},
      {{.type = JOINT_SLIDE}, 1, 1, "position "},
      {{.type = JOINT_UNIVERSAL}, 2, 0, "angle1 angle2 "},
      {{.type = JOINT_BALL}, 3, 0, "qw qx qy qz "},
      {{.type = JOINT_FREE, .free_axes = FREE_ALL}, 6, 3, "x y z qw qx qy qz "},
      {{.type = JOINT_FREE, .free_axes = FREE_X | FREE_Y | FREE_RZ}, 3, 2, "x y rz "},
      {{.type = JOINT_FREE, .free_axes = FREE_X | FREE_Y | FREE_Z | FREE_RZ}, 4, 3, "x y z rz "},
      {{.type = JOINT_FREE, .free_axes = FREE_Z | FREE_RX | FREE_RY | FREE_RZ}, 4, 1, "z qw qx qy qz "},
      {{.type = JOINT_FREE, .free_axes = FREE_RX | FREE_RY | FREE_RZ}, 3, 0, "qw qx qy qz "},
      {{.type = JOINT_FREE, .free_axes = FREE_RX | FREE_RZ}, 2, 0, "rx rz "},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    const SceneJoint* joint = &CASES[i].joint;
    Text names = {0};
    text_add_bytes(&names, "", 0);
    for (int k = 0; k < scene_joint(joint).coordinate_count; k++)
      text_add(&names, "%s ", scene_joint_coordinate_name(joint, k));
    assert_int_equal(scene_joint_dof(joint), CASES[i].dof);
    assert_int_equal(scene_joint(joint).slide_count, CASES[i].slides);
    assert_string_equal(names.data, CASES[i].names);
    assert_string_equal(scene_joint_coordinate_name(joint, -1), "");
    assert_string_equal(scene_joint_coordinate_name(joint, scene_joint(joint).coordinate_count), "");
    text_free(&names);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(degrees_of_freedom_and_coordinates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
