/* Tests smooth shapes: level functions against their definitions, derivatives against finite differences, radii, mass.
 */
#include "support/bodies.h"
#include "support/long.h"
#include "support/shapes.h"
#include "support/sweep.h"

enum { PARAMETERS_MAX = 1 + 4 * TEST_FACES };

static Vec3 place_near(Random* random, const Shape* shape, double low, double high) {
  Vec3 d = random_direction(random);
  return vec3_scale(d, random_uniform(random, low, high) / shape_gauge(shape, d).value);
}

static void shapes_B1_B2_B3_B7_are_their_definitions(void** state) {
  (void)state;
  Random random = {11};
  for (int k = 0; k < 40 * SMOOTH_KINDS; k++) {
    TestForm form;
    test_form(&form, &random, k % SMOOTH_KINDS, k % 8 < 4 ? &WILD_NOT : &WILD_MOST);
    Shape shape;
    assert_null(shape_create(&shape, &form.form));
    Vec3 z = place_near(&random, &shape, 0.2, 1.001);
    const long double plain[3] = {z.x, z.y, z.z};
    double wanted = (double)plain_phi(&form.form, plain);
    compare_near(shape_evaluate(&shape, z).value, wanted, 1e-12 * (1 + fabs(wanted)), "seed 11, %d: phi of a %s", k,
                 shape_kind_name(form.form.kind));
    assert_true(shape_gauge_value(&shape, z) == shape_gauge(&shape, z).value);
    compare_relative(shape_gauge(&shape, z).value, (double)plain_gauge(&form.form, plain), 1e-12,
                     "seed 11, %d: gauge of a %s", k, shape_kind_name(form.form.kind));
    shape_free(&shape);
  }
}

typedef struct {
  TestForm form;
  Shape shape;
  Vec3 z;
  bool gauge;
} Place;

/* value and gradient at z + x */
static bool value_there(void* context, const double* x, double* y) {
  Place* p = context;
  Vec3 z = vec3_add(p->z, vec3(x[0], x[1], x[2]));
  ShapeValue v = shape_evaluate(&p->shape, z);
  if (p->gauge) {
    Gauge g = shape_gauge(&p->shape, z);
    v = (ShapeValue){g.value, g.gradient, g.hessian};
  }
  const double out[4] = {v.value, v.gradient.x, v.gradient.y, v.gradient.z};
  for (int k = 0; k < 4; k++) y[k] = out[k];
  return true;
}

static void check_by_place(Place* p, const char* what, int k) {
  double size = p->shape.inner;
  const double unit[3] = {size, size, size}, scale[4] = {1, 1 / size, 1 / size, 1 / size};
  ShapeValue v = shape_evaluate(&p->shape, p->z);
  if (p->gauge) {
    Gauge g = shape_gauge(&p->shape, p->z);
    v = (ShapeValue){g.value, g.gradient, g.hessian};
  }
  double jacobian[12] = {v.gradient.x, v.gradient.y, v.gradient.z};
  for (int i = 0; i < 9; i++) jacobian[3 + i] = v.hessian.m[i / 3][i % 3];
  Sweep sweep = {value_there, p, 3, 4, NULL, unit, scale, 1e-2, 4, 9};
  sweep_expect(&sweep, jacobian, 1, 1e-7, "seed 12, %d: %s of a %s", k, what, shape_kind_name(p->shape.kind));
}

static void derivatives_B4_by_place(void** state) {
  (void)state;
  Random random = {12};
  for (int k = 0; k < tests_count(4, 12) * SMOOTH_KINDS; k++) {
    Place p = {.gauge = false};
    test_form(&p.form, &random, k % SMOOTH_KINDS, &WILD_NOT);
    assert_null(shape_create(&p.shape, &p.form.form));
    p.z = place_near(&random, &p.shape, 0.7, 1.2);
    check_by_place(&p, "phi", k);
    p.gauge = true;
    check_by_place(&p, "gauge", k);
    shape_free(&p.shape);
  }
}

static bool value_of_parameters(void* context, const double* x, double* y) {
  Place* p = context;
  double values[PARAMETERS_MAX];
  TestForm form = p->form;
  test_form_get(&form, values);
  for (int k = 0; k < shape_parameter_count(&p->shape); k++) values[k] += x[k];
  test_form_set(&form, values);
  Shape shape;
  if (shape_create(&shape, &form.form)) return false;
  ShapeValue v = shape_evaluate(&shape, p->z);
  const double out[4] = {v.value, v.gradient.x, v.gradient.y, v.gradient.z};
  for (int k = 0; k < 4; k++) y[k] = out[k];
  shape_free(&shape);
  return true;
}

