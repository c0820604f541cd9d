/* Link pairs that can collide, and pairs with their own material or contact law. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "model/build.h"

static uint64_t pair_key(int a, int b) {
  uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  return low << 32 | high;
}

bool model_pair_allowed(const Model* model, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < model->link_count && link_b >= 0 && link_b < model->link_count);
  const ModelLink *a = &model->links[link_a], *b = &model->links[link_b];
  if (link_a == link_b || a->parent == link_b || b->parent == link_a) return false;
  if (a->rigid_group == b->rigid_group || !a->collide || !b->collide) return false;
  uint64_t key = pair_key(link_a, link_b);
  return !model->excluded || !bsearch(&key, model->excluded, (size_t)model->excluded_count, sizeof key, compare_uint64);
}

static bool link_has_name(const SceneLink* link, const char* name) {
  if (strcmp(link->name, name) == 0) return true;
  for (int k = 0; k < link->group_count; k++)
    if (strcmp(link->groups[k], name) == 0) return true;
  return false;
}

/* Finds the links with this name, or in a group with this name: members[links]. Returns their number. */
static int find_members(const Scene* scene, const char* name, int* members) {
  int count = 0;
  for (int i = 0; i < scene->link_count; i++)
    if (link_has_name(&scene->links[i], name)) members[count++] = i;
  return count;
}

static void append_key(Model* model, int* capacity, uint64_t key) {
  model->excluded = memory_grow_array(model->excluded, sizeof key, model->excluded_count, capacity);
  model->excluded[model->excluded_count++] = key;
}

static void sort_and_remove_duplicates(Model* model) {
  if (model->excluded_count == 0) return;
  qsort(model->excluded, (size_t)model->excluded_count, sizeof *model->excluded, compare_uint64);
  int kept = 1;
  for (int i = 1; i < model->excluded_count; i++)
    if (model->excluded[i] != model->excluded[kept - 1]) model->excluded[kept++] = model->excluded[i];
  model->excluded_count = kept;
}

static int compare_items(const void* left, const void* right) {
  const ModelPairItem *a = left, *b = right;
  return a->key == b->key ? (a->item > b->item) - (a->item < b->item) : (a->key > b->key) - (a->key < b->key);
}

/* Appends the link pairs of an item of contact.pairs. members[side]: links that name `side` of the item denotes (size:
 * count[side]). names_are_equal: true if both names are equal; each pair is then added once. */
static void append_items(Model* model, int item, bool names_are_equal, int* const members[2], const int count[2],
                         int* capacity) {
  for (int i = 0; i < count[0]; i++)
    for (int j = 0; j < (names_are_equal ? i : count[1]); j++) {
      if (members[0][i] == members[1][j]) continue;
      model->pair_items = memory_grow_array(model->pair_items, sizeof(ModelPairItem), model->pair_item_count, capacity);
      model->pair_items[model->pair_item_count++] =
          (ModelPairItem){pair_key(members[0][i], members[1][j]), item, members[0][i] > members[1][j]};
    }
}

/* Returns true if two links have no contact. The last of the links' items of contact.pairs that names a contact law
 * decides: it names `none`. first[items]: entries of these items. */
static bool pair_has_no_contact(const Model* model, const ModelPairItem* first, int items) {
  for (int k = items - 1; k >= 0; k--) {
    const ScenePair* pair = &model->scene->contact.pairs[first[k].item];
    if (pair->has_model) return pair->model == CONTACT_NONE;
  }
  return false;
}

/* Adds the pairs whose contact law is `none` to Model.excluded. */
static void exclude_pairs_without_contact(Model* model) {
  int capacity = model->excluded_count, before = model->excluded_count;
  for (int k = 0, items; k < model->pair_item_count; k += items) {
    const ModelPairItem* first = &model->pair_items[k];
    for (items = 1; k + items < model->pair_item_count && first[items].key == first->key;) items++;
    if (pair_has_no_contact(model, first, items)) append_key(model, &capacity, first->key);
  }
  if (model->excluded_count > before) sort_and_remove_duplicates(model);
}

/* Adds an error for direction-dependent or static friction under a law without it. owner: name of the link, or first
 * name of the item of contact.pairs. */
static void report_directional_friction(Builder* builder, SourcePosition place, const SceneMaterial* material,
                                        const char* owner, ContactModel law) {
  const char* key = material->given[MATERIAL_FRICTION_ALONG]    ? "friction_axis"
                    : material->given[MATERIAL_STATIC_FRICTION] ? "static_friction"
                                                                : "stribeck_speed";
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, place,
                  "'%s' of '%s' is not supported by the law %s: remove the key, or use the law separating_plane", key,
                  text_excerpt(owner).text, contact_model_name(law));
}

