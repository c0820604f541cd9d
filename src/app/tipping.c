/* Free bodies that tip over only because contact has a gap (docs/derivations/contact.md, section "Bodies that lean").
 */
#include "app/tipping.h"

#include <assert.h>
#include <stdio.h>

enum { FOOTPRINT_POINTS = 16 };
/* Angle of the search directions of a footprint to the normal [rad]. It exceeds the lean of a body at rest and is below
 * the slope of faces beside the footprint. */
#define FOOTPRINT_ANGLE 0.05
/* A footprint is a face if its area exceeds this fraction of the squared size of the link. */
#define FOOTPRINT_AREA_MIN 1e-4
/* A body rests if no point of it moves faster than this [m/s]. */
#define RESTING_SPEED 0.02
/* A body has tipped over if its footprint is inclined by more than this [rad] and its forces act outside of it. */
#define TIPPED_ANGLE 0.1

/* The lowest face of a resting body. */
typedef struct {
  bool resting;
  int partner;                  /* fixed link on which the body stands */
  Vec3 point[FOOTPRINT_POINTS]; /* corners, counterclockwise about `normal`, link frame [m] */
  Vec3 normal;                  /* outward unit normal, link frame */
  Vec3 up;                      /* outward unit normal of the partner's face, world axes */
  double margin;                /* smallest margin_without_lean since the body came to rest [m] */
} Footprint;

struct Tipping {
  const Model* model;
  bool* is_judged; /* true for free bodies of one link on which only gravity, loads and contact act (size: links) */
  Footprint* footprint; /* lowest face of each resting link (size: links) */
  int* contact_count;   /* contacts of the link in the present state (size: links) */
  int* partner;         /* one of the links in contact with the link (size: links) */
  int link;             /* first body that tipped over; -1 if none */
  double time, margin;
};

static bool has_other_forces(const Model* m, int link) {
  for (int k = 0; k < m->closure_count; k++)
    if (m->closures[k].link[0] == link || m->closures[k].link[1] == link) return true;
  for (int k = 0; k < m->controller_count; k++)
    if (m->controllers[k].link == link) return true;
  for (int k = 0; k < m->load_count; k++)
    if (m->loads[k].link == link && (m->loads[k].field || m->loads[k].link_axes || m->loads[k].torque.source))
      return true;
  return m->links[link].passive || m->tendon_count > 0 || m->bushing_count > 0 || m->scene->fluid.given;
}

Tipping* tipping_create(const Model* m) {
  assert(m);
  Tipping* t = MEMORY_NEW(Tipping, 1);
  *t = (Tipping){.model = m, .link = -1};
  t->is_judged = MEMORY_NEW(bool, m->link_count);
  t->footprint = MEMORY_NEW(Footprint, m->link_count);
  t->contact_count = MEMORY_NEW(int, m->link_count);
  t->partner = MEMORY_NEW(int, m->link_count);
  bool any = false;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    t->is_judged[i] = link->parent < 0 && link->joint.quaternion && link->dof_count == 6 && link->mass > 0 &&
                      link->hull_count > 0 && !has_other_forces(m, i);
    for (int k = 0; k < m->link_count; k++)
      if (m->links[k].parent == i) t->is_judged[i] = false;
    any = any || t->is_judged[i];
  }
  if (any && m->contact_model == CONTACT_SEPARATING_PLANE && vec3_norm(m->simulation.gravity) > 0) return t;
  tipping_destroy(t);
  return NULL;
}

void tipping_destroy(Tipping* t) {
  if (!t) return;
  void* owned[] = {t->is_judged, t->footprint, t->contact_count, t->partner, t};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
}

/* Returns the vertex of a link that is farthest along a direction, both in the link frame. */
static Vec3 support_point(const Model* m, int link, Vec3 direction) {
  double most = -INFINITY;
  Vec3 best = vec3(0, 0, 0);
  for (int i = m->links[link].hull_first; i < m->links[link].hull_first + m->links[link].hull_count; i++) {
    double value;
    if (m->hulls[i].points.count == 0) continue;
    int k = support_index(m->hulls[i].points, direction, &value);
    if (value > most) most = value, best = point_at(m->hulls[i].points, k);
  }
  return best;
}

