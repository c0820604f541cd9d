/* contact: pairs of hulls and the contact laws (laws.c). The default law is separating-plane contact with lagged plane
 * friction (SDRS sections IV-B, IV-C). Equations are in docs/derivations/contact.md, friction.md and certificate.md.
 * Contact depends on links and world points, but not on joints. It gives every link a force, a moment of force and a
 * 6x6 Hessian, and every pair of links a 6x6 cross block. */
#ifndef SDRS_CONTACT_H
#define SDRS_CONTACT_H

#include "model/model.h"

/* ---------------------------------------------------------------- all pairs of a scene (contact/system.c, pair_list.c,
 * whole.c, trial.c, terms.c, sleep.c) The system stores two states: the accepted state and a trial state. Each pair has
 * its plane, energy and derivatives in both. contact_accept makes the trial state the accepted state. Line-search
 * trials and contact_accept allocate nothing. Functions that do allocate say so. Results do not depend on the number of
 * threads. */
typedef struct ContactSystem ContactSystem;

/* Upper bounds of the motion of a link along a path x(alpha), alpha in [0, 1]. speed, acceleration: bounds of the first
 * two derivatives of the origin of the link frame with respect to alpha [m]. spin, spin_rate: bounds of the angular
 * velocity and angular acceleration with respect to alpha [rad]. */
typedef struct {
  double speed, acceleration, spin, spin_rate;
} MotionBound;

/* Upper bounds of the motion of a link relative to its parent, which the link's joint causes
 * (docs/derivations/certificate.md, P1-P3). */
typedef struct {
  double arm;             /* distance of the joint's origin from the origin of the parent's frame [m] */
  double length;          /* largest displacement of the link from the joint's origin by prismatic coordinates [m] */
  double slide;           /* bound of the derivative of this displacement with respect to alpha [m] */
  double spin, spin_rate; /* bounds of the rotation, as in MotionBound [rad] */
  Vec3 start_w, start_v;  /* exact rate of the link frame, world axes, at the start of the path [rad, m] */
} JointBound;

typedef struct {
  MotionBound* link; /* bounds on the motion of each link relative to the world (links) */
  JointBound* joint; /* bounds on the motion of each link relative to its parent (links) */
} MotionBounds;

/* Returns the upper bounds of the motion of a link relative to the world. up: bounds of its parent relative to the
 * world. own: bounds of the link relative to its parent. The result is infinite if `up` is infinite. Accepts all
 * values, allocates nothing. */
MotionBound motion_bound_below(MotionBound up, const JointBound* own);

/* Derivatives of the contact and friction energy of a pair with respect to the twists (w, v) of its links about their
 * centres of mass, world axes. They contain the stiffness [J, N, N m, ...]. link_a is never negative; link_b may be
 * immovable. */
typedef struct {
  int link_a, link_b;
  const Vec3* force;           /* dE/dv of a and b  (2) */
  const Mat3* moment;          /* moment of force, sum g r^T, of a and of b  (2) */
  const double (*hessian)[12]; /* 12x12, rows of a before rows of b; NULL: no Hessian */
  bool across;    /* true: only the cross block of the Hessian, with the rows of a and the columns of b, is nonzero */
  bool rows_of_b; /* true if b has rows in the Hessian. contact_replay_slip_product may add to these rows even if all
                     their entries are zero. */
} ContactTerms;

/* Creates the contact system of a valid model. Borrows the model, which must outlive the system. The caller frees the
 * system with contact_destroy. threads: number of threads; below 1 counts as 1. tolerance: relative tolerance of the
 * step, to which separating planes are solved. The system has no state before contact_reset or contact_pass_state.
 * Never NULL. */
ContactSystem* contact_create(const Model* model, int threads, double tolerance);
/* Frees the system with all pairs and the data of the laws. Accepts NULL. */
void contact_destroy(ContactSystem* system);
/* Sets the length dt > 0 (asserted) of the following steps [s]. The initial length is the scene's time step. Friction
 * uses the new length from the next contact_lag on. */
void contact_set_dt(ContactSystem* system, double dt);
/* Sets the lengths of substeps. dt > 0: length of the following substeps [s]. dt_before >= 0: length of the previous
 * substep [s]; 0: there is none. force_ratio > 0: time for which forces act in the previous substep, divided by the
 * time for which they act in the next (docs/derivations/impact.md, I5); 1 without a previous substep. The bounds are
 * asserted. Allocates nothing. */
void contact_set_part(ContactSystem* system, double dt, double dt_before, double force_ratio);
/* Sets the poses that links are expected to have at the end of the following steps. aim (links): expected poses, whose
 * rotations may be affine maps. The array is borrowed, and every contact_lag reads it. If aim is NULL, which is the
 * initial value, the poses are unknown. Cannot fail. */
void contact_set_aim(ContactSystem* system, const Pose* aim);

/* Returns the contact range of the model [m]: hulls at this distance or farther apart exert no force on each other. It
 * is the largest range of all laws of the model, and INFINITY if the model has a long-range law. Cannot fail. */
double contact_range(const Model* model);
/* Returns true if the energy of some law of the model is only once differentiable, so that gradients of runs have
 * kinks. Cannot fail, allocates nothing. */
bool contact_once_differentiable(const Model* model);
/* Returns the distance below which two links are listed as touching [m]. If the result is INFINITY, the two links are
 * listed if they exert a force on each other. A pair without its own law has the range of the model's law. Undefined
 * for link numbers out of range. */
