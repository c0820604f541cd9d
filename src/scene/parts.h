/* parts: functions that read the sections of a scene file into the Scene. A form (scene/forms.h) is a struct that
 * receives the keys of one section. */
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
  const Node* node; /* the map `repeat`; NULL if the item is not repeated */
  RepeatForm form;
  int axis_count, count[3];
  RepeatSteps position, rotation_vector;
  RepeatIncrements coordinates, velocities;
} Repeat;

typedef void (*RepeatBody)(Reader* reader, const Node* item, const Repeat* repeat);
/* Calls `body` once for each item that a list entry defines. An entry with the key `repeat` defines several items.
 * During each call reader->indices holds the indices of the item. object, repeat_object: names of the schema objects of
 * the entry and of its map `repeat`. After the first item with errors, errors of later items of the entry are counted
 * in the reader but not reported. */
void repeat_expand(Reader* reader, const Node* entry, const char* object, const char* repeat_object, RepeatBody body);
/* Moves a joint frame from the pose of the first item of a repeat to that of the current item. Changes *position [m]
 * and *rotation of the frame. Does nothing if the item is not repeated. */
void repeat_apply_pose(const Repeat* repeat, const RepeatIndices* indices, Vec3* position, Quat* rotation);
/* Adds the increments of the current item of a repeat to the joint coordinates or velocities values[increments->width].
 */
void repeat_add_increments(const RepeatIncrements* increments, const RepeatIndices* indices, double* values);

/* ---- read_shape.c */
/* Reads the map `shapes` of a scene file into the scene. map: NULL if the key is absent. Each read_ function of this
 * header reports errors through `reader`. */
void read_shapes(Reader* reader, const Node* map);
/* Reads the shapes of a link from the key `shape` (a name or a map) or `shapes` (a list). The link owns the array of
 * shapes. */
void read_shape_uses(Reader* reader, const LinkForm* form, SceneLink* link);
/* Returns the rotation of a pose as a unit quaternion. The result is the product of the form's members rotation,
 * rotation_vector and rpy. At most one of the three is given; the others are the identity. */
Quat pose_form_rotation(const PoseForm* pose);

/* ---- read_link.c */
/* Returns the text of a node as the name of a link or joint, owned by the caller. Reports characters that names must
 * not have. Returns NULL if node is NULL or is no name. */
char* read_optional_name(Reader* reader, const Node* node);

/* ---- read_joint.c */
/* Reads the joint of a link and sets *joint, also after an error. Returns false if an error leaves the number of
 * degrees of freedom unknown. */
bool read_joint(Reader* reader, const Node* item, const LinkForm* form, const Repeat* repeat, SceneJoint* joint);
/* Sets values (dof) from a list of numbers, one per degree of freedom. A single number applies to all degrees of
 * freedom. key: key of the list, for messages. Returns false after an error, with values unchanged. */
bool expand_per_dof(Reader* reader, const NumberList* list, const char* key, int dof, double* values);
/* Returns true if a parameter has the same value for the three rotations of a joint's quaternion. Also returns true if
 * the joint has no quaternion. values: one number for each degree of freedom. */
bool is_equal_for_rotations(const Joint* joint, const double* values);
/* Reads bounds [low, high], low < high, into *low and *high. null in place of a number sets -INFINITY or INFINITY.
 * Returns false after an error. Also returns false, without an error, if the node itself is null. */
bool read_bounds_pair(Reader* reader, const Node* node, double* low, double* high);
/* Warns if an angle [rad] was probably meant in degrees: if it is a whole number of at least ten. angles: `count`
 * angles [rad]. place: position for the warning. */
void warn_if_degrees(Reader* reader, SourcePosition place, const double* angles, int count);
/* Warns if an angle of a pose was probably meant in degrees (warn_if_degrees). Checks the keys `rpy` and
 * `rotation_vector` of the map. pose: the values of these keys. */
void warn_if_pose_degrees(Reader* reader, const Node* map, const PoseForm* pose);

/* ---- include_settings.c */
/* Reports, as a note, settings of an included file that have no effect. The note lists keys of `simulation` and
 * `contact` that differ from the defaults and that the including file does not give. part: root node of the included
 * file. outer: root node of the including file, or NULL if unknown. path: path of the included file; it must outlive
 * the diagnostics. Equal notes are added once. */
