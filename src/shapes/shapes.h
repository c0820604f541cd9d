/* shapes: smooth convex bodies as level sets { z : phi(z) <= 0 }, each around the origin of its own frame, with
 * derivatives by place and by own parameters. docs/derivations/shapes.md
 *
 *     smooth polytope          phi = 1/beta log sum_i exp(beta (n_i . z - o_i) / l),  |n_i| = 1,  l = max o_i     (B1)
 *     truncated cone           phi = 1/beta log(e^(beta f_s) + e^(beta f_b) + e^(beta f_t)), axis x               (B2)
 *                              f_s = (y^2 + z^2) / R(x)^2 - 1,  f_b = -x / below - 1,  f_t = x / above - 1,
 *                              R linear from bottom_radius at x = -below to top_radius at x = above
 *     superellipsoid           phi = ((x/a)^2n + (y/b)^2n + (z/c)^2n)^(1/2n) - 1                                  (B3)
 *     superelliptic cylinder   phi = ((y^2 + z^2)^n / r^2n + (x/h)^2n)^(1/2n) - 1, axis x                         (B3)
 *     superquadric             phi = (((x/a)^p + (y/b)^p)^(q/p) + (z/c)^q)^(1/q) - 1,  p = 2 / e2, q = 2 / e1 (B7)
 *
 * Ownership: shape_create makes the arrays of a Shape, shape_free ends them and accepts a zeroed one. Lengths in
 * metres; phi has no unit. Results have the same bits on every processor. */
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

/* Definition of a smooth shape by the user. shape_create copies it. */
typedef struct {
  SmoothKind kind;
  double beta;              /* polytope, cone: sharpness, > 0 */
  double exponent;          /* superellipsoid, cylinder: n in [1, 64] */
  double size[4];           /* m, > 0. cone: bottom_radius, top_radius, below, above; superellipsoid: semi-axes a, b, c;
                             * cylinder: radius, half length */
  const double (*faces)[4]; /* polytope: outward normal of any length and offset > 0 of n . z <= offset */
  int face_count;
  double length;       /* polytope: l [m], 0 = the largest offset */
  double exponents[2]; /* superquadric: e1, e2 in [1/32, 1] */
} SmoothForm;

typedef struct {
  SmoothKind kind;
  double beta, exponent, size[4]; /* exponent of a superquadric: 1 / the lesser of its two */
  double exponents[2];
  double over[3];         /* superellipsoid, cylinder: 1 / size */
  int whole;              /* `exponent` if it is an integer, else 0 */
  int face_count, padded; /* padded: face_count rounded up to a multiple of 4; padding faces are infinitely far */
  double *nx, *ny, *nz, *offset; /* polytope: unit normals and offsets, both divided by `length` (padded) */
  double* face_norm;             /* length |n_i| of each given normal (face_count) */
  double* face_given;            /* normals and offsets as given (face_count x 4) */
  double length;                 /* l of (B1) [m] */
  int length_face;               /* index of the face whose offset is l; -1 if no face has this offset */
  double inner, outer; /* radii about the origin of a ball inside the body and of one that contains it (B5) [m] */
} Shape;

/* Returns the name of a kind in files: "smooth_polytope", "truncated_cone", "superellipsoid", "superelliptic_cylinder",
 * "superquadric". Static, never NULL. */
const char* shape_kind_name(SmoothKind kind);
/* Creates a convex shape that contains the origin. The form is copied. Returns NULL on success, else the violated rule
 * (static text). Allocates; the caller frees the shape with shape_free, which is allowed after a failure too. */
const char* shape_create(Shape* shape, const SmoothForm* form);
/* Frees the arrays and zeroes the shape; accepts a zeroed one, not NULL. */
void shape_free(Shape* shape);

/* Value and derivatives of phi at a point. The Hessian is symmetric. */
typedef struct {
  double value;
  Vec3 gradient; /* 1/m */
  Mat3 hessian;  /* 1/m^2 */
} ShapeValue;
/* Returns phi and its derivatives at z [m, shape's frame], inside or outside the body. At the centre of a
 * superellipsoid, cylinder or superquadric, where phi is not differentiable, gradient and Hessian are zero. Does not
 * allocate. */
ShapeValue shape_evaluate(const Shape* shape, Vec3 z);

/* Returns true if phi is convex, as for all kinds except cones. Then phi lies above its tangents, and a point with phi
 * = e > 0 lies inside the body scaled by 1 + e s, where s = -1 / phi(centre) is the result of shape_steepness. */
