/* Tests contact manifolds: bodies with known contacts, derivatives against finite differences, and invariances. */
#include <string.h>
#include "query/query.h"
#include "support/designed.h"
#include "support/bodies.h"
#include "support/sweep.h"

/* Two boxes, or a box and a union. */
typedef struct {
  Field field[2];
  ManifoldBody body[2];
  Pose pose[2];
  ManifoldOptions options;
} Bodies;

static void make_box(Bodies* b, int k, Vec3 size, double smoothing) {
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, size), HULL_OK);
  assert_null(field_of_hull(&b->field[k], &hull, smoothing));
  TriangleSurface surface = surface_of_hull(&hull);
  b->body[k] = manifold_body_create(&b->field[k], &surface);
  hull_free(&hull);
}

static void make_union(Bodies* b, int k, Random* random) {
  b->field[k] = (Field){.kind = FIELD_UNION, .pose = pose_identity(), .smoothing = 0.05, .part_count = 2};
  b->field[k].parts = MEMORY_NEW(Field, 2);
  for (int i = 0; i < 2; i++) {
    ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC, .size = {0.5, 0.4, 0.6}, .exponents = {0.7, 0.5 + 0.3 * i}};
    b->field[k].parts[i] = (Field){.kind = FIELD_SHAPE, .pose = random_pose(random, 0.3)};
    assert_null(shape_create(&b->field[k].parts[i].shape, &form));
  }
  TriangleSurface surface = field_surface(&b->field[k], 1);
  b->body[k] = manifold_body_create(&b->field[k], &surface);
}

static void drop(Bodies* b) {
  for (int k = 0; k < 2; k++) {
    manifold_body_free(&b->body[k]);
    field_free(&b->field[k]);
  }
}

static ManifoldContact* query(const Bodies* b, int64_t* count) {
  *count = manifold_count(&b->body[0], &b->body[1], &b->options);
  ManifoldContact* out = MEMORY_NEW(ManifoldContact, *count);
  manifold_query(&b->body[0], b->pose[0], &b->body[1], b->pose[1], &b->options, out, NULL);
  return out;
}

/* A box of 2 m lies on an equal, parallel box that is shifted aside. One corner of each box is inside the other, and
 * two pairs of edges cross. All four contacts are `depth` deep along z. */
static void boxes_that_overlap_meet_in_four_places_X5_X6(void** state) {
  (void)state;
  const double depth = 0.02;
  Bodies b = {.options = {.smoothing = 0.002, .softness = 0.01, .regularization = 1e-5}};
  for (int k = 0; k < 2; k++) {
    make_box(&b, k, vec3(2, 2, 2), 1e-4);
    b.pose[k] = pose_identity();
  }
  assert_int_equal(b.body[0].edge_count, 12); /* no diagonals */
  b.pose[1].t = vec3(0.5, 0.3, 2 - depth);
  int64_t count;
  ManifoldContact* c = query(&b, &count);
  assert_int_equal(count, 8 + 8 + 2 * 12 * 12);
  const Vec3 wanted[4] = {{1, 1, 1}, {-0.5, -0.7, 1 - depth}, {1, -0.7, 1}, {-0.5, 1, 1}};
  int found[4] = {0}, active = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!(c[i].distance < 0 && c[i].activity > 0.1)) continue;
    active++;
    for (int k = 0; k < 4; k++) {
      Vec3 apart = vec3_sub(c[i].point, wanted[k]);
      if (hypot(apart.x, apart.y) > 2e-3) continue;
      found[k]++;
      compare_near(c[i].distance, -depth, 1e-4, "contact %d: depth", (int)i);
      compare_vec3(c[i].normal, vec3(0, 0, 1), 2e-2, "contact %d: normal", (int)i);
    }
  }
  assert_int_equal(active, 2 + 4); /* a corner each; a crossing is one contact on either edge */
  assert_int_equal(found[0], 1);
  assert_int_equal(found[1], 1);
  assert_int_equal(found[2], 2);
  assert_int_equal(found[3], 2);
  memory_free(c);
  drop(&b);
}

/* Apart, all distances of points are positive, and no pair of edges is active. */
static void boxes_apart_do_not_meet(void** state) {
  (void)state;
  Bodies b = {.options = {.smoothing = 0.002, .softness = 0.01, .regularization = 1e-5}};
  for (int k = 0; k < 2; k++) make_box(&b, k, vec3(2, 2, 2), 1e-4);
  Random random = {71};
  for (int round = 0; round < 20; round++) {
    b.pose[0] = random_pose(&random, 1);
    b.pose[1] = random_pose(&random, 1);
    b.pose[1].t = vec3_add_scaled(b.pose[0].t, 3.6, random_direction(&random));
    int64_t count;
    ManifoldContact* c = query(&b, &count);
    for (int64_t i = 0; i < count; i++) {
      if (c[i].kind <= CONTACT_POINT_B) assert_true(c[i].distance > 0);
      if (c[i].kind > CONTACT_POINT_B) compare_at_most(c[i].activity, 1e-6, "seed 71, %d: contact %d", round, (int)i);
    }
    memory_free(c);
  }
  drop(&b);
}

