/* Neck: margin minus the width of the narrowest connection between a link's hulls (docs/losses.md). The width of the
 * overlap of two hulls is the diameter of the largest ball inside both. The maximum spanning tree of overlaps connects
 * all hulls; its narrowest overlap is the neck.
 * The derivative of the ball's radius is the sum over the planes that touch the ball of multiplier times shift of the
 * plane. The shift of a plane at the ball's centre is a linear combination of the shifts of the face's corners. */
#include <stdlib.h>

#include "differentiate/loss.h"

/* Relative difference up to which radii count as equal. */
#define RADIUS_TOLERANCE 1e-6

typedef struct {
  int a, b; /* the two overlapping hulls, as indices into term->hulls */
  double radius;
} HullOverlap;

void loss_neck_prepare(LossTerm* term, const LossContext* context) {
  loss_hulls_prepare(term, context);
  if (term->hull_count == 1)
    loss_report_error(context, context->source->link.place,
                      "'%.60s' has a single hull, but a neck needs several overlapping hulls: name another link",
                      context->model->links[term->link].name);
}

static int compare_radii(const void* left, const void* right) {
  const HullOverlap *x = left, *y = right;
  if (x->radius != y->radius) return x->radius > y->radius ? -1 : 1;
  return x->a != y->a ? (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

static const ConvexHull* hull_solid(const LossTerm* term, const Recording* recording, int hull) {
  return &recording->model->hulls[term->hulls[hull].hull].solid;
}

static bool boxes_overlap(const ModelHull* a, const ModelHull* b) {
  Vec3 d = vec3_sub(a->center, b->center), e = vec3_add(a->half_extent, b->half_extent);
  return fabs(d.x) <= e.x && fabs(d.y) <= e.y && fabs(d.z) <= e.z;
}

/* Finds the pairs of hulls whose bounding boxes intersect, or with `all` the other pairs. Returns their number. */
static int find_overlaps(const LossTerm* term, const Recording* recording, bool all, HullOverlap* out) {
  int count = 0;
  for (int a = 0; a < term->hull_count; a++)
    for (int b = a + 1; b < term->hull_count; b++) {
      const ModelHull* hulls = recording->model->hulls;
      if (boxes_overlap(&hulls[term->hulls[a].hull], &hulls[term->hulls[b].hull]) == all) continue;
      Vec3 center;
      BallContact hold[BALL_CONTACTS_MAX];
      int holds;
      HullOverlap overlap = {.a = a, .b = b};
      if (hulls_common_ball_contacts(hull_solid(term, recording, a), hull_solid(term, recording, b), &center,
                                     &overlap.radius, hold, &holds))
        out[count++] = overlap;
    }
  return count;
}

/* Maximum spanning tree of overlaps, which connects all hulls of a link. Its last overlap is the neck. */
typedef struct {
  HullOverlap* joined; /* overlaps of the tree: hulls - 1 if all hulls are connected */
  int count;
} NeckTree;

/* Joins the hulls of a link into pieces, the widest overlap first (Kruskal's algorithm). Returns false if several
 * pieces remain. */
static bool join_hulls(HullOverlap* overlaps, int count, int* set, int* pieces, NeckTree* necks) {
  if (count > 0) qsort(overlaps, (size_t)count, sizeof(HullOverlap), compare_radii);
  for (int k = 0; k<count&& * pieces> 1; k++) {
    if (disjoint_sets_find(set, overlaps[k].a) == disjoint_sets_find(set, overlaps[k].b)) continue;
    disjoint_sets_unite(set, overlaps[k].a, overlaps[k].b);
    necks->joined[necks->count++] = overlaps[k];
    --*pieces;
  }
  return *pieces == 1;
}

/* Returns the maximum spanning tree of a link. Hulls that overlaps do not connect are connected over their smallest
 * distances. */
static NeckTree find_neck_tree(const LossTerm* term, const Recording* recording) {
  int hulls = term->hull_count, pieces = hulls;
  NeckTree necks = {MEMORY_NEW(HullOverlap, hulls), 0};
  HullOverlap* overlaps = MEMORY_NEW(HullOverlap, hulls * (hulls - 1) / 2);
  int* set = MEMORY_NEW(int, hulls);
  disjoint_sets_init(set, hulls);
  for (int pass = 0; pass < 2; pass++) {
    int count = find_overlaps(term, recording, pass == 1, overlaps);
    if (join_hulls(overlaps, count, set, &pieces, &necks)) break;
  }
  if (pieces > 1) necks.count = 0;
  memory_free(set);
  memory_free(overlaps);
  return necks;
}

static int find_face(const FlatFaces* faces, const int* triangle) {
  for (int f = 0; f < faces->count; f++) {
    int found = 0;
    for (int k = faces->corner_first[f]; k < faces->corner_first[f + 1]; k++)
      for (int i = 0; i < 3; i++) found += faces->corners[k] == triangle[i];
    if (found == 3) return f;
  }
  return 0;
}

/* Adds factor times the derivatives with respect to the corners of a face, for the shift of its plane at the point
 * `center`. The plane is the least-squares fit to the corners' shifts. */
static void add_plane_seeds(const ConvexHull* solid, const int* triangle, Vec3 center, double factor, Vec3* gradient) {
  FlatFaces faces;
  flat_faces_create(&faces, solid);
  int f = find_face(&faces, triangle), n = faces.corner_first[f + 1] - faces.corner_first[f];
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

static void add_neck_seeds(const LossTerm* term, const Recording* recording, const HullOverlap* neck, double weight,
                           LossSeeds* seeds) {
  const int hull[2] = {neck->a, neck->b};
  const ConvexHull* solid[2] = {hull_solid(term, recording, neck->a), hull_solid(term, recording, neck->b)};
  Vec3 center;
  double radius;
  BallContact hold[BALL_CONTACTS_MAX];
  int count;
  if (!hulls_common_ball_contacts(solid[0], solid[1], &center, &radius, hold, &count)) return;
  for (int k = 0; k < count; k++) {
    int side = hold[k].hull;
    add_plane_seeds(solid[side], solid[side]->triangles[hold[k].triangle], center, -2 * weight * hold[k].share,
                    seeds->vertices + term->hulls[hull[side]].first_vertex);
  }
}

/* Adds the derivatives of all necks of equal width, divided by their number: in a chain of equal necks, widening a
 * single neck does not widen the narrowest. */
static void add_all_neck_seeds(const LossTerm* term, const Recording* recording, const NeckTree* necks,
                               LossSeeds* seeds) {
  double narrowest = necks->joined[necks->count - 1].radius;
  int first = necks->count - 1;
  while (first > 0 && necks->joined[first - 1].radius <= narrowest + RADIUS_TOLERANCE * fabs(narrowest)) first--;
  for (int k = first; k < necks->count; k++)
    add_neck_seeds(term, recording, &necks->joined[k], term->weight / (necks->count - first), seeds);
}

double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  NeckTree necks = find_neck_tree(term, recording);
  double radius = NAN;
  if (necks.count > 0) radius = necks.joined[necks.count - 1].radius;
  if (seeds && isfinite(radius)) add_all_neck_seeds(term, recording, &necks, seeds);
  memory_free(necks.joined);
  return term->weight * (term->margin - 2 * radius);
}
