/* contact: finds pairs of hulls in contact and evaluates the contact laws (laws.c). The default law separates the two
 * hulls of a pair by a plane. Equations: docs/derivations/contact.md, friction.md and certificate.md. Contact depends
 * on poses of links, not on joints. Each link receives a force, a first moment of force and a 6x6 Hessian, each pair of
 * links a 6x6 cross block. */
#ifndef SDRS_CONTACT_H
#define SDRS_CONTACT_H

#include "model/model.h"

/* ---------------------------------------------------------------- all pairs of a scene
 *
 * The system stores two states of every pair: the accepted state and a trial state of the line search. Each state
 * contains the plane, the energy and the derivatives of the pair. contact_accept makes the trial state the accepted
 * state. A function that allocates memory or can fail says so. Results do not depend on the number of threads. */
typedef struct ContactSystem ContactSystem;

/* Upper bounds on the motion of a link along a path with the parameter alpha in [0, 1] (without unit). speed,
 * acceleration: bounds on the first and second derivative of the position of the link frame with respect to alpha [m].
 * spin, spin_rate: bounds on the first and second derivative of the rotation of the frame with respect to alpha [rad].
 */
typedef struct {
  double speed, acceleration, spin, spin_rate;
} MotionBound;

/* Upper bounds on the motion that a link's joint causes relative to the parent link, along a path with the parameter
 * alpha in [0, 1] (docs/derivations/certificate.md, P1-P3). */
typedef struct {
  double arm;             /* distance of the joint's origin from the origin of the parent's frame [m] */
  double length;          /* largest displacement of the link from the joint's origin by prismatic coordinates [m] */
  double slide;           /* bound on the derivative of this displacement with respect to alpha [m] */
  double spin, spin_rate; /* bounds on the first and second derivative of the rotation with respect to alpha [rad] */
  Vec3 start_w, start_v;  /* exact derivatives of rotation and position of the link frame with respect to alpha at alpha
                             = 0, world axes [rad, m] */
} JointBound;

typedef struct {
  MotionBound* link; /* bounds on the motion of each link relative to the world (size: links) */
  JointBound* joint; /* bounds on the motion of each link relative to its parent (size: links) */
} MotionBounds;

/* Returns upper bounds on the motion of a link relative to the world. parent: bounds on the motion of the link's parent
 * relative to the world. joint: bounds on the motion of the link relative to its parent. The result is infinite if
 * `parent` is infinite. */
MotionBound motion_bound_below(MotionBound parent, const JointBound* joint);

/* Derivatives of a pair's contact and friction energy with respect to the motion of both links. The motion of a link is
 * its twist (w, v) about the centre of mass, world axes. The derivatives contain the stiffness [J, N, N m, ...]. link_a
 * is never negative; link_b may be immovable. */
typedef struct {
  int link_a, link_b;
  const Vec3* force;  /* derivatives of the pair's energy with respect to displacements of link_a and link_b [N] (2) */
  const Mat3* moment; /* sums of g r^T over the points of link_a and of link_b. g: derivative of the energy with respect
                         to the point's position; r: vector from the link's centre of mass to the point (2) */
  const double (*hessian)[12]; /* 12x12 matrix, rows of link_a before rows of link_b; NULL if there is no Hessian */
  bool only_cross_block; /* true if only the cross block of the Hessian is nonzero: rows of link_a, columns of link_b */
  bool has_rows_of_b;    /* true if link_b has rows in the Hessian, even if all their entries are zero */
} ContactTerms;

/* Creates the contact system of a valid model, which must outlive the system. threads: number of threads; below 1
 * counts as 1. tolerance > 0: relative tolerance of the step, used for separating planes (asserted). The system has no
 * state before contact_reset or contact_pass_state. The caller frees the system with contact_destroy. Never NULL. */
ContactSystem* contact_create(const Model* model, int threads, double tolerance);
/* Frees the system with all pairs and the data of the laws. Accepts NULL. */
void contact_destroy(ContactSystem* system);
/* Sets the length dt > 0 (asserted) of the following steps [s]. The default is the scene's time step. Friction uses the
 * new length after the next contact_lag. */
void contact_set_dt(ContactSystem* system, double dt);
/* Sets the lengths of substeps. dt > 0: length of the following substeps [s]. dt_before >= 0: length of the previous
 * substep [s], 0 if there is none. force_ratio > 0: time for which forces act in the previous substep, divided by the
 * time for which they act in the next (docs/derivations/impact.md, I5); 1 without a previous substep. All bounds are
 * asserted. */
void contact_set_substep(ContactSystem* system, double dt, double dt_before, double force_ratio);
/* Tells whether the next substep is the first of a run whose contact is not that of a stored state. By default it is
 * not. In the first substep no normal force of earlier steps is owed to friction (friction.md, F14), even if there is a
 * previous substep. */
void contact_set_first(ContactSystem* system, bool is_first);
/* Sets the poses that links are expected to have at the end of the following steps. poses (links): expected poses,
 * whose rotations may be affine maps. The array is borrowed and read by every contact_lag. NULL, the default, means
 * that the poses are unknown. */
void contact_set_expected_poses(ContactSystem* system, const Pose* poses);

/* Returns the contact range of the model [m]. Hulls at this distance or farther apart exert no force on each other. The
 * range is the largest range of all laws of the model. It is INFINITY for a long-range law. */
double contact_range(const Model* model);
/* Returns true if gradients of runs have kinks because the energy of some law of the model is only once
 * differentiable. */
