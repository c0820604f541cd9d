/* sdrs bench [NAME]: timings as CSV. A new benchmark needs a row in the table BENCHES. */
#include <string.h>
#include "app/bench.h"
#include "contact/contact.h"
#include "scene/schema.h"

typedef struct {
  const char *name, *operands, *summary;
  int operand_count; /* number of operands after the name */
  ExitCode (*run)(const Options* options);
} Bench;

/* Returns true if the contact law accepts convex polyhedra. The pairs of this benchmark do not overlap, so laws that
 * need an overlap have no force. */
static bool accepts_hulls(int model) {
  return model > (int)CONTACT_NONE && !contact_allows_overlap((ContactModel)model) &&
         !contact_refusal_reason((ContactModel)model, &(ModelHull){.kind = &SOLID_HULL});
}

static ExitCode report_unsupported_law(const Options* options, const char* law) {
  Text names = {0};
  int count = 0, named = 0;
  for (int k = 0; k < words_count(contact_model_words); k++) count += accepts_hulls(k);
  for (int k = 0; k < words_count(contact_model_words); k++)
    if (accepts_hulls(k)) {
      text_add(&names, "%s%s",
               named == 0           ? ""
               : named == count - 1 ? " and "
                                    : ", ",
               words_at(contact_model_words, k).text);
      named++;
    }
  ExitCode code = usage_error(options, "--law needs one of %s, got '%s'", names.data, law);
  text_free(&names);
  return code;
}

static ExitCode bench_pair(const Options* options) {
  const char* law = option_text(options, "law");
  if (!law) {
    contact_bench_pair(stdout);
    return EXIT_DONE;
  }
  int model = words_index(contact_model_words, law);
  if (!accepts_hulls(model)) return report_unsupported_law(options, law);
  return contact_bench_law(stdout, (ContactModel)model) ? EXIT_DONE : EXIT_BAD_INPUT;
}

static const Bench BENCHES[] = {
    {"pair", "", "contact, friction and distance of two hulls against their vertices", 0, bench_pair},
    {"query", "", "growth distance of smooth shapes, distance of hulls, manifolds, witness points", 0, bench_query},
    {"step", "SCENE", "time per step of a scene by phase, Newton iterations, pairs", 1, bench_step},
    {"gradient", "TASK", "a task's run forward, and its gradient by the adjoint", 1, bench_gradient},
    {"render", "RUN", "time per picture of a run by phase", 1, bench_render},
    {"scale", "", "time per step against the number of bodies, falling and at rest", 0, bench_scale},
};
enum { BENCH_COUNT = sizeof BENCHES / sizeof BENCHES[0] };

static ExitCode list_benches(void) {
  for (int i = 0; i < BENCH_COUNT; i++) {
    char usage[32];
    snprintf(usage, sizeof usage, "%s %s", BENCHES[i].name, BENCHES[i].operands);
    printf("%-12s %s\n", usage, BENCHES[i].summary);
  }
  return EXIT_DONE;
}

static ExitCode unknown_bench(const Options* options, const char* word) {
  const char* names[BENCH_COUNT];
  for (int i = 0; i < BENCH_COUNT; i++) names[i] = BENCHES[i].name;
  const char* nearest = text_nearest(word, names, BENCH_COUNT);
  if (nearest) return usage_error(options, "unknown bench '%s' (did you mean '%s'?)", word, nearest);
  return usage_error(options, "unknown bench '%s' (sdrs bench lists them)", word);
}

static ExitCode bench(const Options* options) {
  if (options->operand_count == 0) return list_benches();
  for (int i = 0; i < BENCH_COUNT; i++) {
    if (strcmp(BENCHES[i].name, options->operands[0]) != 0) continue;
    int given = options->operand_count - 1;
    if (given < BENCHES[i].operand_count)
      return usage_error(options, "%s needs %s", BENCHES[i].name, BENCHES[i].operands);
    if (given > BENCHES[i].operand_count)
      return usage_error(options, "unexpected '%s'", options->operands[1 + BENCHES[i].operand_count]);
    return BENCHES[i].run(options);
  }
  return unknown_bench(options, options->operands[0]);
}

static const OptionRow OPTIONS[] = {
    {"steps", 0, OPTION_COUNT, "N", "step: run N steps instead of the scene's number; render: N pictures (100)"},
    {"bodies", 0, OPTION_TEXT, "LIST",
     "scale: numbers of bodies (default: 10,20,50,100,200,500,1000; of heaps 100,300,1000)"},
    {"law", 0, OPTION_TEXT, "NAME", "pair: contact and friction of that law (contact.model) instead"},
    {"heap", 0, OPTION_FLAG, NULL, "scale: drop them into a box, where they lie as one island"},
};

const Verb VERB_BENCH = {
    .name = "bench",
    .operands = "[NAME]",
    .operand_min = 0,
    .operand_max = 2,
    .summary = "timings of kernels and steps, as CSV",
    .examples =
        "  sdrs bench                                   lists the benches\n"
        "  sdrs bench pair\n"
        "  sdrs bench pair --law ipc\n"
        "  sdrs bench query\n"
        "  sdrs bench step scenes/stack.yaml --threads 1\n"
        "  sdrs bench gradient scenes/tasks/spider.yaml --threads 1\n"
        "  sdrs bench render out/spider --threads 1\n"
        "  sdrs bench scale --bodies 100,200,500,1000\n"
        "  sdrs bench scale --heap --threads 1\n",
    .details =
        "pair: nanoseconds of one evaluation with gradient and Hessian, cold and warm, on one thread.\n"
        "pair --law: the same of contact and of friction under one law, as a step asks for them.\n"
        "query: nanoseconds of one query on one thread, cold (random poses), warm (steps of 2 mm and 5 mrad, bodies "
        "of\n"
        "about 1 m) and of its derivatives by both poses; medians of seven runs, processor time. Points are hulls of "
        "32,\n"
        "apart.\n"
        "step: one row per quantity with median, mean and max over the steps; times in ms.\n"
        "gradient: medians of seven runs of the initial design; ratio is (forward + adjoint) / forward.\n"
        "render: pictures of 960x720 pixels, spread evenly over the run; png is the packing, nothing is written.\n"
        "scale: boxes of three sizes fall onto a plane, four layers high. fall_ms is the mean time per step of\n"
        "the first 0.6 s, rest_ms the median of 0.5 s after the second; dt = 10 ms. The fitted exponents go to\n"
        "standard error.\n"
        "scale --heap: boxes, turned at random, fall into an open box; fall_ms is the mean time per step while at\n"
        "least half of them hang together and move, until the kinetic energy is below 1e-5 J a body (of 1 kg). From\n"
        "there on a hundredth of the smoothing keeps what friction holds from creeping away; rest_ms is the median of\n"
        "the last 30 of the first 100 steps in a row below 2e-8 J a body. Both take 1000 steps at most; standard "
        "error\n"
        "says which, how large the island is, the kinetic energy and Newton's iterations a step.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .reads_scene = true,
    .run = bench,
};
