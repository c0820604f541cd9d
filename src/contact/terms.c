/* Terms of the pairs of the accepted state in the equations of the step, and changes that Newton's method makes to
 * these terms. */
#include <assert.h>
#include <string.h>

#include "contact/friction.h"
#include "contact/ring.h"
#include "contact/step.h"
#include "contact/system.h"

void contact_list_terms(ContactSystem* s) {
  s->term_count = s->underived_count = 0;
  for (int k = 0; k < s->awake_count; k++) {
    int slot = s->list[s->awake[k]];
    s->sleep[slot].has_terms = s->pairs[slot].state[s->current].has_terms;
    s->sleep[slot].has_trial = s->sleep[slot].includes_friction =
        false; /* the trial state of the pair is no longer valid */
  }
  for (int k = 0; k < s->list_count; k++) {
    int slot = s->list[k];
    if (!s->sleep[slot].has_terms) continue;
    s->term_links[s->term_count] = s->list_links[k];
    s->terms[s->term_count++] = slot;
    if (!s->sleep[slot].is_unchanged) s->underived[s->underived_count++] = slot;
  }
}

int contact_term_count(const ContactSystem* s) { return s->term_count; }

ContactTerms contact_term(const ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_term_count(s));
  const PairDerivatives* d = &s->derivatives[s->current][s->terms[index]];
  int hull = s->pairs[s->terms[index]].hull_b;
  bool has_rows = hull >= s->model->hull_count || !s->instance[s->current][hull].half_space;
  return (ContactTerms){
      s->term_links[index].a, s->term_links[index].b, d->force, d->moment, d->hessian, false, has_rows};
}

/* A circle cannot come to lie flat on the other body in a step if the cosine of the angle between its axis and the
 * contact normal is at most this value. */
#define MIN_FLAT_COSINE 0.98

/* Sums over the balls and circles of a round body: their normal forces, and the displacements of their points nearest
 * to the other body. */
typedef struct {
  double force;                          /* sum of the normal forces, for stiffness 1 [1/m^2] */
  double displacement_sum, distance_sum; /* sums of force x displacement towards the other body, and of force x
                                            |displacement|; for stiffness 1 [1/m] */
} NearestPointSums;

static void add_point(NearestPointSums* sum, double force, double displacement) {
  sum->force += force;
  sum->displacement_sum += force * displacement;
  sum->distance_sum += force * fabs(displacement);
}

/* Returns the displacement, from pose[1] to pose[0], of the point of a ball or circle that is farthest along a unit
 * direction [m]. Only the component along the direction is returned. ring: centre, axis and radius in the frame of the
 * link; a ball has radius 0 and axis 0. */
static double displacement_along(Vec3 direction, const Circle* ring, const Pose pose[2]) {
  double reach[2];
  for (int k = 0; k < 2; k++) {
    double across = vec3_dot(mat3_tmul_vec(pose[k].r, direction), ring->axis);
    reach[k] =
        vec3_dot(direction, pose_apply(pose[k], ring->center)) + ring->radius * sqrt(fmax(0, 1 - across * across));
  }
  return reach[0] - reach[1];
}

/* A pair of bodies of which one rolls. Element 0 of the arrays is the rolling body, element 1 the other body. */
typedef struct {
  const HullInstance* body[2];
  const ModelHull* other; /* hull of the other body */
  double sigma;           /* -1 if the rolling body is body a, +1 if it is body b */
  double support;         /* barrier distance of the pair [m] */
  Pose pose[2][2];        /* pose[k]: poses of the link of body k at t + dt and at t - dt */
  Pose seen[2];           /* poses of the rolling body at t + dt and at t - dt, seen from the other body at t + dt */
} RollingPair;

/* Returns the decrease of the distance between a ball or circle of the rolling body and the other body, from t - dt to
 * t + dt [m]. A half-space is flat, so that its distance is a height along its normal. */
