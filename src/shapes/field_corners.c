/* Fields of polyhedra, and their derivatives with respect to the vertices (Y12, Y13). A field consists of the planes of
 * a hull or of points with normals on a surface. docs/derivations/fields.md */
#include <assert.h>
#include <string.h>
#include "shapes/field_faces.h"
#include "shapes/field_mean.h"

/* ---------------------------------------------------------------- points with normals on triangles */

static double mean_edge(const TriangleSurface* surface) {
  double sum = 0;
  for (int i = 0; i < surface->triangle_count; i++)
    for (int k = 0; k < 3; k++)
      sum += vec3_norm(
          vec3_sub(surface->points[surface->triangles[i][k]], surface->points[surface->triangles[i][(k + 1) % 3]]));
  return sum / (3.0 * surface->triangle_count);
}

/* Returns the area vectors of the points of a surface (point_count). The area vector of a point is the sum over its
 * triangles of the outward normal times twice the area. The caller frees the array with memory_free. */
static Vec3* sum_area_vectors(const TriangleSurface* surface) {
  Vec3* out = MEMORY_NEW(Vec3, surface->point_count);
  for (int i = 0; i < surface->triangle_count; i++) {
    Vec3 area = surface_double_area(surface, i);
    for (int k = 0; k < 3; k++) {
      Vec3* sum = &out[surface->triangles[i][k]];
      *sum = vec3_add(*sum, area);
    }
  }
  return out;
}

/* Adds a point with a normal to a field of points. Returns the index of the point, or -1 without adding it if the
 * normal is zero. */
static int append_point(Field* field, Vec3 point, Vec3 normal) {
  double length = vec3_norm(normal);
  if (!(length > 0)) return -1;
  field->points[field->count] = point;
  field->normals[field->count] = vec3_scale(normal, 1 / length);
  return field->count++;
}

void field_of_triangles(Field* field, const TriangleSurface* surface, double radius) {
  int count = surface->point_count + surface->triangle_count;
  *field = (Field){.kind = FIELD_POINTS, .pose = pose_identity(), .radius = radius > 0 ? radius : mean_edge(surface)};
  field->points = MEMORY_NEW(Vec3, count);
  field->normals = MEMORY_NEW(Vec3, count);
  Vec3* areas = sum_area_vectors(surface);
  for (int i = 0; i < surface->triangle_count; i++) {
    const int* corner = surface->triangles[i];
    Vec3 sum = vec3_add(surface->points[corner[0]], surface->points[corner[1]]);
    append_point(field, vec3_scale(vec3_add(sum, surface->points[corner[2]]), 1.0 / 3),
                 surface_double_area(surface, i));
  }
  for (int i = 0; i < surface->point_count; i++) append_point(field, surface->points[i], areas[i]);
  memory_free(areas);
}

/* ---------------------------------------------------------------- lists of derivatives */

/* List of derivatives of planes or points with respect to corners, in the order in which they were found, with the
 * corner of each. */
typedef struct {
  int* corner;
  CornerDerivative* derivative;
  int count;
} DerivativeList;

static DerivativeList create_list(int max_offset) {
  return (DerivativeList){MEMORY_NEW(int, max_offset), MEMORY_NEW(CornerDerivative, max_offset), 0};
}

static void append_derivative(DerivativeList* list, int corner, const CornerDerivative* derivative) {
  if (corner < 0 || derivative->element < 0) return;
  list->corner[list->count] = corner;
  list->derivative[list->count++] = *derivative;
}

/* Sorts the derivatives in the list by corner and stores them in *out. Derivatives of one corner keep their order.
 * Frees the list. */
static void sort_by_corner(FieldCorners* out, DerivativeList* list) {
  out->first = MEMORY_NEW(int, out->count + 2);
  out->derivatives = MEMORY_NEW(CornerDerivative, list->count + 1);
  int* next = out->first;
  for (int i = 0; i < list->count; i++) next[list->corner[i] + 2]++;
  for (int c = 0; c < out->count; c++) next[c + 2] += next[c + 1];
  for (int i = 0; i < list->count; i++) out->derivatives[next[list->corner[i] + 1]++] = list->derivative[i];
  memory_free(list->corner);
  memory_free(list->derivative);
}

