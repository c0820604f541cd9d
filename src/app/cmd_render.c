/* sdrs render RUN|SCENE: pictures of a run, drawn without GPU and display. */
#include <errno.h>
#include <string.h>
#include "app/command.h"

/* Sides of a picture [px], and the widest strip. */
enum { SIDE_MIN = 32, SIDE_MAX = 8192, STRIP_WIDTH_MAX = 32768, TRAIL_MAX = 1000 };
/* Size of a panel of a strip when none is asked for. */
enum { STRIP_PANEL_WIDTH = 480, STRIP_PANEL_HEIGHT = 360 };
/* Pictures of a film or a folder that are more likely a slip than a wish. */
#define FRAMES_MAX 100000.0

typedef enum { TARGET_PICTURE, TARGET_FRAMES, TARGET_FILM, TARGET_GLB, TARGET_PAGE } TargetKind;

/* From the run folder to the picture. Zeroed or half-built is fine for rendering_free. */
typedef struct {
  const Options* options;
  Recorded recorded;
  RenderOptions render;
  char* target;
  TargetKind kind;
  char* best_folder; /* a page of an optimization: the run of its best design; else NULL */
} Rendering;

static void rendering_free(Rendering* rendering) {
  recorded_free(&rendering->recorded);
  memory_free(rendering->target);
  memory_free(rendering->best_folder);
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
  if (path_is_folder(operand)) return path_join(operand, "picture.png");
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

/* Who opens a model or a page looks at it from anywhere. */
static ExitCode refuse_view_options(const Options* options, const char* what) {
  static const char* const names[] = {"view", "trail", "path", "look-at", "follow", "zoom", "size"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (option_given(options, names[i]))
      return usage_error(options, "--%s is for pictures: a %s file has all of the scene in it", names[i], what);
  return EXIT_DONE;
}

static ExitCode choose_target(Rendering* rendering) {
  const Options* options = rendering->options;
  rendering->target = options->folder ? memory_text(options->folder) : default_target(options->operands[0]);
  const char* target = rendering->target;
  if (ends_with(target, "/") || path_is_folder(target))
    rendering->kind = TARGET_FRAMES;
  else if (ends_with(target, ".mp4"))
    rendering->kind = TARGET_FILM;
  else if (ends_with(target, ".glb"))
    rendering->kind = TARGET_GLB;
  else if (ends_with(target, ".html"))
    rendering->kind = TARGET_PAGE;
  else if (!ends_with(target, ".png"))
    return usage_error(
        options,
        "-o names a picture (.png), a film (.mp4), a model (.glb), a page (.html) or a folder for frames "
        "(ends in '/'), got '%s'",
        target);
  if (rendering->kind == TARGET_PICTURE) return EXIT_DONE;
  if (rendering->render.strip > 0) return usage_error(options, "--strip makes one picture: -o needs a .png file");
  if (option_given(options, "time")) return usage_error(options, "--time makes one picture: -o needs a .png file");
  if (rendering->kind == TARGET_GLB) return refuse_view_options(options, ".glb");
  if (rendering->kind == TARGET_PAGE) return refuse_view_options(options, ".html");
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

/* ---------------------------------------------------------------- drawing */

static ExitCode find_link(const Rendering* rendering, const char* name, int* index) {
  const Model* model = &rendering->recorded.model;
  bool found = false;
  const char** names = MEMORY_NEW(const char*, model->link_count + 1);
  for (int i = 0; i < model->link_count; i++) {
    names[i] = model->links[i].name;
    if (strcmp(names[i], name) != 0) continue;
    *index = i;
    found = true;
  }
  const char* nearest = text_nearest(name, names, model->link_count);
  memory_free(names);
  if (found) return EXIT_DONE;
  if (nearest) return usage_error(rendering->options, "no link '%s' (did you mean '%s'?)", name, nearest);
  return usage_error(rendering->options, "no link '%s' in the scene", name);
}

static ExitCode find_links(Rendering* rendering) {
  const char *follow = option_text(rendering->options, "follow"), *path = option_text(rendering->options, "path");
  ExitCode code = follow ? find_link(rendering, follow, &rendering->render.follow) : EXIT_DONE;
  if (code != EXIT_DONE || !path) return code;
  rendering->render.path = RENDER_PATH_ALL;
  return strcmp(path, "all") == 0 ? EXIT_DONE : find_link(rendering, path, &rendering->render.path);
}

static Status write_target(Rendering* rendering, const Text* content) {
  Status status = file_write(rendering->target, content->data, content->length);
  if (status != STATUS_OK)
    diagnostics_add(&rendering->recorded.diagnostics, SEVERITY_ERROR, (SourcePlace){rendering->target, 0, 0},
                    "cannot write: %s", strerror(errno));
  return status;
}

static Status write_glb(Rendering* rendering, int* count) {
  Text glb = {0};
  export_glb(&glb, &rendering->recorded.model, &rendering->recorded.run, rendering->render.fps, count);
  Status status = write_target(rendering, &glb);
  text_free(&glb);
  return status;
}

static Status write_page(Rendering* rendering, int* count) {
  const Options* options = rendering->options;
  const char *operand = options->operands[0], *best = rendering->best_folder;
  PageSource source = {.model = &rendering->recorded.model, .run = &rendering->recorded.run};
  source.folder = best ? best : path_is_folder(operand) ? operand : NULL;
  source.design = best ? operand : NULL;
  source.fps = option_number(options, "fps", 0.0);
  Text page = {0};
  PageExtent extent;
  Status status = page_write(&page, &source, &extent, &rendering->recorded.diagnostics);
  if (status == STATUS_OK) status = write_target(rendering, &page);
  if (status == STATUS_OK && extent.moments < extent.recorded && !options->quiet)
    fprintf(stderr, "%s: shows %d of %d recorded moments\n", rendering->target, extent.moments, extent.recorded);
  *count = extent.moments;
  text_free(&page);
  return status;
}

static Status draw(Rendering* rendering, int* count) {
  const char* target = rendering->target;
  *count = 1;
  if (rendering->kind == TARGET_GLB) return write_glb(rendering, count);
  if (rendering->kind == TARGET_PAGE) return write_page(rendering, count);
  if (rendering->kind == TARGET_FRAMES)
    return render_frames(target, &rendering->recorded.model, &rendering->recorded.run, &rendering->render, count,
                         &rendering->recorded.diagnostics);
  if (rendering->kind == TARGET_FILM)
    return render_film(target, &rendering->recorded.model, &rendering->recorded.run, &rendering->render, count,
                       &rendering->recorded.diagnostics);
  return render_picture(target, &rendering->recorded.model, &rendering->recorded.run, &rendering->render,
                        &rendering->recorded.diagnostics);
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
      diagnostics_add(&rendering->recorded.diagnostics, SEVERITY_ERROR, (SourcePlace){folder, 0, 0},
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

static ExitCode draw_loaded(Rendering* rendering) {
  const RunPoses* run = &rendering->recorded.run;
  double frames = (run->time[run->row_count - 1] - run->time[0]) * rendering->render.fps, start = timer_now();
  ExitCode code = find_links(rendering);
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

/* A page plays the best design of an optimization: its run is made where it is not there. */
static ExitCode find_best_run(Rendering* rendering) {
  const char* operand = rendering->options->operands[0];
  if (rendering->kind != TARGET_PAGE || !path_is_folder(operand)) return EXIT_DONE;
  return best_run(rendering->options, operand, &rendering->best_folder);
}

static ExitCode render(const Options* options) {
  Rendering rendering = {.options = options, .recorded = {.options = options}};
  ExitCode code = read_options(&rendering);
  if (code == EXIT_DONE) code = find_best_run(&rendering);
  if (code == EXIT_DONE) {
    const char* operand = rendering.best_folder ? rendering.best_folder : options->operands[0];
    Status status = recorded_load(&rendering.recorded, operand);
    if (!options->verbose) recorded_drop_scene_warnings(&rendering.recorded);
    code = status == STATUS_OK ? draw_loaded(&rendering) : status_exit_code(status);
  }
  print_diagnostics(options, &rendering.recorded.diagnostics);
  rendering_free(&rendering);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"view", 0, OPTION_TEXT, "VIEW", "iso (default), front (x to the right), side (y to the right) or top"},
    {"time", 0, OPTION_NUMBER, "T", "the recorded moment nearest to T seconds (default: the last)"},
    {"strip", 0, OPTION_COUNT, "N", "N moments side by side, from the first to --time"},
    {"trail", 0, OPTION_COUNT, "N", "N earlier moments laid over the picture as ghosts"},
    {"path", 0, OPTION_TEXT, "LINK", "the way of the link's centre of mass so far; all: of all that can move"},
    {"look-at", 0, OPTION_TEXT, "X,Y,Z", "the point in the middle of the picture [m]"},
    {"follow", 0, OPTION_TEXT, "LINK", "the camera moves with this link"},
    {"zoom", 0, OPTION_NUMBER, "Z", "magnify (1 = all that is ever seen fits)"},
    {"size", 0, OPTION_TEXT, "WxH", "pixels of a picture (default 960x720) or panel (480x360)"},
    {"fps", 0, OPTION_NUMBER, "N", "frames, films, models: moments per simulated second (default 30; pages: all)"},
    {"no-labels", 0, OPTION_FLAG, NULL, "no title, time, names and ticks"},
};

const Verb VERB_RENDER = {
    .name = "render",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "draw a run (or a scene's initial state): picture, strip, frames, film, glTF, page",
    .examples =
        "  sdrs render out/slide                               writes out/slide/picture.png, the last moment\n"
        "  sdrs render out/slide -o slide.png --strip 4        four moments side by side\n"
        "  sdrs render out/spider -o s.png --trail 6 --view side\n"
        "  sdrs render out/chains -o way.png --path all        with the way of the centre of mass\n"
        "  sdrs render out/spider -o frames/ --follow body     frames/frame_00000.png, ...\n"
        "  sdrs render out/spider -o spider.mp4 --fps 60       needs the program ffmpeg\n"
        "  sdrs render out/spider -o spider.glb                animated glTF for Blender, three.js, viewers\n"
        "  sdrs render out/spider -o spider.html               a page to send: 3D, plots and summary in one file\n"
        "  sdrs render out/pinch -o pinch.html                 of sdrs optimize: the best design, and its way there\n"
        "  sdrs render scenes/stack.yaml -o stack.png          the initial state of a scene\n",
    .details =
        "Draws on the processor: no display and no graphics driver is needed. The scene that the run was made from is\n"
        "read again, with the overrides that the run's summary records. -o names a picture (.png), a film (.mp4), a\n"
        "model with its motion (.glb: glTF 2.0, metres, Y up), a page for a browser (.html: one file that needs no\n"
        "network) or a folder for frames (it ends in '/'). A page of an optimization plays RUN/best, the run of its "
        "best\n"
        "design, which is simulated where it is not there.\n"
        "Without --look-at, --follow and --zoom the camera shows all bodies over the whole run. Lengths along the\n"
        "ground are metres. The file's name is printed on standard output.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 5 cannot read or write (also: ffmpeg is missing).\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = render,
};
