/* Zip archives by libzip, in memory. */
#include <zip.h>

#include "export/format.h"

enum { FIRST_TIME = 0, FIRST_DAY = 1 << 5 | 1 }; /* 1980-01-01, the earliest date of the format */

static bool add_file(zip_t* zip, const ArchiveFile* file) {
  zip_source_t* content = zip_source_buffer(zip, file->content->data, file->content->length, 0);
  if (!content) return false;
  zip_int64_t index = zip_file_add(zip, file->name, content, 0);
  if (index < 0) {
    zip_source_free(content);
    return false;
  }
  return zip_file_set_dostime(zip, (zip_uint64_t)index, FIRST_TIME, FIRST_DAY, 0) == 0;
}

/* Adds the files to the archive; closing it compresses them. */
static bool pack(zip_source_t* archive, const ArchiveFile* files, int count) {
  zip_t* zip = zip_open_from_source(archive, ZIP_TRUNCATE, NULL);
  if (!zip) return false;
  zip_source_keep(archive); /* closing releases the archive's own reference */
  bool added = true;
  for (int k = 0; k < count && added; k++) added = add_file(zip, &files[k]);
  if (added && zip_close(zip) == 0) return true;
  zip_discard(zip);
  return false;
}

static bool copy(zip_source_t* archive, Text* out) {
  char part[1 << 14];
  zip_int64_t length = -1;
  if (zip_source_open(archive) != 0) return false;
  while ((length = zip_source_read(archive, part, sizeof part)) > 0) text_add_bytes(out, part, (size_t)length);
  zip_source_close(archive);
  return length == 0;
}

/* An in-memory archive can fail only by lack of memory. */
void archive_add(Text* out, const ArchiveFile* files, int count) {
  size_t size = 0;
  for (int k = 0; k < count; k++) size += files[k].content->length;
  zip_source_t* archive = zip_source_buffer_create(NULL, 0, 0, NULL);
  if (!archive || !pack(archive, files, count) || !copy(archive, out)) memory_exhausted(size);
  zip_source_free(archive);
}
