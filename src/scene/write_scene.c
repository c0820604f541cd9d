/* A scene as YAML. Repeats stand expanded, derived values of the reader (steps, limit margins, knots) as numbers. */
#include <stdlib.h>
#include <string.h>

#include "scene/parts.h"
#include "scene/task.h"
#include "scene/write_text.h"

typedef struct {
  const Scene* scene;
  const char* folder; /* that paths are seen from */
  Text* out;
  char** shape_names; /* owned; one per shape */
} Writer;

static bool same_bits(const void* a, const void* b, size_t size) { return memcmp(a, b, size) == 0; }

static bool all_zero(const double* values, int count) {
  const double zero[JOINT_MAX_COORDINATE] = {0};
  return same_bits(values, zero, sizeof(double) * (size_t)count);
}

/* ---------------------------------------------------------------- simulation, contact */

/* A duration stays when dt changes. Of few digits where these stand for the same number of steps. */
static void write_duration(Text* out, const SceneSimulation* simulation) {
  double duration = simulation->steps * simulation->dt;
  char few[32];
  snprintf(few, sizeof few, "%.12g", duration);
  double rounded = strtod(few, NULL);
  write_number(out, round(rounded / simulation->dt) == simulation->steps ? rounded : duration);
}

static void write_output(Text* out, unsigned output) {
  const char* before = ", output: [";
  for (int k = 0; k < words_count(OUTPUT_WORDS); k++) {
    if (!(output & 1u << k)) continue;
    text_add(out, "%s%s", before, words_at(OUTPUT_WORDS, k).text);
    before = ", ";
  }
  if (output) text_add(out, "]");
}

static void write_simulation(const Writer* writer) {
  static const char* const INTEGRATORS[] = {"first_order", "second_order", "momentum"};
  const SceneSimulation* simulation = &writer->scene->simulation;
  Text* out = writer->out;
  text_add(out, "simulation: {duration: ");
  write_duration(out, simulation);
  write_key_number(out, "dt", simulation->dt);
  write_key_vector(out, "gravity", simulation->gravity);
  write_key_text(out, "integrator", INTEGRATORS[simulation->integrator]);
  write_key_number(out, "tolerance", simulation->tolerance);
  if (simulation->force_tolerance > 0) write_key_number(out, "force_tolerance", simulation->force_tolerance);
  text_add(out, ", max_iterations: %d, certificate: %s, record_every: %d", simulation->max_iterations,
           simulation->certificate ? "true" : "false", simulation->record_every);
  write_output(out, simulation->output);
  if (simulation->substeps > 1) text_add(out, ", substeps: %d", simulation->substeps);
  if (writer->scene->keep_state_count > 0)
    write_key_numbers(out, "keep_states", writer->scene->keep_states, writer->scene->keep_state_count);
  text_add(out, "}\n");
}

static void write_start(const Writer* writer) {
  const SceneStart* start = &writer->scene->start;
  if (!start->run) return;
  char* run = file_relative(writer->folder, start->run);
  text_add(writer->out, "start: {run: ");
  write_text(writer->out, run);
  write_key_number(writer->out, "time", start->time);
  text_add(writer->out, "}\n");
  memory_free(run);
}

/* Of the law; nothing when it is derived or the default. */
static void write_parameter(Text* out, const SceneContact* contact, const SchemaRow* row) {
  double value;
  const char* place = (const char*)contact + row->offset - offsetof(ContactForm, contact);
  if (row->kind == VALUE_BOOL) {
    bool set = *(const bool*)place;
    if (set != (strcmp(row->fallback, "true") == 0)) text_add(out, "  %s: %s\n", row->key, set ? "true" : "false");
    return;
  }
  memcpy(&value, place, sizeof(value));
  bool derived = row->fallback && row->fallback[0] == '(' && !(value > 0);
  bool plain = row->fallback && strcmp(row->key, "friction") != 0 && value == strtod(row->fallback, NULL);
  if (derived || plain) return;
  text_add(out, "  %s: ", row->key);
  write_number(out, value);
  text_add(out, "\n");
}

static void write_material(Text* out, const SceneMaterial* material, const char* before, const char* after) {
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    if (!material->given[k]) continue;
    text_add(out, "%s%s: ", before, material_key(k));
    write_number(out, material->value[k]);
    text_add(out, "%s", after);
  }
}

