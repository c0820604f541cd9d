/* Exact arithmetic of integer planes and their intersections (docs/derivations/union.md). */
#include "geometry/union.h"

/* Scale of integer plane coefficients, 2^40. Determinants of 3x3 coefficients then stay below 2^123 and fit 127 bits.
 * Planes are rounded by less than 1e-12 of the size. */
#define UNIT 1099511627776.0

ExactPlane exact_plane(Vec3 normal, double offset) {
  return (ExactPlane){
      {llround(UNIT * normal.x), llround(UNIT * normal.y), llround(UNIT * normal.z), llround(UNIT * offset)}};
}

/* Returns the determinant of columns i, j, k of three planes. */
static __int128 minor(const ExactPlane* const rows[3], int i, int j, int k) {
  const int64_t *a = rows[0]->row, *b = rows[1]->row, *c = rows[2]->row;
  __int128 jk = (__int128)b[j] * c[k] - (__int128)b[k] * c[j];
  __int128 ik = (__int128)b[i] * c[k] - (__int128)b[k] * c[i];
  __int128 ij = (__int128)b[i] * c[j] - (__int128)b[j] * c[i];
  return a[i] * jk - a[j] * ik + a[k] * ij;
}

/* Solves n . y = -o for three planes with normals n and offsets o by Cramer's rule (U1). */
bool exact_intersection(ExactPoint* point, const ExactPlane* a, const ExactPlane* b, const ExactPlane* c) {
  const ExactPlane* const rows[3] = {a, b, c};
  point->w[0] = -minor(rows, 3, 1, 2);
  point->w[1] = -minor(rows, 0, 3, 2);
  point->w[2] = -minor(rows, 0, 1, 3);
  point->w[3] = minor(rows, 0, 1, 2);
  bool negative = point->w[3] < 0;
  for (int k = 0; k < 4; k++)
    if (negative) point->w[k] = -point->w[k];
  return point->w[3] > 0;
}

/* The sign of n . y + o equals the sign of a sum of four products of 123-bit and 41-bit integers. The sum is evaluated
 * in two halves, the lower half with 64 bits (U2). */
int exact_side(const ExactPlane* plane, const ExactPoint* point) {
  __int128 high = 0, low = 0;
  for (int k = 0; k < 4; k++) {
    high += (point->w[k] >> 64) * plane->row[k];
    low += (__int128)(uint64_t)point->w[k] * plane->row[k];
  }
  high += low >> 64;
  if (high != 0) return high < 0 ? -1 : 1;
  return (uint64_t)low != 0;
}

Vec3 exact_position(const ExactPoint* point) {
  double d = (double)point->w[3];
  return vec3((double)point->w[0] / d, (double)point->w[1] / d, (double)point->w[2] / d);
}
