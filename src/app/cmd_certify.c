/* sdrs certify RUN: proves that no two bodies intersected between the recorded steps. Also checks that the files of the
 * run agree with each other. */
#include <assert.h>
#include <cjson/cJSON.h>
#include <string.h>
#include "app/run_check.h"

/* Largest allowed difference between two states [m, rad, or 1 for quaternions]: the recorded state of a row, and the
 * previous recorded state plus all recorded solver increments. */
#define END_TOLERANCE 1e-9
/* Number of failed proofs and of errors in files that are printed without -v. */
enum { FAILURES_PRINTED = 10 };

typedef struct {
  int row;           /* recorded row at the end of the motion */
  double begin, end; /* times of the previous row and of `row` [s] */
  ProofReport report;
} UnprovenMotion;

/* Recorded increments of the joint coordinates by which the solver moved from the previous recorded row to a row. */
typedef struct {
  int count, capacity;
  double* delta; /* increments, each with one number per degree of freedom (count x nv) */
} Increments;

/* State of the command. certifying_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Recorded recorded;
  RunCheck check;
  RunFile path; /* path.csv; rows is NULL if the file does not exist */
  Increments increments;
  UnprovenMotion* unproven;
  int unproven_count, unproven_capacity;
  int64_t intervals;
  int detours, rows_by_increments;
  ProofReport nearest; /* report of the state with the smallest gap */
  double nearest_time; /* time of this state [s] */
} Certifying;

static void certifying_free(Certifying* c) {
  run_check_free(&c->check);
  csv_rows_close(c->path.rows);
  memory_free(c->path.path);
  memory_free(c->increments.delta);
  recorded_free(&c->recorded);
  memory_free(c->unproven);
}

static Status add_input_error(Certifying* c, const char* path, const char* text) {
  diagnostics_add(&c->recorded.diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

static Status load(Certifying* c) {
  Recorded* recorded = &c->recorded;
  const char* folder = c->options->operands[0];
  if (!path_is_folder(folder)) {
    diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePosition){folder, 0, 0},
                    "no such run folder: give the output folder of `sdrs simulate`");
    return STATUS_IO;
  }
  recorded->without_poses = true;
  Status status = recorded_load(recorded, folder);
  recorded_remove_scene_warnings(recorded);
  if (status != STATUS_OK) return status;
  if (!recorded->summary)
    return add_input_error(
        c, folder,
        "the folder holds designs, not a run: run `sdrs simulate` on best.scene.yaml, then certify the new run folder");
  if (!recorded_inputs_are_unchanged(recorded)) return STATUS_BAD_INPUT;
  status = run_check_read(&c->check, recorded, folder, &recorded->diagnostics);
  if (status != STATUS_OK) return status;
  c->path.path = file_join(folder, "path.csv");
  return run_path_open(&c->path.rows, c->path.path, &recorded->model, &recorded->diagnostics);
}

/* ---------------------------------------------------------------- the proof */

static void add_path_error(Certifying* c, int move, const char* text) {
  SourcePosition place = {c->path.path, csv_rows_read(c->path.rows, move)->lines[0], 1};
  diagnostics_add(&c->check.findings, SEVERITY_ERROR, place, "%s", text);
}

static void add_increment(Certifying* c, int row) {
  Increments* increments = &c->increments;
  const Model* model = &c->recorded.model;
  size_t width = sizeof(double) * (size_t)model->dof_count;
  increments->delta = memory_grow_array(increments->delta, width, increments->count, &increments->capacity);
  run_path_read_row(c->path.rows, row, model,
                    increments->delta + (size_t)increments->count++ * (size_t)model->dof_count);
}

/* Reads the recorded increments that lead to `row` into c->increments. first: index in path.csv at which the search
 * begins. */
