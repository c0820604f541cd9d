/* base: status codes, diagnostics, memory, text, files, hashes, time, threads; used by every folder. Every x_create or
 * x_init has an x_destroy or x_free, which accepts a zeroed or partly built object. */
#ifndef SDRS_BASE_H
#define SDRS_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Process exit codes of the command line (docs/cli.md). */
typedef enum {
  EXIT_DONE = 0,          /* success */
  EXIT_CHECK_FAILED = 1,  /* a check failed: a difference or a fault was found */
  EXIT_USAGE = 2,         /* wrong command line */
  EXIT_BAD_INPUT = 3,     /* invalid scene, mesh or query */
  EXIT_SOLVER = 4,        /* the solver failed; output ends with the last good state */
  EXIT_IO = 5,            /* cannot read or write */
  EXIT_INTERRUPTED = 130, /* SIGINT, SIGTERM or SIGUSR1 */
} ExitCode;

/* Result of a function that can fail. Details are in Diagnostics. */
typedef enum {
  STATUS_OK = 0,
  STATUS_BAD_INPUT,
  STATUS_IO,
  STATUS_SOLVER,
  STATUS_INTERRUPTED,
  STATUS_NO_MEMORY,
} Status;

/* Returns the exit code of a status. STATUS_NO_MEMORY and invalid values give EXIT_IO. */
ExitCode status_exit_code(Status status);

/* ---------------------------------------------------------------- diagnostics (base/diagnostics.c) */

typedef enum { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } Severity;

/* Position in a user's file. line and column count from 1; 0 = unknown. */
typedef struct {
  const char* file; /* borrowed; valid as long as the object that returned it */
  int line, column;
} SourcePlace;

typedef struct {
  Severity severity;
  char* file; /* owned copy, or NULL */
  int line, column;
  char* text; /* owned */
} Diagnostic;

/* Errors, warnings and notes, collected so that all are reported at once. Initialize with {0}. */
typedef struct {
  Diagnostic* items;
  int count, capacity;
  int error_count, warning_count;
} Diagnostics;

/* Appends a message. `format` gives its text in printf style, without position, severity and trailing newline. File
 * name and text are copied. Errors and warnings are counted, notes are not. A warning that is already present is not
 * added again, because a task builds its scene several times. */
