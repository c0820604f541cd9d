/* Imports MuJoCo's spatial tendons, which pass through sites and wrap around spheres and cylinders. Pulleys are not
 * supported. */
#include <string.h>

#include "robot/mjcf_equality.h"

static const MjcfSite* find_site(MjcfModel* model, const XmlElement* part) {
  const XmlAttribute* name = xml_attribute(part, "site");
  int index = name ? names_find(&model->site_names, name->value) : -1;
  if (index >= 0) return &model->sites[index];
  mjcf_error(model, name ? name->place : part->place, "<spatial>: no site is named '%s'",
             name ? text_excerpt(name->value).text : "");
  return NULL;
}

static const MjcfWrapGeom* find_wrap_geom(const MjcfModel* model, const XmlElement* part) {
  const XmlAttribute* name = xml_attribute(part, "geom");
  int index = name ? names_find(&model->wrap_geom_names, name->value) : -1;
  return index < 0 ? NULL : &model->wrap_geoms[index];
}

static const MjcfSite* find_side_site(const MjcfModel* model, const XmlElement* part) {
  const XmlAttribute* name = xml_attribute(part, "sidesite");
  int index = name ? names_find(&model->site_names, name->value) : -1;
  return index < 0 ? NULL : &model->sites[index];
}

static Vec3 pose_axis(UrdfPose pose) { return mat3_mul_vec(mat3_from_quat(pose.rotation), vec3(0, 0, 1)); }

/* Returns the distance of the side site from the centre of the wrapped sphere or the axis of the wrapped cylinder [m].
 * The side site is a point on the side on which the tendon passes. */
static double side_distance(const SceneTendonWrap* wrap) {
  Vec3 arm = vec3_sub(wrap->side, wrap->position);
  return wrap->type == WRAP_SPHERE ? vec3_norm(arm) : vec3_norm(vec3_cross(arm, wrap->axis));
}

/* Sets *wrap to a geom that a tendon wraps around, in the frame of its scene link. Returns false, with a report, if a
 * scene cannot represent it. */
static bool read_wrap(MjcfModel* model, const XmlElement* part, const int* carrier, SceneTendonWrap* wrap) {
  const MjcfWrapGeom* geom = find_wrap_geom(model, part);
  const MjcfSite* side = find_side_site(model, part);
  const char* fault = NULL;
  if (!geom) fault = "tendons around geoms that are no sphere and no cylinder";
  if (geom && side && side->link != geom->link) fault = "tendons around geoms with a sidesite on another body";
  if (!fault) {
    UrdfPose pose = urdf_pose_mul(model->placed[geom->link], geom->pose);
    *wrap = (SceneTendonWrap){.place = part->place,
                              .type = geom->sphere ? WRAP_SPHERE : WRAP_CYLINDER,
                              .link = carrier[geom->link],
                              .radius = geom->radius,
                              .position = pose.position,
                              .has_side = side != NULL};
    if (!geom->sphere) wrap->axis = unit_vector(pose_axis(pose));
    if (side) wrap->side = mjcf_site_pose(model, side).position;
    if (side && side_distance(wrap) < wrap->radius) fault = "tendons inside geoms";
  }
  if (fault) mjcf_report_lost_force(model, fault);
  return !fault;
}

/* Returns true if a scene can represent the whole path of a tendon. Reports unsupported points. */
static bool has_route(MjcfModel* model, const XmlElement* tendon, const int* carrier) {
  bool good = true;
  for (const XmlElement* part = tendon->first; part; part = part->next) {
    SceneTendonWrap wrap;
    if (strcmp(part->name, "site") == 0) continue;
    if (strcmp(part->name, "pulley") == 0) mjcf_report_lost_force(model, "tendons over pulleys");
    good = strcmp(part->name, "geom") == 0 && read_wrap(model, part, carrier, &wrap) && good;
  }
  return good;
}

/* Returns the tendon's length between two consecutive sites in MuJoCo's reference configuration [m]. from, to: world
 * positions of the sites. part, wrap: the geom between the sites; part is NULL if there is none. */
static double reference_length(const MjcfModel* model, const UrdfPose* reference_poses, const XmlElement* part,
                               const SceneTendonWrap* wrap, Vec3 from, Vec3 to) {
  TendonWrap path = {0};
  if (part) {
    const MjcfWrapGeom* geom = find_wrap_geom(model, part);
    const MjcfSite* side = find_side_site(model, part);
    UrdfPose pose = urdf_pose_mul(reference_poses[geom->link], geom->pose);
    SceneTendonWrap placed = *wrap;
    placed.position = pose.position;
    placed.axis = pose_axis(pose);
    if (side) placed.side = urdf_pose_mul(mjcf_body_frame(model, reference_poses, side->link), side->pose).position;
    path = tendon_wrap(&placed, pose_identity(), from, to);
  }
  return path.touches ? path.length : vec3_norm(vec3_sub(to, from));
}

