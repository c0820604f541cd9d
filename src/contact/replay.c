/* The pairs of a recorded step once more: their terms, and reverse derivatives (docs/derivations/adjoint.md).
 * A run is gone through backwards, so the planes at t of one step are those at t + dt of the next one looked at. */
#include <string.h>

#include "contact/adjoint.h"
#include "contact/system.h"

/* MOST_SHARES of a vertex: of contact, of its potential at t + dt and three times at t, of friction. */
enum { PARALLEL_THRESHOLD = 16, PARALLEL_GRAIN = 4, MOST_SHARES = 6 };

/* A recorded pair where it stood at one moment. */
typedef struct {
  PairBody body[2];
  PlaneSolution solution; /* of an active record */
  bool found;
} ReplayPlane;

typedef struct {
  const ContactRecord* records; /* whose planes these are; NULL: none */
  int count, capacity;
  ReplayPlane* planes;
} ReplaySide;

typedef struct {
  const ContactRecord* record;
  int link[2];
  const ReplayPlane* next;
  const ReplayPlane* now; /* NULL: not in contact at t */
  int before;             /* index of its record at t */
  FrictionLag lag;
  PairDerivatives derivatives;
  PlaneResponse response;
  PairShares shares;
  bool sound;
} ReplayPair;

struct ContactReplay {
  const Model* model;
  int threads;
  FrictionParameters friction;
  ImpactParameters impact;
  PlaneScratch* scratch; /* one a thread */
  ActiveVertex** active; /* one a thread */
  ReplaySide side[2];    /* planes at t and at t + dt */
  int next;              /* which of them is at t + dt */
  const Pose *pose_now, *pose_next;
  ReplayPair* pairs;
  int count, capacity;
  FrictionVertex* lag_vertices;
  int lag_capacity;
  VertexShare* shares;
  int share_capacity;
  double* carry[2]; /* derivatives by y of the pairs at t, and at t + dt from the step after (records) */
  int carry_capacity[2];
  const ContactField* field; /* during contact_replay_adjoint */
};

/* ---------------------------------------------------------------- creation */

ContactReplay* contact_replay_create(const Model* model, int threads) {
  ContactReplay* r = MEMORY_NEW(ContactReplay, 1);
  r->model = model;
  r->threads = threads < 1 ? 1 : threads;
  r->friction = (FrictionParameters){model->contact.friction, model->contact.smoothing, model->simulation.dt, 0, false};
  r->impact = (ImpactParameters){model->contact.support, model->contact.rest_speed, model->simulation.dt};
  r->scratch = contact_scratch_create(model, r->threads);
  int largest = 1;
  for (int i = 0; i < model->hull_count; i++)
    if (model->hulls[i].points.count > largest) largest = model->hulls[i].points.count;
  r->active = MEMORY_NEW(ActiveVertex*, r->threads);
  for (int t = 0; t < r->threads; t++) r->active[t] = MEMORY_NEW(ActiveVertex, largest);
  return r;
}

void contact_replay_destroy(ContactReplay* r) {
  if (!r) return;
  for (int t = 0; t < r->threads; t++) memory_free(r->active[t]);
  memory_free(r->active);
  contact_scratch_destroy(r->scratch, r->threads);
  for (int k = 0; k < 2; k++) memory_free(r->side[k].planes);
  for (int k = 0; k < 2; k++) memory_free(r->carry[k]);
  memory_free(r->pairs);
  memory_free(r->lag_vertices);
  memory_free(r->shares);
  memory_free(r);
}

void contact_replay_set_dt(ContactReplay* r, double dt) { r->friction.dt = r->impact.dt = dt; }

/* Room for `count` items; the content is not kept. */
static void* room_for(void* old, int* capacity, int count, size_t size) {
  if (count <= *capacity) return old;
  memory_free(old);
  *capacity = count + count / 2 + 16;
  return memory_alloc(size * (size_t)*capacity);
}

/* ---------------------------------------------------------------- planes of one moment */

typedef struct {
  ContactReplay* replay;
  ReplaySide* side;
  const Pose* pose;
} PlaneTask;

static PairBody body_at(const Model* model, int hull, const Pose* poses) {
  int link = model->hulls[hull].link;
  return (PairBody){contact_hull_at(&model->hulls[hull], &poses[link]),
                    pose_apply(poses[link], model->links[link].center)};
}

