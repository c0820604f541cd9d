/* Reads MuJoCo files as elements: includes, default classes, compiler settings and attributes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

enum { INCLUDE_MAX = 64, PROBLEM_MAX = 200 };

/* ---------------------------------------------------------------- messages and texts */

void mjcf_error(MjcfModel* model, SourcePosition place, const char* format, ...) {
  Text text = {0};
  if (model->diagnostics->count >= PROBLEM_MAX) {
    model->diagnostics->error_count++;
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(model->diagnostics, SEVERITY_ERROR, place, "%s", text.data);
  text_free(&text);
}

const char* mjcf_own_text(MjcfModel* model, Text* text) {
  model->texts = memory_grow_array(model->texts, sizeof(char*), model->text_count, &model->text_capacity);
  model->texts[model->text_count++] = text->data;
  char* kept = text->data;
  *text = (Text){0};
  return kept;
}

static void list_once(MjcfModel* model, const char* name, Text* list) {
  if (names_find(&model->dropped_names, name) >= 0) return;
  Text text = {0};
  text_add(&text, "%s", name);
  names_add(&model->dropped_names, mjcf_own_text(model, &text), 0);
  text_add(list, "%s%s", list->length > 0 ? ", " : "", text_excerpt(name).text);
}

void mjcf_report_dropped(MjcfModel* model, const char* name) { list_once(model, name, &model->dropped_list); }

void mjcf_report_lost_force(MjcfModel* model, const char* name) { list_once(model, name, &model->lost_list); }

/* ---------------------------------------------------------------- includes */

static bool add_document(MjcfModel* model, const char* path, const char* text, size_t length, SourcePosition from) {
  size_t count = (size_t)model->document_count;
  if (count == INCLUDE_MAX) {
    mjcf_error(
        model, from,
        "more than %d files are included: include fewer files, or remove an <include> by which a file includes itself",
        INCLUDE_MAX - 1);
    return false;
  }
  model->documents = memory_resize(model->documents, count * sizeof(XmlDocument), (count + 1) * sizeof(XmlDocument));
  model->documents[count] = (XmlDocument){0};
  model->document_count++;
  return xml_read(&model->documents[count], path, text, length, model->diagnostics);
}

/* Moves a path into the report, because places of the scene may point to it. Returns the path, which the report owns.
 */
static char* own_path(MjcfModel* model, char* path) {
  RobotReport* report = model->report;
  size_t count = (size_t)report->file_count;
  report->files = memory_resize(report->files, count * sizeof(char*), (count + 1) * sizeof(char*));
  return report->files[report->file_count++] = path;
}

/* Replaces an <include> by the elements of its file. base: the outermost including file, whose folder file names are
 * relative to. before: previous sibling, or NULL. Returns false after an error. */
static bool include_file(MjcfModel* model, const char* base, XmlElement* include, XmlElement* before) {
  const XmlAttribute* file = xml_attribute(include, "file");
  char* text;
  size_t length;
  if (!file || !*file->value) {
    mjcf_error(model, include->place, "<include> needs 'file', the path of the file to include");
    return false;
  }
  char* path = own_path(model, file_resolve(base, file->value));
  if (file_read_reported(path, &text, &length, model->diagnostics) != STATUS_OK) {
    mjcf_error(model, file->place,
               "<include>: the file '%s' cannot be read: check the path, which starts from the folder of the main file",
               text_excerpt(file->value).text);
    return false;
  }
  bool good = add_document(model, path, text, length, include->place);
  memory_free(text);
  if (good) xml_splice(include, before, model->documents[model->document_count - 1].root);
  return good;
}

/* Expands all <include> elements, also in included files. INCLUDE_MAX ends cycles of includes. Returns false after an
 * error. */
static bool include_all(MjcfModel* model, const char* base, XmlElement* parent) {
  XmlElement* before = NULL;
  for (XmlElement* child = parent->first; child;) {
    if (strcmp(child->name, "include") == 0) {
      if (!include_file(model, base, child, before)) return false;
      child = before ? before->next : parent->first;
      continue;
    }
    if (!include_all(model, base, child)) return false;
    before = child;
    child = child->next;
  }
  return true;
}

/* ---------------------------------------------------------------- models in a model */

static void read_compiler(MjcfModel* model, const XmlElement* element, MjcfCompiler* compiler);

static const MjcfCompiler PLAIN_COMPILER = {.degrees = true,
                                            .auto_limits = true,
                                            .from_geoms = -1,
                                            .group_maximum = 5,
                                            .euler = "xyz",
                                            .mesh_folder = "",
                                            .folder = "",
                                            .timestep = 0.002,
                                            .gravity = {0, 0, -9.81}};

XmlElement* mjcf_read_model(MjcfModel* model, const XmlAttribute* file, const char* base, const char* folder,
                            SourcePosition from) {
  char *path = own_path(model, file_resolve(base, file->value)), *text;
  size_t length;
  int first = model->document_count;
  Text file_folder = {0};
  if (file_read_reported(path, &text, &length, model->diagnostics) != STATUS_OK) {
    mjcf_error(model, file->place, "<model>: the file '%s' cannot be read: check the path in 'file'",
               text_excerpt(file->value).text);
    return NULL;
  }
  bool good = add_document(model, path, text, length, from);
  memory_free(text);
  if (!good || !include_all(model, path, model->documents[first].root)) return NULL;
  XmlElement* root = model->documents[first].root;
  MjcfCompiler compiler = PLAIN_COMPILER;
  text_add(&file_folder, "%s", folder);
  compiler.folder = mjcf_own_text(model, &file_folder);
  for (const XmlElement* item = xml_child(root, "compiler"); item; item = xml_next(item)) {
    read_compiler(model, item, &compiler);
    mjcf_report_unsupported(model, item);
  }
  for (int k = first; k < model->document_count; k++) {
    model->compilers =
        memory_grow_array(model->compilers, sizeof(MjcfFileCompiler), model->compiler_count, &model->compiler_capacity);
    model->compilers[model->compiler_count++] =
        (MjcfFileCompiler){model->documents[k].root->place.file, root, compiler};
  }
  return root;
}

/* Returns the root of the attached model that contains the element at `place`, or NULL if the first model contains it.
 */
static const XmlElement* attached_root_of(const MjcfModel* model, SourcePosition place) {
  for (int k = 0; k < model->compiler_count; k++)
    if (model->compilers[k].file == place.file) return model->compilers[k].root;
  return NULL;
}

bool mjcf_keyframe_applies(const MjcfModel* model, SourcePosition place) {
  assert(model->key);
  const XmlElement* owner = attached_root_of(model, model->key->place);
  return !owner || owner == attached_root_of(model, place);
}

const MjcfCompiler* mjcf_compiler(const MjcfModel* model, SourcePosition place) {
  for (int k = 0; k < model->compiler_count; k++)
    if (model->compilers[k].file == place.file) return &model->compilers[k].compiler;
  return &model->compiler;
}

/* ---------------------------------------------------------------- attributes */

/* Returns an attribute of an element `tag` in a <default> element, or NULL if it is absent. Attributes shared by all
 * actuators may be given in any actuator element, and those of tendons in <tendon>. */
static const XmlAttribute* attribute_in_default(const XmlElement* class_element, const char* tag, const char* name) {
  static const char* const ACTUATORS[] = {"general", "motor",    "position", "velocity", "intvelocity",
                                          "damper",  "cylinder", "muscle",   "adhesion"};
  enum { COUNT = sizeof ACTUATORS / sizeof *ACTUATORS };
  bool tendon = strcmp(tag, "spatial") == 0 || strcmp(tag, "fixed") == 0, actuator = false;
  const XmlElement* defaults = xml_child(class_element, tendon ? "tendon" : tag);
  const XmlAttribute* attribute = defaults ? xml_attribute(defaults, name) : NULL;
  for (int k = 0; k < COUNT; k++) actuator = actuator || strcmp(tag, ACTUATORS[k]) == 0;
  for (int k = 0; actuator && !attribute && k < COUNT; k++) {
    defaults = xml_child(class_element, ACTUATORS[k]);
    attribute = defaults ? xml_attribute(defaults, name) : NULL;
  }
  return attribute;
}

/* Returns the default value of an attribute of elements `tag` in a class, from the class or its enclosing classes. All
 * top-level <default> elements of a model together are its class `main`. Returns NULL if there is no default. */
static const XmlAttribute* default_attribute(const MjcfModel* model, const char* class_name, const char* tag,
                                             const char* name) {
  int index = names_find(&model->defaults, *class_name ? class_name : "main");
  const XmlElement *element = index >= 0 ? model->default_elements[index] : NULL, *top = model->root;
  for (; element; element = element->parent) {
    top = element->parent;
    if (!top || strcmp(top->name, "default") != 0) break;
    const XmlAttribute* attribute = attribute_in_default(element, tag, name);
    if (attribute) return attribute;
  }
  for (element = xml_child(top, "default"); element; element = xml_next(element)) {
    const XmlAttribute* attribute = attribute_in_default(element, tag, name);
    if (attribute) return attribute;
  }
  return NULL;
}

const XmlAttribute* mjcf_attribute(const MjcfModel* model, MjcfElement element, const char* name) {
  const XmlAttribute* given = xml_attribute(element.element, name);
  const XmlAttribute* class_name = xml_attribute(element.element, "class");
  if (given) return given;
  return default_attribute(model, class_name ? class_name->value : element.class_name, element.element->name, name);
}

bool mjcf_is_decimal(const char* p, const char* end) {
  p += strspn(p, " \t\r\n");
  return end - p <= (ptrdiff_t)strspn(p, "0123456789+-.eE");
}

/* Parses up to `maximum` finite numbers separated by blanks. Returns their number, or -1 if the text is anything else.
 */
static int parse_numbers(const char* text, int maximum, double* values) {
  assert(maximum >= 1);
  const char* p = text;
  for (int count = 0;; count++) {
    p += strspn(p, " \t\r\n");
    if (!*p) return count;
    char* end;
    double value = strtod(p, &end);
    if (end == p || !mjcf_is_decimal(p, end) || !isfinite(value) || (*end && !strchr(" \t\r\n", *end)) ||
        count == maximum)
      return -1;
    values[count] = value;
    p = end;
  }
}

/* Largest number of numbers of an attribute, at least MJCF_ACTUATOR_GROUPS. */
enum { NUMBERS_MAX = 32 };

int mjcf_numbers(MjcfModel* model, MjcfElement element, const char* name, int minimum, int maximum, double* values) {
  assert(minimum >= 0 && minimum <= maximum && maximum <= NUMBERS_MAX);
  const XmlAttribute* attribute = mjcf_attribute(model, element, name);
  double read[NUMBERS_MAX];
  int count = attribute ? parse_numbers(attribute->value, maximum, read) : 0;
  if (!attribute) return 0;
  if (count >= minimum) {
    memcpy(values, read, sizeof(double) * (size_t)count);
    return count;
  }
  if (minimum == maximum)
    mjcf_error(model, attribute->place, "%s of <%s>: expected %d number%s, got '%s'", name, element.element->name,
               maximum, maximum == 1 ? "" : "s", text_excerpt(attribute->value).text);
  else
    mjcf_error(model, attribute->place, "%s of <%s>: expected %d to %d numbers, got '%s'", name, element.element->name,
               minimum, maximum, text_excerpt(attribute->value).text);
  return 0;
}

double mjcf_number(MjcfModel* model, MjcfElement element, const char* name, double fallback) {
  mjcf_numbers(model, element, name, 1, 1, &fallback);
  return fallback;
}

const char* mjcf_text(const MjcfModel* model, MjcfElement element, const char* name) {
  const XmlAttribute* attribute = mjcf_attribute(model, element, name);
  return attribute ? attribute->value : "";
}

int mjcf_flag(const MjcfModel* model, MjcfElement element, const char* name) {
  const char* word = mjcf_text(model, element, name);
  return strcmp(word, "true") == 0 ? 1 : strcmp(word, "false") == 0 ? 0 : -1;
}

double mjcf_angle(const MjcfModel* model, SourcePosition place, double value) {
  return mjcf_compiler(model, place)->degrees ? value * M_PI / 180 : value;
}

/* ---------------------------------------------------------------- poses */

static Quat rotation_about(char axis, double angle) {
  char low = axis >= 'a' ? axis : (char)(axis - 'A' + 'a');
  return quat_about(vec3(low == 'x', low == 'y', low == 'z'), angle);
}

Quat mjcf_euler(const MjcfModel* model, SourcePosition place, const double* angles) {
  const char* sequence = mjcf_compiler(model, place)->euler;
  Quat q = {1, 0, 0, 0};
  for (int k = 0; k < 3; k++) {
    Quat turn = rotation_about(sequence[k], mjcf_angle(model, place, angles[k]));
    q = sequence[k] >= 'a' ? quat_mul(q, turn) : quat_mul(turn, q);
  }
  return q;
}

/* Returns the smallest rotation that maps the z axis to a direction, or the identity if the direction is zero. */
static Quat rotation_from_z(Vec3 direction) {
  Vec3 z = unit_vector(direction);
  if (!(vec3_norm(z) > 0)) return (Quat){1, 0, 0, 0};
  if (z.z < -1 + 1e-12) return (Quat){0, 1, 0, 0};
  return quat_normalized((Quat){1 + z.z, -z.y, z.x, 0});
}

static Quat rotation_from_axes(const double* v) {
  Vec3 x = unit_vector(vec3(v[0], v[1], v[2])), given = vec3(v[3], v[4], v[5]);
  Vec3 y = unit_vector(vec3_add_scaled(given, -vec3_dot(x, given), x)), z = vec3_cross(x, y);
  if (!(vec3_norm(z) > 0.5)) return (Quat){1, 0, 0, 0};
  return quat_from_mat3((Mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}});
}

