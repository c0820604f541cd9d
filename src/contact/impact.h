/* Private to contact/: what an impact takes away, and what it gives back (docs/derivations/impact.md). A pair's
 * potential U becomes W(U) = integral from 0 to U of  phi(1 + (y - y_t) / eta)  dU',     y = sqrt(s U / N) (I1) with
 * y_t of the time step before: the pair's force is the barrier's times W', which is 1 at rest, grows with the speed of
 * approach and is 0 where the pair parts faster than the rest speed. W is convex and not below its tangent of slope 1
 * at y_t: no energy is made (I4). Everything for stiffness 1. */
#ifndef SDRS_CONTACT_IMPACT_H
#define SDRS_CONTACT_IMPACT_H

#include "contact/plane.h"

typedef struct {
  double support;     /* s [m] */
  double rest_speed;  /* nothing leaves faster [m/s]; 0: the bare barrier, W = U */
  double dt;          /* s */
  double restitution; /* e: what is left of the speed of approach; 0: the law above for all pairs */
  double stiffness;   /* kappa [J m] */
} ImpactParameters;

/* y of a potential U [1/m]; > 0 in contact. support [m]; no unit; 0 out of range. Cannot fail, allocates nothing. */
double impact_compression(double support, double potential);

/* State that a pair carries from substep to substep of an impact. */
typedef struct {
  bool bounces;      /* the law of restitution acts in this substep (I7), else that of restitution 0 */
  bool recorded;     /* of a solved step: the spring acts on both sides, for differences by lengths (I11) */
  Pressure now, old; /* at t and at t - dt_before */
  double dt_before;  /* s */
  double inertia;    /* 1 / (1/m_a + 1/m_b), m: mass of a link's tree; 0: nothing can move [kg] */
} ImpactPast;

typedef struct {
  double value;            /* W [1/m] */
  double first, second;    /* dW/dU, d2W/dU2 [m]: second (dU/dx)^2 vanishes with U */
  double by_before;        /* d first / d y_t */
  double by_support;       /* d first / ds at fixed U and y_t [1/m] */
  double by_rest_speed;    /* d first / d(rest speed) [s/m] */
  Pressure by_now, by_old; /* d first / d(past.now), d(past.old) of a pair that bounces */
  double by_restitution, by_inertia, by_stiffness, by_dt, by_dt_before; /* the same, of a pair that bounces */
} Impact;
/* potential U [1/m] now, before: y_t of the step before. Rest speed 0, or U = 0: W = U. By value; cannot fail. */
Impact impact_eval(const ImpactParameters* parameters, double potential, double before);
/* The same for a pair that bounces: a stiff spring holds the pair's clearance at the end of the substep at the value
 * that restitution asks for (I7). By value; cannot fail, allocates nothing. */
Impact impact_bounce(const ImpactParameters* parameters, double potential, const ImpactPast* past);
/* Friction's load in a substep in which a force acts 1 / ratio times as long as in the one that led to t: the force
 * beyond the barrier's own is an impulse, and counts `ratio` times as a force (I5),
 *   first + (ratio - 1) (first - 1)^3 / (1 + (first - 1)^2)   where first > 1;
 * its derivatives follow. ratio > 0, 1: nothing changes, to the bit. By value; cannot fail, allocates nothing. */
Impact impact_load(const Impact* now, double ratio);
/* The derivative of its value by the ratio. Cannot fail, allocates nothing. */
double impact_impulse(const Impact* now);
/* Whichever of the two the pair follows. U = 0 is never a bounce. By value; cannot fail, allocates nothing. */
Impact impact_of(const ImpactParameters* parameters, double potential, double before, const ImpactPast* past);
/* Speed of approach over the substep that led to t, from the pressures at both its ends; 0 unless the pair is in range
 * at t [m/s]. By value; cannot fail, allocates nothing. */
double impact_speed(const ImpactParameters* parameters, const ImpactPast* past);
/* U of a z [1/m]; z in (0, 1]. Cannot fail, allocates nothing. */
double impact_potential(double support, double z);
/* z of a potential, in (0, 1]. Cannot fail, allocates nothing. */
double impact_clearance(const ImpactParameters* parameters, double potential);

/* Below this many rest speeds an impact is one of restitution 0; from twice as many on it is the one asked for. */
#define IMPACT_FROM 5.0
typedef struct {
  double value, by_speed, by_rest_speed, by_restitution;
} ImpactShare;
/* Restitution of an impact at this speed of approach, which grows smoothly from 0 to `restitution` (I8). speed [m/s].
 * By value; cannot fail, allocates nothing. */
ImpactShare impact_share(const ImpactParameters* parameters, double speed);

/* ---- from substep to substep (impact_course.c; I9) */
/* An impact begins where a pair's z has come down to this; a pair whose z is above by less than the second begins its
 * own impact together with it. */
#define IMPACT_ENTRY 0.995
#define IMPACT_TIE 1e-4
/* Stages of a pair, each the length of one short substep. */
typedef enum {
  IMPACT_NONE,
  IMPACT_ENTERED, /* it has come to IMPACT_ENTRY: the substep measures its speed of approach */
  IMPACT_BOUNCES, /* the substep reverses it */
  IMPACT_RUBS,    /* friction of the impulse acts */
} ImpactStage;
typedef struct {
  ImpactPast past;
  ImpactStage stage;
  bool rests;      /* it was in range before any impact began: restitution 0 until it leaves the range */
  double approach; /* speed with which the last substep led it to IMPACT_ENTRY; 0: it did not [m/s] */
} ImpactCourse;
/* The course of the substep that begins, after one of length dt_before [s], with the pair's pressure `now`. inertia: of
 * ImpactPast [kg]. By value; cannot fail, allocates nothing. */
ImpactCourse impact_next(const ImpactParameters* parameters, double dt_before, double inertia, const Pressure* now,
                         const ImpactCourse* course);
/* True if a substep from past.now has brought the pair, which was not in an impact, to z <= IMPACT_ENTRY + IMPACT_TIE;
 * with restitution 0, into the range. Only of a pair that is in range. Allocates nothing. */
bool impact_enters(const ImpactParameters* parameters, const Pressure* next, const ImpactCourse* course);
/* True if the substep has ended an approach. False for a pair with restitution that has an impact of its own. Nothing
 * is allocated. */
bool impact_struck(const ImpactParameters* parameters, const ImpactCourse* course, const Impact* impact);
/* Is the force still that of an approach, so that the next step belongs to the impact? Nothing is allocated; false
 * for a pair out of range. */
bool impact_presses_on(const Impact* impact);

/* From derivatives of U to those of W: forces, moments and Hessian. All but the energy of d, in place; half_space: side
 * b has no rows. Cannot fail, allocates nothing. */
void impact_scale(const Impact* impact, bool half_space, PairDerivatives* d);

#endif
