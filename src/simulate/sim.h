/* Private to simulate/: everything that changes during a run, grouped by who writes it. */
#ifndef SDRS_SIMULATE_SIM_H
#define SDRS_SIMULATE_SIM_H

#include "simulate/closures.h"
#include "simulate/simulate.h"
#include "simulate/terms.h"

/* One configuration with what was evaluated there. Two are held: accepted and trial. */
typedef struct {
  double* q;          /* (nq) */
  Pose* pose;         /* (links) */
  double* inertia;    /* energy of inertia and gravity of every link [J]  (links) */
  JointTerms* joints; /* (links) */
  double* tendons;    /* energies of the tendons [J]; NULL: there are none  (tendons) */
  double* bushings;   /* energies of the bushings [J]; NULL: there are none  (bushings) */
  double* closures;   /* values of the closures' equations [m, 1]; NULL: there are none  (rows) */
} Configuration;

/* Sums of the sizes of the forces at work on a link and all below it, none taken off another. */
typedef struct {
  double force;  /* N */
  double torque; /* about the link's centre of mass [N m] */
} WorkingForce;

/* Trees coupled in Newton's model. Islands do not know of each other there, so each has a step length of its own. */
typedef struct {
  double alpha;
  double share;      /* of the direction that is kept: of links of very many triangles it may be less than all */
  double slope;      /* gradient . delta over its degrees of freedom [J] */
  double curvature;  /* delta . H delta of the model that gave delta [J] */
  double rise;       /* that prescribed joints under way may bring about over the whole step [J] */
  double rounding;   /* decrease that cannot be told from rounding [J] */
  double change;     /* of its energy at the trial [J] */
  double own_change; /* of that without pairs, closures, tendons and bushings [J] */
  double excess;     /* change above what is allowed, of its group [J] */
  bool settled;      /* in balance: it stays where it is */
  bool moved;        /* since own_change was found */
  bool shorten;      /* the trial was refused because of it */
  bool blind;        /* the predicted decrease is below rounding: the full step is taken on trust */
} Island;

/* Accepted moves since sim_path was called last. */
typedef struct {
  double *delta, *time; /* (capacity x nv), (capacity) */
  int count, capacity;
  int first;                  /* move of the present step */
  int parts;                  /* parts of steps since sim_path was called last */
  int kept_count, kept_parts; /* when the step was begun that is taken in parts */
  int block;                  /* first of those that may still be made one */
  bool straight;              /* the last one alone is the straight way of its step */
  double* begin;              /* coordinates where the present step began  (nq) */
  double* from;               /* and where the way begins that is looked at  (nq) */
  double* marked;             /* and when sim_path was called last  (nq) */
  double* way;                /* straight increments  (nv) */
  Pose* poses;                /* where the way begins  (links) */
  Screw* screws;              /* (nv) */
  MotionBounds bounds;
  Proof* proof;     /* over recorded states that are several parts apart; NULL: none was needed yet */
  bool proof_there; /* its last state is `marked` */
} Path;

/* What a step begins from: all that sim_step writes besides the state that the user sees. */
typedef struct {
  double *q_now, *q_old;                  /* q^t, q^{t-1}  (nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments  (nv) */
  double* rate;                           /* SimState.rate  (nv) */
  Vec3* momentum;                         /* SimState.momentum  (links) */
  Vec3* felt;                             /* SimState.felt  (links), or NULL */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2}  (links) */
  double* q_older;                        /* q^{t-2}, or NULL  (nq) */
} SimPast;

/* In how many substeps the next step is tried first (simulate/substep.c). */
typedef struct {
  int recent;  /* the last step's number */
  int calm;    /* steps in a row that succeeded with it at once */
  int tried;   /* equal parts of the last try, those of impacts not counted */
  int least;   /* what this step began with at least */
  int reached; /* parts of the last try that were solved */
} SubstepMemory;

/* States between those that the user sees. */
typedef struct {
  int count, capacity;
  StepClock* clock; /* (capacity) */
  double* q;        /* (capacity * nq) */
  Pose* pose;       /* (capacity * links) */
  Vec3* momentum;   /* (capacity * links) */
  Vec3* felt;       /* likewise, or NULL */
  double* delayed;  /* SimState.delayed, or NULL  (capacity * 2 delayed_count) */
  ContactRecord* contacts;
  int* contact_first; /* (capacity + 1) */
  int contact_capacity;
  SimSubstate* list; /* (capacity) */
} SubstateStore;

