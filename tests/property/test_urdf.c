/* Robots in URDF, in and out: link poses against plain forward kinematics from the numbers of the file, round trips of
 * shipped scenes, and runs of robots made of the meshes of ../shared/data (skipped where they are absent). */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/app.h"
#include "scene_run.h"

enum { SAMPLES = 100, WORDS_MAX = 16, PLAIN_MAX = 64, NAME_SIZE = 80 };
#define POSE_TOLERANCE 1e-12
#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- the program, in a folder of its own */

static char folder[32];

static int make_folder(void** state) {
  (void)state;
  strcpy(folder, "/tmp/sdrs-urdf-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

/* `%s` in the line stands for the folder. */
static void run_command(const char* line) {
  Text text = {0};
  text_add(&text, line, folder, folder, folder);
  char *words[WORDS_MAX], *copy = memory_copy_text(text.data);
  int count = 0;
  for (char* word = strtok(text.data, " "); word; word = strtok(NULL, " ")) words[count++] = word;
  int code = (int)app_run(count, words);
  if (code != EXIT_DONE) fail_msg("exit code %d: %s", code, copy);
  memory_free(copy);
  text_free(&text);
}

static char* in_folder(const char* name) {
  Text text = {0};
  text_add(&text, "%s/%s", folder, name);
  return text.data;
}

static void write_in_folder(const char* name, const char* content) {
  char* path = in_folder(name);
  assert_int_equal(file_write(path, content, strlen(content)), STATUS_OK);
  memory_free(path);
}

static bool data_is_there(void) {
  if (file_exists("../shared/data/README.md")) return true;
  print_message("SKIP: no ../shared/data\n");
  return false;
}

/* ---------------------------------------------------------------- plain kinematics: 4 x 4 matrices, no code of ours */

typedef struct {
  double m[4][4];
} Frame;

typedef struct {
  char name[NAME_SIZE], type[NAME_SIZE], parent[NAME_SIZE], child[NAME_SIZE];
  double xyz[3], rpy[3], axis[3], lower, upper;
  double value; /* coordinate in this sample */
} PlainJoint;

typedef struct {
  PlainJoint joints[PLAIN_MAX];
  int count;
} Plain;

static Frame frame_mul(Frame a, Frame b) {
  Frame c = {0};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) c.m[i][j] += a.m[i][k] * b.m[k][j];
  return c;
}

static Frame frame_about(const double* axis, double angle) { /* Rodrigues */
  double c = cos(angle), s = sin(angle), x = axis[0], y = axis[1], z = axis[2], v = 1 - c;
  return (Frame){{{c + x * x * v, x * y * v - z * s, x * z * v + y * s, 0},
                  {y * x * v + z * s, c + y * y * v, y * z * v - x * s, 0},
                  {z * x * v - y * s, z * y * v + x * s, c + z * z * v, 0},
                  {0, 0, 0, 1}}};
}

static Frame frame_along(const double* axis, double way) {
  return (Frame){{{1, 0, 0, way * axis[0]}, {0, 1, 0, way * axis[1]}, {0, 0, 1, way * axis[2]}, {0, 0, 0, 1}}};
}

static Frame joint_frame(const PlainJoint* joint) {
  static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
  Frame at = frame_along(joint->xyz, 1);
  at = frame_mul(at, frame_about(z, joint->rpy[2]));
  at = frame_mul(at, frame_about(y, joint->rpy[1]));
  at = frame_mul(at, frame_about(x, joint->rpy[0]));
  if (strcmp(joint->type, "prismatic") == 0) at = frame_mul(at, frame_along(joint->axis, joint->value));
  if (strcmp(joint->type, "revolute") == 0 || strcmp(joint->type, "continuous") == 0)
    at = frame_mul(at, frame_about(joint->axis, joint->value));
  return at;
}

static Frame link_frame(const Plain* plain, const char* link) {
  for (int k = 0; k < plain->count; k++)
    if (strcmp(plain->joints[k].child, link) == 0)
      return frame_mul(link_frame(plain, plain->joints[k].parent), joint_frame(&plain->joints[k]));
  return frame_along((const double[3]){0, 0, 0}, 0);
}

/* The text behind `key="` in [from, end), else the fallback. */
static const char* value_of(const char* from, const char* end, const char* key, const char* fallback) {
  Text wanted = {0};
  text_add(&wanted, "%s\"", key);
  const char* found = strstr(from, wanted.data);
  const char* value = found && found < end ? found + wanted.length : fallback;
  text_free(&wanted);
  return value;
}

static void copy_name(char* to, const char* from) { snprintf(to, NAME_SIZE, "%.*s", (int)strcspn(from, "\""), from); }

static void read_triple(const char* text, double* values) {
  assert_int_equal(sscanf(text, "%lf %lf %lf", &values[0], &values[1], &values[2]), 3);
}

/* Joints of a file written as plainly as those here: scanned, not parsed. */
static Plain read_plain(const char* path) {
  Plain plain = {0};
  char* text;
  size_t length;
  assert_int_equal(file_read(path, &text, &length), STATUS_OK);
  for (const char* at = text; (at = strstr(at, "<joint ")) != NULL;) {
    const char *end = strstr(at, "</joint>"), *origin = strstr(at, "<origin");
    const char *parent = strstr(at, "<parent"), *child = strstr(at, "<child"), *axis = strstr(at, "<axis");
    PlainJoint* joint = &plain.joints[plain.count++];
    copy_name(joint->name, value_of(at, end, "name=", ""));
    copy_name(joint->type, value_of(at, end, "type=", ""));
    copy_name(joint->parent, value_of(parent, end, "link=", ""));
    copy_name(joint->child, value_of(child, end, "link=", ""));
    read_triple(origin && origin < end ? value_of(origin, end, "xyz=", "0 0 0") : "0 0 0", joint->xyz);
    read_triple(origin && origin < end ? value_of(origin, end, "rpy=", "0 0 0") : "0 0 0", joint->rpy);
    read_triple(axis && axis < end ? value_of(axis, end, "xyz=", "1 0 0") : "1 0 0", joint->axis);
    joint->lower = strtod(value_of(at, end, "lower=", "-3"), NULL);
    joint->upper = strtod(value_of(at, end, "upper=", "3"), NULL);
    at = end;
  }
  memory_free(text);
  return plain;
}

/* Largest entry of the difference of a pose and a frame [m, 1]. */
static double frame_difference(Pose pose, Frame frame) {
  const double t[3] = {pose.t.x, pose.t.y, pose.t.z};
  double worst = 0;
  for (int i = 0; i < 3; i++) {
    worst = fmax(worst, fabs(t[i] - frame.m[i][3]));
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(pose.r.m[i][j] - frame.m[i][j]));
  }
  return worst;
}

