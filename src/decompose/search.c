/* Searches for the best cutting plane of a piece. Evaluates every candidate plane on a coarse copy of the piece by the
 * volumes of the hulls on both sides. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decompose/blocks.h"

/* Number of evenly spaced cutting planes that are tried along each direction. */
#define OFFSETS 9
/* Number of refinements of the best cutting plane. Each refinement halves the step. */
#define REFINEMENTS 3
/* Largest number of tried face planes at concave edges. A face plane is tried if the weighted length of its concave
 * edges is at least CONCAVE_LENGTH [cube root of the hull volume]. */
#define FACE_PLANES 20
#define CONCAVE_LENGTH 0.04
/* An edge is concave if the sine of the angle between its faces is above this value. */
#define CONCAVE_SINE 0.05
/* Terms of a plane's score [hull volume]. BALANCE_WEIGHT: penalty of unequal halves. FACE_WEIGHT: bonus of a cut along
 * a face. COMPONENT_COST: cost of each component beyond two. */
#define BALANCE_WEIGHT 0.02
#define FACE_WEIGHT 0.02
#define COMPONENT_COST 0.01

/* Weight, in a plane's score, of the hull volume after further cuts, relative to the hull volume after the present cut.
 */
#define LOOKAHEAD_WEIGHT 1.0
/* LOOKAHEAD_TRIANGLES: number of triangles of the coarse copy for the lookahead. The lookahead is two cuts deep below
 * DEEP_SPLITS pieces, otherwise one cut. */
#define LOOKAHEAD_TRIANGLES 300
#define DEEP_SPLITS 10

/* ---------------------------------------------------------------- a coarse copy */

static double part_area(const Part* part) {
  double sum = 0;
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    Vec3 a = part->points[t[0]];
    sum += vec3_norm(vec3_cross(vec3_sub(part->points[t[1]], a), vec3_sub(part->points[t[2]], a)));
  }
  return 0.5 * sum;
}

typedef struct {
  uint64_t cell;
  int point;
  double center_distance;
} Cluster;

static int order_clusters(const void* a, const void* b) {
  const Cluster *p = a, *q = b;
  if (p->cell != q->cell) return p->cell < q->cell ? -1 : 1;
  if (p->center_distance != q->center_distance) return p->center_distance > q->center_distance ? -1 : 1;
  return p->point < q->point ? -1 : p->point > q->point;
}

static uint64_t cell_code(Vec3 p, double size) {
  uint64_t x = (uint64_t)(int64_t)floor((p.x + 2.0) / size), y = (uint64_t)(int64_t)floor((p.y + 2.0) / size);
  return x << 42 | y << 21 | (uint64_t)(int64_t)floor((p.z + 2.0) / size);
}

/* Simplifies the surface by vertex clustering. The point farthest from the centre replaces all points in a grid cell of
 * edge `size`. Sets to[i] to the point that replaces point i. A closed surface stays closed. */
static void cluster_points(const Part* part, double size, int* to) {
  Cluster* list = MEMORY_NEW(Cluster, part->point_count + 1);
  Vec3 middle = {0, 0, 0};
  for (int i = 0; i < part->point_count; i++)
    middle = vec3_add_scaled(middle, 1.0 / part->point_count, part->points[i]);
  for (int i = 0; i < part->point_count; i++)
    list[i] = (Cluster){cell_code(part->points[i], size), i, vec3_norm(vec3_sub(part->points[i], middle))};
  qsort(list, (size_t)part->point_count, sizeof *list, order_clusters);
  for (int i = 0, first = 0; i < part->point_count; i++) {
    if (list[i].cell != list[first].cell) first = i;
    to[list[i].point] = list[first].point;
  }
  memory_free(list);
}

