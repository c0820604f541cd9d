/* query: where two bodies meet, and how the answer moves with them. docs/derivations/growth.md, docs/queries.md
 * World frame; a pose maps a body's own frame to it. Nothing here allocates but where it says so. */
#ifndef SDRS_QUERY_H
#define SDRS_QUERY_H

#include "shapes/shapes.h"

/* ---------------------------------------------------------------- derivatives
 * Columns: a turns about the world's x, y, z through the origin of its frame [1/rad], a moves along the world's x, y, z
 * [1/m], the same of b, then a's own parameters and b's (shape_parameter_count). */
enum { QUERY_POSE_COLUMNS = 12 };

/* Above this condition of the system no derivative is given: of its digits fewer than half would count. */
#define QUERY_CONDITION_MAX 1e8

/* ---------------------------------------------------------------- growth (query/growth.c)
 * The least factor alpha by which both bodies, scaled about their origins, touch:
 *     alpha = min over x of max(gamma_a(x), gamma_b(x))                                                          (G1)
 * alpha > 1: apart, 1: touching, < 1: overlapping. */
typedef struct {
  double alpha;
  double low, high;          /* bounds that hold for certain: low <= alpha <= high (G4) */
  Vec3 point;                /* where the scaled bodies touch */
  Vec3 normal;               /* unit, of the common tangent plane, from a to b */
  Vec3 witness_a, witness_b; /* the same point on the surfaces of the bodies as they are */
  double gap;                /* |r| (1 - 1/alpha) = |witness_b - witness_a|, negative when they overlap [m] (G5) */
  double multiplier_a, multiplier_b; /* of phi_a, phi_b <= 0, positive */
  bool proved;                       /* high - low <= GROWTH_PROOF alpha */
  bool coincident; /* the centres coincide: alpha is 0, the point is the centre, other members are undefined */
  bool bracketed;  /* found by the method that cannot fail, where Newton's did not end */
  int iterations;
  ShapeValue at_a, at_b; /* gradients and Hessians of phi there, by lengths of growth_scale, in the axes of a, or: */
  bool of_b;             /* of b; for growth_derivatives */
} Growth;

/* Relative width of the bounds of a proved answer. */
#define GROWTH_PROOF 1e-9

/* State of a pair that is kept from one pose to the next. Zeroed = cold. */
typedef struct {
  bool warm;
  Vec3 p;   /* point on the smaller body, in its frame [m] */
  double u; /* |r| / alpha [m] */
} GrowthCache;

/* World frame [m]; no allocation, never fails: what is not certain is not `proved`. cache may be NULL, else it is read
 * and updated; the answer is the same to rounding whatever is in it. */
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
/* Derivatives of an answer: rows as above, columns as at the top; out[row * columns + column]. parameters: false leaves
 * out the shapes' own, then there are QUERY_POSE_COLUMNS. NULL is returned when they exist; else why not (static text),
 * and out is untouched. *condition: of the system (G3), in units of the bodies' size. out: GROWTH_ROWS x columns
 * numbers; *condition is HUGE_VAL where it was not found. answer: growth_query's of these poses. */
const char* growth_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                               bool parameters, double* out, double* condition);

/* Derivatives of alpha and of the gap alone, columns of the poses (G25). They exist wherever the normal is unique, also
 * flat on flat, where growth_derivatives has none. NULL; else why not (static), and both are untouched. answer:
 * growth_query's of these poses. Allocates nothing. */
const char* growth_slopes(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                          double alpha[QUERY_POSE_COLUMNS], double gap[QUERY_POSE_COLUMNS]);

/* ---- the published contact force on the gap (query/growth_wrench.c; growth.md, G24): stiffness (-gap)^exponent along
 * the normal at the point, on both bodies; zero where they are apart. World axes, a torque about the body's position
 * [N m], then the force [N]. stiffness [N/m^exponent] > 0, exponent >= 1. */
typedef struct {
  double force; /* N */
  double on_a[6], on_b[6];
} GrowthWrench;
/* answer: growth_query's of these poses, with centres that do not coincide. By value. Never fails. */
GrowthWrench growth_wrench(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent);
enum { WRENCH_FORCE, WRENCH_ON_A, WRENCH_ON_B = WRENCH_ON_A + 6, WRENCH_ROWS = WRENCH_ON_B + 6 };
/* Its derivatives: out, WRENCH_ROWS x columns numbers, from the rows of growth_derivatives (GROWTH_ROWS x columns),
 * row-major. Touching, the force of exponent 1 has a kink: that of bodies apart, zero. No allocation; never fails. */
