/* Range sensors: distances from the origin of a link's frame along the axes of the frame to the surfaces of other links
 * (docs/derivations/observables.md, O30). */
#include <assert.h>

#include "differentiate/observe.h"

/* Distance from a surface at which its normal is computed, relative to the size of the ray. Nearer points lose the
 * direction of the normal in rounding errors of the distance. */
#define NORMAL_DISTANCE 1e-7
/* Distance below which a point counts as on the surface, relative to the size of the ray. */
#define SURFACE_DISTANCE 1e-12
/* A ray whose direction and a half-space's surface enclose a smaller angle than this is parallel to the surface, within
 * rounding errors of poses [rad]. */
#define PARALLEL 1e-12
/* Largest number of distances for one hull. A ray that needs more touches the hull in a grazing point. */
enum { DISTANCES_MAX = 100 };

typedef struct {
  Vec3 origin, direction; /* world frame [m]; unit vector */
  double size;            /* scale of rounding errors [m] */
} Ray;

/* First point of a ray on a hull. */
typedef struct {
  const ModelHull* hull; /* NULL if the ray meets no hull */
  double distance;       /* distance from the origin along the ray [m]; 0 if the origin is inside of the hull */
  Vec3 normal;           /* unit normal of the surface, directed into the hull, world frame */
  int count, vertex[4];  /* vertices that define the surface at the point; count is 0 for half-spaces and bodies with
                            circles */
  double weight[4];      /* weights of these vertices */
} RayHit;

static Vec3 ray_point(const Ray* ray, double distance) {
  return vec3_add_scaled(ray->origin, distance, ray->direction);
}

static RayHit meet_half_space(const Ray* ray, const ModelHull* hull, Pose pose) {
  Vec3 out = mat3_mul_vec(pose.r, hull->normal);
  double height = vec3_dot(out, vec3_sub(ray->origin, pose.t)) - hull->offset, descent = -vec3_dot(out, ray->direction);
  if (height > 0 && !(descent > PARALLEL)) return (RayHit){0};
  return (RayHit){
      .hull = hull, .distance = fmax(height, 0) / (height > 0 ? descent : 1), .normal = vec3_scale(out, -1)};
}

/* Returns the distance along the ray at which it enters a ball, 0 inside, HUGE_VAL if the ray misses the ball. */
static double enter_ball(const Ray* ray, Vec3 center, double radius) {
  Vec3 to = vec3_sub(center, ray->origin);
  double along = vec3_dot(to, ray->direction), square = along * along + radius * radius - vec3_dot(to, to);
  if (!(square >= 0)) return HUGE_VAL;
  double half = sqrt(square);
  return along + half < 0 ? HUGE_VAL : fmax(along - half, 0);
}

/* Nearest point of a hull as seen from a point of the ray. */
typedef struct {
  GjkResult nearest;
  GjkCache simplex;
} Sight;

static Sight look(const Ray* ray, double distance, const RoundBody* body, Pose pose) {
  _Alignas(64) double coordinates[3][POINT_VIEW_PADDING];
  RoundBody point = {.points = point_view_of_one(vec3(0, 0, 0), coordinates)};
  Pose at = {mat3_identity(), ray_point(ray, distance)};
  Sight sight = {.simplex = {0}};
  sight.nearest = round_distance(&point, at, body, pose, &sight.simplex);
  return sight;
}

static void set_weights(RayHit* hit, const Sight* sight, const RoundBody* body, Pose pose, Vec3 from) {
  Vec3 corner[4];
  hit->count = sight->simplex.count;
  for (int i = 0; i < hit->count; i++) {
    hit->vertex[i] = sight->simplex.b[i];
    corner[i] = vec3_sub(pose_apply(pose, point_at(body->points, hit->vertex[i])), from);
  }
  loss_nearest_weights(corner, hit->count, hit->weight);
}

/* Finds the first point of a bounded hull on the ray by Newton's method on the distance of the ray's point from the
 * hull (O30). The distance is convex along the ray, so the method does not pass the surface. */
static RayHit meet_bounded(const Ray* ray, const ModelHull* hull, Pose pose) {
  RoundBody body = hull_contact_geometry(hull);
  double distance = enter_ball(ray, pose_apply(pose, hull->center), hull->radius * (1 + NORMAL_DISTANCE));
  if (distance == HUGE_VAL) return (RayHit){0};
  double reached = 0;
  for (int i = 0; i < DISTANCES_MAX; i++) {
    GjkResult nearest = look(ray, distance, &body, pose).nearest;
    if (!(nearest.distance > SURFACE_DISTANCE * ray->size)) {
      if (i == 0 && distance == 0) return (RayHit){.hull = hull};
      break;
    }
    double approach = vec3_dot(nearest.normal, ray->direction);
    if (!(approach > 0) || i == DISTANCES_MAX - 1) return (RayHit){0};
    reached = approach;
    distance += nearest.distance / approach;
  }
  double back = distance - NORMAL_DISTANCE * ray->size / reached;
  Sight sight = look(ray, back, &body, pose);
  double approach = vec3_dot(sight.nearest.normal, ray->direction);
  if (!(approach > 0)) return (RayHit){0};
  RayHit hit = {.hull = hull, .distance = distance, .normal = sight.nearest.normal};
  if (body.ring_count == 0) set_weights(&hit, &sight, &body, pose, ray_point(ray, back));
  return hit;
}

