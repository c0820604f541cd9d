/* Smooth polytope (shapes.md, B1): a smooth maximum over the planes of its faces. */
#include <string.h>
#include "base/lanes.h"
#include "shapes/shape.h"

enum { FACES_MAX = 4096, FACES_ON_STACK = 64 };
/* Smallest ratio of a face's offset to Shape.length. The largest ratio is 1 / MIN_OFFSET_RATIO. */
#define MIN_OFFSET_RATIO 1e-3
/* Offset of the padding faces that fill the last vector register, in units of Shape.length. The weight of these faces
 * is zero. */
#define PADDING_OFFSET 1e6

/* Returns the largest of the four lanes, without unpredictable branches. */
static inline double lanes_largest(Lanes x) {
  Lanes other = {x[2], x[3], x[0], x[1]};
  x = lanes_select(other > x, other, x);
  other = (Lanes){x[1], x[0], x[3], x[2]};
  x = lanes_select(other > x, other, x);
  return x[0];
}

/* Sets out (padded) to the scaled height of the point z above every face i, beta (n_i . z - o_i) / l. Here n_i and o_i
 * are normal and offset, beta the sharpness, l the reference length. Returns the largest. */
static double compute_heights(const Shape* shape, int padded, Vec3 z, Lanes* out) {
  const Lanes *nx = (const Lanes*)shape->nx, *ny = (const Lanes*)shape->ny, *nz = (const Lanes*)shape->nz;
  const Lanes* offset = (const Lanes*)shape->offset;
  Lanes largest = lanes_broadcast(-HUGE_VAL);
  for (int i = 0; i < padded / LANES; i++) {
    out[i] = shape->beta * (nx[i] * z.x + ny[i] * z.y + nz[i] * z.z - offset[i]);
    largest = lanes_select(out[i] > largest, out[i], largest);
  }
  return lanes_largest(largest);
}

/* Numbers of weighted sums over the faces. NORMAL_SUMS: sums of 1 and of the components of the normal n.
 * NORMAL_PRODUCT_SUMS: also the sums of the entries of n n^T. */
enum { NORMAL_SUMS = 4, NORMAL_PRODUCT_SUMS = 10 };
static void sum_normals(const Shape* shape, int padded, const Lanes* weight, double sum[NORMAL_SUMS]) {
  const Lanes *nx = (const Lanes*)shape->nx, *ny = (const Lanes*)shape->ny, *nz = (const Lanes*)shape->nz;
  Lanes part[NORMAL_SUMS] = {{0}, {0}, {0}, {0}};
  for (int i = 0; i < padded / LANES; i++) {
    part[0] += weight[i];
    part[1] += weight[i] * nx[i];
    part[2] += weight[i] * ny[i];
    part[3] += weight[i] * nz[i];
  }
  for (int k = 0; k < NORMAL_SUMS; k++) sum[k] = (part[k][0] + part[k][2]) + (part[k][1] + part[k][3]);
}

static void sum_normal_products(const Shape* shape, int padded, const Lanes* weight, double sum[NORMAL_PRODUCT_SUMS]) {
  const Lanes *nx = (const Lanes*)shape->nx, *ny = (const Lanes*)shape->ny, *nz = (const Lanes*)shape->nz;
  Lanes one = {0}, x = {0}, y = {0}, z = {0}, xx = {0}, xy = {0}, xz = {0}, yy = {0}, yz = {0}, zz = {0};
  for (int i = 0; i < padded / LANES; i++) {
    Lanes wx = weight[i] * nx[i], wy = weight[i] * ny[i], wz = weight[i] * nz[i];
    one += weight[i];
    x += wx;
    y += wy;
    z += wz;
    xx += wx * nx[i];
    xy += wx * ny[i];
    xz += wx * nz[i];
    yy += wy * ny[i];
    yz += wy * nz[i];
    zz += wz * nz[i];
  }
  const Lanes part[NORMAL_PRODUCT_SUMS] = {one, x, y, z, xx, xy, xz, yy, yz, zz};
  for (int k = 0; k < NORMAL_PRODUCT_SUMS; k++) sum[k] = (part[k][0] + part[k][2]) + (part[k][1] + part[k][3]);
}

