#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"

/* ---------------------------------------------------------------- reading */

/* Size limits of a regular file, a pipe and a device [bytes]. Pipes and devices may never end. */
#define MEBIBYTE ((size_t)1 << 20)
#define FILE_SIZE_MAX (2048 * MEBIBYTE)
#define PIPE_SIZE_MAX (256 * MEBIBYTE)
#define DEVICE_SIZE_MAX MEBIBYTE
/* Longest time that file_read waits for a writer of a named pipe [ms]. */
enum { PIPE_WAIT_MAX = 10000 };

typedef struct {
  int file;
  struct stat info;
  size_t size_max; /* largest accepted size [bytes] */
  bool has_waited; /* true: the wait for a writer of the pipe is over */
  char* data;
  size_t length, capacity;
} FileReader;

/* errno values of file_read for the size limits of devices and pipes, which have no errno value of their own. */
enum { ERROR_DEVICE = ENODEV, ERROR_PIPE = EMSGSIZE };

const char* file_error_text(int error) {
  switch (error) {
    case EFBIG:
      return "the file is too large: at most 2 GiB are read";
    case ERROR_PIPE:
      return "the pipe does not end: at most 256 MiB are read from a pipe";
    case ERROR_DEVICE:
      return "not a regular file, and longer than 1 MiB";
    case ETIMEDOUT:
      return "nobody writes to this pipe (waited 10 s)";
    case EISDIR:
      return "the path is a folder: give the path of a file";
    default:
      return strerror(error);
  }
}

/* Opens a file in non-blocking mode, because opening a pipe without a writer would block. Returns false with errno set
 * on failure. */
static bool open_for_reading(FileReader* r, const char* path) {
  *r = (FileReader){.file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (r->file < 0 || fstat(r->file, &r->info) != 0) return false;
  mode_t mode = r->info.st_mode;
  r->size_max = S_ISREG(mode) ? FILE_SIZE_MAX : S_ISFIFO(mode) ? PIPE_SIZE_MAX : DEVICE_SIZE_MAX;
  bool sized = S_ISREG(mode) && r->info.st_size > 0;
  bool fits = !sized || (uint64_t)r->info.st_size <= r->size_max;
  if (!fits) errno = EFBIG;
  r->capacity = sized && fits ? (size_t)r->info.st_size + 1
                              : 4096; /* one byte more than the size, so that the last read detects the end */
  return fits;
}

/* Returns true if no writer has opened the pipe yet. read then returns 0 as at the end of a file, but poll reports no
 * hang-up. */
static bool lacks_writer(const FileReader* r) {
  struct pollfd poll_request = {.fd = r->file, .events = POLLIN};
  return S_ISFIFO(r->info.st_mode) && r->length == 0 && poll(&poll_request, 1, 0) == 0;
}

static bool wait_for_writer(FileReader* r) {
  struct pollfd poll_request = {.fd = r->file, .events = POLLIN};
  if (r->has_waited) errno = ETIMEDOUT;
  if (r->has_waited || poll(&poll_request, 1, PIPE_WAIT_MAX) < 0) return false;
  r->has_waited = true; /* a writer may have opened the pipe without writing */
  return true;
}

/* Waits until data arrive, without a time limit. */
static bool wait_for_data(const FileReader* r) {
  struct pollfd poll_request = {.fd = r->file, .events = POLLIN};
  return poll(&poll_request, 1, -1) > 0;
}

static bool exceeds_limit(const FileReader* r) {
  assert(r->size_max > 0);
  if (r->length <= r->size_max) return false;
  errno = S_ISREG(r->info.st_mode) ? EFBIG : S_ISFIFO(r->info.st_mode) ? ERROR_PIPE : ERROR_DEVICE;
  return true;
}

static void grow_buffer(FileReader* r) {
  if (r->length < r->capacity) return;
  r->data = memory_resize(r->data, r->capacity + 1, 2 * r->capacity + 1);
  r->capacity *= 2;
}

/* Reads up to the end of the file. The size in the file's status is not used, because pipes have none and files may
 * grow. */
static bool read_all(FileReader* r) {
  r->data = memory_alloc(r->capacity + 1);
  for (;;) {
    ssize_t got = read(r->file, r->data + r->length, r->capacity - r->length);
    if (got > 0) {
      r->length += (size_t)got;
      if (exceeds_limit(r)) return false;
      grow_buffer(r);
      continue;
    }
    if (got < 0 && errno != EAGAIN) return false;
    if (got == 0 && !lacks_writer(r)) break;
    if (!(got == 0 ? wait_for_writer(r) : wait_for_data(r))) return false;
  }
  r->data[r->length] = '\0';
  return true;
}

Status file_read(const char* path, char** data, size_t* length) {
  assert(path && data && length);
  FileReader r;
  bool complete = open_for_reading(&r, path) && read_all(&r);
  int error = errno;
  if (r.file >= 0) close(r.file);
  *data = complete ? r.data : NULL;
  *length = complete ? r.length : 0;
  if (complete) return STATUS_OK;
  memory_free(r.data);
  errno = error;
  return STATUS_IO;
}

/* Returns the path with the extension .yaml if such a file exists, otherwise NULL. Helps users who omit the extension.
 * The caller frees the result. */
static char* find_yaml_file(const char* path) {
  Text name = {0};
  text_add(&name, "%s.yaml", path);
  if (file_exists(name.data)) return name.data;
  text_free(&name);
  return NULL;
}

/* Largest number of files of a folder that find_similar_file compares. */
enum { FOLDER_FILES_MAX = 2000 };

static size_t stem_length(const char* name) {
  const char* dot = strrchr(name, '.');
  return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

static int compare_texts(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

/* Returns the path of an existing file whose name is similar to the name of the missing file `path` (text_nearest).
 * Considers files of the same folder and extension. Returns NULL if there is none. The caller frees the result. */
static char* find_similar_file(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  size_t stem = stem_length(name);
  Text folder = {0}, own_stem = {0}, found = {0};
  text_add(&folder, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
  text_add(&own_stem, "%.*s", (int)stem, name);
  Names stems = {0};
  DIR* entries = opendir(folder.data);
  for (const struct dirent* e; entries && stems.count < FOLDER_FILES_MAX && (e = readdir(entries)) != NULL;) {
    size_t length = stem_length(e->d_name);
    if (strcmp(e->d_name + length, name + stem) != 0) continue;
    Text other = {0};
    text_add(&other, "%.*s", (int)length, e->d_name);
    if (names_add(&stems, other.data, 0)) continue; /* freed below */
    text_free(&other);
  }
  if (entries) closedir(entries);
  if (stems.count > 0)
    qsort(stems.texts, (size_t)stems.count, sizeof *stems.texts,
          compare_texts); /* sorted, so that the result does not depend on the order of the folder */
  const char* nearest = text_nearest(own_stem.data, stems.texts, stems.count);
  if (nearest) text_add(&found, "%.*s%s%s", slash ? (int)(slash - path) + 1 : 0, path, nearest, name + stem);
  for (int i = 0; i < stems.count; i++) memory_free((char*)stems.texts[i]);
  names_free(&stems);
  text_free(&folder);
  text_free(&own_stem);
  return found.data;
}

/* First bytes of the text that Git LFS leaves in place of a large file that was not fetched. */
#define LFS_POINTER "version https://git-lfs.github.com/"

Status file_read_reported(const char* path, char** data, size_t* length, Diagnostics* diagnostics) {
  Status status = file_read(path, data, length);
  if (status == STATUS_OK && strncmp(*data, LFS_POINTER, strlen(LFS_POINTER)) == 0) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                    "the file is a pointer of Git LFS, not the content: run `git lfs pull` in its folder");
    memory_free(*data);
    *data = NULL;
    errno = ENODATA;
    return STATUS_IO;
  }
  if (status == STATUS_OK) return status;
  int error = errno;
  char* suggestion = error == ENOENT ? find_yaml_file(path) : NULL;
  if (!suggestion && error == ENOENT) suggestion = find_similar_file(path);
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot read: %s%s%s%s",
                  file_error_text(error), suggestion ? " (did you mean '" : "", suggestion ? suggestion : "",
                  suggestion ? "'?)" : "");
  memory_free(suggestion);
  errno = error;
  return status;
}

/* Adds the error "cannot <action>: <text of errno>". Returns STATUS_IO. */
static Status report_errno(const char* path, const char* action, Diagnostics* diagnostics) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot %s: %s", action, strerror(errno));
  return STATUS_IO;
}

