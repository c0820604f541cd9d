/* sdrs schema [scene|task]: the JSON Schema of the input files. */
#include <string.h>
#include "app/command.h"

static ExitCode schema(const Options* options) {
  const char* kind = options->operand_count > 0 ? options->operands[0] : "scene";
  if (strcmp(kind, "task") == 0) return usage_error(options, "there is no schema of tasks yet; 'scene' is");
  if (strcmp(kind, "scene") != 0) return usage_error(options, "unknown schema '%s' (known: scene)", kind);
  Text text = {0};
  if (option_given(options, "markdown"))
    scene_schema_markdown(&text);
  else
    scene_schema_json(&text);
  fwrite(text.data, 1, text.length, stdout);
  text_free(&text);
  return EXIT_DONE;
}

static const OptionRow OPTIONS[] = {
    {"markdown", 0, OPTION_FLAG, NULL, "the reference page (docs/scene-format.md) instead"},
};

const Verb VERB_SCHEMA = {
    .name = "schema",
    .operands = "[scene|task]",
    .operand_min = 0,
    .operand_max = 1,
    .summary = "print the JSON Schema (draft-07) of a file format",
    .examples =
        "  sdrs schema > scene.schema.json\n"
        "  sdrs schema scene --markdown > scene-format.md\n",
    .details =
        "Editors check and complete a scene whose first line is\n"
        "  # yaml-language-server: $schema=scene.schema.json\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .run = schema,
};
