/* Checks the names of joints, tendons and sites that actuators, fixed tendons and equality constraints use, and the
 * names of default classes. A misspelled name would otherwise drop a motor, a constraint or a default value. MuJoCo
 * refuses such a file, too. */
#include <string.h>

#include "base/outside.h"
#include "robot/mjcf.h"

/* Names of the elements of one kind to which others refer. */
typedef struct {
  const char* kind; /* kind of the elements in messages, such as "joint" */
  Names names;
} Referable;

/* Attributes that name an element of a kind. element: the element of the section with the attributes, or with children
 * `child` that have them; NULL: every element of the section. */
static const struct {
  const char *section, *element, *child;
  const char* attributes;
  int kind; /* index of the Referable */
} REFERENCES[] = {
    {"actuator", NULL, NULL, "joint|jointinparent", 0},
    {"actuator", NULL, NULL, "tendon", 1},
    {"actuator", NULL, NULL, "site|refsite|cranksite|slidersite", 2},
    {"tendon", "fixed", "joint", "joint", 0},
    {"equality", "joint", NULL, "joint1|joint2", 0},
    {"equality", "tendon", NULL, "tendon1|tendon2", 1},
};

static void check_element(MjcfModel* model, const XmlElement* element, const char* attributes,
                          const Referable* referable) {
  for (int k = 0; k < words_count(attributes); k++) {
    Excerpt name = words_at(attributes, k);
    const XmlAttribute* attribute = xml_attribute(element, name.text);
    if (!attribute || !*attribute->value || names_find(&referable->names, attribute->value) >= 0) continue;
    mjcf_error(model, attribute->place, "<%s>: no %s is named '%s'%s", element->name, referable->kind,
               text_excerpt(attribute->value).text,
               text_suggestion(names_nearest(&referable->names, attribute->value)).text);
  }
}

static void check_section(MjcfModel* model, const XmlElement* section, size_t row, const Referable* referable) {
  const char *element = REFERENCES[row].element, *child = REFERENCES[row].child;
  for (const XmlElement* item = section->first; item; item = item->next) {
    if (element && strcmp(item->name, element) != 0) continue;
    if (!child) check_element(model, item, REFERENCES[row].attributes, referable);
    for (const XmlElement* part = child ? xml_child(item, child) : NULL; part; part = xml_next(part))
      check_element(model, part, REFERENCES[row].attributes, referable);
  }
}

static void add_tendon_names(const MjcfModel* model, Names* names) {
  for (const XmlElement* section = xml_child(model->root, "tendon"); section; section = xml_next(section))
    for (const XmlElement* item = section->first; item; item = item->next) {
      const XmlAttribute* name = xml_attribute(item, "name");
      if (name) names_add(names, name->value, 0);
    }
}

/* Reports undefined default classes that elements below `element` name. */
static void check_classes(MjcfModel* model, const XmlElement* element) {
  static const char* const ATTRIBUTES[] = {"class", "childclass"};
  for (const XmlElement* child = element->first; child; child = child->next) {
    if (strcmp(child->name, "default") == 0) continue; /* defines classes */
    for (int k = 0; k < 2; k++) {
      const XmlAttribute* name = xml_attribute(child, ATTRIBUTES[k]);
      if (!name || strcmp(name->value, "main") == 0 || names_find(&model->defaults, name->value) >= 0) continue;
      mjcf_error(model, name->place, "%s of <%s>: no default class is named '%s'%s", ATTRIBUTES[k], child->name,
                 text_excerpt(name->value).text, text_suggestion(names_nearest(&model->defaults, name->value)).text);
    }
    check_classes(model, child);
  }
}

void mjcf_check_references(MjcfModel* model) {
  check_classes(model, model->root);
  if (*mjcf_missing_body_hint(model)) return; /* a composite that is left out has names, too */
  Referable all[] = {{"joint", {0}}, {"tendon", {0}}, {"site", {0}}};
  for (int i = 0; i < model->coordinate_count; i++)
    if (*model->coordinates[i].name) names_add(&all[0].names, model->coordinates[i].name, i);
  add_tendon_names(model, &all[1].names);
  for (int i = 0; i < model->site_names.count; i++) names_add(&all[2].names, model->site_names.texts[i], i);
  for (size_t row = 0; row < sizeof REFERENCES / sizeof *REFERENCES; row++)
    for (const XmlElement* section = xml_child(model->root, REFERENCES[row].section); section;
         section = xml_next(section))
      check_section(model, section, row, &all[REFERENCES[row].kind]);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) names_free(&all[k].names);
}
