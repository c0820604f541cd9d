/* ask: reads questions about the distance or contact of two bodies from JSON and answers each with one line of JSON.
 * A question is about two convex point sets, or about two shapes with a method. Messages give the line and column of
 * the error. `sdrs query` and the library function sdrs_query_text use this folder. */
#ifndef SDRS_ASK_ASK_H
#define SDRS_ASK_ASK_H

#include "query/query.h"
#include "scene/scene.h"

/* A question about the contact potential of two convex point sets. */
typedef struct {
  Vec3 *a, *b; /* points of each body in world coordinates [m]  (a_count, b_count); owned */
  int a_count, b_count;
  double support; /* distance at which the contact law begins to act [m], > 0; unused by contact laws without such a
                     distance */
  ContactModel law;
} QueryPair;

/* A body of a question. The body is a smooth shape if `smooth` is true, and a convex hull if `hulled` is true. If both
 * are false, the body consists of points with normals, or is a union or a subtraction. */
typedef struct {
  bool smooth, hulled;
  Shape shape; /* smooth shape, if `smooth`; its arrays belong to field.shape */
  Vec3* given; /* if hulled: the points of which the hull was made, with respect to which derivatives are computed
 (size: given_count) */
  int given_count;
  ConvexHull hull;  /* convex hull in the body's frame, if hulled */
  PointView points; /* corners of the hull */
  ConvexHull*
      pieces; /* convex pieces of a mesh with `pieces: hulls` (piece_count); NULL if the hull is the only piece */
  int piece_count;
  /* surface samples for QUERY_WITNESS and QUERY_TOUCH, created by the first question that needs them */
  WitnessBody witness;
  Field* field;            /* signed distance field; owned; separately allocated so that its address is constant */
  const char* no_field;    /* reason why a hull has no signed distance field (static text), otherwise NULL */
  TriangleSurface surface; /* surface of a mesh; becomes part of `manifold` when `manifold` is created */
  /* surface points and edges for QUERY_MANIFOLD, created by the first question that needs them */
  ManifoldBody manifold;
  Vec3* point_slopes;  /* derivatives of manifold.points with respect to the shape parameters; NULL if not created or if
                          the body is a hull */
  int (*triangles)[3]; /* triangles of a hull, as indices into manifold.points (size: triangle_count) */
  int triangle_count;
  int* point_corner;    /* index into `given` of each point of `manifold`, -1 if there is none; NULL if not created */
  FieldCorners corners; /* derivatives of the signed distance field with respect to the points `given` */
} QueryBody;

typedef enum {
  QUERY_POTENTIAL,
  QUERY_DISTANCE,
  QUERY_GROWTH,
  QUERY_WITNESS,
  QUERY_MANIFOLD,
  QUERY_TOUCH,
  QUERY_METHODS,
} QueryMethod;
/* Returns the name of a method as users write it in a question, such as "distance" or "growth". The text is constant.
 */
const char* query_method_name(QueryMethod method); /* NULL for QUERY_POTENTIAL */

typedef struct {
  QueryMethod method;
  QueryPair pair; /* the two point sets of QUERY_POTENTIAL */
  int body[2];    /* indices into QueryList.bodies; -1 if the body could not be read */
  Pose pose[2];
  WitnessDescent touch; /* options of the gradient descent of QUERY_TOUCH; QUERY_WITNESS uses its member `query` */
  int targets, seed; /* QUERY_TOUCH: number of random pairs of points, one on each body, that shall touch, 0 if `target`
                        is given; seed of the random numbers */
  int starts;        /* QUERY_TOUCH: largest number of initial poses of the descent; the best result is the answer */
  bool meeting;      /* true: the random pairs of points can touch each other (witness_random_pair); false: they are
                        arbitrary surface points */
  Vec3 target[2];    /* point of each body, in the body's frame, that the nearest point should reach [m] */
  bool has_target;
  ManifoldOptions manifold;     /* options of QUERY_MANIFOLD; the member smoothing is 0 if not given */
  bool mean;                    /* QUERY_MANIFOLD: the answer is the mean distance instead of the contacts */
  double stiffness, exponent;   /* QUERY_GROWTH: contact force stiffness * penetration^exponent, stiffness in
                                   N/m^exponent; 0 if no force is requested */
  bool derivatives, parameters; /* derivatives: true if derivatives with respect to the poses are requested; parameters:
                                   true if those with respect to the parameters of the shapes are requested, too */
  int64_t poses; /* number of pairs of poses that follow the question in its file (QueryRows); 0 if there are none */
} QueryItem;

