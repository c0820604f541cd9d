/* Private to identify/: simulation of a segment ("shot") of a measured run (shot_simulation.c), and its residuals with
 * derivatives (shot_residuals.c). */
#ifndef SDRS_IDENTIFY_SHOT_H
#define SDRS_IDENTIFY_SHOT_H

#include "identify/fit.h"

/* Returns a shot with the whole measured run, from the first sample at which a simulation can start. The caller frees
 * shot.sample_times.
 */
Shot shot_of_run(const Identification* id, const MeasuredRun* run);

/* Simulation of a shot. The caller sets `id` and `shot`, which are borrowed, and zeroes the other members. The caller
 * frees the result with shot_simulation_free. */
typedef struct {
  const Identification* id;
  const Shot* shot;
  Model model;
  Recording recording;
  bool has_model, has_recording;
  double* closure_coordinates; /* initial joint coordinates after the loops were closed; NULL without closures */
} Simulation;
/* Simulates a shot with the values x of the variables (variables). local: increments of its initial state (locals), or
 * NULL. Returns false if the model is invalid or bodies intersect initially. A run that stops early keeps its rows.
 * Allocates memory.
 */
bool shot_simulate(Simulation* simulation, const double* x, const double* local);
/* Frees the results of shot_simulate. Accepts a simulation that was not run. */
void shot_simulation_free(Simulation* simulation);

/* Velocities of a link that are compared with measurements. velocity, spin: true for the velocity and the angular
 * velocity. rates: number of joint rates. count: total of numbers. The residuals of a link are consecutive: position,
 * rotation, coordinates, velocity, angular velocity, joint rates. */
typedef struct {
  bool velocity, spin;
  int rates, count;
} LinkRates;
/* Returns the velocities of a link that are compared with measurements. compared: true if the shot compares velocities.
 */
LinkRates residuals_link_rates(const TaskIdentify* task, const MeasuredLink* link, bool compared);
/* Returns the number of residuals of a link in one sample, without velocity residuals. */
int residuals_state_count(const MeasuredLink* link);
/* Returns the number of residuals of all links in one sample, including velocity residuals if `rates` is true. */
int residuals_per_sample(const TaskIdentify* task, const MeasuredRun* run, bool rates);

/* Residuals of a shot. The caller frees r, j and pose_derivative. */
typedef struct {
  Simulation* simulation;
  const TaskIdentify* settings;
  int count, columns; /* count: residuals per sample; columns: variables plus local unknowns */
  bool rates;         /* true if velocities are compared with measurements, where the task asks for it */
  int next_sample;    /* first sample whose residuals need rows that were not visited yet */
  double* r;          /* residuals (size: samples x count); NaN if not measured */
  double* j; /* derivatives of the residuals with respect to variables and local unknowns (samples x count x columns),
                or NULL */
  double (*pose_derivative)[3][4]; /* derivatives of one residual with respect to the poses of a row (size: links) */
  StepForward* forward;
  const double* cost_derivative; /* derivatives of the cost with respect to the residuals, for the adjoint (samples x
                                    count), or NULL */
  LossSeeds seeds;               /* derivatives of the cost with respect to the recording, for the adjoint */
} Residuals;
/* Adds the contributions of a recorded row to the residuals of samples at or next to its time, and to their
 * derivatives. Must be called for the rows in order. context: a Residuals. forward is unused. */
void residuals_visit_row(void* context, StepForward* forward, int row);
/* Computes residuals and their derivatives, which it allocates. The caller sets r and count before. Returns false if a
 * step has no derivative. */
bool residuals_forward(Residuals* residuals);

#endif