void diagnostics_add(Diagnostics* diagnostics, Severity severity, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Appends copies of the messages of `more` that are not present yet, with the same severity, position and text. Several
 * readers of one file report the same messages. Never fails. */
void diagnostics_add_new(Diagnostics* diagnostics, const Diagnostics* more);
/* Sorts the messages by file, line and column (stable) and prints each as `file:line:col: error: text`. The source line
 * and a caret follow if the file is readable. A long line is cut to about 120 characters around the caret. color: use
 * ANSI colours. Each file is read once. */
void diagnostics_print(Diagnostics* diagnostics, FILE* stream, bool color);
/* Frees all texts and zeroes the struct; accepts a zeroed one, not NULL. */
void diagnostics_free(Diagnostics* diagnostics);

/* ---------------------------------------------------------------- memory (base/memory.c)
 * A failed allocation ends the process with a message and EXIT_IO; within memory_try it makes memory_try return false.
 * memory_allocation_count counts all allocations below, so that tests can prove that a step does not allocate. */
/* Returns a zeroed, 64-byte aligned block of `size` bytes (0 allowed), never NULL. The caller frees it with
 * memory_free. */
void* memory_alloc(size_t size);
/* Returns a new block of `size` bytes, 64-byte aligned and never NULL, and frees `old`. The block begins with the first
 * old_size bytes of `old`; its other bytes are zero. `old` may be NULL. */
void* memory_resize(void* old, size_t old_size, size_t size);
/* Makes room for one more element in an array of `count` elements and returns the array. If the array is full, doubles
 * its capacity (64 elements at first) by moving it to a new block, and frees the old one. element: size of an element
 * [bytes]; *capacity: number of allocated elements, updated. An array starts as NULL with capacity 0. */
void* memory_grown(void* array, size_t element, int count, int* capacity);
/* Makes memory_free return blocks of 128 KiB and more to the system, for the whole process. Before this call only
 * blocks of 2 MiB and more are returned. Never fails. */
void memory_give_back(void);
/* Frees a block, also one that belongs to a pool; accepts NULL. */
void memory_free(void* pointer);
/* Returns a copy of a NUL-terminated string. The caller frees it with memory_free. text must not be NULL. */
char* memory_text(const char* text);
/* Reports that no memory is left. To be called also when a library fails to allocate. size: bytes requested, for the
 * message. Does not return: jumps to the memory_try of this thread, which returns false, or ends the process with
 * EXIT_IO. */
_Noreturn void memory_exhausted(size_t size);

/* A pool owns all blocks allocated within memory_try, including those of parallel_for, and frees the remaining ones
 * together. A failure therefore leaks nothing. */
typedef struct MemoryPool MemoryPool;
/* Returns a new, empty pool, or NULL if there is no memory. The caller frees it with memory_pool_destroy. */
MemoryPool* memory_pool_create(void);
/* Frees the pool and all its blocks; accepts NULL. */
void memory_pool_destroy(MemoryPool* pool);
/* Returns the number of blocks in the pool. No other thread may allocate in the pool meanwhile. pool must not be
 * NULL. */
int64_t memory_pool_count(const MemoryPool*);
/* Returns the pool of this thread's innermost memory_try, borrowed; NULL outside of memory_try. */
MemoryPool* memory_pool_in_use(void);
/* For tests: makes the given allocation within memory_try (1: the next one) and all later ones fail. 0: none fails. */
void memory_fail_at(int64_t allocation);
typedef void (*MemoryBody)(void* context);
/* Runs body(context) with `pool` as the owner of its allocations. Returns false if an allocation failed; body was then
 * left by longjmp. The caller must discard everything that body was changing, and body must hold no resource other than
 * memory of the pool. Calls may be nested. */
bool memory_try(MemoryPool* pool, MemoryBody body, void* context);
/* Returns the number of allocations since the process began, in all threads, freed blocks included. Never fails. */
uint64_t memory_allocation_count(void);
/* Returns the number of bytes allocated at present in all threads and pools, as rounded by the allocator. For tests.
 * Never fails. */
uint64_t memory_held(void);
/* Returns the largest value of memory_held since the process began or since the last memory_peak_begin. Never fails. */
uint64_t memory_peak(void);
/* Restarts memory_peak, for all threads, from the number of bytes allocated at present. */
void memory_peak_begin(void);
#define GIBIBYTE 1073741824.0 /* bytes */
#define MEMORY_NEW(type, count) ((type*)memory_alloc(sizeof(type) * (size_t)(count)))

/* ---------------------------------------------------------------- serialized state (base/state_block.c)
 * One function visits all numbers of a state. It is called once per pass: BLOCK_MEASURE counts the numbers, BLOCK_WRITE
 * stores them, BLOCK_READ restores them. Every number takes one 64-bit word, so a block is portable once its words are
 * written in order. */
typedef enum { BLOCK_MEASURE, BLOCK_WRITE, BLOCK_READ } BlockPass;
typedef struct {
  BlockPass pass;
  uint64_t* words; /* as many words as were measured; unused in BLOCK_MEASURE */
  size_t at;       /* current position [words] */
  size_t count;    /* BLOCK_READ: number of words */
  bool failed;     /* BLOCK_READ: the block ended too early, or a value was out of range; zeros were read instead */
} StateBlock;
/* Counts, stores or restores values (count), one word each, as block->pass says. BLOCK_READ gives zeros beyond the end
 * of the block and sets `failed`. Does not allocate. */
void state_block_doubles(StateBlock* block, double* values, size_t count);
/* Counts, stores or restores one 64-bit word, like state_block_doubles. */
void state_block_word(StateBlock* block, uint64_t* value);
/* Counts, stores or restores an integer, one word. BLOCK_READ replaces a value outside low..high by `low` and sets
 * `failed`. BLOCK_WRITE does not check the range. Requires low <= high. */
void state_block_int(StateBlock* block, int* value, int low, int high);
/* Counts, stores or restores a bool, one word. BLOCK_READ reads a word other than 0 and 1 as false and sets
 * `failed`. */
void state_block_bool(StateBlock* block, bool* value);

/* ---------------------------------------------------------------- growing text (base/text.c) */
typedef struct {
  char* data; /* NUL-terminated; NULL before the first addition */
  size_t length, capacity;
} Text;
/* Appends formatted text; grows as needed. A Text starts as {0} and is freed by text_free. */
void text_add(Text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Does the same as text_add with a va_list, which is consumed; the caller calls va_end. */
void text_add_v(Text* text, const char* format, va_list arguments);
/* Appends `length` bytes, which may include NUL bytes. If length is 0 and data is NULL, data becomes "". */
void text_add_bytes(Text* text, const char* bytes, size_t length);
/* Appends the shortest decimal that is read back as the same double; "nan" and "inf" for these values. -0 keeps its
 * sign. */
void text_add_double(Text* text, double value);
/* Appends a word for a POSIX shell, quoted if needed, so that the shell expands nothing in the word. An empty word
 * becomes ''. */
void text_add_shell(Text* text, const char* word);
/* Appends a JSON string with quotes and escapes. string: UTF-8, NUL-terminated, not checked. */
void text_add_json_string(Text* text, const char* string);
/* Appends bytes (length) as base64 with padding (RFC 4648, section 4). bytes may be NULL if length is 0. */
void text_add_base64(Text* text, const void* bytes, size_t length);
/* Frees data and zeroes the Text; accepts a zeroed one, not NULL. */
void text_free(Text* text);
/* Appends text escaped for roff (manual pages); words between backquotes become bold (base/roff.c). An unpaired
 * backquote is bold up to the end. */
void text_add_roff(Text* out, const char* text);
/* Returns the edit distance of two texts in bytes. It counts insertions, deletions, replacements, and exchanges of two
 * neighbours, which are not edited again (optimal string alignment). Allocates temporarily. The time grows with the
 * product of both lengths. */
int text_distance(const char* a, const char* b);
/* Returns the candidate (count) that is nearest to `word` by text_distance, the first of equals, borrowed. Returns NULL
 * if no candidate is near enough for `word` to be a misspelling: at most one error in three letters. */
const char* text_nearest(const char* word, const char* const* candidates, int count);

/* ---------------------------------------------------------------- words and excerpts (base/words.c) */

/* A text cut for messages, with control characters replaced. */
typedef struct {
  char text[72];
} Excerpt;
/* Returns at most 68 bytes of text, followed by "..." if the text is longer. Never cuts a UTF-8 character. Does not
 * allocate. */
Excerpt text_excerpt(const char* text);

/* Returns the number of words in a list "one|another", at least 1, because an empty text is one empty word. */
int words_count(const char* words);
/* Returns the index of `word` in a list "one|another", from 0; -1 if absent. Compares whole words, case-sensitive. */
int words_index(const char* words, const char* word);
/* Returns a copy of the word at `index` < words_count of a list "one|another", cut at 71 bytes. */
Excerpt words_at(const char* words, int index);
/* Appends the words of a list "one|another|a third" as "one, another or a third". */
void words_sentence(const char* words, Text* out);

/* ---------------------------------------------------------------- names (base/names.c)
 * Hash table from texts to indices, for thousands of links. */

/* Initialize with {0}. The texts are borrowed. */
typedef struct {
  const char** texts; /* in order of addition */
  int* values;
  int count, capacity;
  int* slots; /* open addressing; -1 = free */
  int slot_count;
} Names;

/* Adds a text with a value >= 0. The text is borrowed and must outlive the table. Returns false, with nothing changed,
 * if the text is already in the table. May allocate. */
bool names_add(Names* names, const char* text, int value);
/* Returns the value of a text, or -1 if it is not in the table. Does not allocate. */
int names_find(const Names* names, const char* text);
/* Returns the text of the table that is nearest to `text` (see text_nearest), borrowed. Returns NULL if none is near
 * enough or the table has more than 5000 texts. Allocates temporarily. */
const char* names_nearest(const Names* names, const char* text);
/* Frees the arrays, not the texts, and zeroes the table; accepts a zeroed one, not NULL. */
void names_free(Names* names);

/* ---------------------------------------------------------------- positions in a text (base/source.c) */

/* Longest text accepted [bytes]. */
#define SOURCE_LENGTH_MAX ((size_t)1 << 28)
/* Returns true if text (length bytes) is valid UTF-8 without NUL bytes and at most SOURCE_LENGTH_MAX long. Otherwise
 * adds one error, at the first bad byte, and returns false. source: name for messages. */
bool source_check(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Advances a position past the byte at `at`: to the next line after LF, CR or CRLF, else by one column per character.
 * `at` points into a NUL-terminated text (the byte after a CR is read). */
void place_advance(SourcePlace* place, const char* at);
/* Returns line and column (in characters, from 1) of a byte offset within text. `source` is borrowed. */
SourcePlace source_place(const char* source, const char* text, size_t offset);

/* ---------------------------------------------------------------- files (base/file.c) */
/* Reads a whole file. Sets *data to its bytes, NUL-terminated, and *length to their number. The caller frees *data with
 * memory_free. Limits: 2 GiB, 256 MiB from a pipe, 1 MiB from a device; a pipe without a writer fails after 10 s.
 * Returns STATUS_IO on failure, with errno set (see file_error_text), *data NULL and *length 0. */
Status file_read(const char* path, char** data, size_t* length);
/* Returns the text of an error of file_read: that of strerror, or a text about a limit of file_read. Not to be
 * freed. */
const char* file_error_text(int error);
/* Returns true for an existing regular file (links are followed), which can be read again, unlike a pipe or device.
 * Returns false if the file cannot be examined. */
bool file_is_regular(const char* path);
/* Does the same as file_read and adds an error on failure. The caller frees *data, which is NULL after STATUS_IO. */
Status file_read_reported(const char* path, char** data, size_t* length, Diagnostics* diagnostics);
/* Writes data (length bytes) atomically: to a temporary file, then fsync, then rename. A reader sees either the old
 * file or the new one. Devices and pipes are written directly. Returns STATUS_IO, with errno set, on failure. */
Status file_write(const char* path, const char* data, size_t length);
/* Does the same as file_write for a text, which may be empty. The folder must exist. On failure adds an error, returns
 * STATUS_IO and leaves an existing file unchanged. */
Status file_write_reported(const char* path, const Text* text, Diagnostics* diagnostics);
/* Creates a folder with its parents; accepts an existing one. Returns STATUS_IO, with errno set, on failure (ENOTDIR if
 * the name is not a folder). Folders created before the failure remain. */
Status file_make_folder(const char* path);
/* Does the same as file_make_folder and adds an error on STATUS_IO. */
Status file_make_folder_reported(const char* path, Diagnostics* diagnostics);
/* Exclusive write access to a folder. A zeroed struct has no access. */
typedef struct {
  int lock; /* descriptor + 1; 0: none */
} FolderClaim;
/* Creates a folder with its parents and locks it (flock) until folder_release or the end of the process. Returns
 * STATUS_IO, with an error and *claim zeroed, if the folder cannot be created or another process has locked it. On file
 * systems without locks the folder is only created. */
Status folder_claim(FolderClaim* claim, const char* path, Diagnostics* diagnostics);
/* Releases the lock. A zeroed claim is accepted. */
void folder_release(FolderClaim* claim);
/* Creates the folder that will contain the file `path`. Does nothing for a path without a folder. Returns STATUS_IO,
 * with an error, on failure. */
Status file_make_folder_of(const char* path, Diagnostics* diagnostics);
/* Returns true if the path exists (file or folder; links are followed) and can be examined. */
bool file_exists(const char* path);
/* Returns the path folder/name, with a slash between folder and name unless folder is empty or ends with a slash. The
 * caller frees this path, and those of the functions below, with memory_free. */
char* file_join(const char* folder, const char* name);
/* Returns the path `relative` resolved against the folder of `base_file`; an absolute path is copied. Owned by the
 * caller. */
char* file_resolve(const char* base_file, const char* relative);
/* Returns `path` relative to `folder`, with `..` if needed; an absolute path is copied. Links are followed where they
 * exist. Owned by the caller, never NULL. */
char* file_relative(const char* folder, const char* path);
/* Returns `path`, absolute or not, relative to a folder that contains it; NULL if it lies outside. Owned by the
 * caller. */
char* file_inside(const char* folder, const char* path);
/* Returns the file name without folder and last extension. A leading dot does not begin an extension. Owned by the
 * caller. */
char* file_stem(const char* path);

/* A stream to `path~`, renamed to `path` by file_stream_close, so that `path` is never incomplete. */
typedef struct {
  FILE* stream;
  char *path, *temporary;
} FileStream;
/* Opens a stream for `path`; devices and pipes are written directly. The caller ends it with file_stream_close or
 * file_stream_discard. Returns STATUS_IO, with errno set and *out zeroed, on failure. */
Status file_stream_open(FileStream* out, const char* path);
/* Flushes, syncs, renames and frees the stream. If a write failed, returns STATUS_IO with errno set; `path` is then
 * unchanged and `path~` removed. Returns STATUS_IO also for a zeroed stream. */
Status file_stream_close(FileStream* out);
/* Discards the written data (except on a device or pipe) and frees the stream. `path` is unchanged. Accepts a zeroed
 * stream. */
void file_stream_discard(FileStream* out);

/* ---------------------------------------------------------------- hash (base/hash.c), time (base/timer.c) */
/* Sets hex to the SHA-256 of data (length bytes): 64 hexadecimal digits and NUL. data may be NULL if length is 0. Does
 * not allocate. */
void hash_sha256(const void* data, size_t length, char hex[65]);
/* Returns the monotonic time [s] from an arbitrary origin. Never fails. */
double timer_now(void);

/* ---------------------------------------------------------------- files of numbers (base/number_file.c)
 * Named arrays of numbers, stored exactly: text with one number per line, as the hexadecimal digits of its 64 bits.
 *
 *     sdrs <kind> 1
 *     sha256 <64 hexadecimal digits>          of everything after this line
 *     doubles <name> <count>
 *     <16 hexadecimal digits>                 count lines; bits of an IEEE 754 double
 *     integers <name> <count>
 *     <16 hexadecimal digits>                 two's complement
 *     end
 *
 * Names are unique, 1 to 63 characters of A-Z a-z 0-9 . _ - /. A truncated or altered file, or one of another kind, is
 * rejected with a message. A NumberFile owns its arrays; initialize it with its kind and zeros. */
enum { NUMBER_NAME_SIZE = 64 };

typedef struct {
  char name[NUMBER_NAME_SIZE];
  bool is_integers;
  int count;
  uint64_t* bits; /* (count) */
} NumberArray;

typedef struct {
  NumberArray* arrays;
  int count, capacity;
  const char* kind; /* word in the first line, borrowed */
  char* path;       /* file that was read, for messages; NULL if built */
} NumberFile;

/* Adds a copy of values (count >= 0). Asserts that the name is valid and new. */
void number_file_add_doubles(NumberFile* file, const char* name, const double* values, int count);
/* Adds a copy of 64-bit integers (count >= 0). Asserts that the name is valid and new. */
void number_file_add_integers(NumberFile* file, const char* name, const int64_t* values, int count);

/* Returns the length of the array of doubles with this name; -1 if there is none. */
int number_file_doubles_count(const NumberFile* file, const char* name);
/* Returns the length of the array of integers with this name; -1 if there is none. */
int number_file_integers_count(const NumberFile* file, const char* name);
/* Copies the array of doubles with this name to values (count). Returns false, with an error and nothing written, if it
 * is missing or has another length. */
bool number_file_get_doubles(const NumberFile* file, const char* name, double* values, int count,
                             Diagnostics* diagnostics);
/* Does the same as number_file_get_doubles for integers: values (count). Returns false with an error. */
bool number_file_get_integers(const NumberFile* file, const char* name, int64_t* values, int count,
                              Diagnostics* diagnostics);

/* Writes the file atomically. Returns STATUS_IO, with errno set, on failure. Allocates temporarily. */
Status number_file_write(const NumberFile* file, const char* path);
/* Reads a file of this kind. `kind` is borrowed and must outlive *file. Returns STATUS_IO if the file cannot be read,
 * and STATUS_BAD_INPUT if it has another kind or version or a wrong hash; both add an error and leave *file without
 * arrays. The caller frees *file with number_file_free. */
Status number_file_read(NumberFile* file, const char* kind, const char* path, Diagnostics* diagnostics);
/* Does the same as number_file_read for a text of `length` bytes, which is copied as needed; `path` is for messages.
 * Never returns STATUS_IO. After an error nothing has to be freed. */
Status number_file_parse(NumberFile* file, const char* kind, const char* path, const char* data, size_t length,
                         Diagnostics* diagnostics);
/* Appends the text of the file, with its hash. */
void number_file_format(const NumberFile* file, Text* out);
/* Frees the arrays and zeroes the file, its kind included; accepts a zeroed one, not NULL. */
void number_file_free(NumberFile* file);

/* ---------------------------------------------------------------- order (base/order.c) */

/* Compares two uint64_t for qsort, ascending. Returns -1, 0 or 1. */
int order_uint64(const void* a, const void* b);
/* Sorts numbers (count) in place and removes duplicates. Returns the number left. numbers may be NULL if count is 0. */
int order_distinct(uint64_t* numbers, int count);

/* ---------------------------------------------------------------- elementary functions (base/elementary.c)
 * Bit-identical on every processor, unlike the C library, which selects code by the processor (fused operations).
 * Errors are within 1 ulp (atan2, hypot: 2 ulp), also for huge and tiny arguments; special values as in C; errno is not
 * set. Functions that IEEE 754 defines exactly (sqrt, fabs, floor, fmod, frexp, ...) are called directly.
 * scripts/check_elementary.py checks that the program calls no others. */
/* Returns the sine of x [rad]; NAN for infinities. */
double math_sin(double x);
/* Returns the cosine of x [rad]; NAN for infinities. */
double math_cos(double x);
/* Sets *sine and *cosine for x [rad], bit-identical to math_sin and math_cos. NAN for infinities. */
void math_sincos(double x, double* sine, double* cosine);
/* Returns the arc cosine [rad], in [0, pi]; NAN for x outside [-1, 1]. */
double math_acos(double x);
/* Returns the angle of the point (x, y) from the x axis [rad], in [-pi, pi]. (0, 0) gives 0, pi or their negatives by
 * the signs of the zeros, as in C. NAN only if an argument is NAN. */
double math_atan2(double y, double x);
/* Returns the natural logarithm; -HUGE_VAL for 0, NAN for x < 0. */
double math_log(double x);
/* Returns the logarithm to base 10; -HUGE_VAL for 0, NAN for x < 0. */
double math_log10(double x);
/* Returns x^y; NAN if x < 0 and y is not an integer, both finite. */
double math_pow(double x, double y);
/* Returns the cube root of x, which may have either sign. */
double math_cbrt(double x);
/* Returns sqrt(x^2 + y^2) without overflow of the squares. */
double math_hypot(double x, double y);

/* Returns e^x for x <= 0, inline; 0 below -700. The relative error is below 4e-16: e^x = 2^k e^r, with a Taylor series
 * of degree 13 on |r| <= log(2)/2. Undefined for x > 0, not asserted. */
static inline double math_decay(double x) {
  if (!(x >= -700)) return 0;
  union {
    double number;
    uint64_t bits;
  } shifted = {.number = x * 0x1.71547652b82fep+0 + 0x1.8p52}, scale;
  double k = shifted.number - 0x1.8p52;
  double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33, s = r * r, s2 = s * s;
  double low = (r * (1.0 / 6) + 1.0 / 2) + s * (r * (1.0 / 120) + 1.0 / 24);
  double middle = (r * (1.0 / 5040) + 1.0 / 720) + s * (r * (1.0 / 362880) + 1.0 / 40320);
  double high = (r * (1.0 / 39916800) + 1.0 / 3628800) + s * (r * (1.0 / 6227020800) + 1.0 / 479001600);
  scale.bits = (shifted.bits + 1023) << 52; /* 2^k */
  return ((r + s * (low + s2 * (middle + s2 * high))) + 1.0) * scale.number;
}

/* Returns log x for x in [1, 2^20], inline. The error is 3e-16 times the larger of the result and 1. Method: x = 2^k m
 * with m in [sqrt 1/2, sqrt 2), and the series of log m = 2 artanh((m - 1) / (m + 1)). Undefined outside [1, 2^20], not
 * asserted. */
static inline double math_log_sum(double x) {
  union {
    double number;
    uint64_t bits;
  } word = {.number = x};
  int64_t k = (int64_t)((word.bits + 0x95f619980c433u) >> 52) -
              1023; /* the addition carries into the exponent where m >= sqrt 2 */
  word.bits -= (uint64_t)k << 52;
  double s = (word.number - 1) / (word.number + 1), q = s * s, q2 = q * q;
  double q4 = q2 * q2;
  double low = (2.0 / 3 + q * (2.0 / 5)) + q2 * (2.0 / 7 + q * (2.0 / 9));
  double middle = (2.0 / 11 + q * (2.0 / 13)) + q2 * (2.0 / 15 + q * (2.0 / 17)), high = 2.0 / 19 + q * (2.0 / 21);
  return (double)k * 0x1.62e42fefa39efp-1 + (2 * s + s * q * (low + q4 * (middle + q4 * high)));
}

/* ---------------------------------------------------------------- CSV (base/csv.c) */

/* Appends a CSV field. A field that contains a comma, a quote or a line break is quoted, with its quotes doubled. No
 * comma is added. */
void csv_add_field(Text* row, const char* text);

/* A CSV file in memory: one header line, every row as long as the header. Owns everything. */
typedef struct {
  char* data; /* text of the file, split into cells in place */
  char** names;
  int column_count;
  char** cells; /* (row_count * column_count) */
  int* lines;   /* file line where each row begins (row_count) */
  int row_count;
} CsvTable;

/* Parses CSV text: comma-separated, quoted fields, LF or CRLF. The table takes ownership of `data`, which is
 * NUL-terminated after `length` bytes. Returns STATUS_BAD_INPUT, with an error, if there is no header, a row has
 * another length, or a quote is open. The caller frees the table with csv_free in any case. */
Status csv_parse(CsvTable* table, const char* path, char* data, size_t length, Diagnostics* diagnostics);
/* Does the same as csv_parse for a file. Returns STATUS_IO, with an error, if it cannot be read. The caller frees the
 * table with csv_free in any case. */
Status csv_read(CsvTable* table, const char* path, Diagnostics* diagnostics);
/* Frees everything and zeroes the table; accepts a zeroed or partly read one, not NULL. */
void csv_free(CsvTable* table);
/* Returns the index of the first column with this name (case-sensitive), -1 if there is none. */
int csv_column(const CsvTable* table, const char* name);
/* Returns the cell at a row and a column, both from 0 and inside the table (asserted); borrowed from the table. */
const char* csv_cell(const CsvTable* table, int row, int column);
/* Returns the number in a cell; NAN if the cell is not a decimal number. Row and column as in csv_cell. */
double csv_value(const CsvTable* table, int row, int column);
/* Sets *value to the number in a cell. Returns false, with an error that names line and column, if the cell is not a
 * finite decimal number. path: for messages. */
bool csv_number(const CsvTable* table, const char* path, int row, int column, double* value, Diagnostics* diagnostics);

/* A CSV file of any length, of which only the header and CSV_WINDOW rows are kept in memory. */
typedef struct CsvRows CsvRows;
enum { CSV_WINDOW = 4 };
/* Opens a regular file and checks it completely, as csv_read does. Sets *result, which the caller closes with
 * csv_rows_close. Sets *result to NULL and adds an error on failure. Returns STATUS_IO if the file cannot be read, and
 * STATUS_BAD_INPUT if it is not CSV. */
Status csv_rows_open(CsvRows** result, const char* path, Diagnostics* diagnostics);
/* Closes and frees; accepts NULL. */
void csv_rows_close(CsvRows* rows);
/* Returns the number of rows below the header. */
int csv_rows_count(const CsvRows* rows);
/* Returns the column names, as a table without rows; borrowed. */
const CsvTable* csv_rows_header(const CsvRows* rows);
/* Returns row `row` (0 ... count - 1) as a table with one row. The table is borrowed until a row with the same
 * remainder modulo CSV_WINDOW is requested. Increasing row numbers are read sequentially; going back beyond the window
 * reads up to 64 rows again. Cells are empty if the file was truncated after it was opened. May allocate. */
const CsvTable* csv_rows_at(CsvRows* rows, int row);

/* ---------------------------------------------------------------- disjoint sets (base/disjoint_sets.c)
 * Union-find on members 0..count-1 in the caller's array: parent[k] of every member, a root is its own parent. The root
 * is the smallest member of its set, so numbering by roots does not depend on the order of the joins. */
/* Makes every member a set of its own. parent (count) is the array of all three functions. */
void sets_separate(int* parent, int count);
/* Returns the smallest member of the set of `member`. Shortens the path to the root in parent, so it is not
 * thread-safe. */
int sets_root(int* parent, int member);
/* Joins the sets of members a and b; members are not checked. */
void sets_join(int* parent, int a, int b);

/* ---------------------------------------------------------------- parallel loops (base/parallel.c)
 * Calls body(context, index, thread) for index in 0..count-1. Each index must write only to its own elements; the
 * result then does not depend on the number of threads. Runs in the calling thread if threads <= 1 or count <
 * threshold. grain: indices handed out at a time. Each thread starts with its own contiguous share, so that data stay
 * in its cache from loop to loop. */
typedef void (*ParallelBody)(void* context, int index, int thread);
/* Runs the loop and returns when all indices are done; `thread` is in 0..threads-1. A failed allocation in body is
 * treated as one of the caller: memory_try returns false, or the process ends. */
void parallel_for(int threads, int count, int threshold, int grain, ParallelBody body, void* context);
/* Creates the threads for the loops of the calling thread: `threads` of them, the calling one included. Returns the
 * number of threads available, at least 1, which later loops use. It is smaller than `threads` if a system limit
 * (processes, memory, OMP_THREAD_LIMIT) or the maximum of 1024 is reached. The stacks of the threads remain until the
 * calling thread ends. */
int parallel_start(int threads);
/* Returns the number of processors that this process may run on, at least 1. */
int parallel_processor_count(void);

/* ---------------------------------------------------------------- processes (base/processes.c)
 * Processes started by mpirun that share work, in a build with `make MPI=1`; otherwise there is one process of rank 0
 * and the functions below do nothing. All ranks must call processes_start, _share, _largest and _finish in the same
 * order; if a rank dies, all end. */
/* Starts MPI; called once, by the main thread. Does nothing in a program that mpirun did not start. */
void processes_start(void);
/* Ends MPI; may be called without a start. */
void processes_finish(void);
/* Returns the number of processes; 1 before processes_start, after processes_finish, and without MPI. */
int processes_count(void);
/* Returns the rank of this process, 0..count-1. Rank 0 writes files and messages. */
int processes_rank(void);
/* Copies `size` bytes at data from rank `owner` to all ranks. They must not contain pointers. */
void processes_share(void* data, size_t size, int owner);
/* Returns the maximum of `value` over all ranks. */
int processes_largest(int value);

/* ---------------------------------------------------------------- random numbers (base/random.c) */
typedef struct {
  uint64_t state;
} Random;
/* Returns 64 random bits. Any initial state is valid, 0 included. The same state gives the same numbers on every
 * machine. */
uint64_t random_bits(Random* random);
/* Returns a uniform random number in [low, high) with 53 random bits. Advances the state by one step. */
double random_uniform(Random* random, double low, double high);
/* Returns a normal random number with mean 0 and variance 1. Advances the state by two steps. */
double random_normal(Random* random);

#endif
