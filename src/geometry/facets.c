#include "geometry/facets.h"
#include "geometry/point_set.h"
#include <assert.h>
#include <libqhull_r/qhull_ra.h>
#include <stdlib.h>

/* Run of Qhull, and the stream that receives its messages. The messages are discarded, because the caller reports
 * errors. */
typedef struct {
  qhT qh;
  FILE* messages;
  char* text;
  size_t length;
} QhullRun;

static bool qhull_open(QhullRun* run) {
  run->messages = open_memstream(&run->text, &run->length);
  if (!run->messages) return false;
  qh_zero(&run->qh, run->messages);
  return true;
}

static void qhull_close(QhullRun* run) {
  int long_pieces, long_bytes;
  qh_freeqhull(&run->qh, qh_ALL);
  qh_memfreeshort(&run->qh, &long_pieces, &long_bytes);
  fclose(run->messages);
  free(run->text);
}

static void allocate(Facets* facets, qhT* qh) {
  facetT* facet;
  int corner_count = 0;
  facets->facet_count = 0;
  FORALLfacets {
    facets->facet_count++;
    corner_count += qh_setsize(qh, facet->vertices);
  }
  facets->planes = memory_alloc(sizeof *facets->planes * (size_t)facets->facet_count);
  facets->first = MEMORY_NEW(int, facets->facet_count + 1);
  facets->corners = MEMORY_NEW(int, corner_count);
}

/* Copies planes and corner loops. The loops of qh_facet3vertex have the same orientation for all facets, but the
 * orientation is unspecified. orient_loops() corrects it. */
static void copy_facets(Facets* facets, qhT* qh) {
  facetT* facet;
  vertexT *vertex, **vertexp;
  int index = 0, corner = 0;
  FORALLfacets {
    for (int k = 0; k < 3; k++) facets->planes[index][k] = facet->normal[k];
    facets->planes[index][3] = facet->offset;
    setT* loop = qh_facet3vertex(qh, facet);
    /* cppcheck-suppress unknownMacro ; Qhull's loop over a set */
    FOREACHvertex_(loop) facets->corners[corner++] = qh_pointid(qh, vertex->point);
    qh_settempfree(qh, &loop);
    facets->first[++index] = corner;
  }
}

/* Copies the facets with a handler for Qhull's errors, which use longjmp. Returns false after an error. No local
 * variable is used after the jump. */
static bool copy_facets_safely(Facets* facets, qhT* qh) {
  if (setjmp(qh->errexit) != 0) return false;
  qh->NOerrexit = False;
  copy_facets(facets, qh);
  qh->NOerrexit = True;
  return true;
}

static bool run_qhull(Facets* facets, double* points, int count, const char* options) {
  QhullRun run = {0};
  if (!qhull_open(&run)) return false;
  char command[32];
  snprintf(command, sizeof command, "%s", options);
  bool done = qh_new_qhull(&run.qh, 3, count, points, False, command, NULL, run.messages) == 0;
  if (done) {
    allocate(facets, &run.qh);
    done = copy_facets_safely(facets, &run.qh);
  }
  qhull_close(&run);
  return done;
}

/* Returns twice the vector area of a facet polygon. */
static Vec3 polygon_area(const Facets* facets, int facet, const Vec3* points) {
  int first = facets->first[facet], end = facets->first[facet + 1];
  Vec3 origin = points[facets->corners[first]], area = {0, 0, 0};
  for (int i = first + 1; i + 1 < end; i++) {
    Vec3 u = vec3_sub(points[facets->corners[i]], origin);
    Vec3 v = vec3_sub(points[facets->corners[i + 1]], origin);
    area = vec3_add(area, vec3_cross(u, v));
  }
  return area;
}

/* Orients all corner loops counter-clockwise seen from outside. Reverses all loops if most of the area faces inward. */
static void orient_loops(Facets* facets, const Vec3* points) {
  double outward = 0;
  for (int i = 0; i < facets->facet_count; i++) {
    const double* plane = facets->planes[i];
    outward += vec3_dot(polygon_area(facets, i, points), vec3(plane[0], plane[1], plane[2]));
  }
  if (outward > 0) return;
  for (int i = 0; i < facets->facet_count; i++)
    for (int low = facets->first[i], high = facets->first[i + 1] - 1; low < high; low++, high--) {
      int corner = facets->corners[low];
      facets->corners[low] = facets->corners[high];
      facets->corners[high] = corner;
    }
}

