/* Drag and buoyancy of hulls in a fluid (docs/derivations/fluid.md). */
#include "simulate/fluid.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- faces */

static double solid_volume(const ConvexHull* solid) { return mass_moment_solid(solid).s[3][3]; }

/* Returns the factor by which the polyhedron inside a round solid is scaled to the exact volume of the solid; 1 for all
 * other hulls. */
static double volume_scale(const ModelHull* hull) {
  double volume = solid_volume(&hull->solid), exact = hull->kind->moment(hull).s[3][3];
  return hull_is_round(hull) && volume > 0 ? math_cbrt(exact / volume) : 1;
}

static Vec3 face_area(const FluidFace* face) {
  Vec3 a = vec3_sub(face->point[1], face->point[0]), b = vec3_sub(face->point[2], face->point[0]);
  return vec3_scale(vec3_cross(a, b), 0.5);
}

static int add_hull(FluidSystem* s, int index, int count) {
  const ModelHull* hull = &s->model->hulls[index];
  s->scale[index] = volume_scale(hull);
  for (int k = 0; k < hull->solid.triangle_count; k++, count++) {
    FluidFace* face = &s->face[count];
    *face = (FluidFace){.link = hull->link, .hull = index};
    for (int c = 0; c < 3; c++) {
      face->corner[c] = hull->solid.triangles[k][c];
      Vec3 arm = vec3_sub(hull->solid.vertices[face->corner[c]], hull->center);
      face->point[c] = vec3_add_scaled(hull->center, s->scale[index], arm);
    }
    s->surface[index] += vec3_norm(face_area(face));
  }
  double radius = sqrt(s->surface[index] / (4 * 3.14159265358979323846));
  s->slowing[index] = radius > 0 ? 1.5 / radius : 0;
  return count;
}

FluidSystem* fluid_create(const Model* m) {
  if (!m->scene->fluid.given || m->tree_count == 0) return NULL;
  FluidSystem* s = MEMORY_NEW(FluidSystem, 1);
  int count = 0;
  s->model = m;
  for (int k = 0; k < m->hull_count; k++)
    if (m->links[m->hulls[k].link].tree >= 0) count += m->hulls[k].solid.triangle_count;
  s->face = MEMORY_NEW(FluidFace, count);
  s->first = MEMORY_NEW(int, m->link_count + 1);
  s->slowing = MEMORY_NEW(double, m->hull_count);
  s->surface = MEMORY_NEW(double, m->hull_count);
  s->scale = MEMORY_NEW(double, m->hull_count);
  count = 0;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    for (int k = link->hull_first; link->tree >= 0 && k < link->hull_first + link->hull_count; k++)
      if (m->hulls[k].kind->bounded) count = add_hull(s, k, count);
    s->first[i + 1] = count;
  }
  return s;
}

