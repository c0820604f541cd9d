/* A run in parts, within bounded memory (docs/derivations/adjoint.md, A18). Each part has the state that it begins from
 * and may hold its rows. Where memory runs out, rows of the oldest parts go first, for the adjoint wants the newest
 * first; states that make up more than half of what there is are thinned out to every second one. A part whose rows are
 * gone is run again from its state, and where its rows are more than fit, in parts itself. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "differentiate/recording.h"

enum {
  FIRST_SPACING = 32, /* rows of a part at first: a state takes about as much as a row or a few */
  LEAST_PARTS = 3,    /* of a stretch: it gets shorter however little memory there is */
};
/* Arrays grow in strides: so much of the memory is left for that. */
#define RESERVE (1.0 / 16)

typedef struct {
  int row, end;            /* it leads from row to end */
  int64_t state;           /* number in the run of the state at `row` */
  RecordedState before[2]; /* what was before that, in the order of time  (before_count) */
  int before_count;
  SimSnapshot* start;
  bool lent;       /* start belongs to another part */
  Recording* rows; /* NULL: not held */
  size_t bytes;    /* of start and rows */
} RunPart;

typedef struct {
  RunPart* items;
  int count, capacity;
} PartStack;

struct RunParts {
  const Model* model;
  RecordOptions options;
  int* substeps;    /* RecordOptions.substeps, or NULL */
  PartStack run;    /* of the run when it was recorded */
  PartStack again;  /* of the last stretch of it whose rows are not held */
  PartStack* stack; /* which one grows */
  int base;         /* the stretch that is run begins with this part of it */
  int spacing, until;
  RecordedState recent[3]; /* states, the present one last  (recent_count) */
  int recent_count;
  int64_t state;                  /* number of the present one */
  int most_contacts, most_states; /* of a state; of a row: those inside its step and itself */
  size_t limit, held, most;
  int64_t repeated;
  Sim* sim; /* for running again */
  int at;   /* part of `run` that the adjoint has come to */
};

/* ---------------------------------------------------------------- what is held */

static RunPart* top_of(const PartStack* stack) { return &stack->items[stack->count - 1]; }

static void account(RunParts* p, RunPart* part) {
  size_t bytes = part->start && !part->lent ? sim_snapshot_size(part->start) : 0;
  if (part->rows) bytes += sizeof(Recording) + recording_bytes(part->rows);
  p->held = p->held - part->bytes + bytes;
  part->bytes = bytes;
  if (p->held > p->most) p->most = p->held;
}

static void drop_rows(RunParts* p, RunPart* part) {
  if (!part->rows) return;
  recording_destroy(part->rows);
  memory_free(part->rows);
  part->rows = NULL;
  account(p, part);
}

static void drop_part(RunParts* p, RunPart* part) {
  drop_rows(p, part);
  if (!part->lent) sim_snapshot_destroy(part->start);
  part->start = NULL;
  account(p, part);
}

static RunPart* push(PartStack* stack) {
  stack->items = memory_grown(stack->items, sizeof(RunPart), stack->count, &stack->capacity);
  RunPart* part = &stack->items[stack->count++];
  *part = (RunPart){.row = 0};
  return part;
}

static size_t starts_of(const PartStack* stack, int first) {
  size_t bytes = 0;
  for (int k = first; k < stack->count; k++)
    bytes += stack->items[k].lent ? 0 : sim_snapshot_size(stack->items[k].start);
  return bytes;
}

