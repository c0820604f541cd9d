/* Report on how an optimization ended. Remedies are exact --set options. The report reads rows, variables and
 * success terms and simulates nothing. */
#include <string.h>

#include "model/tree.h"
#include "optimize/design_build.h"
#include "optimize/optimization.h"

/* Largest number of variables that one line names. The line counts the others. */
enum { NAMES_MOST = 5 };
/* ADVICE_MOST: largest number of remedies in a report. TIPS_MOST: largest number of links for which the remedy
 * `approach` is suggested. */
enum { ADVICE_MOST = 3, TIPS_MOST = 4 };
/* A variable counts as unchanged if it moved by less than this fraction of its range, or of its step if it has no
 * range. */
#define MOVED 1e-6
/* A search counts as still improving if its last quarter contributed more than this fraction of the total gain. */
#define STILL_FALLING 0.02
/* A task without `success` terms counts as solved if the loss is below this fraction of its initial value. For a
 * squared distance this is a thousandth of the initial distance. */
#define SOLVED 1e-6
/* Bounds count as limiting the design if at least this fraction of the variables that moved are at bounds. */
#define BOUND_PART 0.1

typedef struct {
  const Optimization* o;
  OptimizationReport* out;
  RejectedTrials rejected;
  int count, best, given; /* number of iterations, iteration of the best design, number of remedies so far */
  int inner;              /* number of links with vertices inside their hulls */
} Advisor;

RejectedTrials optimization_rejected(const Optimization* o) {
  RejectedTrials out = {0};
  for (int k = 1; k <= o->iteration; k++) {
    out.invalid += o->rows[k].outcome == TRIAL_INVALID;
    out.rose += o->rows[k].outcome == TRIAL_ROSE;
    out.solver += o->rows[k].outcome > TRIAL_INVALID;
  }
  return out;
}

/* ---------------------------------------------------------------- variables */

static bool is_at(double x, double bound, double range) { return fabs(x - bound) <= MOVED * range; }

static double range_of(const Optimization* o, int k) {
  const DesignVariable* v = &o->design.variables[k];
  double range = v->high - v->low;
  return isfinite(range) ? range : o->step[v->block];
}

/* Returns -1 if variable k of the best design is at its low bound, 1 if it is at its high bound. Returns 0
 * otherwise, also if both bounds are equal. */
static int bound_of(const Optimization* o, int k) {
  const DesignVariable* v = &o->design.variables[k];
  double range = range_of(o, k);
  if (!(range > 0) || v->high == v->low) return 0;
  return is_at(o->best_x[k], v->low, range) ? -1 : is_at(o->best_x[k], v->high, range) ? 1 : 0;
}

static bool has_moved(const Optimization* o, int k) {
  return !is_at(o->best_x[k], o->design.variables[k].initial, range_of(o, k));
}

static void list_bounds(Advisor* a) {
  const Optimization* o = a->o;
  int count = 0, variables = o->design.variable_count;
  Text names = {0};
  for (int k = 0; k < variables; k++) {
    int side = bound_of(o, k);
    if (side == 0) continue;
    const DesignVariable* v = &o->design.variables[k];
    if (count++ < NAMES_MOST)
      text_add(&names, "%s %s (%s %.6g)", count > 1 ? "," : "", v->name, side < 0 ? "low" : "high",
               side < 0 ? v->low : v->high);
  }
  if (count > 0)
    text_add(&a->out->findings, "%d of %d variables are at a bound:%s%s\n", count, variables, names.data,
             count > NAMES_MOST ? ", ..." : "");
  text_free(&names);
}

static void list_unmoved(Advisor* a) {
  const Optimization* o = a->o;
  int count = 0, variables = o->design.variable_count;
  Text names = {0};
  for (int k = 0; k < variables; k++)
    if (!has_moved(o, k) && count++ < NAMES_MOST)
      text_add(&names, "%s %s", count > 1 ? "," : "", o->design.variables[k].name);
  if (count > 0)
    text_add(&a->out->findings, "%d of %d variables did not change:%s%s\n", count, variables, names.data,
             count > NAMES_MOST ? ", ..." : "");
  text_free(&names);
}

