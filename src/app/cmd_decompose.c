/* sdrs decompose MESH: covers a mesh with convex hulls, or approximates it by superquadrics. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "app/decompose_primitives.h"

/* ---------------------------------------------------------------- options */

static bool parse_symmetry(DecomposeOptions* settings, const char* text) {
  settings->symmetry_auto = !text || strcmp(text, "auto") == 0;
  if (settings->symmetry_auto || strcmp(text, "none") == 0) return true;
  for (const char* letter = text; *letter; letter++) {
    if (*letter < 'x' || *letter > 'z') return false;
    settings->symmetry[*letter - 'x'] = true;
  }
  return true;
}

static bool parse_grid(DecomposeOptions* settings, const char* text) {
  char rest;
  if (!text) return true;
  int* n = settings->grid;
  return sscanf(text, "%d,%d,%d%c", &n[0], &n[1], &n[2], &rest) == 3 && n[0] > 0 && n[1] > 0 && n[2] > 0 &&
         n[0] <= 1000 && n[1] <= 1000 && n[2] <= 1000;
}

/* Parses a length in the mesh's unit. If this unit is the metre, the text may have a suffix mm, cm or m. Returns false
 * if the text is invalid. */
static bool parse_tolerance(DecomposeOptions* settings, const char* text) {
  static const struct {
    const char* unit;
    double factor;
  } UNITS[] = {{"", 1}, {"mm", 1e-3}, {"cm", 1e-2}, {"m", 1}};
  if (!text) return true;
  char* end;
  double value = strtod(text, &end);
  if (end == text || !(value > 0) || !isfinite(value)) return false;
  for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; k++)
    if (strcmp(end, UNITS[k].unit) == 0) {
      settings->tolerance = value * UNITS[k].factor;
      return true;
    }
  return false;
}

bool is_up_option_valid(const Options* options) {
  const char* up = option_text(options, "up");
  return !up || (*up >= 'x' && *up <= 'z' && up[1] == '\0');
}

static ExitCode read_settings(DecomposeOptions* settings, const Options* options) {
  *settings = (DecomposeOptions){
      .max_hulls = option_count(options, "max-hulls", 0),
      .max_vertices = option_count(options, "max-vertices", 0),
      .error = option_number(options, "error", 0),
      .resolution = option_count(options, "resolution", 0),
      .inside = option_given(options, "inside"),
      .threads = options->threads,
  };
  const char* symmetry = option_text(options, "symmetry");
  if (!parse_symmetry(settings, symmetry))
    return usage_error(options, "--symmetry must be auto, none, or letters of xyz such as xy, got '%s'", symmetry);
  const char* grid = option_text(options, "grid");
  if (!parse_grid(settings, grid))
    return usage_error(options, "--grid needs three counts of 1 to 1000, got '%s'", grid);
  const char* tolerance = option_text(options, "tolerance");
  if (!parse_tolerance(settings, tolerance))
    return usage_error(options, "--tolerance must be a length above 0, such as 5mm or 0.005, got '%s'", tolerance);
  if (grid && tolerance)
    return usage_error(options, "--tolerance and --grid both determine the number of hulls: give one of them");
  if (grid && settings->inside)
    return usage_error(options, "--grid cannot be combined with --inside: remove one of the two options");
  if (!is_up_option_valid(options))
    return usage_error(options, "--up must be x, y or z, got '%s'", option_text(options, "up"));
  if (settings->max_vertices > 0 && settings->max_vertices < 8)
    return usage_error(options, "--max-vertices must be at least 8, got %d", settings->max_vertices);
  return EXIT_DONE;
}

/* ---------------------------------------------------------------- files */

static void add_coordinates(Text* out, Vec3 v) {
  text_add(out, "v ");
  text_add_double(out, v.x);
  text_add(out, " ");
  text_add_double(out, v.y);
  text_add(out, " ");
  text_add_double(out, v.z);
  text_add(out, "\n");
}

