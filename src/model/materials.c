/* Material of a pair of links in contact: friction and restitution, and the link or item that gives each value. */
#include <assert.h>

#include "model/model.h"

/* Returns the first entry of two links in Model.pair_items, and the number of their entries *items. */
static const ModelPairItem* find_items(const Model* model, int a, int b, int* items) {
  uint64_t key = a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
  int low = 0, high = model->pair_item_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (model->pair_items[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  *items = 0;
  while (low + *items < model->pair_item_count && model->pair_items[low + *items].key == key) ++*items;
  return model->pair_items + low;
}

/* Returns the index of the material parameter that gives a value, or -1 if the material does not give it. Axial and
 * static friction default to MATERIAL_FRICTION. */
static int find_source(const SceneMaterial* material, int which) {
  bool coefficient = which == MATERIAL_FRICTION_ALONG || which == MATERIAL_STATIC_FRICTION;
  if (material->given[which]) return which;
  return coefficient && material->given[MATERIAL_FRICTION] ? MATERIAL_FRICTION : -1;
}

/* Returns the last of the entries first[items] whose item of contact.pairs gives material value number `which`, or NULL
 * if none does. */
static const ModelPairItem* find_entry(const Model* model, const ModelPairItem* first, int items, int which) {
  for (int k = items - 1; k >= 0; k--)
    if (find_source(&model->scene->contact.pairs[first[k].item].material, which) >= 0) return &first[k];
  return NULL;
}

static int find_item(const Model* model, const ModelPairItem* first, int items, int which) {
  const ModelPairItem* entry = find_entry(model, first, items, which);
  return entry ? entry->item : -1;
}

static double contact_value(const Model* model, int which) {
  const ModelContact* c = &model->contact;
  double at_rest = c->static_friction > 0 ? c->static_friction : c->friction;
  return (const double[MATERIAL_COUNT]){[MATERIAL_FRICTION] = c->friction,
                                        [MATERIAL_RESTITUTION] = c->restitution,
                                        [MATERIAL_ROLLING] = c->rolling,
                                        [MATERIAL_SPINNING] = c->spinning,
                                        [MATERIAL_FRICTION_ALONG] = c->friction,
                                        [MATERIAL_STATIC_FRICTION] = at_rest,
                                        [MATERIAL_STRIBECK_SPEED] = c->stribeck_speed,
                                        [MATERIAL_SUPPORT] = c->support,
                                        [MATERIAL_STIFFNESS] = c->stiffness}[which];
}

static double value_of_links(const Model* model, int a, int b, int which) {
  const SceneMaterial *one = &model->scene->links[a].material, *other = &model->scene->links[b].material;
  int from_one = find_source(one, which), from_other = find_source(other, which);
  if (from_one >= 0 && from_other >= 0) return sqrt(one->value[from_one] * other->value[from_other]);
  if (from_one >= 0) return one->value[from_one];
  return from_other >= 0 ? other->value[from_other] : contact_value(model, which);
}

/* Sets the friction axis of an item of contact.pairs, which is fixed to the first link that the item names. */
static void set_direction_by_item(const Model* model, int a, int b, const ModelPairItem* entry, PairMaterial* out) {
  const SceneMaterial* material = &model->scene->contact.pairs[entry->item].material;
  out->directed = material->given[MATERIAL_FRICTION_ALONG];
  out->axis_side = (entry->swapped ? a < b : b < a) ? 1 : 0;
  out->axis = material->axis;
}

/* Sets the friction axis if exactly one of the links has one. If both have one, friction is isotropic. */
static void set_direction(const Model* model, int a, int b, PairMaterial* out) {
  const SceneMaterial* of[2] = {&model->scene->links[a].material, &model->scene->links[b].material};
  int side = of[1]->given[MATERIAL_FRICTION_ALONG] ? 1 : 0;
  out->directed = of[side]->given[MATERIAL_FRICTION_ALONG] && !of[1 - side]->given[MATERIAL_FRICTION_ALONG];
  out->axis_side = side;
  out->axis = of[side]->axis;
}

PairMaterial model_pair_material(const Model* model, int a, int b) {
  assert(a >= 0 && a < model->link_count && b >= 0 && b < model->link_count);
  PairMaterial out = {.directed = false};
  int items = 0;
  const ModelPairItem* first = model->has_materials ? find_items(model, a, b, &items) : NULL;
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    int item = find_item(model, first, items, k);
    const SceneMaterial* material = item >= 0 ? &model->scene->contact.pairs[item].material : NULL;
    out.value[k] = material               ? material->value[find_source(material, k)]
                   : model->has_materials ? value_of_links(model, a, b, k)
                                          : contact_value(model, k);
  }
  const ModelPairItem* entry = model->has_materials ? find_entry(model, first, items, MATERIAL_FRICTION) : NULL;
  if (entry)
    set_direction_by_item(model, a, b, entry, &out);
  else if (model->has_materials)
    set_direction(model, a, b, &out);
  if (!out.directed) out.value[MATERIAL_FRICTION_ALONG] = out.value[MATERIAL_FRICTION];
  return out;
}

int model_pair_law(const Model* model, int a, int b) {
  if (model->pair_law_count == 0) return -1;
  int items = 0;
  const ModelPairItem* first = find_items(model, a, b, &items);
  for (int k = items - 1; k >= 0; k--)
    for (int i = 0; model->scene->contact.pairs[first[k].item].has_model && i < model->pair_law_count; i++)
      if (model->pair_laws[i].item == first[k].item) return i;
  return -1;
}

void model_fix_pairs(const Model* model, Scene* scene) {
  for (int i = 0; i < model->pair_law_count; i++) {
    ScenePair* pair = &scene->contact.pairs[model->pair_laws[i].item];
    pair->material.value[MATERIAL_SUPPORT] = model->pair_laws[i].contact.support;
    pair->material.value[MATERIAL_STIFFNESS] = model->pair_laws[i].contact.stiffness;
    for (int k = MATERIAL_SUPPORT; k <= MATERIAL_STIFFNESS; k++)
      pair->material.given[k] = contact_law_has_parameter(pair->model, material_value_key(k));
  }
}

double model_given_material(const Model* model, int link, int item, int which) {
  assert(which >= 0 && which < MATERIAL_COUNT);
  const Scene* scene = model->scene;
  const SceneMaterial* own = link >= 0   ? &scene->links[link].material
                             : item >= 0 ? &scene->contact.pairs[item].material
                                         : NULL;
  if (!own) return contact_value(model, which);
  return own->given[which] ? own->value[which] : (double)NAN;
}

double model_largest_material(const Model* model, int which) {
  assert(which >= 0 && which < MATERIAL_NUMBERS);
  double largest = contact_value(model, which);
  for (int i = 0; model->has_materials && i < model->link_count; i++)
    if (model->scene->links[i].material.given[which])
      largest = fmax(largest, model->scene->links[i].material.value[which]);
  for (int k = 0; k < model->scene->contact.pair_count; k++)
    if (model->scene->contact.pairs[k].material.given[which])
      largest = fmax(largest, model->scene->contact.pairs[k].material.value[which]);
  return largest;
}

static void add_link_derivatives(const Model* model, int a, int b, int which, double by, ModelGradient* gradient) {
  const SceneMaterial *one = &model->scene->links[a].material, *other = &model->scene->links[b].material;
  int from_one = find_source(one, which), from_other = find_source(other, which);
  double *by_one = gradient->material[1 + a], *by_other = gradient->material[1 + b];
  bool at_rest = which == MATERIAL_STATIC_FRICTION && model->contact.static_friction > 0;
  if (from_one >= 0 && from_other >= 0) {
    double root = sqrt(one->value[from_one] * other->value[from_other]);
    if (!(root > 0)) return;
    by_one[from_one] += by * 0.5 * root / one->value[from_one];
    by_other[from_other] += by * 0.5 * root / other->value[from_other];
  } else if (from_one >= 0) {
    by_one[from_one] += by;
  } else if (from_other >= 0) {
    by_other[from_other] += by;
  } else if (which == MATERIAL_FRICTION || which == MATERIAL_FRICTION_ALONG ||
             (which == MATERIAL_STATIC_FRICTION && !at_rest)) {
    gradient->contact[CONTACT_FRICTION] += by;
  } else {
    gradient->material[0][which] += by;
  }
}

void model_gradient_material(const Model* model, int a, int b, const double by[MATERIAL_COUNT],
                             ModelGradient* gradient) {
  assert(a >= 0 && a < model->link_count && b >= 0 && b < model->link_count);
  int items = 0;
  const ModelPairItem* first = model->has_materials ? find_items(model, a, b, &items) : NULL;
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    if (by[k] == 0) continue;
    int item = find_item(model, first, items, k);
    if (item >= 0)
      gradient->material[model_material_row(model, -1, item)]
                        [find_source(&model->scene->contact.pairs[item].material, k)] += by[k];
    else
      add_link_derivatives(model, a, b, k, by[k], gradient);
  }
}

void model_gradient_pair_law(const Model* model, int pair_law, const double by[MATERIAL_NUMBERS],
                             ModelGradient* gradient) {
  assert(pair_law >= 0 && pair_law < model->pair_law_count);
  double* row = gradient->material[model_material_row(model, -1, model->pair_laws[pair_law].item)];
  for (int k = 0; k < MATERIAL_NUMBERS; k++) row[k] += by[k];
}
