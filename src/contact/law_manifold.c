/* Contact at many points (docs/derivations/law-manifold.md). Contacts are points of each surface in the distance field
 * of the other body, vertices of polyhedra on opposing faces, and pairs of edges. Each contact has a distance d, a
 * normal n and an activity a, a weight that scales the stiffness of the contact. A step uses the contacts found in its
 * initial state. Their points move with the bodies. Bodies in contact overlap slightly. With the displacement u_i of
 * the two points of contact i relative to each other, the energy is E = kappa sum_i a_i delta_i^(p+1) / (p+1), delta_i
 * = -(d_i + n_i . u_i) > 0                            (X10) */
#include <assert.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/law_manifold.h"
#include "shapes/field_faces.h"

enum { OWN_EXPONENT, OWN_REACH, OWN_WIDTH, OWN_EDGES, OWN_COUNT };
/* Dimensionless softness, and regularization, in the search for the nearest points (witness points) of two edges. Both
 * displace the witness points by about this share of the length of an edge. The displacement must be small compared
 * with the overlap at rest, which is 1/400 of the body size, because otherwise the line between the witness points is
 * not normal to both edges. */
#define SOFTNESS 2e-3
#define REGULARIZATION 1e-6
/* Contacts whose activity is at most LEAST_ACTIVITY are ignored. */
#define LEAST_ACTIVITY 1e-9
#define ENERGY_ROUNDINGS 50.0
/* The first-order distance of a point from a surface can exceed the true distance. CERTAIN_PART times a positive
 * first-order distance is used as a lower bound of the true distance. */
#define CERTAIN_PART 0.5
/* Smoothing length of the distance field of a polyhedron, as a multiple of the parameter `activity_width` (Y13). */
#define FIELD_WIDTH 0.1

/* A contact found in the initial state of the step (X9). */
typedef struct {
  double distance, activity, load; /* load: a delta^p in the initial state, the normal force for stiffness 1 */
  Vec3 n;                          /* normal from a to b; its length is at most 1 */
  Vec3 at[2];                      /* contact point in both links' frames [m] */
} Spot;

typedef struct {
  double count;
  Spot* spots; /* valid until the next call of `lag` */
} Memory;

/* ---------------------------------------------------------------- the scene */

#define ONLY "manifold"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY,
     .unit = "N/m^exponent", .range = RANGE_ABOVE(0), .fallback = "(derived from the scene)",
     .meaning = "Stiffness of one contact: at the depth delta its force is activity stiffness delta^exponent."},
    {"contact_law", "exponent", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_EXPONENT]), .only = ONLY,
     .fallback = "1.5", .range = RANGE_BETWEEN(1, 4), .meaning = "Exponent of the depth in the force."},
    {"contact_law", "reach", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_REACH]), .only = ONLY, .unit = "m",
     .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Distance within which contacts are found. This distance must exceed the approach in one step."},
    {"contact_law", "activity_width", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_WIDTH]), .only = ONLY,
     .unit = "m", .fallback = "0.001", .range = RANGE_ABOVE(0),
     .meaning = "Length over which the activity of a pair of edges rises by being the nearest pair. Over a tenth of "
                "this length it rises by penetration, and the edges of polyhedra are smoothed. Polyhedra must be "
                "thicker than this length."},
    {"contact_law", "edges", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_EDGES]), .only = ONLY,
     .fallback = "12", .range = RANGE_BETWEEN(0, 64),
     .meaning = "Number of edges of each body that are paired, the deepest edges first. 0: points only."},
    LAW_FRICTION_ROW(ONLY),
    LAW_SMOOTHING_ROW(ONLY),
};

static void take_slopes(ManifoldSurface* out, const ModelHull* hull) {
  const ModelSmooth* smooth = hull->smooth;
  ConvexHull sphere;
  int count = hull->points.count;
  out->parameters = shape_parameter_count(&smooth->field.shape);
  if (primitive_sphere(&sphere, 1, smooth->resolution) != HULL_OK) return;
  out->point_slopes = MEMORY_NEW(Vec3, out->parameters * count);
  for (int k = 0; k < out->parameters; k++)
    for (int i = 0; i < count; i++)
      out->point_slopes[k * count + i] =
          mat3_mul_vec(smooth->pose.r, shape_surface_derivative(&smooth->field.shape, sphere.vertices[i], k));
  out->body.point_slopes = out->point_slopes;
  hull_free(&sphere);
}

