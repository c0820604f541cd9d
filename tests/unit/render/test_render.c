/* Tests rendered images against projective geometry by hand, areas of projected outlines and an independent PNG reader.
 * Also tests that contrasts are visible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "render/picture.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

/* ---------------------------------------------------------------- scenes built by hand */

enum { TOY_LINKS = 200, TOY_ROWS = 4 };

/* Links that each hold one hull at the link's origin, and their poses over a few rows. */
typedef struct {
  Scene scene;
  SceneLink scene_links[TOY_LINKS];
  Model model;
  ModelLink links[TOY_LINKS];
  ModelHull hulls[TOY_LINKS];
  Pose poses[TOY_ROWS * TOY_LINKS]; /* rows x links, packed by toy_run */
  double times[TOY_ROWS];
} Toy;

static Toy* toy_create(void) {
  Toy* toy = MEMORY_NEW(Toy, 1);
  static char name[] = "toy";
  toy->scene.name = name;
  toy->scene.links = toy->scene_links;
  toy->model = (Model){.scene = &toy->scene, .links = toy->links, .hulls = toy->hulls};
  toy->model.simulation.gravity = vec3(0, 0, -9.81);
  return toy;
}

static void toy_destroy(Toy* toy) {
  for (int i = 0; i < toy->model.hull_count; i++) hull_free(&toy->hulls[i].solid);
  memory_free(toy);
}

/* A link; tree -1 = it cannot move. */
static ModelHull* toy_link(Toy* toy, const char* name, int tree, Pose pose) {
  int i = toy->model.link_count++;
  toy->scene.link_count = toy->model.hull_count = toy->model.link_count;
  toy->scene_links[i].color[0] = -1.0;
  toy->links[i] = (ModelLink){.name = name, .parent = -1, .tree = tree, .hull_first = i, .hull_count = 1};
  toy->hulls[i].link = i;
  toy->hulls[i].kind = &SOLID_HULL;
  for (int row = 0; row < TOY_ROWS; row++) toy->poses[row * TOY_LINKS + i] = pose;
  return &toy->hulls[i];
}

static int toy_box(Toy* toy, const char* name, int tree, Vec3 size, Pose pose) {
  ModelHull* hull = toy_link(toy, name, tree, pose);
  assert_int_equal(primitive_box(&hull->solid, size), HULL_OK);
  hull->half_extent = vec3_scale(size, 0.5);
  hull->radius = vec3_norm(hull->half_extent);
  return hull->link;
}

static int toy_ball(Toy* toy, const char* name, int tree, double radius, Pose pose) {
  ModelHull* hull = toy_link(toy, name, tree, pose);
  assert_int_equal(primitive_sphere(&hull->solid, radius, 2), HULL_OK);
  hull->half_extent = vec3(radius, radius, radius);
  hull->radius = radius;
  return hull->link;
}

static void toy_ground(Toy* toy, Vec3 normal) {
  ModelHull* hull = toy_link(toy, "ground", -1, pose_identity());
  hull->kind = &SOLID_HALF_SPACE;
  hull->normal = normal;
}

static void toy_color(Toy* toy, int link, double r, double g, double b) {
  double* color = toy->scene_links[link].color;
  color[0] = r, color[1] = g, color[2] = b;
}

/* The first `rows` rows as a run of 0.5 s steps. */
static RunPoses toy_run(Toy* toy, int rows) {
  int links = toy->model.link_count;
  for (int row = 0; row < rows; row++) {
    memmove(toy->poses + row * links, toy->poses + row * TOY_LINKS, sizeof(Pose) * (size_t)links);
    toy->times[row] = 0.5 * row;
  }
  return (RunPoses){rows, links, toy->times, toy->poses};
}

static Pose at(double x, double y, double z) { return (Pose){mat3_identity(), {x, y, z}}; }

static Pose turned(Pose pose, Vec3 axis, double angle) {
  pose.r = mat3_from_quat(quat_about(vec3_normalized(axis), angle));
  return pose;
}

/* Boxes and balls on a ground, nothing symmetric. */
static Toy* toy_still_life(void) {
  Toy* toy = toy_create();
  toy_ground(toy, vec3(0, 0, 1));
  toy_box(toy, "box", 0, vec3(0.4, 0.3, 0.2), at(0, 0, 0.1));
  toy_box(toy, "tower", 1, vec3(0.2, 0.2, 0.7), turned(at(0.5, 0.4, 0.35), vec3(0, 0, 1), 0.5));
  toy_ball(toy, "ball", 2, 0.15, at(-0.45, -0.1, 0.15));
  toy_box(toy, "lid", 3, vec3(0.3, 0.1, 0.05), turned(at(0.05, 0.02, 0.3), vec3(1, 0.5, 1), 0.4));
  return toy;
}

/* A camera at `eye` that looks along y with x to the right. */
static RenderCamera plain_camera(Vec3 eye, int width, int height, double focal) {
  RenderCamera camera = {.eye = eye, .right = {1, 0, 0}, .up = {0, 0, 1}, .forward = {0, 1, 0}, .focal = focal};
  camera.width = width;
  camera.height = height;
  camera.target = vec3(eye.x, 0, eye.z);
  camera.reach = 0.5 * fmin(width, height) / focal * fabs(eye.y);
  return camera;
}

/* One moment of a toy with a camera, on one thread. */
static RenderImage draw_toy(Toy* toy, const RenderCamera* camera) {
  RunPoses run = toy_run(toy, 1);
  RenderStage stage;
  RenderImage image;
  RenderLayer layer = {run.pose, 1.0};
  stage_create(&stage, &toy->model, &run);
  image_create(&image, (int)camera->width, (int)camera->height);
  render_scene(&image, &stage, camera, &layer, 1, 1);
  stage_destroy(&stage);
  return image;
}

static const uint8_t* pixel_at(const RenderImage* image, double x, double y) {
  assert_true(x >= 0 && y >= 0 && x < image->width && y < image->height);
  return image->rgb + 3 * ((int)y * image->width + (int)x);
}

