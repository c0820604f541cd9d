#include <assert.h>
#include <stdlib.h>
#include "render/picture.h"

/* Cosine of 34 degrees. Edges are drawn if the angle between their faces is larger, so that round solids of fine facets
 * look smooth. */
#define EDGE_COSINE 0.829
/* Cosine of 0.08 degrees. Triangles at a smaller angle are coplanar up to rounding errors. */
#define FLAT_COSINE 0.999999
/* A floor is a fixed hull that carries the grid. Its larger horizontal width is at least the width of the moving links.
 * Its smaller horizontal width is at least this fraction of the width of the moving links. */
#define FLOOR_NARROW_SHARE 0.3
/* Smallest extent of terrain, relative to the diagonal of the bounding box of the moving links. Terrain is a fixed hull
 * that need not be completely visible. */
#define TERRAIN_SHARE 3.0
/* Largest number of hull poses that determine the extent. Longer runs use every n-th row only. */
#define EXTENT_SAMPLES 2000000

/* ---------------------------------------------------------------- colours */

float linear_from_srgb(double value) {
  if (!(value > 0.0)) return 0.0f;
  return (float)(value <= 0.04045 ? value / 12.92 : math_pow((value + 0.055) / 1.055, 2.4));
}

double srgb_from_linear(double value) {
  return value <= 0.0031308 ? 12.92 * value : 1.055 * math_pow(value, 1.0 / 2.4) - 0.055;
}

/* Palette of Okabe and Ito, Color Universal Design (2008), in sRGB, without black, which hides shading. The strong
 * colours blue and orange come first. */
static const uint8_t PALETTE[][3] = {
    {0x00, 0x72, 0xB2}, /* blue */
    {0xE6, 0x9F, 0x00}, /* orange */
    {0x00, 0x9E, 0x73}, /* bluish green */
    {0xD5, 0x5E, 0x00}, /* vermilion */
    {0x56, 0xB4, 0xE9}, /* sky blue */
    {0xCC, 0x79, 0xA7}, /* reddish purple */
    {0xF0, 0xE4, 0x42}, /* yellow */
};
enum { PALETTE_COUNT = sizeof PALETTE / sizeof PALETTE[0] };

/* Colour of fixed links, a light grey. */
static const float FIXED_COLOR[3] = {0.56f, 0.56f, 0.55f};

/* The second cycle of the palette is darker and the third lighter than the first. Three cycles differ in lightness, and
 * pale yellow and sky blue remain visible against the background. */
void palette_color(int index, float color[3]) {
  assert(index >= 0);
  int round = index / PALETTE_COUNT % 3;
  for (int k = 0; k < 3; k++) {
    float pure = linear_from_srgb(PALETTE[index % PALETTE_COUNT][k] / 255.0);
    color[k] = round == 0 ? pure : round == 1 ? 0.38f * pure : pure + 0.45f * (0.75f - pure);
  }
}

void link_colors(const Model* model, float (*color)[3]) {
  int moving = 0;
  for (int link = 0; link < model->link_count; link++) {
    const double* given = model->scene->links[link].color;
    bool fixed = model->links[link].tree < 0;
    for (int k = 0; k < 3; k++) color[link][k] = FIXED_COLOR[k];
    if (given[0] >= 0.0)
      for (int k = 0; k < 3; k++) color[link][k] = linear_from_srgb(given[k]);
    else if (!fixed)
      palette_color(moving, color[link]);
    if (!fixed) moving++;
  }
}

static void make_tones(RenderStage* stage) {
  stage->srgb = MEMORY_NEW(uint8_t, STAGE_TONES);
  for (int i = 0; i < STAGE_TONES; i++)
    stage->srgb[i] = (uint8_t)(255.0 * srgb_from_linear((double)i / (STAGE_TONES - 1)) + 0.5);
}

/* ---------------------------------------------------------------- sharp edges */

typedef struct {
  int low, high; /* vertices at the ends of the edge, in ascending order */
  int triangle, side;
} EdgeSide;

