/* Reads the values of a JSON query or of a planning task (app/plan.c). Every message has line and column. */
#ifndef SDRS_ASK_READER_H
#define SDRS_ASK_READER_H

#include <cjson/cJSON.h>
#include "ask/ask.h"

/* Number of reported problems; further ones are only counted. */
#define READER_PROBLEM_MAX 200
/* Largest coordinate [m]. Squares of larger ones lose digits that contact needs. */
#define READER_COORDINATE_MAX 1e9

/* Largest nesting depth of lists and objects, sufficient for a question, a body and nested shapes. */
#define READER_DEPTH_MAX 24
/* Largest nesting of shapes. */
#define READER_SHAPES_DEEP 5

/* State of the reader. `path` is the child number on every level of the current position, `trail` the same position as
 * text for messages. */
typedef struct {
  const char *file, *whole, *text; /* start of the document in the file's text */
  Diagnostics* diagnostics;
  int path[READER_DEPTH_MAX], depth;
  Text trail; /* `pair 3: a[2]` */
  int problems;
  int shapes_deep; /* current nesting of shapes */
  bool rows;       /* the document is the first line of a file; rows of numbers follow */
} QueryReader;

/* Moves the position to child number `child`. Returns the previous length of the trail, for query_reader_leave. The
 * depth must be below READER_DEPTH_MAX. */
size_t query_reader_enter(QueryReader* reader, int child);
/* Moves the position back to the parent. mark: result of the query_reader_enter that moved to this child. */
void query_reader_leave(QueryReader* reader, size_t mark);
/* Adds an error at the reader's position, or at the value's key if `key`. All errors are counted, only the first
 * READER_PROBLEM_MAX are reported. */
void query_reader_problem(QueryReader* reader, bool key, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Returns the kind of the value for messages: "an object", "a list", ... Static text. */
const char* query_reader_kind_name(const cJSON* item);
/* Returns the number `item`. Reports an error and returns an arbitrary value if it is not a number in low .. high.
 * unit: unit for messages, such as " rad", or "". */
double query_reader_number_of(QueryReader* reader, const cJSON* item, double low, double high, const char* unit);
/* As query_reader_number_of, for a length in metres. */
double query_reader_number(QueryReader* reader, const cJSON* item, double low, double high);
/* Returns the vector of a list [x, y, z] [m]. Reports an error and returns zeros if item is not such a list. */
Vec3 query_reader_point(QueryReader* reader, const cJSON* item);
/* Sets *points (*count) to the points [m] of a list of one or more points. The caller frees *points with memory_free.
 * Reports an error and leaves both unchanged if item is not such a list. */
void query_reader_points(QueryReader* reader, const cJSON* item, Vec3** points, int* count);

/* Returns the index of the name in keys (count), or -1 if it is not among them. */
int query_reader_find_key(const char* name, const char* const* keys, int count);
/* Reports the unknown key `name`. The message suggests the most similar key of keys (count), or lists all of them if
 * none is similar. */
void query_reader_refuse_key(QueryReader* reader, const char* name, const char* const* keys, int count);
/* Calls `member` for each member of an object whose key is in keys, and sets seen[key]. Unknown and duplicate keys are
 * reported. */
typedef void (*ReaderMember)(QueryReader* reader, const cJSON* item, int key, void* context);
/* keys[count], seen[count]; item must be an object; context is passed to `member`. */
void query_reader_object(QueryReader* reader, const cJSON* item, const char* const* keys, int count,
                         ReaderMember member, void* context, bool* seen);

/* A shape as parsed from a question (ask/shapes.c). Owns its arrays and parts. type: a SmoothKind, or one of these. */
enum { TEXT_HULL = SMOOTH_KINDS, TEXT_MESH, TEXT_POINTS, TEXT_UNION, TEXT_SUBTRACTION, TEXT_TYPES };
typedef struct {
  int type;
  SmoothForm form;
  Vec3* normals;
  double* offsets;
  double (*faces)[4];
  int normal_count, offset_count;
  Vec3* points;
  int point_count;
  const char* file;
  double scale;
  bool in_pieces;           /* each group of the mesh is a convex piece */
  double radius, smoothing; /* [m]; 0: not given */
  Field* parts;
  int part_count;
  Pose* pose;
} ShapeText;
/* Creates a body from its parsed form (ask/body.c), and moves arrays from the form to the body. The caller still frees
 * the form. Returns false, with reported errors and *body zeroed, if it is invalid. *body owns its data. */
bool query_body_make(QueryReader* reader, ShapeText* text, QueryBody* body);
/* Frees all that the body owns and zeroes it; accepts a zeroed one. */
void query_body_free(QueryBody* body);
/* Creates body->manifold, the points and edges of the body, unless it exists. The body owns it. Returns false, with an
 * error at `key`, if the body has no smooth field or no surface. */
bool query_body_make_manifold(QueryReader* reader, const char* key, QueryBody* body);
/* Creates body->point_slopes, the derivatives of the points of body->manifold by the body's parameters, unless they
 * exist or the body is a hull. The body owns them. Never fails. */
void query_body_make_slopes(QueryBody* body);

/* Reads questions as query_parse does, with its statuses: STATUS_BAD_INPUT with all errors in diagnostics. rows: the
 * text (length bytes) is the first line of a file of rows. */
Status query_parse_line(QueryList* list, const char* path, const char* text, size_t length, bool rows,
                        Diagnostics* diagnostics);
/* Returns true if the length of a quaternion [w, x, y, z] is 1 within 1e-6; false for NaN. */
bool query_is_unit(const double q[4]);
/* Sets *rotation to the rotation matrix of the normalized quaternion q [w, x, y, z]. Returns false if query_is_unit(q)
 * is false. */
bool query_rotation(const double q[4], Mat3* rotation);

/* Checks that the method of the question supports this body, and creates the data that the method needs. name: name of
 * the body in messages. pieces: the distance to a mesh in pieces is requested. Errors are reported and counted in the
 * reader. */
void query_body_check(QueryReader* reader, const QueryItem* item, bool pieces, const char* name, QueryBody* body);
/* Returns the default question, by value. */
QueryItem query_first_question(void);
/* Returns the method of this name, or QUERY_POTENTIAL if no method has this name. name may be NULL. */
QueryMethod query_method_find(const char* name);
/* Reads a body and its pose. Returns the index of the new body, `before` if only a pose is given, or -1 after a
 * reported error. The list owns the new body; list->bodies may be reallocated (ask/shapes.c). */
int query_reader_body(QueryReader* reader, const cJSON* item, QueryList* list, int before, Pose* pose);
/* Reads a question about shapes (ask/question.c) from the object `item`. If last is not NULL, keys that the object
 * lacks are taken from *last. Errors are reported and counted in the reader. *out owns its points, which query_free
 * frees with the list. */
void read_question(QueryReader* reader, const cJSON* item, QueryList* list, const QueryItem* last, QueryItem* out);

#endif
