#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "run/run.h"

/* ---------------------------------------------------------------- inputs */

static bool has_input(const RunInput* inputs, int count, const char* path) {
  for (int i = 0; i < count; i++)
    if (strcmp(inputs[i].path, path) == 0) return true;
  return false;
}

static RunInput hash_file(const char* path) {
  RunInput input = {.path = memory_copy_text(path)};
  char* data;
  size_t length;
  if (!file_is_regular(path)) return input; /* a pipe cannot be read a second time */
  if (file_read(path, &data, &length) == STATUS_OK) hash_sha256(data, length, input.sha256);
  memory_free(data);
  return input;
}

static void append_signal_file(RunInput* inputs, int* count, const SceneSignal* signal) {
  if (signal->file && !has_input(inputs, *count, signal->file)) inputs[(*count)++] = hash_file(signal->file);
}

RunInput* run_inputs(const Scene* scene, int* count) {
  assert(scene && count);
  RunInput* inputs = MEMORY_NEW(RunInput, scene->shape_count + scene->file_count + scene->controller_count +
                                              2 * scene->load_count + scene->tendon_count + 1);
  *count = 1;
  inputs[0].path = memory_copy_text(scene->path);
  memcpy(inputs[0].sha256, scene->sha256, sizeof inputs[0].sha256);
  for (int i = 0; i < scene->file_count; i++)
    if (!has_input(inputs, *count, scene->files[i])) inputs[(*count)++] = hash_file(scene->files[i]);
  for (int i = 0; i < scene->shape_count; i++) {
    const char* file = scene->shapes[i].file;
    if ((scene->shapes[i].type != SHAPE_MESH && scene->shapes[i].type != SHAPE_HEIGHT_FIELD) || !file ||
        has_input(inputs, *count, file))
      continue;
    inputs[(*count)++] = hash_file(file);
  }
  for (int i = 0; i < scene->controller_count; i++) append_signal_file(inputs, count, &scene->controllers[i].target);
  for (int i = 0; i < scene->load_count; i++) {
    append_signal_file(inputs, count, &scene->loads[i].force);
    append_signal_file(inputs, count, &scene->loads[i].torque);
  }
  for (int i = 0; i < scene->tendon_count; i++) append_signal_file(inputs, count, &scene->tendons[i].tension);
  return inputs;
}

void run_inputs_free(RunInput* inputs, int count) {
  for (int i = 0; i < count; i++) memory_free(inputs[i].path);
  memory_free(inputs);
}

/* ---------------------------------------------------------------- totals */

RunTotals run_totals_start(void) { return (RunTotals){.smallest_gap = INFINITY}; }

static int max_int(int a, int b) { return a > b ? a : b; }

void run_totals_add_step(RunTotals* totals, const StepReport* report, const SimState* state) {
  assert(totals && report && state);
  totals->steps++;
  totals->time = state->time;
  totals->iterations += report->iterations;
  totals->trials += report->trials;
  totals->certified_intervals += report->certified_intervals;
  totals->factor_retries += report->factor_retries;
  totals->iterations_max = max_int(totals->iterations_max, report->iterations);
  totals->active_pairs_max = max_int(totals->active_pairs_max, report->active_pairs);
  totals->candidate_pairs_max = max_int(totals->candidate_pairs_max, report->candidate_pairs);
  totals->halved_steps += report->halved;
  totals->substeps_max = max_int(totals->substeps_max, report->substeps);
  totals->rounding_floor_steps += report->outcome == STEP_ROUNDING_FLOOR;
  totals->residual_max = fmax(totals->residual_max, report->residual);
}

void run_totals_update_gap(RunTotals* totals, const SimMeasure* measure, const SimState* state) {
  assert(totals && measure && state);
  if (!(measure->smallest_gap < totals->smallest_gap)) return;
  totals->smallest_gap = measure->smallest_gap;
  totals->smallest_gap_time = state->time;
}

/* ---------------------------------------------------------------- sections of the report */

const char* run_dof_link_name(const Model* model, int dof) {
  assert(model);
  if (dof < 0 || dof >= model->dof_count) return "?";
  return model->links[model->dof_link[dof]].name;
}

static void add_program(Json* json, const RunProgram* program) {
  json_open(json, "program", '{');
  json_text(json, "name", "sdrs");
  json_text(json, "version", program->version);
  json_text(json, "commit", program->commit);
  json_text(json, "build_flags", program->build_flags);
  json_text(json, "compiler", program->compiler);
  json_open(json, "libraries", '{');
  for (int i = 0; program->libraries[i].name; i++)
    json_text(json, program->libraries[i].name, program->libraries[i].version);
  json_close(json, '}');
  json_close(json, '}');
}

