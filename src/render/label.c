#include <assert.h>
#include <string.h>
#include "render/picture.h"

/* LETTER_SHARE: height of a capital relative to the image's smaller side. LETTER_MIN: smallest height of a capital
 * [px]. */
#define LETTER_SHARE 0.018
#define LETTER_MIN 7.0
/* Largest number of lines of the legend. A longer legend is not drawn. */
#define LEGEND_LINES 2
/* Distance of the legend's lines, in heights of a capital. */
#define LEGEND_PITCH 1.9
/* Ticks have numbers within this distance from the camera's target, in multiples of the camera's reach. */
#define TICK_REACH 1.5
/* Smallest ratio of an axis' length in the image to its true length. A shorter axis points towards the viewer and would
 * cover bodies, so it is not drawn. */
#define AXIS_SHARE 0.3
/* SLOPE_COSINE: cosine of one degree; on steeper ground an arrow shows the direction of gravity. GRAVITY_LENGTH: length
 * of the arrow in heights of a capital. */
#define SLOPE_COSINE 0.99985
#define GRAVITY_LENGTH 4.0

/* Largest number of labels that are checked for overlap. */
enum { LABELS_MAX = 128 };

typedef struct {
  double left, top, right, bottom; /* edges of the label's rectangle in the image [px] */
} LabelBox;

typedef struct {
  RenderImage* image;
  const RenderStage* stage;
  const RenderCamera* camera;
  const Pose* poses;
  double scale;  /* pixels per unit of text */
  double letter; /* height of a capital [px] */
  LabelBox boxes[LABELS_MAX];
  int box_count;
} LabelPen;

/* Sets *patch to the rectangle of the ground below the scene and near the camera's target. Returns false if the
 * rectangle is empty or there is no ground. */
static bool find_patch(const LabelPen* pen, GroundPatch* patch) {
  if (!stage_ground_patch(pen->stage, pen->poses, patch)) return false;
  for (int k = 0; k < 2; k++) {
    double middle = vec3_dot(patch->axis[k], pen->camera->target), reach = TICK_REACH * pen->camera->reach;
    patch->low[k] = fmax(patch->low[k], middle - reach);
    patch->high[k] = fmin(patch->high[k], middle + reach);
  }
  return patch->high[0] > patch->low[0] && patch->high[1] > patch->low[1];
}

/* Returns a point of the patch in the world. along, across: coordinates along the patch's axis `axis` and along the
 * other axis [m]. */
static Vec3 patch_point(const GroundPatch* patch, int axis, double along, double across) {
  assert(axis == 0 || axis == 1);
  return axis == 0 ? ground_point(patch, along, across) : ground_point(patch, across, along);
}

/* Returns the position across the patch at which an axis is drawn [m]: the side nearer to the lower edge of the image,
 * or the right side if both are equally low. */
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

/* An axis of the ground patch in the image: a line with ticks and numbers. */
typedef struct {
  const GroundPatch* patch;
  int axis;
  double spacing, side;      /* grid spacing, and position of the axis across the patch [m] */
  double x[2], y[2];         /* both ends of the axis [px] */
  double normal_x, normal_y; /* unit normal of the axis in the image, away from the scene */
} AxisLine;

static bool project_tick(const LabelPen* pen, const AxisLine* line, double along, double* x, double* y) {
  double distance;
  return camera_project(pen->camera, patch_point(line->patch, line->axis, along, line->side), x, y, &distance);
}

/* Returns the scale of the image at the distance of the camera's target [px/m]. */
static double pixels_per_metre(const RenderCamera* camera) {
  return 0.5 * fmin(camera->width, camera->height) / camera->reach;
}

/* Sets *line to an axis of the patch in the image. Returns false if the axis is behind the viewer or too short to read.
 * */
static bool project_axis(const LabelPen* pen, const GroundPatch* patch, int axis, AxisLine* line) {
  *line = (AxisLine){.patch = patch, .axis = axis, .spacing = grid_spacing(2.0 * pen->camera->reach)};
  line->side = near_side(pen, patch, axis);
  double inner_x, inner_y, distance, middle = 0.5 * (patch->low[axis] + patch->high[axis]);
  double across = 0.5 * (patch->low[1 - axis] + patch->high[1 - axis]);
  if (!project_tick(pen, line, patch->low[axis], &line->x[0], &line->y[0]) ||
      !project_tick(pen, line, patch->high[axis], &line->x[1], &line->y[1]) ||
      !camera_project(pen->camera, patch_point(patch, axis, middle, across), &inner_x, &inner_y, &distance))
    return false;
  double dx = line->x[1] - line->x[0], dy = line->y[1] - line->y[0], length = math_hypot(dx, dy);
  double whole = (patch->high[axis] - patch->low[axis]) * pixels_per_metre(pen->camera);
  if (!(length > AXIS_SHARE * whole && length > 3.0 * pen->letter)) return false;
  double outward = dx * (inner_y - line->y[0]) - dy * (inner_x - line->x[0]) > 0.0 ? 1.0 : -1.0;
  line->normal_x = outward * dy / length;
  line->normal_y = -outward * dx / length;
  return true;
}