void growth_wrench_derivatives(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent,
                               const double* rows, int columns, double* out);

/* ---- the gap as a potential sees it (query/growth_gap.c; growth.md, G8-G10)
 * Its gradient by small motions of both bodies, [m/rad] and [1]: columns as above, without parameters. answer as above.
 * An answer that was not found has none: undefined. Allocates nothing. */
void growth_gap_gradient(Pose pose_a, Pose pose_b, const Growth* answer, double out[QUERY_POSE_COLUMNS]);
enum {
  GAP_VALUE,
  GAP_GRADIENT,
  GAP_NORMAL = GAP_GRADIENT + QUERY_POSE_COLUMNS,
  GAP_WITNESS_A = GAP_NORMAL + 3,
  GAP_WITNESS_B = GAP_WITNESS_A + 3,
  GAP_ROWS = GAP_WITNESS_B + 3,
};
/* Derivatives of the gap, of each component of its gradient, of normal and witness points, columns as above:
 * out[row * columns + column]. work: as large as the output of growth_derivatives. NULL, or why there are none. out:
 * GAP_ROWS x columns numbers. No allocation. */
const char* growth_gap_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                                   bool parameters, double* work, double* out);

/* The same of a shape over a half-space { x : normal . x <= offset }, world axes: the height of its lowest point. The
 * half-space is b; its own rows of the gradient are zero, its columns turn it about `origin`. */
typedef struct {
  double gap;
  Vec3 normal;          /* of the half-space, outward */
  Vec3 point, arm;      /* the lowest point, and from the shape's origin to it */
  ShapeSupport support; /* shape frame */
} HalfSpaceGap;
/* The gap [m], negative where the shape reaches below. normal: unit, world; offset [m]. Never fails, no allocation. */
HalfSpaceGap half_space_gap(const Shape* shape, Pose pose, Vec3 normal, double offset);
/* Its gradient, [m/rad] and [1]. All of out is set, the parameters' part with 0. Never fails, allocates nothing. */
void half_space_gap_gradient(const HalfSpaceGap* gap, double out[QUERY_POSE_COLUMNS]);
/* As growth_gap_derivatives: out is GAP_ROWS x columns, and parameters (the shape's own) come last. origin: of the
 * half-space's frame, world. NULL, or why there are none (static): the surface is flat there. */
const char* half_space_gap_derivatives(const Shape* shape, Pose pose, Vec3 origin, const HalfSpaceGap* gap,
                                       bool parameters, double* out);

/* ---------------------------------------------------------------- distance of hulls (query/distance.c) */

typedef struct {
  double distance; /* m; minus the depth when they overlap: the least translation that parts them */
  Vec3 witness_a, witness_b;
  Vec3 normal; /* unit, from a to b */
} Distance;

/* World frame [m]. cache may be NULL, else it is read and updated. Allocates only where the hulls overlap in a way that
 * hull_depth does not know. */
Distance distance_query(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);

enum {
  DISTANCE_VALUE,
  DISTANCE_NORMAL,
  DISTANCE_WITNESS_A = DISTANCE_NORMAL + 3,
  DISTANCE_WITNESS_B = DISTANCE_WITNESS_A + 3,
  DISTANCE_ROWS = DISTANCE_WITNESS_B + 3,
};
/* Rows as above, QUERY_POSE_COLUMNS columns. NULL, or why there are none (static): features that are parallel, so that
 * the nearest points are not unique. out: DISTANCE_ROWS x QUERY_POSE_COLUMNS numbers, row-major. Nothing is
 * allocated; out is as it was where there are none. */
const char* distance_derivatives(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                 double* out);

/* Derivatives of the distance alone, columns of the poses, wherever the normal is unique (H7, query/distance_flat.c):
 * also where features are parallel, or the hulls touch face to face. There the distance has a kink by turns that tilt
 * one face against the other: its slopes by one turn and by the opposite one differ, their mean is given, and *kinked
 * is true. NULL; else why not (static), and out is untouched. Allocates nothing. */
