/* Expands <composite type="cable"> to the bodies, joints, geoms, sites and excluded pairs that MuJoCo generates, with
 * bushings as elasticity. Other types are omitted: they are soft bodies, or current versions of MuJoCo reject them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

/* VERTICES_MAX: largest number of cable vertices, which limits the recursion through the nested segments. PAIRS_MAX:
 * largest number of attributes of a generated element. */
enum { VERTICES_MAX = 500, PAIRS_MAX = 32 };

/* Attributes that cable segments inherit: GEOM from the geom of the <composite>, JOINT from its joint. A free joint
 * inherits FREE_JOINT only. */
#define GEOM "type|contype|conaffinity|priority|size|friction|mass|density|rgba|material"
#define JOINT "damping|stiffness|armature|frictionloss|range"
#define FREE_JOINT "stiffness"

typedef struct {
  MjcfModel* model;
  XmlDocument* document;
  const XmlElement *element, *geom, *joint;
  const char *prefix, *initial;
  Vec3* vertices; /* end points of the segments [m] (segment_count + 1) */
  int segment_count;
  const XmlElement* plugin; /* element with the <config> elements of the elasticity; NULL: no elasticity */
  double twist, bend;       /* shear modulus and Young's modulus [Pa] */
  bool flat;                /* true: straight at rest; false: the initial shape is the rest shape */
} Cable;

static const char* make_name(const Cable* cable, const char* kind, int index) {
  Text text = {0};
  if (index == 0)
    text_add(&text, "%s%s_first", cable->prefix, kind);
  else if (index == cable->segment_count - 1)
    text_add(&text, "%s%s_last", cable->prefix, kind);
  else
    text_add(&text, "%s%s_%d", cable->prefix, kind, index);
  return mjcf_own_text(cable->model, &text);
}

static const char* format_numbers(const Cable* cable, const double* values, int count) {
  Text text = {0};
  for (int k = 0; k < count; k++) text_add(&text, "%s%.17g", k > 0 ? " " : "", values[k]);
  return mjcf_own_text(cable->model, &text);
}

/* Appends names and values of the attributes of `from` that `names` lists to pairs[2 PAIRS_MAX + 1], which has `count`
 * texts. Returns the new number of texts. */
static int append_inherited(const XmlElement* from, const char* names, const char** pairs, int count) {
  for (int i = 0; from && i < from->attribute_count; i++) {
    if (words_index(names, from->attributes[i].name) < 0 || count + 2 > 2 * PAIRS_MAX) continue;
    pairs[count++] = from->attributes[i].name;
    pairs[count++] = from->attributes[i].value;
  }
  return count;
}

/* ---------------------------------------------------------------- the curve */

/* Returns one coordinate of vertex k of n vertices [m]. word: entry of the attribute `curve`. The word s is a straight
 * line. cos(s) and sin(s) are an arc of radius size[1] over size[2] half turns. The words 0 and zero give zero. Returns
 * NAN after an error. */
static double curve_coordinate(const Cable* cable, const char* word, const double* size, int k, int n) {
  assert(n >= 2 && k >= 0 && k < n);
  double angle = 3.14159265358979323846 * k * size[2] / (n - 1);
  if (strcmp(word, "s") == 0) return k * size[0] / (n - 1);
  if (strcmp(word, "cos(s)") == 0) return size[1] * math_cos(angle);
  if (strcmp(word, "sin(s)") == 0) return size[1] * math_sin(angle);
  if (strcmp(word, "0") == 0 || strcmp(word, "zero") == 0) return 0;
  mjcf_error(cable->model, cable->element->place,
             "curve of <composite> must be one to three of s, cos(s), sin(s) and 0, got '%s'", text_excerpt(word).text);
  return NAN;
}

/* Sets `count` vertices from the attributes `curve` and `size`, rotated by `quat`. Returns false after an error. */
static bool set_curve_vertices(Cable* cable, int count) {
  MjcfElement e = {cable->element, ""};
  double size[3] = {1, 0, 0}, quat[4] = {1, 0, 0, 0};
  char names[3][8] = {"0", "0", "0"}, more[2];
  mjcf_numbers(cable->model, e, "size", 1, 3, size);
  mjcf_numbers(cable->model, e, "quat", 4, 4, quat);
  if (sscanf(mjcf_text(cable->model, e, "curve"), "%7s %7s %7s %1s", names[0], names[1], names[2], more) > 3)
    names[2][0] = '\0';
  Quat rotation = quat_normalized(quat_at(quat));
  for (int k = 0; k < count; k++) {
    double v[3];
    for (int i = 0; i < 3; i++) {
      v[i] = curve_coordinate(cable, names[i], size, k, count);
      if (isnan(v[i])) return false;
    }
    cable->vertices[k] = mat3_mul_vec(mat3_from_quat(rotation), vec3_at(v));
  }
  return true;
}

