/* Private to contact/: the pairs of a scene and their two states. */
#ifndef SDRS_CONTACT_SYSTEM_H
#define SDRS_CONTACT_SYSTEM_H

#include "contact/broad_phase.h"
#include "contact/law.h"

/* Fewer pairs than this are processed on one thread; PARALLEL_FAR: the same for pairs of which few are in contact. */
enum { PARALLEL_THRESHOLD = 24, PARALLEL_GRAIN = 8, PARALLEL_FAR = 500 };
/* Fewer links than this are placed (poses of hulls) on one thread. */
enum { LINKS_PARALLEL = 128, LINKS_GRAIN = 32 };

/* State of a pair at the start of a path (contact_way_begin). */
typedef struct {
  bool set, has_plane;
  Plane plane;
  double clearance[2], separation; /* m */
  Vec3 axis;
} PairMark;

/* Items of pairs are hulls. If the law has pairs of links (ContactLaw.links), links follow the hulls as items of their
 * own. Pairs of links carry a potential, always count as separated, and leave certificate, gaps and distances to the
 * pairs of their hulls. */
typedef struct {
  uint64_t key; /* items a << 32 | b in the order of the broad phase */
  int hull_a, hull_b, link_a, link_b;
  bool links;            /* a pair of links: hull_a and hull_b are their items */
  int common;            /* nearest common ancestor link, or -1 = the world */
  PairMaterial material; /* friction times `grip` */
  double grip;           /* 1 except in a run's first step (grip.c) */
  void* law;             /* LawPair.law */
  GjkCache gjk;
  bool lagged; /* active at the last contact_lag */
  PairState state[2];
  PairMark mark;
} ContactPair;

/* Data for loops over all pairs, contiguous because the pairs themselves are large. */
typedef struct {
  int a, b;
} LinkPair;

typedef struct {
  bool even;       /* both states are equal and belong to the present friction reference */
  bool has_terms;  /* for the accepted state */
  bool looked_at;  /* for the trial that is being evaluated */
  bool tried;      /* its trial state is evaluated and valid while neither link moves */
  bool judged;     /* `change` includes friction */
  bool suspect;    /* made the last trial fail */
  double rounding; /* rounding error of the accepted state [J]; NAN: not computed since `even` was set */
  double change;   /* change of its energy in a feasible trial [J] */
} PairSleep;

/* Data of the active pairs, stored by contact_remember. */
typedef struct {
  uint64_t* keys;
  char* kept; /* data of the law */
  int count, capacity;
} PairsKept;

/* Sorted keys of pairs. */
typedef struct {
  uint64_t* keys;
  int count, capacity;
} KeyList;

/* Data stored by contact_note_forces. */
typedef struct {
  ContactRecord* records;
  Vec3* force;
  int capacity;
  ContactForces list;
} ForcesKept;

/* Candidates sorted by part (contact/part.c). */
typedef struct {
  const int* of_tree; /* part of each tree, -1: none; borrowed (trees) */
  int *of, *items;    /* of: part of each candidate; items: candidates sorted by part, those without one first (list) */
  int* first;         /* candidates of part k: items[first[k + 2]] to items[first[k + 3] - 1] (parts + 3) */
  int capacity, part_capacity;
} PartLists;

/* Relation between the trial and the accepted state. */
typedef enum {
  CONTACT_STANDING, /* no trial of the present accepted state */
  CONTACT_TRIED,    /* the trial is evaluated and infeasible */
  CONTACT_FEASIBLE, /* the trial is feasible and may be accepted */
} ContactPhase;

