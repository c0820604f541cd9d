/* Impacts of all pairs of a scene: finds the pairs whose impact begins in a substep, and the time at which it begins
 * (docs/derivations/impact.md, I9, I10). */
#include <assert.h>

#include "contact/impact.h"
#include "contact/system.h"

static bool in_range(const ContactSystem* s, const ContactPair* p) {
  return p->state[s->current].outcome == PAIR_PRESSED;
}

/* Sets *out to the impact of a pair in the accepted state. Returns false if the law of the pair has no impacts. */
static bool impact_of_pair(const ContactSystem* s, ContactPair* p, PairImpact* out) {
  if (!p->law->row->impacts) return false;
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  p->law->row->impacts->impact(&pair, out);
  return true;
}

ImpactActivity impact_activity(ContactSystem* s) {
  ImpactActivity out = {false, false};
  for (int k = 0; k < s->list_count && s->model->contact.bounces; k++) {
    PairImpact pair;
    if (!impact_of_pair(s, contact_pair(s, k), &pair)) continue;
    ImpactStage stage = pair.course->past.stage;
    out.any = out.any || stage != IMPACT_NONE;
    out.unfinished = out.unfinished || impact_compresses(stage);
  }
  return out;
}

/* Returns the impact of a pair in range in the substep that begins. dt_before: length of the previous substep [s]. */
static ImpactPast next_past(const PairImpact* pair, double dt_before, ImpactActivity activity) {
  return impact_advance(&pair->parameters, dt_before, activity, pair->inertia, &pair->now, 0, 1, pair->course).past;
}

bool contact_impact_begins(ContactSystem* s, double dt_before) {
  const ImpactActivity activity = impact_activity(s);
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    PairImpact pair;
    if (in_range(s, p) && impact_of_pair(s, p, &pair) && next_past(&pair, dt_before, activity).stage != IMPACT_NONE)
      return true;
  }
  return false;
}

void contact_impact_shorten(ContactSystem* s, double dt_before, double* length) {
  assert(*length > 0 && dt_before >= 0);
  const ImpactActivity activity = impact_activity(s);
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    PairImpact pair;
    if (!in_range(s, p) || !impact_of_pair(s, p, &pair)) continue;
    const ImpactPast next = next_past(&pair, dt_before, activity);
    if (next.stage != IMPACT_ENTERED) continue;
    double speed = activity.any ? impact_speed(&pair.parameters, &next) : pair.course->approach;
    impact_halve_substep(length, fmax(speed, 0), IMPACT_MAX_DISPLACEMENT * pair.parameters.support);
  }
}

/* If the cosine of the rotation of the separating direction in a substep is smaller, the approach speed is also
 * computed along the direction at the start of the substep. Bodies that pass each other are side by side at the end of
 * the substep. */
#define MIN_AXIS_COSINE 0.7

/* For larger rotations of a link in a substep [rad], the path length of the link's farthest point is added to the
 * approach, because the poses at both ends of the substep do not determine this path. */
#define MIN_SWEPT_ROTATION 0.5

/* Returns the length of the path of a link's farthest point by its rotation from `begin` to `free_end` [m]. Returns 0
 * for rotations below MIN_SWEPT_ROTATION. Correct for rotations of less than half a turn. */
static double rotation_path_length(const ContactSystem* s, int link, const Pose* begin, const Pose* free_end) {
  Mat3 rotation = mat3_mul(mat3_transpose(begin[link].r), free_end[link].r);
  double cosine = 0.5 * (mat3_trace(rotation) - 1);
  return cosine < math_cos(MIN_SWEPT_ROTATION) ? math_acos(fmax(cosine, -1)) * s->model->links[link].reach : 0;
}

static double distance_at(const ContactSystem* s, const ContactPair* p, const Pose* poses, GjkResult* found) {
  const ModelHull *a = &s->model->hulls[p->hull_a], *b = &s->model->hulls[p->hull_b];
  HullInstance body[2] = {pair_hull_at(a, &poses[p->link_a]), pair_hull_at(b, &poses[p->link_b])};
  GjkCache cache = p->gjk;
  return pair_distance(&body[0], &body[1], &cache, found);
}

/* Returns the mean approach speed of a pair over a substep of length dt [m/s]. begin: poses of all links at the start
 * of the substep. free_end: poses that the links would have at the end of the substep without contact. */
static double mean_approach_speed(const ContactSystem* s, const ContactPair* p, const Pose* begin, const Pose* free_end,
                                  double dt) {
  const ModelHull *a = &s->model->hulls[p->hull_a], *b = &s->model->hulls[p->hull_b];
  HullInstance from[2] = {pair_hull_at(a, &begin[p->link_a]), pair_hull_at(b, &begin[p->link_b])};
  HullInstance to[2] = {pair_hull_at(a, &free_end[p->link_a]), pair_hull_at(b, &free_end[p->link_b])};
  Vec3 axis = p->state[s->current].axis;
  GjkResult found;
  double distance = distance_at(s, p, begin, &found);
  double approach = (distance - pair_gap_along(&to[0], &to[1], axis)) / dt;
  if (fabs(vec3_dot(found.normal, axis)) < MIN_AXIS_COSINE) {
    double before = pair_gap_along(&from[0], &from[1], found.normal),
           after = pair_gap_along(&to[0], &to[1], found.normal);
    approach = fmax(approach, (before - after) / dt);
  }
  double path =
      rotation_path_length(s, p->link_a, begin, free_end) + rotation_path_length(s, p->link_b, begin, free_end);
  return path > 0 ? fmax(approach, 0) + path / dt : approach;
}

