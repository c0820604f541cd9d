/* The adjoint against central differences, block by block, over a sweep of step sizes (docs/derivations/adjoint.md). */
#include <stdlib.h>
#include <string.h>

#include "differentiate/gradcheck.h"

/* The sweep: from LARGEST_STEP of the scale down by half decades. */
#define LARGEST_STEP 1e-2
enum { SWEEP = GRADCHECK_SWEEP };
/* After so many growing errors in a row rounding has taken over, if the least one is small. */
enum { GROWING = 4 };
#define SMALL 1e-4

/* A vertex this close to the plane of a triangle it does not belong to, in radii of the hull, is soon on its other
 * side; vertices of such hulls are drawn towards the middle by up to the second part of the way, drawing lots so often
 * for a hull without such vertices (large ones have always some). */
#define FLAT 1e-3
#define GENERIC_SHIFT 3e-2
enum { GENERIC_DRAWS = 30 };

static bool has_flat_face(const ConvexHull* solid, double radius) {
  for (int t = 0; t < solid->triangle_count; t++) {
    const int* corner = solid->triangles[t];
    Vec3 a = solid->vertices[corner[0]], ab = vec3_sub(solid->vertices[corner[1]], a);
    Vec3 normal = vec3_cross(ab, vec3_sub(solid->vertices[corner[2]], a));
    for (int m = 0; m < solid->vertex_count; m++) {
      if (m == corner[0] || m == corner[1] || m == corner[2]) continue;
      double height = vec3_dot(normal, vec3_sub(solid->vertices[m], a));
      if (fabs(height) < FLAT * radius * vec3_norm(normal)) return true;
    }
  }
  return false;
}

static bool weighs_by_volume(const SceneLink* link, const ModelLink* built) {
  bool by_volume = !link->has_mass || link->mass_model == MASS_UNIFORM;
  return built->mass > 0 && by_volume && link->mass_model != MASS_GIVEN;
}

/* points: of the hull, moved. */
static void shrink_hull(const ModelHull* hull, Random* random, Vec3* points) {
  bool flat = true;
  for (int draw = 0; flat && draw < GENERIC_DRAWS; draw++) {
    for (int m = 0; m < hull->solid.vertex_count; m++) {
      Vec3 x = hull->solid.vertices[m];
      points[m] = vec3_add_scaled(x, random_uniform(random, 0, GENERIC_SHIFT), vec3_sub(hull->center, x));
    }
    ConvexHull solid;
    flat =
        hull_create_keeping(&solid, points, hull->solid.vertex_count) != HULL_OK || has_flat_face(&solid, hull->radius);
    hull_free(&solid);
  }
}

/* random NULL: only looks whether there is one. */
static bool visit_flat_hulls(Scene* scene, const Model* model, Random* random) {
  bool any = false;
  for (int i = 0; i < model->link_count; i++) {
    if (!weighs_by_volume(&model->scene->links[i], &model->links[i])) continue;
    for (int k = 0; k < model->links[i].hull_count; k++) {
      const ModelHull* hull = &model->hulls[model->links[i].hull_first + k];
      if (hull->half_space || !has_flat_face(&hull->solid, hull->radius)) continue;
      any = true;
      if (random) shrink_hull(hull, random, scene->shapes[scene->links[i].shapes[k].shape].points);
    }
  }
  return any;
}

bool gradcheck_has_flat_faces(const Model* model) { return visit_flat_hulls(NULL, model, NULL); }

void gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed) {
  Random random = {seed};
  visit_flat_hulls(scene, model, &random);
}

static const char* const NAMES[GRADCHECK_BLOCKS] = {"state", "control", "vertices", "attachments", "mass", "contact"};

const char* gradcheck_block_name(GradcheckBlock block) { return NAMES[block]; }

typedef struct {
  const GradcheckOptions* options;
  Scene* scene;
  const Model* model; /* of the unmoved scene */
  const Loss* loss;   /* NULL: the probe */
  double* terms;      /* of the loss */
  Probe* probe;
  Recording base, moved;
  int* substeps; /* of every step of the base run, which moved runs repeat; NULL while that runs */
  GradcheckReport* report;
} Check;

static double value_of(const Check* c, const Recording* r, LossSeeds* seeds) {
  return c->loss ? loss_evaluate(c->loss, r, c->terms, seeds) : probe_evaluate(c->probe, r, seeds);
}

