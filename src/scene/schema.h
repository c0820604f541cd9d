/* schema: a table that defines the content of scenes and tasks, with one row for each key. The reader, the defaults,
 * the ranges, messages about unknown keys, the JSON Schema, and the pages docs/scene-format.md and docs/task-format.md
 * all use this table. */
#ifndef SDRS_SCENE_SCHEMA_H
#define SDRS_SCENE_SCHEMA_H

#include "scene/document.h"
#include "scene/scene.h"

/* Kinds of values. The comment of each kind names the type of the struct member that receives the value (KIND in
 * schema_kind.c). */
typedef enum {
  VALUE_NUMBER,     /* double */
  VALUE_INTEGER,    /* int */
  VALUE_BOOL,       /* bool */
  VALUE_CHOICE,     /* int: index of the word in the list of allowed words, SchemaRow.of */
  VALUE_VECTOR,     /* Vec3 */
  VALUE_QUATERNION, /* Quat, normalised */
  VALUE_NUMBERS,    /* NumberList: a list */
  VALUE_PER_DOF,    /* NumberList: a number for all degrees of freedom, or a list */
  VALUE_BOUND,      /* NumberList: a number for all three axes, or three */
  VALUE_WORDS,      /* unsigned: a list of allowed words; bit k is set if word k of SchemaRow.of is in the list */
  /* Values of the following kinds are stored as nodes (const Node*, NULL if the key is absent). The functions that read
   * a section convert these nodes. */
  VALUE_TEXT,
  VALUE_OBJECT,     /* a map with the keys of the schema object that SchemaRow.of names */
  VALUE_LIST,       /* a list of maps, each with the keys of the schema object that SchemaRow.of names */
  VALUE_MAP,        /* a map from names to maps with the keys of the schema object that SchemaRow.of names */
  VALUE_SHAPE,      /* a shape's name, or an object shape_use */
  VALUE_SHAPES,     /* list of VALUE_SHAPE */
  VALUE_POINTS,     /* a list of points */
  VALUE_NAMES,      /* a list of texts */
  VALUE_AXES,       /* a list of x, y, z, rx, ry, rz */
  VALUE_NAME_PAIRS, /* a list of pairs of texts */
  VALUE_LIMITS,     /* a pair [low, high], or a list with one pair or null per degree of freedom */
  VALUE_COLOR,      /* a colour: "#rrggbb" or [red, green, blue] */
  VALUE_COUNT,      /* an integer, or a list of up to three integers */
  VALUE_STEPS,      /* increments of a vector along the axes of a repeat: a vector, or a list of vectors */
  VALUE_INCREMENTS, /* increments of numbers along the axes of a repeat: a list of numbers, or a list of such lists */
  VALUE_SIGNAL,     /* a number, a list of numbers, or an object signal */
  VALUE_SERIES,     /* a list of numbers */
  VALUE_TABLE,      /* a list of numbers or of lists of numbers */
  VALUE_TERMS,      /* a list of objects `sine`, or a list of lists of these objects */
  VALUE_INTEGERS,   /* a list of whole numbers */
  VALUE_CONNECT,    /* one of the words true, false and keep */
  VALUE_ANYTHING,   /* a list of values of any kind */
  VALUE_VARIABLES,  /* a map from names to numbers */
  VALUE_SCENE,      /* the path of a scene file, or the map of a scene */
  VALUE_KIND_COUNT
} ValueKind;

/* A list of numbers, at most as many as a joint has coordinates. */
typedef struct {
  const Node* node; /* node of the list or number in the document; NULL: the key is absent */
  bool is_list;
  int count;
  double values[JOINT_MAX_COORDINATE];
} NumberList;

/* Range of allowed numbers. A zeroed range allows every finite number. NaN is never allowed. */
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
  { true, x, y, true, false } /* allows the numbers x < value <= y */

/* Returns true if the value is finite and within the range. Returns false for NaN. */
bool range_contains(const ValueRange* range, double value);
/* Returns the range as text, such as "> 0", ">= 0" or "between 0 and 4". Returns "" if the range is not given. */
Excerpt range_text(const ValueRange* range);

typedef struct {
  const char* object; /* name of the object with this key */
  const char* key;
  ValueKind kind;
  size_t offset;    /* offset of the member in the object's struct [bytes] */
  const char* of;   /* OBJECT, LIST, MAP: name of the object. CHOICE, WORDS: "one|another", in the order of the enum */
  const char* only; /* types of the object for which the key is allowed, such as "box|sphere"; NULL: all types */
  const char* unit; /* unit in messages and documentation; NULL: the value has no unit */
  const char* fallback; /* default value of the key as YAML text. A text "(in brackets)" only describes the default,
                           which the code sets. NULL: no default */
  ValueRange range;     /* allowed range of each number */
  bool required;
  const char* unless; /* other keys, "one|another": the key is not required if the map has one of them; NULL: none */
  bool nullable;      /* true: a key with the value null, or with no value, counts as absent */
  const char* group;  /* name of a group of keys, of which a map may have only one; NULL: the key is in no group */
  const char* meaning;
} SchemaRow;

typedef struct {
  const char* name;
  const char* title;
  size_t size;                 /* size of the struct that the object is read into */
  const char* type_key;        /* key of the VALUE_CHOICE that selects the allowed keys (SchemaRow.only); NULL = none */
  const char* instead_of_type; /* alternative to the type and its keys: another key; NULL = none */
  struct {
    const char* name; /* name of another object whose rows this object has, too; NULL = none */
    size_t offset;    /* offset of the other object's struct in the struct of this object [bytes] */
  } includes[2];
  bool partial; /* true: a map may lack required keys of the object, for example if it only changes some values */
  bool part;    /* the object is used only inside other objects, and has no section of its own in the docs */
  const char* meaning; /* description of the object for the documentation */
  const char* example; /* a complete small scene or task as YAML that is printed in the documentation; NULL: none */
} SchemaObject;

