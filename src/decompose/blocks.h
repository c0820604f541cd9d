/* Private to decompose/. The stages of mesh_decompose, in unit size. The method is described in docs/decompose.md. */
#ifndef SDRS_DECOMPOSE_BLOCKS_H
#define SDRS_DECOMPOSE_BLOCKS_H

#include "decompose/hull_estimate.h"
#include "decompose/part.h"

/* Points within this distance of a plane lie on it [unit size]. */
#define PLANE_ROUNDING 1e-11
/* Hulls touch if their distance is at most this; a face lies in a plane if its distance from the plane is at most this
 * [unit size]. */
#define TOUCH_DISTANCE 1e-9

/* Returns a copy of the options with defaults instead of zeros and at least one thread. */
DecomposeOptions decompose_with_defaults(const DecomposeOptions* given);

/* ---------------------------------------------------------------- cutting (search.c) */

/* A connected piece of the solid, with a coarse copy for the search of planes. */
typedef struct {
  Part part, coarse;
  HullEstimate hull;
  double excess; /* volume of the hull outside the piece; < 0 if no plane can cut the piece further */
  bool loose;    /* true if the piece was joined from several pieces; it is then treated as connected */
} Piece;

typedef struct {
  Piece* items;
  int count, capacity;
} Pieces;

typedef struct {
  int triangles; /* number of triangles of a coarse copy */
  int threads;
} SearchOptions;

/* Appends each connected component of the part as a piece. Takes ownership of the part. *pieces must be zeroed before
 * the first call. The caller frees it with pieces_free. */
void pieces_add(Pieces* pieces, Part part, const SearchOptions* options);
/* Frees all pieces and zeroes the list; accepts a zeroed one. */
void pieces_free(Pieces* pieces);
/* Repeatedly cuts the piece with the largest excess until there are `count` pieces, the total excess is at most
 * `enough` [unit size^3], or no piece can be cut. */
void pieces_split(Pieces* pieces, int count, double enough, const SearchOptions* options);
/* Returns the total excess of all pieces, computed from their coarse copies [unit size^3]. The excess of a piece is the
 * volume of its hull outside the piece. */
double pieces_excess(const Pieces* pieces);
/* Returns the part as one piece, even if it is not connected. Takes ownership of the part. The caller frees the piece
 * with piece_free. */
Piece piece_loose(Part part, const SearchOptions* options);
/* Frees the part and its copy; accepts a zeroed piece. */
void piece_free(Piece* piece);
/* Sets *plane to the plane that minimizes the volume of the hulls after the cut, with a lookahead of `depth` (0 to 2)
 * further cuts. Returns false, with *plane undefined, if no plane is useful. Independent of the number of threads. */
bool piece_best_plane(const Piece* piece, int depth, int threads, CutPlane* plane);

/* ---------------------------------------------------------------- hulls (merge.c) */

typedef struct {
  ConvexHull hull; /* convex hull; for a flat piece only the vertices are set */
  bool flat;
  HullEstimate estimate;
} Block;

typedef struct {
  Block* items;
  int count;
} Blocks;

/* Returns the convex hull of points (count >= 1). Coplanar points give a flat block with copies of the points. The
 * caller frees the block with block_free. */
Block block_create(const Vec3* points, int count);
/* Frees the block; accepts a zeroed one. */
void block_free(Block* block);
/* Returns a deep copy, freed by the caller with block_free. */
Block block_copy(const Block* block);
/* Returns the convex hull of two blocks, which are unchanged. Freed by the caller with block_free. */
Block block_join(const Block* a, const Block* b);
/* Returns the convex hull of all blocks (count), which are unchanged. Freed by the caller with block_free. */
Block block_join_all(const Block* const* blocks, int count);
/* Returns the hulls of all pieces, in the order of the pieces, which are unchanged. The caller frees the blocks with
 * blocks_free. */
Blocks blocks_create(const Pieces* pieces);
/* Frees all blocks and zeroes the list; accepts a zeroed one. */
void blocks_free(Blocks* blocks);
/* Returns the distance of two hulls [unit size], 0 if they intersect. Allocates temporarily. */
double block_distance(const Block* a, const Block* b);
/* As block_distance. Also sets *on_a and *on_b to the nearest points [unit size], which are undefined if the hulls
 * intersect. */
double block_nearest(const Block* a, const Block* b, Vec3* on_a, Vec3* on_b);
/* Mirror images of blocks: of[axis][k] is the index of block k's image, NULL for an axis without a mirror plane.
 * planes: bit = axis. Owned arrays. */
typedef struct {
  int planes;
  int* of[3];
} MirrorImages;

/* Returns the index of the image of a block, reflected in the planes `which` (bit = axis). All these planes must be in
 * images->planes. */
int mirror_image(const MirrorImages* images, int block, int which);
/* Returns p with the sign reversed for each axis in `which` (bit = axis). */
Vec3 vec3_mirrored(Vec3 p, int which);
/* Returns the mirror image of a block in the planes `which` (bit = axis), with outward triangles. The caller frees it
 * with block_free. */
