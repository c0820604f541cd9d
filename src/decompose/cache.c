/* Cache of decompositions in files. The name of a file is the hash of all that its content depends on: mesh, options
 * and program. Damaged files and files of other programs are ignored. */
#include <assert.h>
#include <errno.h>
#include <glpk.h>
#include <inttypes.h>
#include <libqhull_r/libqhull_r.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decompose/blocks.h"
#include "method.h"

#define HULLS_KIND "hulls"
enum { KEY_DIGITS = 64, COUNTS = 13, MEASURES = 7 };

char* decompose_cache_folder(void) {
  const char *chosen = getenv("SDRS_CACHE"), *shared = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  Text path = {0};
  if (chosen) {
    if (*chosen && strcmp(chosen, "off") != 0) text_add(&path, "%s", chosen);
  } else if (shared && *shared == '/') { /* the XDG specification requires that a relative path is ignored */
    text_add(&path, "%s/sdrs", shared);
  } else if (home && *home) {
    text_add(&path, "%s/.cache/sdrs", home);
  }
  return path.data;
}

_Static_assert(sizeof(DecomposeOptions) == 56, "an option that is new belongs into the key, and then here");

static void add_options(Text* out, const DecomposeOptions* o) {
  uint64_t error, tolerance;
  memcpy(&error, &o->error, sizeof error);
  memcpy(&tolerance, &o->tolerance, sizeof tolerance);
  text_add(out,
           "hulls %d vertices %d error %016" PRIx64
           " resolution %d grid %d %d %d symmetry %d %d %d %d inside %d\n"
           "tolerance %016" PRIx64 "\n",
           o->max_hulls, o->max_vertices, error, o->resolution, o->grid[0], o->grid[1], o->grid[2], o->symmetry[0],
           o->symmetry[1], o->symmetry[2], o->symmetry_auto, o->inside, tolerance);
}

/* Computes the key of the cache, the hash of all that the hulls depend on. METHOD_DIGEST is the hash of the sources of
 * this folder (Makefile). */
static void find_key(const Mesh* mesh, const DecomposeOptions* options, char key[KEY_DIGITS + 1]) {
  assert(mesh && options);
  Text text = {0};
  text_add(&text, "method %s qhull %s glpk %s\n", METHOD_DIGEST, qh_version, glp_version());
  add_options(&text, options);
  text_add(&text, "%d points %d corners %d faces\n", mesh->position_count, mesh->corner_count, mesh->face_count);
  text_add_bytes(&text, (const char*)mesh->positions, sizeof(Vec3) * (size_t)mesh->position_count);
  text_add_bytes(&text, (const char*)mesh->corners, sizeof(int) * (size_t)mesh->corner_count);
  text_add_bytes(&text, (const char*)mesh->face_first, sizeof(int) * (size_t)(mesh->face_count + 1));
  hash_sha256(text.data, text.length, key);
  text_free(&text);
}

static void add_measures(NumberFile* file, const Decomposition* d) {
  const int64_t counts[COUNTS] = {d->samples,       d->pieces, d->mesh_pieces,     d->mirror[0], d->mirror[1],
                                  d->mirror[2],     d->convex, d->covers,          d->connected, d->symmetric,
                                  d->within_budget, d->apart,  d->within_tolerance};
  const double measures[MEASURES] = {d->diagonal,     d->mesh_volume, d->hull_volume,  d->covered_miss,
                                     d->mirror_error, d->depth,       d->depth_at_most};
  number_file_add_integers(file, "counts", counts, COUNTS);
  number_file_add_doubles(file, "measures", measures, MEASURES);
}