/* Sets the vertices of the cable from `vertex` or `curve`. Returns false after an error. */
static bool set_vertices(Cable* cable) {
  MjcfElement e = {cable->element, ""};
  double count[3] = {1, 1, 1};
  bool given = xml_attribute(cable->element, "vertex") != NULL;
  int vertices = 0;
  mjcf_numbers(cable->model, e, "count", 1, 3, count);
  if (given) {
    cable->vertices = mjcf_read_vertices(cable->model, cable->element, vec3(1, 1, 1), &vertices);
    if (!cable->vertices) return false;
  } else if (count[0] == floor(count[0]) && count[0] <= VERTICES_MAX && count[1] == 1 && count[2] == 1) {
    vertices = (int)fmax(count[0], 0);
  }
  if (vertices < 2 || vertices > VERTICES_MAX) {
    mjcf_error(cable->model, cable->element->place,
               "a cable of <composite> needs 2 to %d vertices: give the coordinates of all vertices in 'vertex', or "
               "the number of vertices in 'count'",
               VERTICES_MAX);
    return false;
  }
  cable->segment_count = vertices - 1;
  if (!given) {
    cable->vertices = MEMORY_NEW(Vec3, vertices);
    if (!set_curve_vertices(cable, vertices)) return false;
  }
  for (int k = 0; k + 1 < vertices; k++)
    if (!(vec3_norm(vec3_sub(cable->vertices[k + 1], cable->vertices[k])) > 0)) {
      mjcf_error(cable->model, cable->element->place,
                 "vertices %d and %d of the cable of <composite> are at the same position: move or remove one of them",
                 k, k + 1);
      return false;
    }
  return true;
}

/* ---------------------------------------------------------------- frames */

static Vec3 segment_tangent(const Cable* cable, int segment) {
  assert(segment >= 0 && segment < cable->segment_count);
  return vec3_normalized(vec3_sub(cable->vertices[segment + 1], cable->vertices[segment]));
}

/* Returns the smallest rotation that maps the unit vector a to the unit vector b. */
static Quat rotation_between(Vec3 a, Vec3 b) {
  Vec3 axis = vec3_cross(a, b);
  double sine = vec3_norm(axis), cosine = vec3_dot(a, b);
  if (sine < 1e-12) return cosine > 0 ? quat_identity() : quat_about(vec3_perpendicular(a), 3.14159265358979323846);
  return quat_about(vec3_scale(axis, 1 / sine), math_atan2(sine, cosine));
}

/* Returns the rotation of the first segment in the composite's frame. x is along the segment, z along the binormal of
 * the first two segments. */
static Quat first_rotation(const Cable* cable) {
  Vec3 x = segment_tangent(cable, 0),
       z = cable->segment_count > 1 ? vec3_cross(x, segment_tangent(cable, 1)) : vec3(0, 0, 0);
  if (!(vec3_norm(z) > 1e-12)) return rotation_between(vec3(1, 0, 0), x);
  z = vec3_normalized(z);
  Vec3 y = vec3_cross(z, x);
  return quat_from_mat3((Mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}});
}

/* ---------------------------------------------------------------- parts */

