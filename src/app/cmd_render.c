/* sdrs render RUN|SCENE: pictures of a run, drawn without GPU and display. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/command.h"

/* Sides of a picture [px], and the widest strip. */
enum { SIDE_MIN = 32, SIDE_MAX = 8192, STRIP_WIDTH_MAX = 32768, TRAIL_MAX = 1000 };
/* Size of a panel of a strip when none is asked for. */
enum { STRIP_PANEL_WIDTH = 480, STRIP_PANEL_HEIGHT = 360 };
/* Pictures of a film or a folder that are more likely a slip than a wish. */
#define FRAMES_MAX 100000.0

typedef enum { TARGET_PICTURE, TARGET_FRAMES, TARGET_FILM } TargetKind;

/* From the run folder to the picture. Zeroed or half-built is fine for rendering_free. */
typedef struct {
  const Options* options;
  Diagnostics diagnostics;
  char *scene_path, *scene_sha256; /* as the summary records them; the hash may be NULL */
  SceneOverride* overrides;        /* the run's, then the command line's */
  int override_count;
  cJSON* summary; /* owns the texts of the run's overrides */
  Scene scene;
  Model model;
  RunPoses run;
  RenderOptions render;
  int own_messages; /* diagnostics about the run itself; those of its scene follow */
  char* target;
  TargetKind kind;
} Rendering;

static void rendering_free(Rendering* rendering) {
  run_poses_free(&rendering->run);
  model_destroy(&rendering->model);
  scene_free(&rendering->scene);
  memory_free(rendering->overrides);
  cJSON_Delete(rendering->summary);
  memory_free(rendering->scene_path);
  memory_free(rendering->target);
  diagnostics_free(&rendering->diagnostics);
}

