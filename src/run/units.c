/* Table of the units of the columns in the files of a run. */
#include <assert.h>
#include <fnmatch.h>
#include "run/run.h"

typedef struct {
  const char *file, *columns; /* shell patterns of the names of the file and the columns */
  const char* unit;
} UnitRow;

static const UnitRow UNITS[] = {
    {"*", "time", "s"},
    {"trajectory.csv", "*/[pc][xyz]", "m"},
    {"trajectory.csv", "*/q[wxyz]", ""},
    {"joints.csv", "*/[xyz]", "m"},
    {"joints.csv", "*/position", "m"},
    {"joints.csv", "*/q[wxyz]", ""},
    {"joints.csv", "*/*", "rad"},
    {"contacts.csv", "gap", "m"},
    {"contacts.csv", "f[xyz]", "N"},
    {"contacts.csv", "friction_*", "N"},
    {"velocities.csv", "*/v[xyz]", "m/s"},
    {"velocities.csv", "*/[xyz]/rate", "m/s"},
    {"velocities.csv", "*/position/rate", "m/s"},
    {"velocities.csv", "*/*", "rad/s"},
    {"forces.csv", "*/[xyz]/*", "N"},
    {"forces.csv", "*/position/*", "N"},
    {"forces.csv", "*/*", "N m"},
    {"contacts.csv", "[xyz]", "m"},
    {"contacts.csv", "m[xyz]", "N m"},
    {"closures.csv", "*/gap", "m"},
    {"closures.csv", "*/angle", "rad"},
    {"closures.csv", "*/f[xyz]", "N"},
    {"closures.csv", "*/m[xyz]", "N m"},
    {"closures.csv", "*/[xyz]/open", "m"},
    {"closures.csv", "*/position/open", "m"},
    {"closures.csv", "*/open", "rad"},
    {"closures.csv", "*/[xyz]/force", "N"},
    {"closures.csv", "*/position/force", "N"},
    {"closures.csv", "*/force", "N m"},
    {"pressure.csv", "*/[xyz]", "m"},
    {"pressure.csv", "*/m[xyz]", "N m"},
    {"pressure.csv", "*/*", "N"},
    {"reactions.csv", "*/f[xyz]", "N"},
    {"reactions.csv", "*/m[xyz]", "N m"},
    {"imu.csv", "*/a[xyz]", "m/s^2"},
    {"imu.csv", "*/w[xyz]", "rad/s"},
    {"range.csv", "*/*", "m"},
    {"solver.csv", "residual", ""},
    {"solver.csv", "smallest_gap", "m"},
    {"solver.csv", "inertia", "J"},
    {"solver.csv", "gravity", "J"},
    {"solver.csv", "controller", "J"},
    {"solver.csv", "limit", "J"},
    {"solver.csv", "damping", "J"},
    {"solver.csv", "contact", "J"},
    {"solver.csv", "friction", "J"},
    {"solver.csv", "kinetic", "J"},
    {"solver.csv", "potential", "J"},
    {"solver.csv", "total", "J"},
    {"solver.csv", "scheme_work", "J"},
    {"solver.csv", "p[xyz]", "kg m/s"},
    {"solver.csv", "l[xyz]", "kg m^2/s"},
    {"solver.csv", "*", ""},
    {"convergence.csv", "seconds", "s"},
    {"convergence.csv", "*", ""},
};

const char* run_column_unit(const char* file, const char* column) {
  assert(file && column);
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
    if (fnmatch(UNITS[i].file, file, 0) == 0 && fnmatch(UNITS[i].columns, column, 0) == 0) return UNITS[i].unit;
  return NULL;
}
