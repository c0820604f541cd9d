/* Derives default contact parameters, and warns of given parameters that cannot work (docs/contact-parameters.md). */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "model/contact_scales.h"
#include "scene/schema.h"

/* (R4) Default barrier distance, divided by the smallest size of a hull that contact resolves (feature). The barrier
 * distance is 1 mm for a box of 0.2 m. */
#define SUPPORT_PER_FEATURE (1.0 / 200)
/* (R4) Upper bound of the default barrier distance in scenes with gravity, relative to the displacement per step at the
 * typical speed. A body that separates then leaves the barrier distance within a few steps. */
#define SUPPORT_PER_DISPLACEMENT 0.75
/* Lower bound of the default barrier distance relative to the extent of the scene. Rounding errors of coordinates
 * (1e-16 of the extent) then stay below a millionth of the barrier distance. */
#define SUPPORT_PER_EXTENT 1e-9
/* Upper limit of the lower bound by SUPPORT_PER_EXTENT, relative to the smallest feature. With a larger barrier
 * distance, contact forces would act through a thin body. */
#define SUPPORT_WITHIN (1.0 / 8)
/* (R5) Equilibrium gaps between resting faces, relative to the barrier distance. GAP_REFERENCE: under the weight of the
 * median body. GAP_SMALLEST: under all bodies on one face. GAP_LARGEST: under the lightest body. */
#define GAP_REFERENCE 0.5
#define GAP_SMALLEST 0.15
#define GAP_LARGEST 1.0
/* (R13) Overlaps relative to the smallest feature, for laws that allow overlap. OVERLAP_REFERENCE: under the weight of
 * the median body. OVERLAP_LARGEST: under the weight of all bodies on one face. */
#define OVERLAP_REFERENCE (1.0 / 400)
#define OVERLAP_LARGEST (1.0 / 40)
/* (R6) Default creep speed sqrt(smoothing), the slip speed below which friction is proportional to slip, divided by the
 * square root of typical acceleration times smallest feature. The creep speed is 0.08 mm/s for a box of 0.2 m. A
 * sticking body creeps at a small multiple of the creep speed (R11). */
#define CREEP_PER_SPEED 6e-5
/* Lower bound of the default creep speed sqrt(smoothing), relative to the speed that gravity adds in one step. Friction
 * is then at most 3300 times stiffer than inertia. */
#define CREEP_PER_STEP 3e-4
/* (R12) Largest separation speed after an impact, relative to the typical speed of the scene. */
#define REST_PER_SPEED 2e-3
/* Pieces below this fraction of their link's volume are ignored as slivers of a decomposition. */
#define SLIVER_FRACTION 0.01
/* Feature [m] and force [N] assumed for a scene without collisions, where contact parameters have no effect. */
#define FEATURE_WITHOUT_HULLS 1.0
#define FORCE_WITHOUT_BODIES 1.0

/* (R8) Equilibrium gaps below this fraction of the barrier distance are reported. The force there is 33 000 times that
 * at half the barrier distance. */
#define GAP_FRACTION_MIN 0.1
/* Time steps above PERIODS_MAX contact periods are reported (R9). Friction more than FRICTION_STIFFNESS_MAX times
 * stiffer than inertia is reported, because Newton's method stalls (R10). */
#define PERIODS_MAX 20.0
#define FRICTION_STIFFNESS_MAX 1e5
/* A creep speed above this fraction of the typical speed is reported, because friction then acts as viscous drag. */
#define CREEP_FRACTION_MAX 0.1

static const double TWO_PI = 6.283185307179586476925286766559;

/* Returns the smallest feature of a link's hulls [m]. Ignores pieces below SLIVER_FRACTION of the link's volume.
 * feature[hull_count]: hull_feature of every hull. */
static double link_feature(const Model* model, const ModelLink* link, const double* feature) {
  double volume = 0, smallest = HUGE_VAL;
  for (int k = 0; k < link->hull_count; k++) volume += hull_volume(&model->hulls[link->hull_first + k]);
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[link->hull_first + k];
    bool piece = hull->kind == &SOLID_TRIANGLE || hull_volume(hull) >= SLIVER_FRACTION * volume;
    if (hull->kind->bounded && piece) smallest = fmin(smallest, feature[link->hull_first + k]);
  }
  return smallest;
}

