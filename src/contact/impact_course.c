/* Stages of the impact of a pair, and their transitions from substep to substep (docs/derivations/impact.md, I9). */
#include "contact/impact.h"

/* Limits of the impact factor W' of a pair in contact. Above BEGAN_FACTOR, the pair came into contact in the substep.
 * Above CONTINUES_FACTOR, the impact continues. */
#define BEGAN_FACTOR (1 + 2 * IMPACT_MIN_SPEED_RATIO)
#define CONTINUES_FACTOR 2.0

static double min_impact_speed(const ImpactParameters* p) { return IMPACT_MIN_SPEED_RATIO * p->rest_speed; }

static bool approaches(const ImpactParameters* p, const ImpactPast* past) {
  return past->inertia > 0 && impact_speed(p, past) > min_impact_speed(p);
}

static ImpactStage next_stage(const ImpactParameters* p, ImpactActivity activity, const ImpactProgress* progress,
                              const ImpactPast* past) {
  const ImpactStage stage = progress->past.stage;
  switch (stage) {
    case IMPACT_NONE:
      if (activity.any && approaches(p, past)) return IMPACT_ENTERED;
      return !progress->rests && progress->approach > min_impact_speed(p) ? IMPACT_ENTERED : IMPACT_NONE;
    case IMPACT_ENTERED:
      if (activity.unfinished) return IMPACT_ENTERED;
      return approaches(p, past) ? IMPACT_COMPRESSION_1 : IMPACT_NONE;
    case IMPACT_COMPRESSION_1:
    case IMPACT_COMPRESSION_2:
    case IMPACT_COMPRESSION_3:
      return (ImpactStage)(stage + 1);
    case IMPACT_RESTITUTION:
      break;
  }
  return IMPACT_NONE;
}

ImpactProgress impact_advance(const ImpactParameters* parameters, double dt_before, ImpactActivity activity,
                              double inertia, const Pressure* now, double factor, double ratio,
                              const ImpactProgress* progress) {
  ImpactProgress next = {
      .past = {.dt_before = dt_before, .now = *now, .old = progress->past.now, .inertia = inertia, .ratio = ratio}};
  double z = impact_clearance(parameters, now->potential);
  if (!(parameters->restitution > 0) || !(z < 1)) return next;
  next.past.stage = next_stage(parameters, activity, progress, &next.past);
  next.rests = next.past.stage == IMPACT_NONE && (progress->rests || z < IMPACT_ENTRY);
  if (next.past.stage > IMPACT_COMPRESSION_1) {
    next.past.latest = ratio * factor * now->force;
    next.past.impulse = ratio * progress->past.impulse + next.past.latest;
  }
  return next;
}

bool impact_enters(const ImpactParameters* p, const Pressure* next, const ImpactProgress* progress) {
  if (!(p->restitution > 0)) return !(progress->past.now.potential > 0);
  if (progress->past.stage != IMPACT_NONE || progress->rests) return false;
  return impact_clearance(p, next->potential) <= IMPACT_ENTRY + IMPACT_TIE;
}

bool impact_began(const ImpactParameters* p, const ImpactProgress* progress, const Impact* impact) {
  if (progress->past.stage != IMPACT_NONE) return false;
  bool has_entered = progress->approach > min_impact_speed(p) &&
                     !(p->restitution > 0); /* with restitution, the start of contact is an event (I9) */
  return has_entered || (progress->past.now.potential > 0 && impact->first > BEGAN_FACTOR);
}

bool impact_continues(const Impact* impact) { return impact->first > CONTINUES_FACTOR; }

/* The product of a pair's impact factor and its potential measures its force. A contact counts as ended if this product
 * at the end of the substep is at most this fraction of its value at the start. */
#define MAX_FORCE_FRACTION_SEPARATED 0.25

bool impact_pair_separated(const PairImpact* pair, bool in_range) {
  double before = pair->before;
  if (impact_acts(pair->course->past.stage) || !(before > 0) || !(pair->load > 0)) return false;
  if (!in_range) return true;
  double now = impact_compression(pair->parameters.support, pair->now.potential);
  return pair->impact->first * now * now < MAX_FORCE_FRACTION_SEPARATED * pair->load * before * before;
}
