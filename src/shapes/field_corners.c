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
static Vec3* corner_areas(const TriangleSurface* surface) {
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
static int add_oriented(Field* field, Vec3 point, Vec3 normal) {
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
  Vec3* areas = corner_areas(surface);
  for (int i = 0; i < surface->triangle_count; i++) {
    const int* corner = surface->triangles[i];
    Vec3 sum = vec3_add(surface->points[corner[0]], surface->points[corner[1]]);
    add_oriented(field, vec3_scale(vec3_add(sum, surface->points[corner[2]]), 1.0 / 3),
                 surface_double_area(surface, i));
  }
  for (int i = 0; i < surface->point_count; i++) add_oriented(field, surface->points[i], areas[i]);
  memory_free(areas);
}

/* ---------------------------------------------------------------- lists of links */

/* List of derivatives (CornerDerivative) in the order in which they were found, with the index of the corner of each of
 * them.
 */
typedef struct {
  int* corner;
  CornerDerivative* link;
  int count;
} LinkList;

static LinkList link_list(int most) { return (LinkList){MEMORY_NEW(int, most), MEMORY_NEW(CornerDerivative, most), 0}; }

static void add_link(LinkList* list, int corner, const CornerDerivative* link) {
  if (corner < 0 || link->of < 0) return;
  list->corner[list->count] = corner;
  list->link[list->count++] = *link;
}

/* Sorts the derivatives in the list by corner and stores them in *out. Derivatives of one corner keep their order.
 * Frees the list. */
static void sort_links(FieldCorners* out, LinkList* list) {
  out->first = MEMORY_NEW(int, out->count + 2);
  out->links = MEMORY_NEW(CornerDerivative, list->count + 1);
  int* next = out->first;
  for (int i = 0; i < list->count; i++) next[list->corner[i] + 2]++;
  for (int c = 0; c < out->count; c++) next[c + 2] += next[c + 1];
  for (int i = 0; i < list->count; i++) out->links[next[list->corner[i] + 1]++] = list->link[i];
  memory_free(list->corner);
  memory_free(list->link);
}

/* ---------------------------------------------------------------- planes */

/* Triangles lie in one plane if their unit normals differ by less than this value. */
#define SAME_FACE 1e-9

static Vec3 triangle_normal(const ConvexHull* hull, int i) {
  Vec3 a = hull->vertices[hull->triangles[i][0]];
  return vec3_normalized(vec3_cross(vec3_sub(hull->vertices[hull->triangles[i][1]], a),
                                    vec3_sub(hull->vertices[hull->triangles[i][2]], a)));
}

/* Distinct planes of a hull's triangles. Each array has triangle_count elements; points has one point of each plane. */
typedef struct {
  int count;
  Vec3 *normals, *points;
  int* of; /* index of the plane of each triangle */
} PolyhedronFaces;

/* Returns the distinct planes of a hull. Triangles lie in one plane if their unit normals differ by less than `same`.
 * The caller frees the result with planes_free. */
static PolyhedronFaces find_planes(const ConvexHull* hull, double same) {
  int triangles = hull->triangle_count;
  PolyhedronFaces out = {0, MEMORY_NEW(Vec3, triangles), MEMORY_NEW(Vec3, triangles), MEMORY_NEW(int, triangles)};
  for (int i = 0; i < triangles; i++) {
    Vec3 n = triangle_normal(hull, i);
    int k = 0;
    while (k < out.count && !(vec3_norm(vec3_sub(n, out.normals[k])) < same)) k++;
    out.of[i] = k;
    if (k < out.count) continue;
    out.normals[k] = n;
    out.points[k] = hull->vertices[hull->triangles[i][0]];
    out.count++;
  }
  return out;
}

static void planes_free(PolyhedronFaces* planes) {
  memory_free(planes->normals);
  memory_free(planes->points);
  memory_free(planes->of);
}

/* Sets *field to the smooth maximum over planes (Y2). smoothing: l / beta [m]; length: l [m]; center: origin of the
 * field's frame. Returns NULL on success, otherwise the violated rule (static text). */
static const char* field_of_planes(Field* field, const PolyhedronFaces* planes, Vec3 center, double length,
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
  PolyhedronFaces planes = find_planes(hull, SAME_FACE);
  double length = 0;
  for (int k = 0; k < planes.count; k++)
    length = fmax(length, vec3_dot(planes.normals[k], vec3_sub(planes.points[k], center)));
  const char* rule = field_of_planes(field, &planes, center, length, smoothing);
  planes_free(&planes);
  return rule;
}

/* Sets out to the distinct vertices of plane k and returns their number. plane: plane of each triangle. seen[v] - 1 is
 * the last plane that listed vertex v. */
static int plane_corners(const ConvexHull* hull, const int* plane, int k, int* seen, int* out) {
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

static void flat_coordinates(const Vec3 axis[2], Vec3 arm, double out[2]) {
  for (int k = 0; k < 2; k++) out[k] = vec3_dot(axis[k], arm);
}

/* Adds one CornerDerivative of plane k for each of its vertices corner (count). The plane is the best fit of its
 * vertices, with the weights b_i(x) = 1/N + c_i . S^-1 c(x) (H5). N is count. c_i and c(x) are the coordinates of
 * vertex i and of x along two axes perpendicular to the normal, relative to the mean of the vertices. S is the sum of
 * c_i c_i^T. */
static void link_plane(LinkList* list, const ConvexHull* hull, const int* number, const int* corner, int count, int k,
                       Vec3 normal) {
  Vec3 axis[2], mean = {0, 0, 0};
  double spread[3] = {0}, c[2], tilt[2];
  axis[0] = vec3_perpendicular(normal);
  axis[1] = vec3_cross(normal, axis[0]);
  for (int i = 0; i < count; i++) mean = vec3_add_scaled(mean, 1.0 / count, hull->vertices[corner[i]]);
  for (int i = 0; i < count; i++) {
    flat_coordinates(axis, vec3_sub(hull->vertices[corner[i]], mean), c);
    scatter_add(spread, c);
  }
  for (int i = 0; i < count; i++) {
    flat_coordinates(axis, vec3_sub(hull->vertices[corner[i]], mean), c);
    scatter_solve(spread, 2, c, tilt);
    CornerDerivative link = {.of = k, .along = vec3_add_scaled(vec3_scale(axis[0], tilt[0]), tilt[1], axis[1])};
    link.weight = 1.0 / count - vec3_dot(link.along, mean);
    add_link(list, number[corner[i]], &link);
  }
}

FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* number, int count) {
  assert(number || count == 0);
  FieldCorners out = {.count = count, .field = field, .tau = field->shape.length / field->shape.beta};
  PolyhedronFaces planes = find_planes(hull, SAME_FACE);
  int *seen = MEMORY_NEW(int, hull->vertex_count), *corner = MEMORY_NEW(int, hull->vertex_count);
  out.plane_count = planes.count;
  out.normals = MEMORY_NEW(Vec3, planes.count);
  out.offsets = MEMORY_NEW(double, planes.count);
  LinkList list = link_list(3 * hull->triangle_count);
  for (int k = 0; k < planes.count; k++) {
    int corners = plane_corners(hull, planes.of, k, seen, corner);
    out.normals[k] = planes.normals[k];
    out.offsets[k] = vec3_dot(planes.normals[k], planes.points[k]);
    link_plane(&list, hull, number, corner, corners, k, out.normals[k]);
    out.fitted = out.fitted || corners > 3;
  }
  sort_links(&out, &list);
  planes_free(&planes);
  memory_free(seen);
  memory_free(corner);
  return out;
}

/* ---------------------------------------------------------------- faces of nearly coplanar triangles */

/* Sets areas[k] of each face k to the sum of the area vectors of the triangles of the face. */
static void sum_areas(const ConvexHull* hull, const PolyhedronFaces* faces, Vec3* areas) {
  for (int k = 0; k < faces->count; k++) areas[k] = vec3(0, 0, 0);
  const TriangleSurface surface = {hull->vertices, hull->vertex_count, hull->triangles, hull->triangle_count};
  for (int i = 0; i < hull->triangle_count; i++) {
    Vec3* sum = &areas[faces->of[i]];
    *sum = vec3_add(*sum, surface_double_area(&surface, i));
  }
}

/* Returns the faces of a hull with their planes (Y13). Sets areas (triangle_count) to the area vector of each face.
 * seen, corner (vertex_count): workspaces; seen must be zero. The caller frees the result with planes_free. */
static PolyhedronFaces find_faces(const ConvexHull* hull, Vec3* areas, int* seen, int* corner) {
  PolyhedronFaces out = find_planes(hull, FACE_ANGLE);
  sum_areas(hull, &out, areas);
  for (int k = 0; k < out.count; k++) {
    Vec3 sum = {0, 0, 0};
    int count = plane_corners(hull, out.of, k, seen, corner);
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
  PolyhedronFaces faces = find_faces(hull, areas, seen, corner);
  MassMoment solid = mass_moment_solid(hull);
  Vec3 center = mass_moment_center(&solid);
  double least = HUGE_VAL, most = 0;
  for (int k = 0; k < faces.count; k++) {
    double offset = vec3_dot(faces.normals[k], vec3_sub(faces.points[k], center));
    least = fmin(least, offset);
    most = fmax(most, offset);
  }
  const char* rule = "its centre of mass must lie inside all of its faces";
  if (least > 0) rule = field_of_planes(field, &faces, center, sqrt(least * most), smoothing);
  planes_free(&faces);
  memory_free(areas);
  memory_free(seen);
  memory_free(corner);
  return rule;
}

/* Returns the derivative of the unit vector n along the vector `area` with respect to `area`: (I - n n^T) / |area|. */
static Mat3 across(Vec3 area) {
  Vec3 n = vec3_normalized(area);
  return mat3_scale(mat3_sub(mat3_identity(), mat3_outer(n, n)), 1 / vec3_norm(area));
}

/* Adds one CornerDerivative for each corner of face k (Y13). When a corner moves by e, the area vector of the face
 * changes by the sum of e x (next - previous) over the triangles at the corner, where next and previous are the other
 * corners of the triangle. */
static void link_face(LinkList* list, const ConvexHull* hull, const PolyhedronFaces* faces, int k, Vec3 area,
                      const int* corner, int count) {
  Mat3 turn = across(area);
  for (int c = 0; c < count; c++) {
    Vec3 side = {0, 0, 0};
    for (int i = 0; i < hull->triangle_count; i++)
      for (int j = 0; faces->of[i] == k && j < 3; j++) {
        const int* t = hull->triangles[i];
        if (t[j] != corner[c]) continue;
        side = vec3_add(side, vec3_sub(hull->vertices[t[(j + 1) % 3]], hull->vertices[t[(j + 2) % 3]]));
      }
    CornerDerivative link = {.of = k, .share = 1.0 / count, .along = faces->points[k]};
    link.turned = mat3_mul(turn, mat3_scale(mat3_cross(side), -1));
    add_link(list, corner[c], &link);
  }
}

FieldCorners field_corners_of_faces(const Field* field, const ConvexHull* hull) {
  assert(field && hull);
  FieldCorners out = {.count = hull->vertex_count, .field = field, .tau = field->shape.length / field->shape.beta};
  int *seen = MEMORY_NEW(int, hull->vertex_count), *corner = MEMORY_NEW(int, hull->vertex_count);
  Vec3* areas = MEMORY_NEW(Vec3, hull->triangle_count);
  PolyhedronFaces faces = find_faces(hull, areas, seen, corner);
  memset(seen, 0, sizeof *seen * (size_t)hull->vertex_count);
  out.plane_count = faces.count;
  out.normals = MEMORY_NEW(Vec3, faces.count);
  out.offsets = MEMORY_NEW(double, faces.count);
  LinkList list = link_list(3 * hull->triangle_count);
  for (int k = 0; k < faces.count; k++) {
    int corners = plane_corners(hull, faces.of, k, seen, corner);
    out.normals[k] = faces.normals[k];
    out.offsets[k] = vec3_dot(faces.normals[k], faces.points[k]);
    link_face(&list, hull, &faces, k, areas[k], corner, corners);
  }
  sort_links(&out, &list);
  planes_free(&faces);
  memory_free(areas);
  memory_free(seen);
  memory_free(corner);
  return out;
}

/* ---------------------------------------------------------------- points with normals */

/* Adds the CornerLinks of corner k of triangle t (Y12). A displacement e of the corner changes the triangle's area
 * vector by e x (next - previous), where next and previous are the other corners. The change affects the normals of the
 * triangle's centroid and of its three corners. of: index of each point of the field; points of triangles come first.
 */
static void link_triangle(LinkList* list, const TriangleSurface* surface, const Vec3* areas, const int* number,
                          const int* of, int t, int k) {
  const int* corner = surface->triangles[t];
  Vec3 side = vec3_sub(surface->points[corner[(k + 1) % 3]], surface->points[corner[(k + 2) % 3]]);
  Mat3 by = mat3_scale(mat3_cross(side), -1);
  CornerDerivative middle = {.of = of[t], .share = 1.0 / 3};
  if (middle.of >= 0) middle.turned = mat3_mul(across(surface_double_area(surface, t)), by);
  add_link(list, number[corner[k]], &middle);
  for (int j = 0; j < 3; j++) {
    CornerDerivative link = {.of = of[surface->triangle_count + corner[j]]};
    if (link.of >= 0) link.turned = mat3_mul(across(areas[corner[j]]), by);
    add_link(list, number[corner[k]], &link);
  }
}

FieldCorners field_corners_of_triangles(const Field* field, const TriangleSurface* surface, const int* number,
                                        int count) {
  assert(number || count == 0);
  FieldCorners out = {.count = count, .field = field};
  int triangles = surface->triangle_count, next = 0;
  int* of = MEMORY_NEW(int, triangles + surface->point_count);
  Vec3* areas = corner_areas(surface);
  for (int t = 0; t < triangles; t++) of[t] = vec3_norm(surface_double_area(surface, t)) > 0 ? next++ : -1;
  for (int i = 0; i < surface->point_count; i++) of[triangles + i] = vec3_norm(areas[i]) > 0 ? next++ : -1;
  LinkList list = link_list(12 * triangles + surface->point_count);
  for (int t = 0; t < triangles; t++)
    for (int k = 0; k < 3; k++) link_triangle(&list, surface, areas, number, of, t, k);
  for (int i = 0; i < surface->point_count; i++) {
    CornerDerivative link = {.of = of[triangles + i], .share = 1};
    add_link(&list, number[i], &link);
  }
  sort_links(&out, &list);
  memory_free(of);
  memory_free(areas);
  return out;
}

/* ---------------------------------------------------------------- derivatives at a point */

/* Smooth maximum of the heights of a point above the planes (Y2): phi = tau log sum exp(h / tau), with heights h. top:
 * largest h. sum: sum of the weights w = exp((h - top) / tau). outward: mean of the normals with these weights. */
typedef struct {
  double top, sum;
  Vec3 outward;
} PlaneMean;

static double height(const FieldCorners* c, Vec3 x, int k) { return vec3_dot(c->normals[k], x) - c->offsets[k]; }

static PlaneMean plane_mean(const FieldCorners* c, Vec3 x) {
  PlaneMean out = {.top = -HUGE_VAL};
  for (int k = 0; k < c->plane_count; k++) out.top = fmax(out.top, height(c, x, k));
  for (int k = 0; k < c->plane_count; k++) {
    double w = math_exp_nonpositive((height(c, x, k) - out.top) / c->tau);
    out.sum += w;
    out.outward = vec3_add_scaled(out.outward, w, c->normals[k]);
  }
  out.outward = vec3_scale(out.outward, 1 / out.sum);
  return out;
}

/* Sets *height to the derivative of a plane's height n . x - o when a corner moves by e. Returns the derivative of the
 * normal n. */
static Vec3 plane_change(const CornerDerivative* link, Vec3 n, Vec3 x, Vec3 e, double* height) {
  double along = vec3_dot(n, e);
  if (link->share > 0) { /* face (Y13); `along` is the mean of its corners */
    Vec3 turned = mat3_mul_vec(link->turned, e);
    *height = vec3_dot(turned, vec3_sub(x, link->along)) - link->share * along;
    return turned;
  }
  *height = -(link->weight + vec3_dot(link->along, x)) * along;
  return vec3_scale(link->along, -along);
}

/* Adds the contribution of one CornerDerivative to the derivatives of the field value phi and of the outward vector N
 * (Y12): dphi = sum w dh, dN = sum w (dn + (n - N) dh / tau). w: weight of the plane; h: height of the point above the
 * plane; n: normal of the plane. */
static void add_plane(const FieldCorners* c, const PlaneMean* mean, Vec3 x, const CornerDerivative* link, int axis,
                      double* value, Vec3* outward) {
  Vec3 n = c->normals[link->of];
  double w = math_exp_nonpositive((height(c, x, link->of) - mean->top) / c->tau) / mean->sum, up;
  Vec3 turned = plane_change(link, n, x, vec3_axis(axis), &up);
  *value += w * up;
  *outward = vec3_add_scaled(*outward, w, turned);
  *outward = vec3_add_scaled(*outward, w * up / c->tau, vec3_sub(n, mean->outward));
}

static void plane_slopes(const FieldCorners* c, Vec3 x, int first, int count, double* value, Vec3* outward) {
  PlaneMean mean = plane_mean(c, x);
  for (int j = 0; j < count; j++) {
    int corner = (first + j) / 3;
    value[j] = 0;
    outward[j] = vec3(0, 0, 0);
    for (int i = c->first[corner]; i < c->first[corner + 1]; i++)
      add_plane(c, &mean, x, &c->links[i], first + j, &value[j], &outward[j]);
  }
}

static void point_slopes(const FieldCorners* c, Vec3 x, int first, int count, double* value, Vec3* outward) {
  FieldMean mean = field_mean_at(c->field, x);
  for (int j = 0; j < count; j++) {
    int corner = (first + j) / 3;
    Vec3 e = vec3_axis(first + j);
    MeanDerivative sum = {0};
    for (int i = c->first[corner]; i < c->first[corner + 1]; i++) {
      const CornerDerivative* link = &c->links[i];
      PointDerivative d =
          field_point_derivative(&mean, link->of, vec3_scale(e, link->share), mat3_mul_vec(link->turned, e));
      field_mean_add_derivative(&mean, link->of, &d, &sum);
    }
    field_mean_derivative(&mean, &sum, &value[j], &outward[j]);
  }
}

void field_corner_derivatives(const FieldCorners* corners, Vec3 place, int first, int count, double* value,
                              Vec3* outward) {
  assert(first >= 0 && count >= 0);
  if (corners->normals)
    plane_slopes(corners, place, first, count, value, outward);
  else
    point_slopes(corners, place, first, count, value, outward);
}

void field_smoothing_derivative(const Field* field, Vec3 place, double* value, Vec3* outward) {
  assert(field->kind == FIELD_SHAPE && field->shape.kind == SMOOTH_POLYTOPE);
  const Shape* shape = &field->shape;
  double by_beta = -shape->beta * shape->beta / shape->length; /* derivative of beta with respect to l / beta */
  field_parameter_derivatives(field, place, 0, 1, value, outward);
  *value *= by_beta;
  *outward = vec3_scale(*outward, by_beta);
}

void field_corners_free(FieldCorners* corners) {
  memory_free(corners->first);
  memory_free(corners->links);
  memory_free(corners->normals);
  memory_free(corners->offsets);
  *corners = (FieldCorners){0};
}
