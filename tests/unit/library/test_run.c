/* Tests libsdrs: steps, runs, rollouts and gradients against each other and against finite differences. */
#include <math.h>
#include <string.h>
#include "library/library.h"
#include "support/compare.h"
#include "support/loops.h"

/* A box that slides and an arm of a ball and a hinge that is driven, near the ground. */
static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 12, tolerance: 1e-13, integrator: first_order}\n"
    "contact: {friction: 0.3}\n"
    "shapes: {box: {type: box, size: [0.2, 0.2, 0.2]}, ground: {type: half_space}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: ground}\n"
    "  - {name: box, shape: box, mass: 1, position: [0, 0, 0.1005]}\n"
    "  - {name: arm, shape: box, mass: 1, joint: {type: ball, position: [0, 1, 1]}}\n"
    "  - {name: hand, parent: arm, shape: box, mass: 0.5, joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, "
    "0]}}\n"
    "controllers:\n"
    "  - {link: arm, type: pd, position_gain: 20, velocity_gain: 1, target: [0.1, 0.2, 0.3]}\n"
    "  - {link: hand, type: pd, position_gain: 5, velocity_gain: 0.2, target: {type: sines, terms: [{amplitude: 0.5, "
    "frequency: 2}]}}\n"
    "initial: [{link: box, velocities: [1, 0.2, 0, 0, 0, 0.3]}, {link: arm, velocities: [0.3, -0.2, 0.5]}]\n";
enum { STEPS = 12, NQ = 12, NV = 10, NU = 4, LINKS = 4, BOX = 1, ARM = 2, HAND = 3 };

static void must(sdrs* s, sdrs_status status) {
  if (status != SDRS_OK) fail_msg("status %d: %s", (int)status, sdrs_error(s));
}

static sdrs_info described(const sdrs* s) {
  sdrs_info info = SDRS_INIT(sdrs_info);
  assert_int_equal(sdrs_describe(s, &info), SDRS_OK);
  return info;
}

static sdrs* loaded(void) {
  sdrs* s = NULL;
  sdrs_status status = sdrs_parse(&s, SCENE, NULL, NULL);
  must(s, status);
  sdrs_info info = described(s);
  assert_int_equal(info.coordinates, NQ);
  assert_int_equal(info.velocities, NV);
  assert_int_equal(info.inputs, NU);
  return s;
}

static sdrs_array viewed(sdrs* s, sdrs_block block) {
  sdrs_array out = SDRS_INIT(sdrs_array);
  must(s, sdrs_view(s, block, -1, &out));
  return out;
}

static sdrs_array recorded(sdrs* s, sdrs_block block, int link) {
  sdrs_array out = SDRS_INIT(sdrs_array);
  must(s, sdrs_record(s, block, link, &out));
  return out;
}

static void inputs_of_a_test(double* input) {
  Random random = {11};
  for (int k = 0; k < STEPS * NU; k++) input[k] = random_uniform(&random, -0.4, 0.4);
}

/* ---------------------------------------------------------------- equal runs by different functions */

