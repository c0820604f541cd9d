/* Checks contacts.csv and the gaps in solver.csv against exact distances of the hulls (docs/derivations/certificate.md,
 * P7). */
#include "app/run_check.h"
#include <assert.h>
#include <stdio.h>

/* Relative rounding error of a distance from GJK. Two computations for the same poses may end in different simplices.
 */
#define GAP_ROUNDING 1e-13
#define GAP_TOLERANCE 1e-7
/* Relative tolerance of a force whose separating plane is recomputed. */
#define FORCE_TOLERANCE 1e-5
/* Largest friction in the first step, as a multiple of the limit from the initial normal force (friction.md, F6). The
 * exact limit needs a solve without friction, which no file contains. */
#define FIRST_FRICTION_RATIO_MAX 100.0
/* Largest normal force that limits friction, as a multiple of the normal force in the recorded state. With
 * contact.friction_iterations the limit comes from the solve before the last, whose force differs if the iteration has
 * not converged (F8). */
#define NORMAL_FORCE_RATIO_MAX 2.0

enum { COLUMN_A = 1, COLUMN_GAP = 3, COLUMN_FORCE = 4 };

static double gap_tolerance(const RunCheck* c, int state, int a, int b, double gap) {
  const Model* model = &c->recorded->model;
  double far =
      vec3_norm(run_pose_rows_read(c->poses, state, a).t) + vec3_norm(run_pose_rows_read(c->poses, state, b).t);
  double size = far + model->links[a].reach + model->links[b].reach;
  return GAP_TOLERANCE * gap + GAP_ROUNDING * size;
}

static double range_of(const RunCheck* c) { return contact_range(&c->recorded->model); }

/* Returns the relative error of a pair's force that follows from the rounding error of its gap. Near the end of the
 * contact range, forces are proportional to a power of the distance from this end: the third for contact forces, the
 * fourth for impact forces. */
static double force_uncertainty(const RunCheck* c, int state, const ProofPair* pair) {
  double left = range_of(c) - pair->gap;
  if (!(left > 0)) return 0;
  double part = 1 + fmin(gap_tolerance(c, state, pair->a, pair->b, pair->gap) / left, 1);
  return part * part * part * part - 1;
}

static const ProofPair* find_pair(const ProofPair* pairs, int count, int a, int b) {
  assert(count >= 0);
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    const ProofPair* p = &pairs[middle];
    if (p->a < a || (p->a == a && p->b < b))
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && pairs[low].a == a && pairs[low].b == b ? &pairs[low] : NULL;
}

/* Returns true if the previous row is the state at the beginning of the step, on which friction and impacts depend. */
static bool previous_state_is_known(const RunCheck* c, int row) {
  return c->recorded->model.simulation.record_every == 1 && run_check_substeps(c, row) == 1;
}

static const RunContact* find_contact(const StateContacts* all, int a, int b) {
  for (int k = 0; k < all->count; k++)
    if (all->list[k].a == a && all->list[k].b == b) return &all->list[k];
  return NULL;
}

static bool has_one_hull_each(const Model* model, const ProofPair* pair) {
  return model->links[pair->a].hull_count == 1 && model->links[pair->b].hull_count == 1;
}

/* Returns true if the files tell the lengths of the last substeps of the two previous rows, which are those of the
 * steps unless these were divided. force_ratio depends on them with the integrator `momentum` (step.md, S15). */
static bool force_ratio_is_known(const RunCheck* c, int row) {
  if (c->recorded->model.simulation.integrator != INTEGRATOR_MOMENTUM) return true;
  for (int k = row - 1; k > 0 && k >= row - 2; k--)
    if (run_check_substeps(c, k) != 1) return false;
  return true;
}

/* Returns the time in which forces act in the previous step, divided by that in the step of this row. For undivided
 * steps, the ratio differs from 1 only with the integrator `momentum`, whose first step begins at its midpoint
 * (step.md, S3). */
static double force_ratio(const RunCheck* c, int row) {
  const Model* model = &c->recorded->model;
  return row == 2 && !model->start && model->simulation.integrator == INTEGRATOR_MOMENTUM ? 0.5 : 1;
}

/* (F14) Checks two columns of the k-th listed contact. friction_load: normal force that limited friction in the step.
 * friction_owed: sum of normal forces that have not limited friction yet. Its expected value is r (owed - lost) + N -
 * load. owed, lost: columns friction_owed and friction_lost of the previous row; r: force_ratio; N: normal force at
 * this gap; load: column friction_load. A pair with one hull each loses all of friction_owed or nothing. */
