/* rows SCENE STEPS: what trajectory.csv holds below its header, from the library, each number with 17 digits. */
#include <sdrs.h>
#include <stdio.h>
#include <stdlib.h>

static void print_number(double value) { printf(",%.17g", value); }

static int failed(sdrs* s) {
  fprintf(stderr, "%s\n", sdrs_error(s));
  sdrs_free(s);
  return 3;
}

int main(int count, char** words) {
  sdrs* s;
  sdrs_array time = SDRS_INIT(sdrs_array), position = SDRS_INIT(sdrs_array), orientation = SDRS_INIT(sdrs_array),
             center = SDRS_INIT(sdrs_array);
  if (count < 3 || sdrs_load(&s, words[1], NULL) != SDRS_OK) return count < 3 ? 2 : failed(s);
  if (sdrs_run(s, atoi(words[2])) != SDRS_OK) return failed(s);
  sdrs_record(s, SDRS_TIME, -1, &time);
  sdrs_record(s, SDRS_POSITION, -1, &position);
  sdrs_record(s, SDRS_ORIENTATION, -1, &orientation);
  sdrs_record(s, SDRS_CENTER, -1, &center);
  for (size_t row = 0; row < time.rows; row++) {
    printf("%.17g", time.data[row]);
    for (size_t link = 0; link < position.columns / 3; link++) {
      for (size_t k = 0; k < 3; k++) print_number(position.data[row * position.stride + 3 * link + k]);
      for (size_t k = 0; k < 4; k++) print_number(orientation.data[row * orientation.stride + 4 * link + k]);
      for (size_t k = 0; k < 3; k++) print_number(center.data[row * center.stride + 3 * link + k]);
    }
    printf("\n");
  }
  sdrs_free(s);
  return 0;
}
