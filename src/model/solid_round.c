/* Exact round solids: all points within a radius of a core (contact.md, C6, C6b, C7). The core is the convex hull of
 * points, for example the corners of a rounded box, or of circles about the z axis. Pictures and files use an inscribed
 * polyhedron. */
#include <assert.h>
#include <string.h>

#include "model/build.h"

bool model_uses_round_solid(const Scene* scene, const SceneShape* shape) {
  if (!shape_is_exact(shape) || !contact_supports_round_solids(scene->contact.model)) return false;
  for (int i = 0; i < scene->contact.pair_count; i++)
    if (scene->contact.pairs[i].has_model && !contact_supports_round_solids(scene->contact.pairs[i].model))
      return false;
  return true;
}

/* Profile of a round solid of revolution about the z axis: heights z and radii of its two end circles. All members are
 * linear in the lengths of the shape. */
typedef struct {
  double z[2], radius[2], rounding;
} RoundProfile;

static RoundProfile get_profile(ShapeType type, const double* x) {
  switch (type) {
    case SHAPE_SPHERE:
      return (RoundProfile){{0, 0}, {0, 0}, x[0]};
    case SHAPE_CAPSULE:
      return (RoundProfile){{-0.5 * x[1], 0.5 * x[1]}, {0, 0}, x[0]};
    case SHAPE_CYLINDER:
      return (RoundProfile){{-0.5 * x[1], 0.5 * x[1]}, {x[0], x[0]}, 0};
    case SHAPE_WHEEL:
      return (RoundProfile){{x[2] - 0.5 * x[1], 0.5 * x[1] - x[2]}, {x[0] - x[2], x[0] - x[2]}, x[2]};
    case SHAPE_DISC:
      return (RoundProfile){{0, 0}, {x[0] - x[1], x[0] - x[1]}, x[1]};
    default: /* SHAPE_CONE */
      return (RoundProfile){{-0.5 * x[2], 0.5 * x[2]}, {x[0], x[1]}, 0};
  }
}

static int get_lengths(const SceneShape* shape, double x[ROUND_PARAMETERS_MAX]) {
  SceneShape copy = *shape;
  double* at[ROUND_PARAMETERS_MAX];
  int count = scene_shape_round_lengths(&copy, at);
  for (int k = 0; k < count; k++) x[k] = *at[k];
  return count;
}

HullResult draw_round(ConvexHull* hull, const SceneShape* shape) {
  double x[ROUND_PARAMETERS_MAX] = {0};
  get_lengths(shape, x);
  RoundProfile p = get_profile(shape->type, x);
  return primitive_circles(hull, p.z, p.radius, p.rounding, shape->segments);
}

double round_height(const SceneShape* shape, Vec3 n) {
  double x[ROUND_PARAMETERS_MAX] = {0}, highest = -HUGE_VAL;
  if (shape->type == SHAPE_ROUNDED_BOX)
    return 0.5 * (shape->size.x * fabs(n.x) + shape->size.y * fabs(n.y) + shape->size.z * fabs(n.z)) + shape->radius;
  if (shape->type == SHAPE_ROUNDED_POINTS) {
    for (int k = 0; k < shape->point_count; k++) highest = fmax(highest, vec3_dot(n, shape->points[k]));
    return highest + shape->radius;
  }
  get_lengths(shape, x);
  RoundProfile p = get_profile(shape->type, x);
  for (int end = 0; end < 2; end++)
    highest = fmax(highest, p.z[end] * n.z + p.radius[end] * sqrt(n.x * n.x + n.y * n.y));
  return highest + p.rounding;
}

static RoundProfile profile_derivative(ShapeType type, int k) {
  double unit[ROUND_PARAMETERS_MAX] = {0};
  unit[k] = 1;
  return get_profile(type, unit);
}

/* ---------------------------------------------------------------- moments of density 1 kg/m^3, frame of the shape */

/* Dual number: a value v and its derivative d with respect to one length of the solid. */
typedef struct {
  double v, d;
} LengthDual;
static LengthDual dual_add(LengthDual a, LengthDual b) { return (LengthDual){a.v + b.v, a.d + b.d}; }
static LengthDual dual_multiply(LengthDual a, LengthDual b) { return (LengthDual){a.v * b.v, a.v * b.d + a.d * b.v}; }
static LengthDual dual_scale(LengthDual a, double f) { return (LengthDual){f * a.v, f * a.d}; }
static LengthDual dual_power(LengthDual a, int n) {
  LengthDual p = {1, 0};
  for (int k = 0; k < n; k++) p = dual_multiply(p, a);
  return p;
}

