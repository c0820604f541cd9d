/* contact: pairs of hulls and the laws between them (laws.c); the first is separating-plane contact with lagged plane
 * friction (SDRS sections IV-B, IV-C). docs/derivations/contact.md, friction.md, certificate.md hold the mathematics.
 * A contact model knows world points and links, never joints: it hands every link a force, a moment of force and a
 * 6x6 Hessian, and every pair of links a 6x6 cross block. */
#ifndef SDRS_CONTACT_H
#define SDRS_CONTACT_H

#include "model/model.h"

/* ---------------------------------------------------------------- all pairs of a scene (contact/system.c, pair_list.c,
 * whole.c, trial.c, terms.c, sleep.c) Two states are held: the accepted one and a trial. A pair's plane, energy and
 * derivatives exist for both; accept makes the trial the accepted state. contact_create allocates; later only
 * contact_prepare and contact_lag do, and only while the neighbourhood grows. Results do not depend on the number of
 * threads. */
typedef struct ContactSystem ContactSystem;

/* How far a link can move along a path x(alpha), alpha in [0, 1]: bounds on the derivatives with respect to alpha of
 * the link frame's origin (speed [m], acceleration [m]) and of its rotation (spin [rad], spin_rate [rad]). */
typedef struct {
  double speed, acceleration, spin, spin_rate;
} MotionBound;

/* The same for what a link's own joint adds to its parent: docs/derivations/certificate.md (P1-P3). */
typedef struct {
  double arm;             /* distance of the joint's origin from the parent's [m] */
  double length;          /* largest distance the slides carry the link from there [m] */
  double slide;           /* rate of the slides [m] */
  double spin, spin_rate; /* of the rotation [rad] */
  Vec3 start_w, start_v;  /* of the link's frame against the world where the path begins, exactly [rad, m] */
} JointBound;

typedef struct {
  MotionBound* link; /* against the world  (links) */
  JointBound* joint; /* against the parent  (links) */
} MotionBounds;

/* Bound of a link from that of its parent and its own joint, m and rad per unit of alpha. Infinite where the
 * parent's is; no argument is refused, nothing is allocated. */
MotionBound motion_bound_below(MotionBound up, const JointBound* own);

/* Derivatives of a pair's contact and friction energy with respect to the twists (w, v) of its links about their
 * centres of mass in world axes; link_a < 0 never, link_b may be immovable. [J, N, N m, ...], stiffness included. */
typedef struct {
  int link_a, link_b;
  const Vec3* force;           /* dE/dv of a and b  (2) */
  const Mat3* moment;          /* sum g r^T of a and b  (2) */
  const double (*hessian)[12]; /* 12x12, a first; NULL: none */
  bool across;                 /* nothing stands in its blocks of a and of b alone */
} ContactTerms;

/* Borrows the model, which must outlive the system; freed with contact_destroy. threads: below 1 counts as 1.
 * tolerance: of the step, relative; planes are solved tightly enough for it. Before contact_reset, or
 * contact_pass_state, it stands nowhere. Never NULL; model and law are not checked again, model_create has done
 * that. */
ContactSystem* contact_create(const Model* model, int threads, double tolerance);
/* Frees the system with all pairs and what the laws own; NULL is accepted. */
void contact_destroy(ContactSystem* system);
/* Length of the steps that follow [s]; at first that of the scene. Friction sees it from the next lag on. dt must be
 * > 0, which nobody asserts here. */
void contact_set_dt(ContactSystem* system, double dt);
/* The same for a part of a step, with the length of the one before (0: none), whether it is one of those that resolve
 * an impact (docs/derivations/impact.md, I10), and for how much of the time for which a force acts in this part it
 * acted in the one before (I5; 1 where there is none). dt must be > 0, dt_before >= 0 [s], force_ratio > 0; neither is
 * checked. Allocates nothing. */
void contact_set_part(ContactSystem* system, double dt, double dt_before, double force_ratio);
/* Poses (links) that the links are expected to have at the end of the steps that follow; rotations may be affine maps.
 * Borrowed: read by every contact_lag. NULL, as at first: not known. Cannot fail. */
void contact_set_aim(ContactSystem* system, const Pose* aim);
/* Are the trials that follow foretold by past steps, and near the solution if anything is? Friction's directions are
 * then those of their own slips, not what Newton's method makes of the accepted state's (docs/derivations/friction.md,
 * F5). At first they are not. Cannot fail. */
void contact_foretell(ContactSystem* system, bool foretold);

/* Distance from which on two hulls exert nothing on each other [m]. The largest of all laws of the model; INFINITY:
 * they always do. Cannot fail; copies the model's head once for each law that pairs name. */
double contact_range(const Model* model);
/* Is the law's energy once differentiable only, so that gradients of runs have kinks? Of the model's law, or of any
 * that a pair names. Answers from constant tables: cannot fail, allocates nothing. */