static int compare_sides(const void* left, const void* right) {
  const EdgeSide *a = left, *b = right;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static Vec3 triangle_normal(const ConvexHull* solid, int triangle) {
  const int* corner = solid->triangles[triangle];
  Vec3 a = solid->vertices[corner[0]], b = solid->vertices[corner[1]], c = solid->vertices[corner[2]];
  Vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
  double length = vec3_norm(normal);
  return length > 0.0 ? vec3_scale(normal, 1.0 / length) : vec3(0, 0, 0);
}

/* Marks the edges whose triangles have normals with a cosine of at most `cosine`. Sorting brings the two sides of an
 * edge together. */
static void mark_edges(const ConvexHull* solid, double cosine, uint8_t* edges) {
  int count = 3 * solid->triangle_count;
  EdgeSide* sides = MEMORY_NEW(EdgeSide, count + 1);
  for (int i = 0; i < count; i++) {
    int a = solid->triangles[i / 3][i % 3], b = solid->triangles[i / 3][(i + 1) % 3];
    sides[i] = (EdgeSide){a < b ? a : b, a < b ? b : a, i / 3, i % 3};
  }
  qsort(sides, (size_t)count, sizeof *sides, compare_sides);
  for (int i = 0; i + 1 < count; i++) {
    const EdgeSide *one = &sides[i], *two = &sides[i + 1];
    if (one->low != two->low || one->high != two->high) continue;
    Vec3 n1 = triangle_normal(solid, one->triangle), n2 = triangle_normal(solid, two->triangle);
    if (vec3_dot(n1, n2) > cosine) continue;
    edges[one->triangle] |= (uint8_t)(1 << one->side);
    edges[two->triangle] |= (uint8_t)(1 << two->side);
  }
  memory_free(sides);
}

static void find_edges(RenderStage* stage) {
  const Model* model = stage->model;
  stage->edge_first = MEMORY_NEW(int, model->hull_count + 1);
  for (int h = 0; h < model->hull_count; h++)
    stage->edge_first[h + 1] = stage->edge_first[h] + model->hulls[h].solid.triangle_count;
  stage->edges = MEMORY_NEW(uint8_t, stage->edge_first[model->hull_count] + 1);
  for (int h = 0; h < model->hull_count; h++)
    mark_edges(&model->hulls[h].solid, EDGE_COSINE, stage->edges + stage->edge_first[h]);
}

void stage_mark_all_edges(RenderStage* stage) {
  const Model* model = stage->model;
  for (int h = 0; h < model->hull_count; h++)
    mark_edges(&model->hulls[h].solid, FLAT_COSINE, stage->edges + stage->edge_first[h]);
}

/* ---------------------------------------------------------------- extent and grounds */

static void add_extent(RenderStage* stage, const ModelHull* hull, Pose pose) {
  if (!hull->kind->bounded) return;
  Vec3 high = vec3(hull_extent_bound(hull, pose, vec3(1, 0, 0)), hull_extent_bound(hull, pose, vec3(0, 1, 0)),
                   hull_extent_bound(hull, pose, vec3(0, 0, 1)));
  Vec3 low = vec3(-hull_extent_bound(hull, pose, vec3(-1, 0, 0)), -hull_extent_bound(hull, pose, vec3(0, -1, 0)),
                  -hull_extent_bound(hull, pose, vec3(0, 0, -1)));
  stage->lower = vec3_min(stage->lower, low);
  stage->upper = vec3_max(stage->upper, high);
}

/* Extends the bounding box by the hulls of movable links (`moving`) or fixed links over the run. */
static void add_extents(RenderStage* stage, const RunPoses* run, bool moving) {
  const Model* model = stage->model;
  int stride = 1 + (int)((double)run->row_count * model->hull_count / EXTENT_SAMPLES);
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    bool fixed = model->links[hull->link].tree < 0;
    if (fixed == moving || stage->part[h] == HULL_TERRAIN) continue;
    for (int row = 0; row < run->row_count; row += fixed ? run->row_count : stride)
      add_extent(stage, hull, run->pose[(size_t)row * (size_t)run->link_count + (size_t)hull->link]);
    add_extent(stage, hull, run->pose[(size_t)(run->row_count - 1) * (size_t)run->link_count + (size_t)hull->link]);
  }
}

/* Sets *narrow and *wide to the smaller and the larger horizontal width of a hull [m]. */
static void hull_widths(const RenderStage* stage, const ModelHull* hull, Pose pose, double* narrow, double* wide) {
  Vec3 axis[2];
  double width[2];
  plane_axes(stage->up, &axis[0], &axis[1]);
  for (int k = 0; k < 2; k++)
    width[k] = hull_extent_bound(hull, pose, axis[k]) + hull_extent_bound(hull, pose, vec3_scale(axis[k], -1.0));
  *narrow = fmin(width[0], width[1]);
  *wide = fmax(width[0], width[1]);
}

