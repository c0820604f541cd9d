/* A law of closed form, for the test of the door (law.sh): a spring between any two hulls, however far apart,
 *   E = kappa / 2 (|d| - L)^2,   d = x_b - x_a,  x the mean of a hull's vertices.
 * With u = d / |d|:  dE/dd = kappa g,  g = (|d| - L) u,   d2E/dd2 = kappa K,  K = u u^T + (1 - L / |d|) (I - u u^T).
 * Coulomb friction with the normal force ||d| - L| acts at both ends across the spring (contact/friction_points.h).
 * A half-space has no vertices and no spring. */
#include <string.h>

#include "contact/law.h"

typedef struct {
  double stiffness, length; /* N/m, m */
} Law;

typedef struct {
  Vec3 at[2];    /* x_a, x_b */
  Vec3 g, u;     /* m */
  double length; /* |d| [m] */
} Spring;

#define ONLY "none|spring"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY, .unit = "N/m",
     .fallback = "1", .range = RANGE_ABOVE(0), .meaning = "Stiffness of the springs."},
    LAW_FRICTION_ROW("spring"),
    LAW_SMOOTHING_ROW("spring"),
    {"contact_law", "rest_length", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[0]), .only = ONLY,
     .unit = "m", .fallback = "1", .range = RANGE_ABOVE(0), .meaning = "Length of a spring without force."},
};

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  (void)step;
  (void)threads;
  (void)tolerance;
  Law* law = MEMORY_NEW(Law, 1);
  *law = (Law){model->contact.stiffness, model->contact.law_parameters[0]};
  return law;
}

static double range(const Model* model) {
  (void)model;
  return INFINITY;
}

static Vec3 mean_vertex(const HullInstance* hull) {
  Vec3 sum = {0, 0, 0};
  for (int k = 0; k < hull->points.count; k++)
    sum = vec3_add(sum, vec3(hull->points.x[k], hull->points.y[k], hull->points.z[k]));
  return pose_apply(hull->pose, vec3_scale(sum, 1.0 / hull->points.count));
}

static Spring spring_between(const Law* law, const HullInstance* a, const HullInstance* b) {
  Spring s = {.at = {mean_vertex(a), mean_vertex(b)}};
  Vec3 d = vec3_sub(s.at[1], s.at[0]);
  s.length = vec3_norm(d);
  s.u = vec3_scale(d, 1 / s.length);
  s.g = vec3_scale(s.u, s.length - law->length);
  return s;
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  (void)from;
  const Law* law = p->law;
  GjkResult found;
  double distance = pair_distance(p->a, p->b, p->gjk, &found);
  pair_set_apart(p->state, distance, found.normal);
  if (!(distance > 0)) p->state->outcome = PAIR_INFEASIBLE;
  if (p->b->half_space || !(distance > 0)) return;
  Spring s = spring_between(law, p->a, p->b);
  p->state->outcome = PAIR_PRESSED;
  p->state->contact_energy = 0.5 * law->stiffness * vec3_dot(s.g, s.g);
  p->state->has_terms = true;
}

/* K y. */
static Vec3 stiffness_times(const Law* law, const Spring* s, Vec3 y) {
  double along = vec3_dot(s->u, y), across = 1 - law->length / s->length;
  return vec3_add_scaled(vec3_scale(y, across), (1 - across) * along, s->u);
}

/* Motion of a point for each of the six twist components about its reference: e_k x r, then e_k. */
static Vec3 motion_of(int k, Vec3 arm) {
  Vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
  return k < 3 ? vec3_cross(e, arm) : e;
}

static void fill(const Law* law, const Spring* s, Vec3 reference_a, Vec3 reference_b, PairDerivatives* out) {
  Vec3 arm[2] = {vec3_sub(s->at[0], reference_a), vec3_sub(s->at[1], reference_b)};
  for (int i = 0; i < 2; i++) {
    out->force[i] = vec3_scale(s->g, i == 0 ? -law->stiffness : law->stiffness);
    out->moment[i] = mat3_outer(out->force[i], arm[i]);
  }
  for (int j = 0; j < 12; j++) {
    Vec3 change = stiffness_times(law, s, vec3_scale(motion_of(j % 6, arm[j / 6]), j < 6 ? -1 : 1));
    for (int i = 0; i < 12; i++)
      out->hessian[i][j] = law->stiffness * (i < 6 ? -1 : 1) * vec3_dot(motion_of(i % 6, arm[i / 6]), change);
  }
}

