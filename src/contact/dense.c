/* Limits the motion of links with very many triangles between two searches for candidate pairs. Without this limit, the
 * list of candidates would grow to hundreds of thousands of pairs of triangles. */
#include <assert.h>

#include "contact/system.h"

/* The motion of a link is limited if it has at least this many triangles. */
enum { MANY_TRIANGLES = 64 };
/* Largest motion that one search for candidates covers, for two near links with at least MANY_TRIANGLES triangles. It
 * is a multiple of the mean radius of their triangles. */
#define RADII_AT_A_TIME 2.0

/* Returns the mean radius of the triangles of a link [m]. Returns 0 for links with fewer than MANY_TRIANGLES
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
  return l->collide && count >= MANY_TRIANGLES ? sum / count : 0;
}

void contact_find_dense_links(ContactSystem* s) {
  s->dense_radius = MEMORY_NEW(double, s->model->link_count);
  for (int i = 0; i < s->model->link_count; i++) s->dense_radius[i] = dense_link_radius(s->model, i);
}

static bool pieces_are_listed(const ContactSystem* s, int a, int b) {
  return a != b && s->dense_radius[a] > 0 && s->dense_radius[b] > 0 && model_pair_allowed(s->model, a, b) &&
         !contact_is_aggregate_pair(s, a, b);
}

static double path_of(const ContactSystem* s, const MotionBounds* bounds, int link) {
  return bounds->link[link].speed + bounds->link[link].spin * s->model->links[link].reach;
}

double contact_path_fraction(const ContactSystem* s, const MotionBounds* bounds, int link) {
  assert(link >= 0 && link < s->model->link_count);
  if (s->links || !(s->dense_radius[link] > 0))
    return 1; /* an independent part has a fixed candidate list, which does not grow */
  const Pose* pose = s->pose[s->current];
  double path = path_of(s, bounds, link), most = INFINITY;
  for (int i = 0; i < s->model->link_count; i++) {
    if (!pieces_are_listed(s, link, i)) continue;
    double spheres = s->model->links[link].reach + s->model->links[i].reach;
    double apart = vec3_norm(vec3_sub(pose[link].t, pose[i].t)) - spheres;
    if (apart < path + path_of(s, bounds, i))
      most = fmin(most, fmax(0.5 * apart, RADII_AT_A_TIME * fmin(s->dense_radius[link], s->dense_radius[i])));
  }
  double share = 1;
  while (share * path > most) share *= 0.5;
  return share;
}
