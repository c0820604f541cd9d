/* Approximates a solid by a union of superquadrics (docs/derivations/shapes.md). Superquadrics are added one by one. A
 * new superquadric starts as an ellipsoid where the solid has the largest uncovered clearance. The ellipsoid is fitted
 * first, then all superquadrics are fitted together. Finally the least useful superquadric is repeatedly removed and
 * placed again while the result improves. */
#include <stdlib.h>
#include <string.h>

#include "decompose/superquadric.h"
#include "linalg/dense.h"

enum {
  MAX_DEFAULT = 18,
  CELLS_DEFAULT = 40,
  REGION_STARTS = 6, /* initial shapes of a new superquadric from two regions, with three orders of the axes each */
  STARTS = 8,        /* number of all initial shapes: REGION_STARTS, and one bar for each region */
  FIRST_STEPS = 20,  /* iterations for each initial shape */
  ALONE_STEPS = 40,  /* iterations for the best initial shape */
  JOINT_STEPS = 12,  /* iterations of the joint fit after a superquadric was added */
  ROUNDS_MAX = 24,   /* largest number of attempts to move the least useful superquadric */
  FAILURES_MAX = 3,  /* largest number of consecutive failed attempts */
  FINAL_STEPS = 100, /* iterations of the final joint fit */
};
#define ERROR_DEFAULT 1e-3
/* Misfits are limited to WIDTH_CELLS [cells]. The first fit of a new superquadric uses a limit of at least
 * WIDTH_OF_ROOM times the clearance at its initial position. */
#define WIDTH_CELLS 2.0
#define WIDTH_OF_ROOM 0.7
/* Parameters for a new superquadric. OUTSIDE_WEIGHT: weight of volume outside the solid, because other superquadrics
 * can fill the volume that the new one leaves. CHOICE_CELLS: limit of misfits [cells] when the best initial shape is
 * chosen. */
#define OUTSIDE_WEIGHT 2
#define CHOICE_CELLS 0.5
/* Radius of the smaller region around the node with the largest clearance, relative to the clearance. */
#define NEAR_ROOMS 4.0
/* A new superquadric must reduce the cost by at least this fraction. */
#define GAIN_OF_COST 5e-3
/* Smallest semi-axis [cells]. */
#define LEAST_CELLS 0.4
/* The points on the surface have the same weight as a layer of volume with this thickness [cells]. */
#define SURFACE_CELLS 2.0

typedef struct {
  const SolidSamples* samples;
  const SuperquadricOptions* options;
  FitProblem problem; /* problem of all superquadrics together */
  Superquadric* list; /* (count), allocated for options->max + 1 */
  int count;
  double width;
} SuperquadricSearch;

/* ---------------------------------------------------------------- initial positions */

static FitProblem problem_create(const SolidSamples* s, int threads) {
  int nodes = solid_samples_count(s);
  double cell = s->edge * s->edge * s->edge;
  FitProblem p = {.threads = threads, .least = LEAST_CELLS * s->edge};
  p.points = MEMORY_NEW(FitPoint, nodes + s->surface_count);
  for (int i = 0; i < nodes; i++)
    p.points[p.count++] = (FitPoint){solid_samples_position(s, i), cell, HUGE_VAL, s->distance[i] < 0 ? -1 : 1};
  double weight = SURFACE_CELLS * s->edge * s->area / (s->surface_count > 0 ? s->surface_count : 1);
  for (int i = 0; i < s->surface_count; i++) p.points[p.count++] = (FitPoint){s->surface[i], weight, HUGE_VAL, 0};
  p.largest = s->edge * fmax(s->size[0], fmax(s->size[1], s->size[2]));
  return p;
}

/* Returns the distance of a point from the union, at most `limit`. */
static double union_distance(const Primitive* list, int count, Vec3 place, double limit) {
  double least = limit;
  for (int k = 0; k < count; k++) least = fmin(least, primitive_distance(&list[k], place, least));
  return least;
}