static void assert_near(double value, double expected, double tolerance, const char* what) {
  if (fabs(value - expected) <= tolerance) return;
  fail_msg("%s: %.12g, expected %.12g +- %g", what, value, expected, tolerance);
}

static RenderSubjects one_subject(const RenderSubject* subject) { return (RenderSubjects){subject, 1}; }

/* ---------------------------------------------------------------- camera */

/* Similar triangles: a point 3 m to the right and 2 m up at 10 m distance is 0.3 f and 0.2 f from the image centre. */
static void projection_is_that_of_a_pinhole(void** state) {
  (void)state;
  RenderCamera camera = plain_camera(vec3(1, -8, 0.5), 640, 480, 500);
  double x, y, distance;
  assert_true(camera_project(&camera, vec3(4, 2, 2.5), &x, &y, &distance));
  assert_near(x, 320 + 150, 1e-12, "x");
  assert_near(y, 240 - 100, 1e-12, "y");
  assert_near(distance, 10, 1e-12, "distance");
  assert_false(camera_project(&camera, vec3(0, -9, 0), &x, &y, &distance));
}

static void assert_axis(Vec3 axis, Vec3 expected, const char* what) {
  double error = vec3_norm(vec3_sub(axis, expected));
  if (error > 1e-12) fail_msg("%s: (%g, %g, %g)", what, axis.x, axis.y, axis.z);
}

static void views_show_the_axes_that_they_promise(void** state) {
  (void)state;
  Vec3 z = vec3(0, 0, 1);
  assert_axis(camera_create(RENDER_FRONT, z, 9, 9, 1).right, vec3(1, 0, 0), "front: right is x");
  assert_axis(camera_create(RENDER_SIDE, z, 9, 9, 1).right, vec3(0, 1, 0), "side: right is y");
  assert_axis(camera_create(RENDER_TOP, z, 9, 9, 1).right, vec3(1, 0, 0), "top: right is x");
  assert_axis(camera_create(RENDER_TOP, z, 9, 9, 1).up, vec3(0, 1, 0), "top: up is y");
  assert_axis(camera_create(RENDER_TOP, z, 9, 9, 1).forward, vec3(0, 0, -1), "top: looks down");
  assert_axis(camera_create(RENDER_FRONT, vec3(0, 1, 0), 9, 9, 1).right, vec3(1, 0, 0), "y up, front: right is x");
  for (int view = 0; view < 4; view++)
    for (int k = 0; k < 2; k++) {
      RenderCamera camera = camera_create((RenderView)view, k ? vec3_normalized(vec3(0.3, -0.2, 1)) : z, 9, 9, 1);
      assert_axis(vec3_cross(camera.right, camera.up), vec3_scale(camera.forward, -1.0), "right-handed");
      assert_near(vec3_norm(camera.forward), 1, 1e-12, "unit");
    }
}

/* Largest |x|, |y| of all vertices as a share of the half picture. */
static void outline(const Toy* toy, const RenderCamera* camera, double* wide, double* high) {
  *wide = *high = 0.0;
  for (int h = 0; h < toy->model.hull_count; h++)
    for (int i = 0; i < toy->hulls[h].solid.vertex_count; i++) {
      double x, y, distance;
      Vec3 p = pose_apply(toy->poses[h], toy->hulls[h].solid.vertices[i]);
      assert_true(camera_project(camera, p, &x, &y, &distance));
      *wide = fmax(*wide, fabs(x / (0.5 * camera->width) - 1.0));
      *high = fmax(*high, fabs(y / (0.5 * camera->height) - 1.0));
    }
}

/* Boxes bound themselves exactly, so the fit must touch the margin and not pass it. */
static void fit_shows_every_vertex_and_wastes_nothing(void** state) {
  (void)state;
  Random random = {7};
  print_message("seed 7\n");
  for (int trial = 0; trial < 40; trial++) {
    Toy* toy = toy_create();
    for (int i = 0; i < 5; i++) {
      Vec3 place = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
      Vec3 axis = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
      toy_box(toy, "box", i, vec3(0.3, 0.5, random_uniform(&random, 0.1, 2)),
              turned((Pose){mat3_identity(), place}, axis, random_uniform(&random, 0, 3)));
    }
    const double margin[4] = {0.1, 0.1, 0.1, 0.1};
    RenderCamera camera = camera_create((RenderView)(trial % 4), vec3(0, 0, 1), 640, trial % 2 ? 480 : 900, 1.0);
    CameraFit fit = camera_fit_create(&camera, margin);
    for (int h = 0; h < 5; h++) camera_fit_add_hull(&fit, &toy->hulls[h], toy->poses[h]);
    camera_fit_place(&fit, &camera);
    double wide, high;
    outline(toy, &camera, &wide, &high);
    assert_true(wide <= 0.9 + 1e-9 && high <= 0.9 + 1e-9);
    assert_near(fmax(wide, high), 0.9, 1e-9, "the tighter direction touches the margin");
    camera_fit_look_at(&fit, &camera, vec3(0.2, 0.1, 0.3));
    double x, y, distance;
    outline(toy, &camera, &wide, &high);
    assert_near(fmax(wide, high), 0.9, 1e-9, "looking at a point");
    assert_true(camera_project(&camera, vec3(0.2, 0.1, 0.3), &x, &y, &distance));
    assert_near(hypot(x - 0.5 * camera.width, y - 0.5 * camera.height), 0, 1e-6, "the point is in the middle");
    toy_destroy(toy);
  }
}

/* ---------------------------------------------------------------- rasteriser */

