/* Hulls of a link: the pieces of its shapes, placed in the link frame, in arrays that the hot loops can read. */
#include <string.h>
#include "model/build.h"

static Pose shape_pose(const SceneShapeUse* use) { return (Pose){mat3_from_quat(use->rotation), use->position}; }

static ConvexHull placed_solid(const ConvexHull* piece, Pose pose) {
  ConvexHull solid = {.vertex_count = piece->vertex_count, .triangle_count = piece->triangle_count};
  solid.vertices = MEMORY_NEW(Vec3, piece->vertex_count);
  solid.triangles = memory_alloc(sizeof *piece->triangles * (size_t)piece->triangle_count);
  for (int i = 0; i < piece->vertex_count; i++) solid.vertices[i] = pose_apply(pose, piece->vertices[i]);
  memcpy(solid.triangles, piece->triangles, sizeof *piece->triangles * (size_t)piece->triangle_count);
  return solid;
}

double hull_volume(const ModelHull* hull) {
  if (hull->half_space) return 0;
  MassMoment solid = mass_moment_solid(&hull->solid);
  return mass_moment_mass(&solid);
}

static void bound_hull(ModelHull* hull) {
  const ConvexHull* solid = &hull->solid;
  Vec3 low = solid->vertices[0], high = low;
  for (int i = 1; i < solid->vertex_count; i++) {
    low = vec3_min(low, solid->vertices[i]);
    high = vec3_max(high, solid->vertices[i]);
  }
  hull->center = vec3_scale(vec3_add(low, high), 0.5);
  hull->half_extent = vec3_scale(vec3_sub(high, low), 0.5);
  hull->radius = 0;
  for (int i = 0; i < solid->vertex_count; i++)
    hull->radius = fmax(hull->radius, vec3_norm(vec3_sub(solid->vertices[i], hull->center)));
}

/* ---------------------------------------------------------------- half-spaces */

/* { x : n . x <= d } moved by x -> R x + t is { x : Rn . x <= d + Rn . t }. */
static void place_half_space(ModelHull* hull, const SceneShape* shape, Pose pose) {
  hull->half_space = true;
  hull->normal = mat3_mul_vec(pose.r, vec3_normalized(shape->normal));
  hull->offset = shape->offset + vec3_dot(hull->normal, pose.t);
  hull->center = vec3_scale(hull->normal, hull->offset);
  hull->radius = HUGE_VAL;
  hull->half_extent = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
}

/* ---------------------------------------------------------------- all links */

static int count_hulls(const Builder* builder, const SceneLink* link) {
  int count = 0;
  for (int k = 0; k < link->shape_count; k++) {
    int shape = link->shapes[k].shape;
    bool unbounded = builder->scene->shapes[shape].type == SHAPE_HALF_SPACE;
    count += unbounded ? 1 : builder->solids[shape].piece_count;
  }
  return count;
}

static void add_shape(Builder* builder, int link, const SceneShapeUse* use) {
  Model* model = builder->model;
  const SceneShape* shape = &builder->scene->shapes[use->shape];
  Pose pose = shape_pose(use);
  if (shape->type == SHAPE_HALF_SPACE) {
    ModelHull* hull = &model->hulls[model->hull_count++];
    *hull = (ModelHull){.link = link, .shape = use->shape};
    place_half_space(hull, shape, pose);
    return;
  }
  const ShapeSolid* solid = &builder->solids[use->shape];
  for (int i = 0; i < solid->piece_count; i++) {
    ModelHull* hull = &model->hulls[model->hull_count];
    *hull = (ModelHull){.link = link, .shape = use->shape, .solid = placed_solid(&solid->pieces[i], pose)};
    hull->points = point_view_create(hull->solid.vertices, hull->solid.vertex_count);
    bound_hull(hull);
    builder->feature[model->hull_count++] = solid->feature[i];
  }
}

void build_hulls(Builder* builder) {
  Model* model = builder->model;
  int total = 0;
  for (int i = 0; i < model->link_count; i++) total += count_hulls(builder, &builder->scene->links[i]);
  model->hulls = MEMORY_NEW(ModelHull, total);
  builder->feature = MEMORY_NEW(double, total);
  for (int i = 0; i < model->link_count; i++) {
    const SceneLink* link = &builder->scene->links[i];
    model->links[i].hull_first = model->hull_count;
    for (int k = 0; k < link->shape_count; k++) add_shape(builder, i, &link->shapes[k]);
    model->links[i].hull_count = model->hull_count - model->links[i].hull_first;
  }
  for (int i = 0; i < model->hull_count; i++) {
    model->hulls[i].vertex_first = model->vertex_count;
    model->vertex_count += model->hulls[i].points.count;
  }
}

void free_hulls(Model* model) {
  for (int i = 0; model->hulls && i < model->hull_count; i++) {
    point_view_free(&model->hulls[i].points);
    hull_free(&model->hulls[i].solid);
  }
  memory_free(model->hulls);
}
