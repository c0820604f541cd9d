/* Imports MuJoCo's contact filters: excluded pairs, named pairs and masks. They apply to geoms in MJCF and to links in
 * a scene. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

/* Largest number of links for which masks of all pairs are compared. In larger scenes masks are not imported. */
enum { MASKED_LINKS_MAX = 2000 };

/* Two scene links with geoms in a common <pair>, which can collide regardless of masks and excludes. */
typedef struct {
  int a, b;
  double friction;    /* largest friction of the <pair> elements of the links; negative: friction of the geoms */
  double restitution; /* largest restitution of the <pair> elements with solref; negative: restitution of the geoms */
} CollidingLinks;

typedef struct {
  MjcfModel* model;
  Scene* scene;
  const int* carrier;
  CollidingLinks* pairs;
  int pair_count, pair_capacity;
} Contacts;

void mjcf_find_pairs(MjcfModel* model) {
  for (const XmlElement* section = xml_child(model->root, "contact"); section; section = xml_next(section))
    for (const XmlElement* pair = xml_child(section, "pair"); pair; pair = xml_next(pair))
      for (int side = 0; side < 2; side++) {
        const XmlAttribute* name = xml_attribute(pair, side == 0 ? "geom1" : "geom2");
        if (!name || names_find(&model->paired, name->value) >= 0) continue;
        model->paired_link =
            memory_grow_array(model->paired_link, sizeof(int), model->paired_count, &model->paired_capacity);
        model->paired_link[model->paired_count] = -1;
        names_add(&model->paired, name->value, model->paired_count++);
      }
}

/* Returns the scene link of a geom that a <pair> names by the attribute `key`. Returns -1 if the geom belongs to the
 * world or is unknown; reports an unknown name. */
static int link_of_geom(const Contacts* c, const XmlElement* pair, const char* key) {
  const XmlAttribute* name = xml_attribute(pair, key);
  int index = name ? names_find(&c->model->paired, name->value) : -1;
  if (index >= 0 && c->model->paired_link[index] >= 0) return c->carrier[c->model->paired_link[index]];
  mjcf_error(c->model, name ? name->place : pair->place, "<pair>: %s: no geom is named '%s'", key,
             name ? text_excerpt(name->value).text : "");
  return -1;
}

static CollidingLinks* find_pair(const Contacts* c, int a, int b) {
  for (int k = 0; k < c->pair_count; k++)
    if ((c->pairs[k].a == a && c->pairs[k].b == b) || (c->pairs[k].a == b && c->pairs[k].b == a)) return &c->pairs[k];
  return NULL;
}

static void read_pair(Contacts* c, const XmlElement* element) {
  int a = link_of_geom(c, element, "geom1"), b = link_of_geom(c, element, "geom2");
  double friction[5] = {-1}, solref[2] = {1, 1};
  if (a < 0 || b < 0 || a == b) return;
  CollidingLinks* pair = find_pair(c, a, b);
  if (!pair) {
    c->pairs = memory_grow_array(c->pairs, sizeof(CollidingLinks), c->pair_count, &c->pair_capacity);
    pair = &c->pairs[c->pair_count++];
    *pair = (CollidingLinks){a, b, -1, -1};
  }
  mjcf_numbers(c->model, (MjcfElement){element, ""}, "friction", 1, 5, friction);
  pair->friction = fmax(pair->friction, friction[0]);
  if (mjcf_numbers(c->model, (MjcfElement){element, ""}, "solref", 1, 2, solref) > 0) {
    mjcf_report_dropped(c->model, "pair/solref except for its damping ratio (restitution)");
    pair->restitution = fmax(pair->restitution, mjcf_restitution(c->model, solref));
  }
  if (c->scene->links[a].shape_count > 1 || c->scene->links[b].shape_count > 1)
    mjcf_report_dropped(c->model, "contact/pair of single geoms (all geoms of both links collide)");
}

static void store_pairs(Contacts* c) {
  SceneContact* contact = &c->scene->contact;
  for (int k = 0; k < c->pair_count; k++) {
    const CollidingLinks* pair = &c->pairs[k];
    if (pair->friction < 0 && pair->restitution < 0) continue;
    size_t count = (size_t)contact->pair_count, size = sizeof(ScenePair);
    contact->pairs = memory_resize(contact->pairs, count * size, (count + 1) * size);
    ScenePair* added = &contact->pairs[contact->pair_count++];
    *added = (ScenePair){.place = {c->scene->path, 0, 0}};
    added->name[0] = memory_copy_text(c->scene->links[pair->a].name);
    added->name[1] = memory_copy_text(c->scene->links[pair->b].name);
    added->material.given[MATERIAL_FRICTION] = pair->friction >= 0;
    added->material.value[MATERIAL_FRICTION] = fmax(pair->friction, 0);
    added->material.given[MATERIAL_RESTITUTION] = pair->restitution >= 0;
    added->material.value[MATERIAL_RESTITUTION] = fmax(pair->restitution, 0);
  }
}