/* Integrals over the volume of a solid of revolution about the z axis. across: integral of x^2, equal to the integral
 * of y^2; along: of z^2; first: of z; volume: of 1. */
typedef struct {
  LengthDual across, along, first, volume;
} SolidIntegrals;

static void add_integrals(SolidIntegrals* sum, SolidIntegrals other) {
  sum->across = dual_add(sum->across, other.across);
  sum->along = dual_add(sum->along, other.along);
  sum->first = dual_add(sum->first, other.first);
  sum->volume = dual_add(sum->volume, other.volume);
}

/* Returns the integrals over a frustum (truncated cone) about its midpoint. length: distance of its end circles. m:
 * mean radius; d: difference of the end radii, so the radius at height z is m + d z / length. */
static SolidIntegrals frustum_integrals(LengthDual m, LengthDual d, LengthDual length) {
  LengthDual m2 = dual_power(m, 2), d2 = dual_power(d, 2);
  LengthDual quartic = dual_add(dual_add(dual_power(m, 4), dual_scale(dual_multiply(m2, d2), 0.5)),
                                dual_scale(dual_power(d, 4), 1.0 / 80));
  return (SolidIntegrals){
      dual_scale(dual_multiply(length, quartic), M_PI / 4),
      dual_scale(dual_multiply(dual_power(length, 3), dual_add(dual_scale(m2, 1.0 / 12), dual_scale(d2, 1.0 / 80))),
                 M_PI),
      dual_scale(dual_multiply(dual_power(length, 2), dual_multiply(m, d)), M_PI / 6),
      dual_scale(dual_multiply(length, dual_add(m2, dual_scale(d2, 1.0 / 12))), M_PI)};
}

/* Returns the integrals over the rounded ends of a solid: all points beyond circles at z = -h and z = h, up to the
 * distance r from the circles. The radius at height z is circle_radius + sqrt(r^2 - (|z| - h)^2). */
static SolidIntegrals cap_integrals(LengthDual circle_radius, LengthDual h, LengthDual r) {
  LengthDual r2 = dual_power(r, 2), r3 = dual_power(r, 3), r4 = dual_power(r, 4), r5 = dual_power(r, 5),
             R2 = dual_power(circle_radius, 2);
  LengthDual area[3] = {
      dual_add(dual_add(dual_multiply(R2, r), dual_scale(dual_multiply(circle_radius, r2), M_PI / 2)),
               dual_scale(r3, 2.0 / 3)),
      dual_add(dual_add(dual_scale(dual_multiply(R2, r2), 0.5), dual_scale(dual_multiply(circle_radius, r3), 2.0 / 3)),
               dual_scale(r4, 0.25)),
      dual_add(
          dual_add(dual_scale(dual_multiply(R2, r3), 1.0 / 3), dual_scale(dual_multiply(circle_radius, r4), M_PI / 8)),
          dual_scale(r5, 2.0 / 15))};
  LengthDual quartic = dual_add(dual_add(dual_multiply(dual_power(circle_radius, 4), r),
                                         dual_multiply(dual_scale(dual_power(circle_radius, 3), M_PI), r2)),
                                dual_add(dual_add(dual_scale(dual_multiply(R2, r3), 4),
                                                  dual_scale(dual_multiply(circle_radius, r4), 3 * M_PI / 4)),
                                         dual_scale(r5, 8.0 / 15)));
  LengthDual along =
      dual_add(dual_add(dual_multiply(dual_power(h, 2), area[0]), dual_scale(dual_multiply(h, area[1]), 2)), area[2]);
  return (SolidIntegrals){
      dual_scale(quartic, M_PI / 2), dual_scale(along, 2 * M_PI), {0, 0}, dual_scale(area[0], 2 * M_PI)};
}

/* Returns the integrals over the solid of revolution with profile p, and their derivatives when the profile changes at
 * the rate `slope`. */
