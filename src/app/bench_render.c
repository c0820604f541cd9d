/* sdrs bench render RUN: time per picture by phase of the drawing. */
#include "app/bench.h"

#define BENCH_PICTURES 100

typedef enum { PHASE_BODIES, PHASE_MARKS, PHASE_WORDS, PHASE_PNG, PHASE_TOTAL, PHASE_BYTES, PHASE_COUNT } Phase;
static const char* const NAMES[PHASE_COUNT] = {"bodies_ms", "marks_ms", "words_ms", "png_ms", "total_ms", "png_bytes"};

static double phase_value(const RenderTimes* times, Phase phase) {
  const double seconds[] = {times->bodies, times->marks, times->words, times->png,
                            times->bodies + times->marks + times->words + times->png};
  return phase == PHASE_BYTES ? (double)times->bytes : 1e3 * seconds[phase];
}

static void print_times(const RenderTimes* times, int count, double setup) {
  double* values = MEMORY_NEW(double, count);
  Text table = {0};
  text_add(&table, "quantity,median,mean,max\n");
  text_add(&table, "setup_ms,%.4g,%.4g,%.4g\n", 1e3 * setup, 1e3 * setup, 1e3 * setup);
  for (int phase = 0; phase < PHASE_COUNT; phase++) {
    for (int i = 0; i < count; i++) values[i] = phase_value(&times[i], (Phase)phase);
    double mean = bench_mean(values, count), median = bench_median(values, count);
    text_add(&table, "%s,%.6g,%.6g,%.6g\n", NAMES[phase], median, mean,
             values[count - 1]); /* bench_median has sorted the values */
  }
  fputs(table.data, stdout);
  text_free(&table);
  memory_free(values);
}

ExitCode bench_render(const Options* options) {
  Recorded recorded = {.options = options};
  Status status = recorded_load(&recorded, options->operands[1]);
  recorded_remove_scene_warnings(&recorded);
  print_diagnostics(options, &recorded.diagnostics);
  if (status == STATUS_OK) {
    RenderSubject subject = {.model = &recorded.model, .run = &recorded.run};
    RenderOptions render = render_defaults();
    int count = option_count(options, "steps", BENCH_PICTURES);
    if (count < 1) count = 1;
    RenderTimes* times = MEMORY_NEW(RenderTimes, count);
    render.threads = options->threads;
    double setup = render_measure(&subject, &render, count, times);
    print_times(times, count, setup);
    memory_free(times);
  }
  recorded_free(&recorded);
  return status_exit_code(status);
}
