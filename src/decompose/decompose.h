/* decompose: a mesh as a few convex hulls that cover it or lie inside, or as superquadrics that are like it, with what
 * they are worth.
 * Every array handed out is owned by the struct that holds it; x_free accepts a zeroed struct. Lengths in the mesh's
 * unit. docs/decompose.md */
#ifndef SDRS_DECOMPOSE_H
#define SDRS_DECOMPOSE_H

#include "geometry/geometry.h"

/* Faults of a mesh as a solid that were repaired (docs/decompose.md). */
typedef struct {
  int unused_points, joined_points;             /* of no face; one with an earlier one */
  double joining;                               /* points no farther apart were one, mesh unit */
  int degenerate_triangles, repeated_triangles; /* dropped */
  int border_edges, branching_edges;            /* of one face; of more than two */
  int turned_triangles;                         /* against their neighbours */
  bool inside_out;                              /* the whole surface was turned */
  int closed_borders;                           /* holes closed by a fan */
  int components, cavities;                     /* surfaces that do not hang together; those of them around a void */
} MeshCondition;

/* 0 in a count or an error stands for the default. */
typedef struct {
  int max_hulls;      /* default 16 */
  int max_vertices;   /* of a hull, >= 4; default 64 */
  double error;       /* stop when the excess volume of the hulls is below this fraction of the mesh's volume */
  int resolution;     /* triangles of the copy that the search for planes works on; default 1200 */
  int grid[3];        /* blocks along x, y, z instead of a search; 0 = search */
  bool symmetry[3];   /* mirror planes normal to x, y, z to keep */
  bool symmetry_auto; /* those that the mesh has */
  bool inside;        /* hulls that lie inside the solid, instead of covering it */
  int threads;
  double tolerance; /* as few hulls, of max_hulls (then 256 by default), as keep their depth at most this [mesh unit] */
} DecomposeOptions;

/* Two hulls of one link that overlap, and a point inside both. */
typedef struct {
  int a, b;
  Vec3 point;
  double depth; /* radius of a ball round the point in both hulls, mesh unit */
} HullJoint;

/* A surface of the mesh that hangs together, with the cavities in it, and the hulls that hold it. */
typedef struct {
  int* hulls; /* ascending */
  int hull_count;
  int pieces;     /* into which they fall: 1 = they hang together */
  double overlap; /* depth of the weakest of the joints that they hang together by, mesh unit; 0 without joints */
} MeshComponent;

typedef struct {
  ConvexHull* hulls;
  int hull_count;
  HullJoint* joints;
  int joint_count;
  MeshComponent* components;
  int component_count;
  MeshCondition condition;
  double diagonal;     /* of the mesh's box */
  double mesh_volume;  /* of the mended mesh, where it overlaps itself once */
  double hull_volume;  /* sum of the hulls' */
  bool inside;         /* the hulls were to lie inside */
  double covered_miss; /* largest distance of a surface sample from the union, or depth inside a hull, / diagonal */
  int samples;         /* of the surface */

  double* depths;       /* largest distance of each hull's surface from the part, where outside it, mesh unit */
  double depth;         /* of all hulls */
  double depth_at_most; /* what was not looked at cannot be deeper than this */

  int pieces;          /* of the union, by overlap of positive depth */
  int mesh_pieces;     /* what the mesh itself has, counting surfaces that meet as one */
  int apart;           /* components whose hulls fall apart */
  bool mirror[3];      /* mirror planes kept */
  double mirror_error; /* how far a mirrored hull sticks out of its image, / diagonal */
  bool convex, covers, connected, symmetric,
      within_budget;     /* the guarantees; covers: covers the mesh, or lies inside it */
  bool within_tolerance; /* or none was asked for */
} Decomposition;

/* Approximate convex decomposition; a pure function of mesh and options, whatever the number of threads.
 * HULL_FLAT etc.: the mesh has no volume, nothing to free. HULL_OK: freed by decomposition_free. Mesh and options are
 * only read. Lengths of the options are in the mesh's unit. */
HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given);
/* Frees all and leaves a zeroed one; accepts a zeroed one. NULL is not accepted. */
void decomposition_free(Decomposition* decomposition);

