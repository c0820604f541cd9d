/* Lists the elements and attributes of MJCF up to MuJoCo 3.12: those that are imported, those without effect on motion,
 * and those that are left out, which are reported by name (tests/mujoco/attributes.py). All others are errors. */
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

#define FRAME_ATTRIBUTES "|pos|quat|euler|axisangle|xyaxes|zaxis|"
#define ACTUATOR_ATTRIBUTES                                                                                   \
  "class|group|joint|tendon|site|refsite|gear|ctrllimited|ctrlrange|forcelimited|forcerange|kp|kv|dampratio|" \
  "inheritrange|gainprm|biasprm|biastype|gaintype|dyntype|dynprm"
#define TENDON_ATTRIBUTES "class|stiffness|springlength|damping|frictionloss|range|limited"
#define TENDON_IDLE "group|user|width|material|rgba|solreflimit|solimplimit|solreffriction|solimpfriction|margin"
#define ACTUATOR_LEFT_OUT "nsample|interp|delay|damping|armature|cranklength|slidersite|cranksite"
#define TENDON_LEFT_OUT "actuatorfrclimited|actuatorfrcrange|armature"
#define CONTACT_LEFT_OUT "condim|solimp|margin|gap|surfacevel|adhesion"
#define LIMIT_LEFT_OUT "margin|solreflimit|solimplimit|solreffriction|solimpfriction"
#define EQUALITY_ATTRIBUTES "name|class|active|"
#define DISPLAY_ATTRIBUTES "|group|material|rgba|user"

typedef enum {
  HANDLE_ATTRIBUTES,    /* each attribute is imported, ignored or reported individually */
  HANDLE_AS_IDLE,       /* the element and its descendants have no effect on motion */
  HANDLE_AS_UNSUPPORTED /* the element is not imported, and is reported without its attributes */
} ElementHandling;

/* Rule for an element inside a parent element; parent "" means any parent. read: attributes that are imported, or
 * reported where they are read. idle: attributes without effect on motion. left_out: attributes that are not imported.
 */
typedef struct {
  const char *parent, *element;
  const char *read, *idle, *left_out;
  ElementHandling handling;
} ElementRow;

