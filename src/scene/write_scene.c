/* Writes a scene as YAML. Repeats are written as separate items. Values that the reader derived (steps, limit margins,
 * knots) are written as numbers. */
#include <assert.h>
#include <stdlib.h>

#include "scene/forms.h"
#include "scene/task.h"
#include "scene/write_scene.h"

/* ---------------------------------------------------------------- simulation, contact */

/* Writes the duration of the run [s] instead of the number of steps, so that a change of dt keeps the duration. Uses
 * few digits if they give the same number of steps. */
static void write_duration(Text* out, const SceneSimulation* simulation) {
  double duration = simulation->steps * simulation->dt;
  char few[32];
  snprintf(few, sizeof few, "%.12g", duration);
  double rounded = strtod(few, NULL);
  write_number(out, round(rounded / simulation->dt) == simulation->steps ? rounded : duration);
}

static void write_simulation(const SceneWriter* writer) {
  const SceneSimulation* simulation = &writer->scene->simulation;
  SchemaValues values = SCHEMA_VALUES("simulation", SimulationForm, simulation, simulation);
  Text* out = writer->out;
  values.defaults = true; /* a later version may have other defaults */
  text_add(out, "simulation: {duration: ");
  write_duration(out, simulation);
  schema_write(out, NULL, &values);
  if (writer->scene->keep_state_count > 0)
    write_key_numbers(out, "keep_states", writer->scene->keep_states, writer->scene->keep_state_count);
  text_add(out, "}\n");
}

static void write_fluid(const SceneWriter* writer) {
  const SceneFluid* fluid = &writer->scene->fluid;
  if (!fluid->given) return;
  text_add(writer->out, "fluid: {");
  schema_write(writer->out, NULL, &(SchemaValues)SCHEMA_VALUES("fluid", FluidForm, fluid, fluid));
  if (fluid->has_level) write_key_number(writer->out, "level", fluid->level);
  text_add(writer->out, "}\n");
}

static void write_start(const SceneWriter* writer) {
  const SceneStart* start = &writer->scene->start;
  if (!start->run) return;
  char* run = file_relative_path(writer->folder, start->run);
  text_add(writer->out, "start: {run: ");
  write_text(writer->out, run);
  write_key_number(writer->out, "time", start->time);
  text_add(writer->out, "}\n");
  memory_free(run);
}

/* Writes a parameter of the contact law if it is given and differs from the default. Friction is always written. */
static void write_parameter(Text* out, const SceneContact* contact, const SchemaRow* row) {
  const char* place = (const char*)contact + row->offset - offsetof(ContactForm, contact);
  schema_write_row(out, "  ", row, place, strcmp(row->key, "friction") == 0);
}

void write_material(Text* out, const SceneMaterial* material, const char* before, const char* after) {
  assert(material);
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    if (!material->given[k] || k == MATERIAL_FRICTION_ALONG) continue;
    text_add(out, "%s%s: ", before, material_value_key(k));
    if (k == MATERIAL_FRICTION && material->given[MATERIAL_FRICTION_ALONG]) {
      const double both[] = {material->value[MATERIAL_FRICTION_ALONG], material->value[MATERIAL_FRICTION]};
      write_numbers(out, both, 2);
      text_add(out, "%s%sfriction_axis: ", after, before);
      write_numbers(out, &material->axis.x, 3);
    } else
      write_number(out, material->value[k]);
    text_add(out, "%s", after);
  }
}

/* Writes the given parameters of the contact law of a pair. */
static void write_pair_law_parameters(Text* out, const ScenePair* pair) {
  const SchemaRow* row;
  for (int i = 1; pair->has_model && (row = contact_schema_row(i)); i++) {
    int parameter = contact_row_law_parameter(row);
    if (parameter < 0 || !pair->law_parameter_given[parameter] ||
        !schema_row_allows_type(row, contact_model_name(pair->model)))
      continue;
    write_key_number(out, row->key, pair->law_parameters[parameter]);
  }
  if (pair->hierarchy_given) text_add(out, ", hierarchy: %s", pair->hierarchy ? "true" : "false");
}

