/* sdrs simulate SCENE: simulates a scene and writes the run folder. */
#include <assert.h>
#include <string.h>

#include "app/live.h"
#include "app/tipping.h"
#include "model/tree.h"

/* State of one run. run_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  Loaded loaded;
  Sim* sim;
  RunFolder* output;
  char* folder;
  RunInput* inputs;
  int input_count;
  Vec3 *velocity, *angular_velocity; /* velocities of the links in the recorded state (size: links) */
  SimClosure*
      closures; /* state of every closure, then of every coupling, in the recorded state (size: closures + couplings) */
  double* largest_rate;     /* for each degree of freedom, its largest rate in the run [m/s, rad/s] (size: nv) */
  double* limit_entry_rate; /* for each degree of freedom, the largest rate with which it entered the margin of a joint
                               limit [m/s, rad/s] (size: nv) */
  double* rate_before;      /* rates before the present step [m/s, rad/s] (size: nv) */
  double* closed_at; /* time of the last reported closing of every closure [s]; INFINITY if none (size: closures) */
  double* opened_at; /* time of the last reported opening of every closure by force [s]; INFINITY if none (size:
                        closures) */
  bool* has_broken;  /* true if the closure has broken (size: closures) */
  Pose* poses[2];    /* poses[k]: poses of the links k + 1 steps ago (links); NULL if not needed */
  RunTotals totals;
  bool* has_contact; /* true if the link came within contact range of another tree (size: links) */
  StepReport report; /* report of the last attempted step */
  UnconvergedSteps unconverged;
  int last_recorded_step;      /* step of the last recorded rows; -1 if none */
  const char* stop;            /* reason why the run ended */
  SimSnapshot* previous_state; /* state before the present step, to which an interrupt returns */
  double start, setup_seconds, output_seconds;
  Live live;
  bool* apart_from_parent; /* true if the link has a fixed parent that it did not overlap at the start (size: links) */
  int link_in_parent;      /* link that moved into its parent; -1 if none */
  double parent_overlap;   /* largest overlap of link_in_parent with its parent [m] */
  WrapEntry wrap_entry;    /* first recorded point of a tendon inside its wrap */
  double wrap_entry_time;  /* time of wrap_entry [s] */
  Tipping* tipping;        /* NULL if no body can be judged */
} Run;

static bool interrupted(void) { return interrupt_signal() != 0; }

static Status run_create(Run* run, const Options* options) {
  *run = (Run){.options = options, .totals = run_totals_start(), .last_recorded_step = -1, .start = timer_now()};
  int steps = option_count(options, "steps", 0);
  bool drawn = option_given(options, "view");
  Status status = loaded_create(&run->loaded, options, options->operands[0], steps, drawn, &run->diagnostics);
  if (status != STATUS_OK) return status;
  double start = timer_now();
  SimOptions sim_options = {.threads = options->threads, .path = true, .scheme_work = true, .interrupted = interrupted};
  status = sim_create(&run->sim, &run->loaded.model, &sim_options, &run->diagnostics);
  run->setup_seconds = timer_now() - start;
  if (status != STATUS_OK) return status;
  run->previous_state = sim_snapshot_create();
  run->inputs = run_inputs(&run->loaded.scene, &run->input_count);
  run->folder = run_folder_path(options, run->loaded.scene.name);
  run->velocity = MEMORY_NEW(Vec3, run->loaded.model.link_count);
  run->angular_velocity = MEMORY_NEW(Vec3, run->loaded.model.link_count);
  run->has_contact = MEMORY_NEW(bool, run->loaded.model.link_count);
  run->closures = MEMORY_NEW(SimClosure, run->loaded.model.closure_count + run->loaded.model.coupling_count);
  run->largest_rate = MEMORY_NEW(double, run->loaded.model.dof_count);
  run->limit_entry_rate = MEMORY_NEW(double, run->loaded.model.dof_count);
  run->rate_before = MEMORY_NEW(double, run->loaded.model.dof_count);
  memcpy(run->rate_before, sim_state(run->sim)->rate, sizeof(double) * (size_t)run->loaded.model.dof_count);
  run->closed_at = MEMORY_NEW(double, run->loaded.model.closure_count);
  run->opened_at = MEMORY_NEW(double, run->loaded.model.closure_count);
  for (int k = 0; k < run->loaded.model.closure_count; k++) run->closed_at[k] = run->opened_at[k] = INFINITY;
  run->apart_from_parent = MEMORY_NEW(bool, run->loaded.model.link_count);
  for (int i = 0; i < run->loaded.model.link_count; i++) {
    double overlap = model_parent_overlap(&run->loaded.model, sim_state(run->sim)->pose, i);
    run->apart_from_parent[i] = overlap < 0 && isfinite(overlap);
  }
  run->link_in_parent = -1;
  run->wrap_entry.tendon = -1;
  run->tipping = tipping_create(&run->loaded.model);
  run->has_broken = MEMORY_NEW(bool, run->loaded.model.closure_count);
  bool measures = run->loaded.model.simulation.output & OUTPUT_IMU;
  for (int k = 0; k < 2 && measures; k++) run->poses[k] = MEMORY_NEW(Pose, run->loaded.model.link_count);
  interrupt_install(); /* after this call a signal ends the run with complete files */
  return run_folder_open(&run->output, run->folder, &run->loaded.model, &run->diagnostics);
}

