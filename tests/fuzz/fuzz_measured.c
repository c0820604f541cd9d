/* libFuzzer target: any bytes as a measured run are samples whose times rise, whose quaternions have length 1, whose
 * inputs are signals, and whose states are finite numbers - or errors that name the file. */
#include "fuzz/fuzzing.h"
#include "identify/identify.h"

#define TASK                                                                                                         \
  "scene:\n  simulation: {dt: 0.01, steps: 50}\n"                                                                    \
  "  links:\n    - {name: body, shape: {type: box, size: [0.2, 0.1, 0.1]}, mass: 1}\n"                               \
  "    - {name: arm, parent: body, shape: {type: box, size: [0.2, 0.1, 0.1]}, mass: 1, joint: {type: hinge, axis: "  \
  "[0, 1, 0]}}\n"                                                                                                    \
  "  controllers: [{link: arm, type: torque, target: 0}]\n"                                                          \
  "parameters: [{type: mass, link: arm}]\n"                                                                          \
  "data:\n  time_scale: 0.001\n  measured:\n"                                                                        \
  "    - {link: body, position: [x, y, z], quaternion: [w, a, b, c], velocity: [u, v, n], angular_velocity: [p, q, " \
  "r], rate_axes: world, length_scale: 0.001}\n"                                                                     \
  "    - {link: arm, coordinates: [angle], rates: [rate], angle_scale: 0.0174}\n"                                    \
  "  inputs: [{link: arm, columns: [torque], interpolation: cubic}]\n"

static void check_run(const MeasuredRun* run, const Model* model) {
  double q[16], v[16], value, rate;
  const MeasuredLink* body = &run->links[0];
  for (int k = 0; k < run->count; k++) {
    require(run->line[k] >= 2 && isfinite(run->time[k]) && (k == 0 || run->time[k] > run->time[k - 1]));
    const Quat* turn = &body->rotation[k];
    if (isnan(turn->w)) continue;
    require(fabs(turn->w * turn->w + turn->x * turn->x + turn->y * turn->y + turn->z * turn->z - 1) < 1e-9);
    memcpy(q, model->initial_coordinates, sizeof(double) * (size_t)model->coordinate_count);
    memcpy(v, model->initial_velocities, sizeof(double) * (size_t)model->dof_count);
    measured_state(run, k, model, q, v);
    for (int i = 0; i < model->coordinate_count; i++) require(!isnan(q[i]));
    for (int i = 0; i < model->dof_count; i++) require(!isnan(v[i]));
  }
  Signal signal;
  require(run->inputs[0].rows > 0);
  signal_create(&signal, &run->inputs[0]);
  signal_eval(&signal, 0.5 * run->time[run->count - 1], &value, &rate);
  signal_destroy(&signal);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Task task;
  static Model model;
  static bool ready;
  Diagnostics diagnostics = {0};
  if (!ready) {
    require(task_parse(&task, "fuzz.yaml", TASK, strlen(TASK), false, NULL, 0, &diagnostics) == STATUS_OK);
    require(model_create(&model, &task.scenarios[0].scene, &diagnostics) == STATUS_OK);
    ready = true;
  }
  char path[] = "/tmp/sdrs-fuzz-XXXXXX";
  const char* const files[1] = {path};
  MeasuredData measured;
  fuzz_file(path, data, size);
  Status status = measured_read(&measured, &task, files, 1, &model, &diagnostics);
  require((status == STATUS_OK) == (diagnostics.error_count == 0));
  if (status == STATUS_OK) check_run(&measured.runs[0], &model);
  for (int k = 0; k < diagnostics.count; k++)
    require(diagnostics.items[k].file || strstr(diagnostics.items[k].text, path));
  measured_free(&measured);
  diagnostics_free(&diagnostics);
  unlink(path);
  return 0;
}
