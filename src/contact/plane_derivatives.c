/* First and second derivatives of a pair's potential, the minimum of U over all planes p, with respect to the twists of
 * both bodies (docs/derivations/contact.md, C4 and C5). */
#include <assert.h>
#include <string.h>

#include "contact/plane.h"
#include "contact/small_matrix.h"

/* Consider a weighted sum of the clearances n . y + o of the vertices y of a body from the plane (n, o). Sets out[6] to
 * its derivative with respect to the twist of the body about its reference point d, ((x - w d) x n, w n). v = (x, w):
 * weighted sum of the vertices, and sum of the weights. d: relative to the origin of the plane. */
static inline void sum_by_twist(const double v[4], Vec3 d, Vec3 n, double out[6]) {
  Vec3 r = vec3(v[0] - v[3] * d.x, v[1] - v[3] * d.y, v[2] - v[3] * d.z);
  Vec3 c = vec3_cross(r, n);
  out[0] = c.x;
  out[1] = c.y;
  out[2] = c.z;
  out[3] = v[3] * n.x;
  out[4] = v[3] * n.y;
  out[5] = v[3] * n.z;
}

static void unpack(const double packed[10], double full[4][4]) {
  int k = 0;
  for (int i = 0; i < 4; i++)
    for (int j = i; j < 4; j++, k++) full[i][j] = full[j][i] = packed[k];
}

/* Derivatives of the energy's gradients with respect to the twists of both bodies, differentiated with respect to the
 * plane p = (n, o). The matrix is transposed so that inner loops run over the 12 components of both twists. */
typedef struct {
  double v[4][12];
} Cross;

/* Sets force, moment and Hessian block sum P'' b b^T of one body in *out. b: derivative of a vertex's clearance with
 * respect to the twist of the body; P', P'': derivatives of the vertex barrier. Sets the derivative of the body's
 * gradient with respect to the plane p in *cross: sum P'' b x~^T + sigma P' db/dp (SideMoments). Twists move the
 * centres of balls, so the moment and db/dp are taken about the centres (C6). */
static void side_terms(const SideMoments* m, Vec3 d, Vec3 n, int side, PairDerivatives* out, Cross* cross) {
  double g[4][4], t[4][6];
  unpack(m->second, g);
  for (int k = 0; k < 4; k++) sum_by_twist(g[k], d, n, t[k]); /* t[k] is column k of sum P'' b x~^T */
  int base = 6 * side;
  double(*h)[12] = out->hessian + base;
  for (int i = 0; i < 6;
       i++) { /* the transformation that was applied to the columns is applied to the rows; the result is symmetric */
    double x = t[0][i] - t[3][i] * d.x, y = t[1][i] - t[3][i] * d.y, z = t[2][i] - t[3][i] * d.z;
    h[0][base + i] = y * n.z - z * n.y;
    h[1][base + i] = z * n.x - x * n.z;
    h[2][base + i] = x * n.y - y * n.x;
    h[3][base + i] = t[3][i] * n.x;
    h[4][base + i] = t[3][i] * n.y;
    h[5][base + i] = t[3][i] * n.z;
  }
  double w = m->first[3];
  Vec3 rho = vec3(m->first[0] - w * d.x, m->first[1] - w * d.y,
                  m->first[2] - w * d.z); /* rho = sum of sigma P' r over the vertices, with the vector r from the
                                             reference point of the body to a vertex */
  if (m->ball < 0) rho = vec3_add_scaled(rho, m->ball / vec3_norm(n), n);
  Mat3 rx = mat3_cross(rho);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) t[k][i] += rx.m[i][k];
    t[k][3 + k] += w;
  }
  for (int k = 0; k < 4; k++) memcpy(&cross->v[k][base], t[k], sizeof(t[k]));
  out->force[side] = vec3_scale(n, w);
  out->moment[side] = mat3_outer(n, rho);
}

/* Eliminates the plane p, which minimises the potential, from the Hessian: subtracts cross H_pp^-1 cross^T. Replaces
 * *cross by the response of the plane, -H_pp^-1 cross^T. h: Hessian H_pp of the potential with respect to p,
 * overwritten. order: number of unknowns of the plane, 4 or 2. */
static void eliminate(int order, double h[4][4], Cross* cross, double hessian[12][12]) {
  double(*z)[12] = cross->v;
  small_cholesky(order, h);
  for (int i = 0; i < order; i++) {
    for (int k = 0; k < i; k++)
      for (int c = 0; c < 12; c++) z[i][c] -= h[i][k] * z[k][c];
    for (int c = 0; c < 12; c++) z[i][c] *= h[i][i];
  }
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < order; k++) {
      double f = z[k][i];
      for (int j = 0; j < 12; j++) hessian[i][j] -= f * z[k][j];
    }
  for (int i = order - 1; i >= 0; i--) {
    for (int k = i + 1; k < order; k++)
      for (int c = 0; c < 12; c++) z[i][c] -= h[k][i] * z[k][c];
    for (int c = 0; c < 12; c++) z[i][c] *= h[i][i];
  }
  for (int i = 0; i < order; i++)
    for (int c = 0; c < 12; c++) z[i][c] = -z[i][c];
}