static double sag_of(const ManifoldSurface* surface, const ConvexHull* solid) {
  double sag = 0;
  for (int i = 0; i < solid->triangle_count; i++) {
    const int* t = solid->triangles[i];
    Vec3 sum = vec3_add(solid->vertices[t[0]], vec3_add(solid->vertices[t[1]], solid->vertices[t[2]]));
    sag = fmax(sag, -field_evaluate(&surface->field, vec3_scale(sum, 1.0 / 3)).value);
  }
  return sag;
}

/* Sets *out to the surface of a convex polyhedron: its vertices, its edges, and its distance field, a smooth maximum
 * over the faces (X18, Y13). width: activity width [m]. */
static void take_polyhedron(ManifoldSurface* out, const ModelHull* hull, double width) {
  TriangleSurface triangles = surface_of_hull(&hull->solid);
  int count = hull->solid.vertex_count;
  if (field_of_faces(&out->field, &hull->solid, FIELD_WIDTH * width)) { /* `fits` reports it if the link collides */
    surface_free(&triangles);
    return;
  }
  out->body = manifold_body_of_faces(&out->field, &triangles, FIELD_WIDTH);
  out->polyhedron = true;
  out->parameters = 3 * count;
  out->corners = field_corners_of_faces(&out->field, &hull->solid);
  out->numbers = MEMORY_NEW(int, count);
  for (int i = 0; i < count; i++) out->numbers[i] = i;
  out->body.corners = &out->corners;
  out->body.point_corner = out->numbers;
  out->center = hull->center;
  out->half_extent = hull->half_extent;
}

static void take_surface(ManifoldSurface* out, const ModelHull* hull, double width) {
  if (hull->kind == &SOLID_HULL) take_polyhedron(out, hull, width);
  if (!hull->smooth) return;
  TriangleSurface triangles = surface_of_hull(&hull->solid);
  out->field = hull->smooth->field;
  out->field.pose = pose_mul(hull->smooth->pose, out->field.pose);
  out->body = manifold_body_create(&out->field, &triangles);
  out->sag = sag_of(out, &hull->solid);
  out->center = hull->center;
  out->half_extent = hull->half_extent;
  if (hull_is_convex_smooth(hull)) take_slopes(out, hull);
}

/* Allocates the workspaces of all threads, large enough for any two bodies of the model. */
static void make_room(ManifoldLaw* law) {
  ManifoldBody most = {.edge_count = 0};
  int edges = 0;
  for (int k = 0; k < law->model->hull_count; k++) {
    const ManifoldBody* body = &law->surfaces[k].body;
    if (body->point_count > most.point_count) most.point_count = body->point_count;
    if (body->edge_count > edges) edges = body->edge_count;
    if (body->corners && (!most.corners || body->corners->plane_count > most.corners->plane_count))
      most.corners = body->corners;
  }
  most.edge_count = edges < law->most_edges ? edges : law->most_edges;
  size_t contacts = (size_t)manifold_count(&most, &most, &law->options);
  for (int t = 0; t < law->threads; t++) {
    ManifoldWork* work = &law->work[t];
    work->contacts = memory_alloc(sizeof(ManifoldContact) * contacts);
    work->slopes = memory_alloc(sizeof(ManifoldContact) * contacts);
    work->depth = MEMORY_NEW(double, edges + 1);
    for (int k = 0; k < 2; k++) {
      work->points[k] = MEMORY_NEW(int, most.point_count + 1);
      work->edges[k] = (int(*)[2])MEMORY_NEW(int, 2 * edges + 2);
    }
    work->room = memory_alloc(manifold_room(&most, &most, &law->options));
  }
}

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  (void)tolerance;
  const double* own = model->contact.own;
  ManifoldLaw* law = MEMORY_NEW(ManifoldLaw, 1);
  *law = (ManifoldLaw){
      .model = model,
      .stiffness = model->contact.stiffness,
      .exponent = own[OWN_EXPONENT],
      .reach = own[OWN_REACH],
      .smoothing = model->contact.smoothing,
      .step = step,
      .options = {.smoothing = own[OWN_WIDTH], .softness = SOFTNESS, .regularization = REGULARIZATION, .mutual = true},
      .most_edges = (int)lround(own[OWN_EDGES]),
      .surfaces = MEMORY_NEW(ManifoldSurface, model->hull_count),
      .work = MEMORY_NEW(ManifoldWork, threads),
      .threads = threads};
  for (int k = 0; k < model->hull_count; k++) take_surface(&law->surfaces[k], &model->hulls[k], own[OWN_WIDTH]);
  make_room(law);
  return law;
}

