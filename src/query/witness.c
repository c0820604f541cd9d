/* Smoothed nearest points of hulls (V1-V3). docs/derivations/witness.md */
#include <string.h>
#include "query/query.h"
#include "query/small_solve.h"

/* Samples whose normal differs more from that at the nearest point do not count: cos of 120 degrees. */
#define NORMAL_COSINE (-0.5)
/* Samples are taken at least within this distance [m]. */
#define REACH_LEAST 0.01
/* Turns of the sequences that spread samples over a triangle: powers of the plastic number's inverse. */
#define TURN_FIRST 0.7548776662466927
#define TURN_SECOND 0.5698402909980532

/* ---------------------------------------------------------------- samples of the surface */

static Vec3 area_vector(const ConvexHull* hull, int i) {
  Vec3 a = hull->vertices[hull->triangles[i][0]];
  return vec3_cross(vec3_sub(hull->vertices[hull->triangles[i][1]], a),
                    vec3_sub(hull->vertices[hull->triangles[i][2]], a));
}

static void sample_corners(const ConvexHull* hull, WitnessSurface* out, int count) {
  Vec3* normal = MEMORY_NEW(Vec3, hull->vertex_count);
  for (int i = 0; i < hull->triangle_count; i++)
    for (int k = 0; k < 3; k++) {
      Vec3* n = &normal[hull->triangles[i][k]];
      *n = vec3_add(*n, vec3_normalized(area_vector(hull, i)));
    }
  for (int i = 0; i < count; i++) {
    int corner = (int)((int64_t)i * hull->vertex_count / count);
    out->points[out->count] = hull->vertices[corner];
    out->normals[out->count++] = vec3_normalized(normal[corner]);
  }
  memory_free(normal);
}

/* Evenly by area; within a triangle by two sequences of irrational turns. */
static void sample_faces(const ConvexHull* hull, WitnessSurface* out, int count, double total) {
  double passed = 0, u = 0.5, v = 0.5;
  int face = 0;
  for (int i = 0; i < count; i++) {
    double wanted = (i + 0.5) / count * total;
    while (face + 1 < hull->triangle_count && passed + vec3_norm(area_vector(hull, face)) < wanted)
      passed += vec3_norm(area_vector(hull, face++));
    u = fmod(u + TURN_FIRST, 1);
    v = fmod(v + TURN_SECOND, 1);
    double s = u + v > 1 ? 1 - u : u, t = u + v > 1 ? 1 - v : v;
    Vec3 a = hull->vertices[hull->triangles[face][0]], b = hull->vertices[hull->triangles[face][1]],
         c = hull->vertices[hull->triangles[face][2]];
    out->points[out->count] = vec3_add_scaled(vec3_add_scaled(a, s, vec3_sub(b, a)), t, vec3_sub(c, a));
    out->normals[out->count++] = vec3_normalized(area_vector(hull, face));
  }
}

WitnessSurface surface_samples_create(const ConvexHull* hull, int count) {
  WitnessSurface out = {.points = MEMORY_NEW(Vec3, count), .normals = MEMORY_NEW(Vec3, count)};
  double twice_area = 0;
  Vec3 low = hull->vertices[0], high = low;
  for (int i = 0; i < hull->triangle_count; i++) twice_area += vec3_norm(area_vector(hull, i));
  for (int i = 0; i < hull->vertex_count; i++) {
    low = vec3_min(low, hull->vertices[i]);
    high = vec3_max(high, hull->vertices[i]);
  }
  sample_corners(hull, &out, count / 2);
  sample_faces(hull, &out, count - count / 2, twice_area);
  out.diagonal = vec3_norm(vec3_sub(high, low));
  out.spacing = 2 * sqrt(WITNESS_SAMPLES * 0.5 * twice_area / (3.14159265358979323846 * count));
  return out;
}

void surface_samples_free(WitnessSurface* samples) {
  memory_free(samples->points);
  memory_free(samples->normals);
  *samples = (WitnessSurface){0};
}

/* ---------------------------------------------------------------- which count */

static bool counts(const WitnessSurface* all, int i, Vec3 center, Vec3 normal, double reach) {
  return vec3_norm(vec3_sub(all->points[i], center)) < reach && vec3_dot(all->normals[i], normal) > NORMAL_COSINE;
}

/* The nearest point itself and others spread evenly over those within reach; a reach that holds too few grows. */
static void choose_samples(const WitnessSurface* all, Vec3 center, Vec3 normal, double reach, Vec3* out) {
  int found = 0;
  for (int grown = 0; grown < 40; grown++, reach *= 1.5) {
    found = 0;
    for (int i = 0; i < all->count; i++) found += counts(all, i, center, normal, reach);
    if (found >= WITNESS_SAMPLES / 4) break;
  }
  out[0] = center;
  int seen = 0, taken = 1;
  for (int i = 0; i < all->count && taken < WITNESS_SAMPLES; i++) {
    if (!counts(all, i, center, normal, reach)) continue;
    /* sample number `seen` of `found` is the next of the others when its share of them is due */
    while (taken < WITNESS_SAMPLES && (int64_t)seen * (WITNESS_SAMPLES - 1) >= (int64_t)(taken - 1) * found)
      out[taken++] = all->points[i];
    seen++;
  }
  for (; taken < WITNESS_SAMPLES; taken++) out[taken] = center;
}

static double reach_of(const WitnessSurface* all, Vec3 center, WitnessSampling sampling, const Vec3* target) {
  double least = fmax(all->spacing, REACH_LEAST);
  if (sampling == WITNESS_ADAPTIVE && target) return fmax(2 * vec3_norm(vec3_sub(center, *target)), least);
  return fmax(all->diagonal, least);
}

