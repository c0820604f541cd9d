#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"
#include "scene/parts.h"

/* ---------------------------------------------------------------- names */

const char* name_find_invalid_character(const char* name) {
  const char* bad = strpbrk(name, "/\\,\"'");
  return bad ? bad : text_find_control_character(name);
}

bool name_has_invalid_ends(const char* name) {
  assert(*name);
  return name[0] == ' ' || name[strlen(name) - 1] == ' ' || name[0] == '.';
}

static bool check_name(Reader* reader, const Node* node, const char* name) {
  const char* bad = name_find_invalid_character(name);
  if (bad)
    reader_error(reader, node->place, "a name must not contain the character %s: choose another name",
                 (char[]){*bad, 0});
  bool blank = name_has_invalid_ends(name);
  if (!bad && blank)
    reader_error(reader, node->place, "a name must not begin or end with a blank, or begin with a dot");
  return !bad && !blank;
}

char* read_optional_name(Reader* reader, const Node* node) {
  char* name = node ? reader_name(reader, node) : NULL;
  if (name) check_name(reader, node, name);
  return name;
}

static void read_link_name_key(Reader* reader, const LinkForm* form, SceneLink* link, int index) {
  size_t mark = reader_enter_key(reader, "name");
  char* name = read_optional_name(reader, form->name);
  if (!name) reader->names_incomplete = true;
  link->name = name ? name : memory_copy_text("");
  if (name && !names_add(&reader->link_names, name, index)) {
    const SceneLink* other = &reader->scene->links[names_find(&reader->link_names, name)];
    reader_error(reader, form->name->place, "the name '%s' is already used by the link of line %d: choose another name",
                 text_excerpt(name).text, other->place.line);
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- references to links */

/* Returns true if an error left some names of links unknown. A missing name may be one of these and is not reported. */
static bool has_unknown_names(Reader* reader) {
  if (reader->names_incomplete) reader->problem_count++;
  return reader->names_incomplete;
}

static void report_unknown_link(Reader* reader, const Node* node, const char* name, const char* help) {
  const char* nearest = names_nearest(&reader->link_names, name);
  if (strcmp(name, "world") == 0)
    reader_error(reader, node->place,
                 "no link is named 'world': name a link; for the world as parent, omit 'parent' or write null");
  else
    reader_error(reader, node->place, "no link is named '%s'%s%s", text_excerpt(name).text,
                 text_suggestion(nearest).text, help);
}

int read_link_name(Reader* reader, const Node* node) {
  char* name = reader_name(reader, node);
  if (!name) return -1;
  int index = names_find(&reader->link_names, name);
  if (index < 0 && !has_unknown_names(reader)) report_unknown_link(reader, node, name, "");
  memory_free(name);
  return index;
}

/* ---------------------------------------------------------------- parent */

/* Stores the name of a parent that is not defined yet. After all links are read, report_unresolved tells whether the
 * parent is defined later or not at all. Takes ownership of `name`. */
static void store_unresolved_parent(Reader* reader, const Node* node, char* name) {
  reader->problem_count++;
  if (reader->muted) {
    memory_free(name);
    return;
  }
  reader->unresolved = memory_grow_array(reader->unresolved, sizeof(UnresolvedName), reader->unresolved_count,
                                         &reader->unresolved_capacity);
  int item = reader->indices ? reader->indices->n : -1;
  reader->unresolved[reader->unresolved_count++] =
      (UnresolvedName){node, name, memory_copy_text(reader->trail.data + reader->root_trail_length), item};
}

static void report_unresolved(Reader* reader, const UnresolvedName* unresolved) {
  RepeatIndices indices = {.n = unresolved->item};
  size_t mark = reader->trail.length;
  text_add(&reader->trail, "%s", unresolved->trail);
  reader->indices = unresolved->item >= 0 ? &indices : NULL;
  bool by_first = unresolved->item == 0 && strchr(unresolved->node->text, '{');
  if (names_find(&reader->link_names, unresolved->name) >= 0)
    reader_error(reader, unresolved->node->place,
                 "the parent '%s' must stand before its child: move the parent up in the file",
                 text_excerpt(unresolved->name).text);
  else if (!has_unknown_names(reader))
    report_unknown_link(reader, unresolved->node, unresolved->name,
                        by_first ? ": give the parent of the first item in repeat.first" : "");
  reader->indices = NULL;
  reader_leave(reader, mark);
}

static void read_parent(Reader* reader, const LinkForm* form, SceneLink* link, int index) {
  link->parent = -1;
  if (!form->parent) return;
  size_t mark = reader_enter_key(reader, "parent");
  char* name = reader_name(reader, form->parent);
  int parent = name ? names_find(&reader->link_names, name) : -1;
  if (name && parent < 0) {
    store_unresolved_parent(reader, form->parent, name);
    name = NULL;
  } else if (name && parent == index) {
    reader_error(reader, form->parent->place, "the link is its own parent: name an earlier link, or remove 'parent'");
  } else {
    link->parent = parent;
  }
  memory_free(name);
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- mass */

bool inertia_is_positive_definite(const double m[6]) {
  assert(m);
  double minor = m[0] * m[1] - m[3] * m[3];
  double determinant =
      m[0] * (m[1] * m[2] - m[5] * m[5]) - m[3] * (m[3] * m[2] - m[5] * m[4]) + m[4] * (m[3] * m[5] - m[1] * m[4]);
  return m[0] > 0 && minor > 0 && determinant > 0;
}

/* Relative tolerance of the triangle inequality of inertias. URDF files often have four digits. */
#define TRIANGLE_TOLERANCE 1e-3

/* The matrix trace / 2 - inertia contains the second moments of the mass. It must be positive semidefinite. */
bool inertia_is_physical(const double m[6]) {
  assert(m);
  double half = 0.5 * (m[0] + m[1] + m[2]) * (1.0 + TRIANGLE_TOLERANCE);
  return inertia_is_positive_definite((const double[6]){half - m[0], half - m[1], half - m[2], -m[3], -m[4], -m[5]});
}

static void check_inertia(Reader* reader, const Node* node, const double inertia[6]) {
  size_t mark = reader_enter_key(reader, "inertia");
  if (!inertia_is_positive_definite(inertia))
    reader_error(reader, node->place, "must be positive definite: check the order ixx iyy izz ixy ixz iyz");
  else if (!inertia_is_physical(inertia))
    reader_warning(reader, node->place,
                   "the inertia is physically impossible, because a principal moment exceeds the sum of the others: "
                   "check the order ixx iyy izz ixy ixz iyz and the units");
  reader_leave(reader, mark);
}

static void read_given_mass(Reader* reader, const Node* item, const LinkForm* form, SceneLink* link) {
  const Node* density = node_find(item, "density");
  link->center = form->center;
  memcpy(link->inertia, form->inertia.values, sizeof link->inertia);
  if (density)
    reader_error(reader, node_key_place(density),
                 "mass_model: given excludes 'density': give 'mass' [kg], or remove mass_model");
  else if (!node_has_key(item, "mass"))
    reader_error(reader, item->place, "mass_model: given needs 'mass': give the mass [kg]");
  if (!node_has_key(item, "inertia"))
    reader_error(reader, item->place, "mass_model: given needs 'inertia': give 6 numbers [kg m^2]");
  if (!form->inertia.node) return;
  if (form->inertia.count == 6) {
    check_inertia(reader, form->inertia.node, link->inertia);
  } else {
    size_t mark = reader_enter_key(reader, "inertia");
    reader_error(reader, form->inertia.node->place, "expected 6 numbers [ixx, iyy, izz, ixy, ixz, iyz], got %d",
                 form->inertia.count);
    reader_leave(reader, mark);
  }
}

/* Range of densities that were probably given in g/cm^3 instead of kg/m^3: plastics and metals up to copper. No solid
 * is so light in kg/m^3. A density of 1 is excluded, because some scenes use it as their unit. */
#define GRAM_DENSITY_MIN 1.03
#define GRAM_DENSITY_MAX 9.1

static void warn_if_grams(Reader* reader, const Node* node, double density) {
  if (density >= GRAM_DENSITY_MIN && density <= GRAM_DENSITY_MAX)
    reader_warning(reader, node->place,
                   "the density %g kg/m^3 is below that of any foam: if %g g/cm^3 are meant, write %g", density,
                   density, density * 1000);
}

static void read_mass(Reader* reader, const Node* item, const LinkForm* form, SceneLink* link) {
  link->has_mass = node_has_key(item, "mass");
  link->has_density = node_has_key(item, "density");
  link->mass = form->mass;
  link->density = form->density;
  if (link->has_density) warn_if_grams(reader, node_find(item, "density"), form->density);
  link->mass_model = (MassModel)form->mass_model;
  if (!node_has_key(item, "mass_model")) link->mass_model = node_has_key(item, "inertia") ? MASS_GIVEN : MASS_BY_SHAPE;
  if (link->mass_model == MASS_GIVEN) {
    read_given_mass(reader, item, form, link);
    return;
  }
  const Node* center = node_find(item, "center");
  const Node* inertia = node_find(item, "inertia");
  if (inertia)
    reader_error(reader, node_key_place(inertia),
                 "'inertia' needs 'mass_model: given': set mass_model: given, or remove 'inertia'");
  else if (center)
    reader_error(reader, node_key_place(center),
                 "'center' needs 'mass_model: given' and 'inertia': give both, or remove 'center'");
}

/* ---------------------------------------------------------------- colour and groups */

static int hexadecimal(char c) {
  const char* digits = "0123456789abcdef";
  const char* at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
  return at ? (int)(at - digits) : -1;
}

static void read_ties(Reader* reader, const Node* list, SceneLink* link) {
  if (!list || !reader_count_values(reader, list->place, 4 * (int64_t)list->count)) return;
  const ValueRange index = RANGE_BETWEEN(0, 1000000000);
  size_t mark = reader_enter_key(reader, "ties");
  link->ties = memory_alloc(sizeof *link->ties * (size_t)(list->count + 1)); /* an empty list means no ties */
  for (const Node* item = list->first; item; item = item->next) {
    double values[4];
    size_t below = reader_enter_index(reader, link->tie_count);
    if (item->kind != NODE_LIST)
      reader_report_wrong_kind(reader, item, "a list of 4 whole numbers");
    else if (reader_numbers(reader, item, &index, NULL, 4, values)) {
      for (int k = 0; k < 4; k++) link->ties[link->tie_count][k] = (int)values[k];
      link->tie_count++;
    }
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

static bool parse_color(const char* text, double color[3]) {
  assert(text && color);
  if (text[0] != '#' || strlen(text) != 7) return false;
  for (int i = 0; i < 3; i++) {
    int high = hexadecimal(text[1 + 2 * i]), low = hexadecimal(text[2 + 2 * i]);
    if (high < 0 || low < 0) return false;
    color[i] = (16 * high + low) / 255.0;
  }
  return true;
}

static void read_color(Reader* reader, const Node* node, double color[3]) {
  static const ValueRange UNIT = {true, 0, 1, false, false};
  for (int i = 0; i < 3; i++) color[i] = -1;
  if (!node) return;
  size_t mark = reader_enter_key(reader, "color");
  if (node->kind == NODE_LIST)
    reader_numbers(reader, node, &UNIT, NULL, 3, color);
  else if (!parse_color(node->text, color))
    reader_error(reader, node->place, "must be \"#rrggbb\" (in quotes) or [r, g, b], got %s", node_describe(node).text);
  reader_leave(reader, mark);
}

static void read_groups(Reader* reader, const Node* list, SceneLink* link) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "groups");
  if (!reader_count_values(reader, list->place, 16 * (int64_t)list->count))
    return; /* reader_count_values has reported the error */
  link->groups = MEMORY_NEW(char*, list->count);
  for (const Node* item = list->first; item; item = item->next) {
    char* name = reader_name(reader, item);
    if (!name) continue;
    link->groups[link->group_count++] = name;
    names_add(&reader->group_names, name, 0);
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- the link */

SceneLink* reader_append_link(Reader* reader, SourcePosition place) {
  Scene* scene = reader->scene;
  int room = reader->link_capacity;
  scene->links = memory_grow_array(scene->links, sizeof(SceneLink), scene->link_count, &reader->link_capacity);
  if (reader->link_capacity > room)
    reader->joint_broken = memory_resize(reader->joint_broken, (size_t)room, (size_t)reader->link_capacity);
  SceneLink* link = &scene->links[scene->link_count++];
  *link = (SceneLink){.place = place, .parent = -1};
  return link;
}

void read_friction(Reader* reader, const Node* item, const NumberList* form, Vec3 direction, SceneMaterial* material) {
  const Node *friction = node_find(item, "friction"), *axis = node_find(item, "friction_axis");
  int count = form->count;
  double across = count > 0 ? form->values[count == 2 ? 1 : 0] : 0;
  material->value[MATERIAL_FRICTION] = across;
  if (count > 2)
    reader_error(reader, node_key_place(friction),
                 "'friction' must be one number, or two numbers [along, across], got %d", count);
  else if (count == 1 && axis && friction->kind == NODE_LIST)
    reader_error(reader, node_key_place(friction), "a list of 'friction' needs two numbers, [along, across], got 1");
  else if ((count == 2) != (axis != NULL))
    reader_error(
        reader, node_key_place(axis ? axis : friction),
        "'friction_axis' and two numbers of 'friction', [along, across], need each other: give both or neither");
  else if (count == 2 && !(across > 0))
    reader_error(reader, node_key_place(friction),
                 "'friction' across the axis must be above 0: if friction is 0 in one direction, give 'friction_axis' "
                 "that direction");
  else if (axis && !(vec3_norm(direction) > 0))
    reader_error(reader, node_key_place(axis), "'friction_axis' must not be the zero vector: give a direction");
  material->given[MATERIAL_FRICTION_ALONG] = count == 2 && axis;
  material->value[MATERIAL_FRICTION_ALONG] = count > 0 ? form->values[0] : 0;
  material->axis = axis ? unit_vector(direction) : vec3(0, 0, 0);
}

void read_link(Reader* reader, const Node* item, const Repeat* repeat) {
  LinkForm form;
  if (!schema_read_partial(reader, item, "link", &form)) {
    reader->names_incomplete = true;
    return;
  }
  if (reader->scene->link_count >= LINK_MAX) {
    reader_error(reader, item->place, "the scene has more than %d links: remove links", LINK_MAX);
    reader_stop(reader);
    return;
  }
  int index = reader->scene->link_count;
  SceneLink* link = reader_append_link(reader, item->place);
  read_link_name_key(reader, &form, link, index);
  read_parent(reader, &form, link, index);
  reader->joint_broken[index] = !read_joint(reader, item, &form, repeat, &link->joint);
  link->fixed = link->joint.type == JOINT_FIXED;
  read_shape_uses(reader, &form, link);
  read_mass(reader, item, &form, link);
  read_groups(reader, form.groups, link);
  read_ties(reader, form.ties, link);
  read_color(reader, form.color, link->color);
  link->collide = form.collide;
  link->material = form.material;
  read_material_flags(item, &link->material);
  read_friction(reader, item, &form.friction, form.friction_axis, &link->material);
  check_static_contact(reader, item, link->material.value[MATERIAL_FRICTION],
                       form.material.value[MATERIAL_STATIC_FRICTION]);
  bool given = node_has_key(item, "gravity_compensation") || link->parent < 0;
  link->gravity_compensation =
      given ? form.gravity_compensation : reader->scene->links[link->parent].gravity_compensation;
}

void read_links(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "links");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    repeat_expand(reader, entry, "link", "repeat", read_link);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
  for (int i = 0; i < reader->unresolved_count; i++) report_unresolved(reader, &reader->unresolved[i]);
}