/* What its law has to itself, as far as it is given. */
static void write_pair_own(Text* out, const ScenePair* pair) {
  const SchemaRow* row;
  for (int i = 1; pair->has_model && (row = contact_schema_row(i)); i++) {
    int own = contact_row_own(row);
    if (own < 0 || !pair->own_given[own] || !schema_row_belongs(row, contact_model_name(pair->model))) continue;
    write_key_number(out, row->key, pair->own[own]);
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
    write_pair_own(out, &contact->pairs[i]);
    text_add(out, "}\n");
  }
}

static void write_contact(const Writer* writer) {
  const SceneContact* contact = &writer->scene->contact;
  Text* out = writer->out;
  const char* model = contact_model_name(contact->model);
  text_add(out, "contact:\n  model: %s\n", model);
  const SchemaRow* row;
  for (int i = 1; (row = contact_schema_row(i)); i++)
    if (schema_row_belongs(row, model) && strcmp(row->key, "friction") == 0) write_parameter(out, contact, row);
  if (contact->elastic) text_add(out, "  restitution: null\n");
  for (int i = 1; (row = contact_schema_row(i)); i++)
    if (schema_row_belongs(row, model) && strcmp(row->key, "friction") != 0) write_parameter(out, contact, row);
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

/* ---------------------------------------------------------------- shapes */

/* Shapes written in links have no name, and a few names cannot stand as a key. */
static bool is_usable_name(const char* name) {
  return *name && strlen(name) <= NAME_MAX_LENGTH && strcmp(name, "<<") != 0;
}

static void name_shapes(Writer* writer) {
  const Scene* scene = writer->scene;
  Names names = {0};
  writer->shape_names = MEMORY_NEW(char*, scene->shape_count);
  for (int i = 0; i < scene->shape_count; i++)
    if (is_usable_name(scene->shapes[i].name) && names_add(&names, scene->shapes[i].name, i))
      writer->shape_names[i] = memory_text(scene->shapes[i].name);
  int number = 0;
  for (int i = 0; i < scene->shape_count; i++)
    while (!writer->shape_names[i]) {
      Text name = {0};
      text_add(&name, "shape%d", number++);
      if (names_find(&names, name.data) < 0)
        writer->shape_names[i] = name.data;
      else
        text_free(&name);
    }
  names_free(&names);
}

static void write_decompose(Text* out, const DecomposeOptions* o, HullTie tie) {
  text_add(out, ", decompose: {max_hulls: %d, max_vertices: %d", o->max_hulls, o->max_vertices);
  write_key_number(out, "error", o->error);
  if (o->tolerance > 0) write_key_number(out, "tolerance", o->tolerance);
  text_add(out, ", resolution: %d", o->resolution);
  if (o->grid[0] > 0) text_add(out, ", grid: [%d, %d, %d]", o->grid[0], o->grid[1], o->grid[2]);
  char letters[4] = {0};
  for (int axis = 0, count = 0; axis < 3; axis++)
    if (o->symmetry[axis]) letters[count++] = "xyz"[axis];
  write_key_text(out, "symmetry", o->symmetry_auto ? "auto" : letters[0] ? letters : "none");
  if (o->inside) text_add(out, ", inside: true");
  if (tie != TIE_CORNERS) text_add(out, ", tie: %s", tie == TIE_VERTEX ? "vertex" : "none");
  text_add(out, "}");
}

static void write_mesh(const Writer* writer, const SceneShape* shape) {
  char* file = file_relative(writer->folder, shape->file);
  write_key_text(writer->out, "file", file);
  write_key_number(writer->out, "scale", shape->scale);
  if (shape->decompose)
    write_decompose(writer->out, &shape->decomposition, shape->tie);
  else if (shape->triangles)
    text_add(writer->out, ", pieces: triangles");
  else
    text_add(writer->out, ", hulls: %s", shape->hull_per_group ? "groups" : "whole");
  if (shape->max_vertices > 0) text_add(writer->out, ", max_vertices: %d", shape->max_vertices);
  memory_free(file);
}

static void write_height_field(const Writer* writer, const SceneShape* shape) {
  char* file = file_relative(writer->folder, shape->file);
  write_key_text(writer->out, "file", file);
  write_key_vector(writer->out, "size", shape->size);
  write_key_vector(writer->out, "origin", shape->origin);
  if (shape->base > 0) write_key_number(writer->out, "base", shape->base);
  memory_free(file);
}

static void write_points(Text* out, const SceneShape* shape) {
  text_add(out, ", points: [");
  for (int i = 0; i < shape->point_count; i++) {
    text_add(out, "%s\n      ", i > 0 ? "," : "");
    write_numbers(out, (const double[3]){shape->points[i].x, shape->points[i].y, shape->points[i].z}, 3);
  }
  text_add(out, "]%s", shape->triangles ? ", pieces: triangles" : shape->keep_interior ? ", keep_interior: true" : "");
}

static void write_pose(Text* out, Vec3 position, Quat rotation) {
  const Vec3 origin = vec3(0, 0, 0);
  const Quat identity = quat_identity();
  if (!same_bits(&position, &origin, sizeof position)) write_key_vector(out, "position", position);
  if (!same_bits(&rotation, &identity, sizeof rotation))
    write_key_numbers(out, "rotation", (const double[4]){rotation.w, rotation.x, rotation.y, rotation.z}, 4);
}

static void write_list(Text* out, const char* key, const double* values, int count) {
  text_add(out, ", %s: ", key);
  write_numbers(out, values, count);
}

static void write_faces(Text* out, const SmoothForm* form) {
  text_add(out, ", normals: [");
  for (int i = 0; i < form->face_count; i++) {
    text_add(out, "%s", i > 0 ? ", " : "");
    write_numbers(out, form->faces[i], 3);
  }
  text_add(out, "], offsets: [");
  for (int i = 0; i < form->face_count; i++) {
    text_add(out, "%s", i > 0 ? ", " : "");
    text_add_double(out, form->faces[i][3]);
  }
  text_add(out, "]");
  if (form->length > 0) write_key_number(out, "length", form->length);
}

static void write_joined(const Writer* writer, const SceneShape* shape) {
  Text* out = writer->out;
  text_add(out, ", of: [");
  for (int i = 0; i < shape->part_count; i++) {
    text_add(out, "%s{shape: ", i > 0 ? ", " : "");
    write_text(out, writer->shape_names[shape->parts[i].shape]);
    write_pose(out, shape->parts[i].position, shape->parts[i].rotation);
    text_add(out, "}");
  }
  text_add(out, "]");
  write_key_number(out, "smoothing", shape->smoothing);
}

static void write_oriented(Text* out, const SceneShape* shape) {
  for (int list = 0; list < 2; list++) {
    text_add(out, list == 0 ? ", points: [" : ", normals: [");
    const Vec3* v = list == 0 ? shape->points : shape->normals;
    for (int i = 0; i < shape->point_count; i++) {
      text_add(out, "%s", i > 0 ? ", " : "");
      write_numbers(out, (const double[3]){v[i].x, v[i].y, v[i].z}, 3);
    }
    text_add(out, "]");
  }
  write_key_number(out, "radius", shape->radius);
}

static void write_smooth(const Writer* writer, const SceneShape* shape) {
  Text* out = writer->out;
  const SmoothForm* form = &shape->smooth;
  static const char* const CYLINDER[] = {"radius", "half_length"};
  static const char* const CONE[] = {"bottom_radius", "top_radius", "below", "above"};
  if (shape->type == SHAPE_SUPERELLIPSOID || shape->type == SHAPE_SUPERQUADRIC) write_list(out, "size", form->size, 3);
  for (int k = 0; k < 2 && shape->type == SHAPE_SUPERELLIPTIC_CYLINDER; k++)
    write_key_number(out, CYLINDER[k], form->size[k]);
  for (int k = 0; k < 4 && shape->type == SHAPE_TRUNCATED_CONE; k++) write_key_number(out, CONE[k], form->size[k]);
  if (shape->type == SHAPE_SUPERELLIPSOID || shape->type == SHAPE_SUPERELLIPTIC_CYLINDER)
    write_key_number(out, "exponent", form->exponent);
  if (shape->type == SHAPE_SUPERQUADRIC) write_list(out, "exponents", form->exponents, 2);
  if (shape->type == SHAPE_TRUNCATED_CONE || shape->type == SHAPE_SMOOTH_POLYTOPE)
    write_key_number(out, "sharpness", form->beta);
  if (shape->type == SHAPE_SMOOTH_POLYTOPE) write_faces(out, form);
  if (shape->type == SHAPE_ORIENTED_POINTS) write_oriented(out, shape);
  if (shape->type >= SHAPE_UNION) write_joined(writer, shape);
  text_add(out, ", resolution: %d", shape->resolution);
}

/* The keys that the type has. */
static void write_shape_keys(const Writer* writer, const SceneShape* shape) {
  Text* out = writer->out;
  switch (shape->type) {
    case SHAPE_BOX:
      write_key_vector(out, "size", shape->size);
      break;
    case SHAPE_SPHERE:
      write_key_number(out, "radius", shape->radius);
      text_add(out, ", resolution: %d", shape->resolution);
      break;
    case SHAPE_CYLINDER:
    case SHAPE_CAPSULE:
      write_key_number(out, "radius", shape->radius);
      write_key_number(out, "length", shape->length);
      text_add(out, ", segments: %d", shape->segments);
      break;
    case SHAPE_ROUNDED_BOX:
      write_key_number(out, "radius", shape->radius);
      write_key_vector(out, "size", shape->size);
      break;
    case SHAPE_POINTS:
      write_points(out, shape);
      break;
    case SHAPE_MESH:
      write_mesh(writer, shape);
      break;
    case SHAPE_HEIGHT_FIELD:
      write_height_field(writer, shape);
      break;
    case SHAPE_HALF_SPACE:
      write_key_vector(out, "normal", shape->normal);
      write_key_number(out, "offset", shape->offset);
      break;
    default:
      write_smooth(writer, shape);
  }
}

static void write_shapes(const Writer* writer) {
  static const char* const TYPES[] = {"box",
                                      "sphere",
                                      "cylinder",
                                      "capsule",
                                      "rounded_box",
                                      "points",
                                      "mesh",
                                      "height_field",
                                      "half_space",
                                      "superellipsoid",
                                      "superelliptic_cylinder",
                                      "truncated_cone",
                                      "smooth_polytope",
                                      "superquadric",
                                      "oriented_points",
                                      "union",
                                      "subtraction"};
  const Scene* scene = writer->scene;
  bool any = false;
  for (int i = 0; i < scene->shape_count; i++) {
    if (scene->shapes[i].replaced) continue;
    if (!any) text_add(writer->out, "shapes:\n");
    any = true;
    text_add(writer->out, "  ");
    write_text(writer->out, writer->shape_names[i]);
    text_add(writer->out, ": {type: %s", TYPES[scene->shapes[i].type]);
    write_shape_keys(writer, &scene->shapes[i]);
    text_add(writer->out, "}\n");
  }
}

/* ---------------------------------------------------------------- poses */

/* ---------------------------------------------------------------- joints */

static void write_axes(Text* out, const SceneJoint* joint) {
  static const char* const FREE[] = {"x", "y", "z", "rx", "ry", "rz"};
  const JointTypeRow* row = &JOINT_TABLE[joint->type];
  if (row->axis) write_key_vector(out, "axis", joint->axes[0]);
  if (row->axes) {
    text_add(out, ", axes: [");
    for (int i = 0; i < 2; i++) {
      write_numbers(out, (const double[3]){joint->axes[i].x, joint->axes[i].y, joint->axes[i].z}, 3);
      text_add(out, i == 0 ? ", " : "]");
    }
  }
  for (const JointNumber* number = JOINT_NUMBERS; number->key; number++)
    if (words_index(number->types, row->word) >= 0) write_key_number(out, number->key, joint->parameters[number->slot]);
  if (!row->free_axes || joint->free_axes == FREE_ALL) return;
  const char* separator = ", free_axes: [";
  for (unsigned i = 0; i < 6; i++)
    if (joint->free_axes >> i & 1u) {
      text_add(out, "%s%s", separator, FREE[i]);
      separator = ", ";
    }
  text_add(out, "]");
}

static void write_end(Text* out, double value) {
  if (isfinite(value))
    write_number(out, value);
  else
    text_add(out, "null");
}

/* One pair or null for each scalar that can be limited; a quaternion counts as one, its angle. */
static void write_limits(Text* out, const SceneJoint* joint) {
  Joint made = scene_joint(joint);
  int count = made.plain_count + made.quaternion;
  bool any = false;
  for (int i = 0; i < count; i++) any = any || joint->limited[i];
  if (!any) return;
  text_add(out, ", limits: [");
  for (int i = 0; i < count; i++) {
    text_add(out, i > 0 ? ", " : "");
    if (!joint->limited[i]) {
      text_add(out, "null");
      continue;
    }
    text_add(out, "[");
    write_end(out, joint->lower[i]);
    text_add(out, ", ");
    write_end(out, joint->upper[i]);
    text_add(out, "]");
  }
  text_add(out, "]");
}

/* Where they differ from what the reader takes. */
static void write_limit_law(Text* out, const SceneJoint* joint) {
  SceneJoint plain = *joint;
  joint_default_limits(&plain);
  if (joint->limit_law != plain.limit_law) text_add(out, ", limit_law: penalty");
  if (!same_bits(&joint->limit_stiffness, &plain.limit_stiffness, sizeof(double)))
    write_key_number(out, "limit_stiffness", joint->limit_stiffness);
  if (!same_bits(&joint->limit_margin, &plain.limit_margin, sizeof(double)))
    write_key_number(out, "limit_margin", joint->limit_margin);
}

static void write_joint(Text* out, const SceneJoint* joint) {
  text_add(out, "    joint: {type: %s", JOINT_TABLE[joint->type].word);
  write_pose(out, joint->position, joint->rotation);
  int dof = scene_joint_dof(joint);
  if (dof > 0) {
    write_axes(out, joint);
    write_limits(out, joint);
    write_limit_law(out, joint);
    if (!all_zero(joint->damping, dof)) write_key_numbers(out, "damping", joint->damping, dof);
    if (!all_zero(joint->stiffness, dof)) {
      write_key_numbers(out, "stiffness", joint->stiffness, dof);
      write_key_numbers(out, "rest", joint->rest, dof);
    }
    if (!all_zero(joint->friction, dof)) {
      write_key_numbers(out, "friction", joint->friction, dof);
      write_key_number(out, "friction_speed", joint->friction_speed);
    }
    if (!all_zero(joint->armature, dof)) write_key_numbers(out, "armature", joint->armature, dof);
    if (!all_zero(joint->velocity_limit, dof)) write_key_numbers(out, "velocity_limit", joint->velocity_limit, dof);
  }
  text_add(out, "}\n");
}

/* ---------------------------------------------------------------- links */

static void write_mass(Text* out, const SceneLink* link) {
  static const char* const MODELS[] = {"vertices", "uniform", "given"};
  if (link->has_mass || link->has_density) {
    text_add(out, link->has_mass ? "    mass: " : "    density: ");
    write_number(out, link->has_mass ? link->mass : link->density);
    text_add(out, "\n");
  }
  text_add(out, "    mass_model: %s\n", MODELS[link->mass_model]);
  if (link->mass_model != MASS_GIVEN) return;
  text_add(out, "    center: ");
  write_numbers(out, (const double[3]){link->center.x, link->center.y, link->center.z}, 3);
  text_add(out, "\n    inertia: ");
  write_numbers(out, link->inertia, 6);
  text_add(out, "\n");
}

static void write_groups(Text* out, const SceneLink* link) {
  for (int i = 0; i < link->group_count; i++) {
    text_add(out, i == 0 ? "    groups: [" : ", ");
    write_text(out, link->groups[i]);
  }
  if (link->group_count > 0) text_add(out, "]\n");
}

static void write_shape_uses(const Writer* writer, const SceneLink* link) {
  Text* out = writer->out;
  if (link->shape_count > 0) text_add(out, "    shapes:\n");
  for (int i = 0; i < link->shape_count; i++) {
    const SceneShapeUse* use = &link->shapes[i];
    text_add(out, "      - {shape: ");
    write_text(out, writer->shape_names[use->shape]);
    write_pose(out, use->position, use->rotation);
    text_add(out, "}\n");
  }
}

static void write_ties(Text* out, const SceneLink* link) {
  for (int k = 0; k < link->tie_count; k++) {
    const int* tie = link->ties[k];
    text_add(out, "%s[%d, %d, %d, %d]",
             k == 0       ? "    ties: ["
             : k % 8 == 0 ? ",\n      "
                          : ", ",
             tie[0], tie[1], tie[2], tie[3]);
  }
  if (link->ties) text_add(out, link->tie_count > 0 ? "]\n" : "    ties: []\n");
}

static void write_link(const Writer* writer, const SceneLink* link) {
  Text* out = writer->out;
  text_add(out, "  - name: ");
  write_text(out, link->name);
  text_add(out, "\n");
  if (link->parent >= 0) {
    text_add(out, "    parent: ");
    write_text(out, writer->scene->links[link->parent].name);
    text_add(out, "\n");
  }
  write_joint(out, &link->joint);
  write_shape_uses(writer, link);
  write_mass(out, link);
  write_groups(out, link);
  if (!link->collide) text_add(out, "    collide: false\n");
  write_ties(out, link);
  write_material(out, &link->material, "    ", "\n");
  const double inherited = link->parent < 0 ? 0 : writer->scene->links[link->parent].gravity_compensation;
  if (!same_bits(&link->gravity_compensation, &inherited, sizeof(double))) {
    text_add(out, "    gravity_compensation: ");
    write_number(out, link->gravity_compensation);
    text_add(out, "\n");
  }
  if (link->color[0] < 0) return;
  text_add(out, "    color: ");
  write_numbers(out, link->color, 3);
  text_add(out, "\n");
}

static void write_links(const Writer* writer) {
  const Scene* scene = writer->scene;
  text_add(writer->out, scene->link_count > 0 ? "links:\n" : "links: []\n");
  for (int i = 0; i < scene->link_count; i++) write_link(writer, &scene->links[i]);
}

/* ---------------------------------------------------------------- signals */

/* One row of a channel each to a line. */
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

static void write_signal(Text* out, const char* key, const SceneSignal* signal) {
  static const char* const TYPES[] = {"constant", "keyframes", "spline", "sines", "sequence", "held"};
  text_add(out, "    %s: {type: %s", key, TYPES[signal->type]);
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
    case SIGNAL_HELD: /* of no file */
      break;
  }
  text_add(out, "}\n");
}

