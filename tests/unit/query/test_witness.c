/* Smoothed nearest points: the mean by its definition, derivatives against differences with what is held held. */
#include <string.h>
#include "query/query.h"
#include "support/bodies.h"
#include "support/sweep.h"

typedef struct {
  ConvexHull hull[2];
  PointView points[2];
  WitnessSurface samples[2];
  Pose pose[2];
} Hulls;

static void make(Hulls* h, Random* random, double apart) {
  for (int k = 0; k < 2; k++) {
    Vec3 corner[24];
    for (int i = 0; i < 24; i++) corner[i] = vec3_scale(random_direction(random), 0.5);
    assert_int_equal(hull_create(&h->hull[k], corner, 24), HULL_OK);
    h->points[k] = point_view_create(h->hull[k].vertices, h->hull[k].vertex_count);
    h->samples[k] = surface_samples_create(&h->hull[k], WITNESS_SURFACE);
    h->pose[k] = random_pose(random, 1);
  }
  h->pose[1].t = vec3_add_scaled(h->pose[0].t, apart, random_direction(random));
}

static void drop(Hulls* h) {
  for (int k = 0; k < 2; k++) {
    hull_free(&h->hull[k]);
    point_view_free(&h->points[k]);
    surface_samples_free(&h->samples[k]);
  }
}

static Witness query(const Hulls* h, WitnessSampling sampling, const Vec3* targets) {
  return witness_query(h->points[0], &h->samples[0], h->pose[0], h->points[1], &h->samples[1], h->pose[1], sampling,
                       targets);
}

