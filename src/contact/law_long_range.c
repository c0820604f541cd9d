/* Long-range contact law (docs/derivations/law-long_range.md). Its energy is the potential between any two links that
 * may collide, at any distance. The potential is computed over the hierarchies of the hulls of both links
 * (far_field.h). Half-spaces act only on hulls near them. Friction acts between hulls that are near each other (N14),
 * in the contact plane at the start of the step (friction.h).
 *
 * A pair of links has the potential of all its hulls. A pair of hulls has friction and provides distances for the
 * certificate. */
#include <float.h>
#include <string.h>

#include "contact/adjoint.h"
#include "contact/far_field.h"
#include "contact/law.h"

/* The rounding error of a pair's energy is estimated as ENERGY_ROUNDINGS * DBL_EPSILON times the energy. */
#define ENERGY_ROUNDINGS 50.0
/* By default, contacts.csv lists pairs at distances below this fraction of the smallest feature of the scene. */
#define LISTED_PER_FEATURE 0.05
/* Number of VertexShare entries of a vertex: one each for contact, friction, and the factor on friction that vanishes
 * where the point potential replaces the hulls (field_friction_factor). */
enum { VERTEX_SHARES = 3 };
/* Barrier distance [m] that is passed to the functions of friction.h. It is infinite, because the long-range law has no
 * barrier distance. */
#define NO_SUPPORT ((double)INFINITY)

enum { OWN_BLEND, OWN_LISTED, OWN_COUNT };

typedef struct {
  const Model* model;
  double stiffness;
  int threads;
  Hierarchy hierarchy;
  FarField field;
  FieldWork* work;   /* workspaces (size: threads) */
  FieldCache** kept; /* stored results of each pair of links; NULL if the pair was not evaluated yet (links x links) */
  bool has_friction; /* true if at least one pair has friction */
  bool* has_triangles; /* true if the link has triangles (size: links) */
  double smoothing;
  const LawStep* step;
  ActiveVertex** active; /* memory for active vertices, one array for each thread (size: threads) */
} Law;

/* Friction data of a pair of hulls. */
typedef struct {
  FrictionLag lag;
  double hull_weight; /* weight 1 - phi of the hulls, by which friction is multiplied, when the friction reference was
                  computed (N14) */
} Memory;

/* Friction data of one state of a pair of hulls. */
typedef struct {
  double slip[3]; /* slip of the friction minimum (FrictionLag.slip) */
  bool follows;   /* FrictionParameters.follow when the state was evaluated */
} HullFriction;

typedef struct {
  FrictionLag lag;
  FieldFrictionFactor local; /* weight of the hulls at t, by which friction is multiplied */
} Replay;

/* Workspace per vertex of a recorded pair: a friction point, and the derivative with respect to the vertex. */
typedef struct {
  FrictionVertex friction;
  Vec3 share;
} VertexRoom;

/* ---------------------------------------------------------------- creation and parameters of the law */

#define ONLY "long_range"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY, .unit = "J",
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Coefficient mu in front of the contact potential 12 / (1 - |n|) + sum 3 / (M c), lengths in metres."},
    LAW_FRICTION_ROW(ONLY),
    LAW_SMOOTHING_ROW(ONLY),
    {"contact_law", "blend", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_BLEND]), .only = ONLY,
     .fallback = "1", .range = RANGE_BETWEEN(0.01, 100),
     .meaning = "Relative width of the transition from the exact potential of two groups of pieces to the potential of "
                "their centres. The transition lies between the distances d and (1 + blend) d. d is the sum of the "
                "radii of the bounding spheres. A larger value is more exact and slower."},
    {"contact_law", "hierarchy", VALUE_BOOL, offsetof(ContactForm, contact.hierarchy), .only = ONLY, .fallback = "true",
     .meaning = "false: sum over all pairs of pieces of two links, without bounding spheres."},
    {"contact_law", "listed_range", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_LISTED]),
     .only = ONLY, .unit = "m", .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "contacts.csv lists pairs of links that are nearer than this."},
};

