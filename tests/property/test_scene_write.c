/* Tests that a written and reread scene is bit-identical as text, as model, and in its motion. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "scene/task.h"
#include "scene_run.h"
#include "support/compare.h"
#include "support/long.h"
#include "unit/scene/scene_difference.h"

/* Number of compared steps. */
enum { STEPS = 60 };

/* ---------------------------------------------------------------- models */

#define SAME_VALUE(what, a, b) compare_bytes(&(a), &(b), sizeof(a), "%s: %s", name, what)

/* Arrays of no entries are NULL. */
static void compare_list(const char* name, const char* what, const void* a, const void* b, size_t size) {
  if (size > 0) compare_bytes(a, b, size, "%s: %s", name, what);
}

static void compare_links(const char* name, const ModelLink* a, const ModelLink* b) {
  assert_string_equal(a->name, b->name);
  SAME_VALUE("parent", a->parent, b->parent);
  SAME_VALUE("tree", a->tree, b->tree);
  SAME_VALUE("origin", a->origin, b->origin);
  assert_ptr_equal(a->joint.kind, b->joint.kind);
  SAME_VALUE("slide axes", a->joint.slide_axis, b->joint.slide_axis);
  SAME_VALUE("axes", a->joint.axis, b->joint.axis);
  SAME_VALUE("parameters", a->joint.parameters, b->joint.parameters);
  SAME_VALUE("first degree of freedom", a->dof_first, b->dof_first);
  SAME_VALUE("degrees of freedom", a->dof_count, b->dof_count);
  SAME_VALUE("first coordinate", a->coordinate_first, b->coordinate_first);
  SAME_VALUE("coordinates", a->coordinate_count, b->coordinate_count);
  SAME_VALUE("limited", a->limited, b->limited);
  SAME_VALUE("lower limits", a->lower, b->lower);
  SAME_VALUE("upper limits", a->upper, b->upper);
  SAME_VALUE("limit law", a->limit_law, b->limit_law);
  SAME_VALUE("limit stiffness", a->limit_stiffness, b->limit_stiffness);
  SAME_VALUE("limit margin", a->limit_margin, b->limit_margin);
  SAME_VALUE("damping", a->damping, b->damping);
  SAME_VALUE("prescribed", a->prescribed, b->prescribed);
  SAME_VALUE("moment", a->moment, b->moment);
  SAME_VALUE("mass", a->mass, b->mass);
  SAME_VALUE("centre", a->center, b->center);
  SAME_VALUE("reach", a->reach, b->reach);
  SAME_VALUE("first hull", a->hull_first, b->hull_first);
  SAME_VALUE("hulls", a->hull_count, b->hull_count);
  SAME_VALUE("collide", a->collide, b->collide);
  SAME_VALUE("rigid group", a->rigid_group, b->rigid_group);
}

static void compare_hulls(const char* name, const ModelHull* a, const ModelHull* b) {
  SAME_VALUE("link of a hull", a->link, b->link);
  SAME_VALUE("shape of a hull", a->shape, b->shape);
  assert_ptr_equal(a->kind, b->kind);
  SAME_VALUE("normal", a->normal, b->normal);
  SAME_VALUE("offset", a->offset, b->offset);
  SAME_VALUE("vertices of a hull", a->solid.vertex_count, b->solid.vertex_count);
  SAME_VALUE("triangles of a hull", a->solid.triangle_count, b->solid.triangle_count);
  SAME_VALUE("centre of a hull", a->center, b->center);
  SAME_VALUE("radius of a hull", a->radius, b->radius);
  SAME_VALUE("box of a hull", a->half_extent, b->half_extent);
  if (!a->kind->bounded) return;
  compare_bytes(a->solid.vertices, b->solid.vertices, sizeof(Vec3) * (size_t)a->solid.vertex_count, "%s: vertices",
                name);
  compare_bytes(a->solid.triangles, b->solid.triangles, sizeof *a->solid.triangles * (size_t)a->solid.triangle_count,
                "%s: triangles", name);
  assert_int_equal(a->points.padded, b->points.padded);
  compare_bytes(a->points.x, b->points.x, sizeof(double) * 3 * (size_t)a->points.padded, "%s: points", name);
}

static void compare_contact(const char* name, const ModelContact* a, const ModelContact* b) {
  SAME_VALUE("support", a->support, b->support);
  SAME_VALUE("stiffness", a->stiffness, b->stiffness);
  SAME_VALUE("friction", a->friction, b->friction);
  SAME_VALUE("smoothing", a->smoothing, b->smoothing);
  SAME_VALUE("feature", a->feature, b->feature);
  SAME_VALUE("gap at rest", a->gap_at_rest, b->gap_at_rest);
}