static Part coarse_copy(const Part* part, int triangles) {
  assert(triangles > 0);
  Part coarse = {0};
  if (part->triangle_count <= triangles) triangles = part->triangle_count;
  double size = triangles < part->triangle_count ? sqrt(2.0 * part_area(part) / triangles) : 0;
  int* to = MEMORY_NEW(int, part->point_count + 1);
  int* number = MEMORY_NEW(int, part->point_count + 1);
  for (int i = 0; i < part->point_count; i++) to[i] = i, number[i] = -1;
  if (size > 1e-5) cluster_points(part, size, to);
  for (int i = 0; i < part->point_count; i++)
    if (to[i] == i) number[i] = part_add_point(&coarse, part->points[i]);
  for (int i = 0; i < part->triangle_count; i++) {
    const int* t = part->triangles[i];
    int a = to[t[0]], b = to[t[1]], c = to[t[2]];
    if (a != b && b != c && c != a) part_add_triangle(&coarse, number[a], number[b], number[c]);
  }
  for (int i = 0; i < part->cap_count; i++) part_add_cap(&coarse, part->caps[i]);
  for (int i = 0; i < part->edge_count; i++) {
    int a = to[part->edges[i].a], b = to[part->edges[i].b];
    if (a != b) part_add_edge(&coarse, number[a], number[b], part->edges[i].cap);
  }
  memory_free(to);
  memory_free(number);
  return coarse;
}

/* ---------------------------------------------------------------- pieces */

static Piece make_piece(Part part, const SearchOptions* options) {
  Piece piece = {.part = part, .coarse = coarse_copy(&part, options->triangles)};
  piece.hull = hull_estimate(piece.coarse.points, piece.coarse.point_count);
  piece.excess = fmax(piece.hull.volume - part_volume(&piece.coarse), 0);
  return piece;
}

Piece piece_create_joined(Part part, const SearchOptions* options) {
  Piece piece = make_piece(part, options);
  piece.is_joined = true;
  return piece;
}

static void add_piece(Pieces* pieces, Part part, const SearchOptions* options) {
  pieces->items = memory_grow_array(pieces->items, sizeof(Piece), pieces->count, &pieces->capacity);
  pieces->items[pieces->count++] = make_piece(part, options);
}

void pieces_add(Pieces* pieces, Part part, const SearchOptions* options) {
  Part* components;
  int count = part_components(&part, &components);
  for (int k = 0; k < count; k++) add_piece(pieces, components[k], options);
  memory_free(components);
  part_free(&part);
}

void piece_free(Piece* piece) {
  part_free(&piece->part);
  part_free(&piece->coarse);
}

void pieces_free(Pieces* pieces) {
  for (int k = 0; k < pieces->count; k++) piece_free(&pieces->items[k]);
  memory_free(pieces->items);
  *pieces = (Pieces){0};
}

/* ---------------------------------------------------------------- candidates */

typedef struct {
  CutPlane plane;
  double step; /* half of the distance to the next candidate plane; 0 for the plane of a face */
  double score;
} Candidate;

typedef struct {
  const Piece* piece;
  Candidate* items;
  int count;
} Candidates;

enum { CANDIDATES_MAX = 6 * OFFSETS + FACE_PLANES + 16 };

typedef struct {
  double low, high;
} CutRange;

static CutRange projected_range(const Part* part, Vec3 n) {
  CutRange r = {HUGE_VAL, -HUGE_VAL};
  for (int i = 0; i < part->point_count; i++) {
    double along = vec3_dot(n, part->points[i]);
    r.low = fmin(r.low, along), r.high = fmax(r.high, along);
  }
  return r;
}

static void add_direction(Candidates* list, Vec3 n) {
  CutRange r = projected_range(&list->piece->coarse, n);
  double step = (r.high - r.low) / (OFFSETS + 1);
  if (!(step > 1e-6)) return;
  for (int k = 1; k <= OFFSETS; k++)
    list->items[list->count++] = (Candidate){{n, r.low + step * k}, 0.5 * step, HUGE_VAL};
}

/* Returns the eigenvectors of a symmetric matrix as columns, by Jacobi rotations. The rounding errors of dense_eigen
 * select worse planes for some symmetric meshes. */
