/* Drag and buoyancy of hulls in a fluid (docs/derivations/fluid.md). */
#include "simulate/fluid.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- faces of the hulls */

static double solid_volume(const ConvexHull* solid) { return mass_moment_solid(solid).s[3][3]; }

/* Returns the factor by which the polyhedron of a round solid or smooth shape is scaled to the exact volume; 1 for all
 * other hulls. */
static double volume_scale(const ModelHull* hull) {
  double volume = solid_volume(&hull->solid), exact = hull->kind->moment(hull).s[3][3];
  return hull->smooth && volume > 0 && exact > 0 ? math_cbrt(exact / volume) : 1;
}

static Vec3 face_area(const FluidFace* face) {
  Vec3 a = vec3_sub(face->point[1], face->point[0]), b = vec3_sub(face->point[2], face->point[0]);
  return vec3_scale(vec3_cross(a, b), 0.5);
}

/* Adds volume and first moment of the tetrahedron between the triangle p and the origin to volume[4]. */
static void add_volume(const Vec3 p[3], double volume[4]) {
  double size = vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6;
  Vec3 at = vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 0.25);
  const double x[4] = {at.x, at.y, at.z, 1};
  for (int j = 0; j < 4; j++) volume[j] += size * x[j];
}

/* Returns the first hull of the body to which a hull belongs. */
static int first_hull_of_body(const FluidSystem* s, int index) {
  const ModelHull *hull = &s->model->hulls[index], *before = hull - 1;
  bool joins = index > s->model->links[hull->link].hull_first && before->shape == hull->shape &&
               hull->solid.vertex_count == 3 && before->solid.vertex_count == 3;
  return joins ? s->body[index - 1] : index;
}