Status file_write_reported(const char* path, const Text* text, Diagnostics* diagnostics) {
  Status status = file_write(path, text->length > 0 ? text->data : "", text->length);
  return status == STATUS_OK ? status : report_errno(path, "write", diagnostics);
}

Status file_make_folder_reported(const char* path, Diagnostics* diagnostics) {
  return file_make_folder(path) == STATUS_OK ? STATUS_OK : report_errno(path, "make the folder", diagnostics);
}

Status folder_lock(FolderLock* lock, const char* path, Diagnostics* diagnostics) {
  assert(lock && path);
  *lock = (FolderLock){0};
  Status status = file_make_folder_reported(path, diagnostics);
  int folder = status == STATUS_OK ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (folder < 0) return status;
  if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
    lock->file = folder + 1;
    return STATUS_OK;
  }
  bool taken = errno == EWOULDBLOCK;
  close(folder);
  if (!taken) return STATUS_OK;
  diagnostics_add(
      diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
      "another run is writing to the folder: wait until the other run ends, or give another folder with -o");
  return STATUS_IO;
}

void folder_unlock(FolderLock* lock) {
  if (lock->file > 0) close(lock->file - 1);
  *lock = (FolderLock){0};
}

Status file_make_folder_of(const char* path, Diagnostics* diagnostics) {
  char* folder = memory_copy_text(path);
  char* slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  Status status = slash && slash > folder ? file_make_folder_reported(folder, diagnostics) : STATUS_OK;
  memory_free(folder);
  return status;
}

