/* Search over combinations of discrete choices: selects the next combination to optimize
 * (docs/derivations/update.md, O19). */
#include <string.h>

#include "optimize/optimize.h"

struct ChoiceSearch {
  const Task* task;
  int all, tries; /* all: number of combinations; tries: number of combinations to evaluate */
  bool* tried;    /* true for combinations that were tried (all); in the number of a combination the last choice varies
                     fastest */
  int* room;      /* workspace for candidates (all) */
  int count;      /* combinations returned so far */
  int last, best; /* numbers of the last and the best combination; best -1: none */
  double best_loss, best_excess;
  bool best_meets;
};

ChoiceSearch* choice_search_create(const Task* task) {
  ChoiceSearch* s = MEMORY_NEW(ChoiceSearch, 1);
  *s = (ChoiceSearch){.task = task, .all = (int)task_combinations(task), .last = -1, .best = -1};
  s->tries = task->choice_method == CHOICE_ALL || task->choice_tries > s->all ? s->all : task->choice_tries;
  s->tried = MEMORY_NEW(bool, s->all);
  s->room = MEMORY_NEW(int, s->all);
  return s;
}

void choice_search_destroy(ChoiceSearch* s) {
  if (!s) return;
  memory_free(s->tried);
  memory_free(s->room);
  memory_free(s);
}

int choice_search_count(const ChoiceSearch* s) { return s->tries; }

/* Returns the number of choices in which two combinations differ. */
static int difference(const Task* task, int a, int b) {
  int differ = 0;
  for (int k = task->choice_count - 1; k >= 0; k--) {
    int count = task->choices[k].count;
    differ += a % count != b % count;
    a /= count;
    b /= count;
  }
  return differ;
}

/* Sets s->room to the numbers of the untried combinations and returns how many there are. If `near`, only
 * combinations that differ from the best in one choice count. */
static int untried(const ChoiceSearch* s, bool near) {
  int count = 0;
  for (int k = 0; k < s->all; k++)
    if (!s->tried[k] && (!near || difference(s->task, k, s->best) == 1)) s->room[count++] = k;
  return count;
}

/* Returns the number of a random untried combination (O19). CHOICE_CLIMB prefers combinations that differ from the
 * best in one choice. */
static int draw(const ChoiceSearch* s) {
  bool climbs = s->task->choice_method == CHOICE_CLIMB && s->best >= 0;
  int count = climbs ? untried(s, true) : 0;
  if (count == 0) count = untried(s, false);
  Random random = {s->task->seed};
  random.state = random_bits(&random) + (uint64_t)s->count;
  int k = (int)random_uniform(&random, 0, count);
  return s->room[k < count ? k : count - 1];
}

bool choice_search_next(ChoiceSearch* s, int* pick) {
  if (s->count == s->tries) return false;
  bool in_order = s->task->choice_method == CHOICE_ALL || s->count == 0;
  s->last = in_order ? s->count : draw(s);
  s->tried[s->last] = true;
  s->count++;
  for (int k = s->task->choice_count - 1, rest = s->last; k >= 0; k--) {
    pick[k] = rest % s->task->choices[k].count;
    rest /= s->task->choices[k].count;
  }
  return true;
}

bool choice_search_report(ChoiceSearch* s, double loss, double violation, bool meets) {
  double excess = violation > CHOICE_TOLERANCE ? violation : 0;
  bool lower = meets != s->best_meets ? meets : loss < s->best_loss;
  bool better = s->best < 0 || excess < s->best_excess || (excess == s->best_excess && lower);
  if (!isfinite(loss) || isnan(violation) || !better) return false;
  s->best = s->last;
  s->best_loss = loss;
  s->best_excess = excess;
  s->best_meets = meets;
  return true;
}
