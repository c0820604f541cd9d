/* Private to optimize/design*.c: shared state of design_create (docs/derivations/design.md). */
#ifndef SDRS_OPTIMIZE_DESIGN_BUILD_H
#define SDRS_OPTIMIZE_DESIGN_BUILD_H

#include "optimize/design.h"

/* A link's box in the scene. */
typedef struct {
  int hull; /* index of the hull in the link; -1: the link has no box */
  Pose pose;
  Vec3 size;
} DesignBox;

/* A parameter variable shared by the links of one control item. */
typedef struct {
  int item;     /* TaskControl.tie */
  int scenario; /* Design.listing */
  const char* word;
  int index, variable;
} DesignTie;

/* State of design_create. Borrows everything but its arrays. */
typedef struct {
  Design* design;
  Task* task;
  Scene* scene; /* of the first scenario */
  const Model* model;
  Diagnostics* diagnostics;
  int* follows;          /* (links) */
  Mat3* map;             /* maps a leader's displacement to its follower's (links) */
  bool *shapes, *joints; /* links whose vertices or attachments are variables (links) */
  int* shared_first;     /* first of a link's shared vertices; -1 = none  (links) */
  int* shared_next;      /* the next of the same link  (shared vertices) */
  DesignBox* boxes;      /* (links) */
  DesignTie* ties;       /* shared variables of control items */
  int tie_count, tie_capacity;
  int errors_before; /* errors in diagnostics before this design */
  SourcePlace told;  /* place of the last item whose bounds were reported, so that each item gives one message */
} DesignBuild;

/* ---------------------------------------------------------------- items of the task (optimize/design_build.c) */

/* Returns the index of the link of this name in the scene, or -1 without a message. */
int design_link_named(const Scene* scene, const char* name);
/* Returns the index of the link, or -1 with a message. The reader checks names, so -1 occurs only for tasks it did not
 * load. */
int design_link(DesignBuild* build, const TaskName* name);
/* A variable with bounds max(low, initial - within) and min(high, initial + within). The name is a format. */
typedef struct {
  SourcePlace place;
  double within, low, high;
  int block;
  double prior; /* INFINITY or 0: none */
  double step;  /* optimizer step; 0: that of the block */
} VariableWish;
/* Adds a variable and returns its number. Reports an initial value outside the bounds. Appends `@scenario` to the name
 * of a variable of one scenario. */
int design_new_variable(DesignBuild* build, const VariableWish* wish, double initial, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the name that the variable had in earlier versions, copied; appends `@scenario` likewise. */
void design_call_formerly(DesignBuild* build, int variable, const char* former);

/* ---------------------------------------------------------------- symmetries (optimize/design_symmetry.c) */

/* The maps under which a link is symmetric: a finite group without its identity. */
typedef struct {
  Mat3* maps;
  int count, capacity;
} SelfMaps;

/* Sets follows (links; -1: none) and map (links) for the expanded scene. Reports links that cannot follow. */
void design_read_followers(DesignBuild* build);
/* Reports each self-symmetry of a link that follows another. */
void design_check_symmetries(DesignBuild* build);
/* Returns the maps of a link, empty without symmetries or, with a message, if they generate no finite group. The caller
 * frees them with design_self_maps_free. */
SelfMaps design_self_maps(DesignBuild* build, int link);
/* Frees the array and zeroes it. */
void design_self_maps_free(SelfMaps* maps);
/* Restricts `axes` (x, y, z) to directions that keep a vertex at p on its symmetry planes and axes. False if one of
 * these is not aligned with the frame. p and tolerance in m, link frame. `axes` changes in either case. */
bool design_free_axes(const SelfMaps* g, Vec3 p, double tolerance, bool axes[3]);

/* ---------------------------------------------------------------- lists of variables and numbers */

/* Adds variables and numbers of hull vertices (optimize/design_vertices.c). This and the following functions report
 * problems as messages. */
void design_list_vertices(DesignBuild* build);
/* Adds those of a cage around a link's hulls (optimize/design_cage.c); none for a link that follows another. */
void design_list_cage(DesignBuild* build, const TaskCage* item);
/* Vertices of a link that an item of `vertices` or `frozen` selects. Borrowed. */
typedef struct {
  const int* hulls; /* hulls of the link (hull_count); NULL: all */
  int hull_count;
  bool has_box;
  Vec3 low, high; /* link frame [m] */
} VertexRange;
/* Returns true if the range contains a vertex of this hull with initial position p [m, link frame]
 * (optimize/design_vertices.c). */
bool vertex_range_holds(const VertexRange* range, int hull, Vec3 p);
/* Returns true if the vertex of the link's hull with initial position p [m, link frame] is frozen
 * (optimize/design_frozen.c). */
bool design_is_frozen(const DesignBuild* build, int link, int hull, Vec3 p);
/* Reports each `frozen` item without effect. */
void design_check_frozen(DesignBuild* build);
/* Reports an error for a shape item whose link follows another one (symmetry) with a constant shape. */
void design_check_follower(DesignBuild* build, const TaskName* name);
/* Adds those of a joint position in the parent [m]. Shared vertices of the parent there move along
 * (optimize/design_joints.c). */
void design_list_attachment(DesignBuild* build, const TaskAttachment* item);
/* Adds those of a link's signal parameters, in the units of the signal. */
void design_list_control(DesignBuild* build, const TaskControl* item);
/* Adds those of a link's initial coordinates [m, rad] or velocities [m/s, rad/s]. Reports a joint whose initial state
 * is determined. */
void design_list_start(DesignBuild* build, const TaskStart* item);
/* Adds those of physical parameters, in their own units (optimize/design_parameters.c). Reports a link or scene without
 * the parameter. */
void design_list_parameter(DesignBuild* build, const TaskParameter* item);
/* Makes initial coordinates that follow a coupling move with its variable offset. Call last. */
void design_move_followers(DesignBuild* build);
/* Stores the links' boxes before the scene is expanded in build->boxes, which it allocates. */
void design_note_boxes(DesignBuild* build, const Model* model);
/* Writes masses [kg], centres and inertias of the model into the scene where centres or inertias are variables. */
void design_give_masses(const Task* task, const Model* model, Scene* scene);

#endif
