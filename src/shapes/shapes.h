/* shapes: smooth convex bodies as level sets { z : phi(z) <= 0 }, with derivatives with respect to the point z and to
 * the parameters of the shape (docs/derivations/shapes.md). A body contains the origin of its frame, called its centre.
 *
 *     smooth polytope          phi = 1/beta log sum_i exp(beta (n_i . z - o_i) / l),  |n_i| = 1,  l = max o_i     (B1)
 *     truncated cone           phi = 1/beta log(e^(beta f_s) + e^(beta f_b) + e^(beta f_t)), axis x               (B2)
 *                              f_s = (y^2 + z^2) / R(x)^2 - 1,  f_b = -x / below - 1,  f_t = x / above - 1,
 *                              R linear from bottom_radius at x = -below to top_radius at x = above
 *     superellipsoid           phi = ((x/a)^2n + (y/b)^2n + (z/c)^2n)^(1/2n) - 1                                  (B3)
 *     superelliptic cylinder   phi = ((y^2 + z^2)^n / r^2n + (x/h)^2n)^(1/2n) - 1, axis x                         (B3)
 *     superquadric             phi = (((x/a)^p + (y/b)^p)^(q/p) + (z/c)^q)^(1/q) - 1,  p = 2 / e2, q = 2 / e1 (B7)
 *
 * Lengths are in metres; phi is dimensionless. Results are bit-identical on every processor. */
#ifndef SDRS_SHAPES_H
#define SDRS_SHAPES_H

#include "geometry/geometry.h"

typedef enum {
  SMOOTH_POLYTOPE,
  SMOOTH_CONE,
  SMOOTH_SUPERELLIPSOID,
  SMOOTH_CYLINDER,
  SMOOTH_SUPERQUADRIC,
  SMOOTH_KINDS,
} SmoothKind;

/* User's definition of a smooth shape. */
typedef struct {
  SmoothKind kind;
  double beta;     /* polytope, cone: sharpness of the edges, > 0 */
  double exponent; /* superellipsoid, cylinder: exponent n of (B3), from 1 (ellipsoid) to 64 (nearly a box) */
  double size[4];  /* [m], > 0. cone: bottom_radius, top_radius, below, above; superellipsoid: semi-axes a, b, c;
                      cylinder: radius, half length */
  const double (*faces)[4]; /* polytope: (n, offset) of each half-space n . z <= offset, with outward normal n of any
                               length and offset > 0 */
  int face_count;
  double length;       /* polytope: reference length l of (B1) [m]; 0 selects the largest offset */
  double exponents[2]; /* superquadric: exponents e1, e2 of (B7), each in [1/32, 1] */
} ShapeDefinition;

typedef struct {
  SmoothKind kind;
  double beta, exponent, size[4]; /* as in ShapeDefinition; `exponent` of a superquadric: 1 / min(e1, e2) */
  double exponents[2];
  double inverse_size[3];            /* superellipsoid, cylinder: 1 / size[k] */
  int integer_exponent;              /* `exponent` if it is an integer, otherwise 0 */
  int face_count, padded_face_count; /* padded_face_count: face_count rounded up to a multiple of 4; padding faces are
                                        infinitely distant */
  double *nx, *ny, *nz, *offset; /* polytope: unit normals, and offsets divided by `length` (size: padded_face_count) */
  double* face_norm;             /* length |n_i| of each normal as given (size: face_count) */
  double* given_faces;           /* normals and offsets as given (size: face_count x 4) */
  double length;                 /* polytope: reference length l of (B1) [m] */
  int length_face;               /* index of the face whose offset is `length`, or -1 if the user gave `length` */
  /* radii of two balls about the centre [m]: `inner` lies inside the body, `outer` contains the body (B5) */
  double inner, outer;
} Shape;

/* Returns the name of a kind of shape in files: "smooth_polytope", "truncated_cone", "superellipsoid",
 * "superelliptic_cylinder" or "superquadric" (static text). */