/* Every sample is on the surface: behind no face, and on one. */
static void samples_lie_on_the_surface(void** state) {
  (void)state;
  Random random = {51};
  Hulls h;
  make(&h, &random, 2);
  double area = 0, seen_x = 0;
  for (int i = 0; i < h.samples[0].count; i++) {
    double height = -HUGE_VAL;
    for (int k = 0; k < h.hull[0].triangle_count; k++) {
      Vec3 a = h.hull[0].vertices[h.hull[0].triangles[k][0]], b = h.hull[0].vertices[h.hull[0].triangles[k][1]],
           c = h.hull[0].vertices[h.hull[0].triangles[k][2]];
      Vec3 n = vec3_normalized(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
      height = fmax(height, vec3_dot(n, vec3_sub(h.samples[0].points[i], a)));
    }
    compare_near(height, 0, 1e-14, "seed 51, sample %d: height over the surface", i);
    compare_near(vec3_norm(h.samples[0].normals[i]), 1, 1e-14, "seed 51, sample %d: normal", i);
  }
  /* spread by area: the faces' mean of x against that of the second half of the samples */
  double mean_x = 0;
  int half = h.samples[0].count / 2;
  for (int k = 0; k < h.hull[0].triangle_count; k++) {
    Vec3 a = h.hull[0].vertices[h.hull[0].triangles[k][0]], b = h.hull[0].vertices[h.hull[0].triangles[k][1]],
         c = h.hull[0].vertices[h.hull[0].triangles[k][2]];
    double part = vec3_norm(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    area += part;
    mean_x += part * (a.x + b.x + c.x) / 3;
  }
  for (int i = half; i < h.samples[0].count; i++) seen_x += h.samples[0].points[i].x / (h.samples[0].count - half);
  compare_near(seen_x, mean_x / area, 5e-3, "mean of the samples");
  drop(&h);
}

/* The definition in long double. */
static void plain_smooth(const WitnessSide* side, Pose pose, Vec3 other, bool own_temperature, long double out[3]) {
  long double rho[WITNESS_SAMPLES], mean = 0, square = 0, sum = 0, x[WITNESS_SAMPLES][3];
  const long double o[3] = {other.x, other.y, other.z};
  for (int i = 0; i < WITNESS_SAMPLES; i++) {
    Vec3 w = pose_apply(pose, side->samples[i]);
    const double p[3] = {w.x, w.y, w.z};
    long double r = 0;
    for (int k = 0; k < 3; k++) {
      x[i][k] = p[k];
      r += (p[k] - o[k]) * (p[k] - o[k]);
    }
    rho[i] = sqrtl(r);
    mean += rho[i] / WITNESS_SAMPLES;
  }
  for (int i = 0; i < WITNESS_SAMPLES; i++) square += (rho[i] - mean) * (rho[i] - mean);
  long double t = own_temperature ? sqrtl(sqrtl(square / (WITNESS_SAMPLES - 1))) : (long double)side->temperature;
  for (int i = 0; i < WITNESS_SAMPLES; i++) sum += expl(-rho[i] / t);
  for (int k = 0; k < 3; k++) {
    out[k] = 0;
    for (int i = 0; i < WITNESS_SAMPLES; i++) out[k] += expl(-rho[i] / t) / sum * x[i][k];
  }
}

static void smooth_points_V1_are_the_mean(void** state) {
  (void)state;
  Random random = {52};
  for (int k = 0; k < 40; k++) {
    Hulls h;
    make(&h, &random, k % 2 ? 1.5 : 0.5);
    Witness w = query(&h, WITNESS_FIXED, NULL);
    long double wanted[3];
    plain_smooth(&w.side[0], h.pose[0], w.nearest.witness_b, true, wanted);
    compare_vec3(w.side[0].smooth, vec3((double)wanted[0], (double)wanted[1], (double)wanted[2]), 1e-13,
                 "seed 52, %d: smooth a", k);
    compare_vec3(pose_apply(h.pose[0], w.side[0].samples[0]), w.nearest.witness_a, 1e-14, "seed 52, %d: sample 0", k);
    drop(&h);
  }
}

typedef struct {
  const Hulls* h;
  const Witness* w;
  int side;
} Held;

/* Six of the own body's motion, three of the other's point; samples and T held. */
static bool smooth_there(void* context, const double* x, double* y) {
  const Held* held = context;
  Pose pose = held->h->pose[held->side];
  Vec3 other = held->side ? held->w->nearest.witness_a : held->w->nearest.witness_b;
  pose.r = mat3_mul(mat3_from_quat(quat_exp(vec3(x[0], x[1], x[2]))), pose.r);
  pose.t = vec3_add(pose.t, vec3(x[3], x[4], x[5]));
  long double out[3];
  plain_smooth(&held->w->side[held->side], pose, vec3_add(other, vec3(x[6], x[7], x[8])), false, out);
  for (int k = 0; k < 3; k++) y[k] = (double)out[k];
  return true;
}

static void derivatives_V2(void** state) {
  (void)state;
  Random random = {53};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    make(&h, &random, k % 2 ? 1.5 : 0.5);
    const Vec3 targets[2] = {h.hull[0].vertices[0], h.hull[1].vertices[0]};
    Witness w = query(&h, k % 4 < 2 ? WITNESS_FIXED : WITNESS_ADAPTIVE, targets);
    for (int side = 0; side < 2; side++) {
      Held held = {&h, &w, side};
      double jacobian[27];
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 9; c++)
          jacobian[9 * r + c] = c < 6 ? w.side[side].by_own[r][c] : w.side[side].by_other[r][c - 6];
      Sweep sweep = {smooth_there, &held, 9, 3, NULL, NULL, NULL, 1e-3, 4, 7};
      sweep_expect(&sweep, jacobian, 1, 1e-7, "seed 53, %d: side %d", k, side);
    }
    drop(&h);
  }
}

/* The coupled pair solved by repeated substitution of small motions. */
static void coupling_V3_is_the_fixed_point(void** state) {
  (void)state;
  Random random = {54};
  for (int k = 0; k < 20; k++) {
    Hulls h;
    make(&h, &random, 1.5);
    Witness w = query(&h, WITNESS_FIXED, NULL);
    assert_true(w.total_known);
    for (int moved = 0; moved < 2; moved++)
      for (int c = 0; c < 6; c++) {
        double s[2][3] = {{0}};
        for (int round = 0; round < 400; round++)
          for (int side = 0; side < 2; side++) {
            double next[3];
            for (int r = 0; r < 3; r++) {
              next[r] = side == moved ? w.side[side].by_own[r][c] : 0;
              for (int l = 0; l < 3; l++) next[r] += w.side[side].by_other[r][l] * s[1 - side][l];
            }
            memcpy(s[side], next, sizeof next);
          }
        for (int side = 0; side < 2; side++)
          for (int r = 0; r < 3; r++)
            compare_near(w.total[side][moved][r][c], s[side][r], 1e-10, "seed 54, %d: smooth %d by %d", k, side, moved);
      }
    drop(&h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_lie_on_the_surface),
      cmocka_unit_test(smooth_points_V1_are_the_mean),
      cmocka_unit_test(derivatives_V2),
      cmocka_unit_test(coupling_V3_is_the_fixed_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