static Quat read_rotation(MjcfModel* model, MjcfElement element) {
  double v[6] = {0};
  if (mjcf_numbers(model, element, "quat", 4, 4, v) > 0) {
    Quat q = {v[0], v[1], v[2], v[3]};
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
    if (!(length > 1e-100) || !(length < 1e100)) {
      mjcf_error(model, mjcf_attribute(model, element, "quat")->place,
                 "quat of <%s> must have a length other than zero: 1 0 0 0 is no rotation", element.element->name);
      return (Quat){1, 0, 0, 0};
    }
    return is_unit_length(length) ? q : (Quat){v[0] / length, v[1] / length, v[2] / length, v[3] / length};
  }
  if (mjcf_numbers(model, element, "euler", 3, 3, v) > 0) return mjcf_euler(model, element.element->place, v);
  if (mjcf_numbers(model, element, "axisangle", 4, 4, v) > 0) {
    Vec3 axis = unit_vector(vec3(v[0], v[1], v[2]));
    return vec3_norm(axis) > 0 ? quat_about(axis, mjcf_angle(model, element.element->place, v[3])) : (Quat){1, 0, 0, 0};
  }
  if (mjcf_numbers(model, element, "xyaxes", 6, 6, v) > 0) return rotation_from_axes(v);
  if (mjcf_numbers(model, element, "zaxis", 3, 3, v) > 0) return rotation_from_z(vec3(v[0], v[1], v[2]));
  return (Quat){1, 0, 0, 0};
}

