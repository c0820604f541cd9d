/* Recording of a run within bounded memory (docs/derivations/adjoint.md, A18).
 * The run is divided into intervals ("parts"). Each part stores its initial state, and its rows if memory permits. If
 * memory runs out, the rows of the oldest parts are freed first, because the adjoint needs the newest rows first. If
 * the initial states use more than half of the memory, every second part is merged with the part before it. Missing
 * rows are recomputed from the initial state of their part, in shorter parts if memory is too small. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "differentiate/recording.h"

enum {
  FIRST_SPACING = 32, /* number of rows of a part at the start, because a state takes as much memory as a few rows */
  LEAST_PARTS = 3,    /* smallest number of parts; parts are not merged below it, even if memory is too small */
};
/* Fraction of the memory reserved for the growth of arrays. */
#define RESERVE (1.0 / 16)

typedef struct {
  int row, end;            /* first and last row */
  int64_t state;           /* number in the run of the state at `row` */
  RecordedState before[2]; /* states before the initial state, in order of time (before_count) */
  int before_count;
  SimSnapshot* start;
  bool borrowed;   /* true if another part owns `start` */
  Recording* rows; /* rows of the part, or NULL if not stored */
  size_t bytes;    /* memory of start and rows [bytes] */
} RunSegment;

typedef struct {
  RunSegment* items;
  int count, capacity;
} PartStack;

struct RunSegments {
  const Model* model;
  RecordOptions options;
  int* substeps;    /* RecordOptions.substeps, or NULL */
  PartStack run;    /* parts of the recorded run */
  PartStack again;  /* shorter parts of the part of `run` that is recomputed */
  PartStack* stack; /* the stack that run_segments_add_row adds to */
  int base;         /* index of the first part in `stack` that may be merged or freed */
  int spacing, until;
  RecordedState recent[3]; /* last states, the present state at the end (recent_count) */
  int recent_count;
  int64_t state;                  /* number of the present state */
  int most_contacts, most_states; /* largest number of contacts of a state, and of states of a row, so far */
  size_t limit, held, most;
  int64_t repeated;
  Sim* sim; /* simulation for recomputing rows */
  int at;   /* index of the part of `run` that the adjoint has reached */
};

/* ---------------------------------------------------------------- stored parts */

static RunSegment* top_of(const PartStack* stack) { return &stack->items[stack->count - 1]; }

static void account(RunSegments* p, RunSegment* part) {
  size_t bytes = part->start && !part->borrowed ? sim_snapshot_size(part->start) : 0;
  if (part->rows) bytes += sizeof(Recording) + recording_bytes(part->rows);
  p->held = p->held - part->bytes + bytes;
  part->bytes = bytes;
  if (p->held > p->most) p->most = p->held;
}

static void drop_rows(RunSegments* p, RunSegment* part) {
  if (!part->rows) return;
  recording_destroy(part->rows);
  memory_free(part->rows);
  part->rows = NULL;
  account(p, part);
}

static void drop_part(RunSegments* p, RunSegment* part) {
  drop_rows(p, part);
  if (!part->borrowed) sim_snapshot_destroy(part->start);
  part->start = NULL;
  account(p, part);
}

static RunSegment* push(PartStack* stack) {
  stack->items = memory_grow_array(stack->items, sizeof(RunSegment), stack->count, &stack->capacity);
  RunSegment* part = &stack->items[stack->count++];
  *part = (RunSegment){.row = 0};
  return part;
}

static size_t starts_of(const PartStack* stack, int first) {
  size_t bytes = 0;
  for (int k = first; k < stack->count; k++)
    bytes += stack->items[k].borrowed ? 0 : sim_snapshot_size(stack->items[k].start);
  return bytes;
}

/* Merges every second part, from p->base on, with the part before it. Doubles the spacing. */
static void thin_out(RunSegments* p) {
  PartStack* s = p->stack;
  int kept = p->base;
  for (int k = p->base; k < s->count; k++) {
    RunSegment* part = &s->items[k];
    if ((k - p->base) % 2 == 0) {
      if (kept != k) s->items[kept] = *part;
      kept++;
      continue;
    }
    s->items[kept - 1].end = part->end;
    drop_rows(p, &s->items[kept - 1]);
    drop_part(p, part);
  }
  s->count = kept;
  p->spacing = p->spacing > INT_MAX / 2 ? INT_MAX : 2 * p->spacing;
}

static void thin_out_states(RunSegments* p) {
  PartStack* s = p->stack;
  size_t lower = p->held;
  for (int k = p->base; k < s->count; k++) lower -= s->items[k].bytes;
  size_t room = p->limit > lower ? p->limit - lower : 0;
  while (starts_of(s, p->base + 1) > room / 2 && s->count - p->base > LEAST_PARTS) thin_out(p);
}

