#include "scene/alias.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"

typedef struct {
  const char *object, *old, *present;
} Alias;

static const Alias KEYS[] = {
    {"contact", "support", "barrier_distance"},
    {"contact_pair", "support", "barrier_distance"},
    {"schedule", "contact.support", "contact.barrier_distance"},
};
static const Alias WORDS[] = {
    {NULL, "support", "barrier_distance"},
    {NULL, "spring", "joint_stiffness"},
    {NULL, "dry_friction", "joint_friction"},
    {NULL, "tendon_rest", "tendon_rest_length"},
};
#define KEY_COUNT ((int)(sizeof KEYS / sizeof *KEYS))
#define WORD_COUNT ((int)(sizeof WORDS / sizeof *WORDS))

const char* alias_key(const char* object, const char* key) {
  for (int i = 0; i < KEY_COUNT; i++)
    if (strcmp(KEYS[i].object, object) == 0 && strcmp(KEYS[i].old, key) == 0) return KEYS[i].present;
  return key;
}

const char* alias_old_key(const char* object, int index) {
  assert(index >= 0);
  for (int i = 0; i < KEY_COUNT; i++)
    if (strcmp(KEYS[i].object, object) == 0 && index-- == 0) return KEYS[i].old;
  return NULL;
}

const char* alias_word(const char* words, const char* word) {
  assert(words && word);
  if (words_index(words, word) >= 0) return word;
  for (int i = 0; i < WORD_COUNT; i++)
    if (strcmp(WORDS[i].old, word) == 0 && words_index(words, WORDS[i].present) >= 0) return WORDS[i].present;
  return word;
}