UrdfPose mjcf_pose(MjcfModel* model, MjcfElement element) {
  double position[3] = {0}, ends[6];
  mjcf_numbers(model, element, "pos", 3, 3, position);
  if (mjcf_numbers(model, element, "fromto", 6, 6, ends) > 0) { /* z is along the segment, from its end to its start */
    Vec3 a = vec3(ends[0], ends[1], ends[2]), b = vec3(ends[3], ends[4], ends[5]);
    return (UrdfPose){vec3_scale(vec3_add(a, b), 0.5), rotation_from_z(vec3_sub(a, b))};
  }
  return (UrdfPose){vec3(position[0], position[1], position[2]), read_rotation(model, element)};
}

/* ---------------------------------------------------------------- compiler, option, defaults, assets */

static void read_mass_rules(MjcfModel* model, MjcfElement e, MjcfCompiler* compiler) {
  double groups[2] = {compiler->group_minimum, compiler->group_maximum};
  compiler->mass_minimum = mjcf_number(model, e, "boundmass", compiler->mass_minimum);
  compiler->inertia_minimum = mjcf_number(model, e, "boundinertia", compiler->inertia_minimum);
  if (mjcf_flag(model, e, "balanceinertia") >= 0)
    compiler->balances_inertia = mjcf_flag(model, e, "balanceinertia") == 1;
  mjcf_numbers(model, e, "inertiagrouprange", 2, 2, groups);
  compiler->group_minimum = groups[0];
  compiler->group_maximum = groups[1];
}

