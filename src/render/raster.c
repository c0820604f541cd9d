#include <assert.h>
#include "render/picture.h"

bool raster_plane(const double x[3], const double y[3], const double w[3], double plane[3]) {
  double x1 = x[1] - x[0], y1 = y[1] - y[0], x2 = x[2] - x[0], y2 = y[2] - y[0];
  double area = x1 * y2 - x2 * y1;
  if (!(fabs(area) > 0.0)) return false;
  double w1 = w[1] - w[0], w2 = w[2] - w[0];
  plane[1] = (w1 * y2 - w2 * y1) / area;
  plane[2] = (w2 * x1 - w1 * x2) / area;
  plane[0] = w[0] - plane[1] * x[0] - plane[2] * y[0];
  return isfinite(plane[0]) && isfinite(plane[1]) && isfinite(plane[2]);
}

/* Returns the index of the first sample at or right of `number`, clamped to 0..limit; 0 for NaN. */
static int first_sample(double number, int limit) {
  double sample = ceil(number);
  if (!(sample > 0.0)) return 0;
  return sample < limit ? (int)sample : limit;
}

/* An edge of a triangle, from its upper to its lower corner. Two triangles thus compute identical crossings on a shared
 * edge. */
typedef struct {
  double top, bottom; /* image coordinate y of the upper and the lower corner [px] */
  double x, slope;    /* image coordinate x at the upper corner [px], and its change per unit of y along the edge */
} Edge;

static Edge edge_between(const double x[3], const double y[3], int a, int b) {
  int upper = y[a] <= y[b] ? a : b, lower = y[a] <= y[b] ? b : a;
  double height = y[lower] - y[upper];
  return (Edge){y[upper], y[lower], x[upper], height > 0.0 ? (x[lower] - x[upper]) / height : 0.0};
}

/* Sets *from and *to to the range of x in which the horizontal line at height y crosses a triangle [px]. Returns false
 * if the range is empty. */
static bool row_span(const Edge edges[3], double y, double* from, double* to) {
  *from = INFINITY;
  *to = -INFINITY;
  for (int k = 0; k < 3; k++) {
    const Edge* edge = &edges[k];
    if (!(y >= edge->top && y < edge->bottom)) continue;
    double crossing = edge->x + (y - edge->top) * edge->slope;
    *from = crossing < *from ? crossing : *from;
    *to = crossing > *to ? crossing : *to;
  }
  return *to > *from;
}

/* Fills the samples first..last - 1 of a row with a triangle, whose nearness (1 / distance) at sample i is start + step
 * i. Keeps samples of nearer triangles. */
static void fill_span(float* restrict nearness, uint32_t* restrict face, int first, int last, double start, double step,
                      uint32_t number) {
  if (face) {
    for (int i = first; i < last; i++) {
      float value = (float)(start + step * i);
      bool wins = value > nearness[i];
      nearness[i] = wins ? value : nearness[i];
      face[i] = wins ? number : face[i];
    }
  } else {
    for (int i = first; i < last; i++) {
      float value = (float)(start + step * i);
      nearness[i] = value > nearness[i] ? value : nearness[i];
    }
  }
}

void raster_triangle(const RenderTarget* target, const double x[3], const double y[3], const double plane[3],
                     uint32_t face) {
  assert(target->row_count >= 0 && target->rows_per_pixel >= 1);
  double rows = target->rows_per_pixel;
  double top = fmin(fmin(y[0], y[1]), y[2]), bottom = fmax(fmax(y[0], y[1]), y[2]);
  int end = target->first_row + target->row_count;
  int first = first_sample(top * rows - 0.5, end), last = first_sample(bottom * rows - 0.5, end);
  if (first < target->first_row) first = target->first_row;
  const Edge edges[3] = {edge_between(x, y, 0, 1), edge_between(x, y, 1, 2), edge_between(x, y, 2, 0)};
  for (int row = first; row < last; row++) {
    double height = (row + 0.5) / rows, from, to;
    if (!row_span(edges, height, &from, &to)) continue;
    double offset = target->offset[row % target->rows_per_pixel];
    size_t start = (size_t)(row - target->first_row) * (size_t)target->width;
    fill_span(target->nearness + start, target->face ? target->face + start : NULL,
              first_sample(from - offset, target->width), first_sample(to - offset, target->width),
              plane[0] + plane[1] * offset + plane[2] * height, plane[1], face);
  }
}
