#include <stdlib.h>
#include <unistd.h>
#include "task_testing.h"

#define SCENE_A "{links: [{name: box, mass: 1, shape: {type: box, size: [1, 1, 1]}}]}"

/* ---------------------------------------------------------------- one scene */

static void a_scene_is_one_scenario(void** state) {
  (void)state;
  Task task = load_task("scene: slide.yaml\n" MOVE_BOX SHAPE_LOSS);
  assert_int_equal(task.scenario_count, 1);
  const TaskScenario* scenario = &task.scenarios[0];
  assert_string_equal(scenario->name, "0");
  compare_near(scenario->weight, 1, 0, "weight");
  assert_int_equal(scenario->steps, 0);
  assert_string_equal(scenario->scene.path, "scenes/slide.yaml"); /* beside the task */
  assert_string_equal(scenario->scene.name, "slide");
  assert_string_equal(scenario->scene.links[1].place.file, "scenes/slide.yaml");
  assert_int_equal(scenario->place.line, 1);
  assert_int_equal(strlen(scenario->scene.sha256), 64);
  task_free(&task);
}

static void steps_and_changes_reach_the_scene(void** state) {
  (void)state;
  Task task =
      load_task("scene: slide.yaml\nsteps: 7\nset: [contact.friction=0.125, links.box.mass=2]\n" MOVE_BOX SHAPE_LOSS);
  assert_int_equal(task.scenarios[0].steps, 7);
  compare_near(task.scenarios[0].scene.contact.friction, 0.125, 0, "friction");
  compare_near(task.scenarios[0].scene.links[1].mass, 2, 0, "mass");
  task_free(&task);
}

static void a_scene_can_stand_inside(void** state) {
  (void)state;
  Task task = load_task(
      "scene:\n"
      "  name: inner\n"
      "  shapes: {m: {type: mesh, file: sub/m.obj}}\n"
      "  links: [{name: 'box{i}', mass: 1, shape: {type: box, size: [1, 1, 1]}, repeat: {count: 3}}]\n"
      "set: [contact.friction=0.125]\n"
      "initial: [{link: box2, velocities: true}]\n" SHAPE_LOSS);
  const Scene* scene = &task.scenarios[0].scene;
  assert_string_equal(scene->name, "inner");
  assert_string_equal(scene->path, TASK_PATH);
  assert_string_equal(scene->sha256, task.sha256);
  assert_string_equal(scene->shapes[0].file, "scenes/sub/m.obj"); /* beside the task */
  assert_int_equal(scene->link_count, 3);
  assert_int_equal(scene->links[0].place.line, 4);
  assert_string_equal(scene->links[0].place.file, TASK_PATH);
  compare_near(scene->contact.friction, 0.125, 0, "friction");
  task_free(&task);
}

/* ---------------------------------------------------------------- several */

static void scenarios_are_read(void** state) {
  (void)state;
  static const char* const SETS[] = {"scene.contact.friction=0.75"};
  static const char TEXT[] =
      "steps: 5\n"
      "set: [contact.friction=0.125, simulation.dt=0.5]\n"
      "scenarios:\n"
      "  - {name: one, scene: slide.yaml, weight: 2.5}\n"
      "  - {scene: " SCENE_A
      ", steps: 9, set: [contact.friction=0.25]}\n"
      "  - {name: \"0\", scene: slide.yaml}\n" MOVE_BOX SHAPE_LOSS;
  Task task = load_task(TEXT);
  assert_int_equal(task.scenario_count, 3);
  const TaskScenario* all = task.scenarios;
  assert_string_equal(all[0].name, "one");
  assert_string_equal(all[1].name, "1");
  assert_string_equal(all[2].name, "0");
  assert_int_equal(all[2].place.line, 6);
  compare_near(all[0].weight, 2.5, 0, "weight");
  compare_near(all[1].weight, 1, 0, "weight");
  assert_int_equal(all[0].steps, 5);
  assert_int_equal(all[1].steps, 9);
  compare_near(all[0].scene.contact.friction, 0.125, 0, "friction of the task's set");
  compare_near(all[1].scene.contact.friction, 0.25, 0, "friction of the scenario's set, which comes later");
  compare_near(all[1].scene.simulation.dt, 0.5, 0, "dt");
  task_free(&task);
  task = load_task_set(TEXT, SETS, 1); /* the command line comes last */
  for (int i = 0; i < 3; i++) compare_near(task.scenarios[i].scene.contact.friction, 0.75, 0, "friction");
  task_free(&task);
}

