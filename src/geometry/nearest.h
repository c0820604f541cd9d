/* Private to geometry/: the point of a vertex, edge, triangle or tetrahedron nearest to the origin. Inline, because GJK
 * calls the functions in every iteration. Hulls of very different size produce thin triangles and tetrahedra. The
 * functions use the shortest edges, face normals and iterative refinement, so that the error of the point stays near
 * the error of the corners. */
#ifndef SDRS_GEOMETRY_NEAREST_H
#define SDRS_GEOMETRY_NEAREST_H

#include "geometry/geometry.h"

/* Lengths below these fractions of the largest coordinate count as rounding errors. A corner has an error of about 3
 * ulp, and the height of a point over a face two or three times as much. The argument `scale` of the functions below is
 * the square of the largest coordinate [m^2]. */
#define GAP_TOLERANCE 1e-15  /* distances that differ by less than this fraction count as equal */
#define ZERO_TOLERANCE 4e-15 /* points nearer to the origin count as the origin, thinner tetrahedra as flat */
/* Three corners count as collinear if the sine of their angle is below this value, because their normal would consist
 * of rounding errors. */
#define COLLINEAR_SINE 1e-14
/* Largest number of refinement steps. Each step adds correct digits, about 3 for the thinnest tetrahedron that does not
 * count as flat. */
#define REFINEMENT_LIMIT 4

/* Point of a simplex nearest to the origin. The point lies on the vertex, edge, triangle or tetrahedron of `count`
 * corners. */
typedef struct {
  Vec3 point;
  double square;        /* |point|^2 [m^2] */
  int count, corner[4]; /* number and indices of the corners */
  double weight[4];     /* the point is the sum of weight[k] times corner number corner[k] */
} NearestPoint;

/* Returns the larger of two numbers. Unlike fmax, this function does not handle NaN and is inlined. */
static inline double larger(double a, double b) { return a > b ? a : b; }

/* Returns corner i of a simplex as the point nearest to the origin. p: corners of the simplex [m], here and below. */
static inline NearestPoint nearest_vertex(const Vec3* p, int i) {
  return (NearestPoint){p[i], vec3_dot(p[i], p[i]), 1, {i}, {1.0}};
}

/* Returns the point nearest to the origin on the edge from corner i to corner j. Returns corner i if the edge has no
 * length. */
static inline NearestPoint nearest_on_edge(const Vec3* p, int i, int j) {
  Vec3 edge = vec3_sub(p[j], p[i]);
  double square = vec3_dot(edge, edge), along = -vec3_dot(p[i], edge);
  if (!(along > 0)) return nearest_vertex(p, i);
  if (!(along < square)) return nearest_vertex(p, j);
  double weight = along / square;
  /* The point is computed from the nearer end, because smaller coordinates have smaller rounding errors. Rounding
   * leaves a component along the edge. The component is removed because it would tilt the normal of hulls that nearly
   * touch. */
  Vec3 point = weight < 0.5 ? vec3_add_scaled(p[i], weight, edge) : vec3_add_scaled(p[j], weight - 1.0, edge);
  point = vec3_add_scaled(point, -vec3_dot(point, edge) / square, edge);
  return (NearestPoint){point, vec3_dot(point, point), 2, {i, j}, {1.0 - weight, weight}};
}

/* Replaces *best by `other` if that point is nearer to the origin. */
static inline void keep_nearer(NearestPoint* best, NearestPoint other) {
  if (other.square < best->square) *best = other;
}

/* ---------------------------------------------------------------- triangle */

/* A triangle whose corner 0 lies opposite its longest edge. The cross product of the two shorter edges, u and w, has
 * the smallest rounding error. */
typedef struct {
  int corner[3];
  Vec3 point[3];
  Vec3 u, w; /* edges from corner 0 to corner 1 (u) and to corner 2 (w) */
  Vec3 normal;
  double square; /* squared length of the normal */
  bool collinear;
} Triangle;

/* Returns the triangle of corners i, j, k, given in any order. If `collinear` is true, the normal is meaningless. */
static inline Triangle triangle(const Vec3* p, int i, int j, int k) {
  Vec3 ij = vec3_sub(p[j], p[i]), jk = vec3_sub(p[k], p[j]), ki = vec3_sub(p[i], p[k]);
  double ij2 = vec3_dot(ij, ij), jk2 = vec3_dot(jk, jk), ki2 = vec3_dot(ki, ki), sides;
  Triangle t;
  if (jk2 >= ij2 && jk2 >= ki2) {
    t = (Triangle){.corner = {i, j, k}, .point = {p[i], p[j], p[k]}, .u = ij, .w = vec3_scale(ki, -1.0)};
    sides = ij2 * ki2;
  } else if (ki2 >= ij2) {
    t = (Triangle){.corner = {j, k, i}, .point = {p[j], p[k], p[i]}, .u = jk, .w = vec3_scale(ij, -1.0)};
    sides = jk2 * ij2;
  } else {
    t = (Triangle){.corner = {k, i, j}, .point = {p[k], p[i], p[j]}, .u = ki, .w = vec3_scale(jk, -1.0)};
    sides = ki2 * jk2;
  }
  t.normal = vec3_cross(t.u, t.w);
  t.square = vec3_dot(t.normal, t.normal);
  t.collinear = !(t.square > COLLINEAR_SINE * COLLINEAR_SINE * sides);
  return t;
}

