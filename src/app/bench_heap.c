/* sdrs bench scale --heap: bodies fall into an open box, where contacts connect them to one island. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "app/bench.h"

/* Numbers of 10 ms steps: STEPS_MAX bounds the fall and the settling after the fall; REST_STEPS are timed at rest. A
 * heap that still moves after STEPS_MAX steps is timed all the same. */
enum { STEPS_MAX = 1000, REST_STEPS = 30 };
/* Number of consecutive steps with low energy after which the heap is at rest. After its last slip a heap needs half a
 * second to creep evenly. */
enum { QUIET_STEPS = 100 };

/* Initial distance between the centres of bodies [m]. Bodies have a circumradius of at most 0.156 m, so no body touches
 * another body or a wall in any orientation. */
#define SPACING 0.33
#define JITTER 0.005
/* The fall has ended if the kinetic energy per body is below this value [J]. A body of 1 kg then moves at 4.5 mm/s. */
#define FALLEN_ENERGY 1e-5
/* The heap is at rest if the kinetic energy per body stays below this value for QUIET_STEPS steps [J]. Bodies of 1 kg
 * then move at 0.2 mm/s. */
#define REST_ENERGY 2e-8
/* Factor of the friction smoothing while the heap settles. With the default smoothing, sticking contacts creep by 0.06
 * mm/s until bodies slip, so a large heap never comes to rest. This factor reduces the creep to a third
 * (docs/derivations/friction.md). */
#define REST_SMOOTHING 1e-1

/* Returns the width of the square box, in numbers of bodies: the cube root of bodies / 2, rounded up, at least 1. */
static int cells_across(int bodies) { return (int)fmax(1, ceil(math_cbrt(0.5 * bodies) - 1e-9)); }

static void add_box(Text* yaml, double half_width) {
  text_add(yaml, "shapes:\n  floor: {type: half_space}\n");
  static const char* const normals[] = {"[1, 0, 0]", "[-1, 0, 0]", "[0, 1, 0]", "[0, -1, 0]"};
  for (int k = 0; k < 4; k++)
    text_add(yaml, "  wall%d: {type: half_space, normal: %s, offset: %.4f}\n", k, normals[k], -half_width);
  text_add(yaml,
           "  s0: {type: box, size: [0.2, 0.16, 0.12]}\n"
           "  s1: {type: box, size: [0.18, 0.18, 0.18]}\n"
           "  s2: {type: box, size: [0.15, 0.2, 0.1]}\n");
  text_add(yaml, "links:\n  - {name: box, fixed: true, shapes: [floor, wall0, wall1, wall2, wall3]}\n");
}

static void add_body(Text* yaml, int n, int across, Random* random) {
  int row = n / across, layer = row / across;
  double place[3] = {n % across, row % across, layer}, turn[3];
  for (int k = 0; k < 3; k++) {
    place[k] = SPACING * (k < 2 ? place[k] - 0.5 * (across - 1) : place[k] + 0.5);
    place[k] += random_uniform(random, -JITTER, JITTER);
    turn[k] = random_uniform(random, -1.8, 1.8); /* random rotation of the body about each axis [rad] */
  }
  text_add(yaml, "  - {name: body%d, shape: s%d, mass: 1, joint: {type: free, position: [%.4f, %.4f, %.4f], ", n,
           (int)(random_bits(random) % 3), place[0], place[1], place[2]);
  text_add(yaml, "rotation_vector: [%.4f, %.4f, %.4f]}}\n", turn[0], turn[1], turn[2]);
}

void bench_heap_yaml(Text* yaml, int bodies) {
  assert(bodies >= 1);
  Random random = {1};
  int across = cells_across(bodies);
  text_add(yaml, "name: heap%d\nsimulation: {dt: 0.01, steps: %d}\ncontact: {friction: 0.5}\n", bodies, STEPS_MAX);
  add_box(yaml, 0.5 * SPACING * across);
  for (int n = 0; n < bodies; n++) add_body(yaml, n, across, &random);
}

/* Returns the number of bodies in the largest contact island. Contacts with the box, link 0, do not
 * connect bodies. sets (links) and sizes (links) are workspace. */
static int largest_island(Sim* sim, int links, int* sets, int* sizes) {
  assert(links >= 1);
  int count, largest = 0;
  const SimContact* contacts = sim_contacts(sim, &count);
  disjoint_sets_init(sets, links);
  for (int k = 0; k < count; k++)
    if (contacts[k].a > 0) disjoint_sets_unite(sets, contacts[k].a, contacts[k].b);
  for (int i = 0; i < links; i++) sizes[i] = 0;
  for (int i = 1; i < links; i++) {
    int size = ++sizes[disjoint_sets_find(sets, i)];
    if (size > largest) largest = size;
  }
  return largest;
}

