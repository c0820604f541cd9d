/* Gradient check of a scene: compares the adjoint with central differences of whole runs, block by block
 * (docs/derivations/adjoint.md). */
#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "differentiate/gradcheck.h"
#include "model/inputs.h"

/* A face counts as flat if a further vertex is nearer to its plane than FLAT_FRACTION of the hull radius. Vertices of
 * hulls with flat faces are moved towards the centre by random fractions up to GENERIC_SHIFT, in at most GENERIC_DRAWS
 * draws. Large hulls always keep some flat faces. */
#define FLAT_FRACTION 1e-3
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
      if (fabs(height) < FLAT_FRACTION * radius * vec3_norm(normal)) return true;
    }
  }
  return false;
}

static bool mass_depends_on_volume(const SceneLink* link, const ModelLink* built) {
  bool by_volume = !link->has_mass || built->mass_model == MASS_UNIFORM;
  return built->mass > 0 && by_volume && built->mass_model != MASS_GIVEN;
}

/* Sets points[vertex_count] to the vertices of a hull, each moved towards the centre by a random fraction. */
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
 * in the scene unless `random` is NULL. */
static bool find_flat_hulls(Scene* scene, const Model* model, Random* random) {
  bool any = false;
  for (int i = 0; i < model->link_count; i++) {
    if (!mass_depends_on_volume(&model->scene->links[i], &model->links[i])) continue;
    for (int k = 0; k < model->links[i].hull_count; k++) {
      const ModelHull* hull = &model->hulls[model->links[i].hull_first + k];
      if (!hull->kind->bounded || hull->smooth || !has_flat_face(&hull->solid, hull->radius)) continue;
      any = true;
      if (random) shrink_hull(hull, random, scene->shapes[scene->links[i].shapes[k].shape].points);
    }
  }
  return any;
}

bool gradcheck_has_flat_faces(const Model* model) { return find_flat_hulls(NULL, model, NULL); }

void gradcheck_make_generic(Scene* scene, const Model* model, uint64_t seed) {
  Random random = {seed};
  find_flat_hulls(scene, model, &random);
}

static const char* const BLOCK_NAMES[GRADCHECK_BLOCKS] = {"state",   "control",  "vertices", "attachments", "mass",
                                                          "contact", "material", "gains",    "shapes",      "closures",
                                                          "tendons", "bushings", "input"};

const char* gradcheck_block_name(GradcheckBlock block) {
  assert(block >= 0 && block < GRADCHECK_BLOCKS);
  assert(block >= 0 && block < GRADCHECK_BLOCKS);
  return BLOCK_NAMES[block];
}

typedef struct {
  const GradcheckOptions* options;
  const Scene* scene;
  const Model* model; /* model of the unperturbed scene */
  ModelSolids* solids;
  const Loss* loss; /* NULL: random test loss */
  double* terms;    /* values of the loss terms */
  Probe* probe;
  double rounding;        /* rounding error of one loss value */
  double tolerance;       /* relative tolerance of the time-step solver in the next run */
  RowSelection selection; /* rows that are stored if memory is limited */
  Recording base, perturbed;
  LossSeeds seeds;
  DrivenModel inputs;         /* model of the block of inputs (gradcheck.md, J19) */
  const Recording* reference; /* run whose substeps the perturbed runs repeat, or NULL */
  int runs, expected;         /* number of finished and expected perturbed runs */
  GradcheckReport* report;
} GradientCheck;

static double evaluate_loss(const GradientCheck* c, const Recording* r, LossSeeds* seeds) {
  return c->loss ? loss_evaluate(c->loss, r, c->terms, seeds) : probe_evaluate(c->probe, r, seeds);
}

/* Returns the sum of the absolute values of all loss terms of the base run. Rounding errors of the loss are relative to
 * it. */
static double absolute_sum(const GradientCheck* c) {
  double size = 0;
  if (!c->loss) return probe_size(c->probe);
  for (int k = 0; k < loss_count(c->loss); k++) size += fabs(c->terms[k]);
  return size;
}

static RecordOptions get_record_options(const GradientCheck* c) {
  return (RecordOptions){c->options->threads, c->tolerance, c->options->interrupted, c->options->substeps, 0,
                         c->reference};
}

typedef struct {
  GradientCheck* check;
  GradcheckBlock block;
  ModelOverride* parameters; /* parameters of the block (count); NULL for the initial state */
  int count;
} BlockContext;

