/* Private to contact/: the pairs of a scene and their two states. */
#ifndef SDRS_CONTACT_SYSTEM_H
#define SDRS_CONTACT_SYSTEM_H

#include <assert.h>

#include "contact/broad_phase.h"
#include "contact/law.h"

/* Limits of parallel loops over pairs. PARALLEL_THRESHOLD: fewer pairs are processed on one thread.
 * PARALLEL_THRESHOLD_INACTIVE: in loops over pairs of which few are in contact, fewer pairs than this are processed on
 * one thread. PARALLEL_GRAIN: number of pairs that a thread processes at a time. */
enum { PARALLEL_THRESHOLD = 24, PARALLEL_GRAIN = 8, PARALLEL_THRESHOLD_INACTIVE = 500 };
/* Limits of parallel loops over links. LINKS_PARALLEL: for fewer links, the poses of hulls are computed on one thread.
 * LINKS_GRAIN: number of links that a thread processes at a time. */
enum { LINKS_PARALLEL = 128, LINKS_GRAIN = 32 };

/* Separating plane and distance of a pair at the start of a path (contact_mark_path_start). */
typedef struct {
  bool set, has_plane;
  Plane plane;
  double clearance[2], separation; /* lower bounds: clearances from the plane, distance of the hulls [m] */
  Vec3 axis;
} PathStart;

/* A candidate pair in its two states. A pair consists of two items. Items are the hulls and, if the law has pairs of
 * links (ContactLaw.links), the links, which are numbered after the hulls. A pair of links has a potential but is
 * always treated as separated. Certificate, gaps and distances are computed for the pairs of hulls. */
typedef struct {
  uint64_t key; /* item numbers i < j of the pair, as i << 32 | j */
  int hull_a, hull_b, link_a, link_b;
  bool is_link_pair;     /* true for a pair of links; hull_a and hull_b are then the item numbers of the links */
  int common_ancestor;   /* nearest common ancestor of both links; -1 if they have only the world in common */
  PairMaterial material; /* coefficients of the pair; those of friction are multiplied by `grip` */
  double grip;           /* factor on the friction force; 1 except in the first step of a run (grip.c) */
  const SceneLaw* law;   /* law of the pair, owned by the system */
  GjkCache gjk;
  bool lagged;                                /* true if the pair was active at the last contact_lag */
  bool has_points;                            /* true if the pair had contact points at the last contact_lag */
  int point_thread, point_first, point_count; /* its contact points: list, first point and number (SceneLaws.points) */
  PairState state[2];
  PathStart path_start;
} ContactPair;

/* Links of a pair. Loops over all pairs read compact arrays of LinkPair. */
typedef struct {
  int a, b;
} LinkPair;

typedef struct {
  bool is_unchanged;      /* true if the accepted and the trial state of the pair are equal and belong to the present
                             friction reference (state at the start of the step) */
  bool has_terms;         /* PairState.has_terms of the accepted state */
  bool is_evaluated;      /* true if the pair was already evaluated in the present trial */
  bool has_trial;         /* true if the trial state of the pair is evaluated; valid while neither link moves */
  bool includes_friction; /* true if `change` includes friction */
  bool suspect;           /* true if the pair made the last trial fail */
  double rounding;        /* rounding error of the accepted state [J]; NAN if not computed since is_unchanged was set */
  double change;          /* energy of the pair in a feasible trial minus its energy in the accepted state [J] */
} PairSleep;

/* Data of the active pairs, stored by contact_save. */
typedef struct {
  uint64_t* keys;
  char* data; /* data of the law for each pair */
  int count, capacity;
} SavedPairs;

/* Sorted keys of pairs. */
typedef struct {
  uint64_t* keys;
  int count, capacity;
} KeyList;

/* Data stored by contact_store_forces. */
typedef struct {
  ContactRecord* records;
  Vec3* force;
  int capacity;
  ContactForces list;
} StoredForces;

/* Candidates sorted by the subsystem to which they belong (contact/subsystem.c). */
typedef struct {
  const int* subsystem_of_tree;   /* subsystem of each tree, or -1 if there is none; borrowed (size: trees) */
  int *subsystem_of, *candidates; /* subsystem_of (list): subsystem of each candidate. candidates (list): candidates
                                  sorted by subsystem, after the candidates that belong to no subsystem */
  int* first; /* subsystem k has the candidates candidates[first[k + 2]] to candidates[first[k + 3] - 1] (subsystems +
                 3) */
  int capacity, subsystem_capacity;
} SubsystemLists;

