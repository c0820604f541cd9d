#include <string.h>
#include "output/render.h"

/* Height of a capital letter as a share of the picture's smaller side, and the least [px]. */
#define LETTER_SHARE 0.018
#define LETTER_MIN 7.0
/* Names that need more lines than this are left out: they would hide the picture. */
#define LEGEND_LINES 2
/* Ticks are numbered within this many reaches of what is looked at. */
#define TICK_REACH 1.5

typedef struct {
  RenderImage* image;
  const RenderStage* stage;
  const RenderCamera* camera;
  const Pose* poses;
  double scale;  /* px per unit of text */
  double letter; /* height of a capital [px] */
} LabelPen;

/* ---------------------------------------------------------------- ticks along the ground */

/* The part of the ground under the scene that is near what is looked at. */
static bool find_patch(const LabelPen* pen, GroundPatch* patch) {
  if (!stage_ground_patch(pen->stage, pen->poses, patch)) return false;
  for (int k = 0; k < 2; k++) {
    double middle = vec3_dot(patch->axis[k], pen->camera->target), reach = TICK_REACH * pen->camera->reach;
    patch->low[k] = fmax(patch->low[k], middle - reach);
    patch->high[k] = fmin(patch->high[k], middle + reach);
  }
  return patch->high[0] > patch->low[0] && patch->high[1] > patch->low[1];
}

/* A point by its coordinates along one axis of the patch and across it. */
static Vec3 patch_point(const GroundPatch* patch, int axis, double along, double across) {
  return axis == 0 ? ground_point(patch, along, across) : ground_point(patch, across, along);
}

/* The side of the rectangle that lies nearer to the lower edge of the picture, or to the right when both lie alike. */
static double near_side(const LabelPen* pen, const GroundPatch* patch, int axis) {
  double middle = 0.5 * (patch->low[axis] + patch->high[axis]), weight[2];
  double across[2] = {patch->low[1 - axis], patch->high[1 - axis]};
  for (int k = 0; k < 2; k++) {
    double x, y, distance;
    if (!camera_project(pen->camera, patch_point(patch, axis, middle, across[k]), &x, &y, &distance)) return across[k];
    weight[k] = y + 0.2 * x;
  }
  return weight[1] > weight[0] ? across[1] : across[0];
}

/* A row of ticks: numbers along one side of the rectangle. */
typedef struct {
  const GroundPatch* patch;
  int axis;
  double spacing;       /* m */
  double side, outward; /* where the ticks are and where their numbers go, across the axis [m] */
} TickRow;

/* Where a tick and its number stand [px]. */
typedef struct {
  double x, y, outer_x, outer_y;
} TickPlace;

static bool place_tick(const LabelPen* pen, const TickRow* row, double along, TickPlace* place) {
  double distance;
  return camera_project(pen->camera, patch_point(row->patch, row->axis, along, row->side), &place->x, &place->y,
                        &distance) &&
         camera_project(pen->camera, patch_point(row->patch, row->axis, along, row->side + row->outward),
                        &place->outer_x, &place->outer_y, &distance);
}

static void tick_text(const TickRow* row, int number, char text[32]) {
  double value = number * row->spacing;
  snprintf(text, 32, "%g", fabs(value) < 1e-9 * row->spacing ? 0.0 : value);
}

/* Every how many grid lines a number fits: 1, 2, 5, 10, ... */
static int tick_stride(const LabelPen* pen, const TickRow* row, int first, int last) {
  static const int STRIDES[] = {1, 2, 5, 10, 20, 50};
  double need = 0.0;
  for (int i = first; i <= last; i++) {
    char text[32];
    tick_text(row, i, text);
    need = fmax(need, image_text_width(pen->scale, text) + pen->letter);
  }
  for (int k = 0; k < 6; k++) {
    TickPlace a, b;
    double step = STRIDES[k] * row->spacing, middle = 0.5 * (first + last) * row->spacing;
    if (!place_tick(pen, row, middle, &a) || !place_tick(pen, row, middle + step, &b)) continue;
    if (fabs(b.x - a.x) > need || fabs(b.y - a.y) > 2.2 * pen->letter) return STRIDES[k];
  }
  return 0;
}

static bool inside(const LabelPen* pen, double x, double y, double width) {
  return x >= 2.0 && y >= 2.0 && x + width <= pen->camera->width - 2.0 &&
         y + pen->letter <= pen->camera->height - 2.0;
}

/* Text beside the tick, on the outer side; returns where it ended up. */
static void write_outside(const LabelPen* pen, const TickPlace* place, double gap, const char* text) {
  double dx = place->outer_x - place->x, dy = place->outer_y - place->y, length = hypot(dx, dy);
  double width = image_text_width(pen->scale, text);
  if (!(length > 0.0)) return;
  double x = place->x + dx / length * (gap + 0.5 * width) - 0.5 * width;
  double y = place->y + dy / length * (gap + 0.5 * pen->letter) - 0.5 * pen->letter;
  if (inside(pen, x, y, width)) image_text(pen->image, x, y, pen->scale, text);
}

static const char* axis_name(Vec3 axis) {
  return fabs(axis.x) > 0.999 ? "x [m]" : fabs(axis.y) > 0.999 ? "y [m]" : fabs(axis.z) > 0.999 ? "z [m]" : "[m]";
}

