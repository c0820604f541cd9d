/* Values of a JSON query with a place for every message; of a task with a path, too (app/plan.c). */
#ifndef SDRS_ASK_READER_H
#define SDRS_ASK_READER_H

#include <cjson/cJSON.h>
#include "ask/ask.h"

/* Number of reported problems; further ones are only counted. */
#define READER_PROBLEM_MAX 200
/* Largest coordinate [m]: beyond it squares lose the digits that a contact needs. */
#define READER_COORDINATE_MAX 1e9

/* Lists and objects within one another: a question, a body, and shapes of shapes. */
#define READER_DEPTH_MAX 24
/* Shapes within shapes. */
#define READER_SHAPES_DEEP 5

/* Where the reading is: the path of child numbers leads to the place, the trail names it. */
typedef struct {
  const char *file, *whole, *text; /* text: where the document begins in the whole */
  Diagnostics* diagnostics;
  int path[READER_DEPTH_MAX], depth;
  Text trail; /* `pair 3: a[2]` */
  int problems;
  int shapes_deep; /* how many shapes the reader is within */
  bool rows;       /* of a file whose first line it is: rows of numbers follow */
} QueryReader;

/* Into the child of this number, and back to where the trail was. The mark [bytes of the trail] is for
 * query_reader_leave; not beyond READER_DEPTH_MAX. */
size_t query_reader_enter(QueryReader* reader, int child);
/* Back to where the trail was when enter returned this mark. */
void query_reader_leave(QueryReader* reader, size_t mark);
/* Adds an error at the reader's position; key: at the value's key. All errors are counted, only the first
 * READER_PROBLEM_MAX are reported. */
void query_reader_problem(QueryReader* reader, bool key, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* For messages: "an object", "a list", ...; constant. */
const char* query_reader_kind_name(const cJSON* item);
/* A number in low .. high; a problem and any value otherwise. Lengths; of another unit: " rad", or "" for none. */
double query_reader_number_of(QueryReader* reader, const cJSON* item, double low, double high, const char* unit);
/* query_reader_number_of in metres. */
double query_reader_number(QueryReader* reader, const cJSON* item, double low, double high);
/* A list [x, y, z] [m]; zeros and a problem otherwise. */
Vec3 query_reader_point(QueryReader* reader, const cJSON* item);
/* A list of one or more [m]; *points (*count) is freed by the caller with memory_free. Both stay as they are, with a
 * problem, when it is no such list. */
void query_reader_points(QueryReader* reader, const cJSON* item, Vec3** points, int* count);

/* Returns the index of the name in keys[count]; -1: none. */
int query_reader_find_key(const char* name, const char* const* keys, int count);
/* A problem at the value's key: the nearest known key, else all of them (count). */
void query_reader_refuse_key(QueryReader* reader, const char* name, const char* const* keys, int count);
/* Each member of an object whose key is one of these; unknown keys and those that stand twice are problems. seen[key]
 * becomes true. */
typedef void (*ReaderMember)(QueryReader* reader, const cJSON* item, int key, void* context);
/* keys[count] and seen[count]; item must be an object. member's context is handed on. */
void query_reader_object(QueryReader* reader, const cJSON* item, const char* const* keys, int count,
                         ReaderMember member, void* context, bool* seen);

/* Shape as read from a question (ask/shapes.c); owns its arrays and parts. type: a SmoothKind, or one of these.
 */
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
  bool in_pieces;           /* every group of the mesh is a convex piece */
  double radius, smoothing; /* m; 0: not said */
  Field* parts;
  int part_count;
  Pose* pose;
} ShapeText;
/* Made of what was read (ask/body.c); the text is left for its owner to free, without what went over. false, and
 * problems: it cannot be. *body owns what it is made of; it is zeroed after false. */
bool query_body_make(QueryReader* reader, ShapeText* text, QueryBody* body);
/* Frees all that the body owns and zeroes it; accepts a zeroed one. */
void query_body_free(QueryBody* body);
/* Points and edges for `manifold`, where the body does not have them yet, which owns them. false, with a problem that
 * names its key: it has no smooth field, or no surface. */
bool query_body_make_manifold(QueryReader* reader, const char* key, QueryBody* body);
/* How these points move with the body's own parameters, once, where it is no hull. The body owns them. Never
 * fails. */
void query_body_make_slopes(QueryBody* body);

/* As query_parse, which tells what fails; rows: the text (length bytes) is the first line of a file of rows. */
Status query_parse_line(QueryList* list, const char* path, const char* text, size_t length, bool rows,
                        Diagnostics* diagnostics);
/* Returns true if the length of a quaternion [w, x, y, z] is 1 within 1e-6; false for NaN. */
bool query_is_unit(const double q[4]);
/* The rotation of a quaternion [w, x, y, z], made exact; false where its length is not 1 within 1e-6, also for NaN. */
bool query_rotation(const double q[4], Mat3* rotation);

/* Can the method take this body, which messages call `name`? Makes what it needs of it; pieces: the distance to a mesh
 * in pieces is asked for. Problems are counted in the reader. */
void query_body_check(QueryReader* reader, const QueryItem* item, bool pieces, const char* name, QueryBody* body);
/* A question that nobody has said anything of. By value. */
QueryItem query_first_question(void);
/* The method of this name, QUERY_POTENTIAL: none. name may be NULL. */
QueryMethod query_method_find(const char* name);
/* Number of the new body, or `before` when only a pose is given; -1 with problems. The pose is changed
 * (ask/shapes.c). The new body is the list's, whose bodies may move. */
int query_reader_body(QueryReader* reader, const cJSON* item, QueryList* list, int before, Pose* pose);
/* One question of the form with shapes (ask/question.c): item is an object; what it leaves out is as in `last`,
 * NULL for none. Nothing is returned: problems are counted in the reader. *out's points are its own, freed with the
 * list. */
void read_question(QueryReader* reader, const cJSON* item, QueryList* list, const QueryItem* last, QueryItem* out);

#endif
