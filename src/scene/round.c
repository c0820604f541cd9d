/* Lengths of round solids as parameters. */
#include <assert.h>

#include "scene/scene.h"

int scene_shape_round_lengths(SceneShape* shape, double* lengths[ROUND_PARAMETERS_MAX]) {
  assert(shape);
  double* const all[7][ROUND_PARAMETERS_MAX] = {{&shape->radius},
                                                {&shape->radius, &shape->length},
                                                {&shape->radius, &shape->width, &shape->rim},
                                                {&shape->radius, &shape->rim},
                                                {&shape->bottom_radius, &shape->top_radius, &shape->length},
                                                {&shape->radius, &shape->size.x, &shape->size.y, &shape->size.z},
                                                {&shape->radius}};
  bool tube = shape->type == SHAPE_CAPSULE || shape->type == SHAPE_CYLINDER;
  int row = shape->type == SHAPE_SPHERE           ? 0
            : tube                                ? 1
            : shape->type == SHAPE_WHEEL          ? 2
            : shape->type == SHAPE_DISC           ? 3
            : shape->type == SHAPE_CONE           ? 4
            : shape->type == SHAPE_ROUNDED_BOX    ? 5
            : shape->type == SHAPE_ROUNDED_POINTS ? 6
                                                  : -1;
  int count = 0;
  for (; row >= 0 && count < ROUND_PARAMETERS_MAX && all[row][count]; count++) lengths[count] = all[row][count];
  return count;
}

int scene_shape_parameter_count(const SceneShape* shape) {
  assert(shape);
  double* lengths[ROUND_PARAMETERS_MAX];
  SceneShape copy = *shape;
  if (shape_is_exact(shape)) return scene_shape_round_lengths(&copy, lengths);
  return shape_is_convex_smooth(shape) ? shape_definition_parameter_count(&shape->smooth) : 0;
}
