/* Memory allocation with pools.
 * Every block has a header that names its pool. If an allocation fails within memory_try, control returns to
 * memory_try, and the blocks allocated since are freed with their pool. */
#include <assert.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/base.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define MAPS_LARGE false /* AddressSanitizer would not check the ends of mapped blocks */
#else
#define MAPS_LARGE true
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

/* Alignment of blocks [bytes]: the size of a cache line and of the widest vector register. */
#define ALIGNMENT ((size_t)64)
/* Size of a huge page [bytes]. Large arrays use huge pages. Otherwise loops that read little of each element would
 * spend most of their time in address translation (TLB misses). */
#define HUGE_PAGE ((size_t)2 << 20)
/* Smallest size of mapped blocks after memory_return_freed_blocks [bytes]. Blocks of many sizes that are allocated and
 * freed would fragment the heap of malloc. This size is not the default, because arrays that all start at the same
 * offset in a page conflict in the cache. */
#define OWN_PAGES ((size_t)128 << 10)

/* Header in the ALIGNMENT bytes before a block. */
typedef struct Header {
  MemoryPool* pool; /* NULL if the block has no pool; `before` and `after` are then unused */
  struct Header *before, *after;
  size_t mapped; /* size of the mapping that begins with the header; 0 if malloc has allocated the block */
} Header;
_Static_assert(sizeof(Header) <= ALIGNMENT, "a header keeps the block aligned");

struct MemoryPool {
  pthread_mutex_t lock; /* needed because threads of one loop may allocate in the same pool */
  Header ends;          /* head of the ring of the pool's blocks */
  int64_t count;
};

/* An active call of memory_try. */
typedef struct Guard {
  jmp_buf back;
  MemoryPool* pool;
  struct Guard* outer;
} Guard;

/* Innermost memory_try of this thread. NULL if there is none; a failure then ends the process. */
static _Thread_local Guard* guard;

/* Counters for tests; results do not depend on them. allocations_left is the number of allocations within memory_try
 * until all allocations fail. 0 means that none fails. */
static atomic_uint_fast64_t allocation_count, held, peak;
static atomic_int_fast64_t allocations_left;

/* Smallest size of blocks that have a mapping of their own [bytes]. Results do not depend on this size. */
static atomic_size_t own_pages = HUGE_PAGE;

void memory_return_freed_blocks(void) { atomic_store_explicit(&own_pages, OWN_PAGES, memory_order_relaxed); }

void memory_report_exhausted(size_t size) {
  if (guard) longjmp(guard->back, 1);
  fprintf(stderr, "sdrs: error: out of memory (%zu bytes requested)\n", size);
  exit(EXIT_IO);
}

/* ---------------------------------------------------------------- bytes */

static size_t size_of(Header* block) { return block->mapped > 0 ? block->mapped : malloc_usable_size(block); }

static void count_bytes(Header* block) {
  uint_fast64_t size = size_of(block);
  uint_fast64_t now = atomic_fetch_add_explicit(&held, size, memory_order_relaxed) + size;
  uint_fast64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
  while (now > most &&
         !atomic_compare_exchange_weak_explicit(&peak, &most, now, memory_order_relaxed, memory_order_relaxed)) {}
}

static void uncount_bytes(Header* block) { atomic_fetch_sub_explicit(&held, size_of(block), memory_order_relaxed); }

static void release(Header* block) {
  uncount_bytes(block);
  if (block->mapped > 0)
    (void)munmap(block, block->mapped);
  else
    free(block);
}

/* ---------------------------------------------------------------- large blocks with their own mappings
 * Mapped pages are zero without being written, use no memory before the first write, and grow without copying. */

static size_t whole_pages(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (size + page - 1) / page * page;
}

/* Maps `length` bytes (whole pages). The mapping is aligned to a huge page if it is at least that large. Returns NULL
 * on failure. */