void report_unused_settings(const Node* part, const Node* outer, const char* path, Diagnostics* diagnostics);

/* ---- include.c
 * Reads the items of the list `include` and merges their files into the scene: items with the key `attach` if
 * `attached` is true, otherwise items without it. list is NULL if the key is absent. */
void read_includes(Reader* reader, const Node* list, bool attached);

/* ---- variables.c */
/* Reads the map `variables` into reader->variables; map is NULL if the key is absent. Reports invalid names. */
void read_variables(Reader* reader, const Node* map);

/* ---- read_feedback.c: measurements of a controller, and the matrix or network applied to them */
/* Reads the map `feedback` of a controller. The controller owns the arrays measures (measure_count) and feedback
 * (controller_feedback_count). */
void read_feedback(Reader* reader, const Node* node, SceneController* controller);

/* ---- read_link.c, read_controller.c, read_load.c, read_tendon.c, read_bushing.c, read_closure.c, read_coupling.c,
 * read_initial.c, read_signal.c, read_csv.c */
/* Reads the list `links` and creates the links that its items with `repeat` describe. list is NULL if the key is
 * absent. Reports an error for each parent that is used before its definition. */
void read_links(Reader* reader, const Node* list);
/* Reads one item of the list `links`. repeat: the repeat of the item; zeroed if the item is not repeated. */
void read_link(Reader* reader, const Node* item, const Repeat* repeat);
/* ---- read_rod.c
 * Reads the list `rods`. Adds the links of each rod, the bushings between these links, and pairs excluded from contact.
 * Call read_rods before read_links, because links may have links of rods as parents. list is NULL if the key is absent.
 */
void read_rods(Reader* reader, const Node* list);
/* Attaches the ends of rods to links or to the world by bushings. Must be called after read_initials, because the
 * bushings depend on the initial poses of the links. */
void attach_rod_ends(Reader* reader);
/* Reads the list `controllers`; list is NULL if the key is absent. Call read_links first. */
void read_controllers(Reader* reader, const Node* list);
/* Reads the list `loads`; list is NULL if the key is absent. Call read_links first. */
void read_loads(Reader* reader, const Node* list);
/* Reads the list `tendons`; list is NULL if the key is absent. Call read_links first. */
void read_tendons(Reader* reader, const Node* list);
/* Frees the arrays and the signal that a tendon owns, but not the struct. */
void tendon_free(SceneTendon* tendon);
/* Reads the list `bushings`; list is NULL if the key is absent. Call read_links first. */
void read_bushings(Reader* reader, const Node* list);
/* Appends a copy of a bushing to the scene. If the scene has BUSHING_MAX bushings, reports an error and stops the
 * reader. */
void scene_append_bushing(Reader* reader, const SceneBushing* bushing);
/* Frees the signal of a closure, but not the struct, which the scene owns. */
void closure_free(SceneClosure* closure);
/* Reads the list `closures`; list is NULL if the key is absent. Call read_links first. */
void read_closures(Reader* reader, const Node* list);
/* Reads the list `couplings`; list is NULL if the key is absent. Call read_links first. */
void read_couplings(Reader* reader, const Node* list);
/* Largest number of terms in a weighted sum of joint coordinates. A coupling, and the length of a tendon without
 * points, is such a sum. */
enum { COUPLING_TERMS_MAX = 8 };
/* Reads a list of weighted joint coordinates and appends the items to coupling->terms. The array must have room for
 * COUPLING_TERMS_MAX terms. key: key of the list, for messages. Reports invalid, duplicate and excess items. */
void read_coupling_terms(Reader* reader, const Node* list, const char* key, SceneCoupling* coupling);
/* Reads the map `start`: the recorded state from which the run starts (read_start.c). Sets scene->start to the run
 * folder and the stored state, which the scene owns, and to the time of the state [s]. map is NULL if the key is
 * absent. */