double contact_listed_range(const Model* model, int link_a, int link_b);
/* Returns true if some law of the model lists touching pairs by distance (contact_listed_range). Under such a law,
 * pairs farther apart may exert forces, too. Cannot fail, allocates nothing. */
bool contact_lists_by_range(const Model* model);
/* Updates the list of candidates: all pairs that may come near each other if every link moves from its accepted pose
 * within its bound. bounds: bounds->link (links) must be finite and >= 0 (not checked); bounds->joint is not used.
 * Allocates only when the list grows. */
void contact_prepare(ContactSystem* system, const MotionBounds* bounds);
/* Returns the fraction 1, 1/2, 1/4, ... of the path within `bounds` by which `link` should move at a time, so that two
 * links with very many triangles do not list too many pairs. Returns 1 for links with few triangles. bounds: as for
 * contact_prepare. link is asserted. Cannot fail, allocates nothing. */
double contact_path_share(const ContactSystem* system, const MotionBounds* bounds, int link);
/* Wakes the pairs with at least one link marked in links[links] (NULL: all pairs). contact_try and the functions that
 * read its trial evaluate only awake pairs; the other links must not move. The trial state of a pair that sleeps is its
 * accepted state. The selection holds until the list of candidates changes. Borrows links for the call. Allocates
 * nothing. */
void contact_wake(ContactSystem* system, const bool* links);
/* Returns the number of awake candidates. Returns -1 if the list of candidates has changed since contact_wake; the next
 * contact_try then wakes all pairs. Allocates nothing. */
int contact_awake_count(const ContactSystem* system);
/* Evaluates the trial state of all pairs at poses[links] (copied). Pairs whose links have not moved since the accepted
 * state or the last trial are not recomputed. Returns false if hulls intersect or a separating plane was not found.
 * After false, the accepted state is unchanged, and contact_accept must not follow (asserted). Allocates nothing. */
bool contact_evaluate(ContactSystem* system, const Pose* poses);
/* Evaluates a line-search trial at poses[links] (copied) for groups of links that move together. moves[links]: false
 * for a link whose pose is unchanged since the last trial from the same accepted state. groups[links]: group of each
 * link, below group_count, or -1 for a fixed link. Sets refused[group_count] to true for each group with a pair that is
 * infeasible or closer than the law admits for a trial. Returns false if a group is refused. Some pairs of a refused
 * group, and all friction, may then not be evaluated. Does not change the accepted state. Allocates nothing. */
bool contact_try(ContactSystem* system, const Pose* poses, const bool* moves, const int* groups, int group_count,
                 bool* refused);
/* A candidate pair in the accepted and in the trial state. */
typedef struct {
  int link_a, link_b;
  bool coupled;  /* the pair has terms in the accepted state, so that its links are coupled in the quadratic model of
                    Newton's method */
  bool feasible; /* in the trial state, the pair is feasible and not closer than the law admits for a trial */
  double change; /* energy of the trial state minus that of the accepted state [J] */
} ContactTrial;
/* Returns the states of candidate `candidate` < contact_candidate_count (asserted) after contact_evaluate or
 * contact_try. The trial state of a pair that sleeps is its accepted state. */
ContactTrial contact_trial(const ContactSystem* system, int candidate);
/* Returns the energy of the trial state minus the energy of the accepted state [J] of awake pair `index` <
 * contact_awake_count (not checked). Sets *link_a and *link_b to the links of the pair. Asserts a feasible trial.
 * Allocates nothing. */
double contact_awake_change(const ContactSystem* system, int index, int* link_a, int* link_b);
/* Computes the rounding error of the energy of each term in the accepted state, for contact_term_rounding. The error
 * arises because clearances are differences of coordinates. Cannot fail, allocates nothing. */
void contact_find_rounding(ContactSystem* system);
/* Returns the rounding error of the energy of term `index` [J] that the last contact_find_rounding computed. Undefined
 * for index >= contact_term_count. */
double contact_term_rounding(const ContactSystem* system, int index);
/* Sets *contact and *friction to the sums of the contact and friction energies of all pairs in the accepted state [J].
 * The friction energy is determined up to a constant. The pairs are summed in the order of the candidates. Cannot fail,
 * allocates nothing. */
void contact_energy(const ContactSystem* system, double* contact, double* friction);
/* Returns the contact energy of the accepted state without the part that impacts dissipate in this step (impact.md, I4)
 * [J]. Under laws without impacts, this is the contact energy that contact_energy sets. Cannot fail, allocates nothing.
 */
double contact_stored(const ContactSystem* system);
/* Makes the trial state the accepted state, and computes forces and Hessians of all pairs that have terms. Asserts that
 * the evaluation of the trial returned true. Invalidates all pointers that contact_term returned. Allocates nothing. */
void contact_accept(ContactSystem* system);
/* Makes planes, forces and positions of the accepted state the reference of friction (time t of SDRS Eq. 8-12), and
 * evaluates the accepted state again. Returns false if a separating plane is not found; the step has then failed, and
 * contact_accept must not follow. Asserts that contact_reset or contact_pass_state was called. Allocates when more
 * pairs are active than before. */
bool contact_lag(ContactSystem* system);
/* Sets the reference forces of friction to the forces of the accepted state, for laws with ContactLaw.relag. Slip
 * remains relative to the poses of the last contact_lag. blends: true gives the new force of each pair the weight
 * ContactLaw.own_share, false the weight 1. Evaluates the accepted state again. Returns false if a separating plane is
 * not found. Asserts that some law has relag. Allocates when more pairs are active than before. */
