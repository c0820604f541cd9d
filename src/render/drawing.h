/* State of drawing one image: the faces in front of the camera and their triangles. Private to faces.c (scene ->
 * faces), shade.c (face -> colour) and scene.c (rows of the image). */
#ifndef SDRS_RENDER_DRAWING_H
#define SDRS_RENDER_DRAWING_H

#include "render/picture.h"

/* Pixel rows drawn together: their samples fit into the second-level cache. */
enum { BAND_ROWS = 16 };

/* A planar face. A form f is the linear function f[0] + f[1] x + f[2] y of the pixel (x, y). */
typedef struct {
  double nearness[3]; /* form: 1 / distance along forward [1/m] */
  float color[3];
  float ambient, lamp; /* brightness from the sky; brightness from the lamp where there is no shadow */
  float in_map[3][3];  /* forms: coordinates in the shadow map times nearness */
  float slope[2];      /* gradient of the height in the shadow map */
  float edge[3][3];    /* forms: distance to the sharp edges [px]; large if there is none */
  float edge_strength;
  bool tinted;   /* coloured by the displacement scale instead of `color` */
  float tint[3]; /* form: value of the scale times nearness */
  int hull;
  int floor; /* index in Drawing.floors, or -1 if the face has no grid */
} DrawnFace;

/* Grid of a floor face. Plane coordinates are relative to a major grid crossing near the camera's target, so that
 * floats resolve them. */
typedef struct {
  float u[3], v[3];           /* forms: plane coordinates [m] times nearness */
  float center_u, center_v;   /* centre of the fading [m] */
  float spacing, major;       /* m */
  float fade_begin, fade_end; /* distances from the centre [m] */
  bool fades;                 /* fades into the background; false: ends at its edges */
} Floor;

/* A triangle in the image: a face, or the region of a face in front of the near plane. */
typedef struct {
  double x[3], y[3]; /* px */
  uint32_t face;
} DrawnTriangle;

/* All faces, floors and triangles, and the triangles of each band of rows. */
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
  int* layer_first; /* first triangle of each layer  (layers + 1) */
  int* bin_first;   /* first entry in `bins` of each (layer, band)  (layers x bands + 1) */
  int* bins;        /* triangles of each band, in order */
} Drawing;

/* ---- faces.c */
/* Collects the faces of layers (layer_count >= 1) that are in front of the camera, and sorts their triangles into bands
 * of rows. Borrows stage, camera and layers. The caller frees the drawing with drawing_destroy. */
void drawing_create(Drawing* drawing, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                    int layer_count);
/* Frees the drawing's arrays and zeroes it. */
void drawing_destroy(Drawing* drawing);

/* ---- shade.c */
/* Returns the grey of the background at height y [px], in linear light, 0 to 1. */
float background_grey(const Drawing* drawing, float y);
/* Sets color (3 count) to the colours of a face at the `count` pixels (x, y), (x + 1, y), ..., which the face must
 * cover. shadowed: false skips the shadow map. Thread-safe. */
void face_colors(const Drawing* drawing, const DrawnFace* face, float x, float y, int count, bool shadowed,
                 float* color);

#endif