/* Sets weight to e^(h_i - m) of every face i, where h_i are the heights times beta. Returns m, the largest h_i. */
static double compute_weights(const Shape* shape, Vec3 z, Lanes* weight) {
  double largest = compute_heights(shape, shape->padded_face_count, z, weight);
  for (int i = 0; i < shape->padded_face_count / LANES; i++) weight[i] = lanes_exp_nonpositive(weight[i] - largest);
  return largest;
}

/* The level function is phi = (m + log sum e^(h_i - m)) / beta. h_i is the scaled height above face i
 * (compute_heights), m the largest h_i and beta the sharpness. The gradient is the mean normal, the Hessian beta times
 * the covariance of the normals. */
static ShapeValue evaluate_with_workspace(const Shape* shape, Vec3 z, Lanes* weight) {
  double largest = compute_weights(shape, z, weight), sum[NORMAL_PRODUCT_SUMS], beta = shape->beta;
  sum_normal_products(shape, shape->padded_face_count, weight, sum);
  double inverse = 1 / sum[0];
  Vec3 g = vec3(sum[1] * inverse, sum[2] * inverse, sum[3] * inverse);
  ShapeValue v = {.value = (largest + math_log_above_one(sum[0])) / beta, .gradient = g};
  // clang-format off
  double xx = beta * (sum[4] * inverse - g.x * g.x), xy = beta * (sum[5] * inverse - g.x * g.y),
         xz = beta * (sum[6] * inverse - g.x * g.z), yy = beta * (sum[7] * inverse - g.y * g.y),
         yz = beta * (sum[8] * inverse - g.y * g.z), zz = beta * (sum[9] * inverse - g.z * g.z);
  v.hessian = (Mat3){{{xx, xy, xz},
                      {xy, yy, yz},
                      {xz, yz, zz}}};
  // clang-format on
  return v;
}

ShapeValue polytope_value_and_gradient(const Shape* shape, Vec3 z) {
  Lanes weight[FACES_ON_STACK / LANES];
  if (shape->padded_face_count > FACES_ON_STACK) return polytope_evaluate(shape, z);
  double sum[NORMAL_SUMS], largest = compute_weights(shape, z, weight);
  sum_normals(shape, shape->padded_face_count, weight, sum);
  double inverse = 1 / sum[0];
  return (ShapeValue){.value = (largest + math_log_above_one(sum[0])) / shape->beta,
                      .gradient = vec3(sum[1] * inverse, sum[2] * inverse, sum[3] * inverse)};
}

ShapeValue polytope_evaluate(const Shape* shape, Vec3 z) {
  Lanes weight[FACES_ON_STACK / LANES];
  if (shape->padded_face_count <= FACES_ON_STACK) return evaluate_with_workspace(shape, z, weight);
  Lanes many[FACES_MAX / LANES];
  return evaluate_with_workspace(shape, z, many);
}

/* Computes the derivatives with respect to one parameter of a face: nx, ny, nz or offset as given. phi depends on the
 * parameter through the unit normal, through the offset divided by l, and through l. */
