/* Tests <replicate> and <attach>: poses, names and references of the copies. Poses of replicas are from MuJoCo 3.3.8,
 * those of attached models by hand. */
#include "unit/robot/mjcf_testing.h"

/* Place of the link's frame in the world, all coordinates zero. */
static Vec3 stands_at(const UrdfCase* c, const char* name) {
  const SceneLink* link = link_named(c, name);
  Vec3 place = link->joint.position;
  for (int parent = link->parent; parent >= 0; parent = c->scene.links[parent].parent) {
    const SceneJoint* joint = &c->scene.links[parent].joint;
    place = vec3_add(joint->position, mat3_mul_vec(mat3_from_quat(joint->rotation), place));
  }
  return place;
}

static const char REPLICAS[] =
    "<mujoco><worldbody><body name='hub' pos='0 0 1'><geom size='0.05' mass='1'/>"
    "<replicate count='3' euler='0 0 30' offset='0.01 0.02 0.03'>"
    "<body name='arm' pos='0.2 0 0' euler='15 0 5'><joint name='hinge'/><geom size='0.01'/>"
    "<replicate count='2' sep='-' offset='0 0 0.1'>"
    "<body name='tip' pos='0.2 0 0'><joint name='slider' type='slide' axis='1 0 0'/><geom size='0.02'/></body>"
    "</replicate></body></replicate></body></worldbody>"
    "<tendon><fixed name='both'><joint joint='hinge' coef='0.5'/></fixed></tendon>"
    "<actuator><motor joint='hinge' gear='2' ctrlrange='-1 1'/><motor tendon='both' ctrlrange='-6 6'/>"
    "<position joint='slider' kp='10'/></actuator></mujoco>";

static void replicas_stand_one_after_another(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(REPLICAS, NULL);
  const struct {
    const char* name;
    Vec3 place;
  } wanted[] = {{"tip-00", {0.399239, 0.016837, 1.004512}}, {"tip-10", {0.399239, -0.009045, 1.101104}},
                {"tip-01", {0.347332, 0.234201, 1.034512}}, {"tip-11", {0.360273, 0.211787, 1.131104}},
                {"tip-02", {0.193698, 0.396490, 1.064512}}, {"tip-12", {0.216113, 0.383549, 1.161104}}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    compare_vec3(stands_at(&c, wanted[i].name), wanted[i].place, 1e-6, wanted[i].name);
  urdf_case_free(&c);
}

static void what_refers_to_replicas_is_replicated(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(REPLICAS, NULL);
  int springs = 0, motors = 0;
  for (int i = 0; i < c.scene.controller_count; i++) {
    const SceneController* controller = &c.scene.controllers[i];
    springs += controller->type == CONTROLLER_PD && controller->position_gain[0] == 10;
    motors += controller->type == CONTROLLER_TORQUE;
  }
  assert_int_equal(springs, 6); /* one a tip */
  assert_int_equal(motors, 3);  /* the hinge's own and that by its tendon act on the same joint */
  urdf_case_free(&c);
}

static void numbers_have_as_many_digits_as_the_count(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><replicate count='10' offset='1 0 0'><body name='b'><freejoint/>"
      "<geom size='0.1'/></body></replicate></worldbody></mujoco>",
      NULL);
  assert_int_equal(c.scene.link_count, 10);
  compare_vec3(stands_at(&c, "b07"), vec3(7, 0, 0), 1e-15, "the eighth");
  urdf_case_free(&c);
}

/* A model in the tests' folder, which is nowhere but here. */
#define MAIN "tests/unit/robot/models/main.xml"
#define WITH_ARM(inside)                                                  \
  "<mujoco><default><geom density='2000'/><joint damping='7'/></default>" \
  "<asset><model name='arm' file='parts/arm.xml'/><model name='ring' "    \
  "file='parts/ring.xml'/></asset><worldbody>" inside                     \
  "<body name='own' pos='5 0 1'><joint range='-90 90'/><geom size='0.1'/></body></worldbody></mujoco>"