static void run_free(Run* run) {
  live_close(&run->live);
  run_folder_discard(run->output);
  run_inputs_free(run->inputs, run->input_count);
  sim_destroy(run->sim);
  loaded_free(&run->loaded);
  diagnostics_free(&run->diagnostics);
  memory_free(run->folder);
  memory_free(run->velocity);
  memory_free(run->angular_velocity);
  memory_free(run->closures);
  memory_free(run->largest_rate);
  memory_free(run->has_contact);
  memory_free(run->limit_entry_rate);
  memory_free(run->rate_before);
  memory_free(run->closed_at);
  memory_free(run->opened_at);
  memory_free(run->has_broken);
  memory_free(run->apart_from_parent);
  tipping_destroy(run->tipping);
  memory_free(run->poses[0]);
  memory_free(run->poses[1]);
  sim_snapshot_destroy(run->previous_state);
}

/* ---------------------------------------------------------------- output of -v */

static void print_parameter(const char* name, double value, const char* unit, bool derived) {
  fprintf(stderr, "  %-16s %-12.4g %-8s %s\n", name, value, unit, derived ? "derived" : "given");
}

/* Prints one line for each mass model in use, with the number and names of its links. */
static void print_mass_models(const Model* model) {
  for (int k = 0; k < MASS_MODELS; k++) {
    Text names = {0};
    int count = 0;
    for (int i = 0; i < model->link_count; i++)
      if (model->links[i].mass > 0 && (int)model->links[i].mass_model == k)
        text_add(&names, "%s%s", count++ ? ", " : "", text_excerpt(model->links[i].name).text);
    if (count > 0)
      fprintf(stderr, "mass_model %s: %d link%s: %s\n", mass_model_name((MassModel)k), count, count == 1 ? "" : "s",
              names.data);
    text_free(&names);
  }
}

static void print_details(const Run* run) {
  const Model* model = &run->loaded.model;
  const ModelContact* contact = &model->contact;
  Text size = {0};
  loaded_append_summary(&size, &run->loaded);
  fprintf(stderr, "%s: %s; threads: %d; dt = %.4g s, %d steps\n", model->scene->name, size.data, run->options->threads,
          model->simulation.dt, model->simulation.steps);
  text_free(&size);
  print_mass_models(model);
  if (model->contact_model == CONTACT_NONE) {
    fprintf(stderr, "contact: none\n");
  } else {
    fprintf(stderr, "contact: feature %.4g m, reference force %.4g N, equilibrium gap %.4g m\n", contact->feature,
            contact->reference_force, contact->gap_at_rest);
    print_parameter("barrier_distance", contact->support, "m", contact->support_derived);
    print_parameter("stiffness", contact->stiffness, "", contact->stiffness_derived);
    print_parameter("friction", contact->friction, "", false);
    print_parameter("smoothing", contact->smoothing, "(m/s)^2", contact->smoothing_derived);
    if (contact->rest_speed > 0) print_parameter("rest_speed", contact->rest_speed, "m/s", contact->rest_speed_derived);
  }
  if (model->dropped_note && *model->dropped_note) fprintf(stderr, "%s\n", model->dropped_note);
}

/* ---------------------------------------------------------------- the run */

static void measure_closures(Run* run) {
  const Model* model = &run->loaded.model;
  for (int k = 0; k < model->closure_count; k++) run->closures[k] = sim_closure(run->sim, k);
  for (int k = 0; k < model->coupling_count; k++) run->closures[model->closure_count + k] = sim_coupling(run->sim, k);
}

static void mark_contacts(Run* run, const SimContact* contacts, int count) {
  const ModelLink* links = run->loaded.model.links;
  for (int k = 0; k < count; k++)
    if (links[contacts[k].a].tree != links[contacts[k].b].tree)
      run->has_contact[contacts[k].a] = run->has_contact[contacts[k].b] = true;
}

/* Updates the largest overlap of a link with its fixed parent, run->parent_overlap [m]. poses: present poses (links).
 */
static void update_parent_overlap(Run* run, const Pose* poses) {
  for (int i = 0; i < run->loaded.model.link_count; i++) {
    if (!run->apart_from_parent[i]) continue;
    double overlap = model_parent_overlap(&run->loaded.model, poses, i);
    if (overlap > run->parent_overlap) run->parent_overlap = overlap, run->link_in_parent = i;
  }
}

static void update_wrap_entry(Run* run, const SimState* state) {
  if (run->wrap_entry.tendon >= 0) return;
  run->wrap_entry = model_find_wrap_entry(&run->loaded.model, state->pose);
  run->wrap_entry_time = state->time;
}

