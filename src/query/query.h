/* query: distance, penetration, contact points, grasp quality and paths of pairs of bodies.
 * Derivatives with respect to poses and shapes are included (docs/derivations/growth.md, docs/queries.md). All
 * positions are in the world frame [m]. A pose maps the body's frame to the world. A function allocates only where its
 * comment says so. A function that returns "a reason" returns a static text that says why there is no result. */
#ifndef SDRS_QUERY_H
#define SDRS_QUERY_H

#include "shapes/shapes.h"

/* ---------------------------------------------------------------- derivatives
 * Columns of all derivatives. Columns 0 to 2: rotation of a about the world's x, y, z axes through the origin of a's
 * frame [1/rad]. Columns 3 to 5: translation of a along the world's x, y, z axes [1/m]. Columns 6 to 11: the same for
 * b. Then follow the parameters of a's shape and of b's shape (shape_parameter_count). */
enum { QUERY_POSE_COLUMNS = 12 };

/* The functions return no derivatives above this condition number. At 1e8 about half of the digits are still
 * significant. */
#define QUERY_CONDITION_MAX 1e8

/* ---------------------------------------------------------------- growth (query/growth.c) Growth distance: the least
 * factor alpha at which both bodies touch when scaled about their origins. gamma_a(x) is the gauge of body a: the
 * factor by which body a must be scaled until its surface contains the point x (shape_gauge). gamma_b is the same for
 * body b. The growth distance is alpha = min over x of max(gamma_a(x), gamma_b(x)) (G1). The bodies are separated if
 * alpha > 1, touch if alpha = 1 and overlap if alpha < 1. */
typedef struct {
  double alpha;              /* growth distance */
  double low, high;          /* proven bounds of the growth distance: low <= alpha <= high (G4) */
  Vec3 point;                /* the point where the scaled bodies touch */
  Vec3 normal;               /* unit normal of the common tangent plane, from a to b */
  Vec3 witness_a, witness_b; /* `point`, scaled back to the surfaces of the unscaled bodies a and b */
  double gap;                /* signed distance of the witness points, negative if the bodies overlap [m] (G5) */
  double multiplier_a, multiplier_b; /* Lagrange multipliers, positive, of the two constraints that `point` lies in the
                                        scaled body a and in the scaled body b */
  bool proved;                       /* true if high - low <= GROWTH_PROOF * alpha */
  bool coincident; /* true if the centres coincide: alpha is 0, point is the centre, other members are undefined */
  bool bracketed;  /* true if the barrier method found the solution after Newton's method failed */
  int iterations;
  ShapeValue at_a, at_b; /* implicit functions of the shapes of a and b, with derivatives, at the solution. Unit of
                            length: growth_scale. In the axes of b if of_b is true, otherwise of a */
  bool of_b;             /* true if at_a and at_b are in axes of b; used by growth_derivatives */
} Growth;

/* Largest relative width (high - low) / alpha of the bounds at which a result counts as proved. */
#define GROWTH_PROOF 1e-9

/* Last solution for a pair of bodies, from which the next query starts. A zeroed struct is a cold start. All members
 * are doubles, so that a state block can store them. */
typedef struct {
  double warm; /* 1 if p and u are a solution, otherwise 0 */
  Vec3 p;      /* point on the smaller body, in its frame [m] */
  double u;    /* distance of the two centres divided by alpha [m] */
} GrowthCache;

/* Returns the growth distance of two smooth shapes. cache is read and updated; NULL means a cold start. The cache
 * changes the result by rounding only. The member `proved` is false if the bounds are wider than GROWTH_PROOF. */
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
/* Computes the derivatives of all members of a growth distance with respect to poses and shape parameters.
 * Sets out[row * columns + column]. Row numbers are GROWTH_ALPHA to GROWTH_MULTIPLIERS + 1. Columns are both poses,
 * then the shape parameters, as at the top of this file. If `parameters` is false, the columns of the shape parameters
 * are omitted. answer: result of growth_query for these poses. Sets *condition to the condition number of the linear
 * system for the derivatives (G3), or to HUGE_VAL if it was not computed. Returns NULL on success. Otherwise returns a
 * reason and leaves out unchanged. */
const char* growth_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                               bool parameters, double* out, double* condition);

/* Computes the derivatives of the growth distance `alpha` and of the gap with respect to both poses (G25).
 * The derivatives exist wherever the normal is unique. This includes flat faces in contact, for which
 * growth_derivatives returns a reason. answer: result of growth_query for these poses. Returns NULL on success.
 * Otherwise returns a reason and leaves the arrays `alpha` and `gap` unchanged. */
const char* growth_slopes(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                          double alpha[QUERY_POSE_COLUMNS], double gap[QUERY_POSE_COLUMNS]);

/* ---- power-law contact force (query/growth_wrench.c)
 * Contact force along the normal, of magnitude stiffness * (-gap)^exponent, where -gap is the penetration (G24). The
 * force acts at Growth.point on both bodies and is zero for gap >= 0. stiffness > 0 [N/m^exponent], exponent >= 1. A
 * wrench holds the torque about the body's position [N m], then the force [N], in world axes. */
