/* Private to contact/: data of a pair of the law `separating_plane` in a run, shared by law_separating_plane.c, which
 * evaluates pairs, and law_separating_plane_store.c, which stores and records them. */
#ifndef SDRS_CONTACT_LAW_SEPARATING_PLANE_PAIR_H
#define SDRS_CONTACT_LAW_SEPARATING_PLANE_PAIR_H

#include "contact/law_separating_plane_types.h"

/* Data of a pair (LawPair.memory). plane_pair_pass stores those members of PairMemory and of PairData on which the next
 * step depends. */
typedef struct {
  FrictionLag lag;
  RollingLag rolling;
  double lag_force;          /* normal force in the last call of `lag` or `relag`, for stiffness 1 */
  Vec3 lag_center[2];        /* centre of pressure of lag_force, in the frames of both bodies [m] */
  bool lag_force_is_current; /* true if lag_force is a force of the same step (set by `relag`), false if it is the force
                                at t */
  double start_force;        /* normal force at t, for stiffness 1 */
  /* (friction.md, F14) The friction force is a weighted sum of two terms. The normal force at t limits the first term
   * (lag, friction_impact) times factors.late. The normal force of the previous solve of the same step limits the
   * second term (current_lag, current_impact) times factors.current. */
  double current_weight; /* weight w of the force of the previous solve */
  FrictionFactors factors;
  FrictionLag current_lag;
  Impact current_impact;
  double friction_debt; /* sum of the normal forces of past steps, minus the sum of the forces that limited friction,
                           for stiffness 1 (e in F14). Friction of later steps makes up for it */
  double debt_factor;   /* factor on friction by which this step reduces `friction_debt` (S in F14) */
  double net_limit;     /* force that limited friction in this step, minus `friction_debt` (grip (S B - e) in F14) */
  bool has_debt;        /* true if `friction_debt` was computed from the previous step; false if it is 0 */
  double
      start_compression;  /* compression y (impact_compression) at the time when the friction reference was computed */
  Impact start_impact;    /* impact factor W' of the normal force at t, found in the previous step */
  Impact friction_impact; /* impact factor `start_impact`, converted to the length of this step (I5) */
  bool start_impact_bounces; /* true if `start_impact` is the impact factor of an impact with restitution */
  ImpactProgress progress;
  ReturnWrench return_wrench; /* constant wrench that acts in the substep IMPACT_RESTITUTION (impact.md, I7a) */
  bool has_friction;          /* true if friction acts in this step; `lag` sets it */
  double dt;                  /* length of the step that `lag` began [s] */
  ElasticSlip elastic;        /* elastic slip at t (F16) */
  double force;               /* normal force at t without the impact factor, for stiffness 1 */
  bool has_elastic_slip; /* true if `lag` is the friction reference of the step. The elastic slip changes only then */
  ElasticSlip next_elastic; /* elastic slip of the accepted state, if has_last_slip is true */
  bool has_last_slip; /* true if `last_slip` is known; it is the slip of the step that led to the accepted state */
  FrictionSlip last_slip, slip; /* last_slip: slip of the step that led to the accepted state; slip: slip from which
                                   static friction of this step is computed */
} PairMemory;

/* Data of a pair in one state (LawPair.data). */
typedef struct {
  PlaneSolution solution; /* plane that minimises the potential, for an active pair */
  PlaneResponse response;
  Impact impact;
  double slip[2][3]; /* slips at which the friction energies are minimal (FrictionLag.slip): slip[0] for `lag`, slip[1]
                        for `current_lag` */
  bool follows;      /* FrictionParameters.follow when the state was evaluated */
} PairData;

/* Data of an active pair that cannot be computed from poses (LawImpacts.keep). */
typedef struct {
  Impact impact;
  double compression; /* impact_compression of the pair */
  ImpactProgress progress;
  FrictionSlip slip;   /* slip of the step that led to the state */
  ElasticSlip elastic; /* elastic slip of the state */
  double net_limit;    /* PairMemory.net_limit */
} KeptPair;

/* ---- state of a pair (contact/law_separating_plane.c) */

/* Returns the compression (impact_compression) of an active pair in its state. */
double plane_pair_compression(const LawPair* p);
/* Returns the slip of the pair in the step that led to the accepted state. The member `known` is false for pairs
 * without static friction and without friction in this step. */
FrictionSlip plane_pair_slip(const LawPair* p);
/* Returns true if one of the two friction terms acts (PairMemory.current_weight). current: false for the term that the
 * force at t limits, true for the term that the force of the previous solve of the step limits. */
bool plane_pair_friction_acts(const LawPair* p, bool current);
/* Returns the elastic slip of an active pair in the accepted state (F16). It is 0 if the pair was out of range at the
 * start of the step. */
ElasticSlip plane_pair_elastic_slip(const LawPair* p);
/* Returns true if the pair balances its friction impulse (F14). */
bool plane_pair_has_account(const LawPair* p);

/* ---- storing and recording (contact/law_separating_plane_store.c) */

/* LawImpacts.keep and LawImpacts.recall: write a KeptPair to `kept`, and restore its data. */
void plane_pair_keep(const LawPair* p, void* kept);
void plane_pair_recall(const LawPair* p, const void* kept);
/* LawHistory.pass. Reads from a state block, or writes to it, the data of a pair on which later steps depend. The
 * friction reference is not stored, because every step computes it. */
void plane_pair_pass(const LawPair* p, StateBlock* block);
/* LawImpacts.hold. Sets the derivatives of the slip and of the impact factor to 0 after a state was restored, because
 * both are then constants of the run. */
void plane_pair_hold(const LawPair* p);
/* LawHistory.record: sets the members of *out that belong to this law, with a PlaneRecord in out->kept. */
void plane_pair_record(const LawPair* p, ContactRecord* out);

#endif
