/* Gap of the growth distance for contact potentials: gradient with respect to both poses, and derivatives of the
 * gradient (growth.md, G8, G9). */
#include <assert.h>

#include "query/growth.h"

/* Quantities from which the gradient of the gap is computed. */
typedef struct {
  double length, closeness; /* length: distance of the centres; closeness: 1 - gap / length */
  Vec3 d, m, p, s; /* d: unit direction between the centres; m: n / (n . d) for the normal n; p, s: from the centres to
                      the witness points */
  double cosine;   /* cosine of the angle between the normal n and the direction d between the centres */
} GapGeometry;

static GapGeometry compute_gap_geometry(Pose pose_a, Pose pose_b, const Growth* g) {
  Vec3 r = vec3_sub(pose_b.t, pose_a.t);
  GapGeometry l = {
      .length = vec3_norm(r), .p = vec3_sub(g->witness_a, pose_a.t), .s = vec3_sub(g->witness_b, pose_b.t)};
  l.d = vec3_scale(r, 1 / l.length);
  l.closeness = 1 - g->gap / l.length;
  l.cosine = vec3_dot(g->normal, l.d);
  l.m = vec3_scale(g->normal, 1 / l.cosine);
  return l;
}

void growth_gap_gradient(Pose pose_a, Pose pose_b, const Growth* answer, double out[QUERY_POSE_COLUMNS]) {
  GapGeometry l = compute_gap_geometry(pose_a, pose_b, answer);
  Vec3 f = vec3_add_scaled(vec3_scale(l.m, l.closeness), 1 - l.closeness, l.d);
  growth_put(vec3_cross(l.m, l.p), out, 1);
  growth_put(vec3_scale(f, -1), out + 3, 1);
  growth_put(vec3_cross(l.s, l.m), out + 6, 1);
  growth_put(f, out + 9, 1);
}

/* Writes column k of the derivatives of the gap, the gap's gradient, the normal and the witness points to out. rows:
 * output of growth_derivatives. */
static void write_gap_column(const GapGeometry* l, const Growth* g, const double* rows, int columns, int k,
                             double* out) {
  Vec3 e = vec3_axis(k), none = {0, 0, 0};
  bool moves = k < QUERY_POSE_COLUMNS && k % 6 >= 3;
  Vec3 centre_a = moves && k < 6 ? e : none, centre_b = moves && k >= 6 ? e : none;
  Vec3 dr = vec3_sub(centre_b, centre_a), dn = growth_column(rows, GROWTH_NORMAL, columns, k);
  Vec3 wa = growth_column(rows, GROWTH_WITNESS_A, columns, k), wb = growth_column(rows, GROWTH_WITNESS_B, columns, k);
  double gap = rows[GROWTH_GAP * columns + k], length = vec3_dot(l->d, dr);
  Vec3 dd = vec3_scale(vec3_add_scaled(dr, -length, l->d), 1 / l->length);
  double cosine = vec3_dot(dn, l->d) + vec3_dot(g->normal, dd);
  double closeness = (length - gap - l->closeness * length) / l->length;
  Vec3 dm = vec3_scale(vec3_add_scaled(dn, -cosine, l->m), 1 / l->cosine);
  Vec3 dp = vec3_sub(wa, centre_a), ds = vec3_sub(wb, centre_b);
  Vec3 df = vec3_add(vec3_scale(dm, l->closeness), vec3_scale(dd, 1 - l->closeness));
  df = vec3_add_scaled(df, closeness, vec3_sub(l->m, l->d));
  out[(ptrdiff_t)GAP_VALUE * columns] = gap;
  double* gradient = out + (ptrdiff_t)GAP_GRADIENT * columns;
  growth_put(vec3_add(vec3_cross(dm, l->p), vec3_cross(l->m, dp)), gradient, columns);
  growth_put(vec3_scale(df, -1), gradient + (ptrdiff_t)3 * columns, columns);
  growth_put(vec3_add(vec3_cross(ds, l->m), vec3_cross(l->s, dm)), gradient + (ptrdiff_t)6 * columns, columns);
  growth_put(df, gradient + (ptrdiff_t)9 * columns, columns);
  growth_put(dn, out + (ptrdiff_t)GAP_NORMAL * columns, columns);
  growth_put(wa, out + (ptrdiff_t)GAP_WITNESS_A * columns, columns);
  growth_put(wb, out + (ptrdiff_t)GAP_WITNESS_B * columns, columns);
}

const char* growth_gap_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                                   bool parameters, double* work, double* out) {
  assert(answer && work && out);
  double condition;
  const char* why = growth_derivatives(a, pose_a, b, pose_b, answer, parameters, work, &condition);
  if (why) return why;
  int shape_columns = parameters ? shape_parameter_count(a) + shape_parameter_count(b) : 0,
      columns = QUERY_POSE_COLUMNS + shape_columns;
  GapGeometry l = compute_gap_geometry(pose_a, pose_b, answer);
  for (int k = 0; k < columns; k++) write_gap_column(&l, answer, work, columns, k, out + k);
  return NULL;
}