char* file_join(const char* folder, const char* name) {
  assert(folder && name);
  Text path = {0};
  size_t length = strlen(folder);
  text_add(&path, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
  return path.data;
}

bool file_is_regular(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool file_exists(const char* path) {
  struct stat info;
  return stat(path, &info) == 0;
}

/* ---------------------------------------------------------------- writing */

/* Returns true for a device or pipe, which is written directly, because a rename would replace it. */
static bool is_device_or_pipe(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* Creates a file for writing, and deletes a file that an interrupted run has left there. A symbolic link of this name
 * is not followed, because it would select the file to overwrite. */
static FILE* create_exclusively(const char* path) {
  if (unlink(path) != 0 && errno != ENOENT) return NULL;
  return fopen(path, "wxbe");
}

Status file_stream_open(FileStream* out, const char* path) {
  assert(out && path);
  Text temporary = {0};
  text_add(&temporary, "%s~", path);
  out->path = memory_copy_text(path);
  out->temporary = temporary.data;
  if (is_device_or_pipe(path)) {
    memory_free(out->temporary);
    out->temporary = NULL;
  }
  out->stream = out->temporary ? create_exclusively(out->temporary) : fopen(path, "wbe");
  if (out->stream) return STATUS_OK;
  int error = errno;
  memory_free(out->path);
  memory_free(out->temporary);
  *out = (FileStream){0};
  errno = error;
  return STATUS_IO;
}

/* Flushes a stream to the disk. Returns false on failure. Pipes and some file systems cannot sync; this is not a
 * failure. */
static bool flush_to_disk(FILE* stream) {
  if (fflush(stream) != 0 || ferror(stream)) return false;
  return fsync(fileno(stream)) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

Status file_stream_close(FileStream* out) {
  if (!out->stream) return STATUS_IO;
  bool complete = flush_to_disk(out->stream);
  int error = errno;
  if (fclose(out->stream) != 0 && complete) {
    complete = false;
    error = errno;
  }
  out->stream = NULL;
  if (complete && out->temporary && rename(out->temporary, out->path) != 0) {
    complete = false;
    error = errno;
  }
  if (!complete && out->temporary) unlink(out->temporary);
  file_stream_discard(out);
  if (complete) return STATUS_OK;
  errno = error;
  return STATUS_IO;
}

/* file_stream_close calls this function with out->stream NULL, to free the texts only. */
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
  assert(data || length == 0);
  FileStream out = {0};
  if (file_stream_open(&out, path) != STATUS_OK) return STATUS_IO;
  if (length > 0) fwrite(data, 1, length, out.stream); /* file_stream_close checks ferror */
  return file_stream_close(&out);
}

/* ---------------------------------------------------------------- names */

static bool create_folder(const char* path) {
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
  char* prefix = memory_copy_text(path);
  bool made = true;
  for (char* slash = strchr(prefix, '/'); slash && made; slash = strchr(slash + 1, '/')) {
    if (slash == prefix || slash[-1] == '/') continue;
    *slash = '\0';
    made = create_folder(prefix);
    *slash = '/';
  }
  made = made && create_folder(prefix);
  int error = errno;
  memory_free(prefix);
  errno = error;
  return made ? STATUS_OK : STATUS_IO;
}

char* file_resolve(const char* base_file, const char* relative) {
  assert(base_file && relative);
  const char* slash = strrchr(base_file, '/');
  if (relative[0] == '/' || !slash) return memory_copy_text(relative);
  Text path = {0};
  text_add_bytes(&path, base_file, (size_t)(slash - base_file) + 1);
  text_add_bytes(&path, relative, strlen(relative));
  return path.data;
}

/* Returns the absolute path without symbolic links, `.` and `..`. A path that does not exist is only normalized. The
 * caller frees the result. */
static char* make_absolute_path(const char* path) {
  char* real = realpath(path, NULL); /* freed by free, because the C library allocates it */
  if (!real && path[0] != '/') real = realpath(".", NULL);
  Text text = {0};
  bool complete = real && file_exists(path);
  text_add(&text, "%s%s%s", real ? real : "", complete ? "" : "/", complete ? "" : path);
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

static char* make_relative_path(const char* folder, const char* path) {
  char *from = make_absolute_path(folder), *to = make_absolute_path(path);
  size_t same = 0; /* length of the folders that both paths have in common */
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

char* file_relative_path(const char* folder, const char* path) {
  return path[0] == '/' ? memory_copy_text(path) : make_relative_path(folder, path);
}

char* file_relative_if_inside(const char* folder, const char* path) {
  char* relative = make_relative_path(folder, path);
  bool outside = strcmp(relative, "..") == 0 || strncmp(relative, "../", 3) == 0;
  if (!outside) return relative;
  memory_free(relative);
  return NULL;
}

char* file_stem(const char* path) {
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') end--; /* ignores trailing slashes */
  size_t start = end;
  while (start > 0 && path[start - 1] != '/') start--;
  size_t dot = end;
  while (dot > start && path[dot - 1] != '.') dot--;
  if (dot > start + 1) end = dot - 1; /* a leading dot begins a hidden name, not an extension */
  Text stem = {0};
  text_add_bytes(&stem, path + start, end - start);
  return stem.data;
}