bool contact_once_differentiable(const Model* model);
/* Returns the distance below which two links are listed as touching [m]. INFINITY means that the two links are listed
 * if they exert a force on each other. A pair without its own law uses the range of the model's law. Link numbers are
 * asserted. */
double contact_listed_range(const Model* model, int link_a, int link_b);
/* Returns true if some law of the model lists touching pairs by distance (contact_listed_range). Under these laws,
 * pairs at a larger distance may exert forces, too. */
bool contact_lists_by_range(const Model* model);
/* Updates the candidates: all pairs of hulls that may touch while the links move. The links start at their accepted
 * poses, and `bounds` limits their motion. bounds->link (links): finite and >= 0. bounds->joint is not used. Allocates
 * only when the list grows. */
void contact_prepare(ContactSystem* system, const MotionBounds* bounds);
/* Returns the fraction 1, 1/2, 1/4, ... of the path within `bounds` that a link should move at a time. A smaller
 * fraction limits the number of candidate pairs of two links with very many triangles. The result is 1 for links with
 * few triangles. bounds->link: upper bounds on the motion of each link. The link number is asserted. */
double contact_path_fraction(const ContactSystem* system, const MotionBounds* bounds, int link);
/* Selects the pairs that contact_evaluate_trial evaluates. Awake pairs have at least one link that is marked in
 * links[links] (borrowed for the call); with NULL, all pairs are awake. Links of sleeping pairs must not move; the
 * trial state of these pairs is the accepted state. The selection is valid until the list of candidates changes. */
void contact_wake(ContactSystem* system, const bool* links);
/* Returns the number of awake candidates, or -1 if the list of candidates has changed since contact_wake. The next
 * contact_evaluate_trial then wakes all pairs. */
int contact_awake_count(const ContactSystem* system);
/* Evaluates the trial state of all pairs at poses[links] (copied). Reuses the results of pairs whose links have not
 * moved. Returns false if hulls intersect or a separating plane was not found. The accepted state is then unchanged,
 * and contact_accept must not follow (asserted). */
bool contact_evaluate(ContactSystem* system, const Pose* poses);
/* Evaluates a trial of the line search at poses[links] (copied), and finds the groups of links that must refuse it.
 * moves[links]: false for a link whose pose is unchanged since the last trial from the same accepted state.
 * groups[links]: group of each link, below group_count, or -1 for a fixed link. Sets refused[group_count] to true for
 * each group with a pair that intersects or is closer than the law admits. Returns false if a group refuses the trial;
 * friction and some pairs of this group may then not be evaluated. Does not change the accepted state. */
bool contact_evaluate_trial(ContactSystem* system, const Pose* poses, const bool* moves, const int* groups,
                            int group_count, bool* refused);
/* Trial of a candidate pair, compared with the accepted state of the pair. */
typedef struct {
  int link_a, link_b;
  bool coupled;  /* the pair has a nonzero Hessian in the accepted state, which couples its links in Newton's method */
  bool feasible; /* in the trial state, the hulls do not intersect and are not closer than the law admits for a trial */
  double change; /* energy of the trial state minus energy of the accepted state [J] */
} ContactTrial;
/* Returns the trial of candidate `candidate` < contact_candidate_count (asserted). Call after contact_evaluate or
 * contact_evaluate_trial. The trial state of a sleeping pair is the accepted state. */
ContactTrial contact_candidate_trial(const ContactSystem* system, int candidate);
/* Returns the energy change of an awake pair from the accepted to the trial state [J]. index < contact_awake_count
 * (asserted). Sets *link_a and *link_b to the links of the pair. Asserts a feasible trial. */
double contact_awake_energy_change(const ContactSystem* system, int index, int* link_a, int* link_b);
/* Computes the rounding error of the energy of each pair with terms in the accepted state. The error arises because
 * distances of hulls are differences of larger coordinates. contact_term_rounding_error returns the results. */
void contact_compute_rounding_errors(ContactSystem* system);
/* Returns the rounding error of the energy of term `index` < contact_term_count (asserted) [J], computed by the last
 * contact_compute_rounding_errors. */
double contact_term_rounding_error(const ContactSystem* system, int index);
/* Sets *contact and *friction to the total contact and friction energy in the accepted state [J]. The friction energy
 * is determined up to a constant. Energies are added in the order of the candidates. */
void contact_energy(const ContactSystem* system, double* contact, double* friction);
/* Returns the total contact energy of the accepted state [J], without the energy that impacts dissipate in this step
 * (impact.md, I4). Under laws without impacts, nothing is subtracted. */
double contact_stored_energy(const ContactSystem* system);
/* Makes the trial state the accepted state. Computes forces and Hessians of all pairs that have terms. Asserts that the
 * evaluation of the trial returned true. Invalidates all pointers that contact_term returned. */
void contact_accept(ContactSystem* system);
/* Makes the accepted state the friction reference: friction of the next step uses the separating planes, normal forces
 * and positions of this state (time t in Eq. 8-12 of the paper on SDRS). Then evaluates the accepted state again.
 * Returns false if a separating plane is not found. The step has then failed, and contact_accept must not follow.
 * Asserts that contact_reset or contact_pass_state was called. Allocates when more pairs are active than before. */
bool contact_lag(ContactSystem* system);
/* Replaces the normal forces that limit friction by those of the accepted state, for laws with LawImpacts.relag. Slip
 * is still measured from the poses of the last contact_lag. blends: if true, friction of each pair is a weighted sum.
 * Friction by the new force has the weight StepFriction.share (law.h), friction by the force at the start of the step
 * has the rest. If false, only the new force limits friction. Evaluates the accepted state again. Returns false if a
 * separating plane is not found. Asserts that some law has the function `relag`. Allocates when more pairs are active
 * than before. */
