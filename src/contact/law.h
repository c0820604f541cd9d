/* Private to contact/: the interface of a contact law. A law is one file, law_<name>.c, with one row, LAW_<name>, in
 * laws.c. The system (system.h) finds neighbouring hulls and holds two states of every such pair, the accepted one and
 * a trial. The replay (replay.c) processes recorded steps backwards. The law computes the value of a trial, the
 * derivatives of an accepted state, the friction reference of the next step (the lag), and the same with reverse
 * derivatives for recorded pairs. It receives one pair at a time and calls nothing back, so pairs are processed in
 * parallel. Data of the scene are built by `create`. Data of a pair are in memory that the system holds, zeroed when
 * the pair is new. For a pair that is active, lagged or has terms, this memory and that of the accepted state are part
 * of a stored state (`pass`); for others they are undefined. Pointers in them are valid until the next lag. */
#ifndef SDRS_CONTACT_LAW_H
#define SDRS_CONTACT_LAW_H

#include "contact/hierarchy.h"
#include "contact/pair.h"
#include "scene/schema.h"

/* A pair in one state. */
typedef struct {
  void* law;                    /* of ContactLaw.create, or ContactLaw.instance */
  int thread;                   /* number of the workspace to use */
  int item[2];                  /* numbers of hulls; from Model.hull_count on, of links (ContactLaw.links) */
  const HullInstance *a, *b;    /* hulls at their poses; a half-space is b */
  Vec3 reference[2];            /* reference points of twists: the links' centres of mass [m] */
  const Pose* aim[2];           /* expected poses of the links at the end of the step; NULL: unknown */
  const RollShift* shift[2];    /* of the links (roll_shift.h); NULL: zero */
  const PairMaterial* material; /* friction times `grip` */
  double grip;                  /* 1 except in a run's first step (friction.md, F6) */
  GjkCache* gjk;
  void* memory; /* memory of the pair (ContactLaw.pair_size) */
  bool lagged;  /* active at the last `lag` */
  int which;    /* number of the state, 0 or 1 */
  PairState* state;
  PairDerivatives* derivatives; /* of the state, stiffness included; set by `derive` */
  void* own;                    /* the law's data of the state (ContactLaw.state_size) */
} LawPair;

/* The accepted state from which a trial starts. */
typedef struct {
  const PairState* state;
  const void* own;
  const double* twist[2]; /* motion of the links since then: rotation vector, displacement [rad, m] */
  bool stays;             /* neither link has moved */
  bool follows;           /* evaluated with the same friction reference */
  bool begins;            /* the run starts in this state: there is no history */
} LawOrigin;

/* A recorded pair of the step from t to t + dt. */
typedef struct {
  void* law;
  int thread;
  const ContactRecord* record; /* at t + dt */
  const PairMaterial* material;
  const PairBody *now, *next; /* (2); now NULL: not active at t */
  const PairBody* solve; /* (2) bodies in the previous solve of the step, if friction depends on its force; NULL: not
                            active there */
  Pose begin[2];         /* poses of both bodies at t */
  const Pose* aim[2];    /* as LawPair.aim */
  const RollShift* shift[2]; /* as LawPair.shift */
  const void *own_now, *own_next, *own_solve;
  void* memory;   /* (ContactLaw.replay_size) */
  void* vertices; /* memory of ContactLaw.vertex_size for every vertex of both hulls */
  bool apart;     /* `replay` leaves the Hessian that `slip_product` multiplies out */
} LawReplay;

/* Trees of two links with many pieces, whose pair represents the pairs of their hulls: distance and proof are found in
 * the trees (whole.c). Pairs of hulls are listed only for friction, from one lag to the next, if r < spread (R_a +
 * R_b), with r the distance of the centres of their bounding spheres and R their radii. */
typedef struct {
  const BodyTree *a, *b;
  double spread; /* 0: no friction */
} PieceTrees;

