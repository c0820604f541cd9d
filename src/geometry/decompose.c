/* Approximate convex decomposition: mend the mesh, cut it by planes, merge, join, thin, and check. docs/decompose.md */
#include "geometry/decompose.h"

#include <string.h>

#include "geometry/decompose_check.h"
#include "geometry/mesh_repair.h"

#define DEFAULT_HULLS 16
#define DEFAULT_VERTICES 64
#define DEFAULT_ERROR 1e-3
#define DEFAULT_RESOLUTION 1200
/* Pieces cut for every hull wanted: merging then undoes the cuts that were not worth it. */
#define PIECES_PER_HULL 3
/* Merging is free below this volume [mesh volume]. */
#define FREE_VOLUME 1e-9

static DecomposeOptions with_defaults(const DecomposeOptions* given) {
  DecomposeOptions o = *given;
  if (o.max_hulls <= 0) o.max_hulls = DEFAULT_HULLS;
  if (o.max_vertices <= 0) o.max_vertices = DEFAULT_VERTICES;
  if (!(o.error > 0)) o.error = DEFAULT_ERROR;
  if (o.resolution <= 0) o.resolution = DEFAULT_RESOLUTION;
  if (o.threads <= 0) o.threads = 1;
  return o;
}

/* From unit size to the mesh's coordinates. */
static void move_out(ConvexHull* hull, UnitFrame frame) {
  for (int i = 0; i < hull->vertex_count; i++)
    hull->vertices[i] = vec3_add_scaled(frame.center, frame.scale, hull->vertices[i]);
}

static void cut_and_merge(Blocks* blocks, const Part* solid, const DecomposeOptions* o) {
  SearchOptions search = {o->resolution, o->threads};
  double volume = fabs(part_volume(solid));
  Pieces pieces = {0};
  Part copy = part_cut(solid, (Plane){{1, 0, 0}, 10}, 0);
  pieces_add(&pieces, copy, &search);
  pieces_split(&pieces, PIECES_PER_HULL * o->max_hulls, 0.2 * o->error * volume, &search);
  *blocks = blocks_create(&pieces);
  pieces_free(&pieces);
  blocks_extend(blocks);
  blocks_merge(blocks, o->max_hulls, FREE_VOLUME * volume);
}

static HullResult all_in_one(const Part* solid) {
  ConvexHull hull;
  HullResult result = hull_create(&hull, solid->points, solid->point_count);
  hull_free(&hull);
  return result;
}

static HullResult thin_all(Blocks* blocks, int max_vertices) {
  for (int k = 0; k < blocks->count; k++) {
    HullResult result = hull_outer(&blocks->items[k].hull, max_vertices);
    if (result != HULL_OK) return result;
  }
  return HULL_OK;
}

static void take_hulls(Decomposition* result, Blocks* blocks, UnitFrame frame) {
  result->hulls = MEMORY_NEW(ConvexHull, blocks->count + 1);
  result->hull_count = blocks->count;
  for (int k = 0; k < blocks->count; k++) {
    result->hulls[k] = blocks->items[k].hull;
    blocks->items[k].hull = (ConvexHull){0};
    move_out(&result->hulls[k], frame);
  }
}

HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given) {
  DecomposeOptions options = with_defaults(given);
  *result = (Decomposition){0};
  Part solid;
  UnitFrame frame;
  bool usable = mesh_repair(mesh, &solid, &frame, &result->condition);
  HullResult status = usable ? all_in_one(&solid) : HULL_FLAT;
  if (status == HULL_OK) {
    result->mesh_volume = part_volume(&solid) * frame.scale * frame.scale * frame.scale;
    Blocks blocks;
    cut_and_merge(&blocks, &solid, &options);
    blocks_overlap(&blocks);
    status = thin_all(&blocks, options.max_vertices);
    take_hulls(result, &blocks, frame);
    blocks_free(&blocks);
    result->mesh_pieces = result->condition.components - result->condition.cavities;
  }
  part_free(&solid);
  if (status != HULL_OK) {
    decomposition_free(result);
    return status;
  }
  decomposition_check(result, mesh, &options);
  return HULL_OK;
}

void decomposition_free(Decomposition* decomposition) {
  for (int k = 0; k < decomposition->hull_count; k++) hull_free(&decomposition->hulls[k]);
  memory_free(decomposition->hulls);
  memory_free(decomposition->joints);
  *decomposition = (Decomposition){0};
}
