#include "contact/friction.h"
#include "contact/ring.h"

#include <assert.h>
#include <string.h>

#include "contact/small_matrix.h"

/* The iteration over the slip ends with the first step whose Newton decrement is below SLIP_LAST_STEP * total weight *
 * sqrt(eps). The total weight is the sum of the normal forces, eps the smoothing of friction. Their product is the
 * energy scale of a sticking contact. */
#define SLIP_LAST_STEP 1e-10
#define SLIP_ITERATIONS 200
/* Limit on the rms distance of the contact points from their centre, divided by the radius of the smaller hull. Below
 * ONE_POINT, the contact points count as one point. Planes are solved to a relative accuracy of about 1e-8. */
#define ONE_POINT 1e-6
#define SLIP_HALVINGS 40

/* ---------------------------------------------------------------- friction reference of the next step */

/* Returns true if the clearance of vertex m from the plane is smaller than `support`. Sets *c to the clearance. Sets
 * *arm to the vector from the centre of a ball to its point nearest to the plane, or to zero for other vertices. sigma:
 * -1 for body a, +1 for body b. */
static bool side_is_active(const HullInstance* h, double sigma, const Plane* plane, double support, int m, Vec3* arm,
                           double* c) {
  Vec3 x = pose_apply(h->pose, point_at(h->points, m));
  *arm = vec3(0, 0, 0);
  if (h->rounding > 0) *arm = vec3_scale(plane->n, -sigma * h->rounding / vec3_norm(plane->n));
  *c = sigma * (vec3_dot(plane->n, vec3_sub(vec3_add(x, *arm), plane->origin)) + plane->o);
  return *c < support;
}

int friction_count(const HullInstance* a, const HullInstance* b, double support, const Plane* plane) {
  const HullInstance* hull[2] = {a, b};
  int count = 0;
  for (int side = 0; side < 2; side++) {
    const HullInstance* h = hull[side];
    double sigma = side == 0 ? -1 : 1;
    Vec3 n = vec3_scale(mat3_tmul_vec(h->pose.r, plane->n), sigma);
    double o = sigma * (vec3_dot(plane->n, vec3_sub(h->pose.t, plane->origin)) + plane->o);
    if (h->rounding > 0) o -= h->rounding * vec3_norm(plane->n);
    int near = 0; /* counts with a slightly larger support than friction_lag, so that the memory suffices also if
                     rounding differs */
    for (int m = 0; m < h->points.count; m++)
      near += n.x * h->points.x[m] + n.y * h->points.y[m] + n.z * h->points.z[m] + o < 1.001 * support;
    count += near;
    Circle rings[ROUND_RINGS_MAX];
    ring_world(h, plane->origin, rings);
    for (int k = 0; k < h->ring_count; k++)
      if (ring_position(&rings[k], h->rounding, sigma, plane->n, plane->o).min_clearance < 1.001 * support)
        count += RING_POINTS;
  }
  return count;
}

static double smoothed(double force, double support) {
  double floor = FRICTION_WEIGHT_FLOOR / (support * support);
  return sqrt(force * force + floor * floor) - floor;
}

static double smoothed_weight(const HullInstance* h, double support, double c, double length) {
  return smoothed(-vertex_barrier(h, support, c).first * length, support);
}

/* Sets *e1 and *e2 to unit tangents with e1 x e2 = n. Do not use vec3_perpendicular to choose e1: stored states contain
 * slips in the basis that this function chooses. */
static void tangent_basis(Vec3 n, Vec3* e1, Vec3* e2) {
  Vec3 other = fabs(n.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0);
  *e1 = vec3_normalized(vec3_cross(other, n));
  *e2 = vec3_cross(n, *e1);
}

/* (friction.md, F10) Writes the friction points of all circles of a hull to `out`. The force of a circle is divided
 * equally among its points. Returns the number of points written. */
static int lag_rings(const HullInstance* h, double sigma, double support, const Plane* plane, FrictionVertex* out) {
  int count = 0;
  double length = vec3_norm(plane->n);
  for (int k = 0; k < h->ring_count; k++) {
    RingLoad load = ring_load(h, k, sigma, support, plane);
    if (!(load.force > 0)) continue;
    double weight = smoothed(load.force * length / RING_POINTS, support), radius = load.ring.radius;
    Vec3 arm = vec3_scale(load.mean, radius);
    arm = vec3_add_scaled(arm, -sigma * h->rounding / length, plane->n);
    for (int j = 0; j < RING_POINTS; j++) {
      Vec3 radial = mat3_mul_vec(h->pose.r, ring_radius(&h->rings[k], j));
      out[count++] = (FrictionVertex){.local = h->rings[k].center,
                                      .arm = vec3_add_scaled(arm, radius * load.spread, radial),
                                      .weight = weight,
                                      .radius = radius,
                                      .vertex = k};
    }
  }
  return count;
}

/* Writes the contact points of one side to `out`, with local position, arm and weight. They are the active vertices and
 * the friction points of circles. Returns the number of points written. */
static int lag_side(const HullInstance* h, double sigma, double support, const Plane* plane, FrictionVertex* out) {
  int count = 0;
  double length = vec3_norm(plane->n);
  for (int m = 0; m < h->points.count; m++) {
    Vec3 arm;
    double c;
    if (!side_is_active(h, sigma, plane, support, m, &arm, &c) || !(c > 0)) continue;
    Vec3 local = {h->points.x[m], h->points.y[m], h->points.z[m]};
    out[count++] =
        (FrictionVertex){.local = local, .arm = arm, .weight = smoothed_weight(h, support, c, length), .vertex = m};
  }
  return count + lag_rings(h, sigma, support, plane, out + count);
}

/* (F11) For direction-dependent friction, multiplies the two tangents of *lag by the matrix S (FrictionDirection). If
 * the friction axis is normal to the plane, S is the identity and the tangents do not change. */