typedef struct ContactLaw {
  const char* name;
  const SchemaRow* parameters; /* rows of `contact`, read into SceneContact; `only` names the law and "none" */
  int parameter_count;
  int own_count;            /* number of entries of SceneContact.own that its rows fill */
  bool once_differentiable; /* gradients of runs have kinks, at which finite differences cannot check them */
  bool shapes;              /* uses smooth shapes exactly, without triangles */
  bool round;               /* uses round solids exactly: HullInstance.rounding */
  bool directions;          /* supports direction-dependent and static friction */
  bool overlaps; /* no barrier: bodies may overlap, the gap is PairState.separation, there is no certificate */
  /* Returns why the law does not support a piece, as the end of a sentence; NULL: it does. NULL: supports all. */
  const char* (*refuses)(const ModelHull* hull);
  bool links; /* all pairs of links that may touch are pairs as well, as items after the hulls (system.h) */
  size_t pair_size, state_size, kept_size;      /* bytes: of a pair, of each of its states, of the data of `keep` */
  size_t moment_size, replay_size, vertex_size; /* bytes: of a recorded pair in a state, in a step, per vertex */
  int vertex_shares;                            /* largest number of shares per vertex that `reverse` sets */
  size_t link_vertex_size;                      /* the same for pairs of links */
  int link_vertex_shares;

  /* ---- the scene */
  /* Creates the law's data for a model. tolerance: relative tolerance of steps (0: as exact as possible). */
  void* (*create)(const Model* model, int threads, double tolerance);
  void (*destroy)(void* law);
  void (*set_dt)(void* law, double dt);
  /* Sets the length of the substep before [s], and the duration of force action in it over that in this one. NULL: not
   * used. */
  void (*set_part)(void* law, double dt_before, double force_ratio);
  /* Returns the distance from which on two hulls exert no force on each other [m]; INFINITY: all pairs are candidates.
   */
  double (*range)(const Model* model);
  /* Returns true if the pair of these links is a pair of items (links). NULL: all are. */
  bool (*pairs_links)(const void* law, int link_a, int link_b);
  /* Returns true if the pair of these links represents all pairs of their hulls, and sets their trees. NULL: never. */
  bool (*whole)(const void* law, int link_a, int link_b, PieceTrees* trees);
  /* Returns the distance by which a hull's box is extended in the search for pairs [m]. NULL: half the range. */
  double (*reach)(const void* law, int hull);
  /* Returns the distance below which a pair of hulls is listed [m], at most the sum of their reaches. NULL: that sum.
   */
  double (*pair_reach)(const void* law, int hull_a, int hull_b);
  /* Returns the force of two bodies that overlap by `overlap` [m], for stiffness 1; own: ModelContact.own. NULL: the
   * stiffness is not derived from an overlap. */
  double (*force_at_overlap)(const double* own, double overlap);
  /* Return the equilibrium of two faces for stiffness 1 (model.h). Both NULL: the stiffness is neither derived nor
   * checked. */
  ContactRest (*rest_under_force)(double support, int n_a, int n_b, double force);
  ContactRest (*rest_at_gap)(double support, int n_a, int n_b, double gap);

  /* Returns LawPair.law, and the first argument of `nearest`, for a pair of these items; called once, when it is
   * listed. NULL: the result of `create`. */
  void* (*instance)(void* law, const int item[2]);

  /* ---- a pair in a trial, called in this order */
  /* Sets outcome, separation, axis, contact_energy, has_terms, and a plane if there is one. Not called for a pair that
   * was inactive and stays out of range. */
  void (*evaluate)(const LawPair* trial, const LawOrigin* from);
  /* Sets friction_energy and has_terms of a lagged pair. Returns false if that failed. NULL: no friction. */
  bool (*evaluate_friction)(const LawPair* trial, const LawOrigin* from);
  /* Returns true if friction acts. NULL: never. */
  bool (*friction_acts)(const LawPair* pair);
  /* Copies the pair's memory of the accepted state to that of the trial; state and `own` are copied already. NULL:
   * nothing to copy. */
  void (*take_over)(const LawPair* trial);
  /* Returns the smallest separation that the line search admits for a trial [m], below which Newton's model is useless.
   */
  double (*nearest)(const void* law, const int item[2], const PairState* accepted);

  /* ---- a pair in the accepted state */
  /* Sets gradient and Hessian, stiffness included, of a state with terms that was evaluated last. */
  void (*derive)(const LawPair* pair);
  /* Returns true if the Hessian has no negative eigenvalues except by rounding. NULL, or false: unknown. */
  bool (*convex)(const LawPair* pair);
  /* Returns the energy error [J] that results from the rounding of a clearance, a difference of coordinates of size
   * `reach`. */
  double (*rounding)(const LawPair* pair, double reach);
  /* Sets the centre of pressure, world [m], and the normal force [N] of a pair that has contact terms. If the function
   * is NULL or returns false, the caller computes both from the pair's plane. */
  bool (*center)(const LawPair* pair, Vec3* point, double* press);
  /* Adds to the friction reference of the next substep the change of the normal force under the twists of the next
   * Newton step (I13). NULL: none. */
  void (*refine)(const LawPair* pair, const double twist_a[6], const double twist_b[6]);
  /* Makes this state the friction reference of the next step. lag_room returns the bytes of `room` for an active pair;
   * `room` is valid until the next lag. `lag` returns how many were used, a multiple of 8. NULL: no reference. */
  size_t (*lag_room)(const LawPair* pair);
  size_t (*lag)(const LawPair* pair, void* room);
  /* Friction that depends on the force in the same state. `loads` sets the normal force that limits friction [N], and
   * its difference from the reference force; where friction pays later what it owes, the sum that it owes when the
   * pair leaves the range. `own_share` returns the weight of friction by the state's own force, whose
   * rest is by the force at t: 0 where the difference of both is negligible, 1 where it is large (friction.md, F14).
   * `relag` sets the reference force of the former as `lag` does, for slip since the poses `begin` of both bodies, and
   * its weight: own_share if `blends`, otherwise 1; SIZE_MAX: unchanged. rests_on returns true if friction by the force
   * of the previous solve of the step acts (own), or that by the force at t. All NULL: friction depends on the state
   * before only. */
  void (*loads)(const LawPair* pair, double* load, double* change);
  double (*own_share)(const LawPair* pair);
  size_t (*relag)(const LawPair* pair, const Pose begin[2], bool blends, void* room);
  bool (*rests_on)(const LawPair* pair, bool own);
  /* Sets the account of friction in the last substep (friction.md, F14). NULL: none. */
  void (*account)(const LawPair* pair, FrictionAccount* out);
  /* Initializes an active pair at the start of a run. NULL: nothing to do. */
  void (*begin)(const LawPair* pair);
  /* Store and restore the data of an active pair that do not follow from the poses. NULL: there are none. */
  void (*keep)(const LawPair* pair, void* kept);
  void (*recall)(const LawPair* pair, const void* kept);
  /* Passes through a block all of the pair's memory and of the accepted state's `own` that later steps depend on. NULL:
   * both contain only doubles, which are passed whole. */
  void (*pass)(const LawPair* pair, StateBlock* block);
  /* Marks the state as restored: its history has no derivatives. NULL: no history. */
  void (*hold)(const LawPair* pair);
  /* Returns the factor by which an impact scales the force of an active pair, after a step of length dt from `kept`
   * (NULL: inactive before). NULL: 1. */
  double (*impact_factor)(const LawPair* pair, const void* kept, double rest_speed, double restitution, double dt);
  void (*record)(const LawPair* pair, bool rubbing, double kept[CONTACT_KEPT_NUMBERS]);

  /* ---- impacts of pairs in the accepted state (impact.md, I10, I11). All NULL: no impacts. */
  /* True if the substep that begins, after one of length dt_before [s], is one of the pair's impact. */
  bool (*impacts)(const LawPair* pair, double dt_before);
  /* Halves *length [s] of that substep until an impact that begins compresses the pair by at most IMPACT_WAY supports
   * in it. */
  void (*shorten)(const LawPair* pair, double dt_before, double* length);
  /* Returns true if the impact of the pair began in the last substep (impact_enters), and clears the stored approach
   * speed. `approach` stores it [m/s]. */
  bool (*enters)(const LawPair* pair);
  void (*approach)(const LawPair* pair, double speed);
  /* Returns z of the pair's potential, 1 out of range, at the beginning or the end of the substep. */
  double (*clearance)(const LawPair* pair, bool begin);
  /* Return true if the pair ended an approach; if its impact lasts; if it was active when the substep began and exerts
   * little or no force now. */
  bool (*struck)(const LawPair* pair);
  bool (*presses_on)(const LawPair* pair);
  bool (*lets_go)(const LawPair* pair);

  /* ---- two hulls, outside a run */
  /* Sets a separating plane and lower bounds of both clearances [m]. found: distance of the hulls. Returns false if it
   * finds none. NULL: never. */
  bool (*part)(void* law, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
               Plane* plane, double clearance[2]);
  /* Returns true if the hulls exert a force, and then sets normal, point and pressure of the spot. */
  bool (*press)(void* law, const HullInstance* a, const HullInstance* b, const GjkResult* found, ContactSpot* spot);

  /* ---- a recorded pair */
  /* Recomputes the law's data of the state of a record. Returns false if that failed. NULL: nothing to recompute. */
  bool (*revisit)(void* law, int thread, const ContactRecord* record, const PairBody body[2], void* own);
  /* Adds gradient and Hessian at t + dt, stiffness included, to a zeroed `out`. Returns false if that failed. */
  bool (*replay)(const LawReplay* pair, PairDerivatives* out);
  /* Sets the derivatives of the pair's potential with respect to displacement and rotation of both bodies at t + dt
   * (EventTerms). Returns the derivative of the load that the pair carries on (PairCarry.load) with respect to the
   * potential [m]. Only for an active record, after `replay`. NULL: no events, nothing is carried on. */
  double (*potential)(const LawReplay* pair, Vec3 force[2], Vec3 torque[2]);
  /* Sets the derivatives of Phi (A4) for the twists of both bodies, plus those of `carry` times the numbers that the
   * pair carries on from t + dt (PairShares.carry of the step after), for stiffness 1. out is zeroed. */
  void (*reverse)(const LawReplay* pair, const double twist[2][6], const PairCarry* carry, PairShares* out);
  /* Sets wrench to the Hessian of friction times the twists of both bodies, stiffness included, with the products of
   * which `reverse` is made (impact.md, I16): torque and force of both bodies. Only after `replay`. Returns false
   * unless friction over a half-space follows the impulse of an impact; wrench is then undefined. NULL: never. */
  bool (*slip_product)(const LawReplay* pair, const double twist[2][6], double wrench[2][6]);
  /* Returns what friction passes on to the next step (PairCarry.left), at the present force_ratio, for stiffness 1.
   * Only after `replay`. NULL: nothing. */
  double (*left)(const LawReplay* pair);
} ContactLaw;

