/* Finds the initial speed with which a box slides half a metre, by Newton's method with exact derivatives of the run.
 * cc throw.c -o throw $(pkg-config --cflags --libs sdrs) && ./throw TASK.yaml
 */
#include <sdrs.h>
#include <stdio.h>

static int failed(const sdrs* task) {
  fprintf(stderr, "%s\n", sdrs_error(task));
  return 1;
}

int main(int count, char** words) {
  sdrs* task;
  sdrs_array slope = SDRS_INIT(sdrs_array);
  double speed = 1, loss = 1; /* initial speed [m/s]; squared distance from the target [m^2] */
  if (sdrs_load(&task, count > 1 ? words[1] : "scenes/tasks/throw.yaml", NULL) != SDRS_OK) return failed(task);
  for (int k = 0; k < 20 && loss > 1e-24; k++) {
    if (sdrs_set(task, SDRS_DESIGN, &speed, 1) != SDRS_OK) return failed(task);
    if (sdrs_run(task, 0) != SDRS_OK) return failed(task);
    if (sdrs_loss(task, NULL, NULL, &loss) != SDRS_OK) return failed(task);
    if (sdrs_gradient_view(task, SDRS_DESIGN, &slope) != SDRS_OK) return failed(task);
    speed -= 2 * loss / slope.data[0]; /* Newton step for miss = 0, with loss = miss^2 */
  }
  printf("%.12g\n", speed);
  sdrs_free(task);
  return 0;
}
