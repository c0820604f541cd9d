/* Report on an optimization: why it ended, and remedies as exact --set options. The report reads rows, variables and
 * success terms and simulates nothing. */
#include <string.h>

#include "model/tree.h"
#include "optimize/design_build.h"
#include "optimize/optimization.h"

/* Largest number of variable names in one line. */
enum { NAMES_MAX = 5 };
/* Largest number of remedies in a report, and of links for which `approach` is suggested. */
enum { REMEDIES_MAX = 3, LINKS_MAX = 4 };
/* A variable counts as unchanged if it changed by less than this fraction of its range. Without a range, its step
 * replaces the range. */
#define MOVE_TOLERANCE 1e-6
/* A search is still improving if its last quarter of iterations contributed more than this fraction of the total
 * decrease of the loss. */
#define IMPROVEMENT_MIN 0.02
/* A task without `success` terms counts as solved if the loss is below this fraction of the initial loss. For a squared
 * distance this is a thousandth of the initial distance. */
#define SOLVED_FRACTION 1e-6
/* Bounds count as limiting the design if at least this fraction of the changed variables are at their bounds. */
#define BOUND_FRACTION 0.1

typedef struct {
  const Optimization* o;
  OptimizationReport* out;
  RejectedTrials rejected;
  int count, best, remedy_count; /* count: number of iterations; best: iteration of the best design; remedy_count:
                                    number of remedies in the report */
  int inner_link_count;          /* number of links with vertices inside their hulls */
} ReportBuild;

RejectedTrials optimization_rejected(const Optimization* o) {
  RejectedTrials out = {0};
  for (int k = 1; k <= o->iteration; k++) {
    out.invalid += o->rows[k].outcome == TRIAL_INVALID;
    out.rose += o->rows[k].outcome == TRIAL_ROSE;
    out.solver += o->rows[k].outcome > TRIAL_INVALID;
  }
  return out;
}

static bool is_at_bound(double x, double bound, double range) { return fabs(x - bound) <= MOVE_TOLERANCE * range; }

static double variable_range(const Optimization* o, int k) {
  const DesignVariable* v = &o->design.variables[k];
  double range = v->high - v->low;
  return isfinite(range) ? range : o->step[v->block];
}

/* Returns -1 if a variable of the best design is at its lower bound, 1 at its upper bound, otherwise 0. Returns 0 for
 * equal bounds. */
static int active_bound(const Optimization* o, int k) {
  const DesignVariable* v = &o->design.variables[k];
  double range = variable_range(o, k);
  if (!(range > 0) || v->high == v->low) return 0;
  return is_at_bound(o->best_x[k], v->low, range) ? -1 : is_at_bound(o->best_x[k], v->high, range) ? 1 : 0;
}

static bool variable_has_moved(const Optimization* o, int k) {
  return !is_at_bound(o->best_x[k], o->design.variables[k].initial, variable_range(o, k));
}

static void append_bounds(ReportBuild* a) {
  const Optimization* o = a->o;
  int count = 0, variables = o->design.variable_count;
  Text names = {0};
  for (int k = 0; k < variables; k++) {
    int side = active_bound(o, k);
    if (side == 0) continue;
    const DesignVariable* v = &o->design.variables[k];
    if (count++ < NAMES_MAX)
      text_add(&names, "%s %s (%s %.6g)", count > 1 ? "," : "", v->name, side < 0 ? "low" : "high",
               side < 0 ? v->low : v->high);
  }
  if (count > 0)
    text_add(&a->out->findings, "%d of %d variables are at a bound:%s%s\n", count, variables, names.data,
             count > NAMES_MAX ? ", ..." : "");
  text_free(&names);
}

