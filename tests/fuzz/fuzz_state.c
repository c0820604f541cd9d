/* libFuzzer target: any numbers in the place of a recorded state give a run that shows something, or one message. The
 * bytes are the numbers of the state, for a scene with contact. */
#include "fuzz/fuzzing.h"
#include "simulate/simulate.h"

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 10}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1005]}\n"
    "  - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0, 0.32]}\n";

/* A state of the scene with other numbers in it. */
static NumberFile* state_of(Sim* sim, const uint8_t* data, size_t size) {
  NumberFile* file = MEMORY_NEW(NumberFile, 1);
  sim_state_file(sim, file);
  for (int k = 0; k < file->count; k++) {
    NumberArray* array = &file->arrays[k];
    if (strcmp(array->name, "state") != 0) continue;
    size_t room = sizeof(uint64_t) * (size_t)array->count;
    memcpy(array->bits, data, size < room ? size : room);
    if (size % 8 == 1 && array->count > 0) array->count--;
  }
  return file;
}

static void look(Sim* sim) {
  int count;
  (void)sim_contact_records(sim, &count);
  require(sim_state(sim)->step > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Scene scene;
  Model model;
  Sim* sim;
  Diagnostics diagnostics = {0};
  const SimOptions options = {.threads = 1};
  require(scene_parse(&scene, "fuzz.yaml", SCENE, strlen(SCENE), false, NULL, 0, &diagnostics) == STATUS_OK);
  require(model_create(&model, &scene, &diagnostics) == STATUS_OK);
  require(sim_create(&sim, &model, &options, &diagnostics) == STATUS_OK);
  for (int k = 0; k < 3; k++) (void)sim_step(sim);
  NumberFile* state = state_of(sim, data, size);
  sim_destroy(sim);
  model_destroy(&model);
  scene_set_start(&scene, state);
  require(model_create(&model, &scene, &diagnostics) == STATUS_OK);
  if (sim_create(&sim, &model, &options, &diagnostics) == STATUS_OK) {
    look(sim);
    sim_destroy(sim);
  } else {
    require(diagnostics.error_count == 1 && !sim);
  }
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  return 0;
}
