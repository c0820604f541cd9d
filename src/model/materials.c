/* What two links are to each other where they touch: friction and restitution of the pair, and where they come from. */
#include "model/model.h"

/* The first item of the pair's run in the sorted list; items: how many follow it. */
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

/* The last item that gives the value, or -1. */
static int find_item(const Model* model, const ModelPairItem* first, int items, int which) {
  for (int k = items - 1; k >= 0; k--)
    if (model->scene->contact.pairs[first[k].item].material.given[which]) return first[k].item;
  return -1;
}

static double contact_value(const Model* model, int which) {
  const ModelContact* c = &model->contact;
  return (const double[MATERIAL_COUNT]){
      c->friction, c->restitution, c->rolling, c->spinning, c->support, c->stiffness}[which];
}

static double value_of_links(const Model* model, int a, int b, int which) {
  const SceneMaterial *one = &model->scene->links[a].material, *other = &model->scene->links[b].material;
  if (one->given[which] && other->given[which]) return sqrt(one->value[which] * other->value[which]);
  if (one->given[which]) return one->value[which];
  return other->given[which] ? other->value[which] : contact_value(model, which);
}

PairMaterial model_pair_material(const Model* model, int a, int b) {
  PairMaterial out;
  int items = 0;
  const ModelPairItem* first = model->has_materials ? find_items(model, a, b, &items) : NULL;
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    int item = find_item(model, first, items, k);
    out.value[k] = item >= 0              ? model->scene->contact.pairs[item].material.value[k]
                   : model->has_materials ? value_of_links(model, a, b, k)
                                          : contact_value(model, k);
  }
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
      pair->material.given[k] = contact_law_has(pair->model, material_key(k));
  }
}

double model_largest_material(const Model* model, int which) {
  double largest = contact_value(model, which);
  for (int i = 0; model->has_materials && i < model->link_count; i++)
    if (model->scene->links[i].material.given[which])
      largest = fmax(largest, model->scene->links[i].material.value[which]);
  for (int k = 0; k < model->scene->contact.pair_count; k++)
    if (model->scene->contact.pairs[k].material.given[which])
      largest = fmax(largest, model->scene->contact.pairs[k].material.value[which]);
  return largest;
}

static void add_to_links(const Model* model, int a, int b, int which, double by, ModelGradient* gradient) {
  const SceneMaterial *one = &model->scene->links[a].material, *other = &model->scene->links[b].material;
  double *by_one = &gradient->material[1 + a][which], *by_other = &gradient->material[1 + b][which];
  if (one->given[which] && other->given[which]) {
    double root = sqrt(one->value[which] * other->value[which]);
    if (!(root > 0)) return;
    *by_one += by * 0.5 * root / one->value[which];
    *by_other += by * 0.5 * root / other->value[which];
  } else if (one->given[which]) {
    *by_one += by;
  } else if (other->given[which]) {
    *by_other += by;
  } else if (which == MATERIAL_FRICTION) {
    gradient->contact[CONTACT_FRICTION] += by;
  } else {
    gradient->material[0][which] += by;
  }
}

void model_gradient_material(const Model* model, int a, int b, const double by[MATERIAL_COUNT],
                             ModelGradient* gradient) {
  int items = 0;
  const ModelPairItem* first = model->has_materials ? find_items(model, a, b, &items) : NULL;
  for (int k = 0; k < MATERIAL_COUNT; k++) {
    if (by[k] == 0) continue;
    int item = find_item(model, first, items, k);
    if (item >= 0)
      gradient->material[model_material_row(model, -1, item)][k] += by[k];
    else
      add_to_links(model, a, b, k, by[k], gradient);
  }
}

void model_gradient_pair_law(const Model* model, int pair_law, const double by[MATERIAL_NUMBERS],
                             ModelGradient* gradient) {
  double* row = gradient->material[model_material_row(model, -1, model->pair_laws[pair_law].item)];
  for (int k = 0; k < MATERIAL_NUMBERS; k++) row[k] += by[k];
}