static int add_hull(FluidSystem* s, int index, int count) {
  const ModelHull* hull = &s->model->hulls[index];
  int body = s->body[index] = first_hull_of_body(s, index);
  s->scale[index] = volume_scale(hull);
  if (hull->smooth) model_volume_derivatives(hull, s->volume_slope);
  for (int k = 0; k < hull->solid.triangle_count; k++, count++) {
    FluidFace* face = &s->face[count];
    *face = (FluidFace){.link = hull->link, .hull = index};
    for (int c = 0; c < 3; c++) {
      face->corner[c] = hull->solid.triangles[k][c];
      Vec3 arm = vec3_sub(hull->solid.vertices[face->corner[c]], fluid_scale_center(hull));
      face->point[c] = vec3_add_scaled(fluid_scale_center(hull), s->scale[index], arm);
    }
    s->surface[body] += vec3_norm(face_area(face));
    add_volume(face->point, s->volume[hull->link]);
  }
  double radius = sqrt(s->surface[body] / (4 * M_PI));
  s->slowing[body] = radius > 0 ? 1.5 / radius : 0;
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
  s->body = MEMORY_NEW(int, m->hull_count);
  s->slowing = MEMORY_NEW(double, m->hull_count);
  s->surface = MEMORY_NEW(double, m->hull_count);
  s->scale = MEMORY_NEW(double, m->hull_count);
  s->force = MEMORY_NEW(DragForce, m->link_count);
  s->volume = (double(*)[4])MEMORY_NEW(double, 4 * m->link_count);
  s->volume_slope = MEMORY_NEW(double, m->shape_parameter_count);
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
  void* owned[] = {s->face,  s->first,  s->body,         s->slowing, s->surface,
                   s->scale, s->volume, s->volume_slope, s->force,   s};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* ---------------------------------------------------------------- arithmetic of FluidNumber */

static FluidVector sub(FluidVector a, FluidVector b) { return (FluidVector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static FluidVector scale(FluidVector a, FluidNumber f) { return (FluidVector){a.x * f, a.y * f, a.z * f}; }
static FluidNumber dot(FluidVector a, FluidVector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static FluidVector cross(FluidVector a, FluidVector b) {
  return (FluidVector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static FluidVector complex_vector(Vec3 v) { return (FluidVector){v.x, v.y, v.z}; }

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

/* Returns the number of values with a positive real part. Sets *odd_index to the index of the value whose sign differs
 * from the signs of the other two. */
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

/* ---------------------------------------------------------------- buoyancy of a face in a fluid with a surface */

static FluidVector triangle_area(const FluidVector p[3]) { return scale(cross(sub(p[1], p[0]), sub(p[2], p[0])), 0.5); }

/* Returns the potential energy of the fluid that the face's part of the hull displaces (L10) [J]. Sets by[k] to the
 * derivative of -energy with respect to the depth of corner k, and *square to that with respect to the area's component
 * along `up`. */
static FluidNumber face_buoyancy(const BuoyancyInput* in, FluidNumber by[3], FluidNumber* square) {
  FluidVector up = in->up;
  FluidNumber d[3], factor = in->density * in->gravity / 12;
  for (int k = 0; k < 3; k++) d[k] = in->level - dot(up, transform_by_pose(in->pose, in->point[k]));
  FluidNumber rise = dot(up, rotate_by_pose(in->pose, triangle_area(in->point)));
  *square = factor * positive_divided_difference(d, by);
  for (int k = 0; k < 3; k++) by[k] *= factor * rise;
  return -*square * rise;
}

void fluid_buoyancy_slope(const BuoyancyInput* in, FluidNumber slope[3][4]) {
  FluidNumber by[3], square;
  face_buoyancy(in, by, &square);
  FluidVector up = in->up, flat = scale(triangle_area(in->point), -square);
  for (int k = 0; k < 3; k++) add_point_force(slope, scale(up, by[k]), in->point[k]);
  const FluidNumber u[3] = {up.x, up.y, up.z}, f[3] = {flat.x, flat.y, flat.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) slope[i][j] += u[i] * f[j];
}

/* ---------------------------------------------------------------- forces on a link in a step */

static void copy_pose(const Pose* pose, FluidNumber out[3][4]) {
  const double t[3] = {pose->t.x, pose->t.y, pose->t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[i][j] = pose->r.m[i][j];
    out[i][3] = t[i];
  }
}

static Vec3 upward(const Model* m) {
  double pull = vec3_norm(m->simulation.gravity);
  return pull > 0 ? vec3_scale(m->simulation.gravity, -1 / pull) : vec3(0, 0, 1);
}

/* Returns true if all joints between the link and the world are slides, so that the link keeps its orientation. */
static bool keeps_orientation(const Model* m, int link) {
  for (int up = link; up >= 0; up = m->links[up].parent)
    if (m->links[up].joint.hinge_count > 0 || m->links[up].joint.quaternion) return false;
  return true;
}

FluidWeights fluid_weights(const Sim* s, int link) {
  assert(link >= 0 && link < s->model->link_count);
  bool keeps = s->model->simulation.integrator == INTEGRATOR_MOMENTUM && keeps_orientation(s->model, link);
  bool flies = s->model->trees[s->model->links[link].tree].flies;
  SpringTimeWeights at = spring_time_weights(&s->clock, &s->weights, keeps ? 0.5 : 1, flies);
  SpringTimeWeights mean = spring_time_weights(&s->clock, &s->weights, 0.5, flies);
  return (FluidWeights){spring_weight_of_end(&at), at.now, at.old, 1 - mean.missing, 1 - at.missing};
}

/* Sets out to factor times the difference of two poses, minus the fluid's velocity. */
static void velocity_matrix(Pose to, Pose from, double factor, Vec3 stream, double out[3][4]) {
  Vec3 t = vec3_sub(vec3_scale(vec3_sub(to.t, from.t), factor), stream);
  const double shift[3] = {t.x, t.y, t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out[i][j] = factor * (to.r.m[i][j] - from.r.m[i][j]);
    out[i][3] = shift[i];
  }
}

DragInput fluid_drag_input(const Sim* s, int link, const Pose* pose) {
  assert(link >= 0 && link < s->model->link_count);
  const SceneFluid* fluid = &s->model->scene->fluid;
  DragInput in = {.now = s->pose_now[link],
                  .density = fluid->density,
                  .viscosity = fluid->viscosity,
                  .mass = s->model->links[link].mass,
                  .dt = s->clock.dt,
                  .up = upward(s->model),
                  .level = fluid->level,
                  .has_level = fluid->has_level};
  const Pose rest = {.r = mat3_zero(), .t = vec3(0, 0, 0)};
  velocity_matrix(*pose, in.now, 1 / in.dt, fluid->velocity, in.v);
  if (s->clock.dt_before > 0)
    velocity_matrix(in.now, s->pose_old[link], 1 / s->clock.dt_before, fluid->velocity, in.w);
  else
    velocity_matrix(s->pose_rate[link], rest, 1, fluid->velocity, in.w);
  return in;
}

BuoyancyInput fluid_buoyancy_input(const Sim* s, int link, const Pose* pose, const Pose* at_now, const Pose* at_old) {
  const SceneFluid* fluid = &s->model->scene->fluid;
  FluidWeights at = fluid_weights(s, link);
  BuoyancyInput in = {.density = fluid->density,
                      .level = fluid->level,
                      .up = complex_vector(upward(s->model)),
                      .gravity = vec3_norm(s->model->simulation.gravity),
                      .at = at};
  FluidNumber now[3][4], old[3][4];
  copy_pose(pose, in.pose);
  copy_pose(at_now, now);
  copy_pose(at_old, old);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) in.pose[i][j] = at.ahead * in.pose[i][j] + at.now * now[i][j] + at.old * old[i][j];
  return in;
}

static BuoyancyInput step_buoyancy_input(const Sim* s, int link, const Pose* pose) {
  return fluid_buoyancy_input(s, link, pose, &s->pose_now[link], &s->pose_old[link]);
}

void fluid_set_face(const FluidFace* face, BuoyancyInput* in) {
  for (int c = 0; c < 3; c++) in->point[c] = complex_vector(face->point[c]);
}

/* Without a surface of the fluid, buoyancy is a constant force at the centroid of the link's volume. Adds the
 * derivative of factor times its energy with respect to the link's pose. */
static void add_displaced_weight(const Sim* s, int link, double factor, double slope[3][4]) {
  const Vec3 gravity = s->model->simulation.gravity;
  const double pull[3] = {gravity.x, gravity.y, gravity.z}, density = s->model->scene->fluid.density;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) slope[i][j] += factor * density * pull[i] * s->fluid->volume[link][j];
}

bool fluid_buoyancy_acts_at_start(const Sim* s, int link) {
  return s->model->simulation.integrator == INTEGRATOR_MOMENTUM && fluid_acts_on(s->fluid, link) &&
         !keeps_orientation(s->model, link);
}

static void prepare_link(const Sim* s, int link) {
  const FluidSystem* f = s->fluid;
  DragForce* out = &f->force[link];
  DragInput in = fluid_drag_input(s, link, &s->pose_now[link]);
  FluidWeights at = fluid_weights(s, link);
  memset(out, 0, sizeof *out);
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    in.slowing = f->slowing[f->body[f->face[k].hull]];
    drag_add_face(&in, f->face[k].point, out);
  }
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) out->matrix[i][j] *= at.drag;
    out->constant[i / 4][i % 4] *= at.drag;
  }
  if (!in.has_level) add_displaced_weight(s, link, at.buoyancy, out->constant);
}

void fluid_prepare_step(Sim* s) {
  for (int i = 0; s->fluid && i < s->model->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) prepare_link(s, i);
}

/* Returns the energy of the drag on a link; adds its derivative with respect to the pose at t + dt to slope. */
static double add_drag(const Sim* s, int link, const Pose* pose, double slope[3][4]) {
  DragInput in = fluid_drag_input(s, link, pose);
  const DragForce* f = &s->fluid->force[link];
  double energy = 0;
  for (int i = 0; i < 12; i++) {
    double product = 0;
    for (int j = 0; j < 12; j++) product += f->matrix[i][j] * in.v[j / 4][j % 4];
    slope[i / 4][i % 4] += product + f->constant[i / 4][i % 4];
    energy += (0.5 * product + f->constant[i / 4][i % 4]) * in.v[i / 4][i % 4];
  }
  return energy * in.dt;
}

/* Adds the sum of fluid_buoyancy_slope over the faces of a link to sum. */
static void sum_face_slopes(const FluidSystem* f, int link, BuoyancyInput* in, FluidNumber sum[3][4]) {
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    fluid_set_face(&f->face[k], in);
    fluid_buoyancy_slope(in, sum);
  }
}

