#include "contact/center_sums.h"

static void add_arm_terms(const CenterTerms* t, int side, const Lanes h[3][3], Lanes c[3][3], CenterSums* s) {
  const Lanes* r = t->arm[side];
  int entry_index = 0;
  for (int i = 0; i < 3; i++) {
    Lanes column[3];
    lanes_cross(r, h[i], column); /* h is symmetric, so its rows are its columns */
    for (int k = 0; k < 3; k++) c[k][i] = column[k];
  }
  for (int i = 0; i < 3; i++) {
    Lanes g = t->first * t->direction[i], row[3];
    lanes_cross(r, c[i], row);
    for (int j = 0; j < 3; j++) {
      s->moment[side][3 * i + j] += g * r[j];
      s->arm_hessian[side][3 * i + j] += c[i][j];
      if (j >= i) s->arm_hessian_arm[side][entry_index++] += row[j];
    }
  }
}

void center_sums_add(CenterSums* s, const CenterTerms* t) {
  Lanes radial = t->second - t->transverse, h[3][3], c[2][3][3], row[3];
  int entry_index = 0;
  for (int i = 0; i < 3; i++) {
    s->force[i] += t->first * t->direction[i];
    for (int j = i; j < 3; j++) {
      h[i][j] = h[j][i] = radial * t->direction[i] * t->direction[j];
      if (i == j) h[i][i] += t->transverse;
      s->hessian[entry_index++] += h[i][j];
    }
  }
  for (int side = 0; side < 2; side++) add_arm_terms(t, side, h, c[side], s);
  for (int i = 0; i < 3; i++) {
    lanes_cross(t->arm[1], c[0][i], row);
    for (int j = 0; j < 3; j++) s->cross_hessian[3 * i + j] += row[j];
  }
}

static double sum_lanes(Lanes x) { return ((x[0] + x[1]) + x[2]) + x[3]; }

/* Adds `sign` times a 3x3 block to a 12x12 Hessian. corner: first entry of the block in the Hessian. If `symmetric` is
 * true, `entries` contains the upper triangle of the block by rows, and only this triangle is added. Otherwise
 * `entries` contains all nine entries by rows. */
static void add_block(const Lanes* entries, bool symmetric, double sign, double* corner) {
  for (int i = 0, entry_index = 0; i < 3; i++)
    for (int j = symmetric ? i : 0; j < 3; j++) corner[12 * i + j] += sign * sum_lanes(entries[entry_index++]);
}

/* Adds `sign` times all nine entries of a symmetric 3x3 block. Used for blocks that are not on the diagonal of the
 * Hessian. */
static void add_symmetric_block(const Lanes entries[SYMMETRIC_ENTRIES], double sign, double* corner) {
  static const int entry[FULL_ENTRIES] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  for (int k = 0; k < FULL_ENTRIES; k++) corner[12 * (k / 3) + k % 3] += sign * sum_lanes(entries[entry[k]]);
}

/* Adds `sign` times the transpose of a 3x3 block. entries: nine entries of the block by rows. */
static void add_transposed_block(const Lanes* entries, double sign, double* corner) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) corner[12 * i + j] += sign * sum_lanes(entries[3 * j + i]);
}

static Mat3 sum_matrix(const Lanes* entries, double sign) {
  Mat3 m;
  for (int i = 0; i < 9; i++) m.m[i / 3][i % 3] = sign * sum_lanes(entries[i]);
  return m;
}

/* The function sets only the upper triangle of the Hessian. The caller copies it to the lower triangle. */
void center_sums_add_to_derivatives(const CenterSums* s, bool ground, PairDerivatives* out) {
  double* h = out->hessian[0];
  Vec3 g = vec3(sum_lanes(s->force[0]), sum_lanes(s->force[1]), sum_lanes(s->force[2]));
  out->force[0] = vec3_add(out->force[0], g);
  out->force[1] = vec3_sub(out->force[1], g);
  out->moment[0] = mat3_add(out->moment[0], sum_matrix(s->moment[0], 1));
  add_block(s->arm_hessian_arm[0], true, 1, h);
  add_block(s->arm_hessian[0], false, 1, h + 3);
  add_block(s->hessian, true, 1, h + 12 * 3 + 3);
  if (ground) return;
  out->moment[1] = mat3_add(out->moment[1], sum_matrix(s->moment[1], -1));
  add_block(s->cross_hessian, false, -1, h + 6);
  add_block(s->arm_hessian[0], false, -1, h + 9);
  add_transposed_block(s->arm_hessian[1], -1, h + 12 * 3 + 6);
  add_symmetric_block(s->hessian, -1, h + 12 * 3 + 9);
  add_block(s->arm_hessian_arm[1], true, 1, h + 12 * 6 + 6);
  add_block(s->arm_hessian[1], false, 1, h + 12 * 6 + 9);
  add_block(s->hessian, true, 1, h + 12 * 9 + 9);
}
