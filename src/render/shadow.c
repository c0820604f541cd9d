#include <assert.h>
#include <string.h>
#include "render/picture.h"

/* Number of texels along a side of the shadow map. */
#define SHADOW_SIZE 384
/* Casters farther from the camera's target than this many half images are ignored, so that close views get a fine map.
 */
#define SHADOW_REACH 3.0
/* Half width of the penumbra (the soft border of a shadow) [texel]. */
#define SHADOW_BLUR 4
/* Number of texels in a row of the penumbra square, rounded up for vector loads. */
enum { SHADOW_ROW = 16 };
_Static_assert(2 * SHADOW_BLUR + 1 <= SHADOW_ROW, "a row of the penumbra must fit");
/* A caster shadows a point if it is at least this many texels nearer to the light. The bias hides rounding errors and
 * facets. */
#define SHADOW_BIAS 0.75f
#define NO_HULL UINT32_MAX

static bool is_caster(const RenderStage* stage, int hull) { return stage->part[hull] != HULL_TERRAIN; }

static Pose hull_pose(const RenderStage* stage, const Pose* poses, int hull) {
  return poses[stage->model->hulls[hull].link];
}

/* Sets *low and *high to the smallest and largest axis . x over the points x of all casters near the camera's target.
 * Casters are hulls that cast shadows. */
static void cast_range(const RenderStage* stage, const Pose* poses, const RenderCamera* camera, Vec3 axis, double* low,
                       double* high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int h = 0; h < stage->model->hull_count; h++) {
    if (!is_caster(stage, h)) continue;
    Pose pose = hull_pose(stage, poses, h);
    *high = fmax(*high, hull_extent_bound(&stage->model->hulls[h], pose, axis));
    *low = fmin(*low, -hull_extent_bound(&stage->model->hulls[h], pose, vec3_scale(axis, -1.0)));
  }
  double middle = vec3_dot(axis, camera->target), larger = fmax(camera->width, camera->height);
  double reach = SHADOW_REACH * camera->reach * larger / fmin(camera->width, camera->height);
  *low = fmax(*low, middle - reach);
  *high = fmin(*high, middle + reach);
}

/* Sets position and resolution of the map. Returns false if there is no caster. */
static bool set_map_frame(ShadowMap* map, const RenderStage* stage, const Pose* poses, const RenderCamera* camera) {
  double s0, s1, t0, t1;
  cast_range(stage, poses, camera, map->s, &s0, &s1);
  cast_range(stage, poses, camera, map->t, &t0, &t1);
  if (!(s1 > s0 && t1 > t0)) return false;
  double side = fmax(s1 - s0, t1 - t0);
  if (!isfinite(side)) return false;
  int border = SHADOW_BLUR + 2; /* the penumbra extends beyond the casters */
  map->size = SHADOW_SIZE;
  map->blur = SHADOW_BLUR;
  map->texel = side / (SHADOW_SIZE - 2 * border);
  double s = 0.5 * (s0 + s1) - 0.5 * SHADOW_SIZE * map->texel, t = 0.5 * (t0 + t1) - 0.5 * SHADOW_SIZE * map->texel;
  double height = vec3_dot(map->light, camera->target); /* near the scene, because heights are floats */
  map->origin = vec3_add_scaled(vec3_add_scaled(vec3_scale(map->s, s), t, map->t), height, map->light);
  return true;
}

static void cast_hull(const ShadowMap* map, const ModelHull* hull, Pose pose, uint32_t number,
                      const RenderTarget* target) {
  const ConvexHull* solid = &hull->solid;
  for (int i = 0; i < solid->triangle_count; i++) {
    double x[3], y[3], height[3], plane[3];
    for (int k = 0; k < 3; k++) {
      Vec3 corner = vec3_sub(pose_apply(pose, solid->vertices[solid->triangles[i][k]]), map->origin);
      x[k] = vec3_dot(map->s, corner) / map->texel;
      y[k] = vec3_dot(map->t, corner) / map->texel;
      height[k] = vec3_dot(map->light, corner) / map->texel;
    }
    /* only faces towards the light are drawn: their corners are counterclockwise in the map, because its axes s, t and
     * the light form a right-handed frame */
    bool faces_light = (x[1] - x[0]) * (y[2] - y[0]) > (x[2] - x[0]) * (y[1] - y[0]);
    if (faces_light && raster_plane(x, y, height, plane)) raster_triangle(target, x, y, plane, number);
  }
}

/* Sets out (size x size) to the extremes of `in` over `reach` texels on either side along columns: the largest values
 * if `highest`, otherwise the smallest. */
static void column_extremes(float* restrict out, const float* restrict in, int size, int reach, bool highest) {
  assert(reach >= 0 && reach < size);
  size_t row_bytes = sizeof(float) * (size_t)size;
  for (int row = 0; row < size; row++) {
    float* restrict to = out + (size_t)row * (size_t)size;
    int first = row < reach ? 0 : row - reach, last = row + reach < size ? row + reach : size - 1;
    memcpy(to, in + (size_t)first * (size_t)size, row_bytes);
    for (int other = first + 1; other <= last; other++) {
      const float* restrict from = in + (size_t)other * (size_t)size;
      if (highest)
        for (int i = 0; i < size; i++) to[i] = from[i] > to[i] ? from[i] : to[i];
      else
        for (int i = 0; i < size; i++) to[i] = from[i] < to[i] ? from[i] : to[i];
    }
  }
}

/* Sets out (size x size) to the extremes of `in` over `reach` texels on either side along rows: the largest values if
 * `highest`, otherwise the smallest. */
