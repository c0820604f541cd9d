#include "support/pair_steps.h"

#include <string.h>

#include "support/compare.h"

#define SIZE 0.3
#define SUPPORT 0.02

/* ---------------------------------------------------------------- creation */

static void set_parameters(PairStep* s, Random* random) {
  s->support = SUPPORT;
  s->size = SIZE;
  s->friction = (FrictionParameters){0.4, 2.5e-3, 0.01, 0, false}; /* sqrt(eps) dt is 1/40 of the support */
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < 6; i++) s->twist[side][i] = random_normal(random) * (i < 3 ? 1 / SIZE : 1);
    if (side == 1 && s->half_space) memset(s->twist[side], 0, sizeof s->twist[side]);
    s->reference[side] = vec3_add_scaled(s->next[side].t, 0.1, random_direction(random));
  }
}

/* The normal of the plane at t leads; poses at t are the pair's own. */
static void set_motion(PairStep* s, Vec3 normal, double gap, const PairMotion* m, Random* random) {
  double creep = sqrt(2.5e-3) * 0.01; /* what sqrt(smoothing) makes of a time step [m] */
  Vec3 along = vec3_normalized(vec3_cross(normal, random_direction(random)));
  double a[6] = {0}, b[6] = {0};
  Vec3 spin = vec3_scale(normal, m->spin * creep / SIZE), move = vec3_scale(along, m->speed * creep);
  if (m->both) {
    Vec3 tumble = vec3_scale(random_direction(random), 0.1 * gap * SUPPORT / SIZE);
    for (int i = 0; i < 6; i++) b[i] = 0.1 * gap * SUPPORT * random_normal(random) / (i < 3 ? SIZE : 1);
    spin = vec3_add(spin, tumble);
  }
  move = vec3_add_scaled(move, m->approach * gap * SUPPORT, normal);
  a[0] = spin.x, a[1] = spin.y, a[2] = spin.z, a[3] = move.x, a[4] = move.y, a[5] = move.z;
  if (s->half_space && !m->ground) memset(b, 0, sizeof b);
  s->next[0] = pose_twisted(s->now[0], s->now[0].t, a);
  s->next[1] = pose_twisted(s->now[1], s->half_space ? s->now[0].t : s->now[1].t, b);
}

static void take_body(PairStep* s, int side, const Body* body) {
  s->count[side] = body->hull.half_space ? 0 : body->hull.points.count;
  s->points[side] = MEMORY_NEW(Vec3, s->count[side] + 1);
  for (int k = 0; k < s->count[side]; k++)
    s->points[side][k] = vec3(body->hull.points.x[k], body->hull.points.y[k], body->hull.points.z[k]);
  s->now[side] = body->hull.pose;
}

/* Sets the half-space's boundary in a general frame that is offset from the origin. */
static void take_half_space(PairStep* s, const Body* body, Random* random) {
  s->half_space = true;
  s->now[1] = random_pose(random, 0.5);
  s->normal = mat3_tmul_vec(s->now[1].r, body->hull.normal);
  s->offset = body->hull.offset - vec3_dot(body->hull.normal, s->now[1].t);
}

static PairStep step_of_pair(Pair* pair, const PairMotion* motion, Random* random, double gap) {
  PairStep s = {.half_space = false};
  PlaneSolution plane = pair_solution(pair, "the pair at t");
  take_body(&s, 0, &pair->a);
  take_body(&s, 1, &pair->b);
  if (pair->b.hull.half_space) take_half_space(&s, &pair->b, random);
  set_motion(&s, vec3_normalized(plane.plane.n), gap, motion, random);
  set_parameters(&s, random);
  pair_free(pair);
  return s;
}

PairStep pair_step_create(PairKind kind, const PairMotion* motion, Random* random, double gap) {
  Pair pair = pair_create(kind, random, SIZE, SUPPORT, gap);
  return step_of_pair(&pair, motion, random, gap);
}

PairStep pair_step_tips(const PairMotion* motion, Random* random, double gap) {
  Vec3 tip[5] = {{0, 0, 0}, {0.3, 0.1, 0.3}, {-0.2, 0.3, 0.3}, {-0.1, -0.3, 0.3}, {0.1, -0.1, 0.4}};
  Pair pair = {.support = SUPPORT, .size = SIZE};
  pair.b = body_create(tip, 5);
  for (int k = 0; k < 5; k++) tip[k] = vec3(-0.7 * tip[k].x, 0.9 * tip[k].y, -tip[k].z);
  pair.a = body_create(tip, 5);
  Pose world = random_pose(random, SIZE);
  body_place(&pair.a, world);
  body_place(&pair.b, pose_mul(world, (Pose){mat3_identity(), vec3(0.1 * SUPPORT, 0, gap * SUPPORT)}));
  return step_of_pair(&pair, motion, random, gap);
}

