/* Approximates a solid by a union of superquadrics (docs/derivations/shapes.md). Adds superquadrics one by one, each as
 * an ellipsoid where the solid has the largest uncovered clearance. Fits the new superquadric, then all superquadrics
 * together. Finally replaces the least useful superquadric by a new one, while the result improves. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decompose/superquadric.h"
#include "linalg/dense.h"

enum {
  MAX_DEFAULT = 18,
  CELLS_DEFAULT = 40,
  REGION_STARTS = 6, /* initial shapes of a new superquadric from two regions, with three orders of the axes each */
  STARTS = 8,        /* number of all initial shapes: REGION_STARTS, and one bar per region */
  FIRST_STEPS = 20,  /* iterations for each initial shape */
  SINGLE_STEPS = 40, /* iterations for the best initial shape */
  JOINT_STEPS = 12,  /* iterations of the simultaneous fit of all superquadrics after one was added */
  MOVES_MAX = 24,    /* largest number of attempts to move the least useful superquadric */
  FAILURES_MAX = 3,  /* largest number of consecutive failed attempts */
  FINAL_STEPS = 100, /* iterations of the final simultaneous fit */
};
#define ERROR_DEFAULT 1e-3
/* The errors of the points' distances are limited to WIDTH_CELLS [grid cells]. The first fit of a new superquadric uses
 * at least WIDTH_PER_CLEARANCE times the clearance at its initial position. */
#define WIDTH_CELLS 2.0
#define WIDTH_PER_CLEARANCE 0.7
/* Parameters of a new superquadric. OUTSIDE_WEIGHT: weight of volume outside the solid. The weight is above 1, because
 * later superquadrics can fill inner volume that the new superquadric leaves uncovered. CHOICE_CELLS: limit of misfits
 * when the best initial shape is chosen [cells]. */
#define OUTSIDE_WEIGHT 2
#define CHOICE_CELLS 0.5
/* A new superquadric is fitted to a small and to a large region around the node with the largest clearance. This is the
 * radius of the small region, relative to the clearance. */
#define NEAR_CLEARANCES 4.0
/* A new superquadric is kept if it reduces the cost of the fit by at least this fraction. */
#define GAIN_MIN 5e-3
/* Smallest semi-axis of a superquadric [grid cells]. */
#define SIZE_MIN_CELLS 0.4
/* Thickness of a layer of volume with the same weight as the points on the surface [cells]. */
#define SURFACE_CELLS 2.0

typedef struct {
  const SolidSamples* samples;
  const SuperquadricOptions* options;
  FitProblem problem; /* problem of all superquadrics together */
  Superquadric* list; /* superquadrics (size: count), allocated for options->max + 1 */
  int count;
  double width;
} SuperquadricSearch;

/* ---------------------------------------------------------------- initial positions */

static FitProblem problem_create(const SolidSamples* s, int threads) {
  int nodes = solid_samples_count(s);
  double cell = s->edge * s->edge * s->edge;
  FitProblem p = {.threads = threads, .size_min = SIZE_MIN_CELLS * s->edge};
  p.points = MEMORY_NEW(FitPoint, nodes + s->surface_count);
  for (int i = 0; i < nodes; i++)
    p.points[p.count++] = (FitPoint){solid_samples_position(s, i), cell, HUGE_VAL, s->distance[i] < 0 ? -1 : 1};
  double weight = SURFACE_CELLS * s->edge * s->area / (s->surface_count > 0 ? s->surface_count : 1);
  for (int i = 0; i < s->surface_count; i++) p.points[p.count++] = (FitPoint){s->surface[i], weight, HUGE_VAL, 0};
  p.size_max = s->edge * fmax(s->size[0], fmax(s->size[1], s->size[2]));
  return p;
}

typedef struct {
  FitPoint* points;
  const Primitive* list;
  int count, chunk, point_count;
  double limit;
} OtherDistances;

static void measure_other_distances(void* context, int chunk, int thread) {
  const OtherDistances* o = context;
  (void)thread;
  for (int i = chunk * o->chunk; i < (chunk + 1) * o->chunk && i < o->point_count; i++)
    o->points[i].other = primitives_distance(o->list, o->count, o->points[i].point, o->limit);
}

/* Returns a copy of the problem with `other` set to the distances from the superquadrics list[count], at most `limit`.
 * The caller frees the points of the copy with memory_free. */
