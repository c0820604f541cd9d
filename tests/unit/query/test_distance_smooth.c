/* Tests distance and depth of smooth bodies: closed forms, hulls of many surface points, bounds, and derivatives
 * against finite differences. Every random test prints its seed. */
#include <string.h>
#include "query/query.h"
#include "support/bodies.h"
#include "support/long.h"
#include "support/shapes.h"
#include "support/sweep.h"

enum { COLUMNS_MAX = QUERY_POSE_COLUMNS + 2 * (1 + 4 * TEST_FACES), PAIRS = 60 };

/* A pair of a smooth body and one of any kind. */
typedef struct {
  TestForm form[2];
  Shape shape[2];
  Body hull;
  ConvexBody body[2];
  Pose pose[2];
} Pair;

static void make_smooth(Pair* pair, int k, Random* random, SmoothKind kind) {
  test_form(&pair->form[k], random, kind, &WILD_NOT);
  pair->form[k].form.faces = (const double(*)[4])pair->form[k].faces;
  assert_null(shape_create(&pair->shape[k], &pair->form[k].form));
  pair->body[k].shape = &pair->shape[k];
}

/* number: which kinds, SMOOTH_KINDS stands for a hull; the centres a part of their outer radii from each other. */
static void pair_make(Pair* pair, Random* random, int number, double apart) {
  int kind = number / SMOOTH_KINDS % (SMOOTH_KINDS + 1);
  memset(pair, 0, sizeof *pair);
  make_smooth(pair, 0, random, (SmoothKind)(number % SMOOTH_KINDS));
  double size = pair->shape[0].outer;
  if (kind < SMOOTH_KINDS) {
    make_smooth(pair, 1, random, (SmoothKind)kind);
    size += pair->shape[1].outer;
  } else {
    pair->hull = body_random(random, 12, 1, 1);
    pair->body[1].points = pair->hull.hull.points;
    size += 1;
  }
  for (int k = 0; k < 2; k++) pair->pose[k] = random_pose(random, 1);
  pair->pose[1].t = vec3_add_scaled(pair->pose[0].t, apart * size, random_direction(random));
}

static void pair_free(Pair* pair) {
  for (int k = 0; k < 2; k++)
    if (pair->body[k].shape) shape_free(&pair->shape[k]);
  if (!pair->body[1].shape) body_free(&pair->hull);
}

/* ---------------------------------------------------------------- closed forms */

static Shape ellipsoid(Vec3 axes) {
  Shape shape;
  ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {axes.x, axes.y, axes.z}};
  assert_null(shape_create(&shape, &form));
  return shape;
}

/* Apart, overlapping, one inside the other: r - a - b along the centres. */
static void spheres_H2_in_closed_form(void** state) {
  (void)state;
  Random random = {51};
  for (int k = 0; k < 200; k++) {
    double ra = pow(10, random_uniform(&random, -2, 1)), rb = pow(10, random_uniform(&random, -2, 1)), size = ra + rb;
    Shape a = ellipsoid(vec3(ra, ra, ra)), b = ellipsoid(vec3(rb, rb, rb));
    const ConvexBody body[2] = {{.shape = &a}, {.shape = &b}};
    Pose pose[2] = {random_pose(&random, 1), random_pose(&random, 1)};
    Vec3 way = random_direction(&random);
    double r = random_uniform(&random, 0.02, 3) * size;
    pose[1].t = vec3_add_scaled(pose[0].t, r, way);
    ConvexDistance d = convex_distance(body, pose);
    assert_true(d.low <= d.high && (d.proved || r < size));
    compare_near(d.nearest.distance, r - size, 1e-13 * (r + size + vec3_norm(pose[0].t)), "seed 51, %d: distance", k);
    compare_vec3(d.nearest.normal, way, 1e-12 * (r + size + vec3_norm(pose[0].t)) / r, "seed 51, %d: normal", k);
    compare_vec3(d.nearest.witness_a, vec3_add_scaled(pose[0].t, ra, way), 1e-11 * (size + r), "seed 51, %d: point", k);
    shape_free(&a);
    shape_free(&b);
  }
}