static void read_compiler(MjcfModel* model, const XmlElement* element, MjcfCompiler* compiler) {
  MjcfElement e = {element, ""};
  const char *angle = mjcf_text(model, e, "angle"), *euler = mjcf_text(model, e, "eulerseq");
  const char *inertia = mjcf_text(model, e, "inertiafromgeom"), *folder = mjcf_text(model, e, "meshdir");
  if (strcmp(angle, "radian") == 0) compiler->degrees = false;
  if (strcmp(angle, "degree") == 0) compiler->degrees = true;
  if (mjcf_flag(model, e, "autolimits") == 0) compiler->auto_limits = false;
  if (mjcf_flag(model, e, "strippath") >= 0) compiler->strips_paths = mjcf_flag(model, e, "strippath") == 1;
  if (mjcf_flag(model, e, "exactmeshinertia") >= 0)
    compiler->exact_meshes = mjcf_flag(model, e, "exactmeshinertia") == 1;
  compiler->total_mass = mjcf_number(model, e, "settotalmass", compiler->total_mass);
  read_mass_rules(model, e, compiler);
  if (*inertia) compiler->from_geoms = mjcf_flag(model, e, "inertiafromgeom");
  if (!*folder) folder = mjcf_text(model, e, "assetdir");
  if (*folder) compiler->mesh_folder = folder;
  if (*euler && (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3))
    mjcf_error(model, element->place, "eulerseq of <compiler> must be three letters of x, y, z, X, Y, Z, got '%s'",
               text_excerpt(euler).text);
  else if (*euler)
    memcpy(compiler->euler, euler, 4);
  if (strcmp(mjcf_text(model, e, "coordinate"), "global") == 0)
    mjcf_error(model, element->place,
               "coordinate=\"global\" of <compiler> is not supported: convert the model to local coordinates");
}

