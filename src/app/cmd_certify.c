/* sdrs certify RUN: proves that no two bodies intersected between the recorded steps. Also checks that the files of the
 * run agree with each other. */
#include <cjson/cJSON.h>
#include <string.h>
#include "app/run_check.h"

/* Largest allowed difference between the end of the recorded solver moves and the recorded state after them [m or
 * 1]. */
#define MISS_TOLERANCE 1e-9
/* Number of failed proofs and of errors in files that are printed without -v. */
enum { FAULTS_SHOWN = 10 };

typedef struct {
  int row;           /* row at the end of the motion without proof */
  double begin, end; /* times of the row before and of this row [s] */
  ProofReport report;
} Fault;

/* The solver's recorded moves (increments of the joint coordinates) that lead to a row. */
typedef struct {
  int count, capacity;
  double* delta; /* increments of the coordinates (count x nv) */
} Moves;

/* State of the command. certifying_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Recorded recorded;
  RunCheck check;
  RunFile path; /* path.csv; rows is NULL if the file does not exist */
  Moves moves;
  Fault* faults;
  int fault_count, fault_capacity;
  int64_t intervals;
  int detours, rows_by_moves;
  ProofReport nearest; /* report of the state with the smallest gap */
  double nearest_time; /* time of this state [s] */
} Certifying;

static void certifying_free(Certifying* c) {
  run_check_free(&c->check);
  csv_rows_close(c->path.rows);
  memory_free(c->path.path);
  memory_free(c->moves.delta);
  recorded_free(&c->recorded);
  memory_free(c->faults);
}

static Status refuse(Certifying* c, const char* path, const char* text) {
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
    return refuse(
        c, folder,
        "the folder holds designs, not a run: run `sdrs simulate` on best.scene.yaml, then certify the new run folder");
  if (!recorded_inputs_are_unchanged(recorded)) return STATUS_BAD_INPUT;
  status = run_check_read(&c->check, recorded, folder, &recorded->diagnostics);
  if (status != STATUS_OK) return status;
  c->path.path = file_join(folder, "path.csv");
  return run_path_open(&c->path.rows, c->path.path, &recorded->model, &recorded->diagnostics);
}

/* ---------------------------------------------------------------- the proof */

static void find_in_path(Certifying* c, int move, const char* text) {
  SourcePosition place = {c->path.path, csv_rows_read(c->path.rows, move)->lines[0], 1};
  diagnostics_add(&c->check.findings, SEVERITY_ERROR, place, "%s", text);
}

static void add_move(Certifying* c, int row) {
  Moves* moves = &c->moves;
  const Model* model = &c->recorded.model;
  size_t width = sizeof(double) * (size_t)model->dof_count;
  moves->delta = memory_grow_array(moves->delta, width, moves->count, &moves->capacity);
  run_path_read_row(c->path.rows, row, model, moves->delta + (size_t)moves->count++ * (size_t)model->dof_count);
}

/* Reads the recorded moves that lead to `row` into c->moves. first: index in path.csv at which the search begins. */
static void find_moves(Certifying* c, int row, int first) {
  int rows = c->path.rows ? csv_rows_count(c->path.rows) : 0;
  double begin = row > 0 ? run_check_time(&c->check, row - 1) : 0, end = run_check_time(&c->check, row), before = 0;
  c->moves.count = 0;
  if (first > 0 && first < rows) before = run_check_number(&c->path, first - 1, 0);
  for (int move = first; move < rows; move++) {
    double time = run_check_number(&c->path, move, 0);
    if (!(time <= end)) break;
    add_move(c, move);
    if (row == 0 || !(time > begin) || (move > 0 && time < before))
      find_in_path(c, move,
                   "the time of the move must be after the row of joints.csv before it, and times must not decrease: "
                   "simulate the scene again");
    before = time;
  }
}

static ProofReport prove_row(Certifying* c, Proof* proof, int row, int first) {
  const double* q = run_check_coordinates(&c->check, row);
  int moves = c->moves.count;
  if (moves == 0 || row == 0) return proof_next(proof, q);
  c->rows_by_moves++;
  ProofReport report = proof_next_along(proof, c->moves.delta, moves, q);
  if (!(report.miss <= MISS_TOLERANCE))
    find_in_path(c, first + moves - 1,
                 "the moves up to this line do not end at the next row of joints.csv: simulate the scene again");
  return report;
}

static void keep_report(Certifying* c, int row, const ProofReport* report) {
  c->intervals += report->intervals;
  c->detours += report->detour;
  double end = run_check_time(&c->check, row);
  if (report->outcome != PROOF_DISJOINT) {
    c->faults = memory_grow_array(c->faults, sizeof(Fault), c->fault_count, &c->fault_capacity);
    c->faults[c->fault_count++] = (Fault){row, row > 0 ? run_check_time(&c->check, row - 1) : end, end, *report};
  }
  if (report->gap >= c->nearest.gap) return;
  c->nearest = *report;
  c->nearest_time = end;
}

/* The pairs of the previous row, which the check of friction needs. */
typedef struct {
  ProofPair* list;
  int count, capacity;
} KeptPairs;

static void keep_pairs(KeptPairs* kept, const ProofPair* pairs, int count) {
  if (count > kept->capacity) {
    memory_free(kept->list);
    kept->capacity = 2 * count;
    kept->list = MEMORY_NEW(ProofPair, kept->capacity);
  }
  if (count > 0) memcpy(kept->list, pairs, sizeof(ProofPair) * (size_t)count);
  kept->count = count;
}

/* Checks the contacts of the recorded state `row` and keeps its pairs for the next row. apart: the proof of this row
 * succeeded. If the proof could not load the state, there are no pairs and nothing is checked. */
