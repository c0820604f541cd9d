/* Tests tasks with random errors. Each gives a message with file, line and column, or a valid task, and never a crash.
 * Also runs under the sanitizers. SDRS_SEED repeats a run, SDRS_TRIALS sets the number of trials. */
#include "mutations.h"
#include "unit/scene/task_consistency.h"

#define LINKS                                                                       \
  "{links: [{name: box, mass: 1, shape: {type: box, size: [1, 1, 1]}},\n"           \
  "    {name: arm, parent: box, mass: 1, shape: {type: sphere, radius: 1},\n"       \
  "     joint: {type: hinge, axis: [0, 1, 0]}}],\n"                                 \
  "  controllers: [{link: arm, type: pd, position_gain: 1, target: {type: sines,\n" \
  "    terms: [{amplitude: 1, frequency: 2}]}}]}\n"

static const char* const TASKS[] = {
    "name: reach\n"
    "seed: 1\n"
    "scene: " LINKS
    "steps: 250\n"
    "set: [contact.friction=0.3]\n"
    "design:\n"
    "  mass: density\n"
    "  min_thickness: 0.01\n"
    "  connect: true\n"
    "  vertices:\n"
    "    - {link: box, hulls: [0, 2], box: {low: [0, 0, 0], high: [1, 1, 1]}, axes: [x, z], within: 0.05}\n"
    "    - {links: [box, arm], low: -1, high: [1, 2, 3]}\n"
    "  attachments: [{link: arm, axes: [x], within: 0.05}]\n"
    "  symmetry:\n"
    "    - {type: mirror, links: [box, arm], normal: [0, 1, 0]}\n"
    "    - {type: rotation, links: [arm], axis: [0, 0, 1], count: 4}\n"
    "    - {type: copy, links: [box, arm]}\n"
    "  constraints:\n"
    "    - {variables: [arm/attachment/x, box/velocity/0], coefficients: [1, 1], relation: at_most, value: 0.1}\n"
    "loss:\n"
    "  - {type: point, name: tip, link: arm, point: [0, 0, -0.5], target: [1, 0, 0], power: 2, weight: 1, to: 2.5}\n"
    "  - {type: volume}\n",

    "scenarios:\n"
    "  - name: one\n"
    "    scene: &inner " LINKS
    "    weight: 2\n"
    "  - {name: two, scene: *inner, steps: 20, set: [contact.friction=0.2, links.box.mass=2]}\n"
    "control: [{link: arm, parameters: [amplitude, phase], within: 0.5}]\n"
    "initial: [{link: box, velocities: true, coordinates: false, dof: [0, 1], low: -3, high: 3}]\n"
    "loss:\n"
    "  - {type: travel, link: box, direction: [1, 0, 0], weight: 2}\n"
    "  - {type: relative, link: box, other: arm, from: 0.5}\n"
    "  - {type: orientation, link: box, axis: [0, 0, 1], target: [0, 0, 1], spread: [0.1, 0, 0]}\n"
    "  - {type: velocity, link: box, target: [0, 0, 1]}\n"
    "  - {type: gap, link: box, other: arm, margin: 0.1}\n"
    "  - {type: effort}\n"
    "optimizer: {type: step_bounded, iterations: 100, design_step: 0.01, norm: euclidean, clip: 10}\n",

    "scene: " LINKS
    "steps: 10\n"
    "parameters: [{type: mass, links: ['a*'], within: 0.1}]\n"
    "loss:\n"
    "  - {type: reach, links: [box, arm], target: [0, 0, 1], margin: 0.1}\n"
    "  - {type: force, link: box, other: arm}\n"
    "  - {type: approach, links: ['a*'], other: box}\n"
    "  - {type: touch, link: box, other: arm, margin: -0.001}\n"
    "  - {type: closure, links: [arm], other: box}\n"
    "  - {type: mass, links: [box, arm]}\n"
    "  - {type: clearance, link: arm}\n"
    "  - {type: removal, link: arm, other: box, direction: [0, 0, 1], length: 1}\n",

    "scene: " LINKS
    "steps: 10\n"
    "control: [{link: arm, of: [drives], parameters: [position_gain], within: 0.5}]\n"
    "loss: [{type: neck, link: box}, {type: extent, links: [arm], direction: [1, 0, 0]}]\n",

    "scene: " LINKS
    "steps: 10\n"
    "initial: [{link: box, turns: true}]\n"
    "loss: [{type: pose, link: box, target: [0, 0, 1]}]\n",

    "scene: " LINKS
    "parameters: [{type: friction, low: 0.01, high: 1.5}]\n"
    "data: {files: [run.csv], measured: [{link: box, position: [px, py, pz]}]}\n"
    "identify: {position: 1.0e-3, rotation: 0.01}\n",
};

