#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "app/app.h"

/* Largest number of threads. A larger number is rejected, because it is probably a typing error. */
#define THREADS_MAX 1024
#define PORT_MAX 65535

typedef enum {
  COMMON_OUTPUT,
  COMMON_SET,
  COMMON_THREADS,
  COMMON_QUIET,
  COMMON_VERBOSE,
  COMMON_JSON,
  COMMON_HELP,
  COMMON_COUNT,
} CommonOption;

static const OptionRow COMMON_OPTIONS[COMMON_COUNT] = {
    [COMMON_OUTPUT] = {"output", 'o', OPTION_TEXT, "DIR", "folder for the results (default: out/<name>)"},
    [COMMON_SET] = {"set", 0, OPTION_OVERRIDE, "KEY=VALUE",
                    "override a key of the file, e.g. contact.friction=0.2; repeatable"},
    [COMMON_THREADS] = {"threads", 0, OPTION_COUNT, "N", "threads (default: OMP_NUM_THREADS, else all processors)"},
    [COMMON_QUIET] = {"quiet", 'q', OPTION_FLAG, NULL, "no progress, no warnings: errors and results only"},
    [COMMON_VERBOSE] = {"verbose", 'v', OPTION_FLAG, NULL, "say more: derived parameters, sizes, what import dropped"},
    [COMMON_JSON] = {"json", 0, OPTION_FLAG, NULL, "machine-readable result on standard output"},
    [COMMON_HELP] = {"help", 'h', OPTION_FLAG, NULL, "this help"},
};

const OptionRow* common_options(int* count) {
  *count = COMMON_COUNT;
  return COMMON_OPTIONS;
}

/* ---------------------------------------------------------------- finding a row */

/* Parser state: the present word, and the structs that receive the values. */
typedef struct {
  Options* options;
  const Verb* verb;
  OptionValue common[COMMON_COUNT];
  char** words;
  int count, index;
  Text* errors;
  bool is_valid;
} OptionParser;

