/* sdrs decompose MESH --primitives superquadric: approximates a mesh by a union of superquadrics. Writes the union as a
 * scene and as an example query. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "app/decompose_primitives.h"

/* Smoothing length of the union, which rounds its seams, as a fraction of the mesh's diagonal. */
#define SMOOTHING 1e-3
/* Radius of the ball in the example query.json, as a fraction of the mesh's diagonal. */
#define BALL 0.1
#define DENSITY 1000 /* density of the link in the written scene [kg/m^3] */
/* Resolution of the union's surface for contact, the scene's key `resolution`: about a hundred contact points. */
#define RESOLUTION 2

static ExitCode read_settings(SuperquadricOptions* settings, double* scale, const Options* options) {
  static const char* const OTHERS[] = {"max-hulls", "max-vertices", "tolerance", "resolution",
                                       "grid",      "inside",       "symmetry"};
  const char* kind = option_text(options, "primitives");
  *settings = (SuperquadricOptions){option_count(options, "max", 0), option_count(options, "cells", 0),
                                    option_number(options, "error", 0), options->threads};
  *scale = option_number(options, "scale", 1);
  if (strcmp(kind, "superquadric") != 0)
    return usage_error(options, "--primitives must be superquadric, got '%s'", kind);
  for (size_t k = 0; k < sizeof OTHERS / sizeof *OTHERS; k++)
    if (option_given(options, OTHERS[k]))
      return usage_error(options, "--%s applies to convex hulls and cannot be combined with --primitives: remove --%s",
                         OTHERS[k], OTHERS[k]);
  if (settings->max > 1000) return usage_error(options, "--max must be at most 1000, got %d", settings->max);
  if (settings->cells != 0 && (settings->cells < 8 || settings->cells > 200))
    return usage_error(options, "--cells must be 8 to 200, got %d", settings->cells);
  if (!(*scale > 0 && *scale <= 1e6))
    return usage_error(options, "--scale must be above 0 and at most 1e6, got %g", *scale);
  if (!is_up_option_valid(options))
    return usage_error(options, "--up must be x, y or z, got '%s'", option_text(options, "up"));
  return EXIT_DONE;
}

static void add_numbers(Text* out, const char* key, const double* values, int count) {
  text_add(out, "%s", key);
  for (int k = 0; k < count; k++) {
    text_add(out, k == 0 ? ": [" : ", ");
    text_add_double(out, values[k]);
  }
  text_add(out, "]");
}

/* Returns a superquadric in metres. scale: metres per unit of the mesh. */
static Superquadric scale_superquadric(const Superquadric* superquadric, double scale) {
  Superquadric out = *superquadric;
  for (int k = 0; k < 3; k++) out.size[k] *= scale;
  out.position = vec3_scale(superquadric->position, scale);
  return out;
}

static void append_pose(Text* out, const Superquadric* superquadric, const char* position, const char* rotation) {
  double at[3], turn[4];
  vec3_store(superquadric->position, at);
  quat_store(superquadric->rotation, turn);
  text_add(out, ", ");
  add_numbers(out, position, at, 3);
  text_add(out, ", ");
  add_numbers(out, rotation, turn, 4);
  text_add(out, "}");
}

/* Returns a link name made from a file name: letters, digits, - and _, with a letter first. The caller frees the text
 * with memory_free. */
static char* link_name(const char* path) {
  char* stem = file_stem(path);
  Text name = {0};
  if (!isalpha((unsigned char)*stem)) text_add(&name, "mesh_");
  for (const char* c = stem; *c; c++) text_add(&name, "%c", isalnum((unsigned char)*c) || *c == '-' ? *c : '_');
  memory_free(stem);
  return name.data;
}

