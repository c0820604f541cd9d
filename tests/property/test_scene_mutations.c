/* Tests scenes with random errors. Each gives a message with file, line and column, or a valid scene, and never a
 * crash. Also runs under the sanitizers. SDRS_SEED repeats a run, SDRS_TRIALS sets the number of trials. */
#include "mutations.h"
#include "unit/scene/scene_consistency.h"
#include "unit/scene/scene_round_trip.h"

static const char* const SCENES[] = {
    "simulation: {dt: 0.005, duration: 1.0, gravity: [0, 0, -9.81], integrator: second_order}\n"
    "contact: {friction: 0.3, support: 1e-3, exclude: [[brick, ground]]}\n"
    "shapes:\n"
    "  ground: {type: half_space, normal: [0, 0, 1], offset: 0}\n"
    "  brick: {type: box, size: [0.2, 0.1, 0.05]}\n"
    "  wedge: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
    "  part: {type: mesh, file: part.obj, scale: 0.001, hulls: groups}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: ground}\n"
    "  - name: brick\n"
    "    shapes: [brick, {shape: wedge, position: [0, 0, 0.1], rpy: [0, 0.5, 0]}]\n"
    "    mass: 1.0\n"
    "    position: [0, 0, 0.5]\n"
    "    color: \"#ff8000\"\n"
    "initial:\n"
    "  - {link: brick, coordinates: [0, 0, 1, 1, 0, 0, 0], velocities: [1, 0, 0, 0, 0, 2]}\n",

    "links:\n"
    "  - name: base\n"
    "    fixed: true\n"
    "  - name: chain{i}\n"
    "    parent: chain{i-1}\n"
    "    joint:\n"
    "      type: universal\n"
    "      axes: [[1, 0, 0], [0, 1, 0]]\n"
    "      position: [0, 0, -0.2]\n"
    "      limits: [[-0.5, 0.5], null]\n"
    "      damping: [0.1, 0.2]\n"
    "    shape: {type: capsule, radius: 0.02, length: 0.1}\n"
    "    density: 1000\n"
    "    groups: [\"even{i%2}\"]\n"
    "    repeat: {count: 5, first: {parent: base}}\n"
    "  - name: box{n}\n"
    "    mass: 0.2\n"
    "    shape: {type: box, size: [0.1, 0.1, 0.1]}\n"
    "    repeat: {count: [2, 3], position: [0.15, 0.15, 0], rotation_vector: [0, 0, 0]}\n"
    "controllers:\n"
    "  - {link: \"chain{i}\", type: pd, position_gain: [1, 2], target: 0.5, repeat: {count: 4}}\n"
    "  - link: chain4\n"
    "    type: prescribed\n"
    "    target: {type: keyframes, times: [0, 1], values: [[0, 0], [0.5, 0.1]]}\n"
    "initial:\n"
    "  - {link: chain2, coordinates: [0.1, 0.2]}\n",

    "links:\n"
    "  - &ball {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: hinge, axis: [0, 1, 0]}}\n"
    "  - <<: *ball\n"
    "    name: b\n"
    "    mass: 2\n"
    "    inertia: [1, 1, 1, 0, 0, 0]\n"
    "  - {name: c, mass: 1, shape: {type: cylinder, radius: 0.1, length: 1}, joint: {type: ball, limits: [null, 1]}}\n"
    "controllers:\n"
    "  - {link: a, type: pd, position_gain: 1, target: {type: sines, offset: 1, terms: [{amplitude: 1, frequency: "
    "2}]}}\n"
    "  - {link: b, type: prescribed, target: {type: spline, duration: 1, values: [0, 1, 0]}}\n"
    "  - {link: c, type: pd, position_gain: 1, target: {type: sequence, interval: 0.1, values: [[0, 0, 0]]}}\n",
};

static const char JSON_SCENE[] =
    "{\n"
    "  \"simulation\": {\"dt\": 0.01, \"steps\": 100, \"integrator\": \"first_order\"},\n"
    "  \"shapes\": {\"b\": {\"type\": \"box\", \"size\": [1, 1, 1]}},\n"
    "  \"links\": [\n"
    "    {\"name\": \"a\", \"mass\": 1, \"shape\": \"b\", \"position\": [0, 0, 1]},\n"
    "    {\"name\": \"b{i}\", \"mass\": 1, \"shape\": \"b\", \"repeat\": {\"count\": 3, \"position\": [0, 2, 0]}}\n"
    "  ],\n"
    "  \"initial\": [{\"link\": \"a\", \"velocities\": [1, 0, 0, 0, 0, 0]}]\n"
    "}\n";

/* ---------------------------------------------------------------- tests */

