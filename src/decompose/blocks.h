/* Private to decompose/. The stages of mesh_decompose (docs/decompose.md). Lengths marked [unit size] are in a scaled
 * copy of the mesh, whose bounding box has a diagonal in (0.5, 1]. */
#ifndef SDRS_DECOMPOSE_BLOCKS_H
#define SDRS_DECOMPOSE_BLOCKS_H

#include "decompose/hull_estimate.h"
#include "decompose/part.h"

/* A point lies on a plane if their distance is at most this value [unit size]. */
#define PLANE_ROUNDING 1e-11
/* Two hulls touch, and a face lies in a plane, if their distance is at most this value [unit size]. */
#define TOUCH_DISTANCE 1e-9

/* Returns a copy of the options with default values in place of zeros, and with at least one thread. */
DecomposeOptions decompose_with_defaults(const DecomposeOptions* requested);

/* A region of the solid, usually connected, that one convex hull will cover. `coarse` is a simplified copy for the
 * search of cutting planes. */
typedef struct {
  Part part, coarse;
  HullEstimate hull;
  double excess;  /* volume of the convex hull outside the piece [unit size^3]; negative if no plane can cut the piece
                     further */
  bool is_joined; /* true for a piece joined from several pieces, which the search treats as connected */
} Piece;

typedef struct {
  Piece* items;
  int count, capacity;
} Pieces;

typedef struct {
  int triangles; /* number of triangles of the simplified copy of a piece */
  int threads;
} SearchOptions;

/* Appends every connected component of the solid `part` to the list as a piece. Takes ownership of the part. *pieces
 * must be zeroed before the first call. The caller frees it with pieces_free. */
void pieces_add(Pieces* pieces, Part part, const SearchOptions* options);
/* Frees all pieces and zeroes the list. Accepts a zeroed list. */
void pieces_free(Pieces* pieces);
/* Cuts the piece with the largest excess until there are `count` pieces. The excess is the volume of the piece's convex
 * hull outside the piece. Stops earlier if the total excess is at most `excess_limit` [unit size^3] or no piece can be
 * cut. */
void pieces_split(Pieces* pieces, int count, double excess_limit, const SearchOptions* options);
/* Returns the total excess of all pieces [unit size^3]: the volume of their convex hulls outside the pieces, from the
 * coarse copies. */
double pieces_excess(const Pieces* pieces);
/* Returns the solid `part`, which need not be connected, as one piece. Takes ownership of the part. The caller frees
 * the piece with piece_free. */
Piece piece_create_joined(Part part, const SearchOptions* options);
/* Frees the part and its coarse copy. Accepts a zeroed piece. */
void piece_free(Piece* piece);
/* Finds the plane that cuts a piece with the smallest total volume of the resulting hulls. depth: number of further
 * cuts to look ahead, 0 to 2. Returns false, with *plane undefined, if no plane is useful. The result does not depend
 * on the number of threads. */
bool piece_best_plane(const Piece* piece, int depth, int threads, CutPlane* plane);

typedef struct {
  ConvexHull hull; /* convex hull of the block; if `flat` only its vertices are set */
  bool flat;
  HullEstimate estimate;
} Block;

typedef struct {
  Block* items;
  int count;
} Blocks;

/* Returns the convex hull of points[count], count >= 1. Coplanar points have no hull and give a flat block with copies
 * of the points. The caller frees the block with block_free. */
Block block_create(const Vec3* points, int count);
/* Frees the block. Accepts a zeroed block. */
void block_free(Block* block);
/* Returns a deep copy. The caller frees the copy with block_free. */
Block block_copy(const Block* block);
/* Returns the convex hull of the union of two blocks. The caller frees the result with block_free. */
Block block_join(const Block* a, const Block* b);
/* Returns the convex hull of the union of blocks[count]. The caller frees the result with block_free. */
Block block_join_all(const Block* const* blocks, int count);
/* Returns the convex hulls of all pieces, in the order of the pieces. The caller frees the blocks with blocks_free. */
Blocks blocks_create(const Pieces* pieces);
/* Frees all blocks and zeroes the list. Accepts a zeroed list. */
void blocks_free(Blocks* blocks);
/* Returns the distance between two blocks, 0 if they intersect [unit size]. */
double block_distance(const Block* a, const Block* b);
/* Returns the distance between two hulls, 0 if they intersect [unit size]. Sets *on_a and *on_b to the nearest points,
 * which are undefined if the hulls intersect. */
double block_nearest_points(const Block* a, const Block* b, Vec3* on_a, Vec3* on_b);
/* Indices of the mirror images of blocks. of[axis][k]: mirror image of block k in the mirror plane normal to `axis`;
 * of[axis] is NULL without such a plane. planes: bit `axis` is set if the plane normal to this axis is a mirror plane.
 * The arrays are owned. */
typedef struct {
  int planes;
  int* of[3];
} MirrorImages;

/* Returns the index of a block's image after reflection in every mirror plane of `planes`. Bit k of planes is the plane
 * normal to axis k; all must be in images->planes. */
