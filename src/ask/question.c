/* Parses questions with a method, including their bodies and options. */
#include <assert.h>
#include <string.h>
#include "ask/reader.h"

#define SMOOTHING_MIN 1e-9 /* m */
#define LENGTH_MAX 1e6     /* m */
#define POSES_MAX 1e9
/* range of the stiffness [N/m^exponent] */
#define STIFFNESS_MIN 1e-12
#define STIFFNESS_MAX 1e18
#define EXPONENT_MAX 4 /* largest exponent of the contact force, which is also that of the contact law `penalty` */
/* range of the temperature, a squared length [m^2] */
#define TEMPERATURE_MIN 1e-18
#define TEMPERATURE_MAX 1e12

static const char* const METHODS[QUERY_METHODS] = {NULL, "distance", "growth", "witness", "manifold", "touch"};

const char* query_method_name(QueryMethod method) {
  assert((unsigned)method < QUERY_METHODS);
  return METHODS[method];
}

typedef enum {
  KEY_METHOD,
  KEY_A,
  KEY_B,
  KEY_DERIVATIVES,
  KEY_PARAMETERS,
  KEY_TARGET_A,
  KEY_TARGET_B,
  /* keys of witness and touch */
  KEY_SCORE,
  KEY_SAMPLING,
  KEY_ESTIMATE,
  KEY_REACH,
  KEY_MARGIN,
  KEY_TEMPERATURE,
  KEY_PERTURBATION,
  KEY_TURN,
  /* keys of touch */
  KEY_ITERATIONS,
  KEY_STEP,
  KEY_LAST,
  KEY_MOVE,
  KEY_TRANSPORT,
  KEY_TARGETS,
  KEY_STARTS,
  KEY_SEED,
  KEY_PAIRS,
  /* keys of growth */
  KEY_STIFFNESS,
  KEY_EXPONENT,
  /* keys of manifold */
  KEY_SMOOTHING,
  KEY_SOFTNESS,
  KEY_REGULARIZATION,
  KEY_POINTS,
  KEY_EDGES,
  KEY_CULL,
  KEY_MEAN,
  /* key of a file of rows */
  KEY_POSES,
  KEY_COUNT,
} QuestionKey;
static const char* const KEYS[KEY_COUNT] = {
    "method",         "a",          "b",        "derivatives", "parameters", "target_a",    "target_b",
    "score",          "sampling",   "estimate", "reach",       "margin",     "temperature", "perturbation",
    "turn",           "iterations", "step",     "last",        "move",       "transport",   "targets",
    "starts",         "seed",       "pairs",    "stiffness",   "exponent",   "smoothing",   "softness",
    "regularization", "points",     "edges",    "cull",        "mean",       "poses"};

/* Allowed texts of keys such as `score`, in the order of the enumeration values that they select. */
static const char* const SCORES[] = {"distance", "direction"};
static const char* const SAMPLINGS[] = {"fixed", "adaptive", "neighbor"};
static const char* const ESTIMATES[] = {"smoothed", "analytic", "differences", "zeroth"};
static const char* const MOVES[] = {"b", "both"};
static const char* const PAIRS[] = {"any", "meeting"};
#define COUNT_OF(words) ((int)(sizeof(words) / sizeof *(words)))

typedef struct {
  QueryList* list;
  QueryItem* item;
} Question;

/* ---------------------------------------------------------------- values */

QueryMethod query_method_find(const char* name) {
  for (int k = 1; k < QUERY_METHODS && name; k++)
    if (strcmp(name, METHODS[k]) == 0) return (QueryMethod)k;
  return QUERY_POTENTIAL;
}

static void read_method(QueryReader* reader, const cJSON* item, QueryItem* out) {
  QueryMethod method = query_method_find(cJSON_GetStringValue(item));
  if (method != QUERY_POTENTIAL) {
    out->method = method;
    return;
  }
  query_reader_error(reader, false, "must be distance, growth, witness, manifold or touch, got %.60s",
                     cJSON_IsString(item) ? item->valuestring : query_reader_kind_name(item));
}

static bool read_bool(QueryReader* reader, const cJSON* item) {
  if (!cJSON_IsBool(item))
    query_reader_error(reader, false, "must be true or false, got %s", query_reader_kind_name(item));
  return cJSON_IsTrue(item);
}

/* Returns the index of a JSON text in the list words (count). Reports an error and returns 0 if the text is none of the
 * words. */
static int read_word(QueryReader* reader, const cJSON* item, const char* const* words, int count) {
  assert(count > 0);
  bool text = cJSON_IsString(item);
  int found = text ? query_reader_find_key(item->valuestring, words, count) : -1;
  if (found >= 0) return found;
  Text known = {0};
  for (int k = 0; k < count; k++) text_add(&known, "%s%s", k == 0 ? "" : k + 1 < count ? ", " : " or ", words[k]);
  query_reader_error(reader, false, "must be %s, got %.60s", known.data,
                     text ? item->valuestring : query_reader_kind_name(item));
  text_free(&known);
  return 0;
}

