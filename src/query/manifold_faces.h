/* Contacts of the vertices of a polyhedron with the opposing faces of another polyhedron (X19). Private to query/.
 * Included by manifold_contacts.h, for dual numbers and for plain numbers (DUAL_PLAIN).
 * docs/derivations/law-manifold.md */

/* Face planes of a polyhedron in the frame of body b of the pair. The height of a point x above face i is h =
 * normals[i] . (x - origin) - offsets[i]. */
typedef struct {
  Dual3* normals; /* outward normals of the faces (size: count) */
  Dual* offsets;  /* offsets of the faces (size: count) */
  Dual3 origin;   /* origin of the polyhedron's own frame, expressed in the frame of body b */
  int count;
} FaceSet;

/* Returns true if both bodies are polyhedra whose contacts are computed from faces. */
static bool has_faces(const ManifoldPair* s) {
  bool faces = s->options->mutual;
  for (int k = 0; k < 2; k++) faces = faces && s->body[k]->field_width > 0 && s->body[k]->corners;
  return faces;
}

static FaceSet face_planes_of(ManifoldPair* s, int body) {
  int count = s->body[body]->corners->plane_count;
  FaceSet out = {allocate_from_workspace(s, sizeof(Dual3) * (size_t)count),
                 allocate_from_workspace(s, sizeof(Dual) * (size_t)count), origin_in_b(s, body), count};
  for (int i = 0; i < count; i++) face_plane(s, body, i, &out.normals[i], &out.offsets[i]);
  return out;
}

/* Returns the unit normal at a vertex of a polyhedron, along the sum of the normals of its faces. */
static Dual3 vertex_normal(const ManifoldPair* s, int body, int vertex, const FaceSet* faces) {
  const FieldCorners* corners = s->body[body]->corners;
  Dual3 sum = dual3_constant(vec3(0, 0, 0));
  for (int i = corners->first[vertex]; i < corners->first[vertex + 1]; i++)
    sum = dual3_add(sum, faces->normals[corners->derivatives[i].element]);
  Dual square = dual_add_constant(dual3_dot(sum, sum), NORMAL_FLOOR);
  return dual3_scale(sum, dual_inverse(dual_sqrt(square)));
}

/* The weight with which a face opposes a vertex decreases from 1 to 0 while the cosine between their normals increases
 * from -OPPOSITION_COSINE to OPPOSITION_COSINE. */
#define OPPOSITION_COSINE 0.2

/* Returns the weight, 0 to 1, with which a face opposes a vertex. cosine: cosine of the angle between the two normals.
 * The weight is 1 below -OPPOSITION_COSINE, 0 above OPPOSITION_COSINE, and a polynomial of degree 5 between. */
static Dual opposition_weight(Dual cosine) {
  double u = 0.5 - 0.5 * dual_value(cosine) / OPPOSITION_COSINE;
  if (u <= 0) return dual_constant(0);
  if (u >= 1) return dual_constant(1);
  double value = u * u * u * (10 + u * (-15 + 6 * u)), slope = 30 * u * u * (1 - u) * (1 - u);
  return dual_chain(cosine, value, -0.5 / OPPOSITION_COSINE * slope);
}

/* Sums over faces for the smooth maximum of the heights of a point above them. sum: sum of weight * exp(height - top).
 * normal: sum of weight * exp(height - top) times the face's normal. Heights are in units of the smoothing length; top
 * is the largest height. */
typedef struct {
  Dual sum;
  Dual3 normal;
  double top;
} FaceSum;

static FaceSum face_sum(const FaceSet* faces, const Dual* height, const Dual* weight) {
  FaceSum out = {dual_constant(0), dual3_constant(vec3(0, 0, 0)), -HUGE_VAL};
  for (int i = 0; i < faces->count; i++)
    if (dual_value(weight[i]) > 0) out.top = fmax(out.top, dual_value(height[i]));
  for (int i = 0; i < faces->count; i++) {
    double below = dual_value(height[i]) - out.top;
    if (!(dual_value(weight[i]) > 0) || below < -NEGLIGIBLE_EXPONENT) continue;
    double e = math_exp_nonpositive(below);
    Dual part = dual_mul(weight[i], dual_chain(height[i], e, e));
    out.sum = dual_add(out.sum, part);
    out.normal = dual3_add(out.normal, dual3_scale(faces->normals[i], part));
  }
  return out;
}