bool contact_once_differentiable(const Model* model);
/* Two links are listed as touching when they are nearer than this [m]; INFINITY: when they exert a force. Links that
 * no pair names have the range of the model's own law; numbers of links are not checked, beyond the model's the
 * answer is undefined. */
double contact_listed_range(const Model* model, int link_a, int link_b);
/* Are some pairs of links listed by how near they are? What is farther away may act, too. Of the model's law, or of any
 * that a pair names. Cannot fail, allocates nothing. */
bool contact_lists_by_range(const Model* model);
/* Find the pairs that can matter while every link moves from the accepted poses within its bound (bounds: an entry a
 * link, [m] and [rad]). Grows the list of candidates when it must, else allocates nothing. bounds->joint is not
 * read. Bounds must be finite and >= 0, which nobody asserts. */
void contact_prepare(ContactSystem* system, const MotionBounds* bounds);
/* How much of the path within `bounds` a link had better go at a time, 1 or a half of it, a quarter, ...: two links of
 * very many triangles, each listed with those of the other, would else fill the list with what never meets. Above 0.
 * 1 for links of few triangles. bounds of every link, as of contact_prepare; cannot fail, allocates nothing. */
double contact_path_share(const ContactSystem* system, const MotionBounds* bounds, int link);
/* Only pairs with such a link (links; NULL: all) will be looked at by contact_try and what judges its trial: the others
 * do not move in it. Holds until the list of candidates changes; the trials of those that sleep are their accepted
 * states. links[links], borrowed for the call. Allocates nothing. */
void contact_wake(ContactSystem* system, const bool* links);
/* How many candidates are awake. -1: not known, since the list changed after the last contact_wake. Not an error:
 * contact_try wakes all then. Allocates nothing. */
int contact_awake_count(const ContactSystem* system);
/* Evaluate the trial state at the poses[links], which are copied. Returns false where some hulls intersect or a plane
 * was not found: the trial cannot be accepted then. Pairs whose
 * links both stand where they stood in the accepted state, or in the trial before, are not looked at again. Wakes all
 * pairs. Allocates nothing; after false the accepted state is what it was, and contact_accept must not follow
 * (asserted). */
bool contact_evaluate(ContactSystem* system, const Pose* poses);
/* The same of a search's trials, where links with moves = false stand where the last trial, of the same accepted state,
 * had them (links); and group by group of links that move together: groups (links; -1: one that stays) numbers them,
 * refused[groups] becomes true for those with a pair that stands in the way, infeasible or nearer than the law wants a
 * trial to be. Of groups that are refused not every pair is looked at, and friction of no pair when there is one.
 * false: some are. All of refused is set. Poses, moves: one a link; groups must be below group_count. Returns false
 * where at least one group is refused; the accepted state is what it was then. Allocates nothing. */
bool contact_try(ContactSystem* system, const Pose* poses, const bool* moves, const int* groups, int group_count,
                 bool* refused);
/* One candidate pair in the accepted and in the trial state. */
typedef struct {
  int link_a, link_b;
  bool coupled;  /* it has terms in the accepted state: its links move together in Newton's model */
  bool feasible; /* in the trial state, and not nearer there than the law wants a trial to be */
  double change; /* energy of the trial state less that of the accepted one [J] */
} ContactTrial;
/* After contact_evaluate or contact_try; candidate: a number below contact_candidate_count. A number from there on
 * is undefined, not checked. Copied out; of a pair that sleeps the trial is its accepted state. */
ContactTrial contact_trial(const ContactSystem* system, int candidate);
/* Change of energy of one of contact_awake_count pairs in a feasible trial [J], and its links. index: below
 * contact_awake_count. Asserts that the last trial was feasible. Copied out; nothing is allocated. */
double contact_awake_change(const ContactSystem* system, int index, int* link_a, int* link_b);
/* Rounding of the energies of all pairs with terms, and that of one of contact_term_count, once it is found: clearances
 * are differences of coordinates [J]. Of the accepted state; cannot fail, allocates nothing. */
void contact_find_rounding(ContactSystem* system);
/* Of the term `index` [J], as contact_find_rounding found it last; below contact_term_count. Undefined for an index
 * beyond, or before contact_find_rounding; not asserted. */
double contact_term_rounding(const ContactSystem* system, int index);
/* Sum of the pair energies of the accepted state [J]; friction without its constant. Both are set, summed over the
 * candidates in their order. Cannot fail; 0 when there are no candidates. Allocates nothing. */
void contact_energy(const ContactSystem* system, double* contact, double* friction);
/* That of contact without what impacts take in this step: the energy that is stored (impact.md, I4) [J]. Equal to
 * the first of contact_energy under laws without impacts. Cannot fail, allocates nothing. */
