#include "contact/reciprocal.h"

#include <assert.h>
#include <string.h>

#include "contact/small_matrix.h"

CentredPotential centred_potential(double r) {
  assert(!(r <= 0));
  double s = 1 / sqrt(r), s3 = s / r;
  return (CentredPotential){RECIPROCAL_PLANE * (1 + s) * (1 + s), -RECIPROCAL_PLANE * (1 + s) * s3,
                            RECIPROCAL_PLANE * (0.5 * s3 * s3 + 1.5 * (1 + s) * s3 / r)};
}

typedef struct {
  const HullInstance* hull[2];
  Vec3 origin, axis; /* axis: for a half-space, the fixed direction of the plane's normal n */
  double level;      /* for a half-space: axis . (boundary - origin) [m] */
  bool half_space;
  int first[2], count[2];
  PlaneScratch* scratch;
} PlaneProblem;

typedef struct {
  double energy;
  SideMoments side[2];
  double norm_first, norm_second, min_clearance[2];
} Evaluation;

static void gather_vertices(PlaneProblem* p) {
  int next = 0;
  for (int side = 0; side < 2; side++) {
    const HullInstance* h = p->hull[side];
    p->first[side] = next;
    p->count[side] = h->points.count;
    Vec3 shift = vec3_sub(h->pose.t, p->origin);
    for (int m = 0; m < h->points.count; m++, next++) {
      Vec3 x = vec3_add(mat3_mul_vec(h->pose.r, point_at(h->points, m)), shift);
      p->scratch->x[next] = x.x;
      p->scratch->y[next] = x.y;
      p->scratch->z[next] = x.z;
    }
  }
}

static void add_vertex(SideMoments* s, double sigma, double c, double vertex_coefficient, double x, double y,
                       double z) {
  double inverse = 1 / c, g = -sigma * vertex_coefficient * inverse * inverse,
         h = 2 * vertex_coefficient * inverse * inverse * inverse;
  double hx = h * x, hy = h * y, hz = h * z;
  const double second[10] = {hx * x, hx * y, hx * z, hx, hy * y, hy * z, hy, hz * z, hz, h};
  for (int k = 0; k < 10; k++) s->second[k] += second[k];
  s->first[0] += g * x;
  s->first[1] += g * y;
  s->first[2] += g * z;
  s->first[3] += g;
}

/* Adds the energy and the moments of the vertices of one hull to *e. Returns false if a vertex of the hull is not on
 * the hull's side of the plane (n, o). */
static bool add_side(const PlaneProblem* p, int side, Vec3 n, double o, Evaluation* e) {
  double sigma = side == 0 ? -1 : 1, vertex_coefficient = RECIPROCAL_PIECE / p->count[side], sum = 0,
         min_clearance = INFINITY;
  const double *x = p->scratch->x, *y = p->scratch->y, *z = p->scratch->z;
  for (int m = p->first[side]; m < p->first[side] + p->count[side]; m++) {
    double c = sigma * (n.x * x[m] + n.y * y[m] + n.z * z[m] + o);
    if (!(c > 0)) return false;
    min_clearance = fmin(min_clearance, c);
    sum += vertex_coefficient / c;
    add_vertex(&e->side[side], sigma, c, vertex_coefficient, x[m], y[m], z[m]);
  }
  e->energy += sum;
  e->min_clearance[side] = min_clearance;
  return true;
}

static bool add_half_space(const PlaneProblem* p, Vec3 n, double o, Evaluation* e) {
  double c = vec3_norm(n) * p->level + o;
  if (!(c > 0)) return false;
  Vec3 x = vec3_scale(p->axis, p->level);
  e->energy += RECIPROCAL_PIECE / c;
  e->min_clearance[1] = c;
  add_vertex(&e->side[1], 1, c, RECIPROCAL_PIECE, x.x, x.y, x.z);
  return true;
}

static bool evaluate(const PlaneProblem* p, Vec3 n, double o, Evaluation* e) {
  memset(e, 0, sizeof(*e));
  double d = 1 - vec3_norm(n);
  if (!(d > 0)) return false;
  e->energy = RECIPROCAL_PLANE / d;
  e->norm_first = -RECIPROCAL_PLANE / (d * d);
  e->norm_second = 2 * RECIPROCAL_PLANE / (d * d * d);
  if (!add_side(p, 0, n, o, e)) return false;
  return (p->half_space ? add_half_space(p, n, o, e) : add_side(p, 1, n, o, e)) && isfinite(e->energy);
}

