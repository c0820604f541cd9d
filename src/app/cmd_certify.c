/* sdrs certify RUN: proof that no pair met between the recorded steps. */
#include <cjson/cJSON.h>
#include <string.h>
#include "app/command.h"

/* Largest difference of a pose that the joint coordinates give from the recorded one, relative to 1 m or its distance
 * from the origin: rounding of numbers that are printed in full. */
#define POSE_TOLERANCE 1e-9
/* Faults that are printed without -v. */
enum { FAULTS_SHOWN = 10 };

typedef struct {
  int row; /* where the way ends */
  ProofReport report;
} Fault;

/* Zeroed or half-built is fine for certifying_free. */
typedef struct {
  const Options* options;
  Recorded recorded;
  RunCoordinates coordinates;
  RunPath path;
  Fault* faults;
  int fault_count;
  int64_t intervals;
  int detours;
  ProofReport nearest; /* the report with the smallest gap */
  int nearest_row;
} Certifying;

static void certifying_free(Certifying* c) {
  recorded_free(&c->recorded);
  run_coordinates_free(&c->coordinates);
  run_path_free(&c->path);
  memory_free(c->faults);
}

/* ---------------------------------------------------------------- what is proved is what was recorded */

static Status refuse(Certifying* c, const char* path, int line, const char* text) {
  diagnostics_add(&c->recorded.diagnostics, SEVERITY_ERROR, (SourcePlace){path, line, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

static double pose_difference(Pose a, Pose b) {
  double worst = vec3_norm(vec3_sub(a.t, b.t)) / fmax(1.0, vec3_norm(b.t));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(a.r.m[i][j] - b.r.m[i][j]));
  return worst;
}

/* The two files tell of the same motion. */
static Status check_rows(Certifying* c, const char* path) {
  const RunPoses* run = &c->recorded.run;
  const Model* model = &c->recorded.model;
  if (run->row_count != c->coordinates.row_count)
    return refuse(c, path, 1, "it has not as many rows as trajectory.csv beside it");
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  Status status = STATUS_OK;
  for (int row = 0; row < run->row_count && status == STATUS_OK; row++) {
    model_poses(model, c->coordinates.q + (size_t)row * (size_t)model->coordinate_count, poses);
    double worst = 0;
    for (int i = 0; i < model->link_count; i++)
      worst = fmax(worst, pose_difference(poses[i], run->pose[(size_t)row * (size_t)model->link_count + (size_t)i]));
    if (!(worst <= POSE_TOLERANCE) || c->coordinates.time[row] != run->time[row])
      status = refuse(c, path, row + 2, "this row gives other poses than trajectory.csv beside it");
  }
  memory_free(poses);
  return status;
}

static Status load(Certifying* c) {
  Recorded* recorded = &c->recorded;
  const char* folder = c->options->operands[0];
  if (!path_is_folder(folder)) {
    diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePlace){folder, 0, 0}, "no such run folder");
    return STATUS_IO;
  }
  Status status = recorded_load(recorded, folder);
  recorded_drop_scene_warnings(recorded);
  if (status != STATUS_OK) return status;
  if (!recorded->summary)
    return refuse(c, folder, 0, "it holds designs, not a run: simulate best.scene.yaml, then certify that run");
  if (!recorded_unchanged(recorded)) return STATUS_BAD_INPUT;
  char* path = path_join(folder, "joints.csv");
  status = run_coordinates_read(&c->coordinates, path, &recorded->model, &recorded->diagnostics);
  if (status == STATUS_OK) status = check_rows(c, path);
  memory_free(path);
  if (status != STATUS_OK) return status;
  path = path_join(folder, "path.csv");
  status = run_path_read(&c->path, path, &recorded->model, &recorded->diagnostics);
  memory_free(path);
  return status;
}

/* ---------------------------------------------------------------- the proof */

/* Recorded moves that lead to a row, from move `first` on. */
static int moves_to(const Certifying* c, int row, int first) {
  int count = 0;
  while (first + count < c->path.row_count && c->path.time[first + count] <= c->coordinates.time[row]) count++;
  return count;
}

static ProofReport prove_row(const Certifying* c, Proof* proof, int row, int first, int moves) {
  const double* q = c->coordinates.q + (size_t)row * (size_t)c->coordinates.coordinate_count;
  if (moves == 0 || row == 0) return proof_next(proof, q);
  return proof_next_along(proof, c->path.delta + (size_t)first * (size_t)c->path.dof_count, moves, q);
}

static void prove(Certifying* c) {
  const RunCoordinates* run = &c->coordinates;
  int first = 0;
  Proof* proof = proof_create(&c->recorded.model, c->options->threads);
  c->faults = MEMORY_NEW(Fault, run->row_count);
  c->nearest = (ProofReport){.gap = INFINITY, .gap_a = -1};
  for (int row = 0; row < run->row_count; row++) {
    int moves = moves_to(c, row, first);
    ProofReport report = prove_row(c, proof, row, first, moves);
    first += moves;
    c->intervals += report.intervals;
    c->detours += report.detour;
    if (report.outcome != PROOF_APART) c->faults[c->fault_count++] = (Fault){row, report};
    if (report.gap >= c->nearest.gap) continue;
    c->nearest = report;
    c->nearest_row = row;
  }
  proof_destroy(proof);
}