static void try_text(const Text* text, const char* set, Tally* tally, uint64_t seed, int trial) {
  static const char PATH[] = "folder/mutated.yaml";
  Task task;
  Diagnostics diagnostics = {0};
  SceneOverride override = {set};
  Status status = task_parse(&task, PATH, text->data, text->length, false, &override, set ? 1 : 0, &diagnostics);
  const char* fault = task_reading_fault(&task, status, &diagnostics, PATH, count_lines(text->data, text->length));
  if (fault) {
    print_error("%s\n", text->data);
    fail_msg("seed %llu, trial %d, --set %s: not %s (first message: %s)", (unsigned long long)seed, trial,
             set ? set : "(none)", fault, diagnostics.count ? diagnostics.items[0].text : "none");
  }
  if (status == STATUS_OK)
    tally->good++;
  else
    tally->bad++;
  task_free(&task);
  diagnostics_free(&diagnostics);
}

static void mutated_tasks_are_read_or_refused(void** state) {
  (void)state;
  uint64_t seed = environment("SDRS_SEED", 2024);
  int trials = (int)environment("SDRS_TRIALS", 3000);
  Random random = {seed};
  Tally tally = {0};
  for (int trial = 0; trial < trials; trial++) {
    Text text = {0};
    text_add(&text, "%s", TASKS[trial % COUNT(TASKS)]);
    if (trial >= COUNT(TASKS)) mutate(&random, &text);
    if (text.length > 0) try_text(&text, NULL, &tally, seed, trial);
    text_free(&text);
    if (trial == COUNT(TASKS) - 1) assert_int_equal(tally.good, COUNT(TASKS)); /* without a mistake they load */
  }
  print_message("seed %llu: %d texts read, %d refused\n", (unsigned long long)seed, tally.good, tally.bad);
  assert_in_range(tally.bad, trials / 3, trials);
  assert_in_range(tally.good, COUNT(TASKS) + 1, trials);
}

static void mutated_overrides_are_read_or_refused(void** state) {
  (void)state;
  static const char* const SETS[] = {"scene.contact.friction=0.2",
                                     "scenarios.one.weight=3",
                                     "loss.0.weight=2",
                                     "initial.box.dof=[2, 3]",
                                     "control.arm.parameters=[values]",
                                     "optimizer.type=adam",
                                     "scene.links.box.mass=3",
                                     "scenarios.two.set=[simulation.dt=0.1]",
                                     "scenarios.one.scene.contact={}",
                                     "design={vertices: [{link: box}]}"};
  uint64_t seed = environment("SDRS_SEED", 2024);
  Random random = {seed};
  Tally tally = {0};
  Text task = {0};
  text_add(&task, "%s", TASKS[1]);
  for (int trial = 0; trial < 2000; trial++) {
    Text set = {0};
    text_add(&set, "%s", SETS[trial % COUNT(SETS)]);
    if (trial >= COUNT(SETS)) mutate(&random, &set);
    try_text(&task, set.data, &tally, seed, trial);
    text_free(&set);
    if (trial == COUNT(SETS) - 1) assert_int_equal(tally.good, COUNT(SETS) - 1); /* adam has no norm */
  }
  text_free(&task);
  print_message("seed %llu: %d overrides taken, %d refused\n", (unsigned long long)seed, tally.good, tally.bad);
  assert_in_range(tally.bad, 500, 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mutated_tasks_are_read_or_refused),
      cmocka_unit_test(mutated_overrides_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
