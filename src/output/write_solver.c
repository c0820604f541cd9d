/* solver.csv: how each recorded step was solved, the terms of its objective, energies and gaps. */
#include "output/writer.h"

static void header(Text* row, const Model* model) {
  (void)model;
  text_add(row,
           "step,time,iterations,trials,residual,outcome,inertia,gravity,controller,limit,damping,contact,friction,"
           "kinetic,potential,total,smallest_gap,active_pairs,candidate_pairs,certified_intervals,factor_retries,"
           "substeps\n");
}

static void rows(Text* row, WriterContext* context, const OutputFrame* frame) {
  (void)context;
  const StepReport* report = frame->report;
  const StepTerms* terms = &report->terms;
  const SimMeasure* measure = &frame->measure;
  text_add(row, "%d,", frame->state->step);
  text_add_double(row, frame->state->time);
  text_add(row, ",%d,%d,", report->iterations, report->trials);
  text_add_double(row, report->residual);
  text_add(row, ",%s", step_outcome_text(report->outcome));
  const double values[] = {terms->inertia,       terms->gravity,
                           terms->controller,    terms->limit,
                           terms->damping,       terms->contact,
                           terms->friction,      measure->kinetic,
                           measure->potential,   measure->kinetic + measure->potential,
                           measure->smallest_gap};
  for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
    text_add_bytes(row, ",", 1);
    text_add_double(row, values[k]);
  }
  text_add(row, ",%d,%d,%d,%d,%d\n", report->active_pairs, report->candidate_pairs, report->certified_intervals,
           report->factor_retries, report->substeps);
}

const OutputWriter WRITER_SOLVER = {"solver.csv", false, header, rows};