/* Returns the smooth maximum of the heights above the faces, the logarithm of the sum of weight * exp(height). Heights
 * are in units of the smoothing length. */
static Dual log_face_sum(const FaceSum* f) {
  double sum = dual_value(f->sum);
  return dual_add_constant(dual_chain(f->sum, math_log(sum), 1 / sum), f->top);
}

static Dual sigmoid(Dual x) {
  double e = math_exp_nonpositive(-fabs(dual_value(x))), value = dual_value(x) > 0 ? 1 / (1 + e) : e / (1 + e);
  return dual_chain(x, value, e / ((1 + e) * (1 + e)));
}

/* Contact of a vertex of one polyhedron with the faces of the other. */
typedef struct {
  Dual distance, activity;
  Dual3 normal; /* outward normal of the polyhedron */
} FaceContact;

/* Returns the contact of a vertex at `place` with a polyhedron. place, normal: position of the vertex and outward unit
 * normal of its own polyhedron there, in the frame of body b. tau: length over which the maximum of the heights above
 * the faces is smoothed [m]. height, weight, rest: workspaces (faces->count). */
static FaceContact vertex_contact(const FaceSet* faces, Dual3 place, Dual3 normal, Dual tau, Dual* height, Dual* weight,
                                  Dual* rest) {
  Dual over = dual_inverse(tau);
  Dual3 arm = dual3_sub(place, faces->origin);
  for (int i = 0; i < faces->count; i++) {
    height[i] = dual_mul(dual_sub(dual3_dot(faces->normals[i], arm), faces->offsets[i]), over);
    weight[i] = opposition_weight(dual3_dot(faces->normals[i], normal));
    rest[i] = dual_add_constant(dual_negate(weight[i]), 1);
  }
  FaceSum opposed = face_sum(faces, height, weight), beside = face_sum(faces, height, rest);
  FaceContact out = {dual_constant(0), dual_constant(0), dual3_constant(vec3(0, 0, 0))};
  if (!(dual_value(opposed.sum) > 0)) return out;
  out.distance = dual_mul(tau, log_face_sum(&opposed));
  Dual square = dual_add_constant(dual3_dot(opposed.normal, opposed.normal), NORMAL_FLOOR);
  out.normal = dual3_scale(opposed.normal, dual_inverse(dual_sqrt(square)));
  out.activity = dual_constant(1);
  if (dual_value(beside.sum) > 0) out.activity = sigmoid(dual_negate(log_face_sum(&beside)));
  return out;
}

/* Writes the contacts of the vertices of a polyhedron with the other polyhedron, numbered from `next`. Keeps positions
 * and depths of the vertices in the workspace. Returns `next` plus the number of contacts. */
static int64_t write_face_contacts(ManifoldPair* s, int body, const FaceSet faces[2], Points* points, int64_t next) {
  const ManifoldBody* surface = s->body[body];
  const FaceSet* other = &faces[1 - body];
  int count = count_points(surface);
  *points = (Points){allocate_from_workspace(s, sizeof(Dual3) * (size_t)count),
                     allocate_from_workspace(s, sizeof(Dual) * (size_t)count)};
  Dual *height = allocate_from_workspace(s, sizeof(Dual) * (size_t)other->count),
       *weight = allocate_from_workspace(s, sizeof(Dual) * (size_t)other->count),
       *rest = allocate_from_workspace(s, sizeof(Dual) * (size_t)other->count);
  Dual tau = dual_times(s->body[1 - body]->field_width, s->smoothing);
  for (int i = 0; i < count; i++) {
    int vertex = surface->only ? surface->only[i] : i;
    points->place[i] = surface_point(s, body, vertex);
    FaceContact c = vertex_contact(other, points->place[i], vertex_normal(s, body, vertex, &faces[body]), tau, height,
                                   weight, rest);
    points->depth[i] = dual_negate(c.distance);
    write_contact(s, body == 0 ? CONTACT_POINT_A : CONTACT_POINT_B, points->place[i], c.distance,
                  from_a_to_b(1 - body, c.normal), c.activity, next++);
  }
  return next;
}