static void free_route(MjcfRoute* route) {
  memory_free(route->points);
  memory_free(route->wraps);
}

static void add_wrap(MjcfRoute* route, SceneTendonWrap wrap) {
  wrap.after = route->count - 1;
  route->wraps = memory_resize(route->wraps, sizeof wrap * (size_t)route->wrap_count,
                               sizeof wrap * (size_t)(route->wrap_count + 1));
  route->wraps[route->wrap_count++] = wrap;
  route->points[wrap.after].wrap = route->wrap_count;
}

bool mjcf_tendon_route(MjcfModel* model, const Scene* scene, const XmlElement* tendon, const int* carrier,
                       MjcfRoute* route) {
  int capacity = 0, moving = 0;
  Vec3 last = {0, 0, 0};
  const XmlElement* round = NULL;
  SceneTendonWrap wrap = {0};
  *route = (MjcfRoute){0};
  if (!tendon || !has_route(model, tendon, carrier)) return false;
  UrdfPose* reference_poses = MEMORY_NEW(UrdfPose, model->robot.link_count + 1);
  mjcf_reference_poses(model, reference_poses);
  for (const XmlElement* part = tendon->first; part; part = part->next) {
    if (strcmp(part->name, "geom") == 0) {
      round = part;
      (void)read_wrap(model, part, carrier, &wrap);
      moving += wrap.link >= 0 && !scene->links[wrap.link].fixed;
      continue;
    }
    const MjcfSite* site = find_site(model, part);
    if (!site) break;
    int link = carrier[site->link];
    Vec3 here = urdf_pose_mul(mjcf_body_frame(model, reference_poses, site->link), site->pose).position;
    moving += link >= 0 && !scene->links[link].fixed;
    if (route->count > 0) route->reference += reference_length(model, reference_poses, round, &wrap, last, here);
    if (route->count > 0 && round) add_wrap(route, wrap);
    round = NULL;
    last = here;
    route->points = memory_grow_array(route->points, sizeof *route->points, route->count, &capacity);
    route->points[route->count++] = (SceneTendonPoint){link, mjcf_site_pose(model, site).position, 0};
  }
  memory_free(reference_poses);
  if (route->count >= 2 && moving > 0) return true;
  free_route(route);
  return false;
}

double mjcf_start_length(const Scene* scene, const MjcfRoute* route) {
  Diagnostics unsaid = {0};
  Model model;
  double length = route->reference;
  if (model_create(&model, scene, &unsaid) == STATUS_OK || model.links) {
    Pose* poses = MEMORY_NEW(Pose, model.link_count + 1);
    SceneTendon tendon = {
        .points = route->points, .count = route->count, .wraps = route->wraps, .wrap_count = route->wrap_count};
    model_poses(&model, model.initial_coordinates, poses);
    length = tendon_length(&model, &tendon, poses, model.initial_coordinates);
    memory_free(poses);
  }
  model_destroy(&model);
  diagnostics_free(&unsaid);
  return length;
}

SceneTendon* mjcf_append_tendon(Scene* scene, SourcePosition place) {
  size_t count = (size_t)scene->tendon_count, size = sizeof(SceneTendon);
  scene->tendons = memory_resize(scene->tendons, count * size, (count + 1) * size);
  SceneTendon* tendon = &scene->tendons[scene->tendon_count++];
  *tendon = (SceneTendon){.place = place, .end = -1};
  return tendon;
}

SceneTendon* mjcf_add_passive_tendon(Scene* scene, MjcfRoute* route, SourcePosition place) {
  SceneTendon* tendon = mjcf_append_tendon(scene, place);
  tendon->points = route->points;
  tendon->count = route->count;
  tendon->wraps = route->wraps;
  tendon->wrap_count = route->wrap_count;
  tendon->eyelet = scene_tendon_eyelet(tendon);
  for (int i = 0; i < tendon->count; i++)
    if (tendon->points[i].link >= 0) tendon->end = tendon->points[i].link;
  for (int i = 0; i < tendon->wrap_count && tendon->end < 0; i++) tendon->end = tendon->wraps[i].link;
  return tendon;
}

void mjcf_add_tendon(Scene* scene, MjcfRoute* route, SourcePosition place, double stiffness, double push) {
  double rest = stiffness > 0 ? fmax(push / stiffness, 0) : 0, tension = stiffness * rest - push;
  SceneTendon* tendon = mjcf_add_passive_tendon(scene, route, place);
  tendon->stiffness = stiffness;
  tendon->rest_length = rest;
  if (stiffness > 0 && !(tension > 0)) return;
  tendon->tension = (SceneSignal){.type = SIGNAL_CONSTANT, .channels = 1, .rows = 1};
  tendon->tension.values = MEMORY_NEW(double, 1);
  tendon->tension.values[0] = tension;
}
