#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"
#include "base/parallel_account.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
/* ThreadSanitizer does not see the fork and join of the OpenMP runtime, which is not instrumented. Fork and join are
 * therefore annotated here, and the outlined worker function is not instrumented. */
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
/* A loop that may run within memory_try. Worker threads do not inherit the caller's memory_try, and they must not jump
 * out of the loop. */
typedef struct {
  MemoryPool* pool; /* NULL if no memory_try is active */
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

/* Remaining indices of a thread's share. `left` contains the begin in its low 32 bits and the end in its high 32
 * bits. */
typedef struct {
  _Alignas(64) _Atomic uint64_t left;
} ParallelShare;

/* Largest number of shares. Further threads have no share and begin with indices of another thread's share. */
enum { SHARES_MOST = 64 };

static uint64_t share_of(int begin, int end) { return (uint64_t)(uint32_t)end << 32 | (uint32_t)begin; }

/* Takes up to `grain` indices from a share. The owner of the share takes indices from the front, other threads from the
 * back. Sets *first to the first taken index and returns the number of taken indices. */
static int take_indices(ParallelShare* share, int grain, bool front, int* first) {
  uint64_t left = atomic_load_explicit(&share->left, memory_order_relaxed);
  for (;;) {
    int begin = (int)(uint32_t)left, end = (int)(left >> 32), taken = end - begin < grain ? end - begin : grain;
    if (taken <= 0) return 0;
    *first = front ? begin : end - taken;
    uint64_t rest = front ? share_of(begin + taken, end) : share_of(begin, end - taken);
    if (atomic_compare_exchange_weak_explicit(&share->left, &left, rest, memory_order_relaxed, memory_order_relaxed))
      return taken;
  }
}

/* Runs the indices of the thread's own share, then indices of the other shares (work stealing). All loops of the same
 * count have the same shares, so data stay in the thread's cache. Returns the number of indices that the thread ran. */
static int run_shares(ParallelLoop* loop, ParallelShare* shares, int count, int grain, int thread) {
  int ran = 0;
  for (int n = 0; n < count; n++) {
    ParallelShare* share = &shares[(thread + n) % count];
    int first, taken;
    while ((taken = take_indices(share, grain, n == 0, &first)) > 0) {
      for (int i = first; i < first + taken; i++) run_index(loop, i, thread);
      ran += taken;
    }
  }
  return ran;
}

static _Thread_local ParallelBalance account;

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns true if loops are currently divided among threads. Builds with assertions (tests) always divide loops, so
 * that data races are found. */
static bool shares_now(void) {
#ifdef NDEBUG
  return timer_now() >= account.alone;
#else
  return true;
#endif
}

/* ---------------------------------------------------------------- number of available threads */

enum { THREADS_MOST = 1024 };

/* Returns the number of threads of the process, or 0 if the number is unknown. */
static int living_threads(void) {
  DIR* folder = opendir("/proc/self/task");
  int count = -2; /* does not count "." and ".." */
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count > 0 ? count : 0;
}

static void* wait_for(void* gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* Returns the number of further threads that can be created, at most `wanted`. Starts all of them, then joins them.
 * Waits until the joined threads have left /proc, because until then they count against the system's limits. */
static int threads_to_have(int wanted) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t created[THREADS_MOST];
  const struct timespec moment = {.tv_nsec = 100000};
  int count = 0, before = living_threads();
  pthread_mutex_lock(&gate);
  while (count < wanted && pthread_create(&created[count], NULL, wait_for, &gate) == 0) count++;
  pthread_mutex_unlock(&gate);
  for (int k = 0; k < count; k++) pthread_join(created[k], NULL);
  for (int k = 0; k < 1000 && living_threads() > before; k++) nanosleep(&moment, NULL);
  return count;
}

/* The OpenMP runtime ends the process if it cannot create a thread. The number of threads that can be created is
 * therefore measured first. The runtime keeps the threads that it has created. */
NOT_INSTRUMENTED int parallel_create_threads(int threads) {
  static _Thread_local int tried = 1, there = 1;
  int most = omp_get_thread_limit() < THREADS_MOST ? omp_get_thread_limit() : THREADS_MOST;
  if (threads > tried) {
    tried = threads;
    there = 1 + threads_to_have((threads < most ? threads : most) - 1);
#pragma omp parallel num_threads(there)
    (void)omp_get_thread_num();
  }
  return threads < there ? threads : there;
}

NOT_INSTRUMENTED static void run_threads(int threads, int count, int grain, ParallelLoop* loop) {
  char fork, join; /* addresses for the annotations of ThreadSanitizer */
  ParallelShare shares[SHARES_MOST];
  int parts = threads < SHARES_MOST ? threads : SHARES_MOST;
  for (int k = 0; k < parts; k++)
    atomic_init(&shares[k].left, share_of((int)((int64_t)count * k / parts), (int)((int64_t)count * (k + 1) / parts)));
  ParallelLoopTimes cost = {.waited = -timer_now()};
  SYNC_RELEASE(&fork);
#pragma omp parallel num_threads(threads)
  {
    SYNC_ACQUIRE(&fork);
    int thread = omp_get_thread_num();
    if (thread == 0) {
      cost.waited += timer_now();
      cost.work = -processor_time();
    }
    int ran = run_shares(loop, shares, parts, grain, thread);
    if (thread == 0) {
      cost.ran = ran;
      cost.work += processor_time();
      cost.waited -= timer_now();
    }
    SYNC_RELEASE(&join);
  }
  SYNC_ACQUIRE(&join);
  cost.waited += timer_now();
  parallel_balance_update(&account, &cost, count, timer_now());
}
#else
int parallel_create_threads(int threads) {
  (void)threads;
  return 1;
}
#endif

void parallel_for(int threads, int count, int threshold, int grain, ParallelBody body, void* context) {
  assert(count >= 0 && body);
#ifdef _OPENMP
  if (threads > 1 && count > 1 && count >= threshold && shares_now()) {
    ParallelLoop loop = {.pool = memory_current_pool(), .body = body, .context = context};
    run_threads(parallel_create_threads(threads), count, grain > 0 ? grain : 1, &loop);
    if (atomic_load(&loop.failed)) memory_report_exhausted(0);
    return;
  }
#else
  (void)threads, (void)threshold, (void)grain;
#endif
  run_serially(count, body, context);
}

/* Counts the processors available to this process, which may be fewer than the machine has. */
int parallel_processor_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}