bool contact_relag(ContactSystem* system, bool blends);
/* Returns true if some pair has a weight ContactLaw.own_share above 0 in the accepted state. Allocates nothing. */
bool contact_friction_is_late(const ContactSystem* system);
/* Returns true if all reference forces of friction agree with the forces of the accepted state. They agree if their
 * difference is at most `tolerance` times the largest force, tolerance >= 0 (asserted). Returns true under laws without
 * ContactLaw.loads. If some difference is above 0, sets links[2], unless NULL, to the links of the pair with the
 * largest difference. Allocates nothing. */
bool contact_friction_settled(const ContactSystem* system, double tolerance, int links[2]);
/* Returns the largest change of speed [m/s] that friction of a pair applies one step late. It is mu |N - N_r| dt / m,
 * but at most the slip speed over the substep of length dt [s]. N: normal force of the accepted state. N_r: normal
 * force of the friction reference. m = 1 / (1/m_a + 1/m_b), with the masses m_a and m_b of the movable trees. For pairs
 * with FrictionAccount.owed (friction.md, F14), the force `owed` that is lost when the pair leaves the range replaces N
 * - N_r. If the result is above 0, sets links[2] to the links of the pair with the largest change. Returns 0 under laws
 * without ContactLaw.loads. Allocates nothing. */
double contact_late_friction(ContactSystem* system, double dt, int links[2]);
/* Resets the system to the start of a run at poses[links] (copied). Removes all candidates. Returns false if hulls
 * intersect; after false, no pair has terms. Allocates. */
bool contact_reset(ContactSystem* system, const Pose* poses);
/* Slots in which contact_remember stores data of an accepted state that cannot be computed from its poses. */
typedef enum { CONTACT_STEP, CONTACT_PART } ContactMemory; /* two slots */
/* Stores in slot `which` the data of the accepted state that cannot be computed from its poses. Does nothing under laws
 * without such data. Allocates when there are more candidates than before. */
void contact_remember(ContactSystem* system, ContactMemory which);
/* Returns the factor by which an impact scales the force of candidate `index` in the accepted state, after a step of
 * length dt [s] from the state of contact_remember(CONTACT_STEP). Returns 1 for inactive pairs and under laws without
 * impacts. rest_speed [m/s] and restitution replace the values of the system's model. index < contact_candidate_count
 * (asserted). Allocates nothing. */
double contact_impact_factor(const ContactSystem* system, int index, double rest_speed, double restitution, double dt);
/* Restores the data of slot `which`. Call it after contact_reset at the poses that the accepted state had at
 * contact_remember. Does not change pairs that were inactive at contact_remember or are new. Cannot fail, allocates
 * nothing. */
void contact_recall(ContactSystem* system, ContactMemory which);

/* ---- impacts (contact/impacts.c; docs/derivations/impact.md, I9, I10) */
/* Returns true if the substep that begins in the accepted state belongs to an impact. dt_before: length of the previous
 * substep [s]. Cannot fail. */
bool contact_impact_begins(ContactSystem* system, double dt_before);
/* A pair of hulls whose impact begins in a substep. Its impact begins at the normalized distance 0. before: normalized
 * distance at the beginning of the substep (> 0). after: normalized distance at its end (< 0). */
typedef struct {
  int hull_a, hull_b;
  double before, after;
} ContactEntry;
/* Returns true if the impact of a pair began within the substep from poses `begin` (links) to the accepted state, and
 * sets *entry to the pair whose impact began first. Returns false if no impact began before the end of the substep. dt:
 * length of the substep > 0 (asserted) [s]. aim (links): poses that the links would have at the end without contact.
 * sought: pair whose impact a longer substep has found, or NULL; the approach speed of this pair is not tested. Pairs
 * whose impact begins at the end of the substep store their approach speed. */
bool contact_impact_entry(ContactSystem* system, const Pose* begin, const Pose* aim, double dt,
                          const ContactEntry* sought, ContactEntry* entry);
/* Returns the normalized distance of a pair of hulls from the start of its impact in the accepted state. The distance
 * is negative after the start. A pair that is not a candidate counts as out of range. */
double contact_impact_ahead(ContactSystem* system, int hull_a, int hull_b);
/* Returns true if some pair came into contact in the last substep. Call it after contact_impact_entry. Returns false
 * under laws without impacts. Cannot fail, allocates nothing. */
bool contact_struck(ContactSystem* system);
/* Returns true if the impact of some pair continues after the accepted state, because its force is more than twice its
 * barrier force. Returns false under laws without impacts. Cannot fail, allocates nothing. */
bool contact_pressed(ContactSystem* system);
/* Returns true if some pair exerted a force at the beginning of the last substep and exerts little or no force in the
 * accepted state. Call it after contact_impact_entry. Returns false under laws without impacts. Cannot fail, allocates
 * nothing. */
bool contact_lets_go(ContactSystem* system);

/* Friction of the first step of a run (contact/grip.c; docs/derivations/friction.md, F6, F7). The step is first solved
 * without friction. The normal forces of this solve then limit friction. */
/* Returns true if some pair with friction exerts a force in the accepted state, or is a pair of links that represents
 * the pairs of its hulls. Cannot fail, allocates nothing. */
bool contact_begins_rubbing(const ContactSystem* system);
/* Selects the normal forces that limit friction from the next contact_lag on. GRIP_FULL: the normal forces of the
 * reference state. GRIP_NONE: zero. GRIP_FOUND: the normal forces of the reference state times ContactGripSlope.value,
 * which is computed from the forces that contact_note_forces stored at both ends of the frictionless solve. */