/* ---------------------------------------------------------------- what is said */

static const char* link_name(const Certifying* c, int link) { return c->recorded.model.links[link].name; }

static double time_of(const Certifying* c, const Fault* fault) {
  double end = c->coordinates.time[fault->row], start = fault->row > 0 ? c->coordinates.time[fault->row - 1] : end;
  return start + fault->report.fraction * (end - start);
}

static void print_fault(const Certifying* c, const Fault* fault) {
  const ProofReport* report = &fault->report;
  printf("%s and %s %s ", link_name(c, report->link_a), link_name(c, report->link_b),
         report->outcome == PROOF_MEET ? "meet" : "could not be shown to stay apart");
  if (report->fraction >= 1)
    printf("at %.9g s (row %d)\n", c->coordinates.time[fault->row], fault->row);
  else
    printf("near %.9g s (between rows %d and %d)\n", time_of(c, fault), fault->row - 1, fault->row);
}

static void print_text(const Certifying* c) {
  int shown = c->options->verbose ? c->fault_count : (int)fmin(c->fault_count, FAULTS_SHOWN), rows;
  for (int k = 0; k < shown; k++) print_fault(c, &c->faults[k]);
  if (shown < c->fault_count) printf("and %d more (-v prints all)\n", c->fault_count - shown);
  rows = c->coordinates.row_count;
  printf("%s: %s: %d states and the ways between them, %lld pieces of path", c->options->operands[0],
         c->fault_count == 0 ? "proved, nothing meets" : "NOT proved", rows, (long long)c->intervals);
  if (c->detours > 0) printf(", %d of the ways not straight", c->detours);
  if (c->nearest.gap_a >= 0)
    printf("; smallest gap of a state %.6g m, %s and %s at %.9g s", c->nearest.gap, link_name(c, c->nearest.gap_a),
           link_name(c, c->nearest.gap_b), c->coordinates.time[c->nearest_row]);
  printf("\n");
}

static void json_fault(Json* json, const Certifying* c, const Fault* fault) {
  json_open(json, NULL, '{');
  json_text(json, "outcome", fault->report.outcome == PROOF_MEET ? "meet" : "open");
  json_text(json, "a", link_name(c, fault->report.link_a));
  json_text(json, "b", link_name(c, fault->report.link_b));
  json_integer(json, "row", fault->row);
  json_number(json, "time", time_of(c, fault));
  json_close(json, '}');
}

static void print_json(const Certifying* c) {
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_text(&json, "run", c->options->operands[0]);
  json_bool(&json, "proved", c->fault_count == 0);
  json_integer(&json, "states", c->coordinates.row_count);
  json_integer(&json, "intervals", c->intervals);
  json_integer(&json, "detours", c->detours);
  if (c->nearest.gap_a >= 0) {
    json_open(&json, "smallest_gap", '{');
    json_number(&json, "gap", c->nearest.gap);
    json_text(&json, "a", link_name(c, c->nearest.gap_a));
    json_text(&json, "b", link_name(c, c->nearest.gap_b));
    json_number(&json, "time", c->coordinates.time[c->nearest_row]);
    json_close(&json, '}');
  } else {
    json_text(&json, "smallest_gap", NULL);
  }
  json_open(&json, "faults", '[');
  for (int k = 0; k < c->fault_count; k++) json_fault(&json, c, &c->faults[k]);
  json_close(&json, ']');
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

static ExitCode certify(const Options* options) {
  Certifying c = {.options = options, .recorded = {.options = options}};
  Status status = load(&c);
  print_diagnostics(options, &c.recorded.diagnostics);
  ExitCode code = status_exit_code(status);
  if (status == STATUS_OK) {
    prove(&c);
    if (options->json)
      print_json(&c);
    else if (!options->quiet)
      print_text(&c);
    code = c.fault_count == 0 ? EXIT_DONE : EXIT_CHECK_FAILED;
  }
  certifying_free(&c);
  return code;
}

const Verb VERB_CERTIFY = {
    .name = "certify",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "prove that no pair met between the recorded steps",
    .examples =
        "  sdrs certify out/spider\n"
        "  sdrs certify out/spider --json\n",
    .details =
        "Between two recorded states every joint coordinate is taken along a straight line (a ball joint along the\n"
        "angles of three turns), and every pair of hulls that may touch is shown to stay apart all along. simulate "
        "does\n"
        "this by itself in each step, along the solver's path; this verb does it again from the files alone.\n"
        "The scene and its meshes must be those of the run, unchanged; joints.csv must agree with trajectory.csv.\n"
        "A run that was recorded with gaps (record_every) needs pairs to stay apart along the longer straight ways.\n"
        "Exit codes: 0 proved, 1 not (who, when), 3 bad input, 5 cannot read.\n",
    .run = certify,
};