static SolidIntegrals compute_integrals(const RoundProfile* p, const RoundProfile* slope) {
  LengthDual r0 = {p->radius[0], slope->radius[0]}, r1 = {p->radius[1], slope->radius[1]},
             rounding = {p->rounding, slope->rounding}, length = {p->z[1] - p->z[0], slope->z[1] - slope->z[0]};
  SolidIntegrals sum = frustum_integrals(dual_add(dual_scale(dual_add(r0, r1), 0.5), rounding),
                                         dual_add(r1, dual_scale(r0, -1)), length);
  add_integrals(&sum, cap_integrals(r0, dual_scale(length, 0.5),
                                    rounding)); /* both circles of a rounded solid have the same radius */
  return sum;
}

/* Computes the integrals of x_i^2 over a rounded box, second[3], and its volume. h: half lengths of the core, a box; r:
 * rounding radius. The planes of the core's faces divide the rounded box into pieces. Along 3 - n axes a piece extends
 * over the core. Along the other n axes it is a part of an n-dimensional ball. */
static void box_integrals(const LengthDual h[3], LengthDual r, LengthDual second[3], LengthDual* volume) {
  static const double ball[4] = {1, 2, M_PI, 4 * M_PI / 3};              /* volume of the unit ball in n dimensions */
  static const double first[4] = {0, 1, 4.0 / 3, M_PI / 2};              /* integral of |x| over the unit ball */
  static const double square[4] = {0, 2.0 / 3, M_PI / 4, 4 * M_PI / 15}; /* integral of x^2 over the unit ball */
  *volume = second[0] = second[1] = second[2] = (LengthDual){0, 0};
  for (int outside = 0; outside < 8; outside++) {
    int n = (outside & 1) + (outside >> 1 & 1) + (outside >> 2);
    LengthDual core = {1, 0};
    for (int i = 0; i < 3; i++)
      if (!(outside >> i & 1)) core = dual_multiply(core, dual_scale(h[i], 2));
    LengthDual whole = dual_multiply(core, dual_scale(dual_power(r, n), ball[n]));
    *volume = dual_add(*volume, whole);
    for (int i = 0; i < 3; i++) {
      LengthDual h2 = dual_multiply(h[i], h[i]), within = dual_scale(dual_multiply(whole, h2), 1.0 / 3);
      LengthDual beyond = dual_add(dual_scale(dual_multiply(h[i], dual_power(r, n + 1)), 2 * first[n]),
                                   dual_scale(dual_power(r, n + 2), square[n]));
      second[i] = dual_add(second[i],
                           outside >> i & 1 ? dual_add(dual_multiply(whole, h2), dual_multiply(core, beyond)) : within);
    }
  }
}

/* Returns the mass moment of a rounded box with radius x[0] and sizes x[1] to x[3]. Unless slope is NULL, returns its
 * derivative when these lengths change at the rates slope[4]. */
static MassMoment box_moment(const double* x, const double* slope) {
  LengthDual h[3], r = {x[0], slope ? slope[0] : 0}, second[3], volume;
  for (int i = 0; i < 3; i++) h[i] = (LengthDual){0.5 * x[1 + i], slope ? 0.5 * slope[1 + i] : 0};
  box_integrals(h, r, second, &volume);
  MassMoment m = mass_moment_zero();
  for (int i = 0; i < 3; i++) m.s[i][i] = slope ? second[i].d : second[i].v;
  m.s[3][3] = slope ? volume.d : volume.v;
  return m;
}

static MassMoment assemble_moment(const SolidIntegrals* i, bool slope) {
  MassMoment m = mass_moment_zero();
  m.s[0][0] = m.s[1][1] = slope ? i->across.d : i->across.v;
  m.s[2][2] = slope ? i->along.d : i->along.v;
  m.s[2][3] = m.s[3][2] = slope ? i->first.d : i->first.v;
  m.s[3][3] = slope ? i->volume.d : i->volume.v;
  return m;
}

/* Places the core of a solid of revolution in the link frame, with the derivatives of core and mass moment with respect
 * to each length. x: lengths of the shape [m]. Returns the radius of the core's bounding sphere [m]. */
