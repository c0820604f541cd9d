/* Mechanisms with closed loops that several tests use, as printf formats of scenes. */
#ifndef SDRS_TESTS_SUPPORT_LOOPS_H
#define SDRS_TESTS_SUPPORT_LOOPS_H

/* Every type of closure between links of one tree, of two, a fixed one, a prescribed one and the world. %s: integrator.
 */
#define LOOPS_OF_EVERY_TYPE                                                                                            \
  "simulation: {dt: 0.005, steps: 100, integrator: %s}\n"                                                              \
  "contact: {model: none}\n"                                                                                           \
  "links:\n"                                                                                                           \
  "  - {name: base, mass: 1, mass_model: uniform, position: [0, 0, 1], shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"   \
  "  - {name: arm, parent: base, mass: 0.4, mass_model: uniform, joint: {type: universal, axes: [[0, 1, 0], [1, 0, "   \
  "0]], position: [0.15, 0, 0.05]}, shapes: [{type: box, size: [0.4, 0.03, 0.05], position: [0.2, 0, 0]}]}\n"          \
  "  - {name: puck, mass: 0.5, mass_model: uniform, position: [0.6, 0.1, 1.1], shape: {type: box, size: [0.1, 0.15, "  \
  "0.12]}}\n"                                                                                                          \
  "  - {name: bob, mass: 0.3, mass_model: uniform, position: [0.9, 0.3, 0.9], shape: {type: box, size: [0.11, 0.12, "  \
  "0.13]}}\n"                                                                                                          \
  "  - {name: rail, mass: 0.6, mass_model: uniform, position: [-0.4, 0.1, 1.2], shape: {type: box, size: [0.15, 0.1, " \
  "0.12]}}\n"                                                                                                          \
  "  - {name: ant, parent: rail, mass: 0.2, mass_model: uniform, joint: {type: ball, position: [0.1, 0.1, 0]}, "       \
  "shapes: [{type: box, size: [0.1, 0.05, 0.06], position: [0.05, 0.05, 0.03]}]}\n"                                    \
  "  - {name: driven, mass: 1, joint: {type: hinge, axis: [0, 0, 1], position: [-0.6, 0, 1]}, shapes: [{type: box, "   \
  "size: [0.1, 0.05, 0.06], position: [0.05, 0, 0]}]}\n"                                                               \
  "  - {name: wall, fixed: true, position: [0.2, 0, 2], shape: {type: box, size: [0.1, 0.05, 0.06]}}\n"                \
  "closures:\n"                                                                                                        \
  "  - {type: weld, a: puck, b: arm, point: [0.55, 0.1, 1.07]}\n"                                                      \
  "  - {type: distance, a: bob, b: puck, point: [0.88, 0.28, 0.92], axis: [-1, -0.5, 0.7], length: 0.25}\n"            \
  "  - {type: distance, a: bob, b: world, point: [0.92, 0.28, 0.92]}\n"                                                \
  "  - {type: slide, a: rail, b: base, axis: [1, 0.2, 0.3]}\n"                                                         \
  "  - {type: distance, a: ant, b: rail, point: [-0.2, 0.3, 1.25]}\n"                                                  \
  "  - {type: ball, a: driven, b: rail, point: [-0.5, 0.05, 1.1]}\n"                                                   \
  "  - {type: ball, a: wall, b: base, point: [0.1, 0, 1.5]}\n"                                                         \
  "controllers:\n"                                                                                                     \
  "  - {link: driven, type: prescribed, target: {type: sines, terms: [{amplitude: 0.2, frequency: 1}]}}\n"             \
  "  - {link: arm, type: pd, position_gain: 3, damping_gain: 0.2, target: [0.2, -0.1]}\n"                              \
  "loads:\n"                                                                                                           \
  "  - {link: bob, force: [3, 1, 2], point: [0.02, 0.03, 0.01]}\n"                                                     \
  "initial:\n"                                                                                                         \
  "  - {link: base, velocities: [0.1, 0.2, 0, 0.1, 0.2, 0.3]}\n"

