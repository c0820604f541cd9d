/* Answers of questions with shapes, one JSON object a line. */
#include "ask/ask.h"
#include "run/run.h"

void query_add_vector(Text* line, Vec3 v) {
  text_add(line, "[");
  json_add_number(line, v.x);
  text_add(line, ", ");
  json_add_number(line, v.y);
  text_add(line, ", ");
  json_add_number(line, v.z);
  text_add(line, "]");
}

static void add_number(Text* line, const char* key, double value) {
  text_add(line, ", \"%s\": ", key);
  json_add_number(line, value);
}

static void add_vector(Text* line, const char* key, Vec3 v) {
  text_add(line, ", \"%s\": ", key);
  query_add_vector(line, v);
}

static void add_numbers(Text* line, const double* values, int count) {
  text_add(line, "[");
  for (int k = 0; k < count; k++) {
    if (k > 0) text_add(line, ", ");
    json_add_number(line, values[k]);
  }
  text_add(line, "]");
}

/* ---------------------------------------------------------------- derivatives */

/* An answer's name and rows among the derivatives. */
typedef struct {
  const char* name;
  int first, count;
} AnswerRows;

static const AnswerRows GROWTH_NAMES[] = {
    {"alpha", GROWTH_ALPHA, 1},
    {"gap", GROWTH_GAP, 1},
    {"point", GROWTH_POINT, 3},
    {"normal", GROWTH_NORMAL, 3},
    {"witness_a", GROWTH_WITNESS_A, 3},
    {"witness_b", GROWTH_WITNESS_B, 3},
    {"multipliers", GROWTH_MULTIPLIERS, 2},
};
static const AnswerRows DISTANCE_NAMES[] = {
    {"distance", DISTANCE_VALUE, 1},
    {"normal", DISTANCE_NORMAL, 3},
    {"witness_a", DISTANCE_WITNESS_A, 3},
    {"witness_b", DISTANCE_WITNESS_B, 3},
};

/* Columns: the poses' six each, then the shapes' own. */
typedef struct {
  const double* values;
  int columns, own[2];
} Table;

/* `d_<name>_<of>`: a row of `count` columns, or a list of rows; null without values. */
static void add_part(Text* line, const Table* table, const AnswerRows* rows, const char* of, int first, int count) {
  text_add(line, ", \"d_%s_%s\": ", rows->name, of);
  if (!table->values) {
    text_add(line, "null");
    return;
  }
  text_add(line, "%s", rows->count > 1 ? "[" : "");
  for (int r = 0; r < rows->count; r++) {
    if (r > 0) text_add(line, ", ");
    add_numbers(line, table->values + (rows->first + r) * table->columns + first, count);
  }
  text_add(line, "%s", rows->count > 1 ? "]" : "");
}

static void add_derivatives(Text* line, const Table* table, const AnswerRows* rows, int count, const char* reason) {
  Table known = *table;
  if (reason) {
    known.values = NULL;
    text_add(line, ", \"reason\": ");
    text_add_json_string(line, reason);
  }
  for (int k = 0; k < count; k++) {
    add_part(line, &known, &rows[k], "a", 0, 6);
    add_part(line, &known, &rows[k], "b", 6, 6);
    if (table->columns == QUERY_POSE_COLUMNS) continue;
    add_part(line, &known, &rows[k], "shape_a", QUERY_POSE_COLUMNS, table->own[0]);
    add_part(line, &known, &rows[k], "shape_b", QUERY_POSE_COLUMNS + table->own[0], table->own[1]);
  }
}

/* ---------------------------------------------------------------- methods */

static void growth_numbers(Text* line, const Growth* g) {
  add_number(line, "alpha", g->alpha);
  const double bounds[2] = {g->low, g->high}, multipliers[2] = {g->multiplier_a, g->multiplier_b};
  text_add(line, ", \"bounds\": ");
  add_numbers(line, bounds, 2);
  add_vector(line, "point", g->point);
  if (g->coincident) {
    text_add(line,
             ", \"normal\": null, \"gap\": null, \"witness_a\": null, \"witness_b\": null, \"multipliers\": null");
  } else {
    add_vector(line, "normal", g->normal);
    add_number(line, "gap", g->gap);
    add_vector(line, "witness_a", g->witness_a);
    add_vector(line, "witness_b", g->witness_b);
    text_add(line, ", \"multipliers\": ");
    add_numbers(line, multipliers, 2);
  }
  text_add(line, ", \"proved\": %s", g->proved ? "true" : "false");
}