const char* shape_kind_name(SmoothKind kind);
/* Creates a smooth convex shape. definition is copied. Returns NULL on success; the caller then frees the shape's
 * arrays with shape_free. Otherwise returns the violated rule (static text), with nothing to free. */
const char* shape_create(Shape* shape, const ShapeDefinition* definition);
/* Frees the arrays and zeroes the shape. Accepts a zeroed shape, but not NULL. */
void shape_free(Shape* shape);

/* Value, gradient and symmetric Hessian of a shape's level function phi at a point; phi is negative inside the body and
 * zero on its surface. */
typedef struct {
  double value;
  Vec3 gradient; /* 1/m */
  Mat3 hessian;  /* 1/m^2 */
} ShapeValue;
/* Returns the level function phi of a shape and its derivatives at the point z [m, shape's frame], inside or outside
 * the body. At the centre of a superellipsoid, cylinder or superquadric, where phi is not differentiable, gradient and
 * Hessian are zero. Does not allocate. */
ShapeValue shape_evaluate(const Shape* shape, Vec3 z);

/* shape_has_convex_level returns true if the level function phi of the shape is convex: for all kinds except cones.
 * shape_level_to_scale returns s = -1 / phi(centre). If phi is convex, a point with phi = e > 0 lies inside the body
 * scaled by 1 + e s about its centre. */
static inline bool shape_has_convex_level(const Shape* shape) { return shape->kind != SMOOTH_CONE; }
static inline double shape_level_to_scale(const Shape* shape) {
  return shape->kind == SMOOTH_POLYTOPE ? shape->length / shape->inner : 1;
}

/* Gauge gamma(y) = min { t > 0 : y/t inside the body }, the factor by which the body must be scaled about its centre
 * such that its surface passes through the point y (B4). The gauge is dimensionless, convex and homogeneous: gamma = y
 * . gradient. Its gradient has the direction of the surface normal at y / gamma. */
typedef struct {
  double value;
  Vec3 gradient;
  Mat3 hessian;
} Gauge;
/* Returns the gauge of a shape and its derivatives at the point y [m, shape's frame]. y must not be 0 (asserted). Does
 * not allocate. */
Gauge shape_gauge(const Shape* shape, Vec3 y);
/* Returns the value of the gauge of a shape at the point y [m, shape's frame], bit-identical to the value of
 * shape_gauge. */
double shape_gauge_value(const Shape* shape, Vec3 y);

/* Returns an upper bound of the body's extent from its centre along a unit direction [m, shape's frame]: the extent of
 * the body with sharp edges, which is fast to compute. */
double shape_extent_bound(const Shape* shape, Vec3 direction);

/* Returns the number of parameters of a shape. The parameters are, in order:
 *     polytope: beta, then nx, ny, nz, offset of every face as given
 *     cone: beta, bottom_radius, top_radius, below, above
 *     superellipsoid: exponent, a, b, c
 *     cylinder: exponent, radius, half length
 *     superquadric: e1, e2, a, b, c
 * The functions below assert 0 <= k < count for a parameter index k. */
int shape_parameter_count(const Shape* shape);
/* Returns true if parameter k can be increased and decreased by `change` within its range. Only exponents have a
 * bounded range; for other parameters the result is true. */
bool shape_parameter_can_change(const Shape* shape, int k, double change);
/* Computes derivatives with respect to parameter k at the point z [m, shape's frame]. Sets *value to the derivative of
 * the level function phi, and *gradient to the derivative of grad phi. Does not allocate. */
void shape_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

/* Sets *mesh to the convex hull of 10 * 4^level + 2 surface points [m, shape's frame], for images. level: 0 to 3. If
 * the result is HULL_OK, the caller frees the hull with hull_free. Otherwise there is nothing to free. */
HullResult shape_mesh(const Shape* shape, int level, ConvexHull* mesh);
/* Returns a pointer to parameter k of a definition, in the order of shape_parameter_count. The pointer is borrowed from
 * the definition or its faces. The caller writes only if they are not const. */
double* shape_definition_parameter(const ShapeDefinition* definition, int k);
/* Returns the number of parameters of a definition. */
int shape_definition_parameter_count(const ShapeDefinition* definition);

