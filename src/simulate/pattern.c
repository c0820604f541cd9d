/* Sparsity pattern of the step's matrix: the pairs of trees that contacts, closures, tendons or bushings couple
 * (docs/derivations/step.md, S8). */
#include <stdlib.h>

#include "simulate/bushings.h"
#include "simulate/tendons.h"

/* Returns an array for `count` new keys, each the pair of indices of two trees. The Sim owns the array. */
static uint64_t* reserve_new_couplings(Sim* s, int count) {
  if (count > s->pattern.fresh_capacity) {
    int capacity = count + count / 2 + 16;
    s->pattern.fresh_couplings =
        memory_resize(s->pattern.fresh_couplings, sizeof(uint64_t) * (size_t)s->pattern.fresh_capacity,
                      sizeof(uint64_t) * (size_t)capacity);
    s->pattern.fresh_capacity = capacity;
  }
  return s->pattern.fresh_couplings;
}

/* Appends the key of the trees of two links to `keys` if both trees can move and differ. The key holds the indices of
 * the trees in the scope. Returns the new count. */
static int append_tree_pair(const Sim* s, int link_a, int link_b, uint64_t* keys, int count) {
  int a = s->model->link_tree[link_a], b = s->model->link_tree[link_b];
  if (a < 0 || b < 0 || a == b) return count;
  a = s->scope.place[a];
  b = s->scope.place[b];
  keys[count] = a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
  return count + 1;
}

/* Appends the keys of closures, tendons and bushings. keys must have room for count_permanent_pairs(s) more. Returns
 * the new count. */
static int append_permanent_pairs(const Sim* s, uint64_t* keys, int count) {
  for (int k = 0; s->closures && k < s->closures->pair_count; k++) keys[count++] = s->closures->pairs[k];
  for (int k = 0; s->tendons && k < s->tendons->pair_count; k++) keys[count++] = s->tendons->pairs[k];
  for (int k = 0; s->bushings && k < s->bushings->pair_count; k++) keys[count++] = s->bushings->pairs[k];
  return count;
}
static int count_permanent_pairs(const Sim* s) {
  return (s->closures ? s->closures->pair_count : 0) + (s->tendons ? s->tendons->pair_count : 0) +
         (s->bushings ? s->bushings->pair_count : 0);
}

/* Sorts the keys of pairs of trees. The keys of a scene of single bodies are in order already. */
static void sort_keys(uint64_t* keys, int count) {
  int sorted = 1;
  while (sorted < count && keys[sorted - 1] <= keys[sorted]) sorted++;
  if (sorted < count) qsort(keys, (size_t)count, sizeof(uint64_t), compare_uint64);
}

/* Sorts the keys and removes duplicates and keys that the pattern already contains. Returns the number of remaining
 * keys. */
static int find_new_pairs(const Sim* s, uint64_t* keys, int count) {
  sort_keys(keys, count);
  int left = 0, j = 0;
  for (int k = 0; k < count; k++) {
    while (j < s->pattern.known_couplings && s->pattern.couplings[j] < keys[k]) j++;
    bool known = j < s->pattern.known_couplings && s->pattern.couplings[j] == keys[k];
    if (!known && (left == 0 || keys[left - 1] != keys[k])) keys[left++] = keys[k];
  }
  return left;
}

/* Adds the keys that the pattern lacks. Unused keys remain in the pattern, so that the pattern rarely changes while
 * bodies move. */
static void merge_new_pairs(Sim* s, uint64_t* keys, int count) {
  int fresh = find_new_pairs(s, keys, count);
  if (fresh == 0 && s->pattern.is_set) return;
  int total = s->pattern.known_couplings + fresh;
  if (total > s->pattern.capacity) {
    int capacity = total + total / 2 + 16;
    s->pattern.couplings = memory_resize(s->pattern.couplings, sizeof(uint64_t) * (size_t)s->pattern.capacity,
                                         sizeof(uint64_t) * (size_t)capacity);
    s->pattern.capacity = capacity;
  }
  for (int old = s->pattern.known_couplings, k = total; fresh > 0; k--) { /* merges both lists in place, from the end */
    bool known = old > 0 && s->pattern.couplings[old - 1] > keys[fresh - 1];
    s->pattern.couplings[k - 1] = known ? s->pattern.couplings[--old] : keys[--fresh];
  }
  s->pattern.known_couplings = total;
  s->pattern.is_set = true;
  block_solver_pattern(s->solver, s->pattern.couplings, total);
  for (int n = 0; n < s->scope.tree_count; n++) s->marks.stale_blocks[n] = true;
}

void step_update_pattern(Sim* s) {
  int version = s->contact ? contact_version(s->contact) : 0;
  if (version == s->pattern.version) return;
  int count = 0, candidates = s->contact ? contact_candidate_count(s->contact) : 0;
  uint64_t* keys = reserve_new_couplings(s, candidates + count_permanent_pairs(s));
  count = append_permanent_pairs(s, keys, count);
  for (int k = 0; k < candidates; k++) {
    int a, b;
    contact_candidate(s->contact, k, &a, &b);
    count = append_tree_pair(s, a, b, keys, count);
  }
  merge_new_pairs(s, keys, count);
  s->pattern.version = version;
}

void step_extend_pattern(Sim* s, ContactTermList contact) {
  int count = 0, terms = contact.holder ? contact.count(contact.holder) : 0;
  uint64_t* keys = reserve_new_couplings(s, terms + count_permanent_pairs(s));
  count = append_permanent_pairs(s, keys, count);
  for (int k = 0; k < terms; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    count = append_tree_pair(s, t.link_a, t.link_b, keys, count);
  }
  merge_new_pairs(s, keys, count);
}
