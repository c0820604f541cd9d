/* Replay of the pairs of a recorded step: computes the terms of the pairs and their adjoint
 * (docs/derivations/adjoint.md). Steps are processed backwards, so the pairs at t of one step become the pairs at t +
 * dt of the step that is processed next. */
#include <assert.h>
#include <string.h>

#include "contact/impact.h"
#include "contact/ring.h"
#include "contact/step.h"
#include "contact/system.h"
#include "contact/tree_mass.h"

/* Bodies of a recorded pair in one state. */
typedef struct {
  PairBody body[2];
  bool found; /* true if the law's data of this state (ReplaySide.data) were recomputed */
} ReplayMoment;

typedef struct {
  const ContactRecord* records; /* records of this state; NULL if there are none */
  int count, capacity, data_capacity;
  ReplayMoment* moments;
  char* data; /* data that the contact law stores for each pair in this state (size: records) */
} ReplaySide;

typedef struct {
  const ContactRecord* record;
  int link[2];
  PairMaterial material;       /* material of the pair, with friction multiplied by the record's grip */
  const ModelContact* contact; /* contact parameters of the pair's law */
  const SceneLaw* law;
  int pair_law; /* index of the pair's law in Model.pair_laws; -1 for the law of the model */
  const ReplayMoment* next;
  const ReplayMoment* now;   /* NULL if the pair was not active at t */
  const ReplayMoment* solve; /* state in the previous solve of the step, if friction depends on the force of this solve;
                                NULL if the pair was not active in it */
  int before;                /* index of the pair's record at t; valid only if `now` is not NULL */
  int points[2];             /* number of vertices of each item */
  char* vertices;            /* memory that the law uses for the vertices of both items */
  PairDerivatives derivatives;
  PairShares shares;
  PairTransfer by_length[CONTACT_CLOCK_ENTRIES]; /* derivatives with respect to the entries of the clock
                                                    (contact_replay_clear_clock_derivatives) */
  bool sound;
} ReplayPair;

struct ContactReplay {
  const Model* model;
  int threads;
  SceneLaws laws;
  double* tree_mass;    /* result of tree_masses (size: trees) */
  ReplaySide side[2];   /* pairs at t and at t + dt; the member `next` tells which is which */
  int next;             /* index in `side` of the pairs at t + dt */
  ReplaySide solve;     /* pairs in the previous solve of the step */
  ContactMoment solved; /* state of the previous solve, as given to contact_replay_set_solve; its pose is NULL if there
                           is no such solve */
  const Pose *pose_now, *pose_next;
  const Pose* aim;         /* expected poses of the links at t + dt (contact_set_expected_poses), borrowed */
  double (*aim_bar)[3][4]; /* derivatives with respect to the entries of the expected poses `aim`, borrowed */
  const RollShift* shift;  /* shifts of all links, borrowed (contact_replay_set_shifts) */
  RollShift* shift_bar;    /* derivatives with respect to `shift`, borrowed */
  int64_t number_now;      /* ContactMoment.number of the moment at t */
  ReplayPair* pairs;
  int count, capacity;
  char *memory,
      *vertices; /* memory for the law's data of the pairs (ContactLaw.replay_size each) and of their vertices */
  VertexShare* shares;
  double* parameters; /* derivatives with respect to the parameters of the smooth shapes of all pairs */
  int memory_capacity, vertex_capacity, share_capacity, parameter_capacity;
  PairCarry* carry[2]; /* derivatives with respect to the numbers that pairs pass to the next step (PairCarry): [0] at t
                          (records at t); [1] at t + dt, found in the next step of the run (records at t + dt) */
  int carry_capacity[2];
  PairCarry* aside; /* copy of carry[0] by contact_replay_store_carry (size: records) */
  int aside_capacity;
  const ContactField* field;      /* argument of contact_replay_adjoint while it runs */
  ContactLengths lengths;         /* result of the last contact_replay_adjoint */
  bool excludes_impulse_friction; /* true after contact_replay_exclude_impulse_friction */
  const ContactWork* work_bars;   /* argument of contact_replay_set_work_bars, borrowed */
};

/* ---------------------------------------------------------------- creation */

ContactReplay* contact_replay_create(const Model* model, int threads) {
  ContactReplay* r = MEMORY_NEW(ContactReplay, 1);
  r->model = model;
  r->threads = threads < 1 ? 1 : threads;
  laws_create(model, r->threads, 0, &r->laws);
  r->tree_mass = tree_masses(model);
  return r;
}

void contact_replay_destroy(ContactReplay* r) {
  if (!r) return;
  laws_destroy(&r->laws);
  for (int k = 0; k < 2; k++) {
    memory_free(r->side[k].moments);
    memory_free(r->side[k].data);
    memory_free(r->carry[k]);
  }
  memory_free(r->tree_mass);
  memory_free(r->solve.moments);
  memory_free(r->solve.data);
  memory_free(r->aside);
  memory_free(r->pairs);
  memory_free(r->memory);
  memory_free(r->vertices);
  memory_free(r->shares);
  memory_free(r->parameters);
  memory_free(r);
}

void contact_replay_set_expected_poses(ContactReplay* r, const Pose* poses, double (*bar)[3][4]) {
  r->aim = poses;
  r->aim_bar = bar;
}

void contact_replay_set_shifts(ContactReplay* r, const RollShift* shift, RollShift* bar) {
  r->shift = shift;
  r->shift_bar = bar;
}

void contact_replay_set_solve(ContactReplay* r, const ContactMoment* solve) {
  r->solved = solve ? *solve : (ContactMoment){.pose = NULL};
}

