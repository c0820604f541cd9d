/* Memory allocation with pools. Every block has a header that names its pool. If an allocation fails within memory_try,
 * control returns to memory_try. Destroying the pool then frees all blocks that were allocated since. */
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
/* Size of a huge page [bytes]. Large arrays use huge pages. With small pages, loops that read little of each element
 * would spend most time on address translation (TLB misses). */
#define HUGE_PAGE ((size_t)2 << 20)
/* Smallest size of mapped blocks after memory_return_freed_blocks [bytes]. This size is not the default, because arrays
 * that start at the same offset in a page conflict in the cache. */
#define MAPPED_MIN_LOW ((size_t)128 << 10)

/* Header in the ALIGNMENT bytes before a block. */
typedef struct Header {
  MemoryPool* pool; /* NULL: the block has no pool, and `before` and `after` are not used */
  struct Header *before, *after;
  size_t
      mapped; /* size of the memory mapping of this block, header included; 0: malloc has allocated the block [bytes] */
} Header;
_Static_assert(sizeof(Header) <= ALIGNMENT, "a header keeps the block aligned");

struct MemoryPool {
  pthread_mutex_t lock; /* threads of one parallel loop allocate in the same pool */
  Header ring;          /* head of the doubly linked ring of the pool's blocks */
  int64_t count;
};

/* An active call of memory_try, with the enclosing call in the same thread. */
typedef struct TryFrame {
  jmp_buf jump;
  MemoryPool* pool;
  struct TryFrame* outer;
} TryFrame;

/* Innermost active memory_try of this thread. If NULL, a failed allocation ends the process. */
static _Thread_local TryFrame* innermost_try;

/* Statistics over all threads: numbers of allocations, of allocated bytes and its maximum. allocations_left: number of
 * allocations until memory_fail_allocation_at makes one fail. The results of simulations do not depend on these
 * numbers. */
static atomic_uint_fast64_t allocation_count, bytes_in_use, peak;
static atomic_int_fast64_t allocations_left;

/* Blocks of at least this size have a memory mapping of their own [bytes]. Results do not depend on this size. */
static atomic_size_t mapped_min = HUGE_PAGE;

void memory_return_freed_blocks(void) { atomic_store_explicit(&mapped_min, MAPPED_MIN_LOW, memory_order_relaxed); }

void memory_report_exhausted(size_t size) {
  if (innermost_try) longjmp(innermost_try->jump, 1);
  fprintf(stderr, "sdrs: error: out of memory (%zu bytes requested)\n", size);
  exit(EXIT_IO);
}

static size_t allocated_size(Header* block) { return block->mapped > 0 ? block->mapped : malloc_usable_size(block); }

static void add_to_statistics(Header* block) {
  uint_fast64_t size = allocated_size(block);
  uint_fast64_t now = atomic_fetch_add_explicit(&bytes_in_use, size, memory_order_relaxed) + size;
  uint_fast64_t largest = atomic_load_explicit(&peak, memory_order_relaxed);
  while (now > largest &&
         !atomic_compare_exchange_weak_explicit(&peak, &largest, now, memory_order_relaxed, memory_order_relaxed)) {}
}

static void subtract_from_statistics(Header* block) {
  atomic_fetch_sub_explicit(&bytes_in_use, allocated_size(block), memory_order_relaxed);
}

static void free_block(Header* block) {
  subtract_from_statistics(block);
  if (block->mapped > 0)
    (void)munmap(block, block->mapped);
  else
    free(block);
}

/* ---------------------------------------------------------------- large blocks with their own mappings
 * Mapped pages are zero without being written, use no memory before the first write, and grow without copying. */

static size_t round_up_to_pages(size_t size) {
  assert(size > 0);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (size + page - 1) / page * page;
}

/* Maps `length` bytes, a multiple of the page size. Mappings of a huge page and more are aligned to a huge page.
 * Returns NULL on failure. */
