/* Packed data is unpacked by another program's reader (stb_image) and compared; sizes are held against what the data
 * holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#define STBI_ONLY_PNG
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

/* Packs, unpacks, compares; returns the packed size. */
static size_t assert_comes_back(const uint8_t* data, size_t length, const char* what) {
  Text packed = {0};
  zlib_add(&packed, data, length);
  char* back = malloc(length + 1);
  int count = stbi_zlib_decode_buffer(back, (int)length + 1, packed.data, (int)packed.length);
  if (count != (int)length) fail_msg("%s: %d of %zu bytes come back", what, count, length);
  if (length > 0 && memcmp(back, data, length) != 0) fail_msg("%s: comes back altered", what);
  free(back);
  size_t size = packed.length;
  text_free(&packed);
  return size;
}

static void small_things_come_back(void** state) {
  (void)state;
  static const char text[] = "a rose is a rose is a rose is a rose is a rose";
  for (size_t length = 0; length < sizeof text; length++)
    assert_comes_back((const uint8_t*)text, length, "the beginning of a text");
  uint8_t bytes[256];
  for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
  assert_comes_back(bytes, 256, "every byte once");
}

/* One byte over and over takes next to nothing; random bytes take hardly more than they are. */
static void sizes_are_what_the_data_holds(void** state) {
  (void)state;
  enum { LENGTH = 1000000 };
  uint8_t* data = calloc(LENGTH, 1);
  size_t flat = assert_comes_back(data, LENGTH, "zeros");
  if (flat > 2000) fail_msg("a million zeros take %zu bytes", flat);
  Random random = {17};
  for (int i = 0; i < LENGTH; i++) data[i] = (uint8_t)random_uniform(&random, 0, 256);
  size_t noise = assert_comes_back(data, LENGTH, "noise");
  if (noise > LENGTH + LENGTH / 500) fail_msg("a million random bytes take %zu", noise);
  free(data);
}

enum { RARE = 18, DIGITS = 64, ALPHABET = RARE + DIGITS + 1 };

/* Depth of Huffman's tree, by merging the two smallest again and again. */
static int huffman_depth(const uint32_t* frequency, int count) {
  uint32_t weight[ALPHABET];
  int depth[ALPHABET] = {0};
  memcpy(weight, frequency, sizeof(uint32_t) * (size_t)count);
  for (; count > 1; count--) {
    for (int k = 0; k < 2; k++) /* the two smallest to the end */
      for (int i = 0; i < count - 1 - k; i++)
        if (weight[i] < weight[count - 1 - k]) {
          uint32_t w = weight[i];
          int d = depth[i];
          weight[i] = weight[count - 1 - k], depth[i] = depth[count - 1 - k];
          weight[count - 1 - k] = w, depth[count - 1 - k] = d;
        }
    int one = depth[count - 1], two = depth[count - 2];
    weight[count - 2] += weight[count - 1];
    depth[count - 2] = 1 + (one > two ? one : two);
  }
  return depth[0];
}

/* Bytes with Fibonacci's numbers as frequencies make Huffman's tree a long branch: codes of more than the 15 bits that
 * are allowed. Three random digits behind each keep anything from being repeated. */
static void long_codes_are_cut(void** state) {
  (void)state;
  uint32_t frequency[ALPHABET] = {1, 1};
  size_t length = 0, at = 0;
  for (int s = 0; s < RARE; s++) {
    if (s > 1) frequency[s] = frequency[s - 1] + frequency[s - 2];
    length += 4 * (size_t)frequency[s];
  }
  uint8_t* data = malloc(length);
  Random random = {5};
  for (int s = 0; s < RARE; s++)
    for (uint32_t k = 0; k < frequency[s]; k++) {
      data[at++] = (uint8_t)(s + 200);
      for (int i = 0; i < 3; i++) {
        int digit = (int)random_uniform(&random, 0, DIGITS);
        frequency[RARE + digit]++;
        data[at++] = (uint8_t)digit;
      }
    }
  frequency[ALPHABET - 1] = 1; /* the end of the block */
  assert_true(huffman_depth(frequency, ALPHABET) > 15);
  double entropy = 0;
  for (int s = 0; s < ALPHABET; s++) entropy -= frequency[s] * log2((double)frequency[s] / (double)length) / 8;
  size_t size = assert_comes_back(data, length, "Fibonacci's frequencies");
  if ((double)size > 1.02 * entropy + 100) fail_msg("%zu bytes, entropy %g", size, entropy);
  free(data);
}

/* A random string of each length comes again after each distance, up to and beyond what can be named. */
static void repetitions_of_all_lengths_and_distances(void** state) {
  (void)state;
  enum { LENGTH = 70000 };
  static const int LENGTHS[] = {3, 4, 5, 10, 11, 18, 35, 67, 131, 227, 257, 258, 259, 600};
  static const int DISTANCES[] = {1, 2, 3, 4, 5, 8, 9, 255, 256, 257, 4096, 8193, 24577, 32766, 32767, 32768, 32769};
  uint8_t* data = malloc(LENGTH);
  Random random = {29};
  for (size_t l = 0; l < sizeof LENGTHS / sizeof LENGTHS[0]; l++)
    for (size_t d = 0; d < sizeof DISTANCES / sizeof DISTANCES[0]; d++) {
      for (int i = 0; i < LENGTH; i++) data[i] = (uint8_t)random_uniform(&random, 0, 256);
      for (int i = 0; i < LENGTHS[l]; i++) data[33000 + i] = data[33000 - DISTANCES[d] + i];
      assert_comes_back(data, LENGTH, "noise with a repetition");
    }
  free(data);
}

/* Drawn rows: runs of a colour, the row before again with a change here and there; several blocks long. */
static void pictures_come_back(void** state) {
  (void)state;
  enum { WIDTH = 900, ROWS = 700 };
  uint8_t* data = malloc(WIDTH * ROWS);
  Random random = {31};
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < WIDTH; x++) {
      bool anew = y == 0 || random_uniform(&random, 0, 1) < 0.02;
      data[y * WIDTH + x] = anew ? (uint8_t)random_uniform(&random, 0, 256) : data[(y - 1) * WIDTH + x];
    }
  assert_comes_back(data, WIDTH * ROWS, "rows");
  free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_things_come_back), cmocka_unit_test(sizes_are_what_the_data_holds),
      cmocka_unit_test(long_codes_are_cut),     cmocka_unit_test(repetitions_of_all_lengths_and_distances),
      cmocka_unit_test(pictures_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