/* Frees the rows of the oldest parts until `more` bytes fit. Keeps the rows of a last part with one row, because the
 * adjoint needs at least one row to continue. */
static void make_room(RunSegments* p, size_t more) {
  PartStack* s = p->stack;
  for (int k = p->base; k < s->count && p->held + more > p->limit; k++)
    if (k + 1 < s->count || s->items[k].end > s->items[k].row + 1) drop_rows(p, &s->items[k]);
}

/* ---------------------------------------------------------------- parts of the current run */

static size_t row_size(const RunSegments* p) {
  const Model* m = p->model;
  size_t links = (size_t)m->link_count, size = sizeof(double) * (size_t)m->coordinate_count + sizeof(Pose) * links;
  if (m->simulation.integrator == INTEGRATOR_MOMENTUM) size += sizeof(Vec3) * links;
  size += sizeof(int) + sizeof(RecordedState) + sizeof(ContactRecord) * (size_t)p->most_contacts;
  return size * (size_t)p->most_states;
}

/* Creates the recording of the part's rows and stores the present row, if the rows of the part fit into memory. */
static void hold_rows(RunSegments* p, RunSegment* part, Sim* sim) {
  size_t starts = starts_of(&p->run, 0) + starts_of(&p->again, 0), room = p->limit > starts ? p->limit - starts : 0;
  if (p->spacing > 1 && ((size_t)p->spacing + 3) > room / row_size(p)) return;
  make_room(p, ((size_t)p->spacing + 3) * row_size(p));
  part->rows = MEMORY_NEW(Recording, 1);
  int contacts = p->most_contacts < INT_MAX / (p->spacing + 1) ? p->most_contacts * (p->spacing + 1) : INT_MAX;
  recording_create_segment(part->rows, p->model, part->row, p->spacing, contacts);
  SimHistory history = sim_history(sim);
  int count = part->before_count;
  if (count == 2) recording_add_earlier_state(part->rows, &part->before[0], history.q_older, history.pose_older);
  if (count > 0) recording_add_earlier_state(part->rows, &part->before[count - 1], history.q_old, history.pose_old);
  part->rows->entry = count;
  part->rows->first_state = part->state - count;
  recording_store_row(part->rows, sim, part->row);
  account(p, part);
}

static void count_contacts(RunSegments* p, Sim* sim) {
  int count;
  (void)sim_contact_records(sim, &count);
  if (count > p->most_contacts) p->most_contacts = count;
}

/* Starts a new part at the present state, which belongs to row `row`. */
static void open_part(RunSegments* p, Sim* sim, int row) {
  if (p->stack->count > 0) make_room(p, sim_snapshot_size(top_of(p->stack)->start));
  RunSegment* part = push(p->stack);
  part->row = part->end = row;
  part->state = p->state;
  part->before_count = p->recent_count - 1;
  for (int k = 0; k < part->before_count; k++) part->before[k] = p->recent[k];
  part->start = sim_save(sim);
  count_contacts(p, sim);
  account(p, part);
  thin_out_states(p);
  if (top_of(p->stack)->row != row) return; /* the present part was merged */
  hold_rows(p, top_of(p->stack), sim);
  make_room(p, 0);
}

static void add_recent(RunSegments* p, int step, bool row) {
  if (p->recent_count == 3) {
    p->recent[0] = p->recent[1];
    p->recent[1] = p->recent[2];
    p->recent_count--;
  }
  p->recent[p->recent_count++] = (RecordedState){.step = step, .row = row, .between = -1};
}

static void note_states(RunSegments* p, const Sim* sim, int row) {
  int between;
  (void)sim_substates(sim, &between);
  for (int k = 0; k < between; k++) add_recent(p, row, false);
  add_recent(p, row, true);
  p->state += between + 1;
  if (between + 1 > p->most_states) p->most_states = between + 1;
}

void run_segments_add_row(RunSegments* p, Sim* sim, int row) {
  RunSegment* part = top_of(p->stack);
  note_states(p, sim, row);
  part->end = row;
  if (part->rows) {
    recording_store_row(part->rows, sim, row);
    account(p, part);
    make_room(p, 0);
  }
  if (row - part->row < p->spacing || row >= p->until) return;
  if (part->rows) {
    recording_trim(part->rows);
    account(p, part);
  }
  open_part(p, sim, row);
}

RunSegments* run_segments_create(const Model* model, Sim* sim, int steps, const RecordOptions* options) {
  memory_return_freed_blocks(); /* memory freed here must be available elsewhere */
  RunSegments* p = MEMORY_NEW(RunSegments, 1);
  *p = (RunSegments){.model = model, .options = *options, .spacing = FIRST_SPACING, .until = INT_MAX, .at = -1};
  p->most_states = simulation_substep_count(&model->simulation);
  p->limit = options->memory - (size_t)(RESERVE * (double)options->memory);
  p->stack = &p->run;
  if (options->substeps) {
    size_t size = sizeof(int) * (size_t)steps;
    p->options.substeps = p->substeps = memcpy(memory_alloc(size), options->substeps, size);
  }
  for (int k = 0; model->start && k < STATES_BEFORE; k++) add_recent(p, 0, false);
  p->state = model->start ? STATES_BEFORE : 0;
  add_recent(p, 0, true);
  open_part(p, sim, 0);
  return p;
}