/* ---------------------------------------------------------------- planes */

/* Triangles lie in one plane if their unit normals differ by less than this value. */
#define SAME_PLANE_ANGLE 1e-9

static Vec3 triangle_normal(const ConvexHull* hull, int i) {
  Vec3 a = hull->vertices[hull->triangles[i][0]];
  return vec3_normalized(vec3_cross(vec3_sub(hull->vertices[hull->triangles[i][1]], a),
                                    vec3_sub(hull->vertices[hull->triangles[i][2]], a)));
}

/* Distinct planes of a hull's triangles. Each array has triangle_count elements; points has one point of each plane. */
typedef struct {
  int count;
  Vec3 *normals, *points;
  int* element; /* index of the plane of each triangle */
} DistinctPlanes;

/* Returns the distinct planes of a hull. Triangles lie in one plane if their unit normals differ by less than
 * max_angle. The caller frees the result with free_planes. */
static DistinctPlanes find_planes(const ConvexHull* hull, double max_angle) {
  int triangles = hull->triangle_count;
  DistinctPlanes out = {0, MEMORY_NEW(Vec3, triangles), MEMORY_NEW(Vec3, triangles), MEMORY_NEW(int, triangles)};
  for (int i = 0; i < triangles; i++) {
    Vec3 n = triangle_normal(hull, i);
    int k = 0;
    while (k < out.count && !(vec3_norm(vec3_sub(n, out.normals[k])) < max_angle)) k++;
    out.element[i] = k;
    if (k < out.count) continue;
    out.normals[k] = n;
    out.points[k] = hull->vertices[hull->triangles[i][0]];
    out.count++;
  }
  return out;
}

static void free_planes(DistinctPlanes* planes) {
  memory_free(planes->normals);
  memory_free(planes->points);
  memory_free(planes->element);
}

/* Sets *field to the smooth maximum of the heights above the planes (Y2). smoothing: length over which edges are
 * rounded [m]; length: reference length l of the polytope [m]; center: origin of the field's frame. Returns NULL on
 * success, otherwise the violated rule (static text). */
static const char* create_field_of_planes(Field* field, const DistinctPlanes* planes, Vec3 center, double length,
                                          double smoothing) {
  *field = (Field){.kind = FIELD_SHAPE, .pose = pose_identity()};
  field->pose.t = center;
  double(*faces)[4] = (double(*)[4])MEMORY_NEW(double, 4 * planes->count);
  ShapeDefinition form = {.kind = SMOOTH_POLYTOPE, .faces = (const double(*)[4])faces, .face_count = planes->count};
  for (int k = 0; k < planes->count; k++) {
    Vec3 n = planes->normals[k];
    const double face[4] = {n.x, n.y, n.z, vec3_dot(n, vec3_sub(planes->points[k], center))};
    memcpy(faces[k], face, sizeof face);
  }
  form.length = length;
  form.beta = form.length / smoothing;
  const char* rule = shape_create(&field->shape, &form);
  memory_free(faces);
  return rule;
}

const char* field_of_hull(Field* field, const ConvexHull* hull, double smoothing) {
  assert(smoothing > 0);
  MassMoment solid = mass_moment_solid(hull);
  Vec3 center = mass_moment_center(&solid);
  DistinctPlanes planes = find_planes(hull, SAME_PLANE_ANGLE);
  double length = 0;
  for (int k = 0; k < planes.count; k++)
    length = fmax(length, vec3_dot(planes.normals[k], vec3_sub(planes.points[k], center)));
  const char* rule = create_field_of_planes(field, &planes, center, length, smoothing);
  free_planes(&planes);
  return rule;
}

/* Sets out to the distinct vertices of plane k and returns their number. plane: plane of each triangle. seen[v] - 1 is
 * the last plane that listed vertex v. */
static int list_plane_corners(const ConvexHull* hull, const int* plane, int k, int* seen, int* out) {
  int count = 0;
  for (int i = 0; i < hull->triangle_count; i++)
    for (int c = 0; plane[i] == k && c < 3; c++) {
      int v = hull->triangles[i][c];
      if (seen[v] == k + 1) continue;
      seen[v] = k + 1;
      out[count++] = v;
    }
  return count;
}

