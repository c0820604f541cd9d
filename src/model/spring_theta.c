/* Implicitness theta of springs, position gains and dampers. Theta of a spring is the weight of the position at the end
 * of a step in the spring force. It follows from the frequency of the spring (docs/derivations/drives.md, M10). Theta
 * of a damper is the weight of the new rate in the damping force. It follows from the decay of the rate (M12). */
#include <assert.h>

#include "model/build.h"

/* Angular frequency of a spring's oscillation times the substep [rad] above which a spring is fully implicit (theta 1).
 */
#define SPRING_UNRESOLVED 4.0

/* Largest number of directions of one spring. A joint or bushing has one frequency per direction, but a single theta.
 * Theta follows from the 8-norm of the squared frequencies. The norm is smooth where two frequencies are equal, and
 * exceeds the largest entry by at most a quarter. */
enum { DIRECTIONS_MAX = JOINT_MAX_DOF };

/* Below this decay the series of damper_implicitness replaces the closed form, which loses digits. */
#define DECAY_SERIES_MAX 0.25

double spring_implicitness(double square, double* slope) {
  double root = sqrt(square), s = (root - SPRING_RESOLVED) / (SPRING_UNRESOLVED - SPRING_RESOLVED);
  *slope = 0;
  if (!(s < 1)) return 1; /* also returned without inertia (infinite mobility) */
  if (!(s > 0)) return 0.5;
  *slope = 1.5 * s * (1 - s) / (SPRING_UNRESOLVED - SPRING_RESOLVED) / root;
  return 0.5 + 0.5 * s * s * (3 - 2 * s);
}

double damper_implicitness(double z, double* slope) {
  static const double SERIES[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160};
  double theta = 0.5, power = 1;
  *slope = 0;
  if (!isfinite(z)) return 1; /* without inertia */
  if (z > DECAY_SERIES_MAX) {
    double left = math_exp_nonpositive(-z), lost = 1 - left;
    *slope = 1 / (z * z) - left / (lost * lost);
    return 1 / lost - 1 / z;
  }
  for (int k = 0; k < 5; k++, power *= z * z) {
    theta += SERIES[k] * power * z;
    *slope += (2 * k + 1) * SERIES[k] * power;
  }
  return theta;
}

/* Returns the 8-norm of the numbers square[count], all >= 0: the eighth root of the sum of their eighth powers. Sets
 * by[count] to the derivatives of the norm with respect to the numbers.
 */
static double eight_norm(const double* square, int count, double* by) {
  double most = 0, sum = 0;
  for (int k = 0; k < count; k++) most = fmax(most, square[k]);
  for (int k = 0; k < count; k++) by[k] = 0;
  if (!(most > 0 && isfinite(most))) return most;
  for (int k = 0; k < count; k++) {
    double share = square[k] / most, four = share * share * share * share;
    sum += four * four;
    by[k] = four * share * share * share;
  }
  double root = sqrt(sqrt(sqrt(sum)));
  for (int k = 0; k < count; k++) by[k] *= root / sum;
  return most * root;
}

/* Working data for one state: poses, screw axes, factored inertia matrices of trees, and the directions of the current
 * spring or damper. */
typedef struct {
  const Model* model;
  Pose* pose;
  Screw* screws;
  double** factor; /* Cholesky factor of the inertia matrix of each tree; NULL if not computed yet (size: trees) */
  /* directions of the current spring or damper, each a vector of joint increments (size: nv) */
  double* x[DIRECTIONS_MAX];
  double coefficient[DIRECTIONS_MAX]; /* SpringDirection.coefficient of each direction */
  int component[DIRECTIONS_MAX];      /* SpringDirection.component of each direction */
  int count;                          /* number of directions added */
  /* couplings: responses M^-1 C^T (size: couplings x nv), Cholesky factor of C M^-1 C^T (size: couplings squared), and
   * forces for each direction (size: couplings) */
  double *coupling_response, *coupling_factor, *coupling_force[DIRECTIONS_MAX];
  double number;     /* norm of the last spring's squared angles, or of the last damper's decays, in a substep */
  SpringVisit visit; /* called for each direction; NULL if only the thetas are needed */
  void* context;
} InertiaWork;

/* Adds the inertia of one link to the inertia matrix a[n * n] of its tree. first: first degree of freedom of the tree.
 */
