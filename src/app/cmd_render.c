/* sdrs render RUN|SCENE: draws pictures of a run, without GPU and display. */
#include <stdlib.h>
#include <string.h>
#include "app/render_load.h"

/* SIDE_MIN, SIDE_MAX: range of a picture's side [px]. STRIP_WIDTH_MAX: largest width of a strip [px]. TRAIL_MAX:
 * largest value of --trail. */
enum { SIDE_MIN = 32, SIDE_MAX = 8192, STRIP_WIDTH_MAX = 32768, TRAIL_MAX = 1000 };
/* Default size of a panel in a strip [px]. */
enum { STRIP_PANEL_WIDTH = 480, STRIP_PANEL_HEIGHT = 360 };
/* Default size of each of two panels side by side [px]. */
enum { PAIR_PANEL_WIDTH = 640, PAIR_PANEL_HEIGHT = 560 };
/* Words accepted by --show. */
#define MARK_NAMES "contacts, forces, planes, edges, path, displacement"
/* Largest number of pictures of a film or a folder. A larger number is rejected as a mistake. */
#define FRAMES_MAX 100000.0

typedef enum { TARGET_PICTURE, TARGET_FRAMES, TARGET_FILM, TARGET_GLB, TARGET_PAGE } PictureKind;

/* State of one rendering. rendering_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  RenderInputs inputs;
  Diagnostics diagnostics; /* errors of writing the target */
  RenderOptions render;
  bool pair; /* true if two runs or designs are drawn side by side */
  char* target;
  PictureKind kind;
} Rendering;

static void rendering_free(Rendering* rendering) {
  render_inputs_free(&rendering->inputs);
  diagnostics_free(&rendering->diagnostics);
  memory_free(rendering->target);
}

/* ---------------------------------------------------------------- options */

/* Parses a vector written as x,y,z. Returns false if the text is invalid. */
static bool parse_vector(const char* text, Vec3* v) {
  char tail;
  return sscanf(text, "%lf,%lf,%lf%c", &v->x, &v->y, &v->z, &tail) == 3 && isfinite(v->x) && isfinite(v->y) &&
         isfinite(v->z);
}

/* Parses a picture size written as WIDTHxHEIGHT. Returns false if the text is invalid or a side is out of range. */
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

/* Enables the marks whose name is the first `length` characters of `word`. Returns false if the name is unknown. */
static bool parse_mark(const char* word, size_t length, RenderOptions* render) {
  static const struct {
    const char* name;
    unsigned show;
  } MARKS[] = {{"contacts", RENDER_CONTACTS},
               {"forces", RENDER_FORCES},
               {"planes", RENDER_PLANES},
               {"edges", RENDER_EDGES},
               {"path", 0},
               {"displacement", RENDER_DISPLACEMENT}};
  for (size_t i = 0; i < sizeof MARKS / sizeof MARKS[0]; i++) {
    if (strlen(MARKS[i].name) != length || strncmp(MARKS[i].name, word, length) != 0) continue;
    render->show |= MARKS[i].show;
    if (MARKS[i].show == 0) render->path = RENDER_PATH_ALL;
    return true;
  }
  return false;
}

static ExitCode read_mark_options(Rendering* rendering) {
  const Options* options = rendering->options;
  const char* list = option_text(options, "show");
  for (const char* word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
    size_t length = strcspn(word, ",");
    if (!parse_mark(word, length, &rendering->render))
      return usage_error(options, "--show: unknown '%.*s'; there are " MARK_NAMES, (int)length, word);
  }
  rendering->render.newtons = option_number(options, "newtons", 0.0);
  if (option_given(options, "newtons") && !(rendering->render.newtons > 0.0 && isfinite(rendering->render.newtons)))
    return usage_error(options, "--newtons must be > 0");
  rendering->pair = options->operand_count > 1 || option_given(options, "compare");
  return EXIT_DONE;
}

/* Reads an angle with |angle| <= largest from the option `name`; it may be negative, unlike an OPTION_NUMBER. Sets
 * *given to true if the option is present. Returns false if its text is invalid. */
static bool read_angle(const Options* options, const char* name, double largest, bool* given, double* angle) {
  const char* text = option_text(options, name);
  char* end = NULL;
  *given = text != NULL;
  if (!text) return true;
  *angle = strtod(text, &end);
  return end != text && !*end && fabs(*angle) <= largest;
}

