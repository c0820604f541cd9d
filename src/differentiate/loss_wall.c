/* Wall: margin minus the smallest width of a link's hulls between parallel planes. The width depends on the vertices in
 * these planes. */
#include "differentiate/nearest.h"

/* Widths count as equal within this relative difference. */
#define LEVEL 1e-6

static void add_side(const int* vertex, const double* weight, int count, Vec3 slope, Vec3* gradient) {
  for (int i = 0; i < count; i++) gradient[vertex[i]] = vec3_add_scaled(gradient[vertex[i]], weight[i], slope);
}

/* Adds `weight` times the derivatives of a hull's width with respect to the vertices that span the width, including all
 * vertices of parallel faces. The width is treated as the distance of its two sides with reversed orientation
 * (differentiate/nearest.h). */
static void add_width(const ModelHull* hull, const HullWidth* width, double weight, Vec3* gradient) {
  const Pose pose[2] = {pose_identity(), pose_identity()};
  Vec3 slope = vec3_scale(width->normal, weight), on_top = vec3(0, 0, 0);
  for (int i = 0; i < width->top_count; i++)
    on_top = vec3_add_scaled(on_top, width->top_weight[i], hull->solid.vertices[width->top[i]]);
  NearestPoints sides = {.a = hull, .b = hull, .normal = width->normal, .point_a = on_top};
  WeightedVertices side[2];
  find_nearest_vertices(&sides, pose, side);
  if (side[0].count > 0 && side[1].count > 0) {
    add_side(side[0].vertex, side[0].weight, side[0].count, vec3_scale(slope, -1), gradient);
    add_side(side[1].vertex, side[1].weight, side[1].count, slope, gradient);
  } else {
    add_side(width->top, width->top_weight, width->top_count, vec3_scale(slope, -1), gradient);
    add_side(width->bottom, width->bottom_weight, width->bottom_count, slope, gradient);
  }
}

static HullWidth width_of(const LossTerm* term, const Recording* recording, int hull) {
  return hull_smallest_width(&recording->model->hulls[term->hulls[hull].hull].solid);
}

/* Distributes the derivative equally over all hulls with the smallest width. */
static void add_slopes(const LossTerm* term, const Recording* recording, double width, LossSeeds* seeds) {
  int count = 0;
  for (int h = 0; h < term->hull_count; h++) count += width_of(term, recording, h).width <= width * (1 + LEVEL);
  for (int h = 0; h < term->hull_count; h++) {
    HullWidth own = width_of(term, recording, h);
    if (own.width > width * (1 + LEVEL)) continue;
    add_width(&recording->model->hulls[term->hulls[h].hull], &own, term->weight / count,
              seeds->vertices + term->hulls[h].first_vertex);
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
