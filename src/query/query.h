/* query: distance, penetration, contact points, grasp quality and paths of pairs of bodies, with derivatives with
 * respect to poses and shapes (docs/derivations/growth.md, docs/queries.md). All positions are in the world frame [m];
 * a pose maps the body's own frame to the world. A function allocates only where its comment says so. "A reason" is a
 * static text that says why there is no result. */
#ifndef SDRS_QUERY_H
#define SDRS_QUERY_H

#include "shapes/shapes.h"

/* ---------------------------------------------------------------- derivatives
 * Columns: rotation of a about the world's x, y, z through the origin of its frame [1/rad], translation of a along the
 * world's x, y, z [1/m], the same of b, then the parameters of a's and of b's shape (shape_parameter_count). */
enum { QUERY_POSE_COLUMNS = 12 };

/* Largest condition number for which derivatives are given: about half of the digits are still significant. */
#define QUERY_CONDITION_MAX 1e8

/* ---------------------------------------------------------------- growth (query/growth.c)
 * Growth distance: the least factor alpha at which both bodies, scaled about their origins, touch:
 *     alpha = min over x of max(gamma_a(x), gamma_b(x))                                                          (G1)
 * alpha > 1: separated, 1: touching, < 1: overlapping. */
typedef struct {
  double alpha;
  double low, high;          /* proven bounds: low <= alpha <= high (G4) */
  Vec3 point;                /* the point where the scaled bodies touch */
  Vec3 normal;               /* unit, of the common tangent plane, from a to b */
  Vec3 witness_a, witness_b; /* the same point on the surfaces of the unscaled bodies */
  double gap;                /* |r| (1 - 1/alpha) = |witness_b - witness_a|, negative when they overlap [m] (G5) */
  double multiplier_a, multiplier_b; /* Lagrange multipliers of phi_a <= 0, phi_b <= 0; positive */
  bool proved;                       /* high - low <= GROWTH_PROOF alpha */
  bool coincident; /* the centres coincide: alpha is 0, the point is the centre, other members are undefined */
  bool bracketed;  /* found by the barrier method, after Newton's method failed */
  int iterations;
  ShapeValue at_a, at_b; /* phi_a, phi_b with gradients and Hessians at the solution, by lengths of growth_scale, in the
                            axes of a or, with of_b, of b */
  bool of_b;             /* used by growth_derivatives */
} Growth;

/* Largest relative width (high - low) / alpha of the bounds of a proved answer. */
#define GROWTH_PROOF 1e-9

/* Warm start of a pair, kept from one pose to the next. A zeroed struct is a cold start. */
typedef struct {
  bool warm;
  Vec3 p;   /* point on the smaller body, in its frame [m] */
  double u; /* |r| / alpha [m] */
} GrowthCache;

/* Returns the growth distance of two smooth shapes. cache is read and updated; NULL means a cold start. The cache
 * changes the result by rounding only. The member `proved` is false if the bounds are too wide. Never fails, does not
 * allocate. */
Growth growth_query(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, GrowthCache* cache);

enum {
  GROWTH_ALPHA,
  GROWTH_GAP,
  GROWTH_POINT,
  GROWTH_NORMAL = GROWTH_POINT + 3,
  GROWTH_WITNESS_A = GROWTH_NORMAL + 3,
  GROWTH_WITNESS_B = GROWTH_WITNESS_A + 3,
  GROWTH_MULTIPLIERS = GROWTH_WITNESS_B + 3,
  GROWTH_ROWS = GROWTH_MULTIPLIERS + 2,
};
/* Sets out[row * columns + column] to the derivatives of `answer`, which growth_query returned for these poses. The
 * rows are the GROWTH_ROWS above, the columns those at the top of this file. If `parameters` is false the columns of
 * the shapes' parameters are omitted. Sets *condition to the condition number of the system (G3), with lengths in units
 * of the bodies' size, or to HUGE_VAL if it was not computed. Returns NULL on success, else a reason and leaves out
 * unchanged. */
const char* growth_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                               bool parameters, double* out, double* condition);

/* Sets `alpha` and `gap` to the derivatives of alpha and of the gap with respect to both poses (G25). They exist
 * wherever the normal is unique, also for flat faces in contact, for which growth_derivatives returns a reason. answer:
 * of growth_query for these poses. Returns NULL on success, else a reason and leaves both arrays unchanged. */