/* Relation between the trial and the accepted state. */
typedef enum {
  CONTACT_STANDING, /* there is no trial from the present accepted state */
  CONTACT_TRIED,    /* the trial is evaluated and infeasible */
  CONTACT_FEASIBLE, /* the trial is feasible and may be accepted */
} ContactPhase;

/* Contact system of a scene. snapshot.c stores all members on which later steps depend. A new member of this kind must
 * be added there. */
struct ContactSystem {
  const Model* model;
  SceneLaws laws;
  bool overlaps, pairs_links; /* overlaps: ContactLaw.overlaps, which is the same for all laws of a scene
                                 (model/pairs.c); pairs_links: true if ContactLaw.links is true for some law */
  bool keeps_account;         /* result of contact_keeps_account */
  int threads, first_thread;  /* first_thread: number of this system's first workspace */
  const int* links;           /* links that this subsystem moves (contact/subsystem.c), ascending; NULL for the
                                 complete system (size: link_count) */
  int link_count;
  ContactPhase phase;
  bool has_state; /* true after contact_reset or contact_pass_state */
  double range;   /* range of the law [m] */
  double* reach;  /* reach of each hull (ContactLaw.reach) [m] (size: hulls) */
  int item_count; /* number of hulls, and links if they are items */
  int current;    /* index of the accepted state, 0 or 1 */
  HullInstance* instance[2];
  Vec3* reference[2]; /* world centre of mass of each link [m] (size: links) */
  Pose* pose[2];      /* poses of all links in both states (size: links) */
  double (*twist)[6]; /* motion of each link from the accepted to the trial state: rotation vector, displacement [rad,
                         m] (size: links) */
  bool* stays[2];     /* stays[k] (links): the pose of the link in the trial equals its pose in state k */
  const bool* projecting;    /* argument of contact_project: links whose pairs it projects; NULL for all */
  unsigned stamp;            /* number of the present friction reference, > 0 */
  double* moved;             /* motion of each hull from the accepted to the trial state [m] */
  double *travelled, *slack; /* travelled: motion of each hull since the broad phase was built; slack: largest motion
                                that the broad phase covers [m] (size: hulls) */
  double* path_travelled;    /* value of `travelled` at the call of contact_mark_path_start; INFINITY if the broad phase
                                has been rebuilt since then (size: hulls) */
  bool path_moved;           /* true if a state has been accepted since contact_mark_path_start */
  int *movers, mover_count;  /* movers: hulls of movable links; resting: hulls of immovable links */
  int *resting, resting_count;
  int *seeking, seeking_count; /* seeking: hulls of `movers` that can form pairs; sought: hulls of `resting` that can
                                  form pairs */
  int *sought, sought_count;   /* hulls of links that form only pairs of links are in neither `seeking` nor `sought` */
  bool placed[2];              /* placed[k]: `instance` of state k matches the poses of state k */
  bool measured;               /* true if stays[current], twist and moved are up to date */
  Box *boxes, *path_boxes;     /* boxes of the broad phase, and of the broad phase for paths (size: hulls) */
  bool rests;                  /* true if both broad phases contain the boxes of the hulls `resting` */
  BroadPhase broad, path_broad;
  int* group;            /* group of each hull in the broad phases; links with several hulls are groups (size: hulls) */
  bool* excluded_groups; /* true for pairs of groups that the broad phases skip */
  bool* aggregates; /* true for pairs of links that represent the pairs of their hulls; NULL if there are none (links x
                  links) */
  double* dense_radius; /* mean radius of the triangles of a link that has very many triangles [m]; 0 for other links
                           (size: links) */
  /* Keys of the pairs of hulls with friction that a pair of links represents (`whole`). */
  KeyList friction_pairs;
  ContactPair* pairs; /* all pairs; the index of a pair is its slot */
  /* Derivatives of both states of every pair (slots). They are separate from `pairs`, because they are large and read
   * rarely. */
  PairDerivatives* derivatives[2];
  char *memory, *data[2]; /* data of the law for every pair, and for its two states (size: slots) */
  int pair_capacity;
  ContactPair path_pair;  /* workspace of one proof or search, for a pair that is not in the list */
  int *list, *spare_list; /* slots of the candidates, sorted by key */
  int list_count, list_capacity;
  int* free_slots;
  int free_count;
  int version;
  int *terms, term_count; /* slots of the pairs with terms in the accepted state */
  LinkPair* term_links;   /* links of the pairs in `terms` (size: slots) */
  LinkPair* list_links;   /* links of every candidate, valid while list_links_version equals `version` (size: list) */
  int list_links_version; /* `version` to which list_links belongs, or -1 */
  int *awake,
      awake_count; /* candidates that a trial evaluates; awake_count is -1 if the candidates are unknown (size: list) */
  int sleeping_hulls;              /* number of hull pairs among the candidates that are not awake */
  int *pending, pending_count;     /* awake candidates that the current evaluation processes (size: list) */
  int *underived, underived_count; /* slots of pairs with terms whose derivatives may not be computed yet */
  PairSleep* sleep;                /* results of each pair that a trial can reuse (size: slots) */
  char *lag_room, *current_room;   /* memory of the law for friction points */
  size_t lag_capacity,
      *lag_first; /* lag_first: offset of each candidate's memory in `lag_room` or `current_room` (size: list) */
  size_t data_capacity;
  bool current_blends; /* argument `blends` of contact_relag while that function runs */
  const int* groups;   /* argument of contact_evaluate_trial: group of each link, -1 if there is none; NULL outside of
                          contact_evaluate_trial (size: links) */
  bool* refused;       /* argument of contact_evaluate_trial: true for groups with a pair that makes the trial fail */
  bool suspects_only;
  bool begins;              /* true while contact_reset runs */
  SavedPairs remembered[2]; /* data stored by contact_save, indexed by ContactMemory */
  ContactGrip grip;         /* normal forces that limit friction from the next contact_lag on */
  StoredForces forces[2];   /* forces stored by contact_store_forces, indexed by ContactEnd */
  ContactTimes times;
  Pose *certificate_poses, *lag_poses;
  Pose* begin_poses;          /* poses at the last contact_lag (size: links) */
  double* tree_mass;          /* mass of each tree [kg] (size: trees) */
  const Pose* expected_poses; /* argument of contact_set_expected_poses, borrowed; NULL if unknown */
  const RollShift* shift;     /* argument of contact_set_shifts, borrowed; NULL: zero */
  Box* regions; /* region of each link while subsystems are solved independently; NULL before contact_subsystems_create
                 * (links)
                 */
  Box* begin_boxes; /* box of each hull before the subsystems are solved; NULL before contact_subsystems_create (size:
                       hulls) */
  MotionBounds region_bounds; /* bounds on the motion of each link within its region (size: links) */
  double *expected_distance, *tree_expected_distance; /* expected_distance (links): distance of each link from its
                                                         expected pose [m]; tree_expected_distance (trees): largest of
                                                         these distances over the joined trees [m] */
  SubsystemLists subsystems;
  Pose* path_poses; /* start of the path of contact_certify_arrival (size: links) */
};

