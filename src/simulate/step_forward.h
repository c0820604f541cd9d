/* Private to simulate/: sensitivities of a recorded run (step_forward.c, initial_friction_forward.c;
 * docs/derivations/identify.md, Q1). */
#ifndef SDRS_SIMULATE_STEP_FORWARD_H
#define SDRS_SIMULATE_STEP_FORWARD_H

#include "simulate/step_adjoint.h"

/* Number of states with sensitivities: the end of a step and the three states before. */
enum { FORWARD_STATES = 4 };

struct StepForward {
  StepAdjoint* adjoint;
  const Model* model;
  int parameters;
  ForwardChain chain;
  void* context;
  ModelGradient gradient;
  StateBar bar[3];  /* derivatives of one equation with respect to the states at the start of the step (`now`) and one
                       and two steps before (`old`, `older`) */
  Screw* screws[3]; /* screws of the joints at the states `now`, `old` and `older` (size: nv) */
  double* sensitivity[FORWARD_STATES]; /* derivatives of the coordinates' increments with respect to the parameters, at
                                          the states `next`, `now`, `old` and `older` (nv x parameters) */
  double* start;                       /* sensitivity of the first state (nv x parameters) */
  double* thetas;                      /* sensitivity of the spring thetas (model_theta_count x parameters) */
  double *carried, *carried_next; /* sensitivity of the numbers that contact pairs carry from step to step, at t and at
                                     t + dt (records x numbers x parameters) */
  double* carry_row; /* derivatives of one equation of the step with respect to the history variables of contact pairs
                        in `carried` */
  double* friction_limits; /* sensitivity of the pairs' friction limits in a run's first step (records x parameters);
                    NULL in other steps */
  int carried_capacity, carried_next_capacity, carry_row_capacity, records;
  double* rows;      /* partial derivatives of the step's equations with respect to the parameters (nv x parameters) */
  bool slips;        /* true if the unknowns are changes of sensitivities (slip_forward_begin) */
  double* slip_rows; /* (H - K) S_now, if `slips` (nv x parameters) */
  double* solve;     /* sensitivity of the end of the solve before the last one (nv x parameters) */
  Screw* solve_screws;            /* screws of the joints at the end of the solve before the last one (size: nv) */
  double *column, *right;         /* solution and right-hand side for one parameter (size: nv) */
  double *start_bar, *start_q;    /* first state: derivatives with respect to it (nv), coordinates (size: nq) */
  Pose* start_pose;               /* poses of the first state (size: links) */
  Screw* start_screws;            /* screws of the first state (size: nv) */
  const double* closure_q;        /* coordinates at which closures were placed, if not at the first state; borrowed */
  Pose* closure_pose;             /* poses at closure_q (size: links) */
  Screw* closure_screws;          /* screws at closure_q (size: nv) */
  double* closure_bar;            /* derivatives with respect to increments of closure_q, not used (size: nv) */
  double (*start_pose_bar)[3][4]; /* derivatives with respect to poses of the first state, through the closures (size:
                                     links) */
  double* closure_rows;           /* partial derivatives of the closure equations with respect to the parameters (rows x
                                     parameters) */
  double *error_derivative, *change; /* error_derivative: derivative of the closure errors with respect to one
                                        parameter; change: change of the multipliers (size: rows) */
  double* load[2]; /* sensitivity of the closures' forces in the last two substeps; NULL if no closure has a force limit
                      (closures x parameters) */
  Screw* next_screws; /* workspace: screws of the joints at t + dt (size: nv) */
  double* length[3];  /* sensitivities of the lengths of the step and of the two previous steps (size: parameters) */
  double* rates; /* rates of prescribed coordinates at the end of a step whose end time depends on parameters; otherwise
                    0 (size: nv) */
  double* by_end; /* contribution of prescribed coordinates to the derivatives of the equations with respect to the end
                     time (size: nv) */
  double *begin, *end; /* sensitivities of the step's start time and of its end time (size: parameters) */
  double* momentum[2]; /* sensitivity of the angular momenta at t and at t + dt; NULL if no link integrates its momentum
                          (3 links x parameters) */
  StateBar next_bar;   /* derivatives with respect to the state at t + dt */
};

/* Sets the derivatives that are accumulated for one equation (StepForward.bar and gradient) to 0. */
void step_forward_clear(StepForward* f);
/* Converts the accumulated derivatives with respect to the states before `step` and the model into derivatives with
 * respect to the parameters. Adds these to row[parameters], one row of a sensitivity matrix. */
void step_forward_finish_row(StepForward* f, const RecordedStep* step, double* row);
/* Adds the product of factor[count] and matrix (count x columns, row-major) to row[columns]. */
void step_forward_add_product(double* row, const double* factor, int count, const double* matrix, int columns);
/* Computes f->sensitivity[0], the derivatives of the state at the end of the step with respect to the parameters, from
 * the sensitivities of the earlier states. Returns false if the step has no derivative. */
bool step_forward_solve(StepForward* f, const RecordedStep* step);
/* Sets f->slips: true if the impulse of an impact limits friction of the substep. Then sets f->slip_rows, and evaluates
 * `assembly`, the terms of the substep, again. Overwrites the solver. */
void slip_forward_begin(StepForward* f, const RecordedStep* step, Assembly* assembly);
/* If f->slips, adds K lambda to f->bar[0].q. K: Hessian of this friction; lambda: f->adjoint->lambda. */
void slip_forward_add_product(StepForward* f, const RecordedStep* step);
/* Sets f->friction_limits, the sensitivity of the friction limits, for a step with RecordedStep.initial_friction.
 * Returns false if the contact state cannot be recomputed from the record. Allocates. */
bool initial_friction_forward(StepForward* f, const RecordedStep* step);

#endif