bool contact_relag(ContactSystem* system, bool blends);
/* Returns true if the normal force of the present step at least partly limits friction of some pair in the accepted
 * state (StepFriction.share > 0). */
bool contact_friction_uses_current_force(const ContactSystem* system);
/* Returns true if the normal forces that limit friction have converged. They have converged if they differ from the
 * normal forces of the accepted state by at most `tolerance` >= 0 (asserted) times the largest force. Returns true
 * under laws without impacts (ContactLaw.impacts). If a normal force differs, sets links[2], unless NULL, to the links
 * of the pair with the largest difference. */
bool contact_friction_has_converged(const ContactSystem* system, double tolerance, int links[2]);
/* Returns the largest change of speed [m/s] of a pair that results from friction acting one step late: mu |N - N_r| dt
 * / m, at most the slip speed over the substep of length dt [s]. mu: friction coefficient. N: normal force of the
 * accepted state. N_r: normal force of the friction reference. m = 1 / (1/m_a + 1/m_b), with the masses m_a and m_b of
 * the movable trees. For a pair with a FrictionAccount (friction.md, F14), N - N_r is replaced by the normal force that
 * is lost when the pair leaves the range. If the result is above 0, sets links[2] to the links of this pair. Returns 0
 * under laws without impacts (ContactLaw.impacts). */
double contact_friction_delay_speed(ContactSystem* system, double dt, int links[2]);
/* Starts a run at poses[links] (copied). Removes all candidates. Returns false if hulls intersect; no pair then has
 * terms. Allocates. */
bool contact_reset(ContactSystem* system, const Pose* poses);
/* States whose data contact_save stores, each in its own memory. */
typedef enum { CONTACT_STEP_START, CONTACT_SUBSTEP_START } ContactMemory; /* starts of the step and of the substep */
/* Stores those data of the accepted state that cannot be computed from poses. memory: where the data are stored. Does
 * nothing under laws without data of this kind. Allocates when there are more candidates than before. */
void contact_save(ContactSystem* system, ContactMemory memory);
/* Returns the factor by which an impact scales the force of a candidate in the accepted state. The step of length dt
 * [s] starts from the state that contact_save stored for CONTACT_STEP_START. rest_speed [m/s] and restitution replace
 * the values of the system's model. Returns 1 for inactive pairs and under laws without impacts. index <
 * contact_candidate_count is asserted. */
double contact_impact_factor(const ContactSystem* system, int index, double rest_speed, double restitution, double dt);
/* Restores the data that contact_save stored in `memory`. Call after contact_reset at the poses at which the data were
 * stored. Pairs that were inactive or did not exist at that time do not change. */
void contact_restore(ContactSystem* system, ContactMemory memory);

/* ---- impacts (docs/derivations/impact.md, I9, I10) */
/* Returns true if the substep that starts in the accepted state belongs to an impact. dt_before: length of the previous
 * substep [s]. */
bool contact_impact_begins(ContactSystem* system, double dt_before);
/* A pair of hulls whose impact begins in a substep, when its normalized distance becomes 0. before > 0, after < 0:
 * normalized distance at the start and at the end of the substep. */
typedef struct {
  int hull_a, hull_b;
  double before, after;
} ContactEntry;
/* Returns true if the impact of a pair began within a substep, and sets *entry to the first such pair. The substep
 * leads from the poses `begin` (links) to the accepted state. dt: length of the substep > 0 (asserted) [s]. free_end
 * (links): poses that the links would have at the end without contact. sought: pair whose impact was found in a longer
 * trial of the substep, or NULL; its approach speed is not tested. Stores the approach speed of pairs whose impact
 * begins at the end of the substep. */
bool contact_impact_entry(ContactSystem* system, const Pose* begin, const Pose* free_end, double dt,
                          const ContactEntry* sought, ContactEntry* entry);
/* Returns the normalized distance of a pair of hulls from the start of its impact in the accepted state, negative after
 * the impact has begun. A pair that is not a candidate counts as out of range. */
double contact_impact_distance(ContactSystem* system, int hull_a, int hull_b);
/* Returns true if some pair came into contact in the last substep. Call after contact_impact_entry. Returns false under
 * laws without impacts. */
bool contact_impact_began(ContactSystem* system);
/* Returns true if an impact continues after the accepted state: the contact force of its pair is more than twice the
 * force of the barrier alone, without the increase by the approach speed. Returns false under laws without impacts. */
bool contact_impact_continues(ContactSystem* system);
/* Returns true if some pair separated in the last substep: it exerted a force at the start of the substep, and exerts
 * little or no force in the accepted state. Call after contact_impact_entry. Returns false under laws without
 * impacts. */
bool contact_pair_separated(ContactSystem* system);

/* ---- friction in the first step of a run (docs/derivations/friction.md, F6, F7)
 * The first step has no normal forces of a previous step that could limit friction. The step is therefore first solved
 * without friction. The normal forces of this solve then limit friction. */
/* Returns true if friction acts in the accepted state, or if an aggregate pair (two links that represent the pairs of
 * their hulls) exerts a force. */
bool contact_friction_acts(const ContactSystem* system);
/* Normal forces that limit friction from the next contact_lag on. GRIP_FULL: the normal forces of the reference state.
 * GRIP_NONE: zero. GRIP_FOUND: the normal forces of the reference state times ContactGripFactor.value, computed from
 * the forces that contact_store_forces stored. */
