/* Tests signed distance fields: closed forms, bounds, and derivatives against finite differences. */
#include <string.h>
#include "shapes/shapes.h"
#include "support/bodies.h"
#include "support/designed.h"
#include "support/sweep.h"

static Field shape_part(const ShapeDefinition* form, Pose pose) {
  Field field = {.kind = FIELD_SHAPE, .pose = pose};
  assert_null(shape_create(&field.shape, form));
  return field;
}

static Field ball(double radius, Vec3 center) {
  Pose pose = pose_identity();
  pose.t = center;
  const ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {radius, radius, radius}};
  return shape_part(&form, pose);
}

static Field quadric(Random* random) {
  ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC};
  for (int k = 0; k < 3; k++) form.size[k] = 0.3 + random_uniform(random, 0, 1);
  for (int k = 0; k < 2; k++) form.exponents[k] = 0.3 + 0.6 * random_uniform(random, 0, 1);
  return shape_part(&form, random_pose(random, 0.3));
}

static Field cone(Random* random) {
  const ShapeDefinition form = {.kind = SMOOTH_CONE, .beta = 15, .size = {0.5, 0.3, 0.4, 0.6}};
  return shape_part(&form, random_pose(random, 0.3));
}

static Field hull_part(Random* random, double smoothing) {
  Vec3 corner[20];
  for (int i = 0; i < 20; i++) corner[i] = random_direction(random);
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, corner, 20), HULL_OK);
  Field field;
  assert_null(field_of_hull(&field, &hull, smoothing));
  hull_free(&hull);
  return field;
}

static Field joined(FieldKind kind, double smoothing, Field first, Field second) {
  Field field = {.kind = kind, .pose = pose_identity(), .smoothing = smoothing, .part_count = 2};
  field.parts = MEMORY_NEW(Field, 2);
  field.parts[0] = first;
  field.parts[1] = second;
  return field;
}

/* Points on a wavy sheet round the origin. */
static Field cloud(Random* random) {
  Field field = {.kind = FIELD_POINTS, .pose = random_pose(random, 0.2), .radius = 0.3, .count = 60};
  field.points = MEMORY_NEW(Vec3, field.count);
  field.normals = MEMORY_NEW(Vec3, field.count);
  for (int i = 0; i < field.count; i++) {
    field.normals[i] = random_direction(random);
    field.points[i] = vec3_scale(field.normals[i], 0.8 + 0.4 * random_uniform(random, 0, 1));
  }
  return field;
}

static void a_ball_Y1_is_the_distance(void** state) {
  (void)state;
  Random random = {61};
  Field field = ball(0.7, vec3(1, 2, 3));
  for (int i = 0; i < 100; i++) {
    Vec3 n = random_direction(&random);
    double distance = -0.6 + 3 * random_uniform(&random, 0, 1);
    FieldValue v = field_evaluate(&field, vec3_add_scaled(vec3(1, 2, 3), 0.7 + distance, n));
    compare_near(v.value, distance, 1e-14, "seed 61, %d", i);
    compare_vec3(v.gradient, n, 1e-13, "seed 61, %d: gradient", i);
    compare_vec3(v.outward, n, 1e-13, "seed 61, %d: normal", i);
  }
  field_free(&field);
}

/* max <= phi <= max + smoothing log(faces), the max over the hull's planes. */
static void a_hull_Y2_is_bounded_by_its_planes(void** state) {
  (void)state;
  Random random = {62};
  Vec3 corner[8];
  for (int i = 0; i < 8; i++) corner[i] = vec3(i & 1 ? 0.5 : -0.5, i & 2 ? 1 : -1, i & 4 ? 2 : -2);
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, corner, 8), HULL_OK);
  Field field;
  assert_null(field_of_hull(&field, &hull, 0.01));
  assert_int_equal(field.shape.face_count, 6); /* not 12: triangles of one face count once */
  for (int i = 0; i < 200; i++) {
    Vec3 p = vec3_scale(random_direction(&random), 3 * random_uniform(&random, 0, 1));
    double exact = fmax(fabs(p.x) - 0.5, fmax(fabs(p.y) - 1, fabs(p.z) - 2)), value = field_evaluate(&field, p).value;
    compare_at_most(exact - value, 1e-14, "seed 62, %d: below", i);
    compare_at_most(value - exact, 0.01 * log(6) + 1e-14, "seed 62, %d: above", i);
  }
  field_free(&field);
  hull_free(&hull);
}