/* Returns the key of a pair of items. contact_record_key returns the key of a record's pair. */
static inline uint64_t contact_key(int a, int b) {
  return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}
static inline uint64_t contact_record_key(const ContactRecord* record) {
  return contact_key(record->hull_a, record->hull_b);
}
/* Callback: returns the key at an index of a list. */
typedef uint64_t (*KeyAt)(const void* list, int index);
/* Returns the index of the first entry with the key `key`, or -1 if no entry has this key. list: `count` entries,
 * sorted by key. */
int find_key(const void* list, KeyAt key_at, int count, uint64_t key);

/* Returns true if the link may collide and has a bounded hull. */
bool contact_has_solid(const Model* model, int link);
/* Returns the keys of pairs that are not in the list but may come near each other on a path to the accepted state.
 * `bounds` limits the motion on the path. Sets *count to the number of keys. marked: true if the path starts at
 * contact_mark_path_start. The system owns the array, valid until the next call. Returns NULL if no pair was found.
 * Allocates while the number of pairs grows. */
const uint64_t* contact_find_unlisted(ContactSystem* system, const MotionBounds* bounds, bool marked, int* count);
/* Initializes a pair that enters the list: sets its items, and its distance in the accepted state. Does not set the
 * law's data of the pair, which are stored per slot. */
void contact_add_pair(const ContactSystem* system, ContactPair* pair, uint64_t key);

