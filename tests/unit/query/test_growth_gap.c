/* Tests the growth gap as used by a potential: gradient and second derivatives against finite differences, and the
 * published force. */
#include "query/query.h"
#include "support/bodies.h"
#include "support/shapes.h"
#include "support/sweep.h"

enum { PARAMETERS_MAX = 1 + 4 * TEST_FACES, COLUMNS_MAX = QUERY_POSE_COLUMNS + 2 * PARAMETERS_MAX };

typedef struct {
  TestForm form[2];
  Pose pose[2];
  int own[2];
  double start[2][PARAMETERS_MAX];
  bool ground; /* the second is a half-space whose normal is the z axis of its pose */
} Pair;

static Pose moved_pose(Pose p, const double* x) {
  return (Pose){mat3_mul(mat3_from_quat(quat_exp(vec3_at(x))), p.r), vec3_add(p.t, vec3_at(x + 3))};
}

static bool shape_at(const Pair* p, int side, const double* x, Shape* shape) {
  TestForm form = p->form[side];
  double values[PARAMETERS_MAX];
  for (int k = 0; k < p->own[side]; k++) values[k] = p->start[side][k] + x[k];
  form.form.faces = (const double(*)[4])form.faces;
  test_form_set(&form, values);
  form.form.faces = (const double(*)[4])form.faces;
  return shape_create(shape, &form.form) == NULL;
}

/* The gap, its gradient, normal and witness points with both bodies moved by x. */
static bool gap_there(void* context, const double* x, double* y) {
  const Pair* p = context;
  Shape a, b = {0};
  Pose pose[2] = {moved_pose(p->pose[0], x), moved_pose(p->pose[1], x + 6)};
  const double* own = x + QUERY_POSE_COLUMNS;
  if (!shape_at(p, 0, own, &a) || (!p->ground && !shape_at(p, 1, own + p->own[0], &b))) return false;
  Vec3 out[3];
  if (p->ground) {
    Vec3 n = mat3_mul_vec(pose[1].r, vec3(0, 0, 1));
    HalfSpaceGap g = half_space_gap(&a, pose[0], n, vec3_dot(n, pose[1].t));
    y[GAP_VALUE] = g.gap;
    half_space_gap_gradient(&g, y + GAP_GRADIENT);
    out[0] = vec3_scale(n, -1);
    out[1] = g.point;
    out[2] = vec3_add_scaled(g.point, -g.gap, n);
  } else {
    Growth g = growth_query(&a, pose[0], &b, pose[1], NULL);
    if (!g.proved) return false;
    y[GAP_VALUE] = g.gap;
    growth_gap_gradient(pose[0], pose[1], &g, y + GAP_GRADIENT);
    out[0] = g.normal;
    out[1] = g.witness_a;
    out[2] = g.witness_b;
  }
  for (int k = 0; k < 3; k++) {
    y[GAP_NORMAL + 3 * k] = out[k].x;
    y[GAP_NORMAL + 3 * k + 1] = out[k].y;
    y[GAP_NORMAL + 3 * k + 2] = out[k].z;
  }
  shape_free(&a);
  shape_free(&b);
  return true;
}

/* Returns true if all its parameters can vary in both directions. */
static bool inner(const Pair* p, int side) {
  for (int k = 0; k < 2 * p->own[side]; k++) {
    double x[PARAMETERS_MAX] = {0};
    Shape shape;
    x[k / 2] = (k % 2 ? 1 : -1) * 3e-4 * fmax(0.1, fabs(p->start[side][k / 2]));
    bool stands = shape_at(p, side, x, &shape);
    shape_free(&shape);
    if (!stands) return false;
  }
  return true;
}

static void draw_pair(Pair* p, Random* random, int kind_a, int kind_b, bool ground) {
  *p = (Pair){.ground = ground};
  Shape shape[2];
  for (int k = 0; k < 2; k++) {
    do {
      test_form(&p->form[k], random, (SmoothKind)(k == 0 ? kind_a : kind_b), &WILD_NOT);
      assert_null(shape_create(&shape[k], &p->form[k].form));
      p->own[k] = shape_parameter_count(&shape[k]);
      test_form_get(&p->form[k], p->start[k]);
      if (!inner(p, k)) shape_free(&shape[k]);
    } while (!shape[k].outer || !inner(p, k));
    if (ground && k == 1) p->own[k] = 0;
    p->pose[k].r = mat3_from_quat(quat_exp(vec3_scale(random_direction(random), random_uniform(random, 0, 3))));
    p->pose[k].t = random_direction(random);
  }
  Vec3 d = random_direction(random);
  double apart = random_uniform(random, 0.5, 1.1) * (shape[0].inner + shape[1].inner);
  if (!ground) p->pose[1].t = vec3_add_scaled(p->pose[0].t, apart, d);
  for (int k = 0; k < 2; k++) shape_free(&shape[k]);
}