typedef struct {
  double force; /* magnitude of the contact force [N] */
  double on_a[6], on_b[6];
} GrowthWrench;
/* Returns the contact force and its wrenches on both bodies. answer: result of growth_query for these poses. The
 * centres of the bodies must not coincide. */
GrowthWrench growth_wrench(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent);
enum { WRENCH_FORCE, WRENCH_ON_A, WRENCH_ON_B = WRENCH_ON_A + 6, WRENCH_ROWS = WRENCH_ON_B + 6 };
/* Sets out (WRENCH_ROWS x columns, row-major) to the derivatives of the force and wrenches of growth_wrench. rows
 * (GROWTH_ROWS x columns): output of growth_derivatives. At gap = 0 with exponent 1 the force has a kink, and the
 * derivatives are set to zero. */
void growth_wrench_derivatives(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent,
                               const double* rows, int columns, double* out);

/* ---- gap for contact potentials (query/growth_gap.c; G8-G10) */

/* Sets out to the gradient of the gap with respect to both poses: per rotation [m/rad], per translation dimensionless.
 * answer: result of growth_query for these poses. If answer->coincident is true, the gradient is undefined. */
void growth_gap_gradient(Pose pose_a, Pose pose_b, const Growth* answer, double out[QUERY_POSE_COLUMNS]);
enum {
  GAP_VALUE,
  GAP_GRADIENT,
  GAP_NORMAL = GAP_GRADIENT + QUERY_POSE_COLUMNS,
  GAP_WITNESS_A = GAP_NORMAL + 3,
  GAP_WITNESS_B = GAP_WITNESS_A + 3,
  GAP_ROWS = GAP_WITNESS_B + 3,
};
/* Computes the derivatives of the gap, its gradient, the normal and the witness points.
 * Sets out[row * columns + column] for the rows GAP_VALUE to GAP_WITNESS_B + 2. Columns are both poses, then the shape
 * parameters, as at the top of this file. If `parameters` is false, the columns of the shape parameters are omitted.
 * work (GROWTH_ROWS x columns): workspace. Returns NULL on success. Otherwise returns a reason and leaves out
 * unchanged. */
const char* growth_gap_derivatives(const Shape* a, Pose pose_a, const Shape* b, Pose pose_b, const Growth* answer,
                                   bool parameters, double* work, double* out);

/* Gap between a shape and the half-space { x : normal . x <= offset }.
 * The gap is the height of the shape's lowest point above the plane. In derivatives the half-space takes the place of
 * body b. Columns 6 to 11 of the gradient are zero. In half_space_gap_derivatives these columns move the half-space,
 * with rotations about `origin`. */
typedef struct {
  double gap;  /* [m], negative if the shape penetrates the half-space */
  Vec3 normal; /* outward normal of the half-space */
  /* point: the shape's lowest point above the plane, world; arm: vector from the shape's origin to `point` */
  Vec3 point, arm;
  ShapeSupport support; /* the lowest point with the surface's curvature there, in the shape's frame */
} HalfSpaceGap;
/* Returns the gap between a shape and a half-space, negative if the shape penetrates. normal: outward unit normal,
 * world frame. offset [m]. */
HalfSpaceGap half_space_gap(const Shape* shape, Pose pose, Vec3 normal, double offset);
/* Sets out to the gradient of the gap with respect to the shape's pose: per rotation [m/rad], per translation
 * dimensionless. Columns 6 to 11 are zero. */
void half_space_gap_gradient(const HalfSpaceGap* gap, double out[QUERY_POSE_COLUMNS]);
/* Sets out (GAP_ROWS x columns) to the same derivatives as growth_gap_derivatives. The shape parameters are the last
 * columns. origin: origin of the half-space's frame, world [m]. Returns NULL on success. Returns a reason if the
 * surface is flat at the lowest point; out is then undefined. */
const char* half_space_gap_derivatives(const Shape* shape, Pose pose, Vec3 origin, const HalfSpaceGap* gap,
                                       bool parameters, double* out);

/* ---- gap of two bodies, of which the second may be a half-space (query/body_gap.c) */
typedef struct {
  const Shape* shape[2]; /* borrowed; shape[1] is NULL if b is a half-space */
  Pose pose[2];          /* for a half-space, pose of its frame */
  Vec3 normal;           /* outward unit normal of the half-space, world */
  double offset;         /* a point x lies in the half-space if normal . x <= offset [m] */
} GapBodies;
typedef struct {
  bool found; /* false if the gap is not proved, or if the centres of both shapes coincide; all other members are then
                 undefined */
  bool far; /* true if `gap` is the distance of the bounding balls; witness points and derivatives are then undefined */
  double gap;      /* m; negative for an overlap */
  double distance; /* lower bound of the distance of separated bodies [m] */
  Vec3 normal;     /* unit normal from a to b */
  Vec3 witness[2];
  double gradient[QUERY_POSE_COLUMNS]; /* gradient of the gap with respect to both poses */
  Growth growth;
  HalfSpaceGap height;
} BodyGap;
/* Returns the gap of two bodies. skip_far: true if the gap of two shapes is not needed while their bounding balls are
 * separated. cache: as for growth_query, not NULL; unchanged for a half-space. */