static void face_parameter_derivative(const Shape* shape, Vec3 z, const double* weight, ShapeValue v, int face,
                                      int entry, double* value, Vec3* gradient) {
  double l = shape->length, norm = shape->face_norm[face], w = weight[face];
  /* unit normal of the face, divided by the reference length l */
  Vec3 n = vec3(shape->nx[face], shape->ny[face], shape->nz[face]);
  Vec3 tilt =
      vec3_scale(vec3_sub(n, v.gradient), shape->beta * w); /* derivative of the face's weight with respect to z */
  double unit[3] = {n.x * l, n.y * l, n.z * l};
  /* the height of z above this face changes by up + turn . z; if the length l changes, the heights above all faces
   * change */
  Vec3 normal_change = vec3(0, 0, 0);
  double height_change = 0, length_change = 0;
  if (entry < 3) {
    double axis[3] = {entry == 0, entry == 1, entry == 2};
    double part = unit[entry] / norm;
    normal_change = vec3_scale(
        vec3((axis[0] / norm - unit[0] * part), (axis[1] / norm - unit[1] * part), (axis[2] / norm - unit[2] * part)),
        1 / l);
    height_change = shape->offset[face] * part;
    length_change = face == shape->length_face ? -l * part : 0;
  } else {
    height_change = -1 / (norm * l);
    length_change = face == shape->length_face ? 1 / norm : 0;
  }
  double change = height_change + vec3_dot(normal_change, z);
  *value = w * change;
  *gradient = vec3_add(vec3_scale(tilt, change), vec3_scale(normal_change, w));
  if (length_change == 0) return;
  /* all heights h_i above faces are proportional to 1/l, so the derivative of phi with respect to l is -sum w_i h_i / l
   */
  double mean = 0;
  Vec3 mixed = vec3(0, 0, 0);
  for (int i = 0; i < shape->face_count; i++) {
    Vec3 ni = vec3(shape->nx[i], shape->ny[i], shape->nz[i]);
    double h = vec3_dot(ni, z) - shape->offset[i];
    mean += weight[i] * h;
    mixed = vec3_add_scaled(mixed, weight[i] * h * shape->beta, vec3_sub(ni, v.gradient));
  }
  *value -= length_change * mean / l;
  *gradient = vec3_add_scaled(*gradient, -length_change / l, vec3_add(mixed, v.gradient));
}

/* Computes the derivatives with respect to the sharpness beta. The derivative of phi is (mean height - phi) / beta. The
 * derivative of the gradient is the covariance of height and normal. */
static void beta_derivative(const Shape* shape, Vec3 z, const double* weight, ShapeValue v, double* value,
                            Vec3* gradient) {
  double mean = 0;
  *gradient = vec3(0, 0, 0);
  for (int i = 0; i < shape->face_count; i++) {
    Vec3 n = vec3(shape->nx[i], shape->ny[i], shape->nz[i]);
    double h = vec3_dot(n, z) - shape->offset[i];
    mean += weight[i] * h;
    *gradient = vec3_add_scaled(*gradient, weight[i] * h, vec3_sub(n, v.gradient));
  }
  *value = (mean - v.value) / shape->beta;
}

void polytope_parameter_derivative(const Shape* shape, Vec3 z, int k, double* value, Vec3* gradient) {
  Lanes lanes[FACES_MAX / LANES];
  double weight[FACES_MAX], sum = 0;
  memset(lanes, 0, sizeof(double) * (size_t)shape->padded_face_count);
  ShapeValue v = evaluate_with_workspace(shape, z, lanes);
  memcpy(weight, lanes, sizeof(double) * (size_t)shape->padded_face_count);
  for (int i = 0; i < shape->face_count; i++) sum += weight[i];
  for (int i = 0; i < shape->face_count; i++) weight[i] /= sum;
  if (k == 0)
    beta_derivative(shape, z, weight, v, value, gradient);
  else
    face_parameter_derivative(shape, z, weight, v, (k - 1) / 4, (k - 1) % 4, value, gradient);
}

/* ---------------------------------------------------------------- creation */