static void append_unmoved(ReportBuild* a) {
  const Optimization* o = a->o;
  int count = 0, variables = o->design.variable_count;
  Text names = {0};
  for (int k = 0; k < variables; k++)
    if (!variable_has_moved(o, k) && count++ < NAMES_MAX)
      text_add(&names, "%s %s", count > 1 ? "," : "", o->design.variables[k].name);
  if (count > 0)
    text_add(&a->out->findings, "%d of %d variables did not change:%s%s\n", count, variables, names.data,
             count > NAMES_MAX ? ", ..." : "");
  text_free(&names);
}

static bool has_free_vertices(const Optimization* o, const char* link) {
  bool free = false;
  for (int k = 0; k < o->task->vertices_count; k++) free = free || strcmp(o->task->vertices[k].link.text, link) == 0;
  for (int k = 0; k < o->task->cage_count; k++) free = free && strcmp(o->task->cages[k].link.text, link) != 0;
  return free;
}

/* Returns the number of vertices that no triangle of the hull uses. */
static int count_inner_vertices(const ConvexHull* solid) {
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

/* Appends a line for each link with vertices inside its hulls, which have no derivative. Returns the number of lines.
 * The design is the one simulated last. */
static int append_inner_vertices(const Optimization* o, Text* out) {
  const Model* model = &o->runs[0].model;
  int links = 0;
  for (int i = 0; i < model->link_count && o->runs[0].has_model; i++) {
    const ModelLink* link = &model->links[i];
    int inner_link_count = 0, all = 0;
    for (int h = link->hull_first; has_free_vertices(o, link->name) && h < link->hull_first + link->hull_count; h++) {
      const ConvexHull* solid = &model->hulls[h].solid;
      if (solid->triangle_count == 0 || !design_changes_hull(&o->design, i, h - link->hull_first)) continue;
      inner_link_count += count_inner_vertices(solid);
      all += solid->vertex_count;
    }
    if (inner_link_count == 0) continue;
    text_add(
        out,
        "%d of %d vertices of '%s' lie inside its hull and have no derivative: use `cage`, `roughness` or `size`\n",
        inner_link_count, all, link->name);
    links++;
  }
  return links;
}

static const double* row_terms(const Optimization* o, int iteration) {
  return o->row_terms + (size_t)iteration * (size_t)o->term_count;
}

static void append_terms(ReportBuild* a) {
  const double *first = row_terms(a->o, 0), *best = row_terms(a->o, a->best);
  for (int t = 0; t < a->o->term_count; t++)
    text_add(&a->out->findings, "term %s %s: %.6g at the start, %.6g at the best design\n",
             optimization_term_name(a->o, t),
             best[t] < first[t]   ? "fell"
             : best[t] > first[t] ? "rose"
                                  : "did not change",
             first[t], best[t]);
}

static void append_rejections(ReportBuild* a) {
  Text* out = &a->out->findings;
  RejectedTrials r = a->rejected;
  if (a->count > a->best)
    text_add(out, "the best design is that of iteration %d; the last %d of %d iterations improved nothing\n", a->best,
             a->count - a->best, a->count);
  if (r.invalid + r.solver + r.rose > 0)
    text_add(out, "%d of %d trials were rejected: %d raised the loss, %d were not solved, %d could not start\n",
             r.invalid + r.solver + r.rose, a->count, r.rose, r.solver, r.invalid);
}

static void append_start_pairs(ReportBuild* a) {
  const Optimization* o = a->o;
  if (o->corrected_trials == 0) return;
  text_add(&a->out->findings, "%d trials were moved so that they can start", o->corrected_trials);
  for (int k = 0; k < o->start_pair_count; k++)
    text_add(&a->out->findings, "%s %s", k == 0 ? ": designs are limited by the initial gap of" : ",",
             optimization_start_pair(o, k).text);
  text_add(&a->out->findings, "\n");
}

static void append_methods(ReportBuild* a) {
  for (int k = 0; k < optimization_method_change_count(a->o); k++) {
    optimization_add_method_change(a->o, k, &a->out->findings);
    text_add(&a->out->findings, "\n");
  }
}

static const TaskLoss* find_failed_term(const Optimization* o, SuccessTerm* term) {
  for (int i = 0; i < optimization_success_count(o); i++) {
    *term = optimization_success(o, i);
    if (!term->met) return &o->task->success[i];
  }
  return NULL;
}

static void append_success(ReportBuild* a) {
  SuccessTerm term;
  if (!find_failed_term(a->o, &term)) return;
  if (isnan(term.value))
    text_add(&a->out->findings, "success fails: %s has no value, as the run of the best design was not judged\n",
             term.name);
  else
    text_add(&a->out->findings, "success fails first by %s: %.6g, which must be at most %.6g\n", term.name, term.value,
             term.bound);
}

/* Appends a line for each bound of `subject_to` that the best design violates. */
static void append_violated_bounds(ReportBuild* a) {
  const Optimization* o = a->o;
  const double* best = row_terms(o, a->best);
  int first = o->term_count - bounded_terms_count(o->bounded_terms);
  if (first == o->term_count || o->best_violation <= BOUNDED_TERM_TOLERANCE) return;
  for (int t = first; t < o->term_count; t++)
    if (best[t] > o->task->losses[t].bound)
      text_add(&a->out->findings, "subject_to is not met: %s is %.6g at the best design, and must be at most %.6g\n",
               optimization_term_name(o, t), best[t], o->task->losses[t].bound);
}

static void append_remedy(ReportBuild* a, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void append_remedy(ReportBuild* a, const char* format, ...) {
  if (a->remedy_count >= REMEDIES_MAX) return;
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&a->out->advice, format, arguments);
  va_end(arguments);
  text_add(&a->out->advice, "\n");
  a->remedy_count++;
}

static const SceneContact* scene_contact(const Optimization* o) { return &o->contacts[0].given; }

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

/* Returns true if the link has variables and hulls, and none of its descendants has variables. */
static bool is_last_variable_link(const Optimization* o, int link) {
  const Model* m = &o->runs[0].model;
  if (m->links[link].tree < 0 || m->links[link].hull_count == 0 || !has_variables(o, m->links[link].name)) return false;
  for (int i = link + 1; i < m->link_count; i++)
    if (model_descends(m, i, link) && has_variables(o, m->links[i].name)) return false;
  return true;
}

/* Returns the first movable link with hulls that a loss refers to but no variable changes, or -1. */
static int find_passive_link(const Optimization* o) {
  for (int t = 0; t < o->term_count; t++) {
    const TaskLoss* term = &o->task->losses[t];
    int link = term->link.text ? design_find_link(&o->task->scenarios[0].scene, term->link.text) : -1;
    if (link < 0) continue;
    const ModelLink* l = &o->runs[0].model.links[link];
    if (l->tree >= 0 && l->hull_count > 0 && !has_variables(o, l->name)) return link;
  }
  return -1;
}

/* Suggests `approach` losses between links with variables and the link of find_passive_link, because their gradient is
 * nonzero at any distance. */
static void advise_approach(ReportBuild* a) {
  const Optimization* o = a->o;
  const Model* m = &o->runs[0].model;
  int subject = find_passive_link(o), tips = 0;
  if (subject < 0 || scene_contact(o)->model == CONTACT_NONE) return;
  for (int t = 0; t < o->term_count; t++)
    if (o->task->losses[t].type == LOSS_APPROACH) return;
  Text sets = {0};
  for (int i = 0; i < m->link_count; i++)
    if (is_last_variable_link(o, i) && tips++ < LINKS_MAX)
      text_add(&sets, " --set 'loss.+={type: approach, link: %s, other: %s}'", m->links[i].name,
               m->links[subject].name);
  if (tips > 0)
    append_remedy(a, "no variable moves '%s': a loss that falls as links come nearer to it has a slope:%s",
                  m->links[subject].name, sets.data);
  text_free(&sets);
}

/* Suggests to begin with long-range contact, whose gradient is nonzero before bodies touch, and to end with the scene's
 * law. */
static void advise_continuation(ReportBuild* a, const char* why) {
  const Optimization* o = a->o;
  int iterations = o->task->optimizer.iterations, half = iterations > 1 ? iterations / 2 : 1;
  ContactModel law = scene_contact(o)->model;
  if (law == CONTACT_NONE || law == CONTACT_LONG_RANGE || has_continuation(o) || o->task->multistart > 1)
    append_remedy(a, "%s: look at what happens with sdrs render, and begin nearer to what is wanted", why);
  else
    append_remedy(a,
                  "%s; feel contact from a distance first: --set scene.contact.model=long_range --set "
                  "'schedule={contact.model: {to: %s, at: %d}}'",
                  why, contact_model_name(law), half);
  advise_approach(a);
}

static bool gradient_is_zero(const Optimization* o) {
  const OptimizationRow* first = &o->rows[0];
  return o->task->optimizer.type != OPTIMIZER_CMA_ES && first->grad_design == 0 && first->grad_control == 0;
}

/* Returns the first iteration, except iteration 0, at which `optimizer: auto` found a zero gradient, or 0. */
static int find_zero_gradient(const Optimization* o) {
  for (int k = 0; k < o->automatic.change_count; k++) {
    const MethodChange* c = &o->automatic.changes[k];
    if (c->reason == CHANGE_NO_SLOPE && c->iteration > 0) return c->iteration;
  }
  return 0;
}

static bool is_same_loss(const TaskLoss* a, const TaskLoss* b) {
  if (a->type == LOSS_TRAVEL && b->type == LOSS_TRAVEL && !(vec3_dot(a->direction, b->direction) > 0.5)) return false;
  return a->type == b->type && (!a->link.text || !b->link.text || strcmp(a->link.text, b->link.text) == 0);
}

/* Suggests a loss for the first failed `success` term if no loss addresses it. */
static void advise_term(ReportBuild* a) {
  const Optimization* o = a->o;
  SuccessTerm term;
  const TaskLoss* wish = find_failed_term(o, &term);
  if (!wish) return;
  for (int t = 0; t < o->term_count; t++)
    if (is_same_loss(wish, &o->task->losses[t])) return;
  if (wish->type == LOSS_TRAVEL && wish->link.text)
    append_remedy(
        a,
        "no term of the loss asks for %s of '%s': --set 'loss.+={type: travel, link: %s, direction: [%g, %g, %g]%s}'",
        term.name, wish->link.text, wish->link.text, wish->direction.x, wish->direction.y, wish->direction.z,
        (const char*[]){"", ", over: best", ", over: worst"}[wish->over]);
  else if (wish->type == LOSS_POINT && wish->link.text)
    append_remedy(
        a, "no term of the loss asks for %s of '%s': --set 'loss.+={type: point, link: %s, target: [%g, %g, %g]}'",
        term.name, wish->link.text, wish->link.text, wish->target.x, wish->target.y, wish->target.z);
  else
    append_remedy(a, "no term of the loss asks for %s: add it to loss as it stands in success, without max", term.name);
}

/* Suggests to measure a failed `point` term of `success` at the link's origin, if the centre of mass is farther from
 * the origin than the term allows. */
static void advise_point(ReportBuild* a) {
  const Optimization* o = a->o;
  SuccessTerm term;
  const TaskLoss* wish = find_failed_term(o, &term);
  if (!wish || wish->type != LOSS_POINT || wish->has_point || !wish->link.text) return;
  int link = design_find_link(&o->task->scenarios[0].scene, wish->link.text);
  if (link < 0) return;
  Vec3 c = o->runs[0].model.links[link].center;
  if (!(vec3_norm(c) > (wish->power == 1 ? term.bound : sqrt(fmax(term.bound, 0))))) return;
  Text sets = {0};
  for (int t = 0; t < o->term_count; t++)
    if (is_same_loss(wish, &o->task->losses[t]) && !o->task->losses[t].has_point)
      text_add(&sets, " --set 'loss.%d.point=[0, 0, 0]'", t);
  text_add(&sets, " --set 'success.%d.point=[0, 0, 0]'", (int)(wish - o->task->success));
  append_remedy(
      a, "%s measures the centre of mass of '%s', at (%.4g, %.4g, %.4g) m in its frame; to measure its origin:%s",
      term.name, wish->link.text, c.x, c.y, c.z, sets.data);
  text_free(&sets);
}

/* Returns the first loss term of a link that is constant although trials were accepted, or -1. A constant 0 counts for
 * `travel` only, because 0 is the minimum of the other losses. */
static int find_constant_term(const ReportBuild* a) {
  const Optimization* o = a->o;
  int accepted = 0;
  for (int k = 1; k <= a->count; k++) accepted += o->rows[k].outcome == TRIAL_ACCEPTED;
  for (int t = 0; accepted > 0 && t < o->term_count; t++) {
    double first = row_terms(o, 0)[t];
    bool same = (first != 0 || o->task->losses[t].type == LOSS_TRAVEL) && o->task->losses[t].link.text != NULL;
    for (int k = 1; k <= a->count && same; k++) same = row_terms(o, k)[t] == first;
    if (same) return t;
  }
  return -1;
}

/* Returns true if the loss was still falling when the iterations ended: the best design is in the last tenth or, of
 * CMA-ES, in the last generation, and the last quarter contributed more than IMPROVEMENT_MIN of the gain. `from`
 * receives the iteration at the beginning of the last quarter. */
static bool is_still_improving(const ReportBuild* a, int* from) {
  const OptimizationRow* rows = a->o->rows;
  int samples = optimizer_samples(a->o->optimizer), quarter = a->count / 4 > 2 ? a->count / 4 : 2;
  int recent = a->count / 10 > 1 ? a->count / 10 : 1;
  if (recent < samples) recent = samples;
  *from = a->count > quarter ? a->count - quarter : 0;
  double gain = rows[0].loss - rows[a->best].loss, late = rows[*from].loss - rows[a->best].loss;
  return a->best >= a->count - recent && late > IMPROVEMENT_MIN * gain && late > 0;
}

/* Returns true if CMA-ES has sampled for fewer iterations than it needs to be judged. `since` receives the iteration of
 * its last progress or of its start. */
static bool is_sampling_unfinished(const ReportBuild* a, int* since) {
  const Automatic* automatic = &a->o->automatic;
  int begun = automatic->change_count > 0 ? automatic->changes[automatic->change_count - 1].iteration : 0;
  *since = a->best > begun ? a->best : begun;
  return automatic->method == OPTIMIZER_CMA_ES && a->o->task->multistart <= 1 &&
         a->count - *since < automatic_patience(a->o);
}

/* Advises more iterations if the iterations ended before the search did. */
static void advise_iterations(ReportBuild* a) {
  const Optimization* o = a->o;
  int from, since;
  if (o->stop != STOP_ITERATIONS) return;
  Text more = {0};
  text_add(&more, "--resume --iterations %d goes on, or --set optimizer.iterations=%d",
           2 * o->task->optimizer.iterations, 2 * o->task->optimizer.iterations);
  if (is_still_improving(a, &from))
    append_remedy(a, "the loss was still falling, from %.4g after iteration %d to %.4g in iteration %d: %s",
                  o->rows[from].loss, from, o->rows[a->best].loss, a->best, more.data);
  else if (is_sampling_unfinished(a, &since))
    append_remedy(
        a, "cma_es had too few iterations: %d of at least %d since iteration %d, best loss %.4g of iteration %d: %s",
        a->count - since, automatic_patience(o), since, o->rows[a->best].loss, a->best, more.data);
  text_free(&more);
}

static const char* steps_text(const Optimization* o, double factor, Text* out) {
  int blocks[2] = {0, 0};
  for (int k = 0; k < o->design.variable_count; k++) blocks[o->design.block[k]]++;
  if (blocks[0] > 0) text_add(out, " --set optimizer.design_step=%.3g", factor * o->step[0]);
  if (blocks[1] > 0) text_add(out, " --set optimizer.control_step=%.3g", factor * o->step[1]);
  return out->data ? out->data : "";
}

/* Returns a sphere or capsule that is approximated by facets, or NULL. The edges of facets make the loss jump after an
 * impact. */
static const SceneShape* find_faceted_ball(const Scene* scene) {
  for (int k = 0; k < scene->shape_count; k++) {
    const SceneShape* shape = &scene->shapes[k];
    if (shape->replaced && (shape->type == SHAPE_SPHERE || shape->type == SHAPE_CAPSULE)) return shape;
  }
  return NULL;
}

static void advise_noisy_loss(ReportBuild* a) {
  const Optimization* o = a->o;
  TaskOptimizerType type = o->task->optimizer.type;
  int iterations = o->task->optimizer.iterations > 300 ? o->task->optimizer.iterations : 300;
  bool rough = o->adjoint.growth > GRADIENT_GROWTH_LARGE;
  Text steps = {0};
  if (a->count == 0 || 2 * a->rejected.rose < a->count || o->automatic.method == OPTIMIZER_CMA_ES) return;
  const SceneShape* ball = find_faceted_ball(&o->task->scenarios[0].scene);
  if (ball && contact_supports_round_solids(o->runs[0].model.contact_model))
    append_remedy(
        a,
        "%d of %d trials rose, and the %s in line %d has facets, which make the loss jump at impacts: take '%s' out "
        "of it",
        a->rejected.rose, a->count, ball->type == SHAPE_SPHERE ? "sphere" : "capsule", ball->place.line,
        ball->type == SHAPE_SPHERE ? "resolution" : "segments");
  if (rough)
    append_remedy(
        a,
        "%d of %d trials rose, and gradients grow by a factor of %.1g along the run: a shorter run, --set steps=%d, "
        "or --set optimizer.discount=0.98 (docs/co-design.md, 'When gradients explode')",
        a->rejected.rose, a->count, o->adjoint.growth,
        task_step_count(o->task->scenarios[0].steps, o->runs[0].model.simulation.steps) / 2);
  if (o->runs[0].model.contact.bounces)
    append_remedy(
        a, "%d of %d trials rose at impacts that bounce: --set optimizer.type=cma_es --set optimizer.iterations=%d",
        a->rejected.rose, a->count, iterations);
  else if (!rough && type != OPTIMIZER_ADAM && type != OPTIMIZER_AUTO)
    append_remedy(a, "%d of %d trials rose: a method that crosses kinks: --set optimizer.type=adam%s", a->rejected.rose,
                  a->count, steps_text(o, 0.25, &steps));
  text_free(&steps);
}

static void advise_steps(ReportBuild* a) {
  TaskOptimizerType type = a->o->task->optimizer.type;
  bool rates = type == OPTIMIZER_ADAM || type == OPTIMIZER_GRADIENT;
  int since = a->count - a->best;
  Text steps = {0};
  if (3 * a->rejected.solver > a->count)
    append_remedy(a, "%d of %d trials were not solved; shorter steps:%s", a->rejected.solver, a->count,
                  steps_text(a->o, 0.25, &steps));
  else if (rates && 2 * since > a->count)
    append_remedy(a,
                  "nothing improved for %d iterations; shorter steps:%s, or the choice of method left open: --set "
                  "optimizer.type=auto",
                  since, steps_text(a->o, 0.25, &steps));
  text_free(&steps);
}

/* ---- task entry that bounds a variable */

typedef struct {
  const char* list;
  const void* items;
  size_t size, place, within;
  int count;
} ItemList;

#define ITEMS(name, array, number, type, member) \
  { name, array, sizeof(type), offsetof(type, place), offsetof(type, member), number }

static SourcePosition item_place(const ItemList* list, int k) {
  return *(const SourcePosition*)((const char*)list->items + (size_t)k * list->size + list->place);
}

static bool is_same_place(SourcePosition a, SourcePosition b) { return a.line == b.line && a.column == b.column; }

/* Finds the task key of a variable's `within`, for example design.vertices.0.within, and its value. Returns false
 * without a finite value. Consecutive links of one task entry have the same place in the file. */
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
      SourcePosition place = item_place(&lists[l], k);
      if (k == 0 || !is_same_place(place, item_place(&lists[l], k - 1))) number++;
      memcpy(within, (const char*)lists[l].items + (size_t)k * lists[l].size + lists[l].within, sizeof *within);
      if (!is_same_place(place, wanted) || !isfinite(*within)) continue;
      text_add(key, "%s.%d.within", lists[l].list, number);
      return true;
    }
  }
  return false;
}

