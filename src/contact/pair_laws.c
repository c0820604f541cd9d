/* Several contact laws in one scene (Model.pair_laws). This file implements a ContactLaw that delegates each call to
 * the law of the pair. Each law receives a copy of the model with its own contact parameters. Results of a law are for
 * its own stiffness. */
#include <assert.h>
#include <string.h>

#include "contact/law.h"

typedef struct {
  const ContactLaw* law;
  void* own;
  Model view; /* copy of the model with the contact parameters of the law; the arrays belong to the original model */
  /* For each parameter that only this law has: own_of_contact is true if the value is set in `contact`, own_of_item if
   * it is set in the law's item of contact.pairs. If both are false, the parameter has its default value. */
  bool own_of_contact[CONTACT_LAW_PARAMETERS_MAX], own_of_item[CONTACT_LAW_PARAMETERS_MAX];
} PairPart;

/* All laws of the scene. The first is the law of `contact`; the others are the laws in Model.pair_laws. */
typedef struct {
  const Model* model;
  PairPart* parts;
  int count;
} ByPair;

static const PairPart* part_of_links(const ByPair* all, int a, int b) {
  return &all->parts[1 + model_pair_law(all->model, a, b)];
}

static int link_of(const Model* model, int item) {
  return item < model->hull_count ? model->hulls[item].link : item - model->hull_count;
}

static const PairPart* part_of_items(const ByPair* all, int a, int b) {
  return part_of_links(all, link_of(all->model, a), link_of(all->model, b));
}

/* Returns LawPair.law for a pair of these two items: the PairPart of the pair's law. The system calls it once per
 * pair. */
static void* instance_for(void* law, const int item[2]) {
  const ByPair* all = law;
  return all->parts + (part_of_items(all, item[0], item[1]) - all->parts);
}

/* Sets *own to a copy of the pair whose `law` is the data of the pair's law. Returns the PairPart of this law. */
static const PairPart* turn_to(const LawPair* pair, LawPair* own) {
  const PairPart* part = pair->law;
  *own = *pair;
  own->law = part->own;
  return part;
}

static const PairPart* turn_to_recorded(const LawReplay* pair, LawReplay* own) {
  const PairPart* part = part_of_items(pair->law, pair->record->hull_a, pair->record->hull_b);
  *own = *pair;
  own->law = part->own;
  return part;
}

/* ---------------------------------------------------------------- the scene */

const ContactLaw* contact_law_of_links(const Model* model, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < model->link_count && link_b >= 0 && link_b < model->link_count);
  int own = model_pair_law(model, link_a, link_b);
  return own >= 0 ? contact_law_named(model->pair_laws[own].law) : contact_law(model);
}

static Model view_of(const Model* model, int pair_law) {
  Model view = *model;
  if (pair_law < 0) return view;
  view.contact_model = model->pair_laws[pair_law].law;
  view.contact = model->pair_laws[pair_law].contact;
  return view;
}

static void* create(const Model* model, int threads, double tolerance) {
  ByPair* all = MEMORY_NEW(ByPair, 1);
  *all = (ByPair){model, MEMORY_NEW(PairPart, model->pair_law_count + 1), model->pair_law_count + 1};
  for (int k = 0; k < all->count; k++) {
    PairPart* part = &all->parts[k];
    part->view = view_of(model, k - 1);
    part->law = contact_law(&part->view);
    part->own = part->law->create(&part->view, threads, tolerance);
    for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++) {
      part->own_of_item[i] = k > 0 && model->scene->contact.pairs[model->pair_laws[k - 1].item].law_parameter_given[i];
      part->own_of_contact[i] = part->view.contact_model == model->contact_model && !part->own_of_item[i];
    }
  }
  return all;
}

static void destroy(void* instance) {
  ByPair* all = instance;
  for (int k = 0; k < all->count; k++) all->parts[k].law->destroy(all->parts[k].own);
  memory_free(all->parts);
  memory_free(all);
}

static void set_dt(void* instance, double dt) {
  ByPair* all = instance;
  for (int k = 0; k < all->count; k++) all->parts[k].law->set_dt(all->parts[k].own, dt);
}

