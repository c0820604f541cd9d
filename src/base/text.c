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
  assert(text && format);
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

typedef unsigned __int128 Uint128;

#define EXACT_MIN 1e-10 /* below this value 5^k exceeds 64 bits, and add_wide uses 256-bit integers */
#define WIDE_MIN 1e-60  /* smallest value for add_wide: 4 m 5^k < 2^241 for k <= 77 */
#define EXACT_MAX 1e15  /* above this value e + k may be positive */

static const uint64_t TEN_TO_17 = 100000000000000000U;

/* The number x 10^k in units of 2^-shift, and the interval of decimals that read back as x. This interval is [value -
 * below, value + above]. */
typedef struct {
  Uint128 value, below, above;
  int shift;
  bool closed; /* true if decimals at the ends of the interval read back as x, too (ties go to the even m) */
} ScaledDecimal;

enum { POWER_OF_5_MAX = 27 }; /* largest power of 5 that fits into 64 bits */

static uint64_t power_of_5(int k) {
  assert(k >= 0 && k <= POWER_OF_5_MAX);
  uint64_t power = 1;
  while (k-- > 0) power *= 5;
  return power;
}

/* Returns x 10^k for x = m 2^e. m is multiplied by 4, so that half the distance to the next lower double is an integer.
 * This holds also for powers of two, below which doubles are twice as dense. */
static ScaledDecimal scale_by_power_of_10(uint64_t m, int e, int k) {
  uint64_t five = power_of_5(k);
  bool boundary = m == (uint64_t)1 << (DBL_MANT_DIG - 1);
  return (ScaledDecimal){.value = 4 * (Uint128)m * five,
                         .below = boundary ? five : 2 * (Uint128)five,
                         .above = 2 * (Uint128)five,
                         .shift = 2 - e - k,
                         .closed = m % 2 == 0};
}

static bool reads_back(const ScaledDecimal* x, uint64_t decimal) {
  Uint128 candidate = (Uint128)decimal << x->shift;
  Uint128 distance = candidate < x->value ? x->value - candidate : candidate - x->value;
  Uint128 limit = candidate < x->value ? x->below : x->above;
  return x->closed ? distance <= limit : distance < limit;
}

/* Returns the multiple of `unit` nearest to x. */
static uint64_t nearest_multiple(const ScaledDecimal* x, uint64_t unit) {
  assert(unit > 0);
  uint64_t low = (uint64_t)(x->value >> x->shift) / unit * unit;
  Uint128 rest = x->value - ((Uint128)low << x->shift);
  return 2 * rest >= (Uint128)unit << x->shift ? low + unit : low;
}

/* Appends the number digits * 10^-scale in the layout of printf's %g. */
static void add_decimal(Text* text, uint64_t digits, int scale) {
  assert(digits > 0);
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
  if (!fixed) { /* a positive exponent does not occur, because the number is below EXACT_MAX */
    out[n++] = 'e', out[n++] = '-';
    out[n++] = (char)('0' - exponent / 10), out[n++] = (char)('0' - exponent % 10);
  }
  text_add_bytes(text, out, (size_t)n);
}

/* Appends the shortest decimal that reads back as x, for x in [EXACT_MIN, EXACT_MAX). Every decimal of up to 15 digits
 * survives the conversion to double. A shorter decimal is therefore the decimal of 15 digits without its trailing
 * zeros. */
static void add_exact(Text* text, double x) {
  assert(x >= EXACT_MIN && x < EXACT_MAX);
  int binary;
  uint64_t m = (uint64_t)(frexp(x, &binary) * 0x1p53);
  int k = 16 - (int)floor((binary - 1) * 0.30102999566398120); /* log10(2); the result is at most one too large */
  ScaledDecimal scaled = scale_by_power_of_10(m, binary - 53, k);
  if ((uint64_t)(scaled.value >> scaled.shift) >= TEN_TO_17) scaled = scale_by_power_of_10(m, binary - 53, --k);
  for (uint64_t unit = 100; unit > 0; unit /= 10) {
    uint64_t decimal = nearest_multiple(&scaled, unit);
    if (unit > 1 && !reads_back(&scaled, decimal)) continue;
    add_decimal(text, decimal, k);
    return;
  }
}

/* ---- shortest decimals of small numbers, by integers of 256 bits */

enum { LONG_WORDS = 4, WORD_BITS = 64 };
typedef struct {
  uint64_t word[LONG_WORDS]; /* least significant word first */
} Uint256;

static Uint256 uint256_times(Uint256 a, uint64_t b) {
  Uint128 carry = 0;
  for (int i = 0; i < LONG_WORDS; i++) {
    carry += (Uint128)a.word[i] * b;
    a.word[i] = (uint64_t)carry;
    carry >>= WORD_BITS;
  }
  return a;
}

static Uint256 uint256_times_power_of_5(uint64_t a, int k) {
  Uint256 product = {{a}};
  for (; k > POWER_OF_5_MAX; k -= POWER_OF_5_MAX) product = uint256_times(product, power_of_5(POWER_OF_5_MAX));
  return uint256_times(product, power_of_5(k));
}