void contact_replay_set_dt(ContactReplay* r, double dt) {
  assert(dt > 0);
  r->laws.step->dt = dt;
}

/* Returns memory for `count` items of `size` bytes. If *capacity is too small, frees `old`, allocates new memory and
 * sets *capacity. The content is undefined. */
static void* room_for(void* old, int* capacity, int count, size_t size) {
  if (count <= *capacity) return old;
  memory_free(old);
  *capacity = count + count / 2 + 16;
  return memory_alloc(size * (size_t)*capacity);
}

/* ---------------------------------------------------------------- pairs of one state */

typedef struct {
  ContactReplay* replay;
  ReplaySide* side;
  const Pose* pose;
} MomentTask;

static PairBody body_at(const Model* model, int hull, const Pose* poses) {
  int link = contact_item_link(model, hull);
  return (PairBody){contact_item_at(model, hull, poses), pose_apply(poses[link], model->links[link].center)};
}

static void* data_at(const ContactReplay* r, const ReplaySide* side, const ReplayMoment* moment) {
  return side->data + (size_t)(moment - side->moments) * r->laws.moment_size;
}

static void revisit(void* context, int index, int thread) {
  MomentTask* t = context;
  const ContactRecord* record = &t->side->records[index];
  ReplayMoment* moment = &t->side->moments[index];
  const Model* model = t->replay->model;
  const SceneLaw* law = law_of_items(&t->replay->laws, record->hull_a, record->hull_b);
  moment->body[0] = body_at(model, record->hull_a, t->pose);
  moment->body[1] = body_at(model, record->hull_b, t->pose);
  void* data = data_at(t->replay, t->side, moment);
  moment->found = !law->row->history || law->row->history->revisit(law->data, thread, record, moment->body, data);
}

static void load_moments(ContactReplay* r, ReplaySide* side, const ContactMoment* moment) {
  side->moments = room_for(side->moments, &side->capacity, moment->count, sizeof(ReplayMoment));
  side->data = room_for(side->data, &side->data_capacity, moment->count, r->laws.moment_size);
  side->records = moment->records;
  side->count = moment->count;
  MomentTask task = {r, side, moment->pose};
  parallel_for(r->threads, moment->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, revisit, &task);
}

/* ---------------------------------------------------------------- pairs of the step */

/* Sets ReplayPair.solve of the pairs whose friction depends on the force of the previous solve of the step. The pairs
 * of the step and the records of the solve are both sorted by key. */
static void match_solve(ContactReplay* r) {
  const ReplaySide* solve = &r->solve;
  for (int k = 0, before = 0; k < r->count; k++) {
    ReplayPair* p = &r->pairs[k];
    p->solve = NULL;
    if (!p->record->current_force || !r->solved.pose) continue;
    while (before < solve->count && contact_record_key(&solve->records[before]) < contact_record_key(p->record))
      before++;
    bool known = before < solve->count && contact_record_key(&solve->records[before]) == contact_record_key(p->record);
    if (known && solve->records[before].active) p->solve = &solve->moments[before];
  }
}

/* Sets the pairs of the step from the records at t + dt, and finds the state of each pair at t. The records of both
 * states are sorted by key. */
static void match_pairs(ContactReplay* r, const ReplaySide* now, const ReplaySide* next) {
  r->pairs = room_for(r->pairs, &r->capacity, next->count, sizeof(ReplayPair));
  r->count = next->count;
  for (int k = 0, before = 0; k < next->count; k++) {
    ReplayPair* p = &r->pairs[k];
    const ContactRecord* record = &next->records[k];
    p->record = record; /* evaluate_pair sets p->derivatives later */
    p->next = &next->moments[k];
    p->now = NULL;
    p->link[0] = contact_item_link(r->model, record->hull_a);
    p->link[1] = contact_item_link(r->model, record->hull_b);
    p->material = material_with_friction_factor(model_pair_material(r->model, p->link[0], p->link[1]), record->grip);
    p->law = law_of_links(&r->laws, p->link[0], p->link[1]);
    p->pair_law = (int)(p->law - r->laws.laws) - 1;
    p->contact = p->pair_law < 0 ? &r->model->contact : &r->model->pair_laws[p->pair_law].contact;
    while (before < now->count && contact_record_key(&now->records[before]) < contact_record_key(record)) before++;
    bool known = before < now->count && contact_record_key(&now->records[before]) == contact_record_key(record);
    p->before = before;
    if (known && now->records[before].active) p->now = &now->moments[before];
  }
}

/* Returns the number of vertices of a hull, or the number of friction points of a hull with circles (cylinders, discs).
 * item: a hull, or a link, for which the function returns the sum over the hulls. */
static int item_points(const ContactReplay* r, int item) {
  const Model* model = r->model;
  if (item < model->hull_count) {
    RoundBody body = hull_contact_geometry(&model->hulls[item]);
    return body.ring_count > 0 ? RING_POINTS * body.ring_count : body.points.count;
  }
  const ModelLink* link = &model->links[item - model->hull_count];
  int count = 0;
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++) count += model->hulls[k].points.count;
  return count;
}

/* Returns the index of the first vertex of an item among the vertices of all hulls of the model. */
static int item_first(const ContactReplay* r, int item) {
  const Model* model = r->model;
  int hull = item < model->hull_count ? item : model->links[item - model->hull_count].hull_first;
  return model->hulls[hull].vertex_first;
}

