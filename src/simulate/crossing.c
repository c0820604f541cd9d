/* Detection of bodies that tunnel through each other within a step (docs/derivations/certificate.md, P9). If bodies
 * move by more than their size in a step, the objective has a minimum on either side of an obstacle. Newton's method
 * can then find a sequence of moves, each proved free of intersections, in which the obstacle moves aside and back. No
 * bodies intersect during these moves, but the impact is missed. */
#include <assert.h>

#include "simulate/sim.h"

/* Two links cannot tunnel through each other if their relative displacement is below this fraction of the smaller
 * link's size. */
#define DISPLACEMENT_FRACTION_MIN 0.5
/* Hulls count as colliding on their path if their distance falls below this fraction of the smaller hull's radius. */
#define COLLISION_DISTANCE 1e-6
/* Largest number of steps of conservative advancement, with which the collision along a path is sought. */
enum { ADVANCEMENT_STEPS_MAX = 64 };

typedef struct {
  const Model* model;
  const Pose *from, *to; /* poses of the links at the start and the end of the step */
} LinkMotion;

double* crossing_link_radii(const Model* m) {
  double* extent = MEMORY_NEW(double, m->link_count);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    for (int h = link->hull_first; h < link->hull_first + link->hull_count; h++) {
      const ModelHull* hull = &m->hulls[h];
      if (hull->points.count == 0) continue;
      extent[i] = fmax(extent[i], vec3_norm(vec3_sub(hull->center, link->center)) + hull->radius);
    }
  }
  return extent;
}

static Vec3 displacement(const LinkMotion* motion, int link, Vec3 point) {
  return vec3_sub(pose_apply(motion->to[link], point), pose_apply(motion->from[link], point));
}

/* Returns true if the centres of two spheres come closer than `near` while sphere a moves by `relative` and sphere b is
 * fixed. separation: vector from the centre of a to the centre of b before the motion [m]. */
static bool spheres_collide(Vec3 separation, Vec3 relative, double near) {
  double along = vec3_dot(separation, relative), length = vec3_dot(relative, relative);
  double t = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
  Vec3 left = vec3_add_scaled(separation, -t, relative);
  return vec3_dot(left, left) < near * near;
}

/* Returns true if two hulls collide when they are translated from their start to their end positions, and the contact
 * normal at the end is opposite to the normal at the collision. The hulls have then tunnelled through each other. */
static bool hulls_tunnel(const LinkMotion* motion, const ModelHull* a, const ModelHull* b) {
  const Pose *at_a = &motion->from[a->link], *at_b = &motion->from[b->link];
  Vec3 da = displacement(motion, a->link, a->center), db = displacement(motion, b->link, b->center), side = {0, 0, 0};
  Vec3 relative = vec3_sub(da, db), separation = vec3_sub(pose_apply(*at_b, b->center), pose_apply(*at_a, a->center));
  if (!spheres_collide(separation, relative, a->radius + b->radius)) return false;
  double near = COLLISION_DISTANCE * fmin(a->radius, b->radius);
  GjkCache cache = {0};
  bool meet = false;
  double t = 0;
  for (int k = 0; k < ADVANCEMENT_STEPS_MAX && !meet; k++) {
    Pose moved_a = {at_a->r, vec3_add_scaled(at_a->t, t, da)}, moved_b = {at_b->r, vec3_add_scaled(at_b->t, t, db)};
    GjkResult found = gjk_distance(a->points, moved_a, b->points, moved_b, &cache);
    meet = !(found.distance > near);
    if (found.distance > 0) side = found.normal;
    double closing = vec3_dot(side, relative);
    if (!meet && !(closing > 0)) return false;
    t += found.distance / closing;
    if (!meet && !(t < 1)) return false;
  }
  if (!meet) return false;
  cache = (GjkCache){0};
  GjkResult end = gjk_distance(a->points, motion->to[a->link], b->points, motion->to[b->link], &cache);
  return vec3_dot(side, end.normal) < 0;
}

static bool any_hulls_tunnel(const LinkMotion* motion, int link_a, int link_b) {
  const Model* m = motion->model;
  const ModelLink *a = &m->links[link_a], *b = &m->links[link_b];
  for (int i = a->hull_first; i < a->hull_first + a->hull_count; i++) {
    for (int j = b->hull_first; j < b->hull_first + b->hull_count; j++) {
      const ModelHull *one = &m->hulls[i], *other = &m->hulls[j];
      if (one->points.count > 0 && other->points.count > 0 && hulls_tunnel(motion, one, other)) return true;
    }
  }
  return false;
}

/* Returns true if contact between the links a and b is enabled and their contact law prevents intersection. */
static bool is_intersection_prevented(const Model* m, int a, int b) {
  if (!model_pair_allowed(m, a, b)) return false;
  int pair_law = model_pair_law(m, a, b);
  ContactModel law = pair_law < 0 ? m->contact_model : m->pair_laws[pair_law].law;
  return law != CONTACT_NONE && !contact_allows_overlap(law);
}

static bool links_tunnel(const Sim* s, const LinkMotion* motion, int a, int b) {
  const ModelLink* links = motion->model->links;
  double least = DISPLACEMENT_FRACTION_MIN * fmin(s->certificate.extent[a], s->certificate.extent[b]);
  Vec3 relative = vec3_sub(s->certificate.moved[a], s->certificate.moved[b]);
  if (!(vec3_dot(relative, relative) > least * least)) return false;
  Vec3 separation =
      vec3_sub(pose_apply(motion->from[b], links[b].center), pose_apply(motion->from[a], links[a].center));
  return spheres_collide(separation, relative, s->certificate.extent[a] + s->certificate.extent[b]) &&
         is_intersection_prevented(motion->model, a, b) && any_hulls_tunnel(motion, a, b);
}

bool sim_finds_tunneling(const Sim* s, const Pose* from, const Pose* to, BlockingPair* found) {
  assert(from && to && found);
  const Model* m = s->model;
  if (!s->contact || !m->simulation.certificate) return false;
  LinkMotion motion = {m, from, to};
  double least = INFINITY;
  for (int i = 0; i < m->link_count; i++) {
    if (s->certificate.extent[i] > 0) least = fmin(least, s->certificate.extent[i]);
    s->certificate.moved[i] = displacement(&motion, i, m->links[i].center);
  }
  for (int i = 0; i < m->link_count; i++) {
    /* if two links tunnel through each other, at least one of them moves by half of their relative displacement */
    if (m->links[i].tree < 0 || !(s->certificate.extent[i] > 0)) continue;
    if (!(vec3_norm(s->certificate.moved[i]) > 0.5 * DISPLACEMENT_FRACTION_MIN * least)) continue;
    for (int j = 0; j < m->link_count; j++) {
      if (i == j || !(s->certificate.extent[j] > 0) || !links_tunnel(s, &motion, i, j)) continue;
      *found = (BlockingPair){true, i < j ? i : j, i < j ? j : i, .gap = INFINITY};
      return true;
    }
  }
  return false;
}
