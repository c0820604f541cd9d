/* Loss "extent": size of a link along a direction, from the lowest to the highest vertex. Vertices at equal height
 * share the derivative. */
#include "differentiate/loss.h"

/* Relative difference up to which vertices count as equally high. */
#define HEIGHT_TOLERANCE 1e-9

static void add_end_seeds(const LossTerm* term, const Recording* recording, double end, double level, double factor,
                          LossSeeds* seeds) {
  int count = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int h = 0; h < term->hull_count; h++) {
      const HullReference* hull = &term->hulls[h];
      const Vec3* vertices = recording->model->hulls[hull->hull].solid.vertices;
      Vec3* gradient = seeds->vertices + hull->first_vertex;
      for (int i = 0; i < hull->vertex_count; i++) {
        if (!(fabs(vec3_dot(term->direction, vertices[i]) - end) <= level)) continue;
        if (pass == 0)
          count++;
        else
          gradient[i] = vec3_add_scaled(gradient[i], factor / count, term->direction);
      }
    }
}

double loss_extent(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int h = 0; h < term->hull_count; h++) {
    const HullReference* hull = &term->hulls[h];
    for (int i = 0; i < hull->vertex_count; i++) {
      double height = vec3_dot(term->direction, recording->model->hulls[hull->hull].solid.vertices[i]);
      low = fmin(low, height);
      high = fmax(high, height);
    }
  }
  if (seeds) {
    add_end_seeds(term, recording, high, HEIGHT_TOLERANCE * (high - low), term->weight, seeds);
    add_end_seeds(term, recording, low, HEIGHT_TOLERANCE * (high - low), -term->weight, seeds);
  }
  return term->weight * (high - low);
}
