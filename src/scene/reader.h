/* reader: state of the functions that read a scene or task: the position in the file, the names read so far, and the
 * reported errors. */
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
#define READER_ERRORS_MAX 200
/* Largest number of values that are read from a file. A value in a `repeat` counts once for each item. The limit bounds
 * the reading time. */
#define READER_VALUES_MAX 20000000

/* Largest length or coordinate [m]. Neighbouring doubles of this size are 0.1 micrometres apart. */
#define READER_LENGTH_MAX 1e9

/* A link name that was used before its definition. It is resolved or reported when all links are read. */
typedef struct {
  const Node* node;
  char *name, *trail; /* name: the link name; trail: path of keys to the place of use, such as "links[2].parent", from
                         the scene's root. Both are owned */
  int item;           /* index of the item in its repeat; -1 outside a repeat */
} UnresolvedName;

/* An end of a rod that attach_rod_ends attaches when the initial poses of links are known. */
typedef struct {
  const Node* link; /* definition of the link to which the end is attached; NULL: the world */
  char* trail; /* path of keys to the definition of this end, such as "rods[0].from", from the scene's root; owned */
  SceneBushing bushing;
  Vec3 node;       /* position of the end, world [m] */
  Quat rotation;   /* world orientation of the rod's segment at this end */
  int count, step; /* count: segments of the rod; step: 1 if segments count from its first end, -1 from its last */
  double reach;    /* length along the rod, from the end, without contact with the link [m] */
} RodEnd;

typedef struct Reader {
  Scene* scene;
  const SchemaTable* table;
  Diagnostics* diagnostics;
  Document* document;
  const Node* root;         /* root node of the file; NULL: unknown */
  Text trail;               /* path of keys and indices to the value being read, such as "links[2].joint" */
  size_t root_trail_length; /* length of `trail` at the scene's root; > 0 if the scene is written inside another file
                               [bytes] */
  const RepeatIndices* indices; /* indices of the current item of a repeat, or NULL */
  bool muted;        /* true: errors are counted but not reported, because an earlier item of this repeat had errors */
  int problem_count; /* number of errors, reported or suppressed */
  int reported_count;
  Variables variables;        /* named numbers of the scene */
  int include_depth;          /* depth of includes: 0 for the user's file */
  const struct Reader* outer; /* reader of the file that includes this one; NULL = none */
  int64_t value_count;
  bool exhausted;
  bool rotations;        /* true: the last three channels of the signal being read are a rotation */
  bool names_incomplete; /* true: an error left some link names unknown, so links that are not found are not reported */
  bool* joint_broken;    /* for each link, true if its joint is invalid (size: link_capacity) */
  int shape_capacity, link_capacity, controller_capacity, load_capacity, tendon_capacity, tendon_point_capacity,
      bushing_capacity, closure_capacity, coupling_capacity, initial_capacity;
  int included_initials; /* number of items of `initial` from included files; they come first */
  int* initial_of;       /* for each link, the index of its item of `initial`, -1: none; set while `initial` is read */
  UnresolvedName* unresolved;
  int unresolved_count, unresolved_capacity;
  RodEnd* rod_ends;
  int rod_end_count, rod_end_capacity;
  Names shape_names, link_names, group_names;
} Reader;

/* Frees the names, the path of keys (trail) and the lists of the reader. Does not free scene, document and diagnostics.
 */
void reader_free(Reader* reader);

/* Reports an error as "trail: message" at `place`. The trail is the path of keys to the value, such as
 * "links[2].joint". If the reader is muted, the error is counted but not reported. */
