#include "fixture.h"

static const char* MIXED =
    "shapes: {cube: {type: box, size: [0.1, 0.1, 0.1]}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: stand, fixed: true, shapes: [{shape: cube}], position: [0, 0, 1]}\n"
    "  - name: arm_a\n"
    "    parent: stand\n"
    "    mass: 1\n"
    "    shapes: [{shape: cube}]\n"
    "    joint: {type: hinge, axis: [0, 2, 0], position: [0.3, 0, 0], limits: [-1, 2], damping: 0.5}\n"
    "  - {name: box, mass: 1, shapes: [{shape: cube}], position: [2, 0, 1]}\n"
    "  - name: arm_b\n"
    "    parent: stand\n"
    "    mass: 1\n"
    "    shapes: [{shape: cube}]\n"
    "    joint: {type: universal, axes: [[1, 0, 0], [0, 0, 3]], position: [-0.3, 0, 0]}\n"
    "  - {name: hand, parent: arm_a, fixed: true, mass: 1, shapes: [{shape: cube}], position: [0.2, 0, 0]}\n"
    "  - name: ball\n"
    "    parent: hand\n"
    "    mass: 1\n"
    "    shapes: [{shape: cube}]\n"
    "    joint: {type: ball, position: [0.2, 0, 0]}\n"
    "  - name: sled\n"
    "    mass: 1\n"
    "    shapes: [{shape: cube}]\n"
    "    joint: {type: free, free_axes: [x, z, ry], position: [4, 0, 1]}\n"
    "  - name: drawer\n"
    "    parent: box\n"
    "    mass: 1\n"
    "    shapes: [{shape: cube}]\n"
    "    joint: {type: slide, axis: [0, 1, 0], position: [0, 0.3, 0]}\n"
    "  - {name: lamp, parent: stand, fixed: true, shapes: [{shape: cube}], position: [0, 0, 0.3]}\n"
    "  - name: gimbal\n"
    "    mass: 1\n"
    "    shapes: [{shape: cube}]\n"
    "    joint: {type: free, free_axes: [y, rx, rz], position: [6, 0, 1]}\n";

static Fixture fixture;

static int setup(void** state) {
  (void)state;
  fixture_load(&fixture, MIXED);
  check_clean(&fixture);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  fixture_free(&fixture);
  return 0;
}

/* Two arms on one fixed stand are two trees. Links welded to the stand belong to no tree. */
static void trees_and_numbers_by_hand(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int tree, dof_first, dof_count, coordinate_first, coordinate_count;
  } wanted[] = {
      {"ground", -1, 0, 0, 0, 0}, {"stand", -1, 0, 0, 0, 0}, {"lamp", -1, 0, 0, 0, 0},    {"arm_a", 0, 0, 1, 0, 1},
      {"hand", 0, 1, 0, 1, 0},    {"ball", 0, 1, 3, 1, 4},   {"box", 1, 4, 6, 5, 7},      {"drawer", 1, 10, 1, 12, 1},
      {"arm_b", 2, 11, 2, 13, 2}, {"sled", 3, 13, 3, 15, 3}, {"gimbal", 4, 16, 3, 18, 3},
  };
  const Model* model = &fixture.model;
  assert_int_equal(model->tree_count, 5);
  assert_int_equal(model->dof_count, 19);
  assert_int_equal(model->coordinate_count, 21);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const ModelLink* link = link_named(model, wanted[i].name);
    assert_int_equal(link->tree, wanted[i].tree);
    assert_int_equal(link->dof_count, wanted[i].dof_count);
    assert_int_equal(link->coordinate_count, wanted[i].coordinate_count);
    if (wanted[i].tree < 0) continue;
    assert_int_equal(link->dof_first, wanted[i].dof_first);
    assert_int_equal(link->coordinate_first, wanted[i].coordinate_first);
    for (int k = 0; k < link->dof_count; k++)
      assert_int_equal(model->dof_link[link->dof_first + k], (int)(link - model->links));
  }
  const int firsts[] = {0, 4, 11, 13, 16}, counts[] = {4, 7, 2, 3, 3};
  for (int t = 0; t < 5; t++) {
    assert_int_equal(model->trees[t].dof_first, firsts[t]);
    assert_int_equal(model->trees[t].dof_count, counts[t]);
  }
}

static void rigid_groups_are_what_moves_as_one(void** state) {
  (void)state;
  const Model* model = &fixture.model;
  int world = link_named(model, "ground")->rigid_group;
  assert_int_equal(link_named(model, "stand")->rigid_group, world);
  assert_int_equal(link_named(model, "lamp")->rigid_group, world);
  assert_int_equal(link_named(model, "hand")->rigid_group, link_named(model, "arm_a")->rigid_group);
  const char* moving[] = {"arm_a", "arm_b", "box", "ball", "sled", "drawer", "gimbal"};
  for (int i = 0; i < 7; i++) {
    assert_int_not_equal(link_named(model, moving[i])->rigid_group, world);
    for (int k = 0; k < i; k++)
      assert_int_not_equal(link_named(model, moving[i])->rigid_group, link_named(model, moving[k])->rigid_group);
  }
}

static void joints_keep_axes_limits_and_damping(void** state) {
  (void)state;
  const ModelLink* arm = link_named(&fixture.model, "arm_a");
  assert_int_equal(arm->joint.hinge_count, 1);
  check_vec3(arm->joint.axis[0], vec3(0, 1, 0), 1e-15, "unit axis of the hinge");
  check_vec3(arm->origin.t, vec3(0.3, 0, 0), 0, "origin");
  assert_true(arm->limited[0] && arm->lower[0] == -1 && arm->upper[0] == 2 && arm->damping[0] == 0.5);
  const ModelLink* sled = link_named(&fixture.model, "sled");
  assert_int_equal(sled->joint.slide_count, 2);
  assert_int_equal(sled->joint.hinge_count, 1);
  check_vec3(sled->joint.slide_axis[1], vec3(0, 0, 1), 0, "second slide of the sled");
  check_vec3(sled->joint.axis[0], vec3(0, 1, 0), 0, "hinge of the sled");
  const ModelLink* gimbal = link_named(&fixture.model, "gimbal");
  assert_int_equal(gimbal->joint.hinge_count, 2);
  check_vec3(gimbal->joint.axis[0], vec3(1, 0, 0), 0, "first hinge of the gimbal");
  check_vec3(gimbal->joint.axis[1], vec3(0, 0, 1), 0, "second hinge of the gimbal");
  check_vec3(link_named(&fixture.model, "arm_b")->joint.axis[1], vec3(0, 0, 1), 1e-15, "second axis, unit");
}

/* The numbers of the scene's own counting functions are the model's. */
static void counts_agree_with_the_scene(void** state) {
  (void)state;
  for (int i = 0; i < fixture.model.link_count; i++) {
    const SceneJoint* joint = &fixture.scene.links[i].joint;
    assert_int_equal(fixture.model.links[i].dof_count, scene_joint_dof(joint));
    assert_int_equal(fixture.model.links[i].coordinate_count, scene_joint(joint).coordinate_count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_and_numbers_by_hand),
      cmocka_unit_test(rigid_groups_are_what_moves_as_one),
      cmocka_unit_test(joints_keep_axes_limits_and_damping),
      cmocka_unit_test(counts_agree_with_the_scene),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
