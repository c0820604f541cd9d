/* The command line of sdrs. verbs.c has the table of all commands; each command stands in its own file cmd_<verb>.c. A
 * new command needs a file that defines `const Verb VERB_<NAME>`, and a row in verbs.c. Parsing, `--help` and the
 * option lists of the manual are generated from these tables. */
#ifndef SDRS_APP_H
#define SDRS_APP_H

#include "scene/scene.h"

/* ---------------------------------------------------------------- options (app/options.c) */

typedef enum {
  OPTION_FLAG,      /* option without a value */
  OPTION_TEXT,      /* any text */
  OPTION_COUNT,     /* whole number >= 1 */
  OPTION_INDEX,     /* whole number >= 0, read with option_count */
  OPTION_NUMBER,    /* finite number >= 0 */
  OPTION_OVERRIDE,  /* text, repeatable (--set) */
  OPTION_TEXT_LIST, /* text, repeatable, read with option_item */
  OPTION_PORT,      /* option with an optional port 1..65535: --name or --name=PORT */
} OptionType;

typedef struct {
  const char* name; /* long name, without the dashes */
  char letter;      /* letter of the short form, or 0 */
  OptionType type;
  const char* value_name; /* name of the value in the help, e.g. "DIR"; NULL for a flag */
  const char* help;       /* description in the help, one line */
} OptionRow;

typedef struct Verb Verb;

/* Value of one option of a command. If the option is repeated, the last occurrence counts. */
typedef struct {
  bool given;
  const char* text;
  double number;
} OptionValue;

/* Returns the text that help pages print before the value of an option: " ", or "[=" if the value is optional.
 * option_value_suffix returns the text after the value. Both texts are static and never NULL. */
static inline const char* option_value_prefix(const OptionRow* row) { return row->type == OPTION_PORT ? "[=" : " "; }
static inline const char* option_value_suffix(const OptionRow* row) { return row->type == OPTION_PORT ? "]" : ""; }

/* One occurrence of a repeatable option. */
typedef struct {
  const OptionRow* row;
  const char* text;
} OptionItem;

/* The parsed and checked command line of one command. Texts are borrowed from argv. */
typedef struct {
  const Verb* verb;
  const char** operands;
  int operand_count;
  SceneOverride* overrides; /* all --set options, in the order of the command line (override_count) */
  int override_count;
  const char* folder; /* path given with -o; NULL if -o is absent */
  int threads; /* number of threads, >= 1: from --threads, otherwise OMP_NUM_THREADS, otherwise the number of processors
                */
  bool quiet, verbose, json;
  bool help;
  OptionValue* values; /* values of the options in verb->options, in the same order */
  OptionItem* items;   /* all occurrences of repeatable options, in the order of the command line (item_count) */
  int item_count;
} Options;

/* Parses the command line after the command's name, words[count], into *options. Returns false if a word is wrong;
 * `faults` then has one line per error, which suggests the most similar known word. words are borrowed; *options owns
 * its arrays. The caller calls options_free and frees `faults` in any case. */
bool options_parse(Options* options, const Verb* verb, int count, char** words, Text* faults);
/* Frees the arrays of *options, but not the words, and zeroes the struct. Accepts a zeroed or partly parsed struct. The
 * argument must not be NULL. */
void options_free(Options* options);

/* Returns true if the option `name` was given. The command must have an option of this name (asserted). */
bool option_given(const Options* options, const char* name);
/* Returns the text of the option `name`, or NULL if the option was not given. The text is borrowed from the command
 * line; the caller does not free it. The command must have the option (asserted). */
const char* option_text(const Options* options, const char* name);
/* Returns the number of the option `name`, finite and >= 0, or `fallback` if the option was not given. The command must
 * have the option (asserted). */
double option_number(const Options* options, const char* name, double fallback);
/* Returns the whole number of the option `name`, or `fallback` if the option was not given. The command must have the
 * option (asserted). */
int option_count(const Options* options, const char* name, int fallback);
/* Returns the value of occurrence `index` (from 0) of the repeatable option `name`, or NULL if the option has fewer
 * occurrences. The text is borrowed from the command line. */
const char* option_item(const Options* options, const char* name, int index);

/* ---------------------------------------------------------------- verbs (app/verbs.c) */

struct Verb {
  const char* name;
  const char* operands; /* operands as shown in the help, such as "SCENE" */
  int operand_min, operand_max;
  const char* summary;      /* description in the list of commands, one line */
  const char* examples;     /* example calls, which --help prints first; one per line, indented by two spaces */
  const char* details;      /* text that --help prints after the options */
  const OptionRow* options; /* options of this command only */
  int option_count;
  bool reads_scene,
      writes_folder; /* true if --set has an effect; true if -o has an effect. Otherwise the option causes a warning. */
  bool serial;       /* true if the command runs on one thread */
  ExitCode (*run)(const Options* options);
};

enum { OPERANDS_UNBOUNDED = 1 << 30 };

/* Returns the command with this name, or NULL if there is none. The command is static. */
const Verb* verb_find(const char* name);
/* Returns the command name, --help or --version, whichever is most similar to `word`; NULL if none is similar. The text
 * is static. */
const char* verb_nearest(const char* word);
/* Returns command number `index`, from 0, in the order of the help, or NULL after the last command. The command is
 * static. */
const Verb* verb_at(int index);
/* Prints the usage of sdrs and one line for each command to `stream`. The caller checks `stream` for write errors. */
void verb_list(FILE* stream);
/* Prints the examples and options of the command `verb` to `stream`. The caller checks `stream` for write errors. */
void verb_help(FILE* stream, const Verb* verb);
/* Returns the options that every command has, a static table, and sets *count to their number. */
const OptionRow* common_options(int* count);

/* The commands, each defined in its cmd_<verb>.c. */
extern const Verb VERB_CONVERGE, VERB_SIMULATE, VERB_VALIDATE, VERB_SCHEMA, VERB_QUERY, VERB_COMPARE, VERB_BENCH,
    VERB_RENDER, VERB_GRADCHECK, VERB_OPTIMIZE, VERB_IDENTIFY, VERB_DECOMPOSE, VERB_EXPORT, VERB_PLOT, VERB_CERTIFY,
    VERB_IMPORT;

/* Runs the program: finds the command, parses its options and calls its run function. Returns the exit code of the
 * command, or EXIT_IO if standard output could not be written. argv[argc] is borrowed and not changed. */
ExitCode app_run(int argc, char** argv);

#endif