typedef enum { GRIP_FULL, GRIP_NONE, GRIP_FOUND } ContactGrip;
void contact_set_grip(ContactSystem* system, ContactGrip grip);
/* Recorded pairs (contact_record), with the force of each pair. */
typedef struct {
  const struct ContactRecord* records;
  const Vec3* force; /* force of each pair on its first link, world axes [N] (size: count) */
  int count;
} ContactForces;
/* State whose forces contact_store_forces stores. CONTACT_START: start of the solve without friction, after
 * contact_lag. CONTACT_END: end of the solve without friction. */
typedef enum { CONTACT_START, CONTACT_END } ContactEnd;
void contact_store_forces(ContactSystem* system, ContactEnd end);
/* Returns the forces that contact_store_forces stored for `end`. The system owns the forces. They are valid until the
 * next contact_store_forces for `end`. */
ContactForces contact_stored_forces(const ContactSystem* system, ContactEnd end);
/* Factor on the initial normal force that limits friction of a pair of items, with derivatives. Items are the hulls,
 * followed by the links. start, end: indices of the pair's records at the start and at the end of the solve without
 * friction, or -1. by_start, by_end: derivatives of `value` with respect to the magnitudes of the forces of these
 * records [1/N]. */
typedef struct {
  double value, by_start, by_end;
  int start, end;
} ContactGripFactor;
ContactGripFactor contact_normal_force_factor(const Model* model, const ContactForces* start, const ContactForces* end,
                                              int item_a, int item_b);

/* Writes the state of the system to a block, or reads the state from a block. The state contains all data on which
 * later steps depend, and the results of contact_force, contact_energy, contact_gap and contact_record. Hessians are
 * available only after the next contact_lag. poses[links]: poses of the accepted state, used and copied when reading.
 * Reading fails for a block of another model, allocates, and restarts the path of contact_mark_path_start. */
void contact_pass_state(ContactSystem* system, const Pose* poses, StateBlock* block);
/* Makes the accepted state a constant without derivatives with respect to earlier states, for a state that was restored
 * from a file. Affects active pairs with terms under laws that depend on previous states. */
void contact_make_constant(ContactSystem* system);

/* Callback that sets poses at the point alpha in [0, 1] of a path of all links. It sets the poses of `link` and of
 * those of its ancestors that are descendants of the link `from`. If `from` is -1, it sets the poses of all ancestors.
 * The pose of `from` is already set. Does not change other poses. poses (links): world frame [m]. */
typedef void (*ContactPath)(void* context, double alpha, int link, int from, Pose* poses);
/* The pair at which contact_certify failed. */
typedef struct {
  int candidate;
  double alpha;    /* point of the path at which the proof failed */
  bool intersects; /* true if the hulls intersect at alpha; false if no proof was found although the path was halved as
                      often as allowed */
} ContactFailure;
/* Proves that no hulls intersect along a path from the accepted to the trial poses (docs/derivations/certificate.md).
 * The function poses_at(context, alpha, ...), called from one thread, gives the path, which stays within `bounds`.
 * Asserts a feasible trial. Adds the number of path intervals to *intervals; each sleeping pair counts as one interval.
 * Returns false if a pair has no proof, and then sets *failure to this pair. */
bool contact_certify(ContactSystem* system, const MotionBounds* bounds, ContactPath poses_at, void* context,
                     int* intervals, ContactFailure* failure);
/* Marks the accepted state as the start of a path over several accepted states, for all present candidates. */
void contact_mark_path_start(ContactSystem* system);
/* Returns true if provably no hulls intersect along a path to the accepted state. Halves the path less often than
 * contact_certify for a proof. marked: true if the path starts at the state of contact_mark_path_start. The result
 * false does not prove an intersection. Allocates while the number of pairs outside the list grows. */
bool contact_certify_arrival(ContactSystem* system, const MotionBounds* bounds, ContactPath poses_at, void* context,
                             bool marked);
/* Gap of a candidate pair in the trial state, measured along the separating direction of the accepted state. */
typedef struct {
  int link_a, link_b;
  Vec3 axis,
      farthest_point; /* axis: unit, from a to b, world axes; farthest_point: farthest point of a along the axis [m] */
  double gap;         /* gap along the axis in the trial state [m]; negative for an overlap */
  double before;      /* distance in the accepted state, or a lower bound [m] */
} ContactDirectionalGap;
/* Returns the gap of candidate `index` < contact_candidate_count (asserted) in an evaluated trial. For a pair of links,
 * both distances of the result are INFINITY. */
ContactDirectionalGap contact_directional_gap(const ContactSystem* system, int index);

/* Returns the number of pairs that have terms in the accepted state. The order of the pairs is fixed until the next
 * contact_accept, contact_lag or contact_reset. */
int contact_term_count(const ContactSystem* system);
/* Returns the gradient [N, N m] and the Hessian (12 x 12) of term `index` < contact_term_count (asserted). The system
 * owns the arrays. They are valid until the next contact_accept. */
ContactTerms contact_term(const ContactSystem* system, int index);

/* List of the terms of a ContactSystem or a ContactReplay. A zeroed list is empty. */
typedef struct {
  const void* holder;
  int (*count)(const void* holder);
  ContactTerms (*at)(const void* holder, int index);
} ContactTermList;
/* Returns the list of the terms of all pairs in the accepted state. The list is empty if system is NULL. The system
 * owns the terms. They are valid until the next contact_accept. */
ContactTermList contact_term_list(const ContactSystem* system);
/* Corrects the force of every pair with restitution to first order for the next Newton step (impact.md, I13). The
 * impact factor W' is the factor by which the impact scales the barrier force. It increases by W'' dU, where dU is the
 * change of the pair's barrier potential U in that Newton step. The corrected force limits friction of the next
 * substep. twist (links x 6): motion of each link in the next Newton step [rad, m]. */
