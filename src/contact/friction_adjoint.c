/* Reverse derivatives of the friction force of a pair (docs/derivations/adjoint.md, A7-A8).
 *   Phi = mu sum w phi(r) . zeta,  phi = r / rho,  zeta = E^T eta;  the slip s = (u, omega) solves sum w J^T phi = 0.
 * With a from  (sum w J^T h J) a = - sum w J^T h zeta,  h = dphi/dr,  q = zeta + J a, the derivative of
 *   mu sum w phi(r) . q  at fixed s and a is that of Phi. */
#include <string.h>

#include "contact/adjoint.h"
#include "contact/small_matrix.h"

/* phi, dphi/dr (symmetric) and rho of a slip. */
typedef struct {
  double r[2], phi[2], h[2][2], rho;
} Slip;

static Slip slip_from(double r0, double r1, double smoothing) {
  Slip s = {.r = {r0, r1}, .rho = sqrt(r0 * r0 + r1 * r1 + smoothing)};
  for (int i = 0; i < 2; i++) s.phi[i] = s.r[i] / s.rho;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) s.h[i][j] = ((i == j ? 1.0 : 0.0) - s.phi[i] * s.phi[j]) / s.rho;
  return s;
}

static Slip slip_at(const FrictionLag* lag, const FrictionVertex* v, double smoothing) {
  const double* s = lag->slip;
  return slip_from(v->velocity[0] - s[0] + s[2] * v->scaled[1], v->velocity[1] - s[1] - s[2] * v->scaled[0], smoothing);
}

static Slip ground_slip(const FrictionLag* lag, double smoothing) {
  return slip_from(-lag->slip[0], -lag->slip[1], smoothing);
}

/* J = [-1 0 y2; 0 -1 -y1]. */
static void add_normal_equations(double w, const Slip* s, const double y[2], const double zeta[2], double h[4][4],
                                 double rhs[3]) {
  double j[2][3] = {{-1, 0, y[1]}, {0, -1, -y[0]}}, hj[2][3], hz[2];
  for (int i = 0; i < 2; i++) {
    hz[i] = w * (s->h[i][0] * zeta[0] + s->h[i][1] * zeta[1]);
    for (int k = 0; k < 3; k++) hj[i][k] = w * (s->h[i][0] * j[0][k] + s->h[i][1] * j[1][k]);
  }
  for (int k = 0; k < 3; k++) {
    rhs[k] -= j[0][k] * hz[0] + j[1][k] * hz[1];
    for (int l = 0; l <= k; l++) h[k][l] += j[0][k] * hj[0][l] + j[1][k] * hj[1][l];
  }
}

static void vertex_zeta(const FrictionLag* lag, Vec3 field, double zeta[2]) {
  zeta[0] = vec3_dot(lag->e1, field);
  zeta[1] = vec3_dot(lag->e2, field);
}

static Vec3 field_of(const PairBody* body, const double twist[6], Vec3 x) {
  return vec3_add(vec3(twist[3], twist[4], twist[5]),
                  vec3_cross(vec3(twist[0], twist[1], twist[2]), vec3_sub(x, body->reference)));
}

static void solve_slip_adjoint(const FrictionLag* lag, double smoothing, const PairBody next[2],
                               const double twist[2][6], double a[3]) {
  static const double centre[2] = {0, 0};
  double h[4][4] = {{0}};
  a[0] = a[1] = a[2] = 0;
  for (int k = 0; k < lag->count[0] + lag->count[1]; k++) {
    const FrictionVertex* v = &lag->vertices[k];
    int side = k >= lag->count[0];
    double zeta[2];
    vertex_zeta(lag, field_of(&next[side], twist[side], pose_apply(next[side].hull.pose, v->local)), zeta);
    Slip s = slip_at(lag, v, smoothing);
    add_normal_equations(v->weight, &s, v->scaled, zeta, h, a);
  }
  if (lag->half_space) {
    Slip s = ground_slip(lag, smoothing);
    add_normal_equations(lag->ground_weight, &s, centre, centre, h, a);
  }
  for (int k = lag->order; k < 3; k++) a[k] = 0;
  small_cholesky(lag->order, h);
  small_forward(lag->order, h, a);
  small_backward(lag->order, h, a);
}