const char* growth_slopes(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                          double alpha[QUERY_POSE_COLUMNS], double gap[QUERY_POSE_COLUMNS]);

/* ---- power-law contact force on the gap (query/growth_wrench.c; growth.md, G24): stiffness (-gap)^exponent along the
 * normal at the point, on both bodies; zero for gap >= 0. Each wrench: torque about the body's position [N m], then
 * force [N], world axes. stiffness [N/m^exponent] > 0, exponent >= 1. */
typedef struct {
  double force; /* N */
  double on_a[6], on_b[6];
} GrowthWrench;
/* Returns the force and its wrenches for an answer of growth_query for these poses. The centres of the bodies must not
 * coincide. Never fails. */
GrowthWrench growth_wrench(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent);
enum { WRENCH_FORCE, WRENCH_ON_A, WRENCH_ON_B = WRENCH_ON_A + 6, WRENCH_ROWS = WRENCH_ON_B + 6 };
/* Sets out (WRENCH_ROWS x columns, row-major) to the derivatives of growth_wrench. rows (GROWTH_ROWS x columns): output
 * of growth_derivatives. At gap = 0 with exponent 1 the force has a kink; its derivative is then zero, that of
 * separated bodies. Never fails. */
void growth_wrench_derivatives(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent,
                               const double* rows, int columns, double* out);

/* ---- gap for contact potentials (query/growth_gap.c; growth.md, G8-G10) Sets out to the gradient of the growth gap
 * with respect to both poses, [m/rad] and [1], in the pose columns above. answer: of growth_query for these poses; if
 * answer->coincident the gradient is undefined. */
void growth_gap_gradient(Pose pose_a, Pose pose_b, const Growth* answer, double out[QUERY_POSE_COLUMNS]);
enum {
  GAP_VALUE,
  GAP_GRADIENT,
  GAP_NORMAL = GAP_GRADIENT + QUERY_POSE_COLUMNS,
  GAP_WITNESS_A = GAP_NORMAL + 3,
  GAP_WITNESS_B = GAP_WITNESS_A + 3,
  GAP_ROWS = GAP_WITNESS_B + 3,
};
/* Sets out[row * columns + column] to the derivatives of the gap, of the gap's gradient, of the normal and of the
 * witness points: GAP_ROWS rows, columns as above. work (GROWTH_ROWS x columns): workspace. Returns NULL on success,
 * else a reason as growth_derivatives and leaves out unchanged. */
const char* growth_gap_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                                   bool parameters, double* work, double* out);

/* Gap between a shape and the half-space { x : normal . x <= offset }: the height of the shape's lowest point above the
 * plane. The half-space takes the place of body b. Its rows of the gradient are zero, and its columns rotate the
 * half-space about `origin`. */
typedef struct {
  double gap;
  Vec3 normal;          /* outward normal of the half-space */
  Vec3 point, arm;      /* the lowest point; vector from the shape's origin to it */
  ShapeSupport support; /* shape frame */
} HalfSpaceGap;
/* Returns the gap between a shape and a half-space; it is negative if the shape penetrates. normal: unit outward
 * normal, world; offset [m]. Never fails. */
HalfSpaceGap half_space_gap(const Shape* shape, Pose pose, Vec3 normal, double offset);
/* Sets out to the gradient of the gap with respect to the shape's pose, [m/rad] and [1]; columns 6 to 11 are 0. Never
 * fails. */
void half_space_gap_gradient(const HalfSpaceGap* gap, double out[QUERY_POSE_COLUMNS]);
/* Sets out (GAP_ROWS x columns, the shape's parameters last) to the derivatives listed at growth_gap_derivatives.
 * origin: origin of the half-space's frame, world [m]. Returns NULL on success. Returns a reason if the surface is flat
 * at the lowest point; out is then undefined. */
const char* half_space_gap_derivatives(const Shape* shape, Pose pose, Vec3 origin, const HalfSpaceGap* gap,
                                       bool parameters, double* out);

/* ---------------------------------------------------------------- distance of hulls (query/distance.c) */

