/* sdrs export SCENE|RUN|HULLS.obj: exports the model for other programs, links for 3D printing, and control
 * policies. */
#include <string.h>
#include "app/command.h"
#include "model/drawn.h"

typedef enum {
  EXPORT_MJCF,
  EXPORT_URDF,
  EXPORT_OBJ,
  EXPORT_STL,
  EXPORT_3MF,
  EXPORT_JSON,
  EXPORT_C,
  EXPORT_UNKNOWN
} ExportFormat;

static const struct {
  const char *name, *ending;
} FORMATS[] = {[EXPORT_MJCF] = {"mjcf", ".xml"}, [EXPORT_URDF] = {"urdf", ".urdf"}, [EXPORT_OBJ] = {"obj", ".obj"},
               [EXPORT_STL] = {"stl", ".stl"},   [EXPORT_3MF] = {"3mf", ".3mf"},    [EXPORT_JSON] = {"json", ".json"},
               [EXPORT_C] = {"c", ".h"}};

/* State of one export. exporting_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  Recorded recorded;
  ModelDrawn drawn;   /* recorded model with finer polyhedra of round solids; zeroed if not needed */
  const Model* model; /* exported model: that of `drawn` or of `recorded` */
  ExportFormat format;
  char* target;
  bool folder;      /* true if the target is a folder with one file per link */
  int link;         /* index of the exported link; -1 for all links */
  bool* is_omitted; /* true for links that the URDF file omits (links); NULL if none is omitted */
  Text json;        /* output of --json, with one object per file */
  Json objects;
} Exporting;

static void exporting_free(Exporting* exporting) {
  model_drawn_free(&exporting->drawn);
  recorded_free(&exporting->recorded);
  memory_free(exporting->target);
  memory_free(exporting->is_omitted);
  text_free(&exporting->json);
}

/* ---------------------------------------------------------------- options */

