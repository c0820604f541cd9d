#include <assert.h>

#include "geometry/geometry.h"

MassMoment mass_moment_zero(void) { return (MassMoment){{{0}}}; }

void mass_moment_add(MassMoment* sum, const MassMoment* term, double factor) {
  assert(sum && term);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) sum->s[i][j] += factor * term->s[i][j];
}

static MassMoment assemble_moment(double mass, Vec3 first, Mat3 second) {
  const double column[3] = {first.x, first.y, first.z};
  MassMoment moment = {{{0}}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) moment.s[i][j] = second.m[i][j];
    moment.s[i][3] = moment.s[3][i] = column[i];
  }
  moment.s[3][3] = mass;
  return moment;
}

/* Adds volume, first moment and second moment of the tetrahedron with the corners 0, a, b, c and unit density. The
 * volume V is a sixth of the determinant of (a, b, c). The first moment is V s / 4 with s = a + b + c, the second V /
 * 20 (a a^T + b b^T + c c^T + s s^T). */
static void add_tetrahedron(double* mass, Vec3* first, Mat3* second, Vec3 a, Vec3 b, Vec3 c) {
  double volume = vec3_dot(a, vec3_cross(b, c)) / 6.0;
  Vec3 sum = vec3_add(a, vec3_add(b, c));
  Mat3 squares =
      mat3_add(mat3_add(mat3_outer(a, a), mat3_outer(b, b)), mat3_add(mat3_outer(c, c), mat3_outer(sum, sum)));
  *mass += volume;
  *first = vec3_add_scaled(*first, volume / 4.0, sum);
  *second = mat3_add(*second, mat3_scale(squares, volume / 20.0));
}

MassMoment mass_moment_solid(const ConvexHull* hull) {
  if (hull->vertex_count == 0) return mass_moment_zero();
  double mass = 0;
  Vec3 first = {0, 0, 0};
  Vec3 origin = solid_origin(hull); /* a distant world origin would lose digits */
  Mat3 second = mat3_zero();
  for (int i = 0; i < hull->triangle_count; i++) {
    const int* corner = hull->triangles[i];
    add_tetrahedron(&mass, &first, &second, vec3_sub(hull->vertices[corner[0]], origin),
                    vec3_sub(hull->vertices[corner[1]], origin), vec3_sub(hull->vertices[corner[2]], origin));
  }
  MassMoment local = assemble_moment(mass, first, second);
  return mass_moment_transform(&local, (Pose){mat3_identity(), origin});
}

MassMoment mass_moment_points(const Vec3* points, int count) {
  assert(points || count <= 0);
  if (count <= 0) return mass_moment_zero();
  Vec3 first = {0, 0, 0};
  Mat3 second = mat3_zero();
  for (int i = 0; i < count; i++) {
    first = vec3_add(first, points[i]);
    second = mat3_add(second, mat3_outer(points[i], points[i]));
  }
  return assemble_moment(1.0, vec3_scale(first, 1.0 / count), mat3_scale(second, 1.0 / count));
}

/* Let P be the second moment, the integral of density times x x^T. The inertia tensor about the same point is I = tr(P)
 * E - P, with the identity E. Hence P = tr(I) / 2 E - I. */
MassMoment mass_moment_inertia(double mass, Vec3 center, const double inertia[6]) {
  assert(!(mass < 0));
  const Mat3 tensor = {{{inertia[0], inertia[3], inertia[4]},
                        {inertia[3], inertia[1], inertia[5]},
                        {inertia[4], inertia[5], inertia[2]}}};
  Mat3 about_center = mat3_sub(mat3_scale(mat3_identity(), 0.5 * mat3_trace(tensor)), tensor);
  Mat3 second = mat3_add(about_center, mat3_scale(mat3_outer(center, center), mass));
  return assemble_moment(mass, vec3_scale(center, mass), second);
}

/* Transforms the mass moment S to the frame with coordinates R x + t, for rotation R and translation t of the pose: T S
 * T^T with the 4 x 4 matrix T = (R t; 0 1). */
MassMoment mass_moment_transform(const MassMoment* moment, Pose pose) {
  assert(moment);
  double mass = moment->s[3][3];
  Vec3 first = vec3(moment->s[0][3], moment->s[1][3], moment->s[2][3]);
  Mat3 second;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) second.m[i][j] = moment->s[i][j];
  Vec3 turned = mat3_mul_vec(pose.r, first);
  second = mat3_mul(mat3_mul(pose.r, second), mat3_transpose(pose.r));
  second = mat3_add(second, mat3_add(mat3_outer(turned, pose.t), mat3_outer(pose.t, turned)));
  second = mat3_add(second, mat3_scale(mat3_outer(pose.t, pose.t), mass));
  return assemble_moment(mass, vec3_add_scaled(turned, mass, pose.t), second);
}

double mass_moment_mass(const MassMoment* moment) { return moment->s[3][3]; }

Vec3 mass_moment_center(const MassMoment* moment) {
  return vec3_scale(vec3(moment->s[0][3], moment->s[1][3], moment->s[2][3]), 1.0 / moment->s[3][3]);
}

Mat3 mass_moment_inertia_tensor(const MassMoment* moment) {
  assert(moment->s[3][3] > 0);
  Vec3 center = mass_moment_center(moment);
  Mat3 second;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) second.m[i][j] = moment->s[i][j];
  second = mat3_sub(second, mat3_scale(mat3_outer(center, center), moment->s[3][3]));
  return mat3_sub(mat3_scale(mat3_identity(), mat3_trace(second)), second);
}
