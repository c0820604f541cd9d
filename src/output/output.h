/* output: the run folder (CSV files and summary.json), and reading and comparing CSV files.
 * A writer is one file and one row in the table of run_folder.c. Numbers are printed so that they read back to the
 * same double; files are written beside their name and renamed, so a killed run leaves no half file. */
#ifndef SDRS_OUTPUT_H
#define SDRS_OUTPUT_H

#include "simulate/simulate.h"

/* ---------------------------------------------------------------- run folder (output/run_folder.c) */

/* One state of a run, as the writers see it. Everything is borrowed. */
typedef struct {
  const SimState* state;
  const StepReport* report; /* of the step that led here; NULL for the initial state */
  SimMeasure measure;
  const SimContact* contacts; /* (contact_count) */
  int contact_count;
  SimPath path; /* moves that led here from the frame before */
} OutputFrame;

/* The open CSV files of a run. Owns its streams, borrows the model. */
typedef struct Output Output;

/* Make the folder (with parents) and open trajectory.csv, joints.csv, contacts.csv, solver.csv, path.csv with their
 * header lines. STATUS_IO with a diagnostic that names the file and the reason. */
Status output_open(Output** result, const char* folder, const Model* model, Diagnostics* diagnostics);
/* Add the rows of one state. The first failed write is reported at once, not at the end of the run. */
Status output_frame(Output* output, const OutputFrame* frame, Diagnostics* diagnostics);
/* Flush and rename all files, or none when one could not be written; frees in any case. Accepts NULL. */
Status output_close(Output* output, Diagnostics* diagnostics);
/* Throw the unfinished files away. Accepts NULL. */
void output_discard(Output* output);

/* ---------------------------------------------------------------- summary (output/summary.c) */

enum { OUTPUT_LIBRARIES_MAX = 9 };

/* The program that ran. Every text is borrowed and constant. */
typedef struct {
  const char *version, *commit, *build_flags, *compiler;
  struct {
    const char *name, *version;
  } libraries[OUTPUT_LIBRARIES_MAX];
  int library_count;
} OutputProgram;

/* A file that the run read. */
typedef struct {
  char* path;
  char sha256[65]; /* "" when it could not be read again */
} OutputInput;

/* The scene file, then every mesh once, in order of appearance; the caller frees with output_inputs_free. */
OutputInput* output_inputs(const Scene* scene, int* count);
void output_inputs_free(OutputInput* inputs, int count);

/* Sums and extremes over the finished steps of a run. */
typedef struct {
  int steps;
  double time; /* s, reached */
  int64_t iterations, trials, certified_intervals, factor_retries;
  int iterations_max, active_pairs_max, candidate_pairs_max;
  int substeps_max;         /* of a step */
  int halved_steps;         /* taken in more substeps than the scene asks for */
  int rounding_floor_steps; /* steps that ended at the rounding floor, above the tolerance */
  double residual_max;      /* relative to the forces at work */
  double smallest_gap;      /* over the recorded states [m]; INFINITY when no pair was ever near */
  double smallest_gap_time; /* s */
} OutputTotals;
OutputTotals output_totals_start(void);
void output_totals_step(OutputTotals* totals, const StepReport* report, const SimState* state);
void output_totals_measure(OutputTotals* totals, const SimMeasure* measure, const SimState* state);

typedef struct {
  const OutputProgram* program;
  const Model* model;
  const OutputInput* inputs;
  int input_count;
  const SceneOverride* overrides;
  int override_count;
  int threads;
  OutputTotals totals;
  ExitCode exit_code;
  const char* stop;          /* why the run ended, in words */
  const StepReport* failure; /* the step that failed, or NULL */
  SimTimes step_times;       /* s */
  double scene_seconds, model_seconds, setup_seconds, output_seconds, total_seconds;
} OutputSummary;

/* The text of summary.json. Numbers that are not finite become null. */
void output_summary_json(Text* text, const OutputSummary* summary);
/* Name of the link that owns a degree of freedom, for messages; "?" when there is none. */
const char* output_link_of_dof(const Model* model, int dof);

/* ---------------------------------------------------------------- meshes (output/write_obj.c) */

/* The hulls of a link in its frame, one `o` group each. STATUS_IO with a diagnostic. */
Status output_link_obj(const char* path, const Model* model, int link, Diagnostics* diagnostics);
/* The same of one hull, as text. */
void output_hull_obj(Text* out, const Model* model, int hull);

/* ---------------------------------------------------------------- plots (output/plot*.c) */

