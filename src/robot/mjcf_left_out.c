/* Lists the elements and attributes of MJCF up to MuJoCo 3.12: those that are imported, and those without effect on
 * motion. All other elements and attributes are reported by name, so that none is dropped silently
 * (tests/mujoco/attributes.py). */
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

#define FRAME "|pos|quat|euler|axisangle|xyaxes|zaxis|"
#define DRIVE                                                                                                 \
  "class|group|joint|tendon|site|refsite|gear|ctrllimited|ctrlrange|forcelimited|forcerange|kp|kv|dampratio|" \
  "inheritrange|gainprm|biasprm|biastype|gaintype|dyntype|dynprm"
#define TENDON "class|stiffness|springlength|damping|frictionloss|range|limited"
#define TENDON_IDLE "group|user|width|material|rgba|solreflimit|solimplimit|solreffriction|solimpfriction|margin"
#define EQUALITY "name|class|active|"
#define DRAWN "|group|material|rgba|user"

typedef enum {
  FATE_ATTRIBUTES, /* each attribute is imported, ignored or reported by itself */
  FATE_IDLE,       /* the element and its descendants have no effect on motion */
  FATE_LEFT        /* the element is not imported, and is reported without its attributes */
} ElementFate;

/* Rules for an element, or for an element inside another. parent: "" for any parent. read: attributes that are
 * imported, or reported where they are read. idle: attributes without effect on motion. */
typedef struct {
  const char *parent, *element;
  const char *read, *idle;
  ElementFate fate;
} ElementRow;

