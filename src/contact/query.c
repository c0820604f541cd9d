/* One pair of point sets in world coordinates, outside any scene. */
#include <string.h>

#include "contact/plane.h"
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
static void vertex_gradients(const Vec3* points, int count, double sigma, double support, const Plane* plane,
                             Vec3* out) {
  for (int k = 0; k < count; k++) {
    double c = sigma * (vec3_dot(plane->n, vec3_sub(points[k], plane->origin)) + plane->o);
    double slope = c < support ? barrier_eval(c / support).first / (support * support) : 0.0;
    out[k] = vec3_scale(plane->n, sigma * slope);
  }
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
    Plane plane = plane_from_witness(&qa, &qb, support, found.witness_a, found.witness_b, found.normal);
    if (found.distance < plane_range(support)) {
      int capacity = qa.points.padded + qb.points.padded;
      double* memory = MEMORY_NEW(double, 3 * capacity);
      PlaneScratch scratch = {memory, memory + capacity, memory + 2 * capacity, capacity, 0};
      PlaneSolution solution;
      PlaneOutcome outcome = plane_solve(&qa, &qb, support, plane, &scratch, &solution);
      apart = outcome == PLANE_ACTIVE || outcome == PLANE_SEPARATED;
      if (apart) plane = solution.plane;
      if (outcome == PLANE_ACTIVE) {
        result->potential = solution.energy;
        vertex_gradients(a, a_count, -1.0, support, &plane, grad_a);
        vertex_gradients(b, b_count, 1.0, support, &plane, grad_b);
      }
      memory_free(memory);
    }
    result->plane[0] = plane.n.x;
    result->plane[1] = plane.n.y;
    result->plane[2] = plane.n.z;
    result->plane[3] = plane.o - vec3_dot(plane.n, plane.origin);
  }
  point_view_free(&qa.points);
  point_view_free(&qb.points);
  return apart;
}
