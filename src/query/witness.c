/* Smoothed nearest points of bodies made of convex pieces (V1-V3). docs/derivations/witness.md */
#include "query/witness.h"
#include <assert.h>
#include <string.h>
#include "query/features.h"
#include "query/small_solve.h"

static Distance pair_distance(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b, const int piece[2],
                              GjkCache* cache) {
  return distance_query(a->pieces[piece[0]].points, pose_a, b->pieces[piece[1]].points, pose_b, cache);
}

Distance witness_nearest(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b, WitnessCache* cache,
                         int piece[2]) {
  WitnessCache no_cache = {.piece = {0, 0}};
  WitnessCache* at = cache ? cache : &no_cache;
  bool fits = at->piece[0] < a->piece_count && at->piece[1] < b->piece_count;
  if (!fits) *at = no_cache;
  const int first[2] = {at->piece[0], at->piece[1]};
  Distance best = pair_distance(a, pose_a, b, pose_b, first, &at->gjk);
  for (int i = 0; i < a->piece_count; i++) {
    Vec3 center = pose_apply(pose_a, a->pieces[i].center);
    for (int k = 0; k < b->piece_count; k++) {
      Vec3 other = pose_apply(pose_b, b->pieces[k].center);
      double apart = vec3_norm(vec3_sub(other, center)) - a->pieces[i].radius - b->pieces[k].radius;
      if (apart >= best.distance || (i == first[0] && k == first[1])) continue;
      const int now[2] = {i, k};
      GjkCache gjk = {.count = 0};
      Distance d = pair_distance(a, pose_a, b, pose_b, now, &gjk);
      if (!(d.distance < best.distance)) continue;
      best = d;
      *at = (WitnessCache){{i, k}, gjk};
    }
  }
  memcpy(piece, at->piece, sizeof at->piece);
  return best;
}

/* Quantity on which the scores of the samples depend: the other body's nearest point, or the direction to it. */
typedef struct {
  WitnessScore score;
  Vec3 other, direction; /* world */
} WitnessReference;

/* Computes the weights softmax(u / T) of the samples x (count), u being their scores (V1). T is `requested` if
 * positive, otherwise the standard deviation of u, or 1 if all scores are equal. Sets weight, and below to the scores
 * minus the largest score [m^2]. Returns T [m^2]. */
static double compute_softmax_weights(const Vec3* x, int count, const WitnessReference* reference, double requested,
                                      double* below, double* weight) {
  assert(count > 0 && count <= WITNESS_SAMPLES);
  double mean = 0, square = 0, most = -HUGE_VAL, sum = 0, u[WITNESS_SAMPLES];
  for (int i = 0; i < count; i++) {
    Vec3 apart = vec3_sub(x[i], reference->other);
    u[i] = reference->score == WITNESS_BY_DISTANCE ? -vec3_dot(apart, apart) : vec3_dot(apart, reference->direction);
    mean += u[i] / count;
    most = fmax(most, u[i]);
  }
  for (int i = 0; i < count; i++) square += (u[i] - mean) * (u[i] - mean);
  double temperature = requested > 0 ? requested : sqrt(square / (count > 1 ? count - 1 : 1));
  if (!(temperature > 0)) temperature = 1;
  for (int i = 0; i < count; i++) below[i] = u[i] - most;
  for (int i = 0; i < count; i++) sum += weight[i] = math_pow(2, below[i] / temperature * 0x1.71547652b82fep+0);
  for (int i = 0; i < count; i++) weight[i] /= sum;
  return temperature;
}

/* Computes the derivatives of the smoothed point s (V2): ds = sum (k_i I + M_i) dx_i + K dr, with M_i = k_i/T (x_i - s)
 * g_i^T.
 * x_i: samples; k_i: weights; r: reference. WITNESS_BY_DISTANCE: r = other, g_i = -2 (x_i - r), K = -sum M_i.
 * WITNESS_BY_DIRECTION: r = g_i = y, K = sum k_i/T (x_i - s) x_i^T. A motion of the body moves a sample by dx_i =
 * rotation x (x_i - center) + translation. */