/* Finds the face of a link that is farthest along a direction (link frame). Returns false if there is no such face. */
static bool find_footprint(const Model* m, int link, Vec3 direction, Vec3 point[FOOTPRINT_POINTS], Vec3* normal) {
  Vec3 across = vec3_cross(direction, fabs(direction.x) < 0.7 ? vec3(1, 0, 0) : vec3(0, 1, 0)), area = vec3(0, 0, 0);
  across = vec3_scale(across, 1 / vec3_norm(across));
  Vec3 other = vec3_cross(direction, across);
  for (int k = 0; k < FOOTPRINT_POINTS; k++) {
    double angle = (k + 0.5) * 2 * M_PI / FOOTPRINT_POINTS;
    Vec3 side = vec3_add(vec3_scale(across, math_cos(angle)), vec3_scale(other, math_sin(angle)));
    point[k] = support_point(m, link, vec3_add_scaled(direction, FOOTPRINT_ANGLE, side));
  }
  for (int k = 0; k < FOOTPRINT_POINTS; k++)
    area = vec3_add_scaled(
        area, 0.5, vec3_cross(vec3_sub(point[k], point[0]), vec3_sub(point[(k + 1) % FOOTPRINT_POINTS], point[0])));
  double size = vec3_norm(area), reach = m->links[link].reach;
  if (!(size > FOOTPRINT_AREA_MIN * reach * reach)) return false;
  *normal = vec3_scale(area, 1 / size);
  return vec3_dot(*normal, direction) > math_cos(FOOTPRINT_ANGLE);
}

/* Returns the signed distance of x from the edges of a convex polygon, positive inside. The polygon is counterclockwise
 * about the unit vector `normal`. */
static double distance_inside(const Vec3 point[FOOTPRINT_POINTS], Vec3 normal, Vec3 x) {
  double least = INFINITY;
  for (int k = 0; k < FOOTPRINT_POINTS; k++) {
    Vec3 edge = vec3_sub(point[(k + 1) % FOOTPRINT_POINTS], point[k]);
    double length = vec3_norm(edge);
    if (length > 0) least = fmin(least, vec3_dot(vec3_cross(normal, edge), vec3_sub(x, point[k])) / length);
  }
  return least;
}

/* Returns true if a footprint lies within one face of the fixed link on which the body stands. pose, ground: world
 * poses of the body and of the fixed link. */
static bool lies_on_one_face(const Model* m, const Footprint* f, Pose pose, Pose ground) {
  Vec3 face[FOOTPRINT_POINTS], normal;
  if (!m->hulls[m->links[f->partner].hull_first].kind->bounded) return true;
  if (!find_footprint(m, f->partner, mat3_tmul_vec(ground.r, f->up), face, &normal)) return false;
  for (int k = 0; k < FOOTPRINT_POINTS; k++)
    if (!(distance_inside(face, normal, pose_apply_inverse(ground, pose_apply(pose, f->point[k]))) > 0)) return false;
  return true;
}

/* Returns v after the smallest rotation that maps the unit vector a to the unit vector b. */
static Vec3 rotate_between(Vec3 a, Vec3 b, Vec3 v) {
  Vec3 axis = vec3_cross(a, b), once = vec3_cross(axis, v);
  return vec3_add(vec3_add(v, once), vec3_scale(vec3_cross(axis, once), 1 / (1 + vec3_dot(a, b))));
}

/* Returns the distance from the edge of the footprint, inward, to the point at which gravity and loads act [m]. The
 * body is placed upright on its footprint, without lean. The result is negative if the point is outside, and -INFINITY
 * if the forces lift the body or make it slide. */
static double margin_without_lean(const Tipping* t, int i, const SimState* state) {
  const Model* m = t->model;
  const Footprint* f = &t->footprint[i];
  Pose pose = state->pose[i];
  Vec3 up = f->up, down = vec3_scale(up, -1), flat = mat3_mul_vec(pose.r, f->normal), polygon[FOOTPRINT_POINTS];
  Vec3 sum = vec3_scale(model_link_gravity(m, i), m->links[i].mass);
  for (int k = 0; k < FOOTPRINT_POINTS; k++) polygon[k] = rotate_between(flat, down, mat3_mul_vec(pose.r, f->point[k]));
  Vec3 center = vec3_sub(rotate_between(flat, down, mat3_mul_vec(pose.r, m->links[i].center)), polygon[0]);
  Vec3 arm = vec3_sub(vec3_scale(center, vec3_dot(sum, down)), vec3_scale(sum, -vec3_dot(center, up)));
  for (int k = 0; k < m->load_count; k++) {
    if (m->loads[k].link != i) continue;
    StepClock clock = {.time = state->time, .dt = m->simulation.dt, .dt_before = m->simulation.dt};
    Vec3 force = sim_load_force(m, k, &clock, state->pose, state->pose);
    Vec3 at = vec3_sub(rotate_between(flat, down, mat3_mul_vec(pose.r, model_load_point(m, &m->loads[k]))), polygon[0]);
    arm = vec3_add(arm, vec3_sub(vec3_scale(at, vec3_dot(force, down)), vec3_scale(force, -vec3_dot(at, up))));
    sum = vec3_add(sum, force);
  }
  double press = vec3_dot(sum, down);
  PairMaterial material = model_pair_material(m, i, f->partner);
  Vec3 along = vec3_sub(sum, vec3_scale(down, press));
  if (!(press > 0) || !(vec3_norm(along) < pair_largest_friction(&material) * press)) return -INFINITY;
  return distance_inside(polygon, down, vec3_add(polygon[0], vec3_scale(arm, 1 / press)));
}