/* The first matching row applies, so rows with a parent precede the row of the same element without a parent. */
static const ElementRow ROWS[] = {
    {"", "mujoco", "", "model", "", HANDLE_ATTRIBUTES},
    {"", "include", "file", "", "", HANDLE_ATTRIBUTES},
    {"", "compiler",
     "angle|autolimits|inertiafromgeom|meshdir|assetdir|eulerseq|coordinate|settotalmass|exactmeshinertia|strippath|"
     "boundmass|boundinertia|balanceinertia|inertiagrouprange",
     "texturedir|discardvisual|fitaabb|convexhull|usethread|fusestatic|saveinertial|conflict", "alignfree",
     HANDLE_ATTRIBUTES},
    {"", "lengthrange", "", "", "", HANDLE_AS_IDLE},
    {"", "option", "timestep|gravity|actuatorgroupdisable",
     "apirate|impratio|tolerance|ls_tolerance|noslip_tolerance|mpr_tolerance|ccd_tolerance|sleep_tolerance|magnetic|"
     "integrator|collision|cone|jacobian|solver|iterations|ls_iterations|noslip_iterations|mpr_iterations|"
     "ccd_iterations|sdf_iterations|sdf_initpoints|o_margin|o_solref|o_solimp",
     "wind|density|viscosity|o_friction", HANDLE_ATTRIBUTES},
    {"", "flag", "gravity|contact",
     "warmstart|refsafe|sensor|midphase|eulerdamp|autoreset|nativeccd|island|multiccd|energy|fwdinv|invdiscrete|sleep|"
     "diagexact|sensornoise",
     "constraint|equality|frictionloss|limit|passive|spring|damper|clampctrl|filterparent|actuation|override",
     HANDLE_ATTRIBUTES},
    {"", "size", "", "", "", HANDLE_AS_IDLE},
    {"", "statistic", "", "", "", HANDLE_AS_IDLE},
    {"", "visual", "", "", "", HANDLE_AS_IDLE},
    {"", "custom", "", "", "", HANDLE_AS_IDLE},
    {"", "texture", "", "", "", HANDLE_AS_IDLE},
    {"", "light", "", "", "", HANDLE_AS_IDLE},
    {"", "camera", "", "", "", HANDLE_AS_IDLE},
    {"", "sensor", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "extension", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "deformable", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "plugin", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"composite", "skin", "", "", "", HANDLE_AS_IDLE},
    {"", "skin", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "composite", "prefix|type|count|offset|vertex|initial|curve|size|quat", "",
     "spacing|flatinertia|solrefsmooth|solimpsmooth|face", HANDLE_ATTRIBUTES},
    {"", "flexcomp", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"default", "equality", "", "", "active|solref|solimp", HANDLE_ATTRIBUTES},
    {"default", "tendon", TENDON_ATTRIBUTES, TENDON_IDLE, "", HANDLE_ATTRIBUTES},
    {"", "default", "class", "", "", HANDLE_ATTRIBUTES},
    {"", "asset", "", "", "", HANDLE_ATTRIBUTES},
    {"", "mesh", "name|class|file|vertex|builtin|params|scale|inertia",
     "content_type|smoothnormal|normal|texcoord|material", "face|refpos|refquat|maxhullvert", HANDLE_ATTRIBUTES},
    {"", "hfield", "name|file|size|nrow|ncol|elevation", "content_type", "", HANDLE_ATTRIBUTES},
    {"", "material", "name|class|rgba",
     "texture|texrepeat|texuniform|emission|specular|shininess|reflectance|metallic|roughness", "", HANDLE_ATTRIBUTES},
    {"", "layer", "", "", "", HANDLE_AS_IDLE},
    {"", "model", "name|file", "content_type", "", HANDLE_ATTRIBUTES},
    {"", "worldbody", "childclass", "", "", HANDLE_ATTRIBUTES},
    {"", "body", "name|childclass|mocap|gravcomp" FRAME_ATTRIBUTES, "user|sleep|simple", "", HANDLE_ATTRIBUTES},
    {"", "frame", "childclass" FRAME_ATTRIBUTES, "name", "", HANDLE_ATTRIBUTES},
    {"", "inertial", "mass|diaginertia|fullinertia" FRAME_ATTRIBUTES, "", "", HANDLE_ATTRIBUTES},
    {"composite", "joint", "damping|stiffness|armature|frictionloss|range",
     "kind|group|type|axis|limited|solreffix|solimpfix", LIMIT_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"fixed", "joint", "joint|coef", "", "", HANDLE_ATTRIBUTES},
    {"equality", "joint", EQUALITY_ATTRIBUTES "joint1|joint2|polycoef", "", "solref|solimp", HANDLE_ATTRIBUTES},
    {"", "joint",
     "name|class|type|pos|axis|range|limited|damping|stiffness|springref|armature|frictionloss|ref|actuatorfrcrange|"
     "actuatorfrclimited",
     "group|user", "springdamper|actuatorgravcomp|" LIMIT_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"", "freejoint", "name", "group", "align", HANDLE_ATTRIBUTES},
    {"composite", "geom", "type|contype|conaffinity|priority|size|friction|mass|density|rgba|material", "group",
     "solmix|solref|" CONTACT_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"spatial", "geom", "geom|sidesite", "", "", HANDLE_ATTRIBUTES},
    {"", "geom",
     "name|class|type|contype|conaffinity|priority|size|friction|solref|solmix|mass|density|fromto|hfield|mesh|rgba|"
     "material" FRAME_ATTRIBUTES,
     "group|user|fluidshape|fluidcoef", "shellinertia|fitscale|" CONTACT_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"composite", "site", "", "group|size|material|rgba", "", HANDLE_ATTRIBUTES},
    {"spatial", "site", "site", "", "", HANDLE_ATTRIBUTES},
    {"", "site", "name|class|fromto" FRAME_ATTRIBUTES, "type|size" DISPLAY_ATTRIBUTES, "", HANDLE_ATTRIBUTES},
    {"", "contact", "", "", "", HANDLE_ATTRIBUTES},
    {"", "pair", "name|class|geom1|geom2|friction|solref", "", "solreffriction|" CONTACT_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"", "exclude", "body1|body2", "name", "", HANDLE_ATTRIBUTES},
    {"equality", "tendon", EQUALITY_ATTRIBUTES "tendon1|tendon2|polycoef", "", "solref|solimp", HANDLE_ATTRIBUTES},
    {"", "tendon", "", "", "", HANDLE_ATTRIBUTES},
    {"", "spatial", "name|" TENDON_ATTRIBUTES, TENDON_IDLE, TENDON_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"", "fixed", "name|" TENDON_ATTRIBUTES, TENDON_IDLE, TENDON_LEFT_OUT, HANDLE_ATTRIBUTES},
    {"", "pulley", "divisor", "", "", HANDLE_ATTRIBUTES},
    {"", "equality", "", "", "", HANDLE_ATTRIBUTES},
    {"", "connect", EQUALITY_ATTRIBUTES "body1|body2|anchor|site1|site2", "", "solref|solimp", HANDLE_ATTRIBUTES},
    {"", "weld", EQUALITY_ATTRIBUTES "body1|body2|relpose|anchor|site1|site2", "torquescale", "solref|solimp",
     HANDLE_ATTRIBUTES},
    {"", "flex", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "flexvert", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "flexstrain", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "distance", "", "", "", HANDLE_AS_UNSUPPORTED}, /* equality constraint of MuJoCo 2.2.2 */
    {"", "actuator", "", "", "", HANDLE_ATTRIBUTES},
    {"", "motor", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", ACTUATOR_LEFT_OUT "|jointinparent", HANDLE_ATTRIBUTES},
    {"", "position", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", ACTUATOR_LEFT_OUT "|jointinparent|timeconst",
     HANDLE_ATTRIBUTES},
    {"", "velocity", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", ACTUATOR_LEFT_OUT "|jointinparent",
     HANDLE_ATTRIBUTES},
    {"", "general", ACTUATOR_ATTRIBUTES "|actrange|actlimited", "name|user|lengthrange|actdim",
     ACTUATOR_LEFT_OUT "|jointinparent|body|input|velrange|ffrange|actearly", HANDLE_ATTRIBUTES},
    {"", "intvelocity", ACTUATOR_ATTRIBUTES "|actrange|actlimited", "name|user|lengthrange",
     ACTUATOR_LEFT_OUT "|jointinparent", HANDLE_ATTRIBUTES},
    {"", "damper", ACTUATOR_ATTRIBUTES, "name|user|lengthrange", ACTUATOR_LEFT_OUT "|jointinparent", HANDLE_ATTRIBUTES},
    {"", "cylinder", ACTUATOR_ATTRIBUTES "|area|diameter|bias|timeconst", "name|user|lengthrange",
     ACTUATOR_LEFT_OUT "|jointinparent", HANDLE_ATTRIBUTES},
    {"actuator", "muscle", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "adhesion", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "dcmotor", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "pid", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"actuator", "orientation", "", "", "", HANDLE_AS_UNSUPPORTED},
    {"", "muscle", "", "", "", HANDLE_AS_IDLE}, /* in a <default>; the actuator itself is reported */
    {"", "adhesion", "", "", "", HANDLE_AS_IDLE},
    {"", "dcmotor", "", "", "", HANDLE_AS_IDLE},
    {"", "pid", "", "", "", HANDLE_AS_IDLE},
    {"", "orientation", "", "", "", HANDLE_AS_IDLE},
    {"", "keyframe", "", "", "", HANDLE_ATTRIBUTES},
    {"", "key", "name|qpos|qvel|act|ctrl", "time", "mpos|mquat", HANDLE_ATTRIBUTES},
};

/* Left-out attributes and elements that exert forces on bodies or constrain their motion. The import warns of them. */
static const char FORCE_ATTRIBUTES[] =
    "springdamper|actuatorgravcomp|wind|density|viscosity|constraint|equality|frictionloss|limit|passive|spring|damper|"
    "actuation|surfacevel|adhesion|damping|armature|cranklength|actuatorfrcrange";
static const char FORCE_ELEMENTS[] = "flex|flexvert|flexstrain|distance|muscle|adhesion|dcmotor|pid|orientation|plugin";

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

/* Reports `what`, which the import leaves out: with a warning if its name is in the list `forces`. */
static void report_left_out(MjcfModel* model, const char* forces, const char* name, const char* what) {
  (words_index(forces, name) >= 0 ? mjcf_report_lost_force : mjcf_report_dropped)(model, what);
}

/* Reports an error for a name that is not in MJCF, once for each place in the file. known: list of the allowed names.
 */
static void report_unknown(MjcfModel* model, const char* kind, const char* name, SourcePosition place,
                           const char* where, const char* known) {
  Text key = {0}, hint = {0};
  text_add(&key, "%s:%d:%d", place.file, place.line, place.column);
  int near = words_nearest(known, name);
  if (near >= 0) text_add(&hint, " (did you mean '%s'?)", words_at(known, near).text);
  if (names_add(&model->dropped_names, mjcf_own_text(model, &key), 0))
    mjcf_error(model, place, "unknown %s '%s'%s%s", kind, text_excerpt(name).text, where, hint.data ? hint.data : "");
  text_free(&hint);
}

static void report_unknown_attribute(MjcfModel* model, const XmlElement* element, const XmlAttribute* attribute,
                                     const ElementRow* row) {
  Text known = {0}, where = {0};
  text_add(&known, "%s|%s|%s", row->read, row->idle, row->left_out);
  text_add(&where, " of <%s>", element->name);
  report_unknown(model, "attribute", attribute->name, attribute->place, where.data, known.data);
  text_free(&known);
  text_free(&where);
}

static void report_attributes(MjcfModel* model, const XmlElement* element, const ElementRow* row) {
  bool flag = strcmp(element->name, "flag") == 0;
  for (int i = 0; i < element->attribute_count; i++) {
    const XmlAttribute* attribute = &element->attributes[i];
    if (words_index(row->read, attribute->name) >= 0 || words_index(row->idle, attribute->name) >= 0) continue;
    if (words_index(row->left_out, attribute->name) < 0) {
      report_unknown_attribute(model, element, attribute, row);
      continue;
    }
    if (is_neutral(element, attribute)) continue;
    Text what = {0};
    text_add(&what, "%s%s%s/%s", flag ? "option" : row->parent, flag || *row->parent ? "/" : "", element->name,
             attribute->name);
    report_left_out(model, FORCE_ATTRIBUTES, attribute->name, what.data);
    text_free(&what);
  }
}

/* Reports an error for an element that is not in MJCF. */
static void report_unknown_element(MjcfModel* model, const XmlElement* element) {
  Text known = {0};
  text_add(&known, "replicate|attach");
  for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) text_add(&known, "|%s", ROWS[k].element);
  report_unknown(model, "element", element->name, element->place, "", known.data);
  text_free(&known);
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
    report_unknown_element(model, element);
    return;
  }
  if (row->handling == HANDLE_AS_UNSUPPORTED) {
    text_add(&what, "%s%s%s", row->parent, *row->parent ? "/" : "", element->name);
    report_left_out(model, FORCE_ELEMENTS, element->name, what.data);
    text_free(&what);
  }
  if (row->handling != HANDLE_ATTRIBUTES) return;
  report_attributes(model, element, row);
  for (const XmlElement* child = element->first; child; child = child->next) mjcf_report_unsupported(model, child);
}
