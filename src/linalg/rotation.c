#include "linalg/linalg.h"

/* Where |v| is this small against 1, two terms of a series are exact to rounding and no 0/0 can occur:
 * the next term is below 1e-16. */
#define SERIES_LIMIT 1e-4

/* Shepperd's method: take the largest of the four squared components, so that nothing is divided by a small number. */
Quat quat_from_mat3(Mat3 r) {
  double xx = r.m[0][0], yy = r.m[1][1], zz = r.m[2][2], trace = xx + yy + zz;
  Quat q;
  if (trace >= xx && trace >= yy && trace >= zz)
    q = (Quat){1 + trace, r.m[2][1] - r.m[1][2], r.m[0][2] - r.m[2][0], r.m[1][0] - r.m[0][1]};
  else if (xx >= yy && xx >= zz)
    q = (Quat){r.m[2][1] - r.m[1][2], 1 + xx - yy - zz, r.m[0][1] + r.m[1][0], r.m[0][2] + r.m[2][0]};
  else if (yy >= zz)
    q = (Quat){r.m[0][2] - r.m[2][0], r.m[0][1] + r.m[1][0], 1 + yy - xx - zz, r.m[1][2] + r.m[2][1]};
  else
    q = (Quat){r.m[1][0] - r.m[0][1], r.m[0][2] + r.m[2][0], r.m[1][2] + r.m[2][1], 1 + zz - xx - yy};
  q = quat_normalized(q);
  return q.w < 0 ? (Quat){-q.w, -q.x, -q.y, -q.z} : q;
}

/* v = 2 atan2(n, w) u / n with u the vector part and n = |u|; atan(t)/t = 1 - t^2/3 + O(t^4) for small t = n/w. */
Vec3 quat_log(Quat q) {
  double sign = q.w < 0 ? -1.0 : 1.0; /* q and -q are one rotation; the shorter way round */
  double w = sign * q.w;
  Vec3 u = vec3(sign * q.x, sign * q.y, sign * q.z);
  double n = vec3_norm(u);
  if (n < SERIES_LIMIT * w) return vec3_scale(u, 2.0 / w * (1.0 - n * n / (3.0 * w * w)));
  return vec3_scale(u, 2.0 * atan2(n, w) / n);
}

/* q = (cos a/2, sin(a/2)/a v) with a = |v|; sin(a/2)/a = 1/2 - a^2/48 + O(a^4) for small a. */
Quat quat_exp(Vec3 v) {
  double a = vec3_norm(v);
  double s = a < SERIES_LIMIT ? 0.5 - a * a / 48.0 : sin(0.5 * a) / a;
  return (Quat){cos(0.5 * a), s * v.x, s * v.y, s * v.z};
}