/* Returns the half extents of the shape along the x, y and z axes of its frame [m]. */
Vec3 shape_extents(const Shape* shape);
/* Returns the derivative of shape_extents with respect to parameter k of the shape. */
Vec3 shape_extents_derivative(const Shape* shape, int k);
/* Returns the surface point [m, shape's frame] on the ray from the centre along the vector (s.x e.x, s.y e.y, s.z e.z)
 * (B8). e: half extents of the shape (shape_extents). s may have any nonzero length. */
Vec3 shape_surface_point(const Shape* shape, Vec3 s);
/* Replaces each vector points[i] (count) by shape_surface_point(shape, points[i]). */
void shape_surface_points(const Shape* shape, Vec3* points, int count);
/* Returns the derivative of shape_surface_point(shape, s) with respect to parameter k, at constant s. */
Vec3 shape_surface_derivative(const Shape* shape, Vec3 s, int k);
/* Support point (farthest point of the body) along a direction (B9). */
typedef struct {
  double reach; /* support function: direction . point [m * |direction|] */
  Vec3 point;
  ShapeValue at; /* level function phi of the shape and its derivatives at `point` */
} ShapeSupport;
/* Returns the support point along a nonzero direction [shape's frame]. Does not allocate. */
ShapeSupport shape_support(const Shape* shape, Vec3 direction);
/* Computes the derivative of the support point with respect to the direction and one parameter of the shape. Sets
 * *change [m, shape's frame] to the first-order displacement of the point. The direction changes by direction_change
 * (NULL: constant direction) and parameter k by 1 (k < 0: constant parameters). support: result of shape_support for
 * this direction. Returns false if the support point is not unique because the surface is flat there; *change is then
 * unspecified. Does not allocate. */
bool shape_support_derivative(const Shape* shape, const ShapeSupport* support, Vec3 direction,
                              const Vec3* direction_change, int k, Vec3* change);

/* Sets out (shape_parameter_count) to the derivatives of the solid's volume, first and second moments (shape_mass) with
 * respect to each parameter of the shape. Allocates temporary memory. */
void shape_mass_derivatives(const Shape* shape, MassMoment* out);
/* Returns volume, first and second moments of the solid at unit density [m^3, m^4, m^5], about the origin of the
 * shape's frame, by quadrature over directions (B6). */
MassMoment shape_mass(const Shape* shape);

/* ---------------------------------------------------------------- fields
 * Smooth signed distance fields phi [m] of bodies, negative inside, with gradients and normals
 * (docs/derivations/fields.md). A body is a smooth convex shape, a set of points with normals, or a union or difference
 * of bodies.
 *
 *     superellipsoid, superquadric, ...  phi = |x| (1 - 1 / gamma(x)), along the ray from the centre            (Y1)
 *     smooth polytope                    phi = l / beta log sum_i exp(beta (n_i . x - o_i) / l)                 (Y2)
 *     points with normals                phi = sum w_i n_i . (x - p_i), w = softmax(-|x - p_i|^2 / (2 radius^2)) (Y3)
 *     union                              phi = -tau log sum_i exp(-phi_i / tau)                                 (Y4)
 *     subtraction                        phi = tau log(exp(phi_1 / tau) + exp(-phi_2 / tau))                    (Y5)
 *
 * phi is a distance only near the surface. phi is zero on the surface; for a union, within tau log(number of parts).
 * Results are bit-identical on every processor. */

typedef enum { FIELD_SHAPE, FIELD_POINTS, FIELD_UNION, FIELD_SUBTRACTION } FieldKind;

/* A field. It owns its shape, arrays and parts. field_free frees them. */
typedef struct Field {
  FieldKind kind;
  Pose pose;   /* pose of the field's frame in the frame of the enclosing field, or of the body if none encloses it */
  Shape shape; /* FIELD_SHAPE */
  Vec3 *points, *normals; /* FIELD_POINTS: points and unit normals (size: count) */
  int count;              /* number of points */
  double radius;          /* FIELD_POINTS: length scale of the weights of the points, `radius` in (Y3) [m], > 0 */
  double smoothing; /* union, subtraction: length over which the seams between parts are rounded, tau in (Y4, Y5) [m], >
                       0 */
  struct Field* parts; /* parts (size: part_count). A union has at least one part. A subtraction has two; the second is
                          subtracted */
  int part_count;
} Field;

