/* Answers questions about shapes, as a line of JSON or as a row of numbers. */
#include <assert.h>
#include <string.h>
#include "ask/answer.h"

#include "run/run.h"

/* ---------------------------------------------------------------- derivatives */

/* Name of an answer, such as `gap`, and the rows of the table of derivatives that belong to it. */
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
static const AnswerRows WRENCH_NAMES[] = {
    {"force", WRENCH_FORCE, 1},
    {"wrench_a", WRENCH_ON_A, 6},
    {"wrench_b", WRENCH_ON_B, 6},
};
static const AnswerRows DISTANCE_NAMES[] = {
    {"distance", DISTANCE_VALUE, 1},
    {"normal", DISTANCE_NORMAL, 3},
    {"witness_a", DISTANCE_WITNESS_A, 3},
    {"witness_b", DISTANCE_WITNESS_B, 3},
};

static const AnswerRows CONTACT_NAMES[] = {{"point", MANIFOLD_POINT, 3},
                                           {"distance", MANIFOLD_DISTANCE, 1},
                                           {"normal", MANIFOLD_NORMAL, 3},
                                           {"activity", MANIFOLD_ACTIVITY, 1}};
enum { CONTACT_NAMES_COUNT = sizeof CONTACT_NAMES / sizeof CONTACT_NAMES[0] };

/* Derivatives of the answers of one question. A row per number; columns: six for the pose of each body, then the
 * parameters of both shapes. */
typedef struct {
  const double* values;
  int columns, shape_parameters[2]; /* number of columns; number of shape parameters of each body */
  double* room;    /* writable pointer to `values`: allocated memory, or the array `by_poses` of the caller */
  bool missing[2]; /* for each body, true if the derivatives with respect to its parameters are unknown */
  int known; /* number of leading rows whose derivatives with respect to the poses are known, although those of other
                rows are not */
} Table;

/* Sets key to `d_<name>_<of>`, or to "" if the form is a row, because numbers in a row have no keys. */
static void make_key(const AnswerForm* out, const char* name, const char* of, char key[ANSWER_KEY]) {
  key[0] = '\0';
  if (!out->in_row) snprintf(key, ANSWER_KEY, "d_%s_%s", name, of);
}

/* Writes the derivatives `d_<name>_<of>`: the columns first ... first + count - 1 of the rows of an answer. Writes null
 * if the values are unknown. */
static void append_part(AnswerForm* out, const Table* table, const AnswerRows* rows, const char* of, int first,
                        int count) {
  const double* values = table->values ? table->values + rows->first * table->columns + first : NULL;
  char key[ANSWER_KEY];
  make_key(out, rows->name, of, key);
  answer_table(out, key, values, rows->count, count, table->columns);
}

static void add_derivatives(AnswerForm* out, const Table* table, const AnswerRows* rows, int count,
                            const char* reason) {
  Table known = *table;
  if (reason) {
    known.values = NULL;
    answer_text(out, "reason", reason);
  }
  for (int k = 0; k < count; k++) {
    const Table* by_poses = rows[k].first + rows[k].count <= table->known ? table : &known;
    append_part(out, by_poses, &rows[k], "a", 0, 6);
    append_part(out, by_poses, &rows[k], "b", 6, 6);
    if (table->columns == QUERY_POSE_COLUMNS) continue;
    for (int body = 0, first = QUERY_POSE_COLUMNS; body < 2; first += table->shape_parameters[body++]) {
      Table shape_table = known;
      if (table->missing[body]) shape_table.values = NULL;
      append_part(out, &shape_table, &rows[k], body ? "shape_b" : "shape_a", first, table->shape_parameters[body]);
    }
  }
}

/* ---------------------------------------------------------------- methods */

static void growth_numbers(AnswerForm* out, const Growth* g) {
  const double bounds[2] = {g->low, g->high}, multipliers[2] = {g->multiplier_a, g->multiplier_b};
  const bool known = !g->coincident;
  answer_number(out, "alpha", g->alpha);
  answer_numbers(out, "bounds", bounds, 2);
  answer_vector(out, "point", &g->point);
  answer_vector(out, "normal", known ? &g->normal : NULL);
  answer_numbers(out, "gap", known ? &g->gap : NULL, 1);
  answer_vector(out, "witness_a", known ? &g->witness_a : NULL);
  answer_vector(out, "witness_b", known ? &g->witness_b : NULL);
  answer_numbers(out, "multipliers", known ? multipliers : NULL, 2);
  answer_bool(out, "proved", g->proved);
}

