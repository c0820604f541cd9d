/* Data of pairs of the law `separating_plane` that later steps need: stored between two solves of a step, in a saved
 * state of the run, and in the record of a step. */
#include <string.h>

#include "contact/law_separating_plane_pair.h"

void plane_pair_keep(const LawPair* p, void* kept) {
  *(KeptPair*)kept = (KeptPair){((const PairData*)p->data)->impact,
                                plane_pair_compression(p),
                                ((const PairMemory*)p->memory)->progress,
                                plane_pair_slip(p),
                                plane_pair_elastic_slip(p),
                                ((const PairMemory*)p->memory)->net_limit};
}

void plane_pair_recall(const LawPair* p, const void* kept) {
  PairMemory* memory = p->memory;
  ((PairData*)p->data)->impact = ((const KeptPair*)kept)->impact;
  memory->progress = ((const KeptPair*)kept)->progress;
  memory->last_slip = ((const KeptPair*)kept)->slip;
  memory->next_elastic = ((const KeptPair*)kept)->elastic;
  memory->net_limit = ((const KeptPair*)kept)->net_limit;
  memory->has_last_slip = true;
}

static void pass_pressure(Pressure* pressure, StateBlock* block) {
  state_block_doubles(block, &pressure->potential, 1);
  state_block_doubles(block, &pressure->force, 1);
}

static void pass_impact(Impact* impact, StateBlock* block) {
  double* numbers[] = {&impact->value,      &impact->first,         &impact->second,     &impact->by_before,
                       &impact->by_support, &impact->by_rest_speed, &impact->by_inertia, &impact->by_stiffness,
                       &impact->by_dt,      &impact->by_dt_before};
  for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) state_block_doubles(block, numbers[k], 1);
  pass_pressure(&impact->by_now, block);
  pass_pressure(&impact->by_old, block);
}

static void pass_course(ImpactProgress* course, StateBlock* block) {
  ImpactPast* past = &course->past;
  int stage = (int)past->stage;
  state_block_bool(block, &course->rests);
  state_block_int(block, &stage, IMPACT_NONE, IMPACT_RESTITUTION);
  past->stage = (ImpactStage)stage;
  pass_pressure(&past->now, block);
  pass_pressure(&past->old, block);
  double* numbers[] = {&past->dt_before, &past->inertia, &course->approach,
                       &past->impulse,   &past->latest,  &past->ratio};
  for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) state_block_doubles(block, numbers[k], 1);
}

static void pass_solution(PlaneSolution* s, StateBlock* block) {
  state_block_doubles(block, &s->plane.origin.x, 3);
  state_block_doubles(block, &s->plane.n.x, 3);
  state_block_doubles(block, &s->plane.o, 1);
  state_block_doubles(block, &s->energy, 1);
  for (int k = 0; k < 2; k++) {
    state_block_doubles(block, s->side[k].second, 10);
    state_block_doubles(block, s->side[k].first, 4);
    state_block_doubles(block, &s->side[k].ball, 1);
  }
  state_block_doubles(block, &s->norm_first, 1);
  state_block_doubles(block, &s->norm_second, 1);
  state_block_doubles(block, s->clearance, 2);
}

static void pass_slip(const LawPair* p, StateBlock* block) {
  PairMemory* memory = p->memory;
  if (!sticks(p->material)) return;
  FrictionSlip* slip = &memory->last_slip;
  *slip = plane_pair_slip(p);
  memory->has_last_slip = true;
  state_block_bool(block, &slip->known);
  double* numbers[] = {&slip->square, &slip->dt};
  for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) state_block_doubles(block, numbers[k], 1);
}

void plane_pair_pass(const LawPair* p, StateBlock* block) {
  PairMemory* memory = p->memory;
  PairData* data = p->data;
  state_block_doubles(block, &memory->start_compression, 1);
  state_block_doubles(block, &memory->net_limit, 1);
  state_block_doubles(block, &memory->friction_debt, 1);
  state_block_doubles(block, &memory->current_weight, 1);
  state_block_doubles(block, &memory->factors.late, 1);
  state_block_doubles(block, &memory->factors.current, 1);
  state_block_bool(block, &memory->has_debt);
  pass_impact(&memory->start_impact, block);
  pass_impact(&memory->friction_impact, block);
  state_block_bool(block, &memory->start_impact_bounces);
  pass_course(&memory->progress, block);
  pass_solution(&data->solution, block);
  state_block_doubles(block, &data->response.dp[0][0], 48);
  pass_impact(&data->impact, block);
  for (int k = 0; k < 2; k++) state_block_doubles(block, data->slip[k], 3);
  state_block_bool(block, &data->follows);
  pass_slip(p, block);
  memory->next_elastic = plane_pair_elastic_slip(p);
  memory->has_last_slip = true;
  ElasticSlip* const slips[] = {&memory->elastic, &memory->next_elastic};
  for (int k = 0; k < 2; k++) {
    state_block_doubles(block, &slips[k]->value.x, 3);
    state_block_doubles(block, &slips[k]->by_force.x, 3);
    state_block_doubles(block, &slips[k]->by_dt.x, 3);
  }
}

void plane_pair_hold(const LawPair* p) {
  PairMemory* memory = p->memory;
  memory->last_slip.dt = 0;
  memory->next_elastic = (ElasticSlip){.value = memory->next_elastic.value};
  Impact* impact = &((PairData*)p->data)->impact;
  *impact = (Impact){.value = impact->value, .first = impact->first};
}

void plane_pair_record(const LawPair* p, ContactRecord* out) {
  const bool has_friction = out->has_friction;
  out->current_force = has_friction && ((const PairMemory*)p->memory)->current_weight > 0 &&
                       ((const PairMemory*)p->memory)->current_impact.first > 0;
  out->late = has_friction && plane_pair_friction_acts(p, false);
  const PairData* data = p->data;
  PlaneRecord r = {0};
  r.past = ((const PairMemory*)p->memory)->progress.past;
  if (p->state->outcome == PAIR_PRESSED) r.plane = data->solution.plane;
  const PairMemory* memory = p->memory;
  if (has_friction) memcpy(r.plane_slip, data->slip, sizeof(r.plane_slip));
  if (has_friction && sticks(p->material)) r.slip = memory->slip;
  r.current_weight = memory->current_weight;
  r.elastic = memory->elastic;
  const PlaneLaw* law = p->law;
  const bool carries_debt = plane_pair_has_account(p);
  const Impact* load = carries_debt ? &memory->start_impact : &memory->friction_impact;
  /* assigned member by member, so that the padding bytes of the record stay 0 */
  r.debt.friction_debt = memory->friction_debt;
  r.debt.ratio = law->step->force_ratio;
  r.debt.carries_debt = carries_debt;
  r.debt.has_debt = memory->has_debt;
  if (has_friction && (carries_debt ? memory->friction_impact.first > 0 : plane_pair_friction_acts(p, false))) {
    r.load = (ContactLoad){.factor = load->first,
                           .by_potential = load->second,
                           .by_before = load->by_before,
                           .by_support = load->by_support,
                           .by_rest_speed = load->by_rest_speed,
                           .by_ratio = carries_debt || memory->start_impact_bounces
                                           ? 0
                                           : impact_friction_factor_by_ratio(&memory->start_impact),
                           .bounces = memory->start_impact_bounces};
  }
  memcpy(out->kept, &r, sizeof(r));
}
