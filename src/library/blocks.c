/* Names and sizes of blocks, and the values of blocks in the present state. */
#include <string.h>

#include "library/library.h"
#include "scene/schema.h"

static const char* const NAMES[LIBRARY_BLOCK_COUNT] = {
    [SDRS_TIME] = "time",
    [SDRS_COORDINATES] = "coordinates",
    [SDRS_VELOCITIES] = "velocities",
    [SDRS_INPUT] = "input",
    [SDRS_POSITION] = "position",
    [SDRS_ORIENTATION] = "orientation",
    [SDRS_CENTER] = "center",
    [SDRS_FORCE] = "force",
    [SDRS_CONTACTS] = "contacts",
    [SDRS_DESIGN] = "design",
    [SDRS_CONTROL] = "control",
    [SDRS_VERTICES] = "vertices",
    [SDRS_MASS] = "mass",
    [SDRS_CONTACT] = "contact",
    [SDRS_ATTACHMENTS] = "attachments",
    [SDRS_REACTIONS] = "reactions",
    [SDRS_IMU] = "imu",
    [SDRS_MATERIAL] = "material",
    [SDRS_RANGE] = "range",
};

const char* sdrs_block_name(sdrs_block block) { return (unsigned)block < LIBRARY_BLOCK_COUNT ? NAMES[block] : NULL; }

int sdrs_block_count(void) { return LIBRARY_BLOCK_COUNT; }

sdrs_block sdrs_block_find(const char* name) {
  for (int b = 0; name && b < LIBRARY_BLOCK_COUNT; b++)
    if (strcmp(NAMES[b], name) == 0) return (sdrs_block)b;
  return SDRS_NO_BLOCK;
}

int library_design_count(const sdrs* s) {
  return s->shared->is_task ? optimization_variable_count(s->shared->optimization) : 0;
}

static sdrs_info describe_object(const sdrs* s) {
  const Shared* shared = s->shared;
  const Model* m = &shared->model;
  return (sdrs_info){
      .name = shared->is_task ? shared->task.name : shared->own_scene.name,
      .dt = m->simulation.dt,
      .steps = m->simulation.steps,
      .links = m->link_count,
      .coordinates = m->coordinate_count,
      .velocities = m->dof_count,
      .inputs = shared->inputs,
      .parameters = m->parameter_count,
      .vertices = m->vertex_count,
      .design = library_design_count(s),
  };
}

sdrs_status sdrs_describe(const sdrs* s, sdrs_info* out) {
  bool loaded = s && s->shared;
  sdrs_info info = loaded ? describe_object(s) : (sdrs_info){.name = ""};
  return library_copy_result(out, &info, sizeof(info)) && loaded ? SDRS_OK : SDRS_USAGE;
}

const char* sdrs_link_name(const sdrs* s, int link) {
  if (!s || !s->shared || link < 0 || link >= s->shared->model.link_count) return NULL;
  return s->shared->model.links[link].name;
}

int sdrs_link_find(const sdrs* s, const char* name) {
  for (int i = 0; s && s->shared && name && i < s->shared->model.link_count; i++)
    if (strcmp(s->shared->model.links[i].name, name) == 0) return i;
  return -1;
}

/* ---------------------------------------------------------------- names of entries */

/* Sets names (nq) to `link/coordinate`, the names of columns in joints.csv. The caller frees each name with
 * memory_free. */
static void name_coordinates(const Model* m, char** names) {
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < m->links[i].coordinate_count; k++) {
      Text text = {0};
      text_add(&text, "%s/%s", m->links[i].name, scene_joint_coordinate_name(&m->scene->links[i].joint, k));
      names[m->links[i].coordinate_first + k] = text.data;
    }
}

static void name_numbered(const char* link, int first, int count, char** names) {
  for (int k = 0; k < count; k++) {
    Text text = {0};
    text_add(&text, "%s/%d", link, k);
    names[first + k] = text.data;
  }
}

static void name_input(const Model* m, char** names) {
  for (int c = 0, first = 0; c < m->controller_count; c++) {
    int channels = m->controllers[c].target.source->channels;
    name_numbered(m->links[m->controllers[c].link].name, first, channels, names);
    first += channels;
  }
}

/* Sets names from `first` on to the names of the parameters of a signal: `owner/values/3`, `owner/amplitude/0`. The
 * prefix stands before the kind: `owner/controller2_values/3`. */