static void exclude_links(const Contacts* c, int a, int b) {
  assert(a >= 0 && b >= 0);
  if (a >= 0 && b >= 0 && a != b && !find_pair(c, a, b))
    robot_exclude(c->scene, c->scene->links[a].name, c->scene->links[b].name);
}

static void exclude_pair(const Contacts* c, const XmlElement* element) {
  MjcfModel* model = c->model;
  int link[2];
  for (int k = 0; k < 2; k++) {
    const XmlAttribute* name = xml_attribute(element, k == 0 ? "body1" : "body2");
    int body = name ? names_find(&model->bodies, name->value) : -1;
    if (name && strcmp(name->value, "world") == 0) body = 0;
    if (body < 0) {
      mjcf_error(model, name ? name->place : element->place, "<exclude>: no body is named '%s'%s",
                 name ? text_excerpt(name->value).text : "", mjcf_missing_body_hint(model));
      return;
    }
    link[k] = c->carrier[body];
  }
  exclude_links(c, link[0], link[1]);
}

static bool masks_collide(const MjcfMask* a, const MjcfMask* b) {
  return (a->type & b->affinity) != 0 || (b->type & a->affinity) != 0;
}

/* Returns how many pairs of geoms of two links can collide: 0 for none, 1 for some, 2 for all. The first link has the
 * masks with indices a to a_end - 1, the second link those with indices b to b_end - 1. */
static int count_colliding(const MjcfMask* masks, int a, int a_end, int b, int b_end) {
  assert(a < a_end && b < b_end);
  int yes = 0, no = 0;
  for (int i = a; i < a_end; i++)
    for (int k = b; k < b_end; k++) masks_collide(&masks[i], &masks[k]) ? yes++ : no++;
  return yes == 0 ? 0 : no == 0 ? 2 : 1;
}

static int compare_links(const void* left, const void* right) {
  const MjcfMask *a = left, *b = right;
  return (a->link > b->link) - (a->link < b->link);
}

static bool all_collide(const MjcfModel* model) {
  for (int i = 1; i < model->mask_count; i++)
    if (model->masks[i].type != model->masks[0].type || model->masks[i].affinity != model->masks[0].affinity)
      return false;
  return model->mask_count == 0 || masks_collide(&model->masks[0], &model->masks[0]);
}

static bool is_movable(const Scene* scene, int link) {
  for (; link >= 0; link = scene->links[link].parent)
    if (scene->links[link].joint.type != JOINT_FIXED) return true;
  return false;
}

/* Excludes pairs of links whose masks allow no pair of geoms to collide. */
static void exclude_by_masks(const Contacts* c) {
  MjcfModel* model = c->model;
  MjcfMask* masks = model->masks;
  int count = model->mask_count;
  bool some = false;
  if (all_collide(model)) return;
  if (c->scene->link_count > MASKED_LINKS_MAX) {
    mjcf_report_dropped(model, "contype and conaffinity");
    return;
  }
  for (int i = 0; i < count; i++) masks[i].link = c->carrier[masks[i].link];
  qsort(masks, (size_t)count, sizeof *masks, compare_links);
  for (int a = 0, a_end; a < count; a = a_end) {
    for (a_end = a; a_end < count && masks[a_end].link == masks[a].link; a_end++) continue;
    for (int b = a_end, b_end; b < count; b = b_end) {
      for (b_end = b; b_end < count && masks[b_end].link == masks[b].link; b_end++) continue;
      int x = masks[a].link, y = masks[b].link;
      if (x < 0 || (!is_movable(c->scene, x) && !is_movable(c->scene, y))) continue;
      int may = count_colliding(masks, a, a_end, b, b_end);
      some = some || may == 1;
      if (may == 0) exclude_links(c, x, y);
    }
  }
  if (some)
    mjcf_report_dropped(
        model, "contype and conaffinity that differ among the geoms of a link (all geoms of the link collide)");
}

void mjcf_read_contact(MjcfModel* model, Scene* scene, const int* carrier) {
  Contacts c = {.model = model, .scene = scene, .carrier = carrier};
  for (const XmlElement* section = xml_child(model->root, "contact"); section; section = xml_next(section))
    for (const XmlElement* pair = xml_child(section, "pair"); pair; pair = xml_next(pair)) read_pair(&c, pair);
  for (const XmlElement* section = xml_child(model->root, "contact"); section; section = xml_next(section))
    for (const XmlElement* item = xml_child(section, "exclude"); item; item = xml_next(item)) exclude_pair(&c, item);
  store_pairs(&c);
  exclude_by_masks(&c);
  memory_free(c.pairs);
}