/* Returns the smallest feature of the links that move and collide [m]. If there is no such link, returns the smallest
 * feature of all links. */
static double smallest_feature(const Model* model, const double* feature) {
  double moving = HUGE_VAL, any = HUGE_VAL;
  for (int i = 0; i < model->link_count; i++) {
    double size = link_feature(model, &model->links[i], feature);
    any = fmin(any, size);
    if (model->links[i].collide && link_is_dynamic(model, i)) moving = fmin(moving, size);
  }
  double smallest = isfinite(moving) ? moving : any;
  return isfinite(smallest) ? smallest : FEATURE_WITHOUT_HULLS;
}

/* Returns the default barrier distance [m]. In scenes with restitution the displacement per step is no upper bound,
 * because resolving an impact needs a larger barrier distance. */
static double derived_support(const ModelContact* contact, const ContactScales* scales) {
  double support = contact->feature * SUPPORT_PER_FEATURE;
  if (scales->displacement > 0 && !contact->bounces)
    support = fmin(support, scales->displacement * SUPPORT_PER_DISPLACEMENT);
  return fmax(support, fmin(scales->extent * SUPPORT_PER_EXTENT, contact->feature * SUPPORT_WITHIN));
}

static double force_at(ContactModel model, double support, double gap) {
  return contact_rest_at_gap(model, support, REST_VERTICES, REST_VERTICES, gap * support).force;
}

/* Returns the default contact stiffness of a law that allows bodies to overlap (R13), or 0 if the law has no force at
 * overlap. */
static double overlap_stiffness(ContactModel model, const ModelContact* contact, const ContactScales* scales) {
  double usual = contact_force_at_overlap(model, contact->law_parameters, OVERLAP_REFERENCE * contact->feature);
  double most = contact_force_at_overlap(model, contact->law_parameters, OVERLAP_LARGEST * contact->feature);
  return usual > 0 && most > 0 ? fmax(contact->reference_force / usual, scales->total / most) : 0;
}

/* Returns the default contact stiffness (R5). The median body rests at GAP_REFERENCE of the barrier distance. The
 * lightest body must rest within the barrier distance. The gap under all bodies must not be below GAP_SMALLEST; this
 * condition has priority. */
static double derived_stiffness(ContactModel model, const ModelContact* contact, const ContactScales* scales) {
  double support = contact->support;
  if (!contact_has_equilibrium_gap(model)) return overlap_stiffness(model, contact, scales);
  double stiffness = contact->reference_force / force_at(model, support, GAP_REFERENCE);
  if (scales->tree_count == 0) return stiffness;
  stiffness = fmin(stiffness, scales->lightest / force_at(model, support, GAP_LARGEST));
  return fmax(stiffness, scales->total / force_at(model, support, GAP_SMALLEST));
}

/* Returns the default smoothing of friction, the squared creep speed [(m/s)^2] (R6). feature: smallest size that
 * contact resolves [m]. acceleration: typical acceleration of the scene [m/s^2]. dt: substep [s]. */
static double derived_smoothing(double feature, double acceleration, double dt) {
  double creep = fmax(CREEP_PER_SPEED * sqrt(acceleration * feature), CREEP_PER_STEP * acceleration * dt);
  return creep * creep;
}

static double equilibrium_gap(ContactModel model, const ModelContact* contact, double force) {
  if (!contact_has_equilibrium_gap(model)) return 0;
  return contact_rest_under_force(model, contact->support, REST_VERTICES, REST_VERTICES, force / contact->stiffness)
      .gap;
}

static double gap_under_force(const Model* model, double force) {
  return equilibrium_gap(model->contact_model, &model->contact, force);
}

/* Adds an error if derived contact parameters are zero or not finite, as for extreme masses or accelerations. */
static void check_derived(Builder* builder) {
  const ModelContact* contact = &builder->model->contact;
  if (isnormal(contact->support) && isnormal(contact->stiffness) && isnormal(contact->smoothing)) return;
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, builder->scene->contact.place,
                  "no valid contact parameters follow from the masses, sizes and gravity (barrier_distance %.3g m, "
                  "stiffness %.3g J, smoothing %.3g (m/s)^2): set these keys in 'contact', or check the units",
                  contact->support, contact->stiffness, contact->smoothing);
}

