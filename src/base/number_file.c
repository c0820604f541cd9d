#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/base.h"

#define VERSION 1
enum { HASH_DIGITS = 64, NUMBER_DIGITS = 16 };

/* ---------------------------------------------------------------- arrays */

static const char* kind_word(bool is_integers) { return is_integers ? "integers" : "doubles"; }

static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("._-/", c));
}

static bool is_name(const char* text, size_t length) {
  if (length == 0 || length >= NUMBER_NAME_SIZE) return false;
  for (size_t i = 0; i < length; i++)
    if (!is_name_byte(text[i])) return false;
  return true;
}

static const NumberArray* find_array(const NumberFile* file, const char* name) {
  for (int i = 0; i < file->count; i++)
    if (strcmp(file->arrays[i].name, name) == 0) return &file->arrays[i];
  return NULL;
}

static NumberArray* append_array(NumberFile* file, const char* name, size_t name_length, bool is_integers, int count) {
  assert(count >= 0);
  file->arrays = memory_grow_array(file->arrays, sizeof(NumberArray), file->count, &file->capacity);
  NumberArray* array = &file->arrays[file->count++];
  *array = (NumberArray){.is_integers = is_integers, .count = count, .bits = MEMORY_NEW(uint64_t, count)};
  memcpy(array->name, name, name_length);
  return array;
}

/* Appends an array with a copy of `count` doubles or integers; both are stored as 8 bytes. */
static void add_copy(NumberFile* file, const char* name, bool is_integers, const void* values, int count) {
  assert(count >= 0 && is_name(name, strlen(name)) && !find_array(file, name));
  NumberArray* array = append_array(file, name, strlen(name), is_integers, count);
  if (count > 0) memcpy(array->bits, values, sizeof(uint64_t) * (size_t)count);
}

void number_file_add_doubles(NumberFile* file, const char* name, const double* values, int count) {
  add_copy(file, name, false, values, count);
}

void number_file_add_integers(NumberFile* file, const char* name, const int64_t* values, int count) {
  add_copy(file, name, true, values, count);
}

static int array_count(const NumberFile* file, const char* name, bool is_integers) {
  const NumberArray* array = find_array(file, name);
  return array && array->is_integers == is_integers ? array->count : -1;
}

int number_file_doubles_count(const NumberFile* file, const char* name) { return array_count(file, name, false); }

int number_file_integers_count(const NumberFile* file, const char* name) { return array_count(file, name, true); }

static bool copy_array(const NumberFile* file, const char* name, bool is_integers, void* values, int count,
                       Diagnostics* diagnostics) {
  int found = array_count(file, name, is_integers);
  if (found == count) {
    if (count > 0) memcpy(values, find_array(file, name)->bits, sizeof(uint64_t) * (size_t)count);
    return true;
  }
  SourcePosition place = {.file = file->path};
  if (found < 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "the %s has no array of %s named '%s': create the file again",
                    file->kind, kind_word(is_integers), name);
  else
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "the %s has %d %s in array '%s', but %d are required: give the task that wrote the file",
                    file->kind, found, kind_word(is_integers), name, count);
  return false;
}

bool number_file_get_doubles(const NumberFile* file, const char* name, double* values, int count,
                             Diagnostics* diagnostics) {
  assert(values || count == 0);
  return copy_array(file, name, false, values, count, diagnostics);
}

bool number_file_get_integers(const NumberFile* file, const char* name, int64_t* values, int count,
                              Diagnostics* diagnostics) {
  assert(values || count == 0);
  return copy_array(file, name, true, values, count, diagnostics);
}

void number_file_free(NumberFile* file) {
  for (int i = 0; i < file->count; i++) memory_free(file->arrays[i].bits);
  memory_free(file->arrays);
  memory_free(file->path);
  *file = (NumberFile){0};
}

/* ---------------------------------------------------------------- writing */

static void format_arrays(const NumberFile* file, Text* out) {
  for (int i = 0; i < file->count; i++) {
    const NumberArray* array = &file->arrays[i];
    text_add(out, "%s %s %d\n", kind_word(array->is_integers), array->name, array->count);
    for (int k = 0; k < array->count; k++) text_add(out, "%016" PRIx64 "\n", array->bits[k]);
  }
  text_add(out, "end\n");
}

void number_file_format(const NumberFile* file, Text* out) {
  assert(file->kind);
  Text content = {0};
  format_arrays(file, &content);
  char hash[HASH_DIGITS + 1];
  hash_sha256(content.data, content.length, hash);
  text_add(out, "sdrs %s %d\nsha256 %s\n", file->kind, VERSION, hash);
  text_add_bytes(out, content.data, content.length);
  text_free(&content);
}

Status number_file_write(const NumberFile* file, const char* path) {
  Text text = {0};
  number_file_format(file, &text);
  Status status = file_write(path, text.data, text.length);
  int error = errno;
  text_free(&text);
  errno = error;
  return status;
}

/* ---------------------------------------------------------------- reading */

/* The lines of the text that is being read. */
typedef struct {
  const char *kind, *path;
  const char *at, *end; /* the rest of the text */
  int line;             /* number of the line that was read last */
  Diagnostics* diagnostics;
} LineReader;

static bool report_error(const LineReader* reader, const char* format, ...) __attribute__((format(printf, 2, 3)));
static bool report_error(const LineReader* reader, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  SourcePosition place = {.file = reader->path, .line = reader->line};
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s", text.data);
  text_free(&text);
  return false;
}