typedef enum { GRIP_FULL, GRIP_NONE, GRIP_FOUND } ContactGrip;
void contact_set_grip(ContactSystem* system, ContactGrip grip);
/* Records of pairs, as contact_record writes them, and the force of each pair on its first link, world axes [N]. */
typedef struct {
  const struct ContactRecord* records;
  const Vec3* force; /* (count) */
  int count;
} ContactForces;
/* contact_note_forces stores the forces of the accepted state for `end`. CONTACT_START: start of the solve without
 * friction, after contact_lag. CONTACT_END: end of the solve without friction. */
typedef enum { CONTACT_START, CONTACT_END } ContactEnd;
void contact_note_forces(ContactSystem* system, ContactEnd end);
/* Returns the forces that contact_note_forces stored for `end`. The system owns them; they are valid until the next
 * contact_note_forces for `end`. */
ContactForces contact_noted_forces(const ContactSystem* system, ContactEnd end);
/* Fraction of the initial force that limits friction of a pair of items (the grip), and its derivatives. Items are the
 * hulls, followed by the links. start, end: indices of the pair's records at the start and at the end of the solve
 * without friction; -1 if there is no record. by_start, by_end: derivatives of `value` with respect to the magnitudes
 * of the forces of these records [1/N]. */
typedef struct {
  double value, by_start, by_end;
  int start, end;
} ContactGripSlope;
ContactGripSlope contact_grip_found(const Model* model, const ContactForces* start, const ContactForces* end,
                                    int item_a, int item_b);

/* Writes the state of the system to a block, or reads it from a block (contact/snapshot.c). The state contains
 * everything that contact_lag and later steps depend on, and the results of contact_force, contact_energy, contact_gap
 * and contact_record. Hessians are available only from the next contact_lag on. poses[links]: poses of the accepted
 * state, used and copied when reading. Reading fails for a block of another model. Reading allocates. A path that
 * contact_way_begin has begun starts again. */
void contact_pass_state(ContactSystem* system, const Pose* poses, StateBlock* block);
/* Marks the accepted state as restored from outside the run. The previous states are then constants, and forces have no
 * derivatives with respect to them. Affects active pairs with terms under laws that depend on previous states. Cannot
 * fail, allocates nothing. */
void contact_hold(ContactSystem* system);

/* Callback for a path. Sets the poses at alpha in [0, 1] of `link` and of its ancestors below `from`. If from is -1,
 * sets the poses of all ancestors. The pose of `from` is already set. Does not change other poses. poses (links): world
 * frame [m]. */
typedef void (*ContactPath)(void* context, double alpha, int link, int from, Pose* poses);
/* The pair at which contact_certify failed. */
typedef struct {
  int candidate;
  double alpha; /* alpha where the search ended */
  bool meet; /* true: the hulls intersect at alpha; false: no proof was found within the largest number of halvings */
} ContactFailure;
/* Proves that no hulls intersect between the accepted and the trial poses along the path poses_at(context, alpha, ...),
 * which moves links within `bounds` (docs/derivations/certificate.md). Asserts a feasible trial. Adds the number of
 * path intervals to *intervals; each pair that sleeps counts as one interval. Returns false if some pair has no proof,
 * and sets *failure to this pair; after true, *failure is undefined. poses_at is called from one thread. Allocates
 * nothing. */
bool contact_certify(ContactSystem* system, const MotionBounds* bounds, ContactPath poses_at, void* context,
                     int* intervals, ContactFailure* failure);
/* Marks the accepted state as the start of a path over several accepted states, for all present candidates. Allocates
 * nothing. */
void contact_way_begin(ContactSystem* system);
/* Returns true if provably no hulls intersect along another path that ends at the accepted state. Uses fewer halvings
 * than contact_certify. remembered: true if the path starts at the state of contact_way_begin. A result false does not
 * prove an intersection. Does not change states. Allocates while the number of pairs outside the list grows. */
bool contact_certify_arrival(ContactSystem* system, const MotionBounds* bounds, ContactPath poses_at, void* context,
                             bool remembered);
/* Gap of a candidate pair in the trial state, measured along the separating direction of the accepted state. */
typedef struct {
  int link_a, link_b;
  Vec3 axis, at; /* axis: unit, from a to b, world axes; at: farthest point of a along the axis [m] */
  double gap;    /* gap along the axis in the trial state; negative: overlap [m] */
  double before; /* distance in the accepted state, or a lower bound [m] */
} ContactSqueeze;
/* Returns the gap of candidate `index` < contact_candidate_count (asserted). Requires an evaluated trial (not checked).
 * For a pair of links, `gap` and `before` are INFINITY. */
ContactSqueeze contact_squeeze(const ContactSystem* system, int index);

/* Returns the number of pairs that have terms in the accepted state since the last contact_accept, contact_lag or
 * contact_reset. Their order is fixed. Cannot fail, allocates nothing. */
int contact_term_count(const ContactSystem* system);
/* Returns the gradient [N, N m] and the Hessian (12 x 12) of term `index` < contact_term_count (asserted). The system
 * owns the arrays; they are valid until the next contact_accept. */
ContactTerms contact_term(const ContactSystem* system, int index);

/* List of the terms of a ContactSystem or a ContactReplay. A zeroed list is empty. */
typedef struct {
  const void* holder;
  int (*count)(const void* holder);
  ContactTerms (*at)(const void* holder, int index);
} ContactTermList;
/* Returns the list of terms of the accepted state. The system owns the terms; they are valid until the next
 * contact_accept. Returns an empty list if system is NULL. */
