/* limited: a process that may have few threads. Loading for more is refused in words, and a call that asks for more
 * runs on those that there are; neither ends the process. Exits 1 when that is not so. */
#include <sdrs.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char SCENE[] =
    "simulation: {dt: 0.01, steps: 5, integrator: first_order}\n"
    "links: [{name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n";
enum { MANY = 200, RUNS = 400 };

int main(void) {
  if (geteuid() == 0 && setuid(65534) != 0) return 2; /* root has no such limit */
  if (setrlimit(RLIMIT_NPROC, &(struct rlimit){8, 8}) != 0) return 2;
  static double ends[RUNS][7];
  sdrs* s;
  sdrs_options options = {.size = sizeof(options), .threads = MANY};
  sdrs_status status = sdrs_parse(&s, SCENE, NULL, &options);
  printf("%d: %s\n", (int)status, sdrs_error(s));
  if (status != SDRS_BAD_INPUT || !strstr(sdrs_error(s), "which the system allows")) return 1;
  sdrs_free(s);
  options.threads = 1;
  if (sdrs_parse(&s, SCENE, NULL, &options) != SDRS_OK) return 1;
  sdrs_rollouts rollouts = {
      .size = sizeof(rollouts), .count = RUNS, .steps = 5, .threads = MANY, .final_coordinates = &ends[0][0]};
  status = sdrs_rollout(s, &rollouts);
  printf("%d: %s\n", (int)status, sdrs_error(s));
  for (int k = 1; k < RUNS; k++)
    if (memcmp(ends[k], ends[0], sizeof(ends[0])) != 0) return 1;
  sdrs_free(s);
  return status != SDRS_OK;
}
