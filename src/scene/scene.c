#include <assert.h>
#include <string.h>

#include "base/outside.h"
#include "scene/override.h"
#include "scene/parts.h"

/* ---------------------------------------------------------------- simulation */

static SourcePosition value_position(const Node* map, const char* key) {
  const Node* node = node_find(map, key);
  return node ? node->place : map->place;
}

static void set_step_count(Reader* reader, const Node* map, const SimulationForm* form, SceneSimulation* simulation) {
  if (node_has_key(map, "steps")) return;
  const Node* duration = node_find(map, "duration");
  double steps = round(form->duration / simulation->dt);
  if (steps >= 1 && steps <= STEPS_MAX) {
    simulation->steps = (int)steps;
    return;
  }
  SourcePosition place = duration ? duration->place : map ? map->place : (SourcePosition){0};
  size_t mark = reader_enter_key(reader, "duration");
  if (steps < 1)
    reader_error(reader, place, "must be at least half a time step of %.10g s: increase 'duration', or reduce 'dt'",
                 simulation->dt);
  else
    reader_error(reader, place, "must be at most %d time steps of %.10g s: reduce 'duration', or increase 'dt'",
                 STEPS_MAX, simulation->dt);
  reader_leave(reader, mark);
}

/* Returns a section of the scene file, or an empty map if the section is absent, so that the schema sets all defaults.
 */
static const Node* section_or_empty(Reader* reader, const Node* node) {
  if (node) return node;
  return document_node(reader->document, NODE_MAP, (SourcePosition){reader->scene->path, 1, 1});
}