static void destroy(void* instance) {
  ManifoldLaw* law = instance;
  for (int k = 0; k < law->model->hull_count; k++) {
    ManifoldSurface* surface = &law->surfaces[k];
    manifold_body_free(&surface->body);
    memory_free(surface->point_slopes);
    if (!surface->polyhedron) continue;
    field_corners_free(&surface->corners);
    field_free(&surface->field);
    memory_free(surface->numbers);
  }
  for (int t = 0; t < law->threads; t++) {
    memory_free(law->work[t].contacts);
    memory_free(law->work[t].slopes);
    memory_free(law->work[t].depth);
    for (int k = 0; k < 2; k++) {
      memory_free(law->work[t].points[k]);
      memory_free(law->work[t].edges[k]);
    }
    memory_free(law->work[t].room);
  }
  memory_free(law->work);
  memory_free(law->surfaces);
  memory_free(law);
}

/* Returns the largest distance of two bodies at which the law finds contacts [m]. */
static double range(const Model* model) { return model->contact.own[OWN_REACH]; }

/* Returns false, with a message in text (size), if the field of a polyhedron would be inexact inside it. The field is
 * exact only if its smoothing is much smaller than the thickness of the polyhedron. */
static bool fits(const ModelHull* hull, const double* own, char* text, size_t size) {
  if (hull->kind != &SOLID_HULL) return true;
  double thickness = hull->kind->thickness(hull), width = own[OWN_WIDTH];
  if (thickness < width) {
    snprintf(text, size,
             "has a convex piece that is %.3g m thick, less than activity_width, %.3g m: set activity_width to at most "
             "%.2g m",
             thickness, width, 0.5 * thickness);
    return false;
  }
  Field field;
  const char* rule = field_of_faces(&field, &hull->solid, FIELD_WIDTH * width);
  if (!rule) field_free(&field);
  if (rule) snprintf(text, size, "has a convex piece whose faces have no smooth field (%s): simplify its mesh", rule);
  return !rule;
}

static bool counts(const ManifoldLaw* law, const ManifoldContact* c) {
  return c->distance < law->reach && c->activity > LEAST_ACTIVITY;
}

static Spot spot_of(const ManifoldLaw* law, const ManifoldBodies* b, const ManifoldContact* c) {
  Spot s = {.distance = c->distance, .activity = c->activity, .n = c->normal};
  if (c->distance < 0) s.load = c->activity * math_pow(-c->distance, law->exponent);
  for (int k = 0; k < 2; k++) s.at[k] = pose_apply_inverse(b->pose[k], c->point);
  return s;
}

static void set_pressed(PairState* state, double separation, Vec3 point, Vec3 normal) {
  state->outcome = PAIR_PRESSED;
  state->separation = separation;
  state->axis = normal;
  state->has_plane = true; /* contact_wrench reads the plane */
  state->plane = (Plane){point, normal, 0};
}

/* Contacts with an activity below this value do not count for the separation of two polyhedra. */
#define SEPARATING_ACTIVITY 0.1

/* Sets the separation of two polyhedra within reach. The separation is the exact distance, or else the distance of the
 * deepest contact. The distance of vertices is not sufficient, because edges can cross where no vertex is near the
 * other body. */
static void press_polyhedra(const LawPair* p, const ManifoldBodies* b, const GjkResult* found) {
  const ManifoldLaw* law = p->law;
  Vec3 between = vec3_sub(pose_apply(b->pose[1], b->surface[1]->center), pose_apply(b->pose[0], b->surface[0]->center));
  Vec3 point = vec3_scale(vec3_add(found->witness_a, found->witness_b), 0.5), normal = found->normal;
  double least = found->distance;
  if (!(least > 0)) {
    const ManifoldContact* contacts = law->work[p->thread].contacts;
    int count = manifold_contacts(law, p->thread, b, true, MANIFOLD_BY_MOTION, 0);
    double length = vec3_norm(between);
    least = 0;
    normal = length > 0 ? vec3_scale(between, 1 / length) : vec3(0, 0, 1);
    for (int i = 0; i < count; i++) {
      if (!(contacts[i].activity > SEPARATING_ACTIVITY && contacts[i].distance < least)) continue;
      least = contacts[i].distance;
      point = contacts[i].point;
      normal = contacts[i].normal;
    }
  }
  set_pressed(p->state, least, point, normal);
}

static void find_separation(const LawPair* p, const ManifoldBodies* b) {
  const ManifoldLaw* law = p->law;
  PairState* state = p->state;
  Vec3 point, normal;
  if (b->surface[1]) { /* the surfaces lie at most `sag` outside of the polyhedra that their points span */
    GjkResult found;
    double apart = pair_distance(p->a, p->b, p->gjk, &found) - b->surface[0]->sag - b->surface[1]->sag;
    if (apart > law->reach) {
      pair_set_apart(state, apart, found.normal);
      return;
    }
    if (b->surface[0]->polyhedron && b->surface[1]->polyhedron) { /* (X20) */
      press_polyhedra(p, b, &found);
      return;
    }
  }
  double least = manifold_least_distance(law, b, &point, &normal);
  if (!(least < law->reach)) {
    pair_set_apart(state, b->surface[1] ? CERTAIN_PART * least : least, normal);
    return;
  }
  set_pressed(state, least, point, normal);
}