static void direct_basis(FrictionLag* lag, const FrictionDirection* direction, const HullInstance* body) {
  double stretch = direction->ratio - 1;
  lag->direction = *direction;
  lag->axis = mat3_mul_vec(body->pose.r, direction->axis);
  Vec3 p = vec3_add_scaled(lag->axis, -vec3_dot(lag->normal, lag->axis), lag->normal);
  lag->basis[0] = lag->e1;
  lag->basis[1] = lag->e2;
  lag->e1 = vec3_add_scaled(lag->e1, stretch * vec3_dot(p, lag->e1), p);
  lag->e2 = vec3_add_scaled(lag->e2, stretch * vec3_dot(p, lag->e2), p);
}

/* Returns the vector b_i with FrictionVertex.position[i] = b_i . (x^t - c), for the contact point x^t at t and the
 * centre c of the contact (F11). Over a half-space b_i is the tangent e_i. Between two hulls with direction-dependent
 * friction, b_i is adj(S) times the tangent before its multiplication by S (FrictionDirection). This gives n x position
 * = S (n x (x^t - c)). */
static Vec3 arm_basis(const FrictionLag* lag, int i) {
  if (!lag->directed || lag->half_space) return i == 0 ? lag->e1 : lag->e2;
  double across = vec3_dot(lag->basis[0], lag->e2), along = vec3_dot(lag->basis[1 - i], i == 0 ? lag->e2 : lag->e1);
  return vec3_add_scaled(vec3_scale(lag->basis[i], along), -across, lag->basis[1 - i]);
}

static bool is_round(const HullInstance* h) { return h->rounding > 0 || h->ring_count > 0; }

bool friction_centers(const FrictionLag* lag, const HullInstance* a, const HullInstance* b, int side) {
  if (lag->count[0] == 0 || lag->count[1] == 0 || is_round(a) == is_round(b)) return true;
  return is_round(side == 0 ? a : b);
}

static void centre_on_weights(FrictionLag* lag, const HullInstance* a, const HullInstance* b, Vec3 origin) {
  int count = lag->count[0] + lag->count[1];
  Vec3 sum = {0, 0, 0};
  double weight = 0, weight_sum = 0;
  for (int k = 0; k < count; k++) {
    int side = k >= lag->count[0];
    const HullInstance* h = side == 0 ? a : b;
    weight += lag->vertices[k].weight;
    if (!friction_centers(lag, a, b, side)) continue;
    Vec3 x = vec3_sub(vec3_add(pose_apply(h->pose, lag->vertices[k].local), lag->vertices[k].arm), origin);
    sum = vec3_add_scaled(sum, lag->vertices[k].weight, x);
    weight_sum += lag->vertices[k].weight;
  }
  lag->center = weight_sum > 0 ? vec3_add_scaled(origin, 1.0 / weight_sum, sum) : origin;
  lag->total_weight = (lag->half_space ? lag->ground_weight : 0) + weight;
  double spread = 0;
  Vec3 arm1 = arm_basis(lag, 0), arm2 = arm_basis(lag, 1);
  for (int k = 0; k < count; k++) {
    const HullInstance* h = k < lag->count[0] ? a : b;
    /* over a half-space, slip is measured from the poses FrictionLag.start */
    const Pose* pose = lag->half_space ? &lag->start[0] : &h->pose;
    Vec3 y = vec3_sub(vec3_add(pose_apply(*pose, lag->vertices[k].local), lag->vertices[k].arm), lag->center);
    lag->vertices[k].position[0] = vec3_dot(arm1, y);
    lag->vertices[k].position[1] = vec3_dot(arm2, y);
    lag->vertices[k].height = vec3_dot(lag->normal, y);
    spread += lag->vertices[k].weight * (lag->vertices[k].position[0] * lag->vertices[k].position[0] +
                                         lag->vertices[k].position[1] * lag->vertices[k].position[1]);
  }
  double length = weight > 0 ? sqrt(spread / weight) : 0;
  /* If all contact points coincide up to rounding, they do not determine the spin (SDRS Lemma VIII.2). */
  bool one_point = !(length > ONE_POINT * (b->half_space || a->radius < b->radius ? a->radius : b->radius));
  lag->order = b->half_space || one_point ? 2 : 3;
  lag->length = one_point ? 1.0 : length;
  for (int k = 0; k < count; k++)
    for (int i = 0; i < 2; i++) lag->vertices[k].scaled[i] = lag->vertices[k].position[i] / lag->length;
}

/* Returns the rotation vector of `rotation`, which is a rotation matrix or an affine map near one. The length of the
 * vector is at most pi. */
static Vec3 rotation_vector(Mat3 rotation) {
  Vec3 sine = vec3_scale(mat3_axial(rotation), 0.5);
  double s = vec3_norm(sine), c = 0.5 * (mat3_trace(rotation) - 1);
  return vec3_scale(sine, s > 0 ? math_atan2(s, c) / s : 1);
}

/* Sets `local` of each contact point to the position of the point in the frame of its body, and `arm` to zero. Used if
 * the normal force of the same step limits friction. pose: poses of both bodies. */
static void fix_arms(FrictionLag* lag, const Pose* pose) {
  for (int k = 0; k < lag->count[0] + lag->count[1]; k++) {
    FrictionVertex* v = &lag->vertices[k];
    v->local = vec3_add(v->local, mat3_tmul_vec(pose[k >= lag->count[0]].r, v->arm));
    v->arm = vec3(0, 0, 0);
  }
}

Vec3 friction_ring_axis(const HullInstance* h) {
  return h->ring_count > 0 ? mat3_mul_vec(h->pose.r, h->rings[0].axis) : vec3(0, 0, 0);
}

RingArmWeight friction_mean_arm_weight(const HullInstance* h, double cosine, double support) {
  double radius = ring_profile(h).largest, square = 1 - cosine * cosine;
  return radius > 0 ? ring_arm_weight(square, radius, support) : (RingArmWeight){square, 1, 0, 0};
}

/* (F13) Sets lag->mean_arm[side] and lag->mean_radius[side] to the weighted means of the arms and radii of each side.
 * Sets lag->arm[side] to the part of the mean arm that does not rotate with the body. All are zero if all arms are
 * zero.
 */
