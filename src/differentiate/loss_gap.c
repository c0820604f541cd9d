/* Loss "gap": mean over the window of max(margin - smallest distance of the links' hulls, 0)^2. */
#include "differentiate/nearest.h"

static bool has_hull(const Model* model, int link, bool bounded) {
  const ModelLink* l = &model->links[link];
  for (int h = l->hull_first; h < l->hull_first + l->hull_count; h++)
    if (!bounded || model->hulls[h].kind->bounded) return true;
  return false;
}

void loss_gap_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  const TaskLoss* source = context->source;
  if (term->link == term->other)
    loss_report_error(context, source->other.place, "'link' and 'other' are both '%.60s': name two links",
                      model->links[term->link].name);
  else if (!has_hull(model, term->link, false))
    loss_report_error(context, source->link.place,
                      "'%.60s' has no shape, so it has no gap: give it a shape, or name another link",
                      model->links[term->link].name);
  else if (!has_hull(model, term->other, false))
    loss_report_error(context, source->other.place,
                      "'%.60s' has no shape, so it has no gap: give it a shape, or name another link",
                      model->links[term->other].name);
  else if (!has_hull(model, term->link, true) && !has_hull(model, term->other, true))
    loss_report_error(context, source->place, "two half-spaces have no gap: name a link with a bounded shape");
}

/* Returns the nearest points of two links. Links farther apart than the margin have the margin as distance. pose[2]:
 * poses of `link` and `other`. */
static NearestPoints nearest_of_links(const LossTerm* term, const Model* model, const Pose pose[2]) {
  const ModelLink *link = &model->links[term->link], *other = &model->links[term->other];
  NearestPoints best = {.distance = term->margin};
  for (int i = 0; i < link->hull_count; i++)
    for (int k = 0; k < other->hull_count; k++) {
      const ModelHull *a = &model->hulls[link->hull_first + i], *b = &model->hulls[other->hull_first + k];
      if (!a->kind->bounded && !b->kind->bounded) continue;
      double bound = distance_lower_bound(a, b, pose[0], pose[1]);
      if (isnan(bound)) return (NearestPoints){.distance = NAN};
      if (bound >= best.distance) continue;
      NearestPoints found = find_nearest_points(a, b, pose[0], pose[1]);
      if (found.distance < best.distance) best = found;
    }
  return best;
}

/* Adds the derivatives of the loss with respect to the pose of a link and the vertices that define its nearest point.
 * g: derivative of the loss with respect to the nearest point [1/m]. */
static void add_side_seeds(const Recording* recording, int step, const ModelHull* hull, const WeightedVertices* side,
                           Vec3 g, LossSeeds* seeds) {
  loss_seed_pose(recording, hull->link, step, side->point, g, seeds);
  add_nearest_vertex_seeds(hull, side, mat3_tmul_vec(recording_link_pose(recording, step, hull->link).r, g), seeds);
}

/* Adds the derivatives of the loss with respect to poses and vertices of both hulls. slope: negative derivative of the
 * loss with respect to the distance. */
static void add_gap_seeds(const Recording* recording, int step, const NearestPoints* nearest, double slope,
                          LossSeeds* seeds) {
  const Pose pose[2] = {recording_link_pose(recording, step, nearest->a->link),
                        recording_link_pose(recording, step, nearest->b->link)};
  WeightedVertices side[2];
  Vec3 g = vec3_scale(nearest->normal, slope);
  find_nearest_vertices(nearest, pose, side);
  add_side_seeds(recording, step, nearest->a, &side[0], g, seeds);
  add_side_seeds(recording, step, nearest->b, &side[1], vec3_scale(g, -1), seeds);
}

double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    const Pose pose[2] = {recording_link_pose(recording, k, term->link),
                          recording_link_pose(recording, k, term->other)};
    NearestPoints nearest = nearest_of_links(term, recording->model, pose);
    double lack = term->margin - nearest.distance;
    if (lack == 0) continue;
    sum += lack * lack;
    if (!seeds || nearest.count == 0) continue;
    add_gap_seeds(recording, k, &nearest, 2 * share * lack, seeds);
  }
  return share * sum;
}
