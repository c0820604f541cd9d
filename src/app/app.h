/* The command line of sdrs. verbs.c has the table of all commands, and each command has a file cmd_<verb>.c. The
 * parser, `--help` and the manual use these tables. */
#ifndef SDRS_APP_H
#define SDRS_APP_H

#include "scene/scene.h"

typedef enum {
  OPTION_FLAG,      /* option without a value */
  OPTION_TEXT,      /* option whose value is any text */
  OPTION_COUNT,     /* option whose value is a whole number >= 1 */
  OPTION_INDEX,     /* option whose value is a whole number >= 0, read with option_count */
  OPTION_NUMBER,    /* option whose value is a finite number >= 0 */
  OPTION_OVERRIDE,  /* the option --set, which may be repeated; its value is the text of an override */
  OPTION_TEXT_LIST, /* option that may be repeated; each value is a text, read with option_item */
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

/* Value of one option of a command. A later occurrence of an option replaces an earlier one. */
typedef struct {
  bool given;
  const char* text;
  double number;
} OptionValue;

/* Return the texts that help pages print before and after the value of an option: " " and "", or "[=" and "]" if the
 * value is optional. The texts are static. */
static inline const char* option_value_prefix(const OptionRow* row) { return row->type == OPTION_PORT ? "[=" : " "; }
static inline const char* option_value_suffix(const OptionRow* row) { return row->type == OPTION_PORT ? "]" : ""; }

/* One occurrence of an option of type OPTION_TEXT_LIST. */
typedef struct {
  const OptionRow* row;
  const char* text;
} OptionItem;

/* Parsed command line of one command. Texts are borrowed from argv. */
typedef struct {
  const Verb* verb;
  const char** operands;
  int operand_count;
  SceneOverride* overrides; /* all --set options, in the order of the command line (size: override_count) */
  int override_count;
  const char* folder; /* path given with -o; NULL without -o */
  int threads;        /* number of threads >= 1: --threads, else OMP_NUM_THREADS, else the number of processors */
  bool quiet, verbose, json;
  bool help;
  OptionValue* values; /* values of the options in verb->options, in the same order (verb->option_count) */
  OptionItem*
      items; /* occurrences of options of type OPTION_TEXT_LIST, in the order of the command line (size: item_count) */
  int item_count;
} Options;

/* Parses words[count], the command line after the name of the command. Returns false if a word is invalid; `errors`
 * then has one line per error. The words are borrowed, and *options owns its arrays. The caller calls options_free and
 * frees `errors` in both cases. */
bool options_parse(Options* options, const Verb* verb, int count, char** words, Text* errors);
/* Frees the arrays of *options and zeroes the struct. Accepts a zeroed struct. */
void options_free(Options* options);

/* Returns true if the option was given on the command line. The command must have an option of this name. */
bool option_given(const Options* options, const char* name);
/* Returns the text of an option, borrowed from the command line, or NULL if the option was not given. The command must
 * have an option of this name. */
const char* option_text(const Options* options, const char* name);
/* Returns the value of a numeric option, finite and >= 0, or `fallback` if the option was not given. The command must
 * have an option of this name. */
double option_number(const Options* options, const char* name, double fallback);
/* Returns the value of an integer option, or `fallback` if the option was not given. The command must have an option of
 * this name. */
int option_count(const Options* options, const char* name, int fallback);
/* Returns the text of occurrence `index`, from 0, of a repeatable option. Returns NULL if the option has fewer
 * occurrences. The text is borrowed from the command line. */
const char* option_item(const Options* options, const char* name, int index);

struct Verb {
  const char* name;
  const char* operands; /* operands in the help, such as "SCENE" */
  int operand_min, operand_max;
  const char* summary;      /* description in the list of commands, one line */
  const char* examples;     /* example calls, which --help prints first; one per line, indented by two spaces */
  const char* details;      /* text that --help prints after the options */
  const OptionRow* options; /* options of this command only */
  int option_count;
  bool reads_scene;   /* true if --set has an effect; otherwise --set causes a warning */
  bool writes_folder; /* true if -o has an effect; otherwise -o causes a warning */
  bool serial;        /* true if the command runs on one thread */
  ExitCode (*run)(const Options* options);
};

enum { OPERANDS_UNBOUNDED = 1 << 30 };

/* Returns the static command with this name, or NULL if there is none. */
const Verb* verb_find(const char* name);
/* Returns the name of a command, "--help" or "--version", whichever is most similar to `word`. Returns NULL if none is
 * similar. The text is static. */
const char* verb_nearest(const char* word);
/* Returns the static command at `index` in the order of the help, or NULL if index is too large. */
const Verb* verb_at(int index);
/* Prints the usage of sdrs and one line for each command. The caller checks `stream` for write errors. */
void verb_list(FILE* stream);
/* Prints the examples and options of a command. The caller checks `stream` for write errors. */
void verb_help(FILE* stream, const Verb* verb);
/* Returns the static table of the options that every command has, and sets *count to their number. */
const OptionRow* common_options(int* count);

/* Commands, each defined in its cmd_<verb>.c. */
extern const Verb VERB_CONVERGE, VERB_SIMULATE, VERB_VALIDATE, VERB_SCHEMA, VERB_QUERY, VERB_COMPARE, VERB_BENCH,
    VERB_RENDER, VERB_GRADCHECK, VERB_OPTIMIZE, VERB_IDENTIFY, VERB_DECOMPOSE, VERB_EXPORT, VERB_PLOT, VERB_CERTIFY,
    VERB_IMPORT;

/* Runs the program: finds the command, parses its options and calls its run function. Returns the exit code of the
 * command, or EXIT_IO if standard output cannot be written. argv[argc] is borrowed and not changed. */
ExitCode app_run(int argc, char** argv);

#endif