/* Random coordinates of the joints that the links of the model are the children of. */
static void set_random(const Model* model, Plain* plain, Random* random, double* q) {
  for (int k = 0; k < plain->count; k++) {
    PlainJoint* joint = &plain->joints[k];
    if (strcmp(joint->type, "fixed") == 0) continue;
    joint->value = random_uniform(random, joint->lower, joint->upper);
    for (int i = 0; i < model->link_count; i++)
      if (strcmp(model->links[i].name, joint->child) == 0) q[model->links[i].coordinate_first] = joint->value;
  }
}

/* Every link of the scene at random angles, against the numbers of the file. Returns how many links were compared. */
static int compare_kinematics(const char* scene, const char* urdf) {
  SceneRun run;
  Random random = {11};
  Plain plain = read_plain(urdf);
  run_open(&run, scene, NULL);
  const Model* model = &run.model;
  double *q = MEMORY_NEW(double, model->coordinate_count), worst = 0;
  Pose* poses = MEMORY_NEW(Pose, model->link_count);
  for (int sample = 0; sample < SAMPLES; sample++) {
    set_random(model, &plain, &random, q);
    model_poses(model, q, poses);
    for (int i = 0; i < model->link_count; i++)
      worst = fmax(worst, frame_difference(poses[i], link_frame(&plain, model->links[i].name)));
  }
  int count = model->link_count;
  print_message("%s: %d links, %d samples, largest difference %.2e\n", urdf, count, SAMPLES, worst);
  if (!(worst <= POSE_TOLERANCE)) fail_msg("%s: poses differ by %g", urdf, worst);
  memory_free(q);
  memory_free(poses);
  run_close(&run);
  return count;
}

