/* Tests shapes of URDF files as shapes of a scene. */
#include <stdlib.h>
#include <unistd.h>

#include "unit/robot/urdf_testing.h"

#define SHAPE(inside) \
  "<robot><link name='a'>\n<collision><geometry>" inside "</geometry></collision>" INERTIAL(1) "</link></robot>"

static const SceneShape* only_shape(const UrdfCase* c) {
  assert_int_equal(c->scene.shape_count, 1);
  assert_int_equal(c->scene.links[0].shape_count, 1);
  return &c->scene.shapes[c->scene.links[0].shapes[0].shape];
}

static void primitives_keep_their_sizes(void** state) {
  (void)state;
  UrdfCase c = urdf_load(SHAPE("<box size='1 2 3'/>"), NULL);
  assert_int_equal(only_shape(&c)->type, SHAPE_BOX);
  compare_vec3(only_shape(&c)->size, vec3(1, 2, 3), 0, "full edges, as in URDF");
  urdf_case_free(&c);
  c = urdf_load(SHAPE("<cylinder radius='0.5' length='2'/>"), NULL);
  assert_int_equal(only_shape(&c)->type, SHAPE_CYLINDER);
  compare_near(only_shape(&c)->length, 2, 0, "length");
  compare_near(only_shape(&c)->radius, 0.5, 0, "radius");
  urdf_case_free(&c);
  c = urdf_load(SHAPE("<sphere radius='0.5'/>"), NULL);
  assert_int_equal(only_shape(&c)->type, SHAPE_SPHERE);
  urdf_case_free(&c);
  c = urdf_load(SHAPE("<capsule radius='0.5' length='2'/>"), NULL);
  assert_int_equal(only_shape(&c)->type, SHAPE_CAPSULE);
  urdf_case_free(&c);
}

static void expect_file(const char* written, const char* wanted) {
  static const RobotPackage packages[] = {{"robots", "/data/robots"}, {"robot", "share/robot"}};
  const RobotOptions options = {.packages = packages, .package_count = 2};
  Text text = {0};
  text_add(&text, SHAPE("<mesh filename='%s' scale='0.5 0.5 0.5'/>"), written);
  UrdfCase c = urdf_load(text.data, &options);
  assert_string_equal(only_shape(&c)->file, wanted);
  compare_near(only_shape(&c)->scale, 0.5, 0, "scale");
  urdf_case_free(&c);
  text_free(&text);
}

static void files_are_found(void** state) {
  (void)state;
  expect_file("meshes/a.obj", "folder/meshes/a.obj");
  expect_file("/abs/a.OBJ", "/abs/a.OBJ");
  expect_file("file:///abs/a.obj", "/abs/a.obj");
  expect_file("meshes/a.STL", "folder/meshes/a.STL");
  expect_file("package://robot/meshes/a.obj", "share/robot/meshes/a.obj");
  expect_file("package://robots/a.obj", "/data/robots/a.obj");
  expect_file("model://robots/a.obj", "/data/robots/a.obj");
  expect_urdf(SHAPE("<mesh filename='package://other/a.obj'/>"), NULL,
              "2:38: error: the folder of package 'other' is not known: give --package other=DIR\n");
  expect_urdf(SHAPE("<mesh filename='http://x/a.obj'/>"), NULL,
              "2:38: error: the file of a mesh must be a path, file://... or package://..., got 'http://x/a.obj'\n");
}

static void meshes_of_other_formats_are_refused_or_left_out(void** state) {
  (void)state;
  expect_urdf(SHAPE("<mesh filename='a.step'/>"), NULL,
              "2:38: error: link 'a': the mesh 'a.step' has an unsupported format (supported: OBJ, STL, Collada, ...: "
              "docs/urdf.md): convert it, or leave such meshes out by --skip-unsupported\n");
  const RobotOptions skip = {.skip_unsupported = true};
  expect_urdf(SHAPE("<mesh filename='a.step'/>"), &skip,
              "2:38: warning: link 'a': the mesh 'a.step' has an unsupported format (supported: OBJ, STL, Collada, "
              "...: docs/urdf.md) and is left out\n");
}

/* Mirrored in y and stretched in z: the corners of the tetrahedron, worked out by hand. */
static void uneven_scales_are_worked_into_points(void** state) {
  (void)state;
  static const Vec3 wanted[] = {{0, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 0, 2}};
  char path[] = "/tmp/sdrs-urdf-XXXXXX";
  int file = mkstemp(path);
  close(file);
  char name[64];
  snprintf(name, sizeof name, "%s.obj", path);
  const char* mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n";
  assert_int_equal(file_write(name, mesh, strlen(mesh)), STATUS_OK);
  Text text = {0};
  text_add(&text, SHAPE("<mesh filename='%s' scale='1 -1 2'/>"), name);
  UrdfCase c = urdf_load(text.data, NULL);
  assert_int_equal(only_shape(&c)->type, SHAPE_POINTS);
  assert_int_equal(only_shape(&c)->point_count, 4);
  for (int i = 0; i < 4; i++) compare_vec3(only_shape(&c)->points[i], wanted[i], 0, "point %d", i);
  urdf_case_free(&c);
  text_free(&text);
  unlink(name);
  unlink(path);
}

static void visual_shapes_stand_in_where_asked_for(void** state) {
  (void)state;
  const char* text =
      "<robot><link name='a'><visual><geometry><sphere radius='1'/></geometry></visual>" INERTIAL(1) "</link></robot>";
  const RobotOptions visual = {.visual = true};
  UrdfCase c = urdf_load(text, NULL);
  assert_int_equal(c.scene.links[0].shape_count, 0);
  urdf_case_free(&c);
  c = urdf_load(text, &visual);
  assert_int_equal(c.scene.links[0].shape_count, 1);
  urdf_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(primitives_keep_their_sizes),
      cmocka_unit_test(files_are_found),
      cmocka_unit_test(meshes_of_other_formats_are_refused_or_left_out),
      cmocka_unit_test(uneven_scales_are_worked_into_points),
      cmocka_unit_test(visual_shapes_stand_in_where_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