static void derivatives_by_parameters(void** state) {
  (void)state;
  Random random = {13};
  for (int k = 0; k < tests_count(4, 12) * SMOOTH_KINDS; k++) {
    Place p = {.gauge = false};
    test_form(&p.form, &random, k % SMOOTH_KINDS, &WILD_NOT);
    p.form.form.exponent = fmax(1.3, p.form.form.exponent);
    for (int e = 0; e < 2; e++) p.form.form.exponents[e] = fmin(0.8, p.form.form.exponents[e]);
    assert_null(shape_create(&p.shape, &p.form.form));
    p.z = place_near(&random, &p.shape, 0.7, 1.2);
    int count = shape_parameter_count(&p.shape);
    double unit[PARAMETERS_MAX], jacobian[4 * PARAMETERS_MAX], size = p.shape.inner;
    test_form_get(&p.form, unit);
    for (int i = 0; i < count; i++) {
      double value;
      Vec3 g;
      unit[i] = fmax(fabs(unit[i]), 0.1 * size);
      shape_parameter_derivative(&p.shape, p.z, i, &value, &g);
      const double column[4] = {value, g.x, g.y, g.z};
      for (int r = 0; r < 4; r++) jacobian[r * count + i] = column[r];
    }
    const double scale[4] = {1, 1 / size, 1 / size, 1 / size};
    Sweep sweep = {value_of_parameters, &p, count, 4, NULL, unit, scale, 1e-3, 4, 8};
    sweep_expect(&sweep, jacobian, 1, 1e-7, "seed 13, %d: parameters of a %s", k, shape_kind_name(p.shape.kind));
    shape_free(&p.shape);
  }
}

static void radii_B5_hold_the_surface(void** state) {
  (void)state;
  Random random = {14};
  for (int k = 0; k < tests_count(20, 60) * SMOOTH_KINDS; k++) {
    TestForm form;
    test_form(&form, &random, k % SMOOTH_KINDS, k % 8 < 4 ? &WILD_NOT : &WILD_MOST);
    Shape shape;
    assert_null(shape_create(&shape, &form.form));
    for (int i = 0; i < 100; i++) {
      Vec3 d = random_direction(&random);
      const long double y[3] = {d.x, d.y, d.z};
      double reach = (double)(1 / plain_gauge(&form.form, y));
      compare_at_most(shape.inner, reach * (1 + 1e-12), "seed 14, %d: inner radius of a %s", k,
                      shape_kind_name(shape.kind));
      compare_at_most(reach, shape.outer * (1 + 1e-12), "seed 14, %d: outer radius of a %s", k,
                      shape_kind_name(shape.kind));
    }
    shape_free(&shape);
  }
}

static void radii_of_a_superellipsoid_are_reached(void** state) {
  (void)state;
  /* n = 2: the farthest point of a cube-like body of half edge 1 is where all three are 3^(-1/4): sqrt(3) 3^(-1/4) */
  ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 2, .size = {1, 1, 1}};
  Shape shape;
  assert_null(shape_create(&shape, &form));
  compare_near(shape.outer, pow(3, 0.25), 1e-14, "outer radius");
  compare_near(shape.inner, 1, 1e-15, "inner radius");
  shape_free(&shape);
}

/* Volume 8 abc G(1 + 1/2n)^3 / G(1 + 3/2n), second moment of x^2 = 8/3 a^3 bc G(1 + 3/2n) G(1 + 1/2n)^2 / G(1 + 5/2n).
 */
static void mass_B6_of_superellipsoids_in_closed_form(void** state) {
  (void)state;
  const double exponents[4] = {1, 2, 3.5, 8}, tolerance[4] = {1e-12, 1e-12, 1e-9, 1e-9};
  for (int k = 0; k < 4; k++) {
    double n = exponents[k], a = 0.5, b = 2, c = 30;
    ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = n, .size = {a, b, c}};
    Shape shape;
    assert_null(shape_create(&shape, &form));
    MassMoment m = shape_mass(&shape);
    double one = tgamma(1 + 0.5 / n), three = tgamma(1 + 1.5 / n), five = tgamma(1 + 2.5 / n);
    compare_relative(m.s[3][3], 8 * a * b * c * one * one * one / three, tolerance[k], "volume for n = %g", n);
    compare_relative(m.s[0][0], 8.0 / 3 * a * a * a * b * c * three * one * one / five, tolerance[k],
                     "second moment for n = %g", n);
    compare_near(m.s[0][3], 0, 1e-12, "first moment for n = %g", n);
    shape_free(&shape);
  }
}

