/* Tests smoothed nearest points: the mean by its definition, and derivatives against differences with frozen quantities
 * fixed. */
#include <string.h>
#include "query/query.h"
#include "support/bodies.h"
#include "support/sweep.h"

typedef struct {
  ConvexHull hull[2];
  WitnessBody body[2];
  Pose pose[2];
} Hulls;

static void make(Hulls* h, Random* random, double apart) {
  for (int k = 0; k < 2; k++) {
    Vec3 corner[24];
    for (int i = 0; i < 24; i++) corner[i] = vec3_scale(random_direction(random), 0.5);
    assert_int_equal(hull_create(&h->hull[k], corner, 24), HULL_OK);
    h->body[k] = witness_body_create(&h->hull[k], 1, WITNESS_SURFACE);
    h->pose[k] = random_pose(random, 1);
  }
  h->pose[1].t = vec3_add_scaled(h->pose[0].t, apart, random_direction(random));
}

static void drop(Hulls* h) {
  for (int k = 0; k < 2; k++) {
    hull_free(&h->hull[k]);
    witness_body_free(&h->body[k]);
  }
}

static Witness query(const Hulls* h, const WitnessOptions* options, const Vec3* targets) {
  return witness_query(&h->body[0], h->pose[0], &h->body[1], h->pose[1], options, targets, NULL);
}

