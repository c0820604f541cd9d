/* Private to contact/: the interface of a contact law. A law is one file, law_<name>.c, with one table entry LAW_<name>
 * in laws.c.
 *
 * The system (system.h) finds pairs of neighbouring hulls. It stores two states of each pair, the accepted state and a
 * trial state. The law computes the energy of a trial state and the derivatives of the energy in an accepted state. It
 * also computes the friction reference of the next step (`lag`). The replay (replay.c) processes recorded steps
 * backwards. For recorded pairs, the law computes the same quantities and their adjoint. The law receives one pair at a
 * time and calls no function of the system, so that pairs are processed in parallel.
 *
 * `create` builds the law's data of the scene. The system owns the memory for the law's data of a pair and of the
 * pair's two states. It zeroes this memory when the pair is new. A stored state (`pass`) contains the data of a pair
 * and of its accepted state, if the pair is active, is lagged or has terms. For other pairs, these data are undefined.
 * Pointers in the data are valid until the next call of `lag`. */
#ifndef SDRS_CONTACT_LAW_H
#define SDRS_CONTACT_LAW_H

#include <assert.h>

#include "contact/hierarchy.h"
#include "contact/impact.h"
#include "contact/friction_points.h"
#include "contact/step.h"
#include "scene/schema.h"

typedef struct ContactLaw ContactLaw;

/* Lengths of the present and the previous substep. */
typedef struct {
  double dt;              /* length of the present substep [s] */
  double dt_before;       /* length of the previous substep; 0 if there is none [s] */
  double force_ratio;     /* argument `ratio` of impact_friction_factor (contact_set_substep) */
  ImpactActivity impacts; /* impacts of all pairs in the previous substep */
  bool is_first;          /* argument of contact_set_first */
} LawStep;

/* A pair in one state, as argument of the functions of a law. */
typedef struct {
  const ContactLaw* row;
  void* law;                   /* result of ContactLaw.create */
  const ModelContact* contact; /* contact parameters of the law */
  const LawStep* step;
  int thread;  /* number of the workspace that the law uses */
  int item[2]; /* numbers of the two items: below Model.hull_count the number of a hull, from there on Model.hull_count
                  plus the number of a link (ContactLaw.links) */
  const HullInstance *a, *b;    /* hulls at their poses; a half-space is b */
  Vec3 reference[2];            /* reference points of twists: the links' centres of mass [m] */
  const Pose* aim[2];           /* expected poses of the links at the end of the step; NULL if unknown */
  const RollShift* shift[2];    /* shifts of the links (step.h); NULL: zero */
  const PairMaterial* material; /* coefficients of the pair, without the factor `grip` on friction */
  double grip; /* factor on the friction force; 1 except in the first step of a run (friction.md, F6) */
  GjkCache* gjk;
  void* memory;    /* the law's data of the pair (ContactLaw.pair_size) */
  bool lagged;     /* true if the pair was active at the start of the step */
  bool has_points; /* true if the pair had contact points at the start of the step (ContactLaw.points) */
  /* contact points at the start of the step; none in a restored state (size: point_count) */
  const FrictionPoint* points;
  int point_count;
  int which; /* which of the two stored states of the pair the law processes, 0 or 1 */
  PairState* state;
  PairDerivatives* derivatives; /* derivatives of the state, which contain the stiffness; set by `derive` */
  void* data;                   /* the law's data of the state (ContactLaw.state_size); NULL for a recorded pair */
} LawPair;

/* The accepted state of a pair from which a trial state is evaluated. */
typedef struct {
  const PairState* state;
  const void* data;
  const double* twist[2]; /* motion of the links from this state to the trial: rotation vector, displacement [rad, m] */
  bool stays;             /* true if neither link has moved since the accepted state */
  bool follows; /* true if the accepted state was evaluated with the same friction reference (state at the start of the
                   step) as the trial */
  bool begins;  /* true if the run starts in the trial state, without previous states */
} LawOrigin;

