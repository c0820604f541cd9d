/* Proof that nothing meets anything between recorded states (docs/derivations/certificate.md, P1-P5). */
#include <string.h>

#include "simulate/simulate.h"
#include "simulate/terms.h"

/* How often a way may be halved by places beside it, and how often such a place is moved. */
enum { DETOUR_HALVINGS = 5, PUSH_SWEEPS = 30 };

struct Proof {
  Model model;            /* of the caller but for friction, which moves nothing here */
  ContactSystem* contact; /* NULL: no hulls */
  bool entered;           /* `q` is in the contact system as its accepted state */
  double *q, *there;      /* the last state, and a place on the way  (nq) */
  double *delta, *push;   /* increments of the way, and beside it  (nv) */
  Pose* poses;            /* (links) */
  Screw* screws;          /* (nv) */
  MotionBounds bounds;
};

Proof* proof_create(const Model* model, int threads) {
  Proof* p = MEMORY_NEW(Proof, 1);
  p->model = *model;
  p->model.contact.friction = 0;
  p->q = MEMORY_NEW(double, model->coordinate_count);
  p->there = MEMORY_NEW(double, model->coordinate_count);
  p->delta = MEMORY_NEW(double, model->dof_count);
  p->push = MEMORY_NEW(double, model->dof_count);
  p->poses = MEMORY_NEW(Pose, model->link_count);
  p->screws = MEMORY_NEW(Screw, model->dof_count);
  p->bounds = (MotionBounds){MEMORY_NEW(MotionBound, model->link_count), MEMORY_NEW(JointBound, model->link_count)};
  if (model->hull_count > 0) p->contact = contact_create(&p->model, threads, model->simulation.tolerance);
  return p;
}

void proof_destroy(Proof* p) {
  if (!p) return;
  void* owned[] = {p->q, p->there, p->delta, p->push, p->poses, p->screws, p->bounds.link, p->bounds.joint};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
  contact_destroy(p->contact);
  memory_free(p);
}

/* Angles d of R = Rx(d1) Ry(d2) Rz(d3): R02 = sin d2, R12 = -sin d1 cos d2, R01 = -cos d2 sin d3. Near d2 = 90 degrees
 * only d1 + d3 is known; all of it is given to d1. */
static void rotation_increments(Quat from, Quat to, double* d) {
  Mat3 r = mat3_from_quat(quat_normalized(quat_mul(quat_conjugate(from), to)));
  double cosine = math_hypot(r.m[0][0], r.m[0][1]);
  bool locked = cosine < 1e-12;
  d[0] = locked ? math_atan2(r.m[2][1], r.m[1][1]) : math_atan2(-r.m[1][2], r.m[2][2]);
  d[1] = math_atan2(r.m[0][2], cosine);
  d[2] = locked ? 0 : math_atan2(-r.m[0][1], r.m[0][0]);
}

static void way_of_link(const ModelLink* link, const double* from, const double* to, double* d) {
  int plain = link->rotation == ROTATION_BALL ? link->slide_count : link->dof_count;
  for (int k = 0; k < plain; k++) d[k] = to[k] - from[k];
  if (link->rotation != ROTATION_BALL) return;
  const double *a = from + plain, *b = to + plain;
  rotation_increments((Quat){a[0], a[1], a[2], a[3]}, (Quat){b[0], b[1], b[2], b[3]}, d + plain);
}

static void poses_on_way(void* context, double fraction, Pose* poses) {
  Proof* p = context;
  model_increment(&p->model, p->q, p->delta, fraction, p->there);
  model_poses(&p->model, p->there, poses);
}

/* Bounds on the way from q to `to`, and everything near it. */
static void prepare_way(Proof* p, const double* to) {
  const Model* m = &p->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->dof_count > 0)
      way_of_link(link, p->q + link->coordinate_first, to + link->coordinate_first, p->delta + link->dof_first);
  }
  model_poses(m, p->q, p->poses);
  model_screws(m, p->q, p->poses, p->screws);
  motion_bounds(m, p->q, p->poses, p->screws, p->delta, &p->bounds);
  contact_prepare(p->contact, &p->bounds);
}

static void name_pair(const Proof* p, int candidate, ProofReport* report) {
  contact_candidate(p->contact, candidate, &report->link_a, &report->link_b);
}

/* Who stands in the way in the trial state. The first blame stands: it is of the straight way. */
static void blame_state(Proof* p, ProofReport* report) {
  if (report->outcome != PROOF_APART) return;
  int count = contact_candidate_count(p->contact);
  for (int k = 0; k < count; k++) {
    if (contact_trial(p->contact, k).feasible) continue;
    report->outcome = contact_trial_gap(p->contact, k) > 0 ? PROOF_OPEN : PROOF_MEET;
    report->fraction = 1;
    name_pair(p, k, report);
    if (report->outcome == PROOF_MEET) return;
  }
}

