#include <assert.h>
#include <string.h>

#include "base/base.h"

/* Largest table in which names_nearest searches, because it compares the text with all names. */
#define NEAREST_MAX 5000

/* Returns the 64-bit FNV-1a hash of a text. */
static uint64_t hash_fnv1a(const char* text) {
  uint64_t h = 14695981039346656037U;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211U;
  return h;
}

/* Returns the slot that contains a name, or the free slot in which the name can be stored. */
static int find_slot(const Names* names, const char* text) {
  assert(names->slot_count > names->count);
  int slot = (int)(hash_fnv1a(text) % (uint64_t)names->slot_count);
  while (names->slots[slot] >= 0 && strcmp(names->texts[names->slots[slot]], text) != 0)
    slot = (slot + 1) % names->slot_count;
  return slot;
}

/* Doubles the capacity of the table. At most half of the slots are used. */
static void grow_table(Names* names) {
  int capacity = names->capacity ? 2 * names->capacity : 16;
  names->texts = memory_resize(names->texts, sizeof(char*) * (size_t)names->capacity, sizeof(char*) * (size_t)capacity);
  names->values = memory_resize(names->values, sizeof(int) * (size_t)names->capacity, sizeof(int) * (size_t)capacity);
  names->capacity = capacity;
  memory_free(names->slots);
  names->slot_count = 2 * capacity;
  names->slots = MEMORY_NEW(int, names->slot_count);
  for (int i = 0; i < names->slot_count; i++) names->slots[i] = -1;
  for (int i = 0; i < names->count; i++) names->slots[find_slot(names, names->texts[i])] = i;
}

bool names_add(Names* names, const char* text, int value) {
  assert(text && value >= 0);
  if (names->count == names->capacity) grow_table(names);
  int slot = find_slot(names, text);
  if (names->slots[slot] >= 0) return false;
  names->texts[names->count] = text;
  names->values[names->count] = value;
  names->slots[slot] = names->count++;
  return true;
}

int names_find(const Names* names, const char* text) {
  if (names->count == 0) return -1;
  int index = names->slots[find_slot(names, text)];
  return index < 0 ? -1 : names->values[index];
}

const char* names_nearest(const Names* names, const char* text) {
  return names->count <= NEAREST_MAX ? text_nearest(text, names->texts, names->count) : NULL;
}

void names_free(Names* names) {
  memory_free(names->texts);
  memory_free(names->values);
  memory_free(names->slots);
  *names = (Names){0};
}
