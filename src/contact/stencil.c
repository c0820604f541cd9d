#include "contact/stencil.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- closest points (law-ipc.md, N17) */

static void set_difference(Stencil* s) {
  s->y = vec3(0, 0, 0);
  for (int i = 0; i < s->count; i++) s->y = vec3_add_scaled(s->y, s->c[i], s->x[i]);
  for (int k = 0; k < s->free_count; k++) {
    s->tangent[k] = vec3(0, 0, 0);
    for (int i = 0; i < s->count; i++) s->tangent[k] = vec3_add_scaled(s->tangent[k], s->by_free[k][i], s->x[i]);
  }
  s->d = vec3_norm(s->y);
  s->n = vec3_scale(s->y, 1 / s->d);
}

/* set_corner_weights, set_edge_weights and set_interior_weights set the weights and free coordinates of the closest
 * point of a triangle. The closest point is a corner, a point of the edge from corner `from` to corner `to`, or a point
 * inside the triangle. */
static void set_corner_weights(Stencil* s, int corner) {
  s->free_count = 0;
  s->c[1] = s->c[2] = s->c[3] = 0;
  s->c[corner] = -1;
}

static void set_edge_weights(Stencil* s, int from, int to, double t) {
  s->free_count = 1;
  s->c[1] = s->c[2] = s->c[3] = 0;
  s->c[from] = t - 1;
  s->c[to] = -t;
  memset(s->by_free[0], 0, sizeof(s->by_free[0]));
  s->by_free[0][from] = 1;
  s->by_free[0][to] = -1;
}

static void set_interior_weights(Stencil* s, double v, double w) {
  s->free_count = 2;
  s->c[1] = v + w - 1;
  s->c[2] = -v;
  s->c[3] = -w;
  memset(s->by_free, 0, sizeof(s->by_free));
  s->by_free[0][1] = s->by_free[1][1] = 1;
  s->by_free[0][2] = s->by_free[1][3] = -1;
}

/* Finds the feature of the triangle that is nearest to the point, and sets the weights. The signs of scalar products
 * tell the Voronoi region in which the point lies. */
static void find_nearest_feature(Stencil* s) {
  Vec3 p = s->x[0], a = s->x[1], b = s->x[2], c = s->x[3], ab = vec3_sub(b, a), ac = vec3_sub(c, a);
  double d1 = vec3_dot(ab, vec3_sub(p, a)), d2 = vec3_dot(ac, vec3_sub(p, a));
  double d3 = vec3_dot(ab, vec3_sub(p, b)), d4 = vec3_dot(ac, vec3_sub(p, b));
  double d5 = vec3_dot(ab, vec3_sub(p, c)), d6 = vec3_dot(ac, vec3_sub(p, c));
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0 && d2 <= 0)
    set_corner_weights(s, 1);
  else if (d3 >= 0 && d4 <= d3)
    set_corner_weights(s, 2);
  else if (vc <= 0 && d1 >= 0 && d3 <= 0)
    set_edge_weights(s, 1, 2, d1 / (d1 - d3));
  else if (d6 >= 0 && d5 <= d6)
    set_corner_weights(s, 3);
  else if (vb <= 0 && d2 >= 0 && d6 <= 0)
    set_edge_weights(s, 1, 3, d2 / (d2 - d6));
  else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    set_edge_weights(s, 2, 3, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
  else
    set_interior_weights(s, vb / (va + vb + vc), vc / (va + vb + vc));
}

void stencil_point_triangle(Stencil* s) {
  s->count = 4;
  s->is_edge_pair = s->is_half_space = false;
  s->c[0] = 1;
  find_nearest_feature(s);
  set_difference(s);
}

static double clamp_to_unit(double t) { return t < 0 ? 0 : t > 1 ? 1 : t; }

