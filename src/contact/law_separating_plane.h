/* Private to contact/: types and parameters of the law `separating_plane`, shared by law_separating_plane.c and
 * law_separating_plane_replay.c. */
#ifndef SDRS_CONTACT_LAW_SEPARATING_PLANE_H
#define SDRS_CONTACT_LAW_SEPARATING_PLANE_H

#include "contact/adjoint.h"
#include "contact/law.h"
#include "contact/rolling.h"

/* Data of the law for a scene (result of ContactLaw.create). */
typedef struct {
  double support, stiffness, range;
  int threads;
  PlaneScratch* scratch;       /* one a thread */
  ActiveVertex** active;       /* one a thread */
  FrictionParameters friction; /* without the coefficients of the pair's material; the same for `impact` */
  ImpactParameters impact;
  double dt_before;     /* length of the substep before [s] */
  double force_ratio;   /* argument `ratio` of impact_load */
  double* inverse_mass; /* inverse mass of the tree of each hull; 0: it cannot move [1/kg] (hulls) */
  bool pays;            /* friction by weighted forces, which pays what it owes (friction.md, F14) */
} PlaneLaw;

/* (F14) Payment of a recorded pair. */
typedef struct {
  double owed;  /* force that friction owes, for stiffness 1 */
  double ratio; /* force_ratio of the step, to which `owed` is proportional */
  bool pays;    /* friction is weighted and pays what it owes */
  bool owes;    /* `owed` depends on the step before */
} PlanePayment;

/* Numbers of a recorded pair (ContactRecord.kept). */
typedef struct {
  Plane plane; /* plane of an active record */
  /* u1, u2 [m/s], omega * length [m/s] in the basis of the lagged plane, for a pair with friction: by the force at t,
   * and by that of the previous solve of the step */
  double plane_slip[2][3];
  double own_share; /* (F14) weight of the force of the previous solve */
  ContactLoad
      load; /* impact load of the state before, on which friction depends: `factor` is W' if it pays, else W'_f */
  ImpactPast past; /* state carried into the step */
  union {
    FrictionSlip slip;   /* slip over the step before, for a pair with static friction */
    PlanePayment weighs; /* for other pairs */
  };
} PlaneRecord;
_Static_assert(sizeof(PlaneRecord) <= sizeof(double[CONTACT_KEPT_NUMBERS]), "a record is kept as numbers");

/* Memory of a recorded pair (LawReplay.memory). */
typedef struct {
  FrictionLag lag;        /* for a pair whose friction depends on the force at t */
  FrictionLag own_lag;    /* for one whose friction depends on the force of the previous solve of the step */
  RollingLag rolling;     /* for a pair with rolling friction */
  PlaneResponse response; /* for an active pair */
  Impact impact;          /* for an active pair */
  Impact solve_impact;    /* impact in the previous solve of the step, if friction depends on its force */
} PlaneReplay;

/* Returns the parameters of impacts for the material of a pair. */
static inline ImpactParameters impact_parameters(const PlaneLaw* law, const PairMaterial* material) {
  ImpactParameters parameters = law->impact;
  parameters.restitution = material->value[MATERIAL_RESTITUTION];
  return parameters;
}

/* Returns the parameters of rolling friction. factor: impact factor of the force at the end of the last step. */
static inline RollingParameters rolling_of(const PlaneLaw* law, const PairMaterial* material, double factor) {
  return (RollingParameters){material->value[MATERIAL_ROLLING] * factor, material->value[MATERIAL_SPINNING] * factor,
                             law->friction.dt};
}

/* True if the material has rolling or spinning friction. */
static inline bool rolls(const PairMaterial* material) {
  return material->value[MATERIAL_ROLLING] > 0 || material->value[MATERIAL_SPINNING] > 0;
}

/* True if the material has sliding friction. */
static inline bool slides(const PairMaterial* material) { return material->value[MATERIAL_FRICTION] > 0; }

/* (F12) Returns true if the material has static friction. */
static inline bool sticks(const PairMaterial* material) {
  return slides(material) && material->value[MATERIAL_STATIC_FRICTION] != material->value[MATERIAL_FRICTION];
}

/* (F12) Returns the fraction exp(-(v / v_s)^2) of the difference between static and sliding friction that acts after a
 * step with the slip v; 0 if the slip is unknown. */
static inline double stuck_part(const PairMaterial* material, const FrictionSlip* slip) {
  double speed = material->value[MATERIAL_STRIBECK_SPEED];
  return sticks(material) && slip->known ? math_decay(-slip->square / (speed * speed)) : 0;
}