/* Over the surface of the hull: 0 on it. */
static double height_over(const ConvexHull* hull, Vec3 point) {
  double height = -HUGE_VAL;
  for (int k = 0; k < hull->triangle_count; k++) {
    Vec3 a = hull->vertices[hull->triangles[k][0]], b = hull->vertices[hull->triangles[k][1]],
         c = hull->vertices[hull->triangles[k][2]];
    Vec3 n = vec3_normalized(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    height = fmax(height, vec3_dot(n, vec3_sub(point, a)));
  }
  return height;
}

static void samples_lie_on_the_surface(void** state) {
  (void)state;
  Random random = {51};
  Hulls h;
  make(&h, &random, 2);
  const WitnessBody* body = &h.body[0];
  assert_true(body->count == WITNESS_SURFACE && body->corners == h.hull[0].vertex_count);
  for (int i = 0; i < body->count; i++) {
    compare_near(height_over(&h.hull[0], body->points[i]), 0, 1e-14, "seed 51, sample %d: height over the surface", i);
    compare_near(vec3_norm(body->normals[i]), 1, 1e-14, "seed 51, sample %d: normal", i);
  }
  /* spread by area: the faces' mean of x against that of the samples on them */
  double area = 0, mean_x = 0, seen_x = 0;
  for (int k = 0; k < h.hull[0].triangle_count; k++) {
    Vec3 a = h.hull[0].vertices[h.hull[0].triangles[k][0]], b = h.hull[0].vertices[h.hull[0].triangles[k][1]],
         c = h.hull[0].vertices[h.hull[0].triangles[k][2]];
    double part = vec3_norm(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    area += part;
    mean_x += part * (a.x + b.x + c.x) / 3;
  }
  for (int i = body->corners; i < body->count; i++) seen_x += body->points[i].x / (body->count - body->corners);
  compare_near(seen_x, mean_x / area, 5e-3, "mean of the samples");
  for (int i = 0; i < 200; i++)
    compare_near(height_over(&h.hull[0], witness_random_point(body, &random)), 0, 1e-14, "seed 51, drawn %d", i);
  drop(&h);
}

/* The definition in long double. y: the direction of WITNESS_BY_DIRECTION, NULL: by distance. */
static void plain_smooth(const WitnessSide* side, Pose pose, Vec3 other, const Vec3* y, bool own_temperature,
                         long double out[3]) {
  long double u[WITNESS_SAMPLES], mean = 0, square = 0, sum = 0, x[WITNESS_SAMPLES][3];
  const long double o[3] = {other.x, other.y, other.z};
  for (int i = 0; i < side->count; i++) {
    Vec3 w = pose_apply(pose, side->samples[i]);
    const double p[3] = {w.x, w.y, w.z};
    u[i] = 0;
    for (int k = 0; k < 3; k++) {
      const double along[3] = {y ? y->x : 0, y ? y->y : 0, y ? y->z : 0};
      x[i][k] = p[k];
      u[i] += y ? p[k] * (long double)along[k] : -(p[k] - o[k]) * (p[k] - o[k]);
    }
    mean += u[i] / side->count;
  }
  for (int i = 0; i < side->count; i++) square += (u[i] - mean) * (u[i] - mean);
  long double t = own_temperature ? sqrtl(square / (side->count - 1)) : (long double)side->temperature;
  for (int i = 0; i < side->count; i++) sum += expl((u[i] - mean) / t);
  for (int k = 0; k < 3; k++) {
    out[k] = 0;
    for (int i = 0; i < side->count; i++) out[k] += expl((u[i] - mean) / t) / sum * x[i][k];
  }
}

static Vec3 direction_of(const Witness* w, int side) {
  Vec3 y = vec3_sub(w->nearest.witness_b, w->nearest.witness_a);
  return vec3_scale(y, (w->nearest.distance > 0 ? 1 : -1) * (side ? -1 : 1));
}

static const WitnessOptions OPTIONS[] = {
    {.score = WITNESS_BY_DISTANCE, .sampling = WITNESS_FIXED},
    {.score = WITNESS_BY_DISTANCE, .sampling = WITNESS_ADAPTIVE, .turn = 3},
    {.score = WITNESS_BY_DIRECTION, .sampling = WITNESS_FIXED},
    {.score = WITNESS_BY_DIRECTION, .sampling = WITNESS_NEIGHBOR},
    {.score = WITNESS_BY_DISTANCE, .sampling = WITNESS_FIXED, .temperature = 0.03},
    {.score = WITNESS_BY_DIRECTION, .sampling = WITNESS_NEIGHBOR, .temperature = 0.2},
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof OPTIONS[0] };

/* Draws the hulls of sample k, disjoint or nested, and returns their witness with the options of this sample. */
static Witness drawn(Hulls* h, Random* random, int k) {
  make(h, random, k % 2 ? 1.5 : 0.5);
  const Vec3 targets[2] = {h->hull[0].vertices[0], h->hull[1].vertices[0]};
  return query(h, &OPTIONS[k % OPTION_COUNT], targets);
}

static void smooth_points_V1_are_the_mean(void** state) {
  (void)state;
  Random random = {52};
  for (int k = 0; k < 40; k++) {
    Hulls h;
    const WitnessOptions* options = &OPTIONS[k % OPTION_COUNT];
    Witness w = drawn(&h, &random, k);
    long double wanted[3];
    Vec3 y = direction_of(&w, 0);
    plain_smooth(&w.side[0], h.pose[0], w.nearest.witness_b, options->score == WITNESS_BY_DIRECTION ? &y : NULL,
                 !(options->temperature > 0), wanted);
    if (options->temperature > 0) assert_true(w.side[0].temperature == options->temperature);
    compare_vec3(w.side[0].smooth, vec3((double)wanted[0], (double)wanted[1], (double)wanted[2]), 1e-12,
                 "seed 52, %d: smooth a", k);
    compare_vec3(pose_apply(h.pose[0], w.side[0].samples[0]), w.nearest.witness_a, 1e-14, "seed 52, %d: sample 0", k);
    drop(&h);
  }
}

typedef struct {
  const Hulls* h;
  const Witness* w;
  bool by_direction;
  int side;
} Held;

/* Each sample in three corners of its hull at the start: those of its triangle, or of the nearest feature. */
typedef struct {
  Held held;
  int corner[WITNESS_SAMPLES][3];
  double weight[WITNESS_SAMPLES][3];
} Anchored;

/* The hull's corners moved by x, which samples follow; T and the other's point or the direction held. */
static bool corners_smooth_there(void* context, const double* x, double* y) {
  const Anchored* at = context;
  const Held* held = &at->held;
  WitnessSide side = held->w->side[held->side];
  for (int i = 0; i < side.count; i++)
    for (int k = 0; k < 3; k++)
      side.samples[i] =
          vec3_add_scaled(side.samples[i], at->weight[i][k], vec3_at(x + 3 * (ptrdiff_t)at->corner[i][k]));
  Vec3 direction = direction_of(held->w, held->side);
  long double out[3];
  plain_smooth(&side, held->h->pose[held->side], held->side ? held->w->nearest.witness_a : held->w->nearest.witness_b,
               held->by_direction ? &direction : NULL, false, out);
  for (int k = 0; k < 3; k++) y[k] = (double)out[k];
  return true;
}

/* The triangle of the hull that holds a point, and its place in it: the one with the least negative weight among those
 * in whose plane it lies. */
static void anchor(const ConvexHull* hull, Vec3 point, int corner[3], double weight[3]) {
  double best = -HUGE_VAL;
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* v = hull->triangles[t];
    Vec3 p[3], area, rest;
    for (int k = 0; k < 3; k++) p[k] = hull->vertices[v[k]];
    area = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
    if (fabs(vec3_dot(area, vec3_sub(point, p[0]))) > 1e-9 * vec3_norm(area)) continue;
    double w[3], least = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
      rest = vec3_cross(vec3_sub(p[(k + 1) % 3], point), vec3_sub(p[(k + 2) % 3], point));
      w[k] = vec3_dot(rest, area) / vec3_dot(area, area);
      least = fmin(least, w[k]);
    }
    if (!(least > best)) continue;
    best = least;
    memcpy(corner, v, sizeof(int[3]));
    memcpy(weight, w, sizeof(double[3]));
  }
  compare_at_most(-1e-9, best, "a sample on its hull");
}