/* Memory that a recorded pair needs for each vertex: bytes of the law's data, and number of VertexShare entries. */
typedef struct {
  size_t size;
  int shares;
} VertexNeed;
static VertexNeed need_of(const ContactReplay* r, const ReplayPair* p) {
  const ContactLaw* law = p->law->row;
  if (p->record->hull_a < r->model->hull_count) return (VertexNeed){law->vertex_size, law->vertex_shares};
  return (VertexNeed){law->link_vertex_size, law->link_vertex_shares};
}

static void lend_vertices(ContactReplay* r) {
  size_t bytes = 0, shares = 0;
  for (int k = 0; k < r->count; k++) {
    ReplayPair* p = &r->pairs[k];
    VertexNeed need = need_of(r, p);
    p->points[0] = item_points(r, p->record->hull_a);
    p->points[1] = item_points(r, p->record->hull_b);
    bytes += need.size * (size_t)(p->points[0] + p->points[1]);
    shares += (size_t)(need.shares * (p->points[0] + p->points[1]));
  }
  r->memory = room_for(r->memory, &r->memory_capacity, r->count, r->laws.replay_size);
  r->vertices = room_for(r->vertices, &r->vertex_capacity, (int)((bytes + 63) / 64), 64);
  r->shares = room_for(r->shares, &r->share_capacity, (int)shares, sizeof(VertexShare));
  char* vertices = r->vertices;
  VertexShare* share = r->shares;
  for (int k = 0; k < r->count; k++) {
    ReplayPair* p = &r->pairs[k];
    VertexNeed need = need_of(r, p);
    p->vertices = vertices;
    p->shares.share[0] = share;
    p->shares.share[1] = share + (size_t)(need.shares * p->points[0]);
    vertices += need.size * (size_t)(p->points[0] + p->points[1]);
    share = p->shares.share[1] + (size_t)(need.shares * p->points[1]);
  }
}

static int item_parameters(const ContactReplay* r, int item) {
  return item < r->model->hull_count ? hull_parameter_count(&r->model->hulls[item]) : 0;
}

/* Divides the array r->parameters among the pairs: sets shares.shape of each pair to its part. The array contains
 * derivatives with respect to parameters of smooth shapes. */
static void lend_parameters(ContactReplay* r) {
  int needed = 0, first = 0;
  for (int k = 0; k < r->count; k++)
    needed += item_parameters(r, r->pairs[k].record->hull_a) + item_parameters(r, r->pairs[k].record->hull_b);
  r->parameters = room_for(r->parameters, &r->parameter_capacity, needed, sizeof(double));
  for (int k = 0; k < r->count; k++)
    for (int side = 0; side < 2; side++) {
      ReplayPair* p = &r->pairs[k];
      int count = item_parameters(r, side == 0 ? p->record->hull_a : p->record->hull_b);
      p->shares.shape[side] = count > 0 ? r->parameters + first : NULL;
      p->shares.shape_count[side] = count;
      first += count;
    }
}

static LawReplay law_replay(const ContactReplay* r, int index, int thread) {
  const ReplayPair* p = &r->pairs[index];
  return (LawReplay){.row = p->law->row,
                     .law = p->law->data,
                     .contact = &p->law->view.contact,
                     .step = r->laws.step,
                     .room = &r->laws.points[thread],
                     .thread = thread,
                     .record = p->record,
                     .material = &p->material,
                     .now = p->now ? p->now->body : NULL,
                     .next = p->next->body,
                     .solve = p->solve ? p->solve->body : NULL,
                     .begin = {r->pose_now[p->link[0]], r->pose_now[p->link[1]]},
                     .aim = {r->aim ? &r->aim[p->link[0]] : NULL, r->aim ? &r->aim[p->link[1]] : NULL},
                     .shift = {r->shift ? &r->shift[p->link[0]] : NULL, r->shift ? &r->shift[p->link[1]] : NULL},
                     .data_now = p->now ? data_at(r, &r->side[1 - r->next], p->now) : NULL,
                     .data_next = data_at(r, &r->side[r->next], p->next),
                     .data_solve = p->solve ? data_at(r, &r->solve, p->solve) : NULL,
                     .memory = r->memory + (size_t)index * r->laws.replay_size,
                     .vertices = p->vertices,
                     .apart = r->excludes_impulse_friction,
                     .work = r->work_bars ? &r->work_bars[index] : NULL};
}

static void evaluate_pair(void* context, int index, int thread) {
  ContactReplay* r = context;
  ReplayPair* p = &r->pairs[index];
  p->sound = p->next->found && (p->now ? p->now->found : !p->record->late) &&
             (p->solve ? p->solve->found : !p->record->current_force);
  memset(&p->derivatives, 0, sizeof(p->derivatives));
  LawReplay pair = law_replay(r, index, thread);
  p->sound = p->sound && law_derive_recorded(&pair, &p->derivatives);
}

void contact_replay_refresh(ContactReplay* r, double ratio_change) {
  r->laws.step->dt_before = 0;
  r->laws.step->force_ratio = 1 + ratio_change;
  parallel_for(r->threads, r->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_pair, r);
}

/* Returns the numbers that a recorded pair passes to events and to the next step (PairPasses). */
static PairPasses passes_of(const ContactReplay* r, int index) {
  LawReplay pair = law_replay(r, index, 0);
  PairPasses out;
  r->pairs[index].law->row->impacts->passes(&pair, &out);
  return out;
}

bool contact_replay_event(const ContactReplay* r, int hull_a, int hull_b, EventTerms* event) {
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    if (p->record->hull_a != hull_a || p->record->hull_b != hull_b || !p->record->active) continue;
    if (!p->law->row->impacts) return false;
    PairPasses passes = passes_of(r, k);
    *event = (EventTerms){.index = k, .link = {p->link[0], p->link[1]}};
    memcpy(event->force, passes.force, sizeof(passes.force));
    memcpy(event->torque, passes.torque, sizeof(passes.torque));
    return true;
  }
  return false;
}