const char* distance_slope(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                           double out[QUERY_POSE_COLUMNS], bool* kinked);

/* Derivatives of a distance by the places of a hull's vertices, in the hull's frame (H5): those of the nearest feature
 * alone count. rows[r][3 i + axis]: DISTANCE_ROWS by vertex[i] of the body's points. A face of more than three follows
 * them as their plane of best fit: exact for all changes together that keep it flat. */
enum { FEATURE_CORNERS = 128, VERTEX_COLUMNS = 3 * FEATURE_CORNERS };
typedef struct {
  int count, vertex[FEATURE_CORNERS];
  double rows[DISTANCE_ROWS][VERTEX_COLUMNS]; /* of `count` vertices */
  bool fitted;                                /* the feature is a face or an edge of more corners than fix it */
  const char* reason;                         /* why there are none (static), then count is 0; NULL: they are there */
} VertexSlopes;
/* out: a's and b's. NULL, or why there are none of either (static), as of distance_derivatives. No allocation. */
const char* distance_vertex_slopes(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                   VertexSlopes out[2]);

/* ---------------------------------------------------------------- distance with smooth shapes
 * (query/distance_smooth.c)
 */

/* A convex body: a smooth shape, or, where shape is NULL, the hull of points. Borrowed. */
typedef struct {
  const Shape* shape;
  PointView points;
} ConvexBody;

typedef struct {
  Distance nearest;
  double low, high; /* the distance lies between them for certain (H3) [m] */
  bool proved;      /* high - low <= CONVEX_DISTANCE_PROOF (size of a + size of b) */
} ConvexDistance;

/* Relative width of the bounds of a proved distance. */
#define CONVEX_DISTANCE_PROOF 1e-6

/* Distance, or minus the depth, of a and b, one of them smooth at least (H2-H4) [m], world frame. Cold each time;
 * some 100 us apart. May allocate where they overlap. Where not `proved` the bounds hold all the same. By value.
 * Never fails. */
ConvexDistance convex_distance(const ConvexBody body[2], const Pose pose[2]);
/* Rows of DISTANCE_VALUE on; columns and parameters as those of growth_derivatives, a hull has none of its own. NULL,
 * or why there are none (static): flat on flat, points not found exactly, a condition above QUERY_CONDITION_MAX.
 * *condition: of the system (H4), in units of the bodies' size. out: DISTANCE_ROWS x columns numbers, row-major. */
const char* convex_distance_derivatives(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                        bool parameters, double* out, double* condition);

/* Derivatives of the distance alone, columns of the poses, wherever the nearest points are found exactly (H7). NULL;
 * else why not (static), and out is untouched. answer: convex_distance's of these poses. Allocates nothing. */
const char* convex_distance_slope(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                  double out[QUERY_POSE_COLUMNS]);

/* By the vertices of those of the two bodies that are hulls; out: a's and b's, none of a smooth shape. As
 * convex_distance_derivatives, which tells of the same reasons. No allocation. */
const char* convex_distance_vertex_slopes(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                          VertexSlopes out[2]);

/* ---------------------------------------------------------------- witness points, smoothed (query/witness*.c)
 * The nearest points of bodies jump where features change. Smoothed, body a's is a mean over samples x_i of its surface
 * near its nearest point, weighed by a score u_i (V1):
 *     smooth_a = sum k_i x_i,   k = softmax(u / T),   T = standard deviation of u, or said
 * docs/derivations/witness.md */

/* A convex piece of a body, in the body's frame. */
typedef struct {
  ConvexHull hull;
  PointView points; /* its corners */
  Vec3 center;      /* of a ball that holds it */
  double radius;
  int *neighbor_first, *neighbors; /* of each corner: those it has an edge with */
} WitnessPiece;

/* A body of one convex piece or of several that may overlap, with points of its surface: corners, and others spread
 * over the faces by their area. Owns everything; freed by witness_body_free, which accepts a zeroed struct. */
