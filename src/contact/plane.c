#include <assert.h>

#include "contact/plane.h"
#include "contact/ring.h"
#include "contact/small_matrix.h"

/* A vertex is skipped if its distance from the plane exceeds (1 + CULL_MARGIN) s, where s is the barrier distance.
 * Vertices are selected again if the plane has moved too far. */
#define CULL_MARGIN 1.0
/* No vertices are skipped for hulls with at most CULL_MIN_COUNT vertices and a radius of at least CULL_MAX_RADIUS times
 * the barrier distance s, because a small rotation of the plane would bring skipped vertices into range. */
#define CULL_MIN_COUNT 16
#define CULL_MAX_RADIUS 300.0
/* If the Newton decrement is below this fraction of the potential U, one more Newton step makes the plane exact to
 * rounding, because a step squares the relative decrement. */
#define DECREMENT_TO_ROUNDING 1e-13
/* If the Newton decrement is below this fraction of the potential U, Newton's method converges quadratically. */
#define QUADRATIC_DECREMENT 1e-6
/* The potential U counts as zero if U times the barrier distance s is below this value. One vertex has this value at
 * the clearance (1 - 1e-7) s, because its barrier is about (1 - clearance / s)^4 there. */
#define ENERGY_FLOOR 1e-28
/* Largest number of Newton iterations. A few iterations suffice if the start plane is near the minimum. If the normal n
 * must rotate far, it moves along the shell 1 - sigma < |n| < 1 in steps of about sqrt(sigma), with sigma =
 * BARRIER_NORM_WIDTH. This takes some hundred iterations for pairs whose distance is near the end of the contact
 * range. */
#define MAX_ITERATIONS 1000
/* If a clearance is as small as its rounding error, the computed potential U is noisy, and steps that do not lower U
 * are accepted. Therefore, after STALL_CHECK_START iterations, the solve fails if STALL_CHECK_INTERVAL iterations lower
 * U by less than the fraction MIN_RELATIVE_DECREASE. A regular solve does not fail, because each step with a decrement
 * above QUADRATIC_DECREMENT lowers U by more. */
enum { STALL_CHECK_START = 128, STALL_CHECK_INTERVAL = 32 };
#define MIN_RELATIVE_DECREASE 1e-7
#define MAX_BACKTRACKS 60

typedef struct {
  int first, count;
  bool culled;
} Range;

/* Minimization problem of one pair. The unknowns are the scaled normal N = n / s and the scaled offset O = o / s of the
 * plane, with the barrier distance s. Clearances c are scaled to z = c / s. */
typedef struct {
  const HullInstance* hull[2];
  double inv_s;
  double norm_scale; /* s / sigma [m]: nu = (1 - |n|) / sigma = norm_scale (1 / s - |N|) */
  Vec3 origin;
  Vec3 axis;         /* for a half-space: unit direction of N, which is fixed */
  double axis_level; /* for a half-space: axis . (boundary - origin) [m] */
  bool half_space;
  PlaneScratch* scratch;
  double last_step;
  Circle rings[2][ROUND_RINGS_MAX]; /* centres relative to the origin, world axes [m] */
  Range range[2];
  Vec3 cull_N; /* cull_N, cull_O: scaled normal and offset of the plane for which the vertices were selected */
  double cull_O;
} PlaneProblem;

typedef struct {
  double energy;       /* potential U times the barrier distance s */
  SideMoments side[2]; /* moments of both sides, with the second and first derivatives of the barrier as weights;
                          lengths are divided by the barrier distance s */
  double norm_first, norm_second;
  double z_min[2];
} Evaluation;

/* Evaluations of two planes. at[now] belongs to the best plane so far, at[1 - now] to the plane that the line search
 * tries. A tried plane is accepted by changing `now`, without copying. */
typedef struct {
  Evaluation at[2];
  int now;
} Evaluations;

static const double side_sign[2] = {-1.0, 1.0};

Vec3 plane_origin(const HullInstance* a, const HullInstance* b) {
  return b->half_space || a->radius <= b->radius ? a->center : b->center;
}

Plane plane_about(Plane plane, Vec3 origin) {
  plane.o += vec3_dot(plane.n, vec3_sub(origin, plane.origin));
  plane.origin = origin;
  return plane;
}

