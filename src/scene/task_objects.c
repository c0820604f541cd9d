/* The objects of tasks: what each is, with an example; their keys are in task_table.c. The order is that of the
 * documentation. */
#include "scene/task_parts.h"

#define AT(type, member) offsetof(type, member)

const SchemaObject TASK_OBJECTS[] = {
    {.name = "task",
     .title = "The file",
     .size = sizeof(TaskForm),
     .meaning = "A task is a YAML (or JSON) map with these keys: scenes, what may change in them, what is wanted, and "
                "how it is sought. At least one of design (with vertices, a cage or attachments), control, initial and "
                "parameters must say what may change.",
     .example = "# the end of a double pendulum is to be at a point after two seconds\n"
                "name: reach\n"
                "scene: ../scenes/double-pendulum.yaml\n"
                "steps: 200\n"
                "design:\n"
                "  vertices: [{link: lower, axes: [x, z], within: 0.05}]\n"
                "  attachments: [{link: lower, axes: [z], within: 0.1}]\n"
                "loss:\n"
                "  - {type: point, link: lower, point: [0, 0, -1], target: [0.5, 0, -1.5]}\n"
                "  - {type: volume, weight: 0.01}\n"
                "optimizer: {type: adam, iterations: 50}\n"},
    {.name = "scenario",
     .title = "scenario",
     .size = sizeof(ScenarioForm),
     .meaning = "One scene that the design and the control are tried in.",
     .example = "scenarios:\n"
                "  - {name: smooth, scene: ../scenes/slide.yaml, steps: 100, set: [contact.friction=0.1]}\n"
                "  - {name: rough, scene: ../scenes/slide.yaml, steps: 50, weight: 0.5}\n"
                "  - name: short\n"
                "    scene:\n"
                "      simulation: {dt: 0.01, steps: 20}\n"
                "      links: [{name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n"
                "initial: [{link: box, velocities: true, dof: [0]}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"},
    {.name = "design",
     .title = "design",
     .size = sizeof(DesignForm),
     .meaning = "What may change in the links and joints.",
     .example = "scene: ../scenes/pendulum.yaml\n"
                "design:\n"
                "  mass: density\n"
                "  min_thickness: 0.005\n"
                "  connect: true\n"
                "  vertices: [{link: rod8}]\n"
                "loss: [{type: travel, link: rod8, direction: [1, 0, 0]}]\n"},
    {.name = "which",
     .title = "which links",
     .size = sizeof(WhichForm),
     .part = true,
     .meaning = "Links of the scene."},
    {.name = "bounds",
     .title = "bounds",
     .size = sizeof(BoundsForm),
     .part = true,
     .meaning = "Where coordinates may go."},
    {.name = "interval",
     .title = "interval",
     .size = sizeof(IntervalForm),
     .part = true,
     .meaning = "Where variables may go."},
    {.name = "vertices",
     .title = "vertices",
     .size = sizeof(VerticesForm),
     .includes = {{"which", AT(VerticesForm, which)}, {"bounds", AT(VerticesForm, bounds)}},
     .meaning = "Vertices of a link's hulls that move, in the link's frame. The hull is that of the moved vertices.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  vertices:\n"
                "    - links: [chain0link0, chain0link1]\n"
                "      box: {low: [-1, -1, -1], high: [1, 1, 0]}\n"
                "      axes: [x, y]\n"
                "      within: 0.02\n"
                "    - {link: chain0link2, hulls: [0], low: -0.2, high: [0.05, 0.05, 0.1]}\n"
                "loss: [{type: shape}]\n"},
    {.name = "cage",
     .title = "cage",
     .size = sizeof(CageForm),
     .includes = {{"which", AT(CageForm, which)}, {"bounds", AT(CageForm, bounds)}},
     .meaning = "A box of control points around a link, `link/cage/0/x`, the first axis running fastest. Its vertices "
                "move with them, trilinear in each cell, so what lies in one place stays together and the topology "
                "stays what it is; the hulls are those of the moved vertices, triangles of a mesh (`pieces: "
                "triangles`) its moved triangles. Bounds are those of control points: no vertex moves farther than "
                "`within`. A link has vertices or a cage.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  cage: [{links: [chain0link0, chain0link1], cells: [2, 2, 4], within: 0.02}]\n"
                "loss: [{type: shape}]\n"},
    {.name = "frozen",
     .title = "frozen",
     .size = sizeof(FrozenForm),
     .includes = {{"which", AT(FrozenForm, which)}},
     .meaning =
         "Vertices of a link's hulls that stay where they are: mounting faces, bearings. A vertex that is tied to "
         "one that stays does not move either. Not of a link that follows another: what it follows has them.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  vertices: [{link: chain0link0, within: 0.02}]\n"
                "  frozen: [{link: chain0link0, box: {low: [-1, -1, 0.1], high: [1, 1, 1]}}]\n"
                "loss: [{type: shape}]\n"},
    {.name = "box",
     .title = "box",
     .size = sizeof(BoxForm),
     .meaning = "A box with edges along the axes of the link's frame."},
    {.name = "attachment",
     .title = "attachment",
     .size = sizeof(AttachmentForm),
     .includes = {{"which", AT(AttachmentForm, which)}, {"bounds", AT(AttachmentForm, bounds)}},
     .meaning = "The origin of a link's joint moves in its parent's frame, and with it every link below.",
     .example = "scene: ../scenes/double-pendulum.yaml\n"
                "design: {attachments: [{link: lower, axes: [x], within: 0.05}]}\n"
                "loss: [{type: point, link: lower, target: [0.5, 0, -1]}]\n"},
    {.name = "symmetry",
     .title = "symmetry",
     .size = sizeof(SymmetryForm),
     .type_key = "type",
     .meaning = "Links that stay alike: the design of the first is varied, that of the others follows.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  vertices: [{links: [chain0link0, chain0link1, chain0link2], within: 0.02}]\n"
                "  symmetry:\n"
                "    - {type: copy, links: [chain0link0, chain0link1, chain0link2]}\n"
                "    - {type: mirror, links: [chain0link0], normal: [0, 1, 0]}\n"
                "    - {type: rotation, links: [chain0link0], axis: [0, 0, 1], count: 2}\n"
                "loss: [{type: travel, link: chain0link2, direction: [1, 0, 0]}]\n"},
    {.name = "constraint",
     .title = "constraint",
     .size = sizeof(ConstraintForm),
     .meaning = "A linear condition on coordinates of attachments, controller parameters and initial values.",
     .example = "scene: ../scenes/double-pendulum.yaml\n"
                "design:\n"
                "  attachments: [{links: [upper, lower], axes: [z]}]\n"
                "  constraints:\n"
                "    - variables: [upper/attachment/z, lower/attachment/z]\n"
                "      coefficients: [1, -1]\n"
                "      relation: at_least\n"
                "      value: 0.1\n"
                "loss: [{type: point, link: lower, target: [0.5, 0, -1]}]\n"},
    {.name = "control",
     .title = "control",
     .size = sizeof(ControlForm),
     .includes = {{"which", AT(ControlForm, which)}, {"interval", AT(ControlForm, interval)}},
     .meaning = "Parameters of the controllers of a link's joint, and of the loads on it, that move. They are called "
                "`link/values/3`, of further controllers `link/controller2_values/3`, of loads `link/force_values/0`.",
     .example = "scene: ../scenes/spider.yaml\n"
                "control: [{links: [upper0, upper1], parameters: [amplitude, phase], within: 0.5}]\n"
                "loss: [{type: travel, link: body, direction: [1, 0, 0]}, {type: effort, weight: 1e-6}]\n"},
    {.name = "start",
     .title = "initial",
     .size = sizeof(StartForm),
     .includes = {{"which", AT(StartForm, which)}, {"interval", AT(StartForm, interval)}},
     .meaning = "Initial values of a joint that move.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true, dof: [0], within: 3}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"},
    {.name = "parameter",
     .title = "parameters",
     .size = sizeof(ParameterForm),
     .type_key = "type",
     .includes = {{"which", AT(ParameterForm, which)}, {"interval", AT(ParameterForm, interval)}},
     .meaning =
         "Physical parameters that move. They are called `link/mass`, `link/damping/0`, `contact/friction`.\n\n"
         "* `mass` [kg] of links (kg/m^3 where a density is given); the distribution stays\n"
         "* `center` [m]: the centre of mass in the link's frame; the link's mass then is a given one, which does not "
         "follow its shape\n"
         "* `inertia` about the centre of mass, likewise; every value of its variables is a possible body "
         "(docs/derivations/design.md, D9)\n"
         "* `size` [m]: the edges of the link's box; of a link without one the lengths of its round solids (radius, "
         "width, rim, length, in the order of their keys), as with shape_size\n"
         "* `damping`, `joint_stiffness`, `joint_friction`, `armature`, `joint_static_friction` of the links' joints\n"
         "* `axis` [rad]: how far the axis of a joint that has one is tilted from the scene's, about axes of the "
         "joint's "
         "frame; `rotation` [rad]: the same of the frame itself, with all that hangs on it (rotation vectors, "
         "docs/derivations/design.md, D11)\n"
         "* `shape_size` [m]: lengths of the convex smooth shapes (sizes, offsets of faces) and the exact round solids "
         "that links "
         "have; "
         "`shape_form`: "
         "their exponents and sharpness\n"
         "* `link_friction`, `link_restitution`, `link_rolling` [m], `link_spinning` [m] that links have of their own\n"
         "* `pair_friction`, `pair_restitution`, `pair_rolling` [m], `pair_spinning` [m] of an item of contact.pairs, "
         "with `a` and `b` instead of a link\n"
         "* `closure_point` [m], `closure_axis`, `closure_length` [m] of the scene's closures, with their `a` and `b`; "
         "`ratio` of what links with couplings follow (links: those that follow), where the coupling gives no "
         "`offset`; `offset` [m or rad] where it does: the joint that follows starts as much farther on. All move with "
         "the start closed. An axis that leaves the plane of a flat linkage locks it\n"
         "* `tendon_point` [m], `tendon_stiffness` [N/m], `tendon_rest_length` [m]: all points, the stiffness, the "
         "rest "
         "length "
         "of the tendons that end on the links; `tendon_wrap_radius` [m], `tendon_wrap_position` [m], "
         "`tendon_wrap_axis` of what these go round\n"
         "* `bushing_stiffness` [N/m, N m/rad], `bushing_damping` [N s/m, N m s/rad]: entries above 0 on the "
         "diagonals, "
         "`bushing_preload` [N, N m], `bushing_position_a` [m], `bushing_position_b` [m]: where the frames are "
         "fastened, of the bushings whose `a` is one of the links\n"
         "* `gravity` [m/s^2], of the scene and without a link, like all that follow\n"
         "* `fluid_density` [kg/m^3], `fluid_viscosity` [Pa s], `fluid_velocity` [m/s], `fluid_level` [m] of the "
         "scene's fluid\n"
         "* `friction`, `barrier_distance` [m], `stiffness`, `smoothing` [(m/s)^2], `rest_speed` [m/s], `restitution`, "
         "`rolling` [m], `spinning` [m] of the contact",
     .example = "scene: ../scenes/slide.yaml\n"
                "steps: 50\n"
                "parameters:\n"
                "  - {type: friction, low: 0.05, high: 1}\n"
                "  - {type: mass, link: box, within: 0.5}\n"
                "  - {type: inertia, link: box, form: diagonal}\n"
                "  - {type: size, link: box, axes: [x, y], tie: true, within: 0.02}\n"
                "  - {type: gravity, within: 0.3}\n"
                "loss: [{type: point, link: box, target: [0.04, 0, 0.1]}]\n"},
    {.name = "loss",
     .title = "loss",
     .size = sizeof(LossForm),
     .type_key = "type",
     .meaning =
         "A term of what is made small.\n\n"
         "* `point`: distance of a point of the link from its target (power 1), or its square (power 2)\n"
         "* `travel`: minus the way of the centre of mass along the direction, from the beginning to the end of the "
         "window\n"
         "* `relative`: squared change of the place of the other link's centre in this link's frame, since the "
         "beginning of the window\n"
         "* `reach`: max(distance^2 - margin^2, 0), of a point of the link from its target\n"
         "* `orientation`: squared difference of the link's axis and the target\n"
         "* `velocity`: squared difference of the velocity of a point of the link and the target\n"
         "* `effort`: squared forces of the controllers, summed over degrees of freedom\n"
         "* `smoothness`: squared rates of the controllers' targets\n"
         "* `force`: squared difference of the contact force on the link and the target\n"
         "* `gap`: max(margin - smallest gap of the link and the other, 0)^2\n"
         "* `shape`: squared distance of the vertices from where they were, mean over vertices\n"
         "* `volume`: (volume / initial volume - 1)^2, summed over hulls\n"
         "* `roughness`: squared difference of the displacements of neighbouring vertices, mean over edges\n"
         "* `approach`: max(D - margin^2, 0), D the squared distance of the link and the other, smoothed over what is "
         "nearly nearest\n"
         "* `pose`: squared distance of a point of the link from its target, and length^2 times about the square of "
         "the "
         "angle between its frame and the rotation\n"
         "* `neck`: margin - diameter of the widest ball that fits through the overlaps from each hull of the link to "
         "each other\n"
         "* `wall`: margin - width of the link's thinnest hull\n"
         "* `overhang`: surface that leans out by more than an angle, times the square of what its sine exceeds\n"
         "* `extent`: size of the link along a direction\n"
         "* `keep_out`: margin - distance of the link's hulls from a box in its frame\n"
         "* `clearance`: margin - least distance of the link from the other while its joint goes through all its "
         "range\n"
         "* `removal`: margin - least distance of the link from the others while it is taken out along a direction\n"
         "* `mass`: of the link; with `links` that of all of them",
     .example =
         "seed: 1\n"
         "scene: ../scenes/spider.yaml\n"
         "control: [{link: upper0}]\n"
         "loss:\n"
         "  - {type: travel, name: forward, link: body, direction: [1, 0, 0], weight: 2}\n"
         "  - {type: orientation, link: body, axis: [0, 0, 1], target: [0, 0, 1], from: 0, to: 1}\n"
         "  - {type: reach, link: body, point: [0.1, 0, 0], target: [1, 0, 0.3], margin: 0.05, spread: [0.1, 0.1, "
         "0]}\n"
         "  - {type: effort, weight: 1e-6}\n"},
    {.name = "subject",
     .title = "subject_to",
     .size = sizeof(SubjectForm),
     .type_key = "type",
     .includes = {{"loss", AT(SubjectForm, loss)}},
     .meaning =
         "A term of the same types and keys as those of loss that must stay at or below a number: an augmented "
         "Lagrangian around the optimizer sees to it (docs/derivations/update.md, O11). With several scenarios it is "
         "the weighted sum over them that is bounded.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true, dof: [0], within: 3}]\n"
                "loss: [{type: velocity, link: box, target: [0, 0, 0], to: 0.01}]\n"
                "subject_to: [{type: travel, link: box, direction: [1, 0, 0], max: -0.1}]\n"},
    {.name = "success",
     .title = "success",
     .size = sizeof(SubjectForm),
     .type_key = "type",
     .includes = {{"loss", AT(SubjectForm, loss)}},
     .meaning =
         "A term of the same types and keys as those of loss. When `sdrs optimize` is done it is evaluated on the best "
         "run (with receding on the run that was executed, whose windows of time these are), and met when it is at "
         "most "
         "max; with several scenarios the largest counts. `success` of summary.json is true when all are, "
         "`success_terms` has the values. Nothing is optimized by it.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true, dof: [0], within: 3}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "success: [{type: point, link: box, target: [0.3, 0, 0.1], power: 1, max: 0.02}]\n"},
    {.name = "optimizer",
     .title = "optimizer",
     .size = sizeof(OptimizerForm),
     .type_key = "type",
     .meaning = "How the variables are changed. The design (vertices and attachments) and the rest (controllers and "
                "initial values) have steps of their own.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "optimizer:\n"
                "  type: step_bounded\n"
                "  iterations: 200\n"
                "  control_step: 0.1\n"
                "  norm: euclidean\n"
                "  schedule: cosine\n"
                "  decay: 0.01\n"
                "  stop_loss: 1e-6\n"
                "  stall: 20\n"},
    {.name = "schedule",
     .title = "schedule",
     .size = sizeof(ScheduleForm),
     .meaning = "Contact that is felt from farther away in the first iterations than in the last: continuation. The "
                "design that stands is run again whenever the contact changes; conditions to stop, and the best "
                "design, count from "
                "where it is the final one, so what is reported always is of the final law. Every window of `receding` "
                "goes through all of it and is executed with the final one.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "schedule:\n"
                "  contact.barrier_distance: {from: 0.02, to: 0.001, iterations: 20}\n"
                "optimizer: {type: adam, iterations: 40}\n"},
    {.name = "ramp",
     .title = "ramp, of a schedule",
     .size = sizeof(RampForm),
     .meaning = "A number that goes from one value to another, by the same factor in every iteration.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "schedule: {contact.stiffness: {from: 1.0e-6, to: 1.0e-9, iterations: 20}}\n"
                "optimizer: {type: adam, iterations: 40}\n"},
    {.name = "switch",
     .title = "switch, of a schedule",
     .size = sizeof(SwitchForm),
     .meaning =
         "A contact law that takes the place of the scene's. Friction and smoothing stay; barrier distance, stiffness, "
         "the rest speed and "
         "what the law has of its own are derived anew.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "schedule: {contact.model: {to: long_range, at: 20}}\n"
                "optimizer: {type: adam, iterations: 40}\n"},
    {.name = "from",
     .title = "from",
     .size = sizeof(FromForm),
     .meaning =
         "Variables of this task that have the name of one of that run (design.csv) begin with the best value it "
         "found, within this task's bounds; others begin as the scene has them. There may be more of them here, "
         "or fewer; bounds by `within` stay those around the scene's own. The run is there already, or that of a task "
         "which is optimized first: a rough landscape is entered by an easier task. `gradcheck` and `validate` do "
         "not run that one: here the scene's own values count.",
     .example = "scene: ../scenes/slide.yaml\n"
                "from: {task: slide-first.yaml}\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"},
    {.name = "draws",
     .title = "draws",
     .size = sizeof(DrawsForm),
     .meaning =
         "Numbers that come to those of the scenes, drawn evenly between two bounds: every scenario has its own, and "
         "every "
         "iteration others (docs/derivations/update.md, O18). The loss of an iteration is that of its draws; the "
         "best design is the one with the least mean over its iteration and the nine before it. Scenes that are "
         "written, and `success`, are those without draws.",
     .example = "seed: 1\n"
                "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "draws: {every: 5, numbers: [{link: stalls, of: start, low: -0.1, high: 0.1}]}\n"},
    {.name = "draw",
     .title = "draw",
     .size = sizeof(DrawForm),
     .meaning = "Numbers of one link.",
     .example = "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "draws: {numbers: [{link: stalls, of: start, low: -0.1, high: 0.1}]}\n"},
    {.name = "validation",
     .title = "validation",
     .size = sizeof(ValidationForm),
     .meaning =
         "What the best design does where it was not optimized: draws like those of `draws`, but others. summary.json "
         "has "
         "validation: {tried, held, objects: [{name, tried, held}]}, an object for every scenario; held are those "
         "whose run met every term of `success`.",
     .example = "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "success: [{type: effort, max: 1000}]\n"
                "draws: {numbers: [{link: stalls, of: start, low: -0.1, high: 0.1}]}\n"
                "validation: {tries: 20}\n"},
    {.name = "choices",
     .title = "choices",
     .size = sizeof(ChoicesForm),
     .meaning =
         "A search without gradients over what has no gradient - how many links a `repeat` makes, which type a joint "
         "is - around the task's own: every combination that is tried is optimized as the task says, in a folder of "
         "its "
         "own (1, 2, ... in the run folder; docs/co-design.md). choices.csv has a row for each; the run folder has the "
         "results of the best, which is the one with the least loss among those that keep `subject_to`. Combinations "
         "that cannot be run are passed over. Drawn from `seed` (docs/derivations/update.md, O19).",
     .example = "scene: ../scenes/chains.yaml\n"
                "control: [{link: chain1link0}]\n"
                "loss: [{type: effort}]\n"
                "choices: {of: [{key: scene.links.chainlink.repeat.count.1, values: [3, 5, 7]}]}\n"},
    {.name = "choice",
     .title = "choice",
     .size = sizeof(ChoiceForm),
     .meaning = "One choice.",
     .example = "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "choices: {of: [{key: scene.links.runs.joint.axis, values: [[0, 1, 0], [1, 0, 0]]}]}\n"},
    {.name = "receding",
     .title = "receding",
     .size = sizeof(RecedingForm),
     .meaning =
         "Receding horizon: the task's steps are executed, `apply` at a time, each time after the control of the "
         "next `horizon` steps has been optimized from the state reached (docs/receding.md). Windows of losses "
         "count from the beginning of the horizon. One scenario, control alone.",
     .example = "scene: ../scenes/motor.yaml\n"
                "steps: 40\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "receding: {horizon: 20, apply: 5, iterations: 10, warm_start: shift}\n"},
    {.name = "plan",
     .title = "plan",
     .size = sizeof(PlanForm),
     .meaning = "A path of a body that keeps its orientation, past obstacles, instead of a scene: such a task has a "
                "`name` and "
                "`plan` alone, for `sdrs optimize` and `validate` (docs/planning.md)."},
    {.name = "plan_shape",
     .title = "a shape of plan",
     .size = sizeof(PlanShapeForm),
     .type_key = "type",
     .meaning = "The body, or an obstacle: a smooth convex shape (docs/smooth-shapes.md)."},
    {.name = "data",
     .title = "data",
     .size = sizeof(DataForm),
     .meaning = "Measured runs.",
     .example = "scene: ../scenes/slide.yaml\n"
                "parameters: [{type: friction, low: 0}]\n"
                "data:\n"
                "  files: [slides/*.csv]\n"
                "  measured:\n"
                "    - {link: box, position: [px, py, pz], quaternion: [qw, qx, qy, qz]}\n"
                "identify: {window: 0.2, train: 0.5}\n"},
    {.name = "measured",
     .title = "measured",
     .size = sizeof(MeasuredForm),
     .meaning = "What was measured of a link.",
     .example = "scene: ../scenes/pendulum.yaml\n"
                "parameters: [{type: damping, link: rod8}]\n"
                "data: {files: [swing.csv], measured: [{link: rod8, coordinates: [angle], angle_scale: "
                "0.017453292519943295}]}\n"},
    {.name = "input",
     .title = "input, of data",
     .size = sizeof(InputForm),
     .meaning = "A signal of the scene that was another one in each run: a target, a torque, a force.",
     .example = "scene: ../scenes/motor.yaml\n"
                "parameters: [{type: damping, link: runs}]\n"
                "data:\n"
                "  files: [tests/*.csv]\n"
                "  measured: [{link: runs, coordinates: [angle]}]\n"
                "  inputs: [{link: runs, columns: [current], scale: 0.35}]\n"},
    {.name = "identify",
     .title = "identify",
     .size = sizeof(TaskIdentify),
     .meaning = "How measured runs are fitted (docs/identify.md).",
     .example = "scene: ../scenes/slide.yaml\n"
                "parameters: [{type: friction, low: 0}]\n"
                "data: {files: [slides/*.csv], measured: [{link: box, position: [px, py, pz]}]}\n"
                "identify: {position: 0.002, huber: 3, train: 0.5, fit_initial: true}\n"},
    {.name = "gradient",
     .title = "gradient",
     .size = sizeof(GradientForm),
     .meaning = "How gradients are taken. What the losses look at is kept of all steps in any case.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "gradient: {memory: 2}\n"},
};

_Static_assert(sizeof TASK_OBJECTS / sizeof TASK_OBJECTS[0] == TASK_OBJECT_COUNT, "all of them are counted");
