/* GJK on random pairs against methods that share nothing with it:
 *  - an exhaustive search over all vertex-face and edge-edge pairs (distance), over all face normals and edge-edge
 * cross products (do the hulls meet?), in extended precision;
 *  - certificates, for hulls of any size: the witness points bound the distance from above, the plane through them from
 *    below; at distance zero the witness points are one point. */
#include "../unit/geometry/geometry_testing.h"
#include "support/exhaustive.h"
#include "support/long.h"

/* ---------------------------------------------------------------- shapes */

typedef enum {
  BOX,
  RANDOM_HULL,
  TETRAHEDRON,
  PLANK,
  CYLINDER,
  SMALL_SHAPES, /* above: few enough faces for the exhaustive search */
  GROUND = SMALL_SHAPES,
  CRUMB, /* 1 mm beside 1 m */
  ROUNDED_BOX,
  ROUND,
  SOLIDS, /* above: hulls with triangles */
  POLYGON = SOLIDS,
  SEGMENT,
  SINGLE_POINT,
  FAR_FROM_ITS_ORIGIN,
  CLUSTERS, /* vertices 1e-14 to 1e-3 apart */
  NEEDLE,
  FACE_GRIDS, /* many coplanar vertices */
  FOIL,
  SHAPES
} ShapeKind;

static int set_points(ConvexHull* hull, const Vec3* points, int count) {
  *hull = (ConvexHull){.vertices = MEMORY_NEW(Vec3, count), .vertex_count = count};
  memcpy(hull->vertices, points, sizeof(Vec3) * (size_t)count);
  return HULL_OK;
}

static int make_degenerate(Random* random, ShapeKind shape, ConvexHull* hull) {
  Vec3 p[32], far = random_vector(random, 1e6);
  double thin = pow(10, random_uniform(random, -10, -2));
  for (int i = 0; i < 32; i++) p[i] = random_vector(random, 0.5);
  switch (shape) {
    case POLYGON:
      for (int i = 0; i < 6; i++) p[i].z = 0;
      return set_points(hull, p, 6);
    case SEGMENT:
      p[2] = p[0];
      return set_points(hull, p, 3);
    case SINGLE_POINT:
      return set_points(hull, p, 1);
    case FAR_FROM_ITS_ORIGIN:
      for (int i = 0; i < 12; i++) p[i] = vec3_add(p[i], far);
      return set_points(hull, p, 12);
    case CLUSTERS:
      for (int i = 4; i < 20; i++)
        p[i] = vec3_add_scaled(p[i % 4], pow(10, random_uniform(random, -14, -3)), random_direction(random));
      return set_points(hull, p, 20);
    case NEEDLE:
      for (int i = 0; i < 20; i++) p[i] = vec3(1e-6 * p[i].x, i % 2 ? 1e-6 * p[i].y : p[i].y, p[i].z);
      return set_points(hull, p, 20);
    case FACE_GRIDS:
      for (int i = 0; i < 32; i++) p[i] = vec3(i % 4 / 3.0 - 0.5, i / 4 % 4 / 3.0 - 0.5, i < 16 ? 0 : 0.3);
      return set_points(hull, p, 32);
    default:
      for (int i = 0; i < 8; i++) p[i] = vec3(i & 1, i >> 1 & 1, i & 4 ? thin : 0);
      return set_points(hull, p, 8);
  }
}