/* A fan over a random convex polygon covers each sample inside once and none outside. */
static void triangles_share_edges_without_gap_or_overlap(void** state) {
  (void)state;
  enum { SIZE = 64, CORNERS = 9 };
  static const double OFFSETS[4] = {0.375, 0.875, 0.125, 0.625};
  Random random = {11};
  print_message("seed 11\n");
  int* count = MEMORY_NEW(int, 4 * SIZE * SIZE);
  float* nearness = MEMORY_NEW(float, 4 * SIZE * SIZE);
  for (int trial = 0; trial < 50; trial++) {
    double x[CORNERS], y[CORNERS], cx = random_uniform(&random, 20, 44), cy = random_uniform(&random, 20, 44);
    for (int k = 0; k < CORNERS; k++) {
      double angle = 2 * M_PI * (k + random_uniform(&random, 0, 0.9)) / CORNERS;
      x[k] = cx + 30 * cos(angle);
      y[k] = cy + 30 * sin(angle);
    }
    memset(count, 0, sizeof(int) * 4 * SIZE * SIZE);
    for (int k = 0; k < CORNERS; k++) {
      double tx[3] = {cx, x[k], x[(k + 1) % CORNERS]}, ty[3] = {cy, y[k], y[(k + 1) % CORNERS]}, flat[3] = {1, 0, 0};
      memset(nearness, 0, sizeof(float) * 4 * SIZE * SIZE);
      RenderTarget target = {SIZE, 0, 4 * SIZE, 4, OFFSETS, nearness, NULL};
      raster_triangle(&target, tx, ty, flat, 0);
      for (int i = 0; i < 4 * SIZE * SIZE; i++) count[i] += nearness[i] > 0.0f;
    }
    for (int row = 0; row < 4 * SIZE; row++)
      for (int i = 0; i < SIZE; i++) {
        double px = i + OFFSETS[row % 4], py = (row + 0.5) / 4, least = INFINITY;
        for (int k = 0; k < CORNERS; k++) {
          int next = (k + 1) % CORNERS;
          double cross = (x[next] - x[k]) * (py - y[k]) - (y[next] - y[k]) * (px - x[k]);
          least = fmin(least, cross / hypot(x[next] - x[k], y[next] - y[k]));
        }
        if (fabs(least) < 1e-9) continue;
        if (count[row * SIZE + i] != (least > 0))
          fail_msg("trial %d: %d times at (%g, %g)", trial, count[row * SIZE + i], px, py);
      }
  }
  memory_free(count);
  memory_free(nearness);
}

/* Area of the convex outline of points in the plane, by gift wrapping and the shoelace formula. */
static double outline_area(double (*p)[3], int count) {
  int start = 0, current, next;
  for (int i = 1; i < count; i++)
    if (p[i][0] < p[start][0]) start = i;
  double area = 0.0;
  current = start;
  do {
    next = current == 0 ? 1 : 0;
    for (int i = 0; i < count; i++) {
      double cross = (p[next][0] - p[current][0]) * (p[i][1] - p[current][1]) -
                     (p[next][1] - p[current][1]) * (p[i][0] - p[current][0]);
      if (i != current && cross < 0) next = i;
    }
    area += 0.5 * (p[current][0] * p[next][1] - p[next][0] * p[current][1]);
    current = next;
  } while (current != start);
  return fabs(area);
}

/* A black box covers part of the empty picture. The loss of brightness equals the covered area. */
static void silhouette_has_the_area_of_the_projected_box(void** state) {
  (void)state;
  Random random = {3};
  print_message("seed 3\n");
  for (int trial = 0; trial < 8; trial++) {
    Toy *toy = toy_create(), *empty = toy_create();
    Vec3 axis = vec3(random_normal(&random), random_normal(&random), random_normal(&random));
    int box =
        toy_box(toy, "box", 0, vec3(1.0, 0.6, 0.8), turned(at(0.1, 0, -0.05), axis, random_uniform(&random, 0, 3)));
    toy_color(toy, box, 0, 0, 0);
    RenderCamera camera = plain_camera(vec3(0, -5, 0), 320, 240, 600);
    RenderImage image = draw_toy(toy, &camera), background = draw_toy(empty, &camera);
    double covered = 0.0, corner[8][3];
    for (int i = 0; i < 3 * 320 * 240; i += 3)
      covered +=
          1.0 - (double)linear_from_srgb(image.rgb[i] / 255.0) / (double)linear_from_srgb(background.rgb[i] / 255.0);
    for (int i = 0; i < 8; i++) {
      double distance;
      Vec3 p = pose_apply(toy->poses[0], toy->hulls[0].solid.vertices[i]);
      camera_project(&camera, p, &corner[i][0], &corner[i][1], &distance);
    }
    double area = outline_area(corner, 8);
    assert_near(covered, area, 2e-3 * area, "area [px]");
    image_destroy(&image);
    image_destroy(&background);
    toy_destroy(toy);
    toy_destroy(empty);
  }
}

/* The box in front is seen whichever stands first in the model; two that cut through each other share the picture. */
static void the_nearer_surface_is_seen(void** state) {
  (void)state;
  for (int order = 0; order < 2; order++) {
    Toy* toy = toy_create();
    int first = toy_box(toy, "first", 0, vec3(1, 1, 1), at(0, order ? -2 : 2, 0));
    int second = toy_box(toy, "second", 1, vec3(1, 1, 1), at(0.2, order ? 2 : -2, 0));
    toy_color(toy, first, 1, 0, 0);
    toy_color(toy, second, 0, 0, 1);
    RenderCamera camera = plain_camera(vec3(0, -9, 0), 200, 200, 400);
    RenderImage image = draw_toy(toy, &camera);
    const uint8_t* middle = pixel_at(&image, 100, 100);
    if (order ? middle[0] <= middle[2] : middle[2] <= middle[0])
      fail_msg("order %d: (%d, %d, %d)", order, middle[0], middle[1], middle[2]);
    image_destroy(&image);
    toy_destroy(toy);
  }
  Toy* toy = toy_create();
  toy_color(toy, toy_box(toy, "flat", 0, vec3(2, 1, 1), at(0, 0, 0)), 1, 0, 0);
  toy_color(toy, toy_box(toy, "turned", 1, vec3(2, 1, 1), turned(at(0, 0, 0), vec3(0, 0, 1), 0.2)), 0, 0, 1);
  RenderCamera camera = plain_camera(vec3(0, -9, 0), 200, 200, 700);
  RenderImage image = draw_toy(toy, &camera);
  const uint8_t *left = pixel_at(&image, 60, 100), *right = pixel_at(&image, 140, 100);
  /* After a positive rotation about z, the left side of the front face is closer. */
  assert_true(left[2] > left[0]);
  assert_true(right[0] > right[2]);
  image_destroy(&image);
  toy_destroy(toy);
}

