/* Private to contact/: a contact law is one file, law_<name>.c, and one row, LAW_<name>, in laws.c.
 *
 * The system (system.h) knows which hulls are near each other and holds two states of every such pair, the accepted one
 * and a trial; the replay (replay.c) goes through recorded steps backwards. What acts between two hulls only the law
 * knows: it is asked for the value at a trial, for the derivatives of a state that is accepted, for what the next step
 * rests on (the lag), and for the same of recorded pairs with the reverse derivatives. A law sees one pair at a time
 * and calls no one back, so pairs go on in parallel. Whatever it wants to know of the scene, its `create` builds;
 * whatever it wants to remember of a pair stands in memory that the system holds for it, zeroed when the pair is new.
 * Of a pair that is pressed, lagged or has terms this memory and that of the accepted state are what a run goes on from
 * (`pass`); of others they mean nothing. Pointers in them hold until the next lag only. */
#ifndef SDRS_CONTACT_LAW_H
#define SDRS_CONTACT_LAW_H

#include "contact/hierarchy.h"
#include "contact/pair.h"
#include "scene/schema.h"

/* A pair at one state. */
typedef struct {
  void* law;                 /* of ContactLaw.create, or ContactLaw.instance */
  int thread;                /* whose workspace may be used */
  int item[2];               /* numbers of the hulls; from Model.hull_count on, of links (ContactLaw.links) */
  const HullInstance *a, *b; /* where the hulls stand; a half-space is b */
  Vec3 reference[2];         /* their links' centres of mass, which twists are about [m] */
  const Pose* aim;           /* pose that a's link is expected to have at the end of the step; NULL: not known */
  const PairMaterial* material;
  GjkCache* gjk;
  void* memory; /* of the pair (ContactLaw.pair_size) */
  bool lagged;  /* `lag` was told that it was pressed */
  int which;    /* number of the state, 0 or 1 */
  PairState* state;
  PairDerivatives* derivatives; /* of the state, stiffness included; to be set by `derive` */
  void* own;                    /* what the law adds to the state (ContactLaw.state_size) */
} LawPair;

/* The accepted state that a trial comes from. */
typedef struct {
  const PairState* state;
  const void* own;
  const double* twist[2]; /* of the links since then: rotation vector, displacement */
  bool stays;             /* neither link has moved */
  bool follows;           /* it was evaluated with the same lag */
  bool begins;            /* the run begins here: nothing is known of what came before */
} LawOrigin;

/* A recorded pair of the step from t to t + dt. */
typedef struct {
  void* law;
  int thread;
  const ContactRecord* record; /* at t + dt */
  const PairMaterial* material;
  const PairBody *now, *next; /* (2); now NULL: it was not pressed at t */
  const PairBody* solve;      /* (2) where friction of its own force rests on; NULL: it was not pressed there */
  Pose begin[2];              /* of both bodies at t */
  const Pose* aim;            /* as LawPair.aim */
  const void *own_now, *own_next, *own_solve;
  void* memory;   /* (ContactLaw.replay_size) */
  void* vertices; /* room for ContactLaw.vertex_size of every vertex of both hulls */
} LawReplay;

/* Two links of many pieces, which their pair of links stands for: distance, and the proof that nothing meets, are found
 * in their trees (whole.c). Pairs of their hulls are listed for friction only, from one lag to the next: those with
 * r < spread (R_a + R_b), r the distance of the centres of the pieces' spheres and R their radii. */
typedef struct {
  const BodyTree *a, *b;
  double spread; /* 0: nothing rubs */
} PieceTrees;

