/* Private to identify/: simulation of a shot (shot_simulation.c), and its residuals with derivatives
 * (shot_residuals.c). */
#ifndef SDRS_IDENTIFY_SHOT_H
#define SDRS_IDENTIFY_SHOT_H

#include "identify/fit.h"

/* Returns the shot of a run from the first sample that a simulation can start at. The caller frees shot.places. */
Shot shot_of_run(const Identification* id, const MeasuredRun* run);

/* Simulation of a shot (a measured run, or a window of one). The caller sets id and shot, which are borrowed, and
 * zeroes the rest. Freed with shot_simulation_free. */
typedef struct {
  const Identification* id;
  const Shot* shot;
  Model model;
  Recording recording;
  bool has_model, has_recording;
  double* placed; /* coordinates at which closures were placed: the scene's; NULL: no closures */
} Simulation;
/* Simulates with values x (variables) and increments local of the initial state (locals; NULL: none). Returns false if
 * the model is refused or the start intersects. A run that stops early keeps its rows. Allocates. */
bool shot_simulate(Simulation* simulation, const double* x, const double* local);
/* Frees the results of shot_simulate. Accepts a simulation that has not run. */
void shot_simulation_free(Simulation* simulation);

/* Residuals of rates in a sample. Those of a link are consecutive: position, rotation, coordinates; if rates are
 * compared, velocity, angular velocity, joint rates. */
typedef struct {
  bool velocity, spin;
  int rates, count;
} RatesOf;
/* Returns which rates of a link have residuals; compared: the shot compares rates. Never fails. */
RatesOf residuals_rates(const TaskIdentify* task, const MeasuredLink* link, bool compared);
/* Returns the number of residuals of a link before its rates. Never fails. */
int residuals_states(const MeasuredLink* link);
/* Returns the number of residuals of all links in one sample. Never fails. */
int residuals_of_sample(const TaskIdentify* task, const MeasuredRun* run, bool rates);

/* Residuals of a shot. The caller frees r, j and bar. */
typedef struct {
  Simulation* simulation;
  const TaskIdentify* settings;
  int count, columns;  /* residuals of a sample; number of variables and locals */
  bool rates;          /* rates are included, if the task compares them */
  int next;            /* first sample not reached by the rows visited so far */
  double* r;           /* (samples x count), NaN where nothing was measured */
  double* j;           /* (samples x count x columns); NULL: values only */
  double (*bar)[3][4]; /* (links) */
  StepForward* forward;
  const double* pull; /* derivatives of the cost by residuals, for the adjoint (samples x count); NULL: values or j */
  LossSeeds seeds;    /* result of the adjoint's terms */
} Residuals;
/* Adds the contributions of a row to r, j and bar. Call for rows in order, tracked by `next`. context: Residuals;
 * forward is unused. */
void residuals_visit_row(void* context, StepForward* forward, int row);
/* Computes residuals with derivatives, which it allocates; r and count must be set. False if a step has no derivative.
 */
bool residuals_forward(Residuals* residuals);

#endif