static void draw_ticks(const LabelPen* pen, const GroundPatch* patch, int axis) {
  TickRow row = {.patch = patch, .axis = axis, .spacing = grid_spacing(2.0 * pen->camera->reach), .side = near_side(pen, patch, axis)};
  row.outward = row.side == patch->low[1 - axis] ? -row.spacing : row.spacing;
  int first = (int)ceil(patch->low[axis] / row.spacing - 1e-6), last = (int)floor(patch->high[axis] / row.spacing + 1e-6);
  int stride = tick_stride(pen, &row, first, last);
  if (stride == 0) return;
  TickPlace place, from, to;
  for (int i = first; i <= last; i++) {
    if (i % stride != 0 || !place_tick(pen, &row, i * row.spacing, &place)) continue;
    char text[32];
    tick_text(&row, i, text);
    double dx = place.outer_x - place.x, dy = place.outer_y - place.y, length = hypot(dx, dy);
    if (length > 0.0)
      image_line(pen->image, place.x, place.y, place.x + dx / length * 0.6 * pen->letter,
                 place.y + dy / length * 0.6 * pen->letter, 0.13 * pen->letter);
    write_outside(pen, &place, pen->letter, text);
  }
  if (!place_tick(pen, &row, patch->low[axis], &from) || !place_tick(pen, &row, patch->high[axis], &to)) return;
  image_line(pen->image, from.x, from.y, to.x, to.y, 0.13 * pen->letter);
  if (place_tick(pen, &row, 0.5 * (patch->low[axis] + patch->high[axis]), &place))
    write_outside(pen, &place, 3.0 * pen->letter, axis_name(patch->axis[axis]));
}

/* A bar of a round length at the distance of what is looked at. */
static void draw_bar(const LabelPen* pen) {
  double per_metre = 0.5 * fmin(pen->camera->width, pen->camera->height) / pen->camera->reach;
  double length = 2.0 * grid_spacing(2.0 * pen->camera->reach);
  double x = 2.0 * pen->letter, y = pen->camera->height - 2.0 * pen->letter, end = x + length * per_metre;
  image_line(pen->image, x, y, end, y, 0.2 * pen->letter);
  image_line(pen->image, x, y - 0.4 * pen->letter, x, y + 0.4 * pen->letter, 0.2 * pen->letter);
  image_line(pen->image, end, y - 0.4 * pen->letter, end, y + 0.4 * pen->letter, 0.2 * pen->letter);
  char text[32];
  snprintf(text, sizeof text, "%g m", length);
  image_text(pen->image, 0.5 * (x + end - image_text_width(pen->scale, text)), y - 1.8 * pen->letter, pen->scale, text);
}

/* ---------------------------------------------------------------- title and names */

static bool in_legend(const Model* model, int link) {
  return model->links[link].tree >= 0 && model->links[link].hull_count > 0;
}

static void draw_swatch(const LabelPen* pen, int link, double x, double y) {
  uint8_t color[3];
  for (int k = 0; k < 3; k++) color[k] = pen->stage->srgb[(int)(pen->stage->color[link][k] * (STAGE_TONES - 1))];
  image_rectangle(pen->image, x, y, x + 1.3 * pen->letter, y + pen->letter, color, 1.0);
  image_text(pen->image, x + 1.9 * pen->letter, y, pen->scale, pen->stage->model->links[link].name);
}

/* Names from left to right, wrapped like a line of text; drawn only when they fit in LEGEND_LINES. */
static bool flow_legend(const LabelPen* pen, double top, bool draw) {
  const Model* model = pen->stage->model;
  double x = pen->letter, y = top;
  int line = 1;
  for (int i = 0; i < model->link_count; i++) {
    if (!in_legend(model, i)) continue;
    double width = image_text_width(pen->scale, model->links[i].name) + 3.2 * pen->letter;
    if (x > pen->letter && x + width > pen->camera->width) {
      x = pen->letter;
      y += 1.9 * pen->letter;
      line++;
    }
    if (draw) draw_swatch(pen, i, x, y);
    x += width;
  }
  return line <= LEGEND_LINES && x <= pen->camera->width;
}

/* Title and time on the first line. */
static void draw_title(const LabelPen* pen, const RenderLabels* labels) {
  double x = pen->letter, scale = 1.2 * pen->scale;
  if (labels->title && *labels->title) {
    image_text(pen->image, x, pen->letter, scale, labels->title);
    x += image_text_width(scale, labels->title) + 2.0 * pen->letter;
  }
  if (labels->time) image_text(pen->image, x, pen->letter, scale, labels->time);
}

void render_labels(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const Pose* poses,
                   const RenderLabels* labels) {
  double letter = fmax(LETTER_MIN, LETTER_SHARE * fmin(camera->width, camera->height));
  LabelPen pen = {image, stage, camera, poses, letter / TEXT_CAPITAL, letter};
  GroundPatch patch;
  if (labels->ground && find_patch(&pen, &patch)) {
    draw_ticks(&pen, &patch, 0);
    draw_ticks(&pen, &patch, 1);
  } else if (labels->ground) {
    draw_bar(&pen);
  }
  draw_title(&pen, labels);
  double below_title = 3.2 * letter;
  if (labels->legend && flow_legend(&pen, below_title, false)) flow_legend(&pen, below_title, true);
}