static void mean_arms(FrictionLag* lag, const HullInstance* const hull[2], double support) {
  const FrictionVertex* v = lag->vertices;
  Vec3 n = lag->normal;
  for (int side = 0; side < 2; side++) {
    Vec3 sum = {0, 0, 0};
    double weight = 0, radius_sum = 0;
    for (int k = 0; k < lag->count[side]; k++, v++) {
      sum = vec3_add_scaled(sum, v->weight, v->arm);
      weight += v->weight;
      radius_sum += v->weight * v->radius;
    }
    const RingProfile profile = ring_profile(hull[side]);
    lag->mean_arm[side] = weight > 0 ? vec3_scale(sum, 1 / weight) : vec3(0, 0, 0);
    lag->mean_radius[side] = profile.taper != 0 && weight > 0 ? radius_sum / weight : profile.largest;
    double flat = vec3_dot(n, friction_ring_axis(hull[side])), along = vec3_dot(n, lag->mean_arm[side]);
    double upright = friction_mean_arm_weight(hull[side], flat, support).value;
    lag->arm[side] = vec3_add_scaled(vec3_scale(lag->mean_arm[side], upright), (1 - upright) * along, n);
  }
}

static bool has_arm(const FrictionLag* lag, int side) {
  Vec3 e = lag->arm[side];
  return e.x != 0 || e.y != 0 || e.z != 0;
}

/* Sets lag->aim to the expected rotations of both bodies, and lag->roll to the rotation vectors from the rotations at t
 * to the expected rotations (F13). For a body without an arm, lag->aim is the rotation at t. Also sets lag->shift and
 * lag->shifted. */
static void aim_at(FrictionLag* lag, const Pose* const aim[2], const RollShift* const shift[2],
                   const HullInstance* const hull[2]) {
  for (int side = 0; side < 2; side++) {
    Mat3 start = lag->start[side].r;
    bool aimed = aim && aim[side] && lag->aimed && (side == 0 ? lag->half_space || has_arm(lag, 0) : has_arm(lag, 1));
    lag->aim[side] = aimed ? aim[side]->r : start;
    lag->shifted[side] = aimed && shift && shift[side] && (hull[side]->rounding > 0 || hull[side]->ring_count > 0);
    lag->shift[side] = (RollShift){0};
    if (lag->shifted[side]) lag->shift[side] = *shift[side];
    lag->roll[side] = aimed ? rotation_vector(mat3_mul(lag->aim[side], mat3_transpose(start))) : vec3(0, 0, 0);
  }
}

RingDrift friction_ring_drift(const FrictionLag* lag, int side, const HullInstance* hull, double support) {
  assert(side == 0 || side == 1);
  if (!lag->aimed || lag->count[side] == 0) return (RingDrift){.acts = false};
  const Mat3 turn[2] = {lag->start[side].r, lag->aim[side]};
  return ring_drift(hull, vec3_scale(lag->normal, side == 0 ? 1 : -1), lag->roll[side], turn, support);
}

void friction_lag(const HullInstance* a, const HullInstance* b, double support, const Plane* plane, const Pose* begin,
                  const Pose* const aim[2], const RollShift* const shift[2], const FrictionDirection* direction,
                  FrictionVertex* vertices, FrictionLag* lag) {
  double length = vec3_norm(plane->n);
  lag->vertices = vertices;
  lag->normal = vec3_scale(plane->n, 1.0 / length);
  tangent_basis(lag->normal, &lag->e1, &lag->e2);
  lag->directed = direction != NULL;
  if (direction) direct_basis(lag, direction, direction->side == 0 ? a : b);
  lag->half_space = b->half_space;
  lag->start[0] = begin ? begin[0] : a->pose;
  lag->start[1] = begin ? begin[1] : b->pose;
  lag->count[0] = lag_side(a, -1.0, support, plane, vertices);
  lag->count[1] = b->half_space ? 0 : lag_side(b, 1.0, support, plane, vertices + lag->count[0]);
  lag->aimed = aim && aim[0] && !begin;
  if (begin) fix_arms(lag, (const Pose[]){a->pose, b->pose});
  lag->ground_weight = 0;
  if (b->half_space) {
    double c = plane_clearance(b, 1.0, *plane);
    if (c < support && c > 0) lag->ground_weight = smoothed_weight(b, support, c, length);
  }
  centre_on_weights(lag, a, b, plane->origin);
  const HullInstance* hull[2] = {a, b};
  mean_arms(lag, hull, support);
  aim_at(lag, aim, shift, hull);
  for (int side = 0; side < 2; side++) {
    RingDrift drift = friction_ring_drift(lag, side, hull[side], support);
    lag->drift[side] = drift.displacement;
    lag->drift_weight[side] = drift.weight;
  }
  for (int side = 0; side < 2; side++)
    lag->from[side] = begin ? pose_apply(begin[side], pose_apply_inverse(hull[side]->pose, lag->center)) : lag->center;
  lag->slip[0] = lag->slip[1] = lag->slip[2] = 0;
  friction_set_elastic(lag, vec3(0, 0, 0));
}

void friction_set_elastic(FrictionLag* lag, Vec3 elastic) {
  lag->elastic = elastic;
  lag->offset[0] = vec3_dot(lag->e1, elastic);
  lag->offset[1] = vec3_dot(lag->e2, elastic);
}

/* ---------------------------------------------------------------- slip (u, omega) that minimises the friction energy
 */

/* Sums over the contact points. w: weight of a point; r: its slip; rho = sqrt(|r|^2 + eps) with the smoothing eps; q =
 * w / rho; y: position of the point in the contact plane divided by FrictionLag.length. J = [-1 0 y2; 0 -1 -y1] is the
 * derivative of r with respect to (u1, u2, omega length). */
typedef struct {
  double energy;        /* sum w (rho - sqrt(eps)) */
  double gradient[3];   /* with respect to (u1, u2, omega length) */
  double q, qy[2], qyy; /* sum q, sum q y and sum q |y|^2: entries of the majorant sum q J^T J of the Hessian */
  double radial[6]; /* sum q / rho^2 (J^T r)(J^T r)^T, lower triangle by rows; the Hessian is the majorant minus this
                       sum */
} SlipEvaluation;

