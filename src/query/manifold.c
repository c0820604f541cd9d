/* Contact manifolds (X1-X8). docs/derivations/manifold.md
 * All is done in b's frame; the six variables are a turn of a about its origin and a move of it, along b's axes, or
 * other causes (X8): up to six parameters of one body, or the smoothing. */
#include "query/query.h"
#include <stdlib.h>
#include <string.h>
#include "query/dual.h"

/* Normals are n / sqrt(NORMAL_FLOOR + |n|^2). */
#define NORMAL_FLOOR 1e-12
/* Edges nearer than this part of the smoothing have no direction between them. */
#define APART_FLOOR 1e-2

/* Of the derivatives of an answer. */
enum { COLUMNS = 12, DUAL_LANES = 8 };

typedef struct {
  const ManifoldBody* body[2];
  const ManifoldOptions* options;
  Pose pose_b;
  Pose relative; /* of a in b's frame */
  ManifoldCause cause;
  int first, lanes;               /* parameters first ... first + lanes - 1 of a body */
  Dual smoothing;                 /* of the options */
  char* room;                     /* what is left of it */
  Dual motion[DUAL_VARIABLES][2]; /* how variable k changes by column 8 i + j: motion[k][i][j] */
} ManifoldPair;

/* Out of the room, for good. */
static void* take(ManifoldPair* s, size_t size) {
  void* out = s->room;
  s->room += (size + 63) / 64 * 64;
  return out;
}

/* What a body's field is at a place. */
typedef struct {
  Dual value;
  Dual3 normal; /* outward */
} DualField;

/* ---------------------------------------------------------------- places */

static Vec3 turn_of(int k) { return vec3(k == 1, k == 2, k == 3); }
static Vec3 move_of(int k) { return vec3(k == 4, k == 5, k == 6); }

static Dual3 dual3_make(Vec3 value, const Vec3 slope[DUAL_VARIABLES + 1]) {
  Dual3 out = dual3_of(value);
  for (int k = 1; k <= DUAL_VARIABLES; k++) {
    out.x[k] = slope[k].x;
    out.y[k] = slope[k].y;
    out.z[k] = slope[k].z;
  }
  return out;
}

/* A point of a body's own frame in b's. */
static Dual3 placed(const ManifoldPair* s, int body, Vec3 point) {
  if (body == 1) return dual3_of(point);
  Vec3 arm = mat3_mul_vec(s->relative.r, point), slope[DUAL_VARIABLES + 1];
  if (s->cause != MANIFOLD_BY_MOTION) return dual3_of(vec3_add(arm, s->relative.t));
  for (int k = 1; k <= DUAL_VARIABLES; k++) slope[k] = vec3_add(vec3_cross(turn_of(k), arm), move_of(k));
  return dual3_make(vec3_add(arm, s->relative.t), slope);
}

static bool causes(const ManifoldPair* s, int body) { return (int)s->cause == MANIFOLD_BY_SHAPE_A + body; }

/* A point of the body's surface, which moves with its parameters too. */
static Dual3 surface_point(const ManifoldPair* s, int body, int i) {
  const ManifoldBody* own = s->body[body];
  Dual3 out = placed(s, body, own->points[i]);
  if (!causes(s, body)) return out;
  for (int k = 0; k < s->lanes; k++) {
    Vec3 moved = own->point_slopes[(ptrdiff_t)(s->first + k) * own->point_count + i];
    if (body == 0) moved = mat3_mul_vec(s->relative.r, moved);
    out.x[k + 1] = moved.x;
    out.y[k + 1] = moved.y;
    out.z[k + 1] = moved.z;
  }
  return out;
}

/* How value and normal of a body's field change by its parameters at a place of its frame. */
static void add_parameters(const ManifoldPair* s, int body, Vec3 place, Dual* value, Vec3 outward[DUAL_VARIABLES + 1]) {
  for (int k = 0; causes(s, body) && k < s->lanes; k++) {
    double up;
    Vec3 turned;
    field_parameter_slope(s->body[body]->field, place, s->first + k, &up, &turned);
    (*value)[k + 1] += up;
    outward[k + 1] = vec3_add(outward[k + 1], body == 0 ? mat3_mul_vec(s->relative.r, turned) : turned);
  }
}

static Dual3 unit(Dual3 v) {
  Dual square = dual3_dot(v, v);
  square[0] += NORMAL_FLOOR;
  return dual3_scale(v, dual_inverse(dual_sqrt(square)));
}

/* From b's frame to a body's own. */
static Vec3 own_place(const ManifoldPair* s, int body, Vec3 place) {
  return body == 1 ? place : mat3_tmul_vec(s->relative.r, vec3_sub(place, s->relative.t));
}