static FitProblem create_single_problem(const FitProblem* all, const Superquadric* list, int count, double limit) {
  FitProblem p = *all;
  Primitive* made = MEMORY_NEW(Primitive, count);
  for (int k = 0; k < count; k++) made[k] = primitive_create(&list[k]);
  p.points = MEMORY_NEW(FitPoint, all->count);
  memcpy(p.points, all->points, sizeof *p.points * (size_t)all->count);
  OtherDistances others = {p.points, made, count, 1024, all->count, limit};
  parallel_for(all->threads, (all->count + others.chunk - 1) / others.chunk, 2, 1, measure_other_distances, &others);
  memory_free(made);
  return p;
}

/* Adapts the points for the fit of one more superquadric. Removes covered inner points, and increases the weight of
 * points outside the solid. */
static void adapt_weights(FitProblem* p) {
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

/* Returns the clearance of each grid node from the surface and the other superquadrics (number of nodes); 0 for covered
 * nodes and for nodes outside the solid. The caller frees the array with memory_free. */
static double* compute_clearance(const SolidSamples* s, const FitProblem* single_problem) {
  int nodes = solid_samples_count(s);
  double* clearance = MEMORY_NEW(double, nodes);
  for (int i = 0; i < nodes; i++) clearance[i] = fmax(0, fmin(-s->distance[i], single_problem->points[i].other));
  return clearance;
}

static int find_largest_clearance(const double* clearance, int nodes) {
  int best = 0;
  for (int i = 1; i < nodes; i++)
    if (clearance[i] > clearance[best]) best = i;
  return best;
}

/* Sets nodes to the nodes around `first` that have more clearance than `level`, are connected by faces and lie at most
 * `reach` away from `first`. Returns their number. seen (number of nodes): all false before and after the call. */
static int find_region(const SolidSamples* s, const double* clearance, double level, double reach, int first,
                       int* nodes, bool* seen) {
  const int step[3] = {1, s->size[0], s->size[0] * s->size[1]};
  int count = 0;
  nodes[count++] = first;
  seen[first] = true;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 6; k++) {
      int next = nodes[i] + (k % 2 ? 1 : -1) * step[k / 2];
      if (seen[next] || !(clearance[next] > level)) continue;
      if (vec3_norm(vec3_sub(solid_samples_position(s, next), solid_samples_position(s, first))) > reach) continue;
      seen[next] = true;
      nodes[count++] = next;
    }
  for (int i = 0; i < count; i++) seen[nodes[i]] = false;
  return count;
}

/* Returns the ellipsoid with the mean and second moments of nodes[count], enlarged by `factor`, with semi-axes in
 * ascending order. */
static Superquadric fit_ellipsoid(const SolidSamples* s, const int* nodes, int count, double factor) {
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
  for (int k = 0; k < 3; k++) out.size[k] = sqrt(5 * fmax(values[k], 0)) + factor;
  return out;
}

static bool is_inside(const SolidSamples* s, Vec3 point) {
  Vec3 at = vec3_scale(vec3_sub(point, s->low), 1 / s->edge);
  const double requested[3] = {at.x, at.y, at.z};
  int node[3];
  for (int k = 0; k < 3; k++) {
    node[k] = (int)floor(requested[k] + 0.5);
    if (node[k] < 0 || node[k] >= s->size[k]) return false;
  }
  return s->distance[(node[2] * s->size[1] + node[1]) * s->size[0] + node[0]] < 0;
}

/* Returns the ellipsoid `from`, extended along its longest axis up to the surface of the solid. It may overlap other
 * superquadrics. */
static Superquadric extend_to_bar(const SolidSamples* s, const Superquadric* from) {
  Vec3 axis = mat3_mul_vec(mat3_from_quat(from->rotation), vec3(0, 0, 1));
  double end[2];
  for (int side = 0; side < 2; side++) {
    int steps = 0;
    double stride = side ? s->edge : -s->edge;
    while (is_inside(s, vec3_add_scaled(from->position, (steps + 1) * stride, axis))) steps++;
    end[side] = steps * stride;
  }
  Superquadric out = *from;
  out.position = vec3_add_scaled(from->position, 0.5 * (end[0] + end[1]), axis);
  out.size[2] = 0.5 * (end[1] - end[0]) + 0.5 * s->edge;
  return out;
}

/* Returns the same body with the axes permuted cyclically `shifts` times. */
static Superquadric permute_axes(const Superquadric* from, int shifts) {
  assert(shifts >= 0);
  Superquadric out = *from;
  /* cyclic permutation of the axes: x to y to z */
  Quat rotation = quat_exp(vec3_scale(vec3(1, 1, 1), shifts * 2.0943951023931953 / sqrt(3)));
  out.rotation = quat_normalized(quat_mul(from->rotation, rotation));
  for (int k = 0; k < 3; k++) out.size[k] = from->size[(k + shifts) % 3];
  return out;
}

