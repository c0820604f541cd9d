#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "app/manual.h"

static void expect_in(const Text* page, const char* format, const char* word) {
  Text piece = {0};
  text_add(&piece, "%s", format);
  text_add(&piece, "%s", word);
  if (!strstr(page->data, piece.data)) fail_msg("no '%s'", piece.data);
  text_free(&piece);
}

static void every_verb_and_option_is_in_every_page(void** state) {
  (void)state;
  Text man = {0}, bash = {0}, zsh = {0}, name = {0};
  manual_man(&man);
  manual_bash(&bash);
  manual_zsh(&zsh);
  for (int v = 0; verb_at(v); v++) {
    const Verb* verb = verb_at(v);
    expect_in(&man, ".SS \"sdrs ", verb->name);
    expect_in(&bash, "    ", verb->name);
    expect_in(&zsh, "    '", verb->name);
    for (int i = 0; i < verb->option_count; i++) {
      name.length = 0;
      text_add_roff(&name, verb->options[i].name);
      expect_in(&man, "\\fB\\-\\-", name.data);
      expect_in(&bash, " --", verb->options[i].name);
      expect_in(&zsh, verb->options[i].type == OPTION_TEXT_LIST ? "'*--" : "'--", verb->options[i].name);
    }
  }
  text_free(&man);
  text_free(&bash);
  text_free(&zsh);
  text_free(&name);
}

/* --set may be given again; -o completes files; signs that would end a part are escaped. */
static void zsh_knows_what_options_take(void** state) {
  (void)state;
  Text zsh = {0};
  manual_zsh(&zsh);
  expect_in(&zsh, "'*--set[", "override a key");
  expect_in(&zsh, "'-o[", "folder for the results (default\\: out/<name>)]:DIR:_files'");
  text_free(&zsh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_verb_and_option_is_in_every_page),
      cmocka_unit_test(zsh_knows_what_options_take),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
