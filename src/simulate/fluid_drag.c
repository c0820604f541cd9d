/* Drag on the triangles of a link's surface, and its reverse derivatives (docs/derivations/fluid.md, L9, L12, L13). */
#include "simulate/fluid_drag.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The viscous force on a sphere of surface S at the speed v is mu kappa S v with kappa S = VISCOUS_RATE / kappa, since
 * kappa = 3 / (2 r) and S = 4 pi r^2. */
#define VISCOUS_RATE (9 * M_PI)

/* ---------------------------------------------------------------- geometry of triangles */

static double coordinate(Vec3 p, int j) {
  const double x[4] = {p.x, p.y, p.z, 1};
  return x[j];
}

static Vec3 apply(const double m[3][4], Vec3 p) {
  return vec3(m[0][0] * p.x + m[0][1] * p.y + m[0][2] * p.z + m[0][3],
              m[1][0] * p.x + m[1][1] * p.y + m[1][2] * p.z + m[1][3],
              m[2][0] * p.x + m[2][1] * p.y + m[2][2] * p.z + m[2][3]);
}

/* Returns the product of the transposed rotation part of m and the vector n. */
static Vec3 apply_back(const double m[3][4], Vec3 n) {
  return vec3(m[0][0] * n.x + m[1][0] * n.y + m[2][0] * n.z, m[0][1] * n.x + m[1][1] * n.y + m[2][1] * n.z,
              m[0][2] * n.x + m[1][2] * n.y + m[2][2] * n.z);
}

static void add_outer(double m[3][4], double factor, Vec3 n, Vec3 p) {
  const double row[3] = {n.x, n.y, n.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) m[i][j] += factor * row[i] * coordinate(p, j);
}

/* Returns twice the area of the triangle p, times its normal. */
static Vec3 doubled_area(const Vec3 p[3]) { return vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])); }

/* Adds the derivative of a scalar with respect to the corners p to p_bar. area_bar: derivative of the scalar with
 * respect to the vector doubled_area(p). */
static void doubled_area_adjoint(const Vec3 p[3], Vec3 area_bar, Vec3 p_bar[3]) {
  for (int c = 0; c < 3; c++)
    p_bar[c] = vec3_add(p_bar[c], vec3_cross(vec3_sub(p[(c + 1) % 3], p[(c + 2) % 3]), area_bar));
}

/* The part of a triangle where a linear function is positive, divided into `count` triangles. odd: corner at which the
 * sign of the function differs from the signs at both other corners. The two edges at this corner are cut at p[odd] + t
 * (p[other] - p[odd]): t[0] belongs to the corner after odd, t[1] to the corner before it. */
typedef struct {
  int count, positive, odd;
  double t[2];
  Vec3 p[2][3];
} Clip;

static Clip clip_where_positive(const Vec3 p[3], const double f[3]) {
  Clip out = {0};
  for (int k = 0; k < 3; k++) out.positive += f[k] > 0;
  out.count = out.positive == 0 ? 0 : 1 + (out.positive == 2);
  memcpy(out.p[0], p, sizeof out.p[0]);
  if (out.positive == 0 || out.positive == 3) return out;
  for (int k = 0; k < 3; k++)
    if ((f[k] > 0) == (out.positive == 1)) out.odd = k;
  Vec3 a = p[out.odd], b = p[(out.odd + 1) % 3], c = p[(out.odd + 2) % 3];
  out.t[0] = f[out.odd] / (f[out.odd] - f[(out.odd + 1) % 3]);
  out.t[1] = f[out.odd] / (f[out.odd] - f[(out.odd + 2) % 3]);
  Vec3 cut_b = vec3_add_scaled(a, out.t[0], vec3_sub(b, a)), cut_c = vec3_add_scaled(a, out.t[1], vec3_sub(c, a));
  const Vec3 tip[3] = {a, cut_b, cut_c}, low[3] = {cut_b, b, c}, high[3] = {cut_b, c, cut_c};
  memcpy(out.p[0], out.positive == 1 ? tip : low, sizeof tip);
  memcpy(out.p[1], high, sizeof high);
  return out;
}

/* Adds the derivatives of a scalar with respect to the corners p and to the function's values f at these corners to
 * p_bar and f_bar. bar: derivative of the scalar with respect to clip->p. f_bar may be NULL. */
