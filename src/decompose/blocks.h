/* Private to decompose/: the steps of mesh_decompose, in unit size. docs/decompose.md tells the method. */
#ifndef SDRS_DECOMPOSE_BLOCKS_H
#define SDRS_DECOMPOSE_BLOCKS_H

#include "decompose/hull_estimate.h"
#include "decompose/part.h"

/* Points nearer to a plane than this lie on it [unit size]. */
#define PLANE_ROUNDING 1e-11
/* Hulls nearer than this touch, a face this near to a plane lies in it [unit size]. */
#define TOUCH_DISTANCE 1e-9

/* The options in force: defaults instead of zeros. A copy; threads at least 1. */
DecomposeOptions decompose_with_defaults(const DecomposeOptions* given);

/* ---------------------------------------------------------------- cutting (search.c) */

/* A connected piece of the solid, with a coarser copy that the search works on. */
typedef struct {
  Part part, coarse;
  HullEstimate hull;
  double excess; /* volume of the hull outside the piece; < 0 when no plane cuts it any more */
  bool loose;    /* several put together: counts as connected */
} Piece;

typedef struct {
  Piece* items;
  int count, capacity;
} Pieces;

typedef struct {
  int triangles; /* of a coarse copy */
  int threads;
} SearchOptions;

/* Takes the part over, which is freed; adds each of its components. Pieces starts zeroed and is ended by pieces_free.
 */
void pieces_add(Pieces* pieces, Part part, const SearchOptions* options);
/* Frees all pieces and leaves a zeroed list; accepts a zeroed one. */
void pieces_free(Pieces* pieces);
/* Cut the piece with the largest excess until there are `count` pieces or the sum of excesses is at most `enough`. Ends
 * before where no piece can be cut any more. [unit size^3] */
void pieces_split(Pieces* pieces, int count, double enough, const SearchOptions* options);
/* Volume of the hulls outside their pieces, of all. By their coarse copies [unit size^3]. */
double pieces_excess(const Pieces* pieces);
/* A piece of its own, that need not hang together; takes the part over. Freed by piece_free. */
Piece piece_loose(Part part, const SearchOptions* options);
/* Frees the part and its copy; accepts a zeroed piece. */
void piece_free(Piece* piece);
/* The plane after which the hulls are smallest, looking `depth` (0 to 2) further cuts ahead. false: none cuts it well,
 * and *plane has no meaning. The same for any number of threads. */
bool piece_best_plane(const Piece* piece, int depth, int threads, CutPlane* plane);

/* ---------------------------------------------------------------- hulls (merge.c) */

typedef struct {
  ConvexHull hull; /* of a flat piece only its points */
  bool flat;
  HullEstimate estimate;
} Block;

typedef struct {
  Block* items;
  int count;
} Blocks;

/* The hull of the points (count >= 1); where they have none it is flat and keeps copies of them. Freed by block_free.
 */
Block block_create(const Vec3* points, int count);
/* Frees the hull; accepts a zeroed block. */
void block_free(Block* block);
/* Owned by the caller as well, freed by block_free. */
Block block_copy(const Block* block);
/* Hull of both, made as by block_create and owned by the caller; they stay. */
Block block_join(const Block* a, const Block* b);
/* Hull of all (count), made as by block_create and owned by the caller; they stay. */
Block block_join_all(const Block* const* blocks, int count);
/* The hulls of all pieces, in their order; the pieces stay. Freed by blocks_free. */
Blocks blocks_create(const Pieces* pieces);
/* Frees all blocks and leaves a zeroed list; accepts a zeroed one. */
void blocks_free(Blocks* blocks);
/* Distance of two hulls [unit size], 0 when they meet. Allocates for the time of the call. */
double block_distance(const Block* a, const Block* b);
/* The same with the closest points [unit size]; where the hulls meet both are written, and of no use. */
double block_nearest(const Block* a, const Block* b, Vec3* on_a, Vec3* on_b);
/* Where the mirror images of blocks stand: of[axis][k] is that of block k, NULL where `planes` (bit = axis) has no such
 * mirror plane. Owned arrays. */
typedef struct {
  int planes;
  int* of[3];
} MirrorImages;

/* The number of block's image in the planes of `which` (bit = axis), which must all be in images->planes. */
int mirror_image(const MirrorImages* images, int block, int which);
/* p with the sign turned of every axis in `which` (bit = axis). */
Vec3 vec3_mirrored(Vec3 p, int which);
/* A mirrored copy, its triangles outward again; freed by block_free. */
Block block_image(const Block* block, int which);

