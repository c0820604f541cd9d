/* Compares two scenes bit for bit, except for the lines and columns of their values. */
#ifndef SDRS_TESTS_UNIT_SCENE_DIFFERENCE_H
#define SDRS_TESTS_UNIT_SCENE_DIFFERENCE_H

#include <string.h>
#include "scene/scene.h"

/* The first field that differs, or NULL. */
#define SAME(field)                                                             \
  do {                                                                          \
    if (memcmp(&(a->field), &(b->field), sizeof(a->field)) != 0) return #field; \
  } while (0)
#define SAME_TEXT(field)                                \
  do {                                                  \
    if (strcmp(a->field, b->field) != 0) return #field; \
  } while (0)
/* An array that may be absent in both. */
#define SAME_ARRAY(field, count)                                                                               \
  do {                                                                                                         \
    size_t size_of_array = sizeof(*a->field) * (size_t)(count);                                                \
    if (!a->field != !b->field || (a->field && memcmp(a->field, b->field, size_of_array) != 0)) return #field; \
  } while (0)

static inline const char* shape_difference(const SceneShape* a, const SceneShape* b) {
  SAME(type);
  SAME(size);
  SAME(radius);
  SAME(length);
  SAME(resolution);
  SAME(segments);
  SAME(point_count);
  SAME_ARRAY(points, a->point_count);
  SAME(scale);
  SAME(hull_per_group);
  SAME(max_vertices);
  SAME(decompose);
  SAME(decomposition.max_hulls);
  SAME(decomposition.max_vertices);
  SAME(decomposition.error);
  SAME(decomposition.resolution);
  for (int k = 0; k < 3; k++) {
    SAME(decomposition.grid[k]);
    SAME(decomposition.symmetry[k]);
  }
  SAME(decomposition.symmetry_auto);
  SAME(normal);
  SAME(offset);
  return NULL;
}

static inline const char* joint_difference_of(const SceneJoint* a, const SceneJoint* b) {
  SAME(type);
  SAME(position);
  SAME(rotation);
  SAME(axes);
  SAME(free_axes);
  SAME(limited);
  SAME(lower);
  SAME(upper);
  SAME(limit_law);
  SAME(limit_stiffness);
  SAME(limit_margin);
  SAME(limit_restitution);
  SAME(damping);
  SAME(stiffness);
  SAME(friction);
  SAME(armature);
  return NULL;
}

static inline const char* use_difference(const SceneShapeUse* a, const SceneShapeUse* b) {
  SAME(shape);
  SAME(position);
  SAME(rotation);
  return NULL;
}

static inline const char* link_difference(const SceneLink* a, const SceneLink* b) {
  const char* difference = NULL;
  SAME_TEXT(name);
  SAME(parent);
  SAME(shape_count);
  for (int i = 0; i < a->shape_count && !difference; i++) difference = use_difference(&a->shapes[i], &b->shapes[i]);
  if (difference) return difference;
  SAME(has_mass);
  SAME(has_density);
  SAME(mass);
  SAME(density);
  SAME(mass_model);
  SAME(center);
  SAME(inertia);
  SAME(fixed);
  SAME(collide);
  SAME(gravity_compensation);
  SAME(material.given);
  SAME(material.value);
  SAME(material.axis);
  SAME(group_count);
  for (int i = 0; i < a->group_count; i++) SAME_TEXT(groups[i]);
  SAME(color);
  return joint_difference_of(&a->joint, &b->joint);
}

static inline const char* signal_difference(const SceneSignal* a, const SceneSignal* b) {
  SAME(type);
  SAME(channels);
  SAME(rows);
  SAME(terms);
  SAME(interval);
  SAME(integrated);
  SAME_ARRAY(times, a->rows);
  SAME_ARRAY(values, a->rows * a->channels);
  SAME_ARRAY(amplitude, a->terms * a->channels);
  SAME_ARRAY(frequency, a->terms * a->channels);
  SAME_ARRAY(phase, a->terms * a->channels);
  return NULL;
}

static inline const char* controller_difference(const SceneController* a, const SceneController* b) {
  SAME(type);
  SAME(link);
  SAME(position_gain);
  SAME(velocity_gain);
  SAME(damping_gain);
  SAME(max_force);
  SAME(limit_width);
  SAME(delay);
  SAME(measure_count);
  SAME(feedback_type);
  SAME(hidden);
  SAME(hidden_count);
  SAME(scale);
  SAME_ARRAY(feedback, controller_feedback_count(a));
  for (int k = 0; k < a->measure_count; k++) {
    const SceneMeasure *one = &a->measures[k], *two = &b->measures[k];
    if (strcmp(one->name, two->name) != 0 || one->kind != two->kind || one->link != two->link ||
        one->index != two->index)
      return "measures";
  }
  return signal_difference(&a->target, &b->target);
}

static inline const char* load_difference(const SceneLoad* a, const SceneLoad* b) {
  SAME(link);
  SAME(link_axes);
  SAME(has_point);
  if (a->has_point) SAME(point);
  SAME(field.type);
  SAME(field.to);
  SAME(field.has_at);
  SAME(field.at);
  SAME(field.axis);
  SAME(field.other);
  if (a->field.type == FIELD_POINT) {
    SAME(field.power);
    SAME(field.softening);
  }
  const char* difference = signal_difference(&a->force, &b->force);
  return difference ? difference : signal_difference(&a->torque, &b->torque);
}

