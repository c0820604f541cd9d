/* Answers one question for many poses of a pair, or for many pairs of bodies. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include "ask/answer.h"
#include "ask/reader.h"

/* ---------------------------------------------------------------- a row */

int answer_names(const QueryList* list, const QueryItem* item, int slots, AnswerNames* names) {
  names->count = 0;
  AnswerForm out = {.names = names, .slots = slots};
  QueryMemory memory = query_memory_create();
  QueryItem apart = *item;
  apart.pose[0] = apart.pose[1] = pose_identity();
  apart.pose[1].t.x = READER_COORDINATE_MAX;
  answer_question(&out, list, &apart, &memory);
  query_memory_free(&memory);
  return out.count;
}

static Pose read_pose(const double* numbers) {
  Pose pose = {.t = vec3_at(numbers)};
  query_rotation(numbers + 3, &pose.r);
  return pose;
}

void answer_row(AnswerForm* out, const QueryList* list, const QueryItem* item, const double* pose_a,
                const double* pose_b, QueryMemory* memory) {
  QueryItem posed = *item;
  posed.pose[0] = read_pose(pose_a);
  posed.pose[1] = read_pose(pose_b);
  answer_question(out, list, &posed, memory);
}

bool answer_pose_is_valid(const double* pose) {
  assert(pose);
  for (int c = 0; c < 3; c++)
    if (!(fabs(pose[c]) <= READER_COORDINATE_MAX)) return false;
  return query_is_unit_quaternion(pose + 3);
}

int answer_append_pose_error(const double* pose, const char* of, Text* out) {
  for (int c = 0; c < 3; c++)
    if (!(fabs(pose[c]) <= READER_COORDINATE_MAX)) {
      text_add(out, "position_%s[%d]: must be in %g .. %g m, got %g", of, c, -READER_COORDINATE_MAX,
               READER_COORDINATE_MAX, pose[c]);
      return c;
    }
  text_add(out, "quaternion_%s: a quaternion [w, x, y, z] must have length 1, got [%g, %g, %g, %g]", of, pose[3],
           pose[4], pose[5], pose[6]);
  return 3;
}

/* ---------------------------------------------------------------- shapes */

/* Parses a JSON text. The caller deletes the result with cJSON_Delete. If the text is invalid, returns NULL and sets
 * *stopped to the position of the error. Ends the call if there is no memory. */
static cJSON* parse_json(const char* text, const char** stopped) {
  errno = 0;
  cJSON* root = cJSON_ParseWithOpts(text, stopped, true);
  if (!root && errno == ENOMEM) memory_report_exhausted(0);
  return root;
}

static void read_shape(QueryReader* reader, const cJSON* item, QueryList* list) {
  Pose pose = pose_identity();
  static const char* const placed[] = {"position", "quaternion"};
  for (int k = 0; k < 2; k++)
    if (cJSON_HasObjectItem(item, placed[k]))
      query_reader_error(reader, false, "'%s' is not allowed in a shape: give the pose in the query", placed[k]);
  query_reader_body(reader, item, list, -1, &pose);
}

static void read_shapes(QueryReader* reader, const cJSON* root, QueryList* list) {
  if (!cJSON_IsArray(root) || !root->child) {
    query_reader_error(reader, false, "expected a list of shapes [{\"type\": ...}, ...], got %s",
                       cJSON_IsArray(root) ? "an empty list" : query_reader_kind_name(root));
    return;
  }
  int index = 0;
  for (const cJSON* child = root->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    text_add(&reader->trail, "shape %d", index);
    read_shape(reader, child, list);
    query_reader_leave(reader, mark);
  }
}