static void tick_text(const AxisLine* line, int number, char text[32]) {
  snprintf(text, 32, "%.8g", number == 0 ? 0.0 : number * line->spacing);
}

/* Returns the number of grid lines per numbered tick, 1, 2, 5, 10, 20 or 50, or 0 if the numbers do not fit. */
static int tick_stride(const LabelPen* pen, const AxisLine* line, int first, int last) {
  static const int STRIDES[] = {1, 2, 5, 10, 20, 50};
  double wide = 0.0, length = line->patch->high[line->axis] - line->patch->low[line->axis];
  double step_x = fabs(line->x[1] - line->x[0]) * line->spacing / length;
  double step_y = fabs(line->y[1] - line->y[0]) * line->spacing / length;
  for (int i = first; i <= last; i++) {
    char text[32];
    tick_text(line, i, text);
    wide = fmax(wide, image_text_width(pen->scale, text) + pen->letter);
  }
  for (int k = 0; k < 6; k++)
    if (STRIDES[k] * step_x > wide || STRIDES[k] * step_y > 2.2 * pen->letter) return STRIDES[k];
  return 0;
}

static bool is_box_free(const LabelPen* pen, LabelBox place) {
  if (place.left < 2.0 || place.top < 2.0 || place.right > pen->camera->width - 2.0 ||
      place.bottom > pen->camera->height - 2.0)
    return false;
  for (int i = 0; i < pen->box_count; i++) {
    const LabelBox* other = &pen->boxes[i];
    if (place.left < other->right && other->left < place.right && place.top < other->bottom &&
        other->top < place.bottom)
      return false;
  }
  return true;
}

/* Writes text beside an axis at the distance `gap` [px] from (x, y), unless it does not fit into the image or overlaps
 * another label. */
static void write_axis_label(LabelPen* pen, const AxisLine* line, double x, double y, double gap, const char* text) {
  double width = image_text_width(pen->scale, text);
  double left = x + line->normal_x * (gap + 0.5 * width) - 0.5 * width;
  double top = y + line->normal_y * (gap + 0.5 * pen->letter) - 0.5 * pen->letter;
  LabelBox place = {left, top, left + width, top + pen->letter};
  if (!is_box_free(pen, place)) return;
  image_text(pen->image, left, top, pen->scale, text);
  double rim = 0.4 * pen->letter;
  if (pen->box_count < LABELS_MAX)
    pen->boxes[pen->box_count++] = (LabelBox){left - rim, top - rim, left + width + rim, top + pen->letter + rim};
}

static const char* axis_name(Vec3 axis) {
  return fabs(axis.x) > 0.999 ? "x [m]" : fabs(axis.y) > 0.999 ? "y [m]" : fabs(axis.z) > 0.999 ? "z [m]" : "[m]";
}

static void draw_axis(LabelPen* pen, const GroundPatch* patch, int axis) {
  AxisLine line;
  if (!project_axis(pen, patch, axis, &line)) return;
  int first = (int)ceil(patch->low[axis] / line.spacing - 1e-6);
  int last = (int)floor(patch->high[axis] / line.spacing + 1e-6);
  int stride = tick_stride(pen, &line, first, last);
  if (stride == 0) return;
  double x, y, widest = 0.0, tick = 0.5 * pen->letter;
  image_line(pen->image, line.x[0], line.y[0], line.x[1], line.y[1], 0.13 * pen->letter);
  for (int i = first; i <= last; i++) {
    char text[32];
    if (i % stride != 0 || !project_tick(pen, &line, i * line.spacing, &x, &y)) continue;
    tick_text(&line, i, text);
    image_line(pen->image, x, y, x + line.normal_x * tick, y + line.normal_y * tick, 0.13 * pen->letter);
    write_axis_label(pen, &line, x, y, pen->letter, text);
    widest = fmax(widest, image_text_width(pen->scale, text));
  }
  double beyond = 2.0 * pen->letter + fabs(line.normal_x) * widest + fabs(line.normal_y) * pen->letter;
  write_axis_label(pen, &line, 0.5 * (line.x[0] + line.x[1]), 0.5 * (line.y[0] + line.y[1]), beyond,
                   axis_name(patch->axis[axis]));
}