static RecordOptions record_options(const Check* c) {
  return (RecordOptions){c->options->threads, c->options->tolerance, c->options->interrupted, c->substeps};
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

static double error_of(const GradcheckDirection* d, double difference) {
  return fabs(difference - d->analytic) / d->scale;
}

/* Errors below so many times the least one, or the resolution, say nothing of how they fall. */
#define CLEAR_OF_LEAST 30
#define CLEAR_OF_RESOLUTION 3

/* The power of h with which the errors of the plain differences fall, over the last decade that is clear of rounding;
 * NaN when there is none. */
static double observed_order(const GradcheckDirection* d) {
  int best = 0;
  for (int k = 0; k < d->tried; k++)
    if (error_of(d, d->difference[k]) < error_of(d, d->difference[best])) best = k;
  double rounding = fmax(CLEAR_OF_LEAST * error_of(d, d->difference[best]), CLEAR_OF_RESOLUTION * d->resolution);
  int to = best;
  while (to > 0 && !(error_of(d, d->difference[to]) > rounding)) to--;
  if (to == 0) return NAN;
  int from = to > 1 ? to - 2 : 0;
  return math_log(error_of(d, d->difference[from]) / error_of(d, d->difference[to])) /
         math_log(d->step[from] / d->step[to]);
}

/* Richardson: the h^2 of two neighbouring differences cancels. */
static double extrapolate(const GradcheckDirection* d, int k) {
  if (k == 0) return NAN;
  double ratio = d->step[k - 1] / d->step[k], square = ratio * ratio;
  return d->difference[k] + (d->difference[k] - d->difference[k - 1]) / (square - 1);
}

/* How far the differences agree among themselves around step k, whatever the gradient says. */
static double spread(const GradcheckDirection* d, int k) {
  double here = d->extrapolated[k], before = d->extrapolated[k - 1];
  return fmax(fabs(here - before), fabs(here - d->difference[k])) / d->scale;
}

/* What the differences at step k add to the verdict; true when it became better. */
static bool judge(GradcheckDirection* d, int k) {
  d->extrapolated[k] = extrapolate(d, k);
  double error = fmin(error_of(d, d->difference[k]), error_of(d, d->extrapolated[k])); /* fmin leaves NaN out */
  if (k > 1) d->resolution = fmin(d->resolution, spread(d, k));
  if (!(error < d->error)) return false;
  d->error = error;
  d->best_step = d->step[k];
  return true;
}

/* A random direction with components of the numbers' own scale, of length one in that scale. */
static void draw_direction(Random* random, const double* scale, int count, double* direction) {
  for (int k = 0; k < count; k++) direction[k] = scale[k] * random_normal(random) / sqrt((double)count);
}

/* What a sweep moves and what it looks at. */
typedef struct {
  GradcheckValue value;
  void* context;
  int count;
  const double *base, *direction;
  double* values;
} Sweep;

static double value_beside(const Sweep* s, double h) {
  for (int k = 0; k < s->count; k++) s->values[k] = s->base[k] + h * s->direction[k];
  return s->value(s->context, s->values);
}

static void sweep(const Sweep* s, GradcheckDirection* d) {
  double h = LARGEST_STEP;
  d->error = d->resolution = INFINITY;
  int growing = 0;
  for (d->tried = 0; d->tried < SWEEP && growing < GROWING; d->tried++, h *= sqrt(0.1)) {
    double plus = value_beside(s, h), minus = value_beside(s, -h);
    d->step[d->tried] = h;
    d->difference[d->tried] = (plus - minus) / (2 * h);
    bool better = judge(d, d->tried);
    growing = better || !(d->error < SMALL) ? 0 : growing + 1;
  }
  d->order = observed_order(d);
}

void gradcheck_vector(int count, const double* gradient, const double* scale, const double* base, double zero,
                      GradcheckValue value, void* context, const GradcheckOptions* options, uint64_t seed,
                      GradcheckBlockReport* report) {
  *report = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0) return;
  double *direction = MEMORY_NEW(double, 2 * (size_t)count), *values = direction + count;
  for (int k = 0; k < count; k++) report->norm += gradient[k] * scale[k] * gradient[k] * scale[k];
  report->norm = sqrt(report->norm);
  Random random = {seed};
  Sweep s = {value, context, count, base, direction, values};
  for (int n = 0; n < options->directions && n < GRADCHECK_DIRECTIONS; n++) {
    GradcheckDirection* d = &report->direction[report->directions++];
    draw_direction(&random, scale, count, direction);
    d->analytic = 0;
    for (int k = 0; k < count; k++) d->analytic += gradient[k] * direction[k];
    /* a direction that happens to lie across the gradient is held against what a typical one gives */
    d->scale = fmax(fabs(d->analytic), fmax(report->norm, zero) / sqrt((double)count));
    if (d->scale == 0) d->scale = 1;
    sweep(&s, d);
    if (!(d->error <= report->error)) report->error = d->error;
    if (!(d->resolution <= report->resolution)) report->resolution = d->resolution;
    if (!isfinite(report->order) || d->order < report->order) report->order = d->order;
  }
  memory_free(direction);
}

