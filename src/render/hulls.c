/* Draws a decomposition in three panels: the shape, its hulls in place, and the hulls moved apart.
 * Each panel shows a small model without a scene file. The shape is one link. Each hull is a link of its own. */
#include <assert.h>
#include <string.h>

#include "render/picture.h"

enum { PANEL_WIDTH = 480, PANEL_HEIGHT = 420, PANEL_GAP = 4 };
/* Empty margin relative to half the image, at the right, left, top (with space for the title) and bottom. */
static const double MARGIN[4] = {0.08, 0.08, 0.2, 0.06};
/* Grey of the undivided shape (sRGB), which differs from the colours of the hulls. */
#define PART_GREY 0.72
/* Each hull is first moved away from the centre by this fraction of its distance. */
#define SPREAD 0.35
/* GAP_OF_ONE / sqrt(number of hulls) is the gap between moved hulls, relative to the size of the shape. GAP_TOLERANCE
 * is the accepted relative error of the gap. */
#define GAP_OF_ONE 0.16
#define GAP_TOLERANCE 0.05
/* ITERATIONS_MAX: largest number of iterations that separate pairs of hulls. PAIRED_HULLS: largest number of hulls
 * whose pairs are separated. More hulls, such as blocks of a grid, are only moved away from the centre. */
#define ITERATIONS_MAX 60
#define PAIRED_HULLS 64

typedef struct {
  Scene scene;
  Model model;
  Pose* poses; /* world poses of the links (size: links) */
} HullScene;

static void compute_bounds(ModelHull* hull) {
  const ConvexHull* solid = &hull->solid;
  Vec3 low = solid->vertices[0], high = low;
  for (int i = 1; i < solid->vertex_count; i++)
    low = vec3_min(low, solid->vertices[i]), high = vec3_max(high, solid->vertices[i]);
  hull->center = vec3_scale(vec3_add(low, high), 0.5);
  hull->half_extent = vec3_scale(vec3_sub(high, low), 0.5);
  hull->radius = vec3_norm(hull->half_extent);
}

/* Transformation of a shape to unit size about the origin. */
typedef struct {
  Vec3 center;
  double size;
} ShapeFrame;

static ShapeFrame compute_unit_frame(const HullPicture* picture) {
  Vec3 low = picture->hulls[0].vertices[0], high = low;
  for (int h = 0; h < picture->hull_count; h++)
    for (int i = 0; i < picture->hulls[h].vertex_count; i++) {
      low = vec3_min(low, picture->hulls[h].vertices[i]);
      high = vec3_max(high, picture->hulls[h].vertices[i]);
    }
  return (ShapeFrame){vec3_add_scaled(low, 0.5, vec3_sub(high, low)), vec3_norm(vec3_sub(high, low))};
}

static ConvexHull to_unit_frame(const ConvexHull* solid, ShapeFrame frame) {
  ConvexHull copy = *solid;
  copy.vertices = MEMORY_NEW(Vec3, solid->vertex_count);
  for (int i = 0; i < solid->vertex_count; i++) {
    Vec3 d = vec3_sub(solid->vertices[i], frame.center);
    copy.vertices[i] = vec3(d.x / frame.size, d.y / frame.size, d.z / frame.size);
  }
  copy.triangles = memory_alloc(sizeof *copy.triangles * (size_t)solid->triangle_count);
  memcpy(copy.triangles, solid->triangles, sizeof *copy.triangles * (size_t)solid->triangle_count);
  return copy;
}

/* Builds a model with one movable link per solid. Links are movable, because fixed links could be drawn as floors. grey
 * < 0 selects the colours of the palette. */
static void create_hull_scene(HullScene* show, const ConvexHull* solids, int count, ShapeFrame frame, int up,
                              double grey) {
  *show = (HullScene){.poses = MEMORY_NEW(Pose, count)};
  show->scene.links = MEMORY_NEW(SceneLink, count);
  show->model = (Model){.scene = &show->scene, .link_count = count, .hull_count = count};
  show->model.links = MEMORY_NEW(ModelLink, count);
  show->model.hulls = MEMORY_NEW(ModelHull, count);
  show->model.simulation.gravity = vec3(-(up == 0), -(up == 1), -(up == 2));
  for (int k = 0; k < count; k++) {
    for (int c = 0; c < 3; c++) show->scene.links[k].color[c] = grey;
    show->model.links[k] = (ModelLink){.name = "", .parent = -1, .hull_first = k, .hull_count = 1};
    ModelHull* hull = &show->model.hulls[k];
    *hull = (ModelHull){.kind = &SOLID_HULL, .link = k, .solid = to_unit_frame(&solids[k], frame)};
    hull->points = point_view_create(hull->solid.vertices, hull->solid.vertex_count);
    compute_bounds(hull);
    show->poses[k] = pose_identity();
  }
}

static void destroy_hull_scene(HullScene* show) {
  for (int k = 0; k < show->model.hull_count; k++) {
    point_view_free(&show->model.hulls[k].points);
    hull_free(&show->model.hulls[k].solid);
  }
  memory_free(show->model.hulls);
  memory_free(show->model.links);
  memory_free(show->scene.links);
  memory_free(show->poses);
}