/* Updates barycentric coordinates from a point of the triangle's plane to the foot of the perpendicular from the
 * origin. part: barycentric coordinates times |normal|^2, on entry of `point`, on return of the foot. */
static inline void add_parts(const Triangle* t, Vec3 point, double part[3]) {
  Vec3 turn = vec3_cross(point, t->normal);
  double u = vec3_dot(turn, t->w), w = -vec3_dot(turn, t->u);
  part[1] += u;
  part[2] += w;
  part[0] -= u + w;
}

/* Returns the foot of the perpendicular from the origin to the plane of a triangle that is not collinear. part:
 * barycentric coordinates of the foot times |normal|^2. */
static inline Vec3 foot_by_parts(const Triangle* t, const double part[3]) {
  Vec3 along_u = vec3_scale(t->u, part[1] / t->square);
  return vec3_add(t->point[0], vec3_add_scaled(along_u, part[2] / t->square, t->w));
}

/* Returns the foot of the perpendicular from the origin to the triangle's plane as the nearest point. part: barycentric
 * coordinates of the foot times |normal|^2. The foot is computed along the normal from the nearest corner, which is
 * more accurate than a combination of corners. */
static inline NearestPoint nearest_in_plane(const Triangle* t, const double part[3]) {
  int near = part[1] > part[0] ? 1 : 0;
  near = part[2] > part[near] ? 2 : near;
  Vec3 point = vec3_scale(t->normal, vec3_dot(t->normal, t->point[near]) / t->square);
  return (NearestPoint){point,
                        vec3_dot(point, point),
                        3,
                        {t->corner[0], t->corner[1], t->corner[2]},
                        {part[0] / t->square, part[1] / t->square, part[2] / t->square}};
}

/* Returns the point nearest to the origin on the triangle with the corners i, j, k among the points p (4). A collinear
 * triangle is replaced by its three edges. */
static inline NearestPoint nearest_on_triangle(const Vec3* p, int i, int j, int k) {
  Triangle t = triangle(p, i, j, k);
  double part[3] = {t.square, 0, 0};
  add_parts(&t, t.point[0], part);
  bool inside = !t.collinear && part[0] > 0 && part[1] > 0 && part[2] > 0;
  if (inside) {
    add_parts(&t, foot_by_parts(&t, part),
              part); /* refines the barycentric coordinates, which are inexact for thin triangles */
    inside = part[0] > 0 && part[1] > 0 && part[2] > 0;
  }
  if (inside) return nearest_in_plane(&t, part);
  /* The origin projects outside the triangle: the nearest point is on an edge beyond which the projection lies. */
  NearestPoint best = {.square = HUGE_VAL};
  const int* corner = t.corner;
  if (t.collinear || !(part[0] > 0)) best = nearest_on_edge(p, corner[1], corner[2]);
  if (t.collinear || !(part[1] > 0)) keep_nearer(&best, nearest_on_edge(p, corner[0], corner[2]));
  if (t.collinear || !(part[2] > 0)) keep_nearer(&best, nearest_on_edge(p, corner[0], corner[1]));
  return best;
}

/* ---------------------------------------------------------------- tetrahedron */

/* A tetrahedron with corners p. Barycentric coordinate i of a point x is (x - p[0]) . normal[i] / volume, for i = 1,
 * 2, 3.
 */
typedef struct {
  Vec3 normal[4]; /* normals of the faces opposite the corners; normal 0 is the sum of the other normals */
  double volume;  /* six times the signed volume */
  bool flat;      /* true if the volume is zero to within rounding */
} Tetrahedron;

/* Returns the tetrahedron of p[0] ... p[3]. scale [m^2]: square of the largest coordinate. */
static inline Tetrahedron tetrahedron(const Vec3* p, double scale) {
  Vec3 e1 = vec3_sub(p[1], p[0]), e2 = vec3_sub(p[2], p[0]), e3 = vec3_sub(p[3], p[0]);
  Vec3 n1 = vec3_cross(e2, e3), n2 = vec3_cross(e3, e1), n3 = vec3_cross(e1, e2);
  Vec3 n0 = vec3_add(n1, vec3_add(n2, n3));
  double volume = vec3_dot(e1, n1);
  double face = larger(larger(vec3_dot(n0, n0), vec3_dot(n1, n1)), larger(vec3_dot(n2, n2), vec3_dot(n3, n3)));
  return (Tetrahedron){{n0, n1, n2, n3}, volume, !(volume * volume > ZERO_TOLERANCE * ZERO_TOLERANCE * scale * face)};
}

