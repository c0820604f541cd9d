/* The page template, which scripts/make_page.sh bundles and the assembler embeds in the program. */
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

/* Reads the version from the head of the template. */
int page_library_version(const char** version) {
  static const char mark[] = "content=\"sdrs with three.js ";
  const char* found = strstr(page_template(), mark);
  *version = found ? found + strlen(mark) : "";
  return (int)strcspn(*version, "\"");
}