static bool has_triangles(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++)
    if (model->hulls[k].kind == &SOLID_TRIANGLE) return true;
  return false;
}

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  (void)tolerance;
  const ModelContact* contact = &model->contact;
  Law* law = MEMORY_NEW(Law, 1);
  *law = (Law){.model = model,
               .stiffness = contact->stiffness,
               .threads = threads,
               .work = MEMORY_NEW(FieldWork, threads),
               .active = MEMORY_NEW(ActiveVertex*, threads),
               .has_friction = model_largest_material(model, MATERIAL_FRICTION) > 0,
               .smoothing = contact->smoothing,
               .step = step};
  law->kept = MEMORY_NEW(FieldCache*, model->link_count * model->link_count + 1);
  law->has_triangles = MEMORY_NEW(bool, model->link_count + 1);
  for (int i = 0; i < model->link_count; i++) law->has_triangles[i] = has_triangles(model, i);
  hierarchy_create(&law->hierarchy, model);
  law->field = (FarField){model, &law->hierarchy, contact->law_parameters[OWN_BLEND], !contact->hierarchy};
  for (int t = 0; t < threads; t++) {
    field_work_create(&law->work[t], model, &law->hierarchy);
    law->active[t] = MEMORY_NEW(ActiveVertex, law->work[t].scratch.capacity);
  }
  return law;
}

static void destroy(void* instance) {
  Law* law = instance;
  for (int t = 0; t < law->threads; t++) {
    field_work_destroy(&law->work[t]);
    memory_free(law->active[t]);
  }
  for (int i = 0; i < law->model->link_count * law->model->link_count; i++) {
    if (law->kept[i]) field_cache_destroy(law->kept[i]);
    memory_free(law->kept[i]);
  }
  memory_free(law->kept);
  memory_free(law->work);
  memory_free(law->active);
  memory_free(law->has_triangles);
  hierarchy_destroy(&law->hierarchy);
  memory_free(law);
}

/* Returns true if the pair of links (a, b) replaces the pairs of their hulls. It does if one of the links has
 * triangles, because triangles are many. The hulls of other links are listed as individual pairs, so that `nearest`
 * limits the approach of the hulls in a trial. Sets *trees to the hierarchies of both links. */
static bool whole(const void* instance, int a, int b, PieceTrees* trees) {
  const Law* law = instance;
  *trees =
      (PieceTrees){&law->hierarchy.trees[a], &law->hierarchy.trees[b], law->has_friction ? 1 + law->field.blend : 0};
  return law->has_triangles[a] || law->has_triangles[b];
}

static double range(const Model* model) {
  double listed = model->contact.law_parameters[OWN_LISTED];
  return listed > 0 ? listed : LISTED_PER_FEATURE * model->contact.feature;
}

/* Returns the distance by which the bounding box of a hull is extended in the search for pairs [m]. It is the larger of
 * half the listed range and the range of friction. The range of friction ends where the point potential completely
 * replaces the hulls (N7). */
static double reach(const void* instance, int hull) {
  const Law* law = instance;
  const ModelHull* h = &law->model->hulls[hull];
  double listed = 0.5 * range(law->model);
  int leaf = law->hierarchy.leaf[hull];
  if (!h->kind->bounded || leaf < 0) return 0;
  const TreeNode* node = &law->hierarchy.trees[h->link].nodes[leaf];
  double about = vec3_norm(vec3_sub(node->center, h->center));
  return fmax(listed, about + (1 + law->field.blend) * node->radius);
}

/* ---- equilibrium of two faces (N15): half of the vertices of each piece lie on its face; the other vertices are
 * neglected */

static ContactEquilibrium rest(double support, int n_a, int n_b, double z) {
  (void)support;
  (void)n_a;
  (void)n_b;
  double gap = z / (1 - z); /* any gap > 0 has an equilibrium */
  double force = sqrt(6 / (gap * gap * gap)) * (sqrt(RECIPROCAL_PLANE) + sqrt(6 / gap));
  return (ContactEquilibrium){gap, force, 1.5 * force / gap + 3 / (gap * gap * gap)};
}