Block block_image(const Block* block, int which);

/* Largest number of blocks in all mirror images of a pair of blocks, since a pair has at most eight images. */
enum { IMAGES_MAX = 16 };

/* Appends the mirror images of all blocks, so that the list becomes 1, 2, 4 or 8 times as long; the given blocks come
 * first. The caller frees the result with mirror_images_free. */
MirrorImages blocks_unfold(Blocks* blocks, const bool mirror[3]);
/* Frees the arrays and zeroes the struct. */
void mirror_images_free(MirrorImages* images);

/* Merges touching pairs: repeatedly replaces a pair, and all its images, by the convex hull. The pair that adds the
 * least volume per removed block is merged first. Continues while there are more than `count` blocks or the added
 * volume is at most `free_volume` [unit size^3]. Shortens the list of blocks. Sets slot[i], for each original block i,
 * to the index of the first block that it was merged with. Returns the added volume [unit size^3]. */
double blocks_merge(Blocks* blocks, const MirrorImages* images, int count, double free_volume, int* slot);

/* ---------------------------------------------------------------- grouping (group.c) */

/* Adds the mirror images of the blocks and merges all blocks to at most `count`, by an optimization that improves on
 * pairwise merging. Sets group[i] to the resulting block that contains unfolded block i. group: memory for the number
 * of unfolded blocks, at most 8 blocks->count. Returns the approximate added volume [unit size^3], 0 if none. */
double blocks_group(Blocks* blocks, const bool mirror[3], int count, double free_volume, int* group);

/* ---------------------------------------------------------------- cutting again (recut.c) */

/* Improves pairs of neighbouring groups: joins the pieces of both groups and cuts them again, if that reduces the total
 * volume of the two hulls. blocks: hulls of the groups. group (pieces->count): result of blocks_group without mirror
 * planes. The pieces are unchanged. */
void blocks_recut(Blocks* blocks, const Pieces* pieces, const int* group, const SearchOptions* options);

/* ---------------------------------------------------------------- joining (join.c) */

/* Returns the centre of the bounding box of a hull with at least one vertex. Unlike the mean of the corners it does not
 * depend on corners within flat faces. */
Vec3 hull_middle(const ConvexHull* hull);
/* Sets *middle to the centre of the common area of two hulls that touch in a face of one of them. Returns false, with
 * *middle undefined, if the hulls do not touch in a face. */
bool hulls_shared_middle(const ConvexHull* a, const ConvexHull* b, Vec3* middle);
/* Extends blocks with few faces into neighbours that contain the shared face, if the union is unchanged: crossing bars
 * then become single blocks. Flat blocks are unchanged. In place. */
void blocks_extend(Blocks* blocks);
/* Makes touching pairs of hulls overlap: one hull of a pair, or both, gets a new corner inside the other hull. The
 * union is unchanged if one hull contains the shared face of the other hull. Otherwise the union grows by slivers
 * beside the shared face, with a depth of at most 0.01 and at most `deepest` [unit size]. */
void blocks_overlap(Blocks* blocks, double deepest);

/* ---------------------------------------------------------------- fewer vertices (hull_outer.c) */

/* Face planes of the hulls that touch a hull. Volume that is added inside these hulls has a reduced cost. */
typedef struct {
  CutPlane* planes;
  int* first; /* first plane of each hull     (count + 1) */
  int count;
} NeighbourFaces;
/* Returns the face planes of all blocks that touch block `of` and are not flat. The caller frees them with
 * neighbours_free. */
NeighbourFaces neighbours_create(const Blocks* blocks, int of);
/* Frees the arrays and zeroes the struct. */
void neighbours_free(NeighbourFaces* near);
/* Replaces a hull by a larger one that contains it and has at most max_vertices (>= 4) vertices: contracts edges to the
 * point outside the adjacent faces that adds the least volume. planes (bit = axis, 0 = none): mirror planes through the
 * origin in which the hull is symmetric; the new hull is symmetric in them too. near: neighbours of the hull, or NULL.
 * Returns HULL_FAILED if max_vertices < 8 and no such hull was found (with 8 vertices the bounding box is a solution).
 * The hull is unchanged unless it returns HULL_OK. */
HullResult hull_outer_mirrored(ConvexHull* hull, int planes, int max_vertices, const NeighbourFaces* near);

/* Returns a copy of the hull as a Part, freed by part_free. */
Part part_of_hull(const ConvexHull* hull);
/* Returns the largest signed distance [unit size] of a point from the planes of the hull's faces; it is > 0 outside the
 * hull. Triangles without a usable normal (needles) are skipped. Returns -HUGE_VAL if all triangles are needles. */
double hull_outside(const ConvexHull* hull, Vec3 point);
/* Returns the plane of a triangle: outward unit normal and offset. Both are zero for a needle. */
CutPlane hull_plane(const ConvexHull* hull, int triangle);
/* Returns the volume enclosed by the triangles, negative if they are oriented inwards; 0 without triangles. */
double solid_volume(const ConvexHull* hull);

#endif
