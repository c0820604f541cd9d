/* Creates the groups of trees that fly together, and the arrays for their targets (docs/derivations/spin.md, W15). */
#include "simulate/tree_flight.h"

/* Returns one of the trees that closure or coupling k acts on. */
static int first_tree(const Model* m, const ClosureSystem* c, int k) { return m->links[closure_link(c, k)].tree; }

/* Sets the group of every tree. A group consists of trees that closures or couplings connect, at least one of which
 * flies. Other trees get the group -1. */
static void assign_groups(TreeFlight* f, const Model* m) {
  int* set = MEMORY_NEW(int, m->tree_count);
  bool* flies = MEMORY_NEW(bool, m->tree_count);
  disjoint_sets_init(set, m->tree_count);
  for (int k = 0; f->closures_now && k < f->closures_now->pair_count; k++)
    disjoint_sets_unite(set, (int)(f->closures_now->pairs[k] >> 32), (int)(f->closures_now->pairs[k] & UINT32_MAX));
  for (int k = 0; k < m->tree_count; k++)
    if (m->trees[k].flies) flies[disjoint_sets_find(set, k)] = true;
  for (int k = 0; k < m->tree_count; k++) {
    int root = disjoint_sets_find(set, k);
    f->group_of[k] = !flies[root] ? -1 : root == k ? f->group_count++ : f->group_of[root];
  }
  memory_free(set);
  memory_free(flies);
}

/* Appends the trees, links, closures and couplings of one group to the lists. */
static void list_group(TreeFlight* f, const Sim* s, int index, FlightGroup* g) {
  const Model* m = s->model;
  for (int k = 0; k < m->tree_count; k++) {
    if (f->group_of[k] != index) continue;
    f->trees[g->tree_first + g->tree_count++] = k;
    for (int n = s->trees.first[k]; n < s->trees.first[k + 1]; n++)
      f->links[g->link_first + g->link_count++] = s->trees.links[n];
  }
  for (int k = 0; f->closures_now && k < f->closures_now->count; k++)
    if (f->group_of[first_tree(m, f->closures_now, k)] == index) f->closures[g->closure_first + g->closure_count++] = k;
}

static void list_groups(TreeFlight* f, const Sim* s) {
  f->group = MEMORY_NEW(FlightGroup, f->group_count);
  FlightGroup at = {0};
  for (int k = 0; k < f->group_count; k++) {
    f->group[k] =
        (FlightGroup){.tree_first = at.tree_first, .link_first = at.link_first, .closure_first = at.closure_first};
    list_group(f, s, k, &f->group[k]);
    at.tree_first += f->group[k].tree_count;
    at.link_first += f->group[k].link_count;
    at.closure_first += f->group[k].closure_count;
  }
}

static void create_trees(TreeFlight* f, const Model* m) {
  size_t total = 0, at = 0;
  int listed = 0;
  for (int k = 0; k < m->tree_count; k++) {
    FlightTree* t = &f->tree[k];
    t->free_first = listed;
    for (int d = m->trees[k].dof_first; f->group_of[k] >= 0 && d < m->trees[k].dof_first + m->trees[k].dof_count; d++)
      if (m->links[m->dof_link[d]].prescribed < 0) f->free[listed++] = d;
    t->free_count = listed - t->free_first;
    total += (size_t)t->free_count * (size_t)t->free_count;
  }
  f->matrices = MEMORY_NEW(double, total);
  for (int k = 0; k < m->tree_count; k++) {
    f->tree[k].matrix = f->matrices + at;
    at += (size_t)f->tree[k].free_count * (size_t)f->tree[k].free_count;
  }
}

static void create_rows(TreeFlight* f, const Model* m) {
  FlightRows* r = &f->rows;
  for (int k = 0; k < f->group_count; k++) {
    int rows = 0;
    for (int n = 0; n < f->group[k].closure_count; n++)
      rows += closure_row_count(f->closures_now, f->closures[f->group[k].closure_first + n]);
    if (rows > r->capacity) r->capacity = rows;
  }
  size_t most = (size_t)r->capacity;
  r->active = MEMORY_NEW(ClosureRowIndex, most);
  r->matrix = MEMORY_NEW(double, most* most);
  r->right = MEMORY_NEW(double, most);
  r->unit = MEMORY_NEW(double, most);
  r->work = MEMORY_NEW(double, most*(most + 1));
  r->equation = MEMORY_NEW(int, most);
  r->unknown = MEMORY_NEW(int, most);
  r->column = MEMORY_NEW(double, most*(size_t)m->dof_count);
}