static void destroy_stack(RunSegments* p, PartStack* stack) {
  for (int k = 0; k < stack->count; k++) drop_part(p, &stack->items[k]);
  memory_free(stack->items);
}

void run_segments_destroy(RunSegments* p) {
  if (!p) return;
  destroy_stack(p, &p->again);
  destroy_stack(p, &p->run);
  memory_free(p->substeps);
  sim_destroy(p->sim);
  memory_free(p);
}

/* ---------------------------------------------------------------- backwards */

/* Returns the number of rows per part for recomputing `rows` rows. Returns `rows` if all rows fit into memory.
 * Otherwise rows and initial states get equal shares of the memory. */
static int spacing_for(const RunSegments* p, int rows) {
  size_t room = p->limit > p->held ? p->limit - p->held : 0, fit = room / row_size(p), half = ((size_t)rows + 1) / 2;
  if ((size_t)rows + 3 <= fit) return rows;
  size_t some = fit / 2 < half ? fit / 2 : half;
  return some > 1 ? (int)some : 1;
}

static void restart(RunSegments* p, RunSegment* part) {
  sim_restore(p->sim, part->start);
  p->recent_count = 0;
  for (int k = 0; k < part->before_count; k++) p->recent[p->recent_count++] = part->before[k];
  add_recent(p, part->row, true);
  p->state = part->state;
  part->end = part->row;
  drop_rows(p, part);
  hold_rows(p, part, p->sim);
}

/* Repeats the steps of the last part of `again`, in parts of `spacing` rows. No step fails, because the results are
 * bit-identical. */
static void run_again(RunSegments* p, int spacing) {
  int base = p->again.count - 1, row = p->again.items[base].row, until = p->again.items[base].end;
  p->stack = &p->again;
  p->base = base;
  p->spacing = spacing;
  p->until = until;
  restart(p, &p->again.items[base]);
  while (row < until) {
    row++;
    StepReport report = recording_step(p->sim, &p->options, row);
    assert(!step_outcome_failed(report.outcome));
    (void)report;
    run_segments_add_row(p, p->sim, row);
    p->repeated++;
  }
}

static void need_sim(RunSegments* p) {
  if (p->sim) return;
  Diagnostics none = {0};
  SimOptions options = {.threads = p->options.threads, .tolerance = p->options.tolerance};
  Status status = sim_create(&p->sim, p->model, &options, &none);
  assert(status == STATUS_OK); /* a repeated step cannot fail */
  (void)status;
  diagnostics_free(&none);
}

/* Recomputes the rows of the last part of `again`, through shorter parts if the rows do not fit into memory. */
static void find_rows(RunSegments* p) {
  need_sim(p);
  while (!top_of(&p->again)->rows) {
    const RunSegment* part = top_of(&p->again);
    int rows = part->end - part->row, row = part->row;
    run_again(p, spacing_for(p, rows));
    part = top_of(&p->again);
    if (!part->rows && part->row == row) run_again(p, (rows + 1) / 2); /* the rows needed more memory than estimated */
  }
}

static Recording* rows_here(RunSegments* p) {
  if (p->again.count > 0) {
    find_rows(p);
    return top_of(&p->again)->rows;
  }
  while (p->at > 0 && p->run.items[p->at].end == p->run.items[p->at].row) p->at--;
  if (p->at < 0) {
    sim_destroy(p->sim);
    p->sim = NULL;
    return NULL;
  }
  const RunSegment* part = &p->run.items[p->at];
  if (part->rows) return part->rows;
  RunSegment* copy = push(&p->again);
  *copy = *part;
  copy->borrowed = true;
  copy->bytes = 0;
  find_rows(p);
  return top_of(&p->again)->rows;
}

Recording* run_segments_last(RunSegments* p) {
  assert(p->again.count == 0);
  p->at = p->run.count - 1;
  return rows_here(p);
}

Recording* run_segments_previous(RunSegments* p) {
  if (p->again.count > 0) {
    drop_part(p, top_of(&p->again));
    p->again.count--;
    p->at -= p->again.count == 0;
  } else {
    drop_rows(p, &p->run.items[p->at]);
    p->at--;
  }
  return rows_here(p);
}

RunSegmentsUse run_segments_use(const RunSegments* p) { return (RunSegmentsUse){p->held, p->most, p->repeated}; }
