/* DEFLATE, RFC 1951: repetitions found by hash chains, each block with Huffman codes of its own. Sections below are
 * those of the RFC. The same input gives the same bytes. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* Limits of the format: 2, 3.2.5 and 3.2.7. */
enum { WINDOW = 32768, MATCH_MAX = 258, CODE_BITS_MAX = 15, LENGTH_BITS_MAX = 7 };
enum { BLOCK_END = 256, LITERALS = 286, DISTANCES = 30, CODE_LENGTHS = 19 };
/* Shorter repetitions are not looked for: they are hashed by so many bytes. */
enum { MATCH_MIN = 4, HASH_BITS = 15 };
/* How many earlier places are tried; a repetition of GOOD bytes ends the search, one of LAZY bytes is taken without
 * a look at the next byte's; of one longer than DENSE bytes only the ends are remembered. Drawn pictures gain less than
 * a percent from more. */
enum { CHAIN = 12, GOOD = 96, LAZY = 24, DENSE = 64, DENSE_END = 8 };
/* Symbols of a block. */
enum { BLOCK_SYMBOLS = 32768 };

/* ---------------------------------------------------------------- bits (3.1.1) */

typedef struct {
  Text* out;
  uint64_t bits; /* the first is the lowest */
  int count;
} BitWriter;

static void put_bits(BitWriter* writer, uint32_t value, int count) {
  writer->bits |= (uint64_t)value << writer->count;
  writer->count += count;
  if (writer->count < 32) return;
  char bytes[4];
  for (int k = 0; k < 4; k++) bytes[k] = (char)(writer->bits >> 8 * k & 255);
  text_add_bytes(writer->out, bytes, 4);
  writer->bits >>= 32;
  writer->count -= 32;
}

static void flush_bits(BitWriter* writer) {
  for (; writer->count > 0; writer->count -= 8, writer->bits >>= 8) {
    char byte = (char)(writer->bits & 255);
    text_add_bytes(writer->out, &byte, 1);
  }
  writer->count = 0;
}

/* ---------------------------------------------------------------- Huffman codes (3.2.2) */

typedef struct {
  uint32_t frequency;
  int symbol;
} Weight;

static int compare_weights(const void* left, const void* right) {
  const Weight *a = left, *b = right;
  if (a->frequency != b->frequency) return a->frequency < b->frequency ? -1 : 1;
  return a->symbol - b->symbol;
}

/* Depths of the leaves of Huffman's tree over rising weights, as counts of each depth. Merged nodes rise too, so that
 * two queues give the two smallest. */
static void count_depths(const Weight* leaf, int count, int depths[LITERALS]) {
  uint64_t merged[LITERALS] = {0};
  int parent_of_leaf[LITERALS] = {0}, parent_of_merged[LITERALS] = {0}, depth[LITERALS] = {0};
  int next_leaf = 0, next_merged = 0;
  for (int node = 0; node < count - 1; node++) {
    for (int child = 0; child < 2; child++) {
      bool take_leaf = next_leaf < count && (next_merged >= node || leaf[next_leaf].frequency <= merged[next_merged]);
      merged[node] += take_leaf ? leaf[next_leaf].frequency : merged[next_merged];
      if (take_leaf)
        parent_of_leaf[next_leaf++] = node;
      else
        parent_of_merged[next_merged++] = node;
    }
  }
  memset(depths, 0, sizeof(int) * LITERALS);
  for (int node = count - 3; node >= 0; node--) depth[node] = depth[parent_of_merged[node]] + 1;
  for (int i = 0; i < count; i++) depths[depth[parent_of_leaf[i]] + 1]++;
}

/* Make no code longer than `limit`: the long ones are cut, which takes more of the code space than there is; then
 * leaves of the last level are, one at a time, hung beside the deepest shorter one. */
static void limit_depths(int depths[LITERALS], int limit) {
  uint32_t taken = 0;
  for (int bits = limit + 1; bits < LITERALS; bits++) depths[limit] += depths[bits], depths[bits] = 0;
  for (int bits = 1; bits <= limit; bits++) taken += (uint32_t)depths[bits] << (limit - bits);
  for (; taken > 1u << limit; taken--) {
    int bits = limit - 1;
    while (depths[bits] == 0) bits--;
    depths[limit]--;
    depths[bits]--;
    depths[bits + 1] += 2;
  }
}