/* A recorded pair of the step from t to t + dt. */
typedef struct {
  const ContactLaw* row;
  void* law;
  const ModelContact* contact;
  const LawStep* step;
  int thread;
  const FrictionPoint* points; /* contact points at t, for laws with ContactLaw.points (size: point_count) */
  PointBar* bars; /* derivatives of Phi, the work of the pair's forces along given twists (adjoint.md, A4), with respect
                     to the contact points; set only while `reverse` runs (size: point_count) */
  int point_count;
  FrictionPoints* room;        /* memory for the contact points; the element `thread` belongs to the calling thread */
  const ContactRecord* record; /* record of the pair at t + dt */
  const PairMaterial* material;
  const PairBody *now, *next; /* bodies at t and t + dt (2); now is NULL if the pair was not active at t */
  const PairBody* solve; /* bodies in the previous solve of the step, if the force of that solve limits friction; NULL
                            if the pair was not active in that solve (2) */
  Pose begin[2];         /* poses of both bodies at t */
  const Pose* aim[2];    /* expected poses of the links at the end of the step; NULL if unknown */
  const RollShift* shift[2]; /* shifts of the links (step.h); NULL: zero */
  const void *data_now, *data_next, *data_solve;
  void* memory;            /* the law's data of the recorded pair (ContactLaw.replay_size) */
  void* vertices;          /* memory for all vertices of both hulls, ContactLaw.vertex_size bytes each */
  bool apart;              /* true if `replay` leaves out the Hessian of friction that the impulse of an impact limits;
                              LawImpacts.slip_product then multiplies with it */
  const ContactWork* work; /* derivatives of a scalar with respect to the members of ContactWork; NULL: zero */
} LawReplay;

/* Friction that the normal force of the same step limits (LawImpacts.current_force). */
typedef struct {
  double load;   /* largest friction force for the present normal force [N] */
  double change; /* difference of `load` from the value of the friction reference [N]. For a pair with an account (F14),
                    the friction force that is lost when the pair leaves the range */
  double share;  /* weight of friction that the normal force of the same step limits; 0 if this force differs negligibly
                    from the force at t, and 1 if it differs much */
  FrictionAccount account; /* account of friction in the last substep (friction.md, F14) */
} StepFriction;

/* Numbers that a recorded pair passes to events and to the next step. force, torque: derivatives of the pair's
 * potential with respect to the motion of both bodies at t + dt (EventTerms). slope: derivative of the impact factor at
 * t + dt (PairCarry.load) with respect to the potential [m]. All three are 0 for a record that is not active.
 */
typedef struct {
  Vec3 force[2], torque[2];
  double slope;
} PairPasses;

/* Quantities of a recorded step from which the pair computes numbers for the next step. They depend on the step
 * lengths at fixed states. displacement: displacement d of the step, which depends on the expected poses (friction.md,
 * F13, F16) [m]. net_limit: ContactRecord.grip * FrictionScale.net_limit, for stiffness 1 and the present force_ratio
 * (F14) [1/m^2]. */
typedef struct {
  Vec3 displacement;
  double net_limit;
} PairTransfer;

/* Trees of bounding spheres of two links with many hulls. The pair of links represents all pairs of a hull of one link
 * and a hull of the other. The certificate and the computation of distances use the trees (whole.c). Pairs of hulls are
 * listed only for friction, from one call of `lag` to the next, and only if r < spread (R_a + R_b). r: distance of the
 * centres of the bounding spheres of both hulls; R_a, R_b: radii of these spheres. */
typedef struct {
  const BodyTree *a, *b;
  double spread; /* factor on R_a + R_b in the distance limit for listed pairs; 0 without friction */
} PieceTrees;

