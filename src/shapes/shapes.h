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

/* Definition of a shape by the user. Borrowed by shape_create. */
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
  int whole;              /* the exponent if it is an integer, else 0 */
  int face_count, padded; /* padded: face_count rounded up to a multiple of 4; padding faces are infinitely far */
  double *nx, *ny, *nz, *offset; /* polytope: unit normals and offsets, both divided by `length` (padded) */
  double* face_norm;             /* |n_i| as given */
  double* face_given;            /* (face_count x 4) */
  double length;                 /* l of (B1) [m] */
  int length_face;               /* the face whose offset is l; -1: none */
  double inner, outer; /* radii about the origin of a ball inside the body and of one that contains it (B5) [m] */
} Shape;

/* Name of a kind in files: "smooth_polytope", "truncated_cone", "superellipsoid", "superelliptic_cylinder",
 * "superquadric". Static, never NULL. */
const char* shape_kind_name(SmoothKind kind);
/* Creates a shape from a form, which is copied: convex, with the origin inside. Returns NULL, or the violated rule
 * (static); shape_free may be called in any case. Allocates. */
const char* shape_create(Shape* shape, const SmoothForm* form);
/* Frees the arrays and zeroes the shape; accepts a zeroed one, not NULL. */
void shape_free(Shape* shape);

/* phi and its derivatives at a point; the Hessian is symmetric. */
typedef struct {
  double value;
  Vec3 gradient; /* 1/m */
  Mat3 hessian;  /* 1/m^2 */
} ShapeValue;
/* Evaluates phi at z [m], shape's frame, inside or outside. At the centre of a superellipsoid, cylinder or
 * superquadric, where phi is not differentiable, gradient and Hessian are zero. Does not allocate. */
ShapeValue shape_evaluate(const Shape* shape, Vec3 z);

/* True if phi is convex (all kinds but cones). Then a point with phi = e > 0 lies within (1 + steepness e) times the
 * body, and phi lies above its tangents; shape_steepness = -1 / phi(centre). */
static inline bool shape_is_level(const Shape* shape) { return shape->kind != SMOOTH_CONE; }
static inline double shape_steepness(const Shape* shape) {
  return shape->kind == SMOOTH_POLYTOPE ? shape->length / shape->inner : 1;
}

/* Gauge gamma(y) = min { t > 0 : y/t inside } (B4), with gradient and Hessian. Dimensionless, convex, homogeneous:
 * gamma = y . gradient; gradient(y) is along the surface normal at y / gamma. */
typedef struct {
  double value;
  Vec3 gradient;
  Mat3 hessian;
} Gauge;
/* Gauge at y [m], shape's frame; y must not be 0 (asserted). Does not allocate. */
Gauge shape_gauge(const Shape* shape, Vec3 y);
/* Value of the gauge, bit-identical to shape_gauge. */
double shape_gauge_value(const Shape* shape, Vec3 y);

/* Upper bound of the body's extent from its centre along a unit direction [m], shape's frame: that of the sharp body
 * before rounding. A fast initial estimate. */
double shape_reach(const Shape* shape, Vec3 direction);

/* Number of parameters. Their order: polytope: beta, then nx, ny, nz, offset of every face as given; cone: beta,
 * bottom_radius, top_radius, below, above; superellipsoid: exponent, a, b, c; cylinder: exponent, radius, half length;
 * superquadric: e1, e2, a, b, c. Every k below must be in 0 ... count - 1 (asserted). */
int shape_parameter_count(const Shape* shape);
/* True if parameter k stays inside its range when changed by `way` in both directions; always true for parameters other
 * than bounded exponents. */
bool shape_parameter_moves(const Shape* shape, int k, double way);
/* Derivatives of phi and of its gradient [1/m] by parameter k at z [m], shape's frame. Does not allocate. */
void shape_parameter_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

