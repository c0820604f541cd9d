/* Resolves links, targets and windows of a task's losses. */
#include <fnmatch.h>
#include <string.h>

#include "base/outside.h"
#include "differentiate/loss.h"

/* A row belongs to a time if they differ by less than this fraction of a step, for example row 3 of steps of 0.1 s to
 * 0.3 s. */
#define TIME_ROUNDING 1e-6

void loss_report_error(const LossContext* context, SourcePosition place, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(context->diagnostics, SEVERITY_ERROR, place, "%s", text.data);
  text_free(&text);
}

static const char* suggest_link(const Model* model, const char* name) {
  const char** names = MEMORY_NEW(const char*, model->link_count);
  for (int i = 0; i < model->link_count; i++) names[i] = model->links[i].name;
  const char* nearest = text_nearest(name, names, model->link_count);
  memory_free(names);
  return nearest;
}

static int resolve_link(const LossContext* context, const TaskName* name, const char* key, LossLink use) {
  const Model* model = context->model;
  if (!name->text) {
    if (use == LINK_REQUIRED) loss_report_error(context, context->source->place, "needs '%s'", key);
    return -1;
  }
  for (int i = 0; i < model->link_count; i++)
    if (strcmp(model->links[i].name, name->text) == 0) return i;
  const char* nearest = suggest_link(model, name->text);
  loss_report_error(context, name->place, "no link is named '%.60s'%s", name->text, text_suggestion(nearest).text);
  return -1;
}

/* Returns true if a name of the task denotes the link: its name, the name of one of its groups, or a pattern (*, ?)
 * that matches its name. */
static bool matches_link(const Model* model, int link, const char* name) {
  const SceneLink* source = &model->scene->links[link];
  if (!name) return false; /* the task was read with errors */
  bool meant = fnmatch(name, source->name, 0) == 0;
  for (int k = 0; k < source->group_count; k++) meant = meant || strcmp(name, source->groups[k]) == 0;
  return meant;
}

static void resolve_links(LossTerm* term, const LossContext* context) {
  const TaskLoss* source = context->source;
  const Model* model = context->model;
  term->links = MEMORY_NEW(int, model->link_count);
  for (int k = 0; k < source->links_count; k++) {
    int found = 0;
    for (int i = 0; i < model->link_count; i++) found += matches_link(model, i, source->links[k].text);
    if (found == 0 && source->links[k].text)
      loss_report_error(context, source->links[k].place,
                        "no link or group is named '%.60s', and the name as a pattern matches no link",
                        source->links[k].text);
  }
  for (int i = 0; i < model->link_count; i++) {
    bool meant = false;
    for (int k = 0; k < source->links_count && !meant; k++) meant = matches_link(model, i, source->links[k].text);
    if (meant && i != term->other) term->links[term->link_count++] = i;
  }
  if (term->link_count > 0) term->link = term->links[0];
}

void loss_normalize_direction(const LossContext* context, const char* what, Vec3* direction) {
  double norm = vec3_norm(*direction);
  if (norm > 0 && norm < HUGE_VAL)
    *direction = vec3_scale(*direction, 1 / norm);
  else
    loss_report_error(context, context->source->place, "'%s' is zero and has no direction: give another vector", what);
}

/* Returns the target of a loss with its random part. The random numbers come from a hash of seed, scenario and loss.
 * All three axes are drawn, so that the spread of one axis does not change the others. */
static Vec3 draw_target(const LossContext* context) {
  Vec3 target = context->source->target, spread = context->source->spread;
  Random random = {context->task->seed};
  random.state = random_bits(&random) + (uint64_t)context->scenario;
  random.state = random_bits(&random) + (uint64_t)context->index;
  target.x += random_uniform(&random, -spread.x, spread.x);
  target.y += random_uniform(&random, -spread.y, spread.y);
  target.z += random_uniform(&random, -spread.z, spread.z);
  return target;
}