static void write_pairs(Text* out, const SceneContact* contact) {
  if (contact->pair_count > 0) text_add(out, "  pairs:\n");
  for (int i = 0; i < contact->pair_count; i++) {
    text_add(out, "    - {a: ");
    write_text(out, contact->pairs[i].name[0]);
    text_add(out, ", b: ");
    write_text(out, contact->pairs[i].name[1]);
    if (contact->pairs[i].has_model) text_add(out, ", model: %s", contact_model_name(contact->pairs[i].model));
    write_material(out, &contact->pairs[i].material, ", ", "");
    write_pair_law_parameters(out, &contact->pairs[i]);
    text_add(out, "}\n");
  }
}

static void write_contact(const SceneWriter* writer) {
  const SceneContact* contact = &writer->scene->contact;
  Text* out = writer->out;
  const char* model = contact_model_name(contact->model);
  text_add(out, "contact:\n  model: %s\n", model);
  const SchemaRow* row;
  for (int i = 1; (row = contact_schema_row(i)); i++)
    if (schema_row_allows_type(row, model) && strcmp(row->key, "friction") == 0) write_parameter(out, contact, row);
  if (contact->elastic) text_add(out, "  restitution: null\n");
  for (int i = 1; (row = contact_schema_row(i)); i++)
    if (schema_row_allows_type(row, model) && strcmp(row->key, "friction") != 0) write_parameter(out, contact, row);
  bool plane = contact->model == CONTACT_NONE || contact->model == CONTACT_SEPARATING_PLANE;
  if (plane && contact->friction_iterations >= 0)
    text_add(out, "  friction_iterations: %d\n", contact->friction_iterations);
  if (contact->exclude_count > 0) text_add(out, "  exclude:\n");
  for (int i = 0; i < contact->exclude_count; i++) {
    text_add(out, "    - [");
    write_text(out, contact->exclude[i][0]);
    text_add(out, ", ");
    write_text(out, contact->exclude[i][1]);
    text_add(out, "]\n");
  }
  write_pairs(out, contact);
}

/* ---------------------------------------------------------------- signals */

/* Writes the rows of a signal, each on its own line. */
static void write_rows(Text* out, const SceneSignal* signal) {
  text_add(out, ", values: [");
  for (int i = 0; i < signal->rows; i++) {
    text_add(out, "%s\n      ", i > 0 ? "," : "");
    write_numbers(out, signal->values + (size_t)i * (size_t)signal->channels, signal->channels);
  }
  text_add(out, "]");
}

static void write_sines(Text* out, const SceneSignal* signal) {
  write_key_numbers(out, "offset", signal->values, signal->channels);
  if (signal->ramp > 0) write_key_number(out, "ramp", signal->ramp);
  text_add(out, ", terms: [");
  for (int channel = 0; channel < signal->channels; channel++) {
    text_add(out, "%s\n      [", channel > 0 ? "," : "");
    for (int k = 0; k < signal->terms; k++) {
      int term = channel * signal->terms + k;
      text_add(out, "%s{amplitude: ", k > 0 ? ", " : "");
      write_number(out, signal->amplitude[term]);
      write_key_number(out, "frequency", signal->frequency[term]);
      write_key_number(out, "phase", signal->phase[term]);
      text_add(out, "}");
    }
    text_add(out, "]");
  }
  text_add(out, "]");
}

static void write_signal_value(Text* out, const SceneSignal* signal) {
  static const char* const TYPES[] = {"constant", "keyframes", "spline", "sines", "sequence", "held"};
  text_add(out, "{type: %s", TYPES[signal->type]);
  switch (signal->type) {
    case SIGNAL_CONSTANT:
      write_key_numbers(out, "value", signal->values, signal->channels);
      break;
    case SIGNAL_KEYFRAMES:
    case SIGNAL_SPLINE:
      write_key_numbers(out, "times", signal->times, signal->rows);
      write_rows(out, signal);
      break;
    case SIGNAL_SINES:
      write_sines(out, signal);
      break;
    case SIGNAL_SEQUENCE:
      write_key_number(out, "interval", signal->interval);
      write_rows(out, signal);
      break;
    case SIGNAL_ZERO_ORDER_HOLD: /* set by programs only, never read from a file */
      break;
  }
  text_add(out, "}");
}

