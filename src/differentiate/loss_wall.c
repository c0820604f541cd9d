/* Wall: how much thinner than `margin` the thinnest hull of a link is; its width between parallel planes changes with
 * the vertices that carry it. */
#include "differentiate/loss.h"

/* Widths that differ by less than this part are equal. */
#define LEVEL 1e-6

static void add_side(const int* vertex, const double* weight, int count, Vec3 slope, Vec3* gradient) {
  for (int i = 0; i < count; i++) gradient[vertex[i]] = vec3_add_scaled(gradient[vertex[i]], weight[i], slope);
}

static HullWidth width_of(const LossTerm* term, const Recording* recording, int hull) {
  return hull_least_width(&recording->model->hulls[term->hulls[hull].hull].solid);
}

/* All hulls that are as thin have equal shares. */
static void add_slopes(const LossTerm* term, const Recording* recording, double width, LossSeeds* seeds) {
  int count = 0;
  for (int h = 0; h < term->hull_count; h++) count += width_of(term, recording, h).width <= width * (1 + LEVEL);
  for (int h = 0; h < term->hull_count; h++) {
    HullWidth own = width_of(term, recording, h);
    if (own.width > width * (1 + LEVEL)) continue;
    Vec3 slope = vec3_scale(own.normal, term->weight / count),
         *gradient = seeds->vertices + term->hulls[h].first_vertex;
    add_side(own.top, own.top_weight, own.top_count, vec3_scale(slope, -1), gradient);
    add_side(own.bottom, own.bottom_weight, own.bottom_count, slope, gradient);
  }
}

double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  HullWidth least = {.width = HUGE_VAL};
  for (int h = 0; h < term->hull_count; h++) {
    HullWidth own = width_of(term, recording, h);
    if (own.width < least.width) least = own;
  }
  if (seeds) add_slopes(term, recording, least.width, seeds);
  return term->weight * (term->margin - least.width);
}