/* Writes the rows of the present state to the run folder. report: report of the step, or NULL for the initial state. */
static Status record(Run* run, const StepReport* report) {
  double start = timer_now();
  const SimState* state = sim_state(run->sim);
  RunFrame frame = {.state = state, .report = report, .measure = sim_measure(run->sim)};
  if (run->loaded.model.simulation.output & OUTPUT_VELOCITIES)
    sim_link_velocities(run->sim, run->velocity, run->angular_velocity);
  frame.scheme = sim_scheme_work(run->sim);
  frame.velocity = run->velocity;
  frame.angular_velocity = run->angular_velocity;
  frame.joint_forces = sim_joint_forces(run->sim);
  frame.reactions = sim_reactions(run->sim);
  for (int k = 0; k < 2 && run->poses[k]; k++)
    frame.before[k] = state->step - run->loaded.model.start_step > k ? run->poses[k] : NULL;
  if (run->loaded.model.simulation.output & OUTPUT_CLOSURES) measure_closures(run);
  frame.closures = run->closures;
  frame.contacts = sim_contacts(run->sim, &frame.contact_count);
  frame.path = sim_path(run->sim);
  mark_contacts(run, frame.contacts, frame.contact_count);
  update_parent_overlap(run, state->pose);
  update_wrap_entry(run, state);
  tipping_update(run->tipping, state, frame.contacts, frame.contact_count);
  run_totals_update_gap(&run->totals, &frame.measure, state);
  Status status = run_folder_add(run->output, &frame, &run->diagnostics);
  run->last_recorded_step = state->step - run->loaded.model.start_step;
  if (report) live_show_state(&run->live, state, run->last_recorded_step, &frame.measure, report);
  run->output_seconds += timer_now() - start;
  return status;
}

/* Returns true if the scene's keep_states requests the state after `step` steps. */
static bool is_state_requested(const Scene* scene, int step) {
  assert(step >= 0);
  for (int k = 0; k < scene->keep_state_count; k++)
    if (fabs(scene->keep_states[k] - step * scene->simulation.dt) < 1e-3 * scene->simulation.dt) return true;
  return false;
}

/* Writes the present state to the run folder if another run may start from it. If this run itself started from another
 * run, also writes the start state. The folder then does not depend on the other run. */
static void write_state_if_requested(Run* run) {
  const Model* model = &run->loaded.model;
  int step = sim_state(run->sim)->step;
  bool starts = step == model->start_step, ends = step == model->start_step + model->simulation.steps;
  if (starts ? model->start != NULL : !ends && is_state_requested(&run->loaded.scene, step))
    run_folder_store_state(run->output, run->sim);
}

/* Returns the distance between the bounded hulls of two links [m], or -1 if one of them has no bounded hull. */
static double link_distance(const Model* model, int a, int b, const Pose* pose) {
  assert(a >= 0 && a < model->link_count && b >= 0 && b < model->link_count);
  const ModelLink *one = &model->links[a], *two = &model->links[b];
  double least = -1;
  for (int i = one->hull_first; i < one->hull_first + one->hull_count; i++)
    for (int j = two->hull_first; j < two->hull_first + two->hull_count; j++) {
      const ModelHull *hull = &model->hulls[i], *other = &model->hulls[j];
      if (!hull->kind->bounded || !other->kind->bounded) continue;
      RoundBody body = hull_contact_geometry(hull), body_other = hull_contact_geometry(other);
      double apart = fmax(round_distance(&body, pose[a], &body_other, pose[b], NULL).distance, 0);
      least = least < 0 || apart < least ? apart : least;
    }
  return least;
}

/* Prints each closure that opened because its force exceeded release_force. */
static void report_openings(Run* run) {
  const Model* model = &run->loaded.model;
  const SimJoin* joined = sim_closures_joined(run->sim);
  for (int k = 0; joined && k < model->closure_count; k++) {
    const ModelClosure* c = &model->closures[k];
    double until = joined[k].until;
    if (!joined[k].barred || !(until < (double)INFINITY) || until == run->opened_at[k]) continue;
    run->opened_at[k] = until;
    if (run->options->quiet) continue;
    fprintf(stderr, "closures[%d] of '%s' and '%s' opens at t = %.6g s: its force exceeded %.6g N (release_force)\n", k,
            model->links[c->link[0]].name, c->link[1] < 0 ? "world" : model->links[c->link[1]].name, until,
            c->force_limit);
  }
}

/* Prints each switched closure that closed, with the distance between its links, which the user should judge. A closure
 * is printed the first time, and again after a force opened it. */
