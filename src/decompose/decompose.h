/* decompose: approximates a mesh by a few convex hulls that cover it or lie inside it, or by superquadrics, and
 * measures the quality of the result. docs/decompose.md
 * Arrays are owned by the struct that contains them; x_free accepts a zeroed struct. Lengths in the mesh's unit. */
#ifndef SDRS_DECOMPOSE_H
#define SDRS_DECOMPOSE_H

#include "geometry/geometry.h"

/* Defects of a mesh that were repaired (docs/decompose.md). */
typedef struct {
  int unused_points, joined_points;             /* points that no face uses; points merged with an earlier point */
  double joining;                               /* distance within which points were merged, mesh unit */
  int degenerate_triangles, repeated_triangles; /* removed */
  int border_edges, branching_edges; /* edges that belong to one face only; edges that belong to more than two faces */
  int turned_triangles;              /* reoriented to agree with their neighbours */
  bool inside_out;                   /* the whole surface was reversed */
  int closed_borders;                /* holes closed by a fan */
  int components, cavities;          /* connected surfaces; number of them that bound a cavity */
} MeshCondition;

/* Options; 0 in a count or an error selects the default. */
typedef struct {
  int max_hulls;    /* default 16 */
  int max_vertices; /* per hull, >= 4; default 64 */
  double error;     /* cutting stops when the excess volume of the hulls is below this fraction of the mesh's volume */
  int resolution;   /* triangles of the coarse copy used by the search; default 1200 */
  int grid[3];      /* grid of blocks along x, y, z instead of a search; 0 = search */
  bool symmetry[3]; /* preserve the mirror planes normal to x, y, z */
  bool symmetry_auto; /* preserve the mirror planes that the mesh has */
  bool inside;        /* hulls inside the solid instead of covering it */
  int threads;
  double tolerance; /* largest depth [mesh unit]: use the fewest hulls (at most max_hulls, then 256 by default) that
                       keep it */
} DecomposeOptions;

/* Two overlapping hulls of one link, with a point inside both. */
typedef struct {
  int a, b;
  Vec3 point;
  double depth; /* radius of a ball about the point inside both hulls, mesh unit */
} HullJoint;

/* A connected surface of the mesh with its cavities, and the hulls that contain it. */
typedef struct {
  int* hulls; /* ascending */
  int hull_count;
  int pieces;     /* connected sets of these hulls; 1 = connected */
  double overlap; /* depth of the weakest joint that connects them, mesh unit; 0 without joints */
} MeshComponent;

typedef struct {
  ConvexHull* hulls;
  int hull_count;
  HullJoint* joints;
  int joint_count;
  MeshComponent* components;
  int component_count;
  MeshCondition condition;
  double diagonal;     /* diagonal of the mesh's bounding box */
  double mesh_volume;  /* volume of the repaired mesh; overlapping regions count once */
  double hull_volume;  /* sum over the hulls */
  bool inside;         /* DecomposeOptions.inside */
  double covered_miss; /* largest distance of a surface sample from the union of the hulls; with `inside`, largest depth
                          of a sample in a hull. Divided by `diagonal` */
  int samples;         /* number of surface samples */

  double* depths; /* for each hull, the largest distance of its surface outside the mesh, mesh unit (hull_count) */
  double depth;   /* largest of all hulls */
  double depth_at_most; /* upper bound of the depth, including unsampled points */

  int pieces;          /* connected pieces of the union, by overlap of positive depth */
  int mesh_pieces;     /* connected pieces of the mesh; touching surfaces count as one */
  int apart;           /* components whose hulls are not connected */
  bool mirror[3];      /* mirror planes preserved */
  double mirror_error; /* largest distance of a mirrored hull outside its image, / diagonal */
  bool convex, covers, connected, symmetric,
      within_budget;     /* guarantees; covers: the hulls cover the mesh, or lie inside it */
  bool within_tolerance; /* true too without a tolerance */
} Decomposition;

/* Sets *result to an approximate convex decomposition of the mesh. The result depends only on mesh and options, not on
 * threads. If it returns HULL_OK, the caller frees *result with decomposition_free. HULL_FLAT and other results mean
 * that the mesh has no volume; then there is nothing to free. */
HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given);
/* Frees everything and zeroes the struct; accepts a zeroed one, not NULL. */
void decomposition_free(Decomposition* decomposition);