static inline void slip_of(const FrictionVertex* v, const double s[3], double r[2]) {
  r[0] = v->velocity[0] - s[0] + s[2] * v->scaled[1];
  r[1] = v->velocity[1] - s[1] - s[2] * v->scaled[0];
}

/* Returns the energy w (rho - root) of a contact point without cancellation, with rho = sqrt(|r|^2 + smoothing) and
 * root = sqrt(smoothing). w: weight; r: slip. */
static inline double energy_of(double w, const double r[2], double smoothing, double root) {
  double r2 = r[0] * r[0] + r[1] * r[1];
  return w * r2 / (sqrt(r2 + smoothing) + root);
}

/* Terms of one contact point with the weight w and rho = sqrt(|r|^2 + eps): slip r, q = w / rho, p = q / rho^2, and the
 * energy w (rho - sqrt(eps)). */
typedef struct {
  double r[2], q, p, energy;
} SlipTerms;

static inline SlipTerms terms_of(double w, double r0, double r1, double smoothing, double root) {
  double r2 = r0 * r0 + r1 * r1, rho = sqrt(r2 + smoothing), inverse = 1.0 / rho, q = w * inverse;
  return (SlipTerms){{r0, r1}, q, q * inverse * inverse, w * r2 / (rho + root)};
}

static inline void add_slip(SlipEvaluation* e, const SlipTerms* t, const double y[2]) {
  const double* r = t->r;
  double q = t->q, p = t->p, spin = y[1] * r[0] - y[0] * r[1];
  e->energy += t->energy;
  e->gradient[0] -= q * r[0];
  e->gradient[1] -= q * r[1];
  e->gradient[2] += q * spin;
  e->q += q;
  e->qy[0] += q * y[0];
  e->qy[1] += q * y[1];
  e->qyy += q * (y[0] * y[0] + y[1] * y[1]);
  double a = p * r[0], b = p * r[1], c = p * spin;
  e->radial[0] += a * r[0];
  e->radial[1] += a * r[1];
  e->radial[2] += b * r[1];
  e->radial[3] -= a * spin;
  e->radial[4] -= b * spin;
  e->radial[5] += c * spin;
}

/* Returns the slip energy of the contact points, as evaluate_slip does, but without derivatives. */
static double slip_energy(const FrictionLag* lag, const double s[3], double smoothing) {
  double r[2], energy = 0, root = sqrt(smoothing);
  int count = lag->count[0] + lag->count[1];
  for (int k = 0; k < count; k++) {
    const FrictionVertex* v = &lag->vertices[k];
    slip_of(v, s, r);
    energy += energy_of(v->weight, r, smoothing, root);
  }
  if (lag->half_space) energy += energy_of(lag->ground_weight, (const double[2]){-s[0], -s[1]}, smoothing, root);
  return energy;
}

/* Number of contact points whose square roots and quotients are computed together. The terms of these points are then
 * added one by one, in the order of the points. */
enum { SLIP_CHUNK = 8 };

static void evaluate_slip(const FrictionLag* lag, const double s[3], double smoothing, SlipEvaluation* out) {
  SlipEvaluation e = {0};
  static const double centre[2] = {0, 0};
  double r[2], root = sqrt(smoothing);
  int count = lag->count[0] + lag->count[1];
  for (int first = 0; first < count; first += SLIP_CHUNK) {
    const FrictionVertex* v = &lag->vertices[first];
    int length = count - first < SLIP_CHUNK ? count - first : SLIP_CHUNK;
    double r0[SLIP_CHUNK], r1[SLIP_CHUNK], q[SLIP_CHUNK], p[SLIP_CHUNK], energy[SLIP_CHUNK];
    for (int k = 0; k < length; k++) {
      slip_of(&v[k], s, r);
      SlipTerms t = terms_of(v[k].weight, r[0], r[1], smoothing, root);
      r0[k] = t.r[0];
      r1[k] = t.r[1];
      q[k] = t.q;
      p[k] = t.p;
      energy[k] = t.energy;
    }
    for (int k = 0; k < length; k++) add_slip(&e, &(SlipTerms){{r0[k], r1[k]}, q[k], p[k], energy[k]}, v[k].scaled);
  }
  if (lag->half_space) {
    SlipTerms t = terms_of(lag->ground_weight, -s[0], -s[1], smoothing, root);
    add_slip(&e, &t, centre);
  }
  *out = e;
}

/* Sets the lower triangle of `h` to the Hessian of the slip energy if newton is true. Otherwise sets it to the
 * majorant, a larger matrix with which every step lowers the energy. */
static void slip_matrix(const SlipEvaluation* e, bool newton, double h[4][4]) {
  double part = newton ? 1.0 : 0.0;
  h[0][0] = e->q - part * e->radial[0];
  h[1][0] = -part * e->radial[1];
  h[1][1] = e->q - part * e->radial[2];
  h[2][0] = -e->qy[1] - part * e->radial[3];
  h[2][1] = e->qy[0] - part * e->radial[4];
  h[2][2] = e->qyy - part * e->radial[5];
}

/* Computes the result of slip_step. A call with a constant `order` lets the compiler unroll the loops. */
static inline double slip_step_of(const SlipEvaluation* e, int order, bool newton, double step[3]) {
  double h[4][4];
  slip_matrix(e, newton, h);
  for (int k = 0; k < order; k++) step[k] = -e->gradient[k];
  small_cholesky(order, h);
  small_forward(order, h, step);
  double decrement = 0;
  for (int k = 0; k < order; k++) decrement += step[k] * step[k];
  small_backward(order, h, step);
  for (int k = order; k < 3; k++) step[k] = 0;
  return decrement;
}

/* Sets step[3] to -H^-1 g with the gradient g of the slip energy. H is the Hessian if newton is true, otherwise the
 * majorant of the Hessian. Returns the decrement g^T H^-1 g. */
static double slip_step(const SlipEvaluation* e, int order, bool newton, double step[3]) {
  return order == 2 ? slip_step_of(e, 2, newton, step) : slip_step_of(e, 3, newton, step);
}