typedef struct {
  FitPoint* points;
  const Primitive* list;
  int count, chunk, point_count;
  double limit;
} Others;

static void ask_others(void* context, int chunk, int thread) {
  const Others* o = context;
  (void)thread;
  for (int i = chunk * o->chunk; i < (chunk + 1) * o->chunk && i < o->point_count; i++)
    o->points[i].other = union_distance(o->list, o->count, o->points[i].place, o->limit);
}

/* Returns a copy of the problem with `other` set to the distances from the superquadrics of list (count), at most
 * `limit`. The caller frees the points of the copy with memory_free. */
static FitProblem problem_beside(const FitProblem* all, const Superquadric* list, int count, double limit) {
  FitProblem p = *all;
  Primitive* made = MEMORY_NEW(Primitive, count);
  for (int k = 0; k < count; k++) made[k] = primitive_create(&list[k]);
  p.points = MEMORY_NEW(FitPoint, all->count);
  memcpy(p.points, all->points, sizeof *p.points * (size_t)all->count);
  Others others = {p.points, made, count, 1024, all->count, limit};
  parallel_for(all->threads, (all->count + others.chunk - 1) / others.chunk, 2, 1, ask_others, &others);
  memory_free(made);
  return p;
}

/* Adapts the points for fitting one more superquadric. Removes inner points that are already covered, and increases the
 * weight of points outside the solid. */
static void weigh_for_one(FitProblem* p) {
  int kept = 0;
  for (int i = 0; i < p->count; i++) {
    if (p->points[i].side < 0 && p->points[i].other <= 0) continue;
    p->points[kept] = p->points[i];
    if (p->points[i].side > 0) p->points[kept].weight *= OUTSIDE_WEIGHT;
    kept++;
  }
  p->count = kept;
}

/* ---------------------------------------------------------------- placement of a new superquadric */

/* Returns the clearance of each node from the surface and from the other superquadrics, 0 for covered nodes and nodes
 * outside (number of nodes). The caller frees the array with memory_free. */
static double* free_room(const SolidSamples* s, const FitProblem* beside) {
  int nodes = solid_samples_count(s);
  double* room = MEMORY_NEW(double, nodes);
  for (int i = 0; i < nodes; i++) room[i] = fmax(0, fmin(-s->distance[i], beside->points[i].other));
  return room;
}

static int roomiest(const double* room, int nodes) {
  int best = 0;
  for (int i = 1; i < nodes; i++)
    if (room[i] > room[best]) best = i;
  return best;
}

/* Finds the nodes around `first` with more clearance than `level`. The nodes are connected to `first` by faces and are
 * at most `reach` away from `first`. Sets nodes to their indices and returns their number. seen (number of nodes): all
 * false before and after the call. */
static int region_of(const SolidSamples* s, const double* room, double level, double reach, int first, int* nodes,
                     bool* seen) {
  const int step[3] = {1, s->size[0], s->size[0] * s->size[1]};
  int count = 0;
  nodes[count++] = first;
  seen[first] = true;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 6; k++) {
      int next = nodes[i] + (k % 2 ? 1 : -1) * step[k / 2];
      if (seen[next] || !(room[next] > level)) continue;
      if (vec3_norm(vec3_sub(solid_samples_position(s, next), solid_samples_position(s, first))) > reach) continue;
      seen[next] = true;
      nodes[count++] = next;
    }
  for (int i = 0; i < count; i++) seen[nodes[i]] = false;
  return count;
}

/* Returns the ellipsoid with the mean and second moments of the nodes (count), enlarged by `more`. The semi-axes are in
 * ascending order. */