/* Returns the model with changed parameters of a block (values[count]) and the number of steps of the base run. Returns
 * NULL if the model is invalid. Builds it in *model, or changes the inputs of GradientCheck.inputs. The caller frees
 * *model with model_destroy in all cases. */
static const Model* model_at(const BlockContext* b, const double* values, Model* model, Diagnostics* diagnostics) {
  GradientCheck* c = b->check;
  *model = (Model){0};
  if (b->block == GRADCHECK_INPUT) {
    driven_model_set_inputs(&c->inputs, c->model, 0, values, c->base.steps);
    return &c->inputs.model;
  }
  for (int k = 0; k < b->count; k++) b->parameters[k].value = values[k];
  if (model_create_from(model, c->scene, c->solids, b->parameters, b->count, diagnostics) != STATUS_OK) return NULL;
  if (b->block == GRADCHECK_STATE) perturb_state(model, values);
  model->simulation.steps = c->base.steps;
  return model;
}

/* Returns the loss of a run with changed parameters of a block (values[count]), or NaN if the run fails. */
static double evaluate_with_block(void* context, const double* values) {
  const BlockContext* b = context;
  GradientCheck* c = b->check;
  Model storage;
  Diagnostics diagnostics = {0};
  RecordReport report;
  RecordOptions options = get_record_options(c);
  double value = NAN;
  const Model* model = model_at(b, values, &storage, &diagnostics);
  if (model && recording_run(&c->perturbed, model, &options, &report, &diagnostics) == STATUS_OK)
    value = evaluate_loss(c, &c->perturbed, NULL);
  model_destroy(&storage);
  diagnostics_free(&diagnostics);
  if (++c->runs == c->expected) c->expected += GRADCHECK_RUNS;
  if (c->options->progress)
    c->options->progress(c->options->progress_context, BLOCK_NAMES[b->block], c->runs, c->expected);
  return value;
}

/* Returns the same value from a run with the solver tolerance times GRADCHECK_PRECISE_FACTOR (J18). */
static double evaluate_precisely(void* context, const double* values) {
  GradientCheck* c = ((const BlockContext*)context)->check;
  c->tolerance = GRADCHECK_PRECISE_FACTOR * c->options->tolerance;
  double value = evaluate_with_block(context, values);
  c->tolerance = c->options->tolerance;
  return value;
}

/* Creates a recording of a run of `steps` steps and, unless NULL, the seeds of its loss. With limited memory the
 * recording stores only the rows that the loss reads. */
static void create_recording(const GradientCheck* c, const Model* model, int steps, Recording* recording,
                             LossSeeds* seeds) {
  bool selective = c->options->memory > 0;
  if (selective)
    recording_create_selective(recording, model, steps, &c->selection);
  else
    recording_create(recording, model, steps);
  if (seeds) *seeds = selective ? loss_seeds_create_selective(model, &c->selection) : loss_seeds_create(model, steps);
  if (c->loss) loss_record_pair_forces(c->loss, steps, recording, seeds);
}

/* Copies the derivatives with respect to the parameters of a block into out[count]. */
static void copy_block_gradient(const BlockContext* b, const Model* model, const ModelGradient* all, double* out) {
  const GradientCheck* c = b->check;
  if (b->block == GRADCHECK_INPUT)
    driven_model_input_derivatives(&c->inputs, c->base.steps, all->control, out);
  else
    block_gradient(model, b->block, all, out);
}

/* Runs a model and computes the gradient of the loss with respect to the parameters of a block by the adjoint method.
 * Returns false if the run or the adjoint fails. */
static bool run_with_gradient(const BlockContext* b, const Model* model, Recording* recording, double* gradient) {
  const GradientCheck* c = b->check;
  Diagnostics diagnostics = {0};
  RecordReport report;
  RecordOptions options = get_record_options(c);
  LossSeeds seeds;
  ModelGradient all;
  bool sound = false;
  create_recording(c, model, c->base.steps, recording, &seeds);
  if (c->options->memory > 0) options.memory = recording_memory_left(recording, &seeds, c->options->memory);
  if (recording_run(recording, model, &options, &report, &diagnostics) == STATUS_OK) {
    evaluate_loss(c, recording, &seeds);
    model_gradient_create(&all, model);
    all.without_turns = true; /* no block contains these derivatives */
    RunAdjoint* adjoint = run_adjoint_create(model, c->options->threads);
    sound = run_adjoint(adjoint, recording, &seeds, 1.0, &all).sound;
    run_adjoint_destroy(adjoint);
    if (sound) copy_block_gradient(b, model, &all, gradient);
    model_gradient_destroy(&all);
  }
  loss_seeds_destroy(&seeds);
  diagnostics_free(&diagnostics);
  return sound;
}