/* Returns a 2^shift modulo 2^256. */
static Uint256 uint256_shift_left(uint64_t a, int shift) {
  assert(shift >= 0 && shift < LONG_WORDS * WORD_BITS);
  Uint256 out = {{0}};
  int word = shift / WORD_BITS, bits = shift % WORD_BITS;
  out.word[word] = a << bits;
  if (bits > 0 && word + 1 < LONG_WORDS) out.word[word + 1] = a >> (WORD_BITS - bits);
  return out;
}

/* Returns floor(a 2^-shift). The result must fit in a word. */
static uint64_t uint256_shift_right(const Uint256* a, int shift) {
  assert(shift >= 0 && shift < LONG_WORDS * WORD_BITS);
  int word = shift / WORD_BITS, bits = shift % WORD_BITS;
  uint64_t out = a->word[word] >> bits;
  if (bits > 0 && word + 1 < LONG_WORDS) out |= a->word[word + 1] << (WORD_BITS - bits);
  return out;
}

/* Returns -1 if a < b, 0 if a = b, 1 if a > b. */
static int uint256_compare(const Uint256* a, const Uint256* b) {
  for (int i = LONG_WORDS - 1; i >= 0; i--)
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
  return 0;
}

/* Returns a - b, for a >= b. */
static Uint256 uint256_subtract(Uint256 a, const Uint256* b) {
  assert(uint256_compare(&a, b) >= 0);
  uint64_t borrow = 0;
  for (int i = 0; i < LONG_WORDS; i++) {
    uint64_t taken = b->word[i] + borrow;
    bool over = taken < borrow || a.word[i] < taken;
    a.word[i] -= taken;
    borrow = over;
  }
  return a;
}

/* Appends the shortest decimal that reads back as x, for x in [WIDE_MIN, EXACT_MIN). A decimal is never exactly
 * half-way between two candidates, because x 10^k has too few factors of 2. */
static void add_wide(Text* text, double x) {
  assert(x >= WIDE_MIN && x < EXACT_MIN);
  int binary;
  uint64_t m = (uint64_t)(frexp(x, &binary) * 0x1p53);
  int k = 16 - (int)floor((binary - 1) * 0.30102999566398120), shift = 55 - binary - k;
  Uint256 value = uint256_times_power_of_5(4 * m, k);
  if (uint256_shift_right(&value, shift) >= TEN_TO_17) value = uint256_times_power_of_5(4 * m, --k), shift++;
  bool boundary = m == (uint64_t)1 << (DBL_MANT_DIG - 1);
  Uint256 above = uint256_times_power_of_5(2, k), below = uint256_times_power_of_5(boundary ? 1 : 2, k);
  for (uint64_t unit = 100; unit > 0; unit /= 10) {
    uint64_t decimal = uint256_shift_right(&value, shift) / unit * unit;
    Uint256 low = uint256_shift_left(decimal, shift), half = uint256_shift_left(unit, shift - 1),
            rest = uint256_subtract(value, &low);
    if (uint256_compare(&rest, &half) > 0) decimal += unit;
    Uint256 candidate = uint256_shift_left(decimal, shift);
    bool less = uint256_compare(&candidate, &value) < 0;
    Uint256 distance = less ? uint256_subtract(value, &candidate) : uint256_subtract(candidate, &value);
    int beyond = uint256_compare(&distance, less ? &below : &above);
    if (unit > 1 && (beyond > 0 || (beyond == 0 && m % 2 != 0))) continue;
    add_decimal(text, decimal, k);
    return;
  }
}

/* Appends a finite or infinite value with the smallest printf precision that reads back. The search begins at 15
 * digits. Below DBL_MIN, where doubles have fewer significant digits, the search begins at one digit. */
static void add_by_printf(Text* text, double value) {
  char digits[48];
  int precision = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
  do snprintf(digits, sizeof digits, "%.*g", precision, value);
  while (strtod(digits, NULL) != value && ++precision <= DBL_DECIMAL_DIG);
  text_add_bytes(text, digits, strlen(digits));
}

void text_add_shell(Text* text, const char* word) {
  assert(word);
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
  if (!(size >= WIDE_MIN && size < EXACT_MAX)) {
    if (size > 0.0 || signbit(value))
      add_by_printf(text, value);
    else
      text_add_bytes(text, "0", 1);
    return;
  }
  if (value < 0.0) text_add_bytes(text, "-", 1);
  if (size < EXACT_MIN)
    add_wide(text, size);
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

/* Three bytes give four characters of six bits each. The last group is padded with '='. */
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

static int min_int(int a, int b) { return a < b ? a : b; }

int text_distance(const char* a, const char* b) {
  assert(a && b);
  int length = (int)strlen(b), width = length + 1;
  /* row of the prefix of a with length i: its edit distances to all prefixes of b. Row i is at index i mod 3; the two
   * rows before are kept. */
  int* rows = MEMORY_NEW(int, 3 * width);
  for (int j = 0; j <= length; j++) rows[j] = j;
  int i = 1;
  for (; a[i - 1]; i++) {
    int *row = rows + i % 3 * width, *last = rows + (i + 2) % 3 * width, *before = rows + (i + 1) % 3 * width;
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      row[j] = min_int(last[j - 1] + (a[i - 1] != b[j - 1]), 1 + min_int(last[j], row[j - 1]));
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = min_int(row[j], 1 + before[j - 2]);
    }
  }
  int distance = rows[(i - 1) % 3 * width + length];
  memory_free(rows);
  return distance;
}

/* Words of 100 letters and more are not corrected. */
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
