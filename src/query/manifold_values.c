/* Contact manifolds without derivatives (X1-X6). The values are bit-identical to the values of manifold.c.
 * docs/derivations/manifold.md */
#define DUAL_PLAIN
#include <assert.h>

#include "query/manifold_pair.h"

static Vec3 point_in_b(const ManifoldPair* s, int body, Vec3 point) {
  return body == 1 ? point : vec3_add(mat3_mul_vec(s->relative.r, point), s->relative.t);
}

/* Returns surface point i of a body, expressed in the frame of body b. */
static Dual3 surface_point(const ManifoldPair* s, int body, int i) {
  return dual3_constant(point_in_b(s, body, s->body[body]->points[i]));
}

static void evaluate_fields(const ManifoldPair* s, int body, const Dual3* places, int count, bool normals,
                            DualField* out) {
  Vec3 local[BLOCK] = {{0, 0, 0}}; /* only the first `count` entries are used */
  FieldValue found[BLOCK];
  for (int i = 0; i < count; i++) local[i] = point_in_body_frame(s, body, dual3_value(places[i]));
  field_evaluate_many(s->body[body]->field, local, count, FIELD_VALUES, found);
  for (int i = 0; i < count; i++) {
    out[i] = (DualField){.value = found[i].value};
    if (!normals) continue;
    Vec3 outward = body == 1 ? found[i].outward : mat3_mul_vec(s->relative.r, found[i].outward);
    out[i].normal = dual3_constant(vec3_scale(outward, 1 / sqrt(vec3_dot(outward, outward) + NORMAL_FLOOR)));
  }
}

static Dual3 origin_in_b(const ManifoldPair* s, int body) {
  return body == 1 ? dual3_constant(vec3(0, 0, 0)) : dual3_constant(s->relative.t);
}

static void face_plane(const ManifoldPair* s, int body, int i, Dual3* normal, Dual* offset) {
  const FieldCorners* corners = s->body[body]->corners;
  *offset = corners->offsets[i];
  *normal = dual3_constant(body == 0 ? mat3_mul_vec(s->relative.r, corners->normals[i]) : corners->normals[i]);
}

static void write_contact(const ManifoldPair* s, ContactKind kind, Dual3 point, Dual distance, Dual3 normal,
                          Dual activity, int64_t at) {
  if (!s->out) {
    add_to_sums(s->sums, distance, activity);
    return;
  }
  ManifoldContact* out = &s->out[at];
  out->kind = kind;
  out->distance = distance;
  out->activity = activity;
  out->point = pose_apply(s->pose_b, dual3_value(point));
  out->normal = mat3_mul_vec(s->pose_b.r, dual3_value(normal));
}

#include "query/manifold_contacts.h"

int manifold_values(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                    const ManifoldOptions* options, ManifoldContact* out, ManifoldMean* mean, void* room) {
  assert(room && (out == NULL) != (mean == NULL));
  ManifoldPair s = create_pair(a, pose_a, b, pose_b, options);
  MeanSums sums = {0};
  s.room = room;
  s.out = out;
  s.sums = &sums;
  write_all_contacts(&s);
  if (mean) *mean = (ManifoldMean){.distance = dual_div(sums.weighted, sums.activity), .activity = sums.activity};
  return s.omitted;
}