static bool ends_with(const char* text, const char* end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static ExportFormat find_format(const char* name, const char* target) {
  for (int f = 0; f < EXPORT_UNKNOWN; f++)
    if (name ? strcmp(FORMATS[f].name, name) == 0 : ends_with(target, FORMATS[f].ending)) return (ExportFormat)f;
  return EXPORT_UNKNOWN;
}

/* Returns true for the formats that contain the whole model, MJCF and URDF. */
static bool is_model(ExportFormat format) { return format == EXPORT_MJCF || format == EXPORT_URDF; }

static bool is_policy(ExportFormat format) { return format == EXPORT_JSON || format == EXPORT_C; }

static ExitCode check_policy_options(const Exporting* exporting) {
  static const char* const SURFACES[] = {"time", "pieces", "min-wall", "grow", "fabrication", "tolerance"};
  const Options* options = exporting->options;
  if (exporting->folder)
    return usage_error(options, "a policy is written to a single file: give a file name with -o, such as policy.json");
  for (size_t k = 0; k < sizeof SURFACES / sizeof *SURFACES; k++)
    if (option_given(options, SURFACES[k]))
      return usage_error(options, "--%s applies to surfaces (OBJ, STL, 3MF) only, not to policies: remove --%s",
                         SURFACES[k], SURFACES[k]);
  return EXIT_DONE;
}

/* Reports a usage error if --without is given. In formats other than URDF, other elements refer to the links. */
static ExitCode check_without(const Options* options) {
  if (!option_given(options, "without")) return EXIT_DONE;
  return usage_error(options,
                     "--without applies to URDF: for other formats export a scene of your own that includes this one "
                     "without the links, include: [{file: ..., without: [...]}]");
}

static ExitCode check_model_options(const Exporting* exporting) {
  const Options* options = exporting->options;
  const char* name = exporting->format == EXPORT_MJCF ? "MJCF" : "URDF";
  if (exporting->folder)
    return usage_error(options, "%s is written as one file, but -o names a folder: remove the '/' at its end", name);
  if (option_given(options, "link"))
    return usage_error(
        options, "--link applies to surfaces (OBJ, STL, 3MF) only, and %s contains all links: remove --link", name);
  if (option_given(options, "time"))
    return usage_error(options,
                       "--time applies to surfaces (OBJ, STL, 3MF) only, and %s contains the %s: remove --time", name,
                       exporting->format == EXPORT_MJCF ? "initial state" : "links at zero");
  if (option_given(options, "pieces"))
    return usage_error(
        options, "--pieces applies to surfaces (OBJ, STL, 3MF) only, and %s contains hulls: remove --pieces", name);
  if (option_given(options, "min-wall"))
    return usage_error(options, "--min-wall applies to surfaces (OBJ, STL, 3MF) only, not to %s: remove --min-wall",
                       name);
  if (option_given(options, "grow"))
    return usage_error(options, "--grow applies to surfaces (OBJ, STL, 3MF) only, and %s contains hulls: remove --grow",
                       name);
  if (option_given(options, "fabrication"))
    return usage_error(options,
                       "--fabrication applies to surfaces (OBJ, STL, 3MF) only, not to %s: remove --fabrication", name);
  return EXIT_DONE;
}

static ExitCode read_options(Exporting* exporting) {
  const Options* options = exporting->options;
  const char *target = options->folder, *format = option_text(options, "format");
  if (!target)
    return usage_error(options,
                       "-o is missing: a file (.xml, .urdf, .obj, .stl, .3mf, .json, .h) or a folder (ends in '/')");
  exporting->target = memory_copy_text(target);
  exporting->folder = ends_with(target, "/") || path_is_folder(target);
  if (exporting->folder && !format) return usage_error(options, "-o names a folder: give --format obj, stl or 3mf");
  exporting->format = find_format(format, target);
  if (exporting->format == EXPORT_UNKNOWN && format)
    return usage_error(options, "--format must be mjcf, urdf, obj, stl, 3mf, json or c, got '%s'", format);
  if (exporting->format == EXPORT_UNKNOWN)
    return usage_error(options,
                       "-o names a model (.xml, .urdf), surfaces (.obj, .stl, .3mf) or a policy (.json, .h); for "
                       "others give --format, "
                       "got '%s'",
                       target);
  if (exporting->format != EXPORT_URDF && option_given(options, "package"))
    return usage_error(options, "--package applies to URDF files only: remove --package");
  if (exporting->format != EXPORT_URDF && check_without(options) != EXIT_DONE) return EXIT_USAGE;
  if (option_given(options, "tolerance") && !(option_number(options, "tolerance", 0) > 0))
    return usage_error(options, "--tolerance must be a length > 0 [mm], got '%s'", option_text(options, "tolerance"));
  if (is_model(exporting->format)) return check_model_options(exporting);
  if (is_policy(exporting->format)) return check_policy_options(exporting);
  if (option_given(options, "min-wall") && !(option_number(options, "min-wall", 0) > 0))
    return usage_error(options, "--min-wall must be a thickness > 0 [mm], got '%s'", option_text(options, "min-wall"));
  if (option_given(options, "grow") && !(option_number(options, "grow", 0) > 0))
    return usage_error(options, "--grow must be a length > 0 [mm], got '%s'", option_text(options, "grow"));
  if (option_given(options, "grow") && option_given(options, "pieces"))
    return usage_error(options,
                       "--grow and --pieces exclude each other: remove one of the two (--grow unites pieces, --pieces "
                       "keeps pieces separate)");
  if (read_build_axis(options) < 0)
    return usage_error(options, "--build must be x, y, z, -x, -y or -z, got '%s'", option_text(options, "build"));
  return EXIT_DONE;
}

/* Returns the index of the link `name`. Returns -1, after reporting a usage error, if there is none. option: prefix of
 * the message, such as "--link: ", or "". */
static int find_link_by_name(const Exporting* exporting, const char* option, const char* name) {
  const Model* model = &exporting->recorded.model;
  const char** names = MEMORY_NEW(const char*, model->link_count + 1);
  int link = -1;
  for (int i = 0; i < model->link_count; i++) {
    names[i] = model->links[i].name;
    if (strcmp(names[i], name) == 0) link = i;
  }
  const char* nearest = text_nearest(name, names, model->link_count);
  memory_free(names);
  if (link < 0 && nearest)
    usage_error(exporting->options, "%sno link '%s' (did you mean '%s'?)", option, name, nearest);
  else if (link < 0)
    usage_error(exporting->options, "%sno link '%s' in the scene", option, name);
  return link;
}

static ExitCode find_link(Exporting* exporting) {
  const char* name = option_text(exporting->options, "link");
  exporting->link = name ? find_link_by_name(exporting, "", name) : -1;
  return name && exporting->link < 0 ? EXIT_USAGE : EXIT_DONE;
}

/* Marks a link and all its descendants as omitted. */
static ExitCode mark_omitted(Exporting* exporting, const char* name) {
  const Model* model = &exporting->recorded.model;
  int link = find_link_by_name(exporting, "--without: ", name);
  if (link < 0) return EXIT_USAGE;
  exporting->is_omitted[link] = true;
  for (int i = link + 1; i < model->link_count; i++)
    if (model->links[i].parent >= 0 && exporting->is_omitted[model->links[i].parent]) exporting->is_omitted[i] = true;
  return EXIT_DONE;
}

/* Reads the link names of --without, separated by commas, into exporting->is_omitted. */
static ExitCode read_omitted_links(Exporting* exporting) {
  const char* names = option_text(exporting->options, "without");
  ExitCode code = EXIT_DONE;
  if (!names) return code;
  exporting->is_omitted = MEMORY_NEW(bool, exporting->recorded.model.link_count + 1);
  char *copy = memory_copy_text(names), *rest = copy;
  for (char* name; code == EXIT_DONE && (name = strsep(&rest, ",")) != NULL;) code = mark_omitted(exporting, name);
  memory_free(copy);
  return code;
}

/* ---------------------------------------------------------------- files */

static Status write_file(Exporting* exporting, const char* path, const Text* text) {
  Status status = file_make_folder_of(path, &exporting->recorded.diagnostics);
  return status == STATUS_OK ? file_write_reported(path, text, &exporting->recorded.diagnostics) : status;
}

static void report_file(Exporting* exporting, const char* path) {
  if (!exporting->options->json) {
    printf("%s\n", path);
    return;
  }
  json_open(&exporting->objects, NULL, '{');
  json_text(&exporting->objects, "file", path);
  json_close(&exporting->objects, '}');
}

/* Writes a table beside the exported file: robot.WHAT.csv beside robot.xml, where WHAT is `what`. Does nothing if the
 * table is empty. */
static Status write_table_beside(Exporting* exporting, const char* what, const Text* table) {
  const char* target = exporting->target;
  int stem = (int)(strlen(target) - (ends_with(target, ".xml") ? 4 : 0));
  Text path = {0};
  if (table->length == 0) return STATUS_OK;
  text_add(&path, "%.*s.%s.csv", stem, target, what);
  Status status = write_file(exporting, path.data, table);
  if (status == STATUS_OK) report_file(exporting, path.data);
  text_free(&path);
  return status;
}

static Status write_mjcf(Exporting* exporting) {
  Text mjcf = {0}, controls = {0}, feedback = {0};
  const char* target = exporting->target;
  export_mjcf(exporting->model, target, &mjcf, &controls, &feedback, &exporting->recorded.diagnostics);
  Status status = write_file(exporting, target, &mjcf);
  if (status == STATUS_OK) report_file(exporting, target);
  if (status == STATUS_OK) status = write_table_beside(exporting, "controls", &controls);
  if (status == STATUS_OK) status = write_table_beside(exporting, "feedback", &feedback);
  text_free(&mjcf);
  text_free(&controls);
  text_free(&feedback);
  return status;
}

/* ---------------------------------------------------------------- policies */

/* Returns the index of the only controller with feedback that drives the requested link, or any link without --link.
 * Returns -1 if there is none and -2 if there are several. */
static int find_policy(const Exporting* exporting) {
  const Model* model = &exporting->recorded.model;
  int found = -1;
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* one = &model->controllers[c];
    if (one->source->measure_count == 0 || (exporting->link >= 0 && one->link != exporting->link)) continue;
    found = found == -1 ? c : -2;
  }
  return found;
}

