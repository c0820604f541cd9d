/* Checks initial coordinates and controller targets against the joint limits. */
#include "model/build.h"

/* Largest number of times at which a target is checked. */
enum { TARGET_SAMPLES_MAX = 2000 };

/* Returns the value that limit number k of the joint bounds: a joint coordinate, or the total angle, swing or twist of
 * a ball joint (step.md, S24). */
static double limited_value(const ModelLink* link, const double* q, int k) {
  int plain = link->joint.scalar_count;
  if (k < plain) return q[k];
  Quat r = quat_at(q + plain);
  if (k == plain) return vec3_norm(quat_log(r));
  Vec3 v = vec3(r.x, r.y, r.z);
  double along = vec3_dot(v, link->joint.axis[0]), sign = r.w < 0 ? -1 : 1;
  if (k == plain + 2) return 2 * math_atan2(sign * along, sign * r.w);
  return 2 * math_atan2(vec3_norm(vec3_cross(link->joint.axis[0], v)), sqrt(r.w * r.w + along * along));
}

static const char* limited_name(const ModelLink* link, int k) {
  int plain = link->joint.scalar_count;
  if (k < plain) return link->joint.names[k];
  return k == plain ? "angle" : k == plain + 1 ? "swing" : "twist";
}

static const char* limited_unit(const ModelLink* link, int k) { return k < link->joint.slide_count ? "m" : "rad"; }

/* Returns true if the value is outside limit number k of the joint. strict: the limit itself counts as outside, because
 * a barrier force is infinite there. */
static bool is_outside_limit(const ModelLink* link, int k, double value, bool strict) {
  if (strict) return !(value > link->lower[k] && value < link->upper[k]);
  return !(value >= link->lower[k] && value <= link->upper[k]);
}

static const SceneInitial* find_initial(const Scene* scene, int link) {
  for (int k = scene->initial_count - 1; k >= 0; k--)
    if (scene->initials[k].link == link && scene->initials[k].has_coordinates) return &scene->initials[k];
  return NULL;
}

static void report_initial(const Model* model, Diagnostics* diagnostics, int index, int k, double value) {
  const ModelLink* link = &model->links[index];
  const SceneInitial* initial = find_initial(model->scene, index);
  bool barrier = link->limit_law == LIMIT_BARRIER;
  diagnostics_add(diagnostics, SEVERITY_ERROR, initial ? initial->place : model->scene->links[index].joint.place,
                  "initial coordinate '%s' of link '%s' is %.6g %s, but must lie %s the limits [%.6g, %.6g]%s: change "
                  "the coordinate in 'initial', or the limits",
                  limited_name(link, k), link->name, value, limited_unit(link, k),
                  barrier ? "strictly inside" : "within", link->lower[k], link->upper[k],
                  initial ? "" : " (0 because 'initial' gives no coordinates)");
}

/* A coordinate gives no warning if it is inside the margin by at most this fraction of the margin. The message suggests
 * a coordinate with six digits, and the suggested coordinate must not give a warning itself. */
static const double ROUNDED_MARGIN = 1e-3;

/* Warns of a joint that starts within the margin of a barrier, where a limit force acts (S22). */
static void warn_within_margin(const Model* model, Diagnostics* diagnostics, int index, int k, double value) {
  const ModelLink* link = &model->links[index];
  const SceneInitial* initial = find_initial(model->scene, index);
  int plain = link->joint.scalar_count;
  bool one_sided = k == plain || k == plain + 1; /* total angle and swing of a ball joint */
  double above = one_sided ? HUGE_VAL : value - link->lower[k], below = link->upper[k] - value;
  if (!(fmin(above, below) < (1 - ROUNDED_MARGIN) * link->limit_margin)) return;
  double limit = above < below ? link->lower[k] : link->upper[k];
  double free = limit + (above < below ? 1 : -1) * link->limit_margin;
  char remedy[64] = "";
  if (one_sided ? free >= 0
                : free >= link->lower[k] + link->limit_margin && free <= link->upper[k] - link->limit_margin)
    snprintf(remedy, sizeof(remedy), "start at %.6g, or ", free);
  diagnostics_add(diagnostics, SEVERITY_WARNING, initial ? initial->place : model->scene->links[index].joint.place,
                  "initial coordinate '%s' of link '%s' is %.6g %s, within %.4g %s of its limit %.6g, where the limit "
                  "force acts: %sset joint.limit_margin below %.4g",
                  limited_name(link, k), link->name, value, limited_unit(link, k), link->limit_margin,
                  limited_unit(link, k), limit, remedy, fmin(above, below));
}