/* Returns true if vertices of the link are variables and the link has no cage. */
static bool has_free_vertices(const Optimization* o, const char* link) {
  bool free = false;
  for (int k = 0; k < o->task->vertices_count; k++) free = free || strcmp(o->task->vertices[k].link.text, link) == 0;
  for (int k = 0; k < o->task->cage_count; k++) free = free && strcmp(o->task->cages[k].link.text, link) != 0;
  return free;
}

/* Returns the number of vertices of a hull that no triangle uses, because they lie inside the hull or on its faces. */
static int inner_vertices(const ConvexHull* solid) {
  bool* used = MEMORY_NEW(bool, solid->vertex_count);
  int count = solid->vertex_count;
  for (int t = 0; t < solid->triangle_count; t++)
    for (int c = 0; c < 3; c++) {
      int m = solid->triangles[t][c];
      count -= !used[m];
      used[m] = true;
    }
  memory_free(used);
  return count;
}

/* Appends one line for each link with vertices inside its hulls, in the design simulated last. Vertices inside a
 * hull have no derivative. Returns the number of lines. */
static int add_inner_vertices(const Optimization* o, Text* out) {
  const Model* model = &o->runs[0].model;
  int links = 0;
  for (int i = 0; i < model->link_count && o->runs[0].has_model; i++) {
    const ModelLink* link = &model->links[i];
    int inner = 0, all = 0;
    for (int h = link->hull_first; has_free_vertices(o, link->name) && h < link->hull_first + link->hull_count; h++) {
      const ConvexHull* solid = &model->hulls[h].solid;
      if (solid->triangle_count == 0 || !design_changes_hull(&o->design, i, h - link->hull_first)) continue;
      inner += inner_vertices(solid);
      all += solid->vertex_count;
    }
    if (inner == 0) continue;
    text_add(
        out,
        "%d of %d vertices of '%s' lie inside its hull and have no derivative: use `cage`, `roughness` or `size`\n",
        inner, all, link->name);
    links++;
  }
  return links;
}

/* ---------------------------------------------------------------- observed outcome */

static const double* terms_at(const Optimization* o, int iteration) {
  return o->row_terms + (size_t)iteration * (size_t)o->term_count;
}

static void list_terms(Advisor* a) {
  const double *first = terms_at(a->o, 0), *best = terms_at(a->o, a->best);
  for (int t = 0; t < a->o->term_count; t++)
    text_add(&a->out->findings, "term %s %s: %.6g at the start, %.6g at the best design\n",
             optimization_term_name(a->o, t),
             best[t] < first[t]   ? "fell"
             : best[t] > first[t] ? "rose"
                                  : "did not change",
             first[t], best[t]);
}

static void list_search(Advisor* a) {
  Text* out = &a->out->findings;
  RejectedTrials r = a->rejected;
  if (a->count > a->best)
    text_add(out, "the best design is that of iteration %d; the last %d of %d iterations improved nothing\n", a->best,
             a->count - a->best, a->count);
  if (r.invalid + r.solver + r.rose > 0)
    text_add(out, "%d of %d trials were rejected: %d raised the loss, %d were not solved, %d could not start\n",
             r.invalid + r.solver + r.rose, a->count, r.rose, r.solver, r.invalid);
}

static void list_start_pairs(Advisor* a) {
  const Optimization* o = a->o;
  if (o->moved_trials == 0) return;
  text_add(&a->out->findings, "%d trials were moved so that they can start", o->moved_trials);
  for (int k = 0; k < o->start_pair_count; k++)
    text_add(&a->out->findings, "%s %s", k == 0 ? ": designs are limited by the initial gap of" : ",",
             optimization_start_pair(o, k).text);
  text_add(&a->out->findings, "\n");
}

static void list_methods(Advisor* a) {
  for (int k = 0; k < optimization_method_change_count(a->o); k++) {
    optimization_add_method_change(a->o, k, &a->out->findings);
    text_add(&a->out->findings, "\n");
  }
}

