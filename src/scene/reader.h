/* reader: common state of the readers of scenes and tasks: position in the file, known names, and error reports. */
#ifndef SDRS_SCENE_READER_H
#define SDRS_SCENE_READER_H

#include "scene/expression.h"
#include "scene/schema.h"

#define CONTROLLER_MAX 100000
#define LOAD_MAX 100000
#define TENDON_MAX 100000
#define TENDON_POINT_MAX 10000
#define BUSHING_MAX 100000
#define CLOSURE_MAX 100000
/* Largest number of reported errors. */
#define READER_PROBLEM_MAX 200
/* Largest number of values read from a file; a value in a `repeat` counts once for each item. Bounds the reading time.
 */
#define READER_WORK_MAX 20000000

/* Largest length or coordinate [m]. Above it doubles do not resolve micrometres, and volumes may overflow. */
#define READER_LENGTH_MAX 1e9

/* A name of a link that was used before its definition. */
typedef struct {
  const Node* node;
  char *name, *trail; /* owned; the trail from the reader's base */
  int item;           /* n of the repeat, -1 outside */
} LateName;

/* An end of a rod, attached when the initial poses of links are known. */
typedef struct {
  const Node* link; /* NULL: the world */
  char* trail;      /* owned; from the reader's base */
  SceneBushing bushing;
  Vec3 node;       /* position of the end, world [m] */
  Quat turn;       /* rotation of the last segment */
  int count, step; /* segments of the rod; 1 from its first end, -1 from its last one */
  double reach;    /* length of the rod that may touch the link [m] */
} RodEnd;

typedef struct Reader {
  Scene* scene;
  const SchemaTable* table;
  Diagnostics* diagnostics;
  Document* document;
  const Node* root;       /* of the file; NULL: not known */
  Text trail;             /* "links[2].joint" */
  size_t base;            /* length of the trail where the scene begins inside another file */
  const Indices* indices; /* of the repeat being expanded, or NULL */
  bool muted;             /* an earlier item of this repeat had errors: do not repeat them */
  int problem_count;      /* number of errors, reported or suppressed */
  int reported_count;
  Variables variables;        /* of the scene */
  int include_depth;          /* number of files that include this one */
  const struct Reader* outer; /* reader of the file that includes this one; NULL = none */
  int64_t work;
  bool exhausted;
  bool rotations;        /* the last three channels of the signal that is read are rotations */
  bool names_incomplete; /* an invalid repeat: its unknown items are not reported */
  bool* joint_broken;    /* per link: its joint is invalid (room for link_capacity) */
  int shape_capacity, link_capacity, controller_capacity, load_capacity, tendon_capacity, tendon_point_capacity,
      bushing_capacity, closure_capacity, coupling_capacity, initial_capacity;
  int included_initials; /* items of `initial` of included files, the first ones */
  int* initial_of;       /* per link: its item of `initial`, -1 = none; only while these are read */
  LateName* late;
  int late_count, late_capacity;
  RodEnd* rod_ends;
  int rod_end_count, rod_end_capacity;
  Names shape_names, link_names, group_names;
} Reader;

/* Frees the reader's names, not the scene, document or diagnostics. */
void reader_free(Reader* reader);

/* Reports the error `trail: message` once; counts it also if it is suppressed. */
void reader_error(Reader* reader, SourcePlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Reports a warning; not counted. */
void reader_warning(Reader* reader, SourcePlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Reports the error `expected a number, got a list` at the node's position. */
void reader_expected(Reader* reader, const Node* node, const char* what);
/* Counts values as read. Returns false, after reporting it once, if there were too many. Call it before allocating
 * memory for them. */
bool reader_work(Reader* reader, SourcePlace place, int64_t count);
/* Stops reading and reporting, because later messages would be misleading. */
void reader_stop(Reader* reader);

/* Enters a key: appends it to the trail. Returns the mark for reader_leave. */
size_t reader_enter_key(Reader* reader, const char* key);
/* Enters item number `index`, from 0. Returns the mark for reader_leave. */
size_t reader_enter_index(Reader* reader, int index);
/* Restores the trail as it was when reader_enter returned this mark [bytes]. */
void reader_leave(Reader* reader, size_t mark);

/* ---- scalars; false after an error */
/* Reads a number or {expression} within the range; unit (NULL: none) is for messages. *value is unchanged after an
 * error. */
bool reader_number(Reader* reader, const Node* node, const ValueRange* range, const char* unit, double* value);
/* Reads a 32-bit integer within the range; *value is unchanged after an error. */
bool reader_integer(Reader* reader, const Node* node, const ValueRange* range, int* value);
/* Reads true or false; *value is unchanged after an error. */
bool reader_bool(Reader* reader, const Node* node, bool* value);
/* Returns true for a nonempty text; otherwise reports an error. */
bool reader_is_text(Reader* reader, const Node* node);
/* Reads a list of exactly `count` numbers into values[count], which is set in part after an error. */
bool reader_numbers(Reader* reader, const Node* node, const ValueRange* range, const char* unit, int count,
                    double* values);
/* Returns the numbers of the list at a key, to be freed with memory_free; invalid ones are 0. Returns NULL, with count
 * 0, for list NULL. */
int* reader_integers(Reader* reader, const Node* list, const char* key, const ValueRange* range, int* count);
/* Returns true if the text of the node has no control characters; otherwise reports an error. */
bool reader_is_printable(Reader* reader, const Node* node);
/* Returns a text of at most NAME_MAX_LENGTH bytes without control characters, with its {expressions} replaced, to be
 * freed with memory_free; NULL after an error. */
char* reader_name(Reader* reader, const Node* node);

/* ---- objects (schema_read.c) Reads a map into the struct of an object: defaults, type and values; reports missing and
 * unknown keys. Returns false if the node is not a map, or if the type or a required key is missing or wrong; *out must
 * not be used then. Other errors leave the default. out: struct of the object (SchemaObject.size bytes), set
 * completely; its lists borrow nodes of the document. */
bool schema_read(Reader* reader, const Node* node, const char* object, void* out);
/* As schema_read, but returns false only if the node is not a map, for readers that continue without a required key to
 * report all errors at once. They must check each node of *out for NULL; the type may be the first one. */
bool schema_read_in_part(Reader* reader, const Node* node, const char* object, void* out);
/* Reads one value of a row into `out`, which has the row's type. Leaves it unchanged after an error, and for an allowed
 * null. */
void schema_read_value(Reader* reader, const Node* node, const SchemaRow* row, void* out);
/* Returns true if the map has this key. */
bool is_given(const Node* map, const char* key);

#endif
