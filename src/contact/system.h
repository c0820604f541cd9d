/* Private to contact/: the pairs of a scene and their two states. */
#ifndef SDRS_CONTACT_SYSTEM_H
#define SDRS_CONTACT_SYSTEM_H

#include "contact/broad_phase.h"
#include "contact/contact.h"
#include "contact/friction.h"
#include "contact/impact.h"

/* A pair at one state. */
typedef struct {
  unsigned stamp; /* of the lag it was evaluated with; another one than the system's: not evaluated */
  double slip[3]; /* that friction found (FrictionLag) */
  PlaneOutcome outcome;
  bool has_plane;
  PlaneSolution
      solution;      /* ACTIVE: the minimiser; SEPARATED with has_plane: some separating plane and its clearances */
  double separation; /* lower bound of the distance [m] */
  Vec3 axis;         /* unit, from a to b: direction of the last known gap */
  double contact_energy, friction_energy; /* J */
  Impact impact;                          /* of an ACTIVE pair */
  bool has_terms;                         /* derivatives are not zero */
  PairDerivatives derivatives;
  PlaneResponse response;
} PairState;

/* What a pair was where a way begins. */
typedef struct {
  bool set, has_plane;
  Plane plane;
  double clearance[2], separation; /* m */
  Vec3 axis;
} PairMark;

typedef struct {
  uint64_t key; /* hulls a << 32 | b as the broad phase orders them */
  int hull_a, hull_b, link_a, link_b;
  int common; /* nearest common ancestor link, or -1 = the world */
  GjkCache gjk;
  bool lagged;
  double before; /* y of impact.md at the time of the lag */
  Impact load;   /* what the step before made of the force that friction rests on */
  bool fresh;    /* being evaluated, not taken over from a state with the same poses */
  FrictionLag lag;
  PairState state[2];
  PairMark mark;
  bool relieved; /* `model` stands for the derivatives of the accepted state in Newton's model */
  PairDerivatives model;
} ContactPair;

/* What a pair knows that its poses do not tell. */
typedef struct {
  uint64_t key;
  Impact impact;
  double compression;
} ImpactMemory;

struct ContactSystem {
  const Model* model;
  int threads;
  double range; /* 2 s / (1 - sigma) */
  int current;  /* which of the two states is the accepted one */
  HullInstance* instance[2];
  Vec3* reference[2];        /* centre of mass of every link, world */
  Pose* pose[2];             /* of every link */
  double (*twist)[6];        /* of every link from the accepted to the trial state: rotation vector, displacement */
  bool* stays[2];            /* link's pose in the trial is that of state k  (links) */
  const bool* projecting;    /* links whose pairs contact_project is after, NULL: all */
  unsigned stamp;            /* of the lag in force, > 0 */
  double* moved;             /* of every hull from the accepted to the trial state [m] */
  double *travelled, *slack; /* of every hull since the broad phase was built, and how far it covers [m] */
  double*
      way_travelled; /* `travelled` where a way begins; INFINITY: the broad phase was built since, elsewhere (hulls) */
  bool way_moved;    /* a state has been accepted since */
  Box* boxes;
  BroadPhase broad, way_broad;
  ContactPair* pairs; /* slots */
  int pair_capacity;
  ContactPair way_pair;   /* one that is not in the list */
  int *list, *spare_list; /* slots of the candidates, by key */
  int list_count, list_capacity;
  int* free_slots;
  int free_count;
  int version;
  int *terms, term_count; /* slots with terms in the accepted state */
  FrictionVertex* lag_vertices;
  int lag_capacity;
  PlaneScratch* scratch; /* one a thread */
  FrictionParameters friction;
  ImpactParameters impact;
  ImpactMemory* remembered; /* of the accepted pairs in contact, by key */
  int remembered_count, remembered_capacity;
  ContactTimes times;
  Pose *certificate_poses, *lag_poses;
  Pose* way_poses; /* where the way of contact_certify_arrival begins  (links) */
};

/* A hull where its link stands. */
HullInstance contact_hull_at(const ModelHull* hull, const Pose* pose);
/* Workspaces for plane_solve, one a thread. */
PlaneScratch* contact_scratch_create(const Model* model, int threads);
void contact_scratch_destroy(PlaneScratch* scratch, int threads);

/* Pairs that are not in the list and may come near each other on a way within `bounds` to the accepted state
 * (remembered: from where the way begins): their keys, valid until the next call. */
const uint64_t* contact_unlisted(ContactSystem* system, const MotionBounds* bounds, bool remembered, int* count);
/* A pair as it enters the list: with its distance in the accepted state. */
void contact_enter(const ContactSystem* system, ContactPair* pair, uint64_t key);

/* Distance and direction from a to b [m]; 0 when they meet. A half-space has no witness points. */
double contact_pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result);
/* Gap of two hulls along a fixed unit direction from a to b [m]; negative when it does not separate them. */
double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis);

static inline ContactPair* contact_pair(const ContactSystem* system, int candidate) {
  return &system->pairs[system->list[candidate]];
}

#endif