/* Texts are borrowed; NULL: what the table or the run itself says. */
typedef struct {
  int width, height; /* px */
  bool log_y;        /* logarithmic also where the plot is not by itself */
  bool log_x;
  const char *title, *x_label, *y_label;
  /* Of plot_columns: the column across, and the column of which each value has a curve of its own. */
  const char *x, *by;
} PlotOptions;
PlotOptions plot_defaults(bool overview);

/* Name of a plot of a run, "energy"; NULL after the last. */
const char* plot_name(int index);
/* Draw the plot `what` of a run folder, or all for which there is something (NULL), with the gnuplot program. The
 * ending of `path` chooses PNG or SVG. STATUS_IO with an explanation when gnuplot is not installed. */
Status plot_run(const char* path, const char* folder, const char* what, const PlotOptions* options,
                Diagnostics* diagnostics);
/* Draw the columns of a CSV file that match the comma-separated list of shell patterns, against options->x, else
 * against `time`, else against the first column. Points are joined in the order of the rows. */
Status plot_columns(const char* path, const char* file, const char* patterns, const PlotOptions* options,
                    Diagnostics* diagnostics);
/* The run's file that has such a column, owned by the caller; NULL when none has. */
char* plot_file_with(const char* folder, const char* patterns);

/* ---------------------------------------------------------------- JSON text (output/json.c)
 * Indented by two spaces; key is NULL inside an array. Numbers that are not finite become null. */
typedef struct {
  Text* out;
  int depth;
  bool comma; /* something stands before on this level */
} Json;
void json_open(Json* json, const char* key, char bracket);      /* '{' or '[' */
void json_close(Json* json, char bracket);                      /* '}' or ']' */
void json_text(Json* json, const char* key, const char* value); /* NULL becomes null */
void json_number(Json* json, const char* key, double value);
void json_integer(Json* json, const char* key, int64_t value);
void json_bool(Json* json, const char* key, bool value);
void json_vector(Json* json, const char* key, const double* values, int count); /* on one line */
/* A bare number, null when not finite: for text that is not indented. */
void json_add_number(Text* out, double value);

/* ---------------------------------------------------------------- CSV (output/csv.c, output/compare.c) */

/* Append a field, quoted when it holds a comma, a quote or a line break. */
void csv_add_field(Text* row, const char* text);

/* A CSV file in memory: one header line, every row as long as the header. Owns everything. */
typedef struct {
  char* data; /* the file, cut into the cells */
  char** names;
  int column_count;
  char** cells; /* (row_count * column_count) */
  int* lines;   /* line of the file where the row begins (row_count) */
  int row_count;
} CsvTable;

/* Read a file: comma, quoted fields, LF or CRLF. STATUS_IO when it cannot be read, STATUS_BAD_INPUT when it is not
 * CSV (no header, a row of another length, an open quote); both with a diagnostic. */
Status csv_read(CsvTable* table, const char* path, Diagnostics* diagnostics);
void csv_free(CsvTable* table);
/* Index of a column, -1 when there is none. */
int csv_column(const CsvTable* table, const char* name);
const char* csv_cell(const CsvTable* table, int row, int column);
double csv_value(const CsvTable* table, int row, int column); /* NAN where the cell is no number */
/* A cell as a number; false with a diagnostic that names line and column when it is not a finite one. */
bool csv_number(const CsvTable* table, const char* path, int row, int column, double* value, Diagnostics* diagnostics);

/* The cell where something is worst; column -1 = nowhere. */
typedef struct {
  double value;
  int column, row; /* indices into table a */
} CompareWorst;

/* Difference of two tables. Numbers a, b agree within |a - b| <= abs + rel max(|a|, |b|); NaN agrees with NaN only and
 * infinities with themselves, any other difference to them is infinite; cells that are not both numbers must be the
 * same text. */
typedef struct {
  double abs, rel;
  int64_t values, different, outside; /* compared; not equal; beyond the tolerance */
  CompareWorst worst_absolute, worst_relative;
  CompareWorst worst; /* largest |a - b| / (abs + rel max(|a|, |b|)): what to look at first */
} Comparison;

/* Compare the columns that match the comma-separated list of shell patterns (NULL = all), matched by name.
 * STATUS_BAD_INPUT with diagnostics when the tables do not have the same columns or rows. */