/* Draws a scale bar of round length at the distance of the camera's target. */
static void draw_bar(const LabelPen* pen) {
  double length = 2.0 * grid_spacing(2.0 * pen->camera->reach);
  double x = 2.0 * pen->letter, y = pen->camera->height - 2.0 * pen->letter,
         end = x + length * pixels_per_metre(pen->camera);
  image_line(pen->image, x, y, end, y, 0.2 * pen->letter);
  image_line(pen->image, x, y - 0.4 * pen->letter, x, y + 0.4 * pen->letter, 0.2 * pen->letter);
  image_line(pen->image, end, y - 0.4 * pen->letter, end, y + 0.4 * pen->letter, 0.2 * pen->letter);
  char text[32];
  snprintf(text, sizeof text, "%g m", length);
  image_text(pen->image, 0.5 * (x + end - image_text_width(pen->scale, text)), y - 1.8 * pen->letter, pen->scale, text);
}

/* Draws an arrow in the direction of gravity if the ground is a slope. */
static void draw_gravity(const LabelPen* pen, const GroundPatch* patch) {
  static const uint8_t COLOR[3] = {40, 44, 52};
  Vec3 up = pen->stage->up, normal = vec3_cross(patch->axis[0], patch->axis[1]), down = vec3_scale(up, -1.0);
  if (fabs(vec3_dot(normal, up)) >= SLOPE_COSINE || vec3_norm(pen->stage->model->simulation.gravity) == 0) return;
  double dx = vec3_dot(pen->camera->right, down), dy = -vec3_dot(pen->camera->up, down), size = math_hypot(dx, dy);
  if (!(size > 0.2)) return; /* an arrow seen from above would be a point */
  double length = GRAVITY_LENGTH * pen->letter, x = pen->camera->width - 3.0 * pen->letter, y = 5.0 * pen->letter;
  image_arrow(pen->image, x, y, x + length * dx / size, y + length * dy / size, COLOR);
  image_text(pen->image, x + 0.8 * pen->letter, y, pen->scale, "g");
}

static bool in_legend(const Model* model, int link) {
  return model->links[link].tree >= 0 && model->links[link].hull_count > 0;
}

static void draw_swatch(const LabelPen* pen, int link, double x, double y) {
  uint8_t color[3];
  const char* name = pen->stage->model->links[link].name;
  image_backing(pen->image, x, y, 1.9 * pen->letter + image_text_width(pen->scale, name), pen->letter);
  for (int k = 0; k < 3; k++) color[k] = pen->stage->srgb[(int)(pen->stage->color[link][k] * (STAGE_TONES - 1))];
  image_rectangle(pen->image, x, y, x + 1.3 * pen->letter, y + pen->letter, color, 1.0);
  image_text(pen->image, x + 1.9 * pen->letter, y, pen->scale, name);
}

/* Arranges the legend from left to right with line breaks, and draws it if `draw`. Returns the number of lines, or 0 if
 * there are more than LEGEND_LINES. */
static int layout_legend(const LabelPen* pen, double top, bool draw) {
  const Model* model = pen->stage->model;
  double x = pen->letter, y = top;
  int line = 0;
  for (int i = 0; i < model->link_count; i++) {
    if (!in_legend(model, i)) continue;
    if (line == 0) line = 1;
    double width = image_text_width(pen->scale, model->links[i].name) + 3.2 * pen->letter;
    if (x > pen->letter && x + width > pen->camera->width) {
      x = pen->letter;
      y += LEGEND_PITCH * pen->letter;
      line++;
    }
    if (draw) draw_swatch(pen, i, x, y);
    x += width;
  }
  return line <= LEGEND_LINES && x <= pen->camera->width ? line : 0;
}

static void draw_title(const LabelPen* pen, const RenderLabels* labels) {
  double x = pen->letter, scale = 1.2 * pen->scale;
  const char* words[2] = {labels->title, labels->time};
  for (int k = 0; k < 2; k++) {
    if (!words[k] || !*words[k]) continue;
    double width = image_text_width(scale, words[k]);
    image_backing(pen->image, x, pen->letter, width, 1.2 * pen->letter);
    image_text(pen->image, x, pen->letter, scale, words[k]);
    x += width + 2.0 * pen->letter;
  }
}

void render_labels(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const Pose* poses,
                   const RenderLabels* labels) {
  double letter = fmax(LETTER_MIN, LETTER_SHARE * fmin(camera->width, camera->height));
  LabelPen pen = {.image = image, .stage = stage, .camera = camera, .poses = poses, .letter = letter};
  pen.scale = letter / TEXT_CAPITAL;
  GroundPatch patch;
  if (labels->ground && find_patch(&pen, &patch)) {
    draw_axis(&pen, &patch, 0);
    draw_axis(&pen, &patch, 1);
    draw_gravity(&pen, &patch);
  } else if (labels->ground) {
    draw_bar(&pen);
  }
  draw_title(&pen, labels);
  double below = 3.2 * letter;
  int lines = labels->legend ? layout_legend(&pen, below, false) : 0;
  if (lines > 0) layout_legend(&pen, below, true);
  if (labels->marks) render_key(image, stage, camera, labels->marks, below + LEGEND_PITCH * lines * letter, letter);
}