static void solve_plane(void* context, int index, int thread) {
  PlaneTask* t = context;
  const ContactRecord* record = &t->side->records[index];
  ReplayPlane* plane = &t->side->planes[index];
  const Model* model = t->replay->model;
  plane->body[0] = body_at(model, record->hull_a, t->pose);
  plane->body[1] = body_at(model, record->hull_b, t->pose);
  plane->found = true;
  if (!record->active) return;
  Plane start = {record->origin, record->normal, record->offset};
  PlaneOutcome outcome = plane_solve(&plane->body[0].hull, &plane->body[1].hull, model->contact.support, start,
                                     &t->replay->scratch[thread], &plane->solution);
  plane->found = outcome == PLANE_ACTIVE;
}

static void load_planes(ContactReplay* r, ReplaySide* side, const ContactMoment* moment) {
  side->planes = room_for(side->planes, &side->capacity, moment->count, sizeof(ReplayPlane));
  side->records = moment->records;
  side->count = moment->count;
  PlaneTask task = {r, side, moment->pose};
  parallel_for(r->threads, moment->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, solve_plane, &task);
}

/* ---------------------------------------------------------------- pairs of the step */

static uint64_t record_key(const ContactRecord* record) {
  int a = record->hull_a, b = record->hull_b;
  return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}

/* Both lists are sorted by key. */
static void match_pairs(ContactReplay* r, const ReplaySide* now, const ReplaySide* next) {
  r->pairs = room_for(r->pairs, &r->capacity, next->count, sizeof(ReplayPair));
  r->count = next->count;
  for (int k = 0, before = 0; k < next->count; k++) {
    ReplayPair* p = &r->pairs[k];
    const ContactRecord* record = &next->records[k];
    *p = (ReplayPair){.record = record, .next = &next->planes[k]};
    p->link[0] = r->model->hulls[record->hull_a].link;
    p->link[1] = r->model->hulls[record->hull_b].link;
    while (before < now->count && record_key(&now->records[before]) < record_key(record)) before++;
    bool known = before < now->count && record_key(&now->records[before]) == record_key(record);
    p->before = before;
    if (known && now->records[before].active) p->now = &now->planes[before];
  }
}

static int hull_points(const ContactReplay* r, int hull) { return r->model->hulls[hull].points.count; }

static void lend_vertices(ContactReplay* r) {
  int needed = 0;
  for (int k = 0; k < r->count; k++)
    needed += hull_points(r, r->pairs[k].record->hull_a) + hull_points(r, r->pairs[k].record->hull_b);
  r->lag_vertices = room_for(r->lag_vertices, &r->lag_capacity, needed, sizeof(FrictionVertex));
  r->shares = room_for(r->shares, &r->share_capacity, MOST_SHARES * needed, sizeof(VertexShare));
  int first = 0;
  for (int k = 0; k < r->count; k++) {
    ReplayPair* p = &r->pairs[k];
    int a = hull_points(r, p->record->hull_a), b = hull_points(r, p->record->hull_b);
    p->lag.vertices = r->lag_vertices + first;
    p->shares.share[0] = r->shares + MOST_SHARES * (size_t)first;
    p->shares.share[1] = p->shares.share[0] + MOST_SHARES * (size_t)a;
    first += a + b;
  }
}

static void scale_terms(PairDerivatives* d, double factor) {
  for (int k = 0; k < 2; k++) {
    d->force[k] = vec3_scale(d->force[k], factor);
    d->moment[k] = mat3_scale(d->moment[k], factor);
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) d->hessian[i][j] *= factor;
}

/* In proportion to the force in effect at t. */
static FrictionParameters friction_of(const ContactReplay* r, const ReplayPair* p) {
  FrictionParameters parameters = r->friction;
  parameters.coefficient *= p->record->load.factor;
  return parameters;
}

static void evaluate_pair(void* context, int index, int thread) {
  (void)thread;
  ContactReplay* r = context;
  ReplayPair* p = &r->pairs[index];
  const PairBody* next = p->next->body;
  PairDerivatives* d = &p->derivatives;
  p->sound = p->next->found && (p->now ? p->now->found : !p->record->rubbing);
  double support = r->model->contact.support;
  memset(d, 0, sizeof(*d));
  memset(&p->response, 0, sizeof(p->response));
  if (!p->sound) return;
  if (p->record->active)
    plane_derivatives(&p->next->solution, next[1].hull.half_space, next[0].reference, next[1].reference, d,
                      &p->response);
  if (p->record->active) {
    double before = p->now ? impact_compression(support, p->now->solution.energy) : 0;
    Impact impact = impact_eval(&r->impact, p->next->solution.energy, before);
    impact_scale(&impact, next[1].hull.half_space, d);
  }
  if (p->record->rubbing) {
    double energy;
    FrictionParameters parameters = friction_of(r, p);
    friction_lag(&p->now->body[0].hull, &p->now->body[1].hull, support, &p->now->solution.plane, p->lag.vertices,
                 &p->lag);
    memcpy(p->lag.slip, p->record->slip, sizeof(p->lag.slip));
    p->sound = friction_evaluate(&p->lag, &parameters, &next[0].hull.pose, &next[1].hull.pose, next[0].reference,
                                 next[1].reference, d, &energy) >= 0;
  }
  scale_terms(d, r->model->contact.stiffness);
}

