/* control: signals that drive joints, with their time derivatives, and neural networks of measurements. Borrows the
 * scene's signals; allocates only in signal_create. */
#ifndef SDRS_CONTROL_H
#define SDRS_CONTROL_H

#include "scene/scene.h"

/* A signal prepared for evaluation. */
typedef struct {
  const SceneSignal* source; /* borrowed: the scene outlives the signal */
  double* curvature;         /* SPLINE: second derivatives at the knots (rows * channels) [unit/s^2] */
  double* areas;  /* integrated signals: integral from the time of the first row to each row (rows * channels) */
  double* pivots; /* SPLINE: elimination pivots from the left, then from the right (2 * rows) [s] */
  double begin;   /* time of the source at t = 0 [s]; 0 unless the owner sets it */
} Signal;

/* Prepares a signal. Borrows the source, which must outlive it unchanged. Allocates for splines and integrated signals;
 * cannot fail for signals that the scene reader accepts. Freed with signal_destroy. */
void signal_create(Signal* signal, const SceneSignal* source);
/* Frees the signal's arrays, not the source, and zeroes it. Accepts a zeroed signal, but not NULL. */
void signal_destroy(Signal* signal);
/* Sets value[channels] and rate[channels] = d value / d t at time t [s], in m or rad (N or N m for loads and tendons)
 * and the same per second. For an integrated signal the rate is the source, and the value its integral from 0 to t. For
 * t < 0, which delays of drives need, the value is that at 0 and the rate 0. For t after the last knot the signal
 * continues as its type defines. Cannot fail, allocates nothing. */
void signal_eval(const Signal* signal, double t, double* value, double* rate);

/* Sets acceleration[channels] = d rate / d t [m/s^2 or rad/s^2] at time t [s], between the corners of a signal; for an
 * integrated signal the rate of the source. 0 for t < 0. Cannot fail, allocates nothing. */
void signal_acceleration(const Signal* signal, double t, double* acceleration);

/* Returns the number of parameters of a signal, the length of its gradient. Their order is values (including offsets),
 * amplitudes, frequencies, phases. The signal must have a source. */
int signal_parameter_count(const Signal* signal);
/* Returns how many of the parameters are values: rows x channels (row-major), or one per channel for sines and
 * constants. source must not be NULL; nothing is allocated. */
int signal_values(const SceneSignal* source);
/* source must not be NULL; nothing is allocated. */
int signal_terms(const SceneSignal* source); /* number of amplitudes, of frequencies and of phases; 0 unless the signal
                                                is a sum of sines */
/* Returns the address of parameter `index` in the source, borrowed. Asserts that index is below the number of
 * parameters; undefined for index < 0. */
double* signal_parameter(SceneSignal* source, int index);
/* Adds the gradient for weights a, b (channels each): gradient[p] += sum_c a_c d value_c / d p + b_c d rate_c / d p at
 * time t [s]. gradient has signal_parameter_count entries. No allocation. */
void signal_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* Force of a drive with the demand u and the limit M (docs/derivations/drives.md, M2): u up to (1 - w) M, M above (1 +
 * w) M, and a transition that is three times continuously differentiable. limit 0: none. [N, N m] */
typedef struct {
  double force;  /* [N, N m] */
  double slope;  /* d force / d u, 0 to 1 */
  double energy; /* integral of the force from 0 to u [N^2, N^2 m^2] */
} LimitedForce;
/* Returns the limited force, an odd function of `wanted`, with its derivative and integral. wanted and limit in the
 * same unit; 0 < width w < 1, relative to the limit. limit 0: no limit. */
LimitedForce limited_force(double wanted, double limit, double width);

/* Adds the outputs of a controller's neural network: value[k] += N_k(y) (docs/derivations/feedback.md, E7).
 * y[measure_count] in the units of the measurements, value[channels] in the unit of the target. Cannot fail, allocates
 * nothing. */
void mlp_eval(const SceneController* controller, const double* y, double* value);
/* Adjoint of mlp_eval for the derivatives value_bar[channels] of a scalar by the value: adds its derivatives by weights
 * and biases to numbers_bar[controller_feedback_count], and sets y_bar[measure_count] to those by the measurements.
 * Allocates nothing. */
void mlp_eval_vjp(const SceneController* controller, const double* y, const double* value_bar, double* numbers_bar,
                  double* y_bar);

#endif