/* Returns the length |n| of the normal from which the minimization starts. gap: distance of the hulls [m]; s: barrier
 * distance [m]. With z = gap / 2s, nu = (1 - |n|) / sigma and sigma = BARRIER_NORM_WIDTH, the derivatives of the terms
 * of U with respect to |n| balance at 1 - nu ~ (sigma gap / s)^(1/3) (1 - z). */
static double start_length(double s, double gap) {
  double z = 0.5 * gap / s;
  double sigma = BARRIER_NORM_WIDTH;
  return z < 1 ? 1 - sigma * (1 - fmin(0.6, math_cbrt(2 * sigma * gap / s)) * (1 - z)) : 1 - sigma;
}

Plane plane_from_witness(const HullInstance* a, const HullInstance* b, double support, Vec3 witness_a, Vec3 witness_b,
                         Vec3 normal) {
  double gap = vec3_norm(vec3_sub(witness_b, witness_a));
  Plane plane = {plane_origin(a, b), vec3_scale(normal, start_length(support, gap)), 0};
  Vec3 middle = vec3_scale(vec3_add(witness_a, witness_b), 0.5);
  plane.o = -vec3_dot(plane.n, vec3_sub(middle, plane.origin));
  return plane;
}

Plane plane_from_half_space(const HullInstance* a, const HullInstance* b, double support, double gap) {
  assert(gap > 0);
  double length = start_length(support, gap);
  Plane plane = {plane_origin(a, b), vec3_scale(b->normal, -length), 0};
  double level = vec3_dot(b->normal, plane.origin) -
                 b->offset; /* height of the plane's origin above the boundary of the half-space [m] */
  plane.o = length * (0.5 * gap - level);
  return plane;
}

double plane_clearance(const HullInstance* hull, double sigma, Plane plane) {
  assert(sigma == 1 || sigma == -1);
  if (hull->half_space) /* n is -|n| times the normal of the half-space, whose boundary is nearest to the plane */
    return sigma * (vec3_norm(plane.n) * (vec3_dot(hull->normal, plane.origin) - hull->offset) + plane.o);
  double farthest = pair_support(hull, vec3_scale(plane.n, -sigma), NULL);
  return sigma * (vec3_dot(plane.n, vec3_sub(hull->pose.t, plane.origin)) + plane.o) - farthest;
}

/* ---------------------------------------------------------------- vertices near the plane */

static void append_vertex(PlaneProblem* p, const HullInstance* h, Vec3 shift, int m, Range* range) {
  int k = range->first + range->count++;
  double x = h->points.x[m], y = h->points.y[m], z = h->points.z[m];
  const double(*r)[3] = h->pose.r.m;
  p->scratch->x[k] = r[0][0] * x + r[0][1] * y + r[0][2] * z + shift.x;
  p->scratch->y[k] = r[1][0] * x + r[1][1] * y + r[1][2] * z + shift.y;
  p->scratch->z[k] = r[2][0] * x + r[2][1] * y + r[2][2] * z + shift.z;
}

enum { CULL_CHUNK = 64 };

/* Appends to the workspace those vertices of hull `side` whose clearance from the plane is below 1 + CULL_MARGIN
 * barrier distances. N, O: normal and offset of the plane divided by the barrier distance. The loops are vectorised
 * over chunks of vertices; `padded` is a multiple of 8. */
static void append_near(PlaneProblem* p, int side, Vec3 N, double O, Range* range) {
  const HullInstance* h = p->hull[side];
  Vec3 shift = vec3_sub(h->pose.t, p->origin);
  Vec3 n = vec3_scale(mat3_tmul_vec(h->pose.r, N), side_sign[side]);
  double o = side_sign[side] * (vec3_dot(N, shift) + O) - h->rounding * vec3_norm(N), is_quadratic[CULL_CHUNK];
  for (int first = 0; first < h->points.padded; first += CULL_CHUNK) {
    int length = h->points.padded - first < CULL_CHUNK ? h->points.padded - first : CULL_CHUNK;
    const double *x = h->points.x + first, *y = h->points.y + first, *z = h->points.z + first;
    for (int k = 0; k < length; k++) is_quadratic[k] = n.x * x[k] + n.y * y[k] + n.z * z[k] + o;
    for (int k = 0; k + 8 <= length; k += 8) {
      int any = 0;
      for (int j = 0; j < 8; j++) any |= is_quadratic[k + j] < 1.0 + CULL_MARGIN;
      if (!any) continue;
      for (int j = 0; j < 8; j++)
        if (is_quadratic[k + j] < 1.0 + CULL_MARGIN && first + k + j < h->points.count)
          append_vertex(p, h, shift, first + k + j, range);
    }
  }
}

