/* Gilbert-Johnson-Keerthi algorithm (GJK): finds the distance of two hulls A and B. C = A - B is the set of all
 * differences of their points, the Minkowski difference. The algorithm finds the point v of C nearest to the origin, by
 * simplices of vertices of C, in the frame of A. The hulls are separated if all vertices of C lie beyond the plane
 * through v (duality gap). The hulls intersect if the origin is a convex combination of four vertices. The distance is
 * exact up to rounding. */
#include <assert.h>
#include "geometry/nearest.h"
#include "geometry/support.h"

/* Cold starts need 4 to 20 iterations. Hulls with many thousand vertices on a sphere need more. */
#define ITERATION_LIMIT 256
/* Largest number of iterations that improve only the normal; one or two are usually enough. */
#define STALL_LIMIT 8

typedef struct {
  PointView a, b;
  Mat3 r; /* rotation and position of B in the frame of A */
  Vec3 t;
  double scale; /* square of the largest coordinate of the vertices of C found so far [m^2] */
} GjkPair;

/* Up to four vertices of the Minkowski difference C = A - B, and the point of their convex hull nearest to the origin.
 */
typedef struct {
  Vec3 vertex[4];
  int a[4], b[4]; /* vertex indices in the hulls */
  double weight[4];
  int count;
  Vec3 nearest;
  double square; /* |nearest|^2 */
} Simplex;

/* Reduces the simplex to the vertices that span the point nearest to the origin. */
static inline void simplex_reduce(Simplex* simplex, double scale) {
  NearestPoint nearest = nearest_on_simplex(simplex->vertex, simplex->count, scale);
  Simplex whole = *simplex;
  simplex->count = nearest.count;
  simplex->nearest = nearest.point;
  simplex->square = nearest.square;
  for (int i = 0; i < nearest.count; i++) {
    int corner = nearest.corner[i];
    simplex->vertex[i] = whole.vertex[corner];
    simplex->a[i] = whole.a[corner];
    simplex->b[i] = whole.b[corner];
    simplex->weight[i] = nearest.weight[i];
  }
}

static inline Vec3 view_vertex(const PointView* view, int i) { return vec3(view->x[i], view->y[i], view->z[i]); }

static inline void simplex_append(Simplex* simplex, GjkPair* pair, int a, int b) {
  Vec3 point_a = view_vertex(&pair->a, a);
  Vec3 point_b = vec3_add(mat3_mul_vec(pair->r, view_vertex(&pair->b, b)), pair->t);
  pair->scale = larger(pair->scale, larger(vec3_dot(point_a, point_a), vec3_dot(point_b, point_b)));
  int i = simplex->count++;
  simplex->vertex[i] = vec3_sub(point_a, point_b);
  simplex->a[i] = a;
  simplex->b[i] = b;
}

static inline void simplex_append_support(Simplex* simplex, GjkPair* pair, Vec3 direction) {
  double height;
  int a = support_vertex(&pair->a, vec3_scale(direction, -1.0), &height);
  int b = support_vertex(&pair->b, mat3_tmul_vec(pair->r, direction), &height);
  simplex_append(simplex, pair, a, b);
}

static inline bool simplex_contains_last(const Simplex* simplex) {
  int last = simplex->count - 1;
  for (int i = 0; i < last; i++)
    if (simplex->a[i] == simplex->a[last] && simplex->b[i] == simplex->b[last]) return true;
  return false;
}

static bool cache_is_valid(const GjkCache* cache, const GjkPair* pair) {
  if (cache->count < 1 || cache->count > 4) return false;
  for (int i = 0; i < cache->count; i++)
    if (cache->a[i] < 0 || cache->a[i] >= pair->a.count || cache->b[i] < 0 || cache->b[i] >= pair->b.count)
      return false;
  return true;
}

/* Returns the initial simplex: the last simplex at the current poses (warm start), or the support vertex along the line
 * between the frame origins. */
static Simplex simplex_start(GjkPair* pair, Pose pose_a, const GjkCache* cache) {
  Simplex simplex;
  simplex.count = 0;
  if (cache && cache_is_valid(cache, pair)) {
    for (int i = 0; i < cache->count; i++) simplex_append(&simplex, pair, cache->a[i], cache->b[i]);
  } else {
    Vec3 direction = vec3_scale(pair->t, -1.0);
    if (cache && vec3_dot(cache->direction, cache->direction) > 0)
      direction = mat3_tmul_vec(pose_a.r, cache->direction);
    simplex_append_support(&simplex, pair, direction);
  }
  simplex_reduce(&simplex, pair->scale);
  return simplex;
}

static inline bool simplex_contains_origin(const Simplex* simplex, const GjkPair* pair) {
  return simplex->count == 4 || !(simplex->square > ZERO_TOLERANCE * ZERO_TOLERANCE * pair->scale);
}