/* Of a link's own energies: what inertia has, and its joint [J]. */
typedef struct {
  double inertia, joint;
} LinkPart;

/* What is added here and lasts from one step to the next belongs into snapshot.c as well. */
struct Sim {
  const Model* model;
  SimOptions options;
  double tolerance; /* relative (balance.c) */
  SimState state;   /* what the user sees; pose points into history */

  /* written by sim_step at its end: the past */
  double *q_now, *q_old;                  /* q^t, q^{t-1}  (nq) */
  double* difference_old;                 /* q^t - q^{t-1} in joint increments  (nv) */
  double* q_older;                        /* q^{t-2}; NULL: no joint has an armature  (nq) */
  Pose *pose_now, *pose_old, *pose_older; /* T^t, T^{t-1}, T^{t-2}  (links) */
  Pose* pose_rate;                        /* dT/dt of the initial velocities (affine)  (links) */
  double* start_rate;                     /* these velocities  (nv) */

  ClosureSystem* closures;        /* NULL: there are none */
  struct TendonSystem* tendons;   /* likewise */
  struct BushingSystem* bushings; /* likewise */
  struct FluidSystem* fluid;      /* likewise */
  struct DelayHistory* delays;    /* NULL: nothing is measured late */
  struct Spinner* spinners;       /* of bodies that carry their angular momentum; NULL: there is none  (links) */
  struct TreeFlight* flight;      /* of trees that keep their momentum; NULL: there is none */

  StepClock clock;   /* of the substep that is taken, or of the next one */
  StepClock reached; /* of the substep that led to the present state */
  double
      gain_dt; /* the step length that velocity gains are quoted for [s]: dampers stay what they are in a shorter one */

  /* written by step_prepare: what the present step aims at */
  StepWeights weights;
  Pose* target;                  /* Y of every link (affine)  (links) */
  JointDrive* drives;            /* sorted by link */
  int* drive_first;              /* (links + 1) */
  struct LinkLoad* loads;        /* NULL: there are none  (links) */
  struct SchemeBalance* balance; /* energy of the scheme itself (simulate/scheme_work.c); NULL: not asked for */
  double* joint_aim;             /* what inertia alone would make of q - q^t; NULL alike  (nv) */
  double* prescribed;            /* coordinates that prescribed joints must reach  (nq) */
  bool* fixed;                   /* dof is prescribed  (nv) */
  int fixed_count;

  SolveScope scope;        /* what Newton's method works on: all, but in a part (simulate/parts.c) */
  struct StepParts* parts; /* NULL: the scene is not solved in parts */
  struct PartMoves* moves; /* of a part: what it has accepted; else NULL */
  const int*
      begun;   /* of every tree: a part that has been solved by itself in this step, -1: none; NULL: no tree  (trees) */
  bool leaves; /* a part has to go beyond its region */

  int iteration_limit; /* of the try under way (simulate/substep.c) */

