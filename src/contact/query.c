/* Contact between two sets of points in world coordinates, without a scene. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "contact/features.h"
#include "contact/mesh_barrier.h"
#include "contact/reciprocal.h"

/* Returns a hull that owns a copy of points[count]. The caller frees hull.points with point_view_free. */
static HullInstance query_hull(const Vec3* points, int count) {
  HullInstance hull = {.points = point_view_create(points, count), .pose = pose_identity()};
  Vec3 low = points[0], high = points[0];
  for (int k = 1; k < count; k++) {
    low = vec3_min(low, points[k]);
    high = vec3_max(high, points[k]);
  }
  hull.center = vec3_scale(vec3_add(low, high), 0.5);
  for (int k = 0; k < count; k++) hull.radius = fmax(hull.radius, vec3_norm(vec3_sub(points[k], hull.center)));
  return hull;
}

/* Sets out[count] to the derivatives dU/dx_m = sigma P'(c_m) n of the potential with respect to the points. The plane
 * minimizes the potential U, so the motion of the plane does not contribute (envelope theorem). */
static void vertex_gradients(const HullInstance* hull, const Vec3* points, int count, double sigma, double support,
                             const Plane* plane, Vec3* out) {
  for (int k = 0; k < count; k++) {
    double c = sigma * (vec3_dot(plane->n, vec3_sub(points[k], plane->origin)) + plane->o);
    double slope = c < support ? vertex_barrier(hull, support, c).first : 0.0;
    out[k] = vec3_scale(plane->n, sigma * slope);
  }
}

/* Sets *solution to the contact plane between two separated hulls, and *active to whether their potential U is
 * positive. support: barrier distance [m]; INFINITY selects the long-range law. Returns false if the plane was not
 * found. */
static bool solve_plane(const HullInstance* a, const HullInstance* b, double support, const GjkResult* found,
                        PlaneScratch* scratch, PlaneSolution* solution, bool* active) {
  *active = true;
  if (isinf(support)) return reciprocal_solve(a, b, found, scratch, solution);
  Plane start = plane_from_witness(a, b, support, found->witness_a, found->witness_b, found->normal);
  PlaneOutcome outcome = plane_solve(a, b, support, start, scratch, solution);
  *active = outcome == PLANE_ACTIVE;
  return *active || outcome == PLANE_SEPARATED;
}

static void store_plane(const Plane* plane, ContactQuery* result) {
  result->plane[0] = plane->n.x;
  result->plane[1] = plane->n.y;
  result->plane[2] = plane->n.z;
  result->plane[3] = plane->o - vec3_dot(plane->n, plane->origin);
}

bool contact_query(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                   Vec3* grad_a, Vec3* grad_b) {
  assert(a && a_count > 0 && b && b_count > 0 && support > 0);
  memset(result, 0, sizeof(*result));
  memset(grad_a, 0, sizeof(Vec3) * (size_t)a_count);
  memset(grad_b, 0, sizeof(Vec3) * (size_t)b_count);
  HullInstance qa = query_hull(a, a_count), qb = query_hull(b, b_count);
  GjkResult found = gjk_distance(qa.points, qa.pose, qb.points, qb.pose, NULL);
  bool are_separate = found.distance > 0;
  if (are_separate) {
    result->distance = found.distance;
    result->witness_a = found.witness_a;
    result->witness_b = found.witness_b;
    bool near = isinf(support) || found.distance < plane_range(support);
    if (near) {
      int capacity = qa.points.padded + qb.points.padded;
      double* memory = MEMORY_NEW(double, 3 * capacity);
      PlaneScratch scratch = {memory, memory + capacity, memory + 2 * capacity, capacity, 0};
      PlaneSolution solution;
      bool active;
      are_separate = solve_plane(&qa, &qb, support, &found, &scratch, &solution, &active);
      if (are_separate) store_plane(&solution.plane, result);
      if (are_separate && active) {
        result->potential = solution.energy;
        vertex_gradients(&qa, a, a_count, -1.0, support, &solution.plane, grad_a);
        vertex_gradients(&qb, b, b_count, 1.0, support, &solution.plane, grad_b);
      }
      memory_free(memory);
    }
    if (!near) {
      Plane plane = plane_from_witness(&qa, &qb, support, found.witness_a, found.witness_b, found.normal);
      store_plane(&plane, result);
    }
  }
  point_view_free(&qa.points);
  point_view_free(&qb.points);
  return are_separate;
}