static void create_arrays(TreeFlight* f, const Model* m) {
  size_t links = (size_t)m->link_count, nv = (size_t)m->dof_count;
  double** const coordinates[] = {&f->before_q, &f->target_q, &f->behind_q, &f->beyond_q, &f->side};
  double** const increments[] = {
      &f->last_displacement, &f->reduced,         &f->change,     &f->packed,   &f->drive, &f->less,
      &f->joint_force,       &f->joint_stiffness, &f->load_force, &f->wheel_bar};
  Pose** const poses[] = {&f->pose_before, &f->target_pose, &f->pose_behind, &f->pose_beyond, &f->pose_side};
  Screw** const screws[] = {&f->screws_now, &f->target_screws, &f->screws_side};
  Vec3** const centers[] = {&f->center_now, &f->center_target};
  for (int k = 0; k < 5; k++) *coordinates[k] = MEMORY_NEW(double, m->coordinate_count);
  for (int k = 0; k < 10; k++) *increments[k] = MEMORY_NEW(double, nv);
  for (int k = 0; k < 5; k++) *poses[k] = MEMORY_NEW(Pose, links);
  for (int k = 0; k < 3; k++) *screws[k] = MEMORY_NEW(Screw, nv);
  for (int k = 0; k < 2; k++) *centers[k] = MEMORY_NEW(Vec3, links);
  f->is_load_direct = MEMORY_NEW(bool, nv);
  f->bar = memory_alloc(sizeof(double[3][4]) * links);
  f->load_bar = memory_alloc(sizeof(double[3][4]) * links);
  f->force = MEMORY_NEW(Vec3, links);
  f->moment = MEMORY_NEW(Mat3, links);
  f->row_impulse = MEMORY_NEW(double, m->closure_row_count);
  f->eta = MEMORY_NEW(double, m->closure_row_count);
}

/* A centre of mass lies on an axis if its distance from the axis is at most this fraction of the link's size. */
#define AXIS_OFFSET_MAX 1e-9

/* Returns true if link i rotates relative to its parent only about one axis through its centre of mass, has a mass, and
 * carries no other link. */
static bool is_wheel_of_model(const Model* m, int i) {
  const ModelLink* link = &m->links[i];
  const Joint* joint = &link->joint;
  if (!(link->mass > 0) || joint->hinge_count != 1 || joint->dof_count != joint->slide_count + 1) return false;
  for (int k = i + 1; k < m->link_count; k++)
    if (m->links[k].parent == i) return false;
  return vec3_norm(vec3_cross(joint->axis[0], link->center)) <= AXIS_OFFSET_MAX * link->reach;
}

/* Returns true if link i is a wheel whose axis has a constant direction. The inertia of its tree does not depend on the
 * angle of the wheel (W14). */
static bool is_steady_wheel_of_model(const Model* m, int i) {
  if (!is_wheel_of_model(m, i)) return false;
  for (int up = m->links[i].parent; up >= 0; up = m->links[up].parent)
    if (m->links[up].joint.dof_count > m->links[up].joint.slide_count) return false;
  return true;
}

/* Returns true if forces on the link's joint act in the step's objective and not in the target: on the only degree of
 * freedom of a group, and on wheels whose axis changes its direction (W51). */
static bool is_direct(const TreeFlight* f, const Model* m, int i) {
  if (f->is_wheel[i]) return !f->is_steady_wheel[i];
  const FlightGroup* g = &f->group[f->group_of[m->links[i].tree]];
  int free = 0;
  for (int k = 0; k < g->tree_count; k++) free += f->tree[f->trees[g->tree_first + k]].free_count;
  return free < 2;
}

/* Returns true if the target of the tree contains the forces of the link's joint (W51). */
static bool has_target_joint_forces(const TreeFlight* f, const Model* m, int i) {
  const ModelLink* link = &m->links[i];
  if (link->tree < 0 || f->group_of[link->tree] < 0 || link->prescribed >= 0 || is_direct(f, m, i)) return false;
  bool any = false;
  for (int c = 0; c < m->controller_count; c++) any = any || m->controllers[c].link == i;
  for (int k = 0; k < link->joint.scalar_count; k++)
    any = any || link->damping[k] > 0 || (link->passive && (link->stiffness[k] > 0 || link->armature[k] > 0));
  return any;
}

