/* robot: robots in formats of other programs as scenes - URDF (docs/urdf.md) and MJCF (docs/mjcf.md). What a scene
 * cannot say, or was changed, is reported in remarks. SI units, radians, z up. */
#ifndef SDRS_ROBOT_H
#define SDRS_ROBOT_H

#include "model/model.h"

/* package://name/... stands for folder/... */
typedef struct {
  const char *name, *folder;
} RobotPackage;

typedef struct {
  const char* joint; /* as the file names it */
  double value;      /* m or rad */
} RobotStart;

/* Zeroed: base fixed at the origin, collision shapes, masses as given, fixed joints merged. */
typedef struct {
  const RobotPackage* packages;
  int package_count;
  const RobotStart* starts; /* where joints start; others at zero, or inside their limits */
  int start_count;
  bool free_base;
  bool has_height;       /* false: 0, or on the ground with free_base and ground */
  double height;         /* of the root link's frame [m] */
  bool ground;           /* a half-space below z = 0 */
  bool keep_fixed;       /* fixed joints stay links of their own */
  bool visual;           /* visual shapes where a link has no collision shapes */
  bool skip_unsupported; /* leave out meshes of other formats, instead of an error */
  bool lenient; /* mend what can be mended, each with a warning: limits, inertias, masses; implies skip_unsupported */
  bool no_self_collision; /* links of the robot never touch one another */
  bool from_shapes;       /* masses as given, spread by `mass_model` instead of by the inertia */
  MassModel mass_model;   /* with from_shapes: MASS_VERTICES or MASS_UNIFORM */
  double density;         /* of links without mass [kg/m^3]; 0 = they are errors */
  bool hull_per_group;    /* of meshes: one hull of each group ... */
  bool decompose;         /* ... or hulls that cover them; neither: one hull */
  bool primitives;        /* round solids in place of meshes that they fit (robot_round_shape) */
  int max_vertices;       /* of these hulls; 0 = all, of a decomposition its default */
  const char* key;        /* MJCF: the keyframe that it starts in; NULL = home or the first, "none" */
  double hold;            /* a spring of so many Hz holds every joint where it starts; 0 = none */
  int threads;
} RobotOptions;

/* A joint of the file with one degree of freedom, and which of a link it became. */
typedef struct {
  char* name; /* owned */
  int link, dof;
  double effort; /* limit of a drive that holds it [N, N m]; 0: none */
} RobotJointPlace;

typedef struct {
  RobotJointPlace* joints;
  int joint_count;
  char** files; /* included ones, which places of the scene point to  (file_count) */
  int file_count;
  Text remarks; /* what was changed or left out, a line each; the same are notes in the diagnostics */
} RobotReport;
/* Frees all and leaves a zeroed report; accepts a zeroed one. NULL is not accepted. */
void robot_report_free(RobotReport* report);
/* A note in the diagnostics, and a line of the report: printf style, one line without its end. No error. The text is
 * copied to both. */
void robot_remark(RobotReport* report, Diagnostics* diagnostics, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/* The scene that a URDF text says, ready for model_create and scene_write_yaml; the caller frees scene and report in
 * any case. `path` stands for the text in messages and anchors relative paths. A link with mass keeps its centre and
 * inertia in `center` and `inertia` whatever its mass model. STATUS_BAD_INPUT after errors, all with their places.
 * text: `length` bytes and a NUL behind; not kept, nor are the options. Never STATUS_IO for the text itself. */
Status robot_parse_urdf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);

/* The same of a file of MuJoCo (MJCF). It says itself how its bases stand: free_base and height count for nothing. With
 * hold its actuators are left out. Places of the scene may point to report->files, which messages about it need.
 * Errors, and what the caller frees, as of robot_parse_urdf. */
Status robot_parse_mjcf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);
/* Is the text's first element <mujoco>? text ends with NUL and need not be XML. text must not be NULL; nothing is
 * allocated. */
bool robot_is_mjcf(const char* text);
/* Links or groups of the scene that never touch, by name: copies are appended to scene->contact, whether there are such
 * links or not. The scene owns the copies. Never fails. */
void robot_exclude(Scene* scene, const char* a, const char* b);

/* ---------------------------------------------------------------- round solids that fit (robot/revolution.c) */

/* A round solid with its lengths [m], those that its type has. */
typedef struct {
  ShapeType type; /* SHAPE_SPHERE .. SHAPE_CONE */
  double radius, length, width, rim, bottom_radius, top_radius;
  Vec3 position; /* of its frame in the hull's or the shape's [m] */
  Quat rotation;
  double deviation; /* the larger of how far vertices lie outside it and how far it lies before facets [m] */
  double relative;  /* deviation over the largest radius */
} RobotRound;
/* Is the hull nearly a solid of revolution: does a round solid fit it within a hundredth of its radius? fit becomes the
 * solid that deviates least, in the hull's frame. Allocates nothing. */
bool robot_round_fit(const ConvexHull* hull, RobotRound* fit);
/* The same of a mesh or a list of points of the scene, in the shape's frame, by the first link of the model that has
 * it. Returns that link; -1 where none fits or the shape has several hulls. model: of that scene. Allocates and frees
 * for itself. */
int robot_round_shape(const Scene* scene, const Model* model, int shape, RobotRound* fit);
/* Appends `type: cylinder, radius: 0.1, length: 0.05`, six digits. Never fails. */
void robot_round_text(const RobotRound* fit, Text* out);

/* ---------------------------------------------------------------- a robot that stands (robot/import.c) */

/* Owns everything; robot_free accepts a zeroed or half-made one. */
typedef struct {
  Scene scene;
  Model model; /* of that scene, but without the controllers that hold joints */
  RobotReport report;
  bool is_mjcf;
} Robot;

/* Read the file (STATUS_IO, STATUS_BAD_INPUT with diagnostics), put a free robot on the ground, exclude contacts of its
 * parts that touch at the start, hold its joints. All is the caller's to free by robot_free, after a failure too.
 */
Status robot_import(Robot* robot, const char* path, const RobotOptions* options, Diagnostics* diagnostics);
/* Frees all and leaves a zeroed robot. NULL is not accepted; a zeroed one is. */
void robot_free(Robot* robot);
/* Append the scene as it is written to the file `path` in `folder`: a head with `source`, the remarks and where each
 * joint went, then YAML. STATUS_BAD_INPUT when the text does not read back. out: empty on entry, as all of it is read
 * back. Allocates for the time of the call; out is the caller's own. */
Status robot_write_yaml(const Robot* robot, const char* source, const char* path, const char* folder, Text* out,
                        Diagnostics* diagnostics);
/* Effect of the mass model on a link with mass: distance of its centre from the file's [m]. link: of the scene and the
 * model, 0-based. 0 when they agree to the bit; another link is undefined, not checked. Allocates nothing. */
double robot_center_error(const Robot* robot, int link);
/* The largest entry of the inertias' difference over the largest of the file's; HUGE_VAL where only that is zero.
 * Without unit. Another link is undefined, not checked. Allocates nothing. */
double robot_inertia_error(const Robot* robot, int link);

#endif
