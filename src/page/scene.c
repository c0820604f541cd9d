/* Writes the scene of a page: links with shapes and colours, the ground, and poses over time. */
#include <assert.h>
#include "page/parts.h"

/* Number of curve colours: three copies of the palette with increasing lightness. */
enum { CURVE_COLORS = 21 };

void page_add_surface(Page* page, const Vec3* vertices, int vertex_count, const int (*triangles)[3],
                      int triangle_count) {
  assert(vertex_count >= 0 && triangle_count >= 0);
  PageArray array = page_start_array(page, 4);
  for (int i = 0; i < vertex_count; i++) page_add_vector(page, vertices[i]);
  page_end_array(page, "vertices", array);
  array = page_start_array(page, vertex_count <= 0x10000 ? 2 : 4);
  for (int t = 0; t < triangle_count; t++)
    for (int k = 0; k < 3; k++) page_add_index(page, array, triangles[t][k]);
  page_end_array(page, "triangles", array);
}

double page_surface_bytes(const Model* model, int link) {
  assert(link >= 0 && link < model->link_count);
  double bytes = 0;
  for (int h = 0; h < model->links[link].hull_count; h++) {
    const ConvexHull* solid = &model->hulls[model->links[link].hull_first + h].solid;
    bytes += 12.0 * solid->vertex_count + 6.0 * solid->triangle_count;
  }
  return bytes;
}

/* Writes the bounded hulls of a link as one surface. Hulls share no vertices. */
static void add_hulls(Page* page, const ModelLink* link) {
  const ModelHull* hulls = page->source->model->hulls + link->hull_first;
  int vertex_count = 0, triangle_count = 0;
  for (int h = 0; h < link->hull_count; h++) {
    vertex_count += hulls[h].solid.vertex_count;
    triangle_count += hulls[h].solid.triangle_count;
  }
  if (triangle_count == 0) return;
  Vec3* vertices = MEMORY_NEW(Vec3, vertex_count);
  int(*triangles)[3] = (int(*)[3])memory_alloc(sizeof(int[3]) * (size_t)triangle_count);
  int v = 0, t = 0;
  for (int h = 0; h < link->hull_count; h++) {
    const ConvexHull* solid = &hulls[h].solid;
    for (int i = 0; i < solid->triangle_count; i++, t++)
      for (int k = 0; k < 3; k++) triangles[t][k] = v + solid->triangles[i][k];
    for (int i = 0; i < solid->vertex_count; i++) vertices[v++] = solid->vertices[i];
  }
  page_add_surface(page, vertices, vertex_count, (const int(*)[3])triangles, triangle_count);
  memory_free(vertices);
  memory_free(triangles);
}

static void add_half_spaces(Page* page, const ModelLink* link) {
  json_open(&page->json, "half_spaces", '[');
  for (int h = 0; h < link->hull_count; h++) {
    const ModelHull* hull = &page->source->model->hulls[link->hull_first + h];
    if (!hull->kind->bounded)
      json_vector(&page->json, NULL, (const double[]){hull->normal.x, hull->normal.y, hull->normal.z, hull->offset}, 4);
  }
  json_close(&page->json, ']');
}

/* Writes the positions (x y z) of a link in all rows, then its rotations (x y z w). */
static void add_motion(Page* page, const RunPoses* run, int link, const int* rows, int count) {
  PageArray array = page_start_array(page, 4);
  for (int i = 0; i < count; i++) page_add_vector(page, run_poses_at_row(run, rows[i])[link].t);
  page_end_array(page, "places", array);
  array = page_start_array(page, 4);
  for (int i = 0; i < count; i++) {
    Quat q = quat_from_mat3(run_poses_at_row(run, rows[i])[link].r);
    const double x[4] = {q.x, q.y, q.z, q.w};
    for (int k = 0; k < 4; k++) page_add_float(page, x[k]);
  }
  page_end_array(page, "turns", array);
}

/* Writes the motion of the initial design at the times of the page's rows. Repeats its last pose after the end of its
 * run. */
