/* Compares the adjoint with central differences, block by block, over a sweep of step sizes
 * (docs/derivations/adjoint.md). */
#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "differentiate/gradcheck.h"

/* FLAT: a vertex can cross the plane of a triangle without this vertex if it is closer to the plane than this fraction
 * of the hull radius. GENERIC_SHIFT: largest random fraction by which vertices of such hulls are moved towards the
 * centre. GENERIC_DRAWS: largest number of draws; large hulls always keep some such vertices. */
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
  bool by_volume = !link->has_mass || built->mass_model == MASS_UNIFORM;
  return built->mass > 0 && by_volume && built->mass_model != MASS_GIVEN;
}

/* Sets points[vertex_count] to the vertices of the hull, moved towards its centre by random fractions. */
static void shrink_hull(const ModelHull* hull, Random* random, Vec3* points) {
  bool flat = true;
  for (int draw = 0; flat && draw < GENERIC_DRAWS; draw++) {
    for (int m = 0; m < hull->solid.vertex_count; m++) {
      Vec3 x = hull->solid.vertices[m];
      points[m] = vec3_add_scaled(x, random_uniform(random, 0, GENERIC_SHIFT), vec3_sub(hull->center, x));
    }
    ConvexHull solid;
    flat = hull_create_with_interior(&solid, points, hull->solid.vertex_count) != HULL_OK ||
           has_flat_face(&solid, hull->radius);
    hull_free(&solid);
  }
}

/* Returns true if a link whose mass depends on its volume has a hull with flat faces. Moves the points of these hulls
 * in `scene` unless random is NULL. */