static void check_friction_account(RunCheck* c, int k, const RowPairs* row, const ProofPair* pair) {
  const RunContact no_contact = {.a = pair->a};
  const RunContact* before = row->row > 1 ? find_contact(run_check_contacts(c, row->row - 1), pair->a, pair->b) : NULL;
  if (!before) before = &no_contact;
  const StateContacts* all = run_check_contacts(c, row->row);
  const RunContact* listed = &all->list[k];
  const Model* model = &c->recorded->model;
  double load = listed->friction_load, owed = listed->friction_owed, lost = listed->friction_lost;
  double carried = force_ratio(c, row->row) * (before->friction_owed - before->friction_lost);
  double expected = carried + pair->load - load;
  double allowed = FORCE_TOLERANCE * (pair->load + fabs(load) + fabs(before->friction_owed)) +
                   force_uncertainty(c, row->row, pair) * pair->load;
  const char* name = model->links[pair->b].name;
  int column = csv_find_column(csv_rows_header(c->contacts.rows), "friction_load");
  if (!(load >= 0) || !(fabs(owed - expected) <= allowed))
    run_check_add_error(
        c, &c->contacts, all->first + k, column,
        "friction on '%s' is limited by %.9g N and owes %.9g N, the rows before and the contact at this gap "
        "leave it %.9g N to owe",
        name, load, owed, expected);
  else if (has_one_hull_each(model, pair) && !(fabs(lost - (pair->active ? 0 : owed)) <= allowed))
    run_check_add_error(c, &c->contacts, all->first + k, column + 2,
                        "friction on '%s' has lost %.9g N of the %.9g N that it owes, and the pair %s", name, lost,
                        owed, pair->active ? "is in contact" : "has left the range of contact");
}

static void check_force(RunCheck* c, int k, const RowPairs* row, const ProofPair* pair, const ProofPair* before) {
  PairMaterial material = model_pair_material(&c->recorded->model, pair->a, pair->b);
  double friction = pair_largest_friction(&material);
  /* normal forces of several convex pieces may cancel in the sum while friction remains */
  if (friction > 0 && isfinite(contact_listed_range(&c->recorded->model, pair->a, pair->b))) return;
  /* with impacts the force in a row depends on the two previous rows */
  bool impacts = c->recorded->model.contact.rest_speed > 0;
  if ((friction > 0 || impacts) && !previous_state_is_known(c, row->row)) return;
  if (c->recorded->model.start && row->row <= 1) return; /* the force depends on the state before the start */
  if (friction > 0 && impacts && row->row > 1 && !previous_state_is_known(c, row->row - 1)) return;
  double normal_force = before ? before->load : 0;
  const RunContact* recorded = &run_check_contacts(c, row->row)->list[k];
  bool known = friction > 0 && contact_friction_uses_account(&c->recorded->model, pair->a, pair->b) &&
               !isnan(recorded->friction_load);
  if (known) {
    normal_force = recorded->friction_load;
    if (force_ratio_is_known(c, row->row)) check_friction_account(c, k, row, pair);
  } else if (c->recorded->model.contact.friction_iterations != 0)
    normal_force = fmax(normal_force, NORMAL_FORCE_RATIO_MAX * pair->load);
  double allowed = friction * normal_force + FORCE_TOLERANCE * (pair->load + normal_force);
  allowed += force_uncertainty(c, row->row, pair) * pair->load;
  if (row->row == 1 && !known) allowed += (FIRST_FRICTION_RATIO_MAX - 1) * friction * normal_force;
  const StateContacts* listed = run_check_contacts(c, row->row);
  double difference = vec3_norm(vec3_sub(listed->list[k].force, pair->force));
  if (difference <= allowed) return;
  run_check_add_error(c, &c->contacts, listed->first + k, COLUMN_FORCE,
                      "the force on '%s' differs by %.3g N from that of the contact at this gap, friction allows %.3g",
                      c->recorded->model.links[pair->b].name, difference, allowed);
}

