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

/* Definition of a shape by its user. Borrowed by shape_create. */
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
  double beta, exponent, size[4]; /* exponent of a superquadric: 1 / least of its two */
  double exponents[2];
  double over[3];                /* superellipsoid, cylinder: 1 / size */
  int whole;                     /* the exponent when it is a whole number, else 0 */
  int face_count, padded;        /* padded: multiple of 4, the rest as far away as can be */
  double *nx, *ny, *nz, *offset; /* polytope: unit normals and offsets, both divided by `length` (padded) */
  double* face_norm;             /* |n_i| as given */
  double* face_given;            /* (face_count x 4) */
  double length;                 /* l of (B1) [m] */
  int length_face;               /* the face that l is the offset of; -1: of none */
  double inner, outer; /* m: the ball of radius inner lies inside, the body inside that of radius outer (B5) */
} Shape;

/* Names of kinds as in files: "smooth_polytope", "truncated_cone", "superellipsoid", "superelliptic_cylinder",
 * "superquadric". Static. Never NULL, not to be freed; undefined for what is no SmoothKind. */
const char* shape_kind_name(SmoothKind kind);
/* A shape that can be queried: convex, with the origin inside. Otherwise NULL is in *shape's arrays and the rule that
 * is broken is in the returned text (static); NULL: it stands. Allocates. The form is copied; shape_free may be called
 * in any case. */
const char* shape_create(Shape* shape, const SmoothForm* form);
/* Frees the arrays and leaves a zeroed shape; accepts a zeroed one. NULL is not accepted. */
void shape_free(Shape* shape);

/* phi and its derivatives at one place; the Hessian is symmetric. */
typedef struct {
  double value;
  Vec3 gradient; /* 1/m */
  Mat3 hessian;  /* 1/m^2 */
} ShapeValue;
/* At a place z of the shape's own frame [m], inside or outside. At the centre of a superellipsoid or cylinder, where
 * phi has a tip, gradient and Hessian are zero. No allocation. By value; of a place that is not finite NaN, no
 * error. */
ShapeValue shape_evaluate(const Shape* shape, Vec3 z);

/* Is phi convex, so that a point with phi = e > 0 lies within (1 + steepness e) times the body, and phi above each of
 * its tangents? All but cones; steepness = -1 / phi(centre). Constant for a kind; nothing is allocated. */
static inline bool shape_is_level(const Shape* shape) { return shape->kind != SMOOTH_CONE; }
static inline double shape_steepness(const Shape* shape) {
  return shape->kind == SMOOTH_POLYTOPE ? shape->length / shape->inner : 1;
}

/* The gauge gamma(y) = min { t > 0 : y/t inside } (B4), its gradient and Hessian at y [m]; y not zero. It has no unit
 * and is convex and homogeneous: gamma = y . gradient, gradient(y) the normal of the surface at y / gamma. */
typedef struct {
  double value;
  Vec3 gradient;
  Mat3 hessian;
} Gauge;
/* At y [m], shape's frame. No allocation. y must not be 0, which nobody
 * checks: there the gauge has a tip. */
Gauge shape_gauge(const Shape* shape, Vec3 y);
/* Its value alone, the same bits. */
double shape_gauge_value(const Shape* shape, Vec3 y);

/* How far the body reaches from its centre along a unit direction [m], before edges are rounded off: not less than it
 * does. Quick; for a start. Shape's frame. A direction of another length is an error of the caller, not checked.
 * Allocates nothing. */
double shape_reach(const Shape* shape, Vec3 direction);

/* A shape's own parameters, in this order. polytope: beta, then nx, ny, nz, offset of every face as given; cone: beta,
 * bottom_radius, top_radius, below, above; superellipsoid: exponent, a, b, c; cylinder: exponent, radius, half length
 * Bounds every k below: 0 <= k < count. The length of `out` in shape_mass_slopes. Never fails. */
int shape_parameter_count(const Shape* shape);
/* Stays parameter k, an exponent that has an end of its range, inside it by `way` to both sides? true for every other
 * parameter. Another k is undefined, not checked. Allocates nothing. */
bool shape_parameter_moves(const Shape* shape, int k, double way);
/* Derivatives of phi and of its gradient at z by parameter k. z [m], shape's frame; *value, *gradient [1/m]: per unit
 * of the parameter. No allocation. Another k is undefined, not checked. */
void shape_parameter_slope(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient);

/* The hull of points on the surface, 10 * 4^level + 2 of them (level 0 to 3): for pictures. Freed by hull_free. In the
 * shape's frame [m]. When not HULL_OK there is nothing to free. HULL_FAILED as of hull_create; another level is an
 * error of the caller. */