static void* map_pages(size_t length, int protection) {
  size_t all = length < HUGE_PAGE ? length : length + HUGE_PAGE;
  char* from = mmap(NULL, all, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (from == MAP_FAILED) return NULL;
  if (all == length) return from;
  size_t before = (HUGE_PAGE - (uintptr_t)from % HUGE_PAGE) % HUGE_PAGE, after = all - before - length;
  if (before > 0) (void)munmap(from, before);
  if (after > 0) (void)munmap(from + before + length, after);
  return from + before;
}

/* Asks the system for huge pages. Ignores a failure. */
static void wish_for_huge_pages(void* block, size_t length) {
  if (length >= HUGE_PAGE) (void)madvise(block, length, MADV_HUGEPAGE);
}

static Header* map_block(size_t size) {
  size_t length = whole_pages(size);
  Header* block = map_pages(length, PROT_READ | PROT_WRITE);
  if (!block) return NULL;
  wish_for_huge_pages(block, length);
  block->mapped = length;
  return block;
}

/* Moves a mapping to a larger one and returns the header of the moved block. On failure returns NULL and leaves the
 * block unchanged. */
static Header* grow_block(Header* block, size_t size) {
  size_t length = whole_pages(size);
  void* room = map_pages(length, PROT_NONE);
  if (!room) return NULL;
  Header* moved = mremap(block, block->mapped, length, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (moved == MAP_FAILED) {
    (void)munmap(room, length);
    return NULL;
  }
  wish_for_huge_pages(moved, length);
  moved->mapped = length;
  return moved;
}

/* ---------------------------------------------------------------- pools */

MemoryPool* memory_pool_create(void) {
  MemoryPool* pool = calloc(1, sizeof(MemoryPool));
  if (!pool) return NULL;
  if (pthread_mutex_init(&pool->lock, NULL) != 0) {
    free(pool);
    return NULL;
  }
  pool->ends.before = pool->ends.after = &pool->ends;
  return pool;
}

void memory_pool_destroy(MemoryPool* pool) {
  if (!pool) return;
  for (Header* block = pool->ends.after; block != &pool->ends;) {
    Header* next = block->after;
    release(block);
    block = next;
  }
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

int64_t memory_pool_block_count(const MemoryPool* pool) {
  assert(pool);
  return pool->count;
}

static void pool_add(MemoryPool* pool, Header* block) {
  pthread_mutex_lock(&pool->lock);
  *block = (Header){pool, &pool->ends, pool->ends.after, block->mapped};
  block->after->before = pool->ends.after = block;
  pool->count++;
  pthread_mutex_unlock(&pool->lock);
}

static void pool_remove(Header* block) {
  MemoryPool* pool = block->pool;
  pthread_mutex_lock(&pool->lock);
  block->before->after = block->after;
  block->after->before = block->before;
  pool->count--;
  pthread_mutex_unlock(&pool->lock);
}

bool memory_try(MemoryPool* pool, MemoryBody body, void* context) {
  Guard here = {.pool = pool, .outer = guard};
  guard = &here;
  if (setjmp(here.back) != 0) {
    guard = here.outer;
    return false;
  }
  body(context);
  guard = here.outer;
  return true;
}

MemoryPool* memory_current_pool(void) { return guard ? guard->pool : NULL; }

/* ---------------------------------------------------------------- blocks */

static Header* header_of(void* pointer) { return (Header*)((char*)pointer - ALIGNMENT); }

void memory_fail_allocation_at(int64_t allocation) {
  atomic_store(&allocations_left, allocation > 0 ? allocation + 1 : 0);
}

/* Counts allocations until the failure that a test has requested. Returns true if this allocation must fail. */
static bool test_wants_failure(void) {
  if (!guard || atomic_load_explicit(&allocations_left, memory_order_relaxed) == 0) return false;
  int_fast64_t left = atomic_load(&allocations_left);
  while (left > 1 && !atomic_compare_exchange_weak(&allocations_left, &left, left - 1)) continue;
  return left <= 2;
}

/* Allocates `size` bytes, a multiple of ALIGNMENT. Sets only the member `mapped` of the header. Returns NULL on
 * failure. */
static Header* take(size_t size) {
  if (MAPS_LARGE && size >= atomic_load_explicit(&own_pages, memory_order_relaxed)) return map_block(size);
  Header* block = aligned_alloc(ALIGNMENT, size);
  if (block) block->mapped = 0;
  return block;
}

/* Returns the size of a block including its header, rounded up to ALIGNMENT. Also counts the allocation. */
static size_t whole_size(size_t size) {
  atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
  if (size > PTRDIFF_MAX - 2 * ALIGNMENT)
    memory_report_exhausted(size); /* also rejects a negative count that was converted to a size */
  return ALIGNMENT + (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

/* Adds a new or moved block to the current pool and to the counters. Returns the block's data. */
static char* enter(Header* block) {
  count_bytes(block);
  *block = (Header){.mapped = block->mapped};
  if (guard) pool_add(guard->pool, block);
  if (!block->pool)
    ASAN_POISON_MEMORY_REGION(block, ALIGNMENT); /* makes AddressSanitizer detect accesses before the block */
  return (char*)block + ALIGNMENT;
}

/* Returns an aligned block, never NULL, also for size 0. The block is zeroed only if it is mapped. */
static char* allocate(size_t size) {
  size_t whole = whole_size(size);
  Header* block = test_wants_failure() ? NULL : take(whole);
  if (!block) memory_report_exhausted(size);
  return enter(block);
}

void memory_free(void* pointer) {
  if (!pointer) return;
  Header* block = header_of(pointer);
  ASAN_UNPOISON_MEMORY_REGION(block, ALIGNMENT);
  if (block->pool) pool_remove(block);
  release(block);
}

static bool is_mapped(void* pointer) { return MAPS_LARGE && header_of(pointer)->mapped > 0; }

void* memory_alloc(size_t size) {
  char* pointer = allocate(size);
  return is_mapped(pointer) ? pointer : memset(pointer, 0, size);
}

/* Grows a mapped block and returns its data. If this fails, returns NULL and leaves the old block unchanged. */
static char* grown_in_place(void* old, size_t old_size, size_t size) {
  Header* block = header_of(old);
  size_t before = block->mapped - ALIGNMENT;
  if (size < before || test_wants_failure()) return NULL;
  size_t whole = whole_size(size);
  MemoryPool* pool = block->pool;
  if (pool) pool_remove(block);
  uncount_bytes(block);
  Header* moved = grow_block(block, whole);
  if (!moved) {
    count_bytes(block);
    if (pool) pool_add(pool, block);
    return NULL;
  }
  char* pointer = enter(moved);
  memset(pointer + old_size, 0, before - old_size); /* clears old content after old_size */
  return pointer;
}

void* memory_resize(void* old, size_t old_size, size_t size) {
  char* pointer = old && is_mapped(old) ? grown_in_place(old, old_size, size) : NULL;
  if (pointer) return pointer;
  pointer = allocate(size);
  size_t kept = old ? (old_size < size ? old_size : size) : 0;
  if (kept > 0) memcpy(pointer, old, kept);
  if (!is_mapped(pointer)) memset(pointer + kept, 0, size - kept);
  memory_free(old);
  return pointer;
}

void* memory_grow_array(void* array, size_t element, int count, int* capacity) {
  assert(count >= 0 && capacity);
  if (count < *capacity) return array;
  int wanted = *capacity == 0 ? 64 : *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
  array = memory_resize(array, element * (size_t)*capacity, element * (size_t)wanted);
  *capacity = wanted;
  return array;
}

char* memory_copy_text(const char* text) {
  assert(text);
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size), text, size);
}

uint64_t memory_allocation_count(void) { return atomic_load_explicit(&allocation_count, memory_order_relaxed); }

uint64_t memory_bytes_in_use(void) { return atomic_load_explicit(&held, memory_order_relaxed); }

uint64_t memory_peak_bytes(void) { return atomic_load_explicit(&peak, memory_order_relaxed); }

void memory_reset_peak(void) { atomic_store_explicit(&peak, memory_bytes_in_use(), memory_order_relaxed); }