/* ---------------------------------------------------------------- contact of two meshes */

/* Surface of a set of points: its convex hull, or a fan of triangles if the points lie in a plane. number[k]: index of
 * vertex k of the surface among the points. */
typedef struct {
  ConvexHull solid; /* owned */
  Features features;
  int* number;
} QuerySurface;

typedef struct {
  double along, across;
  int index;
} PlanarPoint;

static int compare_planar_points(const void* x, const void* y) {
  const PlanarPoint *a = x, *b = y;
  if (a->along != b->along) return a->along < b->along ? -1 : 1;
  if (a->across != b->across) return a->across < b->across ? -1 : 1;
  return a->index - b->index;
}

static bool is_left_turn(const PlanarPoint* a, const PlanarPoint* b, const PlanarPoint* c) {
  return (b->along - a->along) * (c->across - a->across) > (b->across - a->across) * (c->along - a->along);
}

/* Sets *along to the unit vector from the first point to the point farthest from it. Sets *across to the unit vector,
 * perpendicular to *along, towards the point farthest from the line through the first point along *along. *across is
 * zero if all points lie on this line. */
static void find_plane_axes(const Vec3* points, int count, Vec3* along, Vec3* across) {
  Vec3 far = {0, 0, 0}, largest_offset = {0, 0, 0};
  for (int k = 1; k < count; k++) {
    Vec3 d = vec3_sub(points[k], points[0]);
    if (vec3_norm(d) > vec3_norm(far)) far = d;
  }
  *along = vec3_norm(far) > 0 ? vec3_normalized(far) : vec3(1, 0, 0);
  for (int k = 1; k < count; k++) {
    Vec3 d = vec3_sub(points[k], points[0]), rest = vec3_add_scaled(d, -vec3_dot(d, *along), *along);
    if (vec3_norm(rest) > vec3_norm(largest_offset)) largest_offset = rest;
  }
  *across = vec3_norm(largest_offset) > 0 ? vec3_normalized(largest_offset) : vec3(0, 0, 0);
}

/* Sets corners[] to the indices of the corners of the convex hull of points[count], which lie in a plane, in order
 * around the hull. The caller provides memory for count + 1 corners. Returns the number of corners. */
static int find_planar_corners(const Vec3* points, int count, int* corners) {
  PlanarPoint* flat = MEMORY_NEW(PlanarPoint, count);
  int *chain = MEMORY_NEW(int, 2 * count + 2), kept = 0;
  Vec3 along, across;
  find_plane_axes(points, count, &along, &across);
  for (int k = 0; k < count; k++) {
    Vec3 d = vec3_sub(points[k], points[0]);
    flat[k] = (PlanarPoint){vec3_dot(d, along), vec3_dot(d, across), k};
  }
  qsort(flat, (size_t)count, sizeof *flat, compare_planar_points);
  for (int pass = 0; pass < 2; pass++) { /* corners of the hull: first the lower chain from left to right, then the
                                         upper chain from right to left */
    int chain_start = kept + 1;
    for (int k = 0; k < count; k++) {
      int at = pass == 0 ? k : count - 1 - k;
      while (kept > chain_start && !is_left_turn(&flat[chain[kept - 2]], &flat[chain[kept - 1]], &flat[at])) kept--;
      chain[kept++] = at;
    }
    kept--; /* the last corner of one chain is the first corner of the other */
  }
  if (kept < 1) kept = 1;
  for (int k = 0; k < kept; k++) corners[k] = flat[chain[k]].index;
  memory_free(flat);
  memory_free(chain);
  return kept;
}

/* Sets the surface to a fan of triangles over points[count], which lie in a plane. For two corners the surface is an
 * edge, for one corner a point. */