static const TaskLoss* first_failure(const Optimization* o, SuccessTerm* term) {
  for (int i = 0; i < optimization_success_count(o); i++) {
    *term = optimization_success(o, i);
    if (!term->met) return &o->task->success[i];
  }
  return NULL;
}

static void list_success(Advisor* a) {
  SuccessTerm term;
  if (!first_failure(a->o, &term)) return;
  if (isnan(term.value))
    text_add(&a->out->findings, "success fails: %s has no value, as the run of the best design was not judged\n",
             term.name);
  else
    text_add(&a->out->findings, "success fails first by %s: %.6g, which must be at most %.6g\n", term.name, term.value,
             term.bound);
}

/* ---------------------------------------------------------------- remedies */

static void advise(Advisor* a, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void advise(Advisor* a, const char* format, ...) {
  if (a->given >= ADVICE_MOST) return;
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&a->out->advice, format, arguments);
  va_end(arguments);
  text_add(&a->out->advice, "\n");
  a->given++;
}

static const SceneContact* contact_of(const Optimization* o) { return &o->contacts[0].given; }

static bool has_continuation(const Optimization* o) {
  const TaskContinuation* c = &o->task->continuation;
  return c->support.iterations > 0 || c->stiffness.iterations > 0 || c->switch_at > 0;
}

static bool has_variables(const Optimization* o, const char* link) {
  size_t length = strlen(link);
  for (int k = 0; k < o->design.variable_count; k++) {
    const char* name = o->design.variables[k].name;
    if (strncmp(name, link, length) == 0 && name[length] == '/') return true;
  }
  return false;
}

/* Returns true if the link has variables and hulls, and no descendant of the link has variables. */
static bool is_tip(const Optimization* o, int link) {
  const Model* m = &o->runs[0].model;
  if (m->links[link].tree < 0 || m->links[link].hull_count == 0 || !has_variables(o, m->links[link].name)) return false;
  for (int i = link + 1; i < m->link_count; i++)
    if (model_descends(m, i, link) && has_variables(o, m->links[i].name)) return false;
  return true;
}

/* Returns the first link that a loss term refers to and that no variable belongs to. The link must be movable and
 * have hulls. Returns -1 if there is none. */
static int passive_subject(const Optimization* o) {
  for (int t = 0; t < o->term_count; t++) {
    const TaskLoss* term = &o->task->losses[t];
    int link = term->link.text ? design_find_link(&o->task->scenarios[0].scene, term->link.text) : -1;
    if (link < 0) continue;
    const ModelLink* l = &o->runs[0].model.links[link];
    if (l->tree >= 0 && l->hull_count > 0 && !has_variables(o, l->name)) return link;
  }
  return -1;
}

/* Advises the user to add `approach` terms between links with variables and the link of passive_subject. An
 * `approach` term has a nonzero gradient at any distance. */
static void advise_approach(Advisor* a) {
  const Optimization* o = a->o;
  const Model* m = &o->runs[0].model;
  int subject = passive_subject(o), tips = 0;
  if (subject < 0 || contact_of(o)->model == CONTACT_NONE) return;
  for (int t = 0; t < o->term_count; t++)
    if (o->task->losses[t].type == LOSS_APPROACH) return;
  Text sets = {0};
  for (int i = 0; i < m->link_count; i++)
    if (is_tip(o, i) && tips++ < TIPS_MOST)
      text_add(&sets, " --set 'loss.+={type: approach, link: %s, other: %s}'", m->links[i].name,
               m->links[subject].name);
  if (tips > 0)
    advise(a, "no variable moves '%s': a loss that falls as links come nearer to it has a slope:%s",
           m->links[subject].name, sets.data);
  text_free(&sets);
}

/* Advises the user to begin the optimization with long-range contact and to end it with the scene's law. With
 * long-range contact the gradient is nonzero before bodies touch. */
