/* Table of the joint types. The scene reader, the documentation and the constants JOINT_<NAME> are generated from this
 * table. CONTRIBUTING.md says how to add a type. */
#ifndef SDRS_JOINT_KINDS_H
#define SDRS_JOINT_KINDS_H

/* ROW(NAME, word, freedom, moves, axis, axes, free_axes). NAME: suffix of the constants JOINT_<NAME> and
 * JOINT_KIND_<NAME>. word: name in scene files. freedom: number of degrees of freedom for the documentation. moves: 1
 * if the joint has degrees of freedom. axis, axes, free_axes: 1 if the joint accepts the key of this name in scene
 * files. */
// clang-format off
#define JOINT_TYPE_ROWS(ROW)                         \
  ROW(FIXED,     "fixed",     "0",       0, 0, 0, 0) \
  ROW(HINGE,     "hinge",     "1",       1, 1, 0, 0) \
  ROW(SLIDE,     "slide",     "1",       1, 1, 0, 0) \
  ROW(UNIVERSAL, "universal", "2",       1, 0, 1, 0) \
  ROW(SCREW,     "screw",     "1",       1, 1, 0, 0) \
  ROW(PLANAR,    "planar",    "3",       1, 1, 0, 0) \
  ROW(BALL,      "ball",      "3",       1, 0, 0, 0) \
  ROW(FREE,      "free",      "up to 6", 1, 0, 0, 1)

/* NUMBER(slot, key, types, unit, meaning): a numeric parameter of some types, stored in Joint.parameters[slot]. types:
 * names of the types, separated by bars. */
#define JOINT_PARAMETER_ROWS(NUMBER) \
  NUMBER(0, "pitch", "screw", "m/rad", "Displacement along the axis per radian: the lead over 2 pi.")
// clang-format on

/* JOINT_TYPE_NAMES(condition) is the text "one|another" of the names of all types with 1 in the table's column
 * `condition`. Each name is preceded by a bar; the index [1] skips the first bar. */
#define JOINT_WORD_0(word)
#define JOINT_WORD_1(word) "|" word
#define JOINT_WORD_ANY(NAME, word, freedom, moves, axis, axes, free_axes) JOINT_WORD_1(word)
#define JOINT_WORD_MOVES(NAME, word, freedom, moves, axis, axes, free_axes) JOINT_WORD_##moves(word)
#define JOINT_WORD_AXIS(NAME, word, freedom, moves, axis, axes, free_axes) JOINT_WORD_##axis(word)
#define JOINT_WORD_AXES(NAME, word, freedom, moves, axis, axes, free_axes) JOINT_WORD_##axes(word)
#define JOINT_WORD_FREE_AXES(NAME, word, freedom, moves, axis, axes, free_axes) JOINT_WORD_##free_axes(word)
#define JOINT_TYPE_NAMES(condition) (&(JOINT_TYPE_ROWS(JOINT_WORD_##condition))[1])

#endif
