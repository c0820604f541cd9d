/* control: evaluates signals of controllers and loads with their time derivatives, and neural networks of measurements.
 * A Signal borrows its source from the scene. Only signal_create allocates. */
#ifndef SDRS_CONTROL_H
#define SDRS_CONTROL_H

#include "scene/scene.h"

/* A signal prepared for evaluation. */
typedef struct {
  const SceneSignal* source; /* borrowed from the scene, which must outlive the signal */
  double* curvature; /* for splines: second derivatives at the knots (rows * channels) [unit/s^2]; otherwise NULL */
  double* integrals; /* for integrated signals: integral of the source from the first row's time to each row (rows *
                    channels); otherwise NULL */
  double* pivots;    /* for splines: pivots of the tridiagonal system for the second derivatives. First the pivots of
                        elimination from the first row on, then from the last row back (2 * rows) [s] */
  double begin; /* shift of the time axis: a call with t = 0 evaluates the source at the time `begin` [s]; 0 unless the
                   owner sets it */
} Signal;

/* Prepares a signal for evaluation. Borrows source, which must stay unchanged while the signal exists. Allocates for
 * splines and integrated signals. Cannot fail for signals that the scene reader accepts. The caller frees the signal
 * with signal_destroy. */
void signal_create(Signal* signal, const SceneSignal* source);
/* Frees the arrays of the signal, not its source, and sets the signal to zero. Accepts a zeroed signal, but not NULL.
 */
void signal_destroy(Signal* signal);
/* Evaluates a signal at time t [s]. Sets value[channels] and its time derivative rate[channels]. Joint signals are in m
 * or rad, loads and tendons in N or N m. For an integrated signal, rate is the source and value its integral from 0 to
 * t. Before the start of the source, value is the value at the start and rate is 0. Cannot fail, allocates nothing. */
void signal_eval(const Signal* signal, double t, double* value, double* rate);

/* An interval of time over which a signal acts. With from = to it is a point in time. */
typedef struct {
  double from, to; /* start and end of the interval, from <= to [s] */
} SignalSpan;
/* Sets value[channels] and rate[channels] to the means of value and time derivative of a signal over the span, in the
 * units of signal_eval (docs/derivations/loads.md, L98). The means are exact for constants, keyframes, sequences and
 * splines. The relative error for sines of angular frequency w over a span h is (w h)^4 / 4320. For from = to the
 * result is that of signal_eval. Cannot fail, allocates nothing. */
void signal_mean(const Signal* signal, SignalSpan span, double* value, double* rate);
/* Backward pass of signal_mean. a[channels] and b[channels] are the derivatives of a scalar with respect to the means
 * of value and rate. Adds the derivatives of this scalar with respect to the parameters of the signal to
 * gradient[signal_parameter_count]. Allocates nothing. */
void signal_mean_vjp(const Signal* signal, SignalSpan span, const double* a, const double* b, double* gradient);
/* Sets value[channels] and rate[channels] to the first-order changes of both results of signal_mean when the ends of
 * the span move by change.from and change.to [s]. If from = to, both ends must move equally. Cannot fail, allocates
 * nothing. */
void signal_mean_change(const Signal* signal, SignalSpan span, SignalSpan change, double* value, double* rate);

/* Returns the time of the signal's first jump in the interval from <= t < to [s]; INFINITY if there is none. A jump is
 * a segment between two rows that is shorter than `shortest` [s]. Both neighbours are at least as long as `shortest`
 * and twice as long as the segment, unlike the samples of a recorded signal. The time of a jump is the middle of its
 * segment. Values of the signal do not matter. Splines, sines, integrated signals and inputs of a program have no
 * jumps. Cannot fail, allocates nothing. */
double signal_first_jump(const Signal* signal, SignalSpan interval, double shortest);
/* Returns the time of the first jump of the signal's rate in the interval from < t <= to [s]; INFINITY if there is
 * none. For an integrated signal, it is the start of a jump of the source. Otherwise it is the time of a row whose
 * segments on both sides are at least `apart` long [s]. Splines and sines have no jumps. Cannot fail, allocates
 * nothing. */
double signal_first_rate_jump(const Signal* signal, SignalSpan interval, double shortest, double apart);

/* Sets acceleration[channels] to the second time derivative of a signal at time t [s], in the unit of the signal per
 * s^2. Impulses at the corners of piecewise linear signals are omitted. For an integrated signal this is the rate of
 * the source. Sets 0 for t < 0. Cannot fail, allocates nothing. */
void signal_acceleration(const Signal* signal, double t, double* acceleration);

/* Returns the number of parameters of a signal, which is the length of its gradient. The order of the parameters is
 * values (including offsets), amplitudes, frequencies, phases. signal->source must not be NULL. */
int signal_parameter_count(const Signal* signal);
/* Returns how many parameters of a signal are values: rows x channels (row-major), or one per channel for sines and
 * constants. source must not be NULL. Allocates nothing. */
int signal_value_count(const SceneSignal* source);
/* Returns the number of amplitudes of a sum of sines, which is also the number of frequencies and of phases. Returns 0
 * for other signals. source must not be NULL. Allocates nothing. */
int signal_sine_count(const SceneSignal* source);
/* Returns the address of parameter `index` in source, borrowed from source. Asserts that index is below
 * signal_parameter_count. Undefined for index < 0. */
double* signal_parameter(SceneSignal* source, int index);
/* Backward pass of signal_eval at time t [s]. a[channels] and b[channels] are the derivatives of a scalar with respect
 * to the results value and rate of signal_eval. Adds the derivatives of this scalar with respect to the parameters of
 * the signal to gradient[signal_parameter_count]. Allocates nothing. */
void signal_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* Force of a drive with a smooth limit (docs/derivations/drives.md, M2). u is the demanded force, M the largest force,
 * and w the relative width of the transition. The force equals u for u up to (1 - w) M, and M for u above (1 + w) M.
 * The transition is three times continuously differentiable. */
typedef struct {
  double force;  /* limited force [N, N m] */
  double slope;  /* derivative of the force with respect to the demanded force u, between 0 and 1 */
  double energy; /* integral of the limited force over the demanded force, from 0 to u [N^2, N^2 m^2] */
} LimitedForce;
/* Limits the demanded force `demand`. Returns the limited force, its derivative and its integral. The force is an odd
 * function of demand. demand and limit have the same unit. width: relative width of the smooth transition near the
 * limit, 0 < width < 1. A limit of 0 means no limit. */
LimitedForce limited_force(double demand, double limit, double width);

/* Evaluates the controller's neural network for the measurements y and adds output k to value[k]
 * (docs/derivations/feedback.md, E7). y[measure_count]: measurements, the inputs of the network. value[channels]: in
 * the unit of the controller's target. Cannot fail, allocates nothing. */
void mlp_eval(const SceneController* controller, const double* y, double* value);
/* Backward pass of mlp_eval for a scalar s that depends on the network's outputs. value_bar[channels]: derivatives of s
 * with respect to the outputs. Adds the derivatives of s with respect to weights and biases to
 * numbers_bar[controller_feedback_count]. Sets y_bar[measure_count] to the derivatives of s with respect to the
 * measurements. Allocates nothing. */
void mlp_eval_vjp(const SceneController* controller, const double* y, const double* value_bar, double* numbers_bar,
                  double* y_bar);

#endif