static void derivatives_by_corners_V12(void** state) {
  (void)state;
  Random random = {59};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    const WitnessOptions* options = &OPTIONS[k % OPTION_COUNT];
    Witness w = drawn(&h, &random, k);
    for (int side = 0; side < 2; side++) {
      const ConvexHull* hull = &h.hull[side];
      Anchored at = {.held = {&h, &w, options->score == WITNESS_BY_DIRECTION, side}};
      for (int i = 0; i < w.side[side].count; i++) anchor(hull, w.side[side].samples[i], at.corner[i], at.weight[i]);
      WitnessCornerSlope slopes[WITNESS_CORNERS_MAX];
      int inputs = 3 * hull->vertex_count, count = witness_corner_slopes(&h.body[side], h.pose[side], &w, side, slopes);
      assert_true(count >= w.side[side].count);
      double *jacobian = MEMORY_NEW(double, 3 * inputs), scale = 1;
      for (int i = 0; i < count; i++)
        for (int r = 0; r < 3; r++)
          for (int c = 0; c < 3; c++) jacobian[r * inputs + 3 * slopes[i].vertex + c] += slopes[i].slope.m[r][c];
      for (int i = 0; i < 3 * inputs; i++) scale = fmax(scale, fabs(jacobian[i]));
      Sweep sweep = {corners_smooth_there, &at, inputs, 3, NULL, NULL, NULL, 1e-3, 4, 9};
      sweep_expect(&sweep, jacobian, scale, 1e-6, "seed 59, %d: side %d", k, side);
      memory_free(jacobian);
    }
    drop(&h);
  }
}

/* Six of the own body's motion, three of the other's point or the direction; samples and T held. */
static bool smooth_there(void* context, const double* x, double* y) {
  const Held* held = context;
  Pose pose = held->h->pose[held->side];
  Vec3 other = held->side ? held->w->nearest.witness_a : held->w->nearest.witness_b, change = vec3(x[6], x[7], x[8]);
  Vec3 direction = vec3_add(direction_of(held->w, held->side), change);
  pose = pose_twisted(pose, pose.t, x);
  long double out[3];
  plain_smooth(&held->w->side[held->side], pose, vec3_add(other, change), held->by_direction ? &direction : NULL, false,
               out);
  for (int k = 0; k < 3; k++) y[k] = (double)out[k];
  return true;
}

static void derivatives_V2(void** state) {
  (void)state;
  Random random = {53};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    const WitnessOptions* options = &OPTIONS[k % OPTION_COUNT];
    Witness w = drawn(&h, &random, k);
    for (int side = 0; side < 2; side++) {
      Held held = {&h, &w, options->score == WITNESS_BY_DIRECTION, side};
      double jacobian[27], scale = 1;
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 9; c++) {
          jacobian[9 * r + c] = c < 6 ? w.side[side].by_own[r][c] : w.side[side].by_other[r][c - 6];
          scale = fmax(scale, fabs(jacobian[9 * r + c]));
        }
      Sweep sweep = {smooth_there, &held, 9, 3, NULL, NULL, NULL, 1e-3, 4, 9};
      sweep_expect(&sweep, jacobian, scale, 1e-6, "seed 53, %d: side %d", k, side);
    }
    drop(&h);
  }
}

typedef struct {
  const Hulls* h;
  const Witness* w;
  WitnessOptions options;
} Warmed;