/* A cone's mass by discs of its profile: Simpson's rule on pi r(x)^2 dx, with r(x) from the gauge function. */
static void mass_of_a_cone_is_that_of_its_discs(void** state) {
  (void)state;
  ShapeDefinition form = {.kind = SMOOTH_CONE, .beta = 12, .size = {1, 0.5, 0.8, 1.2}};
  Shape shape;
  assert_null(shape_create(&shape, &form));
  MassMoment m = shape_mass(&shape);
  double low = -1 / (double)plain_gauge(&form, (const long double[3]){-1, 0, 0});
  double high = 1 / (double)plain_gauge(&form, (const long double[3]){1, 0, 0}), volume = 0, first = 0;
  int steps = 20000;
  for (int i = 1; i < steps; i++) {
    /* the ends fall like a square root: x by a cosine */
    double angle = 3.14159265358979323846 * i / steps, x = 0.5 * (low + high) - 0.5 * (high - low) * cos(angle);
    double inside = 0, outside = 1.2;
    for (int k = 0; k < 60; k++) {
      double r = 0.5 * (inside + outside);
      const long double z[3] = {x, r, 0};
      *(plain_phi(&form, z) < 0 ? &inside : &outside) = r;
    }
    double slice = (i % 2 ? 4 : 2) / 3.0 * 3.14159265358979323846 / steps * 0.5 * (high - low) * sin(angle) *
                   3.14159265358979323846 * inside * inside;
    volume += slice;
    first += slice * x;
  }
  compare_relative(m.s[3][3], volume, 1e-7, "volume");
  compare_near(m.s[0][3], first, 1e-7, "first moment");
  shape_free(&shape);
}

static void meshes_lie_on_the_surface(void** state) {
  (void)state;
  Random random = {15};
  for (int k = 0; k < SMOOTH_KINDS; k++) {
    TestForm form;
    test_form(&form, &random, k, &WILD_NOT);
    Shape shape;
    ConvexHull mesh;
    assert_null(shape_create(&shape, &form.form));
    assert_int_equal(shape_mesh(&shape, 3, &mesh), HULL_OK);
    for (int i = 0; i < mesh.vertex_count; i++) {
      const long double y[3] = {mesh.vertices[i].x, mesh.vertices[i].y, mesh.vertices[i].z};
      compare_near((double)plain_gauge(&form.form, y), 1, 1e-12, "seed 15, %d: vertex %d", k, i);
    }
    MassMoment inside = mass_moment_solid(&mesh), whole = shape_mass(&shape);
    compare_at_most(inside.s[3][3], whole.s[3][3], "seed 15, %d: volume of the mesh", k);
    compare_at_most(0.9 * whole.s[3][3], inside.s[3][3], "seed 15, %d: volume of the body", k);
    hull_free(&mesh);
    shape_free(&shape);
  }
}

static void bad_forms_are_refused(void** state) {
  (void)state;
  const double open[4][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}};
  const double outside[4][4] = {{1, 1, 1, 1}, {1, -1, -1, 1}, {-1, 1, -1, 1}, {-1, -1, 1, -0.1}};
  const ShapeDefinition forms[] = {
      {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 0.5, .size = {1, 1, 1}},
      {.kind = SMOOTH_SUPERELLIPSOID, .exponent = NAN, .size = {1, 1, 1}},
      {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 2, .size = {1, 0, 1}},
      {.kind = SMOOTH_CYLINDER, .exponent = 2, .size = {NAN, 1}},
      {.kind = SMOOTH_CONE, .beta = 1, .size = {1, 1, 1, 1}},
      {.kind = SMOOTH_CONE, .beta = 20, .size = {1, 1, -1, 1}},
      {.kind = SMOOTH_POLYTOPE, .beta = 20, .faces = open, .face_count = 4},
      {.kind = SMOOTH_POLYTOPE, .beta = 20, .faces = outside, .face_count = 4},
      {.kind = SMOOTH_POLYTOPE, .beta = 20, .faces = open, .face_count = 3},
  };
  for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
    Shape shape;
    assert_non_null(shape_create(&shape, &forms[k]));
    assert_null(shape.nx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_B1_B2_B3_B7_are_their_definitions),
      cmocka_unit_test(derivatives_B4_by_place),
      cmocka_unit_test(derivatives_by_parameters),
      cmocka_unit_test(radii_B5_hold_the_surface),
      cmocka_unit_test(radii_of_a_superellipsoid_are_reached),
      cmocka_unit_test(mass_B6_of_superellipsoids_in_closed_form),
      cmocka_unit_test(mass_of_a_cone_is_that_of_its_discs),
      cmocka_unit_test(meshes_lie_on_the_surface),
      cmocka_unit_test(bad_forms_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