static Superquadric ellipsoid_of(const SolidSamples* s, const int* nodes, int count, double more) {
  Vec3 middle = {0, 0, 0};
  for (int i = 0; i < count; i++) middle = vec3_add_scaled(middle, 1.0 / count, solid_samples_position(s, nodes[i]));
  Mat3 moment = mat3_zero();
  for (int i = 0; i < count; i++) {
    Vec3 arm = vec3_sub(solid_samples_position(s, nodes[i]), middle);
    moment = mat3_add(moment, mat3_scale(mat3_outer(arm, arm), 1.0 / count));
  }
  double values[3] = {0};
  if (!dense_eigen(3, moment.m[0], values)) moment = mat3_identity();
  if (mat3_det(moment) < 0)
    for (int k = 0; k < 3; k++) moment.m[2][k] = -moment.m[2][k];
  Superquadric out = {.exponents = {0.8, 0.8}, .rotation = quat_from_mat3(mat3_transpose(moment)), .position = middle};
  for (int k = 0; k < 3; k++) out.size[k] = sqrt(5 * fmax(values[k], 0)) + more;
  return out;
}

static bool is_inside(const SolidSamples* s, Vec3 place) {
  Vec3 at = vec3_scale(vec3_sub(place, s->low), 1 / s->edge);
  const double given[3] = {at.x, at.y, at.z};
  int node[3];
  for (int k = 0; k < 3; k++) {
    node[k] = (int)floor(given[k] + 0.5);
    if (node[k] < 0 || node[k] >= s->size[k]) return false;
  }
  return s->distance[(node[2] * s->size[1] + node[1]) * s->size[0] + node[0]] < 0;
}

/* Returns the ellipsoid `from`, extended along its longest axis up to the surface of the solid. The result may overlap
 * other superquadrics. */
static Superquadric bar_of(const SolidSamples* s, const Superquadric* from) {
  Vec3 axis = mat3_mul_vec(mat3_from_quat(from->rotation), vec3(0, 0, 1));
  double end[2];
  for (int side = 0; side < 2; side++) {
    int steps = 0;
    double way = side ? s->edge : -s->edge;
    while (is_inside(s, vec3_add_scaled(from->position, (steps + 1) * way, axis))) steps++;
    end[side] = steps * way;
  }
  Superquadric out = *from;
  out.position = vec3_add_scaled(from->position, 0.5 * (end[0] + end[1]), axis);
  out.size[2] = 0.5 * (end[1] - end[0]) + 0.5 * s->edge;
  return out;
}

/* Returns the same body with the axes permuted cyclically `turns` times. */
static Superquadric with_axis(const Superquadric* from, int turns) {
  Superquadric out = *from;
  /* cyclic permutation of the axes: x to y to z */
  Quat turn = quat_exp(vec3_scale(vec3(1, 1, 1), turns * 2.0943951023931953 / sqrt(3)));
  out.rotation = quat_normalized(quat_mul(from->rotation, turn));
  for (int k = 0; k < 3; k++) out.size[k] = from->size[(k + turns) % 3];
  return out;
}

/* ---------------------------------------------------------------- starts of a further superquadric */

typedef struct {
  const FitProblem* beside;
  Superquadric start[STARTS];
  double cost[STARTS];
  double wide, width;
} Starts;

static void grow_start(void* context, int k, int thread) {
  Starts* s = context;
  (void)thread;
  FitProblem alone = *s->beside;
  alone.threads = 1;
  fit_improve(&alone, &s->start[k], 1, s->wide, FIRST_STEPS);
  fit_improve(&alone, &s->start[k], 1, s->width, FIRST_STEPS);
  s->cost[k] = fit_cost(&alone, &s->start[k], 1, CHOICE_CELLS / WIDTH_CELLS * s->width);
}

/* Chooses initial guesses for a new superquadric. The guesses are ellipsoids that fit two regions around the node with
 * the largest clearance. The first region contains all connected nodes with sufficient clearance, the second only
 * nearby nodes. Each region also gives a guess that is extended along its longest axis (bar_of). */
