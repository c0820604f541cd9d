#include "contact/system.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Fewer pairs than this are not worth waking other threads for; PARALLEL_FAR: when at most one of them touches. */
enum { PARALLEL_THRESHOLD = 24, PARALLEL_GRAIN = 8, PARALLEL_FAR = 500 };
/* Roundings that add up in a pair's energy: of the sums, and of a clearance, taken five times and for a few vertices.
 */
#define ENERGY_ROUNDINGS 50.0
#define CLEARANCE_ROUNDINGS 20.0
/* Steps solved to this part of the forces or looser take planes whose forces are right to about 1e-10; tighter ones go
 * to rounding. */
#define LOOSE_TOLERANCE 1e-6
#define LOOSE_LAST_STEP 1e-11
/* The broad phase covers the motion asked for and a reserve, so that it is rebuilt seldom: up to so many such motions,
 * but at most this part of the hull's radius, and at least the contact range. */
#define SLACK_PATHS 4.0
#define SLACK_RADIUS 0.1

/* ---------------------------------------------------------------- creation */

PlaneScratch* contact_scratch_create(const Model* model, int threads) {
  int largest = 8, second = 8;
  for (int i = 0; i < model->hull_count; i++) {
    int n = model->hulls[i].points.padded;
    if (n > largest) {
      second = largest;
      largest = n;
    } else if (n > second)
      second = n;
  }
  PlaneScratch* scratch = MEMORY_NEW(PlaneScratch, threads);
  for (int t = 0; t < threads; t++) {
    PlaneScratch* w = &scratch[t];
    w->capacity = largest + second;
    w->x = MEMORY_NEW(double, w->capacity);
    w->y = MEMORY_NEW(double, w->capacity);
    w->z = MEMORY_NEW(double, w->capacity);
  }
  return scratch;
}

void contact_scratch_destroy(PlaneScratch* scratch, int threads) {
  for (int t = 0; scratch && t < threads; t++) {
    memory_free(scratch[t].x);
    memory_free(scratch[t].y);
    memory_free(scratch[t].z);
  }
  memory_free(scratch);
}

ContactSystem* contact_create(const Model* model, int threads, double tolerance) {
  ContactSystem* s = MEMORY_NEW(ContactSystem, 1);
  s->model = model;
  s->threads = threads < 1 ? 1 : threads;
  s->range = plane_range(model->contact.support);
  s->stamp = 1;
  s->friction = (FrictionParameters){model->contact.friction, model->contact.smoothing, model->simulation.dt, 0, false};
  s->impact = (ImpactParameters){model->contact.support, model->contact.rest_speed, model->simulation.dt};
  for (int k = 0; k < 2; k++) {
    s->instance[k] = MEMORY_NEW(HullInstance, model->hull_count);
    s->reference[k] = MEMORY_NEW(Vec3, model->link_count);
    s->pose[k] = MEMORY_NEW(Pose, model->link_count);
    s->stays[k] = MEMORY_NEW(bool, model->link_count);
  }
  s->twist = memory_alloc(sizeof(double[6]) * (size_t)model->link_count);
  s->moved = MEMORY_NEW(double, model->hull_count);
  s->travelled = MEMORY_NEW(double, model->hull_count);
  s->slack = MEMORY_NEW(double, model->hull_count);
  s->way_travelled = MEMORY_NEW(double, model->hull_count);
  s->boxes = MEMORY_NEW(Box, model->hull_count);
  s->certificate_poses = MEMORY_NEW(Pose, model->link_count);
  s->lag_poses = MEMORY_NEW(Pose, model->link_count);
  s->way_poses = MEMORY_NEW(Pose, model->link_count);
  s->scratch = contact_scratch_create(model, s->threads);
  for (int t = 0; t < s->threads; t++) s->scratch[t].last_step = tolerance >= LOOSE_TOLERANCE ? LOOSE_LAST_STEP : 0;
  return s;
}

void contact_destroy(ContactSystem* s) {
  if (!s) return;
  for (int k = 0; k < 2; k++) {
    memory_free(s->instance[k]);
    memory_free(s->reference[k]);
    memory_free(s->pose[k]);
    memory_free(s->stays[k]);
  }
  contact_scratch_destroy(s->scratch, s->threads);
  memory_free(s->twist);
  memory_free(s->moved);
  memory_free(s->travelled);
  memory_free(s->slack);
  memory_free(s->way_travelled);
  memory_free(s->boxes);
  memory_free(s->certificate_poses);
  memory_free(s->lag_poses);
  memory_free(s->way_poses);
  broad_phase_free(&s->broad);
  broad_phase_free(&s->way_broad);
  memory_free(s->pairs);
  memory_free(s->list);
  memory_free(s->spare_list);
  memory_free(s->free_slots);
  memory_free(s->terms);
  memory_free(s->lag_vertices);
  memory_free(s->remembered);
  memory_free(s);
}

void contact_set_dt(ContactSystem* s, double dt) { s->friction.dt = s->impact.dt = dt; }

/* ---------------------------------------------------------------- where the hulls are */