static DualField field_of_b(const ManifoldPair* s, Dual3 place, const FieldValue* v) {
  DualField out = {.value = dual_of(v->value)};
  Vec3 slope[DUAL_VARIABLES + 1];
  for (int k = 1; k <= DUAL_VARIABLES; k++) {
    Vec3 moved = dual3_slope(place, k);
    out.value[k] = vec3_dot(v->gradient, moved);
    slope[k] = mat3_mul_vec(v->turn, moved);
  }
  add_parameters(s, 1, dual3_value(place), &out.value, slope);
  out.normal = unit(dual3_make(v->outward, slope));
  return out;
}

/* In a's frame the place moves by R^T (dp - turn x (p - t) - move); its normal turns along. */
static DualField field_of_a(const ManifoldPair* s, Dual3 place, const FieldValue* v) {
  Mat3 r = s->relative.r;
  Vec3 arm = vec3_sub(dual3_value(place), s->relative.t);
  bool turns = s->cause == MANIFOLD_BY_MOTION;
  DualField out = {.value = dual_of(v->value)};
  Vec3 slope[DUAL_VARIABLES + 1], outward = mat3_mul_vec(r, v->outward);
  for (int k = 1; k <= DUAL_VARIABLES; k++) {
    Vec3 turn = turns ? turn_of(k) : vec3(0, 0, 0);
    Vec3 carried = turns ? vec3_add(vec3_cross(turn, arm), move_of(k)) : turn;
    Vec3 moved = mat3_tmul_vec(r, vec3_sub(dual3_slope(place, k), carried));
    out.value[k] = vec3_dot(v->gradient, moved);
    slope[k] = vec3_add(vec3_cross(turn, outward), mat3_mul_vec(r, mat3_mul_vec(v->turn, moved)));
  }
  add_parameters(s, 0, mat3_tmul_vec(r, arm), &out.value, slope);
  out.normal = unit(dual3_make(outward, slope));
  return out;
}

/* Places whose fields are asked for together. */
enum { BLOCK = 32 };

/* A body's field at places of b's frame, count <= BLOCK. */
static void fields_at(const ManifoldPair* s, int body, const Dual3* places, int count, DualField* out) {
  Vec3 own[BLOCK];
  FieldValue found[BLOCK];
  for (int i = 0; i < count; i++) own[i] = own_place(s, body, dual3_value(places[i]));
  field_evaluate_many(s->body[body]->field, own, count, !s->options->values, found);
  for (int i = 0; i < count; i++) {
    if (s->options->values) {
      Vec3 outward = body == 1 ? found[i].outward : mat3_mul_vec(s->relative.r, found[i].outward);
      out[i] = (DualField){dual_of(found[i].value),
                           dual3_of(vec3_scale(outward, 1 / sqrt(vec3_dot(outward, outward) + NORMAL_FLOOR)))};
    } else {
      out[i] = body == 0 ? field_of_a(s, places[i], &found[i]) : field_of_b(s, places[i], &found[i]);
    }
  }
}

/* ---------------------------------------------------------------- answers */

/* A motion of a in the world is one along b's axes; one of b moves a the other way, about b's origin, and what is in
 * b's frame along (X7). column: 0 to 5 of a, 6 to 11 of b; along: as the six variables. */
static void motion_of(const ManifoldPair* s, int column, double along[DUAL_VARIABLES]) {
  Vec3 axis = vec3(column % 3 == 0, column % 3 == 1, column % 3 == 2), own = mat3_tmul_vec(s->pose_b.r, axis);
  bool turns = column % 6 < 3;
  Vec3 turn = turns ? own : vec3(0, 0, 0), move = turns ? vec3(0, 0, 0) : own;
  if (column >= 6) {
    if (turns) move = vec3_scale(vec3_cross(own, s->relative.t), -1);
    turn = vec3_scale(turn, -1);
    if (!turns) move = vec3_scale(own, -1);
  }
  const double parts[DUAL_VARIABLES] = {turn.x, turn.y, turn.z, move.x, move.y, move.z};
  memcpy(along, parts, sizeof parts);
}

/* How the variables change by each column; other causes are the variables themselves. */
static void set_motions(ManifoldPair* s) {
  for (int column = 0; column < COLUMNS; column++) {
    double along[DUAL_VARIABLES] = {0};
    if (s->cause == MANIFOLD_BY_MOTION)
      motion_of(s, column, along);
    else if (column < DUAL_VARIABLES)
      along[column] = 1;
    for (int k = 0; k < DUAL_VARIABLES; k++) s->motion[k][column / DUAL_LANES][column % DUAL_LANES] = along[k];
  }
}

