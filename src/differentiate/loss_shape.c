/* Loss "shape": mean over all hull vertices X of |X - X_initial|^2, the squared displacement from the initial design.
 */
#include "differentiate/loss.h"

double loss_shape(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = term->weight / term->vertex_count;
  for (int h = 0; h < term->hull_count; h++) {
    const HullReference* hull = &term->hulls[h];
    const Vec3* vertices = recording->model->hulls[hull->hull].solid.vertices;
    Vec3* seed = seeds ? seeds->vertices + hull->first_vertex : NULL;
    for (int i = 0; i < hull->vertex_count; i++) {
      Vec3 moved = vec3_sub(vertices[i], hull->vertices[i]);
      sum += vec3_dot(moved, moved);
      if (seed) seed[i] = vec3_add_scaled(seed[i], 2 * share, moved);
    }
  }
  return share * sum;
}
