/* Smooth shapes: one convex shape, or several joined by an implicit field. Masses and contact laws for smooth surfaces
 * use the exact shape. Pictures, files and polyhedral contact laws use a triangulated surface. */
#include <assert.h>
#include <string.h>

#include "model/build.h"

/* Returns the mass moment of the shape for density 1 kg/m^3, link frame. */
static MassMoment compute_moment(const ModelSmooth* smooth) {
  MassMoment moment = shape_mass(&smooth->field.shape);
  return mass_moment_transform(&moment, smooth->pose);
}

/* Sets bounding box and bounding radius of the hull, link axes. */
static void set_bounding_box(ModelHull* hull) {
  const ModelSmooth* smooth = hull->smooth;
  double low[3], high[3];
  for (int i = 0; i < 3; i++) {
    Vec3 axis = mat3_tmul_vec(smooth->pose.r, vec3(i == 0, i == 1, i == 2));
    double t = i == 0 ? smooth->pose.t.x : i == 1 ? smooth->pose.t.y : smooth->pose.t.z;
    high[i] = t + shape_support(&smooth->field.shape, axis).reach;
    low[i] = t - shape_support(&smooth->field.shape, vec3_scale(axis, -1)).reach;
  }
  Vec3 top = vec3_at(high), bottom = vec3_at(low);
  hull->center = vec3_scale(vec3_add(bottom, top), 0.5);
  hull->half_extent = vec3_scale(vec3_sub(top, bottom), 0.5);
  hull->radius =
      fmin(vec3_norm(hull->half_extent), smooth->field.shape.outer + vec3_norm(vec3_sub(hull->center, smooth->pose.t)));
}

/* Creates points of the surface in the directions of a sphere's points, with triangles if `drawn`. The directions do
 * not depend on the parameters of the shape. */
static void create_surface(const ModelSmooth* smooth, int resolution, bool drawn, ConvexHull* solid) {
  int count;
  Vec3* points = primitive_sphere_points(resolution, &count);
  shape_surface_points(&smooth->field.shape, points, count);
  for (int i = 0; i < count; i++) points[i] = pose_apply(smooth->pose, points[i]);
  if (!drawn) {
    *solid = (ConvexHull){.vertices = points, .vertex_count = count};
    return;
  }
  if (count > 0 && hull_create_with_interior(solid, points, count) != HULL_OK &&
      primitive_sphere(solid, 1, resolution) ==
          HULL_OK) /* if the points have no hull, the triangles of the sphere are used */
    memcpy(solid->vertices, points, sizeof(Vec3) * (size_t)count);
  memory_free(points);
}

Vec3 smooth_vertex_slope(const ModelHull* hull, const Vec3* sphere, int vertex, int k) {
  assert(vertex >= 0 && k >= 0);
  Vec3 local = shape_surface_derivative(&hull->smooth->field.shape, sphere[vertex], k);
  return mat3_mul_vec(hull->smooth->pose.r, local);
}

/* Number of cells per edge of the grid from which a surface is extracted, at resolution 0. */
enum { CELLS_MIN = 5 };

static void create_union_surface(ModelSmooth* smooth, int resolution, ModelHull* hull) {
  Field placed = smooth->field;
  placed.pose = pose_mul(smooth->pose, placed.pose);
  field_solid(&placed, CELLS_MIN << resolution, &hull->solid);
  smooth->moment = field_mass(&placed);
  if (hull->solid.vertex_count == 0) return;
  Vec3 low = hull->solid.vertices[0], high = low;
  for (int i = 1; i < hull->solid.vertex_count; i++) {
    low = vec3_min(low, hull->solid.vertices[i]);
    high = vec3_max(high, hull->solid.vertices[i]);
  }
  hull->center = vec3_scale(vec3_add(low, high), 0.5);
  hull->half_extent = vec3_scale(vec3_sub(high, low), 0.5);
  hull->radius = vec3_norm(hull->half_extent);
}

