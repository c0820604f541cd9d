#include <assert.h>
#include <string.h>

#include "app/command.h"
#include "scene/task.h"

void report_wrong_file_kind(const char* path, const char* actual_kind, const char* remedy, Diagnostics* diagnostics) {
  diagnostics_free(diagnostics);
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "the file is %s: %s", actual_kind, remedy);
}

Status loaded_create(Loaded* loaded, const Options* options, const char* path, int steps, bool with_surfaces,
                     Diagnostics* diagnostics) {
  assert(path && steps >= 0);
  *loaded = (Loaded){0};
  double start = timer_now();
  Status status = scene_load(&loaded->scene, path, options->overrides, options->override_count, diagnostics);
  if (status == STATUS_BAD_INPUT && task_recognise(path))
    report_wrong_file_kind(path, "a task", "run `sdrs optimize` for a task, or give the scene of the task",
                           diagnostics);
  if (status != STATUS_OK) return status;
  loaded->scene.threads = options->threads;
  loaded->scene.skip_render_surfaces = !with_surfaces;
  if (steps > 0) loaded->scene.simulation.steps = steps;
  double middle = timer_now();
  loaded->scene_seconds = middle - start;
  status = model_create_lifted(&loaded->model, &loaded->scene, diagnostics);
  loaded->model_seconds = timer_now() - middle;
  return status;
}

char* run_folder_path(const Options* options, const char* name) {
  if (options->folder) return memory_copy_text(options->folder);
  Text path = {0};
  text_add(&path, "out/%s", *name ? name : "run");
  for (char* c = path.data + strlen("out/"); *c; c++)
    if (*c == '/') *c = '_';
  if (strcmp(path.data, "out/..") == 0 || strcmp(path.data, "out/.") == 0) path.data[strlen("out/")] = '_';
  return path.data;
}

void loaded_free(Loaded* loaded) {
  model_destroy(&loaded->model);
  scene_free(&loaded->scene);
  *loaded = (Loaded){0};
}

long loaded_vertex_count(const Loaded* loaded) { return loaded->model.vertex_count; }

static void add_counted(Text* out, const char* before, long count, const char* one, const char* many) {
  text_add(out, "%s%ld %s", before, count, count == 1 ? one : many);
}

void loaded_append_summary(Text* out, const Loaded* loaded) {
  const Model* model = &loaded->model;
  add_counted(out, "", model->link_count, "link", "links");
  add_counted(out, ", ", model->dof_count, "degree of freedom", "degrees of freedom");
  add_counted(out, ", ", model->hull_count, "hull", "hulls");
  add_counted(out, ", ", loaded_vertex_count(loaded), "vertex", "vertices");
}
