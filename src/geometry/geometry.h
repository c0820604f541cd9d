/* geometry: triangle meshes from files, convex hulls and their union, primitive solids, mass properties, and distances
 * of convex hulls.
 * Every array is owned by the struct that contains it. Functions with names ending in _free accept a zeroed struct. */
#ifndef SDRS_GEOMETRY_H
#define SDRS_GEOMETRY_H

#include "linalg/linalg.h"

/* ---------------------------------------------------------------- meshes (geometry/mesh_obj.c, mesh_stl.c,
 * mesh_other.c) */

/* Faces of one group of an OBJ file. A group begins with an `o` or `g` line. Faces are sorted by group and keep the
 * order of the file within a group. Groups cover all faces, and no group is empty. A repeated name continues its group
 * (a `g` name within its `o`). The name is taken from `g`, otherwise from `o`, otherwise "default" is used. */
typedef struct {
  char* name;
  int first_face, face_count;
} MeshGroup;

/* A polygon mesh as read from a file: positions, faces of three or more corners, groups. Lengths are in the file's unit
 * times scale. */
typedef struct {
  Vec3* positions;
  int position_count;
  int* corners;    /* position index of every face corner      (corner_count) */
  int* face_first; /* first corner of each face                (face_count + 1) */
  int* face_line;  /* line of the face in the file             (face_count) */
  int corner_count, face_count;
  MeshGroup* groups;
  int group_count;
  int degenerate_face_count; /* number of faces that were dropped because they have fewer than three different corners
                              */
} Mesh;

/* Reads a mesh file. The format is STL if the name ends in .stl, a format of mesh_read_foreign if it has one of the
 * extensions listed there, and otherwise OBJ. Multiplies coordinates by scale. Returns STATUS_BAD_INPUT, with file and
 * line in diagnostics, for a bad number, an index out of range, a file without faces, or a file that is not text.
 * Returns STATUS_IO, with a diagnostic, if the file cannot be opened. After an error the mesh is zeroed. The caller
 * frees the mesh with mesh_free. */