/* Sets lag->slip to the mean of two velocities, the weighted mean velocities of the contact points of each side. This
 * is the exact minimiser if each side slides as a whole and both sides have the same total weight. */
static void first_guess(FrictionLag* lag) {
  double u[2][2] = {{0}}, spin[2] = {0}, weight[2] = {0}, inertia[2] = {0};
  int count = lag->count[0] + lag->count[1];
  for (int k = 0; k < count; k++) {
    const FrictionVertex* v = &lag->vertices[k];
    int side = k >= lag->count[0];
    weight[side] += v->weight;
    for (int i = 0; i < 2; i++) u[side][i] += v->weight * v->velocity[i];
    spin[side] += v->weight * (v->position[0] * v->velocity[1] - v->position[1] * v->velocity[0]);
    inertia[side] += v->weight * (v->position[0] * v->position[0] + v->position[1] * v->position[1]);
  }
  for (int i = 0; i < 2; i++)
    lag->slip[i] = 0.5 * ((weight[0] > 0 ? u[0][i] / weight[0] : 0) + (weight[1] > 0 ? u[1][i] / weight[1] : 0));
  lag->slip[2] = 0;
  if (lag->order == 3)
    lag->slip[2] =
        0.5 * lag->length * ((inertia[0] > 0 ? spin[0] / inertia[0] : 0) + (inertia[1] > 0 ? spin[1] / inertia[1] : 0));
}

static void move_slip(const FrictionLag* lag, const double step[3], double factor, double trial[3]) {
  for (int i = 0; i < 3; i++) trial[i] = lag->slip[i] + factor * step[i];
}

/* Sets trial[3] to lag->slip + step, and *out to the slip energy and its derivatives at `trial`. */
static void try_slip(const FrictionLag* lag, const double step[3], double smoothing, double trial[3],
                     SlipEvaluation* out) {
  move_slip(lag, step, 1.0, trial);
  evaluate_slip(lag, trial, smoothing, out);
}

/* Replaces a full Newton step that does not decrease the energy enough. This happens in narrow valleys of the slip
 * energy, whose width is the root of the smoothing. The step of the majorant always decreases the energy, and is used
 * if the decrease is large enough. Otherwise uses the step with the lowest energy among the step of the majorant and
 * the halved Newton steps. Sets best[3] to the new slip and *out to the evaluation there. */
static void shortened_step(FrictionLag* lag, const SlipEvaluation* e, int order, const double step[3], double decrement,
                           double smoothing, double best[3], SlipEvaluation* out) {
  double trial[3], other[3];
  slip_step(e, order, false, other);
  try_slip(lag, other, smoothing, best, out);
  if (out->energy <= e->energy - 0.1 * decrement) return;
  double factor = 0.5, before = INFINITY, lowest = out->energy;
  for (int k = 0; k < SLIP_HALVINGS; k++, factor *= 0.5) {
    move_slip(lag, step, factor, trial);
    double energy = slip_energy(lag, trial, smoothing);
    if (energy > before) break; /* the energy is convex along the line, so its minimum has been passed */
    before = energy;
    if (energy < lowest) {
      lowest = energy;
      memcpy(best, trial, sizeof(trial));
    }
  }
  if (lowest < out->energy) evaluate_slip(lag, best, smoothing, out);
}

/* Minimises the slip energy, starting from lag->slip. Sets lag->slip to the minimiser and *energy to the minimum. e[0]:
 * evaluation at the start. e[1]: workspace. Returns the number of iterations, or -1 if the minimum was not found. */
static int minimise_slip(FrictionLag* lag, double smoothing, SlipEvaluation e[2], double* energy) {
  int order = lag->order;
  SlipEvaluation *now = &e[0], *next = &e[1];
  double scale = lag->total_weight * sqrt(smoothing);
  for (int k = 0; k < SLIP_ITERATIONS; k++) {
    double step[3], trial[3];
    double decrement = slip_step(now, order, true, step);
    if (!isfinite(decrement)) return -1;
    *energy = now->energy;
    if (decrement <= 1e-26 * scale) return k;
    if (decrement < SLIP_LAST_STEP * scale) { /* the derivatives at the final slip are not needed */
      for (int i = 0; i < 3; i++) lag->slip[i] += step[i];
      *energy = slip_energy(lag, lag->slip, smoothing);
      return k + 1;
    }
    try_slip(lag, step, smoothing, trial, next);
    if (!(next->energy <= now->energy * (1 + 1e-14) - 0.1 * decrement))
      shortened_step(lag, now, order, step, decrement, smoothing, trial, next);
    memcpy(lag->slip, trial, sizeof(trial));
    SlipEvaluation* before = now;
    now = next;
    next = before;
  }
  return -1;
}

/* ---------------------------------------------------------------- derivatives of the friction energy (F3) */

typedef struct {
  double cross[3][12]; /* (mu / dt) sum J^T h T of both sides */
  double slip[4][4];   /* (mu / dt) sum J^T h J, lower triangle */
} SlipSums;

/* Computes the dual vector z of the state `to` (F5). z results from the linearisation of z rho = r at the state `from`:
 * (z + dz) rho = r + dr - z (r . dr) / rho. r: slip; rho = sqrt(|r|^2 + smoothing). If z is longer than 1, it is scaled
 * to the length 1. */
static void follow_dual(const SlipState* from, double smoothing, SlipState* to) {
  const double *r0 = from->slip, *r = to->slip;
  double rho = sqrt(r0[0] * r0[0] + r0[1] * r0[1] + smoothing);
  double along = (r0[0] * (r[0] - r0[0]) + r0[1] * (r[1] - r0[1])) / (rho * rho);
  for (int i = 0; i < 2; i++) to->dual[i] = r[i] / rho - along * from->dual[i];
  double length = sqrt(to->dual[0] * to->dual[0] + to->dual[1] * to->dual[1]);
  for (int i = 0; i < 2 && length > 1; i++) to->dual[i] /= length;
}

