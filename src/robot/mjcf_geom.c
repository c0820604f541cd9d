/* Imports MuJoCo's geoms: shapes, masses, colours and collision masks. Sizes in MJCF are half lengths. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "robot/mjcf.h"

#define DENSITY 1000.0 /* MuJoCo's default density [kg/m^3] */
/* Subdivision level of the icosphere that replaces an ellipsoid. Level 1 has 42 vertices, as for a sphere. */
enum { ELLIPSOID_LEVEL = 1 };
/* Number of capsules that replace a torus. Their surface deviates from the torus by 0.5 % of its major radius. */
enum { TORUS_CAPSULES = 16 };

typedef enum {
  GEOM_PLANE,
  GEOM_SPHERE,
  GEOM_CAPSULE,
  GEOM_ELLIPSOID,
  GEOM_CYLINDER,
  GEOM_BOX,
  GEOM_MESH,
  GEOM_HEIGHTS
} GeomType;
static const char TYPES[] = "plane|sphere|capsule|ellipsoid|cylinder|box|mesh|hfield";

/* Number of entries of `size` for each geom type. With `fromto`, which gives the half length, there is one less. */
static const int SIZES[] = {0, 1, 2, 3, 2, 3, 0, 0};

typedef struct {
  MjcfModel* model;
  MjcfElement element;
  int link; /* robot link of the geom, index in MjcfModel.robot.links */
  GeomType type;
  double size[3];  /* attribute `size` of the geom: radii and half lengths [m] */
  UrdfPose pose;   /* pose of the geom in the link's frame */
  bool concave;    /* true for a mesh that is decomposed into convex hulls */
  bool torus;      /* true for a torus about z, which becomes a ring of capsules */
  double radii[2]; /* major and minor radius of the torus [m] */
} Geom;

/* ---------------------------------------------------------------- type and size */

static bool has_segment(const Geom* geom) { return *mjcf_text(geom->model, geom->element, "fromto") != 0; }

static void half_length_from_segment(Geom* geom) {
  double e[6];
  if (mjcf_numbers(geom->model, geom->element, "fromto", 6, 6, e) == 0) return;
  double half = 0.5 * vec3_norm(vec3_sub(vec3(e[3], e[4], e[5]), vec3(e[0], e[1], e[2])));
  if (geom->type == GEOM_CAPSULE || geom->type == GEOM_CYLINDER) geom->size[1] = half;
  if (geom->type == GEOM_BOX || geom->type == GEOM_ELLIPSOID) {
    geom->size[1] = geom->size[0];
    geom->size[2] = half;
  }
}

/* Reads a geom of type sdf (signed distance field). It becomes a torus if its plugin is a torus, otherwise the
 * decomposed surface of its mesh. Returns false, with a warning, for the distance field of another plugin. */
static bool read_distance_field(Geom* geom, const char* name) {
  MjcfModel* model = geom->model;
  const XmlElement* mesh = mjcf_asset(model, &model->meshes, name);
  const XmlElement* settings;
  const char* plugin = mjcf_find_plugin(model, mesh, &settings);
  SourcePosition place = geom->element.element->place;
  Text reason = {0};
  geom->type = GEOM_MESH;
  geom->concave = true;
  geom->torus = mesh && mjcf_read_torus(model, mesh, geom->radii);
  if (mesh && (!plugin || geom->torus)) return true;
  if (!plugin) plugin = mjcf_find_plugin(model, geom->element.element, &settings);
  text_add(&reason, "its geom of type sdf by the plugin '%s' is not supported", plugin ? plugin : "");
  UrdfLink* link = &model->robot.links[geom->link];
  link->left_out = mjcf_own_text(model, &reason);
  link->left_out_place = place;
  robot_warn(model->report, model->diagnostics, place,
             "a geom of type sdf by the plugin '%s' is not supported and is left out: replace the geom by primitives, "
             "or give the mesh a 'file'",
             plugin ? text_excerpt(plugin).text : "");
  return false;
}