typedef struct WitnessBody {
  WitnessPiece* pieces;
  int piece_count;
  Vec3 *points, *normals; /* body frame; not those inside another piece */
  int (*origins)[2];      /* of each point: its piece, and the piece's vertex v, or triangle t as -1 - t */
  int count, corners;     /* the corners come first */
  double diagonal;        /* of the body's box [m] */
  double spacing; /* within this of any point of the surface there are about as many samples as a mean takes [m] */
} WitnessBody;
/* hulls (count >= 1) are copied; `samples`: how many points, 2 * WITNESS_SAMPLES or more. Hulls in the body's frame
 * [m]. Allocates; freed by witness_body_free. Never fails: hulls were checked when they were made. */
WitnessBody witness_body_create(const ConvexHull* hulls, int count, int samples);
/* Frees all and leaves a zeroed body; accepts a zeroed one. NULL is not accepted. */
void witness_body_free(WitnessBody* body);

enum { WITNESS_SAMPLES = 16, WITNESS_SURFACE = 1024 };

/* Where a sample is scored. */
typedef enum {
  WITNESS_BY_DISTANCE,  /* u_i = -|x_i - other|^2, other: the other body's nearest point */
  WITNESS_BY_DIRECTION, /* u_i = x_i . y, y: from the own nearest point to the other body's, reversed if they overlap */
} WitnessScore;

typedef enum {
  WITNESS_FIXED,    /* samples within `reach` of the nearest point */
  WITNESS_ADAPTIVE, /* within three times the distance of the nearest point from where it is wanted, at least `reach` */
  WITNESS_NEIGHBOR, /* corners within five edges of the nearest feature */
} WitnessSampling;

/* Source of the Jacobians of the nearest points. */
typedef enum {
  WITNESS_SMOOTHED,    /* the smoothed points (V2, V3) */
  WITNESS_ANALYTIC,    /* the features that are nearest; a point without such derivative stays with its body */
  WITNESS_DIFFERENCES, /* central differences of the nearest points (V6) */
  WITNESS_ZEROTH,      /* means over random motions (V7) */
} WitnessEstimate;

typedef struct {
  WitnessScore score;
  WitnessSampling sampling;
  WitnessEstimate estimate;
  double reach;        /* m; 0: of WITNESS_FIXED a quarter of the body's diagonal, of WITNESS_ADAPTIVE its spacing */
  double margin;       /* beta of (V4), m: so far apart the nearest points are wanted */
  double temperature;  /* T of (V1), m^2; 0: the standard deviation of the scores, each side's own */
  double perturbation; /* of WITNESS_DIFFERENCES, WITNESS_ZEROTH: turns [rad]; moves by WITNESS_MOVE m a radian */
  int turn;            /* another choice of samples, other random motions; the same turn has the same */
} WitnessOptions;
#define WITNESS_MOVE 0.057295779513082323 /* m a radian: 1 mm a degree */

/* One body's part. */
typedef struct {
  Vec3 samples[WITNESS_SAMPLES];   /* its frame; the first is the nearest point */
  int origins[WITNESS_SAMPLES][2]; /* as those of WitnessBody; not of the first */
  int count;
  double temperature; /* T [m^2] */
  Vec3 smooth;        /* world */
  double by_own[3]
               [6]; /* smooth by its own body's motion; samples, T and the other's point or the direction held (V2) */
  double by_other[3][3];           /* smooth by the other's point, of WITNESS_BY_DIRECTION by y (V2) */
  Vec3 by_temperature;             /* smooth by T, samples and the other's point or the direction held (V2) [1/m] */
  Mat3 by_sample[WITNESS_SAMPLES]; /* smooth by a move of each sample, world (V2) */
} WitnessSide;

/* State of a pair that is kept from one pose to the next. Zeroed = cold. */
typedef struct {
  int piece[2];
  GjkCache gjk; /* of these two */
} WitnessCache;

typedef struct {
  Distance nearest; /* of all pairs of pieces the one of least distance, or of most depth */
  int piece[2];     /* whose it is */
  WitnessSide side[2];
  double total[2][2][3][6]; /* [point][moved body]: Jacobians of the nearest points, by the estimate */
  bool total_known;
} Witness;

/* targets: where each nearest point is wanted, in its body's frame [m], for WITNESS_ADAPTIVE; NULL: not said, then
 * samples are taken as by WITNESS_FIXED. cache may be NULL. Allocates only where bodies overlap in a way that
 * hull_depth does not know. World frame. targets: NULL or 2, a's and b's. */
