/* Coulomb friction at the contact points that a law lists (docs/derivations/point-friction.md), for pairs in a run and
 * for recorded pairs. The friction energy of the step from t is
 *   D = mu dt sum_i load_i (sqrt(|r_i|^2 + eps) - sqrt(eps)),   r_i = P_i u_i / dt,   P = I - n n^T              (G14)
 * Points, normals and normal forces are those at t. */
#include <assert.h>
#include <string.h>

#include "contact/law.h"

/* ---------------------------------------------------------------- friction energy of a contact point (G14) */

typedef struct {
  Vec3 velocity, slip; /* u / dt and r [m/s] */
  double rho;          /* rho = sqrt(|r|^2 + eps) with the slip r and the smoothing eps [m/s] */
} PointSlip;

static PointSlip slip_of(const FrictionPoint* point, const PointDisplacement* m, double dt, double smoothing) {
  PointSlip s = {.velocity = vec3_scale(m->u, 1 / dt)};
  s.slip = vec3_project(s.velocity, point->n);
  s.rho = sqrt(vec3_dot(s.slip, s.slip) + smoothing);
  return s;
}

/* Adds the derivatives of the friction energy of a point to *out. */
static void add_friction(const LawPair* p, const FrictionPoint* point, PairDerivatives* out) {
  double dt = p->step->dt, smoothing = p->contact->smoothing;
  PointDisplacement m = point_motion(point, &p->a->pose, &p->b->pose);
  PointSlip s = slip_of(point, &m, dt, smoothing);
  double weight = p->contact->stiffness * p->material->value[MATERIAL_FRICTION] * point->load / s.rho;
  if (!(weight > 0)) return;
  Mat3 project = mat3_sub(mat3_identity(), mat3_outer(point->n, point->n));
  Vec3 slip = mat3_mul_vec(project, s.slip);
  Mat3 h = mat3_sub(mat3_mul(project, project), mat3_scale(mat3_outer(slip, slip), 1 / (s.rho * s.rho)));
  point_derivatives(&m, p->reference, p->b->half_space, vec3_scale(slip, weight), mat3_scale(h, weight / dt), out);
}

/* ---------------------------------------------------------------- functions of a pair in a run */

bool law_has_friction(const ContactLaw* row) { return row->points || row->history; }

bool law_friction_acts(const LawPair* p) {
  return p->row->points ? p->lagged && p->has_points : p->row->history && p->row->history->friction_acts(p);
}

/* Contact points are listed only for pairs with friction, unless the contact energy depends on the points, too. */
void law_find_points(const LawPair* p, FrictionPoints* out) {
  assert(out && p->row->points);
  if (p->lagged && (p->row->points_press || p->material->value[MATERIAL_FRICTION] > 0)) p->row->points(p, false, out);
}

bool law_evaluate_friction(const LawPair* p, const LawOrigin* from) {
  if (!p->row->points) return p->row->history->evaluate_friction(p, from);
  double mu = p->material->value[MATERIAL_FRICTION], energy = 0, smoothing = p->contact->smoothing;
  for (int i = 0; i < p->point_count && mu > 0; i++) {
    const FrictionPoint* point = &p->points[i];
    if (!(point->load > 0)) continue;
    PointDisplacement m = point_motion(point, &p->a->pose, &p->b->pose);
    PointSlip s = slip_of(point, &m, p->step->dt, smoothing);
    energy += point->load * vec3_dot(s.slip, s.slip) / (s.rho + sqrt(smoothing));
    p->state->has_terms = true;
  }
  p->state->friction_energy = p->contact->stiffness * mu * p->step->dt * energy;
  return true;
}

bool law_derive(const LawPair* p) {
  memset(p->derivatives, 0, sizeof *p->derivatives);
  bool exists = p->row->derive(p);
  for (int i = 0; p->lagged && i < p->point_count; i++) add_friction(p, &p->points[i], p->derivatives);
  return exists;
}

/* ---------------------------------------------------------------- functions of a recorded pair */

LawPair law_recorded_pair(const LawReplay* p, bool at_end, PairState* state) {
  const PairBody* body = at_end ? p->next : p->now;
  *state = (PairState){.outcome = p->record->active || !at_end ? PAIR_PRESSED : PAIR_APART};
  return (LawPair){.row = p->row,
                   .law = p->law,
                   .contact = p->contact,
                   .step = p->step,
                   .thread = p->thread,
                   .item = {p->record->hull_a, p->record->hull_b},
                   .a = &body[0].hull,
                   .b = &body[1].hull,
                   .reference = {body[0].reference, body[1].reference},
                   .material = p->material,
                   .grip = p->record->grip,
                   .lagged = p->record->has_friction,
                   .has_points = p->record->has_friction,
                   .points = p->points,
                   .point_count = p->point_count,
                   .state = state};
}

/* Lists the contact points of a recorded pair at t. Returns false if there are none. */
static bool find_recorded_points(LawReplay* p, bool reverses) {
  FrictionPoints* room = p->room;
  PairState state;
  room->count = 0;
  LawPair now = law_recorded_pair(p, false, &state);
  p->row->points(&now, reverses, room);
  p->points = room->list;
  p->point_count = room->count;
  return room->count > 0;
}