/* Sets items and links of a pair from its key, and zeroes the other members. A half-space becomes b. Computes no
 * distance. */
void contact_init_pair(const ContactSystem* system, ContactPair* pair, uint64_t key);
/* Returns a free slot, an index into ContactSystem.pairs. Zeroes the law's data of the slot. Makes room for one more
 * candidate in the list. If the arrays are full, allocates twice their size. Pointers to pairs and to the law's data
 * then become invalid. */
int contact_allocate_slot(ContactSystem* system);
/* Merges keys[count] (sorted) into the list of candidates. Pairs whose key is in `keys` enter the list, or keep their
 * slots, if `wanted` returns true for the key. Other pairs of the list remain if `stays` returns true for the pair. If
 * the list changes, contact_version changes and no candidate is awake. Allocates while the list grows. */
void contact_merge_list(ContactSystem* system, const uint64_t* keys, int count,
                        bool (*wanted)(const ContactSystem* system, uint64_t key),
                        bool (*stays)(const ContactSystem* system, const ContactPair* pair));
/* Makes room in the list for `needed` candidates and a reserve. Invalidates pointers into the list. */
void contact_reserve_list(ContactSystem* system, int needed);

/* Evaluates the accepted state again with the new friction reference. Returns false if a separating plane or a slip is
 * not found. */
bool contact_evaluate_again(ContactSystem* system);
/* Sets grip and material of the pair according to the last contact_set_grip. contact_lag calls this function. */
void contact_grip_pair(const ContactSystem* system, ContactPair* pair);

/* Sets poses, hulls and centres of mass [m] of state `which` from poses[links] (contact/trial.c). Copies the poses. */
void contact_set_poses(ContactSystem* system, int which, const Pose* poses);
/* Sets list_links to the links of all candidates. */
void contact_update_list_links(ContactSystem* system);
/* Returns the impacts of all pairs in the substep that ended. Allocates nothing. */
ImpactActivity impact_activity(ContactSystem* s);
/* Returns true if the candidates include all pairs that may come near each other while links move within bounds.
 * bounds: bounds->link of every movable link. */
bool contact_list_covers(const ContactSystem* system, const MotionBounds* bounds);
/* Sets distance [m] and direction of two hulls in *state, computed from the poses of state `which` without previous
 * results. Under laws without barrier, sets the distance to 0, which means not computed. */
void contact_measure_distance(const ContactSystem* system, ContactPair* pair, int which, PairState* state);
/* Copies the accepted state of a pair to its trial state, including the law's data of the state. */
void contact_copy_accepted_state(const ContactSystem* system, ContactPair* pair);
/* Computes missing derivatives of the accepted state [N, N m], in parallel over pairs. */
void contact_derive(ContactSystem* system);
/* Sets the lists terms, term_links and underived to the pairs that have terms in the accepted state, in the order of
 * the
 * candidates. */
void contact_list_terms(ContactSystem* system);

/* ---- aggregate pairs: two links that represent all pairs of their hulls (ContactLaw.whole) */

/* Finds the aggregate pairs of links. Call once, after the law was created. If it finds a pair, allocates a table
 * (links x links). */
void contact_find_aggregate_pairs(ContactSystem* system);
/* Returns true if two links are an aggregate pair. */
bool contact_is_aggregate_pair(const ContactSystem* system, int link_a, int link_b);
/* Returns true if an aggregate pair of links represents this pair of items. key: result of contact_key for the two
 * items. Returns false unless both items are hulls. */
bool contact_is_represented(const ContactSystem* system, uint64_t key);

/* Sets ContactSystem.dense_radius, the mean radius of the triangles of links that have very many triangles. Call once.
 * Allocates memory that contact_destroy frees. */
void contact_find_dense_links(ContactSystem* system);

/* Lists pairs of hulls that an aggregate pair represents, and between which friction acts in the accepted state.
 * drop_others: pairs of hulls that an aggregate pair represents, but without friction, leave the list. Called before
 * the state is recorded and before contact_lag. Changes no
 * energy. Allocates while the list grows. */
void contact_list_friction_pairs(ContactSystem* system, bool drop_others);

/* Returns the smallest distance between the hulls of a pair of links at poses[links] [m], 0 if they intersect. Returns
 * INFINITY if the pair does not represent the pairs of its hulls. Also returns INFINITY if the bounding spheres of the
 * links are farther apart than the law's range. */
