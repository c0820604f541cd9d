/* Triangle meshes from files, convex hulls and their union, primitive solids, mass properties, and distances of convex
 * hulls. Every array is owned by the struct that contains it. Functions with names ending in _free accept a zeroed
 * struct. */
#ifndef SDRS_GEOMETRY_H
#define SDRS_GEOMETRY_H

#include "linalg/linalg.h"

/* ---------------------------------------------------------------- meshes (geometry/mesh_obj.c, mesh_stl.c,
 * mesh_other.c) */

/* Faces of one group of a mesh file. Groups cover all faces, no group is empty, and a repeated name continues its
 * group. In OBJ files a group begins with an `o` or `g` line. Its name is taken from `g`, otherwise from `o`, otherwise
 * "default". */
typedef struct {
  char* name;
  int first_face, face_count;
} MeshGroup;

/* Polygon mesh of a file: positions, faces of three or more corners, groups. Lengths are in the file's unit, multiplied
 * by the argument `scale` of the function that reads the file. */
typedef struct {
  Vec3* positions;
  int position_count;
  int* corners;    /* for every corner of a face, index of its position (size: corner_count) */
  int* face_first; /* index in `corners` of each face's first corner (size: face_count + 1) */
  int* face_line;  /* line of the file where the face stands (size: face_count) */
  int corner_count, face_count;
  MeshGroup* groups;
  int group_count;
  int degenerate_face_count; /* number of removed faces with fewer than three different corners */
} Mesh;

/* Reads a mesh file, with a format chosen by the file's extension: STL, a format of mesh_read_foreign, or else OBJ.
 * Multiplies coordinates by scale. Returns STATUS_BAD_INPUT with file and line for an invalid file, and STATUS_IO with
 * a diagnostic if it cannot be opened; the mesh is then zeroed. The caller frees the mesh with mesh_free. */
