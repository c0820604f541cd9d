/* Implicitness of springs and position gains in a step, from their frequencies (docs/derivations/drives.md, M10). */
#include "model/build.h"

/* Frequency times substep [rad] up to which a spring conserves energy, and above which it is fully implicit. */
#define SPRING_RESOLVED 0.5
#define SPRING_UNRESOLVED 4.0

/* Returns theta; square: (frequency times substep)^2. */
static double theta_of(double square) {
  double s = (sqrt(square) - SPRING_RESOLVED) / (SPRING_UNRESOLVED - SPRING_RESOLVED);
  if (!(s < 1)) return 1; /* also for a motion without inertia */
  return s > 0 ? 0.5 + 0.5 * s * s * (3 - 2 * s) : 0.5;
}

/* Poses and screws of the initial state, and factored inertia matrices of the trees used so far. */
typedef struct {
  const Model* model;
  Pose* pose;
  Screw* screws;
  double** factor; /* NULL: not computed yet (trees) */
  double* x;       /* (nv) */
} StartInertia;

/* Adds the inertia of one link to a, for all pairs of degrees of freedom that move it. */
static void add_link(const StartInertia* s, int link, int first, int n, double* a) {
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

/* Factors the inertia (Cholesky) over the degrees of freedom that are not prescribed. A motion without inertia gets the
 * pivot 0. */
static void factor_tree(const StartInertia* s, int tree, double* a) {
  const Model* m = s->model;
  int first = m->trees[tree].dof_first, n = m->trees[tree].dof_count;
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree == tree) add_link(s, i, first, n, a);
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

/* Returns x . M^-1 x over one tree, x by degrees of freedom of the model; infinite if x moves something without
 * inertia. */
static double tree_mobility(StartInertia* s, int tree) {
  const Model* m = s->model;
  const ModelTree* t = &m->trees[tree];
  int n = t->dof_count;
  double *x = s->x + t->dof_first, sum = 0;
  bool any = false;
  for (int k = 0; k < n; k++) any = any || x[k] != 0;
  if (any && !s->factor[tree]) {
    s->factor[tree] = MEMORY_NEW(double, (size_t)n*(size_t)n);
    factor_tree(s, tree, s->factor[tree]);
  }
  const double* a = s->factor[tree];
  for (int k = 0; any && k < n; k++) {
    if (m->links[m->dof_link[t->dof_first + k]].prescribed >= 0) continue;
    for (int j = 0; j < k; j++) x[k] -= a[k * n + j] * x[j];
    if (x[k] == 0) continue;
    if (a[k * n + k] == 0) return INFINITY;
    x[k] /= a[k * n + k];
    sum += x[k] * x[k];
  }
  return sum;
}

/* Returns the highest frequency of a joint's coordinates, springs and position gains combined. */
static double joint_frequency(StartInertia* s, int link) {
  const Model* m = s->model;
  const ModelLink* l = &m->links[link];
  double most = 0;
  for (int k = 0; k < l->dof_count; k++) {
    double stiffness = l->stiffness[k];
    for (int c = 0; c < m->controller_count; c++)
      if (m->controllers[c].link == link && m->controllers[c].type == CONTROLLER_PD)
        stiffness += m->controllers[c].position_gain[k];
    if (!(stiffness > 0)) continue;
    for (int d = 0; d < m->dof_count; d++) s->x[d] = d == l->dof_first + k;
    most = fmax(most, stiffness * tree_mobility(s, l->tree));
  }
  return most;
}

/* Adds to x the derivative of a length by the coordinates, given its slope by a point of a link. */
static void add_slope(StartInertia* s, int link, Vec3 slope, Vec3 at) {
  const Model* m = s->model;
  for (int up = link; up >= 0; up = m->links[up].parent)
    for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++)
      s->x[d] += vec3_dot(slope, screw_velocity(&s->screws[d], at));
}