/* Marks the degrees of freedom on which loads act directly (W52). */
static void mark_direct_loads(TreeFlight* f, const Model* m) {
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0 || f->group_of[link->tree] < 0 || link->prescribed >= 0) continue;
    bool direct = is_direct(f, m, i);
    for (int k = 0; k < link->joint.scalar_count; k++) f->is_load_direct[link->dof_first + k] = direct;
  }
}

TreeFlight* tree_flight_create(const Sim* s) {
  const Model* m = s->model;
  bool any = false;
  for (int k = 0; k < m->tree_count; k++) any = any || m->trees[k].flies;
  if (!any || m->simulation.integrator != INTEGRATOR_MOMENTUM) return NULL;
  TreeFlight* f = MEMORY_NEW(TreeFlight, 1);
  bool** const flags[] = {&f->has_target, &f->is_without_contact, &f->contains_joint_forces, &f->contains_loads};
  for (int k = 0; k < 4; k++) *flags[k] = MEMORY_NEW(bool, m->tree_count);
  int** const lists[] = {&f->trees, &f->group_of};
  for (int k = 0; k < 2; k++) *lists[k] = MEMORY_NEW(int, m->tree_count);
  f->links = MEMORY_NEW(int, m->link_count);
  f->is_steady_wheel = MEMORY_NEW(bool, m->link_count);
  f->has_joint_forces = MEMORY_NEW(bool, m->link_count);
  f->target_links = MEMORY_NEW(ModelLink, m->link_count);
  f->is_wheel = MEMORY_NEW(bool, m->link_count);
  for (int i = 0; i < m->link_count; i++) {
    f->is_wheel[i] = is_wheel_of_model(m, i);
    f->is_steady_wheel[i] = is_steady_wheel_of_model(m, i);
  }
  f->closures = MEMORY_NEW(int, m->closure_count + m->coupling_count);
  f->tree = MEMORY_NEW(FlightTree, m->tree_count);
  f->free = MEMORY_NEW(int, m->dof_count);
  f->closures_now = closures_create(m, s->tolerance);
  f->closures_at_target = closures_create(m, s->tolerance);
  assign_groups(f, m);
  list_groups(f, s);
  create_trees(f, m);
  create_rows(f, m);
  for (int i = 0; i < m->link_count; i++) f->has_joint_forces[i] = has_target_joint_forces(f, m, i);
  create_arrays(f, m);
  mark_direct_loads(f, m);
  return f;
}

void tree_flight_destroy(TreeFlight* f) {
  if (!f) return;
  closures_destroy(f->closures_now);
  closures_destroy(f->closures_at_target);
  FlightRows* r = &f->rows;
  void* owned[] = {f->group,
                   f->trees,
                   f->links,
                   f->closures,
                   f->group_of,
                   f->tree,
                   f->free,
                   f->has_target,
                   f->contains_loads,
                   f->is_load_direct,
                   f->load_force,
                   f->load_bar,
                   f->is_steady_wheel,
                   f->is_wheel,
                   f->is_without_contact,
                   f->before_q,
                   f->target_q,
                   f->beyond_q,
                   f->pose_before,
                   f->target_pose,
                   f->pose_beyond,
                   f->screws_now,
                   f->target_screws,
                   f->screws_side,
                   f->last_displacement,
                   f->bar,
                   f->force,
                   f->moment,
                   f->reduced,
                   f->change,
                   f->matrices,
                   f->drive,
                   f->wheel_bar,
                   f->packed,
                   f->row_impulse,
                   f->eta,
                   f->center_now,
                   f->center_target,
                   r->active,
                   r->matrix,
                   r->right,
                   r->unit,
                   r->work,
                   r->equation,
                   r->unknown,
                   r->column,
                   f->side,
                   f->less,
                   f->pose_side,
                   f->behind_q,
                   f->pose_behind,
                   f->joint_force,
                   f->joint_stiffness,
                   f->contains_joint_forces,
                   f->has_joint_forces,
                   f->target_links};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(f);
}
