/* Answers of `touch`: where the descent ends, or the losses of many. */
#include "ask/answer.h"

static void add_pose(AnswerForm* out, const char* position, const char* quaternion, Pose pose) {
  Quat q = quat_from_mat3(pose.r);
  answer_vector(out, position, &pose.t);
  answer_numbers(out, quaternion, (const double[4]){q.w, q.x, q.y, q.z}, 4);
}

/* b turned at random, somewhere around a: from half to one and a half times where their boxes' balls touch. */
static Pose random_start(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Random* random) {
  Quat q = {random_normal(random), random_normal(random), random_normal(random), random_normal(random)};
  Vec3 way = vec3(random_normal(random), random_normal(random), random_normal(random));
  double apart = 0.5 * (a->diagonal + b->diagonal) * random_uniform(random, 0.5, 1.5);
  return (Pose){mat3_from_quat(quat_normalized(q)), vec3_add_scaled(pose_a.t, apart, vec3_normalized(way))};
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

/* Losses of descents from random starts to random targets. */
static void answer_many(AnswerForm* out, const WitnessBody* a, const WitnessBody* b, const QueryItem* item) {
  Random random = {(uint64_t)item->seed};
  double *losses = MEMORY_NEW(double, item->targets), *bounds = MEMORY_NEW(double, item->targets);
  for (int i = 0; i < item->targets; i++) {
    Vec3 target[2];
    random_targets(a, b, item, &random, target);
    Pose pose_a = item->pose[0], pose_b = random_start(a, pose_a, b, &random);
    losses[i] = witness_descend(a, &pose_a, b, &pose_b, target, &item->touch);
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
    answer_many(out, a, b, item);
    return;
  }
  Pose pose[2] = {item->pose[0], item->pose[1]};
  answer_number(out, "loss", witness_descend(a, &pose[0], b, &pose[1], item->target, &item->touch));
  add_pose(out, "position_a", "quaternion_a", pose[0]);
  add_pose(out, "position_b", "quaternion_b", pose[1]);
}