Status mesh_read(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* Parses an OBJ text of `length` bytes, at most 2 GiB, which is not kept. Reads v, f, o and g, and skips other
 * statements. name: file name for messages. Returns STATUS_BAD_INPUT with file and line for an invalid text; the mesh
 * is then zeroed. The caller frees the mesh with mesh_free. */
Status mesh_parse_obj(Mesh* mesh, const char* name, const char* text, size_t length, double scale,
                      Diagnostics* diagnostics);
/* Parses STL data of `length` bytes, text or binary, which are not kept. Every solid becomes a group, and equal corners
 * become one position. face_line is 0 for binary data. Returns STATUS_BAD_INPUT with a diagnostic for invalid data; the
 * mesh is then zeroed. The caller frees the mesh with mesh_free. */
Status mesh_parse_stl(Mesh* mesh, const char* name, const char* data, size_t length, double scale,
                      Diagnostics* diagnostics);
/* Reads Collada (.dae), .ply, .off, .gltf, .glb, .3ds, .fbx, .3mf and .x3d files by the Open Asset Import Library
 * (libassimp.so.5, loaded on demand) in a separate process. Every mesh of every node becomes a group. Coordinates are
 * in metres if the file names its unit, times scale, with the axes of the file. face_line is 0. Returns
 * STATUS_BAD_INPUT for a file that the library cannot read, STATUS_IO for a missing file; the mesh is then zeroed. The
 * caller frees the mesh with mesh_free. */
Status mesh_read_foreign(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics);
/* Returns true if mesh_read_foreign reads files with the extension of this name, in upper or lower case. */
bool mesh_is_foreign(const char* path);
/* Frees all arrays and zeroes the mesh. */
void mesh_free(Mesh* mesh);

/* ---------------------------------------------------------------- convex hulls (geometry/hull.c) */

/* Convex polyhedron: vertices in convex position and triangles of its surface. */
typedef struct {
  Vec3* vertices;
  int vertex_count;
  int (*triangles)[3]; /* counter-clockwise seen from outside */
  int triangle_count;
} ConvexHull;

/* Returns the common apex of the tetrahedra over the triangles of a hull, whose moments add up to the moment of the
 * solid. The apex is the first vertex. If the hull has one triangle, it is part of a larger surface and the apex is the
 * origin. */
static inline Vec3 solid_origin(const ConvexHull* hull) {
  return hull->triangle_count == 1 ? vec3(0, 0, 0) : hull->vertices[0];
}

typedef enum { HULL_OK, HULL_TOO_FEW_POINTS, HULL_FLAT, HULL_FAILED } HullResult;

/* Computes the convex hull of points[count] by Qhull, without interior and duplicate points. Vertices are copies of the
 * points, in their order. Returns HULL_TOO_FEW_POINTS for fewer than four different points. Returns HULL_FLAT if all
 * points lie in a plane, to 1e-10 of their extent. Returns HULL_FAILED if a coordinate is not finite or Qhull finds no
 * closed surface. The caller frees the hull with hull_free after HULL_OK. */
HullResult hull_create(ConvexHull* hull, const Vec3* points, int count);
/* Computes the convex hull of points[count] and keeps all points as vertices, in their order. An interior point may
 * become a corner while a shape is optimized. Triangles refer to corners only. Returns HULL_OK, or the error
 * HULL_TOO_FEW_POINTS, HULL_FLAT or HULL_FAILED. The caller frees the hull with hull_free after HULL_OK. */
HullResult hull_create_with_interior(ConvexHull* hull, const Vec3* points, int count);
/* Reduces a hull to at most max(max_vertices, 4) of its vertices. Starts with four widely separated vertices and adds
 * the vertex farthest outside until the limit is reached. The reduced hull lies inside the original hull. *error:
 * largest distance of a removed vertex from the reduced hull [m]. After an error the hull is unchanged. */
HullResult hull_reduce(ConvexHull* hull, int max_vertices, double* error);
/* Frees both arrays and zeroes the hull; accepts a zeroed hull, but not NULL. */
void hull_free(ConvexHull* hull);
/* Returns a text for messages that follows the name of a shape, for example "is flat: ...". Static. */
const char* hull_result_text(HullResult result);

/* ---------------------------------------------------------------- flat faces (geometry/flat_faces.c) */

/* Flat faces of a hull: connected coplanar triangles. The arrays are owned; flat_faces_free accepts a zeroed struct. */
typedef struct {
  int count;
  int (*edges)[2];   /* boundary edges of each face, as pairs of vertex indices, directed as in its triangles (size:
                        edge_first[count]) */
  int* edge_first;   /* index in `edges` of each face's first edge (size: count + 1) */
  int* corners;      /* vertex indices of the corners of each face, without duplicates (size: corner_first[count]) */
  int* corner_first; /* index in `corners` of each face's first corner (size: count + 1) */
} FlatFaces;
/* Finds the flat faces of a hull. *out does not refer to the hull. The caller frees *out with flat_faces_free. */
void flat_faces_create(FlatFaces* out, const ConvexHull* hull);
/* Frees the arrays and zeroes the struct. */
void flat_faces_free(FlatFaces* faces);
/* ---------------------------------------------------------------- height fields (geometry/height_file.c,
 * height_field.c) */

/* Samples of a height field on a rectangular grid in the x-y plane, owned. Row 0 has the smallest y, column 0 the
 * smallest x. */
typedef struct {
  int columns, rows; /* >= 2 each */
  double* values;    /* samples, row by row, in the unit of the file (size: rows * columns) */
} HeightGrid;
enum { HEIGHT_SAMPLES_MAX = 4000000 }; /* largest number of samples in a file */

/* Reads a height grid from a PNG file (grey level or brightness, 0 to 1) or a table of numbers separated by commas,
 * semicolons or blanks, with # for comments. The first row of the file has the largest y. Returns STATUS_BAD_INPUT or
 * STATUS_IO with a diagnostic; the grid is then zeroed. The caller frees the grid with height_grid_free. */
Status height_grid_read(HeightGrid* grid, const char* path, Diagnostics* diagnostics);
/* Reads a height grid from data of (length) bytes, which are not kept. png: the data are a PNG, otherwise a table.
 * name: file name for messages. Returns STATUS_BAD_INPUT with a diagnostic; the grid is then zeroed. The caller frees
 * the grid with height_grid_free. */
Status height_grid_parse(HeightGrid* grid, const char* name, const char* data, size_t length, bool png,
                         Diagnostics* diagnostics);
/* Frees the values and zeroes the grid. */
void height_grid_free(HeightGrid* grid);

/* Position and size of the solid below a height field [m]. With size = (sx, sy, sz) > 0 and origin = (ox, oy, oz), the
 * sample in column i is at x = ox - sx / 2 + sx * i / (columns - 1). Rows give y likewise. The height is z = oz + sz *
 * value. Between four samples the surface is the upper side of their convex hull. The solid ends `base` > 0 below its
 * lowest point. */
typedef struct {
  Vec3 size, origin;
  double base;
} HeightFieldFrame;
/* Divides the solid below a height field into convex pieces without overlap, of one cell or a coplanar rectangle of
 * cells. Sets *pieces [m], sorted by row and column, and returns their number. The caller frees each piece with
 * hull_free and the array with memory_free. */
int height_field_pieces(const HeightGrid* grid, const HeightFieldFrame* place, ConvexHull** pieces);

/* ---------------------------------------------------------------- surfaces of triangles (geometry/surface.c) */

/* Surface of triangles. The arrays are owned; surface_free accepts a zeroed struct. */
typedef struct {
  Vec3* points;
  int point_count;
  int (*triangles)[3]; /* counter-clockwise seen from outside */
  int triangle_count;
} TriangleSurface;
/* Returns (b - a) x (c - a) for the corners a, b, c of triangle i: the outward normal times twice the area [m^2]. */
static inline Vec3 surface_double_area(const TriangleSurface* surface, int i) {
  Vec3 a = surface->points[surface->triangles[i][0]];
  return vec3_cross(vec3_sub(surface->points[surface->triangles[i][1]], a),
                    vec3_sub(surface->points[surface->triangles[i][2]], a));
}
/* Frees the arrays and zeroes the surface. */
void surface_free(TriangleSurface* surface);
/* Returns a copy of a hull's vertices and triangles. The caller frees the surface with surface_free. */
TriangleSurface surface_of_hull(const ConvexHull* hull);
/* Returns for each of points[count] the index of the first point with equal coordinates (count). The caller frees the
 * array with memory_free. */
int* find_equal_points(const Vec3* points, int count);
/* Sets the triangles of a surface without triangles from its points, three for each triangle. Corners at the same
 * position get the index of the first. Allocates surface->triangles. */
void surface_join_corners(TriangleSurface* surface);
/* Replaces point i by the point with index number[i] in all triangles (number[point_count]). Removes triangles with
 * fewer than three different corners and pairs of opposite triangles, so that a closed, oriented surface stays so.
 * Points keep their indices. */
void surface_merge_points(TriangleSurface* surface, const int* number);
/* Collapses edges that have more than two triangles to points, if they are at most `length` long. Along such edges two
 * sheets of the surface touch. Triangles may be removed; points keep their indices. */
void surface_collapse_short_edges(TriangleSurface* surface, double length);
/* Removes points that no triangle uses. Unless old is NULL, sets old[i] to the former index of point i; old has space
 * for the former number of points. */
void surface_remove_unused(TriangleSurface* surface, int* old);

/* Properties of a surface. All except the volume follow from the indices of the triangles. */
typedef struct {
  bool closed;          /* true if there is a triangle and no edge has triangles on one side only */
  bool manifold;        /* true if every edge has two triangles and every point has one fan of triangles */
  bool oriented;        /* true if at every edge equally many triangles use each of the two directions of the edge */
  int open_edges;       /* number of edges with one triangle */
  int branching_edges;  /* number of edges with more than two triangles */
  int branching_points; /* number of points with more than one fan of triangles */
  int edges, points;    /* numbers of edges and points that triangles use. The Euler characteristic is points - edges +
                           triangles */
  int shells;           /* number of components that are connected by edges */
  int groups; /* number of components that are connected by points; smaller than `shells` if shells touch in a point */
  int cavities;  /* number of shells with negative volume */
  double volume; /* volume by the divergence theorem, in the cubed length unit of the surface */
} SurfaceCheck;
/* Returns the properties of a surface. An empty surface is not closed. Allocates temporary memory. */
SurfaceCheck surface_check(const TriangleSurface* surface);

/* Returns the smallest wall thickness of a solid, measured by about `samples` > 0 rays from the surface inward along
 * its normals (U5; geometry/wall.c). A ray counts if the surface at its end faces back within 30 degrees. Sets *spacing
 * to the distance of neighbouring rays. A wall of smaller extent may be missed. The thickness of other walls has an
 * error of about spacing tan(30 degrees). Returns HUGE_VAL without opposite walls. Lengths are in the surface's unit.
 * The result does not depend on the number of threads. */
double surface_thickness(const TriangleSurface* surface, int samples, int threads, double* spacing);

/* ---------------------------------------------------------------- planar polygons (geometry/polygon.c) */

/* Triangulates a simple polygon, convex or not, by ear clipping. corners (corner_count): indices into points,
 * counter-clockwise against the normal. Sets triangles (corner_count - 2), with the polygon's orientation, and returns
 * their number, 0 for fewer than three corners. Some triangles of a self-intersecting polygon are reversed. The time is
 * quadratic. */
int polygon_triangulate(const Vec3* points, const int* corners, int corner_count, Vec3 normal, int (*triangles)[3]);

/* ---------------------------------------------------------------- bounding-volume tree of a closed surface
 * (geometry/surface_tree.c) */

/* Bounding-volume tree over a copy of triangles, in a rotated frame in which a ray along z rarely meets an edge. The
 * arrays are owned; surface_tree_free accepts a zeroed struct. */
typedef struct {
  Mat3 rotation;      /* rotation from the surface's frame to the rotated one */
  Vec3 (*corners)[3]; /* corners of the triangles, in the order of the leaves (size: count) */
  Vec3 *low, *high;   /* lower and upper corners of the nodes' bounding boxes, in the rotated frame. The root is node 1;
                         the children of node k are 2k and 2k + 1 (2 leaves) */
  int count, leaves;  /* count: number of triangles; leaves: number of leaves, a power of two */
} SurfaceTree;

/* Builds a bounding-volume tree of triangles (count >= 1), counter-clockwise seen from outside, with indices into
 * `points`. Points and triangles are copied. The caller frees the tree with surface_tree_free. */
SurfaceTree surface_tree_create(const Vec3* points, const int (*triangles)[3], int count);
/* Frees the arrays and zeroes the tree. */
void surface_tree_free(SurfaceTree* tree);
/* Returns the distance of a point from the surface, in its frame and unit. *nearest: the nearest triangle, 0..count-1
 * in the order of the leaves. On entry it must be a triangle of the tree, from which the search starts. */
double surface_tree_distance(const SurfaceTree* tree, Vec3 point, int* nearest);
/* Returns the distance of a point from a triangle of the tree, 0..count-1 in the order of the leaves. */
double surface_tree_triangle_distance(const SurfaceTree* tree, int triangle, Vec3 point);
/* Returns the winding number of a closed surface about a point: 1 inside, 0 outside a surface that is counter-clockwise
 * seen from outside. The winding number is the number of upward-facing triangles above the point minus the number of
 * downward-facing triangles above it. If the vertical line through the point meets an edge, all triangles at the edge
 * agree on the side. */
int surface_tree_winding(const SurfaceTree* tree, Vec3 point);

/* ---------------------------------------------------------------- union of convex hulls (geometry/union.c) */

typedef enum {
  UNION_OK,
  UNION_TOUCHES_IN_EDGE,  /* not a manifold: parts of the union touch only in an edge */
  UNION_TOUCHES_IN_POINT, /* not a manifold: parts of the union touch only in a point */
  UNION_FAILED,           /* a hull has no volume, or the surface is not closed */
} UnionResult;

/* Computes the boundary of the union of hulls[hull_count] (docs/derivations/union.md, U1 to U4): closed, oriented
 * surfaces with two triangles at every edge, one per component and per void. Points nearer to each other than a
 * tolerance, and nearly equal planes, are merged; sets *snap to this tolerance [m]. Corners of hulls keep bit-identical
 * coordinates. Returns UNION_TOUCHES_IN_EDGE or UNION_TOUCHES_IN_POINT if the union is not a manifold, UNION_FAILED
 * without hulls or a closed surface. The caller frees the surface with surface_free after UNION_OK. */
UnionResult hulls_union(TriangleSurface* surface, double* snap, const ConvexHull* hulls, int hull_count);
/* Returns a text for messages, for example "the union is not a manifold: ...". Static. */
const char* union_result_text(UnionResult result);

/* ---------------------------------------------------------------- primitives (geometry/primitives.c)
 * Convex polyhedra *inscribed* in round solids, centred at the origin. The caller frees them with hull_free after
 * HULL_OK. */
/* Creates a box of `size` along x, y, z [m]. Returns HULL_OK, or an error of hull_create if a size is 0 or not finite.
 * The caller frees the hull with hull_free after HULL_OK. */
HullResult primitive_box(ConvexHull* hull, Vec3 size);
/* Creates an icosphere with the given radius [m]: 12, 42, 162, 642, ... vertices for resolution 0 to 6. Returns
 * HULL_FAILED for another resolution, and an error of hull_create if the radius is 0 or not finite. The caller frees
 * the hull with hull_free after HULL_OK. */
HullResult primitive_sphere(ConvexHull* hull, double radius, int resolution);
/* Returns the vertices of a unit icosphere in the order of primitive_sphere, and their number *count. Returns NULL
 * unless 0 <= resolution <= 6. The caller frees the array with memory_free. */
Vec3* primitive_sphere_points(int resolution, int* count);
/* Creates a cylinder about the z axis with `segments` vertices on each rim. radius, length [m]. Returns HULL_FAILED
 * unless 3 <= segments <= 4096, and an error of hull_create if a size is 0. The caller frees the hull with hull_free
 * after HULL_OK. */
HullResult primitive_cylinder(ConvexHull* hull, double radius, double length, int segments);
/* Creates a capsule about the z axis with `segments` vertices around it. radius, length of the straight section [m].
 * Each cap has segments/4 (>= 1) rings and a pole. Returns HULL_FAILED unless 3 <= segments <= 4096 and length >= 0,
 * and an error of hull_create if a size is 0. The caller frees the hull with hull_free after HULL_OK. */
HullResult primitive_capsule(ConvexHull* hull, double radius, double length, int segments);
/* Creates a rounded box, plate, capsule or sphere. The vertices are the points of an n x n grid on each face of a cube,
 * n = 2 floor(segments / 8), projected to a sphere of `radius`. Each coordinate is then shifted by +- extent/2. The
 * outermost grid lines are moved inward by 0.1 of the spacing, because points of different faces would coincide. 16
 * segments give 96 points. Returns HULL_FAILED unless 8 <= segments <= 4096, or an error of hull_create. The caller
 * frees the hull with hull_free after HULL_OK. */
HullResult primitive_rounded_box(ConvexHull* hull, double radius, Vec3 extent, int segments);
/* Creates a polyhedron inscribed in a rounded cone or cylinder: all points within `rounding` [m] of the convex hull of
 * two circles about the z axis, with heights z[2] and radii radius[2] [m]. A circle may be a point, and both may be
 * equal. Returns HULL_FAILED unless 3 <= segments <= 4096, or an error of hull_create. The caller frees the hull with
 * hull_free after HULL_OK. */
HullResult primitive_circles(ConvexHull* hull, const double z[2], const double radius[2], double rounding,
                             int segments);

/* ---------------------------------------------------------------- mass (geometry/mass.c)
 * Mass moment of a body: the 4 x 4 matrix S = integral of density times X X^T over the volume, with X = (x, y, z, 1).
 * S[3][3] is the mass, S[i][3] the mass times coordinate i of the centre of mass. */
typedef struct {
  double s[4][4];
} MassMoment;
MassMoment mass_moment_zero(void);
/* Adds factor times the mass moment `term` to the mass moment *sum, both in the same frame. A density as factor
 * converts unit density to mass; -1 subtracts a body. The pointers may be equal. */
void mass_moment_add(MassMoment* sum, const MassMoment* term, double factor);
/* Returns the moment of a solid of unit density in the hull's frame [m^3, m^4, m^5]. The integrals are exact sums over
 * tetrahedra from solid_origin. The hull need not be convex. Triangles that face inward give a negative moment. */
MassMoment mass_moment_solid(const ConvexHull* hull);
/* Returns the moment of unit mass divided equally among points[count], in their frame [1, m, m^2]. Returns zero for
 * count 0. */
MassMoment mass_moment_points(const Vec3* points, int count);
/* Returns the moment of a body from mass [kg], centre of mass [m] and inertia about it, inertia: (ixx, iyy, izz, ixy,
 * ixz, iyz) [kg m^2], with ixy = -integral rho x y. Unphysical inertias are reported when the scene is checked. */
MassMoment mass_moment_inertia(double mass, Vec3 center, const double inertia[6]);
/* Returns the mass moment S of a body after a change of frame: T S T^T, with the 4 x 4 matrix T of `pose`. pose: pose
 * of the old frame in the new one. */
MassMoment mass_moment_transform(const MassMoment* moment, Pose pose);
/* Returns the mass of the body, the entry S[3][3] of its moment. */
double mass_moment_mass(const MassMoment* moment);
/* Returns the centre of mass in the moment's frame [m]; the mass must be > 0. */
Vec3 mass_moment_center(const MassMoment* moment);
/* Returns the inertia tensor about the centre of mass, in the moment's axes [kg m^2]; the mass must be > 0. */
Mat3 mass_moment_inertia_tensor(const MassMoment* moment);

/* ---------------------------------------------------------------- rounded point sets (geometry/rounded_points.c,
 * contact.md C6b) */
/* Creates the convex hull of points (count >= 1) that may lie in a plane, on a line or at one point. The result is a
 * solid, two equal polygons of opposite orientation, a segment without triangles, or a point. Returns HULL_FAILED if a
 * coordinate is not finite. The caller frees the hull with hull_free after HULL_OK. */
HullResult rounded_core_create(ConvexHull* core, const Vec3* points, int count);
/* Returns the exact moment of all points within `radius` >= 0 [m] of a hull of rounded_core_create, for unit density in
 * the hull's frame [m^3, m^4, m^5]. Sets *by_radius, unless NULL, to the derivative of the moment with respect to the
 * radius. Allocates temporary memory. */
MassMoment rounded_core_moment(const ConvexHull* core, double radius, MassMoment* by_radius);
/* Creates a polyhedron inscribed in the solid of all points within `radius` > 0 [m] of `core`, with arcs of at most 360
 * degrees / segments. Flat faces are exact. Returns HULL_FAILED unless 8 <= segments <= 4096, or an error of
 * hull_create. The caller frees the hull with hull_free after HULL_OK. */
HullResult rounded_core_tessellate(ConvexHull* hull, const ConvexHull* core, double radius, int segments);

/* ---------------------------------------------------------------- vertex arrays */

enum { POINT_VIEW_PADDING = 8 }; /* number of doubles in the widest vector register */
/* View of a convex point set as a structure of arrays, in its local frame. Each array is 64-byte aligned and padded
 * with the last vertex to a multiple of POINT_VIEW_PADDING entries. */
typedef struct {
  const double *x, *y, *z;
  int count, padded;
} PointView;
/* Returns point i in the local frame [m], with 0 <= i < padded. */
static inline Vec3 point_at(PointView points, int i) { return vec3(points.x[i], points.y[i], points.z[i]); }
/* Returns a view of a copy of points[count], count >= 1. The caller frees the view with point_view_free. */
PointView point_view_create(const Vec3* points, int count);
/* Returns a view of a single point. coordinates: receives the view's numbers, 64-byte aligned; must outlive the view.
 */
PointView point_view_of_one(Vec3 point, double coordinates[3][POINT_VIEW_PADDING]);
/* Frees a view of point_view_create and zeroes the view. Views of other arrays must not be passed. */
void point_view_free(PointView* view);

/* ---------------------------------------------------------------- distance (geometry/gjk.c) */

/* Result of the last distance computation (GJK) of a pair of hulls a and b. The next computation starts from this
 * result. A zeroed cache is a cold start. */
typedef struct {
  int count; /* number of vertices of the last simplex, 0 to 4. Each vertex is a vertex of hull a minus a vertex of hull
                b */
  int a[4], b[4]; /* indices of these vertices in hull a and in hull b */
  Vec3 direction; /* last separating direction, from b to a, not normalized */
} GjkCache;

typedef struct {
  double distance;           /* distance of the hulls [m]; 0 if the hulls intersect */
  Vec3 witness_a, witness_b; /* closest points, world frame */
  Vec3 normal;               /* unit vector from hull a to hull b, world frame; zero if the hulls intersect */
  int iterations;
} GjkResult;

/* Returns the distance of two convex point sets, exact to about 1e-14 of the largest coordinate. The cache is the warm
 * start and is updated; NULL: cold start. */
GjkResult gjk_distance(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);
/* Returns the distance of a point from the convex hull of a set in the frame of the set [m], 0 inside. */
double gjk_point_distance(PointView points, Vec3 point);
/* Returns the index of the vertex farthest along a direction in the frame of the points, the smallest index of several.
 * Sets *value to direction . vertex. Returns 0 if the values are not numbers. */
int support_index(PointView points, Vec3 direction, double* value);
/* Circle in the plane through `center` perpendicular to the unit vector `axis` [m]. */
typedef struct {
  Vec3 center, axis;
  double radius;
} Circle;
/* Convex body: all points within `rounding` [m] of the convex hull of points and circles in one frame, which are
 * borrowed. A body has points, circles or both. */
typedef struct {
  PointView points;
  const Circle* rings;
  int ring_count;
  double rounding;
} RoundBody;
enum { ROUND_RINGS_MAX = 2 };
/* Support function: returns the maximum of the scalar product direction . x over the points x of the body [m times the
 * length of direction]. Sets *at, unless NULL, to a point where it is attained. direction must not be 0. */
double round_support(const RoundBody* body, Vec3 direction, Vec3* at);
/* Returns the distance of two round bodies. For bodies with circles the result is a lower bound, with an error of about
 * 1e-12 of the larger body plus 1e-9 of the distance. Only the direction of the cache is then used. ring_count is at
 * most ROUND_RINGS_MAX. */
GjkResult round_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, GjkCache* cache);
/* Returns the penetration depth [m] of two hulls: the length of the shortest translation that separates them. Sets
 * *normal to the unit direction in which hull b must move. Returns 0 and a zero normal if the hulls do not intersect.
 * Exact, by an expanding polytope with Qhull; slow, and intended for messages. Allocates temporary memory. */