/* Returns true if a time [s] lies within the run or is -1 (not given). Otherwise adds an error. */
static bool check_time(const LossContext* context, const char* key, double t) {
  double dt = context->model->simulation.dt;
  if (t == -1 || (t >= 0 && t <= (context->steps + TIME_ROUNDING) * dt)) return true;
  loss_report_error(context, context->source->place, "'%s' (%g s) lies outside of the run: give a time from 0 to %g s",
                    key, t, context->steps * dt);
  return false;
}

/* Sets the window of the term: the rows k with from <= k dt <= to. A missing end is the end of the run. If both are
 * missing, the kind determines the window; `best` and `worst` use the whole run. */
static void set_window(LossTerm* term, const LossContext* context) {
  const LossKind* kind = term->kind;
  double dt = context->model->simulation.dt, from = context->source->from, to = context->source->to;
  bool given = from != -1 || to != -1 || term->reduction != OVER_MEAN;
  term->first = kind->window == WINDOW_END && !given ? context->steps : kind->first_state;
  term->last = context->steps;
  bool inside = check_time(context, "from", from);
  inside = check_time(context, "to", to) && inside;
  if (!inside) return;
  if (kind->window == WINDOW_START) term->last = 0;
  if (from != -1) term->first = (int)ceil(from / dt - TIME_ROUNDING);
  if (to != -1) term->last = (int)floor(to / dt + TIME_ROUNDING);
  if (term->first < kind->first_state) term->first = kind->first_state;
  int states = term->last - term->first + 1;
  if (from != -1 && to != -1 && !(from <= to + TIME_ROUNDING * dt))
    loss_report_error(context, context->source->place,
                      "the window begins at %g s, after its end at %g s: 'from' must not exceed 'to'", from, to);
  else if (states < kind->least_states)
    loss_report_error(
        context, context->source->place,
        "the window has %d recorded states, but needs %d: lengthen the window; there is one state every %g s%s",
        states > 0 ? states : 0, kind->least_states, dt,
        kind->first_state > 0 ? ", beginning after the first step" : "");
}

static double* copy_values(const double* values, int count) {
  size_t size = sizeof(double) * (size_t)count;
  return values ? memcpy(memory_alloc(size), values, size) : NULL;
}

static void set_motion(LossTerm* term, const SceneSignal* from) {
  SceneSignal* copy = term->motion_source = MEMORY_NEW(SceneSignal, 1);
  int terms = signal_sine_count(from);
  *copy = *from;
  copy->times = copy_values(from->times, from->rows);
  copy->values = copy_values(from->values, signal_value_count(from));
  copy->amplitude = copy_values(from->amplitude, terms);
  copy->frequency = copy_values(from->frequency, terms);
  copy->phase = copy_values(from->phase, terms);
  signal_create(&term->motion, copy);
}

void loss_release(LossTerm* term) {
  memory_free(term->links);
  loss_touch_free(term);
  if (!term->motion_source) return;
  SceneSignal* motion = term->motion_source;
  double* owned[] = {motion->times, motion->values, motion->amplitude, motion->frequency, motion->phase};
  signal_destroy(&term->motion);
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(motion);
}

void loss_resolve(LossTerm* term, const LossContext* context) {
  const TaskLoss* source = context->source;
  const LossKind* kind = loss_kind(source->type);
  *term = (LossTerm){.kind = kind, .weight = source->weight, .link = -1, .other = -1, .has_point = source->has_point};
  term->bounded = source->bounded;
  term->is_inactive = !task_applies_in_scenario(&source->where, context->scenario);
  term->point = source->point;
  term->target = draw_target(context);
  term->reduction = source->over;
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
  if (term->is_inactive) return;
  int before = context->diagnostics->error_count;
  if (kind->link != LINK_UNUSED && source->links_count == 0)
    term->link = resolve_link(context, &source->link, "link", kind->link);
  if (kind->other != LINK_UNUSED) term->other = resolve_link(context, &source->other, "other", kind->other);
  if (source->links_count > 0) resolve_links(term, context);
  if (source->motion.channels > 0) set_motion(term, &source->motion);
  if (kind->window != WINDOW_NONE) set_window(term, context);
  term->reference = term->first;
  if (kind->prepare && context->diagnostics->error_count == before) kind->prepare(term, context);
}