static void gather_vertices(PlaneProblem* p, Vec3 N, double O, bool all) {
  p->cull_N = N;
  p->cull_O = O;
  int first = 0;
  for (int side = 0; side < 2; side++) {
    const HullInstance* h = p->hull[side];
    Range* range = &p->range[side];
    *range = (Range){first, 0, !all && (h->points.count > CULL_MIN_COUNT || h->radius * p->inv_s < CULL_MAX_RADIUS)};
    if (range->culled)
      append_near(p, side, N, O, range);
    else {
      Vec3 shift = vec3_sub(h->pose.t, p->origin);
      for (int m = 0; m < h->points.count; m++) append_vertex(p, h, shift, m, range);
    }
    first += range->count;
  }
}

/* Returns true if every skipped vertex is certainly farther from the plane than the barrier distance. N, O: normal and
 * offset of the plane divided by the barrier distance. */
static bool is_culling_valid(const PlaneProblem* p, Vec3 N, double O) {
  double normal_change = vec3_norm(vec3_sub(N, p->cull_N)), offset_change = fabs(O - p->cull_O);
  for (int side = 0; side < 2; side++) {
    const HullInstance* h = p->hull[side];
    if (!p->range[side].culled) continue;
    double reach = vec3_norm(vec3_sub(h->center, p->origin)) + h->radius;
    if (!(normal_change * reach + offset_change <= CULL_MARGIN)) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- energy and moments at a plane */

static inline void add_vertex(SideMoments* s, double sigma, Barrier b, double x, double y, double z) {
  double c = b.second, g = sigma * b.first;
  double cx = c * x, cy = c * y, cz = c * z;
  s->second[0] += cx * x;
  s->second[1] += cx * y;
  s->second[2] += cx * z;
  s->second[3] += cx;
  s->second[4] += cy * y;
  s->second[5] += cy * z;
  s->second[6] += cy;
  s->second[7] += cz * z;
  s->second[8] += cz;
  s->second[9] += c;
  s->first[0] += g * x;
  s->first[1] += g * y;
  s->first[2] += g * z;
  s->first[3] += g;
}

/* (contact.md, C6) Converts the moments (SideMoments) of the centres x of balls to the moments of those points x -
 * sigma r n^ of the balls that are nearest to the plane. n^: unit normal of the plane. radius: r [m]. */
static void shift_moments_to_surface(SideMoments* s, double sigma, double radius, Vec3 N) {
  Vec3 out = vec3_scale(N, -sigma * radius / vec3_norm(N));
  const double v[3] = {out.x, out.y, out.z}, sum[3] = {s->second[3], s->second[6], s->second[8]}, w = s->second[9];
  static const int position[3][3] = {{0, 1, 2}, {1, 4, 5}, {2, 5, 7}}, last[3] = {3, 6, 8};
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) s->second[position[i][j]] += v[i] * sum[j] + sum[i] * v[j] + v[i] * v[j] * w;
    s->second[last[i]] += v[i] * w;
    s->first[i] += v[i] * s->first[3];
  }
  s->ball = radius * sigma * s->first[3];
}

/* Adds the energy of the nodes of circle k to *energy and their moments to *s, and lowers *z_min to the smallest
 * clearance of the circle. The quadrature nodes lie in pairs at center + radius (cosine u +- sine v) with the unit
 * vectors u and v of RingPosition (C7). Returns false if the circle is not entirely on its side of the plane. */