static void wrench_numbers(AnswerForm* out, const QueryItem* item, const Growth* g) {
  const bool known = !g->coincident;
  GrowthWrench w = {.force = 0};
  if (known) w = growth_wrench(item->pose[0], item->pose[1], g, item->stiffness, item->exponent);
  answer_numbers(out, "force", known ? &w.force : NULL, 1);
  answer_numbers(out, "wrench_a", known ? w.on_a : NULL, 6);
  answer_numbers(out, "wrench_b", known ? w.on_b : NULL, 6);
}

/* Writes the derivatives of the contact force. table: result of growth_derivatives. reason: not NULL if the table has
 * no values; the reason was then written with the derivatives of the distance. */
static void add_wrench_derivatives(AnswerForm* out, const QueryItem* item, const Growth* g, const Table* table,
                                   const char* reason) {
  double by_poses[WRENCH_ROWS * QUERY_POSE_COLUMNS];
  double* values = item->parameters ? MEMORY_NEW(double, WRENCH_ROWS * table->columns) : by_poses;
  Table wrench = *table;
  wrench.values = reason ? NULL : values;
  if (!reason)
    growth_wrench_derivatives(item->pose[0], item->pose[1], g, item->stiffness, item->exponent, table->values,
                              table->columns, values);
  add_derivatives(out, &wrench, WRENCH_NAMES, sizeof WRENCH_NAMES / sizeof WRENCH_NAMES[0], NULL);
  if (values != by_poses) memory_free(values);
}

/* Note in the answer if the growth distance and the gap have derivatives but the contact point has none, as for flat
 * faces in contact. */
#define FLAT_CONTACT_NOTE \
  "flat on flat: by turns d_alpha and d_gap are those of this point, which flat faces leave open"

static void answer_growth(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  assert(list->bodies[item->body[0]].smooth && list->bodies[item->body[1]].smooth);
  const Shape *a = &list->bodies[item->body[0]].shape, *b = &list->bodies[item->body[1]].shape;
  Growth g = growth_query(a, item->pose[0], b, item->pose[1], &memory->growth);
  growth_numbers(out, &g);
  if (item->stiffness > 0) wrench_numbers(out, item, &g);
  if (!item->derivatives) return;
  Table table = {.columns = QUERY_POSE_COLUMNS,
                 .shape_parameters = {shape_parameter_count(a), shape_parameter_count(b)}};
  if (item->parameters) table.columns += table.shape_parameters[0] + table.shape_parameters[1];
  double by_poses[GROWTH_ROWS * QUERY_POSE_COLUMNS];
  double* values = item->parameters ? MEMORY_NEW(double, GROWTH_ROWS* table.columns) : by_poses;
  double condition;
  const char* reason = growth_derivatives(a, item->pose[0], b, item->pose[1], &g, item->parameters, values, &condition);
  table.values = values;
  if (reason && !growth_slopes(a, item->pose[0], b, item->pose[1], &g, values + (ptrdiff_t)GROWTH_ALPHA * table.columns,
                               values + (ptrdiff_t)GROWTH_GAP * table.columns)) {
    table.known = GROWTH_GAP + 1;
    answer_text(out, "note", FLAT_CONTACT_NOTE);
  }
  answer_number(out, "condition", condition);
  add_derivatives(out, &table, GROWTH_NAMES, sizeof GROWTH_NAMES / sizeof GROWTH_NAMES[0], reason);
  if (item->stiffness > 0) add_wrench_derivatives(out, item, &g, &table, reason);
  if (values != by_poses) memory_free(values);
}

static void distance_numbers(AnswerForm* out, const Distance* d) {
  answer_number(out, "distance", d->distance);
  answer_vector(out, "normal", &d->normal);
  answer_vector(out, "witness_a", &d->witness_a);
  answer_vector(out, "witness_b", &d->witness_b);
}

/* ---- derivatives with respect to the points of hulls; each point has three columns, in the order of the input */

static int parameter_count(const QueryItem* item, const QueryBody* body) {
  if (!item->parameters) return 0;
  return body->smooth ? shape_parameter_count(&body->shape) : 3 * body->given_count;
}

/* Returns the index of the first given point that coincides with a vertex of the hull, or -1 if there is none. */
static int find_given_point(const QueryBody* body, PointView view, int vertex) {
  for (int i = 0; i < body->given_count; i++)
    if (body->given[i].x == view.x[vertex] && body->given[i].y == view.y[vertex] && body->given[i].z == view.z[vertex])
      return i;
  return -1;
}

/* Returns a zeroed table of derivatives of a distance. The columns are the poses, then the parameters of both bodies.
 * The caller frees the table with table_free. If no parameters are requested, the table borrows `by_poses`. */
