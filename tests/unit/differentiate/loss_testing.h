/* Helpers of the loss tests: two bodies with a recording by hand. */
#ifndef SDRS_TESTS_UNIT_DIFFERENTIATE_LOSS_TESTING_H
#define SDRS_TESTS_UNIT_DIFFERENTIATE_LOSS_TESTING_H

#include "support/bodies.h"
#include "support/losses.h"

/* Two free bricks `a` and `b` far apart, dt 0.1 s, 4 steps; a's centre of mass is off its frame's origin. */
#define TWO_BRICKS                                                                 \
  "simulation: {dt: 0.1, steps: 4, gravity: [0, 0, 0], integrator: first_order}\n" \
  "shapes: {brick: {type: box, size: [0.2, 0.4, 0.6]}}\n"                          \
  "links:\n"                                                                       \
  "  - {name: a, mass: 1, shapes: [{shape: brick, position: [0.1, 0.2, 0.3]}]}\n"  \
  "  - {name: b, mass: 1, shape: brick, position: [9, 0, 0]}\n"

/* Pose of a link at a state, to write. */
static inline Pose* pose_at(LossRun* run, int step, int link) {
  return &run->recording.pose[step * run->run->model.link_count + link];
}

/* No turn, frame at (x, y, z) plus step times (vx, vy, vz). */
static inline void move_evenly(LossRun* run, int link, Vec3 start, Vec3 each) {
  for (int k = 0; k <= run->recording.steps; k++)
    *pose_at(run, k, link) = (Pose){mat3_identity(), vec3_add_scaled(start, k, each)};
}

/* Every state of every body by one motion. */
static inline void move_world(LossRun* run, Pose motion) {
  for (int i = 0; i < run->run->model.link_count * (run->recording.steps + 1); i++)
    run->recording.pose[i] = pose_mul(motion, run->recording.pose[i]);
}

/* The value must be that which it has when the losses' world vectors are moved with the world. */
static inline void expect_same_when_moved(LossRun* run, TaskLoss before, TaskLoss after, Pose motion,
                                          const char* what) {
  double value = loss_value(run, &before);
  move_world(run, motion);
  compare_relative(loss_value(run, &after), value, 1e-13, "%s: world and target moved", what);
  move_world(run, pose_inverse(motion));
}

#endif