static void in_plane_coordinates(const Vec3 axis[2], Vec3 arm, double out[2]) {
  for (int k = 0; k < 2; k++) out[k] = vec3_dot(axis[k], arm);
}

/* Adds one CornerDerivative of plane k for each of its vertices corner (count). The plane is the best fit of its
 * vertices, with the weights b_i(x) = 1/N + c_i . S^-1 c(x) (growth.md, H5). N is count. c_i and c(x) are the
 * coordinates of vertex i and of x along two axes perpendicular to the normal, relative to the mean of the vertices. S
 * is the sum of c_i c_i^T. */
static void append_plane_derivatives(DerivativeList* list, const ConvexHull* hull, const int* corner_of,
                                     const int* corner, int count, int k, Vec3 normal) {
  Vec3 axis[2], mean = {0, 0, 0};
  double spread[3] = {0}, c[2], tilt[2];
  axis[0] = vec3_perpendicular(normal);
  axis[1] = vec3_cross(normal, axis[0]);
  for (int i = 0; i < count; i++) mean = vec3_add_scaled(mean, 1.0 / count, hull->vertices[corner[i]]);
  for (int i = 0; i < count; i++) {
    in_plane_coordinates(axis, vec3_sub(hull->vertices[corner[i]], mean), c);
    scatter_add(spread, c);
  }
  for (int i = 0; i < count; i++) {
    in_plane_coordinates(axis, vec3_sub(hull->vertices[corner[i]], mean), c);
    scatter_solve(spread, 2, c, tilt);
    CornerDerivative derivative = {.element = k,
                                   .along = vec3_add_scaled(vec3_scale(axis[0], tilt[0]), tilt[1], axis[1])};
    derivative.weight = 1.0 / count - vec3_dot(derivative.along, mean);
    append_derivative(list, corner_of[corner[i]], &derivative);
  }
}

FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* corner_of, int count) {
  assert(corner_of || count == 0);
  FieldCorners out = {.count = count, .field = field, .tau = field->shape.length / field->shape.beta};
  DistinctPlanes planes = find_planes(hull, SAME_PLANE_ANGLE);
  int *seen = MEMORY_NEW(int, hull->vertex_count), *corner = MEMORY_NEW(int, hull->vertex_count);
  out.plane_count = planes.count;
  out.normals = MEMORY_NEW(Vec3, planes.count);
  out.offsets = MEMORY_NEW(double, planes.count);
  DerivativeList list = create_list(3 * hull->triangle_count);
  for (int k = 0; k < planes.count; k++) {
    int corners = list_plane_corners(hull, planes.element, k, seen, corner);
    out.normals[k] = planes.normals[k];
    out.offsets[k] = vec3_dot(planes.normals[k], planes.points[k]);
    append_plane_derivatives(&list, hull, corner_of, corner, corners, k, out.normals[k]);
    out.fitted = out.fitted || corners > 3;
  }
  sort_by_corner(&out, &list);
  free_planes(&planes);
  memory_free(seen);
  memory_free(corner);
  return out;
}

/* ---------------------------------------------------------------- faces of nearly coplanar triangles */

/* Sets areas[k] of each face k to the sum of the area vectors of the triangles of the face. */
static void sum_areas(const ConvexHull* hull, const DistinctPlanes* faces, Vec3* areas) {
  for (int k = 0; k < faces->count; k++) areas[k] = vec3(0, 0, 0);
  const TriangleSurface surface = {hull->vertices, hull->vertex_count, hull->triangles, hull->triangle_count};
  for (int i = 0; i < hull->triangle_count; i++) {
    Vec3* sum = &areas[faces->element[i]];
    *sum = vec3_add(*sum, surface_double_area(&surface, i));
  }
}

/* Returns the faces of a hull with their planes (Y13). Sets areas (triangle_count) to the area vector of each face.
 * seen, corner (vertex_count): workspaces; seen must be zero. The caller frees the result with free_planes. */
