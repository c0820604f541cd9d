/* Gilbert, Johnson, Keerthi: the point v of C = A - B (Minkowski difference) nearest to the origin, by simplices of
 * vertices of C. Everything happens in the frame of A, so that a vertex of A costs nothing and one of B one rotation.
 *
 * Both answers carry their proof: "apart" ends when the plane through v leaves no vertex of C behind it (duality gap),
 * "meet" when the origin is a convex combination of four vertices. What neither proof reaches is rounding. */
#include "geometry/support.h"

/* Lengths below these fractions of the largest coordinate are rounding: a vertex of C carries an error of about 3 ulp,
 * a height over a face two or three times that. */
#define GAP_TOLERANCE 1e-15  /* v counts as nearest when no vertex of C is nearer along v by more */
#define ZERO_TOLERANCE 4e-15 /* hulls this near meet; a tetrahedron this flat is treated by its faces */
/* Sine of the angle below which three vertices count as collinear: the normal would be rounding only. */
#define COLLINEAR_SINE 1e-14
/* Cold starts need 4 to 20 iterations; the cap is for hulls of many thousand vertices on a sphere. */
#define ITERATION_LIMIT 256
/* Steps that only improve the normal; one or two are enough. */
#define STALL_LIMIT 8

typedef struct {
  PointView a, b;
  Mat3 r; /* B's frame as seen from A */
  Vec3 t;
  double scale; /* square of the largest coordinate met */
} Pair;

/* Up to four vertices of C and the point of their convex hull nearest to the origin. */
typedef struct {
  Vec3 vertex[4];
  int a[4], b[4]; /* indices in the hulls */
  double weight[4];
  int count;
  Vec3 nearest;
  double square; /* |nearest|^2 */
} Simplex;

/* The part of a simplex that carries the nearest point. */
typedef struct {
  Vec3 point;
  double square;
  int count, corner[4];
  double weight[4];
} Nearest;

/* fmax is a function call: it must care for operands that are not numbers. */
static inline double larger(double a, double b) { return a > b ? a : b; }

/* ---------------------------------------------------------------- nearest point of a simplex */

static inline Nearest nearest_vertex(const Vec3* p, int i) {
  return (Nearest){p[i], vec3_dot(p[i], p[i]), 1, {i}, {1.0}};
}

static inline Nearest nearest_on_edge(const Vec3* p, int i, int j) {
  Vec3 edge = vec3_sub(p[j], p[i]);
  double square = vec3_dot(edge, edge), along = -vec3_dot(p[i], edge);
  if (!(along > 0)) return nearest_vertex(p, i);
  if (!(along < square)) return nearest_vertex(p, j);
  double weight = along / square;
  /* From the nearer end: its coordinates are smaller, and so is their rounding. What is left of it along the edge would
   * tilt the normal of hulls that nearly touch. */
  Vec3 point = weight < 0.5 ? vec3_add_scaled(p[i], weight, edge) : vec3_add_scaled(p[j], weight - 1.0, edge);
  point = vec3_add_scaled(point, -vec3_dot(point, edge) / square, edge);
  return (Nearest){point, vec3_dot(point, point), 2, {i, j}, {1.0 - weight, weight}};
}

static inline void keep_nearer(Nearest* best, Nearest other) {
  if (other.square < best->square) *best = other;
}

/* A triangle with corner 0 opposite to its longest edge: of the three edges, the two used are the short ones, whose
 * cross product keeps the most digits. */
typedef struct {
  int corner[3];
  Vec3 point[3];
  Vec3 u, w; /* edges from corner 0 to 1 and 2 */
  Vec3 normal;
  double square; /* |normal|^2 */
  bool collinear;
} Triangle;

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

/* Barycentric coordinates of the foot of the origin, times |normal|^2; point is some point of the plane that stands for
 * corner 0 and has the coordinates `part` so far. */
static inline void add_parts(const Triangle* t, Vec3 point, double part[3]) {
  Vec3 turn = vec3_cross(point, t->normal);
  double u = vec3_dot(turn, t->w), w = -vec3_dot(turn, t->u);
  part[1] += u;
  part[2] += w;
  part[0] -= u + w;
}

