/* `witness` with nasty bodies and poses, against methods that share nothing with it: distances and depths of all pairs
 * of pieces by exhaustive search over features, smoothed points by their definition in extended precision, by_other by
 * differences of that, reach by features. WITNESS_SEED=n runs one seed alone. */
#include <string.h>
#include "query/query.h"
#include "support/bodies.h"
#include "support/compare.h"
#include "support/exhaustive.h"

enum { SEEDS = 500, PIECES = 3, CORNERS = 16 };

/* ---------------------------------------------------------------- bodies */

typedef struct {
  ConvexHull hull[PIECES];
  WitnessBody body;
  int count;
  double size; /* largest coordinate [m] */
  bool generic;
} Nasty;

typedef enum { TETRAHEDRON, SCATTER, CUBE, PLATE, NEEDLE, PRISM, CLUSTER, KINDS } Kind;

/* Within a unit box. */
static int corners_of(Kind kind, Random* random, Vec3* p) {
  double thin = pow(10, random_uniform(random, -3, 0));
  int count = kind == TETRAHEDRON ? 4 : 5 + (int)(random_bits(random) % (CORNERS - 4));
  if (kind == CUBE || kind == PLATE || kind == NEEDLE) {
    Vec3 e = vec3(kind == NEEDLE ? thin : 1, kind == NEEDLE ? thin : 1, kind == PLATE ? thin : 1);
    for (int i = 0; i < 8; i++) p[i] = vec3(e.x * (i & 1), e.y * (i >> 1 & 1), e.z * (i >> 2));
    return 8;
  }
  if (kind == PRISM) {
    for (int i = 0; i < CORNERS; i++) {
      double sine, cosine;
      math_sincos(i % (CORNERS / 2) * 0.7853981633974483, &sine, &cosine);
      p[i] = vec3(cosine, sine, i < CORNERS / 2 ? 0 : thin);
    }
    return CORNERS;
  }
  for (int i = 0; i < count; i++) {
    p[i] = vec3(random_uniform(random, -1, 1), random_uniform(random, -1, 1), random_uniform(random, -1, 1));
    if (kind == CLUSTER && i >= 4)
      p[i] = vec3_add_scaled(p[i % 4], pow(10, random_uniform(random, -9, -2)), random_direction(random));
  }
  return count;
}

static void make(Random* random, Nasty* n) {
  double scale = random_bits(random) % 3 == 0 ? 1 : pow(10, random_uniform(random, -3, 3));
  *n = (Nasty){.count = random_bits(random) % 2 ? 1 : 1 + (int)(random_bits(random) % PIECES), .generic = true};
  for (int i = 0; i < n->count; i++) {
    HullResult made = HULL_FAILED;
    while (made != HULL_OK) {
      Vec3 p[CORNERS], at = vec3_scale(random_direction(random), i ? scale : 0);
      Kind kind = (Kind)(random_bits(random) % KINDS);
      int count = corners_of(kind, random, p);
      n->generic = n->generic && (kind == TETRAHEDRON || kind == SCATTER);
      for (int k = 0; k < count; k++) p[k] = vec3_add_scaled(at, scale, p[k]);
      made = hull_create(&n->hull[i], p, count);
    }
    for (int k = 0; k < n->hull[i].vertex_count; k++) n->size = fmax(n->size, vec3_norm(n->hull[i].vertices[k]));
  }
  n->body = witness_body_create(n->hull, n->count, WITNESS_SURFACE);
}

static void drop(Nasty* n) {
  for (int i = 0; i < n->count; i++) hull_free(&n->hull[i]);
  witness_body_free(&n->body);
}

/* ---------------------------------------------------------------- a pair */

typedef struct {
  Nasty side[2];
  Pose pose[2];
  double size;  /* of both and what is between [m] */
  bool generic; /* no parallel features */
} Meeting;

