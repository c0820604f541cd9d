#include "contact/far_field_walk.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- weight of the point potential (law-long_range.md,
 * N7) */

BlendWeight blend_weight(double r, double near, double blend) {
  assert(!(near < 0) && !(blend < 0));
  double width = blend * near, t = (r - near) / width;
  if (!(t > 0)) return (BlendWeight){0};
  if (!(t < 1)) return (BlendWeight){.value = 1};
  double u = 1 - t, by_t = 30 * t * t * u * u, by_tt = 60 * t * u * (1 - 2 * t), slope = -r / (width * near);
  return (BlendWeight){.value = t * t * t * (10 + t * (6 * t - 15)),
                       .first = by_t / width,
                       .second = by_tt / (width * width),
                       .by_near = by_t * slope,
                       .first_by_near = by_tt * slope / width - by_t / (width * near),
                       .by_blend = -by_t * t / blend,
                       .first_by_blend = -(by_tt * t + by_t) / (blend * width)};
}

/* ---------------------------------------------------------------- creation of the workspace */

void field_work_create(FieldWork* w, const Model* model, const Hierarchy* hierarchy) {
  int largest = 8, second = 8;
  for (int i = 0; i < model->hull_count; i++) {
    int n = model->hulls[i].points.padded;
    second = n > largest ? largest : n > second ? n : second;
    largest = n > largest ? n : largest;
  }
  int capacity = largest + second;
  *w = (FieldWork){.scratch = {MEMORY_NEW(double, capacity), MEMORY_NEW(double, capacity), MEMORY_NEW(double, capacity),
                               capacity, 0}};
  for (int side = 0; side < 2; side++)
    w->bars[side] = (NodeBars){MEMORY_NEW(Vec3, hierarchy->largest + 1), MEMORY_NEW(double, hierarchy->largest + 1)};
}

void field_work_destroy(FieldWork* w) {
  memory_free(w->scratch.x);
  memory_free(w->scratch.y);
  memory_free(w->scratch.z);
  for (int side = 0; side < 2; side++) {
    memory_free(w->bars[side].center);
    memory_free(w->bars[side].radius);
  }
}

void field_cache_destroy(FieldCache* cache) {
  memory_free(cache->planes);
  memory_free(cache->derivatives);
}

/* ---------------------------------------------------------------- traversal of both trees (N8) */

static Vec3 node_center(const FarField* f, const FieldPair* pair, int side, int node) {
  return pose_apply(pair->pose[side], body_node(f, pair, side, node)->center);
}

static double node_radius(const FarField* f, const FieldPair* pair, int side, int node) {
  return body_node(f, pair, side, node)->radius;
}

/* Computes direction, distance and radius_sum of two nodes from their centres. */
static void measure_nodes(const FarField* f, const FieldPair* pair, NodePair* at) {
  at->radius_sum = node_radius(f, pair, 0, at->node[0]);
  if (pair->ground) {
    at->direction = pair->ground->normal;
    at->distance = vec3_dot(at->direction, at->center[0]) - pair->ground->offset;
    return;
  }
  Vec3 d = vec3_sub(at->center[0], at->center[1]);
  at->distance = vec3_norm(d);
  at->direction = vec3_scale(d, 1 / at->distance);
  at->radius_sum += node_radius(f, pair, 1, at->node[1]);
}

/* ---- separating planes of two leaves */

static const ModelHull* leaf_hull(const FieldTraversal* w, int side, int node) {
  return &w->field->model->hulls[body_node(w->field, w->pair, side, node)->hull];
}

/* Appends the plane of two leaves to FieldPair.cache, which stores planes in the order of the traversal. Does nothing
 * without a cache. */
static void append_plane(const FieldTraversal* w, const PlaneSolution* solution) {
  FieldCache* to = w->pair->cache;
  if (!to) return;
  if (to->count == to->capacity) {
    int capacity = 2 * to->capacity + 4;
    to->planes = memory_resize(to->planes, sizeof(ReciprocalPlane) * (size_t)to->capacity,
                               sizeof(ReciprocalPlane) * (size_t)capacity);
    to->capacity = capacity;
  }
  to->planes[to->count++] = (ReciprocalPlane){solution->plane.n, solution->plane.o};
}

