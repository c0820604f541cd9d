#include <assert.h>
#include <string.h>
#include "app/app.h"

/* The commands, in the order of the help. */
static const Verb* const VERBS[] = {
    &VERB_SIMULATE, &VERB_OPTIMIZE, &VERB_IDENTIFY, &VERB_GRADCHECK, &VERB_CONVERGE, &VERB_RENDER,
    &VERB_PLOT,     &VERB_EXPORT,   &VERB_IMPORT,   &VERB_DECOMPOSE, &VERB_VALIDATE, &VERB_SCHEMA,
    &VERB_QUERY,    &VERB_CERTIFY,  &VERB_COMPARE,  &VERB_BENCH,
};
enum { VERB_COUNT = sizeof VERBS / sizeof VERBS[0] };

/* Width of the left column of the help [characters]. */
#define HELP_COLUMN 26

const Verb* verb_find(const char* name) {
  assert(name);
  for (int i = 0; i < VERB_COUNT; i++)
    if (strcmp(VERBS[i]->name, name) == 0) return VERBS[i];
  return NULL;
}

const Verb* verb_at(int index) {
  assert(index >= 0);
  return index < VERB_COUNT ? VERBS[index] : NULL;
}

const char* verb_nearest(const char* word) {
  assert(word);
  const char* names[VERB_COUNT + 2];
  for (int i = 0; i < VERB_COUNT; i++) names[i] = VERBS[i]->name;
  names[VERB_COUNT] = "--help";
  names[VERB_COUNT + 1] = "--version";
  return text_nearest(word, names, VERB_COUNT + 2);
}

void verb_list(FILE* stream) {
  fprintf(stream,
          "Usage: sdrs VERB [OPTIONS] ...\n"
          "\n"
          "Simulates articulated and free rigid bodies with separating-plane contact.\n"
          "\n");
  for (int i = 0; i < VERB_COUNT; i++)
    fprintf(stream, "  %-9s %-14s %s\n", VERBS[i]->name, VERBS[i]->operands, VERBS[i]->summary);
  fprintf(stream,
          "\n"
          "  sdrs VERB --help   examples and options of one verb\n"
          "  sdrs help --man    the manual page; --bash, --zsh: completion\n"
          "  sdrs --version     version, build flags, libraries\n");
}

static void print_option(FILE* stream, const OptionRow* row) {
  char left[64];
  snprintf(left, sizeof left, "%s%c%s --%s%s%s%s", row->letter ? "-" : "", row->letter ? row->letter : ' ',
           row->letter ? "," : "  ", row->name, row->value_name ? option_value_prefix(row) : "",
           row->value_name ? row->value_name : "", option_value_suffix(row));
  fprintf(stream, "  %-*s %s\n", HELP_COLUMN, left, row->help);
}

void verb_help(FILE* stream, const Verb* verb) {
  assert(verb);
  fprintf(stream, "sdrs %s - %s\n\nExamples:\n%s\nUsage: sdrs %s [OPTIONS]%s%s\n", verb->name, verb->summary,
          verb->examples, verb->name, *verb->operands ? " " : "", verb->operands);
  if (verb->option_count > 0) fprintf(stream, "\nOptions of %s:\n", verb->name);
  for (int i = 0; i < verb->option_count; i++) print_option(stream, &verb->options[i]);
  fprintf(stream, "\nOptions of every verb:\n");
  int count;
  const OptionRow* common = common_options(&count);
  for (int i = 0; i < count; i++) print_option(stream, &common[i]);
  if (*verb->details) fprintf(stream, "\n%s", verb->details);
}