/* The first matching row applies, so rows with a parent precede the row of the same element without a parent. */
static const ElementRow ROWS[] = {
    {"", "mujoco", "", "model", FATE_ATTRIBUTES},
    {"", "include", "file", "", FATE_ATTRIBUTES},
    {"", "compiler",
     "angle|autolimits|inertiafromgeom|meshdir|assetdir|eulerseq|coordinate|settotalmass|exactmeshinertia|strippath|"
     "boundmass|boundinertia|balanceinertia|inertiagrouprange",
     "texturedir|discardvisual|fitaabb|convexhull|usethread|fusestatic|saveinertial|conflict", FATE_ATTRIBUTES},
    {"", "lengthrange", "", "", FATE_IDLE},
    {"", "option", "timestep|gravity|actuatorgroupdisable",
     "apirate|impratio|tolerance|ls_tolerance|noslip_tolerance|mpr_tolerance|ccd_tolerance|sleep_tolerance|magnetic|"
     "integrator|collision|cone|jacobian|solver|iterations|ls_iterations|noslip_iterations|mpr_iterations|"
     "ccd_iterations|sdf_iterations|sdf_initpoints|o_margin|o_solref|o_solimp",
     FATE_ATTRIBUTES},
    {"", "flag", "gravity|contact",
     "warmstart|refsafe|sensor|midphase|eulerdamp|autoreset|nativeccd|island|multiccd|energy|fwdinv|invdiscrete|sleep|"
     "diagexact|sensornoise",
     FATE_ATTRIBUTES},
    {"", "size", "", "", FATE_IDLE},
    {"", "statistic", "", "", FATE_IDLE},
    {"", "visual", "", "", FATE_IDLE},
    {"", "custom", "", "", FATE_IDLE},
    {"", "texture", "", "", FATE_IDLE},
    {"", "light", "", "", FATE_IDLE},
    {"", "camera", "", "", FATE_IDLE},
    {"", "sensor", "", "", FATE_LEFT},
    {"", "extension", "", "", FATE_LEFT},
    {"", "deformable", "", "", FATE_LEFT},
    {"", "plugin", "", "", FATE_LEFT},
    {"composite", "skin", "", "", FATE_IDLE},
    {"", "skin", "", "", FATE_LEFT},
    {"", "composite", "prefix|type|count|offset|vertex|initial|curve|size|quat", "", FATE_ATTRIBUTES},
    {"", "flexcomp", "", "", FATE_LEFT},
    {"default", "equality", "", "", FATE_ATTRIBUTES},
    {"default", "tendon", TENDON, TENDON_IDLE, FATE_ATTRIBUTES},
    {"", "default", "class", "", FATE_ATTRIBUTES},
    {"", "asset", "", "", FATE_ATTRIBUTES},
    {"", "mesh", "name|class|file|vertex|builtin|params|scale|inertia",
     "content_type|smoothnormal|normal|texcoord|material", FATE_ATTRIBUTES},
    {"", "hfield", "name|file|size|nrow|ncol|elevation", "content_type", FATE_ATTRIBUTES},
    {"", "material", "name|class|rgba",
     "texture|texrepeat|texuniform|emission|specular|shininess|reflectance|metallic|roughness", FATE_ATTRIBUTES},
    {"", "layer", "", "", FATE_IDLE},
    {"", "model", "name|file", "content_type", FATE_ATTRIBUTES},
    {"", "worldbody", "childclass", "", FATE_ATTRIBUTES},
    {"", "body", "name|childclass|mocap|gravcomp" FRAME, "user|sleep|simple", FATE_ATTRIBUTES},
    {"", "frame", "childclass" FRAME, "name", FATE_ATTRIBUTES},
    {"", "inertial", "mass|diaginertia|fullinertia" FRAME, "", FATE_ATTRIBUTES},
    {"composite", "joint", "damping|stiffness|armature|frictionloss|range",
     "kind|group|type|axis|limited|solreffix|solimpfix", FATE_ATTRIBUTES},
    {"fixed", "joint", "joint|coef", "", FATE_ATTRIBUTES},
    {"equality", "joint", EQUALITY "joint1|joint2|polycoef", "", FATE_ATTRIBUTES},
    {"", "joint",
     "name|class|type|pos|axis|range|limited|damping|stiffness|springref|armature|frictionloss|ref|actuatorfrcrange|"
     "actuatorfrclimited",
     "group|user", FATE_ATTRIBUTES},
    {"", "freejoint", "name", "group", FATE_ATTRIBUTES},
    {"composite", "geom", "type|contype|conaffinity|priority|size|friction|mass|density|rgba|material", "group",
     FATE_ATTRIBUTES},
    {"spatial", "geom", "geom|sidesite", "", FATE_ATTRIBUTES},
    {"", "geom",
     "name|class|type|contype|conaffinity|priority|size|friction|solref|solmix|mass|density|fromto|hfield|mesh|rgba|"
     "material" FRAME,
     "group|user|fluidshape|fluidcoef", FATE_ATTRIBUTES},
    {"composite", "site", "", "group|size|material|rgba", FATE_ATTRIBUTES},
    {"spatial", "site", "site", "", FATE_ATTRIBUTES},
    {"", "site", "name|class|fromto" FRAME, "type|size" DRAWN, FATE_ATTRIBUTES},
    {"", "contact", "", "", FATE_ATTRIBUTES},
    {"", "pair", "name|class|geom1|geom2|friction|solref", "", FATE_ATTRIBUTES},
    {"", "exclude", "body1|body2", "name", FATE_ATTRIBUTES},
    {"equality", "tendon", EQUALITY "tendon1|tendon2|polycoef", "", FATE_ATTRIBUTES},
    {"", "tendon", "", "", FATE_ATTRIBUTES},
    {"", "spatial", "name|" TENDON, TENDON_IDLE, FATE_ATTRIBUTES},
    {"", "fixed", "name|" TENDON, TENDON_IDLE, FATE_ATTRIBUTES},
    {"", "pulley", "divisor", "", FATE_ATTRIBUTES},
    {"", "equality", "", "", FATE_ATTRIBUTES},
    {"", "connect", EQUALITY "body1|body2|anchor|site1|site2", "", FATE_ATTRIBUTES},
    {"", "weld", EQUALITY "body1|body2|relpose|anchor|site1|site2", "torquescale", FATE_ATTRIBUTES},
    {"", "flex", "", "", FATE_LEFT},
    {"", "flexvert", "", "", FATE_LEFT},
    {"", "flexstrain", "", "", FATE_LEFT},
    {"", "distance", "", "", FATE_LEFT}, /* equality constraint of MuJoCo 2.2.2 */
    {"", "actuator", "", "", FATE_ATTRIBUTES},
    {"", "motor", DRIVE, "name|user|lengthrange", FATE_ATTRIBUTES},
    {"", "position", DRIVE, "name|user|lengthrange", FATE_ATTRIBUTES},
    {"", "velocity", DRIVE, "name|user|lengthrange", FATE_ATTRIBUTES},
    {"", "general", DRIVE "|actrange|actlimited", "name|user|lengthrange|actdim", FATE_ATTRIBUTES},
    {"", "intvelocity", DRIVE "|actrange|actlimited", "name|user|lengthrange", FATE_ATTRIBUTES},
    {"", "damper", DRIVE, "name|user|lengthrange", FATE_ATTRIBUTES},
    {"", "cylinder", DRIVE "|area|diameter|bias|timeconst", "name|user|lengthrange", FATE_ATTRIBUTES},
    {"actuator", "muscle", "", "", FATE_LEFT},
    {"actuator", "adhesion", "", "", FATE_LEFT},
    {"actuator", "dcmotor", "", "", FATE_LEFT},
    {"actuator", "pid", "", "", FATE_LEFT},
    {"actuator", "orientation", "", "", FATE_LEFT},
    {"", "muscle", "", "", FATE_IDLE}, /* in a <default>; the actuator itself is reported */
    {"", "adhesion", "", "", FATE_IDLE},
    {"", "dcmotor", "", "", FATE_IDLE},
    {"", "pid", "", "", FATE_IDLE},
    {"", "orientation", "", "", FATE_IDLE},
    {"", "keyframe", "", "", FATE_ATTRIBUTES},
    {"", "key", "name|qpos|qvel|act|ctrl", "time", FATE_ATTRIBUTES},
};

/* Attributes with a value that has no effect on motion. */
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

static const ElementRow* row_of(const XmlElement* element) {
  const char* parent = element->parent ? element->parent->name : "";
  for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++)
    if (strcmp(ROWS[k].element, element->name) == 0 && (!*ROWS[k].parent || strcmp(ROWS[k].parent, parent) == 0))
      return &ROWS[k];
  return NULL;
}

/* Returns true if two attribute values are the same words or equal numbers. For example, 0.0 equals 0. */
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

/* Returns true if a <plugin> or <extension> needs no report. The elasticity of a cable (robot/mjcf_expand_composite.c)
 * and a torus (robot/mjcf_made.c) are imported. An extension is known if all its plugins are. */
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
  const ElementRow* row = row_of(element);
  Text what = {0};
  if (is_known_plugin(model, element)) return;
  if (!row) {
    text_add(&what, "%s (no element of MJCF)", element->name);
    mjcf_report_dropped(model, what.data);
    text_free(&what);
    return;
  }
  if (row->fate == FATE_LEFT) {
    text_add(&what, "%s%s%s", row->parent, *row->parent ? "/" : "", element->name);
    mjcf_report_dropped(model, what.data);
    text_free(&what);
  }
  if (row->fate != FATE_ATTRIBUTES) return;
  report_attributes(model, element, row);
  for (const XmlElement* child = element->first; child; child = child->next) mjcf_report_unsupported(model, child);
}