static void put_row(const ManifoldPair* s, Dual slopes, double out[COLUMNS]) {
  Dual low = dual_of(0), high = low;
  for (int k = 0; k < DUAL_VARIABLES; k++) {
    low += slopes[k + 1] * s->motion[k][0];
    high += slopes[k + 1] * s->motion[k][1];
  }
  memcpy(out, &low, sizeof low);
  memcpy(out + DUAL_LANES, &high, (COLUMNS - DUAL_LANES) * sizeof *out);
}

static void put_rows(const ManifoldPair* s, Dual3 v, double (*out)[COLUMNS]) {
  put_row(s, v.x, out[0]);
  put_row(s, v.y, out[1]);
  put_row(s, v.z, out[2]);
}

/* Turns of b about the world's axes carry a vector along: columns 6 to 8. */
static void carry(Vec3 v, double (*out)[COLUMNS]) {
  out[0][7] += v.z;
  out[0][8] -= v.y;
  out[1][6] -= v.z;
  out[1][8] += v.x;
  out[2][6] += v.y;
  out[2][7] -= v.x;
}

static void put_contact(const ManifoldPair* s, ContactKind kind, Dual3 point, Dual distance, Dual3 normal,
                        Dual activity, ManifoldContact* out) {
  Mat3 r = s->pose_b.r;
  out->kind = kind;
  out->distance = distance[0];
  out->activity = activity[0];
  out->point = pose_apply(s->pose_b, dual3_value(point));
  out->normal = mat3_mul_vec(r, dual3_value(normal));
  if (s->options->values) return;
  double(*slope)[COLUMNS] = out->slope;
  put_rows(s, dual3_turned(r, point), slope + MANIFOLD_POINT);
  put_row(s, distance, slope[MANIFOLD_DISTANCE]);
  put_rows(s, dual3_turned(r, normal), slope + MANIFOLD_NORMAL);
  put_row(s, activity, slope[MANIFOLD_ACTIVITY]);
  if (s->cause != MANIFOLD_BY_MOTION) return;
  carry(vec3_sub(out->point, s->pose_b.t), slope + MANIFOLD_POINT);
  carry(out->normal, slope + MANIFOLD_NORMAL);
  for (int k = 0; k < 3; k++) slope[MANIFOLD_POINT + k][9 + k] += 1;
}

static Dual3 from_a_to_b(int outward_of, Dual3 normal) {
  return outward_of == 0 ? normal : dual3_scale(normal, dual_of(-1));
}

/* ---------------------------------------------------------------- soft choice */

typedef struct {
  double depth;
  int index;
} RankedDepth;