static Table table_create(const QueryItem* item, const QueryBody* bodies[2],
                          double by_poses[DISTANCE_ROWS * QUERY_POSE_COLUMNS]) {
  Table table = {.columns = QUERY_POSE_COLUMNS};
  for (int k = 0; k < 2; k++) table.columns += table.shape_parameters[k] = parameter_count(item, bodies[k]);
  size_t bytes = sizeof(double) * DISTANCE_ROWS * (size_t)table.columns;
  table.values = table.room = table.columns > QUERY_POSE_COLUMNS ? memory_alloc(bytes) : by_poses;
  memset(table.room, 0, bytes);
  return table;
}

static void table_free(Table* table) {
  if (table->columns > QUERY_POSE_COLUMNS) memory_free(table->room);
}

/* Copies `count` derivatives of each row to the table of derivatives. values: array with `columns` numbers per row.
 * from: first column in `values`. to: first column in the table. */
static void copy_columns(Table* table, int to, const double* values, int columns, int from, int count) {
  assert(from + count <= columns && to + count <= table->columns);
  for (int r = 0; r < DISTANCE_ROWS; r++)
    memcpy(table->room + (ptrdiff_t)r * table->columns + to, values + (ptrdiff_t)r * columns + from,
           sizeof(double) * (size_t)count);
}

/* Writes a note that a face or an edge has more corners than determine it, so that derivatives are those of a best fit.
 */
static void append_fit_note(AnswerForm* out, int body) {
  answer_text(out, body ? "note_shape_b" : "note_shape_a",
              "derivatives of faces with more than three corners are those of a plane fitted to the corners: exact for "
              "changes that keep the faces flat");
}

/* Sets the derivatives with respect to the points of the hulls. If those of a body are unknown, marks them as unknown
 * and writes the reason. */
static void set_vertex_derivatives(AnswerForm* out, Table* table, const QueryBody* bodies[2], const PointView view[2],
                                   const VertexSlopes slopes[2]) {
  for (int k = 0, first = QUERY_POSE_COLUMNS; k < 2; first += table->shape_parameters[k++]) {
    if (table->shape_parameters[k] == 0 || bodies[k]->smooth) continue;
    table->missing[k] = slopes[k].reason != NULL;
    if (slopes[k].reason) answer_text(out, k ? "reason_shape_b" : "reason_shape_a", slopes[k].reason);
    if (!slopes[k].reason && slopes[k].fitted) append_fit_note(out, k);
    for (int i = 0; i < slopes[k].count; i++) {
      int point = find_given_point(bodies[k], view[k], slopes[k].vertex[i]);
      for (int r = 0; point >= 0 && r < DISTANCE_ROWS; r++)
        memcpy(table->room + (ptrdiff_t)r * table->columns + first + 3 * (ptrdiff_t)point, &slopes[k].rows[r][3 * i],
               3 * sizeof(double));
    }
  }
}

/* Note in the answer if two flat faces touch, so that the distance has two one-sided derivatives with respect to
 * rotations. */
#define KINK_NOTE \
  "flat on flat: by turns d_distance is the mean of its slopes by both directions of the turn, which differ"

/* Returns the derivatives of the distance of two hulls with respect to the poses and, if requested, to their points.
 * Sets *reason to the reason why there are none, or to NULL. by_poses: storage that the table borrows if no parameters
 * are requested. The caller frees the table with table_free. */