double contact_stored(const ContactSystem* system);
/* The trial becomes the accepted state, with forces and Hessians of all pairs that have terms. Asserts that its
 * evaluation returned true; the state that was accepted before is lost. Every pointer that contact_term has handed
 * out is invalid then. Allocates nothing. */
void contact_accept(ContactSystem* system);
/* Take planes, forces and positions of the accepted state as the ones friction rests on (time t of SDRS Eq. 8-12), and
 * evaluate the accepted state again with them. Allocates when more pairs are pressed than ever before. Returns false
 * where a plane is not found again: the step fails. Asserts that contact_reset or contact_pass_state was called.
 * contact_accept must not follow then. */
bool contact_lag(ContactSystem* system);
/* Friction rests on the accepted state's own forces: for the laws that can (ContactLaw.relag), planes, forces and
 * positions of the accepted state replace those of contact_lag, slip still counts from the poses of contact_lag, and
 * the state is evaluated again. Returns false as contact_lag does. Allocates alike. Asserts that some law can. */
bool contact_relag(ContactSystem* system);
/* Is no force that friction rests on off by more than `tolerance` of the largest from that of the accepted state? Of
 * laws that can relag; true of others. links: the two with the largest change, NULL: not needed. Allocates nothing. */
bool contact_friction_settled(const ContactSystem* system, double tolerance, int links[2]);
/* Forget and re-enter at given poses[links], which are copied: the start of a run. Returns false where hulls
 * intersect. Drops the candidates there were. Allocates. After false no pair has terms. */
bool contact_reset(ContactSystem* system, const Pose* poses);
/* Of the accepted state what its poses do not tell: how hard its pairs were pressed on the way there. */
typedef enum { CONTACT_STEP, CONTACT_PART } ContactMemory; /* there are two to be remembered at a time */
/* Copied into the system, over what was remembered there before. Allocates when there are more candidates than ever
 * before. No error under laws that keep nothing: returns at once. */
void contact_remember(ContactSystem* system, ContactMemory which);
/* What an impact makes of the force of candidate `index` in the accepted state, when a step of length dt has led there
 * from the state of contact_remember(CONTACT_STEP). Without unit; 1: it is not pressed, or its law takes nothing.
 * rest_speed [m/s], dt [s]. index must be below contact_candidate_count (not asserted); nothing is allocated. */
double contact_impact_factor(const ContactSystem* system, int index, double rest_speed, double dt);
/* After contact_reset at the poses of contact_remember. Pairs that were not pressed then keep what they have. Allocates
 * nothing. Cannot fail; pairs that are new since then keep what they have. */
void contact_recall(ContactSystem* system, ContactMemory which);

/* ---- impacts (contact/impacts.c; docs/derivations/impact.md, I9, I10) */
/* True if the substep that begins in the accepted state, after one of length dt_before [s], belongs to an impact.
 * Cannot fail. */
bool contact_impact_begins(ContactSystem* system, double dt_before);
/* A pair of hulls and how far it is from where its impact begins, without unit: at a substep's begin (> 0) and at its
 * end. */
typedef struct {
  int hull_a, hull_b;
  double before, after;
} ContactEntry;
/* Of the accepted state, which a substep of length dt has led to from the poses `begin`, and would have to `aim`
 * without contact (links): the pair whose impact began first in it. Pairs that begin one at the end remember their
 * speed of approach. False: none began before the end. The arrays must have an entry for every link, and dt must be >
 * 0; neither is asserted. */
bool contact_impact_entry(ContactSystem* system, const Pose* begin, const Pose* aim, double dt, ContactEntry* entry);
/* How far this pair of hulls is from where its impact begins, in the accepted state, without unit: negative beyond. */
double contact_impact_ahead(ContactSystem* system, int hull_a, int hull_b);
/* After contact_impact_entry: has the part ended an approach? false under laws that resolve no impacts. Of all
 * candidates; cannot fail, allocates nothing. */
bool contact_struck(ContactSystem* system);
/* Does a pair press as one does that still approaches faster than the rest speed? false alike. Of all candidates;
 * cannot fail, allocates nothing. */
bool contact_pressed(ContactSystem* system);
/* After contact_impact_entry: does a pair press no more that did when the part began? false alike. Of all candidates;
 * cannot fail, allocates nothing. */
bool contact_lets_go(ContactSystem* system);

/* ---- friction of a run's first step (contact/grip.c; docs/derivations/friction.md, F6, F7): it is solved without
 * friction first, and pairs rub by the forces that this leaves */
/* Does a pair press in the accepted state that can rub? */
bool contact_begins_rubbing(const ContactSystem* system);
/* How pairs rub from the next contact_lag on: by the force there; not at all; or by as much of it as the forces say
 * that contact_note_forces has found at both ends of the solve without friction. */