static void write_signal(Text* out, const char* key, const SceneSignal* signal) {
  text_add(out, "    %s: ", key);
  write_signal_value(out, signal);
  text_add(out, "\n");
}

/* ---------------------------------------------------------------- controllers, initial state */

/* Writes a controller gain unless it is zero for all degrees of freedom. */
static void write_gain(Text* out, const char* key, const double* values, int dof) {
  assert(dof >= 0 && dof <= JOINT_MAX_DOF);
  if (all_zero(values, dof)) return;
  text_add(out, "    %s: ", key);
  write_numbers(out, values, dof);
  text_add(out, "\n");
}

static void write_network(Text* out, const SceneController* controller) {
  int count = controller_feedback_count(controller);
  text_add(out, "      type: mlp\n      layers: [");
  for (int k = 0; k < controller->hidden_count; k++) text_add(out, "%s%d", k ? ", " : "", controller->hidden[k]);
  text_add(out, "]\n      scale: ");
  write_number(out, controller->scale);
  text_add(out, "\n      weights: [");
  for (int k = 0; k < count; k++) {
    text_add(out, k ? ", " : "");
    write_number(out, controller->feedback[k]);
  }
  text_add(out, "]\n");
}

static void write_matrix(Text* out, const SceneController* controller, int dof) {
  int count = controller->measure_count;
  text_add(out, "      matrix: [");
  for (int row = 0; row < dof; row++) {
    text_add(out, row ? ", [" : "[");
    for (int k = 0; k < count; k++) {
      text_add(out, k ? ", " : "");
      write_number(out, controller->feedback[row * count + k]);
    }
    text_add(out, "]");
  }
  text_add(out, "]\n");
}

static void write_feedback(Text* out, const SceneController* controller, int dof) {
  text_add(out, "    feedback:\n      measures: [");
  for (int k = 0; k < controller->measure_count; k++) {
    text_add(out, k ? ", " : "");
    write_text(out, controller->measures[k].name);
  }
  text_add(out, "]\n");
  if (controller->feedback_type == FEEDBACK_MLP)
    write_network(out, controller);
  else
    write_matrix(out, controller, dof);
}

/* Force limit that is written for a degree of freedom without limit [N, N m], because a file gives limits for all
 * degrees of freedom or for none. */
#define NO_FORCE_LIMIT 1e12

static void write_force_limits(Text* out, const double* limits, int dof) {
  double written[JOINT_MAX_DOF];
  for (int k = 0; k < dof; k++) written[k] = limits[k];
  bool any = false;
  for (int k = 0; k < dof; k++) any = any || limits[k] > 0;
  for (int k = 0; k < dof && any; k++)
    if (!(limits[k] > 0)) written[k] = NO_FORCE_LIMIT;
  write_gain(out, "max_force", written, dof);
}

static void write_controller(const SceneWriter* writer, const SceneController* controller) {
  const SceneLink* link = &writer->scene->links[controller->link];
  int dof = scene_joint_dof(&link->joint);
  Text* out = writer->out;
  text_add(out, "  - link: ");
  write_text(out, link->name);
  text_add(out, "\n");
  schema_write(out, "    ", &(SchemaValues)SCHEMA_VALUES("controller", ControllerForm, controller, controller));
  if (controller->type == CONTROLLER_PD) {
    text_add(out, "    position_gain: ");
    write_numbers(out, controller->position_gain, dof);
    text_add(out, "\n    velocity_gain: ");
    write_numbers(out, controller->velocity_gain, dof);
    text_add(out, "\n");
  }
  write_gain(out, "damping_gain", controller->damping_gain, dof);
  write_force_limits(out, controller->max_force, dof);
  if (controller->measure_count > 0) write_feedback(out, controller, dof);
  write_signal(out, controller->target.integrated ? "velocity" : "target", &controller->target);
}