static DistinctPlanes find_faces(const ConvexHull* hull, Vec3* areas, int* seen, int* corner) {
  DistinctPlanes out = find_planes(hull, FACE_ANGLE);
  sum_areas(hull, &out, areas);
  for (int k = 0; k < out.count; k++) {
    Vec3 sum = {0, 0, 0};
    int count = list_plane_corners(hull, out.element, k, seen, corner);
    for (int i = 0; i < count; i++) sum = vec3_add(sum, hull->vertices[corner[i]]);
    out.normals[k] = vec3_normalized(areas[k]);
    out.points[k] = vec3_scale(sum, 1.0 / count);
  }
  return out;
}

const char* field_of_faces(Field* field, const ConvexHull* hull, double smoothing) {
  assert(smoothing > 0);
  int *seen = MEMORY_NEW(int, hull->vertex_count), *corner = MEMORY_NEW(int, hull->vertex_count);
  Vec3* areas = MEMORY_NEW(Vec3, hull->triangle_count);
  DistinctPlanes faces = find_faces(hull, areas, seen, corner);
  MassMoment solid = mass_moment_solid(hull);
  Vec3 center = mass_moment_center(&solid);
  double min_offset = HUGE_VAL, max_offset = 0;
  for (int k = 0; k < faces.count; k++) {
    double offset = vec3_dot(faces.normals[k], vec3_sub(faces.points[k], center));
    min_offset = fmin(min_offset, offset);
    max_offset = fmax(max_offset, offset);
  }
  const char* rule = "its centre of mass must lie inside all of its faces";
  if (min_offset > 0) rule = create_field_of_planes(field, &faces, center, sqrt(min_offset * max_offset), smoothing);
  free_planes(&faces);
  memory_free(areas);
  memory_free(seen);
  memory_free(corner);
  return rule;
}

/* Returns the derivative of the unit vector n = area / |area| with respect to the vector `area`: (I - n n^T) / |area|.
 */
static Mat3 unit_vector_derivative(Vec3 area) {
  Vec3 n = vec3_normalized(area);
  return mat3_scale(mat3_sub(mat3_identity(), mat3_outer(n, n)), 1 / vec3_norm(area));
}

/* Adds one CornerDerivative for each corner of face k (Y13). When a corner moves by e, the area vector of the face
 * changes by the sum of e x (next - previous) over the triangles at the corner. next and previous are the other two
 * corners of each triangle. */
static void append_face_derivatives(DerivativeList* list, const ConvexHull* hull, const DistinctPlanes* faces, int k,
                                    Vec3 area, const int* corner, int count) {
  Mat3 turn = unit_vector_derivative(area);
  for (int c = 0; c < count; c++) {
    Vec3 side = {0, 0, 0};
    for (int i = 0; i < hull->triangle_count; i++)
      for (int j = 0; faces->element[i] == k && j < 3; j++) {
        const int* t = hull->triangles[i];
        if (t[j] != corner[c]) continue;
        side = vec3_add(side, vec3_sub(hull->vertices[t[(j + 1) % 3]], hull->vertices[t[(j + 2) % 3]]));
      }
    CornerDerivative derivative = {.element = k, .share = 1.0 / count, .along = faces->points[k]};
    derivative.normal_jacobian = mat3_mul(turn, mat3_scale(mat3_cross(side), -1));
    append_derivative(list, corner[c], &derivative);
  }
}

FieldCorners field_corners_of_faces(const Field* field, const ConvexHull* hull) {
  assert(field && hull);
  FieldCorners out = {.count = hull->vertex_count, .field = field, .tau = field->shape.length / field->shape.beta};
  int *seen = MEMORY_NEW(int, hull->vertex_count), *corner = MEMORY_NEW(int, hull->vertex_count);
  Vec3* areas = MEMORY_NEW(Vec3, hull->triangle_count);
  DistinctPlanes faces = find_faces(hull, areas, seen, corner);
  memset(seen, 0, sizeof *seen * (size_t)hull->vertex_count);
  out.plane_count = faces.count;
  out.normals = MEMORY_NEW(Vec3, faces.count);
  out.offsets = MEMORY_NEW(double, faces.count);
  DerivativeList list = create_list(3 * hull->triangle_count);
  for (int k = 0; k < faces.count; k++) {
    int corners = list_plane_corners(hull, faces.element, k, seen, corner);
    out.normals[k] = faces.normals[k];
    out.offsets[k] = vec3_dot(faces.normals[k], faces.points[k]);
    append_face_derivatives(&list, hull, &faces, k, areas[k], corner, corners);
  }
  sort_by_corner(&out, &list);
  free_planes(&faces);
  memory_free(areas);
  memory_free(seen);
  memory_free(corner);
  return out;
}

