/* Private to identify/: simulation of a segment ("shot") of a measured run (shot_simulation.c), and its residuals with
 * derivatives (shot_residuals.c). */
#ifndef SDRS_IDENTIFY_SHOT_H
#define SDRS_IDENTIFY_SHOT_H

#include "identify/fit.h"

/* Returns the shot that begins at the first sample at which a simulation can start. The caller frees shot.sample_times.
 */
Shot shot_of_run(const Identification* id, const MeasuredRun* run);

/* Simulation of a shot. The caller sets id and shot, which are borrowed, zeroes the other members, and frees the result
 * with shot_simulation_free. */
typedef struct {
  const Identification* id;
  const Shot* shot;
  Model model;
  Recording recording;
  bool has_model, has_recording;
  double* closure_coordinates; /* coordinates at which closures were closed, or NULL */
} Simulation;
/* Simulates a shot with values x (variables) and increments `local` of its initial state (locals), or NULL. Returns
 * false if the model is invalid or bodies intersect initially. A run that stops early keeps its rows. Allocates memory.
 */
bool shot_simulate(Simulation* simulation, const double* x, const double* local);
/* Frees the results of shot_simulate. Accepts a simulation that was not run. */
void shot_simulation_free(Simulation* simulation);

/* Rates of a link that have residuals, and their number. The residuals of a link are consecutive: position, rotation,
 * coordinates, velocity, angular velocity, joint rates. */
typedef struct {
  bool velocity, spin;
  int rates, count;
} LinkRates;
/* Returns the rates of a link that have residuals. compared: the shot compares rates. */
LinkRates residuals_link_rates(const TaskIdentify* task, const MeasuredLink* link, bool compared);
/* Returns the number of residuals of a link in one sample without rates. */
int residuals_state_count(const MeasuredLink* link);
/* Returns the number of residuals of all links in one sample. */
int residuals_per_sample(const TaskIdentify* task, const MeasuredRun* run, bool rates);

/* Residuals of a shot. The caller frees r, j and pose_derivative. */
typedef struct {
  Simulation* simulation;
  const TaskIdentify* settings;
  int count, columns;              /* residuals per sample; variables and locals */
  bool rates;                      /* rates are included where the task compares them */
  int next_sample;                 /* first sample that needs later rows */
  double* r;                       /* residuals (samples x count); NaN if not measured */
  double* j;                       /* Jacobian (samples x count x columns), or NULL */
  double (*pose_derivative)[3][4]; /* derivatives of one residual with respect to the poses of a row (links) */
  StepForward* forward;
  const double* cost_derivative; /* derivatives of the cost with respect to the residuals, for the adjoint (samples x
                                    count), or NULL */
  LossSeeds seeds;               /* derivatives of the cost with respect to the recording, for the adjoint */
} Residuals;
/* Adds the contributions of a row to the residuals and their derivatives. Call it for rows in order. context: a
 * Residuals; forward is unused. */
void residuals_visit_row(void* context, StepForward* forward, int row);
/* Computes residuals and their derivatives, which it allocates. The caller sets r and count before. Returns false if a
 * step has no derivative. */
bool residuals_forward(Residuals* residuals);

#endif
