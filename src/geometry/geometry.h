/* geometry: triangle meshes from OBJ and STL files, convex hulls and their union, primitive solids, mass properties,
 * distance of convex hulls.
 * Every array handed out is owned by the struct that holds it; x_free accepts a zeroed struct. */
#ifndef SDRS_GEOMETRY_H
#define SDRS_GEOMETRY_H

#include "linalg/linalg.h"

/* ---------------------------------------------------------------- meshes (geometry/mesh_obj.c, mesh_stl.c,
 * mesh_other.c) */

/* Faces of one group of an OBJ file (`o` or `g` line). Faces are sorted by group and keep the order of the file within
 * a group. Groups cover all faces; none is empty. A repeated name continues its group (a `g` name within its `o`). The
 * name is that of `g`, else of `o`, else "default". */
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
  int* face_line;  /* line of the face in the file             (face_count) */
  int corner_count, face_count;
  MeshGroup* groups;
  int group_count;
  int degenerate_face_count; /* number of dropped faces, which have fewer than three different corners */
} Mesh;

/* Reads a mesh file: STL if its name ends in .stl, the formats of mesh_read_foreign by their extensions, else OBJ.
 * Multiplies coordinates by scale. Returns STATUS_BAD_INPUT, with file and line in diagnostics, for a bad number, an
 * index out of range, a file without faces or that is not text; STATUS_IO, with a diagnostic, if it cannot be opened.
 * The mesh is then zeroed. The caller frees it with mesh_free. */