static void add_geom(const Cable* cable, XmlElement* body, int segment, double length) {
  const char* pairs[2 * PAIRS_MAX + 1];
  const XmlAttribute* type = cable->geom ? xml_attribute(cable->geom, "type") : NULL;
  int count = 0;
  Text name = {0};
  text_add(&name, "%sG%d", cable->prefix, segment);
  pairs[count++] = "name", pairs[count++] = mjcf_own_text(cable->model, &name);
  if (type && strcmp(type->value, "box") == 0) {
    double size[3] = {0, 0, 0};
    const double middle[3] = {length / 2, 0, 0};
    mjcf_numbers(cable->model, (MjcfElement){cable->geom, ""}, "size", 3, 3, size);
    size[0] = length / 2;
    pairs[count++] = "size", pairs[count++] = format_numbers(cable, size, 3);
    pairs[count++] = "pos", pairs[count++] = format_numbers(cable, middle, 3);
  } else {
    const double ends[6] = {0, 0, 0, length, 0, 0};
    pairs[count++] = "fromto", pairs[count++] = format_numbers(cable, ends, 6);
  }
  int total = append_inherited(cable->geom,
                               type && strcmp(type->value, "box") == 0
                                   ? "type|contype|conaffinity|priority|friction|mass|density|rgba|material"
                                   : GEOM,
                               pairs, count);
  pairs[total] = NULL;
  xml_append(body, xml_make(cable->document, "geom", cable->geom->place, pairs));
}

static void add_joint(const Cable* cable, XmlElement* body, int segment) {
  bool is_free = segment == 0 && strcmp(cable->initial, "free") == 0;
  const char* pairs[2 * PAIRS_MAX + 1] = {"name", make_name(cable, "J", segment), "type", is_free ? "free" : "ball"};
  if (segment == 0 && strcmp(cable->initial, "none") == 0) return;
  int count = append_inherited(cable->joint, is_free ? FREE_JOINT : JOINT, pairs, 4);
  pairs[count] = NULL;
  xml_append(body, xml_make(cable->document, "joint", cable->element->place, pairs));
}

static void add_site(const Cable* cable, XmlElement* body, int segment, double length) {
  const double position[3] = {segment > 0 ? length : 0, 0, 0};
  const char* const pairs[] = {"name", make_name(cable, "S", segment), "pos", format_numbers(cable, position, 3), NULL};
  if (segment == 0 || segment == cable->segment_count - 1)
    xml_append(body, xml_make(cable->document, "site", cable->element->place, pairs));
}

/* ---------------------------------------------------------------- elasticity */

static const XmlAttribute* find_config(const XmlElement* plugin, const char* key) {
  for (const XmlElement* config = xml_child(plugin, "config"); config; config = xml_next(config)) {
    const XmlAttribute* name = xml_attribute(config, "key");
    if (name && strcmp(name->value, key) == 0) return xml_attribute(config, "value");
  }
  return NULL;
}

/* Returns the <instance> of the cable plugin with a name in the file's <extension>s, or NULL. */
static const XmlElement* find_instance(const XmlElement* root, const char* name) {
  for (const XmlElement* extension = xml_child(root, "extension"); extension; extension = xml_next(extension))
    for (const XmlElement* plugin = xml_child(extension, "plugin"); plugin; plugin = xml_next(plugin)) {
      const XmlAttribute* kind = xml_attribute(plugin, "plugin");
      if (!kind || strcmp(kind->value, MJCF_CABLE_PLUGIN) != 0) continue;
      for (const XmlElement* item = xml_child(plugin, "instance"); item; item = xml_next(item)) {
        const XmlAttribute* instance_name = xml_attribute(item, "name");
        if (instance_name && strcmp(instance_name->value, name) == 0) return item;
      }
    }
  return NULL;
}

/* Sets *modulus to a modulus of the plugin [Pa], or to 0 if it is absent. Returns false after an error. */
static bool read_modulus(const Cable* cable, const char* key, double* modulus) {
  const XmlAttribute* value = find_config(cable->plugin, key);
  char* after;
  *modulus = value ? strtod(value->value, &after) : 0;
  if (!value || (after[strspn(after, " \t\r\n")] == '\0' && *modulus >= 0 && isfinite(*modulus))) return true;
  mjcf_error(cable->model, value->place, "'%s' of the plugin %s must be a number >= 0 [Pa], got '%s'", key,
             MJCF_CABLE_PLUGIN, text_excerpt(value->value).text);
  return false;
}

/* Reads the settings of the cable plugin. Returns false after an error. */
static bool read_elasticity(Cable* cable, const XmlElement* root) {
  const XmlElement* plugin = xml_child(cable->element, "plugin");
  if (!plugin) return true;
  const XmlAttribute *kind = xml_attribute(plugin, "plugin"), *instance = xml_attribute(plugin, "instance");
  if (kind && strcmp(kind->value, MJCF_CABLE_PLUGIN) != 0) return true; /* another plugin is reported elsewhere */
  cable->plugin = !kind && instance ? find_instance(root, instance->value) : plugin;
  if (!cable->plugin) {
    mjcf_error(cable->model, instance->place, "no <instance> of the plugin %s is named '%s'", MJCF_CABLE_PLUGIN,
               text_excerpt(instance->value).text);
    return false;
  }
  const XmlAttribute* flat = find_config(cable->plugin, "flat");
  cable->flat = flat && strcmp(flat->value, "true") == 0;
  return read_modulus(cable, "twist", &cable->twist) && read_modulus(cable, "bend", &cable->bend);
}

