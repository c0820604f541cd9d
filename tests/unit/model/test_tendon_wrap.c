/* Tests the path of a tendon around a cylinder and a sphere (docs/derivations/loads.md, L8): closed forms, finite
 * differences, and the onset of wrapping. */
#include "model/model.h"
#include "support/compare.h"

static const SceneTendonWrap CYLINDER = {
    .type = WRAP_CYLINDER, .link = 0, .radius = 0.4, .position = {0.1, -0.2, 0.05}, .axis = {0.2, 0.3, 0.9}};
static const SceneTendonWrap SPHERE = {.type = WRAP_SPHERE, .link = 0, .radius = 0.4, .position = {0.1, -0.2, 0.05}};
static const Vec3 A = {-0.7, -0.1, 0.1}, B = {0.6, -0.05, 0.5};

static Pose tilted(void) { return (Pose){mat3_from_quat(quat_exp(vec3(0.3, -0.2, 0.4))), vec3(0.02, 0.03, -0.04)}; }

static Vec3 moved(Vec3 v, int k, double h) { return vec3_add(v, vec3(h * (k == 0), h * (k == 1), h * (k == 2))); }

/* The path is a quarter circle between two straight segments along the axes. With the height h its length is sqrt((2 l
 * + r pi/2)^2 + h^2). */
static void wrap_L8_a_quarter_of_a_helix(void** state) {
  (void)state;
  SceneTendonWrap wrap = {
      .type = WRAP_CYLINDER, .link = -1, .radius = 0.5, .axis = {0, 0, 1}, .has_side = true, .side = {1, 1, 0}};
  for (int h = 0; h < 3; h++) {
    TendonWrap way = tendon_wrap(&wrap, pose_identity(), vec3(0.5, -1.5, 0), vec3(-2, 0.5, 0.7 * h));
    double plane = 1.5 + 2 + 0.5 * M_PI / 2, length = hypot(plane, 0.7 * h);
    assert_true(way.touches);
    compare_near(way.length, length, 1e-14, "length");
    compare_near(way.by_radius, M_PI / 2 * plane / length, 1e-14, "angle of contact");
    compare_vec3(way.slope[0], vec3_scale(vec3(0, -plane, -0.7 * h), 1 / length), 1e-14, "slope by a");
    compare_vec3(way.slope[1], vec3_scale(vec3(-plane, 0, 0.7 * h), 1 / length), 1e-14, "slope by b");
  }
}

/* A great circle: the plane through both ends and the centre. */
static void wrap_L8_a_great_circle(void** state) {
  (void)state;
  Mat3 r = mat3_from_quat(quat_exp(vec3(0.5, 1.1, -0.7)));
  SceneTendonWrap wrap = {.type = WRAP_SPHERE, .link = -1, .radius = 0.5, .has_side = true};
  wrap.side = mat3_mul_vec(r, vec3(1, 1, 0));
  TendonWrap way =
      tendon_wrap(&wrap, pose_identity(), mat3_mul_vec(r, vec3(0.5, -1.5, 0)), mat3_mul_vec(r, vec3(-2, 0.5, 0)));
  compare_near(way.length, 1.5 + 2 + 0.5 * M_PI / 2, 1e-14, "length");
  compare_vec3(way.slope[0], mat3_mul_vec(r, vec3(0, -1, 0)), 1e-14, "slope by a");
}

static void check_differences(const SceneTendonWrap* wrap) {
  const double h = 1e-6;
  Pose pose = tilted();
  TendonWrap here = tendon_wrap(wrap, pose, A, B);
  assert_true(here.touches);
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 3; k++) {
      Vec3 a[2] = {side == 0 ? moved(A, k, -h) : A, side == 0 ? moved(A, k, h) : A};
      Vec3 b[2] = {side == 1 ? moved(B, k, -h) : B, side == 1 ? moved(B, k, h) : B};
      TendonWrap low = tendon_wrap(wrap, pose, a[0], b[0]), high = tendon_wrap(wrap, pose, a[1], b[1]);
      double own[3];
      vec3_store(here.slope[side], own);
      compare_near((high.length - low.length) / (2 * h), own[k], 1e-9, "slope %d %d", side, k);
      for (int end = 0; end < 2; end++) {
        Vec3 by = vec3_scale(vec3_sub(high.slope[end], low.slope[end]), 1 / (2 * h));
        Mat3 cross = end == 0 ? here.curvature[2] : mat3_transpose(here.curvature[2]);
        const Mat3* c = end == side ? &here.curvature[end] : &cross;
        compare_vec3(by, vec3(c->m[0][k], c->m[1][k], c->m[2][k]), 1e-8, "curvature");
      }
    }
  SceneTendonWrap thin = *wrap, thick = *wrap;
  thin.radius -= h;
  thick.radius += h;
  TendonWrap low = tendon_wrap(&thin, pose, A, B), high = tendon_wrap(&thick, pose, A, B);
  compare_near((high.length - low.length) / (2 * h), here.by_radius, 1e-9, "by the radius");
  for (int end = 0; end < 2; end++)
    compare_vec3(vec3_scale(vec3_sub(high.slope[end], low.slope[end]), 1 / (2 * h)), here.slope_by_radius[end], 1e-8,
                 "slope by the radius");
}

/* Tests the shorter path, and the path on the side that the scene selects. */
static void wrap_L8_derivatives(void** state) {
  (void)state;
  const SceneTendonWrap* const wraps[] = {&CYLINDER, &SPHERE};
  for (int k = 0; k < 2; k++) {
    SceneTendonWrap wrap = *wraps[k];
    check_differences(&wrap);
    double shorter = tendon_wrap(&wrap, tilted(), A, B).length;
    wrap.has_side = true;
    wrap.side = vec3_add(wrap.position, vec3(0, -1, 0));
    check_differences(&wrap);
    double lower = tendon_wrap(&wrap, tilted(), A, B).length;
    assert_true(lower > shorter + 0.05);
    wrap.side = vec3_add(wrap.position, vec3(0, 1, 0));
    compare_near(tendon_wrap(&wrap, tilted(), A, B).length, shorter, 1e-15, "the side of the shorter way");
  }
}

/* An end that sinks towards the solid: length and slope go on where the tendon begins to touch. */
static void wrap_L8_it_begins_to_touch(void** state) {
  (void)state;
  const SceneTendonWrap* const wraps[] = {&CYLINDER, &SPHERE};
  for (int k = 0; k < 2; k++) {
    double free = 3, touching = 0;
    for (int i = 0; i < 60; i++) {
      double y = 0.5 * (free + touching);
      if (tendon_wrap(wraps[k], pose_identity(), vec3(-1, y, 0.1), vec3(1, 0.1, 0)).touches)
        touching = y;
      else
        free = y;
    }
    Vec3 a = vec3(-1, touching, 0.1), b = vec3(1, 0.1, 0), straight = vec3_sub(a, b);
    TendonWrap way = tendon_wrap(wraps[k], pose_identity(), a, b);
    assert_true(way.touches && touching > 0.1);
    compare_near(way.length, vec3_norm(straight), 1e-12, "length");
    compare_near(way.by_radius, 0, 1e-7, "angle of contact");
    compare_vec3(way.slope[0], vec3_normalized(straight), 1e-7, "slope by a");
    compare_vec3(way.slope[1], vec3_normalized(vec3_scale(straight, -1)), 1e-7, "slope by b");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrap_L8_a_quarter_of_a_helix),
      cmocka_unit_test(wrap_L8_a_great_circle),
      cmocka_unit_test(wrap_L8_derivatives),
      cmocka_unit_test(wrap_L8_it_begins_to_touch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
