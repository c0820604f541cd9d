#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <string.h>
#include "export/export.h"
#include "support/runs.h"

/* A file taken apart by the format's rules, apart from the writer. */
typedef struct {
  Text bytes;
  cJSON* json;
  const char* binary;
  size_t binary_length;
  int moments;
} Glb;

static uint32_t integer_at(const char* data) {
  const unsigned char* b = (const unsigned char*)data;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Takes the bytes apart. */
static void open_glb(Glb* opened) {
  Glb g = *opened;
  const char* data = g.bytes.data;
  assert_memory_equal(data, "glTF", 4);
  assert_int_equal(integer_at(data + 4), 2);
  assert_int_equal(integer_at(data + 8), g.bytes.length);
  size_t text = integer_at(data + 12);
  assert_memory_equal(data + 16, "JSON", 4);
  assert_int_equal(text % 4, 0);
  g.json = cJSON_ParseWithLength(data + 20, text);
  assert_non_null(g.json);
  g.binary_length = integer_at(data + 20 + text);
  assert_memory_equal(data + 24 + text, "BIN\0", 4);
  g.binary = data + 28 + text;
  assert_int_equal(28 + text + g.binary_length, g.bytes.length);
  *opened = g;
}

static Glb glb_of(const Run* run, const RunPoses* poses, double fps) {
  Glb g = {0};
  export_glb_parts(&g.bytes, &(GlbPart){"", &run->model, poses}, 1, fps, &g.moments);
  open_glb(&g);
  return g;
}

static void glb_free(Glb* g) {
  cJSON_Delete(g->json);
  text_free(&g->bytes);
}

static const cJSON* item(const cJSON* json, const char* list, int index) {
  const cJSON* found = cJSON_GetArrayItem(cJSON_GetObjectItem(json, list), index);
  assert_non_null(found);
  return found;
}

static int number(const cJSON* json, const char* key) {
  const cJSON* found = cJSON_GetObjectItem(json, key);
  assert_true(cJSON_IsNumber(found));
  return found->valueint;
}

/* Reads element `index` of an accessor, after checking the accessor's bounds and its offset in the buffer. */
static int element(const Glb* g, int accessor, int index, double values[4]) {
  const cJSON *a = item(g->json, "accessors", accessor), *view = item(g->json, "bufferViews", number(a, "bufferView"));
  const char* type = cJSON_GetStringValue(cJSON_GetObjectItem(a, "type"));
  int width = strcmp(type, "SCALAR") == 0 ? 1 : type[3] - '0';
  size_t offset = (size_t)number(view, "byteOffset"), length = (size_t)number(view, "byteLength");
  assert_int_equal(length, 4 * (size_t)width * (size_t)number(a, "count"));
  assert_true(offset + length <= g->binary_length && offset % 4 == 0);
  assert_in_range(index, 0, number(a, "count") - 1);
  for (int k = 0; k < width; k++) {
    uint32_t bits = integer_at(g->binary + offset + 4 * (size_t)(index * width + k));
    float single;
    memcpy(&single, &bits, sizeof single);
    values[k] = (double)single;
    assert_true(values[k] >= cJSON_GetArrayItem(cJSON_GetObjectItem(a, "min"), k)->valuedouble);
    assert_true(values[k] <= cJSON_GetArrayItem(cJSON_GetObjectItem(a, "max"), k)->valuedouble);
  }
  return width;
}

/* Node of a link, by name. */
static int node_of(const Glb* g, const char* name) {
  const cJSON* nodes = cJSON_GetObjectItem(g->json, "nodes");
  for (int i = 1; i < cJSON_GetArraySize(nodes); i++)
    if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(nodes, i), "name")), name) == 0) return i;
  fail_msg("no node '%s'", name);
  return -1;
}

static Pose animated_pose(const Glb* g, int node, int moment) {
  const cJSON *animation = item(g->json, "animations", 0), *channel;
  Pose pose = pose_identity();
  cJSON_ArrayForEach(channel, cJSON_GetObjectItem(animation, "channels")) {
    const cJSON* target = cJSON_GetObjectItem(channel, "target");
    if (number(target, "node") != node) continue;
    double v[4] = {0};
    int output = number(item(animation, "samplers", number(channel, "sampler")), "output");
    if (element(g, output, moment, v) == 3)
      pose.t = vec3(v[0], v[1], v[2]);
    else
      pose.r = mat3_from_quat((Quat){v[3], v[0], v[1], v[2]});
  }
  return pose;
}