static void report_closings(Run* run) {
  const Model* model = &run->loaded.model;
  const SimJoin* joined = sim_closures_joined(run->sim);
  for (int k = 0; joined && k < model->closure_count; k++) {
    const ModelClosure* c = &model->closures[k];
    double since = joined[k].since, last = run->closed_at[k];
    bool again = last < (double)INFINITY && (since == last || !c->releases);
    if (again || !c->active.source || !(since < (double)INFINITY)) continue;
    run->closed_at[k] = since;
    const char* other = c->link[1] < 0 ? "world" : model->links[c->link[1]].name;
    double apart = c->link[1] < 0 ? -1 : link_distance(model, c->link[0], c->link[1], sim_state(run->sim)->pose);
    if (run->options->quiet) continue;
    fprintf(stderr, "closures[%d] of '%s' and '%s' closes at t = %.6g s", k, model->links[c->link[0]].name, other,
            joined[k].since);
    if (apart >= 0) fprintf(stderr, "; the distance between their shapes is %.3g m", apart);
    fprintf(stderr, "\n");
  }
}

/* Prints each closure that broke because its force exceeded break_force. */
static void report_breaks(Run* run) {
  const Model* model = &run->loaded.model;
  const double* broken = sim_closures_broken(run->sim);
  for (int k = 0; broken && k < model->closure_count; k++) {
    if (run->has_broken[k] || !(broken[k] < (double)INFINITY)) continue;
    run->has_broken[k] = true;
    const ModelClosure* c = &model->closures[k];
    if (run->options->quiet) continue;
    fprintf(stderr, "closures[%d] of '%s' and '%s' breaks at t = %.6g s: its force exceeded %.6g N (break_force)\n", k,
            model->links[c->link[0]].name, c->link[1] < 0 ? "world" : model->links[c->link[1]].name, broken[k],
            c->force_limit);
  }
}

/* Stores the poses of the present state, which measurements of the next two steps need. */
static void store_poses(Run* run) {
  if (!run->poses[0]) return;
  Pose* oldest = run->poses[1];
  run->poses[1] = run->poses[0];
  run->poses[0] = oldest;
  memcpy(oldest, sim_state(run->sim)->pose, sizeof(Pose) * (size_t)run->loaded.model.link_count);
}

/* Updates the largest rate of each coordinate, and the largest rate with which it entered the margin of a limit. */
static void update_rates(Run* run, const SimState* state) {
  const Model* model = &run->loaded.model;
  for (int k = 0; k < model->dof_count; k++) {
    const ModelLink* link = &model->links[model->dof_link[k]];
    int dof = k - link->dof_first;
    run->largest_rate[k] = fmax(run->largest_rate[k], fabs(state->rate[k]));
    bool springs = link->limit_law == LIMIT_PENALTY && link->limit_restitution > 0;
    if (springs && dof < link->joint.scalar_count && link->limited[dof]) {
      double q = state->q[link->coordinate_first + dof], margin = link->limit_margin;
      if (q - link->lower[dof] < margin)
        run->limit_entry_rate[k] = fmax(run->limit_entry_rate[k], -run->rate_before[k]);
      if (link->upper[dof] - q < margin) run->limit_entry_rate[k] = fmax(run->limit_entry_rate[k], run->rate_before[k]);
    }
    run->rate_before[k] = state->rate[k];
  }
}

/* Simulates until all steps are done, the solver fails, a signal arrives or a write fails. Sets *last to the report of
 * the last completed step. */
static Status advance(Run* run, Progress* progress, StepReport* last) {
  const SceneSimulation* simulation = &run->loaded.model.simulation;
  for (int step = 1; step <= simulation->steps; step++) {
    if (interrupt_signal()) return STATUS_INTERRUPTED;
    sim_save_over(run->sim, run->previous_state);
    store_poses(run);
    run->report = sim_step(run->sim);
    if (run->report.outcome == STEP_INTERRUPTED) {
      sim_restore_after_failure(run->sim, run->previous_state);
      return STATUS_INTERRUPTED;
    }
    if (step_outcome_failed(run->report.outcome)) return STATUS_SOLVER;
    *last = run->report;
    const SimState* state = sim_state(run->sim);
    run_totals_add_step(&run->totals, last, state);
    unconverged_add(&run->unconverged, last, state->time);
    update_rates(run, state);
    report_closings(run);
    report_openings(run);
    report_breaks(run);
    if (state->step % simulation->record_every == 0 && record(run, last) != STATUS_OK) return STATUS_IO;
    write_state_if_requested(run);
    progress_update(progress, step, state->time, (double)run->totals.iterations / step, timer_now());
  }
  return STATUS_OK;
}

static const char* stop_text(const Run* run, Status status) {
  if (status == STATUS_OK) return "all steps done";
  if (status == STATUS_SOLVER) return step_outcome_text(run->report.outcome);
  if (status == STATUS_INTERRUPTED) return interrupt_name(interrupt_signal());
  return "cannot write";
}

/* Simulates the run and records the initial state, the steps and the final state. The final state is recorded
 * even if record_every omits it. */
static Status run_steps(Run* run) {
  Progress progress;
  StepReport last = {0};
  FILE* stream = run->options->quiet ? NULL : stderr;
  const Scene* scene = &run->loaded.scene;
  progress_start(&progress, stream, scene->name, run->loaded.model.simulation.steps, timer_now());
  Status status = record(run, NULL);
  if (status == STATUS_OK) write_state_if_requested(run);
  if (status == STATUS_OK) status = advance(run, &progress, &last);
  progress_end(&progress);
  run->stop = stop_text(run, status);
  if (status != STATUS_IO && run->last_recorded_step != run->totals.steps && record(run, &last) != STATUS_OK)
    status = STATUS_IO;
  if (status != STATUS_IO && run->totals.steps > 0) run_folder_store_state(run->output, run->sim);
  return status;
}

