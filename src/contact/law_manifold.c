/* Contact on a manifold of many points: those of either surface within the other's field, and pairs of edges, each with
 * a distance, a normal and an activity that scales its stiffness (docs/derivations/law-manifold.md). A step rests on
 * the contacts of the state that it begins in; its bodies carry their points along. Bodies overlap a little. E = kappa
 * sum_i a_i delta_i^(p+1) / (p+1),   delta_i = -(d_i + n_i . u_i) > 0                               (X10)
 */
#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "contact/law.h"
#include "query/query.h"

enum { COLUMNS = QUERY_POSE_COLUMNS, CAUSES = 6 };
enum { OWN_EXPONENT, OWN_REACH, OWN_WIDTH, OWN_EDGES, OWN_COUNT };
/* Softness and regularization of the query, without unit: 2 % of an edge and of a right angle; 0.1 %. */
#define SOFTNESS 0.02
#define REGULARIZATION 1e-3
/* An edge counts while its distance is below this many widths: its activity is at most e^-20 beyond. */
#define EDGE_WIDTHS 20.0
/* The field's slope changes along an edge by less than this factor. */
#define EDGE_SLOPE 1.5
/* A field is at most so steep where that is not looked up. */
#define STEEPEST 2.0
/* Contacts of less activity are left out. */
#define LEAST_ACTIVITY 1e-9
#define ENERGY_ROUNDINGS 50.0
/* First-order distances between points may exceed the true one: of what is apart this part is certain. */
#define CERTAIN_PART 0.5

/* A body as its own shape sees it, link frame. */
typedef struct {
  Field field; /* shares all with the model's */
  ManifoldBody body;
  Vec3* point_slopes; /* NULL: no parameters */
  int parameters;
  double sag;               /* how deep the polyhedron of its points lies below its surface [m] */
  Vec3 center, half_extent; /* of its box [m] */
} ManifoldSurface;

/* Room of one thread. */
typedef struct {
  ManifoldContact *contacts, *slopes;
  int* points[2]; /* that may touch */
  int (*edges[2])[2];
  double* depth; /* of edges */
  void* room;
} Work;

typedef struct {
  const Model* model;
  double stiffness, exponent, reach, smoothing, dt;
  ManifoldOptions options;
  int most_edges;
  ManifoldSurface* surfaces; /* (hulls) */
  Work* work;
  int threads;
} Law;

/* A contact that the step rests on (X9). */
typedef struct {
  double distance, activity, load; /* load: a delta^p there */
  Vec3 n;                          /* from a to b, at most unit */
  Vec3 at[2];                      /* where it is, in both links' frames */
} Spot;

typedef struct {
  double count;
  Spot* spots; /* until the next lag */
} Memory;

/* ---------------------------------------------------------------- the scene */

#define ONLY "manifold"
static const SchemaRow rows[] = {
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY,
     .unit = "N/m^exponent", .range = RANGE_ABOVE(0), .fallback = "(derived from the scene)",
     .meaning = "Stiffness of one contact: delta deep it presses with activity stiffness delta^exponent."},
    {"contact", "exponent", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_EXPONENT]), .only = ONLY,
     .fallback = "1.5", .range = RANGE_BETWEEN(1, 4), .meaning = "Power of the depth in the force."},
    {"contact", "reach", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_REACH]), .only = ONLY, .unit = "m",
     .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Contacts are known from this distance on; more than bodies approach in a step."},
    {"contact", "activity_width", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_WIDTH]), .only = ONLY,
     .unit = "m", .fallback = "0.001", .range = RANGE_ABOVE(0),
     .meaning = "Over this length pairs of edges become active: that they penetrate, and are the nearest."},
    {"contact", "edges", VALUE_NUMBER, offsetof(ContactForm, contact.own[OWN_EDGES]), .only = ONLY, .fallback = "12",
     .range = RANGE_BETWEEN(0, 64),
     .meaning = "So many edges of either body, the deepest, are paired; 0: points alone."},
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
          mat3_mul_vec(smooth->pose.r, shape_surface_slope(&smooth->field.shape, sphere.vertices[i], k));
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