/* ---------------------------------------------------------------- a Panda arm */

static void panda_moves_as_its_file_says(void** state) {
  (void)state;
  if (!data_is_there()) skip();
  char* scene = in_folder("panda.yaml");
  run_command("sdrs import ../shared/data/panda/panda.urdf -q -o %s/panda.yaml");
  assert_int_equal(compare_kinematics(scene, "../shared/data/panda/panda.urdf"), 10); /* the hand is part of link7 */
  run_command("sdrs import ../shared/data/panda/panda.urdf -q -o %s/panda.yaml --keep-fixed");
  assert_int_equal(compare_kinematics(scene, "../shared/data/panda/panda.urdf"), 11);
  memory_free(scene);
}

/* A spring of 5 Hz gives by g / ((2 pi 5 Hz)^2 r) at most, r the radius of gyration: 0.05 rad for r = 0.2 m. */
static void panda_is_held_where_it_starts(void** state) {
  (void)state;
  if (!data_is_there()) skip();
  SceneRun run;
  char* scene = in_folder("held.yaml");
  run_command("sdrs import ../shared/data/panda/panda.urdf -q -o %s/held.yaml --hold 5 --start panda_joint4=-1.5");
  run_command("sdrs validate -q %s/held.yaml");
  run_open(&run, scene, NULL);
  assert_int_equal(run.model.controller_count, 9);
  const double* start = run.model.initial_coordinates;
  expect_near(run_coordinate(&run, "panda_link4", 0), -1.5, 0, "start");
  run_until(&run, 1.0);
  for (int k = 0; k < run.model.coordinate_count; k++)
    expect_near(sim_state(run.sim)->q[k], start[k], 0.05, "a coordinate that is held");
  run_close(&run);
  memory_free(scene);
}

/* ---------------------------------------------------------------- hands from meshes, millimetres and centimetres */

#define HINGE(name, parent, child, x, y, z)                                                                          \
  "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/><origin xyz='" x " " y \
  " " z "'/><axis xyz='1 0 0'/><limit lower='-0.2' upper='1.5' effort='1' velocity='1'/></joint>\n"
#define PART(name, file, scale)                                                                                 \
  "<link name='" name "'><collision><geometry><mesh filename='package://hand/" file "' scale='" scale " " scale \
  " " scale "'/></geometry></collision></link>\n"

/* Held, and inside the limits for as long as it runs. */
static void run_hand(const char* name) {
  SceneRun run;
  char* scene = in_folder(name);
  run_open(&run, scene, NULL);
  run_until(&run, 0.3);
  for (int k = 0; k < run.model.coordinate_count; k++)
    expect_near(sim_state(run.sim)->q[k], run.model.initial_coordinates[k], 0.05, "a joint that is held");
  for (int i = 0; i < run.model.link_count; i++)
    if (run.model.links[i].dof_count > 0) expect_between(run.model.links[i].mass, 1e-4, 1, "mass of a part, kg");
  run_close(&run);
  memory_free(scene);
}