static int make_shape(Random* random, ShapeKind shape, ConvexHull* hull) {
  Vec3 p[500], size = vec3(random_uniform(random, 0.05, 1), random_uniform(random, 0.05, 1), 0.4);
  int count = shape == TETRAHEDRON ? 4 : shape == ROUND ? 500 : 4 + (int)(random_bits(random) % 12);
  switch (shape) {
    case BOX:
      return (int)primitive_box(hull, size);
    case PLANK:
      return (int)primitive_box(hull, vec3(2, 0.4, 0.2));
    case GROUND:
      return (int)primitive_box(hull, vec3(100, 100, 1));
    case CRUMB:
      return (int)primitive_box(hull, vec3(1e-3, 1e-3, 1e-3));
    case CYLINDER:
      return (int)primitive_cylinder(hull, 0.2, 0.5, 8);
    case ROUNDED_BOX:
      return (int)primitive_rounded_box(hull, 0.1, vec3(0.3, 0.2, 0.1), 16);
    case RANDOM_HULL:
    case TETRAHEDRON:
    case ROUND:
      for (int i = 0; i < count; i++)
        p[i] = shape == ROUND ? vec3_scale(random_direction(random), 0.5) : random_vector(random, 0.5);
      return (int)hull_create(hull, p, count);
    default:
      return make_degenerate(random, shape, hull);
  }
}

/* ---------------------------------------------------------------- pairs */

typedef struct {
  ConvexHull hull[2];
  PointView view[2];
  Pose pose[2];
  ShapeKind shape[2];
  double size; /* largest coordinate involved [m] */
  double scale;
} TestPair;

static TestPair make_pair(Random* random, int shapes) {
  TestPair pair;
  pair.scale = random_bits(random) % 4 == 0 ? 1 : pow(10, random_uniform(random, -3, 2));
  for (int side = 0; side < 2; side++) {
    ConvexHull* hull = &pair.hull[side];
    pair.shape[side] = (ShapeKind)(random_bits(random) % (uint64_t)shapes);
    while (make_shape(random, pair.shape[side], hull) != HULL_OK) continue;
    for (int i = 0; i < hull->vertex_count; i++) hull->vertices[i] = vec3_scale(hull->vertices[i], pair.scale);
    pair.view[side] = point_view_create(hull->vertices, hull->vertex_count);
    pair.pose[side] = random_pose(random, pair.scale);
  }
  /* Half of the pairs are parallel, exactly or nearly. */
  uint64_t mode = random_bits(random) % 6;
  if (mode == 0) pair.pose[0].r = pair.pose[1].r = mat3_identity();
  if (mode == 1) pair.pose[1].r = pair.pose[0].r;
  if (mode == 2) {
    Quat tilt = quat_about(random_direction(random), pow(10, random_uniform(random, -12, -2)));
    pair.pose[1].r = mat3_mul(pair.pose[0].r, mat3_from_quat(tilt));
  }
  return pair;
}

static void free_pair(TestPair* pair) {
  for (int side = 0; side < 2; side++) {
    hull_free(&pair->hull[side]);
    point_view_free(&pair->view[side]);
  }
}

static void measure_pair(TestPair* pair) {
  pair->size = vec3_norm(pair->pose[0].t) + vec3_norm(pair->pose[1].t);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < pair->hull[side].vertex_count; i++)
      pair->size = fmax(pair->size, vec3_norm(pair->hull[side].vertices[i]));
}

static GjkResult pair_distance(const TestPair* pair, GjkCache* cache) {
  return gjk_distance(pair->view[0], pair->pose[0], pair->view[1], pair->pose[1], cache);
}

/* Moves the pair to its next state: to a chosen gap or penetration, or slightly if the bodies intersect. */
static void move_pair(TestPair* pair, Random* random, GjkResult now) {
  double wanted = pair->scale * pow(10, random_uniform(random, -9, 0));
  if (random_bits(random) % 4 == 0) wanted *= -0.1;
  Vec3 step =
      now.distance > 0 ? vec3_scale(now.normal, wanted - now.distance) : random_vector(random, 0.3 * pair->scale);
  pair->pose[1].t = vec3_add(pair->pose[1].t, step);
}

static void report(const char* what, uint64_t seed, int trial, const TestPair* pair, double got, double want) {
  print_error("%s: seed %llu trial %d shapes %d %d scale %g: got %.17g, want %.17g (off by %g of the size)\n", what,
              (unsigned long long)seed, trial, pair->shape[0], pair->shape[1], pair->scale, got, want,
              fabs(got - want) / pair->size);
}

/* ---------------------------------------------------------------- properties */

