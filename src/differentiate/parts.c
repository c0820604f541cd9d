/* Recording of a run with limited memory (checkpointing; docs/derivations/adjoint.md, A18).
 * The run is divided into segments. Each segment stores its initial state (checkpoint), and its rows while memory
 * permits. The rows of the oldest segments are freed first, because the adjoint needs the newest rows first. If the
 * checkpoints use more than half of the memory, pairs of segments are merged. Missing rows are recomputed from the
 * checkpoint, in shorter segments if necessary. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "differentiate/recording.h"

enum {
  FIRST_LENGTH = 32, /* number of rows of a segment at the start; a checkpoint takes as much memory as a few rows */
  SEGMENTS_MIN = 3,  /* smallest number of segments, even if memory is too small */
};
/* Fraction of the memory reserved for the growth of arrays. */
#define RESERVED_FRACTION (1.0 / 16)

typedef struct {
  int row, end;                    /* first and last row */
  int64_t state;                   /* number of the checkpoint's state in the run */
  RecordedState earlier_states[2]; /* states before the checkpoint, in order of time (size: earlier_state_count) */
  int earlier_state_count;
  SimSnapshot* checkpoint;
  bool checkpoint_is_borrowed; /* another segment owns the checkpoint */
  Recording* rows;             /* NULL if not stored */
  size_t bytes;                /* memory of checkpoint and rows [bytes] */
} RunSegment;

typedef struct {
  RunSegment* items;
  int count, capacity;
} SegmentStack;

struct RunSegments {
  const Model* model;
  RecordOptions options;
  int* substeps;           /* RecordOptions.substeps, or NULL */
  SegmentStack recorded;   /* segments of the recorded run */
  SegmentStack recomputed; /* shorter segments of the segment that is recomputed */
  SegmentStack* target;    /* stack to which rows are added */
  int first_free;          /* first segment of `target` that may be merged or freed */
  int segment_length, last_row;
  RecordedState recent[3]; /* last states, the current state at the end (size: recent_count) */
  int recent_count;
  int64_t state;                /* number of the current state in the run */
  int contacts_max, states_max; /* largest number of contacts of a state and of states of a row so far */
  size_t limit, used, peak;
  int64_t recomputed_steps;
  Sim* sim;    /* simulation that recomputes rows */
  int current; /* segment of `recorded` that the adjoint has reached */
};

/* ---------------------------------------------------------------- memory */

static RunSegment* last_segment(const SegmentStack* stack) {
  assert(stack->count > 0);
  return &stack->items[stack->count - 1];
}

static void update_memory(RunSegments* p, RunSegment* segment) {
  size_t bytes = segment->checkpoint && !segment->checkpoint_is_borrowed ? sim_snapshot_size(segment->checkpoint) : 0;
  if (segment->rows) bytes += sizeof(Recording) + recording_bytes(segment->rows);
  p->used = p->used - segment->bytes + bytes;
  segment->bytes = bytes;
  if (p->used > p->peak) p->peak = p->used;
}

static void free_rows(RunSegments* p, RunSegment* segment) {
  if (!segment->rows) return;
  recording_destroy(segment->rows);
  memory_free(segment->rows);
  segment->rows = NULL;
  update_memory(p, segment);
}

static void free_segment(RunSegments* p, RunSegment* segment) {
  free_rows(p, segment);
  if (!segment->checkpoint_is_borrowed) sim_snapshot_destroy(segment->checkpoint);
  segment->checkpoint = NULL;
  update_memory(p, segment);
}

static RunSegment* append_segment(SegmentStack* stack) {
  assert(stack->count >= 0);
  stack->items = memory_grow_array(stack->items, sizeof(RunSegment), stack->count, &stack->capacity);
  RunSegment* segment = &stack->items[stack->count++];
  *segment = (RunSegment){.row = 0};
  return segment;
}