/* Material values that act only under laws with contact_supports_directional_friction. */
static const int PARAMETERS_OF_SOME_LAWS[] = {MATERIAL_RESTITUTION, MATERIAL_ROLLING, MATERIAL_SPINNING};
enum { UNUSED_COUNT = sizeof PARAMETERS_OF_SOME_LAWS / sizeof *PARAMETERS_OF_SOME_LAWS };

/* Warns of each value of PARAMETERS_OF_SOME_LAWS above 0 that has no effect under the law. owner: name of the link, or
 * first name of the item of contact.pairs. */
static void warn_unused_values(Builder* builder, SourcePosition place, const SceneMaterial* material, const char* owner,
                               ContactModel law) {
  for (int k = 0; k < UNUSED_COUNT; k++) {
    int which = PARAMETERS_OF_SOME_LAWS[k];
    if (!material->given[which] || !(material->value[which] > 0)) continue;
    diagnostics_add(builder->diagnostics, SEVERITY_WARNING, place,
                    "'%s' %.6g of '%s' has no effect, because the law %s does not support this key: remove the key, or "
                    "use the law separating_plane",
                    material_value_key(which), material->value[which], text_excerpt(owner).text,
                    contact_model_name(law));
  }
}

static bool has_directional_friction(const SceneMaterial* material) {
  return material->given[MATERIAL_FRICTION_ALONG] || material->given[MATERIAL_STATIC_FRICTION] ||
         material->given[MATERIAL_STRIBECK_SPEED];
}

static bool item_has_link(const ModelPairItem* item, int link) {
  return (int)(item->key >> 32) == link || (int)(item->key & UINT32_MAX) == link;
}

/* Returns true if the law of the scene, or of some pair of the link, supports directional friction. */
static bool some_law_uses_material(const Model* model, const SceneContact* contact, int link) {
  bool found = contact_supports_directional_friction(model->contact_model);
  for (int k = 0; k < model->pair_item_count && !found; k++) {
    const ScenePair* pair = &contact->pairs[model->pair_items[k].item];
    found = item_has_link(&model->pair_items[k], link) && pair->has_model &&
            contact_supports_directional_friction(pair->model);
  }
  return found;
}

/* Warns of material values of links and of items of contact.pairs that have no effect. */
static void check_unused(Builder* builder) {
  const Model* model = builder->model;
  const SceneContact* contact = &builder->scene->contact;
  for (int i = 0; i < builder->scene->link_count; i++) {
    const SceneLink* link = &builder->scene->links[i];
    if (!some_law_uses_material(model, contact, i))
      warn_unused_values(builder, link->place, &link->material, link->name, model->contact_model);
  }
  for (int k = 0; k < contact->pair_count; k++) { /* items that name a law are checked by the reader */
    const ScenePair* pair = &contact->pairs[k];
    if (!pair->has_model && !contact_supports_directional_friction(model->contact_model))
      warn_unused_values(builder, pair->place, &pair->material, pair->name[0], model->contact_model);
  }
}

/* Adds an error for direction-dependent or static friction that a contact law does not support. */
static void check_directions(Builder* builder) {
  const Model* model = builder->model;
  for (int i = 0; i < builder->scene->link_count; i++) {
    if (!has_directional_friction(&builder->scene->links[i].material)) continue;
    ContactModel law = model->contact_model;
    for (int k = 0; k < model->pair_item_count && contact_supports_directional_friction(law); k++) {
      const ScenePair* pair = &builder->scene->contact.pairs[model->pair_items[k].item];
      if (item_has_link(&model->pair_items[k], i) && pair->has_model) law = pair->model;
    }
    const SceneLink* link = &builder->scene->links[i];
    if (!contact_supports_directional_friction(law))
      report_directional_friction(builder, link->place, &link->material, link->name, law);
  }
  for (int k = 0; k < builder->scene->contact.pair_count; k++) { /* items that name a law are checked by the reader */
    const ScenePair* pair = &builder->scene->contact.pairs[k];
    if (!pair->has_model && has_directional_friction(&pair->material) &&
        !contact_supports_directional_friction(model->contact_model))
      report_directional_friction(builder, pair->place, &pair->material, pair->name[0], model->contact_model);
  }
}

