/* Private to contact/: dissipation and restitution of impacts (docs/derivations/impact.md). A function W(U) replaces
 * the potential U of a pair, so that the force depends on the approach speed:
 *   W(U) = integral from 0 to U of  phi(1 + (y - y_t) / eta)  dU',     y = sqrt(s U / N)                         (I1)
 * y is the dimensionless compression of the contact, y_t its value at the start of the step. s: support; N:
 * POTENTIAL_TERMS; eta: compression that corresponds to the rest speed in one step; phi: increasing function with
 * phi(1) = 1. The force of the pair is the barrier force times the impact factor W' = dW/dU. W' is 1 at rest, grows
 * with the approach speed, and is 0 if the pair separates faster than ImpactParameters.rest_speed. W is convex and not
 * below its tangent of slope 1 at y_t, so that no energy is created (I4). All values are for stiffness 1. */
#ifndef SDRS_CONTACT_IMPACT_H
#define SDRS_CONTACT_IMPACT_H

#include "contact/plane.h"
#include "contact/restitution.h"

/* N of (I1): assumed number of vertices in contact, four on each side. */
#define POTENTIAL_TERMS 8.0

typedef struct {
  double support;     /* support s [m] */
  double rest_speed;  /* largest speed at which bodies separate if restitution is 0 [m/s]; 0 selects the barrier without
                         dissipation, W = U */
  double dt;          /* s */
  double restitution; /* coefficient of restitution; 0 selects the dissipating potential W (I1) */
  double stiffness;   /* contact stiffness kappa [J m] */
} ImpactParameters;

/* Returns the dimensionless compression y = sqrt(s U / N) for the potential U [1/m]. The result is 0 if the pair is out
 * of range, U = 0. support: s [m]. */
double impact_compression(double support, double potential);

/* Stages of the impact of a pair with restitution. Each stage lasts one short substep (I9). */
typedef enum {
  IMPACT_NONE,
  IMPACT_ENTERED, /* the normalized clearance z has reached IMPACT_ENTRY; the substep measures the approach speed. The
                     pair exerts no force until its gap is below half of the range (I2a) */
  IMPACT_COMPRESSION_1, /* the substep removes a part of the approach speed, without friction */
  IMPACT_COMPRESSION_2, /* the impulse of IMPACT_COMPRESSION_1 limits friction */
  IMPACT_COMPRESSION_3, /* the approach ends; the impulse of the whole compression limits friction */
  IMPACT_RESTITUTION,   /* the impulse of the compression, times the restitution, acts on the bodies and limits friction
                         */
} ImpactStage;
/* Returns true if a spring of (I7) acts in the stage. */
static inline bool impact_compresses(ImpactStage stage) {
  return stage >= IMPACT_COMPRESSION_1 && stage <= IMPACT_COMPRESSION_3;
}
/* Returns true if the force of the stage is a part of the impulse of the impact. */
static inline bool impact_acts(ImpactStage stage) { return stage >= IMPACT_COMPRESSION_1; }

/* State of the impact of a pair at the start of a substep. */
typedef struct {
  ImpactStage stage;
  bool recorded;     /* true for a recorded step. The spring then also acts slightly beyond its rest position, so that
                        differences with respect to lengths can be computed (I11) */
  Pressure now, old; /* potential and force at t and at t - dt_before */
  double dt_before;  /* s */
  /* Impulses of the impact up to t, from IMPACT_COMPRESSION_2 on, otherwise 0. They are converted to forces of this
   * substep with `ratio`, for stiffness 1 [1/m^2]. impulse: of all stages; latest: of the substep that ended at t. */
  double impulse, latest;
  double ratio; /* argument `ratio` of impact_friction_factor */
  double
      inertia; /* 1 / (1/m_a + 1/m_b) with the masses m of the trees of both links [kg]; 0 if neither tree can move */
} ImpactPast;

typedef struct {
  double value;         /* potential W [1/m] */
  double first, second; /* impact factor dW/dU and its derivative d2W/dU2 [m]; for U -> 0, the product of `second` and
                           the squared gradient of U vanishes */
  double by_before;     /* derivative of `first` with respect to the compression y_t */
  double by_support; /* derivative of `first` with respect to the support s at fixed potential and compression [1/m] */
  double by_rest_speed;    /* derivative of `first` with respect to rest_speed [s/m] */
  Pressure by_now, by_old; /* derivatives of `first` with respect to ImpactPast.now and ImpactPast.old, for a pair with
                              restitution in its impact */
  /* Derivatives of `first` for a pair in its compression. */
  double by_inertia, by_stiffness, by_dt, by_dt_before;
} Impact;
/* Returns W and its derivatives at the potential U [1/m]. before: y_t, the compression at the start of the step. W = U
 * if U or the rest speed is 0. */