static ExitCode write_policy(Exporting* exporting) {
  const Options* options = exporting->options;
  int controller = find_policy(exporting);
  if (controller == -1)
    return usage_error(options,
                       "no policy to export, because no controller%s has 'feedback': add 'feedback' to a controller",
                       exporting->link < 0 ? " of the scene" : " of the link");
  bool json = exporting->format == EXPORT_JSON;
  if (json && controller < 0)
    return usage_error(
        options, "several controllers have feedback, but a JSON file contains only one: %s",
        exporting->link < 0 ? "choose the controller's link with --link" : "write all of them with -o policy.h");
  if (!json && controller < 0 && exporting->link >= 0)
    return usage_error(options,
                       "several controllers of the link have feedback: remove --link to export all controllers");
  Text text = {0};
  if (json)
    export_policy_json(&exporting->recorded.model, controller, &text);
  else
    export_policy_c(&exporting->recorded.model, exporting->link < 0 ? -1 : controller, &text);
  Status status = write_file(exporting, exporting->target, &text);
  if (status == STATUS_OK) report_file(exporting, exporting->target);
  text_free(&text);
  return status_exit_code(status);
}

/* ---------------------------------------------------------------- URDF and its meshes */

/* Appends the folder of meshes, such as robot_meshes/ for robot.urdf. */
static void mesh_folder(const Exporting* exporting, Text* folder) {
  const char* target = exporting->target;
  int stem = (int)(strlen(target) - (ends_with(target, ".urdf") ? 5 : 0));
  text_add(folder, "%.*s_meshes/", stem, target);
}