/* Writes the working folder of the process, because paths in the summary are relative to it. */
static void add_working_folder(Json* json) {
  char* folder = getcwd(NULL, 0);
  json_text(json, "working_folder", folder);
  free(folder);
}

static void add_inputs(Json* json, const RunSummary* summary) {
  json_open(json, "inputs", '[');
  for (int i = 0; i < summary->input_count; i++) {
    const RunInput* input = &summary->inputs[i];
    json_open(json, NULL, '{');
    json_text(json, "file", input->path);
    json_text(json, "sha256", *input->sha256 ? input->sha256 : NULL);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_open(json, "overrides", '[');
  for (int i = 0; i < summary->override_count; i++) json_text(json, NULL, summary->overrides[i].text);
  json_close(json, ']');
}

static void add_model(Json* json, const Model* model) {
  json_open(json, "model", '{');
  json_integer(json, "links", model->link_count);
  json_integer(json, "degrees_of_freedom", model->dof_count);
  json_integer(json, "coordinates", model->coordinate_count);
  json_integer(json, "hulls", model->hull_count);
  json_integer(json, "hull_vertices", model->vertex_count);
  json_close(json, '}');
}

static void add_mass_models(Json* json, const Model* model) {
  json_open(json, "mass_models", '{');
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].mass > 0) json_text(json, model->links[i].name, mass_model_name(model->links[i].mass_model));
  json_close(json, '}');
}

/* Writes the section `start` if the run started from a state of another run. */
static void add_start(Json* json, const Model* model) {
  if (!model->start) return;
  json_open(json, "start", '{');
  json_text(json, "run", model->scene->start.run);
  json_number(json, "time", model->scene->start.time);
  json_integer(json, "step", model->start_step);
  json_close(json, '}');
}

static const char* integrator_name(const SceneSimulation* simulation) {
  static const char* const WORDS[] = {"first_order", "second_order", "momentum"};
  return WORDS[simulation->integrator];
}

static void add_simulation(Json* json, const SceneSimulation* simulation) {
  const double gravity[3] = {simulation->gravity.x, simulation->gravity.y, simulation->gravity.z};
  json_open(json, "simulation", '{');
  json_number(json, "dt", simulation->dt);
  json_integer(json, "steps", simulation->steps);
  json_vector(json, "gravity", gravity, 3);
  json_text(json, "integrator", integrator_name(simulation));
  json_number(json, "tolerance", simulation->tolerance);
  json_number(json, "force_tolerance", simulation->force_tolerance);
  json_integer(json, "max_iterations", simulation->max_iterations);
  json_bool(json, "certificate", simulation->certificate);
  json_integer(json, "record_every", simulation->record_every);
  json_integer(json, "substeps", simulation_substep_count(simulation));
  json_close(json, '}');
}

static void add_parameter(Json* json, const char* name, double value, bool derived) {
  json_open(json, name, '{');
  json_number(json, "value", value);
  json_bool(json, "derived", derived);
  json_close(json, '}');
}

static void add_contact(Json* json, const Model* model) {
  const ModelContact* contact = &model->contact;
  json_open(json, "contact", '{');
  json_text(json, "model", contact_model_name(model->contact_model));
  add_parameter(json, "barrier_distance", contact->support, contact->support_derived);
  add_parameter(json, "stiffness", contact->stiffness, contact->stiffness_derived);
  add_parameter(json, "friction", contact->friction, false);
  add_parameter(json, "smoothing", contact->smoothing, contact->smoothing_derived);
  add_parameter(json, "rest_speed", contact->rest_speed, contact->rest_speed_derived);
  json_number(json, "feature", contact->feature);
  json_number(json, "reference_force", contact->reference_force);
  json_number(json, "equilibrium_gap", contact->gap_at_rest);
  /* the old names of both parameters are written, too, for one release */
  add_parameter(json, "support", contact->support, contact->support_derived);
  json_number(json, "gap_at_rest", contact->gap_at_rest);
  json_close(json, '}');
}

static void add_squeeze(Json* json, const Model* model, const BlockingPair* squeeze) {
  if (!squeeze->known) {
    json_text(json, "squeezed", NULL);
    return;
  }
  json_open(json, "squeezed", '{');
  json_text(json, "a", model->links[squeeze->link_a].name);
  json_text(json, "b", model->links[squeeze->link_b].name);
  json_number(json, "gap", squeeze->gap);
  json_number(json, "force", squeeze->force);
  json_close(json, '}');
}