/* If the gap of two bounding spheres exceeds MIN_SPHERE_GAP_RATIO times the sum of their radii, the plane search starts
 * from the plane between the spheres. */
#define MIN_SPHERE_GAP_RATIO 0.1

/* Sets *start to the plane from which the plane search of two leaves starts. The start plane is computed from the
 * bounding spheres if they are far enough apart, otherwise from the closest points. It depends on the poses only, so
 * that results do not depend on earlier evaluations. Returns false if the hulls of the leaves intersect. */
static bool find_start_plane(const FieldTraversal* w, const NodePair* at, const HullInstance* a, const HullInstance* b,
                             Plane* start) {
  if (!w->pair->ground && at->distance > (1 + MIN_SPHERE_GAP_RATIO) * at->radius_sum) {
    const double radius[2] = {node_radius(w->field, w->pair, 0, at->node[0]),
                              node_radius(w->field, w->pair, 1, at->node[1])};
    *start = reciprocal_start_from_spheres(a, b, at->center, radius);
    return true;
  }
  GjkResult found;
  if (!(pair_distance(a, b, NULL, &found) > 0)) return false;
  *start = reciprocal_start(a, b, &found);
  return true;
}

static bool solve_leaf_plane(const FieldTraversal* w, const NodePair* at, PlaneSolution* solution) {
  HullInstance a = pair_hull_at(leaf_hull(w, 0, at->node[0]), &w->pair->pose[0]), b;
  int number = w->work->piece_count++;
  Plane start;
  if (w->pair->ground)
    b = *w->pair->ground;
  else
    b = pair_hull_at(leaf_hull(w, 1, at->node[1]), &w->pair->pose[1]);
  if (w->reuses_planes) {
    reciprocal_recall(&a, &b, w->pair->cache->planes[number], &w->work->scratch, solution);
    return true;
  }
  if (!find_start_plane(w, at, &a, &b, &start)) return false;
  if (!reciprocal_solve_from(&a, &b, start, &w->work->scratch, solution)) return false;
  append_plane(w, solution);
  return true;
}

/* Solves the contact planes of up to four pairs of triangles together. at (count): the pairs of leaves. solution
 * (count): receives the planes. Returns false if two triangles intersect or a plane was not found. */
static bool solve_triangles(const FieldTraversal* w, int count, const NodePair* at, PlaneSolution* solution) {
  HullInstance pair[LANES][2];
  Plane start[LANES];
  int first = w->work->piece_count;
  w->work->piece_count += count;
  for (int k = 0; k < count; k++)
    for (int side = 0; side < 2; side++)
      pair[k][side] = pair_hull_at(leaf_hull(w, side, at[k].node[side]), &w->pair->pose[side]);
  if (w->reuses_planes) {
    reciprocal_recall_four(count, (const HullInstance(*)[2])pair, &w->pair->cache->planes[first], solution);
    return true;
  }
  for (int k = 0; k < count; k++)
    if (!find_start_plane(w, &at[k], &pair[k][0], &pair[k][1], &start[k])) return false;
  if (!reciprocal_solve_four(count, (const HullInstance(*)[2])pair, start, solution)) return false;
  for (int k = 0; k < count; k++) append_plane(w, &solution[k]);
  return true;
}

/* ---- pairs of the children of two nodes */

static bool are_leaves(const FieldTraversal* w, const int node[2]) {
  return body_node(w->field, w->pair, 0, node[0])->hull >= 0 &&
         (node[1] < 0 || body_node(w->field, w->pair, 1, node[1])->hull >= 0);
}

static Vec3 lane_at(const Lanes3* v, int k) { return vec3(v->x[k], v->y[k], v->z[k]); }

/* Computes the directions and distances of four pairs of nodes from the centres of the nodes. The caller has set the
 * other members of *c. */
