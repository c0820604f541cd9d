/* Fields of polyhedra and their derivatives by corners (Y12): planes of a hull, points with normals of a surface.
 * docs/derivations/fields.md */
#include <assert.h>
#include <string.h>
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

/* Sum of the double-area vectors of the triangles at every point; owned by the caller. */
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

/* Adds a point of the field; returns its index, -1: no normal. */
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

/* Unsorted links and the corner of each. */
typedef struct {
  int* corner;
  CornerLink* link;
  int count;
} LinkList;

static LinkList link_list(int most) { return (LinkList){MEMORY_NEW(int, most), MEMORY_NEW(CornerLink, most), 0}; }

static void add_link(LinkList* list, int corner, const CornerLink* link) {
  if (corner < 0 || link->of < 0) return;
  list->corner[list->count] = corner;
  list->link[list->count++] = *link;
}

/* Sorts the links by corner (stable) into out; frees the list. */
static void sort_links(FieldCorners* out, LinkList* list) {
  out->first = MEMORY_NEW(int, out->count + 2);
  out->links = MEMORY_NEW(CornerLink, list->count + 1);
  int* next = out->first;
  for (int i = 0; i < list->count; i++) next[list->corner[i] + 2]++;
  for (int c = 0; c < out->count; c++) next[c + 2] += next[c + 1];
  for (int i = 0; i < list->count; i++) out->links[next[list->corner[i] + 1]++] = list->link[i];
  memory_free(list->corner);
  memory_free(list->link);
}

/* ---------------------------------------------------------------- planes */

/* Normals closer than this belong to one face. */
#define SAME_FACE 1e-9

static Vec3 triangle_normal(const ConvexHull* hull, int i) {
  Vec3 a = hull->vertices[hull->triangles[i][0]];
  return vec3_normalized(vec3_cross(vec3_sub(hull->vertices[hull->triangles[i][1]], a),
                                    vec3_sub(hull->vertices[hull->triangles[i][2]], a)));
}

/* Distinct planes of a hull's faces, with a point of each; arrays have triangle_count elements. */
typedef struct {
  int count;
  Vec3 *normals, *points;
  int* of; /* plane of each triangle */
} PolyhedronFaces;

