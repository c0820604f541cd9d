/* decompose: approximates a mesh by a few convex hulls or superquadrics, and measures the quality of the result
 * (docs/decompose.md). The hulls cover the mesh or lie inside it. Every struct of this file owns its arrays. Functions
 * whose names end in _free accept a zeroed struct. Lengths are in the mesh's unit. */
#ifndef SDRS_DECOMPOSE_H
#define SDRS_DECOMPOSE_H

#include "geometry/geometry.h"

/* Defects of a mesh that were repaired (docs/decompose.md). */
typedef struct {
  int unused_points, joined_points; /* number of points that no face uses; number of points merged with another point */
  double joining;                   /* distance within which points were merged [mesh unit] */
  int degenerate_triangles, repeated_triangles; /* number of removed triangles */
  int border_edges, branching_edges; /* number of edges of one face only; number of edges of more than two faces */
  int turned_triangles;              /* number of triangles reversed to agree with their neighbours */
  bool inside_out;                   /* true if the whole surface was reversed */
  int closed_borders;                /* number of holes in the surface that were closed by a fan of triangles */
  int components, cavities; /* number of connected surfaces; number of connected surfaces that bound a cavity */
} MeshCondition;

/* Options of mesh_decompose. A value of 0 selects the default. */
typedef struct {
  int max_hulls;    /* largest number of hulls; default 16 */
  int max_vertices; /* largest number of vertices of a hull, >= 4; default 64 */
  double error;     /* cutting stops when the volume of the hulls outside the mesh is below this fraction of the mesh's
                       volume */
  int resolution;   /* triangles of the coarse copy for the search; default 1200 */
  int grid[3]; /* number of equal blocks along x, y, z into which the mesh is cut; 0: cutting planes are searched */
  bool symmetry[3];   /* symmetry[k]: the hulls are mirror-symmetric in the plane normal to axis k */
  bool symmetry_auto; /* true: mirror planes of the mesh are detected, and the hulls get the same symmetry */
  bool inside;        /* true: hulls lie inside the solid; false: hulls cover it */
  int threads;
  double tolerance; /* largest distance by which hulls may extend outside the mesh [mesh unit]; if given, the smallest
                       number of hulls within this distance is searched, at most max_hulls, whose default is then 256 */
} DecomposeOptions;

/* Two overlapping hulls and a point inside both. */
typedef struct {
  int a, b;
  Vec3 point;
  double depth; /* radius of the ball about the point that lies inside both hulls [mesh unit] */
} HullJoint;

/* A connected surface of the mesh with its cavities, and the hulls that contain samples of it. */
typedef struct {
  int* hulls; /* indices of the hulls, ascending */
  int hull_count;
  int pieces; /* number of connected sets of the hulls; 1 if all are connected */
  /* depth of the shallowest overlap that is needed to connect the hulls [mesh unit]; 0 without overlaps */
  double overlap;
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
  double covered_miss; /* largest distance of a surface sample from the union of the hulls, divided by `diagonal`; with
                          `inside`, largest depth of a sample in a hull */
  int samples;         /* number of surface samples */

  double* depths;       /* largest distance of each hull's surface outside the mesh [mesh unit] (size: hull_count) */
  double depth;         /* largest value of `depths`: distance by which the hulls extend outside the mesh */
  double depth_at_most; /* proven upper bound of `depth`, also between the measured points */

  int pieces;          /* connected components of the union of hulls that overlap with positive depth */
  int mesh_pieces;     /* connected components of the mesh; touching surfaces count as one */
  int apart;           /* number of connected surfaces of the mesh whose hulls are not connected */
  bool mirror[3];      /* mirror[k]: the hulls were made symmetric in the plane normal to axis k */
  double mirror_error; /* largest distance of a mirrored hull outside its mirror image, divided by `diagonal` */
  bool convex, covers, connected, symmetric,
      within_budget; /* results of the checks; `covers`: the hulls cover the mesh or, with `inside`, lie inside it */
  bool within_tolerance; /* true if depth_at_most <= DecomposeOptions.tolerance, or if no tolerance is given */
} Decomposition;

/* Computes an approximate convex decomposition of a mesh. The result depends only on mesh and options, not on the
 * number of threads. Returns HULL_OK, or HULL_FLAT or HULL_TOO_FEW_POINTS for a mesh without volume. HULL_FAILED means
 * that Qhull failed, or that a hull with fewer than 8 vertices was not found. After HULL_OK the caller frees *result
 * with decomposition_free; otherwise there is nothing to free. */
HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* requested);
/* Frees all arrays and zeroes the struct. Accepts a zeroed struct. */
void decomposition_free(Decomposition* decomposition);

/* Numbers of through holes (genus) of the mesh and of the union of its hulls. A ring has one hole. */
typedef struct {
  int mesh, hulls; /* holes of the mesh, and of the union of the hulls */
  double cube;     /* edge length of the grid cubes [mesh unit]; features narrower than two edges are not resolved */
} HoleCount;

/* Counts the through holes of mesh and hulls on the same grid. Returns false, with *out zeroed, if there are no hulls
 * or the mesh has no surface. */
bool decomposition_count_holes(HoleCount* out, const Decomposition* d, const Mesh* mesh);

/* Computes the repaired surface that mesh_decompose decomposes: triangles that face outward, in mesh coordinates. The
 * surface need not be convex. Sets *condition to the repairs unless condition is NULL. Returns false, with nothing to
 * free, if no triangle is left. The caller frees *surface with hull_free. */
bool mesh_surface(ConvexHull* surface, MeshCondition* condition, const Mesh* mesh);

/* Computes an approximate convex decomposition of a mesh, or reads it from the cache in `folder` if the cache has mesh
 * and options. Stored and computed hulls are bit-identical. A result from the cache has no joints, no components and a
 * zeroed condition. Writes computed hulls to the cache, replaces damaged files, and ignores write errors. folder NULL:
 * no cache. Returns HULL_OK, or HULL_FLAT, HULL_TOO_FEW_POINTS or HULL_FAILED with nothing to free. The caller frees
 * *result with decomposition_free. */
HullResult mesh_decompose_cached(Decomposition* result, const Mesh* mesh, const DecomposeOptions* requested,
                                 const char* folder);
/* Returns the path of the cache folder: $SDRS_CACHE, else $XDG_CACHE_HOME/sdrs, else ~/.cache/sdrs. Returns NULL if
 * SDRS_CACHE is `off` or empty, or if no home folder is known. The folder need not exist. The caller frees the text
 * with memory_free. */
char* decompose_cache_folder(void);

/* A superquadric (B7 in shapes/shapes.h) in mesh coordinates. */
typedef struct {
  double size[3],
      exponents[2]; /* semi-axes [mesh unit]; exponents e1 and e2, from 0.1 (nearly a box) to 1 (ellipsoid) */
  Quat rotation;    /* unit quaternion: rotation from the superquadric's frame to the mesh frame */
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

/* Distances of one surface from another, at samples distributed evenly over the first surface [mesh unit]. */
typedef struct {
  double mean, root_mean_square, largest;
} SurfaceGap;

typedef struct {
  Superquadric* list; /* in the order of construction (size: count) */
  int count;
  double diagonal;                  /* diagonal of the mesh's bounding box */
  double mesh_volume, union_volume; /* estimated from volume_samples points [mesh unit^3] */
  double intersection_over_union;   /* volume common to the mesh and the superquadrics, divided by the volume of both
                                       together */
  double wrong_volume; /* volume inside either the mesh or the superquadrics, but not both, divided by mesh_volume */
  int volume_samples;  /* number of sample points in the common bounding box of the mesh and the superquadrics */
  /* number of sample points on the surface of the mesh, and on the surface of the superquadrics */
  int mesh_samples, union_samples;
  SurfaceGap mesh_to_union, union_to_mesh; /* distances from samples of one surface to the other */
} SuperquadricUnion;

/* Approximates the repaired mesh by a union of a few superquadrics (docs/derivations/shapes.md). The result depends
 * only on mesh and options, not on the number of threads. Returns HULL_OK, HULL_FLAT if the repaired mesh has no
 * volume, or the error of hull_create if the points have no convex hull. After HULL_OK the caller frees *result with
 * superquadrics_free; otherwise there is nothing to free. */
HullResult mesh_superquadrics(SuperquadricUnion* result, const Mesh* mesh, const SuperquadricOptions* requested);
/* Frees the list and zeroes the struct. Accepts a zeroed struct. */
void superquadrics_free(SuperquadricUnion* result);
/* Computes the convex hull of 10 * 4^level + 2 surface points of a superquadric, in mesh coordinates. level: 0 to 3.
 * Returns HULL_OK, and the caller frees *hull with hull_free; otherwise there is nothing to free. */
HullResult superquadric_hull(const Superquadric* superquadric, int level, ConvexHull* hull);

#endif