void contact_correct_impact_forces(ContactSystem* system, const double (*twist)[6]);
/* Replaces Hessians of the accepted state by the nearest positive semidefinite matrices. links[links]: true for links
 * whose pairs are changed. If links is NULL, changes all pairs. */
void contact_project(ContactSystem* system, const bool* links);
/* ---- subsystems (docs/derivations/step.md, S17)
 * A subsystem is a set of trees that is solved separately. Every link has a region. While all links stay in their
 * regions, trees of different subsystems are not within contact range of each other. */

/* Allocates the data of subsystems, which contact_destroy frees. Returns false if the law has pairs of links or an
 * infinite range, because subsystems are then not independent. */
bool contact_subsystems_create(ContactSystem* system);
/* Computes the region of each link, and unites kinematic trees that may come into contact. A region is the bounding box
 * of the link in its accepted and its expected pose with a margin. expected (links): expected poses. sets (trees):
 * disjoint sets of trees, in which the function unites trees whose regions are within contact range of each other. Adds
 * pairs within the regions to the candidates. Allocates while the list grows. */
void contact_subsystems_find(ContactSystem* system, const Pose* expected, int* sets);
/* Creates a system that solves one subsystem at a time. The new system borrows the pairs and states of the complete
 * system and owns only lists. thread: number of the workspace that the new system uses. The caller frees it with
 * contact_subsystem_destroy. Never NULL. */
ContactSystem* contact_subsystem_create(const ContactSystem* complete, int thread);
/* Frees the subsystem's system, but not the data borrowed from the complete system. Accepts NULL. */
void contact_subsystem_destroy(ContactSystem* subsystem);
/* Updates the subsystem's system after a change of the complete system. Call before contact_subsystem_begin, while no
 * other thread changes the complete system. */
void contact_subsystem_attach(ContactSystem* subsystem, const ContactSystem* complete);
/* Sorts the candidates by subsystem. subsystem_of (trees): subsystem of each tree, or -1; borrowed until
 * contact_subsystems_end. The list of candidates must not change before contact_subsystems_end. Allocates while lists
 * grow. */
void contact_subsystems_list(ContactSystem* system, const int* subsystem_of, int subsystem_count);
/* Starts the solution of subsystem `number` from the accepted state of the complete system. Functions that are called
 * with the subsystem's system then apply to links[count] (ascending) and the pairs of these links. May run in parallel
 * with other subsystems. Allocates while lists grow. */
void contact_subsystem_begin(ContactSystem* subsystem, const ContactSystem* complete, int number, const int* links,
                             int count);
/* Returns true if every link of the subsystem provably stays in its region on the path to the trial state, and no hull
 * moves farther than the list of candidates covers. `bounds` limits the motion. */
bool contact_subsystem_stays(const ContactSystem* subsystem, const MotionBounds* bounds);
/* Makes the accepted state of the subsystem the trial state of its links and pairs in the complete system. */
void contact_subsystem_end(ContactSystem* subsystem, const ContactSystem* complete);
/* Makes the trial state of all subsystems the accepted state of the complete system, after contact_subsystem_end of all
 * subsystems. Links that belong to no subsystem keep their poses. begin (links): poses of all links before any
 * subsystem was solved. */
void contact_subsystems_end(ContactSystem* system, const Pose* begin);

/* Returns the number of candidates: the pairs that may touch during this step. Candidates determine the sparsity
 * pattern of the step's matrix. The number changes only if contact_version changes. */
int contact_candidate_count(const ContactSystem* system);
/* Sets *link_a and *link_b to the links of candidate `index` < contact_candidate_count (asserted). */
void contact_candidate(const ContactSystem* system, int index, int* link_a, int* link_b);
/* Returns a counter that increases with every change of the list of candidates. An increase invalidates data derived
 * from the list. */
int contact_version(const ContactSystem* system);
/* Returns the number of candidates with nonzero contact energy in the accepted state. */
int contact_active_count(const ContactSystem* system);

/* Returns the gap of candidate `index` < contact_candidate_count (asserted) in the accepted state [m]: the exact
 * distance (GJK), or PairState.separation under a law without barrier. Returns INFINITY for a pair of hulls that an
 * aggregate pair of links represents. Does not change results of later calls. */
double contact_gap(ContactSystem* system, int index);
/* Returns the exact gap of candidate `index` < contact_candidate_count (asserted) in the trial state [m]. Asserts that
 * there is a trial. Updates the pair's GJK cache. */
double contact_trial_gap(ContactSystem* system, int index);
/* Sets *force_on_b to the total force of candidate `index` on its second link, world axes [N]. The force on the first
 * link is the opposite. Returns false, with zero force, if the pair exerts no force. */
bool contact_force(const ContactSystem* system, int index, Vec3* force_on_b);

/* Force and torque of a pair on its second link, world axes. force [N]; torque about the world's origin [N m]. point:
 * centre of pressure on the pair's plane [m]; the torque about this point is normal to the plane. Laws with many
 * distances per pair (ContactLaw.center) set `point` to the force-weighted mean of the contact points, and normal_force
 * to the sum of the magnitudes of the forces [N]. For a pair without a plane that has only friction, `point` is the
 * body's reference point and normal_force is 0. */
typedef struct {
  Vec3 force, torque, point;
  double normal_force;
} ContactWrench;
/* Returns the wrench of candidate `index` < contact_candidate_count (asserted) in the accepted state. Force, torque and
 * normal force are 0 if the pair exerts no force. */
