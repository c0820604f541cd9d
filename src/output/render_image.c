#include <stdlib.h>
#include <string.h>
#include "output/render.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#ifndef __clang_analyzer__ /* which is to look at this project: the declarations are enough for it */
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#endif
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

/* Unfiltered rows and a short search: on drawn pictures with flat colours half the time of the library's settings, and
 * a little smaller. They are the library's variables, so they are set before any thread can look at them. */
__attribute__((constructor)) static void choose_png_settings(void) {
  stbi_write_force_png_filter = 0;
  stbi_write_png_compression_level = 5;
}

void image_create(RenderImage* image, int width, int height) {
  *image = (RenderImage){width, height, MEMORY_NEW(uint8_t, 3 * (size_t)width * (size_t)height)};
}

void image_destroy(RenderImage* image) {
  memory_free(image->rgb);
  *image = (RenderImage){0};
}

void image_paste(RenderImage* image, const RenderImage* source, int x, int y) {
  int first = x < 0 ? -x : 0;
  int last = source->width < image->width - x ? source->width : image->width - x;
  if (last <= first) return;
  for (int row = 0; row < source->height; row++) {
    if (y + row < 0 || y + row >= image->height) continue;
    const uint8_t* from = source->rgb + 3 * ((size_t)row * (size_t)source->width + (size_t)first);
    uint8_t* to = image->rgb + 3 * ((size_t)(y + row) * (size_t)image->width + (size_t)(x + first));
    memcpy(to, from, 3 * (size_t)(last - first));
  }
}

static void add_bytes(void* context, void* data, int length) { text_add_bytes(context, data, (size_t)length); }

bool image_add_png(const RenderImage* image, Text* file) {
  return stbi_write_png_to_func(add_bytes, file, image->width, image->height, 3, image->rgb, 3 * image->width) != 0;
}

Status image_write_png(const RenderImage* image, const char* path) {
  Text file = {0};
  Status status = STATUS_NO_MEMORY;
  if (image_add_png(image, &file)) status = file_write(path, file.data, file.length);
  text_free(&file);
  return status;
}
