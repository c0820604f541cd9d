/* Images of a scene by a software rasterizer, without GPU and display. Private to render/.
 * Lengths m, world frame; image coordinates in pixels, x to the right, y down; pixel (i, j) covers [i, i + 1) x [j, j +
 * 1). Colours are linear light unless a name says sRGB. Equal input gives equal bytes for any number of threads. */
#ifndef SDRS_RENDER_PICTURE_H
#define SDRS_RENDER_PICTURE_H

#include "render/render.h"

/* ---------------------------------------------------------------- picture (image.c) */

/* An image: sRGB, 3 bytes per pixel, rows from the top. Owns its bytes. */
typedef struct {
  int width, height;
  uint8_t* rgb;
} RenderImage;

/* Creates a black image of width x height pixels. The caller frees it with image_destroy. */
void image_create(RenderImage* image, int width, int height);
/* Frees the bytes and zeroes the image; accepts a zeroed one. */
void image_destroy(RenderImage* image);
/* Copies `source`, a different image, into `image` with its upper left corner at (x, y) [px]; parts outside are
 * clipped. */
void image_paste(RenderImage* image, const RenderImage* source, int x, int y);
/* Appends the image as PNG to *file (png.c). Returns STATUS_NO_MEMORY with *file unchanged if the compressor has no
 * memory. */
Status image_add_png(const RenderImage* image, Text* file);
/* Writes a PNG file atomically. Returns STATUS_IO with errno set if the file cannot be written, STATUS_NO_MEMORY as
 * image_add_png. */
