/* Stages of the impact of a pair, and their transitions from substep to substep (docs/derivations/impact.md, I9). */
#include "contact/impact.h"

/* Limits of the impact factor W' of a pair in contact. If W' is above STRUCK, the pair came into contact in the
 * substep. If W' is above PRESSES_ON, the impact continues. */
#define STRUCK (1 + 2 * IMPACT_MIN_SPEED_RATIO)
#define PRESSES_ON 2.0

static double least_speed(const ImpactParameters* p) { return IMPACT_MIN_SPEED_RATIO * p->rest_speed; }

static ImpactStage next_stage(const ImpactParameters* p, const ImpactProgress* course, const ImpactPast* past) {
  switch (course->stage) {
    case IMPACT_NONE:
      return !course->rests && course->approach > least_speed(p) ? IMPACT_ENTERED : IMPACT_NONE;
    case IMPACT_ENTERED:
      return past->inertia > 0 && impact_speed(p, past) > least_speed(p) ? IMPACT_REBOUNDS : IMPACT_NONE;
    case IMPACT_REBOUNDS:
      return IMPACT_FRICTION;
    case IMPACT_FRICTION:
      break;
  }
  return IMPACT_NONE;
}

ImpactProgress impact_advance(const ImpactParameters* p, double dt_before, double inertia, const Pressure* now,
                              const ImpactProgress* course) {
  ImpactProgress next = {.past = {.dt_before = dt_before, .now = *now, .old = course->past.now, .inertia = inertia}};
  double z = impact_clearance(p, now->potential);
  if (!(p->restitution > 0) || !(z < 1)) return next;
  next.stage = next_stage(p, course, &next.past);
  next.past.bounces = next.stage == IMPACT_REBOUNDS;
  next.past.enters = next.stage == IMPACT_ENTERED;
  next.rests = next.stage == IMPACT_NONE && (course->rests || z < IMPACT_ENTRY);
  return next;
}

bool impact_enters(const ImpactParameters* p, const Pressure* next, const ImpactProgress* course) {
  if (!(p->restitution > 0)) return !(course->past.now.potential > 0);
  if (course->stage != IMPACT_NONE || course->rests) return false;
  return impact_clearance(p, next->potential) <= IMPACT_ENTRY + IMPACT_TIE;
}

bool impact_began(const ImpactParameters* p, const ImpactProgress* course, const Impact* impact) {
  if (course->stage != IMPACT_NONE) return false;
  bool came = course->approach > least_speed(p) &&
              !(p->restitution > 0); /* with restitution, the start of contact is an event (I9) */
  return came || (course->past.now.potential > 0 && impact->first > STRUCK);
}

bool impact_continues(const Impact* impact) { return impact->first > PRESSES_ON; }

/* A contact counts as ended if W' U at the end of the substep is at most this fraction of W' U at its start. W': impact
 * factor; U: potential. */
#define LEFT_OF_PRESS 0.25

bool impact_pair_separated(const PairImpact* pair, bool in_range) {
  double before = pair->before;
  if (pair->course->past.bounces || !(before > 0) || !(pair->load > 0)) return false;
  if (!in_range) return true;
  double now = impact_compression(pair->parameters.support, pair->now.potential);
  return pair->impact->first * now * now < LEFT_OF_PRESS * pair->load * before * before;
}
