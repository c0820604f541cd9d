#include "app/live.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "app/render_load.h"
#include "differentiate/differentiate.h"

/* Largest number of displayed states of a run (MOMENTS_MAX) and of a design (DESIGN_MOMENTS). */
enum { MOMENTS_MAX = 1500, DESIGN_MOMENTS = 300 };
/* DESIGN_PERIOD: shortest time between two writings of the page that shows the design [s]. DESIGN_SHARE: largest
 * fraction of the run time for writing it. */
#define DESIGN_PERIOD 1.0
#define DESIGN_SHARE 0.2

/* Columns of solver.csv that the page displays with each state. */
static const char* const COLUMNS[] = {"kinetic", "potential", "total", "iterations", "active_pairs"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

Status live_open(Live* live, const Options* options, const char* name, Diagnostics* diagnostics) {
  *live = (Live){.options = options, .name = name, .stride = 1, .page_time = -HUGE_VAL};
  if (!option_given(options, "view")) return STATUS_OK;
  if (page_available(diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = view_open(&live->view, option_count(options, "view", 0), diagnostics);
  if (status == STATUS_OK && !options->quiet)
    fprintf(stderr, "%s: live view at http://127.0.0.1:%d/\n", name, view_port(live->view));
  return status;
}

void live_close(Live* live) {
  view_close(live->view);
  memory_free(live->state_numbers);
  *live = (Live){0};
}

static Status show_page(Live* live, const PageSource* source, Diagnostics* diagnostics) {
  Text page = {0};
  PageExtent extent;
  Status status = page_write(&page, source, &extent, diagnostics);
  if (status == STATUS_OK) view_show(live->view, &page);
  text_free(&page);
  return status;
}

Status live_start_run(Live* live, const Model* model, const SimState* first, int steps, Diagnostics* diagnostics) {
  assert(steps >= 0);
  if (!live->view) return STATUS_OK;
  live->model = model;
  live->stride = 1 + (steps - 1) / MOMENTS_MAX;
  live->next_step = 0;
  memory_free(live->state_numbers);
  live->state_numbers = MEMORY_NEW(double, 1 + 7 * model->link_count + COLUMN_COUNT);
  RunPoses run = {1, model->link_count, (double[]){first->time}, first->pose};
  PageLive end_text = {view_next_version(live->view), COLUMNS, COLUMN_COUNT};
  return show_page(live, &(PageSource){.model = model, .run = &run, .live = &end_text}, diagnostics);
}

/* Writes the time, and position and rotation of every movable link, to live->state_numbers. Returns their number. */
static int add_poses(const Live* live, const SimState* state) {
  int n = 0;
  live->state_numbers[n++] = state->time;
  for (int i = 0; i < live->model->link_count; i++) {
    if (live->model->links[i].tree < 0) continue;
    Vec3 t = state->pose[i].t;
    Quat q = quat_from_mat3(state->pose[i].r);
    const double pose[7] = {t.x, t.y, t.z, q.x, q.y, q.z, q.w};
    memcpy(live->state_numbers + n, pose, sizeof pose);
    n += 7;
  }
  return n;
}

void live_show_state(Live* live, const SimState* state, int step, const SimMeasure* measure, const StepReport* report) {
  assert(step >= 0);
  if (!live->view || !live->state_numbers) return;
  if (step < live->next_step && step != live->model->simulation.steps) return;
  live->next_step = step + live->stride;
  int n = add_poses(live, state);
  const double columns[COLUMN_COUNT] = {measure->kinetic, measure->potential, measure->total, report->iterations,
                                        report->active_pairs};
  memcpy(live->state_numbers + n, columns, sizeof columns);
  view_add_moment(live->view, live->state_numbers, n + COLUMN_COUNT);
}

bool live_is_design_due(Live* live) {
  double pause = fmax(DESIGN_PERIOD, live->page_duration / DESIGN_SHARE);
  return live->view && timer_now() - live->page_time > pause && (isinf(live->page_time) || view_is_watched(live->view));
}

/* Returns the initial poses and the poses at the compared moments of a run. The caller frees the result with
 * run_poses_free. */
static RunPoses copy_moment_poses(const RefinedRun* refined) {
  const Model* model = &refined->model;
  int rows = refined->samples + 1, links = model->link_count;
  RunPoses run = {rows, links, MEMORY_NEW(double, rows), MEMORY_NEW(Pose, (size_t)rows * (size_t)links)};
  for (int k = 0; k < rows; k++) {
    int row = k > 0 ? refined_sample_row(refined, k - 1) : 0;
    run.time[k] = model_row_time(model, row);
    for (int i = 0; i < links; i++) run.pose[k * links + i] = recording_link_pose(&refined->recording, row, i);
  }
  return run;
}

static void show_refined(Live* live, const RefinedRun* refined, const char* folder) {
  Diagnostics unsaid = {0};
  RunPoses run = copy_moment_poses(refined);
  PageLive end_text = {view_next_version(live->view), NULL, 0};
  show_page(live, &(PageSource){.model = &refined->model, .run = &run, .design = folder, .live = &end_text}, &unsaid);
  run_poses_free(&run);
  diagnostics_free(&unsaid);
}

static bool interrupted(void) { return interrupt_signal() != 0; }

/* A failed run is not displayed, because the optimizer itself reports the line-search evaluation that led to it. */
void live_show_design(Live* live, const Scene* scene, const char* folder) {
  if (!live->view) return;
  double start = timer_now();
  Diagnostics unsaid = {0};
  RefinedRun refined;
  RefinedRunInput subject = {scene, NULL, 0, DESIGN_MOMENTS};
  RecordOptions options = {.threads = live->options->threads, .interrupted = interrupted};
  if (refined_run(&refined, &subject, 1, &options, &unsaid) == STATUS_OK) show_refined(live, &refined, folder);
  refined_run_free(&refined);
  diagnostics_free(&unsaid);
  live->page_time = timer_now();
  live->page_duration = live->page_time - start;
}

/* Returns true if the server stays after the end of the command: with --stay, or by default if standard error is a
 * terminal and -q is absent. It does not stay with --no-stay or after an interrupt. */
static bool server_stays(const Live* live) {
  if (option_given(live->options, "no-stay") || interrupted()) return false;
  return option_given(live->options, "stay") || (!live->options->quiet && isatty(fileno(stderr)) == 1);
}

bool live_will_show_end(Live* live) { return live->view && (server_stays(live) || view_is_watched(live->view)); }

void live_end(Live* live, const char* end_text, const char* folder) {
  if (!live->view) return;
  if (folder && live_will_show_end(live)) {
    Text page = {0};
    if (append_page_of_run(live->options, folder, &page)) view_show(live->view, &page);
    text_free(&page);
  }
  view_end(live->view, end_text);
  if (!server_stays(live)) return;
  fflush(stdout); /* prints the command's output before the next line */
  fprintf(stderr, "%s: %s; http://127.0.0.1:%d/ stays until Ctrl-C\n", live->name, end_text, view_port(live->view));
  while (!interrupted()) usleep(50000);
}
