/* Spheres and capsules as they are: all within a radius of a point or a segment, their core (contact.md, C6). Pictures,
 * files and whoever looks at vertices see the polyhedron inscribed. */
#include <string.h>

#include "model/build.h"

#define PI 3.14159265358979323846

bool model_takes_round(const Scene* scene, const SceneShape* shape) {
  if (!shape_is_exact(shape) || !contact_takes_round(scene->contact.model)) return false;
  for (int i = 0; i < scene->contact.pair_count; i++)
    if (scene->contact.pairs[i].has_model && !contact_takes_round(scene->contact.pairs[i].model)) return false;
  return true;
}

/* ---------------------------------------------------------------- moments of density 1 kg/m^3 in the shape's frame */

/* About the centre, axis z: int x^2 = int y^2, int z^2, volume. */
static MassMoment moment_from(double across, double along, double volume) {
  MassMoment m = mass_moment_zero();
  m.s[0][0] = m.s[1][1] = across;
  m.s[2][2] = along;
  m.s[3][3] = volume;
  return m;
}

/* A cylinder and two half-balls. length 0: a ball. */
static MassMoment moment_of(double r, double length) {
  double disk = PI * r * r, ball = 4.0 / 3 * PI * r * r * r;
  double across = disk * length * r * r / 4 + ball * r * r / 5;
  double along = disk * length * length * length / 12 + ball * (r * r / 5 + 3.0 / 8 * r * length + length * length / 4);
  return moment_from(across, along, disk * length + ball);
}

static MassMoment moment_by_radius(double r, double length) {
  double r2 = r * r, r3 = r2 * r, r4 = r2 * r2, l2 = length * length;
  double across = PI * r3 * length + 4.0 / 3 * PI * r4;
  double along = PI * r * l2 * length / 6 + 4.0 / 3 * PI * r4 + 2 * PI * r3 * length + PI * r2 * l2;
  return moment_from(across, along, 2 * PI * r * length + 4 * PI * r2);
}

static MassMoment moment_by_length(double r, double length) {
  double r2 = r * r, r3 = r2 * r, r4 = r2 * r2;
  double along = PI * r2 * length * length / 4 + PI * r4 / 2 + 2.0 / 3 * PI * r3 * length;
  return moment_from(PI * r4 / 4, along, PI * r2);
}

/* Of a capsule the distance of its two centres, else 0. */
static double length_of(const ModelSmooth* round) {
  return round->core.count < 2
             ? 0
             : vec3_norm(vec3(round->core.x[1] - round->core.x[0], round->core.y[1] - round->core.y[0],
                              round->core.z[1] - round->core.z[0]));
}

MassMoment round_moment_slope(const ModelHull* hull, int k) {
  const ModelSmooth* round = hull->smooth;
  double r = round->rounding, length = length_of(round);
  MassMoment own = k == 0 ? moment_by_radius(r, length) : moment_by_length(r, length);
  return mass_moment_transform(&own, round->pose);
}

/* ---------------------------------------------------------------- placed */

Vec3 hull_core_slope(const ModelHull* hull, int m, int k) {
  if (k == 0) return vec3(0, 0, 0);
  return mat3_mul_vec(hull->smooth->pose.r, vec3(0, 0, m == 0 ? -0.5 : 0.5));
}

Vec3 round_vertex_slope(const ModelHull* hull, int vertex, int k) {
  const ModelSmooth* round = hull->smooth;
  Vec3 local = pose_apply(pose_inverse(round->pose), hull->solid.vertices[vertex]);
  double side = length_of(round) > 0 ? copysign(0.5, local.z) : 0;
  if (k == 1) return mat3_mul_vec(round->pose.r, vec3(0, 0, side));
  local.z -= side * length_of(round);
  return mat3_mul_vec(round->pose.r, vec3_scale(local, 1 / round->rounding));
}

void place_round(ModelHull* hull, const SceneShape* shape, const ConvexHull* drawn, Pose pose) {
  place_hull(hull, drawn, pose);
  ModelSmooth* round = MEMORY_NEW(ModelSmooth, 1);
  bool capsule = shape->type == SHAPE_CAPSULE;
  double half = capsule ? 0.5 * shape->length : 0;
  Vec3 ends[2] = {pose_apply(pose, vec3(0, 0, -half)), pose_apply(pose, vec3(0, 0, half))};
  MassMoment own = moment_of(shape->radius, 2 * half);
  *round = (ModelSmooth){.pose = pose,
                         .moment = mass_moment_transform(&own, pose),
                         .resolution = shape->resolution,
                         .core = point_view_create(ends, capsule ? 2 : 1),
                         .rounding = shape->radius};
  hull->kind = &SOLID_ROUND;
  hull->smooth = round;
  hull->center = pose.t;
  Vec3 axis = vec3_scale(vec3_sub(ends[1], ends[0]), 0.5);
  hull->half_extent = vec3(fabs(axis.x) + shape->radius, fabs(axis.y) + shape->radius, fabs(axis.z) + shape->radius);
  hull->radius = half + shape->radius;
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  double height;
  *vertex = support_index(hull->points, direction, &height);
  support_index(hull->smooth->core, direction, &height);
  return height + hull->smooth->rounding * vec3_norm(direction);
}

static MassMoment moment(const ModelHull* hull) { return hull->smooth->moment; }
static double thickness(const ModelHull* hull) { return 2 * hull->smooth->rounding; }

const SolidKind SOLID_ROUND = {true, support, moment, thickness};