/* Returns the larger horizontal width of the bounding box of the moving links [m]. */
static double moving_width(const RenderStage* stage) {
  Vec3 axis[2], size = vec3_sub(stage->upper, stage->lower);
  double width = 0.0;
  plane_axes(stage->up, &axis[0], &axis[1]);
  for (int k = 0; k < 2; k++)
    width = fmax(width, fabs(axis[k].x) * size.x + fabs(axis[k].y) * size.y + fabs(axis[k].z) * size.z);
  return width;
}

/* Gives all hulls of one shape, such as a height field, the same role, so that they fade out together. */
static void unify_roles_of_shapes(RenderStage* stage) {
  const ModelHull* hulls = stage->model->hulls;
  for (int h = 0, next = 0; h < stage->model->hull_count; h = next) {
    bool whole = true;
    for (next = h; next < stage->model->hull_count && hulls[next].link == hulls[h].link; next++) {
      if (hulls[next].shape != hulls[h].shape) break;
      whole = whole && stage->part[next] == stage->part[h];
    }
    for (int k = h; k < next && !whole; k++) stage->part[k] = HULL_BODY;
  }
}

static void classify_hulls(RenderStage* stage, const RunPoses* run) {
  const Model* model = stage->model;
  double moving = vec3_norm(vec3_sub(stage->upper, stage->lower)), moving_wide = moving_width(stage);
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    double narrow, wide, size = 2.0 * fmax(hull->half_extent.x, fmax(hull->half_extent.y, hull->half_extent.z));
    stage->part[h] = HULL_BODY;
    if (!hull->kind->bounded) stage->part[h] = HULL_TERRAIN;
    if (!hull->kind->bounded || model->links[hull->link].tree >= 0 || !isfinite(moving)) continue;
    hull_widths(stage, hull, run->pose[hull->link], &narrow, &wide);
    if (wide >= moving_wide && narrow >= FLOOR_NARROW_SHARE * moving_wide) stage->part[h] = HULL_FLOOR;
    if (size > TERRAIN_SHARE * moving) stage->part[h] = HULL_TERRAIN;
  }
  unify_roles_of_shapes(stage);
}

/* Computes the bounding box and the roles of hulls. The box of the moving links determines which hulls are floors. Then
 * fixed hulls that are not terrain extend the box. */
static void find_extent(RenderStage* stage, const RunPoses* run) {
  stage->lower = vec3(INFINITY, INFINITY, INFINITY);
  stage->upper = vec3(-INFINITY, -INFINITY, -INFINITY);
  add_extents(stage, run, true);
  classify_hulls(stage, run);
  add_extents(stage, run, false);
  if (stage->upper.x >= stage->lower.x) return;
  stage->lower = vec3(-0.5, -0.5, -0.5);
  stage->upper = vec3(0.5, 0.5, 0.5);
}

static Vec3 up_axis(Vec3 gravity) {
  double length = vec3_norm(gravity);
  return length > 0.0 ? vec3_scale(gravity, -1.0 / length) : vec3(0, 0, 1);
}

void stage_create(RenderStage* stage, const Model* model, const RunPoses* run) {
  assert(run->row_count >= 1);
  *stage = (RenderStage){.model = model, .up = up_axis(model->simulation.gravity)};
  stage->part = MEMORY_NEW(HullPart, model->hull_count + 1);
  stage->color = (float(*)[3])memory_alloc(sizeof(float[3]) * (size_t)(model->link_count + 1));
  link_colors(model, stage->color);
  make_tones(stage);
  find_edges(stage);
  find_extent(stage, run);
}

void stage_destroy(RenderStage* stage) {
  memory_free(stage->part);
  memory_free(stage->color);
  memory_free(stage->edge_first);
  memory_free(stage->edges);
  memory_free(stage->srgb);
  memory_free(stage->displacement);
  *stage = (RenderStage){0};
}

/* ---------------------------------------------------------------- grid */

/* Grid lines follow the y axis if the cosine of the angle between the plane's normal and the world's x axis is above
 * this value. */
#define ALIGNED_COSINE 0.8

void plane_axes(Vec3 normal, Vec3* u, Vec3* v) {
  *u = vec3_perpendicular_near_x(normal, ALIGNED_COSINE);
  *v = vec3_cross(normal, *u);
}

double grid_spacing(double length) {
  assert(length > 0);
  double decade = math_pow(10.0, floor(math_log10(length / 8.0)));
  double share = length / 8.0 / decade;
  return decade * (share >= 5.0 ? 5.0 : share >= 2.0 ? 2.0 : 1.0);
}