typedef struct {
  double distance; /* m; for overlapping bodies minus the depth, the least translation that separates them */
  Vec3 witness_a, witness_b;
  Vec3 normal; /* unit, from a to b */
} Distance;

/* Returns the distance of two convex hulls at these poses. cache is read and updated; NULL means a cold start.
 * Allocates only if the hulls overlap and hull_depth fails. */
Distance distance_query(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);

enum {
  DISTANCE_VALUE,
  DISTANCE_NORMAL,
  DISTANCE_WITNESS_A = DISTANCE_NORMAL + 3,
  DISTANCE_WITNESS_B = DISTANCE_WITNESS_A + 3,
  DISTANCE_ROWS = DISTANCE_WITNESS_B + 3,
};
/* Sets out (DISTANCE_ROWS x QUERY_POSE_COLUMNS, row-major) to the derivatives of a distance with respect to both poses.
 * Returns NULL on success. Returns a reason, and leaves out unchanged, if the features are parallel, because their
 * nearest points are not unique. Does not allocate. */
const char* distance_derivatives(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                 double* out);

/* Sets out to the derivatives of the distance with respect to both poses wherever the normal is unique (H7,
 * query/distance_flat.c), including parallel features and face-to-face contact. For two faces in contact, a rotation
 * that tilts one face against the other has two one-sided derivatives: out receives their mean, and *kinked is set to
 * true. Returns NULL on success, else a reason and leaves out unchanged. Does not allocate. */
const char* distance_slope(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                           double out[QUERY_POSE_COLUMNS], bool* kinked);

/* Derivatives of a distance with respect to the vertices of one hull, in the hull's frame (H5). Only the vertices of
 * the nearest feature contribute. rows[r][3 i + axis] is the derivative of row r (DISTANCE_ROWS rows) with respect to
 * that coordinate of vertex[i]. A face of more than three vertices is treated as their best-fit plane, which is exact
 * for displacements that keep the face planar. */
enum { FEATURE_CORNERS = 128, VERTEX_COLUMNS = 3 * FEATURE_CORNERS };
typedef struct {
  int count, vertex[FEATURE_CORNERS];
  double rows[DISTANCE_ROWS][VERTEX_COLUMNS]; /* columns of `count` vertices */
  bool fitted;                                /* the feature has more corners than determine it */
  const char* reason;                         /* a reason why there are none, then count is 0; else NULL */
} VertexSlopes;
/* Sets out[0] and out[1] to the derivatives of the distance with respect to the vertices of a and of b. Returns NULL on
 * success, else a reason as distance_derivatives. out[k].reason is not NULL if hull k has no derivatives. Does not
 * allocate. */
const char* distance_vertex_slopes(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                   VertexSlopes out[2]);

/* ---------------------------------------------------------------- distance with smooth shapes
 * (query/distance_smooth.c)
 */

/* A convex body: a smooth shape, or, if shape is NULL, the convex hull of points. Both are borrowed from the caller. */
typedef struct {
  const Shape* shape;
  PointView points;
} ConvexBody;

typedef struct {
  Distance nearest;
  double low, high; /* proven bounds of the distance (H3) [m] */
  bool proved;      /* high - low <= CONVEX_DISTANCE_PROOF (size of a + size of b) */
} ConvexDistance;

/* Largest width of the bounds of a proved distance, relative to the sum of the bodies' sizes. */
#define CONVEX_DISTANCE_PROOF 1e-6

/* Returns the signed distance of two bodies, at least one of them smooth (H2-H4). Takes about 100 us for separated
 * bodies; there is no warm start. May allocate if the bodies overlap. The bounds `low` and `high` are valid also if
 * `proved` is false. Never fails. */
ConvexDistance convex_distance(const ConvexBody body[2], const Pose pose[2]);
/* Sets out (DISTANCE_ROWS x columns, row-major) to the derivatives of the distance. The columns and `parameters` are as
 * in growth_derivatives; a hull has no parameters. Sets *condition to the condition number of the system (H4), with
 * lengths in units of the bodies' size. Returns NULL on success. Returns a reason, and leaves out unchanged, if flat
 * features face each other, the nearest points were not found exactly, or the condition number exceeds
 * QUERY_CONDITION_MAX. */
const char* convex_distance_derivatives(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                        bool parameters, double* out, double* condition);

