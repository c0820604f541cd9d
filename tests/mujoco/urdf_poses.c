/* Loads a URDF (or MJCF) file in MuJoCo and prints, for every line of standard input, where its bodies are.
 *   urdf_poses MODEL [DURATION]
 * A line: `joint=number` for joints of one degree of freedom, `joint=x,y,z,qw,qx,qy,qz` for those that float, four for
 * balls, blanks between. RunFolder as CSV: position, orientation and centre of mass of every body; with DURATION, after
 * it has moved for so many seconds from rest, without contact, by small steps of fourth order. */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* text, const char* what) {
  fprintf(stderr, "urdf_poses: %s%s\n", text, what);
  exit(1);
}

static void print_header(const mjModel* m) {
  static const char* const columns[] = {"px", "py", "pz", "qw", "qx", "qy", "qz", "cx", "cy", "cz"};
  for (int b = 1; b < m->nbody; b++)
    for (int k = 0; k < 10; k++) printf("%s%s/%s", b > 1 || k > 0 ? "," : "", mj_id2name(m, mjOBJ_BODY, b), columns[k]);
  printf("\n");
}

static void print_row(const mjModel* m, const mjData* d) {
  for (int b = 1; b < m->nbody; b++) {
    if (b > 1) printf(",");
    for (int k = 0; k < 3; k++) printf("%.17g,", d->xpos[3 * b + k]);
    for (int k = 0; k < 4; k++) printf("%.17g,", d->xquat[4 * b + k]);
    for (int k = 0; k < 3; k++) printf(k > 0 ? ",%.17g" : "%.17g", d->xipos[3 * b + k]);
  }
  printf("\n");
}

static void set_joint(const mjModel* m, mjData* d, char* word) {
  char* equals = strrchr(word, '=');
  if (!equals) fail("no value in ", word);
  *equals = '\0';
  int joint = mj_name2id(m, mjOBJ_JOINT, word);
  if (joint < 0) fail("no joint ", word);
  double* q = d->qpos + m->jnt_qposadr[joint];
  int count = m->jnt_type[joint] == mjJNT_FREE ? 7 : m->jnt_type[joint] == mjJNT_BALL ? 4 : 1;
  char* at = equals + 1;
  for (int k = 0; k < count; k++, at += *at == ',') q[k] = strtod(at, &at);
  if (*at) fail("cannot read the values of ", word);
}

static void move(mjModel* m, mjData* d, double duration) {
  m->opt.timestep = 1e-4;
  m->opt.integrator = mjINT_RK4;
  m->opt.disableflags |= mjDSBL_CONTACT;
  for (long step = 0; step < (long)(duration / m->opt.timestep + 0.5); step++) mj_step(m, d);
}

int main(int argc, char** argv) {
  char error[1000] = "", line[65536];
  if (argc != 2 && argc != 3) fail("usage: urdf_poses MODEL [DURATION]", "");
  mjModel* m = mj_loadXML(argv[1], NULL, error, sizeof error);
  if (!m) fail(error, "");
  mjData* d = mj_makeData(m);
  print_header(m);
  while (fgets(line, sizeof line, stdin)) {
    mj_resetData(m, d);
    for (char* word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) set_joint(m, d, word);
    if (argc == 3) move(m, d, atof(argv[2]));
    mj_kinematics(m, d);
    mj_comPos(m, d);
    print_row(m, d);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  return 0;
}