/* ---------------------------------------------------------------- a contact in a step */

/* Motion of a contact since the initial state of the step: positions x of the contact point as a point of each body
 * [m], and u = x[1] - x[0]. */
typedef struct {
  Vec3 x[2], u;
  double delta;        /* depth of the contact [m]; if delta <= 0, the contact has no force */
  Vec3 velocity, slip; /* velocity: u / dt; slip: component of the velocity perpendicular to the normal [m/s] */
  double rho;          /* sqrt(slip^2 + epsilon) */
} SpotMotion;

/* Returns (I - n n^T) v. The result is the component of v perpendicular to n only if n has unit length. */
static Vec3 across(Vec3 n, Vec3 v) { return vec3_add_scaled(v, -vec3_dot(n, v), n); }

static SpotMotion motion_of(const ManifoldLaw* law, const ManifoldBodies* next, const Spot* s) {
  SpotMotion m;
  for (int k = 0; k < 2; k++) m.x[k] = pose_apply(next->pose[k], s->at[k]);
  m.u = vec3_sub(m.x[1], m.x[0]);
  m.delta = -(s->distance + vec3_dot(s->n, m.u));
  m.velocity = vec3_scale(m.u, 1 / law->step->dt);
  m.slip = across(s->n, m.velocity);
  m.rho = sqrt(vec3_dot(m.slip, m.slip) + law->smoothing);
  return m;
}

/* Returns the gradient of the energy of a contact with respect to the relative displacement u of its two points. Sets
 * *bend to the Hessian with respect to u (X10, X11). mu: friction coefficient. */
static Vec3 bend_of(const ManifoldLaw* law, const Spot* s, const SpotMotion* m, double mu, Mat3* bend) {
  Vec3 pull = {0, 0, 0}, n = s->n;
  *bend = mat3_scale(mat3_identity(), 0);
  if (m->delta > 0) {
    double scale = law->stiffness * s->activity;
    pull = vec3_scale(n, -scale * math_pow(m->delta, law->exponent));
    *bend = mat3_scale(mat3_outer(n, n), scale * law->exponent * math_pow(m->delta, law->exponent - 1));
  }
  double weight = law->stiffness * mu * s->load / m->rho;
  if (!(weight > 0)) return pull;
  Mat3 project = mat3_sub(mat3_identity(), mat3_outer(n, n));
  Vec3 slip = mat3_mul_vec(project, m->slip);
  Mat3 h = mat3_sub(mat3_mul(project, project), mat3_scale(mat3_outer(slip, slip), 1 / (m->rho * m->rho)));
  *bend = mat3_add(*bend, mat3_scale(h, weight / law->step->dt));
  return vec3_add_scaled(pull, weight, slip);
}

static void add_spot(const ManifoldLaw* law, const ManifoldBodies* next, const Spot* s, double mu,
                     PairDerivatives* out) {
  SpotMotion m = motion_of(law, next, s);
  if (!(m.delta > 0) && !(mu * s->load > 0)) return;
  Mat3 bend;
  Vec3 pull = bend_of(law, s, &m, mu, &bend), arm[2] = {{0, 0, 0}, {0, 0, 0}}, turn[MANIFOLD_COLUMNS];
  int sides = next->surface[1] ? 2 : 1;
  for (int side = 0; side < sides; side++) {
    Vec3 force = vec3_scale(pull, side == 0 ? -1 : 1);
    arm[side] = vec3_sub(m.x[side], next->reference[side]);
    out->force[side] = vec3_add(out->force[side], force);
    out->moment[side] = mat3_add(out->moment[side], mat3_outer(force, arm[side]));
  }
  if (sides == 1) out->force[1] = vec3_add(out->force[1], pull);
  for (int i = 0; i < 6 * sides;
       i++) { /* turn[i]: derivative of u with respect to component i of the twists of both bodies */
    Vec3 e = vec3_axis(i);
    turn[i] = vec3_scale(i % 6 < 3 ? vec3_cross(e, arm[i / 6]) : e, i < 6 ? -1 : 1);
  }
  for (int k = 0; k < 6 * sides; k++) {
    Vec3 bent = mat3_mul_vec(bend, turn[k]);
    for (int i = 0; i < 6 * sides; i++) out->hessian[i][k] += vec3_dot(turn[i], bent);
  }
}