/* Sets out to the derivatives of the distance with respect to both poses, which exist if the nearest points were found
 * exactly (H7). answer: of convex_distance for these poses. Returns NULL on success, else a reason and leaves out
 * unchanged. Does not allocate. */
const char* convex_distance_slope(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                  double out[QUERY_POSE_COLUMNS]);

/* Sets out[0] and out[1] to the derivatives of the distance with respect to the vertices of a and of b. A smooth shape
 * has none. Returns NULL on success, else a reason as convex_distance_derivatives. Does not allocate. */
const char* convex_distance_vertex_slopes(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                          VertexSlopes out[2]);

/* ---------------------------------------------------------------- witness points, smoothed (query/witness*.c)
 * The nearest points of bodies jump where features change. The smoothed point of body a is a weighted mean of samples
 * x_i of its surface near its nearest point; the weights follow from scores u_i (V1):
 *     smooth_a = sum k_i x_i,   k = softmax(u / T),   T = standard deviation of u, or given
 * docs/derivations/witness.md */

/* A convex piece of a body, in the body's frame. */
typedef struct {
  ConvexHull hull;
  PointView points; /* vertices of the hull */
  Vec3 center;      /* centre of a bounding ball */
  double radius;
  int *neighbor_first,
      *neighbors; /* adjacency: neighbours of corner i are neighbors[neighbor_first[i] .. neighbor_first[i + 1] - 1] */
} WitnessPiece;

/* A body of one or more convex pieces that may overlap, with sample points of its surface: corners, and points
 * distributed over the faces by area. Owns everything; freed by witness_body_free, which accepts a zeroed struct. */
typedef struct WitnessBody {
  WitnessPiece* pieces;
  int piece_count;
  Vec3 *points, *normals; /* samples, body frame; none lies inside another piece */
  int (*origins)[2];      /* for each sample: its piece, and the piece's vertex v, or triangle t as -1 - t */
  int count, corners;     /* total number of samples; the first `corners` are corners */
  double diagonal;        /* diagonal of the body's bounding box [m] */
  double spacing; /* twice the radius of a disc that contains WITNESS_SAMPLES samples at their mean density [m] */
} WitnessBody;
/* Returns a body made from copies of hulls (count >= 1), body frame [m], with at most `samples` (>= 2 *
 * WITNESS_SAMPLES) surface samples. The caller frees it with witness_body_free. Never fails. */
WitnessBody witness_body_create(const ConvexHull* hulls, int count, int samples);
/* Frees everything and zeroes the body; accepts a zeroed one, not NULL. */
void witness_body_free(WitnessBody* body);

enum { WITNESS_SAMPLES = 16, WITNESS_SURFACE = 1024 };

/* Score of a sample. */
typedef enum {
  WITNESS_BY_DISTANCE,  /* u_i = -|x_i - other|^2, other: nearest point of the other body */
  WITNESS_BY_DIRECTION, /* u_i = x_i . y, y: from this body's nearest point to the other's, reversed if they overlap */
} WitnessScore;

typedef enum {
  WITNESS_FIXED,    /* samples within `reach` of the nearest point */
  WITNESS_ADAPTIVE, /* samples within three times the distance of the nearest point from its target, at least `reach` */
  WITNESS_NEIGHBOR, /* corners within five edges of the nearest feature */
} WitnessSampling;

/* Method for the Jacobians of the nearest points. */
typedef enum {
  WITNESS_SMOOTHED,    /* Jacobians of the smoothed points (V2, V3) */
  WITNESS_ANALYTIC,    /* from the nearest features; a point without derivative is fixed to its body */
  WITNESS_DIFFERENCES, /* central differences of the nearest points (V6) */
  WITNESS_ZEROTH,      /* means over random motions (V7) */
} WitnessEstimate;

typedef struct {
  WitnessScore score;
  WitnessSampling sampling;
  WitnessEstimate estimate;
  double reach;  /* m; 0: a quarter of the body's diagonal for WITNESS_FIXED, the body's spacing for WITNESS_ADAPTIVE */
  double margin; /* beta of (V4): target distance of the nearest points [m] */
  double temperature;  /* T of (V1) [m^2]; 0: standard deviation of the scores, per side */
  double perturbation; /* for WITNESS_DIFFERENCES and WITNESS_ZEROTH: rotation [rad]; translation: times WITNESS_MOVE */
  int turn;            /* seed of the choice of samples and of the random motions */
} WitnessOptions;
#define WITNESS_MOVE 0.057295779513082323 /* translation per rotation [m/rad]: 1 mm per degree */

