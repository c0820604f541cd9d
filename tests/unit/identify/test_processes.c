/* Tests a fit on several processes: it is bit-identical to the fit on one process. Forked processes with shared memory
 * replace mpirun. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "identify/identify.h"
#include "unit/scene/task_testing.h"

#include <cmocka.h>

enum { PROCESSES = 3, ROOM = 1 << 16 };

typedef struct {
  pthread_barrier_t barrier;
  int values[PROCESSES], shares;
  char bytes[ROOM];
} Shared;

static Shared* shared;
static int own_rank, own_count = 1;

/* Instead of base/processes.c. */
void processes_init(void) {}
void processes_finish(void) {}
int processes_count(void) { return own_count; }
int processes_rank(void) { return own_rank; }

void processes_broadcast(void* data, size_t size, int owner) {
  if (own_count == 1) return;
  assert_true(size <= ROOM);
  if (own_rank == owner) memcpy(shared->bytes, data, size);
  shared->shares += own_rank == 0;
  pthread_barrier_wait(&shared->barrier);
  if (own_rank != owner) memcpy(data, shared->bytes, size);
  pthread_barrier_wait(&shared->barrier);
}

int processes_max(int value) {
  if (own_count == 1) return value;
  int largest = value;
  shared->values[own_rank] = value;
  pthread_barrier_wait(&shared->barrier);
  for (int k = 0; k < own_count; k++) largest = shared->values[k] > largest ? shared->values[k] : largest;
  pthread_barrier_wait(&shared->barrier);
  return largest;
}

static void share_memory(void) {
  pthread_barrierattr_t attributes;
  shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(shared != MAP_FAILED);
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, PROCESSES);
}

/* A cart that rolls to rest, windows with their own starts. */
#define CART                                                                                                       \
  "name: cart\nscene:\n  simulation: {dt: 0.01, steps: 100, integrator: second_order}\n  contact: {model: none}\n" \
  "  links: [{name: cart, shape: {type: box, size: [0.2, 0.1, 0.1]}, mass: 1, joint: {type: slide, axis: [1, 0, "  \
  "0], damping: 0.5}}]\n"                                                                                          \
  "parameters: [{type: damping, link: cart}, {type: gravity, axes: [x]}]\n"                                        \
  "data: {measured: [{link: cart, coordinates: [x]}]}\n"                                                           \
  "identify: {train: 0.6, window: 0.3, fit_initial: true, coordinate: 0.002}\n"

static void write_carts(const char* folder) {
  Random random = {4};
  for (int r = 0; r < 4; r++) {
    char path[100];
    snprintf(path, sizeof path, "%s/%d.csv", folder, r);
    FILE* file = fopen(path, "w");
    fprintf(file, "time,x\n");
    for (int k = 0; k < 26; k++)
      fprintf(file, "%.6f,%.9f\n", 0.04 * k, (0.5 + 0.2 * r) * (1 - exp(-0.032 * k)) + 0.002 * random_normal(&random));
    fclose(file);
  }
}

/* Fits, and leaves identify.json and the checkpoint in the folder. */
static void fit(const char* data, const char* folder) {
  char pattern[200], checkpoint[200];
  snprintf(pattern, sizeof pattern, "%s/?.csv", data);
  snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
  const char* files[1] = {pattern};
  Task task = load_task(CART);
  IdentifyOptions options = {.threads = 1, .files = files, .file_count = 1};
  const RunProgram program = {.version = "", .commit = ""};
  Identification* id;
  Diagnostics diagnostics = {0};
  Text json = {0};
  assert_int_equal(identification_create(&id, &task, &options, &diagnostics), STATUS_OK);
  assert_int_equal(identification_start(id, &diagnostics), STATUS_OK);
  while (identification_stop(id) == IDENTIFY_RUNNING) identification_advance(id);
  assert_int_equal(identification_finish(id, &diagnostics), STATUS_OK);
  if (own_rank == 0) {
    assert_int_equal(identification_write(id, folder, &program, &json, &diagnostics), STATUS_OK);
    assert_int_equal(identification_save(id, checkpoint, &diagnostics), STATUS_OK);
  }
  identification_destroy(id);
  task_free(&task);
  text_free(&json);
  diagnostics_free(&diagnostics);
}

static void fit_of_processes(const char* data, const char* folder, int count) {
  pid_t children[PROCESSES];
  for (int rank = 0; rank < count; rank++) {
    children[rank] = fork();
    if (children[rank] != 0) continue;
    own_rank = rank;
    own_count = count;
    fit(data, folder);
    _exit(0);
  }
  for (int rank = 0; rank < count; rank++) {
    int status;
    waitpid(children[rank], &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static void processes_come_to_what_one_does(void** state) {
  (void)state;
  char data[] = "/tmp/sdrs-carts-XXXXXX", one[100], three[100], command[400];
  assert_non_null(mkdtemp(data));
  share_memory();
  write_carts(data);
  snprintf(one, sizeof one, "%s/one", data);
  snprintf(three, sizeof three, "%s/three", data);
  snprintf(command, sizeof command, "mkdir '%s' '%s'", one, three);
  assert_int_equal(system(command), 0);
  fit_of_processes(data, one, 1);
  fit_of_processes(data, three, PROCESSES);
  assert_true(shared->shares > 0);
  snprintf(command, sizeof command, "test -s '%s/identify.json' && diff -r '%s' '%s' >&2", one, one, three);
  assert_int_equal(system(command), 0);
  snprintf(command, sizeof command, "rm -r '%s'", data);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(processes_come_to_what_one_does)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