/* Each model is read by its own settings: radians and degrees, densities, damping, classes, folders. */
static void a_body_of_another_model(void** state) {
  (void)state;
  UrdfCase c = mjcf_load_at(MAIN,
                            WITH_ARM("<body name='table' pos='0 0 1' euler='0 0 90'><frame pos='0.1 0 0.1'>"
                                     "<attach model='arm' body='base' prefix='left-'/></frame>"
                                     "<attach model='arm' body='link' prefix='right-'/></body>"),
                            NULL);
  compare_vec3(stands_at(&c, "left-link"), vec3(0, 0.1, 1.2), 1e-15, "in a frame of a turned body");
  compare_vec3(stands_at(&c, "right-link"), vec3(0, 0, 1.1), 1e-15, "a body from within");
  compare_near(link_named(&c, "left-link")->joint.upper[0], 1.5, 0, "radians there");
  compare_near(link_named(&c, "own")->joint.upper[0], 1.5707963267948966, 1e-15, "degrees here");
  compare_near(link_named(&c, "left-link")->joint.damping[0], 0.5, 0, "its own default");
  compare_near(link_named(&c, "own")->joint.damping[0], 7, 0, "this one's default");
  compare_near(link_named(&c, "left-link")->mass, 500, 1e-10, "a cubic metre of its density");
  const SceneLink* link = link_named(&c, "left-link");
  assert_string_equal(c.scene.shapes[link->shapes[1].shape].file,
                      "tests/unit/robot/models/parts/../../../../../assets/mug.obj");
  assert_int_equal(c.scene.controller_count, 2);
  compare_near(c.scene.controllers[1].position_gain[0], 30, 0, "of its class");
  assert_int_equal(c.scene.contact.exclude_count, 0); /* the stone is not there */
  urdf_case_free(&c);
}

static void a_whole_model(void** state) {
  (void)state;
  UrdfCase c = mjcf_load_at(
      MAIN, WITH_ARM("<replicate count='2' offset='0 3 0'><attach model='arm' prefix='p'/></replicate>"), NULL);
  compare_vec3(stands_at(&c, "pstone0"), vec3(1, 0, 0), 1e-15, "first");
  compare_vec3(stands_at(&c, "pstone1"), vec3(1, 3, 0), 1e-15, "second");
  assert_int_equal(c.scene.controller_count, 2);
  assert_int_equal(c.scene.contact.exclude_count, 2);
  assert_string_equal(c.scene.contact.exclude[1][1], "pstone1");
  assert_non_null(strstr(c.report.remarks.data,
                         "no keyframe of an attached model is used; to use a keyframe, select it by --key: pup"));
  urdf_case_free(&c);
}

/* A keyframe of an attached model has values for the attached bodies only. All other bodies keep their default state.
 */
static void a_keyframe_of_another_model(void** state) {
  (void)state;
  RobotOptions options = {.key = "pup"};
  UrdfCase c = mjcf_load_at(
      MAIN,
      WITH_ARM("<body name='first' pos='0 5 1'><joint/><geom size='0.1'/></body><attach model='arm' prefix='p'/>"),
      &options);
  compare_vec3(stands_at(&c, "pstone"), vec3(1, 0, 0), 1e-15, "where the keyframe has it");
  int starts = 0;
  for (int i = 0; i < c.scene.initial_count; i++)
    if (c.scene.initials[i].has_coordinates && c.scene.initials[i].coordinates[0] != 0) {
      assert_string_equal(c.scene.links[c.scene.initials[i].link].name, "plink");
      compare_near(c.scene.initials[i].coordinates[0], 0.1, 0, "the arm's coordinate");
      starts++;
    }
  assert_int_equal(starts, 1);
  compare_near(c.scene.controllers[0].target.values[0], 0.4, 0, "the arm's control");
  assert_non_null(strstr(c.report.remarks.data, "the robot starts in the keyframe 'pup'"));
  urdf_case_free(&c);
  c = mjcf_import_at(MAIN, WITH_ARM("<attach model='arm' body='base' prefix='p'/>"), &options);
  char* found = told(&c.diagnostics);
  assert_non_null(strstr(found, "qpos of <key> has 8 numbers, but the joints have 1"));
  memory_free(found);
  urdf_case_free(&c);
}

/* Ends of the segments of a cable on a circle of radius 0.5: vertex k of n is at 0.5 (cos, sin)(pi k / (n - 1)). */
/* MuJoCo 3.12: <attach> without 'model' copies a frame or body of the same model with all elements that refer only to
 * it. */
