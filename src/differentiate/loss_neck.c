/* Neck: margin minus the width of the narrowest connection between a link's hulls (docs/losses.md). The width of the
 * overlap of two hulls is the diameter of the largest ball in the overlap. The maximum spanning tree of overlaps
 * connects all hulls; its narrowest overlap is the neck.
 * The derivative of the ball's radius is the sum, over the planes that touch the ball, of the plane's multiplier times
 * its shift. The shift of a plane at the ball's centre is a linear combination of the shifts of the face's corners
 * (seed_plane). */
#include <stdlib.h>

#include "differentiate/loss.h"

/* Radii count as equal within this relative difference. */
#define LEVEL 1e-6

typedef struct {
  int a, b; /* indices into term->hulls */
  double radius;
} HullOverlap;

void loss_neck_prepare(LossTerm* term, const LossContext* origin) {
  loss_hulls_prepare(term, origin);
  if (term->hull_count == 1)
    loss_report_error(origin, origin->source->link.place,
                      "'%.60s' has a single hull, but a neck needs several overlapping hulls: name another link",
                      origin->model->links[term->link].name);
}

static int widest_first(const void* left, const void* right) {
  const HullOverlap *x = left, *y = right;
  if (x->radius != y->radius) return x->radius > y->radius ? -1 : 1;
  return x->a != y->a ? (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

static const ConvexHull* solid_of(const LossTerm* term, const Recording* recording, int hull) {
  return &recording->model->hulls[term->hulls[hull].hull].solid;
}

static bool boxes_meet(const ModelHull* a, const ModelHull* b) {
  Vec3 d = vec3_sub(a->center, b->center), e = vec3_add(a->half_extent, b->half_extent);
  return fabs(d.x) <= e.x && fabs(d.y) <= e.y && fabs(d.z) <= e.z;
}

/* Sets `out` to the pairs of hulls whose bounding boxes intersect, or if `all` is true to the other pairs. Returns the
 * number of pairs. */
static int list_overlaps(const LossTerm* term, const Recording* recording, bool all, HullOverlap* out) {
  int count = 0;
  for (int a = 0; a < term->hull_count; a++)
    for (int b = a + 1; b < term->hull_count; b++) {
      const ModelHull* hulls = recording->model->hulls;
      if (boxes_meet(&hulls[term->hulls[a].hull], &hulls[term->hulls[b].hull]) == all) continue;
      Vec3 center;
      BallContact hold[BALL_CONTACTS_MAX];
      int holds;
      HullOverlap overlap = {.a = a, .b = b};
      if (hulls_common_ball_contacts(solid_of(term, recording, a), solid_of(term, recording, b), &center,
                                     &overlap.radius, hold, &holds))
        out[count++] = overlap;
    }
  return count;
}

/* Maximum spanning tree of overlaps, which connects all hulls of a link. The last overlap is the neck. */
typedef struct {
  HullOverlap* joined; /* overlaps of the tree, hulls - 1 if all hulls are connected */
  int count;
} Necks;

/* Connects separate pieces of the link, over the widest overlap first. Returns false if several pieces remain. */
static bool join_widest(HullOverlap* overlaps, int count, int* set, int* pieces, Necks* necks) {
  if (count > 0) qsort(overlaps, (size_t)count, sizeof(HullOverlap), widest_first);
  for (int k = 0; k<count&& * pieces> 1; k++) {
    if (disjoint_sets_find(set, overlaps[k].a) == disjoint_sets_find(set, overlaps[k].b)) continue;
    disjoint_sets_unite(set, overlaps[k].a, overlaps[k].b);
    necks->joined[necks->count++] = overlaps[k];
    --*pieces;
  }
  return *pieces == 1;
}

/* Returns the maximum spanning tree of a link. If the overlaps do not connect all hulls, the remaining pieces are
 * connected over their smallest distances. */
static Necks find_necks(const LossTerm* term, const Recording* recording) {
  int hulls = term->hull_count, pieces = hulls;
  Necks necks = {MEMORY_NEW(HullOverlap, hulls), 0};
  HullOverlap* overlaps = MEMORY_NEW(HullOverlap, hulls * (hulls - 1) / 2);
  int* set = MEMORY_NEW(int, hulls);
  disjoint_sets_init(set, hulls);
  for (int pass = 0; pass < 2; pass++) {
    int count = list_overlaps(term, recording, pass == 1, overlaps);
    if (join_widest(overlaps, count, set, &pieces, &necks)) break;
  }
  if (pieces > 1) necks.count = 0;
  memory_free(set);
  memory_free(overlaps);
  return necks;
}

/* Returns the face that contains a triangle. */
static int face_of(const FlatFaces* faces, const int* triangle) {
  for (int f = 0; f < faces->count; f++) {
    int found = 0;
    for (int k = faces->corner_first[f]; k < faces->corner_first[f + 1]; k++)
      for (int i = 0; i < 3; i++) found += faces->corners[k] == triangle[i];
    if (found == 3) return f;
  }
  return 0;
}

/* Distributes the shift of a face's plane at a point to the corners of the face. The shift is the value of the affine
 * function that fits the corners' shifts with least squares. Adds factor times the derivatives to gradient. */
static void seed_plane(const ConvexHull* solid, const int* triangle, Vec3 center, double factor, Vec3* gradient) {
  FlatFaces faces;
  flat_faces_create(&faces, solid);
  int f = face_of(&faces, triangle), n = faces.corner_first[f + 1] - faces.corner_first[f];
  const int* corners = faces.corners + faces.corner_first[f];
  Vec3 a = solid->vertices[triangle[0]], u = vec3_normalized(vec3_sub(solid->vertices[triangle[1]], a));
  Vec3 normal = vec3_normalized(vec3_cross(u, vec3_sub(solid->vertices[triangle[2]], a)));
  Vec3 v = vec3_cross(normal, u), middle = {0, 0, 0};
  for (int i = 0; i < n; i++) middle = vec3_add_scaled(middle, 1.0 / n, solid->vertices[corners[i]]);
  double uu = 0, uv = 0, vv = 0, pu = vec3_dot(u, vec3_sub(center, middle)), pv = vec3_dot(v, vec3_sub(center, middle));
  for (int i = 0; i < n; i++) {
    Vec3 d = vec3_sub(solid->vertices[corners[i]], middle);
    double x = vec3_dot(u, d), y = vec3_dot(v, d);
    uu += x * x, uv += x * y, vv += y * y;
  }
  double det = uu * vv - uv * uv, cu = (vv * pu - uv * pv) / det, cv = (uu * pv - uv * pu) / det;
  for (int i = 0; i < n; i++) {
    Vec3 d = vec3_sub(solid->vertices[corners[i]], middle);
    double weight = 1.0 / n + cu * vec3_dot(u, d) + cv * vec3_dot(v, d);
    gradient[corners[i]] = vec3_add_scaled(gradient[corners[i]], factor * weight, normal);
  }
  flat_faces_free(&faces);
}

static void seed_neck(const LossTerm* term, const Recording* recording, const HullOverlap* neck, double weight,
                      LossSeeds* seeds) {
  const int hull[2] = {neck->a, neck->b};
  const ConvexHull* solid[2] = {solid_of(term, recording, neck->a), solid_of(term, recording, neck->b)};
  Vec3 center;
  double radius;
  BallContact hold[BALL_CONTACTS_MAX];
  int count;
  if (!hulls_common_ball_contacts(solid[0], solid[1], &center, &radius, hold, &count)) return;
  for (int k = 0; k < count; k++) {
    int side = hold[k].hull;
    seed_plane(solid[side], solid[side]->triangles[hold[k].triangle], center, -2 * weight * hold[k].share,
               seeds->vertices + term->hulls[hull[side]].first_vertex);
  }
}

/* Divides the derivative equally among all necks of equal width. In a chain of equal necks, widening a single neck does
 * not widen the narrowest. */
static void seed_necks(const LossTerm* term, const Recording* recording, const Necks* necks, LossSeeds* seeds) {
  double narrowest = necks->joined[necks->count - 1].radius;
  int first = necks->count - 1;
  while (first > 0 && necks->joined[first - 1].radius <= narrowest + LEVEL * fabs(narrowest)) first--;
  for (int k = first; k < necks->count; k++)
    seed_neck(term, recording, &necks->joined[k], term->weight / (necks->count - first), seeds);
}

double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  Necks necks = find_necks(term, recording);
  double radius = NAN;
  if (necks.count > 0) radius = necks.joined[necks.count - 1].radius;
  if (seeds && isfinite(radius)) seed_necks(term, recording, &necks, seeds);
  memory_free(necks.joined);
  return term->weight * (term->margin - 2 * radius);
}
