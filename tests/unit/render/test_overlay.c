#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "render/picture.h"
#include "support/runs.h"

/* Returns a white image of 200 x 200 px. The camera at z = 10 has 100 px focal length and looks down with x to the
 * right. A point (x, y, 0) projects to (100 + 10 x, 100 - 10 y). */
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

/* Two bodies of 1 and 3 kg move from (-5, 0) to (5, 0) and from (-5, 4) to (5, 4). Their common centre of mass moves
 * from (-5, 3) to (5, 3). A third, fixed body does not count. */
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

/* ---------------------------------------------------------------- marks */

/* Returns a camera along y with x to the right, or along x with -y to the right. A point (x, 0, z) or (0, y, z)
 * projects to (100 + 10 x, 100 - 10 z) or (100 - 10 y, 100 - 10 z). */
static RenderCamera camera_along(bool x) {
  RenderCamera camera = CAMERA;
  camera.eye = x ? vec3(-10, 0, 0) : vec3(0, -10, 0);
  camera.right = x ? vec3(0, -1, 0) : vec3(1, 0, 0);
  camera.up = vec3(0, 0, 1);
  camera.forward = x ? vec3(1, 0, 0) : vec3(0, 1, 0);
  camera.reach = 10;
  return camera;
}

static const uint8_t* pixel(const RenderImage* image, double x, double y) {
  return image->rgb + 3 * ((int)y * image->width + (int)x);
}

static bool is_color(const RenderImage* image, double x, double y, const uint8_t color[3]) {
  const uint8_t* shown = pixel(image, x, y);
  for (int k = 0; k < 3; k++)
    if (abs(shown[k] - color[k]) > 12) return false;
  return true;
}

/* Within a pixel: thin strokes cover pixels in part. */
static bool shows(const RenderImage* image, double x, double y, const uint8_t color[3]) {
  for (int i = 0; i < 9; i++)
    if (is_color(image, x + i % 3 - 1, y + i / 3 - 1, color)) return true; /* NOLINT(bugprone-integer-division) */
  return false;
}

static bool is_white(const RenderImage* image, double x, double y) {
  return is_color(image, x, y, (const uint8_t[3]){255, 255, 255});
}

/* Two boxes of 2 m with a gap of 0.01 m at the origin, each movable or fixed. A third box is independent or a link of
 * the second's mechanism. */
static Run* two_boxes(bool first_fixed, bool second_fixed, bool second_has_child) {
  return run_model(
      "contact: {barrier_distance: 0.01}\n"
      "shapes: {b: {type: box, size: [2, 2, 2]}}\n"
      "links: [{name: one, mass: 1, fixed: %s, shape: b, position: [-1.005, 0, 0]}, {name: two, mass: 1, fixed: %s, "
      "shape: b, position: [1.005, 0, 0]}, {name: third, mass: 1, shape: b, %s [0, 0, 50]%s}]\n",
      first_fixed ? "true" : "false", second_fixed ? "true" : "false",
      second_has_child ? "parent: two, joint: {type: hinge, axis: [1, 0, 0], position:" : "position:",
      second_has_child ? "}" : "");
}

/* By symmetry the contact force acts at the origin. The force (30, 0, 40) N at 0.1 m/N ends at (3, 0, 4), which
 * projects to the pixel (130, 60). If the second box is fixed or part of a mechanism, the arrow is on the first box and
 * ends at (-3, 0, -4). */
static void an_arrow_ends_where_the_force_says(void** state) {
  (void)state;
  for (int c = 0; c < 4; c++) {
    Run* run = two_boxes(c == 1, c == 2, c == 3);
    Pose poses[3];
    model_poses(&run->model, run->model.initial_coordinates, poses);
    RunContact row = {.time = 0.5, .a = 0, .b = 1, .force = vec3(30, 0, 40)};
    RunContacts contacts = {1, &row};
    RenderMarks marks = {RENDER_FORCES, 20, 0.1, NULL};
    RenderCamera camera = camera_along(false);
    RenderImage image = white();
    render_marks(&image, &camera, &run->model, poses, 0.5, &contacts, &marks);
    double side = c >= 2 ? -1 : 1, ux = 0.6 * side, uy = -0.8 * side;
    assert_true(shows(&image, 100 + 25 * ux, 100 + 25 * uy, FORCE_COLOR)); /* half way along 50 px */
    assert_true(shows(&image, 100 + 47 * ux, 100 + 47 * uy, FORCE_COLOR));
    assert_true(is_white(&image, 100 + 54 * ux, 100 + 54 * uy));
    assert_true(is_white(&image, 100 - 10 * ux, 100 - 10 * uy));
    image_destroy(&image);
    image = white(); /* another moment, and nothing recorded */
    render_marks(&image, &camera, &run->model, poses, 0.25, &contacts, &marks);
    render_marks(&image, &camera, &run->model, poses, 0.5, NULL, &marks);
    assert_true(is_white(&image, 100 + 25 * ux, 100 + 25 * uy));
    image_destroy(&image);
    run_free(run);
  }
}

