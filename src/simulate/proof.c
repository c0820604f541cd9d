/* Proves that no hulls intersect between recorded states (docs/derivations/certificate.md, P1-P6). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/simulate.h"
#include "simulate/terms.h"

/* DETOUR_HALVINGS: largest number of times that a path is divided at a displaced midpoint. DISPLACEMENT_SWEEPS: largest
 * number of sweeps over the pairs that displace a midpoint. */
enum { DETOUR_HALVINGS = 5, DISPLACEMENT_SWEEPS = 30 };

struct Proof {
  Model model; /* copy of the caller's model without friction and impact parameters, which do not affect a proof */
  Model caller_model;     /* copy of the caller's model */
  bool has_earlier_state; /* true: the contact system stores the state before the last state */
  ModelPairLaw* laws;     /* contact laws of pairs in `model` (size: pair_law_count) */
  ContactSystem* contact; /* contact system of `model`; NULL if the model has no hulls */
  bool is_state_accepted; /* true: `q` is the accepted state of the contact system */
  double *q, *path_q;     /* q: the last state; path_q: workspace for a position on the path (size: nq) */
  double* end;            /* end position of a recorded move (size: nq) */
  double *delta,
      *displacement; /* delta: increments of the path; displacement: increments that displace a midpoint (size: nv) */
  Pose *poses, *end_poses; /* poses: poses of the links in a state; end_poses: poses of the links at the end of a
                              recorded move (size: links) */
  Screw* screws;           /* screws of the joints in a state (size: nv) */
  MotionBounds bounds;
  ProofPair* pairs; /* pairs that proof_pairs returns (size: capacity) */
  int pair_capacity;
};

/* Sets the parameters to 0 whose effect depends on earlier states, because a proof does not know these states. */
static void clear_history_parameters(ModelContact* contact) {
  contact->friction = contact->rolling = contact->spinning = 0;
  contact->rest_speed = 0;
}

Proof* proof_create(const Model* model, int threads) {
  Proof* p = MEMORY_NEW(Proof, 1);
  p->model = *model;
  p->laws = MEMORY_NEW(ModelPairLaw, model->pair_law_count);
  p->model.pair_laws = p->laws;
  clear_history_parameters(&p->model.contact);
  for (int k = 0; k < model->pair_law_count; k++) {
    p->laws[k] = model->pair_laws[k];
    clear_history_parameters(&p->laws[k].contact);
  }
  p->model.has_materials = false;
  p->caller_model = *model;
  p->q = MEMORY_NEW(double, model->coordinate_count);
  p->path_q = MEMORY_NEW(double, model->coordinate_count);
  p->end = MEMORY_NEW(double, model->coordinate_count);
  p->delta = MEMORY_NEW(double, model->dof_count);
  p->displacement = MEMORY_NEW(double, model->dof_count);
  p->poses = MEMORY_NEW(Pose, model->link_count);
  p->end_poses = MEMORY_NEW(Pose, model->link_count);
  p->screws = MEMORY_NEW(Screw, model->dof_count);
  p->bounds = (MotionBounds){MEMORY_NEW(MotionBound, model->link_count), MEMORY_NEW(JointBound, model->link_count)};
  if (model->hull_count > 0) p->contact = contact_create(&p->model, threads, model->simulation.tolerance);
  return p;
}

void proof_destroy(Proof* p) {
  if (!p) return;
  void* owned[] = {p->q,         p->path_q, p->end,         p->delta,        p->displacement, p->poses,
                   p->end_poses, p->screws, p->bounds.link, p->bounds.joint, p->pairs,        p->laws};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
  contact_destroy(p->contact);
  memory_free(p);
}

/* Sets d to the angles of the rotation R = Rx(d1) Ry(d2) Rz(d3) from `from` to `to`: R02 = sin d2, R12 = -sin d1 cos
 * d2, R01 = -cos d2 sin d3. Near d2 = 90 degrees only d1 + d3 is determined, and d3 is set to 0. */
static void rotation_increments(Quat from, Quat to, double* d) {
  Mat3 r = mat3_from_quat(quat_normalized(quat_mul(quat_conjugate(from), to)));
  double cosine = math_hypot(r.m[0][0], r.m[0][1]);
  bool locked = cosine < 1e-12;
  d[0] = locked ? math_atan2(r.m[2][1], r.m[1][1]) : math_atan2(-r.m[1][2], r.m[2][2]);
  d[1] = math_atan2(r.m[0][2], cosine);
  d[2] = locked ? 0 : math_atan2(-r.m[0][1], r.m[0][0]);
}

