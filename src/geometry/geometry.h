/* geometry: triangle meshes from OBJ files, convex hulls, primitive solids, mass properties, distance of convex hulls.
 * Every array handed out is owned by the struct that holds it; x_free accepts a zeroed struct. */
#ifndef SDRS_GEOMETRY_H
#define SDRS_GEOMETRY_H

#include "linalg/linalg.h"

/* ---------------------------------------------------------------- meshes (geometry/mesh_obj.c) */

/* The faces that follow an `o` or `g` line of an OBJ file. Faces are sorted by group, in the order of the file within
 * one: groups cover all faces, none is empty, and a name used again continues its group (a `g` name within its `o`).
 * The name is that of `g`, else of `o`, else "default". */
typedef struct {
  char* name;
  int first_face, face_count;
} MeshGroup;

/* A polygon mesh as read: positions, faces of three or more corners, groups. Lengths in the file's unit times scale. */
typedef struct {
  Vec3* positions;
  int position_count;
  int* corners;    /* position index of every face corner      (corner_count) */
  int* face_first; /* first corner of each face                (face_count + 1) */
  int* face_line;  /* line of the file where the face stands   (face_count) */
  int corner_count, face_count;
  MeshGroup* groups;
  int group_count;
  int degenerate_face_count; /* faces dropped: fewer than three corners in different places */
} Mesh;

/* Read an OBJ file: v, f (v, v/t, v//n, v/t/n, negative indices, n-gons, line continuation), o, g; other statements are
 * skipped. CRLF, BOM, tabs, comments, vertex colours and w are accepted. Coordinates are multiplied by scale.
 * Errors (bad number, index out of range, no face, not text) name file and line in diagnostics: STATUS_BAD_INPUT;
 * a file that cannot be opened: STATUS_IO with a diagnostic. */