/* Points of one plane give its height, whatever the weights. */
static void points_Y3_of_a_plane_are_the_plane(void** state) {
  (void)state;
  Random random = {63};
  Field field = cloud(&random);
  Vec3 n = random_direction(&random);
  for (int i = 0; i < field.count; i++) {
    field.points[i] = vec3_add_scaled(field.points[i], 0.3 - vec3_dot(n, field.points[i]), n);
    field.normals[i] = n;
  }
  for (int i = 0; i < 50; i++) {
    Vec3 p = vec3_scale(random_direction(&random), 4 * random_uniform(&random, 0, 1));
    FieldValue v = field_evaluate(&field, p);
    compare_near(v.value, vec3_dot(n, pose_apply_inverse(field.pose, p)) - 0.3, 1e-13, "seed 63, %d", i);
    compare_vec3(v.gradient, mat3_mul_vec(field.pose.r, n), 1e-12, "seed 63, %d: gradient", i);
  }
  field_free(&field);
}

static void unions_Y4_and_subtractions_Y5_are_bounded_by_their_parts(void** state) {
  (void)state;
  Random random = {64};
  Field both = joined(FIELD_UNION, 0.02, ball(1, vec3(0, 0, 0)), ball(0.8, vec3(0.9, 0, 0)));
  Field less = joined(FIELD_SUBTRACTION, 0.02, ball(1, vec3(0, 0, 0)), ball(0.8, vec3(0.9, 0, 0)));
  for (int i = 0; i < 200; i++) {
    Vec3 p = vec3_scale(random_direction(&random), 3 * random_uniform(&random, 0, 1));
    double first = vec3_norm(p) - 1, second = vec3_norm(vec3_sub(p, vec3(0.9, 0, 0))) - 0.8;
    double value = field_evaluate(&both, p).value, least = fmin(first, second);
    compare_at_most(value - least, 1e-13, "seed 64, %d: union", i);
    compare_at_most(least - value, 0.02 * log(2) + 1e-13, "seed 64, %d: union", i);
    value = field_evaluate(&less, p).value;
    double most = fmax(first, -second);
    compare_at_most(most - value, 1e-13, "seed 64, %d: subtraction", i);
    compare_at_most(value - most, 0.02 * log(2) + 1e-13, "seed 64, %d: subtraction", i);
  }
  field_free(&both);
  field_free(&less);
}

static bool field_there(void* context, const double* x, double* y) {
  FieldValue v = field_evaluate(context, vec3(x[0], x[1], x[2]));
  const double out[4] = {v.value, v.outward.x, v.outward.y, v.outward.z};
  memcpy(y, out, sizeof out);
  return true;
}

static void check_derivatives(const Field* field, Random* random, const char* what) {
  for (int i = 0; i < 20; i++) {
    Vec3 p = vec3_scale(random_direction(random), 0.4 + 1.5 * random_uniform(random, 0, 1));
    FieldValue v = field_evaluate(field, p);
    double jacobian[12] = {v.gradient.x, v.gradient.y, v.gradient.z};
    memcpy(jacobian + 3, v.outward_jacobian.m, sizeof v.outward_jacobian.m);
    const double x[3] = {p.x, p.y, p.z};
    Sweep sweep = {field_there, (void*)field, 3, 4, x, NULL, NULL, 1e-3, 4, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-7, "%s, place %d", what, i);
  }
}

static void derivatives_Y6(void** state) {
  (void)state;
  Random random = {65};
  for (int k = 0; k < 5; k++) {
    Field fields[] = {quadric(&random),
                      cone(&random),
                      hull_part(&random, 0.05),
                      cloud(&random),
                      joined(FIELD_UNION, 0.05, quadric(&random), hull_part(&random, 0.05)),
                      joined(FIELD_SUBTRACTION, 0.05, cone(&random),
                             joined(FIELD_UNION, 0.03, quadric(&random), ball(0.4, vec3(0.5, 0.2, 0))))};
    static const char* const names[] = {"superquadric", "cone", "hull", "points", "union", "subtraction of a union"};
    for (int i = 0; i < 6; i++) {
      check_derivatives(&fields[i], &random, names[i]);
      field_free(&fields[i]);
    }
  }
}

