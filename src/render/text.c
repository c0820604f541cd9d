#include <assert.h>
#include <string.h>
#include "render/picture.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#include <stb/stb_easy_font.h>
#pragma GCC diagnostic pop

/* Largest length of a text [bytes]. A longer text is cut. */
#define TEXT_MAX 200
/* Largest size of the quads of a letter [bytes]. */
#define LETTER_QUADS 600
static const uint8_t INK[3] = {40, 44, 52}, PAPER[3] = {255, 255, 255};
/* RIM: width of the pale border around text [px]. RIM_OPACITY: opacity of the border. */
#define RIM 1.0
#define RIM_OPACITY 0.55
/* Background of lines of text, as bright as the background of the image. */
static const uint8_t BACKING[3] = {249, 249, 249};
#define BACKING_OPACITY 0.6

/* A vertex in the format of stb_easy_font. */
typedef struct {
  float x, y, z;
  uint8_t color[4];
} FontCorner;

/* Returns the length of the intersection of pixel i, which covers [i, i + 1), with the interval [from, to) [px]. */
static double overlap(int i, double from, double to) {
  double low = from > i ? from : i, high = to < i + 1 ? to : i + 1;
  return high > low ? high - low : 0.0;
}

static int clamp_index(double number, int limit) { return !(number > 0.0) ? 0 : number < limit ? (int)number : limit; }

static void blend(RenderImage* image, int x, int y, const uint8_t color[3], double share) {
  assert(share >= 0);
  uint8_t* pixel = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
  for (int k = 0; k < 3; k++) pixel[k] = (uint8_t)(pixel[k] + share * (color[k] - pixel[k]) + 0.5);
}

void image_rectangle(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3],
                     double opacity) {
  int right = clamp_index(ceil(x1), image->width), bottom = clamp_index(ceil(y1), image->height);
  for (int y = clamp_index(floor(y0), image->height); y < bottom; y++)
    for (int x = clamp_index(floor(x0), image->width); x < right; x++)
      blend(image, x, y, color, opacity * overlap(x, x0, x1) * overlap(y, y0, y1));
}

/* Sets [*from, *to] to the columns that a line may cover in row y, so that long diagonals do not process their whole
 * bounding box. */
static void line_columns(double x0, double y0, double x1, double y1, double pad, int y, double* from, double* to) {
  double rise = y1 - y0, begin = 0.0, end = 1.0;
  if (fabs(rise) > 1e-9) {
    double a = (y - pad - y0) / rise, b = (y + 1 + pad - y0) / rise;
    begin = fmax(0.0, fmin(a, b));
    end = fmin(1.0, fmax(a, b));
  }
  double xa = x0 + begin * (x1 - x0), xb = x0 + end * (x1 - x0);
  *from = fmin(xa, xb) - pad;
  *to = fmax(xa, xb) + pad;
}

void image_stroke(RenderImage* image, double x0, double y0, double x1, double y1, double width, const uint8_t color[3],
                  double opacity) {
  double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy, pad = 0.5 * width + 1.0;
  int bottom = clamp_index(ceil(fmax(y0, y1) + pad), image->height);
  for (int y = clamp_index(floor(fmin(y0, y1) - pad), image->height); y < bottom; y++) {
    double from, to;
    line_columns(x0, y0, x1, y1, pad, y, &from, &to);
    int right = clamp_index(ceil(to), image->width);
    for (int x = clamp_index(floor(from), image->width); x < right; x++) {
      double px = x + 0.5 - x0, py = y + 0.5 - y0;
      double along = square > 0.0 ? fmin(1.0, fmax(0.0, (px * dx + py * dy) / square)) : 0.0;
      double distance = math_hypot(px - along * dx, py - along * dy);
      blend(image, x, y, color, opacity * fmin(1.0, fmax(0.0, 0.5 * width + 0.5 - distance)));
    }
  }
}

void image_line(RenderImage* image, double x0, double y0, double x1, double y1, double width) {
  image_stroke(image, x0, y0, x1, y1, width, INK, 1.0);
}

/* Returns twice the signed area of a polygon. */
static double signed_double_area(const double (*corner)[2], int count) {
  double sum = 0.0;
  for (int k = 0; k < count; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % count];
    sum += a[0] * b[1] - b[0] * a[1];
  }
  return sum;
}

/* Returns the distance of a point from the nearest edge of a polygon, positive inside [px]. side: sign of the polygon's
 * area. */