/* The answer's own smoothed points, T = exp(x). */
static bool smooth_at(void* context, const double* x, double* y) {
  const Warmed* warmed = context;
  WitnessOptions options = warmed->options;
  options.temperature = exp(x[0]) * warmed->w->side[0].temperature;
  Witness w = query(warmed->h, &options, NULL);
  vec3_store(w.side[0].smooth, y);
  options.temperature = exp(x[0]) * warmed->w->side[1].temperature;
  w = query(warmed->h, &options, NULL);
  vec3_store(w.side[1].smooth, y + 3);
  return true;
}

/* By the temperature, whether it was said or is the scores' own. */
static void by_temperature_V2(void** state) {
  (void)state;
  Random random = {58};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    make(&h, &random, k % 2 ? 1.5 : 0.5);
    WitnessOptions options = {.score = k % 4 < 2 ? WITNESS_BY_DISTANCE : WITNESS_BY_DIRECTION,
                              .temperature = k % 3 ? pow(10, random_uniform(&random, -3, 1)) : 0};
    Witness w = query(&h, &options, NULL);
    Warmed warmed = {&h, &w, options};
    double jacobian[6];
    for (int side = 0; side < 2; side++)
      vec3_store(vec3_scale(w.side[side].by_temperature, w.side[side].temperature), jacobian + 3 * side);
    Sweep sweep = {smooth_at, &warmed, 1, 6, NULL, NULL, NULL, 1e-1, 4, 9};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 58, %d: by log T", k);
    drop(&h);
  }
}

/* At low temperature the best sample has all the weight. At high temperature the result is the mean of all. In between
 * nothing is lost. */
static void ends_of_the_temperature_V1(void** state) {
  (void)state;
  Random random = {59};
  Hulls h;
  make(&h, &random, 1.5);
  const double ends[2] = {1e-18, 1e12};
  for (int k = 0; k < 2; k++) {
    const WitnessOptions options = {.temperature = ends[k]};
    Witness w = query(&h, &options, NULL);
    Vec3 wanted = vec3(0, 0, 0);
    for (int i = 0; i < w.side[0].count; i++)
      wanted = vec3_add_scaled(wanted, k ? 1.0 / w.side[0].count : i == 0, pose_apply(h.pose[0], w.side[0].samples[i]));
    compare_vec3(w.side[0].smooth, wanted, 1e-11, "seed 59, T %g", ends[k]);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 6; c++) assert_true(isfinite(w.side[0].by_own[r][c]) && isfinite(w.total[1][0][r][c]));
    assert_true(isfinite(vec3_norm(w.side[0].by_temperature)));
  }
  drop(&h);
}

/* By distance: the other's point moves as its smoothed one. By direction: the fixed point of y = b - a, both following,
 * found by damped repetition. */
static void coupling_V3_follows_both_points(void** state) {
  (void)state;
  Random random = {54};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    make(&h, &random, 1.5);
    bool by_direction = k % 2;
    Witness w = query(&h, &OPTIONS[by_direction ? 2 : 0], NULL);
    assert_true(w.total_known);
    for (int moved = 0; moved < 2; moved++)
      for (int c = 0; c < 6; c++) {
        double s[2][3] = {{0}};
        for (int round = 0; round < (by_direction ? 4000 : 2); round++) {
          double next[2][3];
          for (int side = 0; side < 2; side++)
            for (int r = 0; r < 3; r++) {
              next[side][r] = side == moved ? w.side[side].by_own[r][c] : 0;
              for (int l = 0; l < 3; l++) {
                double change = by_direction    ? (side ? -1 : 1) * (s[1][l] - s[0][l])
                                : side == moved ? 0
                                                : s[1 - side][l];
                next[side][r] += w.side[side].by_other[r][l] * change;
              }
            }
          for (int side = 0; side < 2; side++)
            for (int r = 0; r < 3; r++) s[side][r] += (by_direction ? 0.02 : 1) * (next[side][r] - s[side][r]);
        }
        for (int side = 0; side < 2; side++)
          for (int r = 0; r < 3; r++)
            compare_near(w.total[side][moved][r][c], s[side][r], 1e-9, "seed 54, %d: smooth %d by %d", k, side, moved);
      }
    drop(&h);
  }
}

/* ---------------------------------------------------------------- pieces */

static ConvexHull box_at(Vec3 size, Vec3 center) {
  ConvexHull box;
  assert_int_equal(primitive_box(&box, size), HULL_OK);
  for (int i = 0; i < box.vertex_count; i++) box.vertices[i] = vec3_add(box.vertices[i], center);
  return box;
}