/* Returns the torsion constant about x and the second moments of area about y and z of the cross section [m^4], by
 * MuJoCo's formulas. The section is a circle of radius size[0], or a rectangle of 2 size[1] along y and 2 size[2] along
 * z. */
static Vec3 section_moments(const Cable* cable) {
  const double pi = 3.14159265358979323846;
  double size[3] = {0, 0, 0};
  mjcf_numbers(cable->model, (MjcfElement){cable->geom, ""}, "size", 1, 3, size);
  double r4 = size[0] * size[0] * size[0] * size[0], y = size[1], z = size[2], a = fmax(y, z), b = fmin(y, z);
  if (strcmp(xml_attribute(cable->geom, "type")->value, "box") != 0) return vec3(pi / 2 * r4, pi / 4 * r4, pi / 4 * r4);
  double ratio = a > 0 ? b / a : 0, r2 = ratio * ratio;
  double torsion = a * b * b * b * (16.0 / 3 - 3.36 * ratio * (1 - r2 * r2 / 12));
  return vec3(torsion, 4.0 / 3 * y * z * z * z, 4.0 / 3 * z * y * y * y);
}

/* Adds the elasticity of the joint between a segment and the previous one to `body`. rotation: initial rotation of the
 * segment relative to the previous one. length: length of the previous segment [m]. */
static void add_elasticity(const Cable* cable, XmlElement* body, Quat rotation, double length) {
  double stiffness[3], rest[3] = {0};
  Vec3 moments = section_moments(cable);
  if (!(cable->twist > 0) && !(cable->bend > 0)) return;
  vec3_store(
      vec3(cable->twist * moments.x / length, cable->bend * moments.y / length, cable->bend * moments.z / length),
      stiffness);
  if (!cable->flat) vec3_store(quat_log(rotation), rest);
  const char* const pairs[] = {"stiffness", format_numbers(cable, stiffness, 3), "rest", format_numbers(cable, rest, 3),
                               NULL};
  xml_append(body, xml_make(cable->document, MJCF_ELASTICITY, cable->plugin->place, pairs));
}

static void set_bushing_frame(const MjcfModel* model, const int* carrier, int body, SceneBushing* bushing, int side) {
  UrdfPose frame = mjcf_site_pose(model, &(MjcfSite){.link = body, .pose = {{0, 0, 0}, {1, 0, 0, 0}}});
  bushing->link[side] = carrier[body];
  bushing->position[side] = frame.position;
  bushing->rotation[side] = frame.rotation;
}

void mjcf_add_elasticities(MjcfModel* model, Scene* scene, const int* carrier) {
  size_t count = (size_t)scene->bushing_count, more = (size_t)model->elasticity_count, size = sizeof(SceneBushing);
  if (more == 0) return;
  scene->bushings = memory_resize(scene->bushings, count * size, (count + more) * size);
  for (int k = 0; k < model->elasticity_count; k++) {
    const MjcfElasticity* e = &model->elasticities[k];
    const double stiffness[3] = {e->stiffness.x, e->stiffness.y, e->stiffness.z};
    const double rest[3] = {e->rest.x, e->rest.y, e->rest.z};
    SceneBushing bushing = {.place = e->place};
    set_bushing_frame(model, carrier, e->before, &bushing, 0);
    set_bushing_frame(model, carrier, e->link, &bushing, 1);
    for (int i = 0; i < 3; i++) {
      bushing.stiffness[3 + i][3 + i] = stiffness[i];
      bushing.preload[3 + i] = stiffness[i] * rest[i];
    }
    scene->bushings[scene->bushing_count++] = bushing;
  }
}

/* ---------------------------------------------------------------- the chain */

/* Returns the first body of the chain of cable segments, each of which contains the next one. empty_default: an empty
 * default class, because elements of a composite have no defaults. */
