/* Converts derivatives of a scalar with respect to poses into derivatives with respect to joint increments
 * (docs/derivations/adjoint.md, A1). */
#include <assert.h>

#include "simulate/terms.h"

static int span_link(LinkSpan span, int k) { return span.links ? span.links[k] : k; }

void pose_bars_sum_forces(const Model* m, LinkSpan span, const Pose* pose, double (*bar)[3][4], Vec3* force,
                          Mat3* moment) {
  for (int k = 0; k < span.count; k++) {
    int i = span_link(span, k);
    const double(*by)[4] = (const double(*)[4])bar[i];
    force[i] = pose_matrix_translation(by);
    moment[i] = mat3_mul(pose_matrix_rotation(by),
                         mat3_transpose(pose[i].r)); /* sum g r^T, the first moment about the frame origin */
  }
  for (int k = span.count - 1; k >= 0; k--) {
    int i = span_link(span, k), up = m->links[i].parent;
    if (up < 0 || (span.links && m->links[up].tree < 0)) continue;
    Mat3 arm = mat3_outer(force[i], vec3_sub(pose[i].t, pose[up].t));
    moment[up] = mat3_add(moment[up], mat3_add(moment[i], arm));
    force[up] = vec3_add(force[up], force[i]);
  }
}

void pose_bars_reduce(const Model* m, LinkSpan span, const Pose* pose, const Screw* screws, const Vec3* force,
                      const Mat3* moment, double* reduced) {
  for (int k = 0; k < span.count; k++) {
    int i = span_link(span, k);
    Vec3 torque = mat3_axial(moment[i]);
    for (int dof = m->links[i].dof_first; dof < m->links[i].dof_first + m->links[i].dof_count; dof++)
      reduced[dof] += vec3_dot(screws[dof].w, torque) + vec3_dot(screw_velocity(&screws[dof], pose[i].t), force[i]);
  }
}