/* Functions of a law that has impacts, and friction that the normal force of the same step limits. */
typedef struct {
  /* ---- a pair in the accepted state */
  /* Sets *out to the impact of the pair in the accepted state (impact.md, I10, I11). Pointers in *out are valid until
   * the next call of `lag`. */
  void (*impact)(const LawPair* pair, PairImpact* out);
  /* Corrects the normal force in the friction reference of the next substep to first order. twist_a, twist_b: motion
   * (w, v) of both bodies in the next Newton step (I13). */
  void (*refine)(const LawPair* pair, const double twist_a[6], const double twist_b[6]);
  /* Sets *out to the normal force of the pair in the accepted state and to its stored energy (step.h). Returns false if
   * the pair exerts no normal force, or if it has restitution. */
  bool (*work)(const LawPair* pair, ContactWork* out);
  /* Returns the factor by which an impact scales the force of an active pair. The step of length dt [s] starts from the
   * state of `kept`; NULL means that the pair was inactive in that state. rest_speed [m/s] and restitution replace the
   * parameters of the pair. */
  double (*impact_factor)(const LawPair* pair, const void* kept, double rest_speed, double restitution, double dt);
  /* Friction that the normal force of the same step limits (friction.md, F8, F14). It is a weighted sum of two friction
   * terms. The force of the previous solve of the step limits the first term, the force at t limits the second.
   * `current_force` describes this friction in *out. `relag` makes the normal force of the accepted state limit
   * friction, as `lag` does. Slip is measured from the poses `begin` of both bodies. The weight of the first term
   * becomes StepFriction.share if `blends` is true, otherwise 1. `relag` returns false if nothing has changed. */
  void (*current_force)(const LawPair* pair, StepFriction* out);
  bool (*relag)(const LawPair* pair, const Pose begin[2], bool blends, void* room);
  /* `keep` writes the data of an active pair that cannot be computed from poses to `kept` (kept_size bytes). `recall`
   * restores these data. */
  void (*keep)(const LawPair* pair, void* kept);
  void (*recall)(const LawPair* pair, const void* kept);
  /* Marks the state of the pair as restored from a file. It then has no derivatives with respect to previous states. */
  void (*hold)(const LawPair* pair);

  /* ---- a recorded pair */
  /* Sets *out to the numbers that the pair passes to events and to the next step. Call only after `replay`. */
  void (*passes)(const LawReplay* pair, PairPasses* out);
  /* Adds to wrench derivatives with respect to the motion of both bodies at t + dt. They result from numbers that the
   * pair computes from the displacement of the step and passes to the next step (PairCarry.elastic, PairCarry.slip).
   * carry: derivatives with respect to these numbers. Returns false if the derivatives are zero. Call only after
   * `replay`. */
  bool (*displacement_wrench)(const LawReplay* pair, const PairCarry* carry, double wrench[2][6]);
  /* Sets wrench (torque and force of both bodies) to the Hessian of friction times the twists of both bodies. The
   * product contains the stiffness, and has the same rounding errors as in `reverse` (impact.md, I16). Call only after
   * `replay`. Returns false, with `wrench` undefined, unless the impulse of an impact with restitution limits friction
   * of the pair. */
  bool (*slip_product)(const LawReplay* pair, const double twist[2][6], double wrench[2][6]);
  /* Sets *out as `work` does, for the state at t + dt. Call only after `replay`. */
  bool (*recorded_work)(const LawReplay* pair, ContactWork* out);
  /* Sets wrench (torque and force of both bodies) to the derivatives of a scalar with respect to the motion of both
   * bodies at t + dt. LawReplay.work contains the derivatives of the scalar with respect to the members of ContactWork.
   * The derivatives for a half-space are 0. Call only after `replay`. */
  void (*work_wrench)(const LawReplay* pair, double wrench[2][6]);
  /* Returns the PairTransfer of the pair at the present step lengths. Call only after `replay`. */
  PairTransfer (*transfer)(const LawReplay* pair);
  /* Returns the derivatives of a scalar with respect to the members of PairTransfer. carry: derivatives with respect to
   * the numbers that the pair passes to the next step. Call only after `replay`. */
  PairTransfer (*transfer_slopes)(const LawReplay* pair, const PairCarry* carry);
} LawImpacts;

