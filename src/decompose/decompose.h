/* decompose: approximates a mesh by a few convex hulls or superquadrics and measures the quality of the result. The
 * hulls cover the mesh or lie inside it. The methods are described in docs/decompose.md.
 * Arrays are owned by the struct that contains them. Functions with names ending in _free accept a zeroed struct.
 * Lengths are in the mesh's unit. */
#ifndef SDRS_DECOMPOSE_H
#define SDRS_DECOMPOSE_H

#include "geometry/geometry.h"

/* Defects of a mesh that were repaired (docs/decompose.md). */
typedef struct {
  int unused_points, joined_points;             /* points that no face uses; points merged with an earlier point */
  double joining;                               /* distance within which points were merged, mesh unit */
  int degenerate_triangles, repeated_triangles; /* number of removed triangles */
  int border_edges, branching_edges; /* edges that belong to one face only; edges that belong to more than two faces */
  int turned_triangles;              /* reoriented to agree with their neighbours */
  bool inside_out;                   /* the whole surface was reversed */
  int closed_borders;                /* holes closed by a fan */
  int components, cavities;          /* connected surfaces; connected surfaces that bound a cavity */
} MeshCondition;

/* Options of mesh_decompose. A value of 0 selects the default. */
typedef struct {
  int max_hulls;    /* default 16 */
  int max_vertices; /* per hull, >= 4; default 64 */
  double error;     /* cutting stops when the volume of the hulls outside the mesh is below this fraction of the mesh's
                       volume */
  int resolution;   /* triangles of the coarse copy used by the search; default 1200 */
  int grid[3];      /* grid of blocks along x, y, z instead of a search; 0 = search */
  bool symmetry[3]; /* preserve the mirror planes normal to x, y, z */
  bool symmetry_auto; /* preserve the mirror planes that the mesh has */
  bool inside;        /* true: hulls lie inside the solid; false: hulls cover the solid */
  int threads;
  double tolerance; /* largest depth [mesh unit]; selects the fewest hulls, at most max_hulls (256 by default), that
                       keep this depth */
} DecomposeOptions;

/* Two overlapping hulls of one link and a point inside both hulls. */
typedef struct {
  int a, b;
  Vec3 point;
  double depth; /* radius of the ball about the point that lies inside both hulls, mesh unit */
} HullJoint;

/* A connected surface of the mesh with its cavities, and the hulls that contain samples of the surface. */
typedef struct {
  int* hulls; /* indices of the hulls, ascending */
  int hull_count;
  int pieces;     /* number of connected sets of these hulls; 1 if all are connected */
  double overlap; /* depth of the weakest joint that connects the hulls, mesh unit; 0 without joints */
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
  double hull_volume;  /* sum of the volumes of all hulls */
  bool inside;         /* copy of DecomposeOptions.inside */
  double covered_miss; /* largest distance of a surface sample from the union of the hulls, divided by `diagonal`. With
                          `inside`: largest depth of a sample in a hull, divided by `diagonal` */
  int samples;         /* number of surface samples */

  double* depths; /* for each hull, the largest distance of its surface outside the mesh, mesh unit (hull_count) */
  double depth;   /* largest number in depths */
  double depth_at_most; /* upper bound of the depth that also holds between the samples */

  int pieces;          /* connected components of the union of hulls that overlap with positive depth */
  int mesh_pieces;     /* connected components of the mesh; touching surfaces count as one */
  int apart;           /* number of components whose hulls are not connected */
  bool mirror[3];      /* mirror planes preserved */
  double mirror_error; /* largest distance of a mirrored hull outside its mirror image, divided by `diagonal` */
  bool convex, covers, connected, symmetric,
      within_budget;     /* results of the checks; `covers`: the hulls cover the mesh, or lie inside it with `inside` */
  bool within_tolerance; /* also true if no tolerance is given */
} Decomposition;

/* Computes an approximate convex decomposition of a mesh. The result depends only on mesh and options, not on the
 * number of threads. If the function returns HULL_OK, the caller frees *result with decomposition_free. Otherwise there
 * is nothing to free. HULL_FLAT and HULL_TOO_FEW_POINTS mean that the mesh has no volume. HULL_FAILED means that Qhull
 * failed, or that a hull with fewer than 8 vertices was not found. */
HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given);
/* Frees everything and zeroes the struct. Accepts a zeroed struct, but not NULL. */
void decomposition_free(Decomposition* decomposition);