static PolyhedronFaces find_planes(const ConvexHull* hull) {
  int triangles = hull->triangle_count;
  PolyhedronFaces out = {0, MEMORY_NEW(Vec3, triangles), MEMORY_NEW(Vec3, triangles), MEMORY_NEW(int, triangles)};
  for (int i = 0; i < triangles; i++) {
    Vec3 n = triangle_normal(hull, i);
    int k = 0;
    while (k < out.count && !(vec3_norm(vec3_sub(n, out.normals[k])) < SAME_FACE)) k++;
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

const char* field_of_hull(Field* field, const ConvexHull* hull, double smoothing) {
  assert(smoothing > 0);
  MassMoment solid = mass_moment_solid(hull);
  *field = (Field){.kind = FIELD_SHAPE, .pose = pose_identity()};
  field->pose.t = mass_moment_center(&solid);
  PolyhedronFaces planes = find_planes(hull);
  double(*faces)[4] = (double(*)[4])MEMORY_NEW(double, 4 * planes.count);
  SmoothForm form = {.kind = SMOOTH_POLYTOPE, .faces = (const double(*)[4])faces, .face_count = planes.count};
  for (int k = 0; k < planes.count; k++) {
    Vec3 n = planes.normals[k];
    const double face[4] = {n.x, n.y, n.z, vec3_dot(n, vec3_sub(planes.points[k], field->pose.t))};
    memcpy(faces[k], face, sizeof face);
    form.length = fmax(form.length, face[3]);
  }
  form.beta = form.length / smoothing;
  const char* rule = shape_create(&field->shape, &form);
  memory_free(faces);
  planes_free(&planes);
  return rule;
}

/* Distinct vertices of plane k; seen[v]: the last plane that listed vertex v, plus one. Returns their number. */
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

/* Links a plane to its corners as the best-fit plane: b_i(x) = 1/N + c_i . S^-1 c(x) in two axes perpendicular to the
 * normal (H5). */
static void link_plane(LinkList* list, const ConvexHull* hull, const int* number, const int* corner, int count, int k,
                       Vec3 normal) {
  Vec3 axis[2], mean = {0, 0, 0};
  double spread[3] = {0}, c[2], tilt[2];
  axis[0] = vec3_across(normal);
  axis[1] = vec3_cross(normal, axis[0]);
  for (int i = 0; i < count; i++) mean = vec3_add_scaled(mean, 1.0 / count, hull->vertices[corner[i]]);
  for (int i = 0; i < count; i++) {
    flat_coordinates(axis, vec3_sub(hull->vertices[corner[i]], mean), c);
    spread_add(spread, c);
  }
  for (int i = 0; i < count; i++) {
    flat_coordinates(axis, vec3_sub(hull->vertices[corner[i]], mean), c);
    spread_solve(spread, 2, c, tilt);
    CornerLink link = {.of = k, .along = vec3_add_scaled(vec3_scale(axis[0], tilt[0]), tilt[1], axis[1])};
    link.weight = 1.0 / count - vec3_dot(link.along, mean);
    add_link(list, number[corner[i]], &link);
  }
}

FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* number, int count) {
  assert(number || count == 0);
  FieldCorners out = {.count = count, .field = field, .tau = field->shape.length / field->shape.beta};
  PolyhedronFaces planes = find_planes(hull);
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

/* ---------------------------------------------------------------- points */

/* Derivative of a normalized vector: (I - n n^T) / |n|. */
static Mat3 across(Vec3 area) {
  Vec3 n = vec3_normalized(area);
  return mat3_scale(mat3_sub(mat3_identity(), mat3_outer(n, n)), 1 / vec3_norm(area));
}

/* Links corner k of triangle t. Moving it by e changes the triangle's area vector by e x (next - previous), and with it
 * the normals of its centre and its three corners. of: the field's points, triangles first. */
static void link_triangle(LinkList* list, const TriangleSurface* surface, const Vec3* areas, const int* number,
                          const int* of, int t, int k) {
  const int* corner = surface->triangles[t];
  Vec3 side = vec3_sub(surface->points[corner[(k + 1) % 3]], surface->points[corner[(k + 2) % 3]]);
  Mat3 by = mat3_scale(mat3_cross(side), -1);
  CornerLink middle = {.of = of[t], .share = 1.0 / 3};
  if (middle.of >= 0) middle.turned = mat3_mul(across(surface_double_area(surface, t)), by);
  add_link(list, number[corner[k]], &middle);
  for (int j = 0; j < 3; j++) {
    CornerLink link = {.of = of[surface->triangle_count + corner[j]]};
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
    CornerLink link = {.of = of[triangles + i], .share = 1};
    add_link(&list, number[i], &link);
  }
  sort_links(&out, &list);
  memory_free(of);
  memory_free(areas);
  return out;
}

/* ---------------------------------------------------------------- slopes */

/* Planes at a point: phi = tau log sum exp(h / tau), weights w, N = sum w n (Y2). */
typedef struct {
  double top, sum;
  Vec3 outward;
} PlaneMean;

static double height(const FieldCorners* c, Vec3 x, int k) { return vec3_dot(c->normals[k], x) - c->offsets[k]; }

static PlaneMean plane_mean(const FieldCorners* c, Vec3 x) {
  PlaneMean out = {.top = -HUGE_VAL};
  for (int k = 0; k < c->plane_count; k++) out.top = fmax(out.top, height(c, x, k));
  for (int k = 0; k < c->plane_count; k++) {
    double w = math_decay((height(c, x, k) - out.top) / c->tau);
    out.sum += w;
    out.outward = vec3_add_scaled(out.outward, w, c->normals[k]);
  }
  out.outward = vec3_scale(out.outward, 1 / out.sum);
  return out;
}

/* Adds one link: dphi = sum w dh, dN = sum w (dn + (n - N) dh / tau) (Y12). */
static void add_plane(const FieldCorners* c, const PlaneMean* mean, Vec3 x, const CornerLink* link, int axis,
                      double* value, Vec3* outward) {
  Vec3 n = c->normals[link->of];
  double w = math_decay((height(c, x, link->of) - mean->top) / c->tau) / mean->sum;
  double along = vec3_dot(n, vec3_axis(axis)), up = -w * (link->weight + vec3_dot(link->along, x)) * along;
  *value += up;
  *outward = vec3_add_scaled(*outward, -w * along, link->along);
  *outward = vec3_add_scaled(*outward, up / c->tau, vec3_sub(n, mean->outward));
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
    FieldSlope sum = {0};
    for (int i = c->first[corner]; i < c->first[corner + 1]; i++) {
      const CornerLink* link = &c->links[i];
      FieldChange d = field_point_change(&mean, link->of, vec3_scale(e, link->share), mat3_mul_vec(link->turned, e));
      field_mean_change(&mean, link->of, &d, &sum);
    }
    field_mean_slope(&mean, &sum, &value[j], &outward[j]);
  }
}

void field_corner_slopes(const FieldCorners* corners, Vec3 place, int first, int count, double* value, Vec3* outward) {
  assert(first >= 0 && count >= 0);
  if (corners->normals)
    plane_slopes(corners, place, first, count, value, outward);
  else
    point_slopes(corners, place, first, count, value, outward);
}

void field_corners_free(FieldCorners* corners) {
  memory_free(corners->first);
  memory_free(corners->links);
  memory_free(corners->normals);
  memory_free(corners->offsets);
  *corners = (FieldCorners){0};
}