static double distance_inside(const double (*corner)[2], int count, double side, double x, double y) {
  double least = INFINITY;
  for (int k = 0; k < count; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % count];
    double dx = b[0] - a[0], dy = b[1] - a[1], length = math_hypot(dx, dy);
    if (length > 0.0) least = fmin(least, side * (dx * (y - a[1]) - dy * (x - a[0])) / length);
  }
  return least;
}

void image_polygon(RenderImage* image, const double (*corner)[2], int count, const uint8_t color[3], double opacity) {
  assert(count >= 3 && opacity >= 0 && opacity <= 1);
  double area = signed_double_area(corner, count), side = area < 0.0 ? -1.0 : 1.0;
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int k = 0; k < count; k++)
    for (int i = 0; i < 2; i++) {
      low[i] = fmin(low[i], corner[k][i]);
      high[i] = fmax(high[i], corner[k][i]);
    }
  if (!(fabs(area) > 0.0)) return;
  int right = clamp_index(ceil(high[0]), image->width), bottom = clamp_index(ceil(high[1]), image->height);
  for (int y = clamp_index(floor(low[1]), image->height); y < bottom; y++)
    for (int x = clamp_index(floor(low[0]), image->width); x < right; x++) {
      double share = distance_inside(corner, count, side, x + 0.5, y + 0.5) + 0.5;
      if (share > 0.0) blend(image, x, y, color, opacity * fmin(1.0, share));
    }
}

static void copy_printable(char out[TEXT_MAX + 1], const char* text) {
  size_t length = strlen(text);
  if (length > TEXT_MAX) length = TEXT_MAX;
  for (size_t i = 0; i < length; i++) out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  out[length] = '\0';
}

double image_text_width(double scale, const char* text) {
  char printable[TEXT_MAX + 1];
  copy_printable(printable, text);
  double smooth = letters_width(scale * TEXT_CAPITAL, printable);
  return smooth > 0 ? smooth : scale * stb_easy_font_width(printable);
}

static void fill_quads(RenderImage* image, double x, double y, double scale, const FontCorner* corners, int count,
                       const uint8_t color[3], double rim, double opacity) {
  for (int i = 0; i < count; i++) {
    const FontCorner *low = &corners[4 * i], *high = &corners[4 * i + 2];
    image_rectangle(image, x + scale * (double)low->x - rim, y + scale * (double)low->y - rim,
                    x + scale * (double)high->x + rim, y + scale * (double)high->y + rim, color, opacity);
  }
}

void image_backing(RenderImage* image, double x, double y, double width, double height) {
  double rim = 0.35 * height;
  image_rectangle(image, x - rim, y - rim, x + width + rim, y + height + rim, BACKING, BACKING_OPACITY);
}

typedef struct {
  RenderImage* image;
  bool rim; /* draws the border instead of the letter */
} LetterInk;

static void put_pixel(void* context, int x, int y, double share) {
  const LetterInk* ink = context;
  int reach = ink->rim ? 1 : 0;
  for (int dy = -reach; dy <= reach; dy++)
    for (int dx = -reach; dx <= reach; dx++) {
      int px = x + dx, py = y + dy;
      if (px < 0 || py < 0 || px >= ink->image->width || py >= ink->image->height) continue;
      blend(ink->image, px, py, ink->rim ? PAPER : INK, ink->rim ? RIM_OPACITY * share / 4 : share);
    }
}

static bool draw_smooth(RenderImage* image, double x, double y, double scale, const char* text) {
  LetterInk rim = {image, true}, letter = {image, false};
  double capital = scale * TEXT_CAPITAL;
  return letters_draw(x, y, capital, text, put_pixel, &rim) && letters_draw(x, y, capital, text, put_pixel, &letter);
}

void image_text(RenderImage* image, double x, double y, double scale, const char* text) {
  char printable[TEXT_MAX + 1];
  copy_printable(printable, text);
  if (draw_smooth(image, x, y, scale, printable)) return;
  int capacity = LETTER_QUADS * ((int)strlen(printable) + 1);
  FontCorner* corners = (FontCorner*)memory_alloc((size_t)capacity);
  int count = stb_easy_font_print(0, 0, printable, NULL, corners, capacity);
  fill_quads(image, x, y, scale, corners, count, PAPER, RIM, RIM_OPACITY);
  fill_quads(image, x, y, scale, corners, count, INK, 0.0, 1.0);
  memory_free(corners);
}
