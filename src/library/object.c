/* Loading, sharing and freeing of objects, their errors, and the entry of every call. */
#include <assert.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "library/library.h"

#define VERSION_TEXT "0.1.0"

static const char NO_MEMORY[] = "out of memory";

const char* sdrs_version(void) { return VERSION_TEXT; }

sdrs_status library_status(Status status) {
  switch (status) {
    case STATUS_OK:
      return SDRS_OK;
    case STATUS_BAD_INPUT:
      return SDRS_BAD_INPUT;
    case STATUS_IO:
      return SDRS_IO;
    case STATUS_SOLVER:
    case STATUS_INTERRUPTED: /* the library is never interrupted */
      return SDRS_SOLVER;
    case STATUS_NO_MEMORY:
      return SDRS_NO_MEMORY;
  }
  return SDRS_USAGE;
}

/* ---------------------------------------------------------------- errors */

sdrs_status library_fail(sdrs* s, sdrs_status status, const char* format, ...) {
  assert(s && s->state && format);
  va_list arguments;
  va_start(arguments, format);
  s->state->error.length = 0;
  text_add_va_list(&s->state->error, format, arguments);
  va_end(arguments);
  return status;
}

/* diagnostics_print needs a stream, so the errors are printed to a stream in memory. */
void library_add_errors(Text* out, const Diagnostics* diagnostics) {
  char* text = NULL;
  size_t length = 0;
  Diagnostics errors = {0};
  for (int k = 0; k < diagnostics->count; k++) {
    const Diagnostic* item = &diagnostics->items[k];
    if (item->severity == SEVERITY_ERROR)
      diagnostics_add(&errors, item->severity, (SourcePosition){item->file, item->line, item->column}, "%s",
                      item->text);
  }
  FILE* stream = open_memstream(&text, &length);
  bool whole = stream != NULL;
  if (stream) {
    diagnostics_print(&errors, stream, false);
    whole = fclose(stream) == 0;
  }
  if (!whole) memory_report_exhausted(0);
  while (length > 0 && text[length - 1] == '\n') length--;
  text_add_bytes(out, text, length);
  free(text);
  diagnostics_free(&errors);
}

sdrs_status library_fail_diagnosed(sdrs* s, Status status) {
  assert(s && s->state);
  s->state->error.length = 0;
  library_add_errors(&s->state->error, &s->state->diagnostics);
  return library_status(status);
}

sdrs_status library_fail_unrecorded(sdrs* s) {
  return library_fail(s, SDRS_USAGE, "there is no recorded run: call sdrs_run (Python: run or record) first");
}

const char* sdrs_error(const sdrs* s) {
  if (!s) return NO_MEMORY;
  if (s->error) return s->error;
  return s->state && s->state->error.length > 0 ? s->state->error.data : "";
}

/* Returns a message by its index. The messages of loading come first, then the messages of the last call. Returns NULL
 * if there is none. */
static const Diagnostic* diagnostic_at(const sdrs* s, int index) {
  const Diagnostics* lists[] = {s && s->shared ? &s->shared->diagnostics : NULL,
                                s && s->state ? &s->state->diagnostics : NULL};
  for (int k = 0; k < 2; k++) {
    if (!lists[k]) continue;
    if (index >= 0 && index < lists[k]->count) return &lists[k]->items[index];
    index -= lists[k]->count;
  }
  return NULL;
}

int sdrs_diagnostic_count(const sdrs* s) {
  int count = 0;
  while (diagnostic_at(s, count)) count++;
  return count;
}

sdrs_status sdrs_diagnostic_at(const sdrs* s, int index, sdrs_diagnostic* out) {
  const Diagnostic* item = diagnostic_at(s, index);
  sdrs_diagnostic found = {0};
  if (item)
    found = (sdrs_diagnostic){sizeof(found), (int)item->severity, item->file, item->line, item->column, item->text};
  return library_copy_result(out, &found, sizeof(found)) && item ? SDRS_OK : SDRS_USAGE;
}

/* ---------------------------------------------------------------- a call */

typedef struct {
  sdrs* object;
  LibraryWork work;
  void* arguments;
  sdrs_status status;
} Call;

static void create_state(sdrs* s) {
  s->state = MEMORY_NEW(LibraryState, 1);
  if (s->shared) driven_model_create(&s->state->live, &s->shared->model);
}

static void run_call(void* context) {
  Call* call = context;
  sdrs* s = call->object;
  if (!s->state) create_state(s);
  diagnostics_free(&s->state->diagnostics);
  call->status = call->work(s, call->arguments);
}

