#include <assert.h>
#include <string.h>
#include "render/picture.h"

/* Empty margins relative to half the image, at the right, left, top and bottom. LABEL_MARGIN: with space for ticks,
 * title and names. PLAIN_MARGIN: for images without text. */
static const double LABEL_MARGIN[4] = {0.14, 0.14, 0.22, 0.17};
static const double PLAIN_MARGIN[4] = {0.05, 0.05, 0.05, 0.05};
/* Empty margin around a followed link, whose surroundings should be visible. */
static const double FOLLOW_MARGIN[4] = {0.5, 0.5, 0.5, 0.5};
/* Largest number of hull poses that determine the camera. Longer runs use every n-th row only. */
#define FIT_SAMPLES 2000000
/* Opacities of the first and the last ghost of a trail. */
#define GHOST_FIRST 0.25
#define GHOST_LAST 0.55
/* Width of the white gap between the panels of a strip [px]. */
#define STRIP_GAP 4

RenderOptions render_defaults(void) {
  return (RenderOptions){.width = 960,
                         .height = 720,
                         .zoom = 1.0,
                         .follow = -1,
                         .path = RENDER_PATH_NONE,
                         .time = NAN,
                         .fps = 30.0,
                         .labels = true,
                         .threads = 1};
}

/* Returns the recorded row of panel k in a strip of n panels. The panels' times are equally spaced from the first row
 * to row `last`. */
static int panel_row(const RunPoses* run, int last, int k, int n) {
  assert(k >= 0 && k < n);
  double share = n > 1 ? (double)k / (n - 1) : 1.0;
  return run_find_row(run, run->time[0] + share * (run->time[last] - run->time[0]));
}

static bool hull_in_fit(const RenderRun* render, int hull) {
  const Model* model = render->subject->model;
  if (render->stage.part[hull] == HULL_TERRAIN) return false;
  if (render->options->follow < 0) return true;
  int tree = model->links[render->options->follow].tree;
  return tree < 0 || model->links[model->hulls[hull].link].tree == tree;
}

static void fit_row(const RenderRun* render, int row, CameraFit* fit) {
  const Model* model = render->subject->model;
  const Pose* poses = run_poses_at_row(render->subject->run, row);
  int follow = render->options->follow;
  for (int h = 0; h < model->hull_count; h++) {
    Pose pose = poses[model->hulls[h].link];
    if (follow >= 0) pose.t = vec3_sub(pose.t, poses[follow].t);
    if (hull_in_fit(render, h)) camera_fit_add_hull(fit, &model->hulls[h], pose);
  }
}

/* Adds all bodies over the run, and the ground below them, to the fit. With a followed link, adds only its tree, in
 * positions relative to the link. */
static void fit_run(const RenderRun* render, CameraFit* fit) {
  const RunPoses* run = render->subject->run;
  int stride = 1 + (int)((double)run->row_count * render->subject->model->hull_count / FIT_SAMPLES);
  for (int row = 0; row < run->row_count - 1; row += stride) fit_row(render, row, fit);
  fit_row(render, run->row_count - 1, fit);
  GroundPatch patch;
  if (render->options->follow >= 0 || !stage_ground_patch(&render->stage, run_poses_at_row(run, 0), &patch)) return;
  for (int corner = 0; corner < 4; corner++)
    camera_fit_add_point(fit, ground_point(&patch, corner & 1 ? patch.high[0] : patch.low[0],
                                           corner & 2 ? patch.high[1] : patch.low[1]));
}

/* Returns a camera that shows all runs, with the upward direction of the first run. */
static RenderCamera fit_camera(const RenderRun* runs, int count, const RenderOptions* options) {
  double azimuth, elevation;
  camera_angles(options->view, &azimuth, &elevation);
  if (options->has_azimuth) azimuth = options->azimuth;
  if (options->has_elevation) elevation = options->elevation;
  RenderCamera camera = camera_create_at_angles(options->view, azimuth, elevation, runs->stage.up, options->width,
                                                options->height, options->zoom);
  const double* margin = options->follow >= 0 ? FOLLOW_MARGIN : options->labels ? LABEL_MARGIN : PLAIN_MARGIN;
  CameraFit fit = camera_fit_create(&camera, margin);
  for (int i = 0; i < count; i++) fit_run(&runs[i], &fit);
  if (options->has_look_at)
    camera_fit_look_at(&fit, &camera, options->look_at);
  else
    camera_fit_place(&fit, &camera);
  return camera;
}