/* ---------------------------------------------------------------- the end */

/* Prints the links that made the step fail, and a remedy. */
static void print_remedy(const Run* run) {
  const Model* model = &run->loaded.model;
  const StepReport* report = &run->report;
  const BlockingPair* squeeze = &report->squeeze;
  bool measured = isfinite(squeeze->gap);
  if (report->outcome == STEP_CROSSED)
    fprintf(stderr, "  '%s' and '%s' moved past each other within one step\n", model->links[squeeze->link_a].name,
            model->links[squeeze->link_b].name);
  else if (squeeze->known)
    fprintf(stderr,
            squeeze->gap < 0 ? "  would intersect: '%s' and '%s' (by %.3g m)\n"
            : measured       ? "  smallest gap: '%s' and '%s' (%.3g m)\n"
                             : "  largest contact force: '%s' and '%s' (%.3g N)\n",
            model->links[squeeze->link_a].name, model->links[squeeze->link_b].name,
            measured ? fabs(squeeze->gap) : squeeze->force);
  fprintf(stderr, "  the step also failed when divided into %d substeps of %.3g s: ", report->substeps,
          model->simulation.dt / report->substeps);
  if (report->outcome == STEP_BLOCKED)
    fprintf(stderr,
            "change the prescribed motion or the limits of the joint, or remove the bodies in the path of the "
            "prescribed link\n");
  else if (report->outcome == STEP_CROSSED)
    fprintf(stderr,
            "reduce simulation.dt (%.3g s) or raise simulation.substeps, because bodies move farther than their own "
            "size in one step\n",
            model->simulation.dt);
  else if (report->outcome == STEP_CLOSURE_OPEN)
    fprintf(stderr,
            "change the motion that drives the loop (prescribed joints, other closures), add a joint to the loop, or "
            "start the run in a configuration that is not singular\n");
  else if (model->contact_model == CONTACT_NONE || !squeeze->known)
    fprintf(stderr, "reduce simulation.dt (%.3g s) or raise simulation.max_iterations (%d)\n", model->simulation.dt,
            model->simulation.max_iterations);
  else if (contact_allows_overlap(model->contact_model))
    fprintf(stderr, "reduce simulation.dt (%.3g s) or contact.stiffness (%.3g)%s\n", model->simulation.dt,
            model->contact.stiffness,
            model->contact_model == CONTACT_PENALTY
                ? ", or for contact of flat faces use contact.model manifold (penalty acts at one point of a face)"
                : "");
  else
    fprintf(
        stderr,
        "reduce simulation.dt (%.3g s), or raise contact.barrier_distance (%.3g m) or simulation.max_iterations (%d)\n",
        model->simulation.dt, model->contact.support, model->simulation.max_iterations);
}

/* Prints time, step, bodies and residual of the failed step, and a remedy. */
static void print_failure(const Run* run) {
  Text text = {0};
  sim_failure_text(&text, &run->loaded.model, run->sim, &run->report);
  command_error(run->options, "%s; the last state written is that of step %d", text.data, run->totals.steps);
  text_free(&text);
  print_remedy(run);
}

/* Warns of joints that exceeded their velocity_limit. */
static void warn_velocity_limits(const Run* run) {
  const Model* model = &run->loaded.model;
  for (int k = 0; k < model->dof_count; k++) {
    int i = model->dof_link[k], dof = k - model->links[i].dof_first;
    const SceneJoint* joint = &run->loaded.scene.links[i].joint;
    double limit = joint->velocity_limit[dof];
    bool plain = dof < model->links[i].joint.scalar_count;
    if (!(limit > 0) || !(run->largest_rate[k] > limit)) continue;
    fprintf(stderr,
            "sdrs simulate: warning: %s/%s reaches %.6g %s, above velocity_limit %.6g: slow the motion down, or raise "
            "velocity_limit\n",
            model->links[i].name, plain ? scene_joint_coordinate_name(joint, dof) : "rotation", run->largest_rate[k],
            dof < model->links[i].joint.slide_count ? "m/s" : "rad/s", limit);
  }
}

/* Warns of a link that moved into its fixed parent. */
static void warn_parent_overlap(const Run* run) {
  const ModelLink* links = run->loaded.model.links;
  if (run->link_in_parent < 0) return;
  const char* parent = links[links[run->link_in_parent].parent].name;
  fprintf(stderr,
          "sdrs simulate: warning: link '%s' moved %.3g m into its parent '%s', because a link and its parent have no "
          "contact: for contact with '%s', remove 'parent' and give the joint's position in the world\n",
          links[run->link_in_parent].name, run->parent_overlap, parent, parent);
}

