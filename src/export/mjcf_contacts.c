/* Contact in MJCF: stiffness and damping, excluded pairs, and pairs with their own friction (docs/export.md). */
#include <assert.h>
#include "export/mjcf_parts.h"

/* Softness of contacts in MuJoCo: impedance near 1, and a slow, overdamped response. CONTACT_STEPS: time constant
 * [steps]; CONTACT_DAMPING: damping ratio. With these values a stack of twenty planks close to its stability limit
 * stands. With MuJoCo's defaults (time constant 0.02 s, damping ratio 1, impedance 0.9) the stack falls. */
#define CONTACT_STEPS 10.0
#define CONTACT_DAMPING 5.0
/* Steps per radian of the oscillation of a contact with restitution. */
#define BOUNCE_STEPS 5.0
/* Smallest damping ratio, for a restitution of 0.97. */
#define DAMPING_RATIO_MIN 0.01

static bool can_collide(const ModelLink* link) { return link->collide && link->hull_count > 0; }

/* Returns MuJoCo's condim: 1 without friction, 3 with tangential, 4 with spinning, 6 with rolling friction. */
int mjcf_contact_dimension(double friction, double spinning, double rolling) {
  return rolling > 0 ? 6 : spinning > 0 ? 4 : friction > 0 ? 3 : 1;
}

/* Returns the ratio of the speeds after and before a contact with damping ratio z, which is exp(-z f). MuJoCo's contact
 * is a spring and damper without tension: depth'' = -2 z w depth' - w^2 depth while the right-hand side is negative.
 * Primes are time derivatives; w is the natural frequency. f = phi / sqrt(1 - z^2) with the phase phi = atan2(2 z
 * sqrt(1 - z^2), 2 z^2 - 1). Above critical damping artanh replaces atan2. */
static double restitution_of_damping(double z) {
  double root = sqrt(fabs(1 - z * z)), s = 2 * z * root, c = 2 * z * z - 1;
  if (root < 1e-6) return math_exp_nonpositive(-2);
  double phase = z < 1 ? math_atan2(s, c) : 0.5 * math_log((c + s) / (c - s));
  return math_exp_nonpositive(-z * phase / root);
}

/* Returns the damping ratio of a contact with the coefficient of restitution e, by bisection. The result is at most
 * CONTACT_DAMPING. */