/* Suggests to widen the bounds of the task entry with most variables at bounds, if these are at least `fraction` of the
 * moved variables. The variables of an entry are consecutive. */
static void advise_bounds(ReportBuild* a, double fraction) {
  const Optimization* o = a->o;
  const DesignVariable* v = o->design.variables;
  int moved = 0, most = 0, count = 0, chosen = -1;
  for (int k = 0; k < o->design.variable_count; k++) {
    if (k > 0 && !is_same_place(v[k].place, v[k - 1].place)) count = 0;
    moved += variable_has_moved(o, k);
    count += active_bound(o, k) != 0;
    if (active_bound(o, k) == 0 || count <= most) continue;
    most = count;
    chosen = k;
  }
  if (chosen < 0 || most < fraction * moved) return;
  Text key = {0};
  double within;
  if (find_within(o, chosen, &key, &within))
    append_remedy(a, "variables at their bounds: %d, %s among them; wider: --set %s=%.6g", most,
                  o->design.variables[chosen].name, key.data, 2 * within);
  else
    append_remedy(a, "variables at their bounds: %d, %s among them; widen its low and high", most,
                  o->design.variables[chosen].name);
  text_free(&key);
}

static bool has_active_bound(const Optimization* o) {
  for (int k = 0; k < o->design.variable_count; k++)
    if (active_bound(o, k) != 0) return true;
  return false;
}

