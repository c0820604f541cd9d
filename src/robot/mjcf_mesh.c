/* Computes mass moments of meshes by MuJoCo's rules <mesh inertia="legacy|convex|exact|shell">. */
#include <string.h>

#include "robot/mjcf.h"

/* If the volume by the legacy rule exceeds the enclosed volume by more than this factor, the difference is reported. */
#define LEGACY_REPORTED 1.01

static const char RULES[] = "legacy|convex|exact|shell";
typedef enum { RULE_LEGACY, RULE_CONVEX, RULE_EXACT, RULE_SHELL } MeshRule;

/* Sets *solid to the triangles of a mesh, scaled by `scale`. Faces with more corners are split. Vertex 0 is reserved
 * for an apex. The caller frees *solid with hull_free. */
static void copy_triangles(const Mesh* mesh, Vec3 scale, ConvexHull* solid) {
  solid->vertex_count = mesh->position_count + 1;
  solid->vertices = MEMORY_NEW(Vec3, solid->vertex_count);
  solid->triangles = memory_alloc(sizeof(int[3]) * ((size_t)mesh->corner_count + 1));
  for (int i = 0; i < mesh->position_count; i++) {
    Vec3 p = mesh->positions[i];
    solid->vertices[i + 1] = vec3(p.x * scale.x, p.y * scale.y, p.z * scale.z);
  }
  for (int f = 0; f < mesh->face_count; f++) {
    const int* corner = mesh->corners + mesh->face_first[f];
    for (int k = 1; k + 1 < mesh->face_first[f + 1] - mesh->face_first[f]; k++) {
      int* triangle = solid->triangles[solid->triangle_count++];
      triangle[0] = corner[0] + 1;
      triangle[1] = corner[k] + 1;
      triangle[2] = corner[k + 1] + 1;
    }
  }
}

/* Returns the mass moment of the triangles as thin shells of unit density [m^2, m^3, m^4]. The quadrature at the
 * midpoints of the edges is exact. */
static MassMoment moment_of_surface(const ConvexHull* solid) {
  MassMoment sum = mass_moment_zero();
  for (int t = 0; t < solid->triangle_count; t++) {
    const int* k = solid->triangles[t];
    Vec3 a = solid->vertices[k[0]], b = solid->vertices[k[1]], c = solid->vertices[k[2]];
    Vec3 middle[3] = {vec3_scale(vec3_add(a, b), 0.5), vec3_scale(vec3_add(b, c), 0.5),
                      vec3_scale(vec3_add(c, a), 0.5)};
    MassMoment points = mass_moment_points(middle, 3);
    mass_moment_add(&sum, &points, 0.5 * vec3_norm(vec3_cross(vec3_sub(b, a), vec3_sub(c, a))));
  }
  return sum;
}

/* Returns the mass moment of the tetrahedra between an apex and all triangles. All tetrahedra count as positive, so
 * triangles of wrong orientation are reversed. */
static MassMoment moment_from_apex(ConvexHull* solid, Vec3 apex) {
  solid->vertices[0] = apex;
  for (int t = 0; t < solid->triangle_count; t++) {
    int* k = solid->triangles[t];
    Vec3 a = vec3_sub(solid->vertices[k[0]], apex), b = vec3_sub(solid->vertices[k[1]], apex);
    if (vec3_dot(a, vec3_cross(b, vec3_sub(solid->vertices[k[2]], apex))) >= 0) continue;
    int first = k[0];
    k[0] = k[1];
    k[1] = first;
  }
  return mass_moment_solid(solid);
}

/* Returns the mass moment by MuJoCo's legacy rule. Tetrahedra from the surface's centroid give the centre of mass;
 * tetrahedra from the centre of mass give volume and inertia. */
static MassMoment moment_legacy(ConvexHull* solid) {
  MassMoment surface = moment_of_surface(solid);
  if (!(mass_moment_mass(&surface) > 0)) return mass_moment_zero();
  MassMoment first = moment_from_apex(solid, mass_moment_center(&surface));
  if (!(mass_moment_mass(&first) > 0)) return mass_moment_zero();
  Vec3 center = mass_moment_center(&first);
  MassMoment moment = moment_from_apex(solid, center);
  moment = mass_moment_transform(&moment, (Pose){mat3_identity(), vec3_scale(center, -1)});
  for (int i = 0; i < 3; i++) moment.s[i][3] = moment.s[3][i] = 0;
  return mass_moment_transform(&moment, (Pose){mat3_identity(), center});
}

static void report_legacy(MjcfModel* model, const XmlElement* mesh, const char* name, double enclosed, double counted) {
  if (!(enclosed > 0) || !(counted > LEGACY_REPORTED * enclosed)) return;
  robot_remark(model->report, model->diagnostics, mesh->place,
               "mesh '%s' is not convex: MuJoCo's legacy rule counts %.3g times the enclosed volume; set "
               "inertia=\"exact\" in <mesh> to use the enclosed volume",
               text_excerpt(name).text, counted / enclosed);
}