static void copy_faces(Shape* shape, const ShapeDefinition* definition) {
  int count = definition->face_count, padded = (count + LANES - 1) / LANES * LANES;
  double* block = MEMORY_NEW(double, 4 * padded + 5 * count);
  shape->face_count = count;
  shape->padded_face_count = padded;
  shape->nx = block;
  shape->ny = block + padded;
  shape->nz = block + 2 * padded;
  shape->offset = block + 3 * padded;
  shape->face_norm = block + 4 * padded;
  shape->given_faces = shape->face_norm + count;
  for (int i = 0; i < count; i++) {
    const double* f = definition->faces[i];
    for (int k = 0; k < 4; k++) shape->given_faces[4 * i + k] = f[k];
    shape->face_norm[i] = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    double offset = f[3] / shape->face_norm[i];
    if (offset > shape->length) {
      shape->length = offset;
      shape->length_face = i;
    }
  }
  if (definition->length > 0) { /* the user gave the length l, so it is not the offset of a face */
    shape->length = definition->length;
    shape->length_face = -1;
  }
  for (int i = 0; i < padded; i++) {
    bool is_face = i < count;
    double s = is_face ? 1 / (shape->face_norm[i] * shape->length) : 0;
    shape->nx[i] = is_face ? definition->faces[i][0] * s : 0;
    shape->ny[i] = is_face ? definition->faces[i][1] * s : 0;
    shape->nz[i] = is_face ? definition->faces[i][2] * s : 0;
    shape->offset[i] = is_face ? definition->faces[i][3] * s : PADDING_OFFSET;
  }
}

/* Returns the distance of the farthest vertex of the polyhedron with sharp edges, which contains the body (B5). By
 * duality, a facet p . m = 1 of the hull of the points n_i / o_i corresponds to the vertex m. Returns 0 if the faces do
 * not enclose the origin. */
static double farthest_vertex_distance(const Shape* shape) {
  Vec3* poles = MEMORY_NEW(Vec3, shape->face_count);
  for (int i = 0; i < shape->face_count; i++)
    poles[i] = vec3_scale(vec3(shape->nx[i], shape->ny[i], shape->nz[i]), shape->length / shape->offset[i]);
  ConvexHull hull;
  double farthest = 0;
  bool solid = hull_create(&hull, poles, shape->face_count) == HULL_OK;
  for (int i = 0; solid && i < hull.triangle_count; i++) {
    Vec3 a = hull.vertices[hull.triangles[i][0]], b = hull.vertices[hull.triangles[i][1]],
         c = hull.vertices[hull.triangles[i][2]];
    Vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    double height = vec3_dot(normal, a);
    solid = height > 1e-12 * vec3_norm(normal) * vec3_norm(a);
    farthest = fmax(farthest, vec3_norm(normal) / height);
  }
  if (hull.vertices) hull_free(&hull);
  memory_free(poles);
  return solid ? farthest * shape->length : 0;
}

const char* polytope_create(Shape* shape, const ShapeDefinition* definition) {
  if (!(definition->beta > 0)) return "sharpness must be > 0";
  if (definition->face_count < 4) return "there must be at least 4 faces";
  if (definition->face_count > FACES_MAX) return "there must be at most 4096 faces";
  for (int i = 0; i < definition->face_count; i++) {
    const double* f = definition->faces[i];
    if (!(f[0] * f[0] + f[1] * f[1] + f[2] * f[2] > 0)) return "the normal of a face must not be zero";
    if (!(f[3] > 0)) return "the offset of a face must be > 0: the origin lies inside";
  }
  if (!(definition->length >= 0)) return "length must be > 0";
  shape->beta = definition->beta;
  copy_faces(shape, definition);
  for (int i = 0; i < shape->face_count; i++)
    if (!(shape->offset[i] >= MIN_OFFSET_RATIO && shape->offset[i] <= 1 / MIN_OFFSET_RATIO))
      return "offsets must be within a factor of 1000 of the length";
  double value_at_origin = polytope_evaluate(shape, vec3(0, 0, 0)).value;
  if (!(value_at_origin < 0))
    return "sharpness is too small: the origin must lie inside (sum of exp(-sharpness offset/length) < 1)";
  shape->outer = farthest_vertex_distance(shape);
  if (!(shape->outer > 0)) return "the faces must enclose the origin";
  shape->inner = -value_at_origin * shape->length; /* lower bound of the radius, because |grad phi| <= 1 / l */
  return NULL;
}