void pair_step_free(PairStep* s) {
  memory_free(s->points[0]);
  memory_free(s->points[1]);
}

/* ---------------------------------------------------------------- inputs */

enum { SUPPORT_INPUT, FRICTION_INPUT, SMOOTHING_INPUT, GROUND_NOW, GROUND_NEXT = GROUND_NOW + 6, OTHERS = 6 + 9 };

static int vertices_of(const PairStep* s) { return s->count[0] + s->count[1]; }

int pair_step_inputs(const PairStep* s) { return 6 * vertices_of(s) + OTHERS; }

void pair_step_units(const PairStep* s, double* unit) {
  double creep = sqrt(s->friction.smoothing) * s->friction.dt, *other = unit + 6 * (size_t)vertices_of(s);
  for (int k = 0; k < 6 * vertices_of(s); k++) unit[k] = creep;
  other[SUPPORT_INPUT] = 0.1 * s->support;
  other[FRICTION_INPUT] = s->friction.coefficient;
  other[SMOOTHING_INPUT] = s->friction.smoothing;
  for (int k = 0; k < 12; k++) other[GROUND_NOW + k] = k % 6 < 3 ? creep / s->size : creep;
}

/* One moment with its displacements. Bodies own their points. */
typedef struct {
  Body body[2];
  PlaneSolution plane;
  bool active;
} Moment;

static Body displaced(const PairStep* s, int side, Pose pose, const double* x) {
  Vec3* moved = MEMORY_NEW(Vec3, s->count[side]);
  for (int k = 0; k < s->count[side]; k++) {
    Vec3 d = x ? vec3(x[3 * k], x[3 * k + 1], x[3 * k + 2]) : vec3(0, 0, 0);
    moved[k] = vec3_add(s->points[side][k], mat3_tmul_vec(pose.r, d));
  }
  Body body = body_create(moved, s->count[side]);
  memory_free(moved);
  body_place(&body, pose);
  return body;
}

static Body ground_at(const PairStep* s, Pose pose, const double* twist) {
  if (twist) pose = pose_twisted(pose, pose.t, twist);
  Vec3 normal = mat3_mul_vec(pose.r, s->normal);
  Body body = body_half_space(normal, 0);
  body.hull.normal = normal;
  body.hull.offset = s->offset + vec3_dot(normal, pose.t);
  body.hull.pose = pose;
  return body;
}

/* x: displacements of all vertices in this moment, or NULL. */
static Moment moment_at(const PairStep* s, const Pose pose[2], double support, const double* x, const double* twist) {
  Moment m = {.active = false};
  m.body[0] = displaced(s, 0, pose[0], x);
  m.body[1] = s->half_space ? ground_at(s, pose[1], twist) : displaced(s, 1, pose[1], x ? x + 3 * s->count[0] : NULL);
  Pair pair = {m.body[0], m.body[1], support, s->size};
  m.active = pair_solve(&pair, pair_start(&pair), &m.plane) == PLANE_ACTIVE;
  return m;
}

static void moment_free(Moment* m) {
  body_free(&m->body[0]);
  body_free(&m->body[1]);
}

/* Both moments, parameters, and the lag with the vertices that move on. */
typedef struct {
  Moment now, next;
  double support;
  FrictionParameters friction;
  FrictionLag lag;
  FrictionVertex* vertices;
} Placed;

static Placed place(const PairStep* s, const double* x) {
  int n = 3 * vertices_of(s);
  const double* other = x ? x + 2 * n : NULL;
  Placed p = {.support = s->support, .friction = s->friction};
  if (x) {
    p.support += other[SUPPORT_INPUT];
    p.friction.coefficient += other[FRICTION_INPUT];
    p.friction.smoothing += other[SMOOTHING_INPUT];
  }
  p.now = moment_at(s, s->now, p.support, x, x ? other + GROUND_NOW : NULL);
  p.next = moment_at(s, s->next, p.support, x ? x + n : NULL, x ? other + GROUND_NEXT : NULL);
  p.vertices = MEMORY_NEW(FrictionVertex, vertices_of(s));
  if (!p.now.active) return p;
  friction_lag(&p.now.body[0].hull, &p.now.body[1].hull, p.support, &p.now.plane.plane, NULL, NULL, NULL, NULL,
               p.vertices, &p.lag);
  for (int k = 0; k < p.lag.count[0] + p.lag.count[1]; k++) { /* from here on they are where they are at t + dt */
    const PointView* points = &p.next.body[k >= p.lag.count[0]].hull.points;
    int m = p.vertices[k].vertex;
    p.vertices[k].local = vec3(points->x[m], points->y[m], points->z[m]);
  }
  return p;
}

