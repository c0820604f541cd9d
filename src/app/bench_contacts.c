/* Part of `sdrs bench query`: the queries `manifold` (unions of superquadrics) and `witness` (hulls). */
#include <time.h>
#include "app/bench.h"
#include "query/query.h"

enum { ROUNDS = 7, MANIFOLD_POSES = 4, WITNESS_POSES = 400, PARTS = 18, EDGES = 18, CORNERS = 32 };
/* Radius of a ring of nine superquadrics [m]. A body has two rings. */
#define RING 0.215
#define TWO_PI 6.28318530717958648

static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }
static volatile double result_sink; /* receives the results, so that the compiler does not remove their computation */

static Vec3 random_direction(Random* random) { return vec3_normalized(vec3_random_normal(random)); }

static void create_rings(Field* field) {
  *field = (Field){.kind = FIELD_UNION, .pose = pose_identity(), .smoothing = 0.002, .part_count = PARTS};
  field->parts = MEMORY_NEW(Field, PARTS);
  for (int i = 0; i < PARTS; i++) {
    ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC,
                            .size = {0.12 + 0.01 * (i % 3), 0.1, 0.15 - 0.01 * (i % 4)},
                            .exponents = {0.5 + 0.1 * (i % 4), 0.8 - 0.1 * (i % 5)}};
    double sine, cosine, turn = TWO_PI / 9 * i;
    math_sincos(turn, &sine, &cosine);
    field->parts[i] = (Field){.kind = FIELD_SHAPE};
    field->parts[i].pose.r = mat3_from_quat(quat_about(vec3(0, 0, 1), turn));
    field->parts[i].pose.t = vec3(RING * cosine, RING * sine, i < PARTS / 2 ? 0 : 0.18);
    shape_create(&field->parts[i].shape, &form);
  }
}

typedef struct {
  Field field[2];
  ManifoldBody body[2];
  ManifoldOptions options;
  ManifoldContact* contacts;
  void* workspace;
} Rings;

typedef enum { OUTPUT_VALUES, OUTPUT_DERIVATIVES, OUTPUT_MEAN, OUTPUT_MEAN_DERIVATIVES } ManifoldOutput;

/* Returns the median time per query [ns] for two overlapping bodies side by side. */
static double time_manifold(Rings* r, ManifoldOutput output, bool cull) {
  double seconds[ROUNDS];
  r->options.values = output == OUTPUT_VALUES || output == OUTPUT_MEAN;
  r->options.cull = cull;
  for (int k = 0; k < ROUNDS; k++) {
    double start = processor_time();
    for (int i = 0; i < MANIFOLD_POSES; i++) {
      Pose pose = {mat3_from_quat(quat_about(vec3(1, 0, 0), 0.3 * i)), vec3(0.66, 0.02 * i, 0.05)};
      ManifoldMean mean;
      if (output == OUTPUT_MEAN || output == OUTPUT_MEAN_DERIVATIVES) {
        manifold_mean(&r->body[0], pose_identity(), &r->body[1], pose, &r->options, &mean, r->workspace);
        result_sink = mean.distance;
      } else {
        manifold_query(&r->body[0], pose_identity(), &r->body[1], pose, &r->options, r->contacts, r->workspace);
        result_sink = r->contacts[0].distance;
      }
    }
    seconds[k] = (processor_time() - start) / MANIFOLD_POSES;
  }
  return 1e9 * bench_median(seconds, ROUNDS);
}