static const char* const SCENE =
    "shapes: {h: {type: half_space}, b: {type: box, size: [1, 2, 3]}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: h}\n"
    "  - {name: bare, fixed: true}\n"
    "  - {name: box, shape: b, mass: 1, position: [0, 0, 5], color: [1, 0, 0.5]}\n";

/* Rows at 0, 0.1, ..., the box turning about x and rising. */
static RunPoses turning(const Run* run, int rows) {
  RunPoses poses = {rows, 3, MEMORY_NEW(double, rows), MEMORY_NEW(Pose, 3 * rows)};
  for (int row = 0; row < rows; row++) {
    poses.time[row] = 0.1 * row;
    for (int link = 0; link < 3; link++) poses.pose[3 * row + link] = pose_identity();
    Quat turn = quat_about(vec3(1, 0, 0), 1.3 * row);
    poses.pose[3 * row + run_link(run, "box")] = (Pose){mat3_from_quat(turn), vec3(1, 2, 5 + row)};
  }
  return poses;
}

static void the_motion_is_that_of_the_run(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(run, 6);
  Glb g = glb_of(run, &poses, 10);
  assert_int_equal(g.moments, 6);
  int box = node_of(&g, "box");
  for (int row = 0; row < 6; row++) {
    Pose found = animated_pose(&g, box, row), wanted = poses.pose[3 * row + 2];
    compare_vec3(found.t, wanted.t, 1e-6, "position of row %d", row);
    compare_arrays(&found.r.m[0][0], &wanted.r.m[0][0], 9, 1e-6, "rotation of row %d", row);
  }
  glb_free(&g);
  run_poses_free(&poses);
  run_free(run);
}

/* Successive quaternions lie in one hemisphere, so that viewers interpolate along the short arc. */
static void quaternions_do_not_jump(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(run, 20);
  Glb g = glb_of(run, &poses, 10);
  const cJSON* samplers = cJSON_GetObjectItem(item(g.json, "animations", 0), "samplers");
  double last[4] = {0}, v[4];
  for (int s = 0; s < cJSON_GetArraySize(samplers); s++)
    for (int i = 0; i < 20; i++) {
      if (element(&g, number(cJSON_GetArrayItem(samplers, s), "output"), i, v) < 4) continue;
      assert_true(i == 0 || v[0] * last[0] + v[1] * last[1] + v[2] * last[2] + v[3] * last[3] > 0);
      memcpy(last, v, sizeof last);
    }
  glb_free(&g);
  run_poses_free(&poses);
  run_free(run);
}

/* 3 moments a second of 10 recorded ones: 0, 0.4, 0.8, 1.2, and the last, 1.5. */
static void moments_are_as_dense_as_asked(void** state) {
  (void)state;
  static const double expected[5] = {0, 0.4, 0.8, 1.2, 1.5};
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(run, 16);
  Glb g = glb_of(run, &poses, 3);
  assert_int_equal(g.moments, 5);
  int times = number(item(item(g.json, "animations", 0), "samplers", 0), "input");
  for (int i = 0; i < 5; i++) {
    double v[4] = {0};
    element(&g, times, i, v);
    compare_near(v[0], expected[i], 1e-6, "time of moment %d", i);
  }
  glb_free(&g);
  run_poses_free(&poses);
  run_free(run);
}

/* Checks 12 triangles of the box with outward unit normals, the link's colour in linear light, and the root's rotation
 * from Z up to Y up. */