HullInstance contact_hull_at(const ModelHull* hull, const Pose* pose) {
  HullInstance h = {.points = hull->points, .pose = *pose, .half_space = !hull->kind->bounded};
  h.radius = hull->kind->bounded ? hull->radius : 0;
  h.center = pose_apply(*pose, hull->center);
  if (h.half_space) {
    h.normal = mat3_mul_vec(pose->r, hull->normal);
    h.offset = hull->offset + vec3_dot(h.normal, pose->t);
  }
  return h;
}

double contact_range(const Model* model) { return plane_range(model->contact.support); }

static void place_hulls(ContactSystem* s, int which, const Pose* poses) {
  const Model* model = s->model;
  memcpy(s->pose[which], poses, sizeof(Pose) * (size_t)model->link_count);
  for (int i = 0; i < model->link_count; i++) s->reference[which][i] = pose_apply(poses[i], model->links[i].center);
  for (int i = 0; i < model->hull_count; i++)
    s->instance[which][i] = contact_hull_at(&model->hulls[i], &poses[model->hulls[i].link]);
}

/* Small rotation vector of R1 R0^T and displacement of the centre; good to second order, for prediction only. */
static void measure_motion(ContactSystem* s) {
  const Model* model = s->model;
  const Pose *p0 = s->pose[s->current], *p1 = s->pose[1 - s->current];
  for (int i = 0; i < model->link_count; i++) {
    Vec3 d = vec3_sub(s->reference[1 - s->current][i], s->reference[s->current][i]);
    motion_twist(p0[i].r, p1[i].r, d, s->twist[i]);
  }
  for (int i = 0; i < model->hull_count; i++) {
    int link = model->hulls[i].link;
    Mat3 change = mat3_sub(p1[link].r, p0[link].r);
    double sum = 0;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) sum += change.m[r][c] * change.m[r][c];
    Vec3 d = vec3_sub(s->instance[1 - s->current][i].center, s->instance[s->current][i].center);
    s->moved[i] = vec3_norm(d) + sqrt(sum) * s->instance[0][i].radius;
  }
}

/* ---------------------------------------------------------------- distance of a pair without its plane */

/* Of the lowest vertex of a over the boundary of b [m]. */
static double height_over_half_space(const HullInstance* a, const HullInstance* b) {
  double farthest;
  support_index(a->points, mat3_tmul_vec(a->pose.r, vec3_scale(b->normal, -1.0)), &farthest);
  return vec3_dot(b->normal, a->pose.t) - b->offset - farthest;
}

double contact_pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result) {
  if (!b->half_space) {
    *result = gjk_distance(a->points, a->pose, b->points, b->pose, cache);
    return result->distance;
  }
  double height = height_over_half_space(a, b);
  *result = (GjkResult){.distance = height > 0 ? height : 0, .normal = vec3_scale(b->normal, -1.0)};
  return result->distance;
}

/* ---------------------------------------------------------------- broad phase and the list of candidates */

static Box box_grown(const ContactSystem* s, int i, double grow) {
  const ModelHull* hull = &s->model->hulls[i];
  const HullInstance* h = &s->instance[s->current][i];
  if (!hull->kind->bounded || !s->model->links[hull->link].collide) return (Box){vec3(1, 1, 1), vec3(-1, -1, -1)};
  const double(*r)[3] = h->pose.r.m;
  Vec3 e = hull->half_extent;
  Vec3 half = vec3(fabs(r[0][0]) * e.x + fabs(r[0][1]) * e.y + fabs(r[0][2]) * e.z + grow,
                   fabs(r[1][0]) * e.x + fabs(r[1][1]) * e.y + fabs(r[1][2]) * e.z + grow,
                   fabs(r[2][0]) * e.x + fabs(r[2][1]) * e.y + fabs(r[2][2]) * e.z + grow);
  return (Box){vec3_sub(h->center, half), vec3_add(h->center, half)};
}

static Box box_of(const ContactSystem* s, int i) { return box_grown(s, i, 0.5 * s->range * (1 + 1e-9) + s->slack[i]); }

static void push_key(BroadPhase* b, int a, int c) {
  if (b->key_count == b->key_capacity) {
    int capacity = 2 * b->key_capacity + 64;
    b->keys = memory_resize(b->keys, sizeof(uint64_t) * (size_t)b->key_capacity, sizeof(uint64_t) * (size_t)capacity);
    b->key_capacity = capacity;
  }
  b->keys[b->key_count++] = (uint64_t)a << 32 | (uint32_t)c;
}

/* Can the hull in the box come within `reach` of a half-space? One that turns moves without bound far away. */
static bool near_half_space(const ContactSystem* s, int ground, const Box* b, double reach) {
  if (b->low.x > b->high.x) return false;
  if (s->model->links[s->model->hulls[ground].link].tree >= 0) return true;
  const HullInstance* g = &s->instance[s->current][ground];
  Vec3 n = g->normal, c = vec3_scale(vec3_add(b->low, b->high), 0.5), h = vec3_sub(b->high, c);
  double low = vec3_dot(n, c) - fabs(n.x) * h.x - fabs(n.y) * h.y - fabs(n.z) * h.z - g->offset;
  return low <= reach;
}

