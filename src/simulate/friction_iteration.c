/* Friction that is limited by the normal force of its own step: additional solves of a step
 * (docs/derivations/friction.md, F8). */
#include <assert.h>
#include <string.h>

#include "simulate/sim.h"
#include "simulate/spin.h"

static int first_solve_of_substep(const Sim* s) {
  return s->substeps.states.count > 0 ? s->substeps.states.solve_end[s->substeps.states.count - 1] : 0;
}

void friction_iteration_discard(Sim* s) { s->substeps.solves.count = first_solve_of_substep(s); }

static void grow(SolveStore* store, const Model* m) {
  if (store->count < store->capacity) return;
  int old = store->capacity, new = old > 0 ? 2 * old : 4;
  store->list = memory_resize(store->list, sizeof(SimSolve) * (size_t)old, sizeof(SimSolve) * (size_t) new);
  store->record_capacity = memory_resize(store->record_capacity, sizeof(int) * (size_t)old, sizeof(int) * (size_t) new);
  for (int k = old; k < new; k++) {
    store->list[k] = (SimSolve){.q = MEMORY_NEW(double, m->coordinate_count), .pose = MEMORY_NEW(Pose, m->link_count)};
    store->record_capacity[k] = 0;
  }
  store->capacity = new;
}

/* Stores the result of the present solve in s->substeps.solves. The casts remove const from arrays that the store owns.
 */
static void store_solve(Sim* s) {
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  SolveStore* store = &s->substeps.solves;
  grow(store, m);
  SimSolve* to = &store->list[store->count];
  int* capacity = &store->record_capacity[store->count++];
  memcpy((double*)to->q, c->q, sizeof(double) * (size_t)m->coordinate_count);
  memcpy((Pose*)to->pose, c->pose, sizeof(Pose) * (size_t)m->link_count);
  const ContactRecord* records = sim_contact_records(s, &to->contact_count);
  if (to->contact_count > *capacity) {
    memory_free((ContactRecord*)to->contacts);
    *capacity = to->contact_count + to->contact_count / 2 + 16;
    to->contacts = MEMORY_NEW(ContactRecord, *capacity);
  }
  if (to->contact_count > 0)
    memcpy((ContactRecord*)to->contacts, records, sizeof(ContactRecord) * (size_t)to->contact_count);
}

const SimSolve* sim_solves(const Sim* s, int* count) {
  *count = s->substeps.solves.count - first_solve_of_substep(s);
  return s->substeps.solves.list + first_solve_of_substep(s);
}

void friction_iteration_free(Sim* s) {
  SolveStore* store = &s->substeps.solves;
  for (int k = 0; k < store->capacity; k++) {
    memory_free((double*)store->list[k].q);
    memory_free((Pose*)store->list[k].pose);
    memory_free((ContactRecord*)store->list[k].contacts);
  }
  memory_free(store->list);
  memory_free(store->record_capacity);
}

size_t sim_solves_size(const SimSolve* solves, int count, const Model* m) {
  size_t each = sizeof(SimSolve) + sizeof(double) * (size_t)m->coordinate_count + sizeof(Pose) * (size_t)m->link_count;
  size_t size = each * (size_t)count;
  for (int k = 0; k < count; k++) size += sizeof(ContactRecord) * (size_t)solves[k].contact_count;
  return size;
}

/* Copies `size` bytes to *room, advances *room by `size`, and returns the address of the copy. The copies are aligned
 * because all sizes are multiples of 8 bytes. */
static const void* copy_into_block(char** room, const void* from, size_t size) {
  void* to = *room;
  if (size > 0) memcpy(to, from, size);
  *room += size;
  return to;
}

SimSolve* sim_solves_copy(const SimSolve* solves, int count, const Model* m) {
  assert(count >= 0 && (solves || count == 0));
  if (count == 0) return NULL;
  SimSolve* out = memory_alloc(sim_solves_size(solves, count, m));
  char* room = (char*)(out + count);
  for (int k = 0; k < count; k++) {
    out[k].q = copy_into_block(&room, solves[k].q, sizeof(double) * (size_t)m->coordinate_count);
    out[k].pose = copy_into_block(&room, solves[k].pose, sizeof(Pose) * (size_t)m->link_count);
    out[k].contact_count = solves[k].contact_count;
    out[k].contacts =
        copy_into_block(&room, solves[k].contacts, sizeof(ContactRecord) * (size_t)solves[k].contact_count);
  }
  return out;
}

/* ---------------------------------------------------------------- repeated solves of a step */

static StepReport repeat_solve(Sim* s, bool late_friction) {
  StepReport report = step_unsolved(INFINITY);
  if (!contact_relag(s->contact, late_friction)) return report;
  s->friction_solve.iterates = true;
  report = step_solve(s);
  s->friction_solve.iterates = false;
  return report;
}

/* Returns true if the lengths of substeps depend on the solution, as in impacts with restitution. The friction of such
 * impacts acts in a separate substep. */
static bool has_variable_length(const StepClock* c) {
  return c->kind == STEP_IMPACT_SUBSTEP || c->end == END_AT_EVENT || c->begin_varies || c->dt_varies ||
         c->before_varies || c->older_varies;
}

/* Number of solves after the first one in a step with late friction (F14). */
enum { LATE_FRICTION_SOLVES = 1 };

/* Returns true if late friction requires a second solve of the step. Returns false in the first step of a run whose
 * friction has a warm start (F6), and if a body in contact rotates further than W10 (spin.md) allows. */
static bool needs_late_friction_solve(Sim* s) {
  return !s->friction_solve.has_initial && contact_friction_uses_current_force(s->contact) &&
         spin_substep_count(s, s->clock.dt) == 1;
}

/* Rotation of a body in contact within a substep [rad] above which only the first solve is made (F8). Later solves use
 * the slip of a point fixed in the body, r sin(rotation) / dt, which changes its direction at pi. */
#define SLIP_ROTATION_MAX 2.5

/* Returns the number of solves of the step after the first one. requested: number in the scene; negative:
 * LATE_FRICTION_SOLVES if friction is late (F14). */
static int count_additional_solves(Sim* s, int requested) {
  if (requested == 0 || has_variable_length(&s->clock)) return 0;
  if (requested < 0) return needs_late_friction_solve(s) ? LATE_FRICTION_SOLVES : 0;
  return s->clock.dt * spin_contact_angular_speed(s) < SLIP_ROTATION_MAX ? requested : 0;
}

void friction_iteration_solve(Sim* s, StepReport* report) {
  const int requested = s->model->contact.friction_iterations;
  const bool late_friction = requested < 0, varies = has_variable_length(&s->clock);
  const int most = count_additional_solves(s, requested);
  for (int k = 0; k < most; k++) {
    if (!late_friction && contact_friction_has_converged(s->contact, s->tolerance, NULL)) return;
    store_solve(s);
    StepReport one = repeat_solve(s, late_friction);
    step_add_counters(&one, report);
    *report = one;
    if (step_outcome_failed(one.outcome)) return;
  }
  if ((requested <= 0 || most == 0) && !varies)
    report->late_friction = contact_friction_delay_speed(s->contact, s->clock.dt, report->late_links);
  report->friction_open =
      !late_friction && most > 0 && !contact_friction_has_converged(s->contact, s->tolerance, report->friction_links);
}
