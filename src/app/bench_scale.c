/* sdrs bench scale: the time per step against the number of bodies. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "app/bench.h"

/* Numbers of 10 ms steps: all bodies land within FALL_STEPS, come to rest within SETTLE_STEPS, and REST_STEPS are timed
 * at rest. */
enum { FALL_STEPS = 60, SETTLE_STEPS = 140, REST_STEPS = 50, LAYERS = 4, BODIES_MAX = 20000, SIZES_MAX = 32 };

/* Initial distance between the centres of bodies of about 0.2 m, so that no bodies touch [m]. */
#define SPACING 0.27
#define LAYER_HEIGHT 0.3
#define TILT 0.15 /* largest initial rotation about each axis [rad] */

static const char* const SHAPES =
    "shapes:\n"
    "  s0: {type: box, size: [0.2, 0.16, 0.12]}\n"
    "  s1: {type: box, size: [0.18, 0.18, 0.18]}\n"
    "  s2: {type: box, size: [0.15, 0.2, 0.1]}\n"
    "  ground: {type: half_space}\n";
enum { SHAPE_COUNT = 3 };

static void add_body(Text* yaml, int n, int side, Random* random) {
  int layer = n / (side * side), row = n / side % side, column = n % side;
  double x = SPACING * (column - 0.5 * (side - 1)) + random_uniform(random, -0.01, 0.01);
  double y = SPACING * (row - 0.5 * (side - 1)) + random_uniform(random, -0.01, 0.01);
  double z = 0.2 + LAYER_HEIGHT * layer;
  text_add(yaml, "  - {name: body%d, shape: s%d, mass: 1, joint: {type: free, position: [%.4f, %.4f, %.4f], ", n,
           (int)(random_bits(random) % SHAPE_COUNT), x, y, z);
  double tilt_x = random_uniform(random, -TILT, TILT), tilt_y = random_uniform(random, -TILT, TILT);
  text_add(yaml, "rotation_vector: [%.4f, %.4f, %.4f]}}\n", tilt_x, tilt_y, random_uniform(random, -TILT, TILT));
}

void bench_pile_yaml(Text* yaml, int bodies) {
  assert(bodies >= 1);
  Random random = {1};
  int side = (int)ceil(sqrt((double)bodies / LAYERS));
  text_add(yaml, "name: scale%d\nsimulation: {dt: 0.01, steps: %d}\ncontact: {friction: 0.5}\n%s", bodies,
           FALL_STEPS + SETTLE_STEPS + REST_STEPS, SHAPES);
  text_add(yaml, "links:\n  - {name: ground, fixed: true, shape: ground}\n");
  for (int n = 0; n < bodies; n++) add_body(yaml, n, side, &random);
}

/* A kind of scene and the function that measures its time per step. The function returns false if a step failed. */
typedef struct {
  void (*yaml)(Text* yaml, int bodies);
  bool (*time)(const Options* options, Sim* sim, const Model* model, int bodies, double* rest_ms, double* fall_ms);
} ScaleBenchmark;

bool bench_time_steps(const Options* options, Sim* sim, double* milliseconds, int count) {
  assert(count >= 0);
  for (int i = 0; i < count; i++) {
    double start = timer_now();
    StepReport report = sim_step(sim);
    milliseconds[i] = 1e3 * (timer_now() - start);
    if (!step_outcome_failed(report.outcome)) continue;
    command_error(options, "step %d failed: %s", sim_state(sim)->step + 1, step_outcome_text(report.outcome));
    return false;
  }
  return true;
}

/* Sets *fall_ms to the mean time of the steps of the fall, and *rest_ms to the median time of the steps at rest [ms].
 * Returns false, after printing an error, if a step failed. */
static bool time_pile(const Options* options, Sim* sim, const Model* model, int bodies, double* rest_ms,
                      double* fall_ms) {
  (void)model;
  (void)bodies;
  double milliseconds[FALL_STEPS + SETTLE_STEPS + REST_STEPS];
  if (!bench_time_steps(options, sim, milliseconds, FALL_STEPS)) return false;
  *fall_ms = bench_mean(milliseconds, FALL_STEPS);
  if (!bench_time_steps(options, sim, milliseconds, SETTLE_STEPS)) return false;
  if (!bench_time_steps(options, sim, milliseconds, REST_STEPS)) return false;
  *rest_ms = bench_median(milliseconds, REST_STEPS);
  return true;
}

static ExitCode time_size(const Options* options, ScaleBenchmark scale, int bodies, double* rest_ms, double* fall_ms) {
  Text yaml = {0};
  Scene scene = {0};
  Model model = {0};
  Sim* sim = NULL;
  Diagnostics diagnostics = {0};
  SimOptions sim_options = {.threads = options->threads};
  *rest_ms = *fall_ms = (double)NAN; /* not measured if a step fails before */
  scale.yaml(&yaml, bodies);
  Status status = scene_parse(&scene, "bench scale", yaml.data, yaml.length, false, options->overrides,
                              options->override_count, &diagnostics);
  if (status == STATUS_OK) status = model_create(&model, &scene, &diagnostics);
  if (status == STATUS_OK) status = sim_create(&sim, &model, &sim_options, &diagnostics);
  print_diagnostics(options, &diagnostics);
  if (status == STATUS_OK && !scale.time(options, sim, &model, bodies, rest_ms, fall_ms)) status = STATUS_SOLVER;
  sim_destroy(sim);
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  text_free(&yaml);
  return status_exit_code(status);
}

/* Parses integers from 1 to BODIES_MAX, separated by commas, into `sizes`. Returns their number, or 0 if the list is
 * invalid. */
static int parse_sizes(const char* list, int sizes[SIZES_MAX]) {
  int count = 0;
  for (const char* p = list; count < SIZES_MAX; p++) {
    char* end;
    long size = strtol(p, &end, 10);
    if (end == p || size < 1 || size > BODIES_MAX) return 0;
    sizes[count++] = (int)size;
    if (*end == '\0') return count;
    if (*end != ',') return 0;
    p = end;
  }
  return 0;
}

ExitCode bench_scale(const Options* options) {
  int sizes[SIZES_MAX];
  const char* list = option_text(options, "bodies");
  bool heap = option_given(options, "heap");
  ScaleBenchmark scale =
      heap ? (ScaleBenchmark){bench_heap_yaml, bench_time_heap} : (ScaleBenchmark){bench_pile_yaml, time_pile};
  int count = parse_sizes(list ? list : heap ? "100,300,1000" : "10,20,50,100,200,500,1000", sizes);
  if (count == 0) return usage_error(options, "--bodies needs whole numbers from 1 to %d, e.g. 10,100", BODIES_MAX);
  double bodies[SIZES_MAX], rest[SIZES_MAX], fall[SIZES_MAX];
  printf("bodies,rest_ms,fall_ms\n");
  for (int i = 0; i < count; i++) {
    bodies[i] = sizes[i];
    ExitCode code = time_size(options, scale, sizes[i], &rest[i], &fall[i]);
    if (code != EXIT_DONE) return code;
    printf("%d,%.6g,%.6g\n", sizes[i], rest[i], fall[i]);
    fflush(stdout);
  }
  fprintf(stderr, "exponent of time per step against bodies, 100 to 1000: rest %.3f, fall %.3f\n",
          bench_exponent(bodies, rest, count, 100, 1000), bench_exponent(bodies, fall, count, 100, 1000));
  return EXIT_DONE;
}