static void a_run_is_its_steps(void** state) {
  (void)state;
  sdrs* s = loaded();
  must(s, sdrs_run(s, 0));
  sdrs_array q = recorded(s, SDRS_COORDINATES, -1), v = recorded(s, SDRS_VELOCITIES, -1);
  sdrs_array x = recorded(s, SDRS_POSITION, HAND), turn = recorded(s, SDRS_ORIENTATION, ARM);
  sdrs_array all = recorded(s, SDRS_POSITION, -1), center = recorded(s, SDRS_CENTER, HAND);
  sdrs_array time = recorded(s, SDRS_TIME, -1), force = recorded(s, SDRS_FORCE, BOX);
  assert_int_equal(q.rows, STEPS + 1);
  for (int k = 0; k <= STEPS; k++) {
    size_t row = (size_t)k;
    compare_bytes(viewed(s, SDRS_COORDINATES).data, q.data + row * q.stride, sizeof(double) * NQ, "coordinates, row %d",
                  k);
    compare_bytes(viewed(s, SDRS_VELOCITIES).data, v.data + row * v.stride, sizeof(double) * NV, "velocities, row %d",
                  k);
    compare_bytes(viewed(s, SDRS_TIME).data, time.data + row, sizeof(double), "time, row %d", k);
    sdrs_array now = viewed(s, SDRS_POSITION), centers = viewed(s, SDRS_CENTER);
    compare_bytes(now.data + HAND * now.stride, x.data + row * x.stride, sizeof(Vec3), "position, row %d", k);
    compare_bytes(all.data + row * all.stride + 3 * HAND, x.data + row * x.stride, sizeof(Vec3), "positions, row %d",
                  k);
    compare_arrays(centers.data + HAND * centers.stride, center.data + row * center.stride, 3, 1e-15, "centre, row %d",
                   k);
    sdrs_array quaternions = viewed(s, SDRS_ORIENTATION), forces = viewed(s, SDRS_FORCE);
    compare_arrays(quaternions.data + 4 * ARM, turn.data + row * turn.stride, 4, 1e-15, "orientation, row %d", k);
    if (k > 0) compare_bytes(forces.data + 3 * BOX, force.data + row * force.stride, sizeof(Vec3), "force, row %d", k);
    if (k < STEPS) must(s, sdrs_step(s, 1));
  }
  must(s, sdrs_reset(s));
  compare_bytes(viewed(s, SDRS_COORDINATES).data, q.data, sizeof(double) * NQ, "coordinates after a reset");
  sdrs_free(s);
}

/* A constant target has the same effect as input and as signal. Inputs set step by step equal inputs set at once. */
static void inputs_are_targets(void** state) {
  (void)state;
  sdrs *s = loaded(), *other = loaded();
  double input[STEPS * NU];
  const char* overrides[] = {"controllers.hand.target=0.25"};
  sdrs_options options = {.size = sizeof(sdrs_options), .overrides = overrides, .override_count = 1};
  sdrs* constant = NULL;
  sdrs_status status = sdrs_parse(&constant, SCENE, NULL, &options);
  must(constant, status);
  must(s, sdrs_set(s, SDRS_INPUT, (const double[]){0.1, 0.2, 0.3, 0.25}, NU));
  must(s, sdrs_step(s, STEPS));
  must(constant, sdrs_step(constant, STEPS));
  compare_bytes(viewed(s, SDRS_COORDINATES).data, viewed(constant, SDRS_COORDINATES).data, sizeof(double) * NQ,
                "inputs that are held, and constant signals");
  compare_arrays(viewed(s, SDRS_INPUT).data, (const double[]){0.1, 0.2, 0.3, 0.25}, NU, 0, "inputs");
  inputs_of_a_test(input);
  must(s, sdrs_reset(s));
  must(other, sdrs_set(other, SDRS_INPUT, input, STEPS * NU));
  for (int k = 0; k < STEPS; k++) {
    must(s, sdrs_set(s, SDRS_INPUT, input + k * NU, NU));
    must(s, sdrs_step(s, 1));
    must(other, sdrs_step(other, 1));
    compare_bytes(viewed(s, SDRS_COORDINATES).data, viewed(other, SDRS_COORDINATES).data, sizeof(double) * NQ,
                  "step %d", k);
  }
  must(s, sdrs_run(s, STEPS)); /* what was given step by step is kept */
  compare_bytes(recorded(s, SDRS_COORDINATES, -1).data + STEPS * NQ, viewed(other, SDRS_COORDINATES).data,
                sizeof(double) * NQ, "the run after the steps");
  must(s, sdrs_set(s, SDRS_INPUT, NULL, 0));
  must(s, sdrs_run(s, STEPS));
  must(constant, sdrs_clear(constant));
  sdrs_free(constant);
  constant = loaded();
  must(constant, sdrs_step(constant, STEPS));
  compare_bytes(recorded(s, SDRS_COORDINATES, -1).data + STEPS * NQ, viewed(constant, SDRS_COORDINATES).data,
                sizeof(double) * NQ, "the scene's own signals again");
  sdrs_free(constant);
  sdrs_free(other);
  sdrs_free(s);
}