Witness witness_query(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                      const WitnessOptions* options, const Vec3* targets, WitnessCache* cache);
/* smooth by the place of a vertex of a piece, in the body's frame: world, no unit (V12). */
typedef struct {
  int piece, vertex;
  Mat3 slope;
} WitnessCornerSlope;
enum { WITNESS_CORNERS_MAX = FEATURE_CORNERS + 3 * WITNESS_SAMPLES };
/* Those of one side (0: a, 1: b) of an answer to these poses; the sum counts where a vertex comes twice. Samples stay
 * where they are within their triangles, the nearest point within its feature; T and the other's point or the direction
 * are held. out: room for WITNESS_CORNERS_MAX; returns how many, -1: the nearest feature has too many corners. No
 * allocation. */
int witness_corner_slopes(const WitnessBody* body, Pose pose, const Witness* answer, int side, WitnessCornerSlope* out);
/* The nearest points alone, world frame, and in piece the pieces of a and b that they are on. cache may be NULL, else
 * it is read and updated. Allocates as witness_query. */
Distance witness_nearest(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b, WitnessCache* cache,
                         int piece[2]);

/* How far the nearest points are from where they are wanted (V4), and the ways uphill. */
typedef struct {
  double value;          /* L [m^2] */
  double gradient[2][6]; /* by the motion of a, b with the Jacobians of the answer; by turns [m^2], by moves [m] */
  double transported[6]; /* for b while a stays: b's own and what does to the pair what a's would have done (V5) */
} WitnessLoss;
/* answer: witness_query's of these poses; targets: 2, a's and b's, in their frames [m]; margin [m]. No allocation.
 * By value. Never fails. */
WitnessLoss witness_loss(const Witness* answer, Pose pose_a, Pose pose_b, const Vec3* targets, double margin);

/* Gradient descent of that loss by moving bodies, with steps of stated length: `step` degrees and millimetres, `last`
 * in the last tenth of the iterations, their geometric mean between, after the first tenth. */
typedef struct {
  WitnessOptions query;
  int iterations; /* >= 0 */
  double step;    /* degrees; moves: as many millimetres */
  double last;    /* likewise; 0: a hundredth of step */
  bool both;      /* move a too; else b alone, */
  bool transport; /* by its own step and a's opposite one (V5) */
} WitnessDescent;
/* The pair's poses are changed; the answer is the loss where they end [m^2]. targets[2], as above. Allocates for
 * the time of the call. Never fails: where no step helps it ends where it is. */
double witness_descend(const WitnessBody* a, Pose* pose_a, const WitnessBody* b, Pose* pose_b, const Vec3* targets,
                       const WitnessDescent* options);

/* Lower bound of the loss for targets[2], without margin, wherever nearest points are the only ones [m^2]:
 * then one of them is a corner, or both lie on edges; inside two faces they lie only where these are parallel, and then
 * anywhere (V11) (query/witness_reach.c). targets: 2, as above. Never fails, allocates nothing. */
double witness_reach_bound(const WitnessBody* a, const WitnessBody* b, const Vec3* targets);

/* A random point of the body's surface: one of its corners, or of 512 points spread over its faces by area. Body frame
 * [m], not inside another piece if some tries find such a one. By value; never fails. */
Vec3 witness_random_point(const WitnessBody* body, Random* random);
/* Random targets that can be brought together (query/witness_draw.c): one of them is a corner at least (a third each:
 * corner and face, face and corner, two corners), and touching with opposite normals they are within 1 cm of the
 * nearest points, in sum, if some tries find such. Each in its body's frame [m]. Both targets are set in any case,
 * which is no failure. Allocates for the time of the call. */
void witness_random_pair(const WitnessBody* a, const WitnessBody* b, Random* random, Vec3 targets[2]);

/* ---------------------------------------------------------------- how well contacts hold a body (query/grasp.c)
 * docs/derivations/grasp.md */