/* Evaluating many points together equals evaluating each point individually (Y9). The shapes are a superquadric, a
 * superellipsoid, a union of all types, a nested union and a distant one. */
static void many_places_Y9_are_each_alone(void** state) {
  (void)state;
  uint64_t seed = 77;
  enum { PLACES = 203, KINDS = 6 };
  for (int trial = 0; trial < 40; trial++) {
    Random random = {seed + (uint64_t)trial};
    Field field = quadric(&random);
    if (trial % KINDS != 0 && trial % KINDS != 5) field = joined(FIELD_UNION, 0.03, field, quadric(&random));
    if (trial % KINDS == 2) field = joined(FIELD_UNION, 0.02, field, cone(&random));
    if (trial % KINDS == 3) field = joined(FIELD_UNION, 0.02, hull_part(&random, 0.02), field);
    if (trial % KINDS == 4) field = joined(FIELD_SUBTRACTION, 0.02, field, ball(0.3, vec3(0.4, 0, 0)));
    if (trial % KINDS == 5) field = joined(FIELD_UNION, 0.01, ball(0.4, vec3(5, 0, 0)), field);
    Vec3 places[PLACES];
    FieldValue many[PLACES], fewer[PLACES], values[PLACES];
    for (int i = 0; i < PLACES; i++) {
      double size = random_uniform(&random, 0, 1) < 0.2 ? 30 : 1;
      places[i] = vec3(size * random_normal(&random), size * random_normal(&random), size * random_normal(&random));
      if (i % 17 == 0) places[i].x = 0;
      if (i % 23 == 0) places[i].y = places[i].z = 0;
    }
    places[5] = field.kind == FIELD_SHAPE ? field.pose.t : places[5]; /* a centre */
    field_evaluate_many(&field, places, PLACES, FIELD_JACOBIANS, many);
    field_evaluate_many(&field, places, PLACES, FIELD_VALUES, values);
    field_evaluate_many(&field, places + 3, PLACES - 3, FIELD_JACOBIANS, fewer);
    for (int i = 0; i < PLACES; i++) {
      FieldValue own = field_evaluate(&field, places[i]);
      double far = 1 + vec3_norm(places[i]);
      if (!(fabs(many[i].value - own.value) < 1e-13 * far) ||
          !(vec3_norm(vec3_sub(many[i].gradient, own.gradient)) < 1e-12) ||
          !(vec3_norm(vec3_sub(many[i].outward, own.outward)) < 1e-12))
        fail_msg("seed %d, place %d: %.17g, alone %.17g", (int)seed + trial, i, many[i].value, own.value);
      for (int k = 0; k < 9; k++) {
        double got = many[i].outward_jacobian.m[k / 3][k % 3], alone = own.outward_jacobian.m[k / 3][k % 3];
        if (!(fabs(got - alone) <= 1e-10 * (1 + fabs(alone))))
          fail_msg("seed %d, place %d: turn %.17g, alone %.17g", (int)seed + trial, i, got, alone);
      }
      assert_true(values[i].value == many[i].value && vec3_norm(vec3_sub(values[i].outward, many[i].outward)) == 0);
      if (i >= 3) assert_memory_equal(&fewer[i - 3].value, &many[i].value, sizeof(double));
      if (i >= 3) assert_memory_equal(&fewer[i - 3].outward_jacobian, &many[i].outward_jacobian, sizeof(Mat3));
    }
    field_free(&field);
  }
}

/* All of the surface is on phi = 0, and nothing of it within the other part. */
static void surfaces_lie_on_zero(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    Field field =
        joined(kind ? FIELD_SUBTRACTION : FIELD_UNION, 0.02, ball(1, vec3(0, 0, 0)), ball(0.8, vec3(0.9, 0, 0)));
    TriangleSurface surface = field_surface(&field, 2);
    assert_true(surface.triangle_count > 100);
    for (int i = 0; i < surface.point_count; i++) {
      compare_near(field_evaluate(&field, surface.points[i]).value, 0, 1e-12, "kind %d, point %d", kind, i);
      compare_at_most(vec3_norm(surface.points[i]), (kind ? 1 : 0.9 + 0.8) + 0.02, "kind %d, point %d: outer", kind, i);
    }
    for (int i = 0; i < surface.triangle_count; i++) {
      Vec3 a = surface.points[surface.triangles[i][0]], b = surface.points[surface.triangles[i][1]],
           c = surface.points[surface.triangles[i][2]];
      Vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a)), middle = vec3_scale(vec3_add(a, vec3_add(b, c)), 1.0 / 3);
      assert_true(vec3_dot(n, field_evaluate(&field, middle).outward) > 0); /* seen from outside */
    }
    surface_free(&surface);
    field_free(&field);
  }
}