/* Distance of a point from a box about the origin, by components: outside, over faces, edges and corners. */
static double from_box(Vec3 half, Vec3 p) {
  Vec3 out = vec3(fmax(fabs(p.x) - half.x, 0), fmax(fabs(p.y) - half.y, 0), fmax(fabs(p.z) - half.z, 0));
  return vec3_norm(out);
}

static void sphere_and_box_in_closed_form(void** state) {
  (void)state;
  Random random = {52};
  Vec3 half = vec3(0.5, 0.4, 0.3);
  Body box = body_box(vec3_scale(half, 2));
  for (int k = 0; k < 200; k++) {
    double radius = pow(10, random_uniform(&random, -2, 0.5));
    Shape ball = ellipsoid(vec3(radius, radius, radius));
    const ConvexBody body[2] = {{.points = box.hull.points}, {.shape = &ball}};
    Pose pose[2] = {random_pose(&random, 1), random_pose(&random, 1)};
    Vec3 place = vec3_scale(random_direction(&random), random_uniform(&random, 0.55, 2));
    pose[1].t = pose_apply(pose[0], place);
    if (!(from_box(half, place) > 0.01)) continue;
    ConvexDistance d = convex_distance(body, pose);
    assert_true(d.proved);
    /* if the centre is outside of the box, the depth is the ball's penetration into the box */
    compare_near(d.nearest.distance, from_box(half, place) - radius, 1e-12 * (1 + radius), "seed 52, %d", k);
    double jacobian[DISTANCE_ROWS * QUERY_POSE_COLUMNS], condition;
    assert_null(convex_distance_derivatives(body, pose, &d, false, jacobian, &condition));
    for (int c = 0; c < 3; c++)
      compare_near(jacobian[9 + c],
                   c == 0   ? d.nearest.normal.x
                   : c == 1 ? d.nearest.normal.y
                            : d.nearest.normal.z,
                   1e-10, "seed 52, %d: by moving the ball", k);
    shape_free(&ball);
  }
  body_free(&box);
}

/* ---------------------------------------------------------------- a second method */

/* How far the bodies are apart along a direction, by their farthest points. */
static double apart_along(const Pair* pair, Vec3 n) {
  double far[2];
  for (int k = 0; k < 2; k++) {
    Vec3 local = mat3_tmul_vec(pair->pose[k].r, vec3_scale(n, k ? -1 : 1));
    if (pair->body[k].shape)
      far[k] = shape_support(&pair->shape[k], local).reach;
    else
      support_index(pair->body[k].points, local, &far[k]);
    far[k] += vec3_dot(pair->pose[k].t, vec3_scale(n, k ? -1 : 1));
  }
  return -far[0] - far[1];
}

/* Every distance of disjoint bodies is certified. Depths of deep overlaps need not be, because many directions separate
 * the bodies by nearly the same length. No direction gives a larger separation than the (possibly negative) distance.
 * The bounds contain the distance, and the points lie on the bodies. */
static void no_direction_parts_more_H3(void** state) {
  (void)state;
  Random random = {53};
  int proved = 0;
  for (int k = 0; k < PAIRS; k++) {
    Pair pair;
    pair_make(&pair, &random, k, k % 2 ? 1.2 : 0.35);
    ConvexDistance d = convex_distance(pair.body, pair.pose);
    double size = pair.shape[0].outer + (pair.body[1].shape ? pair.shape[1].outer : 1), most = -HUGE_VAL;
    for (int i = 0; i < tests_count(1000, 4000); i++) {
      Vec3 near = vec3_add_scaled(d.nearest.normal, i % 2 ? 1e-3 : 0.2, random_direction(&random));
      most = fmax(most, apart_along(&pair, i % 4 ? vec3_normalized(near) : random_direction(&random)));
    }
    assert_true(most <= d.nearest.distance + 1e-12 * size && most > d.nearest.distance - 1e-3 * size);
    assert_true(d.low <= d.nearest.distance + 1e-12 * size && d.nearest.distance <= d.high + 1e-12 * size);
    Vec3 apart = vec3_sub(d.nearest.witness_b, d.nearest.witness_a);
    compare_vec3(apart, vec3_scale(d.nearest.normal, d.nearest.distance), 1e-9 * size, "seed 53, %d: points", k);
    const Vec3 witness[2] = {d.nearest.witness_a, d.nearest.witness_b};
    for (int i = 0; i < 2; i++) {
      if (!pair.body[i].shape) continue;
      Vec3 own = mat3_tmul_vec(pair.pose[i].r, vec3_sub(witness[i], pair.pose[i].t));
      compare_near(shape_gauge(&pair.shape[i], own).value, 1, 1e-8, "seed 53, %d: on the surface", k);
    }
    proved += d.proved || d.nearest.distance < 0;
    pair_free(&pair);
  }
  assert_int_equal(proved, PAIRS);
}