static void shadow_finger_runs(void** state) {
  (void)state;
  if (!data_is_there()) skip();
  write_in_folder("shadow.urdf", "<robot name='shadow'>\n" PART("knuckle", "f_knuckle.obj", "0.001")
                                     PART("proximal", "f_proximal.obj", "0.001") PART("middle", "f_middle.obj", "0.001")
                                         PART("distal", "f_distal_pst_214.obj", "0.001")
                                             HINGE("FFJ3", "knuckle", "proximal", "0", "0", "0")
                                                 HINGE("FFJ2", "proximal", "middle", "0", "0", "0.045")
                                                     HINGE("FFJ1", "middle", "distal", "0", "0", "0.025") "</robot>\n");
  run_command(
      "sdrs import %s/shadow.urdf -q -o %s/shadow.yaml --package hand=../shared/data/shadow --density 1100 --hold 10 "
      "--max-vertices 48");
  run_hand("shadow.yaml");
}

static void diffhand_finger_runs(void** state) {
  (void)state;
  if (!data_is_there()) skip();
  write_in_folder("diffhand.urdf",
                  "<robot name='diffhand'>\n" PART("palm", "finger_palm.obj", "0.01")
                      PART("knuckle", "finger_knuckle_child.obj", "0.01") PART("phalanx", "finger_phalanx.obj", "0.01")
                          PART("tip", "finger_tip.obj", "0.01") HINGE("j1", "palm", "knuckle", "0", "0", "0.03")
                              HINGE("j2", "knuckle", "phalanx", "0", "0", "0.03")
                                  HINGE("j3", "phalanx", "tip", "0", "0", "0.04") "</robot>\n");
  run_command(
      "sdrs import %s/diffhand.urdf -q -o %s/diffhand.yaml --package hand=../shared/data/diffhand --density 1100 "
      "--hold 10 --max-vertices 48");
  run_hand("diffhand.yaml");
}

/* ---------------------------------------------------------------- what import adds: controllers, a place to stand */

#define ROD(name, mass)                                                       \
  "<link name='" name "'><inertial><origin xyz='0 0 0.5'/><mass value='" mass \
  "'/>"                                                                       \
  "<inertia ixx='0.2' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.15'/></inertial></link>\n"
#define TURN(name, parent, child, z)                                                                                 \
  "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child "'/><origin xyz='0 0 " z \
  "'/><axis xyz='0 1 0'/></joint>\n"

/* About y: the lower rod alone 0.1 + 3 * 0.5^2 = 0.85 kg m^2; the upper 0.1 + 2 * 0.5^2 and the lower's 0.1 + 3 * 1.5^2
 * on top, 7.45. kp = I w^2 and a damping of 2 I w, w = 2 pi 4 Hz; the gain of a scene is the damping times its step. */
static void held_joints_have_the_frequency_asked_for(void** state) {
  (void)state;
  write_in_folder("rods.urdf", "<robot name='rods'><link name='world'/>\n" ROD("upper", "2") ROD("lower", "3")
                                   TURN("a", "world", "upper", "0") TURN("b", "upper", "lower", "1") "</robot>\n");
  run_command("sdrs import %s/rods.urdf -q -o %s/rods.yaml --hold 4 --start a=0.5");
  char* scene = in_folder("rods.yaml");
  SceneRun run;
  run_open(&run, scene, NULL);
  const double inertia[2] = {7.45, 0.85}, start[2] = {0.5, 0}, w = 2 * PI * 4;
  for (int c = 0; c < 2; c++) {
    const ModelController* controller = &run.model.controllers[c];
    double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF];
    signal_eval(&controller->target, 0.3, value, rate);
    expect_near(controller->position_gain[0], inertia[c] * w * w, 1e-9 * inertia[c] * w * w, "kp");
    expect_near(controller->damping_gain[0], 2 * inertia[c] * w, 1e-9, "damping gain");
    expect_near(value[0], start[c], 0, "target");
  }
  run_close(&run);
  memory_free(scene);
}

