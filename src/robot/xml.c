#include "robot/xml.h"

#include <assert.h>
#include <expat.h>
#include <string.h>

#include "base/outside.h"

typedef struct {
  XmlDocument* document;
  XmlElement* open; /* innermost element that is not closed yet */
  int depth;
  const char* text;
  size_t length;
  SourcePosition place; /* line and column of the byte at index `counted` of the text */
  size_t counted;
  XML_Parser parser;
  Diagnostics* diagnostics;
  bool is_stopped; /* true if parsing was stopped after reporting the reason */
} Parsing;

/* Returns the present place, with columns counted in characters; expat counts bytes. Places must be requested in the
 * order of the text. */
static SourcePosition current_place(Parsing* parsing) {
  XML_Index at = XML_GetCurrentByteIndex(parsing->parser);
  size_t offset = at < 0 ? 0 : (size_t)at;
  if (offset > parsing->length) offset = parsing->length;
  for (; parsing->counted < offset; parsing->counted++)
    source_position_advance(&parsing->place, parsing->text + parsing->counted);
  return parsing->place;
}

static void stop_at(Parsing* parsing, SourcePosition place, const char* text) {
  if (!parsing->is_stopped) diagnostics_add(parsing->diagnostics, SEVERITY_ERROR, place, "%s", text);
  parsing->is_stopped = true;
  XML_StopParser(parsing->parser, XML_FALSE);
}

static void stop(Parsing* parsing, const char* text) { stop_at(parsing, current_place(parsing), text); }

static const char* advance_place(SourcePosition* place, const char* p) {
  source_position_advance(place, p);
  return p + 1;
}

/* Sets the places of the attribute values in a tag. expat has checked the tag, so its attributes follow in order as
 * name = "value" or name = 'value'. */
static void find_places(const Parsing* parsing, XmlElement* element) {
  SourcePosition place = element->place;
  const char *p = parsing->text + XML_GetCurrentByteIndex(parsing->parser), *end = parsing->text + parsing->length;
  for (int i = 0; i < element->attribute_count; i++) {
    while (p < end && *p != '"' && *p != '\'') p = advance_place(&place, p);
    if (p == end) return;
    char quote = *p;
    p = advance_place(&place, p);
    element->attributes[i].place = place;
    while (p < end && *p != quote) p = advance_place(&place, p);
    if (p < end) p = advance_place(&place, p);
  }
}

static const char* add_copy(char** at, const char* text) {
  size_t size = strlen(text) + 1;
  char* copy = memcpy(*at, text, size);
  *at += size;
  return copy;
}

/* Returns a new element, which the document owns. pairs: names and values of attributes, ending with NULL. */
static XmlElement* new_element(XmlDocument* document, const char* name, SourcePosition place,
                               const char* const* pairs) {
  XmlElement* element = MEMORY_NEW(XmlElement, 1);
  size_t size = strlen(name) + 1;
  int count = 0;
  for (; pairs[2 * count]; count++) size += strlen(pairs[2 * count]) + strlen(pairs[2 * count + 1]) + 2;
  element->texts = memory_alloc(size);
  element->attributes = MEMORY_NEW(XmlAttribute, count + 1);
  element->attribute_count = count;
  element->place = place;
  char* at = element->texts;
  element->name = add_copy(&at, name);
  for (int i = 0; i < count; i++) {
    element->attributes[i].name = add_copy(&at, pairs[2 * i]);
    element->attributes[i].value = add_copy(&at, pairs[2 * i + 1]);
    element->attributes[i].place = element->place;
  }
  element->previous_created = document->latest;
  document->latest = element;
  document->count++;
  return element;
}

static void on_start(void* context, const char* name, const char** pairs) {
  Parsing* parsing = context;
  XmlDocument* document = parsing->document;
  if (parsing->is_stopped) return;
  if (parsing->depth == XML_DEPTH_MAX || document->count == XML_ELEMENT_MAX) {
    stop(parsing, parsing->depth == XML_DEPTH_MAX
                      ? "elements are nested more than 64 levels deep: reduce the nesting"
                      : "the file has more than 1000000 elements: split the file or remove elements");
    return;
  }
  XmlElement* element = new_element(document, name, current_place(parsing), (const char* const*)pairs);
  find_places(parsing, element);
  for (int i = 0; i < element->attribute_count; i++)
    if (strcmp(element->attributes[i].name, "name") == 0 && text_find_control_character(element->attributes[i].value))
      stop_at(parsing, element->attributes[i].place, "a name must not have a control character: remove the character");
  if (parsing->open)
    xml_append(parsing->open, element);
  else
    document->root = element;
  parsing->open = element;
  parsing->depth++;
}

static void on_end(void* context, const char* name) {
  Parsing* parsing = context;
  (void)name;
  if (parsing->is_stopped) return;
  parsing->open = parsing->open->parent;
  parsing->depth--;
}

static void on_doctype(void* context, const char* name, const char* system_id, const char* public_id, int internal) {
  (void)name, (void)system_id, (void)public_id, (void)internal;
  Parsing* parsing = context;
  const char* start = strstr(parsing->text, "<!DOCTYPE"); /* the declaration continues at this place */
  size_t offset = start ? (size_t)(start - parsing->text) : 0;
  stop_at(parsing, source_position_at(parsing->place.file, parsing->text, offset),
          "a document type (DOCTYPE) is not supported: remove it");
}

/* Parses the text. Skips an XML declaration after blanks, because many URDF files begin with an empty line. Blanks
 * replace the declaration, so that offsets stay valid. */
