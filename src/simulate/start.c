/* Stored states in files, and runs that start from a stored state (docs/receding.md). */
#include <assert.h>
#include <string.h>
#include "linalg/arrays.h"
#include "simulate/sim.h"

/* Version of the layout that sim_serialize_state writes. */
#define STATE_FORMAT 5

/* Number of counts that a state file stores because they determine the size of a state and are not part of the model
 * identity. */
enum { LAYOUT_COUNTS = 5 };
static const char* const LAYOUT_WORDS[LAYOUT_COUNTS] = {"closures", "couplings", "equations of closures and couplings",
                                                        "measurements that feedback takes with a delay",
                                                        "drives whose feedback measures contact forces"};

static void get_layout(const Sim* s, int64_t layout[LAYOUT_COUNTS]) {
  const Model* m = s->model;
  int64_t rows = 0;
  for (int k = 0; k < m->closure_count; k++) rows += m->closures[k].row_count;
  const int64_t counts[LAYOUT_COUNTS] = {m->closure_count, m->coupling_count, rows + m->coupling_count,
                                         m->delayed_count, s->state.contact_force != NULL};
  memcpy(layout, counts, sizeof(counts));
}

void sim_state_file(Sim* s, NumberFile* file) {
  assert(s->state.step >= 1);
  int64_t identity[MODEL_IDENTITY], layout[LAYOUT_COUNTS], step = s->state.step, format = STATE_FORMAT;
  StateBlock block = {.pass = BLOCK_MEASURE};
  sim_serialize_state(s, &block);
  uint64_t* words = MEMORY_NEW(uint64_t, block.at);
  int count = (int)block.at;
  block = (StateBlock){.pass = BLOCK_WRITE, .words = words};
  sim_serialize_state(s, &block);
  model_identity(s->model, identity);
  *file = (NumberFile){.kind = STATE_KIND};
  number_file_add_integers(file, "format", &format, 1);
  number_file_add_integers(file, "identity", identity, MODEL_IDENTITY);
  get_layout(s, layout);
  number_file_add_integers(file, "layout", layout, LAYOUT_COUNTS);
  number_file_add_integers(file, "step", &step, 1);
  number_file_add_doubles(file, "time", &s->state.time, 1);
  double* values = MEMORY_NEW(double, count); /* the bits of the words as doubles */
  memcpy(values, words, sizeof(double) * (size_t)count);
  number_file_add_doubles(file, "state", values, count);
  memory_free(values);
  memory_free(words);
}

static Status report_bad_state(const Sim* s, Diagnostics* diagnostics, const char* what) {
  const NumberFile* file = s->model->start;
  SourcePosition place = s->model->scene->start.place;
  if (!place.file) place.file = s->model->scene->path;
  diagnostics_add(diagnostics, SEVERITY_ERROR, place, "start: the state %s %s", file->path ? file->path : "given",
                  what);
  return STATUS_BAD_INPUT;
}

/* Compares the counts of this scene with the counts of the recorded state. Reports the first count that differs and
 * returns STATUS_BAD_INPUT. Returns STATUS_OK if all counts agree, or if the file contains no counts. */
static Status check_layout(const Sim* s, Diagnostics* diagnostics) {
  int64_t expected[LAYOUT_COUNTS], saved[LAYOUT_COUNTS];
  const NumberFile* file = s->model->start;
  int64_t format = 1; /* format of files without this entry */
  if (number_file_integers_count(file, "format") == 1 &&
      !number_file_get_integers(file, "format", &format, 1, diagnostics))
    return STATUS_BAD_INPUT;
  if (format != STATE_FORMAT)
    return report_bad_state(s, diagnostics, "was written by another version of sdrs: record the state again");
  get_layout(s, expected);
  if (number_file_integers_count(file, "layout") != LAYOUT_COUNTS) return STATUS_OK;
  if (!number_file_get_integers(file, "layout", saved, LAYOUT_COUNTS, diagnostics)) return STATUS_BAD_INPUT;
  for (int k = 0; k < LAYOUT_COUNTS; k++) {
    if (expected[k] == saved[k]) continue;
    Text text = {0};
    text_add(&text,
             "was recorded in a scene with %lld %s, but this scene has %lld: use a scene with the same number of %s, "
             "or record the state again",
             (long long)saved[k], LAYOUT_WORDS[k], (long long)expected[k], LAYOUT_WORDS[k]);
    Status status = report_bad_state(s, diagnostics, text.data);
    text_free(&text);
    return status;
  }
  return STATUS_OK;
}

