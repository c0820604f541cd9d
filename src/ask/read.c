/* Parses the questions of a file, including pairs of point sets. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "ask/reader.h"

/* Smallest range of the contact potential [m]. For smaller ranges its derivatives overflow. */
#define SUPPORT_MIN 1e-12
/* Contact laws whose potential a question about two point sets can request. */
static const struct {
  const char* name;
  ContactModel law;
} LAWS[] = {{"separating_plane", CONTACT_SEPARATING_PLANE}, {"long_range", CONTACT_LONG_RANGE}, {"ipc", CONTACT_IPC}};

/* ---------------------------------------------------------------- pairs */

static const char* const KEYS[] = {"a", "b", "support", "law"};
enum { KEY_A, KEY_B, KEY_SUPPORT, KEY_LAW, KEY_COUNT, KEY_REQUIRED = KEY_LAW };

static void read_law(QueryReader* reader, const cJSON* item, ContactModel* law) {
  for (size_t k = 0; cJSON_IsString(item) && k < sizeof LAWS / sizeof *LAWS; k++)
    if (strcmp(item->valuestring, LAWS[k].name) == 0) {
      *law = LAWS[k].law;
      return;
    }
  query_reader_error(reader, false, "must be separating_plane, long_range or ipc, got %.60s",
                     cJSON_IsString(item) ? item->valuestring : query_reader_kind_name(item));
}

static void read_member(QueryReader* reader, const cJSON* item, int key, void* context) {
  QueryPair* pair = context;
  if (key == KEY_A) query_reader_points(reader, item, &pair->a, &pair->a_count);
  if (key == KEY_B) query_reader_points(reader, item, &pair->b, &pair->b_count);
  if (key == KEY_SUPPORT) pair->support = query_reader_length(reader, item, SUPPORT_MIN, READER_COORDINATE_MAX);
  if (key == KEY_LAW) read_law(reader, item, &pair->law);
}

static void read_pair(QueryReader* reader, const cJSON* item, QueryPair* pair) {
  bool seen[KEY_COUNT] = {0};
  pair->law = CONTACT_SEPARATING_PLANE;
  query_reader_object(reader, item, KEYS, KEY_COUNT, read_member, pair, seen);
  for (int k = 0; k < KEY_REQUIRED; k++)
    if (!seen[k] && (k != KEY_SUPPORT || pair->law != CONTACT_LONG_RANGE))
      query_reader_error(reader, false, "the key '%s' is missing", KEYS[k]);
}

/* ---------------------------------------------------------------- questions */

/* Returns true if an item is a question about shapes: it has the key `method`, or it asks the previous question with a
 * method for other poses. In the second case it has neither `support` nor `law`. */
static bool is_shape_question(const cJSON* item, const QueryItem* last) {
  if (cJSON_HasObjectItem(item, "method")) return true;
  return last && last->method != QUERY_POTENTIAL && !cJSON_HasObjectItem(item, "support") &&
         !cJSON_HasObjectItem(item, "law");
}

static void read_item(QueryReader* reader, const cJSON* item, QueryList* list) {
  list->items = memory_grow_array(list->items, sizeof(QueryItem), list->count, &list->capacity);
  QueryItem* out = &list->items[list->count];
  const QueryItem* last = list->count > 0 ? out - 1 : NULL;
  *out = (QueryItem){.body = {-1, -1}};
  list->count++;
  if (!cJSON_IsObject(item))
    query_reader_error(reader, false, "expected a pair {\"a\": [...], \"b\": [...], \"support\": s}, got %s",
                       query_reader_kind_name(item));
  else if (is_shape_question(item, last))
    read_question(reader, item, list, last, out);
  else
    read_pair(reader, item, &out->pair);
}

static void read_document(QueryReader* reader, const cJSON* root, QueryList* list) {
  if (!cJSON_IsArray(root)) {
    read_item(reader, root, list);
    return;
  }
  int index = 0;
  for (const cJSON* child = root->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    text_add(&reader->trail, "pair %d", index);
    read_item(reader, child, list);
    query_reader_leave(reader, mark);
  }
}

/* ---------------------------------------------------------------- the text */

static Status report_syntax_error(const char* path, const char* text, const char* at, Diagnostics* diagnostics) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, source_position_at(path, text, at ? (size_t)(at - text) : 0),
                  "not valid JSON%s", at && *at ? " from here on" : ": the text ends too early");
  return STATUS_BAD_INPUT;
}

/* Skips the characters that cJSON treats as white space: all up to the code of ' '. */
static const char* skip_space(const char* text) {
  while (*text && (unsigned char)*text <= ' ') text++;
  return text;
}

/* Parses the JSON values of the text (length bytes), one after the other. */
static Status read_documents(QueryReader* reader, const char* text, size_t length, QueryList* list) {
  const char* at = text;
  do {
    const char* stopped = NULL;
    errno = 0;
    cJSON* root = cJSON_ParseWithLengthOpts(at, length + 1 - (size_t)(at - text), &stopped, false);
    if (!root && errno == ENOMEM) memory_report_exhausted(0);
    if (!root) return report_syntax_error(reader->file, text, stopped, reader->diagnostics);
    reader->text = at;
    read_document(reader, root, list);
    cJSON_Delete(root);
    at = skip_space(stopped);
  } while (*at);
  return STATUS_OK;
}

Status query_parse_line(QueryList* list, const char* path, const char* text, size_t length, bool rows,
                        Diagnostics* diagnostics) {
  assert(text && path);
  *list = (QueryList){0};
  if (strlen(text) != length) return report_syntax_error(path, text, text + strlen(text), diagnostics);
  QueryReader reader = {.file = path, .whole = text, .text = text, .diagnostics = diagnostics, .rows = rows};
  Status status = read_documents(&reader, text, length, list);
  text_free(&reader.trail);
  if (reader.problems > READER_ERRORS_MAX)
    diagnostics_add(diagnostics, SEVERITY_NOTE, (SourcePosition){path, 0, 0}, "%d more problems are not shown",
                    reader.problems - READER_ERRORS_MAX);
  return status != STATUS_OK || reader.problems > 0 ? STATUS_BAD_INPUT : STATUS_OK;
}

Status query_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics) {
  return query_parse_line(list, path, text, length, false, diagnostics);
}

void query_free(QueryList* list) {
  for (int i = 0; i < list->count; i++) {
    memory_free(list->items[i].pair.a);
    memory_free(list->items[i].pair.b);
  }
  for (int i = 0; i < list->body_count; i++) query_body_free(&list->bodies[i]);
  memory_free(list->items);
  memory_free(list->bodies);
  *list = (QueryList){0};
}
