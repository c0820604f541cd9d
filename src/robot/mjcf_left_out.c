/* Lists the elements and attributes of MJCF up to MuJoCo 3.12 that are imported, and those without effect on motion.
 * All others are reported by name, so that none is dropped silently (tests/mujoco/attributes.py). */
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

#define FRAME_ATTRIBUTES "|pos|quat|euler|axisangle|xyaxes|zaxis|"
#define ACTUATOR_ATTRIBUTES                                                                                   \
  "class|group|joint|tendon|site|refsite|gear|ctrllimited|ctrlrange|forcelimited|forcerange|kp|kv|dampratio|" \
  "inheritrange|gainprm|biasprm|biastype|gaintype|dyntype|dynprm"
#define TENDON_ATTRIBUTES "class|stiffness|springlength|damping|frictionloss|range|limited"
#define TENDON_IDLE "group|user|width|material|rgba|solreflimit|solimplimit|solreffriction|solimpfriction|margin"
#define EQUALITY_ATTRIBUTES "name|class|active|"
#define DISPLAY_ATTRIBUTES "|group|material|rgba|user"

typedef enum {
  HANDLE_ATTRIBUTES,    /* each attribute is imported, ignored or reported individually */
  HANDLE_AS_IDLE,       /* the element and its descendants have no effect on motion */
  HANDLE_AS_UNSUPPORTED /* the element is not imported, and is reported without its attributes */
} ElementHandling;

/* Rule for an element inside a parent element; parent "" means any parent. read: attributes that are imported, or
 * reported where they are read. idle: attributes without effect on motion. */
typedef struct {
  const char *parent, *element;
  const char *read, *idle;
  ElementHandling handling;
} ElementRow;

