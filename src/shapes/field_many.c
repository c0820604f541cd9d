/* Field values at many points, in two groups of eight lanes (Y1, Y4, Y9; docs/derivations/fields.md). The value at a
 * point does not depend on other points, because a part that only another lane needs has zero weight. */
#define LANES 8
#include <assert.h>

#include "base/lanes.h"
#include "shapes/shapes.h"

static Lanes3 lanes3_scale(Lanes3 v, Lanes s) { return (Lanes3){v.x * s, v.y * s, v.z * s}; }
static Lanes3 lanes3_add(Lanes3 a, Lanes3 b) { return (Lanes3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static Lanes lanes3_dot(Lanes3 a, Lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Lanes3 lanes3_rotate(const Mat3* r, Lanes3 v) {
  return (Lanes3){r->m[0][0] * v.x + r->m[0][1] * v.y + r->m[0][2] * v.z,
                  r->m[1][0] * v.x + r->m[1][1] * v.y + r->m[1][2] * v.z,
                  r->m[2][0] * v.x + r->m[2][1] * v.y + r->m[2][2] * v.z};
}
static Lanes3 lanes3_rotate_inverse(const Mat3* r, Lanes3 v) {
  return (Lanes3){r->m[0][0] * v.x + r->m[1][0] * v.y + r->m[2][0] * v.z,
                  r->m[0][1] * v.x + r->m[1][1] * v.y + r->m[2][1] * v.z,
                  r->m[0][2] * v.x + r->m[1][2] * v.y + r->m[2][2] * v.z};
}

/* Number of groups of eight points that are evaluated together, because each group is a long chain of dependent
 * operations. */
enum { GROUPS = 2 };
#define FOR_EACH_GROUP for (int group = 0; group < GROUPS; group++)

/* FieldValue of eight points. outward_jacobian is stored by rows. */
typedef struct {
  Lanes value;
  Lanes3 gradient, outward, outward_jacobian[3];
} FieldLanes;

/* ---------------------------------------------------------------- a superquadric (shapes.md, B7) */

/* Lower limit of coordinates and of their ratios. Powers of smaller numbers are zero or do not change the result. */
#define SMALLEST 1e-150

/* Norm of order n of two numbers u and v, (u^n + v^n)^(1/n), for eight points. part: u and v divided by the norm.
 * scaled: part^(n - 2). */
typedef struct {
  Lanes norm, part[2], scaled[2];
} NormLanes;

/* Sets out to the norms (u^n + v^n)^(1/n) of order n for both groups of eight points. u, v >= SMALLEST, n >= 2. */
static inline void compute_norms(const Lanes u[GROUPS], const Lanes v[GROUPS], double n, NormLanes out[GROUPS]) {
  LaneBits first[GROUPS];
  Lanes large[GROUPS], ratio[GROUPS], decay[GROUPS], sum[GROUPS], over[GROUPS];
  const double root = -1 / n;
  FOR_EACH_GROUP {
    first[group] = u[group] > v[group];
    large[group] = lanes_select(first[group], u[group], v[group]);
    ratio[group] =
        lanes_elementwise_max(lanes_select(first[group], v[group], u[group]) / large[group], lanes_broadcast(SMALLEST));
  }
  FOR_EACH_GROUP decay[group] = (n - 2) * lanes_log(ratio[group]);
  FOR_EACH_GROUP {
    decay[group] = lanes_exp_nonpositive(decay[group]);
    sum[group] = 1 + decay[group] * (ratio[group] * ratio[group]);
  }
  FOR_EACH_GROUP over[group] = lanes_log(sum[group]) * root;
  FOR_EACH_GROUP over[group] =
      lanes_exp_reduced(over[group]); /* lanes_exp_reduced is sufficient, because 1 <= sum <= 2 */
  FOR_EACH_GROUP {
    Lanes inverse = 1 / (sum[group] * over[group]), part = ratio[group] * over[group];
    Lanes whole = inverse * inverse * sum[group], scaled = decay[group] * whole;
    out[group] =
        (NormLanes){large[group] * (inverse * sum[group]),
                    {lanes_select(first[group], over[group], part), lanes_select(first[group], part, over[group])},
                    {lanes_select(first[group], whole, scaled), lanes_select(first[group], scaled, whole)}};
  }
}

/* Returns the numbers x >= 0 with the signs of the numbers y. */
static Lanes copy_signs(Lanes x, Lanes y) { return (Lanes)((LaneBits)x | ((LaneBits)y & INT64_MIN)); }

/* Gauge of a part at eight points, with its gradient. The Hessian is set only for FIELD_JACOBIANS. */
typedef struct {
  Lanes value;
  Lanes3 gradient, hessian[3];
} GaugeLanes;

/* Positions of eight points in the frame of a part. */
typedef struct {
  Lanes3 y, t; /* t: |y| / semi-axes, at least SMALLEST */
  Lanes distance;
} LocalPosition;

/* Computes the gauge of a superquadric at eight points, like quadric_evaluate at one point. The gauge is a norm of
 * order q of z and the norm of order p of x and y. round: result of the norm of x and y; all: of the outer norm. */
static inline void quadric_gauge(const double size[3], double q, double p, const NormLanes* round, const NormLanes* all,
                                 Lanes3 y, FieldMembers members, GaugeLanes* out) {
  Lanes3 slope = {copy_signs(round->scaled[0] * round->part[0] * (1 / size[0]), y.x),
                  copy_signs(round->scaled[1] * round->part[1] * (1 / size[1]), y.y),
                  copy_signs(all->scaled[1] * all->part[1] * (1 / size[2]), y.z)};
  Lanes by_round = all->scaled[0] * all->part[0];
  out->value = all->norm;
  out->gradient = (Lanes3){by_round * slope.x, by_round * slope.y, slope.z};
  if (members < FIELD_JACOBIANS) return;
  Lanes over = 1 / all->norm, bend = (q - 1) * over * (all->scaled[0] - by_round * by_round);
  Lanes within = (p - 1) * over * all->scaled[0], mixed = (1 - q) * over * by_round * slope.z;
  Lanes xy = (bend - within) * slope.x * slope.y, xz = mixed * slope.x, yz = mixed * slope.y;
  out->hessian[0] =
      (Lanes3){(bend - within) * slope.x * slope.x + within * round->scaled[0] * (1 / (size[0] * size[0])), xy, xz};
  out->hessian[1] =
      (Lanes3){xy, (bend - within) * slope.y * slope.y + within * round->scaled[1] * (1 / (size[1] * size[1])), yz};
  out->hessian[2] = (Lanes3){xz, yz, (q - 1) * over * (all->scaled[1] * (1 / (size[2] * size[2])) - slope.z * slope.z)};
}

/* Returns true for superquadrics and superellipsoids. A superellipsoid with the exponent n is a superquadric whose two
 * norms have the order 2 n. */
static bool is_quadric(const Field* field) {
  return field->kind == FIELD_SHAPE &&
         (field->shape.kind == SMOOTH_SUPERQUADRIC || field->shape.kind == SMOOTH_SUPERELLIPSOID);
}

static void locate_in_part(const Field* part, Lanes3 x, LocalPosition* out) {
  Lanes3 arm = {x.x - part->pose.t.x, x.y - part->pose.t.y, x.z - part->pose.t.z};
  const double* size = part->shape.size;
  out->y = lanes3_rotate_inverse(&part->pose.r, arm);
  out->t.x = lanes_elementwise_max(lanes_abs(out->y.x) * (1 / size[0]), lanes_broadcast(SMALLEST));
  out->t.y = lanes_elementwise_max(lanes_abs(out->y.y) * (1 / size[1]), lanes_broadcast(SMALLEST));
  out->t.z = lanes_elementwise_max(lanes_abs(out->y.z) * (1 / size[2]), lanes_broadcast(SMALLEST));
  out->distance = lanes_sqrt(lanes3_dot(out->y, out->y));
}

/* Sets *out to the field values and outward vectors of a convex part (Y1, Y6), computed from its gauge. The vectors are
 * rotated into the frame of the enclosing field. */
static inline void convert_gauge_to_field(const Field* part, const LocalPosition* at, const GaugeLanes* g,
                                          FieldMembers members, FieldLanes* out) {
  const Mat3* r = &part->pose.r;
  const double inner = part->shape.inner;
  LaneBits at_centre = at->distance <= 1e-12 * inner;
  Lanes far = lanes_elementwise_max(at->distance, lanes_broadcast(SMALLEST)), over = 1 / g->value,
        zero = lanes_broadcast(0);
  Lanes flat = 1 / lanes_sqrt(lanes3_dot(g->gradient, g->gradient));
  flat = lanes_select(at_centre, zero, flat);
  out->value = lanes_select(at_centre, lanes_broadcast(-inner), far * (1 - over));
  Lanes3 n = lanes3_scale(g->gradient, flat);
  out->outward = lanes3_rotate(r, n);
  if (members < FIELD_GRADIENTS) return;
  Lanes along = lanes_select(at_centre, zero, (1 - over) / far),
        decay = lanes_select(at_centre, zero, far * over * over);
  out->gradient = lanes3_rotate(r, lanes3_add(lanes3_scale(at->y, along), lanes3_scale(g->gradient, decay)));
  if (members < FIELD_JACOBIANS) return;
  /* outward_jacobian = (I - n n^T) H / |g| in the part's frame, with Hessian H and gradient g of the gauge; then
   * rotated by r on both sides */
  Lanes3 bent[3],
      part_along = {lanes3_dot(g->hessian[0], n), lanes3_dot(g->hessian[1], n), lanes3_dot(g->hessian[2], n)};
  const Lanes normal[3] = {n.x, n.y, n.z};
  for (int i = 0; i < 3; i++)
    bent[i] = lanes3_rotate(r, lanes3_scale(lanes3_add(g->hessian[i], lanes3_scale(part_along, -normal[i])), flat));
  for (int i = 0; i < 3; i++)
    out->outward_jacobian[i] = lanes3_add(lanes3_add(lanes3_scale(bent[0], lanes_broadcast(r->m[i][0])),
                                                     lanes3_scale(bent[1], lanes_broadcast(r->m[i][1]))),
                                          lanes3_scale(bent[2], lanes_broadcast(r->m[i][2])));
}

static void evaluate_quadrics(const Field* part, const LocalPosition at[GROUPS], FieldMembers members,
                              FieldLanes out[GROUPS]) {
  const Shape* shape = &part->shape;
  bool superellipsoid = shape->kind == SMOOTH_SUPERELLIPSOID;
  const double q = superellipsoid ? 2 * shape->exponent : 2 / shape->exponents[0];
  const double p = superellipsoid ? 2 * shape->exponent : 2 / shape->exponents[1];
  NormLanes round[GROUPS], all[GROUPS];
  Lanes u[GROUPS], v[GROUPS];
  FOR_EACH_GROUP {
    u[group] = at[group].t.x;
    v[group] = at[group].t.y;
  }
  compute_norms(u, v, p, round);
  FOR_EACH_GROUP {
    u[group] = round[group].norm;
    v[group] = at[group].t.z;
  }
  compute_norms(u, v, q, all);
  FOR_EACH_GROUP {
    GaugeLanes g = {.value = lanes_broadcast(0)};
    quadric_gauge(shape->size, q, p, &round[group], &all[group], at[group].y, members, &g);
    convert_gauge_to_field(part, &at[group], &g, members, &out[group]);
  }
}

/* ---------------------------------------------------------------- other parts, point by point */

static void store_lane(FieldLanes* out, int lane, const FieldValue* v) {
  out->value[lane] = v->value;
  Lanes3* const rows[5] = {&out->gradient, &out->outward, &out->outward_jacobian[0], &out->outward_jacobian[1],
                           &out->outward_jacobian[2]};
  const double* const outward_jacobian = &v->outward_jacobian.m[0][0];
  const Vec3 from[5] = {v->gradient, v->outward, vec3(outward_jacobian[0], outward_jacobian[1], outward_jacobian[2]),
                        vec3(outward_jacobian[3], outward_jacobian[4], outward_jacobian[5]),
                        vec3(outward_jacobian[6], outward_jacobian[7], outward_jacobian[8])};
  for (int i = 0; i < 5; i++) {
    rows[i]->x[lane] = from[i].x;
    rows[i]->y[lane] = from[i].y;
    rows[i]->z[lane] = from[i].z;
  }
}

static FieldValue load_lane(const FieldLanes* v, int lane, FieldMembers members) {
  FieldValue out = {.value = v->value[lane]};
  out.outward = vec3(v->outward.x[lane], v->outward.y[lane], v->outward.z[lane]);
  if (members < FIELD_GRADIENTS) return out;
  out.gradient = vec3(v->gradient.x[lane], v->gradient.y[lane], v->gradient.z[lane]);
  if (members < FIELD_JACOBIANS) return out;
  for (int i = 0; i < 3; i++) {
    out.outward_jacobian.m[i][0] = v->outward_jacobian[i].x[lane];
    out.outward_jacobian.m[i][1] = v->outward_jacobian[i].y[lane];
    out.outward_jacobian.m[i][2] = v->outward_jacobian[i].z[lane];
  }
  return out;
}

static void evaluate_by_lane(const Field* part, Lanes3 x, LaneBits active, FieldLanes* out) {
  *out = (FieldLanes){.value = lanes_broadcast(0)};
  for (int lane = 0; lane < LANES; lane++) {
    if (!active[lane]) continue;
    FieldValue v = field_evaluate(part, vec3(x.x[lane], x.y[lane], x.z[lane]));
    store_lane(out, lane, &v);
  }
}

/* ---------------------------------------------------------------- a union (Y4) */

/* Weighted sums over the parts of a union at eight points. least: smallest field value of a part so far. mixed: sum of
 * weight * outward gradient^T, by rows. */
typedef struct {
  Lanes least, sum;
  Lanes3 gradient, outward, outward_jacobian[3], mixed[3];
} SmoothMinimumLanes;

/* Smallest logarithm of a part's weight. Smaller weights are below half a rounding error of the result (Y9). */
#define MIN_LOG_WEIGHT (-37.0)
/* Upper bound of the field value of any part [m]. The bound is finite, so that differences of values are not NaN. */
#define MAX_FIELD_VALUE 1e300

static void rescale(SmoothMinimumLanes* s, Lanes factor, FieldMembers members) {
  s->sum *= factor;
  s->outward = lanes3_scale(s->outward, factor);
  if (members < FIELD_GRADIENTS) return;
  s->gradient = lanes3_scale(s->gradient, factor);
  if (members < FIELD_JACOBIANS) return;
  for (int i = 0; i < 3; i++) {
    s->outward_jacobian[i] = lanes3_scale(s->outward_jacobian[i], factor);
    s->mixed[i] = lanes3_scale(s->mixed[i], factor);
  }
}

static void add_to_smooth_minimum(SmoothMinimumLanes* s, double over_tau, const FieldLanes* part, LaneBits active,
                                  FieldMembers members) {
  LaneBits lower = (part->value < s->least) & active;
  if (lanes_any(lower)) {
    Lanes least = lanes_select(lower, part->value, s->least);
    rescale(s, lanes_exp_nonpositive((least - s->least) * over_tau), members);
    s->least = least;
  }
  Lanes exponent = (s->least - part->value) * over_tau;
  active &= exponent >= MIN_LOG_WEIGHT;
  Lanes w = lanes_select(active, lanes_exp_nonpositive(lanes_elementwise_min(exponent, lanes_broadcast(0))),
                         lanes_broadcast(0));
  Lanes3 turned = lanes3_scale(part->outward, w);
  s->sum += w;
  s->outward = lanes3_add(s->outward, turned);
  if (members < FIELD_GRADIENTS) return;
  s->gradient = lanes3_add(s->gradient, lanes3_scale(part->gradient, w));
  if (members < FIELD_JACOBIANS) return;
  const Lanes row[3] = {turned.x, turned.y, turned.z};
  for (int i = 0; i < 3; i++) {
    s->outward_jacobian[i] = lanes3_add(s->outward_jacobian[i], lanes3_scale(part->outward_jacobian[i], w));
    s->mixed[i] = lanes3_add(s->mixed[i], lanes3_scale(part->gradient, row[i]));
  }
}

static void smooth_minimum(const SmoothMinimumLanes* s, double tau, FieldMembers members, FieldLanes* out) {
  Lanes over = 1 / s->sum;
  out->value = s->least - tau * lanes_log(s->sum);
  out->outward = lanes3_scale(s->outward, over);
  if (members < FIELD_GRADIENTS) return;
  out->gradient = lanes3_scale(s->gradient, over);
  if (members < FIELD_JACOBIANS) return;
  const Lanes row[3] = {out->outward.x, out->outward.y, out->outward.z};
  for (int i = 0; i < 3; i++) {
    Lanes3 arm = lanes3_add(lanes3_scale(s->mixed[i], over), lanes3_scale(out->gradient, -row[i]));
    out->outward_jacobian[i] =
        lanes3_add(lanes3_scale(s->outward_jacobian[i], over), lanes3_scale(arm, lanes_broadcast(-1 / tau)));
  }
}

/* Returns true if a part has the bounds |x| - outer <= phi(x) <= |x| - inner, with the radii of its inner and outer
 * ball (Y1). Other kinds of fields have no such bounds. */
static bool has_bounding_balls(const Field* part) {
  return part->kind == FIELD_SHAPE && part->shape.kind != SMOOTH_POLYTOPE;
}

static Lanes square_distance(const Field* part, Lanes3 x) {
  Lanes3 arm = {x.x - part->pose.t.x, x.y - part->pose.t.y, x.z - part->pose.t.z};
  return lanes3_dot(arm, arm);
}

/* Largest number of parts of a union whose squared distances from the points are stored. */
enum { MAX_SQUARES = 32 };

/* Computes the squared distances of the points from the centres of the parts. Sets *bound to an upper bound of the
 * least field value in each lane. */
static void find_bound(const Field* field, Lanes3 x, Lanes squares[MAX_SQUARES], Lanes* bound) {
  Lanes least = lanes_broadcast(MAX_FIELD_VALUE);
  double inner = HUGE_VAL;
  for (int i = 0; i < field->part_count; i++) {
    Lanes square = square_distance(&field->parts[i], x);
    if (i < MAX_SQUARES) squares[i] = square;
    if (!has_bounding_balls(&field->parts[i])) continue;
    least = lanes_elementwise_min(least, square);
    inner = fmin(inner, field->parts[i].shape.inner);
  }
  *bound = lanes_sqrt(least) - (inner < HUGE_VAL ? inner : 0);
}

/* Returns the mask of lanes whose points are within `reach` of a part's bounding ball. square: squared distance of the
 * points from the part's centre. */
static LaneBits mask_near_ball(const Field* part, Lanes square, Lanes reach) {
  Lanes far = lanes_elementwise_max(reach + part->shape.outer, lanes_broadcast(0));
  return square < far * far;
}

/* Evaluates a union of fields (Y9). A part is evaluated unless its lower bound excludes a weight above e^-37. */
static void evaluate_union(const Field* field, const Lanes3 x[GROUPS], FieldMembers members, FieldLanes out[GROUPS]) {
  SmoothMinimumLanes s[GROUPS] = {{.least = lanes_broadcast(MAX_FIELD_VALUE)},
                                  {.least = lanes_broadcast(MAX_FIELD_VALUE)}};
  Lanes bound[GROUPS], squares[GROUPS][MAX_SQUARES], reach[GROUPS];
  FOR_EACH_GROUP find_bound(field, x[group], squares[group], &bound[group]);
  const double cutoff = -MIN_LOG_WEIGHT * field->smoothing, over_tau = 1 / field->smoothing;
  for (int i = 0; i < field->part_count; i++) {
    const Field* part = &field->parts[i];
    LaneBits active[GROUPS];
    FieldLanes part_fields[GROUPS];
    FOR_EACH_GROUP {
      reach[group] = lanes_elementwise_min(bound[group], s[group].least) + cutoff;
      active[group] = ~(LaneBits){0};
      if (has_bounding_balls(part))
        active[group] =
            mask_near_ball(part, i < MAX_SQUARES ? squares[group][i] : square_distance(part, x[group]), reach[group]);
    }
    if (!lanes_any(active[0] | active[1])) continue;
    if (is_quadric(part)) {
      LocalPosition at[GROUPS];
      FOR_EACH_GROUP {
        locate_in_part(part, x[group], &at[group]);
        Lanes max_ratio = lanes_elementwise_max(
            at[group].t.x, lanes_elementwise_max(at[group].t.y, at[group].t.z)); /* lower bound of the gauge gamma */
        active[group] &= at[group].distance * (max_ratio - 1) < reach[group] * max_ratio;
      }
      if (!lanes_any(active[0] | active[1])) continue;
      evaluate_quadrics(part, at, members, part_fields);
    } else {
      FOR_EACH_GROUP evaluate_by_lane(part, x[group], active[group], &part_fields[group]);
    }
    FOR_EACH_GROUP add_to_smooth_minimum(&s[group], over_tau, &part_fields[group], active[group], members);
  }
  FOR_EACH_GROUP smooth_minimum(&s[group], field->smoothing, members, &out[group]);
}

/* ---------------------------------------------------------------- all fields */

static void rotate_to_body(const Pose* pose, FieldMembers members, FieldValue* v) {
  v->outward = mat3_mul_vec(pose->r, v->outward);
  if (members < FIELD_GRADIENTS) return;
  v->gradient = mat3_mul_vec(pose->r, v->gradient);
  if (members < FIELD_JACOBIANS) return;
  v->outward_jacobian = mat3_mul(mat3_mul(pose->r, v->outward_jacobian), mat3_transpose(pose->r));
}

/* Evaluates `count` points, at most GROUPS * LANES. Unused lanes repeat the first point. */
static void evaluate_block(const Field* field, const Vec3* positions, int count, FieldMembers members,
                           FieldValue* out) {
  bool quadric = is_quadric(field);
  Lanes3 x[GROUPS];
  FieldLanes v[GROUPS];
  for (int i = 0; i < GROUPS * LANES; i++) {
    Vec3 position = positions[i < count ? i : 0];
    if (!quadric) position = pose_apply_inverse(field->pose, position);
    x[i / LANES].x[i % LANES] = position.x;
    x[i / LANES].y[i % LANES] = position.y;
    x[i / LANES].z[i % LANES] = position.z;
  }
  if (quadric) {
    LocalPosition at[GROUPS];
    FOR_EACH_GROUP locate_in_part(field, x[group], &at[group]);
    evaluate_quadrics(field, at, members, v);
  } else {
    evaluate_union(field, x, members, v);
  }
  for (int i = 0; i < count; i++) {
    out[i] = load_lane(&v[i / LANES], i % LANES, members);
    if (!quadric) rotate_to_body(&field->pose, members, &out[i]);
  }
}

void field_evaluate_many(const Field* field, const Vec3* positions, int count, FieldMembers members, FieldValue* out) {
  assert(positions || count == 0);
  bool vectorized = is_quadric(field) || field->kind == FIELD_UNION;
  for (int i = 0; i < count && !vectorized; i++) out[i] = field_evaluate(field, positions[i]);
  for (int i = 0; i < count && vectorized; i += GROUPS * LANES)
    evaluate_block(field, positions + i, count - i < GROUPS * LANES ? count - i : GROUPS * LANES, members, out + i);
}