/* Functions of a law whose pairs carry data of their own from step to step, which its friction needs. Laws without
 * such data have friction at contact points (point_friction.c) or none. Their state (ContactLaw.state_size) contains
 * only doubles, which the system stores; `derive` also computes the derivatives of their recorded pairs. */
typedef struct {
  /* ---- a pair in a run */
  /* Evaluates the friction of a trial state. Sets friction_energy and has_terms of trial->state for a lagged pair.
   * Returns false if the minimum over the slip was not found. */
  bool (*evaluate_friction)(const LawPair* trial, const LawOrigin* from);
  /* Returns true if friction acts between the items of the pair. */
  bool (*friction_acts)(const LawPair* pair);
  /* LawPair.memory may contain data of each of the two states. The function copies them from the accepted to the trial
   * state. The system has already copied LawPair.state and LawPair.data. */
  void (*take_over)(const LawPair* trial);
  /* Makes the state of the pair the friction reference of the next step. room: memory that is valid until the next call
   * of `lag`. If `room` is NULL, returns the number of bytes that an active pair needs, a multiple of 8, and changes
   * nothing. Otherwise returns the number of bytes used. */
  size_t (*lag)(const LawPair* pair, void* room);
  /* Writes or reads those members of LawPair.memory and of the accepted state's `data` on which later steps depend. */
  void (*pass)(const LawPair* pair, StateBlock* block);
  /* Sets ContactRecord.kept, the law's numbers of a record. Also sets ContactRecord.current_force and late if friction
   * does not depend on the force at t alone. */
  void (*record)(const LawPair* pair, ContactRecord* out);

  /* ---- a recorded pair */
  /* Recomputes the law's data of a state (LawPair.data) from a record. Returns false if the plane was not found. */
  bool (*revisit)(void* law, int thread, const ContactRecord* record, const PairBody body[2], void* data);
  /* Adds the gradient and the Hessian of the pair's energy at t + dt with respect to the motion of both bodies to
   * `out`, which the caller zeroes. The derivatives contain the stiffness. Returns false if the state of the pair was
   * not reproduced. */
  bool (*replay)(const LawReplay* pair, PairDerivatives* out);
} LawHistory;

struct ContactLaw {
  const char* name;
  const SchemaRow* parameters; /* schema rows for the keys of `contact`, read into SceneContact. The member `only` of a
                                  row contains the law's name and "none" */
  int parameter_count;
  int own_count;            /* number of entries of SceneContact.law_parameters that `parameters` fill */
  bool once_differentiable; /* true if the energy is only once differentiable. Gradients of runs then have kinks, where
                               finite differences cannot check them */
  bool shapes;     /* true if the law evaluates smooth shapes exactly and does not approximate them by triangles */
  bool round;      /* true if the law uses round solids exactly (HullInstance.rounding) */
  bool directions; /* true if the law supports direction-dependent and static friction */
  bool overlaps;   /* true if bodies may overlap, because the law has no barrier. The gap is then PairState.separation,
                      there is no certificate. Two bodies that overlap by delta exert the force stiffness * delta^p. The
                      exponent p is SceneContact.law_parameters[0] */
  /* Reason, as the end of a sentence, why the law supports only half-spaces and smooth convex shapes (smooth_only), or
   * no triangles of meshes (solids_only). NULL if the law supports other hulls. */
  const char *smooth_only, *solids_only;
  /* Checks whether the law supports a hull; arguments and result as for contact_fits (model/contact_fits.h). If the
   * function is NULL, the law supports all hulls. */
  bool (*fits)(const ModelHull* hull, const double* law_parameters, char* text, size_t size);
  bool points_press; /* true if the contact energy depends on the contact points (`points`). Otherwise the contact
                        energy of a law with contact points depends on the poses only */
  bool links; /* true if pairs of links that may touch are pairs of items, too. The items of links follow the items of
                 hulls (system.h) */
  size_t pair_size, state_size, kept_size; /* numbers of bytes of the law's data for a pair, for each of its states, and
                                              for the data that LawImpacts.keep writes */
  size_t moment_size, replay_size,
      vertex_size;   /* numbers of bytes of the law's data for a recorded pair: per state, per step, and per vertex */
  int vertex_shares; /* largest number of VertexShare entries per vertex that `reverse` sets */
  size_t link_vertex_size; /* vertex_size for pairs of links; link_vertex_shares: vertex_shares for pairs of links */
  int link_vertex_shares;

