/* base: status codes, diagnostics, memory, text, files, hashes, time, threads; used by every folder.
 * Ownership: every x_create/x_init has an x_destroy/x_free that accepts a zeroed or partly built object. */
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

/* Exit code of a status. STATUS_NO_MEMORY and invalid values give EXIT_IO. */
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

/* Appends a message `file:line:column: severity: text` (printf style, without prefix and trailing newline). File name
 * and text are copied. Errors and warnings are counted, notes are not. A warning that exists already is not repeated: a
 * task builds a scene several times. */
void diagnostics_add(Diagnostics* diagnostics, Severity severity, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Appends copies of those messages of `more` that are not present yet (same severity, position and text): several
 * readers of one file report the same. Never fails. */
void diagnostics_add_new(Diagnostics* diagnostics, const Diagnostics* more);
/* Sorts by file, line and column (stable) and prints each as `file:line:col: error: text`, followed by the source line
 * and a caret if the file is readable. A long line is cut to about 120 characters around the caret. color: use ANSI
 * colours. Each quoted file is read once. */
void diagnostics_print(Diagnostics* diagnostics, FILE* stream, bool color);
/* Frees all texts and zeroes the struct; accepts a zeroed one, not NULL. */
void diagnostics_free(Diagnostics* diagnostics);

/* ---------------------------------------------------------------- memory (base/memory.c)
 * An allocation failure ends the process with a message and EXIT_IO. Inside memory_try control returns there instead.
 * memory_allocation_count counts every call below, so that tests can prove that a step does not allocate. */
/* Zeroed, 64-byte aligned block of `size` bytes (0 allowed), never NULL. Owned by the caller, freed by memory_free. */
void* memory_alloc(size_t size);
/* New block of `size` bytes with the first old_size bytes of `old`, the rest zero; frees `old` (may be NULL). 64-byte
 * aligned, never NULL. */
void* memory_resize(void* old, size_t old_size, size_t size);
/* Makes room for element number `count` in an array whose capacity doubles when full (64 elements at first). element:
 * size of one [bytes]; *capacity: in elements. Returns the array, which may have moved: the old block is then freed.
 * Starts with NULL and capacity 0. */
void* memory_grown(void* array, size_t element, int count, int* capacity);
/* From now on, for the whole process, freed blocks of 128 KiB and more are returned to the system; before, those of 2
 * MiB and more. Never fails. */
void memory_give_back(void);
/* Frees a block, also one that belongs to a pool; accepts NULL. */
void memory_free(void* pointer);
/* Copy of a NUL-terminated string, owned by the caller, freed by memory_free. text must not be NULL. */
char* memory_text(const char* text);
/* Reports that no memory is left; also for libraries that fail to allocate. size: bytes requested, for the message.
 * Does not return: jumps to this thread's memory_try, which returns false, or ends the process with EXIT_IO. */
_Noreturn void memory_exhausted(size_t size);

/* A pool owns all blocks allocated within memory_try, including those of parallel_for, and frees the remaining ones
 * together. A failure therefore leaks nothing. */
typedef struct MemoryPool MemoryPool;
/* Owned by the caller, freed by memory_pool_destroy. NULL: out of memory. */
MemoryPool* memory_pool_create(void);
/* Frees the pool and all its blocks; accepts NULL. */
void memory_pool_destroy(MemoryPool* pool);
/* Number of blocks currently in the pool. Not while other threads allocate in it. pool must not be NULL. */
int64_t memory_pool_count(const MemoryPool*);
/* Pool of this thread's innermost memory_try, borrowed; NULL outside of any. */
MemoryPool* memory_pool_in_use(void);
/* For tests: the given allocation within memory_try (1: the next one) and all after it fail; 0: none. */
void memory_fail_at(int64_t allocation);
typedef void (*MemoryBody)(void* context);
/* Runs body(context). Returns false if an allocation in it failed; body was then left by longjmp, so everything that it
 * was changing must be discarded and it must hold no resource but memory of the pool. Calls may be nested. */
bool memory_try(MemoryPool* pool, MemoryBody body, void* context);
/* Number of allocations since the process began, in all threads, freed ones included. Never fails. */
uint64_t memory_allocation_count(void);
/* Bytes allocated now, in all threads and pools, as rounded by the allocator. For tests. Never fails. */
uint64_t memory_held(void);
/* Largest memory_held since the process began or memory_peak_begin. Never fails. */
uint64_t memory_peak(void);
/* Restarts memory_peak from the bytes held now, for all threads. */
void memory_peak_begin(void);
#define GIBIBYTE 1073741824.0 /* bytes */
#define MEMORY_NEW(type, count) ((type*)memory_alloc(sizeof(type) * (size_t)(count)))

/* ---------------------------------------------------------------- serialized state (base/state_block.c)
 * One function processes all numbers of a state, once for each pass: measure, write, read. Every number takes one
 * 64-bit word, so a block is portable once its words are written in order. */
typedef enum { BLOCK_MEASURE, BLOCK_WRITE, BLOCK_READ } BlockPass;
typedef struct {
  BlockPass pass;
  uint64_t* words; /* as many words as were measured; unused in BLOCK_MEASURE */
  size_t at;       /* current position [words] */
  size_t count;    /* BLOCK_READ: number of words */
  bool failed;     /* BLOCK_READ: the block ended too early, or a value was out of range; zeros were read instead */
} StateBlock;
/* Measures, writes or reads values (count), one word each. BLOCK_READ beyond the end of the block gives zeros and sets
 * `failed`. Does not allocate. */
void state_block_doubles(StateBlock* block, double* values, size_t count);
/* Measures, writes or reads one 64-bit word, like state_block_doubles. */
void state_block_word(StateBlock* block, uint64_t* value);
/* Measures, writes or reads an integer, one word. BLOCK_READ: a value outside low..high is replaced by `low` and sets
 * `failed`. BLOCK_WRITE does not check the range. Requires low <= high. */
void state_block_int(StateBlock* block, int* value, int low, int high);
/* Measures, writes or reads a bool, one word. BLOCK_READ: a word other than 0 and 1 is read as false and sets `failed`.
 */
void state_block_bool(StateBlock* block, bool* value);

/* ---------------------------------------------------------------- growing text (base/text.c) */
typedef struct {
  char* data; /* NUL-terminated; NULL before the first addition */
  size_t length, capacity;
} Text;
/* Appends formatted text; grows as needed. A Text starts as {0} and is freed by text_free. */
void text_add(Text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* text_add with a va_list, which is consumed; the caller calls va_end. */
void text_add_v(Text* text, const char* format, va_list arguments);
/* Appends `length` bytes, NUL bytes included. With length 0 data becomes "" if it was NULL. */
void text_add_bytes(Text* text, const char* bytes, size_t length);
/* Appends the shortest decimal that reads back to the same double ("nan", "inf"); -0 keeps its sign. */
void text_add_double(Text* text, double value);
/* Appends a word for a POSIX shell, quoted if needed, so that nothing in it is expanded; an empty word becomes ''. */
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
/* Edit distance in bytes: insertions, deletions, replacements, and exchanges of two neighbours, which are not edited
 * again (optimal string alignment). Allocates temporarily. Time: product of both lengths. */
int text_distance(const char* a, const char* b);
/* The nearest of candidates (count) by text_distance, the first of equals, borrowed. NULL if none is near enough to be
 * a misspelling: at most one error in three letters. */
const char* text_nearest(const char* word, const char* const* candidates, int count);

/* ---------------------------------------------------------------- words and excerpts (base/words.c) */

/* A text cut for messages, with control characters replaced. */
typedef struct {
  char text[72];
} Excerpt;
/* At most 68 bytes of text, with "..." appended if it is longer; never cuts a UTF-8 character. By value, does not
 * allocate. */
Excerpt text_excerpt(const char* text);

/* Number of words in a list "one|another", at least 1; an empty text is one empty word. */
int words_count(const char* words);
/* Index of a word in such a list, from 0; -1 if absent. Compares whole words, case-sensitive. */
int words_index(const char* words, const char* word);
/* Copy of the word at `index` < words_count, cut at 71 bytes. */
Excerpt words_at(const char* words, int index);
/* Appends the list as "one, another or a third". */
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

/* Adds a text, which is borrowed and must outlive the table, with a value >= 0. Returns false, with nothing changed, if
 * the text exists already. May allocate. */
bool names_add(Names* names, const char* text, int value);
/* Value of a text, or -1 if absent. Does not allocate. */
int names_find(const Names* names, const char* text);
/* The text nearest to `text` (text_nearest), borrowed, or NULL if none is near enough or there are more than 5000.
 * Allocates temporarily. */
const char* names_nearest(const Names* names, const char* text);
/* Frees the arrays, not the texts, and zeroes the table; accepts a zeroed one, not NULL. */
void names_free(Names* names);

/* ---------------------------------------------------------------- positions in a text (base/source.c) */

/* Longest text accepted [bytes]. */
#define SOURCE_LENGTH_MAX ((size_t)1 << 28)
/* True if text (length bytes) is valid UTF-8 without NUL bytes and at most SOURCE_LENGTH_MAX long; otherwise adds one
 * error, at the first bad byte, and returns false. source: name for messages. */
bool source_check(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Advances a position past the byte at `at`: to the next line after LF, CR or CRLF, else by one column per character.
 * `at` points into a NUL-terminated text (the byte after a CR is read). */
void place_advance(SourcePlace* place, const char* at);
/* Line and column (in characters, from 1) of a byte offset within text; `source` is borrowed. */
SourcePlace source_place(const char* source, const char* text, size_t offset);

/* ---------------------------------------------------------------- files (base/file.c) */
/* Reads a whole file; *data is NUL-terminated and owned by the caller, freed by memory_free. Limits: 2 GiB, 256 MiB
 * from a pipe, 1 MiB from a device; a pipe without a writer fails after 10 s. On STATUS_IO errno is set (see
 * file_error_text), *data is NULL and *length [bytes] 0. */
Status file_read(const char* path, char** data, size_t* length);
/* Text of an error of file_read: strerror, with texts of its own for its limits. Static or the C library's; not freed.
 */
const char* file_error_text(int error);
/* True for an existing regular file (links are followed): it can be read again, unlike a pipe or device. False if it
 * cannot be examined. */
bool file_is_regular(const char* path);
/* file_read that adds an error on failure. *data is owned by the caller, NULL after STATUS_IO. */
Status file_read_reported(const char* path, char** data, size_t* length, Diagnostics* diagnostics);
/* Writes data (length bytes) atomically: to a temporary file, fsync, rename. A reader sees the old file or the new one.
 * Devices and pipes are written directly. STATUS_IO leaves errno set. */
Status file_write(const char* path, const char* data, size_t length);
/* file_write of a text, which may be empty; adds an error on STATUS_IO, and an existing file is then unchanged. The
 * folder must exist. */
Status file_write_reported(const char* path, const Text* text, Diagnostics* diagnostics);
/* Creates a folder with its parents; an existing one is accepted. STATUS_IO leaves errno set (ENOTDIR if the name is
 * not a folder); folders created before the failure remain. */
Status file_make_folder(const char* path);
/* file_make_folder that adds an error on STATUS_IO. */
Status file_make_folder_reported(const char* path, Diagnostics* diagnostics);
/* Exclusive write access to a folder; zeroed: none. */
typedef struct {
  int lock; /* descriptor + 1; 0: none */
} FolderClaim;
/* Creates a folder with its parents and locks it (flock) until folder_release or the end of the process. STATUS_IO with
 * an error: it cannot be created, or another process has it; *claim is then zeroed. On file systems without locks it is
 * only created. */
Status folder_claim(FolderClaim* claim, const char* path, Diagnostics* diagnostics);
/* Releases the lock. A zeroed claim is accepted. */
void folder_release(FolderClaim* claim);
/* Creates the folder that will contain the file `path`; does nothing for a path without a folder. STATUS_IO with an
 * error. */
Status file_make_folder_of(const char* path, Diagnostics* diagnostics);
/* True if the path exists (file or folder; links are followed) and can be examined. */
bool file_exists(const char* path);
/* folder/name, with a slash between them unless folder is empty or ends with one. Owned by the caller, like all paths
 * below, freed by memory_free. */
char* file_join(const char* folder, const char* name);
/* `relative` resolved against the folder of `base_file`; an absolute path is copied. Owned by the caller. */
char* file_resolve(const char* base_file, const char* relative);
/* `path` relative to `folder`, with `..` if needed; an absolute path is copied. Links are followed where they exist.
 * Owned by the caller, never NULL. */
char* file_relative(const char* folder, const char* path);
/* `path`, absolute or not, relative to a folder that contains it; NULL if it is outside. Owned by the caller. */
char* file_inside(const char* folder, const char* path);
/* File name without folder and last extension; a leading dot is not an extension. Owned by the caller. */
char* file_stem(const char* path);

/* A stream to `path~`, renamed to `path` by file_stream_close, so that `path` is never incomplete. */
typedef struct {
  FILE* stream;
  char *path, *temporary;
} FileStream;
/* Opens a stream for `path`; devices and pipes are written directly. STATUS_IO leaves errno set and *out zeroed;
 * otherwise it is ended by file_stream_close or file_stream_discard. */
Status file_stream_open(FileStream* out, const char* path);
/* Flushes, syncs, renames and frees. STATUS_IO (errno set) if any write failed: `path` is then unchanged and `path~`
 * removed. A zeroed stream gives STATUS_IO. */
Status file_stream_close(FileStream* out);
/* Discards what was written (except to a device or pipe) and frees; `path` is unchanged. Accepts a zeroed stream. */
void file_stream_discard(FileStream* out);

/* ---------------------------------------------------------------- hash (base/hash.c), time (base/timer.c) */
/* SHA-256 of (length) bytes as 64 hexadecimal digits and NUL. data may be NULL when length is 0. No allocation. */
void hash_sha256(const void* data, size_t length, char hex[65]);
/* Monotonic time [s] from an arbitrary origin. Never fails. */
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

/* Length of an array of doubles; -1 if there is no array of doubles with this name. */
int number_file_doubles_count(const NumberFile* file, const char* name);
/* Length of an array of integers; -1 if there is no array of integers with this name. */
int number_file_integers_count(const NumberFile* file, const char* name);
/* Copies an array to values (count). Returns false, with an error and nothing written, if it is missing or has another
 * length. */
bool number_file_get_doubles(const NumberFile* file, const char* name, double* values, int count,
                             Diagnostics* diagnostics);
/* number_file_get_doubles for integers: values (count); false with an error. */
bool number_file_get_integers(const NumberFile* file, const char* name, int64_t* values, int count,
                              Diagnostics* diagnostics);

/* Writes the file atomically. STATUS_IO leaves errno set. Allocates temporarily. */
Status number_file_write(const NumberFile* file, const char* path);
/* Reads a file of the given kind, which is borrowed and must outlive it; freed by number_file_free. STATUS_IO: cannot
 * be read; STATUS_BAD_INPUT: another kind or version, or a wrong hash. Both add an error and leave the file empty. */
Status number_file_read(NumberFile* file, const char* kind, const char* path, Diagnostics* diagnostics);
/* number_file_read from a text of `length` bytes, copied as needed; `path` is for messages. Never STATUS_IO. After an
 * error nothing has to be freed. */
Status number_file_parse(NumberFile* file, const char* kind, const char* path, const char* data, size_t length,
                         Diagnostics* diagnostics);
/* Appends the text of the file, with its hash. */
void number_file_format(const NumberFile* file, Text* out);
/* Frees the arrays and zeroes the file, its kind included; accepts a zeroed one, not NULL. */
void number_file_free(NumberFile* file);

/* ---------------------------------------------------------------- order (base/order.c) */

/* Comparison of two uint64_t for qsort, ascending: -1, 0 or 1. */
int order_uint64(const void* a, const void* b);
/* Sorts numbers (count) in place and removes duplicates. Returns the number left. numbers may be NULL if count is 0. */
int order_distinct(uint64_t* numbers, int count);

/* ---------------------------------------------------------------- elementary functions (base/elementary.c)
 * Bit-identical on every processor, unlike the C library, which selects code by the processor (fused operations).
 * Errors are within 1 ulp (atan2, hypot: 2 ulp), also for huge and tiny arguments; special values as in C; errno is not
 * set. Functions that IEEE 754 defines exactly (sqrt, fabs, floor, fmod, frexp, ...) are called directly.
 * scripts/check_elementary.py checks that the program calls no others. */
/* Sine; x [rad]. NAN for infinities. */
double math_sin(double x);
/* Cosine; x [rad]. NAN for infinities. */
double math_cos(double x);
/* Sine and cosine of x [rad] together, bit-identical to math_sin and math_cos. NAN for infinities. */
void math_sincos(double x, double* sine, double* cosine);
/* Arc cosine [rad], in [0, pi]; NAN outside [-1, 1]. */
double math_acos(double x);
/* Angle of the point (x, y) from the x axis [rad], in [-pi, pi]; (0, 0) gives 0 or pi by the signs, as in C. NAN only
 * if an argument is. */
double math_atan2(double y, double x);
/* Natural logarithm; -HUGE_VAL for 0, NAN below. */
double math_log(double x);
/* Logarithm to base 10; -HUGE_VAL for 0, NAN below. */
double math_log10(double x);
/* x^y; NAN for finite x < 0 and finite y that is not an integer. */
double math_pow(double x, double y);
/* Cube root of a number of either sign. */
double math_cbrt(double x);
/* sqrt(x^2 + y^2) without overflow of the squares. */
double math_hypot(double x, double y);

/* e^x for x <= 0, inline; 0 below -700. Relative error below 4e-16: e^x = 2^k e^r, Taylor series of degree 13 on |r| <=
 * log(2)/2. Undefined for x > 0, not asserted. */
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

/* log x for x in [1, 2^20], inline; error 3e-16 of the larger of the result and 1: x = 2^k m with m in [sqrt 1/2, sqrt
 * 2), log m = 2 artanh((m - 1) / (m + 1)) by its series. Undefined outside that interval, not asserted. */
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

/* Appends a CSV field, quoted if it contains a comma, a quote or a line break; quotes in it are doubled. No comma is
 * added. */
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

/* Parses CSV text: comma-separated, quoted fields, LF or CRLF. `data`, NUL-terminated after `length`, becomes the
 * table's. STATUS_BAD_INPUT with an error if there is no header, a row has another length or a quote is open. The
 * caller frees with csv_free in any case. */
Status csv_parse(CsvTable* table, const char* path, char* data, size_t length, Diagnostics* diagnostics);
/* csv_parse of a file; STATUS_IO with an error if it cannot be read. Freed with csv_free in any case. */
Status csv_read(CsvTable* table, const char* path, Diagnostics* diagnostics);
/* Frees everything and zeroes the table; accepts a zeroed or partly read one, not NULL. */
void csv_free(CsvTable* table);
/* Index of the first column with that name (case-sensitive), -1 if there is none. */
int csv_column(const CsvTable* table, const char* name);
/* Cell at a row and a column, both from 0 and inside the table (asserted); borrowed from the table. */
const char* csv_cell(const CsvTable* table, int row, int column);
/* Cell as a number; NAN if it is not a decimal number. Row and column as csv_cell. */
double csv_value(const CsvTable* table, int row, int column);
/* Cell as a number in *value. Returns false, with an error naming line and column, if it is not a finite decimal
 * number. path: for messages. */
bool csv_number(const CsvTable* table, const char* path, int row, int column, double* value, Diagnostics* diagnostics);

/* A CSV file of any length, of which only the header and CSV_WINDOW rows are kept in memory. */
typedef struct CsvRows CsvRows;
enum { CSV_WINDOW = 4 };
/* Opens a regular file and checks it completely as csv_read does. On success *result is closed by csv_rows_close; else
 * it is NULL, with STATUS_IO (cannot be read) or STATUS_BAD_INPUT (not CSV) and an error. */
Status csv_rows_open(CsvRows** result, const char* path, Diagnostics* diagnostics);
/* Closes and frees; accepts NULL. */
void csv_rows_close(CsvRows* rows);
/* Number of rows below the header. */
int csv_rows_count(const CsvRows* rows);
/* Column names, as a table without rows; borrowed. */
const CsvTable* csv_rows_header(const CsvRows* rows);
/* Row `row` (0 ... count - 1) as a table with one row; borrowed until a row with the same remainder modulo CSV_WINDOW
 * is requested. Reading forward is sequential; going back beyond the window reads up to 64 rows again. Cells are empty
 * if the file was truncated since. May allocate. */
const CsvTable* csv_rows_at(CsvRows* rows, int row);

/* ---------------------------------------------------------------- disjoint sets (base/disjoint_sets.c)
 * Union-find on members 0..count-1 in the caller's array: parent[k] of every member, a root is its own parent. The root
 * is the smallest member of its set, so numbering by roots does not depend on the order of the joins. */
/* Makes every member a set of its own: parent (count), the array of all three functions. */
void sets_separate(int* parent, int count);
/* Smallest member of the set of `member`. Compresses the path in parent, so it is not thread-safe. */
int sets_root(int* parent, int member);
/* Joins the sets of members a and b; members are not checked. */
void sets_join(int* parent, int a, int b);

/* ---------------------------------------------------------------- parallel loops (base/parallel.c)
 * Calls body(context, index, thread) for index in 0..count-1. Each index must write only to its own elements; the
 * result then does not depend on the number of threads. Runs in the calling thread if threads <= 1 or count <
 * threshold. grain: indices handed out at a time. Each thread starts with its own contiguous share, so that data stay
 * in its cache from loop to loop. */
typedef void (*ParallelBody)(void* context, int index, int thread);
/* Returns when all indices are done; thread is in 0..threads-1. A failed allocation in body counts as the caller's: it
 * returns to memory_try, or ends the process. */
void parallel_for(int threads, int count, int threshold, int grain, ParallelBody body, void* context);
/* Creates the threads for loops of the calling thread: `threads` of them including itself. Returns the number
 * available, at least 1; it is smaller if a system limit (processes, memory, OMP_THREAD_LIMIT) or the maximum of 1024
 * is reached. Loops then use that many. Their stacks remain until the thread ends. */
int parallel_start(int threads);
/* Number of processors that this process may run on, at least 1. */
int parallel_processor_count(void);

/* ---------------------------------------------------------------- processes (base/processes.c)
 * Processes started by mpirun that share work, in a build with `make MPI=1`; otherwise there is one process of rank 0
 * and the functions below do nothing. All ranks must call processes_start, _share, _largest and _finish in the same
 * order; if a rank dies, all end. */
/* Starts MPI; called once, by the main thread. Does nothing in a program that mpirun did not start. */
void processes_start(void);
/* Ends MPI; may be called without a start. */
void processes_finish(void);
/* Number of processes; 1 before the start, after the end and without MPI. */
int processes_count(void);
/* Rank, 0..count-1; rank 0 writes files and messages. */
int processes_rank(void);
/* Copies `size` bytes at data from rank `owner` to all ranks; they must not contain pointers. */
void processes_share(void* data, size_t size, int owner);
/* Maximum of `value` over all ranks. */
int processes_largest(int value);

/* ---------------------------------------------------------------- random numbers (base/random.c) */
typedef struct {
  uint64_t state;
} Random;
/* 64 random bits. Any initial state is valid, 0 included. The same state gives the same numbers on every machine. */
uint64_t random_bits(Random* random);
/* Uniform in [low, high) with 53 random bits; advances the state by one step. */
double random_uniform(Random* random, double low, double high);
/* Normal with mean 0 and variance 1; advances the state by two steps. */
double random_normal(Random* random);

#endif
