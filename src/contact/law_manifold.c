/* Contact at many points (docs/derivations/law-manifold.md). Contacts are points of each surface in the distance field
 * of the other body, vertices of polyhedra on opposing faces, and pairs of edges. Each contact has a distance d, a
 * normal n and an activity a, a weight that scales the stiffness of the contact. A step uses the contacts found in its
 * initial state. Their points move with the bodies. Bodies in contact overlap slightly. With the displacement u_i of
 * the two points of contact i relative to each other, the stiffness kappa and the exponent p, the energy is
 *   E = kappa sum_i a_i delta_i^(p+1) / (p+1),   delta_i = -(d_i + n_i . u_i) > 0                            (X10) */
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
/* Smoothing length of the distance field of a polyhedron, as a multiple of the parameter `activity_width` (fields.md,
 * Y13). */
#define FIELD_WIDTH 0.1

/* Numbers of a contact point (FrictionPoint.numbers): distance and activity in the initial state of the step (X9). */
enum { POINT_DISTANCE, POINT_ACTIVITY };

/* ---------------------------------------------------------------- creation and parameters of the law */

#define ONLY "manifold"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY,
     .unit = "N/m^exponent", .range = RANGE_ABOVE(0), .fallback = "(derived from the scene)",
     .meaning = "Stiffness of one contact: at the depth delta its force is activity stiffness delta^exponent."},
    {"contact_law", "exponent", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_EXPONENT]), .only = ONLY,
     .fallback = "1.5", .range = RANGE_BETWEEN(1, 4), .meaning = "Exponent of the depth in the force."},
    {"contact_law", "reach", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_REACH]), .only = ONLY,
     .unit = "m", .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Distance within which contacts are found. This distance must exceed the approach in one step."},
    {"contact_law", "activity_width", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_WIDTH]),
     .only = ONLY, .unit = "m", .fallback = "0.001", .range = RANGE_ABOVE(0),
     .meaning = "Length over which the activity of a pair of edges rises by being the nearest pair. Over a tenth of "
                "this length it rises by penetration, and the edges of polyhedra are smoothed. Polyhedra must be "
                "thicker than this length."},
    {"contact_law", "edges", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_EDGES]), .only = ONLY,
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
  if (field_of_faces(
          &out->field, &hull->solid,
          FIELD_WIDTH *
              width)) { /* the surface stays empty; ContactLaw.fits reports the failure if the link can collide */
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
  (void)step;
  const double* parameters = model->contact.law_parameters;
  ManifoldLaw* law = MEMORY_NEW(ManifoldLaw, 1);
  *law = (ManifoldLaw){.model = model,
                       .stiffness = model->contact.stiffness,
                       .exponent = parameters[OWN_EXPONENT],
                       .reach = parameters[OWN_REACH],
                       .options = {.smoothing = parameters[OWN_WIDTH],
                                   .softness = SOFTNESS,
                                   .regularization = REGULARIZATION,
                                   .mutual = true},
                       .most_edges = (int)lround(parameters[OWN_EDGES]),
                       .surfaces = MEMORY_NEW(ManifoldSurface, model->hull_count),
                       .work = MEMORY_NEW(ManifoldWork, threads),
                       .threads = threads};
  for (int k = 0; k < model->hull_count; k++) take_surface(&law->surfaces[k], &model->hulls[k], parameters[OWN_WIDTH]);
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
static double range(const Model* model) { return model->contact.law_parameters[OWN_REACH]; }

/* Returns false, with a message in text (size), if the field of a polyhedron would be inexact inside it. The field is
 * exact only if its smoothing is much smaller than the thickness of the polyhedron. */
static bool fits(const ModelHull* hull, const double* parameters, char* text, size_t size) {
  if (hull->kind != &SOLID_HULL) return true;
  double thickness = hull->kind->thickness(hull), width = parameters[OWN_WIDTH];
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
  pair_set_in_contact(p->state, least, point, normal);
}

static void find_separation(const LawPair* p, const ManifoldBodies* b) {
  const ManifoldLaw* law = p->law;
  PairState* state = p->state;
  Vec3 point, normal;
  if (b->surface[1]) { /* the surfaces lie at most `sag` outside of the polyhedra that their points span */
    GjkResult found;
    double distance = pair_distance(p->a, p->b, p->gjk, &found) - b->surface[0]->sag - b->surface[1]->sag;
    if (distance > law->reach) {
      pair_set_apart(state, distance, found.normal);
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
  pair_set_in_contact(state, least, point, normal);
}

/* ---------------------------------------------------------------- functions of a pair in a run */

/* Returns the depth of a contact whose points have moved relative to each other by u [m]. A contact without depth has
 * no force. */
static double depth_of(const FrictionPoint* point, Vec3 u) {
  return -(point->numbers[POINT_DISTANCE] + vec3_dot(point->n, u));
}

static ManifoldBodies bodies_at(const LawPair* p) { return manifold_bodies(p->law, p->item, p->a, p->b, p->reference); }

/* Lists the contacts of the pair (X9). The normal force for stiffness 1 is a (-d)^p for a negative distance d, with the
 * activity a and the exponent p (X11). */
static void points(const LawPair* p, bool reverses, FrictionPoints* out) {
  const ManifoldLaw* law = p->law;
  const Pose* pose[2] = {&p->a->pose, &p->b->pose};
  ManifoldBodies b = bodies_at(p);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int count = manifold_contacts(law, p->thread, &b, !reverses, MANIFOLD_BY_MOTION, 0);
  for (int i = 0; i < count; i++) {
    const ManifoldContact* c = &contacts[i];
    if (!counts(law, c)) continue;
    double load = c->distance < 0 ? c->activity * math_pow(-c->distance, law->exponent) : 0;
    FrictionPoint* point = friction_points_add(out, pose, load, c->normal, c->point, c->point);
    point->numbers[POINT_DISTANCE] = c->distance;
    point->numbers[POINT_ACTIVITY] = c->activity;
  }
}

/* Computes the separation of the bodies, and the contact energy of the contacts at the start of the step. */
static void evaluate(const LawPair* p, const LawOrigin* from) {
  const ManifoldLaw* law = p->law;
  const PairState* old = from->state;
  PairState* state = p->state;
  if (from->stays && (old->outcome == PAIR_PRESSED ||
                      old->separation > 0)) { /* a separation of 0 means that it was not computed yet */
    state->outcome = old->outcome;
    state->separation = old->separation;
    state->axis = old->axis;
    state->has_plane = old->has_plane;
    state->plane = old->plane;
  } else {
    ManifoldBodies b = bodies_at(p);
    find_separation(p, &b);
  }
  double energy = 0, exponent = law->exponent + 1;
  for (int i = 0; i < p->point_count; i++) {
    double depth = depth_of(&p->points[i], point_motion(&p->points[i], &p->a->pose, &p->b->pose).u);
    if (!(depth > 0)) continue;
    energy += p->points[i].numbers[POINT_ACTIVITY] * math_pow(depth, exponent);
    state->has_terms = true;
  }
  state->contact_energy = law->stiffness * energy / exponent;
}

/* Adds the derivatives of the contact energy with respect to the motion of both bodies. The energy depends on the
 * relative displacement of the two points of each contact (X10). */
static bool derive(const LawPair* p) {
  const ManifoldLaw* law = p->law;
  for (int i = 0; i < p->point_count; i++) {
    const FrictionPoint* point = &p->points[i];
    PointDisplacement m = point_motion(point, &p->a->pose, &p->b->pose);
    double depth = depth_of(point, m.u), scale = law->stiffness * point->numbers[POINT_ACTIVITY];
    if (!(depth > 0)) continue;
    Vec3 pull = vec3_scale(point->n, -scale * math_pow(depth, law->exponent));
    double second = scale * law->exponent * math_pow(depth, law->exponent - 1);
    point_derivatives(&m, p->reference, p->b->half_space, pull, mat3_scale(mat3_outer(point->n, point->n), second),
                      p->derivatives);
  }
  return true;
}

/* Returns the sum of the normal forces of all contacts [N]. Sets *sum, unless NULL, to the sum of the midpoints of
 * their points times their normal forces [N m]. */
static double total_force(const LawPair* p, Vec3* sum) {
  const ManifoldLaw* law = p->law;
  double total = 0;
  for (int i = 0; i < p->point_count; i++) {
    PointDisplacement m = point_motion(&p->points[i], &p->a->pose, &p->b->pose);
    double depth = depth_of(&p->points[i], m.u);
    if (!(depth > 0)) continue;
    double force = law->stiffness * p->points[i].numbers[POINT_ACTIVITY] * math_pow(depth, law->exponent);
    if (sum) *sum = vec3_add_scaled(*sum, 0.5 * force, vec3_add(m.x[0], m.x[1]));
    total += force;
  }
  return total;
}

static double rounding(const LawPair* p, double reach) {
  double energies = p->state->contact_energy + p->state->friction_energy;
  return DBL_EPSILON * ENERGY_ROUNDINGS * (total_force(p, NULL) * reach + energies);
}

/* Sets *point to the mean of the contact points, weighted by their normal forces, world [m], and `press` to the sum of
 * the normal forces [N]. Returns false if no contact has a force. */
static bool center(const LawPair* p, Vec3* point, double* press) {
  Vec3 sum = {0, 0, 0};
  *press = total_force(p, &sum);
  if (!(*press > 0)) return false;
  *point = vec3_scale(sum, 1 / *press);
  return true;
}

/* ---------------------------------------------------------------- reverse derivatives (X12), for stiffness 1 */

/* Adds the derivatives of Phi = dE/du . zeta with respect to the contacts (X12). E: contact energy; u: relative
 * displacement of the two points of a contact; zeta: rate of u if the bodies move with the given twists. */
static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  const ManifoldLaw* law = p->law;
  const Vec3 reference[2] = {p->next[0].reference, p->next[1].reference};
  for (int i = 0; i < p->point_count; i++) {
    const FrictionPoint* point = &p->points[i];
    PointBar* bar = &p->bars[i];
    PointDisplacement m = point_motion(point, &p->next[0].hull.pose, &p->next[1].hull.pose);
    double depth = depth_of(point, m.u), activity = point->numbers[POINT_ACTIVITY];
    if (!(depth > 0)) continue;
    Vec3 zeta = point_rate(&m, reference, p->next[1].hull.half_space, twist);
    double along = vec3_dot(point->n, zeta), first = math_pow(depth, law->exponent), value = -activity * first * along;
    double by_depth = -activity * law->exponent * math_pow(depth, law->exponent - 1) * along;
    out->value += value;
    out->law_parameters[OWN_EXPONENT] += value * math_log(depth);
    bar->numbers[POINT_ACTIVITY] -= first * along;
    bar->numbers[POINT_DISTANCE] -= by_depth;
    bar->n = vec3_add_scaled(bar->n, -by_depth, m.u);
    bar->n = vec3_add_scaled(bar->n, -activity * first, zeta);
    bar->u = vec3_add_scaled(bar->u, -by_depth, point->n);
    bar->zeta = vec3_add_scaled(bar->zeta, -activity * first, point->n);
  }
}

/* The normal force a (-d)^p of a contact depends on its activity a and its distance d. Converts the derivative of Phi
 * with respect to this force to derivatives with respect to both numbers, and adds them. */
static void reverse_load(const ManifoldLaw* law, const FrictionPoint* point, PointBar* bar, PairShares* out) {
  if (!(point->load > 0)) return;
  double depth = -point->numbers[POINT_DISTANCE], activity = point->numbers[POINT_ACTIVITY];
  out->law_parameters[OWN_EXPONENT] += bar->load * point->load * math_log(depth);
  bar->numbers[POINT_ACTIVITY] += bar->load * math_pow(depth, law->exponent);
  bar->numbers[POINT_DISTANCE] -= bar->load * activity * law->exponent * math_pow(depth, law->exponent - 1);
}

static Vec3 row_at(const ManifoldContact* c, int row, int column) {
  return vec3(c->slope[row][column], c->slope[row + 1][column], c->slope[row + 2][column]);
}

/* Returns the derivative of Phi with respect to one cause through one contact. The cause is a motion of a body or a
 * shape parameter. column: column of the cause in the contact's derivatives. */
static double along_column(const ManifoldContact* c, const PointBar* bar, int column) {
  double sum = bar->numbers[POINT_ACTIVITY] * c->slope[MANIFOLD_ACTIVITY][column] +
               bar->numbers[POINT_DISTANCE] * c->slope[MANIFOLD_DISTANCE][column];
  sum += vec3_dot(bar->n, row_at(c, MANIFOLD_NORMAL, column));
  return sum + vec3_dot(vec3_add(bar->x[0], bar->x[1]), row_at(c, MANIFOLD_POINT, column));
}

/* Adds `by`, the derivative of Phi with respect to vertex coordinate k in the frame of the link, to the share of the
 * vertex of body `side`. The share is in world axes. */
static void add_to_vertex(const LawReplay* p, int side, int k, double by, PairShares* out) {
  VertexShare* share = &out->share[side][k / 3];
  share->next = vec3_add_scaled(share->next, by, mat3_mul_vec(p->next[side].hull.pose.r, vec3_axis(k)));
}

/* Adds the derivatives of Phi with respect to up to MANIFOLD_CAUSES parameters of one kind, from number `first` on.
 * parameters: number of all parameters of this kind. now: bodies at t. to: derivatives with respect to all parameters
 * of this kind. If `to` is NULL, the parameters are the vertex coordinates of a polyhedron, and `out` receives their
 * derivatives. */
static void reverse_cause(const LawReplay* p, const ManifoldBodies* now, ManifoldCause cause, int first, int parameters,
                          double* to, PairShares* out) {
  const ManifoldLaw* law = p->law;
  const ManifoldWork* work = &law->work[p->thread];
  int count = manifold_contacts(law, p->thread, now, false, cause, first), point = 0;
  for (int i = 0; i < count; i++) {
    if (!counts(law, &work->contacts[i])) continue;
    const PointBar* bar = &p->bars[point++];
    for (int k = 0; k < MANIFOLD_CAUSES && first + k < parameters; k++) {
      double by = along_column(&work->slopes[i], bar, k);
      if (to)
        to[first + k] += by;
      else
        add_to_vertex(p, (int)cause - MANIFOLD_BY_SHAPE_A, first + k, by, out);
    }
  }
}

/* Adds the derivatives of Phi with respect to shape parameters, vertices of polyhedra and the activity width. */
static void reverse_causes(const LawReplay* p, const ManifoldBodies* now, PairShares* out) {
  for (int side = 0; side < 2; side++) {
    const ManifoldSurface* surface = now->surface[side];
    if (!surface) continue;
    double* to = surface->polyhedron ? NULL : out->shape[side];
    if (!to && !surface->polyhedron) continue;
    if (surface->polyhedron) {
      out->count[side] = surface->body.point_count;
      for (int i = 0; i < out->count[side]; i++) out->share[side][i] = (VertexShare){.vertex = i};
    }
    for (int first = 0; first < surface->parameters; first += MANIFOLD_CAUSES)
      reverse_cause(p, now, (ManifoldCause)(MANIFOLD_BY_SHAPE_A + side), first, surface->parameters, to, out);
  }
  reverse_cause(p, now, MANIFOLD_BY_SMOOTHING, 0, 1, &out->law_parameters[OWN_WIDTH], out);
}

/* Uses the contacts in the workspace that `points` found, with their derivatives with respect to the motion of both
 * bodies at t. */
static void reverse_points(const LawReplay* p, PairShares* out) {
  const ManifoldLaw* law = p->law;
  PairState state;
  LawPair pair = law_recorded_pair(p, false, &state);
  ManifoldBodies now = bodies_at(&pair);
  const ManifoldContact* contact = law->work[p->thread].contacts;
  double by[MANIFOLD_COLUMNS] = {0};
  for (int i = 0; i < p->point_count; i++, contact++) {
    while (!counts(law, contact)) contact++;
    reverse_load(law, &p->points[i], &p->bars[i], out);
    for (int k = 0; k < MANIFOLD_COLUMNS; k++) by[k] += along_column(contact, &p->bars[i], k);
  }
  for (int side = 0; side < 2; side++)
    law_add_motion_now(p, side, now.pose[side].t, vec3_at(by + 6 * side + 3), vec3_at(by + 6 * side), out);
  reverse_causes(p, &now, out);
}

const ContactLaw LAW_manifold = {
    .name = "manifold",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .own_count = OWN_COUNT,
    .overlaps = true,
    .solids_only = "needs solids (smooth shapes, unions and subtractions, convex polyhedra, half_spaces)",
    .fits = fits,
    .points_press = true,
    .vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .range = range,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .center = center,
    .points = points,
    .reverse_points = reverse_points,
    .reverse = reverse,
};