  /* ---- the scene */
  /* Returns the law's data for a model. The caller frees the data with `destroy`. tolerance: relative tolerance of
   * steps; 0 selects the highest accuracy. step: present substep, which changes after `create`; it belongs to the
   * caller and must outlive the result. */
  void* (*create)(const Model* model, int threads, double tolerance, const LawStep* step);
  void (*destroy)(void* law);
  /* Returns the range of the law [m]. Two hulls at this distance or farther apart exert no force on each other.
   * INFINITY makes all pairs candidates. If the function is NULL, the range is 0: bodies exert a force where they
   * overlap. */
  double (*range)(const Model* model);
  /* Returns true if the pair of these two links represents all pairs of their hulls, and then sets *trees. If the
   * function is NULL, no pair of links represents its hulls. */
  bool (*whole)(const void* law, int link_a, int link_b, PieceTrees* trees);
  /* Returns the distance by which the box of a hull is extended in the search for pairs [m]. If the function is NULL,
   * the distance is half the range. */
  double (*reach)(const void* law, int hull);
  /* Returns an equilibrium of two parallel faces with n_a and n_b vertices for stiffness 1 (ContactEquilibrium in
   * model.h). z in (0, 1) selects one of all equilibria: the gap increases with z, and the force decreases. If the
   * function is NULL, the stiffness of the scene is neither derived nor checked. */
  ContactEquilibrium (*rest)(double support, int n_a, int n_b, double z);

  /* ---- a pair in a trial */
  /* Evaluates the contact of a trial state. Sets outcome, separation, axis, contact_energy and has_terms of
   * trial->state, and the plane if there is one. Not called for a pair that was inactive and stays out of range. */
  void (*evaluate)(const LawPair* trial, const LawOrigin* from);

  /* ---- a pair in the accepted state */
  /* Adds the gradient and the Hessian of the pair's energy with respect to the motion of both bodies to
   * pair->derivatives, which the caller zeroes. Called for states with terms. The derivatives contain the stiffness,
   * but not friction at contact points. The state is the one that was evaluated last. Sets state->convex to true if the
   * Hessian is known to be positive semidefinite up to rounding. Returns false if the energy has no second derivative;
   * the Hessian is then an approximation. Without LawHistory, also called for recorded pairs. */
  bool (*derive)(const LawPair* pair);
  /* Returns the rounding error of the energy of a pair [J]. It results from clearances, which are differences of
   * coordinates of size `reach` [m]. */
  double (*rounding)(const LawPair* pair, double reach);
  /* Sets the centre of pressure, world [m], and the normal force [N] of a pair that has contact terms. If the function
   * is NULL or returns false, the caller computes both from the pair's plane. */
  bool (*center)(const LawPair* pair, Vec3* point, double* press);

  /* ---- contact points: both functions or none */
  /* Adds the contact points of the pair in its state, with normal forces for stiffness 1, to *out
   * (friction_points_add). Coulomb friction then acts at these points in the next step. reverses: true if
   * `reverse_points` of the same thread follows, for which the law may keep data of the points. */
  void (*points)(const LawPair* pair, bool reverses, FrictionPoints* out);
  /* The contact points at t (normal force, normal, world positions and numbers) depend on the state of the pair at t.
   * pair->bars contains the derivatives of Phi (A4) with respect to load, n, x and numbers of each point. The function
   * converts them to derivatives with respect to the state at t, and adds these to *out. */
  void (*reverse_points)(const LawReplay* pair, PairShares* out);