static void compare_models(const char* name, const Model* a, const Model* b) {
  SAME_VALUE("links", a->link_count, b->link_count);
  SAME_VALUE("hulls", a->hull_count, b->hull_count);
  SAME_VALUE("trees", a->tree_count, b->tree_count);
  SAME_VALUE("controllers", a->controller_count, b->controller_count);
  SAME_VALUE("degrees of freedom", a->dof_count, b->dof_count);
  SAME_VALUE("coordinates", a->coordinate_count, b->coordinate_count);
  SAME_VALUE("excluded pairs", a->excluded_count, b->excluded_count);
  compare_contact(name, &a->contact, &b->contact);
  for (int i = 0; i < a->link_count; i++) compare_links(name, &a->links[i], &b->links[i]);
  for (int i = 0; i < a->hull_count; i++) compare_hulls(name, &a->hulls[i], &b->hulls[i]);
  compare_list(name, "trees", a->trees, b->trees, sizeof(ModelTree) * (size_t)a->tree_count);
  compare_list(name, "links of dof", a->dof_link, b->dof_link, sizeof(int) * (size_t)a->dof_count);
  compare_list(name, "initial coordinates", a->initial_coordinates, b->initial_coordinates,
               sizeof(double) * (size_t)a->coordinate_count);
  compare_list(name, "initial velocities", a->initial_velocities, b->initial_velocities,
               sizeof(double) * (size_t)a->dof_count);
  compare_list(name, "excluded pairs", a->excluded, b->excluded, sizeof(uint64_t) * (size_t)a->excluded_count);
}

/* ---------------------------------------------------------------- runs */

static void compare_runs(const char* name, SceneRun* a, SceneRun* b) {
  size_t nq = sizeof(double) * (size_t)a->model.coordinate_count, nv = sizeof(double) * (size_t)a->model.dof_count;
  for (int step = 1; step <= STEPS; step++) {
    run_step(a);
    run_step(b);
    const SimState *x = sim_state(a->sim), *y = sim_state(b->sim);
    compare_bytes(x->q, y->q, nq, "%s: coordinates after step %d", name, step);
    compare_bytes(x->rate, y->rate, nv, "%s: rates after step %d", name, step);
    compare_bytes(x->pose, y->pose, sizeof(Pose) * (size_t)a->model.link_count, "%s: poses after step %d", name, step);
    compare_bytes(&a->report.residual, &b->report.residual, sizeof(double), "%s: residual of step %d", name, step);
  }
}

/* ---------------------------------------------------------------- the shipped scenes */

/* Written to another folder, so that the paths of meshes change. */
static void open_written(SceneRun* run, const Scene* scene, const char* folder, const char* path) {
  Text yaml = {0};
  scene_write_yaml(scene, folder, &yaml);
  assert_int_equal(file_write(path, yaml.data, yaml.length), STATUS_OK);
  run_open(run, path, NULL);
  text_free(&yaml);
}

/* run: both are simulated too. */
static void check_scene_file(const char* path, const char* folder, bool run) {
  SceneRun original, written;
  Text copy = {0};
  text_add(&copy, "%s/copy.yaml", folder);
  run_open(&original, path, NULL);
  open_written(&written, &original.scene, folder, copy.data);
  const char* difference = scene_difference(&original.scene, &written.scene);
  if (difference) fail_msg("%s: %s differs", path, difference);
  compare_models(path, &original.model, &written.model);
  if (run) compare_runs(path, &original, &written);
  run_close(&written);
  run_close(&original);
  unlink(copy.data);
  text_free(&copy);
}

static void shipped_scenes_come_back_bit_for_bit(void** state) {
  (void)state;
  char folder[] = "/tmp/sdrs-copies-XXXXXX";
  assert_non_null(mkdtemp(folder));
  DIR* scenes = opendir("scenes");
  assert_non_null(scenes);
  int count = 0;
  for (const struct dirent* entry = readdir(scenes); entry; entry = readdir(scenes)) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".yaml") != 0) continue;
    Text path = {0};
    text_add(&path, "scenes/%s", entry->d_name);
    check_scene_file(path.data, folder, count % tests_count(6, 1) == 0);
    text_free(&path);
    count++;
  }
  closedir(scenes);
  assert_in_range(count, 10, 1000);
  assert_int_equal(rmdir(folder), 0);
}

/* Contact parameters in force of a model, given to its scene: the copy is no longer derived, and yet the same. */
static void derived_contact_is_kept_as_numbers(void** state) {
  (void)state;
  static const char* const faster[] = {"simulation.dt=0.005", NULL};
  char folder[] = "/tmp/sdrs-copies-XXXXXX";
  assert_non_null(mkdtemp(folder));
  Text copy = {0};
  text_add(&copy, "%s/copy.yaml", folder);
  SceneRun original, written, other;
  run_open(&original, "scenes/slide.yaml", NULL);
  const ModelContact* contact = &original.model.contact;
  assert_true(contact->support_derived && contact->stiffness_derived && contact->smoothing_derived);
  scene_set_contact_parameters(&original.scene, contact->support, contact->stiffness, contact->smoothing);
  open_written(&written, &original.scene, folder, copy.data);
  compare_models("slide", &original.model, &written.model);
  compare_runs("slide", &original, &written);
  run_open(&other, copy.data, faster); /* where the parameters would be derived anew, the given ones stay */
  compare_contact("slide at another time step", &original.model.contact, &other.model.contact);
  run_close(&other);
  run_close(&written);
  run_close(&original);
  unlink(copy.data);
  text_free(&copy);
  assert_int_equal(rmdir(folder), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shipped_scenes_come_back_bit_for_bit),
      cmocka_unit_test(derived_contact_is_kept_as_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