/* The weight w = A(|P'| |n|) and its derivatives. */
typedef struct {
  double by_clearance, by_length, by_support;
} WeightSlope;

static WeightSlope weight_slope(const ActiveVertex* v, double support, double length) {
  double force = -v->first * length, floor = FRICTION_WEIGHT_FLOOR / (support * support);
  double root = sqrt(force * force + floor * floor), slope = force / root;
  return (WeightSlope){
      -slope * v->second * length, -slope * v->first,
      -slope * active_first_by_support(v, support) * length - 2 * (floor / root - 1) * floor / support};
}

/* A lagged vertex at t before the plane at t; x0: of a ball its point nearest to the plane. */
static ActiveVertex lagged_vertex(const FrictionVertex* v, const HullInstance* hull, double sigma, double support,
                                  const Plane* plane, Vec3 x0) {
  Vec3 x = vec3_sub(x0, plane->origin);
  double clearance = sigma * (vec3_dot(plane->n, x) + plane->o);
  Barrier b = vertex_barrier(hull, support, clearance);
  Vec3 center = vec3_add_scaled(x, sigma * hull->rounding / vec3_norm(plane->n), plane->n);
  return (ActiveVertex){v->vertex, center, b.first, b.second, clearance, x};
}

/* Derivatives with respect to the lagged plane, gathered over the vertices. */
typedef struct {
  Vec3 direction; /* of n^ */
  double length;  /* of |n| */
  double plane[4];
} LagBar;

static void add_weight(const WeightSlope* slope, double weight_bar, double sigma, Vec3 x, LagBar* bar,
                       PairShares* out) {
  double c = weight_bar * slope->by_clearance * sigma;
  bar->plane[0] += c * x.x;
  bar->plane[1] += c * x.y;
  bar->plane[2] += c * x.z;
  bar->plane[3] += c;
  bar->length += weight_bar * slope->by_length;
  out->support += weight_bar * slope->by_support;
}

/* Where a point of side A at t would be at t + dt if it moved with a half-space that moves. */
static Pose ground_motion(const FrictionLag* lag, const PairBody next[2]) {
  if (!lag->half_space || memcmp(&lag->ground, &next[1].hull.pose, sizeof(Pose)) == 0) return pose_identity();
  return pose_mul(next[1].hull.pose, pose_inverse(lag->ground));
}

static Vec3 in_plane(const FrictionLag* lag, double a, double b) {
  return vec3_add(vec3_scale(lag->e1, a), vec3_scale(lag->e2, b));
}

typedef struct {
  const FrictionLag* lag;
  const FrictionParameters* parameters;
  double support, length;
  const PairBody *now, *next;
  const Plane* plane;
  Pose ground;
  double a[3];
  Vec3 fixed; /* part of LagBar.direction that comes from what does not turn with the bodies at t */
} FrictionReverse;

/* (A8b) The point x0 = center + e, e = -sigma r n^, that friction of a ball acts at is fixed in the body during the
 * step: it goes with the plane's normal and the radius, and its place in the body with the body's turn at t. by_x0,
 * by_x1: derivatives by where it is at t and at t + dt. */
static void ball_reverse(FrictionReverse* f, int side, Vec3 by_x0, Vec3 by_x1, LagBar* bar, PairShares* out) {
  const PairBody *now = &f->now[side], *next = &f->next[side];
  double lean = (side == 0 ? 1 : -1), radius = now->hull.rounding;
  Vec3 n = f->lag->normal, e = vec3_scale(n, lean * radius);
  Vec3 back = mat3_mul_vec(now->hull.pose.r, mat3_tmul_vec(next->hull.pose.r, by_x1));
  Vec3 by_e = vec3_add(by_x0, back);
  bar->direction = vec3_add_scaled(bar->direction, lean * radius, by_e);
  f->fixed = vec3_add_scaled(f->fixed, lean * radius, back);
  out->rounding[side] += lean * vec3_dot(n, by_e);
  out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(back, e));
}

