/* schema: one table of rows defines the content of scenes and tasks. It drives reading into structs, defaults, ranges,
 * unknown keys, the JSON Schema and the pages docs/scene-format.md and docs/task-format.md. */
#ifndef SDRS_SCENE_SCHEMA_H
#define SDRS_SCENE_SCHEMA_H

#include "scene/document.h"
#include "scene/scene.h"

/* Kind of a value, with the type it is read into (see KIND in schema_kind.c). */
typedef enum {
  VALUE_NUMBER,     /* double */
  VALUE_INTEGER,    /* int */
  VALUE_BOOL,       /* bool */
  VALUE_CHOICE,     /* int: position in the row's words */
  VALUE_VECTOR,     /* Vec3 */
  VALUE_QUATERNION, /* Quat, normalised */
  VALUE_NUMBERS,    /* NumberList: a list */
  VALUE_PER_DOF,    /* NumberList: a number for all degrees of freedom, or a list */
  VALUE_BOUND,      /* NumberList: a number for all three axes, or three */
  VALUE_WORDS,      /* unsigned: a list of the row's words, one bit each */
  /* Kinds from here on are stored as nodes (const Node*, NULL when absent) for the code that interprets them. */
  VALUE_TEXT,
  VALUE_OBJECT,     /* a map read as the object `of` */
  VALUE_LIST,       /* a list of such maps */
  VALUE_MAP,        /* names -> such maps */
  VALUE_SHAPE,      /* a shape's name, or an object shape_use */
  VALUE_SHAPES,     /* list of VALUE_SHAPE */
  VALUE_POINTS,     /* a list of points */
  VALUE_NAMES,      /* a list of texts */
  VALUE_AXES,       /* a list of x, y, z, rx, ry, rz */
  VALUE_NAME_PAIRS, /* a list of pairs of texts */
  VALUE_LIMITS,     /* [low, high], or one such pair or null per degree of freedom */
  VALUE_COLOR,      /* "#rrggbb" or [r, g, b] */
  VALUE_COUNT,      /* an integer, or a list of up to three */
  VALUE_STEPS,      /* a vector, or a list of vectors */
  VALUE_INCREMENTS, /* a list of numbers, or a list of such lists */
  VALUE_SIGNAL,     /* a number, a list of numbers, or an object signal */
  VALUE_SERIES,     /* a list of numbers */
  VALUE_TABLE,      /* a list of numbers or of lists of numbers */
  VALUE_TERMS,      /* a list of objects sine, or a list of such lists */
  VALUE_INTEGERS,   /* a list of whole numbers */
  VALUE_CONNECT,    /* true, false or keep */
  VALUE_ANYTHING,   /* a list of values of any kind */
  VALUE_VARIABLES,  /* names -> numbers */
  VALUE_SCENE,      /* the path of a scene, or a scene */
  VALUE_KIND_COUNT
} ValueKind;

/* Up to as many numbers as a joint has coordinates. */
typedef struct {
  const Node* node; /* NULL when absent */
  bool is_list;
  int count;
  double values[JOINT_MAX_COORDINATE];
} NumberList;

/* Allowed numbers; a zeroed range allows every finite number. Written so that NaN fails. */
typedef struct {
  bool given;
  double low, high;
  bool low_open, high_open;
} ValueRange;

#define RANGE_ABOVE(x) \
  { true, x, HUGE_VAL, true, true }
#define RANGE_AT_LEAST(x) \
  { true, x, HUGE_VAL, false, true }
#define RANGE_BETWEEN(x, y) \
  { true, x, y, false, false }
#define RANGE_UP_TO(x, y) \
  { true, x, y, true, false } /* x < value <= y */

/* Returns true if the value is finite and within the range; false for NaN. */
bool range_holds(const ValueRange* range, double value);
/* "> 0", ">= 0", "between 0 and 4". "" for a range that is not given. */
Excerpt range_text(const ValueRange* range);

typedef struct {
  const char* object; /* name of the object with this key */
  const char* key;
  ValueKind kind;
  size_t offset;    /* in the struct the object is read into */
  const char* of;   /* OBJECT, LIST, MAP: the object's name. CHOICE, WORDS: "one|another", in the enum's order */
  const char* only; /* types of the object that have this key, "box|sphere"; NULL = all */
  const char* unit; /* NULL = none */
  const char*
      fallback;     /* default as YAML; "(in brackets)" is documentation only, the code sets the default; NULL: none */
  ValueRange range; /* of each number */
  bool required;
  const char* unless; /* "one|another": keys of the object with which this one is not required; NULL = none */
  bool nullable;      /* null (or nothing after the colon) counts as absent */
  const char* group;  /* group of keys of which at most one may be given */
  const char* meaning;
} SchemaRow;