/* ---------------------------------------------------------------- data of a pair */

static bool of_links(const Law* law, int item) { return item >= law->model->hull_count; }

/* Returns the stored results of a pair of links. The law owns these results, and allocates them at the first call. Two
 * threads never process the same pair at the same time. */
static FieldCache* kept_of(const Law* law, const int link[2]) {
  FieldCache** kept = &law->kept[link[0] * law->model->link_count + link[1]];
  if (!*kept) *kept = MEMORY_NEW(FieldCache, 1);
  return *kept;
}

static FieldPair links_pair(const Law* law, const int item[2], const Pose* a, const Pose* b, const Vec3 reference[2]) {
  int first = law->model->hull_count;
  const int link[2] = {item[0] - first, item[1] - first};
  return (FieldPair){.link = {link[0], link[1]},
                     .pose = {*a, *b},
                     .reference = {reference[0], reference[1]},
                     .cache = kept_of(law, link)};
}

/* Returns the pair of two hulls, or of a hull and a half-space. Sets leaf[2] to the leaves of the hulls in the
 * hierarchies; leaf[1] is -1 for a half-space. */
static FieldPair hulls_pair(const Law* law, const int item[2], const HullInstance* a, const HullInstance* b,
                            const Vec3 reference[2], int leaf[2]) {
  const ModelHull *first = &law->model->hulls[item[0]], *second = &law->model->hulls[item[1]];
  leaf[0] = law->hierarchy.leaf[item[0]];
  leaf[1] = law->hierarchy.leaf[item[1]];
  return (FieldPair){.link = {first->link, second->link},
                     .root = {leaf[0], leaf[1]},
                     .pose = {a->pose, b->pose},
                     .reference = {reference[0], reference[1]},
                     .ground = b->half_space ? b : NULL};
}

static FieldPair field_pair(const LawPair* p) {
  const Law* law = p->law;
  int leaf[2];
  if (of_links(law, p->item[0])) return links_pair(law, p->item, &p->a->pose, &p->b->pose, p->reference);
  return hulls_pair(law, p->item, p->a, p->b, p->reference, leaf);
}

static FieldFrictionFactor local_of(const Law* law, const int item[2], const HullInstance* a, const HullInstance* b) {
  int leaf[2];
  const Vec3 nowhere[2] = {{0, 0, 0}, {0, 0, 0}};
  FieldPair pair = hulls_pair(law, item, a, b, nowhere, leaf);
  return field_friction_factor(&law->field, leaf, &pair);
}

/* ---------------------------------------------------------------- energy of a pair in a line-search evaluation */

static void evaluate_links(const LawPair* p) {
  const Law* law = p->law;
  FieldPair pair = field_pair(p);
  double value;
  pair_set_apart(p->state, INFINITY, vec3(0, 0, 0));
  p->state->outcome = PAIR_INFEASIBLE;
  if (!field_value(&law->field, &law->work[p->thread], &pair, &value)) return;
  p->state->outcome = PAIR_PRESSED;
  p->state->contact_energy = law->stiffness * value;
  p->state->has_terms = true;
}

/* Stores in the pair's state the distance of two hulls and the plane halfway between their closest points. For a
 * half-space no plane is stored, because the certificate uses the normal of the half-space. */
static void keep_distance(const LawPair* p, double distance, const GjkResult* found) {
  PairState* state = p->state;
  pair_set_apart(state, distance, found->normal);
  if (p->b->half_space) return;
  Vec3 middle = vec3_scale(vec3_add(found->witness_a, found->witness_b), 0.5);
  state->has_plane = true;
  state->plane = (Plane){middle, found->normal, 0};
  state->clearance[0] = state->clearance[1] = 0.5 * distance;
}

