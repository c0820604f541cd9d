#include <assert.h>

#include "base/base.h"

void disjoint_sets_init(int* parent, int count) {
  assert(parent || count == 0);
  for (int k = 0; k < count; k++) parent[k] = k;
}

int disjoint_sets_find(int* parent, int member) {
  assert(member >= 0);
  while (parent[member] != member) member = parent[member] = parent[parent[member]];
  return member;
}

void disjoint_sets_unite(int* parent, int a, int b) {
  assert(a >= 0 && b >= 0);
  a = disjoint_sets_find(parent, a);
  b = disjoint_sets_find(parent, b);
  parent[a > b ? a : b] = a < b ? a : b;
}