static void name_signal(const char* owner, const char* prefix, const Signal* signal, int first, char** names) {
  static const char* const kinds[] = {"values", "amplitude", "frequency", "phase"};
  if (!signal->source || signal->source->channels == 0) return;
  int values = signal_value_count(signal->source), terms = signal_sine_count(signal->source);
  for (int k = 0; k < values + 3 * terms; k++) {
    Text text = {0};
    int kind = k < values ? 0 : 1 + (k - values) / terms;
    text_add(&text, "%s/%s%s/%d", owner, prefix, kinds[kind], k < values ? k : (k - values) % terms);
    names[first + k] = text.data;
  }
}

/* Sets names to the names of the parameters of all signals: those of controllers as in designs, and
 * `link/force_values/0` for loads, `tendon2/tension_values/0` for tendons. The second controller or load of a link has
 * the prefix `controller2_` or `load2_`. */
static void name_control(const Model* m, char** names) {
  int first = 0;
  for (int c = 0; c < m->controller_count; c++) {
    Text prefix = {0};
    int ordinal = 1;
    for (int before = 0; before < c; before++) ordinal += m->controllers[before].link == m->controllers[c].link;
    if (ordinal > 1) text_add(&prefix, "controller%d_", ordinal);
    const Signal* signal = &m->controllers[c].target;
    name_signal(m->links[m->controllers[c].link].name, prefix.data ? prefix.data : "", signal, first, names);
    first += signal_value_count(signal->source) + 3 * signal_sine_count(signal->source);
    text_free(&prefix);
  }
  for (int k = 0; k < m->load_count; k++) {
    const ModelLoad* load = &m->loads[k];
    int ordinal = 1;
    for (int before = 0; before < k; before++) ordinal += m->loads[before].link == load->link;
    for (int of = 0; of < 2; of++) {
      Text prefix = {0};
      if (ordinal > 1) text_add(&prefix, "load%d_", ordinal);
      text_add(&prefix, "%s_", of == 0 ? "force" : "torque");
      name_signal(m->links[load->link].name, prefix.data, of == 0 ? &load->force : &load->torque,
                  of == 0 ? load->force_first : load->torque_first, names);
      text_free(&prefix);
    }
  }
  for (int k = 0; k < m->tendon_count; k++) {
    Text owner = {0};
    text_add(&owner, "tendon%d", k + 1);
    name_signal(owner.data, "tension_", &m->tendons[k].tension, m->tendons[k].tension_first, names);
    text_free(&owner);
  }
}

/* Sets names (CONTACT_PARAMETER_COUNT) to keys of `contact` in a scene. Parameters that the contact law does not use
 * are named `unused/index`. */
static void name_contact(const Model* m, char** names) {
  static const char* const common[CONTACT_OWN] = {"barrier_distance", "stiffness", "friction", "smoothing",
                                                  "rest_speed"};
  for (int k = 0; k < CONTACT_OWN; k++) names[k] = memory_copy_text(common[k]);
  const SchemaRow* row;
  for (int i = 0; (row = contact_schema_row(i)); i++) {
    int parameter = contact_row_law_parameter(row);
    if (parameter >= 0 && schema_row_allows_type(row, contact_model_name(m->contact_model)) &&
        !names[CONTACT_OWN + parameter])
      names[CONTACT_OWN + parameter] = memory_copy_text(row->key);
  }
  for (int k = CONTACT_OWN; k < CONTACT_PARAMETER_COUNT; k++) {
    Text text = {0};
    if (!names[k]) text_add(&text, "unused/%d", k);
    if (!names[k]) names[k] = text.data;
  }
}

static int entry_count(const sdrs* s, sdrs_block block) {
  if (!s) return 0;
  sdrs_info info = describe_object(s);
  return block == SDRS_COORDINATES  ? info.coordinates
         : block == SDRS_VELOCITIES ? info.velocities
         : block == SDRS_INPUT      ? info.inputs
         : block == SDRS_DESIGN     ? info.design
         : block == SDRS_CONTROL    ? info.parameters
         : block == SDRS_MASS       ? info.links
         : block == SDRS_CONTACT    ? (s->shared ? CONTACT_PARAMETER_COUNT : 0)
         : block == SDRS_MATERIAL   ? (s->shared ? MATERIAL_COUNT : 0)
                                    : 0;
}

typedef struct {
  sdrs_block block;
  int count;
} NameRequest;