/* Sets *dn and *d_o to the Newton step -H^-1 g for the normal and the offset of the plane. g, H: gradient and Hessian
 * of the energy with respect to both. Returns the squared decrement g^T H^-1 g. */
static double newton_step(const PlaneProblem* p, const Evaluation* e, Vec3 n, Vec3* dn, double* d_o) {
  double g[4], h[4][4], step[4];
  plane_assemble(&e->side[0], &e->side[1], e->norm_first, e->norm_second, n, g, h);
  if (!p->half_space) {
    for (int k = 0; k < 4; k++) step[k] = -g[k];
    small_cholesky(4, h);
    small_forward(4, h, step);
    small_backward(4, h, step);
    *dn = vec3(step[0], step[1], step[2]);
    *d_o = step[3];
    return -(g[0] * step[0] + g[1] * step[1] + g[2] * step[2] + g[3] * step[3]);
  }
  const double u[3] = {p->axis.x, p->axis.y, p->axis.z};
  double two[4][4] = {{0}}, gradient[2] = {0, g[3]};
  for (int i = 0; i < 3; i++) {
    gradient[0] += u[i] * g[i];
    two[1][0] += u[i] * h[3][i];
    for (int j = 0; j < 3; j++) two[0][0] += u[i] * u[j] * (i >= j ? h[i][j] : h[j][i]);
  }
  two[1][1] = h[3][3];
  step[0] = -gradient[0];
  step[1] = -gradient[1];
  small_cholesky(2, two);
  small_forward(2, two, step);
  small_backward(2, two, step);
  *dn = vec3_scale(p->axis, step[0]);
  *d_o = step[1];
  return -(gradient[0] * step[0] + gradient[1] * step[1]);
}

/* Line search: halves the Newton step (dn, d_o) until the energy decreases enough (Armijo condition). Sets (*n, *o) to
 * the plane that was found and *e to its evaluation. Returns false, with the plane unchanged, if RECIPROCAL_HALVINGS
 * halvings did not suffice. */
static bool line_search(const PlaneProblem* p, Vec3* n, double* o, Vec3 dn, double d_o, double decrement,
                        Evaluation* e) {
  double factor = 1;
  for (int k = 0; k < RECIPROCAL_HALVINGS; k++, factor *= 0.5) {
    Evaluation trial;
    Vec3 n1 = vec3_add_scaled(*n, factor, dn);
    double o1 = *o + factor * d_o;
    if (!evaluate(p, n1, o1, &trial)) continue;
    if (trial.energy > e->energy - 1e-4 * factor * decrement + 1e-14 * e->energy) continue;
    *n = n1;
    *o = o1;
    *e = trial;
    return true;
  }
  return false;
}

static bool minimize(const PlaneProblem* p, Vec3* n, double* o, Evaluation* e, int* iterations) {
  double previous_decrement = INFINITY;
  for (*iterations = 0; *iterations < RECIPROCAL_STEPS; ++*iterations) {
    Vec3 dn;
    double d_o, decrement = newton_step(p, e, *n, &dn, &d_o);
    if (!isfinite(decrement)) return false;
    if (decrement <= RECIPROCAL_MIN_DECREMENT * e->energy) return true;
    bool is_quadratic = decrement < RECIPROCAL_QUADRATIC_DECREMENT * e->energy;
    if (is_quadratic && decrement >= 0.5 * previous_decrement)
      return true; /* the decrement does not decrease further, because of rounding */
    previous_decrement = decrement;
    Evaluation trial;
    if (is_quadratic && evaluate(p, vec3_add(*n, dn), *o + d_o, &trial)) {
      *n = vec3_add(*n, dn);
      *o += d_o;
      *e = trial;
      if (decrement < RECIPROCAL_FINAL_DECREMENT * e->energy) return true;
    } else if (!line_search(p, n, o, dn, d_o, decrement, e))
      return is_quadratic;
  }
  return false;
}

