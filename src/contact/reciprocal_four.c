/* Solves the planes of up to four pairs of triangles together. This is the iteration of reciprocal.c in four lanes, one
 * lane per pair. The results are bit-identical to the results of reciprocal.c. A lane that has converged keeps its
 * plane while the other lanes continue. */
#include <assert.h>
#include <string.h>

#include "base/lanes.h"
#include "contact/reciprocal.h"
#include "contact/small_matrix.h"

enum { CORNERS = RECIPROCAL_CORNERS, ENTRIES = 10 };

/* Corners of the triangles of four pairs, one lane per pair, relative to each pair's origin [m]. */
typedef struct {
  Lanes x[2][CORNERS], y[2][CORNERS], z[2][CORNERS];
} Corners;

typedef struct {
  Lanes n[3], o;
} LanePlanes;

typedef struct {
  Lanes energy, norm_first, norm_second, min_clearance[2];
  Lanes second[2][ENTRIES], first[2][4];
  LaneBits is_feasible; /* per lane: true if all corners of both triangles are on the correct sides of the plane */
} Evaluations;

/* Newton step of each pair, and state of the pair's line search. */
typedef struct {
  LanePlanes by;
  Lanes decrement, before, factor;
  LaneBits near; /* per lane: Newton's method converges quadratically, so the energy is not tested */
  LaneBits steps, halvings;
} Steps;

static Lanes load(const double* x) {
  Lanes lanes;
  memcpy(&lanes, x, sizeof(lanes)); /* point views are padded, so four values can be read */
  return lanes;
}

/* Sets at[3] to the three coordinates of R x + shift for the corners x of one triangle, one lane per corner. The
 * rounding is the same as in pose_apply. */
static void transform_corners(const HullInstance* h, Vec3 shift, Lanes at[3]) {
  const Lanes x = load(h->points.x), y = load(h->points.y), z = load(h->points.z);
  const double(*r)[3] = h->pose.r.m, by[3] = {shift.x, shift.y, shift.z};
  for (int i = 0; i < 3; i++) at[i] = r[i][0] * x + r[i][1] * y + r[i][2] * z + by[i];
}

/* Converts coordinate `axis` from one lane per corner (from) to one lane per pair (*to). */
static void transpose_to_pairs(Lanes from[RECIPROCAL_FOUR][3], int axis, Lanes (*to)[CORNERS]) {
  Lanes a = from[0][axis], b = from[1][axis], c = from[2][axis], d = from[3][axis];
  Lanes even_ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), odd_ab = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  Lanes even_cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), odd_cd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  (*to)[0] = __builtin_shufflevector(even_ab, even_cd, 0, 1, 4, 5);
  (*to)[1] = __builtin_shufflevector(odd_ab, odd_cd, 0, 1, 4, 5);
  (*to)[2] = __builtin_shufflevector(even_ab, even_cd, 2, 3, 6, 7);
}
_Static_assert(LANES == 4 && CORNERS == 3, "transpose_to_pairs assumes both");

/* Sets *at to the corners of `count` pairs. Unused lanes contain copies of the first pair. */
static void gather(int count, const HullInstance (*pair)[2], Corners* at) {
  Lanes corners[2][RECIPROCAL_FOUR][3];
  for (int k = 0; k < RECIPROCAL_FOUR; k++) {
    const HullInstance* hull = pair[k < count ? k : 0];
    Vec3 origin = plane_origin(&hull[0], &hull[1]);
    for (int side = 0; side < 2; side++)
      transform_corners(&hull[side], vec3_sub(hull[side].pose.t, origin), corners[side][k]);
  }
  for (int side = 0; side < 2; side++) {
    transpose_to_pairs(corners[side], 0, &at->x[side]);
    transpose_to_pairs(corners[side], 1, &at->y[side]);
    transpose_to_pairs(corners[side], 2, &at->z[side]);
  }
}

static void set_plane(LanePlanes* to, int k, Vec3 n, double o) {
  to->n[0][k] = n.x;
  to->n[1][k] = n.y;
  to->n[2][k] = n.z;
  to->o[k] = o;
}

static LaneBits is_finite(Lanes x) { return lanes_abs(x) < (double)INFINITY; }
static Lanes norm(const Lanes n[3]) { return lanes_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]); }