Status query_shapes_parse(QueryList* list, const char* path, const char* text, size_t length,
                          Diagnostics* diagnostics) {
  *list = (QueryList){0};
  QueryReader reader = {.file = path, .whole = text, .text = text, .diagnostics = diagnostics};
  const char* stopped = NULL;
  cJSON* root = strlen(text) == length ? parse_json(text, &stopped) : NULL;
  if (!root) {
    size_t at = stopped ? (size_t)(stopped - text) : 0;
    diagnostics_add(diagnostics, SEVERITY_ERROR, source_position_at(path, text, at), "not valid JSON from here on");
    return STATUS_BAD_INPUT;
  }
  read_shapes(&reader, root, list);
  cJSON_Delete(root);
  text_free(&reader.trail);
  return reader.problems > 0 ? STATUS_BAD_INPUT : STATUS_OK;
}

/* ---------------------------------------------------------------- the question */

/* Reports and counts the errors of a call that has arguments instead of an input file, so errors have no position. */
typedef struct {
  Diagnostics* diagnostics;
  int problems;
} ErrorReporter;

static void report_error(ErrorReporter* r, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void report_error(ErrorReporter* r, const char* format, ...) {
  if (++r->problems > READER_ERRORS_MAX) return;
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(r->diagnostics, SEVERITY_ERROR, (SourcePosition){NULL, 0, 0}, "%s", text.data);
  text_free(&text);
}

/* Keys that are not allowed in the options: the call sets them, or they have no effect for many pairs. */
static const char* const RESERVED_KEYS[] = {"method", "a", "b", "derivatives", "parameters", "poses"};

static void read_options(QueryReader* reader, const QueryArrays* arrays, QueryList* list, QueryItem* out) {
  QueryItem last = query_default_question();
  last.method = query_method_find(arrays->method);
  if (last.method == QUERY_TOUCH) last.touch.query.sampling = WITNESS_ADAPTIVE;
  const char* text = arrays->options ? arrays->options : "{}";
  reader->file = "options";
  reader->whole = reader->text = text;
  const char* stopped = NULL;
  cJSON* root = parse_json(text, &stopped);
  if (!cJSON_IsObject(root)) query_reader_error(reader, false, "options must be a JSON object");
  for (size_t k = 0; cJSON_IsObject(root) && k < sizeof RESERVED_KEYS / sizeof *RESERVED_KEYS; k++)
    if (cJSON_HasObjectItem(root, RESERVED_KEYS[k]))
      query_reader_error(reader, false, "'%s' is not allowed in the options of a query of arrays: remove the key",
                         RESERVED_KEYS[k]);
  if (reader->problems == 0) read_question(reader, root, list, &last, out);
  cJSON_Delete(root);
}

static int pair_kind(const QueryList* list, const int* pair) {
  return list->bodies[pair[0]].smooth + 2 * list->bodies[pair[1]].smooth;
}

/* Returns true if derivatives with respect to the parameters of the shapes are requested. Their names end in _shape_a
 * or _shape_b. */
static bool wants_parameters(const QueryArrays* arrays) {
  for (int k = 0; k < arrays->name_count; k++) {
    size_t length = strlen(arrays->names[k]), end = strlen("_shape_a");
    if (length < end) continue;
    const char* last = arrays->names[k] + length - end;
    if (strcmp(last, "_shape_a") == 0 || strcmp(last, "_shape_b") == 0) return true;
  }
  return false;
}

static bool check_indices(const QueryList* list, const QueryArrays* arrays, ErrorReporter* r) {
  for (int64_t i = 0; i < 2 * arrays->count; i++)
    if (arrays->bodies[i] < 0 || arrays->bodies[i] >= list->body_count) {
      report_error(r, "row %" PRId64 ": there is no shape %d: shapes are numbered from 0 to %d", i / 2,
                   arrays->bodies[i], list->body_count - 1);
      return false;
    }
  return true;
}

/* Checks that the method supports the bodies of all pairs, and creates the data that it needs. */
static void check_bodies(QueryReader* reader, QueryList* list, const QueryArrays* arrays, const QueryItem* item) {
  bool* used = MEMORY_NEW(bool, list->body_count);
  bool pieces = false;
  for (int64_t i = 0; i < 2 * arrays->count; i++) used[arrays->bodies[i]] = true;
  for (int k = 0; k < list->body_count; k++) pieces = pieces || (used[k] && list->bodies[k].pieces);
  for (int k = 0; k < list->body_count; k++) {
    char name[ANSWER_KEY];
    snprintf(name, sizeof name, "shape %d", k);
    if (used[k]) query_body_check(reader, item, pieces, name, &list->bodies[k]);
  }
  memory_free(used);
}

/* ---------------------------------------------------------------- the plan */

/* Returns the largest number of contacts of any pair. Computes the number once for consecutive rows of the same pair.
 */
static int max_contact_count(const QueryList* list, const QueryArrays* arrays, const QueryItem* item) {
  int slots = 0;
  const int* last = NULL;
  QueryItem asked = *item;
  for (int64_t i = 0; i < arrays->count; i++) {
    const int* pair = arrays->bodies + 2 * i;
    if (last && last[0] == pair[0] && last[1] == pair[1]) continue;
    last = pair;
    memcpy(asked.body, pair, sizeof asked.body);
    int64_t count = answer_contact_count(list, &asked);
    if (count > slots) slots = (int)count;
  }
  return slots;
}

static int find_answer_offset(const AnswerNames* names, const char* key) {
  for (int k = 0; k < names->count; k++)
    if (strcmp(names->key[k], key) == 0) return k;
  return -1;
}

/* Sets names to the names of the answers for the pair of bodies in a row. */
static void list_answer_names(const QueryList* list, const QueryArrays* arrays, const QueryPlan* plan, int64_t row,
                              AnswerNames* names) {
  QueryItem item = plan->question;
  memcpy(item.body, arrays->bodies + 2 * row, sizeof item.body);
  answer_names(list, &item, plan->slots, names);
}

/* Sets row[kind] to the first row whose pair of bodies has this kind (smooth or not), or to -1 if there is none. */
static void find_first_rows(const QueryList* list, const QueryArrays* arrays, int64_t row[QUERY_PAIR_KINDS]) {
  for (int k = 0; k < QUERY_PAIR_KINDS; k++) row[k] = -1;
  for (int64_t i = arrays->count - 1; i >= 0; i--) row[pair_kind(list, arrays->bodies + 2 * i)] = i;
}

/* Returns true if a requested answer exists only when derivatives are computed. */
static bool wants_derivatives(const QueryList* list, const QueryArrays* arrays, const QueryPlan* plan,
                              const int64_t row[QUERY_PAIR_KINDS]) {
  bool known[ANSWER_NAMES] = {false};
  for (int kind = 0; kind < QUERY_PAIR_KINDS; kind++) {
    AnswerNames names;
    if (row[kind] < 0) continue;
    list_answer_names(list, arrays, plan, row[kind], &names);
    for (int k = 0; k < arrays->name_count; k++)
      known[k] = known[k] || find_answer_offset(&names, arrays->names[k]) >= 0;
  }
  for (int k = 0; k < arrays->name_count; k++)
    if (!known[k]) return true;
  return false;
}

static void report_unknown_name(ErrorReporter* r, const char* method, const char* key, const AnswerNames* names) {
  Text known = {0};
  const char* keys[ANSWER_NAMES];
  for (int k = 0; k < names->count; k++) {
    keys[k] = names->key[k];
    text_add(&known, "%s%s", k > 0 ? ", " : "", keys[k]);
  }
  const char* near = text_nearest(key, keys, names->count);
  if (near)
    report_error(r, "%s does not answer '%s' (did you mean '%s'?)", method, key, near);
  else
    report_error(r, "%s does not answer '%s' (it answers %s)", method, key, known.data);
  text_free(&known);
}

/* Checks that all pairs of bodies have as many shape parameters as the first pair. Derivatives with respect to shape
 * parameters have one column per parameter. */
static void check_widths(const QueryPlan* plan, const QueryList* list, const QueryArrays* arrays, ErrorReporter* r) {
  const int* last = NULL;
  AnswerNames names;
  for (int64_t i = 0; i < arrays->count; i++) {
    const int* pair = arrays->bodies + 2 * i;
    if (last && last[0] == pair[0] && last[1] == pair[1]) continue;
    last = pair;
    list_answer_names(list, arrays, plan, i, &names);
    for (int k = 0; k < arrays->name_count; k++) {
      int at = find_answer_offset(&names, arrays->names[k]);
      if (at < 0 || names.numbers[at] == plan->widths[k]) continue;
      report_error(r,
                   "row %" PRId64
                   ": '%s' of shapes %d and %d has %d numbers, in other rows %d: ask about shapes with equally "
                   "many parameters in one call",
                   i, arrays->names[k], pair[0], pair[1], names.numbers[at], plan->widths[k]);
      return;
    }
  }
}

/* Sets plan->widths, the number of columns of each requested answer, and plan->places, the offset in the row of each
 * answer for each kind of pair. */
static void compute_offsets(QueryPlan* plan, const QueryList* list, const QueryArrays* arrays,
                            const int64_t row[QUERY_PAIR_KINDS], ErrorReporter* r) {
  AnswerNames* names = MEMORY_NEW(AnswerNames, QUERY_PAIR_KINDS);
  int first[ANSWER_NAMES], any = 0;
  for (int kind = QUERY_PAIR_KINDS - 1; kind >= 0; kind--) {
    if (row[kind] < 0) continue;
    any = kind;
    list_answer_names(list, arrays, plan, row[kind], &names[kind]);
    for (int k = 0; k < arrays->name_count; k++) {
      int at = find_answer_offset(&names[kind], arrays->names[k]);
      if (at >= 0) plan->widths[k] = names[kind].numbers[at];
    }
  }
  for (int k = 0; k < arrays->name_count; plan->columns += plan->widths[k++]) {
    first[k] = plan->columns;
    if (plan->widths[k] == 0 && arrays->count > 0)
      report_unknown_name(r, query_method_name(plan->question.method), arrays->names[k], &names[any]);
  }
  for (int kind = 0; kind < QUERY_PAIR_KINDS; kind++) {
    if (row[kind] < 0) continue;
    plan->places[kind] = MEMORY_NEW(int, ANSWER_NAMES);
    int answered = 0;
    for (int at = 0; at < names[kind].count; at++) {
      plan->places[kind][at] = -1;
      for (int k = 0; k < arrays->name_count; k++)
        if (strcmp(names[kind].key[at], arrays->names[k]) == 0) plan->places[kind][at] = first[k];
      if (plan->places[kind][at] >= 0) answered += names[kind].numbers[at];
    }
    plan->whole[kind] = answered == plan->columns;
  }
  memory_free(names);
}

static void check_names(const QueryArrays* arrays, ErrorReporter* r) {
  if (arrays->name_count < 1 || arrays->name_count > ANSWER_NAMES)
    report_error(r, "a query answers 1 to %d names, got %d", ANSWER_NAMES, arrays->name_count);
  for (int k = 0; k < arrays->name_count && r->problems == 0; k++)
    for (int i = 0; i < k; i++)
      if (strcmp(arrays->names[i], arrays->names[k]) == 0) report_error(r, "'%s' is listed twice", arrays->names[k]);
}

static bool is_one_pair(const QueryArrays* arrays) {
  for (int64_t i = 1; i < arrays->count; i++)
    if (memcmp(arrays->bodies + 2 * i, arrays->bodies, 2 * sizeof *arrays->bodies) != 0) return false;
  return true;
}

Status query_plan_create(QueryPlan* plan, QueryList* list, const QueryArrays* arrays, Diagnostics* diagnostics) {
  assert(plan && list && arrays);
  *plan = (QueryPlan){.columns = 0};
  ErrorReporter r = {.diagnostics = diagnostics};
  QueryReader reader = {.diagnostics = diagnostics};
  QueryMethod method = query_method_find(arrays->method);
  if (method == QUERY_POTENTIAL)
    report_error(&r, "method must be growth, distance, manifold, witness or touch, got '%.60s'", arrays->method);
  check_names(arrays, &r);
  QueryArrays pairs = *arrays; /* one row, if all rows have the same pair */
  if (pairs.count > 1 && is_one_pair(arrays)) pairs.count = 1;
  if (r.problems == 0 && check_indices(list, &pairs, &r)) {
    read_options(&reader, arrays, list, &plan->question);
    reader.file = NULL;
    plan->question.parameters = wants_parameters(arrays);
    if (reader.problems == 0) check_bodies(&reader, list, &pairs, &plan->question);
  }
  text_free(&reader.trail);
  if (r.problems + reader.problems > 0) return STATUS_BAD_INPUT;
  int64_t row[QUERY_PAIR_KINDS];
  find_first_rows(list, &pairs, row);
  if (method == QUERY_MANIFOLD && !plan->question.mean) plan->slots = max_contact_count(list, &pairs, &plan->question);
  plan->widths = MEMORY_NEW(int, arrays->name_count);
  plan->question.derivatives = wants_derivatives(list, arrays, plan, row);
  compute_offsets(plan, list, arrays, row, &r);
  if (plan->question.parameters && r.problems == 0) check_widths(plan, list, &pairs, &r);
  return r.problems > 0 ? STATUS_BAD_INPUT : STATUS_OK;
}

void query_plan_free(QueryPlan* plan) {
  memory_free(plan->widths);
  for (int k = 0; k < QUERY_PAIR_KINDS; k++) memory_free(plan->places[k]);
  *plan = (QueryPlan){.columns = 0};
}

/* ---------------------------------------------------------------- all rows */

/* Number of rows that one task of parallel_for checks for valid poses. */
enum { POSES_PER_TASK = 4096 };

typedef struct {
  const QueryArrays* arrays;
  atomic_bool bad;
} PoseCheck;

static void check_pose_range(void* context, int part, int thread) {
  (void)thread;
  PoseCheck* check = context;
  int64_t first = (int64_t)part * POSES_PER_TASK, end = first + POSES_PER_TASK;
  if (end > check->arrays->count) end = check->arrays->count;
  bool good = true;
  for (int side = 0; side < 2; side++)
    for (int64_t i = first; i < end; i++)
      good = good && answer_pose_is_valid(check->arrays->poses[side] + QUERY_POSE_NUMBERS * i);
  if (!good) atomic_store(&check->bad, true);
}

static bool are_poses_valid(const QueryArrays* arrays, int threads) {
  PoseCheck check = {.arrays = arrays};
  parallel_for(threads, (int)((arrays->count + POSES_PER_TASK - 1) / POSES_PER_TASK), 2, 1, check_pose_range, &check);
  return !atomic_load(&check.bad);
}

/* Adds an error for each row with an invalid pose. */
static void report_invalid_poses(const QueryArrays* arrays, Diagnostics* diagnostics) {
  ErrorReporter r = {.diagnostics = diagnostics};
  for (int64_t i = 0; i < 2 * arrays->count; i++) {
    const double* pose = arrays->poses[i % 2] + QUERY_POSE_NUMBERS * (i / 2);
    if (answer_pose_is_valid(pose)) continue;
    Text what = {0};
    answer_append_pose_error(pose, i % 2 ? "b" : "a", &what);
    report_error(&r, "row %" PRId64 ": %s", i / 2, what.data);
    text_free(&what);
    if (r.problems == READER_ERRORS_MAX) return;
  }
}

/* Sorts row numbers by the body on one side of their pair (stable counting sort). bodies: number of bodies. side: 0 for
 * body a, 1 for body b. from, to: row numbers before and after (count). */
static void sort_by_body(const QueryArrays* arrays, int bodies, int side, const int64_t* from, int64_t* to) {
  assert(side == 0 || side == 1);
  int64_t* next = MEMORY_NEW(int64_t, bodies + 1);
  for (int64_t i = 0; i < arrays->count; i++) next[arrays->bodies[2 * i + side] + 1]++;
  for (int k = 0; k < bodies; k++) next[k + 1] += next[k];
  for (int64_t i = 0; i < arrays->count; i++) to[next[arrays->bodies[2 * from[i] + side]]++] = from[i];
  memory_free(next);
}

/* Returns the row numbers grouped by pair of bodies. Returns NULL if all rows have the same pair. The caller frees the
 * array. */
static int64_t* group_rows_by_pair(const QueryList* list, const QueryArrays* arrays) {
  if (is_one_pair(arrays)) return NULL;
  size_t bytes = sizeof(int64_t) * (size_t)arrays->count;
  int64_t *order = memory_alloc(bytes), *half = memory_alloc(bytes);
  for (int64_t i = 0; i < arrays->count; i++) order[i] = i;
  sort_by_body(arrays, list->body_count, 1, order, half);
  sort_by_body(arrays, list->body_count, 0, half, order);
  memory_free(half);
  return order;
}

typedef struct {
  const QueryList* list;
  const QueryArrays* arrays;
  const QueryPlan* plan;
  const int64_t* order; /* row numbers in the order of evaluation; NULL: rows are evaluated in their own order */
  double* out;
  int64_t stride;
  QueryMemory* memory; /* warm start of each thread */
} Answering;

static void answer_row_range(void* context, int part, int thread) {
  const Answering* x = context;
  const QueryArrays* arrays = x->arrays;
  QueryMemory* memory = &x->memory[thread];
  query_memory_set_bodies(memory, (const int[2]){-1, -1});
  int64_t first = (int64_t)part * QUERY_ARRAYS_PART, end = first + QUERY_ARRAYS_PART;
  for (int64_t k = first; k < end && k < arrays->count; k++) {
    int64_t i = x->order ? x->order[k] : k;
    const int* pair = arrays->bodies + 2 * i;
    QueryItem item = x->plan->question;
    memcpy(item.body, pair, sizeof item.body);
    double* row = x->out + i * x->stride;
    const int kind = pair_kind(x->list, pair);
    for (int c = 0; c < x->plan->columns && !x->plan->whole[kind]; c++) row[c] = (double)NAN;
    AnswerForm form = {.row = row, .places = x->plan->places[kind], .in_row = true, .slots = x->plan->slots};
    answer_row(&form, x->list, &item, arrays->poses[0] + QUERY_POSE_NUMBERS * i,
               arrays->poses[1] + QUERY_POSE_NUMBERS * i, memory);
  }
}

// NOLINTNEXTLINE(readability-non-const-parameter): answer_part writes there
Status query_arrays_answer(const QueryList* list, const QueryArrays* arrays, const QueryPlan* plan, double* out,
                           int64_t stride, int threads, Diagnostics* diagnostics) {
  assert(plan->columns >= 0 && stride >= plan->columns);
  threads = threads > 1 ? threads : 1;
  if (!are_poses_valid(arrays, threads)) {
    report_invalid_poses(arrays, diagnostics);
    return STATUS_BAD_INPUT;
  }
  Answering x = {list, arrays, plan, group_rows_by_pair(list, arrays), out, stride, MEMORY_NEW(QueryMemory, threads)};
  int parts = (int)((arrays->count + QUERY_ARRAYS_PART - 1) / QUERY_ARRAYS_PART);
  parallel_for(threads, parts, 2, 1, answer_row_range, &x);
  for (int t = 0; t < threads; t++) query_memory_free(&x.memory[t]);
  memory_free(x.memory);
  memory_free((void*)x.order);
  return STATUS_OK;
}
