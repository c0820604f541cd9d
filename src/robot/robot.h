/* robot: robots in formats of other programs as scenes: URDF (docs/urdf.md) and MJCF (docs/mjcf.md). Unsupported
 * features and changes are reported in remarks. SI units, radians, z up. */
#ifndef SDRS_ROBOT_H
#define SDRS_ROBOT_H

#include "model/model.h"

/* Maps package://name/... to folder/... */
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
  const RobotStart* starts; /* initial coordinates of joints; the others start at zero, or inside their limits */
  int start_count;
  bool free_base;
  bool has_height;        /* false: 0, or on the ground with free_base and ground */
  double height;          /* of the root link's frame [m] */
  bool ground;            /* a half-space below z = 0 */
  bool keep_fixed;        /* fixed joints stay links of their own */
  bool visual;            /* visual shapes where a link has no collision shapes */
  bool skip_unsupported;  /* leave out meshes of other formats, instead of an error */
  bool lenient;           /* repair limits, inertias and masses, each with a warning; implies skip_unsupported */
  bool no_self_collision; /* links of the robot never touch one another */
  bool from_shapes;       /* masses as given, spread by `mass_model` instead of by the inertia */
  MassModel mass_model;   /* with from_shapes: MASS_VERTICES or MASS_UNIFORM */
  double density;         /* of links without mass [kg/m^3]; 0 = they are errors */
  bool hull_per_group;    /* of meshes: one hull of each group ... */
  bool decompose;         /* ... or hulls that cover them; neither: one hull */
  bool primitives;        /* replace meshes by round solids that fit them (robot_round_shape) */
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
  char** files; /* included files, to which places of the scene point  (file_count) */
  int file_count;
  Text remarks; /* changes and omissions, a line each; also notes in the diagnostics */
} RobotReport;
/* Frees all and leaves a zeroed report; accepts a zeroed one. NULL is not accepted. */
void robot_report_free(RobotReport* report);
/* A note in the diagnostics, and a line of the report: printf style, one line without its end. No error. The text is
 * copied to both. */
void robot_remark(RobotReport* report, Diagnostics* diagnostics, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

/* Converts a URDF text to a scene ready for model_create and scene_write_yaml. text: `length` bytes and a NUL behind;
 * neither text nor options are kept. `path` names the text in messages and anchors relative paths. A link with mass
 * keeps its centre and inertia in `center` and `inertia` whatever its mass model. Returns STATUS_BAD_INPUT after
 * errors, all with their places; never STATUS_IO for the text itself. The caller frees scene and report in any case. */
Status robot_parse_urdf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);

/* As robot_parse_urdf for a MuJoCo file (MJCF). The file itself defines its bases: free_base and height have no effect.
 * With hold its actuators are left out. Places of the scene may point to report->files, which must outlive messages
 * about it. Errors and ownership as of robot_parse_urdf. */
Status robot_parse_mjcf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);
/* Returns true if the text's first element is <mujoco>. text must not be NULL, ends with NUL and need not be XML.
 * Allocates nothing. */
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
  double deviation; /* the larger of the distances of vertices outside it and of it before facets [m] */
  double relative;  /* deviation over the largest radius */
} RobotRound;
/* Returns true if the hull is nearly a solid of revolution, so that a round solid fits within a hundredth of its
 * radius. Sets fit to the solid that deviates least, in the hull's frame. Allocates nothing. */
bool robot_round_fit(const ConvexHull* hull, RobotRound* fit);
/* As robot_round_fit for a mesh or a list of points of the scene, in the shape's frame, by the first link of the model
 * that has it. Returns that link; -1 if none fits or the shape has several hulls. model: of that scene. Allocates
 * temporarily. */
int robot_round_shape(const Scene* scene, const Model* model, int shape, RobotRound* fit);
/* Appends `type: cylinder, radius: 0.1, length: 0.05`, six digits. Never fails. */
void robot_round_text(const RobotRound* fit, Text* out);

/* ---------------------------------------------------------------- a robot in equilibrium (robot/import.c) */

/* Owns everything; robot_free accepts a zeroed or half-made one. */
typedef struct {
  Scene scene;
  Model model; /* of that scene, but without the controllers that hold joints */
  RobotReport report;
  bool is_mjcf;
} Robot;

/* Reads the file, puts a free robot on the ground, excludes contact between parts that touch at the start, and holds
 * its joints. Returns STATUS_IO, or STATUS_BAD_INPUT with diagnostics. The caller frees it with robot_free in any case.
 */
Status robot_import(Robot* robot, const char* path, const RobotOptions* options, Diagnostics* diagnostics);
/* Frees all and leaves a zeroed robot. NULL is not accepted; a zeroed one is. */
void robot_free(Robot* robot);
/* Append the scene as it is written to the file `path` in `folder`: a head with `source`, the remarks and where each
 * joint went, then YAML. STATUS_BAD_INPUT when the text does not read back. out: empty on entry, as all of it is read
 * back. Allocates for the time of the call; out is the caller's own. */
Status robot_write_yaml(const Robot* robot, const char* source, const char* path, const char* folder, Text* out,
                        Diagnostics* diagnostics);
/* Returns the distance between a link's centre of mass by the mass model and by the file [m]; 0 if bit-identical. link:
 * valid number of the scene and the model, not checked. Allocates nothing. */
double robot_center_error(const Robot* robot, int link);
/* Returns the largest entry of the difference of the inertias over the largest of the file's; HUGE_VAL if only that is
 * zero. link is not checked. Allocates nothing. */
double robot_inertia_error(const Robot* robot, int link);

#endif