Status csv_compare(Comparison* comparison, const CsvTable* a, const char* name_a, const CsvTable* b, const char* name_b,
                   const char* columns, double abs, double rel, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- pictures (output/render*.c) */

typedef enum { RENDER_ISO, RENDER_FRONT, RENDER_SIDE, RENDER_TOP } RenderView;

/* Poses of the link frames of a recorded run. Owns its arrays. */
typedef struct {
  int row_count, link_count;
  double* time; /* s        (rows) */
  Pose* pose;   /* world    (rows x links) */
} RunPoses;

/* Read `trajectory.csv` of a run of this model; columns are found by their names. A file that does not fit the model,
 * or has no row, or a number that is not finite: STATUS_BAD_INPUT with file and line. */
Status run_poses_read(RunPoses* run, const char* path, const Model* model, Diagnostics* diagnostics);
void run_poses_free(RunPoses* run);

/* Recorded joint coordinates. */
typedef struct {
  int row_count, coordinate_count;
  double* time; /* s  (rows) */
  double* q;    /* as written: m, rad, quaternions  (rows x nq) */
} RunCoordinates;

/* Read `joints.csv` of a run of this model, like run_poses_read. */
Status run_coordinates_read(RunCoordinates* run, const char* path, const Model* model, Diagnostics* diagnostics);
void run_coordinates_free(RunCoordinates* run);

/* Recorded moves. */
typedef struct {
  int row_count, dof_count;
  double* time;  /* of the state that a move leads to or towards [s]  (rows) */
  double* delta; /* m, rad  (rows x nv) */
  int* line;     /* of the file  (rows) */
} RunPath;

/* Read `path.csv` of a run of this model, like run_poses_read; a file that is not there has no rows. */
Status run_path_read(RunPath* run, const char* path, const Model* model, Diagnostics* diagnostics);
void run_path_free(RunPath* run);

/* A row of contacts.csv: what a touching pair of links exerts. */
typedef struct {
  double time; /* s */
  int a, b;    /* links */
  double gap;  /* m */
  Vec3 force;  /* on b, world [N] */
} RunContact;

/* Contacts of a recorded run, by rising time. Owns its rows. */
typedef struct {
  int count;
  RunContact* rows;
} RunContacts;

/* Read `contacts.csv` of a run of this model. STATUS_IO, STATUS_BAD_INPUT with file and line as for run_poses_read. */
Status run_contacts_read(RunContacts* contacts, const char* path, const Model* model, Diagnostics* diagnostics);
void run_contacts_free(RunContacts* contacts);

/* What is drawn. Everything is borrowed. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const RunContacts* contacts; /* for RENDER_FORCES; NULL: none were recorded */
  const Model* initial;        /* for RENDER_DISPLACEMENT: the same hulls before they were moved; NULL: nothing moved */
  const char* caption;         /* the title; NULL: the scene's name */
} RenderSubject;

enum { RENDER_PATH_NONE = -1, RENDER_PATH_ALL = -2 };

/* What is laid over a picture on request (RenderOptions.show). */
enum {
  RENDER_CONTACTS = 1 << 0,     /* a dot where two hulls press on each other */
  RENDER_FORCES = 1 << 1,       /* the force of every touching pair of links as an arrow */
  RENDER_PLANES = 1 << 2,       /* the planes that part hulls near each other */
  RENDER_EDGES = 1 << 3,        /* every edge of every hull, not the sharp ones only */
  RENDER_DISPLACEMENT = 1 << 4, /* colour by the distance of the vertices from those of the initial design */
};

typedef struct {
  int width, height; /* px, of one panel */
  RenderView view;
  double zoom;      /* > 0; 1 = everything fits over the whole run */
  bool has_look_at; /* look_at [m] stands in the middle of the picture */
  Vec3 look_at;
  int follow;     /* the camera moves with this link; -1 = it stands still */
  double time;    /* s, the nearest recorded moment is shown; NAN = the last */
  int strip;      /* panels side by side, from the first moment to the last; 0 = one picture */
  int path;       /* the way of this link's centre of mass; RENDER_PATH_NONE, RENDER_PATH_ALL: of all that can move */
  int trail;      /* earlier moments laid over the picture as ghosts; 0 = none */
  double fps;     /* frames and films: pictures per simulated second */
  bool labels;    /* title, ticks, names */
  unsigned show;  /* RENDER_CONTACTS and so on */
  double newtons; /* of the arrow in the key; 0 = a round number that suits the run */
  int threads;
} RenderOptions;
RenderOptions render_defaults(void);

/* What is drawn together: one subject, or two side by side, seen by the same camera and to the same scale. Links that
 * the options name have the same index in both. */
typedef struct {
  const RenderSubject* subjects; /* (count) */
  int count;
} RenderSubjects;
enum { RENDER_SUBJECTS_MAX = 2 };

/* One PNG (a single picture, or a strip of one subject). */
Status render_picture(const char* path, RenderSubjects subjects, const RenderOptions* options,
                      Diagnostics* diagnostics);
/* `folder`/frame_00000.png and so on, at options->fps. *count = pictures written. */
Status render_frames(const char* folder, RenderSubjects subjects, const RenderOptions* options, int* count,
                     Diagnostics* diagnostics);