BodyGap body_gap(const GapBodies* bodies, bool skip_far, GrowthCache* cache);
/* Returns the number of columns of the derivatives of the gap, shape parameters included. */
int body_gap_columns(const GapBodies* bodies);
/* Sets out (GAP_ROWS x columns) as growth_gap_derivatives or half_space_gap_derivatives. work (GROWTH_ROWS x columns):
 * workspace. gap: result of body_gap, found and not far. Returns NULL on success, otherwise a reason. */
const char* body_gap_derivatives(const GapBodies* bodies, const BodyGap* gap, bool parameters, double* work,
                                 double* out);

/* ---------------------------------------------------------------- distance of hulls (query/distance.c) */

typedef struct {
  double distance; /* distance [m]; for overlapping bodies minus the penetration depth */
  Vec3 witness_a, witness_b;
  Vec3 normal; /* unit normal, from a to b */
} Distance;

/* Returns the signed distance of two convex hulls. cache is read and updated; NULL means a cold start. Allocates only
 * if the hulls overlap and hull_depth fails. */
Distance distance_query(PointView a, Pose pose_a, PointView b, Pose pose_b, GjkCache* cache);

enum {
  DISTANCE_VALUE,
  DISTANCE_NORMAL,
  DISTANCE_WITNESS_A = DISTANCE_NORMAL + 3,
  DISTANCE_WITNESS_B = DISTANCE_WITNESS_A + 3,
  DISTANCE_ROWS = DISTANCE_WITNESS_B + 3,
};
/* Sets out (DISTANCE_ROWS x QUERY_POSE_COLUMNS, row-major) to the derivatives of a distance with respect to both poses.
 * Returns NULL on success. Returns a reason, and leaves out unchanged, if the nearest edges or faces are parallel,
 * because the nearest points are then not unique. */
const char* distance_derivatives(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                 double* out);

/* Sets out to the derivatives of the distance of two hulls with respect to both poses (H7, query/distance_flat.c).
 * Unlike distance_derivatives, the function also handles parallel edges or faces and face-to-face contact. The normal
 * must be unique. If two faces are in contact, a rotation that tilts one face against the other has two one-sided
 * derivatives. out then receives their mean, and *kinked is set to true. Returns NULL on success. Otherwise returns a
 * reason and leaves out unchanged. */
const char* distance_slope(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                           double out[QUERY_POSE_COLUMNS], bool* kinked);

/* Derivatives of a distance with respect to the vertices of one hull, in the hull's frame (H5).
 * Only vertices of the hull's nearest feature contribute: the nearest vertex, edge or face. rows[r][3 i + axis] is the
 * derivative of row r (one of DISTANCE_ROWS) with respect to coordinate `axis` of vertex number vertex[i]. A face of
 * more than three vertices is replaced by its best-fit plane. This is exact for displacements that keep the face
 * planar. */
enum { FEATURE_CORNERS = 128, VERTEX_COLUMNS = 3 * FEATURE_CORNERS };
typedef struct {
  int count, vertex[FEATURE_CORNERS];
  double rows[DISTANCE_ROWS][VERTEX_COLUMNS]; /* 3 * count columns are set */
  bool fitted;        /* true if the nearest face has more than three vertices, so that its plane is a best fit */
  const char* reason; /* NULL, or a reason why there are no derivatives; count is then 0 */
} VertexSlopes;
/* Sets out[0] and out[1] to the derivatives of the distance with respect to the vertices of a and of b. Returns
 * NULL on success. Returns a reason if the nearest edges or faces are parallel, because the nearest points are then not
 * unique. out[k].reason is not NULL if hull k has no derivatives. */
const char* distance_vertex_slopes(PointView a, Pose pose_a, PointView b, Pose pose_b, const Distance* answer,
                                   VertexSlopes out[2]);

/* ---------------------------------------------------------------- distance with smooth shapes
 * (query/distance_smooth.c)
 */

/* A convex body: a smooth shape, or the convex hull of points if shape is NULL. The caller owns both. */
typedef struct {
  const Shape* shape;
  PointView points;
} ConvexBody;

typedef struct {
  Distance nearest;
  double low, high; /* proven bounds of the signed distance [m] (H3) */
  bool proved;      /* true if high - low <= CONVEX_DISTANCE_PROOF * (size of body a + size of body b) */
} ConvexDistance;

/* Largest width of the bounds of a proved distance, relative to the sum of the bodies' sizes. */
#define CONVEX_DISTANCE_PROOF 1e-6