static int deepest_first(const void* a, const void* b) {
  const RankedDepth *x = a, *y = b;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* Beside the rank-th deepest, what is so many smoothings deeper or higher weighs less than a rounding. */
#define CHOICE_GONE 37.0

/* What may count: not higher than that below the last that is wanted. */
static int find_candidates(const Dual* depth, int count, double last, double smoothing, int* out) {
  int found = 0;
  double gone = CHOICE_GONE * smoothing;
  for (int i = 0; i < count; i++)
    if (last - depth[i][0] <= gone) out[found++] = i;
  return found;
}

/* Weights of the one that is `chosen`: softmax over the candidates of -|depth_chosen - depth_i| / smoothing (X1). */
static void choose(const Dual* depth, const int* candidates, int count, int chosen, Dual smoothing, Dual* weight) {
  Dual sum = dual_of(0), over = dual_inverse(smoothing);
  for (int first = 0; first < count; first += LANES) {
    int wide = count - first < LANES ? count - first : LANES;
    Dual apart[LANES];
    Lanes at = lanes_of(-HUGE_VAL);
    for (int k = 0; k < wide; k++) {
      apart[k] = dual_mul(depth[chosen] - depth[candidates[first + k]], over);
      if (apart[k][0] > 0) apart[k] = -apart[k];
      at[k] = apart[k][0] < -CHOICE_GONE ? -HUGE_VAL : apart[k][0];
    }
    at = lanes_decay(at);
    for (int k = 0; k < wide; k++) {
      weight[first + k] = dual_chain(apart[k], at[k], at[k]);
      sum += weight[first + k];
    }
  }
  over = dual_inverse(sum);
  for (int i = 0; i < count; i++) weight[i] = dual_mul(weight[i], over);
}

/* The `wanted` deepest, in order. */
static void rank(const Dual* depth, int count, int wanted, RankedDepth* order) {
  int known = 0;
  for (int i = 0; i < count; i++) {
    RankedDepth own = {depth[i][0], i};
    if (known == wanted && deepest_first(&own, &order[known - 1]) > 0) continue;
    int at = known < wanted ? known++ : known - 1;
    for (; at > 0 && deepest_first(&own, &order[at - 1]) < 0; at--) order[at] = order[at - 1];
    order[at] = own;
  }
}

/* Means over all members by the weights of each of the `wanted` deepest. A member is `width` places, those whose
 * numbers `of` holds; NULL: each its own. */
static void choose_deepest(ManifoldPair* s, const Dual* depth, const Dual3* places, const int (*of)[2], int count,
                           int width, int wanted, Dual3* out) {
  RankedDepth* order = take(s, sizeof *order * (size_t)count);
  int* candidates = take(s, sizeof *candidates * (size_t)count);
  Dual* weight = take(s, sizeof(Dual) * (size_t)count);
  rank(depth, count, wanted, order);
  int near = wanted ? find_candidates(depth, count, order[wanted - 1].depth, s->smoothing[0], candidates) : 0;
  for (int place = 0; place < wanted; place++) {
    choose(depth, candidates, near, order[place].index, s->smoothing, weight);
    for (int k = 0; k < width; k++) {
      Dual3 sum = dual3_of(vec3(0, 0, 0));
      for (int c = 0; c < near; c++) {
        int i = candidates[c];
        if (weight[c][0] > 0) sum = dual3_add(sum, dual3_scale(places[of ? of[i][k] : i * width + k], weight[c]));
      }
      out[place * width + k] = sum;
    }
  }
}

static int wanted_of(int all, int asked) { return asked > 0 && asked < all ? asked : all; }

/* ---------------------------------------------------------------- points */

/* Where the points of a body are that may touch, and how deep within the other. */
typedef struct {
  Dual3* place;
  Dual* depth;
} Points;

static int points_in(const ManifoldBody* body) { return body->only ? body->only_count : body->point_count; }

static void put_point(const ManifoldPair* s, int body, Dual3 place, const DualField* other, ManifoldContact* out) {
  put_contact(s, body == 0 ? CONTACT_POINT_A : CONTACT_POINT_B, place, other->value,
              from_a_to_b(1 - body, other->normal), dual_of(1), out);
}

static ManifoldContact* point_contacts(ManifoldPair* s, int body, Points* points, ManifoldContact* out) {
  const ManifoldBody* own = s->body[body];
  int count = points_in(own), wanted = wanted_of(count, s->options->points);
  *points = (Points){take(s, sizeof(Dual3) * (size_t)count), take(s, sizeof(Dual) * (size_t)count)};
  DualField other[BLOCK];
  for (int first = 0; first < count; first += BLOCK) {
    int block = count - first < BLOCK ? count - first : BLOCK;
    Dual3* place = points->place + first;
    for (int i = 0; i < block; i++) place[i] = surface_point(s, body, own->only ? own->only[first + i] : first + i);
    fields_at(s, 1 - body, place, block, other);
    for (int i = 0; i < block; i++) {
      points->depth[first + i] = -other[i].value;
      if (wanted == count) put_point(s, body, place[i], &other[i], out++);
    }
  }
  if (wanted == count) return out;
  Dual3* place = take(s, sizeof(Dual3) * (size_t)wanted);
  choose_deepest(s, points->depth, points->place, NULL, count, 1, wanted, place);
  for (int i = 0; i < wanted; i++) {
    if (i % BLOCK == 0) fields_at(s, 1 - body, place + i, wanted - i < BLOCK ? wanted - i : BLOCK, other);
    put_point(s, body, place[i], &other[i % BLOCK], out++);
  }
  return out;
}

/* ---------------------------------------------------------------- a pair of edges */

/* min (x^2 q11 + 2 x y q12 + y^2 q22) / 2 + x c1 + y c2 */
typedef struct {
  Dual q11, q12, q22, c1, c2;
} Bowl;

static Dual bowl_at(const Bowl* q, Dual x, Dual y) {
  Dual square = dual_mul(q->q11, dual_mul(x, x)) + dual_mul(q->q22, dual_mul(y, y));
  return 0.5 * square + dual_mul(q->q12, dual_mul(x, y)) + dual_mul(q->c1, x) + dual_mul(q->c2, y);
}

/* x within 0 and 1, softly: eps softplus(x / eps) - eps softplus((x - 1) / eps), of four at once. */
static void clip(const Dual x[4], double softness, Dual out[4]) {
  Lanes at = {x[0][0], x[1][0], x[2][0], x[3][0], x[0][0] - 1, x[1][0] - 1, x[2][0] - 1, x[3][0] - 1}, rest;
  at /= softness;
  Lanes slope = lanes_sigmoid(at, &rest);
  Lanes value = lanes_most(at, lanes_of(0)) + lanes_log(1 + lanes_decay(-lanes_magnitude(at)));
  for (int k = 0; k < 4; k++) out[k] = dual_chain(x[k], softness * (value[k] - value[k + 4]), slope[k] - slope[k + 4]);
}

/* Whether x and y lie between 0 and 1, softly. */
static Dual in_square(Dual x, Dual y, double softness) {
  Lanes at = {x[0], 1 - x[0], y[0], 1 - y[0]}, rest;
  Lanes in = lanes_sigmoid(at / softness, &rest);
  double value = in[0] * in[1] * (in[2] * in[3]), over = value / softness;
  Dual out = x * (over * (rest[0] - rest[1])) + y * (over * (rest[2] - rest[3]));
  out[0] = value;
  return out;
}

/* The least on the four sides of the unit square, softly the least of them (X3). */
static void least_on_border(const Bowl* q, double softness, Dual* x, Dual* y) {
  const Dual one = dual_of(1), zero = dual_of(0);
  Dual over1 = dual_inverse(q->q11), over2 = dual_inverse(q->q22);
  const Dual bare[4] = {-dual_mul(q->c1, over1), -dual_mul(q->q12 + q->c1, over1), -dual_mul(q->q12 + q->c2, over2),
                        -dual_mul(q->c2, over2)};
  Dual side[4];
  clip(bare, softness, side);
  const Dual px[4] = {one, zero, side[1], side[0]}, py[4] = {side[2], side[3], one, zero};
  Dual cost[4], sum = zero;
  double least = HUGE_VAL;
  for (int k = 0; k < 4; k++) {
    cost[k] = bowl_at(q, px[k], py[k]);
    least = fmin(least, cost[k][0]);
  }
  *x = *y = zero;
  Lanes above = {least - cost[0][0], least - cost[1][0], least - cost[2][0], least - cost[3][0]};
  Lanes weight = lanes_decay(above / softness);
  for (int k = 0; k < 4; k++) {
    Dual w = dual_chain(cost[k], weight[k], -weight[k] / softness);
    sum += w;
    *x += dual_mul(w, px[k]);
    *y += dual_mul(w, py[k]);
  }
  *x = dual_div(*x, sum);
  *y = dual_div(*y, sum);
}

/* The least of the bowl in the unit square, and how far it is inside (X2-X4). */
static Dual least_in_square(const Bowl* q, double softness, Dual* x, Dual* y) {
  Dual over = dual_inverse(dual_mul(q->q11, q->q22) - dual_mul(q->q12, q->q12));
  Dual free_x = dual_mul(dual_mul(q->q12, q->c2) - dual_mul(q->q22, q->c1), over);
  Dual free_y = dual_mul(dual_mul(q->q12, q->c1) - dual_mul(q->q11, q->c2), over);
  Dual inside = in_square(free_x, free_y, softness), outside = -inside;
  outside[0] += 1;
  least_on_border(q, softness, x, y);
  *x = dual_mul(inside, free_x) + dual_mul(outside, *x);
  *y = dual_mul(inside, free_y) + dual_mul(outside, *y);
  return inside;
}

/* Lengths in units of the edges' own. */
static Bowl bowl_of_edges(const Dual3 a[2], const Dual3 b[2], double regularization) {
  Dual3 along = dual3_sub(a[1], a[0]), back = dual3_sub(b[0], b[1]), between_starts = dual3_sub(a[0], b[0]);
  Bowl q = {dual3_dot(along, along), dual3_dot(along, back), dual3_dot(back, back), dual3_dot(along, between_starts),
            dual3_dot(back, between_starts)};
  Dual over = dual_inverse(0.5 * (q.q11 + q.q22));
  Dual* const entry[5] = {&q.q11, &q.q12, &q.q22, &q.c1, &q.c2};
  for (int k = 0; k < 5; k++) *entry[k] = dual_mul(*entry[k], over);
  q.q11[0] += regularization;
  q.q22[0] += regularization;
  q.c1[0] -= 0.5 * regularization;
  q.c2[0] -= 0.5 * regularization;
  return q;
}

static Dual3 along_edge(const Dual3 edge[2], Dual x) {
  return dual3_add(edge[0], dual3_scale(dual3_sub(edge[1], edge[0]), x));
}

typedef struct {
  Dual3 witness[2], normal[2]; /* on a, on b; normals from a to b */
  Dual distance[2], apart;     /* apart: unsigned */
  Dual activity[2];            /* without that of neighbours, */
  Dual near[2];                /* which is this over its sum */
} EdgePair;

/* Signs by the other body's normal at its own witness point (X5); penetration, clash (X6). at[side][body]: fields at
 * the witness points; activity[0] holds how far the pair is inside. */
static void judge(const ManifoldPair* s, const DualField* at[2][2], EdgePair* out) {
  double softness = s->options->softness;
  Dual floor = APART_FLOOR * s->smoothing;
  Dual3 apart = dual3_sub(out->witness[0], out->witness[1]); /* from b to a */
  Dual square = dual3_dot(apart, apart);
  square += dual_mul(floor, floor);
  Dual3 direction = dual3_scale(apart, dual_inverse(dual_sqrt(square)));
  out->apart = dual3_dot(apart, direction);
  const Dual clash = dual3_dot(at[0][0]->normal, at[1][1]->normal);
  const Dual outward[2] = {dual3_dot(at[1][1]->normal, direction), -dual3_dot(at[0][0]->normal, direction)};
  const Dual depth[2] = {-dual_div(at[0][1]->value, s->smoothing), -dual_div(at[1][0]->value, s->smoothing)};
  const double steep = 2 / softness; /* tanh x = 2 sigmoid(2 x) - 1 */
  Lanes judged = {steep * outward[0][0], steep * outward[1][0], depth[0][0], depth[1][0], -clash[0] / softness}, rest;
  Lanes part = lanes_sigmoid(judged, &rest), slope = part * rest;
  Dual active = dual_mul(out->activity[0], dual_chain(clash, part[4], -slope[4] / softness));
  for (int k = 0; k < 2; k++) {
    Dual sign = dual_chain(outward[k], part[k] - rest[k], 2 * steep * slope[k]);
    out->distance[k] = dual_mul(sign, out->apart);
    out->normal[k] = dual3_scale(direction, -sign); /* it is the other's outward one on a's edge, minus that on b's */
    out->activity[k] = dual_mul(active, dual_chain(depth[k], part[2 + k], slope[2 + k]));
  }
}

static void meet(const ManifoldPair* s, const Dual3 a[2], const Dual3 b[2], EdgePair* out) {
  Bowl q = bowl_of_edges(a, b, s->options->regularization);
  Dual x, y;
  out->activity[0] = least_in_square(&q, s->options->softness, &x, &y);
  out->witness[0] = along_edge(a, x);
  out->witness[1] = along_edge(b, y);
}

/* count <= BLOCK of all pairs, from the one that is `first`; each edge of a with all `across` ones of b. */
static void meet_block(const ManifoldPair* s, const Dual3* a, const Dual3* b, int across, int first, int count,
                       EdgePair* out) {
  Dual3 place[BLOCK];
  DualField at[2][2][BLOCK];
  for (int k = 0; k < count; k++) {
    int i = (first + k) / across, j = (first + k) % across;
    meet(s, a + 2 * (ptrdiff_t)i, b + 2 * (ptrdiff_t)j, &out[k]);
  }
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < count; k++) place[k] = out[k].witness[side];
    for (int body = 0; body < 2; body++) fields_at(s, body, place, count, at[side][body]);
  }
  for (int k = 0; k < count; k++) {
    const DualField* here[2][2] = {{&at[0][0][k], &at[0][1][k]}, {&at[1][0][k], &at[1][1][k]}};
    judge(s, here, &out[k]);
  }
}