/* Appends the prefix of mesh paths in the URDF file. The paths are relative to the file, or to the package of
 * --package. */
static ExitCode mesh_prefix(const Exporting* exporting, const char* folder, Text* prefix) {
  const char *package = option_text(exporting->options, "package"), *equals = package ? strchr(package, '=') : NULL;
  const char* slash = strrchr(exporting->target, '/');
  if (!package) {
    text_add(prefix, "%s", slash ? folder + (slash + 1 - exporting->target) : folder);
    return EXIT_DONE;
  }
  if (!equals || equals == package || !equals[1])
    return usage_error(exporting->options, "--package needs NAME=DIR, got '%s'", package);
  char* inside = file_relative_if_inside(equals + 1, folder);
  if (!inside)
    return usage_error(exporting->options,
                       "the meshes are written to %s, which is outside of the --package folder %s: give a folder that "
                       "contains the meshes",
                       folder, equals + 1);
  text_add(prefix, "package://%.*s/%s/", (int)(equals - package), package, inside);
  memory_free(inside);
  return EXIT_DONE;
}

static Status write_meshes(Exporting* exporting, const char* folder) {
  const Model* model = exporting->model;
  Text name = {0}, path = {0}, mesh = {0};
  Status status = STATUS_OK;
  for (int h = 0; h < model->hull_count && status == STATUS_OK; h++) {
    if (exporting->is_omitted && exporting->is_omitted[model->hulls[h].link]) continue;
    if (!export_urdf_mesh(model, h, &name)) continue;
    path.length = mesh.length = 0;
    text_add(&path, "%s%s", folder, name.data);
    run_hull_obj(&mesh, model, h);
    status = write_file(exporting, path.data, &mesh);
    if (status == STATUS_OK) report_file(exporting, path.data);
  }
  text_free(&name);
  text_free(&path);
  text_free(&mesh);
  return status;
}

static ExitCode write_urdf(Exporting* exporting) {
  Text urdf = {0}, folder = {0}, prefix = {0};
  mesh_folder(exporting, &folder);
  ExitCode code = mesh_prefix(exporting, folder.data, &prefix);
  if (code == EXIT_DONE) code = read_omitted_links(exporting);
  if (code == EXIT_DONE) {
    Status status = export_urdf(exporting->model, exporting->is_omitted, exporting->target, prefix.data, &urdf,
                                &exporting->recorded.diagnostics);
    if (status == STATUS_OK) status = write_meshes(exporting, folder.data);
    if (status == STATUS_OK) status = write_file(exporting, exporting->target, &urdf);
    if (status == STATUS_OK) report_file(exporting, exporting->target);
    code = status_exit_code(status);
  }
  text_free(&urdf);
  text_free(&folder);
  text_free(&prefix);
  return code;
}

