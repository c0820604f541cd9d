/* Private to simulate/: tendons through points of links (docs/derivations/loads.md, L5-L7). Without tendons in the
 * scene Sim.tendons is NULL and nothing is computed. */
#ifndef SDRS_SIMULATE_TENDONS_H
#define SDRS_SIMULATE_TENDONS_H

#include "simulate/sim.h"

/* Terms of two links for a tendon segment between neighbouring points a and b. Without a wrap there is one, of a and b.
 * With a wrap w there are three (TENDON_TERMS_WRAPPED): of a and w, of b and w, of a and b. */
typedef struct {
  int link[2];    /* -1 = world */
  Vec3 slope;     /* of the length by a's point, of the second term by b's; the other link has the opposite */
  Mat3 curvature; /* slope of that [1/m] */
  Vec3 arm[2];    /* of where they pull about the links' centres of mass [m] */
  Vec3 force[2];  /* derivatives of the energy by the links' motion about these centres [N] */
  Mat3 moment[2]; /* N m */
  double hessian[12][12];
} TendonSegment;

enum { TENDON_TERMS_WRAPPED = 3 };
/* How many terms the way from a point to the next has. */
static inline int tendon_terms(const SceneTendon* tendon, int point) {
  return tendon->points[point].wrap > 0 ? TENDON_TERMS_WRAPPED : 1;
}

/* The degree of freedom of a tendon's joint. */
static inline int tendon_dof(const Model* model, const SceneCouplingTerm* joint) {
  return model->links[joint->link].dof_first + joint->coordinate;
}

typedef struct TendonSystem {
  const Model* model;
  double* tension;           /* of the signals at the end of the step [N]  (tendons) */
  SpringTime* at;            /* when the springs act in the present step (M10)  (tendons) */
  double* past;              /* share of their length that the states before have [m]  (tendons) */
  double *now, *old;         /* lengths at t and t - dt, of those with limits [m]  (tendons) */
  double rate_now, rate_old; /* of StepWeights [1/s] */
  double* effort;            /* sizes of the forces whose sum is pull, which may cancel [N]  (tendons) */
  double *pull, *extent;     /* as assembled: force [N]; how large its positions are [m]  (tendons) */
  int *first, count;         /* of every tendon's terms among those of all, (tendons + 1) */
  int* tendon;               /* of every segment */
  TendonSegment* segment;    /* as assembled */
  int *dof_first, *dof;      /* degrees of freedom that move a tendon's points (tendons + 1), (all) */
  double* slope;             /* d length / d dof as assembled, of those with stiffness */
  CouplingTerms* stretched;  /* stiffness x slope slope^T (tendons) */
  int* place;                /* of a degree of freedom in the list of the tendon at hand  (nv) */
  uint64_t* pairs;           /* trees that they couple, a << 32 | b with a < b, sorted  (pair_count) */
  int pair_count;
} TendonSystem;

/* NULL: the model has none. Owned by the caller. Freed with tendons_destroy. */
TendonSystem* tendons_create(const Model* model);
/* Frees it and all that it owns; NULL is accepted. */
void tendons_destroy(TendonSystem* system);

/* Sets the tensions for the step of sim->clock, and what the states before have of the lengths. [N]; 0 of tendons
 * without a signal. */
void tendons_aim(Sim* sim);
/* Length beyond the rest length at the time that the spring acts, its length at t + dt being `length` [m]; 0: loose. */
double tendon_stretch_in_step(const TendonSystem* system, int k, double length);
/* tension x length + stiffness/2 stretch^2 of every tendon [J] (tendons), at the spring's own time, and the energy of
 * its limits (L94). energies: set; poses[links], q[nq]. */
void tendons_energies(const TendonSystem* system, const Pose* poses, const double* q, double* energies);
/* Sets how the limits act on a length at t + dt [m], with their derivatives by it and by the length at t (L94). Zeros
 * of a tendon without limits. */
typedef struct {
  double value, first, second; /* J, N, N/m */
  double effort;               /* sizes of the forces of spring and damper [N] */
  double by_now, by_old;       /* N/m */
} TendonLimit;
TendonLimit tendon_limit(const TendonSystem* system, int k, double length);
/* Terms of all tendons at the poses and coordinates q (nq); reference: centres of mass (links). Sets segments, pull,
 * extent, slope and stretched. No allocation. */
void tendons_assemble(TendonSystem* system, const Pose* poses, const double* q, const Vec3* reference,
                      const Screw* screws);
/* gradient (nv) += pull x ratio of tendons along joints [N, N m]; system may be NULL. */
void tendons_add_joint_gradient(const TendonSystem* system, double* gradient);
/* at_work (nv) += the forces at work that the terms do not show: of tendons along joints, and of limits that balance
 * the tension of their own tendon. system may be NULL. */
void tendons_add_work(const TendonSystem* system, double* at_work);
/* Those of the segments, for Assembly, and those of stiffness; system may be NULL. Borrowed until the next
 * tendons_assemble. */
ContactTermList tendons_terms(const TendonSystem* system);
/* Sets `stretched` of the assembly, borrowed alike. */
void tendons_couple(const TendonSystem* system, Assembly* assembly);
/* Smallest change of a tendon's energy that means something [J]. */
double tendon_rounding(const TendonSystem* system, int k);
/* - pull x d length / d dof, added (nv). [N, N m]; screws[nv] at the poses[links]. system NULL: nothing. */
void tendons_add_force(const TendonSystem* system, const Pose* poses, const Screw* screws, double* force);

/* wrench[links]: + the change of force and torque that tendons put on a link while all move by twist[links]
 * (simulate/tendons_adjoint.c). Both are (links x 6); nothing for system NULL. */
void tendons_product(const TendonSystem* system, const double (*twist)[6], double (*wrench)[6]);
/* lambda (nv) . dF/d(tensions, stiffness, rest lengths, points, states before) (L7). motion: of every link by lambda,
 * the change of [R | t] at t + dt  (links). Added to gradient, now and old; nothing without tendons. */
void tendons_adjoint(const Sim* sim, const double* lambda, const double (*motion)[3][4], StateBar now, StateBar old,
                     ModelGradient* gradient);
/* Adds factor times the derivatives of the rate of the length of tendon k at the poses of the current configuration,
 * while the links move by motion[links] = dT/dt: with respect to T in pose_bar[links], to dT/dt in motion_bar[links],
 * to the tendon's points and wraps in gradient. Needs tendons_assemble at these poses. */
void tendon_rate_adjoint(const Sim* sim, int k, const double (*motion)[3][4], double factor, double (*pose_bar)[3][4],
                         double (*motion_bar)[3][4], ModelGradient* gradient);

#endif