/* ---------------------------------------------------------------- edges */

/* Ends of all edges; depths of points that are known are not asked for again. */
static Dual* edge_depths(ManifoldPair* s, int body, const Points* points, const Dual3* all) {
  const ManifoldBody* own = s->body[body];
  Dual* depth = take(s, sizeof(Dual) * (size_t)own->edge_count);
  for (int i = 0; i < own->edge_count; i++) {
    const int* end = own->edges[i];
    if (!all) depth[i] = 0.5 * (points->depth[end[0]] + points->depth[end[1]]);
  }
  DualField at[BLOCK];
  for (int i = 0; all && i < own->edge_count; i++) {
    int left = 2 * (own->edge_count - i);
    if (2 * i % BLOCK == 0) fields_at(s, 1 - body, all + 2 * (ptrdiff_t)i, left < BLOCK ? left : BLOCK, at);
    depth[i] = -0.5 * (at[2 * i % BLOCK].value + at[(2 * i + 1) % BLOCK].value);
  }
  return depth;
}

/* The chosen edges of a body: two places each. */
static Dual3* edges_of(ManifoldPair* s, int body, const Points* points, int* wanted) {
  const ManifoldBody* own = s->body[body];
  *wanted = wanted_of(own->edge_count, s->options->edges);
  bool ranked = *wanted < own->edge_count, copied = !ranked || own->only;
  Dual3* all = copied ? take(s, sizeof(Dual3[2]) * (size_t)own->edge_count) : NULL;
  for (int i = 0; copied && i < own->edge_count; i++)
    for (int k = 0; k < 2; k++) all[2 * i + k] = surface_point(s, body, own->edges[i][k]);
  if (!ranked) return all;
  Dual* depth = edge_depths(s, body, points, all);
  Dual3* out = take(s, sizeof(Dual3[2]) * (size_t)*wanted);
  if (copied)
    choose_deepest(s, depth, all, NULL, own->edge_count, 2, *wanted, out);
  else
    choose_deepest(s, depth, points->place, (const int(*)[2])own->edges, own->edge_count, 2, *wanted, out);
  return out;
}

