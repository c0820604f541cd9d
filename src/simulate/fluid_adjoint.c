/* Adjoint of drag and buoyancy (docs/derivations/fluid.md, L15). */
#include "simulate/fluid.h"

/* Adds the product of the Hessian of the link's fluid energy and a small motion `twist` to wrench[6]. wrench (torque,
 * force) and twist (rotation, translation) refer to the link's centre of mass, world axes. */
static void add_link_hessian_product(const Sim* s, int link, const double twist[6], double wrench[6]) {
  const Pose* pose = &s->configuration[s->current].pose[link];
  LinkTerms terms = {.force = vec3(0, 0, 0), .moment = mat3_zero()};
  fluid_add_terms(s, link, pose, &terms);
  for (int n = 0; n < 6; n++)
    for (int k = 0; k < 6; k++) wrench[n] += terms.hessian[n][k] * twist[k];
}

void fluid_hessian_product(const Sim* s, const double (*twist)[6], double (*wrench)[6]) {
  for (int i = 0; s->fluid && i < s->model->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) add_link_hessian_product(s, i, twist[i], wrench[i]);
}

/* Returns the scalar product of `motion` and the derivative of the energy of the face's buoyancy with respect to the
 * pose. */
static FluidNumber directional_derivative(const BuoyancyInput* in, const double motion[3][4]) {
  FluidNumber slope[3][4] = {{0}}, sum = 0;
  fluid_buoyancy_slope(in, slope);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) sum += motion[i][j] * slope[i][j];
  return sum;
}

/* Returns the derivative of directional_derivative with respect to *number, a member of *in, by a complex step.
 * Restores *number. */
static double derivative_by_complex_step(BuoyancyInput* in, FluidNumber* number, const double motion[3][4]) {
  FluidNumber kept = *number;
  *number += FLUID_COMPLEX_STEP * (double complex)I;
  double change = cimag(directional_derivative(in, motion)) / FLUID_COMPLEX_STEP;
  *number = kept;
  return change;
}

/* Adds the contribution of the surface area of a body to the derivatives of a scalar with respect to its vertices.
 * face: any face of the body. The scalar depends on slowing = 3 sqrt(pi / surface). bar: derivative of the scalar with
 * respect to slowing. Returns the derivative with respect to the hull's scale. */
static double add_surface_area_bars(const FluidSystem* f, const FluidFace* face, double bar, ModelGradient* gradient) {
  int body = f->body[face->hull];
  double by_surface = -0.5 * bar * f->slowing[body] / f->surface[body] * f->scale[face->hull];
  for (int t = f->first[face->link]; t < f->first[face->link + 1]; t++) {
    const FluidFace* other = &f->face[t];
    if (f->body[other->hull] != body) continue;
    Vec3 area = vec3_cross(vec3_sub(other->point[1], other->point[0]), vec3_sub(other->point[2], other->point[0]));
    double size = vec3_norm(area);
    for (int c = 0; c < 3 && size > 0; c++) {
      Vec3 edge = vec3_sub(other->point[(c + 2) % 3], other->point[(c + 1) % 3]);
      Vec3* out = &gradient->vertices[f->model->hulls[other->hull].vertex_first + other->corner[c]];
      *out = vec3_add_scaled(*out, 0.5 * by_surface / size, vec3_cross(area, edge));
    }
  }
  return -bar * f->slowing[body] / f->scale[face->hull];
}

/* Adds the derivatives of a scalar with respect to the corners of a face. Returns the derivative with respect to the
 * hull's scale. */
static double add_vertex_bars(const FluidSystem* f, const FluidFace* face, const Vec3 bar[3], ModelGradient* gradient) {
  const ModelHull* hull = &f->model->hulls[face->hull];
  double scale = f->scale[face->hull], by_scale = 0;
  for (int c = 0; c < 3; c++) {
    Vec3* out = &gradient->vertices[hull->vertex_first + face->corner[c]];
    *out = vec3_add_scaled(*out, scale, bar[c]);
    by_scale += vec3_dot(bar[c], vec3_sub(face->point[c], fluid_scale_center(hull))) / scale;
  }
  return by_scale;
}

/* Returns true if face k of the link is the last one of its body. */
static bool is_last_of_body(const FluidSystem* f, int link, int k) {
  return k + 1 == f->first[link + 1] || f->body[f->face[k + 1].hull] != f->body[f->face[k].hull];
}

/* Returns true if face k of the link is the last one of its hull. */
static bool is_last_of_hull(const FluidSystem* f, int link, int k) {
  return k + 1 == f->first[link + 1] || f->face[k + 1].hull != f->face[k].hull;
}

/* Adds the contribution of the scale of a round solid or smooth shape (L10) to the derivatives of a scalar. The scale s
 * is (V / P)^(1/3) with the volumes V of the solid and P of its polyhedron. bar: derivative of the scalar with respect
 * to s. */