/* Warns of a point of a tendon that entered the solid around which the tendon wraps. */
static void warn_wrap_entry(const Run* run) {
  WrapEntry entry = run->wrap_entry;
  if (entry.tendon < 0) return;
  fprintf(stderr,
          "sdrs simulate: warning: point %d of tendon %d is %.3g m inside the solid of its wrap at t = %.4g s, so the "
          "tendon's path and all derivatives are wrong from then on: move the point or the wrap, or reduce 'radius'\n",
          entry.point, entry.tendon, entry.depth, run->wrap_entry_time);
}

/* A rebound from a joint limit is resolved if crossing the limit's margin at the entry rate takes at least this number
 * of steps. The joint then keeps at least nine tenths of limit_restitution (step.md, S22). */
#define REBOUND_STEPS 300

/* Warns of joints that reached a penalty limit so fast that the time step does not resolve the rebound. */
static void warn_unresolved_rebounds(const Run* run) {
  const Model* model = &run->loaded.model;
  for (int k = 0; k < model->dof_count; k++) {
    const ModelLink* link = &model->links[model->dof_link[k]];
    double longest = link->limit_margin / (REBOUND_STEPS * run->limit_entry_rate[k]);
    if (!(model->simulation.dt > longest)) continue;
    fprintf(stderr,
            "sdrs simulate: warning: the joint of link '%s' reached its limit at %.3g %s and rebounds more slowly than "
            "its limit_restitution of %.3g requires, because the time steps do not resolve its limit_margin of %.3g: "
            "use limit_law barrier, simulation.dt below %.2g s, or a larger limit_margin\n",
            link->name, run->limit_entry_rate[k], k - link->dof_first < link->joint.slide_count ? "m/s" : "rad/s",
            link->limit_restitution, link->limit_margin, longest);
  }
}

/* Largest fraction of the energy that time integration may add or remove without a warning. */
#define SCHEME_WORK_REPORTED 0.01

/* Returns a time step with which time integration changes less than SCHEME_WORK_REPORTED of the energy [s]. share:
 * changed fraction at the time step dt. The fraction is of first order in the time step or smaller. The factor 1/2 is a
 * reserve, because a large fraction grows more slowly than the time step. */
static double sufficient_time_step(double dt, double share) {
  assert(share > 0);
  return 0.5 * dt * SCHEME_WORK_REPORTED / share;
}

/* Returns true if a link or a descendant has a polyhedron in place of a round solid, because of `segments` or
 * `resolution`. */
static bool has_facets(const Model* model, int root) {
  assert(root >= 0 && root < model->link_count);
  const Scene* scene = model->scene;
  for (int i = root; i < model->link_count; i++) {
    const SceneLink* link = &scene->links[i];
    for (int k = 0; k < link->shape_count && model_descends(model, i, root); k++) {
      const SceneShape* shape = &scene->shapes[link->shapes[k].shape];
      if (shape->type >= SHAPE_SPHERE && shape->type <= SHAPE_ROUNDED_POINTS && !shape->exact) return true;
    }
  }
  return false;
}

static bool tree_has_contact(const Run* run, int tree) {
  assert(tree >= 0);
  bool has = false;
  for (int i = 0; i < run->loaded.model.link_count; i++)
    has = has || (run->loaded.model.links[i].tree == tree && run->has_contact[i]);
  return has;
}

/* Warns of the link whose energy, with that of its descendants, time integration changed most; with a remedy. */
static void warn_integration_energy(const Run* run) {
  const Model* model = &run->loaded.model;
  SimSchemeWork scheme = sim_scheme_work(run->sim);
  if (scheme.link < 0 || !(fabs(scheme.link_work) > SCHEME_WORK_REPORTED * scheme.link_scale)) return;
  double share = fabs(scheme.link_work) / scheme.link_scale;
  bool keeps = model->simulation.integrator == INTEGRATOR_MOMENTUM;
  bool springs = scheme.link_work < 0 && (model->tendon_count > 0 || model->bushing_count > 0);
  bool facets =
      has_facets(model, scheme.link) && (scheme.link_work > 0 || tree_has_contact(run, model->links[scheme.link].tree));
  fprintf(
      stderr,
      "sdrs simulate: warning: time integration %s %.3g J %s the motion of link '%s' and its descendants, %.2g %% of "
      "their energy (%.3g J): %ssimulation.dt below %.2g s%s\n",
      scheme.link_work < 0 ? "removed" : "added", fabs(scheme.link_work), scheme.link_work < 0 ? "from" : "to",
      model->links[scheme.link].name, 100 * share, scheme.link_scale,
      keeps ? "use " : "use simulation.integrator momentum, or ", sufficient_time_step(model->simulation.dt, share),
      springs  ? ", or closures (distance, ball) instead of rods, bushings and strong tendons on light links, which "
                 "damp swinging links"
      : facets ? ", or remove segments and resolution from the shapes of the link, because steps jump over the corners "
                 "of a rolling polyhedron"
               : "");
}