/* Returns true if a pair of links replaces the pair of these two hulls (see `whole`). */
static bool is_replaced_by_link_pair(const Law* law, const int item[2]) {
  const ModelHull *a = &law->model->hulls[item[0]], *b = &law->model->hulls[item[1]];
  return b->kind->bounded && (law->has_triangles[a->link] || law->has_triangles[b->link]);
}

/* Evaluates a pair of hulls that is replaced by a pair of links. Such a pair of hulls is listed only for friction. */
static void evaluate_friction_only(const LawPair* p) {
  pair_set_apart(p->state, 0, vec3(0, 0, 0));
  if (local_of(p->law, p->item, p->a, p->b).value > 0) p->state->outcome = PAIR_PRESSED;
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  (void)from;
  const Law* law = p->law;
  if (of_links(law, p->item[0])) {
    evaluate_links(p);
    return;
  }
  if (is_replaced_by_link_pair(law, p->item)) {
    evaluate_friction_only(p);
    return;
  }
  GjkResult found;
  double distance = pair_distance(p->a, p->b, p->gjk, &found), value;
  keep_distance(p, distance, &found);
  if (!(distance > 0)) p->state->outcome = PAIR_INFEASIBLE;
  if (!(distance > 0) || !(local_of(law, p->item, p->a, p->b).value > 0)) return;
  bool ground = p->b->half_space;
  if (ground || law->has_friction) p->state->outcome = PAIR_PRESSED;
  if (!ground) return;
  FieldPair pair = field_pair(p);
  if (!field_value(&law->field, &law->work[p->thread], &pair, &value)) {
    p->state->outcome = PAIR_FAILED;
    return;
  }
  p->state->contact_energy = law->stiffness * value;
  p->state->has_terms = true;
}

static bool friction_acts(const LawPair* p) {
  const Law* law = p->law;
  return p->lagged && !of_links(law, p->item[0]) &&
         p->material->value[MATERIAL_FRICTION] * ((const Memory*)p->memory)->hull_weight > 0;
}

/* Returns the friction parameters of the law. The friction coefficient is not set, because it belongs to the pair. */
static FrictionParameters friction_parameters(const Law* law) {
  return (FrictionParameters){.smoothing = law->smoothing, .dt = law->step->dt};
}

static FrictionParameters friction_of(const LawPair* p) {
  FrictionParameters parameters = friction_parameters(p->law);
  parameters.coefficient = p->material->value[MATERIAL_FRICTION] * ((const Memory*)p->memory)->hull_weight;
  parameters.state = p->which;
  parameters.follow = ((const HullFriction*)p->data)->follows;
  return parameters;
}

static bool evaluate_friction(const LawPair* p, const LawOrigin* from) {
  Memory* memory = p->memory;
  HullFriction* data = p->data;
  double energy;
  data->follows = from->follows;
  FrictionParameters parameters = friction_of(p);
  bool found = friction_value(&memory->lag, &parameters, &p->a->pose, &p->b->pose, &energy) >= 0;
  memcpy(data->slip, memory->lag.slip, sizeof(data->slip));
  p->state->friction_energy = ((const Law*)p->law)->stiffness * energy;
  p->state->has_terms = true;
  return found;
}

static void take_over(const LawPair* p) {
  if (friction_acts(p)) friction_keep(&((Memory*)p->memory)->lag, p->which);
}

/* ---------------------------------------------------------------- derivatives and results in the accepted state */

static bool derive(const LawPair* p) {
  const Law* law = p->law;
  PairDerivatives* d = p->derivatives;
  if (p->state->contact_energy > 0) {
    FieldPair pair = field_pair(p);
    field_derivatives(&law->field, &law->work[p->thread], &pair, d);
  }
  if (friction_acts(p)) {
    FrictionParameters parameters = friction_of(p);
    friction_derivatives(&((Memory*)p->memory)->lag, &parameters, &p->a->pose, &p->b->pose, p->reference[0],
                         p->reference[1], d);
  }
  pair_scale(d, law->stiffness);
  /* The Hessian of a pair of hulls with friction only has no negative eigenvalues: h of friction (friction.md, F3) has
   * none since |z| <= 1, and the slip term has none either. */
  p->state->convex = !of_links(p->law, p->item[0]) && is_replaced_by_link_pair(p->law, p->item);
  return true;
}