/* The first matching row applies, so rows with a parent precede the row of the same element without a parent. */
static const ElementRow ROWS[] = {
    {"", "mujoco", "", "model", HANDLE_ATTRIBUTES},
    {"", "include", "file", "", HANDLE_ATTRIBUTES},
    {"", "compiler",
     "angle|autolimits|inertiafromgeom|meshdir|assetdir|eulerseq|coordinate|settotalmass|exactmeshinertia|strippath|"
     "boundmass|boundinertia|balanceinertia|inertiagrouprange",
     "texturedir|discardvisual|fitaabb|convexhull|usethread|fusestatic|saveinertial|conflict", HANDLE_ATTRIBUTES},
    {"", "lengthrange", "", "", HANDLE_AS_IDLE},
    {"", "option", "timestep|gravity|actuatorgroupdisable",
     "apirate|impratio|tolerance|ls_tolerance|noslip_tolerance|mpr_tolerance|ccd_tolerance|sleep_tolerance|magnetic|"
     "integrator|collision|cone|jacobian|solver|iterations|ls_iterations|noslip_iterations|mpr_iterations|"
     "ccd_iterations|sdf_iterations|sdf_initpoints|o_margin|o_solref|o_solimp",
     HANDLE_ATTRIBUTES},
    {"", "flag", "gravity|contact",
     "warmstart|refsafe|sensor|midphase|eulerdamp|autoreset|nativeccd|island|multiccd|energy|fwdinv|invdiscrete|sleep|"
     "diagexact|sensornoise",
     HANDLE_ATTRIBUTES},
    {"", "size", "", "", HANDLE_AS_IDLE},
    {"", "statistic", "", "", HANDLE_AS_IDLE},
    {"", "visual", "", "", HANDLE_AS_IDLE},
    {"", "custom", "", "", HANDLE_AS_IDLE},
    {"", "texture", "", "", HANDLE_AS_IDLE},
    {"", "light", "", "", HANDLE_AS_IDLE},
    {"", "camera", "", "", HANDLE_AS_IDLE},
    {"", "sensor", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "extension", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "deformable", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "plugin", "", "", HANDLE_AS_UNSUPPORTED},
    {"composite", "skin", "", "", HANDLE_AS_IDLE},
    {"", "skin", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "composite", "prefix|type|count|offset|vertex|initial|curve|size|quat", "", HANDLE_ATTRIBUTES},
    {"", "flexcomp", "", "", HANDLE_AS_UNSUPPORTED},
    {"default", "equality", "", "", HANDLE_ATTRIBUTES},
    {"default", "tendon", TENDON_ATTRIBUTES, TENDON_IDLE, HANDLE_ATTRIBUTES},
    {"", "default", "class", "", HANDLE_ATTRIBUTES},
    {"", "asset", "", "", HANDLE_ATTRIBUTES},
    {"", "mesh", "name|class|file|vertex|builtin|params|scale|inertia",
     "content_type|smoothnormal|normal|texcoord|material", HANDLE_ATTRIBUTES},
    {"", "hfield", "name|file|size|nrow|ncol|elevation", "content_type", HANDLE_ATTRIBUTES},
    {"", "material", "name|class|rgba",
     "texture|texrepeat|texuniform|emission|specular|shininess|reflectance|metallic|roughness", HANDLE_ATTRIBUTES},
    {"", "layer", "", "", HANDLE_AS_IDLE},
    {"", "model", "name|file", "content_type", HANDLE_ATTRIBUTES},
    {"", "worldbody", "childclass", "", HANDLE_ATTRIBUTES},
    {"", "body", "name|childclass|mocap|gravcomp" FRAME_ATTRIBUTES, "user|sleep|simple", HANDLE_ATTRIBUTES},
    {"", "frame", "childclass" FRAME_ATTRIBUTES, "name", HANDLE_ATTRIBUTES},
    {"", "inertial", "mass|diaginertia|fullinertia" FRAME_ATTRIBUTES, "", HANDLE_ATTRIBUTES},
    {"composite", "joint", "damping|stiffness|armature|frictionloss|range",
     "kind|group|type|axis|limited|solreffix|solimpfix", HANDLE_ATTRIBUTES},
    {"fixed", "joint", "joint|coef", "", HANDLE_ATTRIBUTES},
    {"equality", "joint", EQUALITY_ATTRIBUTES "joint1|joint2|polycoef", "", HANDLE_ATTRIBUTES},
    {"", "joint",
     "name|class|type|pos|axis|range|limited|damping|stiffness|springref|armature|frictionloss|ref|actuatorfrcrange|"
     "actuatorfrclimited",
     "group|user", HANDLE_ATTRIBUTES},
    {"", "freejoint", "name", "group", HANDLE_ATTRIBUTES},
    {"composite", "geom", "type|contype|conaffinity|priority|size|friction|mass|density|rgba|material", "group",
     HANDLE_ATTRIBUTES},
    {"spatial", "geom", "geom|sidesite", "", HANDLE_ATTRIBUTES},
    {"", "geom",
     "name|class|type|contype|conaffinity|priority|size|friction|solref|solmix|mass|density|fromto|hfield|mesh|rgba|"
     "material" FRAME_ATTRIBUTES,
     "group|user|fluidshape|fluidcoef", HANDLE_ATTRIBUTES},
    {"composite", "site", "", "group|size|material|rgba", HANDLE_ATTRIBUTES},
    {"spatial", "site", "site", "", HANDLE_ATTRIBUTES},
    {"", "site", "name|class|fromto" FRAME_ATTRIBUTES, "type|size" DISPLAY_ATTRIBUTES, HANDLE_ATTRIBUTES},
    {"", "contact", "", "", HANDLE_ATTRIBUTES},
    {"", "pair", "name|class|geom1|geom2|friction|solref", "", HANDLE_ATTRIBUTES},
    {"", "exclude", "body1|body2", "name", HANDLE_ATTRIBUTES},
    {"equality", "tendon", EQUALITY_ATTRIBUTES "tendon1|tendon2|polycoef", "", HANDLE_ATTRIBUTES},
    {"", "tendon", "", "", HANDLE_ATTRIBUTES},
    {"", "spatial", "name|" TENDON_ATTRIBUTES, TENDON_IDLE, HANDLE_ATTRIBUTES},
    {"", "fixed", "name|" TENDON_ATTRIBUTES, TENDON_IDLE, HANDLE_ATTRIBUTES},
    {"", "pulley", "divisor", "", HANDLE_ATTRIBUTES},
    {"", "equality", "", "", HANDLE_ATTRIBUTES},
    {"", "connect", EQUALITY_ATTRIBUTES "body1|body2|anchor|site1|site2", "", HANDLE_ATTRIBUTES},
    {"", "weld", EQUALITY_ATTRIBUTES "body1|body2|relpose|anchor|site1|site2", "torquescale", HANDLE_ATTRIBUTES},
    {"", "flex", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "flexvert", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "flexstrain", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "distance", "", "", HANDLE_AS_UNSUPPORTED}, /* equality constraint of MuJoCo 2.2.2 */
    {"", "actuator", "", "", HANDLE_ATTRIBUTES},
    {"", "motor", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", HANDLE_ATTRIBUTES},
    {"", "position", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", HANDLE_ATTRIBUTES},
    {"", "velocity", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", HANDLE_ATTRIBUTES},
    {"", "general", ACTUATOR_ATTRIBUTES "|actrange|actlimited", "name|user|lengthrange|actdim", HANDLE_ATTRIBUTES},
    {"", "intvelocity", ACTUATOR_ATTRIBUTES "|actrange|actlimited", "name|user|lengthrange", HANDLE_ATTRIBUTES},
    {"", "damper", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", HANDLE_ATTRIBUTES},
    {"", "cylinder", ACTUATOR_ATTRIBUTES "|area|diameter|bias|timeconst", "name|user|lengthrange", HANDLE_ATTRIBUTES},
    {"actuator", "muscle", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "adhesion", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "dcmotor", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "pid", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "orientation", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "muscle", "", "", HANDLE_AS_IDLE}, /* in a <default>; the actuator itself is reported */
    {"", "adhesion", "", "", HANDLE_AS_IDLE},
    {"", "dcmotor", "", "", HANDLE_AS_IDLE},
    {"", "pid", "", "", HANDLE_AS_IDLE},
    {"", "orientation", "", "", HANDLE_AS_IDLE},
    {"", "keyframe", "", "", HANDLE_ATTRIBUTES},
    {"", "key", "name|qpos|qvel|act|ctrl", "time", HANDLE_ATTRIBUTES},
};

/* Attribute values that have no effect on motion. */
static const struct {
  const char *attribute, *value;
} NEUTRAL[] = {{"density", "0"},
               {"viscosity", "0"},
               {"condim", "3"},
               {"margin", "0"},
               {"gap", "0"},
               {"solmix", "1"},
               {"align", "false"},
               {"shellinertia", "false"},
               {"armature", "0"},
               {"wind", "0 0 0"},
               {"alignfree", "false"},
               {"surfacevel", "0"},
               {"actuatorgravcomp", "false"},
               {"adhesion", "0"},
               {"refpos", "0 0 0"},
               {"delay", "0"},
               {"damping", "0"},
               {"timeconst", "0"},
               {"springdamper", "0 0"},
               {"refquat", "1 0 0 0"}};

static const ElementRow* find_row(const XmlElement* element) {
  const char* parent = element->parent ? element->parent->name : "";
  for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++)
    if (strcmp(ROWS[k].element, element->name) == 0 && (!*ROWS[k].parent || strcmp(ROWS[k].parent, parent) == 0))
      return &ROWS[k];
  return NULL;
}

/* Returns true if two attribute values are the same words or equal numbers, such as 0.0 and 0. */
static bool same_value(const char* a, const char* b) {
  while (*a || *b) {
    char *after_a, *after_b;
    double x = strtod(a, &after_a), y = strtod(b, &after_b);
    if (after_a == a || after_b == b) return strcmp(a, b) == 0;
    if (x != y) return false;
    a = after_a + strspn(after_a, " \t\r\n");
    b = after_b + strspn(after_b, " \t\r\n");
  }
  return true;
}

static bool is_neutral(const XmlElement* element, const XmlAttribute* attribute) {
  if (strcmp(element->name, "flag") == 0)
    return strcmp(attribute->value, strcmp(attribute->name, "override") == 0 ? "disable" : "enable") == 0;
  for (size_t k = 0; k < sizeof NEUTRAL / sizeof NEUTRAL[0]; k++)
    if (strcmp(NEUTRAL[k].attribute, attribute->name) == 0 && same_value(attribute->value, NEUTRAL[k].value))
      return true;
  return false;
}

static void report_attributes(MjcfModel* model, const XmlElement* element, const ElementRow* row) {
  bool flag = strcmp(element->name, "flag") == 0;
  for (int i = 0; i < element->attribute_count; i++) {
    const XmlAttribute* attribute = &element->attributes[i];
    if (words_index(row->read, attribute->name) >= 0 || words_index(row->idle, attribute->name) >= 0) continue;
    if (is_neutral(element, attribute)) continue;
    Text what = {0};
    text_add(&what, "%s%s%s/%s", flag ? "option" : row->parent, flag || *row->parent ? "/" : "", element->name,
             attribute->name);
    mjcf_report_dropped(model, what.data);
    text_free(&what);
  }
}

/* Returns true if a <plugin> or <extension> needs no report, because only cable elasticity or a torus uses it, which
 * are imported. */
static bool is_known_plugin(const MjcfModel* model, const XmlElement* element) {
  if (strcmp(element->name, "plugin") == 0) {
    const XmlElement* settings;
    const XmlAttribute* name = xml_attribute(element, "plugin");
    if (mjcf_is_torus(element)) return true;
    const char* used = element->parent ? mjcf_find_plugin(model, element->parent, &settings) : NULL;
    if (used && strcmp(used, "mujoco.sdf.torus") == 0) return true;
    bool in_composite = element->parent && strcmp(element->parent->name, "composite") == 0;
    bool declared = element->parent && strcmp(element->parent->name, "extension") == 0;
    return name ? (in_composite || declared) && strcmp(name->value, MJCF_CABLE_PLUGIN) == 0 : in_composite;
  }
  if (strcmp(element->name, MJCF_ELASTICITY) == 0) return true;
  if (strcmp(element->name, "extension") != 0) return false;
  for (const XmlElement* child = element->first; child; child = child->next)
    if (!is_known_plugin(model, child)) return false;
  return true;
}

void mjcf_report_unsupported(MjcfModel* model, const XmlElement* element) {
  const ElementRow* row = find_row(element);
  Text what = {0};
  if (is_known_plugin(model, element)) return;
  if (!row) {
    text_add(&what, "%s (no element of MJCF)", element->name);
    mjcf_report_dropped(model, what.data);
    text_free(&what);
    return;
  }
  if (row->handling == HANDLE_AS_UNSUPPORTED) {
    text_add(&what, "%s%s%s", row->parent, *row->parent ? "/" : "", element->name);
    mjcf_report_dropped(model, what.data);
    text_free(&what);
  }
  if (row->handling != HANDLE_ATTRIBUTES) return;
  report_attributes(model, element, row);
  for (const XmlElement* child = element->first; child; child = child->next) mjcf_report_unsupported(model, child);
}
