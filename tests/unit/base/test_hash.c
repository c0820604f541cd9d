#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "base/base.h"

static void check(const char* data, size_t length, const char* expected) {
  char hex[65];
  hash_sha256(data, length, hex);
  assert_string_equal(hex, expected);
}

/* FIPS 180-2, appendix B, and the empty message of the NIST test vectors. */
static void fips_vectors(void** state) {
  (void)state;
  check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  char* million = memory_alloc(1000000);
  memset(million, 'a', 1000000);
  check(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  memory_free(million);
}

/* Each length around the block and padding borders; the expected digests are those of coreutils' sha256sum. */
static void lengths_around_the_block(void** state) {
  (void)state;
  const struct {
    size_t length;
    const char* hex;
  } rows[] = {
      {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
      {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
      {127, "c57e9278af78fa3cab38667bef4ce29d783787a2f731d4e12200270f0c32320a"},
      {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
      {129, "c12cb024a2e5551cca0e08fce8f1c5e314555cc3fef6329ee994a3db752166ae"},
  };
  char data[130];
  memset(data, 'a', sizeof data);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(data, rows[i].length, rows[i].hex);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fips_vectors), cmocka_unit_test(lengths_around_the_block)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