/* A body fell without contact if it fell by more than this fraction of a free fall. Recorded rows do not suffice,
 * because an impact can begin and end between two rows. */
#define FREE_FALL_FRACTION 0.9

/* Reports the first free body that fell by more than its own size without contact, for instance because the
 * scene has no ground. */
static void report_free_falls(const Run* run) {
  const Model* model = &run->loaded.model;
  Vec3 gravity = model->simulation.gravity;
  for (int i = 0; i < model->link_count && vec3_norm(gravity) > 0; i++) {
    const ModelLink* link = &model->links[i];
    const double *first = model->initial_coordinates + link->coordinate_first,
                 *last = sim_state(run->sim)->q + link->coordinate_first;
    if (link->parent >= 0 || run->loaded.scene.links[i].joint.type != JOINT_FREE || tree_has_contact(run, link->tree))
      continue;
    double g = vec3_norm(gravity), time = sim_state(run->sim)->time;
    double fall = vec3_dot(vec3_sub(vec3_at(last), vec3_at(first)), gravity) / g;
    double free =
        vec3_dot(vec3_at(model->initial_velocities + link->dof_first), gravity) / g * time + g * time * time / 2;
    if (model->start || !(fall > 2 * link->reach) || !(fall > FREE_FALL_FRACTION * free)) continue;
    fprintf(stderr,
            "%s: '%s' moved %.3g m along gravity and touched no other body: check the position of the link, add a "
            "ground, or correct simulation.gravity (z points up)\n",
            run->loaded.scene.name, link->name, fall);
    return;
  }
}

/* The time for writing files is reported if it exceeds this value [s] and the time of the steps. */
#define OUTPUT_REPORTED 2

static void print_done(const Run* run, double seconds) {
  const RunTotals* totals = &run->totals;
  fprintf(stderr, "%s: %d steps to t = %.6g s in %.3g s (%.3g x real time), %.3g iterations per step, ",
          run->loaded.scene.name, totals->steps, totals->time, seconds, totals->time / seconds,
          (double)totals->iterations / (totals->steps > 0 ? totals->steps : 1));
  if (totals->smallest_gap < 1e300)
    fprintf(stderr, "smallest gap %.4g m at t = %.6g s\n", totals->smallest_gap, totals->smallest_gap_time);
  else
    fprintf(stderr, "no pair of bodies came within contact range\n");
  if (totals->smallest_gap < 1e300) report_free_falls(run);
  double rows = run->output_seconds;
  if (rows > OUTPUT_REPORTED && rows > seconds)
    fprintf(stderr, "%s: writing files took %.3g s more; a larger simulation.record_every writes fewer rows\n",
            run->loaded.scene.name, rows);
}

static RunSummary make_summary(const Run* run, const RunProgram* program, Status status) {
  RunTotals totals = run->totals;
  totals.scheme_work = sim_scheme_work(run->sim).work;
  return (RunSummary){
      .program = program,
      .model = &run->loaded.model,
      .inputs = run->inputs,
      .input_count = run->input_count,
      .overrides = run->options->overrides,
      .override_count = run->options->override_count,
      .threads = run->options->threads,
      .totals = totals,
      .exit_code = status_exit_code(status),
      .stop = run->stop,
      .failure = status == STATUS_SOLVER ? &run->report : NULL,
      .step_times = sim_times(run->sim),
      .scene_seconds = run->loaded.scene_seconds,
      .model_seconds = run->loaded.model_seconds,
      .setup_seconds = run->setup_seconds,
      .output_seconds = run->output_seconds,
      .total_seconds = timer_now() - run->start,
  };
}

static Status write_summary(Run* run, const Text* json) {
  char* path = file_join(run->folder, "summary.json");
  Status status = file_write_reported(path, json, &run->diagnostics);
  memory_free(path);
  return status;
}

/* Completes the run folder: renames the CSV files, then writes summary.json. A folder with a new summary is thus
 * complete. */
static Status finish_folder(Run* run, Status status) {
  double start = timer_now();
  Status closed = run_folder_close(run->output, &run->diagnostics);
  run->output = NULL;
  if (closed != STATUS_OK) return closed;
  run->output_seconds += timer_now() - start;
  RunProgram program = version_program();
  RunSummary summary = make_summary(run, &program, status);
  Text json = {0};
  run_summary_json(&json, &summary);
  Status written = write_summary(run, &json);
  if (written == STATUS_OK && run->options->json) fputs(json.data, stdout);
  text_free(&json);
  return written == STATUS_OK ? status : written;
}

