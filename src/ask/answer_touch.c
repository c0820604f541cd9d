/* Answers questions with QUERY_TOUCH. The answer is the result of one gradient descent, or the losses of many
 * descents. */
#include "ask/answer.h"

static void add_pose(AnswerForm* out, const char* position, const char* quaternion, Pose pose) {
  Quat q = quat_from_mat3(pose.r);
  answer_vector(out, position, &pose.t);
  answer_numbers(out, quaternion, (const double[4]){q.w, q.x, q.y, q.z}, 4);
}

/* Returns a random pose of body b from which a descent starts. The rotation and the direction from a to b are random.
 * The distance is 0.5 to 1.5 times the distance at which the bounding spheres of the bodies touch. */
static Pose random_start(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Random* random) {
  Quat q = quat_random_normal(random);
  Vec3 direction = vec3_random_normal(random);
  double apart = 0.5 * (a->diagonal + b->diagonal) * random_uniform(random, 0.5, 1.5);
  return (Pose){mat3_from_quat(quat_normalized(q)), vec3_add_scaled(pose_a.t, apart, vec3_normalized(direction))};
}

static void random_targets(const WitnessBody* a, const WitnessBody* b, const QueryItem* item, Random* random,
                           Vec3 target[2]) {
  if (item->meeting) {
    witness_random_pair(a, b, random, target);
    return;
  }
  target[0] = witness_random_point(a, random);
  target[1] = witness_random_point(b, random);
}

/* A descent has reached its targets if both points are at most this many lengths of the last step from their targets.
 */
#define REACHED_STEPS 3.2
#define MILLIMETRE 1e-3 /* m */

/* Number of random rotations of body b among which the start of a descent is chosen. */
enum { ROTATIONS = 256 };

/* Returns a pose of body b, for the start of a descent, in which the target points of both bodies coincide: of
 * ROTATIONS random rotations the one with the smallest overlap of the bodies. A pose without overlap is a solution
 * (witness.md, V13). */
static Pose start_at_targets(const WitnessBody* a, Pose pose_a, const WitnessBody* b, const Vec3* target,
                             Random* random) {
  Pose best = pose_identity();
  double most = -HUGE_VAL;
  WitnessCache cache = {.piece = {0, 0}};
  for (int k = 0; k < ROTATIONS; k++) {
    Quat q = quat_random_normal(random);
    Mat3 turn = mat3_from_quat(quat_normalized(q));
    Pose pose = {turn, vec3_sub(pose_apply(pose_a, target[0]), mat3_mul_vec(turn, target[1]))};
    int piece[2];
    double apart = witness_nearest(a, pose_a, b, pose, &cache, piece).distance;
    if (!(apart > most)) continue;
    most = apart;
    best = pose;
  }
  return best;
}

/* Returns the smallest loss of several gradient descents, and sets pose (2) to the poses of both bodies with this loss.
 * The first descent starts from the given poses, the others from start_at_targets, until the targets are reached. */
static double find_best_descent(const WitnessBody* a, const WitnessBody* b, const QueryItem* item, const Vec3* target,
                                Random* random, Pose pose[2]) {
  const Pose first = pose[0];
  Pose start[2] = {pose[0], pose[1]};
  double last = item->touch.last > 0 ? item->touch.last : 0.01 * item->touch.step,
         near = REACHED_STEPS * last * MILLIMETRE;
  double best = HUGE_VAL;
  for (int k = 0; k < item->starts && !(best <= near * near); k++) {
    if (k > 0) {
      start[0] = first;
      start[1] = start_at_targets(a, first, b, target, random);
    }
    double loss = witness_descend(a, &start[0], b, &start[1], target, &item->touch);
    if (!(loss < best)) continue;
    best = loss;
    pose[0] = start[0];
    pose[1] = start[1];
  }
  return best;
}

/* Writes the final losses of gradient descents from random poses, each for a random pair of target points. */
static void answer_random_targets(AnswerForm* out, const WitnessBody* a, const WitnessBody* b, const QueryItem* item) {
  Random random = {(uint64_t)item->seed};
  double *losses = MEMORY_NEW(double, item->targets), *bounds = MEMORY_NEW(double, item->targets);
  for (int i = 0; i < item->targets && !out->names; i++) {
    Vec3 target[2];
    random_targets(a, b, item, &random, target);
    Pose pose[2] = {item->pose[0], random_start(a, item->pose[0], b, &random)};
    Random further = {(uint64_t)item->seed + (uint64_t)i + 1};
    losses[i] = find_best_descent(a, b, item, target, &further, pose);
    bounds[i] = witness_reach_bound(a, b, target);
  }
  answer_table(out, "losses", losses, 1, item->targets, item->targets);
  answer_table(out, "bounds", bounds, 1, item->targets, item->targets);
  memory_free(losses);
  memory_free(bounds);
}

void answer_touch(AnswerForm* out, const QueryList* list, const QueryItem* item) {
  const WitnessBody *a = &list->bodies[item->body[0]].witness, *b = &list->bodies[item->body[1]].witness;
  if (item->targets > 0) {
    answer_random_targets(out, a, b, item);
    return;
  }
  Pose pose[2] = {item->pose[0], item->pose[1]};
  Random random = {(uint64_t)item->seed};
  double loss = out->names ? (double)NAN : find_best_descent(a, b, item, item->target, &random, pose);
  answer_number(out, "loss", loss);
  add_pose(out, "position_a", "quaternion_a", pose[0]);
  add_pose(out, "position_b", "quaternion_b", pose[1]);
}