typedef struct {
  Check* check;
  GradcheckBlock block;
} BlockContext;

static double block_value(void* context, const double* values) {
  BlockContext* c = context;
  return value_at(c->check, c->block, values);
}
/* Norm of a block's gradient in its numbers' scales. */
static double block_norm(const Model* m, GradcheckBlock block, const ModelGradient* gradient) {
  int count = block_size(m, block);
  double *g = MEMORY_NEW(double, 2 * (size_t)count), *scale = g + count, sum = 0;
  block_gradient(m, block, gradient, g);
  block_scale(m, block, scale);
  for (int k = 0; k < count; k++) sum += g[k] * scale[k] * g[k] * scale[k];
  memory_free(g);
  return sqrt(sum);
}

/* A block whose gradient is this small against that of the largest block counts as zero: it is rounding, as are the
 * differences. */
#define ZERO 1e-12

static void check_block(Check* c, GradcheckBlock block, const ModelGradient* gradient) {
  const Model* m = c->model;
  int count = block_size(m, block);
  GradcheckBlockReport* out = &c->report->block[block];
  *out = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0 || !(c->options->blocks & 1u << block)) return;
  double* memory = MEMORY_NEW(double, 3 * (size_t)count);
  double *g = memory, *scale = g + count, *base = scale + count;
  block_gradient(m, block, gradient, g);
  block_scale(m, block, scale);
  block_read(c->scene, m, block, base);
  double zero = 0;
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) zero = fmax(zero, ZERO * block_norm(m, (GradcheckBlock)b, gradient));
  BlockContext context = {c, block};
  gradcheck_vector(count, g, scale, base, zero, block_value, &context, c->options,
                   c->options->seed * 7919u + (uint64_t)block, out);
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

/* The number of substeps is data of a step: where it changes, the run has a jump. */
static int* substeps_of(const Recording* r) {
  int* substeps = MEMORY_NEW(int, r->steps);
  for (int step = 1; step <= r->steps; step++) substeps[step - 1] = recording_substeps(r, step);
  return substeps;
}

Status gradcheck_scene(Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics) {
  *report = (GradcheckReport){.passed = false};
  Check c = {.options = options, .scene = scene, .model = model, .loss = loss, .report = report};
  int steps = options->steps > 0 && options->steps < model->simulation.steps ? options->steps : model->simulation.steps;
  RecordOptions record = record_options(&c);
  record.substeps = options->substeps;
  recording_create(&c.base, model, steps);
  recording_create(&c.moved, model, steps);
  c.probe = probe_create(&c.base, options->seed);
  c.terms = MEMORY_NEW(double, loss ? loss_count(loss) : 0);
  Status status = recording_run(&c.base, model, &record, &report->run, diagnostics);
  ModelGradient gradient;
  model_gradient_create(&gradient, model);
  if (status == STATUS_OK) {
    c.substeps = substeps_of(&c.base);
    report->passed = all_gradients(&c, &gradient);
    for (int b = 0; b < GRADCHECK_BLOCKS && report->adjoint.sound; b++) {
      check_block(&c, (GradcheckBlock)b, &gradient);
      const GradcheckBlockReport* block = &report->block[b];
      if (block->directions > 0 && !(block->error <= options->bound)) report->passed = false;
    }
  }
  model_gradient_destroy(&gradient);
  probe_destroy(c.probe);
  memory_free(c.terms);
  memory_free(c.substeps);
  recording_destroy(&c.base);
  recording_destroy(&c.moved);
  return status;
}
