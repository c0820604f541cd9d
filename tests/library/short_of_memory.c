/* short_of_memory SCENE [APART]: the n-th allocation of the whole process fails, and in a second round all after it
 * too, for every n of a use of the library, with APART one in so many of the late ones: that it makes itself and that
 * others make for it. Each try is a process of its own, which must end in order, with SDRS_OK or with SDRS_NO_MEMORY.
 * glibc only: malloc here goes before malloc there. */
#include <errno.h>
#include <limits.h>
#include <sdrs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// NOLINTBEGIN(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name): the C library's own
// names
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

// NOLINTEND(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)

static atomic_int armed;
static atomic_long allocations, fail_at;
static int and_all_after;

static int refused(void) {
  if (!atomic_load(&armed)) return 0;
  long n = atomic_fetch_add(&allocations, 1) + 1, at = atomic_load(&fail_at);
  if (at == 0 || (and_all_after ? n < at : n != at)) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* calloc(size_t nmemb, size_t size) { return refused() ? NULL : __libc_calloc(nmemb, size); }
void* realloc(void* ptr, size_t size) { return refused() ? NULL : __libc_realloc(ptr, size); }
void* aligned_alloc(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }

static sdrs_status ask(void) {
  static const char questions[] =
      "{\"method\": \"growth\", \"derivatives\": true, \"a\": {\"type\": \"superellipsoid\", \"size\": [1, 0.5, 0.5], "
      "\"exponent\": 4}, \"b\": {\"type\": \"superellipsoid\", \"size\": [1, 1, 1], \"exponent\": 1, \"position\": "
      "[1, 3, 1]}}\n{\"a\": [[0, 0, 0], [1, 0, 0]], \"b\": [[0, 0, 0.01]], \"support\": 0.02}\n";
  char* out;
  sdrs_status status = sdrs_query_text(questions, NULL, &out);
  sdrs_free_text(out);
  return status;
}

static sdrs_status ask_arrays(void) {
  static const char* const answers[] = {"distance", "d_distance_a"};
  static const int which[] = {0, 1, 1, 0};
  static const double poses[2][14] = {{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
                                      {3, 1, 1, 1, 0, 0, 0, 0, 3, 1, 1, 0, 0, 0}};
  double out[2][2000];
  sdrs_pairs pairs = SDRS_INIT(sdrs_pairs);
  sdrs_shapes* shapes;
  sdrs_status status = sdrs_shapes_new(
      &shapes, "[{\"type\": \"box\", \"size\": [1, 1, 1]}, {\"type\": \"box\", \"size\": [1, 2, 1]}]", NULL);
  pairs.method = "manifold";
  pairs.options = "{\"edges\": 2}";
  pairs.answers = answers;
  pairs.answer_count = 2;
  pairs.count = 2;
  pairs.shapes = which;
  pairs.poses_a = poses[0];
  pairs.poses_b = poses[1];
  pairs.out = out[0];
  pairs.stride = 2000;
  pairs.threads = 2;
  if (status == SDRS_OK) status = sdrs_shapes_query(shapes, &pairs);
  sdrs_shapes_free(shapes);
  return status;
}

static sdrs_status use(const char* path) {
  sdrs* s;
  sdrs_array slope = SDRS_INIT(sdrs_array);
  double loss;
  sdrs_info info = SDRS_INIT(sdrs_info);
  sdrs_status status = sdrs_load(&s, path, NULL);
  if (status == SDRS_OK) status = sdrs_step(s, 2);
  if (status == SDRS_OK) status = sdrs_run(s, 0);
  if (status == SDRS_OK) status = sdrs_describe(s, &info);
  if (status == SDRS_OK) status = info.design ? sdrs_loss(s, NULL, NULL, &loss) : sdrs_gradient(s, NULL, 0);
  if (status == SDRS_OK) status = sdrs_gradient_view(s, SDRS_VERTICES, &slope);
  if (status == SDRS_OK) status = ask();
  if (status == SDRS_OK) status = ask_arrays();
  atomic_store(&armed, 0);
  sdrs_free(s);
  return status;
}

static int try_once(const char* path, long n) {
  pid_t child = fork();
  if (child == 0) {
    atomic_store(&fail_at, n);
    atomic_store(&armed, 1);
    _exit((int)use(path));
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int count, char** words) {
  if (count < 2) return 2;
  atomic_store(&armed, 1);
  if (use(words[1]) != SDRS_OK) return 2;
  long all = atomic_load(&allocations), told = 0, apart = count > 2 ? strtol(words[2], NULL, 10) : LONG_MAX;
  atomic_store(&allocations, 0);
  for (and_all_after = 0; and_all_after < 2; and_all_after++)
    for (long n = 1; n <= all; n += 1 + n / apart) {
      int status = try_once(words[1], n);
      told += status == SDRS_NO_MEMORY;
      if (status == SDRS_OK || status == SDRS_NO_MEMORY) continue;
      printf("allocation %ld of %ld%s: %d\n", n, all, and_all_after ? " and all after it" : "", status);
      return 1;
    }
  printf("%ld failures told, of %ld allocations\n", told, all);
  return told > 100 ? 0 : 1;
}