/* Half-spaces are unbounded: every box is held against each. */
static void find_half_space_pairs(ContactSystem* s) {
  int before = s->broad.key_count;
  for (int g = 0; g < s->model->hull_count; g++) {
    if (!s->instance[s->current][g].half_space) continue;
    for (int i = 0; i < s->model->hull_count; i++)
      if (near_half_space(s, g, &s->boxes[i], 0.5 * s->range + s->slack[g]))
        push_key(&s->broad, i < g ? i : g, i < g ? g : i);
  }
  if (s->broad.key_count > before) qsort(s->broad.keys, (size_t)s->broad.key_count, sizeof(uint64_t), order_uint64);
}

static int take_slot(ContactSystem* s) {
  if (s->free_count == 0) {
    int old = s->pair_capacity, capacity = old ? 2 * old : 64;
    s->pairs = memory_resize(s->pairs, sizeof(ContactPair) * (size_t)old, sizeof(ContactPair) * (size_t)capacity);
    s->free_slots = memory_resize(s->free_slots, sizeof(int) * (size_t)old, sizeof(int) * (size_t)capacity);
    s->terms = memory_resize(s->terms, sizeof(int) * (size_t)old, sizeof(int) * (size_t)capacity);
    for (int k = capacity - 1; k >= old; k--) s->free_slots[s->free_count++] = k;
    s->pair_capacity = capacity;
  }
  return s->free_slots[--s->free_count];
}

static int common_ancestor(const Model* model, int a, int b) {
  while (a != b) { /* parents stand earlier */
    if (a > b)
      a = model->links[a].parent;
    else
      b = model->links[b].parent;
    if (a < 0 || b < 0) return -1;
  }
  return a;
}

void contact_enter(const ContactSystem* s, ContactPair* p, uint64_t key) {
  memset(p, 0, sizeof(*p));
  p->key = key;
  p->hull_a = (int)(key >> 32);
  p->hull_b = (int)(key & 0xffffffffu);
  if (!s->model->hulls[p->hull_a].kind->bounded) { /* the half-space is always b */
    int swap = p->hull_a;
    p->hull_a = p->hull_b;
    p->hull_b = swap;
  }
  p->link_a = s->model->hulls[p->hull_a].link;
  p->link_b = s->model->hulls[p->hull_b].link;
  p->common = common_ancestor(s->model, p->link_a, p->link_b);
  GjkResult found;
  PairState* state = &p->state[s->current];
  state->separation =
      contact_pair_distance(&s->instance[s->current][p->hull_a], &s->instance[s->current][p->hull_b], &p->gjk, &found);
  state->axis = found.normal;
  state->outcome = PLANE_SEPARATED;
}

static void grow_list(ContactSystem* s, int needed) {
  if (needed <= s->list_capacity) return;
  int capacity = needed + needed / 2 + 64;
  s->list = memory_resize(s->list, sizeof(int) * (size_t)s->list_capacity, sizeof(int) * (size_t)capacity);
  s->spare_list = memory_resize(s->spare_list, sizeof(int) * (size_t)s->list_capacity, sizeof(int) * (size_t)capacity);
  s->list_capacity = capacity;
}

/* Merge the new keys with the old list: known pairs keep their slot; pairs with lagged friction or energy stay. */
static void merge_list(ContactSystem* s) {
  grow_list(s, s->list_count + s->broad.key_count);
  int old = 0, count = 0;
  bool changed = false;
  for (int k = 0; k <= s->broad.key_count; k++) {
    uint64_t key = k < s->broad.key_count ? s->broad.keys[k] : UINT64_MAX;
    if (k < s->broad.key_count &&
        !model_pair_allowed(s->model, s->model->hulls[key >> 32].link, s->model->hulls[key & 0xffffffffu].link))
      continue;
    for (; old < s->list_count && s->pairs[s->list[old]].key < key; old++) { /* pairs no longer near */
      ContactPair* p = &s->pairs[s->list[old]];
      if (p->lagged || p->state[s->current].has_terms)
        s->spare_list[count++] = s->list[old];
      else {
        s->free_slots[s->free_count++] = s->list[old];
        changed = true;
      }
    }
    if (k == s->broad.key_count) break;
    if (old < s->list_count && s->pairs[s->list[old]].key == key)
      s->spare_list[count++] = s->list[old++];
    else {
      int slot = take_slot(s);
      contact_enter(s, &s->pairs[slot], key);
      s->spare_list[count++] = slot;
      changed = true;
    }
  }
  int* swap = s->list;
  s->list = s->spare_list;
  s->spare_list = swap;
  s->list_count = count;
  if (changed) s->version++;
}

static double hull_path(const ContactSystem* s, int i, const MotionBounds* bounds) {
  const ModelHull* hull = &s->model->hulls[i];
  const MotionBound* b = &bounds->link[hull->link];
  return hull->kind->bounded ? b->speed + b->spin * (vec3_norm(hull->center) + hull->radius) : 0;
}

