/* linalg: 3-vectors, rotations and poses by value; dense and sparse symmetric solvers. A Pose has a rotation matrix r
 * and a translation t. It maps local coordinates X to x = r X + t. Matrices are row-major. */
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
} Quat; /* unit quaternion, Hamilton convention, active rotation */
typedef struct {
  Mat3 r;
  Vec3 t;
} Pose;

static inline Vec3 vec3(double x, double y, double z) { return (Vec3){x, y, z}; }
/* Returns the unit vector along axis k mod 3 (0: x, 1: y, 2: z). k >= 0. */
static inline Vec3 vec3_axis(int k) { return vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2); }
/* vec3_at and vec3_store convert between a vector and 3 doubles, quat_at and quat_store between a quaternion and 4
 * doubles w x y z. */
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
static inline bool vec3_is_zero(Vec3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }
/* Returns (I - n n^T) v. For a unit vector n, this is the projection of v onto the plane perpendicular to n. */
static inline Vec3 vec3_project(Vec3 v, Vec3 n) { return vec3_add_scaled(v, -vec3_dot(n, v), n); }
/* Returns a unit vector perpendicular to the unit vector n: n x (1, 0, 0), normalized. If n is near the x axis, n x (0,
 * 1, 0) is used. */
static inline Vec3 vec3_perpendicular(Vec3 n) {
  return vec3_normalized(vec3_cross(n, fabs(n.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0)));
}
/* Returns the x axis projected onto the plane perpendicular to the unit vector n, normalized. If |n.x| >= max_x, the y
 * axis is projected instead. max_x < 1. */