static void a_frame_of_the_same_model(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><default><default class='dense'><geom density='2000'/></default></default><worldbody>"
      "<body name='table' childclass='dense' pos='0 0 1'><geom size='0.1'/><frame name='f' pos='1 0 0'>"
      "<body name='arm' pos='0 0 0.5'><joint name='j'/><geom type='box' size='0.5 0.5 0.5'/></body></frame></body>"
      "<frame pos='0 3 0'><attach frame='f' prefix='x-'/></frame><attach body='arm' prefix='y-'/></worldbody>"
      "<actuator><position name='p' joint='j' kp='30'/></actuator></mujoco>",
      NULL);
  compare_vec3(stands_at(&c, "arm"), vec3(1, 0, 1.5), 1e-15, "the original");
  compare_vec3(stands_at(&c, "x-arm"), vec3(1, 3, 0.5), 1e-15, "the frame's own pose below the new one");
  compare_vec3(stands_at(&c, "y-arm"), vec3(0, 0, 0.5), 1e-15, "a body");
  compare_near(link_named(&c, "x-arm")->mass, 2000, 1e-10, "of the class around the original");
  assert_int_equal(c.scene.controller_count, 3);
  urdf_case_free(&c);
}

static void a_frame_of_another_model(void** state) {
  (void)state;
  UrdfCase c = mjcf_load_at(MAIN, WITH_ARM("<attach model='arm' frame='mount' prefix='p'/>"), NULL);
  compare_vec3(stands_at(&c, "pstone"), vec3(1, 0, 0), 1e-15, "in its frame");
  assert_int_equal(c.scene.controller_count, 0);
  urdf_case_free(&c);
}

static void a_cable_is_a_chain_of_bodies(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><default><geom mass='9'/><joint damping='9'/></default><worldbody>"
      "<composite type='cable' prefix='w' curve='cos(s) sin(s)' count='5 1 1' size='1 0.5 1' offset='0 0 2' "
      "initial='free'><joint kind='main' damping='0.25'/><geom type='capsule' size='0.01' mass='0.1'/></composite>"
      "</worldbody></mujoco>",
      NULL);
  const char* const names[] = {"wB_first", "wB_1", "wB_2", "wB_last"};
  Vec3 place = vec3(0, 0, 0);
  Mat3 turn = mat3_identity();
  for (int k = 0; k < 4; k++) {
    const SceneLink* link = link_named(&c, names[k]);
    double angle = k * 3.14159265358979323846 / 4;
    place = vec3_add(place, mat3_mul_vec(turn, link->joint.position));
    turn = mat3_mul(turn, mat3_from_quat(link->joint.rotation));
    compare_vec3(place, vec3(0.5 * cos(angle), 0.5 * sin(angle), 2), 1e-12, names[k]);
    Vec3 middle = vec3_add(place, mat3_mul_vec(turn, link->center)); /* of the chord */
    compare_near(middle.x, 0.25 * (cos(angle) + cos(angle + 3.14159265358979323846 / 4)), 1e-12, names[k]);
    compare_near(link->mass, 0.1, 1e-15, "not that of the default");
    if (k > 0) compare_near(link->joint.damping[0], 0.25, 0, "not that of the default");
  }
  assert_int_equal(link_named(&c, "wB_first")->joint.type, JOINT_FREE);
  assert_int_equal(link_named(&c, "wB_1")->joint.type, JOINT_BALL);
  assert_int_equal(c.scene.contact.exclude_count, 3);
  urdf_case_free(&c);
}

static void cables_in_replicas_and_by_vertices(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><replicate count='2' offset='0 1 0'>"
      "<composite type='cable' vertex='0 0 1 0 0 0.9 0 0 0.8 0 0 0.75 0 0 0.7 0.4 0 0.7' initial='free'><geom "
      "type='box' size='9 0.01 0.02'/>"
      "</composite></replicate></worldbody></mujoco>",
      NULL);
  compare_vec3(stands_at(&c, "B_first1"), vec3(0, 1, 1), 1e-12, "its first vertex");
  compare_vec3(stands_at(&c, "B_last1"), vec3(0, 1, 0.7), 1e-12, "its second");
  compare_near(link_named(&c, "B_first0")->mass, 1000 * 0.1 * 0.02 * 0.04, 1e-12, "a box as long as its segment");
  assert_int_equal(c.scene.contact.exclude_count, 8);
  urdf_case_free(&c);
}

/* Torque K (w - rest) with K = (G J, E Iy, E Iz) / length of the segment before (plugin/elasticity of MuJoCo 3.3.8). */
#define ELASTIC(PLUGIN, GEOM)                                                                                       \
  "<composite type='cable' curve='cos(s) sin(s)' count='5 1 1' size='1 0.5 1' initial='none'>" PLUGIN "<geom " GEOM \
  "/></composite>"
