/* render: images and films of a run by a software rasterizer, and plots by the gnuplot program. Inputs are borrowed;
 * files are written atomically. */
#ifndef SDRS_RENDER_H
#define SDRS_RENDER_H

#include "run/run.h"

/* ---------------------------------------------------------------- pictures */

typedef enum { RENDER_ISO, RENDER_FRONT, RENDER_SIDE, RENDER_TOP } RenderView;

/* A model and a run to be drawn. All pointers are borrowed. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const RunContacts* contacts; /* for RENDER_FORCES; NULL: not recorded */
  const Model* initial; /* for RENDER_DISPLACEMENT: the initial design with the same hulls; NULL: no displacement */
  const char* caption;  /* title; NULL: the scene's name */
} RenderSubject;

enum { RENDER_PATH_NONE = -1, RENDER_PATH_ALL = -2 };

/* Overlays of a picture (RenderOptions.show). */
enum {
  RENDER_CONTACTS = 1 << 0,     /* a dot where two hulls are in contact */
  RENDER_FORCES = 1 << 1,       /* an arrow for the force of every pair of links in contact */
  RENDER_PLANES = 1 << 2,       /* separating planes of nearby hulls */
  RENDER_EDGES = 1 << 3,        /* all edges of all hulls, not only sharp ones */
  RENDER_DISPLACEMENT = 1 << 4, /* colour by the distance of the vertices from those of the initial design */
};

typedef struct {
  int width, height; /* size of one panel [px] */
  RenderView view;
  bool has_azimuth, has_elevation;
  double azimuth, elevation; /* degrees, instead of the view's: azimuth from x about up, elevation above the ground */
  double zoom;               /* > 0; 1 = the whole run fits into the image */
  bool has_look_at;          /* look_at [m] is at the image centre */
  Vec3 look_at;
  int follow;     /* link that the camera moves with; -1 = fixed camera */
  double time;    /* time [s] of the image (nearest recorded moment); NAN = the last */
  int strip;      /* number of panels side by side, from the first to this moment; 0 = one image */
  int path;       /* link whose centre-of-mass path is drawn; RENDER_PATH_NONE, RENDER_PATH_ALL: of all movable links */
  int trail;      /* number of earlier moments drawn as ghosts; 0 = none */
  double fps;     /* frames and films: images per simulated second */
  bool labels;    /* title, ticks, names */
  unsigned show;  /* RENDER_CONTACTS and so on */
  double newtons; /* force of the key's arrow [N]; 0 = a round number chosen from the forces of the run */
  int threads;
} RenderOptions;
/* Returns the default options: one image of 960 x 720 px of the last recorded row, with a fixed camera. */
RenderOptions render_defaults(void);

/* One or two subjects drawn side by side with the same camera and scale. Links named by the options have the same index
 * in both. */
typedef struct {
  const RenderSubject* subjects; /* (count) */
  int count;
} RenderSubjects;
enum { RENDER_SUBJECTS_MAX = 2 };

/* Writes one PNG: an image, or a strip of images of one subject. Returns STATUS_IO with an error in diagnostics if this
 * fails; an existing file is then unchanged. */
Status render_picture(const char* path, RenderSubjects subjects, const RenderOptions* options,
                      Diagnostics* diagnostics);
/* Writes `folder`/frame_00000.png, frame_00001.png, ... at options->fps. Creates the folder, and removes frames of an
 * earlier call with higher numbers. Sets *count to the number of images. Returns STATUS_IO with an error in diagnostics
 * if an image cannot be written; *count is then 0. */
Status render_frames(const char* folder, RenderSubjects subjects, const RenderOptions* options, int* count,
                     Diagnostics* diagnostics);
/* Writes a film at options->fps with the program ffmpeg. Sets *count to the number of images. Returns STATUS_IO with an
 * error in diagnostics if ffmpeg is not installed or fails; an existing file is then unchanged. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics);
/* Computing time of the stages of one image [s]. */
typedef struct {
  double bodies, marks, words, png;
  size_t bytes; /* of the PNG */
} RenderTimes;
/* Draws images of `count` times, equally spaced over the run, without writing them. Sets times (count) to the computing
 * times of each image. Returns the time [s] of the preparation before the first image: camera, edges and extents. Never
 * fails. */
double render_measure(const RenderSubject* subject, const RenderOptions* options, int count, RenderTimes* times);
/* Returns true if the hulls of two models correspond: the same number of hulls, on the same links, with the same
 * numbers of vertices. The positions of the vertices may differ. */
bool render_same_hulls(const Model* model, const Model* initial);

/* A part and its decomposition, for an image of three panels: the part's surface, the coloured hulls in place, and the
 * hulls moved apart (render/hulls.c). Coordinates of any size; up: 0, 1, 2 for x, y, z. */
