/* Resolves links, targets and windows of a task's losses. */
#include <fnmatch.h>
#include <string.h>

#include "base/outside.h"
#include "differentiate/loss.h"

/* A time selects a state if it is within this fraction of a step from the state's time, for example 0.3 s for step 3 of
 * 0.1 s. */
#define TIME_ROUNDING 1e-6

void loss_report_error(const LossContext* origin, SourcePosition place, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(origin->diagnostics, SEVERITY_ERROR, place, "%s", text.data);
  text_free(&text);
}

/* ---------------------------------------------------------------- links */

static const char* nearest_link(const Model* model, const char* name) {
  const char** names = MEMORY_NEW(const char*, model->link_count);
  for (int i = 0; i < model->link_count; i++) names[i] = model->links[i].name;
  const char* nearest = text_nearest(name, names, model->link_count);
  memory_free(names);
  return nearest;
}

static int find_link(const LossContext* origin, const TaskName* name, const char* key, LossLink use) {
  const Model* model = origin->model;
  if (!name->text) {
    if (use == LINK_REQUIRED) loss_report_error(origin, origin->source->place, "needs '%s'", key);
    return -1;
  }
  for (int i = 0; i < model->link_count; i++)
    if (strcmp(model->links[i].name, name->text) == 0) return i;
  const char* nearest = nearest_link(model, name->text);
  loss_report_error(origin, name->place, "no link is named '%.60s'%s", name->text, text_suggestion(nearest).text);
  return -1;
}

/* Returns true if a name in a list denotes the link. The name may be the link's name, the name of one of the link's
 * groups, or a pattern that matches the link's name. */
static bool is_meant(const Model* model, int link, const char* name) {
  const SceneLink* source = &model->scene->links[link];
  if (!name) return false; /* the task was read with errors */
  bool meant = fnmatch(name, source->name, 0) == 0;
  for (int k = 0; k < source->group_count; k++) meant = meant || strcmp(name, source->groups[k]) == 0;
  return meant;
}

static void find_links(LossTerm* term, const LossContext* origin) {
  const TaskLoss* source = origin->source;
  const Model* model = origin->model;
  term->links = MEMORY_NEW(int, model->link_count);
  for (int k = 0; k < source->links_count; k++) {
    int found = 0;
    for (int i = 0; i < model->link_count; i++) found += is_meant(model, i, source->links[k].text);
    if (found == 0 && source->links[k].text)
      loss_report_error(origin, source->links[k].place,
                        "no link or group is named '%.60s', and the name as a pattern matches no link",
                        source->links[k].text);
  }
  for (int i = 0; i < model->link_count; i++) {
    bool meant = false;
    for (int k = 0; k < source->links_count && !meant; k++) meant = is_meant(model, i, source->links[k].text);
    if (meant && i != term->other) term->links[term->link_count++] = i;
  }
  if (term->link_count > 0) term->link = term->links[0];
}

/* ---------------------------------------------------------------- targets */

void loss_normalize_direction(const LossContext* origin, const char* what, Vec3* direction) {
  double norm = vec3_norm(*direction);
  if (norm > 0 && norm < HUGE_VAL)
    *direction = vec3_scale(*direction, 1 / norm);
  else
    loss_report_error(origin, origin->source->place, "'%s' is zero and has no direction: give another vector", what);
}

/* Returns the target of a loss with its random part. Each loss of each scenario has its own random numbers, from a hash
 * of seed, scenario and loss. All three axes are drawn, so that the spread of one axis does not change the others. */
static Vec3 draw_target(const LossContext* origin) {
  Vec3 target = origin->source->target, spread = origin->source->spread;
  Random random = {origin->task->seed};
  random.state = random_bits(&random) + (uint64_t)origin->scenario;
  random.state = random_bits(&random) + (uint64_t)origin->index;
  target.x += random_uniform(&random, -spread.x, spread.x);
  target.y += random_uniform(&random, -spread.y, spread.y);
  target.z += random_uniform(&random, -spread.z, spread.z);
  return target;
}

/* ---------------------------------------------------------------- windows */

/* Returns true if time t [s] lies within the run or is -1 (not given). Otherwise adds an error. */
static bool check_time(const LossContext* origin, const char* key, double t) {
  double dt = origin->model->simulation.dt;
  if (t == -1 || (t >= 0 && t <= (origin->steps + TIME_ROUNDING) * dt)) return true;
  loss_report_error(origin, origin->source->place, "'%s' (%g s) lies outside of the run: give a time from 0 to %g s",
                    key, t, origin->steps * dt);
  return false;
}