/* Returns the signed distance of two bodies, at least one of them smooth (H2-H4). A call takes about 100 us for
 * separated bodies, because there is no warm start. May allocate if the bodies overlap. The bounds `low` and `high` are
 * valid even if `proved` is false. */
ConvexDistance convex_distance(const ConvexBody body[2], const Pose pose[2]);
/* Sets out (DISTANCE_ROWS x columns, row-major) to the derivatives of the distance, normal and witness points. The
 * columns are both poses and, if `parameters` is true, the shape parameters of a and b. A hull has no parameters. Sets
 * *condition to the condition number of the linear system for the derivatives (H4), with lengths in units of the
 * bodies' size. Returns NULL on success. Returns a reason, and leaves out unchanged, if flat features face each other,
 * the nearest points were not found exactly, or the condition number exceeds QUERY_CONDITION_MAX. */
const char* convex_distance_derivatives(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                        bool parameters, double* out, double* condition);

/* Sets out to the derivatives of the distance of two convex bodies with respect to both poses (H7). answer: result of
 * convex_distance for these poses. The derivatives exist if the nearest points were found exactly. Returns NULL on
 * success. Otherwise returns a reason and leaves out unchanged. */
const char* convex_distance_slope(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                  double out[QUERY_POSE_COLUMNS]);

/* Sets out[0] and out[1] to the derivatives of the distance with respect to the vertices of body a and of body b.
 * out[k].count is 0 for a smooth shape, which has no vertices. Returns NULL on success. Returns a reason if flat
 * features face each other, the nearest points were not found exactly, or the condition number exceeds
 * QUERY_CONDITION_MAX. */
const char* convex_distance_vertex_slopes(const ConvexBody body[2], const Pose pose[2], const ConvexDistance* answer,
                                          VertexSlopes out[2]);

/* ---------------------------------------------------------------- smoothed witness points (query/witness*.c) Smoothed
 * nearest points of two bodies, differentiable where the nearest points jump. The nearest points of bodies jump when
 * the nearest features change. The smoothed point of a body is a weighted mean of samples x_i of its surface near its
 * nearest point. The weights k_i are the softmax of scores u_i, which are higher for samples nearer to the other body
 * (V1): smooth = sum k_i x_i with k = softmax(u / T). The temperature T is the standard deviation of the scores u, or
 * WitnessOptions.temperature. docs/derivations/witness.md */

/* A convex piece of a body, in the body's frame. */
typedef struct {
  ConvexHull hull;
  PointView points; /* vertices of the hull */
  Vec3 center;      /* centre of a bounding ball */
  double radius;
  int *neighbor_first, *neighbors; /* the vertices that share an edge with vertex i are neighbors[neighbor_first[i] ..
                                      neighbor_first[i + 1] - 1] */
} WitnessPiece;

/* A body of one or more convex pieces that may overlap, with sample points of its surface. Samples are vertices and
 * points distributed over the faces by area. The body owns all arrays. witness_body_free frees them and accepts a
 * zeroed struct. */
typedef struct WitnessBody {
  WitnessPiece* pieces;
  int piece_count;
  Vec3 *points, *normals; /* sample points of the surface and outward unit normals, body frame; no sample lies inside
                             another piece */
  int (*origins)[2]; /* origins[i][0]: index of the piece of sample i; origins[i][1]: index of the vertex, or -1 - t for
                      * a point on triangle t
                      */
  int count, corners; /* count: number of samples; the first `corners` samples are vertices */
  double diagonal;    /* diagonal of the body's bounding box [m] */
  double spacing;     /* diameter of a disc on the surface that contains WITNESS_SAMPLES samples on average [m] */
} WitnessBody;
/* Returns a body made from copies of convex hulls (count >= 1), body frame [m]. The body gets at most `samples` surface
 * samples, samples >= 2 * WITNESS_SAMPLES. The caller frees the body with witness_body_free. */
WitnessBody witness_body_create(const ConvexHull* hulls, int count, int samples);
/* Frees all arrays and zeroes the body. Accepts a zeroed body, but not NULL. */
void witness_body_free(WitnessBody* body);

enum { WITNESS_SAMPLES = 16, WITNESS_SURFACE = 1024 };

/* Score u_i of a surface sample x_i; a higher score means a larger weight in the smoothed nearest point. */
typedef enum {
  WITNESS_BY_DISTANCE,  /* u_i = -|x_i - p|^2, where p is the other body's nearest point */
  WITNESS_BY_DIRECTION, /* u_i = x_i . y, where y points from the nearest point to the other body's, reversed if the
                           bodies overlap */
} WitnessScore;

typedef enum {
  WITNESS_FIXED,    /* samples within `reach` of the nearest point */
  WITNESS_ADAPTIVE, /* samples within three times the distance of the nearest point from its target point, at least
                       within `reach` */
  WITNESS_NEIGHBOR, /* vertices at most five edges away from the nearest vertex, edge or face */
} WitnessSampling;