const char* mjcf_missing_body_hint(const MjcfModel* model) {
  if (names_find(&model->dropped_names, "composite") >= 0) return " (of <composite> only cables are supported)";
  return names_find(&model->dropped_names, "flexcomp") >= 0 ? " (bodies of <flexcomp> are not supported)" : "";
}

static void read_option(MjcfModel* model, const XmlElement* element) {
  double gravity[3], groups[MJCF_ACTUATOR_GROUPS];
  MjcfElement e = {element, ""};
  int count = mjcf_numbers(model, e, "actuatorgroupdisable", 0, MJCF_ACTUATOR_GROUPS, groups);
  for (int k = 0; k < count; k++)
    if (groups[k] >= 0 && groups[k] < MJCF_ACTUATOR_GROUPS) model->disabled_groups |= 1u << (int)groups[k];
  model->compiler.timestep = mjcf_number(model, e, "timestep", model->compiler.timestep);
  if (mjcf_numbers(model, e, "gravity", 3, 3, gravity) > 0)
    model->compiler.gravity = vec3(gravity[0], gravity[1], gravity[2]);
  for (const XmlElement* flag = xml_child(element, "flag"); flag; flag = xml_next(flag)) {
    MjcfElement one = {flag, ""};
    if (strcmp(mjcf_text(model, one, "gravity"), "disable") == 0) model->compiler.gravity = vec3(0, 0, 0);
    if (strcmp(mjcf_text(model, one, "contact"), "disable") == 0) model->no_contact = true;
  }
}

/* Reads the <numeric> elements that `sdrs export` writes: sdrs_dt, the time step, and sdrs_integrator, the integrator
 * of the scene. sdrs_restitution marks damping ratios above 1 as small restitutions. */
static void read_custom(MjcfModel* model, const XmlElement* element) {
  for (const XmlElement* numeric = xml_child(element, "numeric"); numeric; numeric = xml_next(numeric)) {
    MjcfElement e = {numeric, ""};
    if (strcmp(mjcf_text(model, e, "name"), "sdrs_dt") == 0)
      model->compiler.timestep = mjcf_number(model, e, "data", model->compiler.timestep);
    if (strcmp(mjcf_text(model, e, "name"), "sdrs_integrator") == 0) {
      double number = mjcf_number(model, e, "data", -1);
      bool known =
          number == INTEGRATOR_FIRST_ORDER || number == INTEGRATOR_SECOND_ORDER || number == INTEGRATOR_MOMENTUM;
      model->integrator = known ? 1 + (int)number : 0;
    }
    if (strcmp(mjcf_text(model, e, "name"), "sdrs_restitution") == 0) model->small_restitution = true;
  }
}

void mjcf_add_default(MjcfModel* model, const XmlElement* element) {
  const XmlAttribute* name = xml_attribute(element, "class");
  model->default_elements =
      memory_grow_array(model->default_elements, sizeof(XmlElement*), model->default_count, &model->default_capacity);
  names_add(&model->defaults, name ? name->value : "main", model->default_count);
  model->default_elements[model->default_count++] = element;
  for (const XmlElement* child = xml_child(element, "default"); child; child = xml_next(child))
    mjcf_add_default(model, child);
}