/* ---------------------------------------------------------------- light */

static double brightness(const uint8_t* pixel) {
  return (double)linear_from_srgb(pixel[0] / 255.0) + (double)linear_from_srgb(pixel[1] / 255.0) +
         (double)linear_from_srgb(pixel[2] / 255.0);
}

/* A slab hovers over the ground. Its shadow lies where light rays through the slab hit the ground. */
static void shadow_lies_behind_the_body_as_seen_from_the_light(void** state) {
  (void)state;
  Toy* toy = toy_create();
  toy_ground(toy, vec3(0, 0, 1));
  int slab = toy_box(toy, "slab", 0, vec3(0.6, 0.6, 0.1), at(0, 0, 1));
  RunPoses run = toy_run(toy, 1);
  RenderStage stage;
  ShadowMap map;
  Vec3 light = vec3_normalized(vec3(-0.4, -0.3, 1));
  stage_create(&stage, &toy->model, &run);
  RenderCamera camera = plain_camera(vec3(0, -9, 0), 640, 480, 500);
  shadow_create(&map, &stage, run.pose, &camera, light);
  const float flat[2] = {(float)(-map.s.z / light.z), (float)(-map.t.z / light.z)};
  /* The slab's centre at height 1 throws its shadow to (0.4, 0.3); the edges of its shadow lie 0.3 around. */
  const struct {
    double x, y, expected;
  } places[] = {{0.4, 0.3, 0}, {0.62, 0.3, 0}, {0.4, 0.08, 0}, {-0.3, 0.3, 1}, {1.1, 0.3, 1}, {0.4, 1.0, 1}, {9, 9, 1}};
  for (int i = 0; i < 7; i++) {
    Vec3 p = vec3_sub(vec3(places[i].x, places[i].y, 0), map.origin);
    float point[3] = {(float)(vec3_dot(map.s, p) / map.texel), (float)(vec3_dot(map.t, p) / map.texel),
                      (float)(vec3_dot(map.light, p) / map.texel)};
    assert_near((double)shadow_visibility(&map, point, flat, 0), places[i].expected, 1e-6, "visibility on the ground");
  }
  Vec3 top = vec3_sub(vec3(0.1, 0.1, 1.05), map.origin);
  float point[3] = {(float)(vec3_dot(map.s, top) / map.texel), (float)(vec3_dot(map.t, top) / map.texel),
                    (float)(vec3_dot(map.light, top) / map.texel)};
  assert_near((double)shadow_visibility(&map, point, flat, slab), 1, 1e-6,
              "a convex body does not shadow its lit face");
  shadow_destroy(&map);
  stage_destroy(&stage);
  toy_destroy(toy);
}

/* Three faces of a box that are seen together differ in brightness, and its edges are darker than its faces. */
static void a_box_reads_as_a_box(void** state) {
  (void)state;
  Toy* toy = toy_create();
  int box = toy_box(toy, "box", 0, vec3(1, 1, 1), at(0, 0, 0));
  toy_color(toy, box, 0.8, 0.8, 0.8);
  RenderCamera camera = camera_create(RENDER_ISO, vec3(0, 0, 1), 300, 300, 1.0);
  const double margin[4] = {0.1, 0.1, 0.1, 0.1};
  CameraFit fit = camera_fit_create(&camera, margin);
  camera_fit_add_hull(&fit, &toy->hulls[0], toy->poses[0]);
  camera_fit_place(&fit, &camera);
  RenderImage image = draw_toy(toy, &camera);
  const Vec3 faces[3] = {{0, 0, 0.5}, {0, -0.5, 0}, {0.5, 0, 0}};
  double x, y, distance, light[3];
  for (int k = 0; k < 3; k++) {
    assert_true(camera_project(&camera, faces[k], &x, &y, &distance));
    light[k] = brightness(pixel_at(&image, x, y));
  }
  assert_true(light[0] > 1.15 * light[1] && light[1] > 1.15 * light[2]);
  assert_true(camera_project(&camera, vec3(0.5, -0.5, 0), &x, &y, &distance));
  assert_true(brightness(pixel_at(&image, x, y)) < 0.9 * light[1]);
  image_destroy(&image);
  toy_destroy(toy);
}

/* From above, the line x = 0.5 of a 0.1 m grid is darker than the centre of the neighbouring cell. */
static void grid_lines_lie_at_round_metres(void** state) {
  (void)state;
  Toy* toy = toy_create();
  toy_ground(toy, vec3(0, 0, 1));
  toy_box(toy, "box", 0, vec3(0.2, 0.2, 0.2), at(0, 0, 0.1));
  RenderCamera camera = camera_create(RENDER_TOP, vec3(0, 0, 1), 600, 600, 1.0);
  camera.eye = vec3(0.031, 0.017, 5);
  camera.target = vec3(0.031, 0.017, 0);
  camera.reach = 5 * 300 / camera.focal;
  double spacing = grid_spacing(2 * camera.reach), x, y, distance;
  assert_near(spacing, 0.1, 1e-12, "spacing [m]");
  RenderImage image = draw_toy(toy, &camera);
  for (int k = -4; k <= 4; k++) {
    if (abs(k) < 2) continue; /* the box */
    assert_true(camera_project(&camera, vec3(k * spacing, 0.25, 0), &x, &y, &distance));
    double on_line = brightness(pixel_at(&image, x, y));
    assert_true(camera_project(&camera, vec3((k + 0.5) * spacing, 0.25, 0), &x, &y, &distance));
    double beside = brightness(pixel_at(&image, x, y));
    if (!(on_line < 0.93 * beside)) fail_msg("line %d: %g on the line, %g beside it", k, on_line, beside);
  }
  image_destroy(&image);
  toy_destroy(toy);
}