static void rollouts_are_runs(void** state) {
  (void)state;
  enum { RUNS = 5 };
  sdrs* s = loaded();
  double velocities[RUNS * NV], input[RUNS * STEPS * NU], record[RUNS * (STEPS + 1) * NQ], end[RUNS * NV];
  int done[RUNS];
  Random random = {3};
  for (int k = 0; k < RUNS * NV; k++) velocities[k] = random_uniform(&random, -0.2, 0.2);
  for (int k = 0; k < RUNS * STEPS * NU; k++) input[k] = random_uniform(&random, -0.3, 0.3);
  for (int threads = 1; threads <= 3; threads++) {
    memset(record, 0, sizeof(record));
    sdrs_rollouts wanted = {.size = sizeof(sdrs_rollouts),
                            .count = RUNS,
                            .steps = STEPS,
                            .threads = threads,
                            .velocities = velocities,
                            .input = input,
                            .record = record,
                            .final_velocities = end,
                            .steps_done = done};
    must(s, sdrs_rollout(s, &wanted));
    for (int k = 0; k < RUNS; k++) {
      sdrs* one;
      must(s, sdrs_clone(&one, s));
      must(one, sdrs_set(one, SDRS_VELOCITIES, velocities + k * NV, NV));
      must(one, sdrs_set(one, SDRS_INPUT, input + k * STEPS * NU, STEPS * NU));
      must(one, sdrs_run(one, STEPS));
      assert_int_equal(done[k], STEPS);
      compare_bytes(record + (size_t)k * (STEPS + 1) * NQ, recorded(one, SDRS_COORDINATES, -1).data,
                    sizeof(double) * (STEPS + 1) * NQ, "rollout %d on %d threads", k, threads);
      compare_bytes(end + k * NV, recorded(one, SDRS_VELOCITIES, -1).data + STEPS * NV, sizeof(double) * NV,
                    "velocities of rollout %d on %d threads", k, threads);
      sdrs_free(one);
    }
  }
  sdrs_free(s);
}

static void clones_step_side_by_side(void** state) {
  (void)state;
  enum { COUNT = 4 };
  sdrs *s = loaded(), *clones[COUNT];
  for (int k = 0; k < COUNT; k++) {
    must(s, sdrs_clone(&clones[k], s));
    must(clones[k], sdrs_set(clones[k], SDRS_INPUT, (const double[]){0.1 * k, 0, 0, 0.1}, NU));
  }
  assert_int_equal(sdrs_step_all(clones, COUNT, STEPS, 3), SDRS_OK);
  for (int k = 0; k < COUNT; k++) {
    must(s, sdrs_reset(s)); /* inputs are from the present step on */
    must(s, sdrs_set(s, SDRS_INPUT, (const double[]){0.1 * k, 0, 0, 0.1}, NU));
    must(s, sdrs_step(s, STEPS));
    compare_bytes(viewed(clones[k], SDRS_COORDINATES).data, viewed(s, SDRS_COORDINATES).data, sizeof(double) * NQ,
                  "clone %d", k);
    sdrs_free(clones[k]);
  }
  sdrs_free(s);
}

static void compare_slopes(sdrs* a, sdrs* b, sdrs_block block) {
  sdrs_array x = SDRS_INIT(sdrs_array), y = SDRS_INIT(sdrs_array);
  must(a, sdrs_gradient_view(a, block, &x));
  must(b, sdrs_gradient_view(b, block, &y));
  assert_int_equal(x.rows * x.columns, y.rows * y.columns);
  compare_bytes(x.data, y.data, sizeof(double) * x.rows * x.columns, "derivatives by %s", sdrs_block_name(block));
}