static Mat3 principal_axes(Mat3 a) {
  Mat3 v = mat3_identity();
  for (int sweep = 0; sweep < 12; sweep++)
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++) {
        if (fabs(a.m[p][q]) < 1e-300) continue;
        double angle = 0.5 * math_atan2(2 * a.m[p][q], a.m[q][q] - a.m[p][p]), c = math_cos(angle), s = math_sin(angle);
        Mat3 r = mat3_identity();
        r.m[p][p] = c, r.m[q][q] = c, r.m[p][q] = s, r.m[q][p] = -s;
        a = mat3_mul(mat3_transpose(r), mat3_mul(a, r));
        v = mat3_mul(v, r);
      }
  return v;
}

static void add_principal_axes(Candidates* list) {
  const Part* part = &list->piece->coarse;
  Vec3 middle = {0, 0, 0};
  Mat3 sum = mat3_zero();
  for (int i = 0; i < part->point_count; i++)
    middle = vec3_add_scaled(middle, 1.0 / part->point_count, part->points[i]);
  for (int i = 0; i < part->point_count; i++) {
    Vec3 d = vec3_sub(part->points[i], middle);
    sum = mat3_add(sum, mat3_outer(d, d));
  }
  Mat3 axes = principal_axes(sum);
  for (int k = 0; k < 3; k++) {
    Vec3 n = vec3(axes.m[0][k], axes.m[1][k], axes.m[2][k]);
    if (fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z))) < 0.99) add_direction(list, n);
  }
}

/* ---------------------------------------------------------------- planes at concave edges */

typedef struct {
  CutPlane plane;
  double weight;
} FacePlane;

typedef struct {
  FacePlane items[4 * FACE_PLANES];
  int count;
} FacePlanes;

static void add_face_plane(FacePlanes* list, Vec3 n, Vec3 point, double weight) {
  double offset = vec3_dot(n, point);
  for (int k = 0; k < list->count; k++) {
    CutPlane p = list->items[k].plane;
    double same = vec3_dot(p.n, n);
    if (fabs(same) < 1 - 1e-10 || fabs(p.offset - copysign(offset, same * offset)) > 1e-8) continue;
    list->items[k].weight += weight;
    return;
  }
  int at = list->count;
  if (at == 4 * FACE_PLANES) {
    for (at = 0; at < list->count && list->items[at].weight >= weight;) at++;
    if (at == list->count) return;
  } else {
    list->count++;
  }
  list->items[at] = (FacePlane){{n, offset}, weight};
}

static Vec3 unit_normal(const Part* part, int triangle) {
  const int* t = part->triangles[triangle];
  Vec3 a = part->points[t[0]];
  Vec3 n = vec3_cross(vec3_sub(part->points[t[1]], a), vec3_sub(part->points[t[2]], a));
  double length = vec3_norm(n);
  return length > 0 ? vec3_scale(n, 1.0 / length) : n;
}

static void add_concave_edge(const Part* part, const Side* a, const Side* b, FacePlanes* list) {
  Vec3 n = unit_normal(part, a->triangle), m = unit_normal(part, b->triangle);
  Vec3 from = part->points[a->backward ? a->high : a->low], to = part->points[a->backward ? a->low : a->high];
  Vec3 edge = vec3_sub(to, from);
  double length = vec3_norm(edge), sine = -vec3_dot(vec3_cross(n, m), edge) / fmax(length, 1e-300);
  if (!(sine > CONCAVE_SINE) && !(vec3_dot(n, m) < -0.9 && sine > 1e-3)) return;
  add_face_plane(list, n, from, length * sine);
  add_face_plane(list, m, from, length * sine);
  Vec3 between = vec3_sub(n, m);
  add_face_plane(list, vec3_normalized(between), from, 0.5 * length * sine);
}

