/* Private to contact/: types and parameters of the law `separating_plane`, shared by law_separating_plane.c,
 * law_separating_plane_store.c and law_separating_plane_replay.c. */
#ifndef SDRS_CONTACT_LAW_SEPARATING_PLANE_TYPES_H
#define SDRS_CONTACT_LAW_SEPARATING_PLANE_TYPES_H

#include "contact/adjoint.h"
#include "contact/law.h"
#include "contact/rolling.h"

/* Data of the law for a scene (result of ContactLaw.create). */
typedef struct {
  double support, stiffness, range;
  int threads;
  PlaneScratch* scratch; /* workspace of each thread (size: threads) */
  ActiveVertex** active; /* active vertices of each thread (size: threads) */
  double smoothing, rest_speed;
  const LawStep* step;
  double* inverse_mass; /* 1 / (mass of the tree of each hull) [1/kg]; 0 if the hull cannot move (size: hulls) */
  bool carries_debt; /* true if normal forces that have not limited friction in their own step limit friction in later
                        steps (friction.md, F14) */
} PlaneLaw;

/* Normal force of past steps that has not limited friction yet, of a recorded pair (F14). During the simulation, the
 * struct PairMemory in law_separating_plane_pair.h contains these numbers. */
typedef struct {
  double friction_debt; /* sum of the normal forces of past steps, minus the sum of the forces that limited friction,
                  for stiffness 1 [1/m^2]; written e in (F14) */
  double ratio;         /* force_ratio of the step; `friction_debt` is proportional to it */
  bool carries_debt;    /* true if the pair has such a friction debt (F14) */
  bool has_debt;        /* true if `friction_debt` was computed from the previous step; false if it is 0 */
} PlaneDeferredForce;

/* Data of this law for a recorded pair, stored in ContactRecord.kept. */
typedef struct {
  Plane plane; /* plane of an active record */
  /* Slip of a pair with friction, in the tangent basis of the friction reference (FrictionLag.slip): slip velocity u1,
   * u2 [m/s], and spin times FrictionLag.length [m/s]. [0] belongs to friction limited by the force at t, [1] to
   * friction limited by the force of the previous solve of the step. */
  double plane_slip[2][3];
  double current_weight; /* weight w of the force of the previous solve of the step (F14), 0 to 1 */
  ContactLoad load;      /* impact factor of the force at t, which limits friction. If friction is a weighted sum (F14),
                            `factor` is W', otherwise the result of impact_friction_factor */
  ImpactPast past;       /* state of the impact at the start of the step */
  ElasticSlip elastic;   /* elastic slip at t (F16) */
  FrictionSlip slip;     /* slip in the previous step, for a pair with static friction */
  PlaneDeferredForce debt; /* normal force that has not limited friction yet */
} PlaneRecord;
_Static_assert(sizeof(PlaneRecord) <= sizeof(double[CONTACT_KEPT_NUMBERS]), "a record is kept as numbers");

/* Memory of a recorded pair (LawReplay.memory). */
typedef struct {
  FrictionLag lag;         /* friction limited by the force at t */
  FrictionLag current_lag; /* friction limited by the force of the previous solve of the step */
  RollingLag rolling;      /* rolling friction */
  PlaneResponse response;  /* derivative of the plane with respect to the twists, for an active pair */
  Impact impact;           /* impact potential at t + dt with the impact factor, for an active pair */
  Impact solve_impact; /* impact factor in the previous solve of the step, if the force of this solve limits friction */
} PlaneReplay;

/* Returns the parameters of impacts for the material of a pair. */
static inline ImpactParameters impact_parameters(const PlaneLaw* law, const PairMaterial* material) {
  return (ImpactParameters){law->support, law->rest_speed, law->step->dt, material->value[MATERIAL_RESTITUTION],
                            law->stiffness};
}

/* Returns the parameters of friction without the coefficient, which belongs to the pair. */
static inline FrictionParameters friction_parameters(const PlaneLaw* law) {
  return (FrictionParameters){.smoothing = law->smoothing, .dt = law->step->dt};
}

