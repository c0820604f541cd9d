#include "support/reference_plane.h"

#include <math.h>
#include <stdlib.h>

typedef long double Real;

typedef struct {
  const Body *a, *b;
  Real s;
  Vec3 origin;
  int unknowns;     /* 4, or 2 for a half-space: length of the normal and offset */
  Real basis[4][4]; /* p = basis^T x : rows are unknowns */
} Problem;

typedef struct {
  Real energy, gradient[4], hessian[4][4], largest, rounding;
  bool feasible;
} Sums;

/* P_s, P_s', P_s'' */
static void barrier(Real c, Real s, Real p[3]) {
  p[0] = p[1] = p[2] = 0;
  if (c >= s) return;
  Real d = c - s, c5 = c * c * c * c * c;
  p[0] = d * d * d * d / c5;
  p[1] = 4 * d * d * d / c5 - 5 * d * d * d * d / (c5 * c);
  p[2] = 12 * d * d / c5 - 40 * d * d * d / (c5 * c) + 30 * d * d * d * d / (c5 * c * c);
}

/* g: the point with 1; r: radius of a ball about it, which is nearer by r |n|; reach: size of the coordinates of which
 * the clearance is a difference [m]. */
static void add_term(const Problem* q, Sums* sums, const Real p[4], const Real g[4], Real sigma, Real r, Real reach) {
  Real length = sqrtl(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), c = -r * length, value[3], dc[4];
  for (int i = 0; i < 4; i++) c += sigma * p[i] * g[i];
  if (!(c > 0)) {
    sums->feasible = false;
    return;
  }
  if (c >= q->s) return;
  barrier(c, q->s, value);
  for (int i = 0; i < 4; i++) dc[i] = sigma * g[i] - (i < 3 ? r * p[i] / length : 0);
  sums->energy += value[0];
  sums->largest = fmaxl(sums->largest, fabsl(value[1]));
  sums->rounding += fabsl(value[1]) * (reach + r);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      Real bend = i < 3 && j < 3 ? -r * ((i == j) - p[i] * p[j] / (length * length)) / length : 0;
      sums->hessian[i][j] += value[2] * dc[i] * dc[j] + value[1] * bend;
    }
    sums->gradient[i] += value[1] * dc[i];
  }
}

static void add_norm(const Problem* q, Sums* sums, const Real p[4]) {
  Real length = sqrtl(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), value[3];
  if (!(length < 1) || !(length > 0)) {
    sums->feasible = false;
    return;
  }
  /* Q((1 - |n|) / sigma) / s = sigma / s P_sigma(1 - |n|), sigma = 1e-3 */
  const Real sigma = 1e-3L;
  barrier(1 - length, sigma, value);
  for (int k = 0; k < 3; k++) value[k] *= sigma / q->s;
  sums->energy += value[0];
  sums->rounding += fabsl(value[1]);
  for (int i = 0; i < 3; i++) {
    sums->gradient[i] -= value[1] * p[i] / length;
    for (int j = 0; j < 3; j++) {
      Real uu = p[i] * p[j] / (length * length);
      sums->hessian[i][j] += value[2] * uu - value[1] / length * ((i == j) - uu);
    }
  }
}

static void add_body(const Problem* q, Sums* sums, const Real p[4], const Body* body, Real sigma) {
  if (body->hull.half_space) { /* the boundary point under the origin */
    Real level = (Real)vec3_dot(body->hull.normal, q->origin) - (Real)body->hull.offset;
    const Real g[4] = {-level * (Real)body->hull.normal.x, -level * (Real)body->hull.normal.y,
                       -level * (Real)body->hull.normal.z, 1};
    add_term(q, sums, p, g, sigma, 0, (Real)(vec3_norm(q->origin) + fabs(body->hull.offset)));
    return;
  }
  for (int k = 0; k < body->hull.points.count; k++) {
    Vec3 x = body_vertex(body, k);
    const Real g[4] = {(Real)x.x - (Real)q->origin.x, (Real)x.y - (Real)q->origin.y, (Real)x.z - (Real)q->origin.z, 1};
    add_term(q, sums, p, g, sigma, (Real)body->hull.rounding, (Real)(vec3_norm(x) + vec3_norm(q->origin)));
  }
}

static Sums evaluate(const Problem* q, const Real p[4]) {
  Sums sums = {.feasible = true};
  add_norm(q, &sums, p);
  if (sums.feasible) add_body(q, &sums, p, q->a, -1);
  if (sums.feasible) add_body(q, &sums, p, q->b, 1);
  return sums;
}