/* Returns the combination of the four corners p (4) with the weights part[i]. */
static inline Vec3 combination(const Vec3* p, const double part[4]) {
  Vec3 sum = vec3_scale(p[0], part[0]);
  for (int i = 1; i < 4; i++) sum = vec3_add_scaled(sum, part[i], p[i]);
  return sum;
}

/* Updates the barycentric coordinates `part` of a point by the displacement from `from` to the origin. */
static inline void add_barycentric(const Tetrahedron* solid, Vec3 from, double part[4]) {
  double inverse = 1.0 / solid->volume, sum = 0;
  for (int i = 1; i < 4; i++) {
    double step = -vec3_dot(from, solid->normal[i]) * inverse;
    part[i] += step;
    sum += step;
  }
  part[0] -= sum;
}

/* Returns the origin as a combination of the four corners p (4), with weights of sum 1. For a thin tetrahedron the
 * first solution consists mostly of rounding errors, which iterative refinement reduces. */
static inline NearestPoint origin_by_corners(const Vec3* p, const Tetrahedron* solid, double scale) {
  double part[4] = {1, 0, 0, 0};
  Vec3 rest = p[0];
  NearestPoint origin = {.count = 4, .corner = {0, 1, 2, 3}};
  for (int step = 0; step < REFINEMENT_LIMIT; step++) {
    add_barycentric(solid, rest, part);
    rest = combination(p, part);
    origin.square = vec3_dot(rest, rest);
    if (origin.square <= ZERO_TOLERANCE * ZERO_TOLERANCE * scale) break;
  }
  origin.point = rest;
  for (int i = 0; i < 4; i++) origin.weight[i] = part[i];
  return origin;
}

/* Returns true if all four numbers are positive. */
static inline bool all_positive(const double part[4]) {
  return part[0] > 0 && part[1] > 0 && part[2] > 0 && part[3] > 0;
}

/* Returns the smallest height of the four corners p (4) along the direction from the origin to nearest->point. */
static inline double height_behind(const Vec3* p, const NearestPoint* nearest) {
  double height = vec3_dot(nearest->point, p[0]);
  for (int i = 1; i < 4; i++) height = -larger(-height, -vec3_dot(nearest->point, p[i]));
  return height / sqrt(nearest->square);
}

/* Replaces *best by `other`, a point of another face, if that face is nearer to the origin. If both are equally near to
 * within rounding, keeps the point with the larger height_behind. No corner of p (4) then lies between the plane of the
 * face and the origin. */
static inline void keep_better_face(const Vec3* p, NearestPoint* best, NearestPoint other, double scale) {
  double difference = other.square - best->square;
  bool tie = difference * difference <= 4 * GAP_TOLERANCE * GAP_TOLERANCE * scale * best->square;
  if (best->count > 0 && tie ? height_behind(p, &other) > height_behind(p, best) : other.square < best->square)
    *best = other;
}

/* Returns the point of the tetrahedron p[0] ... p[3] nearest to the origin. The result has four corners if the origin
 * is inside to within ZERO_TOLERANCE. A flat tetrahedron is replaced by its faces. */
static inline NearestPoint nearest_on_tetrahedron(const Vec3* p, double scale) {
  static const int face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  Tetrahedron solid = tetrahedron(p, scale);
  NearestPoint origin = {.count = 0};
  bool all = solid.flat;
  if (!all) {
    origin = origin_by_corners(p, &solid, scale);
    bool inside = all_positive(origin.weight);
    if (inside && origin.square <= ZERO_TOLERANCE * ZERO_TOLERANCE * scale) return origin;
    all = inside; /* all faces are examined, because rounding prevents a proof that the origin is inside */
  }
  /* The origin is outside: the nearest point is on a face whose outer side faces the origin. */
  NearestPoint best = {.square = HUGE_VAL};
  for (int i = 0; i < 4; i++)
    if (all || !(origin.weight[i] > 0))
      keep_better_face(p, &best, nearest_on_triangle(p, face[i][0], face[i][1], face[i][2]), scale);
  return best;
}

/* Returns the point of the simplex p[count], with 1 to 4 corners, nearest to the origin. */
static inline NearestPoint nearest_on_simplex(const Vec3* p, int count, double scale) {
  if (count == 1) return nearest_vertex(p, 0);
  if (count == 2) return nearest_on_edge(p, 0, 1);
  if (count == 3) return nearest_on_triangle(p, 0, 1, 2);
  return nearest_on_tetrahedron(p, scale);
}

#endif