static void joint_straight_increments(const Joint* joint, const double* from, const double* to, double* d) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) d[k] = to[k] - from[k];
  if (!joint->quaternion) return;
  rotation_increments(quat_at(from + plain), quat_at(to + plain), d + plain);
}

static void compute_poses_on_path(void* context, double fraction, int link, int from, Pose* poses) {
  Proof* p = context;
  model_displaced_link_pose(&p->model, link, from, p->q, p->delta, fraction, p->path_q, poses);
}

void proof_straight_increments(const Model* m, const double* q, const double* to, double* delta) {
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->dof_count > 0)
      joint_straight_increments(&link->joint, q + link->coordinate_first, to + link->coordinate_first,
                                delta + link->dof_first);
  }
}

/* Computes the bounds on the motion along the path p->delta from the last state, and finds the pairs of hulls near this
 * path. */
static void prepare_path(Proof* p) {
  const Model* m = &p->model;
  model_poses(m, p->q, p->poses);
  model_screws(m, p->q, p->poses, p->screws);
  motion_bounds(m, p->q, p->poses, p->screws, p->delta, &p->bounds);
  contact_prepare(p->contact, &p->bounds);
}

static void set_report_links(const Proof* p, int candidate, ProofReport* report) {
  contact_candidate(p->contact, candidate, &report->link_a, &report->link_b);
}

/* Reports an infeasible pair of the trial state, preferably one that intersects. Keeps a failure that *report already
 * holds, such as the failure of the straight path. */
static void report_infeasible_state(Proof* p, ProofReport* report) {
  if (report->outcome != PROOF_DISJOINT) return;
  int count = contact_candidate_count(p->contact);
  for (int k = 0; k < count; k++) {
    if (contact_candidate_trial(p->contact, k).feasible) continue;
    report->outcome = contact_trial_gap(p->contact, k) > 0 ? PROOF_UNDECIDED : PROOF_INTERSECTING;
    report->fraction = 1;
    set_report_links(p, k, report);
    if (report->outcome == PROOF_INTERSECTING) return;
  }
}

static void report_infeasible_path(Proof* p, const ContactFailure* failure, ProofReport* report) {
  if (report->outcome != PROOF_DISJOINT) return;
  report->outcome = failure->intersects ? PROOF_INTERSECTING : PROOF_UNDECIDED;
  report->fraction = failure->alpha;
  set_report_links(p, failure->candidate, report);
}

static void set_state(Proof* p, const double* q) {
  memcpy(p->q, q, sizeof(double) * (size_t)p->model.coordinate_count);
}

static bool accept_first_state(Proof* p, const double* q) {
  model_poses(&p->model, q, p->poses);
  p->is_state_accepted = contact_reset(p->contact, p->poses);
  if (p->is_state_accepted) set_state(p, q);
  return p->is_state_accepted;
}

typedef enum { PATH_PROVED, PATH_OPEN, PATH_END_MEETS } PathResult;

/* Proves the path p->delta from the last state to q. If the proof succeeds, q becomes the last state. Otherwise sets
 * the reason in *report and keeps the last state. */
static PathResult prove_path_of_increments(Proof* p, const double* q, ProofReport* report) {
  prepare_path(p);
  model_poses(&p->model, q, p->poses);
  if (!contact_evaluate(p->contact, p->poses)) {
    report_infeasible_state(p, report);
    return PATH_END_MEETS;
  }
  ContactFailure failure;
  if (!contact_certify(p->contact, &p->bounds, compute_poses_on_path, p, &report->intervals, &failure)) {
    report_infeasible_path(p, &failure, report);
    return PATH_OPEN;
  }
  contact_accept(p->contact);
  set_state(p, q);
  return PATH_PROVED;
}

static PathResult prove_straight_path(Proof* p, const double* q, ProofReport* report) {
  proof_straight_increments(&p->model, p->q, q, p->delta);
  return prove_path_of_increments(p, q, report);
}

/* ---------------------------------------------------------------- paths through a displaced midpoint */

/* Adds the smallest increments that widen the gap of a pair by `length` [m] to p->displacement. They are J^T length /
 * (J J^T), with the derivatives J of the gap with respect to the increments. */
static void add_separating_increments(Proof* p, const ContactDirectionalGap* pair, double length) {
  double square = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int side = 0; side < 2; side++)
      for (int up = side ? pair->link_b : pair->link_a; up >= 0; up = p->model.links[up].parent)
        for (int k = p->model.links[up].dof_first; k < p->model.links[up].dof_first + p->model.links[up].dof_count;
             k++) {
          double slope = (side ? 1 : -1) * vec3_dot(pair->axis, screw_velocity(&p->screws[k], pair->farthest_point));
          if (pass == 0) square += slope * slope;
          if (pass == 1 && square > 0) p->displacement[k] += length * slope / square;
        }
}