/* Returns true if the search reached the goals of the task. The report then proposes no remedy. */
static bool has_reached_goals(const Optimization* o) {
  if (optimization_success_count(o) > 0) return optimization_succeeded(o);
  if (o->best_loss >= 0 && o->best_loss < SOLVED_FRACTION * o->rows[0].loss) return true;
  return o->stop == STOP_LOSS || (o->stop == STOP_FLAT && !gradient_is_zero(o) && !has_active_bound(o));
}

/* Returns the root of a link's tree if its joint has translations that are not variables yet, or -1. */
static int find_fixed_start(const Optimization* o, const Model* model, int link) {
  while (model->links[link].parent >= 0) link = model->links[link].parent;
  const ModelLink* root = &model->links[link];
  if (root->tree < 0 || root->prescribed >= 0 || root->joint.slide_count == 0) return -1;
  for (int k = 0; k < o->task->start_count; k++)
    if (o->task->starts[k].coordinates && strcmp(o->task->starts[k].link.text, root->name) == 0) return -1;
  return link;
}

/* Returns the translation of a joint that is nearest to the vertical. */
static int vertical_slide(const Joint* joint, Vec3 gravity) {
  int best = 0;
  for (int k = 1; k < joint->slide_count; k++)
    if (fabs(vec3_dot(joint->slide_axis[k], gravity)) > fabs(vec3_dot(joint->slide_axis[best], gravity))) best = k;
  return best;
}