static void clip_adjoint(const Clip* clip, const Vec3 p[3], const double f[3], const Vec3 bar[2][3], Vec3 p_bar[3],
                         double* f_bar) {
  if (clip->positive == 0) return;
  if (clip->positive == 3) {
    for (int k = 0; k < 3; k++) p_bar[k] = vec3_add(p_bar[k], bar[0][k]);
    return;
  }
  int odd = clip->odd, other[2] = {(odd + 1) % 3, (odd + 2) % 3};
  bool tip = clip->positive == 1;
  Vec3 cut[2] = {tip ? bar[0][1] : vec3_add(bar[0][0], bar[1][0]), tip ? bar[0][2] : bar[1][2]};
  if (tip) {
    p_bar[odd] = vec3_add(p_bar[odd], bar[0][0]);
  } else {
    p_bar[other[0]] = vec3_add(p_bar[other[0]], bar[0][1]);
    p_bar[other[1]] = vec3_add(p_bar[other[1]], vec3_add(bar[0][2], bar[1][1]));
  }
  for (int n = 0; n < 2; n++) {
    int to = other[n];
    double fall = f[odd] - f[to], t_bar = vec3_dot(cut[n], vec3_sub(p[to], p[odd]));
    p_bar[odd] = vec3_add_scaled(p_bar[odd], 1 - clip->t[n], cut[n]);
    p_bar[to] = vec3_add_scaled(p_bar[to], clip->t[n], cut[n]);
    if (!f_bar) continue;
    f_bar[odd] -= t_bar * f[to] / (fall * fall);
    f_bar[to] += t_bar * f[odd] / (fall * fall);
  }
}

static void corner_depths(const DragInput* in, const Vec3 p[3], double depth[3]) {
  for (int k = 0; k < 3; k++) depth[k] = in->has_level ? in->level - vec3_dot(in->up, pose_apply(in->now, p[k])) : 1;
}

/* Sets speed[k] to the component along the unit vector n of the velocity of the corner p[k]. Returns their sum. */
static double corner_speeds(const double velocity[3][4], Vec3 n, const Vec3 p[3], double speed[3]) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum += speed[k] = vec3_dot(n, apply(velocity, p[k]));
  return sum;
}

/* ---------------------------------------------------------------- drag on a face */

/* Factor mu kappa of viscous drag, and the implicitness theta of its damper with the argument z and the derivative by_z
 * = dtheta/dz. */
typedef struct {
  double theta, by_z, z, factor;
} Viscosity;

static Viscosity viscosity(const DragInput* in) {
  Viscosity out = {.factor = in->viscosity * in->slowing};
  out.z = in->viscosity > 0 ? VISCOUS_RATE * in->viscosity * in->dt / (in->slowing * in->mass) : 0;
  out.theta = damper_implicitness(out.z, &out.by_z);
  return out;
}

static void add_viscous_drag(const DragInput* in, const Vec3 p[3], DragForce* out) {
  Viscosity mu = viscosity(in);
  double factor = mu.factor * vec3_norm(doubled_area(p)) / 24, sum[4] = {0};
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 4; j++) sum[j] += coordinate(p[k], j);
  for (int j = 0; j < 4; j++)
    for (int m = 0; m < 4; m++) {
      double moment = sum[j] * sum[m];
      for (int k = 0; k < 3; k++) moment += coordinate(p[k], j) * coordinate(p[k], m);
      for (int i = 0; i < 3; i++) {
        out->matrix[4 * i + j][4 * i + m] += mu.theta * factor * moment;
        out->constant[i][j] += (1 - mu.theta) * factor * moment * in->w[i][m];
      }
    }
}

/* Adds the pressure drag of the triangle p to *out. The triangle moved into the fluid along its normal n in the
 * previous step. */
static void add_pressure_drag(const DragInput* in, const Vec3 p[3], Vec3 n, DragForce* out) {
  const double normal[3] = {n.x, n.y, n.z};
  double a[3], x[3], y[3], sum = corner_speeds(in->w, n, p, a);
  double factor = in->density * vec3_norm(doubled_area(p)) / 240;
  for (int j = 0; j < 4; j++)
    for (int m = 0; m < 4; m++) {
      double moment = 0, x_sum = 0, y_sum = 0, a_x = 0, a_y = 0;
      for (int k = 0; k < 3; k++) {
        x[k] = coordinate(p[k], j);
        y[k] = coordinate(p[k], m);
        x_sum += x[k];
        y_sum += y[k];
        a_x += a[k] * x[k];
        a_y += a[k] * y[k];
        moment += (sum + 2 * a[k]) * x[k] * y[k];
      }
      moment = factor * (moment + sum * x_sum * y_sum + x_sum * a_y + y_sum * a_x);
      for (int i = 0; i < 3; i++)
        for (int l = 0; l < 3; l++) out->matrix[4 * i + j][4 * l + m] += normal[i] * normal[l] * moment;
    }
}