/* Adds the derivative of the energy of buoyancy with respect to the pose at t + dt, in a fluid with a surface. */
static void add_surface_slope(const FluidSystem* f, int link, BuoyancyInput* in, double slope[3][4]) {
  FluidNumber sum[3][4] = {{0}};
  sum_face_slopes(f, link, in, sum);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) slope[i][j] += in->at.buoyancy * creal(sum[i][j]);
}

void fluid_buoyancy_slope_at(const Sim* s, int link, const Pose* pose, double slope[3][4]) {
  memset(slope, 0, sizeof(double[3][4]));
  if (!s->model->scene->fluid.has_level) {
    add_displaced_weight(s, link, 1, slope);
    return;
  }
  BuoyancyInput in = fluid_buoyancy_input(s, link, pose, pose, pose);
  in.at.buoyancy = 1;
  add_surface_slope(s->fluid, link, &in, slope);
}

static double surface_potential(const FluidSystem* f, int link, BuoyancyInput* in) {
  FluidNumber sum = 0, by[3], square;
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    fluid_set_face(&f->face[k], in);
    sum += face_buoyancy(in, by, &square);
  }
  return creal(sum);
}

void fluid_add_buoyancy_slope(const Sim* s, int link, double bar[3][4]) {
  if (!s->model->scene->fluid.has_level) {
    add_displaced_weight(s, link, fluid_weights(s, link).buoyancy, bar);
    return;
  }
  BuoyancyInput in = fluid_buoyancy_input(s, link, &s->pose_now[link], &s->pose_old[link], &s->pose_older[link]);
  add_surface_slope(s->fluid, link, &in, bar);
}

