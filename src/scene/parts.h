/* parts: functions that read the sections of a scene from their forms (scene/forms.h) into the Scene. */
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
/* Calls `body` once for every item of a list entry. An entry with the key `repeat` makes several items: during each
 * call reader->indices holds the indices of the item. object, repeat_object: names of the schema objects of the entry
 * and of its map `repeat`. After the first item with errors, errors of later items of the entry are counted in the
 * reader but not reported. */
void repeat_expand(Reader* reader, const Node* entry, const char* object, const char* repeat_object, RepeatBody body);
/* Moves the origin of a joint, *position [m], and its *rotation to the pose of the current item of the repeat. Does
 * nothing outside a repeat. */
void repeat_pose(const Repeat* repeat, const Indices* indices, Vec3* position, Quat* rotation);
/* Adds the increments of the current item of a repeat to values[increments->width]. */
void repeat_add(const RepeatIncrements* increments, const Indices* indices, double* values);

/* ---- read_shape.c */
/* Reads the map `shapes` into the scene; map is NULL if the key is absent. Every read_ function of this header reports
 * errors through `reader`. */
void read_shapes(Reader* reader, const Node* map);
/* Reads the shapes of a link from `shape` (a name or a map) or `shapes` (a list). The link owns them. */
void read_shape_uses(Reader* reader, const LinkForm* form, SceneLink* link);
/* Returns the product of the three rotations of the form (rotation, rotation_vector, rpy), a unit quaternion. At most
 * one of the three is given; the others are the identity. */
Quat pose_form_rotation(const PoseForm* pose);

/* ---- read_link.c */
/* Returns the name that `node` gives to a link or a joint, owned by the caller. Reports characters that names must not
 * have. Returns NULL if node is NULL or is no name. */
char* read_own_name(Reader* reader, const Node* node);

/* ---- read_joint.c */
/* Reads the joint of a link. Sets *joint in any case. Returns false if, after errors, the number of degrees of freedom
 * is unknown. */
bool read_joint(Reader* reader, const Node* item, const LinkForm* form, const Repeat* repeat, SceneJoint* joint);
/* Sets values[dof] from `list`: a single number is used for all degrees of freedom, a list has one number for each.
 * key: key of the list, for messages. Returns false after an error, with values unchanged. */
bool spread_over_dof(Reader* reader, const NumberList* list, const char* key, int dof, double* values);
/* Returns true if the joint has no quaternion, or if values[] are equal for the three rotations of its quaternion.
 * values: one per degree of freedom. */
bool same_of_rotations(const Joint* joint, const double* values);
/* Reads a pair [low, high] with low < high. null in place of a number means no limit: -INFINITY or INFINITY. Returns
 * false after an error, and without an error if the node itself is null. */
bool read_open_pair(Reader* reader, const Node* node, double* low, double* high);
/* Warns if one of angles[count] [rad] is a whole number of at least ten, which is probably meant in degrees. */
void warn_of_degrees(Reader* reader, SourcePlace place, const double* angles, int count);
/* Gives the warning of warn_of_degrees for the keys `rpy` and `rotation_vector` of a map. pose: the values of these
 * keys. */
void warn_of_pose_degrees(Reader* reader, const Node* map, const PoseForm* pose);

/* ---- include_settings.c */
/* Adds a note about settings of `simulation` and `contact` of an included file that have no effect: they differ from
 * the defaults, and the including file does not set them. part, outer: root nodes of the included and of the including
 * file (outer is NULL if unknown). path: path of the included file; it must outlive the diagnostics. Equal notes are
 * added once. */
void note_unused_settings(const Node* part, const Node* outer, const char* path, Diagnostics* diagnostics);

/* ---- include.c
 * Reads the items of the list `include` and merges their files into the scene: items with the key `attach` if
 * `attached` is true, otherwise items without it. list is NULL if the key is absent. */
void read_includes(Reader* reader, const Node* list, bool attached);

/* ---- variables.c */
/* Reads the map `variables` into reader->variables; map is NULL if the key is absent. Reports invalid names. */
void read_variables(Reader* reader, const Node* map);

/* ---- read_feedback.c: measurements of a controller, and the matrix or network applied to them */
/* Reads the map `feedback` into the controller, which owns the arrays measures (measure_count) and feedback
 * (controller_feedback_count). */
void read_feedback(Reader* reader, const Node* node, SceneController* controller);

/* ---- read_link.c, read_controller.c, read_load.c, read_tendon.c, read_bushing.c, read_closure.c, read_coupling.c,
 * read_initial.c, read_signal.c, read_csv.c */
/* Reads the list `links`, with repeats; list is NULL if the key is absent. Reports parents that are used before their
 * definition. */
void read_links(Reader* reader, const Node* list);
/* Reads an item of `links`. repeat: the repeat of the item; zeroed if the item is not repeated. */
void read_link(Reader* reader, const Node* item, const Repeat* repeat);
/* ---- read_rod.c
 * Reads the list `rods`: adds the links of each rod, the bushings between them, and pairs excluded from contact. Call
 * it before read_links, because links may have links of rods as parents. list is NULL if the key is absent. */
void read_rods(Reader* reader, const Node* list);
/* Adds the bushings that fasten the ends of rods to links or to the world. Call it after read_initials, which
 * determines the initial poses of the links. */
