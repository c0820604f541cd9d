/* Approximate convex decomposition of a mesh (docs/decompose.md): repairs the mesh, cuts the solid by planes, merges
 * pieces, makes hulls overlap, reduces vertices, and checks the result. */
#include <assert.h>
#include "decompose/blocks.h"

#include "decompose/check.h"
#include "decompose/inside.h"
#include "decompose/mirror.h"
#include "decompose/mesh_repair.h"

#define DEFAULT_HULLS 16
/* Numbers of hulls that are tried if a tolerance is given: the first number, and the default maximum. */
#define TOLERANCE_FIRST_HULLS 4
#define TOLERANCE_HULLS 256
/* Overlapping hulls may extend outside the solid by at most this fraction of the tolerance. */
#define SLIVER_SHARE 0.25
#define DEFAULT_VERTICES 64
#define DEFAULT_ERROR 1e-3
#define DEFAULT_RESOLUTION 1200
/* Numbers of pieces into which the mesh is cut, per hull of the result. Merging undoes cuts that do not help. Without
 * symmetry, cuts between neighbouring groups are then improved. With symmetry, two larger numbers are tried, and the
 * better result is kept. */
#define PIECES_PER_HULL 4
static const int MIRRORED_PIECES_PER_HULL[] = {5, 8};
enum { MIRRORED_TRIES = sizeof MIRRORED_PIECES_PER_HULL / sizeof MIRRORED_PIECES_PER_HULL[0] };
/* A symmetric part is first cut into at most this many pieces without symmetry. Parts of few convex pieces are then
 * decomposed exactly. */
#define UNSYMMETRIC_PIECES 24
/* Cutting ends when the volume of the hulls outside the pieces is below this fraction of the allowed error. */
#define EXCESS_SHARE 0.2
/* Two blocks are always merged if the hull of both adds less volume than this [mesh volume]. */
#define FREE_VOLUME 1e-9

DecomposeOptions decompose_with_defaults(const DecomposeOptions* requested) {
  DecomposeOptions o = *requested;
  if (o.max_hulls <= 0) o.max_hulls = o.tolerance > 0 ? TOLERANCE_HULLS : DEFAULT_HULLS;
  if (o.max_vertices <= 0) o.max_vertices = DEFAULT_VERTICES;
  if (!(o.error > 0)) o.error = DEFAULT_ERROR;
  if (o.resolution <= 0) o.resolution = DEFAULT_RESOLUTION;
  if (o.threads <= 0) o.threads = 1;
  return o;
}

static void to_mesh_coordinates(ConvexHull* hull, UnitFrame frame) {
  for (int i = 0; i < hull->vertex_count; i++)
    hull->vertices[i] = vec3_add_scaled(frame.center, frame.scale, hull->vertices[i]);
}

/* Returns the region of the solid with negative coordinates along every axis with mirror[axis] set. The other regions
 * are its mirror images. */
static Part fundamental_region(const Part* solid, const bool mirror[3]) {
  Part part = part_cut(solid, (CutPlane){{1, 0, 0}, 10}, 0);
  for (int axis = 0; axis < 3; axis++) {
    if (!mirror[axis]) continue;
    Part half = part_cut(&part, (CutPlane){vec3_axis(axis), 0}, PLANE_ROUNDING);
    part_free(&part);
    part = half;
  }
  return part;
}

typedef struct {
  const Part* solid;
  const DecomposeOptions* options;
  SearchOptions search;
  double volume;
} Cutting;

/* Decomposes the solid without symmetry into `piece_count` pieces. require_excess: return false, with blocks unset, if
 * the hulls of the pieces have too much volume outside the pieces. */
static bool cut_without_symmetry(Blocks* blocks, const Cutting* c, int piece_count, bool require_excess) {
  const bool none[3] = {false, false, false};
  double enough = EXCESS_SHARE * c->options->error * c->volume;
  Pieces pieces = {0};
  pieces_add(&pieces, fundamental_region(c->solid, none), &c->search);
  pieces_split(&pieces, piece_count, enough, &c->search);
  bool good = !require_excess || pieces_excess(&pieces) <= enough;
  if (good) {
    *blocks = blocks_create(&pieces);
    blocks_extend(blocks);
    int* group = MEMORY_NEW(int, blocks->count + 1);
    double added = blocks_group(blocks, none, c->options->max_hulls, FREE_VOLUME * c->volume, group);
    if (added > 0) blocks_recut(blocks, &pieces, group, &c->search);
    memory_free(group);
  }
  pieces_free(&pieces);
  return good;
}