static void append_scene(Text* out, const Options* options, const SuperquadricUnion* d, double scale) {
  char* name = link_name(options->operands[0]);
  text_add(out, "# %d superquadrics for %s\n", d->count, options->operands[0]);
  text_add(out, "name: %s\ncontact: {model: manifold}\nshapes:\n", name);
  for (int k = 0; k < d->count; k++) {
    Superquadric superquadric = scale_superquadric(&d->list[k], scale);
    text_add(out, "  %s_%d: {type: superquadric, ", name, k);
    add_numbers(out, "size", superquadric.size, 3);
    text_add(out, ", ");
    add_numbers(out, "exponents", superquadric.exponents, 2);
    text_add(out, "}\n");
  }
  text_add(out, "  %s:\n    type: union\n    smoothing: ", name);
  text_add_double(out, SMOOTHING * d->diagonal * scale);
  text_add(out, "\n    resolution: %d\n    of:\n", RESOLUTION);
  for (int k = 0; k < d->count; k++) {
    Superquadric superquadric = scale_superquadric(&d->list[k], scale);
    text_add(out, "      - {shape: %s_%d", name, k);
    append_pose(out, &superquadric, "position", "rotation");
    text_add(out, "\n");
  }
  text_add(out, "links:\n  - {name: %s, density: %d, shape: %s}\n", name, DENSITY, name);
  memory_free(name);
}

/* Appends an example query for contacts of the union with a ball. The ball is half a mesh diagonal above the first
 * superquadric. */
static void append_query(Text* out, const SuperquadricUnion* d, double scale) {
  text_add(out, "{\"method\": \"manifold\",\n \"a\": {\"type\": \"union\", \"smoothing\": ");
  text_add_double(out, SMOOTHING * d->diagonal * scale);
  text_add(out, ", \"of\": [");
  for (int k = 0; k < d->count; k++) {
    Superquadric superquadric = scale_superquadric(&d->list[k], scale);
    text_add(out, "%s\n  {\"type\": \"superquadric\", ", k == 0 ? "" : ",");
    add_numbers(out, "\"size\"", superquadric.size, 3);
    text_add(out, ", ");
    add_numbers(out, "\"exponents\"", superquadric.exponents, 2);
    append_pose(out, &superquadric, "\"position\"", "\"quaternion\"");
  }
  double radius = BALL * d->diagonal * scale, at[3];
  vec3_store(vec3_add(scale_superquadric(&d->list[0], scale).position, vec3(0, 0, 0.5 * d->diagonal * scale)), at);
  text_add(out, "]},\n \"b\": {\"type\": \"superellipsoid\", \"exponent\": 1, ");
  add_numbers(out, "\"size\"", (double[3]){radius, radius, radius}, 3);
  text_add(out, ", ");
  add_numbers(out, "\"position\"", at, 3);
  text_add(out, "}}\n");
}

static void add_gap(Json* json, const char* key, const SurfaceGap* gap, double diagonal) {
  json_open(json, key, '{');
  json_number(json, "mean", gap->mean);
  json_number(json, "root_mean_square", gap->root_mean_square);
  json_number(json, "largest", gap->largest);
  json_number(json, "mean_of_diagonal", gap->mean / diagonal);
  json_number(json, "largest_of_diagonal", gap->largest / diagonal);
  json_close(json, '}');
}

static void add_superquadric(Json* json, const Superquadric* superquadric) {
  double at[3], turn[4];
  vec3_store(superquadric->position, at);
  quat_store(superquadric->rotation, turn);
  json_open(json, NULL, '{');
  json_vector(json, "size", superquadric->size, 3);
  json_vector(json, "exponents", superquadric->exponents, 2);
  json_vector(json, "position", at, 3);
  json_vector(json, "quaternion", turn, 4);
  json_close(json, '}');
}

/* Appends the report as JSON. Lengths are in the mesh's unit. */
static void append_report(Text* out, const char* mesh, const SuperquadricUnion* d) {
  Json json = {.out = out};
  json_open(&json, NULL, '{');
  json_text(&json, "mesh", mesh);
  json_number(&json, "diagonal", d->diagonal);
  json_integer(&json, "superquadrics", d->count);
  json_number(&json, "mesh_volume", d->mesh_volume);
  json_number(&json, "union_volume", d->union_volume);
  json_number(&json, "intersection_over_union", d->intersection_over_union);
  json_number(&json, "wrong_volume", d->wrong_volume);
  json_integer(&json, "volume_samples", d->volume_samples);
  add_gap(&json, "mesh_to_union", &d->mesh_to_union, d->diagonal);
  json_integer(&json, "mesh_samples", d->mesh_samples);
  add_gap(&json, "union_to_mesh", &d->union_to_mesh, d->diagonal);
  json_integer(&json, "union_samples", d->union_samples);
  json_open(&json, "list", '[');
  for (int k = 0; k < d->count; k++) add_superquadric(&json, &d->list[k]);
  json_close(&json, ']');
  json_close(&json, '}');
}

