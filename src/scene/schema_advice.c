#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/outside.h"
#include "scene/schema.h"

/* A word of another program or a frequent mistake, and the corresponding words of this program, the most probable
 * first. */
typedef struct {
  const char *word, *meant;
} Synonym;

static const Synonym KEYS[] = {
    {"half_size", "size"},
    {"half_extents", "size"},
    {"half_extent", "size"},
    {"kp", "position_gain"},
    {"stiff", "position_gain|stiffness"},
    {"gain", "position_gain"},
    {"kd", "damping_gain|velocity_gain"},
    {"kv", "damping_gain|velocity_gain"},
    {"pos", "position|coordinates"},
    {"xyz", "position"},
    {"origin", "position"},
    {"translation", "position"},
    {"quat", "rotation"},
    {"quaternion", "rotation"},
    {"orientation", "rotation"},
    {"euler", "rpy|rotation"},
    {"rpy", "rotation"},
    {"vel", "velocities"},
    {"velocity", "velocities"},
    {"qpos", "coordinates"},
    {"qvel", "velocities"},
    {"angle", "coordinates"},
    {"angles", "coordinates"},
    {"mu", "friction"},
    {"kappa", "stiffness"},
    {"timestep", "dt"},
    {"time_step", "dt"},
    {"time", "duration"},
    {"length_of_run", "duration"},
    {"range", "limits"},
    {"limit", "limits"},
    {"lower", "limits"},
    {"upper", "limits"},
    {"torque_limit", "max_force"},
    {"force_limit", "max_force"},
    {"effort", "max_force"},
    {"rgba", "color"},
    {"colour", "color"},
    {"geom", "shape|shapes"},
    {"geoms", "shapes"},
    {"geometry", "shape|shapes"},
    {"bodies", "links"},
    {"body", "link|links"},
    {"joint", "link"},
    {"objects", "links"},
    {"com", "center"},
    {"motors", "controllers"},
    {"motor", "controllers|link"},
    {"actuators", "controllers"},
    {"actuator", "controllers"},
    {"drives", "controllers"},
    {"servos", "controllers"},
    {"speed", "target|velocities"},
    {"setpoint", "target"},
    {"cost", "loss"},
    {"costs", "loss"},
    {"objective", "loss"},
    {"objectives", "loss"},
    {"mode", "type"},
    {"kind", "type"},
    {"signal", "target"},
    {"static", "fixed"},
    {"offset", "offsets|position"},
    {"spacing", "position"},
    {"soft_start", "ramp"},
    {"fade_in", "ramp"},
    {"envelope", "ramp"},
    {"learning_rate", "design_step|control_step"},
    {"lr", "design_step|control_step"},
    {"step_size", "design_step|control_step"},
};

static const Synonym CHOICES[] = {
    {"cube", "box"},
    {"cuboid", "box"},
    {"ball", "sphere"},
    {"plane", "half_space"},
    {"ground", "half_space"},
    {"floor", "half_space"},
    {"hull", "points"},
    {"convex", "points"},
    {"hfield", "height_field"},
    {"ellipsoid", "superellipsoid"},
    {"cone", "truncated_cone"},
    {"revolute", "hinge"},
    {"continuous", "hinge"},
    {"rotational", "hinge"},
    {"pin", "hinge"},
    {"prismatic", "slide"},
    {"linear", "slide"},
    {"spherical", "ball"},
    {"floating", "free"},
    {"freejoint", "free"},
    {"weld", "fixed"},
    {"static", "fixed"},
    {"position", "pd"},
    {"servo", "pd"},
    {"motor", "torque"},
    {"force", "torque"},
    {"sine", "sines"},
    {"sinusoid", "sines"},
    {"table", "csv"},
    {"sgd", "gradient"},
    {"gradient_descent", "gradient"},
    {"bfgs", "lbfgs"},
    {"cma", "cma_es"},
    {"cmaes", "cma_es"},
    {"piecewise_linear", "keyframes"},
    {"polyline", "keyframes"},
    {"waypoints", "keyframes"},
    {"bdf1", "first_order"},
    {"implicit_euler", "first_order"},
    {"euler", "first_order"},
    {"bdf2", "second_order"},
};

/* Keys that users often write into the wrong object, and advice about the section that has these keys. */
typedef struct {
  const char *object, *words, *place;
} Elsewhere;

static const Elsewhere PLACES[] = {
    {"link", "velocity|velocities|initial_velocity|linear_velocity|angular_velocity|qvel|initial",
     "initial: [{link: NAME, velocities: [...]}]"},
    {"joint", "velocity|velocities|initial_velocity|qvel", "initial: [{link: NAME, velocities: [...]}]"},
    {"joint", "coordinate|coordinates|initial|initial_position|angle|qpos",
     "initial: [{link: NAME, coordinates: [...]}]"},
    {"joint", "controller|motor|actuator|drive|target", "controllers: [{link: NAME, type: pd, ...}]"},
};

/* Returns the section that has a key which users often write into another object. Returns NULL if the table has no
 * advice. */
static const char* advised_section(const SchemaObject* object, const char* key) {
  for (size_t k = 0; k < sizeof PLACES / sizeof PLACES[0]; k++)
    if (strcmp(PLACES[k].object, object->name) == 0 && words_index(PLACES[k].words, key) >= 0) return PLACES[k].place;
  return NULL;
}

