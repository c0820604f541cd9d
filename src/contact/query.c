/* One pair of point sets in world coordinates, outside any scene. */
#include <string.h>

#include "contact/reciprocal.h"
#include "contact/contact.h"

/* Owns its points. */
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

/* dU/dx_m = sigma P'(c_m) n (envelope theorem). */
static void vertex_gradients(const HullInstance* hull, const Vec3* points, int count, double sigma, double support,
                             const Plane* plane, Vec3* out) {
  for (int k = 0; k < count; k++) {
    double c = sigma * (vec3_dot(plane->n, vec3_sub(points[k], plane->origin)) + plane->o);
    double slope = c < support ? vertex_barrier(hull, support, c).first : 0.0;
    out[k] = vec3_scale(plane->n, sigma * slope);
  }
}

/* The plane between two hulls that are apart; support INFINITY: of the long-range law. false: not found. */
static bool solve_plane(const HullInstance* a, const HullInstance* b, double support, const GjkResult* found,
                        PlaneScratch* scratch, PlaneSolution* solution, bool* active) {
  *active = true;
  if (isinf(support)) return reciprocal_solve(a, b, found, scratch, solution);
  Plane start = plane_from_witness(a, b, support, found->witness_a, found->witness_b, found->normal);
  PlaneOutcome outcome = plane_solve(a, b, support, start, scratch, solution);
  *active = outcome == PLANE_ACTIVE;
  return *active || outcome == PLANE_SEPARATED;
}

static void keep_plane(const Plane* plane, ContactQuery* result) {
  result->plane[0] = plane->n.x;
  result->plane[1] = plane->n.y;
  result->plane[2] = plane->n.z;
  result->plane[3] = plane->o - vec3_dot(plane->n, plane->origin);
}

bool contact_query(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                   Vec3* grad_a, Vec3* grad_b) {
  memset(result, 0, sizeof(*result));
  memset(grad_a, 0, sizeof(Vec3) * (size_t)a_count);
  memset(grad_b, 0, sizeof(Vec3) * (size_t)b_count);
  HullInstance qa = query_hull(a, a_count), qb = query_hull(b, b_count);
  GjkResult found = gjk_distance(qa.points, qa.pose, qb.points, qb.pose, NULL);
  bool apart = found.distance > 0;
  if (apart) {
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
      apart = solve_plane(&qa, &qb, support, &found, &scratch, &solution, &active);
      if (apart) keep_plane(&solution.plane, result);
      if (apart && active) {
        result->potential = solution.energy;
        vertex_gradients(&qa, a, a_count, -1.0, support, &solution.plane, grad_a);
        vertex_gradients(&qb, b, b_count, 1.0, support, &solution.plane, grad_b);
      }
      memory_free(memory);
    }
    if (!near) {
      Plane plane = plane_from_witness(&qa, &qb, support, found.witness_a, found.witness_b, found.normal);
      keep_plane(&plane, result);
    }
  }
  point_view_free(&qa.points);
  point_view_free(&qb.points);
  return apart;
}