static const char* path_name(const RenderRun* render) {
  int path = render->options->path;
  if (path == RENDER_PATH_NONE) return NULL;
  return path == RENDER_PATH_ALL ? "the centre of mass" : render->subject->model->links[path].name;
}

/* Returns the force [N] that the key's arrow represents in all runs: options->newtons if given, otherwise the largest
 * force_unit of the runs. */
static double common_force_unit(const RenderRun* runs, int count, const RenderOptions* options) {
  double unit = options->newtons;
  if (unit > 0.0) return unit;
  for (int i = 0; i < count; i++)
    if (runs[i].subject->contacts) unit = fmax(unit, force_unit(runs[i].subject->contacts));
  return unit;
}

static void set_scales(RenderRun* runs, int count, const RenderOptions* options) {
  double newtons = common_force_unit(runs, count, options), metres = 2.0 * KEY_ARROW_SHARE * runs->camera.reach,
         most = 0.0;
  for (int i = 0; i < count; i++) most = fmax(most, runs[i].stage.largest_displacement);
  for (int i = 0; i < count; i++) {
    unsigned show = options->show;
    if (!runs[i].subject->contacts) show &= ~(unsigned)RENDER_FORCES;
    runs[i].marks = (RenderMarks){show, newtons, newtons > 0.0 ? metres / newtons : 0.0, path_name(&runs[i])};
    runs[i].stage.largest_displacement = most;
  }
}

static void initialize_run(RenderRun* render, const RenderSubject* subject, const RenderOptions* options) {
  *render = (RenderRun){.subject = subject, .options = options};
  stage_create(&render->stage, subject->model, subject->run);
  if (options->show & RENDER_EDGES) stage_mark_all_edges(&render->stage);
  if ((options->show & RENDER_DISPLACEMENT) && subject->initial)
    stage_color_by_displacement(&render->stage, subject->initial);
}

void render_run_create(RenderRun* render, const RenderSubject* subject, const RenderOptions* options) {
  initialize_run(render, subject, options);
  render->camera = fit_camera(render, 1, options);
  set_scales(render, 1, options);
}

void render_run_destroy(RenderRun* render) { stage_destroy(&render->stage); }

static void time_text(const RunPoses* run, int row, int from, char text[64]) {
  double total = run->time[run->row_count - 1] - run->time[0];
  int digits = total < 1.0 ? 3 : 2;
  if (from >= 0)
    snprintf(text, 64, "t = %.*f to %.*f s", digits, run->time[from], digits, run->time[row]);
  else
    snprintf(text, 64, "t = %.*f s", digits, run->time[row]);
}

RenderCamera render_run_camera(const RenderRun* render, int row) {
  assert(row >= 0 && row < render->subject->run->row_count);
  int follow = render->options->follow;
  if (follow < 0) return render->camera;
  return camera_translated(render->camera, run_poses_at_row(render->subject->run, row)[follow].t);
}

void render_run_bodies(const RenderRun* render, int row, int threads, RenderImage* image) {
  assert(row >= 0 && row < render->subject->run->row_count);
  const RunPoses* run = render->subject->run;
  int trail = render->options->trail;
  RenderCamera camera = render_run_camera(render, row);
  RenderLayer* layers = MEMORY_NEW(RenderLayer, trail + 1);
  layers[0] = (RenderLayer){run_poses_at_row(run, row), 1.0};
  for (int k = 0; k < trail; k++) {
    double share = trail > 1 ? (double)k / (trail - 1) : 1.0;
    int earlier = panel_row(run, row, k, trail + 1);
    layers[k + 1] = (RenderLayer){run_poses_at_row(run, earlier), GHOST_FIRST + share * (GHOST_LAST - GHOST_FIRST)};
  }
  render_scene(image, &render->stage, &camera, layers, trail + 1, threads);
  memory_free(layers);
}

void render_run_marks(const RenderRun* render, int row, RenderImage* image) {
  const RenderSubject* subject = render->subject;
  RenderCamera camera = render_run_camera(render, row);
  int path = render->options->path;
  if (path != RENDER_PATH_NONE) render_path(image, &camera, subject->model, subject->run, row, path);
  render_marks(image, &camera, subject->model, run_poses_at_row(subject->run, row), subject->run->time[row],
               subject->contacts, &render->marks);
}