Impact impact_evaluate(const ImpactParameters* parameters, double potential, double before);
/* Returns W and its derivatives at the potential U [1/m], with a lower bound on the compression y_t at the start of the
 * step (I2a). The bound is the compression at the clearance `entry` times the support, 0 < entry <= 1 (asserted). A
 * pair that comes into range then exerts almost no force at larger clearances. before: y_t, the compression at the
 * start of the step. W = U if U or the rest speed is 0. */
Impact impact_evaluate_with_entry(const ImpactParameters* parameters, double potential, double before, double entry);
/* Returns W and its derivatives for a pair whose impact is in its compression. W is the energy of a stiff spring. The
 * spring moves the clearance at the end of the substep to the value that leaves the required fraction of the approach
 * speed (I7). */
Impact impact_evaluate_compression(const ImpactParameters* parameters, double potential, const ImpactPast* past);
/* Normal force of a pair in IMPACT_RESTITUTION for stiffness 1 [1/m^2], and its derivatives (I7a). */
typedef struct {
  double value, by_impulse, by_restitution, by_rest_speed, by_inertia, by_dt_before;
} ImpactReturn;
ImpactReturn impact_return(const ImpactParameters* parameters, const ImpactPast* past);
/* Normal force that limits friction of a pair from IMPACT_COMPRESSION_2 on, for stiffness 1 [1/m^2] (I9). by_latest,
 * by_impulse, by_return: derivatives with respect to ImpactPast.latest, ImpactPast.impulse and ImpactReturn.value. */
typedef struct {
  double value, by_latest, by_impulse, by_return;
} ImpactFrictionLimit;
ImpactFrictionLimit impact_friction_limit(const ImpactParameters* parameters, const ImpactPast* past);
/* Returns the factor on the barrier force that limits friction of a substep. Forces act 1 / ratio times as long in this
 * substep as in the substep that led to t. The excess over the barrier force is an impulse, which is multiplied by
 * `ratio` >= 0 (I5):
 *   first + (ratio - 1) (first - 1)^3 / (1 + (first - 1)^2)   for first > 1.
 * The derivatives are scaled accordingly. For ratio 1, the result is bit-identical to `now`. Allocates nothing. */
Impact impact_friction_factor(const Impact* now, double ratio);
/* Returns the derivative of impact_friction_factor(now, ratio).first with respect to `ratio`. */
double impact_friction_factor_by_ratio(const Impact* now);
/* Returns the result of impact_evaluate_compression for a pair with U > 0 in its compression, W = 0 in
 * IMPACT_RESTITUTION, otherwise the result of impact_evaluate_with_entry. */
Impact impact_evaluate_pair(const ImpactParameters* parameters, double potential, double before,
                            const ImpactPast* past);
/* Returns the approach speed of the pair in the substep that led to t [m/s]. It follows from the potentials at both
 * ends of this substep. Returns 0 if the pair is out of range at t. */
double impact_speed(const ImpactParameters* parameters, const ImpactPast* past);
/* Returns the potential U of a pair [1/m] at the normalized clearance z in (0, 1], the clearance divided by the
 * support. support: s [m]. */
double impact_potential(double support, double z);
/* Returns the normalized clearance z in (0, 1] at which the potential is `potential` [1/m]. */
double impact_clearance(const ImpactParameters* parameters, double potential);

/* Approach speed, divided by the rest speed, below which restitution is 0. Restitution has its full value above 2
 * IMPACT_MIN_SPEED_RATIO. */
#define IMPACT_MIN_SPEED_RATIO 5.0
typedef struct {
  double value, by_speed, by_rest_speed, by_restitution;
} ImpactRestitution;
/* Returns the coefficient of restitution that acts at the approach speed `speed` [m/s]. It grows smoothly from 0 to
 * parameters->restitution (I8). */
ImpactRestitution impact_restitution(const ImpactParameters* parameters, double speed);

