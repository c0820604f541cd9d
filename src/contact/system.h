/* Private to contact/: the pairs of a scene and their two states. */
#ifndef SDRS_CONTACT_SYSTEM_H
#define SDRS_CONTACT_SYSTEM_H

#include "contact/broad_phase.h"
#include "contact/law.h"

/* Fewer pairs than this are not worth waking other threads for; PARALLEL_FAR: when at most one of them touches. */
enum { PARALLEL_THRESHOLD = 24, PARALLEL_GRAIN = 8, PARALLEL_FAR = 500 };
/* The same of links that are placed. */
enum { LINKS_PARALLEL = 128, LINKS_GRAIN = 32 };

/* What a pair was where a way begins. */
typedef struct {
  bool set, has_plane;
  Plane plane;
  double clearance[2], separation; /* m */
  Vec3 axis;
} PairMark;

/* Hulls are the items of which pairs are made; where the law has links take part (ContactLaw.links), links follow them
 * as items of their own. Pairs of links carry a potential: they are never missing, always stand apart as far as the
 * certificate, gaps and distances are concerned, and leave these to the pairs of their hulls. */
typedef struct {
  uint64_t key; /* items a << 32 | b as the broad phase orders them */
  int hull_a, hull_b, link_a, link_b;
  bool links;            /* a pair of links: hull_a and hull_b are their items */
  int common;            /* nearest common ancestor link, or -1 = the world */
  PairMaterial material; /* friction times `grip` */
  double grip;           /* 1 but for a run's first step (grip.c) */
  void* law;             /* LawPair.law */
  GjkCache gjk;
  bool lagged; /* pressed at the time of the lag */
  PairState state[2];
  PairMark mark;
} ContactPair;

/* What loops over all pairs ask, side by side: pairs themselves are far apart in memory. */
typedef struct {
  int a, b;
} LinkPair;

typedef struct {
  bool even;       /* both states are the same, and of the lag in force */
  bool has_terms;  /* of the accepted state */
  bool looked_at;  /* in the trial that is being evaluated */
  bool tried;      /* its trial state is evaluated, and holds while neither link moves */
  bool judged;     /* with friction: `change` is of that state */
  bool suspect;    /* it stood in the way of the last trial */
  bool relieved;   /* its `models` stand for the derivatives of the accepted state in Newton's model */
  double rounding; /* of the accepted state, found last; NAN: not asked for since it is even [J] */
  double change;   /* of its energy, in a trial that is feasible [J] */
} PairSleep;

/* What contact_remember found of the pairs that were pressed. */
typedef struct {
  uint64_t* keys;
  char* kept; /* by the law */
  int count, capacity;
} PairsKept;

/* Pairs by their keys, sorted. */
typedef struct {
  uint64_t* keys;
  int count, capacity;
} KeyList;

/* What contact_note_forces found. */
typedef struct {
  ContactRecord* records;
  Vec3* force;
  int capacity;
  ContactForces list;
} ForcesKept;

/* Candidates by the parts that they belong to (contact/part.c). */
typedef struct {
  const int* of_tree; /* lent; -1: of none  (trees) */
  int *of, *items;    /* of every candidate, likewise; candidates by parts, those of none first  (list) */
  int* first;         /* where those of every part begin, two places on  (parts + 3) */
  int capacity, part_capacity;
} PartLists;

/* What the solver has asked for last. */
typedef enum {
  CONTACT_STANDING, /* the accepted state stands alone: the trial is another one's */
  CONTACT_TRIED,    /* the trial state is evaluated; not all of it is feasible */
  CONTACT_FEASIBLE, /* it may be accepted */
} ContactPhase;

