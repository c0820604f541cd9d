/* base: what every folder stands on - status, diagnostics, memory, text, files, hashes, time.
 * Ownership: every x_create/x_init has an x_destroy/x_free that accepts a zeroed or half-built object. */
#ifndef SDRS_BASE_H
#define SDRS_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Process exit codes of the command line (docs/cli.md). */
typedef enum {
  EXIT_DONE = 0,          /* the command did what it was asked */
  EXIT_CHECK_FAILED = 1,  /* a check ran and found a difference or a fault */
  EXIT_USAGE = 2,         /* wrong command line */
  EXIT_BAD_INPUT = 3,     /* a scene, mesh or query that cannot be used */
  EXIT_SOLVER = 4,        /* the numeric solver failed; the last good state is written */
  EXIT_IO = 5,            /* cannot read or write */
  EXIT_INTERRUPTED = 130, /* SIGINT, SIGTERM or SIGUSR1 */
} ExitCode;

/* Result of a fallible function. Details travel in Diagnostics. */
typedef enum {
  STATUS_OK = 0,
  STATUS_BAD_INPUT,
  STATUS_IO,
  STATUS_SOLVER,
  STATUS_INTERRUPTED,
  STATUS_NO_MEMORY,
} Status;

/* The exit code that reports a status. EXIT_IO for want of memory and for what is no status. Never fails; 0 is
 * handed out for STATUS_OK only. */
ExitCode status_exit_code(Status status);

/* ---------------------------------------------------------------- diagnostics (base/diagnostics.c) */

typedef enum { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } Severity;

/* Where something stands in a user's file. line and column count from 1; 0 = unknown. */
typedef struct {
  const char* file; /* borrowed; lives as long as the object that hands it out */
  int line, column;
} SourcePlace;

typedef struct {
  Severity severity;
  char* file; /* owned copy, or NULL */
  int line, column;
  char* text; /* owned */
} Diagnostic;

/* All problems of the input, gathered before anything is refused. Initialise with {0}. */
typedef struct {
  Diagnostic* items;
  int count, capacity;
  int error_count, warning_count;
} Diagnostics;

/* Append `file:line:column: severity: text` (printf style, no trailing newline, no prefix in the text). File name and
 * text are copied. Errors and warnings are counted, notes are not. A warning that is there already is not added again:
 * a scene is built more than once in a task. */