void render_run_labels(const RenderRun* render, int row, bool titled, RenderImage* image) {
  const RenderSubject* subject = render->subject;
  const RunPoses* run = subject->run;
  RenderCamera camera = render_run_camera(render, row);
  char time[64] = "";
  if (!render->options->labels) return;
  if (run->row_count > 1 || !subject->caption) time_text(run, row, render->options->trail > 0 ? 0 : -1, time);
  const char* title = subject->caption ? subject->caption : subject->model->scene->name;
  RenderLabels labels = {titled ? title : NULL, time, true, titled && !render->stage.displacement,
                         titled ? &render->marks : NULL};
  render_labels(image, &render->stage, &camera, run_poses_at_row(run, row), &labels);
}

void render_run_panel(const RenderRun* render, int row, bool titled, int threads, RenderImage* image) {
  render_run_bodies(render, row, threads, image);
  render_run_marks(render, row, image);
  render_run_labels(render, row, titled, image);
}

void sheet_create(RenderSheet* sheet, RenderSubjects subjects, const RenderOptions* options) {
  assert(subjects.count >= 1 && subjects.count <= RENDER_SUBJECTS_MAX);
  assert(subjects.count >= 1 && subjects.count <= RENDER_SUBJECTS_MAX);
  *sheet = (RenderSheet){.count = subjects.count, .options = options};
  for (int i = 0; i < sheet->count; i++) initialize_run(&sheet->panels[i], &subjects.subjects[i], options);
  RenderCamera camera = fit_camera(sheet->panels, sheet->count, options);
  for (int i = 0; i < sheet->count; i++) sheet->panels[i].camera = camera;
  set_scales(sheet->panels, sheet->count, options);
}

void sheet_destroy(RenderSheet* sheet) {
  for (int i = 0; i < sheet->count; i++) render_run_destroy(&sheet->panels[i]);
}

/* Creates a white image for a number of panels with gaps between them. */
static void create_row(RenderImage* image, const RenderOptions* options, int panels) {
  image_create(image, panels * options->width + (panels - 1) * STRIP_GAP, options->height);
  memset(image->rgb, 0xff, 3 * (size_t)image->width * (size_t)image->height);
}

void sheet_create_image(const RenderSheet* sheet, RenderImage* image) {
  create_row(image, sheet->options, sheet->count);
}

double sheet_duration(const RenderSheet* sheet) {
  double longest = 0.0;
  for (int i = 0; i < sheet->count; i++) {
    const RunPoses* run = sheet->panels[i].subject->run;
    longest = fmax(longest, run->time[run->row_count - 1] - run->time[0]);
  }
  return longest;
}

void sheet_draw(const RenderSheet* sheet, double time, int threads, RenderImage* image) {
  RenderImage panel = *image;
  if (sheet->count > 1) image_create(&panel, sheet->options->width, sheet->options->height);
  for (int i = 0; i < sheet->count; i++) {
    const RunPoses* run = sheet->panels[i].subject->run;
    render_run_panel(&sheet->panels[i], run_find_row(run, run->time[0] + time), true, threads, &panel);
    if (sheet->count > 1) image_paste(image, &panel, i * (sheet->options->width + STRIP_GAP), 0);
  }
  if (sheet->count > 1) image_destroy(&panel);
}

static void draw_strip(const RenderRun* render, RenderImage* image) {
  const RenderOptions* options = render->options;
  const RunPoses* run = render->subject->run;
  create_row(image, options, options->strip);
  RenderImage panel;
  image_create(&panel, options->width, options->height);
  for (int k = 0; k < options->strip; k++) {
    int row = panel_row(run, run_find_row(run, options->time), k, options->strip);
    render_run_panel(render, row, k == 0, options->threads, &panel);
    image_paste(image, &panel, k * (options->width + STRIP_GAP), 0);
  }
  image_destroy(&panel);
}

Status render_picture(const char* path, RenderSubjects subjects, const RenderOptions* options,
                      Diagnostics* diagnostics) {
  RenderSheet sheet;
  RenderImage image;
  sheet_create(&sheet, subjects, options);
  if (options->strip > 0) {
    draw_strip(&sheet.panels[0], &image);
  } else {
    sheet_create_image(&sheet, &image);
    sheet_draw(&sheet, options->time - subjects.subjects[0].run->time[0], options->threads, &image);
  }
  Status status = image_write_png_reported(&image, path, diagnostics);
  image_destroy(&image);
  sheet_destroy(&sheet);
  return status;
}
