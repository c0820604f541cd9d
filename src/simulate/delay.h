/* Private to simulate/: delayed measurements of drives with feedback and a delay, forward and reverse
 * (docs/derivations/feedback.md, E6). A Sim owns the history of measurements, a StepAdjoint the derivatives that are
 * pending. Histories grow until they span the longest delay. */
#ifndef SDRS_SIMULATE_DELAY_H
#define SDRS_SIMULATE_DELAY_H

#include "simulate/sense.h"

/* Measurements at the states reached so far, newest last. */
typedef struct DelayHistory {
  int columns; /* number of delayed measurements of all drives, numbered as by ModelController.delayed_first */
  int count, capacity;
  double* time;  /* s  (capacity) */
  double* value; /* measurements (capacity x columns) */
  int saved;     /* number of states at the start of the present step */
} DelayHistory;

/* Returns NULL if no drive has feedback with a delay. Freed with delays_destroy. */
DelayHistory* delays_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void delays_destroy(DelayHistory* history);
/* Call when the present state has been reached: appends its measurements and sets SimState.delayed. Allocates while the
 * history grows. */
void delays_note(Sim* sim);
/* Call before a step that can fail: marks the present end of the history and drops states older than the longest
 * delay. */
void delays_save(Sim* sim);
/* Drops the states recorded since delays_save, after a failed step. */
void delays_restore(Sim* sim);
/* Measures, writes or reads the history, as block->pass says. Reading allocates as delays_note does. Sets block->failed
 * if the stored history has no state. */
void delays_pass_state(Sim* sim, StateBlock* block);

/* Derivatives with respect to measurements at times that the adjoint, which runs backwards, has not reached yet. */
typedef struct DelayPending DelayPending;
/* Returns NULL if no drive has feedback with a delay. Borrows the model; freed with delay_pending_destroy. */
DelayPending* delay_pending_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void delay_pending_destroy(DelayPending* pending);
/* Clears all pending derivatives, before another run. Accepts NULL. */
void delay_pending_begin(DelayPending* pending);
/* Multiplies all pending derivatives by factor. Accepts NULL. */
void delay_pending_discount(DelayPending* pending, double factor);
/* Returns an array for the derivatives with respect to the delayed measurements (measure_count) that `controller` used
 * in the step of sim->clock. The caller must set all of it at once; it is not zeroed. Owned by pending and valid until
 * the next call. The controller must have a delay. */
double* delay_pending_add(DelayPending* pending, const Sim* sim, int controller);
/* Adds to `out` the derivatives through measurements taken at the start of the step of sim->clock. Call after all steps
 * that start there or later. */
void delay_pending_hand_back(DelayPending* pending, const Sim* sim, const FeedbackBars* out);
/* delay_pending_set_aside moves the pending derivatives with respect to the state before the present one to a separate
 * store, so that the adjoint of another solve of the same step can run. delay_pending_add_aside adds them again. Both
 * do nothing if pending is NULL. */
void delay_pending_set_aside(DelayPending* pending);
void delay_pending_add_aside(DelayPending* pending);

#endif
