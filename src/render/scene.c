#include <assert.h>
#include <string.h>
#include "render/drawing.h"

/* Number of samples per pixel. No two samples are in the same row or column of the pixel, so that steep and flat edges
 * get four levels of grey. */
enum { SAMPLES = 4 };
static const double SAMPLE_OFFSET[SAMPLES] = {0.375, 0.875, 0.125, 0.625};
#define NO_FACE UINT32_MAX

/* Samples and colours of the band of rows that a thread draws. */
typedef struct {
  float *nearness, *ghost_nearness; /* 1 / distance of the nearest face at each sample (BAND_ROWS x SAMPLES x width) */
  uint32_t *face, *ghost_face;
  float* color; /* colour of each pixel in linear light (BAND_ROWS x width x 3) */
} BandBuffers;

typedef struct {
  Drawing drawing;
  RenderImage* image;
  BandBuffers* buffers; /* one for each thread (size: threads) */
} Painting;

static void create_buffers(BandBuffers* buffers, int width, bool ghosts) {
  size_t samples = (size_t)BAND_ROWS * SAMPLES * (size_t)width;
  buffers->nearness = MEMORY_NEW(float, samples);
  buffers->face = MEMORY_NEW(uint32_t, samples);
  buffers->color = MEMORY_NEW(float, 3 * (size_t)BAND_ROWS * (size_t)width);
  if (!ghosts) return;
  buffers->ghost_nearness = MEMORY_NEW(float, samples);
  buffers->ghost_face = MEMORY_NEW(uint32_t, samples);
}

static void destroy_buffers(BandBuffers* buffers) {
  memory_free(buffers->nearness);
  memory_free(buffers->face);
  memory_free(buffers->color);
  memory_free(buffers->ghost_nearness);
  memory_free(buffers->ghost_face);
}

typedef struct {
  int width, first_row, row_count; /* image width, and rows of the band [px] */
} Band;

// NOLINTNEXTLINE(readability-non-const-parameter): raster_triangle writes through the target
static void draw_samples(const Drawing* drawing, int layer, int index, Band band, float* nearness, uint32_t* face) {
  RenderTarget target = {
      band.width, band.first_row * SAMPLES, band.row_count * SAMPLES, SAMPLES, SAMPLE_OFFSET, nearness, face};
  const int* bin = &drawing->bin_first_entry[layer * drawing->band_count + index];
  for (int i = bin[0]; i < bin[1]; i++) {
    const DrawnTriangle* piece = &drawing->triangles[drawing->bins[i]];
    raster_triangle(&target, piece->x, piece->y, drawing->faces[piece->face].nearness, piece->face);
  }
}

/* The faces at the samples of a pixel. */
typedef struct {
  uint32_t face[SAMPLES];
} PixelSamples;

static PixelSamples pixel_samples(const uint32_t* face, int width, int x) {
  PixelSamples pixel;
  for (int k = 0; k < SAMPLES; k++) pixel.face[k] = face[(size_t)k * (size_t)width + (size_t)x];
  return pixel;
}

static bool is_uniform_pixel(const uint32_t* face, int width, int x, uint32_t number) {
  PixelSamples pixel = pixel_samples(face, width, x);
  return pixel.face[0] == number && pixel.face[1] == number && pixel.face[2] == number && pixel.face[3] == number;
}

/* Sets out to the colour of a pixel with several faces: the mean over the samples. Each face is evaluated once. behind:
 * colour of samples without a face. */
static void mixed_color(const Drawing* drawing, const PixelSamples* pixel, int x, int y, bool shadowed,
                        const float behind[3], float out[3]) {
  float color[3], sum[3] = {0};
  int covered = 0;
  for (int k = 0; k < SAMPLES; k++) {
    int same = 0, before = 0;
    for (int other = 0; other < SAMPLES; other++) same += pixel->face[other] == pixel->face[k];
    for (int other = 0; other < k; other++) before += pixel->face[other] == pixel->face[k];
    if (pixel->face[k] == NO_FACE || before > 0) continue;
    face_colors(drawing, &drawing->faces[pixel->face[k]], (float)x + (float)SAMPLE_OFFSET[k],
                (float)y + ((float)k + 0.5f) / SAMPLES, 1, shadowed, color);
    for (int i = 0; i < 3; i++) sum[i] += (float)same * color[i];
    covered += same;
  }
  for (int i = 0; i < 3; i++) out[i] = (sum[i] + (float)(SAMPLES - covered) * behind[i]) / SAMPLES;
}