static double tendon_frequency(StartInertia* s, const SceneTendon* tendon) {
  const Model* m = s->model;
  double sum = 0;
  for (int d = 0; d < m->dof_count; d++) s->x[d] = 0;
  for (int i = 0; i + 1 < tendon->count; i++) {
    Vec3 end[2] = {tendon_point(&tendon->points[i], s->pose), tendon_point(&tendon->points[i + 1], s->pose)};
    const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, i);
    TendonWrap way = {0};
    if (wrap) way = tendon_wrap(wrap, tendon_wrap_pose(wrap, s->pose), end[0], end[1]);
    Vec3 slope = tendon_piece(vec3_sub(end[0], end[1]), tendon->eyelet).slope;
    for (int side = 0; side < 2; side++) {
      Vec3 own = way.touches ? way.slope[side] : vec3_scale(slope, side == 0 ? 1 : -1);
      add_slope(s, tendon->points[i + side].link, own, end[side]);
      if (way.touches) add_slope(s, wrap->link, vec3_scale(own, -1), end[side]);
    }
  }
  for (int i = 0; i < tendon->joint_count; i++)
    s->x[m->links[tendon->joints[i].link].dof_first + tendon->joints[i].coordinate] += tendon->joints[i].ratio;
  for (int k = 0; k < m->tree_count; k++) sum += tree_mobility(s, k);
  return tendon->stiffness * sum;
}

/* Returns the highest frequency of the six directions, each from its diagonal entry. */
static double bushing_frequency(StartInertia* s, const SceneBushing* bushing) {
  const Model* m = s->model;
  Pose at[2] = {bushing_frame(bushing, 0, s->pose), bushing_frame(bushing, 1, s->pose)};
  double most = 0;
  for (int k = 0; k < 6; k++) {
    if (!(bushing->stiffness[k][k] > 0)) continue;
    double sum = 0;
    Vec3 axis = mat3_mul_vec(at[0].r, vec3_axis(k));
    for (int d = 0; d < m->dof_count; d++) s->x[d] = 0;
    for (int side = 0; side < 2; side++)
      for (int up = bushing->link[side]; up >= 0; up = m->links[up].parent)
        for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++) {
          Vec3 rate = k < 3 ? screw_velocity(&s->screws[d], at[1].t) : s->screws[d].w;
          s->x[d] += (side == 0 ? -1 : 1) * vec3_dot(axis, rate);
        }
    for (int tree = 0; tree < m->tree_count; tree++) sum += tree_mobility(s, tree);
    most = fmax(most, bushing->stiffness[k][k] * sum);
  }
  return most;
}

void build_spring_thetas(Model* model) {
  bool keeps = model->simulation.integrator == INTEGRATOR_MOMENTUM;
  double dt = simulation_substep(&model->simulation);
  StartInertia s = {.model = model, .pose = initial_poses(model)};
  s.screws = MEMORY_NEW(Screw, model->dof_count);
  s.factor = MEMORY_NEW(double*, model->tree_count);
  s.x = MEMORY_NEW(double, model->dof_count);
  for (int i = 0; i < model->link_count; i++) model_link_screws(model, i, model->initial_coordinates, s.pose, s.screws);
  for (int i = 0; i < model->link_count; i++) {
    ModelLink* link = &model->links[i];
    bool plain = keeps && link->tree >= 0 && link->prescribed < 0 && !link->joint.quaternion;
    link->spring_theta = plain ? theta_of(joint_frequency(&s, i) * dt * dt) : 1;
  }
  for (int k = 0; k < model->tendon_count; k++) {
    ModelTendon* tendon = &model->tendons[k];
    bool springs = keeps && tendon->home >= 0 && tendon->source->stiffness > 0;
    tendon->theta = springs ? theta_of(tendon_frequency(&s, tendon->source) * dt * dt) : 1;
  }
  for (int k = 0; k < model->bushing_count; k++) {
    ModelBushing* bushing = &model->bushings[k];
    bushing->theta = keeps && bushing->home >= 0 ? theta_of(bushing_frequency(&s, bushing->source) * dt * dt) : 1;
  }
  for (int k = 0; k < model->tree_count; k++) memory_free(s.factor[k]);
  memory_free(s.pose);
  memory_free(s.screws);
  memory_free(s.factor);
  memory_free(s.x);
}

void model_share_spring_thetas(Model* model, const Model* from) {
  for (int i = 0; i < model->link_count; i++) model->links[i].spring_theta = from->links[i].spring_theta;
  for (int k = 0; k < model->tendon_count; k++) model->tendons[k].theta = from->tendons[k].theta;
  for (int k = 0; k < model->bushing_count; k++) model->bushings[k].theta = from->bushings[k].theta;
}
