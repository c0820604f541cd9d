/* Draws the key of the overlays: symbols with labels, and the scales of arrows and colours. */
#include "render/picture.h"

/* Sizes in the key, in heights of a capital: colour bar, symbol, gap after a symbol, gap between items, and distance of
 * lines. */
#define BAR_WIDTH 9.0
#define SYMBOL_WIDTH 1.6
#define SYMBOL_GAP 0.7
#define ITEM_GAP 2.2
#define LINE_HEIGHT 1.9
enum { ITEMS_MAX = 5, ITEM_TEXT = 80 };

typedef enum { KEY_FORCE, KEY_CONTACT, KEY_PLANE, KEY_PATH, KEY_SCALE } KeySymbol;

typedef struct {
  KeySymbol symbol;
  double width; /* width of the symbol in the key [px] */
  char text[ITEM_TEXT];
} KeyItem;

typedef struct {
  RenderImage* image;
  double letter, scale; /* height of a capital [px], and pixels per unit of text */
} KeyPen;

static int list_items(const RenderMarks* marks, const RenderStage* stage, double letter, double arrow, KeyItem* items) {
  int count = 0;
  if (stage->displacement) {
    items[count] = (KeyItem){KEY_SCALE, BAR_WIDTH * letter, ""};
    snprintf(items[count++].text, ITEM_TEXT, "0 to %.2g m moved", stage->largest_displacement);
  }
  if (marks->show & RENDER_FORCES) {
    items[count] = (KeyItem){KEY_FORCE, arrow, ""};
    snprintf(items[count++].text, ITEM_TEXT, "%g N", marks->newtons);
  }
  if (marks->show & RENDER_CONTACTS) items[count++] = (KeyItem){KEY_CONTACT, SYMBOL_WIDTH * letter, "contact"};
  if (marks->show & RENDER_PLANES) items[count++] = (KeyItem){KEY_PLANE, SYMBOL_WIDTH * letter, "separating plane"};
  if (marks->path) {
    items[count] = (KeyItem){KEY_PATH, SYMBOL_WIDTH * letter, ""};
    snprintf(items[count++].text, ITEM_TEXT, "path of %.60s", marks->path);
  }
  return count;
}

static void draw_scale(RenderImage* image, double x, double y, double width, double height) {
  for (int i = 0; i < (int)width; i++) {
    float linear[3];
    uint8_t color[3];
    displacement_color(i / (width - 1.0), linear);
    for (int k = 0; k < 3; k++) color[k] = (uint8_t)(255.0 * srgb_from_linear((double)linear[k]) + 0.5);
    image_rectangle(image, x + i, y, x + i + 1.0, y + height, color, 1.0);
  }
}

static void draw_symbol(const KeyPen* pen, const KeyItem* item, double x, double y) {
  double end = x + item->width, middle = y + 0.5 * pen->letter;
  const double square[4][2] = {{x, y}, {end, y}, {end, y + pen->letter}, {x, y + pen->letter}};
  switch (item->symbol) {
    case KEY_FORCE:
      image_arrow(pen->image, x, middle, end, middle, FORCE_COLOR);
      break;
    case KEY_CONTACT:
      image_contact_dot(pen->image, 0.5 * (x + end), middle);
      break;
    case KEY_PLANE:
      image_plane_square(pen->image, square);
      break;
    case KEY_PATH:
      image_line(pen->image, x, middle, end, middle, 0.18 * pen->letter);
      break;
    case KEY_SCALE:
      draw_scale(pen->image, x, y, item->width, pen->letter);
      break;
  }
}

void render_key(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderMarks* marks,
                double top, double letter) {
  KeyPen pen = {image, letter, letter / TEXT_CAPITAL};
  KeyItem items[ITEMS_MAX];
  double arrow = KEY_ARROW_SHARE * fmin(camera->width, camera->height), x = letter, y = top;
  int count = list_items(marks, stage, letter, arrow, items);
  for (int i = 0; i < count; i++) {
    double width = items[i].width + SYMBOL_GAP * letter + image_text_width(pen.scale, items[i].text);
    if (x > letter && x + width > image->width) {
      x = letter;
      y += LINE_HEIGHT * letter;
    }
    image_backing(image, x, y, width, letter);
    draw_symbol(&pen, &items[i], x, y);
    image_text(image, x + items[i].width + SYMBOL_GAP * letter, y, pen.scale, items[i].text);
    x += width + ITEM_GAP * letter;
  }
}