/* Sets the window of the term to the states k with from <= k dt <= to. If one end is not given, the window extends to
 * that end of the run. If neither is given, the kind decides, but `best` and `worst` search the whole run. */
static void set_window(LossTerm* term, const LossContext* origin) {
  const LossKind* kind = term->kind;
  double dt = origin->model->simulation.dt, from = origin->source->from, to = origin->source->to;
  bool given = from != -1 || to != -1 || term->over != OVER_MEAN;
  term->first = kind->window == WINDOW_END && !given ? origin->steps : kind->first_state;
  term->last = origin->steps;
  bool inside = check_time(origin, "from", from);
  inside = check_time(origin, "to", to) && inside;
  if (!inside) return;
  if (kind->window == WINDOW_START) term->last = 0;
  if (from != -1) term->first = (int)ceil(from / dt - TIME_ROUNDING);
  if (to != -1) term->last = (int)floor(to / dt + TIME_ROUNDING);
  if (term->first < kind->first_state) term->first = kind->first_state;
  int states = term->last - term->first + 1;
  if (from != -1 && to != -1 && !(from <= to + TIME_ROUNDING * dt))
    loss_report_error(origin, origin->source->place,
                      "the window begins at %g s, after its end at %g s: 'from' must not exceed 'to'", from, to);
  else if (states < kind->least_states)
    loss_report_error(
        origin, origin->source->place,
        "the window has %d recorded states, but needs %d: lengthen the window; there is one state every %g s%s",
        states > 0 ? states : 0, kind->least_states, dt,
        kind->first_state > 0 ? ", beginning after the first step" : "");
}

/* ---------------------------------------------------------------- all */

static double* copied(const double* values, int count) {
  size_t size = sizeof(double) * (size_t)count;
  return values ? memcpy(memory_alloc(size), values, size) : NULL;
}

static void take_motion(LossTerm* term, const SceneSignal* from) {
  SceneSignal* own = term->motion_source = MEMORY_NEW(SceneSignal, 1);
  int terms = signal_sine_count(from);
  *own = *from;
  own->times = copied(from->times, from->rows);
  own->values = copied(from->values, signal_value_count(from));
  own->amplitude = copied(from->amplitude, terms);
  own->frequency = copied(from->frequency, terms);
  own->phase = copied(from->phase, terms);
  signal_create(&term->motion, own);
}

void loss_release(LossTerm* term) {
  memory_free(term->links);
  loss_touch_free(term);
  if (!term->motion_source) return;
  SceneSignal* own = term->motion_source;
  double* owned[] = {own->times, own->values, own->amplitude, own->frequency, own->phase};
  signal_destroy(&term->motion);
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(own);
}

void loss_resolve(LossTerm* term, const LossContext* origin) {
  const TaskLoss* source = origin->source;
  const LossKind* kind = loss_kind(source->type);
  *term = (LossTerm){.kind = kind, .weight = source->weight, .link = -1, .other = -1, .has_point = source->has_point};
  term->bounded = source->bounded;
  term->absent = !task_applies_in_scenario(&source->where, origin->scenario);
  term->point = source->point;
  term->target = draw_target(origin);
  term->over = source->over;
  term->direction = source->direction;
  term->axis = source->axis;
  term->margin = source->margin;
  term->power = source->power;
  term->dof = source->dof;
  term->value = source->value;
  term->rotation = mat3_from_quat(source->rotation);
  term->length = source->length;
  term->smoothing = source->smoothing;
  term->has_target = source->has_target;
  term->friction = source->friction;
  term->angle = source->angle;
  term->box_low = source->box_low;
  term->box_high = source->box_high;
  term->quality = source->quality;
  if (term->absent) return;
  int before = origin->diagnostics->error_count;
  if (kind->link != LINK_UNUSED && source->links_count == 0)
    term->link = find_link(origin, &source->link, "link", kind->link);
  if (kind->other != LINK_UNUSED) term->other = find_link(origin, &source->other, "other", kind->other);
  if (source->links_count > 0) find_links(term, origin);
  if (source->motion.channels > 0) take_motion(term, &source->motion);
  if (kind->window != WINDOW_NONE) set_window(term, origin);
  term->reference = term->first;
  if (kind->prepare && origin->diagnostics->error_count == before) kind->prepare(term, origin);
}
