#include "optimize/checkpoint.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char MAGIC[] = "sdrs checkpoint ";
#define VERSION 1
enum { HASH_DIGITS = 64, NUMBER_DIGITS = 16 };

/* ---------------------------------------------------------------- arrays */

static const char* kind_word(bool is_integers) { return is_integers ? "integers" : "doubles"; }

static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("._-/", c));
}

static bool is_name(const char* text, size_t length) {
  if (length == 0 || length >= CHECKPOINT_NAME_SIZE) return false;
  for (size_t i = 0; i < length; i++)
    if (!is_name_byte(text[i])) return false;
  return true;
}

static const CheckpointArray* find(const Checkpoint* checkpoint, const char* name) {
  for (int i = 0; i < checkpoint->count; i++)
    if (strcmp(checkpoint->arrays[i].name, name) == 0) return &checkpoint->arrays[i];
  return NULL;
}

/* A new array with its values still zero. */
static CheckpointArray* append(Checkpoint* checkpoint, const char* name, size_t name_length, bool is_integers,
                               int count) {
  if (checkpoint->count == checkpoint->capacity) {
    int capacity = checkpoint->capacity ? 2 * checkpoint->capacity : 8;
    checkpoint->arrays = memory_resize(checkpoint->arrays, sizeof(CheckpointArray) * (size_t)checkpoint->capacity,
                                       sizeof(CheckpointArray) * (size_t)capacity);
    checkpoint->capacity = capacity;
  }
  CheckpointArray* array = &checkpoint->arrays[checkpoint->count++];
  *array = (CheckpointArray){.is_integers = is_integers, .count = count, .bits = MEMORY_NEW(uint64_t, count)};
  memcpy(array->name, name, name_length);
  return array;
}

/* Doubles and integers alike are 8 bytes that are kept as they are. */
static void add(Checkpoint* checkpoint, const char* name, bool is_integers, const void* values, int count) {
  assert(count >= 0 && is_name(name, strlen(name)) && !find(checkpoint, name));
  CheckpointArray* array = append(checkpoint, name, strlen(name), is_integers, count);
  if (count > 0) memcpy(array->bits, values, sizeof(uint64_t) * (size_t)count);
}

void checkpoint_add_doubles(Checkpoint* checkpoint, const char* name, const double* values, int count) {
  add(checkpoint, name, false, values, count);
}

void checkpoint_add_integers(Checkpoint* checkpoint, const char* name, const int64_t* values, int count) {
  add(checkpoint, name, true, values, count);
}

static int count_of(const Checkpoint* checkpoint, const char* name, bool is_integers) {
  const CheckpointArray* array = find(checkpoint, name);
  return array && array->is_integers == is_integers ? array->count : -1;
}

int checkpoint_doubles_count(const Checkpoint* checkpoint, const char* name) {
  return count_of(checkpoint, name, false);
}

int checkpoint_integers_count(const Checkpoint* checkpoint, const char* name) {
  return count_of(checkpoint, name, true);
}

static bool get(const Checkpoint* checkpoint, const char* name, bool is_integers, void* values, int count,
                Diagnostics* diagnostics) {
  int found = count_of(checkpoint, name, is_integers);
  if (found == count) {
    if (count > 0) memcpy(values, find(checkpoint, name)->bits, sizeof(uint64_t) * (size_t)count);
    return true;
  }
  SourcePlace place = {.file = checkpoint->path};
  if (found < 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "checkpoint has no %s '%s'", kind_word(is_integers), name);
  else
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "checkpoint has %d %s '%s', %d are needed: it is of another task", found, kind_word(is_integers),
                    name, count);
  return false;
}

bool checkpoint_get_doubles(const Checkpoint* checkpoint, const char* name, double* values, int count,
                            Diagnostics* diagnostics) {
  return get(checkpoint, name, false, values, count, diagnostics);
}

bool checkpoint_get_integers(const Checkpoint* checkpoint, const char* name, int64_t* values, int count,
                             Diagnostics* diagnostics) {
  return get(checkpoint, name, true, values, count, diagnostics);
}