/* What is added here and lasts from one step to the next belongs into snapshot.c as well. */
struct ContactSystem {
  const Model* model;
  const ContactLaw* law;
  ContactLaw by_pair;        /* it is this one where pairs name laws */
  void* own_law;             /* of ContactLaw.create */
  int threads, first_thread; /* numbers of workspaces begin there */
  const int* links;          /* of a part, ascending: those that it moves; NULL: this is no part (contact/part.c) */
  int link_count;
  ContactPhase phase;
  bool entered;   /* contact_reset has told where the run begins */
  double range;   /* of the law [m] */
  double* reach;  /* of every hull (ContactLaw.reach) [m] */
  int item_count; /* hulls, and links that take part */
  int current;    /* which of the two states is the accepted one */
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
  int *movers, mover_count; /* hulls of links that can move, and the others */
  int *still, still_count;
  int *seeking,
      seeking_count; /* of these those that may make pairs with other hulls: neither such that stay apart from */
  int *sought, sought_count; /* all, nor such that pairs of links stand for */
  bool placed[2];            /* state k stands where its poses are */
  bool measured;             /* stays[current], twist and moved are those of the trial as it stands */
  Box *boxes, *way_boxes;    /* of the broad phase and of that of ways (hulls) */
  bool rests;                /* both know the boxes of still hulls */
  BroadPhase broad, way_broad;
  int* group;         /* of the broad phases: a number for every link of several pieces  (hulls) */
  bool* strange;      /* pairs of these whose hulls are not looked for */
  bool* whole;        /* pairs of links that stand for those of their hulls; NULL: none  (links x links) */
  double* crowd;      /* mean radius of its triangles, of a link of very many; 0: of others  (links) [m] */
  KeyList rubbing;    /* of hulls that these stand for */
  ContactPair* pairs; /* slots */
  /* Of both states of every pair, and Newton's model of it where that is another: large, and read seldom (slots). */
  PairDerivatives *derivatives[2], *models;
  char *memory, *own[2]; /* of the law: of every pair, and of its two states (slots) */
  int pair_capacity;
  ContactPair way_pair;   /* one that is not in the list */
  int *list, *spare_list; /* slots of the candidates, by key */
  int list_count, list_capacity;
  int* free_slots;
  int free_count;
  int version;
  int *terms, term_count;          /* slots with terms in the accepted state */
  LinkPair* term_links;            /* (slots) */
  LinkPair* list_links;            /* of every candidate, while `named` is the version  (list) */
  int named;                       /* -1: of no list */
  int *awake, awake_count;         /* candidates that a trial looks at: the others stand; -1: not known  (list) */
  int sleeping_hulls;              /* of the others those of hulls */
  int *todo, todo_count;           /* awake ones that a pass over them has to do with (list) */
  int *fresh, fresh_count;         /* slots with terms that may lack their derivatives */
  PairSleep* sleep;                /* of every pair  (slots) */
  char *lag_room, *own_room;       /* room of the law for the points of friction */
  size_t lag_capacity, *lag_first; /* where each candidate's part of it begins  (list) */
  size_t own_capacity;
  const int* groups; /* during contact_try: of every link, -1 for none; NULL: nobody asks  (links) */
  bool* refused;     /* groups with a pair that stands in the way (lent) */
  bool suspects_only;
  bool begins;             /* contact_reset is at work */
  PairsKept remembered[2]; /* by ContactMemory */
  ContactGrip grip;        /* from the next lag on */
  ForcesKept forces[2];    /* by ContactEnd */
  ContactTimes times;
  Pose *certificate_poses, *lag_poses;
  Pose* begin_poses; /* where the step begins: of the last contact_lag  (links) */
  const Pose* aim;   /* borrowed: where links are expected to be at its end (contact_set_aim); NULL: not known */
  Box* regions;      /* within which links stay while parts are solved by themselves; NULL: they never are  (links) */
  MotionBounds region_bounds; /* (links) */
  double *way, *fastest; /* from where links stand to their aim (links); most of the trees that may meet (trees) [m] */
  PartLists parts;
  Pose* way_poses; /* where the way of contact_certify_arrival begins  (links) */
};

/* The index of a key in a sorted list, or -1. */
typedef uint64_t (*KeyAt)(const void* list, int index);
/* Keys must rise, key_at(list, 0) to key_at(list, count - 1). By bisection. Of several that are equal the first. -1:
 * it is not there, no error. Allocates nothing. */
int find_key(const void* list, KeyAt key_at, int count, uint64_t key);

/* Has a link that may touch a hull with an end? Links that touch nothing have none. Nothing is allocated, nothing
 * fails. */