static const char* place(Random* random, Meeting* m) {
  const Nasty *a = &m->side[0], *b = &m->side[1];
  static const char* const NAMES[] = {"random", "parallel", "the same place", "inside",
                                      "far",    "touching", "nearly parallel"};
  int mode = (int)(random_bits(random) % 7);
  for (int k = 0; k < 2; k++) m->pose[k] = random_pose(random, m->side[k].size);
  Vec3 way = random_direction(random);
  m->pose[1].t = vec3_add_scaled(m->pose[0].t, (a->size + b->size) * random_uniform(random, 0, 1.5), way);
  m->generic = a->generic && b->generic && mode != 1 && mode != 2 && mode != 6;
  if (mode == 1) m->pose[1].r = m->pose[0].r = mat3_identity();
  if (mode == 2) m->pose[1] = m->pose[0];
  if (mode == 3) m->pose[1].t = vec3_add_scaled(m->pose[0].t, 0.01 * fmin(a->size, b->size), way);
  if (mode == 4) m->pose[1].t = vec3_add_scaled(m->pose[0].t, 1e4 * (a->size + b->size), way);
  if (mode == 5) { /* moved along the normal to a gap of a rounding or so */
    int piece[2];
    Distance d = witness_nearest(&a->body, m->pose[0], &b->body, m->pose[1], NULL, piece);
    double gap = pow(10, random_uniform(random, -12, -3)) * (a->size + b->size) - d.distance;
    m->pose[1].t = vec3_add_scaled(m->pose[1].t, gap, d.normal);
  }
  if (mode == 6) {
    Quat tilt = quat_about(random_direction(random), pow(10, random_uniform(random, -12, -2)));
    m->pose[1].r = mat3_mul(m->pose[0].r, mat3_from_quat(tilt));
  }
  m->size = a->size + b->size + vec3_norm(vec3_sub(m->pose[1].t, m->pose[0].t)) + vec3_norm(m->pose[0].t);
  return NAMES[mode];
}

/* The least over all pairs of pieces of the distance, or of minus the depth. */
static double exhaustive_least(const Meeting* m) {
  Real least = HUGE_VALL;
  for (int i = 0; i < m->side[0].count; i++)
    for (int k = 0; k < m->side[1].count; k++) {
      Solid a = solid_at(&m->side[0].hull[i], m->pose[0]), b = solid_at(&m->side[1].hull[k], m->pose[1]);
      Real gap = exhaustive_separation(&a, &b, (Real)fmin(m->side[0].size, m->side[1].size));
      if (gap > 0) gap = exhaustive_distance(&a, &b);
      least = fminl(least, gap);
      free(a.points);
      free(b.points);
    }
  return (double)least;
}

/* Over the surface of the piece of which that is least. */
static double height_over(const Nasty* n, Vec3 point) {
  double least = HUGE_VAL;
  for (int i = 0; i < n->count; i++) {
    double height = -HUGE_VAL;
    for (int t = 0; t < n->hull[i].triangle_count; t++) {
      const Vec3* v = n->hull[i].vertices;
      const int* c = n->hull[i].triangles[t];
      Vec3 area = vec3_cross(vec3_sub(v[c[1]], v[c[0]]), vec3_sub(v[c[2]], v[c[0]]));
      if (!(vec3_norm(area) > 1e-6 * n->size * n->size)) continue; /* a sliver has no normal to speak of */
      height = fmax(height, vec3_dot(vec3_normalized(area), vec3_sub(point, v[c[0]])));
    }
    least = fmin(least, height);
  }
  return least;
}

/* ---------------------------------------------------------------- what is asked */

/* V1 with the temperature held when it is positive. */
static void plain_smooth(const WitnessSide* side, Pose pose, const Real other[3], const Real* y, Real* temperature,
                         Real smooth[3]) {
  Real u[WITNESS_SAMPLES], mean = 0, square = 0, most = -HUGE_VALL, sum = 0;
  Point x[WITNESS_SAMPLES];
  for (int i = 0; i < side->count; i++) {
    x[i] = transformed(pose, side->samples[i]);
    Point apart = minus(x[i], (Point){other[0], other[1], other[2]});
    u[i] = y ? apart.x * y[0] + apart.y * y[1] + apart.z * y[2] : -dot(apart, apart);
    mean += u[i] / side->count;
    most = fmaxl(most, u[i]);
  }
  for (int i = 0; i < side->count; i++) square += (u[i] - mean) * (u[i] - mean);
  if (!(*temperature > 0)) *temperature = sqrtl(square / (side->count > 1 ? side->count - 1 : 1));
  if (!(*temperature > 0)) *temperature = 1;
  smooth[0] = smooth[1] = smooth[2] = 0;
  for (int i = 0; i < side->count; i++) {
    Real w = expl((u[i] - most) / *temperature);
    sum += w;
    smooth[0] += w * x[i].x;
    smooth[1] += w * x[i].y;
    smooth[2] += w * x[i].z;
  }
  for (int k = 0; k < 3; k++) smooth[k] /= sum;
}

