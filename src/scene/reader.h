/* reader: what all readers of scene parts share - where the reading is, what is known by name, how to complain. */
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
/* Problems reported before the rest is left unsaid. */
#define READER_PROBLEM_MAX 200
/* Values read in all, repeats counted: a guard against files that stand for hours of reading. */
#define READER_WORK_MAX 20000000

/* Largest length or coordinate [m]: beyond it a double does not resolve micrometres, and squares and volumes overflow
 * soon. */
#define READER_LENGTH_MAX 1e9

/* A link's name that was not known where it was used. */
typedef struct {
  const Node* node;
  char *name, *trail; /* owned; the trail from the reader's base */
  int item;           /* n of the repeat, -1 outside */
} LateName;

/* An end of a rod that is fastened once it is known where the links start. */
typedef struct {
  const Node* link; /* NULL: the world */
  char* trail;      /* owned; from the reader's base */
  SceneBushing bushing;
  Vec3 node;       /* the end, world [m] */
  Quat turn;       /* of the segment there */
  int count, step; /* segments of the rod; 1 from its first end, -1 from its last one */
  double reach;    /* length of the rod that may touch the link [m] */
} RodEnd;

typedef struct Reader {
  Scene* scene;
  const SchemaTable* table;
  Diagnostics* diagnostics;
  Document* document;
  Text trail;             /* "links[2].joint" */
  size_t base;            /* length of the trail where the scene begins inside another file */
  const Indices* indices; /* of the repeat being expanded, or NULL */
  bool muted;             /* an earlier item of this repeat had problems: do not tell them again */
  int problem_count;      /* number of errors, reported or suppressed */
  int told_count;
  Variables variables;        /* of the scene */
  int include_depth;          /* files that this one is a part of */
  const struct Reader* outer; /* reader of the file that includes this one; NULL = none */
  int64_t work;
  bool exhausted;
  bool rotations;        /* the last three channels of the signal that is read are rotations */
  bool names_incomplete; /* a broken repeat: do not complain that its items are not known */
  bool* joint_broken;    /* per link: its joint could not be understood (room for link_capacity) */
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

/* Frees what the reader knows by name, not the scene, document or diagnostics. */
void reader_free(Reader* reader);

/* `trail: message`, once; counted also when it is muted. The words are formatted and copied. */
void reader_error(Reader* reader, SourcePlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* The same as a warning; not counted. */
void reader_warning(Reader* reader, SourcePlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* `expected a number, got a list`. An error at the node's place. */
void reader_expected(Reader* reader, const Node* node, const char* what);
/* Counts values as read. Returns false, after reporting it once, if there were too many. Call it before allocating
 * memory for them. */
bool reader_work(Reader* reader, SourcePlace place, int64_t count);
/* Read and tell nothing more: what follows would be misunderstood. */
void reader_stop(Reader* reader);

/* Go one step down the trail; leave with the mark that enter returned. */
size_t reader_enter_key(Reader* reader, const char* key);
/* One step down into the index-th item, from 0; leave with the mark that it returns. */
size_t reader_enter_index(Reader* reader, int index);
/* Back to where the trail was when enter returned this mark [bytes]. */
void reader_leave(Reader* reader, size_t mark);

/* ---- scalars; false after an error */
/* A number or {expression} within the range, in `unit` (NULL: none) for the message; *value stays after an error. */
bool reader_number(Reader* reader, const Node* node, const ValueRange* range, const char* unit, double* value);
/* A whole number of 32 bits within the range; *value stays after an error. */
bool reader_integer(Reader* reader, const Node* node, const ValueRange* range, int* value);
/* true or false; *value stays after an error. */
bool reader_bool(Reader* reader, const Node* node, bool* value);
/* Is it a text, and not an empty one? An error otherwise. */
bool reader_is_text(Reader* reader, const Node* node);
/* A list of exactly `count` numbers, into values[count], set in part after an error. */
bool reader_numbers(Reader* reader, const Node* node, const ValueRange* range, const char* unit, int count,
                    double* values);
/* The numbers of a list at a key, freed by the caller with memory_free; what could not be read is 0. NULL and count
 * 0 for list NULL. */
int* reader_integers(Reader* reader, const Node* list, const char* key, const ValueRange* range, int* count);
/* Is the text of the node free of control characters, as a name must be? An error otherwise. */
bool reader_is_printable(Reader* reader, const Node* node);
/* A text of at most NAME_MAX_LENGTH bytes without control characters, with its {expressions} replaced, freed by the
 * caller with memory_free; NULL after an error. */
char* reader_name(Reader* reader, const Node* node);

/* ---- objects (schema_read.c)
 * Read a map into the struct of an object: defaults, type, values, missing and unknown keys. False when the node is no
 * map, or a required key or the type is missing or wrong: *out must not be used then. Other errors leave the default.
 * out: the object's struct (SchemaObject.size bytes), all of it set; lists in it borrow the document's nodes. */
bool schema_read(Reader* reader, const Node* node, const char* object, void* out);
/* The same, but false only when the node is no map: for readers that go on without a required key, to report all
 * problems at once. They must check each node of *out for NULL; the type may be the first one. */
bool schema_read_in_part(Reader* reader, const Node* node, const char* object, void* out);
/* Read one value of a row into `out` (the row's own type). Nothing is set after an error, or for a null that is
 * allowed. */
void schema_read_value(Reader* reader, const Node* node, const SchemaRow* row, void* out);
/* Does the map have this key? */
bool is_given(const Node* map, const char* key);

#endif