static void add_link_inertia(const InertiaWork* s, int link, int first, int n, double* a) {
  const Model* m = s->model;
  const ModelLink* l = &m->links[link];
  Vec3 center = pose_apply(s->pose[link], l->center);
  Mat3 r = s->pose[link].r;
  if (!(l->mass > 0)) return;
  Mat3 inertia = mat3_mul(r, mat3_mul(mass_moment_inertia_tensor(&l->moment), mat3_transpose(r)));
  for (int up = link; up >= 0; up = m->links[up].parent)
    for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++) {
      Vec3 v = vec3_scale(screw_velocity(&s->screws[d], center), l->mass), w = mat3_mul_vec(inertia, s->screws[d].w);
      for (int over = link; over >= 0; over = m->links[over].parent)
        for (int e = m->links[over].dof_first; e < m->links[over].dof_first + m->links[over].dof_count; e++)
          a[(d - first) * n + e - first] +=
              vec3_dot(v, screw_velocity(&s->screws[e], center)) + vec3_dot(w, s->screws[e].w);
    }
}

/* Sets a[n * n] to the Cholesky factor of a tree's inertia matrix. n: degrees of freedom of the tree. The pivot is 0
 * for prescribed degrees of freedom and for motions without inertia. */
static void factor_tree(const InertiaWork* s, int tree, double* a) {
  const Model* m = s->model;
  int first = m->trees[tree].dof_first, n = m->trees[tree].dof_count;
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree == tree) add_link_inertia(s, i, first, n, a);
  for (int k = 0; k < n; k++) {
    const ModelLink* link = &m->links[m->dof_link[first + k]];
    double diagonal = a[k * n + k] += link->armature[first + k - link->dof_first];
    for (int j = 0; j < k; j++) a[k * n + k] -= a[k * n + j] * a[k * n + j];
    bool moves = link->prescribed < 0 && a[k * n + k] > 1e-12 * diagonal;
    a[k * n + k] = moves ? sqrt(a[k * n + k]) : 0;
    for (int i = k + 1; i < n; i++) {
      for (int j = 0; j < k; j++) a[i * n + k] -= a[i * n + j] * a[k * n + j];
      a[i * n + k] = moves ? a[i * n + k] / a[k * n + k] : 0;
    }
  }
}

/* Returns the contribution of one tree to the mobility x . M^-1 x, with the inertia matrix M = L L^T. Replaces the
 * entries of the tree in x[nv] by L^-1 x. Returns INFINITY if x moves a degree of freedom without inertia. */
static double add_tree_mobility(InertiaWork* s, int tree, double* x) {
  const Model* m = s->model;
  const ModelTree* t = &m->trees[tree];
  int n = t->dof_count;
  double sum = 0;
  bool any = false;
  x += t->dof_first;
  for (int k = 0; k < n; k++) any = any || x[k] != 0;
  if (!any) return 0;
  if (!s->factor[tree]) {
    s->factor[tree] = MEMORY_NEW(double, (size_t)n*(size_t)n);
    factor_tree(s, tree, s->factor[tree]);
  }
  const double* a = s->factor[tree];
  for (int k = 0; k < n; k++) {
    bool prescribed = m->links[m->dof_link[t->dof_first + k]].prescribed >= 0;
    if (prescribed) x[k] = 0;
    for (int j = 0; j < k && !prescribed; j++) x[k] -= a[k * n + j] * x[j];
    if (x[k] == 0) continue;
    if (a[k * n + k] == 0) return INFINITY;
    x[k] /= a[k * n + k];
    sum += x[k] * x[k];
  }
  return sum;
}

/* Completes the solution with the mass matrix M = L L^T of all trees that add_tree_mobility begins: replaces L^-1 x in
 * x[nv] by M^-1 x. */
static void finish_response(const InertiaWork* s, double* x) {
  for (int tree = 0; tree < s->model->tree_count; tree++) {
    const double* a = s->factor[tree];
    int first = s->model->trees[tree].dof_first, n = s->model->trees[tree].dof_count;
    for (int k = n - 1; a && k >= 0; k--) {
      for (int j = k + 1; j < n; j++) x[first + k] -= a[j * n + k] * x[first + j];
      x[first + k] = a[k * n + k] > 0 ? x[first + k] / a[k * n + k] : 0;
    }
  }
}

static double coupling_product(const ModelCoupling* c, const double* x) {
  double sum = 0;
  for (int i = 0; i < c->count; i++) sum += c->slope[i] * x[c->dof[i]];
  return sum;
}

/* A pivot of C M^-1 C^T below this fraction of its diagonal entry belongs to a redundant coupling. */
#define COUPLING_PIVOT_MIN 1e-10

