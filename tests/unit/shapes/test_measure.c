/* Tests measures of smooth bodies with derivatives by their parameters, support points, and meshes of joined fields. */
#include "support/bodies.h"
#include "support/shapes.h"
#include "support/sweep.h"

enum { PARAMETERS_MAX = 1 + 4 * TEST_FACES, MOMENTS = 10 };

static const double PI = 3.14159265358979323846;

typedef struct {
  TestForm form;
  Vec3 direction; /* of a point, or of a support */
  double start[PARAMETERS_MAX];
} Measured;

/* The form with its parameters moved by x. */
static bool shape_moved(const Measured* m, const double* x, int count, Shape* shape) {
  TestForm form = m->form;
  double values[PARAMETERS_MAX];
  for (int k = 0; k < count; k++) values[k] = m->start[k] + x[k];
  form.form.faces = (const double(*)[4])form.faces;
  test_form_set(&form, values);
  form.form.faces = (const double(*)[4])form.faces;
  return shape_create(shape, &form.form) == NULL;
}

static int parameters_of(Measured* m) {
  Shape shape;
  assert_null(shape_create(&shape, &m->form.form));
  int count = shape_parameter_count(&shape);
  test_form_get(&m->form, m->start);
  shape_free(&shape);
  return count;
}

static void moments_out(const MassMoment* s, double* y) {
  for (int i = 0, n = 0; i < 4; i++)
    for (int k = i; k < 4; k++) y[n++] = s->s[i][k];
}

static int moved_count; /* of the form that is being measured */

/* Draws a shape whose parameters can vary by the fraction `part` in both directions. */
static void draw_inner(Measured* m, Random* random, SmoothKind kind, double part) {
  for (bool inside = false; !inside;) {
    test_form(&m->form, random, kind, &WILD_NOT);
    moved_count = parameters_of(m);
    inside = true;
    for (int k = 0; k < 2 * moved_count && inside; k++) {
      double x[PARAMETERS_MAX] = {0};
      Shape shape;
      x[k / 2] = (k % 2 ? 1 : -1) * part * fmax(0.1, fabs(m->start[k / 2]));
      inside = shape_moved(m, x, moved_count, &shape);
      shape_free(&shape);
    }
  }
}

static bool mass_there(void* context, const double* x, double* y) {
  Shape shape;
  if (!shape_moved(context, x, moved_count, &shape)) return false;
  MassMoment s = shape_mass(&shape);
  moments_out(&s, y);
  shape_free(&shape);
  return true;
}

static void mass_B6_by_parameters(void** state) {
  (void)state;
  Random random = {41};
  for (int k = 0; k < SMOOTH_KINDS; k++) {
    Measured m;
    Shape shape;
    MassMoment slopes[PARAMETERS_MAX];
    double jacobian[MOMENTS * PARAMETERS_MAX], unit[PARAMETERS_MAX], row[MOMENTS];
    draw_inner(&m, &random, (SmoothKind)k, 2e-3);
    assert_null(shape_create(&shape, &m.form.form));
    shape_mass_derivatives(&shape, slopes);
    for (int p = 0; p < moved_count; p++) {
      moments_out(&slopes[p], row);
      for (int i = 0; i < MOMENTS; i++) jacobian[i * moved_count + p] = row[i];
      unit[p] = 0.1 * fmax(0.1, fabs(m.start[p]));
    }
    Sweep sweep = {mass_there, &m, moved_count, MOMENTS, NULL, unit, NULL, 1e-2, 8, 3};
    sweep_expect(&sweep, jacobian, 1e-3, 1e-6, "seed 41: moments of a %s", shape_kind_name((SmoothKind)k));
    shape_free(&shape);
  }
}

static bool surface_there(void* context, const double* x, double* y) {
  const Measured* m = context;
  Shape shape;
  if (!shape_moved(m, x, moved_count, &shape)) return false;
  Vec3 z = shape_surface_point(&shape, m->direction);
  y[0] = z.x;
  y[1] = z.y;
  y[2] = z.z;
  shape_free(&shape);
  return true;
}

static void points_B8_by_parameters(void** state) {
  (void)state;
  Random random = {42};
  for (int k = 0; k < 4 * SMOOTH_KINDS; k++) {
    Measured m;
    Shape shape;
    double jacobian[3 * PARAMETERS_MAX], unit[PARAMETERS_MAX];
    draw_inner(&m, &random, (SmoothKind)(k % SMOOTH_KINDS), 2e-3);
    m.direction = random_direction(&random);
    assert_null(shape_create(&shape, &m.form.form));
    compare_near(shape_evaluate(&shape, shape_surface_point(&shape, m.direction)).value, 0, 1e-12, "on the surface");
    for (int p = 0; p < moved_count; p++) {
      Vec3 slope = shape_surface_derivative(&shape, m.direction, p);
      jacobian[p] = slope.x;
      jacobian[moved_count + p] = slope.y;
      jacobian[2 * moved_count + p] = slope.z;
      unit[p] = 0.1 * fmax(0.1, fabs(m.start[p]));
    }
    Sweep sweep = {surface_there, &m, moved_count, 3, NULL, unit, NULL, 1e-2, 8, 6};
    sweep_expect(&sweep, jacobian, 1e-3, 1e-6, "seed 42, %d: point of a %s", k, shape_kind_name(shape.kind));
    shape_free(&shape);
  }
}