/* A four-bar linkage in the plane y = 0: ground 0.4 m, crank 0.1 m, coupler 0.35 m, rocker 0.3 m. The crank starts
 * upright and at rest. A closure replaces the fourth hinge, so two of its five equations are redundant. %s: integrator.
 */
#define FOUR_BAR                                                                                                       \
  "simulation: {dt: 0.002, steps: 500, integrator: %s}\n"                                                              \
  "contact: {model: none}\n"                                                                                           \
  "links:\n"                                                                                                           \
  "  - {name: crank, mass: 0.2, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, 1]}, "    \
  "shapes: [{type: box, size: [0.1, 0.02, 0.02], position: [0.05, 0, 0]}]}\n"                                          \
  "  - {name: coupler, parent: crank, mass: 0.7, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], "         \
  "position: [0.1, 0, 0]}, shapes: [{type: box, size: [0.35, 0.02, 0.02], position: [0.175, 0, 0]}]}\n"                \
  "  - {name: rocker, mass: 0.6, mass_model: uniform, joint: {type: hinge, axis: [0, -1, 0], position: [0.4, 0, 1]}, " \
  "shapes: [{type: box, size: [0.3, 0.02, 0.02], position: [0.15, 0, 0]}]}\n"                                          \
  "closures:\n"                                                                                                        \
  "  - {type: hinge, a: coupler, b: rocker, point: [0.29872189505317293, 0, 1.2823875802126918], axis: [0, 1, 0]}\n"   \
  "initial:\n"                                                                                                         \
  "  - {link: crank, coordinates: [1.5707963267948966]}\n"                                                             \
  "  - {link: coupler, coordinates: [-1.0226484275561756]}\n"                                                          \
  "  - {link: rocker, coordinates: [1.9151556505110297]}\n"

/* A flat slider-crank on a base that is free to move, turning at 3 rad/s. CRANK: more of its joint (", damping: 0.01"),
 * BASE: velocities of the base, PIN: where the closure is and its axis (IN_WORLD, IN_ROD: the same place). */
#define IN_WORLD "point: [0.4, 0.2, 0.5], axis: [0, 1, 0]"
#define IN_ROD "axes: link, point: [0.2, 0, 0], axis: [0, 1, 0]"
#define FLAT_ON_FREE_BASE(CRANK, BASE, PIN)                                                                          \
  "contact: {model: none}\n"                                                                                         \
  "links:\n"                                                                                                         \
  "  - {name: base, mass: 2, position: [0.1, 0.2, 0.3], shape: {type: box, size: [0.6, 0.3, 0.05]}}\n"               \
  "  - {name: crank, parent: base, mass: 0.2, joint: {type: hinge, axis: [0, 1, 0]" CRANK                            \
  "}, position: [0.1, 0, 0.1], "                                                                                     \
  "shapes: [{type: box, size: [0.04, 0.04, 0.1], position: [0, 0, 0.05]}]}\n"                                        \
  "  - {name: rod, parent: crank, mass: 0.1, joint: {type: hinge, axis: [0, 1, 0]}, position: [0, 0, 0.1], shapes: " \
  "[{type: box, size: [0.2, 0.02, 0.02], position: [0.1, 0, 0]}]}\n"                                                 \
  "  - {name: piston, parent: base, mass: 0.3, joint: {type: slide, axis: [1, 0, 0]}, position: [0.3, 0, 0.2], "     \
  "shape: {type: box, size: [0.06, 0.06, 0.06]}}\n"                                                                  \
  "closures: [{type: hinge, a: rod, b: piston, " PIN                                                                 \
  "}]\n"                                                                                                             \
  "initial:\n"                                                                                                       \
  "  - {link: base, velocities: " BASE                                                                               \
  "}\n"                                                                                                              \
  "  - {link: crank, velocities: [3]}\n"                                                                             \
  "  - {link: rod, velocities: [-3]}\n"                                                                              \
  "  - {link: piston, velocities: [0.3]}\n"

#endif
