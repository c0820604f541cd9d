/* Private to decompose/: the steps of mesh_decompose, in unit size. Method: docs/decompose.md */
#ifndef SDRS_DECOMPOSE_BLOCKS_H
#define SDRS_DECOMPOSE_BLOCKS_H

#include "decompose/hull_estimate.h"
#include "decompose/part.h"

/* Points within this distance of a plane lie on it [unit size]. */
#define PLANE_ROUNDING 1e-11
/* Hulls within this distance touch; a face within it of a plane lies in the plane [unit size]. */
#define TOUCH_DISTANCE 1e-9

/* Copy of the options with defaults instead of zeros and at least one thread. */
DecomposeOptions decompose_with_defaults(const DecomposeOptions* given);

/* ---------------------------------------------------------------- cutting (search.c) */

/* A connected piece of the solid, with a coarse copy for the search of planes. */
typedef struct {
  Part part, coarse;
  HullEstimate hull;
  double excess; /* volume of the hull outside the piece; < 0 if no plane cuts the piece any more */
  bool loose;    /* joined from several pieces: treated as connected */
} Piece;

typedef struct {
  Piece* items;
  int count, capacity;
} Pieces;

typedef struct {
  int triangles; /* triangles of a coarse copy */
  int threads;
} SearchOptions;

/* Takes ownership of the part and appends each of its components. Pieces starts zeroed and is freed by pieces_free. */
void pieces_add(Pieces* pieces, Part part, const SearchOptions* options);
/* Frees all pieces and zeroes the list; accepts a zeroed one. */
void pieces_free(Pieces* pieces);
/* Repeatedly cuts the piece with the largest excess until there are `count` pieces, the total excess is at most
 * `enough` [unit size^3], or no piece can be cut. */
void pieces_split(Pieces* pieces, int count, double enough, const SearchOptions* options);
/* Total volume of the hulls outside their pieces, from the coarse copies [unit size^3]. */
double pieces_excess(const Pieces* pieces);
/* A piece that need not be connected; takes ownership of the part. Freed by piece_free. */
Piece piece_loose(Part part, const SearchOptions* options);
/* Frees the part and its copy; accepts a zeroed piece. */
void piece_free(Piece* piece);
/* The plane that minimizes the volume of the hulls after the cut, with a lookahead of `depth` (0 to 2) further cuts.
 * False: no useful plane; *plane is then undefined. Independent of the number of threads. */
bool piece_best_plane(const Piece* piece, int depth, int threads, CutPlane* plane);

/* ---------------------------------------------------------------- hulls (merge.c) */

typedef struct {
  ConvexHull hull; /* for a flat piece only its points */
  bool flat;
  HullEstimate estimate;
} Block;

typedef struct {
  Block* items;
  int count;
} Blocks;

/* Convex hull of points (count >= 1). Coplanar points give a flat block, which keeps copies of them. Freed by
 * block_free. */
Block block_create(const Vec3* points, int count);
/* Frees the block; accepts a zeroed one. */
void block_free(Block* block);
/* Deep copy, owned by the caller, freed by block_free. */
Block block_copy(const Block* block);
/* Convex hull of two blocks, which stay; owned by the caller, freed by block_free. */
Block block_join(const Block* a, const Block* b);
/* Convex hull of all blocks (count), which stay; owned by the caller, freed by block_free. */
Block block_join_all(const Block* const* blocks, int count);
/* Hulls of all pieces in their order; the pieces stay. Freed by blocks_free. */
Blocks blocks_create(const Pieces* pieces);
/* Frees all blocks and zeroes the list; accepts a zeroed one. */
void blocks_free(Blocks* blocks);
/* Distance of two hulls [unit size], 0 if they intersect. Allocates temporarily. */
double block_distance(const Block* a, const Block* b);
/* block_distance with the nearest points, which are undefined for intersecting hulls [unit size]. */
double block_nearest(const Block* a, const Block* b, Vec3* on_a, Vec3* on_b);
/* Mirror images of blocks: of[axis][k] is the index of block k's image, NULL for an axis without a mirror plane.
 * planes: bit = axis. Owned arrays. */
typedef struct {
  int planes;
  int* of[3];
} MirrorImages;

/* Index of a block's image in the planes `which` (bit = axis), all of them in images->planes. */
int mirror_image(const MirrorImages* images, int block, int which);
/* p with the sign of every axis in `which` (bit = axis) reversed. */
Vec3 vec3_mirrored(Vec3 p, int which);
/* A mirrored copy with outward triangles; freed by block_free. */
Block block_image(const Block* block, int which);