int mirror_image(const MirrorImages* images, int block, int planes);
/* Returns p with coordinate k negated for every bit k that is set in `planes`. */
Vec3 vec3_mirrored(Vec3 p, int planes);
/* Returns a block reflected in the plane normal to axis k, for every bit k that is set in `planes`. Triangles stay
 * outward. The caller frees the result with block_free. */
Block block_image(const Block* block, int planes);

/* Largest number of blocks in a pair of blocks and its mirror images. Three mirror planes give at most eight images of
 * two blocks. */
enum { IMAGES_MAX = 16 };

/* Appends the images of all blocks in the planes with mirror[axis] set. The list becomes 1, 2, 4 or 8 times as long,
 * with the given blocks first. The caller frees the result with mirror_images_free. */
MirrorImages blocks_add_images(Blocks* blocks, const bool mirror[3]);
/* Frees the arrays and zeroes the struct. */
void mirror_images_free(MirrorImages* images);

/* Merges touching pairs of blocks, with all their mirror images, into convex hulls. The added volume is the volume of
 * the merged hull outside the merged blocks. The pair with the least added volume per removed block comes first.
 * Continues while there are more than `count` blocks, or while the added volume is at most `free_volume` [unit size^3].
 * Sets slot[i] to the smallest original index among the blocks that are merged with block i. Returns the added volume
 * [unit size^3]. */
double blocks_merge(Blocks* blocks, const MirrorImages* images, int count, double free_volume, int* slot);

/* Adds the mirror images of the blocks and merges all blocks to at most `count`. Then improves the groups of merged
 * blocks by an optimization. Sets group[i] to the resulting block that contains block i of the list with images; group
 * has at most 8 blocks->count entries. Returns the approximate added volume [unit size^3] of the resulting hulls.
 * Returns 0 if the added volume is at most `free_volume` per block of the list with images. */
double blocks_group(Blocks* blocks, const bool mirror[3], int count, double free_volume, int* group);

/* Joins the pieces of two neighbouring groups and cuts them again, if that reduces the total volume of their hulls.
 * blocks: hulls of the groups. group[i]: index of the block that contains piece i, from blocks_group without mirror
 * planes (pieces->count). */
void blocks_recut(Blocks* blocks, const Pieces* pieces, const int* group, const SearchOptions* options);

/* Returns the centre of the bounding box of a hull. Unlike the mean of the vertices, it does not depend on vertices
 * inside flat faces. */
Vec3 hull_box_center(const ConvexHull* hull);
/* Sets *center to the centre of the common area of two hulls that touch in a face of one of them. Returns false, with
 * *center undefined, if the hulls do not touch in a face. */
bool hulls_find_shared_center(const ConvexHull* a, const ConvexHull* b, Vec3* center);
/* Extends blocks with few faces into touching blocks that contain the whole face of contact, if the union is unchanged.
 * A bar that was cut where it crosses another bar thus becomes one block. Flat blocks are unchanged. */
void blocks_extend(Blocks* blocks);
/* Makes touching pairs of hulls overlap: each gets new corners inside the other hull. The union is unchanged if one
 * hull contains the other's face of contact. Otherwise the union grows by slivers beside the shared face, with a depth
 * of at most 0.01 and at most `largest_depth` [unit size]. */
void blocks_overlap(Blocks* blocks, double largest_depth);

/* Face planes of the hulls that touch a given hull. They are used to reduce the cost of added volume inside a touching
 * hull. */
typedef struct {
  CutPlane* planes;
  int* first; /* index in `planes` of the first plane of each hull (size: count + 1) */
  int count;
} NeighbourFaces;
/* Returns the face planes of all blocks that touch block `index` and are not flat. The caller frees the result with
 * neighbours_free. */
NeighbourFaces neighbours_create(const Blocks* blocks, int index);
/* Frees the arrays and zeroes the struct. */
void neighbours_free(NeighbourFaces* near);
/* Replaces a hull by a larger hull with at most max_vertices >= 4 vertices. Repeatedly contracts the edge that adds the
 * least volume to a point outside the adjacent faces. planes: bit k is set if both hulls are symmetric in the plane
 * through the origin normal to axis k. near: face planes of touching hulls, or NULL. Returns HULL_FAILED, with the hull
 * unchanged, if max_vertices < 8 and no such hull was found. With 8 vertices the bounding box is a solution. */
HullResult hull_outer_mirrored(ConvexHull* hull, int planes, int max_vertices, const NeighbourFaces* near);

/* Returns a copy of the hull as a solid that can be cut by planes. The caller frees it with part_free. */
Part part_of_hull(const ConvexHull* hull);
/* Returns the largest signed distance of a point from the planes of the hull's faces, positive outside [unit size].
 * Skips degenerate triangles. Returns -HUGE_VAL if all are degenerate. */
double hull_outside(const ConvexHull* hull, Vec3 point);
/* Returns the plane of a triangle, with outward unit normal and offset; both are zero if the triangle is degenerate. */
CutPlane hull_plane(const ConvexHull* hull, int triangle);
/* Returns the volume enclosed by the hull's triangles, negative if they are oriented inward, and 0 without triangles.
 */
double solid_volume(const ConvexHull* hull);

#endif