/* ---------------------------------------------------------------- surfaces */

/* Relative difference of the masses of a part and of its link in the scene that is printed. */
#define MASS_DIFFERENCE 1e-3

static void print_report(const char* path, const SurfaceReport* report, bool of_water) {
  Vec3 size = vec3_scale(vec3_sub(report->high, report->low), 1e3);
  printf("%s: %d %s, %d triangles, %s, %s, %s, %d component%s", path, report->pieces,
         report->pieces == 1 ? "solid" : "solids", report->triangles, report->closed ? "closed" : "OPEN",
         report->manifold ? "manifold" : "NOT MANIFOLD", report->oriented ? "oriented" : "NOT ORIENTED",
         report->components, report->components == 1 ? "" : "s");
  if (report->pinches > 0) printf(", touches itself in %d point%s", report->pinches, report->pinches == 1 ? "" : "s");
  if (report->cavities > 0) printf(", %d cavit%s", report->cavities, report->cavities == 1 ? "y" : "ies");
  printf("; %.6g x %.6g x %.6g mm, %.6g cm^3, %.6g kg%s", size.x, size.y, size.z, 1e6 * report->volume,
         report->part_mass, of_water ? " if it is of water" : "");
  if (fabs(report->part_mass - report->mass) > MASS_DIFFERENCE * report->mass)
    printf(" (%.6g kg in the scene, where overlaps of shapes count twice)", report->mass);
  if (report->deviation > 0) printf(", round to %.2g mm", 1e3 * report->deviation);
  if (!report->united)
    printf(", thinnest solid %.4g mm", 1e3 * report->thickness);
  else if (isfinite(report->thickness))
    printf(", walls from %.4g mm (sampled every %.2g mm)", 1e3 * report->thickness, 1e3 * report->thickness_spacing);
  if (!report->united && report->overlaps > 0)
    printf("; %d pair%s of solids overlap and count twice there", report->overlaps, report->overlaps == 1 ? "" : "s");
  printf("\n");
}

static void report_json(Json* json, const char* path, const SurfaceReport* report) {
  Vec3 size = vec3_sub(report->high, report->low);
  const double extent[3] = {size.x, size.y, size.z};
  json_open(json, NULL, '{');
  json_text(json, "file", path);
  json_bool(json, "united", report->united);
  json_text(json, "reason", report->reason);
  json_integer(json, "solids", report->pieces);
  json_integer(json, "triangles", report->triangles);
  json_bool(json, "closed", report->closed);
  json_bool(json, "manifold", report->manifold);
  json_bool(json, "oriented", report->oriented);
  json_integer(json, "pinches", report->pinches);
  json_integer(json, "components", report->components);
  json_integer(json, "cavities", report->cavities);
  json_integer(json, "overlapping_pairs", report->overlaps);
  json_vector(json, "size", extent, 3);
  json_number(json, "volume", report->volume);
  json_number(json, "mass", report->part_mass);
  json_number(json, "deviation", report->deviation);
  json_number(json, "thickness", report->thickness);
  json_number(json, "thickness_spacing", report->thickness_spacing);
  json_number(json, "snap", report->snap);
  json_close(json, '}');
}

/* Default distance of a part's faces from its round solids [m], about the precision of printers. */
#define ROUND_TOLERANCE 0.05e-3

/* Line width of a common printer nozzle [m]. A printer omits thinner walls or prints them thicker. */
#define NOZZLE 0.4e-3

/* Returns the largest allowed distance of exported faces from round solids [m], or 0 for the faces of the pictures. */
static double round_tolerance(const Exporting* exporting) {
  return 1e-3 * option_number(exporting->options, "tolerance", is_model(exporting->format) ? 0 : 1e3 * ROUND_TOLERANCE);
}

/* Sets exporting->model to the recorded model, or to a copy with finer polyhedra of round solids. */
static void refine_round_solids(Exporting* exporting) {
  double tolerance = is_policy(exporting->format) ? 0 : round_tolerance(exporting);
  exporting->model = &exporting->recorded.model;
  if (!(tolerance > 0)) return;
  model_drawn_create(&exporting->drawn, &exporting->recorded.model, tolerance);
  exporting->model = &exporting->drawn.model;
}