static void set_part(void* instance, double dt_before, double force_ratio) {
  ByPair* all = instance;
  for (int k = 0; k < all->count; k++)
    if (all->parts[k].law->set_part) all->parts[k].law->set_part(all->parts[k].own, dt_before, force_ratio);
}

double contact_range(const Model* model) {
  double range = 0;
  for (int k = -1; k < model->pair_law_count; k++) {
    Model view = view_of(model, k);
    range = fmax(range, contact_law(&view)->range(&view));
  }
  return range;
}

bool contact_once_differentiable(const Model* model) {
  bool once = contact_law(model)->once_differentiable;
  for (int k = 0; k < model->pair_law_count; k++)
    once = once || contact_law_named(model->pair_laws[k].law)->once_differentiable;
  return once;
}

bool contact_lists_by_range(const Model* model) {
  bool far = contact_law(model)->links;
  for (int k = 0; k < model->pair_law_count; k++) far = far || contact_law_named(model->pair_laws[k].law)->links;
  return far;
}

double contact_listed_range(const Model* model, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < model->link_count && link_b >= 0 && link_b < model->link_count);
  int own = model_pair_law(model, link_a, link_b);
  if (!contact_law_of_links(model, link_a, link_b)->links) return INFINITY;
  if (own < 0) return contact_law(model)->range(model);
  Model view = view_of(model, own);
  return contact_law(&view)->range(&view);
}

static bool pairs_links(const void* instance, int link_a, int link_b) {
  const PairPart* part = part_of_links(instance, link_a, link_b);
  return part->law->links && (!part->law->pairs_links || part->law->pairs_links(part->own, link_a, link_b));
}

static bool whole(const void* instance, int link_a, int link_b, PieceTrees* trees) {
  const PairPart* part = part_of_links(instance, link_a, link_b);
  return part->law->whole && part->law->whole(part->own, link_a, link_b, trees);
}

static double reach_by(const PairPart* part, int hull) {
  return part->law->reach ? part->law->reach(part->own, hull) : 0.5 * part->law->range(&part->view);
}

static double reach(const void* instance, int hull) {
  const ByPair* all = instance;
  double most = 0;
  for (int k = 0; k < all->count; k++) most = fmax(most, reach_by(&all->parts[k], hull));
  return most;
}

static double pair_reach(const void* instance, int hull_a, int hull_b) {
  const PairPart* part = part_of_items(instance, hull_a, hull_b);
  return reach_by(part, hull_a) + reach_by(part, hull_b);
}

/* ---------------------------------------------------------------- a pair in a line-search evaluation */

static void evaluate(const LawPair* trial, const LawOrigin* from) {
  LawPair own;
  turn_to(trial, &own)->law->evaluate(&own, from);
}

static bool friction_acts(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->evaluate_friction && law->friction_acts && law->friction_acts(&own);
}

static bool evaluate_friction(const LawPair* trial, const LawOrigin* from) {
  LawPair own;
  const ContactLaw* law = turn_to(trial, &own)->law;
  return !law->evaluate_friction || law->evaluate_friction(&own, from);
}

static void take_over(const LawPair* trial) {
  LawPair own;
  const ContactLaw* law = turn_to(trial, &own)->law;
  if (law->take_over) law->take_over(&own);
}

static double nearest(const void* law, const int item[2], const PairState* accepted) {
  const PairPart* part = law;
  return part->law->nearest ? part->law->nearest(part->own, item, accepted) : -HUGE_VAL;
}

/* ---------------------------------------------------------------- a pair in the accepted state */

static void derive(const LawPair* pair) {
  LawPair own;
  turn_to(pair, &own)->law->derive(&own);
}

static bool convex(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->convex && law->convex(&own);
}

static double rounding(const LawPair* pair, double reach_of_coordinates) {
  LawPair own;
  return turn_to(pair, &own)->law->rounding(&own, reach_of_coordinates);
}

static bool center(const LawPair* pair, Vec3* point, double* press) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->center && law->center(&own, point, press);
}

static void refine(const LawPair* pair, const double twist_a[6], const double twist_b[6]) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->refine) law->refine(&own, twist_a, twist_b);
}