static void advise_continuation(Advisor* a, const char* why) {
  const Optimization* o = a->o;
  int iterations = o->task->optimizer.iterations, half = iterations > 1 ? iterations / 2 : 1;
  ContactModel law = contact_of(o)->model;
  if (law == CONTACT_NONE || law == CONTACT_LONG_RANGE || has_continuation(o) || o->task->multistart > 1)
    advise(a, "%s: look at what happens with sdrs render, and begin nearer to what is wanted", why);
  else
    advise(a,
           "%s; feel contact from a distance first: --set scene.contact.model=long_range --set "
           "'schedule={contact.model: {to: %s, at: %d}}'",
           why, contact_model_name(law), half);
  advise_approach(a);
}

static bool is_flat(const Optimization* o) {
  const OptimizationRow* first = &o->rows[0];
  return o->task->optimizer.type != OPTIMIZER_CMA_ES && first->grad_design == 0 && first->grad_control == 0;
}

/* Returns the iteration, after the first, at which `optimizer: auto` found a zero gradient. Returns 0 if there is
 * none. */
static int slope_lost_at(const Optimization* o) {
  for (int k = 0; k < o->automatic.change_count; k++) {
    const MethodChange* c = &o->automatic.changes[k];
    if (c->reason == CHANGE_NO_SLOPE && c->iteration > 0) return c->iteration;
  }
  return 0;
}

static bool is_same_wish(const TaskLoss* a, const TaskLoss* b) {
  if (a->type == LOSS_TRAVEL && b->type == LOSS_TRAVEL && !(vec3_dot(a->direction, b->direction) > 0.5)) return false;
  return a->type == b->type && (!a->link.text || !b->link.text || strcmp(a->link.text, b->link.text) == 0);
}

/* Advises the user to add a loss term for the first failed `success` term, if no loss term addresses it. */
static void advise_term(Advisor* a) {
  const Optimization* o = a->o;
  SuccessTerm term;
  const TaskLoss* wish = first_failure(o, &term);
  if (!wish) return;
  for (int t = 0; t < o->term_count; t++)
    if (is_same_wish(wish, &o->task->losses[t])) return;
  if (wish->type == LOSS_TRAVEL && wish->link.text)
    advise(
        a,
        "no term of the loss asks for %s of '%s': --set 'loss.+={type: travel, link: %s, direction: [%g, %g, %g]%s}'",
        term.name, wish->link.text, wish->link.text, wish->direction.x, wish->direction.y, wish->direction.z,
        (const char*[]){"", ", over: best", ", over: worst"}[wish->over]);
  else if (wish->type == LOSS_POINT && wish->link.text)
    advise(a, "no term of the loss asks for %s of '%s': --set 'loss.+={type: point, link: %s, target: [%g, %g, %g]}'",
           term.name, wish->link.text, wish->link.text, wish->target.x, wish->target.y, wish->target.z);
  else
    advise(a, "no term of the loss asks for %s: add it to loss as it stands in success, without max", term.name);
}

/* Advises the user to measure a failed `point` term of `success` at the origin of the link. Applies if the term
 * measures the centre of mass and the centre is farther from the origin than the term allows. */
static void advise_point(Advisor* a) {
  const Optimization* o = a->o;
  SuccessTerm term;
  const TaskLoss* wish = first_failure(o, &term);
  if (!wish || wish->type != LOSS_POINT || wish->has_point || !wish->link.text) return;
  int link = design_find_link(&o->task->scenarios[0].scene, wish->link.text);
  if (link < 0) return;
  Vec3 c = o->runs[0].model.links[link].center;
  if (!(vec3_norm(c) > (wish->power == 1 ? term.bound : sqrt(fmax(term.bound, 0))))) return;
  Text sets = {0};
  for (int t = 0; t < o->term_count; t++)
    if (is_same_wish(wish, &o->task->losses[t]) && !o->task->losses[t].has_point)
      text_add(&sets, " --set 'loss.%d.point=[0, 0, 0]'", t);
  text_add(&sets, " --set 'success.%d.point=[0, 0, 0]'", (int)(wish - o->task->success));
  advise(a, "%s measures the centre of mass of '%s', at (%.4g, %.4g, %.4g) m in its frame; to measure its origin:%s",
         term.name, wish->link.text, c.x, c.y, c.z, sets.data);
  text_free(&sets);
}

