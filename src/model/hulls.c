/* Builds the hulls of all links: the convex pieces of their shapes, placed in the link frame. */
#include "model/build.h"

double hull_volume(const ModelHull* hull) {
  MassMoment moment = hull->kind->moment(hull);
  return mass_moment_mass(&moment);
}

static int count_hulls(const Builder* builder, const SceneLink* link) {
  int count = 0;
  for (int k = 0; k < link->shape_count; k++) {
    int shape = link->shapes[k].shape;
    const SceneShape* source = &builder->scene->shapes[shape];
    bool single = source->type == SHAPE_HALF_SPACE || shape_is_smooth(source);
    count += single ? 1 : builder->solids[shape].piece_count;
  }
  return count;
}

static void assign_parameter_index(Model* model, ModelHull* hull) {
  hull->smooth->parameter_first = model->shape_parameter_count;
  model->shape_parameter_count += hull_parameter_count(hull);
}

static void append_smooth(Builder* builder, int link, const SceneShapeUse* use, Pose pose) {
  Model* model = builder->model;
  const SceneShape* shape = &builder->scene->shapes[use->shape];
  ModelHull* hull = &model->hulls[model->hull_count];
  *hull = (ModelHull){.link = link, .shape = use->shape};
  const char* rule = place_smooth(hull, builder->scene, shape, pose);
  if (rule) diagnostics_add(builder->diagnostics, SEVERITY_ERROR, shape->place, "shape '%s': %s", shape->name, rule);
  if (hull_is_convex_smooth(hull)) assign_parameter_index(model, hull);
  builder->feature[model->hull_count++] = hull->kind->thickness(hull);
}

/* Adds an error if the lengths of a round solid contradict each other. A scene is checked by the reader, but a design
 * can produce such lengths. */
static void check_round_lengths(Builder* builder, const SceneShape* shape, const RoundBody* core) {
  bool wheel = shape->type == SHAPE_WHEEL;
  if (core->ring_count > 0 && core->rings[0].radius < 0)
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, shape->place,
                    "shape '%s': its rim %g m exceeds its radius %g m: reduce the rim", shape->name, shape->rim,
                    shape->radius);
  if (wheel && shape->width < 2 * shape->rim)
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, shape->place,
                    "shape '%s': twice its rim %g m exceeds its width %g m: reduce the rim", shape->name, shape->rim,
                    shape->width);
}

static void append_round(Builder* builder, int link, const SceneShapeUse* use, Pose pose) {
  Model* model = builder->model;
  const ShapeSolid* solid = &builder->solids[use->shape];
  ModelHull* hull = &model->hulls[model->hull_count];
  if (solid->piece_count == 0) return; /* an error was added */
  *hull = (ModelHull){.link = link, .shape = use->shape};
  place_round(hull, &builder->scene->shapes[use->shape], &solid->pieces[0], pose);
  check_round_lengths(builder, &builder->scene->shapes[use->shape], &hull->smooth->core);
  assign_parameter_index(model, hull);
  builder->feature[model->hull_count++] = hull->kind->thickness(hull);
}

static void append_shape(Builder* builder, int link, const SceneShapeUse* use) {
  Model* model = builder->model;
  const SceneShape* shape = &builder->scene->shapes[use->shape];
  Pose pose = shape_use_pose(use);
  if (shape->type == SHAPE_HALF_SPACE) {
    ModelHull* hull = &model->hulls[model->hull_count++];
    *hull = (ModelHull){.link = link, .shape = use->shape};
    place_half_space(hull, shape, pose);
    return;
  }
  if (shape_is_smooth(shape)) {
    append_smooth(builder, link, use, pose);
    return;
  }
  if (model_uses_round_solid(builder->scene, shape)) {
    append_round(builder, link, use, pose);
    return;
  }
  const ShapeSolid* solid = &builder->solids[use->shape];
  for (int i = 0; i < solid->piece_count; i++) {
    ModelHull* hull = &model->hulls[model->hull_count];
    *hull = (ModelHull){.link = link, .shape = use->shape};
    (solid->triangles ? place_triangle : place_hull)(hull, &solid->pieces[i], pose);
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
    for (int k = 0; k < link->shape_count; k++) append_shape(builder, i, &link->shapes[k]);
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
    free_smooth(model->hulls[i].smooth);
  }
  memory_free(model->hulls);
}
