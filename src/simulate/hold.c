/* Trees that stay where they are for a round of Newton's method: all but a few that are far from balance, and what
 * these touch (docs/derivations/step.md, S18). */
#include <math.h>
#include <string.h>

#include "simulate/sim.h"

/* Out of balance by more than this part of the forces at work is far from it. */
#define FAR 3e-3
/* It is worth a round of its own where no more than this part of the trees that are out of balance are. */
#define FEW 0.25
/* So many such rounds in a row at most: then all move, for what is held is drawn along by what moves. */
enum { ROUNDS_MOST = 20 };

/* A round of all trees that went less far in an island of so many was cut by few pairs: the next one is of all again.
 */
#define CUT 0.3
enum { TREES_LEAST = 16 };

void hold_create(Sim* s) {
  if (!step_crowded(s->model) || s->closures || s->tendons) return;
  s->held = MEMORY_NEW(bool, s->model->tree_count);
  s->near_far = MEMORY_NEW(bool, s->model->tree_count);
  s->strayed = MEMORY_NEW(bool, s->model->tree_count);
}

static bool is_far(const Sim* s, int tree) {
  const ModelTree* t = &s->model->trees[tree];
  bool far = false;
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
    far = far || fabs(s->gradient[d]) * s->tolerance > FAR * balance_allowed(s, d);
  return far;
}

static bool is_unbalanced(const Sim* s, int tree) {
  const ModelTree* t = &s->model->trees[tree];
  bool balanced = true;
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++) balanced = balanced && balance_reached(s, d);
  return !balanced;
}

/* What pairs with terms couple to those that are not held is not held either. */
static void free_neighbours(Sim* s) {
  int count = contact_term_count(s->contact), trees = s->model->tree_count;
  memcpy(s->near_far, s->held, sizeof(bool) * (size_t)trees);
  for (int k = 0; k < count; k++) {
    ContactTerms pair = contact_term(s->contact, k);
    int a = s->model->link_tree[pair.link_a], b = s->model->link_tree[pair.link_b];
    if (a < 0 || b < 0) continue;
    if (!s->held[a]) s->near_far[b] = false;
    if (!s->held[b]) s->near_far[a] = false;
  }
  memcpy(s->held, s->near_far, sizeof(bool) * (size_t)trees);
}

/* Pairs that cut a round of all are stiff where it ended: the next one knows, unless what they press is let go first.
 */
static bool was_cut(const Sim* s) {
  for (int k = 0; k < s->island_count; k++) {
    const Island* island = &s->islands[k];
    if (island->trees >= TREES_LEAST && island->alpha > 0 && island->alpha < CUT) return true;
  }
  return false;
}

/* What was far from balance in a round of this row goes on moving: two neighbours that moved by turns, each with the
 * other held, would come nearer by some hundredths a round. */
void hold_choose(Sim* s) {
  bool held_before = s->holds;
  s->holds = false;
  if (!s->held || !s->contact || !s->scope.whole || s->fixed_count > 0 || s->hold_rounds < 0) return;
  int far = 0, unbalanced = 0;
  for (int k = 0; k < s->model->tree_count; k++) {
    bool now = is_far(s, k), before = s->hold_rounds > 0 && s->strayed[k];
    s->strayed[k] = now || before;
    s->held[k] = !s->strayed[k];
    far += now;
    unbalanced += is_unbalanced(s, k);
  }
  if (far == 0 || far > FEW * unbalanced || s->hold_rounds >= ROUNDS_MOST || (!held_before && was_cut(s))) {
    s->hold_rounds = 0;
    return;
  }
  free_neighbours(s);
  s->holds = true;
  s->hold_rounds++;
}