void stencil_edge_edge(Stencil* s) {
  Vec3 u = vec3_sub(s->x[1], s->x[0]), v = vec3_sub(s->x[3], s->x[2]), r = vec3_sub(s->x[0], s->x[2]);
  double a = vec3_dot(u, u), e = vec3_dot(v, v), f = vec3_dot(v, r), c = vec3_dot(u, r), b = vec3_dot(u, v);
  double gram_inverse = a * e - b * b;
  double p = gram_inverse > 1e-14 * a * e ? clamp_to_unit((b * f - c * e) / gram_inverse) : 0, q = (b * p + f) / e;
  if (!(q > 0 && q < 1)) {
    q = clamp_to_unit(q);
    p = clamp_to_unit((b * q - c) / a);
  }
  bool free_p = p > 0 && p<1, free_q = q> 0 && q < 1;
  s->count = 4;
  s->is_edge_pair = true;
  s->is_half_space = false;
  s->c[0] = 1 - p;
  s->c[1] = p;
  s->c[2] = q - 1;
  s->c[3] = -q;
  memset(s->by_free, 0, sizeof(s->by_free));
  s->free_count = 0;
  if (free_p) {
    s->by_free[s->free_count][0] = -1;
    s->by_free[s->free_count++][1] = 1;
  }
  if (free_q) {
    s->by_free[s->free_count][2] = 1;
    s->by_free[s->free_count++][3] = -1;
  }
  set_difference(s);
}

void stencil_half_space(Stencil* s, Vec3 normal, double offset) {
  s->count = 1;
  s->free_count = 0;
  s->c[0] = 1;
  s->is_edge_pair = false;
  s->is_half_space = true;
  s->d = vec3_dot(normal, s->x[0]) - offset;
  s->n = normal;
  s->y = vec3_scale(normal, s->d);
}

/* ---------------------------------------------------------------- angle of two edges (N19) */

double edges_sine_squared(Vec3 u, Vec3 v, double gradient[6], double hessian[6][6]) {
  assert(!(vec3_dot(u, u) <= 0) && !(vec3_dot(v, v) <= 0));
  double p = vec3_dot(u, v), a = vec3_dot(u, u), b = vec3_dot(v, v), ab = a * b;
  double x[3][6] = {{v.x, v.y, v.z, u.x, u.y, u.z}, {2 * u.x, 2 * u.y, 2 * u.z}, {0, 0, 0, 2 * v.x, 2 * v.y, 2 * v.z}};
  double by[3] = {-2 * p / ab, p * p / (ab * a), p * p / (ab * b)};
  double second[3][3] = {{-2 / ab, 2 * p / (ab * a), 2 * p / (ab * b)},
                         {2 * p / (ab * a), -2 * p * p / (ab * a * a), -p * p / (ab * ab)},
                         {2 * p / (ab * b), -p * p / (ab * ab), -2 * p * p / (ab * b * b)}};
  Vec3 cross = vec3_cross(u, v);
  for (int i = 0; gradient && i < 6; i++) gradient[i] = by[0] * x[0][i] + by[1] * x[1][i] + by[2] * x[2][i];
  for (int i = 0; hessian && i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) sum += second[k][l] * x[k][i] * x[l][j];
      if (i % 3 == j % 3) sum += i == j ? 2 * by[i < 3 ? 1 : 2] : by[0];
      hessian[i][j] = sum;
    }
  return vec3_dot(cross, cross) /
         ab; /* squared sine, computed from the cross product because 1 - p^2 / ab loses its digits if it is small */
}

/* ---------------------------------------------------------------- derivatives with respect to the points (N18) */

/* Sets `out` to (E^T E)^-1. The columns of E are the derivatives of the vector between the closest points with respect
 * to its free coordinates. */
static void inverse_tangent_gram(const Stencil* s, double out[2][2]) {
  double a = s->free_count > 0 ? vec3_dot(s->tangent[0], s->tangent[0]) : 1;
  if (s->free_count < 2) {
    out[0][0] = 1 / a;
    out[0][1] = out[1][0] = out[1][1] = 0;
    return;
  }
  double b = vec3_dot(s->tangent[0], s->tangent[1]), c = vec3_dot(s->tangent[1], s->tangent[1]), det = a * c - b * b;
  out[0][0] = c / det;
  out[1][1] = a / det;
  out[0][1] = out[1][0] = -b / det;
}

/* y: vector between the closest points; c_i: weight of point i in y. Returns the derivative of the product c_i y with
 * respect to the free coordinate k of the closest points: c_i e_k + (dc_i/dk) y with e_k = dy/dk. */
