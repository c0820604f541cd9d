/* Everything that a loss can name (LossSeeds) through a whole run: random linear functions of poses, coordinates, rates
 * and contact forces of all states, of centres of mass, vertices and signals, each alone, against central differences
 * of whole runs by every block of numbers. */
#include <string.h>

#include "differentiate/gradcheck.h"
#include "differentiate/loss.h"
#include "support/blocks.h"
#include "support/long.h"
#include "support/runs.h"
#include "support/sweep.h"

enum { STEPS = 16 };
#define TOLERANCE 1e-6

/* A box is pushed along a slab by a paddle on a ball joint, a ball drops on the tilting ground, a finger hangs above.
 */
static const char SCENE[] =
    "simulation: {dt: 0.005, steps: 16, integrator: %s}\n"
    "contact: {barrier_distance: 4.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-3}\n"
    "shapes:\n"
    "  brick: {type: points, points: [[-0.1, -0.083, -0.051], [0.1, -0.07, -0.05], [-0.104, 0.08, -0.047], [0.09, "
    "0.08, "
    "-0.05], [-0.097, -0.08, 0.05], [0.11, -0.08, 0.06], [-0.1, 0.084, 0.05], [0.1, 0.09, 0.045]]}\n"
    "  slab: {type: points, points: [[-0.5, -0.48, -0.2], [0.5, -0.51, -0.21], [-0.52, 0.5, -0.19], [0.51, 0.51, "
    "-0.2], "
    "[-0.5, -0.5, 0], [0.5, -0.5, 0.0002], [-0.5, 0.5, 0.0001], [0.5, 0.5, -0.0001]]}\n"
    "links:\n"
    "  - {name: slab, fixed: true, shape: slab}\n"
    "  - {name: ground, joint: {type: hinge, axis: [0, 1, 0], position: [3, 0, -1]}, shape: {type: half_space, normal: "
    "[0, 0, 1]}}\n"
    "  - {name: box, density: 250, shape: brick, position: [0, 0, 0.0525]}\n"
    "  - {name: ball, mass: 0.3, shape: {type: sphere, radius: 0.1, resolution: 1}, position: [3, 0, -0.8965]}\n"
    "  - {name: paddle, joint: {type: ball, position: [-0.4, 0, 0.06]}, shapes: [{shape: brick, position: [0.192, "
    "0.03, 0]}]}\n"
    "  - {name: finger, parent: paddle, mass: 0.2, shape: brick, joint: {type: universal, axes: [[1, 0, 0], [0, 1, "
    "0]], "
    "position: [0, 0, 0.4]}}\n"
    "controllers:\n"
    "  - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.1, frequency: 3}]}}\n"
    "  - {link: paddle, type: prescribed, target: {type: spline, times: [0, 0.05, 0.1], values: [[0, 0, 0], [0.01, "
    "0.01, 0.05], [0, 0.02, 0.2]]}}\n"
    "  - {link: finger, type: pd, position_gain: 3, velocity_gain: 0.01, target: {type: spline, times: [0, 0.05, 0.1], "
    "values: [[0, 0], [0.3, -0.2], [0.1, 0.4]]}}\n"
    "initial:\n"
    "  - {link: box, velocities: [-0.2, 0.1, 0, 0, 0, 1]}\n"
    "  - {link: ball, velocities: [0.1, 0, -0.1, 0, 1, 0.5]}\n";

typedef enum { KIND_POSE, KIND_Q, KIND_RATE, KIND_FORCE, KIND_PAIR, KIND_DIRECT, KINDS } Kind;
static const char* const kind_name[KINDS] = {"poses",  "coordinates",          "rates",
                                             "forces", "forces between links", "centres, vertices, signals"};

/* slab, ground, box, ball, paddle, finger: a hull and a half-space each way round, and two that only sometimes touch.
 */
static const ForcePair PAIRS[] = {{2, 0}, {0, 2}, {3, 1}, {1, 3}, {4, 2}};
enum { PAIR_COUNT = 5 };

typedef struct {
  Run* run;
  Recording base, moved;
  LossSeeds weights; /* of the kind looked at; zero elsewhere */
  double* control;   /* signals of the unmoved scene */
  GradcheckBlock block;
  const double *at, *direction; /* numbers of the block */
  double* values;
  int count;
} Rig;

static void rig_create(Rig* r, const char* integrator) {
  memset(r, 0, sizeof *r);
  r->run = run_model(SCENE, integrator);
  model_expand_shapes(&r->run->model, &r->run->scene);
  model_destroy(&r->run->model);
  assert_int_equal(model_create(&r->run->model, &r->run->scene, &r->run->diagnostics), STATUS_OK);
  const Model* m = &r->run->model;
  recording_create(&r->base, m, STEPS);
  recording_create(&r->moved, m, STEPS);
  r->weights = loss_seeds_create(m, STEPS);
  recording_store_pair_forces(&r->base, PAIRS, PAIR_COUNT, STEPS);
  recording_store_pair_forces(&r->moved, PAIRS, PAIR_COUNT, STEPS);
  loss_seeds_add_pair_forces(&r->weights, PAIRS, PAIR_COUNT, STEPS);
  r->control = MEMORY_NEW(double, m->parameter_count);
  block_read(&r->run->scene, m, GRADCHECK_CONTROL, r->control);
}

