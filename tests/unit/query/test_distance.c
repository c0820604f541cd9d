/* Tests distance and depth of hulls with derivatives: boxes in closed form, random hulls against finite differences. */
#include <string.h>
#include "query/query.h"
#include "support/bodies.h"
#include "support/sweep.h"

typedef struct {
  Body body[2];
  Pose pose[2];
} Hulls;

static Distance query(const Hulls* h) {
  return distance_query(h->body[0].hull.points, h->pose[0], h->body[1].hull.points, h->pose[1], NULL);
}

static void boxes_in_closed_form(void** state) {
  (void)state;
  Hulls h = {{body_box(vec3(1, 1, 1)), body_box(vec3(1, 1, 1))}, {pose_identity(), pose_identity()}};
  h.pose[1].t = vec3(0.1, 0.2, 1.5);
  Distance d = query(&h);
  compare_near(d.distance, 0.5, 1e-14, "boxes apart");
  compare_vec3(d.normal, vec3(0, 0, 1), 1e-14, "normal");
  h.pose[1].t.z = 0.9;
  d = query(&h);
  compare_near(d.distance, -0.1, 1e-12, "boxes that overlap");
  compare_vec3(d.normal, vec3(0, 0, 1), 1e-12, "normal");
  compare_vec3(vec3_sub(d.witness_a, d.witness_b), vec3(0, 0, 0.1), 1e-12, "witness points");
  double out[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  assert_non_null(distance_derivatives(h.body[0].hull.points, h.pose[0], h.body[1].hull.points, h.pose[1], &d, out));
  body_free(&h.body[0]);
  body_free(&h.body[1]);
}

static bool put_rows(Distance d, double* y) {
  const double rows[DISTANCE_ROWS] = {d.distance,    d.normal.x,    d.normal.y,    d.normal.z,    d.witness_a.x,
                                      d.witness_a.y, d.witness_a.z, d.witness_b.x, d.witness_b.y, d.witness_b.z};
  memcpy(y, rows, sizeof rows);
  return true;
}

static bool answers_there(void* context, const double* x, double* y) {
  Hulls h = *(Hulls*)context;
  for (int s = 0; s < 2; s++) h.pose[s] = pose_twisted(h.pose[s], h.pose[s].t, x + 6 * s);
  return put_rows(query(&h), y);
}

/* Hulls of a few vertices, so that features last over a step; apart and overlapping. */
static void derivatives_H1(void** state) {
  (void)state;
  Random random = {41};
  int checked[2] = {0, 0};
  for (int k = 0; k < 400 && checked[0] + checked[1] < 60; k++) {
    Hulls h = {{body_random(&random, 8, 0.5, 1), body_random(&random, 6, 0.7, 1)},
               {random_pose(&random, 1), random_pose(&random, 1)}};
    h.pose[1].t = vec3_add_scaled(h.pose[0].t, k % 2 ? 0.4 : 1.5, random_direction(&random));
    Distance d = query(&h);
    bool overlap = d.distance < 0;
    if (fabs(d.distance) < 0.02 || checked[overlap] == 30) {
      body_free(&h.body[0]);
      body_free(&h.body[1]);
      continue;
    }
    double jacobian[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
    const char* reason =
        distance_derivatives(h.body[0].hull.points, h.pose[0], h.body[1].hull.points, h.pose[1], &d, jacobian);
    assert_null(reason);
    compare_vec3(vec3_sub(d.witness_b, d.witness_a), vec3_scale(d.normal, d.distance), 1e-11, "seed 41, %d: points", k);
    Sweep sweep = {answers_there, &h, QUERY_POSE_COLUMNS, DISTANCE_ROWS, NULL, NULL, NULL, 1e-4, 4, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 41, %d: distance %g", k, d.distance);
    checked[overlap]++;
    body_free(&h.body[0]);
    body_free(&h.body[1]);
  }
  assert_true(checked[0] == 30 && checked[1] == 30);
}

/* ---------------------------------------------------------------- by vertices */

enum { VERTICES = 7 };
typedef struct {
  Vec3 corner[2][VERTICES];
  Pose pose[2];
  const Shape* ball; /* in place of a; NULL: corner[0] */
} Corners;

static ConvexDistance corners_query(const Corners* h, const double* x, VertexSlopes slopes[2]) {
  PointView view[2];
  for (int k = 0; k < 2; k++) {
    Vec3 moved[VERTICES];
    for (int i = 0; i < VERTICES; i++) {
      const double* by = x + 3 * (VERTICES * k + i);
      moved[i] = x ? vec3_add(h->corner[k][i], vec3(by[0], by[1], by[2])) : h->corner[k][i];
    }
    view[k] = point_view_create(moved, VERTICES);
  }
  const ConvexBody body[2] = {{.shape = h->ball, .points = view[0]}, {.points = view[1]}};
  ConvexDistance d = {.proved = true};
  if (h->ball) {
    d = convex_distance(body, h->pose);
    if (slopes) convex_distance_vertex_slopes(body, h->pose, &d, slopes);
  } else {
    d.nearest = distance_query(view[0], h->pose[0], view[1], h->pose[1], NULL);
    if (slopes) distance_vertex_slopes(view[0], h->pose[0], view[1], h->pose[1], &d.nearest, slopes);
  }
  for (int k = 0; k < 2; k++) point_view_free(&view[k]);
  return d;
}

static bool corners_there(void* context, const double* x, double* y) {
  return put_rows(corners_query(context, x, NULL).nearest, y);
}

/* Random hulls, and a ball and a hull: all vertices are moved, those that are not nearest must do nothing. */
static void derivatives_by_vertices_H5(void** state) {
  (void)state;
  enum { INPUTS = 6 * VERTICES };
  Random random = {91};
  int checked[2][2] = {{0}}, corners[4] = {0};
  const ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {0.7, 0.6, 0.8}};
  Shape ball;
  assert_null(shape_create(&ball, &form));
  for (int k = 0; k < 400; k++) {
    Corners h = {.ball = k % 2 ? &ball : NULL};
    for (int side = 0; side < 2; side++) {
      h.pose[side] = random_pose(&random, 1);
      for (int i = 0; i < VERTICES; i++) h.corner[side][i] = vec3_scale(random_direction(&random), side ? 0.9 : 0.7);
    }
    h.pose[1].t = vec3_add_scaled(h.pose[0].t, k / 2 % 2 ? 0.6 : 2, random_direction(&random));
    VertexSlopes slopes[2];
    Distance d = corners_query(&h, NULL, slopes).nearest;
    int overlap = d.distance < 0;
    if (fabs(d.distance) < 0.05 || checked[k % 2][overlap] == 15 || slopes[1].reason) continue;
    double jacobian[DISTANCE_ROWS * INPUTS] = {0};
    for (int side = h.ball ? 1 : 0; side < 2; side++)
      for (int i = 0; i < 3 * slopes[side].count; i++)
        for (int r = 0; r < DISTANCE_ROWS; r++)
          jacobian[r * INPUTS + 3 * (VERTICES * side + slopes[side].vertex[i / 3]) + i % 3] = slopes[side].rows[r][i];
    Sweep sweep = {corners_there, &h, INPUTS, DISTANCE_ROWS, NULL, NULL, NULL, 1e-4, 4, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 91, %d: distance %g", k, d.distance);
    checked[k % 2][overlap]++;
    corners[slopes[1].count]++;
  }
  shape_free(&ball);
  print_message("seed 91: %d %d %d %d checked, b by a corner %d, an edge %d, a face %d\n", checked[0][0], checked[0][1],
                checked[1][0], checked[1][1], corners[1], corners[2], corners[3]);
  for (int k = 0; k < 4; k++) assert_true(checked[k / 2][k % 2] == 15);
  assert_true(corners[1] > 0 && corners[2] > 0 && corners[3] > 0);
}

/* A ball over a face: the corners share its distance by their barycentric weights. */
static void vertices_in_closed_form_H5(void** state) {
  (void)state;
  const Vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.2, -1}};
  const ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {0.3, 0.3, 0.3}};
  Shape ball;
  assert_null(shape_create(&ball, &form));
  PointView view = point_view_create(corner, 4);
  const ConvexBody body[2] = {{.points = view}, {.shape = &ball}};
  Pose pose[2] = {pose_identity(), pose_identity()};
  pose[1].t = vec3(0.2, 0.5, 1);
  ConvexDistance d = convex_distance(body, pose);
  VertexSlopes slopes[2];
  assert_null(convex_distance_vertex_slopes(body, pose, &d, slopes));
  compare_near(d.nearest.distance, 0.7, 1e-9, "distance");
  assert_int_equal(slopes[0].count, 3);
  assert_int_equal(slopes[1].count, 0);
  const double weight[4] = {0.3, 0.2, 0.5, 0};
  for (int i = 0; i < 3; i++)
    for (int axis = 0; axis < 3; axis++)
      compare_near(slopes[0].rows[DISTANCE_VALUE][3 * i + axis], axis == 2 ? -weight[slopes[0].vertex[i]] : 0, 1e-9,
                   "corner %d, axis %d", slopes[0].vertex[i], axis);
  point_view_free(&view);
  shape_free(&ball);
}