ContactTermList contact_term_list(const ContactSystem* system);
/* Corrects the force of every pair with restitution to first order for the next Newton step: W' += W'' dU. The
 * corrected force limits friction of the next substep (impact.md, I13). twist (links x 6): motion of each link in the
 * next Newton step [rad, m]. Cannot fail, allocates nothing. */
void contact_refine(ContactSystem* system, const double (*twist)[6]);
/* Replaces the Hessian of each term in the accepted state by the nearest positive semidefinite matrix, if at least one
 * link of the pair is marked in links[links]. If links is NULL, replaces all Hessians. Cannot fail. */
void contact_project(ContactSystem* system, const bool* links);
/* Independent parts of a scene (contact/part.c; docs/derivations/step.md, S17). A part is a set of trees. While all
 * links stay in their regions, trees of different parts cannot come within contact range of each other. */

/* Allocates the data of independent parts. contact_destroy frees the data. Returns false if the law does not support
 * independent parts: laws with pairs of links, and laws of infinite range. */
bool contact_parts_create(ContactSystem* system);
/* Computes the region of each link: the bounding box of the link in its accepted pose and in its expected pose `aim`
 * (links), with a margin. Extends the list of candidates to these regions. Joins in sets (trees) the trees whose
 * regions are within contact range of each other. Allocates while the list grows. */
void contact_parts_find(ContactSystem* system, const Pose* aim, int* sets);
/* Creates a system for the solution of parts. It works on the pairs and states of `whole`, which it borrows, and owns
 * only lists. thread: number of its workspace. The caller frees it with contact_part_destroy. Never NULL. */
ContactSystem* contact_part_create(const ContactSystem* whole, int thread);
/* Frees the part, but not the data that it borrows from the complete system. Accepts NULL. */
void contact_part_destroy(ContactSystem* part);
/* Updates the part after a change of `whole`. Call it before contact_part_begin, and never while another thread changes
 * `whole`. */
void contact_part_attach(ContactSystem* part, const ContactSystem* whole);
/* Sorts the candidates by the part to which they belong. of (trees): part of each tree, or -1 if it belongs to no part;
 * borrowed until contact_parts_end. part_count: number of parts. The list of candidates must not change before
 * contact_parts_end. Allocates while lists grow. */
void contact_parts_list(ContactSystem* system, const int* of, int part_count);
/* Starts the solution of part `number` from the accepted state of `whole`. The functions of `part` then apply to
 * links[count] (ascending) and the pairs of these links. May run in parallel with other parts. Allocates while lists
 * grow. */
void contact_part_begin(ContactSystem* part, const ContactSystem* whole, int number, const int* links, int count);
/* Returns true if, on the path within `bounds` from the accepted to the trial state, every link of the part stays in
 * its region, and no hull moves farther than the list of candidates covers. Cannot fail, allocates nothing. */
bool contact_part_stays(const ContactSystem* part, const MotionBounds* bounds);
/* Makes the accepted state of the part the trial state of its links and pairs in `whole`. */
void contact_part_end(ContactSystem* part, const ContactSystem* whole);
/* Makes the trial state that contact_part_end has set the accepted state of the complete system. Call it after
 * contact_part_end of all parts. Links that belong to no part keep their poses. begin (links): poses of all links
 * before the parts were solved. Allocates nothing. */
void contact_parts_end(ContactSystem* system, const Pose* begin);

/* Returns the number of candidates, the pairs that may touch during this step. They determine the sparsity pattern of
 * the step's matrix. The number changes only if contact_version changes. Cannot fail, allocates nothing. */
int contact_candidate_count(const ContactSystem* system);
/* Sets *link_a and *link_b to the links of candidate `index` < contact_candidate_count (asserted). The pointers must
 * not be NULL. Allocates nothing. */
void contact_candidate(const ContactSystem* system, int index, int* link_a, int* link_b);
/* Returns a counter that increases with every change of the list of candidates. Data derived from the list are invalid
 * after an increase. */
int contact_version(const ContactSystem* system);
/* Returns the number of candidates with nonzero contact energy in the accepted state. Allocates nothing. */
int contact_active_count(const ContactSystem* system);

/* Returns the gap of candidate `index` in the accepted state [m]: the exact distance (GJK), or PairState.separation
 * under a law without barrier. Returns INFINITY for a pair of hulls that a pair of links represents. Undefined for
 * index >= contact_candidate_count. Changes nothing, allocates nothing. */
double contact_gap(ContactSystem* system, int index);
/* Returns the exact gap in the trial state [m]. Asserts that there is a trial. Updates the pair's GJK cache. Undefined
 * for index >= contact_candidate_count. Allocates nothing. */
double contact_trial_gap(ContactSystem* system, int index);
/* Sets *force_on_b to the total force of candidate `index` on its second link, world axes [N]. The force on the first
 * link is the opposite. Returns false, with zero force, if the pair exerts no force. Allocates nothing. */
bool contact_force(const ContactSystem* system, int index, Vec3* force_on_b);

/* Wrench of a pair on its second link, world axes. force [N]; torque about the world's origin [N m]. point: centre of
 * pressure on the pair's plane [m]; the torque about this point is normal to the plane. `press`: normal force [N]. Laws
 * with many distances per pair set `point` and `press` themselves (ContactLaw.center): `point` is the mean of the
 * contact points weighted by force, and `press` is the sum of the forces' magnitudes. For a pair without a plane that
 * has only friction, `point` is the body's reference point and `press` is 0. */