typedef struct ContactLaw {
  const char* name;
  const SchemaRow* parameters; /* rows of `contact`, read into SceneContact; `only` names the law and "none" */
  int parameter_count;
  int own_count;            /* how many of SceneContact.own its rows fill */
  bool once_differentiable; /* gradients of runs have kinks, which differences cannot judge */
  bool shapes;              /* takes smooth shapes as they are, and looks at no triangles */
  bool round;               /* takes round solids as they are: HullInstance.rounding */
  bool directions;          /* has friction by direction and static friction */
  bool overlaps; /* no barrier: bodies may overlap, a gap is PairState.separation, there is nothing to certify */
  /* Why the law cannot take a piece, as the end of a sentence; NULL: it can. NULL: any. */
  const char* (*refuses)(const ModelHull* hull);
  bool links; /* pairs of links take part too, all that may touch, as items of their own after the hulls (system.h) */
  size_t pair_size, state_size, kept_size;      /* bytes: of a pair, of each state of it, of what `keep` stores */
  size_t moment_size, replay_size, vertex_size; /* of a recorded pair at one moment, in one step, per vertex */
  int vertex_shares;                            /* most shares of one vertex that `reverse` hands out */
  size_t link_vertex_size;                      /* the same of pairs of links */
  int link_vertex_shares;

  /* ---- the scene */
  /* tolerance: of a step, relative (0: as exact as can be). */
  void* (*create)(const Model* model, int threads, double tolerance);
  void (*destroy)(void* law);
  void (*set_dt)(void* law, double dt);
  /* Of the substep that begins: length of the one before [s], and how long a force acted in the one before, in units of
   * how long it acts in this one. NULL. */
  void (*set_part)(void* law, double dt_before, double force_ratio);
  /* Distance from which on two hulls exert nothing on each other [m]; INFINITY: all pairs are candidates. */
  double (*range)(const Model* model);
  /* Do these two links take part as items (links)? NULL: all do. */
  bool (*pairs_links)(const void* law, int link_a, int link_b);
  /* Does the pair of these links stand for all pairs of their hulls (PieceTrees)? NULL: never. */
  bool (*whole)(const void* law, int link_a, int link_b, PieceTrees* trees);
  /* How far about its box a hull is looked at by the pairs of hulls [m]. NULL: half the range. */
  double (*reach)(const void* law, int hull);
  /* How near two hulls have to be for the pair to be listed [m]; at most the sum of their reaches. NULL: that sum. */
  double (*pair_reach)(const void* law, int hull_a, int hull_b);
  /* Force of two bodies that overlap by so much [m], for stiffness 1; own: what the law has to itself
   * (ModelContact.own). NULL: stiffness does not follow from an overlap. */
  double (*force_at_overlap)(const double* own, double overlap);
  /* Two faces at rest on each other, for stiffness 1 (model.h). Both NULL: stiffness is not derived, nor judged. */
  ContactRest (*rest_under_force)(double support, int n_a, int n_b, double force);
  ContactRest (*rest_at_gap)(double support, int n_a, int n_b, double gap);

  /* What LawPair.law, and the first argument of `nearest`, are for a pair of these items: asked once, when it is
   * listed. NULL: what `create` returned. */
  void* (*instance)(void* law, const int item[2]);

  /* ---- a pair in a trial, in this order */
  /* Value: outcome, separation, axis, contact_energy, has_terms; a plane where there is one. A pair that neither was
   * pressed nor came within the range is not asked about. */
  void (*evaluate)(const LawPair* trial, const LawOrigin* from);
  /* Friction's value, of lagged pairs: friction_energy, has_terms. false: not found. NULL: no friction. */
  bool (*rub)(const LawPair* trial, const LawOrigin* from);
  /* Does friction act between them? NULL: never. */
  bool (*rubs)(const LawPair* pair);
  /* The trial is the other state again (copied, with `own`): the same for what the pair's memory holds of it. NULL. */
  void (*take_over)(const LawPair* trial);
  /* Motion bound: the least separation that a trial may have [m]; nearer the model of the step is worth nothing. */
  double (*nearest)(const void* law, const int item[2], const PairState* accepted);

  /* ---- a pair in the accepted state */
  /* Gradient and Hessian of a state with terms that was the last to be evaluated; stiffness included. */
  void (*derive)(const LawPair* pair);
  /* Has such a Hessian no negative eigenvalues, but for what is rounded? NULL, or false: it may have. */
  bool (*convex)(const LawPair* pair);
  /* Size of the energy that a clearance, a difference of coordinates of size `reach`, has in it, rounding away [J]. */
  double (*rounding)(const LawPair* pair, double reach);
  /* Where a pair with terms presses: centre of pressure, world [m], and how hard [N]. NULL, or false: where its plane
   * says. */
  bool (*center)(const LawPair* pair, Vec3* point, double* press);
  /* Newton's model of a pair of which the step would leave 1 / ratio of its force (S11). NULL, or false: its own. */
  bool (*relieve)(const LawPair* pair, double ratio, PairDerivatives* model);
  /* Adds to the force that friction of the next substep rests on its change under the twists that Newton's method would
   * take next (I13). NULL: nothing. */
  void (*refine)(const LawPair* pair, const double twist_a[6], const double twist_b[6]);
  /* The next step rests on this state (LawPair.lagged: it is pressed). room: of lag_room bytes when it is pressed, lent
   * until the next lag; returns how many were used, a multiple of 8. NULL: nothing is kept. */
  size_t (*lag_room)(const LawPair* pair);
  size_t (*lag)(const LawPair* pair, void* room);
  /* Friction of the step that has led to this state rests on the state itself. `loads`: sets how hard friction presses
   * [N], and by how much that differs from what it rests on. `relag`: as `lag`, for slip since the poses `begin` of
   * both bodies (the lag before stays where it returns SIZE_MAX). Both NULL: on the state before alone. */
  void (*loads)(const LawPair* pair, double* load, double* change);
  size_t (*relag)(const LawPair* pair, const Pose begin[2], void* room);
  bool (*rests_on_own)(const LawPair* pair);
  /* The run begins here, pressed as it is. NULL. */
  void (*begin)(const LawPair* pair);
  /* What the poses do not tell of a pressed pair, stored and given back. NULL: nothing. */
  void (*keep)(const LawPair* pair, void* kept);
  void (*recall)(const LawPair* pair, const void* kept);
  /* All of the pair's memory and of the accepted state's `own` that the next lag and what comes after it depend on,
   * through a block. NULL: both are doubles alone, and all of them are passed. */
  void (*pass)(const LawPair* pair, StateBlock* block);
  /* The run begins in this state, which it was given: what led to it has no derivatives. NULL: there are none. */
  void (*hold)(const LawPair* pair);
  /* What an impact makes of the force of a pressed pair, when a step of length dt led there from `kept` (NULL: it was
   * apart). NULL: nothing. */
  double (*impact_factor)(const LawPair* pair, const void* kept, double rest_speed, double dt);
  void (*record)(const LawPair* pair, bool rubbing, double kept[CONTACT_KEPT_NUMBERS]);

  /* ---- impacts of pairs in the accepted state (impact.md, I10, I11). All NULL: there are none to be resolved. */
  /* True if the substep that begins, after one of length dt_before [s], is one of the pair's impact. */
  bool (*impacts)(const LawPair* pair, double dt_before);
  /* True if the substep has brought the pair to where its impact begins (impact_enters). The pair then remembers its
   * speed of approach [m/s], which is asked for with `enters` true; 0 else. */
  bool (*enters)(const LawPair* pair);
  void (*approach)(const LawPair* pair, double speed);
  /* z of its potential, 1 out of range, at the substep's end and at its begin. */
  double (*clearance)(const LawPair* pair, bool begin);
  /* Has it ended an approach; does it still; has it pressed when the part began, and lets go? */
  bool (*struck)(const LawPair* pair);
  bool (*presses_on)(const LawPair* pair);
  bool (*lets_go)(const LawPair* pair);

  /* ---- two hulls, outside any run */
  /* A plane that parts them, found is their distance; with lower bounds of both clearances [m]. NULL: none. */
  bool (*part)(void* law, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
               Plane* plane, double clearance[2]);
  /* Do they press on each other? Then where, along which normal, how much: sets touching, normal, point, pressure. */
  bool (*press)(void* law, const HullInstance* a, const HullInstance* b, const GjkResult* found, ContactSpot* spot);

  /* ---- a recorded pair */
  /* What the record tells at the moment it is of. false: not found again. NULL: nothing is to be found. */
  bool (*revisit)(void* law, int thread, const ContactRecord* record, const PairBody body[2], void* own);
  /* Gradient and Hessian at t + dt, stiffness included, on zeroes. false: not found again. */
  bool (*replay)(const LawReplay* pair, PairDerivatives* out);
  /* Sets force and torque about the references of both bodies by which the pair's potential grows at t + dt
   * (EventTerms). Returns the derivative of the load that the pair hands on (PairCarry.load) by the potential [m]. Only
   * of an active record, after `replay`. NULL: no event ends a step there and nothing is handed on. */
  double (*potential)(const LawReplay* pair, Vec3 force[2], Vec3 torque[2]);
  /* Shares of Phi (A4) for the twists of both bodies, and of a scalar that grows by `carry` times what the pair hands
   * on from t (PairShares.carry of the step after); everything for stiffness 1. out is zeroed. */
  void (*reverse)(const LawReplay* pair, const double twist[2][6], const PairCarry* carry, PairShares* out);
} ContactLaw;