static sdrs_status create_names(sdrs* s, void* arguments) {
  const NameRequest* naming = arguments;
  const Model* m = &s->shared->model;
  char** names = s->state->names[naming->block] = MEMORY_NEW(char*, naming->count + 1);
  if (naming->block == SDRS_COORDINATES) name_coordinates(m, names);
  if (naming->block == SDRS_INPUT) name_input(m, names);
  if (naming->block == SDRS_CONTROL) name_control(m, names);
  if (naming->block == SDRS_CONTACT) name_contact(m, names);
  for (int k = 0; naming->block == SDRS_MATERIAL && k < naming->count; k++)
    names[k] = memory_copy_text(material_value_key(k));
  for (int i = 0; naming->block == SDRS_MASS && i < m->link_count; i++) names[i] = memory_copy_text(m->links[i].name);
  for (int i = 0; naming->block == SDRS_VELOCITIES && i < m->link_count; i++)
    name_numbered(m->links[i].name, m->links[i].dof_first, m->links[i].dof_count, names);
  for (int k = 0; naming->block == SDRS_DESIGN && k < naming->count; k++)
    names[k] = memory_copy_text(optimization_variable(s->shared->optimization, k).name);
  return SDRS_OK;
}

const char* sdrs_entry_name(sdrs* s, sdrs_block block, int index) {
  NameRequest naming = {block, entry_count(s, block)};
  if (index < 0 || index >= naming.count) return NULL;
  bool known = s->state && s->state->names[block];
  if (!known && library_call(s, create_names, &naming) != SDRS_OK) return NULL;
  return s->state->names[block][index];
}

/* ---------------------------------------------------------------- the present state */

sdrs_status library_create_sim(sdrs* s) {
  LibraryState* state = s->state;
  if (state->sim) return SDRS_OK;
  SimOptions options = {.threads = s->shared->threads};
  Status status = sim_create(&state->sim, &state->live.model, &options, &state->diagnostics);
  return status == STATUS_OK ? SDRS_OK : library_fail_diagnosed(s, status);
}

typedef struct {
  sdrs_block block;
  int link;
  sdrs_array* out;
} BlockView;

static sdrs_array make_array(const double* data, size_t rows, size_t columns, size_t stride) {
  return (sdrs_array){sizeof(sdrs_array), data, rows, columns, stride};
}

/* Returns a view of data with one row per link, or of the row of one link if link >= 0. stride: distance between rows.
 */
static sdrs_array make_link_array(const Model* m, int link, const double* data, size_t columns, size_t stride) {
  if (link < 0) return make_array(data, (size_t)m->link_count, columns, stride);
  return make_array(data + (size_t)link * stride, 1, columns, stride);
}

static sdrs_array view_orientation(sdrs* s, const SimState* state, int link) {
  const Model* m = &s->shared->model;
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_ORIENTATION, 4 * (size_t)m->link_count);
  for (int i = 0; i < m->link_count; i++) {
    Quat q = quat_from_mat3(state->pose[i].r);
    memcpy(out + 4 * (size_t)i, (const double[]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
  }
  return make_link_array(m, link, out, 4, 4);
}

static sdrs_array view_force(sdrs* s, int link) {
  const Model* m = &s->shared->model;
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_FORCE, 3 * (size_t)m->link_count);
  sim_link_forces(s->state->sim, (Vec3*)out);
  return make_link_array(m, link, out, 3, 3);
}

static sdrs_array view_range(sdrs* s, const SimState* state, int link) {
  const Model* m = &s->state->live.model;
  const Observation in = {.model = m, .pose = {NULL, state->pose, NULL}};
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_RANGE, OBSERVABLE_COLUMNS * (size_t)m->link_count);
  for (int i = 0; i < m->link_count; i++) observable_at(OBSERVABLE_RANGE)->value(&in, i, out + OBSERVABLE_COLUMNS * i);
  return make_link_array(m, link, out, OBSERVABLE_COLUMNS, OBSERVABLE_COLUMNS);
}

ObservableKind library_observable_kind(sdrs_block block) {
  switch (block) {
    case SDRS_REACTIONS:
      return OBSERVABLE_REACTIONS;
    case SDRS_IMU:
      return OBSERVABLE_IMU;
    case SDRS_RANGE:
      return OBSERVABLE_RANGE;
    default:
      return OBSERVABLES;
  }
}