typedef struct {
  Vec3 force, torque, point;
  double press;
} ContactWrench;
/* Returns the wrench of candidate `index` in the accepted state. Force, torque and `press` are 0 if the pair exerts no
 * force. Undefined for index >= contact_candidate_count. Allocates nothing. */
ContactWrench contact_wrench(const ContactSystem* system, int index);

/* ---------------------------------------------------------------- the account of friction (contact/own_force.c,
 * docs/derivations/friction.md, F14) */
/* Account of friction of one or more pairs of hulls in the last substep [N]. Let N be the normal force at the end of
 * the substep, and let owed' and lost' be the values of the previous substep. Then owed = owed' - lost' + N - load. */
typedef struct {
  double load; /* sum of the normal forces that limited friction in the substep, g S B (F6, F14) */
  double owed; /* e': sum of all past normal forces, minus the sum of those that limited friction */
  double lost; /* part of `owed` that friction will never use, because the pair has left the range or its friction does
                  not use it */
} FrictionAccount;

/* Returns true if some pairs of the model keep an account of friction. This requires that contact.friction_iterations
 * is null, friction and rest_speed are above 0, no pair has restitution, and a law has ContactLaw.account. Cannot fail,
 * allocates nothing. */
bool contact_keeps_account(const Model* model);
/* Returns true if friction between some hulls of two links uses the force FrictionAccount.owed in the next step.
 * Otherwise friction is limited by the normal force at the start of the step. Undefined for link numbers out of range.
 * Allocates nothing. */
bool contact_friction_pays(const Model* model, int link_a, int link_b);
/* Returns the account of friction of candidate `index` in the last substep. All members are 0 for pairs of links and
 * under laws without an account. Undefined for index >= contact_candidate_count. Allocates nothing. */
FrictionAccount contact_account(const ContactSystem* system, int index);

/* Wall times spent in contact, friction and broad phase since the system was created [s]. */
typedef struct {
  double broad_phase, contact, friction;
} ContactTimes;
/* Adds share * times to the wall times of the system. */
void contact_add_times(ContactSystem* system, ContactTimes times, double share);
/* Returns the wall times of the system. They differ between runs and affect no result. Cannot fail. */
ContactTimes contact_times(const ContactSystem* system);

/* ---------------------------------------------------------------- recorded steps (contact/replay.c) */

/* Data of a pair in an accepted state, from which the derivatives of the pair can be computed again. */
enum { CONTACT_KEPT_NUMBERS = 40 };
typedef struct ContactRecord {
  int hull_a, hull_b; /* a half-space is always hull_b */
  bool active;        /* nonzero contact energy: friction of the next step depends on it */
  bool rubbing;       /* friction acts between the items */
  bool own_force;     /* friction depends on the force of the previous solve of the step (contact_relag) */
  bool late;          /* friction depends on the force of the pair in the previous state */
  double grip;        /* factor on the force that limits friction; it is 1 except in the first step of a run */
  double kept[CONTACT_KEPT_NUMBERS]; /* data of the law */
} ContactRecord;
/* Completes the list of candidates for contact_record. Call it before contact_record and contact_candidate_count. If
 * the list grows, it allocates, and contact_version changes. Does nothing under laws whose pairs of hulls are
 * independent. Cannot fail. */
void contact_find_records(ContactSystem* system);
/* Writes the records of the pairs that exert a contact or friction force in the accepted state to `records`, and
 * returns their number. records: memory of the caller for contact_candidate_count entries (not checked). Call it after
 * contact_find_records and before the next contact_lag. Allocates nothing. */
int contact_record(const ContactSystem* system, ContactRecord* records);

/* Replay of the pairs of a recorded step from t to t + dt (docs/derivations/adjoint.md). It recomputes the terms of the
 * pairs. For given twists (w, v), it differentiates Phi = sum over pairs and both links of dE/d(twist) . (w, v) (A4)
 * with respect to all other quantities on which the pair energy E depends. */
typedef struct ContactReplay ContactReplay;
/* Creates a replay. Borrows the model, which must outlive the replay. The caller frees the replay with
 * contact_replay_destroy. threads: number of threads; below 1 counts as 1. Never NULL. The replay has no data until
 * contact_replay_load returns true. */
ContactReplay* contact_replay_create(const Model* model, int threads);
/* Frees the replay and everything it owns. Accepts NULL. */
void contact_replay_destroy(ContactReplay* replay);
/* Poses (links) and records (count) of a run at t or t + dt. The replay borrows both arrays until the next load. */
typedef struct {
  const Pose* pose;
  const ContactRecord* records;
  int count;
  int64_t number; /* number (> 0) of the state in its run; the replay recognizes consecutive steps by it. 0: the replay
                     recognizes them by the addresses of poses and records */
} ContactMoment;
/* Discards the loaded step, because the next step belongs to another run. Keeps allocated memory. Cannot fail. */
void contact_replay_begin(ContactReplay* replay);
/* Sets the length dt > 0 (asserted) of the steps that are loaded from now on [s]. The initial length is the scene's
 * time step. */
void contact_replay_set_dt(ContactReplay* replay, double dt);
/* Sets the expected poses `aim` (links; contact_set_aim) of the steps that are loaded from now on.
 * contact_replay_adjoint adds the derivatives with respect to the entries of these poses to `bar` (links). Both arrays
 * are borrowed. aim NULL, the initial value: the poses are unknown. bar NULL: the derivatives are not computed. */
