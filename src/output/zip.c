/* A zip archive of stored files, after PKWARE's APPNOTE 6.3: local files (4.3.7), central directory (4.3.12), its end
 * (4.3.16). Nothing is compressed: the bytes then depend on no library's version, and no library is needed. */
#include <assert.h>
#include <string.h>

#include "output/export.h"

enum { ZIP_VERSION = 10, ZIP_FIRST_DAY = 1 << 5 | 1 }; /* 1980-01-01, the earliest date there is */

/* What both headers of a file have: version to flags, method, time, date, crc, two sizes, length of the name, of
 * extras. */
static void add_description(Text* out, const char* name, const Text* content, uint32_t crc) {
  bytes_add_integer(out, ZIP_VERSION, 2);
  bytes_add_integer(out, 0, 2);
  bytes_add_integer(out, 0, 2);
  bytes_add_integer(out, 0, 2);
  bytes_add_integer(out, ZIP_FIRST_DAY, 2);
  bytes_add_integer(out, crc, 4);
  bytes_add_integer(out, (uint32_t)content->length, 4);
  bytes_add_integer(out, (uint32_t)content->length, 4);
  bytes_add_integer(out, (uint32_t)strlen(name), 2);
  bytes_add_integer(out, 0, 2);
}

void zip_add(Zip* zip, const char* name, const Text* content) {
  size_t place = zip->out->length;
  uint32_t crc = hash_crc32(content->data, content->length);
  assert(place + content->length < UINT32_MAX);
  bytes_add_integer(zip->out, 0x04034b50, 4);
  add_description(zip->out, name, content, crc);
  text_add_bytes(zip->out, name, strlen(name));
  text_add_bytes(zip->out, content->data, content->length);
  bytes_add_integer(&zip->directory, 0x02014b50, 4);
  bytes_add_integer(&zip->directory, ZIP_VERSION, 2);
  add_description(&zip->directory, name, content, crc);
  bytes_add_integer(&zip->directory, 0, 2); /* no comment, */
  bytes_add_integer(&zip->directory, 0, 2); /* the first disk, */
  bytes_add_integer(&zip->directory, 0, 2); /* no attributes */
  bytes_add_integer(&zip->directory, 0, 4);
  bytes_add_integer(&zip->directory, (uint32_t)place, 4);
  text_add_bytes(&zip->directory, name, strlen(name));
  zip->count++;
}

void zip_end(Zip* zip) {
  uint32_t place = (uint32_t)zip->out->length, size = (uint32_t)zip->directory.length;
  text_add_bytes(zip->out, zip->directory.data, zip->directory.length);
  bytes_add_integer(zip->out, 0x06054b50, 4);
  bytes_add_integer(zip->out, 0, 2); /* this disk, */
  bytes_add_integer(zip->out, 0, 2); /* and that of the directory, */
  bytes_add_integer(zip->out, (uint32_t)zip->count, 2);
  bytes_add_integer(zip->out, (uint32_t)zip->count, 2);
  bytes_add_integer(zip->out, size, 4);
  bytes_add_integer(zip->out, place, 4);
  bytes_add_integer(zip->out, 0, 2); /* no comment */
  text_free(&zip->directory);
}