/* Runs and gradients of many objects are bit for bit those of each, in every block, on any number of threads. */
static void runs_and_gradients_of_many(void** state) {
  (void)state;
  enum { COUNT = 3, SEEDS_EACH = 2 };
  static double weights[COUNT][SEEDS_EACH][(STEPS + 1) * NQ];
  sdrs *s = loaded(), *many[COUNT];
  sdrs_seed seeds[COUNT * SEEDS_EACH];
  Random random = {9};
  for (int k = 0; k < COUNT; k++) {
    must(s, sdrs_clone(&many[k], s));
    must(many[k], sdrs_set(many[k], SDRS_INPUT, (const double[]){0.1 * k, 0, 0, 0.1}, NU));
    for (int b = 0; b < SEEDS_EACH; b++) {
      size_t count = (size_t)(STEPS + 1) * (b == 0 ? NQ : NV);
      for (size_t i = 0; i < count; i++) weights[k][b][i] = random_normal(&random);
      seeds[k * SEEDS_EACH + b] =
          (sdrs_seed){sizeof(sdrs_seed), b == 0 ? SDRS_COORDINATES : SDRS_VELOCITIES, -1, weights[k][b], count};
    }
  }
  for (int threads = 1; threads <= 2; threads++) {
    assert_int_equal(sdrs_run_all(many, COUNT, STEPS, threads), SDRS_OK);
    assert_int_equal(sdrs_gradient_all(many, COUNT, seeds, SEEDS_EACH, threads), SDRS_OK);
    for (int k = 0; k < COUNT; k++) {
      must(s, sdrs_set(s, SDRS_INPUT, (const double[]){0.1 * k, 0, 0, 0.1}, NU));
      must(s, sdrs_run(s, STEPS));
      must(s, sdrs_gradient(s, seeds + (ptrdiff_t)k * SEEDS_EACH, SEEDS_EACH));
      compare_slopes(many[k], s, SDRS_VELOCITIES);
      compare_slopes(many[k], s, SDRS_INPUT);
      compare_slopes(many[k], s, SDRS_VERTICES); /* of moments: once, however often they are looked at */
      compare_slopes(many[k], s, SDRS_VERTICES);
      compare_slopes(many[k], s, SDRS_MASS);
    }
  }
  seeds[SEEDS_EACH].count--;
  assert_int_equal(sdrs_gradient_all(many, COUNT, seeds, SEEDS_EACH, 2), SDRS_USAGE);
  assert_non_null(strstr(sdrs_error(many[1]), "derivatives with respect to coordinates"));
  for (int k = 0; k < COUNT; k++) sdrs_free(many[k]);
  sdrs_free(s);
}

/* A clone starts in the initial state of the original, including values set there. Later changes are independent. */
static void a_clone_has_what_was_set(void** state) {
  (void)state;
  sdrs *s = loaded(), *clone;
  double input[STEPS * NU], v[NV] = {0.5, 0, 0, 0, 0, 0, 0.1, 0, 0, 0.2};
  inputs_of_a_test(input);
  must(s, sdrs_set(s, SDRS_VELOCITIES, v, NV));
  must(s, sdrs_set(s, SDRS_INPUT, input, STEPS * NU));
  must(s, sdrs_step(s, 5));
  must(s, sdrs_clone(&clone, s));
  assert_true(viewed(clone, SDRS_TIME).data[0] == 0);
  must(s, sdrs_step(s, STEPS - 5));
  must(clone, sdrs_step(clone, STEPS));
  compare_bytes(viewed(clone, SDRS_COORDINATES).data, viewed(s, SDRS_COORDINATES).data, sizeof(double) * NQ,
                "a clone's run");
  must(clone, sdrs_clear(clone));
  must(clone, sdrs_step(clone, STEPS));
  assert_true(viewed(clone, SDRS_COORDINATES).data[0] != viewed(s, SDRS_COORDINATES).data[0]);
  sdrs_free(s); /* before its clone */
  must(clone, sdrs_step(clone, 1));
  sdrs_free(clone);
}

/* ---------------------------------------------------------------- gradients */