static void check_side(const Meeting* m, const Witness* w, int k, const WitnessOptions* options, uint64_t seed) {
  const WitnessSide* side = &w->side[k];
  const Nasty* own = &m->side[k];
  Vec3 at[2] = {w->nearest.witness_a, w->nearest.witness_b};
  assert_true(side->count >= 1 && side->count <= WITNESS_SAMPLES);
  for (int i = 0; i < side->count; i++)
    compare_at_most(height_over(own, side->samples[i]), 1e-9 * m->size,
                    "seed %lu, body %d, sample %d: over the surface", (unsigned long)seed, k, i);
  bool by_direction = options->score == WITNESS_BY_DIRECTION;
  double sign = (k ? -1 : 1) * (w->nearest.distance > 0 ? 1 : -1);
  Vec3 way = vec3_scale(vec3_sub(at[1], at[0]), sign);
  const Real other[3] = {(Real)at[1 - k].x, (Real)at[1 - k].y, (Real)at[1 - k].z},
             y[3] = {(Real)way.x, (Real)way.y, (Real)way.z};
  Real temperature = 0, smooth[3];
  plain_smooth(side, m->pose[k], other, by_direction ? y : NULL, &temperature, smooth);
  /* scores that are all the same to rounding have no deviation to speak of: the mean over equal or over other weights
   */
  bool told = side->temperature > 1e-7 * m->size * m->size * (by_direction ? 0 : 1) &&
              (!by_direction || side->temperature > 1e-6 * m->size * vec3_norm(way));
  if (!told) return;
  compare_relative(side->temperature, (double)temperature, 1e-6, "seed %lu, body %d: temperature", (unsigned long)seed,
                   k);
  const double found[3] = {side->smooth.x, side->smooth.y, side->smooth.z};
  Real held = (Real)side->temperature;
  for (int r = 0; r < 3; r++)
    compare_near(found[r], (double)smooth[r], 1e-8 * m->size, "seed %lu, body %d: smoothed point", (unsigned long)seed,
                 k);
  /* so that scores change by 1e-4 of T at most */
  double reach = by_direction ? 2 * own->size : 4 * own->size + 2 * fabs(w->nearest.distance);
  double step = 1e-4 * side->temperature / reach, largest = 0;
  for (int r = 0; r < 9; r++) largest = fmax(largest, fabs(side->by_other[r / 3][r % 3]));
  for (int c = 0; c < 3; c++) {
    Real there[3], back[3], up[3], down[3];
    for (int r = 0; r < 3; r++) up[r] = down[r] = by_direction ? y[r] : other[r];
    up[c] += (Real)step;
    down[c] -= (Real)step;
    plain_smooth(side, m->pose[k], by_direction ? other : up, by_direction ? up : NULL, &held, there);
    plain_smooth(side, m->pose[k], by_direction ? other : down, by_direction ? down : NULL, &held, back);
    for (int r = 0; r < 3; r++)
      compare_near(side->by_other[r][c], (double)((there[r] - back[r]) / (2 * (Real)step)),
                   1e-6 * largest + 1e-10 * m->size * reach / side->temperature,
                   "seed %lu, body %d: by the other's point", (unsigned long)seed, k);
  }
}

static void check_nearest(const Meeting* m, const Witness* w, const char* how, uint64_t seed) {
  const Distance* d = &w->nearest;
  double want = exhaustive_least(m), tolerance = 1e-9 * m->size;
  compare_near(d->distance, want, tolerance, "seed %lu, %s: distance", (unsigned long)seed, how);
  compare_near(vec3_norm(d->normal), 1, 1e-9, "seed %lu, %s: normal", (unsigned long)seed, how);
  const Vec3 at[2] = {d->witness_a, d->witness_b};
  for (int k = 0; k < 2; k++)
    compare_near(height_over(&m->side[k], pose_apply_inverse(m->pose[k], at[k])), 0,
                 d->distance < 0 ? HUGE_VAL : 1e-8 * m->size, "seed %lu, %s: nearest point of body %d over its surface",
                 (unsigned long)seed, how, k);
  for (int k = 0; k < 2; k++)
    compare_at_most(height_over(&m->side[k], pose_apply_inverse(m->pose[k], at[k])), 1e-8 * m->size,
                    "seed %lu, %s: nearest point of body %d outside of it", (unsigned long)seed, how, k);
  compare_vec3(vec3_sub(at[1], at[0]), vec3_scale(d->normal, d->distance), 1e-8 * m->size,
               "seed %lu, %s: between the points", (unsigned long)seed, how);
}

