/* Evaluates the candidate pairs at the poses of a trial state, and compares the trial state with the accepted state. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "contact/system.h"

/* Returns true if the pose of a link in `poses` is bit-identical to its pose in state `which`. */
static bool is_pose_equal(const ContactSystem* s, int which, const Pose* poses, int link) {
  return s->placed[which] && memcmp(&s->pose[which][link], &poses[link], sizeof(Pose)) == 0;
}

/* Sets s->twist[i] to the motion of link i from the accepted to the trial state. The twist is accurate to second order.
 * It is used for predictions only. */
static void measure_link(ContactSystem* s, int i) {
  const Pose *p0 = s->pose[s->current], *p1 = s->pose[1 - s->current];
  if (s->stays[s->current][i]) {
    memset(s->twist[i], 0, sizeof(s->twist[i]));
    return;
  }
  Vec3 d = vec3_sub(s->reference[1 - s->current][i], s->reference[s->current][i]);
  motion_twist(p0[i].r, p1[i].r, d, s->twist[i]);
}

static double hull_motion(const ContactSystem* s, int hull, int link) {
  if (s->stays[s->current][link]) return 0;
  Mat3 change = mat3_sub(s->pose[1 - s->current][link].r, s->pose[s->current][link].r);
  double sum = 0;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) sum += change.m[r][c] * change.m[r][c];
  Vec3 d = vec3_sub(s->instance[1 - s->current][hull].center, s->instance[s->current][hull].center);
  return vec3_norm(d) + sqrt(sum) * s->instance[0][hull].radius;
}

typedef struct {
  ContactSystem* system;
  int which;
  const Pose* poses;
  bool measures; /* true if twist and motion of each link since the accepted state are also computed */
  const bool*
      moves; /* links that may have moved since the last measurement; NULL if all links may have moved (size: links) */
} PoseTask;

/* Sets pose and hulls of link `index` in state task->which, if the link has moved. If the link has not moved since the
 * last trial, its motion data remain valid. */
static void set_link_pose(void* context, int index, int thread) {
  (void)thread;
  const PoseTask* task = context;
  ContactSystem* s = task->system;
  int which = task->which, now = s->current, i = s->links ? s->links[index] : index;
  if (task->moves && !task->moves[i] && s->measured) {
    s->stays[which][i] = true;
    return;
  }
  bool stays = is_pose_equal(s, which, task->poses, i), known = s->measured && stays;
  s->stays[which][i] = stays;
  if (task->measures && known) return;
  if (task->measures) s->stays[now][i] = is_pose_equal(s, now, task->poses, i);
  const ModelLink* link = &s->model->links[i];
  int end = link->hull_first + link->hull_count;
  if (!stays) {
    for (int k = link->hull_first; k < end; k++)
      s->instance[which][k] = pair_hull_at(&s->model->hulls[k], &task->poses[i]);
    s->reference[which][i] = pose_apply(task->poses[i], link->center);
    s->pose[which][i] = task->poses[i];
  }
  if (!task->measures) return;
  measure_link(s, i);
  for (int k = link->hull_first; k < end && link->tree >= 0; k++) s->moved[k] = hull_motion(s, k, i);
}

static void set_link_poses(ContactSystem* s, int which, const Pose* poses, bool measures, const bool* moves) {
  PoseTask task = {s, which, poses, measures, moves};
  int links = s->links ? s->link_count : s->model->link_count;
  parallel_for(s->threads, links, LINKS_PARALLEL, LINKS_GRAIN, set_link_pose, &task);
  for (int i = s->model->hull_count; i < s->item_count; i++)
    s->instance[which][i] = contact_item_at(s->model, i, poses);
  s->placed[which] = true;
  s->measured = measures;
}

void contact_set_poses(ContactSystem* s, int which, const Pose* poses) {
  assert(which == 0 || which == 1);
  set_link_poses(s, which, poses, false, NULL);
}

/* Returns true if neither link has moved since state `which`. */
static bool pair_stays(const ContactSystem* s, const ContactPair* p, int which) {
  return s->stays[which][p->link_a] && s->stays[which][p->link_b];
}

/* Returns true if the evaluation of the pair in state `which` is also valid for the trial state: it was evaluated with
 * the present friction reference, and neither link has moved since. */
static bool is_still_valid(const ContactSystem* s, const ContactPair* p, int which) {
  return p->state[which].stamp == s->stamp && pair_stays(s, p, which);
}

/* Sets *state to separated if the hulls of the pair are certainly still out of contact range, because they have moved
 * little since the accepted state. Returns false if this is not certain. */