static void add_failure(Json* json, const RunSummary* summary) {
  const StepReport* failure = summary->failure;
  if (!failure) {
    json_text(json, "failure", NULL);
    return;
  }
  json_open(json, "failure", '{');
  json_text(json, "outcome", step_outcome_text(failure->outcome));
  json_integer(json, "step", summary->model->start_step + summary->totals.steps + 1);
  json_number(json, "time", summary->totals.time + summary->model->simulation.dt);
  json_integer(json, "iterations", failure->iterations);
  json_integer(json, "trials", failure->trials);
  json_number(json, "residual", failure->residual);
  json_integer(json, "residual_degree_of_freedom", failure->residual_dof);
  json_text(json, "residual_link", run_dof_link_name(summary->model, failure->residual_dof));
  json_integer(json, "substeps", failure->substeps);
  add_squeeze(json, summary->model, &failure->squeeze);
  json_close(json, '}');
}

static void add_result(Json* json, const RunSummary* summary) {
  const RunTotals* totals = &summary->totals;
  double steps = totals->steps > 0 ? totals->steps : 1;
  json_open(json, "result", '{');
  json_integer(json, "exit_code", summary->exit_code);
  json_text(json, "stop", summary->stop);
  json_integer(json, "steps", totals->steps);
  json_number(json, "time", totals->time);
  json_number(json, "smallest_gap", totals->smallest_gap);
  json_number(json, "smallest_gap_time", totals->smallest_gap_time);
  if (contact_allows_overlap(summary->model->contact_model))
    json_number(json, "worst_overlap", fmax(0, -totals->smallest_gap));
  json_number(json, "scheme_work", totals->scheme_work);
  json_number(json, "residual_max", totals->residual_max);
  json_number(json, "iterations_mean", (double)totals->iterations / steps);
  json_integer(json, "iterations_max", totals->iterations_max);
  json_number(json, "trials_mean", (double)totals->trials / steps);
  json_integer(json, "rounding_floor_steps", totals->rounding_floor_steps);
  json_integer(json, "factor_retries", totals->factor_retries);
  json_integer(json, "halved_steps", totals->halved_steps);
  json_integer(json, "substeps_max", totals->substeps_max);
  json_number(json, "certified_intervals_mean", (double)totals->certified_intervals / steps);
  json_integer(json, "active_pairs_max", totals->active_pairs_max);
  json_integer(json, "candidate_pairs_max", totals->candidate_pairs_max);
  add_failure(json, summary);
  json_close(json, '}');
}

static void add_wall_time(Json* json, const RunSummary* summary) {
  const SimTimes* times = &summary->step_times;
  json_open(json, "wall_time", '{');
  json_number(json, "read_scene", summary->scene_seconds);
  json_number(json, "build_model", summary->model_seconds);
  json_number(json, "setup", summary->setup_seconds);
  json_open(json, "steps", '{');
  json_number(json, "broad_phase", times->broad_phase);
  json_number(json, "contact", times->contact);
  json_number(json, "friction", times->friction);
  json_number(json, "assembly", times->assembly);
  json_number(json, "factor", times->factor);
  json_number(json, "certificate", times->certificate);
  json_number(json, "other", times->other);
  json_number(json, "total", times->total);
  json_close(json, '}');
  json_number(json, "output", summary->output_seconds);
  json_number(json, "total", summary->total_seconds);
  json_close(json, '}');
  /* real_time_factor: simulated time divided by the computing time of the steps */
  json_number(json, "real_time_factor", summary->totals.time / times->total);
}

static double peak_memory_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : (double)NAN;
}

void run_summary_json(Text* text, const RunSummary* summary) {
  assert(text && summary && summary->program);
  const Model* model = summary->model;
  Json json = {.out = text};
  json_open(&json, NULL, '{');
  json_text(&json, "name", model->scene->name);
  add_program(&json, summary->program);
  add_working_folder(&json);
  add_inputs(&json, summary);
  json_integer(&json, "threads", summary->threads);
  add_model(&json, model);
  json_text(&json, "integrator", integrator_name(&model->simulation));
  add_mass_models(&json, model);
  json_number(&json, "scheme_work", summary->totals.scheme_work);
  add_simulation(&json, &model->simulation);
  add_start(&json, model);
  add_contact(&json, model);
  add_result(&json, summary);
  add_wall_time(&json, summary);
  json_number(&json, "peak_memory_bytes", peak_memory_bytes());
  if (summary->more) summary->more(summary->more_context, &json);
  json_close(&json, '}');
}
