/* Private to optimize/design*.c: intermediate data of design_create, and the functions that create the variables
 * (docs/derivations/design.md). */
#ifndef SDRS_OPTIMIZE_DESIGN_BUILD_H
#define SDRS_OPTIMIZE_DESIGN_BUILD_H

#include "optimize/design.h"

/* Box that is the shape of a link. */
typedef struct {
  int hull; /* index of the box among the hulls of the link; -1: no box */
  Pose pose;
  Vec3 size;
} DesignBox;

/* Variable that several links share, because one entry (item) of the task names them together. */
typedef struct {
  int item;
  int scenario;
  const char* parameter;
  int index, variable;
} DesignTie;

/* Intermediate data while design_create creates the variables of a task. Owns only its arrays. */
typedef struct {
  Design* design;
  Task* task;
  Scene* scene; /* scene of the first scenario, or of the current one */
  const Model* model;
  Diagnostics* diagnostics;
  int* leader; /* for each link: index of the link of which it is a mirror image (its leader), or -1 (size: links) */
  Mat3* map;   /* for each mirrored link: matrix that maps displacements of the leader's vertices to those of the link
 (size: links) */
  bool *shapes, *joints; /* shapes: links whose vertices are variables; joints: links whose joint position is a variable
 (size: links) */
  int* shared_first;     /* first shared vertex of each link, or -1 (size: links) */
  int* shared_next;      /* next shared vertex of the same link, or -1 (shared vertices) */
  DesignBox* boxes;      /* box of each link, for links whose shape is a box (size: links) */
  /* variables that several links share, because one entry of the task names them together (size: tie_count) */
  DesignTie* ties;
  int tie_count, tie_capacity;
  int errors_before;           /* number of errors in the diagnostics before this design */
  SourcePosition last_message; /* entry of the task with the last message about bounds. Each entry causes at most one
                                  such message */
} DesignBuild;

/* ---------------------------------------------------------------- items of the task (optimize/design_build.c) */

/* Returns the index of the link with this name, or -1 without a message. */
int design_find_link(const Scene* scene, const char* name);
/* Returns the index of the link with this name, or -1 with a message. */
int design_require_link(DesignBuild* build, const TaskName* name);
/* Properties of a new variable with the initial value `initial`. Its bounds are max(low, initial - max_change) and
 * min(high, initial + max_change). */
typedef struct {
  SourcePosition place;
  double max_change, low, high;
  int block;
  /* standard deviation of the normal prior distribution around the initial value; INFINITY or 0: no prior */
  double prior;
  double step; /* step size of the optimizer for the variable; 0: common step size of its block */
} VariableSpec;
/* Adds a variable and returns its index. `format` and its arguments give the name, to which `@scenario` is appended if
 * the variable belongs to one scenario. Adds an error if the initial value is outside the bounds. */
int design_new_variable(DesignBuild* build, const VariableSpec* wish, double initial, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Stores the name that a variable had in earlier versions. Copies the name, with `@scenario` appended if the variable
 * belongs to one scenario. */
void design_set_former_name(DesignBuild* build, int variable, const char* former);

/* ---------------------------------------------------------------- symmetries (optimize/design_symmetry.c) */

/* Symmetries of a link's shape: matrices that map the shape to itself, without the identity. Together with the identity
 * they form a finite group. */
typedef struct {
  Mat3* maps;
  int count, capacity;
} SymmetryGroup;

/* Finds the links that the task makes mirror images of other links: sets build->leader[links] and build->map. Adds an
 * error for each link that cannot be an image. */
void design_read_followers(DesignBuild* build);
/* Adds an error for each mirrored link with symmetries of its own, because these belong to the link of which it is the
 * image. */
void design_check_symmetries(DesignBuild* build);
/* Returns the symmetry maps of a link, none if it has no symmetries. Adds an error and returns none if the maps and
 * their products are no finite set. The caller frees the maps with symmetry_group_free. */
SymmetryGroup design_symmetry_group(DesignBuild* build, int link);
/* Frees the maps and zeroes the group. */
void symmetry_group_free(SymmetryGroup* maps);
/* Sets axes[k] to false for each axis k (x, y, z) along which a vertex would leave a symmetry plane or axis that
 * contains it. p: vertex, link frame [m]. The tolerance is a distance [m]. Returns false if one of these planes or axes
 * is not aligned with the link frame. */
bool design_clear_fixed_axes(const SymmetryGroup* g, Vec3 p, double tolerance, bool axes[3]);

/* ---------------------------------------------------------------- variables of the entries of a task */

/* Adds the variables of hull vertices (optimize/design_vertices.c). This function and the following functions add a
 * message to the diagnostics for each error. */
void design_add_vertex_variables(DesignBuild* build);
/* Adds the variables of a cage around the hulls of a link (optimize/design_cage.c). A mirrored link has no cage of its
 * own. */
void design_add_cage_variables(DesignBuild* build, const TaskCage* item);
/* Vertices of a link that an entry of the task's lists `vertices` or `frozen` selects. Borrows its arrays. */
typedef struct {
  const int* hulls; /* indices of the selected hulls of the link (hull_count); NULL selects all hulls */
  int hull_count;
  bool has_box;
  Vec3 low, high; /* corners of the box that contains the selected vertices, link frame [m] */
} VertexRange;
/* Returns true if the range selects a vertex of this hull with initial position p [m, link frame]. */
bool vertex_range_contains(const VertexRange* range, int hull, Vec3 p);
/* Returns true if the task's list `frozen` forbids to move a vertex of this hull with initial position p [m, link
 * frame] (optimize/design_frozen.c). */
bool design_is_frozen(const DesignBuild* build, int link, int hull, Vec3 p);
void design_check_frozen(DesignBuild* build);
/* Adds an error for a task entry that changes the shape of a mirror image while the mirrored link keeps its shape. */
void design_check_follower(DesignBuild* build, const TaskName* name);
/* Adds the variables of a joint's position in the parent [m] (optimize/design_joints.c). Shared vertices of the parent
 * at the joint move with it. */
void design_add_attachment_variables(DesignBuild* build, const TaskAttachment* item);
/* Adds the variables of a link's control signals and gains, in their units. */
void design_add_control_variables(DesignBuild* build, const TaskControl* item);
/* Adds the variables of a link's initial coordinates [m, rad] or velocities [m/s, rad/s]. Adds an error if they are not
 * free. */
void design_add_initial_variables(DesignBuild* build, const TaskStart* item);
/* Adds the variables of physical parameters, in their units (optimize/design_parameters.c). Adds an error for a
 * parameter that the link or scene lacks. */
void design_add_parameter_variables(DesignBuild* build, const TaskParameter* item);
/* If the offset of a coupling between joints is a variable, makes the initial coordinate that the coupling determines
 * depend on it. Call it after all variables were added. */
void design_add_coupling_offsets(DesignBuild* build);
/* Stores the boxes of the links in build->boxes, which it allocates. Call it before the scene is expanded. */
void design_store_boxes(DesignBuild* build, const Model* model);
/* Copies masses [kg], centres and inertias of the model into the scene, for links with variable centre or inertia. */
void design_store_masses(const Task* task, const Model* model, Scene* scene);

#endif
