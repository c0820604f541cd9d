/* Hulls of the initial design, to which shape losses refer. */
#include <stdlib.h>
#include <string.h>

#include "differentiate/loss.h"

static int compare_edges(const void* x, const void* y) {
  const int *a = x, *b = y;
  return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Finds the edges of a hull. Each edge belongs to two triangles and is listed once. */
static void find_edges(const ConvexHull* solid, HullReference* hull) {
  int count = 3 * solid->triangle_count;
  hull->edges = memory_alloc(sizeof *hull->edges * (size_t)count);
  for (int i = 0; i < count; i++) {
    const int* triangle = solid->triangles[i / 3];
    int a = triangle[i % 3], b = triangle[(i + 1) % 3];
    hull->edges[i][0] = a < b ? a : b;
    hull->edges[i][1] = a < b ? b : a;
  }
  if (count > 0) qsort(hull->edges, (size_t)count, sizeof *hull->edges, compare_edges);
  for (int i = 0; i < count; i++)
    if (hull->edge_count == 0 || compare_edges(hull->edges[hull->edge_count - 1], hull->edges[i]) != 0)
      memmove(hull->edges[hull->edge_count++], hull->edges[i], sizeof hull->edges[i]);
}

static void store_hull(HullReference* out, const Model* model, int hull) {
  const ConvexHull* solid = &model->hulls[hull].solid;
  MassMoment moment = mass_moment_solid(solid);
  *out = (HullReference){.hull = hull, .vertex_count = solid->vertex_count, .volume = mass_moment_mass(&moment)};
  out->first_vertex = model->hulls[hull].vertex_first;
  out->vertices = MEMORY_NEW(Vec3, solid->vertex_count);
  memcpy(out->vertices, solid->vertices, sizeof(Vec3) * (size_t)solid->vertex_count);
  find_edges(solid, out);
}

void loss_hulls_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  term->hulls = MEMORY_NEW(HullReference, model->hull_count);
  for (int h = 0; h < model->hull_count; h++) {
    if (!model->hulls[h].kind->bounded || (term->link >= 0 && model->hulls[h].link != term->link)) continue;
    HullReference* hull = &term->hulls[term->hull_count++];
    store_hull(hull, model, h);
    term->vertex_count += hull->vertex_count;
    term->edge_count += hull->edge_count;
  }
  if (term->hull_count > 0) return;
  if (term->link < 0)
    loss_report_error(context, context->source->place,
                      "the scene has no shape with vertices: the loss needs a box, points or a mesh");
  else
    loss_report_error(context, context->source->link.place,
                      "'%.60s' has no shape with vertices: give the link a box, points or a mesh, or name another link",
                      model->links[term->link].name);
}

void loss_hulls_free(LossTerm* term) {
  for (int i = 0; i < term->hull_count; i++) {
    memory_free(term->hulls[i].vertices);
    memory_free(term->hulls[i].edges);
  }
  memory_free(term->hulls);
}