static bool add_displacement_wrenches(const ContactReplay* r, double (*wrench)[6]) {
  bool found = false;
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    if (!p->law->row->impacts) continue;
    LawReplay pair = law_replay(r, k, 0);
    double pair_wrench[2][6] = {{0}};
    if (!p->law->row->impacts->displacement_wrench(&pair, &r->carry[1][k], pair_wrench)) continue;
    for (int i = 0; i < 12; i++) wrench[p->link[i / 6]][i % 6] += p->contact->stiffness * pair_wrench[i / 6][i % 6];
    found = true;
  }
  return found;
}

bool contact_replay_add_carried_derivatives(const ContactReplay* r, double (*wrench)[6]) {
  bool found = add_displacement_wrenches(r, wrench);
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    if (r->carry[1][k].load == 0 || !p->record->active || !p->law->row->impacts) continue;
    PairPasses passes = passes_of(r, k);
    double bar = p->contact->stiffness * r->carry[1][k].load * passes.slope;
    for (int side = 0; side < 2; side++) {
      double* out = wrench[p->link[side]];
      vec3_store(vec3_add_scaled(vec3_at(out), bar, passes.torque[side]), out);
      vec3_store(vec3_add_scaled(vec3_at(out + 3), bar, passes.force[side]), out + 3);
    }
    found = true;
  }
  return found;
}

void contact_replay_clear_clock_derivatives(ContactReplay* r, int entry) {
  for (int k = 0; k < r->count; k++) r->pairs[k].by_length[entry] = (PairTransfer){.net_limit = 0};
}

void contact_replay_add_difference(ContactReplay* r, int entry, double factor) {
  for (int k = 0; k < r->count; k++) {
    ReplayPair* p = &r->pairs[k];
    if (!p->law->row->impacts) continue;
    LawReplay pair = law_replay(r, k, 0);
    PairTransfer transfer = p->law->row->impacts->transfer(&pair), *sum = &p->by_length[entry];
    sum->displacement = vec3_add_scaled(sum->displacement, factor, transfer.displacement);
    sum->net_limit += factor * transfer.net_limit;
  }
}

double contact_replay_length_derivative(const ContactReplay* r, int entry) {
  double sum = 0;
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    if (!p->law->row->impacts) continue;
    LawReplay pair = law_replay(r, k, 0);
    PairTransfer slopes = p->law->row->impacts->transfer_slopes(&pair, &r->carry[1][k]);
    sum += p->contact->stiffness * (vec3_dot(slopes.displacement, p->by_length[entry].displacement) +
                                    slopes.net_limit * p->by_length[entry].net_limit);
  }
  return sum;
}

/* Adds by[MATERIAL_NUMBERS], derivatives with respect to the parameters of the pair's law, to *gradient. */
static void add_to_law(const Model* model, const ReplayPair* p, const double* by, ModelGradient* gradient) {
  if (p->pair_law >= 0) {
    model_gradient_pair_law(model, p->pair_law, by, gradient);
    return;
  }
  gradient->contact[CONTACT_SUPPORT] += by[MATERIAL_SUPPORT];
  gradient->contact[CONTACT_STIFFNESS] += by[MATERIAL_STIFFNESS];
}

void contact_replay_seed_event(ContactReplay* r, const EventTerms* event, double nu, ModelGradient* gradient) {
  const ReplayPair* p = &r->pairs[event->index];
  double support = p->contact->support;
  const double by[MATERIAL_NUMBERS] = {[MATERIAL_SUPPORT] = nu * impact_potential(support, IMPACT_ENTRY) / support};
  r->carry[1][event->index].event += nu / p->contact->stiffness;
  add_to_law(r->model, p, by, gradient);
}

ContactLengths contact_replay_lengths(const ContactReplay* r) { return r->lengths; }

void contact_replay_begin(ContactReplay* r) {
  r->side[0].records = r->side[1].records = NULL;
  r->pose_now = NULL;
}

/* Prepares the derivatives with respect to the numbers of PairCarry for the step that is loaded. follows: true if the
 * loaded step precedes the last one in the run. Then the derivatives found at t become those at t + dt; otherwise the
 * derivatives at t + dt are zeroed. The derivatives at t are always zeroed. now, next: numbers of records at t and at t
 * + dt. */
static void shift_carry(ContactReplay* r, bool follows, int now, int next) {
  PairCarry* other = r->carry[0];
  int capacity = r->carry_capacity[0];
  r->carry[0] = r->carry[1];
  r->carry_capacity[0] = r->carry_capacity[1];
  r->carry[1] = other;
  r->carry_capacity[1] = capacity;
  r->carry[0] = room_for(r->carry[0], &r->carry_capacity[0], now, sizeof(PairCarry));
  if (!follows) r->carry[1] = room_for(r->carry[1], &r->carry_capacity[1], next, sizeof(PairCarry));
  for (int k = 0; k < now; k++) r->carry[0][k] = (PairCarry){0};
  for (int k = 0; k < next && !follows; k++) r->carry[1][k] = (PairCarry){0};
}

/* Returns true if `next` is the initial state of the step that was loaded last. */
static bool loaded_before(const ContactReplay* r, const ContactMoment* next) {
  if (!r->pose_now) return false;
  if (next->number > 0) return r->number_now == next->number;
  return r->side[1 - r->next].records == next->records && next->records && r->pose_now == next->pose;
}

