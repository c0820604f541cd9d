#include <assert.h>
#include "render/picture.h"

/* Directions and fields of view of the standard views. azimuth: angle about `up` from the x axis; elevation: angle
 * above the ground. half_view: tangent of half the field of view of the image's smaller side. Narrow fields of view
 * reduce perspective and make distances comparable with the grid. */
typedef struct {
  double azimuth, elevation; /* view direction [degrees] */
  double half_view;
} ViewAngles;

static const ViewAngles VIEW_ANGLES[] = {
    [RENDER_ISO] = {-58.0, 24.0, 0.20},
    [RENDER_FRONT] = {-90.0, 7.0, 0.12}, /* slightly from above, so that the ground is visible as a surface */
    [RENDER_SIDE] = {0.0, 7.0, 0.12},
    [RENDER_TOP] = {-90.0, 90.0, 0.12},
};

/* Sets *x and *y to two horizontal axes. If z is up, they are the world's x and y axes. */
static void horizontal_axes(Vec3 up, Vec3* x, Vec3* y) {
  Vec3 ahead = fabs(up.y) < 0.9 ? vec3(0, 1, 0) : vec3(0, 0, -1);
  *x = vec3_normalized(vec3_cross(ahead, up));
  *y = vec3_cross(up, *x);
}

void camera_angles(RenderView view, double* azimuth, double* elevation) {
  *azimuth = VIEW_ANGLES[view].azimuth;
  *elevation = VIEW_ANGLES[view].elevation;
}

RenderCamera camera_create(RenderView view, Vec3 up, int width, int height, double zoom) {
  return camera_create_at_angles(view, VIEW_ANGLES[view].azimuth, VIEW_ANGLES[view].elevation, up, width, height, zoom);
}

RenderCamera camera_create_at_angles(RenderView view, double azimuth, double elevation, Vec3 up, int width, int height,
                                     double zoom) {
  assert(width > 0 && height > 0 && zoom > 0);
  Vec3 x, y;
  horizontal_axes(up, &x, &y);
  azimuth *= M_PI / 180.0;
  elevation *= M_PI / 180.0;
  Vec3 level = vec3_add(vec3_scale(x, math_cos(azimuth)), vec3_scale(y, math_sin(azimuth)));
  Vec3 to_eye = vec3_add(vec3_scale(level, math_cos(elevation)), vec3_scale(up, math_sin(elevation)));
  RenderCamera camera = {.width = width, .height = height, .half_view = VIEW_ANGLES[view].half_view};
  camera.forward = vec3_scale(to_eye, -1.0);
  camera.right = vec3_add(vec3_scale(x, -math_sin(azimuth)), vec3_scale(y, math_cos(azimuth)));
  camera.up = vec3_cross(camera.right, camera.forward);
  camera.focal = zoom * 0.5 * (width < height ? width : height) / camera.half_view;
  return camera;
}

bool camera_project(const RenderCamera* camera, Vec3 point, double* x, double* y, double* distance) {
  assert(x && y && distance);
  Vec3 d = vec3_sub(point, camera->eye);
  *distance = vec3_dot(camera->forward, d);
  if (!(*distance > 0.0)) return false;
  *x = 0.5 * camera->width + camera->focal * vec3_dot(camera->right, d) / *distance;
  *y = 0.5 * camera->height - camera->focal * vec3_dot(camera->up, d) / *distance;
  return true;
}

RenderCamera camera_translated(RenderCamera camera, Vec3 offset) {
  camera.eye = vec3_add(camera.eye, offset);
  camera.target = vec3_add(camera.target, offset);
  return camera;
}