static double damping_ratio(double e) {
  assert(e >= 0 && e <= 1);
  double low = DAMPING_RATIO_MIN, high = CONTACT_DAMPING;
  if (e <= restitution_of_damping(high)) return high;
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    if (restitution_of_damping(middle) > e)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* The angular frequency of a contact with restitution is 1 / (BOUNCE_STEPS time steps), the highest that the time step
 * resolves. */
void mjcf_contact_solref(const Mjcf* m, double restitution, double solref[2]) {
  solref[1] = m->model->scene->contact.elastic ? CONTACT_DAMPING : damping_ratio(restitution);
  solref[0] = solref[1] < CONTACT_DAMPING ? BOUNCE_STEPS * m->step / solref[1] : CONTACT_STEPS * m->step;
}

bool mjcf_has_small_restitution(const Model* model) {
  double most = math_exp_nonpositive(-2);
  for (int a = 0; a < model->link_count && !model->scene->contact.elastic; a++)
    for (int b = 0; b < a; b++) {
      double e = model_pair_material(model, a, b).value[MATERIAL_RESTITUTION];
      if (e > 0 && e < most) return true;
    }
  return false;
}

bool mjcf_has_soft_contact(const Model* model) {
  double most = math_exp_nonpositive(-2);
  if (model->contact_model == CONTACT_NONE || model->scene->contact.elastic) return false;
  for (int a = 0; a < model->link_count; a++)
    for (int b = 0; b < a; b++)
      if (can_collide(&model->links[a]) && can_collide(&model->links[b]) && model_pair_allowed(model, a, b) &&
          model_pair_material(model, a, b).value[MATERIAL_RESTITUTION] < most)
        return true;
  return false;
}

static void add_exclude(Mjcf* m, int a, int b) {
  text_add(m->out, "    <exclude");
  xml_text(m->out, "body1", m->model->links[a].name);
  xml_text(m->out, "body2", m->model->links[b].name);
  text_add(m->out, "/>\n");
}

/* Writes an explicit pair for links whose friction or restitution differs from the defaults, because MuJoCo combines
 * materials by other rules. Also excludes the pair of bodies, which does not affect explicit pairs. Without the
 * exclusion, MuJoCo 2.2.2 adds contacts with the friction of the geoms for some pairs with a plane. */
static void add_pair(Mjcf* m, int a, int b) {
  const Model* model = m->model;
  PairMaterial material = model_pair_material(model, a, b);
  const double* v = material.value;
  if (v[MATERIAL_FRICTION] == model->contact.friction && v[MATERIAL_ROLLING] == model->contact.rolling &&
      v[MATERIAL_SPINNING] == model->contact.spinning && v[MATERIAL_RESTITUTION] == model->contact.restitution)
    return;
  double solref[2];
  mjcf_contact_solref(m, v[MATERIAL_RESTITUTION], solref);
  const double five[] = {v[MATERIAL_FRICTION], v[MATERIAL_FRICTION], v[MATERIAL_SPINNING], v[MATERIAL_ROLLING],
                         v[MATERIAL_ROLLING]};
  for (int i = 0; i < model->links[a].hull_count; i++)
    for (int k = 0; k < model->links[b].hull_count; k++) {
      Text one = {0}, other = {0};
      mjcf_hull_name(&one, model, model->links[a].hull_first + i);
      mjcf_hull_name(&other, model, model->links[b].hull_first + k);
      text_add(m->out, "    <pair");
      xml_text(m->out, "geom1", one.data);
      xml_text(m->out, "geom2", other.data);
      text_add(m->out, " condim=\"%d\"", mjcf_contact_dimension(v[MATERIAL_FRICTION], five[2], five[3]));
      xml_numbers(m->out, "friction", five, 5);
      if (v[MATERIAL_RESTITUTION] != model->contact.restitution) xml_numbers(m->out, "solref", solref, 2);
      text_add(m->out, "/>\n");
      text_free(&one);
      text_free(&other);
    }
  add_exclude(m, a, b);
}

/* Notes friction features that MuJoCo lacks: directional and static friction. */
static void note_friction(Mjcf* m) {
  const Model* model = m->model;
  bool at_rest = model->scene->contact.static_friction > 0;
  for (int k = 0; k < model->scene->contact.pair_count; k++)
    at_rest = at_rest || model->scene->contact.pairs[k].material.given[MATERIAL_STATIC_FRICTION];
  for (int k = 0; k < model->scene->contact.pair_count; k++)
    if (model->scene->contact.pairs[k].material.given[MATERIAL_FRICTION_ALONG])
      mjcf_note(
          m, model->scene->contact.pairs[k].name[0],
          "the friction along an axis of the pair is left out: the friction across the axis applies in all directions");
  for (int i = 0; i < model->link_count; i++) {
    const bool* given = model->scene->links[i].material.given;
    at_rest = at_rest || given[MATERIAL_STATIC_FRICTION];
    if (given[MATERIAL_FRICTION_ALONG])
      mjcf_note(
          m, model->links[i].name,
          "the friction along an axis of the link is left out: the friction across the axis applies in all directions");
  }
  if (at_rest)
    mjcf_note(m, NULL, "the static friction of contacts is left out: friction of MuJoCo does not depend on the speed");
}

void mjcf_add_contacts(Mjcf* m) {
  const Model* model = m->model;
  note_friction(m);
  text_add(m->out, "  <contact>\n");
  for (int a = 0; a < model->link_count; a++) {
    for (int b = a + 1; b < model->link_count && can_collide(&model->links[a]); b++) {
      if (!can_collide(&model->links[b]) || model->links[a].rigid_group == model->links[b].rigid_group) continue;
      if (model_pair_allowed(model, a, b)) {
        if (model->has_materials) add_pair(m, a, b);
        continue;
      }
      add_exclude(m, a, b);
    }
  }
  text_add(m->out, "  </contact>\n");
}
