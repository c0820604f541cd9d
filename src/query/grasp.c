/* Grasp quality (V8-V10): the radius of the largest ball of wrenches about the origin that the contacts can resist.
 * docs/derivations/grasp.md */
#include <assert.h>
#include <libqhull_r/qhull_ra.h>
#include <string.h>

#include "linalg/dense.h"
#include "query/query.h"

enum { WRENCH = GRASP_WRENCH, ROWS = WRENCH + 1 };
/* A contact wrench lies in the plane of a facet of the wrenches' convex hull if its distance from the plane is at most
 * this. All eight edges of a friction cone may lie in one plane. */
#define PLANE_TOLERANCE 1e-9
/* Relative threshold below which singular values of the wrenches in a plane count as zero. The singular value normal to
 * the plane is at most about PLANE_TOLERANCE. */
#define SINGULAR_VALUE_MIN 1e-6

/* Two unit vectors perpendicular to a contact normal n, with quantities for their derivatives with respect to n. */
typedef struct {
  Vec3 across[2], axis;
  double length; /* length of the cross product of the normal n and `axis` */
} ContactTangents;

/* Returns two unit vectors perpendicular to the unit normal n: across[0] = vec3_perpendicular(n) and across[1] = n x
 * across[0]. */
static ContactTangents contact_tangents(Vec3 n) {
  ContactTangents f = {.axis = fabs(n.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0)};
  Vec3 side = vec3_cross(n, f.axis);
  f.length = vec3_norm(side);
  f.across[0] = vec3_scale(side, 1 / f.length);
  f.across[1] = vec3_cross(n, f.across[0]);
  return f;
}

static Vec3 edge_force(const Vec3 across[2], Vec3 n, double friction, int edge) {
  assert(edge >= 0 && edge < GRASP_EDGES);
  double sine = math_sin(2 * M_PI * edge / GRASP_EDGES), cosine = math_cos(2 * M_PI * edge / GRASP_EDGES);
  return vec3_add(n, vec3_add(vec3_scale(across[0], friction * cosine), vec3_scale(across[1], friction * sine)));
}

static void set_wrench(Vec3 force, Vec3 torque, double length, double out[WRENCH]) {
  const double six[WRENCH] = {force.x, force.y, force.z, torque.x / length, torque.y / length, torque.z / length};
  memcpy(out, six, sizeof six);
}

static void cone_edge_wrench(const GraspContact* c, const GraspSettings* s, int edge, double out[WRENCH]) {
  ContactTangents f = contact_tangents(c->normal);
  Vec3 force = edge_force(f.across, c->normal, s->friction, edge);
  set_wrench(force, vec3_cross(c->arm, force), s->length, out);
}

/* Sets out to the derivative of a wrench when the contact's arm changes by `arm` and its normal by `normal`. */
static void wrench_derivative(const GraspContact* c, const GraspSettings* s, int edge, Vec3 arm, Vec3 normal,
                              double out[WRENCH]) {
  ContactTangents f = contact_tangents(c->normal);
  Vec3 force = edge_force(f.across, c->normal, s->friction, edge), turned[2];
  turned[0] = vec3_scale(vec3_cross(normal, f.axis), 1 / f.length);
  turned[0] = vec3_add_scaled(turned[0], -vec3_dot(f.across[0], turned[0]), f.across[0]);
  turned[1] = vec3_add(vec3_cross(normal, f.across[0]), vec3_cross(c->normal, turned[0]));
  Vec3 change = edge_force(turned, normal, s->friction, edge);
  set_wrench(change, vec3_add(vec3_cross(arm, force), vec3_cross(c->arm, change)), s->length, out);
}

typedef struct {
  qhT qh;
  FILE* messages;
  char* text;
  size_t length;
} WrenchEngine;

typedef struct {
  double normal[WRENCH],
      distance; /* signed distance of the plane from the origin, negative if the origin lies outside the hull */
  bool found;
} NearestFacet;

static void update_nearest_facet(const facetT* facet, NearestFacet* out) {
  if (facet->upperdelaunay || !(-facet->offset < out->distance)) return;
  out->distance = -facet->offset;
  out->found = true;
  for (int k = 0; k < WRENCH; k++) out->normal[k] = facet->normal[k];
}

