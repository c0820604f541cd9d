/* Writes the progress of an optimization to a page: its log, and the shapes in design/<iteration>/<link>.obj. */
#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "page/parts.h"

/* Iterations that the slider of the page can select, and the links with stored shapes. */
typedef struct {
  int* iterations; /* numbers of the iterations, ascending (size: count); owned */
  int count;
  int* links; /* indices of the links whose shape varies (size: link_count); owned */
  int link_count;
} DesignList;

static void design_path(Text* path, const Page* page, int iteration, const char* link) {
  path->length = 0;
  text_add(path, "%s/design/", page->source->design);
  if (iteration >= 0)
    text_add(path, "%d", iteration);
  else
    text_add(path, "final");
  if (link) text_add(path, "/%s.obj", link);
}

static int compare_integers(const void* a, const void* b) {
  int left = *(const int*)a, right = *(const int*)b;
  return (left > right) - (left < right);
}

/* Sets list->iterations to the folders of design/ whose name is a number. */
static void find_iterations(const Page* page, DesignList* list) {
  Text path = {0};
  text_add(&path, "%s/design", page->source->design);
  DIR* folder = opendir(path.data);
  int capacity = 0;
  for (struct dirent* entry; folder && (entry = readdir(folder)) != NULL;) {
    char* end;
    long iteration = strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || *end != '\0' || iteration < 0 || iteration > INT32_MAX) continue;
    list->iterations = memory_grow_array(list->iterations, sizeof(int), list->count, &capacity);
    list->iterations[list->count++] = (int)iteration;
  }
  if (folder) closedir(folder);
  if (list->count > 0) qsort(list->iterations, (size_t)list->count, sizeof(int), compare_integers);
  text_free(&path);
}

/* Finds the links with varying shape, which have a file in the folder of every iteration. */
static void find_links(const Page* page, DesignList* list) {
  const Model* model = page->source->model;
  Text path = {0};
  list->links = MEMORY_NEW(int, model->link_count + 1);
  for (int i = 0; i < model->link_count && list->count > 0; i++) {
    design_path(&path, page, list->iterations[0], model->links[i].name);
    if (file_exists(path.data)) list->links[list->link_count++] = i;
  }
  text_free(&path);
}

/* Returns the approximate size of the shapes of one iteration [bytes], estimated from the best design. */
static double shape_bytes(const Page* page, const DesignList* list) {
  double bytes = 0;
  for (int i = 0; i < list->link_count; i++) bytes += page_surface_bytes(page->source->model, list->links[i]);
  return bytes;
}

/* Removes iterations until the shapes fit into the page. Keeps every n-th iteration and the last. bytes: size of one
 * iteration. */
static void select_iterations(DesignList* list, double bytes) {
  assert(bytes >= 0);
  int stride = (int)fmin(ceil(list->count * bytes / PAGE_DESIGN_BYTES), list->count), kept = 0;
  for (int i = 0; i < list->count; i++)
    if (stride <= 1 || i % stride == 0 || i == list->count - 1) list->iterations[kept++] = list->iterations[i];
  list->count = kept;
}

/* Adds a shape from a file of run_link_obj. The faces must be triangles. */
static Status add_shape(Page* page, const char* path) {
  Mesh mesh = {0};
  Status status = mesh_read(&mesh, path, 1.0, page->diagnostics);
  if (status == STATUS_OK && mesh.corner_count != 3 * mesh.face_count) {
    diagnostics_add(page->diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "every face must be a triangle");
    status = STATUS_BAD_INPUT;
  }
  if (status == STATUS_OK) {
    json_open(&page->json, NULL, '{');
    page_add_surface(page, mesh.positions, mesh.position_count, (const int(*)[3])mesh.corners, mesh.face_count);
    json_close(&page->json, '}');
  }
  mesh_free(&mesh);
  return status;
}

/* Adds the shapes of an iteration, or of the best design if iteration < 0. */
static Status add_shapes(Page* page, const DesignList* list, int iteration) {
  Status status = STATUS_OK;
  Text path = {0};
  json_open(&page->json, NULL, '[');
  for (int i = 0; i < list->link_count && status == STATUS_OK; i++) {
    design_path(&path, page, iteration, page->source->model->links[list->links[i]].name);
    status = add_shape(page, path.data);
  }
  json_close(&page->json, ']');
  text_free(&path);
  return status;
}

static void add_integers(Page* page, const char* key, const int* values, int count) {
  json_open(&page->json, key, '[');
  for (int i = 0; i < count; i++) json_integer(&page->json, NULL, values[i]);
  json_close(&page->json, ']');
}

static Status add_list(Page* page, const DesignList* list) {
  Status status = STATUS_OK;
  json_open(&page->json, "design", '{');
  add_integers(page, "iterations", list->iterations, list->count);
  add_integers(page, "links", list->links, list->link_count);
  json_open(&page->json, "shapes", '[');
  for (int i = 0; i < list->count && status == STATUS_OK; i++) status = add_shapes(page, list, list->iterations[i]);
  json_close(&page->json, ']');
  json_close(&page->json, '}');
  return status;
}

Status page_add_designs(Page* page, int* count) {
  *count = 0;
  if (!page->source->design) return STATUS_OK;
  Status status = page_add_table(page, "convergence", page->source->design, "convergence.csv");
  DesignList list = {0};
  find_iterations(page, &list);
  find_links(page, &list);
  select_iterations(&list, shape_bytes(page, &list));
  if (status == STATUS_OK && list.link_count > 0) {
    status = add_list(page, &list);
    *count = list.count;
  }
  memory_free(list.iterations);
  memory_free(list.links);
  return status;
}