/* Matches the pairs of both states and computes their terms. Returns false if the state of a pair was not
 * reproduced. */
static bool evaluate_pairs(ContactReplay* r, const ContactMoment* now, const ContactMoment* next) {
  r->number_now = now->number;
  r->excludes_impulse_friction = false;
  r->pose_now = now->pose;
  r->pose_next = next->pose;
  match_pairs(r, &r->side[1 - r->next], &r->side[r->next]);
  if (r->solved.pose) load_moments(r, &r->solve, &r->solved);
  match_solve(r);
  lend_vertices(r);
  lend_parameters(r);
  parallel_for(r->threads, r->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_pair, r);
  bool sound = true;
  for (int k = 0; k < r->count; k++) sound = sound && r->pairs[k].sound;
  return sound;
}

bool contact_replay_load_forward(ContactReplay* r, const ContactMoment* now, const ContactMoment* next) {
  shift_carry(r, false, now->count, next->count);
  bool follows = r->pose_now && now->number > 0 && r->number_now + 1 == now->number;
  r->next = 1 - r->next;
  if (follows)
    r->side[1 - r->next].records = now->records;
  else
    load_moments(r, &r->side[1 - r->next], now);
  load_moments(r, &r->side[r->next], next);
  return evaluate_pairs(r, now, next);
}

void contact_replay_store_carry(ContactReplay* r) {
  int count = r->side[1 - r->next].count;
  r->aside = room_for(r->aside, &r->aside_capacity, count, sizeof(PairCarry));
  if (count > 0) memcpy(r->aside, r->carry[0], sizeof(PairCarry) * (size_t)count);
}

void contact_replay_add_stored_carry(ContactReplay* r) {
  int numbers = r->side[1 - r->next].count * contact_replay_carried(r);
  const double* from = (const double*)r->aside;
  double* to = (double*)r->carry[0];
  for (int k = 0; k < numbers; k++) to[k] += from[k];
}

int contact_replay_carried(const ContactReplay* r) {
  (void)r;
  return (int)(sizeof(PairCarry) / sizeof(double));
}

void contact_replay_seed_carry(ContactReplay* r, int pair, int number) {
  assert(pair < r->count && (pair < 0 || (number >= 0 && number < contact_replay_carried(r))));
  for (int k = 0; k < r->side[1 - r->next].count; k++) r->carry[0][k] = (PairCarry){0};
  for (int k = 0; k < r->count; k++) r->carry[1][k] = (PairCarry){0};
  if (pair >= 0) ((double*)&r->carry[1][pair])[number] = 1;
}

void contact_replay_read_carry(const ContactReplay* r, double* out) {
  assert(out);
  memcpy(out, r->carry[0], sizeof(PairCarry) * (size_t)r->side[1 - r->next].count);
}

bool contact_replay_load(ContactReplay* r, const ContactMoment* now, const ContactMoment* next) {
  bool follows = loaded_before(r, next);
  shift_carry(r, follows, now->count, next->count);
  if (follows) {
    r->next = 1 - r->next;
    r->side[r->next].records = next->records;
  } else
    load_moments(r, &r->side[r->next], next);
  load_moments(r, &r->side[1 - r->next], now);
  return evaluate_pairs(r, now, next);
}

bool contact_replay_work(const ContactReplay* r, int index, ContactWork* out) {
  assert(index >= 0 && index < r->count);
  const LawImpacts* impacts = r->pairs[index].law->row->impacts;
  if (!impacts || r->pairs[index].record->hull_b >= r->model->hull_count) return false;
  LawReplay pair = law_replay(r, index, 0);
  return impacts->recorded_work(&pair, out);
}

void contact_replay_set_work_bars(ContactReplay* r, const ContactWork* bars) { r->work_bars = bars; }

bool contact_replay_add_work_derivatives(const ContactReplay* r, const ContactWork* bars, double (*wrench)[6]) {
  bool found = false;
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    if (contact_work_is_zero(&bars[k])) continue;
    LawReplay pair = law_replay(r, k, 0);
    pair.work = &bars[k];
    double pair_wrench[2][6];
    p->law->row->impacts->work_wrench(&pair, pair_wrench);
    for (int i = 0; i < 12; i++) wrench[p->link[i / 6]][i % 6] += pair_wrench[i / 6][i % 6];
    found = true;
  }
  return found;
}

static int replay_count(const void* holder) { return ((const ContactReplay*)holder)->count; }

static ContactTerms replay_term(const void* holder, int index) {
  const ReplayPair* p = &((const ContactReplay*)holder)->pairs[index];
  const PairDerivatives* d = &p->derivatives;
  return (ContactTerms){
      p->link[0], p->link[1], d->force, d->moment, d->hessian, false, !p->next->body[1].hull.half_space};
}

ContactTermList contact_replay_terms(const ContactReplay* r) { return (ContactTermList){r, replay_count, replay_term}; }

/* ---------------------------------------------------------------- adjoint of a step */

/* Subtracts the derivatives with respect to the force between two links (ForcePairSlopes) from the displacement part of
 * the twists, if `p` is a pair of these links. */
static void add_between(const ReplayPair* p, const ForcePairSlopes* between, double twist[2][6]) {
  for (int k = 0; k < between->count; k++) {
    ForcePair links = between->pairs[k];
    for (int side = 0; side < 2; side++) {
      if (p->link[side] != links.link || p->link[1 - side] != links.other) continue;
      twist[side][3] -= between->slope[k].x;
      twist[side][4] -= between->slope[k].y;
      twist[side][5] -= between->slope[k].z;
    }
  }
}