/* Eliminates the plane of a pair with a half-space from the Hessian, like `eliminate`. The direction of the normal is
 * fixed; only its length and the offset o are unknown. Sets *response to the response of n and o. */
static void eliminate_half_space(double h[4][4], const Cross* cross, Vec3 u, double hessian[12][12],
                                 PlaneResponse* response) {
  double axis[3] = {u.x, u.y, u.z}, two[4][4] = {{0}};
  for (int i = 0; i < 3; i++) {
    two[1][0] += axis[i] * h[3][i];
    for (int j = 0; j < 3; j++) two[0][0] += axis[i] * axis[j] * (i >= j ? h[i][j] : h[j][i]);
  }
  two[1][1] = h[3][3];
  Cross reduced;
  for (int c = 0; c < 12; c++) {
    reduced.v[0][c] = cross->v[0][c] * axis[0] + cross->v[1][c] * axis[1] + cross->v[2][c] * axis[2];
    reduced.v[1][c] = cross->v[3][c];
  }
  eliminate(2, two, &reduced, hessian);
  for (int c = 0; c < 12; c++) {
    for (int i = 0; i < 3; i++) response->dp[i][c] = axis[i] * reduced.v[0][c];
    response->dp[3][c] = reduced.v[1][c];
  }
}

void plane_derivatives(const PlaneSolution* solution, bool half_space, Vec3 reference_a, Vec3 reference_b,
                       PairDerivatives* out, PlaneResponse* response) {
  assert(out && response);
  Cross cross;
  double gradient[4], h[4][4];
  Vec3 n = solution->plane.n, origin = solution->plane.origin;
  memset(out->hessian, 0, sizeof(out->hessian));
  out->energy = solution->energy;
  side_terms(&solution->side[0], vec3_sub(reference_a, origin), n, 0, out, &cross);
  plane_assemble(&solution->side[0], &solution->side[1], solution->norm_first, solution->norm_second, n, gradient, h);
  if (half_space) { /* the half-space is fixed to the world, so only side A moves */
    for (int k = 0; k < 4; k++) memset(&cross.v[k][6], 0, 6 * sizeof(double));
    out->force[1] = vec3_scale(out->force[0], -1.0);
    out->moment[1] = mat3_zero();
    eliminate_half_space(h, &cross, vec3_scale(n, 1.0 / vec3_norm(n)), out->hessian, response);
    return;
  }
  side_terms(&solution->side[1], vec3_sub(reference_b, origin), n, 1, out, &cross);
  eliminate(4, h, &cross, out->hessian);
  memcpy(response->dp, cross.v, sizeof(response->dp));
}

void plane_balance(const PlaneSolution* solution, const PlaneResponse* response, PairDerivatives* out) {
  assert(response && out);
  double gradient[4], h[4][4], by_twist[12] = {0};
  plane_assemble(&solution->side[0], &solution->side[1], solution->norm_first, solution->norm_second, solution->plane.n,
                 gradient, h);
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 12; i++) by_twist[i] += gradient[k] * response->dp[k][i];
  for (int side = 0; side < 2; side++) {
    const double* by_side = by_twist + 6 * side;
    out->moment[side] =
        mat3_add(out->moment[side], mat3_scale(mat3_cross(vec3(by_side[0], by_side[1], by_side[2])), 0.5));
    out->force[side] = vec3_add(out->force[side], vec3(by_side[3], by_side[4], by_side[5]));
  }
}

Plane plane_predict(Plane plane, const PlaneResponse* response, const double twist_a[6], const double twist_b[6]) {
  double d[4];
  for (int k = 0; k < 4; k++) {
    d[k] = 0;
    for (int i = 0; i < 6; i++) d[k] += response->dp[k][i] * twist_a[i] + response->dp[k][6 + i] * twist_b[i];
  }
  /* The rotation of the normal n must not increase its length |n|. Therefore |n| is set to its first-order prediction,
   * and n and o are scaled together, which keeps the position of the plane. */
  Vec3 n = vec3_add(plane.n, vec3(d[0], d[1], d[2]));
  double length = vec3_norm(plane.n);
  double wanted = length + (plane.n.x * d[0] + plane.n.y * d[1] + plane.n.z * d[2]) / length,
         scale = wanted / vec3_norm(n);
  plane.n = vec3_scale(n, scale);
  plane.o = (plane.o + d[3]) * scale;
  return plane;
}
