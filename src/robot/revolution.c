/* Finds hulls that are nearly solids of revolution and fits round solids to them. docs/derivations/contact.md (C7)
 * describes contact of round solids. */
#include <assert.h>
#include "linalg/dense.h"
#include "robot/robot.h"

/* Largest deviation of a fit, relative to the radius of the solid. */
#define DEVIATION 0.01
/* Vertices closer to an end than this value, relative to the size of the hull, belong to the end. A direction closer to
 * an axis of the frame than this [rad] becomes the axis. */
#define END_TOLERANCE 1e-5
/* A solid with more parameters, or about another axis, replaces a fit only if its deviation is smaller by this factor.
 */
#define SIMPLICITY_FACTOR 0.99

/* Cylindrical coordinates of a point or of a face normal: distance from the axis and height along the axis. */
typedef struct {
  double radius, z;
} Meridian;

/* A candidate solid: convex hull of two circles about the axis, enlarged by a rounding radius. z[k], radius[k]: height
 * along the axis and radius of circle k [m]. */
typedef struct {
  double z[2], radius[2], rounding;
} Trapezoid;

typedef struct {
  const ConvexHull* hull;
  Vec3 axis, center;
  double low, high, widest, end_radius[2]; /* heights of both ends, largest radius, radii at the ends [m] */
} AxialProfile;

static Meridian compute_meridian(const AxialProfile* p, Vec3 x) {
  double z = vec3_dot(p->axis, x);
  return (Meridian){vec3_norm(vec3_add_scaled(x, -z, p->axis)), z};
}

static AxialProfile compute_profile(const ConvexHull* hull, Vec3 center, Vec3 axis) {
  AxialProfile p = {.hull = hull, .axis = axis, .center = center, .low = HUGE_VAL, .high = -HUGE_VAL};
  for (int i = 0; i < hull->vertex_count; i++) {
    Meridian m = compute_meridian(&p, vec3_sub(hull->vertices[i], center));
    p.low = fmin(p.low, m.z);
    p.high = fmax(p.high, m.z);
    p.widest = fmax(p.widest, m.radius);
  }
  double near = END_TOLERANCE * (p.high - p.low + p.widest);
  for (int i = 0; i < hull->vertex_count; i++) {
    Meridian m = compute_meridian(&p, vec3_sub(hull->vertices[i], center));
    if (m.z < p.low + near) p.end_radius[0] = fmax(p.end_radius[0], m.radius);
    if (m.z > p.high - near) p.end_radius[1] = fmax(p.end_radius[1], m.radius);
  }
  for (int k = 0; k < 2; k++)
    if (p.end_radius[k] < near) p.end_radius[k] = 0;
  return p;
}

static double distance_from_segment(Meridian x, double r0, double z0, double r1, double z1) {
  double dr = r1 - r0, dz = z1 - z0, square = dr * dr + dz * dz;
  double t = square > 0 ? ((x.radius - r0) * dr + (x.z - z0) * dz) / square : 0;
  t = fmin(fmax(t, 0), 1);
  double er = x.radius - r0 - t * dr, ez = x.z - z0 - t * dz;
  return sqrt(er * er + ez * ez);
}

/* Returns the distance of the point x from the solid [m], or 0 if x is inside. */
static double distance_outside(const Trapezoid* t, Meridian x) {
  double length = t->z[1] - t->z[0];
  double at = length > 0 ? (x.z - t->z[0]) / length : 0;
  bool inside = x.z >= t->z[0] && x.z <= t->z[1] && x.radius <= t->radius[0] + at * (t->radius[1] - t->radius[0]);
  if (inside) return 0;
  double low = distance_from_segment(x, 0, t->z[0], t->radius[0], t->z[0]);
  double high = distance_from_segment(x, 0, t->z[1], t->radius[1], t->z[1]);
  double side = distance_from_segment(x, t->radius[0], t->z[0], t->radius[1], t->z[1]);
  return fmax(fmin(fmin(low, high), side) - t->rounding, 0);
}

static double support_distance(const Trapezoid* t, Meridian n) {
  return fmax(t->z[0] * n.z + t->radius[0] * n.radius, t->z[1] * n.z + t->radius[1] * n.radius) + t->rounding;
}

/* Returns the deviation between a solid and the hull [m]: the largest distance of a hull vertex outside the solid, or
 * of the solid beyond the plane of a face. */