  /* written by the Newton loop */
  Configuration configuration[2];
  int current;
  double *gradient, *delta, *scaled, *rhs; /* (nv) */
  double* solution;                        /* by unknown of the matrix  (nv) */
  double* push;                            /* H rhs: forces that the way of prescribed joints adds  (nv) */
  bool* moving;                            /* of every tree, in the trial  (trees) */
  double* moved_by;                        /* step lengths of the last trial; NAN: it is another search's  (trees) */
  int *moved_trees, moved_count;           /* in this trial: the others stand where the last put them  (trees) */
  bool* same;                              /* of every link: both configurations hold the same of it  (links) */
  bool* moved_link;                        /* of every link: it may have moved since contact was tried last  (links) */
  bool* stale;                             /* of every tree: its terms are out of date  (trees) */
  bool* stale_blocks;                      /* by place: the tree's part of the Hessian is  (trees) */
  bool* always_stale;                      /* of every tree: closures, tendons or bushings act on it  (trees) */
  bool* balanced;                          /* of every tree: it was when this was noted last  (trees) */
  bool* noted;                             /* of every tree: nothing of it has been assembled since then  (trees) */
  LinkPart *rounding, *change;  /* of every link's own energies: where the search begins, in the trial  (links) */
  bool* inside;                 /* of every tree: no limit is passed in the trial  (trees) */
  int *tree_first, *tree_links; /* links by tree, parents first  (trees + 1, links) */
  bool all_stale;               /* links that cannot move too */
  bool* wanted;                 /* of every tree: a direction is looked for  (trees) */
  bool* marked_link;            /* (links) */
  int* component;               /* of every tree, in the matrix  (trees) */
  bool *wanted_component, *solved_component, *failed_component; /* (at most trees) */
  double* lift;                                                 /* least eigenvalue of a component  (at most trees) */
  double *true_gradient, *true_work;    /* while a model other than the objective's own is solved  (nv) */
  double* newton_delta;                 /* from the objective's own model  (nv) */
  double *curvature, *newton_curvature; /* of every tree: its part of delta . H delta [J]  (trees) */
  double (*twist)[6];                   /* of every link under delta  (links) */
  Screw* screws;
  Vec3* reference;
  LinkTerms* link_terms;
  TermSides sides;    /* of what has been assembled last */
  WorkingForce* work; /* (links) */
  double* at_work;    /* of every degree of freedom: what its gradient is measured against [N, N m]  (nv) */
  MotionBounds bounds;
  bool* bounded_still; /* of every tree: its `bounds` are those of no motion  (trees) */
  int* island;         /* of every tree: trees that contact or friction couples  (trees) */
  Island* islands;     /* (trees) */
  int* link_island;    /* of every link, -1 for one that cannot move  (links) */
  bool* refused;       /* of every island: some pair of it is in the way  (trees) */
  int* group;          /* of every island: islands that meet in the trial  (trees) */
  int island_count;
  double* path_q; /* coordinates on the way, for the certificate  (nq) */
  double* extent; /* of every link: what its hulls with an end reach about its centre of mass; 0: it has none  (links)
                     [m] */
  Vec3* moved;    /* of every link: how far its centre of mass goes in the part that is looked at  (links) [m] */
  BlockSolver* solver;
  int pattern_version;
  uint64_t *couplings, *fresh_couplings; /* of the pattern, sorted; being looked at */
  int known_couplings, coupling_capacity, fresh_capacity;
  bool pattern_set;
  ContactSystem* contact; /* NULL when the scene has none */
  SimTimes times;

  /* written by simulate/path.c: what sim_path hands out */
  Path path;

  /* written by sim_step: a step taken in substeps */
  SubstepMemory substep_memory;
  SubstateStore between;
  SimPast backup; /* allocated by the first step */
  StepClock backup_reached, backup_clock;
  StepWeights backup_weights;

  /* written by sim_advance and, of a step that was solved, by sim_step; NULL: nobody asks (kinds * nv) */
  double *part_forces, *joint_forces;
  Model* own_model; /* what `model` points to where closures are switched; NULL: they are not */
  double (*part_reactions)[6], (*reactions)[6]; /* (links) */
  double (*reaction_sum)[6];                    /* scratch  (links) */

  /* written by simulate/guess.c */
  SimGuess guess;
  bool settling;    /* own_force_settle is at work: the step is solved but for friction */
  bool guessed;     /* it is that of the step taken last */
  double* guess_q;  /* what it points to; NULL: none was needed yet  (nq) */
  Pose* guess_pose; /* (links) */

  /* written by sim_contacts */
  SimContact* contacts;
  int contact_capacity;

  /* written by sim_contact_records */
  ContactRecord* records;
  int record_capacity;
};

/* ---- simulate/path.c; all of it is nothing unless options.path is set */
/* Allocates; nothing unless options.path, a certificate and a degree of freedom are there. Freed with path_destroy. */
void path_create(Sim* sim);
/* Frees what it owns; a zeroed one is accepted. */
void path_destroy(Path* path);
/* The present state is the first of the way. Copies its coordinates (nq). */
void path_restart(Sim* sim);
/* Around what leads to one state: its moves are kept, or forgotten when it failed. time: of that state [s]. A step that
 * is taken in parts has a pair of calls for each. Copies the coordinates (nq), and marks the pairs of contact. */