static void links_are_meshes_with_materials(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(run, 1);
  Glb g = glb_of(run, &poses, 10);
  assert_null(cJSON_GetObjectItem(g.json, "animations"));
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(g.json, "nodes")), 3); /* root, ground, box: nothing bare */
  const cJSON* mesh = item(g.json, "meshes", number(item(g.json, "nodes", node_of(&g, "box")), "mesh"));
  const cJSON *part = item(mesh, "primitives", 0), *attributes = cJSON_GetObjectItem(part, "attributes");
  double volume = 0, v[4] = {0}, n[4] = {0};
  for (int t = 0; t < 12; t++) {
    Vec3 p[3] = {{0}};
    for (int k = 0; k < 3; k++) {
      element(&g, number(attributes, "POSITION"), 3 * t + k, v);
      element(&g, number(attributes, "NORMAL"), 3 * t + k, n);
      p[k] = vec3(v[0], v[1], v[2]);
      compare_near(vec3_norm(vec3(n[0], n[1], n[2])), 1, 1e-6, "normal");
      assert_true(vec3_dot(p[k], vec3(n[0], n[1], n[2])) > 0.49);
    }
    volume += vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6;
  }
  compare_near(volume, 6, 1e-5, "volume");
  const cJSON* color = cJSON_GetObjectItem(
      cJSON_GetObjectItem(item(g.json, "materials", number(part, "material")), "pbrMetallicRoughness"),
      "baseColorFactor");
  compare_near(cJSON_GetArrayItem(color, 0)->valuedouble, 1, 1e-6, "red");
  compare_near(cJSON_GetArrayItem(color, 2)->valuedouble, pow((0.5 + 0.055) / 1.055, 2.4), 1e-6, "blue");
  const cJSON* turn = cJSON_GetObjectItem(item(g.json, "nodes", 0), "rotation");
  double q[4] = {0};
  for (int k = 0; k < 4; k++) q[k] = cJSON_GetArrayItem(turn, k)->valuedouble;
  Vec3 up = mat3_mul_vec(mat3_from_quat((Quat){q[3], q[0], q[1], q[2]}), vec3(0, 0, 1));
  compare_vec3(up, vec3(0, 1, 0), 1e-12, "up");
  glb_free(&g);
  run_poses_free(&poses);
  run_free(run);
}

/* A still design and a moving one: each under a node of its name, which stands clear of the other, with meshes of its
 * own; only the second moves. */
static void parts_stand_beside_each_other(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  RunPoses still = turning(run, 1), moving = turning(run, 6);
  const GlbPart parts[2] = {{"initial", &run->model, &still}, {"best", &run->model, &moving}};
  Glb g = {0};
  export_glb_parts(&g.bytes, parts, 2, 10, &g.moments);
  open_glb(&g);
  assert_int_equal(g.moments, 6);
  int first = node_of(&g, "initial"), second = node_of(&g, "best");
  const cJSON* under_root = cJSON_GetObjectItem(item(g.json, "nodes", 0), "children");
  assert_int_equal(cJSON_GetArraySize(under_root), 2);
  assert_int_equal(cJSON_GetArrayItem(under_root, 0)->valueint, first);
  assert_int_equal(cJSON_GetArrayItem(under_root, 1)->valueint, second);
  static const char* const names[2][2] = {{"initial/ground", "initial/box"}, {"best/ground", "best/box"}};
  for (int k = 0; k < 2; k++)
    for (int link = 0; link < 2; link++) {
      int node = node_of(&g, names[k][link]);
      const cJSON* parent = item(g.json, "nodes", k ? second : first);
      assert_int_equal(item(parent, "children", link)->valueint, node);
      assert_int_equal(number(item(g.json, "nodes", node), "mesh"), 2 * k + link);
    }
  const cJSON* apart = cJSON_GetObjectItem(item(g.json, "nodes", second), "translation");
  double dx = cJSON_GetArrayItem(apart, 0)->valuedouble, dy = cJSON_GetArrayItem(apart, 1)->valuedouble;
  assert_true(hypot(dx, dy) > sqrt(14.0)); /* the box of 1 x 2 x 3 m fits between */
  const cJSON* channels = cJSON_GetObjectItem(item(g.json, "animations", 0), "channels");
  assert_int_equal(cJSON_GetArraySize(channels), 4); /* ground and box of the second */
  int box = node_of(&g, "best/box");
  for (int row = 0; row < 6; row++)
    compare_vec3(animated_pose(&g, box, row).t, moving.pose[3 * row + 2].t, 1e-6, "position of row %d", row);
  glb_free(&g);
  run_poses_free(&still);
  run_poses_free(&moving);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_stand_beside_each_other),

      cmocka_unit_test(the_motion_is_that_of_the_run), cmocka_unit_test(quaternions_do_not_jump),
      cmocka_unit_test(moments_are_as_dense_as_asked), cmocka_unit_test(links_are_meshes_with_materials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