static XmlElement* make_chain(const Cable* cable, const char* empty_default, Vec3 offset, XmlElement* contact) {
  XmlElement *first = NULL, *parent = NULL;
  Quat rotation = first_rotation(cable), before = quat_identity();
  double length_before = 0;
  for (int k = 0; k < cable->segment_count; k++) {
    double position[3] = {length_before, 0, 0}, quaternion[4],
           length = vec3_norm(vec3_sub(cable->vertices[k + 1], cable->vertices[k]));
    if (k == 0)
      vec3_store(vec3_add(offset, cable->vertices[0]), position);
    else
      rotation = quat_normalized(
          quat_mul(rotation_between(segment_tangent(cable, k - 1), segment_tangent(cable, k)), rotation));
    quat_store(quat_mul(quat_conjugate(before), rotation), quaternion);
    const char* const pairs[] = {"name",       make_name(cable, "B", k),
                                 "pos",        format_numbers(cable, position, 3),
                                 "quat",       format_numbers(cable, quaternion, 4),
                                 "childclass", empty_default,
                                 NULL};
    XmlElement* body = xml_make(cable->document, "body", cable->element->place, pairs);
    add_joint(cable, body, k);
    add_geom(cable, body, k, length);
    add_site(cable, body, k, length);
    if (parent) {
      add_elasticity(cable, body, quat_normalized(quat_mul(quat_conjugate(before), rotation)), length_before);
      const char* const both[] = {"body1", make_name(cable, "B", k - 1), "body2", make_name(cable, "B", k), NULL};
      xml_append(parent, body);
      xml_append(contact, xml_make(cable->document, "exclude", cable->element->place, both));
    } else {
      first = body;
    }
    parent = body, before = rotation, length_before = length;
  }
  return first;
}

/* Returns the name of a new empty default class that inherits from no other class. */
static const char* make_empty_class(const Cable* cable) {
  Text text = {0};
  text_add(&text, "composite of line %d", cable->element->place.line);
  const char* name = mjcf_own_text(cable->model, &text);
  XmlElement* root = xml_make(cable->document, "mujoco", cable->element->place, (const char* const[]){NULL});
  xml_append(root,
             xml_make(cable->document, "default", cable->element->place, (const char* const[]){"class", name, NULL}));
  mjcf_add_default(cable->model, root->first);
  return name;
}

static bool has_cable_geom(const Cable* cable) {
  const XmlAttribute* type = cable->geom ? xml_attribute(cable->geom, "type") : NULL;
  if (type && words_index("capsule|cylinder|box", type->value) >= 0) return true;
  mjcf_error(cable->model, cable->element->place,
             "a cable of <composite> needs a <geom> of type capsule, cylinder or box");
  return false;
}

XmlElement* mjcf_expand_composite(MjcfModel* model, XmlElement* root, const XmlElement* element) {
  MjcfElement e = {element, ""};
  Cable cable = {.model = model,
                 .document = &model->documents[0],
                 .element = element,
                 .prefix = mjcf_text(model, e, "prefix"),
                 .initial = mjcf_text(model, e, "initial")};
  XmlElement* container = xml_make(cable.document, "parts", element->place, (const char* const[]){NULL});
  if (strcmp(mjcf_text(model, e, "type"), "cable") != 0) {
    Text what = {0};
    text_add(&what, "composite of type '%s' (no chain of rigid bodies)",
             text_excerpt(mjcf_text(model, e, "type")).text);
    mjcf_report_dropped(model, what.data);
    text_free(&what);
    names_add(&model->dropped_names, "composite", 0);
    xml_append(container, xml_make(cable.document, "frame", element->place, (const char* const[]){NULL}));
    return container;
  }
  mjcf_report_unsupported(model, element);
  cable.geom = xml_child(element, "geom");
  cable.joint = xml_child(element, "joint");
  double offset[3] = {0};
  mjcf_numbers(model, e, "offset", 3, 3, offset);
  bool good = has_cable_geom(&cable) && read_elasticity(&cable, root) && set_vertices(&cable);
  if (good) {
    XmlElement* contact = xml_make(cable.document, "contact", element->place, (const char* const[]){NULL});
    xml_append(container, make_chain(&cable, make_empty_class(&cable), vec3_at(offset), contact));
    xml_append(root, contact);
  }
  memory_free(cable.vertices);
  return good ? container : NULL;
}