Status image_write_png(const RenderImage* image, const char* path);
/* As image_write_png, but also adds an error to diagnostics if the result is STATUS_IO or STATUS_NO_MEMORY. */
Status image_write_reported(const RenderImage* image, const char* path, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- camera (camera.c) */

/* A pinhole camera: point p is at x = width/2 + focal (right . d) / (forward . d), y = height/2 - focal (up . d) /
 * (forward . d) with d = p - eye. */
typedef struct {
  Vec3 eye;                /* m */
  Vec3 right, up, forward; /* unit, world */
  double width, height;    /* px */
  double focal;            /* px */
  double half_view;        /* tangent of half the field of view of the smaller side, without zoom */
  Vec3 target;             /* the centre of the visible region [m] */
  double reach;            /* half the length [m] at the target that the smaller side of the image shows */
} RenderCamera;

/* Returns a camera for a view of a scene with the upward unit vector `up`, an image of width x height [px] and a zoom >
 * 0. Sets the axes and the field of view, but not the eye. By value; nothing to free. */
RenderCamera camera_create(RenderView view, Vec3 up, int width, int height, double zoom);
/* As camera_create, with the view direction given by azimuth and elevation [degrees]: azimuth from the x axis about up,
 * elevation above the ground. */
RenderCamera camera_from(RenderView view, double azimuth, double elevation, Vec3 up, int width, int height,
                         double zoom);
/* Sets *azimuth and *elevation to the angles of a view [degrees]. */
void camera_angles(RenderView view, double* azimuth, double* elevation);
/* Projects a point [m, world]. Sets *x and *y to its position in the image [px] and *distance to its distance from the
 * eye along forward [m]. Returns false, with *x and *y unchanged, if the point is not in front of the eye. */
bool camera_project(const RenderCamera* camera, Vec3 point, double* x, double* y, double* distance);
/* Returns the camera translated by `offset` [m, world]. */
RenderCamera camera_moved(RenderCamera camera, Vec3 offset);

/* Region that a camera must show, as the support values of the points p that were added:
 *     side[k] = max n_k . p,   n_k outward normals of the view pyramid (right, left, up, down),
 *     near and far = extremes of forward . p. */
typedef struct {
  Vec3 normal[4], forward;
  double tangent[4], side[4], near, far;
} CameraFit;
/* Returns a fit without points. margin (4): fraction of half the image, in [0, 1), that stays empty at the right, left,
 * top and bottom. */
CameraFit camera_fit_begin(const RenderCamera* camera, const double margin[4]);
/* Adds a point [m, world] to the fit. */
void camera_fit_add_point(CameraFit* fit, Vec3 point);
/* Adds an upper bound of the hull's extent at a world pose, from its bounding box and bounding sphere. Half-spaces add
 * nothing. */
void camera_fit_add(CameraFit* fit, const ModelHull* hull, Pose pose);
/* Sets the camera's eye as close as possible so that every point of the fit is visible, and sets its target and reach.
 * If the fit has no points, the camera shows a region of one metre about the origin. */
void camera_fit_place(const CameraFit* fit, RenderCamera* camera);
/* As camera_fit_place, with `target` [m, world] at the image centre. */
void camera_fit_look_at(const CameraFit* fit, RenderCamera* camera, Vec3 target);
/* Returns an upper bound of direction . x over the points x of the hull at a world pose, from its bounding box and
 * sphere. direction (world) may have any length; the result is in m if it is a unit vector. */
double hull_extent(const ModelHull* hull, Pose pose, Vec3 direction);

/* ---------------------------------------------------------------- stage (stage.c) */

/* Role of a hull in an image. */
typedef enum {
  HULL_BODY,    /* shown completely, casts a shadow */
  HULL_FLOOR,   /* fixed and at least as wide as the moving parts: its upward faces carry the grid */
  HULL_TERRAIN, /* fixed and much larger than the moving parts: a floor that need not be completely visible */
} HullPart;

/* Data that are constant during a run: colours, edges and grounds. Borrows the model. */
typedef struct {
  const Model* model;
  Vec3 up;           /* unit, against gravity */
  HullPart* part;    /* (hulls) */
  float (*color)[3]; /* (links) */
  int* edge_first;   /* first triangle of each hull in `edges`  (hulls + 1) */
  uint8_t* edges;    /* per triangle: bit k: the edge from corner k to k + 1 is sharp  (triangles) */
  Vec3 lower, upper; /* bounding box of everything but terrain over the run [m] */
  uint8_t* srgb;     /* table from linear light to sRGB  (STAGE_TONES) */
  double* moved;     /* displacement of every vertex from the initial design [m]; NULL: link colours  (vertices) */
  double moved_most; /* largest displacement, end of the colour scale [m] */
} RenderStage;

enum { STAGE_TONES = 4096 };

/* A grid is drawn on a plane only if the cosine between its normal and `up` is at least this. */
#define STAGE_FLOOR_COSINE 0.3

/* Creates the stage of a run of at least one row. Borrows the model, which must outlive the stage. The caller frees the
 * stage with stage_destroy. */
void stage_create(RenderStage* stage, const Model* model, const RunPoses* run);
/* Frees the stage's arrays and zeroes it. */
void stage_destroy(RenderStage* stage);
/* Marks every edge between non-coplanar faces as sharp, so that it is drawn. */
void stage_show_all_edges(RenderStage* stage);
/* Colours the hulls by the displacement of their vertices from those of `initial`, a model with the same hulls, in link
 * frames. Allocates stage->moved. */
void stage_show_displacement(RenderStage* stage, const Model* initial);
/* Sets color (linear light) to the colour of `share`, a value of the displacement scale clamped to 0..1: pale grey at
 * zero, then yellow, red and dark purple. The brightness decreases monotonically, so that the scale is readable without
 * colour. */
void scale_color(double share, float color[3]);
/* Sets *normal to the outward unit normal of the ground plane and *point to a point on it [m, world]. poses (links).
 * Returns false, with both unchanged, if there is no ground plane. */
bool stage_ground(const RenderStage* stage, const Pose* poses, Vec3* normal, Vec3* point);

/* Sets *patch to the rectangle of the ground plane [m] below everything visible at poses (links). Returns false if
 * there is no ground plane. */
bool stage_ground_patch(const RenderStage* stage, const Pose* poses, GroundPatch* patch);
/* Returns the point with the patch coordinates u and v [m], in the world [m]. */
Vec3 ground_point(const GroundPatch* patch, double u, double v);
/* ---------------------------------------------------------------- rasteriser (raster.c) */

/* Depth samples of some rows of an image. Row r lies at y = (r + 1/2) / rows_per_pixel; its samples, one per pixel, at
 * x = i + offset[r mod rows_per_pixel]. */
typedef struct {
  int width, first_row, row_count, rows_per_pixel;
  const double* offset;
  float* nearness; /* nearness of the nearest triangle so far; the largest is kept  (row_count x width) */
  uint32_t* face;  /* index of the nearest triangle (row_count x width); NULL: not recorded */
} RenderTarget;

/* Rasterizes a triangle with corners (x, y) [px] and nearness plane[0] + plane[1] x + plane[2] y. A sample on a shared
 * edge belongs to exactly one triangle. face: value written to target->face. The triangle is clipped to the target.
 * Does not allocate. */
void raster_triangle(const RenderTarget* target, const double x[3], const double y[3], const double plane[3],
                     uint32_t face);
/* Sets plane (3) so that w = plane[0] + plane[1] x + plane[2] y at the three corners (x, y). Returns false, with plane
 * undefined, if the triangle has no area or the plane is not finite. */
bool raster_plane(const double x[3], const double y[3], const double w[3], double plane[3]);

/* ---------------------------------------------------------------- shadows (shadow.c) */

/* Shadow map: heights of all casters towards the light. Map coordinates of a point p: x, y, height = (s, t, light) . (p
 * - origin) / texel. */
typedef struct {
  Vec3 light, s, t;        /* unit: towards the light; the two axes of the map */
  Vec3 origin;             /* m */
  double texel;            /* m */
  int size;                /* texels per side; 0 = no caster */
  int blur;                /* half width of the penumbra [texel] */
  float* height;           /* height of the uppermost caster; -INFINITY = none  (size x size) */
  float *lowest, *highest; /* extremes of height over the penumbra square  (size x size) */
  float* owner;            /* the hull that covers the penumbra square alone, else -1  (size x size) */
} ShadowMap;

/* Creates the shadow map of the bodies at poses (links), with the resolution that the camera needs. light: unit vector
 * towards the light. map->size is 0 if no body casts a shadow. The caller frees the map with shadow_destroy. */
void shadow_create(ShadowMap* map, const RenderStage* stage, const Pose* poses, const RenderCamera* camera, Vec3 light);
/* Frees the map's arrays and zeroes it. */
void shadow_destroy(ShadowMap* map);
/* Returns the fraction of the light, 0 to 1, that reaches a point on the surface of hull `hull`. The result is 1
 * outside the map. point (3): x, y and height in map coordinates [texel]. slope (2): derivatives of the surface's
 * height by x and y. */
float shadow_visibility(const ShadowMap* map, const float point[3], const float slope[2], int hull);

/* ---------------------------------------------------------------- scene (scene.c) */

/* Bodies drawn at one set of poses (links). Layer 0 is opaque. Later layers are ghosts: only moving links are drawn,
 * blended with `opacity` where they are nearer to the camera than layer 0. */
typedef struct {
  const Pose* poses;
  double opacity; /* 0..1 */
} RenderLayer;

/* Draws bodies, grounds with grid and soft shadows, but no text. Overwrites every pixel of the image, whose size must
 * be the camera's. layers (layer_count >= 1). Never fails. */
void render_scene(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                  int layer_count, int threads);

/* ---------------------------------------------------------------- words and marks (label.c) */

/* Overlays drawn by render_marks, and their scales. */
typedef struct {
  unsigned show;            /* RENDER_CONTACTS and so on */
  double newtons;           /* force of an arrow of the key's length, seen perpendicularly at the target [N] */
  double metres_per_newton; /* the same as a length in the scene */
  const char* path;         /* label of the drawn path; NULL = none */
} RenderMarks;
/* Length of the key's arrow, relative to the image's smaller side. */
#define KEY_ARROW_SHARE 0.09

/* Text drawn over an image. Empty texts are omitted. */
typedef struct {
  const char *title, *time;
  bool ground;              /* ticks in metres along the ground grid, or a scale bar without ground */
  bool legend;              /* colours and names of the moving links, if they are few */
  const RenderMarks* marks; /* overlays listed in the key; NULL = none */
} RenderLabels;

/* Draws the key (key.c), from x = letter and y = top [px] to the right with line breaks; letter: height of a capital
 * [px]. */
void render_key(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderMarks* marks,
                double top, double letter);

/* Writes title, time, ticks and legend over the image, according to labels; poses (links). */
void render_labels(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const Pose* poses,
                   const RenderLabels* labels);

/* ---------------------------------------------------------------- hulls of a part (hulls.c) */

/* Sets the positions in poses (hulls), keeping rotations, so that hulls of about unit size in all, one per link, are
 * near their places but separated by the gap. More than 64 are only spread from the centre. */
void hulls_move_apart(const Model* model, Pose* poses);
/* Gap between `count` (> 0) moved hulls of a part of unit size. */
double hulls_gap(int count);

/* ---------------------------------------------------------------- text and lines (text.c) */

/* Writes text with its upper left corner at (x, y) [px]; scale: pixels per unit, capitals are 7 units high. Bytes
 * outside printable ASCII become '?'; long text is cut. */
void image_text(RenderImage* image, double x, double y, double scale, const char* text);
/* Width of a text [px]. */
double image_text_width(double scale, const char* text);
/* Pale background for text, slightly larger than the rectangle [px]; clipped to the image. */
void image_backing(RenderImage* image, double x, double y, double width, double height);
#define TEXT_CAPITAL 7.0 /* units */
/* Callback for a pixel partly covered by a letter; share: 0 to 1. */
typedef void (*LetterPixel)(void* context, int x, int y, double share);
/* Draws antialiased text with capitals of this height [px] and their tops at y, by calling `put` for each covered
 * pixel, also outside the image. False: build without a font. */
bool letters_draw(double x, double y, double capital, const char* text, LetterPixel put, void* context);
/* Width of antialiased text with capitals of this height [px]; 0 without a font. */
double letters_width(double capital, const char* text);
/* Draws a straight dark line; all lengths in pixels. */
void image_line(RenderImage* image, double x0, double y0, double x1, double y1, double width);
/* Draws a line in an sRGB colour (3 bytes); of zero length it is a dot. Lengths in pixels; opacity 0 to 1. */
void image_stroke(RenderImage* image, double x0, double y0, double x1, double y1, double width, const uint8_t color[3],
                  double opacity);
/* Fills a convex polygon of either orientation, antialiased. corner (count x 2) [px]. */
void image_polygon(RenderImage* image, const double (*corner)[2], int count, const uint8_t color[3], double opacity);
/* Blends a rectangle with an sRGB colour (3 bytes), antialiased. Lengths in pixels; opacity 0 to 1. */
void image_rectangle(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3],
                     double opacity);

