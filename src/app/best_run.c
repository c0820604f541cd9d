/* What sdrs optimize found, simulated: RUN/best. */
#include <cjson/cJSON.h>
#include "app/command.h"

/* Is there a finished run of exactly this scene, without overrides? */
static bool is_run_of(const char* folder, const char* scene) {
  char *path = path_join(folder, "summary.json"), *data = NULL;
  size_t length;
  cJSON* summary = file_read(path, &data, &length) == STATUS_OK ? cJSON_ParseWithLength(data, length) : NULL;
  const cJSON* first = cJSON_GetArrayItem(cJSON_GetObjectItem(summary, "inputs"), 0);
  const char* sha256 = cJSON_GetStringValue(cJSON_GetObjectItem(first, "sha256"));
  bool same = sha256 && *sha256 && file_has_sha256(scene, sha256) &&
              cJSON_GetArraySize(cJSON_GetObjectItem(summary, "overrides")) == 0;
  cJSON_Delete(summary);
  memory_free(data);
  memory_free(path);
  return same;
}

ExitCode best_run(const Options* options, const char* folder, char** best) {
  char *trajectory = path_join(folder, "trajectory.csv"), *scene = path_join(folder, "best.scene.yaml");
  bool is_design = !file_exists(trajectory) && file_exists(scene);
  ExitCode code = EXIT_DONE;
  *best = is_design ? path_join(folder, "best") : NULL;
  if (is_design && !is_run_of(*best, scene)) {
    if (!options->quiet) fprintf(stderr, "%s: simulating the best design into %s\n", folder, *best);
    code = simulate_into(options, scene, *best);
    if (code == EXIT_SOLVER) code = EXIT_DONE; /* said; the run up to there is shown */
  }
  memory_free(trajectory);
  memory_free(scene);
  return code;
}