static void set_shape(const SceneShape* shape, Field* field) {
  *field = (Field){.kind = FIELD_POINTS, .pose = pose_identity(), .radius = shape->radius, .count = shape->point_count};
  field->points = MEMORY_NEW(Vec3, shape->point_count);
  field->normals = MEMORY_NEW(Vec3, shape->point_count);
  for (int i = 0; i < shape->point_count; i++) {
    field->points[i] = shape->points[i];
    field->normals[i] = vec3_normalized(shape->normals[i]);
  }
}

/* Builds the implicit field of a smooth shape. Parts of a union are placed in its frame. Returns NULL, or the violated
 * rule (static text): scenes are checked by the reader, but a design can violate a rule. */
static const char* build_field(const Scene* scene, const SceneShape* shape, Field* field) {
  const char* rule = NULL;
  if (shape_is_convex_smooth(shape)) {
    *field = (Field){.kind = FIELD_SHAPE, .pose = pose_identity()};
    return shape_create(&field->shape, &shape->smooth);
  }
  if (shape->type == SHAPE_ORIENTED_POINTS) {
    set_shape(shape, field);
    return NULL;
  }
  *field = (Field){.kind = shape->type == SHAPE_UNION ? FIELD_UNION : FIELD_SUBTRACTION,
                   .pose = pose_identity(),
                   .smoothing = shape->smoothing,
                   .parts = MEMORY_NEW(Field, shape->part_count),
                   .part_count = shape->part_count};
  for (int i = 0; i < shape->part_count; i++) {
    const SceneShapeUse* use = &shape->parts[i];
    const char* broken = build_field(scene, &scene->shapes[use->shape], &field->parts[i]);
    rule = rule ? rule : broken;
    field->parts[i].pose = pose_mul((Pose){mat3_from_quat(use->rotation), use->position}, field->parts[i].pose);
  }
  return rule;
}

/* Returns true if drawing or some contact law of the scene needs triangles of smooth shapes. */
static bool needs_triangles(const Scene* scene) {
  bool looks = !contact_supports_smooth_shapes(scene->contact.model);
  for (int i = 0; i < scene->contact.pair_count; i++)
    looks =
        looks || (scene->contact.pairs[i].has_model && !contact_supports_smooth_shapes(scene->contact.pairs[i].model));
  return looks || !scene->skip_render_surfaces;
}

const char* place_smooth(ModelHull* hull, const Scene* scene, const SceneShape* shape, Pose pose) {
  ModelSmooth* smooth = MEMORY_NEW(ModelSmooth, 1);
  *smooth = (ModelSmooth){.pose = pose, .parameter_first = -1, .resolution = shape->resolution};
  hull->kind = &SOLID_SMOOTH;
  hull->smooth = smooth;
  const char* rule = build_field(scene, shape, &smooth->field);
  if (rule) return rule;
  if (smooth->field.kind == FIELD_SHAPE) {
    create_surface(smooth, shape->resolution, needs_triangles(scene), &hull->solid);
    smooth->moment = compute_moment(smooth);
    set_bounding_box(hull);
  } else {
    create_union_surface(smooth, shape->resolution, hull);
  }
  hull->points = point_view_create(hull->solid.vertices, hull->solid.vertex_count);
  return hull->solid.vertex_count > 0
             ? NULL
             : "the shape is empty, or thinner than one cell of its grid: raise 'resolution', or enlarge the shape";
}

void free_smooth(ModelSmooth* smooth) {
  if (smooth) field_free(&smooth->field);
  if (smooth) point_view_free(&smooth->core.points);
  memory_free(smooth);
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  return SOLID_HULL.support(hull, direction, vertex);
}

static MassMoment moment(const ModelHull* hull) { return hull->smooth->moment; }

/* Returns the diameter of the inscribed ball of a convex shape, or the least edge of the bounding box of a union [m].
 */
static double thickness(const ModelHull* hull) {
  Vec3 e = hull->half_extent;
  bool joined = hull->smooth->field.kind != FIELD_SHAPE;
  return 2 * (joined ? fmin(e.x, fmin(e.y, e.z)) : hull->smooth->field.shape.inner);
}

const SolidKind SOLID_SMOOTH = {true, support, moment, thickness};
