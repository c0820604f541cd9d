/* argv -> command -> exit code. */
#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/base.h"

static bool is_one(const char* text) { return text && strcmp(text, "1") == 0; }

/* Will there be no second thread? Asked before the command line is checked: a wrong guess costs time alone. */
static bool runs_alone(int argc, char** argv) {
  const Verb* verb = argc < 2 ? NULL : verb_find(argv[1]);
  bool alone = !verb || verb->serial || is_one(getenv("OMP_NUM_THREADS")) || sysconf(_SC_NPROCESSORS_ONLN) == 1;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--threads") == 0) alone = i + 1 < argc && is_one(argv[i + 1]);
    if (strncmp(argv[i], "--threads=", 10) == 0) alone = is_one(argv[i] + 10);
  }
  return alone;
}

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

/* Sizes up to which the C library keeps freed memory [bytes]. Iterations of an optimization allocate the same blocks
 * again; pages returned to the system would be cleared each time. KEPT_BLOCK: one block; KEPT_MOST: all free memory at
 * the end of the heap. */
#define KEPT_BLOCK (32 << 20)
#define KEPT_MOST (256 << 20)

static void keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
  mallopt(M_TRIM_THRESHOLD, KEPT_MOST);
#endif
}

int main(int argc, char** argv) {
  if (!runs_alone(argc, argv)) spin_briefly(argv);
  keep_memory();
  ExitCode code = app_run(argc, argv);
  assert(memory_bytes_in_use() == 0); /* every command frees its memory */
  return (int)code;
}
