/* Jacobians of nearest points from features, finite differences and random motions. These Jacobians serve as references
 * for the smoothed Jacobians. */
#include <string.h>
#include "query/witness.h"

/* Number of random motions from which WITNESS_ZEROTH estimates the Jacobians. The opposite of each motion is evaluated
 * too. */
enum { MOTIONS = 16 };
/* Default rotation of the motions: 1 degree [rad]. WITNESS_MOVE gives the translation, 1 mm. */
#define PERTURBATION 0.017453292519943295

Pose witness_move_pose(Pose pose, Vec3 turn, Vec3 move) {
  return (Pose){mat3_mul(mat3_from_quat(quat_exp(turn)), pose.r), vec3_add(pose.t, move)};
}

typedef struct {
  const WitnessBody *a, *b;
  Pose pose_a, pose_b;
  WitnessCache cache;
} EstimatePair;

/* Computes half the change of the nearest points between a motion of b and the opposite motion. Sets out[0..2] for the
 * point of a and out[3..5] for the point of b [m]. */
static void compute_half_difference(EstimatePair* pair, Vec3 turn, Vec3 move, double out[6]) {
  int piece[2];
  Distance forth =
      witness_nearest(pair->a, pair->pose_a, pair->b, witness_move_pose(pair->pose_b, turn, move), &pair->cache, piece);
  Distance back =
      witness_nearest(pair->a, pair->pose_a, pair->b,
                      witness_move_pose(pair->pose_b, vec3_scale(turn, -1), vec3_scale(move, -1)), &pair->cache, piece);
  Vec3 a = vec3_scale(vec3_sub(forth.witness_a, back.witness_a), 0.5);
  Vec3 b = vec3_scale(vec3_sub(forth.witness_b, back.witness_b), 0.5);
  const double six[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
  memcpy(out, six, sizeof six);
}

/* Sets by_b to the central differences (x(h) - x(-h)) / (2 h) of the nearest points x with respect to the motion of
 * body b (witness.md, V6). h is size[k] along coordinate k of the motion. */
static void central_differences(EstimatePair* pair, const double size[6], double by_b[6][6]) {
  for (int k = 0; k < 6; k++) {
    double xi[6] = {0}, change[6];
    xi[k] = size[k];
    compute_half_difference(pair, vec3(xi[0], xi[1], xi[2]), vec3(xi[3], xi[4], xi[5]), change);
    for (int r = 0; r < 6; r++) by_b[r][k] = change[r] / size[k];
  }
}

/* Sets by_b to a zeroth-order estimate of the derivatives of the nearest points x (V7). Entry k is the mean of (x(xi) -
 * x(-xi)) / 2 * xi_k / h_k^2 over random motions xi, normally distributed with standard deviations h = size. */
static void zeroth_order_estimate(EstimatePair* pair, const double size[6], int turn, double by_b[6][6]) {
  Random random = {(uint64_t)turn + 1};
  for (int i = 0; i < MOTIONS; i++) {
    double xi[6], change[6];
    for (int k = 0; k < 6; k++) xi[k] = size[k] * random_normal(&random);
    compute_half_difference(pair, vec3(xi[0], xi[1], xi[2]), vec3(xi[3], xi[4], xi[5]), change);
    for (int r = 0; r < 6; r++)
      for (int k = 0; k < 6; k++) by_b[r][k] += change[r] * xi[k] / (size[k] * size[k] * MOTIONS);
  }
}

/* Computes the Jacobians for motions of both bodies from the derivatives of the nearest points with respect to motions
 * of body b. A motion of a equals a motion of both bodies minus a motion of b. Let both bodies rotate by w about c_a
 * and translate by v; c_a and c_b are the positions of the bodies. Body b then rotates by w about c_b and translates by
 * v + w x (c_b - c_a). A point x moves by v + w x (x - c_a). */
static void complete_jacobians(const EstimatePair* pair, const double by_b[6][6], Witness* answer) {
  for (int k = 0; k < 2; k++) {
    Vec3 point = k ? answer->nearest.witness_b : answer->nearest.witness_a;
    for (int c = 0; c < 6; c++) {
      Vec3 e = vec3_axis(c), zero = vec3(0, 0, 0);
      Vec3 turn = c < 3 ? e : zero, move = c < 3 ? zero : e;
      Vec3 along = vec3_add(move, vec3_cross(turn, vec3_sub(point, pair->pose_a.t)));
      Vec3 shift = vec3_add(move, vec3_cross(turn, vec3_sub(pair->pose_b.t, pair->pose_a.t)));
      const double xi[6] = {turn.x, turn.y, turn.z, shift.x, shift.y, shift.z},
                   along_xi[3] = {along.x, along.y, along.z};
      for (int r = 0; r < 3; r++) {
        answer->total[k][1][r][c] = by_b[3 * k + r][c];
        answer->total[k][0][r][c] = along_xi[r];
        for (int l = 0; l < 6; l++) answer->total[k][0][r][c] -= by_b[3 * k + r][l] * xi[l];
      }
    }
  }
}

/* Sets the Jacobians of the nearest points from the nearest vertex, edge or face of each body. If the nearest points
 * have no derivatives, the point of a is fixed to a and the point of b to b. */
static void set_analytic_jacobians(const EstimatePair* pair, Witness* answer) {
  double rows[DISTANCE_ROWS * QUERY_POSE_COLUMNS], by_b[6][6] = {{0}};
  PointView a = pair->a->pieces[answer->piece[0]].points, b = pair->b->pieces[answer->piece[1]].points;
  bool known = distance_derivatives(a, pair->pose_a, b, pair->pose_b, &answer->nearest, rows) == NULL;
  for (int r = 0; known && r < 6; r++)
    for (int c = 0; c < 6; c++) by_b[r][c] = rows[(DISTANCE_WITNESS_A + r) * QUERY_POSE_COLUMNS + 6 + c];
  Vec3 arm = vec3_sub(answer->nearest.witness_b, pair->pose_b.t);
  Mat3 turn = mat3_scale(mat3_cross(arm), -1);
  for (int r = 0; !known && r < 3; r++)
    for (int c = 0; c < 3; c++) {
      by_b[3 + r][c] = turn.m[r][c];
      by_b[3 + r][3 + c] = r == c;
    }
  complete_jacobians(pair, by_b, answer);
}

void witness_compute_jacobians(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                               const WitnessOptions* options, Witness* answer) {
  EstimatePair pair = {a, b, pose_a, pose_b, {.piece = {answer->piece[0], answer->piece[1]}}};
  double h = options->perturbation > 0 ? options->perturbation : PERTURBATION, by_b[6][6] = {{0}};
  const double size[6] = {h, h, h, h * WITNESS_MOVE, h * WITNESS_MOVE, h * WITNESS_MOVE};
  answer->total_known = true;
  if (options->estimate == WITNESS_ANALYTIC) {
    set_analytic_jacobians(&pair, answer);
    return;
  }
  if (options->estimate == WITNESS_DIFFERENCES)
    central_differences(&pair, size, by_b);
  else
    zeroth_order_estimate(&pair, size, options->turn, by_b);
  complete_jacobians(&pair, by_b, answer);
}
