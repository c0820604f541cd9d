/* Draws antialiased text in DejaVu Sans with stb_truetype. The font is embedded in the program, so that images are the
 * same on every machine. A build without the font uses stb_easy_font (text.c). */
#include <math.h>
#include <string.h>

#include "render/picture.h"

#define FONT_FILE "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

#if __has_include(FONT_FILE) && __has_include(<stb/stb_truetype.h>)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#define STBTT_cos(x) math_cos(x)
#define STBTT_acos(x) math_acos(x)
#define STBTT_pow(x, y) math_pow(x, y)
#define STBTT_malloc(size, user) ((void)(user), memory_alloc(size))
#define STBTT_free(data, user) ((void)(user), memory_free(data))
#include <stb/stb_truetype.h>
#pragma GCC diagnostic pop

__asm__(
    ".pushsection .rodata\n"
    ".local sdrs_font\n"
    "sdrs_font: .incbin \"" FONT_FILE
    "\"\n"
    ".byte 0\n"
    ".popsection\n");
extern const unsigned char sdrs_font[] __attribute__((visibility("hidden")));

/* Height of a capital relative to the em square of the font. */
#define CAPITAL_SHARE 0.729
/* Largest width and height of a letter [px]. Larger letters are not drawn. */
enum { SIDE_MAX = 256 };

static bool open_font(stbtt_fontinfo* font) {
  return stbtt_InitFont(font, sdrs_font, stbtt_GetFontOffsetForIndex(sdrs_font, 0)) != 0;
}

/* Returns the font scale for capitals of height `capital` [px]. */
static float scale_for(const stbtt_fontinfo* font, double capital) {
  return stbtt_ScaleForMappingEmToPixels(font, (float)(capital / CAPITAL_SHARE));
}

static double advance_of(const stbtt_fontinfo* font, float scale, const char* text) {
  int advance, bearing;
  stbtt_GetCodepointHMetrics(font, (unsigned char)text[0], &advance, &bearing);
  double width = (double)scale * advance;
  if (text[1]) width += (double)scale * stbtt_GetCodepointKernAdvance(font, text[0], text[1]);
  return width;
}

double letters_width(double capital, const char* text) {
  stbtt_fontinfo font;
  double width = 0;
  if (!open_font(&font)) return 0;
  float scale = scale_for(&font, capital);
  for (; *text; text++) width += advance_of(&font, scale, text);
  return width;
}

bool letters_draw(double x, double y, double capital, const char* text, LetterPixel put, void* context) {
  stbtt_fontinfo font;
  unsigned char pixels[SIDE_MAX * SIDE_MAX];
  if (!open_font(&font)) return false;
  float scale = scale_for(&font, capital);
  double baseline = floor(y + capital + 0.5); /* aligns capitals with the pixel grid */
  for (; *text; text++) {
    int left, top, right, bottom;
    double whole = floor(x), part = x - whole;
    stbtt_GetCodepointBitmapBoxSubpixel(&font, (unsigned char)*text, scale, scale, (float)part, 0, &left, &top, &right,
                                        &bottom);
    int width = right - left, height = bottom - top;
    if (width > 0 && height > 0 && width <= SIDE_MAX && height <= SIDE_MAX) {
      stbtt_MakeCodepointBitmapSubpixel(&font, pixels, width, height, width, scale, scale, (float)part, 0,
                                        (unsigned char)*text);
      for (int i = 0; i < width * height; i++)
        if (pixels[i] > 0)
          put(context, (int)whole + left + i % width, (int)baseline + top + i / width, pixels[i] / 255.0);
    }
    x += advance_of(&font, scale, text);
  }
  return true;
}

#else

double letters_width(double capital, const char* text) {
  (void)capital, (void)text;
  return 0;
}

bool letters_draw(double x, double y, double capital, const char* text, LetterPixel put, void* context) {
  (void)x, (void)y, (void)capital, (void)text, (void)put, (void)context;
  return false;
}

#endif
