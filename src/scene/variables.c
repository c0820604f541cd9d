/* Reads the scene's variables, which are named numbers. An expression may use the variables that stand before it. */
#include "scene/parts.h"

void read_variables(Reader* reader, const Node* map) {
  static const ValueRange ANY = {0};
  if (!map) return;
  size_t mark = reader_enter_key(reader, "variables");
  for (const Node* node = map->first; node; node = node->next) {
    double value = 0;
    size_t below = reader_enter_key(reader, node->key);
    bool good = reader_number(reader, node, &ANY, NULL, &value);
    if (good && !variables_add(&reader->variables, node->key, value))
      reader_error(reader, node_key_place(node),
                   "'%s' cannot name a variable: use letters, digits and _, begin with no digit, and use none of i, j, "
                   "k, n, pi, sqrt, sin, cos, tan, abs, min, max, floor",
                   text_excerpt(node->key).text);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}
