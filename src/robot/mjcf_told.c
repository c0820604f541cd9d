/* What a file of MuJoCo says and a scene does not: every attribute that is neither read nor without effect on motion is
 * named, so that nothing is lost in silence. */
#include <string.h>

#include "robot/mjcf.h"

#define FRAME "|pos|quat|euler|axisangle|xyaxes|zaxis|"
#define DRIVE                                                                                                   \
  "name|class|group|user|joint|tendon|site|gear|ctrllimited|ctrlrange|forcelimited|forcerange|kp|kv|dampratio|" \
  "inheritrange|gainprm|biasprm|biastype|gaintype|dyntype|dynprm"
#define TENDON                                                                                                       \
  "name|class|group|user|stiffness|springlength|damping|frictionloss|range|limited|width|material|rgba|solreflimit|" \
  "solimplimit|solreffriction|solimpfriction|margin"

/* Attributes that are read, told elsewhere (how soft contacts and limits are, for instance), or do not matter. */
static const struct {
  const char *element, *known;
} ELEMENTS[] = {
    {"body", "name|childclass|mocap|gravcomp|user|sleep" FRAME},
    {"inertial", "mass|diaginertia|fullinertia" FRAME},
    {"joint",
     "name|class|type|group|pos|axis|range|limited|damping|stiffness|springref|armature|frictionloss|ref|user|"
     "actuatorfrcrange|actuatorfrclimited|joint|coef|joint1|joint2|polycoef|active|solref|solimp|margin"},
    {"freejoint", "name|group"},
    {"geom",
     "name|class|type|contype|conaffinity|condim|group|priority|size|material|friction|mass|density|solmix|"
     "solref|solimp|margin|gap|fromto|hfield|mesh|rgba|user|fluidshape|geom|sidesite" FRAME},
    {"mesh",
     "name|class|content_type|file|vertex|scale|inertia|refpos|refquat|smoothnormal|normal|texcoord|maxhullvert"},
    {"hfield", "name|content_type|file|size|nrow|ncol|elevation"},
    {"motor", DRIVE},
    {"position", DRIVE},
    {"velocity", DRIVE},
    {"general", DRIVE "|actrange|actlimited|actdim"},
    {"intvelocity", DRIVE "|actrange|actlimited"},
    {"damper", DRIVE},
    {"cylinder", DRIVE "|area|diameter|bias|timeconst"},
    {"spatial", TENDON},
    {"fixed", TENDON},
    {"tendon", TENDON}, /* in a default */
    {"pair", "name|class|geom1|geom2|friction|condim|solref|solreffriction|solimp|margin|gap"},
    {"frame", "name|childclass" FRAME},
};

static void tell_attributes(MjcfModel* model, const XmlElement* element, const char* known) {
  for (int i = 0; i < element->attribute_count; i++) {
    if (words_index(known, element->attributes[i].name) >= 0) continue;
    Text what = {0};
    text_add(&what, "%s/%s", element->name, element->attributes[i].name);
    mjcf_drop(model, what.data);
    text_free(&what);
  }
}

/* What stands in elements that are left out as a whole is not told besides. */
static void tell_within(MjcfModel* model, const XmlElement* parent) {
  if (words_index("composite|flexcomp|plugin", parent->name) >= 0) return;
  for (const XmlElement* child = parent->first; child; child = child->next) {
    for (size_t k = 0; k < sizeof ELEMENTS / sizeof ELEMENTS[0]; k++)
      if (strcmp(child->name, ELEMENTS[k].element) == 0) tell_attributes(model, child, ELEMENTS[k].known);
    tell_within(model, child);
  }
}

/* Forces of a medium, contact or whole parts of the dynamics switched off. */
static void tell_option(MjcfModel* model, const XmlElement* option) {
  static const char* const MEDIUM[] = {"density", "viscosity", "wind", "o_friction"};
  double values[5] = {0};
  for (size_t k = 0; k < sizeof MEDIUM / sizeof MEDIUM[0]; k++) {
    Text what = {0};
    int count = mjcf_numbers(model, (MjcfElement){option, ""}, MEDIUM[k], 1, 5, values);
    text_add(&what, "option/%s", MEDIUM[k]);
    for (int i = 0; i < count; i++)
      if (values[i] != 0) mjcf_drop(model, what.data);
    text_free(&what);
  }
  static const char MATTERS[] =
      "constraint|equality|frictionloss|limit|contact|passive|spring|damper|clampctrl|filterparent|actuation|override";
  for (const XmlElement* flag = xml_child(option, "flag"); flag; flag = xml_next(flag))
    for (int i = 0; i < flag->attribute_count; i++) {
      const XmlAttribute* a = &flag->attributes[i];
      bool usual = strcmp(a->value, strcmp(a->name, "override") == 0 ? "disable" : "enable") == 0;
      if (usual || words_index(MATTERS, a->name) < 0) continue;
      Text what = {0};
      text_add(&what, "option/flag/%s", a->name);
      mjcf_drop(model, what.data);
      text_free(&what);
    }
}

void mjcf_tell_attributes(MjcfModel* model) {
  static const char SECTIONS[] = "worldbody|default|asset|actuator|contact|tendon";
  for (const XmlElement* section = model->root->first; section; section = section->next) {
    if (words_index(SECTIONS, section->name) >= 0) tell_within(model, section);
    if (strcmp(section->name, "option") == 0) tell_option(model, section);
  }
}