/* Returns a text that describes why a surface is not closed, not manifold or not consistently oriented. */
static const char* describe_defect(const SurfaceReport* report) {
  if (!report->closed) return "open (an edge has a triangle on one side only)";
  return report->manifold ? "not oriented consistently" : "not manifold (more than two triangles meet at an edge)";
}

/* Returns true if the written surface meets all requirements. Otherwise adds errors. Less serious defects give
 * warnings. */
static bool check_report(Exporting* exporting, const char* path, const SurfaceReport* report) {
  const Model* model = &exporting->recorded.model;
  Diagnostics* diagnostics = &exporting->recorded.diagnostics;
  SourcePosition place = {path, 0, 0};
  double wall = 1e-3 * option_number(exporting->options, "min-wall", 0.0);
  if (report->reason)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "link '%s': %s; the pieces of the link remain separate solids in the file%s",
                    model->links[report->reason_link].name, report->reason,
                    option_given(exporting->options, "grow") ? "" : " (--grow 0.05 makes the pieces overlap)");
  if (!report->closed || !report->manifold || !report->oriented)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "the surface must be closed, manifold and oriented, but it is %s: repair the mesh of the link "
                    "(`sdrs decompose` makes closed hulls from a mesh)",
                    describe_defect(report));
  if (report->united && report->pieces == 1 && report->components > 1)
    diagnostics_add(diagnostics, SEVERITY_WARNING, place,
                    "the surface has %d components that do not touch each other: let the shapes of the link overlap to "
                    "get one piece",
                    report->components);
  if (report->deviation > round_tolerance(exporting))
    diagnostics_add(diagnostics, SEVERITY_WARNING, place,
                    "the faces deviate by up to %.3g mm from the round solids, more than --tolerance %.3g mm, because "
                    "a finer mesh would have more than 20000 vertices: raise --tolerance",
                    1e3 * report->deviation, 1e3 * round_tolerance(exporting));
  if (report->thickness < wall)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "the thinnest wall is %.4g mm thick, below --min-wall %g mm: thicken the wall, or lower --min-wall",
                    1e3 * report->thickness, 1e3 * wall);
  else if (wall == 0 && report->united && report->thickness < NOZZLE && exporting->format == EXPORT_3MF)
    diagnostics_add(diagnostics, SEVERITY_WARNING, place,
                    "the thinnest wall or edge is %.4g mm thick, less than a usual printer nozzle of 0.4 mm: check it "
                    "in the slicer; --min-wall 0.4 turns this warning into an error",
                    1e3 * report->thickness);
  return !report->reason && report->closed && report->manifold && report->oriented && !(report->thickness < wall);
}

static ExitCode write_surface(Exporting* exporting, const char* path, int link, const Pose* poses) {
  static const SurfaceFormat SURFACES[] = {
      [EXPORT_OBJ] = SURFACE_OBJ, [EXPORT_STL] = SURFACE_STL, [EXPORT_3MF] = SURFACE_3MF};
  const Options* options = exporting->options;
  Text text = {0};
  SurfaceOptions surface_options = {SURFACES[exporting->format], option_given(options, "pieces"), options->threads,
                                    1e-3 * option_number(options, "grow", 0)};
  SurfaceReport report = export_surface(&text, exporting->model, link, poses, &surface_options);
  Status status = STATUS_OK;
  if (report.pieces == 0) {
    diagnostics_add(&exporting->recorded.diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                    "no surface to write, because the selected links have no shapes except half spaces and height "
                    "fields: select other links");
    status = STATUS_BAD_INPUT;
  } else {
    status = write_file(exporting, path, &text);
  }
  text_free(&text);
  if (status != STATUS_OK) return status_exit_code(status);
  if (options->json)
    report_json(&exporting->objects, path, &report);
  else
    print_report(path, &report, exporting->recorded.from_mesh);
  return check_report(exporting, path, &report) ? EXIT_DONE : EXIT_CHECK_FAILED;
}

/* Writes one file per link, in the frame of the link. A write error ends the export; a surface with defects does not.
 * Returns the worst exit code. */