static bool is_still_out_of_range(const ContactSystem* s, const ContactPair* p, const PairState* old,
                                  PairState* state) {
  if (p->is_link_pair) return false;
  bool turning = !s->model->hulls[p->hull_b].kind->bounded && s->model->links[p->link_b].tree >= 0;
  double separation = old->separation - s->moved[p->hull_a] - s->moved[p->hull_b];
  if (!(separation > s->reach[p->hull_a] + s->reach[p->hull_b]) || turning) return false;
  pair_set_apart(state, separation, old->axis);
  return true;
}

static LawOrigin trial_origin(const ContactSystem* s, const ContactPair* p) {
  size_t slot = (size_t)(p - s->pairs);
  return (LawOrigin){.state = &p->state[s->current],
                     .data = s->data[s->current] + slot * s->laws.state_size,
                     .twist = {s->twist[p->link_a], s->twist[p->link_b]},
                     .stays = pair_stays(s, p, s->current),
                     .follows = p->state[s->current].stamp == s->stamp,
                     .begins = s->begins};
}

void contact_copy_accepted_state(const ContactSystem* s, ContactPair* p) {
  LawPair trial = contact_law_pair(s, p, 1 - s->current, 0);
  *trial.state = p->state[s->current];
  if (trial.state->derived) *trial.derivatives = *contact_derivatives(s, p);
  size_t size = s->laws.state_size; /* if state_size is 0, no law stores data of a state, and s->data is NULL */
  if (size) memcpy(trial.data, s->data[s->current] + (size_t)(p - s->pairs) * size, size);
  if (p->law->row->history) p->law->row->history->take_over(&trial);
}

static bool is_feasible(const PairState* state) {
  return state->outcome == PAIR_PRESSED || state->outcome == PAIR_APART;
}

/* Smallest admitted ratio of the separation of two bodies in a trial to their separation in the accepted state. At
 * smaller ratios, the quadratic model of Newton's method is inaccurate. */
#define MIN_SEPARATION_RATIO 0.1

/* Returns true if the bodies of a pair are nearer in the trial than the line search admits. The bound is a share of the
 * accepted separation, which is 0 if it is unknown. Under laws with a range, separations above the range count as the
 * range: at much smaller distances, the rounding error of the force also is too large. */
static bool is_too_near(const ContactPair* p, const PairState* old, const PairState* new) {
  const SceneLaw* law = p->law;
  double known = law->row->links && !isfinite(old->separation) ? 0 : old->separation;
  double nearest = MIN_SEPARATION_RATIO * (law->row->links ? known : fmin(known, law->range));
  return new->outcome == PAIR_PRESSED && !law->row->overlaps&& new->separation < nearest;
}

static bool is_group_refused(const ContactSystem* s, int link) {
  return s->groups[link] < 0 || s->refused[s->groups[link]];
}

/* Returns true if the trial is already refused for the groups of both links of the pair. The pair need not be evaluated
 * then. */
static bool is_refused(const ContactSystem* s, const ContactPair* p) {
  return s->groups && is_group_refused(s, p->link_a) && is_group_refused(s, p->link_b);
}

/* If neither link has moved since the accepted state, copies the contact of that state to the trial state and returns
 * true. Returns false if a link has moved, the accepted state was not evaluated, or the contact energy may depend on
 * more than the poses. */
static bool repeats_contact(const ContactSystem* s, const ContactPair* p, const LawPair* trial, const LawOrigin* from) {
  const PairState* old = from->state;
  PairState* state = trial->state;
  if (!trial->row->points || trial->row->points_press || !from->stays) return false;
  if (old->outcome != PAIR_PRESSED &&
      (p->is_link_pair || !(old->separation > s->reach[p->hull_a] + s->reach[p->hull_b])))
    return false;
  if (s->laws.state_size) memcpy(trial->data, from->data, s->laws.state_size);
  state->outcome = old->outcome;
  state->separation = old->separation;
  state->axis = old->axis;
  state->has_plane = old->has_plane;
  state->plane = old->plane;
  memcpy(state->clearance, old->clearance, sizeof(state->clearance));
  state->contact_energy = old->contact_energy;
  state->has_terms = old->outcome == PAIR_PRESSED;
  return true;
}