typedef struct {
  QueryItem* items;
  int count, capacity;
  QueryBody* bodies;
  int body_count, body_capacity;
} QueryList;

/* Reads one question, or several in JSON lines, from a text.
 * text (length bytes, NUL-terminated) is not kept. Messages name `path`, and meshes are searched relative to `path`.
 * Returns STATUS_BAD_INPUT with all errors in diagnostics, also if the text contains a NUL. The caller frees the list
 * with query_free in any case. query_free accepts a zeroed list. */
Status query_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees questions, points and bodies and zeroes the list. NULL is not accepted. */
void query_free(QueryList* list);

/* Warm start of the next answer. Owns its arrays. The caller frees them with query_memory_free. */
typedef struct {
  int body[2]; /* bodies of the last answer; -1 if there are none */
  GrowthCache growth;
  GjkCache gjk;
  WitnessCache witness;
  void* room; /* scratch memory of QUERY_MANIFOLD (size: room_bytes) */
  size_t room_bytes;
} QueryMemory;
static inline QueryMemory query_memory_create(void) { return (QueryMemory){.body = {-1, -1}}; }
/* Prepares the warm start for a question about two bodies. body: their indices in QueryList.bodies. Discards the warm
 * start if it belongs to other bodies. Keeps the scratch memory. Never fails. */
void query_memory_set_bodies(QueryMemory* memory, const int body[2]);
/* Frees the scratch memory and resets the struct to query_memory_create(). */
void query_memory_free(QueryMemory* memory);
/* Appends the answer to a question of the list as one line of JSON. memory: warm start from the previous answer;
 * query_memory_create() before the first answer. Data that the question needs are computed once and stored in the
 * bodies of the list. Never fails. The caller owns line. */