static void check_numbers(const Witness* w, const WitnessLoss* loss, uint64_t seed) {
  const double* total = &w->total[0][0][0][0];
  for (int i = 0; w->total_known && i < 72; i++)
    if (!isfinite(total[i])) fail_msg("seed %lu: a Jacobian is not finite", (unsigned long)seed);
  for (int i = 0; w->total_known && i < 6; i++)
    if (!isfinite(loss->gradient[0][i] + loss->gradient[1][i] + loss->transported[i]))
      fail_msg("seed %lu: a gradient is not finite", (unsigned long)seed);
}

/* The bodies exchanged, moved together, made larger by a power of two. */
static void check_alike(const Meeting* m, const Witness* w, Random* random, uint64_t seed) {
  int piece[2];
  Distance back = witness_nearest(&m->side[1].body, m->pose[1], &m->side[0].body, m->pose[0], NULL, piece);
  compare_near(back.distance, w->nearest.distance, 1e-9 * m->size, "seed %lu: exchanged", (unsigned long)seed);
  Pose all = random_pose(random, m->size);
  Distance moved = witness_nearest(&m->side[0].body, pose_mul(all, m->pose[0]), &m->side[1].body,
                                   pose_mul(all, m->pose[1]), NULL, piece);
  compare_near(moved.distance, w->nearest.distance, 1e-9 * m->size, "seed %lu: moved together", (unsigned long)seed);
}

/* From here downhill: poses stay poses, the loss is what features say, and not below what they allow (V11). */
static void check_descent(const Meeting* m, const WitnessOptions* options, const Vec3 targets[2], uint64_t seed) {
  Meeting end = *m;
  WitnessDescent descent = {
      .query = *options, .iterations = 60, .step = 10, .transport = seed % 2, .both = seed % 3 == 0};
  double loss = witness_descend(&m->side[0].body, &end.pose[0], &m->side[1].body, &end.pose[1], targets, &descent);
  for (int k = 0; k < 2; k++) {
    Mat3 rest = mat3_sub(mat3_mul(mat3_transpose(end.pose[k].r), end.pose[k].r), mat3_identity());
    for (int i = 0; i < 9; i++)
      compare_near(rest.m[i / 3][i % 3], 0, 1e-12, "seed %lu: a pose that is none after the descent",
                   (unsigned long)seed);
  }
  double apart = exhaustive_least(&end) - options->margin, least = apart * apart;
  compare_at_most(least, loss + 1e-8 * m->size * m->size, "seed %lu: the loss where the descent ends",
                  (unsigned long)seed);
  if (m->generic && options->margin == 0)
    compare_at_most(witness_reach_bound(&m->side[0].body, &m->side[1].body, targets), loss + 1e-9 * m->size * m->size,
                    "seed %lu: bound of a loss", (unsigned long)seed);
}

static void attack(uint64_t seed) {
  Random random = {seed};
  Meeting m = {.size = 0};
  for (int k = 0; k < 2; k++) make(&random, &m.side[k]);
  const char* how = place(&random, &m);
  WitnessOptions options = {.score = (WitnessScore)(random_bits(&random) % 2),
                            .sampling = (WitnessSampling)(random_bits(&random) % 3),
                            .estimate = (WitnessEstimate)(random_bits(&random) % 4),
                            .margin = random_bits(&random) % 2 ? 0 : 1e-3 * m.side[0].size,
                            .turn = (int)(random_bits(&random) % 100)};
  Vec3 targets[2] = {witness_random_point(&m.side[0].body, &random), witness_random_point(&m.side[1].body, &random)};
  Witness w = witness_query(&m.side[0].body, m.pose[0], &m.side[1].body, m.pose[1], &options, targets, NULL);
  check_nearest(&m, &w, how, seed);
  for (int k = 0; k < 2; k++) check_side(&m, &w, k, &options, seed);
  WitnessLoss loss = witness_loss(&w, m.pose[0], m.pose[1], targets, options.margin);
  check_numbers(&w, &loss, seed);
  check_alike(&m, &w, &random, seed);
  check_descent(&m, &options, targets, seed);
  for (int k = 0; k < 2; k++) drop(&m.side[k]);
}

static void nothing_is_wrong(void** state) {
  (void)state;
  const char* one = getenv("WITNESS_SEED");
  if (one) attack(strtoull(one, NULL, 10));
  for (uint64_t seed = 1; !one && seed <= SEEDS; seed++) attack(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
