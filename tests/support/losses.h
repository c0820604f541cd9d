/* Losses over a short run: the recording is copied from sim_step by the test itself, and every array that a loss may
 * depend on is one vector, in the order of LossSeeds, so that difference quotients can be taken by all of them. */
#ifndef SDRS_TESTS_SUPPORT_LOSSES_H
#define SDRS_TESTS_SUPPORT_LOSSES_H

#include "differentiate/differentiate.h"
#include "support/runs.h"

typedef struct {
  Run* run;
  Recording recording;     /* what is judged; a test may change its arrays */
  Recording base;          /* the same at zero displacement */
  Vec3 *center, *vertices; /* of the model at zero displacement */
  double *control, *gains;
  StepClock* clock; /* of the step to every state  (steps + 1) */
} LossRun;

/* Scene text (YAML) -> model -> a run of so many steps. */
LossRun* loss_run_create(int steps, const char* format, ...) __attribute__((format(printf, 2, 3)));
void loss_run_free(LossRun* run);
/* A scene with every kind of joint, controller and signal that losses tell apart: `ground` (half-space), `arm` (hinge,
 * pd, sines), `hand` on it (ball, pd, spline), `crate` (free, falls on a corner), `cart` (plane, pd twice), `drone`
 * (three slides and a ball, pd, keyframes), `piston` (prescribed). %s: more keys of `simulation`. */
extern const char LOSS_SCENE[];

/* A task of these losses, on the stack of the caller. */
typedef struct {
  Task task;
  TaskScenario scenario;
} LossTask;
void loss_task_set(LossTask* task, TaskLoss* losses, int count);
/* A text as a Task holds it; nobody writes to it. */
char* name_text(const char* text);
/* A loss with weight 1, without window; link NULL = none. */
TaskLoss loss_of(TaskLossType type, const char* link);
/* The loss alone; the test fails with the messages when it cannot be made. */
Loss* loss_make(const LossRun* run, const TaskLoss* loss);
/* Its value over run->recording. */
double loss_value(const LossRun* run, const TaskLoss* loss);

/* The present arrays become those at zero displacement. */
void loss_run_rebase(LossRun* run);
/* Every vertex by up to `size` along each axis, and so much for good. Triangles stay. */
void loss_run_deform(LossRun* run, Random* random, double size);

/* Parts of LossSeeds. */
enum {
  SEED_POSE = 1,
  SEED_Q = 2,
  SEED_RATE = 4,
  SEED_FORCE = 8,
  SEED_CENTER = 16,
  SEED_VERTICES = 32,
  SEED_CONTROL = 64,
  SEED_GAINS = 128,
};
/* Sweeps over every part of the seeds of one loss: in the parts `moved` derivatives must be there and right, in the
 * others both the seeds and the difference quotients must be zero. rigid: poses only move as bodies can, not entry by
 * entry. first: the largest step. */
void loss_check_seeds(LossRun* run, const Loss* loss, unsigned moved, bool rigid, double first, const char* what);

#endif