/* With and without derivatives the same bits, and pairs that are not idle (X13) whether others are culled or not. */
static void values_alone_and_culled_X13_are_the_same(void** state) {
  (void)state;
  Random random = {75};
  int idle = 0, kept = 0;
  for (int round = 0; round < 8; round++) {
    Bodies b = {.options = {.smoothing = 0.02, .softness = 0.02, .regularization = 0.001}};
    if (round % 2) b.options.edges = 9;
    if (round % 4 > 1) b.options.points = 11;
    make_box(&b, 0, vec3(1, 0.8, 1.2), 0.03);
    make_union(&b, 1, &random);
    for (int k = 0; k < 2; k++) b.pose[k] = random_pose(&random, 1);
    b.pose[1].t = vec3_add_scaled(b.pose[0].t, 0.6 + 0.1 * round, random_direction(&random));
    ManifoldContact* c[4];
    int64_t count;
    for (int way = 0; way < 4; way++) {
      b.options.values = way % 2;
      b.options.cull = way > 1;
      c[way] = query(&b, &count);
    }
    for (int64_t i = 0; i < count; i++) {
      const size_t values = offsetof(ManifoldContact, slope);
      assert_memory_equal(&c[0][i], &c[1][i], values);
      assert_memory_equal(&c[2][i], &c[3][i], values);
      if (memcmp(&c[0][i], &c[2][i], values) == 0 && c[0][i].activity > 0) {
        assert_memory_equal(&c[0][i], &c[2][i], sizeof **c);
        kept += c[0][i].kind > CONTACT_POINT_B;
        continue;
      }
      idle++;
      assert_true(c[0][i].kind > CONTACT_POINT_B);
      compare_at_most(c[0][i].activity, 1e-16, "seed 75, %d: contact %d", round, (int)i);
      assert_true(c[2][i].activity == 0);
      compare_vec3(c[2][i].point, c[0][i].point, 0, "seed 75, %d: contact %d", round, (int)i);
      compare_at_most(fabs(c[0][i].distance), c[2][i].distance, "seed 75, %d: contact %d", round, (int)i);
    }
    for (int way = 0; way < 4; way++) memory_free(c[way]);
    drop(&b);
  }
  compare_at_most(1000, idle, "idle contacts");
  compare_at_most(500, kept, "contacts of edges that are not");
}

/* The rows of all contacts, which are freed. */
static void hand_over(ManifoldContact* c, int64_t count, double* y) {
  for (int64_t i = 0; i < count; i++) {
    const double row[MANIFOLD_ROWS] = {c[i].point.x,  c[i].point.y,  c[i].point.z,  c[i].distance,
                                       c[i].normal.x, c[i].normal.y, c[i].normal.z, c[i].activity};
    memcpy(y + i * MANIFOLD_ROWS, row, sizeof row);
  }
  memory_free(c);
}

static bool contacts_there(void* context, const double* x, double* y) {
  Bodies moved = *(Bodies*)context;
  for (int k = 0; k < 2; k++) moved.pose[k] = pose_twisted(moved.pose[k], moved.pose[k].t, x + 6 * k);
  int64_t count;
  ManifoldContact* c = query(&moved, &count);
  hand_over(c, count, y);
  return true;
}

static ManifoldMean mean_of(const Bodies* b) {
  ManifoldMean out;
  manifold_mean(&b->body[0], b->pose[0], &b->body[1], b->pose[1], &b->options, &out, NULL);
  return out;
}

static bool mean_there(void* context, const double* x, double* y) {
  Bodies moved = *(Bodies*)context;
  for (int k = 0; k < 2; k++) moved.pose[k] = pose_twisted(moved.pose[k], moved.pose[k].t, x + 6 * k);
  moved.options.values = true;
  *y = mean_of(&moved).distance;
  return true;
}

/* Compares the mean distance with the listed contacts, culled and unculled, and its derivatives with finite
 * differences. */
static void mean_distance_X14(void** state) {
  (void)state;
  Random random = {77};
  for (int round = 0; round < 6; round++) {
    Bodies b = {.options = {.smoothing = 0.05, .softness = 0.1, .regularization = 0.01}};
    b.options.edges = round % 2 ? 5 : 0;
    b.options.points = round % 3 ? 0 : 7;
    make_box(&b, 0, vec3(1, 0.8, 1.2), 0.03);
    if (round < 3)
      make_box(&b, 1, vec3(0.7, 1.1, 0.9), 0.03);
    else
      make_union(&b, 1, &random);
    for (int k = 0; k < 2; k++) b.pose[k] = random_pose(&random, 1);
    b.pose[1].t = vec3_add_scaled(b.pose[0].t, 0.7, random_direction(&random));
    for (int cull = 0; cull < 2; cull++) {
      b.options.cull = cull;
      int64_t count;
      ManifoldContact* c = query(&b, &count);
      double weighted = 0, activity = 0;
      for (int64_t i = 0; i < count; i++) {
        weighted += c[i].activity * c[i].distance;
        activity += c[i].activity;
      }
      memory_free(c);
      ManifoldMean mean = mean_of(&b);
      compare_near(mean.activity, activity, 1e-12 * activity, "seed 77, %d: activity", round);
      compare_near(mean.distance, weighted / activity, 1e-12, "seed 77, %d: mean", round);
      b.options.values = true;
      assert_true(mean_of(&b).distance == mean.distance);
      b.options.values = false;
      Sweep sweep = {mean_there, &b, 12, 1, NULL, NULL, NULL, 1e-4, 3, 7};
      sweep_expect(&sweep, mean.slope, 1, 1e-6, "seed 77, %d", round);
    }
    drop(&b);
  }
}