void drag_add_face(const DragInput* in, const Vec3 p[3], DragForce* force) {
  double depth[3], speed[3];
  Vec3 area = doubled_area(p);
  if (!(vec3_norm(area) > 0)) return;
  Vec3 n = vec3_normalized(mat3_mul_vec(in->now.r, area));
  corner_depths(in, p, depth);
  Clip wet = clip_where_positive(p, depth);
  for (int k = 0; k < wet.count; k++) {
    add_viscous_drag(in, wet.p[k], force);
    corner_speeds(in->w, n, wet.p[k], speed);
    Clip into = clip_where_positive(wet.p[k], speed);
    for (int m = 0; m < into.count; m++) add_pressure_drag(in, into.p[m], n, force);
  }
}

/* ---------------------------------------------------------------- adjoint of drag */

/* Adds the derivative of a scalar with respect to the corners p to p_bar. bar: derivative of the scalar with respect to
 * twice the triangle's area. */
static void area_size_adjoint(const Vec3 p[3], double bar, Vec3 p_bar[3]) {
  Vec3 area = doubled_area(p);
  double size = vec3_norm(area);
  if (size > 0) doubled_area_adjoint(p, vec3_scale(area, bar / size), p_bar);
}

/* Adds the derivatives of the work of viscous drag in `motion`. The work is mu kappa c : (motion M), with the velocity
 * matrix c = theta v + (1 - theta) w and the second moment M of the triangle's area. */
static void viscous_adjoint(const DragInput* in, const Vec3 p[3], const double motion[3][4], DragBar* bar,
                            Vec3 p_bar[3]) {
  Viscosity mu = viscosity(in);
  double c[3][4], theta_bar = 0, product = 0, size = vec3_norm(doubled_area(p));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) c[i][j] = mu.theta * in->v[i][j] + (1 - mu.theta) * in->w[i][j];
  Vec3 c_sum = vec3(0, 0, 0), l_sum = vec3(0, 0, 0), c_at[3], l_at[3];
  for (int k = 0; k < 3; k++) {
    c_at[k] = apply(c, p[k]);
    l_at[k] = apply(motion, p[k]);
    c_sum = vec3_add(c_sum, c_at[k]);
    l_sum = vec3_add(l_sum, l_at[k]);
  }
  double factor = mu.factor * size / 24;
  for (int k = 0; k < 3; k++) {
    Vec3 l = vec3_add(l_at[k], l_sum), u = vec3_add(c_at[k], c_sum);
    product += vec3_dot(c_at[k], l) / 24;
    theta_bar += factor * vec3_dot(l, vec3_sub(apply(in->v, p[k]), apply(in->w, p[k])));
    add_outer(bar->v, factor * mu.theta, l, p[k]);
    add_outer(bar->w, factor * (1 - mu.theta), l, p[k]);
    p_bar[k] = vec3_add_scaled(p_bar[k], factor, vec3_add(apply_back(c, l), apply_back(motion, u)));
  }
  area_size_adjoint(p, mu.factor * product, p_bar);
  double z_bar = theta_bar * mu.by_z, factor_bar = product * size;
  bar->viscosity += factor_bar * in->slowing;
  bar->slowing += factor_bar * in->viscosity;
  if (mu.by_z == 0) return;
  bar->viscosity += z_bar * VISCOUS_RATE * in->dt / (in->slowing * in->mass);
  bar->slowing -= z_bar * mu.z / in->slowing;
  bar->mass -= z_bar * mu.z / in->mass;
}

/* Adds the derivatives of the work of pressure drag in `motion`. The work is density / 2 times the integral of the
 * product of three speeds along the normal n over the triangle. The speeds belong to w, v and `motion`. */
