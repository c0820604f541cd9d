#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#include "base/base.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
/* The OpenMP runtime is not instrumented, so the thread sanitizer does not see its fork and join: they are told by
 * hand, and the function that the compiler outlines for the workers is left alone. */
#define NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#define SYNC_RELEASE(address) __tsan_release(address)
#define SYNC_ACQUIRE(address) __tsan_acquire(address)
#else
#define NOT_INSTRUMENTED
#define SYNC_RELEASE(address) (void)(address)
#define SYNC_ACQUIRE(address) (void)(address)
#endif

static void run_serially(int count, ParallelBody body, void* context) {
  for (int i = 0; i < count; i++) body(context, i, 0);
}

#ifdef _OPENMP
/* An index of a loop that runs within memory_try: workers know nothing of the caller's, and must not jump out of the
 * loop. */
typedef struct {
  MemoryPool* pool; /* NULL: there is none */
  ParallelBody body;
  void* context;
  atomic_bool failed;
} ParallelLoop;

typedef struct {
  ParallelLoop* loop;
  int index, thread;
} ParallelIndex;

static void run_index_body(void* context) {
  const ParallelIndex* at = context;
  at->loop->body(at->loop->context, at->index, at->thread);
}

static void run_index(ParallelLoop* loop, int index, int thread) {
  ParallelIndex at = {loop, index, thread};
  if (!loop->pool)
    run_index_body(&at);
  else if (!atomic_load(&loop->failed) && !memory_try(loop->pool, run_index_body, &at))
    atomic_store(&loop->failed, true);
}

NOT_INSTRUMENTED static void run_threads(int threads, int count, int grain, ParallelLoop* loop) {
  char fork, join; /* only their addresses matter */
  SYNC_RELEASE(&fork);
#pragma omp parallel num_threads(threads)
  {
    SYNC_ACQUIRE(&fork);
    int thread = omp_get_thread_num();
#pragma omp for schedule(dynamic, grain) nowait
    for (int i = 0; i < count; i++) run_index(loop, i, thread);
    SYNC_RELEASE(&join);
  }
  SYNC_ACQUIRE(&join);
}
#endif

void parallel_for(int threads, int count, int threshold, int grain, ParallelBody body, void* context) {
#ifdef _OPENMP
  if (threads > 1 && count > 1 && count >= threshold) {
    ParallelLoop loop = {.pool = memory_pool_in_use(), .body = body, .context = context};
    run_threads(threads, count, grain > 0 ? grain : 1, &loop);
    if (atomic_load(&loop.failed)) memory_exhausted(0);
    return;
  }
#else
  (void)threads, (void)threshold, (void)grain;
#endif
  run_serially(count, body, context);
}

/* Processors this process may run on, not those of the machine. */
int parallel_processor_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}