static void measure_children(ChildPairs* c) {
  Lanes3 d = {c->center[0].x - c->center[1].x, c->center[0].y - c->center[1].y, c->center[0].z - c->center[1].z};
  c->distance = lanes_sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  Lanes inverse = 1 / c->distance;
  c->direction = (Lanes3){inverse * d.x, inverse * d.y, inverse * d.z};
}

static Lanes3 lanes_by_first(const Vec3 x[2]) {
  return (Lanes3){{x[0].x, x[0].x, x[1].x, x[1].x}, {x[0].y, x[0].y, x[1].y, x[1].y}, {x[0].z, x[0].z, x[1].z, x[1].z}};
}

static Lanes duplicate(double first, double second) { return (Lanes){first, first, second, second}; }

static BodyLanes body_lanes(const FieldPair* pair) {
  const Pose *a = &pair->pose[0], *b = &pair->pose[1];
  BodyLanes to;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) to.r[i][j] = duplicate(a->r.m[i][j], b->r.m[i][j]);
  to.t[0] = duplicate(a->t.x, b->t.x);
  to.t[1] = duplicate(a->t.y, b->t.y);
  to.t[2] = duplicate(a->t.z, b->t.z);
  return to;
}

/* Sets number[2] and child[2] to the two children of a node. For a leaf, both entries are the leaf itself. Returns
 * false if the node is a leaf. */
static bool find_two_children(const FieldTraversal* w, int side, int node, int number[2], const TreeNode* child[2]) {
  const TreeNode* n = body_node(w->field, w->pair, side, node);
  bool two = n->hull < 0;
  for (int k = 0; k < 2; k++) {
    number[k] = two ? n->child[k] : node;
    child[k] = two ? body_node(w->field, w->pair, side, number[k]) : n;
  }
  return two;
}

/* Computes coordinate `axis` (world) of the centres of two children of each body, with the same rounding as pose_apply.
 * Distributes the coordinates to the four pairs of children: *first receives the coordinates of the first body's child
 * in each pair, *second the coordinates of the second body's child. */
static void distribute_coordinates(const BodyLanes* body, int axis, const Lanes local[3], Lanes* first, Lanes* second) {
  Lanes x = body->r[axis][0] * local[0] + body->r[axis][1] * local[1] + body->r[axis][2] * local[2] + body->t[axis];
  *first = __builtin_shufflevector(x, x, 0, 0, 1, 1);
  *second = __builtin_shufflevector(x, x, 2, 3, 2, 3);
}

static void find_children(const FieldTraversal* w, const NodePair* at, ChildPairs* c) {
  int number[2][2];
  const TreeNode *child[4], **a = child, **b = child + 2;
  int64_t first = find_two_children(w, 0, at->node[0], number[0], a) ? -1 : 0;
  int64_t second = find_two_children(w, 1, at->node[1], number[1], b) ? -1 : 0;
  for (int k = 0; k < CHILDREN; k++) {
    c->node[k][0] = number[0][k / 2];
    c->node[k][1] = number[1][k % 2];
  }
  c->used = (LaneBits){-1, second, first, first & second};
  Lanes local[3];
  for (int k = 0; k < CHILDREN; k++) {
    local[0][k] = child[k]->center.x;
    local[1][k] = child[k]->center.y;
    local[2][k] = child[k]->center.z;
  }
  distribute_coordinates(&w->body, 0, local, &c->center[0].x, &c->center[1].x);
  distribute_coordinates(&w->body, 1, local, &c->center[0].y, &c->center[1].y);
  distribute_coordinates(&w->body, 2, local, &c->center[0].z, &c->center[1].z);
  c->radius_sum = (Lanes){a[0]->radius, a[0]->radius, a[1]->radius, a[1]->radius} +
                  (Lanes){b[0]->radius, b[1]->radius, b[0]->radius, b[1]->radius};
  measure_children(c);
}