static ExitCode read_camera_options(Rendering* rendering) {
  const Options* options = rendering->options;
  RenderOptions* render = &rendering->render;
  const char *view = option_text(options, "view"), *size = option_text(options, "size");
  const char* look_at = option_text(options, "look-at");
  if (view && !parse_view(view, &render->view))
    return usage_error(options, "--view must be iso, front, side or top, got '%s'", view);
  if (size && !parse_size(size, &render->width, &render->height))
    return usage_error(options, "--size needs WIDTHxHEIGHT in pixels, %d to %d each, got '%s'", SIDE_MIN, SIDE_MAX,
                       size);
  if (!read_angle(options, "azimuth", 360, &render->has_azimuth, &render->azimuth))
    return usage_error(options, "--azimuth must be an angle in degrees, got '%s'", option_text(options, "azimuth"));
  if (!read_angle(options, "elevation", 90, &render->has_elevation, &render->elevation))
    return usage_error(options, "--elevation must be between -90 and 90 degrees, got '%s'",
                       option_text(options, "elevation"));
  render->has_look_at = look_at != NULL;
  if (look_at && !parse_vector(look_at, &render->look_at))
    return usage_error(options, "--look-at needs x,y,z in metres, got '%s'", look_at);
  if (look_at && option_given(options, "follow"))
    return usage_error(options, "--look-at and --follow exclude each other: remove one of the two");
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
  if (rendering->pair && render->strip > 0)
    return usage_error(options, "--strip shows a single run, got two: remove one run");
  if (rendering->pair && !option_given(options, "size")) {
    render->width = PAIR_PANEL_WIDTH;
    render->height = PAIR_PANEL_HEIGHT;
  }
  if (render->strip > 0 && !option_given(options, "size")) {
    render->width = STRIP_PANEL_WIDTH;
    render->height = STRIP_PANEL_HEIGHT;
  }
  if (render->strip > STRIP_WIDTH_MAX / render->width)
    return usage_error(options, "%d panels of %d pixels are wider than the limit of %d pixels: lower --strip or --size",
                       render->strip, render->width, STRIP_WIDTH_MAX);
  if (render->trail > TRAIL_MAX)
    return usage_error(options, "--trail must be at most %d, got %d", TRAIL_MAX, render->trail);
  if (!(render->fps > 0.0)) return usage_error(options, "--fps must be > 0");
  return EXIT_DONE;
}

/* Returns the default path of the picture: picture.png in a run folder, otherwise out/<name>.png. The caller frees the
 * text with memory_free. */