void read_start_state(Reader* reader, const Node* map);
/* Frees the stored state and the path of its run, and zeroes the struct. Accepts a zeroed struct. */
void start_free(SceneStart* start);
/* Reads the list `initial`; list is NULL if the key is absent. Call read_links first. */
void read_initials(Reader* reader, const Node* list);
/* Reads a signal with `channels` channels from a number, a list of numbers or a map. The signal owns its arrays. The
 * caller frees the arrays with signal_free_arrays, also after an error. */
void read_signal(Reader* reader, const Node* node, int channels, SceneSignal* signal);
/* Reads a signal from the rows of a CSV file (read_csv.c). The rows become keyframes or knots of a spline. If the last
 * three channels are a rotation, the file may have four columns with a quaternion in their place. After an error the
 * signal is zero at all times. The signal owns its arrays and the file name. */
void read_csv_signal(Reader* reader, const Node* map, const SignalForm* form, SceneSignal* signal);
/* Frees the arrays of a signal and its file name, but not the struct. */
void signal_free_arrays(SceneSignal* signal);
/* Returns the index of the link whose name is the text of `node`. Returns -1 after an error. */
int read_link_name(Reader* reader, const Node* node);
/* Returns the index of the link named by `node`, or -1 for the world. The result is the world if node is NULL, or if
 * the text is `world` and no link has this name. Returns -2 after an error. key: key of the node, for messages. */
int read_link_or_world(Reader* reader, const Node* node, const char* key);

/* Appends a zeroed link to the scene and returns it. Sets the link's place to `place` and its parent to -1. The scene
 * owns the link. Earlier pointers to links become invalid. */
SceneLink* reader_append_link(Reader* reader, SourcePosition place);

/* ---- scene.c
 * Excludes contact between the links or groups named a and b. The contact settings take ownership of both names. Does
 * not check that the links or groups exist. */
void contact_add_exclusion(SceneContact* contact, char* a, char* b, SourcePosition place);
/* Reads an included scene from a text. outer: reader of the including scene; the limits on the number of values apply
 * to both scenes together. path: path of the included file, for messages. text: `length` bytes followed by a NUL. scene
 * must be zeroed. The caller frees the scene with scene_free in any case. */
void scene_read_included(Scene* scene, const char* path, const char* text, size_t length, Reader* outer,
                         const LocatedOverride* overrides, int override_count);
/* Reads a scene from a text. Applies overrides (override_count), whose positions appear in messages. text: `length`
 * bytes followed by a NUL. scene must be zeroed. Returns STATUS_BAD_INPUT if an error was reported. The caller frees
 * the scene with scene_free in any case. */
Status scene_read_text(Scene* scene, const char* path, const char* text, size_t length, bool json,
                       const LocatedOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Reads a scene that is written inside another file, such as a task. root: root node of the scene in the document of
 * `outer`; the overrides change this document. The caller sets scene->path and scene->sha256 before the call, and frees
 * the scene with scene_free in any case. */
void scene_read_embedded(Scene* scene, Reader* outer, Node* root, const LocatedOverride* overrides, int override_count);
/* Returns the name of a scene, task or scenario. The name is the text of `node`. If node is NULL, the name is the file
 * name in `path` without folder and extension. Reports an error if the name is not allowed. owner: "scene", "task" or
 * "scenario", for messages. Never returns NULL. The caller frees the text with memory_free. */
char* read_title(Reader* reader, const Node* node, const char* owner, const char* path);

/* Sets material->given[k] for each material value k: true if the map has its key. Does not read the values. */
void read_material_flags(const Node* map, SceneMaterial* material);
/* Sets the friction coefficients of a link or of an item of contact.pairs in `material`. item: map with the keys
 * `friction` and `friction_axis`. form: value of `friction`, one number, or two numbers [along, across] the axis.
 * direction: value of `friction_axis`, a vector of any length but zero. */
void read_friction(Reader* reader, const Node* item, const NumberList* form, Vec3 direction, SceneMaterial* material);
/* Reports an error if `static_friction` is given and smaller than `friction`. */
void check_static_contact(Reader* reader, const Node* map, double friction, double static_friction);

/* ---- check.c */
/* Checks rules that concern the whole scene: masses, half-spaces and prescribed joints. Read all sections first.
 * Changes nothing in the scene. Reports errors and warnings. */
void check_scene(Reader* reader);

#endif