static ExitCode write_folder(Exporting* exporting, const Pose* identity_poses) {
  const Model* model = &exporting->recorded.model;
  ExitCode worst = EXIT_DONE;
  for (int link = 0; link < model->link_count && worst <= EXIT_CHECK_FAILED; link++) {
    if (!link_has_solid(model, link) || (exporting->link >= 0 && exporting->link != link)) continue;
    Text name = {0};
    text_add(&name, "%s%s", model->links[link].name, FORMATS[exporting->format].ending);
    char* path = file_join(exporting->target, name.data);
    ExitCode code = write_surface(exporting, path, link, identity_poses);
    if (code > worst) worst = code;
    memory_free(path);
    text_free(&name);
  }
  return worst;
}

static int row_at(const RunPoses* run, double time) {
  int best = 0;
  for (int row = 1; row < run->row_count; row++)
    if (fabs(run->time[row] - time) < fabs(run->time[best] - time)) best = row;
  return best;
}

/* Writes the surfaces of the links. A single link is written in its own frame; all links together are
 * written at their poses at --time (default: the start). */
static ExitCode write_surfaces(Exporting* exporting) {
  const Model* model = &exporting->recorded.model;
  const RunPoses* run = &exporting->recorded.run;
  Pose* identity_poses = MEMORY_NEW(Pose, model->link_count + 1);
  for (int i = 0; i < model->link_count; i++) identity_poses[i] = pose_identity();
  const Pose* poses =
      run->pose + (size_t)row_at(run, option_number(exporting->options, "time", 0.0)) * (size_t)run->link_count;
  ExitCode code = exporting->folder ? write_folder(exporting, identity_poses)
                                    : write_surface(exporting, exporting->target, exporting->link,
                                                    exporting->link < 0 ? poses : identity_poses);
  if (code <= EXIT_CHECK_FAILED && option_given(exporting->options, "fabrication"))
    fabrication_report(exporting->options, model, poses, exporting->link, &exporting->objects);
  memory_free(identity_poses);
  return code;
}

static ExitCode write_all(Exporting* exporting) {
  ExitCode code = find_link(exporting);
  if (code != EXIT_DONE) return code;
  refine_round_solids(exporting);
  exporting->objects = (Json){.out = &exporting->json};
  json_open(&exporting->objects, NULL, '[');
  code = exporting->format == EXPORT_MJCF   ? status_exit_code(write_mjcf(exporting))
         : exporting->format == EXPORT_URDF ? write_urdf(exporting)
         : is_policy(exporting->format)     ? write_policy(exporting)
                                            : write_surfaces(exporting);
  json_close(&exporting->objects, ']');
  if (exporting->options->json) fputs(exporting->json.data, stdout);
  return code;
}

/* Returns true if the format can express the joint of a link. MJCF expresses a screw joint by two coupled joints. */
static bool is_joint_supported(const Exporting* exporting, const ModelLink* link) {
  return joint_is_elementary(&link->joint) ||
         (exporting->format == EXPORT_MJCF && link->joint.kind == &JOINT_KIND_SCREW);
}

/* Adds an error for each joint that the format cannot express. Surface formats ignore joints. */
static Status check_joints(Exporting* exporting) {
  const Model* model = &exporting->recorded.model;
  Status status = STATUS_OK;
  for (int i = 0; is_model(exporting->format) && i < model->link_count; i++) {
    if (is_joint_supported(exporting, &model->links[i])) continue;
    diagnostics_add(
        &exporting->recorded.diagnostics, SEVERITY_ERROR, model->scene->links[i].joint.place,
        "link '%s': %s has no joint of type %s: use another joint, or export surfaces (--format obj, stl or 3mf)",
        model->links[i].name, FORMATS[exporting->format].name, JOINT_TABLE[model->scene->links[i].joint.type].word);
    status = STATUS_BAD_INPUT;
  }
  return status;
}

