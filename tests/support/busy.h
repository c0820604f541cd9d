/* A scene with every effect that one step hands to the next. Its printf arguments are time step, integrator, substeps
 * and the largest number of iterations. */
#ifndef SDRS_TESTS_SUPPORT_BUSY_H
#define SDRS_TESTS_SUPPORT_BUSY_H

/* Bodies fall on each other and on a tilted half-space; one spins. A driven arm, and a paddle that pushes. */
#define BUSY_SCENE                                                                                                     \
  "simulation: {dt: %g, steps: 1000, integrator: %s, substeps: %d, max_iterations: %d}\n"                              \
  "contact: {friction: 0.4}\n"                                                                                         \
  "shapes:\n"                                                                                                          \
  "  brick: {type: box, size: [0.2, 0.16, 0.1]}\n"                                                                     \
  "  wedge: {type: points, points: [[0, 0, 0], [0.2, 0, 0.02], [0, 0.2, 0], [0.05, 0.04, 0.15], [0.15, 0.15, 0.1]]}\n" \
  "links:\n"                                                                                                           \
  "  - {name: ground, fixed: true, shape: {type: half_space, normal: [0.05, 0, 1]}}\n"                                 \
  "  - {name: low, mass: 0.6, shape: brick, joint: {type: free, position: [0, 0, 0.09], rotation_vector: [0.1, 0, "    \
  "0]}}\n"                                                                                                             \
  "  - {name: middle, mass: 0.5, shape: wedge, position: [-0.05, -0.05, 0.25]}\n"                                      \
  "  - {name: high, mass: 0.4, shape: brick, joint: {type: free, position: [0.03, 0.02, 0.5], rotation_vector: [0.4, " \
  "0.3, 0.1]}}\n"                                                                                                      \
  "  - {name: beside, mass: 0.4, shape: brick, position: [0.3, 0, 0.3]}\n"                                             \
  "  - {name: paddle, joint: {type: hinge, axis: [0, 0, 1], position: [-0.25, -0.25, 0.09]}, shapes: [{shape: brick, " \
  "position: [0.25, 0.08, 0]}]}\n"                                                                                     \
  "  - {name: arm, mass: 0.4, joint: {type: ball, position: [0.8, 0, 0.45], damping: 0.002}, shapes: [{type: box, "    \
  "size: [0.1, 0.1, 0.4], position: [0, 0, -0.2]}]}\n"                                                                 \
  "  - {name: fly, mass: 0.3, shape: brick, position: [0.4, 0.7, 0.8]}\n"                                              \
  "controllers:\n"                                                                                                     \
  "  - {link: paddle, type: prescribed, target: {type: sines, terms: [{amplitude: 0.5, frequency: 1}]}}\n"             \
  "  - {link: arm, type: pd, position_gain: 3, velocity_gain: 0.01, target: {type: sines, terms: [[{amplitude: 0.5, "  \
  "frequency: 2}], [{amplitude: 0.9, frequency: 1}], []]}}\n"                                                          \
  "initial:\n"                                                                                                         \
  "  - {link: fly, velocities: [-0.6, -1, 0, 3, 9, 20]}\n"                                                             \
  "  - {link: high, velocities: [0, 0, -3, 2, 0, 1]}\n"

#endif