static void add_asset(MjcfModel* model, const XmlElement* element, Names* names) {
  const XmlAttribute *name = xml_attribute(element, "name"), *file = xml_attribute(element, "file");
  Text stem = {0};
  if (!name && file) {
    char* file_name = file_stem(file->value);
    text_add(&stem, "%s", file_name);
    memory_free(file_name);
  }
  if (!name && !file) return;
  const char* called = name ? name->value : mjcf_own_text(model, &stem);
  model->assets = memory_grow_array(model->assets, sizeof(XmlElement*), model->asset_count, &model->asset_capacity);
  names_add(names, called, model->asset_count);
  model->assets[model->asset_count++] = element;
}

static void read_assets(MjcfModel* model, const XmlElement* section) {
  for (const XmlElement* item = section->first; item; item = item->next) {
    if (strcmp(item->name, "mesh") == 0) add_asset(model, item, &model->meshes);
    if (strcmp(item->name, "material") == 0) add_asset(model, item, &model->materials);
    if (strcmp(item->name, "hfield") == 0) add_asset(model, item, &model->height_fields);
  }
}

const XmlElement* mjcf_asset(const MjcfModel* model, const Names* names, const char* name) {
  int index = names_find(names, name);
  return index >= 0 ? model->assets[index] : NULL;
}

static void read_sections(MjcfModel* model) {
  for (const XmlElement* item = model->root->first; item; item = item->next) {
    if (strcmp(item->name, "option") == 0) read_option(model, item);
    if (strcmp(item->name, "default") == 0) mjcf_add_default(model, item);
    if (strcmp(item->name, "asset") == 0) read_assets(model, item);
    if (strcmp(item->name, "custom") == 0) read_custom(model, item);
  }
}

/* ---------------------------------------------------------------- the file */

bool mjcf_open(MjcfModel* model, const char* text, size_t length) {
  assert(model->options && model->report && model->diagnostics);
  int before = model->diagnostics->error_count;
  model->compiler = PLAIN_COMPILER;
  model->robot.root = -1;
  if (!add_document(model, model->path, text, length, (SourcePosition){model->path, 1, 1})) return false;
  XmlElement* root = model->documents[0].root;
  model->root = root;
  if (strcmp(root->name, "mujoco") != 0) {
    mjcf_error(model, root->place, "the root element must be <mujoco>, got <%s>", text_excerpt(root->name).text);
    return false;
  }
  if (!include_all(model, model->path, root)) return false;
  for (const XmlElement* item = xml_child(root, "compiler"); item; item = xml_next(item))
    read_compiler(model, item, &model->compiler);
  if (!mjcf_expand(model)) return false;
  read_sections(model);
  mjcf_report_unsupported(model, root);
  return model->diagnostics->error_count == before;
}

void mjcf_free(MjcfModel* model) {
  urdf_free(&model->robot);
  for (int i = 0; i < model->document_count; i++) xml_free(&model->documents[i]);
  for (int i = 0; i < model->text_count; i++) memory_free(model->texts[i]);
  for (int i = 0; i < model->start_count; i++) memory_free((char*)model->starts[i].joint);
  names_free(&model->defaults);
  names_free(&model->meshes);
  names_free(&model->materials);
  names_free(&model->height_fields);
  names_free(&model->paired);
  memory_free(model->paired_link);
  memory_free(model->placed);
  memory_free(model->compilers);
  memory_free(model->attached_keys);
  names_free(&model->bodies);
  names_free(&model->written_bodies);
  names_free(&model->joint_names);
  names_free(&model->site_names);
  names_free(&model->wrap_geom_names);
  memory_free(model->wrap_geoms);
  memory_free(model->frictions);
  memory_free(model->elasticities);
  memory_free(model->anchors);
  memory_free(model->sites);
  names_free(&model->dropped_names);
  memory_free(model->documents);
  memory_free(model->texts);
  memory_free(model->default_elements);
  memory_free(model->assets);
  memory_free(model->masks);
  memory_free(model->mesh_moments);
  memory_free(model->coordinates);
  memory_free(model->starts);
  text_free(&model->dropped_list);
  text_free(&model->lost_list);
  *model = (MjcfModel){0};
}