/* Returns true if the sensor on a link does not see the other link: the link itself, and the parent to which the link
 * is fixed. */
static bool is_transparent(const Model* model, int link, int other) {
  const ModelLink* sensor = &model->links[link];
  return other == link || (sensor->parent == other && sensor->dof_count == 0);
}

static RayHit find_hit(const Observation* o, int link, int axis, double sign) {
  const Model* model = o->model;
  const Pose* pose = o->pose[1];
  const double(*r)[3] = pose[link].r.m;
  Ray ray = {pose[link].t, vec3_scale(vec3(r[0][axis], r[1][axis], r[2][axis]), sign), 0};
  RayHit first = {.distance = HUGE_VAL};
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    if (is_transparent(model, link, hull->link)) continue;
    Pose at = pose[hull->link];
    ray.size = hull->kind->bounded ? vec3_norm(vec3_sub(pose_apply(at, hull->center), ray.origin)) + hull->radius : 0;
    RayHit hit = hull->kind->bounded ? meet_bounded(&ray, hull, at) : meet_half_space(&ray, hull, at);
    if (hit.hull && hit.distance < first.distance) first = hit;
  }
  return first;
}

void range_value(const Observation* o, int link, double* out) {
  for (int k = 0; k < OBSERVABLE_COLUMNS; k++) {
    RayHit hit = find_hit(o, link, k / 2, k % 2 ? -1 : 1);
    out[k] = hit.hull ? hit.distance : (double)NAN;
  }
}

/* Returns the derivative of the support function of the core of a round solid and of its rounding with respect to a
 * length of the solid, which is the displacement of the surface along its outward normal. out: link frame. */
static double round_height_slope(const ModelHull* hull, int parameter, Vec3 out) {
  const ModelSmooth* smooth = hull->smooth;
  const RoundSlope* slope = &smooth->slope[parameter];
  if (!slope->moves) return slope->rounding;
  double highest = -HUGE_VAL, found = 0;
  for (int i = 0; i < smooth->core.ring_count; i++) {
    const Circle* ring = &smooth->core.rings[i];
    double across = vec3_norm(vec3_cross(ring->axis, out)),
           height = vec3_dot(out, ring->center) + ring->radius * across;
    if (height <= highest) continue;
    highest = height;
    found = vec3_dot(out, slope->center[i]) + slope->radius[i] * across;
  }
  for (int i = 0; smooth->core.ring_count == 0 && i < smooth->core.points.count; i++) {
    double height = vec3_dot(out, point_at(smooth->core.points, i));
    if (height <= highest) continue;
    highest = height;
    found = vec3_dot(out, slope->center[i]);
  }
  return slope->rounding + found;
}

/* Adds the derivatives with respect to the shape of the hull. slope: derivative of the loss with respect to the
 * displacement of the surface along hit->normal. */
static void add_shape_derivatives(const RayHit* hit, Pose pose, double slope, LossSeeds* seeds) {
  const ModelHull* hull = hit->hull;
  Vec3 normal = mat3_tmul_vec(pose.r, hit->normal);
  if (hull_is_round(hull)) {
    for (int k = 0; k < hull->smooth->parameter_count; k++)
      seeds->shapes[hull->smooth->parameter_first + k] -= slope * round_height_slope(hull, k, vec3_scale(normal, -1));
    return;
  }
  for (int i = 0; i < hit->count; i++) {
    Vec3* vertex = &seeds->vertices[hull->vertex_first + hit->vertex[i]];
    *vertex = vec3_add_scaled(*vertex, slope * hit->weight[i], normal);
  }
}

void range_seed(const Observation* o, int link, const double* bar, const ObservationBars* out) {
  assert(out->seeds);
  for (int k = 0; k < OBSERVABLE_COLUMNS; k++) {
    if (bar[k] == 0) continue;
    double sign = k % 2 ? -1 : 1;
    RayHit hit = find_hit(o, link, k / 2, sign);
    if (!hit.hull || hit.distance == 0) continue;
    const Pose *own = &o->pose[1][link], *other = &o->pose[1][hit.hull->link];
    Vec3 on_ray = vec3_scale(vec3_axis(k / 2), sign * hit.distance), at = pose_apply(*own, on_ray);
    double slope = bar[k] / vec3_dot(hit.normal, mat3_mul_vec(own->r, vec3_scale(vec3_axis(k / 2), sign)));
    pose_matrix_add_point(out->pose[1][link], vec3_scale(hit.normal, -slope), on_ray);
    pose_matrix_add_point(out->pose[1][hit.hull->link], vec3_scale(hit.normal, slope), pose_apply_inverse(*other, at));
    add_shape_derivatives(&hit, *other, slope, out->seeds);
  }
}