static char* default_target(const char* operand) {
  if (path_is_folder(operand)) return file_join(operand, "picture.png");
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

/* Reports a usage error for options that apply to pictures only. what: type of the file, for the message. Models and
 * pages contain the whole scene and can be viewed from any side. */
static ExitCode refuse_view_options(const Options* options, const char* what) {
  static const char* const names[] = {"view",    "azimuth", "elevation", "trail", "path",
                                      "look-at", "follow",  "zoom",      "size",  "show"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (option_given(options, names[i]))
      return usage_error(options,
                         "--%s applies to pictures only, and a %s file contains the whole scene: remove the option",
                         names[i], what);
  return EXIT_DONE;
}

static ExitCode choose_target(Rendering* rendering) {
  const Options* options = rendering->options;
  rendering->target = options->folder ? memory_copy_text(options->folder) : default_target(options->operands[0]);
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
    return usage_error(options,
                       "-o must name a picture (.png), a film (.mp4), a model (.glb), a page (.html) or a folder for "
                       "frames (ends in '/'), got '%s'",
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
  ExitCode code = read_mark_options(rendering);
  if (code == EXIT_DONE) code = read_camera_options(rendering);
  if (code == EXIT_DONE) code = read_time_options(rendering);
  if (code == EXIT_DONE) code = choose_target(rendering);
  return code;
}

/* ---------------------------------------------------------------- drawing */

/* Sets *index to the link `name`. Reports a usage error if there is no such link, or if the link has another index in
 * another drawn run. */
static ExitCode find_link(const Rendering* rendering, const char* name, int* index) {
  const RenderInputs* inputs = &rendering->inputs;
  const Model* model = inputs->subjects[0].model;
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
  for (int i = 1; i < inputs->subject_count && found; i++) {
    const Model* other = inputs->subjects[i].model;
    if (*index >= other->link_count || strcmp(other->links[*index].name, name) != 0)
      return usage_error(rendering->options,
                         "link '%s' has a different number in the second scene: choose another link, or list the links "
                         "of both scenes in the same order",
                         name);
  }
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

static Status write_glb(Rendering* rendering, int* count) {
  const RenderInputs* inputs = &rendering->inputs;
  GlbPart parts[RENDER_SUBJECTS_MAX];
  for (int i = 0; i < inputs->subject_count; i++)
    parts[i] = (GlbPart){inputs->names[i], inputs->subjects[i].model, inputs->subjects[i].run};
  Text glb = {0};
  export_glb_parts(&glb, parts, inputs->subject_count, rendering->render.fps, count);
  Status status = file_write_reported(rendering->target, &glb, &rendering->diagnostics);
  text_free(&glb);
  return status;
}

static Status draw(Rendering* rendering, int* count) {
  const char* target = rendering->target;
  const RenderOptions* options = &rendering->render;
  RenderSubjects subjects = {rendering->inputs.subjects, rendering->inputs.subject_count};
  *count = 1;
  if (rendering->kind == TARGET_GLB) return write_glb(rendering, count);
  if (rendering->kind == TARGET_FRAMES) return render_frames(target, subjects, options, count, &rendering->diagnostics);
  if (rendering->kind == TARGET_FILM) return render_film(target, subjects, options, count, &rendering->diagnostics);
  return render_picture(target, subjects, options, &rendering->diagnostics);
}

static Status make_target_folder(Rendering* rendering) {
  if (rendering->kind == TARGET_FRAMES) return STATUS_OK;
  return file_make_folder_of(rendering->target, &rendering->diagnostics);
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

/* Returns the number of pictures in a film of the longest run. */
static double film_picture_count(const Rendering* rendering) {
  double longest = 0.0;
  for (int i = 0; i < rendering->inputs.subject_count; i++) {
    const RunPoses* run = rendering->inputs.subjects[i].run;
    longest = fmax(longest, run->time[run->row_count - 1] - run->time[0]);
  }
  return longest * rendering->render.fps;
}

/* Warns if --time is after the end of the run. */
static void warn_beyond_end(Rendering* rendering) {
  double time = rendering->render.time, end = 0;
  for (int i = 0; i < rendering->inputs.subject_count; i++) {
    const RunPoses* run = rendering->inputs.subjects[i].run;
    end = fmax(end, run->time[run->row_count - 1]);
  }
  if (time > end * (1 + 1e-9) && !rendering->options->quiet)
    fprintf(stderr, "sdrs render: warning: --time %g s is after the end of the run, %g s: the last state is shown\n",
            time, end);
}

static ExitCode draw_loaded(Rendering* rendering) {
  warn_beyond_end(rendering);
  double frames = film_picture_count(rendering), start = timer_now();
  ExitCode code = find_links(rendering);
  if (code != EXIT_DONE) return code;
  if (rendering->kind != TARGET_PICTURE && frames > FRAMES_MAX)
    return usage_error(rendering->options, "the film would have %.3g frames at --fps %g, more than %.0f: lower --fps",
                       frames, rendering->render.fps, FRAMES_MAX);
  int count;
  Status status = make_target_folder(rendering);
  if (status == STATUS_OK) status = draw(rendering, &count);
  if (status == STATUS_OK) print_result(rendering, count, timer_now() - start);
  return status_exit_code(status);
}

/* Writes an HTML page. render_page loads its data; for an optimization these are the runs of its designs. */
static ExitCode draw_page(Rendering* rendering) {
  const Options* options = rendering->options;
  if (rendering->pair)
    return usage_error(
        options,
        "a page shows a single run, or both designs of an optimization folder: leave out --compare or the second run");
  double start = timer_now();
  int moments;
  ExitCode code = status_exit_code(make_target_folder(rendering));
  if (code == EXIT_DONE) code = render_page(options, rendering->target, &moments);
  if (code == EXIT_DONE) print_result(rendering, moments, timer_now() - start);
  return code;
}

static ExitCode render(const Options* options) {
  Rendering rendering = {.options = options};
  ExitCode code = read_options(&rendering);
  if (code == EXIT_DONE && rendering.kind == TARGET_PAGE) {
    code = draw_page(&rendering);
  } else if (code == EXIT_DONE) {
    code = render_inputs_load(&rendering.inputs, options, rendering.render.show, option_given(options, "compare"),
                              rendering.kind == TARGET_GLB);
    if (code == EXIT_DONE) code = draw_loaded(&rendering);
  }
  for (int i = 0; i < rendering.inputs.count; i++)
    print_diagnostics(options, &rendering.inputs.recorded[i].diagnostics);
  print_diagnostics(options, &rendering.diagnostics);
  rendering_free(&rendering);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"view", 0, OPTION_TEXT, "VIEW", "iso (default), front (x to the right), side (y to the right) or top"},
    {"azimuth", 0, OPTION_TEXT, "DEG", "the eye's direction from the x axis about up, instead of the view's"},
    {"elevation", 0, OPTION_TEXT, "DEG", "the eye's height above the ground as an angle, instead of the view's"},
    {"time", 0, OPTION_NUMBER, "T", "the recorded moment nearest to T seconds (default: the last)"},
    {"strip", 0, OPTION_COUNT, "N", "N moments side by side, from the first to --time"},
    {"trail", 0, OPTION_COUNT, "N", "N earlier moments laid over the picture as ghosts"},
    {"path", 0, OPTION_TEXT, "LINK", "the path of the link's centre of mass so far; all: of all that can move"},
    {"show", 0, OPTION_TEXT, "LIST", "of " MARK_NAMES " (comma-separated)"},
    {"newtons", 0, OPTION_NUMBER, "F", "force of the arrow in the key [N] (default: one that suits the run)"},
    {"compare", 0, OPTION_FLAG, NULL, "of an optimization: the initial design beside the best one"},
    {"look-at", 0, OPTION_TEXT, "X,Y,Z", "the point in the middle of the picture [m]"},
    {"follow", 0, OPTION_TEXT, "LINK", "the camera moves with this link"},
    {"zoom", 0, OPTION_NUMBER, "Z", "magnify (1 = all that is ever seen fits)"},
    {"size", 0, OPTION_TEXT, "WxH", "pixels of a picture (960x720) or panel (of a strip 480x360, of two 640x560)"},
    {"fps", 0, OPTION_NUMBER, "N", "frames, films, models: moments per simulated second (default 30; pages: all)"},
    {"no-labels", 0, OPTION_FLAG, NULL, "no title, time, names and ticks"},
};

const Verb VERB_RENDER = {
    .name = "render",
    .operands = "RUN [RUN]",
    .operand_min = 1,
    .operand_max = 2,
    .summary = "draw runs, scenes and designs: picture, strip, frames, film, glTF, page",
    .examples =
        "  sdrs render out/slide                               writes out/slide/picture.png, the last moment\n"
        "  sdrs render out/slide -o slide.png --strip 4        four moments side by side\n"
        "  sdrs render out/spider -o s.png --trail 6 --view side\n"
        "  sdrs render out/spider -o s.png --azimuth 30 --elevation 45\n"
        "  sdrs render out/chains -o path.png --path all       with the path of the centre of mass\n"
        "  sdrs render out/stack -o forces.png --show contacts,forces\n"
        "  sdrs render out/pinch -o design.png --compare --show displacement   of sdrs optimize: before and after\n"
        "  sdrs render out/a out/b -o both.mp4                 two runs side by side\n"
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
        "ground are metres. Of a folder of `sdrs optimize` the best design is drawn; a model has the initial one too.\n"
        "--show lays over the picture: contacts, dots at contact points; forces, arrows to the scale\n"
        "in the key; planes, squares of the planes that part hulls near each other; edges, all of every hull; path,\n"
        "the path of the centre of mass; displacement, colours by how far the vertices have moved from the initial\n"
        "design (of two runs: from the first). The file's name is printed on standard output.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 5 cannot read or write (also: ffmpeg is missing).\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = render,
};