/* ---------------------------------------------------------------- points with normals */

/* Appends the derivatives of corner k of triangle t (Y12). A displacement e of the corner changes the triangle's area
 * vector by e x (next - previous), where next and previous are the other corners. The change affects the normals of the
 * triangle's centroid and of its three corners. element: index of each point of the field; points of triangles come
 * first. */
static void append_triangle_derivatives(DerivativeList* list, const TriangleSurface* surface, const Vec3* areas,
                                        const int* corner_of, const int* element, int t, int k) {
  const int* corner = surface->triangles[t];
  Vec3 side = vec3_sub(surface->points[corner[(k + 1) % 3]], surface->points[corner[(k + 2) % 3]]);
  Mat3 by = mat3_scale(mat3_cross(side), -1);
  CornerDerivative middle = {.element = element[t], .share = 1.0 / 3};
  if (middle.element >= 0)
    middle.normal_jacobian = mat3_mul(unit_vector_derivative(surface_double_area(surface, t)), by);
  append_derivative(list, corner_of[corner[k]], &middle);
  for (int j = 0; j < 3; j++) {
    CornerDerivative derivative = {.element = element[surface->triangle_count + corner[j]]};
    if (derivative.element >= 0) derivative.normal_jacobian = mat3_mul(unit_vector_derivative(areas[corner[j]]), by);
    append_derivative(list, corner_of[corner[k]], &derivative);
  }
}

FieldCorners field_corners_of_triangles(const Field* field, const TriangleSurface* surface, const int* corner_of,
                                        int count) {
  assert(corner_of || count == 0);
  FieldCorners out = {.count = count, .field = field};
  int triangles = surface->triangle_count, next = 0;
  int* element = MEMORY_NEW(int, triangles + surface->point_count);
  Vec3* areas = sum_area_vectors(surface);
  for (int t = 0; t < triangles; t++) element[t] = vec3_norm(surface_double_area(surface, t)) > 0 ? next++ : -1;
  for (int i = 0; i < surface->point_count; i++) element[triangles + i] = vec3_norm(areas[i]) > 0 ? next++ : -1;
  DerivativeList list = create_list(12 * triangles + surface->point_count);
  for (int t = 0; t < triangles; t++)
    for (int k = 0; k < 3; k++) append_triangle_derivatives(&list, surface, areas, corner_of, element, t, k);
  for (int i = 0; i < surface->point_count; i++) {
    CornerDerivative derivative = {.element = element[triangles + i], .share = 1};
    append_derivative(&list, corner_of[i], &derivative);
  }
  sort_by_corner(&out, &list);
  memory_free(element);
  memory_free(areas);
  return out;
}

/* ---------------------------------------------------------------- derivatives at a point */

/* Smooth maximum of the heights h of a point above the planes (Y2): phi = tau log sum exp(h / tau), with the smoothing
 * length tau. max_height: largest h. sum: sum of the weights w = exp((h - max_height) / tau). outward: mean of the
 * normals with these weights. */
typedef struct {
  double max_height, sum;
  Vec3 outward;
} SmoothMaximum;

static double height_above_plane(const FieldCorners* c, Vec3 x, int k) {
  return vec3_dot(c->normals[k], x) - c->offsets[k];
}

static SmoothMaximum smooth_maximum(const FieldCorners* c, Vec3 x) {
  SmoothMaximum out = {.max_height = -HUGE_VAL};
  for (int k = 0; k < c->plane_count; k++) out.max_height = fmax(out.max_height, height_above_plane(c, x, k));
  for (int k = 0; k < c->plane_count; k++) {
    double w = math_exp_nonpositive((height_above_plane(c, x, k) - out.max_height) / c->tau);
    out.sum += w;
    out.outward = vec3_add_scaled(out.outward, w, c->normals[k]);
  }
  out.outward = vec3_scale(out.outward, 1 / out.sum);
  return out;
}

/* Let a corner of a plane with unit normal n move by e. Sets *height_above_plane to the change of the height of the
 * point x above the plane. Returns the change of n. */
