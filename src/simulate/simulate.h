/* simulate: the state of a run and the step that advances it (SDRS section IV; docs/derivations/step.md).
 * A Sim owns its state and borrows the Model, which must outlive it. sim_create allocates, sim_step does not once the
 * set of neighbouring pairs has stopped growing. Results do not depend on the number of threads. */
#ifndef SDRS_SIMULATE_H
#define SDRS_SIMULATE_H

#include "contact/contact.h"
#include "model/model.h"

typedef struct Sim Sim;

typedef struct {
  int threads;      /* >= 1 */
  double tolerance; /* 0 = the scene's [N, N m] */
} SimOptions;

/* What has been reached: the state after `step` steps. */
typedef struct {
  int step;
  double time;  /* s */
  double* q;    /* joint coordinates  [m or rad, unit quaternions]  (nq) */
  double* rate; /* (q - q_before) / dt, link axes for balls [m/s or rad/s]  (nv) */
  Pose* pose;   /* world pose of every link frame  (links) */
  Vec3* center; /* world centre of mass  [m]  (links) */
} SimState;

typedef enum {
  STEP_CONVERGED,      /* gradient below the tolerance */
  STEP_ROUNDING_FLOOR, /* gradient above it, but the predicted decrease is below rounding */
  STEP_MAX_ITERATIONS, /* not converged: the state of the step before is kept */
  STEP_LINE_SEARCH,    /* no acceptable step length: the state before is kept */
  STEP_BLOCKED,        /* a prescribed link cannot move without passing through something */
  STEP_NOT_FINITE,     /* a number overflowed: the state before is kept */
} StepOutcome;
const char* step_outcome_text(StepOutcome outcome);
bool step_outcome_failed(StepOutcome outcome);

/* Energies at the new state [J]. */
typedef struct {
  double inertia, gravity, controller, limit, damping, contact, friction;
} StepTerms;

typedef struct {
  StepOutcome outcome;
  int iterations;   /* Newton steps taken */
  int trials;       /* line-search evaluations */
  double residual;  /* infinity norm of the gradient [N, N m] */
  int residual_dof; /* where it is largest */
  StepTerms terms;
  int active_pairs;        /* hull pairs with non-zero contact energy */
  int candidate_pairs;     /* hull pairs the broad phase kept */
  int certified_intervals; /* pieces of path the certificate looked at */
  int factor_retries;      /* times the Hessian was not positive definite */
} StepReport;

/* Wall time by phase [s], summed over the run. */
typedef struct {
  double broad_phase, contact, friction, assembly, factor, certificate, other, total;
} SimTimes;

/* A touching pair of links (a < b by index): contact and friction forces of all its hull pairs. */
typedef struct {
  int a, b;
  double gap; /* smallest distance of their hulls (exact GJK) [m] */
  Vec3 force; /* on b, world [N] */
} SimContact;

typedef struct {
  double kinetic, potential; /* J; potential: gravity, zero at the initial state's world origin */
  double smallest_gap;       /* over all pairs near each other; INFINITY when there is none [m] */
} SimMeasure;

Status sim_create(Sim** out, const Model* model, const SimOptions* options, Diagnostics* diagnostics);
void sim_destroy(Sim* sim);
/* Advance by dt. On failure the state is that before the call. */
StepReport sim_step(Sim* sim);
const SimState* sim_state(const Sim* sim);
SimTimes sim_times(const Sim* sim);
/* Touching link pairs at the current state, sorted by (a, b); valid until the next call. */
const SimContact* sim_contacts(Sim* sim, int* count);
SimMeasure sim_measure(Sim* sim);

#endif
