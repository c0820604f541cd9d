/* Checks rules that concern several sections of a scene. */
#include <math.h>

#include "scene/parts.h"

/* How the links can move. Each array has one entry per link. */
typedef struct {
  int* prescribed;  /* index of the controller that prescribes the link's joint, or -1 */
  bool* is_movable; /* false: forces cannot move the link, because it is fixed to the world, or all joints between the
                       world and the link are prescribed */
} LinkMobility;

static void find_prescribing_controllers(Reader* reader, LinkMobility* motion) {
  const Scene* scene = reader->scene;
  for (int i = 0; i < scene->link_count; i++) motion->prescribed[i] = -1;
  for (int i = 0; i < scene->controller_count; i++) {
    const SceneController* controller = &scene->controllers[i];
    if (controller->type != CONTROLLER_PRESCRIBED) continue;
    int* first = &motion->prescribed[controller->link];
    if (*first >= 0)
      reader_error(
          reader, controller->place,
          "the joint of '%s' is already prescribed by the controller of line %d: remove one of the two controllers",
          text_excerpt(scene->links[controller->link].name).text, scene->controllers[*first].place.line);
    else
      *first = i;
  }
}

static void warn_idle_controllers(Reader* reader, const LinkMobility* motion) {
  const Scene* scene = reader->scene;
  for (int i = 0; i < scene->controller_count; i++) {
    const SceneController* controller = &scene->controllers[i];
    if (controller->type != CONTROLLER_PRESCRIBED && motion->prescribed[controller->link] >= 0)
      reader_warning(reader, controller->place,
                     "the controller has no effect, because another controller prescribes the joint of '%s': remove "
                     "one of the two",
                     text_excerpt(scene->links[controller->link].name).text);
  }
}

static void warn_idle_loads(Reader* reader, const LinkMobility* motion) {
  const Scene* scene = reader->scene;
  for (int i = 0; i < scene->load_count; i++) {
    const SceneField* field = &scene->loads[i].field;
    if (field->type != FIELD_NONE && field->to >= 0 &&
        (motion->is_movable[field->to] || reader->joint_broken[field->to]))
      continue;
    if (!motion->is_movable[scene->loads[i].link] && !reader->joint_broken[scene->loads[i].link])
      reader_warning(
          reader, scene->loads[i].place,
          "the load has no effect, because forces cannot move the link '%s': remove the load, or free the link",
          text_excerpt(scene->links[scene->loads[i].link].name).text);
  }
}

static void warn_idle_tendons(Reader* reader, const LinkMobility* motion) {
  const Scene* scene = reader->scene;
  for (int k = 0; k < scene->tendon_count; k++) {
    const SceneTendon* tendon = &scene->tendons[k];
    bool idle = true;
    for (int i = 0; i < tendon->count; i++) {
      int link = tendon->points[i].link;
      idle = idle && (link < 0 || (!motion->is_movable[link] && !reader->joint_broken[link]));
    }
    for (int i = 0; i < tendon->wrap_count; i++) {
      int link = tendon->wraps[i].link;
      idle = idle && (link < 0 || (!motion->is_movable[link] && !reader->joint_broken[link]));
    }
    for (int i = 0; i < tendon->joint_count; i++) {
      int link = tendon->joints[i].link;
      idle = idle && !motion->is_movable[link] && !reader->joint_broken[link];
    }
    if (idle)
      reader_warning(
          reader, tendon->place,
          "the tendon has no effect, because forces cannot move any of its links: remove the tendon, or free a link");
  }
}

static void warn_idle_bushings(Reader* reader, const LinkMobility* motion) {
  const Scene* scene = reader->scene;
  for (int k = 0; k < scene->bushing_count; k++) {
    bool idle = true;
    for (int side = 0; side < 2; side++) {
      int link = scene->bushings[k].link[side];
      idle = idle && (link < 0 || (!motion->is_movable[link] && !reader->joint_broken[link]));
    }
    if (idle)
      reader_warning(
          reader, scene->bushings[k].place,
          "the bushing has no effect, because forces cannot move any of its links: remove the bushing, or free a link");
  }
}

static void find_movable_links(const Reader* reader, LinkMobility* motion) {
  const Scene* scene = reader->scene;
  for (int i = 0; i < scene->link_count; i++) {
    const SceneLink* link = &scene->links[i];
    bool driven = motion->prescribed[i] >= 0, has_free_joint = scene_joint_dof(&link->joint) > 0 && !driven;
    motion->is_movable[i] =
        !reader->joint_broken[i] && (has_free_joint || (link->parent >= 0 && motion->is_movable[link->parent]));
  }
}

static void check_mass(Reader* reader, const SceneLink* link) {
  Excerpt name = text_excerpt(link->name);
  if (!link->has_mass && !link->has_density)
    reader_error(reader, link->place, "the link '%s' moves but has no mass: give 'mass' [kg] or 'density' [kg/m^3]%s",
                 name.text, link->parent < 0 ? ", or 'fixed: true'" : "");
  else if (link->shape_count == 0 && link->mass_model != MASS_GIVEN)
    reader_error(reader, link->place,
                 "the link '%s' moves but has no shape to carry its mass: give 'shape', or give 'inertia' with "
                 "mass_model: given",
                 name.text);
}

static void check_half_space(Reader* reader, const SceneLink* link) {
  for (int i = 0; i < link->shape_count; i++) {
    const SceneShapeUse* use = &link->shapes[i];
    if (use->shape < 0 || reader->scene->shapes[use->shape].type != SHAPE_HALF_SPACE) continue;
    reader_error(reader, use->place,
                 "a half_space cannot be part of a link that moves ('%s'): fix the link or prescribe its motion",
                 text_excerpt(link->name).text);
  }
}

/* Returns true if two links have the same position in the file, because one `repeat` defines both. One message is
 * enough for all of its links. */
static bool is_same_repeat(const SceneLink* a, const SceneLink* b) {
  return a->place.line == b->place.line && a->place.column == b->place.column;
}

void check_scene(Reader* reader) {
  const Scene* scene = reader->scene;
  LinkMobility motion = {MEMORY_NEW(int, scene->link_count), MEMORY_NEW(bool, scene->link_count)};
  find_prescribing_controllers(reader, &motion);
  warn_idle_controllers(reader, &motion);
  find_movable_links(reader, &motion);
  warn_idle_loads(reader, &motion);
  warn_idle_tendons(reader, &motion);
  warn_idle_bushings(reader, &motion);
  int reported = -1;
  for (int i = 0; i < scene->link_count; i++) {
    if (!motion.is_movable[i] || (reported >= 0 && is_same_repeat(&scene->links[reported], &scene->links[i]))) continue;
    int before = reader->problem_count;
    check_mass(reader, &scene->links[i]);
    check_half_space(reader, &scene->links[i]);
    if (reader->problem_count > before) reported = i;
  }
  memory_free(motion.prescribed);
  memory_free(motion.is_movable);
}