static void add_hulls(NumberFile* file, const Decomposition* d) {
  int64_t* sizes = MEMORY_NEW(int64_t, 2 * d->hull_count);
  int vertices = 0, triangles = 0;
  for (int h = 0; h < d->hull_count; h++) {
    vertices += d->hulls[h].vertex_count;
    triangles += d->hulls[h].triangle_count;
  }
  double* points = MEMORY_NEW(double, 3 * vertices);
  int64_t* corners = MEMORY_NEW(int64_t, 3 * triangles);
  double* point = points;
  int64_t* corner = corners;
  for (int h = 0; h < d->hull_count; h++) {
    const ConvexHull* hull = &d->hulls[h];
    sizes[2 * h] = hull->vertex_count;
    sizes[2 * h + 1] = hull->triangle_count;
    for (int i = 0; i < hull->vertex_count; i++) {
      *point++ = hull->vertices[i].x;
      *point++ = hull->vertices[i].y;
      *point++ = hull->vertices[i].z;
    }
    for (int i = 0; i < 3 * hull->triangle_count; i++) *corner++ = hull->triangles[i / 3][i % 3];
  }
  number_file_add_integers(file, "sizes", sizes, 2 * d->hull_count);
  number_file_add_doubles(file, "depths", d->depths, d->hull_count);
  number_file_add_doubles(file, "points", points, 3 * vertices);
  number_file_add_integers(file, "corners", corners, 3 * triangles);
  memory_free(sizes);
  memory_free(points);
  memory_free(corners);
}

static void add_key(NumberFile* file, const char* key) {
  int64_t letters[KEY_DIGITS];
  for (int i = 0; i < KEY_DIGITS; i++) letters[i] = (unsigned char)key[i];
  number_file_add_integers(file, "key", letters, KEY_DIGITS);
}

/* Writes the file under a temporary name and renames it, so that concurrent processes do not interfere. Ignores a
 * failure, because the hulls can be computed again. */
static void write_to_cache(const Decomposition* d, const char* key, const char* folder, const char* path) {
  if (file_make_folder(folder) != STATUS_OK) return;
  NumberFile file = {.kind = HULLS_KIND};
  add_key(&file, key);
  add_measures(&file, d);
  add_hulls(&file, d);
  Text temporary = {0};
  text_add(&temporary, "%s.%ld", path, (long)getpid());
  if (number_file_write(&file, temporary.data) == STATUS_OK && rename(temporary.data, path) != 0)
    remove(temporary.data);
  text_free(&temporary);
  number_file_free(&file);
}

static bool has_key(const NumberFile* file, const char* key, Diagnostics* ignored_diagnostics) {
  int64_t letters[KEY_DIGITS];
  if (!number_file_get_integers(file, "key", letters, KEY_DIGITS, ignored_diagnostics)) return false;
  for (int i = 0; i < KEY_DIGITS; i++)
    if (letters[i] != (unsigned char)key[i]) return false;
  return true;
}

static bool read_measures(Decomposition* d, const NumberFile* file, Diagnostics* ignored_diagnostics) {
  int64_t n[COUNTS];
  double m[MEASURES];
  if (!number_file_get_integers(file, "counts", n, COUNTS, ignored_diagnostics) ||
      !number_file_get_doubles(file, "measures", m, MEASURES, ignored_diagnostics))
    return false;
  d->samples = (int)n[0], d->pieces = (int)n[1], d->mesh_pieces = (int)n[2];
  for (int axis = 0; axis < 3; axis++) d->mirror[axis] = n[3 + axis] != 0;
  d->convex = n[6], d->covers = n[7], d->connected = n[8], d->symmetric = n[9], d->within_budget = n[10];
  d->apart = (int)n[11], d->within_tolerance = n[12];
  d->diagonal = m[0], d->mesh_volume = m[1], d->hull_volume = m[2], d->covered_miss = m[3], d->mirror_error = m[4];
  d->depth = m[5], d->depth_at_most = m[6];
  return true;
}