/* Hull of 10 * 4^level + 2 surface points (level 0 to 3), shape's frame [m], for images. HULL_OK: freed by hull_free;
 * otherwise nothing to free. */
HullResult shape_mesh(const Shape* shape, int level, ConvexHull* mesh);
/* Pointer to parameter k in a form or its faces; borrowed. Callers with a const form must only read it. */
double* shape_form_number(const SmoothForm* form, int k);
/* Number of parameters of a form: shape_parameter_count of its shape. */
int shape_form_count(const SmoothForm* form);

/* Half extents along x, y and z of its frame [m]. */
Vec3 shape_extents(const Shape* shape);
/* Derivative of shape_extents by parameter k. */
Vec3 shape_extents_slope(const Shape* shape, int k);
/* Surface point [m], shape's frame, along a direction s of any nonzero length, which is first scaled by the extents
 * (B8). */
Vec3 shape_surface_point(const Shape* shape, Vec3 s);
/* shape_surface_point for points (count): directions on entry, surface points on return. */
void shape_surface_points(const Shape* shape, Vec3* points, int count);
/* Derivative of shape_surface_point by parameter k for fixed s. */
Vec3 shape_surface_slope(const Shape* shape, Vec3 s, int k);
/* Support point along a direction, with phi and its derivatives there (B9). */
typedef struct {
  double reach; /* direction . point [m |direction|] */
  Vec3 point;
  ShapeValue at; /* phi there */
} ShapeSupport;
/* Support point along a nonzero direction, shape's frame. Does not allocate. */
ShapeSupport shape_support(const Shape* shape, Vec3 direction);
/* Derivative of the support point when the direction changes by `turn` (NULL: fixed) and parameter k by 1 (k < 0:
 * fixed). support: of this direction; shape's frame, *change [m]. False: the surface is flat there and the point not
 * unique; *change is then undefined. Does not allocate. */
bool shape_support_slope(const Shape* shape, const ShapeSupport* support, Vec3 direction, const Vec3* turn, int k,
                         Vec3* change);

/* Derivatives of shape_mass by all parameters, to out (shape_parameter_count). Allocates temporarily. */
void shape_mass_slopes(const Shape* shape, MassMoment* out);
/* Moments of the solid with unit density [m^3, m^4, m^5] about its origin, shape's frame, by quadrature over directions
 * (B6). */
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

/* Field of a convex polyhedron: its planes joined by (Y2) with l / beta = smoothing [m] > 0. Its own frame is at the
 * centre of mass. The hull is copied as needed. Returns NULL, or the violated rule (static) with nothing to free. */
const char* field_of_hull(Field* field, const ConvexHull* hull, double smoothing);
/* Checks points with normals (count > 0; normals of any nonzero length; radius [m] > 0). Returns NULL, or the violated
 * rule (static): the field (Y3) is negative far away in all of 26 directions, so the normals point inward. An open
 * surface is negative in some directions only. */
const char* field_points_rule(const Vec3* points, const Vec3* normals, int count, double radius);
/* Field at a point of the body's frame [m]. At the centre of a convex shape, where no outward direction exists,
 * gradient and normal are zero. Does not allocate. */
FieldValue field_evaluate(const Field* field, Vec3 place);
/* Requested members of a FieldValue: value and outward; also gradient; also turn. The others are undefined. */
typedef enum { FIELD_VALUES, FIELD_GRADIENTS, FIELD_TURNS } FieldAnswer;
/* field_evaluate at places (count) to out (count), to 1e-13 of the body's size; superquadrics and unions of them are
 * evaluated sixteen at a time (shapes/field_many.c). The result at a point depends neither on the other points nor on
 * `wanted`. Does not allocate. */
void field_evaluate_many(const Field* field, const Vec3* places, int count, FieldAnswer wanted, FieldValue* out);
/* Number of parameters of a field. Their order: shape: its own; points: radius, then x, y, z of each point and of its
 * normal (kept at unit length); union and subtraction: smoothing, then for each part its rotations about the axes of
 * the whole through the origin of its frame [rad], its translations [m], its own parameters. */
