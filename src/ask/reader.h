/* Reads the values of a JSON query or of a planning task (app/plan.c). Every message gives line and column. */
#ifndef SDRS_ASK_READER_H
#define SDRS_ASK_READER_H

#include <cjson/cJSON.h>
#include "ask/ask.h"

/* Largest number of errors that are reported. Further errors are only counted. */
#define READER_ERRORS_MAX 200
/* Largest coordinate [m]. Squares of larger coordinates would cost contact computations too many digits. */
#define READER_COORDINATE_MAX 1e9

/* Largest nesting depth of lists and objects. 24 levels suffice for a question, a body and nested shapes. */
#define READER_DEPTH_MAX 24
/* Largest nesting depth of shapes. */
#define READER_SHAPE_DEPTH_MAX 5

/* State of the reader of a JSON document. */
typedef struct {
  const char *file, *whole, *text; /* name of the file, text of the file, and start of the document in that text */
  Diagnostics* diagnostics;
  /* path[i]: index of the child that leads one level down, from the document to the current value (size: depth) */
  int path[READER_DEPTH_MAX], depth;
  Text trail;      /* name of the current value in messages, for example `pair 3: a[2]` */
  int problems;    /* number of errors so far */
  int shape_depth; /* current nesting of shapes */
  bool rows;       /* true if the document is the first line of a file in which rows of numbers follow */
} QueryReader;

/* Moves the reader from the current value to one of its children. child: index from 0. Returns the length of the text
 * `trail` before the move, for query_reader_leave. The depth must be below READER_DEPTH_MAX (asserted). */
size_t query_reader_enter(QueryReader* reader, int child);
/* Moves the reader back to the parent of the current value. mark: result of the query_reader_enter that moved to the
 * child. */
void query_reader_leave(QueryReader* reader, size_t mark);
/* Adds an error at the position of the current value, or at its key if `key` is true. All errors are counted; the first
 * READER_ERRORS_MAX are reported. */
void query_reader_error(QueryReader* reader, bool key, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Returns the kind of a JSON value for messages: "an object", "a list", ... The text is static. */
const char* query_reader_kind_name(const cJSON* item);
/* Returns the value of a JSON number. If `item` is no number in low .. high, reports an error and returns an arbitrary
 * value. unit: unit for messages, such as " rad", or "". */
double query_reader_number_in_unit(QueryReader* reader, const cJSON* item, double low, double high, const char* unit);
/* Returns the value of a JSON number that is a length [m]. If `item` is no number in low .. high, reports an error and
 * returns an arbitrary value. */
double query_reader_length(QueryReader* reader, const cJSON* item, double low, double high);
/* Returns the vector of a list [x, y, z] [m]. If `item` is not such a list, reports an error and returns zeros. */
Vec3 query_reader_point(QueryReader* reader, const cJSON* item);
/* Reads a list of one or more points [m] into *points (*count). The caller frees *points with memory_free. If `item` is
 * not such a list, reports an error and leaves *points and *count unchanged. */
void query_reader_points(QueryReader* reader, const cJSON* item, Vec3** points, int* count);

/* Returns the index of a name in keys (count), or -1 if keys does not contain the name. */
int query_reader_find_key(const char* name, const char* const* keys, int count);
/* Reports the unknown key `name`. The message suggests the most similar key of keys (count). It lists all keys if none
 * is similar. */
void query_reader_report_unknown_key(QueryReader* reader, const char* name, const char* const* keys, int count);
/* Callback for a member of an object. key: index of the member's key in the list of keys. */
typedef void (*ReaderMember)(QueryReader* reader, const cJSON* item, int key, void* context);
/* Calls `member` for each member of an object whose key is in keys (count), and sets seen[key] to true. `item` must be
 * an object. `context` is passed to `member`. Unknown and duplicate keys are reported. */
void query_reader_object(QueryReader* reader, const cJSON* item, const char* const* keys, int count,
                         ReaderMember member, void* context, bool* seen);

/* A shape as written in a question (ask/shapes.c). Owns its arrays and the shapes of a union or subtraction. type: a
 * SmoothKind, or a value of the enum below. */
enum { TEXT_HULL = SMOOTH_KINDS, TEXT_MESH, TEXT_POINTS, TEXT_UNION, TEXT_SUBTRACTION, TEXT_TYPES };
typedef struct {
  int type;
  ShapeDefinition form;
  Vec3* normals;
  double* offsets;
  double (*faces)[4];
  int normal_count, offset_count;
  Vec3* points;
  int point_count;
  const char* file;
  double scale;
  bool in_pieces;           /* true if each group of the mesh is a convex piece */
  double radius, smoothing; /* [m]; 0 if not given */
  Field* parts;
  int part_count;
  Pose* pose;
} ParsedShape;
/* Creates a body from its parsed shape (ask/body.c). Moves arrays from `text` to the body, but the caller still frees
 * `text`. *body owns its data. If the shape is invalid, reports errors, zeroes *body and returns false. */
bool query_body_create(QueryReader* reader, ParsedShape* text, QueryBody* body);
/* Frees all data of the body and zeroes the body. Accepts a zeroed body. */
void query_body_free(QueryBody* body);
/* Creates body->manifold, the surface points and edges of the body, unless it exists. The body owns them. Returns false
 * with an error at `key` if the body has no smooth field or no surface. */
bool query_body_create_manifold(QueryReader* reader, const char* key, QueryBody* body);
/* Creates body->point_slopes, the derivatives of the surface points body->manifold.points with respect to the shape
 * parameters. Does nothing if they exist or the body is a hull. The body owns them. Never fails. */
void query_body_create_slopes(QueryBody* body);

/* Reads one question, or several in JSON lines. text (length bytes, NUL-terminated) is not kept. path: name in
 * messages; meshes are searched relative to it. rows: true if the text is the first line of a file of rows. Returns
 * STATUS_BAD_INPUT with all errors in diagnostics. The caller frees the list with query_free in any case. */
Status query_parse_line(QueryList* list, const char* path, const char* text, size_t length, bool rows,
                        Diagnostics* diagnostics);
/* Returns true if a quaternion [w, x, y, z] has length 1 within 1e-6. Returns false for NaN. */
bool query_is_unit_quaternion(const double q[4]);
/* Sets *rotation to the rotation matrix of a quaternion [w, x, y, z], which is normalized first. Returns false if the
 * quaternion's length is not 1 within 1e-6. */
bool query_rotation(const double q[4], Mat3* rotation);

/* Checks that the method of the question can be used with a body, and creates the data of the body that the method
 * needs. name: name of the body in messages. pieces: true if the distance to a mesh in convex pieces is requested.
 * Reports and counts errors in the reader. */
void query_body_check(QueryReader* reader, const QueryItem* item, bool pieces, const char* name, QueryBody* body);
/* Returns a question with default values, before its keys are read. */
QueryItem query_default_question(void);
/* Returns the method with this name, or QUERY_POTENTIAL if there is none. name may be NULL. */
QueryMethod query_method_find(const char* name);
/* Reads a body and its pose. Returns the index of the new body in the list, which owns it. Returns `before`, the body
 * of the previous question, if the item contains only a pose. Returns -1 after a reported error. list->bodies may be
 * reallocated. */
int query_reader_body(QueryReader* reader, const cJSON* item, QueryList* list, int before, Pose* pose);
/* Reads a question about shapes from a JSON object. Keys that the object lacks are taken from the previous question
 * *last, unless it is NULL. Reports and counts errors in the reader. query_free frees the points of *out with the list.
 */
void read_question(QueryReader* reader, const cJSON* item, QueryList* list, const QueryItem* last, QueryItem* out);

#endif
