/* The manual page sdrs(1) and the completions for bash and zsh. All are generated from the option tables of the
 * commands. */
#include <string.h>
#include "app/manual.h"

static const struct {
  int code;
  const char* meaning;
} EXIT_CODES[] = {
    {EXIT_DONE, "done"},
    {EXIT_CHECK_FAILED, "the check ran and failed"},
    {EXIT_USAGE, "wrong usage"},
    {EXIT_BAD_INPUT, "bad input: a scene, mesh, query or table that cannot be used"},
    {EXIT_SOLVER, "the solver failed; the last good state is written"},
    {EXIT_IO, "cannot read or write"},
    {EXIT_INTERRUPTED, "interrupted; the run folder is complete up to the last finished step"},
};
enum { EXIT_CODE_COUNT = sizeof EXIT_CODES / sizeof EXIT_CODES[0] };

static void man_option(Text* out, const OptionRow* row) {
  text_add(out, ".TP\n\\fB");
  if (row->letter) text_add(out, "\\-%c\\fR, \\fB", row->letter);
  text_add(out, "\\-\\-");
  text_add_roff(out, row->name);
  text_add(out, "\\fR");
  if (row->value_name)
    text_add(out, "%s\\fI%s\\fR%s", option_value_prefix(row), row->value_name, option_value_suffix(row));
  text_add(out, "\n");
  text_add_roff(out, row->help);
  text_add(out, "\n");
}

static void man_verb(Text* out, const Verb* verb) {
  text_add(out, ".SS \"sdrs %s [OPTIONS]%s%s\"\n", verb->name, *verb->operands ? " " : "", verb->operands);
  text_add_roff(out, verb->summary);
  text_add(out, ".\n");
  for (int i = 0; i < verb->option_count; i++) man_option(out, &verb->options[i]);
  text_add(out, ".PP\n");
  text_add_roff(out, verb->details);
  text_add(out, ".PP\n.nf\n");
  text_add_roff(out, verb->examples);
  text_add(out, ".fi\n");
}

void manual_man(Text* out) {
  int count;
  const OptionRow* common = common_options(&count);
  text_add(out,
           ".TH sdrs 1 \"\" sdrs \"User commands\"\n.SH NAME\nsdrs \\- simulate and optimize robots in contact\n"
           ".SH SYNOPSIS\n.B sdrs\n.I VERB\n[OPTIONS] ...\n.SH DESCRIPTION\n"
           "Simulates articulated and free rigid bodies with separating\\-plane contact, and designs their shapes and\n"
           "controls by gradients. Results go to standard output, everything else to standard error.\n.SH VERBS\n");
  for (int v = 0; verb_at(v); v++) man_verb(out, verb_at(v));
  text_add(out, ".SH OPTIONS OF EVERY VERB\n");
  for (int i = 0; i < count; i++) man_option(out, &common[i]);
  text_add(out, ".SH EXIT STATUS\n");
  for (int i = 0; i < EXIT_CODE_COUNT; i++) {
    text_add(out, ".TP\n.B %d\n", EXIT_CODES[i].code);
    text_add_roff(out, EXIT_CODES[i].meaning);
    text_add(out, "\n");
  }
  text_add(out,
           ".SH ENVIRONMENT\n.TP\n.B OMP_NUM_THREADS\nthreads, where \\-\\-threads is not given\n.TP\n.B NO_COLOR\n"
           "when set, no colours on a terminal\n.SH SEE ALSO\n.BR sdrs\\-scene (5),\n.BR sdrs\\-task (5)\n");
}

static void bash_words(Text* out, const OptionRow* rows, int count) {
  for (int i = 0; i < count; i++) text_add(out, " --%s", rows[i].name);
}

void manual_bash(Text* out) {
  int count;
  const OptionRow* common = common_options(&count);
  text_add(out,
           "# Completion of sdrs for bash, written by `sdrs help --bash`.\n_sdrs() {\n"
           "  local current=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=\n"
           "  if ((COMP_CWORD == 1)); then\n    words='help --help --version");
  for (int v = 0; verb_at(v); v++) text_add(out, " %s", verb_at(v)->name);
  text_add(out,
           "'\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n    return\n  fi\n"
           "  case $verb in\n");
  for (int v = 0; verb_at(v); v++) {
    text_add(out, "    %s) words='", verb_at(v)->name);
    bash_words(out, verb_at(v)->options, verb_at(v)->option_count);
    text_add(out, "' ;;\n");
  }
  text_add(out, "  esac\n  words+='");
  bash_words(out, common, count);
  text_add(out,
           "'\n  if [[ $current == -* ]]; then\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n  else\n"
           "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n  fi\n}\n"
           "complete -o filenames -F _sdrs sdrs\n");
}

/* Appends `text` with escapes for '...' and [...] of the zsh function _arguments, where quotes, brackets, colons and
 * backslashes are special. */
static void zsh_text(Text* out, const char* text) {
  for (; *text; text++) {
    if (*text == '\'')
      text_add(out, "'\\''");
    else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
      text_add(out, "\\%c", *text);
    else
      text_add_bytes(out, text, 1);
  }
}

static void zsh_option(Text* out, const OptionRow* row) {
  const char* again = row->type == OPTION_OVERRIDE || row->type == OPTION_TEXT_LIST ? "*" : "";
  for (int letter = 0; letter < (row->letter ? 2 : 1); letter++) {
    text_add(out, "        '%s", again);
    if (letter)
      text_add(out, "-%c", row->letter);
    else
      text_add(out, "--%s", row->name);
    text_add(out, "[");
    zsh_text(out, row->help);
    text_add(out, "]");
    if (row->value_name && row->type != OPTION_PORT) {
      text_add(out, ":");
      zsh_text(out, row->value_name);
      text_add(out, row->letter == 'o' ? ":_files" : ":");
    }
    text_add(out, "' \\\n");
  }
}

void manual_zsh(Text* out) {
  int count;
  const OptionRow* common = common_options(&count);
  text_add(out,
           "#compdef sdrs\n# Completion of sdrs for zsh, written by `sdrs help --zsh`.\n_sdrs() {\n"
           "  local -a verbs\n  verbs=(\n");
  for (int v = 0; verb_at(v); v++) {
    text_add(out, "    '%s:", verb_at(v)->name);
    zsh_text(out, verb_at(v)->summary);
    text_add(out, "'\n");
  }
  text_add(out,
           "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n  local verb=$words[2]\n"
           "  shift words\n  ((CURRENT--))\n  case $verb in\n");
  for (int v = 0; verb_at(v); v++) {
    text_add(out, "    %s)\n      _arguments \\\n", verb_at(v)->name);
    for (int i = 0; i < verb_at(v)->option_count; i++) zsh_option(out, &verb_at(v)->options[i]);
    for (int i = 0; i < count; i++) zsh_option(out, &common[i]);
    text_add(out, "        '*:file:_files'\n      ;;\n");
  }
  text_add(out, "  esac\n}\n_sdrs \"$@\"\n");
}