static const struct {
  sdrs_block block;
  int link, columns;
} SEEDS[] = {
    {SDRS_POSITION, HAND, 3}, {SDRS_POSITION, -1, 3 * LINKS}, {SDRS_ORIENTATION, ARM, 4}, {SDRS_ORIENTATION, BOX, 4},
    {SDRS_CENTER, HAND, 3},   {SDRS_COORDINATES, -1, NQ},     {SDRS_VELOCITIES, -1, NV},  {SDRS_FORCE, BOX, 3}};
enum { SEED_COUNT = sizeof(SEEDS) / sizeof(SEEDS[0]), MOST = (STEPS + 1) * 3 * LINKS };

/* Variables of the derivatives, in order: increments of the initial coordinates, initial velocities, inputs. */
enum { NUMBERS = NV + NV + STEPS * NU };

static void put(sdrs* s, const double* q0, const double* v0, const double* numbers) {
  double q[NQ], v[NV];
  const Model* m = &s->shared->model;
  model_increment(m, q0, numbers, 1, q);
  for (int k = 0; k < NV; k++) v[k] = v0[k] + numbers[NV + k];
  must(s, sdrs_set(s, SDRS_COORDINATES, q, NQ));
  must(s, sdrs_set(s, SDRS_VELOCITIES, v, NV));
  must(s, sdrs_reset(s));
  must(s, sdrs_set(s, SDRS_INPUT, numbers + 2 * NV, STEPS * NU));
  must(s, sdrs_run(s, STEPS));
}

/* Returns the weighted sum of the recorded values. */
static double weighted(sdrs* s, int which, const double* weights) {
  sdrs_array shown = recorded(s, SEEDS[which].block, SEEDS[which].link);
  assert_int_equal(shown.columns, SEEDS[which].columns);
  double sum = 0;
  for (size_t row = 0; row < shown.rows; row++)
    for (size_t k = 0; k < shown.columns; k++) sum += *weights++ * shown.data[row * shown.stride + k];
  return sum;
}

static void gather(sdrs* s, double* slope) {
  const sdrs_block blocks[] = {SDRS_COORDINATES, SDRS_VELOCITIES, SDRS_INPUT};
  for (int b = 0; b < 3; b++) {
    sdrs_array part = SDRS_INIT(sdrs_array);
    must(s, sdrs_gradient_view(s, blocks[b], &part));
    memcpy(slope, part.data, sizeof(double) * part.rows * part.columns);
    slope += part.rows * part.columns;
  }
}

/* Central differences of whole runs along a random direction, for steps of which the best decides. Quaternions of the
 * record are unit, so the part of a weight along one counts for nothing in both. */
static void the_gradient_is_that_of_differences(void** state) {
  (void)state;
  sdrs* s = loaded();
  double q0[NQ], v0[NV], numbers[NUMBERS] = {0}, moved[NUMBERS], direction[NUMBERS], slope[NUMBERS], weights[MOST];
  memcpy(q0, viewed(s, SDRS_COORDINATES).data, sizeof(q0));
  memcpy(v0, viewed(s, SDRS_VELOCITIES).data, sizeof(v0));
  inputs_of_a_test(numbers + 2 * NV);
  Random random = {5};
  for (int which = 0; which < SEED_COUNT; which++) {
    for (int k = 0; k < NUMBERS; k++) direction[k] = random_normal(&random);
    for (int k = 0; k < 3; k++) direction[k] *= 1e-3; /* the box stands on its contact, which is stiff */
    for (int k = 3; k < 6; k++) direction[k] *= 1e-3;
    int count = (STEPS + 1) * SEEDS[which].columns;
    for (int k = 0; k < count; k++) weights[k] = random_normal(&random);
    if (SEEDS[which].block == SDRS_FORCE) memset(weights, 0, sizeof(double) * 3); /* no step led to the start */
    put(s, q0, v0, numbers);
    sdrs_seed seed = {sizeof(sdrs_seed), SEEDS[which].block, SEEDS[which].link, weights, (size_t)count};
    must(s, sdrs_gradient(s, &seed, 1));
    gather(s, slope);
    double analytic = 0, best = INFINITY, difference = 0;
    for (int k = 0; k < NUMBERS; k++) analytic += slope[k] * direction[k];
    for (double h = 1e-3; h > 1e-7; h /= 4) {
      double value[2];
      for (int side = 0; side < 2; side++) {
        for (int k = 0; k < NUMBERS; k++) moved[k] = numbers[k] + (side ? -h : h) * direction[k];
        put(s, q0, v0, moved);
        value[side] = weighted(s, which, weights);
      }
      double quotient = (value[0] - value[1]) / (2 * h);
      if (fabs(quotient - analytic) < best) {
        best = fabs(quotient - analytic);
        difference = quotient;
      }
    }
    compare_relative(analytic, difference, 2e-6, "derivative by '%s' of link %d", sdrs_block_name(SEEDS[which].block),
                     SEEDS[which].link);
    assert_true(fabs(analytic) > 1e-4);
  }
  sdrs_free(s);
}