/* An L of two boxes: samples inside of the other box are excluded, and the inner corner is 0.5 from a cube. */
static void pieces_are_one_body(void** state) {
  (void)state;
  ConvexHull arm[2] = {box_at(vec3(3, 1, 1), vec3(0.5, -0.5, 0)), box_at(vec3(1, 3, 1), vec3(-0.5, 0.5, 0))};
  ConvexHull cube = box_at(vec3(1, 1, 1), vec3(0, 0, 0));
  WitnessBody l = witness_body_create(arm, 2, WITNESS_SURFACE), small = witness_body_create(&cube, 1, WITNESS_SURFACE);
  for (int i = 0; i < l.count; i++) {
    Vec3 p = l.points[i];
    bool in_first = p.x > -1 + 1e-4 && p.x < 2 - 1e-4 && p.y > -1 + 1e-4 && p.y < -1e-4 && fabs(p.z) < 0.5 - 1e-4;
    bool in_second = p.y > -1 + 1e-4 && p.y < 2 - 1e-4 && p.x > -1 + 1e-4 && p.x < -1e-4 && fabs(p.z) < 0.5 - 1e-4;
    assert_false(in_first || in_second);
  }
  Pose pose = pose_identity();
  pose.t = vec3(1, 0.9, 0);
  int piece[2];
  WitnessCache cache = {.piece = {1, 0}};
  compare_near(witness_nearest(&l, pose_identity(), &small, pose, &cache, piece).distance, 0.4, 1e-14, "above the arm");
  assert_true(piece[0] == 0 && cache.piece[0] == 0);
  pose.t = vec3(0.4, 0.9, 0);
  compare_near(witness_nearest(&l, pose_identity(), &small, pose, &cache, piece).distance, -0.1, 1e-12, "in the other");
  assert_true(piece[0] == 1);
  witness_body_free(&l);
  witness_body_free(&small);
  hull_free(&arm[0]);
  hull_free(&arm[1]);
  hull_free(&cube);
}

/* ---------------------------------------------------------------- loss and descent */

/* Computes L by its definition with the Jacobians' points fixed, for a small motion along each coordinate. */
static void loss_V4_and_its_transported_gradient_V5(void** state) {
  (void)state;
  Random random = {55};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    make(&h, &random, 1.5);
    const Vec3 targets[2] = {h.hull[0].vertices[1], h.hull[1].vertices[1]};
    Witness w = query(&h, &OPTIONS[0], targets);
    WitnessLoss loss = witness_loss(&w, h.pose[0], h.pose[1], targets, 0.01);
    Vec3 x[2] = {w.nearest.witness_a, w.nearest.witness_b};
    for (int c = 0; c < 12; c++) {
      double value[2];
      for (int way = 0; way < 2; way++) {
        double step[6] = {0}, size = way ? -1e-5 : 1e-5;
        step[c % 6] = size;
        Pose pose[2] = {h.pose[0], h.pose[1]};
        pose[c / 6] = pose_twisted(pose[c / 6], pose[c / 6].t, step);
        Vec3 moved[2];
        for (int p = 0; p < 2; p++) {
          const double(*by)[6] = w.total[p][c / 6];
          moved[p] = vec3_add(x[p], vec3_scale(vec3(by[0][c % 6], by[1][c % 6], by[2][c % 6]), size));
        }
        double apart = vec3_dot(vec3_sub(moved[1], moved[0]), w.nearest.normal) - 0.01;
        value[way] = apart * apart;
        for (int p = 0; p < 2; p++) {
          Vec3 miss = vec3_sub(moved[p], pose_apply(pose[p], targets[p]));
          value[way] += vec3_dot(miss, miss);
        }
      }
      compare_near(loss.gradient[c / 6][c % 6], (value[0] - value[1]) / 2e-5, 1e-7, "seed 55, %d: gradient %d", k, c);
    }
    /* a step of a and the opposite step of b change the pair alike: relative poses agree to second order */
    double forth[6], back[6];
    for (int c = 0; c < 6; c++) {
      forth[c] = 1e-5 * loss.gradient[0][c];
      back[c] = 1e-5 * (loss.transported[c] - loss.gradient[1][c]);
    }
    Pose a = pose_twisted(h.pose[0], h.pose[0].t, forth), b = pose_twisted(h.pose[1], h.pose[1].t, back);
    Pose one = pose_mul(pose_inverse(a), h.pose[1]), two = pose_mul(pose_inverse(h.pose[0]), b);
    compare_vec3(one.t, two.t, 1e-8, "seed 55, %d: transported", k);
    compare_near(one.r.m[0][1], two.r.m[0][1], 1e-8, "seed 55, %d: transported", k);
    drop(&h);
  }
}