typedef struct {
  double value;          /* approximate signed distance phi from the surface, negative inside [m] */
  Vec3 gradient;         /* gradient of `value` with respect to the position */
  Vec3 outward;          /* vector of about unit length that points out of the body, defined everywhere (Y6) */
  Mat3 outward_jacobian; /* Jacobian of outward with respect to the position [1/m] */
} FieldValue;

/* Creates the field of a convex polyhedron as a smooth maximum of the heights above its planes (Y2). smoothing: length
 * over which edges are rounded, l / beta in (Y2), > 0 [m]. The origin of the field's frame is the centre of mass of the
 * hull. The field keeps no pointer to the hull. Returns NULL on success; the caller then frees the field with
 * field_free. Otherwise returns the violated rule (static text), with nothing to free. */
const char* field_of_hull(Field* field, const ConvexHull* hull, double smoothing);
/* Checks the points and normals of a field of points (count > 0 each). Normals may have any nonzero length. radius > 0
 * [m]. Returns NULL if they are valid. Returns the violated rule (static text) if the normals point inward. The test is
 * that the field (Y3) is negative in all of 26 directions far from the points. */
const char* field_check_points(const Vec3* points, const Vec3* normals, int count, double radius);
/* Returns the field and its derivatives at `position` [m, body's frame]. At the centre of a convex shape, where no
 * outward direction exists, gradient and outward vector are zero. Does not allocate. */
FieldValue field_evaluate(const Field* field, Vec3 position);
/* Members of FieldValue that field_evaluate_many sets; all other members are unspecified. FIELD_VALUES: value and
 * outward. FIELD_GRADIENTS: also gradient. FIELD_JACOBIANS: also gradient and outward_jacobian. */
typedef enum { FIELD_VALUES, FIELD_GRADIENTS, FIELD_JACOBIANS } FieldMembers;
/* Sets out (count) to the values of the field at positions (count) [m, body's frame]. The values agree with
 * field_evaluate within 1e-13 of the body's size. Superquadrics and their unions are evaluated at sixteen positions at
 * a time. The value at one position depends neither on the other positions nor on `members`. Does not allocate. */
void field_evaluate_many(const Field* field, const Vec3* positions, int count, FieldMembers members, FieldValue* out);
/* Returns the number of parameters of a field. The parameters are, in order:
 *     shape: the parameters of the shape
 *     points: radius, then x, y, z of each point and of its normal (whose length stays 1)
 *     union, subtraction: smoothing, then for each part three rotations [rad], three translations [m] and the part's
 * parameters. The rotations are about the axes of the enclosing field through the origin of the part's frame. */
enum { PART_POSE_PARAMETERS = 6 };
int field_parameter_count(const Field* field);
/* Computes the derivatives of the field value and of the outward vector with respect to the field's parameters number
 * first to first + count - 1 (Y10, Y11). Sets value (count) and outward (count) at `position` [m, body's frame]. All
 * these parameters must exist (asserted). Does not allocate. */
void field_parameter_derivatives(const Field* field, Vec3 position, int first, int count, double* value, Vec3* outward);
/* Frees the field's shape, arrays and parts and zeroes the field. Accepts a zeroed field, but not NULL. */
void field_free(Field* field);

/* ---- fields of polyhedra and their vertices */

/* Creates a field of points with normals from a triangle surface in the body frame [m]. Each triangle gives its
 * centroid with its normal; each vertex gives a point with the area-weighted mean normal of its triangles. Triangles
 * without area are left out. radius: distance over which the weight of a point falls [m]; 0 selects the mean edge
 * length. The surface is only read. Never fails. The caller frees the field with field_free. */
void field_of_triangles(Field* field, const TriangleSurface* surface, double radius);