/* State that lasts from one step to the next is stored by snapshot.c, too. */
struct ContactSystem {
  const Model* model;
  const ContactLaw* law;
  ContactLaw by_pair;        /* `law` points here if pairs name laws */
  bool keeps_account;        /* contact_keeps_account */
  void* own_law;             /* of ContactLaw.create */
  int threads, first_thread; /* first_thread: number of this system's first workspace */
  const int* links;          /* for a part: the links that it moves, ascending; NULL: not a part (contact/part.c) */
  int link_count;
  ContactPhase phase;
  bool entered;   /* contact_reset or contact_pass_state has been called */
  double range;   /* range of the law [m] */
  double* reach;  /* reach of each hull (ContactLaw.reach) [m] (hulls) */
  int item_count; /* number of hulls, and links if they are items */
  int current;    /* index of the accepted state, 0 or 1 */
  HullInstance* instance[2];
  Vec3* reference[2]; /* world centre of mass of each link [m] (links) */
  Pose* pose[2];      /* (links) */
  double (*twist)[6]; /* motion of each link from the accepted to the trial state: rotation vector, displacement [rad,
                         m] (links) */
  bool* stays[2];     /* the link's pose in the trial equals that of state k (links) */
  const bool* projecting; /* argument of contact_project: links whose pairs it projects; NULL: all */
  unsigned stamp;         /* number of the present friction reference, > 0 */
  double* moved;          /* motion of each hull from the accepted to the trial state [m] */
  double *travelled,
      *slack; /* motion of each hull since the broad phase was built, and the motion that it covers [m] (hulls) */
  double* way_travelled;    /* `travelled` at the start of the path; INFINITY: the broad phase has been rebuilt since
                               (hulls) */
  bool way_moved;           /* a state has been accepted since contact_way_begin */
  int *movers, mover_count; /* hulls of movable links, and of immovable ones */
  int *still, still_count;
  int *seeking, seeking_count; /* subsets of movers (seeking) and still (sought) whose hulls can form pairs */
  int *sought, sought_count;   /* links that only form pairs of links are in neither */
  bool placed[2];              /* instances of state k match its poses */
  bool measured;               /* stays[current], twist and moved are up to date */
  Box *boxes, *way_boxes;      /* boxes of the broad phase and of that for paths (hulls) */
  bool rests;                  /* both broad phases contain the boxes of still hulls */
  BroadPhase broad, way_broad;
  int* group;           /* group of each hull in the broad phases; one number per link with several pieces (hulls) */
  bool* strange;        /* pairs of groups whose hulls are not searched for */
  bool* whole;          /* pairs of links that represent the pairs of their hulls; NULL: none (links x links) */
  double* dense_radius; /* mean radius of the triangles of a link with very many of them; 0 for others [m] (links) */
  KeyList rubbing;    /* hull pairs with friction, of links whose pair represents all pairs of their hulls (`whole`) */
  ContactPair* pairs; /* indexed by slot */
  /* Derivatives of both states of every pair. Large and read rarely (slots). */
  PairDerivatives* derivatives[2];
  char *memory, *own[2]; /* data of the law: of every pair, and of its two states (slots) */
  int pair_capacity;
  ContactPair way_pair;   /* a pair that is not in the list */
  int *list, *spare_list; /* slots of the candidates, sorted by key */
  int list_count, list_capacity;
  int* free_slots;
  int free_count;
  int version;
  int *terms, term_count;          /* slots with terms in the accepted state */
  LinkPair* term_links;            /* (slots) */
  LinkPair* list_links;            /* links of every candidate, valid while `named` equals `version` (list) */
  int named;                       /* -1: invalid */
  int *awake, awake_count;         /* candidates that a trial evaluates; count -1: unknown (list) */
  int sleeping_hulls;              /* number of hull pairs among the other candidates */
  int *todo, todo_count;           /* awake candidates that the present pass evaluates (list) */
  int *fresh, fresh_count;         /* slots with terms that may lack derivatives */
  PairSleep* sleep;                /* (slots) */
  char *lag_room, *own_room;       /* memory of the law for friction points */
  size_t lag_capacity, *lag_first; /* offset of each candidate's share of lag_room (list) */
  size_t own_capacity;
  bool own_blends;   /* argument of contact_relag while it runs */
  const int* groups; /* argument of contact_try: group of each link, -1: none; NULL outside (links) */
  bool* refused;     /* argument of contact_try: groups with a pair that makes the trial fail */
  bool suspects_only;
  bool begins;             /* contact_reset is running */
  PairsKept remembered[2]; /* by ContactMemory */
  ContactGrip grip;        /* used from the next contact_lag on */
  ForcesKept forces[2];    /* by ContactEnd */
  ContactTimes times;
  Pose *certificate_poses, *lag_poses;
  Pose* begin_poses;          /* poses at the last contact_lag (links) */
  double* tree_mass;          /* mass of each tree [kg] (trees) */
  const Pose* aim;            /* argument of contact_set_aim, borrowed; NULL: unknown */
  const RollShift* shift;     /* argument of contact_set_shifts, borrowed; NULL: zero */
  Box* regions;               /* region of each link while parts are solved independently; NULL: never (links) */
  Box* begin_boxes;           /* box of each hull before the parts are solved; NULL as regions (hulls) */
  MotionBounds region_bounds; /* (links) */
  double *way, *fastest; /* way: distance of each link to its aim (links); fastest: largest of each tree (trees) [m] */
  PartLists parts;
  Pose* way_poses; /* start of the path of contact_certify_arrival (links) */
};

