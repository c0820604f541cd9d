/* Checks the invariants of every scene that was read without an error, for mutated and fuzzed input. */
#ifndef SDRS_TESTS_UNIT_SCENE_CONSISTENCY_H
#define SDRS_TESTS_UNIT_SCENE_CONSISTENCY_H

#include <math.h>
#include <string.h>
#include "scene/scene.h"

/* The first thing that is wrong, or NULL. */
#define HOLDS(condition)                 \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

static inline bool finite3(Vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static inline bool unit_quat(Quat q) { return fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < 1e-12; }

static inline const char* shape_fault(const SceneShape* shape) {
  HOLDS(shape->name && (int)shape->type >= SHAPE_BOX && shape->type <= SHAPE_SUBTRACTION);
  if (shape->type == SHAPE_BOX) HOLDS(shape->size.x > 0 && shape->size.y > 0 && shape->size.z > 0);
  if (shape->type == SHAPE_SPHERE) HOLDS(shape->radius > 0 && shape->resolution >= 0 && shape->resolution <= 6);
  if (shape->type == SHAPE_CYLINDER || shape->type == SHAPE_CAPSULE)
    HOLDS(shape->radius > 0 && shape->length > 0 && shape->segments >= 3);
  if (shape->type == SHAPE_POINTS) {
    HOLDS(shape->points && shape->point_count >= 4);
    for (int i = 0; i < shape->point_count; i++) HOLDS(finite3(shape->points[i]));
  }
  if (shape->type == SHAPE_MESH) HOLDS(shape->file && shape->scale > 0 && shape->max_vertices >= 0);
  if (shape->type == SHAPE_HALF_SPACE) HOLDS(vec3_norm(shape->normal) > 0 && isfinite(shape->offset));
  return NULL;
}

static inline const char* joint_fault(const SceneJoint* joint) {
  HOLDS(finite3(joint->position) && unit_quat(joint->rotation));
  HOLDS(fabs(vec3_norm(joint->axes[0]) - 1) < 1e-12 && fabs(vec3_norm(joint->axes[1]) - 1) < 1e-12);
  HOLDS(joint->type != JOINT_FREE || (joint->free_axes & FREE_ALL) != 0);
  for (int i = 0; i < JOINT_MAX_DOF; i++) {
    HOLDS(joint->lower[i] < joint->upper[i]);
    HOLDS(joint->limited[i] == (isfinite(joint->lower[i]) || isfinite(joint->upper[i])));
    HOLDS(!joint->limited[i] || i < scene_joint_dof(joint));
    HOLDS(joint->damping[i] >= 0);
  }
  HOLDS(joint->limit_stiffness > 0 && joint->limit_margin > 0);
  return NULL;
}

static inline const char* link_fault(const Scene* scene, int index) {
  const SceneLink* link = &scene->links[index];
  HOLDS(link->name && *link->name && link->parent >= -1 && link->parent < index);
  HOLDS(link->fixed == (link->joint.type == JOINT_FIXED));
  HOLDS(!(link->has_mass && link->has_density));
  HOLDS(!link->has_mass || link->mass > 0);
  HOLDS(!link->has_density || link->density > 0);
  HOLDS(link->place.file && link->place.line >= 0);
  for (int i = 0; i < link->shape_count; i++) {
    HOLDS(link->shapes[i].shape >= 0 && link->shapes[i].shape < scene->shape_count);
    HOLDS(finite3(link->shapes[i].position) && unit_quat(link->shapes[i].rotation));
  }
  for (int i = 0; i < link->group_count; i++) HOLDS(link->groups[i]);
  return joint_fault(&link->joint);
}

static inline const char* signal_fault(const SceneSignal* signal, int dof) {
  HOLDS(signal->channels == dof && signal->rows >= 1 && signal->values);
  for (int i = 0; i < signal->rows * signal->channels; i++) HOLDS(isfinite(signal->values[i]));
  if (signal->type == SIGNAL_KEYFRAMES || signal->type == SIGNAL_SPLINE) {
    HOLDS(signal->times);
    for (int i = 1; i < signal->rows; i++) HOLDS(signal->times[i - 1] < signal->times[i]);
  }
  if (signal->type == SIGNAL_SPLINE) HOLDS(signal->rows >= 2);
  if (signal->type == SIGNAL_SEQUENCE) HOLDS(signal->interval > 0);
  for (int i = 0; i < signal->terms * signal->channels; i++)
    HOLDS(isfinite(signal->amplitude[i]) && isfinite(signal->phase[i]) && signal->frequency[i] >= 0);
  return NULL;
}

static inline const char* initial_fault(const Scene* scene, const SceneInitial* initial) {
  HOLDS(initial->link >= 0 && initial->link < scene->link_count);
  const SceneJoint* joint = &scene->links[initial->link].joint;
  const double* q = initial->coordinates;
  for (int i = 0; i < JOINT_MAX_COORDINATE; i++) HOLDS(isfinite(q[i]));
  for (int i = 0; i < JOINT_MAX_DOF; i++) HOLDS(isfinite(initial->velocities[i]));
  Joint made = scene_joint(joint);
  int slides = made.slide_count;
  if (made.quaternion) HOLDS(unit_quat((Quat){q[slides], q[slides + 1], q[slides + 2], q[slides + 3]}));
  return NULL;
}

static inline const char* scene_fault(const Scene* scene) {
  const char* fault = NULL;
  const SceneSimulation* simulation = &scene->simulation;
  HOLDS(scene->path && scene->name && strlen(scene->sha256) == 64);
  HOLDS(simulation->dt > 0 && simulation->steps >= 1 && simulation->tolerance > 0 && simulation->record_every >= 1);
  HOLDS(finite3(simulation->gravity) && simulation->max_iterations >= 1);
  HOLDS(scene->contact.friction >= 0 && scene->contact.support >= 0 && scene->contact.stiffness >= 0);
  for (int i = 0; i < scene->shape_count && !fault; i++) fault = shape_fault(&scene->shapes[i]);
  for (int i = 0; i < scene->link_count && !fault; i++) fault = link_fault(scene, i);
  for (int i = 0; i < scene->initial_count && !fault; i++) fault = initial_fault(scene, &scene->initials[i]);
  for (int i = 0; i < scene->controller_count && !fault; i++) {
    const SceneController* controller = &scene->controllers[i];
    HOLDS(controller->link >= 0 && controller->link < scene->link_count);
    int dof = scene_joint_dof(&scene->links[controller->link].joint);
    HOLDS(dof > 0);
    fault = signal_fault(&controller->target, dof);
  }
  return fault;
}

/* A problem that a user can act on: a file, a place in it, and one line of printable text. */
static inline const char* diagnostic_fault(const Diagnostic* one, const char* file, int lines) {
  HOLDS(one->file && one->text && *one->text);
  HOLDS(!strchr(one->text, '\n'));
  if (one->severity == SEVERITY_NOTE || strncmp(one->file, "--set ", 6) == 0) return NULL;
  HOLDS(strcmp(one->file, file) == 0);
  HOLDS(one->line >= 1 && one->line <= lines + 1 && one->column >= 1);
  return NULL;
}

/* Of a whole reading. lines: line feeds of the text, counting all that YAML takes for one. */
static inline const char* reading_fault(const Scene* scene, Status status, const Diagnostics* diagnostics,
                                        const char* file, int lines) {
  HOLDS((status == STATUS_OK) == (diagnostics->error_count == 0));
  HOLDS(status == STATUS_OK || status == STATUS_BAD_INPUT);
  const char* fault = status == STATUS_OK ? scene_fault(scene) : NULL;
  for (int i = 0; i < diagnostics->count && !fault; i++) fault = diagnostic_fault(&diagnostics->items[i], file, lines);
  return fault;
}

/* At most so many lines: YAML knows \n, \r, and three of two or three bytes. */
static inline int count_lines(const char* text, size_t length) {
  int lines = 1;
  for (size_t i = 0; i < length; i++)
    lines += text[i] == '\n' || text[i] == '\r' || text[i] == '\xc2' || text[i] == '\xe2';
  return lines;
}

#endif
