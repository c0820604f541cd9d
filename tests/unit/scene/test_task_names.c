#include "task_testing.h"

/* Everything in a task that names a link, each once, wrong. */
static void unknown_links_are_told_wherever_they_stand(void** state) {
  (void)state;
  expect_task_problems(TWO_LINKS
                       "design:\n"
                       "  vertices: [{link: bux}]\n"
                       "  attachments: [{links: [box, amr]}]\n"
                       "  symmetry: [{type: copy, links: [box, arms]}]\n"
                       "  constraints: [{variables: [bex/attachment/x], relation: equal}]\n"
                       "control: [{link: hip}]\n"
                       "initial: [{link: knee, velocities: true}]\n"
                       "loss: [{type: gap, link: brm, other: foot, margin: 1}]\n",
                       "3:21: error: no link of the scene scenes/test.task.yaml is named 'bux' (did you mean 'box'?)\n"
                       "4:31: error: no link of the scene scenes/test.task.yaml is named 'amr' (did you mean 'arm'?)\n"
                       "5:40: error: no link of the scene scenes/test.task.yaml is named 'arms' (did you mean 'arm'?)\n"
                       "6:30: error: no link of the scene scenes/test.task.yaml is named 'bex' (did you mean 'box'?)\n"
                       "7:18: error: no link of the scene scenes/test.task.yaml is named 'hip'\n"
                       "8:18: error: no link of the scene scenes/test.task.yaml is named 'knee'\n"
                       "9:26: error: no link of the scene scenes/test.task.yaml is named 'brm' (did you mean 'arm'?)\n"
                       "9:38: error: no link of the scene scenes/test.task.yaml is named 'foot'\n");
}

static void a_link_must_be_in_every_scene(void** state) {
  (void)state;
  expect_task_problems(
      "scenarios: [{scene: slide.yaml}, {scene: double-pendulum.yaml}, {scene: pendulum.yaml}]\n" MOVE_BOX SHAPE_LOSS,
      "2:18: error: no link of the scene scenes/double-pendulum.yaml is named 'box'\n"); /* told once */
}

/* All problems are reported at once. A mistake in the scene may be why a link is not known. */
static void names_wait_until_the_scene_is_right(void** state) {
  (void)state;
  expect_task_problems("scene: slide.yaml\ninitial: [{link: knee, velocities: 1}]\n" SHAPE_LOSS,
                       "2:36: error: initial[0].velocities: expected true or false, got 1\n"
                       "2:18: error: no link of the scene scenes/slide.yaml is named 'knee'\n");
  expect_task_problems(
      "scene: {links: [{nam: knee, fixed: true}]}\ninitial: [{link: knee, velocities: true}]\n" SHAPE_LOSS,
      "1:18: error: unknown key 'nam' in scene.links[0] (did you mean 'name'?)\n1:17: error: scene.links[0]: 'name' is "
      "missing: give a text\n");
}

/* "box/mass" has two components. The reader of variables checks later whether the variable exists. */
static void a_variable_has_parts(void** state) {
  (void)state;
  expect_task_problems(TWO_LINKS
                       "design:\n"
                       "  constraints:\n"
                       "    - {variables: [box, box/values, box/values/0], relation: equal}\n" MOVE_BOX SHAPE_LOSS,
                       "4:20: error: must be a variable like link/attachment/x or link/values/0, got 'box'\n");
}

static void names_have_a_length(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, TWO_LINKS "initial: [{link: ");
  for (int i = 0; i < 201; i++) text_add(&text, "a");
  text_add(&text, ", velocities: true}]\n" SHAPE_LOSS);
  expect_task_problems(text.data, "2:18: error: initial[0].link: a name must not be longer than 200 bytes\n");
  text_free(&text);
}

/* A pattern stands for all matching links in their order, except for links named individually. A pattern without a
 * match is an error. */
static void a_pattern_stands_for_links(void** state) {
  (void)state;
  Task task = load_task(
      "scene: {links: [{name: b1, mass: 1, shape: {type: sphere, radius: 0.1}}, {name: a1, mass: 1, shape: {type: "
      "sphere, "
      "radius: 0.1}, position: [1, 0, 0]}, {name: a2, mass: 1, shape: {type: sphere, radius: 0.1}, position: [2, 0, "
      "0]}]}\n"
      "initial: [{links: [\"*1\", a1, \"a*\"], velocities: true}]\n"
      "loss: [{type: point, link: a1, target: [0, 0, 0]}]\n");
  assert_int_equal(task.start_count, 3);
  assert_string_equal(task.starts[0].link.text, "b1");
  assert_string_equal(task.starts[1].link.text, "a1");
  assert_string_equal(task.starts[2].link.text, "a2");
  task_free(&task);
  expect_task_problems("scene: slide.yaml\ninitial: [{links: [\"knee*\"], velocities: true}]\n" SHAPE_LOSS,
                       "2:20: error: no link of the scene scenes/slide.yaml is named 'knee*'\n");
}

static void link_and_links_name_each_other(void** state) {
  (void)state;
  expect_task_problems("scene: slide.yaml\ninitial: [{link: [knee, foot], velocities: true}]\n" SHAPE_LOSS,
                       "2:18: error: initial[0].link: expected a text, got a list: use 'links' for several links\n");
  expect_task_problems(
      "scene: slide.yaml\ninitial: [{links: knee, velocities: true}]\n" SHAPE_LOSS,
      "2:19: error: initial[0].links: expected a list of names, got 'knee': use 'link' for one link\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(link_and_links_name_each_other), cmocka_unit_test(unknown_links_are_told_wherever_they_stand),
      cmocka_unit_test(a_link_must_be_in_every_scene),  cmocka_unit_test(names_wait_until_the_scene_is_right),
      cmocka_unit_test(a_variable_has_parts),           cmocka_unit_test(names_have_a_length),
      cmocka_unit_test(a_pattern_stands_for_links),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
