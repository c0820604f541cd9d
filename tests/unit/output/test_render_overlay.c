#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "output/render.h"
#include "support/runs.h"

/* White, 200 x 200 px; a camera of 100 px focal length at z = 10 that looks down, x to the right: a point (x, y, 0)
 * lies at (100 + 10 x, 100 - 10 y). */
static RenderImage white(void) {
  RenderImage image;
  image_create(&image, 200, 200);
  memset(image.rgb, 0xff, 3 * 200 * 200);
  return image;
}

static const RenderCamera CAMERA = {.eye = {0, 0, 10},
                                    .right = {1, 0, 0},
                                    .up = {0, 1, 0},
                                    .forward = {0, 0, -1},
                                    .width = 200,
                                    .height = 200,
                                    .focal = 100};

static bool is_dark(const RenderImage* image, double x, double y) {
  int column = (int)(100 + 10 * x), row = (int)(100 - 10 * y);
  return image->rgb[3 * (row * 200 + column)] < 0xc0;
}

/* Two bodies of 1 and 3 kg; the first goes from (-5, 0) to (5, 0), the second from (-5, 4) to (5, 4): their common
 * centre from (-5, 3) to (5, 3). A third, which is fixed, does not count. */
static void the_line_lies_on_the_centres(void** state) {
  (void)state;
  Run* run = run_model(
      "shapes: {b: {type: box, size: [1, 1, 1]}}\n"
      "links: [{name: one, mass: 1, shape: b}, {name: two, mass: 3, shape: b, position: [0, 4, 0]}, {name: still, "
      "fixed: "
      "true, mass: 100, shape: b, position: [0, -9, 0]}]\n");
  double time[3] = {0, 1, 2};
  Pose poses[9];
  static const double line[3] = {0, 4, -9};
  for (int row = 0; row < 3; row++)
    for (int link = 0; link < 3; link++)
      poses[3 * row + link] = (Pose){mat3_identity(), vec3(5.0 * (row - 1), line[link], 0)};
  RunPoses rows = {3, 3, time, poses};
  static const double height[3] = {0, 4, 3}; /* of the line: first, second, all */
  for (int c = 0; c < 3; c++) {
    RenderImage image = white();
    render_path(&image, &CAMERA, &run->model, &rows, 2, c == 2 ? RENDER_PATH_ALL : c);
    for (int x = -4; x <= 4; x++) {
      assert_true(is_dark(&image, x, height[c]));
      assert_false(is_dark(&image, x, height[c] + 1));
      assert_false(is_dark(&image, x, height[c] - 1));
    }
    image_destroy(&image);
  }
  RenderImage image = white(); /* only as far as the moment shown */
  render_path(&image, &CAMERA, &run->model, &rows, 1, 0);
  assert_true(is_dark(&image, -2, 0));
  assert_false(is_dark(&image, 2, 0));
  image_destroy(&image);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_line_lies_on_the_centres)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