static void blame_way(Proof* p, const ContactFailure* failure, ProofReport* report) {
  if (report->outcome != PROOF_APART) return;
  report->outcome = failure->meet ? PROOF_MEET : PROOF_OPEN;
  report->fraction = failure->alpha;
  name_pair(p, failure->candidate, report);
}

static void take_state(Proof* p, const double* q) {
  memcpy(p->q, q, sizeof(double) * (size_t)p->model.coordinate_count);
}

static bool enter(Proof* p, const double* q) {
  model_poses(&p->model, q, p->poses);
  p->entered = contact_reset(p->contact, p->poses);
  if (p->entered) take_state(p, q);
  return p->entered;
}

typedef enum { WAY_PROVED, WAY_OPEN, WAY_END_MEETS } Way;

/* Straight from the last state to q. Unless it is proved, report says why not and the last state stays the last. */
static Way go_straight(Proof* p, const double* q, ProofReport* report) {
  prepare_way(p, q);
  model_poses(&p->model, q, p->poses);
  if (!contact_evaluate(p->contact, p->poses)) {
    blame_state(p, report);
    return WAY_END_MEETS;
  }
  ContactFailure failure;
  if (!contact_certify(p->contact, &p->bounds, poses_on_way, p, &report->intervals, &failure)) {
    blame_way(p, &failure, report);
    return WAY_OPEN;
  }
  contact_accept(p->contact);
  take_state(p, q);
  return WAY_PROVED;
}

/* ---------------------------------------------------------------- beside the straight way */

/* Adds the shortest increments that widen a gap by `length`: J^T length / (J J^T), J its derivative. */
static void add_push(Proof* p, const ContactSqueeze* pair, double length) {
  double square = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int side = 0; side < 2; side++)
      for (int up = side ? pair->link_b : pair->link_a; up >= 0; up = p->model.links[up].parent)
        for (int k = p->model.links[up].dof_first; k < p->model.links[up].dof_first + p->model.links[up].dof_count;
             k++) {
          double slope = (side ? 1 : -1) * vec3_dot(pair->axis, screw_velocity(&p->screws[k], pair->at));
          if (pass == 0) square += slope * slope;
          if (pass == 1 && square > 0) p->push[k] += length * slope / square;
        }
}

/* Move q so that what the straight way squeezes together keeps half of the distance that it had. */
static void push_apart(Proof* p, double* q) {
  const Model* m = &p->model;
  for (int sweep = 0; sweep < PUSH_SWEEPS; sweep++) {
    model_poses(m, q, p->poses);
    model_screws(m, q, p->poses, p->screws);
    (void)contact_evaluate(p->contact, p->poses);
    memset(p->push, 0, sizeof(double) * (size_t)m->dof_count);
    bool any = false;
    int count = contact_candidate_count(p->contact);
    for (int k = 0; k < count; k++) {
      ContactSqueeze pair = contact_squeeze(p->contact, k);
      double lack = 0.5 * pair.before - pair.gap;
      if (contact_trial_gap(p->contact, k) >= 0.5 * pair.before) continue; /* apart along another direction */
      add_push(p, &pair, lack);
      any = true;
    }
    if (!any) return;
    model_increment(m, q, p->push, 1.0, q);
  }
}

/* From the last state to q: straight, else by a place beside the middle of the way. */
static bool go(Proof* p, const double* q, int halvings, ProofReport* report) {
  Way way = go_straight(p, q, report);
  if (way != WAY_OPEN || halvings == 0) return way == WAY_PROVED;
  size_t size = sizeof(double) * (size_t)p->model.coordinate_count;
  double *start = MEMORY_NEW(double, p->model.coordinate_count),
         *middle = MEMORY_NEW(double, p->model.coordinate_count);
  memcpy(start, p->q, size);
  model_increment(&p->model, p->q, p->delta, 0.5, middle);
  push_apart(p, middle);
  bool arrived = enter(p, start) && go(p, middle, halvings - 1, report) && go(p, q, halvings - 1, report);
  if (!arrived) (void)enter(p, start);
  memory_free(start);
  memory_free(middle);
  return arrived;
}

static void go_there(Proof* p, const double* q, ProofReport* report) {
  bool found = go(p, q, DETOUR_HALVINGS, report);
  if (!found) (void)enter(p, q);
  report->detour = found && report->outcome != PROOF_APART;
  if (found) report->outcome = PROOF_APART;
}

static void measure_gap(Proof* p, ProofReport* report) {
  int count = contact_candidate_count(p->contact);
  for (int k = 0; k < count; k++) {
    double gap = contact_gap(p->contact, k);
    if (gap >= report->gap) continue;
    report->gap = gap;
    contact_candidate(p->contact, k, &report->gap_a, &report->gap_b);
  }
}

ProofReport proof_next(Proof* p, const double* q) {
  ProofReport report = {.outcome = PROOF_APART, .gap = INFINITY, .gap_a = -1, .gap_b = -1};
  if (!p->contact) return report;
  if (p->entered)
    go_there(p, q, &report);
  else if (!enter(p, q))
    blame_state(p, &report);
  if (p->entered) measure_gap(p, &report);
  return report;
}
