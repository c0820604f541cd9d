/* Private to decompose/. The stages of mesh_decompose, described in docs/decompose.md. Lengths are in unit size: the
 * mesh is scaled so that the diagonal of its bounding box lies in (0.5, 1]. */
#ifndef SDRS_DECOMPOSE_BLOCKS_H
#define SDRS_DECOMPOSE_BLOCKS_H

#include "decompose/hull_estimate.h"
#include "decompose/part.h"

/* Points count as lying on a plane if their distance from the plane is at most this [unit size]. */
#define PLANE_ROUNDING 1e-11
/* Hulls count as touching if their distance is at most this [unit size]. A face counts as lying in a plane if its
 * distance from the plane is at most this. */
#define TOUCH_DISTANCE 1e-9

/* Returns a copy of the options with defaults in place of zeros and at least one thread. */
DecomposeOptions decompose_with_defaults(const DecomposeOptions* given);

/* ---------------------------------------------------------------- cutting (search.c) */

/* A connected region of the solid. `coarse` is a simplified copy of the region for the search of cutting planes. */
typedef struct {
  Part part, coarse;
  HullEstimate hull;
  double excess; /* volume of the convex hull outside the piece; negative if no plane can cut the piece further */
  bool loose;    /* true if the piece was joined from several pieces; the search then treats it as connected */
} Piece;

typedef struct {
  Piece* items;
  int count, capacity;
} Pieces;

typedef struct {
  int triangles; /* number of triangles of a coarse copy */
  int threads;
} SearchOptions;

/* Appends every connected component of the part as a piece. Takes ownership of the part. *pieces must be zeroed before
 * the first call. The caller frees it with pieces_free. */
void pieces_add(Pieces* pieces, Part part, const SearchOptions* options);
/* Frees all pieces and zeroes the list. Accepts a zeroed list. */
void pieces_free(Pieces* pieces);
/* Cuts the pieces until there are `count` of them. The piece with the largest excess is always cut next. Stops earlier
 * if the total excess is at most `enough` [unit size^3] or no piece can be cut. */
void pieces_split(Pieces* pieces, int count, double enough, const SearchOptions* options);
/* Returns the total excess of all pieces [unit size^3]. The excess of a piece is the volume of its convex hull outside
 * the piece, computed from the coarse copy. */
double pieces_excess(const Pieces* pieces);
/* Returns the part as one piece, even if the part is not connected. Takes ownership of the part. The caller frees the
 * piece with piece_free. */
Piece piece_create_joined(Part part, const SearchOptions* options);
/* Frees the part and its coarse copy. Accepts a zeroed piece. */
void piece_free(Piece* piece);
/* Finds the plane that cuts a piece with the smallest total volume of the resulting hulls. depth: number of further
 * cuts that are searched ahead, 0 to 2. Returns false, with *plane undefined, if no plane is useful. The result does
 * not depend on the number of threads. */
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

/* Returns the convex hull of points (count >= 1). Coplanar points give a flat block that contains copies of the points.
 * The caller frees the block with block_free. */
Block block_create(const Vec3* points, int count);
/* Frees the block. Accepts a zeroed block. */
void block_free(Block* block);
/* Returns a deep copy. The caller frees the copy with block_free. */
Block block_copy(const Block* block);
/* Returns the convex hull of the union of two blocks. The caller frees the result with block_free. */
Block block_join(const Block* a, const Block* b);
/* Returns the convex hull of the union of all blocks (count). The caller frees the result with block_free. */
Block block_join_all(const Block* const* blocks, int count);
/* Returns the convex hulls of all pieces, in the order of the pieces. The caller frees the blocks with blocks_free. */
Blocks blocks_create(const Pieces* pieces);
/* Frees all blocks and zeroes the list. Accepts a zeroed list. */
void blocks_free(Blocks* blocks);
/* Returns the distance between two hulls [unit size]. Returns 0 if they intersect. Allocates temporary memory. */
double block_distance(const Block* a, const Block* b);
/* Returns the distance between two hulls as block_distance does. Sets *on_a and *on_b to the nearest points [unit
 * size]. The points are undefined if the hulls intersect. */
double block_nearest_points(const Block* a, const Block* b, Vec3* on_a, Vec3* on_b);
/* RepeatIndices of the mirror images of blocks. of[axis][k] is the index of the mirror image of block k in the mirror
 * plane normal to `axis`. of[axis] is NULL if `axis` has no mirror plane. Bit `axis` of `planes` is set if it has one.
 * The arrays are owned. */
typedef struct {
  int planes;
  int* of[3];
} MirrorImages;

/* Returns the index of the mirror image of a block, reflected in every plane of `which` (bit = axis). All these planes
 * must be in images->planes. */
int mirror_image(const MirrorImages* images, int block, int which);
/* Returns p with the sign of the coordinate reversed for every axis in `which` (bit = axis). */
Vec3 vec3_mirrored(Vec3 p, int which);
/* Returns a block reflected in every plane of `which` (bit = axis), with outward triangles. The caller frees the result
 * with block_free. */
Block block_image(const Block* block, int which);

