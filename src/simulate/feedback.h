/* Private to simulate/: inputs of drives, computed from signals and measurements (docs/derivations/feedback.md).
 * Measurements may be delayed. */
#ifndef SDRS_SIMULATE_FEEDBACK_H
#define SDRS_SIMULATE_FEEDBACK_H

#include "simulate/sensor.h"

/* Input of a drive in a step (E2), one entry per channel. Also the derivatives of a scalar with respect to this input.
 */
typedef struct {
  double value[JOINT_MAX_DOF]; /* target, target rate or force, depending on the type of the drive [m, rad; m/s, rad/s;
                                  N, N m] */
  double rate[JOINT_MAX_DOF];  /* mean rate of the signal during the step; used by drives of type pd [m/s, rad/s] */
  double at_rate[JOINT_MAX_DOF];  /* input at the time to which `rate` belongs, in the unit of `value` */
  double feedback[JOINT_MAX_DOF]; /* part of `value` and of `at_rate` that follows from measurements; zero without
                                     feedback */
} DriveInput;

/* Computes the input of a controller in the step of sim->clock (E1, E2). The state at the step's start must be set. */
void controller_input(const Sim* sim, int controller, DriveInput* input);

/* Returns slopes . (feedback inputs of the step that step_prepare prepared last); 0 if slopes is NULL. slopes:
 * derivatives of a scalar with respect to these inputs (Model.feedback_count). */
double feedback_product(const Sim* sim, const double* slopes);

/* Adds the derivatives of a scalar that depends on the feedback inputs of a step (E8). slopes: derivatives of the
 * scalar with respect to these inputs (Model.feedback_count); NULL: does nothing. Adds those with respect to the
 * feedback matrix or network, the delay and the states to `out`. */
void feedback_adjoint(const Sim* sim, const double* slopes, const FeedbackBars* out);

/* Adds the derivatives of a scalar that depends on a controller's input (E3, E4). bar: derivatives of the scalar with
 * respect to the input. Adds those with respect to the signal's parameters, the feedback matrix or network, the delay
 * and the states to `out`. */
void controller_input_adjoint(const Sim* sim, int controller, const DriveInput* bar, const FeedbackBars* out);

#endif
