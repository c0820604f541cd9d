/* The table of contact laws. Each entry of LAWS is the name of a law whose file law_<name>.c defines LAW_<name>. */
#include <assert.h>

#include "contact/law.h"
#include "contact/rest.h"
#include "model/contact_fits.h"

/* Names of all laws, in the order of ContactModel without CONTACT_NONE. */
#define LAWS(ROW) ROW(separating_plane) ROW(long_range) ROW(ipc) ROW(penalty) ROW(manifold)

#define DECLARE(name) extern const ContactLaw LAW_##name;
LAWS(DECLARE)
#define WORD(name) "|" #name
#define POINTER(name) &LAW_##name,
static const ContactLaw* const laws[] = {LAWS(POINTER)};

enum { LAW_COUNT = sizeof(laws) / sizeof(laws[0]) };

const char contact_model_words[] = "none" LAWS(WORD);

static const SchemaRow model_row = {"contact",
                                    "model",
                                    VALUE_CHOICE,
                                    offsetof(ContactForm, model),
                                    .of = contact_model_words,
                                    .fallback = "separating_plane",
                                    .meaning = "Contact law; none: no contact."};

static const ContactLaw* find_law(ContactModel model) { return laws[model == CONTACT_NONE ? 0 : (int)model - 1]; }

const ContactLaw* contact_law_of_model(ContactModel model) { return find_law(model); }

const ContactLaw* contact_law(const Model* model) { return find_law(model->contact_model); }

const SchemaRow* contact_schema_row(int index) {
  if (index-- == 0) return &model_row;
  for (int k = 0; k < LAW_COUNT; k++) {
    if (index < laws[k]->parameter_count) return &laws[k]->parameters[index];
    index -= laws[k]->parameter_count;
  }
  return NULL;
}

const char* contact_model_name(ContactModel model) { return model == CONTACT_NONE ? "none" : find_law(model)->name; }

bool contact_allows_overlap(ContactModel model) { return model != CONTACT_NONE && find_law(model)->overlaps; }

bool contact_supports_smooth_shapes(ContactModel model) { return model == CONTACT_NONE || find_law(model)->shapes; }

bool contact_supports_round_solids(ContactModel model) { return model == CONTACT_NONE || find_law(model)->round; }

bool contact_supports_directional_friction(ContactModel model) {
  return model == CONTACT_NONE || find_law(model)->directions;
}

const char* contact_refusal_reason(ContactModel model, const ModelHull* hull) {
  if (model == CONTACT_NONE) return NULL;
  const ContactLaw* law = find_law(model);
  if (law->smooth_only && hull->kind->bounded && !hull_is_convex_smooth(hull)) return law->smooth_only;
  return hull->kind == &SOLID_TRIANGLE ? law->solids_only : NULL;
}

bool contact_fits(ContactModel model, const ModelHull* hull, const double* law_parameters, char* text, size_t size) {
  assert(hull && size > 0);
  return model == CONTACT_NONE || !find_law(model)->fits || find_law(model)->fits(hull, law_parameters, text, size);
}

int contact_own_count(ContactModel model) { return model == CONTACT_NONE ? 0 : find_law(model)->own_count; }

double contact_force_at_overlap(ContactModel model, const double* law_parameters, double overlap) {
  assert(!(overlap < 0));
  return find_law(model)->overlaps ? math_pow(overlap, law_parameters[0]) : 0;
}

bool contact_has_equilibrium_gap(ContactModel model) { return find_law(model)->rest != NULL; }

/* Returns the equilibrium with the largest gap below `gap` [m] and with a force above `force` (ContactEquilibrium)
 * (rest.h). */
static ContactEquilibrium find_equilibrium(ContactModel model, double support, int n_a, int n_b, double gap,
                                           double force) {
  const ContactLaw* law = find_law(model);
  assert(law->rest && !(support <= 0)); /* NaN is accepted here and reported later */
  double low = REST_Z_MIN, high = 1;
  for (int i = 0; i < REST_BISECTIONS_MAX; i++) {
    double middle = sqrt(low * high);
    if (middle <= low || middle >= high) break;
    ContactEquilibrium at = law->rest(support, n_a, n_b, middle);
    *(at.gap < gap && at.force > force ? &low : &high) = middle;
  }
  return law->rest(support, n_a, n_b, low);
}

ContactEquilibrium contact_rest_under_force(ContactModel model, double support, int n_a, int n_b, double force) {
  assert(!(force < 0));
  return find_equilibrium(model, support, n_a, n_b, INFINITY, force);
}

ContactEquilibrium contact_rest_at_gap(ContactModel model, double support, int n_a, int n_b, double gap) {
  assert(!(gap <= 0));
  return find_equilibrium(model, support, n_a, n_b, gap, -1);
}