static void add_side(const Corners* at, int side, const LanePlanes* p, Evaluations* e) {
  const double sigma = side == 0 ? -1 : 1, share = RECIPROCAL_PIECE / CORNERS;
  Lanes sum = {0}, min_clearance = lanes_broadcast(INFINITY), *second = e->second[side], *first = e->first[side];
  for (int k = 0; k < ENTRIES; k++) second[k] = (Lanes){0};
  for (int k = 0; k < 4; k++) first[k] = (Lanes){0};
  for (int m = 0; m < CORNERS; m++) {
    Lanes x = at->x[side][m], y = at->y[side][m], z = at->z[side][m];
    Lanes c = sigma * (p->n[0] * x + p->n[1] * y + p->n[2] * z + p->o);
    e->is_feasible &= c > 0;
    min_clearance = lanes_elementwise_min(c, min_clearance);
    sum += share / c;
    Lanes inverse = 1 / c, g = -sigma * share * inverse * inverse, h = 2 * share * inverse * inverse * inverse;
    Lanes hx = h * x, hy = h * y, hz = h * z;
    const Lanes entry[ENTRIES] = {hx * x, hx * y, hx * z, hx, hy * y, hy * z, hy, hz * z, hz, h};
    for (int k = 0; k < ENTRIES; k++) second[k] += entry[k];
    first[0] += g * x;
    first[1] += g * y;
    first[2] += g * z;
    first[3] += g;
  }
  e->energy += sum;
  e->min_clearance[side] = min_clearance;
}

static void evaluate(const Corners* at, const LanePlanes* p, Evaluations* e) {
  Lanes d = 1 - norm(p->n);
  e->is_feasible = d > 0;
  e->energy = RECIPROCAL_PLANE / d;
  e->norm_first = -RECIPROCAL_PLANE / (d * d);
  e->norm_second = 2 * RECIPROCAL_PLANE / (d * d * d);
  add_side(at, 0, p, e);
  add_side(at, 1, p, e);
  e->is_feasible &= is_finite(e->energy);
}

/* Sets the gradient and the lower triangle of the Hessian of each lane. The computation is the one of plane_assemble.
 */
static void assemble(const Evaluations* e, const LanePlanes* p, Lanes gradient[4], Lanes hessian[4][4]) {
  static const int row[ENTRIES] = {0, 1, 2, 3, 1, 2, 3, 2, 3, 3}, column[ENTRIES] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3};
  for (int k = 0; k < ENTRIES; k++) hessian[row[k]][column[k]] = e->second[0][k] + e->second[1][k];
  for (int k = 0; k < 4; k++) gradient[k] = e->first[0][k] + e->first[1][k];
  Lanes length = norm(p->n), side = -e->norm_first / length, along = e->norm_second - side;
  Lanes u[3] = {p->n[0] / length, p->n[1] / length, p->n[2] / length};
  for (int i = 0; i < 3; i++) {
    gradient[i] -= e->norm_first * u[i];
    for (int j = 0; j <= i; j++) hessian[i][j] += along * u[i] * u[j];
    hessian[i][i] += side;
  }
}

/* Solves a x = b for each lane, with b given in x and a symmetric, as small_cholesky, small_forward and small_backward
 * of order 4 do. Overwrites a. */
static void solve_four(Lanes a[4][4], Lanes x[4]) {
  for (int j = 0; j < 4; j++) {
    Lanes corners = a[j][j], d = corners;
    for (int k = 0; k < j; k++) d -= a[j][k] * a[j][k];
    Lanes inverse = lanes_select(d > SMALL_PIVOT_FLOOR * corners, 1.0 / lanes_sqrt(d), (Lanes){0});
    a[j][j] = inverse;
    for (int i = j + 1; i < 4; i++) {
      for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] *= inverse;
    }
  }
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < i; k++) x[i] -= a[i][k] * x[k];
    x[i] *= a[i][i];
  }
  for (int i = 3; i >= 0; i--) {
    for (int k = i + 1; k < 4; k++) x[i] -= a[k][i] * x[k];
    x[i] *= a[i][i];
  }
}

/* Computes the Newton step of the lanes marked in `fresh`, and starts the line search of these lanes. */
static void take_steps(const Evaluations* e, const LanePlanes* p, LaneBits fresh, Steps* s) {
  Lanes gradient[4], hessian[4][4], step[4];
  assemble(e, p, gradient, hessian);
  for (int k = 0; k < 4; k++) step[k] = -gradient[k];
  solve_four(hessian, step);
  Lanes decrement = -(gradient[0] * step[0] + gradient[1] * step[1] + gradient[2] * step[2] + gradient[3] * step[3]);
  for (int k = 0; k < 3; k++) s->by.n[k] = lanes_select(fresh, step[k], s->by.n[k]);
  s->by.o = lanes_select(fresh, step[3], s->by.o);
  s->decrement = lanes_select(fresh, decrement, s->decrement);
  s->near = (fresh & (decrement < RECIPROCAL_QUADRATIC_DECREMENT * e->energy)) | (~fresh & s->near);
  s->factor = lanes_select(fresh, lanes_broadcast(1), s->factor);
  s->halvings &= ~fresh;
}

static LanePlanes moved(const LanePlanes* p, const Steps* s) {
  LanePlanes to;
  for (int k = 0; k < 3; k++) to.n[k] = p->n[k] + s->factor * s->by.n[k];
  to.o = p->o + s->factor * s->by.o;
  return to;
}

static void choose(LaneBits where, const Lanes* from, Lanes* to, int count) {
  for (int k = 0; k < count; k++) to[k] = lanes_select(where, from[k], to[k]);
}