typedef struct SchemaTable SchemaTable;
struct SchemaTable {
  const SchemaObject* objects;
  int object_count;
  const SchemaRow* rows;
  int row_count;
  const SchemaRow* (*external_row)(int index); /* returns row `index` of the rows that another module defines, NULL past
                                                  the last; these come before `rows`. NULL: there are none */
  const char *root, *title, *id;
  const char* command;       /* command that prints the reference page */
  const char* overrides;     /* what can be overridden by --set, for the docs */
  const SchemaTable* embeds; /* schema of scenes that a file may contain (VALUE_SCENE); NULL = none */
};

/* Struct that receives the keys of the object `contact`. */
typedef struct {
  SceneContact contact;
  int model;
  const Node *exclude, *pairs;
} ContactForm;

/* Returns a schema row of the object `contact` that the contact laws define. index: number of the row, from 0. Returns
 * NULL past the last row. Row 0 is the choice of the law, in the order of ContactModel; the parameters of the laws
 * follow. Rows of the object `contact_law` are also allowed in items of contact.pairs. The row is static.
 * (contact/laws.c) */
const SchemaRow* contact_schema_row(int index);
/* Returns the index in SceneContact.law_parameters of the parameter that a schema row describes, or -1 if only some
 * other value has this row. row: not NULL. */
int contact_row_law_parameter(const SchemaRow* row);
/* Allowed words of the key `contact.model`, separated by |, in the order of ContactModel. */
extern const char contact_model_words[];

/* Schema of scenes, and schema of tasks. */
extern const SchemaTable SCENE_SCHEMA, TASK_SCHEMA;

/* Returns the object of a schema table by its name, or NULL if there is none. The table owns the object. */
const SchemaObject* schema_object(const SchemaTable* table, const char* name);

#define SCHEMA_ROWS_MAX 80
/* Sets rows[] to the rows of an object in the order of the documentation. Rows of included objects are left out.
 * Returns the number of rows, at most SCHEMA_ROWS_MAX. */
int schema_direct_rows(const SchemaTable* table, const SchemaObject* object, const SchemaRow* rows[SCHEMA_ROWS_MAX]);
/* A key of an object: its schema row, which may belong to an included object. */
typedef struct {
  const SchemaRow* row;
  size_t offset; /* offset of the included object's struct in the struct of the object; 0 for the object's own rows
                    [bytes] */
} SchemaMember;
/* Sets places[] to the rows of an object and of the objects that it includes, in the order of the documentation.
 * Returns the number of rows, at most SCHEMA_ROWS_MAX. */
int schema_rows(const SchemaTable* table, const SchemaObject* object, SchemaMember places[SCHEMA_ROWS_MAX]);
/* Returns the row of a key that is allowed for a type of the object. If type is NULL, returns the first row with this
 * key. Returns NULL if there is no row. The table owns the row. */
const SchemaRow* schema_row(const SchemaTable* table, const SchemaObject* object, const char* key, const char* type);
/* Returns true if a row is allowed for a type of an object. Always true if type is NULL. */
bool schema_row_allows_type(const SchemaRow* row, const char* type);
/* Sets *out to the default value of a row. out points to a value of the type of the row's kind. The row must have a
 * default without brackets. Does nothing for kinds that are stored as nodes. */
void schema_default(const SchemaRow* row, void* out);
/* Replaces an entry of a map by `child`. First removes the entries with the same key, and the entries whose keys
 * exclude this key. Then appends `child`. The document owns all nodes, including the removed ones. */
void schema_replace(const SchemaTable* table, const SchemaObject* object, Node* map, Node* child);

/* ---- advice about unknown words (schema_advice.c): appended to the caller's text, nothing if there is no advice */
/* Appends advice about a key that an object does not have. The advice is a similar key, such as ` (did you mean
 * 'dt'?)`, the section that has the key, or a list of all keys if there are few. type: type of the object, or NULL for
 * any type. */
void schema_add_key_advice(const SchemaTable* table, const SchemaObject* object, const char* type, const char* key,
                           Text* out);
/* Appends advice about a word that is not one of the allowed words. words: the allowed words ("one|another"). */
void schema_add_choice_advice(const char* words, const char* word, Text* out);

/* ---- kinds of values (schema_kind.c) */
/* Returns the name of a kind of value in documents, such as "list of 3 numbers". The text is static. */
const char* value_kind_title(ValueKind kind);
/* Returns the name of a kind of value in messages, such as "a list of 3 numbers". The text is static. */
const char* value_kind_expected(ValueKind kind);
/* Returns true if the node is of the NodeKind that the kind requires: a scalar, a list or a map. Does not check the
 * content of the node. */
bool value_kind_accepts(ValueKind kind, const Node* node);
/* Appends the JSON Schema of the row's value to `out`, as members of a JSON object without the braces. */
void value_kind_add_json(const SchemaRow* row, Text* out);

/* Appends the JSON Schema (draft 07) of all objects of the table, and of the table that it embeds, to `out`. */
void schema_write_json(const SchemaTable* table, Text* out);
/* Appends the reference page of the table in Markdown to `out`. The page lists the keys of every object with units,
 * ranges and defaults. */
void schema_write_markdown(const SchemaTable* table, Text* out);
/* Appends the manual page sdrs-<name>(5) of the table to `out`, in roff. */
void schema_write_man(const SchemaTable* table, const char* name, Text* out);

#endif