typedef struct {
  const ConvexHull* surface; /* surface of the part: triangles, not convex */
  const ConvexHull* hulls;
  int hull_count;
  int up;
  const char* piece; /* name of one piece: "convex hull" */
} HullPicture;
/* Writes the image as PNG. Borrows the hulls during the call. Returns STATUS_IO with an error in diagnostics if this
 * fails; an existing file is then unchanged. */
Status render_hulls(const char* path, const HullPicture* picture, int threads, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- shared by images, pages and models */

/* Rectangle of the ground below everything visible over the run: p = origin + u axis[0] + v axis[1]. */
typedef struct {
  Vec3 origin;            /* the point of the plane nearest to the world origin */
  Vec3 axis[2];           /* unit */
  double low[2], high[2]; /* m */
} GroundPatch;

/* Surroundings of a run. */
typedef struct {
  Vec3 up;           /* unit, against gravity */
  Vec3 lower, upper; /* bounding box over the run of everything but terrain [m] */
  bool has_ground;
  GroundPatch ground; /* ground at the first row */
} RenderSurroundings;
/* Returns the surroundings of a run of at least one row, in the world frame [m]. Allocates temporarily. */
RenderSurroundings render_surroundings(const Model* model, const RunPoses* run);

/* Sets *u and *v to the unit axes of the grid on a plane with the given unit normal. u, v and the normal are
 * right-handed; u and v are as near to world axes as possible. A zero normal gives NaN. */
void plane_axes(Vec3 normal, Vec3* u, Vec3* v);
/* Returns the grid spacing [m], 1, 2 or 5 times a power of ten, that gives 8 to 20 lines over `length` > 0 [m]. */
double grid_spacing(double length);
/* Returns the spacing of the major grid lines [m], 5 or 10 times the power of ten in `spacing`, the result of
 * grid_spacing. */
double grid_major(double spacing);
/* Sets color (linear light, 0 to 1) to the default colour of link `index` >= 0. The palette is that of Okabe and Ito,
 * distinguishable for colour-blind readers. Repetitions are darker, then lighter. */
void palette_color(int index, float color[3]);
/* Sets color (links x 3) to the colours of all links (linear light, 0 to 1): the colour that the scene gives, else
 * light grey for fixed links and a colour of the palette for movable links. */
void link_colors(const Model* model, float (*color)[3]);
/* Returns the linear light of an sRGB channel, both 0 to 1. NaN and negative values give 0. Values above 1 continue the
 * curve. */
float linear_from_srgb(double value);
/* Returns the sRGB channel of linear light, both 0 to 1. Other values continue the curve. */
double srgb_from_linear(double value);
/* Returns true if the force of a contact is shown as acting on its link a: if only a can move, or if both links can
 * move and only a is not part of a mechanism. Otherwise the force is shown as acting on b, as in contacts.csv. */
bool contact_shown_on_a(const Model* model, const RunContact* contact);
extern const uint8_t FORCE_COLOR[3]; /* sRGB */

/* ---------------------------------------------------------------- plots (render/plot*.c) */

/* Options of a plot. Texts are borrowed; NULL: from the table or the run. */
typedef struct {
  int width, height; /* px */
  bool log_y;        /* logarithmic y axis */
  bool log_x;
  const char *title, *x_label, *y_label;
  /* plot_columns: column of the abscissa; column whose distinct values each have a curve */
  const char *x, *by;
} PlotOptions;
/* Returns the default options of a plot: 1200 x 800 px for an overview, else 800 x 500 px. */
PlotOptions plot_defaults(bool overview);

/* Returns the name of plot `index` >= 0 of a run, such as "energy"; NULL after the last one. Static text. */
const char* plot_name(int index);
/* Draws the plot named `what` of the run folders (folder_count) with gnuplot; every plot that has data if what is NULL.
 * The extension of `path` selects PNG, SVG or PDF. With several folders, the names of the curves contain the name of
 * the folder. Returns STATUS_IO with an error if gnuplot is not installed or a file cannot be written, STATUS_BAD_INPUT
 * if there is nothing to plot or a file is invalid. */
Status plot_runs(const char* path, const char* const* folders, int folder_count, const char* what,
                 const PlotOptions* options, Diagnostics* diagnostics);
/* Draws the columns of a CSV file that match comma-separated shell patterns; all columns if patterns is NULL. The
 * abscissa is the column options->x, else `time`, else the first column. Points are joined in row order. Returns
 * STATUS_IO if the file cannot be read or the plot cannot be drawn, STATUS_BAD_INPUT if a column does not exist. */
Status plot_columns(const char* path, const char* file, const char* patterns, const PlotOptions* options,
                    Diagnostics* diagnostics);
/* Returns the path of the CSV file of a run in which most of the comma-separated patterns match a column; the first of
 * them if several match equally many. Adds notes about the chosen file, other files that match, and patterns without a
 * column. Returns NULL with an error if no file has a matching column. The caller frees the path with memory_free. */
char* plot_file_with(const char* folder, const char* patterns, Diagnostics* diagnostics);

#endif
