/* Loss "roughness": mean over the edges of the initial hulls of |u_i - u_j|^2. u_i, u_j: displacements of both ends of
 * the edge from the initial design. */
#include "differentiate/loss.h"

double loss_roughness(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = term->weight / term->edge_count;
  for (int h = 0; h < term->hull_count; h++) {
    const HullReference* hull = &term->hulls[h];
    const Vec3* vertices = recording->model->hulls[hull->hull].solid.vertices;
    Vec3* seed = seeds ? seeds->vertices + hull->first_vertex : NULL;
    for (int e = 0; e < hull->edge_count; e++) {
      int i = hull->edges[e][0], j = hull->edges[e][1];
      Vec3 moved_i = vec3_sub(vertices[i], hull->vertices[i]), moved_j = vec3_sub(vertices[j], hull->vertices[j]);
      Vec3 difference = vec3_sub(moved_i, moved_j);
      sum += vec3_dot(difference, difference);
      if (!seed) continue;
      seed[i] = vec3_add_scaled(seed[i], 2 * share, difference);
      seed[j] = vec3_add_scaled(seed[j], -2 * share, difference);
    }
  }
  return share * sum;
}