static NodePair child_at(const ChildPairs* c, int k) {
  return (NodePair){.node = {c->node[k][0], c->node[k][1]},
                    .center = {lane_at(&c->center[0], k), lane_at(&c->center[1], k)},
                    .direction = lane_at(&c->direction, k),
                    .distance = c->distance[k],
                    .radius_sum = c->radius_sum[k]};
}

/* Returns a ChildPairs that contains one pair of nodes in lane 0. The other lanes are not used. */
static ChildPairs single_pair(const NodePair* at) {
  const Vec3 center[2][2] = {{at->center[0], at->center[0]}, {at->center[1], at->center[1]}};
  const Vec3 direction[2] = {at->direction, at->direction};
  ChildPairs c = {.used = {-1}, .center = {lanes_by_first(center[0]), lanes_by_first(center[1])}};
  memcpy(c.node[0], at->node, sizeof(at->node));
  c.direction = lanes_by_first(direction);
  c.distance = lanes_broadcast(at->distance);
  c.radius_sum = lanes_broadcast(at->radius_sum);
  return c;
}

static bool is_exact(const FarField* f, const NodePair* at) {
  return f->without_hierarchy || !(at->distance > at->radius_sum);
}

static LaneBits far_children(const FarField* f, const ChildPairs* c) {
  if (f->without_hierarchy) return (LaneBits){0};
  return c->used & (c->distance > c->radius_sum) & (c->distance >= (1 + f->blend) * c->radius_sum);
}

static bool is_triangle(const FieldTraversal* w, int side, int node) {
  return leaf_hull(w, side, node)->points.count == RECIPROCAL_CORNERS;
}

/* Solves together the planes of those near children that are pairs of triangles. Writes the planes to `solved`. Sets
 * which[k] to the index in `solved` of the plane of child k, or to -1 if it has none. Returns false if a plane was not
 * found. */
static bool solve_children(const FieldTraversal* w, const ChildPairs* c, LaneBits near, PlaneSolution* solved,
                           int* which) {
  NodePair at[CHILDREN];
  int count = 0;
  for (int k = 0; k < CHILDREN; k++) {
    which[k] = -1;
    const int* node = c->node[k];
    if (!near[k] || !are_leaves(w, node) || !is_triangle(w, 0, node[0]) || !is_triangle(w, 1, node[1])) continue;
    which[k] = count;
    at[count++] = child_at(c, k);
  }
  return count == 0 || solve_triangles(w, count, at, solved);
}

static bool traverse(const FieldTraversal* w, const NodePair* at, Blend* parent);

static bool traverse_children(const FieldTraversal* w, const NodePair* at, Blend* parent) {
  if (are_leaves(w, at->node)) return w->visitor->pieces(w, at, parent);
  ChildPairs c;
  find_children(w, at, &c);
  LaneBits far = far_children(w->field, &c), near = c.used & ~far;
  if (lanes_any(far)) w->visitor->centres(w, &c, far, parent);
  PlaneSolution solved[CHILDREN];
  int which[CHILDREN];
  if (!solve_children(w, &c, near, solved, which)) return false;
  for (int k = 0; k < CHILDREN; k++) {
    w->work->count -= (int)far[k]; /* a lane that is marked has the value -1, so that the subtraction counts it */
    if (!near[k]) continue;
    NodePair below = child_at(&c, k);
    if (which[k] >= 0) below.plane = &solved[which[k]];
    if (!traverse(w, &below, parent)) return false;
  }
  return true;
}

/* Visits the terms of two nodes that are not far apart. Unless the potential of the nodes is exact, its terms are
 * visited inside a new blend. Returns false if a visitor failed. */
static bool traverse(const FieldTraversal* w, const NodePair* at, Blend* parent) {
  const bool ground = w->pair->ground != NULL;
  if (is_exact(w->field, at)) return traverse_children(w, at, parent);
  Blend blend = {.parent = parent, .nodes = *at};
  if (!ground) blend.centred = centred_potential(at->distance);
  blend.phi = blend_weight(at->distance, at->radius_sum, w->field->blend);
  blend.weight = parent->weight * (1 - blend.phi.value);
  w->work->count++;
  w->work->blend_count++;
  if (w->visitor->enter) w->visitor->enter(w, &blend);
  if (!traverse_children(w, at, &blend)) return false;
  w->visitor->leave(w, &blend);
  return true;
}