/* Returns the law of the model; the first law for CONTACT_NONE, for questions of range. Static, never NULL. */
const ContactLaw* contact_law(const Model* model);

/* Returns one row for all laws of a model: the table's row, or, if pairs name laws (Model.pair_laws), one in `room`
 * that delegates to the pair's law (contact/pair_laws.c). room must live as long as the result. Never NULL. */
const ContactLaw* contact_law_by_pair(const Model* model, ContactLaw* room);
/* Returns the law of two links. Static, never NULL. Link numbers are not checked. */
const ContactLaw* contact_law_of_links(const Model* model, int link_a, int link_b);
/* Returns the row of a law. Static. Undefined for an invalid law. */
const ContactLaw* contact_law_named(ContactModel model);

/* A trial may reduce the distance of two bodies to this fraction: nearer, the quadratic model of the force is useless.
 */
#define LAW_NEARER_MOST 0.1
/* ContactLaw.nearest for laws without a range: LAW_NEARER_MOST times the distance, or 0 if it is unknown [m]. */
double law_nearest(const void* instance, const int item[2], const PairState* accepted);
/* ContactLaw.part for laws without a plane of their own: the plane midway between the nearest points. Always true. */
bool law_part_midway(void* instance, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                     Plane* plane, double clearance[2]);

/* Rows that all laws with friction share. LAWS: the words of the laws. */
// clang-format off
#define LAW_FRICTION_ROW(LAWS) \
  {"contact", "friction", VALUE_NUMBER, offsetof(ContactForm, contact.friction), .only = (LAWS), .fallback = "0.5", \
   .range = RANGE_BETWEEN(0, 100), .meaning = "Coulomb coefficient."}
#define LAW_SMOOTHING_ROW(LAWS) \
  {"contact", "smoothing", VALUE_NUMBER, offsetof(ContactForm, contact.smoothing), .only = (LAWS), .unit = "(m/s)^2", \
   .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0), \
   .meaning = "Friction smoothing epsilon; a sticking contact creeps at a small multiple of its root."}
// clang-format on

#endif