static void placed_free(Placed* p) {
  moment_free(&p->now);
  moment_free(&p->next);
  memory_free(p->vertices);
}

/* dE/d(twists) . field. */
static double along_field(const PairStep* s, const PairDerivatives* d) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    const double *t = s->twist[side], (*k)[3] = d->moment[side].m;
    sum += t[0] * (k[2][1] - k[1][2]) + t[1] * (k[0][2] - k[2][0]) + t[2] * (k[1][0] - k[0][1]);
    sum += vec3_dot(d->force[side], vec3(t[3], t[4], t[5]));
  }
  return sum;
}

static bool rub(const PairStep* s, Placed* p, PairDerivatives* d) {
  double energy;
  memset(d, 0, sizeof *d);
  return friction_evaluate(&p->lag, &p->friction, &p->next.body[0].hull.pose, &p->next.body[1].hull.pose,
                           s->reference[0], s->reference[1], d, &energy) >= 0;
}

bool pair_step_phi(const PairStep* s, const double* x, double phi[2]) {
  Placed p = place(s, x);
  PairDerivatives contact, friction;
  PlaneResponse response;
  bool found = p.now.active && p.next.active;
  if (found) {
    plane_derivatives(&p.next.plane, s->half_space, s->reference[0], s->reference[1], &contact, &response);
    found = rub(s, &p, &friction);
  }
  if (found) phi[0] = along_field(s, &contact), phi[1] = along_field(s, &friction);
  placed_free(&p);
  return found;
}

int pair_step_slip_order(const PairStep* s) {
  Placed p = place(s, NULL);
  int order = p.lag.order;
  placed_free(&p);
  return order;
}

/* ---------------------------------------------------------------- the adjoints */

static void add_shares(const PairStep* s, const PairShares* shares, double* out) {
  int n = 3 * vertices_of(s);
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < shares->count[side]; k++) {
      const VertexShare* v = &shares->share[side][k];
      double* own = out + 3 * ((side ? s->count[0] : 0) + v->vertex);
      own[0] += v->now.x, own[1] += v->now.y, own[2] += v->now.z;
      own[n] += v->next.x, own[n + 1] += v->next.y, own[n + 2] += v->next.z;
    }
  double* other = out + 2 * n;
  other[SUPPORT_INPUT] = shares->support;
  other[FRICTION_INPUT] = shares->friction;
  other[SMOOTHING_INPUT] = shares->smoothing;
  const GroundShare* ground[2] = {&shares->ground_now, &shares->ground_next};
  for (int k = 0; k < 2; k++) {
    double* own = other + GROUND_NOW + 6 * k;
    own[0] = ground[k]->torque.x, own[1] = ground[k]->torque.y, own[2] = ground[k]->torque.z;
    own[3] = ground[k]->force.x, own[4] = ground[k]->force.y, own[5] = ground[k]->force.z;
  }
}

static PairShares shares_create(const PairStep* s) {
  PairShares out = {.value = 0};
  for (int side = 0; side < 2; side++) out.share[side] = MEMORY_NEW(VertexShare, s->count[side] + 1);
  return out;
}

static void shares_free(PairShares* shares) {
  memory_free(shares->share[0]);
  memory_free(shares->share[1]);
}

void pair_step_adjoint(const PairStep* s, double phi[2], double* contact, double* friction) {
  Placed p = place(s, NULL);
  PairDerivatives d;
  PlaneResponse response;
  if (!p.now.active || !p.next.active || !rub(s, &p, &d)) fail_msg("the pair is not in contact in both moments");
  plane_derivatives(&p.next.plane, s->half_space, s->reference[0], s->reference[1], &d, &response);
  PairBody now[2], next[2];
  for (int side = 0; side < 2; side++) {
    now[side] = (PairBody){p.now.body[side].hull, s->reference[side]};
    next[side] = (PairBody){p.next.body[side].hull, s->reference[side]};
  }
  size_t bytes = sizeof(double) * (size_t)pair_step_inputs(s);
  memset(contact, 0, bytes);
  memset(friction, 0, bytes);
  ActiveVertex* active = MEMORY_NEW(ActiveVertex, vertices_of(s) + 1);
  ActiveSides at_next = {.vertices = active}, at_now = at_next;
  PairShares shares = shares_create(s);
  plane_adjoint(next, p.support, &p.next.plane, &response, s->twist, &at_next, &shares);
  add_shares(s, &shares, contact);
  phi[0] = shares.value;
  shares_free(&shares);
  shares = shares_create(s);
  friction_adjoint(&p.lag, &p.friction, p.support, now, next, false, &p.now.plane, s->twist, NULL, &at_now, &shares);
  add_shares(s, &shares, friction);
  phi[1] = shares.value;
  shares_free(&shares);
  memory_free(active);
  placed_free(&p);
}
