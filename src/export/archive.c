/* Writes zip archives (PKWARE APPNOTE 6.3.3), compressed by zlib. All numbers are little-endian. */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "export/format.h"

enum {
  LOCAL_HEADER = 0x04034b50,
  CENTRAL_HEADER = 0x02014b50,
  CENTRAL_END = 0x06054b50,
  VERSION = 20, /* version 2.0 of the format, required by deflate */
  DEFLATED = 8,
  FIRST_TIME = 0,
  FIRST_DAY = 1 << 5 | 1, /* 1980-01-01, the earliest date of the format */
  WINDOW_BITS = -15,      /* negative: raw deflate data without zlib's header */
  MEMORY_LEVEL = 8        /* zlib's default */
};

static void add_number(Text* out, unsigned long number, int bytes) {
  assert(bytes >= 1 && bytes <= 4);
  for (int k = 0; k < bytes; k++) text_add_bytes(out, &(char){(char)(number >> 8 * k & 0xff)}, 1);
}

/* Appends the content, compressed by deflate. Calls memory_report_exhausted, which does not return, if memory is
 * exhausted or the content exceeds 2 GiB. */
static void add_deflated(Text* out, const Text* content) {
  z_stream stream = {.next_in = (Bytef*)content->data, .avail_in = (uInt)content->length};
  if (content->length > UINT32_MAX / 2 ||
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    memory_report_exhausted(content->length);
  uLong bound = deflateBound(&stream, (uLong)content->length);
  Bytef* compressed = memory_alloc(bound);
  stream.next_out = compressed;
  stream.avail_out = (uInt)bound;
  deflate(&stream, Z_FINISH); /* one call suffices, because the buffer has the size from deflateBound */
  text_add_bytes(out, (const char*)compressed, stream.total_out);
  deflateEnd(&stream);
  memory_free(compressed);
}

/* Appends the fields that the local and the central header share. */
static void add_description(Text* out, const ArchiveFile* file, size_t compressed_size) {
  add_number(out, VERSION, 2);
  add_number(out, 0, 2); /* flags of the file: none */
  add_number(out, DEFLATED, 2);
  add_number(out, FIRST_TIME, 2);
  add_number(out, FIRST_DAY, 2);
  add_number(out, crc32_z(0, (const Bytef*)file->content->data, file->content->length), 4);
  add_number(out, compressed_size, 4);
  add_number(out, file->content->length, 4);
  add_number(out, strlen(file->name), 2);
  add_number(out, 0, 2); /* length of extra fields */
}

void archive_write(Text* out, const ArchiveFile* files, int count) {
  assert(count >= 0 && count <= 0xffff);
  Text central = {0};
  size_t start = out->length;
  for (int k = 0; k < count; k++) {
    Text compressed = {0};
    size_t offset = out->length - start;
    add_deflated(&compressed, files[k].content);
    add_number(out, LOCAL_HEADER, 4);
    add_description(out, &files[k], compressed.length);
    text_add_bytes(out, files[k].name, strlen(files[k].name));
    text_add_bytes(out, compressed.data, compressed.length);
    add_number(&central, CENTRAL_HEADER, 4);
    add_number(&central, VERSION, 2); /* version made by: 2.0, with MS-DOS attributes */
    add_description(&central, &files[k], compressed.length);
    add_number(&central, 0, 2); /* length of the comment */
    add_number(&central, 0, 2); /* number of the disk with the file; the archive is not split */
    add_number(&central, 0, 2); /* internal attributes of the file: none */
    add_number(&central, 0, 4); /* external attributes of the file: none */
    add_number(&central, offset, 4);
    text_add_bytes(&central, files[k].name, strlen(files[k].name));
    text_free(&compressed);
  }
  size_t central_offset = out->length - start;
  text_add_bytes(out, central.data, central.length);
  add_number(out, CENTRAL_END, 4);
  add_number(out, 0, 2); /* number of this disk; the archive is not split */
  add_number(out, 0, 2); /* the disk of the central directory */
  add_number(out, (unsigned long)count, 2);
  add_number(out, (unsigned long)count, 2);
  add_number(out, central.length, 4);
  add_number(out, central_offset, 4);
  add_number(out, 0, 2); /* length of the comment */
  text_free(&central);
}