/* Weighted places of the last link in all rows of a run of the machine from q (+) moved, v. */
static double machine_value(sdrs* s, const double* q0, const double* v, const double* moved, int steps,
                            const double* weights) {
  double q[8];
  model_increment(&s->shared->model, q0, moved, 1, q);
  must(s, sdrs_set(s, SDRS_COORDINATES, q, (size_t)s->shared->model.coordinate_count));
  must(s, sdrs_set(s, SDRS_VELOCITIES, v, (size_t)s->shared->model.dof_count));
  must(s, sdrs_run(s, steps));
  sdrs_array x = recorded(s, SDRS_POSITION, 1);
  double sum = 0;
  for (size_t row = 0; row < x.rows; row++)
    for (size_t k = 0; k < 3; k++) sum += weights[3 * row + k] * x.data[row * x.stride + k];
  return sum;
}

/* A mechanism with a loop starts from a state of another run. The loop keeps its closure. The derivative with respect
 * to the state is compared with differences, whose initial states open the loop slightly. */
static void a_loop_begins_where_it_is_set(void** state) {
  (void)state;
  enum { ROWS = 21, DOF = 3 };
  char text[4096];
  sdrs* s = NULL;
  (void)snprintf(text, sizeof(text), FOUR_BAR, "second_order");
  const char* overrides[] = {"simulation.tolerance=1e-13"};
  sdrs_options options = {.size = sizeof(sdrs_options), .overrides = overrides, .override_count = 1};
  sdrs_status status = sdrs_parse(&s, text, NULL, &options);
  must(s, status);
  must(s, sdrs_run(s, 120));
  double q[DOF], v[DOF], weights[3 * ROWS], direction[DOF] = {0.7, -0.4, 0.9}, moved[DOF], slope = 0;
  sdrs_array all = recorded(s, SDRS_COORDINATES, -1), rates = recorded(s, SDRS_VELOCITIES, -1),
             by = SDRS_INIT(sdrs_array);
  memcpy(q, all.data + 120 * all.stride, sizeof(q));
  memcpy(v, rates.data + 120 * rates.stride, sizeof(v));
  Random random = {17};
  for (int k = 0; k < 3 * ROWS; k++) weights[k] = random_normal(&random);
  for (int k = 0; k < DOF; k++) moved[k] = 0;
  (void)machine_value(s, q, v, moved, ROWS - 1, weights);
  sdrs_array pose = viewed(s, SDRS_COORDINATES);
  assert_int_equal(pose.columns, DOF);
  sdrs_seed seed = {sizeof(sdrs_seed), SDRS_POSITION, 1, weights, sizeof(weights) / sizeof(double)};
  must(s, sdrs_gradient(s, &seed, 1));
  must(s, sdrs_gradient_view(s, SDRS_COORDINATES, &by));
  for (int k = 0; k < DOF; k++) slope += by.data[k] * direction[k];
  double best = INFINITY, difference = 0;
  for (double h = 1e-4; h > 1e-7; h /= 4) {
    double value[2];
    for (int side = 0; side < 2; side++) {
      for (int k = 0; k < DOF; k++) moved[k] = (side ? -h : h) * direction[k];
      value[side] = machine_value(s, q, v, moved, ROWS - 1, weights);
    }
    double quotient = (value[0] - value[1]) / (2 * h);
    if (fabs(quotient - slope) >= best) continue;
    best = fabs(quotient - slope);
    difference = quotient;
  }
  assert_true(fabs(slope) > 0.1);
  compare_relative(slope, difference, 2e-6, "derivative by a start that was set");
  q[0] += 0.1; /* no state of this machine */
  must(s, sdrs_set(s, SDRS_COORDINATES, q, DOF));
  assert_int_equal(sdrs_run(s, 1), SDRS_BAD_INPUT);
  assert_non_null(strstr(sdrs_error(s), "the hinge of 'coupler' and 'rocker' is open by 0.0"));
  sdrs_free(s);
}