/* Checks the k-th listed contact of a row. */
static void check_listed(RunCheck* c, int k, const RowPairs* row) {
  assert(k >= 0 && k < run_check_contacts(c, row->row)->count);
  const StateContacts* all = run_check_contacts(c, row->row);
  const RunContact* listed = &all->list[k];
  int line = all->first + k;
  const char *a = c->recorded->model.links[listed->a].name, *b = c->recorded->model.links[listed->b].name;
  const ProofPair* pair = find_pair(row->pairs, row->count, listed->a, listed->b);
  const ProofPair* before = find_pair(row->before, row->before_count, listed->a, listed->b);
  /* a pair that was in contact only in the solve before the last solve of the step has friction, too (F14) */
  bool was_in_contact =
      listed->friction_load > 0 && contact_friction_uses_account(&c->recorded->model, listed->a, listed->b);
  bool may_have_friction = !previous_state_is_known(c, row->row) || (before && before->active) || was_in_contact;
  const ProofPair separated_pair = {
      .a = listed->a, .b = listed->b, .gap = INFINITY}; /* a separated pair that had friction in this step */
  if (!pair && may_have_friction) pair = &separated_pair;
  if (!pair || (pair->gap >= range_of(c) && !may_have_friction)) {
    run_check_add_error(c, &c->contacts, line, COLUMN_A, "'%s' and '%s' do not touch at this time", a, b);
    return;
  }
  bool both_out_of_range = pair->gap >= range_of(c) && listed->gap >= range_of(c);
  if (!both_out_of_range &&
      !(fabs(listed->gap - pair->gap) <= gap_tolerance(c, row->row, listed->a, listed->b, pair->gap)))
    run_check_add_error(c, &c->contacts, line, COLUMN_GAP,
                        "gap %.17g m of '%s' and '%s' is not their distance, %.17g m", listed->gap, a, b, pair->gap);
  check_force(c, k, row, pair, before);
}

static bool is_ordered(const RunContact* before, const RunContact* next) {
  return before->a < next->a || (before->a == next->a && before->b < next->b);
}

/* Adds an error for each pair in contact that contacts.csv does not list. Contacts and pairs are sorted by (a, b). */
static void check_unlisted_pairs(RunCheck* c, const RowPairs* row) {
  const StateContacts* all = run_check_contacts(c, row->row);
  int k = 0, rows = csv_rows_count(c->contacts.rows);
  for (int i = 0; i < row->count; i++) {
    const ProofPair* pair = &row->pairs[i];
    if (!pair->active || !(pair->load > 0)) continue;
    while (k < all->count && is_ordered(&all->list[k], &(RunContact){.a = pair->a, .b = pair->b})) k++;
    if (k < all->count && all->list[k].a == pair->a && all->list[k].b == pair->b) continue;
    int line = all->first + k;
    run_check_add_error(c, &c->contacts, line < rows ? line : rows - 1, -1,
                        "'%s' and '%s' touch at %.9g s and are not listed before this row",
                        c->recorded->model.links[pair->a].name, c->recorded->model.links[pair->b].name,
                        run_check_time(c, row->row));
  }
}

static void check_smallest_gap(RunCheck* c, const RowPairs* row) {
  double smallest = INFINITY, tolerance = 0;
  for (int k = 0; k < row->count; k++) {
    const ProofPair* pair = &row->pairs[k];
    if (pair->gap >= smallest) continue;
    smallest = pair->gap;
    tolerance = gap_tolerance(c, row->row, pair->a, pair->b, pair->gap);
  }
  int column = csv_find_column(csv_rows_header(c->solver.rows), "smallest_gap");
  if (row->row > csv_rows_count(c->solver.rows)) return;
  double written = run_check_number(&c->solver, row->row - 1, column);
  if (written >= range_of(c) && smallest >= range_of(c)) return;
  if (!(fabs(written - smallest) <= tolerance))
    run_check_add_error(c, &c->solver, row->row - 1, column, "smallest_gap %.17g m is not that of the state, %.17g m",
                        written, smallest);
}

void run_check_row_pairs(RunCheck* c, const RowPairs* row) {
  assert(row->count >= 0 && row->before_count >= 0);
  if (row->row == 0) return;
  check_smallest_gap(c, row);
  if (!c->contact_first_row) return;
  const StateContacts* all = run_check_contacts(c, row->row);
  for (int k = 0; k < all->count; k++) {
    if (k > 0 && !is_ordered(&all->list[k - 1], &all->list[k])) {
      run_check_add_error(c, &c->contacts, all->first + k, COLUMN_A,
                          "each pair must be listed once per time, in the order of the links");
      return;
    }
    check_listed(c, k, row);
  }
  check_unlisted_pairs(c, row);
}