static void write_field(const SceneWriter* writer, const SceneLoad* load) {
  static const char* const TYPES[] = {"", "point", "dipole", "uniform"};
  Text* out = writer->out;
  const SceneField* field = &load->field;
  text_add(out, "    field:\n      type: %s\n", TYPES[field->type]);
  if (field->to >= 0) {
    text_add(out, "      to: ");
    write_text(out, writer->scene->links[field->to].name);
    text_add(out, "\n");
  }
  const struct {
    const char* key;
    bool given;
    Vec3 value;
  } vectors[] = {{"at", field->has_at, field->at},
                 {"axis", field->type != FIELD_POINT, field->axis},
                 {"moment", field->type == FIELD_DIPOLE, field->other},
                 {"flux_density", field->type == FIELD_UNIFORM, field->other}};
  for (int k = 0; k < 4; k++) {
    if (!vectors[k].given) continue;
    text_add(out, "      %s: ", vectors[k].key);
    write_numbers(out, (const double[3]){vectors[k].value.x, vectors[k].value.y, vectors[k].value.z}, 3);
    text_add(out, "\n");
  }
  if (field->type == FIELD_POINT)
    schema_write(out, "      ", &(SchemaValues)SCHEMA_VALUES("field", FieldForm, field, field));
  text_add(out, "  ");
  write_signal(out, "strength", &load->force);
}

static void write_load(const SceneWriter* writer, const SceneLoad* load) {
  Text* out = writer->out;
  text_add(out, "  - link: ");
  write_text(out, writer->scene->links[load->link].name);
  text_add(out, "\n");
  if (load->link_axes) text_add(out, "    axes: link\n");
  if (load->has_point) {
    text_add(out, "    point: ");
    write_numbers(out, (const double[3]){load->point.x, load->point.y, load->point.z}, 3);
    text_add(out, "\n");
  }
  if (load->field.type != FIELD_NONE) write_field(writer, load);
  if (load->field.type == FIELD_NONE && load->force.channels > 0) write_signal(out, "force", &load->force);
  if (load->torque.channels > 0) write_signal(out, "torque", &load->torque);
}

static void write_wrap(const SceneWriter* writer, const SceneTendonWrap* wrap) {
  Text* out = writer->out;
  text_add(out, "      - {link: ");
  write_text(out, wrap->link < 0 ? "world" : writer->scene->links[wrap->link].name);
  schema_write(out, NULL, &(SchemaValues)SCHEMA_VALUES("tendon_wrap", TendonWrapForm, wrap, wrap));
  if (wrap->has_side) write_key_vector(out, "side", wrap->side);
  text_add(out, ", after: %d}\n", wrap->after);
}

static void write_term(const SceneWriter* writer, const SceneCouplingTerm* term) {
  const SceneLink* link = &writer->scene->links[term->link];
  text_add(writer->out, "link: ");
  write_text(writer->out, link->name);
  write_key_text(writer->out, "coordinate", scene_joint_coordinate_name(&link->joint, term->coordinate));
}

/* Writes a number, or null if the number is infinite. */
static void write_number_or_null(Text* out, double value) {
  if (isfinite(value))
    write_number(out, value);
  else
    text_add(out, "null");
}

static void write_range(Text* out, const SceneTendon* tendon) {
  text_add(out, "    range: [");
  write_number_or_null(out, tendon->lower);
  text_add(out, ", ");
  write_number_or_null(out, tendon->upper);
  text_add(out, "]\n");
}

static void write_tendon_joints(const SceneWriter* writer, const SceneTendon* tendon) {
  text_add(writer->out, "  - joints:\n");
  for (int i = 0; i < tendon->joint_count; i++) {
    text_add(writer->out, "      - {");
    write_term(writer, &tendon->joints[i]);
    write_key_number(writer->out, "ratio", tendon->joints[i].ratio);
    text_add(writer->out, "}\n");
  }
}