static void bench_manifold(void) {
  Rings r = {.options = {.smoothing = 0.005, .softness = 0.02, .regularization = 0.001, .edges = EDGES}};
  for (int k = 0; k < 2; k++) {
    create_rings(&r.field[k]);
    TriangleSurface surface = field_surface(&r.field[k], 1);
    r.body[k] = manifold_body_create(&r.field[k], &surface);
  }
  r.contacts = MEMORY_NEW(ManifoldContact, manifold_count(&r.body[0], &r.body[1], &r.options));
  r.workspace = memory_alloc(manifold_room(&r.body[0], &r.body[1], &r.options));
  for (int cull = 0; cull < 2; cull++) {
    for (ManifoldOutput output = OUTPUT_VALUES; output <= OUTPUT_MEAN_DERIVATIVES; output += 2) {
      double values = time_manifold(&r, output, cull), slopes = time_manifold(&r, output + 1, cull);
      printf("manifold%s%s,superquadrics_%d,superquadrics_%d,%.0f,%.0f,%.0f\n", output == OUTPUT_MEAN ? "_mean" : "",
             cull ? "_culled" : "", r.body[0].point_count, r.body[1].point_count, values, values, slopes);
    }
  }
  for (int k = 0; k < 2; k++) {
    manifold_body_free(&r.body[k]);
    field_free(&r.field[k]);
  }
  memory_free(r.contacts);
  memory_free(r.workspace);
}

typedef struct {
  WitnessBody body[2];
  Pose pose[WITNESS_POSES];
  Vec3 target[2];
} WitnessBench;

/* Measures witness queries. Sets *query_ns to the median time of a query [ns]. Sets *loss_ns to the median time of a
 * loss with its gradient with respect to the poses of both bodies [ns]. warm: true to start each query from the
 * previous result. */
static void time_witness(const WitnessBench* w, bool warm, double* query_ns, double* loss_ns) {
  double query[ROUNDS], loss[ROUNDS];
  const WitnessOptions options = {.sampling = WITNESS_ADAPTIVE};
  Witness* answers = MEMORY_NEW(Witness, WITNESS_POSES);
  for (int k = 0; k < ROUNDS; k++) {
    WitnessCache cache = {.piece = {0, 0}};
    double start = processor_time();
    for (int i = 0; i < WITNESS_POSES; i++)
      answers[i] = witness_query(&w->body[0], pose_identity(), &w->body[1], w->pose[i], &options, w->target,
                                 warm ? &cache : NULL);
    double middle = processor_time();
    for (int i = 0; i < WITNESS_POSES; i++)
      result_sink = witness_loss(&answers[i], pose_identity(), w->pose[i], w->target, 0).gradient[0][0];
    query[k] = (middle - start) / WITNESS_POSES;
    loss[k] = (processor_time() - middle) / WITNESS_POSES;
  }
  memory_free(answers);
  *query_ns = 1e9 * bench_median(query, ROUNDS);
  *loss_ns = 1e9 * bench_median(loss, ROUNDS);
}

static void bench_witness(void) {
  Random random = {2};
  WitnessBench* w = MEMORY_NEW(WitnessBench, 1);
  for (int k = 0; k < 2; k++) {
    Vec3 corner[CORNERS];
    ConvexHull hull;
    for (int i = 0; i < CORNERS; i++) corner[i] = vec3_scale(random_direction(&random), 0.05);
    if (hull_create(&hull, corner, CORNERS) != HULL_OK)
      continue; /* cannot fail: 32 random points on a sphere have a convex hull */
    w->body[k] = witness_body_create(&hull, 1, WITNESS_SURFACE);
    hull_free(&hull);
    w->target[k] = witness_random_point(&w->body[k], &random);
  }
  for (int i = 0; i < WITNESS_POSES; i++)
    w->pose[i] = (Pose){mat3_from_quat(quat_about(vec3(0, 0, 1), 0.005 * i)), vec3(0.12, 2e-5 * i, 0)};
  double cold, warm, loss;
  time_witness(w, false, &cold, &loss);
  time_witness(w, true, &warm, &loss);
  printf("witness,points,points,%.0f,%.0f,%.0f\n", cold, warm, loss);
  for (int k = 0; k < 2; k++) witness_body_free(&w->body[k]);
  memory_free(w);
}

void bench_contacts(void) {
  bench_manifold();
  bench_witness();
}
