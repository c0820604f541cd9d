/* Private to simulate/: adjoint of closures (docs/derivations/closures.md, Z6). */
#ifndef SDRS_SIMULATE_CLOSURES_ADJOINT_H
#define SDRS_SIMULATE_CLOSURES_ADJOINT_H

#include "simulate/sim.h"

/* Derivatives of the differentiated scalar with respect to attachment points and directions of closures, in the links'
 * frames. They are summed over steps. nu is the share of the closure rows in the adjoint solution. A StepAdjoint owns
 * the struct. */
typedef struct {
  Vec3 (*end)[2]; /* derivatives with respect to the attachment points ModelClosure.end (size: closures) */
  double* length; /* derivatives with respect to the lengths of closures, then to the offsets of couplings (closures,
                     then couplings) */
  Vec3 *u, *v;    /* derivatives with respect to the directions ClosureRow.u and v (size: rows) */
  Vec3* w;        /* derivatives with respect to the member `direction` (size: rows) */
  const Vec3* direction;           /* ClosureSystem.direction, borrowed; NULL if no closure has `active` */
  double (*ratio)[COUPLING_TERMS]; /* derivatives with respect to the ratios of couplings, at constant offset (size:
                                      couplings) */
  /* share of the closure rows in the adjoint solution, which solves H lambda + C^T nu = -(derivatives with respect to
   * coordinates), C lambda = -by_row. H: Hessian; C: derivatives of the closure equations (size: rows) */
  double* nu;
  double* by_load[2]; /* derivatives with respect to closure forces. [0]: forces in the previous substep; [1]: forces
                         one substep earlier (size: closures) */
  double* by_row;     /* derivatives with respect to the row forces of the present substep (size: rows) */
  bool loaded;        /* true if some entry of `by_row` is not zero */
} ClosureAdjoint;

/* Converts derivatives with respect to closure forces, by_load[0], into derivatives with respect to row forces, by_row.
 * Moves by_load[1] to by_load[0]. Call at the start of the adjoint of a substep. adjoint may be NULL. */
void closure_adjoint_loads(ClosureAdjoint* adjoint, const Sim* sim);
/* Adds the derivative by_share with respect to the step fraction of END_AT_CLOSURE_OPENING to by_load (Z21). */
void closure_adjoint_opens(ClosureAdjoint* adjoint, const StepClock* clock, double by_share);
/* Returns the sum over the rows of by_row times the row forces that the target poses of trees in free flight
 * (tree_flight.h) contain. These row forces depend on the step lengths. adjoint may be NULL. */
double closure_adjoint_target_force_product(const ClosureAdjoint* adjoint, const Sim* sim);
/* Multiplies ClosureAdjoint.by_load, the derivatives with respect to closure forces, by the factor. adjoint may be
 * NULL. */
void closure_adjoint_discount(ClosureAdjoint* adjoint, const Sim* sim, double factor);

/* Returns a new adjoint, which the caller frees with closure_adjoint_destroy. Returns NULL if the sim has no closures.
 */
ClosureAdjoint* closure_adjoint_create(const Sim* sim);
/* Frees the adjoint and everything that the adjoint owns. Accepts NULL. */
void closure_adjoint_destroy(ClosureAdjoint* adjoint);
/* Sets all accumulated derivatives to 0. Does nothing if adjoint is NULL. */
void closure_adjoint_begin(ClosureAdjoint* adjoint, const Sim* sim);
/* Sets which closures are intact in the step of sim->clock, and sets all multipliers to 0. broken_at (closures) [s],
 * read only: breaking times of the run, NULL if none broke. joined (closures): sim_closures_joined after the step, NULL
 * if no closure has `active`. */
void closure_adjoint_load(Sim* sim, const double* broken_at, const SimJoin* joined);
/* Completes the derivatives of closures that closed at the start of a step (Z12). Moves their accumulated derivatives
 * to the poses there, pose (links), and to the initial numbers. Adds to bar (links). Call after the step. */
void closure_adjoint_join(ClosureAdjoint* adjoint, const Sim* sim, const Pose* pose, double (*bar)[3][4]);
/* Computes the closures' multipliers mu [N, N m] from the force balance. Adds the smallest change of mu whose
 * generalized forces balance the present gradient of the step's energy. Uses the factored matrix of the solver.
 * Overwrites sim->newton.solution (nv). Returns false if the result is not finite. */
bool closure_adjoint_forces(Sim* sim);
/* Multiplies the Hessian of the closures' energy by a small motion of all links and adds the result to wrench[links].
 * All links move by twist[links], and the multipliers mu change by nu. Both are (links x 6): [rad, m] and [N m, N]. */
void closure_adjoint_hessian_product(const ClosureAdjoint* adjoint, const Sim* sim, const double (*twist)[6],
                                     double (*wrench)[6]);
/* Accumulates lambda times the derivatives of the step's equations with respect to attachment points, directions,
 * lengths and ratios. lambda[nv]: adjoint solution. motion[links]: directional derivative of every link's rotation
 * matrix and position along lambda. q: coordinates at the end of the step (nq). */
void closure_adjoint_numbers(ClosureAdjoint* adjoint, const Sim* sim, const double* lambda,
                             const double (*motion)[3][4], const double* q);
/* Derivatives with respect to the poses of the links and with respect to a motion (change of the poses), entry by entry
 * of the 3x4 matrices (links). NULL if not needed. */
typedef struct {
  double (*pose)[3][4], (*motion)[3][4];
} ClosurePoseBars;
/* Differentiates the sum of mu c' + nu c over the rows of closure k at poses[links]. c: error of a row; c': change of c
 * by motion[links], 0 if motion is NULL. Accumulates the derivatives with respect to the closure's numbers. Adds those
 * with respect to poses and motion to `out`. mu[rows], nu[rows]: given factors; NULL counts as zero. */
void closure_adjoint_rows(ClosureAdjoint* adjoint, const Model* model, int k, const Pose* poses,
                          const double (*motion)[3][4], const double* mu, const double* nu, ClosurePoseBars out);
/* Does the same as closure_adjoint_rows for the offset and ratios of coupling k (index of Model.couplings). q[nq]:
 * coordinates. lambda[nv]: direction of the coordinates. */
void closure_adjoint_coupling(ClosureAdjoint* adjoint, const Model* model, int k, double mu, double nu,
                              const double* lambda, const double* q);
/* Converts the accumulated derivatives into derivatives with respect to the closures' numbers in the scene. Adds the
 * result to gradient. Adds the derivatives with respect to the poses pose[links] at which closures were placed to bar
 * (links), entry by entry. */
void closure_adjoint_start(const ClosureAdjoint* adjoint, const Model* model, const Pose* pose, double (*bar)[3][4],
                           ModelGradient* gradient);
/* Converts the accumulated derivatives with respect to coupling offsets. A given offset is a number of the scene, and
 * its derivative is added to gradient. An offset that follows from the start depends on the initial coordinates q (nq)
 * and the ratios. Adds the derivatives with respect to increments of q to coordinates (nv), unless NULL, and the others
 * to gradient. */
void closure_adjoint_offsets(const ClosureAdjoint* adjoint, const Model* model, const double* q, double* coordinates,
                             ModelGradient* gradient);

#endif
