/* Forces of closures and couplings, and second derivatives of their values (docs/derivations/closures.md, Z4). */
#include <string.h>

#include "simulate/closures.h"

/* Derivative of a vector with respect to the twists (w, v) of body a and then of body b, about their centres of mass.
 * by[i]: derivative of component i. The offset of the two ends has the derivative w x arm + v by the twist of a, and
 * the negative of this expression by the twist of b. */
typedef struct {
  double by[3][12];
} VectorJacobian;

static void set_rotation_columns(VectorJacobian* j, int side, Vec3 arm, double sign) {
  double x[3][3] = {{0, arm.z, -arm.y}, {-arm.z, 0, arm.x}, {arm.y, -arm.x, 0}}; /* w x arm = -[arm]x w */
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) j->by[i][6 * side + k] = sign * x[i][k];
}

static VectorJacobian separation_jacobian(const Vec3 arm[2]) {
  VectorJacobian j = {{{0}}};
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? 1 : -1;
    set_rotation_columns(&j, side, arm[side], sign);
    for (int i = 0; i < 3; i++) j.by[i][6 * side + 3 + i] = sign;
  }
  return j;
}

static VectorJacobian direction_jacobian(int side, Vec3 direction) {
  VectorJacobian j = {{{0}}};
  set_rotation_columns(&j, side, direction, 1);
  return j;
}

static void add_symmetric_product(const VectorJacobian* a, const VectorJacobian* b, double factor, double h[12][12]) {
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += a->by[k][i] * b->by[k][j] + b->by[k][i] * a->by[k][j];
      h[i][j] += 0.5 * factor * sum;
    }
}

/* Adds the row's force times the second derivative of its value with respect to the twists of both links to h. For rows
 * ACROSS (offset along a direction) and LENGTH (distance of the ends). */
static void add_curvature(const ModelClosure* c, const ClosureRow* row, const ClosureAttachments* e, const Vec3 arm[2],
                          double push, double h[12][12]) {
  VectorJacobian separation = separation_jacobian(arm);
  if (row->kind == CLOSURE_LENGTH) {
    add_symmetric_product(&separation, &separation, push / c->length, h);
    return;
  }
  VectorJacobian v = direction_jacobian(1, mat3_mul_vec(e->pose[1].r, row->v));
  add_symmetric_product(&separation, &v, 2 * push, h);
}

/* Sets h to the sum over the ALIGN rows of force times second derivative with respect to the rotations of both links.
 * The block between the rotations of a and b is w_a . (tr A - A) w_b, with A = `align`. */
static void set_align_hessian(Mat3 align, double h[12][12]) {
  double trace = mat3_trace(align);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) h[i][6 + j] = h[6 + j][i] = (i == j ? trace : 0) - align.m[i][j];
}

static double row_force(const ClosureSystem* s, int row) {
  return s->multiplier[row] + s->stiffness[row] * s->value[row];
}

/* Sets the Hessian of closure k, the sum over the rows of force times second derivative. In a closure with POINT rows
 * it couples only the rotations of both ends. align: sum over the ALIGN rows of force times v u^T, with the directions
 * u on a and v on b. */
static void set_hessian(ClosureSystem* s, int k, Mat3 align) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureLinkTerms* sum = &s->sum[k];
  if (c->type == CLOSURE_BALL) return;
  if (!closure_has_points(c)) memset(sum->hessian, 0, sizeof(sum->hessian));
  set_align_hessian(s->convex[k] ? mat3_zero() : align, sum->hessian);
  for (int i = 0; i < c->row_count && !closure_has_points(c) && !s->convex[k]; i++)
    if (c->rows[i].kind != CLOSURE_ALIGN)
      add_curvature(c, &c->rows[i], &s->attachments[k], s->arm[k], row_force(s, c->row_first + i), sum->hessian);
}

/* Returns the first moment that ACROSS rows add on body b because their direction w rotates with b: the sum of force
 * times d w^T. d: offset of the two ends. */
static Mat3 across_moment(const ClosureSystem* s, int k) {
  const ModelClosure* c = &s->model->closures[k];
  Mat3 sum = mat3_zero();
  for (int i = 0; i < c->row_count; i++)
    if (c->rows[i].kind == CLOSURE_ACROSS)
      sum = mat3_add(sum, mat3_outer(vec3_scale(s->attachments[k].separation, row_force(s, c->row_first + i)),
                                     s->place[c->row_first + i].force));
  return sum;
}

