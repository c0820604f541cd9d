/* Smooth shapes: level functions against their definitions, derivatives against differences, radii, mass. */
#include "support/bodies.h"
#include "support/shapes.h"
#include "support/sweep.h"

enum { ROUNDS = 12, PARAMETERS_MAX = 1 + 4 * TEST_FACES };

static Vec3 place_near(Random* random, const Shape* shape, double low, double high) {
  Vec3 d = random_direction(random);
  return vec3_scale(d, random_uniform(random, low, high) / shape_gauge(shape, d).value);
}

static void shapes_B1_B2_B3_are_their_definitions(void** state) {
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
  for (int k = 0; k < ROUNDS * SMOOTH_KINDS; k++) {
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
  for (int k = 0; k < ROUNDS * SMOOTH_KINDS; k++) {
    Place p = {.gauge = false};
    test_form(&p.form, &random, k % SMOOTH_KINDS, &WILD_NOT);
    p.form.form.exponent = fmax(1.3, p.form.form.exponent);
    assert_null(shape_create(&p.shape, &p.form.form));
    p.z = place_near(&random, &p.shape, 0.7, 1.2);
    int count = shape_parameter_count(&p.shape);
    double unit[PARAMETERS_MAX], jacobian[4 * PARAMETERS_MAX], size = p.shape.inner;
    test_form_get(&p.form, unit);
    for (int i = 0; i < count; i++) {
      double value;
      Vec3 g;
      unit[i] = fmax(fabs(unit[i]), 0.1 * size);
      shape_parameter_slope(&p.shape, p.z, i, &value, &g);
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
  for (int k = 0; k < 60 * SMOOTH_KINDS; k++) {
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
  ShapeForm form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 2, .size = {1, 1, 1}};
  Shape shape;
  assert_null(shape_create(&shape, &form));
  compare_near(shape.outer, pow(3, 0.25), 1e-14, "outer radius");
  compare_near(shape.inner, 1, 1e-15, "inner radius");
  shape_free(&shape);
}

static void bad_forms_are_refused(void** state) {
  (void)state;
  const double open[4][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}};
  const double outside[4][4] = {{1, 1, 1, 1}, {1, -1, -1, 1}, {-1, 1, -1, 1}, {-1, -1, 1, -0.1}};
  const ShapeForm forms[] = {
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
      cmocka_unit_test(shapes_B1_B2_B3_are_their_definitions),
      cmocka_unit_test(derivatives_B4_by_place),
      cmocka_unit_test(derivatives_by_parameters),
      cmocka_unit_test(radii_B5_hold_the_surface),
      cmocka_unit_test(radii_of_a_superellipsoid_are_reached),
      cmocka_unit_test(bad_forms_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
