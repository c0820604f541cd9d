/* Writes PNG with stb_image_write. zlib compresses faster and smaller than the library's compressor. */
#include <stdlib.h>
#include <zlib.h>
#include "render/picture.h"

/* Compression level of zlib. Compared with zlib's default, it takes half the time, and files are a fifth larger. */
enum { PNG_LEVEL = 2 };

/* Compresses data for stb_image_write. Allocates by malloc. Returns NULL on failure. */
static unsigned char* compress_data(const unsigned char* data, int length, int* packed_length) {
  uLongf size = compressBound((uLong)length);
  unsigned char* packed = malloc(size);
  if (!packed) return NULL;
  if (compress2(packed, &size, data, (uLong)length, PNG_LEVEL) != Z_OK) {
    free(packed);
    return NULL;
  }
  *packed_length = (int)size;
  return packed;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#define STBIW_ZLIB_COMPRESS(data, length, packed_length, quality) compress_data(data, length, packed_length)
#ifndef __clang_analyzer__ /* static analysis needs only the declarations of the library */
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#endif
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

/* Disables row filters, because images with flat colours then become smaller. The setting is a global variable of the
 * library, so it is set before any thread starts. */
__attribute__((constructor)) static void set_png_settings(void) { stbi_write_force_png_filter = 0; }

static void add_bytes(void* context, void* data, int length) { text_add_bytes(context, data, (size_t)length); }

Status image_append_png(const RenderImage* image, Text* file) {
  bool written =
      stbi_write_png_to_func(add_bytes, file, image->width, image->height, 3, image->rgb, 3 * image->width) != 0;
  return written ? STATUS_OK : STATUS_NO_MEMORY;
}
