/* A state as a file, and a run that begins in one (docs/receding.md). */
#include <string.h>
#include "simulate/sim.h"

void sim_state_file(Sim* s, NumberFile* file) {
  int64_t identity[MODEL_IDENTITY], step = s->state.step;
  StateBlock block = {.pass = BLOCK_MEASURE};
  sim_pass_state(s, &block);
  uint64_t* words = MEMORY_NEW(uint64_t, block.at);
  int count = (int)block.at;
  block = (StateBlock){.pass = BLOCK_WRITE, .words = words};
  sim_pass_state(s, &block);
  model_identity(s->model, identity);
  *file = (NumberFile){.kind = STATE_KIND};
  number_file_add_integers(file, "identity", identity, MODEL_IDENTITY);
  number_file_add_integers(file, "step", &step, 1);
  number_file_add_doubles(file, "time", &s->state.time, 1);
  double* values = MEMORY_NEW(double, count); /* the same bits */
  memcpy(values, words, sizeof(double) * (size_t)count);
  number_file_add_doubles(file, "state", values, count);
  memory_free(values);
  memory_free(words);
}

static Status complain(const Sim* s, Diagnostics* diagnostics, const char* what) {
  const NumberFile* file = s->model->start;
  SourcePlace place = s->model->scene->start.place;
  if (!place.file) place.file = s->model->scene->path;
  diagnostics_add(diagnostics, SEVERITY_ERROR, place, "start: the state %s %s", file->path ? file->path : "given",
                  what);
  return STATUS_BAD_INPUT;
}

static bool all_finite(const double* values, int count) {
  for (int k = 0; k < count; k++)
    if (!isfinite(values[k])) return false;
  return true;
}

/* What a run can go on from; the rest a step finds out about. */
static bool plausible(const Sim* s) {
  const Model* m = s->model;
  int poses = 12 * m->link_count;
  return s->state.step == m->start_step && isfinite(s->state.time) && s->reached.dt > 0 &&
         all_finite(s->q_now, m->coordinate_count) && all_finite(s->q_old, m->coordinate_count) &&
         all_finite(s->state.rate, m->dof_count) && all_finite(&s->state.momentum[0].x, 3 * m->link_count) &&
         all_finite(&s->pose_now[0].r.m[0][0], poses) && all_finite(&s->pose_old[0].r.m[0][0], poses);
}

/* Numbers of all that comes before contact. */
static size_t words_without_contact(Sim* s) {
  ContactSystem* contact = s->contact;
  StateBlock block = {.pass = BLOCK_MEASURE};
  s->contact = NULL;
  sim_pass_state(s, &block);
  s->contact = contact;
  return block.at;
}

/* Contact, which comes last, is left off where the law is another one. */
static bool read_block(Sim* s, StateBlock* block, bool with_contact) {
  ContactSystem* contact = s->contact;
  if (!with_contact) {
    size_t count = words_without_contact(s);
    if (block->count < count) return false;
    block->count = count;
    s->contact = NULL;
  }
  bool whole = sim_read_state(s, block) && plausible(s);
  s->contact = contact;
  return whole;
}

static bool read_words(Sim* s, bool with_contact, Diagnostics* diagnostics) {
  const NumberFile* file = s->model->start;
  int count = number_file_doubles_count(file, "state");
  uint64_t* words = MEMORY_NEW(uint64_t, count > 0 ? count : 1);
  double* values = MEMORY_NEW(double, count > 0 ? count : 1); /* the same bits */
  bool read = number_file_get_doubles(file, "state", values, count > 0 ? count : 1, diagnostics);
  memcpy(words, values, sizeof(double) * (size_t)(count > 0 ? count : 1));
  memory_free(values);
  StateBlock block = {.pass = BLOCK_READ, .words = words, .count = (size_t)(count > 0 ? count : 0)};
  bool whole = read && read_block(s, &block, with_contact);
  memory_free(words);
  return whole;
}

/* Vertices or contact parameters are not those that the state was recorded with: what presses is found anew, and rests
 * on the forces that were. */
static bool meet_anew(Sim* s) {
  contact_set_part(s->contact, s->reached.dt, s->reached.dt_before, 1);
  contact_remember(s->contact, CONTACT_STEP);
  bool apart = contact_reset(s->contact, s->pose_now);
  contact_recall(s->contact, CONTACT_STEP);
  return apart;
}

/* Is the state of a model that is the same in this part of its identity? */
static bool same_part(const Sim* s, int part, Diagnostics* diagnostics) {
  int64_t own[MODEL_IDENTITY], saved[MODEL_IDENTITY];
  model_identity(s->model, own);
  return number_file_get_integers(s->model->start, "identity", saved, MODEL_IDENTITY, diagnostics) &&
         memcmp(own + 4 * (size_t)part, saved + 4 * (size_t)part, sizeof(int64_t[4])) == 0;
}

Status sim_begin_recorded(Sim* s, Diagnostics* diagnostics) {
  bool same_law = same_part(s, MODEL_PAIRS, diagnostics);
  if (!read_words(s, same_law, diagnostics))
    return complain(s, diagnostics, "is damaged: it does not hold what this scene needs");
  if (!s->contact) return STATUS_OK;
  bool apart =
      !same_law ? contact_reset(s->contact, s->pose_now) : same_part(s, MODEL_NUMBERS, diagnostics) || meet_anew(s);
  if (!apart) return complain(s, diagnostics, "has bodies that intersect with the shapes they have here");
  contact_hold(s->contact);
  return STATUS_OK;
}