enum { GRASP_WRENCH = 6, GRASP_EDGES = 8, GRASP_PLANE = 48 };
typedef struct {
  Vec3 arm;    /* from the body's centre to the contact, world [m] */
  Vec3 normal; /* unit, into the body */
} GraspContact;
typedef struct {
  double friction; /* > 0 */
  double length;   /* of a torque, in its size [m] */
} GraspSettings;
typedef struct {
  bool known;     /* false: the wrenches lie in a plane; epsilon is 0 */
  double epsilon; /* radius of the ball of wrenches that forces of at most 1 a contact's normal can take (V9); negative:
                     there is none, and so far is the origin outside of some plane of the hull */
  double normal[GRASP_WRENCH];    /* of the nearest plane */
  int count, wrench[GRASP_PLANE]; /* wrenches that lie in it, */
  double weight[GRASP_PLANE];     /* and their weights (V10) */
} GraspQuality;
/* Forces along GRASP_EDGES edges of each contact's cone, normal part 1, with their torques over `length` (V11), to out
 * (count * GRASP_EDGES rows: force, torque; no unit); returns how many. No allocation. out must have room for them:
 * not checked, undefined beyond. */
int grasp_wrenches(const GraspContact* contacts, int count, const GraspSettings* settings, double (*out)[GRASP_WRENCH]);
/* Grasp quality of contacts[count]. Not `known`: too few contacts, or Qhull found no hull. Allocates for the time of
 * the call. By value; no error is reported but by `known`. */
GraspQuality grasp_quality(const GraspContact* contacts, int count, const GraspSettings* settings);
/* Change of epsilon when the arm and the normal of `contact` change by these (V10); 0 where the quality is not known.
 * contacts: those of the quality. contact below their count: undefined beyond, not checked. Allocates nothing. */
double grasp_quality_slope(const GraspQuality* quality, const GraspContact* contacts, const GraspSettings* settings,
                           int contact, Vec3 arm, Vec3 normal);

/* ---------------------------------------------------------------- paths (query/path.c, path_search.c, path_smooth.c)
 * A body that keeps its orientation, from one place to another past obstacles, alpha >= 1 + clearance all the way.
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
  double smoothness; /* of the integral of the squared curvature, beside the length [m^2] */
  int points;        /* of the path, >= 3 */
  uint64_t seed;
} PathProblem;

typedef enum { PATH_FOUND, PATH_BLOCKED_END, PATH_NONE } PathOutcome;

typedef struct {
  PathOutcome outcome;
  bool smoothed; /* false: no smoothed path was proved free; the points lie on the polyline of the search */
  Vec3* points;  /* (count); owned by the caller */
  int count;     /* PathProblem.points, more where the polyline has more corners */
  double length, start_length; /* m; of the path, of the one that the search found */
  double least;                /* alpha at the points and halfway between, at least */
  int queries;                 /* of growth */
} PlannedPath;
/* PATH_FOUND: every place of every segment has alpha >= 1 + clearance, proved (G17). Allocates. PATH_BLOCKED_END,
 * PATH_NONE: no points. The points are freed by path_free. PATH_BLOCKED_END: an end is not free. PATH_NONE: the search
 * found no path. */
PlannedPath path_plan(const PathProblem* problem);
/* Frees the points and leaves a zeroed path. NULL is not accepted. */
void path_free(PlannedPath* path);

/* ---------------------------------------------------------------- contact manifolds (query/manifold.c)
 * Many points at once where two bodies of any shape meet, with derivatives by their motions.
 * docs/derivations/manifold.md */

/* A body: its field, and points and edges on its surface. Owns its arrays, not the field; freed by
 * manifold_body_free, which accepts a zeroed one. */
typedef struct {
  const Field* field;
  Vec3* points; /* body frame [m] */
  int point_count;
  int (*edges)[2]; /* of triangles that do not lie in one plane, each pointing the same way along its largest part */
  int edge_count;
  double outer;    /* radius of a ball about the origin that holds them [m] */
  const int* only; /* borrowed: the points that may touch (only_count); NULL: all of them */
  int only_count;
  const Vec3* point_slopes;    /* borrowed; of every point by parameter k of the field: [k * point_count + i]; NULL */
  const FieldCorners* corners; /* borrowed; the body's parameters are these, three each, and not the field's; NULL */
  const int* point_corner;     /* borrowed, with corners: which of them a point is, -1: none */
} ManifoldBody;
/* So many parameters has a body: three for each of its corners, or its field's. Allocates nothing. */
static inline int manifold_parameter_count(const ManifoldBody* body) {
  return body->corners ? 3 * body->corners->count : field_parameter_count(body->field);
}
/* Takes the surface's points over and leaves it empty; borrows the field, which must outlive the body. Freed by
 * manifold_body_free. Never fails. */