void contact_replay_set_aim(ContactReplay* replay, const Pose* aim, double (*bar)[3][4]);
/* Sets the poses and records of the previous solve of the step, for the steps that are loaded from now on. Friction of
 * pairs with ContactRecord.own_force depends on the forces of this solve. The arrays are borrowed until the next load.
 * solve NULL, the initial value: there are no such pairs. */
void contact_replay_set_solve(ContactReplay* replay, const ContactMoment* solve);
/* contact_replay_set_aside stores the derivatives with respect to the numbers of PairCarry at t, which the last
 * contact_replay_adjoint found. contact_replay_add_aside adds the stored derivatives to those of a step that was loaded
 * later and begins at the same t. */
void contact_replay_set_aside(ContactReplay* replay);
void contact_replay_add_aside(ContactReplay* replay);
/* Loads the step from `now` to `next` of a run that is processed from the last step to the first. If the previous load
 * had the state `next` as its `now`, the state is not computed again. Returns false if a plane or a slip of the record
 * was not reproduced; the terms are then undefined. Borrows records[count] and pose[links] of both states until the
 * next load. Allocates while the number of records grows. */
bool contact_replay_load(ContactReplay* replay, const ContactMoment* now, const ContactMoment* next);
/* Returns the list of terms of the loaded step at t + dt. The replay owns the terms; they are valid until the next
 * load. The list is empty before the first load. */
ContactTermList contact_replay_terms(const ContactReplay* replay);
/* Loads the step from `now` to `next` of a run that is processed from the first step to the last. If the previous load
 * had the state `now` as its `next`, the state is not computed again. Returns false if a plane or a slip of the record
 * was not reproduced. Allocates while the number of records grows. */
bool contact_replay_load_forward(ContactReplay* replay, const ContactMoment* now, const ContactMoment* next);
/* Returns how many numbers of a pair, besides the poses of its bodies, influence the next step (PairCarry). The number
 * is the same for all laws. The replay stores the derivatives with respect to these numbers at t + dt, which the next
 * step has found, and at t (records x numbers). Cannot fail, allocates nothing. */
int contact_replay_carried(const ContactReplay* replay);
/* Sets the derivative at t + dt with respect to one number of PairCarry of one pair to 1, and the derivatives with
 * respect to all other numbers to 0. pair: index into the records at t + dt. If pair is -1, all derivatives are set to
 * 0. number: index < contact_replay_carried. Both are asserted. Allocates nothing. */
void contact_replay_seed_carry(ContactReplay* replay, int pair, int number);
/* Copies the derivatives with respect to the numbers of PairCarry at t to `out` (records at t x contact_replay_carried,
 * row-major), memory of the caller. The length of `out` is not checked. Allocates nothing. */
void contact_replay_read_carry(const ContactReplay* replay, double* out);

/* Recomputes the loaded pairs after contact_replay_set_dt. ratio_change: force_ratio of the substep (contact_set_part)
 * minus force_ratio of the record. Allocates nothing. */
void contact_replay_refresh(ContactReplay* replay, double ratio_change);
/* The pair of hulls whose potential U determines the end of a step (impact.md, I10). force, torque: derivatives of U
 * with respect to the twists of both links about their centres of mass at t + dt, world axes [1/m^2, 1/m]. If b is a
 * half-space, its derivatives belong to the link of the half-space. */
typedef struct {
  int index; /* index of the pair among the records at t + dt */
  int link[2];
  Vec3 force[2], torque[2];
} EventTerms;
/* Sets *event to the derivatives of the potential of the pair of hulls hull_a and hull_b. Returns false if the pair is
 * not loaded, if it is not active, or if its law has no events. Allocates nothing. */
bool contact_replay_event(const ContactReplay* replay, int hull_a, int hull_b, EventTerms* event);
/* Adds the derivatives with respect to the twists of links at t + dt that act through PairCarry.load, the impact
 * factors of the pairs, to wrench[links] (torque about the centre of mass, force). The derivatives with respect to
 * these factors come from the next step, or from contact_replay_seed_carry. Returns false if all of them are zero.
 * Allocates nothing. */
bool contact_replay_loads(const ContactReplay* replay, double (*wrench)[6]);
/* Seeds the scalar nu (U - U_0), with the potential U_0 at which impacts begin and the factor nu [m]. The next
 * contact_replay_adjoint adds the derivatives of this scalar with respect to vertices and half-spaces. Adds the
 * derivative of the scalar with respect to the support to `gradient`. */
void contact_replay_seed_event(ContactReplay* replay, const EventTerms* event, double nu, ModelGradient* gradient);
/* Derivatives with respect to the lengths of the step (dt) and of the previous step (dt_before) [1/s], which the last
 * contact_replay_adjoint found. They are 0 under laws that do not depend on these lengths. `dt` contains only the
 * derivative that acts through PairCarry.load, on which the next step depends. */
typedef struct {
  double dt, dt_before;
} ContactLengths;
ContactLengths contact_replay_lengths(const ContactReplay* replay);

/* Two links, for the force of link `other` on link `link`, summed over their hulls. */
typedef struct {
  int link, other;
} ForcePair;
/* Derivatives of a scalar with respect to the forces of ForcePair [1/N]. Both arrays (count) are borrowed. */
typedef struct {
  const ForcePair* pairs;
  const Vec3* slope; /* (count) */
  int count;
} ForcePairSlopes;

/* Input of contact_replay_adjoint. twist: (w, v) of every link about its centre of mass at t + dt. The other members
 * are derivatives of a scalar with respect to contact forces. force: with respect to the total force on each link.
 * pair: with respect to the force of each pair on its first link, in the order of contact_replay_terms. between: with
 * respect to forces between two links. Members that are NULL count as zero. */