/* Returns an estimate of the rounding error of the pair's energy [J]. A gap c is a difference of coordinates of size
 * `reach_of_coordinates`. The potential P is about 12 / c. Its rounding error is therefore about P times eps
 * reach_of_coordinates / c, where eps is the machine precision (DBL_EPSILON). */
static double rounding(const LawPair* p, double reach_of_coordinates) {
  const Law* law = p->law;
  double contact = p->state->contact_energy, inverse_gap = contact / (law->stiffness * RECIPROCAL_PLANE);
  return DBL_EPSILON *
         (ENERGY_ROUNDINGS * (contact + p->state->friction_energy) + reach_of_coordinates * inverse_gap * contact);
}

static bool center(const LawPair* p, Vec3* point, double* press) {
  const Law* law = p->law;
  FieldPair pair = field_pair(p);
  if (!(p->state->contact_energy > 0) || !field_force_center(&law->field, &law->work[0], &pair, point, press))
    return false;
  *press *= law->stiffness;
  return true;
}

static size_t lag_room(const LawPair* p) {
  if (of_links(p->law, p->item[0])) return 0;
  return sizeof(FrictionVertex) * (size_t)(p->a->points.count + p->b->points.count);
}

/* Computes the contact plane between two hulls at their poses, and stores it in *solution. Returns false if the hulls
 * intersect or the plane was not found. */
static bool solve_plane(const Law* law, int thread, const HullInstance* a, const HullInstance* b, GjkCache* gjk,
                        PlaneSolution* solution) {
  GjkResult found;
  return pair_distance(a, b, gjk, &found) > 0 && reciprocal_solve(a, b, &found, &law->work[thread].scratch, solution);
}

static size_t lag(const LawPair* p, void* room) {
  if (!room) return lag_room(p);
  const Law* law = p->law;
  Memory* memory = p->memory;
  PlaneSolution solution;
  memory->hull_weight = 0;
  if (!p->lagged || of_links(law, p->item[0]) || !law->has_friction) return 0;
  if (!solve_plane(law, p->thread, p->a, p->b, p->gjk, &solution)) return 0;
  memory->hull_weight = local_of(law, p->item, p->a, p->b).value;
  friction_lag(p->a, p->b, NO_SUPPORT, &solution.plane, NULL, NULL, NULL, NULL, room, &memory->lag);
  return sizeof(FrictionVertex) * (size_t)(memory->lag.count[0] + memory->lag.count[1]);
}

/* Reads the slip of the accepted state from the state block, or writes it. The friction reference is not stored,
 * because every step computes it from the poses. */
static void pass(const LawPair* p, StateBlock* block) {
  HullFriction* data = p->data;
  state_block_doubles(block, data->slip, 3);
  state_block_bool(block, &data->follows);
}

static void record(const LawPair* p, ContactRecord* out) {
  const HullFriction* data = p->data;
  if (out->has_friction) memcpy(out->kept, data->slip, sizeof(data->slip));
}

/* ---------------------------------------------------------------- contact of two hulls outside of a run */

static bool press(void* instance, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                  ContactSpot* spot) {
  const Law* law = instance;
  PlaneSolution solution;
  if (!reciprocal_solve(a, b, found, &law->work[0].scratch, &solution)) return false;
  double length = vec3_norm(solution.plane.n);
  spot->normal = vec3_scale(solution.plane.n, 1.0 / length);
  spot->point = reciprocal_center(&solution);
  spot->pressure = law->stiffness * solution.side[0].first[3] * length;
  return true;
}

/* ---------------------------------------------------------------- functions of a recorded pair */

static bool revisit(void* instance, int thread, const ContactRecord* from, const PairBody body[2], void* data) {
  const Law* law = instance;
  if (!from->active || of_links(law, from->hull_a) || !law->has_friction) return true;
  return solve_plane(law, thread, &body[0].hull, &body[1].hull, NULL, data);
}