static int64_t read_integer(QueryReader* reader, const cJSON* item, int low, double high) {
  assert(low <= high);
  double count = query_reader_number_in_unit(reader, item, low, high, "");
  if (count != floor(count)) query_reader_error(reader, false, "must be a whole number, got %g", count);
  return count >= low && count <= high ? (int64_t)count : low;
}

static int read_count(QueryReader* reader, const cJSON* item, int low) {
  return (int)read_integer(reader, item, low, 1e6);
}

static void read_poses(QueryReader* reader, const cJSON* item, QueryItem* out) {
  if (!reader->rows)
    query_reader_error(reader, true,
                       "is allowed only in the first line of a file with rows of numbers: remove the key");
  else
    out->poses = read_integer(reader, item, 1, POSES_MAX);
}

/* ---------------------------------------------------------------- options */

static void read_manifold_option(QueryReader* reader, const cJSON* item, QuestionKey key, ManifoldOptions* out) {
  if (key == KEY_SMOOTHING) out->smoothing = query_reader_length(reader, item, SMOOTHING_MIN, LENGTH_MAX);
  if (key == KEY_SOFTNESS) out->softness = query_reader_number_in_unit(reader, item, 1e-4, 1, "");
  if (key == KEY_REGULARIZATION) out->regularization = query_reader_number_in_unit(reader, item, 1e-9, 1e3, "");
  if (key == KEY_POINTS) out->points = read_count(reader, item, 1);
  if (key == KEY_EDGES) out->edges = read_count(reader, item, 1);
  if (key == KEY_CULL) out->cull = read_bool(reader, item);
}

static void read_witness_option(QueryReader* reader, const cJSON* item, QuestionKey key, WitnessOptions* out) {
  if (key == KEY_SCORE) out->score = (WitnessScore)read_word(reader, item, SCORES, COUNT_OF(SCORES));
  if (key == KEY_SAMPLING) out->sampling = (WitnessSampling)read_word(reader, item, SAMPLINGS, COUNT_OF(SAMPLINGS));
  if (key == KEY_ESTIMATE) out->estimate = (WitnessEstimate)read_word(reader, item, ESTIMATES, COUNT_OF(ESTIMATES));
  if (key == KEY_REACH) out->reach = query_reader_length(reader, item, 1e-9, LENGTH_MAX);
  if (key == KEY_MARGIN) out->margin = query_reader_length(reader, item, 0, LENGTH_MAX);
  if (key == KEY_TEMPERATURE)
    out->temperature = query_reader_number_in_unit(reader, item, TEMPERATURE_MIN, TEMPERATURE_MAX, " m^2");
  if (key == KEY_PERTURBATION) out->perturbation = query_reader_number_in_unit(reader, item, 1e-9, 1, " rad");
  if (key == KEY_TURN) out->turn = read_count(reader, item, 0);
}

static void read_touch_option(QueryReader* reader, const cJSON* item, QuestionKey key, QueryItem* out) {
  if (key == KEY_ITERATIONS) out->touch.iterations = read_count(reader, item, 0);
  if (key == KEY_STEP) out->touch.step = query_reader_number_in_unit(reader, item, 1e-6, 180, " degrees");
  if (key == KEY_LAST) out->touch.last = query_reader_number_in_unit(reader, item, 1e-6, 180, " degrees");
  if (key == KEY_MOVE) out->touch.both = read_word(reader, item, MOVES, COUNT_OF(MOVES)) == 1;
  if (key == KEY_TRANSPORT) out->touch.transport = read_bool(reader, item);
  if (key == KEY_TARGETS) out->targets = read_count(reader, item, 0);
  if (key == KEY_STARTS) out->starts = read_count(reader, item, 1);
  if (key == KEY_SEED) out->seed = read_count(reader, item, 0);
  if (key == KEY_PAIRS) out->meeting = read_word(reader, item, PAIRS, COUNT_OF(PAIRS)) == 1;
}

static void read_member(QueryReader* reader, const cJSON* item, int number, void* context) {
  Question* question = context;
  QueryItem* out = question->item;
  QuestionKey key = (QuestionKey)number;
  if (key == KEY_METHOD) read_method(reader, item, out);
  if (key == KEY_A || key == KEY_B) {
    int k = key == KEY_B;
    out->body[k] = query_reader_body(reader, item, question->list, out->body[k], &out->pose[k]);
  }
  if (key == KEY_DERIVATIVES) out->derivatives = read_bool(reader, item);
  if (key == KEY_MEAN) out->mean = read_bool(reader, item);
  if (key == KEY_PARAMETERS) out->parameters = read_bool(reader, item);
  if (key == KEY_TARGET_A || key == KEY_TARGET_B) out->target[key == KEY_TARGET_B] = query_reader_point(reader, item);
  if (key >= KEY_SCORE && key <= KEY_TURN) read_witness_option(reader, item, key, &out->touch.query);
  if (key >= KEY_ITERATIONS && key <= KEY_PAIRS) read_touch_option(reader, item, key, out);
  if (key == KEY_STIFFNESS)
    out->stiffness = query_reader_number_in_unit(reader, item, STIFFNESS_MIN, STIFFNESS_MAX, "");
  if (key == KEY_EXPONENT) out->exponent = query_reader_number_in_unit(reader, item, 1, EXPONENT_MAX, "");
  if (key == KEY_POSES) read_poses(reader, item, out);
  if (key >= KEY_SMOOTHING && key <= KEY_CULL) read_manifold_option(reader, item, key, &out->manifold);
}