typedef enum { GRIP_FULL, GRIP_NONE, GRIP_FOUND } ContactGrip;
void contact_set_grip(ContactSystem* system, ContactGrip grip);
/* Pairs as contact_record has them, and the force of each on its first link, world axes [N]. */
typedef struct {
  const struct ContactRecord* records;
  const Vec3* force; /* (count) */
  int count;
} ContactForces;
/* Of the accepted state, with friction off: where the solve begins (after contact_lag), and where it ends. Copied into
 * the system; allocates while the candidates grow in number. */
typedef enum { CONTACT_START, CONTACT_END } ContactEnd;
void contact_note_forces(ContactSystem* system, ContactEnd end);
/* Borrowed until it is noted again. */
ContactForces contact_noted_forces(const ContactSystem* system, ContactEnd end);
/* The part of its start's force that a pair of items (hulls, or links after them) rubs by, and its derivatives by the
 * sizes of two forces [1/N], those of the records `start` and `end`; -1: by none. */
typedef struct {
  double value, by_start, by_end;
  int start, end;
} ContactGripSlope;
ContactGripSlope contact_grip_found(const Model* model, const ContactForces* start, const ContactForces* end,
                                    int item_a, int item_b);

/* What the system knows between two steps, through a block (contact/snapshot.c): all that contact_lag and the steps
 * after it depend on, and what contact_force, contact_energy, contact_gap and contact_record say of the accepted state;
 * Hessians only from the next contact_lag on. poses[links]: of the accepted state, needed to read. A block is for
 * systems of the same model; one that is not fails. Ways (contact_way_begin) begin anew. Reading allocates, and copies
 * the poses. */
void contact_pass_state(ContactSystem* system, const Pose* poses, StateBlock* block);
/* The run begins in the accepted state, which was given: what led to its forces has no derivatives. Only pressed pairs
 * with terms; nothing under laws that carry nothing from step to step. Cannot fail; allocates nothing. */
void contact_hold(ContactSystem* system);

/* Where a path has a link at alpha in [0, 1]: sets the poses of the link and of those that carry it up to `from`, which
 * is set already (-1: of all that do) and no others. poses (links), world frame [m]. */
typedef void (*ContactPath)(void* context, double alpha, int link, int from, Pose* poses);
/* Prove that nothing passes through anything between the accepted poses and the trial poses along the path
 * poses_at(context, alpha, ...), which moves links within `bounds`. Adds to *intervals the pieces of
 * path looked at; *failure is set when it returns false. docs/derivations/certificate.md. */
typedef struct {
  int candidate;
  double alpha; /* where the search ended */
  bool meet;    /* the hulls meet there; else the halvings were used up without a proof */
} ContactFailure;
/* Asserts that the trial is feasible. Returns false where a proof is missing; pairs that sleep count as one piece
 * each. failure counts only when false is returned; it is written to either way. Allocates nothing; poses_at is
 * called from one thread. */
bool contact_certify(ContactSystem* system, const MotionBounds* bounds, ContactPath poses_at, void* context,
                     int* intervals, ContactFailure* failure);
/* A way of several accepted states begins at the present one: remember what the pairs are here. Of all candidates;
 * those that enter later have no mark. Allocates nothing. */
void contact_way_begin(ContactSystem* system);
/* The same proof for another path that leads to the accepted state: is it shown, with fewer halvings than
 * contact_certify has, that nothing meets on it? remembered: it comes from where the way begins. Changes nothing.
 * Allocates while pairs that are not listed grow in number. false is no proof of a collision, only that none was
 * found that there is none. */
bool contact_certify_arrival(ContactSystem* system, const MotionBounds* bounds, ContactPath poses_at, void* context,
                             bool remembered);
/* Candidate `index` in the trial state, along the direction that parts the hulls best in the accepted one. */
typedef struct {
  int link_a, link_b;
  Vec3 axis, at; /* unit, from a to b, in world axes; the point of a that is farthest along it [m] */
  double gap;    /* of the trial state along the axis; negative: the hulls overlap by so much [m] */
  double before; /* distance in the accepted state, or a lower bound [m] */
} ContactSqueeze;
/* A pair of links has gap and before INFINITY. index must be below contact_candidate_count and a trial evaluated;
 * neither is asserted. Copied out. */
ContactSqueeze contact_squeeze(const ContactSystem* system, int index);

/* How many pairs have terms in the accepted state, in a fixed order. Known since the last contact_accept,
 * contact_lag or contact_reset; asking allocates nothing and cannot fail. */
int contact_term_count(const ContactSystem* system);
/* Gradient [N, N m] and Hessian (12 x 12) of the pair [index] of these; its pointers hold until the next
 * contact_accept. index: below contact_term_count. Owned by the system, not to be freed. An index beyond is
 * undefined. */
ContactTerms contact_term(const ContactSystem* system, int index);

/* Terms of whoever holds some: a ContactSystem, or a ContactReplay. Zeroed: none. */
typedef struct {
  const void* holder;
  int (*count)(const void* holder);
  ContactTerms (*at)(const void* holder, int index);
} ContactTermList;
/* Of the accepted state; owned by the system. NULL: an empty list. Its numbers hold until the next
 * contact_accept. */