/* ---- faces of many corners: best-fit planes, exact if the motion keeps the face flat */

enum { PRISM = 12, LINEAR = 12 };
typedef struct {
  Vec3 prism[2 * PRISM]; /* two faces of PRISM corners */
  int sides;
  Vec3 tip[4];
  const Shape* ball; /* in place of the tip, or NULL */
  Pose pose[2];
} Prism;

/* The prism's corners v go to v + X v + t, x = X, t: faces stay flat. */
static ConvexDistance prism_query(const Prism* h, const double* x, VertexSlopes slopes[2]) {
  Vec3 moved[2 * PRISM];
  for (int i = 0; i < 2 * h->sides; i++) {
    Vec3 v = h->prism[i];
    moved[i] = v;
    if (x)
      moved[i] = vec3_add(v, vec3(vec3_dot(vec3_at(x), v) + x[9], vec3_dot(vec3_at(x + 3), v) + x[10],
                                  vec3_dot(vec3_at(x + 6), v) + x[11]));
  }
  PointView view = point_view_create(moved, 2 * h->sides), tip = point_view_create(h->tip, 4);
  const ConvexBody body[2] = {{.points = view}, {.shape = h->ball, .points = tip}};
  ConvexDistance d = {.proved = true};
  if (h->ball) {
    d = convex_distance(body, h->pose);
    if (slopes) convex_distance_vertex_slopes(body, h->pose, &d, slopes);
  } else {
    d.nearest = distance_query(view, h->pose[0], tip, h->pose[1], NULL);
    if (slopes) distance_vertex_slopes(view, h->pose[0], tip, h->pose[1], &d.nearest, slopes);
  }
  point_view_free(&view);
  point_view_free(&tip);
  return d;
}