/* Reads one hull. Returns false if a number is not finite or an index is out of range. */
static bool read_hull(ConvexHull* hull, const int64_t sizes[2], const double* points, const int64_t* corners) {
  *hull = (ConvexHull){.vertex_count = (int)sizes[0], .triangle_count = (int)sizes[1]};
  hull->vertices = MEMORY_NEW(Vec3, hull->vertex_count);
  hull->triangles = memory_alloc(sizeof *hull->triangles * (size_t)hull->triangle_count);
  bool good = true;
  for (int i = 0; i < hull->vertex_count; i++) {
    const double* p = points + 3 * (size_t)i;
    hull->vertices[i] = vec3(p[0], p[1], p[2]);
    good &= isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
  }
  for (int i = 0; i < 3 * hull->triangle_count; i++) {
    good &= corners[i] >= 0 && corners[i] < hull->vertex_count;
    hull->triangles[i / 3][i % 3] = (int)corners[i];
  }
  return good;
}

static bool are_sizes_valid(const int64_t* sizes, int hulls, int points, int corners) {
  int64_t vertices = 0, triangles = 0;
  for (int h = 0; h < hulls; h++) {
    if (sizes[2 * h] < 4 || sizes[2 * h + 1] < 4 || sizes[2 * h] > points || sizes[2 * h + 1] > corners) return false;
    vertices += sizes[2 * h];
    triangles += sizes[2 * h + 1];
  }
  return hulls > 0 && 3 * vertices == points && 3 * triangles == corners;
}

static bool read_hulls(Decomposition* d, const NumberFile* file, Diagnostics* ignored_diagnostics) {
  int hulls = number_file_integers_count(file, "sizes") / 2, points = number_file_doubles_count(file, "points");
  int corners = number_file_integers_count(file, "corners");
  if (hulls <= 0 || points <= 0 || corners <= 0) return false;
  int64_t* size = MEMORY_NEW(int64_t, 2 * hulls);
  double* point = MEMORY_NEW(double, points);
  int64_t* corner = MEMORY_NEW(int64_t, corners);
  bool good = number_file_get_integers(file, "sizes", size, 2 * hulls, ignored_diagnostics) &&
              number_file_get_doubles(file, "points", point, points, ignored_diagnostics) &&
              number_file_get_integers(file, "corners", corner, corners, ignored_diagnostics) &&
              are_sizes_valid(size, hulls, points, corners);
  d->depths = MEMORY_NEW(double, hulls);
  good = good && number_file_get_doubles(file, "depths", d->depths, hulls, ignored_diagnostics);
  if (good) d->hulls = MEMORY_NEW(ConvexHull, hulls);
  const double* from = point;
  const int64_t* at = corner;
  for (int h = 0; good && h < hulls; h++) {
    good = read_hull(&d->hulls[d->hull_count++], size + 2 * h, from, at);
    from += 3 * size[2 * h];
    at += 3 * size[2 * h + 1];
  }
  memory_free(size);
  memory_free(point);
  memory_free(corner);
  return good;
}

static bool read_from_cache(Decomposition* d, const char* key, const char* path) {
  NumberFile file = {0};
  Diagnostics ignored_diagnostics = {0}; /* an unusable file is replaced without a message */
  *d = (Decomposition){0};
  bool good = number_file_read(&file, HULLS_KIND, path, &ignored_diagnostics) == STATUS_OK &&
              has_key(&file, key, &ignored_diagnostics) && read_measures(d, &file, &ignored_diagnostics) &&
              read_hulls(d, &file, &ignored_diagnostics);
  if (!good) decomposition_free(d);
  number_file_free(&file);
  diagnostics_free(&ignored_diagnostics);
  return good;
}

HullResult mesh_decompose_cached(Decomposition* result, const Mesh* mesh, const DecomposeOptions* requested,
                                 const char* folder) {
  if (!folder) return mesh_decompose(result, mesh, requested);
  DecomposeOptions options = decompose_with_defaults(requested);
  char key[KEY_DIGITS + 1];
  find_key(mesh, &options, key);
  Text path = {0};
  text_add(&path, "%s/%s.hulls", folder, key);
  HullResult status = HULL_OK;
  if (!read_from_cache(result, key, path.data)) {
    status = mesh_decompose(result, mesh, requested);
    if (status == HULL_OK) write_to_cache(result, key, folder, path.data);
  }
  text_free(&path);
  return status;
}