static void evaluate_pair(ContactSystem* s, ContactPair* p, int thread) {
  const PairState* old = &p->state[s->current];
  PairState* state = &p->state[1 - s->current];
  if (is_still_valid(s, p, 1 - s->current)) return;
  if (is_still_valid(s, p, s->current)) {
    contact_copy_accepted_state(s, p);
    return;
  }
  state->stamp = s->stamp;
  state->contact_energy = state->friction_energy = state->spent_energy = 0;
  state->has_terms = state->has_friction = state->derived = false;
  if (!s->suspects_only && is_refused(s, p)) {
    state->stamp = 0;
    state->outcome = PAIR_APART;
    return;
  }
  if (old->outcome != PAIR_PRESSED && is_still_out_of_range(s, p, old, state)) return;
  LawPair trial = contact_law_pair(s, p, 1 - s->current, thread);
  LawOrigin from = trial_origin(s, p);
  if (!repeats_contact(s, p, &trial, &from)) p->law->row->evaluate(&trial, &from);
}

/* Returns true if the pair makes the trial fail, because it is infeasible, or because its distance is smaller than the
 * law admits for a trial. */
static bool is_suspect(const ContactSystem* s, const ContactPair* p) {
  const PairState *old = &p->state[s->current], *new = &p->state[1 - s->current];
  return new->stamp == s->stamp && (!is_feasible(new) || (s->groups && is_too_near(p, old, new)));
}

static void evaluate_contact(void* context, int index, int thread) {
  ContactSystem* s = context;
  int slot = s->list[s->pending[index]];
  PairSleep* sleep = &s->sleep[slot];
  if (sleep->is_evaluated || (s->suspects_only && !sleep->suspect)) return;
  sleep->is_evaluated = true;
  sleep->includes_friction = false;
  evaluate_pair(s, &s->pairs[slot], thread);
  sleep->suspect = is_suspect(s, &s->pairs[slot]);
  sleep->has_trial = s->pairs[slot].state[1 - s->current].stamp == s->stamp;
}

static double energy_change(const PairState* old, const PairState* new) {
  return (new->contact_energy - old->contact_energy) + (new->friction_energy - old->friction_energy);
}

static void evaluate_friction(void* context, int index, int thread) {
  ContactSystem* s = context;
  int slot = s->list[s->pending[index]];
  ContactPair* p = &s->pairs[slot];
  PairState* state = &p->state[1 - s->current];
  if (p->lagged && law_has_friction(p->law->row) && !state->has_friction) {
    LawPair trial = contact_law_pair(s, p, 1 - s->current, thread);
    LawOrigin from = trial_origin(s, p);
    if (law_friction_acts(&trial) && !law_evaluate_friction(&trial, &from)) state->outcome = PAIR_FAILED;
    state->has_friction = true;
    s->sleep[slot].suspect = is_suspect(s, p);
  }
  s->sleep[slot].change = energy_change(&p->state[s->current], state);
  s->sleep[slot].includes_friction = true;
}

/* Returns the number of threads for the evaluation of pairs. It is 1 if at most one pair has terms and few pairs are
 * awake, because the evaluation of distant pairs takes less time than starting threads. */
static int choose_thread_count(const ContactSystem* s) {
  return s->term_count > 1 || s->awake_count >= PARALLEL_THRESHOLD_INACTIVE ? s->threads : 1;
}

/* Marks the groups of the pairs that make the trial fail as refused. Returns the number of these pairs. */
static int find_suspects(ContactSystem* s) {
  int count = 0;
  for (int k = 0; k < s->awake_count; k++) {
    if (!s->sleep[s->list[s->awake[k]]].suspect) continue;
    LinkPair p = s->list_links[s->awake[k]];
    count++;
    int a = s->groups ? s->groups[p.a] : -1, b = s->groups ? s->groups[p.b] : -1;
    if (a >= 0) s->refused[a] = true;
    if (b >= 0) s->refused[b] = true;
  }
  return count;
}

/* Sets s->pending to the awake pairs whose trial state must be evaluated. In later trials of a line search, few pairs
 * must be evaluated. Returns the number of pairs that made the last trial fail. */
static int list_pending_contact(ContactSystem* s) {
  const bool* stays = s->stays[1 - s->current];
  int before = 0;
  s->pending_count = 0;
  for (int k = 0; k < s->awake_count; k++) {
    LinkPair p = s->list_links[s->awake[k]];
    PairSleep* sleep = &s->sleep[s->list[s->awake[k]]];
    before += s->groups && sleep->suspect;
    if (sleep->has_trial && stays[p.a] && stays[p.b]) continue;
    sleep->is_evaluated = false;
    s->pending[s->pending_count++] = s->awake[k];
  }
  return before;
}

