/* Losses over a short run, for difference quotients. The test copies the recording from sim_step. All arrays that a
 * loss may depend on form one vector, in the order of LossSeeds. */
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
/* Returns the loss without its seeds. Fails the test with the messages if the loss is invalid. */
Loss* loss_make(const LossRun* run, const TaskLoss* loss);
/* Its value over run->recording. */
double loss_value(const LossRun* run, const TaskLoss* loss);

/* The present arrays become those at zero displacement. */
void loss_run_rebase(LossRun* run);
/* Every vertex by up to `size` along each axis, and so much for good. Triangles stay. */
void loss_run_deform(LossRun* run, Random* random, double size);

/* Blocks of LossSeeds. */
enum {
  SEED_POSE = 1,
  SEED_Q = 2,
  SEED_RATE = 4,
  SEED_FORCE = 8,
  SEED_CENTER = 16,
  SEED_VERTICES = 32,
  SEED_CONTROL = 64,
  SEED_GAINS = 128,
  SEED_FEEDBACK = 256,
};
/* Checks the derivatives of one loss by every block of the seeds. In the blocks `moved` the derivatives must be right
 * and nonzero. In the others both seeds and difference quotients must be zero. rigid: poses change by rigid motions,
 * not entry by entry. first: the largest step. */
void loss_check_seeds(LossRun* run, const Loss* loss, unsigned moved, bool rigid, double first, const char* what);

#endif
