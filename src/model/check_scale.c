/* Warnings about valid scenes that are probably mistakes: sizes, masses, inertias or time steps in other units than
 * metres, kilograms and seconds, and wheels that lie flat. */
#include <string.h>

#include "base/outside.h"
#include "model/build.h"

/* Mean density [kg/m^3] below which a link of at least 1 m is probably in millimetres. The lightest aerogels have 0.16;
 * in millimetres bodies are 1e9 times too light. */
#define DENSITY_MIN 0.01
/* Largest mean density of a link [kg/m^3] without a warning. Osmium has 22 600; with masses in grams bodies are 1000
 * times too heavy. */
#define DENSITY_MAX 25000
/* Largest fall in one time step without a warning, relative to the size of the largest moving link. */
#define FALL_MAX 0.1

double link_size(const Model* model, const ModelLink* link) {
  double size = 0;
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[k];
    if (!hull->kind->bounded) continue;
    size = fmax(size, 2 * fmax(hull->half_extent.x, fmax(hull->half_extent.y, hull->half_extent.z)));
  }
  return size;
}

/* Length [m] from which a moving link with a mesh without `scale` is probably in millimetres. */
#define MESH_LENGTH_MAX 20

static bool has_unscaled_mesh(const SceneLink* link, const Scene* scene) {
  for (int u = 0; u < link->shape_count; u++) {
    const SceneShape* shape = &scene->shapes[link->shapes[u].shape];
    if (shape->type == SHAPE_MESH && shape->scale == 1) return true;
  }
  return false;
}

static double link_volume(const Model* model, const ModelLink* link) {
  double volume = 0;
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++) volume += hull_volume(&model->hulls[k]);
  return volume;
}

/* Warns of the first link that is denser than any solid. Links with given inertia are skipped, because their shapes may
 * serve for contact only. */
static void check_density(const Model* model, Diagnostics* diagnostics) {
  for (int i = 0; i < model->link_count; i++) {
    const SceneLink* source = &model->scene->links[i];
    double mass = model->links[i].mass, volume = link_volume(model, &model->links[i]);
    if (!link_is_dynamic(model, i) || source->mass_model == MASS_GIVEN || !(volume > 0)) continue;
    if (!(mass > DENSITY_MAX * volume)) continue;
    diagnostics_add(diagnostics, SEVERITY_WARNING, source->place,
                    "link '%s' has the mass %.3g kg and the volume %.3g m^3; the density %.3g kg/m^3 is above that of "
                    "any solid: give masses in kilograms and lengths in metres (divide a mass in grams by 1000)",
                    text_excerpt(source->name).text, mass, volume, mass / volume);
    return;
  }
}

/* Limits of the largest radius of gyration of a link with given inertia. No mass point inside the link's shapes gives
 * more than the largest distance of the shapes from the centre of mass. A sphere of uniform density has 0.32 of its
 * diameter. The factors admit links whose shapes are only a part of them, and heavy cores. */
#define GYRATION_MAX 3    /* relative to the largest distance of the shapes from the centre of mass */
#define GYRATION_MIN 0.01 /* relative to the longest edge of the boxes around the shapes */

/* Returns a bound of the distance of a link's bounded hulls from its centre of mass [m], from the boxes around them. */
static double distance_from_center(const Model* model, const ModelLink* link) {
  double distance = 0;
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[k];
    if (!hull->kind->bounded) continue;
    distance = fmax(distance, vec3_norm(vec3_sub(hull->center, link->center)) + vec3_norm(hull->half_extent));
  }
  return distance;
}

static void warn_inertia(const Model* model, int link, double gyration, double length, const char* of_what, int others,
                         Diagnostics* diagnostics) {
  const ModelLink* body = &model->links[link];
  Text more = {0};
  if (others > 0) text_add(&more, " (and %d more)", others);
  diagnostics_add(
      diagnostics, SEVERITY_WARNING, model->scene->links[link].place,
      "the inertia of link '%s'%s does not fit its shapes: %.3g kg m^2 at %.3g kg is a radius of gyration of "
      "%.3g m, but %s is %.3g m; give the inertia about the centre of mass in kg m^2 (1 kg mm^2 is 1e-6 kg "
      "m^2), or take it from the shapes (%s)",
      text_excerpt(body->name).text, others > 0 ? more.data : "", body->mass * gyration * gyration, body->mass,
      gyration, of_what, length,
      file_is_robot(model->scene->path) ? "sdrs import --mass-model uniform" : "mass_model: uniform");
  text_free(&more);
}

/* Warns of the first link whose given inertia is far too large or far too small for the size of its shapes. */
static void check_inertia(const Model* model, const double* size, Diagnostics* diagnostics) {
  int first = -1, others = 0;
  double gyration = 0, distance = 0, moments[3];
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (!(link->mass > 0) || link->mass_model != MASS_GIVEN || !(size[i] > 0)) continue;
    if (!link_principal_moments(link, moments)) continue;
    double radius = sqrt(fmax(moments[2], 0) / link->mass), farthest = distance_from_center(model, link);
    if (radius <= GYRATION_MAX * farthest && radius >= GYRATION_MIN * size[i]) continue;
    others += first >= 0;
    if (first >= 0) continue;
    first = i;
    gyration = radius;
    distance = farthest;
  }
  if (first < 0) return;
  bool large = gyration > GYRATION_MAX * distance;
  warn_inertia(model, first, gyration, large ? distance : size[first],
               large ? "the largest distance of the shapes from the centre of mass" : "the longest edge of the shapes",
               others, diagnostics);
}

