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
} ImpactParameters;

/* y of a potential U [1/m]; > 0 in contact. support [m]; no unit; 0 out of range. Cannot fail, allocates nothing. */
double impact_compression(double support, double potential);

/* What a pair carries from part to part of an impact; all but `bounces` and `fresh` are numbers with derivatives. */
typedef struct {
  bool bounces;      /* by the law of restitution (I7-I10), else by that of restitution 0 */
  bool fresh;        /* the speed is that of this part's `now` and `old`, not one carried */
  Pressure now, old; /* at t and at t - dt_before; old is zero unless now is in range */
  double dt_before;  /* s */
  double speed;      /* v0, of approach; 0: not known yet [m/s] */
  double damping;    /* a: 1 / (speed with which nothing parts any faster) [s/m] (I9) */
} ImpactPast;

typedef struct {
  double value;            /* W [1/m] */
  double first, second;    /* dW/dU, d2W/dU2 [m]: second (dU/dx)^2 vanishes with U */
  double by_before;        /* d first / d y_t */
  double by_support;       /* d first / ds at fixed U and y_t [1/m] */
  double by_rest_speed;    /* d first / d(rest speed) [s/m] */
  Pressure by_now, by_old; /* d first / d(past.now), d(past.old) of a pair that bounces */
  double by_damping;       /* d first / d(past.damping) [m/s] */
} Impact;
/* potential U [1/m] now, before: y_t of the step before. Rest speed 0, or U = 0: W = U. By value; cannot fail. */
Impact impact_eval(const ImpactParameters* parameters, double potential, double before);
/* The same for a pair that bounces: the force is the difference quotient of the potential over both parts that meet at
 * t, times 1 + a v (I7, I8). Where the course is not known yet the quotient alone counts. By value; cannot fail,
 * allocates nothing. */
Impact impact_bounce(const ImpactParameters* parameters, double potential, const ImpactPast* past);
/* What friction rests on in a part in which a force acts 1 / ratio times as long as in the one that led to t: what
 * presses beyond the barrier's own force is an impulse, and counts `ratio` times as a force (I5),
 *   first + (ratio - 1) (first - 1)^3 / (1 + (first - 1)^2)   where first > 1;
 * its derivatives follow. ratio > 0, 1: nothing changes, to the bit. By value; cannot fail, allocates nothing. */
Impact impact_load(const Impact* now, double ratio);
/* What the force of a part does by its own account over the part, half of what it gives over both parts that meet at t:
 * psi / 2 times the potential given back (I7, I8) [1/m]. Cannot fail, allocates nothing. */
double impact_account(const ImpactParameters* parameters, double potential, const ImpactPast* past);
/* The factor of a force along the barrier's at the end of a part alone that would do the work of the barrier in it,
 * were its direction that of the way. Cannot fail, allocates nothing. */
double impact_quotient(const ImpactParameters* parameters, const Pressure* next, const ImpactPast* past);
/* Whichever of the two the pair follows. U = 0 is never a bounce. By value; cannot fail, allocates nothing. */
Impact impact_of(const ImpactParameters* parameters, double potential, double before, const ImpactPast* past);

/* Speed of approach in the part that led to t, from pressures at both its ends, and its derivatives. */
typedef struct {
  double value; /* m/s */
  Pressure by_now, by_old;
  double by_support;
} ImpactSpeed;
/* 0 unless the pair is in range at both ends and a part lies between them. By value; cannot fail, allocates nothing. */
ImpactSpeed impact_speed(const ImpactParameters* parameters, const ImpactPast* past);
/* The way of the bodies for a change of z, r = N |Q'| / (s p) [m] (I7); 0: not in range. Cannot fail, allocates
 * nothing. */
double impact_way(const ImpactParameters* parameters, const Pressure* pressure);
/* z of a potential, in (0, 1]. Cannot fail, allocates nothing. */
double impact_clearance(const ImpactParameters* parameters, double potential);

/* c(e): the damping in units of 1 / v0 with which e is left of v0 (I9); 0 for e = 1. by_restitution: dc/de. restitution
 * in (0, 1]; remembered thread by thread, which changes no bits. by_restitution must not be NULL; other restitutions
 * are undefined, not checked. */
double impact_damping_number(double restitution, double* by_restitution);
/* Below this many rest speeds an impact is one of restitution 0; from twice as many on it is what was asked for. */
#define IMPACT_FROM 5.0
typedef struct {
  double value, by_speed, by_rest_speed, by_restitution;
} ImpactDamping;
/* a of an impact at speed v0, between IMPACT_FROM rest speeds and any. speed [m/s]; value [s/m]. By value; cannot
 * fail, allocates nothing. */
ImpactDamping impact_damping(const ImpactParameters* parameters, double speed);

/* ---- from part to part (impact_course.c; I10, I11) */
typedef struct {
  double dt_before; /* length of the part before the one that begins [s] */
  bool resolving;   /* impacts are looked at in it */
} ImpactPart;
/* What a pair remembers. */
typedef struct {
  ImpactPast past;
  double since;    /* in range for so long [s] */
  double pace;     /* length of the parts of its impact; 0: it is in none [s] */
  double approach; /* speed with which the last part let it into the range; 0: it did not [m/s] */
} ImpactCourse;
/* At the lag: what it carries into the part that begins. now: at the lag; zero potential: the pair is out of range.
 * Cannot fail, allocates nothing. */
void impact_follow(const ImpactParameters* parameters, const ImpactPart* part, const Pressure* now,
                   ImpactCourse* course);
/* How long the part that begins may be because of it [s]; INFINITY: it is in no impact. separation: of the hulls [m];
 * potential_share: U by which the barrier holds the energy of a speed v is potential_share v^2 / 2 [s^2/m^3]. Sets
 * course->pace. Not longer than what brings the pair a part of its separation nearer. Cannot fail, allocates
 * nothing. */
double impact_pace(const ImpactParameters* parameters, const ImpactPart* part, const Pressure* now, double separation,
                   double potential_share, ImpactCourse* course);
/* Of a part of length dt that has let it into the range, from this distance [m]: how long it should have been [s];
 * INFINITY: it may stay. approach [m/s], dt [s]. Cannot fail, allocates nothing. */
double impact_entry(const ImpactParameters* parameters, double approach, double distance, double dt);
/* Of a part of its impact, which has led to the pressure `next` and the factor `first`: how long it should have been
 * [s], as the work of its force on both bodies is not what the barrier has given or taken; INFINITY: it may stay.
 * change: of U to first order with the motion over the part before and over this one, by the force's direction at its
 * end [1/m] (2); potential_share: as for impact_pace. Cannot fail, allocates nothing. */
double impact_steady(const ImpactParameters* parameters, const Pressure* next, double first, const double change[2],
                     double potential_share, const ImpactCourse* course);
/* Has it ended an approach in the part that led here? Of a pair that bounces: false, it is resolved. Nothing is
 * allocated. */
bool impact_struck(const ImpactParameters* parameters, const ImpactCourse* course, const Impact* impact);
/* Is the force still that of an approach, so that the next step belongs to the impact? Nothing is allocated; false
 * for a pair out of range. */
bool impact_presses_on(const Impact* impact);

/* From derivatives of U to those of W: forces, moments and Hessian. All but the energy of d, in place; half_space: side
 * b has no rows. Cannot fail, allocates nothing. */
void impact_scale(const Impact* impact, bool half_space, PairDerivatives* d);

#endif