ContactTermList contact_term_list(const ContactSystem* system);
/* Newton's model of pairs that are pressed together far more than they will be (docs/derivations/step.md, S11).
 * twist[links]: (w, v) of every link about its centre of mass under the Newton step from the accepted state. Where the
 * step takes away more than a third of a pair's normal force, the pair's terms in contact_model_list are those of a
 * spring through the force that the step leaves. Sets of every link (of a part: of its own) whether it has such a pair
 * (links); returns how many pairs that are. twist is (links x 6) [rad, m]; 0 under laws without such a model. twist and
 * relieved must have an entry for every link. Returns 0 where nothing was relieved; cannot fail, allocates nothing. */
int contact_relieve(ContactSystem* system, const double (*twist)[6], bool* relieved);
/* Adds to the force of every pair that bounces its change under the twists, to first order: W' += W'' dU. Friction of
 * the next substep rests on it (impact.md, I13). twist: as above, of the step that Newton's method would take next
 * (links x 6) [rad, m]. Poses stay. Cannot fail, allocates nothing. */
void contact_refine(ContactSystem* system, const double (*twist)[6]);
/* As contact_term_list, with what contact_relieve made of it. NULL: an empty list. Borrowed from the system as that
 * list is. */
ContactTermList contact_model_list(const ContactSystem* system);
/* Replace the Hessian of every pair in the accepted state by the nearest positive semidefinite one: of those with a
 * link that is asked for: links[link], NULL: all. */
void contact_project(ContactSystem* system, const bool* links);
/* ---- parts of a scene that are solved by themselves (contact/part.c; docs/derivations/step.md, S17): trees of joints
 * that cannot come within reach of any other as long as all links stay in their regions */

/* Room for that. false: under the model's laws it cannot be. Allocates; freed with the system. */
bool contact_parts_create(ContactSystem* system);
/* The region of every link: where it stands in the accepted state and where `aim` (links) has it, with a margin. The
 * list of candidates grows to what covers that. Links whose regions are within reach of each other belong together:
 * joins their trees in sets (trees). Allocates while the list grows. */
void contact_parts_find(ContactSystem* system, const Pose* aim, int* sets);
/* A system for parts of `whole`, whose pairs and states it works on: its own are lists alone. thread: of the workspaces
 * that it may use. Freed with contact_part_destroy. */
ContactSystem* contact_part_create(const ContactSystem* whole, int thread);
/* Frees the part, not what it shares; NULL is accepted. */
void contact_part_destroy(ContactSystem* part);
/* Before contact_part_begin, and after what changes `whole`: the part sees what it is. Not beside others that change
 * it. */
void contact_part_attach(ContactSystem* part, const ContactSystem* whole);
/* The candidates of every part, one part after the other: of (trees) tells a tree's part, -1: none. The list
 * must not change before contact_parts_end. Allocates while lists grow. */
void contact_parts_list(ContactSystem* system, const int* of, int part_count);
/* From here on `part` is the part of this number, in the state that `whole` has accepted: all that its verbs do
 * concerns these links (ascending) and the pairs that touch them. Beside parts of other numbers. Allocates while lists
 * grow. */
void contact_part_begin(ContactSystem* part, const ContactSystem* whole, int number, const int* links, int count);
/* Do all moving links stay in their regions, and their hulls in the boxes that the list of candidates was made from, on
 * the way within `bounds` from the accepted to the trial state? */
bool contact_part_stays(const ContactSystem* part, const MotionBounds* bounds);
/* The state that the part has accepted becomes the trial of `whole`. */
void contact_part_end(ContactSystem* part, const ContactSystem* whole);
/* After all parts: that trial becomes the accepted state of the whole, in which links of no part stand where they
 * stood. begin: where all stood before (links). Allocates nothing. */
void contact_parts_end(ContactSystem* system, const Pose* begin);

/* How many candidates there are: pairs that may touch during this step, for the sparsity pattern. Since the last
 * contact_prepare; asking cannot fail and allocates nothing. */
int contact_candidate_count(const ContactSystem* system);
/* Sets both links of the candidate `index`, below contact_candidate_count. link_a and link_b must not be NULL; an
 * index beyond is undefined, not checked. Allocates nothing. */
void contact_candidate(const ContactSystem* system, int index, int* link_a, int* link_b);
/* A number that changes whenever the list of candidates does: what was computed from the list is invalid then. It only
 * grows. */
int contact_version(const ContactSystem* system);
/* How many candidates press in the accepted state. Goes through all candidates. 0 is no error: nothing touches.
 * Allocates nothing. */
int contact_active_count(const ContactSystem* system);