/* Returns true if a run can start from the state. Errors that this function does not detect appear in the first step.
 */
static bool is_state_plausible(const Sim* s) {
  const Model* m = s->model;
  int poses = 12 * m->link_count;
  return s->state.step == m->start_step && isfinite(s->state.time) && s->reached.dt > 0 &&
         array_finite(m->coordinate_count, s->q_now) && array_finite(m->coordinate_count, s->q_old) &&
         array_finite(m->dof_count, s->state.rate) && array_finite(3 * m->link_count, &s->state.momentum[0].x) &&
         array_finite(poses, &s->pose_now[0].r.m[0][0]) && array_finite(poses, &s->pose_old[0].r.m[0][0]);
}

/* Reads a stored state. Returns false if the state is incomplete or not plausible. with_contact: false skips the state
 * of contact, which is stored last, because the contact law differs. */
static bool read_state_block(Sim* s, StateBlock* block, bool with_contact) {
  ContactSystem* contact = s->contact;
  if (!with_contact) s->contact = NULL;
  bool whole = sim_read_state(s, block) || (!with_contact && !block->failed);
  whole = whole && is_state_plausible(s);
  s->contact = contact;
  return whole;
}

static bool read_state_words(Sim* s, bool with_contact, Diagnostics* diagnostics) {
  const NumberFile* file = s->model->start;
  int count = number_file_doubles_count(file, "state");
  uint64_t* words = MEMORY_NEW(uint64_t, count > 0 ? count : 1);
  double* values = MEMORY_NEW(double, count > 0 ? count : 1); /* the doubles of the file, whose bits are the words */
  bool read = number_file_get_doubles(file, "state", values, count > 0 ? count : 1, diagnostics);
  memcpy(words, values, sizeof(double) * (size_t)(count > 0 ? count : 1));
  memory_free(values);
  StateBlock block = {.pass = BLOCK_READ, .words = words, .count = (size_t)(count > 0 ? count : 0)};
  bool whole = read && read_state_block(s, &block, with_contact);
  memory_free(words);
  return whole;
}

/* Recomputes contact, because vertices or contact parameters differ from the stored state. The stored forces still
 * limit friction. Returns false if bodies intersect. */
static bool recompute_contact(Sim* s) {
  contact_set_substep(s->contact, s->reached.dt, s->reached.dt_before, 1);
  contact_save(s->contact, CONTACT_STEP_START);
  bool is_feasible = contact_reset(s->contact, s->pose_now);
  contact_restore(s->contact, CONTACT_STEP_START);
  return is_feasible;
}

/* Returns true if part `part` of the model identity agrees with the model that recorded the state. */
static bool is_model_part_equal(const Sim* s, int part, Diagnostics* diagnostics) {
  int64_t identity[MODEL_IDENTITY], saved[MODEL_IDENTITY];
  model_identity(s->model, identity);
  return number_file_get_integers(s->model->start, "identity", saved, MODEL_IDENTITY, diagnostics) &&
         memcmp(identity + 4 * (size_t)part, saved + 4 * (size_t)part, sizeof(int64_t[4])) == 0;
}

Status sim_start_from_stored_state(Sim* s, Diagnostics* diagnostics) {
  bool same_law = is_model_part_equal(s, MODEL_PAIRS, diagnostics);
  Status status = check_layout(s, diagnostics);
  if (status != STATUS_OK) return status;
  if (!read_state_words(s, same_law, diagnostics))
    return report_bad_state(
        s, diagnostics,
        "is incomplete, because another version of sdrs wrote the file or the file is damaged: record the state again");
  if (!s->contact) return STATUS_OK;
  bool is_feasible = !same_law ? contact_reset(s->contact, s->pose_now)
                               : is_model_part_equal(s, MODEL_NUMBERS, diagnostics) || recompute_contact(s);
  if (!is_feasible)
    return report_bad_state(
        s, diagnostics,
        "makes bodies intersect, because their shapes in this scene differ from those of the recorded run: "
        "restore the shapes, or record the state again");
  contact_make_constant(s->contact);
  return STATUS_OK;
}