void contact_prepare(ContactSystem* s, const MotionBounds* bounds) {
  double start = timer_now();
  bool covered = true;
  for (int i = 0; i < s->model->hull_count && covered; i++)
    covered = s->travelled[i] + hull_path(s, i, bounds) <= s->slack[i];
  if (!covered) {
    for (int i = 0; i < s->model->hull_count; i++) {
      const ModelHull* hull = &s->model->hulls[i];
      double radius = hull->kind->bounded ? hull->radius : 0;
      bool moves = s->model->links[hull->link].tree >= 0;
      double path = hull_path(s, i, bounds), reserve = fmin(SLACK_PATHS * path, SLACK_RADIUS * radius);
      s->slack[i] = moves ? path + fmax(reserve, s->range) : 0;
      s->travelled[i] = 0;
      s->way_travelled[i] = s->way_moved ? (double)INFINITY : 0;
      s->boxes[i] = box_of(s, i);
    }
    broad_phase_find(&s->broad, s->boxes, s->model->hull_count);
    find_half_space_pairs(s);
    merge_list(s);
  }
  s->times.broad_phase += timer_now() - start;
}

static bool is_listed(const ContactSystem* s, uint64_t key) {
  int low = 0, high = s->list_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (s->pairs[s->list[middle]].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->list_count && s->pairs[s->list[low]].key == key;
}

/* Every pair whose boxes, grown by what their hulls move, overlap. */
static void find_near(ContactSystem* s, const MotionBounds* bounds) {
  int count = s->model->hull_count;
  for (int i = 0; i < count; i++) s->boxes[i] = box_grown(s, i, hull_path(s, i, bounds));
  broad_phase_find(&s->way_broad, s->boxes, count);
  for (int g = 0; g < count; g++) {
    if (!s->instance[s->current][g].half_space) continue;
    for (int i = 0; i < count; i++)
      if (near_half_space(s, g, &s->boxes[i], 0)) push_key(&s->way_broad, i < g ? i : g, i < g ? g : i);
  }
}

const uint64_t* contact_unlisted(ContactSystem* s, const MotionBounds* bounds, bool remembered, int* count) {
  bool covered = true; /* by the reserve with which the list was found, from this end of the way or the other */
  for (int i = 0; i < s->model->hull_count && covered; i++) {
    double travelled = remembered ? fmin(s->travelled[i], s->way_travelled[i]) : s->travelled[i];
    covered = travelled + hull_path(s, i, bounds) <= s->slack[i];
  }
  *count = 0;
  if (covered) return NULL;
  find_near(s, bounds);
  uint64_t* keys = s->way_broad.keys;
  for (int k = 0; k < s->way_broad.key_count; k++) {
    int a = s->model->hulls[keys[k] >> 32].link, b = s->model->hulls[keys[k] & 0xffffffffu].link;
    if (model_pair_allowed(s->model, a, b) && !is_listed(s, keys[k])) keys[(*count)++] = keys[k];
  }
  return keys;
}

/* ---------------------------------------------------------------- evaluation of the trial state */

static void set_separated(PairState* state, double separation, Vec3 axis) {
  state->outcome = PLANE_SEPARATED;
  state->has_plane = false;
  state->separation = separation;
  state->axis = axis;
}

/* From the closest points. */
static PlaneOutcome solve_cold(ContactSystem* s, ContactPair* p, const HullInstance* a, const HullInstance* b,
                               PairState* state, PlaneScratch* scratch, PlaneSolution* solution) {
  GjkResult found;
  double distance = contact_pair_distance(a, b, &p->gjk, &found), support = s->model->contact.support;
  if (!(distance > 0)) return PLANE_INFEASIBLE;
  if (distance >= s->range) {
    set_separated(state, distance, found.normal);
    return PLANE_SEPARATED;
  }
  Plane start = b->half_space ? plane_from_half_space(a, b, support, distance)
                              : plane_from_witness(a, b, support, found.witness_a, found.witness_b, found.normal);
  PlaneOutcome outcome = plane_solve(a, b, support, start, scratch, solution);
  state->has_plane = true;
  return outcome;
}

/* Neither body has moved at all since state `which`. */
static bool pair_stays(const ContactSystem* s, const ContactPair* p, int which) {
  return s->stays[which][p->link_a] && s->stays[which][p->link_b];
}

/* Are both links where they were when state `which` was evaluated, as it is to be now? */
static bool stands(const ContactSystem* s, const ContactPair* p, int which) {
  return p->state[which].stamp == s->stamp && pair_stays(s, p, which);
}

static PlaneOutcome solve_pair(ContactSystem* s, ContactPair* p, const PairState* old, PairState* state,
                               PlaneScratch* scratch, PlaneSolution* solution) {
  const HullInstance *a = &s->instance[1 - s->current][p->hull_a], *b = &s->instance[1 - s->current][p->hull_b];
  if (old->outcome == PLANE_ACTIVE) {
    double support = s->model->contact.support;
    state->has_plane = true;
    if (pair_stays(s, p, s->current)) {
      *solution = old->solution;
      return PLANE_ACTIVE;
    }
    PlaneOutcome outcome = plane_solve(
        a, b, support, plane_predict(old->solution.plane, &old->response, s->twist[p->link_a], s->twist[p->link_b]),
        scratch, solution);
    if (outcome == PLANE_INFEASIBLE) outcome = plane_solve(a, b, support, old->solution.plane, scratch, solution);
    if (outcome == PLANE_ACTIVE || outcome == PLANE_SEPARATED) return outcome;
  } else {
    bool turning = b->half_space && s->model->links[p->link_b].tree >= 0;
    double separation = old->separation - s->moved[p->hull_a] - s->moved[p->hull_b];
    if (separation > s->range && !turning) {
      set_separated(state, separation, old->axis);
      return PLANE_SEPARATED;
    }
  }
  return solve_cold(s, p, a, b, state, scratch, solution);
}

static void evaluate_contact(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = contact_pair(s, index);
  const PairState* old = &p->state[s->current];
  PairState* state = &p->state[1 - s->current];
  p->fresh = false;
  if (stands(s, p, 1 - s->current)) return;
  if (stands(s, p, s->current)) {
    *state = *old;
    if (p->lagged) friction_keep(&p->lag, 1 - s->current);
    return;
  }
  p->fresh = true;
  state->stamp = s->stamp;
  PlaneSolution* solution = &state->solution;
  state->contact_energy = state->friction_energy = 0;
  state->has_terms = false;
  state->outcome = solve_pair(s, p, old, state, &s->scratch[thread], solution);
  if (state->outcome != PLANE_ACTIVE && !(state->outcome == PLANE_SEPARATED && state->has_plane)) return;
  state->separation = solution->clearance[0] + solution->clearance[1];
  state->axis = vec3_normalized(solution->plane.n);
  if (state->outcome != PLANE_ACTIVE) return;
  const Vec3* reference = s->reference[1 - s->current];
  plane_derivatives(solution, s->instance[0][p->hull_b].half_space, reference[p->link_a], reference[p->link_b],
                    &state->derivatives, &state->response);
  state->impact = impact_eval(&s->impact, solution->energy, p->before);
  impact_scale(&state->impact, s->instance[0][p->hull_b].half_space, &state->derivatives);
  state->contact_energy = s->model->contact.stiffness * state->impact.value;
  state->has_terms = true;
}

/* Friction acts, in proportion to the force that the last step ended with. */
static bool rubs(const ContactSystem* s, const ContactPair* p) {
  return p->lagged && s->friction.coefficient * p->load.first > 0;
}

static void evaluate_friction(void* context, int index, int thread) {
  (void)thread;
  ContactSystem* s = context;
  ContactPair* p = contact_pair(s, index);
  if (!p->fresh) return;
  PairState* state = &p->state[1 - s->current];
  PairDerivatives* d = &state->derivatives;
  bool sound = state->outcome == PLANE_ACTIVE || state->outcome == PLANE_SEPARATED;
  double stiffness = s->model->contact.stiffness, energy = 0;
  if (sound && rubs(s, p)) {
    if (!state->has_terms) memset(d, 0, sizeof(*d));
    int which = 1 - s->current;
    FrictionParameters parameters = s->friction;
    parameters.coefficient *= p->load.first;
    parameters.state = 1 - s->current;
    parameters.follow = p->state[s->current].stamp == s->stamp;
    if (friction_evaluate(&p->lag, &parameters, &s->pose[which][p->link_a], &s->pose[which][p->link_b],
                          s->reference[which][p->link_a], s->reference[which][p->link_b], d, &energy) < 0)
      state->outcome = PLANE_FAILED;
    memcpy(state->slip, p->lag.slip, sizeof(state->slip));
    state->friction_energy = stiffness * energy;
    state->has_terms = true;
  }
  if (!state->has_terms) return;
  for (int k = 0; k < 2; k++) {
    d->force[k] = vec3_scale(d->force[k], stiffness);
    d->moment[k] = mat3_scale(d->moment[k], stiffness);
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) d->hessian[i][j] *= stiffness;
}

/* A pair that is far apart costs less than the way to another thread; one that touches is worth it. */
static int threads_worth_waking(const ContactSystem* s) {
  return s->term_count > 1 || s->list_count >= PARALLEL_FAR ? s->threads : 1;
}

/* Which links the poses leave where state `which` has them, to the bit. */
static void find_staying(ContactSystem* s, int which, const Pose* poses) {
  for (int i = 0; i < s->model->link_count; i++)
    s->stays[which][i] = memcmp(&s->pose[which][i], &poses[i], sizeof(Pose)) == 0;
}

bool contact_evaluate(ContactSystem* s, const Pose* poses) {
  double start = timer_now();
  for (int k = 0; k < 2; k++) find_staying(s, k, poses);
  place_hulls(s, 1 - s->current, poses);
  measure_motion(s);
  int threads = threads_worth_waking(s);
  parallel_for(threads, s->list_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_contact, s);
  double middle = timer_now();
  parallel_for(threads, s->list_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_friction, s);
  s->times.contact += middle - start;
  s->times.friction += timer_now() - middle;
  for (int k = 0; k < s->list_count; k++) {
    PlaneOutcome outcome = contact_pair(s, k)->state[1 - s->current].outcome;
    if (outcome != PLANE_ACTIVE && outcome != PLANE_SEPARATED) return false;
  }
  return true;
}

double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis) {
  if (b->half_space) return height_over_half_space(a, b); /* it has no end along other axes */
  double far_a, far_b;
  support_index(a->points, mat3_tmul_vec(a->pose.r, axis), &far_a);
  support_index(b->points, mat3_tmul_vec(b->pose.r, vec3_scale(axis, -1.0)), &far_b);
  return -far_b + vec3_dot(axis, b->pose.t) - far_a - vec3_dot(axis, a->pose.t);
}