static void read_increments(Certifying* c, int row, int first) {
  assert(row >= 0 && first >= 0);
  int rows = c->path.rows ? csv_rows_count(c->path.rows) : 0;
  double begin = row > 0 ? run_check_time(&c->check, row - 1) : 0, end = run_check_time(&c->check, row), before = 0;
  c->increments.count = 0;
  if (first > 0 && first < rows) before = run_check_number(&c->path, first - 1, 0);
  for (int move = first; move < rows; move++) {
    double time = run_check_number(&c->path, move, 0);
    if (!(time <= end)) break;
    add_increment(c, move);
    if (row == 0 || !(time > begin) || (move > 0 && time < before))
      add_path_error(c, move,
                     "the time of the move must be after the row of joints.csv before it, and times must not decrease: "
                     "simulate the scene again");
    before = time;
  }
}

static ProofReport prove_row(Certifying* c, Proof* proof, int row, int first) {
  assert(row >= 0);
  const double* q = run_check_coordinates(&c->check, row);
  int increments = c->increments.count;
  if (increments == 0 || row == 0) return proof_next(proof, q);
  c->rows_by_increments++;
  ProofReport report = proof_next_along(proof, c->increments.delta, increments, q);
  if (!(report.miss <= END_TOLERANCE))
    add_path_error(c, first + increments - 1,
                   "the moves up to this line do not end at the next row of joints.csv: simulate the scene again");
  return report;
}

static void store_report(Certifying* c, int row, const ProofReport* report) {
  c->intervals += report->intervals;
  c->detours += report->detour;
  double end = run_check_time(&c->check, row);
  if (report->outcome != PROOF_DISJOINT) {
    c->unproven = memory_grow_array(c->unproven, sizeof(UnprovenMotion), c->unproven_count, &c->unproven_capacity);
    c->unproven[c->unproven_count++] =
        (UnprovenMotion){row, row > 0 ? run_check_time(&c->check, row - 1) : end, end, *report};
  }
  if (report->gap >= c->nearest.gap) return;
  c->nearest = *report;
  c->nearest_time = end;
}

/* Pairs of nearby bodies in the previous recorded row, which the check of friction needs. */
typedef struct {
  ProofPair* list;
  int count, capacity;
} PreviousPairs;

static void store_pairs(PreviousPairs* previous, const ProofPair* pairs, int count) {
  if (count > previous->capacity) {
    memory_free(previous->list);
    previous->capacity = 2 * count;
    previous->list = MEMORY_NEW(ProofPair, previous->capacity);
  }
  if (count > 0) memcpy(previous->list, pairs, sizeof(ProofPair) * (size_t)count);
  previous->count = count;
}

/* Compares the recorded contacts of state `row` with the exact distances and forces of its pairs, and keeps these pairs
 * for the friction check of the next row. proven: the proof of this row succeeded. If the proof could not load the
 * state, there are no pairs and nothing is checked. */
static void check_pairs(Certifying* c, Proof* proof, int row, bool proven, PreviousPairs* previous) {
  RowPairs pairs = {.row = row, .before = previous->list, .before_count = previous->count};
  pairs.pairs = proof_pairs(proof, &pairs.count);
  bool entered = proven || pairs.count > 0;
  if (entered && row < csv_rows_count(c->check.trajectory.rows)) run_check_row_pairs(&c->check, &pairs);
  store_pairs(previous, pairs.pairs, pairs.count);
}

static void prove_rows(Certifying* c) {
  int first = 0;
  Proof* proof = proof_create(&c->recorded.model, c->options->threads);
  PreviousPairs previous = {0};
  c->nearest = (ProofReport){.gap = INFINITY, .gap_a = -1};
  for (int row = 0; row < c->check.states; row++) {
    read_increments(c, row, first);
    ProofReport report = prove_row(c, proof, row, first);
    first += c->increments.count;
    store_report(c, row, &report);
    check_pairs(c, proof, row, report.outcome == PROOF_DISJOINT, &previous);
  }
  if (c->path.rows && first < csv_rows_count(c->path.rows))
    add_path_error(c, first, "the move is after the last row of joints.csv: simulate the scene again");
  memory_free(previous.list);
  proof_destroy(proof);
}