static Vec3 coupling(const Stencil* s, int i, int k) {
  return vec3_add(vec3_scale(s->tangent[k], s->c[i]), vec3_scale(s->y, s->by_free[k][i]));
}

/* Sets `out` to the 3x3 block for the points i and j of the Hessian of the distance d = |y|. gram_inverse: result of
 * inverse_tangent_gram. */
static void distance_block(const Stencil* s, const double gram_inverse[2][2], int i, int j, double out[3][3]) {
  Mat3 m = mat3_zero();
  if (!s->is_half_space) {
    m = mat3_scale(mat3_sub(mat3_identity(), mat3_outer(s->n, s->n)), s->c[i] * s->c[j]);
    for (int k = 0; k < s->free_count; k++)
      for (int l = 0; l < s->free_count; l++)
        m = mat3_sub(m, mat3_scale(mat3_outer(coupling(s, i, k), coupling(s, j, l)), gram_inverse[k][l]));
    m = mat3_scale(m, 1 / s->d);
  }
  memcpy(out, m.m, sizeof(m.m));
}

void stencil_derivatives(const Stencil* s, const StencilEnergy* e, StencilDerivatives* out) {
  double gram_inverse[2][2], by_d[12] = {0}, by_s[12] = {0}, sine_gradient[6], sine_hessian[6][6], block[3][3];
  inverse_tangent_gram(s, gram_inverse);
  memset(out, 0, sizeof(*out));
  int n = 3 * s->count;
  for (int i = 0; i < s->count; i++) vec3_store(vec3_scale(s->n, s->c[i]), by_d + 3 * i);
  bool has_angle = s->is_edge_pair && (e->by_s != 0 || e->by_ss != 0 || e->by_ds != 0);
  if (has_angle) {
    edges_sine_squared(vec3_sub(s->x[1], s->x[0]), vec3_sub(s->x[3], s->x[2]), sine_gradient, sine_hessian);
    for (int i = 0; i < 12; i++) by_s[i] = (i / 3 % 2 ? 1 : -1) * sine_gradient[3 * (i / 6) + i % 3];
  }
  for (int i = 0; i < n; i++) {
    double g = e->by_d * by_d[i] + e->by_s * by_s[i];
    double* entry = i % 3 == 0   ? &out->gradient[i / 3].x
                    : i % 3 == 1 ? &out->gradient[i / 3].y
                                 : &out->gradient[i / 3].z;
    *entry = g;
  }
  for (int p = 0; p < s->count; p++)
    for (int q = 0; q < s->count; q++) {
      distance_block(s, (const double(*)[2])gram_inverse, p, q, block);
      for (int k = 0; k < 9; k++) {
        int i = 3 * p + k / 3, j = 3 * q + k % 3;
        double sum = e->by_d * block[k / 3][k % 3] + e->by_dd * by_d[i] * by_d[j];
        if (has_angle) {
          double sign = (p % 2 ? 1 : -1) * (q % 2 ? 1 : -1);
          sum += e->by_ds * (by_d[i] * by_s[j] + by_s[i] * by_d[j]) + e->by_ss * by_s[i] * by_s[j];
          sum += e->by_s * sign * sine_hessian[3 * (p / 2) + k / 3][3 * (q / 2) + k % 3];
        }
        out->hessian[i][j] = sum;
      }
    }
}

/* ---------------------------------------------------------------- adjoint (N20) */

void stencil_reverse(const Stencil* s, Vec3 y_bar, const double c_bar[STENCIL_POINTS], Vec3 out[STENCIL_POINTS]) {
  double gram_inverse[2][2], free_bar[2] = {0, 0};
  inverse_tangent_gram(s, gram_inverse);
  for (int i = 0; i < s->count; i++) out[i] = vec3_add_scaled(out[i], s->c[i], y_bar);
  for (int k = 0; k < s->free_count; k++) {
    free_bar[k] = vec3_dot(s->tangent[k], y_bar);
    for (int i = 0; i < s->count; i++) free_bar[k] += s->by_free[k][i] * c_bar[i];
  }
  for (int k = 0; k < s->free_count; k++)
    for (int l = 0; l < s->free_count; l++)
      for (int i = 0; i < s->count; i++)
        out[i] = vec3_add_scaled(out[i], -gram_inverse[k][l] * free_bar[l], coupling(s, i, k));
}
