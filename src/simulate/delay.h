/* Private to simulate/: delayed measurements of drives with feedback, and their derivatives
 * (docs/derivations/feedback.md, E6). A Sim owns the history of measurements. A StepAdjoint owns the pending
 * derivatives. Histories grow until they span the longest delay. */
#ifndef SDRS_SIMULATE_DELAY_H
#define SDRS_SIMULATE_DELAY_H

#include "simulate/sensor.h"

/* Measurements at the states reached so far, newest last. */
typedef struct DelayHistory {
  int columns; /* number of delayed measurements of all drives; the first one of a drive has the index
                  ModelController.delayed_first */
  int count, capacity;
  double* time;  /* time of every stored state [s] (size: capacity) */
  double* value; /* measurements at every stored state (capacity x columns) */
  int saved;     /* number of stored states at the start of the present step */
} DelayHistory;

/* Creates the history of measurements. The caller frees it with delays_destroy. Returns NULL if no drive has feedback
 * with a delay. */
DelayHistory* delays_create(const Model* model);
/* Frees the history of measurements. Accepts NULL. */
void delays_destroy(DelayHistory* history);
/* Appends the measurements of the present state to the history, and sets SimState.delayed. Call at the end of each
 * substep. Allocates while the history grows. */
void delays_append_state(Sim* sim);
/* Stores the present number of states of the history for delays_restore, and drops states older than the longest delay.
 * Call before a step that can fail. */
void delays_save(Sim* sim);
/* Drops the states recorded since delays_save, after a failed step. */
void delays_restore(Sim* sim);
/* Writes or reads the history, or measures its size. block->pass selects the operation. Reading allocates as
 * delays_append_state does. Sets block->failed if the stored history has no state. */
void delays_serialize_state(Sim* sim, StateBlock* block);

/* Derivatives with respect to measurements at earlier times, which the adjoint has not reached yet because it runs
 * backwards. */
typedef struct DelayPending DelayPending;
/* Creates pending derivatives without entries. Borrows the model. The caller frees them with delay_pending_destroy.
 * Returns NULL if no drive has feedback with a delay. */
DelayPending* delay_pending_create(const Model* model);
/* Frees the pending derivatives, but not the model. Accepts NULL. */
void delay_pending_destroy(DelayPending* pending);
/* Clears all pending derivatives, before another run. Accepts NULL. */
void delay_pending_begin(DelayPending* pending);
/* Multiplies all pending derivatives by factor. Accepts NULL. */
void delay_pending_discount(DelayPending* pending, double factor);
/* Returns an array for the derivatives with respect to the delayed measurements of `controller` in the step of
 * sim->clock (measure_count). The caller must set all entries at once, because they are not zeroed. pending owns the
 * array. It is valid until the next call. The controller must have a delay. */
double* delay_pending_add(DelayPending* pending, const Sim* sim, int controller);
/* Derivatives of a scalar with respect to times on which delayed measurements depend (E9). */
typedef struct {
  double start;  /* with respect to the start time of the step, at fixed lengths [1/s] */
  double before; /* with respect to the length of the previous step, at fixed start time [1/s] */
} DelayTimeBars;
/* Multiplies the pending derivatives with respect to the measurements at the start of the step of sim->clock by the
 * derivatives of these measurements. Adds the result to `out`. Returns the derivatives with respect to times, zeros if
 * pending is NULL. Call after all steps that start at this time or later. */
DelayTimeBars delay_pending_propagate(DelayPending* pending, const Sim* sim, const FeedbackBars* out);
/* delay_pending_move_to_store stores the pending derivatives with respect to the state before the present one
 * separately. The adjoint of another solve of the same step can then run. delay_pending_add_store adds the stored
 * derivatives again. Both do nothing if pending is NULL. */
void delay_pending_move_to_store(DelayPending* pending);
void delay_pending_add_store(DelayPending* pending);

#endif