static void write_tendon(const SceneWriter* writer, const SceneTendon* tendon) {
  Text* out = writer->out;
  if (tendon->joint_count > 0)
    write_tendon_joints(writer, tendon);
  else
    text_add(out, "  - points:\n");
  for (int i = 0; i < tendon->count; i++) {
    const SceneTendonPoint* p = &tendon->points[i];
    text_add(out, "      - {link: ");
    write_text(out, p->link < 0 ? "world" : writer->scene->links[p->link].name);
    write_key_vector(out, "point", p->point);
    text_add(out, "}\n");
  }
  if (tendon->wrap_count > 0) text_add(out, "    wrap:\n");
  for (int i = 0; i < tendon->wrap_count; i++) write_wrap(writer, &tendon->wraps[i]);
  schema_write(out, "    ", &(SchemaValues)SCHEMA_VALUES("tendon", TendonForm, tendon, tendon));
  if (tendon->stiffness > 0) {
    text_add(out, "    rest_length: ");
    write_number(out, tendon->rest_length);
    text_add(out, "\n");
  }
  if (tendon->count > 0) {
    text_add(out, "    eyelet: ");
    write_number(out, tendon->eyelet);
    text_add(out, "\n");
  }
  if (tendon->limited) write_range(out, tendon);
  if (tendon->tension.channels > 0) write_signal(out, "tension", &tendon->tension);
}

static void write_frame(Text* out, const char* key, const SceneBushing* bushing, int side) {
  assert(side == 0 || side == 1);
  double position[3], rotation[4];
  vec3_store(bushing->position[side], position);
  quat_store(bushing->rotation[side], rotation);
  text_add(out, "    %s: {position: ", key);
  write_numbers(out, position, 3);
  if (rotation[0] != 1 || rotation[1] != 0 || rotation[2] != 0 || rotation[3] != 0)
    write_key_numbers(out, "rotation", rotation, 4);
  text_add(out, "}\n");
}

/* Writes a 6x6 matrix. A diagonal matrix is written as its six diagonal elements. */
static void write_matrix6(Text* out, const char* key, const double (*matrix)[6]) {
  double diagonal[6];
  bool full = false;
  for (int k = 0; k < 36; k++) full = full || (k / 6 != k % 6 && matrix[k / 6][k % 6] != 0);
  for (int i = 0; i < 6; i++) diagonal[i] = matrix[i][i];
  text_add(out, "    %s: %s", key, full ? "[" : "");
  if (!full) write_numbers(out, diagonal, 6);
  for (int i = 0; full && i < 6; i++) {
    text_add(out, i > 0 ? ", " : "");
    write_numbers(out, matrix[i], 6);
  }
  text_add(out, full ? "]\n" : "\n");
}

static void write_bushing(const SceneWriter* writer, const SceneBushing* bushing) {
  Text* out = writer->out;
  text_add(out, "  - a: ");
  write_text(out, writer->scene->links[bushing->link[0]].name);
  text_add(out, "\n    b: ");
  write_text(out, bushing->link[1] < 0 ? "world" : writer->scene->links[bushing->link[1]].name);
  text_add(out, "\n");
  write_frame(out, "frame_a", bushing, 0);
  write_frame(out, "frame_b", bushing, 1);
  write_matrix6(out, "stiffness", bushing->stiffness);
  write_matrix6(out, "damping", bushing->damping);
  text_add(out, "    preload: ");
  write_numbers(out, bushing->preload, 6);
  text_add(out, "\n");
}

static void write_closure(const SceneWriter* writer, const SceneClosure* closure) {
  Text* out = writer->out;
  text_add(out, "  - {a: ");
  write_text(out, writer->scene->links[closure->a].name);
  text_add(out, ", b: ");
  write_text(out, closure->b < 0 ? "world" : writer->scene->links[closure->b].name);
  if (closure->link_axes) text_add(out, ", axes: link");
  if (closure->has_point) write_key_vector(out, "point", closure->point);
  if (closure->has_axis) write_key_vector(out, "axis", closure->axis);
  schema_write(out, NULL, &(SchemaValues)SCHEMA_VALUES("closure", ClosureForm, closure, closure));
  if (closure->active.channels > 0) {
    text_add(out, ", active: ");
    write_signal_value(out, &closure->active);
  }
  text_add(out, "}\n");
}

