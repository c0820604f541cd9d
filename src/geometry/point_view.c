#include <assert.h>

#include "geometry/geometry.h"

enum { LANES = 8 }; /* number of doubles in the widest vector register */

PointView point_view_create(const Vec3* points, int count) {
  assert(points || count == 0);
  int padded = (count + LANES - 1) / LANES * LANES;
  double* x = MEMORY_NEW(double, 3 * (size_t)padded);
  double *y = x + padded, *z = y + padded;
  for (int i = 0; i < padded; i++) {
    Vec3 p = points[i < count ? i : count - 1];
    x[i] = p.x;
    y[i] = p.y;
    z[i] = p.z;
  }
  return (PointView){x, y, z, count, padded};
}

void point_view_free(PointView* view) {
  union { /* discards const, because the owner frees the view */
    const double* read;
    double* own;
  } block = {.read = view->x};
  memory_free(block.own);
  *view = (PointView){0};
}