static double place_profile(ModelSmooth* round, ShapeType type, const double* x) {
  Pose pose = round->pose;
  RoundProfile p = get_profile(type, x);
  Vec3 axis = mat3_mul_vec(pose.r, vec3(0, 0, 1));
  for (int k = 0; k < round->parameter_count; k++) {
    RoundProfile by = profile_derivative(type, k);
    RoundSlope* slope = &round->slope[k];
    slope->rounding = by.rounding;
    slope->moves = true;
    for (int i = 0; i < 2; i++) {
      slope->center[i] = vec3_scale(axis, by.z[i]);
      slope->radius[i] = by.radius[i];
    }
    SolidIntegrals integrals = compute_integrals(&p, &by);
    MassMoment moment = assemble_moment(&integrals, true);
    round->moment_slope[k] = mass_moment_transform(&moment, pose);
    if (k > 0) continue;
    moment = assemble_moment(&integrals, false);
    round->moment = mass_moment_transform(&moment, pose);
  }
  Vec3 ends[2] = {pose_apply(pose, vec3(0, 0, p.z[0])), pose_apply(pose, vec3(0, 0, p.z[1]))};
  int end_count = type == SHAPE_SPHERE || type == SHAPE_DISC ? 1 : 2;
  round->core.rounding = p.rounding;
  if (type == SHAPE_SPHERE || type == SHAPE_CAPSULE) {
    round->core.points = point_view_create(ends, end_count);
  } else {
    for (int i = 0; i < end_count; i++) round->rings[i] = (Circle){ends[i], axis, p.radius[i]};
    round->core.rings = round->rings;
    round->core.ring_count = end_count;
  }
  double widest = fmax(p.radius[0], p.radius[1]), half = p.z[1];
  return sqrt(widest * widest + half * half);
}

/* Places the core of a rounded box in the link frame, with the derivatives of core and mass moment with respect to each
 * length. x: radius and sizes [m]. Corners that coincide become one point. Returns the radius of the core's bounding
 * sphere [m]. */
static double place_box(ModelSmooth* round, const double* x) {
  Vec3 corners[ROUND_CORNERS];
  int count = 0;
  for (int corner = 0; corner < ROUND_CORNERS; corner++) {
    Vec3 along[3];
    bool new = true;
    for (int i = 0; i < 3; i++) {
      double sign = corner >> i & 1 ? 0.5 : -0.5;
      Vec3 axis = vec3(round->pose.r.m[0][i], round->pose.r.m[1][i], round->pose.r.m[2][i]);
      new = new && (sign < 0 || x[1 + i] > 0);
      along[i] = x[1 + i] > 0 ? vec3_scale(axis, sign) : vec3(0, 0, 0);
    }
    if (!new) continue;
    corners[count] = round->pose.t;
    for (int i = 0; i < 3; i++) {
      corners[count] = vec3_add_scaled(corners[count], x[1 + i], along[i]);
      round->slope[1 + i].center[count] = along[i];
      round->slope[1 + i].moves = true;
    }
    count++;
  }
  round->core.points = point_view_create(corners, count);
  round->core.rounding = x[0];
  round->core_width = fmin(x[1], fmin(x[2], x[3]));
  round->slope[0].rounding = 1;
  for (int k = 0; k < round->parameter_count; k++) {
    double unit[ROUND_PARAMETERS_MAX] = {0};
    unit[k] = 1;
    MassMoment slope = box_moment(x, unit);
    round->moment_slope[k] = mass_moment_transform(&slope, round->pose);
  }
  MassMoment moment = box_moment(x, NULL);
  round->moment = mass_moment_transform(&moment, round->pose);
  return 0.5 * vec3_norm(vec3(x[1], x[2], x[3]));
}

/* Places the core of a shape of rounded points in the link frame, with the derivatives of core and mass moment with
 * respect to the radius. */
static void place_points(ModelSmooth* round, const SceneShape* shape) {
  ConvexHull core;
  if (rounded_core_create(&core, shape->points, shape->point_count) != HULL_OK) return; /* an error was added */
  MassMoment slope, moment = rounded_core_moment(&core, shape->radius, &slope);
  round->moment = mass_moment_transform(&moment, round->pose);
  round->moment_slope[0] = mass_moment_transform(&slope, round->pose);
  round->core_width = core.triangle_count > 0 ? hull_feature(&core) : 0;
  for (int i = 0; i < core.vertex_count; i++) core.vertices[i] = pose_apply(round->pose, core.vertices[i]);
  round->core.points = point_view_create(core.vertices, core.vertex_count);
  round->core.rounding = shape->radius;
  round->slope[0].rounding = 1;
  hull_free(&core);
}