/* A clearance c is a difference of coordinates of size `reach`, so c / s is uncertain by eps reach / s, and P_s goes
 * with about its fifth power. */
static double energy_rounding(const ContactSystem* s, const ContactPair* p) {
  const HullInstance *a = &s->instance[s->current][p->hull_a], *b = &s->instance[s->current][p->hull_b];
  double reach = a->radius + b->radius + (b->half_space ? 0 : vec3_norm(vec3_sub(a->center, b->center)));
  const PairState* state = &p->state[s->current];
  double contact = 0; /* W changes by W' dU */
  if (state->outcome == PLANE_ACTIVE)
    contact = s->model->contact.stiffness * state->impact.first * state->solution.energy;
  return DBL_EPSILON * (ENERGY_ROUNDINGS + CLEARANCE_ROUNDINGS * reach / s->model->contact.support) *
         (fmax(contact, state->contact_energy) + state->friction_energy);
}

/* Bodies may come nearer by this factor in one trial, from the contact range if they were beyond. Nearer than they will
 * be the force is out of all proportion, and far enough its rounding too. */
#define NEARER_MOST 0.1

static bool too_near(const ContactSystem* s, const PairState* old, const PairState* new) {
  return new->outcome == PLANE_ACTIVE&& new->separation < NEARER_MOST* fmin(old->separation, s->range);
}