/* The plane x = 0: its square is 0.7 times the boxes' radius of sqrt(3) m to either side, 12.1 px; a line from the
 * side. */
static void planes_and_contacts_lie_between_the_boxes(void** state) {
  (void)state;
  Run* run = two_boxes(false, false, false);
  Pose poses[3];
  model_poses(&run->model, run->model.initial_coordinates, poses);
  RenderMarks marks = {RENDER_PLANES, 0, 0, NULL};
  RenderCamera front = camera_along(true), side = camera_along(false);
  RenderImage image = white();
  render_marks(&image, &front, &run->model, poses, 0, NULL, &marks);
  for (int k = 0; k < 4; k++) {
    double dx = k == 0 ? 1 : k == 1 ? -1 : 0, dy = k == 2 ? 1 : k == 3 ? -1 : 0;
    assert_false(is_white(&image, 100.5 + 10 * dx, 100.5 + 10 * dy));
    assert_true(is_white(&image, 100.5 + 15 * dx, 100.5 + 15 * dy));
  }
  image_destroy(&image);
  image = white();
  render_marks(&image, &side, &run->model, poses, 0, NULL, &marks);
  assert_false(is_white(&image, 100, 92));
  assert_true(is_white(&image, 104, 92));
  assert_true(is_white(&image, 96, 92));
  image_destroy(&image);
  image = white();
  marks.show = RENDER_CONTACTS;
  render_marks(&image, &side, &run->model, poses, 0, NULL, &marks);
  assert_true(is_dark(&image, 0, 0));
  assert_true(is_white(&image, 108, 100));
  image_destroy(&image);
  run_free(run);
}

/* Of a hundred forces of 1 to 100 N the 95th, 95 N, shall be at most 2.5 arrows of the key long: 38 N, rounded up. */
static void the_key_suits_the_forces(void** state) {
  (void)state;
  RunContact rows[100];
  for (int i = 0; i < 100; i++) rows[i] = (RunContact){.b = 1, .force = vec3(0, (i * 37) % 100 + 1, 0)};
  assert_true(fabs(force_unit(&(RunContacts){100, rows}) - 50.0) < 1e-9);
  assert_true(fabs(force_unit(&(RunContacts){0, rows}) - 1.0) < 1e-9);
}

/* Of the key's arrow as a length in the scene, and back on the picture: KEY_ARROW_SHARE of the smaller side. */
static void forces_have_the_length_of_the_key(void** state) {
  (void)state;
  Run* run = two_boxes(false, false, false);
  Pose poses[3];
  double time = 0;
  model_poses(&run->model, run->model.initial_coordinates, poses);
  RunPoses rows = {1, 3, &time, poses};
  RunContacts none = {0};
  RenderSubject subject = {.model = &run->model, .run = &rows, .contacts = &none};
  RenderOptions options = render_defaults();
  options.show = RENDER_FORCES;
  options.newtons = 25;
  RenderRun render;
  render_run_create(&render, &subject, &options);
  Vec3 end = vec3_add_scaled(render.camera.target, 25 * render.marks.metres_per_newton, render.camera.right);
  double x0, y0, x1, y1, distance;
  assert_true(camera_project(&render.camera, render.camera.target, &x0, &y0, &distance));
  assert_true(camera_project(&render.camera, end, &x1, &y1, &distance));
  assert_true(fabs(hypot(x1 - x0, y1 - y0) - KEY_ARROW_SHARE * 720) < 1e-6);
  render_run_destroy(&render);
  run_free(run);
}