/* Computes the responses of the couplings and factors C M^-1 C^T. The pivot is 0 for redundant couplings, and for those
 * that move a degree of freedom without inertia. */
static void factor_couplings(InertiaWork* s) {
  const Model* m = s->model;
  int n = m->coupling_count, nv = m->dof_count;
  double* a = s->coupling_factor;
  for (int k = 0; k < n; k++) {
    double *response = s->coupling_response + (size_t)k * (size_t)nv, mobility = 0;
    const ModelCoupling* c = &m->couplings[k];
    for (int i = 0; i < c->count; i++) response[c->dof[i]] += c->slope[i];
    for (int tree = 0; tree < m->tree_count; tree++) mobility += add_tree_mobility(s, tree, response);
    finish_response(s, response);
    for (int j = 0; j <= k; j++) a[k * n + j] = isfinite(mobility) ? coupling_product(&m->couplings[j], response) : 0;
  }
  for (int k = 0; k < n; k++) {
    double diagonal = a[k * n + k];
    for (int j = 0; j < k; j++) a[k * n + k] -= a[k * n + j] * a[k * n + j];
    bool acts = a[k * n + k] > COUPLING_PIVOT_MIN * diagonal;
    a[k * n + k] = acts ? sqrt(a[k * n + k]) : 0;
    for (int i = k + 1; i < n; i++) {
      for (int j = 0; j < k; j++) a[i * n + k] -= a[i * n + j] * a[k * n + j];
      a[i * n + k] = acts ? a[i * n + k] / a[k * n + k] : 0;
    }
  }
}

/* Replaces the response x[nv] = M^-1 f by the response under the couplings. Sets force[couplings] to their forces.
 * Returns the decrease of the mobility f . x. */
static double constrain_response(const InertiaWork* s, double* x, double* force) {
  const Model* m = s->model;
  int n = m->coupling_count;
  const double* a = s->coupling_factor;
  double decrease = 0;
  for (int k = 0; k < n; k++) {
    force[k] = coupling_product(&m->couplings[k], x);
    for (int j = 0; j < k; j++) force[k] -= a[k * n + j] * force[j];
    force[k] = a[k * n + k] > 0 ? force[k] / a[k * n + k] : 0;
    decrease += force[k] * force[k];
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) force[k] -= a[j * n + k] * force[j];
    force[k] = a[k * n + k] > 0 ? force[k] / a[k * n + k] : 0;
    for (int d = 0; d < m->dof_count; d++)
      x[d] -= force[k] * s->coupling_response[(size_t)k * (size_t)m->dof_count + (size_t)d];
  }
  return decrease;
}

/* Adds a direction with the given coefficient and component to the current spring or damper. Returns the vector x[nv]
 * of the direction, set to zero, which the caller fills. */
static double* add_direction(InertiaWork* s, double coefficient, int component) {
  double* x = s->x[s->count];
  for (int d = 0; d < s->model->dof_count; d++) x[d] = 0;
  s->component[s->count] = component;
  s->coefficient[s->count++] = coefficient;
  return x;
}

/* Returns the implicitness theta of the current spring or damper and clears its directions. Calls the visitor for each
 * direction in which theta depends on the coefficient. index: of the link, tendon or bushing. */
static double finish_theta(InertiaWork* s, ThetaKind kind, int index) {
  bool damps = kind == THETA_JOINT_DAMPER || kind == THETA_BUSHING_DAMPER;
  double dt = simulation_substep_length(&s->model->simulation), unit = damps ? dt : dt * dt;
  double mobility[DIRECTIONS_MAX] = {0}, number[DIRECTIONS_MAX], by[DIRECTIONS_MAX] = {0}, slope = 0;
  for (int k = 0; k < s->count; k++) {
    for (int tree = 0; tree < s->model->tree_count; tree++) mobility[k] += add_tree_mobility(s, tree, s->x[k]);
    if (isfinite(mobility[k])) {
      finish_response(s, s->x[k]);
      mobility[k] = fmax(0, mobility[k] - constrain_response(s, s->x[k], s->coupling_force[k]));
    }
    number[k] = s->coefficient[k] * mobility[k] * unit;
  }
  s->number = eight_norm(number, s->count, by);
  double value = (damps ? damper_implicitness : spring_implicitness)(s->number, &slope);
  for (int k = 0; s->visit && k < s->count; k++) {
    const SpringDirection out = {kind,
                                 index,
                                 s->component[k],
                                 s->coefficient[k],
                                 mobility[k],
                                 slope * by[k] * unit,
                                 s->x[k],
                                 s->coupling_force[k]};
    if (out.slope != 0) s->visit(s->context, &out);
  }
  s->count = 0;
  return value;
}