/* ---------------------------------------------------------------- overlays (overlay.c) */

/* Draws the path of a link's centre of mass (RENDER_PATH_ALL: of all movable links) from the first row to `row`, over
 * the image, with a cross at its end. row: 0 ... row_count - 1. */
void render_path(RenderImage* image, const RenderCamera* camera, const Model* model, const RunPoses* run, int row,
                 int link);

/* Draws an arrow with a pale rim from (x0, y0) to its tip at (x1, y1) [px]. Draws nothing if it is shorter than two
 * pixels. color: 3 bytes. */
void image_arrow(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3]);
/* Draws a contact dot at (x, y) [px]. */
void image_contact_dot(RenderImage* image, double x, double y);
/* Draws the square that represents a separating plane. corner (4 x 2): its corners [px]. */
void image_plane_square(RenderImage* image, const double corner[4][2]);
/* Draws the separating planes, contact points and forces at a time [s] that marks->show selects. contacts: contacts of
 * the whole run, or NULL. poses (links). */
void render_marks(RenderImage* image, const RenderCamera* camera, const Model* model, const Pose* poses, double time,
                  const RunContacts* contacts, const RenderMarks* marks);
/* Returns a round force [N] for the arrow of the key, such that nearly all forces of the run are drawn at most
 * FORCE_SPAN times as long as this arrow. Returns 1 if there are no forces. */
