/* Queries of shapes that are created once and queried at arrays of poses. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "library/library.h"

struct sdrs_shapes {
  MemoryPool* pool; /* memory of `list`, of bodies derived from the shapes, and of `error` */
  QueryList list;
  Text error;
  bool broken; /* true: memory ran out, and the contents of the pool are undefined */
};

typedef struct {
  sdrs_shapes* shapes;
  const char *text, *path;
  const sdrs_pairs* pairs;
  size_t* columns; /* NULL: the call writes answers */
  sdrs_status status;
} ShapesCall;

static void finish_call(ShapesCall* call, Status status, Diagnostics* diagnostics) {
  assert(call->shapes);
  call->status = library_status(status);
  if (status != STATUS_OK) library_add_errors(&call->shapes->error, diagnostics);
  diagnostics_free(diagnostics);
}

static void read_shapes(void* context) {
  ShapesCall* call = context;
  Diagnostics diagnostics = {0};
  QueryList* list = &call->shapes->list;
  Status status = query_shapes_parse(list, call->path, call->text, strlen(call->text), &diagnostics);
  if (status != STATUS_OK) query_free(list);
  finish_call(call, status, &diagnostics);
}

sdrs_status sdrs_shapes_new(sdrs_shapes** out, const char* shapes, const char* path) {
  if (out) *out = NULL;
  if (!out || !shapes) return SDRS_USAGE;
  sdrs_shapes* created = calloc(1, sizeof *created);
  if (!created) return SDRS_NO_MEMORY;
  created->pool = memory_pool_create();
  ShapesCall call = {.shapes = created, .text = shapes, .path = path ? path : "shapes"};
  if (!created->pool || !library_try(created->pool, read_shapes, &call)) {
    sdrs_shapes_free(created);
    return SDRS_NO_MEMORY;
  }
  *out = created;
  return call.status;
}

void sdrs_shapes_free(sdrs_shapes* shapes) {
  if (!shapes) return;
  memory_pool_destroy(shapes->pool);
  free(shapes);
}

const char* sdrs_shapes_error(const sdrs_shapes* shapes) {
  if (!shapes || shapes->broken) return "out of memory";
  return shapes->error.length > 0 ? shapes->error.data : "";
}

int sdrs_shapes_count(const sdrs_shapes* shapes) { return shapes ? shapes->list.body_count : 0; }

/* ---------------------------------------------------------------- queries */

/* Writes the number of columns of each answer to call->columns. If call->columns is NULL, writes the answers to
 * pairs->out. */
static void run_query(void* context) {
  ShapesCall* call = context;
  const sdrs_pairs* pairs = call->pairs;
  QueryArrays arrays = {pairs->method,
                        pairs->options,
                        pairs->answers,
                        pairs->answer_count,
                        (int64_t)pairs->count,
                        pairs->shapes,
                        {pairs->poses_a, pairs->poses_b}};
  Diagnostics diagnostics = {0};
  QueryPlan plan;
  call->shapes->error.length = 0;
  Status status = query_plan_create(&plan, &call->shapes->list, &arrays, &diagnostics);
  bool fits = pairs->stride >= (size_t)plan.columns;
  if (status == STATUS_OK && call->columns)
    for (int k = 0; k < pairs->answer_count; k++) call->columns[k] = (size_t)plan.widths[k];
  else if (status == STATUS_OK && fits)
    status = query_arrays_answer(&call->shapes->list, &arrays, &plan, pairs->out, (int64_t)pairs->stride,
                                 pairs->threads, &diagnostics);
  query_plan_free(&plan);
  finish_call(call, status, &diagnostics);
  if (status == STATUS_OK && !call->columns && !fits) {
    call->status = SDRS_USAGE;
    text_add(&call->shapes->error, "stride %zu is shorter than a row of %d numbers: give at least %d", pairs->stride,
             plan.columns, plan.columns);
  }
}

// NOLINTNEXTLINE(readability-non-const-parameter): work() writes there
static sdrs_status check_and_run(sdrs_shapes* shapes, const sdrs_pairs* given, size_t* columns) {
  sdrs_pairs pairs;
  if (!shapes || !library_copy_argument(&pairs, sizeof(pairs), given)) return SDRS_USAGE;
  if (!pairs.method || pairs.answer_count < 1 || !pairs.answers || pairs.threads < 0) return SDRS_USAGE;
  for (int k = 0; k < pairs.answer_count; k++)
    if (!pairs.answers[k]) return SDRS_USAGE;
  if (pairs.count > 0 && !pairs.shapes) return SDRS_USAGE;
  if (pairs.count > 0 && !columns && (!pairs.poses_a || !pairs.poses_b || !pairs.out)) return SDRS_USAGE;
  if (shapes->broken) return SDRS_NO_MEMORY;
  ShapesCall call = {.shapes = shapes, .pairs = &pairs, .columns = columns};
  shapes->broken = !library_try(shapes->pool, run_query, &call);
  return shapes->broken ? SDRS_NO_MEMORY : call.status;
}

sdrs_status sdrs_shapes_layout(sdrs_shapes* shapes, const sdrs_pairs* pairs, size_t* columns) {
  return columns ? check_and_run(shapes, pairs, columns) : SDRS_USAGE;
}

sdrs_status sdrs_shapes_query(sdrs_shapes* shapes, const sdrs_pairs* pairs) {
  return check_and_run(shapes, pairs, NULL);
}