static void rig_free(Rig* r) {
  recording_destroy(&r->base);
  recording_destroy(&r->moved);
  loss_seeds_destroy(&r->weights);
  memory_free(r->control);
  run_free(r->run);
}

static void record(Recording* recording, const Model* m) {
  RecordOptions options = {.threads = 1, .tolerance = 1e-12};
  RecordReport report;
  Diagnostics diagnostics = {0};
  assert_int_equal(recording_run(recording, m, &options, &report, &diagnostics), STATUS_OK);
  assert_int_equal(recording->steps, STEPS);
  diagnostics_free(&diagnostics);
}

/* ---------------------------------------------------------------- the loss: weights . (recorded - base) */

static void draw(double* weights, size_t count, double size, Random* random) {
  for (size_t k = 0; k < count; k++) weights[k] = size * random_normal(random);
}

static void draw_weights(Rig* r, Kind kind, Random* random) {
  const Model* m = &r->run->model;
  size_t states = STEPS + 1, links = (size_t)m->link_count, dofs = (size_t)m->dof_count;
  loss_seeds_clear(&r->weights);
  if (kind == KIND_POSE) draw(&r->weights.pose[0][0][0], 12 * states * links, 1, random);
  if (kind == KIND_Q) draw(r->weights.q, states * dofs, 1, random);
  if (kind == KIND_RATE) draw(r->weights.rate, states * dofs, 0.1, random);
  if (kind == KIND_FORCE) draw(&r->weights.force[0].x, 3 * states * links, 0.1, random);
  if (kind == KIND_PAIR) draw(&r->weights.pair_force[0].x, 3 * states * PAIR_COUNT, 0.1, random);
  if (kind != KIND_DIRECT) return;
  draw(&r->weights.center[0].x, 3 * links, 1, random);
  draw(&r->weights.vertices[0].x, 3 * (size_t)m->vertex_count, 1, random);
  draw(r->weights.control, (size_t)m->parameter_count, 1, random);
}

static double weighted(const double* weights, const double* a, const double* b, size_t count) {
  double sum = 0;
  for (size_t k = 0; k < count; k++) sum += weights[k] * (a[k] - b[k]);
  return sum;
}

static double pose_part(const Rig* r) {
  double sum = 0;
  for (int k = 0; k < (STEPS + 1) * r->run->model.link_count; k++) {
    const Pose *a = &r->moved.pose[k], *b = &r->base.pose[k];
    double(*w)[4] = r->weights.pose[k];
    for (int i = 0; i < 3; i++) sum += weighted(w[i], a->r.m[i], b->r.m[i], 3);
    sum += w[0][3] * (a->t.x - b->t.x) + w[1][3] * (a->t.y - b->t.y) + w[2][3] * (a->t.z - b->t.z);
  }
  return sum;
}

/* By increments: the difference of both states is one to first order. */
static double coordinate_part(const Rig* r) {
  const Model* m = &r->run->model;
  double sum = 0, d[JOINT_MAX_DOF];
  for (int state = 0; state <= STEPS; state++)
    for (int i = 0; i < m->link_count; i++) {
      const ModelLink* link = &m->links[i];
      int at = state * m->coordinate_count + link->coordinate_first;
      joint_difference(&link->joint, r->base.q + at, r->moved.q + at, d);
      for (int k = 0; k < link->dof_count; k++) sum += r->weights.q[state * m->dof_count + link->dof_first + k] * d[k];
    }
  return sum;
}

static double direct_part(const Rig* r, const Model* moved) {
  const Model* m = &r->run->model;
  double sum = 0, *control = MEMORY_NEW(double, m->parameter_count);
  for (int i = 0; i < m->link_count; i++)
    sum += vec3_dot(r->weights.center[i], vec3_sub(moved->links[i].center, m->links[i].center));
  for (int h = 0; h < m->hull_count; h++)
    for (int k = 0; k < m->hulls[h].solid.vertex_count; k++)
      sum += vec3_dot(r->weights.vertices[m->hulls[h].vertex_first + k],
                      vec3_sub(moved->hulls[h].solid.vertices[k], m->hulls[h].solid.vertices[k]));
  block_read(moved->scene, m, GRADCHECK_CONTROL, control);
  sum += weighted(r->weights.control, control, r->control, (size_t)m->parameter_count);
  memory_free(control);
  return sum;
}