static FieldPair recorded_pair(const LawReplay* p) {
  const Law* law = p->law;
  const int item[2] = {p->record->hull_a, p->record->hull_b};
  const Vec3 reference[2] = {p->next[0].reference, p->next[1].reference};
  int leaf[2];
  if (of_links(law, item[0])) return links_pair(law, item, &p->next[0].hull.pose, &p->next[1].hull.pose, reference);
  return hulls_pair(law, item, &p->next[0].hull, &p->next[1].hull, reference, leaf);
}

/* Returns true if the recorded pair has a potential. A pair of two hulls has none, because the pair of their links has
 * the potential of all hulls. */
static bool carries_potential(const LawReplay* p) {
  return p->record->active && (of_links(p->law, p->record->hull_a) || p->next[1].hull.half_space);
}

static FrictionParameters recorded_friction(const LawReplay* p) {
  FrictionParameters parameters = friction_parameters(p->law);
  parameters.coefficient = p->material->value[MATERIAL_FRICTION] * ((const Replay*)p->memory)->local.value;
  return parameters;
}

static bool replay_friction(const LawReplay* p, PairDerivatives* d) {
  Replay* memory = p->memory;
  const PairBody *now = p->now, *next = p->next;
  const int item[2] = {p->record->hull_a, p->record->hull_b};
  const PlaneSolution* solution = p->data_now;
  memory->local = local_of(p->law, item, &now[0].hull, &now[1].hull);
  FrictionParameters parameters = recorded_friction(p);
  friction_lag(&now[0].hull, &now[1].hull, NO_SUPPORT, &solution->plane, NULL, NULL, NULL, NULL, p->vertices,
               &memory->lag);
  memcpy(memory->lag.slip, p->record->kept, sizeof(memory->lag.slip));
  if (friction_recall(&memory->lag, &parameters, &next[0].hull.pose, &next[1].hull.pose) < 0) return false;
  friction_derivatives(&memory->lag, &parameters, &next[0].hull.pose, &next[1].hull.pose, next[0].reference,
                       next[1].reference, d);
  return true;
}

static bool replay(const LawReplay* p, PairDerivatives* d) {
  const Law* law = p->law;
  if (carries_potential(p)) {
    FieldPair pair = recorded_pair(p);
    if (!field_derivatives(&law->field, &law->work[p->thread], &pair, d)) return false;
  }
  bool sound = !p->record->has_friction || replay_friction(p, d);
  pair_scale(d, law->stiffness);
  return sound;
}

static void share_vertices(const Vec3* bars, int side, int count, bool now, PairShares* s) {
  const Vec3 none = {0, 0, 0};
  for (int m = 0; m < count; m++)
    s->share[side][s->count[side]++] =
        (VertexShare){.vertex = m, .next = now ? none : bars[m], .now = now ? bars[m] : none};
}

static void reverse_potential(const LawReplay* p, const double twist[2][6], Vec3* room, PairShares* s) {
  const Law* law = p->law;
  FieldPair pair = recorded_pair(p);
  int count[2];
  for (int side = 0; side < 2; side++)
    count[side] = pair.ground ? p->next[side].hull.points.count : law->hierarchy.trees[pair.link[side]].vertex_count;
  FieldShares shares = {.vertices = {room, room + count[0]}};
  memset(room, 0, sizeof(Vec3) * (size_t)(count[0] + count[1]));
  /* cannot fail here, because `replay` evaluated the same pair successfully */
  if (!field_reverse(&law->field, &law->work[p->thread], &pair, twist, &shares)) return;
  s->value += shares.value;
  s->law_parameters[OWN_BLEND] += shares.by_blend;
  s->ground_next.force = vec3_add(s->ground_next.force, shares.ground.force);
  s->ground_next.torque = vec3_add(s->ground_next.torque, shares.ground.torque);
  for (int side = 0; side < 2; side++) share_vertices(shares.vertices[side], side, count[side], false, s);
}