HalfSpaceGap half_space_gap(const Shape* shape, Pose pose, Vec3 normal, double offset) {
  assert(!(fabs(vec3_norm(normal) - 1) > 1e-6));
  Vec3 down = mat3_tmul_vec(pose.r, vec3_scale(normal, -1));
  HalfSpaceGap g = {.normal = normal, .support = shape_support(shape, down)};
  g.arm = mat3_mul_vec(pose.r, g.support.point);
  g.point = vec3_add(pose.t, g.arm);
  g.gap = vec3_dot(normal, g.point) - offset;
  return g;
}

void half_space_gap_gradient(const HalfSpaceGap* g, double out[QUERY_POSE_COLUMNS]) {
  growth_put(vec3_cross(g->arm, g->normal), out, 1);
  growth_put(g->normal, out + 3, 1);
  for (int k = 6; k < QUERY_POSE_COLUMNS; k++) out[k] = 0;
}

/* Derivatives with respect to one displacement or parameter: of the normal, of the gap, and of the position of the
 * lowest point. moved: part of the position's derivative from a translation of the shape. arm: part from rotations and
 * shape parameters. */
typedef struct {
  Vec3 normal, moved, arm;
  double gap;
} LowestPointDerivative;

static bool lowest_point_derivative(const Shape* shape, Pose pose, Vec3 origin, const HalfSpaceGap* g, int k,
                                    LowestPointDerivative* out) {
  Vec3 e = vec3_axis(k), n = g->normal, slide = {0, 0, 0};
  Vec3 down = mat3_tmul_vec(pose.r, vec3_scale(n, -1)), turn = {0, 0, 0};
  *out = (LowestPointDerivative){.gap = 0};
  if (k >= 3 && k < 6) out->moved = e;
  if (k < 3) {
    out->arm = vec3_cross(e, g->arm);
    turn = mat3_tmul_vec(pose.r, vec3_cross(e, n));
  }
  if (k >= 6 && k < 9) {
    out->normal = vec3_cross(e, n);
    turn = mat3_tmul_vec(pose.r, vec3_scale(out->normal, -1));
    out->gap = vec3_dot(out->normal, vec3_sub(g->point, origin));
  }
  if (k >= 9 && k < QUERY_POSE_COLUMNS) out->gap = -vec3_dot(n, e);
  int parameter = k < QUERY_POSE_COLUMNS ? -1 : k - QUERY_POSE_COLUMNS;
  if (parameter >= 0 || vec3_dot(turn, turn) > 0)
    if (!shape_support_derivative(shape, &g->support, down, parameter < 0 ? &turn : NULL, parameter, &slide))
      return false;
  out->arm = vec3_add(out->arm, mat3_mul_vec(pose.r, slide));
  out->gap += vec3_dot(n, vec3_add(out->moved, out->arm));
  return true;
}

const char* half_space_gap_derivatives(const Shape* shape, Pose pose, Vec3 origin, const HalfSpaceGap* g,
                                       bool parameters, double* out) {
  int columns = QUERY_POSE_COLUMNS + (parameters ? shape_parameter_count(shape) : 0);
  for (int k = 0; k < columns; k++) {
    LowestPointDerivative l;
    if (!lowest_point_derivative(shape, pose, origin, g, k, &l)) return "the surface is flat where it is nearest";
    Vec3 point = vec3_add(l.moved, l.arm);
    Vec3 foot = vec3_sub(vec3_add_scaled(point, -l.gap, g->normal), vec3_scale(l.normal, g->gap));
    double* gradient = out + (ptrdiff_t)GAP_GRADIENT * columns + k;
    out[GAP_VALUE * columns + k] = l.gap;
    growth_put(vec3_add(vec3_cross(l.arm, g->normal), vec3_cross(g->arm, l.normal)), gradient, columns);
    growth_put(l.normal, gradient + (ptrdiff_t)3 * columns, columns);
    growth_put(vec3(0, 0, 0), gradient + (ptrdiff_t)6 * columns, columns);
    growth_put(vec3(0, 0, 0), gradient + (ptrdiff_t)9 * columns, columns);
    growth_put(vec3_scale(l.normal, -1), out + (ptrdiff_t)GAP_NORMAL * columns + k, columns);
    growth_put(point, out + (ptrdiff_t)GAP_WITNESS_A * columns + k, columns);
    growth_put(foot, out + (ptrdiff_t)GAP_WITNESS_B * columns + k, columns);
  }
  return NULL;
}