/* Sets h to the Hessian of one contact point with respect to its slip r, factor w / rho (I - (z r^T + r z^T) / (2
 * rho)), with rho = sqrt(|r|^2 + eps). Stores the slip r and the dual vector z in at[p->state]. Returns rho. For z = r
 * / rho, h is the second derivative of factor w rho with respect to r. */
static double slip_hessian(double w, const double r[2], SlipState at[2], const FrictionParameters* p, double factor,
                           double h[2][2]) {
  double rho = sqrt(r[0] * r[0] + r[1] * r[1] + p->smoothing), q = factor * w / rho;
  SlipState* state = &at[p->state];
  memcpy(state->slip, r, sizeof(state->slip));
  if (p->follow)
    follow_dual(&at[1 - p->state], p->smoothing, state);
  else
    for (int i = 0; i < 2; i++) state->dual[i] = r[i] / rho;
  const double* z = state->dual;
  h[0][0] = q * (1 - z[0] * r[0] / rho);
  h[0][1] = h[1][0] = -0.5 * q * (z[0] * r[1] + z[1] * r[0]) / rho;
  h[1][1] = q * (1 - z[1] * r[1] / rho);
  return rho;
}

/* Derivative of the displacement of a contact point in the contact plane with respect to a twist (w, v) of its body.
 * The two components of the displacement change by w1 . w + e1 . v and w2 . w + e2 . v. */
typedef struct {
  Vec3 w1, w2;
} TwistRows;

/* Returns the TwistRows of a point of the body. arm: vector from the body's reference point to the point. The rows
 * follow from e . (w x arm + v) = (arm x e) . w + e . v. */
static TwistRows rows_at(const FrictionLag* lag, Vec3 arm) {
  return (TwistRows){vec3_cross(arm, lag->e1), vec3_cross(arm, lag->e2)};
}

/* Returns the TwistRows of a contact point of a hull: `center`, the rows of the body's point at FrictionLag.center,
 * plus the part of the rotation about the normal n. For the position y of the contact point in the plane, this part is
 * n x y times `spin`. spin: derivative of the rotation about n with respect to the rotation vector, (tr(R) n - R^T n) /
 * 2 for the rotation R. */
static TwistRows rows_of_hull(const FrictionVertex* v, const TwistRows* center, Vec3 spin) {
  return (TwistRows){vec3_add_scaled(center->w1, -v->position[1], spin),
                     vec3_add_scaled(center->w2, v->position[0], spin)};
}

static void add_vertex_sums(const FrictionLag* lag, int side, const TwistRows* rows, const double h[2][2],
                            const double y[2], SlipSums* sums, double hessian[12][12]) {
  Vec3 w1 = rows->w1, w2 = rows->w2;
  const double t[2][6] = {{w1.x, w1.y, w1.z, lag->e1.x, lag->e1.y, lag->e1.z},
                          {w2.x, w2.y, w2.z, lag->e2.x, lag->e2.y, lag->e2.z}};
  int base = 6 * side;
  double ht[2][6];
  for (int i = 0; i < 6; i++) {
    ht[0][i] = h[0][0] * t[0][i] + h[0][1] * t[1][i];
    ht[1][i] = h[1][0] * t[0][i] + h[1][1] * t[1][i];
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) hessian[base + i][base + k] += t[0][i] * ht[0][k] + t[1][i] * ht[1][k];
  for (int k = 0; k < 6; k++) { /* J = [-1 0 y2; 0 -1 -y1] */
    sums->cross[0][base + k] -= ht[0][k];
    sums->cross[1][base + k] -= ht[1][k];
    sums->cross[2][base + k] += y[1] * ht[0][k] - y[0] * ht[1][k];
  }
  double s0 = y[1] * h[0][0] - y[0] * h[0][1], s1 = y[1] * h[0][1] - y[0] * h[1][1];
  sums->slip[0][0] += h[0][0];
  sums->slip[1][0] += h[1][0];
  sums->slip[1][1] += h[1][1];
  sums->slip[2][0] -= s0;
  sums->slip[2][1] -= s1;
  sums->slip[2][2] += y[1] * s0 - y[0] * s1;
}

/* Eliminates the slip of the pair from the Hessian, as the slip minimises the energy: subtracts cross^T slip^-1 cross
 * (SlipSums) from the first `rows` rows and columns. rows: 6 for a half-space, 12 for two hulls. order: number of
 * unknowns of the slip. Overwrites sums. */
static void eliminate_slip(SlipSums* sums, int order, int rows, double hessian[12][12]) {
  double(*z)[12] = sums->cross, (*l)[4] = sums->slip;
  small_cholesky(order, l);
  for (int i = 0; i < order; i++) {
    for (int k = 0; k < i; k++)
      for (int c = 0; c < rows; c++) z[i][c] -= l[i][k] * z[k][c];
    for (int c = 0; c < rows; c++) z[i][c] *= l[i][i];
  }
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < order; k++) {
      double f = z[k][i];
      for (int j = 0; j < rows; j++) hessian[i][j] -= f * z[k][j];
    }
}

FrictionMotion friction_motion(const FrictionLag* lag, int side, const Pose* pose) {
  assert(side == 0 || side == 1);
  FrictionMotion m = {.rotation = mat3_mul(pose->r, mat3_transpose(lag->start[side].r))};
  Vec3 from = vec3_sub(lag->from[side], lag->arm[side]);
  m.sine = vec3_scale(mat3_axial(m.rotation), 0.5);
  m.center = vec3_add(mat3_mul_vec(m.rotation, vec3_sub(from, lag->start[side].t)), pose->t);
  m.displacement = vec3_sub(m.center, from);
  m.rolls = has_arm(lag, side);
  if (m.rolls) {
    m.roll = friction_roll(lag, side, pose);
    m.displacement =
        vec3_add(m.displacement, friction_arm_displacement(lag, side, lag->arm[side], lag->mean_radius[side], &m.roll));
  }
  m.spin = vec3_dot(lag->normal, m.sine);
  return m;
}

/* Returns the position at `pose` of the body's point that was at lag->from[side] at t. */
static Vec3 moved_point(const FrictionLag* lag, int side, const Pose* pose) {
  return pose_apply(*pose, pose_apply_inverse(lag->start[side], lag->from[side]));
}