ContactTrial contact_trial(const ContactSystem* s, int candidate) {
  const ContactPair* p = contact_pair(s, candidate);
  const PairState *old = &p->state[s->current], *new = &p->state[1 - s->current];
  return (ContactTrial){
      .link_a = p->link_a,
      .link_b = p->link_b,
      .coupled = old->has_terms,
      .feasible = (new->outcome == PLANE_ACTIVE || new->outcome == PLANE_SEPARATED) && !too_near(s, old, new),
      .rounding = old->has_terms ? energy_rounding(s, p) : 0,
      .change = (new->contact_energy - old->contact_energy) + (new->friction_energy - old->friction_energy)};
}

void contact_energy(const ContactSystem* s, double* contact, double* friction) {
  *contact = *friction = 0;
  for (int k = 0; k < s->list_count; k++) {
    *contact += contact_pair(s, k)->state[s->current].contact_energy;
    *friction += contact_pair(s, k)->state[s->current].friction_energy;
  }
}

static void list_terms(ContactSystem* s) {
  s->term_count = 0;
  for (int k = 0; k < s->list_count; k++)
    if (contact_pair(s, k)->state[s->current].has_terms) s->terms[s->term_count++] = s->list[k];
}

void contact_accept(ContactSystem* s) {
  for (int i = 0; i < s->model->hull_count; i++) s->travelled[i] += s->moved[i];
  s->current = 1 - s->current;
  s->way_moved = true;
  list_terms(s);
}

bool contact_reset(ContactSystem* s, const Pose* poses) {
  s->stamp++;
  for (int k = 0; k < s->list_count; k++) s->free_slots[s->free_count++] = s->list[k];
  s->list_count = s->term_count = 0;
  for (int i = 0; i < s->model->hull_count; i++) s->slack[i] = -1;
  place_hulls(s, s->current, poses);
  MotionBounds none = {MEMORY_NEW(MotionBound, s->model->link_count), NULL};
  contact_prepare(s, &none);
  memory_free(none.link);
  double rest_speed = s->impact.rest_speed;
  s->impact.rest_speed = 0; /* what came before is not known: as at rest */
  bool apart = contact_evaluate(s, poses);
  s->impact.rest_speed = rest_speed;
  if (!apart) return false;
  contact_accept(s);
  for (int k = 0; k < s->term_count; k++) {
    ContactPair* p = &s->pairs[s->terms[k]];
    p->before = impact_compression(s->impact.support, p->state[s->current].solution.energy);
  }
  return true;
}

void contact_remember(ContactSystem* s) {
  if (s->remembered_capacity < s->list_count) {
    memory_free(s->remembered);
    s->remembered_capacity = 2 * s->list_count + 64;
    s->remembered = MEMORY_NEW(ImpactMemory, s->remembered_capacity);
  }
  s->remembered_count = 0;
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    if (p->state[s->current].outcome == PLANE_ACTIVE)
      s->remembered[s->remembered_count++] =
          (ImpactMemory){p->key, p->state[s->current].impact,
                         impact_compression(s->impact.support, p->state[s->current].solution.energy)};
  }
}

