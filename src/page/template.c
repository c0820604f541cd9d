/* The page without its data, as scripts/make_page.sh has bundled it for this build, carried in the program itself. */
#include <string.h>
#include "page/parts.h"

__asm__(
    ".pushsection .rodata\n"
    ".global sdrs_page_template\n"
    "sdrs_page_template:\n"
    ".incbin \"out/build/page/page.html\"\n"
    ".byte 0\n"
    ".popsection\n");
extern const char sdrs_page_template[];

const char* page_template(void) { return sdrs_page_template; }

/* The template says it in its head. */
int page_library_version(const char** version) {
  static const char mark[] = "content=\"sdrs with three.js ";
  const char* found = strstr(page_template(), mark);
  *version = found ? found + strlen(mark) : "";
  return (int)strcspn(*version, "\"");
}