/* Reads the geom's type. Returns false, with a report, if the type is not supported. */
static bool read_type(Geom* geom) {
  MjcfModel* model = geom->model;
  const char *word = mjcf_text(model, geom->element, "type"), *mesh = mjcf_text(model, geom->element, "mesh");
  int type = words_index(TYPES, *word ? word : "sphere");
  if (strcmp(word, "sdf") == 0) return read_distance_field(geom, mesh);
  if (type < 0) {
    mjcf_error(model, geom->element.element->place, "the type of a geom must be %s, got '%s'",
               "plane, sphere, capsule, ellipsoid, cylinder, box, mesh or hfield", text_excerpt(word).text);
    return false;
  }
  geom->type = *mesh ? GEOM_MESH : (GeomType)type;
  if (*mesh && type != GEOM_MESH) mjcf_report_dropped(model, "primitive fitted to a mesh (the mesh itself is taken)");
  if (geom->type == GEOM_MESH && !*mesh) {
    mjcf_error(model, geom->element.element->place, "a <geom> of type mesh needs 'mesh', the name of a <mesh>");
    return false;
  }
  return true;
}

static bool read_size(Geom* geom) {
  int wanted = SIZES[geom->type];
  bool segment = has_segment(geom);
  int least = segment && wanted > 1 ? 1 : wanted;
  const XmlAttribute* attribute = mjcf_attribute(geom->model, geom->element, "size");
  int count = wanted == 0 ? 0 : mjcf_numbers(geom->model, geom->element, "size", least, 3, geom->size);
  if (wanted > 0 && !attribute) {
    mjcf_error(geom->model, geom->element.element->place, "a <geom> of type %s needs 'size'",
               words_at(TYPES, (int)geom->type).text);
    return false;
  }
  if (count < least) return wanted == 0;
  if (segment) half_length_from_segment(geom);
  for (int k = 0; k < wanted; k++) {
    if (geom->size[k] > 0) continue;
    bool no_length = segment && k > 0; /* fromto sets the last sizes */
    if (no_length) attribute = mjcf_attribute(geom->model, geom->element, "fromto");
    mjcf_error(geom->model, attribute->place, "%s of <geom> must be > 0, got '%s'",
               no_length ? "length of fromto" : "size", text_excerpt(attribute->value).text);
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------- meshes */

static Vec3 scale_components(Vec3 p, Vec3 scale) { return vec3(p.x * scale.x, p.y * scale.y, p.z * scale.z); }

static Vec3 mesh_scale(MjcfModel* model, const XmlElement* mesh) {
  double scale[3] = {1, 1, 1};
  mjcf_numbers(model, (MjcfElement){mesh, ""}, "scale", 3, 3, scale);
  if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0) {
    mjcf_error(model, mesh->place, "scale of <mesh> must not be 0");
    return vec3(1, 1, 1);
  }
  return vec3(scale[0], scale[1], scale[2]);
}

Vec3* mjcf_read_vertices(MjcfModel* model, const XmlElement* element, Vec3 scale, int* count) {
  const XmlAttribute* attribute = xml_attribute(element, "vertex");
  int capacity = 0;
  Vec3* points = NULL;
  *count = 0;
  for (const char* p = attribute->value; *p;) {
    double v[3];
    for (int k = 0; k < 3; k++) {
      char* end;
      v[k] = strtod(p, &end);
      if (end == p || !mjcf_is_decimal(p, end) || !isfinite(v[k])) {
        mjcf_error(model, attribute->place,
                   "vertex of <%s>: the number of values must be a multiple of three (x, y, z of each point)",
                   element->name);
        memory_free(points);
        return NULL;
      }
      p = end;
    }
    points = memory_grow_array(points, sizeof(Vec3), *count, &capacity);
    points[(*count)++] = scale_components(vec3(v[0], v[1], v[2]), scale);
    p += strspn(p, " \t\r\n");
  }
  return points;
}

/* Returns the file name of an attribute, without folders if the compiler setting strippath is set. */
static const char* asset_file_name(const MjcfCompiler* compiler, const XmlAttribute* file) {
  const char* slash = compiler->strips_paths ? strrchr(file->value, '/') : NULL;
  return slash ? slash + 1 : file->value;
}

static const char* path_beside_file(MjcfModel* model, const XmlAttribute* file) {
  Text path = {0};
  const MjcfCompiler* compiler = mjcf_compiler(model, file->place);
  const char* name = asset_file_name(compiler, file);
  text_add(&path, "%s%s", *name == '/' ? "" : compiler->folder, name);
  return mjcf_own_text(model, &path);
}

/* Returns the path of an asset in meshdir, relative to the folder of the first file. */
static const char* asset_file(MjcfModel* model, const XmlAttribute* file) {
  Text path = {0};
  const MjcfCompiler* compiler = mjcf_compiler(model, file->place);
  const char* folder = compiler->mesh_folder;
  const char* name = asset_file_name(compiler, file);
  bool slash = *folder && folder[strlen(folder) - 1] != '/';
  if (*name != '/') text_add(&path, "%s%s%s", *folder == '/' ? "" : compiler->folder, folder, slash ? "/" : "");
  text_add(&path, "%s", name);
  return mjcf_own_text(model, &path);
}

/* Returns true if the geom neither collides nor has mass. */
static bool is_idle(const Geom* geom) {
  MjcfModel* model = geom->model;
  bool paired = names_find(&model->paired, mjcf_text(model, geom->element, "name")) >= 0;
  bool collides =
      mjcf_number(model, geom->element, "contype", 1) != 0 || mjcf_number(model, geom->element, "conaffinity", 1) != 0;
  return !paired && !collides && mjcf_number(model, geom->element, "mass", 1) == 0;
}

/* Replaces an OBJ file without faces by its points. Other files remain unchanged. */
static void replace_obj_by_points(const MjcfModel* model, UrdfShape* shape) {
  char* path = file_resolve(model->path, shape->file);
  shape->points = mjcf_read_obj_points(path, shape->scale, &shape->point_count);
  if (shape->points) shape->kind = URDF_POINTS;
  memory_free(path);
}

static bool fill_mesh(Geom* geom, UrdfShape* shape) {
  MjcfModel* model = geom->model;
  const XmlAttribute* name = mjcf_attribute(model, geom->element, "mesh");
  const XmlElement* mesh = mjcf_asset(model, &model->meshes, name->value);
  if (!mesh) {
    mjcf_error(model, name->place, "no <mesh> in <asset> is named '%s'", text_excerpt(name->value).text);
    return false;
  }
  const XmlAttribute *file = xml_attribute(mesh, "file"), *vertex = xml_attribute(mesh, "vertex");
  shape->scale = mesh_scale(model, mesh);
  shape->kind = URDF_MESH;
  shape->place = mesh->place;
  shape->concave = geom->concave;
  if (geom->torus) return true;
  if (file) {
    shape->file = asset_file(model, file);
    shape->file_place = file->place;
    replace_obj_by_points(model, shape);
    return true;
  }
  ConvexHull made;
  MjcfMeshResult kind = mjcf_build_mesh(model, mesh, shape->scale, &made);
  if (kind == MESH_BUILT) { /* the convex hull of the mesh is used for contact, as in MuJoCo */
    shape->kind = URDF_POINTS;
    shape->point_count = made.vertex_count - 1;
    shape->points = MEMORY_NEW(Vec3, shape->point_count);
    memcpy(shape->points, made.vertices + 1, sizeof(Vec3) * (size_t)shape->point_count);
  }
  hull_free(&made);
  if (kind == MESH_BUILT && geom->concave)
    robot_warn(model->report, model->diagnostics, geom->element.element->place,
               "a geom of type sdf has a built-in mesh: contact uses the convex hull of the mesh '%s'",
               text_excerpt(name->value).text);
  if (kind != MESH_NOT_BUILTIN) return kind == MESH_BUILT;
  if (!vertex && is_idle(geom)) { /* a mesh without triangles is only drawn or used by a sensor */
    mjcf_report_dropped(model, "meshes without 'file' and 'vertex' of geoms without contact and mass");
    return false;
  }
  const XmlAttribute* builtin = xml_attribute(mesh, "builtin");
  if (!vertex && builtin) {
    mjcf_error(model, builtin->place,
               "the built-in mesh '%s' (%s) is not supported: give the mesh a 'file' or 'vertex'",
               text_excerpt(name->value).text, text_excerpt(builtin->value).text);
    return false;
  }
  if (!vertex) {
    mjcf_error(model, mesh->place, "the mesh '%s' has neither 'file' nor 'vertex': give one of them",
               text_excerpt(name->value).text);
    return false;
  }
  shape->kind = URDF_POINTS;
  shape->points = mjcf_read_vertices(model, mesh, shape->scale, &shape->point_count);
  return shape->points != NULL;
}

/* ---------------------------------------------------------------- height fields */

/* Sets the levels of a height field from the range of its image. MuJoCo's height 0 is the darkest and height 1 the
 * lightest sample. Returns false after an error. */
static bool fill_levels(Geom* geom, const char* path, const XmlElement* field, UrdfShape* shape) {
  MjcfModel* model = geom->model;
  HeightGrid grid = {0};
  double size[4] = {0}, low = HUGE_VAL, high = -HUGE_VAL;
  if (mjcf_numbers(model, (MjcfElement){field, ""}, "size", 4, 4, size) < 4 || !(size[0] > 0) || !(size[1] > 0) ||
      !(size[2] > 0) || !(size[3] > 0)) {
    mjcf_error(model, field->place, "<hfield> needs 'size', four numbers > 0");
    return false;
  }
  Diagnostics why = {0};
  Status status = height_grid_read(&grid, path, &why);
  if (status != STATUS_OK)
    mjcf_error(model, field->place, "the height field '%s' cannot be used: %s", text_excerpt(path).text,
               why.count > 0 ? why.items[0].text : "");
  diagnostics_free(&why);
  if (status != STATUS_OK) return false;
  for (int i = 0; i < grid.columns * grid.rows; i++) {
    low = fmin(low, grid.values[i]);
    high = fmax(high, grid.values[i]);
  }
  height_grid_free(&grid);
  double slope = high > low ? size[2] / (high - low) : size[2];
  shape->size = vec3(2 * size[0], 2 * size[1], slope);
  shape->level = -slope * low;
  shape->base = size[3];
  return true;
}

/* Sets a height field from an image in meshdir or in the folder of the model file. Returns false after an error. */
static bool fill_heights(Geom* geom, UrdfShape* shape) {
  MjcfModel* model = geom->model;
  const XmlAttribute* name = mjcf_attribute(model, geom->element, "hfield");
  const XmlElement* field = name ? mjcf_asset(model, &model->height_fields, name->value) : NULL;
  const XmlAttribute* file = field ? xml_attribute(field, "file") : NULL;
  if (!field) {
    mjcf_error(model, name ? name->place : geom->element.element->place, "no <hfield> in <asset> is named '%s'",
               name ? text_excerpt(name->value).text : "");
    return false;
  }
  const char* ending = file ? strrchr(file->value, '.') : NULL;
  if (!ending || strcasecmp(ending, ".png") != 0) {
    mjcf_report_dropped(model, "hfield without a PNG file");
    return false;
  }
  shape->file = asset_file(model, file);
  char* path = file_resolve(model->path, shape->file);
  if (!file_exists(path)) {
    memory_free(path);
    shape->file = path_beside_file(model, file);
    path = file_resolve(model->path, shape->file);
  }
  bool good = fill_levels(geom, path, field, shape);
  memory_free(path);
  return good;
}

/* ---------------------------------------------------------------- shapes */

static void fill_ellipsoid(const Geom* geom, UrdfShape* shape) {
  ConvexHull sphere = {0};
  shape->kind = URDF_POINTS;
  if (primitive_sphere(&sphere, 1.0, ELLIPSOID_LEVEL) != HULL_OK) return;
  for (int i = 0; i < sphere.vertex_count; i++)
    sphere.vertices[i] = scale_components(sphere.vertices[i], vec3(geom->size[0], geom->size[1], geom->size[2]));
  shape->points = sphere.vertices;
  shape->point_count = sphere.vertex_count;
  sphere.vertices = NULL;
  hull_free(&sphere);
}

static bool fill_shape(Geom* geom, UrdfShape* shape) {
  static const UrdfGeometry KINDS[] = {URDF_HALF_SPACE, URDF_SPHERE, URDF_CAPSULE, URDF_POINTS,
                                       URDF_CYLINDER,   URDF_BOX,    URDF_MESH,    URDF_HEIGHT_FIELD};
  *shape = (UrdfShape){.place = geom->element.element->place, .kind = KINDS[geom->type], .origin = geom->pose};
  shape->size = vec3(2 * geom->size[0], 2 * geom->size[1], 2 * geom->size[2]);
  shape->radius = geom->size[0];
  shape->length = 2 * geom->size[1];
  if (geom->type == GEOM_ELLIPSOID) fill_ellipsoid(geom, shape);
  if (geom->type == GEOM_HEIGHTS) return fill_heights(geom, shape);
  return geom->type != GEOM_MESH || fill_mesh(geom, shape);
}

/* ---------------------------------------------------------------- masses */

/* Returns the volume of a primitive [m^3]. Sets inertia[3] to the moments of inertia per unit mass about the centre, in
 * the geom's axes [m^2] (docs/mjcf.md). */
static double primitive_mass(const Geom* geom, double inertia[3]) {
  double a = geom->size[0], b = geom->size[1], c = geom->size[2], cylinder, ball, across;
  switch (geom->type) {
    case GEOM_SPHERE:
      inertia[0] = inertia[1] = inertia[2] = 0.4 * a * a;
      return 4.0 / 3 * M_PI * a * a * a;
    case GEOM_ELLIPSOID:
      inertia[0] = (b * b + c * c) / 5;
      inertia[1] = (a * a + c * c) / 5;
      inertia[2] = (a * a + b * b) / 5;
      return 4.0 / 3 * M_PI * a * b * c;
    case GEOM_BOX:
      inertia[0] = (b * b + c * c) / 3;
      inertia[1] = (a * a + c * c) / 3;
      inertia[2] = (a * a + b * b) / 3;
      return 8 * a * b * c;
    case GEOM_CYLINDER:
      inertia[0] = inertia[1] = a * a / 4 + b * b / 3;
      inertia[2] = a * a / 2;
      return 2 * M_PI * a * a * b;
    case GEOM_CAPSULE:
      cylinder = 2 * M_PI * a * a * b;
      ball = 4.0 / 3 * M_PI * a * a * a;
      across = cylinder * (a * a / 4 + b * b / 3) + ball * (0.4 * a * a + b * b + 0.75 * a * b);
      inertia[0] = inertia[1] = across / (cylinder + ball);
      inertia[2] = (cylinder * a * a / 2 + ball * 0.4 * a * a) / (cylinder + ball);
      return cylinder + ball;
    default:
      inertia[0] = inertia[1] = inertia[2] = 0;
      return 0;
  }
}

static void add_mass(Geom* geom, const UrdfShape* shape, MassMoment* sum) {
  MjcfModel* model = geom->model;
  double density = mjcf_number(model, geom->element, "density", DENSITY), inertia[3], mass;
  bool given = mjcf_numbers(model, geom->element, "mass", 1, 1, &mass) > 0;
  MassMoment unit = mass_moment_zero();
  double volume;
  const MjcfCompiler* compiler = mjcf_compiler(model, geom->element.element->place);
  double group = mjcf_number(model, geom->element, "group", 0);
  if (group < compiler->group_minimum || group > compiler->group_maximum) return;
  if (geom->type == GEOM_PLANE || geom->type == GEOM_HEIGHTS || (given && !(mass > 0)) || (!given && !(density > 0)))
    return;
  if (geom->type == GEOM_MESH) {
    const char* name = mjcf_text(model, geom->element, "mesh");
    unit = mjcf_mesh_moment(model, mjcf_asset(model, &model->meshes, name), shape, name);
    volume = mass_moment_mass(&unit);
    if (!(volume > 0)) return;
  } else {
    volume = primitive_mass(geom, inertia);
    unit = mass_moment_inertia(1, vec3(0, 0, 0), (const double[6]){inertia[0], inertia[1], inertia[2], 0, 0, 0});
  }
  double factor = geom->type == GEOM_MESH ? (given ? mass / volume : density) : given ? mass : density * volume;
  Pose pose = {mat3_from_quat(geom->pose.rotation), geom->pose.position};
  unit = mass_moment_transform(&unit, pose);
  mass_moment_add(sum, &unit, factor);
}

/* ---------------------------------------------------------------- contact and colour */

static MjcfMask make_mask(Geom* geom, int link) {
  double type = mjcf_number(geom->model, geom->element, "contype", 1);
  double affinity = mjcf_number(geom->model, geom->element, "conaffinity", 1);
  MjcfMask mask = {.link = link};
  if (type >= 0 && type < 4294967296.0) mask.type = (unsigned)type;
  if (affinity >= 0 && affinity < 4294967296.0) mask.affinity = (unsigned)affinity;
  return mask;
}

/* Adds a mask unless the link has an equal mask. The search is linear, because a link has few masks. */
static void add_mask(MjcfModel* model, MjcfMask mask) {
  for (int i = model->mask_count - 1; i >= 0 && model->masks[i].link == mask.link; i--)
    if (model->masks[i].type == mask.type && model->masks[i].affinity == mask.affinity) return;
  model->masks = memory_grow_array(model->masks, sizeof(MjcfMask), model->mask_count, &model->mask_capacity);
  model->masks[model->mask_count++] = mask;
}

static void add_friction(Geom* geom, int link) {
  MjcfModel* model = geom->model;
  double friction[3] = {1, 0, 0};
  mjcf_numbers(model, geom->element, "friction", 1, 3, friction);
  if (!(friction[0] >= 0)) return;
  MjcfFriction surface = {link, friction[0], (int)mjcf_number(model, geom->element, "priority", 0), {1, 1}, 1, false};
  if (mjcf_numbers(model, geom->element, "solref", 1, 2, surface.solref) > 0) {
    mjcf_report_dropped(model, "geom/solref except for its damping ratio (restitution)");
    if (surface.solref[0] > 0) surface.solref[0] = 1;
  }
  surface.mix = mjcf_number(model, geom->element, "solmix", 1);
  surface.is_ground = geom->type == GEOM_PLANE || geom->type == GEOM_HEIGHTS;
  model->frictions =
      memory_grow_array(model->frictions, sizeof(MjcfFriction), model->friction_count, &model->friction_capacity);
  model->frictions[model->friction_count++] = surface;
}

static void read_color(Geom* geom, double color[3]) {
  MjcfModel* model = geom->model;
  const XmlElement* material = mjcf_asset(model, &model->materials, mjcf_text(model, geom->element, "material"));
  double rgba[4] = {0, 0, 0, 1};
  int count = mjcf_numbers(model, geom->element, "rgba", 4, 4, rgba);
  if (count == 0 && material) count = mjcf_numbers(model, (MjcfElement){material, ""}, "rgba", 4, 4, rgba);
  if (count == 0 || rgba[3] == 0) return;
  for (int k = 0; k < 3; k++) color[k] = fmin(fmax(rgba[k], 0), 1);
}

/* ---------------------------------------------------------------- the geom */

static bool is_fixed(const UrdfRobot* robot, int link) {
  for (int joint = robot->links[link].joint; joint >= 0; joint = robot->links[robot->joints[joint].parent].joint)
    if (robot->joints[joint].type != URDF_FIXED) return false;
  return true;
}

static void add_wrap_geom(const Geom* geom) {
  MjcfModel* model = geom->model;
  const char* name = mjcf_text(model, geom->element, "name");
  if (!*name || (geom->type != GEOM_SPHERE && geom->type != GEOM_CYLINDER)) return;
  if (!names_add(&model->wrap_geom_names, name, model->wrap_geom_count)) return;
  model->wrap_geoms =
      memory_grow_array(model->wrap_geoms, sizeof(MjcfWrapGeom), model->wrap_geom_count, &model->wrap_geom_capacity);
  model->wrap_geoms[model->wrap_geom_count++] =
      (MjcfWrapGeom){geom->link, geom->pose, geom->type == GEOM_SPHERE, geom->size[0]};
}

static void add_shape(UrdfShapes* shapes, const UrdfShape* shape) {
  shapes->items = memory_grow_array(shapes->items, sizeof(UrdfShape), shapes->count, &shapes->capacity);
  shapes->items[shapes->count++] = *shape;
}

/* Adds a torus as a ring of capsules. The largest deviations of the ring from the torus's circle, inwards and outwards,
 * are equal. */
static void add_torus(const Geom* geom, UrdfShapes* shapes, UrdfShape shape) {
  double half = M_PI / TORUS_CAPSULES, radius = 2 * geom->radii[0] / (1 + math_cos(half)),
         deviation = radius - geom->radii[0];
  shape.kind = URDF_CAPSULE;
  shape.radius = geom->radii[1];
  shape.length = 2 * radius * math_sin(half);
  for (int k = 0; k < TORUS_CAPSULES; k++) {
    double angle = 2 * half * k, middle = radius * math_cos(half);
    Quat turn = quat_mul((Quat){math_cos(angle / 2), 0, 0, math_sin(angle / 2)}, (Quat){sqrt(0.5), -sqrt(0.5), 0, 0});
    shape.origin = urdf_pose_mul(geom->pose, (UrdfPose){{middle * math_cos(angle), middle * math_sin(angle), 0}, turn});
    add_shape(shapes, &shape);
  }
  robot_remark(geom->model->report, geom->model->diagnostics, geom->element.element->place,
               "a torus of the plugin mujoco.sdf.torus is replaced by %d capsules, whose surface deviates from the "
               "torus by %.2g m",
               TORUS_CAPSULES, deviation);
}

void mjcf_read_geom(MjcfModel* model, MjcfElement element, int link, UrdfPose frame, MassMoment* moment) {
  assert(link >= 0 && link < model->robot.link_count);
  Geom geom = {.model = model, .element = element, .link = link};
  UrdfShape shape;
  UrdfLink* to = &model->robot.links[link];
  if (!read_type(&geom) || !read_size(&geom)) return;
  geom.pose = urdf_pose_mul(frame, mjcf_pose(model, element));
  add_wrap_geom(&geom);
  if (!fill_shape(&geom, &shape)) return;
  if (moment) add_mass(&geom, &shape, moment);
  MjcfMask mask = make_mask(&geom, link);
  int pair = names_find(&model->paired, mjcf_text(model, element, "name"));
  bool collides = mask.type != 0 || mask.affinity != 0 || pair >= 0;
  if (pair >= 0) model->paired_link[pair] = link;
  if (to->color[0] < 0) read_color(&geom, to->color);
  bool ground = geom.type == GEOM_PLANE || geom.type == GEOM_HEIGHTS;
  if (ground && collides && !is_fixed(&model->robot, link))
    mjcf_error(model, element.element->place, "a body cannot contain a %s: move it to <worldbody>",
               geom.type == GEOM_PLANE ? "plane" : "height field");
  UrdfShapes* shapes = collides ? &to->collision : &to->visual;
  if (collides) {
    add_mask(model, mask);
    add_friction(&geom, link);
  }
  if (geom.torus)
    add_torus(&geom, shapes, shape);
  else
    add_shape(shapes, &shape);
}
