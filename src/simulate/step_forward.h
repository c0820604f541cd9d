/* Private to simulate/: sensitivities of a recorded run (step_forward.c, guess_forward.c; docs/derivations/identify.md,
 * I1). */
#ifndef SDRS_SIMULATE_STEP_FORWARD_H
#define SDRS_SIMULATE_STEP_FORWARD_H

#include "simulate/step_adjoint.h"

/* The state at the end of a step and the three before. */
enum { FORWARD_STATES = 4 };

struct StepForward {
  StepAdjoint* adjoint;
  const Model* model;
  int parameters;
  ForwardChain chain;
  void* context;
  ModelGradient gradient;
  StateBar bar[3];                     /* derivatives with respect to the states now, old, older */
  Screw* screws[3];                    /* there (nv) */
  double* sensitivity[FORWARD_STATES]; /* next, now, old, older  (nv x parameters) */
  double* start;                       /* of the first state  (nv x parameters) */
  double* thetas;                      /* of the thetas of springs  (model_theta_count x parameters) */
  double *carried, *carried_next;      /* of what pairs hand on  (records x numbers x parameters) */
  double* carry_row;                   /* derivatives of one row by what pairs have handed on */
  double* grips; /* of the pairs' grips in a run's first step; NULL: of no other  (records x parameters) */
  int carried_room, carried_next_room, carry_room, records;
  double* rows;                   /* what stands on the right hand side  (nv x parameters) */
  double* solve;                  /* of the solve before the last one (nv x parameters) */
  Screw* solve_screws;            /* there (nv) */
  double *column, *right;         /* (nv) */
  double *start_bar, *start_q;    /* by increments of the start (nv); its coordinates (nq) */
  Pose* start_pose;               /* (links) */
  Screw* start_screws;            /* (nv) */
  const double* placed_q;         /* where closures were placed, if not at the start; borrowed */
  Pose* placed_pose;              /* there (links) */
  Screw* placed_screws;           /* (nv) */
  double* placed_bar;             /* (nv); nothing hangs on it */
  double (*start_pose_bar)[3][4]; /* derivatives with respect to the start's poses, of what closures hold (links) */
  double* closure_rows;           /* derivatives of their equations (rows x parameters) */
  double *gaps, *change;          /* of one parameter; multipliers (rows) */
  double* length[3];              /* of the lengths of the step and of the two before it (parameters) */
  double* rates;                  /* of the prescribed coordinates at the end of a step whose end varies, else 0 (nv) */
  double* by_end;                 /* derivatives of the equations with respect to the end through these (nv) */
  double *begin, *end;            /* of the times at which it begins and ends (parameters) */
  double* momentum[2];            /* of the angular momenta at t and at t + dt; NULL: no link spins
                                     (3 links x parameters) */
  StateBar next_bar;              /* derivatives with respect to the state at t + dt */
};

/* Derivatives of one row begin with none. */
void step_forward_clear(StepForward* f);
/* Converts the accumulated derivatives with respect to the states before `step` and the model into those with respect
 * to the parameters, added to row (parameters). */
void step_forward_finish_row(StepForward* f, const RecordedStep* step, double* row);
/* row (columns) += sum factor_i matrix_i (count x columns, row-major). */
void step_forward_add_product(double* row, const double* factor, int count, const double* matrix, int columns);
/* Sets sensitivity[0] from those of the states before. false: the step has no derivative. */
bool step_forward_solve(StepForward* f, const RecordedStep* step);
/* Sets f->grips of a step with a guess. false: its contact is not found again. Allocates. */
bool guess_forward(StepForward* f, const RecordedStep* step);

#endif