static void answer_growth(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  const Shape *a = &list->bodies[item->body[0]].shape, *b = &list->bodies[item->body[1]].shape;
  Growth g = growth_query(a, item->pose[0], b, item->pose[1], &memory->growth);
  growth_numbers(line, &g);
  if (!item->derivatives) return;
  Table table = {.columns = QUERY_POSE_COLUMNS, .own = {shape_parameter_count(a), shape_parameter_count(b)}};
  if (item->parameters) table.columns += table.own[0] + table.own[1];
  double* values = MEMORY_NEW(double, GROWTH_ROWS* table.columns);
  double condition;
  const char* reason = growth_derivatives(a, item->pose[0], b, item->pose[1], &g, item->parameters, values, &condition);
  table.values = values;
  add_number(line, "condition", condition);
  add_derivatives(line, &table, GROWTH_NAMES, sizeof GROWTH_NAMES / sizeof GROWTH_NAMES[0], reason);
  memory_free(values);
}

static void distance_numbers(Text* line, const Distance* d) {
  add_number(line, "distance", d->distance);
  add_vector(line, "normal", d->normal);
  add_vector(line, "witness_a", d->witness_a);
  add_vector(line, "witness_b", d->witness_b);
}

static void answer_hull_distance(Text* line, const QueryBody* bodies[2], const QueryItem* item, QueryMemory* memory) {
  PointView a = bodies[0]->points, b = bodies[1]->points;
  Distance d;
  if (bodies[0]->pieces || bodies[1]->pieces) {
    int piece[2];
    d = witness_nearest(&bodies[0]->witness, item->pose[0], &bodies[1]->witness, item->pose[1], &memory->witness,
                        piece);
    a = bodies[0]->witness.pieces[piece[0]].points;
    b = bodies[1]->witness.pieces[piece[1]].points;
  } else {
    d = distance_query(a, item->pose[0], b, item->pose[1], &memory->gjk);
  }
  distance_numbers(line, &d);
  if (!item->derivatives) return;
  double values[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  const char* reason = distance_derivatives(a, item->pose[0], b, item->pose[1], &d, values);
  Table table = {values, QUERY_POSE_COLUMNS, {0, 0}};
  add_derivatives(line, &table, DISTANCE_NAMES, sizeof DISTANCE_NAMES / sizeof DISTANCE_NAMES[0], reason);
}

/* The convex piece of a body with this number: the body itself, or one of a mesh's pieces. */
static ConvexBody convex_piece(const QueryBody* body, int number) {
  if (body->smooth) return (ConvexBody){.shape = &body->shape};
  return (ConvexBody){.points = body->pieces ? body->witness.pieces[number].points : body->points};
}

/* The nearest of the pairs of pieces; pair: which it is. */
static ConvexDistance nearest_convex(const QueryBody* bodies[2], const Pose pose[2], ConvexBody pair[2]) {
  ConvexDistance least = {.nearest.distance = HUGE_VAL};
  int count[2];
  for (int k = 0; k < 2; k++) count[k] = bodies[k]->pieces ? bodies[k]->piece_count : 1;
  for (int i = 0; i < count[0] * count[1]; i++) {
    const ConvexBody here[2] = {convex_piece(bodies[0], i / count[1]), convex_piece(bodies[1], i % count[1])};
    ConvexDistance d = convex_distance(here, pose);
    if (!(d.nearest.distance < least.nearest.distance)) continue;
    least = d;
    pair[0] = here[0];
    pair[1] = here[1];
  }
  return least;
}

static void answer_smooth_distance(Text* line, const QueryBody* bodies[2], const QueryItem* item) {
  ConvexBody pair[2] = {{0}};
  ConvexDistance d = nearest_convex(bodies, item->pose, pair);
  distance_numbers(line, &d.nearest);
  text_add(line, ", \"bounds\": ");
  add_numbers(line, (const double[2]){d.low, d.high}, 2);
  text_add(line, ", \"proved\": %s", d.proved ? "true" : "false");
  if (!item->derivatives) return;
  Table table = {.columns = QUERY_POSE_COLUMNS};
  for (int k = 0; item->parameters && k < 2; k++)
    table.columns += table.own[k] = pair[k].shape ? shape_parameter_count(pair[k].shape) : 0;
  double *values = MEMORY_NEW(double, DISTANCE_ROWS*table.columns), condition;
  const char* reason = convex_distance_derivatives(pair, item->pose, &d, item->parameters, values, &condition);
  table.values = values;
  add_number(line, "condition", condition);
  add_derivatives(line, &table, DISTANCE_NAMES, sizeof DISTANCE_NAMES / sizeof DISTANCE_NAMES[0], reason);
  memory_free(values);
}

static void answer_distance(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  const QueryBody* bodies[2] = {&list->bodies[item->body[0]], &list->bodies[item->body[1]]};
  if (bodies[0]->smooth || bodies[1]->smooth)
    answer_smooth_distance(line, bodies, item);
  else
    answer_hull_distance(line, bodies, item, memory);
}

static void add_rows(Text* line, const char* name, const char* of, const double* values, int rows, int columns) {
  text_add(line, ", \"%s_%s\": [", name, of);
  for (int r = 0; r < rows; r++) {
    if (r > 0) text_add(line, ", ");
    if (columns == 3)
      query_add_vector(line, vec3(values[3 * r], values[3 * r + 1], values[3 * r + 2]));
    else
      add_numbers(line, values + r * columns, columns);
  }
  text_add(line, "]");
}

/* smooth_a by its own body's motion; by the other's nothing, whose point is held. Then with both following. */
static void add_smooth_derivatives(Text* line, const Witness* w) {
  static const double none[18] = {0};
  add_rows(line, "d_smooth_a", "a", &w->side[0].by_own[0][0], 3, 6);
  add_rows(line, "d_smooth_a", "b", none, 3, 6);
  add_rows(line, "d_smooth_b", "a", none, 3, 6);
  add_rows(line, "d_smooth_b", "b", &w->side[1].by_own[0][0], 3, 6);
  for (int k = 0; k < 2; k++) add_rows(line, "d_smooth_by_other", k ? "b" : "a", &w->side[k].by_other[0][0], 3, 3);
  static const char* const names[2] = {"jacobian_a", "jacobian_b"};
  for (int k = 0; w->total_known && k < 4; k++)
    add_rows(line, names[k / 2], k % 2 ? "b" : "a", &w->total[k / 2][k % 2][0][0], 3, 6);
}

static void add_six(Text* line, const char* key, const double* values) {
  text_add(line, ", \"%s\": ", key);
  add_numbers(line, values, 6);
}

/* The loss of the targets with its gradients. */
static void add_loss(Text* line, const QueryItem* item, const Witness* w) {
  WitnessLoss loss = witness_loss(w, item->pose[0], item->pose[1], item->target, item->touch.query.margin);
  add_number(line, "loss", loss.value);
  if (!item->derivatives || !w->total_known) return;
  add_six(line, "gradient_a", loss.gradient[0]);
  add_six(line, "gradient_b", loss.gradient[1]);
  add_six(line, "transported", loss.transported);
}

static void answer_witness(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  const WitnessBody *a = &list->bodies[item->body[0]].witness, *b = &list->bodies[item->body[1]].witness;
  Witness w = witness_query(a, item->pose[0], b, item->pose[1], &item->touch.query,
                            item->has_target ? item->target : NULL, &memory->witness);
  add_number(line, "distance", w.nearest.distance);
  add_vector(line, "witness_a", w.nearest.witness_a);
  add_vector(line, "witness_b", w.nearest.witness_b);
  for (int k = 0; k < 2; k++) {
    const WitnessSide* side = &w.side[k];
    add_vector(line, k ? "smooth_b" : "smooth_a", side->smooth);
    add_number(line, k ? "temperature_b" : "temperature_a", side->temperature);
    add_rows(line, "samples", k ? "b" : "a", &side->samples[0].x, side->count, 3);
  }
  if (item->has_target) add_loss(line, item, &w);
  if (!item->derivatives) return;
  double values[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  const char* reason = distance_derivatives(a->pieces[w.piece[0]].points, item->pose[0], b->pieces[w.piece[1]].points,
                                            item->pose[1], &w.nearest, values);
  Table table = {values, QUERY_POSE_COLUMNS, {0, 0}};
  static const AnswerRows names[] = {{"witness_a", DISTANCE_WITNESS_A, 3}, {"witness_b", DISTANCE_WITNESS_B, 3}};
  add_derivatives(line, &table, names, 2, reason);
  add_smooth_derivatives(line, &w);
}

/* ---------------------------------------------------------------- touch */

static void add_pose(Text* line, const char* of, Pose pose) {
  Quat q = quat_from_mat3(pose.r);
  const double four[4] = {q.w, q.x, q.y, q.z};
  text_add(line, ", \"position_%s\": ", of);
  query_add_vector(line, pose.t);
  text_add(line, ", \"quaternion_%s\": ", of);
  add_numbers(line, four, 4);
}

/* b turned at random, somewhere around a: from half to one and a half times where their boxes' balls touch. */
static Pose random_start(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Random* random) {
  Quat q = {random_normal(random), random_normal(random), random_normal(random), random_normal(random)};
  Vec3 way = vec3(random_normal(random), random_normal(random), random_normal(random));
  double apart = 0.5 * (a->diagonal + b->diagonal) * random_uniform(random, 0.5, 1.5);
  return (Pose){mat3_from_quat(quat_normalized(q)), vec3_add_scaled(pose_a.t, apart, vec3_normalized(way))};
}

/* Losses of descents from random starts to random targets. */
static void answer_many(Text* line, const WitnessBody* a, const WitnessBody* b, const QueryItem* item) {
  Random random = {(uint64_t)item->seed};
  double* bounds = MEMORY_NEW(double, item->targets);
  text_add(line, ", \"losses\": [");
  for (int i = 0; i < item->targets; i++) {
    const Vec3 target[2] = {witness_random_point(a, &random), witness_random_point(b, &random)};
    Pose pose_a = item->pose[0], pose_b = random_start(a, pose_a, b, &random);
    if (i > 0) text_add(line, ", ");
    json_add_number(line, witness_descend(a, &pose_a, b, &pose_b, target, &item->touch));
    bounds[i] = witness_reach_bound(a, b, target);
  }
  text_add(line, "], \"bounds\": ");
  add_numbers(line, bounds, item->targets);
  memory_free(bounds);
}

static void answer_touch(Text* line, const QueryList* list, const QueryItem* item) {
  const WitnessBody *a = &list->bodies[item->body[0]].witness, *b = &list->bodies[item->body[1]].witness;
  if (item->targets > 0) {
    answer_many(line, a, b, item);
    return;
  }
  Pose pose[2] = {item->pose[0], item->pose[1]};
  add_number(line, "loss", witness_descend(a, &pose[0], b, &pose[1], item->target, &item->touch));
  add_pose(line, "a", pose[0]);
  add_pose(line, "b", pose[1]);
}

/* Derivatives of one contact: rows as in manifold.h. */
static void add_contact_derivatives(Text* line, const ManifoldContact* contact) {
  static const AnswerRows names[] = {{"point", MANIFOLD_POINT, 3},
                                     {"distance", MANIFOLD_DISTANCE, 1},
                                     {"normal", MANIFOLD_NORMAL, 3},
                                     {"activity", MANIFOLD_ACTIVITY, 1}};
  Table table = {&contact->slope[0][0], QUERY_POSE_COLUMNS, {0, 0}};
  add_derivatives(line, &table, names, sizeof names / sizeof names[0], NULL);
}

static void add_contact(Text* line, const ManifoldContact* contact, bool derivatives) {
  static const char* const kinds[] = {"vertex_a", "vertex_b", "edge_a", "edge_b"};
  text_add(line, "{\"kind\": \"%s\"", kinds[contact->kind]);
  add_vector(line, "point", contact->point);
  add_number(line, "distance", contact->distance);
  add_vector(line, "normal", contact->normal);
  add_number(line, "activity", contact->activity);
  if (derivatives) add_contact_derivatives(line, contact);
  text_add(line, "}");
}

/* Smoothing that was not said: this part of the bodies' mean size. */
#define SMOOTHING_PART 0.01

static void answer_manifold(Text* line, const QueryList* list, const QueryItem* item) {
  const ManifoldBody *a = &list->bodies[item->body[0]].manifold, *b = &list->bodies[item->body[1]].manifold;
  ManifoldOptions options = item->manifold;
  if (!(options.smoothing > 0)) options.smoothing = SMOOTHING_PART * (a->outer + b->outer);
  if (options.edges == 0) options.edges = MANIFOLD_EDGES;
  options.values = !item->derivatives;
  int64_t count = manifold_count(a, b, &options);
  ManifoldContact* contacts = memory_alloc(sizeof *contacts * (size_t)count);
  manifold_query(a, item->pose[0], b, item->pose[1], &options, contacts, NULL);
  add_number(line, "smoothing", options.smoothing);
  text_add(line, ", \"contacts\": [");
  for (int64_t i = 0; i < count; i++) {
    if (i > 0) text_add(line, ", ");
    add_contact(line, &contacts[i], item->derivatives);
  }
  text_add(line, "]");
  memory_free(contacts);
}

static void answer_shapes(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  if (memory->body[0] != item->body[0] || memory->body[1] != item->body[1])
    *memory = (QueryMemory){.body = {item->body[0], item->body[1]}};
  text_add(line, "{\"method\": \"%s\"", query_method_name(item->method));
  if (item->method == QUERY_GROWTH)
    answer_growth(line, list, item, memory);
  else if (item->method == QUERY_WITNESS)
    answer_witness(line, list, item, memory);
  else if (item->method == QUERY_TOUCH)
    answer_touch(line, list, item);
  else if (item->method == QUERY_MANIFOLD)
    answer_manifold(line, list, item);
  else
    answer_distance(line, list, item, memory);
  text_add(line, "}\n");
}

void query_answer(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  if (item->method == QUERY_POTENTIAL)
    query_answer_pair(line, &item->pair);
  else
    answer_shapes(line, list, item, memory);
}