/* Smoothed nearest point of one body, with the derivatives of the point `smooth`. "Fixed" quantities are treated as
 * constants in a derivative. */
typedef struct {
  Vec3 samples[WITNESS_SAMPLES];   /* body frame; the first is the nearest point */
  int origins[WITNESS_SAMPLES][2]; /* as in WitnessBody; undefined for the first */
  int count;
  double temperature;    /* T [m^2] */
  Vec3 smooth;           /* world */
  double by_own[3][6];   /* d smooth / d motion of this body, with fixed samples, T and reference (other point or
                            direction) (V2) */
  double by_other[3][3]; /* d smooth / d nearest point of the other body, or d smooth / d y for WITNESS_BY_DIRECTION
                            (V2) */
  Vec3 by_temperature;   /* d smooth / d T, with fixed samples and reference (V2) [1/m] */
  Mat3 by_sample[WITNESS_SAMPLES]; /* d smooth / d displacement of each sample, world (V2) */
} WitnessSide;

/* Warm start of a pair, kept from one pose to the next. A zeroed struct is a cold start. */
typedef struct {
  int piece[2];
  GjkCache gjk; /* cache of these two pieces */
} WitnessCache;

typedef struct {
  Distance nearest; /* distance of the nearest pair of pieces, or of the most overlapping one */
  int piece[2];     /* the nearest pair: piece of a, piece of b */
  WitnessSide side[2];
  double total[2][2][3][6]; /* Jacobians of the nearest points [point][moved body] by options->estimate */
  bool total_known;
} Witness;

/* Returns the nearest and the smoothed points of two bodies. targets[2]: target points of a and b in their body frames
 * [m], used by WITNESS_ADAPTIVE; with NULL the samples are chosen as for WITNESS_FIXED. cache is read and updated; NULL
 * means a cold start. Allocates only if bodies overlap and hull_depth fails. */
Witness witness_query(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                      const WitnessOptions* options, const Vec3* targets, WitnessCache* cache);
/* Derivative of the smoothed point [world] with respect to the position of one vertex of a piece [body frame],
 * dimensionless (V12). */
typedef struct {
  int piece, vertex;
  Mat3 slope;
} WitnessCornerSlope;
enum { WITNESS_CORNERS_MAX = FEATURE_CORNERS + 3 * WITNESS_SAMPLES };
/* Writes to out the derivatives of the smoothed point of one side (0: a, 1: b) with respect to the vertices of the
 * body. A vertex may occur twice; its derivative is the sum. Samples stay fixed within their triangles and the nearest
 * point within its feature; T and the reference are constant. answer: for this pose. out has room for
 * WITNESS_CORNERS_MAX entries. Returns the number of entries, or -1 if the nearest feature has too many corners. Does
 * not allocate. */
int witness_corner_slopes(const WitnessBody* body, Pose pose, const Witness* answer, int side, WitnessCornerSlope* out);
/* Returns the nearest points of two bodies. Sets piece[0] and piece[1] to the pieces of a and of b on which they lie.
 * cache is read and updated; NULL means a cold start. Allocates as witness_query. */
Distance witness_nearest(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b, WitnessCache* cache,
                         int piece[2]);

/* Loss of the nearest points (V4), with its gradients: it measures the distances of the points from their targets and
 * the difference of their distance from the margin. */
typedef struct {
  double value;          /* L [m^2] */
  double gradient[2][6]; /* with respect to the motions of a and of b, by the Jacobians of the answer; rotations
                            [m^2/rad], translations [m] */
  double transported[6]; /* gradient for b while a is fixed: b's own, plus a's converted to the opposite motion of b
                            (V5) */
} WitnessLoss;
/* Returns the loss for an answer of witness_query for these poses. targets[2]: target points of a and b in their body
 * frames [m]; margin [m]. Never fails. */
WitnessLoss witness_loss(const Witness* answer, Pose pose_a, Pose pose_b, const Vec3* targets, double margin);

