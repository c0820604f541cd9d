/* libFuzzer target: any bytes as URDF (robot_fuzzing.h). */
#include "fuzz/robot_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_robot(robot_parse_urdf, "fuzz.urdf", data, size);
  return 0;
}