/* If targets can coincide, one of them is a corner, so the bound V11 is zero. Many general points lie within faces. */
static void pairs_that_meet_V11_have_a_corner(void** state) {
  (void)state;
  Random random = {57};
  ConvexHull hull = box_at(vec3(0.1, 0.06, 0.04), vec3(0, 0, 0));
  WitnessBody box = witness_body_create(&hull, 1, 64);
  int corners[2] = {0, 0};
  for (int draw = 0; draw < 300; draw++) {
    Vec3 target[2];
    witness_random_pair(&box, &box, &random, target);
    compare_at_most(witness_reach_bound(&box, &box, target), 1e-30, "seed 57, draw %d", draw);
    for (int k = 0; k < 2; k++) {
      Vec3 from = vec3_sub(vec3(fabs(target[k].x), fabs(target[k].y), fabs(target[k].z)), vec3(0.05, 0.03, 0.02));
      corners[k] += vec3_norm(from) < 1e-12;
      compare_near(height_over(&hull, target[k]), 0, 1e-14, "seed 57, draw %d", draw);
    }
  }
  for (int k = 0; k < 2; k++) compare_near(corners[k], 200, 40, "two thirds of the targets are corners");
  witness_body_free(&box);
  hull_free(&hull);
}

/* Two L shapes of boxes in random orientations are disjoint. b moves along the line of nearest points, and their
 * distance falls fastest. No other points of the bodies touch before the targets. */
static void bodies_touch_first_at_nearest_points_V13(void** state) {
  (void)state;
  Random random = {58};
  ConvexHull hulls[2] = {box_at(vec3(1, 0.2, 0.2), vec3(0, 0, 0)), box_at(vec3(0.2, 0.2, 0.8), vec3(0.4, 0, 0.3))};
  WitnessBody body = witness_body_create(hulls, 2, 64);
  int apart = 0;
  for (int draw = 0; draw < 100; draw++) {
    Vec3 turn[2] = {0}, away = {0};
    for (int k = 0; k < 2; k++) turn[k] = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
    away = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
    Pose a = {mat3_from_quat(quat_exp(turn[0])), {0, 0, 0}};
    Pose b = {mat3_from_quat(quat_exp(turn[1])), vec3_scale(away, 0.9 / vec3_norm(away))};
    WitnessCache cache = {.piece = {0, 0}};
    int piece[2];
    Distance found = witness_nearest(&body, a, &body, b, &cache, piece);
    if (found.distance < 1e-3) continue;
    apart++;
    Vec3 way = vec3_scale(vec3_sub(found.witness_b, found.witness_a), 1 / found.distance);
    for (int k = 1; k <= 10; k++) {
      double t = 0.1 * k * found.distance;
      Pose moved = {b.r, vec3_sub(b.t, vec3_scale(way, t))};
      double rest = witness_nearest(&body, a, &body, moved, &cache, piece).distance;
      compare_near(rest, found.distance - t, 1e-9, "seed 58, draw %d, tenth %d", draw, k);
    }
  }
  assert_true(apart > 30);
  witness_body_free(&body);
  for (int k = 0; k < 2; k++) hull_free(&hulls[k]);
}