/* Sets `twist` to the twists of both bodies in `f`, minus the derivatives with respect to the force of the pair. The
 * sign is negative because the force on a link is minus the derivative of the pair's energy with respect to its
 * displacement. If body b is a half-space, subtracts its displacement from that of body a, because the equations of the
 * step have no unknowns for a half-space. Returns false if both twists are zero. */
static bool pair_field(const ContactReplay* r, int index, const ContactField* f, double twist[2][6]) {
  const ReplayPair* p = &r->pairs[index];
  memset(twist, 0, 2 * sizeof(double[6]));
  for (int side = 0; side < 2; side++) {
    if (f->twist) memcpy(twist[side], f->twist[p->link[side]], sizeof(double[6]));
    if (!f->force) continue;
    Vec3 d = f->force[p->link[side]];
    twist[side][3] -= d.x;
    twist[side][4] -= d.y;
    twist[side][5] -= d.z;
  }
  if (f->pair) {
    twist[0][3] -= f->pair[index].x;
    twist[0][4] -= f->pair[index].y;
    twist[0][5] -= f->pair[index].z;
  }
  add_between(p, &f->between, twist);
  for (int i = 0; i < 3 && p->next->body[1].hull.half_space; i++) {
    twist[0][3 + i] -= twist[1][3 + i];
    twist[1][3 + i] = 0;
  }
  for (int i = 0; i < 12; i++)
    if (twist[i / 6][i % 6] != 0) return true;
  return false;
}

static bool carries(const PairCarry* c) {
  return c->y != 0 || c->old.potential != 0 || c->old.force != 0 || c->load != 0 || c->event != 0 || c->slip != 0 ||
         c->net_limit != 0 || !vec3_is_zero(c->elastic);
}

static void reverse_pair(void* context, int index, int thread) {
  ContactReplay* r = context;
  ReplayPair* p = &r->pairs[index];
  double twist[2][6];
  p->shares = (PairShares){.share = {p->shares.share[0], p->shares.share[1]},
                           .shape = {p->shares.shape[0], p->shares.shape[1]},
                           .shape_count = {p->shares.shape_count[0], p->shares.shape_count[1]}};
  for (int side = 0; side < 2; side++) {
    int count = item_parameters(r, side == 0 ? p->record->hull_a : p->record->hull_b);
    for (int k = 0; k < count; k++) p->shares.shape[side][k] = 0;
  }
  bool moves = pair_field(r, index, r->field, twist);
  if (!moves && !carries(&r->carry[1][index]) && !(r->work_bars && !contact_work_is_zero(&r->work_bars[index])))
    return; /* the twists of the pair and the derivatives that it carries are zero, so it contributes nothing */
  LawReplay pair = law_replay(r, index, thread);
  law_reverse(&pair, (const double(*)[6])twist, &r->carry[1][index], &p->shares);
  law_divide_parameters(&r->laws, p->law, &p->shares);
}

static Vec3 local_point(const Model* model, int item, int m) {
  int hull = item < model->hull_count ? item : model->links[item - model->hull_count].hull_first;
  while (m >= hull_contact_geometry(&model->hulls[hull]).points.count)
    m -= hull_contact_geometry(&model->hulls[hull++]).points.count;
  PointView points = hull_contact_geometry(&model->hulls[hull]).points;
  return point_at(points, m);
}

static bool is_round(const ContactReplay* r, int item) {
  return item < r->model->hull_count && hull_is_round(&r->model->hulls[item]);
}

/* Adds `by`, a derivative with respect to the position of a vertex in the frame of its link, to the entry of this
 * vertex in *gradient. For a round solid, adds it to the derivatives with respect to the shape parameters that move the
 * vertex. */
static void add_local(const ContactReplay* r, int item, int vertex, Vec3 by, ModelGradient* gradient) {
  if (!is_round(r, item)) {
    Vec3* out = &gradient->vertices[item_first(r, item) + vertex];
    *out = vec3_add(*out, by);
    return;
  }
  const ModelHull* hull = &r->model->hulls[item];
  double* out = gradient->shapes + hull->smooth->parameter_first;
  for (int k = 0; k < hull_parameter_count(hull); k++)
    if (hull->smooth->slope[k].moves) out[k] += vec3_dot(by, hull->smooth->slope[k].center[vertex]);
}

/* Adds the contribution of a point x of a link to `pose` (3x4), the derivatives of Phi with respect to the entries of
 * the link's pose. x: link frame [m]. by: derivative of Phi with respect to the world position of the point. */
static void add_point(Vec3 by, Vec3 x, double (*pose)[4]) {
  double row[3] = {by.x, by.y, by.z};
  for (int i = 0; i < 3; i++) {
    pose[i][0] += row[i] * x.x;
    pose[i][1] += row[i] * x.y;
    pose[i][2] += row[i] * x.z;
    pose[i][3] += row[i];
  }
}

/* Adds the contribution of the vertices of one body of the pair to the derivatives of Phi with respect to poses at t
 * (pose_now) and to hull vertices in link frames (*gradient). */
