/* render: pictures and films of a run by a software rasteriser, and plots of its columns by the gnuplot program.
 * Drawing owns nothing that it is given; what it writes is written beside its name and renamed. */
#ifndef SDRS_RENDER_H
#define SDRS_RENDER_H

#include "run/run.h"

/* ---------------------------------------------------------------- pictures */

typedef enum { RENDER_ISO, RENDER_FRONT, RENDER_SIDE, RENDER_TOP } RenderView;

/* Subject of a picture. Everything is borrowed. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const RunContacts* contacts; /* for RENDER_FORCES; NULL: none were recorded */
  const Model* initial;        /* for RENDER_DISPLACEMENT: the same hulls before they were moved; NULL: nothing moved */
  const char* caption;         /* the title; NULL: the scene's name */
} RenderSubject;

enum { RENDER_PATH_NONE = -1, RENDER_PATH_ALL = -2 };

/* Overlays of a picture (RenderOptions.show). */
enum {
  RENDER_CONTACTS = 1 << 0,     /* a dot where two hulls are in contact */
  RENDER_FORCES = 1 << 1,       /* the force of every touching pair of links as an arrow */
  RENDER_PLANES = 1 << 2,       /* the planes that part hulls near each other */
  RENDER_EDGES = 1 << 3,        /* every edge of every hull, not the sharp ones only */
  RENDER_DISPLACEMENT = 1 << 4, /* colour by the distance of the vertices from those of the initial design */
};