Status mesh_read(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* Parses an OBJ text of `length` bytes, at most 2 GiB, which is not kept. Reads v, f (v, v/t, v//n, v/t/n, negative
 * indices, n-gons, line continuation), o and g; skips other statements. Accepts CRLF, BOM, tabs, comments, vertex
 * colours and w. `name`: file name for messages. Errors as of mesh_read; the mesh is then zeroed. The caller frees it
 * with mesh_free. */
Status mesh_parse_obj(Mesh* mesh, const char* name, const char* text, size_t length, double scale,
                      Diagnostics* diagnostics);
/* Parses STL data of `length` bytes, text or binary, which are not kept. Every solid becomes a group; equal corners
 * become one position. STL has no unit; coordinates are multiplied by scale as for other formats. face_line is 0 for
 * binary data. Errors as of mesh_read, with the line for text only; the mesh is then zeroed. The caller frees it with
 * mesh_free. */
Status mesh_parse_stl(Mesh* mesh, const char* name, const char* data, size_t length, double scale,
                      Diagnostics* diagnostics);
/* Reads Collada (.dae), .ply, .off, .gltf, .glb, .3ds, .fbx, .3mf and .x3d files with the Open Asset Import Library
 * (libassimp.so.5, loaded on demand), in a separate process. Every mesh of every node becomes a group. Coordinates have
 * the axes of the file, and are in metres if the file names its unit, before they are multiplied by scale. face_line is
 * 0. Returns STATUS_BAD_INPUT for a file that the library cannot read or crashes on, STATUS_IO for one that is missing
 * or not a regular file; both with a diagnostic and a zeroed mesh. */
Status mesh_read_foreign(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* Returns true if the file, by the extension of its name (in any case), has a format that mesh_read_foreign reads. The
 * file is not accessed. path must not be NULL; nothing is allocated. */
bool mesh_is_foreign(const char* path);
/* Frees all arrays and zeroes the mesh; accepts a zeroed mesh, but not NULL. */
void mesh_free(Mesh* mesh);

/* ---------------------------------------------------------------- convex hulls (geometry/hull.c) */

/* A convex polyhedron: vertices in convex position and outward triangles. */
typedef struct {
  Vec3* vertices;
  int vertex_count;
  int (*triangles)[3]; /* counter-clockwise seen from outside */
  int triangle_count;
} ConvexHull;

/* Returns the common apex of the tetrahedra that give a hull's mass: its first vertex, or the frame's origin for a
 * single triangle, which is a part of a surface. By value. */
static inline Vec3 solid_origin(const ConvexHull* hull) {
  return hull->triangle_count == 1 ? vec3(0, 0, 0) : hull->vertices[0];
}

typedef enum { HULL_OK, HULL_TOO_FEW_POINTS, HULL_FLAT, HULL_FAILED } HullResult;

/* Computes the convex hull of points[count] by Qhull, without interior and duplicate points. Vertices are copies, in
 * order of their first appearance in `points` (deterministic). HULL_OK: the caller frees the hull with hull_free;
 * otherwise there is nothing to free. HULL_FLAT: the points lie in a plane to within a relative error of 1e-10.
 * HULL_TOO_FEW_POINTS: fewer than four different points. HULL_FAILED: a coordinate is not finite, or Qhull found no
 * closed surface. */
HullResult hull_create(ConvexHull* hull, const Vec3* points, int count);
/* As hull_create, but keeps all of points[count] as vertices, in the given order, including interior ones: while a
 * shape is optimized, a vertex that is interior now may become a corner later. Only corners occur in triangles.
 * HULL_FLAT, HULL_FAILED and ownership as of hull_create. */
HullResult hull_create_keeping(ConvexHull* hull, const Vec3* points, int count);
/* Reduces a hull to at most max_vertices (>= 4; less counts as 4) of its own vertices, selected greedily: starts from a
 * large tetrahedron and adds the vertex farthest outside until the limit is reached. Sets *error to the largest
 * distance of a dropped vertex from the reduced hull [m], 0 if none was dropped. The reduced hull lies inside the
 * original. If not HULL_OK the hull is unchanged. */
HullResult hull_thin(ConvexHull* hull, int max_vertices, double* error);
/* Frees both arrays and zeroes the hull; accepts a zeroed hull, but not NULL. */
void hull_free(ConvexHull* hull);
/* Returns a text that follows the name of the shape in messages, such as "is flat: ...". Static, never NULL. */
const char* hull_result_text(HullResult result);

/* ---------------------------------------------------------------- flat faces (geometry/flat_faces.c) */

/* Faces of a hull: connected triangles in one plane form one face. Owns its arrays; flat_faces_free accepts a zeroed
 * struct. */
typedef struct {
  int count;
  int (*edges)[2];   /* edges around each face, in the sense of its triangles (edge_first[count]) */
  int* edge_first;   /*                                                                     (count + 1) */
  int* corners;      /* corners of each face, each once                  (corner_first[count]) */
  int* corner_first; /*                                                                     (count + 1) */
} FlatFaces;
/* Sets *out to the faces of the hull. Never fails. The caller frees it with flat_faces_free; the hull need not outlive
 * it. */
void flat_faces_create(FlatFaces* out, const ConvexHull* hull);
/* Frees the arrays and zeroes the struct. NULL is not accepted. */
void flat_faces_free(FlatFaces* faces);
/* ---------------------------------------------------------------- height fields (geometry/height_file.c,
 * height_field.c) */

/* Samples on a grid: row 0 has the smallest y, column 0 the smallest x. Owns its values. */
typedef struct {
  int columns, rows; /* >= 2 each */
  double* values;    /* (rows * columns) */
} HeightGrid;
enum { HEIGHT_SAMPLES_MAX = 4000000 };

/* Reads a PNG (grey level or brightness of colours, 0 ... 1) if the name ends in .png, else a table of numbers
 * (separated by commas, semicolons, blanks or tabs; # begins a comment). The first row of the file has the largest y,
 * as seen from above. Errors as of mesh_read; the grid is then zeroed. The caller frees it with height_grid_free. */
Status height_grid_read(HeightGrid* grid, const char* path, Diagnostics* diagnostics);
/* As height_grid_read from memory: data of (length) bytes, not kept; png: the data are a PNG. `name`: file name for
 * messages. After an error the grid is zeroed; the caller frees it with height_grid_free. */
Status height_grid_parse(HeightGrid* grid, const char* name, const char* data, size_t length, bool png,
                         Diagnostics* diagnostics);
/* Frees the values and zeroes the grid; accepts a zeroed grid, but not NULL. */
void height_grid_free(HeightGrid* grid);

/* Solid of a height field, with size = (sx, sy, sz) and origin = (ox, oy, oz). Sample (i, j) is at x = ox - sx / 2 + sx
 * * i / (columns - 1), y likewise, z = oz + sz * value. Between four samples the surface is the upper side of their
 * convex hull. The solid extends to the distance `base` below the lowest point. Lengths in m; size > 0, base > 0. */
typedef struct {
  Vec3 size, origin;
  double base;
} HeightPlace;
/* Divides the solid into convex pieces that do not overlap: one per cell, with eight corners; cells in one plane are
 * joined to rectangles. The pieces are sorted by their lowest row and column. Returns their number. The caller frees
 * each of *pieces [m] with hull_free and the array with memory_free. Never fails, since the reader of the grid rejects
 * numbers that are not finite. */
int height_field_pieces(const HeightGrid* grid, const HeightPlace* place, ConvexHull** pieces);

/* ---------------------------------------------------------------- surfaces of triangles (geometry/surface.c) */

/* Owned arrays; surface_free accepts a zeroed struct. */
typedef struct {
  Vec3* points;
  int point_count;
  int (*triangles)[3]; /* counter-clockwise seen from outside */
  int triangle_count;
} TriangleSurface;
/* Returns (b - a) x (c - a) of triangle i: its outward normal times twice its area [m^2]. Cannot fail. */
static inline Vec3 surface_double_area(const TriangleSurface* surface, int i) {
  Vec3 a = surface->points[surface->triangles[i][0]];
  return vec3_cross(vec3_sub(surface->points[surface->triangles[i][1]], a),
                    vec3_sub(surface->points[surface->triangles[i][2]], a));
}
/* Frees both arrays and zeroes the surface; accepts a zeroed surface, but not NULL. */
void surface_free(TriangleSurface* surface);
/* Returns a copy of the hull's vertices and triangles, freed by the caller with surface_free. Never fails; a hull
 * without triangles gives an empty surface. */
TriangleSurface surface_of_hull(const ConvexHull* hull);
/* Returns for each of points[count] the index of the first point with the same coordinates (count numbers). Owned by
 * the caller, freed by memory_free. Never NULL. */
int* points_equal(const Vec3* points, int count);
/* Replaces point i by point number[i] in all triangles (number[point_count]), in place. Removes triangles with fewer
 * than three different corners, and pairs of opposite triangles, so that a closed and oriented surface remains so.
 * Points keep their indices. number[i] must be the index of a point (asserted). Allocates temporarily. Never
 * fails. */
void surface_join_points(TriangleSurface* surface, const int* number);
/* Collapses edges with four triangles, along which two sheets touch, to points if they are not longer than length, in
 * the surface's unit. In place: triangles may be removed, points keep their indices. Allocates temporarily; never
 * fails. */
void surface_settle(TriangleSurface* surface, double length);
/* Removes points without a triangle. Sets old[i] to the former index of point i unless old is NULL; it has room for the
 * former number of points and belongs to the caller. Allocates temporarily; never fails. */
void surface_drop_unused(TriangleSurface* surface, int* old);

/* Properties of a surface that follow from its indices; only the volume depends on positions. */
typedef struct {
  bool closed;          /* no edge has a triangle on one side only, and there is at least one triangle */
  bool manifold;        /* two triangles at every edge, and one fan around every point */
  bool oriented;        /* at every edge as many triangles have one direction as the other */
  int open_edges;       /* number of edges with one triangle */
  int branching_edges;  /* number of edges with more than two triangles */
  int branching_points; /* number of points with more than one fan */
  int edges, points;    /* points used by triangles; the Euler characteristic is points - edges + triangles */
  int shells;           /* components connected by edges */
  int groups;           /* components connected by points: fewer if shells touch in a point */
  int cavities;         /* shells of negative volume, which bound voids */
  double volume;        /* divergence theorem [unit^3] */
} SurfaceCheck;
/* Returns the properties of the surface. An empty surface is not closed. Allocates temporarily. Never fails. */
SurfaceCheck surface_check(const TriangleSurface* surface);

/* Returns the least wall thickness, by sampling (U5; geometry/wall.c). From each sample a ray goes inwards along the
 * normal to where it leaves the solid. Its length counts if the surface there faces the opposite direction within 30
 * degrees. Samples are distributed evenly over the area, one per square of edge *spacing, which is set. Smaller walls
 * may be missed; wider ones are measured to about spacing tan 30. HUGE_VAL: no two walls face each other. samples > 0:
 * approximate number of rays. Lengths in the surface's unit. Independent of the number of threads. spacing must not be
 * NULL. Allocates temporarily. Never fails. */
double surface_thickness(const TriangleSurface* surface, int samples, int threads, double* spacing);

/* ---------------------------------------------------------------- planar polygons (geometry/polygon.c) */

/* Triangulates a simple polygon, convex or not, by ear clipping: corner_count - 2 triangles with the polygon's sense of
 * rotation. corners: indices into points, counter-clockwise seen against the normal. A self-intersecting polygon is
 * triangulated too, with some triangles reversed. Takes time quadratic in the number of corners. Returns the number of
 * triangles, 0 for fewer than three corners. `triangles` (corner_count - 2) is memory of the caller. Allocates
 * temporarily. Never fails. */
int polygon_triangulate(const Vec3* points, const int* corners, int corner_count, Vec3 normal, int (*triangles)[3]);

/* ---------------------------------------------------------------- bounding-volume tree of a closed surface
 * (geometry/surface_tree.c), for distances and inside tests */

/* Bounding-volume tree over a copy of the triangles in a rotated frame, in which a ray along z rarely passes through an
 * edge. Owns its arrays; surface_tree_free accepts a zeroed struct. */
typedef struct {
  Mat3 turn;          /* rotation from the surface's frame to the rotated one */
  Vec3 (*corners)[3]; /* corners of the triangles, in the order of the leaves (count) */
  Vec3 *low, *high;   /* boxes of the nodes, root 1, children of k at 2k and 2k + 1   (2 leaves) */
  int count, leaves;  /* triangles; a power of two */
} SurfaceTree;

/* Returns a tree of triangles (count >= 1), counter-clockwise seen from outside, which are copied. points: to which the
 * triangles' indices refer. Freed by surface_tree_free. Never fails. */
SurfaceTree surface_tree_create(const Vec3* points, const int (*triangles)[3], int count);
/* Frees the arrays and zeroes the tree; accepts a zeroed tree, but not NULL. */
void surface_tree_free(SurfaceTree* tree);
/* Returns the distance of a point from the surface, and sets *nearest to the nearest triangle, 0..count-1 in the order
 * of the leaves. *nearest on entry: any triangle of the tree (asserted); a near one makes the search short.
 * point: in the surface's frame and unit, here and below. No allocation. */
double surface_tree_distance(const SurfaceTree* tree, Vec3 point, int* nearest);
/* Returns the distance of a point from a triangle of the tree, 0..count-1 in the order of the leaves, in the surface's
 * unit. The index is asserted. No allocation. */
double surface_tree_triangle_distance(const SurfaceTree* tree, int triangle, Vec3 point);
/* Returns the winding number of a closed surface about a point: the triangles above it that face up minus those that
 * face down. A ray passes an edge on the same side for all of its triangles, so none is counted twice. 1 inside a
 * surface that is counter-clockwise seen from outside, 0 outside; meaningless for an open surface. No allocation. */
int surface_tree_winding(const SurfaceTree* tree, Vec3 point);

/* ---------------------------------------------------------------- union of convex hulls (geometry/union.c) */

typedef enum {
  UNION_OK,
  UNION_TOUCHES_IN_EDGE,  /* the union is not a manifold */
  UNION_TOUCHES_IN_POINT, /* the union is not a manifold */
  UNION_FAILED,           /* a hull without volume, or a surface that is not closed */
} UnionResult;

/* Computes the boundary of the union of hulls[hull_count] as closed, oriented surfaces with two triangles at every
 * edge: one per connected component, and one per void in it (docs/derivations/union.md, U1 to U4). A surface may touch
 * itself in a point (SurfaceCheck.branching_points). Returns UNION_TOUCHES_IN_POINT for components that touch in a
 * point only, and UNION_FAILED for no hulls. Merges nearly equal planes of different hulls, and points nearer than
 * *snap [m], which is set; the result is checked. Corners of hulls keep their coordinates to the bit. The caller frees
 * the surface with surface_free; when not UNION_OK there is nothing to free. Allocates temporarily. */
UnionResult hulls_union(TriangleSurface* surface, double* snap, const ConvexHull* hulls, int hull_count);
/* Returns a text for messages, such as "the union is not a manifold: ...". Static, never NULL. */
const char* union_result_text(UnionResult result);

/* ---------------------------------------------------------------- primitives (geometry/primitives.c)
 * Convex polyhedra *inscribed* in the round solid; each returns a hull centred at the origin. */
/* Creates a box of `size` along x, y, z [m]. HULL_OK, or an error as of hull_create for a size that is 0 or not finite.
 * Here and below the caller frees the hull with hull_free if HULL_OK; otherwise there is nothing to free. */
HullResult primitive_box(ConvexHull* hull, Vec3 size);
/* Creates an icosphere with 12, 42, 162, 642 vertices for resolution 0, 1, 2, 3. radius [m]. HULL_FAILED: resolution
 * not in 0..6. Result and ownership as of primitive_box; a radius that is 0 or not finite is an error as of
 * hull_create. */
HullResult primitive_sphere(ConvexHull* hull, double radius, int resolution);
/* Returns the vertices of primitive_sphere with radius 1, in the same order, without Qhull. Sets *count. The caller
 * frees the array with memory_free. NULL: resolution not in 0..6. */
Vec3* primitive_sphere_points(int resolution, int* count);
/* Creates a cylinder with axis z and `segments` >= 3 vertices on each rim. radius, length [m]. HULL_FAILED: segments
 * not in 3..4096. Result and ownership as of primitive_box; a size of 0 is an error as of hull_create. */
HullResult primitive_cylinder(ConvexHull* hull, double radius, double length, int segments);
/* Creates a capsule with axis z. length: of the straight part; radius, length [m]. It has `segments` >= 3 vertices
 * around, and segments/4 (>= 1) rings plus the pole on each cap. HULL_FAILED: segments as above, or length < 0. Result
 * and ownership as of primitive_box: freed by hull_free when HULL_OK. */
HullResult primitive_capsule(ConvexHull* hull, double radius, double length, int segments);
/* Creates a rounded box, plate, capsule or sphere: a cube surface with n x n grids on its six faces, n = 2
 * floor(segments / 8), is normalised to `radius`, and each coordinate is shifted by +- extent/2. 16 segments give 96
 * points (SDRS link shape). The outermost grid lines of each face are moved inward by 0.1 of the grid spacing, because
 * corner and edge points of different faces would coincide otherwise. HULL_FAILED: segments not in 8..4096. Results as
 * hull_create. The caller frees with hull_free when HULL_OK, and only then. */
HullResult primitive_rounded_box(ConvexHull* hull, double radius, Vec3 extent, int segments);
/* Creates a polyhedron inscribed in the convex set of all points within `rounding` of the hull of two circles about the
 * z axis, at heights z with these radii [m], with `segments` vertices around. A circle may be a point, and both may be
 * equal. HULL_FAILED: segments as above. Result and ownership as of primitive_box. */
HullResult primitive_circles(ConvexHull* hull, const double z[2], const double radius[2], double rounding,
                             int segments);

/* ---------------------------------------------------------------- mass (geometry/mass.c)
 * Homogeneous second moment S = integral rho X~ X~^T, X~ = (x, y, z, 1): S[3][3] = mass, S[i][3] = mass * centre. */
typedef struct {
  double s[4][4];
} MassMoment;
/* Returns a moment with all entries 0, the initial value for mass_moment_add. Never an error. */
MassMoment mass_moment_zero(void);
/* Adds factor times `term` to *sum; both in one frame. factor: -1 subtracts a body; a density converts unit density to
 * mass. The pointers must not be NULL and may be equal. Allocates nothing. */
void mass_moment_add(MassMoment* sum, const MassMoment* term, double factor);
/* Returns the moment of a solid of unit density in the hull's frame [m^3, m^4, m^5], by exact polynomial integrals over
 * the tetrahedra from solid_origin. The hull need not be convex; zero without vertices. Inward triangles make it
 * negative, which is not reported as an error. Allocates nothing. */
MassMoment mass_moment_solid(const ConvexHull* hull);
/* Returns the moment of unit mass divided equally among points[count], in their frame [1, m, m^2]; zero for count 0,
 * when points may be NULL. */
MassMoment mass_moment_points(const Vec3* points, int count);
/* Returns the moment of a body with this mass [kg], centre of mass [m] and inertia tensor about the centre of mass
 * (ixx, iyy, izz, ixy, ixz, iyz) [kg m^2], in the axes of center's frame; ixy = -integral rho x y. A tensor that no
 * physical body has is not reported here as an error, but when the scene is checked. */
MassMoment mass_moment_inertia(double mass, Vec3 center, const double inertia[6]);
/* Returns the moment T S T^T of the body moved by a pose: that of the old frame in the new one. moment must not be
 * NULL. */
MassMoment mass_moment_transform(const MassMoment* moment, Pose pose);
/* Returns the mass S[3][3] [kg], in the units of the moment. */
double mass_moment_mass(const MassMoment* moment);
/* Returns the centre of mass in the moment's frame [m]; not finite unless mass > 0. Allocates nothing, reports no
 * error. */
Vec3 mass_moment_center(const MassMoment* moment);
/* Returns the inertia tensor about the centre of mass in the moment's axes [kg m^2], symmetric; mass must be > 0.
 * Reports no error. */
Mat3 mass_moment_inertia_tensor(const MassMoment* moment);

/* ---------------------------------------------------------------- hulls of points with a radius about them
 * (geometry/rounded_points.c, contact.md C6b) */
/* Creates the convex hull of points (count >= 1) that may lie in a plane, on a line or at one place: as of hull_create;
 * two equal polygons of opposite orientation; the ends of a segment without triangles; one point. Points inside the
 * hull are dropped. HULL_FAILED: a coordinate is not finite. HULL_OK: the caller frees the hull with hull_free. */
HullResult rounded_core_create(ConvexHull* core, const Vec3* points, int count);
/* Returns the exact moment of all points within `radius` >= 0 [m] of a hull of rounded_core_create, for unit density,
 * in the hull's frame [m^3, m^4, m^5]. Sets *by_radius, unless NULL, to its derivative with respect to the radius.
 * Allocates temporarily. Never fails. */
MassMoment rounded_core_moment(const ConvexHull* core, double radius, MassMoment* by_radius);
/* Creates a polyhedron inscribed in that solid, radius > 0, with arcs of at most 360 degrees / segments; its flat faces
 * are those of the solid. HULL_FAILED: segments not in 8..4096. Result and ownership as of primitive_box. */
HullResult rounded_core_tessellate(ConvexHull* hull, const ConvexHull* core, double radius, int segments);

/* ---------------------------------------------------------------- vertex arrays for fast access */

/* View of a convex point set in its local frame, structure of arrays, each array 64-byte aligned and padded to a
 * multiple of 8 by repeating the last vertex: padded = 8 * ceil(count / 8). */
typedef struct {
  const double *x, *y, *z;
  int count, padded;
} PointView;
/* Returns point i in the local frame [m]; 0 <= i < padded, not checked. Allocates nothing. */
static inline Vec3 point_at(PointView points, int i) { return vec3(points.x[i], points.y[i], points.z[i]); }
/* Returns a view with its own copy of points[count], count >= 1, in one block, padded with the last point. Freed by
 * point_view_free. Never fails. */
PointView point_view_create(const Vec3* points, int count);
/* Frees the block of point_view_create and zeroes the view. Not for views of other arrays. Accepts a zeroed view, but
 * not NULL. */
void point_view_free(PointView* view);

/* ---------------------------------------------------------------- distance (geometry/gjk.c) */

/* State of GJK for a pair, stored between calls as a warm start. Zeroed: none. */
typedef struct {
  int count;      /* vertices in the simplex, 0..4 */
  int a[4], b[4]; /* their indices */
  Vec3 direction; /* last separating direction, from b to a (not unit) */
} GjkCache;

typedef struct {
  double distance;           /* distance [m]; 0 if the hulls intersect */
  Vec3 witness_a, witness_b; /* closest points, world */
  Vec3 normal;               /* unit, from a to b; zero if they intersect */
  int iterations;
} GjkResult;

/* Returns the distance of two convex point sets at poses. The cache (NULL: none) is used as a warm start and updated.
 * The result is exact to about 1e-14 of the largest coordinate. Deterministic; allocates nothing. */
GjkResult gjk_distance(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);
/* Returns the distance [m] of a point from the convex hull of the set, in the set's frame; 0 inside. Allocates nothing.
 * Never fails. */
double gjk_point_distance(PointView points, Vec3 point);
/* Returns the index of the vertex farthest along a local direction, the smallest index on ties, and sets *value to the
 * maximum [m] for a unit direction. Returns 0 if the heights are not numbers. No allocation. */
int support_index(PointView points, Vec3 direction, double* value);
/* A circle about a unit axis [m]. */
typedef struct {
  Vec3 center, axis;
  double radius;
} Circle;
/* A convex body: all points within `rounding` [m] of the convex hull of points and circles, in one frame. It has
 * points, circles or both, which it borrows. */
typedef struct {
  PointView points;
  const Circle* rings;
  int ring_count;
  double rounding;
} RoundBody;
enum { ROUND_RINGS_MAX = 2 };
/* Returns the maximum of direction . x over the body [m |direction|], and sets *at, unless NULL, to a maximizing point.
 * direction: not 0. Allocates nothing, cannot fail. */
double round_support(const RoundBody* body, Vec3 direction, Vec3* at);
/* As gjk_distance for round bodies. With circles the distance is a lower bound, accurate to about 1e-12 of the larger
 * body and 1e-9 of the gap, and only the direction of the cache is used. ring_count is at most ROUND_RINGS_MAX. */
GjkResult round_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, GjkCache* cache);
/* Returns the penetration depth [m] of two intersecting hulls, the least translation that separates them, and sets
 * *normal to the unit direction in which b must move. Exact, by an expanding polytope in the Minkowski difference, with
 * Qhull. 0, with *normal zero, if they do not intersect. normal must not be NULL. Allocates; for messages only. */
double hull_penetration(PointView a, Pose pose_a, PointView b, Pose pose_b, Vec3* normal);

/* Returns the largest distance of a vertex from the first [m], which is the hull's size within a factor of two; 0
 * without vertices. Never fails; allocates nothing. */
double hull_size(const ConvexHull* hull);
/* Sets center and radius [m] to those of the largest ball inside both hulls, in the common frame of their vertices
 * (geometry/common_ball.c; docs/derivations/design.md). Returns false, with both undefined, if the hulls have no common
 * volume. center and radius must not be NULL. Allocates temporarily. */
bool hulls_common_ball(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius);
/* As hulls_common_ball, but also for hulls without common volume, where the radius is negative. Also returns the
 * triangles that limit the ball, and the derivative of the radius with respect to their planes: r' = sum share (shift
 * of the plane at the ball), shares of sum 1. */
typedef struct {
  int hull, triangle; /* hull, 0 or 1; triangle of that hull */
  double share;
} BallHold;
enum { BALL_HOLDS_MAX = 4 };
/* Returns false, with undefined results, if the linear program was not solved. hold has *count entries, at most
 * BALL_HOLDS_MAX. center and radius [m], in the frame of both hulls. No pointer may be NULL. Allocates temporarily. */
bool hulls_held_ball(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius,
                     BallHold hold[BALL_HOLDS_MAX], int* count);
/* Least width [m] of a hull between parallel planes through a face and a vertex or through two edges. top and bottom:
 * the vertices in both planes, with weights of sum 1 on each side, so that dw = normal . (sum w_i dx_i of the top - of
 * the bottom). */
typedef struct {
  double width;
  Vec3 normal; /* unit, from the bottom to the top */
  int top[3], bottom[3], top_count, bottom_count;
  double top_weight[3], bottom_weight[3];
} HullWidth;
/* Returns the width; HUGE_VAL for a hull without triangles. top and bottom contain indices of vertices. The time grows
 * with the square of the number of edges. Allocates temporarily. Never fails. */
HullWidth hull_least_width(const ConvexHull* hull);

#endif