static Table hull_table(AnswerForm* out, const QueryItem* item, const QueryBody* bodies[2], const PointView view[2],
                        const Distance* d, double* by_poses, const char** reason) {
  Table table = table_create(item, bodies, by_poses);
  double values[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  *reason = distance_derivatives(view[0], item->pose[0], view[1], item->pose[1], d, values);
  if (*reason) {
    bool kinked = false;
    if (!distance_slope(view[0], item->pose[0], view[1], item->pose[1], d, table.room, &kinked))
      table.known = DISTANCE_VALUE + 1;
    if (kinked) answer_text(out, "note", KINK_NOTE);
    return table;
  }
  copy_columns(&table, 0, values, QUERY_POSE_COLUMNS, 0, QUERY_POSE_COLUMNS);
  if (!item->parameters) return table;
  VertexSlopes slopes[2];
  distance_vertex_slopes(view[0], item->pose[0], view[1], item->pose[1], d, slopes);
  set_vertex_derivatives(out, &table, bodies, view, slopes);
  return table;
}

static void answer_hull_distance(AnswerForm* out, const QueryBody* bodies[2], const QueryItem* item,
                                 QueryMemory* memory) {
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
  distance_numbers(out, &d);
  if (!item->derivatives) return;
  const char* reason;
  double by_poses[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  Table table = hull_table(out, item, bodies, (const PointView[2]){a, b}, &d, by_poses, &reason);
  add_derivatives(out, &table, DISTANCE_NAMES, sizeof DISTANCE_NAMES / sizeof DISTANCE_NAMES[0], reason);
  table_free(&table);
}

/* Returns a convex piece of a body. number: index of the piece; a body without pieces is its own only piece. */
static ConvexBody convex_piece(const QueryBody* body, int number) {
  if (body->smooth) return (ConvexBody){.shape = &body->shape};
  return (ConvexBody){.points = body->pieces ? body->witness.pieces[number].points : body->points};
}

/* Returns the smallest distance between convex pieces of two bodies. Sets pair (2) to the two pieces. */
static ConvexDistance find_nearest_pieces(const QueryBody* bodies[2], const Pose pose[2], ConvexBody pair[2]) {
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

static void answer_smooth_distance(AnswerForm* out, const QueryBody* bodies[2], const QueryItem* item) {
  ConvexBody pair[2] = {{0}};
  ConvexDistance d = find_nearest_pieces(bodies, item->pose, pair);
  distance_numbers(out, &d.nearest);
  answer_numbers(out, "bounds", (const double[2]){d.low, d.high}, 2);
  answer_bool(out, "proved", d.proved);
  if (!item->derivatives) return;
  double by_poses[DISTANCE_ROWS * QUERY_POSE_COLUMNS], own_room[DISTANCE_ROWS * QUERY_POSE_COLUMNS], condition;
  Table table = table_create(item, bodies, by_poses);
  int smooth[2], columns = QUERY_POSE_COLUMNS;
  for (int k = 0; k < 2; k++) columns += smooth[k] = pair[k].shape ? table.shape_parameters[k] : 0;
  double* values = columns > QUERY_POSE_COLUMNS ? MEMORY_NEW(double, DISTANCE_ROWS* columns) : own_room;
  const char* reason = convex_distance_derivatives(pair, item->pose, &d, item->parameters, values, &condition);
  if (!reason) copy_columns(&table, 0, values, columns, 0, QUERY_POSE_COLUMNS);
  if (reason && !convex_distance_slope(pair, item->pose, &d, table.room)) table.known = DISTANCE_VALUE + 1;
  for (int k = 0, from = QUERY_POSE_COLUMNS, to = from; !reason && k < 2;
       from += smooth[k], to += table.shape_parameters[k++])
    copy_columns(&table, to, values, columns, from, smooth[k]);
  answer_number(out, "condition", condition);
  if (!reason && item->parameters) {
    VertexSlopes slopes[2];
    convex_distance_vertex_slopes(pair, item->pose, &d, slopes);
    set_vertex_derivatives(out, &table, bodies, (const PointView[2]){pair[0].points, pair[1].points}, slopes);
  }
  add_derivatives(out, &table, DISTANCE_NAMES, sizeof DISTANCE_NAMES / sizeof DISTANCE_NAMES[0], reason);
  if (values != own_room) memory_free(values);
  table_free(&table);
}

static void answer_distance(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  const QueryBody* bodies[2] = {&list->bodies[item->body[0]], &list->bodies[item->body[1]]};
  if (bodies[0]->smooth || bodies[1]->smooth)
    answer_smooth_distance(out, bodies, item);
  else
    answer_hull_distance(out, bodies, item, memory);
}

/* Writes the derivatives of the smoothed nearest points with respect to the points of their own bodies: smooth_a for
 * body a, and smooth_b for body b. Each has 3 rows and 3 columns per point (witness.md, V12). */
static void add_smooth_corners(AnswerForm* out, const QueryItem* item, const QueryBody* bodies[2], const Witness* w) {
  WitnessCornerSlope slopes[WITNESS_CORNERS_MAX];
  for (int k = 0; k < 2; k++) {
    const QueryBody* body = bodies[k];
    int columns = parameter_count(item, body);
    int count = witness_corner_slopes(&body->witness, item->pose[k], w, k, slopes);
    double* values = MEMORY_NEW(double, 3 * columns);
    for (int i = 0; i < count; i++) {
      int point = find_given_point(body, body->witness.pieces[slopes[i].piece].points, slopes[i].vertex);
      for (int r = 0; point >= 0 && r < 3; r++)
        for (int axis = 0; axis < 3; axis++)
          values[(ptrdiff_t)r * columns + 3 * (ptrdiff_t)point + axis] += slopes[i].slope.m[r][axis];
    }
    answer_table(out, k ? "d_smooth_b_shape_b" : "d_smooth_a_shape_a", count < 0 ? NULL : values, 3, columns, columns);
    memory_free(values);
  }
}

/* Writes the derivatives of the smoothed nearest points (smooth_a, smooth_b). First come the derivatives with respect
 * to the pose of each body, with the point of the other body fixed. The derivatives with respect to the pose of the
 * other body are therefore zero. Then come the derivatives with both points moving. */
static void add_smooth_derivatives(AnswerForm* out, const QueryItem* item, const Witness* w) {
  static const double none[18] = {0};
  answer_table(out, "d_smooth_a_a", &w->side[0].by_own[0][0], 3, 6, 6);
  answer_table(out, "d_smooth_a_b", none, 3, 6, 6);
  answer_table(out, "d_smooth_b_a", none, 3, 6, 6);
  answer_table(out, "d_smooth_b_b", &w->side[1].by_own[0][0], 3, 6, 6);
  answer_table(out, "d_smooth_by_other_a", &w->side[0].by_other[0][0], 3, 3, 3);
  answer_table(out, "d_smooth_by_other_b", &w->side[1].by_other[0][0], 3, 3, 3);
  if (item->touch.query.temperature > 0) {
    answer_vector(out, "d_smooth_temperature_a", &w->side[0].by_temperature);
    answer_vector(out, "d_smooth_temperature_b", &w->side[1].by_temperature);
  }
  if (!w->total_known && !answer_has_fixed_layout(out)) return;
  static const char* const names[2][2] = {{"jacobian_a_a", "jacobian_a_b"}, {"jacobian_b_a", "jacobian_b_b"}};
  for (int k = 0; k < 4; k++)
    answer_table(out, names[k / 2][k % 2], w->total_known ? &w->total[k / 2][k % 2][0][0] : NULL, 3, 6, 6);
}

/* Writes the loss, which measures how far the nearest points are from their targets, and the gradients of the loss. */
static void add_loss(AnswerForm* out, const QueryItem* item, const Witness* w) {
  WitnessLoss loss = witness_loss(w, item->pose[0], item->pose[1], item->target, item->touch.query.margin);
  answer_number(out, "loss", loss.value);
  const bool known = w->total_known;
  if (!item->derivatives || (!known && !answer_has_fixed_layout(out))) return;
  answer_numbers(out, "gradient_a", known ? loss.gradient[0] : NULL, 6);
  answer_numbers(out, "gradient_b", known ? loss.gradient[1] : NULL, 6);
  answer_numbers(out, "transported", known ? loss.transported : NULL, 6);
}

static void answer_witness(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  const WitnessBody *a = &list->bodies[item->body[0]].witness, *b = &list->bodies[item->body[1]].witness;
  Witness w = witness_query(a, item->pose[0], b, item->pose[1], &item->touch.query,
                            item->has_target ? item->target : NULL, &memory->witness);
  answer_number(out, "distance", w.nearest.distance);
  answer_vector(out, "witness_a", &w.nearest.witness_a);
  answer_vector(out, "witness_b", &w.nearest.witness_b);
  for (int k = 0; k < 2; k++) {
    const WitnessSide* side = &w.side[k];
    answer_vector(out, k ? "smooth_b" : "smooth_a", &side->smooth);
    answer_number(out, k ? "temperature_b" : "temperature_a", side->temperature);
    answer_points(out, k ? "samples_b" : "samples_a", side->samples, side->count);
  }
  if (item->has_target) add_loss(out, item, &w);
  if (!item->derivatives) return;
  const QueryBody* bodies[2] = {&list->bodies[item->body[0]], &list->bodies[item->body[1]]};
  const PointView view[2] = {a->pieces[w.piece[0]].points, b->pieces[w.piece[1]].points};
  const char* reason;
  double by_poses[DISTANCE_ROWS * QUERY_POSE_COLUMNS];
  Table table = hull_table(out, item, bodies, view, &w.nearest, by_poses, &reason);
  static const AnswerRows names[] = {{"witness_a", DISTANCE_WITNESS_A, 3}, {"witness_b", DISTANCE_WITNESS_B, 3}};
  add_derivatives(out, &table, names, 2, reason);
  table_free(&table);
  if (item->parameters) add_smooth_corners(out, item, bodies, &w);
  add_smooth_derivatives(out, item, &w);
}

/* ---------------------------------------------------------------- contacts */

/* A question about all contact points of two bodies (QUERY_MANIFOLD), with the requested derivatives. */
typedef struct {
  const QueryItem* item;
  const ManifoldBody* body[2];
  ManifoldOptions options;
  int shape_parameters[2]; /* number of shape parameters of each body for which derivatives are requested */
} ManifoldQuestion;

enum { PARAMETERS_PER_QUERY = 6 }; /* number of parameters per call of manifold_query_by */

static int block_count(const ManifoldQuestion* q, int body) {
  assert(body == 0 || body == 1);
  return (q->shape_parameters[body] + PARAMETERS_PER_QUERY - 1) / PARAMETERS_PER_QUERY;
}

/* Returns the derivatives of all contacts with respect to the shape parameters of both bodies, or NULL if they are not
 * requested. The result consists of blocks of `count` contacts; the blocks of body a come first. The caller frees the
 * result. */
static ManifoldContact* compute_contact_derivatives(const ManifoldQuestion* q, int64_t count) {
  assert(count >= 0);
  int blocks = block_count(q, 0) + block_count(q, 1);
  if (blocks == 0) return NULL;
  ManifoldContact *out = memory_alloc(sizeof *out * (size_t)count * (size_t)blocks), *next = out;
  for (int body = 0; body < 2; body++)
    for (int first = 0; first < q->shape_parameters[body]; first += PARAMETERS_PER_QUERY, next += count)
      manifold_query_by(q->body[0], q->item->pose[0], q->body[1], q->item->pose[1], &q->options,
                        body ? MANIFOLD_BY_SHAPE_B : MANIFOLD_BY_SHAPE_A, first, next, NULL);
  return out;
}

/* Writes the derivatives of one contact with respect to the poses and shape parameters. by_shapes: its element in the
 * first block of compute_contact_derivatives. values: workspace of MANIFOLD_ROWS rows. The columns of a row are the
 * poses, then the parameters of both bodies. */
static void add_contact_derivatives(AnswerForm* out, const ManifoldQuestion* q, const ManifoldContact* contact,
                                    const ManifoldContact* by_shapes, int64_t count, double* values) {
  int columns = QUERY_POSE_COLUMNS + q->shape_parameters[0] + q->shape_parameters[1];
  for (int r = 0; r < MANIFOLD_ROWS; r++) {
    double* row = values + (ptrdiff_t)r * columns;
    memcpy(row, contact->slope[r], sizeof contact->slope[r]);
    row += QUERY_POSE_COLUMNS;
    const ManifoldContact* block = by_shapes;
    for (int body = 0; body < 2; row += q->shape_parameters[body++])
      for (int k = 0; k < q->shape_parameters[body]; k++) {
        row[k] = block->slope[r][k % PARAMETERS_PER_QUERY];
        if (k % PARAMETERS_PER_QUERY == PARAMETERS_PER_QUERY - 1 || k == q->shape_parameters[body] - 1) block += count;
      }
  }
  Table table = {
      .values = values, .columns = columns, .shape_parameters = {q->shape_parameters[0], q->shape_parameters[1]}};
  add_derivatives(out, &table, CONTACT_NAMES, CONTACT_NAMES_COUNT, NULL);
}

static void add_contact(AnswerForm* out, const ManifoldContact* contact) {
  static const char* const kinds[] = {"vertex_a", "vertex_b", "edge_a", "edge_b"};
  text_add(out->line, "{\"kind\": \"%s\"", kinds[contact->kind]);
  answer_vector(out, "point", &contact->point);
  answer_number(out, "distance", contact->distance);
  answer_vector(out, "normal", &contact->normal);
  answer_number(out, "activity", contact->activity);
}

/* Returns scratch memory of `bytes` bytes, aligned to 64. The memory is borrowed, and the next query overwrites it. */
static void* scratch_memory(QueryMemory* memory, size_t bytes) {
  if (memory->room_bytes < bytes) {
    memory_free(memory->room);
    memory->room = memory_alloc(bytes);
    memory->room_bytes = bytes;
  }
  return memory->room;
}

/* Writes the number of omitted points or edges that are as deep as a kept one (manifold.md, X1), and a note if it is
 * not 0. */
static void append_left_out(AnswerForm* out, int left_out) {
  answer_number(out, "left_out", left_out);
  if (left_out > 0)
    answer_text(
        out, "note",
        "`points` or `edges` is too small for all equally deep points or edges, and those farthest apart were kept: "
        "raise `points` or `edges`, otherwise the kept points or edges change abruptly when their depths differ");
}

/* Default smoothing length of contacts, relative to the mean size of the two bodies. */
#define SMOOTHING_FRACTION 0.01

static void answer_mean(AnswerForm* out, const ManifoldQuestion* q, QueryMemory* memory) {
  const Pose* pose = q->item->pose;
  ManifoldMean mean;
  void* room = scratch_memory(memory, manifold_room(q->body[0], q->body[1], &q->options));
  int left_out = manifold_mean(q->body[0], pose[0], q->body[1], pose[1], &q->options, &mean, room);
  answer_number(out, "mean", mean.distance);
  answer_number(out, "activity", mean.activity);
  append_left_out(out, left_out);
  if (!q->item->derivatives) return;
  int columns = QUERY_POSE_COLUMNS + q->shape_parameters[0] + q->shape_parameters[1];
  double by_poses[QUERY_POSE_COLUMNS];
  double* values = columns > QUERY_POSE_COLUMNS ? MEMORY_NEW(double, columns) : by_poses;
  double* next = values + QUERY_POSE_COLUMNS;
  memcpy(values, mean.slope, sizeof mean.slope);
  for (int body = 0; body < 2; body++)
    for (int first = 0; first < q->shape_parameters[body]; first += PARAMETERS_PER_QUERY) {
      ManifoldMean by;
      manifold_mean_by(q->body[0], pose[0], q->body[1], pose[1], &q->options,
                       body ? MANIFOLD_BY_SHAPE_B : MANIFOLD_BY_SHAPE_A, first, &by, NULL);
      for (int k = 0; k < PARAMETERS_PER_QUERY && first + k < q->shape_parameters[body]; k++) *next++ = by.slope[k];
    }
  Table table = {
      .values = values, .columns = columns, .shape_parameters = {q->shape_parameters[0], q->shape_parameters[1]}};
  add_derivatives(out, &table, (const AnswerRows[1]){{"mean", 0, 1}}, 1, NULL);
  if (values != by_poses) memory_free(values);
}

static double contact_value(const ManifoldContact* c, int row) {
  assert(row >= 0 && row < MANIFOLD_ROWS);
  const double values[MANIFOLD_ROWS] = {c->point.x,  c->point.y,  c->point.z,  c->distance,
                                        c->normal.x, c->normal.y, c->normal.z, c->activity};
  return values[row];
}

/* Writes the derivatives of all contacts with respect to the parameters of a body, contact by contact. by_shapes:
 * result of compute_contact_derivatives. Slots of the row without a contact are NaN. */
static void add_shape_slots(AnswerForm* out, const ManifoldQuestion* q, const AnswerRows* rows, int body,
                            const ManifoldContact* by_shapes, int slots, int count) {
  char key[ANSWER_KEY];
  make_key(out, rows->name, body ? "shape_b" : "shape_a", key);
  double* room = answer_reserve_numbers(out, key, slots * rows->count * q->shape_parameters[body]);
  const ManifoldContact* by_body = by_shapes + (body ? (ptrdiff_t)count * block_count(q, 0) : 0);
  for (int i = 0; room && i < slots; i++)
    for (int r = 0; r < rows->count; r++)
      for (int k = 0; k < q->shape_parameters[body]; k++) {
        ptrdiff_t at = (ptrdiff_t)(k / PARAMETERS_PER_QUERY) * count + i;
        *room++ = i < count ? by_body[at].slope[rows->first + r][k % PARAMETERS_PER_QUERY] : (double)NAN;
      }
}

/* Writes the numbers of all contacts to the row, one slot for each contact. Slots without a contact are NaN. */
static void add_slots(AnswerForm* out, const ManifoldQuestion* q, const ManifoldContact* contacts,
                      const ManifoldContact* by_shapes, int count) {
  const int slots = out->slots > count ? out->slots : count;
  double* room = answer_reserve_numbers(out, "kind", slots);
  for (int i = 0; room && i < slots; i++) room[i] = i < count ? contacts[i].kind : (double)NAN;
  for (int k = 0; k < CONTACT_NAMES_COUNT; k++) {
    const AnswerRows* rows = &CONTACT_NAMES[k];
    room = answer_reserve_numbers(out, rows->name, slots * rows->count);
    for (int i = 0; room && i < slots; i++)
      for (int r = 0; r < rows->count; r++)
        *room++ = i < count ? contact_value(&contacts[i], rows->first + r) : (double)NAN;
  }
  for (int k = 0; q->item->derivatives && k < 2 * CONTACT_NAMES_COUNT; k++) {
    const AnswerRows* rows = &CONTACT_NAMES[k / 2];
    const int body = k % 2;
    char key[ANSWER_KEY];
    make_key(out, rows->name, body ? "b" : "a", key);
    room = answer_reserve_numbers(out, key, slots * rows->count * 6);
    for (int i = 0; room && i < slots; i++)
      for (int r = 0; r < rows->count; r++)
        for (int c = 0; c < 6; c++)
          *room++ = i < count ? contacts[i].slope[rows->first + r][6 * body + c] : (double)NAN;
    for (int shape_body = 0; body == 1 && shape_body < 2; shape_body++)
      if (q->shape_parameters[0] + q->shape_parameters[1] > 0)
        add_shape_slots(out, q, rows, shape_body, by_shapes, slots, count);
  }
}

/* Writes the contacts of a question as a row of numbers. Overwrites the scratch memory of `memory`. */
static void write_contacts_row(AnswerForm* out, const ManifoldQuestion* q, QueryMemory* memory) {
  const Pose* pose = q->item->pose;
  int64_t count = manifold_count(q->body[0], q->body[1], &q->options);
  size_t work = manifold_room(q->body[0], q->body[1], &q->options);
  size_t bytes = (sizeof(ManifoldContact) * (size_t)count + 63) / 64 * 64 + work;
  char* room = scratch_memory(memory, bytes);
  ManifoldContact* contacts = (ManifoldContact*)(void*)room;
  int left_out = 0;
  if (out->row)
    left_out = manifold_query(q->body[0], pose[0], q->body[1], pose[1], &q->options, contacts, room + (bytes - work));
  append_left_out(out, left_out);
  ManifoldContact* by_shapes = out->row ? compute_contact_derivatives(q, count) : NULL;
  add_slots(out, q, contacts, by_shapes, (int)count);
  memory_free(by_shapes);
}

static void answer_contacts(AnswerForm* out, const ManifoldQuestion* q) {
  const Pose* pose = q->item->pose;
  int64_t count = manifold_count(q->body[0], q->body[1], &q->options);
  ManifoldContact *contacts = memory_alloc(sizeof *contacts * (size_t)count),
                  *by_shapes = compute_contact_derivatives(q, count);
  double* values =
      MEMORY_NEW(double, MANIFOLD_ROWS*(QUERY_POSE_COLUMNS + q->shape_parameters[0] + q->shape_parameters[1]));
  append_left_out(out, manifold_query(q->body[0], pose[0], q->body[1], pose[1], &q->options, contacts, NULL));
  text_add(out->line, ", \"contacts\": [");
  for (int64_t i = 0; i < count; i++) {
    if (i > 0) text_add(out->line, ", ");
    add_contact(out, &contacts[i]);
    if (q->item->derivatives)
      add_contact_derivatives(out, q, &contacts[i], by_shapes ? by_shapes + i : NULL, count, values);
    text_add(out->line, "}");
  }
  text_add(out->line, "]");
  memory_free(contacts);
  memory_free(by_shapes);
  memory_free(values);
}

static ManifoldQuestion manifold_question(const QueryList* list, const QueryItem* item) {
  ManifoldQuestion q = {.item = item, .options = item->manifold};
  for (int k = 0; k < 2; k++) {
    const QueryBody* body = &list->bodies[item->body[k]];
    q.body[k] = &body->manifold;
    if (item->derivatives && item->parameters) q.shape_parameters[k] = manifold_parameter_count(&body->manifold);
  }
  if (!(q.options.smoothing > 0)) q.options.smoothing = SMOOTHING_FRACTION * (q.body[0]->outer + q.body[1]->outer);
  if (q.options.edges == 0) q.options.edges = MANIFOLD_EDGES;
  q.options.values = !item->derivatives;
  return q;
}

int64_t answer_contact_count(const QueryList* list, const QueryItem* item) {
  ManifoldQuestion q = manifold_question(list, item);
  return manifold_count(q.body[0], q.body[1], &q.options);
}

static void answer_manifold(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  ManifoldQuestion q = manifold_question(list, item);
  answer_number(out, "smoothing", q.options.smoothing);
  for (int k = 0; k < 2; k++)
    if (q.shape_parameters[k] > 0 && list->bodies[item->body[k]].corners.fitted) append_fit_note(out, k);
  if (item->mean)
    answer_mean(out, &q, memory);
  else if (answer_has_fixed_layout(out))
    write_contacts_row(out, &q, memory);
  else
    answer_contacts(out, &q);
}

/* ---------------------------------------------------------------- questions */

void query_memory_set_bodies(QueryMemory* memory, const int body[2]) {
  *memory = (QueryMemory){.body = {body[0], body[1]}, .room = memory->room, .room_bytes = memory->room_bytes};
}

void query_memory_free(QueryMemory* memory) {
  memory_free(memory->room);
  *memory = query_memory_create();
}

void answer_question(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  assert(item->method != QUERY_POTENTIAL);
  if (memory->body[0] != item->body[0] || memory->body[1] != item->body[1]) query_memory_set_bodies(memory, item->body);
  if (item->method == QUERY_GROWTH)
    answer_growth(out, list, item, memory);
  else if (item->method == QUERY_WITNESS)
    answer_witness(out, list, item, memory);
  else if (item->method == QUERY_TOUCH)
    answer_touch(out, list, item);
  else if (item->method == QUERY_MANIFOLD)
    answer_manifold(out, list, item, memory);
  else
    answer_distance(out, list, item, memory);
}

void query_answer(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  assert(line && item && memory);
  if (item->method == QUERY_POTENTIAL) {
    query_answer_pair(line, &item->pair);
    return;
  }
  text_add(line, "{\"method\": \"%s\"", query_method_name(item->method));
  answer_question(&(AnswerForm){.line = line}, list, item, memory);
  text_add(line, "}\n");
}