static uint64_t edge_key(int from, int to) { return (uint64_t)(uint32_t)from << 32 | (uint32_t)to; }

static int next_corner(const Facets* facets, int facet, int corner) {
  return corner + 1 < facets->first[facet + 1] ? corner + 1 : facets->first[facet];
}

/* Returns true if every directed edge occurs once and its opposite edge occurs too. */
static bool edges_match(const Facets* facets) {
  int count = facets->first[facets->facet_count];
  uint64_t* edges = MEMORY_NEW(uint64_t, count);
  for (int facet = 0; facet < facets->facet_count; facet++)
    for (int i = facets->first[facet]; i < facets->first[facet + 1]; i++)
      edges[i] = edge_key(facets->corners[i], facets->corners[next_corner(facets, facet, i)]);
  qsort(edges, (size_t)count, sizeof *edges, compare_uint64);
  bool closed = true;
  for (int i = 0; i < count && closed; i++) {
    uint64_t opposite = edges[i] << 32 | edges[i] >> 32;
    closed = (i == 0 || edges[i] != edges[i - 1]) &&
             bsearch(&opposite, edges, (size_t)count, sizeof *edges, compare_uint64) != NULL;
  }
  memory_free(edges);
  return closed;
}

static bool is_closed(const Facets* facets) {
  if (facets->facet_count < 4) return false;
  for (int i = 0; i < facets->facet_count; i++)
    if (facets->first[i + 1] - facets->first[i] < 3) return false;
  return edges_match(facets);
}

static HullResult compute_scaled_facets(Facets* facets, const NormalizedSet* set) {
  /* Qhull options. C-0: merge facets that are not clearly convex. QJ: perturb the points instead. Pp: print no messages
   * on precision. */
  static const char* const options[] = {"qhull C-0 Pp", "qhull QJ Pp"};
  for (int i = 0; i < 2; i++) {
    bool done = run_qhull(facets, &set->points[0].x, set->count, options[i]);
    if (done) orient_loops(facets, set->points);
    if (done && is_closed(facets)) return HULL_OK;
    facets_free(facets);
  }
  return HULL_FAILED;
}

/* Transforms planes n . y + o <= 0 from the scaled points y = factor (x - center) to the given points x. */
static void transform_to_input(Facets* facets, const NormalizedSet* set) {
  for (int i = 0; i < facets->facet_count; i++) {
    double* plane = facets->planes[i];
    plane[3] = plane[3] / set->factor - vec3_dot(vec3(plane[0], plane[1], plane[2]), set->center);
  }
  for (int i = 0; i < facets->first[facets->facet_count]; i++) facets->corners[i] = set->source[facets->corners[i]];
}

HullResult facets_create(Facets* facets, const Vec3* points, int count) {
  assert(points || count == 0);
  *facets = (Facets){0};
  NormalizedSet set;
  HullResult result = normalized_set_create(&set, points, count);
  if (result == HULL_OK) result = compute_scaled_facets(facets, &set);
  if (result == HULL_OK) transform_to_input(facets, &set);
  normalized_set_free(&set);
  return result;
}

void facets_free(Facets* facets) {
  memory_free(facets->planes);
  memory_free(facets->corners);
  memory_free(facets->first);
  *facets = (Facets){0};
}

int facets_triangles(const Facets* facets, const Vec3* points, int (*triangles)[3]) {
  assert(triangles || facets->facet_count == 0);
  int count = 0;
  for (int facet = 0; facet < facets->facet_count; facet++) {
    const double* plane = facets->planes[facet];
    int first = facets->first[facet], corner_count = facets->first[facet + 1] - first;
    count += polygon_triangulate(points, facets->corners + first, corner_count, vec3(plane[0], plane[1], plane[2]),
                                 triangles + count);
  }
  return count;
}