static void scale_adjoint(const FluidSystem* f, int index, double bar, ModelGradient* gradient) {
  const ModelHull* hull = &f->model->hulls[index];
  if (!hull->smooth || bar == 0) return;
  double scale = f->scale[index], volume = hull->kind->moment(hull).s[3][3];
  double by_volume = bar * scale / (3 * volume), by_polyhedron = -by_volume * scale * scale * scale;
  for (int k = hull->smooth->parameter_first, n = 0; n < hull_parameter_count(hull); k++, n++)
    gradient->shapes[k] += by_volume * f->volume_slope[k];
  for (int t = 0; t < hull->solid.triangle_count; t++)
    for (int c = 0; c < 3; c++) {
      const int* corner = hull->solid.triangles[t];
      Vec3 a = vec3_sub(hull->solid.vertices[corner[(c + 1) % 3]], fluid_scale_center(hull));
      Vec3 b = vec3_sub(hull->solid.vertices[corner[(c + 2) % 3]], fluid_scale_center(hull));
      Vec3* out = &gradient->vertices[hull->vertex_first + corner[c]];
      *out = vec3_add_scaled(*out, by_polyhedron / 6, vec3_cross(a, b));
    }
}

/* Adds the derivatives of factor V (density g . motion (x, 1)), the work of buoyancy in a fluid without a surface. V,
 * x: volume and centroid of the tetrahedron between the face p and the origin. The derivatives with respect to the
 * density and to gravity are added to *gradient. */
static void volume_adjoint(const Model* m, const Vec3 p[3], const double motion[3][4], double factor,
                           ModelGradient* gradient, Vec3 p_bar[3]) {
  const Vec3 g = m->simulation.gravity;
  const double pull[3] = {g.x, g.y, g.z};
  double by[4] = {0}, density = m->scene->fluid.density;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) by[j] += factor * pull[i] * motion[i][j];
  Vec3 turn = vec3(by[0], by[1], by[2]), at = vec3_scale(vec3_add(p[0], vec3_add(p[1], p[2])), 0.25);
  double volume = vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6, work = vec3_dot(turn, at) + by[3];
  gradient->fluid[FLUID_DENSITY] += volume * work;
  double weight[3];
  for (int i = 0; i < 3; i++)
    weight[i] =
        factor * density * volume * (motion[i][0] * at.x + motion[i][1] * at.y + motion[i][2] * at.z + motion[i][3]);
  gradient->gravity = vec3_add(gradient->gravity, vec3_at(weight));
  for (int c = 0; c < 3; c++) {
    Vec3 by_volume = vec3_scale(vec3_cross(p[(c + 1) % 3], p[(c + 2) % 3]), density * work / 6);
    p_bar[c] = vec3_add(p_bar[c], vec3_add_scaled(by_volume, density * volume / 4, turn));
  }
}

/* Adds the derivatives of a scalar with respect to gravity. up_bar: derivatives with respect to `up`, the unit vector
 * against gravity. Does nothing without gravity. */
static void add_direction_bar(Vec3 gravity, Vec3 up_bar, ModelGradient* gradient) {
  double pull = vec3_norm(gravity);
  if (!(pull > 0)) return;
  Vec3 up = vec3_scale(gravity, -1 / pull), across = vec3_add_scaled(up_bar, -vec3_dot(up_bar, up), up);
  gradient->gravity = vec3_add_scaled(gradient->gravity, -1 / pull, across);
}

/* Adds the derivatives of the work of buoyancy of a face with respect to gravity. work: this work. It is proportional
 * to the magnitude of gravity, whose direction is that of the surface's normal. */
static void add_upward_bar(BuoyancyInput* in, double factor, const double motion[3][4], double work,
                           ModelGradient* gradient) {
  if (!(in->gravity > 0)) return;
  FluidVector* up = &in->up;
  Vec3 direction = vec3(creal(up->x), creal(up->y), creal(up->z)), gravity = vec3_scale(direction, -in->gravity);
  Vec3 bar = vec3(derivative_by_complex_step(in, &up->x, motion), derivative_by_complex_step(in, &up->y, motion),
                  derivative_by_complex_step(in, &up->z, motion));
  add_direction_bar(gravity, vec3_scale(bar, factor), gradient);
  gradient->gravity = vec3_add_scaled(gradient->gravity, -work / in->gravity, direction);
}

/* Adds the derivatives of the work of buoyancy of a face in a fluid with a surface. Those with respect to the mean pose
 * are added to pose_bar. */
