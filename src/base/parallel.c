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
 * therefore annotated, and the worker function is not instrumented. */
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
/* A parallel loop. Worker threads do not inherit the caller's memory_try. After a failed allocation they set `failed`,
 * because they must not jump out of the loop. */
typedef struct {
  MemoryPool* pool; /* NULL if no memory_try is active */
  ParallelBody body;
  void* context;
  atomic_bool failed;
} ParallelLoop;

typedef struct {
  ParallelLoop* loop;
  int index, thread;
} IndexCall;

static void call_body(void* context) {
  const IndexCall* at = context;
  at->loop->body(at->loop->context, at->index, at->thread);
}

static void run_index(ParallelLoop* loop, int index, int thread) {
  IndexCall at = {loop, index, thread};
  if (!loop->pool)
    call_body(&at);
  else if (!atomic_load(&loop->failed) && !memory_try(loop->pool, call_body, &at))
    atomic_store(&loop->failed, true);
}

/* Loop indices begin..end-1 of one thread that no thread has started yet. Both numbers are packed into one word: begin
 * in the low 32 bits, end in the high 32 bits. */
typedef struct {
  _Alignas(64) _Atomic uint64_t left;
} ParallelShare;

/* Largest number of shares. A further thread has no share and starts with indices of another thread. */
enum { SHARES_MAX = 64 };

static uint64_t pack_range(int begin, int end) { return (uint64_t)(uint32_t)end << 32 | (uint32_t)begin; }

/* Takes up to `grain` indices from a share: from the front (owner of the share) or from the back (other threads). Sets
 * *first to the first taken index and returns the number of taken indices, 0 if the share is empty. */
static int take_indices(ParallelShare* share, int grain, bool front, int* first) {
  assert(grain >= 1);
  uint64_t left = atomic_load_explicit(&share->left, memory_order_relaxed);
  for (;;) {
    int begin = (int)(uint32_t)left, end = (int)(left >> 32), taken = end - begin < grain ? end - begin : grain;
    if (taken <= 0) return 0;
    *first = front ? begin : end - taken;
    uint64_t rest = front ? pack_range(begin + taken, end) : pack_range(begin, end - taken);
    if (atomic_compare_exchange_weak_explicit(&share->left, &left, rest, memory_order_relaxed, memory_order_relaxed))
      return taken;
  }
}

/* Runs the indices of the thread's own share, then indices of other shares (work stealing). Loops of equal length have
 * the same shares, so data stay in the thread's cache. Returns the number of indices that the thread ran. */
static int run_stealing(ParallelLoop* loop, ParallelShare* shares, int count, int grain, int thread) {
  assert(count >= 1 && thread >= 0);
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

static _Thread_local ParallelBalance balance;

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns true if the balance allows loops to run on several threads. Always true in builds with assertions, so that
 * tests find data races. */
static bool runs_on_threads(void) {
#ifdef NDEBUG
  return timer_now() >= balance.serial_until;
#else
  return true;
#endif
}

/* ---------------------------------------------------------------- number of available threads */

enum { THREADS_MAX = 1024 };

/* Returns the number of threads of this process, or 0 if it is unknown. */
static int count_live_threads(void) {
  DIR* folder = opendir("/proc/self/task");
  int count = -2; /* "." and ".." are no threads */
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count > 0 ? count : 0;
}

static void* wait_for_unlock(void* gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* Returns the number of further threads that can be created, at most `wanted`. Creates all of them, then joins them.
 * Waits until the joined threads have left /proc, because until then they count against the system's limits. */
static int count_creatable_threads(int wanted) {
  assert(wanted < THREADS_MAX);
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t created[THREADS_MAX];
  const struct timespec poll_interval = {.tv_nsec = 100000};
  int count = 0, before = count_live_threads();
  pthread_mutex_lock(&gate);
  while (count < wanted && pthread_create(&created[count], NULL, wait_for_unlock, &gate) == 0) count++;
  pthread_mutex_unlock(&gate);
  for (int k = 0; k < count; k++) pthread_join(created[k], NULL);
  for (int k = 0; k < 1000 && count_live_threads() > before; k++) nanosleep(&poll_interval, NULL);
  return count;
}

/* The OpenMP runtime ends the process if it cannot create a thread, so the number of creatable threads is measured
 * first. The runtime keeps the threads that it has created. */
NOT_INSTRUMENTED int parallel_create_threads(int threads) {
  assert(threads >= 0);
  static _Thread_local int requested_max = 1, available = 1;
  int limit = omp_get_thread_limit() < THREADS_MAX ? omp_get_thread_limit() : THREADS_MAX;
  if (threads > requested_max) {
    requested_max = threads;
    available = 1 + count_creatable_threads((threads < limit ? threads : limit) - 1);
#pragma omp parallel num_threads(available)
    (void)omp_get_thread_num();
  }
  return threads < available ? threads : available;
}

NOT_INSTRUMENTED static void run_threads(int threads, int count, int grain, ParallelLoop* loop) {
  char fork, join; /* their addresses identify fork and join for ThreadSanitizer */
  ParallelShare shares[SHARES_MAX];
  int parts = threads < SHARES_MAX ? threads : SHARES_MAX;
  for (int k = 0; k < parts; k++)
    atomic_init(&shares[k].left,
                pack_range((int)((int64_t)count * k / parts), (int)((int64_t)count * (k + 1) / parts)));
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
    int ran = run_stealing(loop, shares, parts, grain, thread);
    if (thread == 0) {
      cost.ran = ran;
      cost.work += processor_time();
      cost.waited -= timer_now();
    }
    SYNC_RELEASE(&join);
  }
  SYNC_ACQUIRE(&join);
  cost.waited += timer_now();
  parallel_balance_update(&balance, &cost, count, timer_now());
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
  if (threads > 1 && count > 1 && count >= threshold && runs_on_threads()) {
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

/* Counts the processors of this process, which may be fewer than the machine has. */
int parallel_processor_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}