static void side_derivatives(WitnessSide* side, const Vec3* x, const double* weight, const WitnessReference* reference,
                             Vec3 center) {
  bool by_distance = reference->score == WITNESS_BY_DISTANCE;
  Mat3 by_other = mat3_zero();
  memset(side->by_own, 0, sizeof side->by_own);
  for (int i = 0; i < side->count; i++) {
    Vec3 g = by_distance ? vec3_scale(vec3_sub(x[i], reference->other), -2) : reference->direction;
    Vec3 beside = vec3_scale(vec3_sub(x[i], side->smooth), weight[i] / side->temperature);
    Mat3 m = mat3_outer(beside, g);
    by_other =
        by_distance ? mat3_sub(by_other, m) : mat3_add(by_other, mat3_outer(beside, vec3_sub(x[i], side->smooth)));
    for (int k = 0; k < 3; k++) m.m[k][k] += weight[i];
    side->by_sample[i] = m;
    Mat3 turn = mat3_mul(m, mat3_scale(mat3_cross(vec3_sub(x[i], center)), -1));
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        side->by_own[r][c] += turn.m[r][c];
        side->by_own[r][3 + c] += m.m[r][c];
      }
  }
  memcpy(side->by_other, by_other.m, sizeof side->by_other);
}

/* Returns the derivative of the smoothed point s with respect to T: -sum k_i u_i (x_i - s) / T^2 [1/m] (V2). k_i:
 * weights; u_i: scores (`below`), which may be relative to the largest score, because sum k_i (x_i - s) = 0. */
static Vec3 temperature_derivative(const WitnessSide* side, const Vec3* x, const double* below, const double* weight) {
  Vec3 sum = vec3(0, 0, 0);
  double t = side->temperature;
  for (int i = 0; i < side->count; i++)
    sum = vec3_add_scaled(sum, -weight[i] * (below[i] / t) / t, vec3_sub(x[i], side->smooth));
  return sum;
}

static void compute_side(WitnessSide* side, const WitnessBody* body, int piece, Pose pose, Vec3 nearest, Vec3 normal,
                         const WitnessReference* reference, const WitnessOptions* options, const Vec3* target) {
  Vec3 center = pose_apply_inverse(pose, nearest), x[WITNESS_SAMPLES];
  double weight[WITNESS_SAMPLES] = {0}, below[WITNESS_SAMPLES] = {0};
  witness_choose_samples(body, piece, center, mat3_tmul_vec(pose.r, normal), options, target, side);
  for (int i = 0; i < side->count; i++) x[i] = pose_apply(pose, side->samples[i]);
  side->temperature = compute_softmax_weights(x, side->count, reference, options->temperature, below, weight);
  side->smooth = vec3(0, 0, 0);
  for (int i = 0; i < side->count; i++) side->smooth = vec3_add_scaled(side->smooth, weight[i], x[i]);
  side_derivatives(side, x, weight, reference, pose.t);
  side->by_temperature = temperature_derivative(side, x, below, weight);
}

static Mat3 mat3_of(const double m[3][3]) {
  Mat3 out;
  memcpy(out.m, m, sizeof out.m);
  return out;
}

/* Sets out (3 x 6) to the matrix product m * in. */
static void multiply(Mat3 m, const double in[3][6], double out[3][6]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 6; c++) {
      out[r][c] = 0;
      for (int l = 0; l < 3; l++) out[r][c] += m.m[r][l] * in[l][c];
    }
}

/* Sets the Jacobians of both smoothed points with respect to both motions, for WITNESS_BY_DISTANCE (V3). The motion of
 * a body moves the body's own smoothed point directly, and the other body's smoothed point through by_other. */
static void set_jacobians_by_distance(Witness* w) {
  for (int k = 0; k < 2; k++) {
    memcpy(w->total[k][k], w->side[k].by_own, sizeof w->total[k][k]);
    multiply(mat3_of(w->side[1 - k].by_other), w->side[k].by_own, w->total[1 - k][k]);
  }
  w->total_known = true;
}

/* Sets the Jacobians of both smoothed points with respect to both motions, for WITNESS_BY_DIRECTION (V3). y is the
 * direction on which the scores depend. Let a and b be the smoothed points, K_a and K_b their derivatives by_other, and
 * A and B the changes of a and b at constant y. For separated bodies y = b - a and dy = (I + K_a + K_b)^-1 (B - A). For
 * overlapping bodies y = a - b, and K_a and K_b change their signs. */