/* ---------------------------------------------------------------- a pair in a run */

static ManifoldBodies bodies_at(const LawPair* p) { return manifold_bodies(p->law, p->item, p->a, p->b, p->reference); }

static int spots_of(const LawPair* p, const Spot** spots) {
  const Memory* m = p->memory;
  *spots = m->spots;
  return p->lagged && m->spots ? (int)m->count : 0;
}

/* Computes the separation of the bodies, and the contact energy of the contacts that the last `lag` stored. */
static void evaluate(const LawPair* p, const LawOrigin* from) {
  const ManifoldLaw* law = p->law;
  const PairState* old = from->state;
  PairState* state = p->state;
  ManifoldBodies b = bodies_at(p);
  if (from->stays && (old->outcome == PAIR_PRESSED ||
                      old->separation > 0)) { /* a separation of 0 means that it was not computed yet */
    state->outcome = old->outcome;
    state->separation = old->separation;
    state->axis = old->axis;
    state->has_plane = old->has_plane;
    state->plane = old->plane;
  } else {
    find_separation(p, &b);
  }
  const Spot* spots;
  int count = spots_of(p, &spots);
  double energy = 0, exponent = law->exponent + 1;
  for (int i = 0; i < count; i++) {
    SpotMotion m = motion_of(law, &b, &spots[i]);
    if (!(m.delta > 0)) continue;
    energy += spots[i].activity * math_pow(m.delta, exponent);
    state->has_terms = true;
  }
  state->contact_energy = law->stiffness * energy / exponent;
}

static bool friction_acts(const LawPair* p) { return p->lagged && ((const Memory*)p->memory)->count > 0; }

static bool evaluate_friction(const LawPair* p, const LawOrigin* from) {
  (void)from;
  const ManifoldLaw* law = p->law;
  const Spot* spots;
  double mu = p->material->value[MATERIAL_FRICTION], energy = 0;
  int count = spots_of(p, &spots);
  ManifoldBodies b = bodies_at(p);
  for (int i = 0; i < count && mu > 0; i++) {
    if (!(spots[i].load > 0)) continue;
    SpotMotion m = motion_of(law, &b, &spots[i]);
    energy += spots[i].load * vec3_dot(m.slip, m.slip) / (m.rho + sqrt(law->smoothing));
    p->state->has_terms = true;
  }
  p->state->friction_energy = law->stiffness * mu * law->step->dt * energy;
  return true;
}

static void derive(const LawPair* p) {
  const Spot* spots;
  int count = spots_of(p, &spots);
  ManifoldBodies b = bodies_at(p);
  memset(p->derivatives, 0, sizeof *p->derivatives);
  for (int i = 0; i < count; i++)
    add_spot(p->law, &b, &spots[i], p->material->value[MATERIAL_FRICTION], p->derivatives);
}

static double rounding(const LawPair* p, double reach) {
  const ManifoldLaw* law = p->law;
  const Spot* spots;
  int count = spots_of(p, &spots);
  double slope = 0;
  ManifoldBodies b = bodies_at(p);
  for (int i = 0; i < count; i++) {
    SpotMotion m = motion_of(law, &b, &spots[i]);
    if (m.delta > 0) slope += spots[i].activity * math_pow(m.delta, law->exponent);
  }
  slope *= law->stiffness;
  return DBL_EPSILON * ENERGY_ROUNDINGS * (slope * reach + p->state->contact_energy + p->state->friction_energy);
}

/* Sets *point to the mean of the contact points, weighted by their normal forces, world [m], and `press` to the sum of
 * the normal forces [N]. Returns false if no contact has a force. */
static bool center(const LawPair* p, Vec3* point, double* press) {
  const ManifoldLaw* law = p->law;
  const Spot* spots;
  int count = spots_of(p, &spots);
  ManifoldBodies b = bodies_at(p);
  Vec3 sum = {0, 0, 0};
  *press = 0;
  for (int i = 0; i < count; i++) {
    SpotMotion m = motion_of(law, &b, &spots[i]);
    if (!(m.delta > 0)) continue;
    double force = law->stiffness * spots[i].activity * math_pow(m.delta, law->exponent);
    sum = vec3_add_scaled(sum, 0.5 * force, vec3_add(m.x[0], m.x[1]));
    *press += force;
  }
  if (!(*press > 0)) return false;
  *point = vec3_scale(sum, 1 / *press);
  return true;
}

/* Returns the number of bytes that `lag` needs for the largest possible number of contacts of the pair. */
static size_t lag_room(const LawPair* p) {
  const ManifoldLaw* law = p->law;
  size_t count = 0, edges = (size_t)law->most_edges;
  for (int k = 0; k < 2; k++) count += (size_t)law->surfaces[p->item[k]].body.point_count;
  return sizeof(Spot) * (count + 2 * edges * edges);
}

