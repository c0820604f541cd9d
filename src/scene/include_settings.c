/* Writes notes about settings of an included file that have no effect in the including scene. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scene/parts.h"

/* Largest number of settings that one note lists. */
enum { SETTINGS_LISTED_MAX = 8 };

/* Appends the text of a scalar to `out`, or a list of scalars as [1, 2, 3]. */
static void add_value(Text* out, const Node* node) {
  if (node->kind == NODE_SCALAR) {
    text_add(out, "%s", text_excerpt(node->text).text);
    return;
  }
  text_add(out, "[");
  for (const Node* item = node->first; item; item = item->next)
    text_add(out, "%s%s", item == node->first ? "" : ", ",
             item->kind == NODE_SCALAR ? text_excerpt(item->text).text : "...");
  text_add(out, "]");
}

/* Returns true if two texts are equal or are the same number. */
static bool same_value(const char* a, const char* b) {
  char *end_a, *end_b;
  if (strcmp(a, b) == 0) return true;
  double x = strtod(a, &end_a), y = strtod(b, &end_b);
  return end_a != a && end_b != b && !*end_a && !*end_b && x == y;
}

/* Returns true if a key of the section `simulation` or `contact` changes the motion. Length, output and solver settings
 * are always taken from the including scene. The lists `exclude` and `pairs` are merged, so they need no note. */
static bool changes_motion(const char* section, const char* key) {
  if (strcmp(section, "simulation") == 0) return words_index("dt|gravity|integrator", key) >= 0;
  return words_index("exclude|pairs", key) < 0;
}

/* Appends the settings of a section that have no effect: the included file `part` gives them, they differ from the
 * default, and the including file `outer` lacks them. count: number of settings that `out` already has. Returns the new
 * number. */
static int add_section(Text* out, const Node* part, const Node* outer, const char* section, int count) {
  const Node *given = node_find(part, section), *outer_section = outer ? node_find(outer, section) : NULL;
  const SchemaObject* object = schema_object(&SCENE_SCHEMA, section);
  if (!given || given->kind != NODE_MAP) return count;
  for (const Node* item = given->first; item; item = item->next) {
    const SchemaRow* row = schema_row(&SCENE_SCHEMA, object, item->key, NULL);
    if (!row || !changes_motion(section, item->key) || node_is_null(item) || item->kind == NODE_MAP) continue;
    if (outer_section && outer_section->kind == NODE_MAP && node_find(outer_section, item->key)) continue;
    Text value = {0};
    add_value(&value, item);
    if (!row->fallback || !same_value(value.data, row->fallback)) {
      if (count < SETTINGS_LISTED_MAX)
        text_add(out, "%s%s.%s: %s", count > 0 ? ", " : "", section, item->key, value.data);
      else if (count == SETTINGS_LISTED_MAX)
        text_add(out, ", ...");
      count++;
    }
    text_free(&value);
  }
  return count;
}

static bool is_already_reported(const Diagnostics* diagnostics, const char* path, const char* text) {
  for (int i = 0; i < diagnostics->count; i++)
    if (strcmp(diagnostics->items[i].text, text) == 0 && strcmp(diagnostics->items[i].file, path) == 0) return true;
  return false;
}

void report_unused_settings(const Node* part, const Node* outer, const char* path, Diagnostics* diagnostics) {
  assert(part && path);
  if (part->kind != NODE_MAP) return;
  Text settings = {0}, message = {0};
  int count = add_section(&settings, part, outer, "simulation", 0);
  count = add_section(&settings, part, outer, "contact", count);
  text_add(&message,
           "settings of an included file have no effect; to use a setting, write its key in the including scene: %s",
           count > 0 ? settings.data : "");
  if (count > 0 && !is_already_reported(diagnostics, path, message.data))
    diagnostics_add(diagnostics, SEVERITY_NOTE, (SourcePosition){path, 0, 0}, "%s", message.data);
  text_free(&settings);
  text_free(&message);
}