/* Returns z - IMPACT_ENTRY for a pair at the beginning (begin true) or the end of the substep. z: clearance of the pair
 * divided by the range (impact_clearance). For a pair out of range, z is its distance divided by the contact range, but
 * at least 1. poses: poses of all links at the selected end of the substep. */
static double distance_to_impact(const ContactSystem* s, ContactPair* p, bool begin, const Pose* poses) {
  double z = 1, range = s->range;
  PairImpact pair;
  if (impact_of_pair(s, p, &pair))
    z = impact_clearance(&pair.parameters, begin ? pair.course->past.now.potential : pair.now.potential);
  if (!(z < 1)) {
    GjkResult found;
    z = fmax(1, distance_at(s, p, poses, &found) / range);
  }
  return z - IMPACT_ENTRY;
}

/* Returns true if the impact of at least one pair begins at the end of the substep, up to the tolerance
 * IMPACT_START_TOLERANCE. Then the impacts of all pairs whose distance from the start of an impact is below IMPACT_TIE
 * begin at the same time.
 */
static bool any_entry_at_end(ContactSystem* s) {
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    if (!p->law->row->impacts || !in_range(s, p) || !(p->material.value[MATERIAL_RESTITUTION] > 0)) continue;
    if (fabs(distance_to_impact(s, p, false, s->pose[s->current])) <= IMPACT_START_TOLERANCE) return true;
  }
  return false;
}

static bool is_pair(const ContactEntry* entry, const ContactPair* p) {
  return entry && entry->hull_a == p->hull_a && entry->hull_b == p->hull_b;
}

bool contact_impact_entry(ContactSystem* s, const Pose* begin, const Pose* free_end, double dt,
                          const ContactEntry* sought, ContactEntry* entry) {
  assert(dt > 0);
  double first = INFINITY;
  bool has_entry_at_end = any_entry_at_end(s);
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    PairImpact pair;
    if (!in_range(s, p) || !impact_of_pair(s, p, &pair)) continue;
    pair.course->approach = 0;
    if (!impact_enters(&pair.parameters, &pair.now, pair.course)) continue;
    double min_speed = s->model->contact.rest_speed * IMPACT_MIN_SPEED_RATIO,
           approach = mean_approach_speed(s, p, begin, free_end, dt);
    if (is_pair(sought, p)) approach = fmax(approach, 2 * min_speed);
    ContactEntry pair_entry = {p->hull_a, p->hull_b, distance_to_impact(s, p, true, begin),
                               distance_to_impact(s, p, false, s->pose[s->current])};
    bool has_late_entry = p->material.value[MATERIAL_RESTITUTION] > 0 && pair_entry.after > IMPACT_START_TOLERANCE;
    pair.course->approach = has_late_entry && !has_entry_at_end ? 0 : approach;
    bool is_fast = approach > min_speed;
    if (!(p->material.value[MATERIAL_RESTITUTION] > 0)) continue;
    if (!is_fast || !(pair_entry.after < -IMPACT_START_TOLERANCE) || !(pair_entry.before > IMPACT_START_TOLERANCE))
      continue;
    double fraction =
        pair_entry.before /
        (pair_entry.before - pair_entry.after); /* fraction of the substep after which the impact begins */
    if (fraction < first) *entry = pair_entry;
    first = fmin(fraction, first);
  }
  return first < (double)INFINITY;
}

double contact_impact_distance(ContactSystem* s, int hull_a, int hull_b) {
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    if (p->hull_a != hull_a || p->hull_b != hull_b) continue;
    return distance_to_impact(s, p, false, s->pose[s->current]);
  }
  return 1 - IMPACT_ENTRY;
}

/* Returns true if at least one pair is in a phase of its impact. */
static bool any_pair(ContactSystem* s, bool (*phase)(const PairImpact* pair, bool in_range)) {
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    PairImpact pair;
    if (impact_of_pair(s, p, &pair) && phase(&pair, in_range(s, p))) return true;
  }
  return false;
}

static bool began(const PairImpact* pair, bool in_range) {
  return in_range && impact_began(&pair->parameters, pair->course, pair->impact);
}

static bool continues(const PairImpact* pair, bool in_range) { return in_range && impact_continues(pair->impact); }

bool contact_impact_began(ContactSystem* s) { return any_pair(s, began); }

bool contact_impact_continues(ContactSystem* s) { return any_pair(s, continues); }

bool contact_pair_separated(ContactSystem* s) { return any_pair(s, impact_pair_separated); }
