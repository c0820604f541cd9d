/* control: the signals that drive joints, evaluated with their time derivatives, and networks of measurements.
 * Borrows the Scene's signals; allocates only in signal_create. */
#ifndef SDRS_CONTROL_H
#define SDRS_CONTROL_H

#include "scene/scene.h"

/* A signal ready to evaluate (a spline's second derivatives are solved once). */
typedef struct {
  const SceneSignal* source; /* borrowed: the scene outlives the signal */
  double* curvature;         /* SPLINE: second derivative at the knots (rows * channels) [unit/s^2] */
  double* areas;             /* of integrated rows: integral from the first row's time to each (rows * channels) */
  double* pivots;            /* SPLINE: elimination pivots from the left, then from the right (2 * rows) [s] */
  double begin;              /* at time t it is what the source says of begin + t; 0 unless the owner sets it [s] */
} Signal;

/* Borrows the source, which must outlive the signal and keep its values. Allocates for splines and integrated rows; of
 * the reader's signals none fails. Freed with signal_destroy. */
void signal_create(Signal* signal, const SceneSignal* source);
/* Frees what the signal owns and zeroes it; a zeroed signal is accepted, the source is left alone. NULL is not
 * accepted. */
void signal_destroy(Signal* signal);
/* value[channel] [m or rad] and rate[channel] = d value / d t [m/s or rad/s] at time t [s]; of an integrated signal the
 * rate is what the source says, and the value its integral from 0 to t. Before the start (a drive's delay asks for
 * that) all stands as it does at 0, with no rate. value[channels], rate[channels], both set. Loads and tendons have N
 * and N m in place of m and rad. Cannot fail, allocates nothing; t may lie behind the last knot, where the last piece
 * goes on as its type says. */
void signal_eval(const Signal* signal, double t, double* value, double* rate);

/* acceleration[channel] = d rate / d t, of a smooth piece (of integrated signals the source's rate). acceleration
 * (channels) [m/s^2 or rad/s^2], set; t [s]. 0 before the start. Cannot fail, allocates nothing. */
void signal_acceleration(const Signal* signal, double t, double* acceleration);

/* Parameters of a signal in one vector, for gradients: values first, then amplitude, frequency, phase. An offset stands
 * among the values. The length of the gradient below; signal must have a source, not NULL. */
int signal_parameter_count(const Signal* signal);
/* How many of them are values: rows x channels (row-major), or one a channel of sines and constants. source must not
 * be NULL; nothing is allocated. */
int signal_values(const SceneSignal* source);
/* source must not be NULL; nothing is allocated. */
int signal_terms(const SceneSignal* source); /* in each of the other three; 0 unless it is of sines */
/* Where parameter `index` stands in the source; asserts that there are so many. Borrowed. Not to be freed; index
 * below 0 is undefined. */
double* signal_parameter(SceneSignal* source, int index);
/* For weights a, b (channels each): gradient[p] += sum_c a_c d value_c / d p + b_c d rate_c / d p. gradient
 * (signal_parameter_count), added to; t [s]. No allocation. */
void signal_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* Force of a drive with wanted force u and limit M (docs/derivations/drives.md, M2): u up to (1 - w) M, M from
 * (1 + w) M on, and in between three times continuously differentiable by u. limit 0: none. [N, N m] */
typedef struct {
  double force;  /* [N, N m] */
  double slope;  /* d force / d u, 0 to 1 */
  double energy; /* integral of the force from 0 to u [N^2, N^2 m^2] */
} LimitedForce;
/* wanted and limit are in the same unit, width w is a part of the limit, above 0 and below 1; odd in `wanted`. limit
 * 0 is no error: there is none, the force is what is wanted. By value. */
LimitedForce limited_force(double wanted, double limit, double width);

/* value[k] += N_k(y), N the network of a controller whose feedback is one (docs/derivations/feedback.md, E7).
 * y[measure_count] in the units of the measurements, value[channels] in the unit of the target. Cannot fail, allocates
 * nothing. */
void mlp_eval(const SceneController* controller, const double* y, double* value);
/* For a scalar with the derivatives value_bar[channels] by the value: numbers_bar[controller_feedback_count] +=
 * derivatives by weights and biases, y_bar[measure_count] = derivatives by the measurements. Allocates nothing. */
void mlp_eval_vjp(const SceneController* controller, const double* y, const double* value_bar, double* numbers_bar,
                  double* y_bar);

#endif