static void gather_side(const ContactReplay* r, const ReplayPair* p, int side, double (*pose_now)[3][4],
                        ModelGradient* gradient) {
  int item = side == 0 ? p->record->hull_a : p->record->hull_b, link = p->link[side];
  const PairShares* s = &p->shares;
  double kappa = p->contact->stiffness;
  Mat3 turn_now = r->pose_now[link].r, turn_next = r->pose_next[link].r;
  double(*pose)[4] = pose_now[link];
  for (int k = 0; k < s->count[side]; k++) {
    const VertexShare* v = &s->share[side][k];
    if (!vec3_is_zero(v->next))
      add_local(r, item, v->vertex, mat3_tmul_vec(turn_next, vec3_scale(v->next, kappa)), gradient);
    if (!vec3_is_zero(v->solve))
      add_local(r, item, v->vertex, mat3_tmul_vec(r->solved.pose[link].r, vec3_scale(v->solve, kappa)), gradient);
    if (vec3_is_zero(v->now)) continue;
    Vec3 now = vec3_scale(v->now, kappa);
    add_point(now, local_point(r->model, item, v->vertex), pose);
    add_local(r, item, v->vertex, mat3_tmul_vec(turn_now, now), gradient);
  }
}

/* Adds the contribution of a motion of a body to `pose` (3x4), the derivatives of Phi with respect to the entries of
 * the body's pose. share: derivatives of Phi with respect to displacement and rotation of the body. r: rotation of the
 * body; a rotation by w changes r by [w]x r. */
static void add_ground(const GroundShare* share, double kappa, Mat3 r, double (*pose)[4]) {
  Mat3 turn = mat3_scale(mat3_mul(mat3_cross(share->torque), r), 0.5 * kappa);
  double force[3] = {share->force.x, share->force.y, share->force.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) pose[i][j] += turn.m[i][j];
    pose[i][3] += kappa * force[i];
  }
}

static void add_turn(Mat3 by, double kappa, double (*pose)[4]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) pose[i][j] += kappa * by.m[i][j];
}

static void add_shift(const RollShift* by, double kappa, RollShift* bar) {
  bar->axis_then = vec3_add_scaled(bar->axis_then, kappa, by->axis_then);
  bar->axis_aim = vec3_add_scaled(bar->axis_aim, kappa, by->axis_aim);
  bar->lever = vec3_add_scaled(bar->lever, kappa, by->lever);
}

static void add_motion(Vec3 move, Vec3 turn, double kappa, Mat3 r, double (*pose)[4]) {
  if (vec3_is_zero(turn) && vec3_is_zero(move)) return;
  GroundShare share = {move, turn};
  add_ground(&share, kappa, r, pose);
}

static void add_parameters(const ContactReplay* r, const ReplayPair* p, int side, double kappa,
                           ModelGradient* gradient) {
  int item = side == 0 ? p->record->hull_a : p->record->hull_b, count = item_parameters(r, item);
  for (int k = 0; k < count; k++)
    gradient->shapes[r->model->hulls[item].smooth->parameter_first + k] += kappa * p->shares.shape[side][k];
  const ModelSmooth* smooth = r->model->hulls[item < r->model->hull_count ? item : 0].smooth;
  for (int k = 0; is_round(r, item) && k < count; k++)
    gradient->shapes[smooth->parameter_first + k] += kappa * p->shares.rounding[side] * smooth->slope[k].rounding;
}

/* PairShares contains derivatives with respect to coefficients times the factor ContactRecord.grip (friction.md, F7).
 * The coefficients of `whole` do not contain this factor. */
double contact_replay_grip_derivative(const ContactReplay* r, int index) {
  assert(index >= 0);
  const ReplayPair* p = &r->pairs[index];
  if (!p->record->late || p->record->current_force) return 0;
  PairMaterial whole = model_pair_material(r->model, p->link[0], p->link[1]);
  return p->contact->stiffness *
         (p->shares.grip + p->shares.friction * whole.value[MATERIAL_FRICTION] +
          p->shares.static_friction * whole.value[MATERIAL_STATIC_FRICTION] +
          p->shares.rolling * whole.value[MATERIAL_ROLLING] + p->shares.spinning * whole.value[MATERIAL_SPINNING]);
}

/* Adds to *gradient the contribution of the pair's inertia 1 / (1/m_a + 1/m_b) to the derivatives of Phi with respect
 * to the masses of links. bar: derivative of Phi with respect to the inertia. m_a, m_b: masses of the trees of both
 * links (impact.md, I7). */
static void add_inertia(const ContactReplay* r, const ReplayPair* p, double bar, ModelGradient* gradient) {
  const Model* m = r->model;
  double mass[2], mobility = 0;
  int tree[2];
  for (int side = 0; side < 2; side++) {
    double inverse = tree_inverse_mass(m, r->tree_mass, p->link[side]);
    tree[side] = m->links[p->link[side]].tree;
    mass[side] = inverse > 0 ? r->tree_mass[tree[side]] : 0;
    mobility += inverse;
  }
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < m->link_count && mass[side] > 0; i++)
      if (m->links[i].tree == tree[side])
        gradient->moment[i].s[3][3] += bar / (mobility * mobility * mass[side] * mass[side]);
}