static void row_extremes(float* restrict out, const float* restrict in, int size, int reach, bool highest) {
  assert(reach >= 0 && reach < size);
  for (int row = 0; row < size; row++) {
    float* restrict to = out + (size_t)row * (size_t)size;
    const float* restrict from = in + (size_t)row * (size_t)size;
    memcpy(to, from, sizeof(float) * (size_t)size);
    for (int shift = -reach; shift <= reach; shift++) {
      int first = shift < 0 ? -shift : 0, last = shift > 0 ? size - shift : size;
      if (highest)
        for (int i = first; i < last; i++) to[i] = from[i + shift] > to[i] ? from[i + shift] : to[i];
      else
        for (int i = first; i < last; i++) to[i] = from[i + shift] < to[i] ? from[i + shift] : to[i];
    }
  }
}

/* Returns the extremes of `in` over the square of `reach` texels about every texel (size x size). The caller frees the
 * array. */
static float* square_extremes(const float* in, int size, int reach, bool highest) {
  size_t count = (size_t)size * (size_t)size;
  float *down = MEMORY_NEW(float, count), *out = MEMORY_NEW(float, count);
  column_extremes(down, in, size, reach, highest);
  row_extremes(out, down, size, reach, highest);
  memory_free(down);
  return out;
}

/* Returns for every texel the only hull that covers the square about the texel, or -1 if there is none or several (size
 * x size). There is one hull if the smallest and the largest index in the square are equal. The caller frees the array.
 */
static float* find_single_hulls(const uint32_t* number, int size, int reach) {
  size_t count = (size_t)size * (size_t)size;
  float* owner = MEMORY_NEW(float, count);
  for (size_t i = 0; i < count; i++) owner[i] = number[i] == NO_HULL ? -1.0f : (float)number[i];
  float *low = square_extremes(owner, size, reach, false), *high = square_extremes(owner, size, reach, true);
  for (size_t i = 0; i < count; i++) owner[i] = low[i] >= high[i] ? low[i] : -1.0f;
  memory_free(low);
  memory_free(high);
  return owner;
}

void shadow_create(ShadowMap* map, const RenderStage* stage, const Pose* poses, const RenderCamera* camera,
                   Vec3 light) {
  static const double CENTER[1] = {0.5};
  *map = (ShadowMap){.light = light};
  plane_axes(light, &map->s, &map->t);
  if (!set_map_frame(map, stage, poses, camera)) return;
  size_t count = (size_t)map->size * (size_t)map->size;
  map->height = MEMORY_NEW(float, count + SHADOW_ROW); /* vector loads read past the last texel, with weight zero */
  uint32_t* number = MEMORY_NEW(uint32_t, count);
  for (size_t i = 0; i < count; i++) map->height[i] = -INFINITY;
  memset(number, 0xff, count * sizeof *number);
  RenderTarget target = {map->size, 0, map->size, 1, CENTER, map->height, number};
  for (int h = 0; h < stage->model->hull_count; h++)
    if (is_caster(stage, h)) cast_hull(map, &stage->model->hulls[h], hull_pose(stage, poses, h), (uint32_t)h, &target);
  int reach =
      map->blur + 1; /* one more texel than the blur, because the penumbra square is not aligned with the texels */
  map->lowest = square_extremes(map->height, map->size, reach, false);
  map->highest = square_extremes(map->height, map->size, reach, true);
  map->owner = find_single_hulls(number, map->size, reach);
  memory_free(number);
}

void shadow_destroy(ShadowMap* map) {
  memory_free(map->height);
  memory_free(map->lowest);
  memory_free(map->highest);
  memory_free(map->owner);
  *map = (ShadowMap){0};
}

/* Returns the lit fraction of a square about the map position (x, y), whose side is 2 blur texels. A texel is lit if
 * its caster is below the surface. The height of the surface follows its slope, so that a convex body does not shadow
 * its own lit faces. Rows and columns at the border of the square have the weight of their covered fraction. */
static float sample_square(const ShadowMap* map, float x, float y, float height, const float slope[2]) {
  int left = (int)floorf(x - 0.5f), top = (int)floorf(y - 0.5f), last = 2 * map->blur;
  float in_x = x - 0.5f - (float)left, in_y = y - 0.5f - (float)top;
  float column[SHADOW_ROW] = {0}, level[SHADOW_ROW];
  for (int i = 0; i < SHADOW_ROW; i++) level[i] = height + slope[0] * ((float)(i + 1 - map->blur) - in_x);
  for (int j = 0; j <= last; j++) {
    float weight = j == 0      ? 1.0f - in_y
                   : j == last ? in_y
                               : 1.0f,
          rise = slope[1] * ((float)(j + 1 - map->blur) - in_y);
    const float* row = map->height + (size_t)(top + j + 1 - map->blur) * (size_t)map->size + (left + 1 - map->blur);
    for (int i = 0; i < SHADOW_ROW; i++) column[i] += row[i] <= level[i] + rise ? weight : 0.0f;
  }
  float open = (1.0f - in_x) * column[0] + in_x * column[last];
  for (int i = 1; i < last; i++) open += column[i];
  return open / (float)(last * last);
}

float shadow_visibility(const ShadowMap* map, const float point[3], const float slope[2], int hull) {
  float x = point[0], y = point[1], border = (float)(SHADOW_BLUR + 2), end = (float)map->size - border;
  if (!(x >= border && y >= border && x < end && y < end)) return 1.0f;
  size_t at = (size_t)(int)y * (size_t)map->size + (size_t)(int)x;
  if (map->owner[at] == (float)hull) return 1.0f; /* a convex hull cannot shadow its own lit face */
  float height = point[2] + SHADOW_BIAS, rise = (fabsf(slope[0]) + fabsf(slope[1])) * (float)(map->blur + 1);
  if (map->highest[at] <= height - rise) return 1.0f;
  if (map->lowest[at] > height + rise) return 0.0f;
  return sample_square(map, x, y, height, slope);
}