/* Lengths of the codes [bits]; 0 = not used. At least two symbols are coded: some readers want a whole code. */
static void code_lengths(uint32_t* frequency, int symbols, int limit, uint8_t* length) {
  Weight leaf[LITERALS] = {{0}};
  int count = 0, depths[LITERALS];
  for (int s = 0; s < symbols; s++) count += frequency[s] > 0;
  for (int s = 0; count < 2; s++)
    if (frequency[s] == 0) frequency[s] = 1, count++;
  count = 0;
  for (int s = 0; s < symbols; s++)
    if (frequency[s] > 0) leaf[count++] = (Weight){frequency[s], s};
  qsort(leaf, (size_t)count, sizeof *leaf, compare_weights);
  count_depths(leaf, count, depths);
  limit_depths(depths, limit);
  memset(length, 0, (size_t)symbols);
  for (int bits = 1, next = count; bits <= limit; bits++) /* the most frequent last, which get the shortest */
    for (int k = 0; k < depths[bits]; k++) length[leaf[--next].symbol] = (uint8_t)bits;
}

/* Codes by their lengths, in the order of symbols within a length; reversed, for they are sent from the top. */
static void assign_codes(const uint8_t* length, int symbols, uint16_t* code) {
  uint32_t next = 0;
  for (int bits = 1; bits <= CODE_BITS_MAX; bits++, next <<= 1)
    for (int s = 0; s < symbols; s++) {
      if (length[s] != bits) continue;
      uint32_t turned = 0;
      for (int k = 0; k < bits; k++) turned |= (next >> k & 1) << (bits - 1 - k);
      code[s] = (uint16_t)turned;
      next++;
    }
}

typedef struct {
  uint32_t frequency[LITERALS];
  uint8_t length[LITERALS];
  uint16_t code[LITERALS];
} Huffman;

static void huffman_build(Huffman* h, int symbols, int limit) {
  code_lengths(h->frequency, symbols, limit, h->length);
  assign_codes(h->length, symbols, h->code);
}

static void put_symbol(BitWriter* writer, const Huffman* h, int symbol) {
  put_bits(writer, h->code[symbol], h->length[symbol]);
}

/* ---------------------------------------------------------------- lengths and distances (3.2.5) */

/* A number as a symbol and bits beside it. */
typedef struct {
  int symbol, bits;
  uint32_t rest;
} Coded;

static int top_bit(uint32_t value) { return 31 - __builtin_clz(value); }

/* Symbols in groups of `steps` whose ranges double from group to group. */
static Coded coded_number(uint32_t value, int step_bits) {
  uint32_t steps = 1u << step_bits;
  if (value < 2 * steps) return (Coded){(int)value, 0, 0};
  int bits = top_bit(value) - step_bits;
  return (Coded){bits * (int)steps + (int)(value >> bits), bits, value & ((1u << bits) - 1)};
}

static Coded coded_length(int length) {
  if (length == MATCH_MAX) return (Coded){LITERALS - 1, 0, 0};
  Coded coded = coded_number((uint32_t)(length - 3), 2);
  coded.symbol += BLOCK_END + 1;
  return coded;
}

static Coded coded_distance(int distance) { return coded_number((uint32_t)(distance - 1), 1); }

/* ---------------------------------------------------------------- a block (3.2.7) */

/* A literal byte (distance 0), or a repetition. */
typedef struct {
  uint16_t value; /* the byte, or the length */
  uint16_t distance;
} Token;

typedef struct {
  BitWriter bits;
  Token* tokens;
  int count;
  Huffman literals, distances;
} Deflate;

static void count_symbols(Deflate* d) {
  memset(d->literals.frequency, 0, sizeof d->literals.frequency);
  memset(d->distances.frequency, 0, sizeof d->distances.frequency);
  d->literals.frequency[BLOCK_END] = 1;
  for (int i = 0; i < d->count; i++) {
    const Token* token = &d->tokens[i];
    if (token->distance == 0) {
      d->literals.frequency[token->value]++;
    } else {
      d->literals.frequency[coded_length(token->value).symbol]++;
      d->distances.frequency[coded_distance(token->distance).symbol]++;
    }
  }
}

