/* Objects of scene files in the order of the documentation, each with its meaning and an example. The keys of the
 * objects are in schema_table.c. */
#include "scene/forms.h"
#include "scene/schema.h"

#define AT(type, member) offsetof(type, member)

const SchemaObject SCENE_OBJECTS[] = {
    {.name = "scene",
     .title = "The file",
     .size = sizeof(SceneForm),
     .meaning = "A scene is a YAML (or JSON) map with these keys. Lengths are in metres, angles in radians, masses in "
                "kilograms; z points up.",
     .example = "name: drop\n"
                "simulation: {dt: 0.005, duration: 1.0}\n"
                "contact: {friction: 0.3}\n"
                "shapes:\n"
                "  ground: {type: half_space}\n"
                "  brick: {type: box, size: [0.2, 0.1, 0.05]}\n"
                "links:\n"
                "  - {name: ground, fixed: true, shape: ground}\n"
                "  - {name: brick, shape: brick, mass: 1.0, position: [0, 0, 0.5]}\n"
                "initial:\n"
                "  - {link: brick, velocities: [1, 0, 0, 0, 0, 2]}\n"},
    {.name = "include",
     .title = "include",
     .size = sizeof(IncludeForm),
     .includes = {{"pose", AT(IncludeForm, pose)}},
     .meaning =
         "Adds the links, shapes, controllers, loads, initial state and excluded pairs of another file. The pose given "
         "here places that file's world frame in this world, or in the frame of the link `attach`. Other settings of "
         "the file are ignored. A note names the settings of `simulation` and `contact` in the file that change the "
         "motion and are missing in this scene. For the same link, `initial` of this scene replaces `initial` of the "
         "file.",
     .example = "simulation: {dt: 0.001, duration: 2, integrator: first_order}\n"
                "contact: {model: none}\n"
                "include:\n"
                "  - {file: ../scenes/pendulum.yaml, prefix: left_, position: [0, 1, 0]}\n"
                "  - {file: ../scenes/pendulum.yaml, prefix: right_, position: [0, -1, 0], rpy: [0, 0, 1.57]}\n"
                "links: [{name: ground, fixed: true, shape: {type: half_space, offset: -3}}]\n"},
    {.name = "simulation",
     .title = "simulation",
     .size = sizeof(SimulationForm),
     .meaning = "Time step, duration and solver settings. Give duration or steps, not both.",
     .example = "simulation:\n"
                "  dt: 0.002\n"
                "  steps: 500\n"
                "  gravity: [0, 0, -1.62]\n"
                "  integrator: second_order\n"
                "links: []\n"},
    {.name = "fluid",
     .title = "fluid",
     .size = sizeof(FluidForm),
     .meaning = "Fluid around all movable links. Every convex piece of a link is subject to:\n"
                "\n"
                "* buoyancy, the weight of the fluid that it displaces\n"
                "* pressure drag: the pressure density v^2 / 2 on faces that move into the fluid at the speed v along "
                "their normal. A plate, a cube and a sphere have drag coefficients of 1, 1 and 0.5\n"
                "* viscous drag: the force 6 pi viscosity r v for a sphere of radius r. The radius of other pieces "
                "follows from their surface\n"
                "\n"
                "Pieces do not shield each other, and the fluid has no inertia of its own (no added mass, no lift of "
                "circulation). docs/derivations/fluid.md",
     .example = "fluid: {density: 1000, viscosity: 0.001, level: 0}\n"
                "links:\n"
                "  - {name: box, mass: 4, position: [0, 0, 0.1], shape: {type: box, size: [0.2, 0.2, 0.2]}}\n"},
    {.name = "start_state",
     .title = "start",
     .size = sizeof(StartStateForm),
     .meaning = "Continues a run from its end or from a saved state. The result is bit-identical to an uninterrupted "
                "run (docs/receding.md) if the scene keeps `initial`, from which contact parameters and the weights of "
                "springs and dampers are derived. Links, joints, numbers of vertices, dt, integrator, contact law, "
                "closures and "
                "couplings must be the same in both runs. Feedback with delay or of contact forces must also be the "
                "same. Controllers, loads, masses, friction and positions of vertices may differ."},
    {.name = "contact",
     .title = "contact",
     .size = sizeof(ContactForm),
     .type_key = "model",
     .includes = {{"contact_law", 0}},
     .meaning = "Contact law, friction and restitution. barrier_distance, stiffness and smoothing are derived from the "
                "scene if they are not given. `-v` prints their values, and summary.json contains them.",
     .example =
         "contact:\n"
         "  friction: 0.6\n"
         "  exclude: [[left, right], [left, fingers]]\n"
         "links:\n"
         "  - {name: left, shape: {type: sphere, radius: 0.1}, mass: 1}\n"
         "  - {name: right, shape: {type: sphere, radius: 0.1}, mass: 1, position: [0.3, 0, 0]}\n"
         "  - {name: tip, groups: [fingers], shape: {type: sphere, radius: 0.1}, mass: 1, position: [0.6, 0, 0]}\n"},
    {.name = "contact_law",
     .title = "what contact laws have to themselves",
     .size = sizeof(ContactForm),
     .part = true,
     .meaning = "Parameters of one law, of all pairs or of a pair."},
    {.name = "contact_pair",
     .title = "pairs, of contact",
     .size = sizeof(ContactPairForm),
     .type_key = "model",
     .includes = {{"contact_law", offsetof(ContactPairForm, law)}},
     .meaning = "Contact between two links or groups.",
     .example =
         "contact:\n"
         "  friction: 0.5\n"
         "  pairs:\n"
         "    - {a: ball, b: floor, friction: 0.2, restitution: 0.8}\n"
         "    - {a: rubber, b: rubber, friction: 1.1}\n"
         "links:\n"
         "  - {name: floor, fixed: true, shape: {type: half_space}}\n"
         "  - {name: ball, shape: {type: sphere, radius: 0.1}, mass: 1, position: [0, 0, 1]}\n"
         "  - {name: left, groups: [rubber], friction: 0.9, shape: {type: sphere, radius: 0.1}, mass: 1, position: [1, "
         "0, 1]}\n"
         "  - {name: right, groups: [rubber], friction: 0.9, shape: {type: sphere, radius: 0.1}, mass: 1, position: "
         "[1.5, 0, 1]}\n"},
    {.name = "shape",
     .title = "shape",
     .size = sizeof(SceneShapeForm),
     .type_key = "type",
     .meaning = "A solid in its own frame. Spheres, capsules, cylinders, cones, wheels, discs, rounded boxes and "
                "rounded points are exact in separating_plane contact. Other laws use inscribed polyhedra.",
     .example =
         "shapes:\n"
         "  brick: {type: box, size: [0.2, 0.1, 0.05]}\n"
         "  ball: {type: sphere, radius: 0.1, resolution: 2}\n"
         "  rod: {type: cylinder, radius: 0.02, length: 0.5, segments: 24}\n"
         "  cap: {type: capsule, radius: 0.05, length: 0.2}\n"
         "  tyre: {type: wheel, radius: 0.1, width: 0.05, rim: 0.02}\n"
         "  coin: {type: disc, radius: 0.05, rim: 0.005}\n"
         "  bucket: {type: cone, bottom_radius: 0.1, top_radius: 0.15, length: 0.3}\n"
         "  pad: {type: rounded_box, radius: 0.02, size: [0.2, 0.1, 0]}\n"
         "  foot: {type: rounded_points, radius: 0.02, points: [[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}\n"
         "  wedge: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
         "  part: {type: mesh, file: part.obj, scale: 0.001, hulls: groups, max_vertices: 64}\n"
         "  mug: {type: mesh, file: mug.obj, decompose: {max_hulls: 24}}\n"
         "  hills: {type: height_field, file: hills.png, size: [20, 20, 1.5]}\n"
         "  ground: {type: half_space, normal: [0, 0, 1], offset: 0}\n"
         "links: []\n"},
    {.name = "decompose",
     .title = "decompose, of a mesh",
     .size = sizeof(DecomposeForm),
     .meaning = "Options of `sdrs decompose` (decompose.md). The hulls overlap, and their union is the shape. A mass "
                "by density counts overlaps more than once. The cache is in $SDRS_CACHE; if unset, in "
                "$XDG_CACHE_HOME/sdrs; if unset, in ~/.cache/sdrs. SDRS_CACHE=off disables the cache.",
     .example = "shapes:\n"
                "  frame:\n"
                "    type: mesh\n"
                "    file: frame.obj\n"
                "    decompose: {max_hulls: 8, max_vertices: 32, symmetry: xy}\n"
                "  blocks: {type: mesh, file: part.obj, decompose: {grid: [4, 4, 2]}}\n"
                "links: []\n"},
    {.name = "pose",
     .title = "pose",
     .size = sizeof(PoseForm),
     .part = true,
     .meaning = "Where something is. Give at most one kind of rotation."},
    {.name = "shape_use",
     .title = "shape of a link",
     .size = sizeof(ShapeUseForm),
     .type_key = "type",
     .instead_of_type = "shape",
     .includes = {{"shape", AT(ShapeUseForm, shape)}, {"pose", AT(ShapeUseForm, pose)}},
     .meaning = "An item of a link's shapes: the name of a shape, or a map that names or defines one, with its pose in "
                "the link's frame.",
     .example = "shapes:\n"
                "  brick: {type: box, size: [0.2, 0.1, 0.05]}\n"
                "links:\n"
                "  - name: hammer\n"
                "    density: 1000\n"
                "    shapes:\n"
                "      - brick\n"
                "      - {type: cylinder, radius: 0.02, length: 0.4, position: [0, 0, -0.2]}\n"
                "      - {shape: brick, position: [0, 0, 0.1], rotation_vector: [0, 0, 1.5708]}\n"},
    {.name = "link",
     .title = "link",
     .size = sizeof(LinkForm),
     .includes = {{"pose", AT(LinkForm, pose)}},
     .meaning = "A rigid body: a union of shapes. position and rotation are the pose of the link's frame in its "
                "parent's frame (or in the world) at zero joint coordinates. They abbreviate position and rotation of "
                "the joint. A link without parent and joint is free. A link with a parent needs a joint or `fixed: "
                "true`.",
     .example = "links:\n"
                "  - {name: post, fixed: true, shape: {type: box, size: [0.1, 0.1, 1]}, position: [0, 0, 0.5]}\n"
                "  - name: arm\n"
                "    parent: post\n"
                "    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.6]}\n"
                "    shapes: [{type: capsule, radius: 0.03, length: 0.3, position: [0, 0, 0.2]}]\n"
                "    mass: 0.8\n"
                "    mass_model: uniform\n"
                "    color: \"#d55e00\"\n"
                "  - name: sensor\n"
                "    parent: arm\n"
                "    fixed: true\n"
                "    position: [0, 0, 0.4]\n"
                "    mass: 0.1\n"
                "    center: [0, 0, 0.01]\n"
                "    inertia: [1.0e-5, 1.0e-5, 1.0e-5, 0, 0, 0]\n"},
    {.name = "joint",
     .title = "joint",
     .size = sizeof(JointForm),
     .type_key = "type",
     .includes = {{"pose", AT(JointForm, pose)}},
     .meaning =
         "Joint between a link and its parent. position and rotation are the pose of the joint's frame in the parent's "
         "frame. At zero coordinates the link's frame coincides with the joint's frame. Three free rotations are a "
         "quaternion.",
     .example =
         "links:\n"
         "  - name: base\n"
         "    mass: 5\n"
         "    shape: {type: box, size: [0.4, 0.3, 0.1]}\n"
         "    joint: {type: free, free_axes: [x, y, rz], damping: [1, 1, 0.1]}\n"
         "  - name: thigh\n"
         "    parent: base\n"
         "    mass: 1\n"
         "    shape: {type: capsule, radius: 0.03, length: 0.2, position: [0, 0, -0.15]}\n"
         "    joint:\n"
         "      type: universal\n"
         "      position: [0.2, 0, -0.05]\n"
         "      axes: [[1, 0, 0], [0, 1, 0]]\n"
         "      limits: [[-0.5, 0.5], null]\n"
         "  - name: shank\n"
         "    parent: thigh\n"
         "    mass: 0.5\n"
         "    shape: {type: capsule, radius: 0.03, length: 0.2, position: [0, 0, -0.15]}\n"
         "    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.3], limits: [0, 2.5], limit_margin: 0.1}\n"
         "initial:\n"
         "  - {link: shank, coordinates: [0.7]}\n"},
    {.name = "repeat",
     .title = "repeat, of a link",
     .size = sizeof(RepeatForm),
     .meaning =
         "Creates many links from one item. Names, parents, groups and shape names may contain {expressions} of "
         "integers with + - * / % and brackets. The variables are i, j, k (the indices of the count's axes) and n "
         "(number of items so far). Division rounds down, so that {(i-1)%8} is never negative.",
     .example = "shapes:\n"
                "  rod: {type: capsule, radius: 0.02, length: 0.1}\n"
                "  hub: {type: sphere, radius: 0.1}\n"
                "links:\n"
                "  # a chain of five hinges; the first hangs on the world\n"
                "  - name: chain{i}\n"
                "    parent: chain{i-1}\n"
                "    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.2]}\n"
                "    shapes: [{shape: rod, position: [0, 0, -0.1]}]\n"
                "    mass: 0.1\n"
                "    repeat:\n"
                "      count: 5\n"
                "      first: {parent: null, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 2]}}\n"
                "  # a pile of 3 x 3 x 4 boxes\n"
                "  - name: box{n}\n"
                "    shape: {type: box, size: [0.1, 0.1, 0.1]}\n"
                "    mass: 0.2\n"
                "    position: [1, 0, 0.1]\n"
                "    repeat: {count: [3, 3, 4], position: [0.15, 0.15, 0.15]}\n"
                "  # a hub with a ring of four legs\n"
                "  - {name: hub, mass: 1, shape: hub, position: [3, 0, 1]}\n"
                "  - name: leg{i}\n"
                "    parent: hub\n"
                "    mass: 0.2\n"
                "    shapes: [{shape: rod, position: [0, 0, -0.1]}]\n"
                "    joint: {type: hinge, axis: [0, 1, 0], position: [0.2, 0, 0]}\n"
                "    repeat: {count: 4, start: 1, rotation_vector: [0, 0, 1.5707963267948966], around: [0, 0, 0]}\n"},
    {.name = "repeat_controller",
     .title = "repeat, of a controller",
     .size = sizeof(RepeatForm),
     .meaning = "Repeats the controller; `link` may contain {expressions}.",
     .example = "links:\n"
                "  - name: wheel{i}\n"
                "    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 1]}\n"
                "    shape: {type: cylinder, radius: 0.1, length: 0.05}\n"
                "    density: 500\n"
                "    repeat: {count: 4, position: [0.3, 0, 0]}\n"
                "controllers:\n"
                "  - link: wheel{i}\n"
                "    type: pd\n"
                "    position_gain: 10\n"
                "    damping_gain: 1\n"
                "    target: 0.5\n"
                "    repeat: {count: 4}\n"},
    {.name = "repeat_load",
     .title = "repeat, of a load",
     .size = sizeof(RepeatForm),
     .meaning = "Repeats the load; `link` may contain {expressions}.",
     .example = "links:\n"
                "  - {name: \"ball{i}\", shape: {type: sphere, radius: 0.1}, mass: 1, repeat: {count: 3, position: [1, "
                "0, 0]}}\n"
                "loads:\n"
                "  - {link: \"ball{i}\", force: [0, 0, 9.81], repeat: {count: 3, first: {force: [0, 0, 20]}}}\n"},
    {.name = "repeat_initial",
     .title = "repeat, of initial",
     .size = sizeof(RepeatForm),
     .meaning = "Repeats the item; `link` may contain {expressions}.",
     .example = "links:\n"
                "  - {name: \"ball{i}\", shape: {type: sphere, radius: 0.1}, mass: 1, repeat: {count: 3, position: [1, "
                "0, 0]}}\n"
                "initial:\n"
                "  - link: ball{i}\n"
                "    coordinates: [0, 0, 1, 0, 0, 0]\n"
                "    velocities: [0.5, 0, 0, 0, 0, 0]\n"
                "    repeat: {count: 3, coordinates: [0, 0, 0.1, 0, 0, 0], velocities: [0.5, 0, 0, 0, 0, 0]}\n"},
    {.name = "first_link",
     .title = "first",
     .size = sizeof(LinkForm),
     .includes = {{"link", 0}},
     .partial = true,
     .meaning = "Keys of a link."},
    {.name = "first_controller",
     .title = "first",
     .size = sizeof(ControllerForm),
     .type_key = "type",
     .includes = {{"controller", 0}},
     .partial = true,
     .meaning = "Keys of a controller."},
    {.name = "first_load",
     .title = "first",
     .size = sizeof(LoadForm),
     .includes = {{"load", 0}},
     .partial = true,
     .meaning = "Keys of a load."},
    {.name = "first_initial",
     .title = "first",
     .size = sizeof(InitialForm),
     .includes = {{"initial", 0}},
     .partial = true,
     .meaning = "Keys of an initial item."},
    {.name = "controller",
     .title = "controller",
     .size = sizeof(ControllerForm),
     .type_key = "type",
     .meaning = "A motor or other drive of a link's joint. Gains here are twice the gains of the SDRS paper, which "
                "omit the factor 1/2.",
     .example =
         "links:\n"
         "  - name: arm\n"
         "    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 1]}\n"
         "    shapes: [{type: capsule, radius: 0.03, length: 0.3, position: [0, 0, 0.2]}]\n"
         "    mass: 1\n"
         "  - {name: wheel, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: hinge, axis: [0, 1, 0], "
         "position: [1, "
         "0, 1]}}\n"
         "  - {name: fan, mass: 1, shape: {type: sphere, radius: 0.1}, joint: {type: hinge, axis: [0, 0, 1], position: "
         "[2, "
         "0, 1]}}\n"
         "  - name: table\n"
         "    joint: {type: slide, axis: [1, 0, 0]}\n"
         "    shape: {type: box, size: [1, 1, 0.1]}\n"
         "controllers:\n"
         "  - {link: arm, type: pd, position_gain: 100, damping_gain: 10, max_force: 20, target: [0.5]}\n"
         "  - {link: wheel, type: torque, target: 0.6, damping_gain: 0.02}\n"
         "  - {link: fan, type: velocity, target: 30, damping_gain: 0.1, max_force: 0.5}\n"
         "  - {link: table, type: prescribed, target: {type: sines, terms: [{amplitude: 0.1, frequency: 2}]}}\n"},
    {.name = "feedback",
     .title = "feedback of a controller",
     .size = sizeof(FeedbackForm),
     .type_key = "type",
     .meaning =
         "Adds a feedback term to the signal of the controller's target. The term is a matrix times measurements, or "
         "the outputs of a small neural network (`type: mlp`), one per degree of freedom. Measurements are taken at "
         "the start of every step (docs/derivations/feedback.md). A measurement is a text, named like the columns of a "
         "run:\n"
         "\n"
         "* `link/angle`, `link/position`, `link/x` ...: a coordinate of the link's joint, as joints.csv calls it (no "
         "quaternions), and its rate `link/angle/rate`\n"
         "* `link/px`, `py`, `pz`: origin of the link's frame; `link/cx`, `cy`, `cz`: its centre of mass [m]\n"
         "* `link/vx`, `vy`, `vz`: velocity of the centre of mass [m/s]; `link/wx`, `wy`, `wz`: angular velocity "
         "[rad/s]; world axes\n"
         "* `link/xx`, `xy` ... `zz`: the component of the link's axis (first letter) along the world's axis (second "
         "letter): `link/zx` is the x component of its z axis\n"
         "* `link/fx`, `fy`, `fz`: force of contact and friction on the link in the previous step, 0 at the start [N]\n"
         "\n"
         "Rates and velocities are differences of the last two states. Tasks find the matrix or the weights (`control` "
         "with `parameters: [feedback]`). A network receives the numbers in their units. Choose measurements of about "
         "1, or small first weights.",
     .example = "links:\n"
                "  - name: cart\n"
                "    joint: {type: slide, axis: [1, 0, 0]}\n"
                "    shape: {type: box, size: [0.4, 0.2, 0.1]}\n"
                "    mass: 1\n"
                "  - name: pole\n"
                "    parent: cart\n"
                "    joint: {type: hinge, axis: [0, 1, 0]}\n"
                "    shapes: [{type: box, size: [0.04, 0.04, 1], position: [0, 0, 0.5]}]\n"
                "    mass: 0.1\n"
                "controllers:\n"
                "  - link: cart\n"
                "    type: torque\n"
                "    target: 0\n"
                "    feedback:\n"
                "      measures: [cart/position, cart/position/rate, pole/angle, pole/angle/rate]\n"
                "      matrix: [1, 2, 30, 8]\n"},
    {.name = "load",
     .title = "load",
     .size = sizeof(LoadForm),
     .meaning = "A force on a point of a link, a torque, or both. The load is constant during the whole run, or a "
                "signal over time. Alternatively, the load is a field between the link and another link.",
     .example = "links:\n"
                "  - {name: crate, shape: {type: box, size: [0.4, 0.4, 0.4]}, mass: 10}\n"
                "  - {name: drone, shape: {type: box, size: [0.3, 0.3, 0.05]}, mass: 1, position: [0, 0, 1]}\n"
                "loads:\n"
                "  # a push of 30 N along x at the middle of the upper edge, for a fifth of a second\n"
                "  - link: crate\n"
                "    point: [-0.2, 0, 0.2]\n"
                "    force: {type: keyframes, times: [0.5, 0.501, 0.7, 0.701], values: [[0, 0, 0], [30, 0, 0], [30, 0, "
                "0], [0, 0, 0]]}\n"
                "  # a propeller: its thrust and its reaction torque\n"
                "  - {link: drone, axes: link, force: [0, 0, 10], torque: [0, 0, 0.02]}\n"},
    {.name = "field",
     .title = "field",
     .size = sizeof(FieldForm),
     .type_key = "type",
     .meaning = "Attraction or repulsion at a distance. The other link receives the opposite force, and torques "
                "conserve the total angular momentum. Forces are evaluated at the poses at the start of a step. Their "
                "energy is part of the potential energy if the strength is constant.",
     .example = "simulation: {gravity: [0, 0, 0]}\n"
                "links:\n"
                "  - {name: earth, mass: 10, shape: {type: sphere, radius: 0.2}}\n"
                "  - {name: moon, mass: 1, position: [2, 0, 0], shape: {type: sphere, radius: 0.1}}\n"
                "  - {name: needle, mass: 0.01, position: [4, 0, 0], shape: {type: box, size: [0.1, 0.01, 0.01]}}\n"
                "loads:\n"
                "  - {link: moon, field: {type: point, to: earth, strength: 5}}\n"
                "  # a magnet of 0.1 A m^2 along x in the field of the earth\n"
                "  - link: needle\n"
                "    field: {type: uniform, axis: [1, 0, 0], strength: 0.1, flux_density: [2.0e-5, 0, -4.0e-5]}\n"},
    {.name = "tendon",
     .title = "tendon",
     .size = sizeof(TendonForm),
     .meaning = "A cable without mass or friction that runs through points of links. Its force is tension + stiffness "
                "x (length - rest_length). The second term acts only while the tendon is longer than rest_length. "
                "Every point is pulled towards its neighbours. `range` limits the length.",
     .example =
         "links:\n"
         "  - {name: upper, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: capsule, radius: 0.02, "
         "length: 0.3, position: [0, 0, 0.15]}], mass: 1}\n"
         "  - {name: lower, parent: upper, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.3]}, shapes: "
         "[{type: capsule, radius: 0.02, length: 0.3, position: [0, 0, 0.15]}], mass: 1}\n"
         "tendons:\n"
         "  - points: [{link: world, point: [0.05, 0, 0]}, {link: upper, point: [0.03, 0, 0.28]}, {link: lower, "
         "point: [0.03, 0, 0.1]}]\n"
         "    tension: 20\n"
         "    stiffness: 100\n"
         "    rest_length: 0.3\n"},
    {.name = "tendon_wrap",
     .title = "wrap of a tendon",
     .size = sizeof(TendonWrapForm),
     .type_key = "type",
     .meaning = "A solid that the tendon wraps around between two neighbouring points, along the shortest path on its "
                "surface. If the straight line between the points misses the solid, the tendon does not touch the "
                "solid. The points must stay outside of the solid. The tendon's force acts on the solid's link.",
     .example =
         "links:\n"
         "  - {name: load, mass: 2, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [0, 0, 1]}}\n"
         "  - {name: drum, mass: 1, shape: {type: cylinder, radius: 0.1, length: 0.05}, joint: {type: hinge, axis: [0, "
         "1, 0], position: [0.1, 0, 1]}}\n"
         "tendons:\n"
         "  # from the load over a drum to the floor\n"
         "  - points: [{link: load}, {point: [0.2, 0, -0.5]}]\n"
         "    wrap: [{type: cylinder, link: drum, radius: 0.1, axis: [0, 1, 0], side: [0, 0, 0.2]}]\n"
         "    tension: 20\n"},
    {.name = "tendon_point",
     .title = "point of a tendon",
     .size = sizeof(TendonPointForm),
     .meaning = "A point of a link at which the tendon is fastened or through which it runs."},
    {.name = "repeat_tendon_point",
     .title = "repeat, of a point of a tendon",
     .size = sizeof(RepeatForm),
     .meaning = "Repeats the point; `link` and the numbers may contain {expressions}.",
     .example =
         "links:\n"
         "  - {name: \"disc{i}\", shape: {type: cylinder, radius: 0.1, length: 0.02}, mass: 1, repeat: {count: 3, "
         "position: [0, 0, 0.1]}}\n"
         "tendons:\n"
         "  - points: [{point: [0.1, 0, -0.1]}, {link: \"disc{i}\", point: [0.1, 0, 0], repeat: {count: 3}}]\n"
         "    tension: 5\n"},
    {.name = "bushing",
     .title = "bushing",
     .size = sizeof(BushingForm),
     .meaning =
         "A spring and a damper between a frame on `a` and a frame on `b`. u = (translation, rotation vector) is the "
         "pose of frame_b relative to frame_a. The energy is u . stiffness u / 2 - preload . u. The force and torque "
         "that pull `b` back are stiffness u - preload + damping du/dt, in the axes of frame_a. `a` receives the "
         "reaction. If a stiffness, damping or preload acts on rotations, these must stay below 3.1 rad. A run with a "
         "larger rotation ends with an error. Links joined by a bushing may touch each other. "
         "docs/derivations/loads.md, L18",
     .example =
         "links:\n"
         "  - {name: engine, mass: 100, position: [0, 0, 0.5], shape: {type: box, size: [0.6, 0.4, 0.4]}}\n"
         "bushings:\n"
         "  # two mounts on the ground; the engine's weight is carried by the preload\n"
         "  - {a: engine, frame_a: {position: [-0.2, 0, -0.2]}, frame_b: {position: [-0.2, 0, 0.3]}, stiffness: "
         "[2.0e5, 2.0e5, 5.0e5, 100, 100, 100], damping: [500, 500, 800, 1, 1, 1], preload: [0, 0, -490.5, 0, 0, 0]}\n"
         "  - {a: engine, frame_a: {position: [0.2, 0, -0.2]}, frame_b: {position: [0.2, 0, 0.3]}, stiffness: "
         "[2.0e5, 2.0e5, 5.0e5, 100, 100, 100], damping: [500, 500, 800, 1, 1, 1], preload: [0, 0, -490.5, 0, 0, "
         "0]}\n"},
    {.name = "bushing_frame",
     .title = "frame of a bushing",
     .size = sizeof(BushingFrameForm),
     .includes = {{"pose", AT(BushingFrameForm, pose)}},
     .meaning = "A frame fixed to a link, or to the world."},
    {.name = "rod",
     .title = "rod",
     .size = sizeof(RodForm),
     .meaning =
         "An elastic rod with a round, solid section: cable, spring of wire, soft finger. The rod becomes a chain of "
         "capsule links, joined by bushings. Each link has the mass of its segment. The stiffness of a bushing is E pi "
         "r^4 / 4 in bending and G pi r^4 / 2 in torsion. It is E pi r^2 in stretching and 0.9 G pi r^2 in shear. Each "
         "stiffness is divided by the length between the midpoints of both segments. The frame of a link lies at the "
         "midpoint of its segment, with z along the segment. Loads, contact, tendons and parameters of tasks act on "
         "rods as on other links and bushings. Segments less than pi r apart along the rod do not touch each other. "
         "docs/derivations/loads.md, L50",
     .example = "rods:\n"
                "  # a rubber rope between a wall and a ball\n"
                "  - {name: rope, points: [[0, 0, 1], [0.5, 0, 1]], radius: 0.005, young: 1.0e6, density: 1100, from: "
                "{}, to: {link: ball, type: pinned}}\n"
                "links:\n"
                "  - {name: ball, mass: 0.1, position: [0.55, 0, 1], shape: {type: sphere, radius: 0.05}}\n"},
    {.name = "rod_end",
     .title = "end of a rod",
     .size = sizeof(RodEndForm),
     .meaning = "A link, or the world, that holds an end of a rod."},
    {.name = "closure",
     .title = "closure",
     .size = sizeof(ClosureForm),
     .type_key = "type",
     .meaning = "A constraint between two links beside the joints of the tree. Points and axes are given in the world "
                "at the start, or in the frame of `a` (`axes`). They are then fixed in both links, so a loop is closed "
                "at the start. The two links of a closure without break_force and active have no contact with each "
                "other. The links of a distance may have contact.",
     .example =
         "links:\n"
         "  - {name: crank, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shapes: [{type: box, size: [0.2, 0.02, "
         "0.02], position: [0.1, 0, 0]}]}\n"
         "  - {name: rod, parent: crank, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [0.2, 0, 0]}, "
         "shapes: [{type: box, size: [0.5, 0.02, 0.02], position: [0.25, 0, 0]}]}\n"
         "  - {name: piston, mass: 1, joint: {type: slide, axis: [1, 0, 0], position: [0.7, 0, 0]}, shape: {type: "
         "box, size: [0.1, 0.1, 0.1]}}\n"
         "closures:\n"
         "  - {type: hinge, a: rod, b: piston, point: [0.7, 0, 0], axis: [0, 1, 0]}\n"},
    {.name = "coupling",
     .title = "coupling",
     .size = sizeof(CouplingForm),
     .meaning = "An exact linear relation between joint coordinates. The joints may belong to different trees.",
     .example =
         "links:\n"
         "  - {name: pinion, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}, shape: {type: sphere, radius: 0.1}}\n"
         "  - {name: wheel, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [0.4, 0, 0]}, shape: {type: "
         "sphere, radius: 0.2}}\n"
         "  - {name: rack, mass: 1, joint: {type: slide, axis: [1, 0, 0], position: [0, 0, 0.5]}, shape: {type: box, "
         "size: [0.5, 0.1, 0.05]}}\n"
         "couplings:\n"
         "  - {link: wheel, of: pinion, ratio: -0.5}\n"
         "  - {link: rack, of: pinion, ratio: 0.1}\n"},
    {.name = "coupling_term",
     .title = "terms",
     .size = sizeof(CouplingTermForm),
     .meaning = "One of several coordinates that a coupling follows, or whose sum is the length of a tendon."},
    {.name = "signal",
     .title = "signal",
     .size = sizeof(SignalForm),
     .type_key = "type",
     .meaning = "A value over time: one channel per degree of freedom of a joint, three for a load, in the unit of the "
                "driven quantity. A number gives the same constant for all channels. A list gives one constant per "
                "channel.",
     .example = "links:\n"
                "  - name: arm{i}\n"
                "    joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]], position: [0, 0, 1]}\n"
                "    shape: {type: sphere, radius: 0.1}\n"
                "    mass: 1\n"
                "    repeat: {count: 5, position: [1, 0, 0]}\n"
                "controllers:\n"
                "  - {link: arm0, type: pd, position_gain: 10, target: {type: constant, value: [0.1, 0.2]}}\n"
                "  - link: arm1\n"
                "    type: pd\n"
                "    position_gain: 10\n"
                "    target: {type: keyframes, times: [0, 1, 1.5], values: [[0, 0], [0.5, 0], [0, 0.5]]}\n"
                "  - link: arm2\n"
                "    type: pd\n"
                "    position_gain: 10\n"
                "    target: {type: spline, duration: 2, values: [[0, 0], [0.5, 0], [0, 0.5], [0, 0]]}\n"
                "  - link: arm3\n"
                "    type: pd\n"
                "    position_gain: 10\n"
                "    target:\n"
                "      type: sines\n"
                "      offset: [0.1, 0]\n"
                "      terms:\n"
                "        - [{amplitude: 0.3, frequency: 1}, {amplitude: 0.1, frequency: 2, phase: 1.57}]\n"
                "        - [{amplitude: 0.2, frequency: 1}]\n"
                "  - link: arm4\n"
                "    type: pd\n"
                "    position_gain: 10\n"
                "    target: {type: sequence, interval: 0.5, values: [[0, 0], [0.1, 0], [0.2, 0.1]]}\n"
                "  # rows of a file:\n"
                "  # - {link: arm4, type: torque, target: {type: csv, file: motor.csv, columns: [left, right]}}\n"},
    {.name = "sine",
     .title = "sine",
     .size = sizeof(SineForm),
     .meaning = "amplitude * sin(2 pi frequency t + phase)."},
    {.name = "initial",
     .title = "initial",
     .size = sizeof(InitialForm),
     .meaning = "Joint coordinates and velocities at time 0.",
     .example = "links:\n"
                "  - {name: top, shape: {type: sphere, radius: 0.1}, mass: 1}\n"
                "  - name: door\n"
                "    joint: {type: hinge, axis: [0, 0, 1], position: [2, 0, 0]}\n"
                "    shape: {type: box, size: [0.8, 0.04, 2]}\n"
                "    mass: 20\n"
                "initial:\n"
                "  - {link: top, coordinates: [0, 0, 1, 1, 0, 0, 0], velocities: [0, 0, 0, 0, 0, 30]}\n"
                "  - {link: door, coordinates: [0.5]}\n"},
};

_Static_assert(sizeof SCENE_OBJECTS / sizeof SCENE_OBJECTS[0] == SCENE_OBJECT_COUNT, "all of them are counted");
