#include <errno.h>
#include <string.h>
#include "app/command.h"
#include "app/manual.h"

static ExitCode unknown_verb(const char* word) {
  const char* nearest = verb_nearest(word);
  if (nearest)
    fprintf(stderr, "sdrs: error: unknown verb '%s' (did you mean '%s'?)\n", word, nearest);
  else
    fprintf(stderr, "sdrs: error: unknown verb '%s'\n", word);
  fputs("See 'sdrs --help'.\n", stderr);
  return EXIT_USAGE;
}

/* Warns if --set or -o is given to a command on which it has no effect. */
static void warn_idle_options(const Options* options) {
  if (options->quiet) return;
  const char* verb = options->verb->name;
  if (options->override_count > 0 && !options->verb->reads_scene)
    fprintf(stderr, "sdrs %s: warning: --set has no effect, because %s reads no scene: remove --set\n", verb, verb);
  if (options->folder && !options->verb->writes_folder)
    fprintf(stderr, "sdrs %s: warning: -o has no effect, because %s writes to standard output: remove -o\n", verb,
            verb);
}

static bool has_threads(const Options* options) {
  int available = options->verb->serial ? options->threads : parallel_create_threads(options->threads);
  if (available < options->threads)
    fprintf(stderr,
            "sdrs %s: error: cannot create %d threads: the system allows %d; give --threads %d or less, or raise the "
            "limit (ulimit -u, ulimit -v)\n",
            options->verb->name, options->threads, available, available);
  return available >= options->threads;
}

static ExitCode run_verb(const Verb* verb, int count, char** words) {
  Options options;
  Text faults = {0};
  ExitCode code = EXIT_USAGE;
  if (!options_parse(&options, verb, count, words, &faults)) {
    for (char* line = strtok(faults.data, "\n"); line; line = strtok(NULL, "\n"))
      fprintf(stderr, "sdrs %s: error: %s\n", verb->name, line);
    fprintf(stderr, "See 'sdrs %s --help'.\n", verb->name);
  } else if (options.help) {
    verb_help(stdout, verb);
    code = EXIT_DONE;
  } else {
    warn_idle_options(&options);
    code = has_threads(&options) ? verb->run(&options) : EXIT_IO;
  }
  text_free(&faults);
  options_free(&options);
  return code;
}

/* Texts that `sdrs help` prints for `make install`. */
static const struct {
  const char* word;
  void (*write)(Text* out);
} PAGES[] = {{"--man", manual_man}, {"--bash", manual_bash}, {"--zsh", manual_zsh}};

static bool print_page(const char* word) {
  for (size_t i = 0; i < sizeof PAGES / sizeof PAGES[0]; i++) {
    if (strcmp(PAGES[i].word, word) != 0) continue;
    Text text = {0};
    PAGES[i].write(&text);
    fwrite(text.data, 1, text.length, stdout);
    text_free(&text);
    return true;
  }
  return false;
}

/* Runs `sdrs help [VERB|--man|--bash|--zsh]` and returns the exit code. */
static ExitCode run_help(int count, char** words) {
  if (count > 0 && print_page(words[0])) return EXIT_DONE;
  const Verb* verb = count > 0 ? verb_find(words[0]) : NULL;
  if (count > 0 && !verb) return unknown_verb(words[0]);
  if (verb)
    verb_help(stdout, verb);
  else
    verb_list(stdout);
  return EXIT_DONE;
}

static ExitCode dispatch(int argc, char** argv) {
  if (argc < 2) {
    verb_list(stderr);
    return EXIT_USAGE;
  }
  const char* word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
    return run_help(argc - 2, argv + 2);
  if (strcmp(word, "--version") == 0) {
    version_print(stdout);
    return EXIT_DONE;
  }
  const Verb* verb = verb_find(word);
  return verb ? run_verb(verb, argc - 2, argv + 2) : unknown_verb(word);
}

/* Standard output can fail, for instance on a full disk. */
ExitCode app_run(int argc, char** argv) {
  ExitCode code = dispatch(argc, argv);
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "sdrs: error: cannot write to standard output: %s\n", strerror(errno));
  return code == EXIT_DONE ? EXIT_IO : code;
}
