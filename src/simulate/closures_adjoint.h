/* Private to simulate/: closures backwards (docs/derivations/closures.md, Z6). */
#ifndef SDRS_SIMULATE_CLOSURES_ADJOINT_H
#define SDRS_SIMULATE_CLOSURES_ADJOINT_H

#include "simulate/sim.h"

/* Derivatives of the run's scalar by the ends and directions of closures in their links' frames, gathered over steps,
 * and the rows' part of lambda. Owned by a StepAdjoint. */
typedef struct {
  Vec3 (*end)[2];                  /* (closures) */
  double* length;                  /* and offsets of couplings (closures, then couplings) */
  Vec3 *u, *v;                     /* (rows) */
  Vec3* w;                         /* by ClosureSystem.direction, of closures that are switched (rows) */
  const Vec3* direction;           /* that; NULL: none is switched */
  double (*ratio)[COUPLING_TERMS]; /* at a given offset (couplings) */
  double* nu; /* with lambda: H lambda + C^T nu = -(derivatives by the coordinates), C lambda = 0  (rows) */
} ClosureAdjoint;

/* NULL: the sim has no closures. Freed with closure_adjoint_destroy. */
ClosureAdjoint* closure_adjoint_create(const Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void closure_adjoint_destroy(ClosureAdjoint* adjoint);
/* Zeroes accumulated derivatives. Does nothing for adjoint NULL. */
void closure_adjoint_begin(ClosureAdjoint* adjoint, const Sim* sim);
/* The closures that hold in the step of sim->clock, with no force. broken_at: of the run, NULL: none broke. broken_at
 * (closures) [s], only read; joined: sim_closures_joined after the step, NULL: none is switched (closures). */
void closure_adjoint_load(Sim* sim, const double* broken_at, const SimJoin* joined);
/* After a step: what was gathered by closures that closed where it began, to the poses there (links) and to what they
 * are made of at the start (Z12). Added to bar (links). */
void closure_adjoint_join(ClosureAdjoint* adjoint, const Sim* sim, const Pose* pose, double (*bar)[3][4]);
/* Their forces, from the gradient without them and the matrix of the solver, which was factored: C^T mu = -gradient.
 * Sets the multipliers [N, N m]; s->solution (nv) is used up. false: not finite. */
bool closure_adjoint_forces(Sim* sim);
/* wrench[links]: + the change of force and torque that closures put on a link while all move by twist[links], with mu
 * changing by nu. Both are (links x 6): [rad, m] and [N m, N]. */
void closure_adjoint_product(const ClosureAdjoint* adjoint, const Sim* sim, const double (*twist)[6],
                             double (*wrench)[6]);
/* lambda . dF/d(ends, directions, lengths, ratios), gathered. lambda[nv], motion[links]: of lambda; q: at the step's
 * end (nq). */
void closure_adjoint_ends(ClosureAdjoint* adjoint, const Sim* sim, const double* lambda, const double (*motion)[3][4],
                          const double* q);
/* Entry by entry of [R | t] and of its motion (links); NULL: not wanted. */
typedef struct {
  double (*pose)[3][4], (*motion)[3][4];
} ClosurePoseBars;
/* Derivatives of sum mu c' + nu c over the rows of closure k at poses[links] that move by motion (links; NULL: they
 * do not): by its numbers, gathered, and by poses and motion, added to `out`. mu[rows], nu[rows]; NULL: none. */
void closure_adjoint_rows(ClosureAdjoint* adjoint, const Model* model, int k, const Pose* poses,
                          const double (*motion)[3][4], const double* mu, const double* nu, ClosurePoseBars out);
/* The same of a coupling by its offset and ratios, at q[nq] moving by lambda[nv]; k: index of Model.couplings. */
void closure_adjoint_coupling(ClosureAdjoint* adjoint, const Model* model, int k, double mu, double nu,
                              const double* lambda, const double* q);
/* Adds accumulated derivatives to those with respect to the poses at which closures were placed, bar (links),
 * elementwise, and to their numbers in the scene. */
void closure_adjoint_start(const ClosureAdjoint* adjoint, const Model* model, const Pose* pose, double (*bar)[3][4],
                           ModelGradient* gradient);
/* Offsets of couplings that are those of the start, to the coordinates q there (nq), as increments (nv; NULL: nobody
 * asks), and to the ratios; those that are given, to themselves. Added. */
void closure_adjoint_offsets(const ClosureAdjoint* adjoint, const Model* model, const double* q, double* coordinates,
                             ModelGradient* gradient);

#endif
