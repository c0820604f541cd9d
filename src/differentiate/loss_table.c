/* Table of the kinds of losses, indexed by TaskLossType. */
#include "differentiate/loss.h"

// clang-format off
static const LossKind KINDS[] = {
    /*                     word           link           other          window       from least  prepare, evaluate */
    [LOSS_POINT]       = {"point",       LINK_REQUIRED, LINK_OPTIONAL,  WINDOW_END,  0, 1, NULL, loss_point},
    [LOSS_TRAVEL]      = {"travel",      LINK_REQUIRED, LINK_UNUSED,   WINDOW_RUN,  0, 2, loss_travel_prepare, loss_travel},
    [LOSS_RELATIVE]    = {"relative",    LINK_REQUIRED, LINK_REQUIRED, WINDOW_RUN,  0, 2, loss_relative_prepare, loss_relative},
    [LOSS_REACH]       = {"reach",       LINK_REQUIRED, LINK_UNUSED,   WINDOW_END,  0, 1, NULL, loss_reach},
    [LOSS_ORIENTATION] = {"orientation", LINK_REQUIRED, LINK_UNUSED,   WINDOW_END,  0, 1, loss_orientation_prepare, loss_orientation},
    [LOSS_VELOCITY]    = {"velocity",    LINK_REQUIRED, LINK_UNUSED,   WINDOW_RUN,  1, 1, NULL, loss_velocity},
    [LOSS_EFFORT]      = {"effort",      LINK_OPTIONAL, LINK_UNUSED,   WINDOW_RUN,  1, 1, loss_effort_prepare, loss_effort},
    [LOSS_SMOOTHNESS]  = {"smoothness",  LINK_OPTIONAL, LINK_UNUSED,   WINDOW_RUN,  0, 1, loss_smoothness_prepare, loss_smoothness},
    [LOSS_FORCE]       = {"force",       LINK_REQUIRED, LINK_OPTIONAL, WINDOW_RUN,  1, 1, loss_force_prepare, loss_force},
    [LOSS_GAP]         = {"gap",         LINK_REQUIRED, LINK_REQUIRED, WINDOW_RUN,  0, 1, loss_gap_prepare, loss_gap},
    [LOSS_SHAPE]       = {"shape",       LINK_OPTIONAL, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_shape},
    [LOSS_VOLUME]      = {"volume",      LINK_OPTIONAL, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_volume},
    [LOSS_ROUGHNESS]   = {"roughness",   LINK_OPTIONAL, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_roughness},
    [LOSS_APPROACH]    = {"approach",    LINK_REQUIRED, LINK_REQUIRED, WINDOW_RUN,  0, 1, loss_gap_prepare, loss_approach},
    [LOSS_TOUCH]       = {"touch",       LINK_REQUIRED, LINK_REQUIRED, WINDOW_END,  0, 1, loss_touch_prepare, loss_touch},
    [LOSS_CLOSURE]     = {"closure",     LINK_REQUIRED, LINK_REQUIRED, WINDOW_END,  0, 1, loss_closure_prepare, loss_closure},
    [LOSS_POSE]        = {"pose",        LINK_REQUIRED, LINK_UNUSED,   WINDOW_END,  0, 1, NULL, loss_pose},
    [LOSS_NECK]        = {"neck",        LINK_REQUIRED, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_neck_prepare, loss_neck},
    [LOSS_WALL]        = {"wall",        LINK_REQUIRED, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_wall},
    [LOSS_OVERHANG]    = {"overhang",    LINK_REQUIRED, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_overhang},
    [LOSS_EXTENT]      = {"extent",      LINK_REQUIRED, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_extent},
    [LOSS_KEEP_OUT]    = {"keep_out",    LINK_REQUIRED, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_hulls_prepare, loss_keep_out},
    [LOSS_CLEARANCE]   = {"clearance",   LINK_REQUIRED, LINK_OPTIONAL, WINDOW_START, 0, 1, loss_clearance_prepare, loss_clearance},
    [LOSS_REMOVAL]     = {"removal",     LINK_REQUIRED, LINK_OPTIONAL, WINDOW_START, 0, 1, loss_removal_prepare, loss_removal},
    [LOSS_MASS]        = {"mass",        LINK_REQUIRED, LINK_UNUSED,   WINDOW_NONE, 0, 0, loss_mass_prepare, loss_mass},
    [LOSS_COORDINATE]  = {"coordinate",  LINK_REQUIRED, LINK_OPTIONAL, WINDOW_END,  0, 1, loss_coordinate_prepare, loss_coordinate},
};
// clang-format on

const LossKind* loss_kind(TaskLossType type) { return &KINDS[type]; }