/* The choice by depth has a kink where two are equally deep; random poses are off it by more than the steps. */
static void derivatives_X7(void** state) {
  (void)state;
  Random random = {72};
  for (int round = 0; round < 6; round++) {
    Bodies b = {.options = {.smoothing = 0.05, .softness = 0.1, .regularization = 0.01}};
    b.options.edges = round % 2 ? 5 : 0;
    b.options.cull = round == 2 || round == 5;
    b.options.points = round % 3 ? 0 : 7;
    make_box(&b, 0, vec3(1, 0.8, 1.2), 0.03);
    make_box(&b, 1, vec3(0.7, 1.1, 0.9), 0.03);
    if (round >= 3) {
      manifold_body_free(&b.body[1]);
      field_free(&b.field[1]);
      make_union(&b, 1, &random);
      b.options.edges = 4;
    }
    b.pose[0] = random_pose(&random, 1);
    b.pose[1] = random_pose(&random, 1);
    b.pose[1].t = vec3_add_scaled(b.pose[0].t, 0.7, random_direction(&random));
    int64_t count;
    ManifoldContact* c = query(&b, &count);
    double* jacobian = MEMORY_NEW(double, count* MANIFOLD_ROWS * 12);
    for (int64_t i = 0; i < count; i++) memcpy(jacobian + i * MANIFOLD_ROWS * 12, c[i].slope, sizeof c[i].slope);
    Sweep sweep = {contacts_there, &b, 12, (int)count * MANIFOLD_ROWS, NULL, NULL, NULL, 1e-4, 3, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 72, %d", round);
    memory_free(jacobian);
    memory_free(c);
    drop(&b);
  }
}

/* A superquadric whose points are those of a sphere, stretched; parameters may be moved. */
typedef struct {
  ShapeDefinition form[2];
  Pose pose[2];
  ManifoldOptions options;
} Formed;

enum { FORM_PARAMETERS = 5 };

static ManifoldContact* formed_contacts(const Formed* f, int cause, int first, int64_t* count) {
  Field field[2];
  ManifoldBody body[2];
  Vec3* slopes[2];
  ConvexHull sphere;
  assert_int_equal(primitive_sphere(&sphere, 1, 1), HULL_OK);
  for (int k = 0; k < 2; k++) {
    field[k] = (Field){.kind = FIELD_SHAPE, .pose = pose_identity()};
    assert_null(shape_create(&field[k].shape, &f->form[k]));
    TriangleSurface surface = surface_of_hull(&sphere);
    int points = surface.point_count;
    slopes[k] = MEMORY_NEW(Vec3, FORM_PARAMETERS * points);
    for (int i = 0; i < points; i++) {
      surface.points[i] = shape_surface_point(&field[k].shape, sphere.vertices[i]);
      for (int p = 0; p < FORM_PARAMETERS; p++)
        slopes[k][p * points + i] = shape_surface_derivative(&field[k].shape, sphere.vertices[i], p);
    }
    body[k] = manifold_body_create(&field[k], &surface);
    body[k].edge_count = 12; /* enough */
    body[k].point_slopes = slopes[k];
  }
  *count = manifold_count(&body[0], &body[1], &f->options);
  ManifoldContact* out = MEMORY_NEW(ManifoldContact, *count);
  if (cause < 0)
    manifold_query(&body[0], f->pose[0], &body[1], f->pose[1], &f->options, out, NULL);
  else
    manifold_query_by(&body[0], f->pose[0], &body[1], f->pose[1], &f->options, (ManifoldCause)cause, first, out, NULL);
  for (int k = 0; k < 2; k++) {
    manifold_body_free(&body[k]);
    field_free(&field[k]);
    memory_free(slopes[k]);
  }
  hull_free(&sphere);
  return out;
}

/* Inputs: a's parameters, b's, the smoothing. */
static bool formed_there(void* context, const double* x, double* y) {
  Formed moved = *(Formed*)context;
  for (int k = 0; k < 2; k++)
    for (int p = 0; p < FORM_PARAMETERS; p++)
      *shape_definition_parameter(&moved.form[k], p) += x[FORM_PARAMETERS * k + p];
  moved.options.smoothing += x[2 * FORM_PARAMETERS];
  int64_t count;
  ManifoldContact* c = formed_contacts(&moved, -1, 0, &count);
  hand_over(c, count, y);
  return true;
}

static void derivatives_by_shapes_and_smoothing_X8(void** state) {
  (void)state;
  enum { INPUTS = 2 * FORM_PARAMETERS + 1 };
  Formed f = {.form = {{.kind = SMOOTH_SUPERQUADRIC, .size = {0.5, 0.4, 0.6}, .exponents = {0.7, 0.5}},
                       {.kind = SMOOTH_SUPERQUADRIC, .size = {0.3, 0.5, 0.4}, .exponents = {0.6, 0.9}}},
              .options = {.smoothing = 0.05, .softness = 0.1, .regularization = 0.01}};
  Random random = {74};
  for (int k = 0; k < 2; k++) f.pose[k] = random_pose(&random, 0.2);
  f.pose[1].t = vec3_add_scaled(f.pose[0].t, 0.75, random_direction(&random));
  for (int soft = 0; soft < 2; soft++) {
    f.options.points = soft ? 7 : 0;
    f.options.edges = soft ? 5 : 0;
    int64_t count = 0;
    double* jacobian = NULL;
    for (int cause = MANIFOLD_BY_SHAPE_A; cause <= MANIFOLD_BY_SMOOTHING; cause++) {
      ManifoldContact* c = formed_contacts(&f, cause, 0, &count);
      int first = FORM_PARAMETERS * (cause - MANIFOLD_BY_SHAPE_A);
      if (!jacobian) jacobian = MEMORY_NEW(double, count* MANIFOLD_ROWS* INPUTS);
      for (int64_t i = 0; i < count * MANIFOLD_ROWS; i++)
        for (int p = 0; p < (cause == MANIFOLD_BY_SMOOTHING ? 1 : FORM_PARAMETERS); p++)
          jacobian[i * INPUTS + first + p] = c[i / MANIFOLD_ROWS].slope[i % MANIFOLD_ROWS][p];
      memory_free(c);
    }
    Sweep sweep = {formed_there, &f, INPUTS, (int)count * MANIFOLD_ROWS, NULL, NULL, NULL, 1e-4, 3, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 74, soft %d", soft);
    memory_free(jacobian);
  }
}

/* A motion of both together moves everything along; exchanged bodies exchange kinds and turn normals. */
static void invariance(void** state) {
  (void)state;
  Random random = {73};
  Bodies b = {.options = {.smoothing = 0.05, .softness = 0.1, .regularization = 0.01}};
  make_box(&b, 0, vec3(1, 0.8, 1.2), 0.03);
  make_union(&b, 1, &random);
  b.options.edges = 6;
  b.pose[0] = random_pose(&random, 1);
  b.pose[1] = random_pose(&random, 1);
  b.pose[1].t = vec3_add_scaled(b.pose[0].t, 0.6, random_direction(&random));
  Bodies moved = b, turned = b;
  Pose motion = random_pose(&random, 5);
  for (int k = 0; k < 2; k++) {
    moved.pose[k] = pose_mul(motion, b.pose[k]);
    turned.body[k] = b.body[1 - k];
    turned.pose[k] = b.pose[1 - k];
  }
  int64_t count;
  ManifoldContact *c = query(&b, &count), *m = query(&moved, &count), *t = query(&turned, &count);
  int first = b.body[0].point_count, second = b.body[1].point_count;
  for (int i = 0; i < (int)count; i++) {
    compare_vec3(m[i].point, pose_apply(motion, c[i].point), 1e-12, "contact %d moved: point", i);
    compare_vec3(m[i].normal, mat3_mul_vec(motion.r, c[i].normal), 1e-11, "contact %d moved: normal", i);
    compare_near(m[i].distance, c[i].distance, 1e-12, "contact %d moved: distance", i);
    compare_near(m[i].activity, c[i].activity, 1e-11, "contact %d moved: activity", i);
    if (i >= first + second) break;
    const ManifoldContact* other = i < first ? &t[second + i] : &t[i - first];
    compare_vec3(other->point, c[i].point, 1e-12, "contact %d exchanged: point", i);
    compare_vec3(other->normal, vec3_scale(c[i].normal, -1), 1e-11, "contact %d exchanged: normal", i);
    compare_near(other->distance, c[i].distance, 1e-12, "contact %d exchanged: distance", i);
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int side = 0; side < 2; side++) {
        const ManifoldContact *own = &c[first + second + 2 * (6 * i + k) + side],
                              *other = &t[first + second + 2 * (6 * k + i) + 1 - side];
        compare_vec3(other->point, own->point, 1e-11, "edges %d %d exchanged: point", i, k);
        compare_vec3(other->normal, vec3_scale(own->normal, -1), 1e-9, "edges %d %d exchanged: normal", i, k);
        compare_near(other->activity, own->activity, 1e-10, "edges %d %d exchanged: activity", i, k);
      }
  memory_free(c);
  memory_free(m);
  memory_free(t);
  drop(&b);
}

/* Returns a body of one edge with its end points and a dummy field. */
static ManifoldBody lone_edge(const Field* field, Vec3 from, Vec3 to) {
  TriangleSurface surface = {.points = MEMORY_NEW(Vec3, 2), .point_count = 2};
  surface.points[0] = from;
  surface.points[1] = to;
  ManifoldBody body = manifold_body_create(field, &surface);
  memory_free(body.edges);
  body.edges = (int(*)[2])MEMORY_NEW(int, 2);
  body.edges[0][1] = 1;
  body.edge_count = 1;
  return body;
}

/* Least distance of two segments, by a search over one of them and the closest point on the other. */
static double segments_apart(Vec3 a0, Vec3 a1, Vec3 b0, Vec3 b1) {
  double best = HUGE_VAL, low = 0, high = 1;
  for (int round = 0; round < 12; round++) {
    double at = low, step = (high - low) / 20;
    for (int i = 0; i <= 20; i++) {
      Vec3 p = vec3_add_scaled(a0, low + i * step, vec3_sub(a1, a0)), along = vec3_sub(b1, b0);
      double t = fmin(1, fmax(0, vec3_dot(vec3_sub(p, b0), along) / vec3_dot(along, along)));
      double apart = vec3_norm(vec3_sub(p, vec3_add_scaled(b0, t, along)));
      if (apart < best) {
        best = apart;
        at = low + i * step;
      }
    }
    low = fmax(0, at - step);
    high = fmin(1, at + step);
  }
  return best;
}

static void edges_X2_X3_X4_have_their_nearest_points(void** state) {
  (void)state;
  Random random = {74};
  Bodies b = {.options = {.smoothing = 1e-4, .softness = 1e-4, .regularization = 1e-9}};
  make_box(&b, 0, vec3(1, 1, 1), 0.1);
  for (int k = 0; k < 2; k++) b.pose[k] = pose_identity();
  Bodies edges = b;
  for (int round = 0; round < 300; round++) {
    Vec3 end[4];
    for (int i = 0; i < 4; i++) end[i] = random_direction(&random);
    for (int k = 0; k < 2; k++) edges.body[k] = lone_edge(&b.field[0], end[2 * k], end[2 * k + 1]);
    int64_t count;
    ManifoldContact* c = query(&edges, &count);
    assert_int_equal(count, 6);
    double apart = vec3_norm(vec3_sub(c[4].point, c[5].point));
    compare_near(apart, segments_apart(end[0], end[1], end[2], end[3]), 1e-3, "seed 74, %d", round);
    memory_free(c);
    for (int k = 0; k < 2; k++) manifold_body_free(&edges.body[k]);
  }
  drop(&b);
}

/* Returns the witness point of an edge of half length 1, and its derivative by `turn`. The edge is rotated about z by
 * `turn` from the y axis. The other edge lies along x at y = -1.2 (Fig. 3 of the paper). */
static Vec3 turned_witness(Bodies* edges, double turn, Vec3* slope) {
  edges->pose[0].r = mat3_from_quat(quat_about(vec3(0, 0, 1), turn));
  int64_t count;
  ManifoldContact* c = query(edges, &count);
  Vec3 point = vec3(NAN, NAN, NAN);
  for (int64_t i = 0; i < count; i++) {
    if (c[i].kind != CONTACT_EDGE_A) continue;
    point = c[i].point;
    *slope = vec3(c[i].slope[MANIFOLD_POINT][2], c[i].slope[MANIFOLD_POINT + 1][2], c[i].slope[MANIFOLD_POINT + 2][2]);
  }
  memory_free(c);
  return point;
}

static void edges_that_become_parallel_do_not_jump_X2_X3(void** state) {
  (void)state;
  const double parallel = 1.5707963267948966;
  Bodies b = {.options = {.smoothing = 0.01}};
  make_box(&b, 0, vec3(1, 1, 1), 0.1);
  for (int k = 0; k < 2; k++) b.pose[k] = pose_identity();
  Bodies edges = b;
  edges.body[0] = lone_edge(&b.field[0], vec3(0, -1, 0), vec3(0, 1, 0));
  edges.body[1] = lone_edge(&b.field[0], vec3(-2, -1.2, 0), vec3(2, -1.2, 0));
  edges.body[1].field = &b.field[0];
  Vec3 slope = {0, 0, 0};
  /* hardly smoothed: from one end to the other within a thousandth of a turn, as GJK's nearest points would */
  edges.options.softness = 1e-5;
  edges.options.regularization = 1e-9;
  Vec3 before = turned_witness(&edges, parallel - 0.003, &slope),
       after = turned_witness(&edges, parallel + 0.003, &slope);
  compare_vec3(before, vec3(1, -0.003, 0), 1e-3, "before");
  compare_vec3(after, vec3(-1, -0.003, 0), 1e-3, "after");
  /* smoothed: continuous through the centre, with a derivative that agrees with differences everywhere */
  edges.options.softness = 0.05;
  edges.options.regularization = 0.1;
  compare_vec3(turned_witness(&edges, parallel, &slope), vec3(0, 0, 0), 1e-12, "in the middle");
  for (int i = -40; i <= 40; i++) {
    double turn = parallel + 0.01 * i, h = 1e-5;
    Vec3 none, high = turned_witness(&edges, turn + h, &none), low = turned_witness(&edges, turn - h, &none);
    turned_witness(&edges, turn, &slope);
    compare_vec3(slope, vec3_scale(vec3_sub(high, low), 0.5 / h), 1e-6 * (1 + vec3_norm(slope)), "turn %g", turn);
    compare_at_most(vec3_norm(slope), 30, "turn %g: the derivative", turn);
  }
  for (int k = 0; k < 2; k++) manifold_body_free(&edges.body[k]);
  drop(&b);
}

/* With little smoothing the one that is chosen is the deepest. */
static void the_choice_X1_is_the_deepest(void** state) {
  (void)state;
  Bodies b = {.options = {.smoothing = 1e-3, .softness = 0.01, .regularization = 1e-5, .points = 1, .edges = 1}};
  for (int k = 0; k < 2; k++) {
    make_box(&b, k, vec3(2, 2, 2), 1e-4);
    b.pose[k] = pose_identity();
  }
  b.pose[1].t = vec3(0.5, 0.3, 1.9);
  b.pose[1].r = mat3_from_quat(quat_exp(vec3(0.1, 0.2, 0)));
  int64_t count;
  ManifoldContact* c = query(&b, &count);
  assert_int_equal(count, 1 + 1 + 2);
  Vec3 deepest = vec3(0, 0, 0);
  double least = HUGE_VAL;
  for (int i = 0; i < b.body[1].point_count; i++) {
    Vec3 p = pose_apply(b.pose[1], b.body[1].points[i]);
    double value = field_evaluate(&b.field[0], p).value;
    if (value < least) deepest = p;
    least = fmin(least, value);
  }
  compare_vec3(c[1].point, deepest, 1e-9, "deepest vertex of b");
  compare_near(c[1].distance, least, 1e-9, "its depth");
  memory_free(c);
  drop(&b);
}

/* A box of half edge 1, tilted by `tilt`, penetrates one of half edge 2 by 10 mm. Of its four lower corners `points`
 * are kept. Computes the sum and the smallest distance of the chosen contacts' positions in the plane. Returns the
 * number of omitted contacts. */
static int lying_box(Bodies* b, Vec3 tilt, int points, Vec3* sum, double* apart) {
  b->options.points = points;
  b->pose[0] = pose_identity();
  b->pose[1] = (Pose){mat3_from_quat(quat_exp(tilt)), vec3(0.3, -0.2, 2.99)};
  int64_t count = manifold_count(&b->body[0], &b->body[1], &b->options);
  ManifoldContact* c = memory_alloc(sizeof *c * (size_t)count);
  int left_out = manifold_query(&b->body[0], b->pose[0], &b->body[1], b->pose[1], &b->options, c, NULL);
  *sum = vec3(0, 0, 0);
  *apart = HUGE_VAL;
  for (int i = 0; i < points; i++) {
    const ManifoldContact* own = &c[points + i];
    assert_int_equal(own->kind, CONTACT_POINT_B);
    compare_near(own->distance, -0.01, 2e-3 + 2 * vec3_norm(tilt), "contact %d", i);
    *sum = vec3_add(*sum, vec3(own->point.x - 0.3, own->point.y + 0.2, 0));
    for (int k = 0; k < i; k++) *apart = fmin(*apart, vec3_norm(vec3_sub(own->point, c[points + k].point)));
  }
  memory_free(c);
  return left_out;
}

/* Equally deep corners are kept where they are, those that resist tilting: 4 of 4; 3; 2 opposite ones. */
static void equal_depths_X1_keep_corners_that_resist_tilting(void** state) {
  (void)state;
  Bodies b = {.options = {.smoothing = 0.03, .softness = 0.02, .regularization = 1e-3, .edges = 1}};
  make_box(&b, 0, vec3(4, 4, 4), 1e-4);
  make_box(&b, 1, vec3(2, 2, 2), 1e-4);
  Vec3 sum;
  double apart;
  const Vec3 tilts[] = {{0, 0, 0}, {1e-6, -2e-6, 0}, {0, 0, 0.7}, {2e-3, 0, 0}};
  for (int k = 0; k < 4; k++) {
    lying_box(&b, tilts[k], 4, &sum, &apart);
    compare_vec3(sum, vec3(0, 0, 0), 1e-2, "tilt %d: all four about the middle", k);
    compare_near(apart, 2, 1e-3, "tilt %d: corners", k);
    lying_box(&b, tilts[k], 3, &sum, &apart);
    compare_near(apart, 2, 1e-3, "tilt %d: three corners", k);
    lying_box(&b, tilts[k], 2, &sum, &apart);
    if (k < 3) {
      assert_true(lying_box(&b, tilts[k], 2, &sum, &apart) >= 2);
      compare_vec3(sum, vec3(0, 0, 0), 1e-3, "tilt %d: opposite corners", k);
      compare_near(apart, 2 * sqrt(2), 1e-3, "tilt %d: opposite corners", k);
    }
  }
  b.options.edges = 0;
  b.options.points = 0;
  int64_t count;
  ManifoldContact* c = query(&b, &count);
  assert_int_equal(manifold_query(&b.body[0], b.pose[0], &b.body[1], b.pose[1], &b.options, c, NULL), 0);
  memory_free(c);
  drop(&b);
}

/* Points of a shape's mesh against those on the same rays from the centre of a shape whose parameter differs. */
static void points_on_rays_X15(void** state) {
  (void)state;
  Random random = {61};
  for (int kind = 0; kind < SMOOTH_KINDS; kind++) {
    const double faces[6][4] = {{0.9, 0.3, 0.1, 1},    {-1, 0.2, 0.2, 0.9}, {0.1, 1, -0.2, 0.8},
                                {0.2, -0.9, 0.1, 1.1}, {-0.1, 0.2, 1, 1},   {0.3, 0.1, -1, 0.9}};
    double given[6][4];
    ShapeDefinition form = {
        .kind = (SmoothKind)kind, .beta = 10, .exponent = 2.5, .size = {0.8, 1, 1.2, 0.9}, .length = 1.2};
    form.exponents[0] = 0.7;
    form.exponents[1] = 0.6;
    memcpy(given, faces, sizeof given);
    if (kind == SMOOTH_POLYTOPE) form.faces = (const double(*)[4])given;
    if (kind == SMOOTH_POLYTOPE) form.face_count = 6;
    Field field = {.kind = FIELD_SHAPE, .pose = random_pose(&random, 1)};
    assert_null(shape_create(&field.shape, &form));
    TriangleSurface surface = field_surface(&field, 0);
    ManifoldBody body = manifold_body_create(&field, &surface);
    Vec3* slopes = manifold_surface_slopes(&body);
    for (int k = 0; k < shape_definition_parameter_count(&form); k++)
      for (int i = 0; i < body.point_count; i++) {
        Vec3 ray = pose_apply_inverse(field.pose, body.points[i]), there[2];
        double* number = shape_definition_parameter(&form, k);
        const double kept = *number, h = 1e-5;
        for (int way = 0; way < 2; way++) {
          Shape moved;
          *number = kept + (way ? -h : h);
          assert_null(shape_create(&moved, &form));
          there[way] = pose_apply(field.pose, vec3_scale(ray, 1 / shape_gauge_value(&moved, ray)));
          shape_free(&moved);
        }
        *number = kept;
        compare_vec3(slopes[k * body.point_count + i], vec3_scale(vec3_sub(there[0], there[1]), 0.5 / h), 1e-8,
                     "kind %d, parameter %d, point %d", kind, k, i);
      }
    memory_free(slopes);
    manifold_body_free(&body);
    field_free(&field);
  }
}

/* ---------------------------------------------------------------- unions, subtractions, oriented points */

typedef struct {
  FieldKind kind;
  ManifoldBody own, other; /* the own one's points where they are before its parameters move */
  Pose pose[2];
  ManifoldOptions options;
} Designed;

/* Along the gradient onto phi = 0. */
static Vec3 drawn(const Field* field, Vec3 place) {
  for (int step = 0; step < 6; step++) {
    FieldValue v = field_evaluate(field, place);
    place = vec3_add_scaled(place, -v.value / vec3_dot(v.gradient, v.gradient), v.gradient);
  }
  return place;
}

static bool designed_there(void* context, const double* x, double* y) {
  const Designed* d = context;
  Field field = designed_field(d->kind, x);
  ManifoldBody moved = d->own;
  moved.field = &field;
  moved.points = MEMORY_NEW(Vec3, moved.point_count);
  for (int i = 0; i < moved.point_count; i++) moved.points[i] = drawn(&field, d->own.points[i]);
  int64_t count = manifold_count(&moved, &d->other, &d->options);
  ManifoldContact* c = MEMORY_NEW(ManifoldContact, count);
  manifold_query(&d->other, d->pose[1], &moved, d->pose[0], &d->options, c, NULL);
  hand_over(c, count, y);
  memory_free(moved.points);
  field_free(&field);
  return true;
}

static void derivatives_by_fields_X16(void** state) {
  (void)state;
  Random random = {57};
  const ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC, .size = {0.5, 0.4, 0.6}, .exponents = {0.7, 0.5}};
  for (int kind = FIELD_POINTS; kind <= FIELD_SUBTRACTION; kind++) {
    Field field = designed_field((FieldKind)kind, NULL), other = {.kind = FIELD_SHAPE, .pose = pose_identity()};
    assert_null(shape_create(&other.shape, &form));
    TriangleSurface surface = field_surface(&field, 0), beside = field_surface(&other, 0);
    Designed d = {.kind = (FieldKind)kind,
                  .own = manifold_body_create(&field, &surface),
                  .other = manifold_body_create(&other, &beside),
                  .options = {.smoothing = 0.05, .softness = 0.1, .regularization = 0.01, .points = 9, .edges = 4}};
    for (int k = 0; k < 2; k++) d.pose[k] = random_pose(&random, 0.2);
    d.pose[1].t = vec3_add_scaled(d.pose[0].t, 0.8, random_direction(&random));
    Vec3* slopes = manifold_surface_slopes(&d.own);
    d.own.point_slopes = slopes;
    int inputs = field_parameter_count(&field);
    int64_t count = manifold_count(&d.other, &d.own, &d.options);
    assert_true(count > 0);
    double* jacobian = MEMORY_NEW(double, count* MANIFOLD_ROWS* inputs);
    ManifoldContact* c = MEMORY_NEW(ManifoldContact, count);
    for (int first = 0; first < inputs; first += 6) {
      manifold_query_by(&d.other, d.pose[1], &d.own, d.pose[0], &d.options, MANIFOLD_BY_SHAPE_B, first, c, NULL);
      for (int64_t i = 0; i < count * MANIFOLD_ROWS; i++)
        for (int p = 0; p < 6 && first + p < inputs; p++)
          jacobian[i * inputs + first + p] = c[i / MANIFOLD_ROWS].slope[i % MANIFOLD_ROWS][p];
    }
    Sweep sweep = {designed_there, &d, inputs, (int)count * MANIFOLD_ROWS, NULL, NULL, NULL, 1e-3, 4, 7};
    sweep_expect(&sweep, jacobian, 0.1, 1e-6, "seed 57, kind %d", kind);
    memory_free(jacobian);
    memory_free(c);
    memory_free(slopes);
    manifold_body_free(&d.own);
    manifold_body_free(&d.other);
    field_free(&field);
    field_free(&other);
  }
}

/* ---------------------------------------------------------------- by corners */

enum { CORNERS = 8 };
typedef struct {
  ConvexHull hull;
  ManifoldBody other;
  Pose pose[2];
  ManifoldOptions options;
} Cornered;

/* Contacts of the hull with its corners moved, its triangles as they are; its slopes by corners from `first` on, or -1:
 * none. Owned by the caller. */
static ManifoldContact* cornered_contacts(const Cornered* at, const double* x, int first, int64_t* count) {
  Vec3 moved[CORNERS];
  int number[CORNERS];
  for (int i = 0; i < CORNERS; i++) {
    moved[i] = x ? vec3_add(at->hull.vertices[i], vec3_at(x + 3 * (ptrdiff_t)i)) : at->hull.vertices[i];
    number[i] = i;
  }
  ConvexHull hull = at->hull;
  hull.vertices = moved;
  Field field;
  assert_null(field_of_hull(&field, &hull, 0.05));
  TriangleSurface surface = surface_of_hull(&hull);
  ManifoldBody own = manifold_body_create(&field, &surface);
  FieldCorners corners = field_corners_of_hull(&field, &hull, number, CORNERS);
  own.corners = &corners;
  own.point_corner = number;
  *count = manifold_count(&own, &at->other, &at->options);
  ManifoldContact* c = MEMORY_NEW(ManifoldContact, *count);
  if (first < 0)
    manifold_query(&own, at->pose[0], &at->other, at->pose[1], &at->options, c, NULL);
  else
    manifold_query_by(&own, at->pose[0], &at->other, at->pose[1], &at->options, MANIFOLD_BY_SHAPE_A, first, c, NULL);
  field_corners_free(&corners);
  manifold_body_free(&own);
  field_free(&field);
  return c;
}

static bool cornered_there(void* context, const double* x, double* y) {
  int64_t count;
  ManifoldContact* c = cornered_contacts(context, x, -1, &count);
  hand_over(c, count, y);
  return true;
}

static void derivatives_by_corners_X17(void** state) {
  (void)state;
  enum { INPUTS = 3 * CORNERS };
  Random random = {79};
  Vec3 corner[CORNERS];
  for (int i = 0; i < CORNERS; i++) corner[i] = vec3_scale(random_direction(&random), 0.6);
  const ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC, .size = {0.5, 0.4, 0.6}, .exponents = {0.7, 0.5}};
  Field other = {.kind = FIELD_SHAPE, .pose = pose_identity()};
  assert_null(shape_create(&other.shape, &form));
  TriangleSurface beside = field_surface(&other, 0);
  Cornered at = {.other = manifold_body_create(&other, &beside),
                 .options = {.smoothing = 0.05, .softness = 0.1, .regularization = 0.01}};
  assert_int_equal(hull_create(&at.hull, corner, CORNERS), HULL_OK);
  assert_int_equal(at.hull.vertex_count, CORNERS);
  for (int round = 0; round < 2; round++) {
    at.options.points = round ? 7 : 0;
    at.options.edges = round ? 5 : 0;
    for (int k = 0; k < 2; k++) at.pose[k] = random_pose(&random, 0.2);
    at.pose[1].t = vec3_add_scaled(at.pose[0].t, 0.8, random_direction(&random));
    int64_t count = 0;
    double* jacobian = NULL;
    for (int first = 0; first < INPUTS; first += 6) {
      ManifoldContact* c = cornered_contacts(&at, NULL, first, &count);
      if (!jacobian) jacobian = MEMORY_NEW(double, count* MANIFOLD_ROWS* INPUTS);
      for (int64_t i = 0; i < count * MANIFOLD_ROWS; i++)
        for (int p = 0; p < 6; p++) jacobian[i * INPUTS + first + p] = c[i / MANIFOLD_ROWS].slope[i % MANIFOLD_ROWS][p];
      memory_free(c);
    }
    Sweep sweep = {cornered_there, &at, INPUTS, (int)count * MANIFOLD_ROWS, NULL, NULL, NULL, 1e-4, 3, 7};
    sweep_expect(&sweep, jacobian, 1, 1e-6, "seed 79, round %d", round);
    memory_free(jacobian);
  }
  hull_free(&at.hull);
  manifold_body_free(&at.other);
  field_free(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_on_rays_X15),
      cmocka_unit_test(boxes_that_overlap_meet_in_four_places_X5_X6),
      cmocka_unit_test(edges_X2_X3_X4_have_their_nearest_points),
      cmocka_unit_test(edges_that_become_parallel_do_not_jump_X2_X3),
      cmocka_unit_test(the_choice_X1_is_the_deepest),
      cmocka_unit_test(equal_depths_X1_keep_corners_that_resist_tilting),
      cmocka_unit_test(boxes_apart_do_not_meet),
      cmocka_unit_test(derivatives_X7),
      cmocka_unit_test(derivatives_by_shapes_and_smoothing_X8),
      cmocka_unit_test(derivatives_by_fields_X16),
      cmocka_unit_test(derivatives_by_corners_X17),
      cmocka_unit_test(invariance),
      cmocka_unit_test(values_alone_and_culled_X13_are_the_same),
      cmocka_unit_test(mean_distance_X14),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
