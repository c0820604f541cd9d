#include "optimize/linear_program.h"
#include <assert.h>
#include <glpk.h>
#include <math.h>
#include <string.h>

/* A multiplier counts as zero below this fraction of the largest cost. GLPK rounds the data when it converts them to
 * rational numbers. */
#define MULTIPLIER_LEAST 1e-9

struct LinearProgram {
  const ProjectRows* rows;
  int* index; /* column indices of one row in GLPK's format, from entry 1 on (column_count + 1) */
  double* value;
};

LinearProgram* linear_program_create(const ProjectRows* rows) {
  assert(rows);
  LinearProgram* program = MEMORY_NEW(LinearProgram, 1);
  program->rows = rows;
  program->index = MEMORY_NEW(int, rows->column_count + 1);
  program->value = MEMORY_NEW(double, rows->column_count + 1);
  return program;
}

void linear_program_destroy(LinearProgram* program) {
  if (!program) return;
  memory_free(program->index);
  memory_free(program->value);
  memory_free(program);
}

static int kind_of(double low, double high) {
  if (isinf(low)) return isinf(high) ? GLP_FR : GLP_UP;
  if (isinf(high)) return GLP_LO;
  return low == high ? GLP_FX : GLP_DB;
}

/* Adds a linear constraint (row), in variables divided by their unit, to the problem. The row is scaled to a largest
 * entry of 1. Zeros are left out, because GLPK refuses them. */
static void add_row(LinearProgram* program, glp_prob* problem, int row, const int* block, const double unit[2],
                    double low, double high) {
  const ProjectRows* rows = program->rows;
  double largest = 0;
  for (int k = rows->first[row]; k < rows->first[row + 1]; k++)
    largest = fmax(largest, fabs(rows->value[k]) * unit[block[rows->variable[rows->column[k]]]]);
  double length = largest > 0 ? largest : 1.0;
  int count = 0;
  for (int k = rows->first[row]; k < rows->first[row + 1]; k++) {
    double value = rows->value[k] * unit[block[rows->variable[rows->column[k]]]] / length;
    if (value == 0) continue;
    program->index[++count] = rows->column[k] + 1;
    program->value[count] = value;
  }
  glp_set_mat_row(problem, row + 1, count, program->index, program->value);
  glp_set_row_bnds(problem, row + 1, kind_of(low, high), low / length, high / length);
}

static void add_column(glp_prob* problem, int column, double low, double high, double cost) {
  glp_set_col_bnds(problem, column + 1, kind_of(low, high), low, high);
  glp_set_obj_coef(problem, column + 1, cost);
}

/* Returns the largest absolute cost, in variables divided by their unit. */
static double largest_cost(const ProjectRows* rows, const int* block, const double unit[2], const double* cost) {
  double largest = 0;
  for (int c = 0; c < rows->column_count; c++)
    largest = fmax(largest, fabs(cost[rows->variable[c]]) * unit[block[rows->variable[c]]]);
  return largest;
}

static void fill(LinearProgram* program, glp_prob* problem, const int* block, const double unit[2], const double* cost,
                 const ProjectLimits* limits, double largest) {
  const ProjectRows* rows = program->rows;
  glp_add_rows(problem, rows->row_count);
  glp_add_cols(problem, rows->column_count);
  for (int c = 0; c < rows->column_count; c++) {
    int i = rows->variable[c];
    double u = unit[block[i]];
    add_column(problem, c, limits->low[i] / u, limits->high[i] / u, cost[i] * u / largest);
  }
  for (int row = 0; row < rows->row_count; row++)
    add_row(program, problem, row, block, unit, limits->row_low[row], limits->row_high[row]);
}

/* Solves the problem in doubles, then with the exact simplex method, which has no rounding errors. The result in
 * doubles saves the exact method most of its iterations. */
static bool solve(glp_prob* problem) {
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  glp_simplex(problem, &options);
  return glp_exact(problem, &options) == 0 && glp_get_status(problem) == GLP_OPT;
}

/* Turns a bound or row with a nonzero multiplier into an equation. status: GLPK's status of the variable or row. */
static void tighten(int status, double multiplier, double* low, double* high) {
  if (fabs(multiplier) <= MULTIPLIER_LEAST) return;
  if (status == GLP_NL) *high = *low;
  if (status == GLP_NU) *low = *high;
}

static void read_face(const ProjectRows* rows, glp_prob* problem, double* low, double* high, double* row_low,
                      double* row_high) {
  for (int c = 0; c < rows->column_count; c++) {
    int i = rows->variable[c];
    tighten(glp_get_col_stat(problem, c + 1), glp_get_col_dual(problem, c + 1), &low[i], &high[i]);
  }
  for (int row = 0; row < rows->row_count; row++)
    tighten(glp_get_row_stat(problem, row + 1), glp_get_row_dual(problem, row + 1), &row_low[row], &row_high[row]);
}

bool linear_program_solve(LinearProgram* program, const int* block, const double unit[2], const double* cost,
                          const ProjectLimits* limits, double* face_low, double* face_high, double* face_row_low,
                          double* face_row_high) {
  assert(unit[0] > 0 && unit[1] > 0);
  const ProjectRows* rows = program->rows;
  for (int c = 0; c < rows->column_count; c++) {
    int i = rows->variable[c];
    face_low[i] = limits->low[i];
    face_high[i] = limits->high[i];
  }
  memcpy(face_row_low, limits->row_low, sizeof(double) * (size_t)rows->row_count);
  memcpy(face_row_high, limits->row_high, sizeof(double) * (size_t)rows->row_count);
  double largest = largest_cost(rows, block, unit, cost);
  if (largest == 0) return true;

  int terminal = glp_term_out(GLP_OFF);
  glp_prob* problem = glp_create_prob();
  fill(program, problem, block, unit, cost, limits, largest);
  bool solved = solve(problem);
  if (solved) read_face(rows, problem, face_low, face_high, face_row_low, face_row_high);
  glp_delete_prob(problem);
  glp_term_out(terminal);
  return solved;
}
