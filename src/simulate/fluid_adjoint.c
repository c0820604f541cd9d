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

/* Returns the scalar product of `motion` and the derivative of the face's energy with respect to the pose. */
static FluidNumber directional_derivative(const FluidInput* in, const double motion[3][4]) {
  FluidNumber slope[3][4] = {{0}}, sum = 0;
  fluid_face_slope(in, slope);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) sum += motion[i][j] * slope[i][j];
  return sum;
}

/* Returns the derivative of directional_derivative with respect to *number, a member of *in, by a complex step.
 * Restores *number. */
static double derivative_by_complex_step(FluidInput* in, FluidNumber* number, const double motion[3][4]) {
  FluidNumber kept = *number;
  *number += FLUID_COMPLEX_STEP * (double complex)I;
  double change = cimag(directional_derivative(in, motion)) / FLUID_COMPLEX_STEP;
  *number = kept;
  return change;
}

/* Adds the contribution of the hull's surface area to the derivatives of a scalar with respect to the vertices of the
 * face's hull. The scalar depends on slowing = 3 sqrt(pi / surface). bar: derivative of the scalar with respect to
 * slowing. */
static void add_surface_area_bars(const FluidSystem* f, const FluidFace* face, double bar, ModelGradient* gradient) {
  const ModelHull* hull = &f->model->hulls[face->hull];
  double by_surface = -0.5 * bar * f->slowing[face->hull] / f->surface[face->hull] * f->scale[face->hull];
  for (int t = f->first[face->link]; t < f->first[face->link + 1]; t++) {
    const FluidFace* other = &f->face[t];
    if (other->hull != face->hull) continue;
    Vec3 area = vec3_cross(vec3_sub(other->point[1], other->point[0]), vec3_sub(other->point[2], other->point[0]));
    double size = vec3_norm(area);
    for (int c = 0; c < 3 && size > 0; c++) {
      Vec3 edge = vec3_sub(other->point[(c + 2) % 3], other->point[(c + 1) % 3]);
      Vec3* out = &gradient->vertices[hull->vertex_first + other->corner[c]];
      *out = vec3_add_scaled(*out, 0.5 * by_surface / size, vec3_cross(area, edge));
    }
  }
}

static void add_vertex_bars(const FluidSystem* f, const FluidFace* face, FluidInput* in, const double motion[3][4],
                            ModelGradient* gradient) {
  const ModelHull* hull = &f->model->hulls[face->hull];
  for (int c = 0; c < 3; c++) {
    FluidVector* p = &in->point[c];
    Vec3 bar = vec3(derivative_by_complex_step(in, &p->x, motion), derivative_by_complex_step(in, &p->y, motion),
                    derivative_by_complex_step(in, &p->z, motion));
    Vec3* out = &gradient->vertices[hull->vertex_first + face->corner[c]];
    *out = vec3_add_scaled(*out, f->scale[face->hull], bar);
  }
}

static void link_adjoint(const Sim* s, int link, const double motion[3][4], StateBar now, StateBar old,
                         double (*rate_bar)[3][4], ModelGradient* gradient) {
  const FluidSystem* f = s->fluid;
  FluidInput in = fluid_input(s, link, &s->configuration[s->current].pose[link]);
  double slowing = 0;
  const FluidFace* last = NULL;
  for (int k = f->first[link]; k < f->first[link + 1]; k++) {
    const FluidFace* face = &f->face[k];
    if (last && last->hull != face->hull) {
      add_surface_area_bars(f, last, slowing, gradient);
      slowing = 0;
    }
    last = face;
    fluid_set_face(f, k, &in);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 4; j++) {
        now.pose[link][i][j] += derivative_by_complex_step(&in, &in.now[i][j], motion);
        if (in.dt_before > 0)
          old.pose[link][i][j] += derivative_by_complex_step(&in, &in.old[i][j], motion);
        else
          rate_bar[link][i][j] += derivative_by_complex_step(&in, &in.rate[i][j], motion);
      }
    gradient->moment[link].s[3][3] += derivative_by_complex_step(&in, &in.mass, motion);
    for (int n = 0; n < FLUID_NUMBERS; n++)
      gradient->fluid[n] += derivative_by_complex_step(&in, &in.number[n], motion);
    slowing += derivative_by_complex_step(&in, &in.slowing, motion);
    add_vertex_bars(f, face, &in, motion, gradient);
  }
  if (last) add_surface_area_bars(f, last, slowing, gradient);
}

void fluid_adjoint(const Sim* s, const double (*motion)[3][4], StateBar now, StateBar old, double (*rate_bar)[3][4],
                   ModelGradient* gradient) {
  for (int i = 0; s->fluid && i < s->model->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) link_adjoint(s, i, motion[i], now, old, rate_bar, gradient);
}
