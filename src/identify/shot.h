/* Private to identify/: simulation of a segment ("shot") of a measured run (shot_simulation.c), and its residuals with
 * derivatives (shot_residuals.c). */
#ifndef SDRS_IDENTIFY_SHOT_H
#define SDRS_IDENTIFY_SHOT_H

#include "identify/fit.h"

/* Returns the shot that begins at the first sample of a run at which a simulation can start. The caller frees
 * shot.places. */
Shot shot_of_run(const Identification* id, const MeasuredRun* run);

/* Simulation of a shot, which is a measured run or a window of one. The caller sets id and shot, which are borrowed,
 * and zeroes the other members. The caller frees the result with shot_simulation_free. */
typedef struct {
  const Identification* id;
  const Shot* shot;
  Model model;
  Recording recording;
  bool has_model, has_recording;
  double* placed; /* coordinates of the scene at which closures were placed; NULL without closures */
} Simulation;
/* Simulates a shot with values x (variables) and increments `local` of its initial state (locals). local may be NULL.
 * Returns false if the model is refused or bodies intersect in the initial state. A run that stops early keeps its
 * rows. Allocates. */
bool shot_simulate(Simulation* simulation, const double* x, const double* local);
/* Frees the results of shot_simulate. Accepts a simulation that was not run. */
void shot_simulation_free(Simulation* simulation);

/* Rates of a link with residuals, and their number. The residuals of a link are consecutive: position, rotation,
 * coordinates, and if rates are compared also velocity, angular velocity, joint rates. */
typedef struct {
  bool velocity, spin;
  int rates, count;
} LinkRates;
/* Returns the rates of a link that have residuals. compared: true if the shot compares rates. Never fails. */
LinkRates residuals_link_rates(const TaskIdentify* task, const MeasuredLink* link, bool compared);
/* Returns the number of residuals of a link in one sample, without rates. Never fails. */
int residuals_state_count(const MeasuredLink* link);
/* Returns the number of residuals of all links in one sample. Never fails. */
int residuals_per_sample(const TaskIdentify* task, const MeasuredRun* run, bool rates);

/* Residuals of a shot. The caller frees r, j and bar. */
typedef struct {
  Simulation* simulation;
  const TaskIdentify* settings;
  int count, columns;  /* number of residuals per sample; number of variables and locals */
  bool rates;          /* true if rates are included where the task compares them */
  int next;            /* first sample not reached by the rows visited so far */
  double* r;           /* residuals (samples x count); NaN if not measured */
  double* j;           /* Jacobian (samples x count x columns); NULL if only values are computed */
  double (*bar)[3][4]; /* derivatives of one residual with respect to the poses of a row (links) */
  StepForward* forward;
  const double* pull; /* derivatives of the cost with respect to the residuals, for the adjoint (samples x count); NULL
                         otherwise */
  LossSeeds seeds;    /* derivatives of the cost with respect to the recording, for the adjoint */
} Residuals;
/* Adds the contributions of a row to the residuals and their derivatives. Call for rows in order. context: a Residuals;
 * forward is unused. */
void residuals_visit_row(void* context, StepForward* forward, int row);
/* Computes residuals and their derivatives, and allocates the derivatives. The caller sets r and count before. Returns
 * false if a step has no derivative. */
bool residuals_forward(Residuals* residuals);

#endif