static inline bool shape_is_level(const Shape* shape) { return shape->kind != SMOOTH_CONE; }
static inline double shape_steepness(const Shape* shape) {
  return shape->kind == SMOOTH_POLYTOPE ? shape->length / shape->inner : 1;
}

/* Gauge gamma(y) = min { t > 0 : y/t inside } (B4), with gradient and Hessian. It is dimensionless, convex and
 * homogeneous: gamma = y . gradient. The gradient at y has the direction of the surface normal at y / gamma. */
typedef struct {
  double value;
  Vec3 gradient;
  Mat3 hessian;
} Gauge;
/* Returns the gauge at y [m, shape's frame] with its derivatives. y must not be 0 (asserted). Does not allocate. */
Gauge shape_gauge(const Shape* shape, Vec3 y);
/* Returns the value of the gauge at y, bit-identical to that of shape_gauge. */
double shape_gauge_value(const Shape* shape, Vec3 y);

/* Returns an upper bound of the extent of the body from its centre along a unit direction (shape's frame) [m]: the
 * extent of the body with sharp edges. It is a fast initial estimate. */
double shape_reach(const Shape* shape, Vec3 direction);

/* Returns the number of parameters of the shape. Their order is, for a polytope: beta, then nx, ny, nz, offset of every
 * face as given; cone: beta, bottom_radius, top_radius, below, above; superellipsoid: exponent, a, b, c; cylinder:
 * exponent, radius, half length; superquadric: e1, e2, a, b, c. In the functions below, the index k must be in 0 ...
 * count - 1 (asserted). */
int shape_parameter_count(const Shape* shape);
/* Returns true if parameter k stays in its range both when it is increased and when it is decreased by `way`. Always
 * true for parameters other than bounded exponents. */
bool shape_parameter_moves(const Shape* shape, int k, double way);
/* Sets *value to the derivative of phi and *gradient to the derivative of the gradient of phi [1/m], both by parameter
 * k at z [m, shape's frame]. Does not allocate. */
void shape_parameter_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

/* Sets *mesh to the convex hull of 10 * 4^level + 2 surface points (shape's frame) [m], for images. level: 0 to 3. The
 * caller frees the hull with hull_free if the result is HULL_OK; otherwise there is nothing to free. */
HullResult shape_mesh(const Shape* shape, int level, ConvexHull* mesh);
/* Returns a pointer to parameter k in the form or in its faces, borrowed from the form. A caller whose form is const
 * must only read the number. */
double* shape_form_number(const SmoothForm* form, int k);
/* Returns the number of parameters of a form, equal to shape_parameter_count of the shape created from it. */
int shape_form_count(const SmoothForm* form);

/* Returns the half extents of the shape along the axes x, y and z of its frame [m]. */
Vec3 shape_extents(const Shape* shape);
/* Returns the derivative of shape_extents by parameter k. */
Vec3 shape_extents_slope(const Shape* shape, int k);
/* Returns the surface point [m, shape's frame] in the direction of s, scaled by the half extents (B8). s may have any
 * nonzero length. */
Vec3 shape_surface_point(const Shape* shape, Vec3 s);
/* Replaces each of the directions points (count) by its surface point, as shape_surface_point does. */
void shape_surface_points(const Shape* shape, Vec3* points, int count);
/* Returns the derivative of shape_surface_point by parameter k at constant s. */
Vec3 shape_surface_slope(const Shape* shape, Vec3 s, int k);
/* Support point along a direction, with phi and its derivatives at that point (B9). */
typedef struct {
  double reach; /* direction . point [m |direction|] */
  Vec3 point;
  ShapeValue at; /* phi and its derivatives at `point` */
} ShapeSupport;
/* Returns the support point along a nonzero direction (shape's frame). Does not allocate. */
ShapeSupport shape_support(const Shape* shape, Vec3 direction);
/* Sets *change to the derivative of the support point [m, shape's frame] when the direction changes by `turn` and
 * parameter k by 1. The direction is constant if turn is NULL, and each parameter is constant if k < 0. support: result
 * of shape_support for this direction. Returns false, with *change undefined, if the surface is flat at the support
 * point, so that the point is not unique. Does not allocate. */
bool shape_support_slope(const Shape* shape, const ShapeSupport* support, Vec3 direction, const Vec3* turn, int k,
                         Vec3* change);

/* Sets out (shape_parameter_count) to the derivatives of shape_mass by each parameter. Allocates temporarily. */
void shape_mass_slopes(const Shape* shape, MassMoment* out);
/* Returns the moments of the solid at unit density [m^3, m^4, m^5] about the origin of the shape's frame, computed by
 * quadrature over directions (B6). */
