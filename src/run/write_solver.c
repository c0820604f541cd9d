/* Writes solver.csv. A row contains counts of the solver, terms of the objective, energies, gaps and momenta of a
 * recorded step. */
#include "run/writer.h"

static void header(Text* row, const Model* model) {
  (void)model;
  text_add(row,
           "step,time,iterations,trials,residual,outcome,inertia,gravity,controller,limit,damping,contact,friction,"
           "kinetic,potential,total,smallest_gap,active_pairs,candidate_pairs,certified_intervals,factor_retries,"
           "substeps,px,py,pz,lx,ly,lz,scheme_work\n");
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  (void)context;
  const StepReport* report = frame->report;
  const StepTerms* terms = &report->terms;
  const SimMeasure* measure = &frame->measure;
  text_add(row, "%d,", frame->state->step);
  text_add_double(row, frame->state->time);
  text_add(row, ",%d,%d,", report->iterations, report->trials);
  text_add_double(row, report->residual);
  text_add(row, ",%s", step_outcome_text(report->outcome));
  const double values[] = {terms->inertia,     terms->gravity, terms->controller,    terms->limit,
                           terms->damping,     terms->stored,  terms->friction,      measure->kinetic,
                           measure->potential, measure->total, measure->smallest_gap};
  run_add_numbers(row, values, sizeof values / sizeof values[0]);
  text_add(row, ",%d,%d,%d,%d,%d", report->active_pairs, report->candidate_pairs, report->certified_intervals,
           report->factor_retries, report->substeps);
  Vec3 p = measure->momentum, l = measure->angular_momentum;
  run_add_numbers(row, (const double[]){p.x, p.y, p.z, l.x, l.y, l.z, frame->scheme.work}, 7);
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_SOLVER = {"solver.csv", false, header, rows, 0};