static bool derive(const LawPair* p) {
  if (p->state->outcome != PAIR_PRESSED) return true;
  Spring s = spring_between(p->law, p->a, p->b);
  fill(p->law, &s, p->reference[0], p->reference[1], p->derivatives);
  return true;
}

static void points(const LawPair* p, bool reverses, FrictionPoints* out) {
  (void)reverses;
  const Pose* pose[2] = {&p->a->pose, &p->b->pose};
  Spring s = spring_between(p->law, p->a, p->b);
  friction_points_add(out, pose, vec3_norm(s.g), s.u, s.at[0], s.at[1]);
}

static double rounding(const LawPair* p, double reach) {
  const Law* law = p->law;
  return 1e-15 * law->stiffness * reach * reach;
}

/* The same derivative by all vertices of a body through their mean. */
static void share(const LawReplay* p, int side, Vec3 by_next, Vec3 by_now, PairShares* out) {
  int count = p->next[side].hull.points.count, first = out->count[side];
  out->count[side] = count;
  for (int k = 0; k < count; k++) {
    VertexShare* v = &out->share[side][k];
    if (first == 0) *v = (VertexShare){.vertex = k};
    v->next = vec3_add_scaled(v->next, 1.0 / count, by_next);
    v->now = vec3_add_scaled(v->now, 1.0 / count, by_now);
  }
}

/* The normal force ||d| - L| changes by +- u . dd and -+ dL, the normal u by (I - u u^T) / |d| dd. */
static void reverse_points(const LawReplay* p, PairShares* out) {
  const Law* law = p->law;
  const PointBar* bar = p->bars;
  Spring s = spring_between(law, &p->now[0].hull, &p->now[1].hull);
  double by_length = s.length > law->length ? bar->load : -bar->load;
  Vec3 across = vec3_add_scaled(bar->n, -vec3_dot(s.u, bar->n), s.u);
  Vec3 by_d = vec3_add_scaled(vec3_scale(across, 1 / s.length), by_length, s.u);
  out->law_parameters[0] -= by_length;
  share(p, 0, vec3(0, 0, 0), vec3_sub(bar->x[0], by_d), out);
  share(p, 1, vec3(0, 0, 0), vec3_add(bar->x[1], by_d), out);
}

/* Phi = g . (f_b - f_a), f = v + w x (x - reference): its derivatives are K (f_b - f_a) + g x w_b by x_b, the negative
 * with w_a by x_a, and -u . (f_b - f_a) by L. Every vertex has its part of a mean. */
static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  if (!p->record->active) return;
  const Law* law = p->law;
  Spring s = spring_between(law, &p->next[0].hull, &p->next[1].hull);
  Vec3 w[2], f[2];
  for (int i = 0; i < 2; i++) {
    w[i] = vec3(twist[i][0], twist[i][1], twist[i][2]);
    f[i] = vec3_add(vec3(twist[i][3], twist[i][4], twist[i][5]),
                    vec3_cross(w[i], vec3_sub(s.at[i], p->next[i].reference)));
  }
  Vec3 apart = vec3_sub(f[1], f[0]), change = stiffness_times(law, &s, apart);
  out->value = vec3_dot(s.g, apart);
  out->law_parameters[0] = -vec3_dot(s.u, apart);
  for (int i = 0; i < 2; i++)
    share(p, i, vec3_scale(vec3_add(change, vec3_cross(s.g, w[i])), i == 0 ? -1 : 1), vec3(0, 0, 0), out);
}

const ContactLaw LAW_spring = {
    .name = "spring",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .own_count = 1,
    .vertex_shares = 1,
    .create = create,
    .destroy = memory_free,
    .range = range,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .points = points,
    .reverse_points = reverse_points,
    .reverse = reverse,
};