static void lay_starts(const SolidSamples* s, const double* room, Starts* starts, double least, double largest) {
  static const double LEVEL[2] = {0.6, 0.25}, REACH[2] = {HUGE_VAL, NEAR_ROOMS};
  int nodes = solid_samples_count(s), first = roomiest(room, nodes);
  int* region = MEMORY_NEW(int, nodes);
  bool* seen = MEMORY_NEW(bool, nodes);
  for (int k = 0; k < STARTS; k++) {
    bool bar = k >= REGION_STARTS;
    int which = bar ? k - REGION_STARTS : k / 3;
    double level = LEVEL[which] * room[first], none[SUPERQUADRIC_VARIABLES] = {0};
    int count = region_of(s, room, level, REACH[which] * room[first], first, region, seen);
    Superquadric own = ellipsoid_of(s, region, count, level);
    own = bar ? bar_of(s, &own) : with_axis(&own, k % 3);
    starts->start[k] = superquadric_add_step(&own, none, least, largest);
  }
  memory_free(seen);
  memory_free(region);
}

/* Adds one superquadric where it reduces the cost most. Returns false if no node has clearance left. */
static bool add_one(SuperquadricSearch* search) {
  const SolidSamples* s = search->samples;
  FitProblem beside = problem_beside(&search->problem, search->list, search->count, search->problem.largest);
  double* room = free_room(s, &beside);
  double most = room[roomiest(room, solid_samples_count(s))];
  if (most > 0) {
    weigh_for_one(&beside);
    Starts starts = {.beside = &beside, .wide = fmax(search->width, WIDTH_OF_ROOM * most), .width = search->width};
    lay_starts(s, room, &starts, beside.least, beside.largest);
    parallel_for(beside.threads, STARTS, 2, 1, grow_start, &starts);
    int best = 0;
    for (int k = 1; k < STARTS; k++)
      if (starts.cost[k] < starts.cost[best]) best = k;
    fit_improve(&beside, &starts.start[best], 1, search->width, ALONE_STEPS);
    search->list[search->count++] = starts.start[best];
  }
  memory_free(room);
  memory_free(beside.points);
  return most > 0;
}

/* ---------------------------------------------------------------- all */

static double improve_all(SuperquadricSearch* search, int steps) {
  return fit_improve(&search->problem, search->list, search->count, search->width, steps);
}

/* Returns the misclassified volume divided by the solid's volume, computed from the nodes. */
static double wrong_part(const SuperquadricSearch* search) {
  int nodes = solid_samples_count(search->samples), wrong = 0, inside = 0;
  FitProblem asked = problem_beside(&search->problem, search->list, search->count, search->width);
  for (int i = 0; i < nodes; i++) {
    inside += asked.points[i].side < 0;
    wrong += (asked.points[i].side < 0) != (asked.points[i].other < 0);
  }
  memory_free(asked.points);
  return inside > 0 ? (double)wrong / inside : 0;
}

static void find_all(SuperquadricSearch* search) {
  double cost = fit_cost(&search->problem, NULL, 0, search->width);
  Superquadric* before = MEMORY_NEW(Superquadric, search->options->max);
  while (search->count < search->options->max) {
    int count = search->count;
    memcpy(before, search->list, sizeof *before * (size_t)count);
    if (!add_one(search)) break;
    double next = improve_all(search, JOINT_STEPS);
    if (count > 0 && next > (1 - GAIN_OF_COST) * cost) {
      memcpy(search->list, before, sizeof *before * (size_t)count);
      search->count = count;
      break;
    }
    cost = next;
    if (wrong_part(search) <= search->options->error) break;
  }
  memory_free(before);
}

static void take_away(SuperquadricSearch* search, int which) {
  search->count--;
  memmove(&search->list[which], &search->list[which + 1], sizeof *search->list * (size_t)(search->count - which));
}

/* Returns the superquadric whose removal increases the cost least. Sets *cost to the cost without it. */
static int least_needed(SuperquadricSearch* search, double* cost) {
  int best = -1;
  Superquadric* without = MEMORY_NEW(Superquadric, search->count);
  for (int k = 0; k < search->count; k++) {
    int count = 0;
    for (int i = 0; i < search->count; i++)
      if (i != k) without[count++] = search->list[i];
    double then = fit_cost(&search->problem, without, count, search->width);
    if (best < 0 || then < *cost) best = k, *cost = then;
  }
  memory_free(without);
  return best;
}

