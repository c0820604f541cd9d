/* Tests that every loss type has its table entry. */
#include "differentiate/loss.h"

#include "support/compare.h"

static void words(void** state) {
  (void)state;
  static const struct {
    TaskLossType type;
    const char* word;
  } wanted[] = {{LOSS_POINT, "point"},
                {LOSS_TRAVEL, "travel"},
                {LOSS_RELATIVE, "relative"},
                {LOSS_REACH, "reach"},
                {LOSS_ORIENTATION, "orientation"},
                {LOSS_VELOCITY, "velocity"},
                {LOSS_EFFORT, "effort"},
                {LOSS_SMOOTHNESS, "smoothness"},
                {LOSS_FORCE, "force"},
                {LOSS_GAP, "gap"},
                {LOSS_SHAPE, "shape"},
                {LOSS_VOLUME, "volume"},
                {LOSS_ROUGHNESS, "roughness"},
                {LOSS_APPROACH, "approach"},
                {LOSS_TOUCH, "touch"},
                {LOSS_CLOSURE, "closure"},
                {LOSS_POSE, "pose"},
                {LOSS_NECK, "neck"},
                {LOSS_WALL, "wall"},
                {LOSS_OVERHANG, "overhang"},
                {LOSS_EXTENT, "extent"},
                {LOSS_KEEP_OUT, "keep_out"},
                {LOSS_CLEARANCE, "clearance"},
                {LOSS_REMOVAL, "removal"},
                {LOSS_MASS, "mass"},
                {LOSS_COORDINATE, "coordinate"}};
  for (int i = 0; i < LOSS_TYPE_COUNT; i++) {
    const LossKind* kind = loss_kind(wanted[i].type);
    assert_int_equal(wanted[i].type, i);
    assert_string_equal(kind->name_in_task, wanted[i].word);
    assert_non_null(kind->evaluate);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