static inline const char* bushing_difference_of(const SceneBushing* a, const SceneBushing* b) {
  SAME(link);
  SAME(position);
  SAME(rotation);
  SAME(stiffness);
  SAME(damping);
  SAME(preload);
  return NULL;
}

static inline const char* tendon_difference(const SceneTendon* a, const SceneTendon* b) {
  SAME(count);
  SAME(end);
  SAME(stiffness);
  SAME(rest_length);
  SAME(eyelet);
  SAME(limited);
  SAME(lower);
  SAME(upper);
  SAME(range_stiffness);
  SAME(range_margin);
  SAME(range_damping);
  SAME(friction);
  SAME(friction_speed);
  SAME(joint_count);
  for (int i = 0; i < a->joint_count; i++) {
    SAME(joints[i].link);
    SAME(joints[i].coordinate);
    SAME(joints[i].ratio);
  }
  for (int i = 0; i < a->count; i++) {
    SAME(points[i].link);
    SAME(points[i].point);
    SAME(points[i].wrap);
  }
  SAME(wrap_count);
  for (int i = 0; i < a->wrap_count; i++) {
    SAME(wraps[i].type);
    SAME(wraps[i].link);
    SAME(wraps[i].after);
    SAME(wraps[i].radius);
    SAME(wraps[i].position);
    SAME(wraps[i].axis);
    SAME(wraps[i].has_side);
    SAME(wraps[i].side);
  }
  return signal_difference(&a->tension, &b->tension);
}

static inline const char* initial_difference(const SceneInitial* a, const SceneInitial* b) {
  SAME(link);
  SAME(has_coordinates);
  SAME(has_velocities);
  SAME(coordinates);
  SAME(velocities);
  return NULL;
}

static inline const char* settings_difference(const Scene* a, const Scene* b) {
  SAME(simulation.dt);
  SAME(simulation.steps);
  SAME(simulation.gravity);
  SAME(fluid.given);
  SAME(fluid.density);
  SAME(fluid.viscosity);
  SAME(fluid.velocity);
  SAME(fluid.has_level);
  SAME(fluid.level);
  SAME(simulation.integrator);
  SAME(simulation.tolerance);
  SAME(simulation.max_iterations);
  SAME(simulation.certificate);
  SAME(simulation.record_every);
  SAME(simulation.substeps);
  SAME(simulation.output);
  SAME(contact.model);
  SAME(contact.support);
  SAME(contact.stiffness);
  SAME(contact.friction);
  SAME(contact.static_friction);
  SAME(contact.stribeck_speed);
  SAME(contact.smoothing);
  SAME(contact.pair_count);
  for (int i = 0; i < a->contact.pair_count; i++) {
    SAME_TEXT(contact.pairs[i].name[0]);
    SAME_TEXT(contact.pairs[i].name[1]);
    SAME(contact.pairs[i].has_model);
    SAME(contact.pairs[i].model);
    SAME(contact.pairs[i].material.given);
    SAME(contact.pairs[i].material.value);
    SAME(contact.pairs[i].law_parameter_given);
    SAME(contact.pairs[i].law_parameters);
    SAME(contact.pairs[i].hierarchy_given);
    SAME(contact.pairs[i].hierarchy);
  }
  SAME(contact.exclude_count);
  for (int i = 0; i < a->contact.exclude_count; i++) {
    SAME_TEXT(contact.exclude[i][0]);
    SAME_TEXT(contact.exclude[i][1]);
  }
  return NULL;
}

/* Names of shapes and paths of meshes may differ. */
static inline const char* scene_difference(const Scene* a, const Scene* b) {
  const char* difference = settings_difference(a, b);
  if (difference) return difference;
  SAME(shape_count);
  SAME(link_count);
  SAME(controller_count);
  SAME(load_count);
  SAME(tendon_count);
  SAME(bushing_count);
  SAME(initial_count);
  for (int i = 0; i < a->shape_count && !difference; i++) difference = shape_difference(&a->shapes[i], &b->shapes[i]);
  for (int i = 0; i < a->link_count && !difference; i++) difference = link_difference(&a->links[i], &b->links[i]);
  for (int i = 0; i < a->controller_count && !difference; i++)
    difference = controller_difference(&a->controllers[i], &b->controllers[i]);
  for (int i = 0; i < a->load_count && !difference; i++) difference = load_difference(&a->loads[i], &b->loads[i]);
  for (int i = 0; i < a->tendon_count && !difference; i++)
    difference = tendon_difference(&a->tendons[i], &b->tendons[i]);
  for (int i = 0; i < a->bushing_count && !difference; i++)
    difference = bushing_difference_of(&a->bushings[i], &b->bushings[i]);
  for (int i = 0; i < a->initial_count && !difference; i++)
    difference = initial_difference(&a->initials[i], &b->initials[i]);
  return difference;
}

#endif
