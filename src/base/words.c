#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

Excerpt text_excerpt(const char* text) {
  assert(text);
  Excerpt excerpt = {{0}};
  size_t length = strlen(text), limit = sizeof excerpt.text - 4, n = length < limit ? length : limit;
  if (n < length)
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--; /* the cut must not split a UTF-8 character */
  for (size_t i = 0; i < n; i++) excerpt.text[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
  if (n < length) memcpy(excerpt.text + n, "...", 4);
  return excerpt;
}

int words_count(const char* words) {
  int count = 1;
  for (; *words; words++) count += *words == '|';
  return count;
}

static const char* word_start(const char* words, int index) {
  assert(index < words_count(words));
  for (; index > 0; index--) words = strchr(words, '|') + 1;
  return words;
}

int words_index(const char* words, const char* word) {
  size_t length = strlen(word);
  for (int i = 0; i < words_count(words); i++) {
    const char* start = word_start(words, i);
    if (strcspn(start, "|") == length && strncmp(start, word, length) == 0) return i;
  }
  return -1;
}

Excerpt words_at(const char* words, int index) {
  assert(index >= 0 && index < words_count(words));
  const char* start = word_start(words, index);
  Excerpt word = {{0}};
  snprintf(word.text, sizeof word.text, "%.*s", (int)strcspn(start, "|"), start);
  return word;
}

int words_nearest(const char* words, const char* word) {
  int nearest = -1, best = 0;
  for (int i = 0; i < words_count(words); i++) {
    Excerpt one = words_at(words, i);
    const char* candidate = one.text;
    int distance = text_nearest(word, &candidate, 1) ? text_distance(word, candidate) : -1;
    if (distance < 0 || (nearest >= 0 && distance >= best)) continue;
    nearest = i;
    best = distance;
  }
  return nearest;
}

void words_add_enumeration(const char* words, Text* out) {
  int count = words_count(words);
  for (int i = 0; i < count; i++)
    text_add(out, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", words_at(words, i).text);
}