static void an_inner_scene_can_be_set(void** state) {
  (void)state;
  static const char* const SETS[] = {"scenarios.one.scene.contact.friction=0.5", "scenarios.one.weight=3",
                                     "scenarios.1.set=[contact.friction=0.25]"};
  Task task = load_task_set("scenarios: [{name: one, scene: " SCENE_A
                            "}, {name: two, scene: slide.yaml}]\n" MOVE_BOX SHAPE_LOSS,
                            SETS, COUNT(SETS));
  compare_near(task.scenarios[0].scene.contact.friction, 0.5, 0, "friction");
  compare_near(task.scenarios[0].weight, 3, 0, "weight");
  compare_near(task.scenarios[1].scene.contact.friction, 0.25, 0, "friction");
  task_free(&task);
}

/* ---------------------------------------------------------------- mistakes */

static void mistakes_are_told(void** state) {
  (void)state;
  expect_task_problems(
      "scenarios:\n"
      "  - {name: a/b, weight: 0}\n"
      "  - {name: x, scene: 5, set: [[a]]}\n"
      "  - {name: x, scene: " SCENE_A
      ", steps: -1}\n"
      "  - {name: \"5\", scene: " SCENE_A
      ", stps: 1}\n"
      "  - slide.yaml\n"
      "  - {scene: " SCENE_A "}\n" MOVE_BOX SHAPE_LOSS,
      "2:25: error: scenarios[0].weight: must be > 0, got 0\n2:5: error: scenarios[0]: 'scene' is missing: give the "
      "path of a scene, or a scene\n2:12: error: scenarios[0].name: a scenario's name must not contain a slash\n3:31: "
      "error: scenarios[1].set[0]: expected a text, got a list\n3:22: error: scenarios[1].scene: expected a text, got "
      "5: put it in quotes\n4:99: error: scenarios[2].steps: must be between 0 and 1000000000, got -1\n4:12: error: "
      "scenarios[2].name: the name 'x' is already used by another scenario: choose another name\n5:94: error: unknown "
      "key 'stps' in scenarios[3] (did you mean 'steps'?)\n6:5: error: scenarios[4]: expected a map, got "
      "'slide.yaml'\n7:5: error: scenarios[5].name: the name '5' is already used by another scenario: choose another "
      "name\n");
  expect_task_problems("scenarios: []\n" MOVE_BOX SHAPE_LOSS, "1:12: error: scenarios: must not be empty\n");
  expect_task_problems("scene: [a]\n" MOVE_BOX SHAPE_LOSS,
                       "1:8: error: scene: expected the path of a scene, or a scene, got a list\n");
}

static void mistakes_inside_a_scene_have_its_trail(void** state) {
  (void)state;
  expect_task_problems(
      "scenarios:\n"
      "  - scene:\n"
      "      contact: {frction: 1}\n"
      "      links:\n"
      "        - {name: box, parent: bix, fixed: true}\n"
      "        - {name: boxes, mass: -1, shape: {type: sphere, radius: 1}}\n" MOVE_BOX SHAPE_LOSS,
      "3:17: error: unknown key 'frction' in scenarios[0].scene.contact (did you mean 'friction'?)\n"
      "6:31: error: scenarios[0].scene.links[1].mass: must be > 0 kg, got -1\n"
      "5:31: error: scenarios[0].scene.links[0].parent: no link is named 'bix' (did you mean 'box'?)\n");
}