static void accept(LaneBits where, const LanePlanes* p1, const Evaluations* e1, LanePlanes* p, Evaluations* e) {
  if (!lanes_any(~where)) { /* the step of every lane is accepted, which is the usual case */
    *p = *p1;
    *e = *e1;
    return;
  }
  choose(where, p1->n, p->n, 3);
  choose(where, &p1->o, &p->o, 1);
  choose(where, &e1->energy, &e->energy, 1);
  choose(where, &e1->norm_first, &e->norm_first, 1);
  choose(where, &e1->norm_second, &e->norm_second, 1);
  choose(where, e1->min_clearance, e->min_clearance, 2);
  for (int side = 0; side < 2; side++) {
    choose(where, e1->second[side], e->second[side], ENTRIES);
    choose(where, e1->first[side], e->first[side], 4);
  }
}

/* Minimises the energy of each pair whose lane is marked in `busy`, starting from the planes *p. Returns false if one
 * of these lanes failed. */
static bool minimise(const Corners* at, LaneBits busy, LanePlanes* p, Evaluations* e, Steps* s) {
  LaneBits fresh = busy, lost = busy & ~e->is_feasible;
  *s = (Steps){.before = lanes_broadcast(INFINITY)};
  while (lanes_any(busy) && !lanes_any(lost)) {
    take_steps(e, p, fresh, s);
    lost = fresh & ~is_finite(s->decrement);
    LaneBits done =
        (s->decrement <= RECIPROCAL_MIN_DECREMENT * e->energy) | (s->near & (s->decrement >= 0.5 * s->before));
    busy &= ~(done & fresh);
    s->before = lanes_select(fresh, s->decrement, s->before);
    LanePlanes p1 = moved(p, s);
    Evaluations e1;
    evaluate(at, &p1, &e1);
    LaneBits whole = s->near & (s->factor == 1);
    LaneBits falls = e1.energy <= e->energy - 1e-4 * s->factor * s->decrement + 1e-14 * e->energy;
    fresh = busy & e1.is_feasible & (whole | falls);
    accept(fresh, &p1, &e1, p, e);
    LaneBits last = fresh & whole & (s->decrement < RECIPROCAL_FINAL_DECREMENT * e->energy), halved = busy & ~fresh;
    busy &= ~last;
    fresh &= ~last;
    s->steps -= fresh; /* a marked lane has the value -1, so the subtraction adds 1 */
    s->halvings -= halved;
    s->factor = lanes_select(halved, 0.5 * s->factor, s->factor);
    LaneBits stalled = halved & (s->halvings >= RECIPROCAL_HALVINGS);
    lost |= (stalled & ~s->near) | (fresh & (s->steps >= RECIPROCAL_STEPS));
    busy &= ~stalled;
  }
  return !lanes_any(lost);
}

static void store(const HullInstance hull[2], const LanePlanes* p, const Evaluations* e, int k, PlaneSolution* out) {
  out->plane = (Plane){plane_origin(&hull[0], &hull[1]), vec3(p->n[0][k], p->n[1][k], p->n[2][k]), p->o[k]};
  out->energy = e->energy[k];
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < ENTRIES; i++) out->side[side].second[i] = e->second[side][i][k];
    for (int i = 0; i < 4; i++) out->side[side].first[i] = e->first[side][i][k];
    out->side[side].ball = 0;
    out->clearance[side] = e->min_clearance[side][k];
  }
  out->norm_first = e->norm_first[k];
  out->norm_second = e->norm_second[k];
}

bool reciprocal_solve_four(int count, const HullInstance (*pair)[2], const Plane* start, PlaneSolution* solution) {
  assert(count >= 1 && count <= 4);
  static const LaneBits number = {0, 1, 2, 3};
  Corners at;
  LanePlanes p;
  Evaluations e;
  Steps s;
  gather(count, pair, &at);
  for (int k = 0; k < RECIPROCAL_FOUR; k++) set_plane(&p, k, start[k < count ? k : 0].n, start[k < count ? k : 0].o);
  evaluate(&at, &p, &e);
  if (!minimise(&at, number < count, &p, &e, &s)) return false;
  for (int k = 0; k < count; k++) {
    store(pair[k], &p, &e, k, &solution[k]);
    solution[k].iterations = (int)s.steps[k];
  }
  return true;
}

void reciprocal_recall_four(int count, const HullInstance (*pair)[2], const ReciprocalPlane* planes,
                            PlaneSolution* solution) {
  assert(count >= 1 && count <= 4);
  Corners at;
  LanePlanes p;
  Evaluations e;
  gather(count, pair, &at);
  for (int k = 0; k < RECIPROCAL_FOUR; k++) set_plane(&p, k, planes[k < count ? k : 0].n, planes[k < count ? k : 0].o);
  evaluate(&at, &p, &e);
  for (int k = 0; k < count; k++) {
    store(pair[k], &p, &e, k, &solution[k]);
    solution[k].iterations = 0;
  }
}
