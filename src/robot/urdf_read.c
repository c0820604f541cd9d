/* Reads the elements of a URDF file, with one function for each element. Collects unsupported elements by name. Reports
 * probable mistakes, such as unknown attributes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"
#include "robot/urdf.h"

enum { URDF_PROBLEM_MAX = 200 };
/* An axis whose length differs from 1 by more than this is reported. Many files write three digits. */
#define AXIS_TOLERANCE 1e-3

typedef struct {
  const XmlElement* color;
} Material;

typedef struct {
  UrdfRobot* robot;
  Diagnostics* diagnostics;
  const XmlElement* root;
  bool visual;     /* true: visual shapes are read; false: only their colours */
  Names ignored;   /* names of ignored elements */
  Names materials; /* names of materials with a <color>; each gives an index in `colors` */
  Material* colors;
  int color_count, color_capacity;
} UrdfReader;

/* ---------------------------------------------------------------- messages */

static void add_message(UrdfReader* reader, Severity severity, SourcePosition place, const char* format,
                        va_list arguments) {
  if (reader->diagnostics->count >= URDF_PROBLEM_MAX) {
    if (severity == SEVERITY_ERROR) reader->diagnostics->error_count++;
    return;
  }
  Text text = {0};
  text_add_va_list(&text, format, arguments);
  diagnostics_add(reader->diagnostics, severity, place, "%s", text.data);
  text_free(&text);
  if (reader->diagnostics->count == URDF_PROBLEM_MAX)
    diagnostics_add(reader->diagnostics, SEVERITY_NOTE, (SourcePosition){place.file, 0, 0},
                    "more than %d problems: the others are not shown", URDF_PROBLEM_MAX);
}