static void agrees_with_exhaustive_search(void** state) {
  (void)state;
  const uint64_t seed = 51;
  Random random = {seed};
  double worst = 0;
  int apart = 0, meet = 0;
  for (int trial = 0; trial < 400; trial++) {
    TestPair pair = make_pair(&random, SMALL_SHAPES);
    for (int k = 0; k < 4; k++) {
      measure_pair(&pair);
      GjkResult result = pair_distance(&pair, NULL);
      Solid a = solid_at(&pair.hull[0], pair.pose[0]), b = solid_at(&pair.hull[1], pair.pose[1]);
      double separation = (double)exhaustive_separation(&a, &b, (Real)pair.scale);
      double want = separation > 0 ? (double)exhaustive_distance(&a, &b) : 0;
      double error = fabs(result.distance - want) / pair.size;
      if (error > 1e-13) report("exhaustive", seed, trial, &pair, result.distance, want);
      assert_true(error <= 1e-13);
      if (separation < -1e-13 * pair.size) assert_true(result.distance == 0);
      worst = fmax(worst, error);
      apart += result.distance > 0;
      meet += result.distance == 0;
      free(a.points);
      free(b.points);
      move_pair(&pair, &random, result);
    }
    free_pair(&pair);
  }
  print_message("seed %llu: %d pairs apart, %d meeting; worst error %g of the size\n", (unsigned long long)seed, apart,
                meet, worst);
  assert_true(apart > 400 && meet > 200);
}

/* distance - (gap that the normal proves), both bounds of the true distance. */
static double certificate_gap(const TestPair* pair, const GjkResult* result) {
  Point normal = point_of(result->normal);
  Real high_a = -HUGE_VALL, low_b = HUGE_VALL, length = norm(normal);
  for (int i = 0; i < pair->hull[0].vertex_count; i++)
    high_a = fmaxl(high_a, dot(normal, transformed(pair->pose[0], pair->hull[0].vertices[i])));
  for (int i = 0; i < pair->hull[1].vertex_count; i++)
    low_b = fminl(low_b, dot(normal, transformed(pair->pose[1], pair->hull[1].vertices[i])));
  return (double)((Real)result->distance - (low_b - high_a) / length);
}

static double check_certificate(const TestPair* pair, const GjkResult* result, uint64_t seed, int trial) {
  Vec3 between = vec3_sub(result->witness_b, result->witness_a);
  double off = fabs(vec3_norm(between) - result->distance) / pair->size;
  if (off > 1e-13) report("witness", seed, trial, pair, vec3_norm(between), result->distance);
  assert_true(off <= 1e-13);
  if (result->distance == 0) return 0;
  double gap = certificate_gap(pair, result) / pair->size;
  if (gap > 1e-13) report("plane", seed, trial, pair, result->distance, result->distance - gap * pair->size);
  assert_true(gap <= 1e-13);
  return gap;
}

/* Witness points lie in their hulls (those with faces). */
static void check_membership(const TestPair* pair, const GjkResult* result) {
  for (int side = 0; side < 2; side++) {
    const ConvexHull* hull = &pair->hull[side];
    Vec3 p = pose_apply_inverse(pair->pose[side], side ? result->witness_b : result->witness_a);
    for (int i = 0; i < hull->triangle_count; i++) {
      const int* t = hull->triangles[i];
      Vec3 origin = hull->vertices[t[0]], u = vec3_sub(hull->vertices[t[1]], origin);
      Vec3 n = vec3_cross(u, vec3_sub(hull->vertices[t[2]], origin));
      if (vec3_norm(n) > 1e-6 * pair->scale * pair->scale * 1e-6)
        assert_true(vec3_dot(vec3_normalized(n), vec3_sub(p, origin)) <= 1e-11 * pair->size);
    }
  }
}