static bool add_ring(const PlaneProblem* p, int side, int k, Vec3 N, double O, SideMoments* s, double* energy,
                     double* z_min) {
  const HullInstance* h = p->hull[side];
  const Circle* ring = &p->rings[side][k];
  double sigma = side_sign[side];
  RingPosition position = ring_position(ring, h->rounding, sigma, N, O);
  if (!(position.min_clearance < 1)) return true;
  if (!(position.min_clearance > 0)) return false;
  *z_min = fmin(*z_min, position.min_clearance);
  RingNodes nodes;
  ring_nodes(&position, &nodes);
  double first[2] = {0, 0}, second[4] = {0, 0, 0, 0};
  for (int i = 0; i < nodes.count; i++) {
    Barrier b = barrier_eval(nodes.clearance[i]);
    double w = 2 * nodes.weight[i], c = nodes.cosine[i], curvature = w * b.second;
    *energy += w * b.value;
    first[0] += w * b.first;
    first[1] += w * b.first * c;
    second[0] += curvature;
    second[1] += curvature * c;
    second[2] += curvature * c * c;
    second[3] += curvature * nodes.sine[i] * nodes.sine[i];
  }
  const double x[4] = {ring->center.x, ring->center.y, ring->center.z, 1}, r = ring->radius;
  const double u[4] = {r * position.u.x, r * position.u.y, r * position.u.z, 0};
  const double v[4] = {r * position.v.x, r * position.v.y, r * position.v.z, 0};
  for (int i = 0, at = 0; i < 4; i++) {
    s->first[i] += sigma * (first[0] * x[i] + first[1] * u[i]);
    for (int j = i; j < 4; j++, at++)
      s->second[at] += second[0] * x[i] * x[j] + second[1] * (x[i] * u[j] + u[i] * x[j]) + second[2] * u[i] * u[j] +
                       second[3] * v[i] * v[j];
  }
  return true;
}

static bool evaluate_side(const PlaneProblem* p, int side, Vec3 N, double O, Evaluation* e) {
  const double *x = p->scratch->x, *y = p->scratch->y, *z = p->scratch->z;
  const Range range = p->range[side];
  const double sigma = side_sign[side], nx = sigma * N.x, ny = sigma * N.y, nz = sigma * N.z;
  const double radius = p->hull[side]->rounding, o = sigma * O - (radius > 0 ? radius * vec3_norm(N) : 0);
  double z_min = 1.0;
  SideMoments s = {{0}, {0}, 0};
  double energy = 0;
  for (int m = range.first; m < range.first + range.count; m++) {
    double c = nx * x[m] + ny * y[m] + nz * z[m] + o;
    if (!(c < 1.0)) continue;
    if (!(c > 0.0)) return false;
    if (c < z_min) z_min = c;
    Barrier b = barrier_eval(c);
    energy += b.value;
    add_vertex(&s, sigma, b, x[m], y[m], z[m]);
  }
  for (int k = 0; k < p->hull[side]->ring_count; k++)
    if (!add_ring(p, side, k, N, O, &s, &energy, &z_min)) return false;
  if (radius > 0) shift_moments_to_surface(&s, sigma, radius, N);
  e->side[side] = s;
  e->z_min[side] = z_min;
  e->energy += energy;
  return true;
}

/* Sets the energy and moments of body b in *e for a half-space. It has a single term, at the point of the boundary
 * nearest to the plane's origin. Returns false if the clearance of this point is not positive. */
static bool evaluate_half_space(const PlaneProblem* p, Vec3 N, double O, Evaluation* e) {
  double c = vec3_norm(N) * p->axis_level + O;
  e->side[1] = (SideMoments){{0}, {0}, 0};
  e->z_min[1] = c < 1.0 ? c : 1.0;
  if (!(c > 0.0)) return false;
  if (!(c < 1.0)) return true;
  Barrier b = barrier_eval(c);
  e->energy += b.value;
  Vec3 x = vec3_scale(p->axis, p->axis_level);
  add_vertex(&e->side[1], 1.0, b, x.x, x.y, x.z);
  return true;
}

static bool evaluate(const PlaneProblem* p, Vec3 N, double O, Evaluation* e) {
  e->energy = 0;
  e->norm_first = e->norm_second = 0;
  double nu = p->norm_scale * (p->inv_s - vec3_norm(N));
  if (!(nu > 0.0)) return false;
  if (!evaluate_side(p, 0, N, O, e)) return false;
  if (!(p->half_space ? evaluate_half_space(p, N, O, e) : evaluate_side(p, 1, N, O, e))) return false;
  if (nu < 1.0) {
    Barrier b = barrier_eval(nu);
    e->energy += b.value;
    e->norm_first = p->norm_scale * b.first;
    e->norm_second = p->norm_scale * p->norm_scale * b.second;
  }
  return isfinite(e->energy);
}

/* ---------------------------------------------------------------- minimization by Newton's method */