double force_unit(const RunContacts* contacts);
#define FORCE_SPAN 2.5

/* ---------------------------------------------------------------- panels (panel.c) */

/* A run with its stage and a camera that shows the whole run. Borrows subject and options. */
typedef struct {
  const RenderSubject* subject;
  const RenderOptions* options;
  RenderStage stage;
  RenderCamera camera; /* with --follow: camera relative to the followed link */
  RenderMarks marks;
} RenderRun;

/* Creates stage, camera and scales of a run. Borrows subject and options. The caller frees the result with
 * render_run_destroy. */
void render_run_create(RenderRun* render, const RenderSubject* subject, const RenderOptions* options);
/* Frees the stage. */
void render_run_destroy(RenderRun* render);

/* Panels of an image, left to right, with the same camera and scales. Borrows the subjects. */
typedef struct {
  RenderRun panels[RENDER_SUBJECTS_MAX];
  int count;
  const RenderOptions* options;
} RenderSheet;
/* Creates a sheet with one panel for each of 1 ... RENDER_SUBJECTS_MAX subjects (asserted). Borrows subjects and
 * options. The caller frees it with sheet_destroy. */
void sheet_create(RenderSheet* sheet, RenderSubjects subjects, const RenderOptions* options);
/* Frees all panels. */
void sheet_destroy(RenderSheet* sheet);
/* Creates an image of the sheet's size, freed by the caller with image_destroy. */
void sheet_image(const RenderSheet* sheet, RenderImage* image);
/* Draws, for each run, the recorded row nearest to `time` [s] after the start of the run; the last row if time is NAN.
 * Overwrites the image completely, which must come from sheet_image. */
void sheet_draw(const RenderSheet* sheet, double time, int threads, RenderImage* image);
/* Returns the duration [s] of the longest run, from its first row to its last. */
double sheet_duration(const RenderSheet* sheet);
/* Returns the camera at a row 0 ... row_count - 1. With --follow it moves with the followed link. */
RenderCamera render_run_camera(const RenderRun* render, int row);
/* Draws the bodies at a row, with the ghosts that options->trail requests. Overwrites the image completely, which must
 * have the size options->width x options->height. */
void render_run_bodies(const RenderRun* render, int row, int threads, RenderImage* image);
/* Draws the overlays and the centre-of-mass path of a row over the image. */
void render_run_marks(const RenderRun* render, int row, RenderImage* image);
/* Draws title, time and ticks of a row over the image, if options->labels is set. If titled is false, title, legend and
 * key are omitted. */
void render_run_words(const RenderRun* render, int row, bool titled, RenderImage* image);
/* Draws bodies, overlays and text of a row. Arguments as for render_run_bodies and render_run_words. */
void render_run_panel(const RenderRun* render, int row, bool titled, int threads, RenderImage* image);

#endif