typedef struct {
  const char* name;
  const char* title;
  size_t size;          /* size of the struct that the object is read into */
  const char* type_key; /* the VALUE_CHOICE whose word selects the admissible keys (SchemaRow.only); NULL = none */
  const char* instead_of_type; /* a key that replaces the type and its keys; NULL = none */
  struct {
    const char* name; /* rows of another object that this one has too */
    size_t offset;    /* offset of its struct in this one's */
  } includes[2];
  bool partial;        /* required keys may be missing */
  bool part;           /* used in other objects only: no section of its own in the docs */
  const char* meaning; /* for docs */
  const char* example; /* a whole small scene, for docs; NULL = none */
} SchemaObject;

typedef struct SchemaTable SchemaTable;
struct SchemaTable {
  const SchemaObject* objects;
  int object_count;
  const SchemaRow* rows;
  int row_count;
  const SchemaRow* (*foreign)(
      int index); /* rows defined elsewhere, before these; returns NULL past the last. NULL: none */
  const char *root, *title, *id;
  const char* command;       /* command that prints the reference page */
  const char* overrides;     /* for the docs: possible overrides by --set */
  const SchemaTable* embeds; /* table of the objects that may be inside (VALUE_SCENE); NULL = none */
};

/* Target of the rows of `contact`. */
typedef struct {
  SceneContact contact;
  int model;
  const Node *exclude, *pairs;
} ContactForm;

/* Returns a row of `contact` that belongs to the laws: first the choice of the law, in the order of ContactModel, then
 * their parameters. Those of the object `contact_law` are allowed in items of contact.pairs, too. Defined in
 * contact/laws.c. NULL past the last; static. */
const SchemaRow* contact_schema_row(int index);
/* Returns the index in SceneContact.own of a row of the laws; -1: another number, or none. row must not be NULL. */
int contact_row_own(const SchemaRow* row);
/* The words of `contact.model`, as a CHOICE has them. */
extern const char contact_model_words[];

/* Everything a scene may hold, and a task. */
extern const SchemaTable SCENE_SCHEMA, TASK_SCHEMA;

/* Returns the object of this name, owned by the table; NULL if there is none. */
const SchemaObject* schema_object(const SchemaTable* table, const char* name);

#define SCHEMA_ROWS_MAX 80
/* Sets rows to the object's own rows, in the order of the documentation and of the table. Returns their number, at most
 * SCHEMA_ROWS_MAX. */
int schema_own_rows(const SchemaTable* table, const SchemaObject* object, const SchemaRow* rows[SCHEMA_ROWS_MAX]);
/* The rows of an object with those it includes. */
typedef struct {
  const SchemaRow* row;
  size_t offset; /* in the object's struct */
} SchemaPlace;
/* Sets places to the rows of an object and those it includes, in the order of the docs, with offsets [bytes] in its own
 * struct. Returns their number, at most SCHEMA_ROWS_MAX. */
int schema_rows(const SchemaTable* table, const SchemaObject* object, SchemaPlace places[SCHEMA_ROWS_MAX]);
/* Returns the row of a key for a type of the object (type NULL: the first row with the key). Owned by the table; NULL
 * if there is none. */
const SchemaRow* schema_row(const SchemaTable* table, const SchemaObject* object, const char* key, const char* type);
/* Returns true if an object of this type has the row's key; always true for type NULL. */
bool schema_row_belongs(const SchemaRow* row, const char* type);
/* Stores the default of a row, which must have one that is no text in brackets; *out has the type of the row's kind.
 * Nothing for kinds that are stored as nodes. */
void schema_default(const SchemaRow* row, void* out);
/* Puts a child into a map and removes the same key and the keys that exclude it. The document owns both; removed nodes
 * stay in its arena. */
void schema_replace(const SchemaTable* table, const SchemaObject* object, Node* map, Node* child);

/* ---- advice about unknown words (schema_advice.c), appended to the caller's text; nothing if there is none */
/* Appends advice about a key that the object (of this type; NULL: any) does not have: ` (did you mean 'dt'?)`, the
 * section that has it, or all keys if they are few. */
void schema_add_key_advice(const SchemaTable* table, const SchemaObject* object, const char* type, const char* key,
                           Text* out);
/* Appends advice about a word that is not among "one|another". */
void schema_add_choice_advice(const char* words, const char* word, Text* out);

/* ---- kinds of values (schema_kind.c) */
/* Returns the name of a kind in documents, such as "list of 3 numbers". Static. */
const char* kind_title(ValueKind kind);
/* Returns the name of a kind in messages, such as "a list of 3 numbers". Static. */
const char* kind_expected(ValueKind kind);
/* Returns true if the node is a scalar, list or map as the kind requires. Does not check its content. */
bool kind_accepts(ValueKind kind, const Node* node);
/* JSON Schema of a value of the row, as the members of an object, without braces. Appended to the caller's text. */
void kind_add_json(const SchemaRow* row, Text* out);

/* Draft-07 JSON Schema of all objects of the table, with those it embeds, appended to the caller's text. */
void schema_write_json(const SchemaTable* table, Text* out);
/* The page of docs, with every object's keys, units, ranges and defaults, appended. */
void schema_write_markdown(const SchemaTable* table, Text* out);
/* sdrs-<name>(5) Appended; `name` is the page's name without sdrs-. */
void schema_write_man(const SchemaTable* table, const char* name, Text* out);

#endif