void place_round(ModelHull* hull, const SceneShape* shape, const ConvexHull* drawn, Pose pose) {
  place_hull(hull, drawn, pose);
  ModelSmooth* round = MEMORY_NEW(ModelSmooth, 1);
  double x[ROUND_PARAMETERS_MAX] = {0};
  int count = get_lengths(shape, x);
  *round = (ModelSmooth){.pose = pose, .resolution = shape->resolution, .parameter_count = count};
  double radius = 0;
  if (shape->type == SHAPE_ROUNDED_POINTS)
    place_points(round, shape);
  else
    radius = shape->type == SHAPE_ROUNDED_BOX ? place_box(round, x) : place_profile(round, shape->type, x);
  hull->kind = &SOLID_ROUND;
  hull->smooth = round;
  Vec3 extent = vec3(round_support(&round->core, vec3(1, 0, 0), NULL), round_support(&round->core, vec3(0, 1, 0), NULL),
                     round_support(&round->core, vec3(0, 0, 1), NULL));
  Vec3 below =
      vec3(round_support(&round->core, vec3(-1, 0, 0), NULL), round_support(&round->core, vec3(0, -1, 0), NULL),
           round_support(&round->core, vec3(0, 0, -1), NULL));
  bool given = shape->type == SHAPE_ROUNDED_POINTS; /* the points need not be centred about the origin */
  hull->center = given ? vec3_scale(vec3_sub(extent, below), 0.5) : pose.t;
  hull->half_extent = vec3_max(vec3_sub(extent, hull->center), vec3_add(below, hull->center));
  for (int k = 0; k < round->core.points.count && given; k++)
    radius = fmax(radius, vec3_norm(vec3_sub(point_at(round->core.points, k), hull->center)));
  hull->radius = radius + round->core.rounding;
}

/* Returns the index of the circle or point of the core from which a vertex of the inscribed polyhedron was offset: the
 * circle on the vertex's side, or the nearest point. */
static int find_nearest_element(const ModelSmooth* round, Vec3 vertex) {
  const RoundBody* core = &round->core;
  Vec3 axis = mat3_mul_vec(round->pose.r, vec3(0, 0, 1));
  if (core->ring_count > 0) return core->ring_count > 1 && vec3_dot(axis, vec3_sub(vertex, round->pose.t)) > 0;
  int nearest = 0;
  for (int k = 1; k < core->points.count; k++)
    if (vec3_norm(vec3_sub(vertex, point_at(core->points, k))) <
        vec3_norm(vec3_sub(vertex, point_at(core->points, nearest))))
      nearest = k;
  return nearest;
}

/* A vertex of the inscribed polyhedron is a point of the core or of an end circle, plus an offset by the rounding
 * radius. */
Vec3 round_vertex_slope(const ModelHull* hull, int vertex, int k) {
  assert(vertex >= 0 && k >= 0);
  const ModelSmooth* round = hull->smooth;
  const RoundSlope* slope = &round->slope[k];
  const RoundBody* core = &round->core;
  int end = find_nearest_element(round, hull->solid.vertices[vertex]);
  Vec3 center = core->ring_count > 0 ? core->rings[end].center : point_at(core->points, end);
  Vec3 out = vec3_sub(hull->solid.vertices[vertex], center), radial = {0, 0, 0};
  if (core->ring_count > 0) {
    Vec3 axis = core->rings[end].axis;
    radial = vec3_project(out, axis);
    double length = vec3_norm(radial);
    radial = length > 0 ? vec3_scale(radial, 1 / length) : radial;
    out = vec3_add_scaled(out, -core->rings[end].radius, radial);
  }
  Vec3 sum = slope->moves ? slope->center[end] : vec3(0, 0, 0);
  if (core->ring_count > 0) sum = vec3_add_scaled(sum, slope->radius[end], radial);
  return core->rounding > 0 ? vec3_add_scaled(sum, slope->rounding / core->rounding, out) : sum;
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  double height;
  *vertex = support_index(hull->points, direction, &height);
  return round_support(&hull->smooth->core, direction, NULL);
}

static MassMoment moment(const ModelHull* hull) { return hull->smooth->moment; }

static double thickness(const ModelHull* hull) {
  const RoundBody* core = &hull->smooth->core;
  if (core->ring_count == 0) return hull->smooth->core_width + 2 * core->rounding;
  double length = 0, widest = 0;
  for (int k = 0; k < core->ring_count; k++) {
    length = fmax(length, vec3_norm(vec3_sub(core->rings[k].center, core->rings[0].center)));
    widest = fmax(widest, core->rings[k].radius);
  }
  return fmin(length, 2 * widest) + 2 * core->rounding;
}

const SolidKind SOLID_ROUND = {true, support, moment, thickness};