static void proves_its_answers(void** state) {
  (void)state;
  const uint64_t seed = 52;
  Random random = {seed};
  double worst_gap = 0, worst_start = 0;
  int most = 0, meet = 0, total = 0;
  for (int trial = 0; trial < tests_count(2000, 8000); trial++) {
    TestPair pair = make_pair(&random, SHAPES);
    GjkCache cache = {0};
    for (int k = 0; k < 4; k++) {
      measure_pair(&pair);
      GjkResult warm = pair_distance(&pair, &cache), cold = pair_distance(&pair, NULL);
      worst_gap = fmax(worst_gap, check_certificate(&pair, &cold, seed, trial));
      worst_gap = fmax(worst_gap, check_certificate(&pair, &warm, seed, trial));
      check_membership(&pair, &warm);
      double start = fabs(warm.distance - cold.distance) / pair.size;
      if (start > 1e-13) report("warm start", seed, trial, &pair, warm.distance, cold.distance);
      assert_true(start <= 1e-13);
      worst_start = fmax(worst_start, start);
      most = warm.iterations > most ? warm.iterations : most;
      most = cold.iterations > most ? cold.iterations : most;
      meet += cold.distance == 0;
      total++;
      move_pair(&pair, &random, warm);
    }
    free_pair(&pair);
  }
  print_message("seed %llu: %d pairs, %d meet; of the size: unproven %g, warm against cold %g; at most %d iterations\n",
                (unsigned long long)seed, total, meet, worst_gap, worst_start, most);
  assert_true(most < 60);
}

/* Swapping the hulls, moving the world and permuting vertices change nothing beyond rounding. */
static void is_invariant(void** state) {
  (void)state;
  const uint64_t seed = 53;
  Random random = {seed};
  double worst = 0;
  for (int trial = 0; trial < tests_count(1200, 5000); trial++) {
    TestPair pair = make_pair(&random, SOLIDS);
    GjkResult plain = pair_distance(&pair, NULL);
    move_pair(&pair, &random, plain);
    measure_pair(&pair);
    plain = pair_distance(&pair, NULL);
    Pose world = random_pose(&random, pair.size);
    ConvexHull reversed = {MEMORY_NEW(Vec3, pair.hull[1].vertex_count), pair.hull[1].vertex_count, NULL, 0};
    for (int i = 0; i < reversed.vertex_count; i++)
      reversed.vertices[i] = pair.hull[1].vertices[reversed.vertex_count - 1 - i];
    PointView view = point_view_create(reversed.vertices, reversed.vertex_count);
    GjkResult other =
        gjk_distance(view, pose_mul(world, pair.pose[1]), pair.view[0], pose_mul(world, pair.pose[0]), NULL);
    double error = fabs(other.distance - plain.distance) / pair.size;
    if (error > 1e-13) report("invariance", seed, trial, &pair, other.distance, plain.distance);
    assert_true(error <= 1e-13);
    worst = fmax(worst, error);
    point_view_free(&view);
    hull_free(&reversed);
    free_pair(&pair);
  }
  print_message("seed %llu: worst change %g of the size\n", (unsigned long long)seed, worst);
}

static void repeats_bit_for_bit(void** state) {
  (void)state;
  Random random = {54};
  for (int trial = 0; trial < tests_count(300, 1000); trial++) {
    TestPair pair = make_pair(&random, SHAPES);
    GjkCache caches[2];
    memset(caches, 0, sizeof caches);
    for (int k = 0; k < 3; k++) {
      GjkResult results[2];
      memset(results, 0, sizeof results);
      for (int i = 0; i < 2; i++) results[i] = pair_distance(&pair, &caches[i]);
      assert_true(results[0].distance == results[1].distance && results[0].iterations == results[1].iterations);
      assert_memory_equal(&results[0].witness_a, &results[1].witness_a, sizeof(Vec3));
      assert_memory_equal(&results[0].witness_b, &results[1].witness_b, sizeof(Vec3));
      assert_memory_equal(&results[0].normal, &results[1].normal, sizeof(Vec3));
      move_pair(&pair, &random, results[0]);
    }
    free_pair(&pair);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_exhaustive_search),
      cmocka_unit_test(proves_its_answers),
      cmocka_unit_test(is_invariant),
      cmocka_unit_test(repeats_bit_for_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
