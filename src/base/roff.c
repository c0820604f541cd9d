#include <assert.h>
#include "base/base.h"

/* Escapes a leading . or ', because roff would read the line as a request. Escapes a minus, because roff would
 * otherwise print it as a hyphen, which is another character when copied. */
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