static void add_initial_motion(Page* page, int link) {
  const RunPoses* run = page->source->initial;
  int* rows = MEMORY_NEW(int, page->row_count);
  for (int i = 0; i < page->row_count; i++) rows[i] = run_find_row(run, page->source->run->time[page->rows[i]]);
  json_open(&page->json, "initial", '{');
  add_motion(page, run, link, rows, page->row_count);
  json_close(&page->json, '}');
  memory_free(rows);
}

static void add_link(Page* page, const float color[3], int index) {
  const ModelLink* link = &page->source->model->links[index];
  bool fixed = link->tree < 0;
  json_open(&page->json, NULL, '{');
  json_text(&page->json, "name", link->name);
  json_bool(&page->json, "fixed", fixed);
  json_vector(&page->json, "color", (const double[]){(double)color[0], (double)color[1], (double)color[2]}, 3);
  json_number(&page->json, "mass", link->mass);
  json_vector(&page->json, "center", (const double[]){link->center.x, link->center.y, link->center.z}, 3);
  add_hulls(page, link);
  add_half_spaces(page, link);
  add_motion(page, page->source->run, index, page->rows, fixed ? 1 : page->row_count);
  if (!fixed && page->source->initial && index < page->source->initial->link_count) add_initial_motion(page, index);
  json_close(&page->json, '}');
}

static void add_vec3(Page* page, const char* key, Vec3 v) {
  json_vector(&page->json, key, (const double[]){v.x, v.y, v.z}, 3);
}

/* Writes the ground grid, with the plane and lines of rendered pictures. */
static void add_ground(Page* page, const GroundPatch* patch) {
  double wide = fmax(patch->high[0] - patch->low[0], patch->high[1] - patch->low[1]), spacing = grid_spacing(wide);
  json_open(&page->json, "ground", '{');
  add_vec3(page, "origin", patch->origin);
  add_vec3(page, "u", patch->axis[0]);
  add_vec3(page, "v", patch->axis[1]);
  json_vector(&page->json, "low", patch->low, 2);
  json_vector(&page->json, "high", patch->high, 2);
  json_number(&page->json, "spacing", spacing);
  json_number(&page->json, "major", grid_major_spacing(spacing));
  json_close(&page->json, '}');
}

static void add_palette(Page* page) {
  json_open(&page->json, "palette", '[');
  for (int i = 0; i < CURVE_COLORS; i++) {
    float color[3];
    palette_color(i, color);
    json_vector(&page->json, NULL, (const double[]){(double)color[0], (double)color[1], (double)color[2]}, 3);
  }
  json_close(&page->json, ']');
}

static void add_times(Page* page) {
  const RunPoses* run = page->source->run;
  double* times = MEMORY_NEW(double, page->row_count);
  for (int i = 0; i < page->row_count; i++) times[i] = run->time[page->rows[i]];
  json_vector(&page->json, "time", times, page->row_count);
  json_integer(&page->json, "recorded", run->row_count);
  memory_free(times);
}

/* Size of the ground of a live run, relative to the ground of its first state, because the final extent of the run is
 * unknown. */
#define LIVE_GROUND_FACTOR 5.0

static void enlarge_ground(GroundPatch* patch) {
  for (int k = 0; k < 2; k++) {
    double middle = 0.5 * (patch->low[k] + patch->high[k]), half = 0.5 * (patch->high[k] - patch->low[k]);
    patch->low[k] = middle - LIVE_GROUND_FACTOR * half;
    patch->high[k] = middle + LIVE_GROUND_FACTOR * half;
  }
}

void page_add_scene(Page* page) {
  const PageSource* source = page->source;
  RenderSurroundings around = render_surroundings(source->model, source->run);
  if (source->live && source->live->column_count > 0) enlarge_ground(&around.ground);
  float(*colors)[3] = (float(*)[3])memory_alloc(sizeof(float[3]) * (size_t)(source->model->link_count + 1));
  link_colors(source->model, colors);
  json_text(&page->json, "name", source->model->scene->name);
  add_vec3(page, "up", around.up);
  add_vec3(page, "low", around.lower);
  add_vec3(page, "high", around.upper);
  if (around.has_ground) add_ground(page, &around.ground);
  add_palette(page);
  add_times(page);
  json_open(&page->json, "links", '[');
  for (int i = 0; i < source->model->link_count; i++) add_link(page, colors[i], i);
  json_close(&page->json, ']');
  memory_free(colors);
}