/* Method that computes the Jacobians of the nearest points with respect to the motions of both bodies. */
typedef enum {
  WITNESS_SMOOTHED, /* Jacobians of the smoothed points (V2, V3) */
  WITNESS_ANALYTIC, /* exact Jacobians of the nearest points; a nearest point that jumps is treated as fixed to its body
                     */
  WITNESS_DIFFERENCES, /* central differences of the nearest points (V6) */
  WITNESS_ZEROTH,      /* Jacobians estimated from the nearest points at random small motions (V7) */
} WitnessEstimate;

typedef struct {
  WitnessScore score;
  WitnessSampling sampling;
  WitnessEstimate estimate;
  double reach;        /* radius about the nearest point within which samples are taken [m]. 0 selects a quarter of the
                          bounding box's diagonal (WITNESS_FIXED) or WitnessBody.spacing (WITNESS_ADAPTIVE) */
  double margin;       /* desired distance between the two nearest points [m], used by the loss (V4) */
  double temperature;  /* temperature T by which the scores are divided in the softmax weights [m^2]; 0 selects the
                          standard deviation of each body's scores (V1) */
  double perturbation; /* angle of the small rotations of WITNESS_DIFFERENCES and WITNESS_ZEROTH [rad]; the translations
                          are WITNESS_MOVE times the angle [m] */
  int turn;            /* seed of the choice of samples and of the random motions */
} WitnessOptions;
#define WITNESS_MOVE 0.057295779513082323 /* small translation per small rotation [m/rad]: 1 mm per degree */

/* Smoothed nearest point of one body, and the derivatives of the point `smooth`. The scores of the samples depend on a
 * reference: the other body's nearest point, or for WITNESS_BY_DIRECTION the direction to it. */
typedef struct {
  Vec3 samples[WITNESS_SAMPLES]; /* sample points, body frame; samples[0] is the nearest point */
  int origins[WITNESS_SAMPLES]
             [2]; /* piece and vertex or triangle of each sample, as in WitnessBody.origins; origins[0] is undefined */
  int count;
  double temperature;    /* temperature T that divides the scores in the softmax weights [m^2] (V1) */
  Vec3 smooth;           /* smoothed nearest point, world axes */
  double by_own[3][6];   /* derivative of `smooth` with respect to the motion of this body, at constant samples,
                            temperature and reference (V2) */
  double by_other[3][3]; /* derivative of `smooth` with respect to the reference (V2) */
  Vec3 by_temperature;   /* derivative of `smooth` with respect to the temperature [1/m], at constant samples and
                            reference (V2) */
  Mat3 by_sample[WITNESS_SAMPLES]; /* derivative of `smooth` with respect to the displacement of each sample, world axes
                                      (V2) */
} WitnessSide;

/* Last nearest pieces of a pair of bodies, from which the next query starts. A zeroed struct is a cold start. */
typedef struct {
  int piece[2];
  GjkCache gjk; /* GJK cache of the two pieces */
} WitnessCache;

typedef struct {
  Distance nearest; /* distance of the nearest or most deeply overlapping pair of pieces */
  int piece[2];     /* indices of the nearest pair of pieces: piece of a, piece of b */
  WitnessSide side[2];
  double total[2][2][3][6]; /* total[p][b]: Jacobian of the nearest point of body p with respect to the motion of body
                               b, by options->estimate. Rows: x, y, z; columns: rotation, translation */
  bool total_known;
} Witness;

/* Returns the nearest and the smoothed points of two bodies. targets[2]: target points of a and b in their body frames
 * [m], used by WITNESS_ADAPTIVE. If targets is NULL, samples are chosen as for WITNESS_FIXED. cache is read and
 * updated; NULL means a cold start. Allocates only if bodies overlap and hull_depth fails. */
Witness witness_query(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                      const WitnessOptions* options, const Vec3* targets, WitnessCache* cache);
/* Derivative of the smoothed point (world) with respect to the position of one vertex of a piece (body frame).
 * Dimensionless (V12). */
typedef struct {
  int piece, vertex;
  Mat3 slope;
} WitnessCornerSlope;
enum { WITNESS_CORNERS_MAX = FEATURE_CORNERS + 3 * WITNESS_SAMPLES };
/* Computes the derivatives of the smoothed point of one body with respect to the body's vertices. side: 0 for a, 1 for
 * b. answer: result of witness_query for this pose. Writes entries to out, which has room for WITNESS_CORNERS_MAX
 * entries. If a vertex occurs twice, its derivative is the sum of both entries. Samples stay fixed within their
 * triangles, the nearest point within its feature. The temperature and the reference of the scores are constant.
 * Returns the number of entries, or -1 if the nearest feature has too many vertices. */
int witness_corner_slopes(const WitnessBody* body, Pose pose, const Witness* answer, int side, WitnessCornerSlope* out);
/* Returns the distance and the nearest points of two bodies. Sets piece[0] and piece[1] to the pieces of a and of b on
 * which the nearest points lie. cache is read and updated; NULL means a cold start. Allocates only if bodies overlap
 * and hull_depth fails. */