void contact_replay_adjoint(ContactReplay* r, const ContactField* field, double (*pose_now)[3][4],
                            double (*ground_next)[3][4], ModelGradient* gradient) {
  r->field = field;
  parallel_for(r->threads, r->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, reverse_pair, r);
  r->field = NULL;
  r->lengths = (ContactLengths){0, 0};
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    double kappa = p->contact->stiffness;
    for (int side = 0; side < 2; side++) gather_side(r, p, side, pose_now, gradient);
    if (p->next->body[1].hull.half_space) {
      add_ground(&p->shares.ground_now, kappa, r->pose_now[p->link[1]].r, pose_now[p->link[1]]);
      add_ground(&p->shares.ground_next, kappa, r->pose_next[p->link[1]].r, ground_next[p->link[1]]);
    }
    double by_law[MATERIAL_NUMBERS] = {[MATERIAL_SUPPORT] = kappa * p->shares.support,
                                       [MATERIAL_STIFFNESS] = p->shares.value + kappa * p->shares.stiffness};
    for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++)
      by_law[MATERIAL_LAW_PARAMETER + i] = kappa * p->shares.pair_law_parameters[i];
    add_to_law(r->model, p, by_law, gradient);
    r->lengths.dt += kappa * p->shares.dt;
    r->lengths.dt_before += kappa * p->shares.dt_before;
    if (p->shares.inertia != 0) add_inertia(r, p, kappa * p->shares.inertia, gradient);
    double grip = p->record->grip;
    double along = p->shares.ratio != 0 ? p->shares.ratio / p->material.value[MATERIAL_FRICTION]
                                        : 0; /* derivative with respect to the friction coefficient along the axis */
    double across =
        along != 0 ? along * p->material.value[MATERIAL_FRICTION_ALONG] / p->material.value[MATERIAL_FRICTION] : 0;
    const double by[MATERIAL_COUNT] = {[MATERIAL_FRICTION] = kappa * (p->shares.friction - across) * grip,
                                       [MATERIAL_FRICTION_ALONG] = kappa * along * grip,
                                       [MATERIAL_STATIC_FRICTION] = kappa * p->shares.static_friction * grip,
                                       [MATERIAL_STRIBECK_SPEED] = kappa * p->shares.stribeck_speed,
                                       [MATERIAL_RESTITUTION] = kappa * p->shares.restitution,
                                       [MATERIAL_ROLLING] = kappa * p->shares.rolling * grip,
                                       [MATERIAL_SPINNING] = kappa * p->shares.spinning * grip};
    for (int side = 0; side < 2; side++)
      add_motion(p->shares.move_now[side], p->shares.turn_now[side], kappa, r->pose_now[p->link[side]].r,
                 pose_now[p->link[side]]);
    for (int side = 0; side < 2 && r->aim_bar; side++) add_turn(p->shares.aim[side], kappa, r->aim_bar[p->link[side]]);
    for (int side = 0; side < 2 && r->shift_bar; side++)
      add_shift(&p->shares.shift[side], kappa, &r->shift_bar[p->link[side]]);
    for (int side = 0; side < 2; side++) add_parameters(r, p, side, kappa, gradient);
    model_gradient_material(r->model, p->link[0], p->link[1], by, gradient);
    gradient->contact[CONTACT_SMOOTHING] += kappa * p->shares.smoothing;
    gradient->contact[CONTACT_REST_SPEED] += kappa * p->shares.rest_speed;
    for (int i = 0; i < CONTACT_LAW_PARAMETERS_MAX; i++)
      gradient->contact[CONTACT_OWN + i] += kappa * p->shares.law_parameters[i];
    if (p->now) r->carry[0][p->before] = p->shares.carry;
  }
}

void contact_replay_add_solve_derivatives(const ContactReplay* r, double (*bar)[3][4]) {
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    const PairShares* s = &p->shares;
    double kappa = p->contact->stiffness;
    if (!p->record->current_force) continue;
    for (int side = 0; side < 2; side++) {
      int item = side == 0 ? p->record->hull_a : p->record->hull_b, link = p->link[side];
      for (int i = 0; i < s->count[side]; i++) {
        const VertexShare* v = &s->share[side][i];
        if (!vec3_is_zero(v->solve))
          add_point(vec3_scale(v->solve, kappa), local_point(r->model, item, v->vertex), bar[link]);
      }
      add_motion(s->move_solve[side], s->turn_solve[side], kappa, r->solved.pose[link].r, bar[link]);
    }
  }
}

/* Adds the product of the twists and a part of the Hessian of friction to wrench (links). It is the part that the
 * pair's terms leave out (contact_replay_exclude_impulse_friction). Returns false if the terms leave out no part. */
static bool add_slip_product(const ContactReplay* r, int index, const double twist[2][6], double (*wrench)[6]) {
  const ReplayPair* p = &r->pairs[index];
  LawReplay pair = law_replay(r, index, 0);
  double product[2][6];
  if (!p->law->row->impacts || !p->law->row->impacts->slip_product(&pair, twist, product)) return false;
  for (int i = 0; i < 12; i++) wrench[p->link[i / 6]][i % 6] += product[i / 6][i % 6];
  return true;
}

void contact_replay_product(const ContactReplay* r, const ContactField* field, double (*wrench)[6]) {
  for (int k = 0; k < r->count; k++) {
    const ReplayPair* p = &r->pairs[k];
    double twist[2][6];
    if (!pair_field(r, k, field, twist)) continue;
    int rows = p->next->body[1].hull.half_space ? 6 : 12; /* a half-space has no rows */
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int j = 0; j < rows; j++) sum += p->derivatives.hessian[i][j] * twist[j / 6][j % 6];
      wrench[p->link[i / 6]][i % 6] += sum;
    }
    if (r->excludes_impulse_friction) (void)add_slip_product(r, k, (const double(*)[6])twist, wrench);
  }
}

bool contact_replay_slip_product(const ContactReplay* r, const ContactField* field, double (*wrench)[6]) {
  bool found = false;
  for (int k = 0; k < r->count; k++) {
    double twist[2][6];
    (void)pair_field(r, k, field, twist);
    found = add_slip_product(r, k, (const double(*)[6])twist, wrench) || found;
  }
  return found;
}

void contact_replay_exclude_impulse_friction(ContactReplay* r, bool excludes) {
  r->excludes_impulse_friction = excludes;
  parallel_for(r->threads, r->count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, evaluate_pair, r);
}