static void list_pending_friction(ContactSystem* s) {
  s->pending_count = 0;
  for (int k = 0; k < s->awake_count; k++)
    if (!s->sleep[s->list[s->awake[k]]].includes_friction) s->pending[s->pending_count++] = s->awake[k];
}

/* Evaluates the awake pairs, and returns the number of pairs that make the trial fail. The pairs that made the last
 * trial fail are evaluated first, because they often make a shorter trial fail as well. Then the other pairs need not
 * be evaluated. */
static int evaluate_pairs(ContactSystem* s, int threads) {
  int before = list_pending_contact(s);
  for (int pass = before > 0 ? 0 : 1; pass < 2; pass++) {
    s->suspects_only = pass == 0;
    parallel_for(threads, s->pending_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_contact, s);
    before = find_suspects(s);
  }
  return before;
}

static bool evaluate_poses(ContactSystem* s, const Pose* poses, const bool* moves) {
  double start = timer_now();
  set_link_poses(s, 1 - s->current, poses, true, moves);
  int threads = choose_thread_count(s);
  bool clear = evaluate_pairs(s, threads) == 0;
  double middle = timer_now();
  s->times.contact += middle - start;
  s->phase = CONTACT_TRIED;
  if (!clear) return false;
  list_pending_friction(s);
  parallel_for(threads, s->pending_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_friction, s);
  s->times.friction += timer_now() - middle;
  if (find_suspects(s) > 0) return false;
  s->phase = CONTACT_FEASIBLE;
  return true;
}

bool contact_evaluate(ContactSystem* s, const Pose* poses) {
  s->groups = NULL;
  contact_wake(s, NULL);
  return evaluate_poses(s, poses, NULL);
}

bool contact_evaluate_trial(ContactSystem* s, const Pose* poses, const bool* moves, const int* groups, int group_count,
                            bool* refused) {
  for (int k = 0; k < group_count; k++) refused[k] = false;
  if (s->awake_count < 0) contact_wake(s, NULL);
  s->groups = groups;
  s->refused = refused;
  bool clear = evaluate_poses(s, poses, moves);
  s->groups = NULL;
  return clear;
}

static double pair_rounding_error(const ContactSystem* s, ContactPair* p, int thread) {
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  const HullInstance *a = pair.a, *b = pair.b;
  double reach = a->radius + b->radius + (b->half_space ? 0 : vec3_norm(vec3_sub(a->center, b->center)));
  return p->law->row->rounding(&pair, reach);
}

static void compute_rounding_error(void* context, int index, int thread) {
  ContactSystem* s = context;
  PairSleep* sleep = &s->sleep[s->terms[index]];
  if (!sleep->is_unchanged || isnan(sleep->rounding))
    sleep->rounding = pair_rounding_error(s, &s->pairs[s->terms[index]], thread);
}

void contact_compute_rounding_errors(ContactSystem* s) {
  parallel_for(s->threads, s->term_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, compute_rounding_error, s);
}

double contact_term_rounding_error(const ContactSystem* s, int index) {
  assert(index >= 0 && index < s->term_count);
  return s->sleep[s->terms[index]].rounding;
}

ContactTrial contact_candidate_trial(const ContactSystem* s, int candidate) {
  assert(candidate >= 0 && candidate < contact_candidate_count(s));
  ContactPair* p = contact_pair(s, candidate);
  const PairState *old = &p->state[s->current], *new = &p->state[1 - s->current];
  return (ContactTrial){.link_a = p->link_a,
                        .link_b = p->link_b,
                        .coupled = old->has_terms,
                        .feasible = is_feasible(new) && !is_too_near(p, old, new),
                        .change = energy_change(old, new)};
}

double contact_awake_energy_change(const ContactSystem* s, int index, int* link_a, int* link_b) {
  assert(s->phase == CONTACT_FEASIBLE && index >= 0 && index < s->awake_count);
  LinkPair links = s->list_links[s->awake[index]];
  *link_a = links.a;
  *link_b = links.b;
  return s->sleep[s->list[s->awake[index]]].change;
}

static void derive_pair(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = &s->pairs[s->underived[index]];
  PairState* state = &p->state[s->current];
  if (state->derived) return;
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  (void)law_derive(&pair); /* Newton's method uses the approximate Hessian of an energy without second derivative */
  state->derived = true;
}

void contact_derive(ContactSystem* s) {
  double start = timer_now();
  parallel_for(s->threads, s->underived_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, derive_pair, s);
  s->times.contact += timer_now() - start;
}