/* Holes that go through a solid: a ring has one, whatever its parts are. */
typedef struct {
  int mesh, hulls; /* of the mesh, and of the union of the hulls */
  double cube;     /* what is narrower than two of these edges is not seen, mesh unit */
} HoleCount;

/* Count them, both on the same cubes (decompose/holes.c). False: there is nothing to count on. *out is then zeroed.
 * Allocates for the time of the call. Returns false without a message. */
bool decomposition_holes(HoleCount* out, const Decomposition* d, const Mesh* mesh);

/* The mended surface that is decomposed (decompose/mesh_surface.c), as outward triangles in the mesh's coordinates:
 * vertices and triangles, but not convex. Freed by hull_free; false, nothing to free: no triangle is left. The mesh is
 * only read. condition: NULL, or receives what was repaired. */
bool mesh_surface(ConvexHull* surface, MeshCondition* condition, const Mesh* mesh);

/* mesh_decompose (decompose/cache.c), but hulls that were found before for this mesh and these options are
 * read from a file of the folder, to the same bits, and new ones are written there. joints, components and condition
 * are not kept: they are empty when the hulls were read. A damaged file is replaced; one that cannot be written is no
 * error. folder NULL: no files. Results and ownership as of mesh_decompose. */
HullResult mesh_decompose_cached(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given,
                                 const char* folder);
/* $SDRS_CACHE, else $XDG_CACHE_HOME/sdrs, else ~/.cache/sdrs; NULL when SDRS_CACHE is `off` or empty, or there is no
 * home. Owned by the caller. Freed by memory_free; the folder need not be there. */
char* decompose_cache_folder(void);

/* ---------------------------------------------------------------- superquadrics (decompose/superquadrics.c) */

/* A superquadric of shapes/shapes.h (B7), placed in the mesh's coordinates; lengths in the mesh's unit. */
typedef struct {
  double size[3], exponents[2]; /* semi-axes; e1, e2 */
  Quat rotation;                /* mesh <- its own frame, unit */
  Vec3 position;
} Superquadric;

/* 0 in a count or an error stands for the default. */
typedef struct {
  int max;      /* superquadrics at most; default 18 */
  int cells;    /* of the grid along the longest edge of the mesh's box; default 40 */
  double error; /* stop when less than this part of the solid's volume is on the wrong side; default 1e-3 */
  int threads;
} SuperquadricOptions;

/* How far one surface is from another, over samples spread evenly over the first, mesh unit. */
typedef struct {
  double mean, root_mean_square, largest;
} SurfaceGap;

typedef struct {
  Superquadric* list; /* in the order in which they were found */
  int count;
  double diagonal;                         /* of the mesh's box */
  double mesh_volume, union_volume;        /* by the samples below, mesh unit^3 */
  double intersection_over_union;          /* of the two solids */
  double wrong_volume;                     /* in one of the two alone, of the mesh's volume */
  int volume_samples;                      /* in the box of both */
  int mesh_samples, union_samples;         /* on the surfaces */
  SurfaceGap mesh_to_union, union_to_mesh; /* from samples of the mesh to the union's surface, and back */
} SuperquadricUnion;

/* The union of a few superquadrics that is like the mended mesh as a solid (docs/derivations/shapes.md); a pure
 * function of mesh and options, whatever the number of threads. HULL_FLAT etc.: the mesh has no volume, nothing to
 * free. HULL_OK: freed by superquadrics_free. Mesh and options are only read. HULL_FAILED as of hull_create. */
HullResult mesh_superquadrics(SuperquadricUnion* result, const Mesh* mesh, const SuperquadricOptions* given);
/* Frees all and leaves a zeroed one; accepts a zeroed one. NULL is not accepted. */
void superquadrics_free(SuperquadricUnion* result);
/* The surface of one as a hull of 10 * 4^level + 2 points on it, in the mesh's coordinates; level 0 to 3. When not
 * HULL_OK there is nothing to free, else freed by hull_free. Another level is an error of the caller, not checked. */
HullResult superquadric_hull(const Superquadric* own, int level, ConvexHull* hull);

#endif