/* Solve the reduced Newton system by elimination with pivoting. */
static void newton_step(const Problem* q, const Sums* sums, Real step[4]) {
  int n = q->unknowns;
  Real m[4][5];
  for (int i = 0; i < n; i++) {
    m[i][n] = 0;
    for (int k = 0; k < 4; k++) m[i][n] -= q->basis[i][k] * sums->gradient[k];
    for (int j = 0; j < n; j++) {
      m[i][j] = 0;
      for (int k = 0; k < 4; k++)
        for (int l = 0; l < 4; l++) m[i][j] += q->basis[i][k] * q->basis[j][l] * sums->hessian[k][l];
    }
  }
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int r = c + 1; r < n; r++)
      if (fabsl(m[r][c]) > fabsl(m[pivot][c])) pivot = r;
    for (int k = 0; k <= n; k++) {
      Real swap = m[c][k];
      m[c][k] = m[pivot][k];
      m[pivot][k] = swap;
    }
    for (int r = 0; r < n; r++) {
      if (r == c || m[c][c] == 0) continue;
      Real f = m[r][c] / m[c][c];
      for (int k = c; k <= n; k++) m[r][k] -= f * m[c][k];
    }
  }
  for (int k = 0; k < 4; k++) step[k] = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++)
      if (m[i][i] != 0) step[k] += q->basis[i][k] * m[i][n] / m[i][i];
}

static void start_plane(const Problem* q, Real p[4]) {
  Vec3 normal, middle;
  if (q->b->hull.half_space) {
    normal = vec3_scale(q->b->hull.normal, -1.0);
    double gap = body_distance(q->a, q->b);
    middle = vec3_scale(q->b->hull.normal, q->b->hull.offset + 0.5 * gap);
    middle = vec3_add(
        middle,
        vec3_scale(vec3_sub(q->origin, vec3_scale(q->b->hull.normal, vec3_dot(q->b->hull.normal, q->origin))), 1.0));
  } else {
    GjkResult found;
    pair_distance(&q->a->hull, &q->b->hull, NULL, &found);
    normal = found.normal;
    middle = vec3_scale(vec3_add(found.witness_a, found.witness_b), 0.5);
  }
  Real length = 1 - 0.5e-3L; /* mid sigma */
  p[0] = length * (Real)normal.x;
  p[1] = length * (Real)normal.y;
  p[2] = length * (Real)normal.z;
  Vec3 m = vec3_sub(middle, q->origin);
  p[3] = -(p[0] * (Real)m.x + p[1] * (Real)m.y + p[2] * (Real)m.z);
}

static void set_basis(Problem* q) {
  q->unknowns = q->b->hull.half_space ? 2 : 4;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) q->basis[i][k] = i == k;
  if (q->unknowns == 4) return;
  Vec3 n = q->b->hull.normal;
  const Real rows[2][4] = {{-(Real)n.x, -(Real)n.y, -(Real)n.z, 0}, {0, 0, 0, 1}};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 4; k++) q->basis[i][k] = rows[i][k];
}

static bool descend(const Problem* q, Real p[4], Sums* sums) {
  Real step[4], slope = 0;
  newton_step(q, sums, step);
  for (int k = 0; k < 4; k++) slope += step[k] * sums->gradient[k];
  if (-slope < 1e-20L * sums->energy)
    return false; /* the decrement: the plane is right to 1e-10, the energy to 1e-20 */
  for (Real alpha = 1; alpha > 1e-15L; alpha /= 2) {
    Real trial[4];
    for (int k = 0; k < 4; k++) trial[k] = p[k] + alpha * step[k];
    Sums next = evaluate(q, trial);
    if (!next.feasible || next.energy > sums->energy + 1e-3L * alpha * slope) continue;
    for (int k = 0; k < 4; k++) p[k] = trial[k];
    *sums = next;
    return true;
  }
  return false;
}

ReferencePlane reference_plane(const Body* a, const Body* b, double support, Vec3 origin) {
  Problem q = {.a = a, .b = b, .s = (Real)support, .origin = origin};
  set_basis(&q);
  Real p[4];
  start_plane(&q, p);
  Sums sums = evaluate(&q, p);
  for (int k = 0; k < 500 && sums.feasible && descend(&q, p, &sums); k++) {}
  Real norm = 0;
  for (int i = 0; i < q.unknowns; i++) {
    Real g = 0;
    for (int k = 0; k < 4; k++) g += q.basis[i][k] * sums.gradient[k];
    norm = fmaxl(norm, fabsl(g));
  }
  return (ReferencePlane){vec3((double)p[0], (double)p[1], (double)p[2]), (double)p[3], (double)sums.energy,
                          sums.largest > 0 ? (double)(norm / sums.largest) : 0,
                          sums.energy > 0 ? (double)(sums.rounding / sums.energy) : 0};
}

double reference_energy(const Body* a, const Body* b, double support, Vec3 origin, Vec3 n, double o) {
  Problem q = {.a = a, .b = b, .s = (Real)support, .origin = origin};
  const Real p[4] = {(Real)n.x, (Real)n.y, (Real)n.z, (Real)o};
  Sums sums = evaluate(&q, p);
  return sums.feasible ? (double)sums.energy : HUGE_VAL;
}