/* ---------------------------------------------------------------- controllers, initial state */

/* Zeros are not said. */
static void write_gain(Text* out, const char* key, const double* values, int dof) {
  if (all_zero(values, dof)) return;
  text_add(out, "    %s: ", key);
  write_numbers(out, values, dof);
  text_add(out, "\n");
}

static void write_feedback(Text* out, const SceneController* controller, int dof) {
  int count = controller->measure_count;
  text_add(out, "    feedback:\n      measures: [");
  for (int k = 0; k < count; k++) {
    text_add(out, k ? ", " : "");
    write_text(out, controller->measures[k].name);
  }
  text_add(out, "]\n      matrix: [");
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

static void write_controller(const Writer* writer, const SceneController* controller) {
  const SceneLink* link = &writer->scene->links[controller->link];
  int dof = scene_joint_dof(&link->joint);
  Text* out = writer->out;
  text_add(out, "  - link: ");
  write_text(out, link->name);
  static const char* const TYPES[] = {"pd", "prescribed", "torque", "velocity"};
  text_add(out, "\n    type: %s\n", TYPES[controller->type]);
  if (controller->type == CONTROLLER_PD) {
    text_add(out, "    position_gain: ");
    write_numbers(out, controller->position_gain, dof);
    text_add(out, "\n    velocity_gain: ");
    write_numbers(out, controller->velocity_gain, dof);
    text_add(out, "\n");
  }
  write_gain(out, "damping_gain", controller->damping_gain, dof);
  write_gain(out, "max_force", controller->max_force, dof);
  if (controller->type != CONTROLLER_PRESCRIBED && controller->limit_width != LIMIT_WIDTH_DEFAULT) {
    text_add(out, "    limit_width: ");
    write_number(out, controller->limit_width);
    text_add(out, "\n");
  }
  if (controller->delay > 0) {
    text_add(out, "    delay: ");
    write_number(out, controller->delay);
    text_add(out, "\n");
  }
  if (controller->measure_count > 0) write_feedback(out, controller, dof);
  write_signal(out, controller->target.integrated ? "velocity" : "target", &controller->target);
}

static void write_load(const Writer* writer, const SceneLoad* load) {
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
  if (load->force.channels > 0) write_signal(out, "force", &load->force);
  if (load->torque.channels > 0) write_signal(out, "torque", &load->torque);
}

static void write_tendon(const Writer* writer, const SceneTendon* tendon) {
  Text* out = writer->out;
  text_add(out, "  - points:\n");
  for (int i = 0; i < tendon->count; i++) {
    const SceneTendonPoint* p = &tendon->points[i];
    text_add(out, "      - {link: ");
    write_text(out, p->link < 0 ? "world" : writer->scene->links[p->link].name);
    write_key_vector(out, "point", p->point);
    text_add(out, "}\n");
  }
  if (tendon->stiffness > 0) {
    text_add(out, "    stiffness: ");
    write_number(out, tendon->stiffness);
    text_add(out, "\n    rest_length: ");
    write_number(out, tendon->rest_length);
    text_add(out, "\n");
  }
  text_add(out, "    eyelet: ");
  write_number(out, tendon->eyelet);
  text_add(out, "\n");
  if (tendon->tension.channels > 0) write_signal(out, "tension", &tendon->tension);
}

static void write_closure(const Writer* writer, const SceneClosure* closure) {
  static const char* const word[] = {"weld", "ball", "hinge", "slide", "distance"};
  Text* out = writer->out;
  text_add(out, "  - {type: %s, a: ", word[closure->type]);
  write_text(out, writer->scene->links[closure->a].name);
  text_add(out, ", b: ");
  write_text(out, closure->b < 0 ? "world" : writer->scene->links[closure->b].name);
  if (closure->link_axes) text_add(out, ", axes: link");
  if (closure->has_point) write_key_vector(out, "point", closure->point);
  if (closure->has_axis) write_key_vector(out, "axis", closure->axis);
  if (closure->length > 0) write_key_number(out, "length", closure->length);
  if (closure->break_force > 0) write_key_number(out, "break_force", closure->break_force);
  text_add(out, "}\n");
}

static void write_term(const Writer* writer, const SceneCouplingTerm* term) {
  const SceneLink* link = &writer->scene->links[term->link];
  text_add(writer->out, "link: ");
  write_text(writer->out, link->name);
  write_key_text(writer->out, "coordinate", scene_joint_coordinate_name(&link->joint, term->coordinate));
}

static void write_coupling(const Writer* writer, const SceneCoupling* coupling) {
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

static void write_initial(const Writer* writer, const SceneInitial* initial) {
  const SceneLink* link = &writer->scene->links[initial->link];
  text_add(writer->out, "  - {link: ");
  write_text(writer->out, link->name);
  if (initial->has_coordinates)
    write_key_numbers(writer->out, "coordinates", initial->coordinates, scene_joint(&link->joint).coordinate_count);
  if (initial->has_velocities)
    write_key_numbers(writer->out, "velocities", initial->velocities, scene_joint_dof(&link->joint));
  text_add(writer->out, "}\n");
}

/* ---------------------------------------------------------------- the whole */

/* A name taken from a file's name may be one that cannot be written. */
static void write_name(const Writer* writer) {
  const char* name = writer->scene->name;
  if (!*name || *name == '.' || strpbrk(name, "/\\")) return;
  text_add(writer->out, "name: ");
  write_text(writer->out, name);
  text_add(writer->out, "\n");
}

void scene_give_contact(Scene* scene, double support, double stiffness, double smoothing) {
  scene->contact.support = support;
  scene->contact.stiffness = stiffness;
  scene->contact.smoothing = smoothing;
}

void scene_write_yaml(const Scene* scene, const char* folder, Text* out) {
  Writer writer = {.scene = scene, .folder = folder, .out = out};
  name_shapes(&writer);
  write_name(&writer);
  write_simulation(&writer);
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
  if (scene->closure_count > 0) text_add(out, "closures:\n");
  for (int i = 0; i < scene->closure_count; i++) write_closure(&writer, &scene->closures[i]);
  if (scene->coupling_count > 0) text_add(out, "couplings:\n");
  for (int i = 0; i < scene->coupling_count; i++) write_coupling(&writer, &scene->couplings[i]);
  if (scene->initial_count > 0) text_add(out, "initial:\n");
  for (int i = 0; i < scene->initial_count; i++) write_initial(&writer, &scene->initials[i]);
  for (int i = 0; i < scene->shape_count; i++) memory_free(writer.shape_names[i]);
  memory_free(writer.shape_names);
}