double hulls_gap(int count) {
  assert(count > 0);
  return GAP_OF_ONE / sqrt(count);
}

/* Returns true if two hulls are nearer than the required gap. Then sets *direction to the unit vector from a to b along
 * which to separate them, and *missing to the missing distance. */
static bool is_too_near(const Model* model, const Pose* poses, int a, int b, Vec3* direction, double* missing) {
  const ModelHull *p = &model->hulls[a], *q = &model->hulls[b];
  double gap = hulls_gap(model->hull_count);
  Vec3 between = vec3_sub(pose_apply(poses[b], q->center), pose_apply(poses[a], p->center));
  if (vec3_norm(between) > p->radius + q->radius + gap) return false;
  GjkResult nearest = gjk_distance(p->points, poses[a], q->points, poses[b], NULL);
  *direction = nearest.normal;
  *missing = gap - nearest.distance;
  if (nearest.distance == 0) *missing += hull_penetration(p->points, poses[a], q->points, poses[b], direction);
  return *missing > GAP_TOLERANCE * gap && vec3_norm(*direction) > 0;
}

/* Moves all hulls away from the centre. Then separates pairs that are too near, each hull by half the missing distance.
 */
void separate_hulls(const Model* model, Pose* poses) {
  int count = model->hull_count;
  for (int k = 0; k < count; k++) poses[k].t = vec3_scale(model->hulls[k].center, SPREAD);
  bool moved = count <= PAIRED_HULLS;
  for (int round = 0; round < ITERATIONS_MAX && moved; round++) {
    moved = false;
    for (int a = 0; a < count; a++)
      for (int b = a + 1; b < count; b++) {
        Vec3 direction;
        double missing;
        if (!is_too_near(model, poses, a, b, &direction, &missing)) continue;
        poses[a].t = vec3_add_scaled(poses[a].t, -0.5 * missing, direction);
        poses[b].t = vec3_add_scaled(poses[b].t, 0.5 * missing, direction);
        moved = true;
      }
  }
}

static void fit_camera(const HullScene* show, RenderCamera* camera) {
  CameraFit fit = camera_fit_create(camera, MARGIN);
  for (int k = 0; k < show->model.hull_count; k++) {
    const ConvexHull* solid = &show->model.hulls[k].solid;
    for (int i = 0; i < solid->vertex_count; i++)
      camera_fit_add_point(&fit, pose_apply(show->poses[k], solid->vertices[i]));
  }
  camera_fit_place(&fit, camera);
}

static void draw_panel(const HullScene* show, const RenderCamera* camera, const char* title, int threads, int place,
                       RenderImage* image) {
  RunPoses run = {.row_count = 1, .link_count = show->model.link_count, .pose = show->poses};
  RenderLayer layer = {show->poses, 1.0};
  RenderLabels labels = {.title = title};
  RenderStage stage;
  RenderImage panel;
  stage_create(&stage, &show->model, &run);
  image_create(&panel, PANEL_WIDTH, PANEL_HEIGHT);
  render_scene(&panel, &stage, camera, &layer, 1, threads);
  render_labels(&panel, &stage, camera, show->poses, &labels);
  image_paste(image, &panel, place * (PANEL_WIDTH + PANEL_GAP), 0);
  image_destroy(&panel);
  stage_destroy(&stage);
}

static void draw_panels(const HullPicture* picture, int threads, RenderImage* image) {
  ShapeFrame frame = compute_unit_frame(picture);
  HullScene part, hulls;
  char title[64];
  create_hull_scene(&part, picture->surface, 1, frame, picture->up, PART_GREY);
  create_hull_scene(&hulls, picture->hulls, picture->hull_count, frame, picture->up, -1);
  Vec3 up = vec3(picture->up == 0, picture->up == 1, picture->up == 2);
  RenderCamera camera = camera_create(RENDER_ISO, up, PANEL_WIDTH, PANEL_HEIGHT, 1.0);
  fit_camera(&hulls, &camera); /* the hulls cover the same region as the shape */
  draw_panel(&part, &camera, "the part", threads, 0, image);
  snprintf(title, sizeof title, "%d %s%s", picture->hull_count, picture->hull_term,
           picture->hull_count == 1 ? "" : "s");
  draw_panel(&hulls, &camera, title, threads, 1, image);
  separate_hulls(&hulls.model, hulls.poses);
  fit_camera(&hulls, &camera);
  draw_panel(&hulls, &camera, "moved apart", threads, 2, image);
  destroy_hull_scene(&part);
  destroy_hull_scene(&hulls);
}

Status render_hulls(const char* path, const HullPicture* picture, int threads, Diagnostics* diagnostics) {
  RenderImage image;
  image_create(&image, 3 * PANEL_WIDTH + 2 * PANEL_GAP, PANEL_HEIGHT);
  memset(image.rgb, 0xff, 3 * (size_t)image.width * (size_t)image.height);
  draw_panels(picture, threads, &image);
  Status status = image_write_png_reported(&image, path, diagnostics);
  image_destroy(&image);
  return status;
}
