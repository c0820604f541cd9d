/* sdrs schema [scene|task]: prints the JSON Schema of the input files. */
#include <string.h>
#include "app/command.h"
#include "scene/task.h"

typedef struct {
  const char* name;
  void (*json)(Text* out);
  void (*markdown)(Text* out);
  void (*man)(Text* out);
} Format;

static const Format FORMATS[] = {
    {"scene", scene_schema_json, scene_schema_markdown, scene_schema_man},
    {"task", task_schema_json, task_schema_markdown, task_schema_man},
};

static const Format* find_format(const char* name) {
  for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
    if (strcmp(FORMATS[i].name, name) == 0) return &FORMATS[i];
  return NULL;
}

static ExitCode schema(const Options* options) {
  const char* kind = options->operand_count > 0 ? options->operands[0] : "scene";
  const Format* format = find_format(kind);
  if (!format) return usage_error(options, "unknown schema '%s' (known: scene, task)", kind);
  Text text = {0};
  if (option_given(options, "man"))
    format->man(&text);
  else if (option_given(options, "markdown"))
    format->markdown(&text);
  else
    format->json(&text);
  fwrite(text.data, 1, text.length, stdout);
  text_free(&text);
  return EXIT_DONE;
}

static const OptionRow OPTIONS[] = {
    {"markdown", 0, OPTION_FLAG, NULL, "the reference page (docs/<kind>-format.md) instead"},
    {"man", 0, OPTION_FLAG, NULL, "the manual page sdrs-<kind>(5) instead"},
};

const Verb VERB_SCHEMA = {
    .name = "schema",
    .operands = "[scene|task]",
    .operand_min = 0,
    .operand_max = 1,
    .summary = "print the JSON Schema (draft-07) of a file format",
    .examples =
        "  sdrs schema > scene.schema.json\n"
        "  sdrs schema task > task.schema.json\n"
        "  sdrs schema scene --markdown > scene-format.md\n"
        "  sdrs schema scene --man | man -l -\n",
    .details =
        "Editors check and complete a scene or a task whose first line is\n"
        "  # yaml-language-server: $schema=scene.schema.json\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .serial = true,
    .run = schema,
};
