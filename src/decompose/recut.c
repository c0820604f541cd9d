/* Improves the cut between neighbouring groups of pieces. The planes between groups were chosen before the grouping, so
 * the best plane between two groups is searched again. */
#include "decompose/blocks.h"

/* Two groups are not cut again if their hulls have less volume outside the solid than this fraction of the solid's
 * volume. */
#define EXCESS_MIN 1e-3
/* Largest number of passes over all pairs of groups. */
#define PASSES_MAX 6
/* A new cut is accepted if it reduces the volume of both hulls by at least this fraction. */
#define RECUT_GAIN 2e-4
/* Number of triangles of the simplified copy on which cutting planes are evaluated. */
#define RECUT_TRIANGLES 1200

/* Hulls with a smaller volume are flat [unit size^3]. */
#define FLAT_VOLUME 1e-12

/* Appends part b to part a. Caps of both in a common plane are kept, because the volumes of opposite caps cancel. */
static void add_part(Part* a, const Part* b) {
  int points = a->point_count, caps = a->cap_count;
  for (int i = 0; i < b->point_count; i++) part_add_point(a, b->points[i]);
  for (int i = 0; i < b->cap_count; i++) part_add_cap(a, b->caps[i]);
  for (int i = 0; i < b->triangle_count; i++)
    part_add_triangle(a, points + b->triangles[i][0], points + b->triangles[i][1], points + b->triangles[i][2]);
  for (int i = 0; i < b->edge_count; i++)
    part_add_edge(a, points + b->edges[i].a, points + b->edges[i].b, caps + b->edges[i].cap);
}

static Block block_of_part(const Part* part) { return block_create(part->points, part->point_count); }

static double estimated_volume(const Part* part) {
  double volume = part->point_count > 3 ? hull_estimate(part->points, part->point_count).volume : 0;
  return volume > FLAT_VOLUME ? volume : HUGE_VAL;
}

/* Joins both parts and cuts them by a better plane. Returns false, with parts and blocks unchanged, if no plane reduces
 * the volume of the hulls. */
static bool cut_again(Part parts[2], Block blocks[2], const SearchOptions* options) {
  Part both = {0};
  CutPlane plane;
  add_part(&both, &parts[0]);
  add_part(&both, &parts[1]);
  Piece piece = piece_create_joined(both, &(SearchOptions){RECUT_TRIANGLES, options->threads});
  bool better = piece_best_plane(&piece, 0, options->threads, &plane);
  if (better) {
    double enough = (1 - RECUT_GAIN) * (blocks[0].estimate.volume + blocks[1].estimate.volume);
    Part a = part_cut(&piece.part, plane, PLANE_ROUNDING),
         b = part_cut(&piece.part, plane_flipped(plane), PLANE_ROUNDING);
    better = estimated_volume(&a) + estimated_volume(&b) < enough;
    Part unused[2] = {better ? parts[0] : a, better ? parts[1] : b};
    if (better) {
      block_free(&blocks[0]), block_free(&blocks[1]);
      parts[0] = a, parts[1] = b, blocks[0] = block_of_part(&a), blocks[1] = block_of_part(&b);
    }
    part_free(&unused[0]), part_free(&unused[1]);
  }
  piece_free(&piece);
  return better;
}

static double excess_volume(const Block* block, const Part* part) { return block->estimate.volume - part_volume(part); }

static bool improve_pairs(Blocks* blocks, Part* parts, double excess_min, int* tried, const SearchOptions* options,
                          int* version) {
  bool any = false;
  for (int i = 0; i < blocks->count; i++)
    for (int j = i + 1; j < blocks->count; j++) {
      int now = version[i] > version[j] ? version[i] : version[j];
      if (tried[i * blocks->count + j] > now) continue;
      if (block_distance(&blocks->items[i], &blocks->items[j]) > TOUCH_DISTANCE) continue;
      if (excess_volume(&blocks->items[i], &parts[i]) + excess_volume(&blocks->items[j], &parts[j]) < excess_min)
        continue;
      Part two[2] = {parts[i], parts[j]};
      Block pair[2] = {blocks->items[i], blocks->items[j]};
      tried[i * blocks->count + j] = now + 1;
      if (!cut_again(two, pair, options)) continue;
      parts[i] = two[0], parts[j] = two[1];
      blocks->items[i] = pair[0], blocks->items[j] = pair[1];
      version[i] = version[j] = now + 1;
      any = true;
    }
  return any;
}

void blocks_recut(Blocks* blocks, const Pieces* pieces, const int* group, const SearchOptions* options) {
  Part* parts = MEMORY_NEW(Part, blocks->count + 1);
  int* tried = MEMORY_NEW(int, blocks->count * blocks->count + 1);
  int* version = MEMORY_NEW(int, blocks->count + 1);
  for (int k = 0; k < pieces->count; k++) add_part(&parts[group[k]], &pieces->items[k].part);
  double excess_min = 0;
  for (int k = 0; k < blocks->count; k++) excess_min += EXCESS_MIN * part_volume(&parts[k]);
  for (int k = 0; k < PASSES_MAX && improve_pairs(blocks, parts, excess_min, tried, options, version); k++)
    ;
  for (int k = 0; k < blocks->count; k++) part_free(&parts[k]);
  memory_free(parts), memory_free(tried), memory_free(version);
}
