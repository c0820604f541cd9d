/* Tables III and IV of the witness paper: what one step of bringing two points together costs and in what parts, as
 * CSV. Bodies: hulls of 64 points on a ball of 10 cm; concave: eight such of 4 cm, in a ring.
 * benchmarks/measure_witness_times.sh */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "query/witness.h"

enum { POSES = 400, ROUNDS = 7, CORNERS = 64, PIECES = 8 };

typedef struct {
  WitnessBody body[2];
  Pose pose[POSES];
  Vec3 target[2];
  Witness answer[POSES];
  WitnessOptions options;
  bool cold; /* forward: without what was found last */
} Bench;

typedef enum { FORWARD, SAMPLES, BACKWARD, ESTIMATE, LOSS } Part;
static volatile double sink;

static Vec3 direction(Random* random) {
  return vec3_normalized(vec3(random_normal(random), random_normal(random), random_normal(random)));
}

static WitnessBody make_body(Random* random, int pieces) {
  ConvexHull hulls[PIECES];
  for (int p = 0; p < pieces; p++) {
    double sine, cosine, turn = 6.28318530717958648 * p / pieces, radius = pieces > 1 ? 0.02 : 0.05;
    math_sincos(turn, &sine, &cosine);
    Vec3 center = pieces > 1 ? vec3(0.04 * cosine, 0.04 * sine, 0) : vec3(0, 0, 0), corner[CORNERS];
    for (int i = 0; i < CORNERS; i++) corner[i] = vec3_add_scaled(center, radius, direction(random));
    if (hull_create(&hulls[p], corner, CORNERS) != HULL_OK) exit(1);
  }
  WitnessBody body = witness_body_create(hulls, pieces, WITNESS_SURFACE);
  for (int p = 0; p < pieces; p++) hull_free(&hulls[p]);
  return body;
}

static double once(Bench* b, Part part) {
  WitnessCache cache = {.piece = {0, 0}};
  Pose at = pose_identity();
  double start = (double)clock();
  for (int i = 0; i < POSES; i++) {
    Witness* w = &b->answer[i];
    int piece[2];
    Vec3 samples[WITNESS_SAMPLES];
    if (part == FORWARD)
      sink = witness_nearest(&b->body[0], at, &b->body[1], b->pose[i], b->cold ? NULL : &cache, piece).distance;
    if (part == BACKWARD) *w = witness_query(&b->body[0], at, &b->body[1], b->pose[i], &b->options, b->target, &cache);
    if (part == ESTIMATE) witness_estimate(&b->body[0], at, &b->body[1], b->pose[i], &b->options, w);
    if (part == LOSS) sink = witness_loss(w, at, b->pose[i], b->target, 0).transported[0];
    for (int k = 0; part == SAMPLES && k < 2; k++) {
      Vec3 point = k ? pose_apply_inverse(b->pose[i], w->nearest.witness_b) : w->nearest.witness_a;
      Vec3 normal = k ? vec3_scale(mat3_tmul_vec(b->pose[i].r, w->nearest.normal), -1) : w->nearest.normal;
      sink = witness_choose(&b->body[k], w->piece[k], point, normal, &b->options, &b->target[k], samples);
    }
  }
  return 1e6 * ((double)clock() - start) / CLOCKS_PER_SEC / POSES;
}

/* us a task; the least of the rounds. */
static double time_of(Bench* b, Part part) {
  double least = HUGE_VAL;
  for (int k = 0; k < ROUNDS; k++) least = fmin(least, once(b, part));
  return least;
}

static void tables(Bench* b, const char* bodies) {
  b->options = (WitnessOptions){.sampling = WITNESS_ADAPTIVE};
  b->cold = true;
  double cold = time_of(b, FORWARD);
  b->cold = false;
  double warm = time_of(b, FORWARD), all = time_of(b, BACKWARD), loss = time_of(b, LOSS);
  printf("III,%s,forward cold,%.2f\nIII,%s,forward,%.2f\n", bodies, cold, bodies, warm);
  printf("III,%s,smoothed backward,%.2f\n", bodies, all - warm + loss);
  const char* estimate_name[] = {"", "analytic", "differences", "zeroth"};
  for (int k = WITNESS_ANALYTIC; k <= WITNESS_ZEROTH; k++) {
    b->options.estimate = (WitnessEstimate)k;
    printf("III,%s,%s backward,%.2f\n", bodies, estimate_name[k], time_of(b, ESTIMATE) + loss);
  }
  b->options.estimate = WITNESS_SMOOTHED;
  const char* sampling_name[] = {"fixed", "adaptive", "neighbor"};
  double samples = 0;
  for (int k = WITNESS_FIXED; k <= WITNESS_NEIGHBOR; k++) {
    b->options.sampling = (WitnessSampling)k;
    double own = time_of(b, SAMPLES);
    if (k == WITNESS_ADAPTIVE) samples = own;
    printf("IV,%s,sampling %s,%.2f\n", bodies, sampling_name[k], own);
  }
  b->options.sampling = WITNESS_ADAPTIVE;
  printf("IV,%s,derivatives by distance,%.2f\n", bodies, all - warm - samples);
  b->options.score = WITNESS_BY_DIRECTION;
  printf("IV,%s,derivatives by direction,%.2f\n", bodies, time_of(b, BACKWARD) - warm - samples);
  printf("IV,%s,loss and transport,%.2f\n", bodies, loss);
}

int main(void) {
  printf("table,bodies,part,us\n");
  for (int concave = 0; concave < 2; concave++) {
    Random random = {7};
    Bench* b = calloc(1, sizeof *b);
    for (int k = 0; k < 2; k++) {
      b->body[k] = make_body(&random, concave ? PIECES : 1);
      b->target[k] = witness_random_point(&b->body[k], &random);
    }
    for (int i = 0; i < POSES; i++)
      b->pose[i] = (Pose){mat3_from_quat(quat_about(vec3(0, 0, 1), 0.005 * i)), vec3(0.13, 2e-5 * i, 0)};
    tables(b, concave ? "concave" : "convex");
    for (int k = 0; k < 2; k++) witness_body_free(&b->body[k]);
    free(b);
  }
  return 0;
}
