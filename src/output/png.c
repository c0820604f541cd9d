/* PNG, W3C Recommendation of 2003: 8-bit RGB, rows unfiltered, which suits flat colours. */
#include <string.h>
#include "output/export.h"
#include "output/render.h"

/* Length, type, content and their CRC (5.3), big-endian. */
static void add_chunk(Text* out, const char type[4], const char* content, size_t length) {
  size_t start = out->length + 4;
  bytes_add_big(out, (uint32_t)length);
  text_add_bytes(out, type, 4);
  text_add_bytes(out, content, length);
  bytes_add_big(out, hash_crc32(out->data + start, out->length - start));
}

void image_add_png(const RenderImage* image, Text* file) {
  Text head = {0}, packed = {0};
  bytes_add_big(&head, (uint32_t)image->width);
  bytes_add_big(&head, (uint32_t)image->height);
  text_add_bytes(&head, "\x08\x02\0\0\0", 5); /* 8 bits, RGB, deflate, filters of row by row, not interlaced */
  size_t row = 3 * (size_t)image->width, rows = (size_t)image->height;
  char* lines = MEMORY_NEW(char, (row + 1) * rows); /* each row begins with its filter, 0: none */
  for (size_t i = 0; i < rows; i++) memcpy(lines + i * (row + 1) + 1, image->rgb + i * row, row);
  zlib_add(&packed, lines, (row + 1) * rows);
  text_add_bytes(file, "\x89PNG\r\n\x1a\n", 8);
  add_chunk(file, "IHDR", head.data, head.length);
  add_chunk(file, "IDAT", packed.data, packed.length);
  add_chunk(file, "IEND", "", 0);
  memory_free(lines);
  text_free(&packed);
  text_free(&head);
}