static size_t lag_room(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->lag_room ? law->lag_room(&own) : 0;
}

static size_t lag(const LawPair* pair, void* room) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->lag ? law->lag(&own, room) : 0;
}

static void loads(const LawPair* pair, double* load, double* change) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  *load = *change = 0;
  if (law->loads) law->loads(&own, load, change);
}

static double own_share(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->own_share ? law->own_share(&own) : 0;
}

static void account(const LawPair* pair, FrictionAccount* out) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  *out = (FrictionAccount){.load = 0};
  if (law->account) law->account(&own, out);
}

static size_t relag(const LawPair* pair, const Pose begin[2], bool blends, void* room) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->relag ? law->relag(&own, begin, blends, room) : SIZE_MAX;
}

static bool rests_on(const LawPair* pair, bool own_force) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->rests_on ? law->rests_on(&own, own_force) : !own_force;
}

static void begin(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->begin) law->begin(&own);
}

static void keep(const LawPair* pair, void* kept) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->keep) law->keep(&own, kept);
}

static void recall(const LawPair* pair, const void* kept) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->recall) law->recall(&own, kept);
}

static void pass(const LawPair* pair, StateBlock* block) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->pass) {
    law->pass(&own, block);
    return;
  }
  state_block_doubles(block, own.memory, law->pair_size / sizeof(double));
  state_block_doubles(block, own.own, law->state_size / sizeof(double));
}

static void hold(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->hold) law->hold(&own);
}

static double impact_factor(const LawPair* pair, const void* kept, double rest_speed, double restitution, double dt) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->impact_factor ? law->impact_factor(&own, kept, rest_speed, restitution, dt) : 1;
}

static void record(const LawPair* pair, bool rubbing, double kept[CONTACT_KEPT_NUMBERS]) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->record) law->record(&own, rubbing, kept);
}

static bool impacts(const LawPair* pair, double dt_before, double* length) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->impacts && law->impacts(&own, dt_before, length);
}

static bool enters(const LawPair* pair) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->enters && law->enters(&own);
}

static void approach(const LawPair* pair, double speed) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  if (law->approach) law->approach(&own, speed);
}

static double clearance(const LawPair* pair, bool begin) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->clearance ? law->clearance(&own, begin) : 1;
}

static bool in_phase(const LawPair* pair, ImpactPhase phase) {
  LawPair own;
  const ContactLaw* law = turn_to(pair, &own)->law;
  return law->in_phase && law->in_phase(&own, phase);
}

/* ---------------------------------------------------------------- two hulls, outside any run */

/* Finds a separating plane with the law of `contact`. A separating plane is valid for the pairs of all laws. */
static bool part_hulls(void* instance, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                       Plane* plane, double clearance[2]) {
  const PairPart* part = ((const ByPair*)instance)->parts;
  return part->law->part && part->law->part(part->own, thread, a, b, found, plane, clearance);
}

static bool press(void* instance, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                  ContactSpot* spot) {
  const PairPart* part = part_of_items(instance, spot->hull_a, spot->hull_b);
  return part->law->press && found->distance < part->law->range(&part->view) &&
         part->law->press(part->own, a, b, found, spot);
}

/* ---------------------------------------------------------------- a recorded pair */

static bool revisit(void* instance, int thread, const ContactRecord* from, const PairBody body[2], void* own) {
  const PairPart* part = part_of_items(instance, from->hull_a, from->hull_b);
  return !part->law->revisit || part->law->revisit(part->own, thread, from, body, own);
}

static bool replay(const LawReplay* pair, PairDerivatives* out) {
  LawReplay own;
  return turn_to_recorded(pair, &own)->law->replay(&own, out);
}

/* Divides the derivatives with respect to the law's own parameters into those with respect to `contact` (s->own) and
 * those with respect to the item of contact.pairs (s->pair_own). */
static void divide_own(const PairPart* part, PairShares* s) {
  for (int k = 0; k < CONTACT_LAW_PARAMETERS_MAX; k++) {
    s->pair_own[k] = part->own_of_item[k] ? s->own[k] : 0;
    s->own[k] = part->own_of_contact[k] ? s->own[k] : 0;
  }
}