/* Builds Model.pair_laws, the laws that items of contact.pairs name. build_contact sets their parameters. */
static void find_laws(Builder* builder) {
  const SceneContact* contact = &builder->scene->contact;
  Model* model = builder->model;
  int capacity = 0;
  for (int k = 0; k < contact->pair_count; k++) {
    const ScenePair* pair = &contact->pairs[k];
    if (!pair->has_model || pair->model == CONTACT_NONE) continue;
    if (model->contact_model == CONTACT_NONE)
      diagnostics_add(builder->diagnostics, SEVERITY_ERROR, pair->place,
                      "a pair with its own contact law needs a contact.model other than none: set contact.model, and "
                      "exclude other pairs with model: none");
    if (model->contact_model != CONTACT_NONE &&
        contact_allows_overlap(pair->model) != contact_allows_overlap(model->contact_model))
      diagnostics_add(builder->diagnostics, SEVERITY_ERROR, pair->place,
                      "the law %s lets bodies overlap, but the law %s does not: use laws of one kind in a scene, so "
                      "that certificates hold for all pairs",
                      contact_model_name(contact_allows_overlap(pair->model) ? pair->model : model->contact_model),
                      contact_model_name(contact_allows_overlap(pair->model) ? model->contact_model : pair->model));
    model->pair_laws = memory_grow_array(model->pair_laws, sizeof(ModelPairLaw), model->pair_law_count, &capacity);
    model->pair_laws[model->pair_law_count++] = (ModelPairLaw){.law = pair->model, .item = k};
  }
}

/* Warns if both names of a pair denote the same link. A group with one link is accepted, because the user may add links
 * to the group. */
static void warn_equal_names(Builder* builder, SourcePosition place, char* const names[2]) {
  const Scene* scene = builder->scene;
  bool link = false;
  for (int k = 0; k < scene->link_count && !link; k++) link = strcmp(scene->links[k].name, names[0]) == 0;
  if (link && strcmp(names[0], names[1]) == 0)
    diagnostics_add(builder->diagnostics, SEVERITY_WARNING, place,
                    "the pair has no effect, because both names are the link '%s': name two different links", names[0]);
}

static void warn_unused_pair(Builder* builder, const ScenePair* pair) {
  bool gives = pair->has_model;
  for (int k = 0; k < MATERIAL_COUNT; k++) gives = gives || pair->material.given[k];
  warn_equal_names(builder, pair->place, pair->name);
  if (!gives)
    diagnostics_add(builder->diagnostics, SEVERITY_WARNING, pair->place,
                    "the pair has no effect, because no value is given for '%s' and '%s': give 'friction' or another "
                    "key, or remove the pair",
                    pair->name[0], pair->name[1]);
}

void build_materials(Builder* builder) {
  const Scene* scene = builder->scene;
  Model* model = builder->model;
  int* members[2] = {MEMORY_NEW(int, scene->link_count), MEMORY_NEW(int, scene->link_count)};
  int capacity = 0;
  for (int k = 0; k < scene->contact.pair_count; k++) {
    const ScenePair* pair = &scene->contact.pairs[k];
    int count[2];
    for (int side = 0; side < 2; side++) count[side] = find_members(scene, pair->name[side], members[side]);
    append_items(model, k, strcmp(pair->name[0], pair->name[1]) == 0, members, count, &capacity);
    warn_unused_pair(builder, pair);
  }
  if (model->pair_item_count > 0)
    qsort(model->pair_items, (size_t)model->pair_item_count, sizeof *model->pair_items, compare_items);
  model->has_materials = model->pair_item_count > 0;
  for (int i = 0; i < scene->link_count; i++)
    for (int k = 0; k < MATERIAL_COUNT; k++) model->has_materials |= scene->links[i].material.given[k];
  find_laws(builder);
  check_directions(builder);
  check_unused(builder);
  exclude_pairs_without_contact(model);
  memory_free(members[0]);
  memory_free(members[1]);
}

/* Adds pairs of links joined by a permanent closure to Model.excluded. Links of a distance closure, and of a closure
 * that can break or be switched, can collide. */
static void exclude_closure_pairs(Model* model, int* capacity) {
  for (int k = 0; k < model->closure_count; k++) {
    const ModelClosure* c = &model->closures[k];
    bool always = !(c->force_limit > 0) && !c->active.source;
    if (c->type == CLOSURE_DISTANCE || !always || c->link[1] < 0) continue;
    append_key(model, capacity, pair_key(c->link[0], c->link[1]));
  }
}

void build_exclusions(Builder* builder) {
  const Scene* scene = builder->scene;
  int* members[2] = {MEMORY_NEW(int, scene->link_count), MEMORY_NEW(int, scene->link_count)};
  int capacity = 0;
  for (int k = 0; k < scene->contact.exclude_count; k++) {
    int count[2];
    for (int side = 0; side < 2; side++)
      count[side] = find_members(scene, scene->contact.exclude[k][side], members[side]);
    for (int i = 0; i < count[0]; i++)
      for (int j = 0; j < count[1]; j++)
        if (members[0][i] != members[1][j])
          append_key(builder->model, &capacity, pair_key(members[0][i], members[1][j]));
    warn_equal_names(builder, scene->contact.exclude_place[k], scene->contact.exclude[k]);
  }
  exclude_closure_pairs(builder->model, &capacity);
  sort_and_remove_duplicates(builder->model);
  memory_free(members[0]);
  memory_free(members[1]);
}