static size_t lag(const LawPair* p, void* room) {
  if (!room) return lag_room(p);
  const ManifoldLaw* law = p->law;
  Memory* m = p->memory;
  *m = (Memory){.count = 0};
  if (!p->lagged) return 0;
  ManifoldBodies b = bodies_at(p);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int all = manifold_contacts(law, p->thread, &b, true, MANIFOLD_BY_MOTION, 0), count = 0;
  m->spots = room;
  for (int i = 0; i < all; i++)
    if (counts(law, &contacts[i])) m->spots[count++] = spot_of(law, &b, &contacts[i]);
  m->count = count;
  return sizeof(Spot) * (size_t)count;
}

/* Reads the number of contacts from the state block, or writes it. From this number, friction_acts decides whether
 * `lag` found contacts. The contacts themselves are not stored, because they follow from the poses. */
static void pass(const LawPair* p, StateBlock* block) {
  Memory* m = p->memory;
  state_block_doubles(block, &m->count, 1);
  if (block->pass == BLOCK_READ) m->spots = NULL;
}

/* ---------------------------------------------------------------- recorded pairs */

static ManifoldBodies recorded_bodies(const LawReplay* p, const PairBody body[2]) {
  const int item[2] = {p->record->hull_a, p->record->hull_b};
  const Vec3 reference[2] = {body[0].reference, body[1].reference};
  return manifold_bodies(p->law, item, &body[0].hull, &body[1].hull, reference);
}

static bool replay(const LawReplay* p, PairDerivatives* out) {
  const ManifoldLaw* law = p->law;
  if (!p->record->has_friction)
    return true; /* the initial state has no contacts, and a step has no contacts besides those of its initial state */
  ManifoldBodies now = recorded_bodies(p, p->now), next = recorded_bodies(p, p->next);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int count = manifold_contacts(law, p->thread, &now, true, MANIFOLD_BY_MOTION, 0);
  for (int i = 0; i < count; i++) {
    if (!counts(law, &contacts[i])) continue;
    Spot s = spot_of(law, &now, &contacts[i]);
    add_spot(law, &next, &s, p->material->value[MATERIAL_FRICTION], out);
  }
  return true;
}

/* ---------------------------------------------------------------- reverse (X12); for stiffness 1 */

/* Derivatives of one contact's contribution to Phi (X12) with respect to its activity, distance and normal at t, and
 * with respect to the positions x at t + dt of its point on each body. */
typedef struct {
  double activity, distance;
  Vec3 n, x[2];
} SpotBar;

/* Derivatives of Phi = dE/du . zeta. zeta is the rate of u if the bodies move with the given twists. */
typedef struct {
  Vec3 by_u, by_zeta;
} StretchBar;

static void reverse_normal(const ManifoldLaw* law, const Spot* s, const SpotMotion* m, Vec3 zeta, SpotBar* bar,
                           StretchBar* stretch, PairShares* out) {
  if (!(m->delta > 0)) return;
  double along = vec3_dot(s->n, zeta), first = math_pow(m->delta, law->exponent);
  double value = -s->activity * first * along;
  double by_delta = -s->activity * law->exponent * math_pow(m->delta, law->exponent - 1) * along;
  out->value += value;
  out->own[OWN_EXPONENT] += value * math_log(m->delta);
  bar->activity -= first * along;
  bar->distance -= by_delta;
  bar->n = vec3_add_scaled(bar->n, -by_delta, m->u);
  bar->n = vec3_add_scaled(bar->n, -s->activity * first, zeta);
  stretch->by_u = vec3_add_scaled(stretch->by_u, -by_delta, s->n);
  stretch->by_zeta = vec3_add_scaled(stretch->by_zeta, -s->activity * first, s->n);
}

static void reverse_slip(const ManifoldLaw* law, const Spot* s, const SpotMotion* m, Vec3 zeta, double mu, SpotBar* bar,
                         StretchBar* stretch, PairShares* out) {
  if (!(s->load > 0)) return;
  Vec3 n = s->n, side = across(n, zeta);
  double phi = vec3_dot(m->slip, side) / m->rho, scale = mu * s->load / m->rho, depth = -s->distance;
  out->value += mu * s->load * phi;
  out->friction += s->load * phi;
  out->smoothing -= 0.5 * mu * s->load * phi / (m->rho * m->rho);
  out->own[OWN_EXPONENT] += mu * phi * s->load * math_log(depth);
  bar->activity += mu * phi * math_pow(depth, law->exponent);
  bar->distance -= mu * phi * s->activity * law->exponent * math_pow(depth, law->exponent - 1);
  Vec3 by_slip = vec3_scale(vec3_add_scaled(side, -phi / m->rho, m->slip), scale), by_side = vec3_scale(m->slip, scale);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(by_slip, n), m->velocity);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(n, m->velocity), by_slip);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(by_side, n), zeta);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(n, zeta), by_side);
  stretch->by_u = vec3_add_scaled(stretch->by_u, 1 / law->step->dt, across(n, by_slip));
  stretch->by_zeta = vec3_add(stretch->by_zeta, across(n, by_side));
}