static int order_weights(const void* a, const void* b) {
  const FacePlane *p = a, *q = b;
  if (p->weight != q->weight) return p->weight > q->weight ? -1 : 1;
  const double x[4] = {p->plane.n.x, p->plane.n.y, p->plane.n.z, p->plane.offset};
  const double y[4] = {q->plane.n.x, q->plane.n.y, q->plane.n.z, q->plane.offset};
  for (int k = 0; k < 4; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

static void add_face_planes(Candidates* list) {
  const Part* part = &list->piece->coarse;
  Side* sides = part_sides(part);
  FacePlanes planes = {.count = 0};
  for (int i = 0; i + 1 < 3 * part->triangle_count; i++)
    if (sides[i].low == sides[i + 1].low && sides[i].high == sides[i + 1].high)
      add_concave_edge(part, &sides[i], &sides[i + 1], &planes);
  if (planes.count > 0) qsort(planes.items, (size_t)planes.count, sizeof(FacePlane), order_weights);
  double least = CONCAVE_LENGTH * math_cbrt(fmax(list->piece->hull.volume, 0));
  for (int k = 0; k < planes.count && k < FACE_PLANES; k++)
    if (planes.items[k].weight >= least) list->items[list->count++] = (Candidate){planes.items[k].plane, 0, HUGE_VAL};
  memory_free(sides);
}

/* ---------------------------------------------------------------- scores */

typedef struct {
  double hulls;
  int components;
} Half;

/* Sets *point to the intersection of an edge from below to above the plane and returns 1, otherwise returns 0. Edges
 * from above to below are skipped, because a closed surface has every edge in both directions. */
static int crossing(const Part* part, const double* height, int a, int b, Vec3* point) {
  if (!(height[a] < 0 && height[b] > 0)) return 0;
  Vec3 edge = vec3_sub(part->points[b], part->points[a]);
  *point = vec3_add_scaled(part->points[a], height[a] / (height[a] - height[b]), edge);
  return 1;
}

/* Returns the volume of the convex hull of the points below the plane and the intersections of edges with the plane. */
static double volume_below(const Part* part, CutPlane plane) {
  double* height = MEMORY_NEW(double, part->point_count + 1);
  Vec3* points = MEMORY_NEW(Vec3, part->point_count + 3 * part->triangle_count + part->edge_count + 1);
  int count = 0;
  for (int i = 0; i < part->point_count; i++) {
    height[i] = vec3_dot(plane.n, part->points[i]) - plane.offset;
    if (height[i] <= 0) points[count++] = part->points[i];
  }
  for (int t = 0; t < part->triangle_count; t++) {
    const int* c = part->triangles[t];
    for (int k = 0; k < 3; k++) count += crossing(part, height, c[k], c[(k + 1) % 3], &points[count]);
  }
  for (int i = 0; i < part->edge_count; i++)
    count += crossing(part, height, part->edges[i].a, part->edges[i].b, &points[count]);
  double volume = count > 3 ? hull_estimate(points, count).volume : 0;
  memory_free(points), memory_free(height);
  return volume;
}

static Half measure_half(const Piece* piece, CutPlane plane) {
  Half half = {0, 0};
  if (piece->is_joined) return (Half){volume_below(&piece->coarse, plane), 1};
  Part cut = part_cut(&piece->coarse, plane, PLANE_ROUNDING);
  Part* pieces;
  half.components = part_components(&cut, &pieces);
  for (int k = 0; k < half.components; k++) {
    if (pieces[k].point_count > 3) half.hulls += hull_estimate(pieces[k].points, pieces[k].point_count).volume;
    part_free(&pieces[k]);
  }
  memory_free(pieces);
  part_free(&cut);
  return half;
}

/* Returns the score of a plane [volume of the piece's hull], smaller for better planes: the volume of the hulls after
 * the cut plus penalties and minus bonuses. Returns HUGE_VAL if the hulls on one side have no volume. */
static double score_plane(const Piece* piece, CutPlane plane, bool face) {
  Half a = measure_half(piece, plane), b = measure_half(piece, plane_flipped(plane));
  double whole = piece->hull.volume;
  if (!(a.hulls > 1e-9 * whole) || !(b.hulls > 1e-9 * whole)) return HUGE_VAL;
  int more = a.components + b.components - 2;
  double balance = fabs(a.hulls - b.hulls) / (a.hulls + b.hulls);
  return (a.hulls + b.hulls) / whole + BALANCE_WEIGHT * balance + COMPONENT_COST * (more < 10 ? more : 10) -
         (face ? FACE_WEIGHT : 0);
}

static void score_body(void* context, int index, int thread) {
  Candidates* list = context;
  Candidate* c = &list->items[index];
  (void)thread;
  c->score = score_plane(list->piece, c->plane, c->step == 0);
}

/* ---------------------------------------------------------------- look-ahead */

/* Returns the smallest volume of the hulls after up to `depth` further cuts, each of which halves the part along the
 * best axis. For some shapes, such as a ring, the volume decreases only at the second or third cut. */
static double lookahead_volume(const Part* part, int depth) {
  assert(depth >= 0);
  double least = hull_volume_bound(part->points, part->point_count);
  for (int axis = 0; depth > 0 && axis < 3; axis++) {
    Vec3 n = vec3_axis(axis);
    CutRange r = projected_range(part, n);
    CutPlane plane = {n, 0.5 * (r.low + r.high)};
    Part a = part_cut(part, plane, PLANE_ROUNDING), b = part_cut(part, plane_flipped(plane), PLANE_ROUNDING);
    if (a.point_count > 3 && b.point_count > 3)
      least = fmin(least, lookahead_volume(&a, depth - 1) + lookahead_volume(&b, depth - 1));
    part_free(&a);
    part_free(&b);
  }
  return least;
}

static double lookahead_of_half(const Part* part, CutPlane plane, int depth) {
  Part cut = part_cut(part, plane, PLANE_ROUNDING);
  Part* pieces;
  double sum = 0;
  int count = part_components(&cut, &pieces);
  for (int k = 0; k < count; k++) {
    sum += pieces[k].point_count > 3 ? lookahead_volume(&pieces[k], depth) : 0;
    part_free(&pieces[k]);
  }
  memory_free(pieces);
  part_free(&cut);
  return sum;
}

typedef struct {
  Candidates* list;
  Part coarse_part;
  const int* selected;
  int depth;
} Lookahead;

static void lookahead_body(void* context, int index, int thread) {
  Lookahead* o = context;
  Candidate* c = &o->list->items[o->selected[index]];
  (void)thread;
  double sum = lookahead_of_half(&o->coarse_part, c->plane, o->depth) +
               lookahead_of_half(&o->coarse_part, plane_flipped(c->plane), o->depth);
  c->score += LOOKAHEAD_WEIGHT * sum / o->list->piece->hull.volume;
}

/* Sets selected to the candidates for the lookahead: the best and the central offset of every direction, and the best
 * face planes. Returns their number. */
static int select_for_lookahead(const Candidates* list, int* selected) {
  int count = 0, faces = 0;
  for (int i = 0; i < list->count;) {
    if (list->items[i].step == 0) {
      if (isfinite(list->items[i].score) && faces++ < FACE_PLANES) selected[count++] = i;
      i++;
      continue;
    }
    int best = i, middle = i + OFFSETS / 2;
    for (int k = i; k < i + OFFSETS; k++)
      if (list->items[k].score < list->items[best].score) best = k;
    if (isfinite(list->items[best].score)) selected[count++] = best;
    if (middle != best && isfinite(list->items[middle].score)) selected[count++] = middle;
    i += OFFSETS;
  }
  return count;
}

/* Evaluates the selected candidates with the lookahead and discards the others. */
static void look_ahead(Candidates* list, int depth, int threads) {
  int selected[CANDIDATES_MAX];
  Lookahead o = {list, coarse_copy(&list->piece->coarse, LOOKAHEAD_TRIANGLES), selected, depth};
  int count = select_for_lookahead(list, selected);
  parallel_for(threads, count, 2, 1, lookahead_body, &o);
  for (int i = 0, k = 0; i < list->count; i++) {
    if (k < count && selected[k] == i)
      k++;
    else
      list->items[i].score = HUGE_VAL;
  }
  part_free(&o.coarse_part);
}

static Candidate find_best(const Candidates* list) {
  Candidate best = {.score = HUGE_VAL};
  for (int k = 0; k < list->count; k++)
    if (list->items[k].score < best.score) best = list->items[k];
  return best;
}

/* Improves a cutting plane by translations and rotations of decreasing size. */
static Candidate refine_plane(const Piece* piece, Candidate best, int threads) {
  double angle = 0.2;
  for (int round = 0; round < REFINEMENTS && best.step > 0; round++) {
    Candidate tries[6];
    Vec3 u = vec3_perpendicular(best.plane.n), v = vec3_cross(best.plane.n, u);
    Vec3 at = vec3(0, 0, 0);
    for (int i = 0; i < piece->coarse.point_count; i++)
      at = vec3_add_scaled(at, 1.0 / piece->coarse.point_count, piece->coarse.points[i]);
    at = vec3_add_scaled(at, best.plane.offset - vec3_dot(best.plane.n, at), best.plane.n);
    for (int k = 0; k < 6; k++) {
      tries[k] = best;
      double sign = k % 2 == 0 ? 1 : -1;
      if (k < 2) {
        tries[k].plane.offset += sign * best.step;
      } else {
        tries[k].plane.n = vec3_normalized(vec3_add_scaled(best.plane.n, sign * angle, k < 4 ? u : v));
        tries[k].plane.offset = vec3_dot(tries[k].plane.n, at);
      }
    }
    Candidates list = {piece, tries, 6};
    parallel_for(threads, 6, 2, 1, score_body, &list);
    Candidate next = find_best(&list);
    /* Smaller improvements are ignored, so that planes of flat parts stay aligned with the axes. */
    if (next.score < best.score - 1e-3) best = next;
    best.step *= 0.5, angle *= 0.5;
  }
  return best;
}

static Candidate best_plane(const Piece* piece, int depth, int threads) {
  Candidate items[CANDIDATES_MAX];
  Candidates list = {piece, items, 0};
  add_direction(&list, vec3(1, 0, 0));
  add_direction(&list, vec3(0, 1, 0));
  add_direction(&list, vec3(0, 0, 1));
  add_principal_axes(&list);
  add_face_planes(&list);
  parallel_for(threads, list.count, 2, 1, score_body, &list);
  if (depth > 0) look_ahead(&list, depth, threads);
  Candidate best = find_best(&list);
  if (!isfinite(best.score)) return best;
  best.score = score_plane(piece, best.plane, best.step == 0);
  return refine_plane(piece, best, threads);
}

bool piece_best_plane(const Piece* piece, int depth, int threads, CutPlane* plane) {
  assert(depth >= 0 && depth <= 2);
  Candidate best = best_plane(piece, depth, threads);
  *plane = best.plane;
  return isfinite(best.score);
}

/* ---------------------------------------------------------------- splitting */

static bool split_piece(Pieces* pieces, int index, const SearchOptions* options) {
  Piece piece = pieces->items[index];
  Candidate best = best_plane(&piece, pieces->count < DEEP_SPLITS ? 2 : 1, options->threads);
  if (!isfinite(best.score)) return false;
  Part a = part_cut(&piece.part, best.plane, PLANE_ROUNDING);
  Part b = part_cut(&piece.part, plane_flipped(best.plane), PLANE_ROUNDING);
  if (a.point_count < 4 || b.point_count < 4) {
    part_free(&a), part_free(&b);
    return false;
  }
  piece_free(&piece);
  for (int k = index; k + 1 < pieces->count; k++) pieces->items[k] = pieces->items[k + 1];
  pieces->count--;
  pieces_add(pieces, a, options);
  pieces_add(pieces, b, options);
  return true;
}

double pieces_excess(const Pieces* pieces) {
  double sum = 0;
  for (int k = 0; k < pieces->count; k++)
    sum += fmax(pieces->items[k].hull.volume - part_volume(&pieces->items[k].coarse), 0);
  return sum;
}

void pieces_split(Pieces* pieces, int count, double excess_limit, const SearchOptions* options) {
  assert(count >= 1);
  while (pieces->count < count) {
    int worst = -1;
    double sum = 0;
    for (int k = 0; k < pieces->count; k++) {
      double excess = pieces->items[k].excess;
      if (excess > 0) sum += excess;
      if (excess > 1e-9 * pieces->items[k].hull.volume && (worst < 0 || excess > pieces->items[worst].excess))
        worst = k;
    }
    if (worst < 0 || sum <= excess_limit) return;
    if (!split_piece(pieces, worst, options)) pieces->items[worst].excess = -1;
  }
}