void fluid_destroy(FluidSystem* s) {
  if (!s) return;
  void* owned[] = {s->face, s->first, s->slowing, s->surface, s->scale, s};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* The viscous force on a sphere of surface S at the speed v is mu kappa S v with kappa S = VISCOUS_RATE / kappa, since
 * kappa = 3 / (2 r) and S = 4 pi r^2. */
#define VISCOUS_RATE (9 * 3.14159265358979323846)

/* ---------------------------------------------------------------- arithmetic of FluidNumber */

static FluidVector sub(FluidVector a, FluidVector b) { return (FluidVector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static FluidVector scale(FluidVector a, FluidNumber f) { return (FluidVector){a.x * f, a.y * f, a.z * f}; }
static FluidNumber dot(FluidVector a, FluidVector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static FluidVector cross(FluidVector a, FluidVector b) {
  return (FluidVector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static FluidVector complex_vector(Vec3 v) { return (FluidVector){v.x, v.y, v.z}; }

/* Returns the square root of a number whose real part is positive. */
static FluidNumber complex_sqrt(FluidNumber a) {
  double r = sqrt(creal(a));
  return r + cimag(a) / (2 * r) * (double complex)I;
}

/* Returns the implicitness theta = 1 / (1 - exp(-z)) - 1 / z of a viscous force (L13); z: number with a real part >= 0.
 * The derivative theta' is 1 / z^2 - exp(-z) / (1 - exp(-z))^2. */
static FluidNumber exponential_theta(FluidNumber z) {
  double x = creal(z), square = x * x;
  if (!isfinite(x)) return 1; /* no mass */
  /* Below 0.1 the series have errors below 1e-14; the closed forms lose more by cancellation. */
  double theta = 0.5 + x * (1.0 / 12 - square * (1.0 / 720 - square * (1.0 / 30240 - square / 1209600)));
  double slope = 1.0 / 12 - square * (1.0 / 240 - square * (1.0 / 6048 - square / 172800));
  if (x > 0.1) {
    double left = -expm1(-x);
    theta = 1 / left - 1 / x;
    slope = 1 / square - exp(-x) / (left * left);
  }
  return theta + slope * cimag(z) * (double complex)I;
}

static FluidVector rotate_by_pose(const FluidNumber pose[3][4], FluidVector p) {
  FluidNumber out[3];
  for (int i = 0; i < 3; i++) out[i] = pose[i][0] * p.x + pose[i][1] * p.y + pose[i][2] * p.z;
  return (FluidVector){out[0], out[1], out[2]};
}

static FluidVector transform_by_pose(const FluidNumber pose[3][4], FluidVector p) {
  FluidVector out = rotate_by_pose(pose, p);
  return (FluidVector){out.x + pose[0][3], out.y + pose[1][3], out.z + pose[2][3]};
}

/* Adds the derivative of an energy with respect to the pose, due to a force at the point p of the link frame, to slope.
 */
static void add_point_force(FluidNumber slope[3][4], FluidVector force, FluidVector p) {
  const FluidNumber f[3] = {force.x, force.y, force.z}, q[4] = {p.x, p.y, p.z, 1};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) slope[i][j] += f[i] * q[j];
}

/* ---------------------------------------------------------------- integrals of powers of the positive part (L11) */

/* Returns the number of values with a positive real part. Sets *alone to the index of the value whose sign differs from
 * the signs of the other two. */
static int count_positive_values(const FluidNumber x[3], int* odd_index) {
  int count = 0;
  for (int k = 0; k < 3; k++) count += creal(x[k]) > 0;
  for (int k = 0; k < 3; k++)
    if ((creal(x[k]) > 0) == (count == 1)) *odd_index = k;
  return count;
}

/* Returns the divided difference of x^4 over three numbers, the sum of all products of two of them. Sets by[k] to its
 * derivative with respect to x[k]. */
static FluidNumber divided_difference(const FluidNumber x[3], FluidNumber by[3]) {
  FluidNumber sum = x[0] + x[1] + x[2], second = 0;
  for (int k = 0; k < 3; k++) {
    second += x[k] * (x[k] + x[(k + 1) % 3]);
    by[k] = sum + x[k];
  }
  return second;
}

/* Returns the divided difference of max(x, 0)^4 over three numbers. Sets by[k] to its derivative with respect to x[k].
 * If f is linear on a triangle and x are the values of f at its corners, the integral of max(f, 0)^2 / 2 is 1/12 of the
 * area times this divided difference. */
static FluidNumber positive_divided_difference(const FluidNumber x[3], FluidNumber by[3]) {
  int odd_index = 0, positive = count_positive_values(x, &odd_index);
  FluidNumber sum = 0;
  for (int k = 0; k < 3; k++) by[k] = 0;
  if (positive == 0) return 0;
  if (positive > 1) sum = divided_difference(x, by);
  if (positive == 3) return sum;
  int next = (odd_index + 1) % 3, last = (odd_index + 2) % 3;
  FluidNumber a = x[odd_index], to_next = a - x[next], to_last = a - x[last];
  FluidNumber cube = a * a * a, part = cube * a / (to_next * to_last);
  double sign = positive == 1 ? 1 : -1;
  by[odd_index] += sign * (4 * cube / (to_next * to_last) - part * (1 / to_next + 1 / to_last));
  by[next] += sign * part / to_next;
  by[last] += sign * part / to_last;
  return sum + sign * part;
}

static FluidNumber depth(const FluidInput* in, const FluidNumber pose[3][4], FluidVector p) {
  return in->number[FLUID_LEVEL] - dot(complex_vector(in->up), transform_by_pose(pose, p));
}

/* ---------------------------------------------------------------- the force on a face */

static FluidVector triangle_area(const FluidVector p[3]) { return scale(cross(sub(p[1], p[0]), sub(p[2], p[0])), 0.5); }

static FluidVector sum_of_corners(const FluidVector p[3]) {
  return (FluidVector){p[0].x + p[1].x + p[2].x, p[0].y + p[1].y + p[2].y, p[0].z + p[1].z + p[2].z};
}

/* Sets out to triangles that cover the part of the triangle p where the linear function with the values f at the
 * corners is positive. Returns the number of triangles, 0 to 2. */
static int clip_where_positive(const FluidVector p[3], const FluidNumber f[3], FluidVector out[2][3]) {
  int odd_index = 0, positive = count_positive_values(f, &odd_index);
  memcpy(out[0], p, sizeof out[0]);
  if (positive == 0 || positive == 3) return positive / 3;
  int next = (odd_index + 1) % 3, last = (odd_index + 2) % 3;
  FluidVector a = p[odd_index], b = p[next], c = p[last];
  FluidVector cut_b = scale(sub(b, a), -f[odd_index] / (f[odd_index] - f[next]));
  FluidVector cut_c = scale(sub(c, a), -f[odd_index] / (f[odd_index] - f[last]));
  cut_b = sub(a, cut_b);
  cut_c = sub(a, cut_c);
  const FluidVector tip[3] = {a, cut_b, cut_c}, low[3] = {cut_b, b, c}, high[3] = {cut_b, c, cut_c};
  memcpy(out[0], positive == 1 ? tip : low, sizeof tip);
  memcpy(out[1], high, sizeof high);
  return positive;
}

/* Sets out to triangles that cover the part of the face below the fluid's surface at t; without a surface, the whole
 * face. Returns the number of triangles, 0 to 2. */
static int clip_below_surface(const FluidInput* in, FluidVector out[2][3]) {
  FluidNumber d[3] = {1, 1, 1};
  for (int k = 0; k < 3 && in->has_level; k++) d[k] = depth(in, in->now, in->point[k]);
  return clip_where_positive(in->point, d, out);
}

/* Returns the velocity of the point p of the link relative to the fluid in this step (L9) [m/s]. */
static FluidVector point_velocity(const FluidInput* in, FluidVector p) {
  FluidVector stream = {in->number[FLUID_VELOCITY], in->number[FLUID_VELOCITY + 1], in->number[FLUID_VELOCITY + 2]};
  return sub(scale(sub(transform_by_pose(in->pose, p), transform_by_pose(in->now, p)), 1 / in->dt), stream);
}

/* Returns the velocity of the point p of the link relative to the fluid in the previous step; at the start of the run,
 * by the initial velocities (L9) [m/s]. */
static FluidVector earlier_velocity(const FluidInput* in, FluidVector p) {
  FluidVector stream = {in->number[FLUID_VELOCITY], in->number[FLUID_VELOCITY + 1], in->number[FLUID_VELOCITY + 2]};
  if (!(in->dt_before > 0)) return sub(transform_by_pose(in->rate, p), stream);
  return sub(scale(sub(transform_by_pose(in->now, p), transform_by_pose(in->old, p)), 1 / in->dt_before), stream);
}

/* Returns the dissipation potential of pressure drag on a triangle that moved into the fluid in the previous step (L12)
 * [W]. outward: normal of the face at t in world axes, its length is the area of the face. Adds dt times the force
 * density's integral, as a derivative with respect to the pose at t + dt, to slope; slope may be NULL. */
static FluidNumber add_pressure_drag(const FluidInput* in, const FluidVector p[3], FluidVector outward,
                                     FluidNumber slope[3][4]) {
  FluidVector area = triangle_area(p);
  FluidNumber now[3], before[3], sum_now = 0, sum_before = 0, products = 0, energy = 0;
  FluidNumber square = dot(outward, outward), size = complex_sqrt(square);
  if (!(creal(dot(area, area)) > 0)) return 0;
  for (int k = 0; k < 3; k++) {
    now[k] = dot(outward, point_velocity(in, p[k])) / size;
    before[k] = dot(outward, earlier_velocity(in, p[k])) / size;
    sum_now += now[k];
    sum_before += before[k];
    products += now[k] * before[k];
  }
  FluidNumber factor = in->number[FLUID_DENSITY] * complex_sqrt(dot(area, area)) / 120;
  for (int k = 0; k < 3; k++) {
    FluidNumber force =
        sum_before * sum_now + products + sum_before * now[k] + sum_now * before[k] + 2 * now[k] * before[k];
    energy += 0.5 * factor * force * now[k];
    if (slope) add_point_force(slope, scale(outward, factor * force / size), p[k]);
  }
  return energy;
}

/* The same for viscous drag on a triangle (L13). */
static FluidNumber add_viscous_drag(const FluidInput* in, const FluidVector p[3], FluidNumber slope[3][4]) {
  FluidVector area = triangle_area(p), mean[3];
  FluidNumber square = dot(area, area), energy = 0;
  if (!(creal(square) > 0)) return 0;
  FluidNumber coefficient = in->number[FLUID_VISCOSITY] * in->slowing;
  FluidNumber theta = exponential_theta(VISCOUS_RATE * in->number[FLUID_VISCOSITY] * in->dt / (in->slowing * in->mass));
  for (int k = 0; k < 3; k++)
    mean[k] = sub(scale(point_velocity(in, p[k]), theta), scale(earlier_velocity(in, p[k]), theta - 1));
  FluidVector sum = sum_of_corners(mean);
  FluidNumber viscous = coefficient * complex_sqrt(square) / 12;
  for (int k = 0; k < 3; k++) {
    FluidVector with_sum = sub(mean[k], scale(sum, -1));
    energy += 0.5 * viscous / theta * dot(mean[k], with_sum);
    if (slope) add_point_force(slope, scale(with_sum, viscous), p[k]);
  }
  return energy;
}

/* Returns dt times the dissipation potential of drag on a triangle below the fluid's surface [J]. Adds the derivative
 * of this energy with respect to the pose at t + dt to slope; slope may be NULL. */
static FluidNumber add_drag(const FluidInput* in, const FluidVector p[3], FluidNumber slope[3][4]) {
  FluidVector outward = rotate_by_pose(in->now, triangle_area(in->point)), into[2][3];
  FluidNumber flow[3], energy = 0, drag[3][4] = {{0}};
  for (int k = 0; k < 3; k++) flow[k] = dot(outward, earlier_velocity(in, p[k]));
  int count = clip_where_positive(p, flow, into);
  for (int k = 0; k < count; k++) energy += add_pressure_drag(in, into[k], outward, drag);
  energy += add_viscous_drag(in, p, drag);
  for (int i = 0; i < 3 && slope; i++)
    for (int j = 0; j < 4; j++) slope[i][j] += in->drag * drag[i][j];
  return in->drag * energy * in->dt;
}

static void mean_pose(const FluidInput* in, FluidNumber out[3][4]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      out[i][j] = in->ahead * in->pose[i][j] + in->at_now * in->now[i][j] + in->at_old * in->old[i][j];
}

/* Returns the potential energy of the fluid that the face's part of the hull displaces at a pose (L10) [J]. If slope is
 * not NULL, adds the derivative of this energy with respect to the pose to slope; with a fluid surface the return value
 * is then 0. */
static FluidNumber add_buoyancy(const FluidInput* in, const FluidNumber pose[3][4], FluidVector area,
                                FluidNumber slope[3][4]) {
  FluidNumber density = in->number[FLUID_DENSITY];
  if (!in->has_level) {
    FluidNumber volume = dot(in->point[0], cross(in->point[1], in->point[2])) / 6;
    FluidVector at = scale(sum_of_corners(in->point), 0.25),
                force = scale(complex_vector(in->gravity), density * volume);
    if (slope) add_point_force(slope, force, at);
    return dot(force, transform_by_pose(pose, at));
  }
  double weight = vec3_norm(in->gravity) / 12;
  FluidVector up = complex_vector(in->up), flat;
  FluidNumber d[3], by[3];
  for (int k = 0; k < 3; k++) d[k] = depth(in, pose, in->point[k]);
  FluidNumber square = positive_divided_difference(d, by), rise = dot(up, rotate_by_pose(pose, area));
  if (!slope) return -density * weight * rise * square;
  for (int k = 0; k < 3; k++) add_point_force(slope, scale(up, density * weight * rise * by[k]), in->point[k]);
  flat = scale(area, -density * weight * square);
  const FluidNumber u[3] = {up.x, up.y, up.z}, f[3] = {flat.x, flat.y, flat.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) slope[i][j] += u[i] * f[j];
  return 0;
}

void fluid_face_slope(const FluidInput* in, FluidNumber slope[3][4]) {
  FluidNumber pose[3][4], buoyancy[3][4] = {{0}};
  FluidVector wet[2][3];
  int count = clip_below_surface(in, wet);
  for (int k = 0; k < count; k++) add_drag(in, wet[k], slope);
  mean_pose(in, pose);
  add_buoyancy(in, (const FluidNumber(*)[4])pose, triangle_area(in->point), buoyancy);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) slope[i][j] += in->whole * buoyancy[i][j];
}

/* Returns the energy whose derivative with respect to the pose at t + dt is fluid_face_slope [J]. */
static double face_energy(const FluidInput* in) {
  FluidNumber pose[3][4], sum = 0;
  FluidVector wet[2][3];
  int count = clip_below_surface(in, wet);
  for (int k = 0; k < count; k++) sum += add_drag(in, wet[k], NULL);
  mean_pose(in, pose);
  sum += add_buoyancy(in, (const FluidNumber(*)[4])pose, triangle_area(in->point), NULL) * in->whole / in->ahead;
  return creal(sum);
}

/* ---------------------------------------------------------------- a link in a step */

static void copy_pose(const Pose* pose, FluidNumber out[3][4]) {
  const double t[3] = {pose->t.x, pose->t.y, pose->t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[i][j] = pose->r.m[i][j];
    out[i][3] = t[i];
  }
}

static void copy_fluid_parameters(const Model* m, FluidInput* in) {
  const SceneFluid* fluid = &m->scene->fluid;
  in->number[FLUID_DENSITY] = fluid->density;
  in->number[FLUID_VISCOSITY] = fluid->viscosity;
  in->number[FLUID_VELOCITY] = fluid->velocity.x;
  in->number[FLUID_VELOCITY + 1] = fluid->velocity.y;
  in->number[FLUID_VELOCITY + 2] = fluid->velocity.z;
  in->number[FLUID_LEVEL] = fluid->level;
  in->has_level = fluid->has_level;
  in->gravity = m->simulation.gravity;
  double pull = vec3_norm(in->gravity);
  in->up = pull > 0 ? vec3_scale(in->gravity, -1 / pull) : vec3(0, 0, 1);
}

/* Returns true if no joint between the link and the world is a ball joint. Springs of ball joints act at t + dt, and so
 * does the buoyancy of all links that such joints carry (L14). */
static bool has_no_ball_joint_above(const Model* m, int link) {
  bool complex_vector = true;
  for (int up = link; up >= 0; up = m->links[up].parent)
    complex_vector = complex_vector && !m->links[up].joint.quaternion;
  return complex_vector;
}

FluidInput fluid_input(const Sim* s, int link, const Pose* pose) {
  assert(link >= 0 && link < s->model->link_count);
  FluidInput in = {.dt = s->clock.dt};
  copy_fluid_parameters(s->model, &in);
  copy_pose(pose, in.pose);
  copy_pose(&s->pose_now[link], in.now);
  copy_pose(&s->pose_old[link], in.old);
  copy_pose(&s->pose_rate[link], in.rate);
  const ModelLink* l = &s->model->links[link];
  bool keeps = s->model->simulation.integrator == INTEGRATOR_MOMENTUM && has_no_ball_joint_above(s->model, link);
  SpringTimeWeights at = spring_time_weights(&s->clock, &s->weights, keeps ? 0.5 : 1, s->model->trees[l->tree].flies);
  in.ahead = spring_weight_of_end(&at);
  in.at_now = at.now;
  in.at_old = at.old;
  in.whole = 1 - at.missing;
  at = spring_time_weights(&s->clock, &s->weights, 0.5, s->model->trees[l->tree].flies);
  in.drag = 1 - at.missing;
  in.dt_before = fmax(s->clock.dt_before, 0);
  in.mass = l->mass;
  return in;
}

void fluid_set_face(const FluidSystem* s, int index, FluidInput* in) {
  assert(index < s->first[s->model->link_count]);
  assert(index >= 0);
  const FluidFace* face = &s->face[index];
  for (int c = 0; c < 3; c++) in->point[c] = complex_vector(face->point[c]);
  in->slowing = s->slowing[face->hull];
}

double fluid_energy(const Sim* s, int link, const Pose* pose) {
  assert(link >= 0 && link < s->model->link_count);
  const FluidSystem* f = s->fluid;
  FluidInput in = fluid_input(s, link, pose);
  double sum = 0;
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    fluid_set_face(f, k, &in);
    sum += face_energy(&in);
  }
  return sum;
}

double fluid_potential(const FluidSystem* f, int link, const Pose* pose) {
  assert(!f || (link >= 0 && link < f->model->link_count));
  if (!fluid_acts_on(f, link)) return 0;
  FluidInput in = {.dt = 1};
  double sum = 0;
  copy_fluid_parameters(f->model, &in);
  copy_pose(pose, in.pose);
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    fluid_set_face(f, k, &in);
    sum += creal(add_buoyancy(&in, (const FluidNumber(*)[4])in.pose, triangle_area(in.point), NULL));
  }
  return sum;
}

double sim_fluid_energy(const Model* m, const Pose* poses) {
  FluidSystem* f = fluid_create(m);
  double sum = 0;
  for (int i = 0; f && i < m->link_count; i++) sum += fluid_potential(f, i, &poses[i]);
  fluid_destroy(f);
  return sum;
}

static void add_face_slopes(const FluidSystem* f, int link, FluidInput* in, FluidNumber slope[3][4]) {
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    fluid_set_face(f, k, in);
    fluid_face_slope(in, slope);
  }
}

/* Sets out to the change of the link's rotation matrix and position by a unit twist about the centre of mass, world
 * axes. column 0 to 2: rotations; 3 to 5: translations. */
static void unit_motion(const ModelLink* link, const Pose* pose, int column, double out[3][4]) {
  assert(column >= 0 && column < 6);
  double unit[3] = {0};
  unit[column % 3] = 1;
  Mat3 turned = mat3_zero();
  Vec3 motion = vec3(unit[0], unit[1], unit[2]);
  if (column < 3) {
    turned = mat3_mul(mat3_cross(motion), pose->r);
    motion = vec3_scale(mat3_mul_vec(turned, link->center), -1);
  }
  const double t[3] = {motion.x, motion.y, motion.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[i][j] = turned.m[i][j];
    out[i][3] = t[i];
  }
}

/* Converts the real part of `slope`, the derivative of an energy with respect to the link's rotation matrix and
 * position, into a force and a first moment about the centre of mass, world axes. */
static void force_and_moment(const ModelLink* link, const Pose* pose, const FluidNumber slope[3][4], Vec3* force,
                             Mat3* moment) {
  Mat3 turned;
  *force = vec3(creal(slope[0][3]), creal(slope[1][3]), creal(slope[2][3]));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) turned.m[i][j] = creal(slope[i][j]);
  *moment = mat3_mul(mat3_sub(turned, mat3_outer(*force, link->center)), mat3_transpose(pose->r));
}