static double loss(const Rig* r, const Model* moved) {
  const Model* m = &r->run->model;
  size_t states = STEPS + 1;
  return pose_part(r) + coordinate_part(r) + direct_part(r, moved) +
         weighted(r->weights.rate, r->moved.rate, r->base.rate, states * (size_t)m->dof_count) +
         weighted(&r->weights.pair_force[0].x, &r->moved.pair_force[0].x, &r->base.pair_force[0].x,
                  3 * states * PAIR_COUNT) +
         weighted(&r->weights.force[0].x, &r->moved.force[0].x, &r->base.force[0].x,
                  3 * states * (size_t)m->link_count);
}

/* The loss after a move of the block's numbers by h along the direction. */
static bool loss_after(Rig* r, double h, double* y) {
  Model model;
  Diagnostics diagnostics = {0};
  for (int k = 0; k < r->count; k++) r->values[k] = r->at[k] + h * r->direction[k];
  block_write(&r->run->scene, &r->run->model, r->block, r->values);
  bool built = model_create(&model, &r->run->scene, &diagnostics) == STATUS_OK;
  if (built) {
    if (r->block == GRADCHECK_STATE) perturb_state(&model, r->values);
    record(&r->moved, &model);
    *y = loss(r, &model);
  }
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  block_write(&r->run->scene, &r->run->model, r->block, r->at);
  return built;
}

/* Its central difference is that of fourth order: (8 (L(h) - L(-h)) - (L(2h) - L(-2h))) / 12 h. */
static bool loss_at(void* context, const double* x, double* y) {
  double near, far;
  if (!loss_after(context, x[0], &near) || !loss_after(context, 2 * x[0], &far)) return false;
  *y = (8 * near - far) / 6;
  return true;
}

/* ---------------------------------------------------------------- one kind by one block */

static void check_block(Rig* r, GradcheckBlock block, const ModelGradient* gradient, Random* random, const char* what) {
  const Model* m = &r->run->model;
  int n = block_size(m, block);
  double *memory = MEMORY_NEW(double, 5 * n), *g = memory, *scale = g + n, *at = scale + n, *direction = at + n;
  r->values = direction + n, r->at = at, r->direction = direction, r->block = block, r->count = n;
  block_gradient(m, block, gradient, g);
  block_scale(m, block, scale);
  block_read(&r->run->scene, m, block, at);
  double along = 0, norm = 0;
  for (int k = 0; k < n; k++) {
    direction[k] = scale[k] * random_normal(random) / sqrt(n);
    along += g[k] * direction[k];
    norm += g[k] * scale[k] * g[k] * scale[k];
  }
  Sweep sweep = {loss_at, r, 1, 1, NULL, NULL, NULL, 1e-3, 4, 8};
  double zero = 1e-6; /* what counts as no derivative at all; the order of errors: test_run_gradients */
  SweepResult result = sweep_jacobian(&sweep, &along, fmax(sqrt(norm / n), zero));
  for (int k = 0; k < sweep.steps && !(result.error[result.best] <= TOLERANCE); k++)
    print_message("    step %d: error %.2e\n", k, result.error[k]);
  compare_at_most(result.error[result.best], TOLERANCE, "%s by the %s: %.15g, gradient %.15g", what,
                  gradcheck_block_name(block), result.wanted, along);
  memory_free(memory);
}

static void check_kind(Rig* r, Kind kind, Random* random) {
  const Model* m = &r->run->model;
  draw_weights(r, kind, random);
  record(&r->base, m);
  LossSeeds seeds = loss_seeds_create(m, STEPS);
  memcpy(seeds.pose, r->weights.pose, sizeof(double) * seeds.length);
  loss_seeds_add_pair_forces(&seeds, PAIRS, PAIR_COUNT, STEPS);
  memcpy(seeds.pair_force, r->weights.pair_force, sizeof(Vec3) * seeds.pair_length);
  RunAdjoint* adjoint = run_adjoint_create(m, 1);
  ModelGradient gradient;
  model_gradient_create(&gradient, m);
  assert_true(run_adjoint(adjoint, &r->base, &seeds, 1.0, &gradient).sound);
  for (int block = 0; block < GRADCHECK_BLOCKS; block++)
    if (tests_pair(block + (int)kind, 0, 3)) check_block(r, (GradcheckBlock)block, &gradient, random, kind_name[kind]);
  model_gradient_destroy(&gradient);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
}

static void check_integrator(const char* integrator, uint64_t seed) {
  Random random = {seed};
  Rig r;
  rig_create(&r, integrator);
  for (int kind = 0; kind < KINDS; kind++) check_kind(&r, (Kind)kind, &random);
  rig_free(&r);
}

static void seeds_A1_A9_of_every_kind_first_order(void** state) {
  (void)state;
  if (!tests_are_long()) skip();
  check_integrator("first_order", 221);
}

static void seeds_A1_A9_of_every_kind_second_order(void** state) {
  (void)state;
  check_integrator("second_order", 222);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_A1_A9_of_every_kind_first_order),
      cmocka_unit_test(seeds_A1_A9_of_every_kind_second_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