/* Returns the parameters of rolling friction. factor: impact factor of the normal force at t. */
static inline RollingParameters rolling_parameters(const PlaneLaw* law, const PairMaterial* material, double factor) {
  return (RollingParameters){material->value[MATERIAL_ROLLING] * factor, material->value[MATERIAL_SPINNING] * factor,
                             law->step->dt};
}

/* Returns true if the material has rolling or spinning friction. */
static inline bool rolls(const PairMaterial* material) {
  return material->value[MATERIAL_ROLLING] > 0 || material->value[MATERIAL_SPINNING] > 0;
}

/* Returns true if the material has sliding friction. */
static inline bool slides(const PairMaterial* material) { return material->value[MATERIAL_FRICTION] > 0; }

/* Returns true if the material has static friction (F12). */
static inline bool sticks(const PairMaterial* material) {
  return slides(material) && material->value[MATERIAL_STATIC_FRICTION] != material->value[MATERIAL_FRICTION];
}

/* Returns the excess of static over sliding friction after a step with the slip speed v, as a fraction of its largest
 * value (F12). The fraction is exp(-(v / v_s)^2), or 0 if the slip is unknown. v_s: Stribeck speed. */
static inline double static_friction_fraction(const PairMaterial* material, const FrictionSlip* slip) {
  double speed = material->value[MATERIAL_STRIBECK_SPEED];
  return sticks(material) && slip->known ? math_exp_nonpositive(-slip->square / (speed * speed)) : 0;
}

/* Returns the material with the friction coefficient that acts after a step with the slip `slip` (F12). */
static inline PairMaterial acting(const PairMaterial* material, const FrictionSlip* slip) {
  PairMaterial out = *material;
  double above = material->value[MATERIAL_STATIC_FRICTION] - material->value[MATERIAL_FRICTION];
  out.value[MATERIAL_FRICTION] += static_friction_fraction(material, slip) * above;
  return out;
}

/* Returns the magnitude of the normal force of a pair for stiffness 1 [1/m^2]. */
static inline double force_of(const PlaneSolution* solution) {
  return fabs(solution->side[0].first[3]) * vec3_norm(solution->plane.n);
}

/* Sets *room to the direction-dependent friction of the pair and returns room. Returns NULL for isotropic friction. */
static inline const FrictionDirection* direction_of(const PairMaterial* material, FrictionDirection* room) {
  if (!material->directed || !slides(material)) return NULL;
  *room = (FrictionDirection){material->value[MATERIAL_FRICTION_ALONG] / material->value[MATERIAL_FRICTION],
                              material->axis, material->axis_side};
  return room;
}

/* Limits of the blend of friction that the force at t limits and friction that the force of the same step limits (F14).
 * The blend depends on the change of speed that results from friction acting one step late, divided by the rest speed.
 * Up to LAG_BLEND_START the weight of the force of the same step is 0, and the step is not solved again. At
 * LAG_BLEND_HALF this weight is 1/2; the change of speed is then 0.1 % of the scene's speed. With 50 times these
 * limits, a box that lands while it slides goes 2.5 % too far at 10 ms, and a robot on two wheels 11 %. */
#define LAG_BLEND_START 0.1
#define LAG_BLEND_HALF 0.5

/* Weight of friction that the force of the same step limits (F14). by_speed: derivative with respect to `speed`, the
 * change of speed that results from friction acting one step late. */
typedef struct {
  double speed; /* friction coefficient * |change of the normal force| * dt / mass [m/s] */
  double value, by_speed;
} CurrentForceWeight;

/* Returns the weight x^2 / (1 + x^2) of friction that the force of the same step limits (F14). Let r be the change of
 * speed CurrentForceWeight.speed divided by the rest speed. x is 0 up to r = LAG_BLEND_START, then linear in r, and 1
 * at r = LAG_BLEND_HALF. mobility: inverse mass 1 / m of the pair [1/kg]. change: change of the normal force for
 * stiffness 1 [1/m^2]. */