/* Statistics of the fall. The members with `island` in their name count only steps in which at least half
 * the bodies are in one island. */
typedef struct {
  int steps, island_steps, largest_island_size;
  double island_ms, all_ms;
  bool has_ended;
} Fall;

static bool run_fall(const Options* options, Sim* sim, int bodies, int* sets, Fall* fall) {
  double milliseconds;
  while (!fall->has_ended && fall->steps < STEPS_MAX) {
    if (!bench_time_steps(options, sim, &milliseconds, 1)) return false;
    fall->steps++;
    fall->largest_island_size = largest_island(sim, bodies + 1, sets, sets + bodies + 1);
    fall->all_ms += milliseconds;
    fall->has_ended = sim_measure(sim).kinetic < FALLEN_ENERGY * bodies;
    if (2 * fall->largest_island_size < bodies || fall->has_ended) continue;
    fall->island_steps++;
    fall->island_ms += milliseconds;
  }
  return true;
}

/* Statistics of the settling. milliseconds and newton_iterations hold the last REST_STEPS steps. */
typedef struct {
  int steps;
  int quiet_steps; /* number of consecutive steps with low energy */
  double milliseconds[REST_STEPS], newton_iterations[REST_STEPS], kinetic;
} Rest;

static bool run_rest(const Options* options, Sim* sim, int bodies, Rest* rest) {
  while (rest->quiet_steps < QUIET_STEPS && rest->steps < STEPS_MAX) {
    int k = rest->steps++ % REST_STEPS;
    double start = timer_now();
    StepReport report = sim_step(sim);
    rest->milliseconds[k] = 1e3 * (timer_now() - start);
    rest->newton_iterations[k] = report.iterations;
    if (step_outcome_failed(report.outcome)) {
      command_error(options, "step %d failed: %s", sim_state(sim)->step + 1, step_outcome_text(report.outcome));
      return false;
    }
    rest->kinetic = sim_measure(sim).kinetic;
    rest->quiet_steps = rest->kinetic < REST_ENERGY * bodies ? rest->quiet_steps + 1 : 0;
  }
  return true;
}

/* Continues the simulation until the heap is at rest, with the friction smoothing reduced by REST_SMOOTHING. Returns
 * false, after printing an error, if a step failed. */
static bool settle(const Options* options, Sim* sim, const Model* model, int bodies, Rest* rest) {
  Model settling_model = *model; /* shallow copy that borrows all arrays */
  Sim* settling = NULL;
  Diagnostics diagnostics = {0};
  SimOptions sim_options = {.threads = options->threads};
  settling_model.contact.smoothing *= REST_SMOOTHING;
  bool done = sim_create(&settling, &settling_model, &sim_options, &diagnostics) == STATUS_OK;
  print_diagnostics(options, &diagnostics);
  if (done) {
    SimSnapshot* snapshot = sim_save(sim);
    sim_restore(settling, snapshot);
    sim_snapshot_destroy(snapshot);
    done = run_rest(options, settling, bodies, rest);
  }
  sim_destroy(settling);
  diagnostics_free(&diagnostics);
  return done;
}

bool bench_time_heap(const Options* options, Sim* sim, const Model* model, int bodies, double* rest_ms,
                     double* fall_ms) {
  assert(bodies >= 1);
  Fall fall = {0};
  Rest rest = {0};
  int* sets = MEMORY_NEW(int, 2 * (size_t)(bodies + 1));
  bool done = run_fall(options, sim, bodies, sets, &fall) && settle(options, sim, model, bodies, &rest);
  memory_free(sets);
  if (!done) return false;
  *fall_ms = fall.island_steps > 0 ? fall.island_ms / fall.island_steps : fall.all_ms / fall.steps;
  *rest_ms = bench_median(rest.milliseconds, REST_STEPS);
  fprintf(stderr,
          "%d bodies: %s after %d steps, largest island %d, together for %d steps; %s after %d more: kinetic energy "
          "%.3g J, %g iterations a step\n",
          bodies, fall.has_ended ? "fallen" : "still falling", fall.steps, fall.largest_island_size, fall.island_steps,
          rest.quiet_steps >= QUIET_STEPS ? "at rest" : "not yet at rest", rest.steps, rest.kinetic,
          bench_median(rest.newton_iterations, REST_STEPS));
  return true;
}