static void take_surface(ManifoldSurface* out, const ModelHull* hull) {
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

/* For any two of the bodies. */
static void make_room(Law* law) {
  ManifoldBody most = {.edge_count = 0};
  int edges = 0;
  for (int k = 0; k < law->model->hull_count; k++) {
    const ManifoldBody* body = &law->surfaces[k].body;
    if (body->point_count > most.point_count) most.point_count = body->point_count;
    if (body->edge_count > edges) edges = body->edge_count;
  }
  most.edge_count = edges < law->most_edges ? edges : law->most_edges;
  size_t contacts = (size_t)manifold_count(&most, &most, &law->options);
  for (int t = 0; t < law->threads; t++) {
    Work* work = &law->work[t];
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

static void* create(const Model* model, int threads, double tolerance) {
  (void)tolerance;
  const double* own = model->contact.own;
  Law* law = MEMORY_NEW(Law, 1);
  *law = (Law){.model = model,
               .stiffness = model->contact.stiffness,
               .exponent = own[OWN_EXPONENT],
               .reach = own[OWN_REACH],
               .smoothing = model->contact.smoothing,
               .dt = simulation_substep(&model->simulation),
               .options = {.smoothing = own[OWN_WIDTH], .softness = SOFTNESS, .regularization = REGULARIZATION},
               .most_edges = (int)lround(own[OWN_EDGES]),
               .surfaces = MEMORY_NEW(ManifoldSurface, model->hull_count),
               .work = MEMORY_NEW(Work, threads),
               .threads = threads};
  for (int k = 0; k < model->hull_count; k++) take_surface(&law->surfaces[k], &model->hulls[k]);
  make_room(law);
  return law;
}

static void destroy(void* instance) {
  Law* law = instance;
  for (int k = 0; k < law->model->hull_count; k++) {
    manifold_body_free(&law->surfaces[k].body);
    memory_free(law->surfaces[k].point_slopes);
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

static void set_dt(void* instance, double dt) { ((Law*)instance)->dt = dt; }

/* As far as the surfaces, which may lie outside the polyhedra of their points, are looked at. */
static double force_at_overlap(const double* own, double overlap) { return math_pow(overlap, own[OWN_EXPONENT]); }

static double range(const Model* model) { return model->contact.own[OWN_REACH]; }

static const char* refuses(const ModelHull* hull) {
  return !hull->kind->bounded || hull->smooth ? NULL : "needs smooth shapes, unions and subtractions, and half_spaces";
}

static double power(double delta, double exponent) { return math_pow(delta, exponent); }

/* ---------------------------------------------------------------- two bodies */

typedef struct {
  const ManifoldSurface* surface[2]; /* NULL: the half-space, which is b */
  Pose pose[2];                      /* of the links */
  Vec3 reference[2];
  Vec3 normal; /* of the half-space */
  double offset;
} Bodies;

static Bodies bodies_of(const Law* law, const int item[2], const HullInstance* a, const HullInstance* b,
                        const Vec3 reference[2]) {
  assert(law->surfaces);
  return (Bodies){.surface = {&law->surfaces[item[0]], b->half_space ? NULL : &law->surfaces[item[1]]},
                  .pose = {a->pose, b->pose},
                  .reference = {reference[0], reference[1]},
                  .normal = b->normal,
                  .offset = b->offset};
}

/* How far a point of a body's frame is from its box [m]. */
static double box_distance(const ManifoldSurface* s, Vec3 x) {
  Vec3 from = vec3_sub(x, s->center), h = s->half_extent;
  return vec3_norm(vec3(fmax(0, fabs(from.x) - h.x), fmax(0, fabs(from.y) - h.y), fmax(0, fabs(from.z) - h.z)));
}

/* From one body's frame to the other's. */
static Pose into_other(const Bodies* b, int side) { return pose_mul(pose_inverse(b->pose[1 - side]), b->pose[side]); }

static int near_points(const Law* law, const Bodies* b, int side, int* out) {
  const ManifoldBody* own = &b->surface[side]->body;
  Pose into = into_other(b, side);
  int count = 0;
  for (int i = 0; i < own->point_count; i++)
    if (box_distance(b->surface[1 - side], pose_apply(into, own->points[i])) < law->reach) out[count++] = i;
  return count;
}

/* How deep a body's edge comes into the other, at most; -HUGE_VAL: it is far. */
static double edge_depth(const Law* law, const Bodies* b, int side, const Pose* into, const int edge[2]) {
  const ManifoldBody* own = &b->surface[side]->body;
  Vec3 from = own->points[edge[0]], to = own->points[edge[1]];
  Vec3 middle = pose_apply(*into, vec3_scale(vec3_add(from, to), 0.5));
  double half = 0.5 * vec3_norm(vec3_sub(to, from)), far = EDGE_WIDTHS * law->options.smoothing;
  if (box_distance(b->surface[1 - side], middle) > EDGE_SLOPE * STEEPEST * half + far) return -HUGE_VAL;
  FieldValue at = field_evaluate(b->surface[1 - side]->body.field, middle);
  double depth = EDGE_SLOPE * fmax(1, vec3_norm(at.gradient)) * half - at.value;
  return depth > -far ? depth : -HUGE_VAL;
}

/* What of a body may touch the other, into the room: points, and edges, the deepest when they are too many. */
static ManifoldBody near_parts(const Law* law, int thread, const Bodies* b, int side) {
  const ManifoldBody* own = &b->surface[side]->body;
  Work* work = &law->work[thread];
  ManifoldBody out = *own;
  out.only = work->points[side];
  out.only_count = near_points(law, b, side, work->points[side]);
  out.edges = work->edges[side];
  out.edge_count = 0;
  Pose into = into_other(b, side);
  for (int i = 0; i < own->edge_count && law->most_edges > 0; i++) {
    double depth = edge_depth(law, b, side, &into, own->edges[i]);
    if (depth == -HUGE_VAL) continue;
    int place = out.edge_count < law->most_edges ? out.edge_count++ : law->most_edges;
    while (place > 0 && work->depth[place - 1] < depth) place--;
    for (int k = out.edge_count - 1; k > place; k--) {
      work->depth[k] = work->depth[k - 1];
      memcpy(out.edges[k], out.edges[k - 1], sizeof out.edges[k]);
    }
    if (place == law->most_edges) continue;
    work->depth[place] = depth;
    memcpy(out.edges[place], own->edges[i], sizeof out.edges[place]);
  }
  return out;
}

/* Derivatives by six motions of a and six of the half-space about its link's origin. */
static void put_over_ground(const Bodies* b, Vec3 point, bool values, ManifoldContact* out) {
  *out = (ManifoldContact){.kind = CONTACT_POINT_A, .point = point, .normal = vec3_scale(b->normal, -1), .activity = 1};
  out->distance = vec3_dot(b->normal, point) - b->offset;
  for (int k = 0; k < COLUMNS && !values; k++) {
    Vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, moved = e, turned = {0, 0, 0};
    int side = k / 6;
    if (k % 6 < 3) moved = vec3_cross(e, vec3_sub(point, b->pose[side].t));
    if (side == 1 && k % 6 < 3) turned = vec3_cross(e, out->normal);
    out->slope[MANIFOLD_DISTANCE][k] = (side == 0 ? 1 : -1) * vec3_dot(b->normal, moved);
    const double dx[3] = {moved.x, moved.y, moved.z}, dn[3] = {turned.x, turned.y, turned.z};
    for (int i = 0; i < 3; i++) {
      out->slope[MANIFOLD_POINT + i][k] = side == 0 ? dx[i] : 0;
      out->slope[MANIFOLD_NORMAL + i][k] = dn[i];
    }
  }
}

static void put_over_ground_by(const Bodies* b, int point, int first, ManifoldContact* out) {
  const ManifoldSurface* a = b->surface[0];
  *out = (ManifoldContact){.kind = CONTACT_POINT_A};
  for (int k = 0; k < CAUSES && first + k < a->parameters; k++) {
    Vec3 moved = mat3_mul_vec(b->pose[0].r, a->point_slopes[(ptrdiff_t)(first + k) * a->body.point_count + point]);
    const double dx[3] = {moved.x, moved.y, moved.z};
    out->slope[MANIFOLD_DISTANCE][k] = vec3_dot(b->normal, moved);
    for (int i = 0; i < 3; i++) out->slope[MANIFOLD_POINT + i][k] = dx[i];
  }
}

/* All contacts into the thread's room; returns how many. cause MANIFOLD_BY_MOTION: with twelve columns, if `values` is
 * not set, into `contacts`; else with six into `slopes`. */
static int contacts_of(const Law* law, int thread, const Bodies* b, bool values, ManifoldCause cause, int first) {
  Work* work = &law->work[thread];
  ManifoldContact* out = cause == MANIFOLD_BY_MOTION ? work->contacts : work->slopes;
  if (!b->surface[1]) {
    const ManifoldBody* a = &b->surface[0]->body;
    for (int i = 0; i < a->point_count; i++)
      if (cause == MANIFOLD_BY_MOTION)
        put_over_ground(b, pose_apply(b->pose[0], a->points[i]), values, &out[i]);
      else if (cause == MANIFOLD_BY_SHAPE_A)
        put_over_ground_by(b, i, first, &out[i]);
      else
        out[i] = (ManifoldContact){.kind = CONTACT_POINT_A};
    return a->point_count;
  }
  ManifoldBody body[2] = {near_parts(law, thread, b, 0), near_parts(law, thread, b, 1)};
  ManifoldOptions options = law->options;
  options.values = values;
  if (cause == MANIFOLD_BY_MOTION)
    manifold_query(&body[0], b->pose[0], &body[1], b->pose[1], &options, out, work->room);
  else
    manifold_query_by(&body[0], b->pose[0], &body[1], b->pose[1], &options, cause, first, out, work->room);
  return (int)manifold_count(&body[0], &body[1], &options);
}

static bool counts(const Law* law, const ManifoldContact* c) {
  return c->distance < law->reach && c->activity > LEAST_ACTIVITY;
}

static Spot spot_of(const Law* law, const Bodies* b, const ManifoldContact* c) {
  Spot s = {.distance = c->distance, .activity = c->activity, .n = c->normal};
  if (c->distance < 0) s.load = c->activity * power(-c->distance, law->exponent);
  for (int k = 0; k < 2; k++) s.at[k] = pose_apply_inverse(b->pose[k], c->point);
  return s;
}

/* ---------------------------------------------------------------- how near they are */

/* Least first-order distance of points of one body within the other's field; beyond the reach a lower bound. */
static double nearest_points(const Law* law, const Bodies* b, int side, Vec3* point, Vec3* normal) {
  const ManifoldBody *own = &b->surface[side]->body, *other = &b->surface[1 - side]->body;
  Pose into = into_other(b, side), back = b->pose[1 - side];
  double least = HUGE_VAL;
  for (int i = 0; i < own->point_count; i++) {
    Vec3 local = pose_apply(into, own->points[i]);
    double distance = box_distance(b->surface[1 - side], local);
    if (!(distance < least)) continue;
    Vec3 outward = vec3_normalized(vec3_sub(local, b->surface[1 - side]->center));
    if (distance < law->reach) {
      FieldValue v = field_evaluate(other->field, local);
      distance = v.value / fmax(1, vec3_norm(v.gradient));
      outward = v.outward;
      if (!(distance < least)) continue;
    }
    least = distance;
    *point = pose_apply(back, local);
    *normal = mat3_mul_vec(back.r, vec3_scale(outward, side == 0 ? -1 : 1));
  }
  return least;
}

/* Of all points: the least distance, where, and the normal from a to b. */
static double least_distance(const Law* law, const Bodies* b, Vec3* point, Vec3* normal) {
  if (b->surface[1]) {
    Vec3 x, n;
    double least = nearest_points(law, b, 0, point, normal), other = nearest_points(law, b, 1, &x, &n);
    if (!(other < least)) return least;
    *point = x;
    *normal = n;
    return other;
  }
  double least = HUGE_VAL;
  const ManifoldBody* a = &b->surface[0]->body;
  for (int i = 0; i < a->point_count; i++) {
    Vec3 x = pose_apply(b->pose[0], a->points[i]);
    double height = vec3_dot(b->normal, x) - b->offset;
    if (height < least) *point = x;
    least = fmin(least, height);
  }
  *normal = vec3_scale(b->normal, -1);
  return least;
}

static void find_separation(const LawPair* p, const Bodies* b) {
  const Law* law = p->law;
  PairState* state = p->state;
  Vec3 point, normal;
  if (b->surface[1]) { /* the polyhedra of their points, which are within */
    GjkResult found;
    double apart = pair_distance(p->a, p->b, p->gjk, &found) - b->surface[0]->sag - b->surface[1]->sag;
    if (apart > law->reach) {
      pair_set_apart(state, apart, found.normal);
      return;
    }
  }
  double least = least_distance(law, b, &point, &normal);
  if (!(least < law->reach)) {
    pair_set_apart(state, b->surface[1] ? CERTAIN_PART * least : least, normal);
    return;
  }
  state->outcome = PAIR_PRESSED;
  state->separation = least;
  state->axis = normal;
  state->has_plane = true; /* for whoever asks where it presses */
  state->plane = (Plane){point, normal, 0};
}

/* ---------------------------------------------------------------- a contact in a step */

/* Where its point on either body is, how these have parted, and what that comes to. */
typedef struct {
  Vec3 x[2], u;
  double delta;        /* depth; <= 0: none */
  Vec3 velocity, slip; /* u / dt, and that across the normal */
  double rho;          /* sqrt(slip^2 + epsilon) */
} SpotMotion;

/* (I - n n^T) v; no projector where n is shorter than 1. */
static Vec3 across(Vec3 n, Vec3 v) { return vec3_add_scaled(v, -vec3_dot(n, v), n); }

static SpotMotion motion_of(const Law* law, const Bodies* next, const Spot* s) {
  SpotMotion m;
  for (int k = 0; k < 2; k++) m.x[k] = pose_apply(next->pose[k], s->at[k]);
  m.u = vec3_sub(m.x[1], m.x[0]);
  m.delta = -(s->distance + vec3_dot(s->n, m.u));
  m.velocity = vec3_scale(m.u, 1 / law->dt);
  m.slip = across(s->n, m.velocity);
  m.rho = sqrt(vec3_dot(m.slip, m.slip) + law->smoothing);
  return m;
}

/* Energy by u: its gradient `pull` and Hessian (X10, X11). */
static Vec3 bend_of(const Law* law, const Spot* s, const SpotMotion* m, double mu, Mat3* bend) {
  Vec3 pull = {0, 0, 0}, n = s->n;
  *bend = mat3_scale(mat3_identity(), 0);
  if (m->delta > 0) {
    double scale = law->stiffness * s->activity;
    pull = vec3_scale(n, -scale * power(m->delta, law->exponent));
    *bend = mat3_scale(mat3_outer(n, n), scale * law->exponent * power(m->delta, law->exponent - 1));
  }
  double weight = law->stiffness * mu * s->load / m->rho;
  if (!(weight > 0)) return pull;
  Mat3 project = mat3_sub(mat3_identity(), mat3_outer(n, n));
  Vec3 slip = mat3_mul_vec(project, m->slip);
  Mat3 h = mat3_sub(mat3_mul(project, project), mat3_scale(mat3_outer(slip, slip), 1 / (m->rho * m->rho)));
  *bend = mat3_add(*bend, mat3_scale(h, weight / law->dt));
  return vec3_add_scaled(pull, weight, slip);
}

static void add_spot(const Law* law, const Bodies* next, const Spot* s, double mu, PairDerivatives* out) {
  SpotMotion m = motion_of(law, next, s);
  if (!(m.delta > 0) && !(mu * s->load > 0)) return;
  Mat3 bend;
  Vec3 pull = bend_of(law, s, &m, mu, &bend), arm[2] = {{0, 0, 0}, {0, 0, 0}}, turn[COLUMNS];
  int sides = next->surface[1] ? 2 : 1;
  for (int side = 0; side < sides; side++) {
    Vec3 force = vec3_scale(pull, side == 0 ? -1 : 1);
    arm[side] = vec3_sub(m.x[side], next->reference[side]);
    out->force[side] = vec3_add(out->force[side], force);
    out->moment[side] = mat3_add(out->moment[side], mat3_outer(force, arm[side]));
  }
  if (sides == 1) out->force[1] = vec3_add(out->force[1], pull);
  for (int i = 0; i < 6 * sides; i++) { /* u by column i */
    Vec3 e = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
    turn[i] = vec3_scale(i % 6 < 3 ? vec3_cross(e, arm[i / 6]) : e, i < 6 ? -1 : 1);
  }
  for (int k = 0; k < 6 * sides; k++) {
    Vec3 bent = mat3_mul_vec(bend, turn[k]);
    for (int i = 0; i < 6 * sides; i++) out->hessian[i][k] += vec3_dot(turn[i], bent);
  }
}

/* ---------------------------------------------------------------- a pair in a run */

static Bodies bodies_at(const LawPair* p) { return bodies_of(p->law, p->item, p->a, p->b, p->reference); }

static int spots_of(const LawPair* p, const Spot** spots) {
  const Memory* m = p->memory;
  *spots = m->spots;
  return p->lagged && m->spots ? (int)m->count : 0;
}

/* What the contacts of the state before store now. */
static void evaluate(const LawPair* p, const LawOrigin* from) {
  const Law* law = p->law;
  const PairState* old = from->state;
  PairState* state = p->state;
  Bodies b = bodies_at(p);
  if (from->stays && (old->outcome == PAIR_PRESSED || old->outcome == PAIR_APART)) {
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
    energy += spots[i].activity * power(m.delta, exponent);
    state->has_terms = true;
  }
  state->contact_energy = law->stiffness * energy / exponent;
}

static bool rubs(const LawPair* p) { return p->lagged && ((const Memory*)p->memory)->count > 0; }

static bool rub(const LawPair* p, const LawOrigin* from) {
  (void)from;
  const Law* law = p->law;
  const Spot* spots;
  double mu = p->material->value[MATERIAL_FRICTION], energy = 0;
  int count = spots_of(p, &spots);
  Bodies b = bodies_at(p);
  for (int i = 0; i < count && mu > 0; i++) {
    if (!(spots[i].load > 0)) continue;
    SpotMotion m = motion_of(law, &b, &spots[i]);
    energy += spots[i].load * vec3_dot(m.slip, m.slip) / (m.rho + sqrt(law->smoothing));
    p->state->has_terms = true;
  }
  p->state->friction_energy = law->stiffness * mu * law->dt * energy;
  return true;
}

static void derive(const LawPair* p) {
  const Spot* spots;
  int count = spots_of(p, &spots);
  Bodies b = bodies_at(p);
  memset(&p->state->derivatives, 0, sizeof p->state->derivatives);
  for (int i = 0; i < count; i++)
    add_spot(p->law, &b, &spots[i], p->material->value[MATERIAL_FRICTION], &p->state->derivatives);
}

static double rounding(const LawPair* p, double reach) {
  const Law* law = p->law;
  const Spot* spots;
  int count = spots_of(p, &spots);
  double slope = 0;
  Bodies b = bodies_at(p);
  for (int i = 0; i < count; i++) {
    SpotMotion m = motion_of(law, &b, &spots[i]);
    if (m.delta > 0) slope += spots[i].activity * power(m.delta, law->exponent);
  }
  slope *= law->stiffness;
  return DBL_EPSILON * ENERGY_ROUNDINGS * (slope * reach + p->state->contact_energy + p->state->friction_energy);
}

/* The mean of the points by how hard they press. */
static bool center(const LawPair* p, Vec3* point, double* press) {
  const Law* law = p->law;
  const Spot* spots;
  int count = spots_of(p, &spots);
  Bodies b = bodies_at(p);
  Vec3 sum = {0, 0, 0};
  *press = 0;
  for (int i = 0; i < count; i++) {
    SpotMotion m = motion_of(law, &b, &spots[i]);
    if (!(m.delta > 0)) continue;
    double force = law->stiffness * spots[i].activity * power(m.delta, law->exponent);
    sum = vec3_add_scaled(sum, 0.5 * force, vec3_add(m.x[0], m.x[1]));
    *press += force;
  }
  if (!(*press > 0)) return false;
  *point = vec3_scale(sum, 1 / *press);
  return true;
}

/* Most contacts that a pair can have. */
static size_t lag_room(const LawPair* p) {
  const Law* law = p->law;
  size_t count = 0, edges = (size_t)law->most_edges;
  for (int k = 0; k < 2; k++) count += (size_t)law->surfaces[p->item[k]].body.point_count;
  return sizeof(Spot) * (count + 2 * edges * edges);
}

static size_t lag(const LawPair* p, void* room) {
  const Law* law = p->law;
  Memory* m = p->memory;
  *m = (Memory){.count = 0};
  if (!p->lagged) return 0;
  Bodies b = bodies_at(p);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int all = contacts_of(law, p->thread, &b, true, MANIFOLD_BY_MOTION, 0), count = 0;
  m->spots = room;
  for (int i = 0; i < all; i++)
    if (counts(law, &contacts[i])) m->spots[count++] = spot_of(law, &b, &contacts[i]);
  m->count = count;
  return sizeof(Spot) * (size_t)count;
}

/* The poses tell all but whether there was a lag. */
static void pass(const LawPair* p, StateBlock* block) {
  Memory* m = p->memory;
  state_block_doubles(block, &m->count, 1);
  if (block->pass == BLOCK_READ) m->spots = NULL;
}

/* ---------------------------------------------------------------- recorded pairs */

static Bodies recorded_bodies(const LawReplay* p, const PairBody body[2]) {
  const int item[2] = {p->record->hull_a, p->record->hull_b};
  const Vec3 reference[2] = {body[0].reference, body[1].reference};
  return bodies_of(p->law, item, &body[0].hull, &body[1].hull, reference);
}

static bool replay(const LawReplay* p, PairDerivatives* out) {
  const Law* law = p->law;
  if (!p->record->rubbing) return true; /* a step rests on contacts of its beginning alone */
  Bodies now = recorded_bodies(p, p->now), next = recorded_bodies(p, p->next);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int count = contacts_of(law, p->thread, &now, true, MANIFOLD_BY_MOTION, 0);
  for (int i = 0; i < count; i++) {
    if (!counts(law, &contacts[i])) continue;
    Spot s = spot_of(law, &now, &contacts[i]);
    add_spot(law, &next, &s, p->material->value[MATERIAL_FRICTION], out);
  }
  return true;
}

/* ---------------------------------------------------------------- reverse (X12); for stiffness 1 */

/* Derivatives of a contact's share by what it is at t, and by where its points are at t + dt. */
typedef struct {
  double activity, distance;
  Vec3 n, x[2];
} SpotBar;

/* Phi = dE/du . zeta, zeta how the twists part the points. */
typedef struct {
  Vec3 by_u, by_zeta;
} StretchBar;

static void reverse_normal(const Law* law, const Spot* s, const SpotMotion* m, Vec3 zeta, SpotBar* bar,
                           StretchBar* stretch, PairShares* out) {
  if (!(m->delta > 0)) return;
  double along = vec3_dot(s->n, zeta), first = power(m->delta, law->exponent);
  double value = -s->activity * first * along;
  double by_delta = -s->activity * law->exponent * power(m->delta, law->exponent - 1) * along;
  out->value += value;
  out->own[OWN_EXPONENT] += value * math_log(m->delta);
  bar->activity -= first * along;
  bar->distance -= by_delta;
  bar->n = vec3_add_scaled(bar->n, -by_delta, m->u);
  bar->n = vec3_add_scaled(bar->n, -s->activity * first, zeta);
  stretch->by_u = vec3_add_scaled(stretch->by_u, -by_delta, s->n);
  stretch->by_zeta = vec3_add_scaled(stretch->by_zeta, -s->activity * first, s->n);
}

static void reverse_slip(const Law* law, const Spot* s, const SpotMotion* m, Vec3 zeta, double mu, SpotBar* bar,
                         StretchBar* stretch, PairShares* out) {
  if (!(s->load > 0)) return;
  Vec3 n = s->n, side = across(n, zeta);
  double phi = vec3_dot(m->slip, side) / m->rho, scale = mu * s->load / m->rho, depth = -s->distance;
  out->value += mu * s->load * phi;
  out->friction += s->load * phi;
  out->smoothing -= 0.5 * mu * s->load * phi / (m->rho * m->rho);
  out->own[OWN_EXPONENT] += mu * phi * s->load * math_log(depth);
  bar->activity += mu * phi * power(depth, law->exponent);
  bar->distance -= mu * phi * s->activity * law->exponent * power(depth, law->exponent - 1);
  Vec3 by_slip = vec3_scale(vec3_add_scaled(side, -phi / m->rho, m->slip), scale), by_side = vec3_scale(m->slip, scale);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(by_slip, n), m->velocity);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(n, m->velocity), by_slip);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(by_side, n), zeta);
  bar->n = vec3_add_scaled(bar->n, -vec3_dot(n, zeta), by_side);
  stretch->by_u = vec3_add_scaled(stretch->by_u, 1 / law->dt, across(n, by_slip));
  stretch->by_zeta = vec3_add(stretch->by_zeta, across(n, by_side));
}

static SpotBar reverse_spot(const LawReplay* p, const Bodies* next, const Spot* s, const double twist[2][6],
                            PairShares* out) {
  const Law* law = p->law;
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

/* How a point that is part of body `side` moves in column k. */
static Vec3 carried(const Bodies* b, int side, Vec3 point, int k) {
  Vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
  if (k / 6 != side) return vec3(0, 0, 0);
  return k % 6 >= 3 ? e : vec3_cross(e, vec3_sub(point, b->pose[side].t));
}

/* The contact's share by one column of its slopes. moves: the column is a motion at t. */
static double along_column(const Bodies* now, const Mat3 turn[2], const ManifoldContact* at, const ManifoldContact* c,
                           const SpotBar* bar, int column, bool moves) {
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

static void hand_poses(const Bodies* now, const double by[COLUMNS], PairShares* out) {
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

/* Shape parameters and the width of activity, six at a time; twist: to have the bars again. */
static void reverse_causes(const LawReplay* p, const Bodies* now, const Bodies* next, const Mat3 turn[2],
                           const double twist[2][6], int count, PairShares* out) {
  const Law* law = p->law;
  const Work* work = &law->work[p->thread];
  PairShares unused = {.share = {NULL, NULL}};
  for (int cause = MANIFOLD_BY_SHAPE_A; cause <= MANIFOLD_BY_SMOOTHING; cause++) {
    const ManifoldSurface* own = cause == MANIFOLD_BY_SMOOTHING ? NULL : now->surface[cause - MANIFOLD_BY_SHAPE_A];
    int parameters = cause == MANIFOLD_BY_SMOOTHING ? 1 : own ? own->parameters : 0;
    double* to = cause == MANIFOLD_BY_SMOOTHING ? &out->own[OWN_WIDTH] : out->shape[cause - MANIFOLD_BY_SHAPE_A];
    for (int first = 0; to && first < parameters; first += CAUSES) {
      contacts_of(law, p->thread, now, false, (ManifoldCause)cause, first);
      for (int i = 0; i < count; i++) {
        if (!counts(law, &work->contacts[i])) continue;
        Spot s = spot_of(law, now, &work->contacts[i]);
        SpotBar bar = reverse_spot(p, next, &s, twist, &unused);
        for (int k = 0; k < CAUSES && first + k < parameters; k++)
          to[first + k] += along_column(now, turn, &work->contacts[i], &work->slopes[i], &bar, k, false);
      }
    }
  }
}

static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  if (!p->record->rubbing) return;
  const Law* law = p->law;
  Bodies now = recorded_bodies(p, p->now), next = recorded_bodies(p, p->next);
  const ManifoldContact* contacts = law->work[p->thread].contacts;
  int count = contacts_of(law, p->thread, &now, false, MANIFOLD_BY_MOTION, 0);
  double by[COLUMNS] = {0};
  Mat3 turn[2];
  for (int side = 0; side < 2; side++) turn[side] = mat3_mul(next.pose[side].r, mat3_transpose(now.pose[side].r));
  for (int i = 0; i < count; i++) {
    if (!counts(law, &contacts[i])) continue;
    Spot s = spot_of(law, &now, &contacts[i]);
    SpotBar bar = reverse_spot(p, &next, &s, twist, out);
    for (int k = 0; k < COLUMNS; k++) by[k] += along_column(&now, turn, &contacts[i], &contacts[i], &bar, k, true);
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
    .refuses = refuses,
    .pair_size = sizeof(Memory),
    .vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .set_dt = set_dt,
    .range = range,
    .force_at_overlap = force_at_overlap,
    .evaluate = evaluate,
    .rub = rub,
    .rubs = rubs,
    .derive = derive,
    .rounding = rounding,
    .center = center,
    .lag_room = lag_room,
    .lag = lag,
    .pass = pass,
    .replay = replay,
    .reverse = reverse,
};