/* Returns true if |v| is proved to be the hulls' distance up to rounding, with v the nearest point of the simplex.
 * support: vertex w of the Minkowski difference farthest along -v. v . v - v . w is an upper bound of |v| times the
 * remaining decrease of |v|. */
static inline bool distance_is_proven(const Simplex* simplex, Vec3 support, const GjkPair* pair) {
  double gap = simplex->square - vec3_dot(simplex->nearest, support);
  return !(gap > 0) || gap * gap <= GAP_TOLERANCE * GAP_TOLERANCE * pair->scale * simplex->square;
}

/* Returns true if the nearest point of `next` is not farther from the origin than the nearest point of `simplex`, up to
 * rounding. */
static inline bool is_not_farther(const Simplex* next, const Simplex* simplex, const GjkPair* pair) {
  double more = next->square - simplex->square;
  return !(more > 0) || more * more <= 4 * ZERO_TOLERANCE * ZERO_TOLERANCE * pair->scale * simplex->square;
}

/* Let v be the point of the simplex nearest to the origin. Iterates until the simplex contains the origin, or until |v|
 * is proved to be the hulls' distance. The direction of v may still change when rounding leaves |v| unchanged. Up to
 * STALL_LIMIT further iterations then follow, and the simplex with the largest proved distance is used. Returns the
 * number of support evaluations. */
static int simplex_search(Simplex* simplex, GjkPair* pair) {
  Simplex best = *simplex;
  double proven = -HUGE_VAL;
  int stalls = 0, iteration = 0;
  while (iteration < ITERATION_LIMIT && !simplex_contains_origin(simplex, pair)) {
    Simplex next = *simplex;
    simplex_append_support(&next, pair, simplex->nearest);
    iteration++;
    Vec3 support = next.vertex[next.count - 1];
    if (distance_is_proven(simplex, support, pair)) return iteration;
    double height = vec3_dot(simplex->nearest, support) / sqrt(simplex->square);
    if (stalls == 0 || height > proven) {
      best = *simplex;
      proven = height;
    }
    if (simplex_contains_last(&next)) break;
    simplex_reduce(&next, pair->scale);
    if (next.square < simplex->square)
      stalls = 0;
    else if (++stalls > STALL_LIMIT || !is_not_farther(&next, simplex, pair))
      break;
    *simplex = next;
  }
  if (!simplex_contains_origin(simplex, pair)) *simplex = best;
  return iteration;
}

static Vec3 witness(const Simplex* simplex, const PointView* view, const int* index, Pose pose) {
  Vec3 local = {0, 0, 0};
  for (int i = 0; i < simplex->count; i++)
    local = vec3_add_scaled(local, simplex->weight[i], view_vertex(view, index[i]));
  return pose_apply(pose, local);
}

static void cache_store(GjkCache* cache, const Simplex* simplex, Vec3 direction) {
  cache->count = simplex->count;
  for (int i = 0; i < simplex->count; i++) {
    cache->a[i] = simplex->a[i];
    cache->b[i] = simplex->b[i];
  }
  cache->direction = direction;
}

GjkResult gjk_distance(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache) {
  assert(a.count > 0 && b.count > 0);
  Mat3 inverse = mat3_transpose(pose_a.r);
  GjkPair pair = {a, b, mat3_mul(inverse, pose_b.r), mat3_mul_vec(inverse, vec3_sub(pose_b.t, pose_a.t)), 0};
  pair.scale = vec3_dot(pair.t, pair.t);
  Simplex simplex = simplex_start(&pair, pose_a, cache);
  GjkResult result = {0};
  result.iterations = simplex_search(&simplex, &pair);
  result.witness_a = witness(&simplex, &a, simplex.a, pose_a);
  result.witness_b = witness(&simplex, &b, simplex.b, pose_b);
  Vec3 direction = {0, 0, 0};
  if (!simplex_contains_origin(&simplex, &pair)) {
    direction = mat3_mul_vec(pose_a.r, simplex.nearest);
    result.distance = sqrt(simplex.square);
    result.normal = vec3_scale(direction, -1.0 / result.distance);
  }
  if (cache) cache_store(cache, &simplex, direction);
  return result;
}

double gjk_point_distance(PointView points, Vec3 point) {
  assert(points.count > 0);
  _Alignas(64) double coordinates[3][8];
  for (int i = 0; i < 8; i++) {
    coordinates[0][i] = point.x;
    coordinates[1][i] = point.y;
    coordinates[2][i] = point.z;
  }
  PointView single = {coordinates[0], coordinates[1], coordinates[2], 1, 8};
  return gjk_distance(single, pose_identity(), points, pose_identity(), NULL).distance;
}