static void write_coupling(const SceneWriter* writer, const SceneCoupling* coupling) {
  Text* out = writer->out;
  text_add(out, "  - {");
  write_term(writer, &coupling->terms[0]);
  text_add(out, ", terms: [");
  for (int k = 1; k < coupling->count; k++) {
    text_add(out, k > 1 ? ", {" : "{");
    write_term(writer, &coupling->terms[k]);
    write_key_number(out, "ratio", coupling->terms[k].ratio);
    text_add(out, "}");
  }
  text_add(out, "]");
  if (coupling->has_offset) write_key_number(out, "offset", coupling->offset);
  text_add(out, "}\n");
}

static void write_initial(const SceneWriter* writer, const SceneInitial* initial) {
  const SceneLink* link = &writer->scene->links[initial->link];
  text_add(writer->out, "  - {link: ");
  write_text(writer->out, link->name);
  if (initial->has_coordinates)
    write_key_numbers(writer->out, "coordinates", initial->coordinates, scene_joint(&link->joint).coordinate_count);
  if (initial->has_velocities)
    write_key_numbers(writer->out, "velocities", initial->velocities, scene_joint_dof(&link->joint));
  text_add(writer->out, "}\n");
}

/* ---------------------------------------------------------------- complete scene */

/* Writes the name of the scene, unless it is not allowed in a file, which is possible if the scene has the name of its
 * file. */
static void write_name(const SceneWriter* writer) {
  const char* name = writer->scene->name;
  if (!*name || *name == '.' || strpbrk(name, "/\\")) return;
  text_add(writer->out, "name: ");
  write_text(writer->out, name);
  text_add(writer->out, "\n");
}

void scene_set_contact_parameters(Scene* scene, double support, double stiffness, double smoothing) {
  assert(scene);
  scene->contact.support = support;
  scene->contact.stiffness = stiffness;
  scene->contact.smoothing = smoothing;
}

void scene_write_yaml(const Scene* scene, const char* folder, Text* out) {
  assert(scene && folder && out);
  SceneWriter writer = {.scene = scene, .folder = folder, .out = out};
  write_shape_names(&writer);
  write_name(&writer);
  write_simulation(&writer);
  write_fluid(&writer);
  write_start(&writer);
  write_contact(&writer);
  write_shapes(&writer);
  write_links(&writer);
  if (scene->controller_count > 0) text_add(out, "controllers:\n");
  for (int i = 0; i < scene->controller_count; i++) write_controller(&writer, &scene->controllers[i]);
  if (scene->load_count > 0) text_add(out, "loads:\n");
  for (int i = 0; i < scene->load_count; i++) write_load(&writer, &scene->loads[i]);
  if (scene->tendon_count > 0) text_add(out, "tendons:\n");
  for (int i = 0; i < scene->tendon_count; i++) write_tendon(&writer, &scene->tendons[i]);
  if (scene->bushing_count > 0) text_add(out, "bushings:\n");
  for (int i = 0; i < scene->bushing_count; i++) write_bushing(&writer, &scene->bushings[i]);
  if (scene->closure_count > 0) text_add(out, "closures:\n");
  for (int i = 0; i < scene->closure_count; i++) write_closure(&writer, &scene->closures[i]);
  if (scene->coupling_count > 0) text_add(out, "couplings:\n");
  for (int i = 0; i < scene->coupling_count; i++) write_coupling(&writer, &scene->couplings[i]);
  if (scene->initial_count > 0) text_add(out, "initial:\n");
  for (int i = 0; i < scene->initial_count; i++) write_initial(&writer, &scene->initials[i]);
  for (int i = 0; i < scene->shape_count; i++) memory_free(writer.shape_names[i]);
  memory_free(writer.shape_names);
}
