/* host: a program with signal handlers and random numbers of its own, beside a run of a heap of 300 boxes in the
 * library. Its handlers must be the process's at every moment, a signal that arrives in the run must reach them, and
 * rand() must go on as if the library were not there. Prints what was disturbed; exits 1 when something was. */
#include <pthread.h>
#include <sdrs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 15, IN_A_ROW = 20, SIGNALS = 5 };
static const int NUMBERS[SIGNALS] = {SIGTERM, SIGABRT, SIGINT, SIGHUP, SIGSEGV};

static atomic_int done, disturbed, received;

static void on_signal(int number) {
  (void)number;
  atomic_fetch_add(&received, 1);
}

static void* watch(void* context) {
  int* sent = context;
  while (!atomic_load(&done)) {
    for (int k = 0; k < SIGNALS; k++) {
      struct sigaction now;
      sigaction(NUMBERS[k], NULL, &now);
      if (now.sa_handler != on_signal) atomic_fetch_or(&disturbed, 1 << k);
    }
    if (atomic_load(&disturbed) == 0 && *sent < 100) kill(getpid(), SIGTERM), ++*sent;
    usleep(20);
  }
  return NULL;
}

/* A wall whose bricks overlap: one island of the contact's system. */
static char* scene(void) {
  static char text[1 << 16];
  size_t used = (size_t)snprintf(text, sizeof(text),
                                 "simulation: {dt: 0.01, steps: 12, integrator: first_order}\n"
                                 "shapes: {brick: {type: box, size: [0.2, 0.1, 0.1]}}\n"
                                 "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n");
  for (int row = 0; row < ROWS; row++)
    for (int k = 0; k < IN_A_ROW; k++)
      used += (size_t)snprintf(text + used, sizeof(text) - used,
                               "  - {name: b%d-%d, shape: brick, mass: 1, position: [%g, 0, %g]}\n", row, k,
                               0.201 * k + 0.1 * (row % 2), 0.0502 + 0.1004 * row);
  return text;
}

int main(void) {
  int expected[64], sent = 0, faults = 0;
  const struct sigaction action = {.sa_handler = on_signal};
  for (int k = 0; k < SIGNALS; k++) sigaction(NUMBERS[k], &action, NULL);
  srand(7);
  for (int k = 0; k < 64; k++) expected[k] = rand();
  srand(7);
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch, &sent);
  sdrs* s;
  sdrs_status status = sdrs_parse(&s, scene(), NULL, NULL);
  if (status == SDRS_OK) status = sdrs_step(s, 12);
  if (status != SDRS_OK) faults += printf("%s\n", sdrs_error(s)) > 0;
  sdrs_free(s);
  atomic_store(&done, 1);
  pthread_join(watcher, NULL);
  for (int k = 0; k < SIGNALS; k++)
    if (atomic_load(&disturbed) >> k & 1)
      faults += printf("another handler of %s was there\n", strsignal(NUMBERS[k])) > 0;
  if (atomic_load(&disturbed) == 0 && (sent == 0 || atomic_load(&received) == 0))
    faults += printf("no signal came\n") > 0;
  for (int k = 0; k < 64; k++)
    if (rand() != expected[k]) {
      faults += printf("rand() was disturbed\n") > 0;
      break;
    }
  printf("%d signals sent\n", sent);
  return faults > 0;
}