/* Computes the gradient of the loss with respect to the parameters of a block by the adjoint method. Callback of type
 * GradcheckGradient. Not for runs with limited memory. */
static bool compute_block_gradient(void* context, const double* values, double* gradient) {
  const BlockContext* b = context;
  if (b->check->options->memory > 0) return false;
  Model storage;
  Recording recording = {0};
  Diagnostics diagnostics = {0};
  const Model* model = model_at(b, values, &storage, &diagnostics);
  bool sound = model && run_with_gradient(b, model, &recording, gradient);
  recording_destroy(&recording);
  model_destroy(&storage);
  diagnostics_free(&diagnostics);
  return sound;
}

/* Returns the number of parameters of the block of inputs (J19). A run that begins in a restored state has none. */
static int input_count(const GradientCheck* c) {
  return c->model->start ? 0 : model_input_count(c->model) * c->base.steps;
}

static int count_expected_runs(const GradientCheck* c) {
  int blocks = 0;
  for (int b = 0; b < GRADCHECK_BLOCKS; b++)
    blocks += (c->options->blocks & 1u << b) &&
              (b == GRADCHECK_INPUT ? input_count(c) : block_size(c->model, (GradcheckBlock)b)) > 0;
  return GRADCHECK_RUNS * c->options->directions * blocks;
}

static double block_norm(const Model* m, GradcheckBlock block, const ModelGradient* gradient) {
  int count = block_size(m, block);
  double *g = MEMORY_NEW(double, 2 * (size_t)count), *scale = g + count, sum = 0;
  block_gradient(m, block, gradient, g);
  block_scale(m, block, scale);
  for (int k = 0; k < count; k++) sum += g[k] * scale[k] * g[k] * scale[k];
  memory_free(g);
  return sqrt(sum);
}

/* Smallest relevant norm of a block's gradient, relative to the largest norm of all blocks. Smaller gradients are
 * rounding errors. */
#define ZERO_GRADIENT 1e-12

static GradcheckFloor compute_rounding(const GradientCheck* c, const ModelGradient* gradient) {
  GradcheckFloor floor = {c->rounding, c->report->adjoint.rounding, compute_block_gradient, evaluate_precisely};
  for (int b = 0; b < GRADCHECK_BLOCKS; b++)
    floor.gradient = fmax(floor.gradient, ZERO_GRADIENT * block_norm(c->model, (GradcheckBlock)b, gradient));
  return floor;
}

static void check_block(GradientCheck* c, GradcheckBlock block, const ModelGradient* gradient) {
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
  for (int k = 0; k < count; k++) base[k] = context.parameters[k].value;
  gradcheck_vector(count, g, scale, base, compute_rounding(c, gradient), evaluate_with_block, &context, c->options,
                   c->options->seed * 7919u + (uint64_t)block, out);
  if (block == GRADCHECK_STATE) /* the initial state of prescribed joints is not free */
    for (int k = 0; k < count; k++) out->count -= scale[k] == 0;
  memory_free(context.parameters);
  memory_free(memory);
}

/* Checks the block of inputs (J19): derivatives of a run whose controllers follow inputs that are constant within each
 * time step. The inputs are the means of the scene's signals over the steps. */
static void check_inputs(GradientCheck* c, const ModelGradient* gradient) {
  int count = input_count(c), steps = c->base.steps;
  GradcheckBlockReport* out = &c->report->block[GRADCHECK_INPUT];
  *out = (GradcheckBlockReport){.count = count, .order = NAN};
  if (count == 0 || !(c->options->blocks & 1u << GRADCHECK_INPUT)) return;
  double *g = MEMORY_NEW(double, 3 * (size_t)count), *scale = g + count, *base = scale + count;
  const Recording* reference = c->reference;
  Recording recording = {0};
  BlockContext context = {c, GRADCHECK_INPUT, NULL, count};
  driven_model_create(&c->inputs, c->model);
  driven_model_set_inputs(&c->inputs, c->model, steps, NULL, 0);
  driven_model_get_inputs(&c->inputs, steps, base);
  input_scale(c->model, steps, scale);
  c->inputs.model.simulation.steps = steps;
  c->reference = NULL;
  if (run_with_gradient(&context, &c->inputs.model, &recording, g)) {
    c->reference = reference ? &recording : NULL;
    gradcheck_vector(count, g, scale, base, compute_rounding(c, gradient), evaluate_with_block, &context, c->options,
                     c->options->seed * 7919u + GRADCHECK_INPUT, out);
  } else
    out->verdict = GRADCHECK_UNCHECKED;
  c->reference = reference;
  recording_destroy(&recording);
  driven_model_free(&c->inputs);
  memory_free(g);
}