void contact_replay_begin(ContactReplay* r) {
  r->side[0].records = r->side[1].records = NULL;
  r->pose_now = NULL;
}

/* What the step after this one has handed to the pairs' y at t + dt becomes that at its own t. */
static void shift_carry(ContactReplay* r, bool follows, int now, int next) {
  double* other = r->carry[0];
  int capacity = r->carry_capacity[0];
  r->carry[0] = r->carry[1];
  r->carry_capacity[0] = r->carry_capacity[1];
  r->carry[1] = other;
  r->carry_capacity[1] = capacity;
  r->carry[0] = room_for(r->carry[0], &r->carry_capacity[0], now, sizeof(double));
  if (!follows) r->carry[1] = room_for(r->carry[1], &r->carry_capacity[1], next, sizeof(double));
  for (int k = 0; k < now; k++) r->carry[0][k] = 0;
  for (int k = 0; k < next && !follows; k++) r->carry[1][k] = 0;
}

bool contact_replay_load(ContactReplay* r, const ContactMoment* now, const ContactMoment* next) {
  bool follows = r->side[1 - r->next].records == next->records && next->records && r->pose_now == next->pose;
  shift_carry(r, follows, now->count, next->count);
  if (follows)
    r->next = 1 - r->next;
  else
    load_planes(r, &r->side[r->next], next);
  load_planes(r, &r->side[1 - r->next], now);
  r->pose_now = now->pose;
  r->pose_next = next->pose;
  match_pairs(r, &r->side[1 - r->next], &r->side[r->next]);
  lend_vertices(r);
  parallel_for(r->threads, r->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_pair, r);
  bool sound = true;
  for (int k = 0; k < r->count; k++) sound = sound && r->pairs[k].sound;
  return sound;
}

static int replay_count(const void* holder) { return ((const ContactReplay*)holder)->count; }

static ContactTerms replay_term(const void* holder, int index) {
  const ReplayPair* p = &((const ContactReplay*)holder)->pairs[index];
  const PairDerivatives* d = &p->derivatives;
  return (ContactTerms){p->link[0], p->link[1], d->force, d->moment, d->hessian};
}

ContactTermList contact_replay_terms(const ContactReplay* r) { return (ContactTermList){r, replay_count, replay_term}; }

/* ---------------------------------------------------------------- reverse */

/* The force on a link is minus the derivative by its displacement: a field of displacements adds to the twists. A
 * half-space has no part of its own in the terms: the force on it is minus that on the body. */
static void pair_field(const ContactReplay* r, int index, const ContactField* f, double twist[2][6]) {
  const ReplayPair* p = &r->pairs[index];
  memset(twist, 0, 2 * sizeof(double[6]));
  for (int side = 0; side < 2; side++) {
    if (f->twist) memcpy(twist[side], f->twist[p->link[side]], sizeof(double[6]));
    if (!f->force) continue;
    Vec3 d = f->force[p->link[side]];
    twist[side][3] -= d.x;
    twist[side][4] -= d.y;
    twist[side][5] -= d.z;
  }
  if (f->pair) {
    twist[0][3] -= f->pair[index].x;
    twist[0][4] -= f->pair[index].y;
    twist[0][5] -= f->pair[index].z;
  }
  if (!p->next->body[1].hull.half_space) return;
  for (int i = 0; i < 3; i++) {
    twist[0][3 + i] -= twist[1][3 + i];
    twist[1][3 + i] = 0;
  }
}

static void reverse_pair(void* context, int index, int thread) {
  ContactReplay* r = context;
  ReplayPair* p = &r->pairs[index];
  double twist[2][6], support = r->model->contact.support;
  PairShares* s = &p->shares;
  s->count[0] = s->count[1] = 0;
  s->value = s->support = s->friction = s->smoothing = s->rest_speed = s->carry = 0;
  s->ground_now = s->ground_next = (GroundShare){{0, 0, 0}, {0, 0, 0}};
  pair_field(r, index, r->field, twist);
  ActiveVertex* vertices = r->active[thread];
  ImpactMoment next = {p->next->body, &p->next->solution}, now = {NULL, NULL};
  if (p->now) now = (ImpactMoment){p->now->body, &p->now->solution};
  if (p->record->active) {
    plane_adjoint(p->next->body, support, &p->next->solution, &p->response, twist, vertices, s);
    impact_adjoint(&r->impact, &now, &next, vertices, s);
  }
  if (p->record->rubbing) {
    FrictionParameters parameters = friction_of(r, p);
    friction_adjoint(&p->lag, &parameters, support, now.body, p->next->body, now.solution, twist, s);
    impact_load_adjoint(&p->record->load, r->friction.coefficient, &r->impact, &now, vertices, s);
  }
  impact_carry_adjoint(r->carry[1][index], &r->impact, &now, vertices, s);
}