static double potential(const LawReplay* pair, Vec3 force[2], Vec3 torque[2]) {
  LawReplay own;
  const PairPart* part = turn_to_recorded(pair, &own);
  if (part->law->potential) return part->law->potential(&own, force, torque);
  for (int side = 0; side < 2; side++) force[side] = torque[side] = vec3(0, 0, 0);
  return 0;
}

static void reverse(const LawReplay* pair, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  LawReplay own;
  const PairPart* part = turn_to_recorded(pair, &own);
  part->law->reverse(&own, twist, carry, out);
  if (part != ((const ByPair*)pair->law)->parts) divide_own(part, out);
}

static bool slip_product(const LawReplay* pair, const double twist[2][6], double wrench[2][6]) {
  LawReplay own;
  const PairPart* part = turn_to_recorded(pair, &own);
  return part->law->slip_product && part->law->slip_product(&own, twist, wrench);
}

static double left(const LawReplay* pair) {
  LawReplay own;
  const PairPart* part = turn_to_recorded(pair, &own);
  return part->law->left ? part->law->left(&own) : 0;
}

/* ---------------------------------------------------------------- the delegating law */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Adds the requirements of a law of the scene to the delegating law: the largest memory sizes, and the optional
 * callbacks that the law has. */
static void take_in(const ContactLaw* law, ContactLaw* row) {
  row->links = row->links || law->links;
  row->pair_size = larger(row->pair_size, law->pair_size);
  row->state_size = larger(row->state_size, law->state_size);
  row->kept_size = larger(row->kept_size, law->kept_size);
  row->moment_size = larger(row->moment_size, law->moment_size);
  row->replay_size = larger(row->replay_size, law->replay_size);
  row->vertex_size = larger(row->vertex_size, law->vertex_size);
  if (law->vertex_shares > row->vertex_shares) row->vertex_shares = law->vertex_shares;
  row->link_vertex_size = larger(row->link_vertex_size, law->link_vertex_size);
  if (law->link_vertex_shares > row->link_vertex_shares) row->link_vertex_shares = law->link_vertex_shares;
  if (law->keep) row->keep = keep, row->recall = recall;
  if (law->refine) row->refine = refine;
  if (law->convex) row->convex = convex;
  if (law->account) row->account = account;
  if (law->relag) row->loads = loads, row->relag = relag, row->own_share = own_share, row->rests_on = rests_on;
  if (law->impact_factor) row->impact_factor = impact_factor;
  if (law->potential) row->potential = potential;
  if (law->slip_product) row->slip_product = slip_product;
  if (law->left) row->left = left;
  if (law->impacts)
    row->impacts = impacts, row->enters = enters, row->approach = approach, row->clearance = clearance,
    row->in_phase = in_phase;
}

const ContactLaw* contact_law_by_pair(const Model* model, ContactLaw* room) {
  if (model->pair_law_count == 0) return contact_law(model);
  *room = (ContactLaw){
      .name = "by pair",
      .overlaps = contact_law(model)->overlaps, /* overlaps is the same for all laws of a scene (model/pairs.c) */
      .create = create,
      .destroy = destroy,
      .set_dt = set_dt,
      .set_part = set_part,
      .range = contact_range,
      .pairs_links = pairs_links,
      .whole = whole,
      .reach = reach,
      .pair_reach = pair_reach,
      .instance = instance_for,
      .evaluate = evaluate,
      .evaluate_friction = evaluate_friction,
      .friction_acts = friction_acts,
      .take_over = take_over,
      .nearest = nearest,
      .derive = derive,
      .rounding = rounding,
      .center = center,
      .lag_room = lag_room,
      .lag = lag,
      .begin = begin,
      .pass = pass,
      .hold = hold,
      .record = record,
      .part = part_hulls,
      .press = press,
      .revisit = revisit,
      .replay = replay,
      .reverse = reverse};
  take_in(contact_law(model), room);
  for (int k = 0; k < model->pair_law_count; k++) take_in(contact_law_named(model->pair_laws[k].law), room);
  return room;
}