void path_begin(Sim* sim);
/* reached = false: the moves since path_begin are forgotten. Shortens those that are kept. */
void path_end(Sim* sim, bool reached, double time);
/* Before the parts of a step, and when one of them failed. Notes how many there are, and copies none. */
void path_save(Sim* sim);
/* Moves and parts since path_save are forgotten. */
void path_restore(Sim* sim);
/* Room for one more, all zero  (nv). Allocates as path_add does. NULL: nothing is kept. */
double* path_add_row(Sim* sim);
/* A move by s->scaled is about to be accepted: the accepted state is still that before it. Copies s->scaled (nv).
 * Allocates while a step has more moves than ever before. */
void path_add(Sim* sim);

/* ---- simulate/crossing.c (docs/derivations/certificate.md, P9) */
/* Sim.extent of a model. Allocates an array of link_count numbers, which the caller frees. Never fails. */
double* crossing_extents(const Model* model);
/* Do two links change sides on the way from one state to another: poses `from` and `to` (links), world frame [m]? They
 * would meet on their straight ways, and stand behind each other in the end. found: which two; set only then. False
 * without a certificate, and of pairs that no barrier keeps apart. Sets Sim.moved. Allocates nothing. */
bool sim_crosses(const Sim* sim, const Pose* from, const Pose* to, StepSqueeze* found);

/* All that the steps to come depend on, through a block (simulate/snapshot.c). Measures, writes or reads as block->pass
 * says. Of a block that does not fit block->failed is set. */
void sim_pass_state(Sim* sim, StateBlock* block);
/* The same read, and shown; false: the block is not a state of this model. The Sim can then only be destroyed. */
bool sim_read_state(Sim* sim, StateBlock* block);
/* The run begins in the state that the model has as its start (simulate/start.c). Contact has been created, but nothing
 * has been evaluated. STATUS_BAD_INPUT and a message when the state is damaged or bodies intersect in it; the Sim is
 * then to be destroyed. */
Status sim_begin_recorded(Sim* sim, Diagnostics* diagnostics);

/* A run without contact of its own, at rest at the start: for whoever wants the terms of one step. Freed with
 * sim_destroy; it does not fail. */
Sim* sim_create_bare(const Model* model, int threads);

/* Targets and weights of the step of sim->clock (simulate/prepare.c). Sets weights, targets, drives, loads and
 * tensions. No allocation. */
void step_prepare(Sim* sim);
/* Weights of the present step for steps of unequal length (S3, S13). Lengths of steps in s; rates in 1/s. */
StepWeights step_weights(Integrator integrator, const StepClock* clock);
/* True if the time at which the substep ends depends on the state. */
static inline bool step_end_varies(const StepClock* clock) {
  return clock->end == END_EVENT || (clock->begin_varies && !(clock->end == END_SHARE && clock->share == 1));
}
/* For how long a force of the step changes momenta [s]: dt / factor with weights of first order, whether for dt or for
 * (dt + dt_before) / 2; dt with those of second order, whose later steps do the rest (S13, S15). > 0. */
double step_force_time(Integrator integrator, const StepClock* clock);
/* The same of the step before in units of that of this one; 1 for the first (impact.md, I5). */
double step_force_ratio(Integrator integrator, const StepClock* clock);
/* The solved configuration becomes the present; the clock goes on by as much. Sets momenta, rates and forces felt of
 * SimState, and keeps the poses of the two states before. No allocation but for delays. */
void sim_advance(Sim* sim);
/* Show the present to the user. q (nq), centres of mass (links) are copied; state.pose points to the present poses. */
void sim_publish(Sim* sim);
/* The clock of substep `index` out of `count` of the next step. index: 0 to count - 1. Sets time and length alone
 * [s]. */
void sim_set_clock(Sim* sim, int count, int index);
/* Is the part of s->clock the first of the run, with something that rubs? Its friction must be found before it then
 * (friction.md, F6). */
bool guess_needed(const Sim* sim);
/* Solves it without friction and goes back to where it began, with each pair's grip found. false: not solved, *report
 * says why; else the work is added to it. Allocates. */
