/* sdrs bench scale --heap: bodies dropped at random into an open box, where they come to lie as one island. */
#include <math.h>
#include <stdlib.h>
#include "app/bench.h"

/* 10 ms steps. A heap that is not at rest after STEPS_MOST is timed as it is. */
enum { STEPS_MOST = 1000, REST_STEPS = 30 };

/* Bodies of at most 0.156 m from middle to corner begin this far apart, so that none touches however it is turned, and
 * no wall either [m]. */
#define SPACING 0.33
#define JITTER 0.005
/* At rest: kinetic energy per body of 1 kg [J], 4.5 mm/s each. */
#define REST_ENERGY 1e-5

/* A square box as wide as half the bodies piled up in a cube, or at least one of them. */
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
    turn[k] = random_uniform(random, -1.8, 1.8); /* rad */
  }
  text_add(yaml, "  - {name: body%d, shape: s%d, mass: 1, joint: {type: free, position: [%.4f, %.4f, %.4f], ", n,
           (int)(random_bits(random) % 3), place[0], place[1], place[2]);
  text_add(yaml, "rotation_vector: [%.4f, %.4f, %.4f]}}\n", turn[0], turn[1], turn[2]);
}

void bench_heap_yaml(Text* yaml, int bodies) {
  Random random = {1};
  int across = cells_across(bodies);
  text_add(yaml, "name: heap%d\nsimulation: {dt: 0.01, steps: %d}\ncontact: {friction: 0.5}\n", bodies, STEPS_MOST);
  add_box(yaml, 0.5 * SPACING * across);
  for (int n = 0; n < bodies; n++) add_body(yaml, n, across, &random);
}

/* ---------------------------------------------------------------- the run */

/* Bodies of the largest group that hangs together by touching; the box, link 0, holds nobody together. */
static int largest_island(Sim* sim, int links, int* sets, int* sizes) {
  int count, largest = 0;
  const SimContact* contacts = sim_contacts(sim, &count);
  sets_separate(sets, links);
  for (int k = 0; k < count; k++)
    if (contacts[k].a > 0) sets_join(sets, contacts[k].a, contacts[k].b);
  for (int i = 0; i < links; i++) sizes[i] = 0;
  for (int i = 1; i < links; i++) {
    int size = ++sizes[sets_root(sets, i)];
    if (size > largest) largest = size;
  }
  return largest;
}

/* From the first steps until the heap lies: sums over those in which at least half the bodies hang together. */
typedef struct {
  int steps, together, island;
  double together_ms, all_ms;
  bool at_rest;
} Fall;

static bool run_fall(const Options* options, Sim* sim, int bodies, int* sets, Fall* fall) {
  double milliseconds;
  while (!fall->at_rest && fall->steps < STEPS_MOST - REST_STEPS) {
    if (!bench_time_steps(options, sim, &milliseconds, 1)) return false;
    fall->steps++;
    fall->island = largest_island(sim, bodies + 1, sets, sets + bodies + 1);
    fall->all_ms += milliseconds;
    fall->at_rest = sim_measure(sim).kinetic < REST_ENERGY * bodies;
    if (2 * fall->island < bodies || fall->at_rest) continue;
    fall->together++;
    fall->together_ms += milliseconds;
  }
  return true;
}

bool bench_time_heap(const Options* options, Sim* sim, int bodies, double* rest_ms, double* fall_ms) {
  Fall fall = {0};
  double milliseconds[REST_STEPS];
  int* sets = MEMORY_NEW(int, 2 * (size_t)(bodies + 1));
  bool done = run_fall(options, sim, bodies, sets, &fall);
  memory_free(sets);
  if (!done || !bench_time_steps(options, sim, milliseconds, REST_STEPS)) return false;
  *fall_ms = fall.together > 0 ? fall.together_ms / fall.together : fall.all_ms / fall.steps;
  *rest_ms = bench_median(milliseconds, REST_STEPS);
  fprintf(stderr, "%d bodies: %s after %d steps, largest island %d, together for %d steps\n", bodies,
          fall.at_rest ? "at rest" : "not yet at rest", fall.steps, fall.island, fall.together);
  return true;
}