static void store_solution(const PlaneProblem* p, Vec3 n, double o, const Evaluation* e, PlaneSolution* out) {
  out->plane = (Plane){p->origin, n, o};
  out->energy = e->energy;
  for (int side = 0; side < 2; side++) {
    out->side[side] = e->side[side];
    out->clearance[side] = e->min_clearance[side];
  }
  out->norm_first = e->norm_first;
  out->norm_second = e->norm_second;
}

/* The start plane lies halfway between the closest points, with |n| = 1 / (1 + sqrt(gap)) (law-long_range.md, N2). */
Plane reciprocal_start(const HullInstance* a, const HullInstance* b, const GjkResult* found) {
  double length = 1 / (1 + sqrt(found->distance));
  Plane start = {plane_origin(a, b), vec3_scale(found->normal, length), 0};
  if (b->half_space) {
    start.n = vec3_scale(vec3_scale(b->normal, -1.0), length);
    start.o = length * (0.5 * found->distance - (vec3_dot(b->normal, start.origin) - b->offset));
  } else {
    Vec3 middle = vec3_scale(vec3_add(found->witness_a, found->witness_b), 0.5);
    start.o = -vec3_dot(start.n, vec3_sub(middle, start.origin));
  }
  return start;
}

/* The start plane lies halfway between the centres. If a sphere is nearer to this plane than a quarter of the gap, the
 * plane is moved away from this sphere to a quarter of the gap. */
Plane reciprocal_start_from_spheres(const HullInstance* a, const HullInstance* b, const Vec3 center[2],
                                    const double radius[2]) {
  Vec3 difference = vec3_sub(center[1], center[0]);
  double r = vec3_norm(difference), gap = r - (radius[0] + radius[1]);
  double plane_distance = fmin(fmax(0.5 * r, radius[0] + 0.25 * gap), r - radius[1] - 0.25 * gap);
  Plane start = {plane_origin(a, b), vec3_scale(difference, 1 / (r * (1 + sqrt(r)))), 0};
  start.o = -vec3_dot(start.n, vec3_sub(vec3_add_scaled(center[0], plane_distance / r, difference), start.origin));
  return start;
}

static PlaneProblem create_problem(const HullInstance* a, const HullInstance* b, PlaneScratch* scratch) {
  PlaneProblem p = {.hull = {a, b}, .origin = plane_origin(a, b), .half_space = b->half_space, .scratch = scratch};
  if (p.half_space) {
    p.axis = vec3_scale(b->normal, -1.0);
    p.level = vec3_dot(b->normal, p.origin) - b->offset;
  }
  gather_vertices(&p);
  return p;
}

bool reciprocal_solve_from(const HullInstance* a, const HullInstance* b, Plane start, PlaneScratch* scratch,
                           PlaneSolution* solution) {
  PlaneProblem p = create_problem(a, b, scratch);
  Vec3 n = start.n;
  double o = start.o;
  Evaluation e;
  if (!evaluate(&p, n, o, &e) || !minimize(&p, &n, &o, &e, &solution->iterations)) return false;
  store_solution(&p, n, o, &e, solution);
  return true;
}

bool reciprocal_solve(const HullInstance* a, const HullInstance* b, const GjkResult* found, PlaneScratch* scratch,
                      PlaneSolution* solution) {
  assert(found->distance > 0);
  return reciprocal_solve_from(a, b, reciprocal_start(a, b, found), scratch, solution);
}

void reciprocal_recall(const HullInstance* a, const HullInstance* b, ReciprocalPlane plane, PlaneScratch* scratch,
                       PlaneSolution* solution) {
  PlaneProblem p = create_problem(a, b, scratch);
  Evaluation e;
  (void)evaluate(&p, plane.n, plane.o, &e); /* cannot fail, because the plane separated the hulls */
  store_solution(&p, plane.n, plane.o, &e, solution);
  solution->iterations = 0;
}

Vec3 reciprocal_center(const PlaneSolution* solution) {
  const double* first = solution->side[0].first;
  const Plane* plane = &solution->plane;
  Vec3 center = vec3_add_scaled(plane->origin, 1.0 / first[3], vec3(first[0], first[1], first[2]));
  double square = vec3_dot(plane->n, plane->n);
  double height = (vec3_dot(plane->n, vec3_sub(center, plane->origin)) + plane->o) / square;
  return vec3_add_scaled(center, -height, plane->n);
}