/* exp(-apart / smoothing) of the pairs in a row or column, times a factor that all have, into their near[side]; 1 /
 * their sum. */
static void set_nearness(EdgePair* first, int stride, int count, Dual smoothing, int side, Dual* inverse) {
  Dual sum = dual_of(0), over = dual_inverse(smoothing);
  double least = HUGE_VAL;
  for (int i = 0; i < count; i++) least = fmin(least, first[i * stride].apart[0]);
  for (int i = 0; i < count; i += LANES) {
    int wide = count - i < LANES ? count - i : LANES;
    Dual scaled[LANES];
    Lanes at = lanes_of(0);
    for (int k = 0; k < wide; k++) {
      Dual apart = first[(i + k) * stride].apart;
      apart[0] -= least;
      scaled[k] = dual_mul(apart, over);
      at[k] = -scaled[k][0];
    }
    at = lanes_decay(at);
    for (int k = 0; k < wide; k++) {
      Dual* near = &first[(i + k) * stride].near[side];
      *near = dual_chain(scaled[k], at[k], -at[k]);
      sum += *near;
    }
  }
  *inverse = dual_inverse(sum);
}

static void put_edges(const ManifoldPair* s, const EdgePair* pair, const Dual over[2], ManifoldContact* out) {
  for (int side = 0; side < 2; side++)
    put_contact(s, side == 0 ? CONTACT_EDGE_A : CONTACT_EDGE_B, pair->witness[side], pair->distance[side],
                pair->normal[side], dual_mul(pair->activity[side], dual_mul(pair->near[side], over[side])), &out[side]);
}

