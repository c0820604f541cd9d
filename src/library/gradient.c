/* Computes the gradient of a loss with respect to all inputs of a recorded run, from seeds: derivatives of the loss
 * with respect to recorded quantities. */
#include <assert.h>
#include <string.h>

#include "library/library.h"

/* ---------------------------------------------------------------- seeds: derivatives by one block to LossSeeds */

typedef struct {
  const Recording* recording;
  LossSeeds* seeds;
  const double* orientations; /* recorded orientations (rows x links x 4); only for SDRS_ORIENTATION */
  /* derivatives of the loss (rows x columns); a row has the columns of one link after the other */
  const double* values;
  size_t first, links; /* the derivatives are for the links first ... first + links - 1 */
} SeedTarget;

/* Converts the derivative of the loss L with respect to a quaternion q (slope, 4 numbers) to the derivative with
 * respect to a rotation increment d about the link's axes. For a small rotation q' = q (1, d / 2), so dL/dd = Im(q*
 * dL/dq) / 2. The component of the derivative along q has no effect. */
static Vec3 quat_slope_to_increment(Quat q, const double* slope) {
  Quat g = {slope[0], slope[1], slope[2], slope[3]}, turned = quat_mul(quat_conjugate(q), g);
  return vec3(0.5 * turned.x, 0.5 * turned.y, 0.5 * turned.z);
}

static void seed_coordinates(const SeedTarget* s) {
  const Recording* r = s->recording;
  const Model* m = r->model;
  for (int row = 0; row <= r->steps; row++)
    for (int i = 0; i < m->link_count; i++) {
      const ModelLink* link = &m->links[i];
      size_t at = (size_t)row * (size_t)m->coordinate_count + (size_t)link->coordinate_first;
      double* to = s->seeds->q + (size_t)row * (size_t)m->dof_count + link->dof_first;
      int plain = link->coordinate_count == link->dof_count ? link->dof_count : link->coordinate_count - 4;
      for (int k = 0; k < plain; k++) to[k] += s->values[at + (size_t)k];
      if (plain == link->dof_count) continue;
      const double* q = r->q + at + plain;
      Vec3 turn = quat_slope_to_increment((Quat){q[0], q[1], q[2], q[3]}, s->values + at + plain);
      to[plain] += turn.x;
      to[plain + 1] += turn.y;
      to[plain + 2] += turn.z;
    }
}

static void seed_velocities(const SeedTarget* s) {
  size_t count = ((size_t)s->recording->steps + 1) * (size_t)s->recording->model->dof_count;
  for (size_t k = 0; k < count; k++) s->seeds->rate[k] += s->values[k];
}

static void seed_observable(const SeedTarget* s, ObservableKind kind) {
  const Recording* r = s->recording;
  const Observable* o = observable_at((int)kind);
  const double* slope = s->values;
  for (int row = 0; row <= r->steps; row++) {
    Observation in = observation_at(r, row);
    ObservationBars bars = observation_bars(r, row, s->seeds);
    for (size_t i = s->first; i < s->first + s->links; i++, slope += OBSERVABLE_COLUMNS)
      if (observable_is_defined(o, r, row)) o->seed(&in, (int)i, slope, &bars);
  }
}

/* Returns SDRS_BAD_INPUT, with an error text, if a seed is nonzero where the quantity does not exist or has no
 * derivative. */
static sdrs_status check_observable(sdrs* s, const sdrs_seed* seed, ObservableKind kind) {
  const Recording* r = &s->state->recording;
  const Observable* o = observable_at((int)kind);
  size_t links = seed->link < 0 ? (size_t)r->model->link_count : 1, width = OBSERVABLE_COLUMNS;
  for (size_t k = 0; k < seed->count; k++) {
    int row = (int)(k / (links * width)), link = seed->link < 0 ? (int)(k / width % links) : seed->link;
    if (seed->values[k] == 0) continue;
    const char* name = r->model->links[link].name;
    if (!observable_is_defined(o, r, row))
      return library_fail(s, SDRS_BAD_INPUT, "row %d has no %s: set the derivatives in the row to 0", row, o->word);
    if (kind == OBSERVABLE_REACTIONS && !sim_reaction_derives(r->model, link))
      return library_fail(
          s, SDRS_BAD_INPUT,
          "the reaction of '%s' has no derivative, because the link cannot move or closures act on a tree that "
          "conserves momentum: choose another link, or set simulation.integrator: first_order",
          name);
  }
  return SDRS_OK;
}

