/* Half-spaces { x : normal . x <= offset }. Half-spaces are unbounded, have no vertices, and belong to links that
 * forces cannot move. */
#include "model/build.h"

/* Uses that a pose with rotation R and translation t maps the half-space { x : n . x <= d } to { x : Rn . x <= d + Rn .
 * t }. */
void place_half_space(ModelHull* hull, const SceneShape* shape, Pose pose) {
  hull->kind = &SOLID_HALF_SPACE;
  hull->normal = mat3_mul_vec(pose.r, vec3_normalized(shape->normal));
  hull->offset = shape->offset + vec3_dot(hull->normal, pose.t);
  hull->center = vec3_scale(hull->normal, hull->offset);
  hull->radius = HUGE_VAL;
  hull->half_extent = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  *vertex = -1;
  return vec3_norm(vec3_cross(direction, hull->normal)) == 0 && vec3_dot(direction, hull->normal) > 0
             ? hull->offset * vec3_dot(direction, hull->normal)
             : HUGE_VAL;
}

static MassMoment moment(const ModelHull* hull) {
  (void)hull;
  return mass_moment_zero();
}

static double thickness(const ModelHull* hull) {
  (void)hull;
  return HUGE_VAL;
}

const SolidKind SOLID_HALF_SPACE = {false, support, moment, thickness};