/* L = |x_end|^2 / 2 of the hand by a callback that looks at the record. */
static int half_square(void* context, sdrs* s, double* value) {
  sdrs_array x = SDRS_INIT(sdrs_array);
  double* slope = context;
  if (sdrs_record(s, SDRS_POSITION, HAND, &x) != SDRS_OK) return 1;
  const double* end = x.data + (x.rows - 1) * x.stride;
  *value = 0.5 * (end[0] * end[0] + end[1] * end[1] + end[2] * end[2]);
  memcpy(slope + 3 * (x.rows - 1), end, 3 * sizeof(double));
  sdrs_seed seed = {sizeof(seed), SDRS_POSITION, HAND, slope, 3 * x.rows};
  return sdrs_add_seed(s, &seed) == SDRS_OK ? 0 : 2;
}

static int never(void* context, sdrs* s, double* value) {
  (void)context, (void)s;
  *value = 1;
  return 7;
}

static void a_callback_is_its_seeds(void** state) {
  (void)state;
  sdrs* s = loaded();
  double slope[3 * (STEPS + 1)] = {0}, value, found[NV];
  sdrs_array by_start = SDRS_INIT(sdrs_array);
  must(s, sdrs_run(s, 0));
  must(s, sdrs_loss(s, half_square, slope, &value));
  must(s, sdrs_gradient_view(s, SDRS_VELOCITIES, &by_start));
  memcpy(found, by_start.data, sizeof(found));
  sdrs_seed seed = {sizeof(sdrs_seed), SDRS_POSITION, HAND, slope, 3 * (STEPS + 1)};
  must(s, sdrs_gradient(s, &seed, 1));
  must(s, sdrs_gradient_view(s, SDRS_VELOCITIES, &by_start));
  compare_bytes(found, by_start.data, sizeof(found), "gradient by a callback");
  Vec3 end = *(const Vec3*)(recorded(s, SDRS_POSITION, HAND).data + STEPS * recorded(s, SDRS_POSITION, HAND).stride);
  assert_true(value == 0.5 * (end.x * end.x + end.y * end.y + end.z * end.z));
  assert_int_equal(sdrs_loss(s, never, NULL, &value), SDRS_BAD_INPUT);
  assert_string_equal(sdrs_error(s), "the callback of sdrs_loss returned the error 7: it must return 0");
  assert_int_equal(sdrs_add_seed(s, &seed), SDRS_USAGE);
  sdrs_free(s);
}

/* ---------------------------------------------------------------- proofs and queries */

static void a_run_is_proved(void** state) {
  (void)state;
  sdrs* s = loaded();
  sdrs_proof proof = SDRS_INIT(sdrs_proof);
  assert_int_equal(sdrs_certify(s, &proof), SDRS_USAGE);
  must(s, sdrs_run(s, 0));
  must(s, sdrs_certify(s, &proof));
  assert_int_equal(proof.proved, 1);
  assert_int_equal(proof.row, -1);
  assert_true(proof.smallest_gap > 0 && proof.smallest_gap < 0.01);
  sdrs_free(s);
}