bool guess_grips(Sim* sim, StepReport* report);
/* Frees what it allocated. */
void guess_free(Sim* sim);
/* Goes back from a solution that is not accepted to where the substep began (CONTACT_PART), or to where the step did
 * with all that its substeps wrote (CONTACT_STEP). Contact must have been remembered there. Allocates as contact_reset
 * does. */
void step_reject(Sim* sim, ContactMemory to);
/* Adds what `from` took: iterations, trials, intervals and retries. */
void step_add_work(StepReport* to, const StepReport* from);
/* Frees what substeps allocated, the state before the step too. */
void substates_free(Sim* sim);
/* ---- simulate/own_force.c: friction rests on the step's own force (docs/derivations/friction.md, F8) */
/* After step_solve, which has not failed: solves again with the friction of the forces found, until these stay, at most
 * contact.friction_iterations times. Adds its work to *report; sets friction_open where they do not stay. Allocates as
 * contact_lag does. */
void own_force_settle(Sim* sim, StepReport* report);
/* ---- simulate/parts.c: trees that nothing joins are solved by themselves first (docs/derivations/step.md, S17) */
/* After contact_reset. Allocates; nothing for scenes that are not solved in parts. Freed with parts_destroy. */
void parts_create(Sim* sim);
/* Frees them with their workers; NULL is accepted. */
void parts_destroy(struct StepParts* parts);
/* At the beginning of a step, all stale, the configuration evaluated: solves what can be. What is left, or not quite
 * solved, is the caller's; the work goes into *report, the iterations of those that are not solved. Where all is, the
 * outcome is STEP_CONVERGED or STEP_ROUNDING_FLOOR with the largest residual, else it stays STEP_MAX_ITERATIONS.
 * Returns the most iterations of any. Allocates while lists grow. */
int parts_solve(Sim* sim, StepReport* report);
/* How many parts of the last solve stopped at the bounds of their regions, and were left to the whole's rounds. */
int parts_left(const Sim* sim);
/* Keeps a move by s->scaled of a part, which is about to be accepted. Allocates as path_add does. */
void parts_add_move(Sim* sim);
/* Rounds of Newton's method from the accepted configuration, until it is solved or cannot be (simulate/newton.c). */
void step_rounds(Sim* sim, StepReport* report);
/* Screws, place and inertia of a link at the current configuration (simulate/step_terms.c). */
void step_link_terms(Sim* sim, int i);
/* Newton with line search from the accepted configuration (simulate/newton.c). Returns why it stopped; a configuration
 * that failed is left to the caller. Iterations up to s->iteration_limit. */
StepReport step_solve(Sim* sim);
/* Does a controller prescribe a link's motion (simulate/substep.c)? */
bool step_leads(const Sim* sim);
/* The forces at work at the current configuration, from link terms that hold inertia alone (simulate/balance.c). Sets
 * s->at_work (nv) [N, N m]. */
void balance_measure(Sim* sim, const Assembly* assembly);
/* What a degree of freedom may be out of balance by, and whether it is by no more [N, N m]. Tolerance times the forces
 * at work, and the scene's absolute tolerance, times the link's reach for a torque. */
double balance_allowed(const Sim* sim, int dof);
/* |gradient| of one degree of freedom against that; false for NaN. */
bool balance_reached(const Sim* sim, int dof);
/* Are the trees that closures act on as near to balance as this round asks (closures.md, Z10)? */
bool balance_of_machines(const Sim* sim);
/* By the gradient as it stands: is the tree in balance? Sets s->balanced[tree]. */
void balance_note(Sim* sim, int tree);
/* Is one tree in balance, as noted last? arrived: prescribed joints have, else a tree with one is not in balance. */
bool balance_tree(const Sim* sim, int tree, bool arrived);
/* A step ends at the rounding floor when what is left out of balance is at most this part of the forces at work. */
#define FLOOR_MOST 1e-2
/* Is what is out of balance no more than what the rounding of the coordinates makes of the forces of inertia, drives,
 * joints and contact (S16)? assembly: of the accepted state and of these trees; NULL: contact is left out. */