static VertexShare vertex_reverse(FrictionReverse* f, int side, const FrictionVertex* v, const double twist[6],
                                  ActiveVertex* then, LagBar* bar, PairShares* out) {
  const FrictionLag* lag = f->lag;
  double mu = f->parameters->coefficient, dt = f->parameters->dt, zeta[2], q[2], b[2], e[2];
  Vec3 x1 = pose_apply(f->next[side].hull.pose, v->local), x0 = pose_apply(f->now[side].hull.pose, v->local);
  Vec3 moved = vec3_sub(x1, pose_apply(f->ground, x0));
  Vec3 field = field_of(&f->next[side], twist, x1);
  vertex_zeta(lag, field, zeta);
  Slip s = slip_at(lag, v, f->parameters->smoothing);
  q[0] = zeta[0] - f->a[0] + f->a[2] * v->scaled[1];
  q[1] = zeta[1] - f->a[1] - f->a[2] * v->scaled[0];
  double weight = mu * v->weight, phi_q = s.phi[0] * q[0] + s.phi[1] * q[1];
  for (int i = 0; i < 2; i++) {
    b[i] = weight * (s.h[i][0] * q[0] + s.h[i][1] * q[1]); /* bar of r */
    e[i] = weight * s.phi[i];                              /* bar of q */
  }
  out->value += e[0] * zeta[0] + e[1] * zeta[1];
  out->smoothing -= 0.5 * weight * (s.r[0] * q[0] + s.r[1] * q[1]) / (s.rho * s.rho * s.rho);
  /* r and zeta: positions now and next, and the basis, which turns with n^: de_i = -(e_i . dn^) n^ */
  Vec3 by_r = in_plane(lag, b[0] / dt, b[1] / dt), by_q = in_plane(lag, e[0], e[1]);
  VertexShare share = {v->vertex, by_r, vec3_scale(mat3_tmul_vec(f->ground.r, by_r), -1)};
  if (lag->half_space) ground_add(&out->ground_next, vec3_scale(by_r, -1), vec3_sub(x1, moved), f->next[1].hull.pose.t);
  share.next = vec3_add(share.next, vec3_cross(by_q, vec3(twist[0], twist[1], twist[2])));
  Vec3 by_direction =
      vec3_add(vec3_scale(by_r, -vec3_dot(lag->normal, moved)), vec3_scale(by_q, -vec3_dot(lag->normal, field)));
  f->fixed = vec3_add(f->fixed, by_direction);
  bar->direction = vec3_add(bar->direction, by_direction);
  /* the arm y in omega n x y */
  double omega = lag->slip[2] / lag->length, turn = f->a[2] / lag->length;
  Vec3 by_y = in_plane(lag, -(omega * b[1] + turn * e[1]), omega * b[0] + turn * e[0]);
  share.now = vec3_add(share.now, by_y);
  bar->direction = vec3_add_scaled(bar->direction, -v->height, by_y);
  if (f->now[side].hull.rounding > 0) ball_reverse(f, side, share.now, share.next, bar, out);
  /* the weight */
  double sigma = side == 0 ? -1 : 1;
  *then = lagged_vertex(v, &f->now[side].hull, sigma, f->support, f->plane, x0);
  WeightSlope slope = weight_slope(then, f->support, f->length);
  add_weight(&slope, mu * phi_q, sigma, then->at, bar, out);
  out->rounding[side] -= mu * phi_q * slope.by_clearance * f->length;
  share.now = vec3_add_scaled(share.now, mu * phi_q * slope.by_clearance * sigma, f->plane->n);
  return share;
}

/* The half-space's one weight; its slip is -u and its q is -a. */
static void ground_reverse(const FrictionReverse* f, const ActiveVertex* ground, LagBar* bar, PairShares* out) {
  const FrictionLag* lag = f->lag;
  double mu = f->parameters->coefficient, q[2] = {-f->a[0], -f->a[1]};
  Slip s = ground_slip(lag, f->parameters->smoothing);
  out->smoothing -= 0.5 * mu * lag->ground_weight * (s.r[0] * q[0] + s.r[1] * q[1]) / (s.rho * s.rho * s.rho);
  WeightSlope slope = weight_slope(ground, f->support, f->length);
  add_weight(&slope, mu * (s.phi[0] * q[0] + s.phi[1] * q[1]), 1, ground->at, bar, out);
}