static double blocks_volume(const Blocks* blocks) {
  double sum = 0;
  for (int k = 0; k < blocks->count; k++) sum += blocks->items[k].flat ? 0 : solid_volume(&blocks->items[k].hull);
  return sum;
}

/* Decomposes the region of the solid on one side of all mirror planes, and adds the mirror images. Tries increasing
 * numbers of pieces and keeps the hulls with the smallest total volume. */
static void cut_mirrored(Blocks* blocks, const Cutting* c, const bool mirror[3]) {
  int fold = (mirror[0] ? 2 : 1) * (mirror[1] ? 2 : 1) * (mirror[2] ? 2 : 1), before = 0;
  Pieces pieces = {0};
  pieces_add(&pieces, fundamental_region(c->solid, mirror), &c->search);
  *blocks = (Blocks){0};
  for (int k = 0; k < MIRRORED_TRIES; k++) {
    int piece_count = MIRRORED_PIECES_PER_HULL[k] * c->options->max_hulls / fold;
    pieces_split(&pieces, piece_count > 2 ? piece_count : 2, EXCESS_SHARE * c->options->error * c->volume / fold,
                 &c->search);
    if (pieces.count == before) break;
    before = pieces.count;
    Blocks tried = blocks_create(&pieces);
    blocks_extend(&tried);
    int* group = MEMORY_NEW(int, fold* tried.count + 1);
    blocks_group(&tried, mirror, c->options->max_hulls, FREE_VOLUME * c->volume, group);
    memory_free(group);
    bool better = k == 0 || blocks_volume(&tried) < blocks_volume(blocks);
    blocks_free(better ? blocks : &tried);
    if (better) *blocks = tried;
  }
  pieces_free(&pieces);
}

/* ---------------------------------------------------------------- regular grid of blocks */

/* Adds one cell of the grid as a block. Neighbouring cells have bit-identical corners. */
static void add_cell(Blocks* blocks, const double* x, const double* y, const double* z) {
  Vec3 corners[8];
  for (int k = 0; k < 8; k++) corners[k] = vec3(x[k & 1], y[k >> 1 & 1], z[k >> 2]);
  blocks->items[blocks->count++] = block_create(corners, 8);
}

static Part slab(const Part* part, int axis, const double* limits) {
  Vec3 n = vec3_axis(axis);
  Part below = part_cut(part, (CutPlane){n, limits[1]}, PLANE_ROUNDING);
  Part between = part_cut(&below, plane_flipped((CutPlane){n, limits[0]}), PLANE_ROUNDING);
  part_free(&below);
  return between;
}

/* Returns the n + 1 coordinates that limit n equal cells between `low` and `high`. The caller frees the array with
 * memory_free. */
static double* even_limits(double low, double high, int n) {
  assert(n >= 1);
  double* limits = MEMORY_NEW(double, n + 1);
  for (int k = 0; k <= n; k++) limits[k] = k == n ? high : low + (high - low) * k / n;
  return limits;
}

static void cut_grid(Blocks* blocks, const Part* solid, const int grid[3]) {
  Vec3 low = solid->points[0], high = low;
  for (int i = 1; i < solid->point_count; i++)
    low = vec3_min(low, solid->points[i]), high = vec3_max(high, solid->points[i]);
  double* x = even_limits(low.x, high.x, grid[0]);
  double* y = even_limits(low.y, high.y, grid[1]);
  double* z = even_limits(low.z, high.z, grid[2]);
  *blocks = (Blocks){MEMORY_NEW(Block, (size_t)grid[0] * (size_t)grid[1] * (size_t)grid[2]), 0};
  double least = 1e-9 * fabs(part_volume(solid)) / ((double)grid[0] * grid[1] * grid[2]);
  for (int i = 0; i < grid[0]; i++) {
    Part sheet = slab(solid, 0, x + i);
    for (int j = 0; j < grid[1]; j++) {
      Part bar = slab(&sheet, 1, y + j);
      for (int k = 0; k < grid[2]; k++) {
        Part cell = slab(&bar, 2, z + k);
        if (cell.triangle_count + cell.edge_count > 0 && fabs(part_volume(&cell)) > least)
          add_cell(blocks, x + i, y + j, z + k);
        part_free(&cell);
      }
      part_free(&bar);
    }
    part_free(&sheet);
  }
  memory_free(x);
  memory_free(y);
  memory_free(z);
}