static inline Vec3 foot_by_parts(const Triangle* t, const double part[3]) {
  Vec3 along_u = vec3_scale(t->u, part[1] / t->square);
  return vec3_add(t->point[0], vec3_add_scaled(along_u, part[2] / t->square, t->w));
}

/* Along the normal, which keeps the digits that a sum of corners would lose, and from the nearest corner. */
static inline Nearest nearest_in_plane(const Triangle* t, const double part[3]) {
  int near = part[1] > part[0] ? 1 : 0;
  near = part[2] > part[near] ? 2 : near;
  Vec3 point = vec3_scale(t->normal, vec3_dot(t->normal, t->point[near]) / t->square);
  return (Nearest){point,
                   vec3_dot(point, point),
                   3,
                   {t->corner[0], t->corner[1], t->corner[2]},
                   {part[0] / t->square, part[1] / t->square, part[2] / t->square}};
}

static Nearest nearest_on_triangle(const Vec3* p, int i, int j, int k) {
  Triangle t = triangle(p, i, j, k);
  double part[3] = {t.square, 0, 0};
  add_parts(&t, t.point[0], part);
  bool inside = !t.collinear && part[0] > 0 && part[1] > 0 && part[2] > 0;
  if (inside) {
    add_parts(&t, foot_by_parts(&t, part), part); /* a thin triangle's parts come with rounding: refine */
    inside = part[0] > 0 && part[1] > 0 && part[2] > 0;
  }
  if (inside) return nearest_in_plane(&t, part);
  /* Outside: the nearest point is on an edge that the foot lies beyond. */
  Nearest best = {.square = HUGE_VAL};
  const int* corner = t.corner;
  if (t.collinear || !(part[0] > 0)) best = nearest_on_edge(p, corner[1], corner[2]);
  if (t.collinear || !(part[1] > 0)) keep_nearer(&best, nearest_on_edge(p, corner[0], corner[2]));
  if (t.collinear || !(part[2] > 0)) keep_nearer(&best, nearest_on_edge(p, corner[0], corner[1]));
  return best;
}

/* Barycentric coordinates of a point x: part i is (x - p0) . normal i / volume, for i = 1, 2, 3. */
typedef struct {
  Vec3 normal[4]; /* of the faces opposite to the corners; normal 0 points the other way and is the sum of the others */
  double volume;  /* six times, signed */
  bool flat;      /* no inside above rounding */
} Tetrahedron;

static inline Tetrahedron tetrahedron(const Vec3* p, double scale) {
  Vec3 e1 = vec3_sub(p[1], p[0]), e2 = vec3_sub(p[2], p[0]), e3 = vec3_sub(p[3], p[0]);
  Vec3 n1 = vec3_cross(e2, e3), n2 = vec3_cross(e3, e1), n3 = vec3_cross(e1, e2);
  Vec3 n0 = vec3_add(n1, vec3_add(n2, n3));
  double volume = vec3_dot(e1, n1);
  double face = larger(larger(vec3_dot(n0, n0), vec3_dot(n1, n1)), larger(vec3_dot(n2, n2), vec3_dot(n3, n3)));
  return (Tetrahedron){{n0, n1, n2, n3}, volume, !(volume * volume > ZERO_TOLERANCE * ZERO_TOLERANCE * scale * face)};
}

static inline bool all_positive(const double part[4]) {
  return part[0] > 0 && part[1] > 0 && part[2] > 0 && part[3] > 0;
}

static inline Vec3 combination(const Vec3* p, const double part[4]) {
  Vec3 sum = vec3_scale(p[0], part[0]);
  for (int i = 1; i < 4; i++) sum = vec3_add_scaled(sum, part[i], p[i]);
  return sum;
}

/* The origin as a convex combination of the four corners. The parts of a thin tetrahedron come with rounding, which one
 * step of refinement removes; what is left over proves or disproves that the origin is inside. */
