/* Functions shared by the two modes of `sdrs decompose`, convex hulls and superquadrics. Private to app/. */
#ifndef SDRS_APP_DECOMPOSE_PRIMITIVES_H
#define SDRS_APP_DECOMPOSE_PRIMITIVES_H

#include "app/command.h"
#include "decompose/decompose.h"

/* Runs `sdrs decompose MESH --primitives superquadric`. Reports errors and returns the exit code. */
ExitCode decompose_primitives(const Options* options);

/* Returns true if the option --up is absent or is x, y or z. */
bool is_up_option_valid(const Options* options);
/* Appends hulls[count] as OBJ text. Hull k becomes the object `o NAME_k`, where NAME is `name`. */
void decompose_hulls_text(Text* out, const char* name, const ConvexHull* hulls, int count);
/* Writes `text` to the file `name` in `folder`. Returns STATUS_IO, with a diagnostic, if writing fails. */
Status decompose_write_text(const char* folder, const char* name, const Text* text, Diagnostics* diagnostics);
/* Draws the repaired surface of the mesh and hulls[count] to the picture `path`. Does nothing with --no-picture, or if
 * the mesh has no repaired surface. hull_term: word for one hull in the caption, such as "convex hull". Returns
 * STATUS_IO, with a diagnostic, if the picture cannot be written. */
Status decompose_picture(const Options* options, const Mesh* mesh, const ConvexHull* hulls, int count,
                         const char* hull_term, const char* path, Diagnostics* diagnostics);

#endif