ContactWrench contact_wrench(const ContactSystem* system, int index);

/* ---------------------------------------------------------------- deferred normal forces of friction (F14) */
/* Normal forces of a pair of hulls, compared with the forces that limited friction [N] (docs/derivations/friction.md,
 * F14). Friction acts one step late, so the account sums the difference: deferred_force = previous deferred_force -
 * previous lost + N - load. N: normal force at the end of the last substep. */
typedef struct {
  double load; /* normal force that limited friction in the substep; the product g S B in the notation of (F6, F14) */
  double deferred_force; /* sum of the parts of all past normal forces that have not limited friction yet; written e' in
                            (F14) */
  double lost; /* amount of deferred_force that friction will never use, because the pair has left the range or its
                * friction does not use the account */
} FrictionAccount;

/* Returns true if some pairs of the model have a FrictionAccount. The conditions are: contact.friction_iterations is
 * null, friction and rest_speed are above 0, no pair has restitution, and a law has ContactLaw.account. */
bool contact_keeps_account(const Model* model);
/* Returns true if friction between two links uses FrictionAccount.deferred_force in the next step. Otherwise the normal
 * force at the start of the step limits friction. Link numbers are asserted. */
bool contact_friction_uses_account(const Model* model, int link_a, int link_b);
/* Returns the friction account of candidate `index` < contact_candidate_count (asserted) in the last substep. All
 * members are 0 for pairs of links and under laws without account. */
FrictionAccount contact_account(const ContactSystem* system, int index);

/* Wall times spent in contact, friction and broad phase since the system was created [s]. */
typedef struct {
  double broad_phase, contact, friction;
} ContactTimes;
/* Adds share * times to the wall times of the system. share: fraction without unit. */
void contact_add_times(ContactSystem* system, ContactTimes times, double share);
/* Returns the wall times of the system. They differ between runs and affect no result. */
ContactTimes contact_times(const ContactSystem* system);

/* ---------------------------------------------------------------- recorded steps (contact/replay.c) */

/* Number of doubles in ContactRecord.kept. A ContactRecord contains the data of a pair in an accepted state from which
 * the derivatives of the pair can be computed again. */
enum { CONTACT_KEPT_NUMBERS = 48 };
typedef struct ContactRecord {
  int hull_a, hull_b; /* a half-space is always hull_b */
  bool active;        /* true if the contact energy is not zero; friction of the next step then depends on the pair */
  bool has_friction;  /* true if friction acts between the two hulls or links of the pair */
  bool current_force; /* true if the normal force found by the previous solve of the same step limits friction
 (contact_relag) */
  bool late;          /* true if friction also depends on the normal force of the pair one state earlier */
  double grip;        /* factor on the normal force that limits friction; 1 except in the first step of a run */
  double kept[CONTACT_KEPT_NUMBERS]; /* data of the law */
} ContactRecord;
/* Completes the list of candidates for contact_record. Call before contact_record and contact_candidate_count.
 * Allocates and changes contact_version if the list grows. Does nothing under laws whose pairs of hulls are
 * independent. */
void contact_find_records(ContactSystem* system);
/* Writes the records of the pairs that exert a contact or friction force, and returns their number. records: memory of
 * the caller for contact_candidate_count entries. Call after contact_find_records and before the next contact_lag. */
int contact_record(const ContactSystem* system, ContactRecord* records);

/* Recomputes the pairs of a recorded step from t to t + dt and their derivatives (docs/derivations/adjoint.md). The
 * caller gives a twist for every link: an angular part w and a linear part v. Phi is the directional derivative of the
 * sum E of all pair energies along these twists (A4). The replay differentiates Phi with respect to all other
 * quantities on which E depends. */
typedef struct ContactReplay ContactReplay;
/* Creates a replay. The model must outlive the replay. The caller frees the replay with contact_replay_destroy.
 * threads: number of threads; below 1 counts as 1. The replay has no data until contact_replay_load returns true. Never
 * NULL. */
ContactReplay* contact_replay_create(const Model* model, int threads);
/* Frees the replay and everything it owns. Accepts NULL. */
void contact_replay_destroy(ContactReplay* replay);
/* Poses (links) and records (count) of a run at t or t + dt. The replay borrows both arrays until the next load. */
typedef struct {
  const Pose* pose;
  const ContactRecord* records;
  int count;
  int64_t number; /* number (> 0) of the state in its run, by which the replay recognizes consecutive steps; if 0, the
                     replay compares the addresses of poses and records */
} ContactMoment;
/* Discards the loaded step, because the next step belongs to another run. Keeps allocated memory. */
void contact_replay_begin(ContactReplay* replay);
/* Sets the length dt > 0 (asserted) of the steps that are loaded from now on [s]. The default is the scene's time
 * step. */
void contact_replay_set_dt(ContactReplay* replay, double dt);
/* Sets the expected poses (links) of the steps that are loaded from now on; NULL, the default, means unknown.
 * contact_replay_adjoint adds the derivatives with respect to the entries of these poses to bar (links), unless bar is
 * NULL. Both arrays are borrowed. */
void contact_replay_set_expected_poses(ContactReplay* replay, const Pose* poses, double (*bar)[3][4]);
/* Sets the previous solve of the step, for the steps that are loaded from now on. Normal forces of this solve limit
 * friction of pairs with ContactRecord.current_force. The arrays are borrowed until the next load. NULL, the default,
 * means that no pair has ContactRecord.current_force. */