bool balance_at_rounding(const Sim* sim, const Assembly* assembly);
/* How large the numbers are that the place of a link is made of: its distance from the origin, or how far a joint on
 * the way to it has slid, which is farther where a body has come near the origin from afar [m]. q: (nq). */
double balance_place_size(const Sim* sim, int link, Vec3 place, const double* q);
/* The largest of these sizes of all links that move, at the accepted state [m]. */
double balance_largest_place(const Sim* sim);
/* Largest imbalance over the free degrees of freedom relative to the forces at work there: at most the tolerance when
 * all are in balance. NaN: a gradient is not finite. *worst: its degree of freedom, -1 when all are zero. Without
 * unit. */
double balance_residual(const Sim* sim, int* worst);
/* Move along s->delta as far as feasibility, Armijo's rule and the certificate allow (simulate/line_search.c). */
typedef enum {
  SEARCH_ACCEPTED,
  SEARCH_AT_ROUNDING, /* accepted on trust: the decrease is below rounding */
  SEARCH_LOST,        /* nothing accepted, and there was hardly more than rounding to gain */
  SEARCH_FAILED,
  SEARCH_LEAVES, /* nothing accepted: the way leads out of the part's region */
} StepSearch;
/* Adds trials and intervals to the report. arrived: prescribed joints have come to where they must be. */
StepSearch step_search(Sim* sim, bool arrived, StepReport* report);
/* The motion of the last time step once more, if that lowers the objective well. True: it was accepted. Else the
 * accepted configuration is as before. */
bool step_repeat_last(Sim* sim, StepReport* report);
/* ---- simulate/step_terms.c */
/* Gradient, link terms and what assemble_hessian needs at the current configuration, with the given contact terms.
 * Fills `assembly`, which borrows from the Sim and the list until the next one; sets s->gradient (nv) and
 * s->at_work. */
void step_assemble(Sim* sim, ContactTermList contact, Assembly* assembly);
/* What has been assembled stays until it is stale: everything where a step begins; a tree that has moved and those that
 * a pair with terms joins to it, before and after. */
void step_all_stale(Sim* sim);
/* After a move was accepted: by s->moving (trees) and the terms of contact. */
void step_moved_stale(Sim* sim);
/* The trees of the marked links. links[links]. */
void step_mark_stale(Sim* sim, const bool* links);
/* Are a tree's increments all zero? v[nv]. */
static inline bool step_tree_still(const Sim* sim, int tree, const double* v) {
  const ModelTree* t = &sim->model->trees[tree];
  bool still = true;
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++) still = still && v[d] == 0;
  return still;
}
/* Are the terms of this link to be found again? */
static inline bool step_is_stale(const Sim* sim, int link) {
  int tree = sim->model->link_tree[link];
  return sim->all_stale || (tree >= 0 && sim->stale[tree]);
}
/* The same without measuring the forces at work. All counts as stale; s->at_work stays as it was. */
void step_assemble_unmeasured(Sim* sim, ContactTermList contact, Assembly* assembly);
/* Slopes of the closures' rows at what was assembled last, which directions and forces along the joints ask for.
 * Nothing without closures. */
void step_closure_slopes(Sim* sim);
/* ---- simulate/pattern.c */
/* Make room in the Hessian for the couplings of the terms. Allocates while there are more couplings than ever
 * before. */
void step_pattern(Sim* sim, ContactTermList contact);
/* The same for the candidates of contact, where their list is another than the pattern was made for. Allocates
 * alike. */
void step_update_pattern(Sim* sim);
/* ---- simulate/direction.c */
/* Newton's direction in s->delta (nv), of the gradient and terms as assembled, for the trees that are not in balance
 * and where prescribed joints still have s->rhs to go; the others stay (S9). An indefinite Hessian is first made
 * definite where it is cheap and tells most: the curvature of the motion is left out (Gauss-Newton) and each pair of
 * bodies gets its nearest semidefinite Hessian. Only if that is not enough are eigenvalues of the whole lifted. Each
 * component goes its own way. Assembles anew then. false: some tree got none. Allocates as step_pattern does. */
bool step_direction(Sim* sim, Assembly* assembly, StepReport* report);
/* After the substep of an impact was solved: adds to the forces of pairs that bounce what one more step of Newton's
 * method would change, which is below the rounding of positions (impact.md, I13). Overwrites delta and twist. Allocates
 * as step_pattern does. */