/* out: rows GAP_..., with all columns. */
static bool slopes_of(const Pair* p, double* out, int* columns) {
  static double work[GROWTH_ROWS * COLUMNS_MAX];
  const double zero[PARAMETERS_MAX] = {0};
  Shape a, b = {0};
  const char* why;
  assert_true(shape_at(p, 0, zero, &a));
  *columns = QUERY_POSE_COLUMNS + p->own[0] + p->own[1];
  if (p->ground) {
    Vec3 n = mat3_mul_vec(p->pose[1].r, vec3(0, 0, 1));
    HalfSpaceGap g = half_space_gap(&a, p->pose[0], n, vec3_dot(n, p->pose[1].t));
    why = half_space_gap_derivatives(&a, p->pose[0], p->pose[1].t, &g, true, out);
  } else {
    assert_true(shape_at(p, 1, zero, &b));
    Growth g = growth_query(&a, p->pose[0], &b, p->pose[1], NULL);
    why = growth_gap_derivatives(&a, p->pose[0], &b, p->pose[1], &g, true, work, out);
  }
  shape_free(&a);
  shape_free(&b);
  return why == NULL;
}

static void check_pair(Pair* p, const char* what, int k) {
  static double jacobian[GAP_ROWS * COLUMNS_MAX];
  double unit[COLUMNS_MAX] = {0}, value[GAP_ROWS] = {0};
  const double zero[COLUMNS_MAX] = {0};
  int columns;
  if (!slopes_of(p, jacobian, &columns)) return; /* flat on flat: no derivative is told */
  for (int c = 0; c < columns; c++) {
    int own = c - QUERY_POSE_COLUMNS;
    double start = own < 0 ? 1 : own < p->own[0] ? p->start[0][own] : p->start[1][own - p->own[0]];
    unit[c] = 0.02 * fmax(0.1, fabs(start));
  }
  Sweep sweep = {gap_there, p, columns, GAP_ROWS, NULL, unit, NULL, 1e-2, 4, 9};
  sweep_expect(&sweep, jacobian, 1e-2, 2e-6, "%s %d", what, k);
  /* the first row is the gradient itself, where the bodies have rows of their own */
  assert_true(gap_there(p, zero, value));
  for (int c = 0; c < (p->ground ? 6 : QUERY_POSE_COLUMNS); c++)
    compare_near(value[GAP_GRADIENT + c], jacobian[GAP_VALUE * columns + c], 1e-9, "%s %d: gradient %d", what, k, c);
}

static void gaps_G8_G9_of_two_shapes(void** state) {
  (void)state;
  Random random = {51};
  for (int a = 0, k = 0; a < SMOOTH_KINDS; a++)
    for (int b = a; b < SMOOTH_KINDS; b++, k++) {
      Pair p;
      draw_pair(&p, &random, a, b, false);
      check_pair(&p, "seed 51, pair", k);
    }
}

static void gaps_G10_over_a_half_space(void** state) {
  (void)state;
  Random random = {52};
  for (int k = 0; k < 3 * SMOOTH_KINDS; k++) {
    Pair p;
    draw_pair(&p, &random, k % SMOOTH_KINDS, 0, true);
    check_pair(&p, "seed 52, shape", k);
  }
}

/* A common translation and rotation changes nothing, so force and torque sum to zero (action and reaction). */
static void gaps_G8_balance(void** state) {
  (void)state;
  Random random = {53};
  for (int k = 0; k < 60; k++) {
    Pair p;
    const double zero[COLUMNS_MAX] = {0};
    double y[GAP_ROWS];
    draw_pair(&p, &random, k % SMOOTH_KINDS, (k / 2) % SMOOTH_KINDS, false);
    assert_true(gap_there(&p, zero, y));
    const double* g = y + GAP_GRADIENT;
    Vec3 force = vec3_add(vec3_at(g + 3), vec3_at(g + 9));
    Vec3 torque = vec3_add(vec3_add(vec3_at(g), vec3_at(g + 6)),
                           vec3_add(vec3_cross(p.pose[0].t, vec3_at(g + 3)), vec3_cross(p.pose[1].t, vec3_at(g + 9))));
    compare_near(vec3_norm(force), 0, 1e-14, "seed 53, %d: force", k);
    compare_near(vec3_norm(torque), 0, 1e-11, "seed 53, %d: torque", k);
  }
}

