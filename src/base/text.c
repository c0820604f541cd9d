#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* ---------------------------------------------------------------- growing */

static void reserve(Text* text, size_t more) {
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity) return;
  size_t capacity = text->capacity ? text->capacity : 64;
  while (capacity < needed) capacity *= 2;
  text->data = memory_resize(text->data, text->capacity, capacity);
  text->capacity = capacity;
}

void text_add_bytes(Text* text, const char* bytes, size_t length) {
  assert(bytes || length == 0);
  reserve(text, length);
  if (length > 0) memcpy(text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void text_add_va_list(Text* text, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  reserve(text, 0);
  size_t room = text->capacity - text->length;
  int length = vsnprintf(text->data + text->length, room, format, arguments);
  if (length > 0 && (size_t)length >= room) {
    reserve(text, (size_t)length);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
  }
  if (length > 0) text->length += (size_t)length;
  va_end(again);
}

void text_add(Text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(text, format, arguments);
  va_end(arguments);
}

void text_free(Text* text) {
  memory_free(text->data);
  *text = (Text){0};
}

/* ---------------------------------------------------------------- numbers
 * The shortest decimal of a double in the common range is found with exact 128-bit integers, because a trajectory
 * contains millions of numbers.
 * Let x = m 2^e with m < 2^53, and k such that x 10^k has 17 digits. Then x 10^k = (m 5^k) 2^(e+k), and m 5^k < 2^116
 * for k <= 27. A decimal reads back as x if its exact distance from x is within half the distance to the neighbouring
 * double. */

typedef unsigned __int128 Wide;

#define EXACT_MIN 1e-10 /* below this value 5^k exceeds 64 bits, and 256-bit integers are used */
#define TINY_MIN 1e-60  /* smallest value for 256-bit integers: 4 m 5^k < 2^241 for k <= 77 */
#define EXACT_MAX 1e15  /* above this value e + k may be positive */

static const uint64_t TEN_TO_17 = 100000000000000000U;

/* The number x 10^k in units of 2^-shift. A decimal reads back as x if it is at most `below` smaller or `above`
 * larger. */
typedef struct {
  Wide value, below, above;
  int shift;
  bool closed; /* true if decimals at the ends of the interval also read back as x (ties go to the even m) */
} Scaled;

static uint64_t power_of_5(int k) {
  uint64_t power = 1;
  while (k-- > 0) power *= 5;
  return power;
}

/* Returns x 10^k for x = m 2^e. The significand is multiplied by 4, so that half the distance to the next lower double
 * is an integer. This holds also for powers of two, below which doubles are twice as dense. */
static Scaled scale_by_power_of_10(uint64_t m, int e, int k) {
  uint64_t five = power_of_5(k);
  bool boundary = m == (uint64_t)1 << (DBL_MANT_DIG - 1);
  return (Scaled){.value = 4 * (Wide)m * five,
                  .below = boundary ? five : 2 * (Wide)five,
                  .above = 2 * (Wide)five,
                  .shift = 2 - e - k,
                  .closed = m % 2 == 0};
}

static bool reads_back(const Scaled* x, uint64_t decimal) {
  Wide candidate = (Wide)decimal << x->shift;
  Wide distance = candidate < x->value ? x->value - candidate : candidate - x->value;
  Wide limit = candidate < x->value ? x->below : x->above;
  return x->closed ? distance <= limit : distance < limit;
}

/* Returns the multiple of `unit` nearest to x. */
static uint64_t nearest_multiple(const Scaled* x, uint64_t unit) {
  uint64_t low = (uint64_t)(x->value >> x->shift) / unit * unit;
  Wide rest = x->value - ((Wide)low << x->shift);
  return 2 * rest >= (Wide)unit << x->shift ? low + unit : low;
}

/* Appends digits * 10^-scale in the layout of printf's %g. digits > 0. */
static void add_decimal(Text* text, uint64_t digits, int scale) {
  char reversed[24];
  int count = 0;
  for (; digits % 10 == 0; digits /= 10) scale--;
  do reversed[count++] = (char)('0' + digits % 10);
  while ((digits /= 10) > 0);
  int exponent = count - 1 - scale;
  bool fixed = exponent >= -4 && exponent < 17;
  char out[64];
  int n = 0, point = fixed ? exponent : 0; /* index of the digit before the point */
  if (point < 0) out[n++] = '0', out[n++] = '.';
  for (int i = -1; i > point; i--) out[n++] = '0';
  for (int i = 0; i < count || i <= point; i++) {
    if (i == point + 1 && i > 0) out[n++] = '.';
    out[n++] = i < count ? reversed[count - 1 - i] : '0';
  }
  if (!fixed) { /* large exponents do not occur in the exact range */
    out[n++] = 'e', out[n++] = '-';
    out[n++] = (char)('0' - exponent / 10), out[n++] = (char)('0' - exponent % 10);
  }
  text_add_bytes(text, out, (size_t)n);
}

/* Appends the shortest decimal that reads back as x, for x in [EXACT_MIN, EXACT_MAX). Every decimal of up to 15 digits
 * survives the conversion to double. A decimal with fewer digits is therefore the one of 15 digits without its trailing
 * zeros. */
static void add_exact(Text* text, double x) {
  int binary;
  uint64_t m = (uint64_t)(frexp(x, &binary) * 0x1p53);
  int k = 16 - (int)floor((binary - 1) * 0.30102999566398120); /* log10(2); the result is at most one too large */
  Scaled scaled = scale_by_power_of_10(m, binary - 53, k);
  if ((uint64_t)(scaled.value >> scaled.shift) >= TEN_TO_17) scaled = scale_by_power_of_10(m, binary - 53, --k);
  for (uint64_t unit = 100; unit > 0; unit /= 10) {
    uint64_t decimal = nearest_multiple(&scaled, unit);
    if (unit > 1 && !reads_back(&scaled, decimal)) continue;
    add_decimal(text, decimal, k);
    return;
  }
}

/* ---- decimals of small numbers. Coordinates of bodies at rest are often rounding errors of this size. */

enum { LONG_WORDS = 4, WORD_BITS = 64, FIVES = 27 /* largest power of 5 that fits into a word */ };
typedef struct {
  uint64_t word[LONG_WORDS]; /* least significant word first */
} Long;

static Long long_times(Long a, uint64_t b) {
  Wide carry = 0;
  for (int i = 0; i < LONG_WORDS; i++) {
    carry += (Wide)a.word[i] * b;
    a.word[i] = (uint64_t)carry;
    carry >>= WORD_BITS;
  }
  return a;
}

static Long long_times_power_of_5(uint64_t a, int k) {
  Long product = {{a}};
  for (; k > FIVES; k -= FIVES) product = long_times(product, power_of_5(FIVES));
  return long_times(product, power_of_5(k));
}

/* Returns a 2^shift, truncated to the range of Long. */
static Long long_left(uint64_t a, int shift) {
  Long out = {{0}};
  int word = shift / WORD_BITS, bits = shift % WORD_BITS;
  out.word[word] = a << bits;
  if (bits > 0 && word + 1 < LONG_WORDS) out.word[word + 1] = a >> (WORD_BITS - bits);
  return out;
}

/* Returns floor(a 2^-shift), which must fit in a word. */
static uint64_t long_right(const Long* a, int shift) {
  int word = shift / WORD_BITS, bits = shift % WORD_BITS;
  uint64_t out = a->word[word] >> bits;
  if (bits > 0 && word + 1 < LONG_WORDS) out |= a->word[word + 1] << (WORD_BITS - bits);
  return out;
}

/* Returns -1 if a < b, 0 if a = b, 1 if a > b. */
static int long_compare(const Long* a, const Long* b) {
  for (int i = LONG_WORDS - 1; i >= 0; i--)
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
  return 0;
}

/* Returns a - b. a >= b is required. */
static Long long_minus(Long a, const Long* b) {
  uint64_t borrow = 0;
  for (int i = 0; i < LONG_WORDS; i++) {
    uint64_t taken = b->word[i] + borrow;
    bool over = taken < borrow || a.word[i] < taken;
    a.word[i] -= taken;
    borrow = over;
  }
  return a;
}

/* Appends the shortest decimal that reads back as x, for x in [TINY_MIN, EXACT_MIN). The layout is the same as in
 * add_exact. A decimal is never exactly half-way between two candidates, because x 10^k has too few factors of 2. */
static void add_tiny(Text* text, double x) {
  int binary;
  uint64_t m = (uint64_t)(frexp(x, &binary) * 0x1p53);
  int k = 16 - (int)floor((binary - 1) * 0.30102999566398120), shift = 55 - binary - k;
  Long value = long_times_power_of_5(4 * m, k);
  if (long_right(&value, shift) >= TEN_TO_17) value = long_times_power_of_5(4 * m, --k), shift++;
  bool boundary = m == (uint64_t)1 << (DBL_MANT_DIG - 1);
  Long above = long_times_power_of_5(2, k), below = long_times_power_of_5(boundary ? 1 : 2, k);
  for (uint64_t unit = 100; unit > 0; unit /= 10) {
    uint64_t decimal = long_right(&value, shift) / unit * unit;
    Long low = long_left(decimal, shift), half = long_left(unit, shift - 1), rest = long_minus(value, &low);
    if (long_compare(&rest, &half) > 0) decimal += unit;
    Long candidate = long_left(decimal, shift);
    bool less = long_compare(&candidate, &value) < 0;
    Long distance = less ? long_minus(value, &candidate) : long_minus(candidate, &value);
    int beyond = long_compare(&distance, less ? &below : &above);
    if (unit > 1 && (beyond > 0 || (beyond == 0 && m % 2 != 0))) continue;
    add_decimal(text, decimal, k);
    return;
  }
}

/* Appends any finite or infinite value. Increases the precision until the decimal reads back as the value. Below
 * DBL_MIN only few digits are significant, so the search starts at one digit. */
static void add_by_trial(Text* text, double value) {
  char digits[48];
  int precision = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
  do snprintf(digits, sizeof digits, "%.*g", precision, value);
  while (strtod(digits, NULL) != value && ++precision <= DBL_DECIMAL_DIG);
  text_add_bytes(text, digits, strlen(digits));
}

void text_add_shell(Text* text, const char* word) {
  static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (*word && !word[strspn(word, PLAIN)]) {
    text_add(text, "%s", word);
    return;
  }
  text_add(text, "'");
  for (; *word; word++) text_add_bytes(text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
  text_add(text, "'");
}

void text_add_double(Text* text, double value) {
  double size = fabs(value);
  if (isnan(value)) {
    text_add_bytes(text, "nan", 3);
    return;
  }
  if (!(size >= TINY_MIN && size < EXACT_MAX)) {
    if (size > 0.0 || signbit(value))
      add_by_trial(text, value);
    else
      text_add_bytes(text, "0", 1);
    return;
  }
  if (value < 0.0) text_add_bytes(text, "-", 1);
  if (size < EXACT_MIN)
    add_tiny(text, size);
  else
    add_exact(text, size);
}

/* ---------------------------------------------------------------- JSON */

static void add_json_character(Text* text, char c) {
  switch (c) {
    case '"':
      text_add_bytes(text, "\\\"", 2);
      break;
    case '\\':
      text_add_bytes(text, "\\\\", 2);
      break;
    case '\b':
      text_add_bytes(text, "\\b", 2);
      break;
    case '\f':
      text_add_bytes(text, "\\f", 2);
      break;
    case '\n':
      text_add_bytes(text, "\\n", 2);
      break;
    case '\r':
      text_add_bytes(text, "\\r", 2);
      break;
    case '\t':
      text_add_bytes(text, "\\t", 2);
      break;
    default:
      if ((unsigned char)c < 0x20)
        text_add(text, "\\u%04x", (unsigned)(unsigned char)c);
      else
        text_add_bytes(text, &c, 1);
  }
}

void text_add_json_string(Text* text, const char* string) {
  assert(string);
  text_add_bytes(text, "\"", 1);
  for (; *string; string++) add_json_character(text, *string);
  text_add_bytes(text, "\"", 1);
}

/* ---------------------------------------------------------------- base64 */

/* Three bytes give four digits of six bits. The last group is padded with '='. */
void text_add_base64(Text* text, const void* bytes, size_t length) {
  assert(bytes || length == 0);
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char* in = bytes;
  for (size_t i = 0; i < length; i += 3) {
    size_t count = length - i < 3 ? length - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; k++) group = group << 8 | (k < count ? in[i + k] : 0U);
    char four[4];
    for (size_t k = 0; k < 4; k++) four[k] = k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
    text_add_bytes(text, four, 4);
  }
}

/* ---------------------------------------------------------------- similarity of names */

static int least(int a, int b) { return a < b ? a : b; }

int text_distance(const char* a, const char* b) {
  int length = (int)strlen(b), width = length + 1;
  /* edit distances between a prefix of a and all prefixes of b; the row of the prefix of length i is at index i mod 3,
   * and the rows of the two preceding lengths are kept */
  int* rows = MEMORY_NEW(int, 3 * width);
  for (int j = 0; j <= length; j++) rows[j] = j;
  int i = 1;
  for (; a[i - 1]; i++) {
    int *row = rows + i % 3 * width, *last = rows + (i + 2) % 3 * width, *before = rows + (i + 1) % 3 * width;
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), 1 + least(last[j], row[j - 1]));
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = least(row[j], 1 + before[j - 2]);
    }
  }
  int distance = rows[(i - 1) % 3 * width + length];
  memory_free(rows);
  return distance;
}

/* A word with at most one error in three letters counts as a misspelling. Words of 100 letters and more are not
 * corrected. */
const char* text_nearest(const char* word, const char* const* candidates, int count) {
  assert(candidates || count == 0);
  int length = (int)strnlen(word, 100);
  if (length == 0 || length == 100) return NULL;
  int best = (length + 1) / 3 > 1 ? (length + 1) / 3 : 1;
  const char* nearest = NULL;
  for (int i = 0; i < count; i++) {
    int distance = text_distance(word, candidates[i]);
    if (distance >= length || distance > best || (nearest && distance == best)) continue;
    nearest = candidates[i];
    best = distance;
  }
  return nearest;
}