/* Put down as near to the ground as it comes to rest: it neither falls nor jumps. */
static void a_free_robot_stands_on_the_ground(void** state) {
  (void)state;
  write_in_folder("cube.urdf",
                  "<robot name='cube'><link name='cube'><inertial><mass value='2'/>"
                  "<inertia ixx='0.013' ixy='0' ixz='0' iyy='0.013' iyz='0' izz='0.013'/></inertial>"
                  "<collision><origin xyz='0 0 0.3'/><geometry><box size='0.2 0.2 0.2'/></geometry></collision>"
                  "</link></robot>\n");
  run_command("sdrs import %s/cube.urdf -q -o %s/cube.yaml --base free --ground");
  char* scene = in_folder("cube.yaml");
  SceneRun run;
  run_open(&run, scene, NULL);
  double height = run_position(&run, "cube").z;
  expect_between(height + 0.2, 0, 0.005, "gap under the cube, m");
  run_until(&run, 0.5);
  expect_near(run_position(&run, "cube").z, height, 2e-4, "height, m");
  run_close(&run);
  memory_free(scene);
}

/* ---------------------------------------------------------------- out and in again */

static double pose_difference(Pose a, Pose b) {
  Frame frame = {{{b.r.m[0][0], b.r.m[0][1], b.r.m[0][2], b.t.x},
                  {b.r.m[1][0], b.r.m[1][1], b.r.m[1][2], b.t.y},
                  {b.r.m[2][0], b.r.m[2][1], b.r.m[2][2], b.t.z},
                  {0, 0, 0, 1}}};
  return frame_difference(a, frame);
}

static int find_link(const Model* model, const char* name) {
  for (int i = 0; i < model->link_count; i++)
    if (strcmp(model->links[i].name, name) == 0) return i;
  return -1;
}

static void compare_links(const Model* before, const ModelLink* a, const Model* after, const ModelLink* b) {
  expect_near(b->mass, a->mass, 1e-15 * a->mass, "mass");
  if (a->mass > 0) {
    Mat3 i = mass_moment_inertia_tensor(&a->moment), j = mass_moment_inertia_tensor(&b->moment);
    double size = mat3_trace(i);
    for (int k = 0; k < 9; k++) expect_near(j.m[k / 3][k % 3], i.m[k / 3][k % 3], 1e-12 * size, "inertia");
    expect_near(vec3_norm(vec3_sub(a->center, b->center)), 0, 1e-12, "centre of mass");
  }
  assert_int_equal(b->dof_count, a->dof_count);
  for (int k = 0; k < a->dof_count && !a->joint.quaternion; k++) {
    assert_int_equal(b->limited[k], a->limited[k]);
    assert_true(b->lower[k] == a->lower[k] && b->upper[k] == a->upper[k] && b->damping[k] == a->damping[k]);
  }
  assert_int_equal(b->hull_count, a->hull_count);
  for (int h = 0; h < a->hull_count; h++) {
    const ConvexHull *p = &before->hulls[a->hull_first + h].solid, *s = &after->hulls[b->hull_first + h].solid;
    assert_int_equal(s->vertex_count, p->vertex_count);
    for (int v = 0; v < p->vertex_count; v++) { /* a box comes back with its corners in another order */
      double nearest = HUGE_VAL;
      for (int w = 0; w < s->vertex_count; w++)
        nearest = fmin(nearest, vec3_norm(vec3_sub(p->vertices[v], s->vertices[w])));
      expect_near(nearest, 0, 1e-12, "a vertex");
    }
  }
}

/* Random coordinates of one model, the same by name in the other. */
static void random_state(const Model* a, double* qa, const Model* b, double* qb, Random* random) {
  for (int i = 0; i < a->link_count; i++) {
    const ModelLink* link = &a->links[i];
    double* q = qa + link->coordinate_first;
    for (int k = 0; k < link->coordinate_count; k++) q[k] = random_uniform(random, -3, 3);
    if (link->joint.quaternion) {
      double* r = q + link->joint.slide_count;
      Quat unit = quat_normalized((Quat){r[0], r[1], r[2], r[3]});
      r[0] = unit.w, r[1] = unit.x, r[2] = unit.y, r[3] = unit.z;
    }
    int other = find_link(b, link->name);
    if (other >= 0) memcpy(qb + b->links[other].coordinate_first, q, sizeof(double) * (size_t)link->coordinate_count);
  }
}