/* Largest number of blocks in all mirror images of a pair of blocks. A pair has at most eight mirror images. */
enum { IMAGES_MAX = 16 };

/* Appends the mirror images of all blocks to the list. The list becomes 1, 2, 4 or 8 times as long, and the given
 * blocks come first. The caller frees the result with mirror_images_free. */
MirrorImages blocks_add_images(Blocks* blocks, const bool mirror[3]);
/* Frees the arrays and zeroes the struct. */
void mirror_images_free(MirrorImages* images);

/* Merges touching pairs of blocks. A pair and all its mirror images are replaced by convex hulls. The pair that adds
 * the least volume per removed block is merged first. Merging continues while there are more than `count` blocks or the
 * added volume is at most `free_volume` [unit size^3]. Sets slot[i] to the smallest index of the original blocks that
 * were merged with original block i. Returns the added volume [unit size^3]. */
double blocks_merge(Blocks* blocks, const MirrorImages* images, int count, double free_volume, int* slot);

/* ---------------------------------------------------------------- grouping (group.c) */

/* Adds the mirror images of the blocks and merges all blocks to at most `count`. An optimization of the groups improves
 * on pairwise merging. Sets group[i] to the resulting block that contains unfolded block i. The caller provides group,
 * with one entry for every unfolded block, at most 8 blocks->count. Returns the approximate added volume [unit size^3].
 * Returns 0 if merging added at most `free_volume` per unfolded block. */
double blocks_group(Blocks* blocks, const bool mirror[3], int count, double free_volume, int* group);

/* ---------------------------------------------------------------- cutting again (recut.c) */

/* Improves pairs of neighbouring groups. Joins the pieces of two groups and cuts them again if that reduces the total
 * volume of the two hulls. blocks: hulls of the groups. group (pieces->count): result of blocks_group without mirror
 * planes. */
void blocks_recut(Blocks* blocks, const Pieces* pieces, const int* group, const SearchOptions* options);

/* ---------------------------------------------------------------- joining (join.c) */

/* Returns the centre of the bounding box of a hull with at least one vertex. Unlike the mean of the vertices, the
 * centre does not depend on vertices inside flat faces. */
Vec3 hull_box_center(const ConvexHull* hull);
/* Finds the centre of the common area of two hulls that touch in a face of one hull. Returns false, with *middle
 * undefined, if the hulls do not touch in a face. */
bool hulls_find_shared_center(const ConvexHull* a, const ConvexHull* b, Vec3* middle);
/* Extends blocks with few faces into neighbours that contain the shared face, if the union is unchanged. Crossing bars
 * thus become single blocks. Flat blocks are unchanged. Works in place. */
void blocks_extend(Blocks* blocks);
/* Makes touching pairs of hulls overlap. One or both hulls of a pair get a new corner inside the other hull. The union
 * is unchanged if one hull contains the shared face of the other hull. Otherwise the union grows by thin slivers beside
 * the shared face, at most 0.01 and at most `deepest` [unit size] deep. */
void blocks_overlap(Blocks* blocks, double deepest);

/* ---------------------------------------------------------------- fewer vertices (hull_outer.c) */

/* Face planes of the hulls that touch a given hull. Volume that is added inside a touching hull has a reduced cost. */
typedef struct {
  CutPlane* planes;
  int* first; /* first plane of each hull (count + 1) */
  int count;
} NeighbourFaces;
/* Returns the face planes of all blocks that touch the block with index `of` and are not flat. The caller frees the
 * result with neighbours_free. */
NeighbourFaces neighbours_create(const Blocks* blocks, int of);
/* Frees the arrays and zeroes the struct. */
void neighbours_free(NeighbourFaces* near);
/* Replaces a hull by a larger hull with at most max_vertices (>= 4) vertices. Repeatedly contracts the edge that adds
 * the least volume, to a point outside the adjacent faces. planes (bit = axis, 0 = none): mirror planes through the
 * origin in which the old hull is symmetric. The new hull is symmetric in the same planes. near: neighbours of the
 * hull, or NULL. Returns HULL_FAILED if max_vertices < 8 and no such hull was found. With 8 vertices the bounding box
 * is a solution. The hull is unchanged after a failure. */
HullResult hull_outer_mirrored(ConvexHull* hull, int planes, int max_vertices, const NeighbourFaces* near);

/* Returns a copy of the hull as a Part. The caller frees the copy with part_free. */
Part part_of_hull(const ConvexHull* hull);
/* Returns the largest signed distance of a point from the planes of the hull's faces [unit size]. The distance is
 * positive if the point lies outside the hull. Degenerate triangles are skipped. Returns -HUGE_VAL if all triangles are
 * degenerate. */
double hull_outside(const ConvexHull* hull, Vec3 point);
/* Returns the plane of a triangle, with outward unit normal and offset. Normal and offset are zero if the triangle is
 * degenerate. */
CutPlane hull_plane(const ConvexHull* hull, int triangle);
/* Returns the volume enclosed by the triangles. The volume is negative if the triangles are oriented inward, and 0
 * without triangles. */
double solid_volume(const ConvexHull* hull);

#endif