Status mesh_read_obj(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* The same from memory; `name` stands for the file in messages. */
Status mesh_parse_obj(Mesh* mesh, const char* name, const char* text, size_t length, double scale,
                      Diagnostics* diagnostics);
void mesh_free(Mesh* mesh);

/* ---------------------------------------------------------------- convex hulls (geometry/hull.c) */

/* A convex polyhedron: vertices in convex position and outward triangles. */
typedef struct {
  Vec3* vertices;
  int vertex_count;
  int (*triangles)[3]; /* counter-clockwise seen from outside */
  int triangle_count;
} ConvexHull;

typedef enum { HULL_OK, HULL_TOO_FEW_POINTS, HULL_FLAT, HULL_FAILED } HullResult;

/* Convex hull of a point set by Qhull, interior and duplicate points dropped, vertices in order of their first
 * appearance in `points` (deterministic). HULL_FLAT: the points lie in a plane to within relative rounding 1e-10. */
HullResult hull_create(ConvexHull* hull, const Vec3* points, int count);
/* The same with every point kept as a vertex, in the given order, those inside too: a shape that is being designed,
 * where a vertex that lies inside today may come out tomorrow. Only corners are in the triangles. */
HullResult hull_create_keeping(ConvexHull* hull, const Vec3* points, int count);
/* Keep at most max_vertices of the hull's own vertices (>= 4), chosen greedily: start from a large tetrahedron, add the
 * vertex farthest outside until the budget is spent. Returns the largest distance of a dropped vertex to the thinned
 * hull [m] in *error (0 when nothing was dropped). The thinned hull lies inside the original. */
HullResult hull_thin(ConvexHull* hull, int max_vertices, double* error);
void hull_free(ConvexHull* hull);
const char* hull_result_text(HullResult result);

/* ---------------------------------------------------------------- convex decomposition (geometry/decompose.c) */

/* What was wrong with a mesh as a solid, and was mended (docs/decompose.md). */
typedef struct {
  int unused_points, joined_points;             /* of no face; equal to an earlier one */
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
  int threads;
} DecomposeOptions;

/* Two hulls of one link that overlap, and a point inside both. */
typedef struct {
  int a, b;
  Vec3 point;
  double depth; /* radius of a ball round the point in both hulls, mesh unit */
} HullJoint;

typedef struct {
  ConvexHull* hulls;
  int hull_count;
  HullJoint* joints;
  int joint_count;
  MeshCondition condition;
  double diagonal;     /* of the mesh's box */
  double mesh_volume;  /* of the mended mesh */
  double hull_volume;  /* sum of the hulls' */
  double covered_miss; /* largest distance of a surface sample from the union, / diagonal */
  int samples;         /* of the surface */

  int pieces;          /* of the union, by overlap of positive depth */
  int mesh_pieces;     /* what the mesh itself has, counting surfaces that meet as one */
  bool mirror[3];      /* mirror planes kept */
  double mirror_error; /* how far a mirrored hull sticks out of its image, / diagonal */
  bool convex, covers, connected, symmetric, within_budget; /* the guarantees */
} Decomposition;

/* Approximate convex decomposition; a pure function of mesh and options, whatever the number of threads.
 * HULL_FLAT etc.: the mesh has no volume, nothing to free. */
HullResult mesh_decompose(Decomposition* result, const Mesh* mesh, const DecomposeOptions* given);
void decomposition_free(Decomposition* decomposition);

/* ---------------------------------------------------------------- primitives (geometry/primitives.c)
 * Convex polyhedra *inscribed* in the round solid; each returns a hull centred at the origin. */
HullResult primitive_box(ConvexHull* hull, Vec3 size);
/* Icosphere: 12, 42, 162, 642 vertices for resolution 0, 1, 2, 3. */
HullResult primitive_sphere(ConvexHull* hull, double radius, int resolution);
/* Axis z, `segments` >= 3 vertices on each rim. */
HullResult primitive_cylinder(ConvexHull* hull, double radius, double length, int segments);
/* Axis z; length is that of the straight part; `segments` >= 3 round, segments/4 (>= 1) rings on each cap plus the
 * pole. */
HullResult primitive_capsule(ConvexHull* hull, double radius, double length, int segments);
/* 96 points: cube surface with 4 x 4 grids on six faces, normalised to radius, each coordinate shifted by +- extent/2
 * (SDRS link shape, a rounded box or capsule); all 96 kept distinct: the outermost grid lines of each face are drawn in
 * by 0.1 of the grid spacing, which parts the corner and edge points that would coincide between faces. */
HullResult primitive_rounded_box(ConvexHull* hull, double radius, Vec3 extent);

/* ---------------------------------------------------------------- mass (geometry/mass.c)
 * Homogeneous second moment S = integral rho X~ X~^T, X~ = (x, y, z, 1): S[3][3] = mass, S[i][3] = mass * centre. */
typedef struct {
  double s[4][4];
} MassMoment;
MassMoment mass_moment_zero(void);
void mass_moment_add(MassMoment* sum, const MassMoment* term, double factor);
/* Solid of unit density, exact polynomial integrals over the tetrahedra from the first vertex. [m^3, m^4, m^5] */
MassMoment mass_moment_solid(const ConvexHull* hull);
/* Unit mass spread evenly over points. */
MassMoment mass_moment_points(const Vec3* points, int count);
/* From mass, centre of mass and inertia tensor about the centre of mass (ixx, iyy, izz, ixy, ixz, iyz; kg m^2). */
MassMoment mass_moment_inertia(double mass, Vec3 center, const double inertia[6]);
/* The moment of the body moved by a pose. */
MassMoment mass_moment_transform(const MassMoment* moment, Pose pose);
double mass_moment_mass(const MassMoment* moment);
Vec3 mass_moment_center(const MassMoment* moment); /* mass must be > 0 */
/* Inertia tensor about the centre of mass. */
Mat3 mass_moment_inertia_tensor(const MassMoment* moment);

/* ---------------------------------------------------------------- hot vertex arrays */

/* View of a convex point set in its local frame, structure of arrays, each array 64-byte aligned and padded to a
 * multiple of 8 by repeating the last vertex: padded = 8 * ceil(count / 8). */
typedef struct {
  const double *x, *y, *z;
  int count, padded;
} PointView;
/* Own arrays with a copy of the points (count >= 1), in one block; freed by point_view_free, which accepts {0}. */
PointView point_view_create(const Vec3* points, int count);
void point_view_free(PointView* view);

/* ---------------------------------------------------------------- distance (geometry/gjk.c) */

/* What GJK remembers of a pair between calls. Zeroed = cold. */
typedef struct {
  int count;      /* vertices in the simplex, 0..4 */
  int a[4], b[4]; /* their indices */
  Vec3 direction; /* last separating direction, from b to a (not unit) */
} GjkCache;

typedef struct {
  double distance;           /* m; 0 when the hulls meet */
  Vec3 witness_a, witness_b; /* closest points, world */
  Vec3 normal;               /* unit, from a to b; zero when they meet */
  int iterations;
} GjkResult;

/* Distance of two convex point sets under poses. cache may be NULL (cold); it is read as a warm start and updated.
 * The result is exact to about 1e-14 of the larger coordinate. Deterministic; no allocation. */
GjkResult gjk_distance(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);
/* Index of the vertex farthest along a local direction, smallest index on ties; *value = that maximum. */
int support_index(PointView points, Vec3 direction, double* value);
/* Penetration depth [m] of two intersecting hulls: the least translation that parts them (exact, by an expanding
 * polytope in the Minkowski difference, Qhull inside); normal = unit direction to move b. 0 when they do not meet.
 * Allocates; for messages only. */
double hull_penetration(PointView a, Pose pose_a, PointView b, Pose pose_b, Vec3* normal);

/* Largest distance of a vertex from the first [m]: the hull's size, within a factor of two. */
double hull_size(const ConvexHull* hull);
/* Centre and radius [m] of the largest ball inside both hulls; false: they have none in common. Allocates.
 * geometry/common_ball.c; docs/derivations/design.md */
bool hulls_common_ball(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius);

#endif