/* Turned or shifted with the body's vertices at t, the half-space leaves all as it was but for the plane's direction,
 * against which the motion since t and the field are seen. */
static void ground_follows(const FrictionReverse* f, const ActiveVertex* then, int first, PairShares* out) {
  for (int k = 0; k < f->lag->count[0]; k++) {
    Vec3 at = vec3_add(f->plane->origin, then[k].x);
    ground_add(&out->ground_now, vec3_scale(out->share[0][first + k].now, -1), at, f->now[1].hull.pose.t);
  }
}

/* The plane at t is itself a function of the vertices at t. The lagged vertices are all that feel it. */
static void plane_reverse(const FrictionReverse* f, const PlaneSolution* solution, const ActiveSides* then, LagBar* bar,
                          PairShares* out, const int first[2]) {
  Vec3 n = f->lag->normal;
  Vec3 across = vec3_add_scaled(bar->direction, -vec3_dot(n, bar->direction), n);
  Vec3 by_n = vec3_add_scaled(vec3_scale(across, 1 / f->length), bar->length, n);
  double plane_bar[4] = {bar->plane[0] + by_n.x, bar->plane[1] + by_n.y, bar->plane[2] + by_n.z, bar->plane[3]}, z[4];
  plane_implicit(solution, f->lag->half_space, plane_bar, z);
  Vec3 zn = vec3(z[0], z[1], z[2]);
  out->support -= norm_first_by_support(f->length, f->support) * vec3_dot(n, zn);
  for (int k = 0; k < f->lag->count[0] + f->lag->count[1]; k++) {
    int side = k >= f->lag->count[0];
    double sigma = side == 0 ? -1 : 1;
    const ActiveVertex* v = &then->vertices[k];
    VertexShare* share = &out->share[side][first[side] + k - (side ? f->lag->count[0] : 0)];
    double along = vec3_dot(v->at, zn) + z[3];
    out->rounding[side] += ball_share(f->plane->n, v, sigma * along, zn);
    share->now = vec3_add_scaled(share->now, v->second * along, f->plane->n);
    share->now = vec3_add_scaled(share->now, sigma * v->first, zn);
    out->support += sigma * active_first_by_support(v, f->support) * along;
  }
  if (!f->lag->half_space || then->count[1] == 0) return;
  const ActiveVertex* ground = &then->vertices[then->count[0]];
  out->support += active_first_by_support(ground, f->support) * (vec3_dot(ground->x, zn) + z[3]);
}

void friction_adjoint(const FrictionLag* lag, const FrictionParameters* parameters, double support,
                      const PairBody now[2], const PairBody next[2], const PlaneSolution* solution,
                      const double twist[2][6], ActiveSides* then, PairShares* out) {
  if (!(lag->total_weight > 0)) return;
  FrictionReverse f = {.lag = lag,
                       .parameters = parameters,
                       .support = support,
                       .length = vec3_norm(solution->plane.n),
                       .now = now,
                       .next = next,
                       .plane = &solution->plane,
                       .ground = ground_motion(lag, next)};
  solve_slip_adjoint(lag, parameters->smoothing, next, twist, f.a);
  LagBar bar = {{0, 0, 0}, 0, {0}};
  double before = out->value;
  int first[2] = {out->count[0], out->count[1]};
  for (int k = 0; k < lag->count[0] + lag->count[1]; k++) {
    int side = k >= lag->count[0];
    out->share[side][out->count[side]++] =
        vertex_reverse(&f, side, &lag->vertices[k], twist[side], &then->vertices[k], &bar, out);
  }
  *then = (ActiveSides){then->vertices, {lag->count[0], lag->count[1]}, true};
  if (lag->half_space) {
    ActiveVertex* ground = then->vertices + then->count[0];
    then->count[1] = active_vertices(&now[1].hull, 1, support, f.plane, ground);
    if (then->count[1] > 0) ground_reverse(&f, ground, &bar, out);
    out->ground_now.torque = vec3_add(out->ground_now.torque, vec3_cross(lag->normal, f.fixed));
  }
  plane_reverse(&f, solution, then, &bar, out, first);
  if (lag->half_space) ground_follows(&f, then->vertices, first[0], out);
  out->friction += (out->value - before) / parameters->coefficient;
}