/* A pair has at most eight mirror images, so many blocks in all. */
enum { IMAGES_MAX = 16 };

/* Add all mirror images of every block. The images are freed by mirror_images_free. The list becomes 1, 2, 4 or 8 times
 * as long: images of the first blocks follow them. */
MirrorImages blocks_unfold(Blocks* blocks, const bool mirror[3]);
/* Frees the arrays and leaves a zeroed one. */
void mirror_images_free(MirrorImages* images);

/* Replace touching pairs, and all images of a pair with it, by their hull, the move that adds the least volume for
 * every block that goes first, while there are more than `count` or the added volume is at most `free_volume`. slot[k]
 * is the number of the first block that block k was joined with (as many as there were blocks). Returns the volume
 * added. In unit size^3. The list gets shorter; images are only read. */
double blocks_merge(Blocks* blocks, const MirrorImages* images, int count, double free_volume, int* slot);

/* ---------------------------------------------------------------- grouping (group.c) */

/* Unfold the blocks, and join them to at most `count`, better than merging does by itself. group[k] is the block that
 * block k went into (as many as there are unfolded). Returns about how much volume that added, 0 for nothing. [unit
 * size^3] group: room for 8 times blocks->count, or for the unfolded ones. */
double blocks_group(Blocks* blocks, const bool mirror[3], int count, double free_volume, int* group);

/* ---------------------------------------------------------------- cutting again (recut.c) */

/* Put the pieces of two neighbouring groups together and cut them anew where the hulls of both get smaller; the blocks
 * are those of the groups. group: (pieces->count), as of blocks_group without mirror planes; pieces stay. */
void blocks_recut(Blocks* blocks, const Pieces* pieces, const int* group, const SearchOptions* options);

/* ---------------------------------------------------------------- joining (join.c) */

/* Middle of the box: unlike the mean of the corners it does not depend on corners within a flat face. The hull has a
 * vertex at least. */
Vec3 hull_middle(const ConvexHull* hull);
/* Centre of the common area of two hulls that touch in a face of one of them. false: they do not,
 * and *middle has no meaning. */
bool hulls_shared_middle(const ConvexHull* a, const ConvexHull* b, Vec3* middle);
/* Let blocks of few faces grow through the neighbours that hold the face they share, where that leaves the union as it
 * is: bars that cross become whole. Flat ones stay. In place. */
void blocks_extend(Blocks* blocks);
/* Give pairs that only touch a corner inside the other, so that they overlap. Changes the union by nothing where one
 * holds the shared face of the other, else by slivers beside the shared face, no deeper than 0.01 and `deepest`. */
void blocks_overlap(Blocks* blocks, double deepest);

/* ---------------------------------------------------------------- fewer vertices (hull_outer.c) */

/* Faces of the hulls that touch one: volume added inside them counts little. */
typedef struct {
  CutPlane* planes;
  int* first; /* of each hull     (count + 1) */
  int count;
} NeighbourFaces;
/* Neighbours of block `of`: planes and their first numbers are owned, freed by neighbours_free. Flat blocks have none.
 */
NeighbourFaces neighbours_create(const Blocks* blocks, int of);
/* Frees the arrays and leaves a zeroed one. */
void neighbours_free(NeighbourFaces* near);
/* A hull of at most max_vertices (>= 4) that holds all of the old one: edges are contracted to the point outside the
 * faces around that adds the least volume. The hull is its own image in the mirror planes (bit = axis; 0: none) through
 * the origin, and stays so. `near` may be NULL. In place. When not HULL_OK the hull is as it was; HULL_FAILED: no such
 * hull with fewer than 8 vertices was found, from 8 on it is the box at worst. */
HullResult hull_outer_mirrored(ConvexHull* hull, int planes, int max_vertices, const NeighbourFaces* near);

/* The hull as a closed chain of triangles. A copy, freed by part_free. */
Part part_of_hull(const ConvexHull* hull);
/* Signed distance of a point from the farthest face: > 0 outside. [unit size]; needles do not count, -HUGE_VAL where
 * there is no other. */
double hull_outside(const ConvexHull* hull, Vec3 point);
/* Outward unit normal and offset of a triangle; zero normal when it is a needle. The offset is then 0 too. */
CutPlane hull_plane(const ConvexHull* hull, int triangle);
/* Volume of the hull, negative when its triangles are turned inwards; in the cube of its unit. 0 without triangles. */
double solid_volume(const ConvexHull* hull);

#endif