static void edge_contacts(ManifoldPair* s, const Points points[2], ManifoldContact* out) {
  int count[2];
  Dual smoothing = s->smoothing;
  Dual3* edges[2];
  for (int body = 0; body < 2; body++) edges[body] = edges_of(s, body, &points[body], &count[body]);
  EdgePair* pairs = take(s, sizeof(EdgePair) * (size_t)count[0] * (size_t)count[1]);
  Dual* column = take(s, sizeof(Dual) * (size_t)count[1]);
  int all = count[0] * count[1];
  for (int k = 0; k < all; k += BLOCK)
    meet_block(s, edges[0], edges[1], count[1], k, all - k < BLOCK ? all - k : BLOCK, &pairs[k]);
  for (int k = 0; k < count[1]; k++) set_nearness(pairs + k, count[1], count[0], smoothing, 1, &column[k]);
  for (int i = 0; i < count[0]; i++) {
    Dual over[2];
    set_nearness(pairs + i * count[1], 1, count[1], smoothing, 0, &over[0]);
    for (int k = 0; k < count[1]; k++, out += 2) {
      over[1] = column[k];
      put_edges(s, &pairs[i * count[1] + k], over, out);
    }
  }
}

/* ---------------------------------------------------------------- all */

int64_t manifold_count(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options) {
  int64_t edges = (int64_t)wanted_of(a->edge_count, options->edges) * wanted_of(b->edge_count, options->edges);
  return wanted_of(points_in(a), options->points) + wanted_of(points_in(b), options->points) + 2 * edges;
}

/* Of what is taken for one body: places, depths, order and weights, of points and of edges. */
static size_t room_of(const ManifoldBody* body, const ManifoldOptions* options) {
  size_t points = (size_t)body->point_count, edges = (size_t)body->edge_count,
         ranked = sizeof(RankedDepth) + sizeof(int) + sizeof(Dual);
  size_t wanted = (size_t)wanted_of(body->edge_count, options->edges);
  return points * (2 * sizeof(Dual3) + sizeof(Dual) + ranked) + edges * (2 * sizeof(Dual3[2]) + sizeof(Dual) + ranked) +
         wanted * sizeof(Dual);
}

size_t manifold_room(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options) {
  enum { TAKEN = 24 }; /* times that something is taken, rounded up to 64 bytes each */
  size_t edges = (size_t)wanted_of(a->edge_count, options->edges) * (size_t)wanted_of(b->edge_count, options->edges);
  return room_of(a, options) + room_of(b, options) + edges * sizeof(EdgePair) + (size_t)64 * TAKEN;
}

