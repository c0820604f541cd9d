/* linalg: small vectors, rotations and poses by value; dense and sparse symmetric solves.
 * Frames: a Pose maps local coordinates to the frame it is expressed in, x = r X + t. Matrices are row-major. */
#ifndef SDRS_LINALG_H
#define SDRS_LINALG_H

#include <math.h>
#include <stdbool.h>
#include "base/base.h"

typedef struct {
  double x, y, z;
} Vec3;
typedef struct {
  double m[3][3];
} Mat3;
typedef struct {
  double w, x, y, z;
} Quat; /* unit, Hamilton convention, active rotation */
typedef struct {
  Mat3 r;
  Vec3 t;
} Pose;

static inline Vec3 vec3(double x, double y, double z) { return (Vec3){x, y, z}; }
/* The unit vector along axis k mod 3 (0: x, 1: y, 2: z), k >= 0. */
static inline Vec3 vec3_axis(int k) { return vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2); }
/* Between values and their places in an array: 3 numbers, or 4 in the order w x y z. p must hold so many; frame and
 * unit are the caller's. */
static inline Vec3 vec3_at(const double* p) { return (Vec3){p[0], p[1], p[2]}; }
static inline void vec3_store(Vec3 v, double* p) { p[0] = v.x, p[1] = v.y, p[2] = v.z; }
static inline Quat quat_at(const double* p) { return (Quat){p[0], p[1], p[2], p[3]}; }
static inline void quat_store(Quat q, double* p) { p[0] = q.w, p[1] = q.x, p[2] = q.y, p[3] = q.z; }
static inline Vec3 vec3_add(Vec3 a, Vec3 b) { return vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline Vec3 vec3_sub(Vec3 a, Vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline Vec3 vec3_scale(Vec3 a, double s) { return vec3(a.x * s, a.y * s, a.z * s); }
static inline Vec3 vec3_add_scaled(Vec3 a, double s, Vec3 b) {
  return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double vec3_dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec3 vec3_cross(Vec3 a, Vec3 b) {
  return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double vec3_norm(Vec3 a) { return sqrt(vec3_dot(a, a)); }
static inline Vec3 vec3_normalized(Vec3 a) { return vec3_scale(a, 1.0 / vec3_norm(a)); }
/* A unit vector at right angles to n, which is one: across the x axis, or across the y axis where n is near that one.
 */
static inline Vec3 vec3_across(Vec3 n) {
  return vec3_normalized(vec3_cross(n, fabs(n.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0)));
}
/* The unit vector perpendicular to the unit vector n that is nearest to the x axis, or to the y axis where n is as
 * near to that one as |n.x| = most, below 1. */
static inline Vec3 vec3_x_across(Vec3 n, double most) {
  Vec3 axis = fabs(n.x) < most ? vec3(1, 0, 0) : vec3(0, 1, 0);
  return vec3_normalized(vec3_add_scaled(axis, -vec3_dot(axis, n), n));
}
static inline Vec3 vec3_min(Vec3 a, Vec3 b) { return vec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static inline Vec3 vec3_max(Vec3 a, Vec3 b) { return vec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

/* The flat of best fit through points of coordinates c across it, from their mean: S = sum c c^T of them (00, 01, 11),
 * and S^-1 c, by which it tilts as the point with c moves off it [1/m]. directions: 2, or 1 of an edge, whose c[1] is
 * 0. S must have as many independent directions: not checked. */
static inline void spread_add(double spread[3], const double c[2]) {
  spread[0] += c[0] * c[0];
  spread[1] += c[0] * c[1];
  spread[2] += c[1] * c[1];
}
static inline void spread_solve(const double spread[3], int directions, const double c[2], double out[2]) {
  double det = spread[0] * spread[2] - spread[1] * spread[1];
  out[0] = directions == 2 ? (spread[2] * c[0] - spread[1] * c[1]) / det : c[0] / spread[0];
  out[1] = directions == 2 ? (spread[0] * c[1] - spread[1] * c[0]) / det : 0;
}

static inline Mat3 mat3_identity(void) { return (Mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline Mat3 mat3_zero(void) { return (Mat3){{{0}}}; }
static inline Vec3 mat3_mul_vec(Mat3 a, Vec3 v) {
  return vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z, a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
              a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
static inline Vec3 mat3_tmul_vec(Mat3 a, Vec3 v) { /* transpose times vector */
  return vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z, a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
              a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}
static inline Mat3 mat3_mul(Mat3 a, Mat3 b) {
  Mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return c;
}
static inline Mat3 mat3_turned(Mat3 r, Mat3 s) { /* r s r^T of a symmetric s */
  Mat3 p = mat3_mul(r, s), c = p;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++)
      c.m[j][i] = c.m[i][j] = p.m[i][0] * r.m[j][0] + p.m[i][1] * r.m[j][1] + p.m[i][2] * r.m[j][2];
  return c;
}
static inline Mat3 mat3_transpose(Mat3 a) {
  Mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = a.m[j][i];
  return c;
}
static inline Mat3 mat3_add(Mat3 a, Mat3 b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a.m[i][j] += b.m[i][j];
  return a;
}
static inline Mat3 mat3_sub(Mat3 a, Mat3 b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a.m[i][j] -= b.m[i][j];
  return a;
}
static inline Mat3 mat3_scale(Mat3 a, double s) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a.m[i][j] *= s;
  return a;
}
static inline double mat3_trace(Mat3 a) { return a.m[0][0] + a.m[1][1] + a.m[2][2]; }
static inline double mat3_det(Mat3 a) {
  return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
         a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
         a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}
/* By cofactors. The matrix must not be singular. A singular one gives infinities or NAN, no error is reported. */
static inline Mat3 mat3_inverse(Mat3 a) {
  Vec3 x = vec3(a.m[0][0], a.m[0][1], a.m[0][2]), y = vec3(a.m[1][0], a.m[1][1], a.m[1][2]),
       z = vec3(a.m[2][0], a.m[2][1], a.m[2][2]);
  Vec3 yz = vec3_cross(y, z), zx = vec3_cross(z, x), xy = vec3_cross(x, y);
  double s = 1 / vec3_dot(x, yz);
  return (Mat3){{{s * yz.x, s * zx.x, s * xy.x}, {s * yz.y, s * zx.y, s * xy.y}, {s * yz.z, s * zx.z, s * xy.z}}};
}
static inline Mat3 mat3_outer(Vec3 a, Vec3 b) { /* a b^T */
  return (Mat3){
      {{a.x * b.x, a.x * b.y, a.x * b.z}, {a.y * b.x, a.y * b.y, a.y * b.z}, {a.z * b.x, a.z * b.y, a.z * b.z}}};
}
static inline Mat3 mat3_cross(Vec3 a) { /* [a]x : [a]x b = a x b */
  return (Mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}
/* sum r x g of sum g r^T; a . axial(K) = sum of K's entries times those of [a]x. By value; never fails. */
static inline Vec3 mat3_axial(Mat3 k) {
  return vec3(k.m[2][1] - k.m[1][2], k.m[0][2] - k.m[2][0], k.m[1][0] - k.m[0][1]);
}

static inline Quat quat_identity(void) { return (Quat){1, 0, 0, 0}; }
static inline Quat quat_mul(Quat a, Quat b) {
  return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline Quat quat_conjugate(Quat q) { return (Quat){q.w, -q.x, -q.y, -q.z}; }
static inline Quat quat_normalized(Quat q) {
  double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return (Quat){q.w * s, q.x * s, q.y * s, q.z * s};
}
static inline Mat3 mat3_from_quat(Quat q) {
  return (Mat3){{{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
                 {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
                 {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
}
/* Rotation by angle [rad] about a unit axis. An axis of another length gives no rotation; that is no error here.
 * Copies, as all of these. */
static inline Quat quat_about(Vec3 axis, double angle) {
  double s, c;
  math_sincos(0.5 * angle, &s, &c);
  return (Quat){c, s * axis.x, s * axis.y, s * axis.z};
}
/* Quaternion of a 3x3 rotation matrix by Shepperd's method, w >= 0 (linalg/rotation.c). r must be a rotation; nothing
 * is checked, here and below, and nothing allocated. */
Quat quat_from_mat3(Mat3 r);
/* URDF's roll, pitch, yaw [rad]: about the fixed x, then y, then z. Of unit length to rounding; by value, never
 * fails. */
Quat quat_from_rpy(Vec3 rpy);
/* The way back from a rotation matrix [rad]: pitch in [-pi/2, pi/2], exact to rounding as a rotation, also where roll
 * and yaw turn about one axis. r must be a rotation. By value, never fails. */
Vec3 rpy_from_mat3(Mat3 r);
/* d with Rx(d1) Ry(d2) Rz(d3) = R [rad], d2 in [-pi/2, pi/2]. R must be a rotation, which is not checked. By value. */
Vec3 turns_from_mat3(Mat3 r);
/* Rotation vector [rad] of q, angle in [0, pi]. q and -q give the same. Of unit length or not, but q must not be 0.
 * Near the identity by a series; no error is reported. */
Vec3 quat_log(Quat q);
/* exp: rotation vector [rad] -> quaternion. Of unit length for any finite v. Near 0 by a series. By value; an
 * infinite v gives NAN, not an error. */
Quat quat_exp(Vec3 v);
/* Angular velocity in body axes [rad/s] of the rotation exp(v(t)): J_r(v) dv/dt, J_r = I - a [v]x + b [v]x^2,
 * a = (1 - cos|v|)/|v|^2, b = (|v| - sin|v|)/|v|^3. Also the increment in body axes that a change of v makes. By a
 * series below 0.1 rad. By value; fails for no finite v. */
Vec3 rotation_rate(Vec3 v, Vec3 rate);
/* For a scalar with derivative `bar` by the result: its derivatives by v and by rate. They are written, not added.
 * v_bar and rate_bar must not be NULL. Allocates nothing. */
void rotation_rate_vjp(Vec3 v, Vec3 rate, Vec3 bar, Vec3* v_bar, Vec3* rate_bar);
/* J_r(v)^-1 turn: the change of v while exp(v) turns by a small rotation about the body's axes; |v| < 2 pi. turn,
 * result: [rad]. Undefined from 2 pi on, where J_r has no inverse; not asserted. */
Vec3 rotation_rate_inverse(Vec3 v, Vec3 turn);

static inline Pose pose_identity(void) { return (Pose){mat3_identity(), {0, 0, 0}}; }
static inline Pose pose_mul(Pose a, Pose b) {
  return (Pose){mat3_mul(a.r, b.r), vec3_add(mat3_mul_vec(a.r, b.t), a.t)};
}
static inline Vec3 pose_apply(Pose a, Vec3 x) { return vec3_add(mat3_mul_vec(a.r, x), a.t); }
static inline Vec3 pose_apply_inverse(Pose a, Vec3 x) { return mat3_tmul_vec(a.r, vec3_sub(x, a.t)); }
static inline Pose pose_inverse(Pose a) {
  Mat3 rt = mat3_transpose(a.r);
  return (Pose){rt, vec3_scale(mat3_mul_vec(rt, a.t), -1.0)};
}

/* Eigenvalues and eigenvectors of a small symmetric matrix in one fixed order of roundings (linalg/eigen.c).
 * a: order x order, rows `stride` apart, both triangles; becomes the eigenvectors, one a row. values: `order`,
 * ascending. off: `order` numbers of work. false: not finite, or no convergence; a has no meaning then. No allocation.
 * Arrays are the caller's own; order 0 returns true. */
bool symmetric_eigen(int order, int stride, double* a, double* values, double* off);

/* The nearest positive semidefinite matrix: negative eigenvalues become zero (linalg/project.c). matrix is symmetric,
 * order x order, order <= SYMMETRIC_PROJECT_MAX. No allocation. false: not finite, matrix unchanged. */
enum { SYMMETRIC_PROJECT_MAX = 12 };
/* Row-major (order x order), both triangles are read and written; false as above. order must be at most
 * SYMMETRIC_PROJECT_MAX, which is not checked. Nothing is allocated. */
bool symmetric_project(int order, double* matrix);

/* x <- A^+ x for a symmetric matrix (order x order, full; destroyed): the least squares solution, and of these the
 * smallest, in units in which the matrix is scale A scale with scale[i] > 0 (linalg/least_change.c): entries are of
 * order 1 in them, or rounding. Equations that say the same twice, or nothing, are none too many. scale: order, > 0;
 * work: 2 order. ambiguous: set to true where there are such, else left alone; may be NULL. false: not finite. No
 * allocation. x: the right-hand side on entry (order). */
bool symmetric_least_change(int order, double* matrix, double* x, const double* scale, double* work, bool* ambiguous);

/* ---------------------------------------------------------------- equations that may say the same twice
 * (linalg/rank_factor.c) Nothing allocates. */

/* P A Q = L U of a square matrix (order x order, row-major, replaced by the factor) by complete pivoting, up to where
 * no entry that is left exceeds `least`. Sets row[order] and column[order]: the equation and the unknown that stand at
 * each place. Returns the rank; -1: not finite. Arrays are the caller's own; nothing is allocated. */
int rank_factor(int order, double* a, int* row, int* column, double least);
/* A solution of A y = x replaces x, zero in the unknowns without a pivot; equations without one are not looked at. x
 * (order); work: order. As rank_factor left a, row and column; rank must be >= 0. Cannot fail, allocates nothing. */
void rank_solve(int order, int rank, const double* a, const int* row, const int* column, double* x, double* work);
/* The same of A^T y = x: row and column change their parts. x[order]; work: order. Cannot fail, allocates nothing. */
void rank_solve_transposed(int order, int rank, const double* a, const int* row, const int* column, double* x,
                           double* work);
/* Takes from x[order] what A makes nothing of, which leaves the smallest with the same A x. work: order (order - rank
 * + 1). As rank_factor left a and column. Cannot fail, allocates nothing. */
void rank_shorten(int order, int rank, const double* a, const int* column, double* x, double* work);

/* ---------------------------------------------------------------- symmetric block systems (linalg/block_solver.c)
 * A symmetric matrix of dense blocks. Blocks that were filled couple; the connected components of that graph are
 * factored each by itself, small ones as one dense matrix, large ones by the multifrontal method. Results depend on
 * what was filled only: not on the processor, on threads or on what was solved before. Only blocks (a, b) with a <= b
 * are stored. Allocates when something appears that there was no room for: new couplings, a larger component. */
typedef struct BlockSolver BlockSolver;
/* A matrix of block_count x block_count blocks, without couplings, all zero; block k has block_sizes[k] rows, which are
 * copied. Owned by the caller, freed by block_solver_destroy. Never NULL. */
BlockSolver* block_solver_create(int block_count, const int* block_sizes);
/* Another matrix in the same room, without couplings, all zero: at most as many blocks and rows as there were at its
 * creation, which is asserted of the blocks alone. Nothing is left of the matrix before. Allocates nothing. */
void block_solver_reshape(BlockSolver* solver, int block_count, const int* block_sizes);
/* Frees the solver and all places that block_solver_block gave; accepts NULL. */
void block_solver_destroy(BlockSolver* solver);
/* Which off-diagonal blocks may be non-zero: keys a << 32 | b with a < b, sorted, unique. A superset costs little. All
 * blocks are zero afterwards, and places that block_solver_block gave are of no use. couplings[count] are copied; may
 * be NULL when count is 0. Keys that are not sorted, or name a block twice, are not refused: undefined. */
void block_solver_pattern(BlockSolver* solver, const uint64_t* couplings, int count);
/* All blocks become zero and uncoupled; the pattern stays. Cannot fail, allocates nothing. */
void block_solver_clear(BlockSolver* solver);
/* Only the blocks in whose row or column one of these stands; the others keep their values. which: (block_count).
 * Cannot fail; nothing is allocated. */
void block_solver_clear_some(BlockSolver* solver, const bool* which);
/* From here to the next call blocks keep their places in the order of elimination, once their component has been
 * ordered, though other couplings are filled: ordering a large component anew costs more than factoring it. Results
 * then depend on what was filled since this call. Without any call every pattern is ordered by itself. Cannot fail;
 * nothing is allocated. */
void block_solver_hold_orders(BlockSolver* solver);
/* Entry (r, c) of block (a, b), a <= b, is at [r * stride + c]; NULL when the pattern lacks it. Of a diagonal block
 * only c >= r counts. stride: columns of the block. Borrowed until the next pattern. Asking couples a and b, with zeros
 * where they were not. Never fails for a diagonal block; a, b must be below block_count. Writing through it into
 * what is not counted is no error. */
double* block_solver_block(BlockSolver* solver, int a, int b, int* stride);
/* Before factoring: unknowns with fixed[k] take value[k]; their rows become the identity and rhs is adjusted. fixed,
 * value, rhs: block_solver_order numbers each; rhs of fixed unknowns becomes their value. fixed, value, rhs stay the
 * caller's own; cannot fail. */
void block_solver_constrain(BlockSolver* solver, const bool* fixed, const double* value, double* rhs);
/* Number of unknowns: the sum of the blocks' sizes, and the length of every x, y, rhs below. Fixed by
 * block_solver_create. Cannot fail. */
int block_solver_order(const BlockSolver* solver);
/* Is a component factored by the multifrontal method? false: all are dense. It may order components anew, which
 * allocates. Cannot fail. */
bool block_solver_is_sparse(BlockSolver* solver);

/* How many there are; 0 of a solver without blocks. Components are found anew when couplings were filled since,
 * which may allocate. Cannot fail. */
int block_solver_component_count(BlockSolver* solver);
/* The number of the component that a block is in. block must be below block_count (not checked); may allocate as
 * block_solver_component_count. */
int block_solver_component_of(BlockSolver* solver, int block);
/* Cholesky. false: not positive definite, or not finite; then there is no factor to solve with. The blocks stay as they
 * were filled. Allocates nothing once the components are found. */
bool block_solver_factor_component(BlockSolver* solver, int component);
/* Factor a positive definite neighbour: eigenvalues' magnitudes lifted to at least `floor` (dense), or the diagonal
 * raised until the factorisation succeeds (sparse). Returns false when it is not finite, or when no such diagonal is
 * found. floor > 0, in the matrix's unit. Allocates nothing once components were found; the blocks stay as they were
 * filled. */
bool block_solver_factor_component_lifted(BlockSolver* solver, int component, double floor);
/* The component as it is, indefinite or not. *smallest becomes its eigenvalue nearest to zero when that is nearer than
 * *smallest (to rounding up to order 96, by Lanczos' method beyond). false: singular to rounding, or not finite.
 * Solving refines, so the filled blocks must still be there. Not beside other threads: it may need room. smallest:
 * HUGE_VAL to begin with. smallest must not be NULL. Allocates while that room grows. */
bool block_solver_factor_component_indefinite(BlockSolver* solver, int component, double* smallest);
/* x <- H^-1 x for the unknowns of the component, which was factored, by any of the three; the others stay.
 * x: of length block_solver_order. No allocation; without a factor the result means nothing. */
void block_solver_solve_component(BlockSolver* solver, int component, double* x);
/* The same of four right-hand sides beside each other, to the bit: unknown k of column c at x[k * stride + c]. Columns
 * outside `wanted` (bit c: column c) are zero in these unknowns, and stay so. stride: at least 4. x: the caller's, of
 * block_solver_order * stride. No allocation; cannot fail, and means nothing without a factor. */
void block_solver_solve_four(BlockSolver* solver, int component, unsigned wanted, double* x, int stride);

/* Cholesky of all components, in their order; false: one is not positive definite or not finite, those behind it are
 * not factored. Returns false at the first that fails; its own blocks stay as they were filled. */
bool block_solver_factor(BlockSolver* solver);
/* The matrix as it is, indefinite or not, for when Cholesky has failed. smallest: the eigenvalue nearest to zero of the
 * components that are not positive definite; 0 when all are. false: singular to rounding, or not finite. smallest
 * must not be NULL; it is set in any case. Allocates as the component's own does. */
bool block_solver_factor_indefinite(BlockSolver* solver, double* smallest);
/* x <- H^-1 x, x of length block_solver_order, once all components are factored. Without a factor of a component its
 * part of x is undefined. Allocates nothing. */
void block_solver_solve(BlockSolver* solver, double* x);
/* y = H x for the matrix as it was filled (and constrained, if it was). x, y: of length block_solver_order, not the
 * same place. No allocation. Cannot fail. */
void block_solver_multiply(const BlockSolver* solver, const double* x, double* y);

#endif