typedef struct {
  double (*twist)[6]; /* (links) */
  const Vec3* force;  /* (links) */
  const Vec3* pair;   /* (pairs) */
  ForcePairSlopes between;
} ContactField;
/* Adds the derivatives of Phi and of the scalar of `field` to three arguments. pose_now (links): with respect to the
 * entries of the poses at t, 3x4 matrices. ground_next (links): with respect to the entries of the poses of half-spaces
 * at t + dt, which the terms leave out. gradient: with respect to hull vertices in link frames and to contact
 * parameters. Call it only after a load that returned true. The caller zeroes the three arguments before. Allocates
 * nothing. */
void contact_replay_adjoint(ContactReplay* replay, const ContactField* field, double (*pose_now)[3][4],
                            double (*ground_next)[3][4], ModelGradient* gradient);
/* Adds to bar[links] the derivatives with respect to the entries of the poses of contact_replay_set_solve, 3x4
 * matrices, which the last contact_replay_adjoint found. Cannot fail. */
void contact_replay_own_bars(const ContactReplay* replay, double (*bar)[3][4]);
/* Returns the derivative with respect to ContactRecord.grip of record `index` >= 0 (asserted) at t + dt, which the last
 * contact_replay_adjoint found. */
double contact_replay_by_grip(const ContactReplay* replay, int index);
/* Adds the Hessians of the loaded pairs times the twists of `field` [rad, m] to wrench (links x 6: torque about the
 * centre of mass, force) [N m, N]. Adds nothing to the links of half-spaces. The caller zeroes wrench. Cannot fail,
 * allocates nothing. */
void contact_replay_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

/* Writes a CSV table for `sdrs bench pair`: nanoseconds per evaluation against the number of vertices. The hulls are
 * random, within contact range, and the same at each call. `out` stays open, and the caller checks it for write errors
 * (ferror). Frees all memory that it allocates. */
void contact_bench_pair(FILE* out);
/* Writes a CSV table for `sdrs bench pair --law NAME` with 7 rows: law, vertices of either hull, nanoseconds of contact
 * and of friction. Each time is the processor time of value, gradient and Hessian on one thread, for hulls 8 mm apart
 * with a contact range of 20 mm. Returns false at the first row whose scene could not be built; earlier rows are
 * written. Frees all memory that it allocates. */
bool contact_bench_law(FILE* out, ContactModel model);

/* ---------------------------------------------------------------- neighbouring hulls at given poses
 * (`contact/spots.c`)
 */

/* Two neighbouring hulls. World frame. */
typedef struct {
  int hull_a, hull_b; /* a half-space is always hull_b */
  double gap;         /* m */
  Vec3 normal;        /* unit, from a to b; the normal of the separating plane if touching */
  Vec3 point;         /* centre of pressure on the plane if touching, otherwise the middle of the closest points [m] */
  double pressure;    /* contact force without friction; 0 unless touching [N] */
  bool touching;      /* contact exerts a force */
} ContactSpot;

/* Finds all pairs of hulls that may touch (model_pair_allowed), do not intersect and are less than `range` [m] apart if
 * the links are at `poses` (links). Leaves out pairs of two half-spaces. Sets `*spots` to the pairs, in the order of
 * the hulls, and returns their number. The caller frees `*spots` with memory_free. Cannot fail. */
int contact_spots(const Model* model, const Pose* poses, double range, ContactSpot** spots);
/* Sets `point` to the mean contact point of two links, weighted by force, world frame [m]. If no contact exerts a
 * force, sets `point` to the contact point of the links' closest hulls. Returns false, with `point` unchanged, if
 * `spots[count]` contains no pair of hulls of these links. Allocates nothing. */
bool contact_spots_center(const Model* model, const ContactSpot* spots, int count, int link_a, int link_b, Vec3* point);

/* ---------------------------------------------------------------- one pair, without a scene (sdrs query) */

/* Contact of two convex point sets in world coordinates, for stiffness 1:
 *   U = min_{n,o} W(1 - |n|) + sum_m P_s(c_m),   c_m = sigma (n . x_m + o), sigma = -1 for a, +1 for b        (C1)
 * plane = (nx, ny, nz, o), with a on its negative side. If U = 0, the plane is midway between the witness points.
 * distance and witness points: world axes [m]. */
typedef struct {
  double distance;
  Vec3 witness_a, witness_b;
  double potential;
  double plane[4];
} ContactQuery;
/* Computes the contact of the hulls of the points a[a_count] and b[b_count]. Sets *result, and the gradients dU/dx_m of
 * the potential, grad_a (a_count) and grad_b (b_count). support: s [m]; INFINITY selects the potential of the
 * long-range law for two pieces (docs/derivations/law-long_range.md, N1). Zeroes result and gradients first. Returns
 * false if the hulls intersect (distance 0) or no plane was found. Frees all memory that it allocates. */
bool contact_query(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                   Vec3* grad_a, Vec3* grad_b);
/* As contact_query, for the mesh contact of the law ipc (docs/derivations/law-ipc.md, N19, N21). support: range D of
 * the law [m]. The potential [m^2] is a sum over distances between corners, edges and triangles of the hulls. The plane
 * is midway between the closest points. Returns false if the hulls intersect. Frees all memory that it allocates. */
bool contact_query_mesh(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                        Vec3* grad_a, Vec3* grad_b);

#endif