static inline CurrentForceWeight current_force_weight(const PlaneLaw* law, const PairMaterial* material,
                                                      double mobility, double change) {
  double from = LAG_BLEND_START * law->rest_speed, width = (LAG_BLEND_HALF - LAG_BLEND_START) * law->rest_speed;
  double speed = material->value[MATERIAL_FRICTION] * law->stiffness * fabs(change) * law->step->dt * mobility;
  if (!(speed > from)) return (CurrentForceWeight){speed, 0, 0};
  double x = (speed - from) / width, below = 1 / (1 + x * x);
  return (CurrentForceWeight){speed, x * x * below, 2 * x * below * below / width};
}

/* Ratio of the force at t to the force of the same step at which both terms of friction have the same part of the
 * weight w (F14). Below it, the points and lever arms of friction are mostly those of the same step. At equal forces
 * their part is 0.4 %: with these points alone, a capsule that rolls in a circle is 16 % too fast. */
#define CURRENT_POINTS_RATIO 0.25

/* Factors on the friction energies of the two terms (F14): `late` for the one with the points and normal forces at t,
 * `current` for the one with those of the previous solve of the step. by_weight: derivatives with respect to w;
 * by_start, by_current: with respect to the forces F at t and O of the previous solve. */
typedef struct {
  double late, current;
  double late_by_weight, current_by_weight;
  double late_by_start, late_by_current, current_by_start, current_by_current;
} FrictionFactors;

/* Returns true if friction of a pair can act at the points of the previous solve of the step. Friction of circles uses
 * the points of time t (A8c). */
static inline bool has_current_points(const HullInstance* a, const HullInstance* b) {
  return a->ring_count == 0 && b->ring_count == 0;
}

/* Returns the factors l and c of the two terms of friction, with l F + c O = (1 - w) F + w O (F14). Without current
 * points, c is 0 and l is the same. weight: w. start, current: normal forces F at t and O of the previous solve of the
 * step, for stiffness 1 [1/m^2], >= 0. */
static inline FrictionFactors friction_factors(double weight, double start, double current, bool current_points) {
  double sum = start + current;
  if (!(weight > 0) || !(sum > 0)) return (FrictionFactors){.late = 1};
  const double ratio = CURRENT_POINTS_RATIO, limit = ratio * ratio * ratio * ratio;
  double f = start / sum, o = current / sum, f3 = f * f * f, o3 = o * o * o, below = 1 / (f3 * f + limit * o3 * o);
  double share = limit * o3 * o * below, raise = o * f3 * below; /* share + raise F / O = 1 */
  double slope = weight * below * below / sum, bend = 3 * limit * o3 * o - f3 * f;
  FrictionFactors out = {.late = 1 - weight + weight * raise,
                         .late_by_weight = raise - 1,
                         .late_by_start = slope * o * f * f * bend,
                         .late_by_current = -slope * f3 * bend};
  if (!current_points) return out;
  out.current = weight * share;
  out.current_by_weight = share;
  out.current_by_start = -4 * slope * limit * o3 * o * f3;
  out.current_by_current = 4 * slope * limit * o3 * f3 * f;
  return out;
}

/* Factor S (`value`) on the friction force of a step (F14). It lets friction use normal forces that have not limited
 * friction in earlier steps. by_bound, by_debt: derivatives of S. bound: the predicted normal force B. debt: sum e of
 * the forces that have not limited friction yet. net_limit: the force S B - e, which the next step subtracts from its
 * normal force; net_limit_by_bound, net_limit_by_debt: its derivatives. */
typedef struct {
  double value, by_bound, by_debt;
  double net_limit, net_limit_by_bound, net_limit_by_debt;
} FrictionScale;

/* Ratio debt / bound of the arguments of compute_friction_scale from which on only the debt limits friction, and not
 * the predicted force (F14). */