void fasten_rods(Reader* reader);
/* Reads the list `controllers`; list is NULL if the key is absent. Call it after read_links. */
void read_controllers(Reader* reader, const Node* list);
/* Reads the list `loads`; list is NULL if the key is absent. Call it after read_links. */
void read_loads(Reader* reader, const Node* list);
/* Reads the list `tendons`; list is NULL if the key is absent. Call it after read_links. */
void read_tendons(Reader* reader, const Node* list);
/* Frees the arrays and the signal that a tendon owns, but not the struct. */
void tendon_free(SceneTendon* tendon);
/* Reads the list `bushings`; list is NULL if the key is absent. Call it after read_links. */
void read_bushings(Reader* reader, const Node* list);
/* Appends a copy of `bushing` to the bushings of the scene. If the scene has BUSHING_MAX bushings, reports an error and
 * stops the reader. */
void add_bushing(Reader* reader, const SceneBushing* bushing);
/* Frees the signal of a closure, but not the struct, which the scene owns. */
void closure_free(SceneClosure* closure);
/* Reads the list `closures`; list is NULL if the key is absent. Call it after read_links. */
void read_closures(Reader* reader, const Node* list);
/* Reads the list `couplings`; list is NULL if the key is absent. Call it after read_links. */
void read_couplings(Reader* reader, const Node* list);
/* Largest number of terms of a coupling, and of the length of a tendon without points. */
enum { COUPLING_TERMS_MAX = 8 };
/* Appends the items of a list of coordinates to coupling->terms, which must have room for COUPLING_TERMS_MAX terms.
 * key: key of the list, for messages. Reports invalid, duplicate and excess items. */
void read_coupling_terms(Reader* reader, const Node* list, const char* key, SceneCoupling* coupling);
/* Reads the map `start` into scene->start: the run folder, and the stored state with its time [s]. The scene owns them.
 * map is NULL if the key is absent (read_start.c). */
void read_start_state(Reader* reader, const Node* map);
/* Frees the stored state and the path of its run, and zeroes the struct. Accepts a zeroed struct. */
void start_free(SceneStart* start);
/* Reads the list `initial`; list is NULL if the key is absent. Call it after read_links. */
void read_initials(Reader* reader, const Node* list);
/* Reads a signal with `channels` channels from a number, a list of numbers or a map. The signal owns its arrays; the
 * caller frees them with signal_free_arrays, also after an error. */
void read_signal(Reader* reader, const Node* node, int channels, SceneSignal* signal);
/* Reads rows of a CSV file as keyframes, or as knots of a spline (read_csv.c). The last three channels may be a
 * rotation, for which the file may have four columns with a quaternion. After an error the signal is zero at all times.
 * The signal owns its arrays and the file name. */
void read_csv_signal(Reader* reader, const Node* map, const SignalForm* form, SceneSignal* signal);
/* Frees the arrays of a signal and its file name, but not the struct. */
void signal_free_arrays(SceneSignal* signal);
/* Returns the index of the link whose name is the text of `node`; -1 after an error. */
int read_link_name(Reader* reader, const Node* node);
/* Returns the index of the link whose name is the text of `node`. Returns -1 for the world: if node is NULL, or if the
 * text is `world` and no link has this name. Returns -2 after an error. key: key of the node, for messages. */
int read_link_or_world(Reader* reader, const Node* node, const char* key);

/* Appends a zeroed link with this place and parent -1, and returns it. The scene owns the link. Invalidates earlier
 * pointers to links. */
SceneLink* reader_add_link(Reader* reader, SourcePlace place);

/* ---- scene.c
 * Excludes contact between the links or groups named a and b. Takes ownership of both names. Does not check that they
 * exist. */
void contact_add_exclusion(SceneContact* contact, char* a, char* b, SourcePlace place);
/* Reads a scene that the scene of `outer` includes; the limits on the number of values apply to both together. path:
 * path of the included file, which messages name. text: `length` bytes followed by a NUL. scene must be zeroed. The
 * caller frees it with scene_free in any case. */
void scene_read_part(Scene* scene, const char* path, const char* text, size_t length, Reader* outer,
                     const PlacedOverride* overrides, int override_count);
/* Reads a scene as scene_parse does, with overrides that have their own places. scene must be zeroed. Returns
 * STATUS_BAD_INPUT if an error was reported. The caller frees the scene with scene_free in any case. */
Status scene_read_text(Scene* scene, const char* path, const char* text, size_t length, bool json,
                       const PlacedOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Reads a scene that is written inside the file of `outer`, such as in a task. root: root node of the scene in the
 * document of `outer`; the overrides change this document. The caller sets scene->path and scene->sha256 before the
 * call, and frees the scene with scene_free in any case. */
void scene_read_inside(Scene* scene, Reader* outer, Node* root, const PlacedOverride* overrides, int override_count);
/* Returns a copy of the name in `node`, or if node is NULL the file name in `path` without folder and extension.
 * Reports a name that is not allowed; owner: "scene", "task" or "scenario", for messages. Never returns NULL. The
 * caller frees the text with memory_free. */
char* read_file_name(Reader* reader, const Node* node, const char* owner, const char* path);

/* Sets material->given[k] to whether the map has the key of material value k. */
void read_material(const Node* map, SceneMaterial* material);
/* Reads `friction` and `friction_axis` of a link or of an item of contact.pairs into `material`. form: the numbers of
 * `friction`, one, or two for [along, across]. direction: `friction_axis`, of any length but zero. */
void read_friction(Reader* reader, const Node* item, const NumberList* form, Vec3 direction, SceneMaterial* material);
/* Reports an error if `static_friction` is given and smaller than `friction`. */
void check_static_contact(Reader* reader, const Node* map, double friction, double static_friction);

/* ---- check.c */
/* Checks masses, half-spaces and prescribed joints, for which the whole scene must be read. Changes nothing in the
 * scene. Reports errors and warnings. */
void check_scene(Reader* reader);

#endif