/* Adds `bar` times the derivatives of the factor on friction at t (field_friction_factor) to *s. The factor depends on
 * the vertices at t through the centres of the leaves, and on the shape through their radii. */
static void reverse_local(const LawReplay* p, double bar, Vec3* room, PairShares* s) {
  const Law* law = p->law;
  const FieldFrictionFactor* local = &((const Replay*)p->memory)->local;
  NodeBars* bars = law->work[p->thread].bars;
  const int item[2] = {p->record->hull_a, p->record->hull_b};
  s->law_parameters[OWN_BLEND] += bar * local->by_blend;
  for (int side = 0; side < 2; side++) {
    int leaf = law->hierarchy.leaf[item[side]], count = p->now[side].hull.points.count;
    if (leaf < 0) continue;
    const BodyTree* tree = &law->hierarchy.trees[law->model->hulls[item[side]].link];
    Vec3 pull = vec3_scale(local->direction, (side == 0 ? bar : -bar) * local->by_distance);
    memset(room, 0, sizeof(Vec3) * (size_t)count);
    for (int m = 0; m < count; m++) room[m] = vec3_scale(pull, 1.0 / count);
    int first = s->count[side];
    share_vertices(room, side, count, true, s);
    memset(room, 0, sizeof(Vec3) * (size_t)count);
    bars[side].center[leaf] = vec3(0, 0, 0);
    bars[side].radius[leaf] = bar * local->by_radius_sum;
    hierarchy_leaf_to_vertices(law->model, tree, leaf, p->next[side].hull.pose.r, &bars[side], room);
    for (int m = 0; m < count; m++) s->share[side][first + m].next = room[m];
    if (side == 0 && p->now[1].hull.half_space) {
      Vec3 center = pose_apply(p->now[0].hull.pose, tree->nodes[leaf].center);
      ground_add(&s->ground_now, vec3_scale(pull, -1), center, p->now[1].hull.pose.t);
    }
  }
}

static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* s) {
  (void)carry;
  const Law* law = p->law;
  int vertices = p->next[0].hull.points.count + p->next[1].hull.points.count;
  Vec3* room = of_links(law, p->record->hull_a) ? p->vertices : (Vec3*)((FrictionVertex*)p->vertices + vertices);
  if (carries_potential(p)) reverse_potential(p, twist, room, s);
  if (!p->record->has_friction) return;
  ActiveSides sides = {.vertices = law->active[p->thread]};
  FrictionParameters parameters = recorded_friction(p);
  double before = s->friction;
  friction_adjoint(&((const Replay*)p->memory)->lag, &parameters, NO_SUPPORT, p->now, p->next, false, p->data_now,
                   twist, NULL, &sides, s);
  double by_coefficient = s->friction - before; /* derivative with respect to the product of the weight of the hulls and
                                                   the friction coefficient of the pair */
  s->friction = before + by_coefficient * ((const Replay*)p->memory)->local.value;
  reverse_local(p, by_coefficient * p->material->value[MATERIAL_FRICTION], room, s);
}

static const LawHistory history = {
    .evaluate_friction = evaluate_friction,
    .friction_acts = friction_acts,
    .take_over = take_over,
    .lag = lag,
    .pass = pass,
    .record = record,
    .revisit = revisit,
    .replay = replay,
};

const ContactLaw LAW_long_range = {
    .name = "long_range",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .own_count = OWN_COUNT,
    .links = true,
    .pair_size = sizeof(Memory),
    .state_size = sizeof(HullFriction),
    .moment_size = sizeof(PlaneSolution),
    .replay_size = sizeof(Replay),
    .vertex_size = sizeof(VertexRoom),
    .vertex_shares = VERTEX_SHARES,
    .link_vertex_size = sizeof(Vec3),
    .link_vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .range = range,
    .whole = whole,
    .reach = reach,
    .rest = rest,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .center = center,
    .history = &history,
    .press = press,
    .reverse = reverse,
};