static bool prism_there(void* context, const double* x, double* y) {
  return put_rows(prism_query(context, x, NULL).nearest, y);
}

static void faces_of_many_corners_H5(void** state) {
  (void)state;
  Random random = {77};
  int checked[2][2] = {{0}}, fitted = 0;
  const ShapeDefinition form = {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {0.7, 0.6, 0.8}};
  Shape ball;
  assert_null(shape_create(&ball, &form));
  for (int k = 0; k < 400; k++) {
    Prism h = {.sides = k % 3 ? PRISM : 4, .ball = k % 2 ? &ball : NULL};
    for (int i = 0; i < 2 * h.sides; i++) {
      double angle = 6.283185307179586 * (i % h.sides + 0.2 * (i % 3)) / h.sides, high = i < h.sides ? -0.5 : 0.6;
      h.prism[i] = vec3(cos(angle), sin(angle), high + 0.2 * cos(angle));
    }
    for (int i = 0; i < 4; i++) h.tip[i] = vec3_scale(random_direction(&random), 0.5);
    for (int side = 0; side < 2; side++) h.pose[side] = random_pose(&random, 1);
    Vec3 way = mat3_mul_vec(h.pose[0].r, vec3(0.2, 0.1, random_uniform(&random, 0, 1) < 0.5 ? 1 : -1));
    h.pose[1].t = vec3_add_scaled(h.pose[0].t, k / 2 % 2 ? 0.8 : 2, way);
    VertexSlopes slopes[2];
    Distance d = prism_query(&h, NULL, slopes).nearest;
    int overlap = d.distance < 0;
    if (fabs(d.distance) < 0.02 || checked[k % 2][overlap] == 15 || slopes[0].reason || !slopes[0].fitted) continue;
    assert_true(slopes[0].count > 3);
    double jacobian[DISTANCE_ROWS * LINEAR] = {0};
    for (int i = 0; i < slopes[0].count; i++)
      for (int r = 0; r < DISTANCE_ROWS; r++)
        for (int axis = 0; axis < 3; axis++) {
          double by = slopes[0].rows[r][3 * i + axis], at[3];
          vec3_store(h.prism[slopes[0].vertex[i]], at);
          for (int c = 0; c < 3; c++) jacobian[r * LINEAR + 3 * axis + c] += by * at[c];
          jacobian[r * LINEAR + 9 + axis] += by;
        }
    Sweep sweep = {prism_there, &h, LINEAR, DISTANCE_ROWS, NULL, NULL, NULL, 1e-4, 4, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 77, %d: %d corners, distance %g", k, slopes[0].count, d.distance);
    checked[k % 2][overlap]++;
    fitted++;
  }
  shape_free(&ball);
  print_message("seed 77: %d %d %d %d checked\n", checked[0][0], checked[0][1], checked[1][0], checked[1][1]);
  for (int k = 0; k < 4; k++) assert_true(checked[k / 2][k % 2] > 5);
  assert_true(fitted > 30);
}

/* ---------------------------------------------------------------- flat on flat */

static const char* slope(const Hulls* h, const Distance* d, double out[QUERY_POSE_COLUMNS], bool* kinked) {
  return distance_slope(h->body[0].hull.points, h->pose[0], h->body[1].hull.points, h->pose[1], d, out, kinked);
}

/* Returns the midpoint of the intersection of two intervals. */
static double shared_middle(double a, double half_a, double b, double half_b) {
  return 0.5 * (fmax(a - half_a, b - half_b) + fmin(a + half_a, b + half_b));
}

/* Boxes with parallel faces, b above a: n = (0, 0, 1). c is the centre of the common area of both faces. The derivative
 * is -w . ((c - t_a) x n) by a rotation w of a, w . ((c - t_b) x n) by one of b, and +-n by translations. Tested apart,
 * in contact and overlapping. */
static void boxes_face_to_face_have_slopes_H7(void** state) {
  (void)state;
  Random random = {17};
  for (int k = 0; k < 120; k++) {
    double half[2][3];
    for (int i = 0; i < 6; i++) half[i / 3][i % 3] = random_uniform(&random, 0.3, 1);
    Hulls h = {{body_box(vec3(2 * half[0][0], 2 * half[0][1], 2 * half[0][2])),
                body_box(vec3(2 * half[1][0], 2 * half[1][1], 2 * half[1][2]))},
               {pose_identity(), pose_identity()}};
    double gap = k % 3 == 0   ? 0.2
                 : k % 3 == 1 ? 0
                              : -0.02,
           x = 0.4 * (half[0][0] + half[1][0]), y = 0.4 * (half[0][1] + half[1][1]);
    Vec3 b = vec3(random_uniform(&random, -x, x), random_uniform(&random, -y, y), half[0][2] + half[1][2] + gap);
    h.pose[1].t = b;
    Distance d = query(&h);
    double out[QUERY_POSE_COLUMNS];
    bool kinked = false;
    assert_null(slope(&h, &d, out, &kinked));
    if (!kinked)
      fail_msg("seed 17, %d: gap %g, distance %g, normal %g %g %g", k, gap, d.distance, d.normal.x, d.normal.y,
               d.normal.z);
    double cx = shared_middle(0, half[0][0], b.x, half[1][0]), cy = shared_middle(0, half[0][1], b.y, half[1][1]);
    const double expected[QUERY_POSE_COLUMNS] = {-cy, cx, 0, 0, 0, -1, cy - b.y, b.x - cx, 0, 0, 0, 1};
    for (int c = 0; c < QUERY_POSE_COLUMNS; c++)
      compare_near(out[c], expected[c], 1e-8, "seed 17, %d: gap %g, column %d", k, gap, c);
    body_free(&h.body[0]);
    body_free(&h.body[1]);
  }
}

static double distance_at(const Hulls* h, int column, double by) {
  double x[QUERY_POSE_COLUMNS] = {0}, y[DISTANCE_ROWS];
  x[column] = by;
  answers_there((void*)h, x, y);
  return y[DISTANCE_VALUE];
}

/* Bodies in contact face to face, edge to face or edge along edge, in a common random rotation. The derivatives are
 * compared with central differences, which are the mean of both one-sided slopes. */
static void parallel_features_have_the_slopes_of_differences_H7(void** state) {
  (void)state;
  Random random = {23};
  int kinks = 0;
  for (int k = 0; k < 60; k++) {
    Hulls h = {{body_box(vec3(1, 1.2, 0.8)), body_box(vec3(0.7, 0.5, 0.9))}, {pose_identity(), pose_identity()}};
    const double quarter = 0.78539816339744831;
    const Vec3 about_z = vec3(0, 0, random_uniform(&random, -1, 1)), about_y = vec3(0, quarter, 0);
    double high = 0.4 + 0.45, far = 0.5 * sqrt(0.7 * 0.7 + 0.9 * 0.9);
    if (k % 3 == 0) h.pose[1] = pose_twisted(h.pose[1], h.pose[1].t, (const double[6]){0, 0, about_z.z, 0, 0, 0});
    if (k % 3 > 0) { /* b stands on an edge along y */
      double lean = atan2(0.7, 0.9);
      h.pose[1] = pose_twisted(h.pose[1], h.pose[1].t, (const double[6]){0, lean, 0, 0, 0, 0});
      high = 0.4 + far;
    }
    h.pose[1].t = vec3(random_uniform(&random, -0.2, 0.2), random_uniform(&random, -0.2, 0.2), high + 0.1);
    if (k % 3 == 2) { /* beside the edge of a that is along y, at the same height and lower */
      h.pose[1] = pose_twisted(pose_identity(), vec3(0, 0, 0), (const double[6]){0, about_y.y, 0, 0, 0, 0});
      h.pose[1].t = vec3(1.3, random_uniform(&random, -0.3, 0.3), 0.9);
    }
    double all[6];
    for (int i = 0; i < 6; i++) all[i] = random_uniform(&random, -1, 1);
    for (int s = 0; s < 2; s++) h.pose[s] = pose_twisted(h.pose[s], vec3(0, 0, 0), all);
    Distance d = query(&h);
    double out[QUERY_POSE_COLUMNS];
    bool kinked = false;
    assert_null(slope(&h, &d, out, &kinked));
    kinks += kinked;
    for (int c = 0; c < QUERY_POSE_COLUMNS; c++) {
      double step = 1e-6, difference = (distance_at(&h, c, step) - distance_at(&h, c, -step)) / (2 * step);
      compare_near(out[c], difference, 2e-6, "seed 23, %d: column %d", k, c);
    }
    body_free(&h.body[0]);
    body_free(&h.body[1]);
  }
  assert_true(kinks == 60);
}

/* Touching in corners or along edges every direction of a cone is normal, and there is no slope. */
static void corners_that_touch_have_no_slope_H7(void** state) {
  (void)state;
  Hulls h = {{body_box(vec3(1, 1, 1)), body_box(vec3(1, 1, 1))}, {pose_identity(), pose_identity()}};
  h.pose[1].t = vec3(1, 1, 1);
  Distance d = query(&h);
  double out[QUERY_POSE_COLUMNS];
  bool kinked = false;
  compare_near(d.distance, 0, 1e-12, "corner to corner");
  assert_non_null(slope(&h, &d, out, &kinked));
  h.pose[1].t = vec3(1, 1, 0.2); /* edge along edge */
  d = query(&h);
  compare_near(d.distance, 0, 1e-12, "edge along edge");
  assert_non_null(slope(&h, &d, out, &kinked));
  body_free(&h.body[0]);
  body_free(&h.body[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_face_to_face_have_slopes_H7),
      cmocka_unit_test(parallel_features_have_the_slopes_of_differences_H7),
      cmocka_unit_test(corners_that_touch_have_no_slope_H7),
      cmocka_unit_test(boxes_in_closed_form),
      cmocka_unit_test(derivatives_H1),
      cmocka_unit_test(derivatives_by_vertices_H5),
      cmocka_unit_test(vertices_in_closed_form_H5),
      cmocka_unit_test(faces_of_many_corners_H5),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