static void surface_adjoint(BuoyancyInput* in, const FluidFace* face, const double motion[3][4], double factor,
                            double pose_bar[3][4], ModelGradient* gradient, Vec3 p_bar[3]) {
  double* number_bar = gradient->fluid;
  fluid_set_face(face, in);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) pose_bar[i][j] += factor * derivative_by_complex_step(in, &in->pose[i][j], motion);
  double by_density = factor * derivative_by_complex_step(in, &in->density, motion);
  number_bar[FLUID_DENSITY] += by_density;
  add_upward_bar(in, factor, motion, creal(in->density) * by_density, gradient);
  number_bar[FLUID_LEVEL] += factor * derivative_by_complex_step(in, &in->level, motion);
  for (int c = 0; c < 3; c++) {
    FluidVector* p = &in->point[c];
    Vec3 bar = vec3(derivative_by_complex_step(in, &p->x, motion), derivative_by_complex_step(in, &p->y, motion),
                    derivative_by_complex_step(in, &p->z, motion));
    p_bar[c] = vec3_add_scaled(p_bar[c], factor, bar);
  }
}

static void add_scaled_matrix(double out[3][4], double factor, const double m[3][4]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) out[i][j] += factor * m[i][j];
}

static void add_drag_bars(const Sim* s, int link, const DragBar* bar, StateBar now, StateBar old,
                          double (*rate_bar)[3][4], ModelGradient* gradient) {
  double dt = s->clock.dt, before = s->clock.dt_before;
  add_scaled_matrix(now.pose[link], 1, bar->now);
  add_scaled_matrix(now.pose[link], -1 / dt, bar->v);
  if (before > 0) {
    add_scaled_matrix(now.pose[link], 1 / before, bar->w);
    add_scaled_matrix(old.pose[link], -1 / before, bar->w);
  } else {
    add_scaled_matrix(rate_bar[link], 1, bar->w);
  }
  gradient->moment[link].s[3][3] += bar->mass;
  gradient->fluid[FLUID_DENSITY] += bar->density;
  gradient->fluid[FLUID_VISCOSITY] += bar->viscosity;
  gradient->fluid[FLUID_LEVEL] += bar->level;
  for (int i = 0; i < 3; i++) gradient->fluid[FLUID_VELOCITY + i] -= bar->v[i][3] + bar->w[i][3];
  add_direction_bar(s->model->simulation.gravity, bar->up, gradient);
}

static void link_adjoint(const Sim* s, int link, const double motion[3][4], StateBar now, StateBar old,
                         double (*rate_bar)[3][4], ModelGradient* gradient) {
  const FluidSystem* f = s->fluid;
  const Pose* pose = &s->configuration[s->current].pose[link];
  DragInput in = fluid_drag_input(s, link, pose);
  BuoyancyInput float_in = fluid_buoyancy_input(s, link, pose, &s->pose_now[link], &s->pose_old[link]);
  const FluidWeights at = float_in.at;
  DragBar bar = {.mass = 0};
  double drag_motion[3][4] = {{0}}, pose_bar[3][4] = {{0}}, by_scale = 0;
  add_scaled_matrix(drag_motion, at.drag, motion);
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    const FluidFace* face = &f->face[k];
    Vec3 p_bar[3] = {{0}};
    in.slowing = f->slowing[f->body[face->hull]];
    drag_face_adjoint(&in, face->point, (const double(*)[4])drag_motion, &bar, p_bar);
    if (in.has_level)
      surface_adjoint(&float_in, face, motion, at.buoyancy, pose_bar, gradient, p_bar);
    else
      volume_adjoint(s->model, face->point, motion, at.buoyancy, gradient, p_bar);
    by_scale += add_vertex_bars(f, face, p_bar, gradient);
    if (!is_last_of_hull(f, link, k)) continue;
    if (is_last_of_body(f, link, k)) {
      by_scale += add_surface_area_bars(f, face, bar.slowing, gradient);
      bar.slowing = 0;
    }
    scale_adjoint(f, face->hull, by_scale, gradient);
    by_scale = 0;
  }
  add_scaled_matrix(now.pose[link], at.now, (const double(*)[4])pose_bar);
  add_scaled_matrix(old.pose[link], at.old, (const double(*)[4])pose_bar);
  add_drag_bars(s, link, &bar, now, old, rate_bar, gradient);
}

void fluid_buoyancy_slope_adjoint(const Sim* s, int link, const Pose* pose, const double motion[3][4], double factor,
                                  double pose_bar[3][4], ModelGradient* gradient) {
  const FluidSystem* f = s->fluid;
  BuoyancyInput in = fluid_buoyancy_input(s, link, pose, pose, pose);
  double by_scale = 0;
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    Vec3 p_bar[3] = {{0}};
    if (s->model->scene->fluid.has_level)
      surface_adjoint(&in, &f->face[k], motion, factor, pose_bar, gradient, p_bar);
    else
      volume_adjoint(s->model, f->face[k].point, motion, factor, gradient, p_bar);
    by_scale += add_vertex_bars(f, &f->face[k], p_bar, gradient);
    if (!is_last_of_hull(f, link, k)) continue;
    scale_adjoint(f, f->face[k].hull, by_scale, gradient);
    by_scale = 0;
  }
}

void fluid_adjoint(const Sim* s, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient) {
  for (int i = 0; s->fluid && i < s->model->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) link_adjoint(s, i, motion[i], now, old, rate_bar, gradient);
}