/* A film by the ffmpeg program; STATUS_IO with an explanation when it is not installed. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics);
/* Seconds that one picture of a subject takes, by what is drawn. */
typedef struct {
  double bodies, marks, words, png;
  size_t bytes; /* of the PNG */
} RenderTimes;
/* Draw `count` moments, spread evenly over the run, without writing them (times: count). Returns the seconds spent
 * before the first: camera, edges, extents. */
double render_measure(const RenderSubject* subject, const RenderOptions* options, int count, RenderTimes* times);
/* The hulls of two models answer to each other: as many, on the same links, with as many vertices. */
bool render_same_hulls(const Model* model, const Model* initial);

/* ---------------------------------------------------------------- a page to look at (output/page*.c) */

/* Version of three.js in the page's template, by its length; 0 where this build has no template (scripts/make_page.sh).
 */
int page_library_version(const char** version);

/* STATUS_IO where this build has no template, with a diagnostic that says what to do. */
Status page_available(Diagnostics* diagnostics);

/* What a page shows. Everything is borrowed. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const char* folder; /* of the run: its CSV files and summary.json; NULL for a scene by itself */
  const char* design; /* of sdrs optimize, whose best design the run is: its convergence.csv, design/, summary.json;
                         NULL = none */
  const RunPoses* initial; /* of the optimization's initial design, with the same links; NULL = not shown */
  double fps; /* moments per simulated second; 0 = all recorded ones, or as many as a page of 5 MB can hold */
} PageSource;

/* How much of the run the page holds. */
typedef struct {
  int moments, recorded;
  int designs; /* with their shapes */
} PageExtent;

/* One HTML file that needs no other and no network. STATUS_IO or STATUS_BAD_INPUT with diagnostics; STATUS_IO also
 * where the build has no template. */
Status page_write(Text* out, const PageSource* source, PageExtent* extent, Diagnostics* diagnostics);

/* A part and the hulls that it was decomposed into, as a PNG of three panels: the part's surface, the hulls in place,
 * each of its colour, and the hulls moved apart (output/render_hulls.c). Coordinates of any size; up: 0, 1, 2 for x, y,
 * z. */
typedef struct {
  const ConvexHull* surface; /* of the part: triangles, not convex */
  const ConvexHull* hulls;
  int hull_count;
  int up;
} HullPicture;
Status render_hulls(const char* path, const HullPicture* picture, int threads, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- other programs' formats (output/export_*.c) */

/* The model as MJCF for MuJoCo 2.2.2 or later: one file that needs no other. controls: the actuators' controls over the
 * run as CSV, left empty when they do not change. What MuJoCo has no exact counterpart for is noted in diagnostics,
 * with `path` as the file. */
void export_mjcf(const Model* model, const char* path, Text* mjcf, Text* controls, Diagnostics* diagnostics);

/* The model as URDF, all joints at zero. `meshes`: what references to mesh files begin with ("robot_meshes/"); the
 * files are those of export_urdf_mesh. What URDF cannot say is left out, told as notes with `path` as their file, and
 * stands in a comment. STATUS_BAD_INPUT after an error for each link whose joint it has no counterpart for.
 * docs/urdf.md */
Status export_urdf(const Model* model, const char* path, const char* meshes, Text* urdf, Diagnostics* diagnostics);
/* Name of the file that a hull is in (its content: output_hull_obj); false: it is in none. */
bool export_urdf_mesh(const Model* model, int hull, Text* name);

/* A recorded run as a binary glTF 2.0 file: the bounded hulls of every link under a node of its name, with its colour
 * and its motion as an animation at about `fps` moments per second; half-spaces as squares as wide as the run. Metres,
 * Y up (a root node turns Z to Y). *moments = of the animation. */
void export_glb(Text* out, const Model* model, const RunPoses* run, double fps, int* moments);

/* The same of several runs or designs beside each other, under a node each: what `name` says, its links as
 * `name/link`. Everything is borrowed. */
typedef struct {
  const char* name;
  const Model* model;
  const RunPoses* run;
} GlbPart;
void export_glb_parts(Text* out, const GlbPart* parts, int count, double fps, int* moments);

typedef enum { SURFACE_OBJ, SURFACE_STL, SURFACE_3MF } SurfaceFormat;

typedef struct {
  SurfaceFormat format;
  bool pieces; /* every convex piece as a solid of its own, instead of each link's union */
  int threads;
} SurfaceOptions;

/* What was written, measured on the numbers that are in the file. */
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

/* Append the bounded hulls of a link (-1 = of all) under the poses (links), as OBJ in metres, binary STL or 3MF in
 * millimetres. */
SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses, const SurfaceOptions* options);

#endif