/* Exact gap (GJK) of candidate `index` in the accepted state [m], or a lower bound above the contact range. INFINITY of
 * hulls whose links' own pair, a candidate too, tells for all of them. Updates the pair's GJK cache, allocates nothing.
 * An index from contact_candidate_count on is undefined, not checked. */
double contact_gap(ContactSystem* system, int index);
/* The same in the trial state, always exact. Asserts that there is a trial. An index from contact_candidate_count on
 * is undefined, not checked. Allocates nothing. */
double contact_trial_gap(ContactSystem* system, int index);
/* Sets the total force of candidate `index` on its second link [N], zero when it exerts none: returns false then.
 * World axes; on the first link it is the opposite. false is no error. Allocates nothing. */
bool contact_force(const ContactSystem* system, int index, Vec3* force_on_b);

/* Where and how it acts on its second link, in world axes: force [N], torque about the world's origin [N m], and the
 * centre of pressure on the pair's plane, about which the torque is normal to the plane [m]; press: size of the force
 * along the plane's normal [N]. Laws of many distances say themselves where they press (ContactLaw.center: the mean by
 * force), press then is the sum of sizes. What only rubs without a plane has the reference of a body, and press 0. */
typedef struct {
  Vec3 force, torque, point;
  double press;
} ContactWrench;
/* Of candidate `index` in the accepted state; force, torque and press are 0 where it exerts none. index: below
 * contact_candidate_count. N, N m, m; nothing is allocated. A larger index is undefined, not checked. */
ContactWrench contact_wrench(const ContactSystem* system, int index);

/* Wall time spent in contact, friction and broad phase since creation [s]. */
typedef struct {
  double broad_phase, contact, friction;
} ContactTimes;
/* share: of the times that are added. */
void contact_add_times(ContactSystem* system, ContactTimes times, double share);
/* Clock time: it differs from run to run, and no result depends on it. Copied out; cannot fail. */
ContactTimes contact_times(const ContactSystem* system);

/* ---------------------------------------------------------------- a run kept (contact/replay.c) */

/* All that must be kept of a pair in an accepted state to have its derivatives again later. */
enum { CONTACT_KEPT_NUMBERS = 40 };
typedef struct ContactRecord {
  int hull_a, hull_b;                /* a half-space is always b */
  bool active;                       /* the hulls press on each other: the next step's friction rests on it */
  bool rubbing;                      /* friction acts between them */
  bool own_force;                    /* it rests on this state's own force (contact_relag), else on the state before */
  double grip;                       /* it does so by this part of the force there: 1 but in a run's first step */
  double kept[CONTACT_KEPT_NUMBERS]; /* what the law wants to know again */
} ContactRecord;
/* What contact_record will tell of: called before it, and before it is asked how many candidates there are. It may grow
 * the list, which allocates; nothing under laws where each pair of hulls stands for itself. Cannot fail; the list's
 * contact_version changes when it grew. */
void contact_find_records(ContactSystem* system);
/* Of the accepted state, before contact_lag moves on; records has room for contact_candidate_count. Returns how many.
 * Skips pairs that neither press nor rub. Allocates nothing. Records beyond that room would be written unchecked:
 * contact_find_records must have come first. */
int contact_record(const ContactSystem* system, ContactRecord* records);

/* The pairs of one recorded step from t to t + dt: their terms again, and the derivative of
 *   Phi = sum over pairs and both links of  dE/d(twist) . (w, v)                                                (A4)
 * with respect to everything else that E depends on, for given twists. docs/derivations/adjoint.md. */
typedef struct ContactReplay ContactReplay;
/* Borrows the model; freed with contact_replay_destroy. threads: below 1 counts as 1. Never NULL. Until
 * contact_replay_load returns true there is nothing to ask it for. */
ContactReplay* contact_replay_create(const Model* model, int threads);
/* Frees it and all that it owns; NULL is accepted. */
void contact_replay_destroy(ContactReplay* replay);
/* Poses (links) and records at t and at t + dt; borrowed until the next call. false: a plane or slip was not found. */
typedef struct {
  const Pose* pose;
  const ContactRecord* records;
  int count;
  int64_t number; /* of the state in its run, > 0: by which the step before is known to go on from the one loaded last,
                     wherever poses and records stand; else it is known by where they stand */
} ContactMoment;
/* Forget what was loaded: the next step belongs to another run. Frees nothing: the room of earlier records stays.
 * Cannot fail. */
void contact_replay_begin(ContactReplay* replay);
/* Length of the steps loaded from now on [s]; at first that of the scene. dt must be > 0, which nobody asserts. */
void contact_replay_set_dt(ContactReplay* replay, double dt);
/* The poses of contact_set_aim in the steps loaded from now on, and where contact_replay_adjoint adds the derivatives
 * by their entries (links). Both borrowed; NULL, as at first: not known. */
