/* parts: the readers of a scene's parts, each from its form into the Scene. */
#ifndef SDRS_SCENE_PARTS_H
#define SDRS_SCENE_PARTS_H

#include "scene/forms.h"
#include "scene/override.h"
#include "scene/reader.h"

/* ---- repeat.c */
typedef struct {
  int count;
  Vec3 steps[3];
} RepeatSteps;

typedef struct {
  int count, width;
  double values[3][JOINT_MAX_COORDINATE];
} RepeatIncrements;

typedef struct {
  const Node* node; /* NULL: the item is not repeated */
  RepeatForm form;
  int axis_count, count[3];
  RepeatSteps position, rotation_vector;
  RepeatIncrements coordinates, velocities;
} Repeat;

typedef void (*RepeatBody)(Reader* reader, const Node* item, const Repeat* repeat);
/* Call body for every item that a list entry stands for, with reader->indices set inside a repeat. Problems of the same
 * entry are told for the first item that has them. */
void repeat_expand(Reader* reader, const Node* entry, const char* object, const char* repeat_object, RepeatBody body);
/* Move a joint's origin to where the current item has it. */
void repeat_pose(const Repeat* repeat, const Indices* indices, Vec3* position, Quat* rotation);
/* Add the increments of the current item to values. */
void repeat_add(const RepeatIncrements* increments, const Indices* indices, double* values);

/* ---- read_shape.c */
void read_shapes(Reader* reader, const Node* map);
/* The shapes of a link: a list, or one name or map. */
void read_shape_uses(Reader* reader, const LinkForm* form, SceneLink* link);
Quat pose_form_rotation(const PoseForm* pose);

/* ---- read_joint.c */
/* False when the joint is too broken to say how many degrees of freedom it has. */
bool read_joint(Reader* reader, const Node* item, const LinkForm* form, const Repeat* repeat, SceneJoint* joint);
/* A number for all, or one per degree of freedom. False after an error. */
bool spread_over_dof(Reader* reader, const NumberList* list, const char* key, int dof, double* values);

/* ---- include.c
 * The parts that stand in the world, or those that hang on a link. */
void read_includes(Reader* reader, const Node* list, bool attached);

/* ---- variables.c */
void read_variables(Reader* reader, const Node* map);

/* ---- read_feedback.c: a controller's measures and its matrix */
void read_feedback(Reader* reader, const Node* node, SceneController* controller);

/* ---- read_link.c, read_controller.c, read_load.c, read_tendon.c, read_closure.c, read_coupling.c, read_initial.c,
 * read_signal.c, read_csv.c */
void read_links(Reader* reader, const Node* list);
void read_controllers(Reader* reader, const Node* list);
void read_loads(Reader* reader, const Node* list);
void read_tendons(Reader* reader, const Node* list);
void tendon_free(SceneTendon* tendon);
void read_closures(Reader* reader, const Node* list);
void read_couplings(Reader* reader, const Node* list);
void read_start_state(Reader* reader, const Node* map); /* read_start.c */
void start_free(SceneStart* start);
void read_initials(Reader* reader, const Node* list);
void read_signal(Reader* reader, const Node* node, int channels, SceneSignal* signal);
/* Rows of a CSV file as keyframes or knots (read_csv.c). quaternion: the last three channels are rotations, for which
 * four columns may stand. */
void read_csv_signal(Reader* reader, const Node* map, const SignalForm* form, SceneSignal* signal);
void signal_free_arrays(SceneSignal* signal);
/* The index of the link a node names, or -1 after an error. */
int read_link_name(Reader* reader, const Node* node);
/* The same under its key; `world` is -1 unless a link is called so; -2 after an error. NULL: the world. */
int read_link_or_world(Reader* reader, const Node* node, const char* key);

/* A link behind all others, zeroed but for its place; links move. */
SceneLink* reader_add_link(Reader* reader, SourcePlace place);

/* ---- scene.c
 * A pair that never touches; takes the names. */
void contact_add_exclusion(SceneContact* contact, char* a, char* b, SourcePlace place);
/* A scene that is a part of another one that `outer` reads, whose work it shares. */
void scene_read_part(Scene* scene, const char* path, const char* text, size_t length, Reader* outer,
                     const PlacedOverride* overrides, int override_count);
/*
 * What scene_parse does, with overrides that have their places; scene is zeroed. */
Status scene_read_text(Scene* scene, const char* path, const char* text, size_t length, bool json,
                       const PlacedOverride* overrides, int override_count, Diagnostics* diagnostics);
/* A scene written inside another file that `outer` reads; the caller has set scene->path and sha256. */
void scene_read_inside(Scene* scene, Reader* outer, Node* root, const PlacedOverride* overrides, int override_count);
/* The name that a run folder is called by: what is written, or the file's. Owned by the caller. */
char* read_file_name(Reader* reader, const Node* node, const char* owner, const char* path);

/* Which of a material's values the map gives. */
void read_material(const Node* map, SceneMaterial* material);

/* ---- check.c */
/* What can be judged only once everything is read: masses, half-spaces, prescribed joints. */
void check_scene(Reader* reader);

#endif