/* Settings of a gradient descent that moves the bodies to reduce the loss. The steps have a given length: `step` in the
 * first tenth of the iterations, `last` in the last tenth, their geometric mean between. */
typedef struct {
  WitnessOptions query;
  int iterations; /* >= 0 */
  double step;    /* rotation [deg] and translation [mm] */
  double last;    /* the same; 0: a hundredth of step */
  bool both;      /* move a too; else b alone */
  bool transport; /* with both == false: apply a's step to b in the opposite direction (V5) */
} WitnessDescent;
/* Moves the poses by gradient descent of witness_loss. Returns the final loss [m^2]. targets (2): as for witness_loss.
 * Allocates temporarily. Never fails. */
double witness_descend(const WitnessBody* a, Pose* pose_a, const WitnessBody* b, Pose* pose_b, const Vec3* targets,
                       const WitnessDescent* options);

/* Returns a lower bound [m^2] of the loss for targets (2), without margin, over all poses whose nearest points are
 * unique (V11; query/witness_reach.c). In these poses one of the points is a corner, or both lie on edges. Two interior
 * points of faces are nearest only if the faces are parallel, and are not unique then. Never fails. */
double witness_reach_bound(const WitnessBody* a, const WitnessBody* b, const Vec3* targets);

/* Returns a random surface point, body frame [m]: a corner, or a point distributed over the faces by area. Retries up
 * to a limit to avoid points inside another piece. Never fails. */
Vec3 witness_random_point(const WitnessBody* body, Random* random);
/* Sets targets to two random points, each in the frame of its body [m], that can be brought into contact
 * (query/witness_draw.c). They are a corner and a point of a face, the reverse, or two corners, with probability 1/3
 * each. Draws again, up to a limit, until the pair is good: with the bodies placed so that the targets coincide with
 * opposite normals, the distances of the two targets from the nearest points sum to less than 1 cm. Allocates
 * temporarily. Never fails. */
void witness_random_pair(const WitnessBody* a, const WitnessBody* b, Random* random, Vec3 targets[2]);

/* ---------------------------------------------------------------- grasp quality (query/grasp.c)
 * docs/derivations/grasp.md */
enum { GRASP_WRENCH = 6, GRASP_EDGES = 8, GRASP_PLANE = 48 };
typedef struct {
  Vec3 arm;    /* from the body's centre to the contact, world [m] */
  Vec3 normal; /* unit, into the body */
} GraspContact;
typedef struct {
  double friction; /* > 0 */
  double length;   /* torques are divided by it [m] */
} GraspSettings;
typedef struct {
  bool known;     /* false: no hull of the wrenches; epsilon is 0 */
  double epsilon; /* radius of the largest ball of wrenches about the origin that contact forces with normal components
                     of at most 1 can resist (V9); negative: the origin lies outside the hull, -epsilon is its largest
                     distance beyond a facet's plane */
  double normal[GRASP_WRENCH];    /* normal of the nearest facet */
  int count, wrench[GRASP_PLANE]; /* number and indices of the wrenches in its plane */
  double weight[GRASP_PLANE];     /* weights of the vertices (V10) */
} GraspQuality;
/* Sets out to the wrenches of unit normal force along the GRASP_EDGES edges of the friction cone of each contact (V8).
 * out has count * GRASP_EDGES rows of force and torque, both dimensionless: torques are divided by settings->length.
 * Returns the number of rows. Does not allocate. */
int grasp_wrenches(const GraspContact* contacts, int count, const GraspSettings* settings, double (*out)[GRASP_WRENCH]);
/* Returns the grasp quality of contacts (count). Its member `known` is false if there are too few contacts or Qhull
 * finds no hull. Allocates temporarily. */
GraspQuality grasp_quality(const GraspContact* contacts, int count, const GraspSettings* settings);
/* Returns the derivative of epsilon when the arm and the normal of contact number `contact` change by the vectors `arm`
 * and `normal` (V10); 0 if the quality is not known. contacts: those of the quality; contact: index into them, not
 * checked. Does not allocate. */
double grasp_quality_slope(const GraspQuality* quality, const GraspContact* contacts, const GraspSettings* settings,
                           int contact, Vec3 arm, Vec3 normal);

