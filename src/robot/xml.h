/* xml: an XML text as a tree of elements with attributes (uses expat). Each element and attribute has its place in the
 * text. Text between elements is ignored, because the robot formats use attributes only. DTDs are rejected, so the only
 * entities are the five of XML. An XmlDocument owns all its elements and texts. xml_free accepts a zeroed document. */
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
  XmlElement *parent, *first, *last, *next; /* first and last child; next sibling */
  XmlElement* made_before; /* element created before this element; links all elements of the document in a list */
  char* texts;             /* owned characters: the name of the element, then names and values of its attributes */
};

typedef struct {
  XmlElement *root, *latest;
  int count;
} XmlDocument;

/* Parses a UTF-8 text of `length` bytes, followed by a NUL. The text is copied. source: name of the file for messages;
 * it must outlive the tree. Returns false, with an empty document and a diagnostic with line and column, if the text is
 * not valid XML in UTF-8, has a DTD or a name with a control character, or exceeds XML_DEPTH_MAX or XML_ELEMENT_MAX. */
bool xml_read(XmlDocument* document, const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Frees all elements and texts of the document and zeroes it. Accepts a zeroed document. */
void xml_free(XmlDocument* document);

/* Returns the first child element with this name, or NULL if there is none. The document owns all elements that
 * functions of this header return. */
const XmlElement* xml_child(const XmlElement* parent, const char* name);
/* Returns the next sibling with the same name, or NULL if there is none. */
const XmlElement* xml_next(const XmlElement* element);
/* Returns the attribute with this name, borrowed from the element, or NULL if it is absent. */
const XmlAttribute* xml_attribute(const XmlElement* element, const char* name);

/* ---------------------------------------------------------------- changing a tree */

/* Callback of xml_copy: appends the new value of an attribute of `element` to `out`. */
typedef void (*XmlRewrite)(Text* out, const XmlElement* element, const XmlAttribute* attribute, void* context);
/* Returns a new element without parent and children. pairs: names and values of its attributes, ending with NULL. All
 * texts are copied. The document owns the element. Attributes have the place of the element. */
XmlElement* xml_make(XmlDocument* document, const char* name, SourcePosition place, const char* const* pairs);
/* Returns a copy of the element and its descendants, without parent, with the same places. more: names and values,
 * ending with NULL, of attributes that the copy gets if the element lacks them; may be NULL. rewrite sets the value of
 * every attribute and is called with `context`. The document owns the copy. */
XmlElement* xml_copy(XmlDocument* document, const XmlElement* from, const char* const* more, XmlRewrite rewrite,
                     void* context);
/* Appends `child`, which must have no parent, to the children of `parent`. The document still owns both. */
void xml_append(XmlElement* parent, XmlElement* child);
/* Replaces the element `old` by the children of `container`, of which there must be at least one. before: the previous
 * sibling of old, or NULL if old is the first child. old and container remain in the document without use. */
void xml_splice(XmlElement* old, XmlElement* before, const XmlElement* container);

#endif