static void grid_spacing_is_round_and_gives_8_to_20_cells(void** state) {
  (void)state;
  for (double length = 1e-4; length < 1e4; length *= 1.037) {
    double spacing = grid_spacing(length), cells = length / spacing;
    double mantissa = spacing / pow(10, floor(log10(spacing) + 1e-9));
    if (!(cells >= 8 - 1e-9 && cells <= 20 + 1e-9)) fail_msg("%g m: %g cells", length, cells);
    bool is_round = fabs(mantissa - 1) < 1e-9 || fabs(mantissa - 2) < 1e-9 || fabs(mantissa - 5) < 1e-9;
    if (!is_round) fail_msg("%g m: spacing %.15g", length, spacing);
    double ratio = grid_major_spacing(spacing) / spacing;
    assert_near(ratio, fabs(mantissa - 5) < 1e-9 ? 2 : 5, 1e-9, "heavy lines");
  }
}

/* ---------------------------------------------------------------- palette */

/* Sets the linear RGB colour seen by a viewer without red (0) or green (1) cones (Vienot, Brettel and Mollon, 1999). */
static void simulate_dichromat(int kind, const float in[3], double out[3]) {
  static const double MATRIX[2][3][3] = {{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
                                         {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};
  for (int i = 0; i < 3; i++) {
    out[i] = 0.0;
    for (int j = 0; j < 3; j++) out[i] += (kind < 2 ? MATRIX[kind][i][j] : i == j) * (double)in[j];
  }
}

static double lab_curve(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116.0; }

static void lab_from_linear(const double rgb[3], double lab[3]) {
  double x = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505;
  double y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  double z = (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089;
  lab[0] = 116 * lab_curve(y) - 16;
  lab[1] = 500 * (lab_curve(x) - lab_curve(y));
  lab[2] = 200 * (lab_curve(y) - lab_curve(z));
}

static void palette_can_be_told_apart_by_the_colour_blind(void** state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < i; j++) {
        float a[3], b[3];
        double seen_a[3], seen_b[3], lab_a[3], lab_b[3];
        palette_color(i, a);
        palette_color(j, b);
        simulate_dichromat(kind, a, seen_a);
        simulate_dichromat(kind, b, seen_b);
        lab_from_linear(seen_a, lab_a);
        lab_from_linear(seen_b, lab_b);
        double difference =
            sqrt(pow(lab_a[0] - lab_b[0], 2) + pow(lab_a[1] - lab_b[1], 2) + pow(lab_a[2] - lab_b[2], 2));
        if (difference < 10.0) fail_msg("kind %d, colours %d and %d: difference %g", kind, i, j, difference);
      }
}

/* ---------------------------------------------------------------- whole pictures */

static RenderImage draw_panel(Toy* toy, int rows, const RenderOptions* options, int row) {
  RunPoses run = toy_run(toy, rows);
  RenderRun render;
  RenderImage image;
  render_run_create(&render, &(RenderSubject){.model = &toy->model, .run = &run}, options);
  image_create(&image, options->width, options->height);
  render_run_panel(&render, row, true, options->threads, &image);
  render_run_destroy(&render);
  return image;
}

static void every_thread_count_gives_the_same_bytes(void** state) {
  (void)state;
  RenderImage first = {0};
  for (int k = 0; k < 5; k++) {
    static const int THREADS[5] = {1, 2, 3, 8, 1};
    Toy* toy = toy_still_life();
    RenderOptions options = render_defaults();
    options.width = 333;
    options.height = 217;
    options.trail = 2;
    options.threads = THREADS[k];
    RenderImage image = draw_panel(toy, 3, &options, 2);
    if (k == 0)
      first = image;
    else {
      assert_memory_equal(first.rgb, image.rgb, 3 * 333 * 217);
      image_destroy(&image);
    }
    toy_destroy(toy);
  }
  image_destroy(&first);
}

/* The picture is neither black nor empty, and no body crosses its border. Bodies are coloured, everything else is grey.
 */
static void pictures_are_bright_and_whole(void** state) {
  (void)state;
  for (int view = 0; view < 4; view++) {
    Toy* toy = toy_still_life();
    RenderOptions options = render_defaults();
    options.width = 400;
    options.height = 300;
    options.view = (RenderView)view;
    options.labels = false;
    RenderImage image = draw_panel(toy, 1, &options, 0);
    int coloured = 0, dark = 0;
    for (int i = 0; i < 400 * 300; i++) {
      const uint8_t* p = image.rgb + 3 * i;
      bool is_coloured = abs(p[0] - p[1]) > 20 || abs(p[1] - p[2]) > 20;
      int x = i % 400, y = i / 400;
      if (is_coloured && (x < 5 || y < 5 || x >= 395 || y >= 295)) fail_msg("view %d: a body at (%d, %d)", view, x, y);
      coloured += is_coloured;
      dark += brightness(p) < 0.02;
    }
    if (coloured < 400 * 300 / 20 || dark > 400 * 300 / 100)
      fail_msg("view %d: %d coloured, %d dark", view, coloured, dark);
    image_destroy(&image);
    toy_destroy(toy);
  }
}

/* A box that has moved on leaves a pale ghost; without the trail the place is empty. */
static void trail_shows_where_a_body_was(void** state) {
  (void)state;
  uint8_t seen[2][3];
  for (int trail = 0; trail < 2; trail++) {
    Toy* toy = toy_create();
    toy_ground(toy, vec3(0, 0, 1));
    int box = toy_box(toy, "box", 0, vec3(0.4, 0.4, 0.4), at(-1, 0, 0.2));
    toy_color(toy, box, 0.9, 0.1, 0.1);
    toy->poses[TOY_LINKS + box] = at(1, 0, 0.2);
    RenderOptions options = render_defaults();
    options.width = 300;
    options.height = 200;
    options.view = RENDER_TOP;
    options.labels = false;
    options.trail = trail;
    RunPoses run = toy_run(toy, 2);
    RenderRun render;
    RenderImage image;
    render_run_create(&render, &(RenderSubject){.model = &toy->model, .run = &run}, &options);
    image_create(&image, 300, 200);
    render_run_panel(&render, 1, true, 1, &image);
    double x, y, distance;
    assert_true(camera_project(&render.camera, vec3(-1.03, 0.04, 0.4), &x, &y, &distance));
    memcpy(seen[trail], pixel_at(&image, x, y), 3);
    assert_true(camera_project(&render.camera, vec3(1.03, 0.04, 0.4), &x, &y, &distance));
    const uint8_t* solid = pixel_at(&image, x, y);
    assert_true(solid[0] > solid[1] + 60);
    render_run_destroy(&render);
    image_destroy(&image);
    toy_destroy(toy);
  }
  assert_true(abs(seen[0][0] - seen[0][1]) < 6);
  if (!(seen[1][0] > seen[1][1] + 15)) fail_msg("ghost (%d, %d, %d)", seen[1][0], seen[1][1], seen[1][2]);
}

/* A fixed box 60 m wide under a scene of 1 m is ground. The camera ignores its size, it has the grid, and its parts
 * behind the camera are clipped. */
static void large_fixed_bodies_are_ground(void** state) {
  (void)state;
  Toy* wide = toy_create();
  toy_box(wide, "earth", -1, vec3(60, 60, 1), at(0, 0, -0.5));
  toy_box(wide, "box", 0, vec3(0.4, 0.3, 0.2), at(0, 0, 0.1));
  RunPoses run = toy_run(wide, 1);
  RenderOptions options = render_defaults();
  RenderRun render;
  render_run_create(&render, &(RenderSubject){.model = &wide->model, .run = &run}, &options);
  assert_int_equal(render.stage.part[0], HULL_TERRAIN);
  assert_true(render.camera.reach < 1.0);
  Vec3 normal, point;
  assert_true(stage_ground(&render.stage, run.pose, &normal, &point));
  assert_axis(normal, vec3(0, 0, 1), "the ground's normal");
  assert_near(point.z, 0, 1e-12, "the ground's height");
  RenderImage image;
  image_create(&image, options.width, options.height);
  render_run_panel(&render, 0, true, 1, &image);
  image_destroy(&image);
  render_run_destroy(&render);
  toy_destroy(wide);
}

/* A stone and a slab are pieces of one shape, as in a height field. If the slab were drawn as fading ground, it would
 * leave a hole between its neighbours. */
static void pieces_of_a_shape_are_drawn_alike(void** state) {
  (void)state;
  for (int of_one = 0; of_one < 2; of_one++) {
    Toy* toy = toy_create();
    toy_box(toy, "stone", -1, vec3(0.1, 0.1, 0.1), at(0, 0, -0.05));
    toy_box(toy, "slab", -1, vec3(60, 60, 1), at(0, 0, -0.5));
    toy_box(toy, "box", 0, vec3(0.4, 0.3, 0.2), at(0, 0, 0.1));
    toy->model.hulls[1].link = of_one ? 0 : 1;
    toy->model.hulls[1].shape = of_one ? 0 : 1;
    RunPoses run = toy_run(toy, 1);
    RenderOptions options = render_defaults();
    RenderRun render;
    render_run_create(&render, &(RenderSubject){.model = &toy->model, .run = &run}, &options);
    assert_int_equal(render.stage.part[0], HULL_BODY);
    assert_int_equal(render.stage.part[1], of_one ? HULL_BODY : HULL_TERRAIN);
    render_run_destroy(&render);
    toy_destroy(toy);
  }
}

/* The camera keeps its distance to the followed body. */
static void follow_keeps_the_link_in_place(void** state) {
  (void)state;
  Toy* toy = toy_create();
  toy_ground(toy, vec3(0, 0, 1));
  int box = toy_box(toy, "box", 0, vec3(0.4, 0.4, 0.4), at(0, 0, 0.2));
  toy_color(toy, box, 0.9, 0.1, 0.1);
  toy->poses[TOY_LINKS + box] = at(50, 20, 0.2);
  RenderOptions options = render_defaults();
  options.width = 200;
  options.height = 200;
  options.follow = box;
  options.labels = false;
  RunPoses run = toy_run(toy, 2);
  RenderRun render;
  RenderImage image;
  render_run_create(&render, &(RenderSubject){.model = &toy->model, .run = &run}, &options);
  image_create(&image, 200, 200);
  for (int row = 0; row < 2; row++) {
    render_run_panel(&render, row, true, 1, &image);
    const uint8_t* middle = pixel_at(&image, 100, 100);
    assert_true(middle[0] > middle[1] + 60);
    int red = 0;
    for (int i = 0; i < 200 * 200; i++) red += image.rgb[3 * i] > image.rgb[3 * i + 1] + 40;
    assert_true(red > 200 * 200 / 8);
  }
  image_destroy(&image);
  render_run_destroy(&render);
  toy_destroy(toy);
}

/* ---------------------------------------------------------------- files */

static char folder[] = "/tmp/sdrs_test_render_XXXXXX";

static char* in_folder(const char* name) {
  Text path = {0};
  text_add(&path, "%s/%s", folder, name);
  return path.data;
}

/* An independent reader finds the same size and bytes. */
static void png_reads_back(void** state) {
  (void)state;
  char* path = in_folder("toy.png");
  RenderImage image;
  image_create(&image, 37, 23);
  Random random = {5};
  for (int i = 0; i < 3 * 37 * 23; i++) image.rgb[i] = (uint8_t)(random_bits(&random) >> 56);
  assert_int_equal(image_write_png(&image, path), STATUS_OK);
  int width, height, channels;
  uint8_t* read = stbi_load(path, &width, &height, &channels, 3);
  assert_non_null(read);
  assert_int_equal(width, 37);
  assert_int_equal(height, 23);
  assert_memory_equal(read, image.rgb, 3 * 37 * 23);
  stbi_image_free(read);
  assert_int_equal(image_write_png(&image, "/nowhere/at/all.png"), STATUS_IO);
  image_destroy(&image);
  memory_free(path);
}

static void strip_and_frames_have_the_promised_number_of_pictures(void** state) {
  (void)state;
  Toy* toy = toy_still_life();
  RunPoses run = toy_run(toy, 3);
  RenderOptions options = render_defaults();
  options.width = 64;
  options.height = 48;
  options.strip = 5;
  Diagnostics diagnostics = {0};
  char *path = in_folder("strip.png"), *frames = in_folder("frames/");
  assert_int_equal(
      render_picture(path, one_subject(&(RenderSubject){.model = &toy->model, .run = &run}), &options, &diagnostics),
      STATUS_OK);
  int width, height, channels, count;
  assert_int_equal(stbi_info(path, &width, &height, &channels), 1);
  assert_int_equal(width, 5 * 64 + 4 * 4);
  assert_int_equal(height, 48);
  options.strip = 0;
  options.fps = 10;
  options.threads = 2;
  assert_int_equal(render_frames(frames, one_subject(&(RenderSubject){.model = &toy->model, .run = &run}), &options,
                                 &count, &diagnostics),
                   STATUS_OK);
  assert_int_equal(count, 11); /* 1 s at 10 a second, both ends */
  options.fps = 4;
  assert_int_equal(render_frames(frames, one_subject(&(RenderSubject){.model = &toy->model, .run = &run}), &options,
                                 &count, &diagnostics),
                   STATUS_OK);
  assert_int_equal(count, 5);
  char *last = in_folder("frames/frame_00004.png"), *stale = in_folder("frames/frame_00005.png");
  assert_true(file_exists(last));
  assert_false(file_exists(stale)); /* left by the longer run: removed */
  assert_int_equal(diagnostics.count, 0);
  memory_free(path);
  memory_free(frames);
  memory_free(last);
  memory_free(stale);
  toy_destroy(toy);
}

/* A fake encoder counts its input bytes. Without an encoder, the message names the missing program. */
static void film_goes_through_ffmpeg_or_says_what_is_missing(void** state) {
  (void)state;
  Toy* toy = toy_still_life();
  RunPoses run = toy_run(toy, 3);
  RenderOptions options = render_defaults();
  options.width = 64;
  options.height = 48;
  options.fps = 8;
  options.threads = 2;
  Diagnostics diagnostics = {0};
  char *path = in_folder("film.mp4"), *program = in_folder("ffmpeg"), *before = memory_copy_text(getenv("PATH"));
  static const char SCRIPT[] = "#!/bin/sh\nfor last; do :; done\nexec /usr/bin/wc -c >\"${last#file:}\"\n";
  int count;
  setenv("PATH", folder, 1);
  assert_int_equal(render_film(path, one_subject(&(RenderSubject){.model = &toy->model, .run = &run}), &options, &count,
                               &diagnostics),
                   STATUS_IO);
  assert_int_equal(diagnostics.count, 1);
  assert_non_null(strstr(diagnostics.items[0].text, "ffmpeg"));
  assert_non_null(strstr(diagnostics.items[0].text, "not installed"));
  assert_int_equal(file_write(program, SCRIPT, sizeof SCRIPT - 1), STATUS_OK);
  assert_int_equal(chmod(program, 0755), 0);
  assert_int_equal(render_film(path, one_subject(&(RenderSubject){.model = &toy->model, .run = &run}), &options, &count,
                               &diagnostics),
                   STATUS_OK);
  setenv("PATH", before, 1);
  assert_int_equal(count, 9);
  char* data;
  size_t length;
  assert_int_equal(file_read(path, &data, &length), STATUS_OK);
  assert_int_equal(atoi(data), 9 * 64 * 48 * 3);
  memory_free(data);
  RenderSubject subject = {.model = &toy->model, .run = &run}, pair[2] = {subject, subject};
  setenv("PATH", folder, 1);
  assert_int_equal(render_film(path, (RenderSubjects){pair, 2}, &options, &count, &diagnostics), STATUS_OK);
  setenv("PATH", before, 1);
  assert_int_equal(file_read(path, &data, &length), STATUS_OK);
  assert_int_equal(atoi(data), 9 * (64 + 4 + 64) * 48 * 3);
  memory_free(data);
  static const char FAILS[] = "#!/bin/sh\nexit 1\n";
  assert_int_equal(file_write(program, FAILS, sizeof FAILS - 1), STATUS_OK);
  assert_int_equal(chmod(program, 0755), 0);
  setenv("PATH", folder, 1);
  assert_int_equal(render_film(path, one_subject(&(RenderSubject){.model = &toy->model, .run = &run}), &options, &count,
                               &diagnostics),
                   STATUS_IO);
  setenv("PATH", before, 1);
  diagnostics_free(&diagnostics);
  memory_free(path);
  memory_free(program);
  memory_free(before);
  toy_destroy(toy);
}

/* ---------------------------------------------------------------- two side by side */

/* A run beside itself gives the same panel twice; beside a wider one both are seen by the same camera, which sees all
 * of the wider. */
static void panels_share_the_camera(void** state) {
  (void)state;
  Toy *toy = toy_still_life(), *wide = toy_still_life();
  toy_box(wide, "far", 4, vec3(0.2, 0.2, 0.2), at(3, 0, 0.1));
  RunPoses run = toy_run(toy, 1), wide_run = toy_run(wide, 1);
  RenderOptions options = render_defaults();
  options.width = 160, options.height = 120;
  RenderSubject subjects[2] = {{.model = &toy->model, .run = &run}, {.model = &toy->model, .run = &run}};
  RenderSheet sheet;
  RenderImage image;
  sheet_create(&sheet, (RenderSubjects){subjects, 2}, &options);
  sheet_create_image(&sheet, &image);
  assert_int_equal(image.width, 2 * 160 + 4);
  assert_int_equal(image.height, 120);
  sheet_draw(&sheet, 0.0, 1, &image);
  for (int y = 0; y < 120; y++) {
    const uint8_t* row = image.rgb + 3 * (y * image.width);
    assert_memory_equal(row, row + 3 * 164, 3 * 160);
    for (int x = 3 * 160; x < 3 * 164; x++) assert_int_equal(row[x], 0xff);
  }
  image_destroy(&image);
  sheet_destroy(&sheet);
  subjects[1] = (RenderSubject){.model = &wide->model, .run = &wide_run};
  sheet_create(&sheet, (RenderSubjects){subjects, 2}, &options);
  assert_memory_equal(&sheet.panels[0].camera, &sheet.panels[1].camera, sizeof(RenderCamera));
  double x, y, distance;
  assert_true(camera_project(&sheet.panels[0].camera, vec3(3, 0, 0.1), &x, &y, &distance));
  assert_true(x > 0 && x < 160 && y > 0 && y < 120);
  sheet_destroy(&sheet);
  toy_destroy(toy);
  toy_destroy(wide);
}

/* ---------------------------------------------------------------- reading a run */

/* Row by row: the same poses, or the same refusal. */
static void compare_pose_rows(const char* path, const Model* model, const RunPoses* run, Status wanted,
                              const Diagnostics* said) {
  RunPoseRows* rows;
  Diagnostics diagnostics = {0};
  assert_int_equal(run_pose_rows_open(&rows, path, model, &diagnostics), wanted);
  assert_int_equal(diagnostics.count, said->count);
  for (int k = 0; k < said->count; k++) assert_string_equal(diagnostics.items[k].text, said->items[k].text);
  for (int row = rows ? run->row_count - 1 : -1; row >= 0; row--)
    for (int link = 0; link < run->link_count; link++) {
      Pose one = run_pose_rows_read(rows, row, link);
      assert_memory_equal(&one, &run_poses_at_row(run, row)[link], sizeof one);
    }
  run_pose_rows_close(rows);
  diagnostics_free(&diagnostics);
}

static Status read_text(const char* text, const Model* model, RunPoses* run, Diagnostics* diagnostics) {
  char* path = in_folder("trajectory.csv");
  assert_int_equal(file_write(path, text, strlen(text)), STATUS_OK);
  Status status = run_poses_read(run, path, model, diagnostics);
  compare_pose_rows(path, model, run, status, diagnostics);
  memory_free(path);
  return status;
}

#define HEADER "time,a/px,a/py,a/pz,a/qw,a/qx,a/qy,a/qz,a/cx,a/cy,a/cz\n"

static void poses_are_read_and_mistakes_named(void** state) {
  (void)state;
  Toy* toy = toy_create();
  toy_box(toy, "a", 0, vec3(1, 1, 1), at(0, 0, 0));
  RunPoses run;
  Diagnostics diagnostics = {0};
  assert_int_equal(
      read_text(HEADER "0,1,2,3,1,0,0,0,0,0,0\n0.5,4,5,6,0,0,0,2,0,0,0\n", &toy->model, &run, &diagnostics), STATUS_OK);
  assert_int_equal(run.row_count, 2);
  assert_axis(run.pose[0].t, vec3(1, 2, 3), "position");
  assert_axis(pose_apply(run.pose[1], vec3(1, 0, 0)), vec3(3, 5, 6), "half a turn about z, not normalised");
  assert_int_equal(run_find_row(&run, 0.2), 0);
  assert_int_equal(run_find_row(&run, 0.3), 1);
  assert_int_equal(run_find_row(&run, (double)NAN), 1);
  run_poses_free(&run);
  static const struct {
    const char *text, *message;
    int line;
  } faults[] = {
      {HEADER, "no row", 1},
      {HEADER "0,1,2,nan,1,0,0,0,0,0,0\n", "'nan' is not a finite decimal number", 2},
      {HEADER "0,1,2,3,1,0,0,0,0,0,0\n1,1,2,x,1,0,0,0,0,0,0\n", "'x' is not a finite decimal number", 3},
      {"time,b/px\n0,1\n", "no column 'a/px'", 1},
      {"t\n0\n", "must be 'time'", 1},
  };
  for (int i = 0; i < 5; i++) {
    Diagnostics found = {0};
    assert_int_equal(read_text(faults[i].text, &toy->model, &run, &found), STATUS_BAD_INPUT);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].line, faults[i].line);
    if (!strstr(found.items[0].text, faults[i].message))
      fail_msg("'%s' for '%s'", found.items[0].text, faults[i].message);
    run_poses_free(&run);
    diagnostics_free(&found);
  }
  diagnostics_free(&diagnostics);
  toy_destroy(toy);
}