MassMoment shape_mass(const Shape* shape);

/* ---------------------------------------------------------------- fields (shapes/field.c, field_parameters.c,
 * field_surface.c) Signed distance fields [m] of any body, smooth, with gradients and normals: smooth convex shapes,
 * points with normals, unions and differences of them. Negative inside. docs/derivations/fields.md
 *
 *     superellipsoid, superquadric, ...  phi = |x| (1 - 1 / gamma(x)), along the ray from the centre            (Y1)
 *     smooth polytope                    phi = l / beta log sum_i exp(beta (n_i . x - o_i) / l)                 (Y2)
 *     points with normals                phi = sum w_i n_i . (x - p_i), w = softmax(-|x - p_i|^2 / (2 radius^2)) (Y3)
 *     union                              phi = -tau log sum_i exp(-phi_i / tau)                                 (Y4)
 *     subtraction                        phi = tau log(exp(phi_1 / tau) + exp(-phi_2 / tau))                    (Y5)
 *
 * Only near the surface is phi a distance; its zero is the surface (of a union: within tau log(number of parts)).
 * Results have the same bits on every processor. */

typedef enum { FIELD_SHAPE, FIELD_POINTS, FIELD_UNION, FIELD_SUBTRACTION } FieldKind;

/* A field. Owns its shape, arrays and parts; freed by field_free, which accepts a zeroed one. */
typedef struct Field {
  FieldKind kind;
  Pose pose;              /* pose of its frame in that of the enclosing field (for the outermost: of the body) */
  Shape shape;            /* FIELD_SHAPE */
  Vec3 *points, *normals; /* FIELD_POINTS, unit normals (count) */
  int count;              /* number of points */
  double radius;          /* FIELD_POINTS [m], > 0 */
  double smoothing;       /* union, subtraction: tau [m], > 0 */
  struct Field* parts;    /* union: at least one; subtraction: two, the second is subtracted (part_count) */
  int part_count;
} Field;

typedef struct {
  double value;  /* phi [m] */
  Vec3 gradient; /* gradient of phi */
  Vec3 outward;  /* outward vector of about unit length, defined everywhere (Y6) */
  Mat3 turn;     /* derivative of outward by position [1/m] */
} FieldValue;

/* Creates the field of a convex polyhedron: a smooth maximum over its planes (Y2) with l / beta = smoothing > 0 [m].
 * The origin of the field's frame is the centre of mass of the hull. The field keeps no pointer to the hull. Returns
 * NULL on success; the caller then frees the field with field_free. Otherwise returns the violated rule (static text),
 * with nothing to free. */
const char* field_of_hull(Field* field, const ConvexHull* hull, double smoothing);
/* Checks points and normals (count > 0 each). The normals may have any nonzero length; radius > 0 [m]. Returns NULL if
 * they are valid. Returns the violated rule (static text) if the normals point inward, that is, if the field (Y3) far
 * from the points is negative in all of 26 directions. (The field of an open surface is negative in some directions
 * only.) */
const char* field_points_rule(const Vec3* points, const Vec3* normals, int count, double radius);
/* Returns the field and its derivatives at `place` [m, body's frame]. At the centre of a convex shape, where no outward
 * direction exists, gradient and outward vector are zero. Does not allocate. */
FieldValue field_evaluate(const Field* field, Vec3 place);
/* Members of FieldValue that field_evaluate_many sets. FIELD_VALUES: value and outward. FIELD_GRADIENTS: also gradient.
 * FIELD_TURNS: also turn. The other members are undefined. */
typedef enum { FIELD_VALUES, FIELD_GRADIENTS, FIELD_TURNS } FieldAnswer;
/* Sets out (count) to the field at places (count) [m, body's frame]. Agrees with field_evaluate within 1e-13 of the
 * body's size. Superquadrics and unions of superquadrics are evaluated at sixteen places at a time
 * (shapes/field_many.c). The result at one place depends neither on the other places nor on `wanted`. Does not
 * allocate. */
void field_evaluate_many(const Field* field, const Vec3* places, int count, FieldAnswer wanted, FieldValue* out);
/* Returns the number of parameters of a field. Their order is, for a shape: the parameters of the shape; for points:
 * radius, then x, y, z of each point and of its normal (whose length stays 1); for a union or subtraction: smoothing,
 * then for each part three rotations [rad], three translations [m] and the parameters of the part. The rotations are
 * about the axes of the enclosing field through the origin of the part's frame. */
