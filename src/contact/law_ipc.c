/* Mesh contact of incremental potential contact, as a baseline for comparisons (docs/derivations/law-ipc.md). The
 * energy is a logarithmic barrier of the distances between vertices and triangles and between edges, with a damping
 * factor for nearly parallel edges. Friction acts across the contact directions at the start of the step. The energy is
 * twice differentiable only while the nearest features of the two meshes stay the same.
 *
 * The energy of a pair of links covers all hulls of both links. A pair of a hull and a half-space has an energy of its
 * own. A pair of two hulls has no energy, and only provides a distance for the certificate. */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "contact/features.h"
#include "contact/hierarchy.h"
#include "contact/law.h"
#include "contact/mesh_barrier.h"

#define ENERGY_ROUNDINGS 50.0
/* If two hulls together have at most this many vertices, the search for their closest points is skipped, because it
 * costs more time than it saves. */
enum { FEW_POINTS = 12 };
/* Number of vertices of two parallel faces that exert force at equilibrium (N21). */
#define REST_VERTICES_BOTH 8.0

/* Lists and vertices that one thread needs for the pair that it evaluates. */
typedef struct {
  Stencils found, point_stencils; /* found: stencils of the pair that is evaluated; point_stencils: those among them at
                                     which friction acts */
  Vec3* points[2]; /* vertices of the current hull of each body, world [m]  (vertices of the largest hull) */
  NearFeatures near;
} Work;

typedef struct {
  const Model* model;
  double support, stiffness;
  double far;   /* coefficient of the long-range potential, which is far / d at the distance d [m^3] (N25) */
  double range; /* distance up to which stencils have energy [m]; INFINITY if far > 0 */
  int threads;
  Hierarchy hierarchy;
  Features* features; /* corners, edges and triangles of each hull (size: hulls) */
  Work* work;         /* workspaces (size: threads) */
} Law;

/* ---------------------------------------------------------------- creation and parameters of the law */

