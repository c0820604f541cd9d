/* parts: readers of the sections of a scene, from their forms into the Scene. */
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
/* Calls body for every item of a list entry, with reader->indices set inside a repeat. Equal errors of an entry are
 * reported for its first item only. Errors are counted in the reader. */
void repeat_expand(Reader* reader, const Node* entry, const char* object, const char* repeat_object, RepeatBody body);
/* Moves a joint's origin [m] and rotation to the current item's position in the repeat, in place; does nothing outside
 * a repeat. */
void repeat_pose(const Repeat* repeat, const Indices* indices, Vec3* position, Quat* rotation);
/* Adds the increments of the current item to values (width). */
void repeat_add(const RepeatIncrements* increments, const Indices* indices, double* values);

/* ---- read_shape.c */
/* Reads the map `shapes` into the scene; NULL: the key is absent. Every read_ function of this header reports errors
 * through `reader`. */
void read_shapes(Reader* reader, const Node* map);
/* Reads the shapes of a link: a list, or one name or map. The link owns them. */
void read_shape_uses(Reader* reader, const LinkForm* form, SceneLink* link);
/* Returns rotation x rotation vector x roll, pitch, yaw, a unit quaternion; at most one of them is given. */
Quat pose_form_rotation(const PoseForm* pose);

/* ---- read_joint.c */
/* Reads a joint. Returns false if its degrees of freedom are unknown after errors; *joint is set in any case. */
bool read_joint(Reader* reader, const Node* item, const LinkForm* form, const Repeat* repeat, SceneJoint* joint);
/* Sets values[dof] from one number for all or one per degree of freedom. Returns false after an error, with values
 * unchanged. */
bool spread_over_dof(Reader* reader, const NumberList* list, const char* key, int dof, double* values);
/* Returns true if the values of the three rotations of a joint are equal, and for other joints. values[dof]. */
bool same_of_rotations(const Joint* joint, const double* values);
/* Reads [low, high]; null is an open end (infinite). Returns false after an error, and for null. */
bool read_open_pair(Reader* reader, const Node* node, double* low, double* high);
/* Warns if one of the angles [rad] (count) is a whole number of at least ten, which looks like degrees. */
void warn_of_degrees(Reader* reader, SourcePlace place, const double* angles, int count);
/* Warns likewise of the rpy and the rotation_vector of a map with a pose. */
void warn_of_pose_degrees(Reader* reader, const Node* map, const PoseForm* pose);

/* ---- include_settings.c */
/* Notes settings of `simulation` and `contact` that an included file gives and that the scene around it leaves at other
 * values, its defaults: they have no effect. part, outer: roots of both files (outer NULL: unknown). path: of the
 * included file, which must outlive the diagnostics' use. Each note is added once. */
void note_unused_settings(const Node* part, const Node* outer, const char* path, Diagnostics* diagnostics);

/* ---- include.c Reads the parts placed in the world, or those attached to a link. NULL: none. */
void read_includes(Reader* reader, const Node* list, bool attached);

/* ---- variables.c */
/* Reads the map `variables` into the reader; NULL: absent. Reports invalid names. */
void read_variables(Reader* reader, const Node* map);

/* ---- read_feedback.c: a controller's measures, and its matrix or network */
/* Reads feedback into the controller, which owns measures (measure_count) and feedback (controller_feedback_count). */
void read_feedback(Reader* reader, const Node* node, SceneController* controller);

/* ---- read_link.c, read_controller.c, read_load.c, read_tendon.c, read_bushing.c, read_closure.c, read_coupling.c,
 * read_initial.c, read_signal.c, read_csv.c */
/* Reads the list `links`, with repeats; NULL: absent. Reports names that were used before their link. */
void read_links(Reader* reader, const Node* list);
/* Reads an item of `links`; repeat: its repeat, zeroed for none. */
void read_link(Reader* reader, const Node* item, const Repeat* repeat);
/* ---- read_rod.c Reads the list `rods`: links, bushings between them, and excluded pairs. Called before the links,
 * which may have links of rods as parents. NULL: absent. */