static SpotBar reverse_spot(const LawReplay* p, const ManifoldBodies* next, const Spot* s, const double twist[2][6],
                            PairShares* out) {
  const ManifoldLaw* law = p->law;
  SpotMotion m = motion_of(law, next, s);
  int sides = next->surface[1] ? 2 : 1;
  Vec3 zeta = {0, 0, 0};
  for (int k = 0; k < sides; k++) {
    Vec3 moved = vec3_add(vec3_at(twist[k] + 3), vec3_cross(vec3_at(twist[k]), vec3_sub(m.x[k], next->reference[k])));
    zeta = vec3_add_scaled(zeta, k == 0 ? -1 : 1, moved);
  }
  SpotBar bar = {.activity = 0};
  StretchBar stretch = {{0, 0, 0}, {0, 0, 0}};
  reverse_normal(law, s, &m, zeta, &bar, &stretch, out);
  reverse_slip(law, s, &m, zeta, p->material->value[MATERIAL_FRICTION], &bar, &stretch, out);
  for (int k = 0; k < 2; k++) {
    double sign = k == 0 ? -1 : 1;
    bar.x[k] = vec3_scale(stretch.by_u, sign);
    if (k < sides) bar.x[k] = vec3_add_scaled(bar.x[k], sign, vec3_cross(stretch.by_zeta, vec3_at(twist[k])));
  }
  if (sides == 1) ground_add(&out->ground_next, bar.x[1], m.x[1], next->pose[1].t);
  return bar;
}

static Vec3 row_at(const ManifoldContact* c, int row, int column) {
  return vec3(c->slope[row][column], c->slope[row + 1][column], c->slope[row + 2][column]);
}

/* Returns the velocity of a point fixed in body `side` in unit motion k of the bodies. Motions 0 to 2 are rotations and
 * 3 to 5 displacements of body a about the world axes; 6 to 11 are the same for body b. */
static Vec3 carried(const ManifoldBodies* b, int side, Vec3 point, int k) {
  Vec3 e = vec3_axis(k);
  if (k / 6 != side) return vec3(0, 0, 0);
  return k % 6 >= 3 ? e : vec3_cross(e, vec3_sub(point, b->pose[side].t));
}

/* Returns the derivative of a contact's contribution to Phi with respect to the motion or parameter that belongs to one
 * column of the contact's derivatives. moves: true if the column is a motion of a body at t, false if it is a
 * parameter. */
static double along_column(const ManifoldBodies* now, const Mat3 turn[2], const ManifoldContact* at,
                           const ManifoldContact* c, const SpotBar* bar, int column, bool moves) {
  Vec3 dx = row_at(c, MANIFOLD_POINT, column);
  double sum =
      bar->activity * c->slope[MANIFOLD_ACTIVITY][column] + bar->distance * c->slope[MANIFOLD_DISTANCE][column];
  sum += vec3_dot(bar->n, row_at(c, MANIFOLD_NORMAL, column));
  for (int side = 0; side < 2; side++) {
    Vec3 own = moves ? vec3_sub(dx, carried(now, side, at->point, column)) : dx;
    sum += vec3_dot(bar->x[side], mat3_mul_vec(turn[side], own));
  }
  return sum;
}

static void hand_poses(const ManifoldBodies* now, const double by[MANIFOLD_COLUMNS], PairShares* out) {
  for (int side = 0; side < 2; side++) {
    Vec3 torque = vec3_at(by + 6 * side), force = vec3_at(by + 6 * side + 3);
    if (now->surface[side]) {
      out->turn_now[side] = vec3_add(out->turn_now[side], torque);
      out->move_now[side] = vec3_add(out->move_now[side], force);
    } else {
      out->ground_now = (GroundShare){vec3_add(out->ground_now.force, force), vec3_add(out->ground_now.torque, torque)};
    }
  }
}

/* Adds `by`, the derivative of Phi with respect to vertex coordinate k in the frame of the link, to the share of the
 * vertex of body `side`. The share is in world axes. */