static NearestFacet find_nearest_facet(double* wrenches, int count) {
  NearestFacet out = {.distance = HUGE_VAL};
  WrenchEngine engine = {0};
  char command[] = "qhull Qt";
  engine.messages = open_memstream(&engine.text, &engine.length);
  if (!engine.messages) return out;
  qh_zero(&engine.qh, engine.messages);
  if (qh_new_qhull(&engine.qh, WRENCH, count, wrenches, False, command, NULL, engine.messages) == 0) {
    const qhT* qh = &engine.qh;
    const facetT* facet;
    FORALLfacets update_nearest_facet(facet, &out);
  }
  int long_pieces, long_bytes;
  qh_freeqhull(&engine.qh, qh_ALL);
  qh_memfreeshort(&engine.qh, &long_pieces, &long_bytes);
  fclose(engine.messages);
  free(engine.text);
  return out;
}

static double dot(const double* a, const double* b) {
  double sum = 0;
  for (int k = 0; k < WRENCH; k++) sum += a[k] * b[k];
  return sum;
}

/* Computes the weights lambda of the wrenches in the facet's plane (V10). The weights sum to 1, and the weighted mean
 * of the wrenches is the point of the plane nearest to the origin. lambda is the minimum-norm solution of B lambda =
 * (epsilon n, 1), where B has the columns (w, 1) for the wrenches w. n: normal of the facet; epsilon: distance of its
 * plane. */
static void nearest_point_weights(const NearestFacet* facet, const double (*w)[WRENCH], int count, GraspQuality* out) {
  double b[ROWS * GRASP_PLANE], lambda[ROWS + GRASP_PLANE] = {0};
  for (int j = 0; j < count && out->count < GRASP_PLANE; j++)
    if (fabs(dot(w[j], facet->normal) - facet->distance) < PLANE_TOLERANCE) out->wrench[out->count++] = j;
  if (out->count == 0) return;
  for (int i = 0; i < ROWS; i++) {
    for (int k = 0; k < out->count; k++) b[i * out->count + k] = i < WRENCH ? w[out->wrench[k]][i] : 1;
    lambda[i] = i < WRENCH ? facet->distance * facet->normal[i] : 1;
  }
  bool sound = dense_least_squares(ROWS, out->count, b, lambda, SINGULAR_VALUE_MIN) >= 0;
  for (int k = 0; k < out->count; k++) out->weight[k] = sound ? lambda[k] : (double)NAN;
}

int grasp_wrenches(const GraspContact* contacts, int count, const GraspSettings* settings, double (*out)[WRENCH]) {
  assert(count >= 0 && !(settings->friction <= 0) && !(settings->length <= 0));
  assert(contacts || count == 0);
  for (int i = 0; i < count * GRASP_EDGES; i++)
    cone_edge_wrench(&contacts[i / GRASP_EDGES], settings, i % GRASP_EDGES, out[i]);
  return count * GRASP_EDGES;
}

GraspQuality grasp_quality(const GraspContact* contacts, int count, const GraspSettings* settings) {
  assert(count >= 0 && (contacts || count == 0));
  GraspQuality out = {.epsilon = 0};
  double(*w)[WRENCH] = memory_alloc(sizeof(double[WRENCH]) * (size_t)(count * GRASP_EDGES + 1));
  int wrenches = grasp_wrenches(contacts, count, settings, w);
  NearestFacet facet = {.found = false};
  if (wrenches > WRENCH) facet = find_nearest_facet(w[0], wrenches);
  if (facet.found) {
    out.known = true;
    out.epsilon = facet.distance;
    memcpy(out.normal, facet.normal, sizeof out.normal);
    nearest_point_weights(&facet, (const double(*)[WRENCH])w, wrenches, &out);
  }
  memory_free(w);
  return out;
}

double grasp_quality_slope(const GraspQuality* quality, const GraspContact* contacts, const GraspSettings* settings,
                           int contact, Vec3 arm, Vec3 normal) {
  assert(contacts);
  assert(contact >= 0);
  double sum = 0, change[WRENCH];
  for (int k = 0; quality->known && k < quality->count; k++) {
    if (quality->wrench[k] / GRASP_EDGES != contact) continue;
    wrench_derivative(&contacts[contact], settings, quality->wrench[k] % GRASP_EDGES, arm, normal, change);
    sum += quality->weight[k] * dot(quality->normal, change);
  }
  return sum;
}