void contact_replay_set_aim(ContactReplay* replay, const Pose* aim, double (*bar)[3][4]);
/* Loads the step from `now` to `next`. Steps that come one before the other load a state once. false: a plane or slip
 * was not found again; terms are not to be asked for then. Allocates while records grow. Both moments are borrowed
 * until the next load: their records[count] and pose[links] must live as long. */
bool contact_replay_load(ContactReplay* replay, const ContactMoment* now, const ContactMoment* next);
/* Terms at t + dt of the step that is loaded; owned by the replay, until the next load. Never NULL inside; empty
 * before the first load. */
ContactTermList contact_replay_terms(const ContactReplay* replay);
/* The same for a run that is gone through forwards: what was loaded as `next` is `now`. Steps must come from the first
 * to the last; false as above. Allocates while records grow; moments are borrowed as of contact_replay_load. Returns
 * false alike. */
bool contact_replay_load_forward(ContactReplay* replay, const ContactMoment* now, const ContactMoment* next);
/* What pairs hand from step to step besides their bodies' poses, some numbers a pair, and their derivatives: none at
 * t + dt but for one number of one pair (-1: none); and those at t, in the order of its records (count x numbers).
 * contact_replay_carried: how many numbers a pair has, the same for all laws. Cannot fail, allocates nothing. */
int contact_replay_carried(const ContactReplay* replay);
/* pair: index into the records at t + dt, or -1; number: below contact_replay_carried. Overwrites what the step after
 * has handed on. Indices beyond those are undefined, not checked. Allocates nothing. */
void contact_replay_seed_carry(ContactReplay* replay, int pair, int number);
/* out (records at t x contact_replay_carried, row-major); set. The caller owns out, and its length is not checked.
 * Allocates nothing. */
void contact_replay_read_carry(const ContactReplay* replay, double* out);

/* Evaluates the pairs that are loaded once more, for another length of the step: after contact_replay_set_dt.
 * ratio_change: of the force_ratio of contact_set_part, from that of the record. Allocates nothing. */
void contact_replay_refresh(ContactReplay* replay, double ratio_change);
/* The pair of hulls at whose potential U a step ends (impact.md, I10): forces and torques about the centres of mass by
 * which U grows with the motion of its links at t + dt, world axes [1/m^2, 1/m]. Those of a half-space act at its own
 * link. */
typedef struct {
  int index; /* of the pair */
  int link[2];
  Vec3 force[2], torque[2];
} EventTerms;
/* False: the pair is not among those loaded, or its law has no events. Allocates nothing. */
bool contact_replay_event(const ContactReplay* replay, int hull_a, int hull_b, EventTerms* event);
/* Adds to wrench[links] (torque about the centre of mass, force) the derivatives by the motion of links at t + dt of
 * what rests on the loads that pairs hand on from there: those that the step after this one, or
 * contact_replay_seed_carry, has set. False: there are none. Allocates nothing. */
bool contact_replay_loads(const ContactReplay* replay, double (*wrench)[6]);
/* A scalar that grows by nu [m] times U, less U where impacts begin: its derivatives by vertices and by half-spaces
 * join those of the next contact_replay_adjoint; that by the support is added to gradient. */
void contact_replay_seed_event(ContactReplay* replay, const EventTerms* event, double nu, ModelGradient* gradient);
/* Derivatives by the lengths of the step and of the one before that contact_replay_adjoint found last, of laws that
 * rest on them [1/s]: by dt those of the load that the pairs hand on, else by dt_before. */
typedef struct {
  double dt, dt_before;
} ContactLengths;
ContactLengths contact_replay_lengths(const ContactReplay* replay);

/* The force of link `other` on `link`, of all their hulls. */
typedef struct {
  int link, other;
} ForcePair;
/* Derivatives of a scalar by such forces [1/N]. Borrows both. */
typedef struct {
  const ForcePair* pairs;
  const Vec3* slope; /* (count) */
  int count;
} ForcePairSlopes;

/* Twists (w, v) of every link about its centre of mass at t + dt (NULL: zero), and derivatives by total contact forces:
 * a scalar that grows by force[i] . (change of the contact force on link i) (NULL: none), and by pair[k] . (change of
 * the force of pair k, in the order of contact_replay_terms, on its first link) (NULL: none), and by forces between
 * links. */
typedef struct {
  double (*twist)[6]; /* (links) */
  const Vec3* force;  /* (links) */
  const Vec3* pair;   /* (pairs) */
  ForcePairSlopes between;
} ContactField;
/* Adds the derivatives of Phi + sum force . (contact forces): with respect to poses at t as 3x4 matrices, entry by
 * entry (links), to the poses of half-spaces at t + dt alike, which the terms leave out (ground_next, links), to hull
 * vertices in link frames and to the contact parameters (gradient: vertices, contact). Only after a load that
 * returned true. The caller zeroes what is added to, or goes on adding; nothing is allocated. */
