/* Points and edges of bodies for contact manifolds. docs/derivations/manifold.md */
#include <stdlib.h>
#include "query/query.h"
#include "shapes/field_faces.h"

/* Triangles whose unit normals differ by less than this are coplanar. */
#define COPLANAR_TOLERANCE 1e-9

static Vec3 triangle_normal(const TriangleSurface* surface, int i) {
  Vec3 a = surface->points[surface->triangles[i][0]];
  return vec3_normalized(vec3_cross(vec3_sub(surface->points[surface->triangles[i][1]], a),
                                    vec3_sub(surface->points[surface->triangles[i][2]], a)));
}

/* Edge of a triangle, with the vertex numbers `ends` in ascending order. */
typedef struct {
  uint64_t ends;
  int triangle;
} TriangleSide;

static int compare_ends(const void* a, const void* b) {
  const TriangleSide *x = a, *y = b;
  if (x->ends != y->ends) return x->ends < y->ends ? -1 : 1;
  return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void add_edge(ManifoldBody* body, uint64_t ends) {
  int from = (int)(ends >> 32), to = (int)(ends & 0xffffffff);
  Vec3 along = vec3_sub(body->points[to], body->points[from]);
  double largest = fabs(along.x) >= fabs(along.y) ? along.x : along.y;
  if (fabs(along.z) > fabs(largest)) largest = along.z;
  body->edges[body->edge_count][0] = largest < 0 ? to : from;
  body->edges[body->edge_count++][1] = largest < 0 ? from : to;
}

/* Finds the edges of a body between non-coplanar triangles. coplanar_tolerance: triangles whose unit normals differ by
 * at most this are coplanar. */
static void find_edges(ManifoldBody* body, const TriangleSurface* surface, double coplanar_tolerance) {
  int count = 3 * surface->triangle_count;
  TriangleSide* sides = MEMORY_NEW(TriangleSide, count);
  for (int i = 0; i < count; i++) {
    uint64_t from = (uint64_t)surface->triangles[i / 3][i % 3], to = (uint64_t)surface->triangles[i / 3][(i + 1) % 3];
    sides[i] = (TriangleSide){from < to ? from << 32 | to : to << 32 | from, i / 3};
  }
  qsort(sides, (size_t)count, sizeof *sides, compare_ends);
  body->edges = (int(*)[2])MEMORY_NEW(int, 2 * count);
  for (int i = 0; i < count;) {
    int end = i + 1;
    bool bent = false;
    for (; end < count && sides[end].ends == sides[i].ends; end++)
      bent = bent || vec3_norm(vec3_sub(triangle_normal(surface, sides[end].triangle),
                                        triangle_normal(surface, sides[i].triangle))) > coplanar_tolerance;
    if (bent || end == i + 1) add_edge(body, sides[i].ends);
    i = end;
  }
  memory_free(sides);
}

static ManifoldBody body_of(const Field* field, TriangleSurface* surface, double coplanar_tolerance) {
  ManifoldBody body = {.field = field, .points = surface->points, .point_count = surface->point_count};
  find_edges(&body, surface, coplanar_tolerance);
  for (int i = 0; i < body.point_count; i++) body.outer = fmax(body.outer, vec3_norm(body.points[i]));
  surface->points = NULL;
  surface_free(surface);
  return body;
}

ManifoldBody manifold_body_create(const Field* field, TriangleSurface* surface) {
  return body_of(field, surface, COPLANAR_TOLERANCE);
}

ManifoldBody manifold_body_of_faces(const Field* field, TriangleSurface* surface, double field_width) {
  ManifoldBody body = body_of(field, surface, FACE_ANGLE);
  body.field_width = field_width;
  return body;
}

/* Returns the derivative of a surface point with respect to parameter k along the point's ray (X15). z: surface point
 * in the shape frame. z = y / gamma(y) at constant y gives dz = -z dphi / (z . grad phi(z)), where dphi is the
 * derivative of phi with respect to the parameter. */
static Vec3 derivative_along_ray(const Shape* shape, Vec3 z, int k) {
  double along = vec3_dot(z, shape_evaluate(shape, z).gradient), up;
  Vec3 turned;
  shape_parameter_derivative(shape, z, k, &up, &turned);
  return vec3_scale(z, -up / along);
}

/* Number of parameters evaluated in one call. */
enum { PARAMETERS_PER_CALL = 32 };

/* Computes the derivatives of a surface point z along the gradient of the field (X16): dz = -dphi grad phi / |grad
 * phi|^2, where dphi is the derivative of phi with respect to parameter k. Sets out[k * stride] for k < parameters
 * (body frame). The derivatives are zero where the gradient vanishes. */
static void derivatives_along_gradient(const Field* field, Vec3 z, int parameters, Vec3* out, int stride) {
  Vec3 gradient = field_evaluate(field, z).gradient, turned[PARAMETERS_PER_CALL];
  double square = vec3_dot(gradient, gradient), up[PARAMETERS_PER_CALL] = {0};
  for (int first = 0; first < parameters; first += PARAMETERS_PER_CALL) {
    int count = parameters - first < PARAMETERS_PER_CALL ? parameters - first : PARAMETERS_PER_CALL;
    if (square > 0) field_parameter_derivatives(field, z, first, count, up, turned);
    for (int k = 0; k < count; k++)
      out[(ptrdiff_t)(first + k) * stride] = square > 0 ? vec3_scale(gradient, -up[k] / square) : vec3(0, 0, 0);
  }
}

Vec3* manifold_surface_slopes(const ManifoldBody* body) {
  const Field* field = body->field;
  int parameters = field_parameter_count(field);
  Vec3* out = memory_alloc(sizeof *out * (size_t)parameters * (size_t)body->point_count);
  for (int i = 0; i < body->point_count; i++) {
    Vec3 z = pose_apply_inverse(field->pose, body->points[i]);
    if (field->kind != FIELD_SHAPE)
      derivatives_along_gradient(field, body->points[i], parameters, out + i, body->point_count);
    for (int k = 0; field->kind == FIELD_SHAPE && k < parameters; k++)
      out[(ptrdiff_t)k * body->point_count + i] =
          mat3_mul_vec(field->pose.r, derivative_along_ray(&field->shape, z, k));
  }
  return out;
}

void manifold_body_free(ManifoldBody* body) {
  memory_free(body->points);
  memory_free(body->edges);
  *body = (ManifoldBody){0};
}