/* Derivative of one plane or point of a field with respect to a displacement e of a polyhedron's vertex. n is the unit
 * normal of the plane, o its offset, and h = n . x - o the height of a position x above the plane.
 *     plane, share = 0 (Y12)   dh = -(weight + along . x) (n . e),  dn = -along (n . e)
 *     plane, share > 0 (Y13)   dn = normal_jacobian e,  dh = dn . (x - along) - share (n . e)
 *     point with a normal      the point moves by share e,  dn = normal_jacobian e */
typedef struct {
  int element; /* index of the plane or point */
  double weight, share;
  Vec3 along;
  Mat3 normal_jacobian;
} CornerDerivative;

/* Derivatives of a field with respect to the vertices ("corners") of a polyhedron, in an order chosen by the caller.
 * The struct owns its arrays; field_corners_free frees them. */
typedef struct {
  int count;                     /* number of corners */
  int* first;                    /* corner i has the derivatives first[i] to first[i + 1] - 1 (size: count + 1) */
  CornerDerivative* derivatives; /* derivatives of all corners (size: first[count]) */
  const Field* field; /* borrowed: field of points (FIELD_POINTS), or field of a hull with the planes below */
  Vec3* normals;      /* unit normals of the planes, body frame (size: plane_count); NULL for a field of points */
  double* offsets;    /* offsets of the planes [m] (size: plane_count) */
  int plane_count;
  double tau;  /* smoothing length of the maximum over the planes [m] */
  bool fitted; /* true if a face has more than three corners; its plane is then the best fit of its corners */
} FieldCorners;
/* Returns the derivatives of the field of a hull with respect to the vertices of the hull, at constant smoothing
 * length. The field was created by field_of_hull from this hull and must outlive the result, which borrows the field.
 * corner_of[v]: corner index, below count, of vertex v, or -1 if vertex v is no corner. The caller frees the result
 * with field_corners_free. */
FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* corner_of, int count);
/* Returns the derivatives of a field of points with respect to the points of its surface, at constant radius of the
 * weights. The field was created by field_of_triangles from this surface and must outlive the result, which borrows the
 * field. corner_of[p]: corner index, below count, of point p, or -1 if point p is no corner. The caller frees the
 * result with field_corners_free. */
FieldCorners field_corners_of_triangles(const Field* field, const TriangleSurface* surface, const int* corner_of,
                                        int count);
/* Computes the derivatives of the field value and of the outward vector with respect to the corner coordinates number
 * first to first + count - 1 (Y12). Sets value (count) and outward (count) at `position` [m, body's frame]. Coordinates
 * 3 i, 3 i + 1, 3 i + 2 are x, y, z of corner i. */
void field_corner_derivatives(const FieldCorners* corners, Vec3 position, int first, int count, double* value,
                              Vec3* outward);
/* Frees the arrays, but not the borrowed field, and zeroes the struct. Accepts a zeroed struct, but not NULL. */
void field_corners_free(FieldCorners* corners);

/* Returns triangles on the surface of the field [m, body frame], for contacts and images. For a shape they are the hull
 * of shape_mesh at `level` (0 to 3). For a union or subtraction they are the visible regions of the parts' surfaces,
 * projected onto phi = 0; the result is empty if no region is visible. For a field of points the result contains its
 * points, projected onto phi = 0, and no triangles. The caller frees the result with surface_free. */
TriangleSurface field_surface(const Field* field, int level);

/* Sets *mesh to the closed surface of the solid phi <= 0 [m, body frame], by marching tetrahedra on a grid with `cells`
 * cells along each edge of the bounding box (Y7). The solid may be concave. Features thinner than a cell may be missed.
 * The surface is empty if no grid node is inside. The caller frees the mesh with hull_free. */
void field_solid(const Field* field, int cells, ConvexHull* mesh);
/* Returns the moments of the solid phi <= 0 at unit density [m^3, m^4, m^5] in the body frame (Y8). Allocates temporary
 * memory. */
MassMoment field_mass(const Field* field);

#endif
