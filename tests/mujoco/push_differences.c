/* Push (scenes/tasks/push.yaml) by MuJoCo and differences, as the LRI paper compares it in Fig. 7: how the loss of the
 * first window, 48 steps of 0.04 s, changes with the targets of the rod's drive.
 *   push_differences MODEL.xml      of push-scene.yaml; prints CSV rows, `ok` or `FAIL` a row and `N passed, N failed`
 * From where the rod stands it changes not at all, whatever the step of the differences, as long as the rod does not
 * come to the box; from behind the box it does, so the differences would see a push. */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 48, TARGETS = 6, SUBSTEPS = 4, EVERY = 8 };
static const double interval = 0.04, mark[3] = {0.6, 0, 0.1}, margin = 0.02;

typedef struct {
  mjModel* model;
  mjData* data;
  int box;
  double place[3]; /* of the rod's centre from where it is in the scene [m] */
  double targets[WINDOW][TARGETS];
} Push;

/* Sum over the window of the squared distance beyond the margin [m^2]. */
static double loss(Push* p) {
  double sum = 0;
  mj_resetDataKeyframe(p->model, p->data, 0);
  memcpy(p->data->qpos, p->place, sizeof(p->place));
  for (int step = 0; step < WINDOW; step++) {
    for (int k = 0; k < TARGETS; k++) p->data->ctrl[2 * k] = p->targets[step][k]; /* each with its rate after it */
    for (int k = 0; k < SUBSTEPS; k++) mj_step(p->model, p->data);
    double square = 0;
    for (int k = 0; k < 3; k++) square += pow(p->data->xpos[3 * p->box + k] - mark[k], 2);
    sum += fmax(square - margin * margin, 0);
  }
  return sum;
}

/* Norm of the gradient by the targets of every eighth step, by central differences of this step. */
static double gradient_norm(Push* p, double step) {
  double sum = 0;
  for (int row = 0; row < WINDOW; row += EVERY)
    for (int k = 0; k < TARGETS; k++) {
      double* target = &p->targets[row][k];
      const double at = *target;
      *target = at + step;
      double above = loss(p);
      *target = at - step;
      sum += pow((above - loss(p)) / (2 * step), 2);
      *target = at;
    }
  return sqrt(sum);
}

/* ahead: how far along x from where it stands the drive's target is [m]. */
static void stand(Push* p, double x, double ahead) {
  memset(p->targets, 0, sizeof(p->targets));
  p->place[0] = x;
  for (int row = 0; row < WINDOW; row++) p->targets[row][0] = x + ahead;
}

int main(int count, char** words) {
  char error[500];
  Push p = {0};
  p.model = count == 2 ? mj_loadXML(words[1], NULL, error, sizeof error) : NULL;
  if (!p.model) {
    fprintf(stderr, "push: %s\n", count == 2 ? error : "which model?");
    return 1;
  }
  p.model->opt.timestep = interval / SUBSTEPS;
  p.data = mj_makeData(p.model);
  p.box = mj_name2id(p.model, mjOBJ_BODY, "box");
  int passed = 0, failed = 0;
  static const double steps[] = {1e-4, 0.05};
  printf("rod,step,gradient\n");
  for (int behind = 0; behind < 2; behind++) {
    stand(&p, behind ? -0.448 : 0, behind ? 0.1 : 0);
    for (int k = 0; k < 2; k++) {
      double norm = gradient_norm(&p, steps[k]);
      int right = behind ? norm > 1e-3 : norm == 0;
      printf("%s,%g,%.3g\n%s\n", behind ? "behind" : "in front", steps[k], norm, right ? "ok" : "FAIL");
      *(right ? &passed : &failed) += 1;
    }
  }
  mj_deleteData(p.data);
  mj_deleteModel(p.model);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
