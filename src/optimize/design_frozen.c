/* Vertices that the task excludes from the design. */
#include <string.h>

#include "optimize/design_build.h"

static bool item_contains(const TaskFrozen* item, int hull, Vec3 p) {
  const VertexRange range = {item->hulls, item->hull_count, item->has_box, item->box_low, item->box_high};
  return vertex_range_contains(&range, hull, p);
}

static bool item_names_link(const TaskFrozen* item, const DesignBuild* b, int link) {
  return strcmp(item->link.text, b->scene->links[link].name) == 0;
}

bool design_is_frozen(const DesignBuild* b, int link, int hull, Vec3 p) {
  for (int k = 0; k < b->task->frozen_count; k++)
    if (item_names_link(&b->task->frozen[k], b, link) && item_contains(&b->task->frozen[k], hull, p)) return true;
  return false;
}

static bool item_selects_vertex(const TaskFrozen* item, const DesignBuild* b, int link) {
  for (int h = 0; h < b->scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      if (item_contains(item, h, shape->points[m])) return true;
  }
  return false;
}

static bool has_cage(const Task* task, const char* link) {
  for (int k = 0; k < task->cage_count; k++)
    if (strcmp(task->cages[k].link.text, link) == 0) return true;
  return false;
}

static const char* find_problem(const TaskFrozen* item, const DesignBuild* b, int link) {
  if (b->leader[link] >= 0) return "follows another link by a symmetry: freeze vertices of the other link";
  if (!b->shapes[link]) return "has no vertices that are design variables: remove the entry";
  if (item->hulls && has_cage(b->task, item->link.text))
    return "is moved by a cage: select the frozen vertices by 'box' instead of 'hulls'";
  return item_selects_vertex(item, b, link)
             ? NULL
             : "has no vertex in the given 'hulls' and 'box': enlarge the box, or choose other hulls";
}

void design_check_frozen(DesignBuild* b) {
  for (int k = 0; k < b->task->frozen_count; k++) {
    const TaskFrozen* item = &b->task->frozen[k];
    int link = design_require_link(b, &item->link);
    const char* problem = link < 0 ? NULL : find_problem(item, b, link);
    if (problem)
      diagnostics_add(b->diagnostics, SEVERITY_ERROR, item->place, "frozen: link '%s' %s", item->link.text, problem);
  }
}