double fluid_energy(const Sim* s, int link, const Pose* pose) {
  assert(link >= 0 && link < s->model->link_count);
  double slope[3][4] = {{0}}, energy = add_drag(s, link, pose, slope);
  if (!s->model->scene->fluid.has_level) return energy;
  BuoyancyInput in = step_buoyancy_input(s, link, pose);
  return energy + surface_potential(s->fluid, link, &in) * in.at.buoyancy / in.at.ahead;
}

double fluid_potential(const FluidSystem* f, int link, const Pose* pose) {
  assert(!f || (link >= 0 && link < f->model->link_count));
  if (!fluid_acts_on(f, link)) return 0;
  const SceneFluid* fluid = &f->model->scene->fluid;
  const Vec3 gravity = f->model->simulation.gravity;
  const double* v = f->volume[link];
  Vec3 at = vec3_add_scaled(mat3_mul_vec(pose->r, vec3(v[0], v[1], v[2])), v[3], pose->t);
  if (!fluid->has_level) return fluid->density * vec3_dot(gravity, at);
  BuoyancyInput in = {.density = fluid->density,
                      .level = fluid->level,
                      .up = complex_vector(upward(f->model)),
                      .gravity = vec3_norm(gravity)};
  copy_pose(pose, in.pose);
  return surface_potential(f, link, &in);
}

double sim_fluid_energy(const Model* m, const Pose* poses) {
  FluidSystem* f = fluid_create(m);
  double sum = 0;
  for (int i = 0; f && i < m->link_count; i++) sum += fluid_potential(f, i, &poses[i]);
  fluid_destroy(f);
  return sum;
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

/* Sets force and moment to the derivative of the fluid's energy with respect to the link's motion: a force and a first
 * moment about the centre of mass, world axes. */
static void compute_force_and_moment(const Sim* s, int link, const Pose* pose, Vec3* force, Mat3* moment) {
  double slope[3][4] = {{0}};
  add_drag(s, link, pose, slope);
  if (s->model->scene->fluid.has_level) {
    BuoyancyInput in = step_buoyancy_input(s, link, pose);
    add_surface_slope(s->fluid, link, &in, slope);
  }
  *force = pose_matrix_translation((const double(*)[4])slope);
  Mat3 turned = pose_matrix_rotation((const double(*)[4])slope);
  *moment = mat3_mul(mat3_sub(turned, mat3_outer(*force, s->model->links[link].center)), mat3_transpose(pose->r));
}

/* Adds the Hessian of the buoyancy: the derivatives of its slope at complex poses, one for each twist component (L15).
 */
static void add_buoyancy_hessian(const Sim* s, int link, const Pose* pose, const double (*motion)[3][4],
                                 double hessian[6][6]) {
  const BuoyancyInput still = step_buoyancy_input(s, link, pose);
  const FluidWeights at = still.at;
  for (int k = 0; k < 6; k++) {
    BuoyancyInput in = still;
    FluidNumber slope[3][4] = {{0}};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) in.pose[i][j] += FLUID_COMPLEX_STEP * at.ahead * motion[k][i][j] * (double complex)I;
    sum_face_slopes(s->fluid, link, &in, slope);
    for (int n = 0; n < 6; n++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
          hessian[n][k] += motion[n][i][j] * (at.buoyancy * cimag(slope[i][j]) / FLUID_COMPLEX_STEP);
  }
}

void fluid_add_terms(const Sim* s, int link, const Pose* pose, LinkTerms* terms) {
  assert(link >= 0 && link < s->model->link_count);
  const DragForce* f = &s->fluid->force[link];
  double motion[6][3][4], dt = s->clock.dt;
  Vec3 force;
  Mat3 moment;
  for (int k = 0; k < 6; k++) unit_motion(&s->model->links[link], pose, k, motion[k]);
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < 12; i++) {
      double product = 0;
      for (int j = 0; j < 12; j++) product += f->matrix[i][j] * motion[k][j / 4][j % 4];
      for (int n = 0; n < 6; n++) terms->hessian[n][k] += motion[n][i / 4][i % 4] * product / dt;
    }
  if (s->model->scene->fluid.has_level)
    add_buoyancy_hessian(s, link, pose, (const double(*)[3][4])motion, terms->hessian);
  compute_force_and_moment(s, link, pose, &force, &moment);
  terms->force = vec3_add(terms->force, force);
  terms->moment = mat3_add(terms->moment, moment);
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
