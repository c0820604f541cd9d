/* app: the command line - one table of verbs, one file per command (cmd_<verb>.c).
 * A new verb is one file that defines `const Verb VERB_<NAME>` and one row in verbs.c; parsing, `--help` and the
 * manual's option lists follow from the tables. */
#ifndef SDRS_APP_H
#define SDRS_APP_H

#include "scene/scene.h"

/* ---------------------------------------------------------------- options (app/options.c) */

typedef enum {
  OPTION_FLAG,   /* present or not */
  OPTION_TEXT,   /* any text */
  OPTION_COUNT,  /* whole number >= 1 */
  OPTION_INDEX,  /* whole number >= 0; read as a count */
  OPTION_NUMBER, /* finite number >= 0 */
  OPTION_LIST,   /* text, repeatable (--set) */
  OPTION_TEXTS,  /* text, repeatable: option_item */
  OPTION_PORT,   /* flag with an optional port, 1..65535: --name or --name=PORT */
} OptionType;

typedef struct {
  const char* name; /* without the dashes */
  char letter;      /* one-letter form, or 0 */
  OptionType type;
  const char* value_name; /* name of the value in the help, e.g. "DIR"; NULL for a flag */
  const char* help;       /* one line */
} OptionRow;

typedef struct Verb Verb;

/* Occurrences of one option of the verb on the command line. */
typedef struct {
  bool given;
  const char* text;
  double number;
} OptionValue;

/* Returns the text between an option's name and its value in help pages; option_end returns the text after the value.
 * Static text, never NULL, not to be freed. */
static inline const char* option_joint(const OptionRow* row) { return row->type == OPTION_PORT ? "[=" : " "; }
static inline const char* option_end(const OptionRow* row) { return row->type == OPTION_PORT ? "]" : ""; }

/* One occurrence of a repeatable option. */
typedef struct {
  const OptionRow* row;
  const char* text;
} OptionItem;

/* The checked command line of one verb. Texts borrow argv. */
typedef struct {
  const Verb* verb;
  const char** operands;
  int operand_count;
  SceneOverride* overrides; /* every --set, in order */
  int override_count;
  const char* folder; /* -o, or NULL */
  int threads;        /* >= 1: --threads, else OMP_NUM_THREADS, else the number of processors */
  bool quiet, verbose, json;
  bool help;
  OptionValue* values; /* the verb's own options, in the order of its table */
  OptionItem* items;   /* occurrences of its repeatable options, in order */
  int item_count;
} Options;

/* Parses the words after the verb. Returns false and adds one line per error, with the nearest known word, to `faults`.
 * words[count] are borrowed; options owns the values. options_free accepts a partly read or zeroed object. The caller
 * frees faults and options in any case. */
bool options_parse(Options* options, const Verb* verb, int count, char** words, Text* faults);
/* Frees the lists, not the words, and zeroes the object. Accepts a zeroed object, but not NULL. */
void options_free(Options* options);

/* The verb's own options by name; all functions but option_item assert that the verb has the option. Returns true if it
 * was given. */
bool option_given(const Options* options, const char* name);
/* The text of an option, borrowed from the command line; NULL when absent. Not to be freed. */
const char* option_text(const Options* options, const char* name);
/* Returns the number of an option, finite and >= 0; fallback when absent. Asserts that the verb has it. Allocates
 * nothing. */
double option_number(const Options* options, const char* name, double fallback);
/* Returns the whole number of an option, >= 1; fallback when absent. Asserts that the verb has it. Allocates nothing.
 */
int option_count(const Options* options, const char* name, int fallback);
/* Returns the value of use `index` (from 0) of a repeatable option, borrowed from the command line; NULL after the
 * last. */
const char* option_item(const Options* options, const char* name, int index);

/* ---------------------------------------------------------------- verbs (app/verbs.c) */

struct Verb {
  const char* name;
  const char* operands; /* as the help shows them, e.g. "SCENE" */
  int operand_min, operand_max;
  const char* summary;      /* one line */
  const char* examples;     /* shown first by --help, one per line, indented by two spaces */
  const char* details;      /* paragraphs after the options */
  const OptionRow* options; /* the verb's own */
  int option_count;
  bool reads_scene, writes_folder; /* true if --set and -o have an effect; otherwise they cause a warning */
  bool serial;                     /* runs on one thread */
  ExitCode (*run)(const Options* options);
};

enum { OPERANDS_UNBOUNDED = 1 << 30 };

/* Returns the verb of this name, constant. */
const Verb* verb_find(const char* name); /* NULL when unknown */
/* Returns the verb, --help or --version nearest to the word, constant; NULL if none is near. */
const char* verb_nearest(const char* word);
/* index from 0. */
const Verb* verb_at(int index); /* in the order of the help; NULL after the last */
/* Prints usage and a line for each verb. Allocates nothing. The caller checks for write errors. */
void verb_list(FILE* stream);
/* Prints examples and options of one verb. Allocates nothing. The caller checks for write errors. */
void verb_help(FILE* stream, const Verb* verb);
/* Returns the options of all verbs, constant, and sets *count to their number. count must not be NULL. */
const OptionRow* common_options(int* count);

/* Each is defined in its cmd_<verb>.c. */
extern const Verb VERB_CONVERGE, VERB_SIMULATE, VERB_VALIDATE, VERB_SCHEMA, VERB_QUERY, VERB_COMPARE, VERB_BENCH,
    VERB_RENDER, VERB_GRADCHECK, VERB_OPTIMIZE, VERB_IDENTIFY, VERB_DECOMPOSE, VERB_EXPORT, VERB_PLOT, VERB_CERTIFY,
    VERB_IMPORT;

/* Runs the program: finds the verb, parses options, runs it. Returns the exit code; EXIT_IO if standard output could
 * not be written. argv[argc] is borrowed and not changed. Verbs free what they allocate. */
ExitCode app_run(int argc, char** argv);

#endif