/* Returns the mass moment of a triangle mesh at unit density by a rule. Vertex 0 of the solid must be unused, and is
 * overwritten. flipped: true if the triangles face inwards. */
static MassMoment moment_of_triangles(MjcfModel* model, const XmlElement* element, ConvexHull* solid, bool flipped,
                                      const char* name, MeshRule rule) {
  MassMoment moment = mass_moment_zero(), zero = mass_moment_zero();
  if (rule == RULE_SHELL) return moment_of_surface(solid);
  if (rule == RULE_CONVEX) {
    ConvexHull hull = {0};
    if (hull_create(&hull, solid->vertices + 1, solid->vertex_count - 1) == HULL_OK) moment = mass_moment_solid(&hull);
    hull_free(&hull);
    return moment;
  }
  solid->vertices[0] = solid->vertices[1];
  moment = mass_moment_solid(solid);
  double enclosed = flipped ? -mass_moment_mass(&moment) : mass_moment_mass(&moment);
  if (rule == RULE_LEGACY) {
    moment = moment_legacy(solid);
    report_legacy(model, element, name, enclosed, mass_moment_mass(&moment));
    return moment;
  }
  if (!(enclosed > 0))
    mjcf_error(model, element->place,
               "mesh '%s' encloses no volume, but inertia=\"exact\" needs a closed surface with outward faces: repair "
               "the mesh, or set inertia=\"convex\"",
               text_excerpt(name).text);
  if (flipped) mass_moment_add(&zero, &moment, -1);
  return flipped ? zero : moment;
}

static MassMoment moment_of_file(MjcfModel* model, const XmlElement* element, const UrdfShape* shape, const char* name,
                                 MeshRule rule) {
  Mesh mesh = {0};
  Diagnostics unsaid = {0};
  ConvexHull solid = {0};
  MassMoment moment = mass_moment_zero();
  char* path = file_resolve(model->path, shape->file);
  bool good = mesh_read(&mesh, path, 1.0, &unsaid) == STATUS_OK;
  if (!good && !model->options->skip_unsupported && !model->options->lenient)
    mjcf_error(model, shape->file_place, "the mesh '%s' cannot be used: %s", text_excerpt(path).text,
               unsaid.count > 0 ? unsaid.items[0].text : "");
  if (good) {
    copy_triangles(&mesh, shape->scale, &solid);
    moment =
        moment_of_triangles(model, element, &solid, shape->scale.x * shape->scale.y * shape->scale.z < 0, name, rule);
  }
  hull_free(&solid);
  mesh_free(&mesh);
  memory_free(path);
  diagnostics_free(&unsaid);
  return moment;
}

/* Returns the mass moment of the convex hull of points at unit density. For points without faces all rules except the
 * shell rule agree. */
static MassMoment moment_of_points(const UrdfShape* shape, MeshRule rule) {
  ConvexHull hull = {0};
  MassMoment moment = mass_moment_zero();
  if (hull_create(&hull, shape->points, shape->point_count) == HULL_OK)
    moment = rule == RULE_SHELL ? moment_of_surface(&hull) : mass_moment_solid(&hull);
  hull_free(&hull);
  return moment;
}

MassMoment mjcf_mesh_moment(MjcfModel* model, const XmlElement* mesh, const UrdfShape* shape, const char* name) {
  for (int i = 0; i < model->mesh_moment_count; i++)
    if (model->mesh_moments[i].mesh == mesh) return model->mesh_moments[i].moment;
  const char* word = mjcf_text(model, (MjcfElement){mesh, ""}, "inertia");
  int rule = *word ? words_index(RULES, word) : mjcf_compiler(model, mesh->place)->exact_meshes ? RULE_EXACT : 0;
  if (rule < 0) {
    mjcf_error(model, mesh->place, "inertia of <mesh> must be legacy, convex, exact or shell, got '%s'",
               text_excerpt(word).text);
    rule = RULE_LEGACY;
  }
  ConvexHull made;
  bool flipped = shape->scale.x * shape->scale.y * shape->scale.z < 0;
  MassMoment moment = mjcf_build_mesh(model, mesh, shape->scale, &made) == MESH_BUILT
                          ? moment_of_triangles(model, mesh, &made, flipped, name, (MeshRule)rule)
                      : shape->kind == URDF_POINTS ? moment_of_points(shape, (MeshRule)rule)
                                                   : moment_of_file(model, mesh, shape, name, (MeshRule)rule);
  hull_free(&made);
  model->mesh_moments = memory_grow_array(model->mesh_moments, sizeof(MjcfMeshMoment), model->mesh_moment_count,
                                          &model->mesh_moment_capacity);
  model->mesh_moments[model->mesh_moment_count++] = (MjcfMeshMoment){mesh, moment};
  return moment;
}