/* ---------------------------------------------------------------- complete decomposition */

static HullResult decompose_to_one_hull(const Part* solid) {
  ConvexHull hull;
  HullResult result = hull_create(&hull, solid->points, solid->point_count);
  hull_free(&hull);
  return result;
}

/* Decomposes a symmetric solid. First tries a decomposition without symmetry, because a result with few exact hulls is
 * often symmetric and smaller. */
static void cut_symmetric(Blocks* blocks, const Part* solid, double volume, const bool mirror[3],
                          const DecomposeOptions* o) {
  Cutting c = {solid, o, {o->resolution, o->threads}, volume};
  int piece_count = PIECES_PER_HULL * o->max_hulls > 2 ? PIECES_PER_HULL * o->max_hulls : 2;
  if (!mirror[0] && !mirror[1] && !mirror[2]) {
    cut_without_symmetry(blocks, &c, piece_count, false);
    return;
  }
  if (cut_without_symmetry(blocks, &c, piece_count < UNSYMMETRIC_PIECES ? piece_count : UNSYMMETRIC_PIECES, true)) {
    if (blocks_are_mirrored(blocks, mirror)) return;
    blocks_free(blocks);
  }
  cut_mirrored(blocks, &c, mirror);
}

static void choose_mirrors(Decomposition* result, const Part* solid, const DecomposeOptions* o) {
  for (int axis = 0; axis < 3; axis++)
    result->mirror[axis] = o->symmetry_auto ? part_is_mirrored(solid, axis) : o->symmetry[axis];
}

/* Makes the hulls overlap, then reduces their vertices, which only enlarges hulls. With o->inside, shrinks the hulls
 * into the solid instead. */
static HullResult finish_hulls(Decomposition* result, Blocks* blocks, const Part* solid, double sliver,
                               const DecomposeOptions* o) {
  MirrorGroups groups = mirror_groups(blocks, result->mirror);
  HullResult status = HULL_OK;
  if (o->inside) {
    blocks_shrink_into(blocks, solid, result->condition.components > 1, &groups, o);
  } else {
    blocks_overlap(blocks, sliver > 0 ? sliver : HUGE_VAL);
    status = blocks_reduce_vertices(blocks, &groups, o->max_vertices);
  }
  mirror_groups_free(&groups);
  return status;
}

static void move_hulls(Decomposition* result, Blocks* blocks, UnitFrame frame) {
  result->hulls = MEMORY_NEW(ConvexHull, blocks->count + 1);
  result->hull_count = blocks->count;
  for (int k = 0; k < blocks->count; k++) {
    result->hulls[k] = blocks->items[k].hull;
    blocks->items[k].hull = (ConvexHull){0};
    to_mesh_coordinates(&result->hulls[k], frame);
  }
}

static HullResult decompose_once(Decomposition* result, const Mesh* mesh, const DecomposeOptions* o) {
  *result = (Decomposition){0};
  Part solid;
  UnitFrame frame;
  bool usable = mesh_repair(mesh, &solid, &frame, &result->condition);
  HullResult status = usable ? decompose_to_one_hull(&solid) : HULL_FLAT;
  if (status == HULL_OK) {
    double volume = part_solid_volume(&solid);
    result->mesh_volume = volume * frame.scale * frame.scale * frame.scale;
    Blocks blocks;
    if (o->grid[0] > 0) {
      cut_grid(&blocks, &solid, o->grid);
    } else {
      choose_mirrors(result, &solid, o);
      cut_symmetric(&blocks, &solid, volume, result->mirror, o);
      status = finish_hulls(result, &blocks, &solid, SLIVER_SHARE * o->tolerance / frame.scale, o);
    }
    move_hulls(result, &blocks, frame);
    blocks_free(&blocks);
    result->mesh_pieces = result->condition.components - result->condition.cavities;
  }
  if (status == HULL_OK)
    decomposition_check(result, mesh, &solid, frame, o);
  else
    decomposition_free(result);
  part_free(&solid);
  return status;
}

