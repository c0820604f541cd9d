/* Selection of kept rows. The arrays contain the rows of each single link, link by link, then the rows of all links. */
#include <assert.h>
#include <string.h>

#include "differentiate/differentiate.h"

RowSelection row_selection_create(const Model* model, int steps) {
  RowSelection keep = {.steps = steps, .link_count = model->link_count};
  keep.first = MEMORY_NEW(int, model->link_count);
  keep.last = MEMORY_NEW(int, model->link_count);
  for (int i = 0; i < model->link_count; i++) keep.last[i] = -1;
  keep.pose = MEMORY_NEW(size_t, model->link_count);
  keep.coordinate = MEMORY_NEW(size_t, model->link_count);
  keep.dof = MEMORY_NEW(size_t, model->link_count);
  return keep;
}

void row_selection_destroy(RowSelection* keep) {
  void* owned[] = {keep->first, keep->last, keep->whole, keep->pose, keep->coordinate, keep->dof};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  *keep = (RowSelection){0};
}

void row_selection_add_link(RowSelection* keep, int link, int first, int last) {
  assert(link >= 0 && first <= last);
  assert(first >= 0 && last <= keep->steps);
  bool none = keep->first[link] > keep->last[link];
  if (none || first < keep->first[link]) keep->first[link] = first;
  if (none || last > keep->last[link]) keep->last[link] = last;
}

void row_selection_add_all_links(RowSelection* keep, int row) {
  int count = keep->whole_count;
  assert(count == 0 || keep->whole[count - 1] <= row);
  if (count > 0 && keep->whole[count - 1] == row) return;
  keep->whole = memory_resize(keep->whole, sizeof(int) * (size_t)count, sizeof(int) * (size_t)(count + 1));
  keep->whole[count] = row;
  keep->whole_count++;
}

void row_selection_compute_offsets(RowSelection* keep, const Model* model) {
  size_t pose = 0, coordinate = 0, dof = 0;
  for (int i = 0; i < model->link_count; i++) {
    size_t rows = keep->first[i] <= keep->last[i] ? (size_t)(keep->last[i] - keep->first[i] + 1) : 0;
    keep->pose[i] = pose;
    keep->coordinate[i] = coordinate;
    keep->dof[i] = dof;
    pose += rows;
    coordinate += rows * (size_t)model->links[i].coordinate_count;
    dof += rows * (size_t)model->links[i].dof_count;
  }
  size_t whole = (size_t)keep->whole_count;
  keep->whole_pose = pose;
  keep->whole_coordinate = coordinate;
  keep->whole_dof = dof;
  keep->poses = pose + whole * (size_t)model->link_count;
  keep->coordinates = coordinate + whole * (size_t)model->coordinate_count;
  keep->dofs = dof + whole * (size_t)model->dof_count;
}

static int whole_index(const RowSelection* keep, int row) {
  for (int k = 0; k < keep->whole_count; k++) /* linear search, because few rows are kept for all links */
    if (keep->whole[k] == row) return k;
  return -1;
}

RowIndex row_selection_index(const RowSelection* keep, const Model* model, int row, int link) {
  const ModelLink* l = &model->links[link];
  if (row >= keep->first[link] && row <= keep->last[link]) {
    size_t at = (size_t)(row - keep->first[link]);
    return (RowIndex){true, keep->pose[link] + at, keep->coordinate[link] + at * (size_t)l->coordinate_count,
                      keep->dof[link] + at * (size_t)l->dof_count};
  }
  int whole = whole_index(keep, row);
  if (whole < 0) return (RowIndex){.kept = false};
  size_t at = (size_t)whole;
  return (RowIndex){true, keep->whole_pose + at * (size_t)model->link_count + (size_t)link,
                    keep->whole_coordinate + at * (size_t)model->coordinate_count + (size_t)l->coordinate_first,
                    keep->whole_dof + at * (size_t)model->dof_count + (size_t)l->dof_first};
}