static double decrease_of_distance(const RollingPair* pair, Vec3 direction, const Circle* ring) {
  if (pair->body[1]->half_space) return displacement_along(direction, ring, pair->seen);
  _Alignas(64) double at[3][POINT_VIEW_PADDING];
  RoundBody part = {.rounding = pair->body[0]->rounding}, other = hull_contact_geometry(pair->other);
  if (ring->radius > 0)
    part.rings = ring, part.ring_count = 1;
  else
    part.points = point_view_of_one(ring->center, at);
  double distance[2];
  for (int k = 0; k < 2; k++)
    distance[k] = round_distance(&part, pair->pose[0][k], &other, pair->pose[1][k], NULL).distance;
  return distance[1] - distance[0];
}

/* Returns the sums over the balls and circles of the rolling body that exert a force. */
static NearestPointSums sum_nearest_points(const RollingPair* pair, const PairState* state) {
  NearestPointSums sum = {0};
  const HullInstance* body = pair->body[0];
  Vec3 direction = vec3_scale(state->axis, -pair->sigma);
  bool one = body->points.count + body->ring_count == 1;
  if (!one && !state->has_plane) return sum;
  for (int k = 0; k < body->points.count; k++) {
    Circle ball = {.center = point_at(body->points, k)};
    const Plane* plane = &state->plane;
    Vec3 x = vec3_sub(pose_apply(body->pose, ball.center), plane->origin);
    double c = pair->sigma * (vec3_dot(plane->n, x) + plane->o) - body->rounding * vec3_norm(plane->n);
    double force = one ? 1 : c > 0 && c < pair->support ? -vertex_barrier(body, pair->support, c).first : 0;
    if (force > 0) add_point(&sum, force, decrease_of_distance(pair, direction, &ball));
  }
  for (int k = 0; k < body->ring_count; k++) {
    double force = one ? 1 : ring_load(body, k, pair->sigma, pair->support, &state->plane).force;
    if (force > 0) add_point(&sum, force, decrease_of_distance(pair, direction, &body->rings[k]));
  }
  return sum;
}

/* Returns true if a body of a pair consists of balls or circles and does not lie flat on the other body. */
static bool can_roll(const HullInstance* body, const PairState* state) {
  if (body->ring_count == 0) return body->rounding > 0;
  return fabs(vec3_dot(friction_ring_axis(body), state->axis)) <= MIN_FLAT_COSINE;
}

/* Returns the side of a pair whose body rolls, or -1. If both bodies can roll, the movable body counts, then the
 * smaller one. */
static int rolling_side(const ContactSystem* s, const ContactPair* p) {
  const PairState* state = &p->state[s->current];
  const int link[2] = {p->link_a, p->link_b}, hull[2] = {p->hull_a, p->hull_b};
  int found = -1;
  for (int side = 0; side < 2; side++) {
    const HullInstance* body = &s->instance[s->current][hull[side]];
    if (!can_roll(body, state)) continue;
    bool moves = s->model->link_tree[link[side]] >= 0;
    bool first = found < 0, moved = !first && s->model->link_tree[link[found]] >= 0;
    if (first || (moves && (!moved || body->radius < s->instance[s->current][hull[found]].radius))) found = side;
  }
  return found;
}

int contact_term_rolls(const ContactSystem* s, int index, const Pose* const pose[2], double* along_gap,
                       double* approach, double* slip) {
  assert(index >= 0 && index < contact_term_count(s));
  const ContactPair* p = &s->pairs[s->terms[index]];
  const PairState* state = &p->state[s->current];
  const double* material = p->material.value;
  if (p->hull_b >= s->model->hull_count || !p->law->row->round) return -1; /* a pair of links, or polyhedra */
  if (material[MATERIAL_ROLLING] > 0 || material[MATERIAL_SPINNING] > 0) return -1;
  int side = rolling_side(s, p);
  if (side < 0) return -1;
  int link[2] = {p->link_a, p->link_b}, hull[2] = {p->hull_a, p->hull_b};
  RollingPair pair = {
      .sigma = side == 0 ? -1 : 1, .support = p->law->view.contact.support, .other = &s->model->hulls[hull[1 - side]]};
  for (int k = 0; k < 2; k++) {
    int which = k == 0 ? side : 1 - side;
    pair.body[k] = &s->instance[s->current][hull[which]];
    for (int time = 0; time < 2; time++) pair.pose[k][time] = pose[time][link[which]];
  }
  for (int time = 0; time < 2; time++)
    pair.seen[time] = pose_mul(pair.pose[1][0], pose_mul(pose_inverse(pair.pose[1][time]), pair.pose[0][time]));
  NearestPointSums sum = sum_nearest_points(&pair, state);
  double force = fabs(vec3_dot(contact_derivatives(s, p)->force[0], state->axis));
  *approach = sum.force > 0 ? sum.distance_sum / sum.force : 0;
  *along_gap = sum.force > 0 ? -0.5 * force * sum.displacement_sum / sum.force : 0;
  *slip = state->has_friction ? state->friction_energy : 0;
  return side;
}