void contact_replay_set_solve(ContactReplay* replay, const ContactMoment* solve);
/* PairCarry holds the derivatives with respect to numbers that a pair passes to the next step.
 * contact_replay_store_carry stores those at t that the last contact_replay_adjoint has found.
 * contact_replay_add_stored_carry adds the stored derivatives to those of a step that was loaded later and starts at
 * the same t. */
void contact_replay_store_carry(ContactReplay* replay);
void contact_replay_add_stored_carry(ContactReplay* replay);
/* Loads the step from `now` to `next` of a run that is processed backwards, from the last step. Reuses the state `next`
 * if the previous load had this state as `now`. Returns false if a plane or a slip of the record was not reproduced;
 * the terms are then unspecified. Borrows records[count] and pose[links] of both states until the next load. Allocates
 * while the number of records grows. */
bool contact_replay_load(ContactReplay* replay, const ContactMoment* now, const ContactMoment* next);
/* Returns the list of terms of the loaded step at t + dt. The replay owns the terms. They are valid until the next
 * load. The list is empty before the first load. */
ContactTermList contact_replay_terms(const ContactReplay* replay);
/* Loads the step from `now` to `next` of a run that is processed forwards, from the first step. Reuses the state `now`
 * if the previous load had this state as `next`. Returns false if a plane or a slip of the record was not reproduced.
 * Allocates while the number of records grows. */
bool contact_replay_load_forward(ContactReplay* replay, const ContactMoment* now, const ContactMoment* next);
/* Returns how many numbers, besides the poses of its bodies, a pair passes to the next step (members of PairCarry). For
 * t and for t + dt, the replay stores the derivatives with respect to these numbers (records x numbers). The
 * derivatives at t + dt come from the next step. */
int contact_replay_carried(const ContactReplay* replay);
/* Sets the derivative with respect to one number of PairCarry at t + dt to 1, and all other derivatives to 0. pair:
 * index into the records at t + dt; if it is -1, all derivatives are set to 0. number: index < contact_replay_carried.
 * Both are asserted. */
void contact_replay_seed_carry(ContactReplay* replay, int pair, int number);
/* Copies the derivatives with respect to PairCarry at t to `out` (records at t x contact_replay_carried, row-major),
 * memory of the caller. */
void contact_replay_read_carry(const ContactReplay* replay, double* out);

/* Recomputes the loaded pairs after contact_replay_set_dt. ratio_change: force_ratio of the substep
 * (contact_set_substep) minus force_ratio of the record. */
void contact_replay_refresh(ContactReplay* replay, double ratio_change);
/* The pair of hulls whose contact potential U determines the end of a substep (impact.md, I10). force, torque:
 * derivatives of U with respect to the motion of both links at t + dt, about their centres of mass, world axes [1/m^2,
 * 1/m]. If the second hull is a half-space, its derivatives belong to the link of the half-space. */
typedef struct {
  int index; /* index of the pair among the records at t + dt */
  int link[2];
  Vec3 force[2], torque[2];
} EventTerms;
/* Sets *event to the derivatives of the potential of the pair hull_a, hull_b. Returns false if the pair is not loaded,
 * if it is not active, or if its law has no events. */
bool contact_replay_event(const ContactReplay* replay, int hull_a, int hull_b, EventTerms* event);
/* Adds to wrench[links] the derivatives that result from numbers that the pairs pass to the next step: impact factors
 * (PairCarry.load), elastic slip and slip (elastic, slip). wrench: derivatives with respect to the motion of links at t
 * + dt (torque about the centre of mass, force). The next step, or contact_replay_seed_carry, gives the derivatives
 * with respect to these numbers. Returns false if all of them are zero. */
bool contact_replay_add_carried_derivatives(const ContactReplay* replay, double (*wrench)[6]);
/* Makes the next contact_replay_adjoint add the derivatives of the scalar nu (U - U_0). U: contact potential of the
 * pair of `event` [1/m]; U_0: potential at which impacts begin [1/m]; nu: factor of the caller [m]. That call adds the
 * derivatives with respect to vertices and half-spaces. This function adds the derivative with respect to the support
 * to `gradient`. */
void contact_replay_seed_event(ContactReplay* replay, const EventTerms* event, double nu, ModelGradient* gradient);
/* Derivatives of the scalar with respect to the lengths of the step (dt) and of the previous step (dt_before) [1/s].
 * The last contact_replay_adjoint found them. They are 0 under laws that do not depend on these lengths. `dt` contains
 * only the contribution of PairCarry.load, on which the next step depends. */
typedef struct {
  double dt, dt_before;
} ContactLengths;
ContactLengths contact_replay_lengths(const ContactReplay* replay);

/* Two links, for the total contact force that link `other` exerts on link `link`, summed over the hulls of both links.
 */
typedef struct {
  int link, other;
} ForcePair;
/* Derivatives of a scalar with respect to the forces between pairs of links [1/N]. Both arrays (count) are borrowed. */
typedef struct {
  const ForcePair* pairs;
  const Vec3* slope; /* derivatives with respect to the force of each pair (size: count) */
  int count;
} ForcePairSlopes;

/* Input of contact_replay_adjoint. twist: motion (w, v) of every link about its centre of mass at t + dt. The other
 * members are derivatives of a scalar with respect to contact forces. force: with respect to the total force on each
 * link. pair: with respect to the force of each pair on its first link, in the order of contact_replay_terms. between:
 * with respect to forces between two links. Members that are NULL count as zero. */
