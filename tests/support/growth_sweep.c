#include "support/growth_sweep.h"
#include "support/bodies.h"

enum { PATH = 8 };

static const double FACES[8][4] = {{1, 1, 1, 1},        {1, -1, -1, 1},        {-1, 1, -1, 1},
                                   {-1, -1, 1, 1},      {-1, -1, -1, 5.0 / 3}, {-1, 1, 1, 5.0 / 3},
                                   {1, -1, 1, 5.0 / 3}, {1, 1, -1, 5.0 / 3}};
static const ShapeDefinition FORMS[SMOOTH_KINDS] = {
    [SMOOTH_POLYTOPE] = {.kind = SMOOTH_POLYTOPE, .beta = 20, .faces = FACES, .face_count = 8},
    [SMOOTH_CONE] = {.kind = SMOOTH_CONE, .beta = 20, .size = {1, 0.5, 1, 1}},
    [SMOOTH_SUPERELLIPSOID] = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 8, .size = {0.5, 1, 1.5}},
    [SMOOTH_CYLINDER] = {.kind = SMOOTH_CYLINDER, .exponent = 8, .size = {1, 2}},
    [SMOOTH_SUPERQUADRIC] = {.kind = SMOOTH_SUPERQUADRIC, .exponents = {0.3, 0.6}, .size = {0.5, 1, 1.5}},
};

void growth_check(const Shape* a, const Shape* b, double distance, const Growth* g, const char* what) {
  double inner = a->inner + b->inner, outer = a->outer + b->outer;
  if (!g->proved) fail_msg("%s: alpha %.17g not proved: %.17g to %.17g", what, g->alpha, g->low, g->high);
  if (!(g->low <= g->alpha && g->alpha <= g->high))
    fail_msg("%s: alpha %.17g not within %.17g to %.17g", what, g->alpha, g->low, g->high);
  compare_at_most(distance / outer, g->alpha * (1 + 1e-12), "%s: alpha against the outer radii", what);
  compare_at_most(g->alpha, distance / inner * (1 + 1e-12), "%s: alpha against the inner radii", what);
  assert_true(g->multiplier_a > 0 && g->multiplier_b > 0);
}

static int sweep_pair(const Shape* a, const Shape* b, Random* random, uint64_t seed, int poses) {
  int bracketed = 0;
  GrowthCache cache = {.warm = 0};
  Pose pa = pose_identity(), pb = pose_identity();
  Vec3 way = vec3(0, 0, 0);
  double distance = 0;
  for (int i = 0; i < poses; i++) {
    bool path = (i / PATH) % 2;
    if (!path || i % PATH == 0) {
      pa = random_pose(random, 1);
      pb = random_pose(random, 1);
      distance = pow(10, random_uniform(random, -3, 3)) * (a->inner + b->inner);
      way = random_direction(random);
      pb.t = vec3_add_scaled(pa.t, distance, random_direction(random));
    } else {
      pb.t = vec3_add_scaled(pb.t, 0.02 * distance, way);
      pb.r = mat3_mul(mat3_from_quat(quat_about(way, 0.02)), pb.r);
    }
    Growth g = growth_query(a, pa, b, pb, path ? &cache : NULL);
    char what[120];
    snprintf(what, sizeof what, "seed %llu, pose %d of %s and %s", (unsigned long long)seed, i,
             shape_kind_name(a->kind), shape_kind_name(b->kind));
    growth_check(a, b, vec3_norm(vec3_sub(pb.t, pa.t)), &g, what);
    bracketed += g.bracketed;
  }
  return bracketed;
}

void growth_sweep(uint64_t seed, int poses) {
  Random random = {seed};
  for (int i = 0; i < SMOOTH_KINDS; i++)
    for (int k = i; k < SMOOTH_KINDS; k++) {
      Shape a, b;
      assert_null(shape_create(&a, &FORMS[i]));
      assert_null(shape_create(&b, &FORMS[k]));
      int bracketed = sweep_pair(&a, &b, &random, seed, poses);
      printf("seed %llu: %s and %s: %d of %d by the bracketing method\n", (unsigned long long)seed,
             shape_kind_name(a.kind), shape_kind_name(b.kind), bracketed, poses);
      compare_at_most(bracketed, 0.03 * poses + 3, "answers that neither warm start nor path (G7) found");
      shape_free(&a);
      shape_free(&b);
    }
}