/* No point of the surface is farther, and the farthest is on it with the normal along the direction. */
static void supports_B9_are_the_farthest(void** state) {
  (void)state;
  Random random = {43};
  for (int k = 0; k < 12 * SMOOTH_KINDS; k++) {
    TestForm form;
    Shape shape;
    test_form(&form, &random, (SmoothKind)(k % SMOOTH_KINDS), &WILD_NOT);
    assert_null(shape_create(&shape, &form.form));
    Vec3 d = vec3_scale(random_direction(&random), random_uniform(&random, 0.1, 10));
    ShapeSupport s = shape_support(&shape, d);
    double scale = vec3_norm(d) * shape.outer;
    compare_near(s.at.value, 0, 1e-10, "seed 43, %d: phi at the support of a %s", k, shape_kind_name(shape.kind));
    compare_near(s.reach, vec3_dot(d, s.point), 1e-14 * scale, "its reach");
    double sine = vec3_norm(vec3_cross(vec3_normalized(d), vec3_normalized(s.at.gradient)));
    compare_near(sine, 0, 1e-6, "seed 43, %d: its normal on a %s", k, shape_kind_name(shape.kind));
    for (int n = 0; n < 50; n++) {
      Vec3 z = shape_surface_point(&shape, random_direction(&random));
      if (vec3_dot(d, z) > s.reach + 1e-12 * scale) fail_msg("seed 43, %d: a point of the surface is farther", k);
    }
    shape_free(&shape);
  }
}

/* Up to what a query must bear: with w = grad gamma at the point, whose support is 1, the reach along d is at most
 * k + outer |d - k w| for any k > 0. */
static void sharp_supports_B9_reach_their_bound(void** state) {
  (void)state;
  Random random = {46};
  for (int k = 0; k < 600 * SMOOTH_KINDS; k++) {
    TestForm form;
    Shape shape;
    test_form(&form, &random, (SmoothKind)(k % SMOOTH_KINDS), &WILD_MOST);
    assert_null(shape_create(&shape, &form.form));
    Vec3 d = random_direction(&random);
    ShapeSupport s = shape_support(&shape, d);
    Vec3 w = shape_gauge(&shape, s.point).gradient;
    double multiple = vec3_dot(w, d) / vec3_dot(w, w);
    double most = multiple + shape.outer * vec3_norm(vec3_add_scaled(d, -multiple, w));
    if (!(multiple > 0 && s.reach >= most - 1e-9 * shape.outer))
      fail_msg("seed 46, %d: a %s reaches %g, its bound is %g", k, shape_kind_name(shape.kind), s.reach, most);
    shape_free(&shape);
  }
}

/* x: three rotation angles of the direction, then the parameters. */
static bool support_there(void* context, const double* x, double* y) {
  const Measured* m = context;
  Shape shape;
  if (!shape_moved(m, x + 3, moved_count, &shape)) return false;
  Vec3 z = shape_support(&shape, vec3_add(m->direction, vec3_at(x))).point;
  y[0] = z.x;
  y[1] = z.y;
  y[2] = z.z;
  shape_free(&shape);
  return true;
}

static void supports_B9_by_direction_and_parameters(void** state) {
  (void)state;
  Random random = {44};
  for (int k = 0; k < 4 * SMOOTH_KINDS; k++) {
    Measured m;
    Shape shape;
    double jacobian[3 * (PARAMETERS_MAX + 3)], unit[PARAMETERS_MAX + 3] = {0.1, 0.1, 0.1};
    draw_inner(&m, &random, (SmoothKind)(k % SMOOTH_KINDS), 2e-3);
    m.direction = random_direction(&random);
    int columns = moved_count + 3;
    assert_null(shape_create(&shape, &m.form.form));
    ShapeSupport s = shape_support(&shape, m.direction);
    bool sharp = false;
    for (int c = 0; c < columns; c++) {
      Vec3 turn = vec3(c == 0, c == 1, c == 2), change = {0, 0, 0};
      sharp = sharp || !shape_support_derivative(&shape, &s, m.direction, c < 3 ? &turn : NULL, c - 3, &change);
      jacobian[c] = change.x;
      jacobian[columns + c] = change.y;
      jacobian[2 * columns + c] = change.z;
      if (c >= 3) unit[c] = 0.01 * fmax(0.1, fabs(m.start[c - 3]));
    }
    Sweep sweep = {support_there, &m, columns, 3, NULL, unit, NULL, 1e-2, 4, 8};
    if (!sharp)
      sweep_expect(&sweep, jacobian, 1e-3, 1e-5, "seed 44, %d: support of a %s", k, shape_kind_name(shape.kind));
    shape_free(&shape);
  }
}