/* Checks the smallest gap in summary.json against the smallest gap of the recorded states. */
static void check_summary(Certifying* c) {
  double range = contact_range(&c->recorded.model), reported = c->check.smallest_gap;
  if ((reported >= range && c->nearest.gap >= range) || c->unproven_count > 0) return;
  if (fabs(reported - c->nearest.gap) <= 1e-6 * range) return;
  diagnostics_add(
      &c->check.findings, SEVERITY_ERROR, (SourcePosition){c->check.summary_path, 0, 0},
      "result.smallest_gap is %.9g m, but the smallest gap of the recorded states is %.9g m: simulate the scene again",
      reported, c->nearest.gap);
}

/* ---------------------------------------------------------------- output */

static const char* link_name(const Certifying* c, int link) { return c->recorded.model.links[link].name; }

static double time_of_closest_approach(const UnprovenMotion* motion) {
  return motion->begin + motion->report.fraction * (motion->end - motion->begin);
}

static void print_unproven_motion(const Certifying* c, const UnprovenMotion* motion) {
  const ProofReport* report = &motion->report;
  printf("%s and %s %s ", link_name(c, report->link_a), link_name(c, report->link_b),
         report->outcome == PROOF_INTERSECTING ? "intersect" : "have a motion that the proof could not cover");
  if (report->fraction >= 1)
    printf("at %.9g s (row %d)\n", motion->end, motion->row);
  else
    printf("near %.9g s (between rows %d and %d)\n", time_of_closest_approach(motion), motion->row - 1, motion->row);
}

static bool is_proven(const Certifying* c) { return c->unproven_count == 0 && c->check.findings.count == 0; }

static void print_findings(const Certifying* c) {
  const Diagnostics* all = &c->check.findings;
  int count = c->options->verbose || all->count <= FAILURES_PRINTED ? all->count : FAILURES_PRINTED;
  for (int k = 0; k < count; k++) {
    const Diagnostic* item = &all->items[k];
    fprintf(stderr, "%s:", item->file);
    if (item->line > 0) fprintf(stderr, "%d:", item->line);
    if (item->column > 0) fprintf(stderr, "%d:", item->column);
    fprintf(stderr, " error: %s\n", item->text);
  }
  if (count < all->count) fprintf(stderr, "findings not shown: %d (-v prints all)\n", all->count - count);
}

static void print_text(const Certifying* c) {
  int shown = c->options->verbose ? c->unproven_count : (int)fmin(c->unproven_count, FAILURES_PRINTED);
  for (int k = 0; k < shown; k++) print_unproven_motion(c, &c->unproven[k]);
  if (shown < c->unproven_count) printf("faults not shown: %d (-v prints all)\n", c->unproven_count - shown);
  printf("%s: %s: %d states and the motions between them, %lld pieces of path", c->options->operands[0],
         is_proven(c) ? "proved, no intersection" : "NOT proved", c->check.states, (long long)c->intervals);
  if (c->rows_by_increments > 0) printf(", %d of the motions by the solver's moves", c->rows_by_increments);
  if (c->detours > 0) printf(", %d of the motions not straight", c->detours);
  if (c->nearest.gap_a >= 0)
    printf("; smallest gap of a state %.6g m, %s and %s at %.9g s", c->nearest.gap, link_name(c, c->nearest.gap_a),
           link_name(c, c->nearest.gap_b), c->nearest_time);
  printf("\n");
}

static void json_unproven_motion(Json* json, const Certifying* c, const UnprovenMotion* motion) {
  json_open(json, NULL, '{');
  json_text(json, "outcome", motion->report.outcome == PROOF_INTERSECTING ? "meet" : "open");
  json_text(json, "a", link_name(c, motion->report.link_a));
  json_text(json, "b", link_name(c, motion->report.link_b));
  json_integer(json, "row", motion->row);
  json_number(json, "time", time_of_closest_approach(motion));
  json_close(json, '}');
}