/* An octahedron's corners, outward, inward, and one side of it alone, which is open: inside below it, outside above. */
static void points_Y3_inside_out_break_a_rule(void** state) {
  (void)state;
  Vec3 out[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}, in[6], up[6];
  for (int i = 0; i < 6; i++) {
    in[i] = vec3_scale(out[i], -2);
    up[i] = vec3(0, 0, 3);
  }
  assert_null(field_check_points(out, out, 6, 0.3));
  assert_non_null(field_check_points(out, in, 6, 0.3));
  assert_null(field_check_points(out, up, 6, 0.3));
  assert_null(field_check_points(out, out, 1, 0.3));
}

/* ---------------------------------------------------------------- own parameters */

typedef struct {
  FieldKind kind;
  Vec3 place;
} DesignedPlace;

static bool designed_there(void* context, const double* x, double* y) {
  const DesignedPlace* at = context;
  Field field = designed_field(at->kind, x);
  FieldValue v = field_evaluate(&field, at->place);
  const double rows[4] = {v.value, v.outward.x, v.outward.y, v.outward.z};
  memcpy(y, rows, sizeof rows);
  field_free(&field);
  return true;
}

static void derivatives_by_parameters_Y10_Y11(void** state) {
  (void)state;
  Random random = {83};
  for (int kind = FIELD_POINTS; kind <= FIELD_SUBTRACTION; kind++) {
    Field field = designed_field((FieldKind)kind, NULL);
    int count = field_parameter_count(&field);
    assert_in_range(count, 1, DESIGNED_MAX);
    assert_int_equal(count, kind == FIELD_POINTS ? 73 : kind == FIELD_UNION ? 22 : 108);
    for (int i = 0; i < 12; i++) {
      DesignedPlace at = {(FieldKind)kind, vec3_scale(random_direction(&random), 0.2 + 0.1 * i)};
      double jacobian[4 * DESIGNED_MAX];
      for (int k = 0; k < count; k++) {
        double value;
        Vec3 outward;
        field_parameter_derivatives(&field, at.place, k, 1, &value, &outward);
        const double rows[4] = {value, outward.x, outward.y, outward.z};
        for (int r = 0; r < 4; r++) jacobian[r * count + k] = rows[r];
      }
      double values[DESIGNED_MAX];
      Vec3 outwards[DESIGNED_MAX];
      for (int first = 0; first < count; first += 11)
        field_parameter_derivatives(&field, at.place, first, count - first < 11 ? count - first : 11, values + first,
                                    outwards + first);
      for (int k = 0; k < count; k++) {
        const double together[4] = {values[k], outwards[k].x, outwards[k].y, outwards[k].z};
        for (int r = 0; r < 4; r++) assert_true(together[r] == jacobian[r * count + k]);
      }
      Sweep sweep = {designed_there, &at, count, 4, NULL, NULL, NULL, 1e-3, 4, 7};
      sweep_expect(&sweep, jacobian, 0.1, 1e-7, "seed 83, kind %d, place %d", kind, i);
    }
    field_free(&field);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_Y1_is_the_distance),
      cmocka_unit_test(a_hull_Y2_is_bounded_by_its_planes),
      cmocka_unit_test(points_Y3_of_a_plane_are_the_plane),
      cmocka_unit_test(points_Y3_inside_out_break_a_rule),
      cmocka_unit_test(unions_Y4_and_subtractions_Y5_are_bounded_by_their_parts),
      cmocka_unit_test(derivatives_Y6),
      cmocka_unit_test(derivatives_by_parameters_Y10_Y11),
      cmocka_unit_test(many_places_Y9_are_each_alone),
      cmocka_unit_test(surfaces_lie_on_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