/* Returns the first loss term that has the same value in all iterations although trials were accepted. Returns -1 if
 * there is none. Only terms of a link count. Terms that are zero do not count, except `travel`, because zero is the
 * minimum of the other terms. */
static int unchanged_term(const Advisor* a) {
  const Optimization* o = a->o;
  int accepted = 0;
  for (int k = 1; k <= a->count; k++) accepted += o->rows[k].outcome == TRIAL_ACCEPTED;
  for (int t = 0; accepted > 0 && t < o->term_count; t++) {
    double first = terms_at(o, 0)[t];
    bool same = (first != 0 || o->task->losses[t].type == LOSS_TRAVEL) && o->task->losses[t].link.text != NULL;
    for (int k = 1; k <= a->count && same; k++) same = terms_at(o, k)[t] == first;
    if (same) return t;
  }
  return -1;
}

/* Returns true if the search ended at its number of iterations while the loss was still falling. The best design
 * must be among the last tenth of the iterations, and the last quarter must have contributed more than STILL_FALLING
 * of the gain. */
static bool still_falls(const Advisor* a) {
  const OptimizationRow* rows = a->o->rows;
  int tenth = a->count / 10 > 1 ? a->count / 10 : 1, quarter = a->count / 4 > 2 ? a->count / 4 : 2;
  int from = a->count > quarter ? a->count - quarter : 0;
  double gain = rows[0].loss - rows[a->best].loss, late = rows[from].loss - rows[a->best].loss;
  return a->o->stop == STOP_ITERATIONS && a->best >= a->count - tenth && late > STILL_FALLING * gain && late > 0;
}

static const char* steps_text(const Optimization* o, double factor, Text* out) {
  int blocks[2] = {0, 0};
  for (int k = 0; k < o->design.variable_count; k++) blocks[o->design.block[k]]++;
  if (blocks[0] > 0) text_add(out, " --set optimizer.design_step=%.3g", factor * o->step[0]);
  if (blocks[1] > 0) text_add(out, " --set optimizer.control_step=%.3g", factor * o->step[1]);
  return out->data ? out->data : "";
}

/* Returns a sphere or capsule that is approximated by facets, or NULL if there is none. The edges of the facets make
 * the loss jump after an impact. */
static const SceneShape* faceted_ball(const Scene* scene) {
  for (int k = 0; k < scene->shape_count; k++) {
    const SceneShape* shape = &scene->shapes[k];
    if (shape->replaced && (shape->type == SHAPE_SPHERE || shape->type == SHAPE_CAPSULE)) return shape;
  }
  return NULL;
}

static void advise_rough(Advisor* a) {
  const Optimization* o = a->o;
  TaskOptimizerType type = o->task->optimizer.type;
  int iterations = o->task->optimizer.iterations > 300 ? o->task->optimizer.iterations : 300;
  bool rough = o->adjoint.growth > GRADIENT_GROWTH_LARGE;
  Text steps = {0};
  if (a->count == 0 || 2 * a->rejected.rose < a->count || o->automatic.method == OPTIMIZER_CMA_ES) return;
  const SceneShape* ball = faceted_ball(&o->task->scenarios[0].scene);
  if (ball && contact_supports_round_solids(o->runs[0].model.contact_model))
    advise(a,
           "%d of %d trials rose, and the %s in line %d has facets, which make the loss jump at impacts: take '%s' out "
           "of it",
           a->rejected.rose, a->count, ball->type == SHAPE_SPHERE ? "sphere" : "capsule", ball->place.line,
           ball->type == SHAPE_SPHERE ? "resolution" : "segments");
  if (rough)
    advise(a,
           "%d of %d trials rose, and gradients grow by a factor of %.1g along the run: a shorter run, --set steps=%d, "
           "or --set optimizer.discount=0.98 (docs/co-design.md, 'When gradients explode')",
           a->rejected.rose, a->count, o->adjoint.growth,
           task_step_count(o->task->scenarios[0].steps, o->runs[0].model.simulation.steps) / 2);
  if (o->runs[0].model.contact.bounces)
    advise(a, "%d of %d trials rose at impacts that bounce: --set optimizer.type=cma_es --set optimizer.iterations=%d",
           a->rejected.rose, a->count, iterations);
  else if (!rough && type != OPTIMIZER_ADAM && type != OPTIMIZER_AUTO)
    advise(a, "%d of %d trials rose: a method that crosses kinks: --set optimizer.type=adam%s", a->rejected.rose,
           a->count, steps_text(o, 0.25, &steps));
  text_free(&steps);
}

