/* Private to control/: types of signals. A new type is one file with its functions and one row in signal.c. */
#ifndef SDRS_CONTROL_KINDS_H
#define SDRS_CONTROL_KINDS_H

#include "control/control.h"

/* value and rate as signal_eval; vjp as signal_eval_vjp. */
typedef void (*SignalEval)(const Signal* signal, double t, double* value, double* rate);
typedef void (*SignalVjp)(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/piecewise.c: constants, keyframes, sequences and held rows. Linear between rows, constant before the first
 * and after the last row. At a row the rate is that of the segment that begins there. */
void piecewise_eval(const Signal* signal, double t, double* value, double* rate);
/* Adds to the two rows around t, or to the held row. */
void piecewise_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* HELD: row ceil(t / interval) - 1, rate 0. */
void held_eval(const Signal* signal, double t, double* value, double* rate);
/* Adds to that row; b has no effect, since the rate is 0. */
void held_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/spline.c: natural cubic spline. spline_create solves for the second derivatives. Allocates curvature (rows x
 * channels) and pivots (2 rows), which signal_destroy frees. Two rows are a line, one a constant. */
void spline_create(Signal* signal);
/* Constant outside of the knots, as piecewise_eval. */
void spline_eval(const Signal* signal, double t, double* value, double* rate);
/* Adds to all rows of the channel: the second derivatives depend on every knot. */
void spline_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/sines.c: an offset plus a sum of sines, value_c + sum amplitude sin(2 pi frequency t + phase); frequencies in
 * Hz, phases in rad. Arrays have `terms` sines per channel, channel by channel. */
void sines_eval(const Signal* signal, double t, double* value, double* rate);
/* gradient: offsets (channels), then amplitude, frequency, phase (channels x terms each), added to. */
void sines_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/integral.c: integrals from 0 to t of the signals above, and their gradient for weights a. integral_create
 * allocates `areas` (rows x channels), which signal_destroy frees; nothing for sines. */
void integral_create(Signal* signal);
/* Sets value[channels] by trapezoids between rows [unit s]. */
void rows_integral(const Signal* signal, double t, double* value);
/* gradient (rows x channels), added to. */
void rows_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);
/* Sets value[channels]; finite for frequency 0, too. */
void sines_integral(const Signal* signal, double t, double* value);
/* gradient: offsets (channels), amplitude, frequency, phase (channels x terms each), added to; a[channels]. */
void sines_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);

/* Time of a row [s]; 0 of a constant. */
double signal_row_time(const SceneSignal* source, int row);

/* d rate / d t: zero for linear segments. Sets every channel between knots; outside, where the signal is constant, it
 * leaves the caller's zeros. */
void spline_acceleration(const Signal* signal, double t, double* acceleration);
/* Subtracts from acceleration[channels], which the caller has set to zero. In the signal's unit / s^2. */
void sines_acceleration(const Signal* signal, double t, double* acceleration);

/* Position of t among the rows of a signal: between row and row + 1, or held at `row` (width 0). */
typedef struct {
  int row;
  double width;    /* time between the two rows [s]; 0 = held */
  double fraction; /* (t - start) / width */
} Span;
/* Returns the segment of t; at a row the one that begins there. A constant or a single row is held at row 0. Never
 * fails. */
Span span_find(const SceneSignal* source, double t);

#endif
