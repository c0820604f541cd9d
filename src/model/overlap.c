/* Overlap of two links, and of links with fixed parents. */
#include <assert.h>
#include <math.h>

#include "model/lift.h"

double model_link_overlap(const Model* model, const Pose* poses, int a, int b, Vec3* normal) {
  assert(a >= 0 && a < model->link_count && b >= 0 && b < model->link_count && a != b);
  const ModelLink *link_a = &model->links[a], *link_b = &model->links[b];
  double deepest = -INFINITY;
  *normal = vec3(0, 0, 0);
  for (int i = link_a->hull_first; i < link_a->hull_first + link_a->hull_count; i++)
    for (int k = link_b->hull_first; k < link_b->hull_first + link_b->hull_count; k++) {
      Vec3 direction;
      if (!model->hulls[i].kind->bounded && !model->hulls[k].kind->bounded) continue;
      double depth = model_hull_overlap(&model->hulls[i], poses[a], &model->hulls[k], poses[b], &direction);
      if (depth > deepest) deepest = depth, *normal = direction;
    }
  return deepest;
}

double model_parent_overlap(const Model* model, const Pose* poses, int link) {
  const ModelLink* child = &model->links[link];
  bool fixed_parent = child->parent >= 0 && model->links[child->parent].tree < 0;
  Vec3 normal;
  if (child->tree < 0 || !fixed_parent) return -INFINITY;
  return model_link_overlap(model, poses, link, child->parent, &normal);
}