/* Destroys the object's state by destroying its pool. The state may be inconsistent after a failed allocation. */
static void destroy_state(sdrs* s) {
  memory_pool_destroy(s->pool);
  s->pool = NULL;
  s->state = NULL;
}

bool library_try(MemoryPool* pool, void (*work)(void*), void* context) {
  assert(pool && work);
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
  bool done = memory_try(pool, work, context);
  if (before) uselocale(before);
  if (plain) freelocale(plain);
  return done;
}

static sdrs_status report_load(sdrs* s, void* arguments);

sdrs_status library_call(sdrs* s, LibraryWork work, void* arguments) {
  if (!s) return SDRS_USAGE;
  if (!s->shared && work != report_load) return SDRS_USAGE; /* loading failed; the error text stays */
  Call call = {s, work, arguments, SDRS_USAGE};
  if (!s->pool) s->pool = memory_pool_create();
  s->error = s->pool ? NULL : NO_MEMORY;
  if (!s->pool) return SDRS_NO_MEMORY;
  if (library_try(s->pool, run_call, &call)) return call.status;
  destroy_state(s);
  s->error = NO_MEMORY;
  return SDRS_NO_MEMORY;
}

/* ---------------------------------------------------------------- many objects */

/* Number of calls per parallel loop. Their statuses are on the stack. */
enum { BATCH_SIZE = 256 };

typedef struct {
  sdrs_status (*work)(const void* context, int index);
  const void* context;
  int first;
  sdrs_status* status;
} IndexedWork;

static void run_index(void* context, int index, int thread) {
  (void)thread;
  const IndexedWork* each = context;
  each->status[index] = each->work(each->context, each->first + index);
}

sdrs_status library_parallel_for(int count, int threads, sdrs_status (*work)(const void* context, int index),
                                 const void* context) {
  assert(count >= 0 && threads >= 0 && work);
  sdrs_status status[BATCH_SIZE] = {SDRS_OK}, first = SDRS_OK;
  for (int at = 0; at < count; at += BATCH_SIZE) {
    int batch = count - at < BATCH_SIZE ? count - at : BATCH_SIZE;
    IndexedWork each = {work, context, at, status};
    parallel_for(threads, batch, 2, 1, run_index, &each);
    for (int k = 0; first == SDRS_OK && k < batch; k++) first = status[k];
  }
  return first;
}

static sdrs_status report_null(sdrs* s, void* name) {
  return library_fail(s, SDRS_USAGE, "'%s' is NULL", (const char*)name);
}

sdrs_status library_report_null(sdrs* s, const char* name) { return library_call(s, report_null, (void*)name); }

double* library_buffer(sdrs* s, int kind, sdrs_block block, size_t count) {
  assert(kind >= 0 && kind < BUFFER_KINDS);
  double** buffer = &s->state->buffer[kind][block];
  memory_free(*buffer);
  *buffer = NULL; /* MEMORY_NEW does not return if memory runs out */
  *buffer = MEMORY_NEW(double, count);
  return *buffer;
}

/* ---------------------------------------------------------------- loading */

typedef struct {
  Shared* shared;
  const char *path, *text; /* text: NULL if the file `path` is read */
  const SceneOverride* overrides;
  int override_count;
  bool options_are_valid; /* true: the caller's sdrs_options have a valid size */
  Status status;
} Loading;

