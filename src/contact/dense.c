/* Limits the motion of links with very many triangles between two searches for candidate pairs. Without this limit, the
 * list of candidates would grow to hundreds of thousands of pairs of triangles. */
#include <assert.h>

#include "contact/system.h"

/* The motion of a link is limited if it has at least this many triangles. */
enum { MIN_DENSE_TRIANGLES = 64 };
/* Largest motion that one search for candidates covers, for two near links with at least MIN_DENSE_TRIANGLES triangles.
 * It is a multiple of the mean radius of their triangles. */
#define MAX_MOTION_RADII 2.0

/* Returns the mean radius of the triangles of a link [m]. Returns 0 for links with fewer than MIN_DENSE_TRIANGLES
 * triangles. */
static double dense_link_radius(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  double sum = 0;
  int count = 0;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    if (model->hulls[k].kind != &SOLID_TRIANGLE) continue;
    sum += model->hulls[k].radius;
    count++;
  }
  return l->collide && count >= MIN_DENSE_TRIANGLES ? sum / count : 0;
}

void contact_find_dense_links(ContactSystem* s) {
  s->dense_radius = MEMORY_NEW(double, s->model->link_count);
  for (int i = 0; i < s->model->link_count; i++) s->dense_radius[i] = dense_link_radius(s->model, i);
}

static bool lists_triangle_pairs(const ContactSystem* s, int a, int b) {
  return a != b && s->dense_radius[a] > 0 && s->dense_radius[b] > 0 && model_pair_allowed(s->model, a, b) &&
         !contact_is_aggregate_pair(s, a, b);
}

static double link_path_length(const ContactSystem* s, const MotionBounds* bounds, int link) {
  return bounds->link[link].speed + bounds->link[link].spin * s->model->links[link].reach;
}

double contact_path_fraction(const ContactSystem* s, const MotionBounds* bounds, int link) {
  assert(link >= 0 && link < s->model->link_count);
  if (s->links || !(s->dense_radius[link] > 0)) return 1; /* the candidate list of a subsystem does not grow */
  const Pose* pose = s->pose[s->current];
  double path = link_path_length(s, bounds, link), max_path = INFINITY;
  for (int i = 0; i < s->model->link_count; i++) {
    if (!lists_triangle_pairs(s, link, i)) continue;
    double spheres = s->model->links[link].reach + s->model->links[i].reach;
    double gap = vec3_norm(vec3_sub(pose[link].t, pose[i].t)) - spheres;
    if (gap < path + link_path_length(s, bounds, i))
      max_path = fmin(max_path, fmax(0.5 * gap, MAX_MOTION_RADII * fmin(s->dense_radius[link], s->dense_radius[i])));
  }
  double fraction = 1;
  while (fraction * path > max_path) fraction *= 0.5;
  return fraction;
}
