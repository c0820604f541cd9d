/* libFuzzer target: any bytes as MJCF (robot_fuzzing.h). */
#include "fuzz/robot_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_robot(robot_parse_mjcf, "fuzz.xml", data, size);
  return 0;
}