void read_rods(Reader* reader, const Node* list);
/* Creates the bushings at the ends of rods. Called after `initial`, which determines the initial poses of links. */
void fasten_rods(Reader* reader);
/* Reads the list `controllers`, after the links; NULL: absent. */
void read_controllers(Reader* reader, const Node* list);
/* Reads the list `loads`, after the links; NULL: absent. */
void read_loads(Reader* reader, const Node* list);
/* Reads the list `tendons`, after the links; NULL: absent. */
void read_tendons(Reader* reader, const Node* list);
/* Frees the points and the signal of a tendon, not the struct. */
void tendon_free(SceneTendon* tendon);
/* Reads the list `bushings`, after the links; NULL: absent. */
void read_bushings(Reader* reader, const Node* list);
/* Appends a copy to the scene's bushings. Stops reading with an error if there are BUSHING_MAX already. */
void add_bushing(Reader* reader, const SceneBushing* bushing);
/* Frees the signal of a closure; the scene owns the closure. */
void closure_free(SceneClosure* closure);
/* Reads the list `closures`, after the links; NULL: absent. */
void read_closures(Reader* reader, const Node* list);
/* Reads the list `couplings`, after the links; NULL: absent. */
void read_couplings(Reader* reader, const Node* list);
/* Largest number of coordinates in a sum. */
enum { COUPLING_TERMS_MAX = 8 };
/* Appends the items of a list of coordinates to the terms, which have room for the largest number; key: name of the
 * list. Reports invalid, duplicate and excess items. */
void read_coupling_terms(Reader* reader, const Node* list, const char* key, SceneCoupling* coupling);
/* Reads the map `start`: run folder, time and file of the initial state, which the scene owns; NULL: absent
 * (read_start.c). */
void read_start_state(Reader* reader, const Node* map);
/* Frees state and texts, and zeroes the struct; accepts a zeroed one. */
void start_free(SceneStart* start);
/* Reads the list `initial`, after the links; NULL: absent. */
void read_initials(Reader* reader, const Node* list);
/* Reads a signal with `channels` channels from a number, a list of numbers or a map. The signal owns its arrays, to be
 * freed with signal_free_arrays, also after an error. */
void read_signal(Reader* reader, const Node* node, int channels, SceneSignal* signal);
/* Reads rows of a CSV file as keyframes or knots (read_csv.c). quaternion: the last three channels are a rotation,
 * which four columns may give. After an error the signal is zero. It owns its arrays and the file's name. */
void read_csv_signal(Reader* reader, const Node* map, const SignalForm* form, SceneSignal* signal);
/* Frees the arrays of a signal and the file's name, not the struct. */
void signal_free_arrays(SceneSignal* signal);
/* Returns the index of the link that the node names, or -1 after an error. */
int read_link_name(Reader* reader, const Node* node);
/* Returns the index of the link named under the key; -1 for `world` unless a link has this name, and for NULL; -2 after
 * an error. */
int read_link_or_world(Reader* reader, const Node* node, const char* key);

/* Appends a zeroed link with its place, and returns it, owned by the scene. Invalidates pointers to links. */
SceneLink* reader_add_link(Reader* reader, SourcePlace place);

/* ---- scene.c Excludes contact of a pair. Takes ownership of the names a and b. Does not check that the links exist.
 */
void contact_add_exclusion(SceneContact* contact, char* a, char* b, SourcePlace place);
/* Reads a scene included by the one that `outer` reads, under the same limits. text: `length` bytes and a NUL after
 * them. Errors are reported with the path of the included file. scene must be zeroed; the caller frees it in any case.
 */
void scene_read_part(Scene* scene, const char* path, const char* text, size_t length, Reader* outer,
                     const PlacedOverride* overrides, int override_count);
/* As scene_parse, with overrides that have their own places; scene must be zeroed. Returns STATUS_BAD_INPUT if an error
 * was reported; the caller calls scene_free in any case. */
Status scene_read_text(Scene* scene, const char* path, const char* text, size_t length, bool json,
                       const PlacedOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Reads a scene embedded in the file that `outer` reads. The caller has set scene->path and sha256. root is a node of
 * the outer document, which the overrides change. The caller calls scene_free in any case. */
void scene_read_inside(Scene* scene, Reader* outer, Node* root, const PlacedOverride* overrides, int override_count);
/* Returns the name for the run folder: the given name, or the file's. Never NULL; the caller frees it with memory_free.
 */
char* read_file_name(Reader* reader, const Node* node, const char* owner, const char* path);

/* Records which values of a material the map gives. */
void read_material(const Node* map, SceneMaterial* material);
/* Reads `friction`, a number or [along, across], and `friction_axis`, of any length, of a link or an item of
 * contact.pairs. */
void read_friction(Reader* reader, const Node* item, const NumberList* form, Vec3 direction, SceneMaterial* material);
/* Reports a static friction below friction. */
void check_static_contact(Reader* reader, const Node* map, double friction, double static_friction);

/* ---- check.c */
/* Checks that need the whole scene: masses, half-spaces, prescribed joints. Only reads the scene; reports errors and
 * warnings. */
void check_scene(Reader* reader);

#endif
