#include <assert.h>
#include "base/base.h"

/* A leading . or ' is escaped, because roff would read the line as a request. A minus is escaped, so that it can be
 * copied as a minus. */
void text_add_roff(Text* out, const char* text) {
  assert(text);
  bool bold = false;
  for (const char* c = text; *c; c++) {
    bool starts = out->length == 0 || out->data[out->length - 1] == '\n';
    if (starts && (*c == '.' || *c == '\'')) text_add(out, "\\&");
    if (*c == '\\')
      text_add(out, "\\e");
    else if (*c == '-')
      text_add(out, "\\-");
    else if (*c == '`')
      text_add(out, (bold = !bold) ? "\\fB" : "\\fR");
    else
      text_add_bytes(out, c, 1);
  }
  if (bold) text_add(out, "\\fR");
}