/* ---------------------------------------------------------------- preparation of bodies */

static void create_witness(QueryBody* body) {
  if (!body->hulled || body->witness.piece_count > 0) return;
  body->witness = witness_body_create(body->pieces ? body->pieces : &body->hull, body->pieces ? body->piece_count : 1,
                                      WITNESS_SURFACE);
}

static bool has_pieces(const QueryList* list, const QueryItem* item) {
  for (int k = 0; k < 2; k++)
    if (item->body[k] >= 0 && list->bodies[item->body[k]].pieces) return true;
  return false;
}

void query_body_check(QueryReader* reader, const QueryItem* item, bool pieces, const char* name, QueryBody* body) {
  bool needs_hull = item->method == QUERY_WITNESS || item->method == QUERY_TOUCH;
  if (item->method == QUERY_GROWTH && !body->smooth)
    query_reader_error(reader, false,
                       "%s: growth needs a smooth shape: use distance or witness for boxes, points and meshes, and "
                       "manifold for unions",
                       name);
  if (item->method == QUERY_DISTANCE && !body->hulled && !body->smooth)
    query_reader_error(reader, false, "%s: distance needs a convex body or a mesh: use manifold for unions", name);
  if (needs_hull && !body->hulled)
    query_reader_error(reader, false, "%s: %s needs points or a mesh: use growth or distance for smooth shapes", name,
                       METHODS[item->method]);
  if (needs_hull || (item->method == QUERY_DISTANCE && pieces)) create_witness(body);
  if (item->method == QUERY_MANIFOLD && query_body_create_manifold(reader, name, body) && item->parameters)
    query_body_create_slopes(body);
}

static void check_bodies(QueryReader* reader, QueryList* list, const QueryItem* item) {
  for (int k = 0; k < 2; k++)
    if (item->body[k] >= 0)
      query_body_check(reader, item, has_pieces(list, item), KEYS[KEY_A + k], &list->bodies[item->body[k]]);
}

static void check_targets(QueryReader* reader, const bool* seen, QueryItem* item) {
  if (seen[KEY_TARGET_A] != seen[KEY_TARGET_B])
    query_reader_error(reader, false, "target_a and target_b must both be given, or neither");
  item->has_target = item->has_target || seen[KEY_TARGET_A];
  if (item->method == QUERY_WITNESS && item->touch.query.sampling == WITNESS_ADAPTIVE && !item->has_target)
    query_reader_error(reader, false, "adaptive sampling needs target_a and target_b");
  if (item->method == QUERY_TOUCH && item->targets == 0 && !item->has_target)
    query_reader_error(reader, false, "touch needs target_a and target_b, or a number of random targets");
}

QueryItem query_default_question(void) {
  return (QueryItem){.body = {-1, -1},
                     .pose = {pose_identity(), pose_identity()},
                     .touch = {.iterations = 2000, .step = 10, .transport = true},
                     .starts = 1,
                     .seed = 1,
                     .exponent = 1.5,
                     .manifold = {.softness = 0.02, .regularization = 0.001}};
}

void read_question(QueryReader* reader, const cJSON* item, QueryList* list, const QueryItem* last, QueryItem* out) {
  bool seen[KEY_COUNT] = {0};
  /* read into a local variable, because list->items may be reallocated while bodies are read */
  QueryItem read = query_default_question();
  bool continues_previous = last && last->method != QUERY_POTENTIAL;
  if (continues_previous) {
    read = *last;
    read.pair = (QueryPair){0};
  }
  Question question = {list, &read};
  query_reader_object(reader, item, KEYS, KEY_COUNT, read_member, &question, seen);
  for (int k = KEY_A; k <= KEY_B && !continues_previous; k++)
    if (!seen[k]) query_reader_error(reader, false, "the key '%s' is missing", KEYS[k]);
  /* adaptive sampling of surface points is the default for the method `touch` */
  if (seen[KEY_METHOD] && read.method == QUERY_TOUCH && !seen[KEY_SAMPLING] && !continues_previous)
    read.touch.query.sampling = WITNESS_ADAPTIVE;
  check_bodies(reader, list, &read);
  check_targets(reader, seen, &read);
  *out = read;
}