enum { PART_MOTIONS = 6 };
int field_parameter_count(const Field* field);
/* Sets value (count) and outward (count) to the derivatives of phi and of the outward vector at `place` [m, body's
 * frame] by the parameters first, first + 1, ... (Y10, Y11). All these parameters must exist (asserted). Does not
 * allocate. */
void field_parameter_slopes(const Field* field, Vec3 place, int first, int count, double* value, Vec3* outward);
/* Frees shape, arrays and parts and zeroes the field; accepts a zeroed one, not NULL. */
void field_free(Field* field);

/* ---- fields of polyhedra by their corners (shapes/field_corners.c)
 * Points with normals on a surface of triangles, body frame [m]: the middle of each triangle with its own normal, and
 * each corner with the sum of its triangles' (weighted by area). radius 0: the mean edge. Allocates; field_free.
 * Triangles without area are left out. Never fails; surface is only read. */
void field_of_triangles(Field* field, const TriangleSurface* surface, double radius);

/* Derivative of one plane or point of a field by the displacement e of a corner. Height n . x - o of a plane (Y12):
 * -(weight + along . x) (n . e), normal: -along (n . e). With share > 0 (Y13), normal: turned e, height: turned e . (x -
 * along) - share n . e. A point moves by share e, and its normal changes by turned e. */
typedef struct {
  int of;
  double weight, share;
  Vec3 along;
  Mat3 turned;
} CornerLink;

/* Derivatives of a field with respect to the corners of a polyhedron, in the caller's order of corners. Owns its
 * arrays, which field_corners_free frees. field_corners_free accepts a zeroed struct. */
typedef struct {
  int count;          /* number of corners */
  int* first;         /* the links of corner i are links[first[i]] ... links[first[i + 1] - 1]  (count + 1) */
  CornerLink* links;  /* (first[count]) */
  const Field* field; /* borrowed; field of points (FIELD_POINTS), or field of a hull with the planes below */
  Vec3* normals;      /* unit normals of the planes, body frame (plane_count); NULL for a field of points */
  double* offsets;    /* offsets of the planes [m] (plane_count) */
  int plane_count;
  double tau;  /* smoothing of the planes [m] */
  bool fitted; /* true if a face has more than three corners: its plane is then the best fit to them */
} FieldCorners;
/* Returns the corner derivatives of `field`, which field_of_hull created from `hull`, at constant smoothing. number[v]
 * is the corner index, below count, of vertex v of the hull; -1 if the vertex is no corner. Borrows field, which must
 * outlive the result. The caller frees the result with field_corners_free. */
FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* number, int count);
/* Returns the corner derivatives of `field`, which field_of_triangles created from `surface`, at constant radius.
 * number[p] is the corner index, below count, of point p of the surface; -1 if the point is no corner. Borrows field,
 * which must outlive the result. The caller frees the result with field_corners_free. */
FieldCorners field_corners_of_triangles(const Field* field, const TriangleSurface* surface, const int* number,
                                        int count);
/* Sets value (count) and outward (count) to the derivatives of phi and of the outward vector at `place` [m, body's
 * frame] by the corner parameters first, first + 1, ... (Y12). The parameters 3 i, 3 i + 1, 3 i + 2 are x, y, z of
 * corner i. */
void field_corner_slopes(const FieldCorners* corners, Vec3 place, int first, int count, double* value, Vec3* outward);
/* Frees the arrays, but not the field, and zeroes the struct. NULL is not accepted. */
void field_corners_free(FieldCorners* corners);

/* Returns triangles on the surface of the field (body frame) [m], for contacts and images. For a shape they are the
 * hull of shape_mesh at `level` (0 to 3). For a union or subtraction they are the visible regions of the surfaces of
 * its parts, projected onto phi = 0; empty if no region is visible. For a field of points they are the points,
 * projected onto phi = 0, without triangles. The caller frees it with surface_free. */
TriangleSurface field_surface(const Field* field, int level);

/* Sets *mesh to the closed surface of the solid phi <= 0 (body frame) [m], as triangles that need not be convex
 * (shapes/field_solid.c). The grid has `cells` cells along each edge of the bounding box (Y7). Features thinner than a
 * cell may be missed. The surface is empty if no grid node is inside. The caller frees it with hull_free. */
void field_solid(const Field* field, int cells, ConvexHull* mesh);
/* Returns the moments of the solid phi <= 0 at unit density [m^3, m^4, m^5] in the body frame (Y8). Allocates
 * temporarily. */
MassMoment field_mass(const Field* field);

#endif
