/* Replaces the shapes of a scene by point lists, one per hull of the model, so that a design can move single vertices.
 */
#include <string.h>

#include "model/model.h"

static void add_point_shape(Scene* scene, const ModelHull* hull, SceneShapeUse* use) {
  SceneShape* shape = &scene->shapes[scene->shape_count];
  *shape = (SceneShape){.name = memory_copy_text(""),
                        .place = use->place,
                        .type = SHAPE_POINTS,
                        .point_count = hull->solid.vertex_count,
                        .keep_interior = hull->kind != &SOLID_TRIANGLE,
                        .triangles = hull->kind == &SOLID_TRIANGLE,
                        .tie = scene->shapes[hull->shape].tie,
                        .decomposed = scene->shapes[hull->shape].decompose || scene->shapes[hull->shape].decomposed};
  shape->points = MEMORY_NEW(Vec3, hull->solid.vertex_count);
  memcpy(shape->points, hull->solid.vertices, sizeof(Vec3) * (size_t)hull->solid.vertex_count);
  *use = (SceneShapeUse){scene->shape_count++, use->place, {0, 0, 0}, quat_identity()};
}

/* Gives each use of a smooth or exact round shape its own shape: the first use keeps the shape, every other use gets a
 * copy. is_used[shapes]: true if a use has kept the shape. */
static void copy_shared_shape(Scene* scene, SceneShapeUse* use, bool* is_used) {
  if (!is_used[use->shape]) {
    is_used[use->shape] = true;
    return;
  }
  const SceneShape* from = &scene->shapes[use->shape];
  SceneShape* shape = &scene->shapes[scene->shape_count];
  *shape = *from;
  shape->name = memory_copy_text("");
  size_t size = sizeof *from->faces * (size_t)from->smooth.face_count;
  if (from->faces) {
    shape->faces = memory_alloc(size);
    memcpy(shape->faces, from->faces, size);
    shape->smooth.faces = (const double(*)[4])shape->faces;
  }
  if (from->points) {
    size_t length = sizeof *from->points * (size_t)from->point_count;
    shape->points = memory_alloc(length);
    memcpy(shape->points, from->points, length);
  }
  use->shape = scene->shape_count++;
}

/* Marks the shapes of a link that point lists replace. Marked shapes are neither built nor written. */
static void mark_replaced(Scene* scene, const SceneLink* link) {
  for (int k = 0; k < link->shape_count; k++) {
    SceneShape* shape = &scene->shapes[link->shapes[k].shape];
    shape->replaced =
        shape->type != SHAPE_HALF_SPACE && !shape_is_smooth(shape) && !model_uses_round_solid(scene, shape);
  }
}

/* Replaces the shape uses of a link by one use per hull, in the order of the hulls. Half-spaces, smooth shapes and
 * exact round solids stay. */
static void expand_link(Scene* scene, const Model* model, int index, bool* is_used) {
  SceneLink* link = &scene->links[index];
  const ModelLink* source = &model->links[index];
  SceneShapeUse* uses = MEMORY_NEW(SceneShapeUse, source->hull_count);
  for (int k = 0, from = 0; k < source->hull_count; k++) {
    const ModelHull* hull = &model->hulls[source->hull_first + k];
    while (link->shapes[from].shape != hull->shape) from++; /* hulls have the order of the shape uses */
    uses[k] = link->shapes[from];
    int parameters = hull_parameter_count(hull);
    if (!hull->kind->bounded || hull->smooth)
      from++; /* an unbounded or smooth hull is the only hull of its shape use, which keeps its pose */
    if (parameters > 0)
      copy_shared_shape(scene, &uses[k], is_used);
    else if (hull->kind->bounded && !hull->smooth)
      add_point_shape(scene, hull, &uses[k]);
  }
  memory_free(link->shapes);
  link->shapes = uses;
  link->shape_count = source->hull_count;
}

/* Marks the parts of unions, so that no shape use changes them. */
static void mark_union_parts(const Scene* scene, bool* is_used) {
  for (int i = 0; i < scene->shape_count; i++)
    for (int k = 0; k < scene->shapes[i].part_count; k++) is_used[scene->shapes[i].parts[k].shape] = true;
}

void model_expand_shapes(const Model* model, Scene* scene) {
  size_t old = sizeof(SceneShape) * (size_t)scene->shape_count;
  bool* is_used = MEMORY_NEW(bool, scene->shape_count);
  mark_union_parts(scene, is_used);
  scene->shapes = memory_resize(scene->shapes, old, old + sizeof(SceneShape) * (size_t)model->hull_count);
  for (int i = 0; i < scene->link_count; i++) mark_replaced(scene, &scene->links[i]);
  for (int i = 0; i < scene->link_count; i++) expand_link(scene, model, i, is_used);
  memory_free(is_used);
  for (int i = 0; i < scene->link_count; i++) scene->links[i].mass_model = model->links[i].mass_model;
  scene->contact.support = model->contact.support;
  scene->contact.stiffness = model->contact.stiffness;
  scene->contact.smoothing = model->contact.smoothing;
  scene->contact.rest_speed = model->contact.rest_speed;
  memcpy(scene->contact.law_parameters, model->contact.law_parameters, sizeof(scene->contact.law_parameters));
  model_fix_pairs(model, scene);
}