void contact_own_defaults(ContactModel law, double parameters[CONTACT_LAW_PARAMETERS_MAX]) {
  const SchemaRow* row;
  memset(parameters, 0, sizeof(double[CONTACT_LAW_PARAMETERS_MAX]));
  for (int i = 1; (row = contact_schema_row(i)); i++) {
    if (!schema_row_allows_type(row, contact_model_name(law)) || contact_row_law_parameter(row) < 0) continue;
    if (row->fallback && row->fallback[0] != '(')
      parameters[contact_row_law_parameter(row)] = strtod(row->fallback, NULL);
  }
}

/* Sets the contact parameters of a pair law, that is, of one item of contact.pairs. Support, stiffness and the law's
 * own parameters are given by the item or derived. All other parameters keep the values of the scene. */
static void build_pair_law(Builder* builder, ModelPairLaw* pair, const ContactScales* scales) {
  const ScenePair* item = &builder->scene->contact.pairs[pair->item];
  const SceneMaterial* given = &item->material;
  ModelContact* contact = &pair->contact;
  *contact = builder->model->contact;
  contact->support_derived = !given->given[MATERIAL_SUPPORT];
  contact->stiffness_derived = !given->given[MATERIAL_STIFFNESS];
  contact->support = contact->support_derived ? derived_support(contact, scales) : given->value[MATERIAL_SUPPORT];
  if (pair->law != builder->model->contact_model) {
    contact_own_defaults(pair->law, contact->law_parameters);
    contact->hierarchy = true;
  }
  for (int k = 0; k < CONTACT_LAW_PARAMETERS_MAX; k++)
    if (item->law_parameter_given[k]) contact->law_parameters[k] = item->law_parameters[k];
  if (item->hierarchy_given) contact->hierarchy = item->hierarchy;
  contact->stiffness =
      contact->stiffness_derived ? derived_stiffness(pair->law, contact, scales) : given->value[MATERIAL_STIFFNESS];
  contact->gap_at_rest = equilibrium_gap(pair->law, contact, contact->reference_force);
}

/* Default Stribeck speed [m/s] of imported robots, equal to the default of scene files. */
#define STRIBECK_SPEED 0.01
/* Least ratio of Stribeck speed to the creep speed sqrt(smoothing) without a warning. Above this ratio, static friction
 * is reached within 1 % (friction.md, F12). */
#define STRIBECK_PER_CREEP 20.0

void build_contact(Builder* builder) {
  const SceneContact* given = &builder->scene->contact;
  ContactModel model = builder->model->contact_model;
  ModelContact* contact = &builder->model->contact;
  double feature = smallest_feature(builder->model, builder->feature);
  ContactScales scales = contact_scales(builder->model, feature);
  *contact = (ModelContact){.support_derived = !(given->support > 0),
                            .stiffness_derived = !(given->stiffness > 0),
                            .smoothing_derived = !(given->smoothing > 0),
                            .rest_speed_derived = !(given->rest_speed > 0) && !given->elastic,
                            .friction = given->friction,
                            .friction_iterations = given->friction_iterations,
                            .restitution = given->restitution,
                            .hierarchy = given->hierarchy,
                            .rolling = given->rolling,
                            .spinning = given->spinning,
                            .static_friction = given->static_friction,
                            .stribeck_speed = given->stribeck_speed > 0 ? given->stribeck_speed : STRIBECK_SPEED,
                            .feature = feature};
  memcpy(contact->law_parameters, given->law_parameters, sizeof(contact->law_parameters));
  contact->bounces = model_largest_material(builder->model, MATERIAL_RESTITUTION) > 0;
  contact->reference_force = scales.tree_count > 0 ? scales.median : FORCE_WITHOUT_BODIES;
  contact->support = contact->support_derived ? derived_support(contact, &scales) : given->support;
  contact->stiffness = contact->stiffness_derived ? derived_stiffness(model, contact, &scales) : given->stiffness;
  contact->smoothing =
      contact->smoothing_derived
          ? derived_smoothing(feature, scales.acceleration, simulation_substep_length(&builder->model->simulation))
          : given->smoothing;
  contact->rest_speed = contact->rest_speed_derived ? REST_PER_SPEED * scales.speed : given->rest_speed;
  if (given->elastic) contact->rest_speed = 0;
  if (contact_allows_overlap(model)) builder->model->simulation.certificate = false;
  contact->gap_at_rest = gap_under_force(builder->model, contact->reference_force);
  contact->gap_under_all = gap_under_force(builder->model, fmax(scales.total, contact->reference_force));
  for (int k = 0; k < builder->model->pair_law_count; k++)
    build_pair_law(builder, &builder->model->pair_laws[k], &scales);
  check_derived(builder);
}

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  ContactScales scales;
  SourcePosition support, stiffness, smoothing;
} DefaultsCheck;