static bool all_guarantees_hold(const Decomposition* d) {
  return d->convex && d->covers && d->connected && d->symmetric && d->within_budget;
}

/* Returns 2 if a decomposition passes all checks, 1 if its hulls are convex and cover the mesh, and 0 otherwise. */
static int guarantee_level(const Decomposition* d) {
  return all_guarantees_hold(d) ? 2 : d->convex && d->covers ? 1 : 0;
}

/* Keeps the decomposition that passes more checks or, on a tie, has the smaller volume. Frees the other result. */
static void keep_better_result(Decomposition* result, Decomposition* other) {
  int more = guarantee_level(other) - guarantee_level(result);
  bool better = more > 0 || (more == 0 && all_guarantees_hold(other) && other->hull_volume < result->hull_volume);
  decomposition_free(better ? result : other);
  if (better) *result = *other;
}

/* Decomposes within the limit of o->max_hulls. Decomposes again without symmetry if the result with automatic symmetry
 * fails a check. The points of a mesh can be symmetric although its triangles are not. */
static HullResult decompose_budget(Decomposition* result, const Mesh* mesh, const DecomposeOptions* requested) {
  DecomposeOptions options = *requested;
  HullResult status = decompose_once(result, mesh, &options);
  bool mirrored = result->mirror[0] || result->mirror[1] || result->mirror[2];
  if (status != HULL_OK || !mirrored || !options.symmetry_auto || all_guarantees_hold(result)) return status;
  Decomposition other;
  options.symmetry_auto = false;
  if (decompose_once(&other, mesh, &options) == HULL_OK) keep_better_result(result, &other);
  return status;
}

/* ---------------------------------------------------------------- smallest number of hulls for a tolerance */

/* Decomposes with at most `hulls` hulls. Sets *is_within to true if the tolerance is met. Replaces *result if the
 * tolerance is met, or if *result does not meet it either. */
static HullResult try_hulls(Decomposition* result, const Mesh* mesh, const DecomposeOptions* o, int hulls,
                            bool* is_within) {
  assert(hulls >= 1);
  DecomposeOptions options = *o;
  options.max_hulls = hulls;
  Decomposition tried;
  HullResult status = decompose_budget(&tried, mesh, &options);
  *is_within = status == HULL_OK && tried.within_tolerance;
  if (status != HULL_OK) return status;
  bool taken = *is_within || !result->within_tolerance;
  decomposition_free(taken ? result : &tried);
  if (taken) *result = tried;
  return HULL_OK;
}

/* Finds a small number of hulls that meets the tolerance. Doubles the number until the tolerance is met, then bisects
 * down to an interval of an eighth of the number. */
static HullResult decompose_within(Decomposition* result, const Mesh* mesh, const DecomposeOptions* o) {
  *result = (Decomposition){0};
  int failed = 0, tried = TOLERANCE_FIRST_HULLS < o->max_hulls ? TOLERANCE_FIRST_HULLS : o->max_hulls;
  bool is_within = false;
  HullResult status = HULL_OK;
  while (status == HULL_OK && !is_within) {
    status = try_hulls(result, mesh, o, tried, &is_within);
    if (is_within || tried == o->max_hulls) break;
    failed = tried;
    tried = tried < o->max_hulls / 2 ? 2 * tried : o->max_hulls;
  }
  while (status == HULL_OK && is_within && result->hull_count - failed > 1 + result->hull_count / 8) {
    int middle = (failed + result->hull_count) / 2;
    bool enough;
    status = try_hulls(result, mesh, o, middle, &enough);
    if (!enough) failed = middle;
  }
  return status;
}

HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* requested) {
  DecomposeOptions options = decompose_with_defaults(requested);
  bool search = options.tolerance > 0 && options.grid[0] == 0;
  return search ? decompose_within(result, mesh, &options) : decompose_budget(result, mesh, &options);
}

void decomposition_free(Decomposition* decomposition) {
  for (int k = 0; k < decomposition->hull_count; k++) hull_free(&decomposition->hulls[k]);
  memory_free(decomposition->hulls);
  memory_free(decomposition->joints);
  for (int k = 0; k < decomposition->component_count; k++) memory_free(decomposition->components[k].hulls);
  memory_free(decomposition->components);
  memory_free(decomposition->depths);
  *decomposition = (Decomposition){0};
}