HullResult shape_mesh(const Shape* shape, int level, ConvexHull* mesh);
/* Where parameter k stands in what a shape is made of, in the same order; const to those that only look. Borrowed from
 * the form or its faces. Another k is undefined, not checked; not to be freed. */
double* shape_form_number(const SmoothForm* form, int k);
/* How many numbers those are: shape_parameter_count of the shape made of it. Never fails; nothing is allocated. */
int shape_form_count(const SmoothForm* form);

/* Half of how far the body reaches along x, y and z of its frame, both ways taken together [m]. By value. Never
 * fails. */
Vec3 shape_extents(const Shape* shape);
/* Its derivative by parameter k [m per unit of it]. Another k is undefined, not checked. By value. */
Vec3 shape_extents_slope(const Shape* shape, int k);
/* Point of the surface, shape's frame [m], along a direction s, which is first stretched like the extents (B8). s: of
 * any length but zero. Of zero NaN, no error is reported. By value. */
Vec3 shape_surface_point(const Shape* shape, Vec3 s);
/* The same of many, points[count]: directions in, points of the surface out. */
void shape_surface_points(const Shape* shape, Vec3* points, int count);
/* Its derivative by parameter k, s held. [m per unit of it] Another k is undefined, not checked. By value. */
Vec3 shape_surface_slope(const Shape* shape, Vec3 s, int k);
/* The point that is farthest along a direction, of any length but zero, with its gradient there (B9). */
typedef struct {
  double reach; /* direction . point [m |direction|] */
  Vec3 point;
  ShapeValue at; /* phi there */
} ShapeSupport;
/* direction: shape's frame. No allocation. Of a direction of zero the point is undefined, not checked. By value. */
ShapeSupport shape_support(const Shape* shape, Vec3 direction);
/* Change of its point when the direction changes by `turn` (NULL: not at all) and parameter k by 1 (k < 0: not at all).
 * false: the surface is flat there, and the point is not unique. Then *change is of no use. support: shape_support's of
 * this direction; shape's frame, change [m]. No allocation. */
bool shape_support_slope(const Shape* shape, const ShapeSupport* support, Vec3 direction, const Vec3* turn, int k,
                         Vec3* change);

/* Derivatives of shape_mass by all parameters, to out[shape_parameter_count]. Allocates for the time of the call.
 * Never fails. */
void shape_mass_slopes(const Shape* shape, MassMoment* out);
/* Moments of the solid of unit density [m^3, m^4, m^5] by quadrature over directions (B6). In the shape's frame, about
 * its origin. Never fails. Allocates nothing. */
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

/* Owns its shape, arrays and parts; freed by field_free, which accepts a zeroed one. */
typedef struct Field {
  FieldKind kind;
  Pose pose;              /* of its own frame in that of its whole (for the whole itself: of the body) */
  Shape shape;            /* FIELD_SHAPE */
  Vec3 *points, *normals; /* FIELD_POINTS, unit normals (count) */
  int count;              /* of points */
  double radius;          /* FIELD_POINTS [m], > 0 */
  double smoothing;       /* union, subtraction: tau [m], > 0 */
  struct Field* parts;    /* union: one or more; subtraction: two, the second is taken away (part_count) */
  int part_count;
} Field;

typedef struct {
  double value;  /* phi [m] */
  Vec3 gradient; /* of phi */
  Vec3 outward;  /* a normal of about unit length that points outward everywhere, also where phi is no distance (Y6) */
  Mat3 turn;     /* derivative of outward by place [1/m] */
} FieldValue;

/* The field of a convex polyhedron: its planes, joined by (Y2) with l / beta = smoothing [m] > 0. Copies what it
 * needs of the hull; its own frame is about the centre of mass. NULL: it stands; else the rule that is broken (static),
 * and nothing is to be freed. */
const char* field_of_hull(Field* field, const ConvexHull* hull, double smoothing);
/* The rule that points with normals break, as far as it shows (static); NULL: none. Broken where the field (Y3) is
 * negative far away in each of 26 directions: they are inside out. Of a surface that is open it is so in some
 * directions only. points, normals: count > 0, normals of any length but zero; radius [m] > 0. Allocates nothing. */
const char* field_points_rule(const Vec3* points, const Vec3* normals, int count, double radius);
/* At a place of the body's frame [m]. At the centre of a convex shape, where no direction is outward, gradient and
 * normal are zero. No allocation. By value; never fails. */
FieldValue field_evaluate(const Field* field, Vec3 place);
/* Requested members of a FieldValue: value and outward; also gradient; also turn. Others are undefined. */
typedef enum { FIELD_VALUES, FIELD_GRADIENTS, FIELD_TURNS } FieldAnswer;
/* The same at many places, to 1e-13 of the body's size: superquadrics and unions of them sixteen at a time
 * (shapes/field_many.c). places, out: (count). What a place gets depends neither on the others nor on what else is
 * wanted of it. No allocation. Never fails. */
