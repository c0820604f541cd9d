/* Warm start of friction in the first step of a run: the step is first solved without friction
 * (docs/derivations/friction.md, F6). */
#include <assert.h>
#include <string.h>

#include "simulate/sim.h"

bool initial_friction_needed(const Sim* s) {
  return s->contact && !(s->reached.dt > 0) && contact_friction_acts(s->contact);
}

static void store_solution(Sim* s) {
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  size_t coordinates = (size_t)m->coordinate_count, links = (size_t)m->link_count;
  if (!s->friction_solve.initial_q) s->friction_solve.initial_q = MEMORY_NEW(double, coordinates);
  if (!s->friction_solve.initial_pose) s->friction_solve.initial_pose = MEMORY_NEW(Pose, links);
  memcpy(s->friction_solve.initial_q, c->q, sizeof(double) * coordinates);
  memcpy(s->friction_solve.initial_pose, c->pose, sizeof(Pose) * links);
  contact_store_forces(s->contact, CONTACT_END);
  s->friction_solve.initial = (InitialFriction){.clock = s->clock,
                                                .q = s->friction_solve.initial_q,
                                                .pose = s->friction_solve.initial_pose,
                                                .start = contact_stored_forces(s->contact, CONTACT_START),
                                                .end = contact_stored_forces(s->contact, CONTACT_END)};
}

bool initial_friction_solve(Sim* s, StepReport* report) {
  assert(initial_friction_needed(s));
  contact_save(s->contact, CONTACT_SUBSTEP_START);
  contact_set_grip(s->contact, GRIP_NONE);
  *report = step_unsolved(INFINITY);
  if (!contact_lag(s->contact)) return false;
  contact_store_forces(s->contact, CONTACT_START);
  path_begin(s);
  *report = step_solve(s);
  path_end(s, false, s->clock.time);
  if (step_outcome_failed(report->outcome)) return false;
  store_solution(s);
  s->friction_solve.has_initial = true;
  step_restore(s, CONTACT_SUBSTEP_START);
  contact_set_grip(s->contact, GRIP_FOUND);
  step_prepare(s);
  return true;
}

const InitialFriction* sim_initial_friction(const Sim* s) {
  return s->friction_solve.has_initial ? &s->friction_solve.initial : NULL;
}

void initial_friction_free(Sim* s) {
  memory_free(s->friction_solve.initial_q);
  memory_free(s->friction_solve.initial_pose);
}

static size_t forces_size(const ContactForces* f) { return (sizeof(ContactRecord) + sizeof(Vec3)) * (size_t)f->count; }

size_t sim_initial_friction_size(const InitialFriction* initial_friction, const Model* m) {
  return sizeof(InitialFriction) + sizeof(double) * (size_t)m->coordinate_count + sizeof(Pose) * (size_t)m->link_count +
         forces_size(&initial_friction->start) + forces_size(&initial_friction->end);
}

/* Copies `size` bytes to *room, advances *room by `size`, and returns the address of the copy. The copies are aligned
 * because all sizes are multiples of eight bytes. */
static const void* copy_into_block(char** room, const void* from, size_t size) {
  void* to = *room;
  if (size > 0) memcpy(to, from, size);
  *room += size;
  return to;
}

static ContactForces copy_forces(char** room, const ContactForces* f) {
  size_t count = (size_t)f->count;
  ContactForces out = {.count = f->count};
  out.records = copy_into_block(room, f->records, sizeof(ContactRecord) * count);
  out.force = copy_into_block(room, f->force, sizeof(Vec3) * count);
  return out;
}

InitialFriction* sim_initial_friction_copy(const InitialFriction* initial_friction, const Model* m) {
  InitialFriction* out = memory_alloc(sim_initial_friction_size(initial_friction, m));
  char* room = (char*)(out + 1);
  *out = (InitialFriction){.clock = initial_friction->clock};
  out->q = copy_into_block(&room, initial_friction->q, sizeof(double) * (size_t)m->coordinate_count);
  out->pose = copy_into_block(&room, initial_friction->pose, sizeof(Pose) * (size_t)m->link_count);
  out->start = copy_forces(&room, &initial_friction->start);
  out->end = copy_forces(&room, &initial_friction->end);
  return out;
}