ContactCircle contact_term_circle(const ContactSystem* s, int index, int side) {
  assert(index >= 0 && index < contact_term_count(s) && (side == 0 || side == 1));
  const ContactPair* p = &s->pairs[s->terms[index]];
  if (p->hull_b >= s->model->hull_count || !p->law->row->round) return (ContactCircle){.radius = 0};
  return (ContactCircle){.normal = p->state[s->current].axis,
                         .radius = ring_profile(&s->instance[s->current][side == 0 ? p->hull_a : p->hull_b]).largest,
                         .support = p->law->view.contact.support};
}

bool contact_term_work(const ContactSystem* s, int index, ContactWork* out) {
  assert(index >= 0 && index < contact_term_count(s));
  ContactPair* p = &s->pairs[s->terms[index]];
  if (!p->law->row->impacts || p->hull_b >= s->model->hull_count) return false;
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  return p->law->row->impacts->work(&pair, out);
}

static int system_term_count(const void* holder) { return contact_term_count(holder); }

static ContactTerms system_term(const void* holder, int index) { return contact_term(holder, index); }

ContactTermList contact_term_list(const ContactSystem* s) {
  return (ContactTermList){s, s ? system_term_count : NULL, s ? system_term : NULL};
}

/* Sets relative[6] to the twist of body a. For a half-space b, which has no rows in the Hessian, it is the twist of a
 * relative to b. */
static void relative_twist(const ContactSystem* s, const ContactPair* p, const double (*twist)[6], double relative[6]) {
  const double *a = twist[p->link_a], *b = twist[p->link_b];
  memcpy(relative, a, sizeof(double[6]));
  bool is_link_pair = p->hull_b >= s->model->hull_count; /* no contact law refines pairs of links */
  if (is_link_pair || s->model->hulls[p->hull_b].kind->bounded) return;
  Vec3 arm = vec3_sub(s->reference[s->current][p->link_a], s->reference[s->current][p->link_b]);
  Vec3 along = vec3_cross(vec3(b[0], b[1], b[2]), arm);
  const double by_rotation[6] = {0, 0, 0, along.x, along.y, along.z};
  for (int k = 0; k < 6; k++) relative[k] -= b[k] + by_rotation[k];
}

void contact_correct_impact_forces(ContactSystem* s, const double (*twist)[6]) {
  for (int k = 0; k < s->term_count; k++) {
    int slot = s->terms[k];
    ContactPair* p = &s->pairs[slot];
    if (p->state[s->current].outcome != PAIR_PRESSED || !p->law->row->impacts) continue;
    double twist_a[6];
    relative_twist(s, p, twist, twist_a);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    p->law->row->impacts->refine(&pair, twist_a, twist[p->link_b]);
  }
}

static void project_pair(void* context, int index, int thread) {
  (void)thread;
  ContactSystem* s = context;
  ContactPair* p = &s->pairs[s->terms[index]];
  if (s->projecting && !s->projecting[p->link_a] && !s->projecting[p->link_b]) return;
  if (p->state[s->current].convex) return;
  symmetric_project(12, &contact_derivatives(s, p)->hessian[0][0]);
}

void contact_project(ContactSystem* s, const bool* links) {
  s->projecting = links;
  double start = timer_now();
  parallel_for(s->threads, s->term_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, project_pair, s);
  s->times.contact += timer_now() - start;
}