/* Every second part of the stretch joins the one before it. */
static void thin_out(RunParts* p) {
  PartStack* s = p->stack;
  int kept = p->base;
  for (int k = p->base; k < s->count; k++) {
    RunPart* part = &s->items[k];
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

static void thin_out_states(RunParts* p) {
  PartStack* s = p->stack;
  size_t lower = p->held;
  for (int k = p->base; k < s->count; k++) lower -= s->items[k].bytes;
  size_t room = p->limit > lower ? p->limit - lower : 0;
  while (starts_of(s, p->base + 1) > room / 2 && s->count - p->base > LEAST_PARTS) thin_out(p);
}

/* Until `more` bytes fit. A part of one row is never given up: something must be left to go on with. */
static void make_room(RunParts* p, size_t more) {
  PartStack* s = p->stack;
  for (int k = p->base; k < s->count && p->held + more > p->limit; k++)
    if (k + 1 < s->count || s->items[k].end > s->items[k].row + 1) drop_rows(p, &s->items[k]);
}

/* ---------------------------------------------------------------- parts of the run under way */

static size_t row_size(const RunParts* p) {
  const Model* m = p->model;
  size_t links = (size_t)m->link_count, size = sizeof(double) * (size_t)m->coordinate_count + sizeof(Pose) * links;
  if (m->simulation.integrator == INTEGRATOR_MOMENTUM) size += sizeof(Vec3) * links;
  size += sizeof(int) + sizeof(RecordedState) + sizeof(ContactRecord) * (size_t)p->most_contacts;
  return size * (size_t)p->most_states;
}

/* The rows from the present one on, if so many fit. */
static void hold_rows(RunParts* p, RunPart* part, Sim* sim) {
  size_t starts = starts_of(&p->run, 0) + starts_of(&p->again, 0), room = p->limit > starts ? p->limit - starts : 0;
  if (p->spacing > 1 && ((size_t)p->spacing + 3) > room / row_size(p)) return;
  make_room(p, ((size_t)p->spacing + 3) * row_size(p));
  part->rows = MEMORY_NEW(Recording, 1);
  int contacts = p->most_contacts < INT_MAX / (p->spacing + 1) ? p->most_contacts * (p->spacing + 1) : INT_MAX;
  recording_create_part(part->rows, p->model, part->row, p->spacing, contacts);
  SimHistory history = sim_history(sim);
  int count = part->before_count;
  if (count == 2) recording_add_before(part->rows, &part->before[0], history.q_older, history.pose_older);
  if (count > 0) recording_add_before(part->rows, &part->before[count - 1], history.q_old, history.pose_old);
  part->rows->entry = count;
  part->rows->first_state = part->state - count;
  recording_keep_row(part->rows, sim, part->row);
  account(p, part);
}

static void count_contacts(RunParts* p, Sim* sim) {
  int count;
  (void)sim_contact_records(sim, &count);
  if (count > p->most_contacts) p->most_contacts = count;
}

/* The present state begins a part. */
static void open_part(RunParts* p, Sim* sim, int row) {
  if (p->stack->count > 0) make_room(p, sim_snapshot_size(top_of(p->stack)->start));
  RunPart* part = push(p->stack);
  part->row = part->end = row;
  part->state = p->state;
  part->before_count = p->recent_count - 1;
  for (int k = 0; k < part->before_count; k++) part->before[k] = p->recent[k];
  part->start = sim_save(sim);
  count_contacts(p, sim);
  account(p, part);
  thin_out_states(p);
  if (top_of(p->stack)->row != row) return; /* it was thinned out itself */
  hold_rows(p, top_of(p->stack), sim);
  make_room(p, 0);
}

static void add_recent(RunParts* p, int step, bool row) {
  if (p->recent_count == 3) {
    p->recent[0] = p->recent[1];
    p->recent[1] = p->recent[2];
    p->recent_count--;
  }
  p->recent[p->recent_count++] = (RecordedState){.step = step, .row = row, .between = -1};
}

static void note_states(RunParts* p, const Sim* sim, int row) {
  int between;
  (void)sim_substates(sim, &between);
  for (int k = 0; k < between; k++) add_recent(p, row, false);
  add_recent(p, row, true);
  p->state += between + 1;
  if (between + 1 > p->most_states) p->most_states = between + 1;
}

void run_parts_add(RunParts* p, Sim* sim, int row) {
  RunPart* part = top_of(p->stack);
  note_states(p, sim, row);
  part->end = row;
  if (part->rows) {
    recording_keep_row(part->rows, sim, row);
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

RunParts* run_parts_create(const Model* model, Sim* sim, int steps, const RecordOptions* options) {
  memory_give_back(); /* what is dropped must not be missing elsewhere */
  RunParts* p = MEMORY_NEW(RunParts, 1);
  *p = (RunParts){.model = model, .options = *options, .spacing = FIRST_SPACING, .until = INT_MAX, .at = -1};
  p->most_states = simulation_substeps(&model->simulation);
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

static void destroy_stack(RunParts* p, PartStack* stack) {
  for (int k = 0; k < stack->count; k++) drop_part(p, &stack->items[k]);
  memory_free(stack->items);
}

void run_parts_destroy(RunParts* p) {
  if (!p) return;
  destroy_stack(p, &p->again);
  destroy_stack(p, &p->run);
  memory_free(p->substeps);
  sim_destroy(p->sim);
  memory_free(p);
}

/* ---------------------------------------------------------------- backwards */

/* Rows of a part when `rows` of them are run again: all, or what leaves as much room for the states. */
static int spacing_for(const RunParts* p, int rows) {
  size_t room = p->limit > p->held ? p->limit - p->held : 0, fit = room / row_size(p), half = ((size_t)rows + 1) / 2;
  if ((size_t)rows + 3 <= fit) return rows;
  size_t some = fit / 2 < half ? fit / 2 : half;
  return some > 1 ? (int)some : 1;
}

static void restart(RunParts* p, RunPart* part) {
  sim_restore(p->sim, part->start);
  p->recent_count = 0;
  for (int k = 0; k < part->before_count; k++) p->recent[p->recent_count++] = part->before[k];
  add_recent(p, part->row, true);
  p->state = part->state;
  part->end = part->row;
  drop_rows(p, part);
  hold_rows(p, part, p->sim);
}

/* The steps of the last part of the stack `again` once more. The bits are those of the first time, so none fails. */
static void run_again(RunParts* p, int spacing) {
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
    run_parts_add(p, p->sim, row);
    p->repeated++;
  }
}

static void need_sim(RunParts* p) {
  if (p->sim) return;
  Diagnostics none = {0};
  SimOptions options = {.threads = p->options.threads, .tolerance = p->options.tolerance};
  Status status = sim_create(&p->sim, p->model, &options, &none);
  assert(status == STATUS_OK); /* as it was before */
  (void)status;
  diagnostics_free(&none);
}

/* The last part of `again` gets its rows, or parts of its own of which the last one has some. */
static void find_rows(RunParts* p) {
  need_sim(p);
  while (!top_of(&p->again)->rows) {
    const RunPart* part = top_of(&p->again);
    int rows = part->end - part->row, row = part->row;
    run_again(p, spacing_for(p, rows));
    part = top_of(&p->again);
    if (!part->rows && part->row == row) run_again(p, (rows + 1) / 2); /* more than was thought */
  }
}

static Recording* rows_here(RunParts* p) {
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
  const RunPart* part = &p->run.items[p->at];
  if (part->rows) return part->rows;
  RunPart* copy = push(&p->again);
  *copy = *part;
  copy->lent = true;
  copy->bytes = 0;
  find_rows(p);
  return top_of(&p->again)->rows;
}

Recording* run_parts_last(RunParts* p) {
  assert(p->again.count == 0);
  p->at = p->run.count - 1;
  return rows_here(p);
}

Recording* run_parts_before(RunParts* p) {
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

RunPartsUse run_parts_use(const RunParts* p) { return (RunPartsUse){p->held, p->most, p->repeated}; }