double contact_aggregate_distance(const ContactSystem* system, const ContactPair* pair, const Pose* poses);

/* Path of an aggregate pair from the poses `start` to the poses `end` (links). bound: upper bounds on the motion of
 * both links over the complete path. `prove` returns true if two hulls provably do not intersect between the points
 * `from` and `to` of the path. An AggregatePath is the first member of a structure that `prove` knows. */
enum { AGGREGATE_PATH_INTERVALS = 64 };
typedef struct AggregatePath {
  int link[2], common_ancestor; /* the links, and their common ancestor as in ContactPair */
  const Pose *start, *end;
  MotionBound bound[2];
  ContactPath poses_at;
  void* context;
  bool (*prove)(struct AggregatePath* path, int hull_a, int hull_b, int from, int to);
  /* Members that contact_prove_aggregate_path sets. known[k] is true if pose and frame at point k of the
   * AGGREGATE_PATH_INTERVALS + 1 points of the path are set: poses of both links, and rotation of their common
   * ancestor. */
  PieceTrees trees;
  bool known[AGGREGATE_PATH_INTERVALS + 1];
  Pose pose[2][AGGREGATE_PATH_INTERVALS + 1];
  Mat3 frame[AGGREGATE_PATH_INTERVALS + 1];
} AggregatePath;
/* Returns true if no two hulls of the pair of links intersect on the path. Calls way->prove for those pairs of hulls
 * whose bounding spheres do not prove that the hulls stay apart. Returns false if way->prove returned false. Sets
 * trees, known, pose and frame. */
bool contact_prove_aggregate_path(const ContactSystem* system, AggregatePath* path);

/* Returns an item at poses[links]. For a link, the result has a pose and a bounding sphere, but no points. */
static inline HullInstance contact_item_at(const Model* model, int item, const Pose* poses) {
  int link = contact_item_link(model, item);
  if (item < model->hull_count) return pair_hull_at(&model->hulls[item], &poses[link]);
  return (HullInstance){.pose = poses[link],
                        .center = pose_apply(poses[link], model->links[link].center),
                        .radius = model->links[link].reach};
}

/* Returns the pair of `candidate` < contact_candidate_count (asserted). The system owns the pair; the pointer is valid
 * until the list grows. */
static inline ContactPair* contact_pair(const ContactSystem* system, int candidate) {
  assert(candidate >= 0 && candidate < system->list_count);
  return &system->pairs[system->list[candidate]];
}

/* Returns the derivatives of a pair with terms in the accepted state. The system owns them; the pointer is valid until
 * the list grows. */
static inline PairDerivatives* contact_derivatives(const ContactSystem* s, const ContactPair* p) {
  return &s->derivatives[s->current][p - s->pairs];
}

/* Returns pair p in state `which` as a LawPair, the argument of the law's functions. The pointers in the result belong
 * to the system and are valid until the list grows. */
static inline LawPair contact_law_pair(const ContactSystem* s, ContactPair* p, int which, int thread) {
  size_t slot = (size_t)(p - s->pairs);
  return (LawPair){.row = p->law->row,
                   .law = p->law->data,
                   .contact = &p->law->view.contact,
                   .step = s->laws.step,
                   .thread = s->first_thread + thread,
                   .item = {p->hull_a, p->hull_b},
                   .a = &s->instance[which][p->hull_a],
                   .b = &s->instance[which][p->hull_b],
                   .reference = {s->reference[which][p->link_a], s->reference[which][p->link_b]},
                   .aim = {s->expected_poses ? &s->expected_poses[p->link_a] : NULL,
                           s->expected_poses ? &s->expected_poses[p->link_b] : NULL},
                   .shift = {s->shift ? &s->shift[p->link_a] : NULL, s->shift ? &s->shift[p->link_b] : NULL},
                   .material = &p->material,
                   .grip = p->grip,
                   .gjk = &p->gjk,
                   .memory = s->memory + slot * s->laws.pair_size,
                   .lagged = p->lagged,
                   .has_points = p->has_points,
                   .points = p->point_count > 0 ? s->laws.points[p->point_thread].list + p->point_first : NULL,
                   .point_count = p->point_count,
                   .which = which,
                   .state = &p->state[which],
                   .derivatives = &s->derivatives[which][slot],
                   .data = s->data[which] + slot * s->laws.state_size};
}

#endif