static bool is_probably_in_millimetres(const Model* model, const ModelLink* link, double size) {
  double volume = link_volume(model, link);
  return size >= 1 && link->mass > 0 && link->mass < DENSITY_MIN * volume;
}

static void warn_millimetres(const Model* model, int link, double size, Diagnostics* diagnostics) {
  diagnostics_add(diagnostics, SEVERITY_WARNING, model->scene->links[link].place,
                  "link '%s' is %.3g m long but weighs only %.3g kg: give lengths in metres; if the lengths are in "
                  "millimetres, divide sizes and positions by 1000 (for a mesh: %s)",
                  text_excerpt(model->links[link].name).text, size, model->links[link].mass,
                  file_is_robot(model->scene->path) ? "scale=\"0.001 0.001 0.001\"" : "scale: 0.001");
}

static void warn_time_step(const Model* model, double size, Diagnostics* diagnostics) {
  double dt = model->simulation.dt, gravity = vec3_norm(model->simulation.gravity);
  diagnostics_add(
      diagnostics, SEVERITY_WARNING, model->scene->simulation.tolerance_place,
      "time step %.3g s is too long for this scene: a body falls %.3g m in one step, and the largest moving "
      "link is %.3g m long; reduce simulation.dt below %.2g s",
      dt, gravity * dt * dt / 2, size, sqrt(2 * FALL_MAX * size / gravity));
}

static double thickness(const SceneShape* shape) {
  switch (shape->type) {
    case SHAPE_CYLINDER:
      return shape->length;
    case SHAPE_WHEEL:
      return shape->width;
    case SHAPE_DISC:
      return 2 * shape->rim;
    default:
      return HUGE_VAL;
  }
}

/* Returns true if the link is a wheel that cannot roll: one flat round solid centred on a hinge without limits, whose
 * axis is perpendicular to the hinge. */
static bool wheel_lies_flat(const Scene* scene, const SceneLink* link) {
  if (link->joint.type != JOINT_HINGE || link->joint.limited[0] || link->shape_count != 1) return false;
  const SceneShapeUse* use = &link->shapes[0];
  const SceneShape* shape = &scene->shapes[use->shape];
  Vec3 across = vec3_cross(link->joint.axes[0], use->position);
  double radius = shape->radius;
  return thickness(shape) < 2 * radius && vec3_norm(across) < 0.1 * radius &&
         fabs(vec3_dot(link->joint.axes[0], mat3_mul_vec(mat3_from_quat(use->rotation), vec3(0, 0, 1)))) < 0.1;
}

/* Returns the axis of the link (0, 1 or 2) that is nearly parallel to a direction, or -1 if none is. */
static int find_parallel_axis(Vec3 direction) {
  const double along[3] = {fabs(direction.x), fabs(direction.y), fabs(direction.z)};
  for (int k = 0; k < 3; k++)
    if (along[k] > 0.995) return k;
  return -1;
}

/* Warns of a wheel that lies flat, and states both axes and how to change either. */
static void warn_flat_wheel(const SceneLink* link, const char* more, Diagnostics* diagnostics) {
  static const char* const AXES[3] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  static const char* const TURNS[3] = {"[0, 1.5708, 0]", "[1.5708, 0, 0]",
                                       "[0, 0, 0]"}; /* rpy angles that rotate z to the axis */
  Vec3 wheel = mat3_mul_vec(mat3_from_quat(link->shapes[0].rotation), vec3(0, 0, 1)), hinge = link->joint.axes[0];
  int round = find_parallel_axis(wheel), turns = find_parallel_axis(hinge);
  Text text = {0};
  if (round >= 0 && turns >= 0)
    text_add(&text,
             "the round shape has the axis %c in the link's frame, but the hinge has the axis %c: set axis: %s in the "
             "joint, or rotate the shape by shapes: [{shape: ..., rpy: %s}]",
             "xyz"[round], "xyz"[turns], AXES[round], TURNS[turns]);
  else
    text_add(&text,
             "the round shape has the axis [%.3g, %.3g, %.3g] in the link's frame, but the hinge has the axis [%.3g, "
             "%.3g, %.3g]: set the hinge's axis to that of the shape, or rotate the shape",
             wheel.x, wheel.y, wheel.z, hinge.x, hinge.y, hinge.z);
  diagnostics_add(diagnostics, SEVERITY_WARNING, link->place, "link '%s' does not roll%s: %s",
                  text_excerpt(link->name).text, more, text.data);
  text_free(&text);
}

