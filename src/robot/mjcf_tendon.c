/* Spatial tendons of MuJoCo: cords of a scene, straight from site to site. Around geoms and over pulleys there are
 * none. */
#include <string.h>

#include "robot/mjcf_equality.h"

static bool is_straight(MjcfModel* model, const XmlElement* tendon) {
  bool straight = true;
  for (const XmlElement* part = tendon->first; part; part = part->next) {
    if (strcmp(part->name, "site") == 0) continue;
    straight = false;
    mjcf_drop(model, strcmp(part->name, "pulley") == 0 ? "tendons over pulleys" : "tendons around geoms");
  }
  return straight;
}

static const MjcfSite* site_of(MjcfModel* model, const XmlElement* part) {
  const XmlAttribute* name = xml_attribute(part, "site");
  int index = name ? names_find(&model->site_names, name->value) : -1;
  if (index >= 0) return &model->sites[index];
  mjcf_error(model, name ? name->place : part->place, "<spatial>: no site is named '%s'",
             name ? text_excerpt(name->value).text : "");
  return NULL;
}

bool mjcf_cord(MjcfModel* model, const Scene* scene, const XmlElement* tendon, const int* carrier, MjcfCord* cord) {
  int capacity = 0, moving = 0;
  Vec3 last = {0, 0, 0};
  *cord = (MjcfCord){0};
  if (!tendon || !is_straight(model, tendon)) return false;
  UrdfPose* drawn = MEMORY_NEW(UrdfPose, model->robot.link_count + 1);
  mjcf_draw(model, drawn);
  for (const XmlElement* part = tendon->first; part; part = part->next) {
    const MjcfSite* site = site_of(model, part);
    if (!site) break;
    int link = carrier[site->link];
    Vec3 here = urdf_pose_mul(mjcf_body_frame(model, drawn, site->link), site->pose).position;
    moving += link >= 0 && !scene->links[link].fixed;
    if (cord->count > 0) cord->reference += vec3_norm(vec3_sub(here, last));
    last = here;
    cord->points = memory_grown(cord->points, sizeof *cord->points, cord->count, &capacity);
    cord->points[cord->count++] = (SceneTendonPoint){link, mjcf_site_place(model, site).position, 0};
  }
  memory_free(drawn);
  if (cord->count >= 2 && moving > 0) return true;
  memory_free(cord->points);
  return false;
}

double mjcf_start_length(const Scene* scene, const MjcfCord* cord) {
  Diagnostics unsaid = {0};
  Model model;
  double length = cord->reference;
  if (model_create(&model, scene, &unsaid) == STATUS_OK || model.links) {
    Pose* poses = MEMORY_NEW(Pose, model.link_count + 1);
    SceneTendon tendon = {.points = cord->points, .count = cord->count};
    model_poses(&model, model.initial_coordinates, poses);
    length = tendon_length(&tendon, poses);
    memory_free(poses);
  }
  model_destroy(&model);
  diagnostics_free(&unsaid);
  return length;
}

void mjcf_add_tendon(Scene* scene, MjcfCord* cord, SourcePlace place, double stiffness, double push) {
  size_t count = (size_t)scene->tendon_count, size = sizeof(SceneTendon);
  double rest = stiffness > 0 ? fmax(push / stiffness, 0) : 0, tension = stiffness * rest - push;
  scene->tendons = memory_resize(scene->tendons, count * size, (count + 1) * size);
  SceneTendon* tendon = &scene->tendons[scene->tendon_count++];
  *tendon = (SceneTendon){.place = place, .points = cord->points, .count = cord->count, .end = -1};
  tendon->stiffness = stiffness;
  tendon->rest_length = rest;
  tendon->eyelet = scene_tendon_eyelet(tendon);
  for (int i = 0; i < tendon->count; i++)
    if (tendon->points[i].link >= 0) tendon->end = tendon->points[i].link;
  if (stiffness > 0 && !(tension > 0)) return;
  tendon->tension = (SceneSignal){.type = SIGNAL_CONSTANT, .channels = 1, .rows = 1};
  tendon->tension.values = MEMORY_NEW(double, 1);
  tendon->tension.values[0] = tension;
}
