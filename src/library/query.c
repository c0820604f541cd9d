/* Distance and contact queries for pairs of bodies, without a scene. */
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "library/library.h"

/* Limits of `sdrs query`: largest coordinate [m], and smallest range of the contact potential [m]. */
#define COORDINATE_MAX 1e9
#define SUPPORT_MIN 1e-12

typedef struct {
  const double *a, *b;
  size_t a_count, b_count;
  double support;
  sdrs_distance* out;
  /* receive the derivatives of the potential with respect to the points of both hulls; NULL if not requested */
  double *grad_a, *grad_b;
} HullPoints;

static bool are_points_valid(const double* points, size_t count) {
  if (!points || count == 0 || count > INT32_MAX) return false;
  for (size_t k = 0; k < 3 * count; k++)
    if (!(fabs(points[k]) <= COORDINATE_MAX)) return false;
  return true;
}

static void store_vector(Vec3 v, double* out) { memcpy(out, (const double[]){v.x, v.y, v.z}, 3 * sizeof(double)); }

static void compute_answer(void* context) {
  const HullPoints* p = context;
  ContactQuery found = {0};
  Vec3 *grad_a = MEMORY_NEW(Vec3, p->a_count), *grad_b = MEMORY_NEW(Vec3, p->b_count);
  if (contact_query((const Vec3*)p->a, (int)p->a_count, (const Vec3*)p->b, (int)p->b_count, p->support, &found, grad_a,
                    grad_b)) {
    p->out->distance = found.distance;
    p->out->potential = found.potential;
    store_vector(found.witness_a, p->out->witness_a);
    store_vector(found.witness_b, p->out->witness_b);
    memcpy(p->out->plane, found.plane, sizeof(found.plane));
  }
  if (p->grad_a) memcpy(p->grad_a, grad_a, sizeof(Vec3) * p->a_count);
  if (p->grad_b) memcpy(p->grad_b, grad_b, sizeof(Vec3) * p->b_count);
}

// NOLINTBEGIN(readability-non-const-parameter): answer() writes there
sdrs_status sdrs_query(const double* a, size_t a_count, const double* b, size_t b_count, double support,
                       sdrs_distance* out, double* grad_a, double* grad_b) {
  if (!out || (!a && a_count > 0) || (!b && b_count > 0)) return SDRS_USAGE;
  if (!are_points_valid(a, a_count) || !are_points_valid(b, b_count) ||
      !(support >= SUPPORT_MIN && support <= COORDINATE_MAX))
    return SDRS_BAD_INPUT;
  sdrs_distance found = {0};
  if (!library_copy_result(out, &found, sizeof(found))) return SDRS_USAGE;
  HullPoints pair = {a, b, a_count, b_count, support, &found, grad_a, grad_b};
  MemoryPool* pool = memory_pool_create();
  bool done = pool && library_try(pool, compute_answer, &pair);
  memory_pool_destroy(pool);
  if (done) (void)library_copy_result(out, &found, sizeof(found));
  return done ? SDRS_OK : SDRS_NO_MEMORY;
}
// NOLINTEND(readability-non-const-parameter)

/* ---------------------------------------------------------------- as text */

typedef struct {
  const char *text, *path;
  Status status;
  Text out; /* answers, or error text */
} Questions;

static void answer_questions(Questions* q, const QueryList* list) {
  QueryMemory memory = query_memory_create();
  for (int k = 0; k < list->count; k++) query_answer(&q->out, list, &list->items[k], &memory);
  query_memory_free(&memory);
}

static void read_and_answer(void* context) {
  Questions* q = context;
  QueryList list;
  Diagnostics diagnostics = {0};
  q->status = query_parse(&list, q->path, q->text, strlen(q->text), &diagnostics);
  if (q->status == STATUS_OK)
    answer_questions(q, &list);
  else
    library_add_errors(&q->out, &diagnostics);
  query_free(&list);
  diagnostics_free(&diagnostics);
}

sdrs_status sdrs_query_text(const char* questions, const char* path, char** out) {
  if (out) *out = NULL;
  if (!out || !questions) return SDRS_USAGE;
  Questions q = {.text = questions, .path = path ? path : "questions"};
  MemoryPool* pool = memory_pool_create();
  if (pool && library_try(pool, read_and_answer, &q)) *out = strdup(q.out.length > 0 ? q.out.data : "");
  memory_pool_destroy(pool);
  return *out ? library_status(q.status) : SDRS_NO_MEMORY;
}

void sdrs_free_text(char* text) { free(text); }