/* ---------------------------------------------------------------- derivatives */

static bool answers_there(void* context, const double* x, double* y) {
  Pair there = *(Pair*)context;
  int column = QUERY_POSE_COLUMNS;
  bool good = true;
  for (int k = 0; k < 2; k++) {
    double values[1 + 4 * TEST_FACES];
    there.pose[k] = pose_twisted(there.pose[k], there.pose[k].t, x + 6 * k);
    if (!there.body[k].shape) continue;
    test_form_get(&there.form[k], values);
    for (int i = 0; i < shape_parameter_count(there.body[k].shape); i++) values[i] += x[column++];
    test_form_set(&there.form[k], values);
    good = shape_create(&there.shape[k], &there.form[k].form) == NULL && good;
    there.body[k].shape = &there.shape[k];
  }
  if (good) {
    Distance d = convex_distance(there.body, there.pose).nearest;
    const double rows[DISTANCE_ROWS] = {d.distance,    d.normal.x,    d.normal.y,    d.normal.z,    d.witness_a.x,
                                        d.witness_a.y, d.witness_a.z, d.witness_b.x, d.witness_b.y, d.witness_b.z};
    memcpy(y, rows, sizeof rows);
  }
  for (int k = 0; k < 2; k++)
    if (there.body[k].shape) shape_free(&there.shape[k]);
  return good;
}

/* Returns false if an exponent is at an end of its range, where it cannot vary in both directions. */
static bool can_vary(const Pair* pair) {
  for (int k = 0; k < 2; k++) {
    const ShapeDefinition* form = &pair->form[k].form;
    bool has = form->kind == SMOOTH_SUPERELLIPSOID || form->kind == SMOOTH_CYLINDER;
    if (pair->body[k].shape && has && form->exponent < 1.01) return false;
    if (pair->body[k].shape && form->kind == SMOOTH_SUPERQUADRIC && fmax(form->exponents[0], form->exponents[1]) > 0.99)
      return false;
  }
  return true;
}

static void derivatives_H4(void** state) {
  (void)state;
  Random random = {54};
  int checked = 0, hulls = 0, overlap = 0;
  for (int k = 0; k < PAIRS - 20; k++) {
    Pair pair;
    double jacobian[DISTANCE_ROWS * COLUMNS_MAX], unit[COLUMNS_MAX], condition;
    pair_make(&pair, &random, k, k % 2 ? 1.2 : 0.35);
    ConvexDistance d = convex_distance(pair.body, pair.pose);
    const char* reason = convex_distance_derivatives(pair.body, pair.pose, &d, true, jacobian, &condition);
    if (!reason && condition < 1e4 && can_vary(&pair)) {
      int column = QUERY_POSE_COLUMNS;
      for (int i = 0; i < column; i++) unit[i] = 1;
      for (int i = 0; i < 2; i++) {
        if (!pair.body[i].shape) continue;
        test_form_get(&pair.form[i], unit + column);
        for (int n = shape_parameter_count(&pair.shape[i]); n > 0; n--, column++)
          unit[column] = fmax(fabs(unit[column]), 0.1);
      }
      Sweep sweep = {answers_there, &pair, column, DISTANCE_ROWS, NULL, unit, NULL, 3e-3 / sqrt(condition), 6, 4};
      sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 54, %d: distance %g, condition %g", k, d.nearest.distance,
                   condition);
      checked++;
      hulls += !pair.body[1].shape;
      overlap += d.nearest.distance < 0;
    }
    pair_free(&pair);
  }
  print_message("seed 54: %d of %d pairs checked, %d with a hull, %d overlap\n", checked, PAIRS - 20, hulls, overlap);
  assert_true(checked >= PAIRS / 2 && hulls > 3 && overlap > 10);
}