bool law_derive_recorded(const LawReplay* replay, PairDerivatives* out) {
  if (replay->row->history) return replay->row->history->replay(replay, out);
  LawReplay p = *replay;
  PairState state;
  if (p.row->points && p.record->has_friction && !find_recorded_points(&p, false)) return false;
  LawPair next = law_recorded_pair(&p, true, &state);
  next.derivatives = out;
  return law_derive(&next);
}

/* ---------------------------------------------------------------- reverse derivatives (G15), for stiffness 1 */

/* Adds the derivatives of the friction contribution of a point to Phi = dD/du . zeta. */
static void reverse_friction(const LawReplay* p, const FrictionPoint* point, const PointDisplacement* m, Vec3 zeta,
                             PointBar* bar, PairShares* out) {
  double mu = p->material->value[MATERIAL_FRICTION], dt = p->step->dt;
  if (!(point->load > 0)) return;
  PointSlip s = slip_of(point, m, dt, p->contact->smoothing);
  Vec3 n = point->n, side = vec3_project(zeta, n);
  double phi = vec3_dot(s.slip, side) / s.rho, scale = mu * point->load / s.rho;
  out->value += mu * point->load * phi;
  out->friction += point->load * phi;
  out->smoothing -= 0.5 * mu * point->load * phi / (s.rho * s.rho);
  bar->load += mu * phi;
  Vec3 by_slip = vec3_scale(vec3_add_scaled(side, -phi / s.rho, s.slip), scale), by_side = vec3_scale(s.slip, scale);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(by_slip, n), s.velocity);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(n, s.velocity), by_slip);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(by_side, n), zeta);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(n, zeta), by_side);
  bar->u = vec3_add_scaled(bar->u, 1 / dt, vec3_project(by_slip, n));
  bar->zeta = vec3_add(bar->zeta, vec3_project(by_side, n));
}

void law_add_motion_now(const LawReplay* p, int side, Vec3 x, Vec3 force, Vec3 torque, PairShares* out) {
  assert(p->now && (side == 0 || side == 1));
  const HullInstance* hull = &p->now[side].hull;
  if (hull->half_space) {
    ground_add(&out->ground_now, force, x, hull->pose.t);
    out->ground_now.torque = vec3_add(out->ground_now.torque, torque);
    return;
  }
  out->move_now[side] = vec3_add(out->move_now[side], force);
  Vec3 about_origin = vec3_add(torque, vec3_cross(vec3_sub(x, hull->pose.t), force));
  out->turn_now[side] = vec3_add(out->turn_now[side], about_origin);
}

/* Sets bar->x, the derivatives with respect to the contact points at t, from bar->u and bar->zeta. The points at t
 * determine the vector `apart` between them and the position of each point in its link, which moves with the link to t
 * + dt. turn: rotation of each link from t to t + dt. */
static void continue_to_positions(const LawReplay* p, const FrictionPoint* point, const PointDisplacement* m,
                                  const Mat3 turn[2], const double twist[2][6], PointBar* bar, PairShares* out) {
  bool half_space = p->next[1].hull.half_space;
  for (int k = 0; k < 2; k++) {
    Vec3 by_apart = vec3_scale(bar->u, -point_side_sign(k)), moved = vec3_scale(bar->u, point_side_sign(k));
    if (k == 0 || !half_space)
      moved = vec3_add_scaled(moved, point_side_sign(k), vec3_cross(bar->zeta, vec3_at(twist[k])));
    else
      ground_add(&out->ground_next, moved, m->x[1], p->next[1].hull.pose.t);
    Vec3 carried = mat3_tmul_vec(turn[k], moved);
    bar->x[k] = vec3_add(carried, by_apart);
    Vec3 start = pose_apply(p->now[k].hull.pose, point->at[k]);
    law_add_motion_now(p, k, start, vec3_scale(carried, -1), vec3(0, 0, 0), out);
  }
}

static void reverse_points(const LawReplay* p, const double twist[2][6], PairShares* out) {
  const Vec3 reference[2] = {p->next[0].reference, p->next[1].reference};
  const Pose* next[2] = {&p->next[0].hull.pose, &p->next[1].hull.pose};
  Mat3 turn[2];
  for (int k = 0; k < 2; k++) turn[k] = mat3_mul(next[k]->r, mat3_transpose(p->now[k].hull.pose.r));
  for (int i = 0; i < p->point_count; i++) {
    const FrictionPoint* point = &p->points[i];
    PointDisplacement m = point_motion(point, next[0], next[1]);
    Vec3 zeta = point_rate(&m, reference, p->next[1].hull.half_space, twist);
    reverse_friction(p, point, &m, zeta, &p->bars[i], out);
    continue_to_positions(p, point, &m, turn, twist, &p->bars[i], out);
  }
  p->row->reverse_points(p, out);
}

void law_reverse(const LawReplay* replay, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  LawReplay p = *replay;
  bool has_points = p.row->points && p.record->has_friction && find_recorded_points(&p, true);
  if (has_points) {
    friction_points_zero_bars(p.room);
    p.bars = p.room->bars;
  }
  p.row->reverse(&p, twist, carry, out);
  if (has_points) reverse_points(&p, twist, out);
}