void decompose_hulls_text(Text* out, const char* name, const ConvexHull* hulls, int count) {
  assert(count >= 0);
  int first = 1;
  for (int h = 0; h < count; h++) {
    const ConvexHull* hull = &hulls[h];
    text_add(out, "o %s_%d\n", name, h);
    for (int i = 0; i < hull->vertex_count; i++) add_coordinates(out, hull->vertices[i]);
    for (int t = 0; t < hull->triangle_count; t++)
      text_add(out, "f %d %d %d\n", first + hull->triangles[t][0], first + hull->triangles[t][1],
               first + hull->triangles[t][2]);
    first += hull->vertex_count;
  }
}

static void add_condition(Json* json, const MeshCondition* c) {
  json_open(json, "condition", '{');
  json_integer(json, "unused_points", c->unused_points);
  json_integer(json, "joined_points", c->joined_points);
  json_number(json, "joining", c->joining);
  json_integer(json, "degenerate_triangles", c->degenerate_triangles);
  json_integer(json, "repeated_triangles", c->repeated_triangles);
  json_integer(json, "border_edges", c->border_edges);
  json_integer(json, "branching_edges", c->branching_edges);
  json_integer(json, "turned_triangles", c->turned_triangles);
  json_bool(json, "inside_out", c->inside_out);
  json_integer(json, "closed_borders", c->closed_borders);
  json_integer(json, "components", c->components);
  json_integer(json, "cavities", c->cavities);
  json_close(json, '}');
}

static void add_guarantees(Json* json, const Decomposition* d) {
  json_open(json, "guarantees", '{');
  json_bool(json, "convex", d->convex);
  json_bool(json, d->inside ? "lies_inside" : "covers", d->covers);
  json_bool(json, "connected", d->connected);
  json_bool(json, "symmetric", d->symmetric);
  json_bool(json, "within_budget", d->within_budget);
  json_bool(json, "within_tolerance", d->within_tolerance);
  json_close(json, '}');
}

static void add_depths(Json* json, const Decomposition* d) {
  json_number(json, "depth", d->depth);
  json_number(json, "depth_of_diagonal", d->depth / d->diagonal);
  json_number(json, "depth_at_most", d->depth_at_most);
  json_vector(json, "hull_depths", d->depths, d->hull_count);
}

static void add_holes(Json* json, const HoleCount* holes) {
  json_open(json, "holes", '{');
  json_integer(json, "mesh", holes->mesh);
  json_integer(json, "hulls", holes->hulls);
  json_number(json, "cube", holes->cube);
  json_close(json, '}');
}

