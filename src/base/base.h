/* base: functions that all other folders use: status codes, messages, memory, texts, files, hashes, time, threads and
 * random numbers. Every function x_create or x_init has a counterpart x_destroy or x_free. The counterpart accepts a
 * zeroed or partly built object. */
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
  EXIT_CHECK_FAILED = 1,  /* a check found a difference or a fault */
  EXIT_USAGE = 2,         /* wrong command line */
  EXIT_BAD_INPUT = 3,     /* invalid scene, mesh or query */
  EXIT_SOLVER = 4,        /* the solver failed; the output ends with the last solved state */
  EXIT_IO = 5,            /* a file could not be read or written */
  EXIT_INTERRUPTED = 130, /* stopped by SIGINT, SIGTERM or SIGUSR1 */
} ExitCode;

/* Result of a function that can fail. Diagnostics contain the details. */
typedef enum {
  STATUS_OK = 0,
  STATUS_BAD_INPUT,
  STATUS_IO,
  STATUS_SOLVER,
  STATUS_INTERRUPTED,
  STATUS_NO_MEMORY,
} Status;

/* Returns the exit code of the process that belongs to a status. Returns EXIT_IO for STATUS_NO_MEMORY and for values
 * outside the enum. */
ExitCode status_exit_code(Status status);

/* ---------------------------------------------------------------- diagnostics (base/diagnostics.c) */

typedef enum { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } Severity;

/* A position in a user's file, for messages. Lines and columns count from 1; 0 means unknown. */
typedef struct {
  const char* file; /* path of the file; borrowed from the object that returned the position */
  int line, column;
} SourcePosition;

typedef struct {
  Severity severity;
  char* file; /* owned copy, or NULL */
  int line, column;
  char* text; /* owned */
} Diagnostic;

/* A list of errors, warnings and notes, printed together by diagnostics_print. Initialize with {0}. The list owns its
 * texts. */
typedef struct {
  Diagnostic* items;
  int count, capacity;
  int error_count, warning_count;
} Diagnostics;

/* Appends a message to the list and updates its numbers of errors and warnings. `format` gives the text in printf
 * style, without position, severity and trailing newline. File name and text are copied. A warning that the list
 * already contains is not added again, because a task builds its scene several times. */