static void compare_scenes(const char* original, const char* again, const char* const* sets) {
  SceneRun before, after;
  Random random = {12};
  double worst = 0;
  int compared = 0;
  run_open(&before, original, sets);
  run_open(&after, again, NULL);
  const Model *a = &before.model, *b = &after.model;
  double *qa = MEMORY_NEW(double, a->coordinate_count + 1), *qb = MEMORY_NEW(double, b->coordinate_count + 1);
  Pose *pa = MEMORY_NEW(Pose, a->link_count), *pb = MEMORY_NEW(Pose, b->link_count);
  for (int sample = 0; sample < SAMPLES; sample++) {
    random_state(a, qa, b, qb, &random);
    model_poses(a, qa, pa);
    model_poses(b, qb, pb);
    for (int i = 0; i < a->link_count; i++) {
      int other = find_link(b, a->links[i].name);
      if (other < 0) continue;
      if (sample == 0) compare_links(a, &a->links[i], b, &b->links[other]), compared++;
      worst = fmax(worst, pose_difference(pa[i], pb[other]));
    }
  }
  print_message("%s: %d of %d links, largest difference %.2e\n", original, compared, a->link_count, worst);
  if (!(worst <= POSE_TOLERANCE)) fail_msg("%s: poses differ by %g", original, worst);
  assert_int_equal(compared, b->link_count);
  assert_true(compared >= a->link_count - 1); /* a ground of half-spaces is left out */
  memory_free(qa), memory_free(qb), memory_free(pa), memory_free(pb);
  run_close(&before);
  run_close(&after);
}

static void scenes_come_back_as_they_were(void** state) {
  (void)state;
  static const char* const scenes[] = {"pendulum", "double-pendulum",  "slide", "spider", "stack", "wall",
                                       "pile",     "tasks/reach-scene"};
  char* again = in_folder("again.yaml");
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
    Text out = {0}, original = {0};
    text_add(&original, "scenes/%s.yaml", scenes[i]);
    text_add(&out, "sdrs export %s -q -o %%s/again.urdf", original.data);
    run_command(out.data);
    run_command("sdrs import %s/again.urdf -q -o %s/again.yaml --keep-fixed --no-self-collision");
    compare_scenes(original.data, again, NULL);
    text_free(&out);
    text_free(&original);
  }
  memory_free(again);
}

static void real_scenes_come_back_as_they_were(void** state) {
  (void)state;
  if (!data_is_there()) skip();
  char* again = in_folder("real.yaml");
  static const char* const scenes[] = {"tests/real/panda.yaml", "tests/real/shadow.yaml"};
  for (int i = 0; i < 2; i++) {
    Text out = {0};
    text_add(&out, "sdrs export %s -q -o %%s/real.urdf --package real=%%s", scenes[i]);
    run_command(out.data);
    run_command("sdrs import %s/real.urdf -q -o %s/real.yaml --keep-fixed --no-self-collision --package real=%s");
    compare_scenes(scenes[i], again, NULL);
    text_free(&out);
  }
  memory_free(again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(panda_moves_as_its_file_says),
      cmocka_unit_test(panda_is_held_where_it_starts),
      cmocka_unit_test(held_joints_have_the_frequency_asked_for),
      cmocka_unit_test(a_free_robot_stands_on_the_ground),
      cmocka_unit_test(shadow_finger_runs),
      cmocka_unit_test(diffhand_finger_runs),
      cmocka_unit_test(scenes_come_back_as_they_were),
      cmocka_unit_test(real_scenes_come_back_as_they_were),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