enum { PICTURE_LEVEL = 3 };

static Status write_surfaces(const Options* options, const Mesh* mesh, const SuperquadricUnion* d, const char* folder,
                             Diagnostics* diagnostics) {
  ConvexHull* hulls = MEMORY_NEW(ConvexHull, d->count);
  int made = 0;
  for (int k = 0; k < d->count; k++) made += superquadric_hull(&d->list[k], PICTURE_LEVEL, &hulls[made]) == HULL_OK;
  Text text = {0};
  text_add(&text, "# superquadrics for %s\n", options->operands[0]);
  decompose_hulls_text(&text, "superquadric", hulls, made);
  Status status = decompose_write_text(folder, "superquadrics.obj", &text, diagnostics);
  char* path = file_join(folder, "superquadrics.png");
  if (status == STATUS_OK) status = decompose_picture(options, mesh, hulls, made, "superquadric", path, diagnostics);
  memory_free(path);
  text_free(&text);
  for (int k = 0; k < made; k++) hull_free(&hulls[k]);
  memory_free(hulls);
  return status;
}

static Status write_all(const Options* options, const Mesh* mesh, const SuperquadricUnion* d, double scale,
                        const char* folder, Diagnostics* diagnostics) {
  Status status = file_make_folder_reported(folder, diagnostics);
  if (status != STATUS_OK) return status;
  Text scene = {0}, query = {0}, report = {0};
  append_scene(&scene, options, d, scale);
  append_query(&query, d, scale);
  append_report(&report, options->operands[0], d);
  status = decompose_write_text(folder, "superquadrics.yaml", &scene, diagnostics);
  if (status == STATUS_OK) status = decompose_write_text(folder, "query.json", &query, diagnostics);
  if (status == STATUS_OK) status = decompose_write_text(folder, "report.json", &report, diagnostics);
  if (status == STATUS_OK) status = write_surfaces(options, mesh, d, folder, diagnostics);
  if (status == STATUS_OK && options->json) fwrite(report.data, 1, report.length, stdout);
  text_free(&scene);
  text_free(&query);
  text_free(&report);
  return status;
}

static void print_result(const Options* options, const SuperquadricUnion* d, const char* folder) {
  if (!options->quiet)
    fprintf(stderr,
            "%d superquadrics; intersection over union %.3f; mesh to union %.2g on the mean, %.2g at most, union to "
            "mesh %.2g, %.2g (of the diagonal)\n",
            d->count, d->intersection_over_union, d->mesh_to_union.mean / d->diagonal,
            d->mesh_to_union.largest / d->diagonal, d->union_to_mesh.mean / d->diagonal,
            d->union_to_mesh.largest / d->diagonal);
  if (!options->json) printf("%s\n", folder);
}

static ExitCode finish(const Options* options, const Mesh* mesh, const SuperquadricUnion* d, double scale,
                       Diagnostics* diagnostics) {
  char* stem = file_stem(options->operands[0]);
  char* folder = run_folder_path(options, stem);
  Status status = write_all(options, mesh, d, scale, folder, diagnostics);
  if (status == STATUS_OK) print_result(options, d, folder);
  memory_free(stem);
  memory_free(folder);
  return status_exit_code(status);
}

ExitCode decompose_primitives(const Options* options) {
  SuperquadricOptions settings;
  double scale;
  ExitCode code = read_settings(&settings, &scale, options);
  if (code != EXIT_DONE) return code;
  Diagnostics diagnostics = {0};
  Mesh mesh = {0};
  SuperquadricUnion result = {0};
  code = status_exit_code(mesh_read(&mesh, options->operands[0], 1.0, &diagnostics));
  if (code == EXIT_DONE) {
    HullResult found = mesh_superquadrics(&result, &mesh, &settings);
    if (found == HULL_OK) {
      code = finish(options, &mesh, &result, scale, &diagnostics);
    } else {
      diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){options->operands[0], mesh.face_line[0], 0},
                      "the mesh %s", hull_result_text(found));
      code = EXIT_BAD_INPUT;
    }
  }
  print_diagnostics(options, &diagnostics);
  superquadrics_free(&result);
  mesh_free(&mesh);
  diagnostics_free(&diagnostics);
  return code;
}