enum { PART_MOTIONS = 6 };
int field_parameter_count(const Field* field);
/* Derivatives of value (count) and outward (count) at a point of the body's frame [m] by the parameters first, first +
 * 1, ... (Y10, Y11), which must exist (asserted). Does not allocate. */
void field_parameter_slopes(const Field* field, Vec3 place, int first, int count, double* value, Vec3* outward);
/* Frees shape, arrays and parts and zeroes the field; accepts a zeroed one, not NULL. */
void field_free(Field* field);

/* ---- fields of polyhedra by their corners (shapes/field_corners.c)
 * Points with normals on a surface of triangles, body frame [m]: the middle of each triangle with its own normal, and
 * each corner with the sum of its triangles' (weighted by area). radius 0: the mean edge. Allocates; field_free.
 * Triangles without area are left out. Never fails; surface is only read. */
void field_of_triangles(Field* field, const TriangleSurface* surface, double radius);

/* Derivative of one plane or point of a field by the displacement e of a corner (Y12). A plane n . x = o: its height at
 * x changes by (weight + along . x) (n . e), its normal by -along (n . e). A point: moves by share e, its normal
 * changes by turned e. */
typedef struct {
  int of;
  double weight, share;
  Vec3 along;
  Mat3 turned;
} CornerLink;

/* Derivatives of a field by the corners of a polyhedron in the caller's order. Owns its arrays; freed by
 * field_corners_free, which accepts a zeroed one. */
typedef struct {
  int count;          /* number of corners */
  int* first;         /* links of corner i: first[i] ... first[i + 1] - 1 */
  CornerLink* links;  /* (first[count]) */
  const Field* field; /* borrowed; FIELD_POINTS, or a hull's field with */
  Vec3* normals;      /* planes: unit normals, body frame (plane_count); NULL: points */
  double* offsets;    /* [m] */
  int plane_count;
  double tau;  /* smoothing of the planes [m] */
  bool fitted; /* a face has more than three corners and follows them as the best-fit plane */
} FieldCorners;
/* Corners of field_of_hull's field of this hull, with fixed tau. number[v]: corner index (below count) of vertex v, -1:
 * none. Borrows field, which must outlive it. */
FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* number, int count);
/* Corners of field_of_triangles' field of this surface, with fixed radius; number: corner index of each point, -1:
 * none. Borrows field. */
FieldCorners field_corners_of_triangles(const Field* field, const TriangleSurface* surface, const int* number,
                                        int count);
/* Derivatives of value (count) and outward (count) at a point by the parameters first, first + 1, ... of the corners:
 * corner i has 3 i (x), 3 i + 1, 3 i + 2 (Y12). As field_parameter_slopes. */
void field_corner_slopes(const FieldCorners* corners, Vec3 place, int first, int count, double* value, Vec3* outward);
/* Frees the arrays, not the field, and zeroes it; not NULL. */
void field_corners_free(FieldCorners* corners);

/* Triangles on the surface, body frame, for contacts and images. Shapes: hull by shape_mesh(level), level 0 to 3.
 * Unions and differences: the visible parts of their parts' surfaces, projected onto phi = 0. Points have none. Empty
 * if everything is hidden. Freed by surface_free. */
TriangleSurface field_surface(const Field* field, int level);

/* Closed surface of the solid phi <= 0 (shapes/field_solid.c), body frame [m], on a grid of `cells` cells along each
 * edge of its box (Y7; features thinner than a cell may be missed), as triangles, not convex; empty if no node is
 * inside. Freed by hull_free. */
void field_solid(const Field* field, int cells, ConvexHull* mesh);
/* Moments of the solid with unit density [m^3, m^4, m^5], body frame (Y8). Allocates temporarily. */
MassMoment field_mass(const Field* field);

#endif
