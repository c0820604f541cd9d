/* Colours of hulls by the displacement of a design's vertices. */
#include <assert.h>
#include "render/picture.h"

/* sRGB colours at equally spaced values of the displacement scale. */
static const uint8_t SCALE[][3] = {
    {0xE2, 0xE2, 0xE0}, {0xFA, 0xC8, 0x60}, {0xEE, 0x72, 0x2E}, {0xB8, 0x20, 0x50}, {0x40, 0x0C, 0x52},
};
enum { SCALE_COUNT = sizeof SCALE / sizeof SCALE[0] };

void displacement_color(double share, float color[3]) {
  double at = (share > 0.0 ? share < 1.0 ? share : 1.0 : 0.0) * (SCALE_COUNT - 1);
  int below = at < SCALE_COUNT - 1 ? (int)at : SCALE_COUNT - 2;
  for (int k = 0; k < 3; k++) {
    double low = SCALE[below][k], high = SCALE[below + 1][k];
    color[k] = linear_from_srgb((low + (at - below) * (high - low)) / 255.0);
  }
}

bool render_hulls_correspond(const Model* model, const Model* initial) {
  if (model->hull_count != initial->hull_count || model->link_count != initial->link_count) return false;
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull *a = &model->hulls[h], *b = &initial->hulls[h];
    if (a->link != b->link || a->kind != b->kind || a->solid.vertex_count != b->solid.vertex_count) return false;
  }
  return true;
}

void stage_color_by_displacement(RenderStage* stage, const Model* initial) {
  assert(render_hulls_correspond(stage->model, initial));
  const Model* model = stage->model;
  int count = 0;
  for (int h = 0; h < model->hull_count; h++) count += model->hulls[h].solid.vertex_count;
  stage->displacement = MEMORY_NEW(double, count + 1);
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    for (int i = 0; i < hull->solid.vertex_count; i++) {
      double moved = vec3_norm(vec3_sub(hull->solid.vertices[i], initial->hulls[h].solid.vertices[i]));
      stage->displacement[hull->vertex_first + i] = moved;
      stage->largest_displacement = fmax(stage->largest_displacement, moved);
    }
  }
}