static size_t checkpoint_memory(const SegmentStack* stack, int first) {
  size_t bytes = 0;
  for (int k = first; k < stack->count; k++)
    bytes += stack->items[k].checkpoint_is_borrowed ? 0 : sim_snapshot_size(stack->items[k].checkpoint);
  return bytes;
}

/* Merges every second segment with the one before it, and doubles the segment length. */
static void merge_pairs(RunSegments* p) {
  SegmentStack* s = p->target;
  int kept = p->first_free;
  for (int k = p->first_free; k < s->count; k++) {
    RunSegment* segment = &s->items[k];
    if ((k - p->first_free) % 2 == 0) {
      if (kept != k) s->items[kept] = *segment;
      kept++;
      continue;
    }
    s->items[kept - 1].end = segment->end;
    free_rows(p, &s->items[kept - 1]);
    free_segment(p, segment);
  }
  s->count = kept;
  p->segment_length = p->segment_length > INT_MAX / 2 ? INT_MAX : 2 * p->segment_length;
}

static void merge_segments(RunSegments* p) {
  SegmentStack* s = p->target;
  size_t lower = p->used;
  for (int k = p->first_free; k < s->count; k++) lower -= s->items[k].bytes;
  size_t available = p->limit > lower ? p->limit - lower : 0;
  while (checkpoint_memory(s, p->first_free + 1) > available / 2 && s->count - p->first_free > SEGMENTS_MIN)
    merge_pairs(p);
}

/* Frees the rows of the oldest segments until `more` bytes fit. The last segment keeps at least one row, because
 * the adjoint starts from it. */
static void free_oldest_rows(RunSegments* p, size_t more) {
  SegmentStack* s = p->target;
  for (int k = p->first_free; k < s->count && p->used + more > p->limit; k++)
    if (k + 1 < s->count || s->items[k].end > s->items[k].row + 1) free_rows(p, &s->items[k]);
}

/* ---------------------------------------------------------------- recording */

static size_t row_size(const RunSegments* p) {
  const Model* m = p->model;
  size_t links = (size_t)m->link_count, size = sizeof(double) * (size_t)m->coordinate_count + sizeof(Pose) * links;
  if (m->simulation.integrator == INTEGRATOR_MOMENTUM) size += sizeof(Vec3) * links;
  size += sizeof(int) + sizeof(RecordedState) + sizeof(ContactRecord) * (size_t)p->contacts_max;
  return size * (size_t)p->states_max;
}

/* Begins to store the rows of a segment at the current state, if all its rows fit into memory. */
static void begin_rows(RunSegments* p, RunSegment* segment, Sim* sim) {
  size_t starts = checkpoint_memory(&p->recorded, 0) + checkpoint_memory(&p->recomputed, 0),
         available = p->limit > starts ? p->limit - starts : 0;
  if (p->segment_length > 1 && ((size_t)p->segment_length + 3) > available / row_size(p)) return;
  free_oldest_rows(p, ((size_t)p->segment_length + 3) * row_size(p));
  segment->rows = MEMORY_NEW(Recording, 1);
  int contacts =
      p->contacts_max < INT_MAX / (p->segment_length + 1) ? p->contacts_max * (p->segment_length + 1) : INT_MAX;
  recording_create_segment(segment->rows, p->model, segment->row, p->segment_length, contacts);
  SimHistory history = sim_history(sim);
  int count = segment->earlier_state_count;
  if (count == 2)
    recording_add_earlier_state(segment->rows, &segment->earlier_states[0], history.q_older, history.pose_older);
  if (count > 0)
    recording_add_earlier_state(segment->rows, &segment->earlier_states[count - 1], history.q_old, history.pose_old);
  segment->rows->start_state = count;
  segment->rows->first_state = segment->state - count;
  recording_store_row(segment->rows, sim, segment->row);
  update_memory(p, segment);
}

static void update_contacts_max(RunSegments* p, Sim* sim) {
  int count;
  (void)sim_contact_records(sim, &count);
  if (count > p->contacts_max) p->contacts_max = count;
}