/* Returns the key at an index. */
typedef uint64_t (*KeyAt)(const void* list, int index);
/* Returns the index of a key in a list sorted by key, the first of several equal ones; -1 if there is none. Allocates
 * nothing. */
int find_key(const void* list, KeyAt key_at, int count, uint64_t key);

/* Returns true if the link may collide and has a bounded hull. Allocates nothing, cannot fail. */
bool contact_has_solid(const Model* model, int link);
/* Returns the keys of pairs that are not in the list and may come near each other on a path within `bounds` to the
 * accepted state (remembered: from contact_way_begin). Valid until the next call. NULL and *count = 0 if there are
 * none. Allocates while they grow. */
const uint64_t* contact_unlisted(ContactSystem* system, const MotionBounds* bounds, bool remembered, int* count);
/* Initializes a pair that enters the list, with its distance in the accepted state. The law's memory belongs to a slot
 * and is not set. Allocates nothing, cannot fail. */
void contact_enter(const ContactSystem* system, ContactPair* pair, uint64_t key);

/* Sets hulls and links of a pair and zeroes the rest; a half-space becomes b. Computes no distance. Items must be those
 * of the model (not checked). Allocates nothing. */
void contact_name_pair(const ContactSystem* system, ContactPair* pair, uint64_t key);
/* Returns a free slot (an index into pairs) with the law's memory zeroed, and makes room for it in the list. Allocates
 * by doubling, which invalidates pointers to pairs and to the law's memory. */
int contact_take_slot(ContactSystem* system);
/* Merges keys[count] (sorted) into the list. Keys that are `wanted` enter or keep their slot; other pairs remain if
 * `stays` says so. A change of the list changes the version, and no candidate is awake then. Allocates while the list
 * grows; cannot fail. */
void contact_merge_list(ContactSystem* system, const uint64_t* keys, int count,
                        bool (*wanted)(const ContactSystem* system, uint64_t key),
                        bool (*stays)(const ContactSystem* system, const ContactPair* pair));
/* Makes room in the list for `needed` candidates, with a reserve. Invalidates pointers into the list. Cannot fail. */
void contact_grow_list(ContactSystem* system, int needed);

/* Evaluates the accepted state again with the new friction reference. Returns false if that fails. Allocates nothing.
 */
bool contact_evaluate_again(ContactSystem* system);
/* Sets grip and material of the pair as requested by contact_set_grip. Called by contact_lag. */
void contact_grip_pair(const ContactSystem* system, ContactPair* pair);

/* Sets poses, hulls and centres of mass [m] of state `which` from poses[links] (copied) (contact/trial.c). Allocates
 * nothing; cannot fail. */
void contact_place(ContactSystem* system, int which, const Pose* poses);
/* Sets list_links to the links of all candidates. Allocates nothing. */
void contact_name_links(ContactSystem* system);
/* Returns true if the list covers motions of its hulls within `bounds` (one per link that moves). Allocates nothing. */
bool contact_covers(const ContactSystem* system, const MotionBounds* bounds);
/* Sets distance [m] and direction of two hulls in state `which` without previous data. */
void contact_measure_apart(const ContactSystem* system, ContactPair* pair, int which, PairState* state);
/* Copies the accepted state of a pair, and the law's data of it, to the trial state. Cannot fail, allocates nothing. */
void contact_take_over(const ContactSystem* system, ContactPair* pair);
/* Computes missing derivatives of the accepted state [N, N m], in parallel over pairs. Cannot fail, allocates nothing.
 */
void contact_derive(ContactSystem* system);
/* Sets terms, term_links and fresh from the pairs with terms in the accepted state, in the order of the candidates.
 * Cannot fail, allocates nothing. */
void contact_list_terms(ContactSystem* system);

/* ---- pairs of links evaluated as a whole: they represent all pairs of their hulls (ContactLaw.whole;
 * contact/whole.c) */

/* Finds the pairs of links that represent their hulls. Called once, after the law was created. Allocates a table of
 * links x links if there are any. Cannot fail. */
void contact_find_whole(ContactSystem* system);
/* Returns true if the pair of these links represents the pairs of its hulls. Allocates nothing, cannot fail. */
bool contact_is_whole(const ContactSystem* system, int link_a, int link_b);
/* Returns true if the pair of their links represents this pair of hulls. key: items a << 32 | b; false unless both are
 * hulls. Allocates nothing, cannot fail. */