static Vec3 plane_height_derivative(const CornerDerivative* derivative, Vec3 n, Vec3 x, Vec3 e,
                                    double* height_above_plane) {
  double along = vec3_dot(n, e);
  if (derivative->share > 0) { /* face (Y13); `along` is the mean of its corners */
    Vec3 normal_change = mat3_mul_vec(derivative->normal_jacobian, e);
    *height_above_plane = vec3_dot(normal_change, vec3_sub(x, derivative->along)) - derivative->share * along;
    return normal_change;
  }
  *height_above_plane = -(derivative->weight + vec3_dot(derivative->along, x)) * along;
  return vec3_scale(derivative->along, -along);
}

/* Adds the contribution of one CornerDerivative to the derivatives of the field value phi and of the outward vector N
 * (Y12): dphi = sum w dh, dN = sum w (dn + (n - N) dh / tau). w: weight of the plane; h: height of the point above the
 * plane; n: normal of the plane. */
static void add_plane_derivative(const FieldCorners* c, const SmoothMaximum* mean, Vec3 x,
                                 const CornerDerivative* derivative, int axis, double* value, Vec3* outward) {
  Vec3 n = c->normals[derivative->element];
  double w = math_exp_nonpositive((height_above_plane(c, x, derivative->element) - mean->max_height) / c->tau) /
             mean->sum,
         height_change;
  Vec3 normal_change = plane_height_derivative(derivative, n, x, vec3_axis(axis), &height_change);
  *value += w * height_change;
  *outward = vec3_add_scaled(*outward, w, normal_change);
  *outward = vec3_add_scaled(*outward, w * height_change / c->tau, vec3_sub(n, mean->outward));
}

static void plane_corner_derivatives(const FieldCorners* c, Vec3 x, int first, int count, double* value,
                                     Vec3* outward) {
  SmoothMaximum mean = smooth_maximum(c, x);
  for (int j = 0; j < count; j++) {
    int corner = (first + j) / 3;
    value[j] = 0;
    outward[j] = vec3(0, 0, 0);
    for (int i = c->first[corner]; i < c->first[corner + 1]; i++)
      add_plane_derivative(c, &mean, x, &c->derivatives[i], first + j, &value[j], &outward[j]);
  }
}

static void point_corner_derivatives(const FieldCorners* c, Vec3 x, int first, int count, double* value,
                                     Vec3* outward) {
  FieldMean mean = field_mean_at(c->field, x);
  for (int j = 0; j < count; j++) {
    int corner = (first + j) / 3;
    Vec3 e = vec3_axis(first + j);
    MeanDerivative sum = {0};
    for (int i = c->first[corner]; i < c->first[corner + 1]; i++) {
      const CornerDerivative* derivative = &c->derivatives[i];
      PointDerivative d = field_point_derivative(&mean, derivative->element, vec3_scale(e, derivative->share),
                                                 mat3_mul_vec(derivative->normal_jacobian, e));
      field_mean_add_derivative(&mean, derivative->element, &d, &sum);
    }
    field_mean_derivative(&mean, &sum, &value[j], &outward[j]);
  }
}

void field_corner_derivatives(const FieldCorners* corners, Vec3 position, int first, int count, double* value,
                              Vec3* outward) {
  assert(first >= 0 && count >= 0);
  if (corners->normals)
    plane_corner_derivatives(corners, position, first, count, value, outward);
  else
    point_corner_derivatives(corners, position, first, count, value, outward);
}

void field_smoothing_derivative(const Field* field, Vec3 position, double* value, Vec3* outward) {
  assert(field->kind == FIELD_SHAPE && field->shape.kind == SMOOTH_POLYTOPE);
  const Shape* shape = &field->shape;
  /* derivative of the sharpness beta with respect to the smoothing length l / beta, for constant l */
  double by_beta = -shape->beta * shape->beta / shape->length;
  field_parameter_derivatives(field, position, 0, 1, value, outward);
  *value *= by_beta;
  *outward = vec3_scale(*outward, by_beta);
}

void field_corners_free(FieldCorners* corners) {
  memory_free(corners->first);
  memory_free(corners->derivatives);
  memory_free(corners->normals);
  memory_free(corners->offsets);
  *corners = (FieldCorners){0};
}
