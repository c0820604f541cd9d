#include <assert.h>

#include "geometry/geometry.h"

PointView point_view_create(const Vec3* points, int count) {
  assert(points || count == 0);
  int padded = (count + POINT_VIEW_PADDING - 1) / POINT_VIEW_PADDING * POINT_VIEW_PADDING;
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

PointView point_view_of_one(Vec3 point, double coordinates[3][POINT_VIEW_PADDING]) {
  assert(coordinates);
  for (int k = 0; k < POINT_VIEW_PADDING; k++) {
    coordinates[0][k] = point.x;
    coordinates[1][k] = point.y;
    coordinates[2][k] = point.z;
  }
  return (PointView){coordinates[0], coordinates[1], coordinates[2], 1, POINT_VIEW_PADDING};
}

void point_view_free(PointView* view) {
  union { /* discards const, because the owner frees the view */
    const double* read;
    double* writable;
  } block = {.read = view->x};
  memory_free(block.writable);
  *view = (PointView){0};
}
