/* Private to simulate/: everything that changes during a run, grouped by who writes it. */
#ifndef SDRS_SIMULATE_SIM_H
#define SDRS_SIMULATE_SIM_H

#include "simulate/simulate.h"
#include "simulate/terms.h"

/* One configuration with what was evaluated there. Two are held: accepted and trial. */
typedef struct {
  double* q;          /* (nq) */
  Pose* pose;         /* (links) */
  double* inertia;    /* energy of inertia and gravity of every link [J]  (links) */
  JointTerms* joints; /* (links) */
} Configuration;

/* Trees coupled in Newton's model. Islands do not know of each other there, so each has a step length of its own. */
typedef struct {
  double alpha;
  double slope;    /* gradient . delta over its degrees of freedom [J] */
  double rounding; /* decrease that cannot be told from rounding [J] */
  double change;   /* of its energy at the trial [J] */
  double excess;   /* change above what is allowed, of its group [J] */
  bool settled;    /* its gradient is below the tolerance: it stays where it is */
  bool shorten;    /* the trial was refused because of it */
  bool blind;      /* the predicted decrease is below rounding: the full step is taken on trust */
} Island;

/* Accepted moves since sim_path was called last. */
typedef struct {
  double *delta, *time; /* (capacity x nv), (capacity) */
  int count, capacity;
  int first;      /* move of the present step */
  int block;      /* first of those that may still be made one */
  bool straight;  /* the last one alone is the straight way of its step */
  double* begin;  /* coordinates where the present step began  (nq) */
  double* from;   /* and where the way begins that is looked at  (nq) */
  double* marked; /* and when sim_path was called last  (nq) */
  double* way;    /* straight increments  (nv) */
  Pose* poses;    /* where the way begins  (links) */
  Screw* screws;  /* (nv) */
  MotionBounds bounds;
  Proof* proof; /* over recorded states that are several steps apart; NULL: they are not, or none was needed yet */
} Path;

struct Sim {
  const Model* model;
  SimOptions options;
  double tolerance;
  SimState state; /* what the user sees; pose points into history */

  /* written by sim_step at its end: the past */
  double *q_now, *q_old;                  /* q^t, q^{t-1}  (nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments  (nv) */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2}  (links) */
  Pose* pose_rate;                        /* dT/dt of the initial velocities (affine)  (links) */

  /* written by step_prepare: what the present step aims at */
  StepWeights weights;
  Pose* target;       /* Y of every link (affine)  (links) */
  JointDrive* drives; /* sorted by link */
  int* drive_first;   /* (links + 1) */
  double* prescribed; /* coordinates that prescribed joints must reach  (nq) */
  bool* fixed;        /* dof is prescribed  (nv) */
  int fixed_count;

  /* written by the Newton loop */
  Configuration configuration[2];
  int current;
  double *gradient, *delta, *scaled, *rhs; /* (nv) */
  Screw* screws;
  Vec3* reference;
  LinkTerms* link_terms;
  MotionBounds bounds;
  int* island;     /* of every tree: trees that contact or friction couples  (trees) */
  Island* islands; /* (trees) */
  int* group;      /* of every island: islands that meet in the trial  (trees) */
  int island_count;
  double* path_q; /* coordinates on the way, for the certificate  (nq) */
  BlockSolver* solver;
  int pattern_version;
  uint64_t* couplings;
  int known_couplings, candidate_capacity;
  bool pattern_set;
  ContactSystem* contact; /* NULL when the scene has none */
  SimTimes times;

  /* written by simulate/path.c: what sim_path hands out */
  Path path;

  /* written by sim_contacts */
  SimContact* contacts;
  int contact_capacity;

  /* written by sim_contact_records */
  ContactRecord* records;
  int record_capacity;
};

/* ---- simulate/path.c; all of it is nothing unless options.path is set */
void path_create(Sim* sim);
void path_destroy(Path* path);
/* Around what leads to one state: its moves are kept, or forgotten when it failed. time: of that state [s]. A step that
 * is taken in parts has a pair of calls for each. */
void path_begin(Sim* sim);
void path_end(Sim* sim, bool reached, double time);
/* A move by s->scaled is about to be accepted: the accepted state is still that before it. */
void path_add(Sim* sim);

/* A run without contact of its own, at rest at the start: for whoever wants the terms of one step. */
Sim* sim_create_bare(const Model* model, int threads);

/* Targets, weights and moved history of the step from t to t + dt (simulate/prepare.c). */
void step_prepare(Sim* sim);
/* Newton with line search from the accepted configuration (simulate/newton.c). */
StepReport step_solve(Sim* sim);
/* Move along s->delta as far as feasibility, Armijo's rule and the certificate allow (simulate/line_search.c). */
typedef enum { SEARCH_ACCEPTED, SEARCH_AT_ROUNDING, SEARCH_FAILED } SearchResult;
SearchResult step_search(Sim* sim, bool arrived, StepReport* report);
/* The motion of the last time step once more, if that lowers the objective well. */
bool step_repeat_last(Sim* sim, StepReport* report);
/* Gradient, link terms and what assemble_hessian needs at the current configuration, with the given contact terms. */
void step_assemble(Sim* sim, ContactTermList contact, Assembly* assembly);
/* Make room in the Hessian for the couplings of the terms. */
void step_pattern(Sim* sim, ContactTermList contact);
JointInput step_joint_input(const Sim* sim, const Configuration* c, int link);
/* Evaluate the terms of a configuration at its q; false: a limit is passed. */
bool configuration_evaluate(Sim* sim, Configuration* c);

#endif