/* Compares the published force k delta^p n with the potential's (G16). Both are equal for spheres. In general the
 * potential's has n / (alpha n.d) + (1 - 1/alpha) d in place of n, whose component along the line of centres is exactly
 * one. */
static void gaps_G16_and_the_published_force(void** state) {
  (void)state;
  Random random = {54};
  double worst = 0;
  for (int k = 0; k < 60; k++) {
    Pair p;
    Shape shape[2];
    const double zero[COLUMNS_MAX] = {0};
    double y[GAP_ROWS];
    draw_pair(&p, &random, k % SMOOTH_KINDS, (k / 2) % SMOOTH_KINDS, false);
    if (k < 20)
      for (int side = 0; side < 2; side++) { /* spheres */
        p.form[side].form = (ShapeDefinition){
            .kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {0.5 + side, 0.5 + side, 0.5 + side}};
        test_form_get(&p.form[side], p.start[side]);
        p.own[side] = 4;
      }
    for (int side = 0; side < 2; side++) assert_true(shape_at(&p, side, zero, &shape[side]));
    assert_true(gap_there(&p, zero, y));
    Growth g = growth_query(&shape[0], p.pose[0], &shape[1], p.pose[1], NULL);
    Vec3 f = vec3_at(y + GAP_GRADIENT + 9), d = vec3_normalized(vec3_sub(p.pose[1].t, p.pose[0].t));
    double cosine = vec3_dot(g.normal, d);
    Vec3 wanted = vec3_add_scaled(vec3_scale(g.normal, 1 / (g.alpha * cosine)), 1 - 1 / g.alpha, d);
    compare_near(vec3_norm(vec3_sub(f, wanted)), 0, 1e-12, "seed 54, %d: the force's factor", k);
    compare_near(vec3_dot(f, d), 1, 1e-12, "seed 54, %d: along the line of centres", k);
    double apart = vec3_norm(vec3_sub(f, g.normal));
    if (k < 20) compare_near(apart, 0, 1e-9, "seed 54, %d: spheres press as published", k);
    worst = fmax(worst, apart);
    for (int side = 0; side < 2; side++) shape_free(&shape[side]);
  }
  assert_true(worst > 0.1); /* others do not */
}

enum { WRENCH_STIFFNESS = 7 };
#define WRENCH_EXPONENT 2.5 /* three times differentiable at touching: differences may cross it */

static bool wrench_there(void* context, const double* x, double* y) {
  const Pair* p = context;
  Shape a, b;
  Pose pose[2] = {moved_pose(p->pose[0], x), moved_pose(p->pose[1], x + 6)};
  const double* own = x + QUERY_POSE_COLUMNS;
  if (!shape_at(p, 0, own, &a) || !shape_at(p, 1, own + p->own[0], &b)) return false;
  Growth g = growth_query(&a, pose[0], &b, pose[1], NULL);
  GrowthWrench w = growth_wrench(pose[0], pose[1], &g, WRENCH_STIFFNESS, WRENCH_EXPONENT);
  shape_free(&a);
  shape_free(&b);
  y[WRENCH_FORCE] = w.force;
  for (int k = 0; k < 6; k++) {
    y[WRENCH_ON_A + k] = w.on_a[k];
    y[WRENCH_ON_B + k] = w.on_b[k];
  }
  return g.proved;
}