sdrs_status library_has_observable(sdrs* s, sdrs_block block, const Model* model) {
  const Observable* o = observable_at((int)library_observable_kind(block));
  if (block != SDRS_REACTIONS || (model->simulation.output & o->output)) return SDRS_OK;
  return library_fail(s, SDRS_USAGE, "the scene does not ask for %s: set simulation.output to [%s]", o->word, o->word);
}

static sdrs_array view_contacts(sdrs* s) {
  int count;
  const SimContact* contacts = sim_contacts(s->state->sim, &count);
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_CONTACTS, 6 * (size_t)count);
  for (int k = 0; k < count; k++) {
    const SimContact* c = &contacts[k];
    const double row[] = {c->a, c->b, c->gap, c->force.x, c->force.y, c->force.z};
    memcpy(out + 6 * (size_t)k, row, sizeof(row));
  }
  return make_array(out, (size_t)count, 6, 6);
}

/* Returns the targets of the controllers at the present time. */
static sdrs_array view_input(sdrs* s, const SimState* state) {
  const Model* m = &s->state->live.model;
  size_t count = (size_t)s->shared->inputs;
  double *out = library_buffer(s, BUFFER_VIEW, SDRS_INPUT, count), *next = out, rate[JOINT_MAX_DOF];
  for (int c = 0; c < m->controller_count; c++) {
    signal_eval(&m->controllers[c].target, state->time, next, rate);
    next += m->controllers[c].target.source->channels;
  }
  return make_array(out, 1, count, count);
}

/* ---------------------------------------------------------------- numbers of the scene */

static sdrs_array view_vertices(sdrs* s) {
  const Model* m = &s->shared->model;
  size_t count = (size_t)m->vertex_count;
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_VERTICES, 3 * count);
  for (int h = 0; h < m->hull_count; h++) {
    const ModelHull* hull = &m->hulls[h];
    for (int k = 0; k < hull->points.count; k++) {
      const double row[] = {hull->points.x[k], hull->points.y[k], hull->points.z[k]};
      memcpy(out + 3 * (size_t)(hull->vertex_first + k), row, sizeof(row));
    }
  }
  return make_array(out, count, 3, 3);
}

static sdrs_array view_attachments(sdrs* s) {
  const Model* m = &s->shared->model;
  size_t count = (size_t)m->link_count;
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_ATTACHMENTS, 3 * count);
  for (size_t i = 0; i < count; i++) {
    Vec3 t = m->links[i].origin.t;
    memcpy(out + 3 * i, (const double[]){t.x, t.y, t.z}, 3 * sizeof(double));
  }
  return make_array(out, count, 3, 3);
}

static sdrs_array view_mass(sdrs* s) {
  const Model* m = &s->shared->model;
  size_t count = (size_t)m->link_count;
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_MASS, count);
  for (size_t i = 0; i < count; i++) out[i] = m->links[i].mass;
  return make_array(out, 1, count, count);
}

static sdrs_array view_contact(sdrs* s) {
  const ModelContact* c = &s->shared->model.contact;
  double values[CONTACT_PARAMETER_COUNT] = {c->support, c->stiffness, c->friction, c->smoothing, c->rest_speed};
  memcpy(values + CONTACT_OWN, c->law_parameters, sizeof(c->law_parameters));
  double* out = library_buffer(s, BUFFER_VIEW, SDRS_CONTACT, CONTACT_PARAMETER_COUNT);
  memcpy(out, values, sizeof(values));
  return make_array(out, 1, CONTACT_PARAMETER_COUNT, CONTACT_PARAMETER_COUNT);
}

static sdrs_array view_material(sdrs* s) {
  const Model* m = &s->shared->model;
  int links = m->link_count, rows = 1 + links + m->scene->contact.pair_count;
  double *out = library_buffer(s, BUFFER_VIEW, SDRS_MATERIAL, (size_t)rows * MATERIAL_COUNT), *next = out;
  for (int row = 0; row < rows; row++) {
    int link = row <= links ? row - 1 : -1, item = row - 1 - links;
    for (int k = 0; k < MATERIAL_COUNT; k++) *next++ = model_given_material(m, link, item, k);
  }
  return make_array(out, (size_t)rows, MATERIAL_COUNT, MATERIAL_COUNT);
}

