/* Private to optimize/design*.c: the state of design_create, and the functions that create the variables
 * (docs/derivations/design.md). */
#ifndef SDRS_OPTIMIZE_DESIGN_BUILD_H
#define SDRS_OPTIMIZE_DESIGN_BUILD_H

#include "optimize/design.h"

/* The box that is the shape of a link. */
typedef struct {
  int hull; /* index of the box among the hulls of the link; -1: the link has no box */
  Pose pose;
  Vec3 size;
} DesignBox;

/* A variable that several links of one control item share. */
typedef struct {
  int item;     /* TaskControl.tie */
  int scenario; /* Design.listing */
  const char* word;
  int index, variable;
} DesignTie;

/* State of design_create. Owns only its arrays. */
typedef struct {
  Design* design;
  Task* task;
  Scene* scene; /* scene of the first scenario, or of the scenario being listed */
  const Model* model;
  Diagnostics* diagnostics;
  int* follows;          /* (links) */
  Mat3* map;             /* maps the displacement of the leader to the displacement of its follower (links) */
  bool *shapes, *joints; /* links whose vertices or attachments are variables (links) */
  int* shared_first;     /* first shared vertex of each link; -1: none (links) */
  int* shared_next;      /* next shared vertex of the same link; -1: none (shared vertices) */
  DesignBox* boxes;      /* (links) */
  DesignTie* ties;       /* shared variables of control items */
  int tie_count, tie_capacity;
  int errors_before;   /* errors in diagnostics before this design */
  SourcePosition told; /* item of the last message about bounds, so that an item gives only one message */
} DesignBuild;

/* ---------------------------------------------------------------- items of the task (optimize/design_build.c) */

/* Returns the index of the link with this name in the scene. Returns -1, without a message, if there is none. */
int design_find_link(const Scene* scene, const char* name);
/* Returns the index of the link with this name. Returns -1 with a message if there is none, which occurs only in
 * tasks that the reader has not checked. */
int design_require_link(DesignBuild* build, const TaskName* name);
/* Properties of a variable to be added. The bounds of the variable are max(low, initial - within) and min(high,
 * initial + within). */
typedef struct {
  SourcePosition place;
  double within, low, high;
  int block;
  double prior; /* standard deviation of the prior; INFINITY or 0: no prior */
  double step;  /* optimizer step; 0: the variable has the step of its block */
} VariableSpec;
/* Adds a variable and returns its number. `format` and its arguments give the name. Adds an error if the initial
 * value is outside the bounds. If the variable belongs to one scenario, appends `@scenario` to the name. */
int design_new_variable(DesignBuild* build, const VariableSpec* wish, double initial, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Stores the name that a variable had in earlier versions. Copies the name, and appends `@scenario` if the variable
 * belongs to one scenario. */
void design_set_former_name(DesignBuild* build, int variable, const char* former);

/* ---------------------------------------------------------------- symmetries (optimize/design_symmetry.c) */

/* The maps under which a link is symmetric, without the identity. The maps and the identity form a finite group. */
typedef struct {
  Mat3* maps;
  int count, capacity;
} SymmetryGroup;

/* Sets build->follows and build->map for the expanded scene. A follower is a link whose shape is the image of another
 * link's shape, its leader, under a symmetry. follows[links] holds the index of each link's leader, or -1 if the link
 * is no follower. Adds an error for each link that cannot be a follower. */
void design_read_followers(DesignBuild* build);
/* Adds an error for each follower to which the task gives a symmetry of its own. The symmetry must be given to the
 * leader. */
void design_check_symmetries(DesignBuild* build);
/* Returns the maps under which a link is symmetric. Returns no maps if the link has no symmetries. Returns no maps,
 * with a message, if the symmetries generate no finite group. The caller frees the maps with symmetry_group_free. */
SymmetryGroup design_symmetry_group(DesignBuild* build, int link);
/* Frees the array and zeroes it. */
void symmetry_group_free(SymmetryGroup* maps);
/* Clears axes[k] for each axis (x, y, z) along which a vertex at p would leave its symmetry planes and axes. Returns
 * false if one of these planes or axes is not aligned with the link frame. p, tolerance: link frame [m]. `axes`
 * changes in either case. */
bool design_clear_fixed_axes(const SymmetryGroup* g, Vec3 p, double tolerance, bool axes[3]);

/* ---------------------------------------------------------------- lists of variables and numbers */

/* Adds variables and numbers for hull vertices (optimize/design_vertices.c). This function and the following ones
 * report errors as messages. */
void design_add_vertex_variables(DesignBuild* build);
/* Adds variables and numbers for a cage around the hulls of a link (optimize/design_cage.c). Adds none for a
 * follower. */
void design_add_cage_variables(DesignBuild* build, const TaskCage* item);
/* Selection of vertices of a link by an item of `vertices` or `frozen`. Borrows its arrays. */
typedef struct {
  const int* hulls; /* selected hulls of the link (hull_count); NULL: all */
  int hull_count;
  bool has_box;
  Vec3 low, high; /* link frame [m] */
} VertexRange;
/* Returns true if the range contains a vertex of this hull with initial position p [m, link frame]
 * (optimize/design_vertices.c). */
bool vertex_range_contains(const VertexRange* range, int hull, Vec3 p);
/* Returns true if the vertex of the link's hull with initial position p [m, link frame] is frozen
 * (optimize/design_frozen.c). */
bool design_is_frozen(const DesignBuild* build, int link, int hull, Vec3 p);
/* Adds an error for each `frozen` item without effect. */
void design_check_frozen(DesignBuild* build);
/* Adds an error for a shape item whose link is the follower of a link of constant shape. */
void design_check_follower(DesignBuild* build, const TaskName* name);
/* Adds variables and numbers for the position of a joint in the parent [m] (optimize/design_joints.c). Shared
 * vertices of the parent at the joint move with the joint. */
void design_add_attachment_variables(DesignBuild* build, const TaskAttachment* item);
/* Adds variables and numbers for the control signals and gains of a link, in the units of the signal or gain. */
void design_add_control_variables(DesignBuild* build, const TaskControl* item);
/* Adds variables and numbers for the initial coordinates [m, rad] or velocities [m/s, rad/s] of a link. Adds an
 * error if something else determines the initial state of the joint. */
void design_add_initial_variables(DesignBuild* build, const TaskStart* item);
/* Adds variables and numbers for physical parameters, in the units of the parameters (optimize/design_parameters.c).
 * Adds an error if the link or scene does not have the parameter. */
void design_add_parameter_variables(DesignBuild* build, const TaskParameter* item);
/* Makes initial coordinates that follow a coupling change with the coupling's offset if the offset is a variable.
 * Call after all other variables are added. */
void design_add_coupling_offsets(DesignBuild* build);
/* Stores the boxes of the links in build->boxes, which it allocates. Call before the scene is expanded. */
void design_store_boxes(DesignBuild* build, const Model* model);
/* Writes masses [kg], centres and inertias of the model into the scene, for links whose centre or inertia is a
 * variable. */
void design_store_masses(const Task* task, const Model* model, Scene* scene);

#endif
