/* Records the moves of the solver, so that the proof of a run can be repeated from its files
 * (docs/derivations/certificate.md, P6). */
#include <assert.h>
#include <string.h>

#include "simulate/sim.h"

/* INITIAL_MOVE_CAPACITY: number of moves for which memory is allocated before the first step. MOVES_PER_BLOCK: after
 * this number of moves within a step, the moves are replaced by one move if the straight path over them has a proof. */
enum { INITIAL_MOVE_CAPACITY = 64, MOVES_PER_BLOCK = 8 };
/* The increments of a ball joint can be recovered from its two recorded rotations if the first and third increments are
 * inside (-pi, pi) and the second is inside (-pi/2, pi/2). The limit leaves a margin below these bounds [rad]. */
#define RECOVERABLE_ANGLE_MAX 3.0
#define LARGEST_MIDDLE_TURN 1.5

void path_create(Sim* s) {
  const Model* m = s->model;
  if (!s->options.path || !m->simulation.certificate || m->dof_count == 0) return;
  Path* p = &s->path;
  p->capacity = INITIAL_MOVE_CAPACITY;
  p->delta = MEMORY_NEW(double, (size_t)p->capacity*(size_t)m->dof_count);
  p->time = MEMORY_NEW(double, p->capacity);
  p->increments = MEMORY_NEW(double, m->dof_count);
  p->poses = MEMORY_NEW(Pose, m->link_count);
  p->screws = MEMORY_NEW(Screw, m->dof_count);
  p->bounds = (MotionBounds){MEMORY_NEW(MotionBound, m->link_count), MEMORY_NEW(JointBound, m->link_count)};
  p->begin = MEMORY_NEW(double, m->coordinate_count);
  p->from = MEMORY_NEW(double, m->coordinate_count);
  p->recorded_q = MEMORY_NEW(double, m->coordinate_count);
  memcpy(p->recorded_q, s->q_now, sizeof(double) * (size_t)m->coordinate_count);
}

void path_restart(Sim* s) {
  Path* p = &s->path;
  if (!p->delta) return;
  p->count = p->first = p->parts = p->block = 0;
  p->is_proof_at_recorded_state = false;
  memcpy(p->recorded_q, s->q_now, sizeof(double) * (size_t)s->model->coordinate_count);
}

void path_destroy(Path* p) {
  void* owned[] = {p->delta,      p->time,  p->increments, p->begin,       p->from,
                   p->recorded_q, p->poses, p->screws,     p->bounds.link, p->bounds.joint};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
  proof_destroy(p->proof);
}

void path_begin(Sim* s) {
  Path* p = &s->path;
  if (!p->delta) return;
  p->first = p->block = p->count;
  memcpy(p->begin, s->configuration[s->current].q, sizeof(double) * (size_t)s->model->coordinate_count);
  contact_mark_path_start(s->contact);
}

void path_save_counts(Sim* s) {
  s->path.saved_count = s->path.count;
  s->path.saved_substeps = s->path.parts;
}

void path_restore_counts(Sim* s) {
  assert(s->path.saved_count <= s->path.count);
  s->path.count = s->path.first = s->path.saved_count;
  s->path.parts = s->path.saved_substeps;
}

static double* append_move_row(Path* p, int dof_count) {
  size_t row = sizeof(double) * (size_t)dof_count;
  if (p->count == p->capacity) {
    size_t old = (size_t)p->capacity;
    p->delta = memory_resize(p->delta, row * old, 2 * row * old);
    p->time = memory_resize(p->time, sizeof(double) * old, 2 * sizeof(double) * old);
    p->capacity *= 2;
  }
  return p->delta + (size_t)p->count++ * (size_t)dof_count;
}

/* Returns true if the increments `delta` of all ball joints can be recovered from the recorded rotations. */
static bool are_ball_increments_recoverable(const Model* m, const double* delta) {
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!link->joint.quaternion) continue;
    const double* d = delta + link->dof_first + link->joint.scalar_count;
    if (!(fabs(d[0]) < RECOVERABLE_ANGLE_MAX && fabs(d[1]) < LARGEST_MIDDLE_TURN && fabs(d[2]) < RECOVERABLE_ANGLE_MAX))
      return false;
  }
  return true;
}

static void compute_poses_on_path(void* context, double fraction, int link, int from, Pose* poses) {
  Sim* s = context;
  model_displaced_link_pose(s->model, link, from, s->path.from, s->path.increments, fraction, s->certificate.q, poses);
}

/* Returns true if the straight path from path.from to the accepted state has a proof. Sets path.increments.
 * starts_at_solve: true if path.from is the state at the start of the solve. */