/* ---------------------------------------------------------------- paths (query/path.c, path_search.c, path_smooth.c)
 * Path of a body of fixed orientation among obstacles, with alpha >= 1 + clearance all along it.
 * docs/derivations/growth.md */
typedef struct {
  const Shape* body;
  Mat3 turn;              /* the body's orientation */
  const Shape* obstacles; /* (count) */
  const Pose* poses;
  int count;
  Vec3 from, to;     /* m */
  Vec3 low, high;    /* the workspace of the body's origin [m] */
  double clearance;  /* epsilon > 0 of alpha >= 1 + epsilon */
  double smoothness; /* weight of the integrated squared curvature against the length [m^2] */
  int points;        /* number of points of the path, >= 3 */
  uint64_t seed;
} PathProblem;

typedef enum { PATH_FOUND, PATH_BLOCKED_END, PATH_NONE } PathOutcome;

typedef struct {
  PathOutcome outcome;
  bool smoothed; /* false: no smoothed path could be proven free; the points lie on the polyline of the search */
  Vec3* points;  /* (count); owned by the caller */
  int count;     /* PathProblem.points, more where the polyline has more corners */
  double length, start_length; /* length of the path; length of the polyline that the search found [m] */
  double least;                /* least alpha at the points and midpoints */
  int queries;                 /* number of growth queries */
} PlannedPath;
/* Plans a path. PATH_FOUND: alpha >= 1 + clearance is proven on every segment (G17). PATH_BLOCKED_END: an end of the
 * path is not free. PATH_NONE: the search found no path. points is NULL unless PATH_FOUND. The caller frees the points
 * with path_free. Allocates. */
PlannedPath path_plan(const PathProblem* problem);
/* Frees the points and zeroes the path. NULL is not accepted. */
void path_free(PlannedPath* path);

/* ---------------------------------------------------------------- contact manifolds (query/manifold.c)
 * Many contact points of two bodies of any shape, with derivatives by their poses. docs/derivations/manifold.md */

/* A body: a signed field, with points and edges on its surface. Owns points and edges, not the field; freed by
 * manifold_body_free, which accepts a zeroed one. */
typedef struct {
  const Field* field;
  Vec3* points; /* body frame [m] */
  int point_count;
  int (*edges)[2]; /* edges between non-coplanar triangles, oriented along the positive direction of their largest
                      component */
  int edge_count;
  double outer;    /* radius about the origin that contains all points [m] */
  const int* only; /* borrowed: indices of the points that may be in contact (only_count); NULL: all */
  int only_count;
  const Vec3*
      point_slopes; /* borrowed: derivative of point i by parameter k of the field, [k * point_count + i]; or NULL */
  const FieldCorners*
      corners; /* borrowed: if not NULL the body's parameters are these corners, three each, instead of the field's */
  const int* point_corner; /* borrowed, with corners: corner index of each point, or -1 */
  double field_width; /* smoothing l / beta of a field of planes, as a multiple of ManifoldOptions.smoothing; 0: the
                         field does not depend on that smoothing */
} ManifoldBody;
/* Returns the number of parameters of a body: three for each corner if it has corners, else those of its field. */
static inline int manifold_parameter_count(const ManifoldBody* body) {
  return body->corners ? 3 * body->corners->count : field_parameter_count(body->field);
}
/* Returns a body made from a surface. Takes ownership of the surface's points and leaves the surface empty. Borrows the
 * field, which must outlive the body. The caller frees the body with manifold_body_free. Never fails. */
ManifoldBody manifold_body_create(const Field* field, TriangleSurface* surface);
/* Does the same for the surface of a convex polyhedron, whose field is from field_of_faces (shapes/field_faces.h).
 * Triangles of one face have no edge between them. The smoothing of the field is field_width times that of the options.
 */
ManifoldBody manifold_body_of_faces(const Field* field, TriangleSurface* surface, double field_width);
/* Frees points and edges, not the field, and zeroes the body. Accepts a zeroed body, not NULL. */
void manifold_body_free(ManifoldBody* body);