/* Removes the least useful superquadric and adds a new one. Returns false, with the old superquadrics restored, if the
 * cost does not decrease. */
static bool move_one(SuperquadricSearch* search, double* cost) {
  int before = search->count;
  Superquadric* old = MEMORY_NEW(Superquadric, before);
  memcpy(old, search->list, sizeof *old * (size_t)before);
  double without = 0;
  take_away(search, least_needed(search, &without));
  improve_all(search, JOINT_STEPS);
  bool better = add_one(search);
  double next = better ? improve_all(search, JOINT_STEPS) : *cost;
  better = next < (1 - 1e-3) * *cost;
  if (better) *cost = next;
  if (!better) memcpy(search->list, old, sizeof *old * (size_t)before), search->count = before;
  memory_free(old);
  return better;
}

static void rearrange(SuperquadricSearch* search) {
  double cost = fit_cost(&search->problem, search->list, search->count, search->width);
  if (search->count < 2 || wrong_part(search) <= search->options->error) return;
  int failures = 0;
  for (int round = 0; round < ROUNDS_MAX && failures < FAILURES_MAX; round++) {
    if (move_one(search, &cost)) {
      failures = 0;
      continue;
    }
    failures++;
    cost = improve_all(search, JOINT_STEPS);
  }
}

/* Removes superquadrics whose removal hardly increases the cost. */
static void drop_needless(SuperquadricSearch* search) {
  double cost = fit_cost(&search->problem, search->list, search->count, search->width);
  while (search->count > 1) {
    double without = 0;
    int which = least_needed(search, &without);
    if (without > cost * (1 + GAIN_OF_COST)) return;
    take_away(search, which);
    cost = improve_all(search, JOINT_STEPS);
  }
}

/* ---------------------------------------------------------------- defaults and result */

static SuperquadricOptions with_defaults(const SuperquadricOptions* given) {
  SuperquadricOptions options = *given;
  if (options.max <= 0) options.max = MAX_DEFAULT;
  if (options.cells <= 0) options.cells = CELLS_DEFAULT;
  if (!(options.error > 0)) options.error = ERROR_DEFAULT;
  return options;
}

static void search_for(SuperquadricUnion* result, const ConvexHull* surface, const SuperquadricOptions* options) {
  SolidSamples samples = solid_samples_create(surface, options->cells, options->threads);
  SuperquadricSearch search = {.samples = &samples, .options = options, .width = WIDTH_CELLS * samples.edge};
  search.problem = problem_create(&samples, options->threads);
  search.list = MEMORY_NEW(Superquadric, options->max + 1);
  find_all(&search);
  rearrange(&search);
  improve_all(&search, FINAL_STEPS);
  drop_needless(&search);
  result->list = search.list;
  result->count = search.count;
  memory_free(search.problem.points);
  solid_samples_free(&samples);
}

HullResult mesh_superquadrics(SuperquadricUnion* result, const Mesh* mesh, const SuperquadricOptions* given) {
  *result = (SuperquadricUnion){0};
  SuperquadricOptions options = with_defaults(given);
  ConvexHull surface, whole;
  HullResult outer = hull_create(&whole, mesh->positions, mesh->position_count);
  if (outer != HULL_OK) return outer;
  hull_free(&whole);
  if (!mesh_surface(&surface, NULL, mesh)) return HULL_FLAT;
  MassMoment moment = mass_moment_solid(&surface);
  if (mass_moment_mass(&moment) > 0) {
    search_for(result, &surface, &options);
    if (result->count > 0) superquadrics_measure(result, &surface, options.threads);
  }
  hull_free(&surface);
  if (result->count > 0) return HULL_OK;
  superquadrics_free(result);
  return HULL_FLAT;
}

void superquadrics_free(SuperquadricUnion* result) {
  memory_free(result->list);
  *result = (SuperquadricUnion){0};
}
