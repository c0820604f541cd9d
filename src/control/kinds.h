/* Private to control/: the kinds of signal. A new kind is one file with its functions and one row in signal.c. */
#ifndef SDRS_CONTROL_KINDS_H
#define SDRS_CONTROL_KINDS_H

#include "control/control.h"

/* value and rate as signal_eval; vjp as signal_eval_vjp. */
typedef void (*SignalEval)(const Signal* signal, double t, double* value, double* rate);
typedef void (*SignalVjp)(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/piecewise.c: constant, keyframes, sequences, and rows that are held. */
void piecewise_eval(const Signal* signal, double t, double* value, double* rate);
void piecewise_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* HELD: row ceil(t / interval) - 1, rate 0. */
void held_eval(const Signal* signal, double t, double* value, double* rate);
void held_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/spline.c: natural cubic spline. spline_create solves for the second derivatives. */
void spline_create(Signal* signal);
void spline_eval(const Signal* signal, double t, double* value, double* rate);
void spline_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/sines.c: offset and a sum of sines. */
void sines_eval(const Signal* signal, double t, double* value, double* rate);
void sines_eval_vjp(const Signal* signal, double t, const double* a, const double* b, double* gradient);

/* control/integral.c: integrals from 0 to t of what the functions above give, and for weights a of these the gradient.
 */
void integral_create(Signal* signal);
void rows_integral(const Signal* signal, double t, double* value);
void rows_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);
void sines_integral(const Signal* signal, double t, double* value);
void sines_integral_vjp(const Signal* signal, double t, const double* a, double* gradient);

/* Time of a row [s]; 0 of a constant. */
double signal_row_time(const SceneSignal* source, int row);

/* Where t lies among the rows of a signal: between row and row + 1, or held at `row` (width 0). */
typedef struct {
  int row;
  double width;    /* time between the two rows [s]; 0 = held */
  double fraction; /* (t - start) / width */
} Span;
/* Right-sided: at a row the span that begins there. */
Span span_find(const SceneSignal* source, double t);

#endif