typedef struct {
  double smoothing; /* m, > 0: length scale of penetration, of nearness of edges and of the choice of points */
  double softness;  /* > 0, dimensionless: width of the smooth limits on positions along edges, signs and angles between
                       normals */
  double regularization; /* >= 0, dimensionless: regularization of an edge's witness point towards its middle */
  int points, edges;     /* number of deepest points and edges of each body, chosen softly (X1); 0: all */
  bool values;           /* compute no derivatives */
  bool mutual;           /* two edges touch only if the witness point of each lies in the other body (X6b) */
  bool cull;             /* do not evaluate the fields for edge pairs of negligible weight `activity` (X13) */
} ManifoldOptions;

/* Variables of the derivatives of manifold_query_by. */
typedef enum {
  MANIFOLD_BY_MOTION, /* motion of both bodies, as manifold_query */
  MANIFOLD_BY_SHAPE_A,
  MANIFOLD_BY_SHAPE_B,
  MANIFOLD_BY_SMOOTHING,
} ManifoldCause;

/* Default number of edges per body: those of a box. */
enum { MANIFOLD_EDGES = 12 };

typedef enum { CONTACT_POINT_A, CONTACT_POINT_B, CONTACT_EDGE_A, CONTACT_EDGE_B } ContactKind;

enum {
  MANIFOLD_POINT,
  MANIFOLD_DISTANCE = MANIFOLD_POINT + 3,
  MANIFOLD_NORMAL,
  MANIFOLD_ACTIVITY = MANIFOLD_NORMAL + 3,
  MANIFOLD_ROWS,
};

typedef struct {
  ContactKind kind;                /* whether the contact lies on a point or on an edge, and of which body */
  Vec3 point;                      /* m */
  double distance;                 /* m, negative in penetration */
  Vec3 normal;                     /* at most unit, from a to b (X6) */
  double activity;                 /* smooth weight of the contact, 0 to 1; 1 for contacts on points */
  double slope[MANIFOLD_ROWS][12]; /* derivatives; the pose columns at the top of this file */
} ManifoldContact;

/* Returns the number of contacts that manifold_query writes, for any pose: one per point, two per pair of edges. It may
 * exceed INT_MAX. Never fails. */
int64_t manifold_count(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options);
/* Returns the size of the workspace of a query [bytes], alignment included. Never fails. */
size_t manifold_room(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options);
/* Sets out to the contacts of two bodies, manifold_count entries: points of a, points of b, then two per pair of edges,
 * one on the edge of a and one on the edge of b. room: workspace of manifold_room bytes, 64-byte aligned; if NULL it is
 * allocated temporarily. Returns the number of points and edges that were not chosen although they are as deep as a
 * chosen one; among equally deep ones those farthest apart were chosen. Never fails. */
int manifold_query(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                   const ManifoldOptions* options, ManifoldContact* out, void* room);

/* Weighted mean of the distance over all contacts (X14). */
typedef struct {
  double distance;  /* sum of activity * distance divided by the sum of activities [m] (X14) */
  double activity;  /* sum of the activities (points count 1); distance is NaN if it is 0, as for a pair without points
                       and edges */
  double slope[12]; /* derivatives of distance; columns as in ManifoldContact.slope */
} ManifoldMean;
/* Sets *out to the mean distance of the contacts of manifold_query, without storing the contacts. options->cull changes
 * the result by rounding only. Other arguments and the result are as for manifold_query. Never fails. */
int manifold_mean(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                  const ManifoldOptions* options, ManifoldMean* out, void* room);
/* Does the same as manifold_query, but the derivatives are with respect to shape parameters instead of poses (X8).
 * cause selects the parameters of body a or of body b, or the smoothing. The first six columns are the parameters first
 * .. first + 5 of the body, zero beyond its last; for the smoothing only the first column is used. first <
 * manifold_parameter_count (not checked). */
void manifold_query_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                       const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldContact* out,
                       void* room);
/* Does the same as manifold_mean, with the derivatives of manifold_query_by in the first six entries of out->slope. */
void manifold_mean_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                      const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldMean* out, void* room);
/* Returns the derivatives of the body's points with respect to the parameters of its field, [k * point_count + i] [m
 * per unit], for the member point_slopes. The points move along rays from the centre for FIELD_SHAPE (X15), along the
 * gradient of the field for other kinds (X16). The caller frees the array with memory_free. */
Vec3* manifold_surface_slopes(const ManifoldBody* body);

#endif