static void pressure_adjoint(const DragInput* in, const Vec3 p[3], Vec3 n, const double motion[3][4], DragBar* bar,
                             Vec3* n_bar, Vec3 p_bar[3]) {
  double s[3][3], sum[3], dot[3] = {0}, product = 0, size = vec3_norm(doubled_area(p));
  const double(*velocity[3])[4] = {in->w, in->v, motion};
  double unused[3][4] = {{0}}, (*velocity_bar[3])[4] = {bar->w, bar->v, unused};
  for (int f = 0; f < 3; f++) sum[f] = corner_speeds(velocity[f], n, p, s[f]);
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < 3; k++) dot[f] += s[(f + 1) % 3][k] * s[(f + 2) % 3][k];
  double factor = in->density * size / 240;
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < 3; k++) {
      int g = (f + 1) % 3, h = (f + 2) % 3;
      double by = sum[g] * sum[h] + dot[f] + sum[g] * s[h][k] + sum[h] * s[g][k] + 2 * s[g][k] * s[h][k];
      if (f == 0) product += by * s[0][k] / 240;
      add_outer(velocity_bar[f], factor * by, n, p[k]);
      *n_bar = vec3_add_scaled(*n_bar, factor * by, apply(velocity[f], p[k]));
      p_bar[k] = vec3_add_scaled(p_bar[k], factor * by, apply_back(velocity[f], n));
    }
  bar->density += product * size;
  area_size_adjoint(p, in->density * product, p_bar);
}

/* Adds the derivatives of a scalar with respect to the rotation at t and the corners p. n_bar: its derivative with
 * respect to the unit normal n of the triangle in world axes. */
static void normal_adjoint(const DragInput* in, const Vec3 p[3], Vec3 n_bar, DragBar* bar, Vec3 p_bar[3]) {
  Vec3 area = doubled_area(p), local = vec3_normalized(area), back = mat3_tmul_vec(in->now.r, n_bar);
  const double row[3] = {n_bar.x, n_bar.y, n_bar.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) bar->now[i][j] += row[i] * coordinate(local, j);
  back = vec3_add_scaled(back, -vec3_dot(back, local), local);
  doubled_area_adjoint(p, vec3_scale(back, 1 / vec3_norm(area)), p_bar);
}

static void depth_adjoint(const DragInput* in, const Vec3 p[3], const double depth_bar[3], DragBar* bar,
                          Vec3 p_bar[3]) {
  for (int k = 0; k < 3 && in->has_level; k++) {
    bar->level += depth_bar[k];
    bar->up = vec3_add_scaled(bar->up, -depth_bar[k], pose_apply(in->now, p[k]));
    add_outer(bar->now, -depth_bar[k], in->up, p[k]);
    p_bar[k] = vec3_add_scaled(p_bar[k], -depth_bar[k], mat3_tmul_vec(in->now.r, in->up));
  }
}

void drag_face_adjoint(const DragInput* in, const Vec3 p[3], const double motion[3][4], DragBar* bar, Vec3 p_bar[3]) {
  double depth[3], speed[3], depth_bar[3] = {0};
  Vec3 area = doubled_area(p), n_bar = vec3(0, 0, 0), wet_bar[2][3] = {{{0}}};
  if (!(vec3_norm(area) > 0)) return;
  Vec3 n = vec3_normalized(mat3_mul_vec(in->now.r, area));
  corner_depths(in, p, depth);
  Clip wet = clip_where_positive(p, depth);
  for (int k = 0; k < wet.count; k++) {
    Vec3 into_bar[2][3] = {{{0}}};
    viscous_adjoint(in, wet.p[k], motion, bar, wet_bar[k]);
    corner_speeds(in->w, n, wet.p[k], speed);
    Clip into = clip_where_positive(wet.p[k], speed);
    for (int m = 0; m < into.count; m++) pressure_adjoint(in, into.p[m], n, motion, bar, &n_bar, into_bar[m]);
    /* the pressure is 0 where the speed is, so the position of the cut has no derivative */
    clip_adjoint(&into, wet.p[k], speed, (const Vec3(*)[3])into_bar, wet_bar[k], NULL);
  }
  clip_adjoint(&wet, p, depth, (const Vec3(*)[3])wet_bar, p_bar, depth_bar);
  depth_adjoint(in, p, depth_bar, bar, p_bar);
  normal_adjoint(in, p, n_bar, bar, p_bar);
}