static void create_planar_surface(QuerySurface* s, const Vec3* points, int count) {
  s->number = MEMORY_NEW(int, count + 1);
  int corners = find_planar_corners(points, count, s->number), triangles = corners > 2 ? corners - 2 : 0;
  s->solid = (ConvexHull){.vertices = MEMORY_NEW(Vec3, corners),
                          .vertex_count = corners,
                          .triangles = memory_alloc(sizeof *s->solid.triangles * (size_t)(triangles + 1)),
                          .triangle_count = triangles};
  for (int k = 0; k < corners; k++) s->solid.vertices[k] = points[s->number[k]];
  for (int t = 0; t < triangles; t++) {
    s->solid.triangles[t][0] = 0;
    s->solid.triangles[t][1] = t + 1;
    s->solid.triangles[t][2] = t + 2;
  }
}

static int find_point(const Vec3* points, int count, Vec3 x) {
  for (int k = 0; k < count; k++)
    if (points[k].x == x.x && points[k].y == x.y && points[k].z == x.z) return k;
  return 0;
}

static void query_surface(QuerySurface* s, const Vec3* points, int count) {
  *s = (QuerySurface){0};
  if (count < 4 || hull_create(&s->solid, points, count) != HULL_OK)
    create_planar_surface(s, points, count);
  else {
    s->number = MEMORY_NEW(int, s->solid.vertex_count);
    for (int k = 0; k < s->solid.vertex_count; k++) s->number[k] = find_point(points, count, s->solid.vertices[k]);
  }
  features_of_solid(&s->solid, &s->features);
  if (s->solid.vertex_count != 2) return; /* features_of_solid takes edges from triangles, but a segment has none */
  s->features.edges[0][0] = 0;
  s->features.edges[0][1] = 1;
  s->features.edge_count = 1;
}

static void query_surface_free(QuerySurface* s) {
  hull_free(&s->solid);
  features_free(&s->features);
  memory_free(s->number);
}

/* Returns the sum of the energies of all stencils. Adds its gradient with respect to the points of surface k to
 * gradient[k]. */
static double sum_stencils(const Stencils* found, double support, const QuerySurface surface[2], Vec3* gradient[2]) {
  double sum = 0;
  for (int k = 0; k < found->count; k++) {
    const Stencil* s = &found->list[k];
    StencilEnergy energy = mesh_barrier(s, support);
    StencilDerivatives d;
    stencil_derivatives(s, &energy, &d);
    sum += energy.value;
    for (int i = 0; i < s->count; i++) {
      Vec3* out = &gradient[s->side[i]][surface[s->side[i]].number[s->vertex[i]]];
      *out = vec3_add(*out, d.gradient[i]);
    }
  }
  return sum;
}

bool contact_query_mesh(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                        Vec3* grad_a, Vec3* grad_b) {
  assert(a && a_count > 0 && b && b_count > 0 && support > 0);
  HullInstance qa = query_hull(a, a_count), qb = query_hull(b, b_count);
  GjkResult found = gjk_distance(qa.points, qa.pose, qb.points, qb.pose, NULL);
  memset(result, 0, sizeof(*result));
  memset(grad_a, 0, sizeof(Vec3) * (size_t)a_count);
  memset(grad_b, 0, sizeof(Vec3) * (size_t)b_count);
  if (found.distance > 0) {
    Vec3 middle = vec3_scale(vec3_add(found.witness_a, found.witness_b), 0.5);
    *result = (ContactQuery){.distance = found.distance, .witness_a = found.witness_a, .witness_b = found.witness_b};
    store_plane(&(Plane){middle, found.normal, 0}, result);
  }
  if (found.distance > 0 && found.distance < support) {
    QuerySurface query_surfaces[2];
    query_surface(&query_surfaces[0], a, a_count);
    query_surface(&query_surfaces[1], b, b_count);
    Surface surface[2];
    for (int k = 0; k < 2; k++)
      surface[k] = (Surface){&query_surfaces[k].features, query_surfaces[k].solid.vertices,
                             query_surfaces[k].solid.vertex_count, 0};
    NearFeatures near = {0};
    Stencils stencils = {0};
    stencils_between(surface, found.normal, support, PARALLEL_LEAST, &near, &stencils);
    result->potential = sum_stencils(&stencils, support, query_surfaces, (Vec3* [2]){grad_a, grad_b});
    near_features_free(&near);
    memory_free(stencils.list);
    for (int k = 0; k < 2; k++) query_surface_free(&query_surfaces[k]);
  }
  point_view_free(&qa.points);
  point_view_free(&qb.points);
  return found.distance > 0;
}
