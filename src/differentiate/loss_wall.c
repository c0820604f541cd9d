/* Wall: how much thinner than `margin` the thinnest hull of a link is; its width between parallel planes changes with
 * the vertices that carry it. */
#include "differentiate/loss.h"

static void add_side(const int* vertex, const double* weight, int count, Vec3 slope, Vec3* gradient) {
  for (int i = 0; i < count; i++) gradient[vertex[i]] = vec3_add_scaled(gradient[vertex[i]], weight[i], slope);
}

double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  HullWidth least = {.width = HUGE_VAL};
  int thinnest = 0;
  for (int h = 0; h < term->hull_count; h++) {
    HullWidth own = hull_least_width(&recording->model->hulls[term->hulls[h].hull].solid);
    if (own.width < least.width) least = own, thinnest = h;
  }
  if (seeds) {
    Vec3* gradient = seeds->vertices + term->hulls[thinnest].first_vertex;
    add_side(least.top, least.top_weight, least.top_count, vec3_scale(least.normal, -term->weight), gradient);
    add_side(least.bottom, least.bottom_weight, least.bottom_count, vec3_scale(least.normal, term->weight), gradient);
  }
  return term->weight * (term->margin - least.width);
}