/* Returns the candidate that is the most probable synonym of a word, or NULL if there is none. */
static const char* find_synonym(const Synonym* rows, size_t row_count, const char* word, const char* const* candidates,
                                int count) {
  const char* best = NULL;
  int best_rank = INT_MAX;
  for (size_t s = 0; s < row_count; s++) {
    if (strcmp(rows[s].word, word) != 0) continue;
    for (int i = 0; i < count; i++) {
      int rank = words_index(rows[s].meant, candidates[i]);
      if (rank >= 0 && rank < best_rank) best = candidates[i], best_rank = rank;
    }
  }
  return best;
}

/* Sets keys[] to the keys that an object of a given type may have. Returns their number. */
static int list_keys(const SchemaTable* table, const SchemaObject* object, const char* type,
                     const char* keys[SCHEMA_ROWS_MAX]) {
  SchemaMember places[SCHEMA_ROWS_MAX];
  int rows = schema_rows(table, object, places), count = 0;
  for (int i = 0; i < rows; i++)
    if (schema_row_allows_type(places[i].row, type)) keys[count++] = places[i].row->key;
  return count;
}

/* Returns the top-level section whose object has a key. Returns NULL if there is none, or if `object` is not the root
 * of the file. */
static const char* find_section_with_key(const SchemaTable* table, const SchemaObject* object, const char* key) {
  if (strcmp(object->name, table->root) != 0) return NULL;
  SchemaMember places[SCHEMA_ROWS_MAX];
  int count = schema_rows(table, object, places);
  for (int i = 0; i < count; i++) {
    const SchemaRow* row = places[i].row;
    if (row->kind == VALUE_OBJECT && schema_row(table, schema_object(table, row->of), key, NULL)) return row->key;
  }
  return NULL;
}

/* Returns true if a top-level key belongs in a file that this file names, such as a key of a scene in a task. */
static bool is_key_of_embedded_file(const SchemaTable* table, const SchemaObject* object, const char* key) {
  const SchemaTable* inner = table->embeds;
  return inner && strcmp(object->name, table->root) == 0 &&
         schema_row(inner, schema_object(inner, inner->root), key, NULL);
}

/* Returns true if a word is the beginning or end of a key, separated by an underscore, such as damping in damping_gain.
 */
static bool is_prefix_or_suffix(const char* word, const char* key) {
  size_t length = strlen(word), whole = strlen(key);
  if (length == 0 || whole < length + 2) return false;
  bool begins = strncmp(word, key, length) == 0 && key[length] == '_';
  return begins || (strcmp(word, key + whole - length) == 0 && key[whole - length - 1] == '_');
}

/* Returns the only key that begins or ends with a word (is_prefix_or_suffix). Returns NULL if no key does, or several
 * do. */
static const char* find_key_with_part(const char* word, const char* const* keys, int count) {
  const char* found = NULL;
  for (int i = 0; i < count; i++) {
    if (!is_prefix_or_suffix(word, keys[i])) continue;
    if (found) return NULL;
    found = keys[i];
  }
  return found;
}

/* Largest number of keys that advice lists in full. */
enum { LISTED_KEYS_MAX = 6 };

void schema_add_key_advice(const SchemaTable* table, const SchemaObject* object, const char* type, const char* key,
                           Text* out) {
  assert(object && key && out);
  const char* keys[SCHEMA_ROWS_MAX];
  int count = list_keys(table, object, type, keys);
  const char* place = advised_section(object, key);
  if (place) {
    text_add(out, " (write %s at the top level of the file)", place);
    return;
  }
  const char* meant = find_synonym(KEYS, sizeof KEYS / sizeof KEYS[0], key, keys, count);
  const char* section = meant ? NULL : find_section_with_key(table, object, key);
  bool embedded = !meant && !section && is_key_of_embedded_file(table, object, key);
  if (!meant && !section && !embedded) meant = text_nearest(key, keys, count);
  if (!meant && !section && !embedded) meant = find_key_with_part(key, keys, count);
  if (meant && strncmp(key, "half_", 5) == 0 && type && strcmp(type, "box") == 0) {
    text_add(out, " (did you mean '%s'? Give full edge lengths, which are twice these numbers)", meant);
  } else if (meant) {
    text_add(out, "%s", text_suggestion(meant).text);
  } else if (embedded) {
    text_add(out, " (for a key of the scene, write --set scene.%s...)", key);
  } else if (section) {
    text_add(out, " (the key belongs to '%s': write %s.%s)", section, section, key);
  } else if (count <= LISTED_KEYS_MAX) {
    for (int i = 0; i < count; i++)
      text_add(out, "%s%s", i == 0 ? " (there are " : i + 1 < count ? ", " : " and ", keys[i]);
    if (count > 0) text_add(out, ")");
  }
}

/* Largest number of words of a choice for which advice is given. */
enum { CHOICES_MAX = 64 };

void schema_add_choice_advice(const char* words, const char* word, Text* out) {
  assert(words && word && out);
  Excerpt copies[CHOICES_MAX];
  const char* candidates[CHOICES_MAX];
  int count = words_count(words) < CHOICES_MAX ? words_count(words) : CHOICES_MAX;
  for (int i = 0; i < count; i++) copies[i] = words_at(words, i), candidates[i] = copies[i].text;
  const char* meant = find_synonym(CHOICES, sizeof CHOICES / sizeof CHOICES[0], word, candidates, count);
  if (!meant) meant = text_nearest(word, candidates, count);
  if (meant) text_add(out, "%s", text_suggestion(meant).text);
}