bool contact_stands_for(const ContactSystem* system, uint64_t key);

/* Finds links with very many triangles (`contact/dense.c`); called once. Allocates; freed with the system. Cannot fail.
 */
void contact_find_dense_links(ContactSystem* system);

/* Lists the hull pairs with friction among those that pairs of links represent, in the accepted state. drop_others:
 * removes those listed before. Called before the state is recorded and before contact_lag. It changes no energy.
 * Allocates while the list grows. Cannot fail. */
void contact_list_rubbing(ContactSystem* system, bool drop_others);

/* Returns the smallest distance between pieces of a pair of links at poses[links] [m], 0 if they intersect. INFINITY if
 * the pair does not represent its hulls, or if its bounding spheres are farther apart than the law's range. Cannot
 * fail, allocates nothing. */
double contact_whole_distance(const ContactSystem* system, const ContactPair* pair, const Pose* poses);

/* A path between poses (links), with bounds on the motion of both links over all of it. First member of the context of
 * `prove`, which proves that two hulls stay apart from one point of the path to another. */
enum { WAY_PARTS = 64 };
typedef struct WholeWay {
  int link[2], common; /* as in ContactPair */
  const Pose *start, *end;
  MotionBound bound[2];
  ContactPath poses_at;
  void* context;
  bool (*prove)(struct WholeWay* way, int hull_a, int hull_b, int from, int to);
  /* set by contact_prove_way: poses of both links, and the frame of the common ancestor, at WAY_PARTS + 1 points, where
   * known */
  PieceTrees trees;
  bool known[WAY_PARTS + 1];
  Pose pose[2][WAY_PARTS + 1];
  Mat3 frame[WAY_PARTS + 1];
} WholeWay;
/* Returns true if no two pieces collide on the path: calls `prove` for the pairs that their bounding spheres leave
 * open. False if one proof failed. Sets trees, known, pose and frame. Allocates nothing. */
bool contact_prove_way(const ContactSystem* system, WholeWay* way);

/* Returns the link of an item. item is not checked. */
static inline int contact_item_link(const Model* model, int item) {
  return item < model->hull_count ? model->hulls[item].link : item - model->hull_count;
}
/* Returns the instance of an item; for a link its pose, without points. poses[links]. Cannot fail, allocates nothing.
 */
static inline HullInstance contact_item_at(const Model* model, int item, const Pose* poses) {
  int link = contact_item_link(model, item);
  if (item < model->hull_count) return pair_hull_at(&model->hulls[item], &poses[link]);
  return (HullInstance){.pose = poses[link],
                        .center = pose_apply(poses[link], model->links[link].center),
                        .radius = model->links[link].reach};
}

/* Returns the pair of candidate < contact_candidate_count (not checked). Borrowed until the list grows. */
static inline ContactPair* contact_pair(const ContactSystem* system, int candidate) {
  return &system->pairs[system->list[candidate]];
}

/* Returns the derivatives of the accepted state, borrowed until the list grows. Undefined for a pair without terms. */
static inline PairDerivatives* contact_derivatives(const ContactSystem* s, const ContactPair* p) {
  return &s->derivatives[s->current][p - s->pairs];
}

/* Returns the pair in state `which` as the law receives it. Its pointers belong to the system and are valid until the
 * list grows. Cannot fail. */
static inline LawPair contact_law_pair(const ContactSystem* s, ContactPair* p, int which, int thread) {
  size_t slot = (size_t)(p - s->pairs);
  return (LawPair){.law = p->law,
                   .thread = s->first_thread + thread,
                   .item = {p->hull_a, p->hull_b},
                   .a = &s->instance[which][p->hull_a],
                   .b = &s->instance[which][p->hull_b],
                   .reference = {s->reference[which][p->link_a], s->reference[which][p->link_b]},
                   .aim = {s->aim ? &s->aim[p->link_a] : NULL, s->aim ? &s->aim[p->link_b] : NULL},
                   .shift = {s->shift ? &s->shift[p->link_a] : NULL, s->shift ? &s->shift[p->link_b] : NULL},
                   .material = &p->material,
                   .grip = p->grip,
                   .gjk = &p->gjk,
                   .memory = s->memory + slot * s->law->pair_size,
                   .lagged = p->lagged,
                   .which = which,
                   .state = &p->state[which],
                   .derivatives = &s->derivatives[which][slot],
                   .own = s->own[which] + slot * s->law->state_size};
}

#endif