/* A stroke covers a pixel by w/2 + 1/2 - distance, between 0 and 1. The distance is that of the pixel's centre from the
 * segment. */
static void strokes_fade_by_the_distance(void** state) {
  (void)state;
  static const double ends[3][4] = {{30.2, 60.4, 160.7, 60.4}, {40.1, 30.3, 40.1, 150.9}, {35.5, 40.25, 150.75, 120.5}};
  static const uint8_t black[3] = {0, 0, 0};
  const double width = 6;
  for (int c = 0; c < 3; c++) {
    const double* e = ends[c];
    RenderImage image = white();
    image_stroke(&image, e[0], e[1], e[2], e[3], width, black, 1.0);
    double dx = e[2] - e[0], dy = e[3] - e[1], worst = 0;
    for (int i = 0; i < 200 * 200; i++) {
      int column = i % 200, row = i / 200;
      double x = column + 0.5 - e[0], y = row + 0.5 - e[1], t = (x * dx + y * dy) / (dx * dx + dy * dy);
      t = fmin(1, fmax(0, t));
      double covered = fmin(1, fmax(0, 0.5 * width + 0.5 - hypot(x - t * dx, y - t * dy)));
      worst = fmax(worst, fabs(255 * (1 - covered) - image.rgb[3 * i]));
    }
    if (worst > 0.51) fail_msg("stroke %d: a pixel is %g of 255 off", c, worst);
    image_destroy(&image);
  }
}

/* Two legend entries do not overlap. Their backgrounds extend 0.35 capital heights beyond the entries, which are 2.2
 * apart. */
static void entries_of_the_key_stand_apart(void** state) {
  (void)state;
  const double letter = 10;
  RenderImage image;
  image_create(&image, 400, 40);
  memset(image.rgb, 0, 3 * 400 * 40);
  RenderCamera camera = CAMERA;
  camera.width = 400, camera.height = 40;
  const RenderStage stage = {0};
  const RenderMarks marks = {.show = RENDER_CONTACTS | RENDER_PLANES};
  render_key(&image, &stage, &camera, &marks, 15, letter);
  int gap = 0, gaps = 0, longest = 0;
  bool begun = false;
  for (int x = 0; x < 400; x++) {
    bool lit = image.rgb[3 * (20 * 400 + x)] > 0; /* the row through the middle of the capitals */
    if (lit && begun && gap > 0) gaps++, longest = gap > longest ? gap : longest;
    begun = begun || lit;
    gap = lit ? 0 : gap + 1;
  }
  assert_int_equal(gaps, 1);
  assert_in_range(longest, 13, 16); /* (2.2 - 2 * 0.35) * 10 = 15, less what is partly covered */
  image_destroy(&image);
}

/* Coverage sums to the polygon's area for both orientations. */
static void polygons_cover_their_area(void** state) {
  (void)state;
  static const double corner[4][2] = {{20.3, 30.6}, {90.2, 41.1}, {120.7, 150.4}, {40.9, 130.2}};
  static const double turned[4][2] = {{40.9, 130.2}, {120.7, 150.4}, {90.2, 41.1}, {20.3, 30.6}};
  static const uint8_t black[3] = {0, 0, 0};
  double area = 0.0;
  for (int k = 0; k < 4; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % 4];
    area += 0.5 * (a[0] * b[1] - b[0] * a[1]);
  }
  for (int c = 0; c < 2; c++) {
    RenderImage image = white();
    image_polygon(&image, c ? turned : corner, 4, black, 1.0);
    double sum = 0.0;
    for (int i = 0; i < 200 * 200; i++) sum += (255 - image.rgb[3 * i]) / 255.0;
    if (fabs(sum - area) > 0.005 * area) fail_msg("covered %g, area %g", sum, area);
    image_destroy(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_line_lies_on_the_centres),
                                     cmocka_unit_test(an_arrow_ends_where_the_force_says),
                                     cmocka_unit_test(planes_and_contacts_lie_between_the_boxes),
                                     cmocka_unit_test(the_key_suits_the_forces),
                                     cmocka_unit_test(forces_have_the_length_of_the_key),
                                     cmocka_unit_test(strokes_fade_by_the_distance),
                                     cmocka_unit_test(entries_of_the_key_stand_apart),
                                     cmocka_unit_test(polygons_cover_their_area)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