static inline Vec3 vec3_perpendicular_near_x(Vec3 n, double max_x) {
  Vec3 axis = fabs(n.x) < max_x ? vec3(1, 0, 0) : vec3(0, 1, 0);
  return vec3_normalized(vec3_add_scaled(axis, -vec3_dot(axis, n), n));
}
static inline Vec3 vec3_min(Vec3 a, Vec3 b) { return vec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static inline Vec3 vec3_max(Vec3 a, Vec3 b) { return vec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

/* Scatter matrix S = sum c c^T of the in-plane coordinates c of points, relative to their mean. The entries 00, 01, 11
 * are stored. scatter_add adds one point. scatter_solve sets out to S^-1 c [1/m]. This is the change of the slope of
 * the best-fit line or plane when the point c rises by one unit. directions: 2 for a plane; 1 for a line, with c[1] =
 * 0. S must be regular. */
static inline void scatter_add(double scatter[3], const double c[2]) {
  scatter[0] += c[0] * c[0];
  scatter[1] += c[0] * c[1];
  scatter[2] += c[1] * c[1];
}
static inline void scatter_solve(const double scatter[3], int directions, const double c[2], double out[2]) {
  double det = scatter[0] * scatter[2] - scatter[1] * scatter[1];
  out[0] = directions == 2 ? (scatter[2] * c[0] - scatter[1] * c[1]) / det : c[0] / scatter[0];
  out[1] = directions == 2 ? (scatter[0] * c[1] - scatter[1] * c[0]) / det : 0;
}

static inline Mat3 mat3_identity(void) { return (Mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline Mat3 mat3_zero(void) { return (Mat3){{{0}}}; }
static inline Vec3 mat3_mul_vec(Mat3 a, Vec3 v) {
  return vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z, a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
              a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
static inline Vec3 mat3_tmul_vec(Mat3 a, Vec3 v) { /* a^T v */
  return vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z, a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
              a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}
static inline Mat3 mat3_mul(Mat3 a, Mat3 b) {
  Mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return c;
}
static inline Mat3 mat3_rotate_tensor(Mat3 r, Mat3 s) { /* returns r s r^T for a symmetric s */
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
/* Returns the inverse of a, computed by cofactors. For a singular matrix the entries are infinite or NaN. */
static inline Mat3 mat3_inverse(Mat3 a) {
  Vec3 x = vec3(a.m[0][0], a.m[0][1], a.m[0][2]), y = vec3(a.m[1][0], a.m[1][1], a.m[1][2]),
       z = vec3(a.m[2][0], a.m[2][1], a.m[2][2]);
  Vec3 yz = vec3_cross(y, z), zx = vec3_cross(z, x), xy = vec3_cross(x, y);
  double s = 1 / vec3_dot(x, yz);
  return (Mat3){{{s * yz.x, s * zx.x, s * xy.x}, {s * yz.y, s * zx.y, s * xy.y}, {s * yz.z, s * zx.z, s * xy.z}}};
}
static inline Mat3 mat3_outer(Vec3 a, Vec3 b) { /* returns a b^T */
  return (Mat3){
      {{a.x * b.x, a.x * b.y, a.x * b.z}, {a.y * b.x, a.y * b.y, a.y * b.z}, {a.z * b.x, a.z * b.y, a.z * b.z}}};
}
static inline Mat3 mat3_cross(Vec3 a) { /* returns the matrix [a]x with [a]x b = a x b */
  return (Mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}
/* Returns the axial vector (k21 - k12, k02 - k20, k10 - k01) of a matrix k. For an outer product k = g r^T the result
 * is r x g. For every vector a, a . mat3_axial(k) is the sum of the products of the entries of k and mat3_cross(a). */
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

/* Return a vector and a quaternion whose components are random numbers of the standard normal distribution. Each random
 * number is drawn in its own statement, because C leaves the order of evaluation of arguments and initializers open. */
static inline Vec3 vec3_random_normal(Random* random) {
  double z = random_normal(random), y = random_normal(random), x = random_normal(random);
  return vec3(x, y, z);
}

static inline Quat quat_random_normal(Random* random) {
  double component[4];
  for (int k = 0; k < 4; k++) component[k] = random_normal(random);
  return (Quat){component[0], component[1], component[2], component[3]};
}
static inline Mat3 mat3_from_quat(Quat q) {
  return (Mat3){{{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
                 {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
                 {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}}};
}
/* Returns the rotation by angle [rad] about the unit vector `axis`. */
static inline Quat quat_about(Vec3 axis, double angle) {
  double s, c;
  math_sincos(0.5 * angle, &s, &c);
  return (Quat){c, s * axis.x, s * axis.y, s * axis.z};
}
/* Returns the quaternion of a rotation matrix, with w >= 0. */
Quat quat_from_mat3(Mat3 r);
/* Returns the quaternion of roll, pitch, yaw [rad] (URDF): rotations about the fixed x axis, then y axis, then z
 * axis. */
Quat quat_from_rpy(Vec3 rpy);
/* Returns roll, pitch, yaw [rad] of a rotation matrix, with pitch in [-pi/2, pi/2]. At pitch = +-pi/2, where roll and
 * yaw are not unique, the angles still reproduce r to rounding. */
Vec3 rpy_from_mat3(Mat3 r);
/* Returns the angles d1, d2, d3 [rad] with Rx(d1) Ry(d2) Rz(d3) = r and d2 in [-pi/2, pi/2]. Rx, Ry, Rz: rotations
 * about the x, y and z axes. r must be a rotation matrix (asserted). */
Vec3 xyz_angles_from_mat3(Mat3 r);
/* Returns the rotation vector [rad] of a quaternion q: the rotation axis times the angle, with an angle in [0, pi]. q
 * and -q give the same vector. q may have any length but must not be 0 (asserted). */
Vec3 quat_log(Quat q);
/* Returns the unit quaternion of a rotation vector [rad]. */
Quat quat_exp(Vec3 v);
/* Returns the angular velocity in body axes [rad/s] of a body whose rotation vector is v [rad] and changes at `rate` =
 * dv/dt. The result is J_r(v) rate with the right Jacobian J_r = I - a [v]x + b [v]x^2. Here [v]x is the cross-product
 * matrix of v, a = (1 - cos|v|)/|v|^2 and b = (|v| - sin|v|)/|v|^3. */
Vec3 rotation_rate(Vec3 v, Vec3 rate);
/* Computes the vector-Jacobian product of rotation_rate. bar: derivative of a scalar with respect to the angular
 * velocity. Sets *v_bar and *rate_bar to the derivatives of the scalar with respect to v and rate. */
void rotation_rate_vjp(Vec3 v, Vec3 rate, Vec3 bar, Vec3* v_bar, Vec3* rate_bar);
/* Returns the change of a body's rotation vector v [rad] when the body makes a further small rotation [rad] about its
 * own axes. The result is J_r(v)^-1 rotation, with the right Jacobian J_r as in rotation_rate. |v| < 2 pi (asserted).
 */
Vec3 rotation_rate_inverse(Vec3 v, Vec3 rotation);

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

/* ---------------------------------------------------------------- matrices [R | t] of a pose, of its rate, or of the
 * derivatives of a scalar with respect to it */
/* Returns R. */
static inline Mat3 pose_matrix_rotation(const double a[3][4]) {
  Mat3 out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out.m[i][j] = a[i][j];
  return out;
}
static inline Vec3 pose_matrix_translation(const double a[3][4]) { return vec3(a[0][3], a[1][3], a[2][3]); }
static inline void pose_matrix_add_rotation(double a[3][4], Mat3 rotation) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a[i][j] += rotation.m[i][j];
}
static inline void pose_matrix_add(double a[3][4], Mat3 rotation, Vec3 translation) {
  pose_matrix_add_rotation(a, rotation);
  a[0][3] += translation.x;
  a[1][3] += translation.y;
  a[2][3] += translation.z;
}
/* Adds by_i (x, 1)_j to entry i, j: the derivatives of a scalar by way of the point R x + t. by: derivative of the
 * scalar with respect to this point. */
static inline void pose_matrix_add_point(double a[3][4], Vec3 by, Vec3 x) { pose_matrix_add(a, mat3_outer(by, x), by); }

/* Computes eigenvalues and eigenvectors of a small symmetric matrix. a (order x order, full, rows `stride` apart) is
 * replaced by the eigenvectors, one per row. values (order): receives the eigenvalues, ascending. work (order):
 * workspace. The results are bit-identical on every processor. Returns false if a is not finite or the iteration does
 * not converge; the content of a is then unspecified. Does not allocate. */
bool symmetric_eigen(int order, int stride, double* a, double* values, double* work);

/* Largest order of symmetric_project. */
enum { SYMMETRIC_PROJECT_MAX = 12 };
/* Replaces a symmetric matrix by the nearest positive semidefinite matrix: negative eigenvalues become zero. matrix
 * (order x order, row-major, both triangles), order <= SYMMETRIC_PROJECT_MAX (asserted). Returns false, with the matrix
 * unchanged, if the matrix is not finite or the iteration does not converge. Does not allocate. */
bool symmetric_project(int order, double* matrix);

/* Computes the minimum-norm least-squares solution A^+ x, where A^+ is the pseudoinverse of a positive semidefinite
 * matrix A. matrix (order x order): A, full; destroyed. x (order): right-hand side on entry, solution on return. scale
 * (order): positive factors such that the entries scale[i] A(i, j) scale[j] are of order 1. The minimized norm is the
 * norm of x / scale. If equations are redundant, the function sets *ambiguous to true, otherwise leaves it unchanged.
 * ambiguous may be NULL. work: 2 * order doubles. Returns false if a number is not finite. Does not allocate. */
bool symmetric_pseudo_solve(int order, double* matrix, double* x, const double* scale, double* work, bool* ambiguous);

/* ---------------------------------------------------------------- rank-deficient square systems */

/* Factors a square matrix A as P A Q = L U with complete pivoting: P and Q are permutations, L is lower and U upper
 * triangular. a (order x order, row-major): A on entry, the factors on return. The factorization stops when no
 * remaining entry exceeds `least`. Sets row[k] and column[k] (order) to the equation and the unknown of pivot k.
 * Returns the rank, or -1 if A is not finite. Does not allocate. */
int rank_factor(int order, double* a, int* row, int* column, double least);
/* Solves A y = x with the factors of rank_factor and replaces x (order) by y. Unknowns without a pivot become zero,
 * equations without a pivot are ignored. rank >= 0. work: `order` doubles. Does not allocate. */
void rank_solve(int order, int rank, const double* a, const int* row, const int* column, double* x, double* work);
/* Solves A^T y = x with the factors of A from rank_factor and replaces x (order) by y. rank >= 0. work: `order`
 * doubles. Does not allocate. */
void rank_solve_transposed(int order, int rank, const double* a, const int* row, const int* column, double* x,
                           double* work);
/* Removes from x (order) its component in the null space of A: x becomes the shortest vector with the same product A x.
 * a, rank, column: results of rank_factor for A. work: order * (order - rank + 1) doubles. Does not allocate. */
void rank_remove_null_space(int order, int rank, const double* a, const int* column, double* x, double* work);

/* ---------------------------------------------------------------- symmetric block systems A BlockSolver holds a
 * symmetric matrix of dense blocks and solves linear systems with it. Nonzero off-diagonal blocks couple the unknowns
 * of two blocks. Each connected component of the coupled blocks is factored separately: small components as a dense
 * matrix, large components by the multifrontal method. Results depend only on the filled blocks, not on the processor,
 * the number of threads or earlier solves. Only blocks (a, b) with a <= b are stored. A function allocates only if the
 * existing storage is too small for new couplings or a larger component. */
typedef struct BlockSolver BlockSolver;
/* Returns a zero matrix of block_count x block_count blocks without couplings. Block k has block_sizes[k] rows
 * (copied). The caller frees the solver with block_solver_destroy. Never returns NULL. */
BlockSolver* block_solver_create(int block_count, const int* block_sizes);
/* Replaces the matrix by a zero matrix without couplings in the same storage. The new matrix has at most as many blocks
 * (asserted) and rows as the matrix of block_solver_create. Does not allocate. */
void block_solver_reshape(BlockSolver* solver, int block_count, const int* block_sizes);
/* Frees the solver and all blocks returned by block_solver_block. Accepts NULL. */
void block_solver_destroy(BlockSolver* solver);
/* Sets the sparsity pattern: which off-diagonal blocks may be nonzero. couplings (count): keys a << 32 | b with a < b,
 * sorted and unique (asserted), copied; may be NULL if count is 0. Blocks that stay zero cost little. Zeroes all blocks
 * and invalidates the pointers returned by block_solver_block. */
void block_solver_pattern(BlockSolver* solver, const uint64_t* couplings, int count);
/* Zeroes and uncouples all blocks. The sparsity pattern stays. Does not allocate. */
void block_solver_clear(BlockSolver* solver);
/* Zeroes and uncouples the blocks in the selected block rows and block columns. selected (block_count). Other blocks
 * keep their values. Does not allocate. */
void block_solver_clear_rows(BlockSolver* solver, const bool* selected);
/* From this call on, the elimination order of a connected component is computed once and kept, even if other couplings
 * are filled later. Ordering a large component costs more than factoring it. Each call discards the kept orders.
 * Results then depend on the blocks filled since the last call. By default every pattern is ordered anew. Does not
 * allocate. */
void block_solver_keep_orders(BlockSolver* solver);
/* Returns a pointer to block (a, b), a <= b, and couples a and b. Entry (r, c) is at [r * stride + c]; sets *stride to
 * the number of columns. Only entries c >= r of a diagonal block are used. An unfilled block is zeroed first. Returns
 * NULL if the sparsity pattern has no such block; diagonal blocks always exist. The pointer is borrowed until the next
 * call of block_solver_pattern. */
double* block_solver_block(BlockSolver* solver, int a, int b, int* stride);
/* Fixes each unknown k with fixed[k] true at value[k]. Call before factoring. The rows of fixed unknowns become rows of
 * the identity, and their entries of rhs become their values. The other entries of rhs are adjusted. fixed, value, rhs:
 * (block_solver_order). */
void block_solver_constrain(BlockSolver* solver, const bool* fixed, const double* value, double* rhs);
/* Returns the number of unknowns, which is the sum of the block sizes. */
int block_solver_order(const BlockSolver* solver);
/* Returns true if any component is factored by the multifrontal method. May reorder components, which allocates. */
bool block_solver_is_sparse(BlockSolver* solver);

/* Returns the number of connected components, 0 if there are no blocks. May allocate if blocks were filled since the
 * last call. */
int block_solver_component_count(BlockSolver* solver);
/* Returns the index of the connected component that contains a block (index asserted). May allocate if blocks were
 * filled since the last call. */
int block_solver_component_of(BlockSolver* solver, int block);
/* Computes the Cholesky factor of a component. Returns false, without a factor, if the component is not positive
 * definite or not finite. The blocks keep their values. Does not allocate once the components are known. */
bool block_solver_factor_component(BlockSolver* solver, int component);
/* Modifies a component so that it becomes positive definite, and factors it. In a dense component, eigenvalues are
 * replaced by their magnitudes, at least `floor`. In a sparse component, the diagonal is raised. floor > 0, in the unit
 * of the matrix. Returns false if the component is not finite or no raised diagonal was sufficient. The blocks keep
 * their values. Does not allocate once the components are known. */
bool block_solver_factor_component_modified(BlockSolver* solver, int component, double floor);
/* Factors a component without modification, even if it is indefinite. *smallest, initially HUGE_VAL, becomes the
 * component's eigenvalue nearest to zero if that is nearer to zero than *smallest. The eigenvalue is exact to rounding
 * for dense components up to order 96, otherwise found by Lanczos iterations. Returns false if the component is
 * numerically singular or not finite. Solving also reads the blocks, so they must stay unchanged. May allocate; not
 * thread-safe. */
bool block_solver_factor_component_indefinite(BlockSolver* solver, int component, double* smallest);
/* Solves H y = x for the solver's matrix H and one factored component, and replaces x (block_solver_order) by y. Only
 * the unknowns of the component change. The component must have a factor (asserted). Does not allocate. */
void block_solver_solve_component(BlockSolver* solver, int component, double* x);
/* Solves H y = x for the solver's matrix H, one factored component and up to four right-hand sides. The results are
 * bit-identical to the results of block_solver_solve_component. Unknown k of column c is x[k * stride + c], stride
 * >= 4. Bit c of `columns` selects column c. The other columns must be zero in the component's unknowns and stay zero.
 * x: block_solver_order * stride. */
void block_solver_solve_four(BlockSolver* solver, int component, unsigned columns, double* x, int stride);

/* Computes the Cholesky factors of all components in order. Returns false at the first component that is not positive
 * definite or not finite; later components are not factored. The blocks keep their values. */
bool block_solver_factor(BlockSolver* solver);
/* Factors the matrix without modification, even if it is indefinite; called after block_solver_factor failed. Sets
 * *smallest to the eigenvalue nearest to zero of the components that are not positive definite, or to 0 if all
 * components are positive definite. Returns false if the matrix is numerically singular or not finite. May allocate. */
bool block_solver_factor_indefinite(BlockSolver* solver, double* smallest);
/* Solves H y = x for the solver's matrix H and replaces x (block_solver_order) by y. All components must be factored
 * (asserted). Does not allocate. */
void block_solver_solve(BlockSolver* solver, double* x);
/* Sets y to H x for the solver's matrix H. x and y have length block_solver_order and do not overlap. */
void block_solver_multiply(const BlockSolver* solver, const double* x, double* y);

#endif