/* ---------------------------------------------------------------- deep inside one another (H6) */

/* Concentric bodies, which every direction separates by nearly the same length. The depth is the sum of the radii for
 * balls, of the shortest semi-axes for coaxial ellipsoids, and of the nearest face's distance and the radius for a ball
 * in a box. */
static void concentric_bodies_H6_in_closed_form(void** state) {
  (void)state;
  const Vec3 axes[4][2] = {{{0.7, 0.7, 0.7}, {0.4, 0.4, 0.4}},
                           {{0.7, 0.7, 0.7}, {0.4, 0.41, 0.42}},
                           {{0.9, 0.6, 0.6}, {1.1, 0.8, 0.8}},
                           {{0.9, 0.6, 0.5}, {1.1, 0.8, 0.7}}};
  for (int k = 0; k < 5; k++) {
    int row = k < 4 ? k : 0;
    Shape shape[2] = {ellipsoid(axes[row][0]), ellipsoid(axes[row][1])};
    Body box = body_box(vec3(0.8, 0.9, 1));
    ConvexBody body[2] = {{.shape = &shape[0]}, {.shape = &shape[1]}};
    if (k == 4) body[1] = (ConvexBody){.points = box.hull.points};
    Random random = {5};
    Pose pose[2] = {random_pose(&random, 1)};
    pose[1] = pose[0];
    double wanted = k == 4 ? 0.7 + 0.4 : axes[k][0].z + axes[k][1].z, size = 1;
    if (k == 1) wanted = 1.1;
    ConvexDistance d = convex_distance(body, pose);
    assert_true(d.proved);
    compare_near(d.nearest.distance, -wanted, 2e-6 * size, "case %d: depth", k);
    compare_at_most(d.low, -wanted + 1e-12, "case %d: low", k);
    compare_at_most(-wanted - 1e-12, d.high, "case %d: high", k);
    for (int side = 0; side < 2; side++) shape_free(&shape[side]);
    body_free(&box);
  }
}

/* Every depth is certified, and no sampled direction separates the bodies by less. */
static void deep_depths_H6_are_proved(void** state) {
  (void)state;
  Random random = {67};
  enum { DIRECTIONS = 400 };
  int deep = 0;
  for (int k = 0; k < 2 * SMOOTH_KINDS * (SMOOTH_KINDS + 1); k++) {
    Pair pair;
    pair_make(&pair, &random, k, 0.02 * (k % 4));
    ConvexDistance d = convex_distance(pair.body, pair.pose);
    assert_true(d.proved);
    double size = pair.shape[0].outer + (pair.body[1].shape ? pair.shape[1].outer : 1);
    for (int i = 0; i < DIRECTIONS; i++) {
      double parts = -apart_along(&pair, random_direction(&random));
      compare_at_most(-d.nearest.distance, parts + 1e-6 * size, "seed 67, %d: direction %d", k, i);
    }
    deep += d.nearest.distance < 0;
    pair_free(&pair);
  }
  assert_true(deep == 2 * SMOOTH_KINDS * (SMOOTH_KINDS + 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spheres_H2_in_closed_form),  cmocka_unit_test(sphere_and_box_in_closed_form),
      cmocka_unit_test(no_direction_parts_more_H3), cmocka_unit_test(concentric_bodies_H6_in_closed_form),
      cmocka_unit_test(deep_depths_H6_are_proved),  cmocka_unit_test(derivatives_H4),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
