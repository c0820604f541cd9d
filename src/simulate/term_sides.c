/* Which terms of pairs act on which tree, so that every tree can be looked at by itself. */
#include <string.h>

#include "simulate/terms.h"

/* The number of a link's tree, that behind all trees if it cannot move, -1 for no link. */
static int place_of(const Model* m, int link) {
  if (link < 0) return -1;
  return m->link_tree[link] < 0 ? m->tree_count : m->link_tree[link];
}

ContactTerms assembly_term(const Assembly* in, int index) {
  const ContactTermList* const lists[] = {&in->contact, &in->closures, &in->tendons};
  int list = 0;
  while (list < 2 && index >= in->sides->count[list]) index -= in->sides->count[list++];
  return lists[list]->at(lists[list]->holder, index);
}

static void make_room(TermSides* sides, int trees, int terms) {
  if (!sides->first) sides->first = MEMORY_NEW(int, trees + 2);
  if (2 * terms <= sides->capacity) return;
  memory_free(sides->items);
  sides->capacity = 3 * terms + 64;
  sides->items = MEMORY_NEW(int, sides->capacity);
}

void assembly_find_sides(const Assembly* in, TermSides* sides) {
  const ContactTermList* const lists[] = {&in->contact, &in->closures, &in->tendons};
  int trees = in->model->tree_count, terms = 0;
  for (int k = 0; k < 3; k++) terms += sides->count[k] = lists[k]->holder ? lists[k]->count(lists[k]->holder) : 0;
  make_room(sides, trees, terms);
  memset(sides->first, 0, sizeof(int) * (size_t)(trees + 2));
  for (int k = 0; k < terms; k++) {
    ContactTerms term = assembly_term(in, k);
    int place[2] = {place_of(in->model, term.link_a), place_of(in->model, term.link_b)};
    for (int side = 0; side < 2; side++)
      if (place[side] >= 0) sides->first[place[side] + 1]++;
  }
  for (int k = 0; k <= trees; k++) sides->first[k + 1] += sides->first[k];
  int total = sides->first[trees + 1];
  for (int k = terms - 1; k >= 0; k--) { /* from behind: the ends become the beginnings */
    ContactTerms term = assembly_term(in, k);
    int place[2] = {place_of(in->model, term.link_a), place_of(in->model, term.link_b)};
    for (int side = 1; side >= 0; side--)
      if (place[side] >= 0) sides->items[--sides->first[place[side] + 1]] = 2 * k + side;
  }
  memmove(sides->first, sides->first + 1, sizeof(int) * (size_t)(trees + 1));
  sides->first[trees + 1] = total;
}

void sides_free(TermSides* sides) {
  memory_free(sides->first);
  memory_free(sides->items);
  *sides = (TermSides){0};
}