/* The model's; that of model `none` is the first, for who asks how near is near. Static; never NULL. Not to be
 * freed. */
const ContactLaw* contact_law(const Model* model);

/* The row that stands for all laws of a model: the table's own, or, where pairs name laws (Model.pair_laws), one that
 * hands each question to the pair's law, written to room (contact/pair_laws.c). room must live as long as what is asked
 * of it, and is not touched where the table's own is returned. Never NULL, not to be freed. */
const ContactLaw* contact_law_by_pair(const Model* model, ContactLaw* room);
/* That of two links, whatever the model's is. Static. Never NULL, not to be freed; numbers of links are not checked. */
const ContactLaw* contact_law_of_links(const Model* model, int link_a, int link_b);
/* From the table; not of `none`. Static. Not to be freed; undefined for what is no law. */
const ContactLaw* contact_law_named(ContactModel model);

/* Bodies may come nearer by this factor in one trial: nearer than they will be the force is out of all proportion. */
#define LAW_NEARER_MOST 0.1
/* ContactLaw.nearest of laws whose force has no range: this part of the distance, or 0 where it is not known [m]. */
double law_nearest(const void* instance, const int item[2], const PairState* accepted);
/* ContactLaw.part of laws without a plane of their own: the plane midway between the nearest points, half the distance
 * from either hull. Always true. */
bool law_part_midway(void* instance, int thread, const HullInstance* a, const HullInstance* b, const GjkResult* found,
                     Plane* plane, double clearance[2]);

/* Rows that every law with friction has. LAWS: the words of the laws that they are for. */
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