Distance witness_nearest(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b, WitnessCache* cache,
                         int piece[2]);

/* Loss of the nearest points, with gradients (V4). The loss measures the distances of the points from their targets and
 * the difference between the points' distance and the margin. */
typedef struct {
  double value;          /* loss [m^2] */
  double gradient[2][6]; /* with respect to the motions of a and of b: rotations [m^2/rad], translations [m] */
  double transported[6]; /* gradient with respect to the motion of b if a is fixed. transported = gradient for b +
                            gradient for a, converted to the opposite motion of b (V5) */
} WitnessLoss;
/* Returns the loss for a result of witness_query at these poses. targets[2]: target points of a and b in their body
 * frames [m]; margin [m]. */
WitnessLoss witness_loss(const Witness* answer, Pose pose_a, Pose pose_b, const Vec3* targets, double margin);

/* Settings of a gradient descent that moves the bodies to reduce the loss. All steps have a prescribed length: `step`
 * in the first tenth of the iterations, `last` in the last tenth, their geometric mean between. */
typedef struct {
  WitnessOptions query;
  int iterations; /* number of iterations, >= 0 */
  double step;    /* size of the first steps: angle of a rotation [degrees] and length of a translation [mm] */
  double last;    /* size of the last steps, in degrees and millimetres; 0 selects step / 100 */
  bool both;      /* true if both bodies move, false if only b moves */
  bool transport; /* true: b also moves by the opposite of the step that a would make (V5); only if `both` is false */
} WitnessDescent;
/* Moves the poses of one or both bodies by gradient descent of witness_loss. Returns the final loss [m^2]. targets[2]:
 * target points of a and b in their body frames [m]. Allocates temporary memory. */
double witness_descend(const WitnessBody* a, Pose* pose_a, const WitnessBody* b, Pose* pose_b, const Vec3* targets,
                       const WitnessDescent* options);

/* Returns a lower bound [m^2] of the loss for targets[2] and zero margin (V11; query/witness_reach.c). The bound holds
 * for all poses whose nearest points are unique. In these poses one nearest point is a vertex, or both lie on edges. */
double witness_reach_bound(const WitnessBody* a, const WitnessBody* b, const Vec3* targets);

/* Returns a random surface point, body frame [m]: a vertex, or a point distributed over the faces by area. Draws again,
 * up to a limit, if the point lies inside another piece. */
Vec3 witness_random_point(const WitnessBody* body, Random* random);
/* Sets targets[2] to two random surface points that can be brought into contact (query/witness_draw.c). Each target is
 * in the frame of its body [m]. With probability 1/3 each, the targets are a vertex and a face point, a face point and
 * a vertex, or two vertices. Draws again, up to a limit, until contact at the targets is nearly possible: when the
 * targets coincide with opposite normals, their distances from the nearest points sum to less than 1 cm. Allocates
 * temporary memory. */
void witness_random_pair(const WitnessBody* a, const WitnessBody* b, Random* random, Vec3 targets[2]);

/* ---------------------------------------------------------------- grasp quality (query/grasp.c)
 * docs/derivations/grasp.md */
enum { GRASP_WRENCH = 6, GRASP_EDGES = 8, GRASP_PLANE = 48 };
typedef struct {
  Vec3 arm;    /* from the body's centre to the contact, world [m] */
  Vec3 normal; /* unit normal, into the body */
} GraspContact;
typedef struct {
  double friction; /* coefficient of friction, > 0 */
  double length;   /* length by which torques are divided [m] */
} GraspSettings;
typedef struct {
  bool known;     /* false if the contact wrenches have no convex hull with volume; epsilon is then 0 */
  double epsilon; /* radius of the largest ball of wrenches about the origin that the contacts can resist if their
                     normal forces sum to at most 1 (V9). Negative if the origin lies outside the convex hull of the
                     wrenches: -epsilon is then its largest distance from a facet's plane */
  double normal[GRASP_WRENCH];    /* unit normal of the facet nearest to the origin, in wrench space */
  int count, wrench[GRASP_PLANE]; /* number and indices of the contact wrenches that lie in the plane of the facet
                                     nearest to the origin */
  double weight[GRASP_PLANE];     /* weight[i]: weight of wrench number wrench[i] in the derivative of epsilon (V10) */
} GraspQuality;
/* Computes the wrenches of unit normal force along the edges of the friction cones (V8). Each contact has GRASP_EDGES
 * edges. Sets out (count * GRASP_EDGES rows) to force and torque, both dimensionless, because torques are divided by
 * settings->length. Returns the number of rows. */
int grasp_wrenches(const GraspContact* contacts, int count, const GraspSettings* settings, double (*out)[GRASP_WRENCH]);
/* Returns the grasp quality of the contacts (count). The member `known` is false if there are too few contacts or Qhull
 * finds no hull. Allocates temporary memory. */