/* Warns of a barrier distance that does not fit the scene (R7). */
static void check_support(const DefaultsCheck* check) {
  const ModelContact* contact = &check->model->contact;
  if (contact->support_derived) {
    if (check->scales.extent * SUPPORT_PER_EXTENT > contact->feature * SUPPORT_WITHIN)
      diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->model->scene->contact.place,
                      "bodies of size %.3g m have coordinates of %.3g m; the rounding error of these coordinates is "
                      "%.2g of contact.barrier_distance %.3g m: place the scene near the origin",
                      contact->feature, check->scales.extent, DBL_EPSILON * check->scales.extent / contact->support,
                      contact->support);
    return;
  }
  if (contact->support > contact->feature)
    diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->support,
                    "barrier_distance %.6g m is larger than the smallest feature of the moving bodies, %.6g m, so "
                    "contact acts through the bodies: set contact.barrier_distance to about %.2g m",
                    contact->support, contact->feature, derived_support(contact, &check->scales));
  if (contact->support < check->scales.extent * SUPPORT_PER_EXTENT)
    diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->support,
                    "barrier_distance %.6g m is below %.6g m, the minimum for the rounding errors of coordinates of "
                    "%.6g m: increase contact.barrier_distance, or place the scene near the origin",
                    contact->support, check->scales.extent * SUPPORT_PER_EXTENT, check->scales.extent);
}

static void warn_gap(const DefaultsCheck* check, const char* body, double force, double gap, const char* rule) {
  const ModelContact* contact = &check->model->contact;
  double suits = check->scales.median / force_at(check->model->contact_model, contact->support, GAP_REFERENCE);
  diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->stiffness,
                  "the %s moving body (%.6g N) rests at a gap of %.3g m, %s the barrier_distance %.6g m: set "
                  "contact.stiffness to about %.2g",
                  body, force, gap, rule, contact->support, suits);
}

/* Warns of a contact stiffness, given by the scene, that does not fit the weights of the bodies (R8). The lightest body
 * must rest within the barrier distance. The heaviest body must not rest at a very small gap. */
static void check_gap(const DefaultsCheck* check) {
  const ModelContact* contact = &check->model->contact;
  const ContactScales* scales = &check->scales;
  if (contact->stiffness_derived) return;
  double widest = gap_under_force(check->model, scales->lightest),
         narrowest = gap_under_force(check->model, scales->heaviest);
  if (!(widest <= GAP_LARGEST * contact->support)) warn_gap(check, "lightest", scales->lightest, widest, "beyond");
  if (!(narrowest >= GAP_FRACTION_MIN * contact->support))
    warn_gap(check, "heaviest", scales->heaviest, narrowest, "less than a tenth of");
}

/* Warns of a time step of many contact periods (R9). A contact period is 2 pi sqrt(m / k) for a body of the reference
 * weight on a contact with stiffness k. */
static void check_step(const DefaultsCheck* check) {
  const ModelContact* contact = &check->model->contact;
  if (contact->support_derived && contact->stiffness_derived) return;
  double mass = contact->reference_force / check->scales.acceleration;
  ContactEquilibrium rest = contact_rest_under_force(check->model->contact_model, contact->support, REST_VERTICES,
                                                     REST_VERTICES, contact->reference_force / contact->stiffness);
  double period = TWO_PI * sqrt(mass / (contact->stiffness * rest.stiffness));
  double dt = simulation_substep_length(&check->model->simulation);
  if (dt <= PERIODS_MAX * period) return;
  diagnostics_add(check->diagnostics, SEVERITY_WARNING, contact->support_derived ? check->stiffness : check->support,
                  "time step %.6g s is too long for the contact stiffness: %.3g periods of a body oscillating on its "
                  "contact (%.3g s); reduce simulation.dt, or increase contact.barrier_distance",
                  dt, dt / period, period);
}