double model_joint_stiffness(const Model* m, int link, int dof) {
  double sum = m->links[link].stiffness[dof];
  for (int c = 0; c < m->controller_count; c++)
    if (m->controllers[c].link == link && m->controllers[c].type == CONTROLLER_PD)
      sum += m->controllers[c].position_gain[dof];
  return sum;
}

double model_joint_damping(const Model* m, int link, int dof) {
  double sum = m->links[link].damping[dof], dt = simulation_substep_length(&m->simulation);
  for (int c = 0; c < m->controller_count; c++)
    if (m->controllers[c].link == link)
      sum += m->controllers[c].velocity_gain[dof] / dt + m->controllers[c].damping_gain[dof];
  return sum;
}

/* Returns the implicitness theta of a joint's springs or dampers. Each degree of freedom on which they act is one
 * direction. */
static double joint_theta(InertiaWork* s, ThetaKind kind, int link) {
  const ModelLink* l = &s->model->links[link];
  for (int k = 0; k < l->dof_count; k++) {
    double coefficient = (kind == THETA_JOINT_DAMPER ? model_joint_damping : model_joint_stiffness)(s->model, link, k);
    if (coefficient > 0) add_direction(s, coefficient, k)[l->dof_first + k] = 1;
  }
  return finish_theta(s, kind, link);
}

/* Adds the contribution of one tendon point, fixed to the link, to x[nv]: the derivatives of the tendon's length with
 * respect to the degrees of freedom. slope: derivative of the length with respect to the point, world axes. at: the
 * point, world frame [m]. */
static void add_length_derivatives(const InertiaWork* s, int link, Vec3 slope, Vec3 at, double* x) {
  model_add_generalized_force(s->model, link, s->screws, at, slope, vec3(0, 0, 0), x);
}

static double tendon_theta(InertiaWork* s, int index) {
  const Model* m = s->model;
  const SceneTendon* tendon = m->tendons[index].source;
  double* x = add_direction(s, tendon->stiffness, 0);
  for (int i = 0; i + 1 < tendon->count; i++) {
    TendonSpan span = tendon_span(tendon, i, s->pose);
    for (int side = 0; side < 2; side++) {
      Vec3 end = span.end[side], by_end = span.slope[side];
      add_length_derivatives(s, tendon->points[i + side].link, by_end, end, x);
      if (span.touches) add_length_derivatives(s, scene_tendon_wrap(tendon, i)->link, vec3_scale(by_end, -1), end, x);
    }
  }
  for (int i = 0; i < tendon->joint_count; i++)
    x[m->links[tendon->joints[i].link].dof_first + tendon->joints[i].coordinate] += tendon->joints[i].ratio;
  return finish_theta(s, THETA_TENDON, index);
}

/* Returns the implicitness theta of the spring or damper of a bushing. Each of the six diagonal entries of its matrix
 * is one direction. */
static double bushing_theta(InertiaWork* s, ThetaKind kind, int index) {
  const Model* m = s->model;
  const SceneBushing* bushing = m->bushings[index].source;
  Pose at[2] = {bushing_frame(bushing, 0, s->pose), bushing_frame(bushing, 1, s->pose)};
  for (int k = 0; k < 6; k++) {
    double coefficient = (kind == THETA_BUSHING_DAMPER ? bushing->damping : bushing->stiffness)[k][k];
    if (!(coefficient > 0)) continue;
    double* x = add_direction(s, coefficient, k);
    Vec3 axis = mat3_mul_vec(at[0].r, vec3_axis(k));
    for (int side = 0; side < 2; side++)
      for (int up = bushing->link[side]; up >= 0; up = m->links[up].parent)
        for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++) {
          Vec3 rate = k < 3 ? screw_velocity(&s->screws[d], at[1].t) : s->screws[d].w;
          x[d] += (side == 0 ? -1 : 1) * vec3_dot(axis, rate);
        }
  }
  return finish_theta(s, kind, index);
}