/* room: 64-byte aligned. */
static void query_with(ManifoldPair* s, ManifoldContact* out, void* room) {
  void* own = room ? NULL : memory_alloc(manifold_room(s->body[0], s->body[1], s->options));
  s->room = room ? room : own;
  set_motions(s);
  Points points[2];
  for (int body = 0; body < 2; body++) out = point_contacts(s, body, &points[body], out);
  edge_contacts(s, points, out);
  memory_free(own);
}

static ManifoldPair pair_of(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                            const ManifoldOptions* options) {
  return (ManifoldPair){
      .body = {a, b},
      .options = options,
      .pose_b = pose_b,
      .relative = {mat3_mul(mat3_transpose(pose_b.r), pose_a.r), pose_apply_inverse(pose_b, pose_a.t)},
      .smoothing = dual_of(options->smoothing)};
}

void manifold_query(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                    const ManifoldOptions* options, ManifoldContact* out, void* room) {
  ManifoldPair s = pair_of(a, pose_a, b, pose_b, options);
  query_with(&s, out, room);
}

void manifold_query_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                       const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldContact* out,
                       void* room) {
  ManifoldPair s = pair_of(a, pose_a, b, pose_b, options);
  s.cause = cause;
  s.first = first;
  if (cause == MANIFOLD_BY_SMOOTHING) {
    s.smoothing[1] = 1;
  } else {
    const Field* field = s.body[cause - MANIFOLD_BY_SHAPE_A]->field;
    int left = shape_parameter_count(&field->shape) - first;
    s.lanes = left < DUAL_VARIABLES ? left : DUAL_VARIABLES;
  }
  query_with(&s, out, room);
}

/* ---------------------------------------------------------------- bodies */

/* Triangles whose normals differ by less lie in one plane. */
#define ONE_PLANE 1e-9

static Vec3 normal_of(const TriangleSurface* surface, int i) {
  Vec3 a = surface->points[surface->triangles[i][0]];
  return vec3_normalized(vec3_cross(vec3_sub(surface->points[surface->triangles[i][1]], a),
                                    vec3_sub(surface->points[surface->triangles[i][2]], a)));
}

/* An edge of a triangle: ends in ascending order. */
typedef struct {
  uint64_t ends;
  int triangle;
} TriangleSide;

static int by_ends(const void* a, const void* b) {
  const TriangleSide *x = a, *y = b;
  if (x->ends != y->ends) return x->ends < y->ends ? -1 : 1;
  return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void add_edge(ManifoldBody* body, uint64_t ends) {
  int from = (int)(ends >> 32), to = (int)(ends & 0xffffffff);
  Vec3 along = vec3_sub(body->points[to], body->points[from]);
  double largest = fabs(along.x) >= fabs(along.y) ? along.x : along.y;
  if (fabs(along.z) > fabs(largest)) largest = along.z;
  body->edges[body->edge_count][0] = largest < 0 ? to : from;
  body->edges[body->edge_count++][1] = largest < 0 ? from : to;
}

static void find_edges(ManifoldBody* body, const TriangleSurface* surface) {
  int count = 3 * surface->triangle_count;
  TriangleSide* sides = MEMORY_NEW(TriangleSide, count);
  for (int i = 0; i < count; i++) {
    uint64_t from = (uint64_t)surface->triangles[i / 3][i % 3], to = (uint64_t)surface->triangles[i / 3][(i + 1) % 3];
    sides[i] = (TriangleSide){from < to ? from << 32 | to : to << 32 | from, i / 3};
  }
  qsort(sides, (size_t)count, sizeof *sides, by_ends);
  body->edges = (int(*)[2])MEMORY_NEW(int, 2 * count);
  for (int i = 0; i < count;) {
    int end = i + 1;
    bool bent = false;
    for (; end < count && sides[end].ends == sides[i].ends; end++)
      bent = bent || vec3_norm(vec3_sub(normal_of(surface, sides[end].triangle),
                                        normal_of(surface, sides[i].triangle))) > ONE_PLANE;
    if (bent || end == i + 1) add_edge(body, sides[i].ends);
    i = end;
  }
  memory_free(sides);
}

ManifoldBody manifold_body_create(const Field* field, TriangleSurface* surface) {
  ManifoldBody body = {.field = field, .points = surface->points, .point_count = surface->point_count};
  find_edges(&body, surface);
  for (int i = 0; i < body.point_count; i++) body.outer = fmax(body.outer, vec3_norm(body.points[i]));
  surface->points = NULL;
  surface_free(surface);
  return body;
}

void manifold_body_free(ManifoldBody* body) {
  memory_free(body->points);
  memory_free(body->edges);
  *body = (ManifoldBody){0};
}