void field_evaluate_many(const Field* field, const Vec3* places, int count, FieldAnswer wanted, FieldValue* out);
/* A field's own parameters, in this order. A shape: its own; points: radius, then x, y, z of each point and of its
 * normal, which stays unit; union and subtraction: smoothing, then of each part its turns about the axes of the whole
 * through the origin of its frame [rad], its moves [m], its own parameters. How many; never fails, allocates nothing.
 */
enum { PART_MOTIONS = 6 };
int field_parameter_count(const Field* field);
/* Change of value and outward (count) at a place by parameters first, first + 1, ..., so many (Y10, Y11). place and
 * outward in the body's frame [m, no unit]; slopes per unit of the parameter. What they share is found once: of points
 * the means over all of them, of unions the whole. Others are undefined, not checked. Allocates nothing. */
void field_parameter_slopes(const Field* field, Vec3 place, int first, int count, double* value, Vec3* outward);
/* Frees its shape, arrays and parts, and leaves a zeroed field. NULL is not accepted; a zeroed one is. */
void field_free(Field* field);

/* ---- fields of polyhedra by their corners (shapes/field_corners.c)
 * Points with normals on a surface of triangles, body frame [m]: the middle of each triangle with its own normal, and
 * each corner with the sum of its triangles' (weighted by area). radius 0: the mean edge. Allocates; field_free.
 * Triangles without area are left out. Never fails; surface is only read. */
void field_of_triangles(Field* field, const TriangleSurface* surface, double radius);

/* Effect on one plane or point of the field of a corner that moves by e (Y12): a plane n . x = o, which passes
 * through the place x higher by (weight + along . x) (n . e) and turns by -along (n . e); a point that moves by share e
 * and whose normal changes by turned e. */
typedef struct {
  int of;
  double weight, share;
  Vec3 along;
  Mat3 turned;
} CornerLink;

/* How a field follows corners of a polyhedron, whose order is the caller's. Owns its arrays; freed by
 * field_corners_free, which accepts a zeroed one. */
typedef struct {
  int count;          /* of corners */
  int* first;         /* corner i has the links first[i] ... first[i + 1] - 1 */
  CornerLink* links;  /* (first[count]) */
  const Field* field; /* borrowed; FIELD_POINTS, or: */
  Vec3* normals;      /* planes, body frame (plane_count), unit; NULL: points */
  double* offsets;    /* [m] */
  int plane_count;
  double tau;  /* what they are joined with [m] */
  bool fitted; /* a face has more than three corners: it follows them as the plane of best fit */
} FieldCorners;
/* For field_of_hull's field of this hull; number[v]: which of the `count` corners vertex v is, -1: none of them; tau is
 * held. field must outlive it; number, hull: only read. Never fails. */
FieldCorners field_corners_of_hull(const Field* field, const ConvexHull* hull, const int* number, int count);
/* For field_of_triangles' field of this surface; number: of its points, likewise; the radius is held. */
FieldCorners field_corners_of_triangles(const Field* field, const TriangleSurface* surface, const int* number,
                                        int count);
/* Change of value and outward at a place by parameters first, first + 1, ..., so many, of which corner i has 3 i (x),
 * 3 i + 1, 3 i + 2 (Y12); as field_parameter_slopes. */
void field_corner_slopes(const FieldCorners* corners, Vec3 place, int first, int count, double* value, Vec3* outward);
/* Frees its arrays, not the field, and leaves a zeroed one. NULL is not accepted. */
void field_corners_free(FieldCorners* corners);

/* Triangles on the surface for contacts and pictures, body frame: of shapes their hull by shape_mesh(level), of unions
 * and differences what of their parts' surfaces is not hidden by the others, drawn onto phi = 0. Points alone have no
 * triangles. Freed by surface_free. level: 0 to 3. Never fails: empty where all is hidden. */
TriangleSurface field_surface(const Field* field, int level);

/* The solid phi <= 0 (shapes/field_solid.c), body frame [m]: its closed surface, cut out of `cells` cells along each
 * edge of a box around it (Y7; what is thinner than a cell may be missed), as triangles that need not be convex, freed
 * by hull_free; empty where no node of the grid is inside. Allocates. Never fails. */
void field_solid(const Field* field, int cells, ConvexHull* mesh);
/* Its moments for unit density [m^3, m^4, m^5], body frame (Y8). Allocates for the time of the call. Never fails. */
MassMoment field_mass(const Field* field);

#endif
