/* Finds neighbouring hulls at given poses, without a simulation. Used for pictures. */
#include <assert.h>

#include "contact/system.h"

typedef struct {
  const Model* model;
  double range;           /* distance up to which hulls count as neighbours [m] */
  HullInstance* instance; /* hulls at the given poses (size: hulls) */
  SceneLaws laws;
  ContactSpot* spots;
  int count, capacity;
} SpotSearch;

/* Returns true if the links of hulls a and b may collide and their bounding spheres are closer than the search range.
 * Returns false if a is a half-space. */
static bool is_maybe_near(const SpotSearch* s, int a, int b) {
  const HullInstance *one = &s->instance[a], *two = &s->instance[b];
  if (!model_pair_allowed(s->model, s->model->hulls[a].link, s->model->hulls[b].link)) return false;
  if (one->half_space) return false;
  double gap = two->half_space ? vec3_dot(two->normal, one->center) - two->offset - one->radius
                               : vec3_norm(vec3_sub(two->center, one->center)) - one->radius - two->radius;
  return gap < s->range;
}

/* Returns the midpoint of the closest points of two hulls, world [m]. found: result of pair_distance. */
static Vec3 contact_midpoint(const HullInstance* a, const HullInstance* b, const GjkResult* found) {
  if (!b->half_space) return vec3_scale(vec3_add(found->witness_a, found->witness_b), 0.5);
  Vec3 lowest;
  pair_support(a, vec3_scale(b->normal, -1.0), &lowest);
  return vec3_add_scaled(lowest, -0.5 * found->distance, b->normal);
}

static void add_if_near(SpotSearch* s, int hull_a, int hull_b) {
  const HullInstance *a = &s->instance[hull_a], *b = &s->instance[hull_b];
  GjkCache cache = {0};
  GjkResult found;
  double distance = pair_distance(a, b, &cache, &found);
  if (!(distance > 0.0 && distance < s->range)) return;
  ContactSpot spot = {hull_a, hull_b, distance, found.normal, contact_midpoint(a, b, &found), 0.0, false};
  const SceneLaw* law = law_of_items(&s->laws, hull_a, hull_b);
  if (law->row->press && distance < law->range) spot.touching = law->row->press(law->data, a, b, &found, &spot);
  if (s->count == s->capacity) {
    int more = 2 * s->capacity + 16;
    s->spots = memory_resize(s->spots, sizeof(ContactSpot) * (size_t)s->capacity, sizeof(ContactSpot) * (size_t)more);
    s->capacity = more;
  }
  s->spots[s->count++] = spot;
}

int contact_find_close_pairs(const Model* model, const Pose* poses, double range, ContactSpot** spots) {
  assert(poses && spots && range >= 0);
  SpotSearch s = {.model = model, .range = range, .instance = MEMORY_NEW(HullInstance, model->hull_count + 1)};
  laws_create(model, 1, 0, &s.laws);
  for (int i = 0; i < model->hull_count; i++)
    s.instance[i] = pair_hull_at(&model->hulls[i], &poses[model->hulls[i].link]);
  int* movers = MEMORY_NEW(int, model->hull_count);
  int mover_count = 0;
  for (int i = 0; i < model->hull_count; i++)
    if (model->links[model->hulls[i].link].tree >= 0) movers[mover_count++] = i;
  for (int a = 0, passed = 0; a < model->hull_count; a++) {
    bool moves = passed < mover_count && movers[passed] == a;
    passed += moves;
    for (int k = moves ? a + 1 : passed; k < (moves ? model->hull_count : mover_count); k++) {
      int b = moves ? k : movers[k];
      bool swap = s.instance[a].half_space;
      if (is_maybe_near(&s, swap ? b : a, swap ? a : b)) add_if_near(&s, swap ? b : a, swap ? a : b);
    }
  }
  memory_free(movers);
  laws_destroy(&s.laws);
  memory_free(s.instance);
  *spots = s.spots;
  return s.count;
}

bool contact_spots_center(const Model* model, const ContactSpot* spots, int count, int link_a, int link_b,
                          Vec3* point) {
  assert(spots || count == 0);
  double sum = 0.0, nearest = INFINITY;
  Vec3 weighted = vec3(0, 0, 0);
  for (int i = 0; i < count; i++) {
    int one = model->hulls[spots[i].hull_a].link, two = model->hulls[spots[i].hull_b].link;
    if (!((one == link_a && two == link_b) || (one == link_b && two == link_a))) continue;
    sum += spots[i].pressure;
    weighted = vec3_add_scaled(weighted, spots[i].pressure, spots[i].point);
    if (spots[i].gap < nearest) *point = spots[i].point;
    nearest = fmin(nearest, spots[i].gap);
  }
  if (sum > 0.0) *point = vec3_scale(weighted, 1.0 / sum);
  return isfinite(nearest);
}