#define CONFIG "<config key='twist' value='1e6'/><config key='bend' value='4e6'/>"
static void cables_resist_bending_and_twisting(void** state) {
  (void)state;
  const double pi = 3.14159265358979323846, length = 2 * 0.5 * sin(pi / 8), r4 = 0.02 * 0.02 * 0.02 * 0.02;
  UrdfCase c = mjcf_load(
      WORLD(ELASTIC("<plugin plugin='mujoco.elasticity.cable'>" CONFIG "</plugin>", "type='capsule' size='0.02'")),
      NULL);
  assert_int_equal(c.scene.bushing_count, 3); /* four segments */
  assert_null(c.report.remarks.data ? strstr(c.report.remarks.data, "left out") : NULL);
  for (int k = 0; k < 3; k++) {
    const SceneBushing* bushing = &c.scene.bushings[k];
    compare_near(bushing->stiffness[3][3], 1e6 * pi / 2 * r4 / length, 1e-9, "twist");
    compare_near(bushing->stiffness[4][4], 4e6 * pi / 4 * r4 / length, 1e-9, "bend about y");
    compare_near(bushing->stiffness[5][5], 4e6 * pi / 4 * r4 / length, 1e-9, "bend about z");
    compare_near(bushing->preload[5], 4e6 * pi / 4 * r4 / length * pi / 4, 1e-9, "it rests as it is drawn");
    compare_near(bushing->stiffness[0][0], 0, 0, "the ball holds it together");
    assert_string_equal(c.scene.links[bushing->link[1]].name, k == 2 ? "B_last" : k == 1 ? "B_2" : "B_1");
  }
  urdf_case_free(&c);
  c = mjcf_load("<mujoco><extension><plugin plugin='mujoco.elasticity.cable'><instance name='e'>" CONFIG
                "<config key='flat' value='true'/></instance></plugin></extension><worldbody>"
                "<replicate count='2' offset='0 0 1'>" ELASTIC(
                    "<plugin instance='e'/>", "type='box' size='1 0.02 0.01'") "</replicate></worldbody></mujoco>",
                NULL);
  assert_int_equal(c.scene.bushing_count, 6);
  assert_null(c.report.remarks.data ? strstr(c.report.remarks.data, "left out") : NULL);
  const SceneBushing* flat = &c.scene.bushings[5];
  /* Sides 0.04 along y and 0.02 along z: b h^3 / 12. Torsion constant of 2 : 1 is 0.2287 long short^3 (Roark). */
  compare_near(flat->stiffness[4][4], 4e6 * 0.04 * 0.02 * 0.02 * 0.02 / 12 / length, 1e-9, "about y");
  compare_near(flat->stiffness[5][5], 4e6 * 0.02 * 0.04 * 0.04 * 0.04 / 12 / length, 1e-9, "about z");
  compare_near(flat->stiffness[3][3] * length / (1e6 * 0.04 * 0.02 * 0.02 * 0.02), 0.2287, 3e-4, "torsion constant");
  compare_near(flat->preload[5], 0, 0, "it rests straight");
  urdf_case_free(&c);
  expect_told(WORLD(ELASTIC("<plugin instance='f'/>", "type='capsule' size='0.02'")), NULL,
              "no <instance> of the plugin mujoco.elasticity.cable is named 'f'");
  expect_told(WORLD(ELASTIC("<plugin plugin='mujoco.elasticity.cable'><config key='bend' value='-1'/></plugin>",
                            "type='capsule' size='0.02'")),
              NULL, "'bend' of the plugin mujoco.elasticity.cable must be a number >= 0 [Pa], got '-1'");
  c = mjcf_load(WORLD(ELASTIC("<plugin plugin='other'/>", "type='capsule' size='0.02'")), NULL);
  assert_non_null(strstr(c.report.remarks.data, "left out: plugin"));
  urdf_case_free(&c);
}

static void other_composites_are_left_out_by_their_type(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><body><freejoint/><geom size='0.1'/><composite type='cloth' count='9 9 1'/></body>"
      "</worldbody></mujoco>",
      NULL);
  assert_non_null(strstr(c.report.remarks.data, "composite of type 'cloth' (no chain of rigid bodies)"));
  urdf_case_free(&c);
}