/* If the initial gap of two links limits the design: advises to vary the initial position of a body. */
static void advise_start(ReportBuild* a) {
  const Optimization* o = a->o;
  if (o->corrected_trials == 0 || o->start_pair_count == 0) return;
  const StartPair* pair = &o->start_pairs[0];
  const Model* model = &o->runs[pair->scenario].model;
  for (int side = 0; side < 2; side++) {
    int root = find_fixed_start(o, model, side ? pair->b : pair->a);
    if (root < 0) continue;
    const ModelLink* link = &model->links[root];
    append_remedy(a,
                  "the initial gap limits the design; let the start of '%s' move along: --set 'initial.+={link: %s, "
                  "coordinates: true, dof: [%d]}'",
                  link->name, link->name, vertical_slide(&link->joint, model->simulation.gravity));
    return;
  }
}

static void append_remedies(ReportBuild* a) {
  const Optimization* o = a->o;
  const TaskOptimizer* settings = &o->task->optimizer;
  if (has_reached_goals(o)) return;
  if (optimization_success_count(o) == 0 && o->stop == STOP_FLAT && has_active_bound(o) && !gradient_is_zero(o)) {
    advise_bounds(a, 0);
    return;
  }
  if (gradient_is_zero(o) && a->best == 0) advise_continuation(a, "the gradient of the loss is zero at the start");
  int term = find_constant_term(a);
  if (term >= 0 && !(gradient_is_zero(o) && a->best == 0)) {
    Text why = {0};
    text_add(&why, "term %s never changed", optimization_term_name(o, term));
    advise_continuation(a, why.data);
    text_free(&why);
  }
  int lost = find_zero_gradient(o);
  if (lost > 0 && term < 0) {
    Text why = {0};
    text_add(&why, "the design of iteration %d no longer changes the loss, %s", lost,
             scene_contact(o)->model == CONTACT_NONE
                 ? "for example because the robot is at rest or every controller is at max_force"
                 : "for example because bodies no longer touch");
    advise_continuation(a, why.data);
    text_free(&why);
  }
  advise_start(a);
  advise_term(a);
  advise_point(a);
  advise_iterations(a);
  advise_noisy_loss(a);
  advise_steps(a);
  advise_bounds(a, BOUND_FRACTION);
  bool alone = o->task->multistart <= 1 && !o->task->receding.given && !has_continuation(o);
  if (a->remedy_count == 0 && o->stop == STOP_ITERATIONS && 10 * a->best >= 9 * a->count && a->best > 0)
    append_remedy(a, "the last iterations still improved the design: --resume --iterations %d goes on",
                  2 * settings->iterations);
  if (a->inner_link_count > 0)
    append_remedy(a,
                  "vertices inside a hull have no derivative: `cage` in the place of `vertices`, or a loss `roughness` "
                  "(docs/co-design.md)");
  if (a->count > 0 && a->remedy_count == 0 && alone && o->task->draw_count == 0)
    append_remedy(a, "start from more designs: --set multistart=8");
  if (a->remedy_count == 0) advise_bounds(a, 0);
}

static void append_reason(ReportBuild* a, bool interrupted) {
  const Optimization* o = a->o;
  text_add(&a->out->reason, "%s after %d iterations: loss %.8g at the start, %.8g at best (iteration %d)",
           optimization_stop_text(interrupted ? STOP_INTERRUPTED : optimization_stop(o)), a->count, o->rows[0].loss,
           o->best_loss, a->best);
}

void optimization_report(const Optimization* o, bool interrupted, OptimizationReport* report) {
  *report = (OptimizationReport){0};
  ReportBuild a = {o, report, optimization_rejected(o), o->iteration, o->best_iteration, 0, 0};
  append_reason(&a, interrupted);
  append_rejections(&a);
  append_methods(&a);
  append_start_pairs(&a);
  append_terms(&a);
  append_violated_bounds(&a);
  append_bounds(&a);
  append_unmoved(&a);
  a.inner_link_count = append_inner_vertices(o, &report->findings);
  if (!interrupted) append_success(&a);
  if (!interrupted) append_remedies(&a);
}

void optimization_report_free(OptimizationReport* report) {
  text_free(&report->reason);
  text_free(&report->findings);
  text_free(&report->advice);
}