  const LawHistory* history; /* NULL for laws whose pairs carry no data of their own */

  /* ---- two hulls, outside a run */
  /* Sets *plane to a separating plane of two hulls. `clearance` receives lower bounds on the distances of both hulls
   * from the plane [m]. found: distance of the hulls. Returns false if no plane was found. If the function is NULL,
   * the plane is midway between the nearest points of the hulls. */
  bool (*part)(void* law, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
               Plane* plane, double clearance[2]);
  /* Computes the contact of two hulls. Returns true if the hulls exert a force on each other, and then sets normal,
   * point and pressure of *spot. found: distance of the hulls. */
  bool (*press)(void* law, const HullInstance* a, const HullInstance* b, const GjkResult* found, ContactSpot* spot);

  /* Impacts, and friction by the force of the same step; NULL for laws without them. */
  const LawImpacts* impacts;

  /* ---- a recorded pair */
  /* Adds the derivatives of a scalar with respect to the inputs of the pair to *out, for stiffness 1. The scalar has
   * two terms. The first is the work Phi of the pair's forces along the twists of both bodies (A4). The second is the
   * sum of the numbers that the pair passes to the next step, each times its derivative in `carry`. The adjoint of the
   * next step has found these derivatives. The caller zeroes *out. Friction at contact points is not included. If the
   * contact energy depends on contact points (points_press), the function instead adds derivatives to the members load,
   * n, u, zeta and numbers of pair->bars. */
  void (*reverse)(const LawReplay* pair, const double twist[2][6], const PairCarry* carry, PairShares* out);
};

/* Returns the link to which an item belongs. Items are numbered: first all hulls, then all links. item is not checked.
 */
static inline int contact_item_link(const Model* model, int item) {
  assert(item >= 0 && item < model->hull_count + model->link_count);
  return item < model->hull_count ? model->hulls[item].link : item - model->hull_count;
}

/* ---- a pair, with friction at contact points if the law has them (contact/point_friction.c) */
/* Returns true if the law has friction. */
bool law_has_friction(const ContactLaw* law);
/* Returns true if friction acts between the items of the pair. */
bool law_friction_acts(const LawPair* pair);
/* Adds the contact points of a pair that was in contact at the start of the step and may have friction to *out. Only
 * for laws with contact points. */
void law_find_points(const LawPair* pair, FrictionPoints* out);
/* Evaluates friction as LawHistory.evaluate_friction. Returns false if the minimum over the slip was not found. Call
 * only if law_friction_acts. */
bool law_evaluate_friction(const LawPair* trial, const LawOrigin* from);
/* Sets pair->derivatives to the derivatives of contact and friction. Returns false if the contact energy has no second
 * derivative (ContactLaw.derive). */
bool law_derive(const LawPair* pair);
/* Returns a recorded pair as a LawPair: its bodies at t, or at t + dt if `at_end`. *state, which the result borrows,
 * receives the outcome only. There are no derivatives. */
LawPair law_recorded_pair(const LawReplay* pair, bool at_end, PairState* state);
/* Adds derivatives of Phi (A4) with respect to the motion of body `side` at t to *out. force: derivative with respect
 * to the displacement of the point x, world [m]. torque: derivative with respect to the rotation about x. */
void law_add_motion_now(const LawReplay* pair, int side, Vec3 x, Vec3 force, Vec3 torque, PairShares* out);
/* Adds the derivatives of contact and friction at t + dt to *out, which the caller zeroes. Returns false if the state
 * of the pair was not reproduced or has no second derivative. */
bool law_derive_recorded(const LawReplay* pair, PairDerivatives* out);
/* Adds the derivatives of Phi (A4) with respect to all inputs of the recorded pair to *out. Phi is the work of the
 * contact and friction forces of the pair along `twist`. See ContactLaw.reverse. */
void law_reverse(const LawReplay* replay, const double twist[2][6], const PairCarry* carry, PairShares* out);

/* Returns the table entry of the model's law. For CONTACT_NONE, returns the entry of the first law, which defines the
 * range. The entry is static. Never NULL. */