void reader_error(Reader* reader, SourcePosition place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Reports a warning as "trail: message" at `place`. The trail is the path of keys to the value, such as
 * "links[2].joint". Does nothing if the reader is muted. Warnings are not counted in problem_count. */
void reader_warning(Reader* reader, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that a node has a wrong kind of value, such as "expected a number, got a list". what: the expected kind, such
 * as "a number". */
void reader_report_wrong_kind(Reader* reader, const Node* node, const char* what);
/* Adds `count` to the number of values read from the file. If the sum exceeds READER_VALUES_MAX, reports an error,
 * stops the reader and returns false. Must be called before memory for the values is allocated. */
bool reader_count_values(Reader* reader, SourcePosition place, int64_t count);
/* Stops reading the file after an error that would make later messages misleading. Later messages are not reported. */
void reader_stop(Reader* reader);

/* Appends a key to the trail, the path of the value that is being read. Returns the previous length of the trail
 * [bytes], for reader_leave. */
size_t reader_enter_key(Reader* reader, const char* key);
/* Appends the index of a list item, from 0, to the trail, the path of the value that is being read. Returns the
 * previous length of the trail [bytes], for reader_leave. */
size_t reader_enter_index(Reader* reader, int index);
/* Shortens the trail, the path of the value that is being read, to the length `mark` [bytes]. mark: return value of
 * reader_enter_key or reader_enter_index. */
void reader_leave(Reader* reader, size_t mark);

/* ---- scalars: functions of type bool return false after reporting an error */
/* Reads a number or an {expression} within `range` into *value. unit: unit in messages; NULL if there is no unit.
 * Returns false, with *value unchanged, after an error. */
bool reader_number(Reader* reader, const Node* node, const ValueRange* range, const char* unit, double* value);
/* Reads a 32-bit integer within `range` into *value. Returns false, with *value unchanged, after an error. */
bool reader_integer(Reader* reader, const Node* node, const ValueRange* range, int* value);
/* Reads true or false into *value. Returns false, with *value unchanged, after an error. */
bool reader_bool(Reader* reader, const Node* node, bool* value);
/* Returns true if the node is a text that is not empty. Otherwise reports an error and returns false. */
bool reader_is_text(Reader* reader, const Node* node);
/* Reads a list of exactly `count` numbers within `range` into values (count). unit: unit in messages; NULL if there is
 * no unit. Returns false after an error; only some of the values are then set. */
bool reader_numbers(Reader* reader, const Node* node, const ValueRange* range, const char* unit, int count,
                    double* values);
/* Returns the integers of a list as an array, and sets *count to the length of the array. Invalid items are reported
 * and become 0. key: key of the list, for messages. Returns NULL, with *count 0, if list is NULL or too long. The
 * caller frees the array with memory_free. */
int* reader_integers(Reader* reader, const Node* list, const char* key, const ValueRange* range, int* count);
/* Returns true if the text of the node contains no control character. Otherwise reports an error and returns false. */
bool reader_is_printable(Reader* reader, const Node* node);
/* Returns the text of a node with each {expression} replaced by its value. Reports an error and returns NULL if the
 * text is empty, longer than NAME_MAX_LENGTH bytes, or contains a control character or an invalid expression. The
 * caller frees the text with memory_free. */
char* reader_name(Reader* reader, const Node* node);

/* ---- objects (schema_read.c)
 * Reads a map into the struct of a schema object. out: struct of SchemaObject.size bytes; all its members are set, to
 * their defaults if the map lacks their keys. Lists in the struct borrow nodes of the document. Reports missing,
 * unknown and invalid keys. Returns false if the node is not a map, or if the type or a required key is missing or
 * invalid; *out must then not be used. After other errors the member has its default. */
bool schema_read(Reader* reader, const Node* node, const char* object, void* out);
/* Reads a map into the struct of a schema object, also if required keys are missing or invalid. Returns false only if
 * the node is not a map. The caller continues, to report all errors at once, and must check each node of *out for NULL.
 * If the file gives no valid type, the type may be the first one of the schema. */
bool schema_read_partial(Reader* reader, const Node* node, const char* object, void* out);
/* Reads the value of one key into `out`. row: schema row of the key. `out` points to a value of the type of the row's
 * kind. *out is unchanged after an error, and if the value is null where null is allowed. */
void schema_read_value(Reader* reader, const Node* node, const SchemaRow* row, void* out);
/* Returns true if a map has a key. */
bool node_has_key(const Node* map, const char* key);

#endif