static void compute_force_and_moment(const Sim* s, int link, const Pose* pose, Vec3* force, Mat3* moment) {
  FluidInput in = fluid_input(s, link, pose);
  FluidNumber slope[3][4] = {{0}};
  add_face_slopes(s->fluid, link, &in, slope);
  force_and_moment(&s->model->links[link], pose, (const FluidNumber(*)[4])slope, force, moment);
}

/* Evaluates the derivative of the energy at six complex poses, one for each twist component. The imaginary parts give
 * the columns of the Hessian. The real part of the first evaluation gives the force and the first moment (L15). */
void fluid_add_terms(const Sim* s, int link, const Pose* pose, LinkTerms* terms) {
  assert(link >= 0 && link < s->model->link_count);
  const ModelLink* l = &s->model->links[link];
  const FluidInput still = fluid_input(s, link, pose);
  double motion[6][3][4];
  for (int k = 0; k < 6; k++) unit_motion(l, pose, k, motion[k]);
  for (int k = 0; k < 6; k++) {
    FluidInput in = still;
    FluidNumber slope[3][4] = {{0}};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) in.pose[i][j] += FLUID_COMPLEX_STEP * motion[k][i][j] * (double complex)I;
    add_face_slopes(s->fluid, link, &in, slope);
    for (int n = 0; n < 6; n++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) terms->hessian[n][k] += motion[n][i][j] * (cimag(slope[i][j]) / FLUID_COMPLEX_STEP);
    if (k > 0) continue;
    Vec3 force;
    Mat3 moment;
    force_and_moment(l, pose, (const FluidNumber(*)[4])slope, &force, &moment);
    terms->force = vec3_add(terms->force, force);
    terms->moment = mat3_add(terms->moment, moment);
  }
}

void fluid_wrench(const Sim* s, int link, const Pose* pose, Vec3* force, Vec3* torque) {
  assert(link >= 0 && link < s->model->link_count);
  Mat3 moment;
  compute_force_and_moment(s, link, pose, force, &moment);
  *force = vec3_scale(*force, -1);
  *torque = vec3_scale(mat3_axial(moment), -1);
  *torque = vec3_add(*torque, vec3_cross(mat3_mul_vec(pose->r, s->model->links[link].center), *force));
}

ForceMagnitudes fluid_force_magnitudes(const Sim* s, int link, const Pose* pose) {
  assert(link >= 0 && link < s->model->link_count);
  Vec3 force;
  Mat3 moment;
  compute_force_and_moment(s, link, pose, &force, &moment);
  return (ForceMagnitudes){vec3_norm(force), vec3_norm(mat3_axial(moment))};
}