/* ---------------------------------------------------------------- starts of a further superquadric */

typedef struct {
  const FitProblem* single_problem;
  Superquadric start[STARTS];
  double cost[STARTS];
  double start_width, width;
} Starts;

static void fit_start(void* context, int k, int thread) {
  Starts* s = context;
  (void)thread;
  FitProblem alone = *s->single_problem;
  alone.threads = 1;
  fit_improve(&alone, &s->start[k], 1, s->start_width, FIRST_STEPS);
  fit_improve(&alone, &s->start[k], 1, s->width, FIRST_STEPS);
  s->cost[k] = fit_cost(&alone, &s->start[k], 1, CHOICE_CELLS / WIDTH_CELLS * s->width);
}

/* Chooses initial guesses for a new superquadric: ellipsoids of two regions around the node with the largest clearance.
 * The first region has all connected nodes with sufficient clearance, the second only nearby nodes. Each region also
 * gives a guess extended along its longest axis. */
static void create_starts(const SolidSamples* s, const double* clearance, Starts* starts, double size_min,
                          double size_max) {
  static const double LEVEL[2] = {0.6, 0.25}, REACH[2] = {HUGE_VAL, NEAR_CLEARANCES};
  int nodes = solid_samples_count(s), first = find_largest_clearance(clearance, nodes);
  int* region = MEMORY_NEW(int, nodes);
  bool* seen = MEMORY_NEW(bool, nodes);
  for (int k = 0; k < STARTS; k++) {
    bool bar = k >= REGION_STARTS;
    int which = bar ? k - REGION_STARTS : k / 3;
    double level = LEVEL[which] * clearance[first], none[SUPERQUADRIC_VARIABLES] = {0};
    int count = find_region(s, clearance, level, REACH[which] * clearance[first], first, region, seen);
    Superquadric start = fit_ellipsoid(s, region, count, level);
    start = bar ? extend_to_bar(s, &start) : permute_axes(&start, k % 3);
    starts->start[k] = superquadric_add_step(&start, none, size_min, size_max);
  }
  memory_free(seen);
  memory_free(region);
}

/* Adds one superquadric where it reduces the cost most. Returns false if no node has clearance left. */
static bool add_superquadric(SuperquadricSearch* search) {
  const SolidSamples* s = search->samples;
  FitProblem single_problem =
      create_single_problem(&search->problem, search->list, search->count, search->problem.size_max);
  double* clearance = compute_clearance(s, &single_problem);
  double most = clearance[find_largest_clearance(clearance, solid_samples_count(s))];
  if (most > 0) {
    adapt_weights(&single_problem);
    Starts starts = {.single_problem = &single_problem,
                     .start_width = fmax(search->width, WIDTH_PER_CLEARANCE * most),
                     .width = search->width};
    create_starts(s, clearance, &starts, single_problem.size_min, single_problem.size_max);
    parallel_for(single_problem.threads, STARTS, 2, 1, fit_start, &starts);
    int best = 0;
    for (int k = 1; k < STARTS; k++)
      if (starts.cost[k] < starts.cost[best]) best = k;
    fit_improve(&single_problem, &starts.start[best], 1, search->width, SINGLE_STEPS);
    search->list[search->count++] = starts.start[best];
  }
  memory_free(clearance);
  memory_free(single_problem.points);
  return most > 0;
}

/* ---------------------------------------------------------------- all */

static double fit_all(SuperquadricSearch* search, int steps) {
  return fit_improve(&search->problem, search->list, search->count, search->width, steps);
}

/* Returns the misclassified volume divided by the solid's volume, from the nodes. */
static double misclassified_fraction(const SuperquadricSearch* search) {
  int nodes = solid_samples_count(search->samples), wrong = 0, inside = 0;
  FitProblem asked = create_single_problem(&search->problem, search->list, search->count, search->width);
  for (int i = 0; i < nodes; i++) {
    inside += asked.points[i].side < 0;
    wrong += (asked.points[i].side < 0) != (asked.points[i].other < 0);
  }
  memory_free(asked.points);
  return inside > 0 ? (double)wrong / inside : 0;
}

static void add_all(SuperquadricSearch* search) {
  double cost = fit_cost(&search->problem, NULL, 0, search->width);
  Superquadric* before = MEMORY_NEW(Superquadric, search->options->max);
  while (search->count < search->options->max) {
    int count = search->count;
    memcpy(before, search->list, sizeof *before * (size_t)count);
    if (!add_superquadric(search)) break;
    double next = fit_all(search, JOINT_STEPS);
    if (count > 0 && next > (1 - GAIN_MIN) * cost) {
      memcpy(search->list, before, sizeof *before * (size_t)count);
      search->count = count;
      break;
    }
    cost = next;
    if (misclassified_fraction(search) <= search->options->error) break;
  }
  memory_free(before);
}