static bool visit_flat_hulls(Scene* scene, const Model* model, Random* random) {
  bool any = false;
  for (int i = 0; i < model->link_count; i++) {
    if (!weighs_by_volume(&model->scene->links[i], &model->links[i])) continue;
    for (int k = 0; k < model->links[i].hull_count; k++) {
      const ModelHull* hull = &model->hulls[model->links[i].hull_first + k];
      if (!hull->kind->bounded || hull->smooth || !has_flat_face(&hull->solid, hull->radius)) continue;
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

static const char* const NAMES[GRADCHECK_BLOCKS] = {"state",  "control",  "vertices", "attachments",
                                                    "mass",   "contact",  "material", "gains",
                                                    "shapes", "closures", "tendons",  "bushings"};

const char* gradcheck_block_name(GradcheckBlock block) {
  assert(block >= 0 && block < GRADCHECK_BLOCKS);
  return NAMES[block];
}

typedef struct {
  const GradcheckOptions* options;
  const Scene* scene;
  const Model* model;  /* of the base scene */
  ModelSolids* solids; /* solids of its shapes */
  const Loss* loss;    /* NULL if the random test loss is used */
  double* terms;       /* values of the terms of the loss */
  Probe* probe;
  double rounding;   /* rounding error of one value */
  RowSelection keep; /* rows kept in both recordings if memory is bounded */
  Recording base, moved;
  LossSeeds seeds;    /* of the base run */
  bool repeats;       /* true if perturbed runs repeat the substeps of the base run (GradcheckOptions.fixed_substeps) */
  int runs, expected; /* numbers of finished and of expected perturbed runs */
  GradcheckReport* report;
} Check;

static double value_of(const Check* c, const Recording* r, LossSeeds* seeds) {
  return c->loss ? loss_evaluate(c->loss, r, c->terms, seeds) : probe_evaluate(c->probe, r, seeds);
}

/* Returns the sum of the absolute values of the summands of the loss at the base run. Rounding errors are relative to
 * this sum. c->terms must be the terms of the base run. */
static double size_of_value(const Check* c) {
  double size = 0;
  if (!c->loss) return probe_size(c->probe);
  for (int k = 0; k < loss_count(c->loss); k++) size += fabs(c->terms[k]);
  return size;
}

static RecordOptions record_options(const Check* c) {
  return (RecordOptions){
      c->options->threads,         c->options->tolerance, c->options->interrupted, c->options->substeps, 0,
      c->repeats ? &c->base : NULL};
}

typedef struct {
  Check* check;
  GradcheckBlock block;
  ModelOverride* numbers; /* numbers of the block; NULL for the state (count) */
  int count;
} BlockContext;

/* Creates the model with the numbers of the block set to values[count] and the steps of the base run. Returns false if
 * there is no such model. The caller frees the model with model_destroy in both cases. */
static bool create_model_at(const BlockContext* b, const double* values, Model* model, Diagnostics* diagnostics) {
  const Check* c = b->check;
  for (int k = 0; k < b->count; k++) b->numbers[k].value = values[k];
  if (model_create_from(model, c->scene, c->solids, b->numbers, b->count, diagnostics) != STATUS_OK) return false;
  if (b->block == GRADCHECK_STATE) perturb_state(model, values);
  model->simulation.steps = c->base.steps;
  return true;
}

/* Returns the loss with the numbers of the block set to values[count], or NaN if the run fails. */
static double block_value(void* context, const double* values) {
  const BlockContext* b = context;
  Check* c = b->check;
  Model model;
  Diagnostics diagnostics = {0};
  RecordReport report;
  RecordOptions options = record_options(c);
  double value = NAN;
  if (create_model_at(b, values, &model, &diagnostics)) {
    if (recording_run(&c->moved, &model, &options, &report, &diagnostics) == STATUS_OK)
      value = value_of(c, &c->moved, NULL);
  }
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  if (++c->runs == c->expected) c->expected += GRADCHECK_RUNS;
  if (c->options->progress) c->options->progress(c->options->progress_context, NAMES[b->block], c->runs, c->expected);
  return value;
}

/* Creates a whole recording and seeds for a gradient. */
static void create_whole(const Check* c, const Model* model, int steps, Recording* recording, LossSeeds* seeds) {
  recording_create(recording, model, steps);
  *seeds = loss_seeds_create(model, steps);
  if (c->loss) loss_record_pair_forces(c->loss, steps, recording, seeds);
}

/* Sets gradient[] to the adjoint's gradient by the block at `values`, as GradcheckGradient. Not with bounded memory. */
static bool block_gradient_at(void* context, const double* values, double* gradient) {
  const BlockContext* b = context;
  Check* c = b->check;
  if (c->options->memory > 0) return false;
  Model model;
  Recording recording;
  LossSeeds seeds;
  Diagnostics diagnostics = {0};
  RecordReport report;
  RecordOptions options = record_options(c);
  ModelGradient all;
  bool sound = false;
  if (create_model_at(b, values, &model, &diagnostics)) {
    create_whole(c, &model, c->base.steps, &recording, &seeds);
    if (recording_run(&recording, &model, &options, &report, &diagnostics) == STATUS_OK) {
      value_of(c, &recording, &seeds);
      model_gradient_create(&all, &model);
      all.without_turns = true; /* not part of any block */
      RunAdjoint* adjoint = run_adjoint_create(&model, c->options->threads);
      sound = run_adjoint(adjoint, &recording, &seeds, 1.0, &all).sound;
      run_adjoint_destroy(adjoint);
      if (sound) block_gradient(&model, b->block, &all, gradient);
      model_gradient_destroy(&all);
    }
    recording_destroy(&recording);
    loss_seeds_destroy(&seeds);
  }
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  return sound;
}

static int expected_runs(const Check* c) {
  int blocks = 0;
  for (int b = 0; b < GRADCHECK_BLOCKS; b++)
    blocks += (c->options->blocks & 1u << b) && block_size(c->model, (GradcheckBlock)b) > 0;
  return GRADCHECK_RUNS * c->options->directions * blocks;
}

/* Returns the norm of the gradient of a block in the numbers' scales. */
static double block_norm(const Model* m, GradcheckBlock block, const ModelGradient* gradient) {
  int count = block_size(m, block);
  double *g = MEMORY_NEW(double, 2 * (size_t)count), *scale = g + count, sum = 0;
  block_gradient(m, block, gradient, g);
  block_scale(m, block, scale);
  for (int k = 0; k < count; k++) sum += g[k] * scale[k] * g[k] * scale[k];
  memory_free(g);
  return sqrt(sum);
}

/* Smallest norm of a block's gradient, relative to the largest norm of all blocks. A smaller gradient is a rounding
 * error of the adjoint. */
#define ZERO 1e-12

static GradcheckFloor floor_of(const Check* c, const ModelGradient* gradient) {
  GradcheckFloor floor = {c->rounding, c->report->adjoint.rounding, block_gradient_at};
  for (int b = 0; b < GRADCHECK_BLOCKS; b++)
    floor.gradient = fmax(floor.gradient, ZERO * block_norm(c->model, (GradcheckBlock)b, gradient));
  return floor;
}

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
  BlockContext context = {c, block, block_parameters(c->scene, m, block), block == GRADCHECK_STATE ? 0 : count};
  for (int k = 0; k < count; k++) base[k] = context.numbers[k].value;
  gradcheck_vector(count, g, scale, base, floor_of(c, gradient), block_value, &context, c->options,
                   c->options->seed * 7919u + (uint64_t)block, out);
  if (block == GRADCHECK_STATE) /* a prescribed joint has no free initial state */
    for (int k = 0; k < count; k++) out->count -= scale[k] == 0;
  memory_free(context.numbers);
  memory_free(memory);
}

static bool all_gradients(Check* c, ModelGradient* gradient) {
  c->report->value = value_of(c, &c->base, &c->seeds);
  c->rounding = DBL_EPSILON * size_of_value(c);
  RunAdjoint* adjoint = run_adjoint_create(c->model, c->options->threads);
  c->report->adjoint = run_adjoint(adjoint, &c->base, &c->seeds, 1.0, gradient);
  run_adjoint_destroy(adjoint);
  return c->report->adjoint.sound;
}

static bool stopped(const Check* c) { return c->options->interrupted && c->options->interrupted(); }

GradcheckCoverage gradcheck_coverage(const GradcheckBlockReport* blocks, int count) {
  GradcheckCoverage out = {0};
  double all = 0, checked = 0;
  for (int b = 0; b < count; b++) {
    if (blocks[b].directions == 0) continue;
    double square = blocks[b].norm * blocks[b].norm;
    bool looked = blocks[b].verdict != GRADCHECK_UNCHECKED;
    out.blocks++;
    out.checked += looked;
    all += square;
    checked += looked ? square : 0;
  }
  out.share = all > 0 ? checked / all : 1;
  return out;
}

void gradcheck_mark_singular(bool singular, GradcheckBlockReport* block) {
  block->singular = singular && block->verdict == GRADCHECK_WRONG;
  if (block->singular) block->verdict = GRADCHECK_UNCHECKED;
}

/* Returns true if the run failed because a loop in a singular configuration did not close. Such a loop may have no
 * solution within a small tolerance. */
static bool is_open(const Model* model, const RecordReport* run) {
  return model->singular_closure >= 0 && run->last.outcome == STEP_CLOSURE_OPEN;
}

static Status check_all(Check* c) {
  ModelGradient gradient;
  GradcheckReport* report = c->report;
  model_gradient_create(&gradient, c->model);
  gradient.without_turns = true; /* not part of any block */
  report->passed = report->checked = all_gradients(c, &gradient);
  /* contact laws for exact shapes may have no derivative at a state; this does not fail the check */
  report->passed |= report->adjoint.step.contact_failed && contact_supports_smooth_shapes(c->model->contact_model);
  c->expected = expected_runs(c);
  report->kinks = c->model->contact_model != CONTACT_NONE && contact_once_differentiable(c->model);
  for (int b = 0; b < GRADCHECK_BLOCKS && report->adjoint.sound && !stopped(c); b++) {
    check_block(c, (GradcheckBlock)b, &gradient);
    GradcheckBlockReport* block = &report->block[b];
    if (report->kinks && block->verdict == GRADCHECK_WRONG) block->verdict = GRADCHECK_UNCHECKED;
    gradcheck_mark_singular(c->model->singular_closure >= 0, block);
    report->passed = report->passed && block->verdict != GRADCHECK_WRONG;
    report->checked = report->checked && block->verdict == GRADCHECK_RIGHT;
  }
  model_gradient_destroy(&gradient);
  return stopped(c) ? STATUS_INTERRUPTED : STATUS_OK;
}

/* Creates both recordings and the seeds. With bounded memory, perturbed runs store only the rows of the loss, and the
 * base run stores the rows of its gradient. */
static void create_rows(Check* c, int steps) {
  if (!(c->options->memory > 0)) {
    recording_create(&c->base, c->model, steps);
    recording_create(&c->moved, c->model, steps);
    c->seeds = loss_seeds_create(c->model, steps);
    return;
  }
  c->keep = row_selection_create(c->model, steps);
  if (c->loss)
    loss_select_rows(c->loss, c->model, &c->keep);
  else
    probe_select_rows(steps, &c->keep);
  row_selection_compute_offsets(&c->keep, c->model);
  recording_create_selective(&c->base, c->model, steps, &c->keep);
  recording_create_selective(&c->moved, c->model, steps, &c->keep);
  c->seeds = loss_seeds_create_selective(c->model, &c->keep);
}

static void create_recordings(Check* c, int steps) {
  create_rows(c, steps);
  if (!c->loss) return;
  loss_record_pair_forces(c->loss, steps, &c->base, &c->seeds);
  loss_record_pair_forces(c->loss, steps, &c->moved, NULL);
}

Status gradcheck_scene(const Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics) {
  *report = (GradcheckReport){.passed = false};
  Check c = {.options = options, .scene = scene, .model = model, .loss = loss, .report = report};
  int steps = options->steps > 0 && options->steps < model->simulation.steps ? options->steps : model->simulation.steps;
  RecordOptions record = record_options(&c);
  record.substeps = options->substeps;
  create_recordings(&c, steps);
  Status status = STATUS_OK;
  if (options->memory > 0) {
    record.memory = recording_memory_left(&c.base, &c.seeds, options->memory);
    status = recording_check_memory(&c.base, &c.seeds, options->memory, (SourcePosition){0}, diagnostics);
  }
  c.solids = model_solids_create(scene);
  c.probe = probe_create(&c.base, options->seed);
  c.terms = MEMORY_NEW(double, loss ? loss_count(loss) : 0);
  if (status == STATUS_OK) status = recording_run(&c.base, model, &record, &report->run, diagnostics);
  if (status == STATUS_OK) {
    c.repeats = options->fixed_substeps;
    status = check_all(&c);
  } else if (status == STATUS_SOLVER && is_open(model, &report->run)) {
    report->open = report->passed = true;
    status = STATUS_OK;
  }
  probe_destroy(c.probe);
  model_solids_destroy(c.solids);
  memory_free(c.terms);
  recording_destroy(&c.base);
  recording_destroy(&c.moved);
  loss_seeds_destroy(&c.seeds);
  row_selection_destroy(&c.keep);
  return status;
}