static void set_jacobians_by_direction(Witness* w) {
  double m[3][3], sign = w->nearest.distance > 0 ? 1 : -1;
  int row[3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) m[i][k] = (i == k) + sign * (w->side[0].by_other[i][k] + w->side[1].by_other[i][k]);
  w->total_known = lu_factor(3, 3, &m[0][0], row);
  for (int moved = 0; w->total_known && moved < 2; moved++)
    for (int c = 0; c < 6; c++) {
      double y[3];
      for (int r = 0; r < 3; r++) y[r] = (moved ? 1 : -1) * w->side[moved].by_own[r][c];
      lu_solve(3, 3, &m[0][0], row, y);
      for (int k = 0; k < 2; k++)
        for (int r = 0; r < 3; r++) {
          double follows = k == moved ? w->side[k].by_own[r][c] : 0;
          for (int l = 0; l < 3; l++) follows += (k ? -sign : sign) * w->side[k].by_other[r][l] * y[l];
          w->total[k][moved][r][c] = follows;
        }
    }
}

Witness witness_query(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                      const WitnessOptions* options, const Vec3* targets, WitnessCache* cache) {
  Witness w;
  memset(&w, 0, sizeof w);
  w.nearest = witness_nearest(a, pose_a, b, pose_b, cache, w.piece);
  Vec3 wa = w.nearest.witness_a, wb = w.nearest.witness_b, n = w.nearest.normal;
  Vec3 y = vec3_scale(vec3_sub(wb, wa), w.nearest.distance > 0 ? 1 : -1);
  const WitnessReference to_b = {options->score, wb, y}, to_a = {options->score, wa, vec3_scale(y, -1)};
  compute_side(&w.side[0], a, w.piece[0], pose_a, wa, n, &to_b, options, targets);
  compute_side(&w.side[1], b, w.piece[1], pose_b, wb, vec3_scale(n, -1), &to_a, options, targets ? targets + 1 : NULL);
  if (options->estimate != WITNESS_SMOOTHED)
    witness_compute_jacobians(a, pose_a, b, pose_b, options, &w);
  else if (options->score == WITNESS_BY_DISTANCE)
    set_jacobians_by_distance(&w);
  else
    set_jacobians_by_direction(&w);
  return w;
}

/* Sets out to the barycentric coordinates of a point in a triangle. */
static void triangle_weights(const ConvexHull* hull, const int* corner, Vec3 point, double out[3]) {
  Vec3 a = hull->vertices[corner[0]], u = vec3_sub(hull->vertices[corner[1]], a),
       v = vec3_sub(hull->vertices[corner[2]], a), arm = vec3_sub(point, a);
  double uu = vec3_dot(u, u), uv = vec3_dot(u, v), vv = vec3_dot(v, v), pu = vec3_dot(u, arm), pv = vec3_dot(v, arm);
  double over = 1 / (uu * vv - uv * uv);
  out[1] = (pu * vv - pv * uv) * over;
  out[2] = (pv * uu - pu * uv) * over;
  out[0] = 1 - out[1] - out[2];
}

static int append_vertex_derivative(WitnessCornerSlope* out, int count, int piece, int vertex, Mat3 slope,
                                    double weight) {
  out[count] = (WitnessCornerSlope){piece, vertex, mat3_scale(slope, weight)};
  return count + 1;
}

int witness_corner_slopes(const WitnessBody* body, Pose pose, const Witness* answer, int side,
                          WitnessCornerSlope* out) {
  assert(side == 0 || side == 1);
  const WitnessSide* side_answer = &answer->side[side];
  int piece = answer->piece[side], count = 0;
  PointView view = body->pieces[piece].points;
  Vec3 normal = vec3_scale(answer->nearest.normal, side ? -1 : 1);
  Feature feature = feature_find(view, pose, normal, FEATURE_TOLERANCE * point_view_size(view));
  FeatureWeights w;
  if (!feature_weights(&feature, view, pose.r, side_answer->samples[0], &w)) return -1;
  Mat3 slope = mat3_mul(side_answer->by_sample[0], pose.r);
  for (int i = 0; i < feature.corners; i++)
    count = append_vertex_derivative(out, count, piece, feature.corner[i], slope, w.weight[i]);
  for (int i = 1; i < side_answer->count; i++) {
    const int* origin = side_answer->origins[i];
    const ConvexHull* hull = &body->pieces[origin[0]].hull;
    slope = mat3_mul(side_answer->by_sample[i], pose.r);
    if (origin[1] >= 0) {
      count = append_vertex_derivative(out, count, origin[0], origin[1], slope, 1);
      continue;
    }
    const int* corner = hull->triangles[-1 - origin[1]];
    double weight[3];
    triangle_weights(hull, corner, side_answer->samples[i], weight);
    for (int k = 0; k < 3; k++) count = append_vertex_derivative(out, count, origin[0], corner[k], slope, weight[k]);
  }
  return count;
}