/* ---------------------------------------------------------------- one side */

/* k = softmax(-rho / T), T = sqrt of the standard deviation of rho; T is 1 where all are equally far. */
static double weigh(const Vec3* x, Vec3 other, double* weight) {
  double mean = 0, square = 0, least = HUGE_VAL, sum = 0, rho[WITNESS_SAMPLES];
  for (int i = 0; i < WITNESS_SAMPLES; i++) {
    rho[i] = vec3_norm(vec3_sub(x[i], other));
    mean += rho[i] / WITNESS_SAMPLES;
    least = fmin(least, rho[i]);
  }
  for (int i = 0; i < WITNESS_SAMPLES; i++) square += (rho[i] - mean) * (rho[i] - mean);
  double temperature = sqrt(sqrt(square / (WITNESS_SAMPLES - 1)));
  if (!(temperature > 0)) temperature = 1;
  for (int i = 0; i < WITNESS_SAMPLES; i++)
    sum += weight[i] = math_pow(2, (least - rho[i]) / temperature * 0x1.71547652b82fep+0);
  for (int i = 0; i < WITNESS_SAMPLES; i++) weight[i] /= sum;
  return temperature;
}

/* d smooth = sum (k_i + M_i) dx_i - (sum M_i) d(other), M_i = -k_i/T (x_i - smooth) e_i^T, e_i = (x_i - other) / rho_i;
 * dx_i = turn x (x_i - centre) + move (V2). */
static void side_derivatives(WitnessSide* side, const Vec3* x, const double* weight, Vec3 other, Vec3 center) {
  Mat3 by_other = mat3_zero();
  memset(side->by_own, 0, sizeof side->by_own);
  for (int i = 0; i < WITNESS_SAMPLES; i++) {
    Vec3 apart = vec3_sub(x[i], other);
    double rho = vec3_norm(apart);
    Vec3 e = rho > 0 ? vec3_scale(apart, 1 / rho) : vec3(0, 0, 0);
    Mat3 m = mat3_scale(mat3_outer(vec3_sub(x[i], side->smooth), e), -weight[i] / side->temperature);
    by_other = mat3_sub(by_other, m);
    for (int k = 0; k < 3; k++) m.m[k][k] += weight[i];
    Mat3 turn = mat3_mul(m, mat3_scale(mat3_cross(vec3_sub(x[i], center)), -1));
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        side->by_own[r][c] += turn.m[r][c];
        side->by_own[r][3 + c] += m.m[r][c];
      }
  }
  memcpy(side->by_other, by_other.m, sizeof side->by_other);
}

static void solve_side(WitnessSide* side, const WitnessSurface* all, Pose pose, Vec3 own, Vec3 other, Vec3 normal,
                       WitnessSampling sampling, const Vec3* target) {
  Vec3 center = pose_apply_inverse(pose, own), x[WITNESS_SAMPLES];
  double weight[WITNESS_SAMPLES];
  choose_samples(all, center, mat3_tmul_vec(pose.r, normal), reach_of(all, center, sampling, target), side->samples);
  for (int i = 0; i < WITNESS_SAMPLES; i++) x[i] = pose_apply(pose, side->samples[i]);
  side->temperature = weigh(x, other, weight);
  side->smooth = vec3(0, 0, 0);
  for (int i = 0; i < WITNESS_SAMPLES; i++) side->smooth = vec3_add_scaled(side->smooth, weight[i], x[i]);
  side_derivatives(side, x, weight, other, pose.t);
}

/* ---------------------------------------------------------------- both */

/* With d(other's point) = d(other's smooth): s_a' = A + K_a s_b', s_b' = K_b s_a' for a's motion, so
 * s_a' = (I - K_a K_b)^-1 A (V3). */
static bool couple(const WitnessSide* own, const WitnessSide* other, double by_own[3][6], double by_other[3][6]) {
  double m[3][3];
  int row[3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      m[i][k] = i == k;
      for (int l = 0; l < 3; l++) m[i][k] -= own->by_other[i][l] * other->by_other[l][k];
    }
  if (!lu_factor(3, 3, &m[0][0], row)) return false;
  for (int c = 0; c < 6; c++) {
    double x[3] = {own->by_own[0][c], own->by_own[1][c], own->by_own[2][c]};
    lu_solve(3, 3, &m[0][0], row, x);
    for (int r = 0; r < 3; r++) {
      by_own[r][c] = x[r];
      by_other[r][c] = 0;
      for (int l = 0; l < 3; l++) by_other[r][c] += other->by_other[r][l] * x[l];
    }
  }
  return true;
}

Witness witness_query(PointView a, const WitnessSurface* samples_a, Pose pose_a, PointView b,
                      const WitnessSurface* samples_b, Pose pose_b, WitnessSampling sampling, const Vec3* targets) {
  Witness w;
  memset(&w, 0, sizeof w);
  w.nearest = distance_query(a, pose_a, b, pose_b, NULL);
  Vec3 wa = w.nearest.witness_a, wb = w.nearest.witness_b, n = w.nearest.normal;
  solve_side(&w.side[0], samples_a, pose_a, wa, wb, n, sampling, targets);
  solve_side(&w.side[1], samples_b, pose_b, wb, wa, vec3_scale(n, -1), sampling, targets ? targets + 1 : NULL);
  w.total_known = couple(&w.side[0], &w.side[1], w.total[0][0], w.total[1][0]) &&
                  couple(&w.side[1], &w.side[0], w.total[1][1], w.total[0][1]);
  return w;
}