static void try_text(const Text* text, bool json, const char* set, Tally* tally, uint64_t seed, int trial) {
  const char* path = json ? "folder/mutated.json" : "folder/mutated.yaml";
  Scene scene;
  Diagnostics diagnostics = {0};
  SceneOverride override = {set};
  Status status = scene_parse(&scene, path, text->data, text->length, json, &override, set ? 1 : 0, &diagnostics);
  const char* fault = reading_fault(&scene, status, &diagnostics, path, count_lines(text->data, text->length));
  if (!fault && status == STATUS_OK) fault = round_trip_fault(&scene);
  if (fault)
    fail_msg("seed %llu, trial %d: not %s, of\n%s\n(first message: %s)", (unsigned long long)seed, trial, fault,
             text->data, diagnostics.count ? diagnostics.items[0].text : "none");
  if (status == STATUS_OK)
    tally->good++;
  else
    tally->bad++;
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

static void run(const char* const* scenes, int count, bool json) {
  uint64_t seed = environment("SDRS_SEED", 2024);
  int trials = (int)environment("SDRS_TRIALS", 3000);
  Random random = {seed};
  Tally tally = {0};
  for (int trial = 0; trial < trials; trial++) {
    Text text = {0};
    text_add(&text, "%s", scenes[trial % count]);
    mutate(&random, &text);
    if (text.length > 0) try_text(&text, json, NULL, &tally, seed, trial);
    text_free(&text);
  }
  print_message("seed %llu: %d texts read, %d refused\n", (unsigned long long)seed, tally.good, tally.bad);
  assert_in_range(tally.bad, trials / 3, trials); /* the mutations do harm */
  assert_in_range(tally.good, 1, trials);         /* and not always */
}

static void mutated_yaml_is_read_or_refused(void** state) {
  (void)state;
  run(SCENES, COUNT(SCENES), false);
}

static void mutated_json_is_read_or_refused(void** state) {
  (void)state;
  const char* const scenes[] = {JSON_SCENE};
  run(scenes, 1, true);
}

static void mutated_overrides_are_read_or_refused(void** state) {
  (void)state;
  static const char* const SETS[] = {"contact.friction=0.2",          "links.brick.mass=3",
                                     "simulation.gravity.2=-1",       "shapes.brick.size=[1, 2, 3]",
                                     "links.1.shapes.0=wedge",        "initial.brick.velocities.0=3",
                                     "links.brick.repeat={count: 2}", "shapes.new={type: sphere, radius: 1}"};
  uint64_t seed = environment("SDRS_SEED", 2024);
  Random random = {seed};
  Tally tally = {0};
  Text scene = {0};
  text_add(&scene, "%s", SCENES[0]);
  for (int trial = 0; trial < 2000; trial++) {
    Text set = {0};
    text_add(&set, "%s", SETS[trial % COUNT(SETS)]);
    if (trial >= COUNT(SETS)) mutate(&random, &set);
    try_text(&scene, false, set.data, &tally, seed, trial);
    text_free(&set);
  }
  text_free(&scene);
  print_message("seed %llu: %d overrides taken, %d refused\n", (unsigned long long)seed, tally.good, tally.bad);
  assert_in_range(tally.good, COUNT(SETS) - 1, 2000);
  assert_in_range(tally.bad, 500, 2000);
}

/* All that a scene says, without its places. */
static void print_scene(Text* out, const Scene* scene) {
  text_add(out, "%.17g %d %.17g\n", scene->simulation.dt, scene->simulation.steps, scene->contact.friction);
  for (int i = 0; i < scene->link_count; i++) {
    const SceneLink* link = &scene->links[i];
    const Vec3 p = link->joint.position;
    const Quat q = link->joint.rotation;
    text_add(out, "%s %d %d %.17g %.17g [%.17g %.17g %.17g] [%.17g %.17g %.17g %.17g]", link->name, link->parent,
             (int)link->joint.type, link->mass, link->density, p.x, p.y, p.z, q.w, q.x, q.y, q.z);
    for (int k = 0; k < link->shape_count; k++) text_add(out, " %d", link->shapes[k].shape);
    for (int k = 0; k < JOINT_MAX_DOF; k++) text_add(out, " %.17g", link->joint.lower[k] + link->joint.damping[k]);
    text_add(out, "\n");
  }
  for (int i = 0; i < scene->controller_count; i++) {
    const SceneSignal* signal = &scene->controllers[i].target;
    text_add(out, "%d %d:", scene->controllers[i].link, (int)signal->type);
    for (int k = 0; k < signal->rows * signal->channels; k++) text_add(out, " %.17g", signal->values[k]);
    text_add(out, "\n");
  }
  for (int i = 0; i < scene->initial_count; i++)
    text_add(out, "%d %.17g %.17g\n", scene->initials[i].link, scene->initials[i].coordinates[2],
             scene->initials[i].velocities[0]);
}

static char* read_and_print(const char* text) {
  Scene scene;
  Diagnostics diagnostics = {0};
  Text out = {0};
  text_add_bytes(&out, "", 0);
  if (scene_parse(&scene, "t.yaml", text, strlen(text), false, NULL, 0, &diagnostics) == STATUS_OK)
    print_scene(&out, &scene);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  return out.data;
}

/* Blank lines, comments and line ends say nothing. */
static void harmless_changes_change_nothing(void** state) {
  (void)state;
  static const char* const ENDS[] = {"\n", "\r\n", "\n\n", "  # a comment\n", "\n# a comment\n", " \n"};
  Random random = {7};
  for (int i = 0; i < COUNT(SCENES); i++) {
    char* wanted = read_and_print(SCENES[i]);
    assert_true(*wanted);
    for (int trial = 0; trial < 50; trial++) {
      Text text = {0};
      for (const char* p = SCENES[i]; *p; p++)
        text_add(&text, *p == '\n' ? ENDS[pick(&random, COUNT(ENDS))] : "%c", *p);
      char* found = read_and_print(text.data);
      if (strcmp(found, wanted) != 0)
        fail_msg("seed 7, scene %d, trial %d:\n%s\nfound\n%s", i, trial, text.data, found);
      memory_free(found);
      text_free(&text);
    }
    memory_free(wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mutated_yaml_is_read_or_refused),
      cmocka_unit_test(mutated_json_is_read_or_refused),
      cmocka_unit_test(mutated_overrides_are_read_or_refused),
      cmocka_unit_test(harmless_changes_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