bool contact_has_solid(const Model* model, int link);
/* Pairs that are not in the list and may come near each other on a way within `bounds` to the accepted state
 * (remembered: from where the way begins): their keys, valid until the next call. NULL and a count of 0 where none can
 * be. Allocates while they grow. */
const uint64_t* contact_unlisted(ContactSystem* system, const MotionBounds* bounds, bool remembered, int* count);
/* A pair as it enters the list: with its distance in the accepted state. Without a law's memory, which belongs to a
 * slot. Writes the whole pair; nothing is allocated, nothing fails. */
void contact_enter(const ContactSystem* system, ContactPair* pair, uint64_t key);

/* Its hulls and links; all else is zero. The half-space becomes b; no distance is looked for. Allocates nothing;
 * items that are none of the model's are undefined, not checked. */
void contact_name_pair(const ContactSystem* system, ContactPair* pair, uint64_t key);
/* A slot for a pair, what the law remembers of it zeroed; room in the list for so many. An index into pairs. Allocates
 * by doubling: pointers to pairs, and to what the law remembers, are invalid then. */
int contact_take_slot(ContactSystem* system);
/* Merge keys (sorted) with the list: those wanted enter or keep their slot, of the others those stay that are told to.
 * The version changes when the list does, and then no candidate counts as awake. keys[count] are only read.
 * Allocates while the list grows; never fails. */
void contact_merge_list(ContactSystem* system, const uint64_t* keys, int count,
                        bool (*wanted)(const ContactSystem* system, uint64_t key),
                        bool (*stays)(const ContactSystem* system, const ContactPair* pair));
/* Room in the list for so many candidates; allocates with a reserve. Never fails; what pointed into the list is
 * invalid then. */
void contact_grow_list(ContactSystem* system, int needed);

/* The accepted state once more, with another lag. false: it was not found. Allocates nothing. */
bool contact_evaluate_again(ContactSystem* system);
/* Friction of the pair as contact_set_grip has told: sets grip and material. At the lag. */
void contact_grip_pair(const ContactSystem* system, ContactPair* pair);

/* Where the links stand in state `which` (contact/trial.c). poses[links] are copied; hulls and centres of mass follow
 * [m]. Allocates nothing; never fails. */
void contact_place(ContactSystem* system, int which, const Pose* poses);
/* The links of all candidates, side by side, in list_links. Allocates nothing. */
void contact_name_links(ContactSystem* system);
/* Does the list cover motions of its hulls within `bounds`? bounds of every link that moves. Allocates nothing. */
bool contact_covers(const ContactSystem* system, const MotionBounds* bounds);
/* Distance of two hulls that nothing is known of yet, in the state `which`, and a direction. Sets both; [m]. */
void contact_measure_apart(const ContactSystem* system, ContactPair* pair, int which, PairState* state);
/* The trial becomes the accepted state, with what the law adds. State, and the law's own [state_size bytes]. Cannot
 * fail, allocates nothing. */
void contact_take_over(const ContactSystem* system, ContactPair* pair);
/* Derivatives of the accepted state, of those pairs that have none yet. On all threads; each pair writes its own [N, N
 * m]. Cannot fail, allocates nothing. */
void contact_derive(ContactSystem* system);
/* List the pairs with terms in the accepted state. Sets terms, term_links and fresh, in the order of the candidates.
 * Cannot fail, allocates nothing: there is room for every candidate. */
void contact_list_terms(ContactSystem* system);

/* ---- pairs of links that stand for all pairs of their hulls (ContactLaw.whole; contact/whole.c) */

/* Which pairs these are; called once, after the law is created. Allocates a table of links x links when there are any.
 * Never fails. */
void contact_find_whole(ContactSystem* system);
/* Is the pair of these links one? Does such a pair stand for the pair of hulls with this key? Never, where the law has
 * none. Nothing is allocated, nothing fails. */
bool contact_is_whole(const ContactSystem* system, int link_a, int link_b);
/* key: items a << 32 | b. False unless both are hulls. Nothing is allocated, nothing fails. */
bool contact_stands_for(const ContactSystem* system, uint64_t key);