/* Creates the working data for coordinates q[nq]. free_work frees it. */
static InertiaWork create_work(const Model* model, const double* q, SpringVisit visit, void* context) {
  InertiaWork s = {.model = model, .visit = visit, .context = context};
  s.pose = MEMORY_NEW(Pose, model->link_count);
  s.screws = MEMORY_NEW(Screw, model->dof_count);
  s.factor = MEMORY_NEW(double*, model->tree_count);
  for (int k = 0; k < DIRECTIONS_MAX; k++) s.x[k] = MEMORY_NEW(double, model->dof_count);
  model_poses(model, q, s.pose);
  model_screws(model, q, s.pose, s.screws);
  size_t couplings = (size_t)model->coupling_count;
  s.coupling_response = MEMORY_NEW(double, couplings*(size_t)model->dof_count);
  s.coupling_factor = MEMORY_NEW(double, couplings* couplings);
  for (int k = 0; k < DIRECTIONS_MAX; k++) s.coupling_force[k] = MEMORY_NEW(double, couplings);
  factor_couplings(&s);
  return s;
}

static void free_work(InertiaWork* s) {
  for (int k = 0; k < s->model->tree_count; k++) memory_free(s->factor[k]);
  for (int k = 0; k < DIRECTIONS_MAX; k++) memory_free(s->x[k]);
  for (int k = 0; k < DIRECTIONS_MAX; k++) memory_free(s->coupling_force[k]);
  memory_free(s->coupling_response);
  memory_free(s->coupling_factor);
  memory_free(s->pose);
  memory_free(s->screws);
  memory_free(s->factor);
}

/* Sets thetas[model_theta_count] to the implicitness of springs and dampers at coordinates q[nq]. Calls visit, unless
 * NULL, for each direction in which theta depends on the coefficient. */
static void compute_thetas(const Model* model, const double* q, SpringVisit visit, void* context, double* thetas) {
  bool keeps = model->simulation.integrator == INTEGRATOR_MOMENTUM;
  InertiaWork s = create_work(model, q, visit, context);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    bool moves = keeps && link->tree >= 0 && link->prescribed < 0;
    thetas[i] = moves ? joint_theta(&s, THETA_JOINT_SPRING, i) : 1;
    thetas[model_theta_index(model, THETA_JOINT_DAMPER, i)] = moves ? joint_theta(&s, THETA_JOINT_DAMPER, i) : 1;
  }
  for (int k = 0; k < model->tendon_count; k++) {
    const ModelTendon* tendon = &model->tendons[k];
    bool springs = keeps && tendon->home >= 0 && tendon->source->stiffness > 0;
    thetas[model_theta_index(model, THETA_TENDON, k)] = springs ? tendon_theta(&s, k) : 1;
  }
  for (int k = 0; k < model->bushing_count; k++)
    for (int damps = 0; damps < 2; damps++) {
      ThetaKind kind = damps ? THETA_BUSHING_DAMPER : THETA_BUSHING_SPRING;
      bool moves = keeps && model->bushings[k].home >= 0;
      thetas[model_theta_index(model, kind, k)] = moves ? bushing_theta(&s, kind, k) : 1;
    }
  free_work(&s);
}

void model_visit_springs(const Model* model, const double* q, SpringVisit visit, void* context) {
  double* thetas = MEMORY_NEW(double, model_theta_count(model));
  compute_thetas(model, q, visit, context, thetas);
  memory_free(thetas);
}

void model_place_spring_thetas(Model* model) {
  double* thetas = MEMORY_NEW(double, model_theta_count(model));
  compute_thetas(model, model->initial_coordinates, NULL, NULL, thetas);
  for (int i = 0; i < model->link_count; i++) {
    model->links[i].spring_theta = thetas[i];
    model->links[i].damper_theta = thetas[model_theta_index(model, THETA_JOINT_DAMPER, i)];
  }
  for (int k = 0; k < model->tendon_count; k++)
    model->tendons[k].theta = thetas[model_theta_index(model, THETA_TENDON, k)];
  for (int k = 0; k < model->bushing_count; k++) {
    model->bushings[k].theta = thetas[model_theta_index(model, THETA_BUSHING_SPRING, k)];
    model->bushings[k].damper_theta = thetas[model_theta_index(model, THETA_BUSHING_DAMPER, k)];
  }
  memory_free(thetas);
}

double model_joint_step_number(const Model* m, int link, const double* coefficients, bool damps) {
  assert(link >= 0 && link < m->link_count);
  const ModelLink* l = &m->links[link];
  InertiaWork s = create_work(m, m->initial_coordinates, NULL, NULL);
  for (int k = 0; k < l->dof_count; k++)
    if (coefficients[k] > 0) add_direction(&s, coefficients[k], k)[l->dof_first + k] = 1;
  (void)finish_theta(&s, damps ? THETA_JOINT_DAMPER : THETA_JOINT_SPRING, link);
  double number = s.number;
  free_work(&s);
  return number;
}