/* Two cubes of one metre, 0.1 m apart along x. */
static void a_query_knows_two_cubes(void** state) {
  (void)state;
  double a[24], b[24], grad[24];
  sdrs_distance found = SDRS_INIT(sdrs_distance);
  for (int k = 0; k < 8; k++)
    for (int axis = 0; axis < 3; axis++) {
      a[3 * k + axis] = k >> axis & 1;
      b[3 * k + axis] = a[3 * k + axis] + (axis == 0 ? 1.1 : 0.01);
    }
  assert_int_equal(sdrs_query(a, 8, b, 8, 0.2, &found, grad, NULL), SDRS_OK);
  compare_near(found.distance, 0.1, 1e-12, "distance of two cubes");
  compare_near(found.witness_b[0] - found.witness_a[0], 0.1, 1e-12, "witnesses");
  assert_true(found.potential > 0 && found.plane[0] > 0);
  assert_int_equal(sdrs_query(a, 8, a, 8, 0.2, &found, NULL, NULL), SDRS_OK);
  assert_true(found.distance == 0);
  assert_int_equal(sdrs_query(a, 0, b, 8, 0.2, &found, NULL, NULL), SDRS_BAD_INPUT);
  assert_int_equal(sdrs_query(a, 8, b, 8, 0, &found, NULL, NULL), SDRS_BAD_INPUT);
  a[5] = NAN;
  assert_int_equal(sdrs_query(a, 8, b, 8, 0.2, &found, NULL, NULL), SDRS_BAD_INPUT);
}

/* The task's own loss and its derivative by the design, against differences. */
static void a_task_has_its_loss_and_design(void** state) {
  (void)state;
  sdrs *s = NULL, *clone;
  sdrs_status status = sdrs_load(&s, "scenes/tasks/throw.yaml", NULL);
  must(s, status);
  assert_int_equal(described(s).design, 1);
  assert_string_equal(sdrs_entry_name(s, SDRS_DESIGN, 0), "box/velocity/0");
  double value[3], speed[3] = {1.5, 1.5 + 1e-4, 1.5 - 1e-4}, slope = 0;
  for (int k = 0; k < 3; k++) {
    sdrs_array by_design = SDRS_INIT(sdrs_array);
    must(s, sdrs_set(s, SDRS_DESIGN, &speed[k], 1));
    must(s, sdrs_run(s, 0));
    must(s, sdrs_loss(s, NULL, NULL, &value[k]));
    must(s, sdrs_gradient_view(s, SDRS_DESIGN, &by_design));
    if (k == 0) slope = by_design.data[0];
  }
  compare_relative(slope, (value[1] - value[2]) / 2e-4, 1e-6, "derivative of the loss by the speed");
  must(s, sdrs_run(s, 5));
  assert_int_equal(sdrs_loss(s, NULL, NULL, &value[0]), SDRS_USAGE); /* too short */
  must(s, sdrs_clone(&clone, s));
  assert_int_equal(sdrs_set(s, SDRS_DESIGN, speed, 1), SDRS_USAGE);
  sdrs_free(clone);
  must(s, sdrs_set(s, SDRS_DESIGN, speed, 1));
  sdrs_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_is_its_steps),
      cmocka_unit_test(inputs_are_targets),
      cmocka_unit_test(rollouts_are_runs),
      cmocka_unit_test(clones_step_side_by_side),
      cmocka_unit_test(runs_and_gradients_of_many),
      cmocka_unit_test(a_clone_has_what_was_set),
      cmocka_unit_test(the_gradient_is_that_of_differences),
      cmocka_unit_test(a_loop_begins_where_it_is_set),
      cmocka_unit_test(a_callback_is_its_seeds),
      cmocka_unit_test(a_run_is_proved),
      cmocka_unit_test(a_query_knows_two_cubes),
      cmocka_unit_test(a_task_has_its_loss_and_design),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