void step_refine_impacts(Sim* sim);
/* A pair that was pressed together too far opens by a sixth of its clearance in a Newton step, as roots of a power do.
 * Seen through the force that the step would leave it opens at once: another direction, from that model (S11), for the
 * islands in which it descends. Islands must be known. Changes s->delta (nv) of these. */
void step_relieve(Sim* sim);
/* Copies what belongs to the degrees of freedom of the scope; to and from (nv). */
void step_copy_scope(const Sim* sim, double* to, const double* from);
/* What acts along the joints at the solved configuration, before it becomes the present (simulate/joint_forces.c). */
/* Allocates (JOINT_FORCE_KINDS x nv, row-major) when the scene's output asks for forces; freed by sim_destroy. */
void joint_forces_create(Sim* sim);
/* Sets s->part_forces [N, N m]; nothing when nobody asks. */
void joint_forces_note(Sim* sim);
/* The step is done: what was noted last stands. Copies (JOINT_FORCE_KINDS x nv) numbers; nothing when nobody asks. */
void joint_forces_keep(Sim* sim);
/* ---- simulate/reactions.c (docs/derivations/observables.md, O1) */
/* Allocates when the scene's output asks for reactions; freed by sim_destroy. */
void reactions_create(Sim* sim);
/* Sets s->part_reactions at the solved configuration, before it becomes the present; nothing when nobody asks.
 * Assembles its terms once more. */
void reactions_note(Sim* sim);
/* The step is done: what was noted last stands. */
void reactions_keep(Sim* sim);
/* Of terms as assembled: sets out (links), torque about the origins of the links' frames behind the force. */
void reactions_find(Sim* sim, double (*out)[6]);
/* ---- simulate/scheme_work.c (docs/derivations/step.md, S23); all nothing without SimOptions.scheme_work */
/* From the start as it stands. Allocates Sim.balance, which scheme_balance_destroy frees. */
void scheme_balance_create(Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void scheme_balance_destroy(struct SchemeBalance* balance);
/* The part of sim->clock has become the present: its energies and work are added. No allocation. */
void scheme_balance_note(Sim* sim);
/* Before the parts of a step, and when one of them failed. */
void scheme_balance_save(Sim* sim);
/* To the sums as scheme_balance_save found them. */
void scheme_balance_restore(Sim* sim);
/* Another state has taken the place of the present: the next part only finds its energies. */
void scheme_balance_forget(Sim* sim);
/* The sums as a part of a kept state: so many numbers, and these. Fails as state_block_int does. */
void scheme_balance_pass_state(Sim* sim, StateBlock* block);
/* ---- simulate/configuration.c */
/* Of a spring with this theta in the step of the clock, S the sum of the impulses that both steps have (M10). flies: in
 * a tree that keeps its momentum, where the first step has gravity for half of its length. */
SpringTime spring_time(const StepClock* clock, const StepWeights* weights, double theta, bool flies);
/* When the springs and position gains of a link's joint act in the present step (M10). */
SpringTime step_spring_time(const Sim* sim, int link);
/* What joint_terms asks of a link's joint at c. Borrows c and the Sim. */
JointInput step_joint_input(const Sim* sim, const Configuration* c, int link);
/* Evaluate the terms of a configuration at its q; false: a limit is passed. Sets pose, inertia, joints, tendons and
 * closures of c, whether a limit is passed or not. */
bool configuration_evaluate(Sim* sim, Configuration* c);
/* `to` becomes the accepted configuration moved by s->scaled, evaluated; trees that stay keep what they have. false: a
 * limit is passed. */
bool configuration_move(Sim* sim, Configuration* to);

/* factor / dt^2, of the energy of inertia [1/s^2] (S1). */
static inline double step_inertia_weight(const Sim* sim) {
  return sim->weights.factor / (sim->clock.dt * sim->clock.dt);
}

/* Length of the present step in that of the one before; 1 for the first. */
static inline double step_length_ratio(const Sim* sim) {
  return sim->clock.dt_before > 0 ? sim->clock.dt / sim->clock.dt_before : 1;
}

#endif
