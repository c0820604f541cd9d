/* Random errors in a text, for tests of file readers. SDRS_SEED repeats a run, SDRS_TRIALS sets the number of trials.
 */
#ifndef SDRS_TESTS_PROPERTY_MUTATIONS_H
#define SDRS_TESTS_PROPERTY_MUTATIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static inline size_t pick(Random* random, size_t count) { return count ? (size_t)(random_bits(random) % count) : 0; }

static inline void replace(Text* text, size_t at, size_t length, const char* with) {
  Text changed = {0};
  text_add_bytes(&changed, text->data, at);
  text_add(&changed, "%s", with);
  text_add_bytes(&changed, text->data + at + length, text->length - at - length);
  text_free(text);
  *text = changed;
}

/* Start and length of a random word or number. */
static inline size_t pick_word(Random* random, const Text* text, size_t* length) {
  static const char WORD[] = "abcdefghijklmnopqrstuvwxyz_0123456789.-";
  size_t at = pick(random, text->length);
  while (at < text->length && !strchr(WORD, text->data[at])) at++;
  while (at > 0 && strchr(WORD, text->data[at - 1])) at--;
  *length = strspn(text->data + at, WORD);
  return at;
}

static inline size_t pick_line(Random* random, const Text* text, size_t* length) {
  size_t at = pick(random, text->length);
  while (at > 0 && text->data[at - 1] != '\n') at--;
  *length = strcspn(text->data + at, "\n");
  if (text->data[at + *length] == '\n') ++*length;
  return at;
}

static inline void change_word(Random* random, Text* text) {
  static const char* const VALUES[] = {
      "-1",  "0",  "1e999", ".nan", "-.inf", "null",   "~",      "true",        "yes",
      "x",   "''", "[]",    "{}",   "[1]",   "{a: 1}", "1e-320", "99999999999", "\"1\"",
      "{i}", "*a", "&a x",  "- 1",  "|",     ">",      "\t",     "!!str 1",     "0x1F",
      "1_0", "?",  "é",     "\xff", "#",     "type",   "name",   "[[1, 2], 3]", "1e5"};
  size_t length, at = pick_word(random, text, &length);
  replace(text, at, length, VALUES[pick(random, COUNT(VALUES))]);
}

static inline void misspell_word(Random* random, Text* text) {
  size_t length, at = pick_word(random, text, &length);
  if (length > 1) replace(text, at + pick(random, length), 1, pick(random, 2) ? "" : "q");
}

static inline void change_byte(Random* random, Text* text) {
  char byte[2] = {(char)(1 + pick(random, 255)), 0};
  replace(text, pick(random, text->length), 1, byte);
}

static inline void change_punctuation(Random* random, Text* text) {
  static const char* const MARKS[] = {"{", "}", "[", "]", ",", ":", "-", "\"", "'", "\n", " ", "\\"};
  size_t at = pick(random, text->length);
  replace(text, at, pick(random, 2), MARKS[pick(random, COUNT(MARKS))]);
}

static inline void drop_line(Random* random, Text* text) {
  size_t length, at = pick_line(random, text, &length);
  replace(text, at, length, "");
}

static inline void double_line(Random* random, Text* text) {
  size_t length, at = pick_line(random, text, &length);
  Text line = {0};
  text_add_bytes(&line, text->data + at, length);
  replace(text, at, 0, line.data);
  text_free(&line);
}

static inline void move_line(Random* random, Text* text) {
  size_t length, at = pick_line(random, text, &length), ignored;
  Text line = {0};
  text_add_bytes(&line, text->data + at, length);
  replace(text, at, length, "");
  if (text->length > 0) replace(text, pick_line(random, text, &ignored), 0, line.data);
  text_free(&line);
}

static inline void cut_short(Random* random, Text* text) {
  size_t at = pick(random, text->length);
  replace(text, at, text->length - at, "");
}

static inline void indent_line(Random* random, Text* text) {
  size_t length, at = pick_line(random, text, &length);
  replace(text, at, 0, pick(random, 2) ? "  " : "\t");
}

static inline void mutate(Random* random, Text* text) {
  static void (*const MUTATIONS[])(Random*, Text*) = {change_word,        change_word, misspell_word, change_byte,
                                                      change_punctuation, drop_line,   double_line,   move_line,
                                                      cut_short,          indent_line};
  int count = pick(random, 3) > 0 ? 1 : 1 + (int)pick(random, 3);
  for (int i = 0; i < count && text->length > 0; i++) MUTATIONS[pick(random, COUNT(MUTATIONS))](random, text);
}

static inline uint64_t environment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

typedef struct {
  int good, bad;
} Tally;

#endif