static double compression_then(const ContactSystem* s, uint64_t key) {
  int low = 0, high = s->remembered_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (s->remembered[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->remembered_count && s->remembered[low].key == key ? s->remembered[low].compression : 0;
}

double contact_impact_factor(const ContactSystem* s, int index, double rest_speed, double dt) {
  const ContactPair* p = contact_pair(s, index);
  const PairState* state = &p->state[s->current];
  if (state->outcome != PLANE_ACTIVE) return 1;
  ImpactParameters parameters = {s->impact.support, rest_speed, dt};
  return impact_eval(&parameters, state->solution.energy, compression_then(s, p->key)).first;
}

void contact_recall(ContactSystem* s) {
  for (int k = 0, n = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    while (n < s->remembered_count && s->remembered[n].key < p->key) n++;
    if (n < s->remembered_count && s->remembered[n].key == p->key)
      p->state[s->current].impact = s->remembered[n].impact;
  }
}

/* ---------------------------------------------------------------- friction data for the next step */

bool contact_lag(ContactSystem* s) {
  double start = timer_now();
  double support = s->model->contact.support;
  const HullInstance* instance = s->instance[s->current];
  int needed = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    const PairState* state = &p->state[s->current];
    p->lagged = state->outcome == PLANE_ACTIVE;
    p->before = p->lagged ? impact_compression(support, state->solution.energy) : 0;
    p->load = p->lagged ? state->impact : (Impact){0};
    if (p->lagged)
      needed += friction_count(&instance[p->hull_a], &instance[p->hull_b], support, &state->solution.plane);
  }
  if (needed > s->lag_capacity) {
    memory_free(s->lag_vertices);
    s->lag_capacity = 2 * needed + 64;
    s->lag_vertices = MEMORY_NEW(FrictionVertex, s->lag_capacity);
  }
  FrictionVertex* next = s->lag_vertices;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    if (!p->lagged) continue;
    friction_lag(&instance[p->hull_a], &instance[p->hull_b], support, &p->state[s->current].solution.plane, next,
                 &p->lag);
    next += p->lag.count[0] + p->lag.count[1];
  }
  s->times.friction += timer_now() - start;
  /* the accepted state again, now with the friction of the new step */
  memcpy(s->lag_poses, s->pose[s->current], sizeof(Pose) * (size_t)s->model->link_count);
  s->stamp++;
  if (!contact_evaluate(s, s->lag_poses)) return false;
  contact_accept(s);
  return true;
}

/* ---------------------------------------------------------------- what others read */

int contact_term_count(const ContactSystem* s) { return s->term_count; }

ContactTerms contact_term(const ContactSystem* s, int index) {
  const ContactPair* p = &s->pairs[s->terms[index]];
  const PairDerivatives* d = &p->state[s->current].derivatives;
  return (ContactTerms){p->link_a, p->link_b, d->force, d->moment, d->hessian};
}

static int system_term_count(const void* holder) { return contact_term_count(holder); }

static ContactTerms system_term(const void* holder, int index) { return contact_term(holder, index); }

ContactTermList contact_term_list(const ContactSystem* s) {
  return (ContactTermList){s, s ? system_term_count : NULL, s ? system_term : NULL};
}

int contact_record(const ContactSystem* s, ContactRecord* records) {
  int count = 0;
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    const PairState* state = &p->state[s->current];
    bool active = state->outcome == PLANE_ACTIVE, rubbing = rubs(s, p);
    if (!active && !rubbing) continue;
    ContactRecord* r = &records[count++];
    *r = (ContactRecord){.hull_a = p->hull_a, .hull_b = p->hull_b, .active = active, .rubbing = rubbing};
    if (active) {
      r->origin = state->solution.plane.origin;
      r->normal = state->solution.plane.n;
      r->offset = state->solution.plane.o;
    }
    if (!rubbing) continue;
    memcpy(r->slip, state->slip, sizeof(r->slip));
    r->load =
        (ContactLoad){p->load.first, p->load.second, p->load.by_before, p->load.by_support, p->load.by_rest_speed};
  }
  return count;
}

/* The force of a pair over its exponent: P_s' goes with about the sixth power of the clearance (C2). */
#define FORCE_EXPONENT 6.0
/* Normal force over what the step leaves of it: from here on the pair is relieved, and more than that is not believed.
 */
#define RELIEF_FROM 1.5
#define RELIEF_MOST 1e4

/* Over what the linear model leaves of it: the normal force, along the plane's normal, by what body a feels
 * (half-spaces are b, and have no rows in the Hessian). */
static double force_excess(const PairState* state, const double twist_a[6], const double twist_b[6]) {
  const PairDerivatives* d = &state->derivatives;
  Vec3 n = vec3_normalized(state->solution.plane.n);
  double normal[3] = {n.x, n.y, n.z}, change = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 6; k++)
      change += normal[i] * (d->hessian[3 + i][k] * twist_a[k] + d->hessian[3 + i][6 + k] * twist_b[k]);
  double force = vec3_dot(n, d->force[0]), left = force + change;
  return force > 0 ? force / fmax(left, force / RELIEF_MOST) : 1;
}

