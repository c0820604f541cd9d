#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "render/plot.h"

static void add_points(PlotPanel* panel, const double* y, int count) {
  PlotCurve* curve = plot_panel_add(panel, "c", count);
  for (int i = 0; i < count; i++) curve->x[i] = i, curve->y[i] = y[i];
}

static Text script_of(const PlotPanel* panel, const char* name) {
  Text script = {0};
  PlotOptions options = plot_defaults(false);
  plot_script(&script, panel, 1, name, &options);
  return script;
}

static void expect_in(const Text* script, const char* piece) {
  if (!strstr(script->data, piece)) fail_msg("no '%s' in\n%s", piece, script->data);
}

static void numbers_that_are_not_leave_a_hole(void** state) {
  (void)state;
  PlotPanel panel;
  plot_panel_start(&panel, "say \"a\\b\"", "time [s]", "gap [m]", false);
  add_points(&panel, (const double[]){1, (double)INFINITY, 3, (double)NAN}, 4);
  Text script = script_of(&panel, "x.svg");
  expect_in(&script, "<< END\n0 1\n\n2 3\n\nEND\n");
  expect_in(&script, "set title 'say \"a\\b\"'");
  expect_in(&script, "set terminal svg");
  expect_in(&script, "set xrange [0:2]");
  text_free(&script);
  plot_panel_free(&panel);
}

/* Gnuplot looks into double quotes and runs `commands` there; a new line would begin a command of its own. */
static void names_are_constants(void** state) {
  (void)state;
  PlotPanel panel;
  plot_panel_start(&panel, "it's `id`", "a\nsystem 'id'", "\"$(id)\"", false);
  add_points(&panel, (const double[]){1, 2}, 2);
  Text script = script_of(&panel, "`id`.png");
  expect_in(&script, "set title 'it''s `id`'\n");
  expect_in(&script, "set xlabel 'a system ''id''' ");
  expect_in(&script, "set ylabel '\"$(id)\"'\n");
  assert_null(strstr(script.data, "`id`.png"));
  text_free(&script);
  plot_panel_free(&panel);
}

/* A logarithmic axis of less than a decade would have no labels. Values that are not positive are ignored. */
static void logarithms_need_a_decade(void** state) {
  (void)state;
  static const double largest[2] = {9.9, 10.0};
  for (int c = 0; c < 2; c++) {
    PlotPanel panel;
    plot_panel_start(&panel, "t", "x", "y", true);
    add_points(&panel, (const double[]){0, 1, largest[c]}, 3);
    Text script = script_of(&panel, "x.png");
    expect_in(&script, c == 0 ? "unset logscale y" : "\nset logscale y");
    expect_in(&script, "<< END\n\n1 1\n");
    text_free(&script);
    plot_panel_free(&panel);
  }
}

/* A logarithmic x axis has a label per point if there are few. Values that are not positive are ignored. */
static void logarithms_across_have_numbers_where_points_are(void** state) {
  (void)state;
  for (int count = 3; count <= 14; count += 11) {
    PlotPanel panel;
    plot_panel_start(&panel, "t", "x", "y", false);
    panel.log_x = true;
    PlotCurve* curve = plot_panel_add(&panel, "c", count);
    for (int i = 0; i < count; i++) curve->x[i] = 2.0 * i, curve->y[i] = i;
    Text script = script_of(&panel, "x.png");
    expect_in(&script, "\nset logscale x\n");
    expect_in(&script, count == 3 ? "set xtics (\"2\" 2, \"4\" 4)\n" : "set xtics autofreq\n");
    expect_in(&script, count == 3 ? "<< END\n\n2 1\n4 2\nEND\n" : "<< END\n\n2 1\n4 2\n6 3\n");
    expect_in(&script, "with linespoints");
    text_free(&script);
    plot_panel_free(&panel);
  }
}

static void panels_without_a_curve_to_show_are_left_out(void** state) {
  (void)state;
  PlotPanel panels[4];
  Text script = {0};
  PlotOptions options = plot_defaults(true);
  for (int i = 0; i < 4; i++) {
    plot_panel_start(&panels[i], i == 2 ? "empty" : "full", "x", "y", false);
    plot_panel_add(&panels[i], "c", 1)->y[0] = i == 2 ? (double)NAN : 5;
  }
  plot_script(&script, panels, 4, "x.png", &options);
  expect_in(&script, "layout 2,2");
  assert_null(strstr(script.data, "empty"));
  text_free(&script);
  for (int i = 0; i < 4; i++) plot_panel_free(&panels[i]);
}

/* Eight diagrams in 800 pixels are 200 high each, with about 100 for the curve. Labels of 9 points are 12 pixels high,
 * so at most seven fit. A single diagram keeps gnuplot's default. */
static void numbers_upwards_fit_into_a_low_panel(void** state) {
  (void)state;
  static const double high[] = {97, 3e-7, 1.04, 5e12};
  for (int c = 0; c < 8; c++) {
    PlotPanel panels[8];
    Text script = {0};
    PlotOptions options = plot_defaults(true);
    bool logarithmic = c >= 4;
    double low = logarithmic ? high[c % 4] * 1e-20 : 0.0, step;
    for (int i = 0; i < 8; i++) {
      plot_panel_start(&panels[i], "t", "x", "y", logarithmic);
      add_points(&panels[i], (const double[]){low, high[c % 4]}, 2);
    }
    plot_script(&script, panels, 8, "x.png", &options);
    const char* tics = strstr(script.data, "set ytics ");
    assert_non_null(tics);
    assert_int_equal(sscanf(tics, "set ytics %lf", &step), 1);
    double numbers = logarithmic ? 20.0 / log10(step) : high[c % 4] / step;
    if (!(numbers >= 2.0 && numbers <= 7.0)) fail_msg("%g numbers of step %g up to %g", numbers, step, high[c % 4]);
    text_free(&script);
    script = script_of(&panels[0], "x.png");
    expect_in(&script, "set ytics autofreq\n");
    text_free(&script);
    for (int i = 0; i < 8; i++) plot_panel_free(&panels[i]);
  }
}

static void units_are_those_of_the_manual(void** state) {
  (void)state;
  assert_string_equal(run_column_unit("trajectory.csv", "leg 1/px"), "m");
  assert_string_equal(run_column_unit("trajectory.csv", "box/qw"), "");
  assert_string_equal(run_column_unit("joints.csv", "arm/angle"), "rad");
  assert_string_equal(run_column_unit("joints.csv", "body/rz"), "rad");
  assert_string_equal(run_column_unit("joints.csv", "body/x"), "m");
  assert_string_equal(run_column_unit("contacts.csv", "fz"), "N");
  assert_string_equal(run_column_unit("solver.csv", "total"), "J");
  assert_string_equal(run_column_unit("solver.csv", "time"), "s");
  assert_string_equal(run_column_unit("solver.csv", "py"), "kg m/s");
  assert_string_equal(run_column_unit("solver.csv", "lz"), "kg m^2/s");
  assert_null(run_column_unit("other.csv", "fz"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_constants),
      cmocka_unit_test(numbers_that_are_not_leave_a_hole),
      cmocka_unit_test(logarithms_need_a_decade),
      cmocka_unit_test(logarithms_across_have_numbers_where_points_are),
      cmocka_unit_test(panels_without_a_curve_to_show_are_left_out),
      cmocka_unit_test(numbers_upwards_fit_into_a_low_panel),
      cmocka_unit_test(units_are_those_of_the_manual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
