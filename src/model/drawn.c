#include "model/drawn.h"

#include <assert.h>
#include <string.h>

#include "model/build.h"

/* Largest number of vertices of a refined polyhedron. With more vertices, Qhull and the union take seconds per solid.
 */
enum { VERTICES_MAX = 20000 };
/* Finest icosphere with at most VERTICES_MAX vertices: 10242. */
enum { RESOLUTION_MAX = 5 };
enum { SEGMENTS_MAX = 1024 };

/* Returns the shape of a hull if it is convex and smooth or a round solid without `segments` or `resolution`, otherwise
 * NULL. */
static const SceneShape* curved_shape(const Model* model, const ModelHull* hull) {
  const SceneShape* shape = &model->scene->shapes[hull->shape];
  return shape_is_exact(shape) || hull_is_convex_smooth(hull) ? shape : NULL;
}

/* Returns the pose of a round or smooth hull's shape in its link. Each use of such a shape has one hull, in the order
 * of the uses. */
static Pose shape_pose(const Model* model, int index) {
  const ModelHull* hull = &model->hulls[index];
  if (hull->smooth) return hull->smooth->pose;
  const SceneLink* link = &model->scene->links[hull->link];
  int before = 0, k = 0;
  for (int i = model->links[hull->link].hull_first; i < index; i++) before += model->hulls[i].shape == hull->shape;
  for (;; k++)
    if (link->shapes[k].shape == hull->shape && before-- == 0) break;
  return (Pose){mat3_from_quat(link->shapes[k].rotation), link->shapes[k].position};
}

static const Shape* smooth_shape(const ModelHull* hull) {
  return hull_is_convex_smooth(hull) ? &hull->smooth->field.shape : NULL;
}

/* Returns the largest distance [m] of a face of a polyhedron from the parallel tangent plane of the solid that it
 * represents: the smooth shape `smooth`, or the round solid `shape` if smooth is NULL. pose: pose of the shape in the
 * frame of the polyhedron. */
static double surface_deviation(const Shape* smooth, const SceneShape* shape, const ConvexHull* solid, Pose pose) {
  double largest = 0;
  for (int k = 0; k < solid->triangle_count; k++) {
    const int* t = solid->triangles[k];
    Vec3 a = solid->vertices[t[0]];
    Vec3 n = vec3_cross(vec3_sub(solid->vertices[t[1]], a), vec3_sub(solid->vertices[t[2]], a));
    if (!(vec3_norm(n) > 0)) continue;
    n = mat3_tmul_vec(pose.r, vec3_normalized(n));
    double face = vec3_dot(n, mat3_tmul_vec(pose.r, vec3_sub(a, pose.t)));
    largest = fmax(largest, (smooth ? shape_support(smooth, n).reach : round_height(shape, n)) - face);
  }
  return largest;
}

double polyhedron_deviation(const SceneShape* shape, const ConvexHull* solid) {
  return surface_deviation(NULL, shape, solid, pose_identity());
}

double model_drawn_deviation(const Model* model, int hull) {
  assert(hull >= 0 && hull < model->hull_count);
  const ModelHull* drawn = &model->hulls[hull];
  const SceneShape* shape = drawn->kind->bounded ? curved_shape(model, drawn) : NULL;
  return shape ? surface_deviation(smooth_shape(drawn), shape, &drawn->solid, shape_pose(model, hull)) : 0;
}

/* Creates a polyhedron of a shape, in its frame, with the given segments or resolution. */
static HullResult create_polyhedron(const Shape* smooth, const SceneShape* shape, int segments, int resolution,
                                    ConvexHull* solid) {
  SceneShape drawn = *shape;
  drawn.segments = segments;
  drawn.resolution = resolution;
  if (!smooth) return draw_primitive(solid, &drawn);
  int count;
  Vec3* points = primitive_sphere_points(resolution, &count);
  shape_surface_points(smooth, points, count);
  HullResult result = hull_create_with_interior(solid, points, count);
  memory_free(points);
  return result;
}

/* Creates a polyhedron of a shape, in the shape's frame, with faces at most `tolerance` [m] inside the shape, or the
 * finest polyhedron allowed. Returns false on failure. */
static bool refine_polyhedron(const Shape* smooth, const SceneShape* shape, double tolerance, ConvexHull* best) {
  const bool sphere = shape->type == SHAPE_SPHERE || smooth;
  int segments = DRAWN_SEGMENTS, resolution = DRAWN_RESOLUTION;
  bool found = false;
  for (;;) {
    ConvexHull solid;
    if (create_polyhedron(smooth, shape, segments, resolution, &solid) != HULL_OK) return found;
    if (found && solid.vertex_count > VERTICES_MAX) {
      hull_free(&solid);
      return found;
    }
    if (found) hull_free(best);
    *best = solid;
    found = true;
    double left = surface_deviation(smooth, shape, best, pose_identity());
    if (left <= tolerance) return true;
    if (sphere ? resolution == RESOLUTION_MAX : segments == SEGMENTS_MAX) return true;
    resolution++;
    /* the distance falls as 1 / segments^2 */
    segments = (int)fmin(SEGMENTS_MAX, ceil(segments * fmin(4, fmax(1.05, sqrt(left / tolerance)))));
  }
}

static void replace_surface(ModelHull* hull, const ConvexHull* solid, Pose pose) {
  ModelHull placed = {.link = hull->link, .shape = hull->shape};
  place_hull(&placed, solid, pose);
  hull->solid = placed.solid;
  hull->points = placed.points;
}

void model_drawn_create(ModelDrawn* drawn, const Model* model, double tolerance) {
  assert(tolerance > 0);
  Model* copy = &drawn->model;
  *copy = *model;
  copy->hulls = MEMORY_NEW(ModelHull, model->hull_count + 1);
  memcpy(copy->hulls, model->hulls, sizeof(ModelHull) * (size_t)model->hull_count);
  drawn->owns_polyhedron = MEMORY_NEW(bool, model->hull_count + 1);
  copy->vertex_count = 0;
  for (int i = 0; i < model->hull_count; i++) {
    ModelHull* hull = &copy->hulls[i];
    ConvexHull finer;
    if (model_drawn_deviation(model, i) > tolerance &&
        refine_polyhedron(smooth_shape(hull), curved_shape(model, hull), tolerance, &finer)) {
      replace_surface(hull, &finer, shape_pose(model, i));
      hull_free(&finer);
      drawn->owns_polyhedron[i] = true;
    }
    hull->vertex_first = copy->vertex_count;
    copy->vertex_count += hull->points.count;
  }
}

void model_drawn_free(ModelDrawn* drawn) {
  for (int i = 0; drawn->owns_polyhedron && i < drawn->model.hull_count; i++) {
    if (!drawn->owns_polyhedron[i]) continue;
    point_view_free(&drawn->model.hulls[i].points);
    hull_free(&drawn->model.hulls[i].solid);
  }
  if (drawn->owns_polyhedron) memory_free(drawn->model.hulls);
  memory_free(drawn->owns_polyhedron);
  *drawn = (ModelDrawn){0};
}