typedef void (*SeedLink)(const SeedTarget* s, size_t at, size_t link, const double* slope);

static void seed_position(const SeedTarget* s, size_t at, size_t link, const double* slope) {
  (void)link;
  for (int k = 0; k < 3; k++) s->seeds->pose[at][k][3] += slope[k];
}

/* Converts the derivative of the loss with respect to a link's centre of mass, x = R c + t, and adds it to the
 * derivatives with respect to the link's pose R, t. c: centre of mass in the link's frame. */
static void seed_center(const SeedTarget* s, size_t at, size_t link, const double* slope) {
  Vec3 c = s->recording->model->links[link].center, g = vec3(slope[0], slope[1], slope[2]);
  const double in[3] = {c.x, c.y, c.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) s->seeds->pose[at][i][j] += slope[i] * in[j];
    s->seeds->pose[at][i][3] += slope[i];
  }
  s->seeds->center[link] = vec3_add(s->seeds->center[link], mat3_tmul_vec(s->recording->pose[at].r, g));
}

/* Converts the derivative of the loss with respect to a link's quaternion, and adds it to the derivative with respect
 * to the link's rotation matrix R. A rotation increment w changes R by R [w]x and the loss by a . w. The derivative
 * with respect to R is thus R [a]x / 2, because the entries of its product with R [w]x, entry by entry, sum to a . w.
 */