void contact_replay_adjoint(ContactReplay* replay, const ContactField* field, double (*pose_now)[3][4],
                            double (*ground_next)[3][4], ModelGradient* gradient);
/* Does friction of a pair that is loaded rest on its own force (ContactRecord.own_force)? Cannot fail. */
bool contact_replay_rests_on_own(const ContactReplay* replay);
/* Friction of such pairs depends on the poses at t + dt through its own force, too, which the Hessians of the terms
 * leave out. Adds the derivatives that the last contact_replay_adjoint found by these poses, 3x4 matrices, to
 * bar[links]. */
void contact_replay_own_bars(const ContactReplay* replay, double (*bar)[3][4]);
/* What contact_replay_adjoint found last as derivative by ContactRecord.grip of the pair [index] of the records at t +
 * dt. index: below their count. Valid until the next load. */
double contact_replay_by_grip(const ContactReplay* replay, int index);
/* Change of the terms' torque and force on every link while the links move by the twists of the field: the pairs'
 * Hessians times the field, added to wrench (torque about the centre of mass, force) (links). Nothing for half-spaces.
 * wrench is (links x 6) [N m, N], as ContactField.twist [rad, m]. The caller zeroes wrench, or goes on adding; it
 * must have an entry for every link. Cannot fail, allocates nothing. */
void contact_replay_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

/* `sdrs bench pair`: CSV of nanoseconds per evaluation against vertices (random hulls at contact range). Written to
 * `out`, which stays open; the same hulls at each call. Allocates and frees for itself. Writing errors are the
 * caller's to look for (ferror). */
void contact_bench_pair(FILE* out);
/* `sdrs bench pair --law NAME`: CSV of law, vertices of either hull, nanoseconds of contact and of friction (value,
 * gradient and Hessian each, one thread, processor time), hulls 8 mm apart that feel each other from 20 mm on.
 * Allocates and frees. false: a scene for the bench was not made. Stops at the row that failed; the rows before it
 * stand in `out`. 7 rows. */
bool contact_bench_law(FILE* out, ContactModel model);

/* ---------------------------------------------------------------- nearness at given poses (contact/spots.c) */

/* Two hulls nearer than was asked for. World frame. */
typedef struct {
  int hull_a, hull_b; /* a half-space is always b */
  double gap;         /* m */
  Vec3 normal;        /* unit, from a to b: of their plane */
  Vec3 point;         /* on the plane: where contact presses, else the middle of the closest points */
  double pressure;    /* of the contact, without friction [N] */
  bool touching;      /* contact presses */
} ContactSpot;

/* All pairs of hulls that may touch (model_pair_allowed), do not intersect and are nearer than `range` [m] with the
 * links at `poses` (links), in the order of the hulls; half-spaces against each other are left out. Returns how many;
 * the caller frees *spots. Never fails. */
int contact_spots(const Model* model, const Pose* poses, double range, ContactSpot** spots);
/* Where two links press on each other: the mean over their hulls by pressure; without any, where they are nearest.
 * False when no hulls of theirs are among the spots. point: world [m], set only when true is returned. count: of the
 * spots. The list stays the caller's; nothing is allocated. false leaves point as it was, which is no error. */
bool contact_spots_center(const Model* model, const ContactSpot* spots, int count, int link_a, int link_b, Vec3* point);

/* ---------------------------------------------------------------- one pair, without a scene (sdrs query) */

/* Contact potential of two convex point sets in world coordinates with stiffness 1 and its gradient at every vertex.
 *   U = min_{n,o} W(1 - |n|) + sum_m P_s(c_m),   c_m = sigma (n . x_m + o), sigma = -1 for a, +1 for b        (C1)
 * support s [m]. plane = (nx, ny, nz, o), a on its negative side. grad_a (a_count), grad_b (b_count): dU/dx_m.
 * support INFINITY: the long-range law's potential of two pieces instead (docs/derivations/law-long_range.md, N1).
 * Returns false when the hulls intersect (nothing but distance = 0 is set then). Zero potential leaves the plane at the
 * middle of the witness points. */
typedef struct {
  double distance;
  Vec3 witness_a, witness_b;
  double potential;
  double plane[4];
} ContactQuery;
/* false: the hulls meet, or it was not found. Allocates and frees; all of result and the gradients is zeroed first.
 * distance [m], witnesses in world axes [m]. */
bool contact_query(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                   Vec3* grad_a, Vec3* grad_b);
/* The same of the mesh contact (law ipc; docs/derivations/law-ipc.md, N19, N21), support its D [m]: potential [m^2] and
 * gradients of the distances of the hulls' corners, edges and triangles; of three points of a triangle, of more that
 * are flat of their fan. The plane is the middle of the closest points. Allocates; false as above. */
bool contact_query_mesh(const Vec3* a, int a_count, const Vec3* b, int b_count, double support, ContactQuery* result,
                        Vec3* grad_a, Vec3* grad_b);

#endif
