#include <assert.h>
#include "render/drawing.h"

/* Half width of a darkened edge with its soft border [px]. */
#define EDGE_WIDTH 1.3f
/* Greys of background and floors in linear light. */
#define BACKGROUND_TOP 0.966f
#define BACKGROUND_BOTTOM 0.857f
#define GROUND_GREY 0.80f
/* Darkening by minor and by major grid lines. */
#define LINE_DARKNESS 0.20f
#define MAJOR_DARKNESS 0.42f

/* Number of pixels that are shaded together. */
enum { FACE_RUN = 64 };

static float clamp_unit(float value) { return value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value; }

static float form_at(const float form[3], float x, float y) { return form[0] + form[1] * x + form[2] * y; }

static float larger(float a, float b) { return a > b ? a : b; }
static float smaller(float a, float b) { return a < b ? a : b; }

float background_grey(const Drawing* drawing, float y) {
  return BACKGROUND_TOP + (BACKGROUND_BOTTOM - BACKGROUND_TOP) * y / (float)drawing->camera->height;
}

/* A run of pixels in a row, with intermediate results. Loops over these arrays are vectorized. */
typedef struct {
  const DrawnFace* face;
  float x, y; /* first pixel; each further pixel is 1 px to the right */
  int count;
  float distance[FACE_RUN]; /* distances along the camera's forward axis [m] */
  float light[FACE_RUN];    /* brightness of a white surface */
} PixelRun;

static void find_distance(PixelRun* run) {
  const double* form = run->face->nearness;
  double start = form[0] + form[1] * (double)run->x + form[2] * (double)run->y;
  for (int i = 0; i < run->count; i++) run->distance[i] = (float)(1.0 / (start + form[1] * i));
}

static void add_lamp(const Drawing* drawing, PixelRun* run, bool shadowed) {
  const DrawnFace* face = run->face;
  for (int i = 0; i < run->count; i++) run->light[i] = face->ambient + face->lamp;
  if (!(face->lamp > 0.0f) || !shadowed || drawing->shadow.size == 0) return;
  for (int i = 0; i < run->count; i++) {
    float point[3], x = run->x + (float)i;
    for (int k = 0; k < 3; k++) point[k] = form_at(face->shadow_coordinates[k], x, run->y) * run->distance[i];
    run->light[i] = face->ambient + face->lamp * shadow_visibility(&drawing->shadow, point, face->slope, face->hull);
  }
}

static void darken_edges(PixelRun* run) {
  const DrawnFace* face = run->face;
  if (!(face->edge_strength > 0.0f)) return;
  for (int i = 0; i < run->count; i++) {
    float x = run->x + (float)i;
    float distance = smaller(form_at(face->edge[0], x, run->y), form_at(face->edge[1], x, run->y));
    distance = smaller(distance, form_at(face->edge[2], x, run->y));
    run->light[i] *= 1.0f - face->edge_strength * clamp_unit(EDGE_WIDTH - distance);
  }
}

/* Returns the approximate length of a vector, within 4 % and without a square root. */
static float rough_length(float x, float y) {
  float a = fabsf(x), b = fabsf(y);
  return larger(0.96f * larger(a, b), 0.68f * (a + b));
}

/* One family of parallel grid lines at a pixel. */
typedef struct {
  float position; /* coordinate across the lines [m] */
  float density;  /* pixels per metre */
} GridAxis;

/* Returns the coordinate across grid lines at a pixel, and the number of pixels per metre of this coordinate. The
 * coordinate is the quotient of two linear functions of the pixel, form / nearness. Its gradient in the image is
 * (gradient of form - position times gradient of nearness) / nearness. */
static GridAxis grid_axis(const float form[3], const float nearness[3], float x, float y, float distance) {
  float position = form_at(form, x, y) * distance;
  float dx = (form[1] - position * nearness[1]) * distance, dy = (form[2] - position * nearness[2]) * distance;
  return (GridAxis){position, 1.0f / (rough_length(dx, dy) + 1e-30f)};
}

/* Returns the fraction of a pixel that grid lines cover. The lines are one pixel wide at multiples of `spacing`, and
 * fade out where they would merge. */
static float line_coverage(GridAxis axis, float spacing, float per_spacing) {
  float pitch = spacing * axis.density, cell = axis.position * per_spacing;
  float distance = fabsf(cell - rintf(cell)) * pitch;
  return clamp_unit(1.0f - distance) * clamp_unit((pitch - 3.0f) * (1.0f / 9.0f));
}

/* Darkens a run of pixels by grid lines. Sets faded to the weight of the background, from 0 near the target to 1 far
 * from it. */
static void draw_grid(const Floor* floor, PixelRun* run, float faded[FACE_RUN]) {
  const float nearness[3] = {0, (float)run->face->nearness[1], (float)run->face->nearness[2]};
  float begin = floor->fade_begin * floor->fade_begin, end = floor->fade_end * floor->fade_end;
  float per_fade = floor->fades ? 1.0f / (end - begin) : 0.0f;
  float per_spacing = 1.0f / floor->spacing, per_major = 1.0f / floor->major;
  for (int i = 0; i < run->count; i++) {
    float x = run->x + (float)i;
    GridAxis u = grid_axis(floor->u, nearness, x, run->y, run->distance[i]);
    GridAxis v = grid_axis(floor->v, nearness, x, run->y, run->distance[i]);
    float du = u.position - floor->center_u, dv = v.position - floor->center_v;
    float out = clamp_unit((du * du + dv * dv - begin) * per_fade);
    float minor = larger(line_coverage(u, floor->spacing, per_spacing), line_coverage(v, floor->spacing, per_spacing));
    float major = larger(line_coverage(u, floor->major, per_major), line_coverage(v, floor->major, per_major));
    run->light[i] *= 1.0f - larger(LINE_DARKNESS * minor, MAJOR_DARKNESS * major);
    faded[i] = out * out * (3.0f - 2.0f * out);
  }
}

static void color_floor(const Drawing* drawing, PixelRun* run, float* color) {
  float faded[FACE_RUN], behind = background_grey(drawing, run->y);
  draw_grid(&drawing->floors[run->face->floor], run, faded);
  for (int i = 0; i < run->count; i++) {
    float grey = behind + (1.0f - faded[i]) * (GROUND_GREY * run->light[i] - behind);
    color[3 * i] = color[3 * i + 1] = color[3 * i + 2] = grey;
  }
}

static void color_scale(const PixelRun* run, float* color) {
  const DrawnFace* face = run->face;
  for (int i = 0; i < run->count; i++) {
    float paint[3], share = form_at(face->tint, run->x + (float)i, run->y) * run->distance[i];
    displacement_color((double)share, paint);
    for (int k = 0; k < 3; k++) color[3 * i + k] = paint[k] * run->light[i];
  }
}

void face_colors(const Drawing* drawing, const DrawnFace* face, float x, float y, int count, bool shadowed,
                 float* color) {
  assert(count >= 0);
  PixelRun run = {.face = face, .x = x, .y = y};
  for (int done = 0; done < count; done += FACE_RUN, run.x += FACE_RUN, color += 3 * FACE_RUN) {
    run.count = count - done < FACE_RUN ? count - done : FACE_RUN;
    find_distance(&run);
    add_lamp(drawing, &run, shadowed);
    darken_edges(&run);
    if (face->floor >= 0) {
      color_floor(drawing, &run, color);
      continue;
    }
    if (face->has_tint) {
      color_scale(&run, color);
      continue;
    }
    for (int i = 0; i < run.count; i++)
      for (int k = 0; k < 3; k++) color[3 * i + k] = face->color[k] * run.light[i];
  }
}