void checkpoint_free(Checkpoint* checkpoint) {
  for (int i = 0; i < checkpoint->count; i++) memory_free(checkpoint->arrays[i].bits);
  memory_free(checkpoint->arrays);
  memory_free(checkpoint->path);
  *checkpoint = (Checkpoint){0};
}

/* ---------------------------------------------------------------- writing */

static void format_arrays(const Checkpoint* checkpoint, Text* out) {
  for (int i = 0; i < checkpoint->count; i++) {
    const CheckpointArray* array = &checkpoint->arrays[i];
    text_add(out, "%s %s %d\n", kind_word(array->is_integers), array->name, array->count);
    for (int k = 0; k < array->count; k++) text_add(out, "%016" PRIx64 "\n", array->bits[k]);
  }
  text_add(out, "end\n");
}

void checkpoint_format(const Checkpoint* checkpoint, Text* out) {
  Text content = {0};
  format_arrays(checkpoint, &content);
  char hash[HASH_DIGITS + 1];
  hash_sha256(content.data, content.length, hash);
  text_add(out, "%s%d\nsha256 %s\n", MAGIC, VERSION, hash);
  text_add_bytes(out, content.data, content.length);
  text_free(&content);
}

Status checkpoint_write(const Checkpoint* checkpoint, const char* path) {
  Text text = {0};
  checkpoint_format(checkpoint, &text);
  Status status = file_write(path, text.data, text.length);
  int error = errno;
  text_free(&text);
  errno = error;
  return status;
}

/* ---------------------------------------------------------------- reading */

/* The rest of the text, line by line. */
typedef struct {
  const char* path;
  const char *at, *end;
  int line; /* of the line last taken */
  Diagnostics* diagnostics;
} Lines;

static bool refuse(const Lines* lines, const char* format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const Lines* lines, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_v(&text, format, arguments);
  va_end(arguments);
  SourcePlace place = {.file = lines->path, .line = lines->line};
  diagnostics_add(lines->diagnostics, SEVERITY_ERROR, place, "%s", text.data);
  text_free(&text);
  return false;
}

/* The next line without its end; a last line that lacks its end is none. */
static bool take_line(Lines* lines, const char** text, size_t* length) {
  lines->line++;
  size_t rest = (size_t)(lines->end - lines->at);
  const char* stop = rest > 0 ? memchr(lines->at, '\n', rest) : NULL;
  if (!stop) return false;
  *text = lines->at;
  *length = (size_t)(stop - lines->at);
  lines->at = stop + 1;
  return true;
}

static bool begins_with(const char* text, size_t length, const char* word) {
  size_t size = strlen(word);
  return length >= size && memcmp(text, word, size) == 0;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_bits(const char* text, size_t length, uint64_t* bits) {
  if (length != NUMBER_DIGITS) return false;
  uint64_t value = 0;
  for (int i = 0; i < NUMBER_DIGITS; i++) {
    int digit = hex_digit(text[i]);
    if (digit < 0) return false;
    value = value << 4 | (uint64_t)digit;
  }
  *bits = value;
  return true;
}

/* A count in decimal without leading zeros, at most `most`. */
static bool read_count(const char* text, size_t length, size_t most, int* count) {
  if (length == 0 || length > 9 || (text[0] == '0' && length > 1)) return false;
  size_t value = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = 10 * value + (size_t)(text[i] - '0');
  }
  *count = (int)value;
  return value <= most;
}

static bool read_version(Lines* lines) {
  const char* text;
  size_t length;
  if (!take_line(lines, &text, &length) || !begins_with(text, length, MAGIC))
    return refuse(lines, "this is no sdrs checkpoint: it must begin with '%s%d'", MAGIC, VERSION);
  int version;
  size_t skip = strlen(MAGIC);
  if (!read_count(text + skip, length - skip, VERSION, &version) || version != VERSION)
    return refuse(lines, "checkpoint of another version, this program reads version %d", VERSION);
  return true;
}