void diagnostics_add(Diagnostics* diagnostics, Severity severity, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Appends copies of the messages of `more` that `diagnostics` does not contain. Messages are equal if they have the
 * same severity, position and text. Never fails. */
void diagnostics_merge(Diagnostics* diagnostics, const Diagnostics* more);
/* Prints all messages as `file:line:col: error: text`, sorted by file, line and column. Below a message stands the line
 * of the source file with a caret, if the file can be read. A long source line is cut to 120 characters around the
 * caret. color: true prints ANSI colours. Sorts the list in place. */
void diagnostics_print(Diagnostics* diagnostics, FILE* stream, bool color);
/* Frees all texts and zeroes the struct. Accepts a zeroed struct, but not NULL. */
void diagnostics_free(Diagnostics* diagnostics);

/* Allocation functions never return NULL. If no memory is left, control returns to the enclosing memory_try. Without
 * memory_try the process ends with a message and EXIT_IO. Tests read memory_allocation_count to prove that a time step
 * does not allocate. */
/* Returns a zeroed, 64-byte aligned block of `size` bytes (0 allowed), never NULL. The caller frees it with
 * memory_free. */
void* memory_alloc(size_t size);
/* Allocates a block of `size` bytes, copies the first old_size bytes of `old` to its beginning, and frees `old`.
 * Returns the new block, 64-byte aligned and never NULL. The other bytes are zero. `old` may be NULL. */
void* memory_resize(void* old, size_t old_size, size_t size);
/* Makes room for one more element in a growing array and returns the array. A full array is moved to a block of twice
 * the size, at first 64 elements, and the old block is freed. element_size: size of an element [bytes]. count: number
 * of elements in use. *capacity: number of allocated elements, updated. A new array is NULL with *capacity 0. The
 * caller frees the array with memory_free. */
void* memory_grow_array(void* array, size_t element_size, int count, int* capacity);
/* Makes memory_free return blocks of 128 KiB and more to the operating system. Without this call memory_free returns
 * only blocks of 2 MiB and more. Applies to the whole process. Never fails. */
void memory_return_freed_blocks(void);
/* Frees a block of memory_alloc, memory_resize, memory_grow_array or memory_copy_text. Accepts NULL. */
void memory_free(void* pointer);
/* Returns a copy of a NUL-terminated text. The caller frees the copy with memory_free. text: not NULL. */
char* memory_copy_text(const char* text);
/* Handles the failure of an allocation, also of an allocation by another library. Within memory_try, control jumps back
 * and memory_try returns false. Otherwise prints a message and ends the process with EXIT_IO. size: number of requested
 * bytes, for the message. Does not return. */
_Noreturn void memory_report_exhausted(size_t size);

/* A pool owns all blocks allocated within memory_try, including blocks allocated in parallel_for. Destroying the pool
 * frees the remaining blocks, so a failure leaks nothing. */
typedef struct MemoryPool MemoryPool;
/* Returns a new, empty pool, or NULL if there is no memory. The caller frees it with memory_pool_destroy. */
MemoryPool* memory_pool_create(void);
/* Frees the pool and all its blocks; accepts NULL. */
void memory_pool_destroy(MemoryPool* pool);
/* Returns the number of allocated blocks in the pool. pool: not NULL. No other thread may allocate in the pool during
 * the call. */
int64_t memory_pool_block_count(const MemoryPool*);
/* Returns the pool of the innermost memory_try of this thread, borrowed. Returns NULL outside of memory_try. */
MemoryPool* memory_current_pool(void);
/* For tests: makes allocation number `allocation` within memory_try fail, and all later ones. 1 is the next allocation;
 * 0 ends the failures. */
void memory_fail_allocation_at(int64_t allocation);
typedef void (*MemoryBody)(void* context);
/* Runs body(context); the pool owns all blocks that are allocated during the call. Returns false if an allocation
 * failed; longjmp has then left `body`. The caller must then discard everything that `body` was changing. `body` must
 * hold no resource other than memory of the pool. Calls may be nested. pool, body: not NULL. */
bool memory_try(MemoryPool* pool, MemoryBody body, void* context);
/* Returns the number of allocations in all threads since the process began, including freed blocks. Never fails. */
uint64_t memory_allocation_count(void);
/* For tests: returns the number of bytes that are allocated now, in all threads and pools. Sizes are rounded up by the
 * allocator. Never fails. */
uint64_t memory_bytes_in_use(void);
/* Returns the largest value that memory_bytes_in_use had since the process began or memory_reset_peak was called. Never
 * fails. */
uint64_t memory_peak_bytes(void);
/* Sets the value of memory_peak_bytes to the number of bytes that are allocated now. Applies to all threads. */
void memory_reset_peak(void);
#define GIBIBYTE 1073741824.0 /* bytes */
#define MEMORY_NEW(type, count) ((type*)memory_alloc(sizeof(type) * (size_t)(count)))

/* An archive of the numbers of a state. The module that owns the state has one function that visits all numbers of the
 * state, once per pass. BLOCK_MEASURE counts the numbers, BLOCK_WRITE stores them, BLOCK_READ restores them. Every
 * number takes one 64-bit word, so a file of the words is portable if its byte order is fixed. */
typedef enum { BLOCK_MEASURE, BLOCK_WRITE, BLOCK_READ } BlockPass;
typedef struct {
  BlockPass pass;
  uint64_t* words; /* storage of the caller; unused in BLOCK_MEASURE */
  size_t at;       /* current position [words] */
  size_t count;    /* BLOCK_READ: number of words in the storage */
  bool failed; /* BLOCK_READ: true if the block ended too early or a value was out of range; zeros were read instead */
} StateBlock;
/* Counts, stores or restores an array of doubles, depending on block->pass. values (count). If the words end too early,
 * BLOCK_READ sets the values to 0 and `failed` to true. Does not allocate. */
void state_block_doubles(StateBlock* block, double* values, size_t count);
/* Counts, stores or restores one 64-bit integer, depending on block->pass. If the words end too early, BLOCK_READ sets
 * *value to 0 and `failed` to true. */
void state_block_word(StateBlock* block, uint64_t* value);
/* Counts, stores or restores an int. BLOCK_READ replaces a value outside low..high by `low` and sets `failed` to true.
 * BLOCK_WRITE does not check the range. low <= high. */
void state_block_int(StateBlock* block, int* value, int low, int high);
/* Counts, stores or restores a bool. BLOCK_READ replaces a word other than 0 and 1 by false and sets `failed` to true.
 */
void state_block_bool(StateBlock* block, bool* value);

/* ---------------------------------------------------------------- growing text (base/text.c) */
typedef struct {
  char* data; /* NUL-terminated; NULL before the first addition */
  size_t length, capacity;
} Text;
/* Appends text in printf format to a growing text. A Text starts as {0}. The caller frees it with text_free. */
void text_add(Text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Appends text in printf format, with the arguments in a va_list. The caller calls va_end. */
void text_add_va_list(Text* text, const char* format, va_list arguments);
/* Appends bytes (length), which may include NUL bytes. An empty text becomes "", also if length is 0. */
void text_add_bytes(Text* text, const char* bytes, size_t length);
/* Appends the shortest decimal that reads back as the same double. Appends "nan" or "inf" for these values. Keeps the
 * sign of -0. */
void text_add_double(Text* text, double value);
/* Appends a word of a shell command. The word is put in quotes if the shell would otherwise expand or split it. An
 * empty word becomes ''. */
void text_add_shell(Text* text, const char* word);
/* Appends a text as a JSON string, with quotes and escapes. string: NUL-terminated UTF-8, which is not checked. */
void text_add_json_string(Text* text, const char* string);
/* Appends bytes (length) as base64 with padding (RFC 4648, section 4). bytes may be NULL if length is 0. */
void text_add_base64(Text* text, const void* bytes, size_t length);
/* Frees text->data and zeroes the Text. Accepts a zeroed Text, but not NULL. */
void text_free(Text* text);
/* Appends text escaped for roff, the format of manual pages (base/roff.c). Words between backquotes become bold. After
 * an unpaired backquote all text is bold. */
void text_add_roff(Text* out, const char* text);
/* Returns the edit distance of two texts in bytes. The distance counts insertions, deletions, replacements, and
 * exchanges of two adjacent bytes that are not edited again (optimal string alignment). Allocates temporary memory. The
 * time grows with the product of both lengths. */
int text_distance(const char* a, const char* b);
/* Returns the candidate with the smallest text_distance to a misspelled word, borrowed. candidates (count). Returns the
 * first of several equally near candidates. Returns NULL if the distance to every candidate is more than max(1, n / 3),
 * rounded, for a word of n letters. */
const char* text_nearest(const char* word, const char* const* candidates, int count);

/* ---------------------------------------------------------------- words and excerpts (base/words.c) */

/* A text cut for messages, with control characters replaced. */
typedef struct {
  char text[72];
} Excerpt;
/* Returns at most 68 bytes of a text, followed by "..." if the text is longer. The cut never splits a UTF-8 character.
 * Does not allocate. */
Excerpt text_excerpt(const char* text);

/* Returns the number of words in a list such as "one|another". An empty list counts as one empty word. */
int words_count(const char* words);
/* Returns the index of a word in a list such as "one|another", from 0. Returns -1 if the list does not contain the
 * word. The comparison is case-sensitive. */
int words_index(const char* words, const char* word);
/* Returns the index of the word in a list such as "one|another" that is nearest to a misspelled word, by the rule of
 * text_nearest, or -1 if no word is near. */
int words_nearest(const char* words, const char* word);
/* Returns the word with a given index of a list such as "one|another". A word longer than 71 bytes is cut. index: from
 * 0, less than words_count(words) (asserted). */
Excerpt words_at(const char* words, int index);
/* Appends the words of a list "one|another|third" as "one, another or third". */
void words_add_enumeration(const char* words, Text* out);

/* A hash table from names to integers. Initialize with {0}. The names are borrowed. */
typedef struct {
  const char** texts; /* in order of addition */
  int* values;
  int count, capacity;
  int* slots; /* for each slot of the hash table, the index of its name in `texts`; -1: the slot is free */
  int slot_count;
} Names;

/* Adds a name with an integer value >= 0. The name is borrowed and must outlive the table. Returns false and changes
 * nothing if the table already has the name. May allocate. */
bool names_add(Names* names, const char* text, int value);
/* Returns the value of a name, or -1 if the table does not have the name. Does not allocate. */
int names_find(const Names* names, const char* text);
/* Returns the name of the table with the smallest text_distance to a misspelled name, borrowed. Returns NULL if no name
 * is near enough (text_nearest), or the table has more than 5000 names. Allocates temporary memory. */
const char* names_nearest(const Names* names, const char* text);
/* Frees the table, but not the borrowed names, and zeroes the struct. Accepts a zeroed struct, but not NULL. */
void names_free(Names* names);

/* ---------------------------------------------------------------- positions in a text (base/source.c) */

/* Largest length of a scene, task or mesh text [bytes]. */
#define SOURCE_LENGTH_MAX ((size_t)1 << 28)
/* Returns true if a text (length bytes) is valid UTF-8, has no NUL byte and is at most SOURCE_LENGTH_MAX bytes long.
 * Otherwise returns false and adds one error at the first invalid byte. source: name of the text in messages. */
bool source_check_utf8(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Moves a position past one byte of a text. After LF, CR or CRLF the position is at the next line. Otherwise the column
 * grows by one per UTF-8 character. at: the byte in a NUL-terminated text; the byte after a CR is read, too. */
void source_position_advance(SourcePosition* position, const char* at);
/* Returns the line and the column of a byte in a text. Both count from 1, columns in characters. offset: at most the
 * length of the text (asserted). `source`, the name of the text, is borrowed. */
SourcePosition source_position_at(const char* source, const char* text, size_t offset);

/* ---------------------------------------------------------------- files (base/file.c) */
/* Reads a whole file into memory.
 * Sets *data to its bytes, followed by a NUL, and *length to the number of bytes. The caller frees *data with
 * memory_free. Limits: 2 GiB, 256 MiB from a pipe, 1 MiB from a device. A pipe without a writer fails after 10 s. On
 * failure returns STATUS_IO with errno set (see file_error_text), *data NULL and *length 0. */
Status file_read(const char* path, char** data, size_t* length);
/* Returns the message for an errno value that file_read has set. The text is static; the caller does not free it. */
const char* file_error_text(int error);
/* Returns true if the path is an existing regular file. Links are followed. A regular file can be read again, unlike a
 * pipe or device. Returns false if the file cannot be examined. */
bool file_is_regular(const char* path);
/* Reads a whole file into memory, and adds an error to diagnostics if this fails. Sets *data to the bytes of the file,
 * followed by a NUL, and *length to their number. The caller frees *data with memory_free. Returns STATUS_IO with *data
 * NULL on failure. */
Status file_read_reported(const char* path, char** data, size_t* length, Diagnostics* diagnostics);
/* Writes data (length bytes) to a file atomically: a reader sees either the old or the new content. The data go to a
 * temporary file, which is synced and renamed. Devices and pipes are written directly. Returns STATUS_IO with errno set
 * on failure. */
Status file_write(const char* path, const char* data, size_t length);
/* Writes a text, which may be empty, to a file atomically. The folder must exist. On failure adds an error to
 * diagnostics, returns STATUS_IO and leaves an existing file unchanged. */
Status file_write_reported(const char* path, const Text* text, Diagnostics* diagnostics);
/* Creates a folder with its parents. Accepts an existing folder. Returns STATUS_IO with errno set on failure; errno is
 * ENOTDIR if the path is not a folder. Folders created before the failure remain. */
Status file_make_folder(const char* path);
/* Creates a folder with its parents. Accepts an existing folder. On failure adds an error to diagnostics and returns
 * STATUS_IO. */
Status file_make_folder_reported(const char* path, Diagnostics* diagnostics);
/* A lock that gives exclusive write access to a folder. A zeroed struct holds no lock. */
typedef struct {
  int file; /* file descriptor of the locked folder + 1; 0 if there is no lock */
} FolderLock;
/* Creates a folder with its parents and locks the folder (flock). The lock lasts until folder_unlock or the end of the
 * process. Returns STATUS_IO with an error, and zeroes *lock, if the folder cannot be created or another process has
 * locked the folder. On file systems without locks the folder is only created. */
Status folder_lock(FolderLock* lock, const char* path, Diagnostics* diagnostics);
/* Releases the lock of a folder. Accepts a zeroed struct. */
void folder_unlock(FolderLock* lock);
/* Creates the folder that will contain the file `path`. Does nothing if `path` has no folder. Returns STATUS_IO with an
 * error on failure. */
Status file_make_folder_of(const char* path, Diagnostics* diagnostics);
/* Returns true if a file or folder exists at this path and can be examined. Links are followed. */
bool file_exists(const char* path);
/* Returns the path folder/name. The slash is omitted if `folder` is empty or ends with a slash. The caller frees the
 * path with memory_free. */
char* file_join(const char* folder, const char* name);
/* Returns the path of a file that another file names relative to its own folder. base_file: path of the other file. An
 * absolute path is copied. The caller frees the result with memory_free. */
char* file_resolve(const char* base_file, const char* relative);
/* Returns the relative path from a folder to a file, with `..` if needed. An absolute path is copied. Symbolic links
 * are followed where they exist. The result is never NULL. The caller frees the result with memory_free. */
char* file_relative_path(const char* folder, const char* path);
/* Returns the relative path from a folder to a file in this folder or below. Returns NULL if the file lies outside of
 * the folder. The caller frees the result with memory_free. */
char* file_relative_if_inside(const char* folder, const char* path);
/* Returns the name of a file without its folder and its last extension. A leading dot does not begin an extension. The
 * caller frees the result with memory_free. */
char* file_stem(const char* path);

/* A stream that writes a file atomically. The data go to the file `path~`, which file_stream_close renames to `path`.
 */
typedef struct {
  FILE* stream;
  char *path, *temporary;
} FileStream;
/* Opens a stream that writes the file `path` atomically. Devices and pipes are written directly. The caller ends the
 * stream with file_stream_close or file_stream_discard. On failure returns STATUS_IO with errno set and *out zeroed. */
Status file_stream_open(FileStream* out, const char* path);
/* Completes the file: flushes, syncs, renames and frees the stream. If a write failed, returns STATUS_IO with errno
 * set; `path` is then unchanged and `path~` is deleted. Also returns STATUS_IO for a zeroed struct. */
Status file_stream_close(FileStream* out);
/* Discards the written data and frees the stream. The file `path` stays unchanged. Data already written to a device or
 * pipe cannot be discarded. Accepts a zeroed struct. */
void file_stream_discard(FileStream* out);

/* ---------------------------------------------------------------- hash (base/hash.c), time (base/timer.c) */
/* Computes the SHA-256 hash of data (length bytes). Sets hex to its 64 hexadecimal digits and a NUL. data may be NULL
 * if length is 0. Does not allocate. */
void hash_sha256(const void* data, size_t length, char hex[65]);
/* Returns the monotonic time [s] from an arbitrary origin. Never fails. */
double timer_now(void);

/* ---------------------------------------------------------------- files of numbers (base/number_file.c)
 * A number file stores named arrays of numbers exactly. The file is a text with one number per line. A number is
 * written as the hexadecimal digits of its 64 bits.
 *
 *     sdrs <kind> 1
 *     sha256 <64 hexadecimal digits>          hash of everything after this line
 *     doubles <name> <count>
 *     <16 hexadecimal digits>                 count lines; bits of an IEEE 754 double
 *     integers <name> <count>
 *     <16 hexadecimal digits>                 count lines; two's complement
 *     end
 *
 * Names are unique and have 1 to 63 characters of A-Z a-z 0-9 . _ - /. A truncated or altered file, or a file of
 * another kind, is rejected with a message. A NumberFile owns its arrays. Initialize it with its kind and zeros. */
enum { NUMBER_NAME_SIZE = 64 };

typedef struct {
  char name[NUMBER_NAME_SIZE];
  bool is_integers;
  int count;
  uint64_t* bits; /* 64-bit patterns of the numbers (size: count) */
} NumberArray;

typedef struct {
  NumberArray* arrays;
  int count, capacity;
  const char* kind; /* word that follows `sdrs` in the first line, borrowed */
  char* path;       /* path of the file that was read, for messages; NULL if the arrays were added by the program */
} NumberFile;

/* Adds a copy of an array of doubles to the file. values (count), count >= 0. The name must be valid and new
 * (asserted). */
void number_file_add_doubles(NumberFile* file, const char* name, const double* values, int count);
/* Adds a copy of an array of 64-bit integers to the file. values (count), count >= 0. The name must be valid and new
 * (asserted). */
void number_file_add_integers(NumberFile* file, const char* name, const int64_t* values, int count);

/* Returns the length of an array of doubles, or -1 if the file has no such array. */
int number_file_doubles_count(const NumberFile* file, const char* name);
/* Returns the length of an array of integers, or -1 if the file has no such array. */
int number_file_integers_count(const NumberFile* file, const char* name);
/* Copies an array of doubles of the file to values (count). Returns false with an error, and writes nothing, if the
 * array is missing or has another length. */
bool number_file_get_doubles(const NumberFile* file, const char* name, double* values, int count,
                             Diagnostics* diagnostics);
/* Copies an array of integers of the file to values (count). Returns false with an error, and writes nothing, if the
 * array is missing or has another length. */
bool number_file_get_integers(const NumberFile* file, const char* name, int64_t* values, int count,
                              Diagnostics* diagnostics);

/* Writes a number file to the disk atomically. Returns STATUS_IO, with errno set, on failure. Allocates temporary
 * memory. */
Status number_file_write(const NumberFile* file, const char* path);
/* Reads a number file of the given kind. `kind` is borrowed and must outlive *file. Returns STATUS_IO if the file
 * cannot be read. Returns STATUS_BAD_INPUT if the file has another kind or version or a wrong hash. Both statuses come
 * with an error and leave *file without arrays. The caller frees *file with number_file_free. */
Status number_file_read(NumberFile* file, const char* kind, const char* path, Diagnostics* diagnostics);
/* Reads a number file of the given kind from a text (length bytes), which need not outlive *file. path: name for
 * messages. Returns STATUS_BAD_INPUT, with an error and without arrays in *file, if the kind, the version or the hash
 * is wrong. `kind` is borrowed and must outlive *file. The caller frees *file with number_file_free. */
Status number_file_parse(NumberFile* file, const char* kind, const char* path, const char* data, size_t length,
                         Diagnostics* diagnostics);
/* Appends the text of a number file, including its hash, to `out`. */
void number_file_format(const NumberFile* file, Text* out);
/* Frees all arrays of a number file and zeroes the struct, including its kind. Accepts a zeroed struct, but not NULL.
 */
void number_file_free(NumberFile* file);

/* ---------------------------------------------------------------- order (base/order.c) */

/* Comparison function for qsort of uint64_t in ascending order. Returns -1, 0 or 1. */
int compare_uint64(const void* a, const void* b);
/* Sorts an array of numbers in place and removes duplicates. numbers (count); may be NULL if count is 0. Returns the
 * number of remaining elements. */
int sort_unique_uint64(uint64_t* numbers, int count);

/* ---------------------------------------------------------------- elementary functions (base/elementary.c) Elementary
 * functions that give the same bits on every processor. The functions of the C library do not, because the library
 * selects code by the processor. Errors are within 1 ulp (atan2, hypot: 2 ulp), also for huge and tiny arguments.
 * Special values are as in C, but errno is not set. Functions that IEEE 754 defines exactly (sqrt, fabs, floor, fmod,
 * frexp, ...) are called directly. scripts/check_elementary.py checks that the program calls no other functions of the
 * C library. */
/* Returns the sine of x [rad], or NAN for infinities. */
double math_sin(double x);
/* Returns the cosine of x [rad], or NAN for infinities. */
double math_cos(double x);
/* Sets *sine and *cosine for x [rad], to NAN for infinities. The results are bit-identical to math_sin and math_cos. */
void math_sincos(double x, double* sine, double* cosine);
/* Returns the arc cosine of x [rad], in [0, pi]. Returns NAN for x outside [-1, 1]. */
double math_acos(double x);
/* Returns the angle of the point (x, y) from the x axis [rad], in [-pi, pi]. For (0, 0) the signs of the zeros decide
 * between 0, pi and their negatives, as in C. Returns NAN only if an argument is NAN. */
double math_atan2(double y, double x);
/* Returns the natural logarithm of x, -HUGE_VAL for 0, or NAN for x < 0. */
double math_log(double x);
/* Returns the logarithm of x to base 10, -HUGE_VAL for 0, or NAN for x < 0. */
double math_log10(double x);
/* Returns x^y. Returns NAN if x < 0 and y is not an integer, for finite x and y. */
double math_pow(double x, double y);
/* Returns the cube root of x, which may have either sign. */
double math_cbrt(double x);
/* Returns sqrt(x^2 + y^2) without overflow of the squares. */
double math_hypot(double x, double y);

/* Returns e^x for x <= 0, and 0 for x < -700. The relative error is below 4e-16. Method: e^x = 2^k e^r, with the Taylor
 * series of degree 13 for |r| <= log(2)/2. The result for x > 0 is undefined (not asserted, because inner loops call
 * this function). */
static inline double math_exp_nonpositive(double x) {
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

/* Returns log x for x in [1, 2^20]. The error is 3e-16 times the larger of the result and 1. Method: x = 2^k m with m
 * in [sqrt 1/2, sqrt 2), and the series of log m = 2 artanh((m - 1) / (m + 1)). The result for other x is undefined
 * (not asserted, because inner loops call this function). */
static inline double math_log_above_one(double x) {
  union {
    double number;
    uint64_t bits;
  } word = {.number = x};
  int64_t k =
      (int64_t)((word.bits + 0x95f619980c433u) >> 52) - 1023; /* the addition increments the exponent if m >= sqrt 2 */
  word.bits -= (uint64_t)k << 52;
  double s = (word.number - 1) / (word.number + 1), q = s * s, q2 = q * q;
  double q4 = q2 * q2;
  double low = (2.0 / 3 + q * (2.0 / 5)) + q2 * (2.0 / 7 + q * (2.0 / 9));
  double middle = (2.0 / 11 + q * (2.0 / 13)) + q2 * (2.0 / 15 + q * (2.0 / 17)), high = 2.0 / 19 + q * (2.0 / 21);
  return (double)k * 0x1.62e42fefa39efp-1 + (2 * s + s * q * (low + q4 * (middle + q4 * high)));
}

/* ---------------------------------------------------------------- CSV (base/csv.c) */

/* Appends a CSV field without a comma. A field that contains a comma, a quote or a line break is quoted, and its quotes
 * are doubled. */
void csv_add_field(Text* row, const char* text);

/* A CSV file in memory: one header line, and rows that are as long as the header. The struct owns all its members. */
typedef struct {
  char* data; /* text of the file, split into cells in place */
  char** names;
  int column_count;
  char** cells; /* cells, row by row (size: row_count * column_count) */
  int* lines;   /* file line where each row begins (size: row_count) */
  int row_count;
} CsvTable;

/* Parses a CSV text with comma-separated fields, quotes, and LF or CRLF. The table takes ownership of `data`, which is
 * NUL-terminated after `length` bytes. Returns STATUS_BAD_INPUT with an error if there is no header, a row has another
 * length than the header, or a quote is not closed. The caller frees the table with csv_free in any case. */
Status csv_parse(CsvTable* table, const char* path, char* data, size_t length, Diagnostics* diagnostics);
/* Reads a CSV file with comma-separated fields, quotes, and LF or CRLF. Returns STATUS_IO with an error if the file
 * cannot be read. Returns STATUS_BAD_INPUT with an error if there is no header, a row has another length than the
 * header, or a quote is not closed. The caller frees the table with csv_free in any case. */
Status csv_read(CsvTable* table, const char* path, Diagnostics* diagnostics);
/* Frees all members and zeroes the table. Accepts a zeroed or partly read table, but not NULL. */
void csv_free(CsvTable* table);
/* Returns the index of the first column with a given name (case-sensitive), or -1 if there is none. */
int csv_find_column(const CsvTable* table, const char* name);
/* Returns the text of a cell, borrowed from the table. Row and column count from 0 and must be inside the table
 * (asserted). */
const char* csv_cell(const CsvTable* table, int row, int column);
/* Returns the number in a cell, or NAN if the cell is not a decimal number. Row and column count from 0 and must be
 * inside the table (asserted). */
double csv_number_or_nan(const CsvTable* table, int row, int column);
/* Sets *value to the number in a cell. Returns false with an error that names line and column if the cell is not a
 * finite decimal number. Row and column count from 0 and must be inside the table (asserted). path: name of the file in
 * the error. */
bool csv_read_number(const CsvTable* table, const char* path, int row, int column, double* value,
                     Diagnostics* diagnostics);

/* A CSV file of any length that is read row by row. Only the header and the last CSV_WINDOW rows are in memory. */
typedef struct CsvRows CsvRows;
enum { CSV_WINDOW = 4 };
/* Opens a regular CSV file and checks that all rows are as long as the header. The caller closes *result with
 * csv_rows_close. On failure sets *result to NULL and adds an error. Returns STATUS_IO if the file cannot be read, and
 * STATUS_BAD_INPUT if it is not a CSV file. */
Status csv_rows_open(CsvRows** result, const char* path, Diagnostics* diagnostics);
/* Closes the file and frees `rows`. Accepts NULL. */
void csv_rows_close(CsvRows* rows);
/* Returns the number of rows below the header. */
int csv_rows_count(const CsvRows* rows);
/* Returns the column names as a table without rows, borrowed from `rows`. */
const CsvTable* csv_rows_header(const CsvRows* rows);
/* Reads one row and returns it as a table with one row, borrowed from `rows`. row: 0 ... count - 1 (asserted). The
 * table is valid until a row with the same index modulo CSV_WINDOW is read. Reading in ascending order is sequential; a
 * jump back by more than CSV_WINDOW rows reads up to 64 rows again. Cells are empty if the file was truncated after it
 * was opened. May allocate. */
const CsvTable* csv_rows_read(CsvRows* rows, int row);

/* Union-find (disjoint sets): divides the members 0..count-1 into sets that can be joined. The sets are stored in an
 * array of the caller. parent[k] is the parent of member k; a root is its own parent. The root is the smallest member
 * of its set, so the order of the unions does not change the roots.
 */
/* Makes every member a set of its own. parent (count). */
void disjoint_sets_init(int* parent, int count);
/* Returns the root of the set that contains a member, which is its smallest member. parent (count). Not thread-safe,
 * because the path to the root in `parent` is shortened. */
int disjoint_sets_find(int* parent, int member);
/* Joins the sets of the members a and b. parent (count). */
void disjoint_sets_unite(int* parent, int a, int b);

/* A parallel loop calls body(context, index, thread) for each index in 0..count-1. Each index must write only to its
 * own elements, so that results do not depend on the number of threads. The loop runs in the calling thread if threads
 * <= 1 or count < threshold. grain: number of indices that a thread takes at a time. Each thread starts with the same
 * contiguous indices in every loop, so that data stay in its cache. */
typedef void (*ParallelBody)(void* context, int index, int thread);
/* Runs a parallel loop and returns after its last index. The argument `thread` of the body is in 0..threads-1. After a
 * failed allocation in `body`, memory_try of the calling thread returns false, or the process ends. */
void parallel_for(int threads, int count, int threshold, int grain, ParallelBody body, void* context);
/* Creates the threads for the parallel loops of the calling thread. threads: requested number, including the calling
 * thread. Returns the number of available threads, at least 1, which later loops use. The number is smaller than
 * `threads` at a system limit (processes, memory, OMP_THREAD_LIMIT) or above 1024. The stacks of the threads remain
 * until the calling thread ends. */
int parallel_create_threads(int threads);
/* Returns the number of processors that this process may run on, at least 1. */
int parallel_processor_count(void);

/* Processes that mpirun started share work, in a build with `make MPI=1`. Otherwise there is one process of rank 0, and
 * the functions below do nothing. All ranks must call processes_init, _broadcast, _max and _finish in the same order.
 * If one rank dies, all ranks end. */
/* Initializes MPI. The main thread calls this function once. Does nothing in a program that mpirun did not start. */
void processes_init(void);
/* Finalizes MPI. Does nothing if MPI was not initialized. */
void processes_finish(void);
/* Returns the number of processes. Returns 1 before processes_init, after processes_finish, and without MPI. */
int processes_count(void);
/* Returns the rank of this process, 0..count-1. Rank 0 writes files and messages. */
int processes_rank(void);
/* Copies data (size bytes) from rank `owner` to the same variable of all other ranks. The bytes must not contain
 * pointers. */
void processes_broadcast(void* data, size_t size, int owner);
/* Returns the maximum of `value` over all ranks. */
int processes_max(int value);

/* ---------------------------------------------------------------- random numbers (base/random.c) */
typedef struct {
  uint64_t state;
} Random;
/* Returns 64 random bits and advances the state. Any initial state is valid, including 0. The same state gives the same
 * bits on every machine. */
uint64_t random_bits(Random* random);
/* Returns a uniform random number in [low, high) with 53 random bits. Advances the state by one step. */
double random_uniform(Random* random, double low, double high);
/* Returns a normal random number with mean 0 and variance 1. Advances the state by two steps. */
double random_normal(Random* random);

#endif