void plane_assemble(const SideMoments* a, const SideMoments* b, double norm_first, double norm_second, Vec3 n,
                    double gradient[4], double hessian[4][4]) {
  static const int row[10] = {0, 1, 2, 3, 1, 2, 3, 2, 3, 3}, column[10] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3};
  for (int k = 0; k < 10; k++) hessian[row[k]][column[k]] = a->second[k] + b->second[k];
  for (int k = 0; k < 4; k++) gradient[k] = a->first[k] + b->first[k];
  double curvature = norm_first + a->ball + b->ball;
  if (curvature == 0.0) return;
  double length = vec3_norm(n), transverse = -curvature / length, along = norm_second - transverse;
  double u[3] = {n.x / length, n.y / length, n.z / length};
  for (int i = 0; i < 3; i++) {
    gradient[i] -= norm_first * u[i];
    for (int j = 0; j <= i; j++) hessian[i][j] += along * u[i] * u[j];
    hessian[i][i] += transverse;
  }
}

/* Sets *dN and *dO to the Newton step -H^-1 g for the normal and the offset of the plane. g, H: gradient and Hessian of
 * the potential with respect to both. Returns the squared decrement g^T H^-1 g. */
static double newton_step(const PlaneProblem* p, const Evaluation* e, Vec3 N, Vec3* dN, double* dO) {
  double g[4], h[4][4];
  plane_assemble(&e->side[0], &e->side[1], e->norm_first, e->norm_second, N, g, h);
  if (p->half_space) { /* a half-space fixes the direction of the normal, so only its length and the offset are unknown
                        */
    double u[3] = {p->axis.x, p->axis.y, p->axis.z}, ga = 0, haa = 0, hao = 0;
    for (int i = 0; i < 3; i++) {
      ga += u[i] * g[i];
      hao += u[i] * h[3][i];
      for (int j = 0; j < 3; j++) haa += u[i] * u[j] * (i >= j ? h[i][j] : h[j][i]);
    }
    double two[4][4] = {{haa}, {hao, h[3][3]}}, x[2] = {-ga, -g[3]};
    small_cholesky(2, two);
    small_forward(2, two, x);
    double decrement = x[0] * x[0] + x[1] * x[1];
    small_backward(2, two, x);
    *dN = vec3_scale(p->axis, x[0]);
    *dO = x[1];
    return decrement;
  }
  double x[4] = {-g[0], -g[1], -g[2], -g[3]};
  small_cholesky(4, h);
  small_forward(4, h, x);
  double decrement = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
  small_backward(4, h, x);
  *dN = vec3(x[0], x[1], x[2]);
  *dO = x[3];
  return decrement;
}

typedef enum { SEARCH_DONE, SEARCH_STALLED } SearchResult;

/* Line search: finds a plane along the Newton step (dN, dO) at which the potential U is lower, and sets its normal *N
 * and offset *O. The step is halved until the plane is feasible and U decreases by the Armijo condition, with a small
 * constant because U is convex. Returns SEARCH_STALLED, with the plane unchanged, if MAX_BACKTRACKS trials did not
 * suffice. */
static SearchResult line_search(const PlaneProblem* p, Vec3* N, double* O, Vec3 dN, double dO, double decrement,
                                Evaluations* e) {
  double alpha = 1.0, energy = e->at[e->now].energy;
  Evaluation* trial = &e->at[1 - e->now];
  for (int k = 0; k < MAX_BACKTRACKS; k++, alpha *= 0.5) {
    Vec3 trial_N = vec3_add_scaled(*N, alpha, dN);
    double trial_O = *O + alpha * dO;
    if (!evaluate(p, trial_N, trial_O, trial)) continue;
    if (trial->energy > energy - 1e-4 * alpha * decrement + 1e-14 * energy) continue;
    *N = trial_N;
    *O = trial_O;
    e->now = 1 - e->now;
    return SEARCH_DONE;
  }
  return SEARCH_STALLED;
}

/* Moves the plane (*N, *O) by the full Newton step (dN, dO). Returns false, with the plane unchanged, if the new plane
 * is infeasible. */
static bool full_step(const PlaneProblem* p, Vec3* N, double* O, Vec3 dN, double dO, Evaluations* e) {
  Vec3 trial_N = vec3_add(*N, dN);
  if (!evaluate(p, trial_N, *O + dO, &e->at[1 - e->now])) return false;
  *N = trial_N;
  *O += dO;
  e->now = 1 - e->now;
  return true;
}

