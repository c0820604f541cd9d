/* The contact laws of a scene (Model.pair_laws). Each law receives a copy of the model that contains the contact
 * parameters of the law. Forces and energies of a law are computed with the stiffness of this law. */
#include <assert.h>

#include "contact/system.h"

/* ---------------------------------------------------------------- laws of a model */

const ContactLaw* contact_law_of_links(const Model* model, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < model->link_count && link_b >= 0 && link_b < model->link_count);
  int pair_law = model_pair_law(model, link_a, link_b);
  return pair_law >= 0 ? contact_law_of_model(model->pair_laws[pair_law].law) : contact_law(model);
}

bool contact_law_with(const Model* model, bool (*has)(const ContactLaw* law)) {
  bool found = has(contact_law(model));
  for (int k = 0; k < model->pair_law_count; k++) found = found || has(contact_law_of_model(model->pair_laws[k].law));
  return found;
}

static Model model_with_law_parameters(const Model* model, int pair_law) {
  Model view = *model;
  if (pair_law < 0) return view;
  view.contact_model = model->pair_laws[pair_law].law;
  view.contact = model->pair_laws[pair_law].contact;
  return view;
}

/* Returns the range of the law of `model` [m]. */
static double law_range(const Model* model) {
  const ContactLaw* law = contact_law(model);
  return law->range ? law->range(model) : 0;
}

double contact_range(const Model* model) {
  double range = 0;
  for (int k = -1; k < model->pair_law_count; k++) {
    Model view = model_with_law_parameters(model, k);
    range = fmax(range, law_range(&view));
  }
  return range;
}

static bool is_once_differentiable(const ContactLaw* law) { return law->once_differentiable; }

bool contact_once_differentiable(const Model* model) { return contact_law_with(model, is_once_differentiable); }

static bool has_link_pairs(const ContactLaw* law) { return law->links; }

bool contact_lists_by_range(const Model* model) { return contact_law_with(model, has_link_pairs); }

double contact_listed_range(const Model* model, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < model->link_count && link_b >= 0 && link_b < model->link_count);
  int pair_law = model_pair_law(model, link_a, link_b);
  if (!contact_law_of_links(model, link_a, link_b)->links) return INFINITY;
  if (pair_law < 0) return law_range(model);
  Model view = model_with_law_parameters(model, pair_law);
  return law_range(&view);
}

/* ---------------------------------------------------------------- laws of a scene */

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

static void update_max_sizes(const ContactLaw* law, SceneLaws* all) {
  all->pair_size = max_size(all->pair_size, law->pair_size);
  all->state_size = max_size(all->state_size, law->state_size);
  all->kept_size = max_size(all->kept_size, law->kept_size);
  all->moment_size = max_size(all->moment_size, law->moment_size);
  all->replay_size = max_size(all->replay_size, law->replay_size);
}

/* Finds out which parameters of law k come from its entry in `contact.pairs` (parameter_of_item), and which come from
 * `contact` (parameter_of_contact). */
static void find_parameter_sources(const Model* model, int k, SceneLaw* law) {
  ContactModel name = k == 0 ? model->contact_model : model->pair_laws[k - 1].law;
  for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++) {
    law->parameter_of_item[i] =
        k > 0 && model->scene->contact.pairs[model->pair_laws[k - 1].item].law_parameter_given[i];
    law->parameter_of_contact[i] = name == model->contact_model && !law->parameter_of_item[i];
  }
}

void laws_create(const Model* model, int threads, double tolerance, SceneLaws* all) {
  int count = model->pair_law_count + 1;
  *all = (SceneLaws){.model = model,
                     .laws = MEMORY_NEW(SceneLaw, count),
                     .count = count,
                     .step = MEMORY_NEW(LawStep, 1),
                     .points = MEMORY_NEW(FrictionPoints, threads),
                     .threads = threads};
  *all->step = (LawStep){.dt = model->simulation.dt, .force_ratio = 1};
  for (int k = 0; k < count; k++) {
    SceneLaw* law = &all->laws[k];
    law->view = model_with_law_parameters(model, k - 1);
    const Model* view = k == 0 ? model : &law->view;
    law->row = contact_law(view);
    law->range = law_range(view);
    law->data = law->row->create(view, threads, tolerance, all->step);
    find_parameter_sources(model, k, law);
    update_max_sizes(law->row, all);
  }
}

void laws_destroy(SceneLaws* all) {
  for (int k = 0; k < all->count; k++) all->laws[k].row->destroy(all->laws[k].data);
  for (int t = 0; t < all->threads; t++) friction_points_free(&all->points[t]);
  memory_free(all->points);
  memory_free(all->laws);
  memory_free(all->step);
}

const SceneLaw* law_of_links(const SceneLaws* all, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < all->model->link_count && link_b >= 0 && link_b < all->model->link_count);
  return &all->laws[1 + model_pair_law(all->model, link_a, link_b)];
}

const SceneLaw* law_of_items(const SceneLaws* all, int item_a, int item_b) {
  assert(item_a >= 0 && item_b >= 0);
  return law_of_links(all, contact_item_link(all->model, item_a), contact_item_link(all->model, item_b));
}

double law_reach(const SceneLaw* law, int hull) {
  return law->row->reach ? law->row->reach(law->data, hull) : 0.5 * law->range;
}

double laws_reach(const SceneLaws* all, int hull) {
  double largest = 0;
  for (int k = 0; k < all->count; k++) largest = fmax(largest, law_reach(&all->laws[k], hull));
  return largest;
}

void law_divide_parameters(const SceneLaws* all, const SceneLaw* law, PairShares* s) {
  for (int k = 0; k < CONTACT_LAW_PARAMETERS_MAX && law != all->laws; k++) {
    s->pair_law_parameters[k] = law->parameter_of_item[k] ? s->law_parameters[k] : 0;
    s->law_parameters[k] = law->parameter_of_contact[k] ? s->law_parameters[k] : 0;
  }
}