static enum XML_Status parse_text(const Parsing* parsing) {
  size_t begin = strspn(parsing->text, " \t\r\n");
  const char* end = strstr(parsing->text + begin, "?>");
  enum XML_Status status = XML_STATUS_OK;
  if (begin == 0 || strncmp(parsing->text + begin, "<?xml", 5) != 0 || !end)
    return XML_Parse(parsing->parser, parsing->text, (int)parsing->length, XML_TRUE);
  size_t rest = (size_t)(end - parsing->text) + 2;
  for (size_t i = 0; i < rest && status == XML_STATUS_OK; i++)
    status = XML_Parse(parsing->parser, parsing->text[i] == '\n' ? "\n" : " ", 1, XML_FALSE);
  if (status != XML_STATUS_OK) return status;
  return XML_Parse(parsing->parser, parsing->text + rest, (int)(parsing->length - rest), XML_TRUE);
}

static bool parse(Parsing* parsing) {
  XML_SetUserData(parsing->parser, parsing);
  XML_SetElementHandler(parsing->parser, on_start, on_end);
  XML_SetStartDoctypeDeclHandler(parsing->parser, on_doctype);
  XML_SetParamEntityParsing(parsing->parser, XML_PARAM_ENTITY_PARSING_NEVER);
  enum XML_Status status = parse_text(parsing);
  if (status != XML_STATUS_OK && !parsing->is_stopped) {
    Text text = {0};
    text_add(&text, "not well-formed XML: %s", XML_ErrorString(XML_GetErrorCode(parsing->parser)));
    stop(parsing, text.data);
    text_free(&text);
  }
  return !parsing->is_stopped;
}

bool xml_read(XmlDocument* document, const char* source, const char* text, size_t length, Diagnostics* diagnostics) {
  assert(text[length] == 0);
  *document = (XmlDocument){0};
  if (!source_check_utf8(source, text, length, diagnostics)) return false;
  Parsing parsing = {.document = document, .text = text, .length = length, .diagnostics = diagnostics};
  parsing.place = (SourcePosition){source, 1, 1};
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
    parsing.counted = 3; /* the byte order mark does not count as a character */
  parsing.parser = XML_ParserCreate("UTF-8");
  bool good = parsing.parser && parse(&parsing) && document->root;
  if (parsing.parser) XML_ParserFree(parsing.parser);
  if (!good) xml_free(document);
  return good;
}

void xml_free(XmlDocument* document) {
  while (document->latest) {
    XmlElement* element = document->latest;
    document->latest = element->previous_created;
    memory_free(element->attributes);
    memory_free(element->texts);
    memory_free(element);
  }
  *document = (XmlDocument){0};
}

static const XmlElement* first_named(const XmlElement* element, const char* name) {
  while (element && strcmp(element->name, name) != 0) element = element->next;
  return element;
}

const XmlElement* xml_child(const XmlElement* parent, const char* name) { return first_named(parent->first, name); }

const XmlElement* xml_next(const XmlElement* element) { return first_named(element->next, element->name); }

const XmlAttribute* xml_attribute(const XmlElement* element, const char* name) {
  for (int i = 0; i < element->attribute_count; i++)
    if (strcmp(element->attributes[i].name, name) == 0) return &element->attributes[i];
  return NULL;
}

XmlElement* xml_make(XmlDocument* document, const char* name, SourcePosition place, const char* const* pairs) {
  return new_element(document, name, place, pairs);
}

static XmlElement* copy_element(XmlDocument* document, const XmlElement* from, const char* const* defaults,
                                XmlRewrite rewrite, void* context) {
  static const char* const NONE[] = {NULL};
  const char* const* added = defaults ? defaults : NONE;
  int count = from->attribute_count, extra = 0;
  while (added[2 * extra]) extra++;
  Text* values = MEMORY_NEW(Text, count + 1);
  const char** pairs = MEMORY_NEW(const char*, 2 * (count + extra) + 1);
  int used = count;
  for (int i = 0; i < count; i++) {
    text_add(&values[i], "%s", "");
    rewrite(&values[i], from, &from->attributes[i], context);
    pairs[2 * i] = from->attributes[i].name;
    pairs[2 * i + 1] = values[i].data;
  }
  for (int k = 0; k < extra; k++) {
    if (xml_attribute(from, added[2 * k])) continue;
    pairs[2 * used] = added[2 * k];
    pairs[2 * used + 1] = added[2 * k + 1];
    used++;
  }
  XmlElement* element = new_element(document, from->name, from->place, pairs);
  for (int i = 0; i < count; i++) element->attributes[i].place = from->attributes[i].place;
  for (int i = 0; i < count; i++) text_free(&values[i]);
  memory_free(values);
  memory_free(pairs);
  return element;
}

XmlElement* xml_copy(XmlDocument* document, const XmlElement* from, const char* const* defaults, XmlRewrite rewrite,
                     void* context) {
  XmlElement* element = copy_element(document, from, defaults, rewrite, context);
  for (const XmlElement* child = from->first; child; child = child->next)
    xml_append(element, xml_copy(document, child, NULL, rewrite, context));
  return element;
}

void xml_append(XmlElement* parent, XmlElement* child) {
  assert(!child->parent);
  child->parent = parent;
  child->next = NULL;
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
}

void xml_splice(XmlElement* old, XmlElement* previous, const XmlElement* container) {
  assert(container->first);
  XmlElement *parent = old->parent, *next = old->next, *first = container->first ? container->first : next;
  for (XmlElement* child = container->first; child; child = child->next) child->parent = parent;
  if (previous)
    previous->next = first;
  else
    parent->first = first;
  if (container->last) container->last->next = next;
  if (!next) parent->last = container->last ? container->last : previous;
}