/* Minimises the potential U of the selected vertices, starting from the plane (*N, *O), and sets the plane to the
 * minimum. Adds the number of iterations to *iterations. Returns false if the iteration does not converge. */
static bool minimize(PlaneProblem* p, Vec3* N, double* O, Evaluations* e, int* iterations) {
  double previous_decrement = INFINITY, checked_energy = INFINITY;
  for (; *iterations < MAX_ITERATIONS; ++*iterations) {
    double energy = e->at[e->now].energy;
    if (energy < ENERGY_FLOOR) return true;
    if (*iterations >= STALL_CHECK_START && *iterations % STALL_CHECK_INTERVAL == 0) {
      if (*iterations > STALL_CHECK_START && !(energy < (1 - MIN_RELATIVE_DECREASE) * checked_energy)) return false;
      checked_energy = energy;
    }
    Vec3 dN;
    double dO;
    double decrement = newton_step(p, &e->at[e->now], *N, &dN, &dO);
    if (!isfinite(decrement)) return false;
    if (decrement <= 1e-25 * energy) return true;
    if (!is_culling_valid(p, vec3_add(*N, dN), *O + dO))
      gather_vertices(p, *N, *O, true); /* the evaluation at (N, O) stays valid */
    /* Near the minimum, convergence is quadratic. A test whether U decreases is not needed, and could fail because of
     * rounding. */
    bool is_quadratic = decrement < QUADRATIC_DECREMENT * energy;
    if (is_quadratic && decrement >= 0.5 * previous_decrement)
      return true; /* the decrement does not decrease further, because of rounding of 1 - |n| */
    previous_decrement = decrement;
    if (is_quadratic && full_step(p, N, O, dN, dO, e)) {
      if (decrement < p->last_step * e->at[e->now].energy) return true;
      continue;
    }
    if (line_search(p, N, O, dN, dO, decrement, e) == SEARCH_STALLED) return is_quadratic;
  }
  return false;
}

static void store_solution(const PlaneProblem* p, double support, Vec3 N, double O, const Evaluation* e,
                           PlaneSolution* out) {
  double s = support, s2 = 1.0 / (s * s), s3 = s2 / s;
  out->plane = (Plane){p->origin, vec3_scale(N, s), O * s};
  out->energy = e->energy / s;
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < 10; k++) out->side[side].second[k] = e->side[side].second[k] * s3;
    for (int k = 0; k < 4; k++) out->side[side].first[k] = e->side[side].first[k] * s2;
    out->side[side].ball = e->side[side].ball * s2;
    out->clearance[side] = e->z_min[side] * s;
  }
  out->norm_first = e->norm_first * s2;
  out->norm_second = e->norm_second * s3;
}

PlaneOutcome plane_solve(const HullInstance* a, const HullInstance* b, double support, Plane start,
                         PlaneScratch* scratch, PlaneSolution* solution) {
  assert(support > 0);
  PlaneProblem p = {.hull = {a, b},
                    .inv_s = 1.0 / support,
                    .norm_scale = support / BARRIER_NORM_WIDTH,
                    .origin = plane_origin(a, b),
                    .half_space = b->half_space,
                    .scratch = scratch,
                    .last_step = scratch->last_step > 0 ? scratch->last_step : DECREMENT_TO_ROUNDING};
  ring_world(a, p.origin, p.rings[0]);
  ring_world(b, p.origin, p.rings[1]);
  start = plane_about(start, p.origin);
  Vec3 N = vec3_scale(start.n, p.inv_s);
  double O = start.o * p.inv_s;
  if (p.half_space) {
    p.axis = vec3_scale(b->normal, -1.0);
    p.axis_level = (vec3_dot(b->normal, p.origin) - b->offset);
    N = vec3_scale(p.axis, vec3_norm(N));
  }
  Evaluations e;
  e.now = 0;
  solution->iterations = 0;
  if (!isfinite(vec3_norm(N) + O)) return PLANE_INFEASIBLE;
  gather_vertices(&p, N, O, false);
  if (!evaluate(&p, N, O, &e.at[0])) return PLANE_INFEASIBLE;
  if (!minimize(&p, &N, &O, &e, &solution->iterations)) return PLANE_FAILED;
  store_solution(&p, support, N, O, &e.at[e.now], solution);
  return e.at[e.now].energy < ENERGY_FLOOR ? PLANE_SEPARATED : PLANE_ACTIVE;
}