/* Sets *text and *length to the next line without its line feed. Returns false if no line feed follows. */
static bool read_line(LineReader* reader, const char** text, size_t* length) {
  reader->line++;
  size_t rest = (size_t)(reader->end - reader->at);
  const char* stop = rest > 0 ? memchr(reader->at, '\n', rest) : NULL;
  if (!stop) return false;
  *text = reader->at;
  *length = (size_t)(stop - reader->at);
  reader->at = stop + 1;
  return true;
}

static bool has_prefix(const char* text, size_t length, const char* word) {
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

/* Reads a decimal count without leading zeros. Returns false if the text is no such number, or is greater than
 * count_max. */
static bool read_count(const char* text, size_t length, size_t count_max, int* count) {
  if (length == 0 || length > 9 || (text[0] == '0' && length > 1)) return false;
  size_t value = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = 10 * value + (size_t)(text[i] - '0');
  }
  *count = (int)value;
  return value <= count_max;
}

static bool read_version(LineReader* reader) {
  const char* text;
  size_t length, skip = strlen("sdrs ") + strlen(reader->kind) + 1;
  if (!read_line(reader, &text, &length) || !has_prefix(text, length, "sdrs ") ||
      !has_prefix(text + 5, length - 5, reader->kind) || length < skip || text[skip - 1] != ' ')
    return report_error(reader, "the file is no sdrs %s: the first line must be 'sdrs %s %d'", reader->kind,
                        reader->kind, VERSION);
  int version;
  if (!read_count(text + skip, length - skip, VERSION, &version) || version != VERSION)
    return report_error(reader,
                        "the version of the %s is not %d, which is the version that sdrs reads: create the file again",
                        reader->kind, VERSION);
  return true;
}

/* Returns true if the hash in the file equals the hash of all bytes after the hash's line. Otherwise adds an error. */
static bool check_hash(LineReader* reader) {
  const char* text;
  size_t length;
  if (!read_line(reader, &text, &length) || !has_prefix(text, length, "sha256 ") || length != 7 + HASH_DIGITS)
    return report_error(reader,
                        "the %s is damaged, without the line 'sha256 <%d digits>': copy or create the file again",
                        reader->kind, HASH_DIGITS);
  char hash[HASH_DIGITS + 1];
  hash_sha256(reader->at, (size_t)(reader->end - reader->at), hash);
  if (memcmp(text + 7, hash, HASH_DIGITS) == 0) return true;
  return report_error(reader,
                      "the %s is damaged or cut short: its content has SHA-256 %s: copy or create the file again",
                      reader->kind, hash);
}

static bool read_values(LineReader* reader, NumberArray* array) {
  for (int k = 0; k < array->count; k++) {
    const char* text;
    size_t length;
    if (!read_line(reader, &text, &length) || !read_bits(text, length, &array->bits[k]))
      return report_error(
          reader,
          "array '%s' must have %d numbers of %d hexadecimal digits, but number %d has another form: create "
          "the file again",
          array->name, array->count, NUMBER_DIGITS, k + 1);
  }
  return true;
}

/* Reads an array whose first line, "<kind> <name> <count>", is text (length bytes). */
static bool read_array(LineReader* reader, NumberFile* file, const char* text, size_t length) {
  bool is_integers = has_prefix(text, length, "integers ");
  if (!is_integers && !has_prefix(text, length, "doubles "))
    return report_error(reader, "expected 'doubles <name> <count>', 'integers <name> <count>' or 'end'");
  const char *name = text + strlen(kind_word(is_integers)) + 1, *stop = text + length;
  const char* space = memchr(name, ' ', (size_t)(stop - name));
  if (!space || !is_name(name, (size_t)(space - name)))
    return report_error(reader, "the name of an array must consist of letters, digits and . _ - /");
  int count;
  /* the count is limited by the rest of the file, so that a wrong count allocates no memory */
  size_t count_max = (size_t)(reader->end - reader->at) / (NUMBER_DIGITS + 1);
  if (!read_count(space + 1, (size_t)(stop - space - 1), count_max, &count))
    return report_error(reader,
                        "the count of an array must be a whole number and at most the number of values in the file");
  char copy[NUMBER_NAME_SIZE] = {0};
  size_t name_length = (size_t)(space - name);
  memcpy(copy, name, name_length);
  if (find_array(file, copy)) return report_error(reader, "array '%s' occurs twice", copy);
  return read_values(reader, append_array(file, name, name_length, is_integers, count));
}

static bool read_arrays(LineReader* reader, NumberFile* file) {
  for (;;) {
    const char* text;
    size_t length;
    if (!read_line(reader, &text, &length))
      return report_error(reader, "the %s is cut short, without the last line 'end': copy or create the file again",
                          reader->kind);
    if (length == 3 && memcmp(text, "end", 3) == 0) break;
    if (!read_array(reader, file, text, length)) return false;
  }
  return reader->at == reader->end ||
         report_error(reader, "the file continues after 'end': remove the lines after 'end'");
}

Status number_file_parse(NumberFile* file, const char* kind, const char* path, const char* data, size_t length,
                         Diagnostics* diagnostics) {
  assert(data || length == 0);
  *file = (NumberFile){.kind = kind, .path = memory_copy_text(path)};
  LineReader reader = {.kind = kind, .path = file->path, .at = data, .end = data + length, .diagnostics = diagnostics};
  if (read_version(&reader) && check_hash(&reader) && read_arrays(&reader, file)) return STATUS_OK;
  number_file_free(file);
  return STATUS_BAD_INPUT;
}

Status number_file_read(NumberFile* file, const char* kind, const char* path, Diagnostics* diagnostics) {
  *file = (NumberFile){0};
  char* data;
  size_t length;
  if (file_read_reported(path, &data, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = number_file_parse(file, kind, path, data, length, diagnostics);
  memory_free(data);
  return status;
}