double grid_major_spacing(double spacing) {
  assert(spacing > 0);
  double decade = math_pow(10.0, floor(math_log10(spacing) + 0.01));
  return spacing < 3.0 * decade ? 5.0 * spacing : 2.0 * spacing;
}

/* Finds the upward triangle of a hull with the largest horizontal area. Sets *normal and *point to its normal and a
 * corner. Returns twice its horizontal area, or 0 if there is none. */
static double largest_upward(const RenderStage* stage, const ConvexHull* solid, Pose pose, Vec3* normal, Vec3* point) {
  double largest = 0.0;
  for (int i = 0; i < solid->triangle_count; i++) {
    const int* corner = solid->triangles[i];
    Vec3 a = solid->vertices[corner[0]];
    Vec3 area = vec3_cross(vec3_sub(solid->vertices[corner[1]], a), vec3_sub(solid->vertices[corner[2]], a));
    area = mat3_mul_vec(pose.r, area);
    double length = vec3_norm(area), upward = vec3_dot(area, stage->up);
    if (!(upward > largest) || upward < STAGE_FLOOR_COSINE * length) continue;
    largest = upward;
    *normal = vec3_scale(area, 1.0 / length);
    *point = pose_apply(pose, a);
  }
  return largest;
}

/* Half-spaces take precedence over hulls. Among hulls, the largest upward face is the ground. */
bool stage_ground(const RenderStage* stage, const Pose* poses, Vec3* normal, Vec3* point) {
  double best = 0.0;
  for (int h = 0; h < stage->model->hull_count; h++) {
    const ModelHull* hull = &stage->model->hulls[h];
    Pose pose = poses[hull->link];
    if (stage->part[h] == HULL_BODY) continue;
    Vec3 n = mat3_mul_vec(pose.r, hull->normal), p = pose_apply(pose, vec3_scale(hull->normal, hull->offset));
    double weight = 0.0;
    if (hull->kind->bounded)
      weight = largest_upward(stage, &hull->solid, pose, &n, &p);
    else if (vec3_dot(n, stage->up) > STAGE_FLOOR_COSINE)
      weight = 1e30 * vec3_dot(n, stage->up);
    if (!(weight > best)) continue;
    best = weight;
    *normal = n;
    *point = p;
  }
  return best > 0.0;
}

/* Returns the axis or its opposite, whichever points along a positive world axis. Numbers at ticks then increase with
 * the world coordinate. */
static Vec3 positive_axis(Vec3 axis) {
  double x = fabs(axis.x), y = fabs(axis.y), z = fabs(axis.z);
  double largest = x >= y && x >= z ? axis.x : y >= z ? axis.y : axis.z;
  return vec3_scale(axis, largest < 0.0 ? -1.0 : 1.0);
}

Vec3 ground_point(const GroundPatch* patch, double u, double v) {
  return vec3_add_scaled(vec3_add_scaled(patch->origin, u, patch->axis[0]), v, patch->axis[1]);
}

bool stage_ground_patch(const RenderStage* stage, const Pose* poses, GroundPatch* patch) {
  Vec3 normal, point;
  if (!stage_ground(stage, poses, &normal, &point)) return false;
  plane_axes(normal, &patch->axis[0], &patch->axis[1]);
  patch->origin = vec3_scale(normal, vec3_dot(normal, point));
  for (int k = 0; k < 2; k++) {
    patch->axis[k] = positive_axis(patch->axis[k]);
    patch->low[k] = INFINITY;
    patch->high[k] = -INFINITY;
    for (int corner = 0; corner < 8; corner++) {
      Vec3 p = vec3(corner & 1 ? stage->upper.x : stage->lower.x, corner & 2 ? stage->upper.y : stage->lower.y,
                    corner & 4 ? stage->upper.z : stage->lower.z);
      patch->low[k] = fmin(patch->low[k], vec3_dot(patch->axis[k], p));
      patch->high[k] = fmax(patch->high[k], vec3_dot(patch->axis[k], p));
    }
  }
  return true;
}

RenderSurroundings render_surroundings(const Model* model, const RunPoses* run) {
  assert(run->row_count >= 1);
  RenderStage stage;
  stage_create(&stage, model, run);
  RenderSurroundings around = {.up = stage.up, .lower = stage.lower, .upper = stage.upper};
  around.has_ground = stage_ground_patch(&stage, run_poses_at_row(run, 0), &around.ground);
  stage_destroy(&stage);
  return around;
}
