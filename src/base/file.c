#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

/* ---------------------------------------------------------------- reading */

static size_t size_hint(FILE* stream) {
  struct stat info;
  bool known = fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  return known ? (size_t)info.st_size + 1 : 4096;
}

/* Reads to the end whatever the size said: pipes have none, and files grow. Returns false on a read error. */
static bool read_all(FILE* stream, char** data, size_t* length) {
  size_t capacity = size_hint(stream), used = 0;
  char* buffer = memory_alloc(capacity + 1);
  for (;;) {
    used += fread(buffer + used, 1, capacity - used, stream);
    if (used < capacity) break;
    buffer = memory_resize(buffer, capacity + 1, 2 * capacity + 1);
    capacity *= 2;
  }
  buffer[used] = '\0';
  if (ferror(stream)) {
    memory_free(buffer);
    return false;
  }
  *data = buffer;
  *length = used;
  return true;
}

Status file_read(const char* path, char** data, size_t* length) {
  *data = NULL;
  *length = 0;
  FILE* stream = fopen(path, "rbe");
  if (!stream) return STATUS_IO;
  bool complete = read_all(stream, data, length);
  int error = errno;
  fclose(stream);
  if (complete) return STATUS_OK;
  errno = error;
  return STATUS_IO;
}

Status file_read_reported(const char* path, char** data, size_t* length, Diagnostics* diagnostics) {
  Status status = file_read(path, data, length);
  if (status != STATUS_OK)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, 0, 0}, "cannot read: %s", strerror(errno));
  return status;
}

bool file_exists(const char* path) {
  struct stat info;
  return stat(path, &info) == 0;
}

/* ---------------------------------------------------------------- writing */

/* Renaming over a device or a pipe would replace it: these are written through. */
static bool is_special(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Status file_stream_open(FileStream* out, const char* path) {
  Text temporary = {0};
  text_add(&temporary, "%s~", path);
  out->path = memory_text(path);
  out->temporary = temporary.data;
  if (is_special(path)) {
    memory_free(out->temporary);
    out->temporary = NULL;
  }
  out->stream = fopen(out->temporary ? out->temporary : path, "wbe");
  if (out->stream) return STATUS_OK;
  int error = errno;
  memory_free(out->path);
  memory_free(out->temporary);
  *out = (FileStream){0};
  errno = error;
  return STATUS_IO;
}

/* To the disk. Pipes and some file systems cannot sync, which loses nothing that was theirs to keep. */
static bool flush_to_disk(FILE* stream) {
  if (fflush(stream) != 0 || ferror(stream)) return false;
  return fsync(fileno(stream)) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

Status file_stream_close(FileStream* out) {
  if (!out->stream) return STATUS_IO;
  bool whole = flush_to_disk(out->stream);
  int error = errno;
  if (fclose(out->stream) != 0 && whole) {
    whole = false;
    error = errno;
  }
  out->stream = NULL;
  if (whole && out->temporary && rename(out->temporary, out->path) != 0) {
    whole = false;
    error = errno;
  }
  if (!whole && out->temporary) unlink(out->temporary);
  file_stream_discard(out);
  if (whole) return STATUS_OK;
  errno = error;
  return STATUS_IO;
}

/* Also the destructor: what is still open is thrown away. */
void file_stream_discard(FileStream* out) {
  if (out->stream) {
    fclose(out->stream);
    if (out->temporary) unlink(out->temporary);
  }
  memory_free(out->path);
  memory_free(out->temporary);
  *out = (FileStream){0};
}

Status file_write(const char* path, const char* data, size_t length) {
  FileStream out = {0};
  if (file_stream_open(&out, path) != STATUS_OK) return STATUS_IO;
  if (length > 0) fwrite(data, 1, length, out.stream); /* a failure stays in ferror, which close looks at */
  return file_stream_close(&out);
}

/* ---------------------------------------------------------------- names */

static bool make_one_folder(const char* path) {
  if (mkdir(path, 0777) == 0) return true;
  int error = errno;
  struct stat info;
  if (stat(path, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return true;
    error = ENOTDIR;
  }
  errno = error;
  return false;
}

Status file_make_folder(const char* path) {
  char* prefix = memory_text(path);
  bool made = true;
  for (char* slash = strchr(prefix, '/'); slash && made; slash = strchr(slash + 1, '/')) {
    if (slash == prefix || slash[-1] == '/') continue;
    *slash = '\0';
    made = make_one_folder(prefix);
    *slash = '/';
  }
  made = made && make_one_folder(prefix);
  int error = errno;
  memory_free(prefix);
  errno = error;
  return made ? STATUS_OK : STATUS_IO;
}

char* file_resolve(const char* base_file, const char* relative) {
  const char* slash = strrchr(base_file, '/');
  if (relative[0] == '/' || !slash) return memory_text(relative);
  Text path = {0};
  text_add_bytes(&path, base_file, (size_t)(slash - base_file) + 1);
  text_add_bytes(&path, relative, strlen(relative));
  return path.data;
}

/* From the root, without links, `.` and `..`; what does not exist yet is taken as written. */
static char* absolute_path(const char* path) {
  char* real = realpath(path, NULL); /* of the C library: freed by free */
  if (!real && path[0] != '/') real = realpath(".", NULL);
  Text text = {0};
  bool whole = real && file_exists(path);
  text_add(&text, "%s%s%s", real ? real : "", whole ? "" : "/", whole ? "" : path);
  free(real);
  Text clean = {0};
  text_add_bytes(&clean, "", 0);
  for (const char* part = text.data; *part;) {
    size_t length = strcspn(part, "/");
    if (length == 2 && strncmp(part, "..", 2) == 0) {
      while (clean.length > 0 && clean.data[--clean.length] != '/') continue;
      clean.data[clean.length] = '\0';
    } else if (length > 0 && !(length == 1 && part[0] == '.')) {
      text_add(&clean, "/%.*s", (int)length, part);
    }
    part += length + (part[length] == '/');
  }
  text_free(&text);
  return clean.data;
}

static char* relative_path(const char* folder, const char* path) {
  char *from = absolute_path(folder), *to = absolute_path(path);
  size_t same = 0; /* length of the folders that both share */
  for (size_t i = 0;; i++) {
    bool from_ends = from[i] == '/' || from[i] == '\0', to_ends = to[i] == '/' || to[i] == '\0';
    if (from_ends && to_ends) same = i;
    if (from[i] != to[i] || from[i] == '\0') break;
  }
  Text text = {0};
  text_add_bytes(&text, "", 0);
  for (const char* up = from + same; *up; up++)
    if (*up == '/') text_add(&text, "../");
  text_add(&text, "%s", to[same] == '/' ? to + same + 1 : to + same);
  memory_free(from);
  memory_free(to);
  return text.data;
}

char* file_relative(const char* folder, const char* path) {
  return path[0] == '/' ? memory_text(path) : relative_path(folder, path);
}

char* file_inside(const char* folder, const char* path) {
  char* relative = relative_path(folder, path);
  bool outside = strcmp(relative, "..") == 0 || strncmp(relative, "../", 3) == 0;
  if (!outside) return relative;
  memory_free(relative);
  return NULL;
}

char* file_stem(const char* path) {
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') end--; /* a folder named with its slash */
  size_t start = end;
  while (start > 0 && path[start - 1] != '/') start--;
  size_t dot = end;
  while (dot > start && path[dot - 1] != '.') dot--;
  if (dot > start + 1) end = dot - 1; /* a leading dot begins a hidden name, not an extension */
  Text stem = {0};
  text_add_bytes(&stem, path + start, end - start);
  return stem.data;
}