static void add_components(Json* json, const Decomposition* d) {
  json_open(json, "components", '[');
  for (int k = 0; k < d->component_count; k++) {
    const MeshComponent* component = &d->components[k];
    json_open(json, NULL, '{');
    json_open(json, "hulls", '[');
    for (int h = 0; h < component->hull_count; h++) json_integer(json, NULL, component->hulls[h]);
    json_close(json, ']');
    json_integer(json, "pieces", component->pieces);
    json_number(json, "overlap", component->overlap);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void add_joints(Json* json, const Decomposition* d) {
  json_open(json, "joints", '[');
  for (int k = 0; k < d->joint_count; k++) {
    const HullJoint* joint = &d->joints[k];
    json_open(json, NULL, '{');
    json_vector(json, "hulls", (double[2]){joint->a, joint->b}, 2);
    json_vector(json, "point", (double[3]){joint->point.x, joint->point.y, joint->point.z}, 3);
    json_number(json, "depth", joint->depth);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* Appends the report as JSON. Equal input gives an identical report, because the report has neither times nor the
 * thread count. */
static void append_report(Text* out, const char* mesh, const Decomposition* d, const HoleCount* holes) {
  Json json = {.out = out};
  const char* const axes[3] = {"x", "y", "z"};
  int vertices = 0;
  for (int h = 0; h < d->hull_count; h++) vertices += d->hulls[h].vertex_count;
  json_open(&json, NULL, '{');
  json_text(&json, "mesh", mesh);
  json_number(&json, "diagonal", d->diagonal);
  json_number(&json, "mesh_volume", d->mesh_volume);
  json_integer(&json, "hulls", d->hull_count);
  json_integer(&json, "vertices", vertices);
  json_number(&json, "hull_volume", d->hull_volume);
  json_number(&json, d->inside ? "largest_reach" : "largest_miss", d->covered_miss);
  json_integer(&json, "samples", d->samples);
  add_depths(&json, d);
  add_holes(&json, holes);
  json_integer(&json, "pieces", d->pieces);
  json_open(&json, "mirror_planes", '[');
  for (int k = 0; k < 3; k++)
    if (d->mirror[k]) json_text(&json, NULL, axes[k]);
  json_close(&json, ']');
  json_number(&json, "mirror_error", d->mirror_error);
  add_guarantees(&json, d);
  add_condition(&json, &d->condition);
  add_components(&json, d);
  add_joints(&json, d);
  json_close(&json, '}');
}

Status decompose_write_text(const char* folder, const char* name, const Text* text, Diagnostics* diagnostics) {
  char* path = file_join(folder, name);
  Status status = file_write_reported(path, text, diagnostics);
  memory_free(path);
  return status;
}

Status decompose_picture(const Options* options, const Mesh* mesh, const ConvexHull* hulls, int count,
                         const char* hull_term, const char* path, Diagnostics* diagnostics) {
  assert(count >= 0);
  ConvexHull surface;
  if (option_given(options, "no-picture") || !mesh_surface(&surface, NULL, mesh)) return STATUS_OK;
  const char* up = option_text(options, "up");
  HullPicture picture = {&surface, hulls, count, up ? *up - 'x' : 2, hull_term};
  Status status = render_hulls(path, &picture, options->threads, diagnostics);
  hull_free(&surface);
  return status;
}

static Status write_files(const Options* options, const Mesh* mesh, const Decomposition* result, const char* folder,
                          const Text* report, Diagnostics* diagnostics) {
  Status status = file_make_folder_reported(folder, diagnostics);
  if (status != STATUS_OK) return status;
  Text hulls = {0};
  text_add(&hulls, "# convex hulls of %s\n", options->operands[0]);
  decompose_hulls_text(&hulls, "hull", result->hulls, result->hull_count);
  status = decompose_write_text(folder, "hulls.obj", &hulls, diagnostics);
  text_free(&hulls);
  if (status == STATUS_OK) status = decompose_write_text(folder, "report.json", report, diagnostics);
  if (status == STATUS_OK) {
    char* path = file_join(folder, "hulls.png");
    status = decompose_picture(options, mesh, result->hulls, result->hull_count, "convex hull", path, diagnostics);
    memory_free(path);
  }
  return status;
}

/* ---------------------------------------------------------------- output */

/* A mesh volume below this fraction of the hulls' volume is a rounding error of terms that cancel. */
#define VOLUME_FLOOR 1e-9

static void print_result(const Options* options, const Decomposition* d, const char* folder) {
  int vertices = 0;
  for (int h = 0; h < d->hull_count; h++) vertices += d->hulls[h].vertex_count;
  if (!options->quiet) {
    fprintf(stderr, "%d hulls, %d vertices, %d piece%s; ", d->hull_count, vertices, d->pieces,
            d->pieces == 1 ? "" : "s");
    if (d->mesh_volume > VOLUME_FLOOR * d->hull_volume)
      fprintf(stderr, "volume of the hulls %.4g times that of the mesh; ", d->hull_volume / d->mesh_volume);
    else
      fprintf(
          stderr,
          "the volume ratio is unknown, because the signed volume of the mesh is 0: make all faces point outward; ");
    fprintf(stderr,
            "the hulls extend beyond the mesh by at most %.3g mesh units, %.2g of its diagonal (for less, raise "
            "--max-hulls)\n",
            d->depth, d->depth / d->diagonal);
  }
  if (!options->json) printf("%s\n", folder);
}

static int largest_vertex_count(const Decomposition* d) {
  int most = 0;
  for (int h = 0; h < d->hull_count; h++)
    if (d->hulls[h].vertex_count > most) most = d->hulls[h].vertex_count;
  return most;
}

static bool guarantees_hold(const Options* options, const Decomposition* d) {
  if (!d->convex)
    command_error(options,
                  "a hull is not convex, or its volume is 0: this is a defect of sdrs; please report it with the mesh");
  if (!d->covers && d->inside)
    command_error(options,
                  "the hulls do not lie inside the mesh: hulls extend %g mesh diagonals beyond the surface, and the "
                  "surface lies up to %g diagonals inside a hull (0 and 0: no hull fits inside); raise --max-hulls",
                  d->depth / d->diagonal, d->covered_miss);
  if (!d->covers && !d->inside)
    command_error(options,
                  "the hulls do not cover the mesh: a point of its surface lies %g mesh diagonals outside all hulls; "
                  "raise --max-hulls or --max-vertices",
                  d->covered_miss);
  if (!d->connected)
    command_error(options,
                  "%d of the %d components of the mesh have hulls that do not touch each other: raise --max-hulls or "
                  "--max-vertices",
                  d->apart, d->component_count);
  if (!d->symmetric)
    command_error(options,
                  "the hulls are not mirror images of each other (difference %g mesh diagonals): use --symmetry none "
                  "for hulls without symmetry",
                  d->mirror_error);
  if (!d->within_budget)
    command_error(
        options,
        "there are %d hulls of up to %d vertices, more than --max-hulls or --max-vertices allow: raise these limits",
        d->hull_count, largest_vertex_count(d));
  if (!d->within_tolerance)
    command_error(options,
                  "the %d hulls extend up to %g mesh units beyond the mesh, more than --tolerance: raise --max-hulls "
                  "or --tolerance",
                  d->hull_count, d->depth_at_most);
  return d->convex && d->covers && d->connected && d->symmetric && d->within_budget && d->within_tolerance;
}

/* ---------------------------------------------------------------- defects of the mesh */

/* Merged vertices are reported if they were farther apart than this fraction of the mesh diagonal. */
#define MERGE_DISTANCE_REPORTED 2e-7

static void warn_merged_vertices(const Options* options, const Decomposition* d) {
  if (options->quiet || d->condition.joining <= MERGE_DISTANCE_REPORTED * d->diagonal) return;
  fprintf(stderr,
          "sdrs decompose: warning: the triangles of the mesh have gaps, so vertices up to %g mesh units apart were "
          "merged (number: %d): check the hulls, or close the gaps in the mesh\n",
          d->condition.joining, d->condition.joined_points);
}

static void warn_filled_holes(const Options* options, const HoleCount* holes) {
  if (options->quiet || holes->hulls >= holes->mesh) return;
  fprintf(stderr,
          "sdrs decompose: warning: the mesh has %d through hole%s, the hulls keep %d: increase --max-hulls or give a "
          "--tolerance to keep more\n",
          holes->mesh, holes->mesh == 1 ? "" : "s", holes->hulls);
}

static ExitCode finish(const Options* options, const Mesh* mesh, const Decomposition* result,
                       Diagnostics* diagnostics) {
  char* stem = file_stem(options->operands[0]);
  char* folder = run_folder_path(options, stem);
  Text report = {0};
  HoleCount holes;
  decomposition_count_holes(&holes, result, mesh);
  append_report(&report, options->operands[0], result, &holes);
  Status status = write_files(options, mesh, result, folder, &report, diagnostics);
  ExitCode code = status_exit_code(status);
  if (status == STATUS_OK) {
    if (options->json) fwrite(report.data, 1, report.length, stdout);
    print_result(options, result, folder);
    warn_merged_vertices(options, result);
    warn_filled_holes(options, &holes);
    code = guarantees_hold(options, result) ? EXIT_DONE : EXIT_CHECK_FAILED;
  }
  text_free(&report);
  memory_free(stem);
  memory_free(folder);
  return code;
}

static ExitCode decompose(const Options* options) {
  DecomposeOptions settings;
  if (option_given(options, "primitives")) return decompose_primitives(options);
  if (option_given(options, "max") || option_given(options, "cells") || option_given(options, "scale"))
    return usage_error(options,
                       "--max, --cells and --scale apply to --primitives superquadric only: add --primitives "
                       "superquadric, or remove these options");
  ExitCode code = read_settings(&settings, options);
  if (code != EXIT_DONE) return code;
  Diagnostics diagnostics = {0};
  Mesh mesh = {0};
  Decomposition result = {0};
  Status status = mesh_read(&mesh, options->operands[0], 1.0, &diagnostics);
  code = status_exit_code(status);
  if (status == STATUS_OK) {
    HullResult hulls = mesh_decompose(&result, &mesh, &settings);
    if (hulls == HULL_OK) {
      code = finish(options, &mesh, &result, &diagnostics);
    } else {
      diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){options->operands[0], mesh.face_line[0], 0},
                      "the mesh %s", hull_result_text(hulls));
      code = EXIT_BAD_INPUT;
    }
  }
  print_diagnostics(options, &diagnostics);
  decomposition_free(&result);
  mesh_free(&mesh);
  diagnostics_free(&diagnostics);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"max-hulls", 0, OPTION_COUNT, "N", "largest number of hulls (default: 16)"},
    {"max-vertices", 0, OPTION_COUNT, "N", "largest number of vertices per hull, >= 8 (default: 64)"},
    {"error", 0, OPTION_NUMBER, "E", "stop when the excess volume is below E times the mesh's volume (default: 1e-3)"},
    {"tolerance", 0, OPTION_TEXT, "LENGTH",
     "fewest hulls that extend at most LENGTH beyond the mesh, e.g. 5mm (max-hulls: 256)"},
    {"resolution", 0, OPTION_COUNT, "N",
     "triangles of the coarse copy for the search of cutting planes (default: 1200)"},
    {"grid", 0, OPTION_TEXT, "NX,NY,NZ", "cut the mesh's bounding box into equal blocks instead of a search"},
    {"inside", 0, OPTION_FLAG, NULL, "hulls that lie inside the mesh instead of covering it"},
    {"symmetry", 0, OPTION_TEXT, "AXES", "mirror planes to keep: auto, none or letters of xyz (default: auto)"},
    {"primitives", 0, OPTION_TEXT, "KIND", "superquadric: approximate the mesh by a union of superquadrics"},
    {"max", 0, OPTION_COUNT, "N", "largest number of superquadrics (default: 18)"},
    {"cells", 0, OPTION_COUNT, "N", "superquadrics: cells of the grid along the mesh, 8 to 200 (default: 40)"},
    {"scale", 0, OPTION_NUMBER, "M", "superquadrics: metres per unit of the mesh (default: 1)"},
    {"up", 0, OPTION_TEXT, "AXIS", "upward axis of the picture: x, y or z (default: z)"},
    {"no-picture", 0, OPTION_FLAG, NULL, "do not write a picture"},
};

const Verb VERB_DECOMPOSE = {
    .name = "decompose",
    .operands = "MESH.obj|MESH.stl",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a mesh as convex hulls that cover it, or as superquadrics",
    .examples =
        "  sdrs decompose mug.obj\n"
        "  sdrs decompose mug.obj --max-hulls 32 --max-vertices 32 -o out/mug\n"
        "  sdrs decompose bowl.obj --tolerance 2mm\n"
        "  sdrs decompose mug.obj --primitives superquadric --max 18\n",
    .details =
        "Writes hulls.obj (one `o` group per hull), report.json and hulls.png. The picture shows the mesh and\n"
        "its hulls, in place and moved apart.\n"
        "Every hull is convex. The hulls cover the surface, and the hulls of a connected mesh overlap. A\n"
        "symmetric mesh gives symmetric hulls. Lost properties are reported.\n"
        "With --primitives superquadric: writes superquadrics.yaml (a scene whose link is the smooth union),\n"
        "query.json (a query for `sdrs query` about this shape), superquadrics.obj, superquadrics.png and\n"
        "report.json. Of the options above, only --error (relative to the volume) applies.\n"
        "Exit codes: 0 done, 1 a guarantee is not met, 3 the mesh is invalid, 5 cannot read or write.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .writes_folder = true,
    .run = decompose,
};