static bool is_straight_path_proved(Sim* s, bool starts_at_solve) {
  Path* p = &s->path;
  const Model* m = s->model;
  proof_straight_increments(m, p->from, s->configuration[s->current].q, p->increments);
  if (!are_ball_increments_recoverable(m, p->increments)) return false;
  model_poses(m, p->from, p->poses);
  model_screws(m, p->from, p->poses, p->screws);
  motion_bounds(m, p->from, p->poses, p->screws, p->increments, &p->bounds);
  return contact_certify_arrival(s->contact, &p->bounds, compute_poses_on_path, s, starts_at_solve);
}

/* Returns true if the straight path from the position after the first `moves` moves of this solve to the accepted state
 * has a proof. Sets path.from and path.increments. */
static bool is_straight_path_proved_after(Sim* s, int moves) {
  assert(moves >= 0);
  Path* p = &s->path;
  const Model* m = s->model;
  memcpy(p->from, p->begin, sizeof(double) * (size_t)m->coordinate_count);
  for (int k = 0; k < moves; k++)
    model_increment(m, p->from, p->delta + (size_t)(p->first + k) * (size_t)m->dof_count, 1.0, p->from);
  return is_straight_path_proved(s, moves == 0);
}

/* Replaces all moves from index `last` on by the single move path.increments. */
static void replace_moves(Sim* s, int last) {
  Path* p = &s->path;
  size_t width = (size_t)s->model->dof_count;
  memcpy(p->delta + (size_t)last * width, p->increments, sizeof(double) * width);
  p->count = last + 1;
}

double* path_append_zero_move(Sim* s) {
  if (!s->path.delta) return NULL;
  double* row = append_move_row(&s->path, s->model->dof_count);
  memset(row, 0, sizeof(double) * (size_t)s->model->dof_count);
  return row;
}

void path_append_move(Sim* s) {
  Path* p = &s->path;
  if (!p->delta) return;
  if (s->subsystems.moves) {
    subsystem_add_move(s);
    return;
  }
  if (p->count - p->block >= MOVES_PER_BLOCK) {
    if (is_straight_path_proved_after(s, p->block - p->first)) replace_moves(s, p->block);
    p->block = p->count;
  }
  memcpy(append_move_row(p, s->model->dof_count), s->newton.scaled, sizeof(double) * (size_t)s->model->dof_count);
}

/* Returns the smallest number of moves of this solve after which the straight path to the accepted state has a proof,
 * found by doubling and bisection. If none was found, returns the number of all moves but the last. */
static int find_moves_before_straight_path(Sim* s) {
  int count = s->path.count - s->path.first, low = 0,
      high = 1; /* the straight path has no proof after `low` moves, but has one after `high` moves */
  if (count == 1 || is_straight_path_proved_after(s, 0)) return 0;
  while (high < count - 1 && !is_straight_path_proved_after(s, high)) {
    low = high;
    high = 2 * high < count - 1 ? 2 * high : count - 1;
  }
  while (high - low > 1) {
    int middle = (low + high) / 2;
    bool proved = is_straight_path_proved_after(s, middle);
    if (proved)
      high = middle;
    else
      low = middle;
  }
  return high;
}

static void shorten_moves(Sim* s) {
  Path* p = &s->path;
  int kept = find_moves_before_straight_path(s), last = p->first + kept;
  if (last >= p->count - 1) return;             /* nothing to replace if a single move remains */
  (void)is_straight_path_proved_after(s, kept); /* sets path.increments to the straight path over the replaced moves */
  replace_moves(s, last);
}

void path_end(Sim* s, bool reached, double time) {
  Path* p = &s->path;
  if (!p->delta) return;
  if (!reached) p->count = p->first;
  p->parts += reached;
  if (p->count == p->first) return;
  double start = timer_now();
  shorten_moves(s);
  p->straight = p->count == p->first + 1 &&
                are_ball_increments_recoverable(s->model, p->delta + (size_t)p->first * (size_t)s->model->dof_count);
  for (int k = p->first; k < p->count; k++) p->time[k] = time;
  p->first = p->count;
  s->times.certificate += timer_now() - start;
}

/* Returns true if the straight path between two recorded states, several substeps apart, can be proved from these
 * states alone. */
static bool recorded_states_suffice(Sim* s) {
  Path* p = &s->path;
  if (!p->proof) p->proof = proof_create(s->model, s->options.threads);
  if (!p->is_proof_at_recorded_state) proof_restart(p->proof, p->recorded_q);
  p->is_proof_at_recorded_state = true;
  return proof_next_straight(p->proof, s->q_now).outcome == PROOF_DISJOINT;
}

SimPath sim_path(Sim* s) {
  Path* p = &s->path;
  SimPath out = {0};
  if (!p->delta) return out;
  bool plain = p->count == 0 || (p->count == 1 && p->straight), proved = false;
  if (!plain && p->parts > 1)
    proved = recorded_states_suffice(s);
  else
    p->is_proof_at_recorded_state = false;
  if (!plain && !proved) out = (SimPath){p->count, p->time, p->delta};
  memcpy(p->recorded_q, s->q_now, sizeof(double) * (size_t)s->model->coordinate_count);
  p->count = p->parts = 0;
  return out;
}