static bool holds_origin(const Vec3* p, const Tetrahedron* solid, double part[4], double scale, Nearest* inside) {
  Vec3 rest = combination(p, part);
  part[0] += vec3_dot(rest, solid->normal[0]) / solid->volume;
  for (int i = 1; i < 4; i++) part[i] -= vec3_dot(rest, solid->normal[i]) / solid->volume;
  double sum = part[0] + part[1] + part[2] + part[3]; /* 1, but for rounding that the refinement cannot see */
  for (int i = 0; i < 4; i++) part[i] /= sum;
  rest = combination(p, part);
  double square = vec3_dot(rest, rest);
  *inside = (Nearest){rest, square, 4, {0, 1, 2, 3}, {part[0], part[1], part[2], part[3]}};
  return all_positive(part) && square <= ZERO_TOLERANCE * ZERO_TOLERANCE * scale;
}

/* Distance of the plane through the point, across to it, that all four corners are known to lie behind. */
static inline double height_behind(const Vec3* p, const Nearest* nearest) {
  double height = vec3_dot(nearest->point, p[0]);
  for (int i = 1; i < 4; i++) height = -larger(-height, -vec3_dot(nearest->point, p[i]));
  return height / sqrt(nearest->square);
}

/* Of two faces equally near up to rounding, the one that leaves no corner before it is right. */
static void keep_better_face(const Vec3* p, Nearest* best, Nearest other, double scale) {
  double difference = other.square - best->square;
  bool tie = difference * difference <= 4 * GAP_TOLERANCE * GAP_TOLERANCE * scale * best->square;
  if (best->count > 0 && tie ? height_behind(p, &other) > height_behind(p, best) : other.square < best->square)
    *best = other;
}

static Nearest nearest_on_tetrahedron(const Vec3* p, double scale) {
  static const int face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  Tetrahedron solid = tetrahedron(p, scale);
  double part[4] = {vec3_dot(p[1], solid.normal[0]) / solid.volume};
  for (int i = 1; i < 4; i++) part[i] = -vec3_dot(p[0], solid.normal[i]) / solid.volume;
  Nearest best;
  bool all = solid.flat;
  if (!all && all_positive(part)) {
    if (holds_origin(p, &solid, part, scale, &best)) return best;
    all = true;
  }
  /* Outside: the nearest point is on a face that the origin sees. */
  best = (Nearest){.square = HUGE_VAL};
  for (int i = 0; i < 4; i++)
    if (all || !(part[i] > 0))
      keep_better_face(p, &best, nearest_on_triangle(p, face[i][0], face[i][1], face[i][2]), scale);
  return best;
}