static void mistakes_of_cables_are_reported(void** state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } CASES[] = {{"<composite type='cable' count='5 1 1' curve='s'/>", "needs a <geom> of type capsule, cylinder or box"},
               {"<composite type='cable' count='5 1 1' curve='s'><geom type='sphere' size='1'/></composite>",
                "needs a <geom> of type capsule, cylinder or box"},
               {"<composite type='cable' count='1 1 1' curve='s'><geom type='capsule' size='1'/></composite>",
                "needs 2 to 500 vertices"},
               {"<composite type='cable' count='1e9' curve='s'><geom type='capsule' size='1'/></composite>",
                "needs 2 to 500 vertices"},
               {"<composite type='cable' count='5 5 1' curve='s'><geom type='capsule' size='1'/></composite>",
                "needs 2 to 500 vertices"},
               {"<composite type='cable' count='5 1 1' curve='t'><geom type='capsule' size='1'/></composite>",
                "curve of <composite> must be one to three of s, cos(s), sin(s) and 0, got 't'"},
               {"<composite type='cable' count='5 1 1'><geom type='capsule' size='1'/></composite>",
                "vertices 0 and 1 of the cable of <composite> are at the same position"},
               {"<composite type='cable' vertex='0 0 1 0 0'><geom type='capsule' size='1'/></composite>",
                "vertex of <composite>: the number of values must be a multiple of three (x, y, z of each point)"}};
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    Text text = {0};
    text_add(&text, "<mujoco><worldbody>%s</worldbody></mujoco>", CASES[i].text);
    expect_told(text.data, NULL, CASES[i].error);
    text_free(&text);
  }
}

static void mistakes_are_told(void** state) {
  (void)state;
  expect_told(WORLD("<replicate><body/></replicate>"), NULL, "count of <replicate> must be a whole number from 1");
  expect_told(WORLD("<replicate count='1.5'><body/></replicate>"), NULL, "must be a whole number from 1");
  expect_told(WORLD("<replicate count='1e9'><body/></replicate>"), NULL, "must be a whole number from 1");
  expect_told(WORLD("<replicate count='9999'><replicate count='9999'><body/></replicate></replicate>"), NULL,
              "may have at most 1000000 elements");
  expect_told(WORLD("<attach prefix='a'/>"), NULL, "<attach> needs 'model'");
  expect_told(WORLD("<frame name='f'><geom size='1'/></frame><attach frame='f'/>"), NULL, "needs a 'prefix'");
  expect_told(WORLD("<frame name='f'><geom size='1'/></frame><attach frame='g' prefix='a'/>"), NULL,
              "<attach>: the model has no frame named 'g'");
  expect_told(WORLD("<frame name='f'><attach frame='f' prefix='a'/></frame>"), NULL,
              "the <frame> to copy must be before <attach>, and must not contain <attach>");
  expect_told(WORLD("<attach body='b' prefix='a'/><body name='b'><geom size='1'/></body>"), NULL,
              "the <body> to copy must be before <attach>");
  expect_told(WORLD("<attach model='a'/>"), NULL, "no <model> with 'file' is named 'a' in <asset>");
  expect_told(
      "<mujoco><asset><model name='a' file='/nowhere.xml'/></asset><worldbody><attach model='a'/></worldbody>"
      "</mujoco>",
      NULL, "<model>: the file '/nowhere.xml' cannot be read: check the path in 'file'");
  UrdfCase c = mjcf_import_at(MAIN, WITH_ARM("<attach model='arm' body='leg'/>"), NULL);
  char* found = told(&c.diagnostics);
  assert_non_null(strstr(found, "<attach>: the model has no body named 'leg'"));
  memory_free(found);
  urdf_case_free(&c);
  c = mjcf_import_at(MAIN, WITH_ARM("<attach model='ring'/>"), NULL);
  found = told(&c.diagnostics);
  assert_non_null(strstr(found, "more than 63 files are included")); /* a model that attaches itself */
  memory_free(found);
  urdf_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replicas_stand_one_after_another),
      cmocka_unit_test(what_refers_to_replicas_is_replicated),
      cmocka_unit_test(numbers_have_as_many_digits_as_the_count),
      cmocka_unit_test(a_body_of_another_model),
      cmocka_unit_test(a_whole_model),
      cmocka_unit_test(a_keyframe_of_another_model),
      cmocka_unit_test(a_frame_of_the_same_model),
      cmocka_unit_test(a_frame_of_another_model),
      cmocka_unit_test(a_cable_is_a_chain_of_bodies),
      cmocka_unit_test(cables_in_replicas_and_by_vertices),
      cmocka_unit_test(cables_resist_bending_and_twisting),
      cmocka_unit_test(other_composites_are_left_out_by_their_type),
      cmocka_unit_test(mistakes_of_cables_are_reported),
      cmocka_unit_test(mistakes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