/* ---- from substep to substep (impact_course.c; I9) */
/* Impacts of all pairs in the substep that ended (I10a). */
typedef struct {
  bool any;        /* true if a pair was in a stage of its impact */
  bool unfinished; /* true if the impact of a pair acts in the next substep too */
} ImpactActivity;
typedef struct {
  ImpactPast past;
  bool rests; /* true if the pair is in range without an impact. Its restitution is then 0 until it leaves the range */
  double approach; /* approach speed if the last substep reached IMPACT_ENTRY, otherwise 0 [m/s] */
} ImpactProgress;
/* Returns the impact state of the next substep. progress: impact state of the previous substep. dt_before: length of
 * the previous substep [s]. activity: impacts of all pairs in the previous substep. now: potential and force at its
 * end. factor: impact factor at its end. inertia, ratio: members of ImpactPast. */
ImpactProgress impact_advance(const ImpactParameters* parameters, double dt_before, ImpactActivity activity,
                              double inertia, const Pressure* now, double factor, double ratio,
                              const ImpactProgress* progress);
/* Impact of a pair at the end of a substep. */
typedef struct {
  ImpactParameters parameters;
  double inertia;         /* ImpactPast.inertia [kg] */
  ImpactProgress* course; /* impact state of the substep */
  Pressure now;           /* potential and force at the end of the substep; 0 if the pair is out of range */
  const Impact* impact;   /* impact factor at the end of the substep; only for a pair in range */
  double load;            /* impact factor at the start of the substep; 0 if the pair was out of range */
  double before;          /* compression y_t at the start of the substep */
} PairImpact;
/* Returns true if the pair was active at the start of the substep and now exerts little or no force. in_range: true if
 * the pair is in range. */
bool impact_pair_separated(const PairImpact* pair, bool in_range);
/* Returns true if an impact of the pair began in the substep from course->past.now to `next`. With restitution, the
 * pair must have no impact at the start of the substep. At its end, the normalized clearance z must be at most
 * IMPACT_ENTRY + IMPACT_TIE. With restitution 0, the pair must have come into range in the substep. Call only for pairs
 * in range. */
bool impact_enters(const ImpactParameters* parameters, const Pressure* next, const ImpactProgress* course);
/* Returns true if the pair came into contact in this substep. Returns false for a pair with restitution during its
 * impact. */
bool impact_began(const ImpactParameters* parameters, const ImpactProgress* course, const Impact* impact);
/* Returns true if the impact factor belongs to an approaching pair. The next substep then belongs to the impact. Call
 * only for a pair in range. */
bool impact_continues(const Impact* impact);

/* Constant wrench of a pair in IMPACT_RESTITUTION on both bodies, about the origins of their frames (I7a). Its energy
 * for stiffness 1 is the sum over the bodies of force . (displacement of the origin) + the products of the entries of
 * `moment` and the rotation since t. */
typedef struct {
  Vec3 force[2];  /* derivative of the energy with respect to displacements at t */
  Mat3 moment[2]; /* antisymmetric; mat3_axial is the derivative with respect to rotations at t */
  Pose start[2];  /* poses of both bodies at t */
} ReturnWrench;
/* Sets *out to `share` times the forces and moments of the potential U at t. share: ImpactReturn.value divided by the
 * force of the pair at t. potential: derivatives of U at t about the points `reference`, world [m]. pose: poses at t.
 */
void impact_return_wrench(const PairDerivatives* potential, double share, const Vec3 reference[2],
                          const Pose* const pose[2], ReturnWrench* out);
/* Returns the energy of the wrench [1/m] for stiffness 1. pose: poses at t + dt. */
double impact_return_energy(const ReturnWrench* wrench, const Pose* const pose[2]);
/* Adds the derivatives of impact_return_energy to *d. Their Hessian is zero, except for the rotation of the moment.
 * reference: reference points of *d, world [m]. pose: poses at t + dt. */
void impact_return_derivatives(const ReturnWrench* wrench, const Vec3 reference[2], const Pose* const pose[2],
                               PairDerivatives* d);

/* Converts forces, moments and Hessian in *d from derivatives of the barrier potential U to derivatives of the impact
 * potential W(U). Does not change the
 * energy. half_space: true if body b is a half-space, which has no rows in the Hessian. */
void impact_scale(const Impact* impact, bool half_space, PairDerivatives* d);

#endif