/* Derivatives by poses and parameters of both, overlapping; action and reaction; the published formulas. */
static void wrenches_G24(void** state) {
  (void)state;
  Random random = {55};
  for (int a = 0, k = 0; a < SMOOTH_KINDS; a++)
    for (int b = a; b < SMOOTH_KINDS; b++, k++) {
      static double rows[GROWTH_ROWS * COLUMNS_MAX], jacobian[WRENCH_ROWS * COLUMNS_MAX];
      const double zero[COLUMNS_MAX] = {0};
      double unit[COLUMNS_MAX] = {0}, value[WRENCH_ROWS] = {0}, condition;
      Pair p;
      Shape shape[2];
      draw_pair(&p, &random, a, b, false);
      p.pose[1].t = vec3_add(p.pose[0].t, vec3_scale(vec3_sub(p.pose[1].t, p.pose[0].t), 0.7));
      for (int side = 0; side < 2; side++) assert_true(shape_at(&p, side, zero, &shape[side]));
      Growth g = growth_query(&shape[0], p.pose[0], &shape[1], p.pose[1], NULL);
      assert_true(g.gap < 0);
      assert_true(wrench_there(&p, zero, value));
      double force = WRENCH_STIFFNESS * pow(-g.gap, WRENCH_EXPONENT);
      compare_near(value[WRENCH_FORCE], force, 1e-13 * force, "seed 55, %d: force", k);
      compare_vec3(vec3_at(value + WRENCH_ON_B + 3), vec3_scale(g.normal, force), 1e-13, "seed 55, %d: on b", k);
      Vec3 total = vec3_add(vec3_at(value + WRENCH_ON_A + 3), vec3_at(value + WRENCH_ON_B + 3));
      Vec3 about = vec3_add(vec3_cross(p.pose[0].t, vec3_at(value + WRENCH_ON_A + 3)),
                            vec3_cross(p.pose[1].t, vec3_at(value + WRENCH_ON_B + 3)));
      Vec3 torque = vec3_add(vec3_add(vec3_at(value + WRENCH_ON_A), vec3_at(value + WRENCH_ON_B)), about);
      compare_near(vec3_norm(total) + vec3_norm(torque), 0, 1e-12, "seed 55, %d: action and reaction", k);
      int columns = QUERY_POSE_COLUMNS + p.own[0] + p.own[1];
      if (!growth_derivatives(&shape[0], p.pose[0], &shape[1], p.pose[1], &g, true, rows, &condition)) {
        growth_wrench_derivatives(p.pose[0], p.pose[1], &g, WRENCH_STIFFNESS, WRENCH_EXPONENT, rows, columns, jacobian);
        for (int c = 0; c < columns; c++) {
          int own = c - QUERY_POSE_COLUMNS;
          double start = own < 0 ? 1 : own < p.own[0] ? p.start[0][own] : p.start[1][own - p.own[0]];
          unit[c] = 0.02 * fmax(0.1, fabs(start));
        }
        Sweep sweep = {wrench_there, &p, columns, WRENCH_ROWS, NULL, unit, NULL, 1e-2, 4, 9};
        sweep_expect(&sweep, jacobian, 1e-2, 2e-6, "seed 55, pair %d", k);
      }
      for (int side = 0; side < 2; side++) shape_free(&shape[side]);
    }
}

/* Unit balls: (2 - |r|)^1.5 k along the line of centres, no torque; apart nothing, neither do derivatives. */
static void wrenches_G24_of_balls(void** state) {
  (void)state;
  Shape ball;
  const ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {1, 1, 1}};
  assert_null(shape_create(&ball, &form));
  for (int k = 0; k < 2; k++) {
    double rows[GROWTH_ROWS * QUERY_POSE_COLUMNS], out[WRENCH_ROWS * QUERY_POSE_COLUMNS], condition,
        apart = k ? 2.5 : 1.5;
    Pose a = pose_identity(), b = pose_identity();
    b.t = vec3(0, apart, 0);
    Growth g = growth_query(&ball, a, &ball, b, NULL);
    GrowthWrench w = growth_wrench(a, b, &g, 1000, 1.5);
    double force = k ? 0 : 1000 * pow(0.5, 1.5), slope = k ? 0 : -1500 * sqrt(0.5);
    const double wanted[6] = {0, 0, 0, 0, force, 0};
    assert_null(growth_derivatives(&ball, a, &ball, b, &g, false, rows, &condition));
    growth_wrench_derivatives(a, b, &g, 1000, 1.5, rows, QUERY_POSE_COLUMNS, out);
    for (int c = 0; c < 6; c++) {
      compare_near(w.on_b[c], wanted[c], 1e-10, "%g m: on b, %d", apart, c);
      compare_near(w.on_a[c], -wanted[c], 1e-10, "%g m: on a, %d", apart, c);
    }
    /* b moves along the line of centres, and across it, where the force rotates with the line */
    compare_near(out[(WRENCH_ON_B + 4) * QUERY_POSE_COLUMNS + 10], slope, 1e-9, "%g m: along", apart);
    compare_near(out[(WRENCH_ON_B + 3) * QUERY_POSE_COLUMNS + 9], force / apart, 1e-9, "%g m: across", apart);
  }
  shape_free(&ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_G8_G9_of_two_shapes),
      cmocka_unit_test(gaps_G10_over_a_half_space),
      cmocka_unit_test(gaps_G8_balance),
      cmocka_unit_test(gaps_G16_and_the_published_force),
      cmocka_unit_test(wrenches_G24),
      cmocka_unit_test(wrenches_G24_of_balls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