/* Returns the parameters of the controllers' signals, in the order of their derivatives (signal_eval_vjp). */
static sdrs_array view_control(sdrs* s) {
  const Model* m = &s->shared->model;
  size_t count = (size_t)m->parameter_count;
  double *out = library_buffer(s, BUFFER_VIEW, SDRS_CONTROL, count), *next = out;
  for (int c = 0; c < m->controller_count; c++) {
    const SceneSignal* signal = m->controllers[c].target.source;
    size_t terms = (size_t)(signal->type == SIGNAL_SINES ? signal->channels * signal->terms : 0);
    size_t values = (size_t)signal_parameter_count(&m->controllers[c].target) - 3 * terms;
    const double* parts[] = {signal->values, signal->amplitude, signal->frequency, signal->phase};
    for (int part = 0; part < 4; part++) {
      size_t length = part == 0 ? values : terms;
      if (length > 0) memcpy(next, parts[part], sizeof(double) * length);
      next += length;
    }
  }
  return make_array(out, 1, count, count);
}

static sdrs_status view(sdrs* s, void* arguments) {
  const BlockView* v = arguments;
  const Model* m = &s->shared->model;
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  if (v->link < -1 || v->link >= m->link_count)
    return library_fail(s, SDRS_USAGE, "there is no link %d: give 0 to %d, or -1 for all links", v->link,
                        m->link_count - 1);
  sdrs_status status = library_create_sim(s);
  if (status != SDRS_OK) return status;
  const SimState* state = sim_state(s->state->sim);
  switch (v->block) {
    case SDRS_TIME:
      *v->out = make_array(&state->time, 1, 1, 1);
      return SDRS_OK;
    case SDRS_COORDINATES:
      *v->out = make_array(state->q, 1, nq, nq);
      return SDRS_OK;
    case SDRS_VELOCITIES:
      *v->out = make_array(state->rate, 1, nv, nv);
      return SDRS_OK;
    case SDRS_INPUT:
      *v->out = view_input(s, state);
      return SDRS_OK;
    case SDRS_POSITION:
      *v->out = make_link_array(m, v->link, &state->pose->t.x, 3, sizeof(Pose) / sizeof(double));
      return SDRS_OK;
    case SDRS_ORIENTATION:
      *v->out = view_orientation(s, state, v->link);
      return SDRS_OK;
    case SDRS_CENTER:
      *v->out = make_link_array(m, v->link, &state->center->x, 3, 3);
      return SDRS_OK;
    case SDRS_FORCE:
      *v->out = view_force(s, v->link);
      return SDRS_OK;
    case SDRS_CONTACTS:
      *v->out = view_contacts(s);
      return SDRS_OK;
    case SDRS_DESIGN:
      nv = (size_t)library_design_count(s);
      *v->out = make_array(s->shared->design, 1, nv, nv);
      return SDRS_OK;
    case SDRS_CONTROL:
      *v->out = view_control(s);
      return SDRS_OK;
    case SDRS_VERTICES:
      *v->out = view_vertices(s);
      return SDRS_OK;
    case SDRS_ATTACHMENTS:
      *v->out = view_attachments(s);
      return SDRS_OK;
    case SDRS_MASS:
      *v->out = view_mass(s);
      return SDRS_OK;
    case SDRS_CONTACT:
      *v->out = view_contact(s);
      return SDRS_OK;
    case SDRS_REACTIONS:
      status = library_has_observable(s, v->block, &s->state->live.model);
      if (status == SDRS_OK) *v->out = make_link_array(m, v->link, sim_reactions(s->state->sim)[0], 6, 6);
      return status;
    case SDRS_IMU:
      return library_fail(s, SDRS_USAGE, "'imu' needs the states before and after a step: read it from a recorded run");
    case SDRS_MATERIAL:
      *v->out = view_material(s);
      return SDRS_OK;
    case SDRS_RANGE:
      *v->out = view_range(s, state, v->link);
      return SDRS_OK;
    case SDRS_NO_BLOCK:
      break;
  }
  return library_fail(s, SDRS_USAGE, "no such block: give a value of sdrs_block");
}

sdrs_status sdrs_view(sdrs* s, sdrs_block block, int link, sdrs_array* out) {
  if (!out) return library_report_null(s, "out");
  sdrs_array found = {0};
  if (!library_copy_result(out, &found, sizeof(found))) return library_wrong_size(s, "sdrs_array");
  BlockView arguments = {block, link, &found};
  sdrs_status status = library_call(s, view, &arguments);
  if (status == SDRS_OK) (void)library_copy_result(out, &found, sizeof(found));
  return status;
}
