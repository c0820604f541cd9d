/* export: a model or a recorded run in the formats of other programs: MJCF, URDF, glTF, OBJ, STL, 3MF; feedback as
 * JSON and C. Everything is appended to texts of the caller; nothing is kept. */
#ifndef SDRS_EXPORT_H
#define SDRS_EXPORT_H

#include "render/render.h"

/* The model as MJCF for MuJoCo 2.2.2 or later: one file that needs no other. controls: the actuators' controls over the
 * run as CSV, left empty when they do not change. feedback: what drives with feedback add to their controls, as CSV,
 * `actuator,sensor,component,factor,delay,period`: factor times that number of the sensor so many seconds ago, measured
 * once a period (rates: the means over it) [s]; left empty where none has any. What MuJoCo has no exact counterpart for
 * is noted in diagnostics, with `path` as the file. Metres, kg, radians. path is borrowed for messages alone; never
 * fails. The three texts are the caller's own; none may be NULL. */
void export_mjcf(const Model* model, const char* path, Text* mjcf, Text* controls, Text* feedback,
                 Diagnostics* diagnostics);

/* The model as URDF, all joints at zero. `meshes`: what references to mesh files begin with ("robot_meshes/"); the
 * files are those of export_urdf_mesh. What URDF cannot say is left out, reported as notes with `path` as their file,
 * and stands in a comment. STATUS_BAD_INPUT after an error for each link whose joint it has no counterpart for. Nothing
 * is appended then. Metres, kg, radians. docs/urdf.md. urdf is the caller's own. */
Status export_urdf(const Model* model, const char* path, const char* meshes, Text* urdf, Diagnostics* diagnostics);
/* Name of the file that a hull is in (its content: run_hull_obj); false: it is in none. hull: index into
 * model->hulls; name is overwritten. No two hulls have the same. Another hull is undefined, not checked; name is the
 * caller's own. */
bool export_urdf_mesh(const Model* model, int hull, Text* name);

/* The feedback of a drive that has some as JSON, with the keys of `feedback` in a scene, which reads it back.
 * controller: index into model->controllers. Appended to the caller's text; never fails. */
void export_policy_json(const Model* model, int controller, Text* out);
/* The same as a header for C: for every drive with feedback, or for one (controller >= 0), its numbers and a function
 * that evaluates them in the units of the scene. Appended to the caller's text; never fails. */
void export_policy_c(const Model* model, int controller, Text* out);

/* A recorded run of a glTF file. Everything is borrowed. */
typedef struct {
  const char* name; /* of one among several */
  const Model* model;
  const RunPoses* run;
} GlbPart;
/* Recorded runs or designs, parts[count], as a binary glTF 2.0 file: the bounded hulls of every link under a node of
 * its name, with its colour and its motion as an animation at about `fps` moments per second; half-spaces as squares as
 * wide as the run. Several stand beside each other, under a node each: what `name` says, its links as `name/link`.
 * Metres, Y up (a root node turns Z to Y). *moments = of the longest animation. out stays the caller's; never fails;
 * allocates for the time of the call. */
void export_glb_parts(Text* out, const GlbPart* parts, int count, double fps, int* moments);

typedef enum { SURFACE_OBJ, SURFACE_STL, SURFACE_3MF } SurfaceFormat;

typedef struct {
  SurfaceFormat format;
  bool pieces; /* every convex piece as a solid of its own, instead of each link's union */
  int threads;
  double grow; /* before they are united every corner of a piece moves so far out from the piece's middle [m] */
} SurfaceOptions;

/* Summary of a written file, measured on the numbers in it. */
typedef struct {
  int pieces, triangles; /* solids: one per link, or one per hull of those that are not united */
  bool united;           /* each link's hulls are one surface; not asked for with `pieces` */
  const char* reason; /* why a link could not be united (constant), or NULL; its hulls are solids of their own then */
  int reason_link;
  double snap;      /* points nearer than this were made one by the union [m] */
  bool closed;      /* every edge has a triangle on both sides */
  bool manifold;    /* exactly one on each */
  int pinches;      /* points in which a surface touches itself */
  bool oriented;    /* neighbours run their edge opposite ways, the outside is outside */
  int components;   /* groups of hulls that touch */
  int cavities;     /* voids inside solids */
  int overlaps;     /* pairs of hulls with common volume, which `volume` counts twice where they are not united */
  Vec3 low, high;   /* box [m] */
  double volume;    /* sum of the solids [m^3] */
  double mass;      /* of the links, by their mass model [kg] */
  double thickness; /* of the thinnest wall [m] (surface_thickness); not united: of the thinnest hull */
  double thickness_spacing; /* distance of the samples of the wall [m]; 0 when not united */
} SurfaceReport;

/* Append the bounded hulls of a link (-1 = of all) under the poses[links], as OBJ in metres, binary STL or 3MF in
 * millimetres. Nothing fails: what is wrong with the surface is in the report, which owns nothing. */
SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses, const SurfaceOptions* options);

/* ---------------------------------------------------------------- assembly (export/assembly.c) */

enum { REMOVAL_LEGS_MAX = 32 };
/* A way out of the assembly: straight legs without a turn, each proved free of all other links, jointed ones and
 * excluded pairs too, which stay where they are. */
typedef struct {
  bool apart;                 /* where it stands it meets nothing; else there is no way */
  bool found;                 /* false: not among the places that were tried */
  int legs;                   /* 0: there is nothing to come out of */
  Vec3 way[REMOVAL_LEGS_MAX]; /* where it is at the end of each, from where it stands, world [m]  (legs) */
  double gap;                 /* smallest at their ends [m]; INFINITY: nothing is near */
  int places;                 /* that were tried */
} RemovalReport;
/* For a link 0 ... links - 1, which moves while all others stay. poses[links]: where they stand, world. In the
 * report nothing is owned. Never fails; allocates for the time of the call. */
RemovalReport export_removal(const Model* model, const Pose* poses, int link, int threads);

/* ---------------------------------------------------------------- bytes of files (export/text.c) */

/* Appends the text with & < > " escaped, which XML and HTML understand alike. text must not be NULL; out is the
 * caller's own. */
void xml_add_escaped(Text* out, const char* text);
/* Appends an integer little-endian, in 1 to 4 bytes; higher bits are dropped. Another number of bytes is an error of
 * the caller, not checked. out is the caller's own. */
void bytes_add_integer(Text* out, uint32_t value, int bytes);
/* Appends a number little-endian, as a float of 4 bytes. Never fails: what is too large for one becomes infinite.
 * out is the caller's own. */
void bytes_add_float(Text* out, double value);

#endif