static int make_folder(void** state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state) {
  (void)state;
  Text command = {0};
  text_add(&command, "rm -rf '%s'", folder);
  int result = system(command.data);
  text_free(&command);
  return result;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(projection_is_that_of_a_pinhole),
      cmocka_unit_test(views_show_the_axes_that_they_promise),
      cmocka_unit_test(fit_shows_every_vertex_and_wastes_nothing),
      cmocka_unit_test(triangles_share_edges_without_gap_or_overlap),
      cmocka_unit_test(silhouette_has_the_area_of_the_projected_box),
      cmocka_unit_test(the_nearer_surface_is_seen),
      cmocka_unit_test(shadow_lies_behind_the_body_as_seen_from_the_light),
      cmocka_unit_test(a_box_reads_as_a_box),
      cmocka_unit_test(grid_lines_lie_at_round_metres),
      cmocka_unit_test(grid_spacing_is_round_and_gives_8_to_20_cells),
      cmocka_unit_test(palette_can_be_told_apart_by_the_colour_blind),
      cmocka_unit_test(every_thread_count_gives_the_same_bytes),
      cmocka_unit_test(pictures_are_bright_and_whole),
      cmocka_unit_test(trail_shows_where_a_body_was),
      cmocka_unit_test(large_fixed_bodies_are_ground),
      cmocka_unit_test(pieces_of_a_shape_are_drawn_alike),
      cmocka_unit_test(follow_keeps_the_link_in_place),
      cmocka_unit_test(png_reads_back),
      cmocka_unit_test(strip_and_frames_have_the_promised_number_of_pictures),
      cmocka_unit_test(film_goes_through_ffmpeg_or_says_what_is_missing),
      cmocka_unit_test(panels_share_the_camera),
      cmocka_unit_test(poses_are_read_and_mistakes_named),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