static void print_json(const Certifying* c) {
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_text(&json, "run", c->options->operands[0]);
  json_bool(&json, "proved", is_proven(c));
  json_integer(&json, "states", c->check.states);
  json_integer(&json, "intervals", c->intervals);
  json_integer(&json, "detours", c->detours);
  json_integer(&json, "by_moves", c->rows_by_increments);
  if (c->nearest.gap_a >= 0) {
    json_open(&json, "smallest_gap", '{');
    json_number(&json, "gap", c->nearest.gap);
    json_text(&json, "a", link_name(c, c->nearest.gap_a));
    json_text(&json, "b", link_name(c, c->nearest.gap_b));
    json_number(&json, "time", c->nearest_time);
    json_close(&json, '}');
  } else {
    json_text(&json, "smallest_gap", NULL);
  }
  json_open(&json, "faults", '[');
  for (int k = 0; k < c->unproven_count; k++) json_unproven_motion(&json, c, &c->unproven[k]);
  json_close(&json, ']');
  json_diagnostics(&json, "findings", &c->check.findings);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

/* Returns true if the contact law is a barrier law. Otherwise bodies may overlap and nothing can be proved: adds an
 * error and returns false. */
static bool is_barrier(Certifying* c) {
  ContactModel model = c->recorded.model.contact_model;
  if (!contact_allows_overlap(model)) return true;
  Text text = {0};
  text_add(&text, "contact.model %s is not a barrier law: bodies overlap a little, and nothing is proved",
           contact_model_name(model));
  diagnostics_add(&c->check.findings, SEVERITY_ERROR, c->recorded.model.scene->contact.place, "%s", text.data);
  text_free(&text);
  c->check.states = 0;
  return false;
}

static ExitCode certify(const Options* options) {
  Certifying c = {.options = options, .recorded = {.options = options}};
  Status status = load(&c);
  print_diagnostics(options, &c.recorded.diagnostics);
  ExitCode code = status_exit_code(status);
  if (status == STATUS_OK && !is_barrier(&c)) {
    c.nearest.gap_a = -1;
    if (!options->json) print_findings(&c);
    if (options->json) print_json(&c);
    code = EXIT_CHECK_FAILED;
  } else if (status == STATUS_OK) {
    run_check_states(&c.check);
    prove_rows(&c);
    check_summary(&c);
    if (!options->json) print_findings(&c);
    if (options->json)
      print_json(&c);
    else if (!options->quiet)
      print_text(&c);
    code = is_proven(&c) ? EXIT_DONE : EXIT_CHECK_FAILED;
  }
  certifying_free(&c);
  return code;
}

const Verb VERB_CERTIFY = {
    .name = "certify",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "prove that no two bodies intersected between the recorded steps",
    .examples =
        "  sdrs certify out/spider\n"
        "  sdrs certify out/spider --json\n",
    .details =
        "Proves from the files of a run that no two bodies intersect between the recorded states. `sdrs\n"
        "simulate` makes the same proof in each step.\n"
        "Between two states the motion follows the recorded moves of the solver in path.csv. Without\n"
        "path.csv, every joint coordinate moves along a straight line (a ball joint along its three angles).\n"
        "Every pair of hulls that may touch is proved to stay apart.\n"
        "Also reports errors in the files: times and rows, the initial state, poses, quaternions and centres\n"
        "of mass, gaps, contacts, energies, momenta, and forces that do not fit the motion.\n"
        "Not checked: energies and momenta of steps with substeps, angular momenta of the integrator\n"
        "momentum, how steps were solved, contact points, velocities.csv, forces.csv, closures.csv and\n"
        "pressure.csv.\n"
        "The scene and its meshes must be the unchanged files of the run.\n"
        "Exit codes: 0 proved, 1 not proved (the links and the time are printed) or an error in the files\n"
        "(with its place), 3 bad input, 5 cannot read.\n",
    .run = certify,
};