static void check_pairs(Certifying* c, Proof* proof, int row, bool apart, KeptPairs* kept) {
  RowPairs pairs = {.row = row, .before = kept->list, .before_count = kept->count};
  pairs.pairs = proof_pairs(proof, &pairs.count);
  bool entered = apart || pairs.count > 0;
  if (entered && row < csv_rows_count(c->check.trajectory.rows)) run_check_row_pairs(&c->check, &pairs);
  keep_pairs(kept, pairs.pairs, pairs.count);
}

static void prove(Certifying* c) {
  int first = 0;
  Proof* proof = proof_create(&c->recorded.model, c->options->threads);
  KeptPairs kept = {0};
  c->nearest = (ProofReport){.gap = INFINITY, .gap_a = -1};
  for (int row = 0; row < c->check.states; row++) {
    find_moves(c, row, first);
    ProofReport report = prove_row(c, proof, row, first);
    first += c->moves.count;
    keep_report(c, row, &report);
    check_pairs(c, proof, row, report.outcome == PROOF_DISJOINT, &kept);
  }
  if (c->path.rows && first < csv_rows_count(c->path.rows))
    find_in_path(c, first, "the move is after the last row of joints.csv: simulate the scene again");
  memory_free(kept.list);
  proof_destroy(proof);
}

/* Checks the smallest gap in summary.json against the smallest gap of the recorded states. */
static void check_summary(Certifying* c) {
  double range = contact_range(&c->recorded.model), reported = c->check.smallest_gap;
  if ((reported >= range && c->nearest.gap >= range) || c->fault_count > 0) return;
  if (fabs(reported - c->nearest.gap) <= 1e-6 * range) return;
  diagnostics_add(
      &c->check.findings, SEVERITY_ERROR, (SourcePosition){c->check.summary_path, 0, 0},
      "result.smallest_gap is %.9g m, but the smallest gap of the recorded states is %.9g m: simulate the scene again",
      reported, c->nearest.gap);
}

/* ---------------------------------------------------------------- output */

static const char* link_name(const Certifying* c, int link) { return c->recorded.model.links[link].name; }

static double time_of(const Fault* fault) {
  return fault->begin + fault->report.fraction * (fault->end - fault->begin);
}

static void print_fault(const Certifying* c, const Fault* fault) {
  const ProofReport* report = &fault->report;
  printf("%s and %s %s ", link_name(c, report->link_a), link_name(c, report->link_b),
         report->outcome == PROOF_INTERSECTING ? "meet" : "could not be shown to stay apart");
  if (report->fraction >= 1)
    printf("at %.9g s (row %d)\n", fault->end, fault->row);
  else
    printf("near %.9g s (between rows %d and %d)\n", time_of(fault), fault->row - 1, fault->row);
}

static bool proved(const Certifying* c) { return c->fault_count == 0 && c->check.findings.count == 0; }

/* Prints the errors in the files on standard error, all of them with -v. */
static void print_findings(const Certifying* c) {
  const Diagnostics* all = &c->check.findings;
  int count = c->options->verbose || all->count <= FAULTS_SHOWN ? all->count : FAULTS_SHOWN;
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
  int shown = c->options->verbose ? c->fault_count : (int)fmin(c->fault_count, FAULTS_SHOWN);
  for (int k = 0; k < shown; k++) print_fault(c, &c->faults[k]);
  if (shown < c->fault_count) printf("faults not shown: %d (-v prints all)\n", c->fault_count - shown);
  printf("%s: %s: %d states and the motions between them, %lld pieces of path", c->options->operands[0],
         proved(c) ? "proved, no intersection" : "NOT proved", c->check.states, (long long)c->intervals);
  if (c->rows_by_moves > 0) printf(", %d of the motions by the solver's moves", c->rows_by_moves);
  if (c->detours > 0) printf(", %d of the motions not straight", c->detours);
  if (c->nearest.gap_a >= 0)
    printf("; smallest gap of a state %.6g m, %s and %s at %.9g s", c->nearest.gap, link_name(c, c->nearest.gap_a),
           link_name(c, c->nearest.gap_b), c->nearest_time);
  printf("\n");
}

static void json_fault(Json* json, const Certifying* c, const Fault* fault) {
  json_open(json, NULL, '{');
  json_text(json, "outcome", fault->report.outcome == PROOF_INTERSECTING ? "meet" : "open");
  json_text(json, "a", link_name(c, fault->report.link_a));
  json_text(json, "b", link_name(c, fault->report.link_b));
  json_integer(json, "row", fault->row);
  json_number(json, "time", time_of(fault));
  json_close(json, '}');
}

static void print_json(const Certifying* c) {
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_text(&json, "run", c->options->operands[0]);
  json_bool(&json, "proved", proved(c));
  json_integer(&json, "states", c->check.states);
  json_integer(&json, "intervals", c->intervals);
  json_integer(&json, "detours", c->detours);
  json_integer(&json, "by_moves", c->rows_by_moves);
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
  for (int k = 0; k < c->fault_count; k++) json_fault(&json, c, &c->faults[k]);
  json_close(&json, ']');
  json_diagnostics(&json, "findings", &c->check.findings);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

/* Returns true if the contact law is a barrier law. Otherwise bodies may overlap and nothing can be proved; adds an
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
    prove(&c);
    check_summary(&c);
    if (!options->json) print_findings(&c);
    if (options->json)
      print_json(&c);
    else if (!options->quiet)
      print_text(&c);
    code = proved(&c) ? EXIT_DONE : EXIT_CHECK_FAILED;
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
