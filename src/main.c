/* argv -> command -> exit code. */
#include <stdlib.h>
#include <unistd.h>

#include "app/app.h"

/* Idle OpenMP threads spin for milliseconds before they sleep, which stalls every program on a shared machine, this one
 * included. The runtime reads its limit when it is loaded, before main: so set it and start again, once. */
static void spin_briefly(char** argv) {
  char self[4096];
  if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return;
  ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (length <= 0 || setenv("GOMP_SPINCOUNT", "3000", 1) != 0) return;
  self[length] = '\0'; /* by its own path, so that the process keeps its name */
  execv(self, argv);
}

int main(int argc, char** argv) {
  spin_briefly(argv);
  return (int)app_run(argc, argv);
}