static void error(UrdfReader* reader, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static void error(UrdfReader* reader, SourcePosition place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_message(reader, SEVERITY_ERROR, place, format, arguments);
  va_end(arguments);
}

static void warn(UrdfReader* reader, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static void warn(UrdfReader* reader, SourcePosition place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_message(reader, SEVERITY_WARNING, place, format, arguments);
  va_end(arguments);
}

/* Warns that a value was replaced, and adds the warning to the remarks, which the scene file contains. */
static void warn_of_replacement(UrdfReader* reader, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static void warn_of_replacement(UrdfReader* reader, SourcePosition place, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  warn(reader, place, "%s", text.data);
  text_add(&reader->robot->remarks, "%s\n", text.data);
  text_free(&text);
}

/* ---------------------------------------------------------------- content of elements */

/* Attributes and child elements that are read. */
static const struct {
  const char *name, *attributes, *children;
} ELEMENTS[] = {
    {"robot", "name|version", "link|joint|material"},
    {"link", "name", "inertial|visual|collision"},
    {"inertial", "", "origin|mass|inertia"},
    {"mass", "value", ""},
    {"inertia", "ixx|iyy|izz|ixy|ixz|iyz", ""},
    {"origin", "xyz|rpy|quat_xyzw", ""},
    {"visual", "name", "origin|geometry|material"},
    {"collision", "name", "origin|geometry"},
    {"geometry", "", "box|cylinder|sphere|capsule|mesh|plane"},
    {"box", "size", ""},
    {"cylinder", "radius|length", ""},
    {"sphere", "radius", ""},
    {"capsule", "radius|length", ""},
    {"mesh", "filename|scale", ""},
    {"plane", "normal", ""},
    {"material", "name", "color|texture"},
    {"color", "rgba", ""},
    {"joint", "name|type", "origin|parent|child|axis|limit|dynamics|mimic|safety_controller|calibration"},
    {"parent", "link", ""},
    {"child", "link", ""},
    {"axis", "xyz", ""},
    {"limit", "lower|upper|effort|velocity", ""},
    {"dynamics", "damping|friction", ""},
    {"mimic", "joint|multiplier|offset", ""},
};

static void ignore(UrdfReader* reader, const XmlElement* element) {
  Text name = {0};
  bool top = element->parent == reader->root;
  text_add(&name, "%s%s%s", top ? "" : element->parent->name, top ? "" : "/", text_excerpt(element->name).text);
  bool first = names_find(&reader->ignored, name.data) < 0;
  if (first) text_add(&reader->robot->ignored, "%s%s", reader->robot->ignored.length > 0 ? ", " : "", name.data);
  if (first)
    names_add(&reader->ignored, name.data, 0); /* reader->ignored owns the text */
  else
    text_free(&name);
}

/* Elements whose place matters: in another element than theirs they are reported one by one. */
#define PLACED_ELEMENTS "inertial|mass|inertia|origin|geometry|collision|axis|limit|dynamics|mimic"

/* Reports an element that is not read. Warns if its name is probably misspelled or belongs to another element. */
static void check_unread_child(UrdfReader* reader, const XmlElement* child, const char* children) {
  int meant = words_nearest(children, child->name);
  if (strncmp(child->name, "xacro:", 6) == 0)
    error(reader, child->place, "'%s' is an element of xacro: expand the file first (xacro file.xacro > file.urdf)",
          text_excerpt(child->name).text);
  else if (meant >= 0 || words_index(PLACED_ELEMENTS, child->name) >= 0)
    warn_of_replacement(reader, child->place, "<%s> is no element of <%s> and is left out%s",
                        text_excerpt(child->name).text, child->parent->name,
                        text_suggestion(meant >= 0 ? words_at(children, meant).text : NULL).text);
  else
    ignore(reader, child);
}

static void check_children(UrdfReader* reader, const XmlElement* element, const char* children) {
  for (const XmlElement* child = element->first; child; child = child->next)
    if (words_index(children, child->name) < 0) check_unread_child(reader, child, children);
}

static void check_attributes(UrdfReader* reader, const XmlElement* element, const char* attributes) {
  for (int i = 0; i < element->attribute_count; i++) {
    const XmlAttribute* attribute = &element->attributes[i];
    if (words_index(attributes, attribute->name) >= 0 || strchr(attribute->name, ':') ||
        strcmp(attribute->name, "xmlns") == 0)
      continue;
    int meant = words_nearest(attributes, attribute->name);
    warn(reader, attribute->place, "unknown attribute '%s' of <%s> is ignored%s", text_excerpt(attribute->name).text,
         element->name, text_suggestion(meant >= 0 ? words_at(attributes, meant).text : NULL).text);
  }
}

/* Reports unknown attributes and children of an element. Called once for each element that is read. */
static void check_element(UrdfReader* reader, const XmlElement* element) {
  for (size_t i = 0; i < sizeof ELEMENTS / sizeof ELEMENTS[0]; i++)
    if (strcmp(ELEMENTS[i].name, element->name) == 0) {
      check_attributes(reader, element, ELEMENTS[i].attributes);
      check_children(reader, element, ELEMENTS[i].children);
    }
}

/* Returns the only child element with this name, or NULL if there is none. Checks its attributes and children. Several
 * children with the name are an error. */
static const XmlElement* find_only_child(UrdfReader* reader, const XmlElement* parent, const char* name) {
  const XmlElement* child = xml_child(parent, name);
  if (!child) return NULL;
  check_element(reader, child);
  const XmlElement* second = xml_next(child);
  if (second) error(reader, second->place, "<%s> occurs twice in <%s>: remove one of them", name, parent->name);
  return child;
}

/* ---------------------------------------------------------------- values */

static const char* skip_blanks(const char* p) { return p + strspn(p, " \t\r\n"); }

/* Sets values[count] to finite decimal numbers separated by blanks. Returns false if the text is anything else. */
static bool parse_numbers(const char* text, int count, double* values) {
  assert(count >= 1);
  const char* p = skip_blanks(text);
  if (p[strspn(p, "0123456789+-.eE \t\r\n")]) return false; /* strtod also accepts nan, inf and hexadecimal numbers */
  for (int i = 0; i < count; i++) {
    char* end;
    values[i] = strtod(p, &end);
    if (end == p || !isfinite(values[i]) || (*end && skip_blanks(end) == end)) return false;
    p = skip_blanks(end);
  }
  return !*p;
}

/* Returns true if a text contains an expression of xacro or of a launch file, such as ${width} or $(arg name). */
static bool is_unexpanded(const char* text) { return strstr(text, "${") || strstr(text, "$("); }

/* Returns the likely reason, as the end of a message, why a text is not the expected numbers. */
static const char* explain_bad_numbers(const char* text) {
  if (is_unexpanded(text)) return ": expand the file first (xacro file.xacro > file.urdf)";
  return strchr(text, ',') ? ": separate numbers by blanks, and write a decimal point" : "";
}

/* Sets values[count] to the numbers of an attribute. Returns false, with values unchanged, if the attribute is absent
 * or invalid. Reports an invalid attribute. */
static bool read_numbers(UrdfReader* reader, const XmlElement* element, const char* name, int count, double* values) {
  const XmlAttribute* attribute = xml_attribute(element, name);
  double read[9];
  if (!attribute) return false;
  if (!parse_numbers(attribute->value, count, read)) {
    error(reader, attribute->place, "%s of <%s>: expected %s, got '%s'%s", name, element->name,
          count == 1   ? "a number"
          : count == 3 ? "three numbers"
                       : "four numbers",
          text_excerpt(attribute->value).text, explain_bad_numbers(attribute->value));
    return false;
  }
  memcpy(values, read, sizeof(double) * (size_t)count);
  return true;
}

/* Sets values[count] to the numbers of a required attribute. Returns false, after reporting an error, if it is absent
 * or invalid. */
static bool read_required_numbers(UrdfReader* reader, const XmlElement* element, const char* name, int count,
                                  double* values) {
  if (xml_attribute(element, name)) return read_numbers(reader, element, name, count, values);
  error(reader, element->place, "<%s> needs '%s'", element->name, name);
  return false;
}

static void not_below(UrdfReader* reader, const XmlElement* element, const char* name, double value, bool zero) {
  if (zero ? value >= 0 : value > 0) return;
  error(reader, xml_attribute(element, name)->place, "%s of <%s> must be %s 0, got %.10g", name, element->name,
        zero ? ">=" : ">", value);
}

/* Returns the number of a required attribute, which must be > 0. Reports other values as errors. */
static double read_positive(UrdfReader* reader, const XmlElement* element, const char* name) {
  double value = 1;
  if (read_required_numbers(reader, element, name, 1, &value)) not_below(reader, element, name, value, false);
  return value;
}

/* Returns the number of an optional attribute, which must be >= 0, or 0 if it is absent. Reports other values as
 * errors. */
static double read_nonnegative(UrdfReader* reader, const XmlElement* element, const char* name) {
  double value = 0;
  if (read_numbers(reader, element, name, 1, &value)) not_below(reader, element, name, value, true);
  return value;
}

static const char* read_text(UrdfReader* reader, const XmlElement* element, const char* name, SourcePosition* place) {
  const XmlAttribute* attribute = xml_attribute(element, name);
  *place = attribute ? attribute->place : element->place;
  if (attribute && *attribute->value) {
    if (is_unexpanded(attribute->value))
      error(reader, *place, "%s of <%s> has an expression, '%s'%s", name, element->name,
            text_excerpt(attribute->value).text, explain_bad_numbers(attribute->value));
    return attribute->value;
  }
  error(reader, *place, "<%s> needs '%s'", element->name, name);
  return "";
}

UrdfPose urdf_pose_mul(UrdfPose a, UrdfPose b) {
  Vec3 turned = mat3_mul_vec(mat3_from_quat(a.rotation), b.position);
  return (UrdfPose){vec3_add(a.position, turned), quat_mul(a.rotation, b.rotation)};
}

static UrdfPose read_origin(UrdfReader* reader, const XmlElement* parent) {
  UrdfPose pose = {{0, 0, 0}, {1, 0, 0, 0}};
  const XmlElement* origin = find_only_child(reader, parent, "origin");
  double xyz[3] = {0}, rpy[3] = {0}, quat[4] = {0, 0, 0, 1};
  if (!origin) return pose;
  read_numbers(reader, origin, "xyz", 3, xyz);
  bool angles = read_numbers(reader, origin, "rpy", 3, rpy), unit = read_numbers(reader, origin, "quat_xyzw", 4, quat);
  double norm = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
  if (angles && unit) error(reader, origin->place, "<origin>: give rpy or quat_xyzw, not both");
  if (unit && !(fabs(norm - 1) <= AXIS_TOLERANCE))
    error(reader, origin->place, "<origin>: quat_xyzw must have length 1: normalize it");
  pose.position = vec3(xyz[0], xyz[1], xyz[2]);
  pose.rotation = unit && norm > 0 ? quat_normalized((Quat){quat[3], quat[0], quat[1], quat[2]})
                                   : quat_from_rpy(vec3(rpy[0], rpy[1], rpy[2]));
  return pose;
}

/* ---------------------------------------------------------------- links */

static void read_inertial(UrdfReader* reader, const XmlElement* parent, UrdfLink* link) {
  static const char* const NAMES[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const XmlElement* inertial = find_only_child(reader, parent, "inertial");
  if (!inertial) return;
  const XmlElement *mass = find_only_child(reader, inertial, "mass"),
                   *inertia = find_only_child(reader, inertial, "inertia");
  double i[6] = {0};
  UrdfPose origin = read_origin(reader, inertial);
  link->inertial_place = inertial->place;
  if (!mass) error(reader, inertial->place, "<inertial> needs <mass>");
  if (mass && read_required_numbers(reader, mass, "value", 1, &link->mass))
    not_below(reader, mass, "value", link->mass, true);
  if (!inertia) error(reader, inertial->place, "<inertial> needs <inertia>");
  Text missing = {0};
  for (int k = 0; inertia && k < 6; k++) {
    if (k < 3 || xml_attribute(inertia, NAMES[k]))
      read_required_numbers(reader, inertia, NAMES[k], 1, &i[k]);
    else
      text_add(&missing, "%s%s", missing.length > 0 ? ", " : "", NAMES[k]);
  }
  if (missing.length > 0)
    warn_of_replacement(reader, inertia->place, "<inertia> of link '%s' has no %s: taken as 0",
                        text_excerpt(link->name).text, missing.data);
  text_free(&missing);
  const Mat3 tensor = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
  Mat3 turn = mat3_from_quat(origin.rotation);
  link->center = origin.position;
  link->inertia = origin.rotation.w == 1 ? tensor : mat3_mul(turn, mat3_mul(tensor, mat3_transpose(turn)));
}

static void read_mesh(UrdfReader* reader, const XmlElement* mesh, UrdfShape* shape) {
  double scale[3] = {1, 1, 1};
  shape->file = read_text(reader, mesh, "filename", &shape->file_place);
  if (read_numbers(reader, mesh, "scale", 3, scale) && (scale[0] == 0 || scale[1] == 0 || scale[2] == 0))
    error(reader, xml_attribute(mesh, "scale")->place, "scale of <mesh> must not be 0");
  shape->scale = vec3(scale[0], scale[1], scale[2]);
}

static void read_box(UrdfReader* reader, const XmlElement* box, UrdfShape* shape) {
  double size[3] = {1, 1, 1};
  if (read_required_numbers(reader, box, "size", 3, size) && !(size[0] > 0 && size[1] > 0 && size[2] > 0))
    error(reader, xml_attribute(box, "size")->place, "size of <box> must be > 0, got '%s'",
          text_excerpt(xml_attribute(box, "size")->value).text);
  shape->size = vec3(size[0], size[1], size[2]);
}

/* Reads <plane>, an extension of Bullet, as a half-space through the origin. The z axis of its frame becomes the
 * normal. */
static void read_plane(UrdfReader* reader, const XmlElement* plane, UrdfShape* shape) {
  double xyz[3] = {0, 0, 1};
  read_numbers(reader, plane, "normal", 3, xyz);
  Vec3 normal = vec3(xyz[0], xyz[1], xyz[2]);
  double length = vec3_norm(normal);
  if (!(length > 0)) {
    error(reader, xml_attribute(plane, "normal")->place, "normal of <plane> must have a length other than zero");
    return;
  }
  normal = vec3_scale(normal, 1 / length);
  /* the smallest rotation from the z axis to the normal n is the quaternion (1 + z.n, z x n), normalized; for n = -z it
   * is half a turn about x */
  Quat turn = normal.z > -1 ? quat_normalized((Quat){1 + normal.z, -normal.y, normal.x, 0}) : (Quat){0, 1, 0, 0};
  shape->origin = urdf_pose_mul(shape->origin, (UrdfPose){{0, 0, 0}, turn});
}

/* Reads <geometry>. Returns false, with an error, if it has no known kind of geometry. */
static bool read_geometry(UrdfReader* reader, const XmlElement* parent, UrdfShape* shape) {
  static const char* const KINDS = "box|cylinder|sphere|capsule|mesh|plane"; /* in the order of UrdfGeometry */
  const XmlElement* geometry = find_only_child(reader, parent, "geometry");
  const XmlElement* kind = geometry ? geometry->first : NULL;
  while (kind && words_index(KINDS, kind->name) < 0) kind = kind->next;
  if (!kind) {
    error(reader, geometry ? geometry->place : parent->place, "<%s> needs %s", geometry ? "geometry" : parent->name,
          geometry ? "<box>, <cylinder>, <sphere>, <capsule>, <mesh> or <plane>" : "<geometry>");
    return false;
  }
  for (const XmlElement* other = kind->next; other; other = other->next)
    if (words_index(KINDS, other->name) >= 0)
      error(reader, other->place, "<geometry> has a second shape <%s>: give each shape its own <%s>", other->name,
            parent->name);
  check_element(reader, kind);
  shape->place = kind->place;
  shape->kind = (UrdfGeometry)words_index(KINDS, kind->name);
  if (shape->kind == URDF_BOX) read_box(reader, kind, shape);
  if (shape->kind == URDF_MESH) read_mesh(reader, kind, shape);
  if (shape->kind == URDF_HALF_SPACE) read_plane(reader, kind, shape);
  bool round = shape->kind == URDF_CYLINDER || shape->kind == URDF_SPHERE || shape->kind == URDF_CAPSULE;
  if (round) shape->radius = read_positive(reader, kind, "radius");
  if (round && shape->kind != URDF_SPHERE) shape->length = read_positive(reader, kind, "length");
  return true;
}

static void add_material(UrdfReader* reader, const XmlElement* material) {
  const XmlElement* color = xml_child(material, "color");
  const XmlAttribute* name = xml_attribute(material, "name");
  if (!color || !name || !names_add(&reader->materials, name->value, reader->color_count)) return;
  reader->colors = memory_grow_array(reader->colors, sizeof(Material), reader->color_count, &reader->color_capacity);
  reader->colors[reader->color_count++] = (Material){color};
}

/* Finds the colour of each material name. Materials below <robot> take precedence over materials in visuals. */
static void find_materials(UrdfReader* reader) {
  for (const XmlElement* item = xml_child(reader->root, "material"); item; item = xml_next(item))
    add_material(reader, item);
  for (const XmlElement* link = xml_child(reader->root, "link"); link; link = xml_next(link))
    for (const XmlElement* visual = xml_child(link, "visual"); visual; visual = xml_next(visual)) {
      const XmlElement* material = xml_child(visual, "material");
      if (material) add_material(reader, material);
    }
}

static void read_color(UrdfReader* reader, const XmlElement* material, double color[3]) {
  const XmlElement* shown = xml_child(material, "color");
  const XmlAttribute* name = xml_attribute(material, "name");
  int known = name && !shown ? names_find(&reader->materials, name->value) : -1;
  if (known >= 0) shown = reader->colors[known].color;
  double rgba[4];
  if (!shown || !read_numbers(reader, shown, "rgba", 4, rgba)) return;
  for (int k = 0; k < 3; k++) color[k] = fmin(fmax(rgba[k], 0), 1);
}

static void read_shapes(UrdfReader* reader, const XmlElement* parent, const char* name, UrdfLink* link,
                        UrdfShapes* shapes) {
  bool is_visual = shapes == &link->visual;
  for (const XmlElement* item = xml_child(parent, name); item; item = xml_next(item)) {
    UrdfShape shape = {.origin = {{0, 0, 0}, {1, 0, 0, 0}}};
    check_element(reader, item);
    if (!is_visual || reader->visual) shape.origin = read_origin(reader, item);
    const XmlElement* material = is_visual ? find_only_child(reader, item, "material") : NULL;
    if (material && link->color[0] < 0) read_color(reader, material, link->color);
    if (is_visual) link->has_visual = true;
    if ((is_visual && !reader->visual) || !read_geometry(reader, item, &shape)) continue;
    shapes->items = memory_grow_array(shapes->items, sizeof(UrdfShape), shapes->count, &shapes->capacity);
    shapes->items[shapes->count++] = shape;
  }
}

static void read_link_element(UrdfReader* reader, const XmlElement* element) {
  UrdfRobot* robot = reader->robot;
  robot->links = memory_grow_array(robot->links, sizeof(UrdfLink), robot->link_count, &robot->link_capacity);
  UrdfLink* link = &robot->links[robot->link_count++];
  *link = (UrdfLink){.joint = -1, .color = {-1, -1, -1}};
  check_element(reader, element);
  link->name = read_text(reader, element, "name", &link->place);
  read_inertial(reader, element, link);
  read_shapes(reader, element, "visual", link, &link->visual);
  read_shapes(reader, element, "collision", link, &link->collision);
}

/* ---------------------------------------------------------------- joints */

static void read_axis(UrdfReader* reader, const XmlElement* element, UrdfJoint* joint) {
  const XmlElement* axis = find_only_child(reader, element, "axis");
  double xyz[3] = {1, 0, 0};
  joint->axis = vec3(1, 0, 0);
  if (!axis || joint->type == URDF_FIXED || joint->type == URDF_FLOATING ||
      !read_required_numbers(reader, axis, "xyz", 3, xyz))
    return;
  Vec3 written = vec3(xyz[0], xyz[1], xyz[2]);
  double length = vec3_norm(written);
  SourcePosition place = xml_attribute(axis, "xyz")->place;
  if (!(length > 0) || !isfinite(length)) {
    error(reader, place, "the axis of joint '%s' must have a length other than zero", text_excerpt(joint->name).text);
    return;
  }
  if (fabs(length - 1) > AXIS_TOLERANCE)
    warn(reader, place, "the axis of joint '%s' has the length %.6g and is normalized", text_excerpt(joint->name).text,
         length);
  joint->axis = is_unit_length(length) ? written : vec3_scale(written, 1 / length);
}

static double open_end(double value, double open) { return fabs(value) >= URDF_OPEN ? open : value; }

/* Reads <limit>. A joint has no limits if <limit> is absent or the lower limit is not below the upper one, as in
 * MuJoCo. Many files write 0 and 0 for unknown limits. */
static void read_limit(UrdfReader* reader, const XmlElement* element, UrdfJoint* joint) {
  const XmlElement* limit = find_only_child(reader, element, "limit");
  bool bounded = joint->type == URDF_REVOLUTE || joint->type == URDF_PRISMATIC;
  double lower = 0, upper = 0;
  if (!limit) {
    if (bounded)
      warn_of_replacement(reader, joint->place,
                          "the %s joint '%s' has no <limit> and moves without limits: add <limit> with lower and upper",
                          joint->type == URDF_REVOLUTE ? "revolute" : "prismatic", text_excerpt(joint->name).text);
    return;
  }
  double effort = read_nonnegative(reader, limit, "effort"), velocity = read_nonnegative(reader, limit, "velocity");
  bool moves = joint->type != URDF_FIXED;
  if (moves && xml_attribute(limit, "velocity") && velocity < URDF_OPEN) joint->speed = velocity;
  if (moves && xml_attribute(limit, "effort") && effort < URDF_OPEN) joint->effort = effort;
  bool low = read_numbers(reader, limit, "lower", 1, &lower), high = read_numbers(reader, limit, "upper", 1, &upper);
  bool broken = low != !!xml_attribute(limit, "lower") || high != !!xml_attribute(limit, "upper");
  if (joint->type == URDF_CONTINUOUS && lower < upper && fabs(lower) < URDF_OPEN && fabs(upper) < URDF_OPEN)
    warn_of_replacement(reader, limit->place,
                        "the continuous joint '%s' moves without limits, although <limit> has lower %.6g and upper "
                        "%.6g: give the joint the type 'revolute' if it shall have limits",
                        text_excerpt(joint->name).text, lower, upper);
  if (!bounded || broken) return;
  if (!(lower < upper)) {
    warn_of_replacement(
        reader, limit->place,
        "joint '%s' moves without limits, as in MuJoCo, because lower is not below upper (%.10g and %.10g): correct "
        "<limit>, or give the joint the type 'fixed' if it shall not move",
        text_excerpt(joint->name).text, lower, upper);
    return;
  }
  joint->lower = open_end(lower, -HUGE_VAL);
  joint->upper = open_end(upper, HUGE_VAL);
}

static void read_mimic(UrdfReader* reader, const XmlElement* element, UrdfJoint* joint) {
  const XmlElement* mimic = find_only_child(reader, element, "mimic");
  if (!mimic) return;
  SourcePosition place;
  const char* name = read_text(reader, mimic, "joint", &place);
  joint->ratio = 1;
  read_numbers(reader, mimic, "multiplier", 1, &joint->ratio);
  read_numbers(reader, mimic, "offset", 1, &joint->offset);
  bool found = !*name;
  for (const XmlElement* other = xml_child(reader->root, "joint"); other && !found; other = xml_next(other)) {
    const XmlAttribute* its = xml_attribute(other, "name");
    found = its && strcmp(its->value, name) == 0;
  }
  if (!found) error(reader, place, "<mimic>: no joint is named '%s'", text_excerpt(name).text);
  joint->mimic = name;
  joint->mimic_place = mimic->place;
}

static const char* read_end(UrdfReader* reader, const XmlElement* element, const char* name, SourcePosition* place) {
  const XmlElement* end = find_only_child(reader, element, name);
  *place = element->place;
  if (end) return read_text(reader, end, "link", place);
  error(reader, element->place, "<joint> needs <%s>", name);
  return "";
}

static void read_joint_type(UrdfReader* reader, const XmlElement* element, UrdfJoint* joint) {
  SourcePosition place;
  const char* name = read_text(reader, element, "type", &place);
  int type = words_index(URDF_JOINT_TYPES, name);
  joint->type = type < 0 ? URDF_FIXED : (UrdfJointType)type;
  if (type < 0 && *name)
    error(reader, place,
          "the type of a joint must be fixed, revolute, continuous, prismatic, floating, planar or spherical, got '%s'",
          text_excerpt(name).text);
}

static void read_joint_element(UrdfReader* reader, const XmlElement* element) {
  UrdfRobot* robot = reader->robot;
  robot->joints = memory_grow_array(robot->joints, sizeof(UrdfJoint), robot->joint_count, &robot->joint_capacity);
  UrdfJoint* joint = &robot->joints[robot->joint_count++];
  *joint = (UrdfJoint){.parent = -1, .child = -1, .lower = -HUGE_VAL, .upper = HUGE_VAL, .start = {1}};
  check_element(reader, element);
  joint->name = read_text(reader, element, "name", &joint->place);
  read_joint_type(reader, element, joint);
  joint->origin = read_origin(reader, element);
  joint->parent_name = read_end(reader, element, "parent", &joint->parent_place);
  joint->child_name = read_end(reader, element, "child", &joint->child_place);
  read_axis(reader, element, joint);
  read_limit(reader, element, joint);
  read_mimic(reader, element, joint);
  joint->has_safety = xml_child(element, "safety_controller") || xml_child(element, "calibration");
  const XmlElement* dynamics = find_only_child(reader, element, "dynamics");
  if (!dynamics) return;
  joint->damping = read_nonnegative(reader, dynamics, "damping");
  joint->friction = read_nonnegative(reader, dynamics, "friction");
  if (joint->type == URDF_BALL && joint->friction > 0)
    warn_of_replacement(
        reader, xml_attribute(dynamics, "friction")->place,
        "friction of the spherical joint '%s' is left out: only joints with one coordinate have friction",
        text_excerpt(joint->name).text);
}

/* ---------------------------------------------------------------- complete file */

static void check_unique(UrdfReader* reader, const char* what, const char* name, SourcePosition place, Names* names) {
  if (*name && !names_add(names, name, place.line))
    error(reader, place, "the name '%s' is taken by the %s of line %d: rename one of the two", text_excerpt(name).text,
          what, names_find(names, name));
}

static void check_names(UrdfReader* reader) {
  const UrdfRobot* robot = reader->robot;
  Names links = {0}, joints = {0};
  for (int i = 0; i < robot->link_count; i++)
    check_unique(reader, "link", robot->links[i].name, robot->links[i].place, &links);
  for (int i = 0; i < robot->joint_count; i++)
    check_unique(reader, "joint", robot->joints[i].name, robot->joints[i].place, &joints);
  names_free(&links);
  names_free(&joints);
}

static void read_robot(UrdfReader* reader) {
  check_element(reader, reader->root);
  const XmlAttribute* name = xml_attribute(reader->root, "name");
  reader->robot->name = name ? name->value : "";
  find_materials(reader);
  for (const XmlElement* item = reader->root->first; item; item = item->next) {
    if (strcmp(item->name, "link") == 0) read_link_element(reader, item);
    if (strcmp(item->name, "joint") == 0) read_joint_element(reader, item);
    if (strcmp(item->name, "material") == 0) check_element(reader, item);
  }
  const XmlElement* soft = xml_child(reader->root, "deformable");
  soft = soft ? soft : xml_child(reader->root, "reduced_deformable");
  if (reader->robot->link_count == 0)
    error(reader, soft ? soft->place : reader->root->place, "a robot needs a <link>%s%s%s", soft ? ": <" : "",
          soft ? soft->name : "", soft ? "> is soft, and only rigid links are supported" : "");
  if (reader->robot->link_count > LINK_MAX)
    error(reader, reader->root->place, "the robot has more than %d links: remove links", LINK_MAX);
  check_names(reader);
}

bool urdf_read(UrdfRobot* robot, const XmlElement* root, bool visual, Diagnostics* diagnostics) {
  *robot = (UrdfRobot){.root = -1};
  UrdfReader reader = {.robot = robot, .diagnostics = diagnostics, .root = root, .visual = visual};
  int errors_before = diagnostics->error_count;
  if (strcmp(root->name, "robot") == 0)
    read_robot(&reader);
  else
    error(&reader, root->place, "the root element of a URDF file must be <robot>, got <%s>",
          text_excerpt(root->name).text);
  for (int i = 0; i < reader.ignored.count; i++) memory_free((char*)reader.ignored.texts[i]);
  names_free(&reader.ignored);
  names_free(&reader.materials);
  memory_free(reader.colors);
  return diagnostics->error_count == errors_before;
}

void urdf_free(UrdfRobot* robot) {
  for (int i = 0; i < robot->link_count; i++) {
    for (int k = 0; k < robot->links[i].visual.count; k++) memory_free(robot->links[i].visual.items[k].points);
    for (int k = 0; k < robot->links[i].collision.count; k++) memory_free(robot->links[i].collision.items[k].points);
    memory_free(robot->links[i].visual.items);
    memory_free(robot->links[i].collision.items);
  }
  memory_free(robot->links);
  memory_free(robot->joints);
  memory_free(robot->order);
  text_free(&robot->ignored);
  text_free(&robot->remarks);
  *robot = (UrdfRobot){0};
}
