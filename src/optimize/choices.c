/* Search over combinations of discrete choices (docs/derivations/update.md, O19). */
#include <string.h>

#include "optimize/optimize.h"

struct ChoiceSearch {
  const Task* task;
  int combination_count,
      search_count; /* combination_count: number of combinations; search_count: number of combinations to evaluate */
  bool* tried; /* true if the combination was tried (combination_count). The combinations are numbered so that the last
                  choice varies fastest */
  int* candidates; /* workspace (size: combination_count) */
  int count;       /* number of selected combinations */
  int last,
      best; /* last: number of the last combination; best: number of the best combination, or -1 if there is none */
  double best_loss, best_violation;
  bool best_is_successful;
};

ChoiceSearch* choice_search_create(const Task* task) {
  ChoiceSearch* s = MEMORY_NEW(ChoiceSearch, 1);
  *s = (ChoiceSearch){.task = task, .combination_count = (int)task_combinations(task), .last = -1, .best = -1};
  s->search_count = task->choice_method == CHOICE_ALL || task->choice_tries > s->combination_count
                        ? s->combination_count
                        : task->choice_tries;
  s->tried = MEMORY_NEW(bool, s->combination_count);
  s->candidates = MEMORY_NEW(int, s->combination_count);
  return s;
}

void choice_search_destroy(ChoiceSearch* s) {
  if (!s) return;
  memory_free(s->tried);
  memory_free(s->candidates);
  memory_free(s);
}

int choice_search_count(const ChoiceSearch* s) { return s->search_count; }

static int count_differences(const Task* task, int a, int b) {
  int differ = 0;
  for (int k = task->choice_count - 1; k >= 0; k--) {
    int count = task->choices[k].count;
    differ += a % count != b % count;
    a /= count;
    b /= count;
  }
  return differ;
}

/* Stores the untried combinations in s->candidates and returns their number. With `near` only combinations that differ
 * from the best in one choice count. */
static int find_untried(const ChoiceSearch* s, bool near) {
  int count = 0;
  for (int k = 0; k < s->combination_count; k++)
    if (!s->tried[k] && (!near || count_differences(s->task, k, s->best) == 1)) s->candidates[count++] = k;
  return count;
}

/* Returns a random untried combination (O19). The strategy CHOICE_CLIMB prefers combinations that differ from the best
 * in one choice. */
static int draw_untried(const ChoiceSearch* s) {
  bool climbs = s->task->choice_method == CHOICE_CLIMB && s->best >= 0;
  int count = climbs ? find_untried(s, true) : 0;
  if (count == 0) count = find_untried(s, false);
  Random random = {s->task->seed};
  random.state = random_bits(&random) + (uint64_t)s->count;
  int k = (int)random_uniform(&random, 0, count);
  return s->candidates[k < count ? k : count - 1];
}

bool choice_search_next(ChoiceSearch* s, int* pick) {
  if (s->count == s->search_count) return false;
  bool in_order = s->task->choice_method == CHOICE_ALL || s->count == 0;
  s->last = in_order ? s->count : draw_untried(s);
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
  bool lower = meets != s->best_is_successful ? meets : loss < s->best_loss;
  bool better = s->best < 0 || excess < s->best_violation || (excess == s->best_violation && lower);
  if (!isfinite(loss) || isnan(violation) || !better) return false;
  s->best = s->last;
  s->best_loss = loss;
  s->best_violation = excess;
  s->best_is_successful = meets;
  return true;
}