/* In their own files, and once even when several scenarios share the scene; together with the task's own. */
static void mistakes_in_scene_files_are_told_there(void** state) {
  (void)state;
  static const char SCENE[] = "links:\n  - {name: box, mass: -1, shape: {type: box, size: [1, 1, 1]}}\ncontct: 1\n";
  static const char TASK[] =
      "scenarios: [{scene: s.yaml}, {scene: s.yaml, set: [contact.friction=-1]}, {scene: s.yaml}]\nloss: 5\n";
  char folder[] = "/tmp/sdrs-task-XXXXXX";
  assert_non_null(mkdtemp(folder));
  Text scene = {0}, path = {0};
  text_add(&scene, "%s/s.yaml", folder);
  text_add(&path, "%s/t.yaml", folder);
  assert_int_equal(file_write(scene.data, SCENE, sizeof SCENE - 1), STATUS_OK);
  Task task;
  Diagnostics diagnostics = {0};
  assert_int_equal(task_parse(&task, path.data, TASK, sizeof TASK - 1, false, NULL, 0, &diagnostics), STATUS_BAD_INPUT);
  char* found = told(&diagnostics);
  assert_string_equal(found,
                      "2:7: error: loss: expected a list, got 5\n"
                      "3:1: error: unknown key 'contct' in the file (did you mean 'contact'?)\n"
                      "2:23: error: links[0].mass: must be > 0 kg, got -1\n"
                      "1:52: error: contact.friction: must be between 0 and 100, got -1\n");
  assert_string_equal(diagnostics.items[0].file, path.data);
  assert_string_equal(diagnostics.items[1].file, scene.data);
  assert_string_equal(diagnostics.items[3].file, path.data); /* what the task sets is the task's mistake */
  memory_free(found);
  unlink(scene.data);
  rmdir(folder);
  text_free(&scene);
  text_free(&path);
  task_free(&task);
  diagnostics_free(&diagnostics);
}

static void too_many_scenarios_are_refused(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "scenarios: [");
  for (int i = 0; i < 1001; i++) text_add(&text, "{},");
  text_add(&text, "]\n" MOVE_BOX SHAPE_LOSS);
  expect_task_problems(text.data, "1:12: error: scenarios: the task has more than 1000 scenarios: remove scenarios\n");
  text_free(&text);
}

/* Each inner scene counts: a short text must not stand for hours of reading. A scene comes to half of the limit, most
 * of it by names of groups, which count 16 each and are read fastest. */
static void inner_scenes_share_one_limit(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "scenarios:\n");
  for (int i = 0; i < 4; i++)
    text_add(&text,
             " - {scene: {links: [{name: \"a{n}\", fixed: true, repeat: {count: 20000}, "
             "groups: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z]}]}}\n");
  text_add(&text, MOVE_BOX SHAPE_LOSS);
  Task task;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse_task_with(&task, &diagnostics, text.data, NULL, 0), STATUS_BAD_INPUT);
  assert_non_null(strstr(diagnostics.items[0].text, "the file is too large"));
  assert_in_range(diagnostics.count, 1, 3);
  task_free(&task);
  diagnostics_free(&diagnostics);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_scene_is_one_scenario),
      cmocka_unit_test(steps_and_changes_reach_the_scene),
      cmocka_unit_test(a_scene_can_stand_inside),
      cmocka_unit_test(scenarios_are_read),
      cmocka_unit_test(an_inner_scene_can_be_set),
      cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(mistakes_inside_a_scene_have_its_trail),
      cmocka_unit_test(mistakes_in_scene_files_are_told_there),
      cmocka_unit_test(too_many_scenarios_are_refused),
      cmocka_unit_test(inner_scenes_share_one_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