/* Warns of a smoothing of friction, given by the scene, for which friction is too weak at low speed, or too stiff for
 * Newton's method (R10). */
static void check_smoothing(const DefaultsCheck* check) {
  const ModelContact* contact = &check->model->contact;
  double friction = model_largest_material(check->model, MATERIAL_FRICTION);
  if (contact->smoothing_derived || !(friction > 0)) return;
  double creep = sqrt(contact->smoothing), dt = simulation_substep_length(&check->model->simulation);
  double acceleration = check->scales.acceleration, speed = sqrt(acceleration * contact->feature);
  double suits = derived_smoothing(contact->feature, acceleration, dt);
  if (contact_law_has_parameter(check->model->contact_model, "barrier_distance") && creep * dt > contact->support)
    diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->smoothing,
                    "friction reaches full strength only at a slip of sqrt(smoothing) dt = %.3g m per step, more than "
                    "the barrier distance %.6g m, so sticking bodies creep: set contact.smoothing to about %.2g",
                    creep * dt, contact->support, suits);
  else if (creep > CREEP_FRACTION_MAX * speed)
    diagnostics_add(
        check->diagnostics, SEVERITY_WARNING, check->smoothing,
        "friction reaches full strength only at a slip of sqrt(smoothing) = %.3g m/s, too fast for the typical speed "
        "of the scene, %.3g m/s, so friction acts as viscous drag: set contact.smoothing to about %.2g",
        creep, speed, suits);
  if (friction * acceleration * dt > FRICTION_STIFFNESS_MAX * creep)
    diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->smoothing,
                    "sqrt(smoothing) = %.3g m/s is %.2g of the speed change that friction causes in one step: Newton's "
                    "method converges slowly; set contact.smoothing to about %.2g",
                    creep, creep / (friction * acceleration * dt), suits);
}

/* Returns the least Stribeck speed of pairs with static friction [m/s], or INFINITY if no pair has static friction. */
static double smallest_stribeck_speed(const Model* model) {
  const Scene* scene = model->scene;
  bool sticks = model->contact.static_friction > 0;
  double least = INFINITY, given = INFINITY;
  for (int i = 0; i < scene->link_count + scene->contact.pair_count; i++) {
    const SceneMaterial* material =
        i < scene->link_count ? &scene->links[i].material : &scene->contact.pairs[i - scene->link_count].material;
    sticks = sticks || material->given[MATERIAL_STATIC_FRICTION];
    if (material->given[MATERIAL_STRIBECK_SPEED]) given = fmin(given, material->value[MATERIAL_STRIBECK_SPEED]);
  }
  if (sticks) least = fmin(given, model->contact.stribeck_speed);
  return least;
}

/* Warns of a Stribeck speed too close to the creep speed, the slip speed below which friction is proportional to slip
 * (F12). */
static void check_stribeck_speed(const DefaultsCheck* check) {
  double least = smallest_stribeck_speed(check->model), creep = sqrt(check->model->contact.smoothing);
  if (!(least < STRIBECK_PER_CREEP * creep)) return;
  double suits = least / STRIBECK_PER_CREEP;
  diagnostics_add(check->diagnostics, SEVERITY_WARNING, check->model->scene->contact.place,
                  "'stribeck_speed' %.3g m/s is below %.3g m/s, %g times sqrt(contact.smoothing), so bodies slip "
                  "before static friction is reached: increase 'stribeck_speed', or set contact.smoothing to %.2g",
                  least, STRIBECK_PER_CREEP * creep, STRIBECK_PER_CREEP, suits * suits);
}

void model_check_contact(const Model* model, Diagnostics* diagnostics) {
  const SceneContact* given = &model->scene->contact;
  DefaultsCheck check = {.model = model,
                         .diagnostics = diagnostics,
                         .scales = contact_scales(model, model->contact.feature),
                         .support = given->support_place,
                         .stiffness = given->stiffness_place,
                         .smoothing = given->smoothing_place};
  if (model->contact_model == CONTACT_NONE || check.scales.tree_count == 0 ||
      !contact_has_equilibrium_gap(model->contact_model))
    return;
  if (model->contact_model == CONTACT_SEPARATING_PLANE) { /* other laws have no barrier distance */
    check_support(&check);
    check_gap(&check);
  }
  check_step(&check);
  check_smoothing(&check);
  check_stribeck_speed(&check);
}
