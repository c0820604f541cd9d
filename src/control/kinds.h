/* Private to control/: the kinds of signal. A new kind is one file with its functions and one row in signal.c. */
#ifndef SDRS_CONTROL_KINDS_H
#define SDRS_CONTROL_KINDS_H

#include "control/control.h"

/* value and rate as signal_eval; vjp as signal_eval_vjp. */
typedef void (*SignalEval)(const Signal* signal, double t, double* value, double* rate);
typedef void (*SignalVjp)(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/piecewise.c: constant, keyframes, sequences, and rows that are held. Linear between rows, held before the
 * first and after the last; rate 0 where held. At a row right-sided. */
void piecewise_eval(const Signal* signal, double t, double* value, double* rate);
/* Adds to the two rows that t lies between, or to the one that is held. */
void piecewise_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* HELD: row ceil(t / interval) - 1, rate 0. */
void held_eval(const Signal* signal, double t, double* value, double* rate);
/* Adds to that one row; b counts for nothing, as the rate is 0. */
void held_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/spline.c: natural cubic spline. spline_create solves for the second derivatives. Allocates curvature (rows x
 * channels) and pivots (2 rows), which signal_destroy frees. Two rows are a line, one a constant. */
void spline_create(Signal* signal);
/* Outside of the knots it is held, as piecewise_eval. */
void spline_eval(const Signal* signal, double t, double* value, double* rate);
/* Adds to all rows of the channel: the second derivatives depend on every knot. */
void spline_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/sines.c: offset and a sum of sines. Frequencies in Hz, phases in rad: value_c + sum amplitude sin(2 pi
 * frequency t + phase). Channels come in rows of `terms` sines each. */
void sines_eval(const Signal* signal, double t, double* value, double* rate);
/* gradient: offsets (channels), then amplitude, frequency, phase (channels x terms each), added to. */
void sines_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/integral.c: integrals from 0 to t of what the functions above give, and for weights a of these the gradient.
 * integral_create allocates `areas` (rows x channels), which signal_destroy frees; nothing for sines. */
void integral_create(Signal* signal);
/* value[channels], set: trapezes between rows [unit s]. */
void rows_integral(const Signal* signal, double t, double* value);
/* gradient (rows x channels), added to. */
void rows_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);
/* value[channels], set; finite at frequency 0 too. */
void sines_integral(const Signal* signal, double t, double* value);
/* gradient: offsets (channels), amplitude, frequency, phase (channels x terms each), added to; a[channels]. */
void sines_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);

/* Time of a row [s]; 0 of a constant. */
double signal_row_time(const SceneSignal* source, int row);

/* d rate / d t: zero of linear pieces. Sets every channel between knots and leaves the zeroes of the caller where it is
 * held. */
void spline_acceleration(const Signal* signal, double t, double* acceleration);
/* Subtracts from what is there: the caller has set zero (channels). In the signal's unit / s^2. */
void sines_acceleration(const Signal* signal, double t, double* acceleration);

/* Where t lies among the rows of a signal: between row and row + 1, or held at `row` (width 0). */
typedef struct {
  int row;
  double width;    /* time between the two rows [s]; 0 = held */
  double fraction; /* (t - start) / width */
} Span;
/* Right-sided: at a row the span that begins there. A constant or a single row: row 0, held. Never fails. */
Span span_find(const SceneSignal* source, double t);

#endif
