/* Private to identify/: a shot on its way (shot.c): its simulation (shot_simulation.c), and its residuals with what
 * they change by (shot_residuals.c). */
#ifndef SDRS_IDENTIFY_SHOT_H
#define SDRS_IDENTIFY_SHOT_H

#include "identify/fit.h"

/* A run from its first sample on that a simulation can begin with. The caller frees shot.places. */
Shot shot_of_run(const Identification* id, const MeasuredRun* run);

/* A shot simulated; zeroed but for the first two, which it borrows. Freed with shot_simulation_free. */
typedef struct {
  const Identification* id;
  const Shot* shot;
  Model model;
  Recording recording;
  bool has_model, has_recording;
  double* placed; /* coordinates that closures' ends were found at: the scene's; NULL: there are none */
} Simulation;
/* With the values x (variables), and increments of its start, local (locals; NULL: none). false: the model is refused,
 * or the start intersects. A run that stops before its end keeps its rows. Allocates. */
bool shot_simulate(Simulation* simulation, const double* x, const double* local);
/* Frees what shot_simulate made; accepts one that has not run. */
void shot_simulation_free(Simulation* simulation);

/* Residuals of a sample's links stand one after the other: position, rotation, coordinates, and where rates are
 * compared, velocity, angular velocity, rates of the joint. */
typedef struct {
  bool velocity, spin;
  int rates, count;
} RatesOf;
/* Those of a link's rates; compared: the shot's are. By value; never fails. */
RatesOf residuals_rates(const TaskIdentify* task, const MeasuredLink* link, bool compared);
/* How many residuals of a link come before its rates. Never fails. */
int residuals_states(const MeasuredLink* link);
/* Of all links in one sample. Never fails. */
int residuals_of_sample(const TaskIdentify* task, const MeasuredRun* run, bool rates);

/* The residuals of a shot. r and what `j` and `bar` become are the caller's to free. */
typedef struct {
  Simulation* simulation;
  const TaskIdentify* settings;
  int count, columns;  /* residuals of a sample; variables and locals */
  bool rates;          /* velocities are among them, where the task compares them */
  int next;            /* the first sample that lies in later rows only */
  double* r;           /* (samples x count), NaN where nothing was measured */
  double* j;           /* (samples x count x columns); NULL: values only */
  double (*bar)[3][4]; /* (links) */
  StepForward* forward;
  const double* pull; /* of the cost by each residual, for the adjoint (samples x count); NULL: values or j */
  LossSeeds seeds;    /* what it comes to */
} Residuals;
/* What a row of the simulation has to do with samples, added to r, j and the bars that are there; rows in their order,
 * for which `next` keeps the place. context: Residuals; forward is not used. */
void residuals_visit_row(void* context, StepForward* forward, int row);
/* Residuals with their derivatives, which are made room for here; r and count are there. false: a step has none. */
bool residuals_forward(Residuals* residuals);

#endif
