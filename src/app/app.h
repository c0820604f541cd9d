/* app: the command line, with one table of commands (verbs) and one file for each (cmd_<verb>.c).
 * A new command needs a file that defines `const Verb VERB_<NAME>`, and a row in verbs.c. Parsing, `--help` and the
 * option lists of the manual follow from the tables. */
#ifndef SDRS_APP_H
#define SDRS_APP_H

#include "scene/scene.h"

/* ---------------------------------------------------------------- options (app/options.c) */

typedef enum {
  OPTION_FLAG,   /* present or not */
  OPTION_TEXT,   /* any text */
  OPTION_COUNT,  /* whole number >= 1 */
  OPTION_INDEX,  /* whole number >= 0, read with option_count */
  OPTION_NUMBER, /* finite number >= 0 */
  OPTION_LIST,   /* text, repeatable (--set) */
  OPTION_TEXTS,  /* text, repeatable, read with option_item */
  OPTION_PORT,   /* flag with an optional port, 1..65535: --name or --name=PORT */
} OptionType;

typedef struct {
  const char* name; /* long name, without the dashes */
  char letter;      /* letter of the short form, or 0 */
  OptionType type;
  const char* value_name; /* name of the value in the help, e.g. "DIR"; NULL for a flag */
  const char* help;       /* one line */
} OptionRow;

typedef struct Verb Verb;

/* Value of one option of the command, from its last occurrence on the command line. */
typedef struct {
  bool given;
  const char* text;
  double number;
} OptionValue;

/* Returns the text that help pages show between the name of an option and its value. option_end returns the text after
 * the value. Both are static and never NULL; the caller does not free them. */
static inline const char* option_joint(const OptionRow* row) { return row->type == OPTION_PORT ? "[=" : " "; }
static inline const char* option_end(const OptionRow* row) { return row->type == OPTION_PORT ? "]" : ""; }

/* One occurrence of a repeatable option. */
typedef struct {
  const OptionRow* row;
  const char* text;
} OptionItem;

/* The checked command line of one command. Texts are borrowed from argv. */
typedef struct {
  const Verb* verb;
  const char** operands;
  int operand_count;
  SceneOverride* overrides; /* all --set options, in order */
  int override_count;
  const char* folder; /* folder given with -o; NULL: not given */
  int threads;        /* >= 1: --threads, else OMP_NUM_THREADS, else the number of processors */
  bool quiet, verbose, json;
  bool help;
  OptionValue* values; /* values of the command's own options, in the order of its table */
  OptionItem* items;   /* occurrences of the command's repeatable options, in order */
  int item_count;
} Options;

/* Parses words[count], the words after the command's name, into *options. Returns false after appending one line per
 * error to `faults`, with the most similar known word. words are borrowed; *options owns its arrays. The caller calls
 * options_free and frees `faults` in any case. */
bool options_parse(Options* options, const Verb* verb, int count, char** words, Text* faults);
/* Frees the arrays of the options, but not the words, and zeroes the struct. Accepts a zeroed or partly parsed struct,
 * but not NULL. */
void options_free(Options* options);

/* Returns true if the option was given. This function and option_text, option_number and option_count find the
 * command's own options by name, and assert that the command has the option. */
bool option_given(const Options* options, const char* name);
/* Returns the text of an option, borrowed from the command line; NULL if the option is absent. The caller does not free
 * it. */
const char* option_text(const Options* options, const char* name);
/* Returns the number of an option, finite and >= 0; `fallback` if the option is absent. Asserts that the command has
 * the option. Allocates nothing. */
double option_number(const Options* options, const char* name, double fallback);
/* Returns the whole number of an option; `fallback` if the option is absent. Asserts that the command has the option.
 * Allocates nothing. */
int option_count(const Options* options, const char* name, int fallback);
/* Returns the value of occurrence `index` (from 0) of a repeatable option, borrowed from the command line; NULL if
 * there are fewer occurrences. */
const char* option_item(const Options* options, const char* name, int index);

/* ---------------------------------------------------------------- verbs (app/verbs.c) */

struct Verb {
  const char* name;
  const char* operands; /* operands as shown in the help, such as "SCENE" */
  int operand_min, operand_max;
  const char* summary;      /* one line */
  const char* examples;     /* shown first by --help, one per line, indented by two spaces */
  const char* details;      /* paragraphs after the options */
  const OptionRow* options; /* options of this command only */
  int option_count;
  bool reads_scene, writes_folder; /* true if --set and -o have an effect; otherwise they cause a warning */
  bool serial;                     /* runs on one thread */
  ExitCode (*run)(const Options* options);
};

enum { OPERANDS_UNBOUNDED = 1 << 30 };

/* Returns the command of this name, static. */
const Verb* verb_find(const char* name); /* NULL when unknown */
/* Returns the command name, or --help or --version, that is most similar to `word`, static; NULL if none is similar. */
const char* verb_nearest(const char* word);
/* Returns command number `index`, from 0, static. */
const Verb* verb_at(int index); /* in the order of the help; NULL after the last */
/* Prints the usage and one line for each command. Allocates nothing. The caller checks for write errors. */
void verb_list(FILE* stream);
/* Prints the examples and options of one command. Allocates nothing. The caller checks for write errors. */
void verb_help(FILE* stream, const Verb* verb);
/* Returns the options that every command has, static, and sets *count to their number. count must not be NULL. */
const OptionRow* common_options(int* count);

/* The commands, each defined in its cmd_<verb>.c. */
extern const Verb VERB_CONVERGE, VERB_SIMULATE, VERB_VALIDATE, VERB_SCHEMA, VERB_QUERY, VERB_COMPARE, VERB_BENCH,
    VERB_RENDER, VERB_GRADCHECK, VERB_OPTIMIZE, VERB_IDENTIFY, VERB_DECOMPOSE, VERB_EXPORT, VERB_PLOT, VERB_CERTIFY,
    VERB_IMPORT;

/* Runs the program: finds the command, parses its options and runs it. Returns its exit code, or EXIT_IO if standard
 * output could not be written. argv[argc] is borrowed and not changed. Each command frees what it allocates. */
ExitCode app_run(int argc, char** argv);

#endif