Status mesh_read(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* Parses an OBJ text of `length` bytes, at most 2 GiB. The text is not kept. Reads v, f (v, v/t, v//n, v/t/n, negative
 * indices, n-gons, line continuation), o and g. Skips other statements. Accepts CRLF, BOM, tabs, comments, vertex
 * colours and w. `name`: file name for messages. Errors are the same as for mesh_read. After an error the mesh is
 * zeroed. The caller frees the mesh with mesh_free. */
Status mesh_parse_obj(Mesh* mesh, const char* name, const char* text, size_t length, double scale,
                      Diagnostics* diagnostics);
/* Parses STL data of `length` bytes, text or binary. The data are not kept. Every solid becomes a group, and equal
 * corners become one position. STL has no unit, so coordinates are only multiplied by scale. face_line is 0 for binary
 * data. Errors are the same as for mesh_read, with the line for text only. After an error the mesh is zeroed. The
 * caller frees the mesh with mesh_free. */
Status mesh_parse_stl(Mesh* mesh, const char* name, const char* data, size_t length, double scale,
                      Diagnostics* diagnostics);
/* Reads Collada (.dae), .ply, .off, .gltf, .glb, .3ds, .fbx, .3mf and .x3d files. Uses the Open Asset Import Library
 * (libassimp.so.5, loaded on demand) in a separate process. Every mesh of every node becomes a group. Coordinates have
 * the axes of the file. Coordinates are converted to metres if the file names its unit, and then multiplied by scale.
 * face_line is 0. Returns STATUS_BAD_INPUT for a file that the library cannot read or on which it crashes. Returns
 * STATUS_IO for a file that is missing or not a regular file. After an error there is a diagnostic and the mesh is
 * zeroed. The caller frees the mesh with mesh_free. */
Status mesh_read_foreign(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* Returns true if mesh_read_foreign reads the format of the file. The format is taken from the extension of the name,
 * in upper or lower case. The file is not accessed. path must not be NULL. Allocates nothing. */
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

/* Returns the common apex of the tetrahedra whose sum gives the hull's mass. The apex is the first vertex. For a single
 * triangle, which is a part of a larger surface, the apex is the origin of the frame. */
static inline Vec3 solid_origin(const ConvexHull* hull) {
  return hull->triangle_count == 1 ? vec3(0, 0, 0) : hull->vertices[0];
}

typedef enum { HULL_OK, HULL_TOO_FEW_POINTS, HULL_FLAT, HULL_FAILED } HullResult;

/* Computes the convex hull of points[count] by Qhull, without interior and duplicate points. Vertices are copies of
 * points, in the order of their first appearance in `points`. If the function returns HULL_OK, the caller frees the
 * hull with hull_free. Otherwise there is nothing to free. Returns HULL_TOO_FEW_POINTS for fewer than four different
 * points. Returns HULL_FLAT if the points lie in a plane to within a relative error of 1e-10. Returns HULL_FAILED if a
 * coordinate is not finite or Qhull found no closed surface. */
HullResult hull_create(ConvexHull* hull, const Vec3* points, int count);
/* Computes the convex hull of points[count] and keeps all points as vertices, in the given order, including interior
 * points. A vertex that is interior now may become a corner while a shape is optimized. Triangles refer to corners
 * only. Errors and ownership are the same as for hull_create. */
HullResult hull_create_with_interior(ConvexHull* hull, const Vec3* points, int count);
/* Reduces a hull to at most max_vertices of its own vertices. A max_vertices below 4 counts as 4. Vertices are selected
 * greedily: starting from a large tetrahedron, the vertex farthest outside is added until the limit is reached. Sets
 * *error to the largest distance of a dropped vertex from the reduced hull [m], 0 if no vertex was dropped. The reduced
 * hull lies inside the original hull. After an error the hull is unchanged. */
HullResult hull_reduce(ConvexHull* hull, int max_vertices, double* error);
/* Frees both arrays and zeroes the hull; accepts a zeroed hull, but not NULL. */
void hull_free(ConvexHull* hull);
/* Returns a text for messages that follows the name of the shape, such as "is flat: ...". The text is static and never
 * NULL. */
const char* hull_result_text(HullResult result);

/* ---------------------------------------------------------------- flat faces (geometry/flat_faces.c) */

/* Flat faces of a hull. Connected triangles in one plane form one face. The arrays are owned. flat_faces_free accepts a
 * zeroed struct. */
typedef struct {
  int count;
  int (*edges)[2];   /* boundary edges of each face, directed as in its triangles (edge_first[count]) */
  int* edge_first;   /* first edge of each face (count + 1) */
  int* corners;      /* corners of each face, without duplicates (corner_first[count]) */
  int* corner_first; /* first corner of each face (count + 1) */
} FlatFaces;
/* Finds the flat faces of the hull. Never fails. The caller frees *out with flat_faces_free. The hull need not outlive
 * *out. */
void flat_faces_create(FlatFaces* out, const ConvexHull* hull);
/* Frees the arrays and zeroes the struct, which must not be NULL. */
void flat_faces_free(FlatFaces* faces);
/* ---------------------------------------------------------------- height fields (geometry/height_file.c,
 * height_field.c) */

/* Samples of a height field on a grid. Row 0 has the smallest y, column 0 the smallest x. The values are owned. */
typedef struct {
  int columns, rows; /* >= 2 each */
  double* values;    /* (rows * columns) */
} HeightGrid;
enum { HEIGHT_SAMPLES_MAX = 4000000 };

/* Reads a height grid from a file. A file with a name ending in .png is a PNG with grey level or brightness of colours,
 * 0 ... 1. Any other file is a table of numbers separated by commas, semicolons, blanks or tabs, and # begins a
 * comment. The first row of the file has the largest y, as seen from above. Errors are the same as for mesh_read. After
 * an error the grid is zeroed. The caller frees the grid with height_grid_free. */
Status height_grid_read(HeightGrid* grid, const char* path, Diagnostics* diagnostics);
/* Reads a height grid as height_grid_read does, from data of (length) bytes in memory. The data are not kept. png: true
 * if the data are a PNG. `name`: file name for messages. After an error the grid is zeroed. The caller frees the grid
 * with height_grid_free. */
Status height_grid_parse(HeightGrid* grid, const char* name, const char* data, size_t length, bool png,
                         Diagnostics* diagnostics);
/* Frees the values and zeroes the grid; accepts a zeroed grid, but not NULL. */
void height_grid_free(HeightGrid* grid);

/* Position and size of the solid below a height field. Sample (i, j) is at x = ox - sx / 2 + sx * i / (columns - 1), y
 * likewise, z = oz + sz * value, with size = (sx, sy, sz) and origin = (ox, oy, oz). Between four samples the surface
 * is the upper side of their convex hull. The solid extends to the distance `base` below the lowest point. Lengths are
 * in m, and size > 0, base > 0. */
typedef struct {
  Vec3 size, origin;
  double base;
} HeightFieldFrame;
/* Divides the solid below a height field into convex pieces that do not overlap. A piece has eight corners and consists
 * of one cell, or of a rectangle of cells in one plane. The pieces are sorted by their lowest row and column. Sets
 * *pieces to the pieces [m] and returns their number. The caller frees each piece with hull_free and the array with
 * memory_free. Never fails, because the reader of the grid rejects numbers that are not finite. */
int height_field_pieces(const HeightGrid* grid, const HeightFieldFrame* place, ConvexHull** pieces);

/* ---------------------------------------------------------------- surfaces of triangles (geometry/surface.c) */

/* A surface of triangles. The arrays are owned. surface_free accepts a zeroed struct. */
typedef struct {
  Vec3* points;
  int point_count;
  int (*triangles)[3]; /* counter-clockwise seen from outside */
  int triangle_count;
} TriangleSurface;
/* Returns (b - a) x (c - a) for the corners a, b, c of triangle i. The vector is the outward normal times twice the
 * area [m^2]. Cannot fail. */
static inline Vec3 surface_double_area(const TriangleSurface* surface, int i) {
  Vec3 a = surface->points[surface->triangles[i][0]];
  return vec3_cross(vec3_sub(surface->points[surface->triangles[i][1]], a),
                    vec3_sub(surface->points[surface->triangles[i][2]], a));
}
/* Frees both arrays and zeroes the surface; accepts a zeroed surface, but not NULL. */
void surface_free(TriangleSurface* surface);
/* Returns a copy of the hull's vertices and triangles. The caller frees the surface with surface_free. Never fails. A
 * hull without triangles gives an empty surface. */
TriangleSurface surface_of_hull(const ConvexHull* hull);
/* Returns, for each of points[count], the index of the first point with the same coordinates (count). The caller frees
 * the array with memory_free. Never NULL. */
int* find_equal_points(const Vec3* points, int count);
/* Replaces point i by point number[i] in all triangles (number[point_count]), in place. Removes triangles with fewer
 * than three different corners, and pairs of opposite triangles. A closed and oriented surface thus stays closed and
 * oriented. Points keep their indices. number[i] must be the index of a point (asserted). Allocates temporary memory.
 * Never fails. */
void surface_merge_points(TriangleSurface* surface, const int* number);
/* Collapses short edges with four triangles, along which two sheets of the surface touch, to points. Edges are
 * collapsed if they are not longer than `length`, in the surface's unit. Works in place. Triangles may be removed, and
 * points keep their indices. Allocates temporary memory. Never fails. */
void surface_collapse_short_edges(TriangleSurface* surface, double length);
/* Removes points that no triangle uses. Sets old[i] to the former index of point i unless old is NULL. The caller
 * provides old, with room for the former number of points. Allocates temporary memory. Never fails. */
void surface_remove_unused(TriangleSurface* surface, int* old);

/* Properties of a surface. All except the volume follow from the indices of the triangles. */
typedef struct {
  bool closed;          /* no edge has triangles on one side only, and there is at least one triangle */
  bool manifold;        /* every edge has two triangles, and every point has one fan of triangles */
  bool oriented;        /* at every edge equally many triangles have either direction */
  int open_edges;       /* number of edges with one triangle */
  int branching_edges;  /* number of edges with more than two triangles */
  int branching_points; /* number of points with more than one fan */
  int edges, points; /* edges and points that triangles use; the Euler characteristic is points - edges + triangles */
  int shells;        /* number of components connected by edges */
  int groups;        /* number of components connected by points; smaller than `shells` if shells touch in a point */
  int cavities;      /* number of shells with negative volume, which bound cavities */
  double volume;     /* volume by the divergence theorem [unit^3] */
} SurfaceCheck;
/* Returns the properties of the surface. An empty surface is not closed. Allocates temporary memory. Never fails. */
SurfaceCheck surface_check(const TriangleSurface* surface);

/* Returns the smallest wall thickness of a solid, measured by rays (U5; geometry/wall.c). A ray starts at each sample
 * of the surface and goes inward along the normal until it leaves the solid. The length of a ray counts if the surface
 * at its end faces the opposite direction within 30 degrees. Samples are distributed evenly over the area, one per
 * square of edge *spacing, which the function sets. Walls narrower than *spacing may be missed, and wider walls are
 * measured to about spacing tan 30. Returns HUGE_VAL if no two walls face each other. samples > 0: approximate number
 * of rays. Lengths are in the surface's unit. The result does not depend on the number of threads. spacing must not be
 * NULL. Allocates temporary memory. Never fails. */
double surface_thickness(const TriangleSurface* surface, int samples, int threads, double* spacing);

/* ---------------------------------------------------------------- planar polygons (geometry/polygon.c) */

/* Triangulates a simple polygon, convex or not, by ear clipping. The triangles have the polygon's orientation. corners
 * (corner_count): indices into points, counter-clockwise seen against the normal. A self-intersecting polygon is
 * triangulated too, with some triangles reversed. The time is quadratic in the number of corners. Sets triangles
 * (corner_count - 2), which the caller provides. Returns the number of triangles, 0 for fewer than three corners.
 * Allocates temporary memory. Never fails. */
int polygon_triangulate(const Vec3* points, const int* corners, int corner_count, Vec3 normal, int (*triangles)[3]);

/* ---------------------------------------------------------------- bounding-volume tree of a closed surface
 * (geometry/surface_tree.c), for distances and inside tests */

/* Bounding-volume tree over a copy of the triangles. The triangles are stored in a rotated frame, in which a ray along
 * z rarely passes through an edge. The arrays are owned. surface_tree_free accepts a zeroed struct. */
typedef struct {
  Mat3 turn;          /* rotation from the surface's frame to the rotated one */
  Vec3 (*corners)[3]; /* corners of the triangles, in the order of the leaves (count) */
  Vec3 *low, *high;   /* bounding boxes of the nodes, root at 1, children of node k at 2k and 2k + 1 (2 leaves) */
  int count, leaves;  /* number of triangles; number of leaves, a power of two */
} SurfaceTree;

/* Returns a bounding-volume tree of triangles (count >= 1), counter-clockwise seen from outside. points: the points to
 * which the triangles' indices refer. Points and triangles are copied. The caller frees the tree with
 * surface_tree_free. Never fails. */
SurfaceTree surface_tree_create(const Vec3* points, const int (*triangles)[3], int count);
/* Frees the arrays and zeroes the tree; accepts a zeroed tree, but not NULL. */
void surface_tree_free(SurfaceTree* tree);
/* Returns the distance of a point from the surface. point: in the surface's frame and unit, here and below. Sets
 * *nearest to the nearest triangle, 0..count-1 in the order of the leaves. On entry *nearest must be a triangle of the
 * tree (asserted). The search is fast if this triangle is near the point. No allocation. */
double surface_tree_distance(const SurfaceTree* tree, Vec3 point, int* nearest);
/* Returns the distance of a point from a triangle of the tree, in the surface's unit. triangle: 0..count-1 in the order
 * of the leaves (asserted). No allocation. */
double surface_tree_triangle_distance(const SurfaceTree* tree, int triangle, Vec3 point);
/* Returns the winding number of a closed surface about a point. The number is 1 inside a surface that is
 * counter-clockwise seen from outside, and 0 outside. The number is meaningless for an open surface. The winding number
 * is the number of upward-facing triangles above the point minus the number of downward-facing triangles. A ray through
 * an edge counts as passing on one side of the edge for all its triangles, so that no crossing is counted twice. No
 * allocation. */
int surface_tree_winding(const SurfaceTree* tree, Vec3 point);

/* ---------------------------------------------------------------- union of convex hulls (geometry/union.c) */

typedef enum {
  UNION_OK,
  UNION_TOUCHES_IN_EDGE,  /* the union is not a manifold */
  UNION_TOUCHES_IN_POINT, /* the union is not a manifold */
  UNION_FAILED,           /* a hull has no volume, or the surface is not closed */
} UnionResult;

/* Computes the boundary of the union of hulls[hull_count] (docs/derivations/union.md, U1 to U4). The boundary consists
 * of closed, oriented surfaces with two triangles at every edge. There is one surface for every connected component and
 * one for every void. A surface may touch itself in a point (SurfaceCheck.branching_points). Nearly equal planes of
 * different hulls, and points nearer than *snap [m], are merged. The function sets *snap and checks the result. Corners
 * of hulls keep bit-identical coordinates. Returns UNION_TOUCHES_IN_POINT if components touch in a point only, and
 * UNION_FAILED if there are no hulls. The caller frees the surface with surface_free. After an error there is nothing
 * to free. Allocates temporary memory. */
UnionResult hulls_union(TriangleSurface* surface, double* snap, const ConvexHull* hulls, int hull_count);
/* Returns a text for messages, such as "the union is not a manifold: ...". The text is static and never NULL. */
const char* union_result_text(UnionResult result);

/* ---------------------------------------------------------------- primitives (geometry/primitives.c)
 * Convex polyhedra *inscribed* in the round solid; each returns a hull centred at the origin. */
/* Creates a box of `size` along x, y, z [m]. Returns HULL_OK, or an error of hull_create if a size is 0 or not finite.
 * Here and below, the caller frees the hull with hull_free after HULL_OK. Otherwise there is nothing to free. */
HullResult primitive_box(ConvexHull* hull, Vec3 size);
/* Creates an icosphere with the given radius [m]. The sphere has 12, 42, 162, 642 vertices for resolution 0, 1, 2, 3.
 * Returns HULL_FAILED if the resolution is not in 0..6, and an error of hull_create if the radius is 0 or not finite.
 * Ownership is the same as for primitive_box. */
HullResult primitive_sphere(ConvexHull* hull, double radius, int resolution);
/* Returns the vertices of primitive_sphere with radius 1, in the same order, without Qhull. Sets *count to their
 * number. Returns NULL if the resolution is not in 0..6. The caller frees the array with memory_free. */
Vec3* primitive_sphere_points(int resolution, int* count);
/* Creates a cylinder with axis z and `segments` >= 3 vertices on each rim. radius, length [m]. Returns HULL_FAILED if
 * segments is not in 3..4096, and an error of hull_create if a size is 0. Ownership is the same as for
 * primitive_box. */
HullResult primitive_cylinder(ConvexHull* hull, double radius, double length, int segments);
/* Creates a capsule with axis z. length: length of the straight section; radius, length [m]. The capsule has `segments`
 * >= 3 vertices around the axis. Each cap has segments/4 (>= 1) rings and a pole. Returns HULL_FAILED if segments is
 * not in 3..4096 or length < 0. Other errors and ownership are the same as for primitive_box. */
HullResult primitive_capsule(ConvexHull* hull, double radius, double length, int segments);
/* Creates a rounded box, plate, capsule or sphere. A cube surface with n x n grids on its six faces, n = 2
 * floor(segments / 8), is normalised to `radius`. Each coordinate is then shifted by +- extent/2. 16 segments give 96
 * points (SDRS link shape). The outermost grid lines of each face are moved inward by 0.1 of the grid spacing, because
 * corner and edge points of different faces would coincide otherwise. Returns HULL_FAILED if segments is not in
 * 8..4096. Other errors are the same as for hull_create. The caller frees the hull with hull_free after HULL_OK. */
HullResult primitive_rounded_box(ConvexHull* hull, double radius, Vec3 extent, int segments);
/* Creates a polyhedron inscribed in a rounded cone or cylinder about the z axis. The solid consists of all points
 * within `rounding` [m] of the convex hull of two circles at heights z with these radii [m]. A circle may be a point,
 * and both may be equal. The polyhedron has `segments` vertices around the axis. Returns HULL_FAILED if segments is not
 * in 3..4096. Other errors and ownership are the same as for primitive_box. */
HullResult primitive_circles(ConvexHull* hull, const double z[2], const double radius[2], double rounding,
                             int segments);

/* ---------------------------------------------------------------- mass (geometry/mass.c)
 * Homogeneous second moment S = integral rho X~ X~^T, X~ = (x, y, z, 1): S[3][3] = mass, S[i][3] = mass * centre. */
typedef struct {
  double s[4][4];
} MassMoment;
/* Returns a moment with all entries 0, the initial value for mass_moment_add. Cannot fail. */
MassMoment mass_moment_zero(void);
/* Adds factor times `term` to *sum. Both moments must be in the same frame. A factor of -1 subtracts a body. A density
 * as factor converts unit density to mass. The pointers must not be NULL and may be equal. Allocates nothing. */
void mass_moment_add(MassMoment* sum, const MassMoment* term, double factor);
/* Returns the moment of a solid of unit density in the hull's frame [m^3, m^4, m^5]. The integrals are exact sums over
 * the tetrahedra from solid_origin. The hull need not be convex. The moment is zero without vertices, and negative if
 * the triangles are oriented inward, which is not reported as an error. Allocates nothing. */
MassMoment mass_moment_solid(const ConvexHull* hull);
/* Returns the moment of unit mass divided equally among points[count], in the frame of the points [1, m, m^2]. Returns
 * zero for count 0. points may then be NULL. */
MassMoment mass_moment_points(const Vec3* points, int count);
/* Returns the moment of a body from mass [kg], centre of mass [m] and inertia tensor about the centre of mass. inertia:
 * (ixx, iyy, izz, ixy, ixz, iyz) [kg m^2], in the axes of center's frame, with ixy = -integral rho x y. A tensor that
 * no physical body has is not reported here as an error, but when the scene is checked. */
MassMoment mass_moment_inertia(double mass, Vec3 center, const double inertia[6]);
/* Returns the moment T S T^T after a change of frame, with T the matrix of `pose`, the old frame's pose in the new
 * frame. moment must not be NULL. */
MassMoment mass_moment_transform(const MassMoment* moment, Pose pose);
/* Returns the mass S[3][3] [kg], in the units of the moment. */
double mass_moment_mass(const MassMoment* moment);
/* Returns the centre of mass in the moment's frame [m]. The result is finite only if the mass is positive. Allocates
 * nothing, reports no error. */
Vec3 mass_moment_center(const MassMoment* moment);
/* Returns the inertia tensor about the centre of mass in the moment's axes [kg m^2], symmetric; mass must be > 0.
 * Reports no error. */
Mat3 mass_moment_inertia_tensor(const MassMoment* moment);

/* ---------------------------------------------------------------- hulls of points with a radius about them
 * (geometry/rounded_points.c, contact.md C6b) */
/* Creates the convex hull of points (count >= 1), which may lie in a plane, on a line or at one point. The result is
 * the same as for hull_create if the points span a solid, two equal polygons of opposite orientation for a plane, the
 * two ends of a segment without triangles for a line, or one point. Points inside the hull are dropped. Returns
 * HULL_FAILED if a coordinate is not finite. After HULL_OK the caller frees the hull with hull_free. */
HullResult rounded_core_create(ConvexHull* core, const Vec3* points, int count);
/* Returns the exact moment of the solid of all points within `radius` >= 0 [m] of a hull of rounded_core_create. The
 * moment is for unit density, in the hull's frame [m^3, m^4, m^5]. Sets *by_radius to its derivative with respect to
 * the radius unless by_radius is NULL. Allocates temporary memory. Never fails. */
MassMoment rounded_core_moment(const ConvexHull* core, double radius, MassMoment* by_radius);
/* Creates a polyhedron inscribed in the solid of all points within `radius` > 0 [m] of `core`. Arcs are divided into
 * angles of at most 360 degrees / segments. Flat faces of the solid are kept. Returns HULL_FAILED if segments is not in
 * 8..4096. Other errors and ownership are the same as for primitive_box. */
HullResult rounded_core_tessellate(ConvexHull* hull, const ConvexHull* core, double radius, int segments);

/* ---------------------------------------------------------------- vertex arrays for fast access */

/* View of a convex point set in its local frame, as a structure of arrays. Each array is 64-byte aligned and padded to
 * a multiple of 8 by repeating the last vertex: padded = 8 * ceil(count / 8). */
typedef struct {
  const double *x, *y, *z;
  int count, padded;
} PointView;
/* Returns point i in the local frame [m]; 0 <= i < padded, not checked. Allocates nothing. */
static inline Vec3 point_at(PointView points, int i) { return vec3(points.x[i], points.y[i], points.z[i]); }
/* Returns a view of a copy of points[count], count >= 1. The copy is one block, padded with the last point. The caller
 * frees the view with point_view_free. Never fails. */
PointView point_view_create(const Vec3* points, int count);
/* Frees the block of point_view_create and zeroes the view. Must not be used for views of other arrays. Accepts a
 * zeroed view, but not NULL. */
void point_view_free(PointView* view);

/* ---------------------------------------------------------------- distance (geometry/gjk.c) */

/* State of GJK for a pair of hulls, stored between calls as a warm start. A zeroed cache means a cold start. */
typedef struct {
  int count;      /* number of vertices in the simplex, 0..4 */
  int a[4], b[4]; /* indices of the vertices in both hulls */
  Vec3 direction; /* last separating direction, from b to a, not normalized */
} GjkCache;

typedef struct {
  double distance;           /* distance [m]; 0 if the hulls intersect */
  Vec3 witness_a, witness_b; /* closest points, world frame */
  Vec3 normal;               /* unit vector from a to b; zero if the hulls intersect */
  int iterations;
} GjkResult;

/* Returns the distance of two convex point sets at poses. The cache is used as a warm start and updated. A NULL cache
 * means a cold start. The result is exact to about 1e-14 of the largest coordinate. Deterministic. Allocates nothing.
 */
GjkResult gjk_distance(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);
/* Returns the distance of a point from the convex hull of the set [m], 0 inside. point: in the frame of the set.
 * Allocates nothing. Never fails. */
double gjk_point_distance(PointView points, Vec3 point);
/* Returns the index of the vertex farthest along a local direction. Several such vertices give the smallest index. Sets
 * *value to the maximum of direction . vertex, in metres for a unit direction. Returns 0 if the values are not numbers.
 * No allocation. */
int support_index(PointView points, Vec3 direction, double* value);
/* A circle about a unit axis [m]. */
typedef struct {
  Vec3 center, axis;
  double radius;
} Circle;
/* A convex body: all points within `rounding` [m] of the convex hull of points and circles, in one frame. A body has
 * points, circles or both. Points and circles are borrowed. */
typedef struct {
  PointView points;
  const Circle* rings;
  int ring_count;
  double rounding;
} RoundBody;
enum { ROUND_RINGS_MAX = 2 };
/* Returns the maximum of direction . x over the body [m |direction|]. Sets *at to a point at which the maximum is
 * attained, unless at is NULL. direction must not be 0. Allocates nothing, cannot fail. */
double round_support(const RoundBody* body, Vec3 direction, Vec3* at);
/* Returns the distance of two round bodies, as gjk_distance does for point sets. With circles the distance is a lower
 * bound, accurate to about 1e-12 of the larger body and 1e-9 of the distance. With circles only the direction of the
 * cache is used. ring_count is at most ROUND_RINGS_MAX. */
GjkResult round_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, GjkCache* cache);
/* Returns the penetration depth [m] of two intersecting hulls: the length of the shortest translation that separates
 * them. Sets *normal to the unit direction in which b must move. Returns 0, with *normal zero, if the hulls do not
 * intersect. The result is exact, by an expanding polytope in the Minkowski difference, with Qhull. normal must not be
 * NULL. Allocates temporary memory. Intended for messages only, because it is slow. */
double hull_penetration(PointView a, Pose pose_a, PointView b, Pose pose_b, Vec3* normal);

/* Returns the largest distance of a vertex from the first vertex [m], which is the hull's diameter within a factor of
 * two. Returns 0 without vertices. Never fails. Allocates nothing. */
double hull_size(const ConvexHull* hull);
/* Finds the largest ball inside both hulls (geometry/common_ball.c; docs/derivations/design.md). Sets center and radius
 * [m], in the common frame of the vertices. Returns false, with both undefined, if the hulls have no common volume.
 * center and radius must not be NULL. Allocates temporary memory. */
bool hulls_common_ball(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius);
/* A triangle that limits the largest ball inside two hulls. `share` is the derivative of the ball's radius with respect
 * to an outward shift of the triangle's plane. The sum of all shares is 1. */
typedef struct {
  int hull, triangle; /* hull, 0 or 1; triangle of that hull */
  double share;
} BallContact;
enum { BALL_CONTACTS_MAX = 4 };
/* Finds the largest ball inside both hulls as hulls_common_ball does. If the hulls have no common volume, the radius is
 * negative. Sets hold to the *count triangles that limit the ball, at most BALL_CONTACTS_MAX. The radius changes by r'
 * = sum share (shift of the plane at the ball). Returns false, with undefined results, if the linear program was not
 * solved. center and radius [m] are in the frame of both hulls. No pointer may be NULL. Allocates temporary memory. */
bool hulls_common_ball_contacts(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius,
                                BallContact hold[BALL_CONTACTS_MAX], int* count);
/* Smallest width of a hull [m], measured between two parallel planes: through a face and a vertex, or through two
 * edges. top and bottom are the vertices in both planes, with weights of sum 1 for each plane. The width changes by dw
 * = normal . (sum of w_i dx_i over the top - sum over the bottom). */
typedef struct {
  double width;
  Vec3 normal; /* unit vector from the bottom to the top */
  int top[3], bottom[3], top_count, bottom_count;
  double top_weight[3], bottom_weight[3];
} HullWidth;
/* Returns the smallest width of a hull, and HUGE_VAL for a hull without triangles. top and bottom contain indices of
 * vertices. The time is quadratic in the number of edges. Allocates temporary memory. Never fails. */
HullWidth hull_smallest_width(const ConvexHull* hull);

#endif
