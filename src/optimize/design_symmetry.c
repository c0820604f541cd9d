/* Symmetries: links that are images of other links, and the symmetry maps of single links. */
#include <string.h>

#include "optimize/design_build.h"

/* Tolerance for equal entries of two maps. It covers the rounding of decimals in a file. */
#define MAP_TOLERANCE 1e-9
/* Largest number of maps of a group. One rotation with one or two mirrors generates fewer maps. */
enum { MAPS_MAX = 4096 };

static Mat3 reflection(Vec3 n) { return mat3_sub(mat3_identity(), mat3_scale(mat3_outer(n, n), 2)); }

static bool is_leader(const DesignBuild* b, int link) {
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->leader[i] == link) return true;
  return false;
}

/* Returns true if a link can be the image of `leader`, otherwise adds an error. The leader must not be an image itself.
 * Hull k of the link is the image of hull k of the leader. */
static bool can_follow(DesignBuild* b, const TaskName* name, int link, int leader) {
  const Scene* scene = b->scene;
  const char* text = scene->links[leader].name;
  if (link == leader || b->leader[link] >= 0 || b->leader[leader] >= 0 || is_leader(b, link)) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, name->place,
                    "link '%s' cannot follow '%s': one of the two already follows a link or is followed by one; remove "
                    "one of these symmetries",
                    name->text, text);
    return false;
  }
  if (scene->links[link].shape_count == scene->links[leader].shape_count) return true;
  diagnostics_add(b->diagnostics, SEVERITY_ERROR, name->place,
                  "link '%s' has %d shapes, but '%s', which it follows, has %d: give both the same shapes", name->text,
                  scene->links[link].shape_count, text, scene->links[leader].shape_count);
  return false;
}

void design_read_followers(DesignBuild* b) {
  const Task* task = b->task;
  for (int i = 0; i < b->scene->link_count; i++) b->leader[i] = -1;
  for (int k = 0; k < task->symmetry_count; k++) {
    const TaskSymmetry* s = &task->symmetries[k];
    if (s->type == SYMMETRY_ROTATION || s->link_count < 2) continue;
    int leader = design_require_link(b, &s->links[0]);
    for (int j = 1; j < s->link_count && leader >= 0; j++) {
      int link = design_require_link(b, &s->links[j]);
      if (link < 0 || !can_follow(b, &s->links[j], link, leader)) continue;
      b->leader[link] = leader;
      b->map[link] = s->type == SYMMETRY_MIRROR ? reflection(s->normal) : mat3_identity();
    }
  }
}

static bool maps_agree(Mat3 a, Mat3 b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!(fabs(a.m[i][j] - b.m[i][j]) < MAP_TOLERANCE)) return false;
  return true;
}

static void append_map(SymmetryGroup* g, Mat3 map) {
  if (maps_agree(map, mat3_identity())) return;
  for (int k = 0; k < g->count; k++)
    if (maps_agree(g->maps[k], map)) return;
  g->maps = memory_grow_array(g->maps, sizeof(Mat3), g->count, &g->capacity);
  g->maps[g->count++] = map;
}

/* Completes the group: adds all products of generators[count] (design.md, D3). Two mirrors, for example, generate a
 * half turn. Returns false above MAPS_MAX maps. */
static bool close_group(SymmetryGroup* g, const Mat3* generators, int count) {
  for (int k = 0; k < g->count; k++)
    for (int j = 0; j < count; j++) {
      append_map(g, mat3_mul(generators[j], g->maps[k]));
      if (g->count > MAPS_MAX) return false;
    }
  return true;
}

SymmetryGroup design_symmetry_group(DesignBuild* b, int link) {
  SymmetryGroup g = {0};
  Mat3* generators = MEMORY_NEW(Mat3, b->task->symmetry_count + 1);
  SourcePosition place = {0};
  int count = 0;
  for (int k = 0; k < b->task->symmetry_count; k++) {
    const TaskSymmetry* s = &b->task->symmetries[k];
    if (s->link_count != 1 || strcmp(s->links[0].text, b->scene->links[link].name) != 0) continue;
    place = s->place;
    generators[count++] =
        s->type == SYMMETRY_MIRROR ? reflection(s->normal) : mat3_from_quat(quat_about(s->axis, 2 * M_PI / s->count));
    append_map(&g, generators[count - 1]);
    for (int n = 2; s->type == SYMMETRY_ROTATION && n < s->count; n++)
      append_map(&g, mat3_from_quat(quat_about(s->axis, 2 * M_PI * n / s->count)));
  }
  if (count > 1 && !close_group(&g, generators, count)) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, place,
                    "the symmetries of link '%s' generate infinitely many maps: choose mirrors and rotations that "
                    "generate a finite group",
                    b->scene->links[link].name);
    g.count = 0;
  }
  memory_free(generators);
  return g;
}

void symmetry_group_free(SymmetryGroup* maps) {
  memory_free(maps->maps);
  *maps = (SymmetryGroup){0};
}

void design_check_symmetries(DesignBuild* b) {
  for (int k = 0; k < b->task->symmetry_count; k++) {
    const TaskSymmetry* s = &b->task->symmetries[k];
    int link = s->link_count == 1 ? design_find_link(b->scene, s->links[0].text) : -1;
    if (link >= 0 && b->leader[link] >= 0)
      diagnostics_add(b->diagnostics, SEVERITY_ERROR, s->links[0].place,
                      "link '%s' follows link '%s' by another symmetry: move the symmetry to link '%s'",
                      s->links[0].text, b->scene->links[b->leader[link]].name, b->scene->links[b->leader[link]].name);
  }
}

/* Returns the dimension of the set of points that a map leaves unchanged (D4): 2 for a mirror, 1 for a rotation,
 * otherwise 0. */
static int invariant_dimension(Mat3 map) {
  if (mat3_det(map) > 0) return 1;
  return fabs(mat3_trace(map) - 1) < MAP_TOLERANCE ? 2 : 0;
}

bool design_clear_fixed_axes(const SymmetryGroup* g, Vec3 p, double tolerance, bool axes[3]) {
  bool along_axes = true;
  for (int k = 0; k < g->count; k++) {
    if (vec3_norm(vec3_sub(mat3_mul_vec(g->maps[k], p), p)) > tolerance) continue;
    int kept = 0;
    for (int i = 0; i < 3; i++) {
      if (fabs(g->maps[k].m[i][i] - 1) < MAP_TOLERANCE)
        kept++;
      else
        axes[i] = false;
    }
    along_axes = along_axes && kept == invariant_dimension(g->maps[k]);
  }
  return along_axes;
}