/* Shrink the simplex to the part that carries its nearest point. */
static inline void simplex_reduce(Simplex* simplex, double scale) {
  const Vec3* p = simplex->vertex;
  Nearest nearest;
  switch (simplex->count) {
    case 1: nearest = nearest_vertex(p, 0); break;
    case 2: nearest = nearest_on_edge(p, 0, 1); break;
    case 3: nearest = nearest_on_triangle(p, 0, 1, 2); break;
    default: nearest = nearest_on_tetrahedron(p, scale); break;
  }
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

/* ---------------------------------------------------------------- vertices of A - B */

static inline Vec3 view_vertex(const PointView* view, int i) { return vec3(view->x[i], view->y[i], view->z[i]); }

/* Append vertex (a, b) of A - B. */
static inline void simplex_append(Simplex* simplex, Pair* pair, int a, int b) {
  Vec3 point_a = view_vertex(&pair->a, a);
  Vec3 point_b = vec3_add(mat3_mul_vec(pair->r, view_vertex(&pair->b, b)), pair->t);
  pair->scale = larger(pair->scale, larger(vec3_dot(point_a, point_a), vec3_dot(point_b, point_b)));
  int i = simplex->count++;
  simplex->vertex[i] = vec3_sub(point_a, point_b);
  simplex->a[i] = a;
  simplex->b[i] = b;
}

/* Append the vertex of A - B that lies farthest against a direction. */
static inline void simplex_append_support(Simplex* simplex, Pair* pair, Vec3 direction) {
  double height;
  int a = support_vertex(&pair->a, vec3_scale(direction, -1.0), &height);
  int b = support_vertex(&pair->b, mat3_tmul_vec(pair->r, direction), &height);
  simplex_append(simplex, pair, a, b);
}

static inline bool simplex_repeats_last(const Simplex* simplex) {
  int last = simplex->count - 1;
  for (int i = 0; i < last; i++)
    if (simplex->a[i] == simplex->a[last] && simplex->b[i] == simplex->b[last]) return true;
  return false;
}

/* ---------------------------------------------------------------- the search */

static bool cache_fits(const GjkCache* cache, const Pair* pair) {
  if (cache->count < 1 || cache->count > 4) return false;
  for (int i = 0; i < cache->count; i++)
    if (cache->a[i] < 0 || cache->a[i] >= pair->a.count || cache->b[i] < 0 || cache->b[i] >= pair->b.count)
      return false;
  return true;
}

/* Warm: the last simplex where it is now. Cold: one vertex, seen from between the frames' origins. */
static Simplex simplex_start(Pair* pair, Pose pose_a, const GjkCache* cache) {
  Simplex simplex;
  simplex.count = 0;
  if (cache && cache_fits(cache, pair)) {
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

static inline bool simplex_holds_origin(const Simplex* simplex, const Pair* pair) {
  return simplex->count == 4 || !(simplex->square > ZERO_TOLERANCE * ZERO_TOLERANCE * pair->scale);
}

/* Is |v| the distance, up to rounding? v . v - v . w is what |v| may come down by, times |v|. */
static inline bool is_proven(const Simplex* simplex, Vec3 support, const Pair* pair) {
  double gap = simplex->square - vec3_dot(simplex->nearest, support);
  return !(gap > 0) || gap * gap <= GAP_TOLERANCE * GAP_TOLERANCE * pair->scale * simplex->square;
}

/* Is next no farther than simplex, up to rounding? */
static inline bool is_as_near(const Simplex* next, const Simplex* simplex, const Pair* pair) {
  double more = next->square - simplex->square;
  return !(more > 0) || more * more <= 4 * ZERO_TOLERANCE * ZERO_TOLERANCE * pair->scale * simplex->square;
}

/* Until the origin is inside or |v| is proven to be the distance. Where |v| no longer decreases its direction may still
 * improve: a few such steps are made while the proven distance grows. Returns the number of support vertices that were
 * asked for. */
static int simplex_search(Simplex* simplex, Pair* pair) {
  Simplex before = *simplex;
  double proven = -HUGE_VAL;
  bool stalled = false;
  for (int iteration = 1, stalls = 0; iteration <= ITERATION_LIMIT; iteration++) {
    if (simplex_holds_origin(simplex, pair)) return iteration - 1;
    Simplex next = *simplex;
    simplex_append_support(&next, pair, simplex->nearest);
    Vec3 support = next.vertex[next.count - 1];
    double height = vec3_dot(simplex->nearest, support) / sqrt(simplex->square);
    if (stalled && !(height > proven)) {
      *simplex = before;
      return iteration;
    }
    if (is_proven(simplex, support, pair) || simplex_repeats_last(&next)) return iteration;
    simplex_reduce(&next, pair->scale);
    stalled = !(next.square < simplex->square);
    if (stalled && (++stalls > STALL_LIMIT || !is_as_near(&next, simplex, pair))) return iteration;
    proven = height;
    before = *simplex;
    *simplex = next;
  }
  return ITERATION_LIMIT;
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
  Mat3 inverse = mat3_transpose(pose_a.r);
  Pair pair = {a, b, mat3_mul(inverse, pose_b.r), mat3_mul_vec(inverse, vec3_sub(pose_b.t, pose_a.t)), 0};
  pair.scale = vec3_dot(pair.t, pair.t);
  Simplex simplex = simplex_start(&pair, pose_a, cache);
  GjkResult result = {0};
  result.iterations = simplex_search(&simplex, &pair);
  result.witness_a = witness(&simplex, &a, simplex.a, pose_a);
  result.witness_b = witness(&simplex, &b, simplex.b, pose_b);
  Vec3 direction = {0, 0, 0};
  if (!simplex_holds_origin(&simplex, &pair)) {
    direction = mat3_mul_vec(pose_a.r, simplex.nearest);
    result.distance = sqrt(simplex.square);
    result.normal = vec3_scale(direction, -1.0 / result.distance);
  }
  if (cache) cache_store(cache, &simplex, direction);
  return result;
}