GraspQuality grasp_quality(const GraspContact* contacts, int count, const GraspSettings* settings);
/* Returns the rate of change of the quality epsilon when one contact moves (V10). The arm of contact number `contact`
 * changes by `arm`, its normal by `normal`. Returns 0 if the quality is not known. contacts: the array given to
 * grasp_quality. */
double grasp_quality_slope(const GraspQuality* quality, const GraspContact* contacts, const GraspSettings* settings,
                           int contact, Vec3 arm, Vec3 normal);

/* ---------------------------------------------------------------- paths (query/path.c, path_search.c, path_smooth.c)
 * Collision-free path of a body of fixed orientation among obstacles. Everywhere on the path the growth distance alpha
 * from each obstacle is at least 1 + clearance. docs/derivations/growth.md */
typedef struct {
  const Shape* body;
  Mat3 turn;              /* orientation of the body */
  const Shape* obstacles; /* (size: count) */
  const Pose* poses;
  int count;
  Vec3 from, to;     /* start and end of the path [m] */
  Vec3 low, high;    /* bounds of the position of the body's origin [m] */
  double clearance;  /* > 0; the growth distance from every obstacle stays at least 1 + clearance */
  double smoothness; /* the path minimizes its length plus `smoothness` times the integral of its squared curvature
                        [m^2] */
  int points;        /* number of points of the path, >= 3 */
  uint64_t seed;
} PathProblem;

typedef enum { PATH_FOUND, PATH_BLOCKED_END, PATH_NONE } PathOutcome;

typedef struct {
  PathOutcome outcome;
  bool smoothed; /* false if no smoothed path could be proven free; the points then lie on the polyline of the search */
  Vec3* points;  /* positions of the path [m], freed by path_free (size: count) */
  int count;     /* number of points: PathProblem.points, or more if the polyline has more vertices */
  double length, start_length; /* length of the path; length of the polyline found by the search [m] */
  double least; /* least growth distance from an obstacle, at the points and at the midpoints of the segments */
  int queries;  /* number of growth queries */
} PlannedPath;
/* Plans a collision-free path. PATH_FOUND: alpha >= 1 + clearance is proven on every segment (G17). PATH_BLOCKED_END:
 * an end of the path is not free. PATH_NONE: the search found no path. The member `points` is NULL unless the outcome
 * is PATH_FOUND. The caller frees the points with path_free. Allocates. */
PlannedPath path_plan(const PathProblem* problem);
/* Frees the points and zeroes the path. Does not accept NULL. */
void path_free(PlannedPath* path);

/* ---------------------------------------------------------------- contact manifolds (query/manifold.c)
 * Many contact points of two bodies of any shape, with derivatives with respect to poses.
 * docs/derivations/manifold.md */

/* A body: a signed distance field, with points and edges on its surface. The body owns points and edges, but not the
 * field. manifold_body_free frees them and accepts a zeroed body. */
typedef struct {
  const Field* field;
  Vec3* points; /* points of the body, body frame [m] */
  int point_count;
  int (*edges)[2]; /* vertex pairs of edges between non-coplanar triangles, oriented along the positive direction of
                      their largest component */
  int edge_count;
  double outer;    /* radius about the origin of a ball that contains all points [m] */
  const int* only; /* borrowed: indices of the points that may be in contact (size: only_count), or NULL for all */
  int only_count;
  const Vec3* point_slopes;    /* borrowed: derivative of point i with respect to parameter k of the field, at [k *
                                  point_count + i]; or NULL */
  const FieldCorners* corners; /* borrowed: if not NULL, the body's parameters are the coordinates of these vertices
                                  instead of the field's parameters */
  const int* point_corner;     /* borrowed, used with corners: vertex index of each point, or -1 */
  double field_width;          /* for a convex polyhedron whose field rounds its edges: the rounding length divided by
                                  ManifoldOptions.smoothing. 0 if the field does not depend on the smoothing */
} ManifoldBody;
/* Returns the number of parameters of a body: three for each vertex in corners, otherwise the number of parameters of
 * the field. */
static inline int manifold_parameter_count(const ManifoldBody* body) {
  return body->corners ? 3 * body->corners->count : field_parameter_count(body->field);
}
/* Returns a body made from a triangle surface. Takes ownership of the surface's points and leaves the surface empty.
 * Borrows the field, which must outlive the body. The caller frees the body with manifold_body_free. */
ManifoldBody manifold_body_create(const Field* field, TriangleSurface* surface);
/* Returns a body made from the triangle surface of a convex polyhedron. Two triangles of one face have no edge
 * between them. Takes ownership of the surface's points and leaves the surface empty. Borrows field, made by
 * field_of_faces (shapes/field_faces.h), which must outlive the body. field_width: becomes ManifoldBody.field_width.
 * The caller frees the body with manifold_body_free. */
ManifoldBody manifold_body_of_faces(const Field* field, TriangleSurface* surface, double field_width);
/* Frees points and edges, but not the field, and zeroes the body. Accepts a zeroed body, but not NULL. */
void manifold_body_free(ManifoldBody* body);