void query_answer(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* ---- poses as numbers (ask/rows.c)
 * One question is answered for many pairs of poses, given as binary numbers. The first line of the file is a question
 * with a method and `poses: N`. After the newline follow N rows of QUERY_ROW_NUMBERS little-endian float64. A row
 * contains the position [m] and the unit quaternion [w, x, y, z] of body a, then position and quaternion of body b. The
 * answer to a row contains the same numbers as the JSON line for these poses. Each answer is computed with a warm start
 * from the previous row. */
enum { QUERY_ROW_NUMBERS = 14 };
typedef struct {
  QueryList list;    /* contains one question: the first line of the file */
  const char* bytes; /* rows of poses as little-endian float64, borrowed */
  size_t first;      /* number of bytes before the rows */
  int64_t count;     /* number of rows */
  int columns;       /* how many numbers the answer to a row has */
} QueryRows;
/* Returns true if the first line of a file is a JSON object with the key `poses`. Otherwise returns false without a
 * message. data (length bytes) is NUL-terminated. Frees its allocations before it returns. */
bool query_rows_recognise(const char* data, size_t length);
/* Reads the question in the first line of a file of rows, and checks all rows. data (length bytes, NUL-terminated) must
 * outlive *rows. path: name in messages; meshes are searched relative to it. Returns STATUS_BAD_INPUT with errors if
 * the question or a row is invalid; a message gives the byte offset of the row in the file. *rows owns a copy of the
 * question. The caller frees *rows with query_rows_free in any case. */
Status query_rows_read(QueryRows* rows, const char* path, const char* data, size_t length, Diagnostics* diagnostics);
/* Reads the question in the first line of a stream of rows. query_rows_set_row then reads the rows one by one. line:
 * `length` bytes, including the newline. path: name in messages; meshes are searched relative to it. Returns
 * STATUS_BAD_INPUT with errors if the question is invalid. The caller frees *rows with query_rows_free in any case. */
Status query_rows_open(QueryRows* rows, const char* path, const char* line, size_t length, Diagnostics* diagnostics);
/* Checks a row (two poses) read from a stream and makes it the only row of *rows. number: index of the row in the
 * stream. bytes: QUERY_ROW_NUMBERS float64, borrowed. Returns STATUS_BAD_INPUT with the byte offset in the stream if
 * the row is invalid. */
Status query_rows_set_row(QueryRows* rows, const char* path, int64_t number, const char* bytes,
                          Diagnostics* diagnostics);
/* Appends the header line of the answers, which names the columns. Example: {"method": "growth", "rows": N, "columns":
 * [["alpha", 1], ["bounds", 2], ...]}. Never fails. The caller owns line. Frees its allocations before it returns. */
void query_rows_header(const QueryRows* rows, Text* line);
/* Computes the answer to row i and writes its numbers to out (columns), in the order of the header. An unknown number
 * is NaN. A truth value is 1 or 0. Rows must be answered in ascending order from 0, with one `memory`, which begins as
 * query_memory_create(). Never fails. */
void query_rows_answer(const QueryRows* rows, int64_t i, QueryMemory* memory, double* out);
/* Frees the question. Accepts a zeroed struct, but not NULL. */
void query_rows_free(QueryRows* rows);
/* ---- shapes and poses in memory (ask/arrays.c)
 * One question is answered for many pairs of bodies of a list. Row i is about the bodies with the indices bodies[2 i]
 * and bodies[2 i + 1], at the poses a and b of row i: x, y, z [m], qw, qx, qy, qz. Consecutive rows of the same pair
 * are answered with a warm start from the previous row. Every QUERY_ARRAYS_PART rows the warm start is discarded, so
 * that the numbers do not depend on the number of threads. All data are borrowed. */
enum { QUERY_ARRAYS_PART = 64, QUERY_POSE_NUMBERS = 7, QUERY_PAIR_KINDS = 4 };
typedef struct {
  const char* method;       /* "growth", "distance", "manifold", "witness" or "touch" */
  const char* options;      /* all other keys of the query, as a JSON object; NULL if there are none */
  const char* const* names; /* names of the requested answers, in output order (size: name_count) */
  int name_count;
  int64_t count;          /* number of rows */
  const int* bodies;      /* indices of both bodies of each row (count x 2) */
  const double* poses[2]; /* poses of the first and of the second body (count x 7 each) */
} QueryArrays;

/* Layout of the answers in a row. */
typedef struct {
  QueryItem question;
  int slots;   /* number of contacts for which a row has space: the largest of any pair of bodies, 0 for methods without
                  contacts */
  int columns; /* numbers per row */
  int* widths; /* widths[i]: how many numbers the answer names[i] has (name_count); owned */
  int* places[QUERY_PAIR_KINDS]; /* offset of each answer in the row, for each kind of pair; NULL if there is no such
                                    pair; owned. The kind is 1 if a is a smooth shape, plus 2 if b is one */
  bool whole[QUERY_PAIR_KINDS];  /* true if pairs of this kind give a number for every column of the row */
} QueryPlan;

/* Reads bodies from a JSON list of shapes without position and quaternion. text (length bytes, NUL-terminated) is not
 * kept. path: name in messages; meshes are searched relative to it. Returns STATUS_BAD_INPUT with all errors in
 * diagnostics. The caller frees the list with query_free in any case. */
Status query_shapes_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
/* Checks the question and its pairs of bodies, but not the poses. Creates the data that the bodies need to answer it.
 * Returns STATUS_BAD_INPUT with all errors in diagnostics. The caller frees the plan with query_plan_free in any case.
 */
Status query_plan_create(QueryPlan* plan, QueryList* list, const QueryArrays* arrays, Diagnostics* diagnostics);
/* Frees the arrays of the plan and zeroes it. Accepts a zeroed plan. */
void query_plan_free(QueryPlan* plan);
/* Computes the answers to all rows. Writes the plan->columns numbers of row i to out + i * stride. A number without an
 * answer is NaN. `list` must be the list that query_plan_create received. If a pose is invalid, returns
 * STATUS_BAD_INPUT with errors and leaves out unchanged. Allocates once per call, and for overlapping hulls whose depth
 * hull_depth cannot compute. */
Status query_arrays_answer(const QueryList* list, const QueryArrays* arrays, const QueryPlan* plan, double* out,
                           int64_t stride, int threads, Diagnostics* diagnostics);

/* Appends the distance and contact potential of the convex hulls of two point sets as JSON (ask/pair.c). The point sets
 * may intersect. Never fails. An unknown value is null. Frees its allocations before it returns. The caller owns line.
 */
void query_answer_pair(Text* line, const QueryPair* pair);
/* Appends a vector as `[x, y, z]`, with null for a component that is not finite. The caller owns line. */
void query_add_vector(Text* line, Vec3 v);

/* Returns the line and the column, from 1, of a value in a valid JSON text. path (depth): child indices, from 0, from
 * the document to the value, which must exist. If `key` is true, returns the position of the value's key instead. file
 * is borrowed. Allocates nothing. */
SourcePosition json_find_location(const char* file, const char* text, const int* path, int depth, bool key);

#endif
