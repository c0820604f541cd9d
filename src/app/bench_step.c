/* sdrs bench step SCENE: time per step by phase, and counts of the solver's work. */
#include "app/bench.h"

typedef enum {
  QUANTITY_BROAD_PHASE,
  QUANTITY_CONTACT,
  QUANTITY_FRICTION,
  QUANTITY_ASSEMBLY,
  QUANTITY_FACTOR,
  QUANTITY_CERTIFICATE,
  QUANTITY_OTHER,
  QUANTITY_TOTAL,
  QUANTITY_ITERATIONS,
  QUANTITY_TRIALS,
  QUANTITY_ACTIVE_PAIRS,
  QUANTITY_CANDIDATE_PAIRS,
  QUANTITY_COUNT,
} Quantity;

static const char* const NAMES[QUANTITY_COUNT] = {
    "broad_phase_ms", "contact_ms", "friction_ms", "assembly_ms", "factor_ms",    "certificate_ms",
    "other_ms",       "total_ms",   "iterations",  "trials",      "active_pairs", "candidate_pairs",
};

static double milliseconds(double after, double before) { return 1e3 * (after - before); }

/* Stores the times and counts of one step in samples[quantity][step]. before, after: times accumulated up to the start
 * and the end of the step. */
static void store_sample(double* const samples[], int step, SimTimes before, SimTimes after, const StepReport* report) {
  samples[QUANTITY_BROAD_PHASE][step] = milliseconds(after.broad_phase, before.broad_phase);
  samples[QUANTITY_CONTACT][step] = milliseconds(after.contact, before.contact);
  samples[QUANTITY_FRICTION][step] = milliseconds(after.friction, before.friction);
  samples[QUANTITY_ASSEMBLY][step] = milliseconds(after.assembly, before.assembly);
  samples[QUANTITY_FACTOR][step] = milliseconds(after.factor, before.factor);
  samples[QUANTITY_CERTIFICATE][step] = milliseconds(after.certificate, before.certificate);
  samples[QUANTITY_OTHER][step] = milliseconds(after.other, before.other);
  samples[QUANTITY_TOTAL][step] = milliseconds(after.total, before.total);
  samples[QUANTITY_ITERATIONS][step] = report->iterations;
  samples[QUANTITY_TRIALS][step] = report->trials;
  samples[QUANTITY_ACTIVE_PAIRS][step] = report->active_pairs;
  samples[QUANTITY_CANDIDATE_PAIRS][step] = report->candidate_pairs;
}

static void print_table(double* const samples[], int steps) {
  Text table = {0};
  text_add(&table, "quantity,median,mean,max\n");
  for (int k = 0; k < QUANTITY_COUNT; k++) {
    double mean = bench_mean(samples[k], steps), median = bench_median(samples[k], steps);
    double largest = steps > 0 ? samples[k][steps - 1] : 0.0; /* bench_median has sorted the values */
    text_add(&table, "%s,%.6g,%.6g,%.6g\n", NAMES[k], median, mean, largest);
  }
  fputs(table.data, stdout);
  text_free(&table);
}

/* Times the steps of the scene and prints a table. Writes no files. A failed step ends the run with EXIT_SOLVER. */
static ExitCode time_steps(const Options* options, Sim* sim, const Model* model) {
  int steps = model->simulation.steps, done = 0;
  double* samples[QUANTITY_COUNT];
  for (int k = 0; k < QUANTITY_COUNT; k++) samples[k] = MEMORY_NEW(double, steps);
  StepReport report = {0};
  for (; done < steps && !step_outcome_failed(report.outcome); done++) {
    SimTimes before = sim_times(sim);
    report = sim_step(sim);
    if (step_outcome_failed(report.outcome)) break;
    store_sample(samples, done, before, sim_times(sim), &report);
  }
  print_table(samples, done);
  for (int k = 0; k < QUANTITY_COUNT; k++) memory_free(samples[k]);
  if (done == steps) return EXIT_DONE;
  command_error(options, "step %d failed: %s", done + 1, step_outcome_text(report.outcome));
  return EXIT_SOLVER;
}

ExitCode bench_step(const Options* options) {
  Loaded loaded = {0};
  Diagnostics diagnostics = {0};
  Sim* sim = NULL;
  SimOptions sim_options = {.threads = options->threads};
  int steps = option_count(options, "steps", 0);
  Status status = loaded_create(&loaded, options, options->operands[1], steps, true, &diagnostics);
  if (status == STATUS_OK) status = sim_create(&sim, &loaded.model, &sim_options, &diagnostics);
  print_diagnostics(options, &diagnostics);
  ExitCode code = status == STATUS_OK ? time_steps(options, sim, &loaded.model) : status_exit_code(status);
  sim_destroy(sim);
  diagnostics_free(&diagnostics);
  loaded_free(&loaded);
  return code;
}
