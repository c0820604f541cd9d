/* Private to control/: the functions of each type of signal. A new type is one file with its functions and one row in
 * signal.c. */
#ifndef SDRS_CONTROL_KINDS_H
#define SDRS_CONTROL_KINDS_H

#include "control/control.h"

/* Functions of one type of signal. SignalEval sets value[channels] and rate[channels] at time t [s]. SignalVjp is its
 * backward pass: a and b are the derivatives of a scalar with respect to value and rate. It adds the derivatives of the
 * scalar with respect to the signal's parameters to gradient. */
typedef void (*SignalEval)(const Signal* signal, double t, double* value, double* rate);
typedef void (*SignalVjp)(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/piecewise.c: evaluates signals that are linear between the rows (times with values) of a table, and constant
 * before the first and after the last row. At the time of a row, rate is the slope of the segment that begins there. */
void piecewise_eval(const Signal* signal, double t, double* value, double* rate);
/* Backward pass of piecewise_eval. a, b: derivatives of a scalar with respect to value and rate. Adds the derivatives
 * to the entries of gradient for the two rows around t, or for the single row where the signal is constant. */
void piecewise_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* Evaluates a signal that is constant during each interval of fixed length: value is row ceil(t / interval) - 1, rate
 * is 0. */
void zero_order_hold_eval(const Signal* signal, double t, double* value, double* rate);
/* Backward pass of zero_order_hold_eval. Adds a[c], the derivative of a scalar with respect to channel c of value, to
 * the entries of gradient for the row in force. b, the derivatives with respect to rate, has no effect, because rate is
 * 0. */
void zero_order_hold_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/spline.c: computes the second derivatives of a natural cubic spline at its knots. Allocates curvature (rows x
 * channels) and pivots (2 rows), which signal_destroy frees. Two rows give a line, one row gives a constant. */
void spline_create(Signal* signal);
/* Evaluates the spline. The signal is constant before the first and after the last knot. */
void spline_eval(const Signal* signal, double t, double* value, double* rate);
/* Backward pass of spline_eval. a, b: derivatives of a scalar with respect to value and rate. The second derivatives
 * depend on every knot, so gradient changes in all rows. */
void spline_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/sines.c: evaluates for each channel an offset plus a sum of sines, offset + sum amplitude sin(2 pi frequency
 * t + phase). Frequencies are in Hz, phases in rad. The arrays store the sines of one channel after the other. */
void sines_eval(const Signal* signal, double t, double* value, double* rate);
/* Backward pass of sines_eval. a, b: derivatives of a scalar with respect to value and rate. Adds to gradient, whose
 * entries are offsets (channels), then amplitudes, frequencies and phases (channels x terms each). */
void sines_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/integral.c: prepares the integral of a signal from 0 to t. Allocates signal->integrals (rows x channels),
 * which signal_destroy frees. Allocates nothing for sines. */
void integral_create(Signal* signal);
/* Sets value[channels] to the integral from 0 to t of a piecewise linear signal [unit s]. */
void piecewise_integral(const Signal* signal, double t, double* value);
/* Backward pass of piecewise_integral. a[channels]: derivatives of a scalar with respect to value. Adds the derivatives
 * of the scalar with respect to the values of the rows to gradient (rows x channels). */
void piecewise_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);
/* Sets value[channels] to the integral from 0 to t of a sum of sines. Frequency 0 is allowed. */
void sines_integral(const Signal* signal, double t, double* value);
/* Backward pass of sines_integral. a[channels]: derivatives of a scalar with respect to value. Adds the derivatives
 * with respect to the signal's parameters to gradient, in the order of sines_eval_vjp. */
void sines_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);

/* Returns the time of one row of a signal's table [s], or 0 for a constant signal. */
double signal_row_time(const SceneSignal* source, int row);
/* Returns the first row that begins after time t [s], or the number of rows if none does. A row that rounding places
 * just after t counts as begun. */
int signal_next_row(const SceneSignal* source, double t);
/* Returns the first end of an interval of a ZERO_ORDER_HOLD signal after time t [s]. */
double zero_order_hold_next_end(const SceneSignal* source, double t);

/* Sets acceleration[channels] to the second time derivative of the spline between the knots. Outside of the knots
 * acceleration is unchanged, so the caller sets it to 0 before the call. */
void spline_acceleration(const Signal* signal, double t, double* acceleration);
/* Adds the second time derivative of the sines to acceleration[channels] [unit/s^2]. The caller sets acceleration to 0
 * before the call. */
void sines_acceleration(const Signal* signal, double t, double* acceleration);

/* Segment of a signal that contains t, between row and row + 1. The width is 0 where the signal is constant at `row`.
 */
typedef struct {
  int row;
  double width;    /* time between the two rows [s]; 0 if the signal is constant at row */
  double fraction; /* relative position of t in the segment, 0 at row and 1 at row + 1 */
} SignalSegment;
/* Returns the segment that contains t. At the time of a row this is the segment that begins there. A signal with one
 * row is constant at row 0. Never fails. */
SignalSegment signal_find_segment(const SceneSignal* source, double t);

#endif
