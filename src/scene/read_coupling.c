#include <assert.h>
#include <string.h>

#include "scene/parts.h"

/* Returns the index of a scalar coordinate of a link's joint. named: node with the name of the coordinate; NULL if the
 * joint has only one. Returns -1 after an error. */
static int read_coordinate(Reader* reader, const Node* item, const Node* named, int link) {
  assert(link >= 0);
  const SceneLink* l = &reader->scene->links[link];
  Joint joint = scene_joint(&l->joint);
  Excerpt name = text_excerpt(l->name);
  if (!named && joint.scalar_count == 1) return 0;
  for (int k = 0; named && k < joint.scalar_count; k++)
    if (strcmp(joint.names[k], named->text) == 0) return k;
  if (joint.scalar_count == 0)
    reader_error(reader, item->place,
                 "the joint of '%s' has no single coordinate (fixed or ball joint): name a link with a hinge, slide or "
                 "similar joint",
                 name.text);
  else if (!named)
    reader_error(reader, item->place,
                 "the joint of '%s' has %d coordinates: name one with 'coordinate' (for example '%s')", name.text,
                 joint.scalar_count, joint.names[0]);
  else
    reader_error(reader, named->place, "the joint of '%s' has no coordinate '%s' to use here: name for example '%s'",
                 name.text, text_excerpt(named->text).text, joint.names[0]);
  return -1;
}

/* Appends a term ratio * coordinate to a coupling. key: key of the link's name, for messages. */
static void append_term(Reader* reader, const Node* item, const char* key, const Node* link, const Node* coordinate,
                        double ratio, SceneCoupling* coupling) {
  if (!link) return;
  size_t mark = reader_enter_key(reader, key);
  int index = read_link_name(reader, link);
  reader_leave(reader, mark);
  if (index < 0 || reader->joint_broken[index]) return;
  int which = read_coordinate(reader, item, coordinate, index);
  for (int k = 0; which >= 0 && k < coupling->count; k++)
    if (coupling->terms[k].link == index && coupling->terms[k].coordinate == which)
      reader_error(reader, link->place,
                   "the same coordinate occurs twice in the sum: give one term with the sum of both ratios");
  if (which >= 0) coupling->terms[coupling->count++] = (SceneCouplingTerm){index, which, ratio};
}

void read_coupling_terms(Reader* reader, const Node* list, const char* key, SceneCoupling* coupling) {
  assert(coupling->terms && coupling->count <= COUPLING_TERMS_MAX);
  size_t mark = reader_enter_key(reader, key);
  int index = 0, most = COUPLING_TERMS_MAX - coupling->count;
  if (list->count > most)
    reader_error(reader, list->place, "expected at most %d terms, got %d: split the terms over several items", most,
                 list->count);
  for (const Node* entry = list->first; entry && index < most; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    CouplingTermForm form;
    if (schema_read(reader, entry, "coupling_term", &form))
      append_term(reader, entry, "link", form.link, form.coordinate, form.ratio, coupling);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

static void read_coupling(Reader* reader, const Node* item) {
  CouplingForm form;
  if (!schema_read(reader, item, "coupling", &form)) return;
  int before = reader->problem_count;
  SceneCoupling coupling = {.place = item->place, .terms = MEMORY_NEW(SceneCouplingTerm, COUPLING_TERMS_MAX)};
  coupling.has_offset = node_find(item, "offset") != NULL;
  coupling.offset = form.offset;
  const Node* ratio = node_find(item, "ratio");
  if (!form.of && !form.terms)
    reader_error(reader, item->place, "the followed joint is missing: give 'of' (a link) or 'terms'");
  if (form.terms && ratio)
    reader_error(reader, node_key_place(ratio), "'ratio' does not go with 'terms': give a ratio in each of the terms");
  append_term(reader, item, "link", form.link, form.coordinate, 1, &coupling);
  if (form.of) append_term(reader, item, "of", form.of, NULL, form.ratio, &coupling);
  if (form.terms) read_coupling_terms(reader, form.terms, "terms", &coupling);
  if (reader->problem_count > before || coupling.count < 2) {
    memory_free(coupling.terms);
    return;
  }
  Scene* scene = reader->scene;
  scene->couplings =
      memory_grow_array(scene->couplings, sizeof(SceneCoupling), scene->coupling_count, &reader->coupling_capacity);
  scene->couplings[scene->coupling_count++] = coupling;
}

void read_couplings(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "couplings");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    read_coupling(reader, entry);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}