ManifoldBody manifold_body_create(const Field* field, TriangleSurface* surface);
/* Frees points and edges, not the field, and leaves a zeroed body. NULL is not accepted; a zeroed one is. */
void manifold_body_free(ManifoldBody* body);

typedef struct {
  double smoothing;      /* m, > 0: within it a point counts as penetrating, an edge as near, a choice as undecided */
  double softness;       /* > 0, no unit: of positions along edges, of signs, of the angle between normals */
  double regularization; /* >= 0, no unit: pull of an edge's witness point to its middle */
  int points, edges;     /* so many of each body that penetrate deepest are chosen softly (X1); 0: all */
  bool values;           /* no derivatives are wanted */
  bool cull;             /* pairs of edges whose activity is below a rounding are answered without it (X13) */
} ManifoldOptions;

/* Variables of the derivatives of manifold_query_by. */
typedef enum {
  MANIFOLD_BY_MOTION, /* manifold_query's own */
  MANIFOLD_BY_SHAPE_A,
  MANIFOLD_BY_SHAPE_B,
  MANIFOLD_BY_SMOOTHING,
} ManifoldCause;

/* Edges of each body that are chosen when nothing is said; those of a box are 12. */
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
  ContactKind kind;                /* whose point or edge the contact is on */
  Vec3 point;                      /* m */
  double distance;                 /* m, negative where it penetrates */
  Vec3 normal;                     /* at most unit, from a to b (X6) */
  double activity;                 /* 0 to 1; points: 1 */
  double slope[MANIFOLD_ROWS][12]; /* derivatives: columns as those of query.h */
} ManifoldContact;

/* Number of contacts that manifold_query writes, whatever the poses are: 1 for every point, 2 for every pair of edges.
 * May be more than an int holds. The length of `out` below. Never fails, allocates nothing. */
int64_t manifold_count(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options);
/* Bytes that a query takes of its room. Alignment included. Never fails, allocates nothing. */
size_t manifold_room(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options);
/* Writes manifold_count contacts: points of a, of b, then for every pair of edges that on a's and that on b's.
 * room: of manifold_room bytes, 64-byte aligned; NULL: it allocates. out: manifold_count contacts, world frame.
 * Returns how many points and edges were left out although as deep as one that was chosen: then those that are farthest
 * apart were chosen. Never fails; what it allocated is freed at its end. */
int manifold_query(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                   const ManifoldOptions* options, ManifoldContact* out, void* room);

/* Mean over all contacts (X14). */
typedef struct {
  double distance;  /* sum of activity times distance over sum of activities [m] (X14); points count 1 */
  double activity;  /* sum of the activities; NaN distance where it is 0: a pair without points or edges */
  double slope[12]; /* derivatives of distance; columns as those of ManifoldContact.slope */
} ManifoldMean;
/* The mean distance of manifold_query's contacts, none of which is kept. options->cull changes nothing that can be
 * seen: idle pairs weigh nothing. room, options, result: as of manifold_query. Never fails. */
int manifold_mean(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                  const ManifoldOptions* options, ManifoldMean* out, void* room);
/* The same as manifold_query with other derivatives (X8), in the first six columns: by parameters first, first + 1, ...
 * of a body (manifold_parameter_count), the points moving along by its point_slopes or as corners; or, in the first, by
 * the smoothing. out, room: as of manifold_query; further columns are zero. A parameter that the field has not is
 * undefined, not checked. */
void manifold_query_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                       const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldContact* out,
                       void* room);
/* Likewise manifold_mean's: its slope's first six by such causes. options, room, cause, first: as above. */
void manifold_mean_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                      const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldMean* out, void* room);
/* How the points of a body move with its field's parameters: of one shape (FIELD_SHAPE) along the rays from its centre
 * (X15), of others along the gradient (X16): [k * point_count + i] [m per unit], for point_slopes. Allocates;
 * memory_free. */
Vec3* manifold_surface_slopes(const ManifoldBody* body);

#endif
