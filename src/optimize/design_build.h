/* Private to optimize/design*.c: what the parts of design_create share (docs/derivations/design.md). */
#ifndef SDRS_OPTIMIZE_DESIGN_BUILD_H
#define SDRS_OPTIMIZE_DESIGN_BUILD_H

#include "optimize/design.h"

/* The box of a link as the scene has it. */
typedef struct {
  int hull; /* of the link; -1: it has none */
  Pose pose;
  Vec3 size;
} DesignBox;

/* What links of one item of control have in common: the variable of this parameter. */
typedef struct {
  int item;     /* TaskControl.tie */
  int scenario; /* Design.listing */
  const char* word;
  int index, variable;
} DesignTie;

/* Borrows all but its arrays. */
typedef struct {
  Design* design;
  Task* task;
  Scene* scene; /* of the first scenario */
  const Model* model;
  Diagnostics* diagnostics;
  int* follows;          /* (links) */
  Mat3* map;             /* displacement of a follower for one of its leader  (links) */
  bool *shapes, *joints; /* links whose vertices, whose attachments move  (links) */
  int* shared_first;     /* first of a link's shared vertices; -1 = none  (links) */
  int* shared_next;      /* the next of the same link  (shared vertices) */
  DesignBox* boxes;      /* (links) */
  DesignTie* ties;       /* variables that items of control share among links */
  int tie_count, tie_capacity;
  int errors_before; /* in diagnostics, before this design */
  SourcePlace told;  /* of the item whose bounds were told last: one message is enough for an item */
} DesignBuild;

/* ---------------------------------------------------------------- what is asked for (optimize/design_build.c) */

/* Index of the scene's link of this name; -1 = none. No message. */
int design_link_named(const Scene* scene, const char* name);
/* The reader has checked the names; -1, with a message, only for a task that was not loaded by it. */
int design_link(DesignBuild* build, const TaskName* name);
/* A variable between max(low, initial - within) and min(high, initial + within); a message when it does not start
 * there. The name is formatted. Returns its number. */
typedef struct {
  SourcePlace place;
  double within, low, high;
  int block;
  double prior; /* INFINITY or 0: none */
  double step;  /* step of the variable; 0: that of its block */
} VariableWish;
/* Its number, 0 ... variable_count - 1; `@scenario` is put behind the name of one that a scenario has alone. */
int design_new_variable(DesignBuild* build, const VariableWish* wish, double initial, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---------------------------------------------------------------- symmetries (optimize/design_symmetry.c) */

/* Maps under which a link is to be its own image: a group without its identity. */
typedef struct {
  Mat3* maps;
  int count, capacity;
} SelfMaps;

/* Sets follows (links; -1: nobody) and map (links); the scene is expanded. Messages for what cannot follow. */
void design_read_followers(DesignBuild* build);
/* A message for every symmetry of a link in itself whose link follows another. */
void design_check_symmetries(DesignBuild* build);
/* The maps of a link, empty without symmetries; a message, and none, when applied in turn they give ever new ones.
 * The caller frees them with design_self_maps_free. */
SelfMaps design_self_maps(DesignBuild* build, int link);
/* Frees the array and zeroes it. */
void design_self_maps_free(SelfMaps* maps);
/* Of `axes` stays what keeps a vertex at p on the planes and axes of symmetry that it lies on. false: one of them is
 * not along the axes of the frame. p and tolerance in metres, in the link's frame; axes x, y, z. They are changed in
 * either case. */
bool design_free_axes(const SelfMaps* g, Vec3 p, double tolerance, bool axes[3]);

/* ---------------------------------------------------------------- lists of variables and numbers */

/* Variables and numbers of hull vertices (optimize/design_vertices.c). Problems of all of these are messages;
 * nothing is returned. */
void design_list_vertices(DesignBuild* build);
/* Those of a cage around a link's hulls (optimize/design_cage.c); nothing for a link that follows another. */
void design_list_cage(DesignBuild* build, const TaskCage* item);
/* Which vertices of its link an item of `vertices` or `frozen` names. Borrowed. */
typedef struct {
  const int* hulls; /* of the link (hull_count); NULL: all */
  int hull_count;
  bool has_box;
  Vec3 low, high; /* link frame [m] */
} VertexRange;
/* Is a vertex of this hull at p [m, link frame], its initial place, one of them (optimize/design_vertices.c)? */
bool vertex_range_holds(const VertexRange* range, int hull, Vec3 p);
/* Does no vertex of the link's hull at p [m, link frame], the place in its initial shape, move
 * (optimize/design_frozen.c)? hull: of the link. */
bool design_is_frozen(const DesignBuild* build, int link, int hull, Vec3 p);
/* A message for every item that can hold nothing. */
void design_check_frozen(DesignBuild* build);
/* A message for an item about the shape of a link that follows one whose shape does not move. */
void design_check_follower(DesignBuild* build, const TaskName* name);
/* Those of where a link's joint sits in its parent [m]; the parent's shared vertices there move along
 * (optimize/design_joints.c). */
void design_list_attachment(DesignBuild* build, const TaskAttachment* item);
/* Those of the parameters of a link's signals, in the units of the signal. */
void design_list_control(DesignBuild* build, const TaskControl* item);
/* Those of the coordinates [m, rad] or velocities [m/s, rad/s] that a link begins with; a message where its joint
 * leaves no choice. */
void design_list_start(DesignBuild* build, const TaskStart* item);
/* Those of physical parameters, in their own units (optimize/design_parameters.c); a message where a link or the
 * scene has none of them. */
void design_list_parameter(DesignBuild* build, const TaskParameter* item);
/* Where offsets of couplings are variables, the starts of what follows by one move with them; after all of these. */
void design_move_followers(DesignBuild* build);
/* Notes the boxes (links) of the scene, before it is expanded, in build->boxes, which it allocates. */
void design_note_boxes(DesignBuild* build, const Model* model);
/* Masses [kg], centres and inertias of the model become numbers of the scene, where centres or inertias move. */
void design_give_masses(const Task* task, const Model* model, Scene* scene);

#endif
