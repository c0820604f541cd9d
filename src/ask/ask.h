/* ask: reads questions about pairs of bodies from JSON and answers each with one line of JSON. A question is about two
 * convex point sets, or about two shapes with a method. Messages give the line and column of the error. Common code of
 * `sdrs query` and the library's sdrs_query_text. */
#ifndef SDRS_ASK_ASK_H
#define SDRS_ASK_ASK_H

#include "query/query.h"
#include "scene/scene.h"

typedef struct {
  Vec3 *a, *b; /* owned; points of each body, in world coordinates [m] (a_count, b_count) */
  int a_count, b_count;
  double support; /* distance at which the contact law begins to act [m], > 0; unused by laws without such a distance */
  ContactModel law;
} QueryPair;

/* A body of a question. smooth: a smooth shape. hulled: a convex hull. Neither: points with normals, a union or a
 * subtraction. */
typedef struct {
  bool smooth, hulled;
  Shape shape; /* for smooth shapes; in the frame of field.shape, which owns its arrays */
  Vec3* given; /* if hulled: given points or corners of the mesh, the parameters of the hull (given_count) */
  int given_count;
  ConvexHull hull;    /* if hulled: the convex hull, in the body's frame */
  PointView points;   /* corners of the hull */
  ConvexHull* pieces; /* convex pieces of a mesh with `pieces: hulls` (piece_count); NULL: the hull is the only piece */
  int piece_count;
  WitnessBody witness;     /* created by the first question that needs it */
  Field* field;            /* owned; a separate allocation, so that its address is constant */
  const char* no_field;    /* reason why a hull has no field (static); else NULL */
  TriangleSurface surface; /* surface of a mesh, until converted to `manifold` */
  ManifoldBody manifold;   /* created by the first question that needs it */
  Vec3* point_slopes;      /* derivatives of manifold.points; NULL: not created, or hulled */
  int (*triangles)[3];     /* if hulled: triangles, as indices into manifold.points (triangle_count) */
  int triangle_count;
  int* point_corner;    /* index into `given` of each point of `manifold`, -1: none; NULL: not created */
  FieldCorners corners; /* derivatives of the field with respect to `given` */
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
/* Returns the word of a method: "distance", "growth", ... Constant. */
const char* query_method_name(QueryMethod method); /* NULL for QUERY_POTENTIAL */

typedef struct {
  QueryMethod method;
  QueryPair pair; /* QUERY_POTENTIAL */
  int body[2];    /* indices into QueryList.bodies; -1: the body could not be read */
  Pose pose[2];
  WitnessDescent touch; /* options of QUERY_TOUCH; QUERY_WITNESS uses its query */
  int targets, seed;    /* QUERY_TOUCH: number of random target pairs; 0: the given targets */
  int starts;           /* QUERY_TOUCH: largest number of starts of the descent; the smallest loss is the answer */
  bool meeting;         /* the random targets can touch (witness_random_pair); false: any points */
  Vec3 target[2];       /* target positions of the nearest points, in the bodies' frames [m] */
  bool has_target;
  ManifoldOptions manifold;   /* options of QUERY_MANIFOLD; smoothing 0: not given */
  bool mean;                  /* QUERY_MANIFOLD: answer the mean distance instead of the contacts */
  double stiffness, exponent; /* QUERY_GROWTH: law of the wrench [N/m^exponent]; stiffness 0: no wrench is requested */
  bool derivatives, parameters; /* request derivatives with respect to the poses, and also to the shapes' parameters */
  int64_t poses;                /* number of rows of poses after the question (QueryRows); 0: none */
} QueryItem;

typedef struct {
  QueryItem* items;
  int count, capacity;
  QueryBody* bodies;
  int body_count, body_capacity;
} QueryList;

/* Reads one question, or several in JSON lines, from a NUL-terminated text of `length` bytes. The text is not kept.
 * Messages name `path`; meshes are searched relative to it. Returns STATUS_BAD_INPUT with all problems in diagnostics,
 * also for a NUL in the text. The caller frees the list with query_free in any case. query_free accepts a zeroed list.
 */
Status query_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees items, points and bodies and zeroes the list. NULL is not accepted. */
void query_free(QueryList* list);

/* Warm start of the next answer. Owns its arrays; freed by query_memory_free. */
typedef struct {
  int body[2]; /* bodies of the last answer; -1: none */
  GrowthCache growth;
  GjkCache gjk;
  WitnessCache witness;
  void* room; /* scratch memory of QUERY_MANIFOLD (room_bytes) */
  size_t room_bytes;
} QueryMemory;
static inline QueryMemory query_memory(void) { return (QueryMemory){.body = {-1, -1}}; }
/* Sets memory->body to `body` and discards the warm start of the previous bodies. Keeps the scratch memory. Never
 * fails. */
void query_memory_turn(QueryMemory* memory, const int body[2]);
/* Frees the scratch memory and resets the struct to query_memory(). */
void query_memory_free(QueryMemory* memory);
/* Appends the answer to a question of the list as one line of JSON (ask/answer.c). Data that the question needs are
 * kept in the bodies of the list. memory: query_memory() before the first answer, then the same struct. Never fails.
 * The caller owns line. */
void query_answer(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* ---- poses as numbers (ask/rows.c). The first line of the file is a question with a method and `poses: N`. The
 * newline is followed by N rows of QUERY_ROW_NUMBERS little-endian float64. A row contains the position [m] and the
 * unit quaternion [w, x, y, z] of body a, then those of body b. The answer to a row contains the same numbers as the
 * JSON line for these poses. Each answer is computed with a warm start from the previous row. */
enum { QUERY_ROW_NUMBERS = 14 };
typedef struct {
  QueryList list;    /* one question: the first line of the file */
  const char* bytes; /* borrowed; the rows */
  size_t first;      /* number of bytes before the rows */
  int64_t count;     /* number of rows */
  int columns;       /* numbers per answer */
} QueryRows;
/* Returns true if the first line of data is a JSON object with the key `poses`, else false without a message. data
 * (length bytes) is NUL-terminated. Frees its allocations before it returns. */
bool query_rows_begin(const char* data, size_t length);
/* Reads the question and checks all rows. data (length bytes, NUL-terminated) must outlive *rows; path as in
 * query_parse. Returns STATUS_BAD_INPUT with diagnostics if the question or a row is invalid. A message about a row
 * gives the byte offset of the row in the file. *rows owns a copy of the question. The caller frees it with
 * query_rows_free in any case. */
Status query_rows_read(QueryRows* rows, const char* path, const char* data, size_t length, Diagnostics* diagnostics);
/* Reads the first line only (length bytes, with its newline); query_rows_take reads the rows one by one. Errors and
 * ownership as for query_rows_read. */
Status query_rows_open(QueryRows* rows, const char* path, const char* line, size_t length, Diagnostics* diagnostics);
/* Checks `bytes` (QUERY_ROW_NUMBERS float64, borrowed), which are row `number` of the stream, and makes them row 0 of
 * *rows. Returns STATUS_BAD_INPUT, with a message that gives the byte offset in the stream, if the row is invalid. */
Status query_rows_take(QueryRows* rows, const char* path, int64_t number, const char* bytes, Diagnostics* diagnostics);
/* Appends the header line of the answers: {"method": "growth", "rows": N, "columns": [["alpha", 1], ["bounds", 2],
 * ...]}. Never fails. The caller owns line. Frees its allocations before it returns. */
void query_rows_header(const QueryRows* rows, Text* line);
/* Sets out (columns) to the answer to row i, in the order of the header. A number that is unknown or does not exist is
 * NaN; a truth value is 1 or 0. Rows must be answered in order, from 0. memory as in query_answer. Never fails. */
void query_rows_answer(const QueryRows* rows, int64_t i, QueryMemory* memory, double* out);
/* Frees the question; accepts a zeroed one. NULL is not accepted. */
void query_rows_free(QueryRows* rows);
/* ---- shapes and poses in memory (ask/arrays.c). One question about many pairs of bodies of a list. Row i is about
 * bodies 2 i and 2 i + 1 of `bodies`, at poses a and b of that row: x, y, z [m], qw, qx, qy, qz. Consecutive rows of
 * the same pair are answered with a warm start from the previous row. Every QUERY_ARRAYS_PART rows the warm start is
 * discarded, so that the numbers do not depend on the number of threads. All data are borrowed. */
enum { QUERY_ARRAYS_PART = 64, QUERY_POSE_NUMBERS = 7, QUERY_PAIR_KINDS = 4 };
typedef struct {
  const char* method;       /* "growth", "distance", "manifold", "witness" or "touch" */
  const char* options;      /* other keys of the question, as a JSON object; NULL: none */
  const char* const* names; /* names of the requested answers (name_count), in output order */
  int name_count;
  int64_t count; /* number of rows */
  const int* bodies;
  const double* poses[2];
} QueryArrays;

/* Layout of the answers in a row. */
typedef struct {
  QueryItem question;
  int slots;   /* contact slots per row: the largest number of contacts of any pair; 0 if there are none */
  int columns; /* numbers per row */
  int* widths; /* owned; numbers per name (name_count) */
  int* places[QUERY_PAIR_KINDS]; /* owned; offset in the row by answer; NULL: no such pair. Index: 1 if a is smooth, + 2
                                    if b is */
  bool whole[QUERY_PAIR_KINDS];  /* true if such a pair answers all columns */
} QueryPlan;

/* Reads bodies from a JSON list of shapes without position and quaternion. Messages, path and errors as for
 * query_parse. The caller calls query_free in any case. */
Status query_shapes_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
/* Checks the question and its pairs, but not the poses, and creates the data that the bodies need. Returns
 * STATUS_BAD_INPUT with all problems in diagnostics. The caller frees the plan with query_plan_free in any case. */
Status query_plan_create(QueryPlan* plan, QueryList* list, const QueryArrays* arrays, Diagnostics* diagnostics);
/* Frees the arrays of the plan and zeroes it. Accepts a zeroed plan. */
void query_plan_free(QueryPlan* plan);
/* Answers all rows. Writes the plan->columns numbers of row i to out + i * stride; a number without an answer is NaN.
 * list must be the list of query_plan_create. Returns STATUS_BAD_INPUT with diagnostics, and leaves out unchanged, if a
 * pose is invalid. Allocates once per call, and for overlapping hulls that hull_depth cannot handle. */
Status query_arrays_answer(const QueryList* list, const QueryArrays* arrays, const QueryPlan* plan, double* out,
                           int64_t stride, int threads, Diagnostics* diagnostics);

/* Appends the answer for two point sets, which may intersect, as JSON (ask/pair.c). Never fails; an unknown value is
 * null. Frees its allocations before it returns. The caller owns line. */
void query_answer_pair(Text* line, const QueryPair* pair);
/* Appends `[x, y, z]`, with null for a component that is not finite. The caller owns line. */
void query_add_vector(Text* line, Vec3 v);

/* Returns the line and column, from 1, of a value in a valid JSON text (ask/json_place.c). path (depth) leads to the
 * value: child path[0] of the document, child path[1] of that child, and so on, counted from 0. If `key` is true,
 * returns the position of the value's key instead. The path must exist in the text; this is not checked. file is
 * borrowed. Allocates nothing. */
SourcePlace json_place(const char* file, const char* text, const int* path, int depth, bool key);

#endif