static void add_to_vertex(const ManifoldBodies* next, int side, int k, double by, PairShares* out) {
  VertexShare* share = &out->share[side][k / 3];
  share->next = vec3_add_scaled(share->next, by, mat3_mul_vec(next->pose[side].r, vec3_axis(k)));
}

/* Adds the derivatives of Phi with respect to the parameters first ... first + MANIFOLD_CAUSES - 1 of one cause. twist:
 * twists of both bodies, from which the derivatives with respect to the contacts are computed again. count: number of
 * contacts. to: derivatives with respect to all parameters of the cause, or NULL if the parameters are the vertex
 * coordinates of a polyhedron, whose derivatives go to `out`. */
static void reverse_cause(const LawReplay* p, const ManifoldBodies* now, const ManifoldBodies* next, const Mat3 turn[2],
                          const double twist[2][6], int count, ManifoldCause cause, int first, int parameters,
                          double* to, PairShares* out) {
  const ManifoldLaw* law = p->law;
  const ManifoldWork* work = &law->work[p->thread];
  PairShares unused = {.share = {NULL, NULL}};
  manifold_contacts(law, p->thread, now, false, cause, first);
  for (int i = 0; i < count; i++) {
    if (!counts(law, &work->contacts[i])) continue;
    Spot s = spot_of(law, now, &work->contacts[i]);
    SpotBar bar = reverse_spot(p, next, &s, twist, &unused);
    for (int k = 0; k < MANIFOLD_CAUSES && first + k < parameters; k++) {
      double by = along_column(now, turn, &work->contacts[i], &work->slopes[i], &bar, k, false);
      if (to)
        to[first + k] += by;
      else
        add_to_vertex(next, (int)cause - MANIFOLD_BY_SHAPE_A, first + k, by, out);
    }
  }
}

/* Adds the derivatives of Phi with respect to shape parameters, vertices of polyhedra and the activity width. */
static void reverse_causes(const LawReplay* p, const ManifoldBodies* now, const ManifoldBodies* next,
                           const Mat3 turn[2], const double twist[2][6], int count, PairShares* out) {
  for (int side = 0; side < 2; side++) {
    const ManifoldSurface* own = now->surface[side];
    if (!own) continue;
    double* to = own->polyhedron ? NULL : out->shape[side];
    if (!to && !own->polyhedron) continue;
    if (own->polyhedron) {
      out->count[side] = own->body.point_count;
      for (int i = 0; i < out->count[side]; i++) out->share[side][i] = (VertexShare){.vertex = i};
    }
    for (int first = 0; first < own->parameters; first += MANIFOLD_CAUSES)
      reverse_cause(p, now, next, turn, twist, count, (ManifoldCause)(MANIFOLD_BY_SHAPE_A + side), first,
                    own->parameters, to, out);
  }
  reverse_cause(p, now, next, turn, twist, count, MANIFOLD_BY_SMOOTHING, 0, 1, &out->own[OWN_WIDTH], out);
}

static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  if (!p->record->has_friction) return;
  const ManifoldLaw* law = p->law;
  ManifoldBodies now = recorded_bodies(p, p->now), next = recorded_bodies(p, p->next);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int count = manifold_contacts(law, p->thread, &now, false, MANIFOLD_BY_MOTION, 0);
  double by[MANIFOLD_COLUMNS] = {0};
  Mat3 turn[2];
  for (int side = 0; side < 2; side++) turn[side] = mat3_mul(next.pose[side].r, mat3_transpose(now.pose[side].r));
  for (int i = 0; i < count; i++) {
    if (!counts(law, &contacts[i])) continue;
    Spot s = spot_of(law, &now, &contacts[i]);
    SpotBar bar = reverse_spot(p, &next, &s, twist, out);
    for (int k = 0; k < MANIFOLD_COLUMNS; k++)
      by[k] += along_column(&now, turn, &contacts[i], &contacts[i], &bar, k, true);
  }
  hand_poses(&now, by, out);
  reverse_causes(p, &now, &next, turn, twist, count, out);
}

const ContactLaw LAW_manifold = {
    .name = "manifold",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .own_count = OWN_COUNT,
    .overlaps = true,
    .solids_only = "needs solids (smooth shapes, unions and subtractions, convex polyhedra, half_spaces)",
    .fits = fits,
    .pair_size = sizeof(Memory),
    .vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .range = range,
    .evaluate = evaluate,
    .evaluate_friction = evaluate_friction,
    .friction_acts = friction_acts,
    .derive = derive,
    .rounding = rounding,
    .center = center,
    .lag = lag,
    .pass = pass,
    .replay = replay,
    .reverse = reverse,
};