/* ---------------------------------------------------------------- joined fields */

static Field ball_field(Vec3 at, double radius) {
  Field f = {.kind = FIELD_SHAPE, .pose = {mat3_identity(), at}};
  ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {radius, radius, radius}};
  assert_null(shape_create(&f.shape, &form));
  return f;
}

static Field joined(FieldKind kind, Field a, Field b) {
  Field f = {.kind = kind, .pose = pose_identity(), .smoothing = 1e-5, .parts = MEMORY_NEW(Field, 2), .part_count = 2};
  f.parts[0] = a;
  f.parts[1] = b;
  return f;
}

/* A lens of two balls of radius 1 at a distance d, and half a moment by the cap's centroid. */
static double lens(double d) { return PI * (4 + d) * (2 - d) * (2 - d) / 12; }

static void moments_Y8_of_joined_balls_in_closed_form(void** state) {
  (void)state;
  double d = 1.1, ball = 4 * PI / 3;
  Field both = joined(FIELD_UNION, ball_field(vec3(0, 0, 0), 1), ball_field(vec3(d, 0, 0), 1));
  Field bitten = joined(FIELD_SUBTRACTION, ball_field(vec3(0, 0, 0), 1), ball_field(vec3(d, 0, 0), 1));
  MassMoment sum = field_mass(&both), rest = field_mass(&bitten);
  compare_relative(mass_moment_mass(&sum), 2 * ball - lens(d), 2e-4, "volume of two balls joined");
  compare_near(mass_moment_center(&sum).x, d / 2, 1e-4, "their centre");
  compare_relative(mass_moment_mass(&rest), ball - lens(d), 1e-3, "volume of a ball with a bite");
  /* the lens lies about d / 2 */
  compare_near(mass_moment_center(&rest).x, -lens(d) * d / 2 / (ball - lens(d)), 1e-3, "its centre");
  field_free(&both);
  field_free(&bitten);
}

static void moments_Y8_of_an_ellipsoid(void** state) {
  (void)state;
  ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {1, 0.7, 0.5}};
  Field f = {.kind = FIELD_SHAPE, .pose = pose_identity()};
  assert_null(shape_create(&f.shape, &form));
  MassMoment s = field_mass(&f);
  double volume = 4 * PI / 3 * 0.35;
  compare_relative(mass_moment_mass(&s), volume, 1e-4, "volume");
  compare_relative(s.s[0][0], volume / 5, 2e-4, "second moment");
  compare_relative(s.s[2][2], volume * 0.25 / 5, 2e-4, "second moment");
  field_free(&f);
}

/* The surface is closed, connected and oriented outwards. Its volume is right within the cells' resolution. */
static void surfaces_Y7_are_closed(void** state) {
  (void)state;
  Field fields[2] = {joined(FIELD_UNION, ball_field(vec3(0, 0, 0), 1), ball_field(vec3(1.1, 0.2, 0), 0.8)),
                     joined(FIELD_SUBTRACTION, ball_field(vec3(0, 0, 0), 1), ball_field(vec3(1.1, 0.2, 0), 0.8))};
  for (int k = 0; k < 2; k++) {
    ConvexHull mesh;
    field_solid(&fields[k], 24, &mesh);
    TriangleSurface surface = surface_of_hull(&mesh);
    SurfaceCheck check = surface_check(&surface);
    assert_true(check.closed && check.oriented && check.manifold);
    assert_int_equal(check.shells, 1);
    for (int i = 0; i < mesh.vertex_count; i++)
      compare_near(field_evaluate(&fields[k], mesh.vertices[i]).value, 0, 1e-9, "a point of the surface");
    MassMoment solid = mass_moment_solid(&mesh), wanted = field_mass(&fields[k]);
    compare_relative(mass_moment_mass(&solid), mass_moment_mass(&wanted), 2e-2, "volume within the triangles");
    surface_free(&surface);
    hull_free(&mesh);
    field_free(&fields[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_B6_by_parameters),
      cmocka_unit_test(points_B8_by_parameters),
      cmocka_unit_test(supports_B9_are_the_farthest),
      cmocka_unit_test(sharp_supports_B9_reach_their_bound),
      cmocka_unit_test(supports_B9_by_direction_and_parameters),
      cmocka_unit_test(moments_Y8_of_joined_balls_in_closed_form),
      cmocka_unit_test(moments_Y8_of_an_ellipsoid),
      cmocka_unit_test(surfaces_Y7_are_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
