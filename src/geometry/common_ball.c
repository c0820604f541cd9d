/* Finds the largest ball inside the intersection of two hulls by a linear program. */
#include <assert.h>
#include <glpk.h>

#include "geometry/geometry.h"

double hull_size(const ConvexHull* hull) {
  double size = 0;
  for (int i = 0; i < hull->vertex_count; i++)
    size = fmax(size, vec3_norm(vec3_sub(hull->vertices[i], hull->vertices[0])));
  return size;
}

/* Face of a hull that is a constraint of the linear program. */
typedef struct {
  int hull, triangle;
} BallConstraint;

/* Adds the constraints that the ball with centre x and radius r lies inside the hull to the linear program: n . x + r
 * <= d for every face with unit normal n and offset d (design.md, D5). Lengths are in units of `size`, because GLPK has
 * absolute tolerances near zero. */
static void add_faces(glp_prob* lp, const ConvexHull* hull, Vec3 origin, double size, int which, BallConstraint* rows) {
  for (int t = 0; t < hull->triangle_count; t++) {
    const int* corner = hull->triangles[t];
    Vec3 a = vec3_sub(hull->vertices[corner[0]], origin), b = vec3_sub(hull->vertices[corner[1]], origin);
    Vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(vec3_sub(hull->vertices[corner[2]], origin), a));
    double length = vec3_norm(n);
    if (!(length > 0)) continue;
    n = vec3_scale(n, 1 / length);
    int row = glp_add_rows(lp, 1), columns[5] = {0, 1, 2, 3, 4};
    double values[5] = {0, n.x, n.y, n.z, 1};
    glp_set_row_bnds(lp, row, GLP_UP, 0, vec3_dot(n, a) / size);
    glp_set_mat_row(lp, row, 4, columns, values);
    rows[row] = (BallConstraint){which, t};
  }
}

/* Finds the faces that touch the largest ball, with their Lagrange multipliers. At most four constraints determine a
 * vertex of the linear program. Returns their number. */
static int find_active_faces(glp_prob* lp, const BallConstraint* rows, BallContact contact[BALL_CONTACTS_MAX]) {
  int count = 0;
  for (int row = 1; row <= glp_get_num_rows(lp); row++) {
    double share = glp_get_row_dual(lp, row);
    if (!(share > 0) || count == BALL_CONTACTS_MAX) continue;
    contact[count++] = (BallContact){rows[row].hull, rows[row].triangle, share};
  }
  return count;
}

static bool find_ball(const ConvexHull* a, const ConvexHull* b, bool allow_separate, Vec3* center, double* radius,
                      BallContact* contact, int* count) {
  Vec3 origin = a->vertices[0];
  double size = fmin(hull_size(a), hull_size(b));
  BallConstraint* rows = MEMORY_NEW(BallConstraint, a->triangle_count + b->triangle_count + 1);
  glp_prob* lp = glp_create_prob();
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_cols(lp, 4);
  for (int k = 1; k <= 3; k++) glp_set_col_bnds(lp, k, GLP_FR, 0, 0);
  glp_set_col_bnds(lp, 4, allow_separate ? GLP_FR : GLP_LO, 0, 0);
  glp_set_obj_coef(lp, 4, 1);
  add_faces(lp, a, origin, size, 0, rows);
  add_faces(lp, b, origin, size, 1, rows);
  glp_smcp settings;
  glp_init_smcp(&settings);
  settings.msg_lev = GLP_MSG_OFF;
  bool found = glp_simplex(lp, &settings) == 0 && glp_get_status(lp) == GLP_OPT;
  Vec3 place = vec3(glp_get_col_prim(lp, 1), glp_get_col_prim(lp, 2), glp_get_col_prim(lp, 3));
  *center = vec3_add_scaled(origin, size, place);
  *radius = size * glp_get_col_prim(lp, 4);
  if (contact) *count = find_active_faces(lp, rows, contact);
  glp_delete_prob(lp);
  memory_free(rows);
  return found;
}

bool hulls_common_ball(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius) {
  assert(center && radius);
  return find_ball(a, b, false, center, radius, NULL, NULL) && *radius > 0;
}

bool hulls_common_ball_contacts(const ConvexHull* a, const ConvexHull* b, Vec3* center, double* radius,
                                BallContact contact[BALL_CONTACTS_MAX], int* count) {
  assert(center && radius && contact && count);
  return find_ball(a, b, true, center, radius, contact, count);
}