static void add_error(OptionParser* parser, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void add_error(OptionParser* parser, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(parser->errors, format, arguments);
  va_end(arguments);
  text_add(parser->errors, "\n");
  parser->is_valid = false;
}

typedef struct {
  const OptionRow* row;
  OptionValue* value;
} OptionSlot;

static bool names_match(const OptionRow* row, const char* name, size_t length, char letter) {
  if (letter) return row->letter == letter;
  return strlen(row->name) == length && strncmp(row->name, name, length) == 0;
}

/* Returns the table row and the value of an option. If `letter` is 0, finds the option by its long name of `length`
 * characters, otherwise by its letter. The member `row` is NULL if there is no such option. */
static OptionSlot find_slot(OptionParser* parser, const char* name, size_t length, char letter) {
  for (int i = 0; i < COMMON_COUNT; i++)
    if (names_match(&COMMON_OPTIONS[i], name, length, letter))
      return (OptionSlot){&COMMON_OPTIONS[i], &parser->common[i]};
  for (int i = 0; i < parser->verb->option_count; i++)
    if (names_match(&parser->verb->options[i], name, length, letter))
      return (OptionSlot){&parser->verb->options[i], &parser->options->values[i]};
  return (OptionSlot){NULL, NULL};
}

/* Returns the scene key for a name that users try as an option, such as simulation.dt for "dt". Returns NULL if there
 * is none. */
static const char* find_scene_key(const char* name) {
  static const struct {
    const char *name, *key;
  } KEYS[] = {
      {"dt", "simulation.dt"},           {"timestep", "simulation.dt"},
      {"time", "simulation.duration"},   {"duration", "simulation.duration"},
      {"gravity", "simulation.gravity"}, {"substeps", "simulation.substeps"},
      {"friction", "contact.friction"},  {"restitution", "contact.restitution"},
  };
  for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
    if (strcmp(KEYS[i].name, name) == 0) return KEYS[i].key;
  return NULL;
}

static void add_unknown_option_error(OptionParser* parser, const char* word, size_t length) {
  const Verb* verb = parser->verb;
  const char** names = MEMORY_NEW(const char*, COMMON_COUNT + verb->option_count);
  for (int i = 0; i < COMMON_COUNT; i++) names[i] = COMMON_OPTIONS[i].name;
  for (int i = 0; i < verb->option_count; i++) names[COMMON_COUNT + i] = verb->options[i].name;
  char* name = memory_copy_text(word + strspn(word, "-"));
  name[strcspn(name, "=")] = '\0';
  const char* nearest = text_nearest(name, names, COMMON_COUNT + verb->option_count);
  const char* key = verb->reads_scene ? find_scene_key(name) : NULL;
  const char* within = strcmp(verb->operands, "TASK") == 0 ? "scene." : "";
  if (key)
    add_error(parser, "unknown option '%.*s': it is a key of the file: --set %s%s=...", (int)length, word, within, key);
  else if (nearest)
    add_error(parser, "unknown option '%.*s' (did you mean '--%s'?)", (int)length, word, nearest);
  else
    add_error(parser, "unknown option '%.*s'", (int)length, word);
  memory_free(name);
  memory_free(names);
}

/* ---------------------------------------------------------------- values */

static bool parse_number(const char* text, double* number) {
  char* end;
  *number = strtod(text, &end);
  return end != text && *end == '\0' && *number >= 0.0 && isfinite(*number);
}

static bool parse_whole(const char* text, long minimum, double* number) {
  char* end;
  long value = strtol(text, &end, 10);
  *number = (double)value;
  return end != text && *end == '\0' && value >= minimum && value < INT_MAX;
}

static void add_override(OptionParser* parser, const char* text) {
  const char* equals = strchr(text, '=');
  if (!equals || equals == text) {
    add_error(parser, "--set needs path.to.key=value, got '%s'", text);
    return;
  }
  parser->options->overrides[parser->options->override_count++] = (SceneOverride){text};
}

static void store_value(OptionParser* parser, OptionSlot slot, const char* text) {
  assert(slot.row && slot.value);
  const OptionRow* row = slot.row;
  double number = 0.0;
  if (row->type == OPTION_OVERRIDE) {
    add_override(parser, text);
  } else if (row->type == OPTION_COUNT && !parse_whole(text, 1, &number)) {
    add_error(parser, "--%s needs a whole number of at least 1, got '%s'", row->name, text);
  } else if (row->type == OPTION_INDEX && !parse_whole(text, 0, &number)) {
    add_error(parser, "--%s needs a whole number of at least 0, got '%s'", row->name, text);
  } else if (row->type == OPTION_NUMBER && !parse_number(text, &number)) {
    add_error(parser, "--%s needs a finite number >= 0, got '%s'", row->name, text);
  } else if (row->type == OPTION_PORT && (!parse_whole(text, 1, &number) || number > PORT_MAX)) {
    add_error(parser, "--%s=PORT: a port is a whole number of 1 to %d, got '%s'", row->name, PORT_MAX, text);
  } else if ((row->type == OPTION_TEXT || row->type == OPTION_TEXT_LIST) && !*text) {
    add_error(parser, "--%s needs a value (%s)", row->name, row->value_name);
  }
  if (row->type == OPTION_TEXT_LIST) parser->options->items[parser->options->item_count++] = (OptionItem){row, text};
  *slot.value = (OptionValue){true, text, number};
}

/* Stores the value of an option: `attached` (from --name=value or -oDIR), or the next word if attached is NULL. */
static void parse_option_value(OptionParser* parser, OptionSlot slot, const char* attached) {
  if (slot.row->type == OPTION_PORT && !attached) {
    slot.value->given = true;
  } else if (slot.row->type == OPTION_FLAG) {
    if (attached) add_error(parser, "--%s takes no value", slot.row->name);
    slot.value->given = true;
  } else if (attached) {
    store_value(parser, slot, attached);
  } else if (parser->index + 1 < parser->count) {
    store_value(parser, slot, parser->words[++parser->index]);
  } else {
    add_error(parser, "--%s needs a value (%s)", slot.row->name, slot.row->value_name);
  }
}

/* ---------------------------------------------------------------- words */

static void parse_long(OptionParser* parser, const char* word) {
  size_t length = strcspn(word, "=");
  OptionSlot slot = find_slot(parser, word + 2, length - 2, 0);
  if (!slot.row)
    add_unknown_option_error(parser, word, length);
  else
    parse_option_value(parser, slot, word[length] == '=' ? word + length + 1 : NULL);
}

static void parse_letters(OptionParser* parser, const char* word) {
  assert(word[0] == '-');
  for (const char* letter = word + 1; *letter; letter++) {
    OptionSlot slot = find_slot(parser, "", 0, *letter);
    if (!slot.row) {
      add_unknown_option_error(parser, word, strlen(word));
      return;
    }
    bool takes_rest = slot.row->type != OPTION_FLAG && letter[1];
    parse_option_value(parser, slot, takes_rest ? letter + 1 : NULL);
    if (takes_rest) return;
  }
}

static void parse_words(OptionParser* parser) {
  bool only_operands = false;
  for (; parser->index < parser->count && !parser->common[COMMON_HELP].given; parser->index++) {
    const char* word = parser->words[parser->index];
    if (only_operands || word[0] != '-' || !word[1])
      parser->options->operands[parser->options->operand_count++] = word;
    else if (strcmp(word, "--") == 0)
      only_operands = true;
    else if (word[1] == '-')
      parse_long(parser, word);
    else
      parse_letters(parser, word);
  }
}

static void check_operands(OptionParser* parser) {
  const Options* options = parser->options;
  const Verb* verb = parser->verb;
  if (options->operand_count < verb->operand_min)
    add_error(parser, "needs %s", verb->operands);
  else if (options->operand_count > verb->operand_max)
    add_error(parser, "unexpected '%s' after %s", options->operands[verb->operand_max],
              verb->operand_max > 0 ? verb->operands : "the verb");
}

/* Returns the number of threads without --threads: OMP_NUM_THREADS, else the number of processors. Of a list in
 * OMP_NUM_THREADS, one number per nesting level, the first number counts. */
static int default_threads(void) {
  const char* given = getenv("OMP_NUM_THREADS");
  long threads = given ? strtol(given, NULL, 10) : 0;
  if (threads >= 1 && threads <= THREADS_MAX) return (int)threads;
  return parallel_processor_count();
}

static void store_common_options(OptionParser* parser) {
  Options* options = parser->options;
  const OptionValue* common = parser->common;
  options->folder = common[COMMON_OUTPUT].text;
  options->quiet = common[COMMON_QUIET].given;
  options->verbose = common[COMMON_VERBOSE].given;
  options->json = common[COMMON_JSON].given;
  options->help = common[COMMON_HELP].given;
  options->threads = common[COMMON_THREADS].given ? (int)common[COMMON_THREADS].number : default_threads();
  if (options->threads > THREADS_MAX)
    add_error(parser, "--threads is at most %d, got %d", THREADS_MAX, options->threads);
}

bool options_parse(Options* options, const Verb* verb, int count, char** words, Text* errors) {
  assert(count >= 0);
  *options = (Options){.verb = verb};
  options->operands = MEMORY_NEW(const char*, count + 1);
  options->overrides = MEMORY_NEW(SceneOverride, count + 1);
  options->items = MEMORY_NEW(OptionItem, count + 1);
  options->values = MEMORY_NEW(OptionValue, verb->option_count + 1);
  OptionParser parser = {
      .options = options, .verb = verb, .words = words, .count = count, .errors = errors, .is_valid = true};
  parse_words(&parser);
  store_common_options(&parser);
  if (!options->help) check_operands(&parser);
  return parser.is_valid;
}

void options_free(Options* options) {
  assert(options);
  memory_free(options->operands);
  memory_free(options->overrides);
  memory_free(options->items);
  memory_free(options->values);
  *options = (Options){0};
}

/* ---------------------------------------------------------------- lookup */

static const OptionValue* find_value(const Options* options, const char* name) {
  assert(options->verb && name);
  static const OptionValue absent = {0};
  for (int i = 0; i < options->verb->option_count; i++)
    if (strcmp(options->verb->options[i].name, name) == 0) return &options->values[i];
  assert(!"an option that the verb's table does not have");
  return &absent;
}

bool option_given(const Options* options, const char* name) { return find_value(options, name)->given; }

const char* option_text(const Options* options, const char* name) { return find_value(options, name)->text; }

double option_number(const Options* options, const char* name, double fallback) {
  const OptionValue* value = find_value(options, name);
  return value->given ? value->number : fallback;
}

int option_count(const Options* options, const char* name, int fallback) {
  return (int)option_number(options, name, fallback);
}

const char* option_item(const Options* options, const char* name, int index) {
  assert(index >= 0);
  for (int i = 0; i < options->item_count; i++)
    if (strcmp(options->items[i].row->name, name) == 0 && index-- == 0) return options->items[i].text;
  return NULL;
}
