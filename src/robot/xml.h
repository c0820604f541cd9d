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
  XmlElement *parent, *first, *last, *next; /* children from first through next */
  XmlElement* made_before;                  /* all elements of the document, the latest first */
  char* texts;                              /* owned: the name, then names and values of the attributes */
};

typedef struct {
  XmlElement *root, *latest;
  int count;
} XmlDocument;

/* Parse a whole UTF-8 text, NUL-terminated. source: the name for messages, which must outlive the tree. False after a
 * diagnostic with line and column: not UTF-8, not well formed, a DTD, a name with a control character, too deep, too
 * large. The document is then empty. text: (length) and a NUL; it is copied. */
bool xml_read(XmlDocument* document, const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees all elements and their texts and leaves a zeroed document; accepts a zeroed one. */
void xml_free(XmlDocument* document);

/* The first child of that name, or the next after it; NULL when there is none. Borrowed from the document, as all
 * elements here. */
const XmlElement* xml_child(const XmlElement* parent, const char* name);
/* The next element of the same name and parent behind this one; NULL when there is none. */
const XmlElement* xml_next(const XmlElement* element);
/* The attribute of that name, borrowed from the element; NULL when absent. */
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
/* The child, without a parent so far, becomes the parent's last; both stay the document's. */
void xml_append(XmlElement* parent, XmlElement* child);
/* Replaces `old`, the child after `before` (NULL: the first), by the children of `container` (at least one). old and
 * container remain in the document, unused. */
void xml_splice(XmlElement* old, XmlElement* before, const XmlElement* container);

#endif
