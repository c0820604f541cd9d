/* Wall: margin minus the smallest distance of two parallel planes that enclose a hull of the link. The distance depends
 * on the vertices in these planes. */
#include "differentiate/nearest.h"

/* Relative difference up to which widths count as equal. */
#define WIDTH_TOLERANCE 1e-6

static void add_side_gradient(const int* vertex, const double* weight, int count, Vec3 slope, Vec3* gradient) {
  for (int i = 0; i < count; i++) gradient[vertex[i]] = vec3_add_scaled(gradient[vertex[i]], weight[i], slope);
}

/* Adds weight times the derivatives of a hull's width with respect to all vertices in the two parallel planes. The
 * width is the distance of the two sides with reversed orientation (differentiate/nearest.h). */
static void add_width_gradient(const ModelHull* hull, const HullWidth* width, double weight, Vec3* gradient) {
  const Pose pose[2] = {pose_identity(), pose_identity()};
  Vec3 slope = vec3_scale(width->normal, weight), on_top = vec3(0, 0, 0);
  for (int i = 0; i < width->top_count; i++)
    on_top = vec3_add_scaled(on_top, width->top_weight[i], hull->solid.vertices[width->top[i]]);
  NearestPoints sides = {.a = hull, .b = hull, .normal = width->normal, .point_a = on_top};
  WeightedVertices side[2];
  find_nearest_vertices(&sides, pose, side);
  if (side[0].count > 0 && side[1].count > 0) {
    add_side_gradient(side[0].vertex, side[0].weight, side[0].count, vec3_scale(slope, -1), gradient);
    add_side_gradient(side[1].vertex, side[1].weight, side[1].count, slope, gradient);
  } else {
    add_side_gradient(width->top, width->top_weight, width->top_count, vec3_scale(slope, -1), gradient);
    add_side_gradient(width->bottom, width->bottom_weight, width->bottom_count, slope, gradient);
  }
}

static HullWidth hull_width(const LossTerm* term, const Recording* recording, int hull) {
  return hull_smallest_width(&recording->model->hulls[term->hulls[hull].hull].solid);
}

/* Adds the derivatives of all hulls with the smallest width, divided by their number. */
static void add_wall_seeds(const LossTerm* term, const Recording* recording, double width, LossSeeds* seeds) {
  int count = 0;
  for (int h = 0; h < term->hull_count; h++)
    count += hull_width(term, recording, h).width <= width * (1 + WIDTH_TOLERANCE);
  for (int h = 0; h < term->hull_count; h++) {
    HullWidth hull = hull_width(term, recording, h);
    if (hull.width > width * (1 + WIDTH_TOLERANCE)) continue;
    add_width_gradient(&recording->model->hulls[term->hulls[h].hull], &hull, term->weight / count,
                       seeds->vertices + term->hulls[h].first_vertex);
  }
}

double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  HullWidth least = {.width = HUGE_VAL};
  for (int h = 0; h < term->hull_count; h++) {
    HullWidth hull = hull_width(term, recording, h);
    if (hull.width < least.width) least = hull;
  }
  if (seeds) add_wall_seeds(term, recording, least.width, seeds);
  return term->weight * (term->margin - least.width);
}