/* The lengths of both codes as one list, with runs: 16 repeats the last 3 to 6 times, 17 and 18 zeros 3 to 10 and 11
 * to 138 times. */
static int pack_lengths(const uint8_t* length, int count, Coded* packed) {
  int used = 0;
  for (int i = 0; i < count;) {
    int run = 1;
    while (i + run < count && length[i + run] == length[i]) run++;
    if (length[i] == 0 && run >= 3) {
      run = run > 138 ? 138 : run;
      packed[used++] = run > 10 ? (Coded){18, 7, (uint32_t)(run - 11)} : (Coded){17, 3, (uint32_t)(run - 3)};
    } else if (i > 0 && length[i] == length[i - 1] && run >= 3) {
      run = run > 6 ? 6 : run;
      packed[used++] = (Coded){16, 2, (uint32_t)(run - 3)};
    } else {
      run = 1;
      packed[used++] = (Coded){length[i], 0, 0};
    }
    i += run;
  }
  return used;
}

static int used_symbols(const Huffman* h, int symbols, int least) {
  while (symbols > least && h->length[symbols - 1] == 0) symbols--;
  return symbols;
}

static void put_codes(Deflate* d) {
  static const uint8_t ORDER[CODE_LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int literals = used_symbols(&d->literals, LITERALS, BLOCK_END + 1);
  int distances = used_symbols(&d->distances, DISTANCES, 1), sent = CODE_LENGTHS;
  uint8_t length[LITERALS + DISTANCES];
  Coded packed[LITERALS + DISTANCES];
  memcpy(length, d->literals.length, (size_t)literals);
  memcpy(length + literals, d->distances.length, (size_t)distances);
  int count = pack_lengths(length, literals + distances, packed);
  Huffman h = {0};
  for (int i = 0; i < count; i++) h.frequency[packed[i].symbol]++;
  huffman_build(&h, CODE_LENGTHS, LENGTH_BITS_MAX);
  while (sent > 4 && h.length[ORDER[sent - 1]] == 0) sent--;
  put_bits(&d->bits, (uint32_t)(literals - 257), 5);
  put_bits(&d->bits, (uint32_t)(distances - 1), 5);
  put_bits(&d->bits, (uint32_t)(sent - 4), 4);
  for (int i = 0; i < sent; i++) put_bits(&d->bits, h.length[ORDER[i]], 3);
  for (int i = 0; i < count; i++) {
    put_symbol(&d->bits, &h, packed[i].symbol);
    put_bits(&d->bits, packed[i].rest, packed[i].bits);
  }
}

static void put_block(Deflate* d, bool last) {
  count_symbols(d);
  huffman_build(&d->literals, LITERALS, CODE_BITS_MAX);
  huffman_build(&d->distances, DISTANCES, CODE_BITS_MAX);
  put_bits(&d->bits, last, 1);
  put_bits(&d->bits, 2, 2);
  put_codes(d);
  for (int i = 0; i < d->count; i++) {
    const Token* token = &d->tokens[i];
    Coded length = token->distance ? coded_length(token->value) : (Coded){token->value, 0, 0};
    put_symbol(&d->bits, &d->literals, length.symbol);
    if (token->distance == 0) continue;
    Coded distance = coded_distance(token->distance);
    put_bits(&d->bits, length.rest, length.bits);
    put_symbol(&d->bits, &d->distances, distance.symbol);
    put_bits(&d->bits, distance.rest, distance.bits);
  }
  put_symbol(&d->bits, &d->literals, BLOCK_END);
  d->count = 0;
}

static void add_token(Deflate* d, int value, int distance) {
  if (d->count == BLOCK_SYMBOLS) put_block(d, false);
  d->tokens[d->count++] = (Token){(uint16_t)value, (uint16_t)distance};
}

/* ---------------------------------------------------------------- repetitions (4) */

typedef struct {
  const uint8_t* data;
  int64_t length;
  int64_t* head;   /* last place of a hash, + 1  (1 << HASH_BITS) */
  int64_t* before; /* the place before it of the same hash, + 1  (WINDOW) */
} Finder;

typedef struct {
  int length, distance;
} Match;

static uint32_t hash_at(const uint8_t* data) {
  uint32_t word;
  memcpy(&word, data, sizeof word);
  return word * 2654435761u >> (32 - HASH_BITS);
}

static void remember(Finder* f, int64_t at) {
  if (at + MATCH_MIN > f->length) return;
  int64_t* head = &f->head[hash_at(f->data + at)];
  f->before[at & (WINDOW - 1)] = *head;
  *head = at + 1;
}

/* Bytes that a and b have in common, at most `most`. */
static int common_length(const uint8_t* a, const uint8_t* b, int most) {
  int length = 0;
  for (; length + 8 <= most; length += 8) {
    uint64_t left, right;
    memcpy(&left, a + length, sizeof left);
    memcpy(&right, b + length, sizeof right);
    if (left != right) break;
  }
  while (length < most && a[length] == b[length]) length++;
  return length;
}

/* The longest repetition at a place, the nearest of equal ones; length 0: none. */
static Match find_match(const Finder* f, int64_t at) {
  Match best = {0, 0};
  if (at + MATCH_MIN > f->length) return best;
  int most = f->length - at < MATCH_MAX ? (int)(f->length - at) : MATCH_MAX;
  int64_t earlier = f->head[hash_at(f->data + at)] - 1;
  for (int tried = 0; tried < CHAIN && earlier >= 0 && at - earlier <= WINDOW - 1; tried++) {
    if (best.length == 0 || f->data[earlier + best.length] == f->data[at + best.length]) {
      int length = common_length(f->data + earlier, f->data + at, most);
      if (length >= MATCH_MIN && length > best.length) best = (Match){length, (int)(at - earlier)};
      if (best.length >= GOOD || best.length == most) break;
    }
    earlier = f->before[earlier & (WINDOW - 1)] - 1;
  }
  return best;
}

static void remember_match(Finder* f, int64_t at, int length) {
  for (int k = 0; k < length; k++) {
    if (length > DENSE && k == DENSE_END) k = length - DENSE_END;
    remember(f, at + k);
  }
}

/* A repetition waits until the next byte has none that is longer. */
static void find_tokens(Deflate* d, Finder* f) {
  for (int64_t at = 0; at < f->length;) {
    Match match = find_match(f, at);
    remember(f, at);
    while (match.length > 0 && match.length < LAZY) {
      Match next = find_match(f, at + 1);
      if (next.length <= match.length) break;
      add_token(d, f->data[at], 0);
      remember(f, ++at);
      match = next;
    }
    if (match.length == 0) {
      add_token(d, f->data[at++], 0);
      continue;
    }
    add_token(d, match.length, match.distance);
    remember_match(f, at + 1, match.length - 1);
    at += match.length;
  }
}

void deflate_add(Text* out, const void* data, size_t length) {
  Deflate* d = MEMORY_NEW(Deflate, 1);
  Finder finder = {data, (int64_t)length, MEMORY_NEW(int64_t, 1 << HASH_BITS), MEMORY_NEW(int64_t, WINDOW)};
  d->bits.out = out;
  d->tokens = MEMORY_NEW(Token, BLOCK_SYMBOLS);
  find_tokens(d, &finder);
  put_block(d, true);
  flush_bits(&d->bits);
  memory_free(finder.head);
  memory_free(finder.before);
  memory_free(d->tokens);
  memory_free(d);
}

/* ---------------------------------------------------------------- zlib's frame (RFC 1950) */

/* Sums modulo 65521; so many bytes fit before they must be reduced. */
static uint32_t adler32_of(const uint8_t* data, size_t length) {
  enum { PRIME = 65521, RUN = 5552 };
  uint32_t a = 1, b = 0;
  for (size_t at = 0; at < length;) {
    size_t end = at + RUN < length ? at + RUN : length;
    for (; at < end; at++) {
      a += data[at];
      b += a;
    }
    a %= PRIME;
    b %= PRIME;
  }
  return b << 16 | a;
}

void zlib_add(Text* out, const void* data, size_t length) {
  text_add_bytes(out, "\x78\x01", 2); /* window of 32 KiB, no dictionary */
  deflate_add(out, data, length);
  uint32_t check = adler32_of(data, length);
  const char tail[4] = {(char)(check >> 24), (char)(check >> 16 & 255), (char)(check >> 8 & 255), (char)(check & 255)};
  text_add_bytes(out, tail, 4);
}