static Vec3 local_point(const ModelHull* hull, int m) {
  return vec3(hull->points.x[m], hull->points.y[m], hull->points.z[m]);
}

/* Shares of the vertices of one side to poses at t and to the design. */
static void gather_side(const ContactReplay* r, const ReplayPair* p, int side, double (*pose_now)[3][4],
                        ModelGradient* gradient) {
  const ModelHull* hull = &r->model->hulls[side == 0 ? p->record->hull_a : p->record->hull_b];
  const PairShares* s = &p->shares;
  double kappa = r->model->contact.stiffness;
  Mat3 turn_now = r->pose_now[hull->link].r, turn_next = r->pose_next[hull->link].r;
  double(*pose)[4] = pose_now[hull->link];
  for (int k = 0; k < s->count[side]; k++) {
    const VertexShare* v = &s->share[side][k];
    Vec3 now = vec3_scale(v->now, kappa), x = local_point(hull, v->vertex);
    double row[3] = {now.x, now.y, now.z};
    for (int i = 0; i < 3; i++) {
      pose[i][0] += row[i] * x.x;
      pose[i][1] += row[i] * x.y;
      pose[i][2] += row[i] * x.z;
      pose[i][3] += row[i];
    }
    Vec3 own = vec3_add(mat3_tmul_vec(turn_now, now), mat3_tmul_vec(turn_next, vec3_scale(v->next, kappa)));
    Vec3* out = &gradient->vertices[hull->vertex_first + v->vertex];
    *out = vec3_add(*out, own);
  }
}

/* Entry by entry: a turning by w changes R by [w]x R. */
static void add_ground(const GroundShare* share, double kappa, Mat3 r, double (*pose)[4]) {
  Mat3 turn = mat3_scale(mat3_mul(mat3_cross(share->torque), r), 0.5 * kappa);
  double force[3] = {share->force.x, share->force.y, share->force.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) pose[i][j] += turn.m[i][j];
    pose[i][3] += kappa * force[i];
  }
}

void contact_replay_adjoint(ContactReplay* r, const ContactField* field, double (*pose_now)[3][4],
                            double (*ground_next)[3][4], ModelGradient* gradient) {
  r->field = field;
  parallel_for(r->threads, r->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, reverse_pair, r);
  r->field = NULL;
  double kappa = r->model->contact.stiffness;
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    for (int side = 0; side < 2; side++) gather_side(r, p, side, pose_now, gradient);
    if (p->next->body[1].hull.half_space) {
      add_ground(&p->shares.ground_now, kappa, r->pose_now[p->link[1]].r, pose_now[p->link[1]]);
      add_ground(&p->shares.ground_next, kappa, r->pose_next[p->link[1]].r, ground_next[p->link[1]]);
    }
    gradient->contact[CONTACT_SUPPORT] += kappa * p->shares.support;
    gradient->contact[CONTACT_STIFFNESS] += p->shares.value;
    gradient->contact[CONTACT_FRICTION] += kappa * p->shares.friction;
    gradient->contact[CONTACT_SMOOTHING] += kappa * p->shares.smoothing;
    gradient->contact[CONTACT_REST_SPEED] += kappa * p->shares.rest_speed;
    if (p->record->rubbing) r->carry[0][p->before] = p->shares.carry;
  }
}

void contact_replay_product(const ContactReplay* r, const ContactField* field, double (*wrench)[6]) {
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    double twist[2][6];
    pair_field(r, k, field, twist);
    for (int i = 0; i < 12; i++) {
      double sum = 0;
      for (int j = 0; j < 12; j++) sum += p->derivatives.hessian[i][j] * twist[j / 6][j % 6];
      wrench[p->link[i / 6]][i % 6] += sum;
    }
  }
}

void contact_replay_forces(const ContactReplay* r, Vec3* force) {
  for (int i = 0; i < r->model->link_count; i++) force[i] = vec3(0, 0, 0);
  for (int k = 0; k < r->count; k++)
    for (int side = 0; side < 2; side++) {
      Vec3* f = &force[r->pairs[k].link[side]];
      *f = vec3_sub(*f, r->pairs[k].derivatives.force[side]);
    }
}