static bool is_folder(const char* path) {
  struct stat state;
  return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

static char* join_path(const char* folder, const char* name) {
  Text path = {0};
  size_t length = strlen(folder);
  text_add(&path, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
  return path.data;
}

/* ---------------------------------------------------------------- options */

/* x,y,z */
static bool parse_vector(const char* text, Vec3* v) {
  char tail;
  return sscanf(text, "%lf,%lf,%lf%c", &v->x, &v->y, &v->z, &tail) == 3 && isfinite(v->x) && isfinite(v->y) &&
         isfinite(v->z);
}

/* WxH */
static bool parse_size(const char* text, int* width, int* height) {
  char tail;
  return sscanf(text, "%dx%d%c", width, height, &tail) == 2 && *width >= SIDE_MIN && *height >= SIDE_MIN &&
         *width <= SIDE_MAX && *height <= SIDE_MAX;
}

static bool parse_view(const char* text, RenderView* view) {
  static const char* const NAMES[] = {
      [RENDER_ISO] = "iso", [RENDER_FRONT] = "front", [RENDER_SIDE] = "side", [RENDER_TOP] = "top"};
  for (int i = 0; i < 4; i++)
    if (strcmp(NAMES[i], text) == 0) {
      *view = (RenderView)i;
      return true;
    }
  return false;
}

static ExitCode read_camera_options(Rendering* rendering) {
  const Options* options = rendering->options;
  RenderOptions* render = &rendering->render;
  const char *view = option_text(options, "view"), *size = option_text(options, "size");
  const char* look_at = option_text(options, "look-at");
  if (view && !parse_view(view, &render->view))
    return usage_error(options, "--view is iso, front, side or top, got '%s'", view);
  if (size && !parse_size(size, &render->width, &render->height))
    return usage_error(options, "--size needs WIDTHxHEIGHT in pixels, %d to %d each, got '%s'", SIDE_MIN, SIDE_MAX,
                       size);
  render->has_look_at = look_at != NULL;
  if (look_at && !parse_vector(look_at, &render->look_at))
    return usage_error(options, "--look-at needs x,y,z in metres, got '%s'", look_at);
  if (look_at && option_given(options, "follow"))
    return usage_error(options, "--look-at and --follow exclude each other");
  render->zoom = option_number(options, "zoom", 1.0);
  if (!(render->zoom >= 0.01 && render->zoom <= 1000.0))
    return usage_error(options, "--zoom must be between 0.01 and 1000, got %g", render->zoom);
  return EXIT_DONE;
}

static ExitCode read_time_options(Rendering* rendering) {
  const Options* options = rendering->options;
  RenderOptions* render = &rendering->render;
  render->time = option_number(options, "time", (double)NAN);
  render->strip = option_count(options, "strip", 0);
  render->trail = option_count(options, "trail", 0);
  render->fps = option_number(options, "fps", render->fps);
  if (render->strip > 0 && !option_given(options, "size")) {
    render->width = STRIP_PANEL_WIDTH;
    render->height = STRIP_PANEL_HEIGHT;
  }
  if (render->strip > STRIP_WIDTH_MAX / render->width)
    return usage_error(options, "%d panels of %d pixels are wider than %d", render->strip, render->width,
                       STRIP_WIDTH_MAX);
  if (render->trail > TRAIL_MAX) return usage_error(options, "--trail is at most %d, got %d", TRAIL_MAX, render->trail);
  if (!(render->fps > 0.0)) return usage_error(options, "--fps must be > 0");
  return EXIT_DONE;
}

/* Where the picture goes when nothing is said: into the run folder, or beside the runs. */
static char* default_target(const char* operand) {
  if (is_folder(operand)) return join_path(operand, "picture.png");
  char* name = file_stem(operand);
  Text path = {0};
  text_add(&path, "out/%s.png", name);
  memory_free(name);
  return path.data;
}

static bool ends_with(const char* text, const char* end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static ExitCode choose_target(Rendering* rendering) {
  const Options* options = rendering->options;
  rendering->target = options->folder ? memory_text(options->folder) : default_target(options->operands[0]);
  const char* target = rendering->target;
  if (ends_with(target, "/") || is_folder(target))
    rendering->kind = TARGET_FRAMES;
  else if (ends_with(target, ".mp4"))
    rendering->kind = TARGET_FILM;
  else if (!ends_with(target, ".png"))
    return usage_error(
        options, "-o names a picture (.png), a film (.mp4) or a folder for frames (ends in '/'), got '%s'", target);
  if (rendering->kind == TARGET_PICTURE) return EXIT_DONE;
  if (rendering->render.strip > 0) return usage_error(options, "--strip makes one picture: -o needs a .png file");
  if (option_given(options, "time")) return usage_error(options, "--time makes one picture: -o needs a .png file");
  return EXIT_DONE;
}

static ExitCode read_options(Rendering* rendering) {
  rendering->render = render_defaults();
  rendering->render.threads = rendering->options->threads;
  rendering->render.labels = !option_given(rendering->options, "no-labels");
  ExitCode code = read_camera_options(rendering);
  if (code == EXIT_DONE) code = read_time_options(rendering);
  if (code == EXIT_DONE) code = choose_target(rendering);
  return code;
}

/* ---------------------------------------------------------------- what the run was made from */

static Status refuse(Rendering* rendering, const char* path, const char* text) {
  diagnostics_add(&rendering->diagnostics, SEVERITY_ERROR, (SourcePlace){path, 0, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

/* The scene is the first input; overrides are texts. */
static Status take_summary(Rendering* rendering, const char* path) {
  const cJSON* first = cJSON_GetArrayItem(cJSON_GetObjectItem(rendering->summary, "inputs"), 0);
  const char* file = cJSON_GetStringValue(cJSON_GetObjectItem(first, "file"));
  if (!file) return refuse(rendering, path, "it names no scene: inputs[0].file is missing");
  rendering->scene_path = memory_text(file);
  rendering->scene_sha256 = cJSON_GetStringValue(cJSON_GetObjectItem(first, "sha256"));
  const cJSON *overrides = cJSON_GetObjectItem(rendering->summary, "overrides"), *item;
  int capacity = cJSON_GetArraySize(overrides) + rendering->options->override_count;
  rendering->overrides = MEMORY_NEW(SceneOverride, capacity + 1);
  cJSON_ArrayForEach(item, overrides) {
    const char* text = cJSON_GetStringValue(item);
    if (text) rendering->overrides[rendering->override_count++].text = text;
  }
  for (int i = 0; i < rendering->options->override_count; i++)
    rendering->overrides[rendering->override_count++] = rendering->options->overrides[i];
  return STATUS_OK;
}

static Status read_summary(Rendering* rendering, const char* folder) {
  char *path = join_path(folder, "summary.json"), *data = NULL;
  size_t length;
  Status status = file_read(path, &data, &length);
  if (status != STATUS_OK) {
    diagnostics_add(&rendering->diagnostics, SEVERITY_ERROR, (SourcePlace){path, 0, 0},
                    "cannot read: %s (render needs a folder that `sdrs simulate` has finished)", strerror(errno));
  } else {
    rendering->summary = cJSON_ParseWithLength(data, length);
    status = rendering->summary ? take_summary(rendering, path) : refuse(rendering, path, "it is not valid JSON");
  }
  memory_free(data);
  memory_free(path);
  return status;
}

static bool hash_matches(const char* path, const char* sha256) {
  char *data = NULL, hex[65];
  size_t length;
  bool same = false;
  if (file_read(path, &data, &length) == STATUS_OK) {
    hash_sha256(data, length, hex);
    same = !sha256 || strcmp(hex, sha256) == 0;
  }
  memory_free(data);
  return same;
}

/* Keeps `path` (owned) as *found when it has the recorded content, which ends the search, or is the first that exists.
 */
static bool try_scene(const Rendering* rendering, char* path, char** found) {
  bool there = file_exists(path), same = there && hash_matches(path, rendering->scene_sha256);
  if (same || (there && !*found)) {
    memory_free(*found);
    *found = path;
  } else {
    memory_free(path);
  }
  return same;
}

static bool is_working_folder(const char* folder) {
  char* here = getcwd(NULL, 0);
  bool same = here && strcmp(here, folder) == 0;
  free(here);
  return same;
}

/* The scene's path was noted as seen from where the run was started. When that place is gone or holds another scene by
 * now, the two may have been moved together: here, or a folder above the run, is then that place. */
static char* find_scene(const Rendering* rendering, const char* folder) {
  const char* scene = rendering->scene_path;
  char* found = NULL;
  if (scene[0] == '/') return file_exists(scene) ? memory_text(scene) : NULL;
  const char* started = cJSON_GetStringValue(cJSON_GetObjectItem(rendering->summary, "working_folder"));
  if (started && !is_working_folder(started) && try_scene(rendering, join_path(started, scene), &found)) return found;
  if (try_scene(rendering, memory_text(scene), &found)) return found;
  char* absolute = realpath(folder, NULL);
  for (char* end = absolute ? absolute + strlen(absolute) : NULL; end && end > absolute; end = strrchr(absolute, '/')) {
    *end = '\0';
    if (try_scene(rendering, join_path(absolute, scene), &found)) break;
  }
  free(absolute);
  return found;
}

static Status load_model(Rendering* rendering, const char* path) {
  Diagnostics* diagnostics = &rendering->diagnostics;
  rendering->own_messages = diagnostics->count;
  Status status = scene_load(&rendering->scene, path, rendering->overrides, rendering->override_count, diagnostics);
  if (status == STATUS_OK) status = model_create(&rendering->model, &rendering->scene, diagnostics);
  return status;
}

static Status load_run(Rendering* rendering, const char* folder) {
  Status status = read_summary(rendering, folder);
  if (status != STATUS_OK) return status;
  char* scene = find_scene(rendering, folder);
  if (!scene) {
    diagnostics_add(
        &rendering->diagnostics, SEVERITY_ERROR, (SourcePlace){rendering->scene_path, 0, 0},
        "the scene of this run is not there any more (looked where the run was started, here and in the folders "
        "above the run)");
    return STATUS_IO;
  }
  if (!hash_matches(scene, rendering->scene_sha256))
    diagnostics_add(&rendering->diagnostics, SEVERITY_WARNING, (SourcePlace){scene, 0, 0},
                    "the scene has changed since the run: shapes may differ from what was simulated");
  status = load_model(rendering, scene);
  memory_free(scene);
  char* trajectory = join_path(folder, "trajectory.csv");
  if (status == STATUS_OK)
    status = run_poses_read(&rendering->run, trajectory, &rendering->model, &rendering->diagnostics);
  memory_free(trajectory);
  return status;
}

/* A scene by itself shows its initial state. */
static Status load_scene(Rendering* rendering, const char* path) {
  rendering->overrides = MEMORY_NEW(SceneOverride, rendering->options->override_count + 1);
  for (int i = 0; i < rendering->options->override_count; i++)
    rendering->overrides[rendering->override_count++] = rendering->options->overrides[i];
  Status status = load_model(rendering, path);
  if (status != STATUS_OK) return status;
  const Model* model = &rendering->model;
  rendering->run = (RunPoses){1, model->link_count, MEMORY_NEW(double, 1), MEMORY_NEW(Pose, model->link_count + 1)};
  model_poses(model, model->initial_coordinates, rendering->run.pose);
  return STATUS_OK;
}

static Status load_operand(Rendering* rendering, const char* path) {
  if (is_folder(path)) return load_run(rendering, path);
  if (file_exists(path)) return load_scene(rendering, path);
  diagnostics_add(&rendering->diagnostics, SEVERITY_ERROR, (SourcePlace){path, 0, 0}, "no such run folder or scene");
  return STATUS_IO;
}

/* ---------------------------------------------------------------- drawing */

static ExitCode find_followed(Rendering* rendering) {
  const char* name = option_text(rendering->options, "follow");
  const Model* model = &rendering->model;
  if (!name) return EXIT_DONE;
  const char** names = MEMORY_NEW(const char*, model->link_count + 1);
  for (int i = 0; i < model->link_count; i++) {
    names[i] = model->links[i].name;
    if (strcmp(names[i], name) == 0) rendering->render.follow = i;
  }
  const char* nearest = text_nearest(name, names, model->link_count);
  memory_free(names);
  if (rendering->render.follow >= 0) return EXIT_DONE;
  if (nearest) return usage_error(rendering->options, "no link '%s' (did you mean '%s'?)", name, nearest);
  return usage_error(rendering->options, "no link '%s' in the scene", name);
}

static Status draw(Rendering* rendering, int* count) {
  const char* target = rendering->target;
  *count = 1;
  if (rendering->kind == TARGET_FRAMES)
    return render_frames(target, &rendering->model, &rendering->run, &rendering->render, count,
                         &rendering->diagnostics);
  if (rendering->kind == TARGET_FILM)
    return render_film(target, &rendering->model, &rendering->run, &rendering->render, count, &rendering->diagnostics);
  return render_picture(target, &rendering->model, &rendering->run, &rendering->render, &rendering->diagnostics);
}

/* The folder that the picture goes to is made when it is not there. */
static Status make_target_folder(Rendering* rendering) {
  char* folder = memory_text(rendering->target);
  char* slash = strrchr(folder, '/');
  Status status = STATUS_OK;
  if (slash && slash > folder && rendering->kind != TARGET_FRAMES) {
    *slash = '\0';
    status = file_make_folder(folder);
    if (status != STATUS_OK)
      diagnostics_add(&rendering->diagnostics, SEVERITY_ERROR, (SourcePlace){folder, 0, 0},
                      "cannot make the folder: %s", strerror(errno));
  }
  memory_free(folder);
  return status;
}

static void print_result(const Rendering* rendering, int count, double seconds) {
  const Options* options = rendering->options;
  if (!options->json) {
    printf("%s\n", rendering->target);
    if (options->verbose) fprintf(stderr, "%d pictures in %.3g s\n", count, seconds);
    return;
  }
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_text(&json, "file", rendering->target);
  json_integer(&json, "pictures", count);
  json_number(&json, "seconds", seconds);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

/* Warnings about the scene were said when it was simulated; only those about the run itself are repeated. */
static void drop_scene_warnings(Rendering* rendering) {
  Diagnostics *diagnostics = &rendering->diagnostics, left = {0};
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    if (i >= rendering->own_messages && item->severity != SEVERITY_ERROR) continue;
    diagnostics_add(&left, item->severity, (SourcePlace){item->file, item->line, item->column}, "%s", item->text);
  }
  diagnostics_free(diagnostics);
  *diagnostics = left;
}

static ExitCode draw_loaded(Rendering* rendering) {
  const RunPoses* run = &rendering->run;
  double frames = (run->time[run->row_count - 1] - run->time[0]) * rendering->render.fps, start = timer_now();
  ExitCode code = find_followed(rendering);
  if (code != EXIT_DONE) return code;
  if (rendering->kind != TARGET_PICTURE && frames > FRAMES_MAX)
    return usage_error(rendering->options, "%.3g pictures at %g per second: choose a smaller --fps", frames,
                       rendering->render.fps);
  int count;
  Status status = make_target_folder(rendering);
  if (status == STATUS_OK) status = draw(rendering, &count);
  if (status == STATUS_OK) print_result(rendering, count, timer_now() - start);
  return status_exit_code(status);
}

static ExitCode render(const Options* options) {
  Rendering rendering = {.options = options};
  ExitCode code = read_options(&rendering);
  if (code == EXIT_DONE) {
    const char* operand = options->operands[0];
    Status status = load_operand(&rendering, operand);
    if (!options->verbose) drop_scene_warnings(&rendering);
    code = status == STATUS_OK ? draw_loaded(&rendering) : status_exit_code(status);
  }
  print_diagnostics(options, &rendering.diagnostics);
  rendering_free(&rendering);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"view", 0, OPTION_TEXT, "VIEW", "iso (default), front (x to the right), side (y to the right) or top"},
    {"time", 0, OPTION_NUMBER, "T", "the recorded moment nearest to T seconds (default: the last)"},
    {"strip", 0, OPTION_COUNT, "N", "N moments side by side, from the first to --time"},
    {"trail", 0, OPTION_COUNT, "N", "N earlier moments laid over the picture as ghosts"},
    {"look-at", 0, OPTION_TEXT, "X,Y,Z", "the point in the middle of the picture [m]"},
    {"follow", 0, OPTION_TEXT, "LINK", "the camera moves with this link"},
    {"zoom", 0, OPTION_NUMBER, "Z", "magnify (1 = all that is ever seen fits)"},
    {"size", 0, OPTION_TEXT, "WxH", "pixels of a picture (default 960x720) or panel (480x360)"},
    {"fps", 0, OPTION_NUMBER, "N", "frames and films: pictures per simulated second (default 30)"},
    {"no-labels", 0, OPTION_FLAG, NULL, "no title, time, names and ticks"},
};

const Verb VERB_RENDER = {
    .name = "render",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "draw a run (or a scene's initial state): picture, film strip, frames, film",
    .examples =
        "  sdrs render out/slide                               writes out/slide/picture.png, the last moment\n"
        "  sdrs render out/slide -o slide.png --strip 4        four moments side by side\n"
        "  sdrs render out/spider -o s.png --trail 6 --view side\n"
        "  sdrs render out/spider -o frames/ --follow body     frames/frame_00000.png, ...\n"
        "  sdrs render out/spider -o spider.mp4 --fps 60       needs the program ffmpeg\n"
        "  sdrs render scenes/stack.yaml -o stack.png          the initial state of a scene\n",
    .details =
        "Draws on the processor: no display and no graphics driver is needed. The scene that the run was made from is\n"
        "read again, with the overrides that the run's summary records. -o names a picture (.png), a film (.mp4) or a\n"
        "folder for frames (it ends in '/'). Without --look-at, --follow and --zoom the\n"
        "camera shows all bodies over the whole run. Lengths along the ground are metres. The file's name is printed\n"
        "on standard output.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 5 cannot read or write (also: ffmpeg is missing).\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = render,
};