/* Differences and random motions against the features' own derivatives, where a vertex is nearest to a face. */
static void estimates_V6_V7(void** state) {
  (void)state;
  ConvexHull plate = box_at(vec3(4, 4, 1), vec3(0, 0, 0)), cube = box_at(vec3(1, 1, 1), vec3(0, 0, 0));
  WitnessBody a = witness_body_create(&plate, 1, 64), b = witness_body_create(&cube, 1, 64);
  Pose above = {mat3_from_quat(quat_exp(vec3(0.4, 0.7, 0.1))), {0.3, 0.2, 2}};
  WitnessOptions options = {.estimate = WITNESS_ANALYTIC, .perturbation = 1e-4};
  Witness exact = witness_query(&a, pose_identity(), &b, above, &options, NULL, NULL);
  options.estimate = WITNESS_DIFFERENCES;
  Witness differences = witness_query(&a, pose_identity(), &b, above, &options, NULL, NULL);
  double mean[2][2][3][6] = {{{{0}}}};
  enum { TURNS = 2000 };
  options.estimate = WITNESS_ZEROTH;
  for (options.turn = 0; options.turn < TURNS; options.turn++) {
    Witness w = witness_query(&a, pose_identity(), &b, above, &options, NULL, NULL);
    for (int i = 0; i < 72; i++) (&mean[0][0][0][0])[i] += (&w.total[0][0][0][0])[i] / TURNS;
  }
  for (int i = 0; i < 72; i++)
    compare_near((&differences.total[0][0][0][0])[i], (&exact.total[0][0][0][0])[i], 1e-6, "differences %d", i);
  /* of 32000 motions: a turn's noise is 1, that of a move 1 / WITNESS_MOVE, by the square root of their number */
  for (int point = 0; point < 2; point++)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 6; c++)
        compare_near(mean[point][1][r][c], exact.total[point][1][r][c], c < 3 ? 0.03 : 0.5, "random motions %d %d", r,
                     c);
  witness_body_free(&a);
  witness_body_free(&b);
  hull_free(&plate);
  hull_free(&cube);
}

/* Two balls of 162 corners brought to touch in stated corners: they do. (Starts with a target on the far side can end
 * there.) */
static void descent_brings_targets_together(void** state) {
  (void)state;
  Random random = {57};
  ConvexHull ball;
  assert_int_equal(primitive_sphere(&ball, 0.05, 2), HULL_OK);
  WitnessBody body = witness_body_create(&ball, 1, WITNESS_SURFACE);
  for (int k = 0; k < 4; k++) {
    const Vec3 targets[2] = {ball.vertices[7 * k], ball.vertices[11 * k]};
    Pose a = pose_identity(), b = random_pose(&random, 0.1);
    WitnessDescent options = {
        .query = {.sampling = WITNESS_ADAPTIVE}, .iterations = 1000, .step = 10, .both = k % 3 == 0, .transport = true};
    double loss = witness_descend(&body, &a, &body, &b, targets, &options);
    compare_near(loss, 0, 1e-6, "seed 57, %d: loss", k);
    compare_vec3(pose_apply(a, targets[0]), pose_apply(b, targets[1]), 1e-3, "seed 57, %d: targets", k);
  }
  witness_body_free(&body);
  hull_free(&ball);
}

/* Of a plate of 4 x 4 x 1 and a unit cube: a corner, the middles of two faces, a point near an edge with one on an
 * edge. */
static void reach_V11_of_flat_faces(void** state) {
  (void)state;
  ConvexHull plate = box_at(vec3(4, 4, 1), vec3(0, 0, 0)), cube = box_at(vec3(1, 1, 1), vec3(0, 0, 0));
  WitnessBody a = witness_body_create(&plate, 1, 64), b = witness_body_create(&cube, 1, 64);
  const Vec3 on[][2] = {
      {{0, 0, 0.5}, {0.5, 0.5, -0.5}}, {{0, 0, 0.5}, {0, 0, -0.5}}, {{1.9, 0, 0.5}, {0.5, 0.1, -0.5}}};
  const double wanted[] = {0, 0.5, 0.01};
  for (int k = 0; k < 3; k++)
    compare_near(witness_reach_bound(&a, &b, on[k]), wanted[k], 1e-15, "pair %d of targets", k);
  witness_body_free(&a);
  witness_body_free(&b);
  hull_free(&plate);
  hull_free(&cube);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_lie_on_the_surface),
      cmocka_unit_test(smooth_points_V1_are_the_mean),
      cmocka_unit_test(derivatives_V2),
      cmocka_unit_test(derivatives_by_corners_V12),
      cmocka_unit_test(by_temperature_V2),
      cmocka_unit_test(ends_of_the_temperature_V1),
      cmocka_unit_test(coupling_V3_follows_both_points),
      cmocka_unit_test(pieces_are_one_body),
      cmocka_unit_test(loss_V4_and_its_transported_gradient_V5),
      cmocka_unit_test(estimates_V6_V7),
      cmocka_unit_test(reach_V11_of_flat_faces),
      cmocka_unit_test(bodies_touch_first_at_nearest_points_V13),
      cmocka_unit_test(pairs_that_meet_V11_have_a_corner),
      cmocka_unit_test(descent_brings_targets_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