static bool is_json(const char* path) {
  size_t length = strlen(path);
  return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

static Status report_error(Loading* l, const char* path, const char* format, int value) {
  diagnostics_add(&l->shared->diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, format, value);
  return STATUS_BAD_INPUT;
}

static Status read_scene(Loading* l) {
  Shared* shared = l->shared;
  Scene* scene = &shared->own_scene;
  if (!l->text) return scene_load(scene, l->path, l->overrides, l->override_count, &shared->diagnostics);
  return scene_parse(scene, l->path, l->text, strlen(l->text), is_json(l->path), l->overrides, l->override_count,
                     &shared->diagnostics);
}

static Status read_task(Loading* l) {
  Shared* shared = l->shared;
  Task* task = &shared->task;
  Status status = l->text ? task_parse(task, l->path, l->text, strlen(l->text), is_json(l->path), l->overrides,
                                       l->override_count, &shared->diagnostics)
                          : task_load(task, l->path, l->overrides, l->override_count, &shared->diagnostics);
  if (status != STATUS_OK) return status;
  if (shared->scenario < 0 || shared->scenario >= task->scenario_count)
    return report_error(l, l->path, "the task has no scenario %d: scenarios are numbered from 0", shared->scenario);
  OptimizationOptions options = {.threads = shared->threads};
  status = optimization_create(&shared->optimization, task, &options, &shared->diagnostics);
  return status;
}

static void store_design(Shared* shared) {
  assert(shared->optimization);
  int count = optimization_variable_count(shared->optimization);
  shared->design = MEMORY_NEW(double, count);
  for (int k = 0; k < count; k++) shared->design[k] = optimization_variable(shared->optimization, k).current;
}

static Status read_all(Loading* l) {
  Shared* shared = l->shared;
  if (!l->options_are_valid)
    return report_error(
        l, l->path, "'size' of sdrs_options is not set (%d): initialise the structure with SDRS_INIT(sdrs_options)", 0);
  if (shared->threads < 0) return report_error(l, l->path, "threads must be 0 or more, got %d", shared->threads);
  int available = parallel_create_threads(shared->threads);
  if (available < shared->threads)
    return report_error(
        l, l->path,
        "cannot create all threads: lower 'threads' to %d, which the system allows, or raise the limit of the system",
        available);
  shared->is_task =
      l->text ? task_recognise_text(l->path, l->text, strlen(l->text), is_json(l->path)) : task_recognise(l->path);
  Status status = shared->is_task ? read_task(l) : read_scene(l);
  if (status != STATUS_OK) return status;
  Diagnostics repeated = {0}; /* messages that optimization_create has already reported */
  if (shared->is_task) {
    store_design(shared);
    status = optimization_model(shared->optimization, shared->scenario, shared->design, &shared->model, &repeated);
  } else {
    shared->own_scene.threads = shared->threads;
    status = model_create_lifted(&shared->model, &shared->own_scene, &shared->diagnostics);
  }
  if (status == STATUS_OK && shared->is_task)
    status = loss_create(&shared->loss, &shared->task, shared->scenario, &shared->model, &shared->diagnostics);
  if (shared->is_task) diagnostics_merge(&shared->diagnostics, &repeated);
  diagnostics_free(&repeated);
  shared->inputs = status == STATUS_OK ? model_input_count(&shared->model) : 0;
  return status;
}

static void load_body(void* context) {
  Loading* loading = context;
  loading->status = read_all(loading);
}

static void free_shared(Shared* shared) {
  if (!shared || atomic_fetch_sub(&shared->owners, 1) > 1) return;
  loss_destroy(shared->loss);
  model_destroy(&shared->model);
  optimization_destroy(shared->optimization);
  task_free(&shared->task);
  scene_free(&shared->own_scene);
  diagnostics_free(&shared->diagnostics);
  memory_free(shared->design);
  memory_pool_destroy(shared->pool);
  free(shared);
}

/* Returns a new object that refers to `shared`, or NULL if memory runs out. Objects and Shared are allocated with
 * calloc, because they outlive every pool. */
static sdrs* new_object(Shared* shared) {
  sdrs* s = calloc(1, sizeof(sdrs));
  if (!s) return NULL;
  s->shared = shared;
  if (shared) atomic_fetch_add(&shared->owners, 1);
  return s;
}

static Shared* new_shared(void) {
  Shared* shared = calloc(1, sizeof(Shared));
  MemoryPool* pool = memory_pool_create();
  if (shared && pool) {
    shared->pool = pool;
    return shared;
  }
  memory_pool_destroy(pool);
  free(shared);
  return NULL;
}

/* Copies the errors of loading to the object. Returns them as an sdrs_status. */
static sdrs_status report_load(sdrs* s, void* arguments) {
  Loading* l = arguments;
  library_add_errors(&s->state->error, &l->shared->diagnostics);
  diagnostics_merge(&s->state->diagnostics, &l->shared->diagnostics);
  return library_status(l->status);
}

static sdrs_status nothing(sdrs* s, void* arguments) {
  (void)s, (void)arguments;
  return SDRS_OK;
}

/* Destroys the pool as a whole, because after a failed allocation its content is undefined. */
static void drop_shared(Shared* shared) {
  memory_pool_destroy(shared->pool);
  free(shared);
}

static sdrs_status load_into(sdrs* s, Loading* l) {
  Shared* shared = l->shared;
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
  bool done = memory_try(shared->pool, load_body, l);
  if (before) uselocale(before);
  if (plain) freelocale(plain);
  if (!done) {
    drop_shared(shared);
    s->error = NO_MEMORY;
    return SDRS_NO_MEMORY;
  }
  if (l->status == STATUS_OK) {
    atomic_store(&shared->owners, 1);
    s->shared = shared;
    return library_call(s, nothing, NULL);
  }
  sdrs_status status = library_call(s, report_load, l);
  atomic_store(&shared->owners, 1);
  free_shared(shared);
  return status;
}

/* Returns a text for the first mistake in the options, or NULL if there is none. The text is static. */
static const char* options_fault(const sdrs_options* options) {
  if (options->override_count < 0) return "override_count is negative";
  if (options->override_count > 0 && !options->overrides) return "override_count without overrides";
  for (int k = 0; k < options->override_count; k++)
    if (!options->overrides[k]) return "an override is NULL";
  return NULL;
}

/* Loads a scene or task for sdrs_load and sdrs_parse. fault: static text for a mistake in the caller's arguments, or
 * NULL. */
static sdrs_status load(sdrs** out, const char* path, const char* text, const sdrs_options* options,
                        const char* fault) {
  sdrs_options known = SDRS_INIT(sdrs_options);
  if (!out) return SDRS_USAGE;
  bool options_are_valid = !options || library_copy_argument(&known, sizeof(known), options);
  *out = new_object(NULL);
  if (!fault && options_are_valid) fault = options_fault(&known);
  if (*out && fault) {
    (*out)->error = fault;
    return SDRS_USAGE;
  }
  Shared* shared = *out ? new_shared() : NULL;
  if (!shared) {
    free(*out);
    *out = NULL;
    return SDRS_NO_MEMORY;
  }
  _Static_assert(sizeof(SceneOverride) == sizeof(char*), "an override is a text");
  shared->threads = known.threads == 0 ? 1 : known.threads;
  shared->scenario = known.scenario;
  Loading loading = {.shared = shared,
                     .path = path ? path : "scene.yaml",
                     .text = text,
                     .overrides = (const SceneOverride*)known.overrides,
                     .override_count = known.override_count,
                     .options_are_valid = options_are_valid};
  sdrs_status status = load_into(*out, &loading);
  return options_are_valid ? status : SDRS_USAGE;
}

sdrs_status sdrs_load(sdrs** out, const char* path, const sdrs_options* options) {
  return load(out, path, NULL, options, path ? NULL : "'path' is NULL");
}

sdrs_status sdrs_parse(sdrs** out, const char* text, const char* path, const sdrs_options* options) {
  return load(out, path, text, options, text ? NULL : "'text' is NULL");
}

/* Copies to s the initial state and the controller inputs that were set on the object `arguments`. */
static sdrs_status copy_live(sdrs* s, void* arguments) {
  const sdrs* original = arguments;
  if (!original->state) return SDRS_OK;
  const DrivenModel* live = &original->state->live;
  driven_model_free(&s->state->live);
  driven_model_copy(&s->state->live, live, live->rows);
  return SDRS_OK;
}

sdrs_status sdrs_clone(sdrs** out, sdrs* original) {
  if (out) *out = NULL;
  if (!out || !original) return SDRS_USAGE;
  *out = new_object(original->shared);
  return *out ? library_call(*out, copy_live, original) : SDRS_NO_MEMORY;
}

/* ---------------------------------------------------------------- the end */

static void free_names(char** names) {
  for (int k = 0; names && names[k]; k++) memory_free(names[k]);
  memory_free(names);
}

/* Frees every member of the state one by one, so that memory that other libraries allocated outside the pool is freed,
 * too. */
static void free_own(LibraryState* state) {
  if (!state) return;
  sim_destroy(state->sim);
  recording_destroy(&state->recording);
  if (state->has_gradient) model_gradient_destroy(&state->gradient);
  driven_model_free(&state->live);
  driven_model_free(&state->ran);
  for (int b = 0; b < LIBRARY_BLOCK_COUNT; b++) {
    for (int kind = 0; kind < BUFFER_KINDS; kind++) memory_free(state->buffer[kind][b]);
    free_names(state->names[b]);
  }
  memory_free(state->seeds);
  diagnostics_free(&state->diagnostics);
  text_free(&state->error);
  memory_free(state);
}

static sdrs_status clear(sdrs* s, void* arguments) {
  (void)arguments;
  free_own(s->state);
  s->state = NULL;
  create_state(s);
  return SDRS_OK;
}

sdrs_status sdrs_clear(sdrs* s) { return library_call(s, clear, NULL); }

void sdrs_free(sdrs* s) {
  if (!s) return;
  free_own(s->state);
  memory_pool_destroy(s->pool);
  free_shared(s->shared);
  free(s);
}