/* Which links are crowds (contact/crowd.c); called once. Allocates. Never fails; freed with the system. */
void contact_find_crowds(ContactSystem* system);

/* List the pairs of hulls that rub in the accepted state, as pressed; drop_others: and those no longer that were listed
 * before. Called before the state is recorded and before contact_lag; what is listed changes no energy. Allocates while
 * the list grows; nothing without such pairs. Never fails. */
void contact_list_rubbing(ContactSystem* system, bool drop_others);

/* Least distance of two pieces of a pair of links at these poses[links] [m], 0 where they meet; INFINITY where it is
 * no such pair, or its bounding spheres are farther apart than the law's range. Cannot fail, allocates nothing. */
double contact_whole_distance(const ContactSystem* system, const ContactPair* pair, const Pose* poses);

/* A way from poses to poses (links), with bounds on the motion of both links over all of it. To be the first member of
 * what `prove` is given: the proof of two hulls from one part of the way to another. */
enum { WAY_PARTS = 64 };
typedef struct WholeWay {
  int link[2], common; /* as of a ContactPair */
  const Pose *start, *end;
  MotionBound bound[2];
  ContactPath poses_at;
  void* context;
  bool (*prove)(struct WholeWay* way, int hull_a, int hull_b, int from, int to);
  /* set by contact_prove_way: where both links, and the frame of the common one, are after as many parts, if known */
  PieceTrees trees;
  bool known[WAY_PARTS + 1];
  Pose pose[2][WAY_PARTS + 1];
  Mat3 frame[WAY_PARTS + 1];
} WholeWay;
/* Do no two pieces meet? Asks `prove` of those that the spheres around them leave open; false: one proof failed. Sets
 * trees, known, pose and frame of `way`. Allocates nothing. */
bool contact_prove_way(const ContactSystem* system, WholeWay* way);

/* The link of an item. Another number is undefined, not checked. */
static inline int contact_item_link(const Model* model, int item) {
  return item < model->hull_count ? model->hulls[item].link : item - model->hull_count;
}
/* Where an item stands; of a link its pose, without points. poses[links]. By value; cannot fail, allocates nothing. */
static inline HullInstance contact_item_at(const Model* model, int item, const Pose* poses) {
  int link = contact_item_link(model, item);
  if (item < model->hull_count) return pair_hull_at(&model->hulls[item], &poses[link]);
  return (HullInstance){.pose = poses[link],
                        .center = pose_apply(poses[link], model->links[link].center),
                        .radius = model->links[link].reach};
}

/* The pair of a candidate, below contact_candidate_count. Borrowed until the list grows. Another number is
 * undefined, not checked; not to be freed. */
static inline ContactPair* contact_pair(const ContactSystem* system, int candidate) {
  return &system->pairs[system->list[candidate]];
}

/* Derivatives of the accepted state; borrowed until the list grows. Undefined for a pair without terms; not to be
 * freed. */
static inline PairDerivatives* contact_derivatives(const ContactSystem* s, const ContactPair* p) {
  return &s->derivatives[s->current][p - s->pairs];
}

/* One of its states as the law sees it. By value; its pointers are the system's own and hold until the list grows.
 * Cannot fail. */
static inline LawPair contact_law_pair(const ContactSystem* s, ContactPair* p, int which, int thread) {
  size_t slot = (size_t)(p - s->pairs);
  return (LawPair){.law = p->law,
                   .thread = s->first_thread + thread,
                   .item = {p->hull_a, p->hull_b},
                   .a = &s->instance[which][p->hull_a],
                   .b = &s->instance[which][p->hull_b],
                   .reference = {s->reference[which][p->link_a], s->reference[which][p->link_b]},
                   .aim = s->aim ? &s->aim[p->link_a] : NULL,
                   .material = &p->material,
                   .gjk = &p->gjk,
                   .memory = s->memory + slot * s->law->pair_size,
                   .lagged = p->lagged,
                   .which = which,
                   .state = &p->state[which],
                   .derivatives = &s->derivatives[which][slot],
                   .own = s->own[which] + slot * s->law->state_size};
}

#endif