/* A spring through the force f / ratio at the clearance where the barrier has that: with z^-p for the force, seen from
 * here its gradient is (1 + p (ratio^(1/p) - 1)) / ratio of the barrier's and its Hessian 1 / ratio (S11). */
static void relieve_pair(const ContactSystem* s, ContactPair* p, double ratio) {
  const PairState* state = &p->state[s->current];
  const Vec3* reference = s->reference[s->current];
  PairDerivatives contact;
  PlaneResponse response;
  plane_derivatives(&state->solution, s->instance[0][p->hull_b].half_space, reference[p->link_a], reference[p->link_b],
                    &contact, &response);
  impact_scale(&state->impact, s->instance[0][p->hull_b].half_space, &contact);
  double gradient = (1 + FORCE_EXPONENT * (math_pow(ratio, 1 / FORCE_EXPONENT) - 1)) / ratio;
  double a = (gradient - 1) * s->model->contact.stiffness, b = (1 / ratio - 1) * s->model->contact.stiffness;
  p->model = state->derivatives;
  for (int k = 0; k < 2; k++) {
    p->model.force[k] = vec3_add_scaled(p->model.force[k], a, contact.force[k]);
    p->model.moment[k] = mat3_add(p->model.moment[k], mat3_scale(contact.moment[k], a));
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) p->model.hessian[i][j] += b * contact.hessian[i][j];
}

int contact_relieve(ContactSystem* s, const double (*twist)[6], bool* relieved) {
  int count = 0;
  for (int i = 0; i < s->model->link_count; i++) relieved[i] = false;
  for (int k = 0; k < s->term_count; k++) {
    ContactPair* p = &s->pairs[s->terms[k]];
    const PairState* state = &p->state[s->current];
    p->relieved = false;
    if (state->outcome != PLANE_ACTIVE) continue;
    double ratio = force_excess(state, twist[p->link_a], twist[p->link_b]);
    if (!(ratio > RELIEF_FROM)) continue;
    relieve_pair(s, p, ratio);
    p->relieved = relieved[p->link_a] = relieved[p->link_b] = true;
    count++;
  }
  return count;
}

static ContactTerms model_term(const void* holder, int index) {
  const ContactSystem* s = holder;
  const ContactPair* p = &s->pairs[s->terms[index]];
  const PairDerivatives* d = p->relieved ? &p->model : &p->state[s->current].derivatives;
  return (ContactTerms){p->link_a, p->link_b, d->force, d->moment, d->hessian};
}

ContactTermList contact_model_list(const ContactSystem* s) {
  return (ContactTermList){s, s ? system_term_count : NULL, s ? model_term : NULL};
}

static void project_pair(void* context, int index, int thread) {
  (void)thread;
  ContactSystem* s = context;
  ContactPair* p = &s->pairs[s->terms[index]];
  if (s->projecting && !s->projecting[p->link_a] && !s->projecting[p->link_b]) return;
  symmetric_project(12, &p->state[s->current].derivatives.hessian[0][0]);
}

void contact_project(ContactSystem* s, const bool* links) {
  s->projecting = links;
  double start = timer_now();
  parallel_for(s->threads, s->term_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, project_pair, s);
  s->times.contact += timer_now() - start;
}

int contact_candidate_count(const ContactSystem* s) { return s->list_count; }

void contact_candidate(const ContactSystem* s, int index, int* link_a, int* link_b) {
  *link_a = contact_pair(s, index)->link_a;
  *link_b = contact_pair(s, index)->link_b;
}

int contact_version(const ContactSystem* s) { return s->version; }

int contact_active_count(const ContactSystem* s) {
  int count = 0;
  for (int k = 0; k < s->list_count; k++) count += contact_pair(s, k)->state[s->current].outcome == PLANE_ACTIVE;
  return count;
}

double contact_gap(ContactSystem* s, int index) {
  ContactPair* p = contact_pair(s, index);
  const PairState* state = &p->state[s->current];
  if (state->outcome == PLANE_SEPARATED && !state->has_plane) return state->separation;
  GjkResult found;
  return contact_pair_distance(&s->instance[s->current][p->hull_a], &s->instance[s->current][p->hull_b], &p->gjk,
                               &found);
}

double contact_trial_gap(ContactSystem* s, int index) {
  ContactPair* p = contact_pair(s, index);
  const HullInstance* instance = s->instance[1 - s->current];
  GjkResult found;
  return contact_pair_distance(&instance[p->hull_a], &instance[p->hull_b], &p->gjk, &found);
}

bool contact_force(const ContactSystem* s, int index, Vec3* force_on_b) {
  const PairState* state = &contact_pair(s, index)->state[s->current];
  *force_on_b = state->has_terms ? vec3_scale(state->derivatives.force[1], -1.0) : vec3(0, 0, 0);
  return state->has_terms;
}

ContactTimes contact_times(const ContactSystem* s) { return s->times; }
