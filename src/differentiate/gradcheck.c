/* The adjoint against central differences, block by block, over a sweep of step sizes (docs/derivations/adjoint.md). */
#include <stdlib.h>
#include <string.h>

#include "differentiate/gradcheck.h"

/* The sweep: from LARGEST_STEP of the scale down by half decades. */
#define LARGEST_STEP 1e-2
enum { SWEEP = GRADCHECK_SWEEP };
/* After so many growing errors in a row rounding has taken over. */
enum { GROWING = 4 };

/* Vertices are drawn towards the middle of their hull by up to this part of the way. */
#define GENERIC_SHIFT 1e-2

bool gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed) {
  Random random = {seed};
  bool any = false;
  for (int i = 0; i < scene->link_count; i++) {
    SceneLink* link = &scene->links[i];
    bool by_volume = !link->has_mass || link->mass_model == MASS_UNIFORM;
    if (!(model->links[i].mass > 0) || !by_volume || link->mass_model == MASS_GIVEN) continue;
    for (int k = 0; k < link->shape_count; k++) {
      SceneShape* shape = &scene->shapes[link->shapes[k].shape];
      Vec3 center = model->hulls[model->links[i].hull_first + k].center;
      for (int m = 0; m < shape->point_count; m++) {
        double part = random_uniform(&random, 0, GENERIC_SHIFT);
        shape->points[m] = vec3_add_scaled(shape->points[m], part, vec3_sub(center, shape->points[m]));
        any = true;
      }
    }
  }
  return any;
}

static const char* const NAMES[GRADCHECK_BLOCKS] = {"state", "control", "vertices", "attachments", "mass", "contact"};

const char* gradcheck_block_name(GradcheckBlock block) { return NAMES[block]; }

typedef struct {
  const GradcheckOptions* options;
  Scene* scene;
  const Model* model; /* of the unmoved scene */
  const Loss* loss;   /* NULL: the probe */
  Probe* probe;
  Recording base, moved;
  GradcheckReport* report;
} Check;

static double value_of(const Check* c, const Recording* r, LossSeeds* seeds) {
  return c->loss ? loss_evaluate(c->loss, r, NULL, seeds) : probe_evaluate(c->probe, r, seeds);
}

static RecordOptions record_options(const Check* c) {
  return (RecordOptions){c->options->threads, c->options->tolerance, c->options->interrupted};
}

/* The loss with the block's numbers at values; NaN when the run fails. */
static double value_at(Check* c, GradcheckBlock block, const double* values) {
  Model model;
  Diagnostics diagnostics = {0};
  RecordReport report;
  RecordOptions options = record_options(c);
  double value = NAN;
  block_write(c->scene, c->model, block, values);
  if (model_create(&model, c->scene, &diagnostics) == STATUS_OK) {
    if (block == GRADCHECK_STATE) state_move(&model, values);
    model.simulation.steps = c->base.steps;
    if (recording_run(&c->moved, &model, &options, &report, &diagnostics) == STATUS_OK)
      value = value_of(c, &c->moved, NULL);
  }
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  return value;
}

/* The power of h with which errors fall, where they are clear of rounding: between the two smallest steps whose errors
 * are at least 30 times the least one. NaN when there are none. */
static double observed_order(const GradcheckDirection* d) {
  double order = NAN;
  for (int k = 0; k + 1 < d->tried && d->step[k + 1] > d->best_step; k++) {
    double e0 = fabs(d->difference[k] - d->analytic), e1 = fabs(d->difference[k + 1] - d->analytic);
    if (isfinite(e0) && e1 > 30 * d->error * d->scale) order = log(e0 / e1) / log(d->step[k] / d->step[k + 1]);
  }
  return order;
}

/* A random direction with components of the numbers' own scale, of length one in that scale. */
static void draw_direction(Random* random, const double* scale, int count, double* direction) {
  for (int k = 0; k < count; k++) direction[k] = scale[k] * random_normal(random) / sqrt((double)count);
}

