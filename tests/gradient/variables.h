/* Compares the gradient of a task by its variables with central differences of whole runs. */
#ifndef SDRS_TESTS_VARIABLES_H
#define SDRS_TESTS_VARIABLES_H

#include "optimize/optimize.h"
#include "unit/scene/task_testing.h"

/* Within 1e-6, or within what differences can tell, which must be `resolved`; not zero. item: for messages. */
static inline void expect_variables(Task* task, const char* item, double resolved) {
  Diagnostics diagnostics = {0};
  Optimization* o = NULL;
  OptimizationOptions settings = {.threads = 1};
  Status status = optimization_create(&o, task, &settings, &diagnostics);
  if (status == STATUS_OK) status = optimization_start(o, &diagnostics);
  if (status != STATUS_OK) fail_msg("%s", told(&diagnostics));
  GradcheckOptions options = {.directions = 2, .seed = 5, .threads = 1, .bound = 1e-6};
  GradcheckBlockReport report[2];
  optimization_gradcheck(o, &options, report);
  if (!(report[1].norm > 1e-12)) fail_msg("%s: the gradient is zero", item);
  if (!(report[1].error < 1e-6 || report[1].error < report[1].resolution) || !(report[1].resolution < resolved))
    fail_msg("%s: relative error %g, resolution %g", item, report[1].error, report[1].resolution);
  optimization_destroy(o);
  diagnostics_free(&diagnostics);
}

#endif