/* Numbers of through holes (genus) of the mesh and of the union of its hulls. For example, a ring has one hole. */
typedef struct {
  int mesh, hulls; /* number of holes of the mesh; of the union of the hulls */
  double cube;     /* edge length of the grid cubes, mesh unit; features narrower than two edges are not resolved */
} HoleCount;

/* Counts the through holes of the mesh and of the hulls on the same grid (decompose/holes.c). Returns false, with *out
 * zeroed, if there are no hulls or the mesh has no surface. Allocates temporary memory. */
bool decomposition_count_holes(HoleCount* out, const Decomposition* d, const Mesh* mesh);

/* Computes the repaired surface that mesh_decompose decomposes (decompose/mesh_surface.c). The triangles of *surface
 * face outward, in mesh coordinates. The surface need not be convex. Sets *condition to the repairs unless condition is
 * NULL. Returns false, with nothing to free, if no triangle is left. The caller frees *surface with hull_free. */
bool mesh_surface(ConvexHull* surface, MeshCondition* condition, const Mesh* mesh);

/* Decomposes a mesh as mesh_decompose does, with a cache in `folder` (decompose/cache.c). If the cache has hulls for
 * the same mesh and options, the hulls are read instead of computed. Stored hulls are bit-identical to computed hulls.
 * A result from the cache has no joints, no components and a zeroed condition. Computed hulls are written to the cache.
 * A damaged file is replaced, and a failure to write is ignored. There is no cache if folder is NULL. Errors and
 * ownership are the same as for mesh_decompose. */
HullResult mesh_decompose_cached(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given,
                                 const char* folder);
/* Returns the path of the cache folder: $SDRS_CACHE, otherwise $XDG_CACHE_HOME/sdrs, otherwise ~/.cache/sdrs. Returns
 * NULL if SDRS_CACHE is `off` or empty, or if no home folder is known. The folder need not exist. The caller frees the
 * text with memory_free. */
char* decompose_cache_folder(void);

/* ---------------------------------------------------------------- superquadrics (decompose/superquadrics.c) */

/* A superquadric (B7 in shapes/shapes.h) in mesh coordinates. Lengths are in the mesh's unit. */
typedef struct {
  double size[3], exponents[2]; /* semi-axes; exponents e1 and e2 */
  Quat rotation;                /* unit quaternion: rotation from the superquadric's frame to the mesh frame */
  Vec3 position;
} Superquadric;

/* Options of mesh_superquadrics. A value of 0 selects the default. */
typedef struct {
  int max;      /* largest number of superquadrics; default 18 */
  int cells;    /* grid cells along the longest edge of the bounding box; default 40 */
  double error; /* fitting stops when the misclassified volume is below this fraction of the solid's volume; default
                   1e-3 */
  int threads;
} SuperquadricOptions;

/* Distances of one surface from another surface, measured at samples distributed evenly over the first surface [mesh
 * unit]. */
typedef struct {
  double mean, root_mean_square, largest;
} SurfaceGap;

typedef struct {
  Superquadric* list; /* in the order of construction */
  int count;
  double diagonal;                         /* diagonal of the mesh's bounding box */
  double mesh_volume, union_volume;        /* estimated from volume_samples points, mesh unit^3 */
  double intersection_over_union;          /* volume of the intersection of the two solids / volume of their union */
  double wrong_volume;                     /* volume inside exactly one of the two solids, divided by mesh_volume */
  int volume_samples;                      /* number of samples in the common bounding box */
  int mesh_samples, union_samples;         /* number of samples on the surfaces */
  SurfaceGap mesh_to_union, union_to_mesh; /* distances from samples of one surface to the other */
} SuperquadricUnion;

/* Approximates the repaired mesh by a union of a few superquadrics (docs/derivations/shapes.md). The result depends
 * only on mesh and options, not on the number of threads. If the function returns HULL_OK, the caller frees *result
 * with superquadrics_free. Otherwise there is nothing to free. Returns the result of hull_create if the points of the
 * mesh have no convex hull, and HULL_FLAT if the repaired mesh has no volume. */
HullResult mesh_superquadrics(SuperquadricUnion* result, const Mesh* mesh, const SuperquadricOptions* given);
/* Frees the list and zeroes the struct. Accepts a zeroed struct, but not NULL. */
void superquadrics_free(SuperquadricUnion* result);
/* Computes the convex hull of 10 * 4^level + 2 surface points of a superquadric, in mesh coordinates. level: 0 to 3,
 * not checked. If the function returns HULL_OK, the caller frees *hull with hull_free. Otherwise there is nothing to
 * free. */
HullResult superquadric_hull(const Superquadric* own, int level, ConvexHull* hull);

#endif