static void advise_steps(Advisor* a) {
  TaskOptimizerType type = a->o->task->optimizer.type;
  bool rates = type == OPTIMIZER_ADAM || type == OPTIMIZER_GRADIENT;
  int since = a->count - a->best;
  Text steps = {0};
  if (3 * a->rejected.solver > a->count)
    advise(a, "%d of %d trials were not solved; shorter steps:%s", a->rejected.solver, a->count,
           steps_text(a->o, 0.25, &steps));
  else if (rates && 2 * since > a->count)
    advise(a,
           "nothing improved for %d iterations; shorter steps:%s, or the choice of method left open: --set "
           "optimizer.type=auto",
           since, steps_text(a->o, 0.25, &steps));
  text_free(&steps);
}

/* ---- the key that bounds a variable: index of its item in the file's list */

typedef struct {
  const char* list;
  const void* items;
  size_t size, place, within;
  int count;
} ItemList;

#define ITEMS(name, array, number, type, member) \
  { name, array, sizeof(type), offsetof(type, place), offsetof(type, member), number }

static SourcePosition place_in(const ItemList* list, int k) {
  return *(const SourcePosition*)((const char*)list->items + (size_t)k * list->size + list->place);
}

static bool is_same_place(SourcePosition a, SourcePosition b) { return a.line == b.line && a.column == b.column; }

/* Sets *key to the task key of a variable's `within`, such as design.vertices.0.within, and *within to its value.
 * Returns false if the variable has no finite `within`. Consecutive links of one item have the same place in the
 * file. */
static bool find_within(const Optimization* o, int variable, Text* key, double* within) {
  const Task* t = o->task;
  const ItemList lists[] = {
      ITEMS("design.vertices", t->vertices, t->vertices_count, TaskVertices, bounds.within),
      ITEMS("design.cage", t->cages, t->cage_count, TaskCage, bounds.within),
      ITEMS("design.attachments", t->attachments, t->attachment_count, TaskAttachment, bounds.within),
      ITEMS("control", t->controls, t->control_count, TaskControl, within),
      ITEMS("initial", t->starts, t->start_count, TaskStart, within),
      ITEMS("parameters", t->parameters, t->parameter_count, TaskParameter, within),
  };
  SourcePosition wanted = o->design.variables[variable].place;
  for (size_t l = 0; l < sizeof lists / sizeof lists[0] && wanted.line > 0; l++) {
    int number = -1;
    for (int k = 0; k < lists[l].count; k++) {
      SourcePosition place = place_in(&lists[l], k);
      if (k == 0 || !is_same_place(place, place_in(&lists[l], k - 1))) number++;
      memcpy(within, (const char*)lists[l].items + (size_t)k * lists[l].size + lists[l].within, sizeof *within);
      if (!is_same_place(place, wanted) || !isfinite(*within)) continue;
      text_add(key, "%s.%d.within", lists[l].list, number);
      return true;
    }
  }
  return false;
}

/* Advises the user to widen the bounds of the item with most variables at bounds. Gives no advice if these variables
 * are fewer than `part` of the variables that moved. The variables of an item are consecutive. */
static void advise_bounds(Advisor* a, double part) {
  const Optimization* o = a->o;
  const DesignVariable* v = o->design.variables;
  int moved = 0, most = 0, count = 0, chosen = -1;
  for (int k = 0; k < o->design.variable_count; k++) {
    if (k > 0 && !is_same_place(v[k].place, v[k - 1].place)) count = 0;
    moved += has_moved(o, k);
    count += bound_of(o, k) != 0;
    if (bound_of(o, k) == 0 || count <= most) continue;
    most = count;
    chosen = k;
  }
  if (chosen < 0 || most < part * moved) return;
  Text key = {0};
  double within;
  if (find_within(o, chosen, &key, &within))
    advise(a, "variables at their bounds: %d, %s among them; wider: --set %s=%.6g", most,
           o->design.variables[chosen].name, key.data, 2 * within);
  else
    advise(a, "variables at their bounds: %d, %s among them; widen its low and high", most,
           o->design.variables[chosen].name);
  text_free(&key);
}