static void seed_orientation(const SeedTarget* s, size_t at, size_t link, const double* slope) {
  const Recording* r = s->recording;
  const double* shown = s->orientations + 4 * at;
  (void)link;
  Vec3 a = quat_slope_to_increment((Quat){shown[0], shown[1], shown[2], shown[3]}, slope);
  const double half[3][3] = {{0, -0.5 * a.z, 0.5 * a.y}, {0.5 * a.z, 0, -0.5 * a.x}, {-0.5 * a.y, 0.5 * a.x, 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) s->seeds->pose[at][i][j] += r->pose[at].r.m[i][k] * half[k][j];
}

static void seed_force(const SeedTarget* s, size_t at, size_t link, const double* slope) {
  (void)link;
  s->seeds->force[at] = vec3_add(s->seeds->force[at], vec3(slope[0], slope[1], slope[2]));
}

static void seed_links(const SeedTarget* s, SeedLink seed, size_t columns) {
  assert(seed && columns > 0);
  const Recording* r = s->recording;
  size_t links = (size_t)r->model->link_count;
  const double* slope = s->values;
  for (size_t row = 0; row <= (size_t)r->steps; row++)
    for (size_t i = s->first; i < s->first + s->links; i++, slope += columns) {
      bool none = true;
      for (size_t k = 0; k < columns; k++) none = none && slope[k] == 0;
      if (!none) seed(s, row * links + i, i, slope);
    }
}

static const struct {
  SeedLink seed;
  size_t columns;
} LINK_SEEDS[LIBRARY_BLOCK_COUNT] = {
    [SDRS_POSITION] = {seed_position, 3},
    [SDRS_ORIENTATION] = {seed_orientation, 4},
    [SDRS_CENTER] = {seed_center, 3},
    [SDRS_FORCE] = {seed_force, 3},
    [SDRS_REACTIONS] = {NULL, OBSERVABLE_COLUMNS},
    [SDRS_IMU] = {NULL, OBSERVABLE_COLUMNS},
    [SDRS_RANGE] = {NULL, OBSERVABLE_COLUMNS},
};

static size_t seed_columns(const Model* m, sdrs_block block, size_t links) {
  if (block == SDRS_COORDINATES) return (size_t)m->coordinate_count;
  if (block == SDRS_VELOCITIES) return (size_t)m->dof_count;
  return (unsigned)block < LIBRARY_BLOCK_COUNT ? LINK_SEEDS[block].columns * links : 0;
}

static sdrs_status add_seed(sdrs* s, const sdrs_seed* seed, LossSeeds* seeds) {
  const Recording* r = &s->state->recording;
  size_t all = (size_t)r->model->link_count, rows = (size_t)r->steps + 1;
  if (seed->link < -1 || seed->link >= (int)all)
    return library_fail(s, SDRS_USAGE, "there is no link %d: give an index of a link, or -1 for all links", seed->link);
  size_t links = seed->link < 0 ? all : 1, columns = seed_columns(r->model, seed->block, links);
  const char* name = sdrs_block_name(seed->block);
  if (columns == 0)
    return library_fail(s, SDRS_USAGE, "a loss cannot depend on '%s': give a block that sdrs_seed allows (see sdrs.h)",
                        name ? name : "no such block");
  if (seed->count != rows * columns)
    return library_fail(s, SDRS_USAGE, "derivatives with respect to %s: got %zu numbers, expected %zu x %zu", name,
                        seed->count, rows, columns);
  for (size_t k = 0; k < seed->count; k++)
    if (!isfinite(seed->values[k]))
      return library_fail(s, SDRS_BAD_INPUT, "derivatives with respect to %s must be finite", name);
  ObservableKind kind = library_observable_kind(seed->block);
  bool observable = kind != OBSERVABLES;
  sdrs_status status = observable ? library_has_observable(s, seed->block, r->model) : SDRS_OK;
  if (status == SDRS_OK && observable) status = check_observable(s, seed, kind);
  if (status != SDRS_OK) return status;
  const double* orientations = seed->block == SDRS_ORIENTATION ? library_orientations(s) : NULL;
  SeedTarget seeding = {r, seeds, orientations, seed->values, seed->link < 0 ? 0 : (size_t)seed->link, links};
  if (seed->block == SDRS_COORDINATES)
    seed_coordinates(&seeding);
  else if (seed->block == SDRS_VELOCITIES)
    seed_velocities(&seeding);
  else if (observable)
    seed_observable(&seeding, kind);
  else
    seed_links(&seeding, LINK_SEEDS[seed->block].seed, LINK_SEEDS[seed->block].columns);
  return SDRS_OK;
}

/* ---------------------------------------------------------------- the adjoint */

static sdrs_status report_no_derivative(sdrs* s, const AdjointReport* report) {
  return library_fail(s, SDRS_NO_GRADIENT, "step %d has no derivative: %s", report->unsound_step,
                      report->step.contact_failed ? "its contacts cannot be computed again"
                      : report->step.grazes       ? "an impact begins with a grazing contact"
                      : report->step.singular     ? "its Hessian is singular"
                                                  : "its derivatives are not finite");
}

static sdrs_status run_adjoint_of_seeds(sdrs* s, LossSeeds* seeds) {
  LibraryState* state = s->state;
  const Model* m = &state->ran.model;
  model_gradient_destroy(&state->gradient);
  model_gradient_create(&state->gradient, m);
  seeds->keep_moments = true;
  AdjointReport report = optimization_run_adjoint(s->shared->optimization, &state->recording, seeds, 1,
                                                  s->shared->threads, &state->gradient);
  state->has_gradient = state->has_moments = report.sound;
  return report.sound ? SDRS_OK : report_no_derivative(s, &report);
}

static sdrs_status check_record(sdrs* s) {
  s->state->has_gradient = false;
  if (s->state->recorded) return SDRS_OK;
  return library_fail_unrecorded(s);
}

typedef struct {
  const sdrs_seed* seeds;
  int count;
} Request;

/* Adds seeds[index], derivatives of the loss, to *to. The caller's sdrs_seed may be longer than this library's struct.
 */
static sdrs_status add_seed_of_array(sdrs* s, const sdrs_seed* seeds, int index, LossSeeds* to) {
  sdrs_seed seed;
  const char* given = (const char*)seeds + (size_t)index * seeds->size;
  if (!library_copy_argument(&seed, sizeof(seed), given) || seed.size != seeds->size)
    return library_fail(s, SDRS_USAGE, "seed %d has a wrong 'size': begin every seed with SDRS_INIT(sdrs_seed)", index);
  return add_seed(s, &seed, to);
}

static sdrs_status gradient(sdrs* s, void* arguments) {
  const Request* request = arguments;
  sdrs_status status = check_record(s);
  if (status != SDRS_OK) return status;
  if (request->count < 0) return library_fail(s, SDRS_USAGE, "the count of seeds must be 0 or more");
  if (request->count > 0 && !request->seeds) return library_fail(s, SDRS_USAGE, "'seeds' must not be NULL");
  for (int k = 0; k < request->count; k++)
    if (!request->seeds[k].values && request->seeds[k].count > 0)
      return library_fail(s, SDRS_USAGE, "'values' of seed %d must not be NULL", k);
  LossSeeds seeds = loss_seeds_create(&s->state->ran.model, s->state->recording.steps);
  for (int k = 0; status == SDRS_OK && k < request->count; k++)
    status = add_seed_of_array(s, request->seeds, k, &seeds);
  if (status == SDRS_OK) status = run_adjoint_of_seeds(s, &seeds);
  loss_seeds_destroy(&seeds);
  return status;
}

sdrs_status sdrs_gradient(sdrs* s, const sdrs_seed* seeds, int count) {
  Request request = {seeds, count};
  return library_call(s, gradient, &request);
}

typedef struct {
  sdrs* const* objects;
  const sdrs_seed* seeds;
  int count;
} GradientAll;

/* Offsets are computed in bytes, because the elements of the array may be longer than this library's struct. */
static sdrs_status gradient_one(const void* context, int index) {
  const GradientAll* all = context;
  const char* seeds = (const char*)all->seeds;
  if (all->count > 0) seeds += (size_t)index * (size_t)all->count * all->seeds->size;
  return sdrs_gradient(all->objects[index], (const sdrs_seed*)(const void*)seeds, all->count);
}

sdrs_status sdrs_gradient_all(sdrs* const* objects, int count, const sdrs_seed* seeds, int seed_count, int threads) {
  if (threads < 0 || count < 0 || seed_count < 0) return SDRS_USAGE;
  if (count > 0 && (!objects || (seed_count > 0 && !seeds))) return SDRS_USAGE;
  const GradientAll all = {objects, seeds, seed_count};
  return library_parallel_for(count, threads, gradient_one, &all);
}

/* ---------------------------------------------------------------- losses */

static sdrs_status task_loss(sdrs* s, void* arguments) {
  double* value = arguments;
  LibraryState* state = s->state;
  sdrs_status status = check_record(s);
  if (status != SDRS_OK) return status;
  if (!s->shared->loss) return library_fail(s, SDRS_USAGE, "a scene has no loss: load a task, or give a callback");
  LossSeeds seeds = loss_seeds_create(&state->ran.model, state->recording.steps);
  loss_record_pair_forces(s->shared->loss, state->recording.steps, NULL, &seeds);
  *value = loss_evaluate(s->shared->loss, &state->recording, NULL, &seeds);
  if (isfinite(*value))
    status = run_adjoint_of_seeds(s, &seeds);
  else
    status = library_fail(
        s, SDRS_USAGE,
        "the loss has no finite value after %d steps: run as many steps as the loss needs; if there are enough, "
        "states are not finite: reduce simulation.dt",
        state->recording.steps);
  loss_seeds_destroy(&seeds);
  return status;
}

static sdrs_status store_seed(sdrs* s, void* arguments) {
  LibraryState* state = s->state;
  if (!state->in_loss_callback)
    return library_fail(s, SDRS_USAGE,
                        "seeds can be added only during a callback of sdrs_loss: call sdrs_add_seed in the callback");
  size_t size = sizeof(sdrs_seed) * (size_t)state->seed_count;
  state->seeds = memory_resize(state->seeds, size, size + sizeof(sdrs_seed));
  state->seeds[state->seed_count++] = *(const sdrs_seed*)arguments;
  return SDRS_OK;
}

sdrs_status sdrs_add_seed(sdrs* s, const sdrs_seed* seed) {
  sdrs_seed known;
  if (!library_copy_argument(&known, sizeof(known), seed)) return library_wrong_size(s, "sdrs_seed");
  known.size = sizeof(known);
  return library_call(s, store_seed, &known);
}

static sdrs_status begin_callback(sdrs* s, void* arguments) {
  (void)arguments;
  s->state->seed_count = 0;
  sdrs_status status = check_record(s);
  s->state->in_loss_callback = status == SDRS_OK;
  return status;
}

static sdrs_status end_callback(sdrs* s, void* arguments) {
  int failed = *(const int*)arguments;
  s->state->in_loss_callback = false;
  if (failed != 0)
    return library_fail(s, SDRS_BAD_INPUT, "the callback of sdrs_loss returned the error %d: it must return 0", failed);
  Request request = {s->state->seeds, s->state->seed_count};
  return gradient(s, &request);
}

/* The callback runs between two library calls and may therefore call functions on this object. */
sdrs_status sdrs_loss(sdrs* s, sdrs_loss_callback callback, void* context, double* value) {
  if (!value) return library_report_null(s, "value");
  *value = NAN;
  if (!callback) return library_call(s, task_loss, value);
  sdrs_status status = library_call(s, begin_callback, NULL);
  if (status != SDRS_OK) return status;
  int failed = callback(context, s, value);
  return library_call(s, end_callback, &failed);
}

/* ---------------------------------------------------------------- results */

typedef struct {
  sdrs_block block;
  sdrs_array* out;
} GradientRequest;

static sdrs_array make_array(const double* data, size_t rows, size_t columns) {
  return (sdrs_array){sizeof(sdrs_array), data, rows, columns, columns};
}

/* Sets *out to the derivatives of the loss with respect to the controller inputs (steps x inputs). Returns SDRS_USAGE
 * if the run followed the scene's signals. */
static sdrs_status input_gradient(sdrs* s, sdrs_array* out) {
  const DrivenModel* d = &s->state->ran;
  size_t inputs = (size_t)s->shared->inputs, rows = (size_t)s->state->recording.steps;
  if (inputs > 0 && !d->driven)
    return library_fail(s, SDRS_USAGE,
                        "the run follows the scene's own signals, so there is no gradient with respect to 'input': "
                        "set 'input' before the run, or ask for 'control'");
  double* slope = library_buffer(s, BUFFER_GRADIENT, SDRS_INPUT, inputs * rows);
  if (d->driven) driven_model_input_derivatives(d, (int)rows, s->state->gradient.control, slope);
  *out = make_array(slope, rows, inputs);
  return SDRS_OK;
}

static sdrs_status design_gradient(sdrs* s, sdrs_array* out) {
  size_t count = (size_t)library_design_count(s);
  if (!s->shared->is_task) return library_fail(s, SDRS_USAGE, "a scene has no design: load a task");
  bool control = false;
  for (size_t k = 0; k < count; k++) control |= optimization_variable(s->shared->optimization, (int)k).is_control;
  if (s->state->ran.driven && control)
    return library_fail(
        s, SDRS_USAGE,
        "the design varies controllers, but 'input' replaced their signals in the run: run without 'input'");
  double* slope = library_buffer(s, BUFFER_GRADIENT, SDRS_DESIGN, count);
  optimization_add_gradient(s->shared->optimization, s->shared->scenario, &s->state->ran.model, &s->state->gradient,
                            slope);
  *out = make_array(slope, 1, count);
  return SDRS_OK;
}

/* Returns the derivatives of the loss with respect to the parameters of the controllers' signals. The derivatives are
 * zero if the controllers followed inputs given by sdrs_set. */
static sdrs_array control_gradient(sdrs* s) {
  size_t count = (size_t)s->shared->model.parameter_count;
  if (!s->state->ran.driven) return make_array(s->state->gradient.control, 1, count);
  return make_array(library_buffer(s, BUFFER_GRADIENT, SDRS_CONTROL, count), 1, count);
}

/* Returns the derivatives of the loss with respect to material values. ModelGradient stores those of the friction,
 * barrier distance and stiffness of `contact` with the contact parameters. */
static sdrs_array material_gradient(sdrs* s) {
  const ModelGradient* g = &s->state->gradient;
  const Model* m = &s->shared->model;
  size_t rows = 1 + (size_t)m->link_count + (size_t)m->scene->contact.pair_count;
  double* slope = library_buffer(s, BUFFER_GRADIENT, SDRS_MATERIAL, rows * MATERIAL_COUNT);
  for (size_t row = 0; row < rows; row++)
    memcpy(slope + row * MATERIAL_COUNT, g->material[row], sizeof(double) * MATERIAL_COUNT);
  slope[MATERIAL_FRICTION] += g->contact[CONTACT_FRICTION];
  slope[MATERIAL_SUPPORT] += g->contact[CONTACT_SUPPORT];
  slope[MATERIAL_STIFFNESS] += g->contact[CONTACT_STIFFNESS];
  return make_array(slope, rows, MATERIAL_COUNT);
}

/* Converts derivatives of the loss with respect to the links' mass moments to derivatives with respect to shapes and
 * masses. Called only for blocks that need these derivatives, because the conversion takes as long as twenty steps of a
 * robot. */
static void convert_moments(LibraryState* state) {
  if (!state->has_moments) return;
  model_gradient_masses(&state->ran.model, &state->gradient);
  model_gradient_shapes(&state->ran.model, &state->gradient);
  state->has_moments = false;
}

static sdrs_status show_gradient(sdrs* s, void* arguments) {
  const GradientRequest* show = arguments;
  const ModelGradient* g = &s->state->gradient;
  const Model* m = &s->shared->model;
  size_t links = (size_t)m->link_count, nv = (size_t)m->dof_count;
  if (!s->state->has_gradient) return library_fail(s, SDRS_USAGE, "there is no gradient: call sdrs_gradient first");
  if (show->block == SDRS_DESIGN || show->block == SDRS_VERTICES || show->block == SDRS_MASS) convert_moments(s->state);
  switch (show->block) {
    case SDRS_COORDINATES:
      *show->out = make_array(g->coordinates, 1, nv);
      return SDRS_OK;
    case SDRS_VELOCITIES:
      *show->out = make_array(g->velocities, 1, nv);
      return SDRS_OK;
    case SDRS_INPUT:
      return input_gradient(s, show->out);
    case SDRS_DESIGN:
      return design_gradient(s, show->out);
    case SDRS_CONTROL:
      *show->out = control_gradient(s);
      return SDRS_OK;
    case SDRS_VERTICES:
      *show->out = make_array((const double*)g->vertices, (size_t)m->vertex_count, 3);
      return SDRS_OK;
    case SDRS_ATTACHMENTS:
      *show->out = make_array((const double*)g->attachments, links, 3);
      return SDRS_OK;
    case SDRS_MASS:
      *show->out = make_array(g->mass, 1, links);
      return SDRS_OK;
    case SDRS_CONTACT:
      *show->out = make_array(g->contact, 1, CONTACT_PARAMETER_COUNT);
      return SDRS_OK;
    case SDRS_MATERIAL:
      *show->out = material_gradient(s);
      return SDRS_OK;
    default:
      break;
  }
  const char* name = sdrs_block_name(show->block);
  return library_fail(s, SDRS_USAGE, "there is no gradient with respect to '%s'", name ? name : "no such block");
}

sdrs_status sdrs_gradient_view(sdrs* s, sdrs_block block, sdrs_array* out) {
  if (!out) return library_report_null(s, "out");
  sdrs_array found = {0};
  if (!library_copy_result(out, &found, sizeof(found))) return library_wrong_size(s, "sdrs_array");
  GradientRequest show = {block, &found};
  sdrs_status status = library_call(s, show_gradient, &show);
  if (status == SDRS_OK) (void)library_copy_result(out, &found, sizeof(found));
  return status;
}