/* Returns the material with the friction coefficient that acts after this slip (F12). */
static inline PairMaterial acting(const PairMaterial* material, const FrictionSlip* slip) {
  PairMaterial out = *material;
  double above = material->value[MATERIAL_STATIC_FRICTION] - material->value[MATERIAL_FRICTION];
  out.value[MATERIAL_FRICTION] += stuck_part(material, slip) * above;
  return out;
}

/* Returns the normal force for stiffness 1. */
static inline double force_of(const PlaneSolution* solution) {
  return fabs(solution->side[0].first[3]) * vec3_norm(solution->plane.n);
}

/* Returns the friction by direction of a pair with an axis, in `room`; NULL: the pair has none. */
static inline const FrictionDirection* direction_of(const PairMaterial* material, FrictionDirection* room) {
  if (!material->directed || !slides(material)) return NULL;
  *room = (FrictionDirection){material->value[MATERIAL_FRICTION_ALONG] / material->value[MATERIAL_FRICTION],
                              material->axis, material->axis_side};
  return room;
}

/* (F14) Changes of speed by late friction, in rest speeds, up to which the weight of the step's own force is 0, and at
 * which it is 1/2. */
#define LATE_FROM 5.0
#define LATE_HALF 25.0

/* (F14) Weight of the step's own force, and its derivative with respect to the change of speed by late friction. */
typedef struct {
  double speed; /* mu |change of the normal force| dt / m [m/s] */
  double value, by_speed;
} OwnShare;

/* Returns the weight x^2 / (1 + x^2), with x = 0 at LATE_FROM and x = 1 at LATE_HALF. mobility: 1 / m [1/kg]; change:
 * of the normal force, for stiffness 1. */
static inline OwnShare own_share_of(const PlaneLaw* law, const PairMaterial* material, double mobility, double change) {
  double from = LATE_FROM * law->impact.rest_speed, width = (LATE_HALF - LATE_FROM) * law->impact.rest_speed;
  double speed = material->value[MATERIAL_FRICTION] * law->stiffness * fabs(change) * law->friction.dt * mobility;
  if (!(speed > from)) return (OwnShare){speed, 0, 0};
  double x = (speed - from) / width, below = 1 / (1 + x * x);
  return (OwnShare){speed, x * x * below, 2 * x * below * below / width};
}

/* (F14) Factor on friction that has the bound `bound` and owes `owed`, and its derivatives with respect to both. left:
 * value * bound - owed, which the next step subtracts from its force, and its derivatives. */
typedef struct {
  double value, by_bound, by_owed;
  double left, left_by_bound, left_by_owed;
} Payment;

/* (F14) Load over bound from which friction that is late pays what it owes and no more. */
#define LATE_ONLY 1.5
/* (F14) Fraction of a small load that friction pays in a step. 1 would expect the force 2 N - N of the step before,
 * with which the forces of a sliding leg alternate. */
#define PAID_SHARE 0.1

/* (F14) With x = owed / bound and r = PAID_SHARE: value = 1 / (1 - r x) for x < 0, x from x = LATE_ONLY on, and between
 * them a cubic. It is once continuously differentiable, increases with x, and is above 0. */
static inline Payment payment_of(double bound, double owed) {
  if (!(bound > 0)) return (Payment){1, 0, 0, bound - owed, 1, -1};
  double x = owed / bound, value = x, above = 0, slope = 0; /* above: value - x; slope: its derivative */
  if (x < 0) {
    value = 1 / (1 - PAID_SHARE * x);
    above = value - x;
    slope = PAID_SHARE * value * value - 1;
  } else if (x < LATE_ONLY) {
    const double fall = (1 - PAID_SHARE) * LATE_ONLY, bend = 2 - fall;
    double u = x / LATE_ONLY;
    above = (1 - u) * (1 - u) * (1 + bend * u);
    value = x + above;
    slope = -(1 - u) * (fall + 3 * bend * u) / LATE_ONLY;
  }
  return (Payment){value, -x * (1 + slope) / bound, (1 + slope) / bound, above * bound, above - x * slope, slope};
}

/* ContactLaw.revisit: returns true if the record is inactive or its plane was found. */
bool plane_law_revisit(void* instance, int thread, const ContactRecord* from, const PairBody body[2], void* own);
/* ContactLaw.replay: returns false if that failed. */
bool plane_law_replay(const LawReplay* p, PairDerivatives* d);
/* ContactLaw.slip_product: returns false unless friction follows the impulse of an impact. */
bool plane_law_slip_product(const LawReplay* p, const double twist[2][6], double wrench[2][6]);
/* ContactLaw.potential: returns the derivative of the load with respect to the potential [m]. */
double plane_law_potential(const LawReplay* p, Vec3 force[2], Vec3 torque[2]);
/* ContactLaw.left: returns a force for stiffness 1. */
double plane_law_left(const LawReplay* p);
/* ContactLaw.reverse. */
void plane_law_reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* s);

#endif
