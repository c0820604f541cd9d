/* Validation: simulates the best design with random draws that the optimization did not use. */
#include <assert.h>

#include "optimize/optimization.h"

struct Validation {
  int tries;
  bool* passed; /* true if the run with the draw meets the `success` terms (scenarios x tries) */
};

static void simulate_draw(void* context, int index, int thread) {
  (void)thread;
  Optimization* o = context;
  Validation* v = o->validation;
  int at = processes_rank() + index * processes_count();
  DrawIndex moment = {DRAW_VALIDATION, at % v->tries};
  bool passed = false;
  Status status = success_simulate(o, at / v->tries, moment, &passed);
  v->passed[at] = status == STATUS_OK && passed;
}

Status optimization_validate(Optimization* o) {
  int tries = o->task->validation_tries, all = tries * o->run_count;
  if (tries == 0) return STATUS_OK;
  Validation* v = o->validation = MEMORY_NEW(Validation, 1);
  *v = (Validation){tries, MEMORY_NEW(bool, all)};
  int rank = processes_rank(), stride = processes_count(), local_count = rank < all ? (all - 1 - rank) / stride + 1 : 0;
  parallel_for(o->options.threads, local_count, 2, 1, simulate_draw, o);
  for (int k = 0; k < all; k++) processes_broadcast(&v->passed[k], sizeof(bool), k % stride);
  bool stopped = o->options.interrupted && o->options.interrupted();
  if (!processes_max(stopped)) return STATUS_OK;
  validation_destroy(v);
  o->validation = NULL;
  return STATUS_INTERRUPTED;
}

void validation_destroy(Validation* v) {
  if (v) memory_free(v->passed);
  memory_free(v);
}

int optimization_validation_tries(const Optimization* o) { return o->validation ? o->validation->tries : 0; }

int optimization_validation_passed(const Optimization* o, int scenario) {
  assert(scenario >= 0);
  const Validation* v = o->validation;
  int passed = 0;
  for (int k = 0; v && k < v->tries; k++) passed += v->passed[scenario * v->tries + k];
  return passed;
}