double hull_penetration(PointView a, Pose pose_a, PointView b, Pose pose_b, Vec3* normal);

/* Returns the largest distance of a vertex from the first vertex [m]: the hull's diameter within a factor of two.
 * Returns 0 without vertices. */
double hull_size(const ConvexHull* hull);
/* Finds the largest ball inside both hulls: center and radius [m], in the common frame of the vertices
 * (docs/derivations/design.md). Returns false, with undefined results, if the hulls have no common volume. Allocates
 * temporary memory. */
bool hulls_common_ball(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius);
/* Triangle that touches the largest ball inside two hulls. share: derivative of the ball's radius with respect to an
 * outward shift of the triangle's plane. The sum of all shares is 1. */
typedef struct {
  int hull, triangle; /* hull 0 or 1; triangle of that hull */
  double share;
} BallContact;
enum { BALL_CONTACTS_MAX = 4 };
/* Finds the largest ball inside both hulls, and the *count triangles that touch it, at most BALL_CONTACTS_MAX. Without
 * common volume the radius is negative. If the planes of the triangles shift outward, the radius changes by the sum of
 * share times shift over the contacts in `hold`. center, radius [m]: frame of both hulls. Returns false, with undefined
 * results, if the linear program fails. Allocates temporary memory. */
bool hulls_common_ball_contacts(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius,
                                BallContact hold[BALL_CONTACTS_MAX], int* count);
/* Smallest width of a hull [m] between two parallel planes, through a face and a vertex or through two edges. top,
 * bottom: indices of the vertices in the upper and lower plane, each with a weight; the weights of a plane have the
 * sum 1. If vertices move, the width changes by normal . (t - b), with the weighted mean displacements t of the `top`
 * vertices and b of the `bottom` vertices. */
typedef struct {
  double width;
  Vec3 normal; /* unit vector from the bottom to the top */
  int top[3], bottom[3], top_count, bottom_count;
  double top_weight[3], bottom_weight[3];
} HullWidth;
/* Returns the smallest width of a hull, or HUGE_VAL without triangles. The time is quadratic in the number of edges.
 * Allocates temporary memory. */
HullWidth hull_smallest_width(const ConvexHull* hull);

#endif