static void report_end(const Run* run, Status status) {
  const Options* options = run->options;
  if (status == STATUS_SOLVER) print_failure(run);
  if (status == STATUS_INTERRUPTED && !options->quiet)
    fprintf(stderr, "%s: stopped by %s after step %d; %s holds the run up to this step\n", run->loaded.scene.name,
            run->stop, run->totals.steps, run->folder);
  if (!options->quiet) warn_velocity_limits(run);
  if (!options->quiet) warn_unresolved_rebounds(run);
  if (!options->quiet) warn_parent_overlap(run);
  if (!options->quiet) warn_wrap_entry(run);
  if (!options->quiet) tipping_warn(run->tipping);
  warn_unconverged(options, "sdrs simulate", &run->loaded.model, &run->unconverged,
                   run->loaded.scene.simulation.tolerance);
  warn_friction_open(options, run->loaded.scene.name, &run->loaded.model, &run->unconverged);
  warn_late_friction(options, run->loaded.scene.name, &run->loaded.model, &run->unconverged);
  if (!options->quiet) warn_integration_energy(run);
  if (status == STATUS_OK && !options->quiet) print_done(run, sim_times(run->sim).total);
  if (status != STATUS_IO && !options->json) printf("%s\n", run->folder);
}

/* Prints the diagnostics as JSON, because a run that could not start has no summary. */
static void print_start_errors(const Run* run, Status status) {
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_integer(&json, "exit_code", status_exit_code(status));
  json_diagnostics(&json, "diagnostics", &run->diagnostics);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

/* Runs a simulation from the first step to the written results. */
static Status run_to_end(Run* run) {
  diagnostics_free(&run->diagnostics); /* removes the warnings that were already printed */
  if (run->options->verbose) print_details(run);
  Status status = run_steps(run);
  if (status != STATUS_IO) status = finish_folder(run, status);
  print_diagnostics(run->options, &run->diagnostics);
  if (status != STATUS_IO) write_overview_picture(run->options, run->folder);
  report_end(run, status);
  live_end(&run->live, run->stop, status == STATUS_IO ? NULL : run->folder);
  return status;
}

/* Opens the live view and displays the initial state (--view). */
static Status start_live_view(Run* run) {
  const Model* model = &run->loaded.model;
  Status status = live_open(&run->live, run->options, model->scene->name, &run->diagnostics);
  if (status != STATUS_OK) return status;
  return live_start_run(&run->live, model, sim_state(run->sim), model->simulation.steps, &run->diagnostics);
}

static ExitCode simulate(const Options* options) {
  Run run;
  Status status = run_create(&run, options);
  if (status == STATUS_OK) status = start_live_view(&run);
  bool started = status == STATUS_OK;
  print_diagnostics(options, &run.diagnostics);
  if (started) status = run_to_end(&run);
  if (options->json && (!started || status == STATUS_IO)) print_start_errors(&run, status);
  run_free(&run);
  return status_exit_code(status);
}

ExitCode simulate_to_folder(const Options* options, const char* scene, const char* folder) {
  const char* const operands[] = {scene};
  OptionValue* values = MEMORY_NEW(OptionValue, VERB_SIMULATE.option_count);
  Options local_options = {.verb = &VERB_SIMULATE,
                           .operands = (const char**)operands,
                           .operand_count = 1,
                           .folder = folder,
                           .threads = options->threads,
                           .quiet = options->quiet,
                           .values = values};
  Run run;
  Status status = run_create(&run, &local_options);
  if (status == STATUS_OK) {
    diagnostics_free(&run.diagnostics); /* warnings, which were printed when the design was optimized */
    status = run_steps(&run);
    if (status != STATUS_IO) status = finish_folder(&run, status);
    if (status == STATUS_SOLVER) print_failure(&run);
  }
  print_diagnostics(&local_options, &run.diagnostics);
  run_free(&run);
  memory_free(values);
  return status_exit_code(status);
}

static const OptionRow OPTIONS[] = {
    {"steps", 0, OPTION_COUNT, "N", "run N steps instead of the scene's number"},
    OVERVIEW_OPTIONS,
    VIEW_OPTIONS,
};

const Verb VERB_SIMULATE = {
    .name = "simulate",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "run a scene forward, write the run folder",
    .examples =
        "  sdrs simulate scenes/slide.yaml                     writes out/slide/\n"
        "  sdrs simulate scenes/slide.yaml -o /tmp/slow --set contact.friction=0.1\n"
        "  sdrs simulate scenes/pile.yaml --steps 100 --threads 2 -v\n"
        "  sdrs simulate scenes/stack.yaml -q --json | python3 -m json.tool\n"
        "  sdrs simulate scenes/spider.yaml --view             watch it in a browser while it runs\n",
    .details =
        "Writes trajectory.csv, joints.csv, contacts.csv, solver.csv, path.csv and summary.json.\n"
        "simulation.output selects additional files: velocities.csv, forces.csv, closures.csv, pressure.csv,\n"
        "reactions.csv, imu.csv.\n"
        "The folder states/ has the state at the end and at simulation.keep_states. A scene can start from\n"
        "such a state (start: {run: FOLDER}). The folder is printed on standard output, with --json\n"
        "summary.json. Files of an earlier run in the same folder are replaced.\n"
        "SIGINT, SIGTERM, SIGHUP and SIGUSR1 finish the step, write the folder up to this step and exit with\n"
        "code 130.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 4 the solver failed, 5 cannot read or write, 130\n"
        "interrupted.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = simulate,
};