static void remove_superquadric(SuperquadricSearch* search, int which) {
  assert(which >= 0 && which < search->count);
  search->count--;
  memmove(&search->list[which], &search->list[which + 1], sizeof *search->list * (size_t)(search->count - which));
}

/* Returns the superquadric whose removal increases the cost least. Sets *cost to the cost without it. */
static int find_least_useful(SuperquadricSearch* search, double* cost) {
  int best = -1;
  Superquadric* without = MEMORY_NEW(Superquadric, search->count);
  for (int k = 0; k < search->count; k++) {
    int count = 0;
    for (int i = 0; i < search->count; i++)
      if (i != k) without[count++] = search->list[i];
    double cost_without = fit_cost(&search->problem, without, count, search->width);
    if (best < 0 || cost_without < *cost) best = k, *cost = cost_without;
  }
  memory_free(without);
  return best;
}

/* Removes the least useful superquadric and adds a new one. Returns false, with the old superquadrics restored, if the
 * cost does not decrease. */
static bool relocate_least_useful(SuperquadricSearch* search, double* cost) {
  int before = search->count;
  Superquadric* old = MEMORY_NEW(Superquadric, before);
  memcpy(old, search->list, sizeof *old * (size_t)before);
  double without = 0;
  remove_superquadric(search, find_least_useful(search, &without));
  fit_all(search, JOINT_STEPS);
  bool better = add_superquadric(search);
  double next = better ? fit_all(search, JOINT_STEPS) : *cost;
  better = next < (1 - 1e-3) * *cost;
  if (better) *cost = next;
  if (!better) memcpy(search->list, old, sizeof *old * (size_t)before), search->count = before;
  memory_free(old);
  return better;
}

static void relocate_while_useful(SuperquadricSearch* search) {
  double cost = fit_cost(&search->problem, search->list, search->count, search->width);
  if (search->count < 2 || misclassified_fraction(search) <= search->options->error) return;
  int failures = 0;
  for (int round = 0; round < MOVES_MAX && failures < FAILURES_MAX; round++) {
    if (relocate_least_useful(search, &cost)) {
      failures = 0;
      continue;
    }
    failures++;
    cost = fit_all(search, JOINT_STEPS);
  }
}

/* Removes superquadrics whose removal hardly increases the cost. */
static void remove_useless(SuperquadricSearch* search) {
  double cost = fit_cost(&search->problem, search->list, search->count, search->width);
  while (search->count > 1) {
    double without = 0;
    int which = find_least_useful(search, &without);
    if (without > cost * (1 + GAIN_MIN)) return;
    remove_superquadric(search, which);
    cost = fit_all(search, JOINT_STEPS);
  }
}

/* ---------------------------------------------------------------- defaults and result */

static SuperquadricOptions with_defaults(const SuperquadricOptions* requested) {
  SuperquadricOptions options = *requested;
  if (options.max <= 0) options.max = MAX_DEFAULT;
  if (options.cells <= 0) options.cells = CELLS_DEFAULT;
  if (!(options.error > 0)) options.error = ERROR_DEFAULT;
  return options;
}

static void approximate(SuperquadricUnion* result, const ConvexHull* surface, const SuperquadricOptions* options) {
  SolidSamples samples = solid_samples_create(surface, options->cells, options->threads);
  SuperquadricSearch search = {.samples = &samples, .options = options, .width = WIDTH_CELLS * samples.edge};
  search.problem = problem_create(&samples, options->threads);
  search.list = MEMORY_NEW(Superquadric, options->max + 1);
  add_all(&search);
  relocate_while_useful(&search);
  fit_all(&search, FINAL_STEPS);
  remove_useless(&search);
  result->list = search.list;
  result->count = search.count;
  memory_free(search.problem.points);
  solid_samples_free(&samples);
}

HullResult mesh_superquadrics(SuperquadricUnion* result, const Mesh* mesh, const SuperquadricOptions* requested) {
  *result = (SuperquadricUnion){0};
  SuperquadricOptions options = with_defaults(requested);
  ConvexHull surface, whole;
  HullResult outer = hull_create(&whole, mesh->positions, mesh->position_count);
  if (outer != HULL_OK) return outer;
  hull_free(&whole);
  if (!mesh_surface(&surface, NULL, mesh)) return HULL_FLAT;
  MassMoment moment = mass_moment_solid(&surface);
  if (mass_moment_mass(&moment) > 0) {
    approximate(result, &surface, &options);
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
