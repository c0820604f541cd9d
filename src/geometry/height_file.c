/* Reads height fields from files: PNG images by stb_image, and tables of numbers. */
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/outside.h"
#include "geometry/geometry.h"
#include "geometry/obj_text.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#ifdef __clang__ /* stb_image adds 0 to a null pointer if a chunk is empty */
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#ifndef __clang_analyzer__ /* the static analyzer reads only the declarations */
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#endif
#include <stb/stb_image.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop
/* The header declares two functions without definitions, which gcc reports at the end of the file. */
#pragma GCC diagnostic ignored "-Wunused-function"

#define SAMPLE_MAX 65535.0

static Status report_error(const char* name, Diagnostics* diagnostics, const char* text) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){name, 0, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

static Status check_size(const char* name, int columns, int rows, Diagnostics* diagnostics) {
  if (columns >= 2 && rows >= 2 && (int64_t)columns * rows <= HEIGHT_SAMPLES_MAX) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){name, 0, 0},
                  "a height field needs at least 2 x 2 samples and at most %d in all, got %d x %d", HEIGHT_SAMPLES_MAX,
                  columns, rows);
  return STATUS_BAD_INPUT;
}

static uint32_t big_endian(const char* bytes) {
  const uint8_t* b = (const uint8_t*)bytes;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Returns true if every chunk up to the last chunk, IEND, has the CRC of its type and data. stb_image does not check
 * the CRC. */
static bool png_is_complete(const char* data, size_t length) {
  for (size_t at = 8; length >= 12 && at <= length - 12;) {
    size_t size = big_endian(data + at);
    if (size > length - 12 - at) return false;
    uLong sum = crc32(0, (const Bytef*)data + at + 4, (uInt)size + 4);
    if (sum != big_endian(data + at + 8 + size)) return false;
    if (memcmp(data + at + 4, "IEND", 4) == 0) return true;
    at += 12 + size;
  }
  return false;
}

static Status parse_png(HeightGrid* grid, const char* name, const char* data, size_t length, Diagnostics* diagnostics) {
  const stbi_uc* bytes = (const stbi_uc*)data;
  int columns, rows, channels, size = length < INT32_MAX ? (int)length : INT32_MAX;
  if (!stbi_info_from_memory(bytes, size, &columns, &rows, &channels))
    return report_error(name, diagnostics,
                        "the file is not a PNG image: save the heights as a PNG image, or as numbers in a text file");
  Status status = check_size(name, columns, rows, diagnostics);
  if (status != STATUS_OK) return status;
  if (!png_is_complete(data, length))
    return report_error(name, diagnostics, "the PNG image is damaged: save the image again");
  stbi_us* grey = stbi_load_16_from_memory(bytes, size, &columns, &rows, &channels, 1);
  if (!grey) return report_error(name, diagnostics, "the PNG image is damaged: save the image again");
  *grid = (HeightGrid){columns, rows, MEMORY_NEW(double, columns* rows)};
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < columns; i++)
      grid->values[(rows - 1 - j) * columns + i] = (double)grey[j * columns + i] / SAMPLE_MAX;
  stbi_image_free(grey);
  return STATUS_OK;
}

typedef struct {
  ObjText text;
  double* values;
  int count, capacity, columns, rows;
} TableReader;

/* Reads a row of numbers. Adds an error if the row has not the same length as the first row. */
static void read_row(TableReader* reader, ObjWord word) {
  ObjPlace place = word.place;
  int count = 0;
  do {
    double value = 0;
    if (obj_word_number(&reader->text, word, &value) && !(fabs(value) <= COORDINATE_MAX))
      obj_text_error(&reader->text, word.place, "height '%s' is beyond %g", obj_quote(word).text, COORDINATE_MAX);
    reader->values = memory_grow_array(reader->values, sizeof(double), reader->count, &reader->capacity);
    reader->values[reader->count++] = value;
    count++;
  } while (reader->count <= HEIGHT_SAMPLES_MAX && obj_text_word(&reader->text, &word));
  if (reader->rows == 0) reader->columns = count;
  if (count != reader->columns && reader->count <= HEIGHT_SAMPLES_MAX)
    obj_text_error(&reader->text, place,
                   "the row has %d numbers, but the first row has %d: give all rows equally many numbers", count,
                   reader->columns);
  reader->rows++;
}

static void reverse_rows(HeightGrid* grid) {
  for (int j = 0; 2 * j + 1 < grid->rows; j++)
    for (int i = 0; i < grid->columns; i++) {
      double *low = &grid->values[j * grid->columns + i],
             *high = &grid->values[(grid->rows - 1 - j) * grid->columns + i], swap = *low;
      *low = *high;
      *high = swap;
    }
}

static Status parse_table(HeightGrid* grid, const char* name, const char* data, size_t length,
                          Diagnostics* diagnostics) {
  char* blank = memory_alloc(length + 1);
  for (size_t k = 0; k < length; k++) blank[k] = data[k] == ',' || data[k] == ';' ? ' ' : data[k];
  TableReader reader = {.text = obj_text_start(name, blank, length, diagnostics)};
  ObjWord word;
  if (obj_text_is_text(&reader.text))
    while (reader.count <= HEIGHT_SAMPLES_MAX && obj_text_statement(&reader.text, &word)) read_row(&reader, word);
  Status status = reader.text.error_count > 0 ? STATUS_BAD_INPUT : STATUS_OK;
  if (status == STATUS_OK) status = check_size(name, reader.columns, reader.rows, diagnostics);
  if (status == STATUS_OK) {
    *grid = (HeightGrid){reader.columns, reader.rows, reader.values};
    reverse_rows(grid);
  } else {
    memory_free(reader.values);
  }
  memory_free(blank);
  return status;
}

Status height_grid_parse(HeightGrid* grid, const char* name, const char* data, size_t length, bool png,
                         Diagnostics* diagnostics) {
  *grid = (HeightGrid){0};
  return png ? parse_png(grid, name, data, length, diagnostics) : parse_table(grid, name, data, length, diagnostics);
}

Status height_grid_read(HeightGrid* grid, const char* path, Diagnostics* diagnostics) {
  size_t name = strlen(path), length;
  bool png = name >= 4 && strcasecmp(path + name - 4, ".png") == 0;
  char* data;
  *grid = (HeightGrid){0};
  if (!file_check_quotable(path, diagnostics)) return STATUS_BAD_INPUT;
  if (file_read_reported(path, &data, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = height_grid_parse(grid, path, data, length, png, diagnostics);
  memory_free(data);
  return status;
}

void height_grid_free(HeightGrid* grid) {
  memory_free(grid->values);
  *grid = (HeightGrid){0};
}
