/* xml: a text as a tree of elements with attributes, each with its place (uses expat). Text between elements is
 * ignored: the formats read here use attributes only. DTDs are refused, so the only entities are XML's own five. An
 * XmlDocument owns all its elements and texts; xml_free accepts a zeroed one. */
#ifndef SDRS_ROBOT_XML_H
#define SDRS_ROBOT_XML_H

#include "base/base.h"

enum { XML_DEPTH_MAX = 64, XML_ELEMENT_MAX = 1000000 };

typedef struct {
  const char *name, *value; /* value with entities replaced */
  SourcePlace place;        /* of the value's first character */
} XmlAttribute;

typedef struct XmlElement XmlElement;
struct XmlElement {
  const char* name;
  SourcePlace place; /* of its '<' */
  XmlAttribute* attributes;
  int attribute_count;
  XmlElement *parent, *first, *last, *next; /* first and last child; next sibling */
  XmlElement* made_before;                  /* element created before this one: list of all elements of the document */
  char* texts;                              /* owned: the name, then names and values of the attributes */
};

typedef struct {
  XmlElement *root, *latest;
  int count;
} XmlDocument;

/* Parses a UTF-8 text of `length` bytes followed by NUL, which is copied. source: name for messages, must outlive the
 * tree. Returns false, with an empty document and a diagnostic with line and column, for a text that is not UTF-8 or
 * not well formed, has a DTD or a name with a control character, or is too deep or too large. */
bool xml_read(XmlDocument* document, const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees all elements and their texts and zeroes the document. Accepts a zeroed document. */
void xml_free(XmlDocument* document);

/* Returns the first child of that name; NULL if there is none. Borrowed from the document, as all elements here. */
const XmlElement* xml_child(const XmlElement* parent, const char* name);
/* Returns the next sibling of the same name; NULL if there is none. */
const XmlElement* xml_next(const XmlElement* element);
/* Returns the attribute of that name, borrowed from the element; NULL if absent. */
const XmlAttribute* xml_attribute(const XmlElement* element, const char* name);

/* ---------------------------------------------------------------- changing a tree */

/* Appends the attribute's value for a copy to `out`. */
typedef void (*XmlRewrite)(Text* out, const XmlElement* element, const XmlAttribute* attribute, void* context);
/* Returns a new element of the document without parent and children; pairs: names and values of its attributes, then
 * NULL. All texts are copied; the document owns the element. Its attributes have the place of the element. */
XmlElement* xml_make(XmlDocument* document, const char* name, SourcePlace place, const char* const* pairs);
/* Returns a copy of the element and its descendants, without parent, with the same places. more: pairs as of xml_make
 * that the element gets where it lacks them; may be NULL. rewrite is called for every attribute with context. */
XmlElement* xml_copy(XmlDocument* document, const XmlElement* from, const char* const* more, XmlRewrite rewrite,
                     void* context);
/* Appends a child, which must have no parent, to the parent's children. The document still owns both. */
void xml_append(XmlElement* parent, XmlElement* child);
/* Replaces `old`, the child after `before` (NULL: the first), by the children of `container` (at least one). old and
 * container remain in the document, unused. */
void xml_splice(XmlElement* old, XmlElement* before, const XmlElement* container);

#endif
