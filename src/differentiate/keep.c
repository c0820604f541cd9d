/* Row selection. Each array stores the rows of single links first, link by link, and then the rows of all links. */
#include <assert.h>
#include <string.h>

#include "differentiate/differentiate.h"

RowSelection row_selection_create(const Model* model, int steps) {
  assert(steps >= 0);
  RowSelection selection = {.steps = steps, .link_count = model->link_count};
  selection.first = MEMORY_NEW(int, model->link_count);
  selection.last = MEMORY_NEW(int, model->link_count);
  for (int i = 0; i < model->link_count; i++) selection.last[i] = -1;
  selection.pose = MEMORY_NEW(size_t, model->link_count);
  selection.coordinate = MEMORY_NEW(size_t, model->link_count);
  selection.dof = MEMORY_NEW(size_t, model->link_count);
  return selection;
}

void row_selection_destroy(RowSelection* selection) {
  void* owned[] = {selection->first, selection->last,       selection->all_link_rows,
                   selection->pose,  selection->coordinate, selection->dof};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  *selection = (RowSelection){0};
}

void row_selection_add_link(RowSelection* selection, int link, int first, int last) {
  assert(link >= 0 && link < selection->link_count);
  assert(link >= 0 && first <= last);
  assert(first >= 0 && last <= selection->steps);
  bool none = selection->first[link] > selection->last[link];
  if (none || first < selection->first[link]) selection->first[link] = first;
  if (none || last > selection->last[link]) selection->last[link] = last;
}

void row_selection_add_all_links(RowSelection* selection, int row) {
  int count = selection->all_link_row_count;
  assert(count == 0 || selection->all_link_rows[count - 1] <= row);
  if (count > 0 && selection->all_link_rows[count - 1] == row) return;
  selection->all_link_rows =
      memory_resize(selection->all_link_rows, sizeof(int) * (size_t)count, sizeof(int) * (size_t)(count + 1));
  selection->all_link_rows[count] = row;
  selection->all_link_row_count++;
}

void row_selection_compute_offsets(RowSelection* selection, const Model* model) {
  size_t pose = 0, coordinate = 0, dof = 0;
  for (int i = 0; i < model->link_count; i++) {
    size_t rows =
        selection->first[i] <= selection->last[i] ? (size_t)(selection->last[i] - selection->first[i] + 1) : 0;
    selection->pose[i] = pose;
    selection->coordinate[i] = coordinate;
    selection->dof[i] = dof;
    pose += rows;
    coordinate += rows * (size_t)model->links[i].coordinate_count;
    dof += rows * (size_t)model->links[i].dof_count;
  }
  size_t all_link_rows = (size_t)selection->all_link_row_count;
  selection->all_links_pose = pose;
  selection->all_links_coordinate = coordinate;
  selection->all_links_dof = dof;
  selection->poses = pose + all_link_rows * (size_t)model->link_count;
  selection->coordinates = coordinate + all_link_rows * (size_t)model->coordinate_count;
  selection->dofs = dof + all_link_rows * (size_t)model->dof_count;
}

static int find_all_links_row(const RowSelection* selection, int row) {
  for (int k = 0; k < selection->all_link_row_count; k++) /* few rows are selected for all links */
    if (selection->all_link_rows[k] == row) return k;
  return -1;
}

RowIndex row_selection_index(const RowSelection* selection, const Model* model, int row, int link) {
  assert(link >= 0 && link < selection->link_count && row >= 0 && row <= selection->steps);
  const ModelLink* l = &model->links[link];
  if (row >= selection->first[link] && row <= selection->last[link]) {
    size_t at = (size_t)(row - selection->first[link]);
    return (RowIndex){true, selection->pose[link] + at, selection->coordinate[link] + at * (size_t)l->coordinate_count,
                      selection->dof[link] + at * (size_t)l->dof_count};
  }
  int all_link_rows = find_all_links_row(selection, row);
  if (all_link_rows < 0) return (RowIndex){.kept = false};
  size_t at = (size_t)all_link_rows;
  return (RowIndex){
      true, selection->all_links_pose + at * (size_t)model->link_count + (size_t)link,
      selection->all_links_coordinate + at * (size_t)model->coordinate_count + (size_t)l->coordinate_first,
      selection->all_links_dof + at * (size_t)model->dof_count + (size_t)l->dof_first};
}