void diagnostics_add(Diagnostics* diagnostics, Severity severity, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Append those of `more` that are not there yet: several readings of one file tell the same. They are copied; `more`
 * stays the caller's. Two are the same when severity, place and text are. Never fails. */
void diagnostics_add_new(Diagnostics* diagnostics, const Diagnostics* more);
/* Sort by file, line, column (stable), then print each as `file:line:col: error: text`, followed by the
 * source line and a caret when the file can be read. color: use ANSI colours. A longer line is cut to some 120 bytes
 * around the caret. Allocates a copy of each file it quotes, and frees it; a file that cannot be read is no error,
 * its line is left out. */
void diagnostics_print(Diagnostics* diagnostics, FILE* stream, bool color);
/* Frees all texts and leaves a zeroed one; accepts a zeroed one. NULL is not accepted. */
void diagnostics_free(Diagnostics* diagnostics);

/* ---------------------------------------------------------------- memory (base/memory.c)
 * Allocation failure ends the process with a message and EXIT_IO: there is nothing a simulation can do without memory.
 * Within memory_try it leads back there instead.
 * memory_allocation_count counts every call below, so that a test can prove that a step allocates nothing. */
/* size [bytes], may be 0: a zeroed, 64-byte aligned block, never NULL. Owned by the caller, freed by memory_free. */
void* memory_alloc(size_t size);
/* A new block of `size` bytes with the first old_size of the old one, the rest zero; the old one (may be NULL) is
 * freed. 64-byte aligned, never NULL. */
void* memory_resize(void* old, size_t old_size, size_t size);
/* Room for one element more than count in an array that doubles when it is full. *capacity counts elements. element:
 * size of one [bytes]. Room of 64 at first. Returns the array, moved when it was full: the old place is freed then.
 * NULL with capacity 0 begins one. */
void* memory_grown(void* array, size_t element, int count, int* capacity);
/* From now on blocks of 128 KiB and more, of the whole process, go back to the system when they are freed; else those
 * of 2 MiB. Never fails. */
void memory_give_back(void);
/* Gives a block back, also to the pool that it is of; accepts NULL. After that the block must be used no more; its
 * content is not erased. */
void memory_free(void* pointer);
/* Copy of a NUL-terminated string, owned by the caller, freed by memory_free. text must not be NULL. */
char* memory_text(const char* text);
/* Called when no memory is left; also by code whose library reports that. size: bytes asked for, for the message. Does
 * not return: goes back to the memory_try of this thread, which answers false, or, without one, ends the process with
 * EXIT_IO. */
_Noreturn void memory_exhausted(size_t size);

/* Results of a library live in a pool, so that a failure half-way loses nothing: all blocks that are taken within
 * memory_try, in loops of parallel_for too, are of its pool, and those not freed one by one go with it. */
typedef struct MemoryPool MemoryPool;
/* Owned by the caller, ended by memory_pool_destroy. NULL: no memory. */
MemoryPool* memory_pool_create(void);
/* Frees the pool and all its blocks; accepts NULL. */
void memory_pool_destroy(MemoryPool* pool);
/* Number of blocks that it holds. Not beside threads that allocate in it. Blocks that were freed one by one are not
 * among them; pool must not be NULL. */
int64_t memory_pool_count(const MemoryPool*);
/* The pool of the innermost memory_try of this thread, borrowed; NULL outside of any. */
MemoryPool* memory_pool_in_use(void);
/* The so-manyth allocation within memory_try from now on fails, and all after it; 0: none. For tests. */
void memory_fail_at(int64_t allocation);
typedef void (*MemoryBody)(void* context);
/* body(context); false: an allocation in it failed, and it was left there as by longjmp. What it was about to change is
 * then to be thrown away: memory by its pool, nothing else may be held. May be nested, with pools of any kind. */
bool memory_try(MemoryPool* pool, MemoryBody body, void* context);
/* How many blocks were asked for since the process began, in all threads. Those that were freed count too. Asking
 * allocates nothing, never fails. */
uint64_t memory_allocation_count(void);
/* Bytes that are allocated now, in all threads and pools, as the allocator rounds them: for tests of what is held.
 * Asking allocates nothing, never fails. */
uint64_t memory_held(void);
/* The most bytes since the process began or memory_peak_begin. In all threads, as memory_held counts. Never fails;
 * allocates nothing. */
uint64_t memory_peak(void);
/* The most counts from the bytes held now. For all threads: who measures beside another measures wrongly, which is
 * no error here. */
void memory_peak_begin(void);
#define GIBIBYTE 1073741824.0 /* bytes */
#define MEMORY_NEW(type, count) ((type*)memory_alloc(sizeof(type) * (size_t)(count)))

/* ---------------------------------------------------------------- a state as a block of numbers (base/state_block.c)
 * One function goes through all that belongs to a state, in three passes: to measure it, to write it, to read it. Every
 * number is 64 bits wide, so that a block means the same on every machine once its bits are written down in order. */
typedef enum { BLOCK_MEASURE, BLOCK_WRITE, BLOCK_READ } BlockPass;
typedef struct {
  BlockPass pass;
  uint64_t* words; /* room for what was measured; unused while that is done */
  size_t at;       /* how far it has come [words] */
  size_t count;    /* BLOCK_READ: how many there are */
  bool failed; /* BLOCK_READ: they came to an end too early, or one was out of its range; zeroes were read instead */
} StateBlock;
/* Each value is counted (BLOCK_MEASURE: neither read nor changed), copied to the block, or from it. A block that ends
 * too early gives zeroes and sets `failed`. Nothing is allocated. values[count], a word each. */
void state_block_doubles(StateBlock* block, double* values, size_t count);
/* One word of 64 bits as it is. As with doubles: a block that ends too early gives 0 and sets `failed`. Allocates
 * nothing. */
void state_block_word(StateBlock* block, uint64_t* value);
/* A whole number of low..high, one word. BLOCK_READ: another one becomes `low` and sets `failed`. low must be <=
 * high. Allocates nothing; when writing the range is not looked at, the caller must be within it. */
void state_block_int(StateBlock* block, int* value, int low, int high);
/* A word, 0 or 1; BLOCK_READ: another one is false and sets `failed`. Allocates nothing. */
void state_block_bool(StateBlock* block, bool* value);

/* ---------------------------------------------------------------- growing text (base/text.c) */
typedef struct {
  char* data; /* always NUL-terminated once something was added */
  size_t length, capacity;
} Text;
/* Appends as printf prints; grows as needed. A Text starts as {0} and is ended by text_free. text must not be NULL;
 * neither must a string that is printed. */
void text_add(Text* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* The same with a list of arguments, which it uses up. The caller goes on with va_end. As text_add otherwise: text
 * must not be NULL. */
void text_add_v(Text* text, const char* format, va_list arguments);
/* Appends a copy of `length` bytes, NUL bytes too; with length 0 data becomes "" where it was NULL. */
void text_add_bytes(Text* text, const char* bytes, size_t length);
/* Shortest decimal that reads back to the same double ("nan", "inf" for those). Never fails; -0 keeps its sign. */
void text_add_double(Text* text, double value);
/* A word for a POSIX shell, in quotes where it needs them. Nothing of it is expanded. word: NUL-terminated, not
 * NULL; an empty one becomes two quotes. */
void text_add_shell(Text* text, const char* word);
/* A JSON string with quotes and escapes. string: UTF-8, NUL-terminated; it is not checked. NULL is not accepted. */
void text_add_json_string(Text* text, const char* string);
/* Bytes as base64 (RFC 4648, section 4, with padding). bytes: (length), nothing is added for 0. bytes may be NULL
 * then. text grows as it needs and stays the caller's. */
void text_add_base64(Text* text, const void* bytes, size_t length);
/* Frees data and leaves a zeroed Text; accepts a zeroed one. NULL is not accepted. */
void text_free(Text* text);
/* For manual pages: escaped for roff, words between backquotes in bold (base/roff.c). out stays the caller's; a
 * backquote without its second is no error, bold ends with the text. */
void text_add_roff(Text* out, const char* text);
/* Levenshtein distance in bytes: insertions, deletions, replacements. Allocates for the time of the call. Neither
 * text may be NULL. Time goes with the product of both lengths. */
int text_distance(const char* a, const char* b);
/* The nearest of the candidates[count], borrowed from them, the first among equals; NULL when none is near enough to
 * be meant: one slip in three letters. Candidates must not be NULL; count 0 gives NULL. */
const char* text_nearest(const char* word, const char* const* candidates, int count);

/* ---------------------------------------------------------------- words and excerpts (base/words.c) */

/* For messages: a text cut to a readable length, control characters replaced. */
typedef struct {
  char text[72];
} Excerpt;
/* At most 68 bytes of it, "..." behind when it is longer; no character of UTF-8 is cut. By value, no allocation.
 * text must not be NULL; an empty one gives an empty one. */
Excerpt text_excerpt(const char* text);

/* Number of words in a text "one|another", at least 1. words must not be NULL; an empty text is one empty word.
 * Allocates nothing. */
int words_count(const char* words);
/* 0-based position of a word in such a text; -1 when it is none of them. Whole words only, by their bytes, case and
 * all. Neither text may be NULL. Allocates nothing. */
int words_index(const char* words, const char* word);
/* A copy of the word at a position from 0; index must be below words_count. Cut at 71 bytes. An index beyond is
 * undefined, not checked. */
Excerpt words_at(const char* words, int index);
/* "one, another or a third". Appended to out. out grows as it needs and stays the caller's; words must not be NULL. */
void words_sentence(const char* words, Text* out);

/* ---------------------------------------------------------------- names (base/names.c)
 * Texts to indices, for thousands of links. */

/* Initialise with {0}. The texts are borrowed. */
typedef struct {
  const char** texts; /* in the order they were added */
  int* values;
  int count, capacity;
  int* slots; /* open addressing; -1 = free */
  int slot_count;
} Names;

/* False when the text is there already. Otherwise the text is kept by reference: it must outlive the names. value >= 0,
 * or names_find cannot tell it from none. Grows the table, which allocates. Returns false with nothing changed. */
bool names_add(Names* names, const char* text, int value);
/* The value of a text, or -1 when it was not added; the text is compared by its bytes and not kept. text must not be
 * NULL; a zeroed Names has none. Allocates nothing. */
int names_find(const Names* names, const char* text);
/* The nearest text, borrowed, or NULL when none is near enough. NULL too beyond 5000 names: looking would take too
 * long. Allocates for the time of the call. */
const char* names_nearest(const Names* names, const char* text);
/* Frees the arrays, not the texts, and leaves a zeroed one; accepts a zeroed one. NULL is not accepted. */
void names_free(Names* names);

/* ---------------------------------------------------------------- places in a text (base/source.c) */

/* Longest text accepted [bytes]. */
#define SOURCE_LENGTH_MAX ((size_t)1 << 28)
/* False after a diagnostic at the first byte that is not UTF-8, or when the text is too long. A NUL byte does not
 * belong either. source: name for messages; text: (length) bytes. diagnostics gets one error at most; the text is
 * neither changed nor copied. Returns true without a message. */
bool source_check(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* Moves a place past the byte at `at`: to the next line behind LF, CR or CRLF, else one column where a character
 * begins. Looks at the byte behind a CR. at must point into a NUL-terminated text. place must not be NULL; its file
 * stays as it is. */
void place_advance(SourcePlace* place, const char* at);
/* Line and column (in characters, from 1) of a byte offset, found from the text's start; `source` is borrowed.
 * offset must be within text, which is read up to there only. Never fails, allocates nothing. */
SourcePlace source_place(const char* source, const char* text, size_t offset);

/* ---------------------------------------------------------------- files (base/file.c) */
/* Whole file; *data is NUL-terminated and owned by the caller. STATUS_IO leaves errno set, for file_error_text.
 * Bounded: a file of 2 GiB, 256 MiB from a pipe, 1 MiB from a device; a pipe that no writer has opened within 10 s is
 * an error. After STATUS_IO *data is NULL and *length [bytes] 0. */
Status file_read(const char* path, char** data, size_t* length);
/* strerror for what cannot be read: the bounds are said. Text of the C library, or static; not to be freed. error:
 * an errno, or one of this room's own numbers; never NULL. */
const char* file_error_text(int error);
/* There, and neither folder, pipe nor device: may be read again. A link counts as what it points to. False when it
 * cannot be looked at. Returns false without a message; path must not be NULL. */
bool file_is_regular(const char* path);
/* file_read with a diagnostic that says why it cannot be read; *data is the caller's to free, NULL after STATUS_IO.
 * data is NUL-terminated behind *length, which is 0 after a failure. */
Status file_read_reported(const char* path, char** data, size_t* length, Diagnostics* diagnostics);
/* Write beside the name, fsync, then rename: a reader sees the old file or the new one, never a half. A device or a
 * pipe is written through. data: (length) bytes. STATUS_IO leaves errno set. */
Status file_write(const char* path, const char* data, size_t length);
/* The same of a whole text, which may be empty, with a diagnostic that says why it cannot be written: STATUS_IO.
 * Parents must be there. What was there before stays after STATUS_IO. */
Status file_write_reported(const char* path, const Text* text, Diagnostics* diagnostics);
/* With parents; one that is there already is fine. STATUS_IO leaves errno set, ENOTDIR where something else has the
 * name. Allocates for the time of the call; folders that were made before the failure stay. */
Status file_make_folder(const char* path);
/* The same; a failure is reported in a diagnostic, and STATUS_IO. Allocates for the time of the call. */
Status file_make_folder_reported(const char* path, Diagnostics* diagnostics);
/* A folder that one process at a time writes to; zeroed: none. */
typedef struct {
  int lock; /* descriptor + 1; 0: none */
} FolderClaim;
/* Makes a folder with its parents and claims it until folder_release: by flock of the folder itself, which ends with
 * the process, however that ends. STATUS_IO with a diagnostic: it cannot be made, or another one has it; *claim is then
 * zeroed. Where the file system knows no locks it is only made, and STATUS_OK. */
Status folder_claim(FolderClaim* claim, const char* path, Diagnostics* diagnostics);
/* Others may have it. Zeroed, or released before: nothing happens. */
void folder_release(FolderClaim* claim);
/* The same as file_make_folder_reported of the folder that a file `path` is to stand in; nothing is made, and
 * STATUS_OK, for a path without one. Allocates for the time of the call. STATUS_IO comes with a diagnostic. */
Status file_make_folder_of(const char* path, Diagnostics* diagnostics);
/* true: something of this name can be looked at, a folder too; a link counts as what it points to. false too when a
 * folder on the way may not be searched. No error is reported; allocates nothing. */
bool file_exists(const char* path);
/* folder/name. Owned by the caller, as all paths below: freed by memory_free. Nothing is looked up, this never fails.
 * A slash is put between them unless folder is empty or ends with one. */
char* file_join(const char* folder, const char* name);
/* `relative` as seen from the folder of `base_file`; absolute paths stay. Owned by the caller. A base_file without a
 * folder leaves `relative` as it is. Nothing is looked up, this never fails. */
char* file_resolve(const char* base_file, const char* relative);
/* A path as seen from a folder, by `..` where need be; absolute paths stay as copies. Links in both are followed
 * when they exist. Owned by the caller. Never NULL. */
char* file_relative(const char* folder, const char* path);
/* The same for a path within the folder, absolute or not; NULL when it is not within. Owned by the caller. */
char* file_inside(const char* folder, const char* path);
/* A copy of the name without folder and last extension; a dot at its begin is none. Owned by the caller. path must
 * not be NULL; nothing is looked up. */
char* file_stem(const char* path);

/* A stream written to `path~` and renamed to `path` by file_stream_close; never a half file under the real name. */
typedef struct {
  FILE* stream;
  char *path, *temporary;
} FileStream;
/* A device or a pipe is written itself. STATUS_IO leaves errno set and *out zeroed; else it is ended by close or
 * discard. Writes to `path~` first, and path gets that content when it is closed; allocates the names of both. */
Status file_stream_open(FileStream* out, const char* path);
/* Flush, fsync, rename, and free. STATUS_IO (errno set) when anything was lost: then a file `path` holds what it
 * held, and `path~` is gone. Accepts a zeroed one, which is STATUS_IO. */
Status file_stream_close(FileStream* out);
/* Throws what was written away (not of a device or a pipe), and frees; accepts a zeroed one. Never fails; a file
 * `path` keeps what it held. */
void file_stream_discard(FileStream* out);

/* ---------------------------------------------------------------- hash (base/hash.c), time (base/timer.c) */
/* SHA-256 of (length) bytes as 64 hexadecimal digits and NUL. data may be NULL when length is 0. No allocation. */
void hash_sha256(const void* data, size_t length, char hex[65]);
/* Monotonic seconds. From a start of no meaning: only differences count. Allocates nothing, never fails. */
double timer_now(void);

/* ---------------------------------------------------------------- files of numbers (base/number_file.c)
 * Named arrays of numbers in a file, exact to the bit: text, one number a line by its 64 bits.
 *
 *     sdrs <kind> 1
 *     sha256 <64 hexadecimal digits>          of everything after this line
 *     doubles <name> <count>
 *     <16 hexadecimal digits>                 count lines; bits of an IEEE 754 double
 *     integers <name> <count>
 *     <16 hexadecimal digits>                 two's complement
 *     end
 *
 * Names are 1 to 63 of A-Z a-z 0-9 . _ - / and occur once. A file that is cut short, changed in any byte or not of this
 * kind is refused with a message. A NumberFile owns its arrays; start with its kind and zeros. */
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
  const char* kind; /* word of the first line, borrowed */
  char* path;       /* of the file read, for messages; NULL when built */
} NumberFile;

/* Adds a copy of values[count], count >= 0. An assertion refuses a name that is not of the kind above or not new. */
void number_file_add_doubles(NumberFile* file, const char* name, const double* values, int count);
/* The same of 64-bit whole numbers; values[count] are copied. The same assertion refuses names. */
void number_file_add_integers(NumberFile* file, const char* name, const int64_t* values, int count);

/* The length of an array of doubles; -1 when there is none of this name and kind. Allocates nothing; a name that is
 * there with integers is none of this kind, no error. */
int number_file_doubles_count(const NumberFile* file, const char* name);
/* The length of an array of integers; -1 when there is none of this name and kind. Allocates nothing; one with
 * doubles is none of this kind, no error. */
int number_file_integers_count(const NumberFile* file, const char* name);
/* Copies the array to values[count], which must be its length; false, with a message and nothing written, when it has
 * another or is not there. */
bool number_file_get_doubles(const NumberFile* file, const char* name, double* values, int count,
                             Diagnostics* diagnostics);
/* The same of an array of integers: false, with a message and nothing written, when it is not of this length. values
 * is the caller's own room. */
bool number_file_get_integers(const NumberFile* file, const char* name, int64_t* values, int count,
                              Diagnostics* diagnostics);

/* Atomic: the file holds the old content or the new. STATUS_IO leaves errno set. Allocates the whole text for the
 * time of the call. */
Status number_file_write(const NumberFile* file, const char* path);
/* STATUS_IO or STATUS_BAD_INPUT with a message; then the file is empty. kind must outlive the file, which
 * number_file_free ends. Other errors than a file that is not there or not readable are STATUS_BAD_INPUT: another
 * kind, another version, a hash that does not fit. */
Status number_file_read(NumberFile* file, const char* kind, const char* path, Diagnostics* diagnostics);
/* The same of a text of `length` bytes, which need not end with NUL; `path` is copied, for messages only. Never
 * STATUS_IO. data is copied where it is kept; number_file_free ends the file after STATUS_OK, after an error nothing
 * is to be freed. */
Status number_file_parse(NumberFile* file, const char* kind, const char* path, const char* data, size_t length,
                         Diagnostics* diagnostics);
/* Appends the text of the file, with its hash, to out. out grows as it needs and stays the caller's; never fails. */
void number_file_format(const NumberFile* file, Text* out);
/* Frees the arrays and leaves a zeroed one, without its kind; accepts a zeroed one. NULL is not accepted. */
void number_file_free(NumberFile* file);

/* ---------------------------------------------------------------- order (base/order.c) */

/* For qsort: ascending uint64_t, -1, 0 or 1. Both point to a uint64_t each and must not be NULL. */
int order_uint64(const void* a, const void* b);
/* Sorts the numbers[count] in place and keeps one of each. Returns how many are left, 0 of none. numbers may be
 * NULL when count is 0. Allocates nothing. */
int order_distinct(uint64_t* numbers, int count);

/* ---------------------------------------------------------------- elementary functions (base/elementary.c)
 * With the same bits on every processor, unlike those of the C library, which takes another code where it finds fused
 * operations. Within one unit in the last place (atan2, hypot: two), also for huge and tiny arguments; special values
 * as in C. What IEEE defines exactly (sqrt, fabs, floor, fmod, frexp, ...) is called by its own name. The rest of the
 * program calls no others: scripts/check_elementary.py. */
/* x [rad]; NAN for infinities. No error is raised, errno stays. Allocates nothing. */
double math_sin(double x);
/* x [rad]; NAN for infinities. No error is raised, errno stays. Allocates nothing. */
double math_cos(double x);
/* Both for the price of one, with their bits. NAN twice for infinities, as no error. sine and cosine must not be
 * NULL. */
void math_sincos(double x, double* sine, double* cosine);
/* [rad] in [0, pi]; NAN outside [-1, 1]. No error is raised, errno stays. */
double math_acos(double x);
/* Angle of the point (x, y) from the x axis [rad], in [-pi, pi]. NAN only where an argument is; no error is raised
 * for (0, 0), which gives 0 or pi by the signs. */
double math_atan2(double y, double x);
/* Natural; -HUGE_VAL for 0, NAN below. No error is raised, errno stays. */
double math_log(double x);
/* To base 10; -HUGE_VAL for 0, NAN below. No error is raised, errno stays. */
double math_log10(double x);
/* x^y; NAN for x < 0 and y that is no whole number, both finite. No error is raised, errno stays. */
double math_pow(double x, double y);
/* Cube root, of either sign. NAN for NAN alone; never an error. */
double math_cbrt(double x);
/* sqrt(x^2 + y^2) without overflow on the way. INFINITY when one of them is infinite; never an error. */
double math_hypot(double x, double y);

/* Where a call would cost more than the function itself, and a rounding more does not matter: e^x for x <= 0, below
 * -700 zero, relative error below 4e-16: e^x = 2^k e^r by Taylor's series to the 13th power on |r| <= log(2)/2.
 * Undefined for x > 0, which nobody asserts. */
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

/* log x for x in [1, 2^20], to 3e-16 of the larger of the result and 1, likewise: x = 2^k m with m in [sqrt 1/2, sqrt
 * 2), log m = 2 artanh((m - 1) / (m + 1)) by its series. Undefined outside of that interval, which nobody asserts. */
static inline double math_log_sum(double x) {
  union {
    double number;
    uint64_t bits;
  } word = {.number = x};
  int64_t k = (int64_t)((word.bits + 0x95f619980c433u) >> 52) - 1023; /* carries where m >= sqrt 2 */
  word.bits -= (uint64_t)k << 52;
  double s = (word.number - 1) / (word.number + 1), q = s * s, q2 = q * q;
  double q4 = q2 * q2;
  double low = (2.0 / 3 + q * (2.0 / 5)) + q2 * (2.0 / 7 + q * (2.0 / 9));
  double middle = (2.0 / 11 + q * (2.0 / 13)) + q2 * (2.0 / 15 + q * (2.0 / 17)), high = 2.0 / 19 + q * (2.0 / 21);
  return (double)k * 0x1.62e42fefa39efp-1 + (2 * s + s * q * (low + q4 * (middle + q4 * high)));
}

/* ---------------------------------------------------------------- CSV (base/csv.c) */

/* Append a field, quoted when it holds a comma, a quote or a line break. Quotes in it are doubled. No comma before or
 * after. row grows as it needs and stays the caller's; text must not be NULL. */
void csv_add_field(Text* row, const char* text);

/* A CSV file in memory: one header line, every row as long as the header. Owns everything. */
typedef struct {
  char* data; /* the file, cut into the cells */
  char** names;
  int column_count;
  char** cells; /* (row_count * column_count) */
  int* lines;   /* line of the file where the row begins (row_count) */
  int row_count;
} CsvTable;

/* Read a text: comma, quoted fields, LF or CRLF. STATUS_BAD_INPUT when it is not CSV (no header, a row of
 * another length, an open quote), with a diagnostic that names the path. `data` is the table's from here on, and ends
 * with a NUL byte behind `length`. The caller frees with csv_free in any case, which accepts a zeroed table. Line
 * numbers of messages count from 1. */
Status csv_parse(CsvTable* table, const char* path, char* data, size_t length, Diagnostics* diagnostics);
/* The same of a file; STATUS_IO with a diagnostic when it cannot be read. csv_free in any case. A text that is no CSV,
 * or has rows of different length, is STATUS_BAD_INPUT as above. */
Status csv_read(CsvTable* table, const char* path, Diagnostics* diagnostics);
/* Frees all and leaves a zeroed one; accepts a zeroed or half-read one. NULL is not accepted. */
void csv_free(CsvTable* table);
/* Index of the first column of that name, -1 when there is none. Case counts; name must not be NULL. Allocates
 * nothing. */
int csv_column(const CsvTable* table, const char* name);
/* The cell of a row and a column, both from 0 and inside the table; borrowed from the table. Never NULL inside,
 * undefined outside: not checked. Not to be freed. */
const char* csv_cell(const CsvTable* table, int row, int column);
/* The cell as a number; NAN where it is none. Row and column as of csv_cell: undefined outside. */
double csv_value(const CsvTable* table, int row, int column);
/* A cell as a number in *value; false with a diagnostic that names line and column when it is not a finite one. path:
 * for the message. */
bool csv_number(const CsvTable* table, const char* path, int row, int column, double* value, Diagnostics* diagnostics);

/* A CSV file of any length, of which the header and CSV_WINDOW rows are held. */
typedef struct CsvRows CsvRows;
enum { CSV_WINDOW = 4 };
/* Opens a regular file and reads it through once: what csv_read refuses is refused. *result is NULL then, else to be
 * closed. STATUS_IO with a diagnostic when it cannot be read, STATUS_BAD_INPUT when it is no CSV. */
Status csv_rows_open(CsvRows** result, const char* path, Diagnostics* diagnostics);
/* Closes and frees; accepts NULL. */
void csv_rows_close(CsvRows* rows);
/* Rows below the header. */
int csv_rows_count(const CsvRows* rows);
/* The names of its columns as a table without a row, borrowed. */
const CsvTable* csv_rows_header(const CsvRows* rows);
/* Row 0 ... count - 1 as a table whose only row, 0, it is; borrowed, until another row with the same remainder by
 * CSV_WINDOW is asked for. Going on to later rows reads on, going back farther than the window reads up to 64 rows.
 * Cells are empty where the file has been cut short since. Allocates while rows become longer. */
const CsvTable* csv_rows_at(CsvRows* rows, int row);

/* ---------------------------------------------------------------- disjoint sets (base/disjoint_sets.c)
 * Sets of the members 0..count-1 as a forest in the caller's array: parent[k] of every member, a root is its own. The
 * root of a set is its smallest member, so that numbers made from roots do not depend on the order of the joins. */
/* Every member alone; sets parent[count], which all three share. */
void sets_separate(int* parent, int count);
/* The smallest member of its set, below the length of parent. Shortens the way that it walks, so not beside other
 * threads. */
int sets_root(int* parent, int member);
/* The sets of members a and b become one, if they are not yet; members are not checked. */
void sets_join(int* parent, int a, int b);

/* ---------------------------------------------------------------- parallel loops (base/parallel.c)
 * body(context, index, thread) for index in 0..count-1. Each index must write only to its own slots; then the result
 * does not depend on the number of threads. Runs in the calling thread when threads <= 1 or count < threshold.
 * grain: indices handed out at a time, first to every thread of its own part of them: what it wrote of an index in one
 * loop it has near it in the next. */
typedef void (*ParallelBody)(void* context, int index, int thread);
/* Returns when all indices are done; thread is in 0..threads-1. An allocation that fails in it counts as the caller's:
 * within memory_try it ends there, else the process ends. */
void parallel_for(int threads, int count, int threshold, int grain, ParallelBody body, void* context);
/* Creates the threads for loops of the calling thread: `threads` of them with itself. Returns how many there are, at
 * least 1: fewer where a limit of the system (processes, memory, OMP_THREAD_LIMIT) or 1024 is below. Loops then run on
 * so many; none ends the process for lack of threads. Allocates stacks, which stay until the thread ends. */
int parallel_start(int threads);
/* Processors that this process may run on, at least 1. */
int parallel_processor_count(void);

/* ---------------------------------------------------------------- processes (base/processes.c)
 * Copies of the program that mpirun has started and that share work, in a build of `make MPI=1`; otherwise there is
 * one, of rank 0, and the functions below leave everything as it is. All ranks call processes_start, _share, _largest
 * and _finish in the same order; a rank that dies ends the others. */
/* Once, by the main thread; before it there is one process. Nothing happens in a program that mpirun did not start. */
void processes_start(void);
/* Nothing is shared after it; it may be called without a start. */
void processes_finish(void);
/* How many there are: 1 before the start, after the end and without MPI. */
int processes_count(void);
/* 0..count-1; rank 0 writes files and speaks. */
int processes_rank(void);
/* The `size` bytes that rank `owner` has at data, to all ranks' data; copied as they are, so they hold no pointers. */
void processes_share(void* data, size_t size, int owner);
/* The largest of all ranks' values, to all; the value itself where there is one process. */
int processes_largest(int value);

/* ---------------------------------------------------------------- random numbers (base/random.c), for tests and
 * benches */
typedef struct {
  uint64_t state;
} Random;
/* 64 random bits; any state to start with is good, 0 too. The same state gives the same numbers on every machine. */
uint64_t random_bits(Random* random);
/* Uniform in [low, high), 53 bits; takes one step of the state. */
double random_uniform(Random* random, double low, double high);
/* Normal, mean 0 and variance 1; takes two steps of the state. */
double random_normal(Random* random);

#endif
