/* xml: parses an XML text with expat into a tree of elements with attributes. Each element and attribute has its place
 * in the text. Text between elements is ignored, because the robot formats use attributes only. DTDs are rejected, so
 * the only entities are the five of XML. An XmlDocument owns its elements and texts. xml_free accepts a zeroed
 * document. */
#ifndef SDRS_ROBOT_XML_H
#define SDRS_ROBOT_XML_H

#include "base/base.h"

enum { XML_DEPTH_MAX = 64, XML_ELEMENT_MAX = 1000000 };

typedef struct {
  const char *name, *value; /* value with entities replaced */
  SourcePosition place;     /* place of the value's first character */
} XmlAttribute;

typedef struct XmlElement XmlElement;
struct XmlElement {
  const char* name;
  SourcePosition place; /* place of the element's '<' */
  XmlAttribute* attributes;
  int attribute_count;
  XmlElement *parent, *first, *last, *next; /* NULL if there is none; first, last: children; next: sibling */
  XmlElement* previous_created;             /* element created before; links all elements of the document in a list */
  char* texts; /* owned characters: name of the element, then names and values of its attributes */
};

typedef struct {
  XmlElement *root, *latest;
  int count;
} XmlDocument;

/* Parses a UTF-8 text of `length` bytes that ends with NUL. The text is copied. source: name of the file for messages,
 * which must outlive the tree. Returns false, with an empty document and a diagnostic with line and column, if the text
 * is not XML in UTF-8, contains a DTD or a name with a control character, or exceeds XML_DEPTH_MAX or XML_ELEMENT_MAX.
 */
bool xml_read(XmlDocument* document, const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees all elements and texts of the document and zeroes it. Accepts a zeroed document. */
void xml_free(XmlDocument* document);

/* Returns the first child element with this name, or NULL if there is none. The document owns all elements. */
const XmlElement* xml_child(const XmlElement* parent, const char* name);
/* Returns the next sibling with the same name, or NULL if there is none. */
const XmlElement* xml_next(const XmlElement* element);
/* Returns the attribute with this name, borrowed from the element, or NULL if it is absent. */
const XmlAttribute* xml_attribute(const XmlElement* element, const char* name);

/* Callback of xml_copy: appends the new value of an attribute of `element` to `out`. */
typedef void (*XmlRewrite)(Text* out, const XmlElement* element, const XmlAttribute* attribute, void* context);
/* Returns a new element without parent and children. pairs: names and values of its attributes, ending with NULL.
 * Copies all texts. Attributes have the place of the element. The document owns the element. */
XmlElement* xml_make(XmlDocument* document, const char* name, SourcePosition place, const char* const* pairs);
/* Returns a copy of an element and its descendants, without parent and with the same places. defaults: names and
 * values, ending with NULL, of attributes that the copy gets if the element lacks them; may be NULL. rewrite sets the
 * value of every attribute and receives `context`. The document owns the copy. */
XmlElement* xml_copy(XmlDocument* document, const XmlElement* from, const char* const* defaults, XmlRewrite rewrite,
                     void* context);
/* Appends `child`, which must have no parent, to the children of `parent`. The document owns both. */
void xml_append(XmlElement* parent, XmlElement* child);
/* Replaces the element `old` by the children of `container`, at least one. previous: previous sibling of old, or NULL
 * if old is the first child. old and container remain in the document without use. */
void xml_splice(XmlElement* old, XmlElement* previous, const XmlElement* container);

#endif