/* Returns true if the body has rotated off its footprint beyond the position in which its weight would return it. */
static bool has_tipped(const Tipping* t, int i, const SimState* state) {
  const Footprint* f = &t->footprint[i];
  Pose pose = state->pose[i];
  Vec3 flat = mat3_mul_vec(pose.r, f->normal), weight = model_link_gravity(t->model, i);
  Vec3 lowest = pose_apply(pose, support_point(t->model, i, mat3_tmul_vec(pose.r, vec3_scale(f->up, -1))));
  Vec3 center = vec3_sub(pose_apply(pose, t->model->links[i].center), lowest);
  Vec3 axis = vec3_cross(flat, vec3_scale(f->up, -1)); /* rotation about this axis returns the body */
  return vec3_norm(axis) > TIPPED_ANGLE && vec3_dot(vec3_cross(center, weight), axis) < 0;
}

/* Returns the unit normal of the face of a hull that faces the point x, both in the frame of its link. */
static Vec3 facing_normal(const ModelHull* hull, Vec3 x) {
  Vec3 best = hull->normal;
  double most = -INFINITY;
  for (int k = 0; hull->kind->bounded && k < hull->solid.triangle_count; k++) {
    const Vec3* v = hull->solid.vertices;
    const int* at = hull->solid.triangles[k];
    Vec3 normal = vec3_cross(vec3_sub(v[at[1]], v[at[0]]), vec3_sub(v[at[2]], v[at[0]]));
    normal = vec3_scale(normal, 1 / vec3_norm(normal));
    double height = vec3_dot(normal, vec3_sub(x, v[at[0]]));
    if (height > most) most = height, best = normal;
  }
  return best;
}

static void begin_rest(Tipping* t, int i, const SimState* state) {
  Footprint* f = &t->footprint[i];
  const ModelLink* partner = &t->model->links[t->partner[i]];
  Pose pose = state->pose[i], ground = state->pose[t->partner[i]];
  f->partner = t->partner[i];
  f->margin = INFINITY;
  if (partner->hull_count != 1) return;
  Vec3 center = pose_apply_inverse(ground, pose_apply(pose, t->model->links[i].center));
  f->up = mat3_mul_vec(ground.r, facing_normal(&t->model->hulls[partner->hull_first], center));
  f->resting = find_footprint(t->model, i, mat3_tmul_vec(pose.r, vec3_scale(f->up, -1)), f->point, &f->normal) &&
               lies_on_one_face(t->model, f, pose, ground);
}

static void update_link(Tipping* t, int i, const SimState* state) {
  Footprint* f = &t->footprint[i];
  const ModelLink* link = &t->model->links[i];
  const double* rate = state->rate + link->dof_first;
  double speed = vec3_norm(vec3_at(rate)) + link->reach * vec3_norm(vec3_at(rate + 3));
  bool stands = t->contact_count[i] == 1 && t->model->links[t->partner[i]].tree < 0;
  if (!f->resting && stands && speed < RESTING_SPEED) begin_rest(t, i, state);
  if (!f->resting) return;
  bool alone = t->contact_count[i] == 0 || (stands && t->partner[i] == f->partner);
  double margin = alone ? margin_without_lean(t, i, state) : -(double)INFINITY;
  f->resting = margin > 0;
  f->margin = fmin(f->margin, margin);
  if (!f->resting || !has_tipped(t, i, state)) return;
  t->link = i;
  t->time = state->time;
  t->margin = f->margin;
}

void tipping_update(Tipping* t, const SimState* state, const SimContact* contacts, int count) {
  if (!t || t->link >= 0) return;
  for (int i = 0; i < t->model->link_count; i++) t->contact_count[i] = 0;
  for (int k = 0; k < count; k++) {
    const int link[2] = {contacts[k].a, contacts[k].b};
    for (int side = 0; side < 2; side++) {
      t->contact_count[link[side]]++;
      t->partner[link[side]] = link[1 - side];
    }
  }
  for (int i = 0; i < t->model->link_count && t->link < 0; i++)
    if (t->is_judged[i]) update_link(t, i, state);
}

void tipping_warn(const Tipping* t) {
  if (!t || t->link < 0) return;
  const ModelContact* contact = &t->model->contact;
  fprintf(stderr,
          "sdrs simulate: warning: link '%s' has tipped over at t = %.3g s, although its weight and loads acted at "
          "least %.2g m inside the edge of its footprint: it leaned, because contact forces act at gaps up to %.2g m: "
          "reduce contact.barrier_distance (%.3g m)\n",
          t->model->links[t->link].name, t->time, t->margin, 2 * contact->support, contact->support);
}