/* Zoom magnifies the image without changing the fit. The tangents are therefore computed for zoom 1. */
CameraFit camera_fit_create(const RenderCamera* camera, const double margin[4]) {
  double smaller = camera->width < camera->height ? camera->width : camera->height;
  CameraFit fit = {.forward = camera->forward, .near = INFINITY, .far = -INFINITY};
  for (int k = 0; k < 4; k++) {
    Vec3 outward = k < 2 ? camera->right : camera->up;
    fit.tangent[k] = (1.0 - margin[k]) * camera->half_view * (k < 2 ? camera->width : camera->height) / smaller;
    fit.normal[k] = vec3_add_scaled(vec3_scale(outward, k % 2 ? -1.0 : 1.0), -fit.tangent[k], camera->forward);
    fit.side[k] = -INFINITY;
  }
  return fit;
}

double hull_extent_bound(const ModelHull* hull, Pose pose, Vec3 direction) {
  Vec3 local = mat3_tmul_vec(pose.r, direction);
  double box =
      fabs(local.x) * hull->half_extent.x + fabs(local.y) * hull->half_extent.y + fabs(local.z) * hull->half_extent.z;
  double sphere = hull->radius * vec3_norm(direction);
  return vec3_dot(direction, pose.t) + vec3_dot(local, hull->center) + (box < sphere ? box : sphere);
}

void camera_fit_add_hull(CameraFit* fit, const ModelHull* hull, Pose pose) {
  if (!hull->kind->bounded) return;
  for (int k = 0; k < 4; k++) fit->side[k] = fmax(fit->side[k], hull_extent_bound(hull, pose, fit->normal[k]));
  fit->far = fmax(fit->far, hull_extent_bound(hull, pose, fit->forward));
  fit->near = fmin(fit->near, -hull_extent_bound(hull, pose, vec3_scale(fit->forward, -1.0)));
}

void camera_fit_add_point(CameraFit* fit, Vec3 point) {
  for (int k = 0; k < 4; k++) fit->side[k] = fmax(fit->side[k], vec3_dot(fit->normal[k], point));
  fit->far = fmax(fit->far, vec3_dot(fit->forward, point));
  fit->near = fmin(fit->near, vec3_dot(fit->forward, point));
}

static void set_reach(RenderCamera* camera, double distance) {
  camera->target = vec3_add_scaled(camera->eye, distance, camera->forward);
  camera->reach = distance * 0.5 * fmin(camera->width, camera->height) / camera->focal;
}

/* The eye is at e = a right + b up + c forward. All points are inside side k of the view if normal[k] . e >= side[k].
 * With h = fit->tangent and s = fit->side, the right and left sides require a - h_0 c >= s_0 and -a - h_1 c >= s_1.
 * Their sum bounds c, and a is the centre of the remaining interval. Top and bottom bound c and b in the same way. The
 * smaller bound determines c. */
void camera_fit_place(const CameraFit* fit, RenderCamera* camera) {
  CameraFit empty = *fit;
  if (!(fit->far >= fit->near)) { /* without visible points, a region of one metre about the origin is shown */
    for (int k = 0; k < 4; k++) empty.side[k] = 1.0;
    empty.near = empty.far = 0.0;
    fit = &empty;
  }
  const double *s = fit->side, *h = fit->tangent;
  double c = fmin(-(s[0] + s[1]) / (h[0] + h[1]), -(s[2] + s[3]) / (h[2] + h[3]));
  double a = 0.5 * (s[0] + h[0] * c - s[1] - h[1] * c), b = 0.5 * (s[2] + h[2] * c - s[3] - h[3] * c);
  camera->eye =
      vec3_add(vec3_add(vec3_scale(camera->right, a), vec3_scale(camera->up, b)), vec3_scale(camera->forward, c));
  set_reach(camera, 0.5 * (fit->near + fit->far) - c);
}

void camera_fit_look_at(const CameraFit* fit, RenderCamera* camera, Vec3 target) {
  double back = 0.0; /* distance from the target to the eye */
  for (int k = 0; k < 4 && fit->far >= fit->near; k++)
    back = fmax(back, (fit->side[k] - vec3_dot(fit->normal[k], target)) / fit->tangent[k]);
  if (!(back > 0.0)) back = 1.0;
  camera->eye = vec3_add_scaled(target, -back, camera->forward);
  set_reach(camera, back);
}