static void check_wheels(const Scene* scene, Diagnostics* diagnostics) {
  const SceneLink* first = NULL;
  int others = 0;
  for (int i = 0; i < scene->link_count; i++) {
    if (!wheel_lies_flat(scene, &scene->links[i])) continue;
    if (first)
      others++;
    else
      first = &scene->links[i];
  }
  if (!first) return;
  Text more = {0};
  if (others > 0) text_add(&more, " (and %d more)", others);
  warn_flat_wheel(first, others > 0 ? more.data : "", diagnostics);
  text_free(&more);
}

/* A limit of a slide is probably in millimetres or degrees if it is a whole number, at least SLIDE_LIMIT_MAX [m], and
 * at least SLIDE_LIMIT_RATIO times the longest edge of the link. */
#define SLIDE_LIMIT_MAX 10
#define SLIDE_LIMIT_RATIO 100

/* Warns of the first slide whose limits are probably in millimetres or degrees. size[link_count]: size of each link
 * [m]. */
static void check_slides(const Model* model, const double* size, Diagnostics* diagnostics) {
  for (int i = 0; i < model->link_count; i++) {
    const SceneJoint* joint = &model->scene->links[i].joint;
    if (joint->type != JOINT_SLIDE || !joint->limited[0] || !(size[i] > 0)) continue;
    double low = isfinite(joint->lower[0]) ? joint->lower[0] : 0,
           high = isfinite(joint->upper[0]) ? joint->upper[0] : 0;
    double end = fabs(low) > fabs(high) ? low : high;
    if (fabs(end) < SLIDE_LIMIT_MAX || fabs(end) < SLIDE_LIMIT_RATIO * size[i] || end != floor(end)) continue;
    diagnostics_add(
        diagnostics, SEVERITY_WARNING, joint->place,
        "the slide of link '%s' has the limit %.6g m, %.4g times the length of the link: limits are in metres; "
        "if %.6g is in millimetres, write %.6g",
        text_excerpt(model->links[i].name).text, end, fabs(end) / size[i], end, end / 1000);
    return;
  }
}

/* Smallest number of steps in a period of a sine without a warning. The mean of a sine over a step differs from the
 * sine by the fraction (pi / 12)^2 / 6 = 1.1 % at 12 steps per period. */
#define PERIOD_STEPS_MIN 12

/* Warns if the steps do not resolve a sine of the signal. Returns true if they do not. name: the link of the signal. */
static bool check_signal(const SceneSignal* signal, double dt, const char* name, Diagnostics* diagnostics) {
  double fastest = 0;
  for (int k = 0; signal->type == SIGNAL_SINES && k < signal->channels * signal->terms; k++)
    if (signal->amplitude[k] != 0) fastest = fmax(fastest, fabs(signal->frequency[k]));
  if (!(fastest * dt * PERIOD_STEPS_MIN > 1)) return false;
  diagnostics_add(diagnostics, SEVERITY_WARNING, signal->place,
                  "link '%s' follows a sine of %.4g Hz, of which a step of %.4g s covers %.0f %% of a period: set "
                  "simulation.dt to at most %.2g",
                  text_excerpt(name).text, fastest, dt, 100 * fastest * dt, 1 / (PERIOD_STEPS_MIN * fastest));
  return true;
}

/* Warns of the first sine that the steps do not resolve. */
static void check_signals(const Scene* scene, double dt, Diagnostics* diagnostics) {
  for (int k = 0; k < scene->controller_count; k++) {
    const SceneController* c = &scene->controllers[k];
    if (check_signal(&c->target, dt, scene->links[c->link].name, diagnostics)) return;
  }
  for (int k = 0; k < scene->load_count; k++) {
    const SceneLoad* load = &scene->loads[k];
    const char* name = scene->links[load->link].name;
    if (check_signal(&load->force, dt, name, diagnostics) || check_signal(&load->torque, dt, name, diagnostics)) return;
  }
}

void check_scale(const Model* model, Diagnostics* diagnostics) {
  double largest = 0, dt = model->simulation.dt;
  double* sizes = MEMORY_NEW(double, model->link_count + 1);
  bool warned = false;
  for (int i = 0; i < model->link_count; i++) {
    double size = sizes[i] = link_size(model, &model->links[i]);
    if (!link_is_dynamic(model, i)) continue;
    largest = fmax(largest, size);
    bool long_mesh = size >= MESH_LENGTH_MAX && has_unscaled_mesh(&model->scene->links[i], model->scene);
    if (warned || !(long_mesh || is_probably_in_millimetres(model, &model->links[i], size))) continue;
    warn_millimetres(model, i, size, diagnostics);
    warned = true;
  }
  double fall = vec3_norm(model->simulation.gravity) * dt * dt / 2;
  if (largest > 0 && fall > FALL_MAX * largest) warn_time_step(model, largest, diagnostics);
  check_density(model, diagnostics);
  check_inertia(model, sizes, diagnostics);
  check_wheels(model->scene, diagnostics);
  check_slides(model, sizes, diagnostics);
  check_signals(model->scene, dt, diagnostics);
  memory_free(sizes);
}
