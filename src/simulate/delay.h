/* Private to simulate/: what drives with feedback and a delay measured some time ago, forwards and backwards
 * (docs/derivations/feedback.md, E6). A Sim owns its history, a StepAdjoint what is pending. Histories grow until they
 * hold as many states as the longest delay spans. */
#ifndef SDRS_SIMULATE_DELAY_H
#define SDRS_SIMULATE_DELAY_H

#include "simulate/sense.h"

/* Measurements of the states reached, the latest last. */
typedef struct DelayHistory {
  int columns; /* of all drives that have both, as ModelController.delayed_first numbers them */
  int count, capacity;
  double* time;  /* s  (capacity) */
  double* value; /* as measured  (capacity * columns) */
  int saved;     /* states when the present step was begun */
} DelayHistory;

/* NULL: no drive has both. Freed with delays_destroy. */
DelayHistory* delays_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void delays_destroy(DelayHistory* history);
/* The present state has been reached: it is measured, and SimState.delayed is that of it. Allocates while the history
 * grows. */
void delays_note(Sim* sim);
/* Around a step that may fail: what nobody will look back to is forgotten; what was noted since is. Allocates
 * nothing. */
void delays_save(Sim* sim);
/* The present state is that of delays_save again. */
void delays_restore(Sim* sim);
/* Reading fails on a history with no state; it allocates then as delays_note does. */
void delays_pass_state(Sim* sim, StateBlock* block);

/* Derivatives by measurements of states that the adjoint has not come to yet. */
typedef struct DelayPending DelayPending;
/* NULL alike. Borrows the model; freed with delay_pending_destroy. */
DelayPending* delay_pending_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void delay_pending_destroy(DelayPending* pending);
/* None. Those of another run are forgotten; NULL is accepted. */
void delay_pending_begin(DelayPending* pending);
/* All of them times a factor; NULL is accepted. */
void delay_pending_discount(DelayPending* pending, double factor);
/* Room for those by the measurements (all of the controller's) that the step of sim->clock looks back to; to be set at
 * once. (measure_count) numbers, not zeroed; owned by pending, the pointer holds until the next call. The controller
 * has a delay. */
double* delay_pending_add(DelayPending* pending, const Sim* sim, int controller);
/* Those by the measurements at the start of the step of sim->clock, after all steps that began there or later. */
void delay_pending_hand_back(DelayPending* pending, const Sim* sim, const FeedbackBars* out);

#endif