/* A pair has at most eight images: the blocks of all. */
enum { IMAGES_MAX = 16 };

/* Appends the mirror images of every block; the list becomes 1, 2, 4 or 8 times as long, the given blocks first. The
 * result is freed by mirror_images_free. */
MirrorImages blocks_unfold(Blocks* blocks, const bool mirror[3]);
/* Frees the arrays and zeroes the struct. */
void mirror_images_free(MirrorImages* images);

/* Repeatedly replaces a touching pair, together with all its images, by the convex hull: the move that adds the least
 * volume per removed block first, while there are more than `count` blocks or the added volume is at most
 * `free_volume`. slot (one entry per original block): index of the first block that it was joined with. Returns the
 * added volume [unit size^3]. The list gets shorter; images are only read. */
double blocks_merge(Blocks* blocks, const MirrorImages* images, int count, double free_volume, int* slot);

/* ---------------------------------------------------------------- grouping (group.c) */

/* Unfolds the blocks and joins them to at most `count`, with an optimization that improves on merging alone. group (8
 * blocks->count, or as many as unfolded blocks): the resulting block of each. Returns the approximate added volume, 0
 * if none [unit size^3]. */
double blocks_group(Blocks* blocks, const bool mirror[3], int count, double free_volume, int* group);

/* ---------------------------------------------------------------- cutting again (recut.c) */

/* For pairs of neighbouring groups: joins their pieces and cuts them again where that reduces the volume of both hulls.
 * blocks: those of the groups. group (pieces->count): of blocks_group without mirror planes. The pieces stay. */
void blocks_recut(Blocks* blocks, const Pieces* pieces, const int* group, const SearchOptions* options);

/* ---------------------------------------------------------------- joining (join.c) */

/* Centre of the bounding box. Unlike the mean of the corners it does not depend on corners within flat faces. The hull
 * has at least one vertex. */
Vec3 hull_middle(const ConvexHull* hull);
/* Centre of the common area of two hulls that touch in a face of one of them. False: they do not; *middle is then
 * undefined. */
bool hulls_shared_middle(const ConvexHull* a, const ConvexHull* b, Vec3* middle);
/* Extends blocks of few faces through neighbours that contain the shared face, where the union does not change:
 * crossing bars become whole. Flat blocks stay. In place. */
void blocks_extend(Blocks* blocks);
/* Makes touching pairs overlap by a new corner inside the other. The union does not change if one contains the shared
 * face of the other; otherwise it grows by slivers beside that face, at most 0.01 and `deepest` deep. */
void blocks_overlap(Blocks* blocks, double deepest);

/* ---------------------------------------------------------------- fewer vertices (hull_outer.c) */

/* Faces of the hulls that touch a hull: volume added inside these hulls has a reduced cost. */
typedef struct {
  CutPlane* planes;
  int* first; /* first plane of each hull     (count + 1) */
  int count;
} NeighbourFaces;
/* Neighbours of block `of`, without flat ones. Owned by the caller, freed by neighbours_free. */
NeighbourFaces neighbours_create(const Blocks* blocks, int of);
/* Frees the arrays and zeroes the struct. */
void neighbours_free(NeighbourFaces* near);
/* Replaces a hull by a larger one with at most max_vertices (>= 4) vertices that contains it: edges are contracted to
 * the point outside the adjacent faces that adds the least volume. planes (bit = axis; 0: none): mirror planes through
 * the origin in which the hull is its own image, and stays so. near: may be NULL. If not HULL_OK the hull is unchanged;
 * HULL_FAILED: no such hull with fewer than 8 vertices was found (from 8 on the bounding box is the last resort). */
HullResult hull_outer_mirrored(ConvexHull* hull, int planes, int max_vertices, const NeighbourFaces* near);

/* The hull as a Part; a copy, freed by part_free. */
Part part_of_hull(const ConvexHull* hull);
/* Signed distance of a point from the farthest face, > 0 outside [unit size]. Needles are skipped; -HUGE_VAL if there
 * is no other face. */
double hull_outside(const ConvexHull* hull, Vec3 point);
/* Plane of a triangle: outward unit normal and offset; both zero for a needle. */
CutPlane hull_plane(const ConvexHull* hull, int triangle);
/* Volume enclosed by the triangles, negative if they are oriented inwards; 0 without triangles. */
double solid_volume(const ConvexHull* hull);

#endif
