/* Assembles the terms of links, joints, contact, closures and tendons and their gradient at the accepted configuration,
 * and records which terms are out of date (docs/derivations/step.md, S9). */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/loads.h"
#include "simulate/tendons.h"

void step_mark_all_stale(Sim* s) {
  s->marks.all_stale = true;
  for (int n = 0; n < s->scope.tree_count; n++) s->marks.stale[s->scope.trees[n]] = s->marks.stale_blocks[n] = true;
}

/* Marks both trees of every contact pair as stale if one of them is marked in `trees`. */
static void mark_coupled_trees_stale(Sim* s, ContactTermList contact, const bool* trees) {
  int count = contact.holder ? contact.count(contact.holder) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    int a = s->model->link_tree[t.link_a], b = s->model->link_tree[t.link_b];
    if (!((a >= 0 && trees[a]) || (b >= 0 && trees[b]))) continue;
    if (a >= 0) s->marks.stale[a] = true;
    if (b >= 0) s->marks.stale[b] = true;
  }
}

void step_mark_moved_stale(Sim* s) {
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    s->marks.stale[k] = s->marks.stale[k] || s->trial.moving[k];
  }
  mark_coupled_trees_stale(s, contact_term_list(s->contact), s->trial.moving);
}

void step_mark_stale(Sim* s, const bool* links) {
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (links[i] && s->model->link_tree[i] >= 0) s->marks.stale[s->model->link_tree[i]] = true;
  }
}

/* Marks the terms of all trees as up to date. Trees with closures, tendons or bushings stay stale, because their terms
 * change even without motion. Marks the Hessian blocks of all trees with recomputed terms as out of date. */
static void mark_assembled(Sim* s) {
  s->marks.all_stale = false;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    s->marks.stale_blocks[n] = s->marks.stale_blocks[n] || s->marks.stale[k];
    s->marks.is_balance_current[k] = s->marks.is_balance_current[k] && !s->marks.stale[k];
    s->marks.stale[k] = s->marks.always_stale[k];
  }
}

void step_link_terms(Sim* s, int i) {
  assert(i >= 0 && i < s->model->link_count);
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  model_link_screws(m, i, c->q, c->pose, s->assembly.screws);
  s->assembly.reference[i] = pose_apply(c->pose[i], m->links[i].center);
  if (m->links[i].tree >= 0)
    inertia_terms(&m->links[i], c->pose[i], s->target[i], step_inertia_weight(s), &s->assembly.terms[i]);
  else
    memset(&s->assembly.terms[i], 0, sizeof(LinkTerms));
}

static void compute_link_terms_task(void* context, int index, int thread) {
  (void)thread;
  Sim* s = context;
  int i = s->scope.links[index];
  if (step_is_stale(s, i)) step_link_terms(s, i);
}

static void compute_link_terms(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  parallel_for(s->options.threads, s->scope.link_count, TREES_PARALLEL, TREES_GRAIN, compute_link_terms_task, s);
  if (s->closures)
    closures_assemble(s->closures, c->pose, c->q, s->assembly.reference, s->assembly.screws, step_inertia_weight(s));
  if (s->tendons) tendons_assemble(s->tendons, c->pose, c->q, s->assembly.reference, s->assembly.screws);
  if (s->bushings) bushings_assemble(s->bushings, c->pose, s->assembly.reference);
}

void step_compute_closure_jacobian(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  if (s->closures)
    closures_compute_jacobian(s->closures, c->pose, c->q, s->assembly.reference, s->assembly.screws,
                              step_inertia_weight(s));
}

static void set_assembly_lists(Sim* s, ContactTermList contact, Assembly* a) {
  *a = (Assembly){.model = s->model,
                  .scope = &s->scope,
                  .threads = s->options.threads,
                  .stiffening = 1,
                  .tree_first = s->trees.first,
                  .tree_links = s->trees.links,
                  .sides = &s->assembly.sides,
                  .screws = s->assembly.screws,
                  .reference = s->assembly.reference,
                  .links = s->assembly.terms,
                  .joints = s->configuration[s->current].joints,
                  .contact = contact,
                  .closures = closures_terms(s->closures),
                  .tendons = tendons_terms(s->tendons),
                  .bushings = bushings_terms(s->bushings),
                  .stale = s->marks.all_stale ? NULL : s->marks.stale};
  closures_set_assembly_rows(s->closures, a);
  tendons_set_assembly_terms(s->tendons, a);
  assembly_list_tree_terms(a, &s->assembly.sides);
}

/* Adds loads and fluid to the link terms and assembles the gradient. Call after balance_compute_force_scales, which
 * does not expect loads in the link terms. */
static void add_loads_and_assemble_gradient(Sim* s, Assembly* a) {
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  for (int n = 0; s->loads && n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (load_acts_in_step(s, i) && step_is_stale(s, i))
      load_add_terms(&s->loads[i], &m->links[i], c->pose[i], &s->assembly.terms[i]);
  }
  for (int n = 0; s->fluid && n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (fluid_acts_on(s->fluid, i) && step_is_stale(s, i)) fluid_add_terms(s, i, &c->pose[i], &s->assembly.terms[i]);
  }
  assemble_gradient(a, s->newton.gradient);
  tendons_add_joint_gradient(s->tendons, s->newton.gradient);
  a->stale = NULL;
  mark_assembled(s);
}

void step_assemble(Sim* s, ContactTermList contact, Assembly* a) {
  compute_link_terms(s);
  set_assembly_lists(s, contact, a);
  balance_compute_force_scales(s, a);
  add_loads_and_assemble_gradient(s, a);
}

void step_assemble_keeping_scales(Sim* s, ContactTermList contact, Assembly* a) {
  step_mark_all_stale(s);
  compute_link_terms(s);
  set_assembly_lists(s, contact, a);
  add_loads_and_assemble_gradient(s, a);
  step_compute_closure_jacobian(s);
}