/* Returns true if the search reached its goals and needs no remedy. */
static bool is_satisfied(const Optimization* o) {
  if (optimization_success_count(o) > 0) return optimization_succeeded(o);
  if (o->best_loss >= 0 && o->best_loss < SOLVED * o->rows[0].loss) return true;
  return o->stop == STOP_LOSS || (o->stop == STOP_FLAT && !is_flat(o));
}

static void add_advice(Advisor* a) {
  const Optimization* o = a->o;
  const TaskOptimizer* settings = &o->task->optimizer;
  if (is_satisfied(o)) return;
  if (is_flat(o) && a->best == 0) advise_continuation(a, "the gradient of the loss is zero at the start");
  int term = unchanged_term(a);
  if (term >= 0 && !(is_flat(o) && a->best == 0)) {
    Text why = {0};
    text_add(&why, "term %s never changed", optimization_term_name(o, term));
    advise_continuation(a, why.data);
    text_free(&why);
  }
  int lost = slope_lost_at(o);
  if (lost > 0 && term < 0) {
    Text why = {0};
    text_add(&why, "the design of iteration %d no longer changes the loss, %s", lost,
             contact_of(o)->model == CONTACT_NONE
                 ? "for example because the robot is at rest or every controller is at max_force"
                 : "for example because bodies no longer touch");
    advise_continuation(a, why.data);
    text_free(&why);
  }
  advise_term(a);
  advise_point(a);
  if (still_falls(a))
    advise(a, "the loss was still falling: --resume --iterations %d goes on, or --set optimizer.iterations=%d",
           2 * settings->iterations, 2 * settings->iterations);
  advise_rough(a);
  advise_steps(a);
  advise_bounds(a, BOUND_PART);
  bool alone = o->task->multistart <= 1 && !o->task->receding.given && !has_continuation(o);
  if (a->given == 0 && o->stop == STOP_ITERATIONS && 10 * a->best >= 9 * a->count && a->best > 0)
    advise(a, "the last iterations still improved the design: --resume --iterations %d goes on",
           2 * settings->iterations);
  if (a->inner > 0)
    advise(a,
           "vertices inside a hull have no derivative: `cage` in the place of `vertices`, or a loss `roughness` "
           "(docs/co-design.md)");
  if (a->count > 0 && a->given == 0 && alone && o->task->draw_count == 0)
    advise(a, "start from more designs: --set multistart=8");
  if (a->given == 0) advise_bounds(a, 0);
}

/* ---------------------------------------------------------------- the report */

static void add_stopped(Advisor* a, bool interrupted) {
  const Optimization* o = a->o;
  text_add(&a->out->stopped, "%s after %d iterations: loss %.8g at the start, %.8g at best (iteration %d)",
           optimization_stop_text(interrupted ? STOP_INTERRUPTED : optimization_stop(o)), a->count, o->rows[0].loss,
           o->best_loss, a->best);
}

void optimization_report(const Optimization* o, bool interrupted, OptimizationReport* report) {
  *report = (OptimizationReport){0};
  Advisor a = {o, report, optimization_rejected(o), o->iteration, o->best_iteration, 0, 0};
  add_stopped(&a, interrupted);
  list_search(&a);
  list_methods(&a);
  list_start_pairs(&a);
  list_terms(&a);
  list_bounds(&a);
  list_unmoved(&a);
  a.inner = add_inner_vertices(o, &report->findings);
  if (!interrupted) list_success(&a);
  if (!interrupted) add_advice(&a);
}

void optimization_report_free(OptimizationReport* report) {
  text_free(&report->stopped);
  text_free(&report->findings);
  text_free(&report->advice);
}
