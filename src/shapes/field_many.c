/* Field values at many points, in two groups of eight lanes (Y1, Y4, Y9). docs/derivations/fields.md
 * The result at a point does not depend on other points, because a part that only another lane needs has zero
 * weight. */
#define LANES 8
#include <assert.h>

#include "base/lanes.h"
#include "shapes/shapes.h"

static Lanes3 lanes3_scale(Lanes3 v, Lanes s) { return (Lanes3){v.x * s, v.y * s, v.z * s}; }
static Lanes3 lanes3_add(Lanes3 a, Lanes3 b) { return (Lanes3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static Lanes lanes3_dot(Lanes3 a, Lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Lanes3 lanes3_turned(const Mat3* r, Lanes3 v) {
  return (Lanes3){r->m[0][0] * v.x + r->m[0][1] * v.y + r->m[0][2] * v.z,
                  r->m[1][0] * v.x + r->m[1][1] * v.y + r->m[1][2] * v.z,
                  r->m[2][0] * v.x + r->m[2][1] * v.y + r->m[2][2] * v.z};
}
static Lanes3 lanes3_turned_back(const Mat3* r, Lanes3 v) {
  return (Lanes3){r->m[0][0] * v.x + r->m[1][0] * v.y + r->m[2][0] * v.z,
                  r->m[0][1] * v.x + r->m[1][1] * v.y + r->m[2][1] * v.z,
                  r->m[0][2] * v.x + r->m[1][2] * v.y + r->m[2][2] * v.z};
}

/* Number of groups of eight points that are processed together. The operations of two groups overlap, because each
 * group is a long dependency chain. */
enum { SIDES = 2 };
#define EACH_SIDE for (int side = 0; side < SIDES; side++)

/* FieldValue of eight points. turn is stored by rows. */
typedef struct {
  Lanes value;
  Lanes3 gradient, outward, turn[3];
} FieldLanes;

/* ---------------------------------------------------------------- a superquadric (B7) */

/* Lower limit of coordinates and of their ratios. Powers of smaller numbers are zero or do not change the result. */
#define SMALLEST 1e-150

/* Norm of two numbers (Norm in superquadric.c) for eight points. In the arrays, index 0 belongs to the first number,
 * index 1 to the second. */
typedef struct {
  Lanes norm, part[2], less[2];
} NormLanes;

/* Sets out to the norms of (u, v) of order n for both groups, stage by stage. u, v >= SMALLEST, n >= 2. */
static inline void norms_of(const Lanes u[SIDES], const Lanes v[SIDES], double n, NormLanes out[SIDES]) {
  LaneBits first[SIDES];
  Lanes large[SIDES], ratio[SIDES], steep[SIDES], sum[SIDES], over[SIDES];
  const double root = -1 / n;
  EACH_SIDE {
    first[side] = u[side] > v[side];
    large[side] = lanes_select(first[side], u[side], v[side]);
    ratio[side] =
        lanes_elementwise_max(lanes_select(first[side], v[side], u[side]) / large[side], lanes_broadcast(SMALLEST));
  }
  EACH_SIDE steep[side] = (n - 2) * lanes_log(ratio[side]);
  EACH_SIDE {
    steep[side] = lanes_exp_nonpositive(steep[side]);
    sum[side] = 1 + steep[side] * (ratio[side] * ratio[side]);
  }
  EACH_SIDE over[side] = lanes_log(sum[side]) * root;
  EACH_SIDE over[side] = lanes_exp_reduced(over[side]); /* lanes_exp_reduced is sufficient, because 1 <= sum <= 2 */
  EACH_SIDE {
    Lanes inverse = 1 / (sum[side] * over[side]), part = ratio[side] * over[side];
    Lanes whole = inverse * inverse * sum[side], less = steep[side] * whole;
    out[side] = (NormLanes){large[side] * (inverse * sum[side]),
                            {lanes_select(first[side], over[side], part), lanes_select(first[side], part, over[side])},
                            {lanes_select(first[side], whole, less), lanes_select(first[side], less, whole)}};
  }
}

/* Returns the numbers x >= 0 with the signs of the numbers y. */
static Lanes signed_as(Lanes x, Lanes y) { return (Lanes)((LaneBits)x | ((LaneBits)y & INT64_MIN)); }

/* Gauge of a part at eight points, with its gradient. The Hessian is set only for FIELD_JACOBIANS. */
typedef struct {
  Lanes value;
  Lanes3 gradient, hessian[3];
} GaugeLanes;

/* Positions of eight points in the frame of a part. */
typedef struct {
  Lanes3 y, t; /* t: |y| / semi-axes, at least SMALLEST */
  Lanes distance;
} QuadricPlace;

/* Computes the gauge of a superquadric at eight points, like quadric_evaluate at one point. q: order of the outer norm;
 * p: order of the norm of x and y. round, all: results of both norms. */
static inline void quadric_gauge(const double size[3], double q, double p, const NormLanes* round, const NormLanes* all,
                                 Lanes3 y, FieldMembers wanted, GaugeLanes* out) {
  Lanes3 slope = {signed_as(round->less[0] * round->part[0] * (1 / size[0]), y.x),
                  signed_as(round->less[1] * round->part[1] * (1 / size[1]), y.y),
                  signed_as(all->less[1] * all->part[1] * (1 / size[2]), y.z)};
  Lanes by_round = all->less[0] * all->part[0];
  out->value = all->norm;
  out->gradient = (Lanes3){by_round * slope.x, by_round * slope.y, slope.z};
  if (wanted < FIELD_JACOBIANS) return;
  Lanes over = 1 / all->norm, bend = (q - 1) * over * (all->less[0] - by_round * by_round);
  Lanes within = (p - 1) * over * all->less[0], mixed = (1 - q) * over * by_round * slope.z;
  Lanes xy = (bend - within) * slope.x * slope.y, xz = mixed * slope.x, yz = mixed * slope.y;
  out->hessian[0] =
      (Lanes3){(bend - within) * slope.x * slope.x + within * round->less[0] * (1 / (size[0] * size[0])), xy, xz};
  out->hessian[1] =
      (Lanes3){xy, (bend - within) * slope.y * slope.y + within * round->less[1] * (1 / (size[1] * size[1])), yz};
  out->hessian[2] = (Lanes3){xz, yz, (q - 1) * over * (all->less[1] * (1 / (size[2] * size[2])) - slope.z * slope.z)};
}

/* Returns true for superquadrics and superellipsoids. A superellipsoid with the exponent n is a superquadric with p = q
 * = 2 n. */
static bool is_quadric(const Field* field) {
  return field->kind == FIELD_SHAPE &&
         (field->shape.kind == SMOOTH_SUPERQUADRIC || field->shape.kind == SMOOTH_SUPERELLIPSOID);
}

static void quadric_place(const Field* part, Lanes3 x, QuadricPlace* out) {
  Lanes3 apart = {x.x - part->pose.t.x, x.y - part->pose.t.y, x.z - part->pose.t.z};
  const double* size = part->shape.size;
  out->y = lanes3_turned_back(&part->pose.r, apart);
  out->t.x = lanes_elementwise_max(lanes_abs(out->y.x) * (1 / size[0]), lanes_broadcast(SMALLEST));
  out->t.y = lanes_elementwise_max(lanes_abs(out->y.y) * (1 / size[1]), lanes_broadcast(SMALLEST));
  out->t.z = lanes_elementwise_max(lanes_abs(out->y.z) * (1 / size[2]), lanes_broadcast(SMALLEST));
  out->distance = lanes_sqrt(lanes3_dot(out->y, out->y));
}

/* Sets *out to the field values (Y1) and (Y6), rotated into the frame of the enclosing field. */
static inline void gauge_field(const Field* part, const QuadricPlace* at, const GaugeLanes* g, FieldMembers wanted,
                               FieldLanes* out) {
  const Mat3* r = &part->pose.r;
  const double inner = part->shape.inner;
  LaneBits centre = at->distance <= 1e-12 * inner;
  Lanes far = lanes_elementwise_max(at->distance, lanes_broadcast(SMALLEST)), over = 1 / g->value,
        none = lanes_broadcast(0);
  Lanes flat = 1 / lanes_sqrt(lanes3_dot(g->gradient, g->gradient));
  flat = lanes_select(centre, none, flat);
  out->value = lanes_select(centre, lanes_broadcast(-inner), far * (1 - over));
  Lanes3 n = lanes3_scale(g->gradient, flat);
  out->outward = lanes3_turned(r, n);
  if (wanted < FIELD_GRADIENTS) return;
  Lanes along = lanes_select(centre, none, (1 - over) / far), steep = lanes_select(centre, none, far * over * over);
  out->gradient = lanes3_turned(r, lanes3_add(lanes3_scale(at->y, along), lanes3_scale(g->gradient, steep)));
  if (wanted < FIELD_JACOBIANS) return;
  /* turn = (I - n n^T) H / |g| in the part's frame, with Hessian H and gradient g of the gauge; then rotated by r on
   * both sides */
  Lanes3 bent[3],
      part_along = {lanes3_dot(g->hessian[0], n), lanes3_dot(g->hessian[1], n), lanes3_dot(g->hessian[2], n)};
  const Lanes normal[3] = {n.x, n.y, n.z};
  for (int i = 0; i < 3; i++)
    bent[i] = lanes3_turned(r, lanes3_scale(lanes3_add(g->hessian[i], lanes3_scale(part_along, -normal[i])), flat));
  for (int i = 0; i < 3; i++)
    out->turn[i] = lanes3_add(lanes3_add(lanes3_scale(bent[0], lanes_broadcast(r->m[i][0])),
                                         lanes3_scale(bent[1], lanes_broadcast(r->m[i][1]))),
                              lanes3_scale(bent[2], lanes_broadcast(r->m[i][2])));
}

static void quadric_fields(const Field* part, const QuadricPlace at[SIDES], FieldMembers wanted,
                           FieldLanes out[SIDES]) {
  const Shape* shape = &part->shape;
  bool even = shape->kind == SMOOTH_SUPERELLIPSOID;
  const double q = even ? 2 * shape->exponent : 2 / shape->exponents[0];
  const double p = even ? 2 * shape->exponent : 2 / shape->exponents[1];
  NormLanes round[SIDES], all[SIDES];
  Lanes u[SIDES], v[SIDES];
  EACH_SIDE {
    u[side] = at[side].t.x;
    v[side] = at[side].t.y;
  }
  norms_of(u, v, p, round);
  EACH_SIDE {
    u[side] = round[side].norm;
    v[side] = at[side].t.z;
  }
  norms_of(u, v, q, all);
  EACH_SIDE {
    GaugeLanes g = {.value = lanes_broadcast(0)};
    quadric_gauge(shape->size, q, p, &round[side], &all[side], at[side].y, wanted, &g);
    gauge_field(part, &at[side], &g, wanted, &out[side]);
  }
}

/* ---------------------------------------------------------------- other parts, point by point */

static void put_lane(FieldLanes* out, int lane, const FieldValue* v) {
  out->value[lane] = v->value;
  Lanes3* const rows[5] = {&out->gradient, &out->outward, &out->turn[0], &out->turn[1], &out->turn[2]};
  const double* const turn = &v->turn.m[0][0];
  const Vec3 from[5] = {v->gradient, v->outward, vec3(turn[0], turn[1], turn[2]), vec3(turn[3], turn[4], turn[5]),
                        vec3(turn[6], turn[7], turn[8])};
  for (int i = 0; i < 5; i++) {
    rows[i]->x[lane] = from[i].x;
    rows[i]->y[lane] = from[i].y;
    rows[i]->z[lane] = from[i].z;
  }
}

static FieldValue lane_of(const FieldLanes* v, int lane, FieldMembers wanted) {
  FieldValue out = {.value = v->value[lane]};
  out.outward = vec3(v->outward.x[lane], v->outward.y[lane], v->outward.z[lane]);
  if (wanted < FIELD_GRADIENTS) return out;
  out.gradient = vec3(v->gradient.x[lane], v->gradient.y[lane], v->gradient.z[lane]);
  if (wanted < FIELD_JACOBIANS) return out;
  for (int i = 0; i < 3; i++) {
    out.turn.m[i][0] = v->turn[i].x[lane];
    out.turn.m[i][1] = v->turn[i].y[lane];
    out.turn.m[i][2] = v->turn[i].z[lane];
  }
  return out;
}

static void other_field(const Field* part, Lanes3 x, LaneBits active, FieldLanes* out) {
  *out = (FieldLanes){.value = lanes_broadcast(0)};
  for (int lane = 0; lane < LANES; lane++) {
    if (!active[lane]) continue;
    FieldValue v = field_evaluate(part, vec3(x.x[lane], x.y[lane], x.z[lane]));
    put_lane(out, lane, &v);
  }
}

/* ---------------------------------------------------------------- a union (Y4) */

/* Weighted sums over the parts of a union at eight points (SoftLeast in field.c). */
typedef struct {
  Lanes least, sum;
  Lanes3 gradient, outward, turn[3], mixed[3];
} SoftLanes;

/* A part is skipped if the logarithm of its weight is below this value. The weight is then below half a rounding error
 * of the result (Y9). */
#define WEIGHT_GONE (-37.0)
/* Upper bound of the field value of any part [m]. The bound is finite, so that differences of values are not NaN. */
#define NOWHERE 1e300

static void rescale(SoftLanes* s, Lanes factor, FieldMembers wanted) {
  s->sum *= factor;
  s->outward = lanes3_scale(s->outward, factor);
  if (wanted < FIELD_GRADIENTS) return;
  s->gradient = lanes3_scale(s->gradient, factor);
  if (wanted < FIELD_JACOBIANS) return;
  for (int i = 0; i < 3; i++) {
    s->turn[i] = lanes3_scale(s->turn[i], factor);
    s->mixed[i] = lanes3_scale(s->mixed[i], factor);
  }
}

static void add_part(SoftLanes* s, double over_tau, const FieldLanes* part, LaneBits active, FieldMembers wanted) {
  LaneBits lower = (part->value < s->least) & active;
  if (lanes_any(lower)) {
    Lanes least = lanes_select(lower, part->value, s->least);
    rescale(s, lanes_exp_nonpositive((least - s->least) * over_tau), wanted);
    s->least = least;
  }
  Lanes exponent = (s->least - part->value) * over_tau;
  active &= exponent >= WEIGHT_GONE;
  Lanes w = lanes_select(active, lanes_exp_nonpositive(lanes_elementwise_min(exponent, lanes_broadcast(0))),
                         lanes_broadcast(0));
  Lanes3 turned = lanes3_scale(part->outward, w);
  s->sum += w;
  s->outward = lanes3_add(s->outward, turned);
  if (wanted < FIELD_GRADIENTS) return;
  s->gradient = lanes3_add(s->gradient, lanes3_scale(part->gradient, w));
  if (wanted < FIELD_JACOBIANS) return;
  const Lanes row[3] = {turned.x, turned.y, turned.z};
  for (int i = 0; i < 3; i++) {
    s->turn[i] = lanes3_add(s->turn[i], lanes3_scale(part->turn[i], w));
    s->mixed[i] = lanes3_add(s->mixed[i], lanes3_scale(part->gradient, row[i]));
  }
}

static void soft_least(const SoftLanes* s, double tau, FieldMembers wanted, FieldLanes* out) {
  Lanes over = 1 / s->sum;
  out->value = s->least - tau * lanes_log(s->sum);
  out->outward = lanes3_scale(s->outward, over);
  if (wanted < FIELD_GRADIENTS) return;
  out->gradient = lanes3_scale(s->gradient, over);
  if (wanted < FIELD_JACOBIANS) return;
  const Lanes row[3] = {out->outward.x, out->outward.y, out->outward.z};
  for (int i = 0; i < 3; i++) {
    Lanes3 apart = lanes3_add(lanes3_scale(s->mixed[i], over), lanes3_scale(out->gradient, -row[i]));
    out->turn[i] = lanes3_add(lanes3_scale(s->turn[i], over), lanes3_scale(apart, lanes_broadcast(-1 / tau)));
  }
}

/* Returns true if a part has the bounds |x| - outer <= phi(x) <= |x| - inner, with the radii of its inner and outer
 * ball (Y1). Other kinds of fields have no such bounds. */
static bool in_balls(const Field* part) { return part->kind == FIELD_SHAPE && part->shape.kind != SMOOTH_POLYTOPE; }

static Lanes square_to(const Field* part, Lanes3 x) {
  Lanes3 apart = {x.x - part->pose.t.x, x.y - part->pose.t.y, x.z - part->pose.t.z};
  return lanes3_dot(apart, apart);
}

/* Largest number of parts of a union whose squared distances from the points are stored. */
enum { SQUARES = 32 };

/* Computes the squared distances of the points from the centres of the parts. Sets *bound to an upper bound of the
 * least field value in each lane. */
static void find_bound(const Field* field, Lanes3 x, Lanes squares[SQUARES], Lanes* bound) {
  Lanes least = lanes_broadcast(NOWHERE);
  double inner = HUGE_VAL;
  for (int i = 0; i < field->part_count; i++) {
    Lanes square = square_to(&field->parts[i], x);
    if (i < SQUARES) squares[i] = square;
    if (!in_balls(&field->parts[i])) continue;
    least = lanes_elementwise_min(least, square);
    inner = fmin(inner, field->parts[i].shape.inner);
  }
  *bound = lanes_sqrt(least) - (inner < HUGE_VAL ? inner : 0);
}

/* Returns the mask of lanes whose points are within `reach` of a part's bounding ball. square: squared distance of the
 * points from the part's centre. */
static LaneBits ball_near(const Field* part, Lanes square, Lanes reach) {
  Lanes far = lanes_elementwise_max(reach + part->shape.outer, lanes_broadcast(0));
  return square < far * far;
}

/* Evaluates a union of fields (Y9). A part is evaluated unless its lower bound excludes a weight above e^-37. */
static void union_fields(const Field* field, const Lanes3 x[SIDES], FieldMembers wanted, FieldLanes out[SIDES]) {
  SoftLanes s[SIDES] = {{.least = lanes_broadcast(NOWHERE)}, {.least = lanes_broadcast(NOWHERE)}};
  Lanes bound[SIDES], squares[SIDES][SQUARES], reach[SIDES];
  EACH_SIDE find_bound(field, x[side], squares[side], &bound[side]);
  const double gone = -WEIGHT_GONE * field->smoothing, over_tau = 1 / field->smoothing;
  for (int i = 0; i < field->part_count; i++) {
    const Field* part = &field->parts[i];
    LaneBits active[SIDES];
    FieldLanes own[SIDES];
    EACH_SIDE {
      reach[side] = lanes_elementwise_min(bound[side], s[side].least) + gone;
      active[side] = ~(LaneBits){0};
      if (in_balls(part))
        active[side] = ball_near(part, i < SQUARES ? squares[side][i] : square_to(part, x[side]), reach[side]);
    }
    if (!lanes_any(active[0] | active[1])) continue;
    if (is_quadric(part)) {
      QuadricPlace at[SIDES];
      EACH_SIDE {
        quadric_place(part, x[side], &at[side]);
        Lanes most = lanes_elementwise_max(
            at[side].t.x, lanes_elementwise_max(at[side].t.y, at[side].t.z)); /* lower bound of the gauge gamma */
        active[side] &= at[side].distance * (most - 1) < reach[side] * most;
      }
      if (!lanes_any(active[0] | active[1])) continue;
      quadric_fields(part, at, wanted, own);
    } else {
      EACH_SIDE other_field(part, x[side], active[side], &own[side]);
    }
    EACH_SIDE add_part(&s[side], over_tau, &own[side], active[side], wanted);
  }
  EACH_SIDE soft_least(&s[side], field->smoothing, wanted, &out[side]);
}

/* ---------------------------------------------------------------- all fields */

static void out_of(const Pose* pose, FieldMembers wanted, FieldValue* v) {
  v->outward = mat3_mul_vec(pose->r, v->outward);
  if (wanted < FIELD_GRADIENTS) return;
  v->gradient = mat3_mul_vec(pose->r, v->gradient);
  if (wanted < FIELD_JACOBIANS) return;
  v->turn = mat3_mul(mat3_mul(pose->r, v->turn), mat3_transpose(pose->r));
}

/* Evaluates `wide` points, at most SIDES * LANES. Unused lanes repeat the first point. */
static void evaluate_block(const Field* field, const Vec3* places, int wide, FieldMembers wanted, FieldValue* out) {
  bool quadric = is_quadric(field);
  Lanes3 x[SIDES];
  FieldLanes v[SIDES];
  for (int i = 0; i < SIDES * LANES; i++) {
    Vec3 place = places[i < wide ? i : 0];
    if (!quadric) place = pose_apply_inverse(field->pose, place);
    x[i / LANES].x[i % LANES] = place.x;
    x[i / LANES].y[i % LANES] = place.y;
    x[i / LANES].z[i % LANES] = place.z;
  }
  if (quadric) {
    QuadricPlace at[SIDES];
    EACH_SIDE quadric_place(field, x[side], &at[side]);
    quadric_fields(field, at, wanted, v);
  } else {
    union_fields(field, x, wanted, v);
  }
  for (int i = 0; i < wide; i++) {
    out[i] = lane_of(&v[i / LANES], i % LANES, wanted);
    if (!quadric) out_of(&field->pose, wanted, &out[i]);
  }
}

void field_evaluate_many(const Field* field, const Vec3* places, int count, FieldMembers wanted, FieldValue* out) {
  assert(places || count == 0);
  bool many = is_quadric(field) || field->kind == FIELD_UNION;
  for (int i = 0; i < count && !many; i++) out[i] = field_evaluate(field, places[i]);
  for (int i = 0; i < count && many; i += SIDES * LANES)
    evaluate_block(field, places + i, count - i < SIDES * LANES ? count - i : SIDES * LANES, wanted, out + i);
}