/* Reads the times at which the run stores its state. Each time must be the end of a time step. */
static void read_keep_states(Reader* reader, const Node* list) {
  Scene* scene = reader->scene;
  const ValueRange positive = RANGE_ABOVE(0);
  if (!list || list->kind != NODE_LIST || !reader_count_values(reader, list->place, list->count)) return;
  size_t mark = reader_enter_key(reader, "keep_states");
  scene->keep_states = MEMORY_NEW(double, list->count);
  for (const Node* item = list->first; item; item = item->next) {
    size_t below = reader_enter_index(reader, scene->keep_state_count);
    double* time = &scene->keep_states[scene->keep_state_count++];
    if (reader_number(reader, item, &positive, "s", time)) {
      double steps = *time / scene->simulation.dt;
      if (!(fabs(steps - round(steps)) <= 1e-6 * fmax(1, steps)))
        reader_error(reader, item->place, "must be a multiple of dt = %.10g s, got %.10g", scene->simulation.dt, *time);
    }
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

static void read_simulation(Reader* reader, const Node* node) {
  SimulationForm form;
  size_t mark = reader_enter_key(reader, "simulation");
  const Node* map = section_or_empty(reader, node);
  if (map && schema_read(reader, map, "simulation", &form)) {
    SceneSimulation* simulation = &reader->scene->simulation;
    *simulation = form.simulation;
    simulation->steps = form.steps;
    set_step_count(reader, map, &form, simulation);
    simulation->tolerance_place = value_position(map, "tolerance");
    read_keep_states(reader, form.keep_states);
  }
  reader_leave(reader, mark);
}

static void read_fluid(Reader* reader, const Node* node) {
  FluidForm form;
  if (!node || node_is_null(node)) return;
  size_t mark = reader_enter_key(reader, "fluid");
  if (schema_read(reader, node, "fluid", &form)) {
    SceneFluid* fluid = &reader->scene->fluid;
    *fluid = form.fluid;
    fluid->place = node->place;
    fluid->given = true;
    fluid->has_level = node_find(node, "level") != NULL;
    fluid->level = form.level;
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- contact */

static void read_contact(Reader* reader, const Node* map, ContactForm* form) {
  size_t mark = reader_enter_key(reader, "contact");
  if (map && schema_read(reader, map, "contact", form)) {
    SceneContact* contact = &reader->scene->contact;
    *contact = form->contact;
    contact->place = map->place;
    contact->model = (ContactModel)form->model;
    contact->support_place = value_position(map, "barrier_distance");
    contact->stiffness_place = value_position(map, "stiffness");
    contact->smoothing_place = value_position(map, "smoothing");
    const Node* restitution = node_find(map, "restitution");
    contact->elastic = restitution && node_is_null(restitution);
    const Node* iterations = node_find(map, "friction_iterations");
    if (!iterations || node_is_null(iterations)) contact->friction_iterations = -1;
    check_static_contact(reader, map, contact->friction, contact->static_friction);
  }
  reader_leave(reader, mark);
}

static void check_excluded(Reader* reader, const Node* node) {
  if (names_find(&reader->link_names, node->text) >= 0 || names_find(&reader->group_names, node->text) >= 0) return;
  if (reader->names_incomplete) return;
  const char* nearest = names_nearest(&reader->link_names, node->text);
  if (!nearest) nearest = names_nearest(&reader->group_names, node->text);
  reader_error(reader, node->place, "no link or group is named '%s'%s", text_excerpt(node->text).text,
               text_suggestion(nearest).text);
}

void contact_add_exclusion(SceneContact* contact, char* a, char* b, SourcePosition place) {
  assert(a && b);
  size_t count = (size_t)contact->exclude_count;
  if ((count & (count - 1)) == 0) {
    /* the arrays are full if their number of items is a power of two or 0; their capacity then doubles */
    size_t room = count > 0 ? 2 * count : 1;
    contact->exclude =
        memory_resize(contact->exclude, count * sizeof *contact->exclude, room * sizeof *contact->exclude);
    contact->exclude_place =
        memory_resize(contact->exclude_place, count * sizeof(SourcePosition), room * sizeof(SourcePosition));
  }
  contact->exclude[count][0] = a;
  contact->exclude[count][1] = b;
  contact->exclude_place[count] = place;
  contact->exclude_count++;
}

static void read_exclude_pair(Reader* reader, const Node* pair, SceneContact* contact) {
  if (pair->kind != NODE_LIST || pair->count != 2) {
    reader_report_wrong_kind(reader, pair, "a pair of names");
    return;
  }
  if (!reader_is_text(reader, pair->first) || !reader_is_text(reader, pair->last)) return;
  check_excluded(reader, pair->first);
  check_excluded(reader, pair->last);
  contact_add_exclusion(contact, memory_copy_text(pair->first->text), memory_copy_text(pair->last->text), pair->place);
}

const char* material_value_key(int which) {
  assert(which >= 0 && which < MATERIAL_COUNT);
  static const char* const KEYS[MATERIAL_COUNT] = {"friction",       "restitution",      "rolling",
                                                   "spinning",       "friction_along",   "static_friction",
                                                   "stribeck_speed", "barrier_distance", "stiffness"};
  return KEYS[which];
}

void read_material_flags(const Node* map, SceneMaterial* material) {
  for (int k = 0; k < MATERIAL_COUNT; k++) material->given[k] = node_has_key(map, material_value_key(k));
}

void check_static_contact(Reader* reader, const Node* map, double friction, double static_friction) {
  double given;
  const Node* node = node_find(map, "static_friction");
  bool was_read = node_has_key(map, "static_friction") && node_number(node, &given) && given == static_friction;
  if (was_read && static_friction < friction)
    reader_error(reader, node_key_place(node_find(map, "static_friction")),
                 "'static_friction' %.6g is below 'friction' %.6g: raise or remove 'static_friction'", static_friction,
                 friction);
}

static void read_pair_name(Reader* reader, const char* key, const Node* node, char** name) {
  if (!node) return;
  size_t mark = reader_enter_key(reader, key);
  check_excluded(reader, node);
  *name = memory_copy_text(node->text);
  reader_leave(reader, mark);
}

bool contact_law_has_parameter(ContactModel law, const char* key) {
  assert(key);
  const SchemaRow* row;
  for (int i = 1; (row = contact_schema_row(i)); i++)
    if (strcmp(row->key, key) == 0 && schema_row_allows_type(row, contact_model_name(law))) return true;
  return false;
}

int contact_row_law_parameter(const SchemaRow* row) {
  assert(row);
  size_t first = offsetof(ContactForm, contact.law_parameters),
         end = first + sizeof(double[CONTACT_LAW_PARAMETERS_MAX]);
  return row->offset < first || row->offset >= end ? -1 : (int)((row->offset - first) / sizeof(double));
}

/* Reads the parameters of the contact law of an item of contact.pairs. The schema refuses keys of other laws. */
static void read_pair_law_parameters(Reader* reader, const Node* item, const ContactForm* form, ScenePair* pair) {
  const SchemaRow* row;
  for (int i = 1; (row = contact_schema_row(i)); i++) {
    if (strcmp(row->object, "contact_law") != 0 || !node_has_key(item, row->key)) continue;
    if (!pair->has_model) {
      reader_error(reader, pair->place,
                   "'%s' is valid only in a pair with its own 'model': add 'model', or remove '%s'", row->key,
                   row->key);
      return;
    }
    if (!schema_row_allows_type(row, contact_model_name(pair->model))) continue;
    if (contact_row_law_parameter(row) >= 0)
      pair->law_parameter_given[contact_row_law_parameter(row)] = true;
    else
      pair->hierarchy_given = true;
  }
  memcpy(pair->law_parameters, form->contact.law_parameters, sizeof(pair->law_parameters));
  pair->hierarchy = form->contact.hierarchy;
}

static void check_pair_law(Reader* reader, const ScenePair* pair) {
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    if (!pair->material.given[k]) continue;
    if (!pair->has_model && k >= MATERIAL_SUPPORT)
      reader_error(reader, pair->place,
                   "'%s' is valid only in a pair with its own 'model': add 'model', or remove '%s'",
                   material_value_key(k), material_value_key(k));
    const char* key = material_value_key(
        k == MATERIAL_FRICTION_ALONG ? MATERIAL_STATIC_FRICTION
                                     : k); /* friction_along is no key, but the same laws have it and static_friction */
    if (pair->has_model && !contact_law_has_parameter(pair->model, key))
      reader_error(reader, pair->place, "the law %s has no key '%s': remove the key, or use another 'model'",
                   contact_model_name(pair->model),
                   k == MATERIAL_FRICTION_ALONG ? "friction_axis" : material_value_key(k));
  }
}

static void read_pair(Reader* reader, const Node* item) {
  ContactPairForm form;
  if (!schema_read(reader, item, "contact_pair", &form)) return;
  SceneContact* contact = &reader->scene->contact;
  ScenePair* pair = &contact->pairs[contact->pair_count++];
  *pair = (ScenePair){.place = item->place, .material = form.material};
  read_material_flags(item, &pair->material);
  read_friction(reader, item, &form.friction, form.friction_axis, &pair->material);
  if (pair->material.given[MATERIAL_FRICTION])
    check_static_contact(reader, item, pair->material.value[MATERIAL_FRICTION],
                         form.material.value[MATERIAL_STATIC_FRICTION]);
  read_pair_name(reader, "a", form.a, &pair->name[0]);
  read_pair_name(reader, "b", form.b, &pair->name[1]);
  if (pair->material.given[MATERIAL_FRICTION_ALONG] && pair->name[0] && pair->name[1] &&
      strcmp(pair->name[0], pair->name[1]) == 0)
    reader_error(reader, pair->place,
                 "'friction_axis' is given in the frame of 'a', so 'a' and 'b' must differ: change 'b', or remove "
                 "'friction_axis'");
  pair->has_model = node_has_key(item, "model");
  if (pair->has_model) pair->model = (ContactModel)form.model;
  read_pair_law_parameters(reader, item, &form.law, pair);
  check_pair_law(reader, pair);
}

static void read_pairs(Reader* reader, const Node* list) {
  if (!list) return;
  SceneContact* contact = &reader->scene->contact;
  size_t before = (size_t)contact->pair_count; /* pairs of included files come first */
  contact->pairs =
      memory_resize(contact->pairs, before * sizeof(ScenePair), (before + (size_t)list->count) * sizeof(ScenePair));
  size_t mark = reader_enter_key(reader, "contact"), index = 0;
  reader_enter_key(reader, "pairs");
  for (const Node* item = list->first; item; item = item->next) {
    size_t below = reader_enter_index(reader, (int)index++);
    read_pair(reader, item);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* Reports restitutions of links and pairs if contact.restitution is null, because impacts are then elastic and have no
 * rest speed. */
static void check_elastic(Reader* reader) {
  const Scene* scene = reader->scene;
  if (!scene->contact.elastic) return;
  for (int i = 0; i < scene->link_count; i++)
    if (scene->links[i].material.given[MATERIAL_RESTITUTION])
      reader_error(
          reader, scene->links[i].place,
          "the link '%s' has a restitution, but contact.restitution is null: set contact.restitution to a number",
          text_excerpt(scene->links[i].name).text);
  for (int k = 0; k < scene->contact.pair_count; k++)
    if (scene->contact.pairs[k].material.given[MATERIAL_RESTITUTION])
      reader_error(reader, scene->contact.pairs[k].place,
                   "a pair has a restitution, but contact.restitution is null: set contact.restitution to a number");
}

static void read_exclude(Reader* reader, const Node* list) {
  if (!list) return;
  SceneContact* contact = &reader->scene->contact;
  size_t mark = reader_enter_key(reader, "contact"), index = 0;
  reader_enter_key(reader, "exclude");
  for (const Node* pair = list->first; pair; pair = pair->next) {
    size_t below = reader_enter_index(reader, (int)index++);
    read_exclude_pair(reader, pair, contact);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- complete scene */

char* read_title(Reader* reader, const Node* node, const char* owner, const char* path) {
  assert(owner && path);
  size_t mark = reader_enter_key(reader, "name");
  if (node && strpbrk(node->text, "/\\"))
    reader_error(reader, node->place, "a %s's name must not contain a slash", owner);
  else if (node && node->text[0] == '.')
    reader_error(reader, node->place, "a %s's name must not begin with a dot", owner);
  else if (node)
    reader_is_printable(reader, node);
  reader_leave(reader, mark);
  return node ? memory_copy_text(node->text) : file_stem(path);
}

static void read_root(Reader* reader, const Node* root) {
  SceneForm form;
  reader->root = root;
  if (!schema_read_partial(reader, root, "scene", &form)) return;
  ContactForm contact = {0};
  read_variables(reader, form.variables);
  reader->scene->name = read_title(reader, form.name, "scene", reader->scene->path);
  read_simulation(reader, form.simulation);
  read_fluid(reader, form.fluid);
  read_contact(reader, section_or_empty(reader, form.contact), &contact);
  read_includes(reader, form.include, false);
  read_shapes(reader, form.shapes);
  if (!form.links && !form.include && !form.rods) reader->names_incomplete = true;
  read_rods(reader, form.rods);
  read_links(reader, form.links);
  read_includes(reader, form.include, true);
  read_controllers(reader, form.controllers);
  read_loads(reader, form.loads);
  read_tendons(reader, form.tendons);
  read_bushings(reader, form.bushings);
  read_closures(reader, form.closures);
  read_couplings(reader, form.couplings);
  read_initials(reader, form.initial);
  attach_rod_ends(reader);
  read_exclude(reader, contact.exclude);
  read_start_state(reader, form.start);
  read_pairs(reader, contact.pairs);
  check_elastic(reader);
  check_scene(reader);
}

static bool apply_all(Document* document, Node* root, const LocatedOverride* overrides, int count,
                      Diagnostics* diagnostics) {
  bool is_valid = true;
  for (int i = 0; i < count; i++)
    is_valid = override_apply(&SCENE_SCHEMA, document, root, &overrides[i], diagnostics) && is_valid;
  return is_valid;
}

void scene_read_included(Scene* scene, const char* path, const char* text, size_t length, Reader* outer,
                         const LocatedOverride* overrides, int override_count) {
  assert(outer && text);
  scene->path = memory_copy_text(path);
  Document document = {0};
  Node* root = document_read(&document, scene->path, text, length, path_is_json(path), outer->diagnostics);
  if (root && apply_all(&document, root, overrides, override_count, outer->diagnostics)) {
    Reader reader = {.scene = scene, .table = &SCENE_SCHEMA, .diagnostics = outer->diagnostics, .document = &document};
    reader.value_count = outer->value_count;
    reader.include_depth = outer->include_depth + 1;
    reader.outer = outer;
    read_root(&reader, root);
    outer->value_count = reader.value_count;
    if (reader.problem_count == 0) report_unused_settings(root, outer->root, scene->path, outer->diagnostics);
    reader_free(&reader);
  }
  document_free(&document);
}

Status scene_read_text(Scene* scene, const char* path, const char* text, size_t length, bool json,
                       const LocatedOverride* overrides, int override_count, Diagnostics* diagnostics) {
  scene->path = memory_copy_text(path);
  hash_sha256(text, length, scene->sha256);
  int before = diagnostics->error_count;
  Document document = {0};
  Node* root = document_read(&document, scene->path, text, length, json, diagnostics);
  /* after a failed override, messages about the scene would be misleading */
  if (root && apply_all(&document, root, overrides, override_count, diagnostics)) {
    Reader reader = {.scene = scene, .table = &SCENE_SCHEMA, .diagnostics = diagnostics, .document = &document};
    read_root(&reader, root);
    reader_free(&reader);
  }
  document_free(&document);
  return diagnostics->error_count > before || !root ? STATUS_BAD_INPUT : STATUS_OK;
}

void scene_read_embedded(Scene* scene, Reader* outer, Node* root, const LocatedOverride* overrides,
                         int override_count) {
  assert(outer && root);
  int before = outer->diagnostics->error_count;
  if (apply_all(outer->document, root, overrides, override_count, outer->diagnostics)) {
    Reader reader = {
        .scene = scene, .table = &SCENE_SCHEMA, .diagnostics = outer->diagnostics, .document = outer->document};
    reader.value_count = outer->value_count;
    reader.include_depth = outer->include_depth;
    text_add(&reader.trail, "%s", outer->trail.data);
    reader.root_trail_length = reader.trail.length;
    read_root(&reader, root);
    outer->value_count = reader.value_count;
    reader_free(&reader);
  }
  outer->problem_count += outer->diagnostics->error_count - before;
}

Status scene_parse(Scene* scene, const char* path, const char* text, size_t length, bool json,
                   const SceneOverride* overrides, int override_count, Diagnostics* diagnostics) {
  assert(scene && text);
  *scene = (Scene){.sources = override_source_texts(overrides, override_count), .source_count = override_count};
  LocatedOverride* placed = MEMORY_NEW(LocatedOverride, override_count);
  for (int i = 0; i < override_count; i++) placed[i] = override_from_source_text(scene->sources[i]);
  Status status = scene_read_text(scene, path, text, length, json, placed, override_count, diagnostics);
  memory_free(placed);
  return status;
}

Status scene_load(Scene* scene, const char* path, const SceneOverride* overrides, int override_count,
                  Diagnostics* diagnostics) {
  assert(scene && path);
  char* text;
  size_t length;
  *scene = (Scene){0};
  if (file_read_reported(path, &text, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = scene_parse(scene, path, text, length, path_is_json(path), overrides, override_count, diagnostics);
  memory_free(text);
  return status;
}

void scene_schema_json(Text* out) { schema_write_json(&SCENE_SCHEMA, out); }

void scene_schema_markdown(Text* out) { schema_write_markdown(&SCENE_SCHEMA, out); }

void scene_schema_man(Text* out) { schema_write_man(&SCENE_SCHEMA, "scene", out); }

/* ---------------------------------------------------------------- freeing */

static void free_shape(SceneShape* shape) {
  memory_free(shape->name);
  memory_free(shape->points);
  memory_free(shape->normals);
  memory_free(shape->parts);
  memory_free(shape->faces);
  memory_free(shape->file);
}

static void free_link(SceneLink* link) {
  memory_free(link->name);
  memory_free(link->joint.name);
  memory_free(link->shapes);
  for (int i = 0; i < link->group_count; i++) memory_free(link->groups[i]);
  memory_free(link->groups);
  memory_free(link->ties);
}

static void free_contact(SceneContact* contact) {
  for (int i = 0; i < contact->exclude_count; i++) {
    memory_free(contact->exclude[i][0]);
    memory_free(contact->exclude[i][1]);
  }
  memory_free(contact->exclude);
  memory_free(contact->exclude_place);
  for (int i = 0; i < contact->pair_count; i++)
    for (int k = 0; k < 2; k++) memory_free(contact->pairs[i].name[k]);
  memory_free(contact->pairs);
}

static void free_controller(SceneController* controller) {
  signal_free_arrays(&controller->target);
  for (int k = 0; k < controller->measure_count; k++) memory_free(controller->measures[k].name);
  memory_free(controller->measures);
  memory_free(controller->feedback);
}

void scene_free(Scene* scene) {
  for (int i = 0; i < scene->shape_count; i++) free_shape(&scene->shapes[i]);
  for (int i = 0; i < scene->link_count; i++) free_link(&scene->links[i]);
  for (int i = 0; i < scene->controller_count; i++) free_controller(&scene->controllers[i]);
  for (int i = 0; i < scene->load_count; i++) {
    signal_free_arrays(&scene->loads[i].force);
    signal_free_arrays(&scene->loads[i].torque);
  }
  for (int i = 0; i < scene->source_count; i++) memory_free(scene->sources[i]);
  for (int i = 0; i < scene->file_count; i++) memory_free(scene->files[i]);
  memory_free(scene->files);
  free_contact(&scene->contact);
  memory_free(scene->shapes);
  memory_free(scene->links);
  memory_free(scene->controllers);
  memory_free(scene->loads);
  for (int i = 0; i < scene->tendon_count; i++) tendon_free(&scene->tendons[i]);
  memory_free(scene->tendons);
  memory_free(scene->bushings);
  for (int i = 0; i < scene->closure_count; i++) closure_free(&scene->closures[i]);
  memory_free(scene->closures);
  for (int i = 0; i < scene->coupling_count; i++) memory_free(scene->couplings[i].terms);
  memory_free(scene->couplings);
  memory_free(scene->initials);
  memory_free(scene->keep_states);
  start_free(&scene->start);
  memory_free(scene->sources);
  memory_free(scene->path);
  memory_free(scene->name);
  *scene = (Scene){0};
}