/* Numbers of through holes (genus) of the mesh and of the union of its hulls. A ring has one hole. */
typedef struct {
  int mesh, hulls; /* holes of the mesh; of the union of the hulls */
  double cube;     /* edge of the grid cubes, mesh unit; features narrower than two edges are not resolved */
} HoleCount;

/* Sets *out to the numbers of holes of mesh and hulls, counted on the same grid (decompose/holes.c). Returns false,
 * with *out zeroed, if there are no hulls or the mesh has no surface. Allocates temporarily. */
bool decomposition_holes(HoleCount* out, const Decomposition* d, const Mesh* mesh);

/* Sets *surface to the repaired surface of the mesh, which mesh_decompose decomposes (decompose/mesh_surface.c). Its
 * triangles face outward, in mesh coordinates; it need not be convex. Sets *condition to the repairs unless condition
 * is NULL. Returns false, with nothing to free, if no triangle is left. The caller frees *surface with hull_free. */
bool mesh_surface(ConvexHull* surface, MeshCondition* condition, const Mesh* mesh);

/* As mesh_decompose, with a cache in `folder` (decompose/cache.c). If the cache has the hulls for this mesh and these
 * options, they are read, bit-identical to computed ones; *result then has no joints, no components and a zeroed
 * condition. Otherwise the hulls are computed and written to the cache. A damaged file is replaced. A failure to write
 * is ignored. folder NULL: no cache. Errors and ownership as for mesh_decompose. */
HullResult mesh_decompose_cached(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given,
                                 const char* folder);
/* Returns the cache folder: $SDRS_CACHE, else $XDG_CACHE_HOME/sdrs, else ~/.cache/sdrs; NULL if SDRS_CACHE is `off` or
 * empty, or if no home folder is known. The folder need not exist. The caller frees the text with memory_free. */
char* decompose_cache_folder(void);

/* ---------------------------------------------------------------- superquadrics (decompose/superquadrics.c) */

/* A superquadric (B7 in shapes/shapes.h) in mesh coordinates; lengths in the mesh's unit. */
typedef struct {
  double size[3], exponents[2]; /* semi-axes; e1, e2 */
  Quat rotation;                /* unit quaternion: rotation from the superquadric's frame to the mesh frame */
  Vec3 position;
} Superquadric;

/* Options; 0 in a count or an error selects the default. */
typedef struct {
  int max;      /* largest number of superquadrics; default 18 */
  int cells;    /* grid cells along the longest edge of the bounding box; default 40 */
  double error; /* stop when the misclassified volume is below this fraction of the solid's; default 1e-3 */
  int threads;
} SuperquadricOptions;

/* Distance of one surface from another, from samples distributed evenly over the first, mesh unit. */
typedef struct {
  double mean, root_mean_square, largest;
} SurfaceGap;

typedef struct {
  Superquadric* list; /* in the order of construction */
  int count;
  double diagonal;                  /* diagonal of the mesh's bounding box */
  double mesh_volume, union_volume; /* from the samples below, mesh unit^3 */
  double intersection_over_union;   /* of the two solids: volume of intersection / volume of union */
  double wrong_volume;              /* volume that lies inside exactly one of the two solids, divided by mesh_volume */
  int volume_samples;               /* samples in the common bounding box */
  int mesh_samples, union_samples;  /* samples on the surfaces */
  SurfaceGap mesh_to_union, union_to_mesh; /* distances from samples of one surface to the other */
} SuperquadricUnion;

/* Approximates the repaired mesh by a union of a few superquadrics (docs/derivations/shapes.md). The result depends
 * only on mesh and options, not on threads. If it returns HULL_OK, the caller frees *result with superquadrics_free;
 * otherwise there is nothing to free. HULL_FLAT and similar results: the mesh has no volume. HULL_FAILED: as for
 * hull_create. */
HullResult mesh_superquadrics(SuperquadricUnion* result, const Mesh* mesh, const SuperquadricOptions* given);
/* Frees the list and zeroes the struct. Accepts a zeroed one, but not NULL. */
void superquadrics_free(SuperquadricUnion* result);
/* Sets *hull to the convex hull of 10 * 4^level + 2 surface points of a superquadric, in mesh coordinates. level: 0 to
 * 3, not checked. If it returns HULL_OK, the caller frees *hull with hull_free; otherwise there is nothing to free. */
HullResult superquadric_hull(const Superquadric* own, int level, ConvexHull* hull);

#endif
