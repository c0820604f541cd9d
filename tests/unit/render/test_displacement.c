/* Tests vertex colours by displacement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "render/picture.h"
#include "support/runs.h"

static double luminance(const float color[3]) {
  return 0.2126 * (double)color[0] + 0.7152 * (double)color[1] + 0.0722 * (double)color[2];
}

/* From light to dark without a step back, so that the order is seen without colours too; beyond the ends it stays. */
static void the_scale_darkens_all_the_way(void** state) {
  (void)state;
  float color[3], end[3];
  double before = 1.0;
  for (int i = 0; i <= 100; i++) {
    displacement_color(0.01 * i, color);
    assert_true(luminance(color) < before);
    before = luminance(color);
  }
  displacement_color(1.0, color);
  displacement_color(7.0, end);
  assert_memory_equal(color, end, sizeof color);
  displacement_color(0.0, color);
  displacement_color(-1.0, end);
  assert_memory_equal(color, end, sizeof color);
}

/* A box whose two lower front corners (y = -1) are `depth` further front. */
static Run* box(double depth) {
  double y = -1 - depth;
  return run_model(
      "links: [{name: body, mass: 1, shape: {type: points, keep_interior: true, points: [[-1, %.17g, -1], [1, %.17g, "
      "-1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]}}]\n",
      y, y);
}

/* The front face has displacement 0 at its upper edge and the maximum at its lower edge. Light changes the brightness
 * of a colour, not the ratio of its channels. */
static void colours_follow_the_vertices(void** state) {
  (void)state;
  Run *run = box(0.05), *initial = box(0.0);
  assert_true(render_hulls_correspond(&run->model, &initial->model));
  Pose pose;
  double time = 0;
  model_poses(&run->model, run->model.initial_coordinates, &pose);
  RunPoses rows = {1, 1, &time, &pose};
  RenderStage stage;
  stage_create(&stage, &run->model, &rows);
  stage_color_by_displacement(&stage, &initial->model);
  assert_true(fabs(stage.largest_displacement - 0.05) < 1e-12);
  RenderCamera camera = {.eye = {0, -21, 0}, .right = {1, 0, 0}, .up = {0, 0, 1}, .forward = {0, 1, 0}};
  camera.width = camera.height = 200;
  camera.focal = 1400; /* the face reaches from 30 to 170 px */
  camera.reach = 1;
  RenderImage image;
  image_create(&image, 200, 200);
  RenderLayer layer = {&pose, 1.0};
  render_scene(&image, &stage, &camera, &layer, 1, 1);
  for (int y = 50; y <= 150; y += 10) {
    float expected[3], shown[3];
    displacement_color((y + 0.5 - 30.0) / 140.0, expected);
    const uint8_t* pixel = image.rgb + 3 * (y * 200 + 110);
    for (int k = 0; k < 3; k++) shown[k] = linear_from_srgb(pixel[k] / 255.0);
    for (int k = 1; k < 3; k++) {
      double ratio = (double)shown[k] / (double)shown[0], wanted = (double)expected[k] / (double)expected[0];
      if (fabs(ratio - wanted) > 0.03) fail_msg("y = %d, part %d: ratio %g, expected %g", y, k, ratio, wanted);
    }
  }
  image_destroy(&image);
  stage_destroy(&stage);
  run_free(run);
  run_free(initial);
}

static void other_hulls_do_not_answer(void** state) {
  (void)state;
  Run* run = box(0.05);
  Run* sphere = run_model("links: [{name: body, mass: 1, shape: {type: sphere, radius: 1}}]\n");
  Run* two = run_model(
      "shapes: {b: {type: box, size: [1, 1, 1]}}\nlinks: [{name: body, mass: 1, shape: b}, {name: other, mass: 1, "
      "shape: b, position: [9, 0, 0]}]\n");
  assert_false(render_hulls_correspond(&run->model, &sphere->model));
  assert_false(render_hulls_correspond(&run->model, &two->model));
  assert_true(render_hulls_correspond(&run->model, &run->model));
  run_free(run);
  run_free(sphere);
  run_free(two);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_scale_darkens_all_the_way),
                                     cmocka_unit_test(colours_follow_the_vertices),
                                     cmocka_unit_test(other_hulls_do_not_answer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