/* Returns the number of consecutive pixels from x on whose samples all show the same face. */
static int run_length(const uint32_t* face, int width, int x, uint32_t number) {
  assert(x >= 0 && x < width);
  int end = x;
  while (end < width && is_uniform_pixel(face, width, end, number)) end++;
  return end - x;
}

/* Computes the colours of one row of pixels. face: faces at the samples of the row. */
static void color_row(const Drawing* drawing, const uint32_t* face, int width, int y, float* out) {
  float grey = background_grey(drawing, (float)y + 0.5f), behind[3] = {grey, grey, grey};
  for (int x = 0; x < width;) {
    uint32_t number = face[x];
    int count = run_length(face, width, x, number);
    if (count == 0) {
      PixelSamples pixel = pixel_samples(face, width, x);
      mixed_color(drawing, &pixel, x, y, true, behind, out + 3 * x);
      count = 1;
    } else if (number == NO_FACE) {
      for (int i = 3 * x; i < 3 * (x + count); i++) out[i] = grey;
    } else {
      face_colors(drawing, &drawing->faces[number], (float)x + 0.5f, (float)y + 0.5f, count, true, out + 3 * x);
    }
    x += count;
  }
}

/* Blends a ghost over a row of pixels: out += opacity (ghost - out) where it covers a pixel. */
static void blend_row(const Drawing* drawing, const uint32_t* face, int width, int y, float opacity, float* out) {
  for (int x = 0; x < width; x++) {
    float color[3], *shown = out + 3 * x;
    if (is_uniform_pixel(face, width, x, NO_FACE)) continue;
    PixelSamples pixel = pixel_samples(face, width, x);
    mixed_color(drawing, &pixel, x, y, false, shown, color);
    for (int k = 0; k < 3; k++) shown[k] += opacity * (color[k] - shown[k]);
  }
}

static void store_band(const RenderStage* stage, Band band, const float* color, RenderImage* image) {
  uint8_t* out = image->rgb + 3 * (size_t)band.first_row * (size_t)band.width;
  size_t count = 3 * (size_t)band.row_count * (size_t)band.width;
  for (size_t i = 0; i < count; i++) {
    float tone = color[i] * (STAGE_TONES - 1) + 0.5f;
    out[i] = stage->srgb[tone > 0.0f ? tone < STAGE_TONES - 1 ? (int)tone : STAGE_TONES - 1 : 0];
  }
}

static void draw_band(void* context, int index, int thread) {
  const Painting* painting = context;
  const Drawing* drawing = &painting->drawing;
  BandBuffers* buffers = &painting->buffers[thread];
  Band band = {painting->image->width, index * BAND_ROWS, painting->image->height - index * BAND_ROWS};
  if (band.row_count > BAND_ROWS) band.row_count = BAND_ROWS;
  size_t samples = (size_t)band.row_count * SAMPLES * (size_t)band.width;
  memset(buffers->nearness, 0, samples * sizeof(float));
  memset(buffers->face, 0xff, samples * sizeof(uint32_t));
  draw_samples(drawing, 0, index, band, buffers->nearness, buffers->face);
  size_t row_samples = (size_t)SAMPLES * (size_t)band.width, row_colors = 3 * (size_t)band.width;
  for (int row = 0; row < band.row_count; row++)
    color_row(drawing, buffers->face + (size_t)row * row_samples, band.width, band.first_row + row,
              buffers->color + (size_t)row * row_colors);
  for (int layer = 1; layer < drawing->layer_count; layer++) {
    memcpy(buffers->ghost_nearness, buffers->nearness, samples * sizeof(float));
    memset(buffers->ghost_face, 0xff, samples * sizeof(uint32_t));
    draw_samples(drawing, layer, index, band, buffers->ghost_nearness, buffers->ghost_face);
    for (int row = 0; row < band.row_count; row++)
      blend_row(drawing, buffers->ghost_face + (size_t)row * row_samples, band.width, band.first_row + row,
                (float)drawing->layers[layer].opacity, buffers->color + (size_t)row * row_colors);
  }
  store_band(drawing->stage, band, buffers->color, painting->image);
}

void render_scene(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                  int layer_count, int threads) {
  assert(layer_count >= 1 && threads >= 1);
  Painting painting = {.image = image};
  drawing_create(&painting.drawing, stage, camera, layers, layer_count);
  painting.buffers = MEMORY_NEW(BandBuffers, threads);
  for (int i = 0; i < threads; i++) create_buffers(&painting.buffers[i], image->width, layer_count > 1);
  parallel_for(threads, painting.drawing.band_count, 2, 1, draw_band, &painting);
  for (int i = 0; i < threads; i++) destroy_buffers(&painting.buffers[i]);
  memory_free(painting.buffers);
  drawing_destroy(&painting.drawing);
}