static double compute_deviation(const AxialProfile* p, const Trapezoid* t) {
  const ConvexHull* hull = p->hull;
  double worst = 0;
  for (int i = 0; i < hull->vertex_count; i++)
    worst = fmax(worst, distance_outside(t, compute_meridian(p, vec3_sub(hull->vertices[i], p->center))));
  for (int k = 0; k < hull->triangle_count; k++) {
    Vec3 a = vec3_sub(hull->vertices[hull->triangles[k][0]], p->center);
    Vec3 b = vec3_sub(hull->vertices[hull->triangles[k][1]], p->center);
    Vec3 c = vec3_sub(hull->vertices[hull->triangles[k][2]], p->center);
    Vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    double area = vec3_norm(n);
    if (!(area > 0)) continue;
    n = vec3_scale(n, 1 / area);
    worst = fmax(worst, support_distance(t, compute_meridian(p, n)) - vec3_dot(n, a));
  }
  return worst;
}

/* Returns x with all components below `threshold` in magnitude set to zero. */
static Vec3 snap_to_zero(Vec3 x, double threshold) {
  assert(threshold >= 0);
  return vec3(fabs(x.x) < threshold ? 0 : x.x, fabs(x.y) < threshold ? 0 : x.y, fabs(x.z) < threshold ? 0 : x.z);
}

/* Returns the smallest rotation that maps the z axis to a unit vector. For -z, returns half a turn about x. */
static Quat rotation_of_z(Vec3 axis) {
  double w = 1 + axis.z;
  return w > 0 ? quat_normalized((Quat){w, 0 - axis.y, 0 + axis.x, 0}) : (Quat){0, 1, 0, 0};
}

/* Replaces the best fit by a solid if the solid's deviation is smaller. The origin of the solid's frame is halfway
 * between its ends. */
static void try_solid(const AxialProfile* p, ShapeType type, Trapezoid t, RobotRound lengths, RobotRound* best) {
  double deviation = compute_deviation(p, &t);
  if (!(deviation < SIMPLICITY_FACTOR * best->deviation)) return;
  Vec3 position = vec3_add_scaled(p->center, 0.5 * (p->low + p->high), p->axis);
  double threshold = END_TOLERANCE * (p->high - p->low + p->widest);
  *best = lengths;
  best->type = type;
  best->deviation = deviation;
  best->position = snap_to_zero(position, threshold);
  best->rotation = type == SHAPE_SPHERE ? quat_identity() : rotation_of_z(p->axis);
}

static void try_profile(const AxialProfile* p, RobotRound* best) {
  double R = p->widest, length = p->high - p->low, middle = 0.5 * (p->low + p->high), half = 0.5 * length - R;
  double rim = R - fmax(p->end_radius[0], p->end_radius[1]), flat = 1e-3 * R;
  if (fabs(half) < DEVIATION * R)
    try_solid(p, SHAPE_SPHERE, (Trapezoid){{middle, middle}, {0, 0}, R}, (RobotRound){.radius = R}, best);
  try_solid(p, SHAPE_CYLINDER, (Trapezoid){{p->low, p->high}, {R, R}, 0}, (RobotRound){.radius = R, .length = length},
            best);
  if (half > flat)
    try_solid(p, SHAPE_CAPSULE, (Trapezoid){{middle - half, middle + half}, {0, 0}, R},
              (RobotRound){.radius = R, .length = 2 * half}, best);
  if (fabs(p->end_radius[0] - p->end_radius[1]) > flat)
    try_solid(p, SHAPE_CONE, (Trapezoid){{p->low, p->high}, {p->end_radius[0], p->end_radius[1]}, 0},
              (RobotRound){.bottom_radius = p->end_radius[0], .top_radius = p->end_radius[1], .length = length}, best);
  if (0.5 * length < R - flat)
    try_solid(p, SHAPE_DISC, (Trapezoid){{middle, middle}, {R - 0.5 * length, R - 0.5 * length}, 0.5 * length},
              (RobotRound){.radius = R, .rim = 0.5 * length}, best);
  if (rim > flat && rim < 0.5 * length - flat && rim < R - flat)
    try_solid(p, SHAPE_WHEEL, (Trapezoid){{p->low + rim, p->high - rim}, {R - rim, R - rim}, rim},
              (RobotRound){.radius = R, .width = length, .rim = rim}, best);
}

/* Returns the unit direction of an axis with a positive largest component. A direction close to an axis of the frame
 * becomes this axis. */
static Vec3 canonical_axis(Vec3 axis) {
  double x = fabs(axis.x), y = fabs(axis.y), z = fabs(axis.z);
  double largest = x > y && x > z ? axis.x : y > z ? axis.y : axis.z;
  return vec3_scale(vec3_normalized(snap_to_zero(axis, END_TOLERANCE)), largest < 0 ? -1 : 1);
}