static void hull_velocities(FrictionLag* lag, int side, const Pose* pose, double dt) {
  FrictionMotion m = friction_motion(lag, side, pose);
  double displacement[2] = {vec3_dot(lag->e1, m.displacement), vec3_dot(lag->e2, m.displacement)};
  double elastic = side == 0 ? 1 : 0;
  FrictionVertex* v = lag->vertices + (side == 0 ? 0 : lag->count[0]);
  for (int k = 0; k < lag->count[side]; k++, v++) {
    v->velocity[0] = (displacement[0] - m.spin * v->position[1]) / dt + elastic * lag->offset[0];
    v->velocity[1] = (displacement[1] + m.spin * v->position[0]) / dt + elastic * lag->offset[1];
  }
}

/* Returns the position at t of a contact point over a half-space. It is computed from v->position, so that it is
 * bit-identical to the point from which slip is measured. With direction-dependent friction, v->position is multiplied
 * by a matrix, so the result is computed from the pose at t. */
static Vec3 lagged_place(const FrictionLag* lag, const FrictionVertex* v) {
  if (lag->directed) return vec3_add(pose_apply(lag->start[0], v->local), v->arm);
  Vec3 arm = vec3_add(vec3_scale(lag->e1, v->position[0]),
                      vec3_add(vec3_scale(lag->e2, v->position[1]), vec3_scale(lag->normal, v->height)));
  return vec3_add(lag->center, arm);
}

FrictionRoll friction_roll(const FrictionLag* lag, int side, const Pose* pose) {
  assert(side == 0 || side == 1);
  Mat3 turn = mat3_mul(pose->r, mat3_transpose(lag->aim[side]));
  return (FrictionRoll){turn, vec3_scale(mat3_axial(turn), 0.5)};
}

/* Returns the mean displacement of the contact points of body a over a half-space from t to `pose` [m]. */
static Vec3 mean_displacement(const FrictionLag* lag, const Pose* pose) {
  Vec3 arm = lag->mean_arm[0], from = vec3_sub(lag->center, arm);
  FrictionRoll roll = friction_roll(lag, 0, pose);
  Vec3 displacement = vec3_sub(pose_apply(*pose, pose_apply_inverse(lag->start[0], from)), from);
  return vec3_add(displacement, friction_arm_displacement(lag, 0, arm, lag->mean_radius[0], &roll));
}

Vec3 friction_displacement(const FrictionLag* lag, const Pose* pose_a, const Pose* pose_b) {
  if (!lag->half_space)
    return vec3_sub(friction_motion(lag, 0, pose_a).displacement, friction_motion(lag, 1, pose_b).displacement);
  return vec3_sub(mean_displacement(lag, pose_a), vec3_sub(moved_point(lag, 1, pose_b), lag->from[1]));
}

/* Sets the in-plane velocity of each contact point of body a relative to the half-space b, which may move. */
static void velocities_over_ground(FrictionLag* lag, const Pose* pose, const Pose* ground, double dt) {
  FrictionRoll roll = friction_roll(lag, 0, pose);
  bool moving = memcmp(&lag->start[1], ground, sizeof(Pose)) != 0;
  for (int k = 0; k < lag->count[0]; k++) {
    FrictionVertex* v = &lag->vertices[k];
    Vec3 y = vec3_add(mat3_mul_vec(pose->r, v->local), vec3_sub(pose->t, lag->center));
    y = vec3_add(y, vec3_add(v->arm, friction_arm_displacement(lag, 0, v->arm, v->radius, &roll)));
    if (moving) {
      Vec3 at = lagged_place(lag, v);
      y = vec3_sub(y, vec3_sub(pose_apply(*ground, pose_apply_inverse(lag->start[1], at)), at));
    }
    v->velocity[0] = (vec3_dot(lag->e1, y) - v->position[0]) / dt + lag->offset[0];
    v->velocity[1] = (vec3_dot(lag->e2, y) - v->position[1]) / dt + lag->offset[1];
  }
}

static void vertex_velocities(FrictionLag* lag, const Pose* pose[2], double dt) {
  if (lag->half_space) {
    velocities_over_ground(lag, pose[0], pose[1], dt);
    return;
  }
  for (int side = 0; side < 2; side++) hull_velocities(lag, side, pose[side], dt);
}

int friction_recall(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b) {
  const Pose* pose[2] = {pose_a, pose_b};
  if (!(lag->total_weight > 0)) return 0;
  vertex_velocities(lag, pose, parameters->dt);
  SlipEvaluation e[2];
  double energy;
  evaluate_slip(lag, lag->slip, parameters->smoothing, e);
  return minimise_slip(lag, parameters->smoothing, e, &energy);
}

int friction_value(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                   double* energy) {
  const Pose* pose[2] = {pose_a, pose_b};
  *energy = 0;
  if (!(lag->total_weight > 0)) return 0;
  vertex_velocities(lag, pose, parameters->dt);
  double warm[3];
  memcpy(warm, lag->slip, sizeof(warm));
  first_guess(lag);
  SlipEvaluation e[2];
  evaluate_slip(lag, warm, parameters->smoothing, e);
  if (e[0].energy < slip_energy(lag, lag->slip, parameters->smoothing))
    memcpy(lag->slip, warm, sizeof(warm));
  else
    evaluate_slip(lag, lag->slip, parameters->smoothing, e);
  double least;
  int iterations = minimise_slip(lag, parameters->smoothing, e, &least);
  if (iterations < 0) return -1;
  *energy = parameters->coefficient * parameters->dt * least;
  return iterations;
}

Vec3 friction_axial_by_rotation(Mat3 m, Vec3 x) {
  return vec3_scale(vec3_sub(vec3_scale(x, mat3_trace(m)), mat3_tmul_vec(m, x)), 0.5);
}

/* Returns the TwistRows of a body's point, plus the rows of an arm that rotates with the body (F13, F15). center:
 * vector from the body's reference point to the point. */