static bool compute_gradient(GradientCheck* c, ModelGradient* gradient) {
  c->report->value = evaluate_loss(c, &c->base, &c->seeds);
  c->rounding = DBL_EPSILON * absolute_sum(c);
  RunAdjoint* adjoint = run_adjoint_create(c->model, c->options->threads);
  c->report->adjoint = run_adjoint(adjoint, &c->base, &c->seeds, 1.0, gradient);
  run_adjoint_destroy(adjoint);
  return c->report->adjoint.sound;
}

static bool is_interrupted(const GradientCheck* c) { return c->options->interrupted && c->options->interrupted(); }

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
static bool loop_failed_to_close(const Model* model, const RecordReport* run) {
  return model->singular_closure >= 0 && run->last.outcome == STEP_CLOSURE_OPEN;
}

static Status check_blocks(GradientCheck* c) {
  ModelGradient gradient;
  GradcheckReport* report = c->report;
  model_gradient_create(&gradient, c->model);
  gradient.without_turns = true; /* no block contains these derivatives */
  report->passed = report->checked = compute_gradient(c, &gradient);
  /* a missing derivative of an exact contact law at one state does not fail the check */
  report->passed |= report->adjoint.step.contact_failed && contact_supports_smooth_shapes(c->model->contact_model);
  c->expected = count_expected_runs(c);
  report->kinks = c->model->contact_model != CONTACT_NONE && contact_once_differentiable(c->model);
  for (int b = 0; b < GRADCHECK_BLOCKS && report->adjoint.sound && !is_interrupted(c); b++) {
    if (b == GRADCHECK_INPUT)
      check_inputs(c, &gradient);
    else
      check_block(c, (GradcheckBlock)b, &gradient);
    GradcheckBlockReport* block = &report->block[b];
    if (report->kinks && block->verdict == GRADCHECK_WRONG) block->verdict = GRADCHECK_UNCHECKED;
    gradcheck_mark_singular(c->model->singular_closure >= 0, block);
    report->passed = report->passed && block->verdict != GRADCHECK_WRONG;
    report->checked = report->checked && block->verdict == GRADCHECK_RIGHT;
  }
  model_gradient_destroy(&gradient);
  return is_interrupted(c) ? STATUS_INTERRUPTED : STATUS_OK;
}

/* Creates the recordings of the base run and of the perturbed runs. */
static void create_recordings(GradientCheck* c, int steps) {
  if (c->options->memory > 0) {
    c->selection = row_selection_create(c->model, steps);
    if (c->loss)
      loss_select_rows(c->loss, c->model, &c->selection);
    else
      probe_select_rows(steps, &c->selection);
    row_selection_compute_offsets(&c->selection, c->model);
  }
  create_recording(c, c->model, steps, &c->base, &c->seeds);
  create_recording(c, c->model, steps, &c->perturbed, NULL);
}

Status gradcheck_scene(const Scene* scene, const Model* model, const Loss* loss, const GradcheckOptions* options,
                       GradcheckReport* report, Diagnostics* diagnostics) {
  assert(options->directions >= 0 && options->directions <= GRADCHECK_DIRECTIONS);
  *report = (GradcheckReport){.passed = false};
  GradientCheck c = {.options = options,
                     .scene = scene,
                     .model = model,
                     .loss = loss,
                     .tolerance = options->tolerance,
                     .report = report};
  int steps = options->steps > 0 && options->steps < model->simulation.steps ? options->steps : model->simulation.steps;
  RecordOptions record = get_record_options(&c);
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
    c.reference = options->fixed_substeps ? &c.base : NULL;
    status = check_blocks(&c);
  } else if (status == STATUS_SOLVER && loop_failed_to_close(model, &report->run)) {
    report->loop_open = report->passed = true;
    status = STATUS_OK;
  }
  probe_destroy(c.probe);
  model_solids_destroy(c.solids);
  memory_free(c.terms);
  recording_destroy(&c.base);
  recording_destroy(&c.perturbed);
  loss_seeds_destroy(&c.seeds);
  row_selection_destroy(&c.selection);
  return status;
}
