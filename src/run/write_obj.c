/* Writes the hulls of a link as an OBJ file that reads back to the same numbers. */

#include <assert.h>

#include "run/run.h"

/* Writes all vertices of a hull, including those inside the hull, and its faces. */
static void add_hull(Text* out, const ModelHull* hull, int number, int* first) {
  text_add(out, "o hull_%d\n", number);
  for (int i = 0; i < hull->solid.vertex_count; i++) {
    Vec3 v = hull->solid.vertices[i];
    const double coordinate[3] = {v.x, v.y, v.z};
    text_add(out, "v");
    for (int k = 0; k < 3; k++) {
      text_add(out, " ");
      text_add_double(out, coordinate[k]);
    }
    text_add(out, "\n");
  }
  for (int t = 0; t < hull->solid.triangle_count; t++) {
    const int* corner = hull->solid.triangles[t];
    text_add(out, "f %d %d %d\n", *first + corner[0], *first + corner[1], *first + corner[2]);
  }
  *first += hull->solid.vertex_count;
}

void run_hull_obj(Text* out, const Model* model, int hull) {
  assert(hull >= 0 && hull < model->hull_count);
  const ModelLink* link = &model->links[model->hulls[hull].link];
  int first = 1;
  text_add(out, "# link %s: a hull in the link's frame, metres\n", link->name);
  add_hull(out, &model->hulls[hull], hull - link->hull_first, &first);
}

Status run_link_obj(const char* path, const Model* model, int link, Diagnostics* diagnostics) {
  assert(link >= 0 && link < model->link_count);
  const ModelLink* l = &model->links[link];
  Text text = {0};
  int first = 1;
  text_add(&text, "# link %s: its hulls in the link's frame, metres\n", l->name);
  for (int k = 0; k < l->hull_count; k++) {
    const ModelHull* hull = &model->hulls[l->hull_first + k];
    if (hull->kind->bounded) add_hull(&text, hull, k, &first);
  }
  Status status = file_write_reported(path, &text, diagnostics);
  text_free(&text);
  return status;
}
