/* Tests volumes of meshes that intersect themselves, are duplicated or inverted, against closed forms of boxes. */
#include "decompose/mesh_repair.h"

#include "support/compare.h"
#include "unit/decompose/decompose_testing.h"

/* h^2 of 512 columns. */
#define COLUMNS_ERROR 1e-5

typedef struct {
  Vec3 low, high; /* the other way round along one axis: inside out */
} Box;

static double volume_of(const char* text, MeshCondition* condition) {
  Mesh mesh = mesh_of_text(text);
  Part part;
  UnitFrame frame;
  assert_true(mesh_repair(&mesh, &part, &frame, condition));
  double volume = part_solid_volume(&part) * pow(frame.scale, 3);
  part_free(&part);
  mesh_free(&mesh);
  return volume;
}

static double volume_of_boxes(const Box* boxes, int count, MeshCondition* condition) {
  Text text = {0};
  for (int k = 0; k < count; k++) add_box(&text, k, boxes[k].low, boxes[k].high);
  double volume = volume_of(text.data, condition);
  text_free(&text);
  return volume;
}

static void overlap_counts_once(void** state) {
  (void)state;
  const Vec3 zero = {0, 0, 0}, one = {1, 1, 1}, half = {0.5, 0.5, 0.5}, more = {1.5, 1.5, 1.5};
  const Vec3 quarter = {0.25, 0.25, 0.25}, most = {0.75, 0.75, 0.75};
  const struct {
    Box boxes[2];
    double volume, error;
    int turned, cavities;
    bool inside_out;
  } CASES[] = {
      {{{zero, one}, {half, more}}, 1.875, COLUMNS_ERROR, 0, 0, false},
      {{{zero, one}, {quarter, most}}, 1, COLUMNS_ERROR, 0, 0, false},
      {{{zero, one}, {vec3(1, 0, 0), vec3(2, 1, 1)}}, 2, 1e-14, 0, 0, false},                       /* they touch */
      {{{zero, one}, {vec3(0.75, 0.25, 0.25), vec3(0.25, 0.75, 0.75)}}, 0.875, 1e-14, 0, 1, false}, /* a void */
      {{{zero, one}, {vec3(1.5, 0.5, 0.5), vec3(0.5, 1.5, 1.5)}}, 1.875, COLUMNS_ERROR, 12, 0, false},
      {{{vec3(1, 0, 0), vec3(0, 1, 1)}, {vec3(1.5, 0.5, 0.5), vec3(0.5, 1.5, 1.5)}}, 1.875, COLUMNS_ERROR, 0, 0, true},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    MeshCondition c;
    compare_near(volume_of_boxes(CASES[i].boxes, 2, &c), CASES[i].volume, CASES[i].error, "case %d", i);
    assert_int_equal(c.turned_triangles, CASES[i].turned);
    assert_int_equal(c.cavities, CASES[i].cavities);
    assert_int_equal(c.inside_out, CASES[i].inside_out);
  }
}

/* Both sides of two boxes that overlap, and every face twice: the same solid. */
static void faces_that_are_drawn_twice(void** state) {
  (void)state;
  const Vec3 low[2] = {{0, 0, 0}, {0.5, 0.5, 0.5}}, high[2] = {{1, 1, 1}, {1.5, 1.5, 1.5}};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    Text text = {0};
    for (int k = 0; k < 4; k++) {
      Vec3 a = low[k / 2], b = high[k / 2];
      bool turn = mirrored && k % 2 == 1;
      add_box(&text, k, vec3(turn ? b.x : a.x, a.y, a.z), vec3(turn ? a.x : b.x, b.y, b.z));
    }
    MeshCondition c;
    compare_near(volume_of(text.data, &c), 1.875, COLUMNS_ERROR, "mirrored %d", mirrored);
    assert_int_equal(c.repeated_triangles, 24); /* whether or not both have the same diagonals */
    text_free(&text);
  }
}

static double common(const Box* boxes, int count, unsigned chosen) {
  Vec3 low = {-9, -9, -9}, high = {9, 9, 9};
  for (int k = 0; k < count; k++)
    if (chosen >> k & 1) low = vec3_max(low, boxes[k].low), high = vec3_min(high, boxes[k].high);
  Vec3 size = vec3_max(vec3_sub(high, low), vec3(0, 0, 0));
  return size.x * size.y * size.z;
}

/* Inclusion and exclusion: sums over all sets of boxes, with alternating signs. */
static void many_boxes(void** state) {
  (void)state;
  enum { BOXES = 5 };
  const uint64_t seed = 20261122;
  Random random = {seed};
  for (int trial = 0; trial < 10; trial++) {
    Box boxes[BOXES];
    double volume = 0;
    for (int k = 0; k < BOXES; k++) {
      Vec3 at = {random_uniform(&random, 0, 1), random_uniform(&random, 0, 1), random_uniform(&random, 0, 1)};
      Vec3 size = {random_uniform(&random, 0, 1), random_uniform(&random, 0, 1), random_uniform(&random, 0, 1)};
      boxes[k] = (Box){at, vec3_add(at, vec3_add_scaled(vec3(0.1, 0.1, 0.1), 1, size))};
    }
    for (unsigned chosen = 1; chosen < 1u << BOXES; chosen++) {
      int members = 0;
      for (int k = 0; k < BOXES; k++) members += (chosen >> k & 1) != 0;
      volume += (members % 2 == 1 ? 1 : -1) * common(boxes, BOXES, chosen);
    }
    MeshCondition c;
    double found = volume_of_boxes(boxes, BOXES, &c);
    compare_near(found, volume, 2e-5 * volume, "seed %llu, trial %d", (unsigned long long)seed, trial);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlap_counts_once),
      cmocka_unit_test(faces_that_are_drawn_twice),
      cmocka_unit_test(many_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