typedef struct {
  int width, height; /* px, of one panel */
  RenderView view;
  bool has_azimuth, has_elevation;
  double azimuth, elevation; /* degrees, instead of the view's: from x about up, above the ground */
  double zoom;               /* > 0; 1 = everything fits over the whole run */
  bool has_look_at;          /* look_at [m] stands in the middle of the picture */
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
/* One picture of 960 x 720 px, of the last moment, with a camera that stands still. By value; never fails. */
RenderOptions render_defaults(void);

/* Subjects that are drawn together: one, or two side by side, seen by the same camera and to the same scale. Links that
 * the options name have the same index in both. */
typedef struct {
  const RenderSubject* subjects; /* (count) */
  int count;
} RenderSubjects;
enum { RENDER_SUBJECTS_MAX = 2 };

/* One PNG (a single picture, or a strip of one subject). STATUS_IO with a diagnostic. The picture is allocated and
 * freed here; a file of this name keeps what it held on failure. */
Status render_picture(const char* path, RenderSubjects subjects, const RenderOptions* options,
                      Diagnostics* diagnostics);
/* `folder`/frame_00000.png and so on, at options->fps; later frames of an earlier call are removed. *count = pictures
 * written. STATUS_IO with a diagnostic when one could not be. *count is 0 unless all were written. The folder is
 * made. Pictures are allocated, one a thread, and freed here. */
Status render_frames(const char* folder, RenderSubjects subjects, const RenderOptions* options, int* count,
                     Diagnostics* diagnostics);
/* A film by the ffmpeg program; STATUS_IO with an explanation when it is not installed or fails. *count = pictures.
 * Pictures at options->fps; on failure what was at `path` stays. The text of the command is allocated and freed
 * here. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics);
/* Seconds that one picture of a subject takes, by what is drawn. */
typedef struct {
  double bodies, marks, words, png;
  size_t bytes; /* of the PNG */
} RenderTimes;
/* Draw `count` moments, spread evenly over the run, without writing them (times: count) [s]. Returns the seconds of
 * wall time spent before the first: camera, edges, extents. Allocates and frees for itself. Never fails: nothing is
 * written. */
double render_measure(const RenderSubject* subject, const RenderOptions* options, int count, RenderTimes* times);
/* True when the hulls of two models answer to each other: as many, on the same links, with as many vertices. Only
 * reads; places of the vertices do not count. Returns false for models that differ, no error. Allocates nothing. */
bool render_same_hulls(const Model* model, const Model* initial);

/* A part and the hulls that it was decomposed into, as a PNG of three panels: the part's surface, the hulls in place,
 * each of its colour, and the hulls moved apart (render/hulls.c). Coordinates of any size; up: 0, 1, 2 for x, y,
 * z. */
typedef struct {
  const ConvexHull* surface; /* of the part: triangles, not convex */
  const ConvexHull* hulls;
  int hull_count;
  int up;
  const char* piece; /* what one of them is called: "convex hull" */
} HullPicture;
/* Writes that picture. STATUS_IO with a diagnostic; the picture's hulls are borrowed. The picture's own pixels are
 * allocated and freed here; a file of this name keeps what it held on failure. */
Status render_hulls(const char* path, const HullPicture* picture, int threads, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- what pictures, pages and models share */

/* The rectangle of the ground under everything that is seen over the run: p = origin + u axis[0] + v axis[1]. */
typedef struct {
  Vec3 origin;            /* the point of the plane nearest to the world's origin */
  Vec3 axis[2];           /* unit */
  double low[2], high[2]; /* m */
} GroundPatch;

/* Where a run takes place. */
typedef struct {
  Vec3 up;           /* unit, against gravity */
  Vec3 lower, upper; /* box of everything but what is much larger than what moves, over the whole run [m] */
  bool has_ground;
  GroundPatch ground; /* at the first row */
} RenderSurroundings;
/* Those of a run of at least one row, in the world frame [m]. By value; allocates for the time of the call. A run
 * without a row is undefined. */
RenderSurroundings render_surroundings(const Model* model, const RunPoses* run);

/* Two axes of a plane for its grid, as near to the world's axes as it allows. normal: unit; *u and *v are unit,
 * right-handed with it. Neither may be NULL. A normal of length 0 gives NaN, no error. */
void plane_axes(Vec3 normal, Vec3* u, Vec3* v);
/* Distance of grid lines [m]: 1, 2 or 5 times a power of ten, 8 to 20 in `length` > 0 [m]. NaN or less where length
 * is not > 0: no error is reported. */
double grid_spacing(double length);
/* Distance of the heavier lines [m]: 5 or 10 units of the spacing's decade. spacing must be one of grid_spacing, or
 * the answer means nothing: not checked, no error. */
double grid_major(double spacing);
/* The colour of link `index` when the scene gives none: Okabe and Ito's palette, which colour-blind readers can tell
 * apart; later rounds are lighter. Linear light, 0 to 1. color is the caller's own; never fails for index >= 0. */
void palette_color(int index, float color[3]);
/* Linear light of every link: its own color, else light grey where it cannot move and the palette where it can  (links)
 * color (links x 3), of the caller, 0 to 1. Never fails. */
void link_colors(const Model* model, float (*color)[3]);
/* Linear light of a channel in sRGB, both 0 to 1; 0 for NaN and below. No error is reported above 1: the curve goes on.
 */
float linear_from_srgb(double value);
/* The channel in sRGB of linear light, both 0 to 1. No error is reported outside of that: the curve goes on. */
double srgb_from_linear(double value);
/* True when the contact's force is shown on a: the force on the link that can move is shown; where both can, on one
 * that is no part of a mechanism; else on b, as in contacts.csv. Returns true where b cannot move. Allocates
 * nothing. */
bool contact_shown_on_a(const Model* model, const RunContact* contact);
extern const uint8_t FORCE_COLOR[3]; /* sRGB */

/* ---------------------------------------------------------------- plots (render/plot*.c) */

/* Texts are borrowed; NULL: what the table or the run itself says. */
typedef struct {
  int width, height; /* px */
  bool log_y;        /* logarithmic also where the plot is not by itself */
  bool log_x;
  const char *title, *x_label, *y_label;
  /* For plot_columns: the column of the abscissa, and the column whose values each have a curve. */
  const char *x, *by;
} PlotOptions;
/* 1200 x 800 px for an overview, else 800 x 500. By value; never fails. */
PlotOptions plot_defaults(bool overview);

/* Name of the index-th plot of a run, from 0, "energy", constant; NULL after the last. index must be >= 0. Not to be
 * freed. */
const char* plot_name(int index);
/* Draw the plot `what` of a run folder, or all for which there is something (NULL), with the gnuplot program. The
 * ending of `path` chooses PNG, SVG or PDF. Curves of several folders bear their names. STATUS_IO with an explanation
 * when gnuplot is not installed. folders[folder_count]. STATUS_BAD_INPUT where there is nothing to plot, or a file
 * cannot be understood. Tables are allocated and freed here. */
Status plot_runs(const char* path, const char* const* folders, int folder_count, const char* what,
                 const PlotOptions* options, Diagnostics* diagnostics);
/* Draw the columns of a CSV file that match the comma-separated list of shell patterns, against options->x, else
 * against `time`, else against the first column. Points are joined in the order of the rows. patterns NULL: all.
 * STATUS_IO where it cannot be read or drawn, STATUS_BAD_INPUT for a column that is not there. The table is
 * allocated and freed here. */
Status plot_columns(const char* path, const char* file, const char* patterns, const PlotOptions* options,
                    Diagnostics* diagnostics);
/* The run's file that has such a column, owned by the caller; NULL when none has. Freed with memory_free. Nothing is
 * reported. */
char* plot_file_with(const char* folder, const char* patterns);

#endif