typedef struct {
  double (*twist)[6]; /* motion of every link [rad, m] (size: links) */
  const Vec3* force;  /* derivatives with respect to the total force on each link [1/N] (size: links) */
  const Vec3* pair;   /* derivatives with respect to the force of each pair [1/N] (size: pairs) */
  ForcePairSlopes between;
} ContactField;
/* Adds the derivatives of two scalars to three arguments: of Phi (ContactReplay), with the twists of `field`, and of
 * the scalar whose derivatives with respect to contact forces `field` contains. pose_now (links): derivatives with
 * respect to the entries of the poses at t, 3x4 matrices. ground_next (links): derivatives with respect to the entries
 * of the poses of half-spaces at t + dt, which the terms leave out. gradient: derivatives with respect to hull vertices
 * in link frames and to contact parameters. Call only after a load that returned true. The caller zeroes the three
 * arguments before. */
void contact_replay_adjoint(ContactReplay* replay, const ContactField* field, double (*pose_now)[3][4],
                            double (*ground_next)[3][4], ModelGradient* gradient);
/* Adds the derivatives with respect to the poses of the previous solve (contact_replay_set_solve) to bar[links], 3x4
 * matrices. The last contact_replay_adjoint found these derivatives. */
void contact_replay_add_solve_derivatives(const ContactReplay* replay, double (*bar)[3][4]);
/* Returns the derivative with respect to ContactRecord.grip of record `index` >= 0 (asserted) at t + dt. The last
 * contact_replay_adjoint found it. */
double contact_replay_grip_derivative(const ContactReplay* replay, int index);
/* Adds the Hessians of the loaded pairs times the twists of `field` [rad, m] to wrench[links]. wrench (links x 6):
 * torque about the centre of mass, force [N m, N]; the caller zeroes it. Adds nothing to the links of half-spaces. */
void contact_replay_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

/* Writes a CSV table for `sdrs bench pair`: nanoseconds per evaluation against the number of vertices. The hulls are
 * random, within contact range, and the same at each call. `out` stays open, and the caller checks it for write errors
 * (ferror). */
void contact_bench_pair(FILE* out);
/* Writes a CSV table for `sdrs bench pair --law NAME` with 7 rows. Columns: law, vertices of either hull, nanoseconds
 * of contact and of friction. Each time is the processor time of value, gradient and Hessian on one thread. The hulls
 * are 8 mm apart, the contact range is 20 mm. Returns false at the first row whose scene could not be built; earlier
 * rows are written. */
bool contact_bench_law(FILE* out, ContactModel model);

/* ---------------------------------------------------------------- neighbouring hulls at given poses */

/* Two neighbouring hulls. Vectors are in the world frame. */
typedef struct {
  int hull_a, hull_b; /* a half-space is always hull_b */
  double gap;         /* distance of the hulls [m] */
  Vec3 normal;        /* unit, from a to b; the normal of the separating plane if touching */
  Vec3 point;      /* centre of pressure on the plane if touching, otherwise the midpoint of the closest points [m] */
  double pressure; /* contact force without friction; 0 unless touching [N] */
  bool touching;   /* true if contact exerts a force */
} ContactSpot;

/* Finds all pairs of hulls closer than `range` [m] at poses[links]. Leaves out pairs that cannot touch
 * (model_pair_allowed), intersecting pairs and pairs of two half-spaces. Sets `*spots` to the pairs, in the order of
 * the hulls, and returns their number. The caller frees `*spots` with memory_free. */
int contact_find_close_pairs(const Model* model, const Pose* poses, double range, ContactSpot** spots);
/* Sets `point` to the force-weighted mean contact point of two links, world frame [m]. If no contact exerts a force,
 * sets `point` to the contact point of the links' closest hulls. Returns false, with `point` unchanged, if
 * `spots[count]` contains no pair of hulls of these links. */
bool contact_spots_center(const Model* model, const ContactSpot* spots, int count, int link_a, int link_b, Vec3* point);

/* ---------------------------------------------------------------- one pair, without a scene (sdrs query) */

/* Contact of two convex point sets in world coordinates, for stiffness 1. It minimises a potential over separating
 * planes:
 *   U = min_{n,o} W(1 - |n|) + sum_m P_s(c_m),   c_m = sigma (n . x_m + o), sigma = -1 for a, +1 for b        (C1)
 * n, o: normal and offset of the plane. x_m: points of both sets; c_m: their clearances from the plane. P_s: barrier
 * that keeps points at a distance from the plane, with the range s = support. W: barrier that keeps |n| below 1. plane
 * = (nx, ny, nz, o); the points a are on its negative side. If U = 0, the plane is midway between the witness points.
 * distance and witness points: world axes [m]. */
typedef struct {
  double distance;
  Vec3 witness_a, witness_b;
  double potential;
  double plane[4];
} ContactQuery;
/* Computes the contact of the convex hulls of a[a_count] and b[b_count]. Sets *result. Sets grad_a (a_count) and grad_b
 * (b_count) to the derivatives of the potential with respect to the positions of the points. support: s [m]; INFINITY
 * selects the potential of the long-range law for two pieces (docs/derivations/law-long_range.md, N1). Returns false,
 * with zero gradients, if the hulls intersect (distance 0) or no plane was found. */
bool contact_query(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                   Vec3* grad_a, Vec3* grad_b);
/* Computes the same results as contact_query, but for the mesh contact of the law `ipc` (docs/derivations/law-ipc.md,
 * N19, N21). support: range D of the law [m]. The potential [m^2] is a sum over distances between corners, edges and
 * triangles of the hulls. The plane is midway between the closest points. Returns false if the hulls intersect. */
bool contact_query_mesh(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                        Vec3* grad_a, Vec3* grad_b);

#endif
