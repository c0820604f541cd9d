/* Lists the pair terms that act on each tree, so that trees can be processed independently. */
#include <assert.h>
#include <string.h>

#include "simulate/terms.h"

/* Returns the index of the link's tree in the scope; tree_count if the link cannot move; -1 if link < 0. */
static int scope_place(const Assembly* in, int link) {
  assert(link < in->model->link_count);
  if (link < 0) return -1;
  int tree = in->model->link_tree[link];
  return tree < 0 ? in->scope->tree_count : in->scope->place[tree];
}

static void reserve_terms(TreeTermLists* sides, int trees, int terms) {
  if (!sides->first || trees > sides->trees) {
    memory_free(sides->first);
    sides->first = MEMORY_NEW(int, trees + 2);
    sides->trees = trees;
    sides->sorted = -1;
  }
  if (2 * terms <= sides->capacity) return;
  memory_free(sides->items);
  sides->capacity = 3 * terms + 64;
  sides->items = MEMORY_NEW(int, sides->capacity);
}

static bool act_on_same_links(const ContactTerms* a, const ContactTerms* b) {
  return a->link_a == b->link_a && a->link_b == b->link_b;
}

/* Copies the terms of closures, tendons and bushings. Returns the number of all terms. Sets *same to true if there are
 * no contacts and the terms act on the same links as in the last call. */
static int copy_permanent_terms(const Assembly* in, TreeTermLists* sides, bool* same) {
  const ContactTermList* const lists[] = {&in->contact, &in->closures, &in->tendons, &in->bushings};
  for (int k = 0; k < 4; k++) sides->count[k] = lists[k]->holder ? lists[k]->count(lists[k]->holder) : 0;
  int count = sides->count[1] + sides->count[2] + sides->count[3], at = 0;
  *same = in->scope->whole && sides->count[0] == 0 && count == sides->sorted && sides->first;
  if (count == 0) return sides->count[0];
  if (count > sides->permanent_capacity) {
    memory_free(sides->permanent);
    sides->permanent = MEMORY_NEW(ContactTerms, count);
    sides->permanent_capacity = count;
  }
  for (int k = 1; k < 4; k++)
    for (int i = 0; i < sides->count[k]; i++, at++) {
      ContactTerms term = lists[k]->at(lists[k]->holder, i);
      *same = *same && act_on_same_links(&term, &sides->permanent[at]);
      sides->permanent[at] = term;
    }
  return sides->count[0] + count;
}

void assembly_list_tree_terms(const Assembly* in, TreeTermLists* sides) {
  assert(in->sides == sides);
  bool same;
  int trees = in->scope->tree_count, terms = copy_permanent_terms(in, sides, &same);
  if (same) return;
  reserve_terms(sides, trees, terms);
  memset(sides->first, 0, sizeof(int) * (size_t)(trees + 2));
  for (int k = 0; k < terms; k++) {
    ContactTerms term = assembly_term(in, k);
    int place[2] = {scope_place(in, term.link_a), scope_place(in, term.link_b)};
    for (int side = 0; side < 2; side++)
      if (place[side] >= 0) sides->first[place[side] + 1]++;
  }
  for (int k = 0; k <= trees; k++) sides->first[k + 1] += sides->first[k];
  int total = sides->first[trees + 1];
  for (int k = terms - 1; k >= 0; k--) { /* fills the list of each tree backwards: sides->first[place + 1] moves from
                                            the end of the list to its beginning */
    ContactTerms term = assembly_term(in, k);
    int place[2] = {scope_place(in, term.link_a), scope_place(in, term.link_b)};
    for (int side = 1; side >= 0; side--)
      if (place[side] >= 0) sides->items[--sides->first[place[side] + 1]] = 2 * k + side;
  }
  memmove(sides->first, sides->first + 1, sizeof(int) * (size_t)(trees + 1));
  sides->first[trees + 1] = total;
  sides->sorted = in->scope->whole && sides->count[0] == 0 ? terms : -1;
}

void tree_term_lists_free(TreeTermLists* sides) {
  memory_free(sides->first);
  memory_free(sides->items);
  memory_free(sides->permanent);
  *sides = (TreeTermLists){0};
}
