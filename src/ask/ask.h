/* ask: questions about pairs of bodies by themselves, and their answers, as text: pairs of convex point sets, or of
 * shapes with a method, read from JSON with a place for every message, answered as a line of JSON each. What `sdrs
 * query` and the library's sdrs_query_text have in common. */
#ifndef SDRS_ASK_ASK_H
#define SDRS_ASK_ASK_H

#include "query/query.h"
#include "scene/scene.h"

typedef struct {
  Vec3 *a, *b; /* world coordinates [m] */
  int a_count, b_count;
  double support; /* m, > 0; of a law that has one */
  ContactModel law;
} QueryPair;

/* A body of a question: a smooth shape, the corners of a hull, or neither: points with normals, a union, a
 * subtraction. */
typedef struct {
  bool smooth, hulled;
  Shape shape; /* smooth; with the same frame as field.shape, which owns its arrays */
  Vec3* given; /* hulled: the points or the mesh's corners as said (given_count), which are its parameters */
  int given_count;
  ConvexHull hull;    /* hulled: in the body's frame */
  PointView points;   /* its corners */
  ConvexHull* pieces; /* of a mesh with `pieces: hulls`; else NULL: the hull alone */
  int piece_count;
  WitnessBody witness;     /* made for the first question that needs it */
  Field* field;            /* one, owned: its address stays */
  const char* no_field;    /* why a hull has none (static); else NULL */
  TriangleSurface surface; /* of a mesh, until the first question that makes it edges and points of `manifold` */
  ManifoldBody manifold;   /* made for the first question that needs it */
  Vec3* point_slopes;      /* of its points, likewise; NULL: not made, or hulled, then: */
  int (*triangles)[3];     /* hulled, of manifold.points (triangle_count) */
  int triangle_count;
  int* point_corner;    /* which of `given` each of manifold.points is, -1: none; NULL: not made */
  FieldCorners corners; /* of `given` */
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
/* Constant: "distance", "growth", ... */
const char* query_method_name(QueryMethod method); /* NULL for QUERY_POTENTIAL, which has no word */

typedef struct {
  QueryMethod method;
  QueryPair pair; /* QUERY_POTENTIAL */
  int body[2];    /* numbers in QueryList.bodies; -1: could not be read */
  Pose pose[2];
  WitnessDescent touch; /* QUERY_TOUCH; its query: QUERY_WITNESS too */
  int targets, seed;    /* QUERY_TOUCH: so many random pairs; 0: the ones that are said */
  int starts;           /* QUERY_TOUCH: descents from so many starts at most, the least loss counts */
  bool meeting;         /* random pairs that can meet (witness_random_pair), else of any points */
  Vec3 target[2];       /* where the nearest points are wanted, in the bodies' frames */
  bool has_target;
  ManifoldOptions manifold;     /* QUERY_MANIFOLD; smoothing 0: not said */
  bool mean;                    /* QUERY_MANIFOLD: the mean distance instead of the contacts */
  double stiffness, exponent;   /* QUERY_GROWTH: of the wrench [N/m^exponent]; stiffness 0: not asked for */
  bool derivatives, parameters; /* answer those by the poses, by the shapes' own parameters too */
  int64_t poses;                /* so many rows of numbers follow the question (QueryRows); 0: none */
} QueryItem;

typedef struct {
  QueryItem* items;
  int count, capacity;
  QueryBody* bodies;
  int body_count, body_capacity;
} QueryList;

/* A list of questions, one, or one after the other (JSON lines), of a NUL-terminated text; `path` stands for it in
 * messages, and meshes are sought beside it. `length` bytes; the text is not kept. Every problem goes to diagnostics:
 * STATUS_BAD_INPUT, also for a NUL within it. query_free accepts a zeroed or half-read list. Every list is the
 * caller's to free by query_free, after an error too. */
Status query_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees items, points and bodies and zeroes the list. NULL is not accepted. */
void query_free(QueryList* list);

/* Warm start that an answer leaves for the next one; owns its arrays. Freed by query_memory_free. */
typedef struct {
  int body[2]; /* body that owns the memory; -1 = none */
  GrowthCache growth;
  GjkCache gjk;
  WitnessCache witness;
  void* room; /* of manifold (room_bytes) */
  size_t room_bytes;
} QueryMemory;
static inline QueryMemory query_memory(void) { return (QueryMemory){.body = {-1, -1}}; }
/* The next answer begins cold, with these bodies, and in the same room. Never fails. */
void query_memory_turn(QueryMemory* memory, const int body[2]);
/* Frees the room; what is left is query_memory(). */
void query_memory_free(QueryMemory* memory);
/* The answer to a question of the list, as one line of JSON, appended (ask/answer.c). item is one of the list's,
 * whose bodies keep what is made for it; memory: query_memory() for the first. Never fails. line is the caller's
 * own. */
void query_answer(Text* line, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* ---- poses as numbers (ask/rows.c). A file whose first line is a question with a method and with
 * `poses`: N; behind its newline N rows of QUERY_ROW_NUMBERS float64, little-endian: position [m] and unit quaternion
 * [w, x, y, z] of a, then of b. A row is answered as the JSON line of these poses would be, each from the one before.
 */
enum { QUERY_ROW_NUMBERS = 14 };
typedef struct {
  QueryList list;    /* the question of the first line */
  const char* bytes; /* the rows; borrowed */
  size_t first;      /* bytes before the rows */
  int64_t count;     /* of rows */
  int columns;       /* numbers of an answer */
} QueryRows;
/* Does it begin with a line that is a JSON object with `poses`? data (length bytes) is NUL-terminated. Returns false
 * without a message. Allocates for the time of the call. */
bool query_rows_begin(const char* data, size_t length);
/* Reads and checks all of it. data (length bytes, NUL-terminated) must outlive the rows; path as in query_parse. Each
 * problem of a row is reported with its byte offset in the file; STATUS_BAD_INPUT. query_rows_free in any case. The
 * rows own the question, which is copied. */
Status query_rows_read(QueryRows* rows, const char* path, const char* data, size_t length, Diagnostics* diagnostics);
/* Reads the first line alone (length bytes, with its newline): the rows come one by one, by query_rows_take. Errors and
 * ownership as of query_rows_read. */
Status query_rows_open(QueryRows* rows, const char* path, const char* line, size_t length, Diagnostics* diagnostics);
/* Makes `bytes` (QUERY_ROW_NUMBERS float64, borrowed) row 0, after it has checked them as row `number` of the stream:
 * STATUS_BAD_INPUT with the byte offset in the stream. */
Status query_rows_take(QueryRows* rows, const char* path, int64_t number, const char* bytes, Diagnostics* diagnostics);
/* Appends the line that precedes the answers: {"method": "growth", "rows": N, "columns": [["alpha", 1], ["bounds", 2],
 * ...]}. Never fails; line is the caller's own. Allocates for the time of the call. */
void query_rows_header(const QueryRows* rows, Text* line);
/* out (columns): the answer to row i, in the order of the header; NaN: not known, or there is none. truth is 1 or 0.
 * Rows from 0 in order, memory as in query_answer. Never fails. */
void query_rows_answer(const QueryRows* rows, int64_t i, QueryMemory* memory, double* out);
/* Frees the question; accepts a zeroed one. NULL is not accepted. */
void query_rows_free(QueryRows* rows);
/* ---- shapes and poses in memory (ask/arrays.c). One question about many pairs of a list's bodies: row i is about
 * bodies 2 i and 2 i + 1 of `bodies`, at poses a and b of that row: x, y, z [m], qw, qx, qy, qz. Rows of the same pair
 * follow one another: each begins with what the one before has found, the first of QUERY_ARRAYS_PART such rows begins
 * cold. So the numbers do not depend on the number of threads. All is borrowed. */
enum { QUERY_ARRAYS_PART = 64, QUERY_POSE_NUMBERS = 7, QUERY_PAIR_KINDS = 4 };
typedef struct {
  const char* method;       /* "growth", "distance", "manifold", "witness" or "touch" */
  const char* options;      /* further keys of the question, as a JSON object; NULL: none */
  const char* const* names; /* the answers that are wanted (name_count), in the order in which they are written */
  int name_count;
  int64_t count; /* rows */
  const int* bodies;
  const double* poses[2];
} QueryArrays;

/* Where answers go. */
typedef struct {
  QueryItem question;
  int slots;                     /* of contacts: as many as any of the pairs has; 0: no contacts */
  int columns;                   /* numbers of a row, */
  int* widths;                   /* of each name (name_count); owned */
  int* places[QUERY_PAIR_KINDS]; /* by answers; owned; NULL: no such pair. Kinds: is a smooth? 2: is b? */
  bool whole[QUERY_PAIR_KINDS];  /* such a pair answers all columns */
} QueryPlan;

/* Bodies from a JSON list of shapes, as those of a question, without position and quaternion. Messages, path and errors
 * as of query_parse; query_free in any case. */
Status query_shapes_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
/* Checks the question and its pairs, not the poses, and makes what bodies need for it. STATUS_BAD_INPUT: each
 * problem is in diagnostics. The plan is freed by query_plan_free in any case. */
Status query_plan_create(QueryPlan* plan, QueryList* list, const QueryArrays* arrays, Diagnostics* diagnostics);
/* Frees widths and places, and zeroes the plan; accepts a zeroed one. */
void query_plan_free(QueryPlan* plan);
/* out: row i at out + i * stride, plan->columns numbers; NaN where there is no answer. First checks all poses:
 * STATUS_BAD_INPUT, and out is untouched. Allocates once a call, and where hulls overlap in a way that hull_depth does
 * not know. list: the plan's. */
Status query_arrays_answer(const QueryList* list, const QueryArrays* arrays, const QueryPlan* plan, double* out,
                           int64_t stride, int threads, Diagnostics* diagnostics);

/* That of two sets of points, also of such that meet (ask/pair.c). Never fails: what cannot be found is null.
 * Allocates for the time of the call; line is the caller's own. */
void query_answer_pair(Text* line, const QueryPair* pair);
/* Appends `[x, y, z]`, null for what is not finite. line is the caller's own. */
void query_add_vector(Text* line, Vec3 v);

/* Place of the value that is reached through children path[0], path[1], ... of a valid JSON text; key: of its key
 * instead (ask/json_place.c). path (depth), children from 0; line and column from 1. file is borrowed. A path that
 * the text has not is undefined: not checked. Allocates nothing. */
SourcePlace json_place(const char* file, const char* text, const int* path, int depth, bool key);

#endif