NodePair field_node_pair(const FarField* f, const FieldPair* pair, const int node[2]) {
  NodePair at = {.node = {node[0], node[1]}, .center[0] = node_center(f, pair, 0, node[0])};
  if (!pair->ground) at.center[1] = node_center(f, pair, 1, node[1]);
  measure_nodes(f, pair, &at);
  return at;
}

static bool traverse_roots(const FieldTraversal* w, Blend* all) {
  NodePair roots = field_node_pair(w->field, w->pair, w->pair->root);
  bool far = roots.distance > roots.radius_sum && roots.distance >= (1 + w->field->blend) * roots.radius_sum;
  if (!far || (w->field->without_hierarchy && !w->pair->ground)) return traverse(w, &roots, all);
  if (w->pair->ground) return true;
  ChildPairs c = single_pair(&roots);
  w->work->count++;
  w->visitor->centres(w, &c, (LaneBits){-1}, all);
  return true;
}

bool field_cache_is_valid(const FieldPair* pair) {
  FieldCache* cache = pair->cache;
  if (!cache) return false;
  if (memcmp(cache->pose, pair->pose, sizeof(cache->pose)) == 0) return true;
  memcpy(cache->pose, pair->pose, sizeof(cache->pose));
  cache->planes_known = cache->value_known = cache->derivatives_known = false;
  return false;
}

bool field_traverse(const FarField* f, FieldWork* work, const FieldPair* pair, const Visitor* visitor, void* context,
                    Blend* all) {
  FieldTraversal w = {
      f, work, pair, visitor, context, field_cache_is_valid(pair) && pair->cache->planes_known, body_lanes(pair)};
  if (pair->cache && !w.reuses_planes) pair->cache->count = 0;
  *all = (Blend){.weight = 1};
  work->count = work->piece_count = work->blend_count = 0;
  bool found = traverse_roots(&w, all);
  work->count += work->piece_count;
  if (found && pair->cache) pair->cache->planes_known = true;
  return found;
}

/* ---------------------------------------------------------------- functions shared by visitors */

const PlaneSolution* field_solution(const FieldTraversal* w, const NodePair* at, PlaneSolution* room) {
  if (at->plane) return at->plane;
  return solve_leaf_plane(w, at, room) ? room : NULL;
}

const PlaneSolution* field_solution_derivatives(const FieldTraversal* walk, const NodePair* at, Blend* parent,
                                                PlaneSolution* room, PairDerivatives* d, PlaneResponse* response) {
  const FieldPair* pair = walk->pair;
  const PlaneSolution* solution = field_solution(walk, at, room);
  if (!solution) return NULL;
  plane_derivatives(solution, pair->ground != NULL, pair->reference[0], pair->reference[1], d, response);
  parent->inner += solution->energy;
  return solution;
}

void field_gradient(const PairDerivatives* d, bool ground, double out[12]) {
  for (int side = 0; side < 2; side++) {
    double* g = out + 6 * side;
    if (side == 1 && ground) {
      memset(g, 0, 6 * sizeof(double));
      continue;
    }
    const Mat3* m = &d->moment[side]; /* g[0..2]: torque sum r x g, from the moment sum g r^T */
    g[0] = m->m[2][1] - m->m[1][2];
    g[1] = m->m[0][2] - m->m[2][0];
    g[2] = m->m[1][0] - m->m[0][1];
    vec3_store(d->force[side], g + 3);
  }
}

void field_visit_centers(const FieldTraversal* walk, const ChildPairs* at, LaneBits far, Blend* parent,
                         CenterVisitor one) {
  for (int k = 0; k < CHILDREN; k++) {
    if (!far[k]) continue;
    NodePair child = child_at(at, k);
    CentredPotential centred = centred_potential(child.distance);
    parent->inner += centred.value;
    one(walk, &child, &centred, parent);
  }
}