/* Begins a new segment at the current state. */
static void begin_segment(RunSegments* p, Sim* sim, int row) {
  if (p->target->count > 0) free_oldest_rows(p, sim_snapshot_size(last_segment(p->target)->checkpoint));
  RunSegment* segment = append_segment(p->target);
  segment->row = segment->end = row;
  segment->state = p->state;
  segment->earlier_state_count = p->recent_count - 1;
  for (int k = 0; k < segment->earlier_state_count; k++) segment->earlier_states[k] = p->recent[k];
  segment->checkpoint = sim_save(sim);
  update_contacts_max(p, sim);
  update_memory(p, segment);
  merge_segments(p);
  if (last_segment(p->target)->row != row) return; /* merge_segments merged the new segment */
  begin_rows(p, last_segment(p->target), sim);
  free_oldest_rows(p, 0);
}

static void add_recent(RunSegments* p, int step, bool row) {
  if (p->recent_count == 3) {
    p->recent[0] = p->recent[1];
    p->recent[1] = p->recent[2];
    p->recent_count--;
  }
  p->recent[p->recent_count++] = (RecordedState){.step = step, .row = row, .substep_index = -1};
}

static void add_states(RunSegments* p, const Sim* sim, int row) {
  int substates;
  (void)sim_substates(sim, &substates);
  for (int k = 0; k < substates; k++) add_recent(p, row, false);
  add_recent(p, row, true);
  p->state += substates + 1;
  if (substates + 1 > p->states_max) p->states_max = substates + 1;
}

void run_segments_add_row(RunSegments* segments, Sim* sim, int row) {
  assert(row > 0);
  RunSegment* segment = last_segment(segments->target);
  add_states(segments, sim, row);
  segment->end = row;
  if (segment->rows) {
    recording_store_row(segment->rows, sim, row);
    update_memory(segments, segment);
    free_oldest_rows(segments, 0);
  }
  if (row - segment->row < segments->segment_length || row >= segments->last_row) return;
  if (segment->rows) {
    recording_trim(segment->rows);
    update_memory(segments, segment);
  }
  begin_segment(segments, sim, row);
}

RunSegments* run_segments_create(const Model* model, Sim* sim, int steps, const RecordOptions* options) {
  memory_return_freed_blocks(); /* memory freed in this thread must be available to other threads */
  RunSegments* p = MEMORY_NEW(RunSegments, 1);
  *p = (RunSegments){
      .model = model, .options = *options, .segment_length = FIRST_LENGTH, .last_row = INT_MAX, .current = -1};
  p->states_max = simulation_substep_count(&model->simulation);
  p->limit = options->memory - (size_t)(RESERVED_FRACTION * (double)options->memory);
  p->target = &p->recorded;
  if (options->substeps) {
    size_t size = sizeof(int) * (size_t)steps;
    p->options.substeps = p->substeps = memcpy(memory_alloc(size), options->substeps, size);
  }
  for (int k = 0; model_has_earlier_states(model) && k < STATES_BEFORE; k++) add_recent(p, 0, false);
  p->state = model_has_earlier_states(model) ? STATES_BEFORE : 0;
  add_recent(p, 0, true);
  begin_segment(p, sim, 0);
  return p;
}

static void destroy_stack(RunSegments* p, SegmentStack* stack) {
  for (int k = 0; k < stack->count; k++) free_segment(p, &stack->items[k]);
  memory_free(stack->items);
}

void run_segments_destroy(RunSegments* segments) {
  if (!segments) return;
  destroy_stack(segments, &segments->recomputed);
  destroy_stack(segments, &segments->recorded);
  memory_free(segments->substeps);
  sim_destroy(segments->sim);
  memory_free(segments);
}

/* ---------------------------------------------------------------- recomputation */

/* Returns the number of rows per segment for the recomputation of `rows` rows. If the rows do not fit into memory, rows
 * and checkpoints get equal shares. */