#define ONLY "ipc"
enum { OWN_FAR, OWN_COUNT };
static const SchemaRow rows[] = {
    {"contact", "barrier_distance", VALUE_NUMBER, offsetof(ContactForm, contact.support), .only = ONLY, .unit = "m",
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Gap below which the barrier acts between two surfaces."},
    {"contact", "stiffness", VALUE_NUMBER, offsetof(ContactForm, contact.stiffness), .only = ONLY, .unit = "N/m",
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Stiffness kappa in front of the barrier -(d - s)^2 ln(d / s), s the barrier distance."},
    LAW_FRICTION_ROW(ONLY),
    LAW_SMOOTHING_ROW(ONLY),
    {"contact_law", "far", VALUE_NUMBER, offsetof(ContactForm, contact.law_parameters[OWN_FAR]), .only = ONLY,
     .unit = "m^3", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Adds the potential far / d between every two features of two links at any distance d. All pairs of "
                "features are then evaluated."},
};

static int largest_hull(const Model* model) {
  int largest = 1;
  for (int k = 0; k < model->hull_count; k++)
    if (model->hulls[k].points.count > largest) largest = model->hulls[k].points.count;
  return largest;
}

static void* create(const Model* model, int threads, double tolerance, const LawStep* step) {
  (void)tolerance;
  (void)step;
  const ModelContact* contact = &model->contact;
  Law* law = MEMORY_NEW(Law, 1);
  *law = (Law){model,
               contact->support,
               contact->stiffness,
               .far = contact->law_parameters[OWN_FAR],
               .range = contact->law_parameters[OWN_FAR] > 0 ? (double)INFINITY : contact->support,
               .threads = threads};
  hierarchy_create(&law->hierarchy, model);
  law->features = MEMORY_NEW(Features, model->hull_count + 1);
  for (int i = 0; i < model->link_count; i++) features_of_link(model, i, law->features);
  law->work = MEMORY_NEW(Work, threads);
  for (int t = 0; t < 2 * threads; t++) law->work[t / 2].points[t % 2] = MEMORY_NEW(Vec3, largest_hull(model));
  return law;
}

static void destroy(void* instance) {
  Law* law = instance;
  for (int k = 0; k < law->model->hull_count; k++) features_free(&law->features[k]);
  for (int t = 0; t < law->threads; t++) {
    Work* work = &law->work[t];
    memory_free(work->found.list);
    memory_free(work->point_stencils.list);
    for (int k = 0; k < 2; k++) memory_free(work->points[k]);
    near_features_free(&work->near);
  }
  memory_free(law->features);
  memory_free(law->work);
  hierarchy_destroy(&law->hierarchy);
  memory_free(law);
}

static double range(const Model* model) { return model->contact.support; }

/* ---------------------------------------------------------------- barrier energy of a stencil (N21) */

/* Equilibrium of two parallel faces, modelled as REST_VERTICES_BOTH independent vertices. z: gap divided by the
 * support. */
static ContactEquilibrium rest(double support, int n_a, int n_b, double z) {
  (void)n_a;
  (void)n_b;
  double gap = z * support;
  LogBarrier b = log_barrier(gap, support);
  return (ContactEquilibrium){gap, -REST_VERTICES_BOTH * b.first, REST_VERTICES_BOTH * b.second};
}

/* Returns the short-range energy of a stencil. Friction is proportional to the force of this energy. */
static StencilEnergy local_energy(const Law* law, const Stencil* s) { return mesh_barrier(s, law->support); }

static StencilEnergy energy_by_support(const Law* law, const Stencil* s) {
  return mesh_barrier_by_support(s, law->support);
}

/* Returns true if the stencil has a long-range energy. Stencils with a half-space have none; the law `long_range` makes
 * the same choice. */
static bool has_long_range_energy(const Law* law, const Stencil* s) { return law->far > 0 && !s->is_half_space; }

static StencilEnergy energy_of(const Law* law, const Stencil* s) {
  StencilEnergy e = local_energy(law, s);
  if (!has_long_range_energy(law, s)) return e;
  StencilEnergy f = mesh_reciprocal(s);
  return (StencilEnergy){e.value + law->far * f.value, e.by_d + law->far * f.by_d,   e.by_s + law->far * f.by_s,
                         e.by_dd + law->far * f.by_dd, e.by_ds + law->far * f.by_ds, e.by_ss + law->far * f.by_ss};
}

/* ---------------------------------------------------------------- the stencils of a pair */

/* The two bodies of a pair: two links (ground is NULL), or a hull and the half-space `ground`. */
typedef struct {
  int link[2], hull;
  Pose pose[2];
  Vec3 reference[2];
  const HullInstance* ground;
} Bodies;

typedef struct {
  const Law* law;
  const Bodies* bodies;
  double range;
  Work* work;
  Stencils* out;
} Search;

static Vec3 local_vertex(const Model* model, int link, int vertex) {
  const ModelLink* l = &model->links[link];
  int hull = l->hull_first, first = model->hulls[hull].vertex_first;
  int low = hull, high = hull + l->hull_count; /* bisection for the hull that contains the vertex: the last hull whose
                                                  first vertex is not after it */
  while (high - low > 1) {
    int middle = (low + high) / 2;
    *(model->hulls[middle].vertex_first <= first + vertex ? &low : &high) = middle;
  }
  const PointView* p = &model->hulls[low].points;
  int m = first + vertex - model->hulls[low].vertex_first;
  return point_at(*p, m);
}

static void set_point(const Search* q, Stencil* s, int i, int side, int vertex) {
  s->side[i] = side;
  s->vertex[i] = vertex;
  s->x[i] = pose_apply(q->bodies->pose[side], local_vertex(q->law->model, q->bodies->link[side], vertex));
}

static Surface surface_at(const Search* q, int side, int hull) {
  const Model* model = q->law->model;
  const PointView* p = &model->hulls[hull].points;
  Vec3* points = q->work->points[side];
  for (int m = 0; m < p->count; m++) points[m] = pose_apply(q->bodies->pose[side], point_at(*p, m));
  int first =
      model->hulls[hull].vertex_first - model->hulls[model->links[q->bodies->link[side]].hull_first].vertex_first;
  return (Surface){&q->law->features[hull], points, p->count, first};
}

/* Returns the unit direction between the closest points of two hulls. Returns zero if both hulls together have at most
 * FEW_POINTS vertices, for example two triangles. The bounding boxes of such small hulls separate them equally well. */
static Vec3 direction_across(const Search* q, int a, int b) {
  const PointView *one = &q->law->model->hulls[a].points, *two = &q->law->model->hulls[b].points;
  if (one->count + two->count <= FEW_POINTS) return vec3(0, 0, 0);
  return gjk_distance(*one, q->bodies->pose[0], *two, q->bodies->pose[1], NULL).normal;
}

static void between_hulls(const Search* q, int a, int b) {
  const Surface surface[2] = {surface_at(q, 0, a), surface_at(q, 1, b)};
  stencils_between(surface, direction_across(q, a, b), q->range, PARALLEL_LEAST, &q->work->near, q->out);
}

static void walk(const Search* q, int a, int b) {
  const BodyTree *one = &q->law->hierarchy.trees[q->bodies->link[0]],
                 *two = &q->law->hierarchy.trees[q->bodies->link[1]];
  const TreeNode *first = &one->nodes[a], *second = &two->nodes[b];
  double distance = vec3_norm(
      vec3_sub(pose_apply(q->bodies->pose[0], first->center), pose_apply(q->bodies->pose[1], second->center)));
  if (distance - first->radius - second->radius >= q->range) return;
  if (first->hull >= 0 && second->hull >= 0) {
    between_hulls(q, first->hull, second->hull);
    return;
  }
  bool split = second->hull >= 0 || (first->hull < 0 && first->radius >= second->radius);
  for (int k = 0; k < 2; k++) walk(q, split ? first->child[k] : a, split ? b : second->child[k]);
}

static void before_half_space(const Search* q) {
  const Features* f = &q->law->features[q->bodies->hull];
  for (int p = 0; p < f->vertex_count; p++) {
    Stencil* s = stencils_next(q->out);
    set_point(q, s, 0, 0, f->vertices[p]);
    stencil_half_space(s, q->bodies->ground->normal, q->bodies->ground->offset);
    q->out->count += s->d < q->law->support;
  }
}

static void find_within(const Law* law, const Bodies* bodies, double range, int thread, Stencils* out) {
  Search q = {law, bodies, range, &law->work[thread], out};
  out->count = 0;
  if (bodies->ground)
    before_half_space(&q);
  else if (law->hierarchy.trees[bodies->link[0]].count > 0 && law->hierarchy.trees[bodies->link[1]].count > 0)
    walk(&q, 0, 0);
}

/* find_stencils sets *out to all stencils of two bodies that have energy. find_local sets *out to the stencils within
 * the barrier distance only, which also have friction. thread: index of the thread's workspace. */
static void find_stencils(const Law* law, const Bodies* bodies, int thread, Stencils* out) {
  find_within(law, bodies, law->range, thread, out);
}

static void find_local(const Law* law, const Bodies* bodies, int thread, Stencils* out) {
  find_within(law, bodies, law->support, thread, out);
}

static bool of_links(const Law* law, int item) { return item >= law->model->hull_count; }

static Bodies bodies_at(const LawPair* p) {
  const Law* law = p->law;
  Bodies out = {.pose = {p->a->pose, p->b->pose}, .reference = {p->reference[0], p->reference[1]}};
  for (int k = 0; k < 2; k++) out.link[k] = contact_item_link(law->model, p->item[k]);
  if (of_links(law, p->item[0])) return out;
  out.hull = p->item[0];
  out.ground = p->b;
  return out;
}

/* Returns true if the pair has energy. Returns false for a pair of two hulls, which only provides a distance for the
 * certificate. */
static bool has_energy(const LawPair* p) { return of_links(p->law, p->item[0]) || p->b->half_space; }

/* ---------------------------------------------------------------- derivatives with respect to twists */

/* Converts the derivatives `in` of an energy with respect to the points x of a stencil into forces, moments and a
 * Hessian with respect to the twists of both bodies, and adds them to *out. */
static void add_twists(const Bodies* bodies, const Stencil* s, const Vec3* x, const StencilDerivatives* in,
                       PairDerivatives* out) {
  double j[12][12] = {{0}}, hj[12][12];
  int n = 3 * s->count, sides = bodies->ground ? 1 : 2;
  for (int i = 0; i < s->count; i++) {
    int side = s->side[i];
    Vec3 arm = vec3_sub(x[i], bodies->reference[side]);
    out->force[side] = vec3_add(out->force[side], in->gradient[i]);
    out->moment[side] = mat3_add(out->moment[side], mat3_outer(in->gradient[i], arm));
    if (bodies->ground) out->force[1] = vec3_sub(out->force[1], in->gradient[i]);
    for (int k = 0; k < 6; k++) {
      Vec3 e = vec3_axis(k), move = k < 3 ? vec3_cross(e, arm) : e;
      j[3 * i][6 * side + k] = move.x;
      j[3 * i + 1][6 * side + k] = move.y;
      j[3 * i + 2][6 * side + k] = move.z;
    }
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 6 * sides; k++) {
      hj[i][k] = 0;
      for (int l = 0; l < n; l++) hj[i][k] += in->hessian[i][l] * j[l][k];
    }
  for (int i = 0; i < 6 * sides; i++)
    for (int k = 0; k < 6 * sides; k++)
      for (int l = 0; l < n; l++) out->hessian[i][k] += j[l][i] * hj[l][k];
}

static void scale_stencil(StencilDerivatives* d, double factor) {
  for (int i = 0; i < STENCIL_POINTS; i++) d->gradient[i] = vec3_scale(d->gradient[i], factor);
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 12; k++) d->hessian[i][k] *= factor;
}

static void add_contact(const Law* law, const Bodies* bodies, const Stencils* found, PairDerivatives* out) {
  for (int k = 0; k < found->count; k++) {
    StencilDerivatives d;
    StencilEnergy e = energy_of(law, &found->list[k]);
    stencil_derivatives(&found->list[k], &e, &d);
    scale_stencil(&d, law->stiffness);
    add_twists(bodies, &found->list[k], found->list[k].x, &d, out);
  }
}

/* ---------------------------------------------------------------- functions of a pair in a run */

static void keep_distance(const LawPair* p, double distance, const GjkResult* found) {
  PairState* state = p->state;
  pair_set_apart(state, distance, found->normal);
  if (p->b->half_space) return;
  state->has_plane = true;
  state->plane = (Plane){vec3_scale(vec3_add(found->witness_a, found->witness_b), 0.5), found->normal, 0};
  state->clearance[0] = state->clearance[1] = 0.5 * distance;
}

static void evaluate(const LawPair* p, const LawOrigin* from) {
  (void)from;
  const Law* law = p->law;
  if (of_links(law, p->item[0]))
    pair_set_apart(p->state, INFINITY, vec3(0, 0, 0));
  else {
    GjkResult found;
    double distance = pair_distance(p->a, p->b, p->gjk, &found);
    keep_distance(p, distance, &found);
    if (!(distance > 0)) p->state->outcome = PAIR_INFEASIBLE;
    if (!(distance > 0) || !p->b->half_space) return;
  }
  Bodies bodies = bodies_at(p);
  Stencils* found = &law->work[p->thread].found;
  find_stencils(law, &bodies, p->thread, found);
  double sum = 0;
  for (int k = 0; k < found->count; k++) sum += energy_of(law, &found->list[k]).value;
  if (!(sum > 0)) return;
  p->state->outcome = isfinite(sum) ? PAIR_PRESSED : PAIR_INFEASIBLE;
  p->state->contact_energy = law->stiffness * sum;
  p->state->has_terms = true;
}

static bool derive(const LawPair* p) {
  const Law* law = p->law;
  if (p->state->outcome != PAIR_PRESSED) return true;
  Bodies bodies = bodies_at(p);
  find_stencils(law, &bodies, p->thread, &law->work[p->thread].found);
  add_contact(law, &bodies, &law->work[p->thread].found, p->derivatives);
  return true;
}

static double rounding(const LawPair* p, double reach) {
  const Law* law = p->law;
  double contact = p->state->contact_energy;
  return DBL_EPSILON * (ENERGY_ROUNDINGS + 100 * reach / law->support) * (contact + p->state->friction_energy);
}

/* Returns the midpoint between the two closest points of a stencil, world [m]. */
static Vec3 middle_of(const Stencil* s) {
  if (s->is_half_space) return vec3_add_scaled(s->x[0], -0.5 * s->d, s->n);
  Vec3 sum = {0, 0, 0};
  for (int i = 0; i < s->count; i++) sum = vec3_add_scaled(sum, 0.5 * fabs(s->c[i]), s->x[i]);
  return sum;
}

static bool center(const LawPair* p, Vec3* point, double* press) {
  const Law* law = p->law;
  if (!has_energy(p)) return false;
  Bodies bodies = bodies_at(p);
  Stencils* found = &law->work[0].found;
  find_stencils(law, &bodies, 0, found);
  Vec3 sum = {0, 0, 0};
  *press = 0;
  for (int k = 0; k < found->count; k++) {
    double load = -law->stiffness * energy_of(law, &found->list[k]).by_d;
    sum = vec3_add_scaled(sum, load, middle_of(&found->list[k]));
    *press += load;
  }
  if (!(*press > 0)) return false;
  *point = vec3_scale(sum, 1 / *press);
  return true;
}

/* Returns 1 if the weights of the vertices of body `side` in the closest points of a stencil sum up to 1, and -1 if
 * they sum up to -1. */
static double sign_of(const Stencil* s, int side) {
  double sum = 0;
  for (int i = 0; i < s->count; i++) sum += s->side[i] == side ? s->c[i] : 0;
  return sum < 0 ? -1 : 1;
}

/* Friction acts at the closest points of each stencil within the barrier distance, which are fixed combinations of the
 * vertices of each body (N22). For a half-space, both points are the vertex. */
static void points(const LawPair* p, bool reverses, FrictionPoints* out) {
  (void)reverses;
  const Law* law = p->law;
  const Pose* pose[2] = {&p->a->pose, &p->b->pose};
  Bodies bodies = bodies_at(p);
  Stencils* stencils = &law->work[p->thread].point_stencils;
  find_local(law, &bodies, p->thread, stencils);
  for (int k = 0; k < stencils->count; k++) {
    const Stencil* s = &stencils->list[k];
    Vec3 x[2] = {{0, 0, 0}, {0, 0, 0}};
    const double sign[2] = {sign_of(s, 0), sign_of(s, 1)};
    for (int i = 0; i < s->count; i++)
      x[s->side[i]] = vec3_add_scaled(x[s->side[i]], sign[s->side[i]] * s->c[i], s->x[i]);
    friction_points_add(out, pose, -local_energy(law, s).by_d, s->n, x[0], s->is_half_space ? x[0] : x[1]);
  }
}

/* ---------------------------------------------------------------- reverse derivatives (N20, N23), for stiffness 1 */

typedef struct {
  const Law* law;
  const double (*twist)[6]; /* NULL in reverse_points */
  int shift; /* index of the first vertex of the pair's hull among the vertices of its link; 0 for a pair of links */
  PairShares* out;
} Reverse;

static Vec3 field_at(const Reverse* r, const Bodies* bodies, int side, Vec3 x) {
  return vec3_add(vec3_at(r->twist[side] + 3),
                  vec3_cross(vec3_at(r->twist[side]), vec3_sub(x, bodies->reference[side])));
}

/* Returns the entry of the derivatives of Phi that belongs to vertex i of a stencil. */
static VertexShare* share_of(const Reverse* r, const Stencil* s, int i) {
  return &r->out->share[s->side[i]][s->vertex[i] - (s->side[i] == 0 ? r->shift : 0)];
}

static void reverse_contact(const Reverse* r, const Bodies* bodies, const Stencil* s) {
  const Law* law = r->law;
  StencilDerivatives d, by_support, by_far = {0};
  StencilEnergy e = energy_of(law, s), grown = energy_by_support(law, s);
  Vec3 field[STENCIL_POINTS];
  stencil_derivatives(s, &e, &d);
  stencil_derivatives(s, &grown, &by_support);
  if (has_long_range_energy(law, s)) {
    StencilEnergy f = mesh_reciprocal(s);
    stencil_derivatives(s, &f, &by_far);
  }
  for (int i = 0; i < s->count; i++) {
    field[i] = field_at(r, bodies, s->side[i], s->x[i]);
    r->out->value += vec3_dot(d.gradient[i], field[i]);
    r->out->support += vec3_dot(by_support.gradient[i], field[i]);
    r->out->law_parameters[OWN_FAR] += vec3_dot(by_far.gradient[i], field[i]);
  }
  for (int i = 0; i < s->count; i++) {
    double h[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < s->count; l++)
        h[k] += d.hessian[3 * i + k][3 * l] * field[l].x + d.hessian[3 * i + k][3 * l + 1] * field[l].y +
                d.hessian[3 * i + k][3 * l + 2] * field[l].z;
    Vec3 change = vec3_at(h), *next = &share_of(r, s, i)->next;
    *next = vec3_add(*next, vec3_add(change, vec3_cross(d.gradient[i], vec3_at(r->twist[s->side[i]]))));
    if (!bodies->ground) continue;
    ground_add(&r->out->ground_next, vec3_scale(change, -1), s->x[i], bodies->pose[1].t);
    r->out->ground_next.torque = vec3_sub(r->out->ground_next.torque, vec3_cross(field[i], d.gradient[i]));
  }
}

/* bar: derivatives of Phi with respect to the contact point of a stencil (N23). Converts them to derivatives with
 * respect to the vertices at t, the support and the half-space, and adds these to the result. ground: pose of the
 * half-space at t, NULL for a pair of links. */
static void reverse_point(const Reverse* r, const Stencil* s, const PointBar* bar, const Pose* ground) {
  assert(ground || !s->is_half_space);
  StencilEnergy e = local_energy(r->law, s);
  Vec3 by_x[STENCIL_POINTS] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
       y_bar = vec3_scale(s->n, -bar->load * e.by_dd);
  double c_bar[STENCIL_POINTS] = {0}, six[6];
  r->out->support -= bar->load * energy_by_support(r->law, s).by_d;
  if (s->is_edge_pair && e.by_ds != 0) {
    edges_sine_squared(vec3_sub(s->x[1], s->x[0]), vec3_sub(s->x[3], s->x[2]), six, NULL);
    for (int i = 0; i < 4; i++)
      by_x[i] = vec3_scale(vec3_at(six + 3 * (i / 2)), (i % 2 ? -1 : 1) * bar->load * e.by_ds);
  }
  if (s->is_half_space) {
    ground_add(&r->out->ground_now, vec3_scale(y_bar, -1), s->x[0], ground->t);
    r->out->ground_now.torque = vec3_add(r->out->ground_now.torque, vec3_cross(s->n, bar->n));
    by_x[0] = vec3_add(y_bar, vec3_add(bar->x[0], bar->x[1]));
  } else {
    for (int i = 0; i < s->count; i++) {
      Vec3 by_point = vec3_scale(bar->x[s->side[i]], sign_of(s, s->side[i]));
      c_bar[i] = vec3_dot(by_point, vec3_sub(s->x[i], s->x[0]));
      by_x[i] = vec3_add_scaled(by_x[i], s->c[i], by_point);
    }
    Vec3 across = vec3_add_scaled(bar->n, -vec3_dot(s->n, bar->n), s->n);
    stencil_reverse(s, vec3_add_scaled(y_bar, 1 / s->d, across), c_bar, by_x);
  }
  for (int i = 0; i < s->count; i++) {
    Vec3* now = &share_of(r, s, i)->now;
    *now = vec3_add(*now, by_x[i]);
  }
}

static Reverse reverse_of(const LawReplay* p, const double (*twist)[6], PairShares* out) {
  const Law* law = p->law;
  Reverse r = {law, twist, 0, out};
  if (of_links(law, p->record->hull_a)) return r;
  const ModelHull* hull = &law->model->hulls[p->record->hull_a];
  r.shift = hull->vertex_first - law->model->hulls[law->model->links[hull->link].hull_first].vertex_first;
  return r;
}

static void reverse_points(const LawReplay* p, PairShares* out) {
  const Law* law = p->law;
  Reverse r = reverse_of(p, NULL, out);
  const Pose* ground = p->now[1].hull.half_space ? &p->now[1].hull.pose : NULL;
  for (int k = 0; k < p->point_count; k++)
    reverse_point(&r, &law->work[p->thread].point_stencils.list[k], &p->bars[k], ground);
}

static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)carry;
  const Law* law = p->law;
  PairState state;
  LawPair pair = law_recorded_pair(p, true, &state);
  if (!has_energy(&pair)) return;
  Bodies next = bodies_at(&pair);
  for (int side = 0; side < 2; side++) {
    out->count[side] =
        next.ground ? p->next[side].hull.points.count : law->hierarchy.trees[next.link[side]].vertex_count;
    for (int m = 0; m < out->count[side]; m++) out->share[side][m] = (VertexShare){.vertex = m};
  }
  if (!p->record->active) return;
  Reverse r = reverse_of(p, twist, out);
  Stencils* found = &law->work[p->thread].found;
  find_stencils(law, &next, p->thread, found);
  for (int k = 0; k < found->count; k++) reverse_contact(&r, &next, &found->list[k]);
}

const ContactLaw LAW_ipc = {
    .name = "ipc",
    .parameters = rows,
    .parameter_count = sizeof(rows) / sizeof(rows[0]),
    .own_count = OWN_COUNT,
    .once_differentiable = true,
    .links = true,
    .vertex_shares = 1,
    .link_vertex_shares = 1,
    .create = create,
    .destroy = destroy,
    .range = range,
    .rest = rest,
    .evaluate = evaluate,
    .derive = derive,
    .rounding = rounding,
    .center = center,
    .points = points,
    .reverse_points = reverse_points,
    .reverse = reverse,
};