static TwistRows rows_of_roll(const FrictionLag* lag, const RollRows* arm, const FrictionRoll* roll, Vec3 center) {
  TwistRows rows = rows_at(lag, center);
  rows.w1 = vec3_add(rows.w1, friction_axial_by_rotation(roll->turn, roll_rows_moment(arm, lag->e1)));
  rows.w2 = vec3_add(rows.w2, friction_axial_by_rotation(roll->turn, roll_rows_moment(arm, lag->e2)));
  return rows;
}

/* Returns the first moment of the forces at the ends of rotating arms. It is the matrix [torque]x M^T / 2 with the
 * rotation M = roll->turn and the cross product matrix [torque]x. torque: sum of roll_rows_moment over the forces. */
static Mat3 moment_of_arm(Vec3 torque, const FrictionRoll* roll) {
  return mat3_mul(mat3_cross(vec3_scale(torque, 0.5)), mat3_transpose(roll->turn));
}

/* Adds force, moment and Hessian of the contact points of one side to *out. Also adds the terms of these points to
 * *sums, from which eliminate_slip eliminates the slip. */
static void add_side(FrictionLag* lag, const FrictionParameters* p, int side, const Pose* pose, Vec3 reference,
                     SlipSums* sums, PairDerivatives* out) {
  FrictionMotion m = {0};
  FrictionRoll roll = {0};
  TwistRows rows_at_center = {0};
  RollRows arm_rows = {0};
  Vec3 center = {0, 0, 0}, spin = {0, 0, 0}, rolling = {0, 0, 0};
  if (lag->half_space) roll = friction_roll(lag, 0, pose);
  if (!lag->half_space) {
    m = friction_motion(lag, side, pose);
    center = vec3_sub(m.center, reference);
    arm_rows = roll_rows(&lag->shift[side], lag->arm[side]);
    rows_at_center = m.rolls ? rows_of_roll(lag, &arm_rows, &m.roll, center) : rows_at(lag, center);
    spin = friction_axial_by_rotation(m.rotation, lag->normal);
  }
  double factor = p->coefficient / p->dt, h[2][2], r[2], torque = 0;
  Vec3 force = {0, 0, 0};
  for (int k = 0; k < lag->count[side]; k++) {
    FrictionVertex* v = &lag->vertices[side * lag->count[0] + k];
    slip_of(v, lag->slip, r);
    double rho = slip_hessian(v->weight, r, v->at, p, factor, h);
    double q = p->coefficient * v->weight / rho;
    Vec3 g = vec3_add(vec3_scale(lag->e1, q * r[0]), vec3_scale(lag->e2, q * r[1]));
    if (lag->half_space) {
      Vec3 arm = vec3_add(mat3_mul_vec(pose->r, v->local), vec3_sub(pose->t, reference));
      RollRows turning = roll_rows(&lag->shift[0], v->arm);
      TwistRows rows = rows_of_roll(lag, &turning, &roll, arm);
      rolling = vec3_add(rolling, roll_rows_moment(&turning, g));
      add_vertex_sums(lag, side, &rows, h, v->scaled, sums, out->hessian);
      out->force[0] = vec3_add(out->force[0], g);
      out->force[1] = vec3_sub(out->force[1], g);
      out->moment[0] = mat3_add(out->moment[0], mat3_outer(g, arm));
    } else {
      TwistRows rows = rows_of_hull(v, &rows_at_center, spin);
      add_vertex_sums(lag, side, &rows, h, v->scaled, sums, out->hessian);
      force = vec3_add(force, g);
      torque += q * (v->position[0] * r[1] - v->position[1] * r[0]);
    }
  }
  if (lag->half_space) {
    out->moment[side] = mat3_add(out->moment[side], moment_of_arm(rolling, &roll));
    return;
  }
  out->force[side] = vec3_add(out->force[side], force);
  /* The moment of the hull has three terms. G center^T is the moment of the sum G of the forces. [arm x G]x M^T / 2
   * belongs to the rotating arm. N / 2 [n]x R^T belongs to the spin, with the torque N about n. The last term gives the
   * gradient and the curvature of the spin. */
  Mat3 about = mat3_mul(mat3_cross(vec3_scale(lag->normal, 0.5 * torque)), mat3_transpose(m.rotation));
  Mat3 moment = mat3_add(mat3_outer(force, center), about);
  if (m.rolls) moment = mat3_add(moment, moment_of_arm(roll_rows_moment(&arm_rows, force), &m.roll));
  out->moment[side] = mat3_add(out->moment[side], moment);
}

void friction_derivatives(FrictionLag* lag, const FrictionParameters* p, const Pose* pose_a, const Pose* pose_b,
                          Vec3 reference_a, Vec3 reference_b, PairDerivatives* out) {
  SlipSums sums;
  if (!(lag->total_weight > 0)) return;
  memset(&sums, 0, sizeof(sums));
  add_side(lag, p, 0, pose_a, reference_a, &sums, out);
  if (!lag->half_space) add_side(lag, p, 1, pose_b, reference_b, &sums, out);
  if (lag->half_space) {
    double h[2][2], r[2] = {-lag->slip[0], -lag->slip[1]};
    (void)slip_hessian(lag->ground_weight, r, lag->ground_at, p, p->coefficient / p->dt, h);
    sums.slip[0][0] += h[0][0];
    sums.slip[1][0] += h[1][0];
    sums.slip[1][1] += h[1][1];
  }
  eliminate_slip(&sums, lag->order, lag->half_space ? 6 : 12, out->hessian);
}

int friction_evaluate(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                      Vec3 reference_a, Vec3 reference_b, PairDerivatives* out, double* energy) {
  int iterations = friction_value(lag, parameters, pose_a, pose_b, energy);
  if (iterations >= 0) friction_derivatives(lag, parameters, pose_a, pose_b, reference_a, reference_b, out);
  return iterations;
}

void friction_keep(FrictionLag* lag, int to) {
  for (int k = 0; k < lag->count[0] + lag->count[1]; k++) lag->vertices[k].at[to] = lag->vertices[k].at[1 - to];
  lag->ground_at[to] = lag->ground_at[1 - to];
}