/* Displaces q until all pairs that approach on the straight path keep at least half of their earlier gap, or
 * DISPLACEMENT_SWEEPS sweeps were made. */
static void displace_midpoint(Proof* p, double* q) {
  const Model* m = &p->model;
  for (int sweep = 0; sweep < DISPLACEMENT_SWEEPS; sweep++) {
    model_poses(m, q, p->poses);
    model_screws(m, q, p->poses, p->screws);
    (void)contact_evaluate(p->contact, p->poses);
    memset(p->displacement, 0, sizeof(double) * (size_t)m->dof_count);
    bool any = false;
    int count = contact_candidate_count(p->contact);
    for (int k = 0; k < count; k++) {
      ContactDirectionalGap pair = contact_directional_gap(p->contact, k);
      double lack = 0.5 * pair.before - pair.gap;
      if (contact_trial_gap(p->contact, k) >= 0.5 * pair.before)
        continue; /* another separating direction already shows a sufficient gap */
      add_separating_increments(p, &pair, lack);
      any = true;
    }
    if (!any) return;
    model_increment(m, q, p->displacement, 1.0, q);
  }
}

/* Proves a path from the last state to q: the straight path, or a path through a displaced midpoint, with at most
 * `halvings` divisions. Returns false, with the last state unchanged, if no proof is found. */
static bool prove_path(Proof* p, const double* q, int halvings, ProofReport* report) {
  assert(halvings >= 0 && halvings <= DETOUR_HALVINGS);
  PathResult result = prove_straight_path(p, q, report);
  if (result != PATH_OPEN || halvings == 0) return result == PATH_PROVED;
  size_t size = sizeof(double) * (size_t)p->model.coordinate_count;
  double *start = MEMORY_NEW(double, p->model.coordinate_count),
         *middle = MEMORY_NEW(double, p->model.coordinate_count);
  memcpy(start, p->q, size);
  model_increment(&p->model, p->q, p->delta, 0.5, middle);
  displace_midpoint(p, middle);
  bool arrived = accept_first_state(p, start) && prove_path(p, middle, halvings - 1, report) &&
                 prove_path(p, q, halvings - 1, report);
  if (!arrived) (void)accept_first_state(p, start);
  memory_free(start);
  memory_free(middle);
  return arrived;
}

static void prove_path_to(Proof* p, const double* q, int halvings, ProofReport* report) {
  bool found = prove_path(p, q, halvings, report);
  if (!found) (void)accept_first_state(p, q);
  report->detour = found && report->outcome != PROOF_DISJOINT;
  if (found) report->outcome = PROOF_DISJOINT;
}

static void report_smallest_gap(Proof* p, ProofReport* report) {
  int count = contact_candidate_count(p->contact);
  for (int k = 0; k < count; k++) {
    double gap = contact_gap(p->contact, k);
    if (gap >= report->gap) continue;
    report->gap = gap;
    contact_candidate(p->contact, k, &report->gap_a, &report->gap_b);
  }
}

/* ---------------------------------------------------------------- proof along recorded moves */

static double pose_difference(Pose a, Pose b) {
  double worst = vec3_norm(vec3_sub(a.t, b.t));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(a.r.m[i][j] - b.r.m[i][j]));
  return worst;
}

static double end_pose_error(Proof* p, const double* q) {
  double worst = 0;
  model_increment(&p->model, p->q, p->delta, 1.0, p->path_q);
  model_poses(&p->model, p->path_q, p->end_poses);
  model_poses(&p->model, q, p->poses);
  for (int i = 0; i < p->model.link_count; i++) {
    double difference = pose_difference(p->end_poses[i], p->poses[i]);
    if (!(difference <= worst)) worst = difference; /* also sets `worst` if the difference is NaN */
  }
  return worst;
}

/* Proves the path along recorded moves. The last move is extended so that it ends exactly in q. The difference between
 * its recorded end and q is reported as `miss`. */
static void prove_moves(Proof* p, const double* moves, int count, const double* q, ProofReport* report) {
  const Model* m = &p->model;
  bool arrived = true;
  for (int k = 0; k < count && arrived; k++) {
    memcpy(p->delta, moves + (size_t)k * (size_t)m->dof_count, sizeof(double) * (size_t)m->dof_count);
    model_increment(m, p->q, p->delta, 1.0, p->end);
    if (k == count - 1) report->miss = end_pose_error(p, q);
    arrived = prove_path_of_increments(p, k == count - 1 ? q : p->end, report) == PATH_PROVED;
    if (!arrived) report->fraction = (k + report->fraction) / count;
  }
  if (!arrived) (void)accept_first_state(p, q);
}

