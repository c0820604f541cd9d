#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "render/picture.h"

void image_create(RenderImage* image, int width, int height) {
  assert(width > 0 && height > 0);
  *image = (RenderImage){width, height, MEMORY_NEW(uint8_t, 3 * (size_t)width * (size_t)height)};
}

void image_destroy(RenderImage* image) {
  memory_free(image->rgb);
  *image = (RenderImage){0};
}

void image_paste(RenderImage* image, const RenderImage* source, int x, int y) {
  assert(image != source);
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

Status image_write_png(const RenderImage* image, const char* path) {
  Text file = {0};
  Status status = image_append_png(image, &file);
  if (status == STATUS_OK) status = file_write(path, file.data, file.length);
  text_free(&file);
  return status;
}

Status image_write_png_reported(const RenderImage* image, const char* path, Diagnostics* diagnostics) {
  errno = 0;
  Status status = image_write_png(image, path);
  if (status != STATUS_OK)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write: %s", strerror(errno));
  return status;
}