#define DEFERRED_ONLY_RATIO 1.5
/* Fraction of a small debt (FrictionScale) that limits friction in one step (F14). With the value 1, the
 * predicted force in steady contact would be 2 N - N(previous step), for the normal force N. The forces of a sliding
 * leg would then alternate from step to step. */
#define DEFERRED_FRACTION 0.1

/* Returns the factor S on friction and its derivatives (FrictionScale, F14). Let x = debt / bound. S is 1 / (1 -
 * DEFERRED_FRACTION x) for x < 0, and x for x > DEFERRED_ONLY_RATIO. In between, S is a cubic polynomial. S is once
 * continuously differentiable, increases with x, and is above 0. */
static inline FrictionScale compute_friction_scale(double bound, double debt) {
  if (!(bound > 0)) return (FrictionScale){1, 0, 0, bound - debt, 1, -1};
  double x = debt / bound, value = x, above = 0,
         slope = 0; /* above: value - x; slope: derivative of `above` with respect to x */
  if (x < 0) {
    value = 1 / (1 - DEFERRED_FRACTION * x);
    above = value - x;
    slope = DEFERRED_FRACTION * value * value - 1;
  } else if (x < DEFERRED_ONLY_RATIO) {
    const double fall = (1 - DEFERRED_FRACTION) * DEFERRED_ONLY_RATIO, bend = 2 - fall;
    double u = x / DEFERRED_ONLY_RATIO;
    above = (1 - u) * (1 - u) * (1 + bend * u);
    value = x + above;
    slope = -(1 - u) * (fall + 3 * bend * u) / DEFERRED_ONLY_RATIO;
  }
  return (FrictionScale){value, -x * (1 + slope) / bound, (1 + slope) / bound, above * bound, above - x * slope, slope};
}

/* LawHistory.revisit: returns true if the record is inactive or its plane was found. */
bool plane_law_revisit(void* instance, int thread, const ContactRecord* from, const PairBody body[2], void* data);
/* LawHistory.replay: returns false if the state of the pair was not reproduced. */
bool plane_law_replay(const LawReplay* p, PairDerivatives* d);
/* LawImpacts.slip_product: sets wrench to the Hessian of friction times the twists of both bodies. Returns false unless
 * the impulse of an impact with restitution limits friction. */
bool plane_law_slip_product(const LawReplay* p, const double twist[2][6], double wrench[2][6]);
/* LawImpacts.passes: sets *out to the numbers that the pair passes to events and to the next step. */
void plane_law_passes(const LawReplay* p, PairPasses* out);
/* Returns the normal force and the stored energy of a pair (ContactWork). hull: both bodies. contact: derivatives of
 * the potential U at t
 * + dt, for stiffness 1. factor: impact factor at t + dt. energy, before: U at t + dt and at t. */
ContactWork plane_work(const PlaneLaw* law, const HullInstance* const hull[2], const PairDerivatives* contact,
                       double factor, double energy, double before);
/* LawImpacts.recorded_work: returns false if the pair exerts no normal force or has restitution. */
bool plane_law_recorded_work(const LawReplay* p, ContactWork* out);
/* LawImpacts.work_wrench: sets wrench to the derivatives with respect to the motion of both bodies at t + dt. */
void plane_law_work_wrench(const LawReplay* p, double wrench[2][6]);
/* LawImpacts.displacement_wrench: adds to wrench the derivatives through the displacement of the step. Returns false if
 * they are zero. */
bool plane_law_displacement_wrench(const LawReplay* p, const PairCarry* carry, double wrench[2][6]);
/* LawImpacts.transfer and LawImpacts.transfer_slopes. */
PairTransfer plane_law_transfer(const LawReplay* p);
PairTransfer plane_law_transfer_slopes(const LawReplay* p, const PairCarry* carry);
/* ContactLaw.reverse: adds the derivatives with respect to the inputs of the pair to *s. */
void plane_law_reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* s);

#endif