/* ---------------------------------------------------------------- proof up to the next state */

typedef enum { BY_MOVES, PROVE_STRAIGHT_ONLY, PROVE_WITH_DETOURS } ProofMode;

static ProofReport advance(Proof* p, ProofMode mode, const double* moves, int count, const double* q) {
  ProofReport report = {.outcome = PROOF_DISJOINT, .gap = INFINITY, .gap_a = -1, .gap_b = -1};
  if (!p->contact) return report;
  p->has_earlier_state = p->is_state_accepted;
  if (p->is_state_accepted) contact_save(p->contact, CONTACT_STEP_START);
  if (!p->is_state_accepted) {
    if (!accept_first_state(p, q)) report_infeasible_state(p, &report);
  } else if (mode == BY_MOVES) {
    prove_moves(p, moves, count, q, &report);
  } else {
    prove_path_to(p, q, mode == PROVE_STRAIGHT_ONLY ? 0 : DETOUR_HALVINGS, &report);
  }
  if (p->is_state_accepted) report_smallest_gap(p, &report);
  return report;
}

ProofReport proof_next(Proof* p, const double* q) { return advance(p, PROVE_WITH_DETOURS, NULL, 0, q); }

ProofReport proof_next_straight(Proof* p, const double* q) { return advance(p, PROVE_STRAIGHT_ONLY, NULL, 0, q); }

ProofReport proof_next_along(Proof* p, const double* moves, int count, const double* q) {
  assert(count >= 0 && (moves || count == 0));
  return advance(p, BY_MOVES, moves, count, q);
}

/* ---------------------------------------------------------------- neighbouring links */

static int compare_pairs(const void* x, const void* y) {
  const ProofPair *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return a->b < b->b ? -1 : a->b > b->b;
}

static ProofPair proof_pair_of_candidate(Proof* p, int candidate) {
  Vec3 force;
  ProofPair pair = {.gap = contact_gap(p->contact, candidate)};
  pair.active = contact_force(p->contact, candidate, &force);
  contact_candidate(p->contact, candidate, &pair.a, &pair.b);
  if (p->has_earlier_state) {
    PairMaterial material = model_pair_material(&p->caller_model, pair.a, pair.b);
    double factor = contact_impact_factor(p->contact, candidate, p->caller_model.contact.rest_speed,
                                          material.value[MATERIAL_RESTITUTION], p->model.simulation.dt);
    force = vec3_scale(force, factor);
  }
  pair.force = force;
  pair.load = vec3_norm(force);
  if (pair.a < pair.b) return pair;
  return (ProofPair){pair.b, pair.a, pair.gap, pair.active, vec3_scale(force, -1.0), pair.load};
}

static int merge_pairs(ProofPair* list, int count) {
  int kept = 0;
  for (int k = 0; k < count; k++) {
    ProofPair* last = kept > 0 ? &list[kept - 1] : NULL;
    if (!last || compare_pairs(last, &list[k]) != 0) {
      list[kept++] = list[k];
      continue;
    }
    last->gap = fmin(last->gap, list[k].gap);
    last->active = last->active || list[k].active;
    last->force = vec3_add(last->force, list[k].force);
    last->load += list[k].load;
  }
  return kept;
}

const ProofPair* proof_pairs(Proof* p, int* count) {
  *count = 0;
  if (!p->contact || !p->is_state_accepted) return NULL;
  int candidates = contact_candidate_count(p->contact);
  if (candidates > p->pair_capacity) {
    memory_free(p->pairs);
    p->pair_capacity = 2 * candidates;
    p->pairs = MEMORY_NEW(ProofPair, p->pair_capacity);
  }
  for (int k = 0; k < candidates; k++) p->pairs[k] = proof_pair_of_candidate(p, k);
  if (candidates > 1) qsort(p->pairs, (size_t)candidates, sizeof(ProofPair), compare_pairs);
  *count = merge_pairs(p->pairs, candidates);
  for (int k = 0; k < *count && contact_lists_by_range(&p->model); k++)
    p->pairs[k].active &= p->pairs[k].gap < contact_listed_range(&p->model, p->pairs[k].a, p->pairs[k].b);
  return p->pairs;
}

ProofReport proof_restart(Proof* p, const double* q) {
  p->is_state_accepted = false;
  return proof_next(p, q);
}