static void check_initial(const Model* model, Diagnostics* diagnostics, int index) {
  const ModelLink* link = &model->links[index];
  const double* q = model->initial_coordinates + link->coordinate_first;
  for (int k = 0; k < link->dof_count; k++) {
    if (!link->limited[k]) continue;
    double value = limited_value(link, q, k);
    if (is_outside_limit(link, k, value, link->limit_law == LIMIT_BARRIER))
      report_initial(model, diagnostics, index, k, value);
    else if (link->limit_law == LIMIT_BARRIER)
      warn_within_margin(model, diagnostics, index, k, value);
  }
}

static void report_target(const Model* model, Diagnostics* diagnostics, int controller, int k, double value, double t) {
  int index = model->controllers[controller].link;
  const ModelLink* link = &model->links[index];
  diagnostics_add(diagnostics, SEVERITY_WARNING, model->scene->controllers[controller].place,
                  "target '%s' of link '%s' is %.6g %s at t = %.6g s, outside the joint's limits [%.6g, %.6g]: change "
                  "the target or the limits",
                  limited_name(link, k), link->name, value, limited_unit(link, k), t, link->lower[k], link->upper[k]);
}

/* Warns of each degree of freedom whose target is outside its limits at time t [s]. Skips degrees of freedom with
 * reported[] true, and sets reported[] for each warning. */
static void check_target_at(const Model* model, Diagnostics* diagnostics, int index, double t, bool* reported) {
  const ModelController* controller = &model->controllers[index];
  const ModelLink* link = &model->links[controller->link];
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], q[JOINT_MAX_COORDINATE];
  signal_eval(&controller->target, t, value, rate);
  joint_coordinates_from_target(&link->joint, value, q);
  for (int k = 0; k < link->dof_count; k++) {
    bool follows = controller->type == CONTROLLER_PRESCRIBED || controller->position_gain[k] > 0;
    if (!link->limited[k] || reported[k] || !follows) continue;
    double wanted = limited_value(link, q, k);
    if (!is_outside_limit(link, k, wanted, false)) continue;
    reported[k] = true;
    report_target(model, diagnostics, index, k, wanted, t);
  }
}

/* Warns once per degree of freedom, at the first time at which its target is outside its limits. */
static void check_target(const Model* model, Diagnostics* diagnostics, int index) {
  bool reported[JOINT_MAX_DOF] = {false};
  int steps = model->simulation.steps, samples = steps < TARGET_SAMPLES_MAX ? steps : TARGET_SAMPLES_MAX;
  if (model->controllers[index].target.source->type == SIGNAL_CONSTANT) samples = 0;
  check_target_at(model, diagnostics, index, 0, reported);
  for (int i = 1; i <= samples; i++)
    check_target_at(model, diagnostics, index, model->simulation.dt * steps * i / samples, reported);
}

void check_limits(const Model* model, Diagnostics* diagnostics) {
  for (int i = 0; i < model->link_count; i++) check_initial(model, diagnostics, i);
  for (int i = 0; i < model->controller_count; i++) {
    ControllerType type = model->controllers[i].type;
    if (type == CONTROLLER_PD || type == CONTROLLER_PRESCRIBED) check_target(model, diagnostics, i);
  }
}