static ExitCode export_model(const Options* options) {
  Exporting exporting = {.options = options, .recorded = {.options = options}};
  ExitCode code = read_options(&exporting);
  if (code == EXIT_DONE) {
    Status status = recorded_load(&exporting.recorded, options->operands[0]);
    if (!options->verbose) recorded_remove_scene_warnings(&exporting.recorded);
    if (status == STATUS_OK) status = check_joints(&exporting);
    code = status == STATUS_OK ? write_all(&exporting) : status_exit_code(status);
  }
  print_diagnostics(options, &exporting.recorded.diagnostics);
  exporting_free(&exporting);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"format", 0, OPTION_TEXT, "NAME", "mjcf, urdf, obj, stl, 3mf, json or c (default: by the ending of -o)"},
    {"link", 0, OPTION_TEXT, "LINK", "surfaces: only this link, in its own frame; policies: its drive"},
    {"without", 0, OPTION_TEXT, "LINKS", "URDF: leave out these links, as a,b, and the links that they carry"},
    {"package", 0, OPTION_TEXT, "NAME=DIR", "URDF: meshes go by package://NAME/..., which is DIR"},
    {"time", 0, OPTION_NUMBER, "T", "surfaces of a run: where the links stand at T seconds (default 0)"},
    {"pieces", 0, OPTION_FLAG, NULL, "surfaces: each convex piece as a solid of its own, not their union"},
    {"grow", 0, OPTION_NUMBER, "MM", "surfaces: make every piece larger by MM millimetres before they are united"},
    {"tolerance", 0, OPTION_NUMBER, "MM",
     "largest distance of faces from round solids (default 0.05; models: 24 sides)"},
    {"min-wall", 0, OPTION_NUMBER, "MM", "surfaces: exit 1 when a wall is thinner than MM millimetres"},
    {"fabrication", 0, OPTION_FLAG, NULL, "surfaces: what can be made of each link, how its joint clears, its way out"},
    {"build", 0, OPTION_TEXT, "AXIS", "with --fabrication: way that parts grow, x, y, z, -x, -y or -z (default z)"},
};

const Verb VERB_EXPORT = {
    .name = "export",
    .operands = "SCENE|RUN|HULLS.obj",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "the model as MJCF or URDF, parts as OBJ, STL or 3MF, policies as JSON or C",
    .examples =
        "  sdrs export scenes/spider.yaml -o spider.xml          MJCF; controls over time in spider.controls.csv\n"
        "  sdrs export scenes/spider.yaml -o spider.urdf         URDF; meshes in spider_meshes/\n"
        "  sdrs export scenes/spider.yaml -o upper.stl --link upper0\n"
        "  sdrs export out/throw/best.scene.yaml -o parts/ --format stl    one file per link\n"
        "  sdrs export out/mug/hulls.obj -o mug.stl              what decompose found, as one part\n"
        "  sdrs export out/pinch -o pinch.3mf --min-wall 2       all parts of a design, walls of 2 mm and more\n"
        "  sdrs export out/pinch -o parts/ --format 3mf --fabrication       walls, necks, clearances, ways out\n"
        "  sdrs export out/wall -o wall.obj --time 4             all links where they stand at 4 s\n"
        "  sdrs export out/policy/best.scene.yaml -o policy.h    what feedback was found, as a table for C\n",
    .details =
        "MJCF holds meshes, masses, joints, limits, actuators, contacts, pairs that do not touch and the initial "
        "state\n"
        "(keyframe 0); what MuJoCo has no exact counterpart for is noted. URDF holds links, inertias, meshes, joints,\n"
        "limits and damping; the rest is noted, and a comment in the file: docs/urdf.md. OBJ is in metres, STL and "
        "3MF\n"
        "in millimetres. A policy is the feedback of a drive: as JSON for `feedback: {file: ...}` of a scene, or as "
        "C99 "
        "with\n"
        "a function that evaluates it.\n"
        "The convex pieces of a link are united to one watertight surface; where they touch along an edge or in a "
        "point\n"
        "only there is none, and each is a solid of its own; --grow 0.05 makes them overlap. What was written is "
        "checked\n"
        "and measured: walls by rays\n"
        "from the surface inwards, mass by the model (a mesh alone: of water).\n"
        "Exit codes: 0 done, 1 a surface is not closed, manifold and oriented, a link could not be united or a wall "
        "is\n"
        "thinner than --min-wall, 2 wrong usage, 3 bad input, 5 cannot read or write.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .writes_folder = true,
    .run = export_model,
};