static void sweep(Check* c, GradcheckBlock block, const double* base, const double* direction, double* values,
                  int count, GradcheckDirection* d) {
  double h = LARGEST_STEP;
  d->error = INFINITY;
  int growing = 0;
  for (d->tried = 0; d->tried < SWEEP && growing < GROWING; d->tried++, h *= sqrt(0.1)) {
    for (int k = 0; k < count; k++) values[k] = base[k] + h * direction[k];
    double plus = value_at(c, block, values);
    for (int k = 0; k < count; k++) values[k] = base[k] - h * direction[k];
    double minus = value_at(c, block, values);
    d->step[d->tried] = h;
    d->difference[d->tried] = (plus - minus) / (2 * h);
    double error = fabs(d->difference[d->tried] - d->analytic) / d->scale;
    if (!isfinite(error)) continue;
    growing = error > d->error ? growing + 1 : 0;
    if (error < d->error) {
      d->error = error;
      d->best_step = h;
    }
  }
  d->order = observed_order(d);
}

static void check_block(Check* c, GradcheckBlock block, const ModelGradient* gradient) {
  const Model* m = c->model;
  GradcheckBlockReport* out = &c->report->block[block];
  int count = block_size(m, block);
  *out = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0 || !(c->options->blocks & 1u << block)) return;
  double* memory = MEMORY_NEW(double, 5 * (size_t)count);
  double *g = memory, *scale = g + count, *base = scale + count, *direction = base + count, *values = direction + count;
  block_gradient(m, block, gradient, g);
  block_scale(m, block, scale);
  block_read(c->scene, m, block, base);
  for (int k = 0; k < count; k++) out->norm += g[k] * scale[k] * g[k] * scale[k];
  out->norm = sqrt(out->norm);
  Random random = {c->options->seed * 7919u + (uint64_t)block};
  for (int n = 0; n < c->options->directions && n < GRADCHECK_DIRECTIONS; n++) {
    GradcheckDirection* d = &out->direction[out->directions++];
    draw_direction(&random, scale, count, direction);
    d->analytic = 0;
    for (int k = 0; k < count; k++) d->analytic += g[k] * direction[k];
    /* a direction that happens to lie across the gradient is held against what a typical one gives */
    d->scale = fmax(fabs(d->analytic), out->norm / sqrt((double)count));
    if (d->scale == 0) d->scale = 1;
    sweep(c, block, base, direction, values, count, d);
    if (!(d->error <= out->error)) out->error = d->error;
    if (!isfinite(out->order) || d->order < out->order) out->order = d->order;
  }
  block_write(c->scene, m, block, base);
  memory_free(memory);
}

static bool all_gradients(Check* c, ModelGradient* gradient) {
  LossSeeds seeds = loss_seeds_create(c->model, c->base.steps);
  c->report->value = value_of(c, &c->base, &seeds);
  RunAdjoint* adjoint = run_adjoint_create(c->model, c->options->threads);
  c->report->adjoint = run_adjoint(adjoint, &c->base, &seeds, 1.0, gradient);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
  return c->report->adjoint.sound;
}

Status gradcheck_scene(Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics) {
  *report = (GradcheckReport){.passed = false};
  Check c = {.options = options, .scene = scene, .model = model, .loss = loss, .report = report};
  int steps = options->steps > 0 && options->steps < model->simulation.steps ? options->steps : model->simulation.steps;
  RecordOptions record = record_options(&c);
  recording_create(&c.base, model, steps);
  recording_create(&c.moved, model, steps);
  c.probe = probe_create(&c.base, options->seed);
  Status status = recording_run(&c.base, model, &record, &report->run, diagnostics);
  ModelGradient gradient;
  model_gradient_create(&gradient, model);
  if (status == STATUS_OK) {
    report->passed = all_gradients(&c, &gradient);
    for (int b = 0; b < GRADCHECK_BLOCKS && report->adjoint.sound; b++) {
      check_block(&c, (GradcheckBlock)b, &gradient);
      const GradcheckBlockReport* block = &report->block[b];
      if (block->directions > 0 && !(block->error <= options->bound)) report->passed = false;
    }
  }
  model_gradient_destroy(&gradient);
  probe_destroy(c.probe);
  recording_destroy(&c.base);
  recording_destroy(&c.moved);
  return status;
}
