#include <assert.h>

#include "base/base.h"

void sets_separate(int* parent, int count) {
  for (int k = 0; k < count; k++) parent[k] = k;
}

int sets_root(int* parent, int member) {
  assert(member >= 0);
  while (parent[member] != member) member = parent[member] = parent[parent[member]];
  return member;
}

void sets_join(int* parent, int a, int b) {
  a = sets_root(parent, a);
  b = sets_root(parent, b);
  parent[a > b ? a : b] = a < b ? a : b;
}
