/* When a pair is in an impact, from part to part, and how long parts may be (docs/derivations/impact.md, I10, I11,
 * I13). */
#include "contact/impact.h"

/* (I11) Parts of an impact are equally long: at the speed of approach so much of the clearance at the deepest, and a
 * whole way in has so many at least. Where it goes deeper, so much of the gap at most. */
#define PACE_DEEP 0.1
#define PARTS_IN 40
#define DEEPEST 0.02
#define PACE_MOST 0.4
/* A part may let bodies into the range by so much of it; by so much more, and aims at half of that. */
#define ENTRY 0.02
#define ENTRY_MOST 1.5
#define ENTRY_AIM 0.75
/* A part that came in too far is shortened to this part at most. */
#define SHORTENED 0.7
/* (I13) The force of a part may give the bodies so much of the energy of approach more than the barrier gives, or so
 * much less; one that does otherwise is taken again, shorter by as much as is to leave this part of that, but not by
 * more than LEAST_SHARE at once, and not below LEAST_PART of those of the impact: velocities of short parts are noise
 * to differences. */
#define GAIN_MOST 1.5e-4
#define LOSS_MOST 1e-3
/* It is asked of blows that give back this part of the speed or more: a lesser one takes more energy than such parts
 * were seen to make. */
#define GIVES_BACK 0.9
#define GAIN_AIM 0.5
#define LEAST_SHARE 0.1
#define LEAST_PART 0.03
/* A pair that is still in range after so many times as long as it takes to cross the range both ways is at rest. */
#define STAYS 2.5
/* In one that touched already: so many times the barrier's force was an impact, and so many still goes on. */
#define STRUCK (1 + 2 * IMPACT_FROM)
#define PRESSES_ON 2.0

static double least_speed(const ImpactParameters* p) { return IMPACT_FROM * p->rest_speed; }

static bool has_ended(const ImpactParameters* p, const ImpactCourse* c) {
  return c->since > STAYS * plane_range(p->support) * (1 / c->past.speed + c->past.damping);
}

static ImpactPast next_past(const ImpactParameters* p, const ImpactPart* part, const Pressure* now,
                            const ImpactCourse* c) {
  const ImpactPast* old = &c->past;
  ImpactPast out = {.dt_before = part->dt_before, .now = *now};
  if (now->potential > 0) out.old = old->now;
  if (!(p->restitution > 0)) return out;
  if (!(now->potential > 0)) {
    out.bounces = part->resolving;
    return out;
  }
  if (!(out.old.potential > 0)) {
    out.bounces = c->approach > least_speed(p);
    return out;
  }
  if (!old->bounces || (old->speed > 0 && has_ended(p, c))) return out; /* it rests, and goes on doing so */
  out.fresh = !(old->speed > 0);
  out.speed = out.fresh ? impact_speed(p, &out).value : old->speed;
  out.bounces = out.speed > least_speed(p);
  if (out.bounces) out.damping = impact_damping(p, out.speed).value;
  return out;
}

void impact_follow(const ImpactParameters* p, const ImpactPart* part, const Pressure* now, ImpactCourse* course) {
  course->past = next_past(p, part, now, course);
  course->since = course->past.old.potential > 0 ? course->since + part->dt_before : 0;
  if (!(now->potential > 0)) course->pace = 0;
}

/* From the clearance at which the barrier holds its energy. */
static double length_of_parts(const ImpactParameters* p, const Pressure* now, double speed, double potential_share) {
  double deepest = impact_clearance(p, 0.5 * potential_share * speed * speed);
  double step = fmin(PACE_DEEP * fmax(deepest, DEEPEST), (1 - deepest) / PARTS_IN);
  return fmax(step, DEEPEST * PACE_DEEP) * impact_way(p, now) / speed;
}

double impact_pace(const ImpactParameters* p, const ImpactPart* part, const Pressure* now, double separation,
                   double potential_share, ImpactCourse* course) {
  ImpactPast past = next_past(p, part, now, course);
  if (!past.bounces || !(now->potential > 0)) {
    course->pace = 0;
    return INFINITY;
  }
  if (!(course->pace > 0)) course->pace = length_of_parts(p, now, course->approach, potential_share);
  double speed = past.speed > 0 ? fabs(impact_speed(p, &past).value) : course->approach;
  if (course->pace * speed > PACE_MOST * separation) course->pace = PACE_MOST * separation / speed; /* from here on */
  return course->pace;
}

double impact_entry(const ImpactParameters* p, double approach, double distance, double dt) {
  if (!(approach > least_speed(p))) return INFINITY;
  double range = plane_range(p->support), entry = ENTRY * range / approach,
         touch = fmax(0, distance - range) / approach;
  return dt > touch + ENTRY_MOST * entry ? fmin(SHORTENED * dt, touch + ENTRY_AIM * entry) : (double)INFINITY;
}

double impact_steady(const ImpactParameters* p, const Pressure* next, double first, const double change[2],
                     double potential_share, const ImpactCourse* course) {
  const ImpactPast* past = &course->past;
  if (!(past->speed > 0) || p->restitution < GIVES_BACK) return INFINITY;
  double energy = 0.5 * potential_share * past->speed * past->speed;
  double work = -0.5 * first * (change[0] + change[1]);
  double gain = (work - impact_account(p, next->potential, past)) / energy;
  double ahead = 0.5 * (next->potential - past->now.potential - impact_quotient(p, next, past) * change[1]) / energy;
  double over = fmax(fmax(gain, ahead) / GAIN_MOST, -fmin(gain, ahead) / LOSS_MOST);
  double least = LEAST_PART * course->pace;
  return over > 1 && p->dt > least ? fmax(p->dt * fmax(sqrt(GAIN_AIM / over), LEAST_SHARE), least) : (double)INFINITY;
}

bool impact_struck(const ImpactParameters* p, const ImpactCourse* course, const Impact* impact) {
  if (course->past.bounces) return false;
  bool came = course->approach > least_speed(p) && !(p->restitution > 0); /* else it is resolved next */
  return came || (course->past.now.potential > 0 && impact->first > STRUCK);
}

bool impact_presses_on(const Impact* impact) { return impact->first > PRESSES_ON; }
