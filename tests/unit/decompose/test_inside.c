/* Tests that hulls inside a solid are connected where the solid is connected, on boxes with gaps of known width. */
#include "decompose/inside.h"
#include "decompose/mesh_repair.h"
#include "unit/decompose/decompose_testing.h"

enum { BOXES = 3 };
/* Smallest depth of a vertex in another hull that counts as an overlap [unit size]. */
#define DEPTH 1e-6

typedef struct {
  Vec3 low, high;
} Box;

static Vec3 to_unit(UnitFrame frame, Vec3 p) { return vec3_scale(vec3_sub(p, frame.center), 1 / frame.scale); }

static Block box_block(UnitFrame frame, const Box* box) {
  Vec3 corners[8];
  for (int i = 0; i < 8; i++) {
    Vec3 p = vec3(i & 1 ? box->high.x : box->low.x, i & 2 ? box->high.y : box->low.y, i & 4 ? box->high.z : box->low.z);
    corners[i] = to_unit(frame, p);
  }
  return block_create(corners, 8);
}

static bool has_corner_in(const ConvexHull* a, const ConvexHull* b) {
  for (int i = 0; i < a->vertex_count; i++)
    if (in_hull(b, a->vertices[i], -DEPTH)) return true;
  return false;
}

static bool hulls_overlap(const Blocks* blocks, int i, int j) {
  const ConvexHull *a = &blocks->items[i].hull, *b = &blocks->items[j].hull;
  return has_corner_in(a, b) || has_corner_in(b, a);
}

static void expect_vertices_in(const Blocks* blocks, UnitFrame frame, const Box* solids, int solid_count) {
  for (int k = 0; k < blocks->count; k++)
    for (int i = 0; i < blocks->items[k].hull.vertex_count; i++) {
      Vec3 p = vec3_add_scaled(frame.center, frame.scale, blocks->items[k].hull.vertices[i]);
      bool inside = false;
      for (int s = 0; s < solid_count; s++) {
        const Box* b = &solids[s];
        inside = inside || (p.x > b->low.x - 1e-9 && p.x < b->high.x + 1e-9 && p.y > b->low.y - 1e-9 &&
                            p.y < b->high.y + 1e-9 && p.z > b->low.z - 1e-9 && p.z < b->high.z + 1e-9);
      }
      if (!inside) fail_msg("vertex %d of hull %d at (%g, %g, %g) is outside the solid", i, k, p.x, p.y, p.z);
    }
}

/* Shrinks the boxes into the solid. The caller frees the blocks. */
static Blocks boxes_inside(const Box* solids, int solid_count, const Box* boxes, int box_count) {
  Text text = {0};
  for (int s = 0; s < solid_count; s++) add_box(&text, s, solids[s].low, solids[s].high);
  Mesh mesh = mesh_of_text(text.data);
  text_free(&text);
  Part solid;
  UnitFrame frame;
  MeshCondition condition = {0};
  assert_true(mesh_repair(&mesh, &solid, &frame, &condition));
  Blocks blocks = {MEMORY_NEW(Block, box_count), box_count};
  for (int k = 0; k < box_count; k++) blocks.items[k] = box_block(frame, &boxes[k]);
  MirrorGroups groups = mirror_groups(&blocks, (const bool[3]){false, false, false});
  DecomposeOptions options = decompose_with_defaults(&(DecomposeOptions){.inside = true, .threads = 1});
  blocks_shrink_into(&blocks, &solid, solid_count > 1, &groups, &options);
  mirror_groups_free(&groups);
  assert_int_equal(blocks.count, box_count);
  expect_vertices_in(&blocks, frame, solids, solid_count);
  part_free(&solid);
  mesh_free(&mesh);
  return blocks;
}

static const Box BAR = {{0, 0, 0}, {3, 1, 1}};

/* Three boxes in a bar with gaps of 0.1 and 0.2. The first and the last box are bridged to the middle one only. */
static void gaps_in_a_bar_are_bridged(void** state) {
  (void)state;
  static const Box thirds[BOXES] = {{{0, 0, 0}, {0.9, 1, 1}}, {{1, 0, 0}, {1.9, 1, 1}}, {{2.1, 0, 0}, {3, 1, 1}}};
  static const int orders[6][BOXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int o = 0; o < 6; o++) {
    Box boxes[BOXES];
    int of[BOXES];
    for (int k = 0; k < BOXES; k++) boxes[k] = thirds[orders[o][k]];
    for (int k = 0; k < BOXES; k++) of[orders[o][k]] = k;
    Blocks blocks = boxes_inside(&BAR, 1, boxes, BOXES);
    for (int k = 0; k + 1 < BOXES; k++)
      if (!hulls_overlap(&blocks, of[k], of[k + 1])) fail_msg("order %d: boxes %d and %d do not overlap", o, k, k + 1);
    assert_false(hulls_overlap(&blocks, of[0], of[2]));
    blocks_free(&blocks);
  }
}

/* A corner that bridges the gap between two bodies would lie inside the solid, but the hull would not. */
static void gaps_between_bodies_stay_open(void** state) {
  (void)state;
  const Box bodies[2] = {{{0, 0, 0}, {1.4, 1, 1}}, {{1.6, 0, 0}, {3, 1, 1}}};
  Blocks blocks = boxes_inside(bodies, 2, bodies, 2);
  assert_false(hulls_overlap(&blocks, 0, 1));
  for (int k = 0; k < 2; k++) assert_int_equal(blocks.items[k].hull.vertex_count, 8);
  blocks_free(&blocks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_in_a_bar_are_bridged),
      cmocka_unit_test(gaps_between_bodies_stay_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