const ContactLaw* contact_law(const Model* model);

/* Callback: returns true if the law has a property. contact_law_with returns true if a law of the model has the
 * property. */
bool contact_law_with(const Model* model, bool (*has)(const ContactLaw* law));
/* Returns the table entry of the law of two links (asserted). The entry is static. Never NULL. */
const ContactLaw* contact_law_of_links(const Model* model, int link_a, int link_b);
/* Returns the table entry of a valid law. The entry is static. */
const ContactLaw* contact_law_of_model(ContactModel model);

/* A contact law in a scene (contact/pair_laws.c). */
typedef struct {
  const ContactLaw* row;
  void* data;   /* result of ContactLaw.create */
  double range; /* result of ContactLaw.range [m] */
  Model view;   /* copy of the model with the contact parameters of the law; the arrays belong to the original model */
  /* For each parameter that only this law has: parameter_of_contact is true if the value is set in `contact`,
   * parameter_of_item if it is set in the law's item of contact.pairs. If both are false, the parameter has its default
   * value. */
  bool parameter_of_contact[CONTACT_LAW_PARAMETERS_MAX], parameter_of_item[CONTACT_LAW_PARAMETERS_MAX];
} SceneLaw;

/* All laws of a scene. The first is the law of `contact`; the others are the laws in Model.pair_laws. Each size is the
 * largest value of this size over all laws (ContactLaw). */
typedef struct {
  const Model* model;
  SceneLaw* laws;
  int count;
  LawStep* step;
  FrictionPoints* points; /* contact points, one list a thread (size: threads) */
  int threads;
  size_t pair_size, state_size, kept_size, moment_size, replay_size;
} SceneLaws;

/* Creates the data of all laws of a model, which must outlive *all. The arguments threads, tolerance and step are those
 * of ContactLaw.create. Allocates memory that laws_destroy frees. */
void laws_create(const Model* model, int threads, double tolerance, SceneLaws* all);
/* Frees the data of all laws. */
void laws_destroy(SceneLaws* all);
/* Return the law of a pair of links or of items (asserted), which `all` owns. Never NULL. */
const SceneLaw* law_of_links(const SceneLaws* all, int link_a, int link_b);
const SceneLaw* law_of_items(const SceneLaws* all, int item_a, int item_b);
/* law_reach returns the distance ContactLaw.reach of a hull under one law [m]. laws_reach returns the largest of these
 * distances over all laws. */
double law_reach(const SceneLaw* law, int hull);
double laws_reach(const SceneLaws* all, int hull);
/* Divides the derivatives with respect to the parameters that only this law has. PairShares.law_parameters keeps the
 * derivatives with respect to parameters that `contact` sets. PairShares.pair_law_parameters receives the derivatives
 * with respect to parameters that the law's item of contact.pairs sets. */
void law_divide_parameters(const SceneLaws* all, const SceneLaw* law, PairShares* shares);

/* Entries of ContactLaw.parameters that all laws with friction have. LAWS: names of the laws, separated by |. MEANING:
 * text for the documentation of the key. */
// clang-format off
#define LAW_FRICTION_ROW(LAWS) \
  {"contact", "friction", VALUE_NUMBER, offsetof(ContactForm, contact.friction), .only = (LAWS), .fallback = "0.5", \
   .range = RANGE_BETWEEN(0, 100), .meaning = "Coulomb coefficient."}
#define LAW_SMOOTHING_ROW_WITH(LAWS, MEANING) \
  {"contact", "smoothing", VALUE_NUMBER, offsetof(ContactForm, contact.smoothing), .only = (LAWS), .unit = "(m/s)^2", \
   .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0), .meaning = (MEANING)}
#define LAW_SMOOTHING_ROW(LAWS) \
  LAW_SMOOTHING_ROW_WITH( \
      LAWS, "Friction smoothing epsilon; a sticking contact creeps at a small multiple of its root.")
// clang-format on

#endif