static void* map_pages(size_t length, int protection) {
  assert(length > 0);
  size_t all = length < HUGE_PAGE ? length : length + HUGE_PAGE;
  char* from = mmap(NULL, all, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (from == MAP_FAILED) return NULL;
  if (all == length) return from;
  size_t before = (HUGE_PAGE - (uintptr_t)from % HUGE_PAGE) % HUGE_PAGE, after = all - before - length;
  if (before > 0) (void)munmap(from, before);
  if (after > 0) (void)munmap(from + before + length, after);
  return from + before;
}

/* Asks the system for huge pages. If the system refuses, the block is slower, but valid. */
static void advise_huge_pages(void* block, size_t length) {
  if (length >= HUGE_PAGE) (void)madvise(block, length, MADV_HUGEPAGE);
}

static Header* map_block(size_t size) {
  size_t length = round_up_to_pages(size);
  Header* block = map_pages(length, PROT_READ | PROT_WRITE);
  if (!block) return NULL;
  advise_huge_pages(block, length);
  block->mapped = length;
  return block;
}

/* Moves a mapped block to a larger mapping without copying. size: size of the block with its header [bytes]. Returns
 * the header of the moved block. On failure returns NULL and leaves the block unchanged. */
static Header* remap_block(Header* block, size_t size) {
  size_t length = round_up_to_pages(size);
  void* room = map_pages(length, PROT_NONE);
  if (!room) return NULL;
  Header* moved = mremap(block, block->mapped, length, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (moved == MAP_FAILED) {
    (void)munmap(room, length);
    return NULL;
  }
  advise_huge_pages(moved, length);
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
  pool->ring.before = pool->ring.after = &pool->ring;
  return pool;
}

void memory_pool_destroy(MemoryPool* pool) {
  if (!pool) return;
  for (Header* block = pool->ring.after; block != &pool->ring;) {
    Header* next = block->after;
    free_block(block);
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
  *block = (Header){pool, &pool->ring, pool->ring.after, block->mapped};
  block->after->before = pool->ring.after = block;
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
  assert(body);
  TryFrame frame = {.pool = pool, .outer = innermost_try};
  innermost_try = &frame;
  if (setjmp(frame.jump) != 0) {
    innermost_try = frame.outer;
    return false;
  }
  body(context);
  innermost_try = frame.outer;
  return true;
}

MemoryPool* memory_current_pool(void) { return innermost_try ? innermost_try->pool : NULL; }

/* ---------------------------------------------------------------- blocks */

static Header* header_of(void* pointer) { return (Header*)((char*)pointer - ALIGNMENT); }

void memory_fail_allocation_at(int64_t allocation) {
  assert(allocation >= 0);
  atomic_store(&allocations_left, allocation > 0 ? allocation + 1 : 0);
}

/* Counts down to the allocation that memory_fail_allocation_at makes fail. Returns true if the present allocation must
 * fail. */
static bool must_fail_for_test(void) {
  if (!innermost_try || atomic_load_explicit(&allocations_left, memory_order_relaxed) == 0) return false;
  int_fast64_t left = atomic_load(&allocations_left);
  while (left > 1 && !atomic_compare_exchange_weak(&allocations_left, &left, left - 1)) continue;
  return left <= 2;
}

/* Allocates a block of `size` bytes with its header, a multiple of ALIGNMENT. Sets only the member `mapped` of the
 * header. Returns NULL on failure. */
static Header* allocate_block(size_t size) {
  if (MAPS_LARGE && size >= atomic_load_explicit(&mapped_min, memory_order_relaxed)) return map_block(size);
  Header* block = aligned_alloc(ALIGNMENT, size);
  if (block) block->mapped = 0;
  return block;
}

/* Returns the size of a block with `size` bytes of data and its header, rounded up to ALIGNMENT. Also counts the
 * allocation. */
static size_t block_size(size_t size) {
  atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
  if (size > PTRDIFF_MAX - 2 * ALIGNMENT)
    memory_report_exhausted(size); /* a negative count, converted to size_t, ends here */
  return ALIGNMENT + (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
}

/* Adds a new or moved block to the current pool and to the statistics. Returns its data. */
static char* register_block(Header* block) {
  add_to_statistics(block);
  *block = (Header){.mapped = block->mapped};
  if (innermost_try) pool_add(innermost_try->pool, block);
  if (!block->pool)
    ASAN_POISON_MEMORY_REGION(block, ALIGNMENT); /* AddressSanitizer then detects accesses before the block */
  return (char*)block + ALIGNMENT;
}

/* Returns a block that is zeroed only if it is mapped. Never returns NULL, also for size 0. */
static char* allocate(size_t size) {
  size_t whole = block_size(size);
  Header* block = must_fail_for_test() ? NULL : allocate_block(whole);
  if (!block) memory_report_exhausted(size);
  return register_block(block);
}

void memory_free(void* pointer) {
  if (!pointer) return;
  Header* block = header_of(pointer);
  ASAN_UNPOISON_MEMORY_REGION(block, ALIGNMENT);
  if (block->pool) pool_remove(block);
  free_block(block);
}

static bool is_mapped(void* pointer) { return MAPS_LARGE && header_of(pointer)->mapped > 0; }

void* memory_alloc(size_t size) {
  char* pointer = allocate(size);
  return is_mapped(pointer) ? pointer : memset(pointer, 0, size);
}

/* Grows a mapped block and returns its data. If this fails or size is smaller than before, returns NULL and leaves the
 * block unchanged. */
static char* resize_mapped(void* old, size_t old_size, size_t size) {
  assert(header_of(old)->mapped > 0);
  Header* block = header_of(old);
  size_t before = block->mapped - ALIGNMENT;
  if (size < before || must_fail_for_test()) return NULL;
  size_t whole = block_size(size);
  MemoryPool* pool = block->pool;
  if (pool) pool_remove(block);
  subtract_from_statistics(block);
  Header* moved = remap_block(block, whole);
  if (!moved) {
    add_to_statistics(block);
    if (pool) pool_add(pool, block);
    return NULL;
  }
  char* pointer = register_block(moved);
  memset(pointer + old_size, 0, before - old_size); /* bytes after old_size must be zero */
  return pointer;
}

void* memory_resize(void* old, size_t old_size, size_t size) {
  assert(old || old_size == 0);
  char* pointer = old && is_mapped(old) ? resize_mapped(old, old_size, size) : NULL;
  if (pointer) return pointer;
  pointer = allocate(size);
  size_t kept = old ? (old_size < size ? old_size : size) : 0;
  if (kept > 0) memcpy(pointer, old, kept);
  if (!is_mapped(pointer)) memset(pointer + kept, 0, size - kept);
  memory_free(old);
  return pointer;
}

void* memory_grow_array(void* array, size_t element_size, int count, int* capacity) {
  assert(element_size > 0 && count >= 0 && capacity && count <= *capacity);
  if (count < *capacity) return array;
  int enlarged = *capacity == 0 ? 64 : *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
  array = memory_resize(array, element_size * (size_t)*capacity, element_size * (size_t)enlarged);
  *capacity = enlarged;
  return array;
}

char* memory_copy_text(const char* text) {
  assert(text);
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size), text, size);
}

uint64_t memory_allocation_count(void) { return atomic_load_explicit(&allocation_count, memory_order_relaxed); }

uint64_t memory_bytes_in_use(void) { return atomic_load_explicit(&bytes_in_use, memory_order_relaxed); }

uint64_t memory_peak_bytes(void) { return atomic_load_explicit(&peak, memory_order_relaxed); }

void memory_reset_peak(void) { atomic_store_explicit(&peak, memory_bytes_in_use(), memory_order_relaxed); }