typedef struct {
  double smoothing; /* length [m], > 0, over which contacts fade in and out, and over which the choice of deepest points
                       and nearest edges is blurred */
  double softness;  /* > 0, dimensionless. Hard limits are replaced by smooth ones of this relative width: the limits of
                       positions along edges, the choice of signs, and the limits of angles between normals */
  double regularization; /* >= 0, dimensionless: pulls an edge's witness point towards the midpoint of the edge */
  int points,
      edges;   /* number of deepest points and of deepest edges that are chosen on each body (X1); 0 selects all */
  bool values; /* true if no derivatives are computed */
  bool mutual; /* true if two edges touch only if the witness point of each edge lies in the other body (X6b) */
  bool cull;   /* true to skip the field evaluations of edge pairs with negligible activity (X13) */
} ManifoldOptions;

/* Variables with respect to which manifold_query_by differentiates. */
typedef enum {
  MANIFOLD_BY_MOTION, /* motion of both bodies, as in manifold_query */
  MANIFOLD_BY_SHAPE_A,
  MANIFOLD_BY_SHAPE_B,
  MANIFOLD_BY_SMOOTHING,
} ManifoldCause;

/* Default number of edges of a body: a box has 12. */
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
  ContactKind kind; /* type of the contact, point or edge, and the body to which the point or edge belongs */
  Vec3 point;       /* contact point [m] */
  double distance;  /* signed distance [m], negative if the bodies penetrate */
  Vec3 normal;      /* normal from a to b; shorter than 1 where its direction is ambiguous (X6) */
  double activity;  /* smooth weight of the contact, 0 to 1; 1 for points */
  double slope[MANIFOLD_ROWS][12]; /* derivatives of all members above; columns: rotation and translation of a, then of
                                      b, as at the top of this file */
} ManifoldContact;

/* Returns the number of contacts that manifold_query writes. There is one contact for each point and two for each pair
 * of edges, at any pose. The number may exceed INT_MAX. */
int64_t manifold_count(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options);
/* Returns the size of the workspace of a query in bytes, including alignment. */
size_t manifold_room(const ManifoldBody* a, const ManifoldBody* b, const ManifoldOptions* options);
/* Computes the contacts of two bodies. Sets out (manifold_count entries) to the contacts of the points of a, then of
 * the points of b. Two contacts follow for each pair of edges: one on the edge of a and one on the edge of b. room:
 * 64-byte aligned workspace of manifold_room bytes; if room is NULL, a workspace is allocated temporarily. Returns the
 * number of points and edges that were left out, although a chosen point or edge has the same depth. Among equally deep
 * points or edges, points or edges far from each other are chosen. */
int manifold_query(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                   const ManifoldOptions* options, ManifoldContact* out, void* room);

/* Weighted mean of the distance over all contacts (X14). */
typedef struct {
  double distance; /* sum of activity * distance divided by the sum of activities [m] (X14) */
  double activity; /* sum of activities, where each point counts 1. If the sum is 0 (no points and no edges), `distance`
                      is NaN */
  double slope[12]; /* derivatives of `distance`; columns: rotation and translation of a, then of b */
} ManifoldMean;
/* Sets *out to the weighted mean distance over the contacts of two bodies, without storing the contacts. options->cull
 * changes the result by rounding only. room: 64-byte aligned workspace of manifold_room bytes; if room is NULL, a
 * workspace is allocated temporarily. Returns the number of points and edges that were left out, although a chosen
 * point or edge has the same depth. */
int manifold_mean(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                  const ManifoldOptions* options, ManifoldMean* out, void* room);
/* Computes the contacts of two bodies with derivatives with respect to shape parameters or the smoothing
 * (law-manifold.md, X8). `cause` selects the parameters of a, the parameters of b, or the smoothing. Columns 0 to 5 of
 * the slopes belong to the parameters first .. first + 5 of the body; columns beyond the last parameter are zero. For
 * the smoothing only column 0 is used. first must be below manifold_parameter_count. out (manifold_count entries);
 * room: 64-byte aligned workspace of manifold_room bytes, or NULL. */
void manifold_query_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                       const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldContact* out,
                       void* room);
/* Sets *out to the mean distance over all contacts, with derivatives with respect to shape parameters or the smoothing
 * in the first six entries of out->slope. `cause` and `first` select the variables: parameters first .. first + 5 of a
 * or of b, or the smoothing. room: 64-byte aligned workspace of manifold_room bytes, or NULL. */
void manifold_mean_by(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                      const ManifoldOptions* options, ManifoldCause cause, int first, ManifoldMean* out, void* room);
/* Returns the derivatives of the body's points with respect to the parameters of its field, for the member
 * point_slopes. Entry [k * point_count + i] belongs to parameter k and point i [m per unit]. Points move along rays
 * from the centre for FIELD_SHAPE (X15), otherwise along the gradient of the field (X16). The caller frees the array
 * with memory_free. */
Vec3* manifold_surface_slopes(const ManifoldBody* body);

#endif