static int choose_segment_length(const RunSegments* p, int rows) {
  assert(rows > 0);
  size_t available = p->limit > p->used ? p->limit - p->used : 0, fit = available / row_size(p),
         half = ((size_t)rows + 1) / 2;
  if ((size_t)rows + 3 <= fit) return rows;
  size_t some = fit / 2 < half ? fit / 2 : half;
  return some > 1 ? (int)some : 1;
}

static void restore_segment(RunSegments* p, RunSegment* segment) {
  sim_restore(p->sim, segment->checkpoint);
  p->recent_count = 0;
  for (int k = 0; k < segment->earlier_state_count; k++) p->recent[p->recent_count++] = segment->earlier_states[k];
  add_recent(p, segment->row, true);
  p->state = segment->state;
  segment->end = segment->row;
  free_rows(p, segment);
  begin_rows(p, segment, p->sim);
}

/* Recomputes the last segment of `recomputed`, in segments of the given length. No step can fail, because the results
 * are bit-identical. */
static void recompute_segment(RunSegments* p, int segment_length) {
  int first_free = p->recomputed.count - 1, row = p->recomputed.items[first_free].row,
      last_row = p->recomputed.items[first_free].end;
  p->target = &p->recomputed;
  p->first_free = first_free;
  p->segment_length = segment_length;
  p->last_row = last_row;
  restore_segment(p, &p->recomputed.items[first_free]);
  while (row < last_row) {
    row++;
    StepReport report = recording_step(p->sim, &p->options, row);
    assert(!step_outcome_failed(report.outcome));
    (void)report;
    run_segments_add_row(p, p->sim, row);
    p->recomputed_steps++;
  }
}

static void require_sim(RunSegments* p) {
  if (p->sim) return;
  Diagnostics none = {0};
  SimOptions options = {.threads = p->options.threads, .tolerance = p->options.tolerance};
  Status status = sim_create(&p->sim, p->model, &options, &none);
  assert(status == STATUS_OK); /* a repeated step cannot fail */
  (void)status;
  diagnostics_free(&none);
}

/* Recomputes the rows of the last segment of `recomputed`, in shorter segments if the rows do not fit into memory. */
static void recompute_rows(RunSegments* p) {
  require_sim(p);
  while (!last_segment(&p->recomputed)->rows) {
    const RunSegment* segment = last_segment(&p->recomputed);
    int rows = segment->end - segment->row, row = segment->row;
    recompute_segment(p, choose_segment_length(p, rows));
    segment = last_segment(&p->recomputed);
    if (!segment->rows && segment->row == row)
      recompute_segment(p, (rows + 1) / 2); /* the rows needed more memory than estimated */
  }
}

static Recording* current_rows(RunSegments* p) {
  if (p->recomputed.count > 0) {
    recompute_rows(p);
    return last_segment(&p->recomputed)->rows;
  }
  while (p->current > 0 && p->recorded.items[p->current].end == p->recorded.items[p->current].row) p->current--;
  if (p->current < 0) {
    sim_destroy(p->sim);
    p->sim = NULL;
    return NULL;
  }
  const RunSegment* segment = &p->recorded.items[p->current];
  if (segment->rows) return segment->rows;
  RunSegment* copy = append_segment(&p->recomputed);
  *copy = *segment;
  copy->checkpoint_is_borrowed = true;
  copy->bytes = 0;
  recompute_rows(p);
  return last_segment(&p->recomputed)->rows;
}

Recording* run_segments_last(RunSegments* segments) {
  assert(segments->recomputed.count == 0);
  segments->current = segments->recorded.count - 1;
  return current_rows(segments);
}

Recording* run_segments_previous(RunSegments* segments) {
  if (segments->recomputed.count > 0) {
    free_segment(segments, last_segment(&segments->recomputed));
    segments->recomputed.count--;
    segments->current -= segments->recomputed.count == 0;
  } else {
    free_rows(segments, &segments->recorded.items[segments->current]);
    segments->current--;
  }
  return current_rows(segments);
}

RunSegmentsUse run_segments_use(const RunSegments* segments) {
  return (RunSegmentsUse){segments->used, segments->peak, segments->recomputed_steps};
}