static void try_axes(const ConvexHull* hull, Vec3 center, Mat3 tensor, RobotRound* best) {
  double values[3];
  if (!dense_eigen(3, tensor.m[0], values)) return;
  for (int k = 0; k < 3; k++) {
    AxialProfile p =
        compute_profile(hull, center, canonical_axis(vec3(tensor.m[k][0], tensor.m[k][1], tensor.m[k][2])));
    bool points_down = !(p.end_radius[0] > 0) && p.end_radius[1] > 0; /* the apex of a cone is at +z */
    if (points_down) p = compute_profile(hull, center, vec3_scale(p.axis, -1));
    try_profile(&p, best);
  }
}

/* Returns the sum over all faces of area n n^T, where n is the unit normal of the face. Its principal axes are
 * candidates for the axis of revolution. */
static Mat3 facet_tensor(const ConvexHull* hull) {
  Mat3 sum = mat3_zero();
  for (int k = 0; k < hull->triangle_count; k++) {
    const int* t = hull->triangles[k];
    Vec3 a = hull->vertices[t[0]];
    Vec3 n = vec3_cross(vec3_sub(hull->vertices[t[1]], a), vec3_sub(hull->vertices[t[2]], a));
    double area = vec3_norm(n);
    if (area > 0) sum = mat3_add(sum, mat3_scale(mat3_outer(n, n), 1 / area));
  }
  return sum;
}

bool robot_round_fit(const ConvexHull* hull, RobotRound* fit) {
  assert(hull->vertex_count > 0);
  *fit = (RobotRound){.deviation = HUGE_VAL};
  if (hull->vertex_count < 4) return false;
  MassMoment moment = mass_moment_solid(hull);
  if (!(mass_moment_mass(&moment) > 0)) return false;
  Vec3 center = mass_moment_center(&moment);
  /* A cylinder of length sqrt(3) radii has three equal moments of inertia; the facet tensor determines its axis. */
  try_axes(hull, center, mass_moment_inertia_tensor(&moment), fit);
  try_axes(hull, center, facet_tensor(hull), fit);
  fit->relative = fit->deviation / fmax(fit->radius, fmax(fit->bottom_radius, fit->top_radius));
  return fit->relative < DEVIATION;
}

/* Returns the first use of a shape in a link, or NULL if the link does not use the shape or the shape has several
 * hulls. */
static const SceneShapeUse* find_undivided_use(const Scene* scene, const Model* model, int link, int shape) {
  const SceneShapeUse* use = NULL;
  int balance = 0;
  for (int k = scene->links[link].shape_count - 1; k >= 0; k--)
    if (scene->links[link].shapes[k].shape == shape) use = &scene->links[link].shapes[k], balance++;
  for (int k = 0; k < model->hull_count; k++) balance -= model->hulls[k].shape == shape && model->hulls[k].link == link;
  return balance == 0 ? use : NULL;
}

int robot_round_shape(const Scene* scene, const Model* model, int shape, RobotRound* fit) {
  assert(shape >= 0 && shape < scene->shape_count);
  const SceneShape* solid = &scene->shapes[shape];
  bool given = solid->type == SHAPE_MESH || (solid->type == SHAPE_POINTS && !solid->decomposed);
  if (!given || solid->triangles || solid->replaced) return -1;
  int h = 0;
  while (h < model->hull_count && model->hulls[h].shape != shape) h++;
  if (h == model->hull_count || model->hulls[h].kind != &SOLID_HULL) return -1;
  const SceneShapeUse* use = find_undivided_use(scene, model, model->hulls[h].link, shape);
  if (!use) return -1;
  Pose pose = {mat3_from_quat(use->rotation), use->position};
  ConvexHull hull = model->hulls[h].solid;
  hull.vertices = MEMORY_NEW(Vec3, hull.vertex_count);
  for (int i = 0; i < hull.vertex_count; i++)
    hull.vertices[i] = pose_apply_inverse(pose, model->hulls[h].solid.vertices[i]);
  bool fits = robot_round_fit(&hull, fit);
  memory_free(hull.vertices);
  return fits ? model->hulls[h].link : -1;
}

void robot_append_round_yaml(const RobotRound* fit, Text* out) {
  switch (fit->type) {
    case SHAPE_SPHERE:
      text_add(out, "type: sphere, radius: %.6g", fit->radius);
      return;
    case SHAPE_CONE:
      text_add(out, "type: cone, bottom_radius: %.6g, top_radius: %.6g, length: %.6g", fit->bottom_radius,
               fit->top_radius, fit->length);
      return;
    case SHAPE_DISC:
      text_add(out, "type: disc, radius: %.6g, rim: %.6g", fit->radius, fit->rim);
      return;
    case SHAPE_WHEEL:
      text_add(out, "type: wheel, radius: %.6g, width: %.6g, rim: %.6g", fit->radius, fit->width, fit->rim);
      return;
    default:
      text_add(out, "type: %s, radius: %.6g, length: %.6g", fit->type == SHAPE_CAPSULE ? "capsule" : "cylinder",
               fit->radius, fit->length);
  }
}
