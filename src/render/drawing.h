/* One picture in the making: the faces in front of the camera and the triangles that show them. Private to
 * faces.c (scene -> faces), shade.c (face -> colour) and scene.c (rows of the picture). */
#ifndef SDRS_RENDER_DRAWING_H
#define SDRS_RENDER_DRAWING_H

#include "render/picture.h"

/* Rows of pixels that are drawn together: their samples fit the second-level cache. */
enum { BAND_ROWS = 16 };

/* A planar face. A form f stands for f[0] + f[1] x + f[2] y at the pixel (x, y). */
typedef struct {
  double nearness[3]; /* form: 1 / distance along forward [1/m] */
  float color[3];
  float ambient, lamp; /* brightness from the sky; from the lamp where nothing is in its way */
  float in_map[3][3];  /* forms: coordinates in the shadow map times nearness */
  float slope[2];      /* of the height in the shadow map */
  float edge[3][3];    /* forms: distance to the sharp edges [px]; large where there is none */
  float edge_strength;
  bool tinted;   /* coloured by the scale instead of `color` */
  float tint[3]; /* form: share of the scale times nearness */
  int hull;
  int floor; /* index of its grid, or -1 */
} DrawnFace;

/* The grid of a floor face. Plane coordinates count from a crossing of heavy lines near what is looked at, so that
 * floats resolve them. */
typedef struct {
  float u[3], v[3];           /* forms: plane coordinates [m] times nearness */
  float center_u, center_v;   /* of the fading [m] */
  float spacing, major;       /* m */
  float fade_begin, fade_end; /* m from the center */
  bool fades;                 /* else it ends at its edges */
} Floor;

/* A triangle on the picture: a face, or the part of it in front of the lens. */
typedef struct {
  double x[3], y[3]; /* px */
  uint32_t face;
} DrawnTriangle;

/* The array of faces, floors and pieces, and which pieces touch which rows. */
typedef struct {
  const RenderStage* stage;
  const RenderCamera* camera;
  const RenderLayer* layers;
  int layer_count, band_count;
  ShadowMap shadow;
  DrawnFace* faces;
  int face_count, face_capacity;
  Floor* floors;
  int floor_count, floor_capacity;
  DrawnTriangle* pieces;
  int piece_count, piece_capacity;
  int* layer_first; /* first piece of a layer  (layers + 1) */
  int* bin_first;   /* first entry of a (layer, band) in `bins`  (layers x bands + 1) */
  int* bins;        /* pieces that touch a band, in order */
} Drawing;

/* ---- faces.c */
/* Faces of all layers (layer_count >= 1) in front of the camera, in bands of rows. Borrows stage, camera and layers;
 * freed with drawing_destroy. */
void drawing_create(Drawing* drawing, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                    int layer_count);
/* Frees its arrays and zeroes it. */
void drawing_destroy(Drawing* drawing);

/* ---- shade.c */
/* The empty picture at height y [px]: a grey, linear light. 0 to 1. */
float background_grey(const Drawing* drawing, float y);
/* Colours (3 count) of a face at the points (x, y), (x + 1, y), ... of the picture, which it covers. color: the
 * caller's, written over; x and y in pixels. Several threads may. */
void face_colors(const Drawing* drawing, const DrawnFace* face, float x, float y, int count, bool shadowed,
                 float* color);

#endif