/* Sets the force and the first moment on both ends of closure k, and its Hessian. Sums the forces of all rows before it
 * forms their moments. */
static void set_closure_terms(ClosureSystem* s, int k) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureLinkTerms* sum = &s->sum[k];
  Vec3 force = vec3(0, 0, 0);
  Mat3 align = mat3_zero();
  int points = closure_has_points(c) ? 3 : 0, row = c->row_first;
  if (points > 0) force = vec3(row_force(s, row), row_force(s, row + 1), row_force(s, row + 2));
  if (points > 0 && c->framed) force = mat3_tmul_vec(c->frame, force);
  for (int i = points; i < c->row_count; i++) {
    const ClosureRowGeometry* p = &s->place[row + i];
    double push = row_force(s, row + i);
    if (c->rows[i].kind == CLOSURE_ALIGN)
      align = mat3_add(align, mat3_outer(vec3_scale(p->v, push), p->u));
    else
      force = vec3_add_scaled(force, push, p->force);
  }
  sum->force[0] = force;
  sum->force[1] = vec3_scale(force, -1);
  sum->moment[0] = mat3_add(mat3_outer(sum->force[0], s->arm[k][0]), align);
  sum->moment[1] = mat3_add(mat3_outer(sum->force[1], s->arm[k][1]), mat3_transpose(align));
  if (c->type == CLOSURE_SLIDE) sum->moment[1] = mat3_add(sum->moment[1], across_moment(s, k));
  set_hessian(s, k, align);
}

static int term_count(const void* holder) { return ((const ClosureSystem*)holder)->model->closure_count; }

static ContactTerms term_at(const void* holder, int index) {
  const ClosureSystem* s = holder;
  const ModelClosure* c = &s->model->closures[index];
  const ClosureLinkTerms* sum = &s->sum[index];
  int a = s->open[index] ? -1 : c->link[0], b = s->open[index] ? -1 : c->link[1];
  const double(*hessian)[12] = c->type == CLOSURE_BALL ? NULL : sum->hessian; /* POINT rows have no second derivative */
  return (ContactTerms){a, b, sum->force, sum->moment, hessian, closure_has_points(c), false};
}

ContactTermList closures_terms(const ClosureSystem* s) {
  return s ? (ContactTermList){s, term_count, term_at} : (ContactTermList){0};
}

static void assemble_coupling(ClosureSystem* s, int k) {
  const ModelCoupling* c = closure_coupling(s, k);
  double push = s->multiplier[c->row] + s->stiffness[c->row] * s->value[c->row];
  s->coupled[k - s->model->closure_count] = (CouplingTerms){c->count, c->dof, c->slope, push, s->stiffness[c->row]};
}

void closures_set_assembly_rows(const ClosureSystem* s, Assembly* assembly) {
  if (!s) return;
  assembly->rows = s->rows;
  assembly->rows_count = s->model->closure_count;
  assembly->couplings = s->coupled;
  assembly->coupling_count = s->model->coupling_count;
}

void closures_add_force_magnitudes(const ClosureSystem* s, double* force_scale) {
  for (int k = 0; k < s->model->coupling_count; k++)
    for (int i = 0; i < s->coupled[k].count; i++)
      force_scale[s->coupled[k].dof[i]] += fabs(s->coupled[k].push * s->coupled[k].slope[i]);
  for (int k = 0; k < s->count && s->has_target_force; k++)
    for (int i = 0, row = closure_first_row(s, k); i < closure_row_count(s, k) && !s->open[k]; i++, row++)
      if (s->target_force[row] != 0) closures_add_row_magnitudes(s, k, i, s->target_force[row], force_scale);
}

void closures_assemble(ClosureSystem* s, const Pose* poses, const double* q, const Vec3* reference, const Screw* screws,
                       double weight) {
  if (s->has_target_force)
    closures_compute_jacobian(s, poses, q, reference, screws, weight);
  else
    closures_evaluate(s, poses, q, reference, screws, weight);
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!s->open[k]) set_closure_terms(s, k);
    s->rows[k].rows = s->open[k] ? 0 : s->model->closures[k].row_count;
  }
  for (int k = s->model->closure_count; k < s->count; k++) assemble_coupling(s, k);
  for (int k = 0; k < s->count; k++) s->gap[k] = closure_relative_error(s, k, s->value);
}
