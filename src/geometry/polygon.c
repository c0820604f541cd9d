#include "geometry/geometry.h"

/* Corners of the polygon that are not cut off yet, as a doubly linked ring. */
typedef struct {
  const Vec3* points;
  const int* corners;
  Vec3 normal;
  int *next, *previous;
} PolygonRing;

static Vec3 corner_point(const PolygonRing* ring, int i) { return ring->points[ring->corners[i]]; }

/* Returns twice the signed area of the triangle a, b, c, times |normal|. */
static double signed_area(const PolygonRing* ring, Vec3 a, Vec3 b, Vec3 c) {
  return vec3_dot(ring->normal, vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
}

static double corner_area(const PolygonRing* ring, int i) {
  return signed_area(ring, corner_point(ring, ring->previous[i]), corner_point(ring, i),
                     corner_point(ring, ring->next[i]));
}

static bool same_place(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Returns true if corner i is an ear. An ear is a convex corner whose triangle with its neighbours contains no other
 * corner. */
static bool is_ear(const PolygonRing* ring, int i) {
  Vec3 a = corner_point(ring, ring->previous[i]), b = corner_point(ring, i), c = corner_point(ring, ring->next[i]);
  if (!(signed_area(ring, a, b, c) > 0)) return false;
  for (int j = ring->next[ring->next[i]]; j != ring->previous[i]; j = ring->next[j]) {
    Vec3 p = corner_point(ring, j);
    if (same_place(p, a) || same_place(p, b) || same_place(p, c)) continue;
    if (signed_area(ring, a, b, p) >= 0 && signed_area(ring, b, c, p) >= 0 && signed_area(ring, c, a, p) >= 0)
      return false;
  }
  return true;
}

/* Returns the first ear from `start` on. Returns the most convex corner if there is no ear, because of rounding or
 * self-intersection. */
static int find_ear(const PolygonRing* ring, int start) {
  int best = start, i = start;
  double most = -HUGE_VAL;
  do {
    if (is_ear(ring, i)) return i;
    double turn = corner_area(ring, i);
    if (turn > most) most = turn, best = i;
    i = ring->next[i];
  } while (i != start);
  return best;
}

static void set_triangle(const PolygonRing* ring, int i, int triangle[3]) {
  triangle[0] = ring->corners[ring->previous[i]];
  triangle[1] = ring->corners[i];
  triangle[2] = ring->corners[ring->next[i]];
}

static int clip_ears(PolygonRing* ring, int count, int (*triangles)[3]) {
  int at = 1 % count, made = 0;
  for (; count > 3; count--) {
    int ear = find_ear(ring, at), before = ring->previous[ear], after = ring->next[ear];
    set_triangle(ring, ear, triangles[made++]);
    ring->next[before] = after;
    ring->previous[after] = before;
    at = ring->next[after]; /* continues after the new triangle, so that a convex polygon does not become a fan from one
                               corner */
  }
  set_triangle(ring, at, triangles[made++]);
  return made;
}

int polygon_triangulate(const Vec3* points, const int* corners, int corner_count, Vec3 normal, int (*triangles)[3]) {
  if (corner_count < 3) return 0;
  int* links = MEMORY_NEW(int, 2 * (size_t)corner_count);
  PolygonRing ring = {points, corners, normal, links, links + corner_count};
  for (int i = 0; i < corner_count; i++) {
    ring.next[i] = i + 1 < corner_count ? i + 1 : 0;
    ring.previous[i] = i > 0 ? i - 1 : corner_count - 1;
  }
  int made = clip_ears(&ring, corner_count, triangles);
  memory_free(links);
  return made;
}
