/* Gradient descent that moves two bodies until given points of the bodies are in contact (witness.md, V4, V5). */
#include <assert.h>
#include <string.h>
#include "query/witness.h"

#define DEGREE 0.017453292519943295 /* rad */
#define MILLIMETRE 1e-3             /* m */

/* Adds to the gradient g of a loss the part by^T v. `by`: 3 x 6 Jacobian of a point; v: derivative of the loss with
 * respect to the point. */
static void add_transposed_product(double g[6], const double by[3][6], Vec3 v) {
  for (int c = 0; c < 6; c++) g[c] += by[0][c] * v.x + by[1][c] * v.y + by[2][c] * v.z;
}

/* Subtracts from g the gradient of a loss with respect to the motion of a body. The loss depends on a point fixed to
 * the body; v is its derivative with respect to the point. */
static void subtract_fixed_point_gradient(double g[6], Vec3 point, Vec3 center, Vec3 v) {
  Vec3 turn = vec3_cross(vec3_sub(point, center), v);
  const double pull[6] = {turn.x, turn.y, turn.z, v.x, v.y, v.z};
  for (int c = 0; c < 6; c++) g[c] -= pull[c];
}

WitnessLoss witness_loss(const Witness* answer, Pose pose_a, Pose pose_b, const Vec3* targets, double margin) {
  WitnessLoss loss;
  memset(&loss, 0, sizeof loss);
  const Pose pose[2] = {pose_a, pose_b};
  const Vec3 point[2] = {answer->nearest.witness_a, answer->nearest.witness_b};
  double apart = answer->nearest.distance - margin;
  loss.value = apart * apart;
  for (int k = 0; k < 2; k++) {
    Vec3 target = pose_apply(pose[k], targets[k]), miss = vec3_sub(point[k], target);
    loss.value += vec3_dot(miss, miss);
    Vec3 pull = vec3_add_scaled(vec3_scale(miss, 2), (k ? 2 : -2) * apart, answer->nearest.normal);
    for (int moved = 0; moved < 2; moved++) add_transposed_product(loss.gradient[moved], answer->total[k][moved], pull);
    subtract_fixed_point_gradient(loss.gradient[k], target, pose[k].t, vec3_scale(miss, 2));
  }
  /* a motion (w, v) of a about c_a corresponds to the motion (-w, -(v + w x (c_b - c_a))) of b about c_b (V5); w:
   * rotation, v: translation, c_a and c_b: positions of the bodies */
  const double* g = loss.gradient[0];
  Vec3 w = vec3(g[0], g[1], g[2]);
  Vec3 v = vec3_add(vec3(g[3], g[4], g[5]), vec3_cross(w, vec3_sub(pose_b.t, pose_a.t)));
  const double back[6] = {-w.x, -w.y, -w.z, -v.x, -v.y, -v.z};
  for (int c = 0; c < 6; c++) loss.transported[c] = loss.gradient[1][c] + back[c];
  return loss;
}

/* Returns the pose rotated by the angle `turn` [rad] and moved by `move` [m] against the gradient g of the loss. If the
 * rotational or translational part of g is zero, the pose is not rotated or not translated. */
static Pose step_pose(Pose pose, const double g[6], double turn, double move) {
  Vec3 w = vec3(g[0], g[1], g[2]), v = vec3(g[3], g[4], g[5]);
  double by_turn = vec3_norm(w), by_move = vec3_norm(v);
  Vec3 zero = vec3(0, 0, 0);
  return witness_move_pose(pose, by_turn > 0 ? vec3_scale(w, -turn / by_turn) : zero,
                           by_move > 0 ? vec3_scale(v, -move / by_move) : zero);
}

static double step_length(const WitnessDescent* options, int iteration) {
  bool said = options->last > 0;
  if (10 * (int64_t)iteration < options->iterations) return options->step;
  if (10 * (int64_t)iteration < 9 * (int64_t)options->iterations)
    return said ? sqrt(options->step * options->last) : 0.1 * options->step;
  return said ? options->last : 0.01 * options->step;
}

double witness_descend(const WitnessBody* a, Pose* pose_a, const WitnessBody* b, Pose* pose_b, const Vec3* targets,
                       const WitnessDescent* options) {
  assert(options->iterations >= 0 && options->step > 0);
  WitnessCache cache = {.piece = {0, 0}};
  WitnessOptions query = options->query;
  for (int i = 0; i < options->iterations; i++) {
    double step = step_length(options, i);
    query.turn = options->query.turn + i;
    if (!(options->query.perturbation > 0)) query.perturbation = step * DEGREE;
    Witness w = witness_query(a, *pose_a, b, *pose_b, &query, targets, &cache);
    WitnessLoss loss = witness_loss(&w, *pose_a, *pose_b, targets, query.margin);
    Pose moved_a = step_pose(*pose_a, loss.gradient[0], step * DEGREE, step * MILLIMETRE);
    Pose moved_b = step_pose(*pose_b, loss.gradient[1], step * DEGREE, step * MILLIMETRE);
    if (options->both) *pose_a = moved_a;
    /* a's step is applied to b in the opposite direction, so the relative pose is as if both had moved (V5) */
    bool back = options->transport && !options->both;
    *pose_b = back ? pose_mul(*pose_a, pose_mul(pose_inverse(moved_a), moved_b)) : moved_b;
  }
  Witness end;
  memset(&end, 0, sizeof end);
  end.nearest = witness_nearest(a, *pose_a, b, *pose_b, &cache, end.piece);
  return witness_loss(&end, *pose_a, *pose_b, targets, query.margin).value;
}
