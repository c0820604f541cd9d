/* What the pairs of a scene say of the parts in which a step is taken (docs/derivations/impact.md, I10, I11). */
#include "contact/system.h"

/* By a unit of the pair's force: what it does to the speed with which link `side` moves along it [1/kg]. A tree of
 * several links is taken for one body with all their mass, that does not turn. */
static double mobility_of(const ContactSystem* s, const ContactPair* p, int side) {
  const Model* m = s->model;
  int link = side == 0 ? p->link_a : p->link_b;
  const ModelLink* body = &m->links[link];
  if (body->tree < 0 || body->prescribed >= 0 || !(body->mass > 0)) return 0;
  double mass = 0;
  if (m->trees[body->tree].dof_count > body->dof_count) {
    for (int i = 0; i < m->link_count; i++) mass += m->links[i].tree == body->tree ? m->links[i].mass : 0;
    return 1 / mass;
  }
  const PairDerivatives* d = contact_derivatives(s, p);
  Vec3 turn = mat3_axial(d->moment[side]), along = d->force[0];
  turn = mat3_tmul_vec(s->pose[s->current][link].r, vec3_scale(turn, 1 / vec3_norm(along)));
  Mat3 inertia = mass_moment_inertia_tensor(&body->moment);
  return 1 / body->mass + vec3_dot(turn, mat3_mul_vec(mat3_inverse(inertia), turn));
}

typedef struct {
  ContactSystem* system;
  double dt_before;
} PaceTask;

static void find_pace(void* context, int index, int thread) {
  const PaceTask* task = context;
  ContactSystem* s = task->system;
  int slot = s->list[index];
  ContactPair* p = &s->pairs[slot];
  s->sleep[slot].pace = INFINITY;
  if (p->state[s->current].outcome != PAIR_PRESSED) return;
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  s->sleep[slot].pace = s->law->pace(&pair, mobility_of(s, p, 0) + mobility_of(s, p, 1), task->dt_before);
}

double contact_impact_pace(ContactSystem* s, double dt_before) {
  double pace = INFINITY;
  PaceTask task = {s, dt_before};
  if (!s->law->pace) return pace;
  parallel_for(s->threads, s->list_count, PARALLEL_FAR, LINKS_GRAIN, find_pace, &task);
  for (int k = 0; k < s->list_count; k++) pace = fmin(pace, s->sleep[s->list[k]].pace);
  return pace;
}

/* Cosine of the angle that two bodies have turned each other away by in a part that they met in: at its end they are
 * side by side, and no longer come nearer along what parts them then. */
#define TURNED_AWAY 0.7

/* A body that turns by so much in a part comes nearer by its turn more than the places at both ends tell [rad]. */
#define TURNED_FAR 0.5

/* How far the farthest point of a link goes by its turn, where that is large [m]. Below half a turn. */
static double swept(const ContactSystem* s, int link, const Pose* begin, const Pose* aim) {
  Mat3 turn = mat3_mul(mat3_transpose(begin[link].r), aim[link].r);
  double cosine = 0.5 * (mat3_trace(turn) - 1);
  return cosine < math_cos(TURNED_FAR) ? math_acos(fmax(cosine, -1)) * s->model->links[link].reach : 0;
}

double contact_impact_entry(ContactSystem* s, const Pose* begin, const Pose* aim, double dt) {
  double allowed = INFINITY;
  for (int k = 0; k < s->list_count && s->law->enters; k++) {
    ContactPair* p = contact_pair(s, k);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    if (!s->law->enters(&pair)) continue;
    const ModelHull *a = &s->model->hulls[p->hull_a], *b = &s->model->hulls[p->hull_b];
    HullInstance from[2] = {pair_hull_at(a, &begin[p->link_a]), pair_hull_at(b, &begin[p->link_b])};
    HullInstance to[2] = {pair_hull_at(a, &aim[p->link_a]), pair_hull_at(b, &aim[p->link_b])};
    Vec3 axis = p->state[s->current].axis;
    GjkCache cache = p->gjk;
    GjkResult found;
    double distance = pair_distance(&from[0], &from[1], &cache, &found);
    double approach = (distance - pair_gap_along(&to[0], &to[1], axis)) / dt;
    if (fabs(vec3_dot(found.normal, axis)) < TURNED_AWAY) { /* round each other: along the way between them at first */
      double before = pair_gap_along(&from[0], &from[1], found.normal),
             after = pair_gap_along(&to[0], &to[1], found.normal);
      approach = fmax(approach, (before - after) / dt);
    }
    double way = swept(s, p->link_a, begin, aim) + swept(s, p->link_b, begin, aim);
    if (way > 0) approach = fmax(approach, 0) + way / dt;
    allowed = fmin(allowed, s->law->entry(&pair, approach, distance, dt));
  }
  return allowed;
}

/* How a link has moved from one pose to the next, about its centre of mass. */
static void find_motion(const ModelLink* link, const Pose* from, const Pose* to, double twist[6]) {
  motion_twist(from->r, to->r, vec3_sub(pose_apply(*to, link->center), pose_apply(*from, link->center)), twist);
}

double contact_impact_steady(ContactSystem* s, const Pose* before, const Pose* begin) {
  double allowed = INFINITY;
  for (int k = 0; k < s->list_count && s->law->steady; k++) {
    ContactPair* p = contact_pair(s, k);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    if (pair.b->half_space || !s->law->bounces(&pair)) continue; /* no plane of a half-space turns */
    double twist[2][2][6];
    for (int side = 0; side < 2; side++) {
      int link = side == 0 ? p->link_a : p->link_b;
      find_motion(&s->model->links[link], &before[link], &begin[link], twist[0][side]);
      find_motion(&s->model->links[link], &begin[link], &s->pose[s->current][link], twist[1][side]);
    }
    allowed = fmin(allowed, s->law->steady(&pair, twist, mobility_of(s, p, 0) + mobility_of(s, p, 1)));
  }
  return allowed;
}

/* Does one of the pairs say yes? */
static bool any_pair(ContactSystem* s, bool (*asked)(const LawPair* pair)) {
  for (int k = 0; asked && k < s->list_count; k++) {
    LawPair pair = contact_law_pair(s, contact_pair(s, k), s->current, 0);
    if (asked(&pair)) return true;
  }
  return false;
}

bool contact_struck(ContactSystem* s) { return any_pair(s, s->law->struck); }

bool contact_pressed(ContactSystem* s) { return any_pair(s, s->law->presses_on); }

bool contact_lets_go(ContactSystem* s) { return any_pair(s, s->law->lets_go); }