/* Every byte after the line with the hash is under it, and the line itself is compared: no change goes unseen. */
static bool check_hash(Lines* lines) {
  const char* text;
  size_t length;
  if (!take_line(lines, &text, &length) || !begins_with(text, length, "sha256 ") || length != 7 + HASH_DIGITS)
    return refuse(lines, "the checkpoint is damaged: the line 'sha256 <%d digits>' is missing", HASH_DIGITS);
  char hash[HASH_DIGITS + 1];
  hash_sha256(lines->at, (size_t)(lines->end - lines->at), hash);
  if (memcmp(text + 7, hash, HASH_DIGITS) == 0) return true;
  return refuse(lines, "the checkpoint is damaged or cut short: its content has SHA-256 %s", hash);
}

static bool read_values(Lines* lines, CheckpointArray* array) {
  for (int k = 0; k < array->count; k++) {
    const char* text;
    size_t length;
    if (!take_line(lines, &text, &length) || !read_bits(text, length, &array->bits[k]))
      return refuse(lines, "'%s' must have %d numbers of %d hexadecimal digits, the %d. is none", array->name,
                    array->count, NUMBER_DIGITS, k + 1);
  }
  return true;
}

/* "<kind> <name> <count>" and its numbers. */
static bool read_array(Lines* lines, Checkpoint* checkpoint, const char* text, size_t length) {
  bool is_integers = begins_with(text, length, "integers ");
  if (!is_integers && !begins_with(text, length, "doubles "))
    return refuse(lines, "must be 'doubles <name> <count>', 'integers <name> <count>' or 'end'");
  const char *name = text + strlen(kind_word(is_integers)) + 1, *stop = text + length;
  const char* space = memchr(name, ' ', (size_t)(stop - name));
  if (!space || !is_name(name, (size_t)(space - name))) return refuse(lines, "array without a proper name");
  int count;
  /* No more than the rest of the file can hold, so that a wrong count asks for no memory. */
  size_t most = (size_t)(lines->end - lines->at) / (NUMBER_DIGITS + 1);
  if (!read_count(space + 1, (size_t)(stop - space - 1), most, &count))
    return refuse(lines, "count of an array must be a whole number, at most what the file holds");
  char copy[CHECKPOINT_NAME_SIZE] = {0};
  size_t name_length = (size_t)(space - name);
  memcpy(copy, name, name_length);
  if (find(checkpoint, copy)) return refuse(lines, "array '%s' occurs twice", copy);
  return read_values(lines, append(checkpoint, name, name_length, is_integers, count));
}

static bool read_arrays(Lines* lines, Checkpoint* checkpoint) {
  for (;;) {
    const char* text;
    size_t length;
    if (!take_line(lines, &text, &length)) return refuse(lines, "the checkpoint ends without 'end'");
    if (length == 3 && memcmp(text, "end", 3) == 0) break;
    if (!read_array(lines, checkpoint, text, length)) return false;
  }
  return lines->at == lines->end || refuse(lines, "something stands after 'end'");
}

Status checkpoint_parse(Checkpoint* checkpoint, const char* path, const char* data, size_t length,
                        Diagnostics* diagnostics) {
  *checkpoint = (Checkpoint){.path = memory_text(path)};
  Lines lines = {.path = checkpoint->path, .at = data, .end = data + length, .diagnostics = diagnostics};
  if (read_version(&lines) && check_hash(&lines) && read_arrays(&lines, checkpoint)) return STATUS_OK;
  checkpoint_free(checkpoint);
  return STATUS_BAD_INPUT;
}

Status checkpoint_read(Checkpoint* checkpoint, const char* path, Diagnostics* diagnostics) {
  *checkpoint = (Checkpoint){0};
  char* data;
  size_t length;
  if (file_read_reported(path, &data, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = checkpoint_parse(checkpoint, path, data, length, diagnostics);
  memory_free(data);
  return status;
}
