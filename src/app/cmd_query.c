/* sdrs query FILE: where pairs of bodies meet, and how that moves with them. */
#include "app/command.h"
#include "ask/ask.h"

static void answer_all(const QueryList* list) {
  QueryMemory memory = query_memory();
  Text line = {0};
  for (int i = 0; i < list->count; i++) {
    line.length = 0;
    query_answer(&line, list, &list->items[i], &memory);
    fwrite(line.data, 1, line.length, stdout);
  }
  text_free(&line);
}

static ExitCode query(const Options* options) {
  QueryList list = {0};
  Diagnostics diagnostics = {0};
  Status status = query_read(&list, options->operands[0], &diagnostics);
  print_diagnostics(options, &diagnostics);
  if (status == STATUS_OK) answer_all(&list);
  diagnostics_free(&diagnostics);
  query_free(&list);
  return status_exit_code(status);
}

const Verb VERB_QUERY = {
    .name = "query",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "where pairs of bodies meet, with derivatives, without a scene",
    .examples =
        "  echo '{\"method\": \"growth\", \"derivatives\": true,\n"
        "         \"a\": {\"type\": \"superellipsoid\", \"size\": [1, 0.5, 0.5], \"exponent\": 4},\n"
        "         \"b\": {\"type\": \"truncated_cone\", \"bottom_radius\": 0.4, \"top_radius\": 0.2, \"below\": 0.5,\n"
        "               \"above\": 0.5, \"sharpness\": 20, \"position\": [1, 1, 1]}}' > q.jsonl\n"
        "  sdrs query q.jsonl\n"
        "  echo '{\"a\": [[0,0,0],[1,0,0],[0,1,0],[0,0,-1]], \"b\": [[0,0,0.01],[1,0,1],[0,1,1],[0,0,1]],\n"
        "         \"support\": 0.02}' > pair.json\n"
        "  sdrs query pair.json\n",
    .details =
        "FILE holds questions, one JSON object after the other (a line each) or as a list. Answers: one JSON object\n"
        "a line. docs/queries.md says which method is for what, and names every key.\n"
        "{\"method\": \"growth\" | \"distance\" | \"witness\" | \"touch\" | \"manifold\", \"a\": shape, \"b\": shape,\n"
        "\"derivatives\": true}: a shape has its keys,\n"
        "position and quaternion; what a line leaves out is as in the line before, so a path is one line a pose.\n"
        "{\"a\": [[x,y,z],...], \"b\": [[x,y,z],...], \"support\": s}: two point sets; distance, witness_a,\n"
        "witness_b, potential, plane [nx, ny, nz, o] with A on its negative side, grad_a, grad_b (potential and\n"
        "gradients for stiffness 1). When the hulls meet, distance is 0 and everything else null. \"law\": "
        "\"long_range\"\n"
        "instead of a support: that law's potential of two pieces. \"law\": \"ipc\", with a support: that of "
        "distances\n"
        "of corners, edges and triangles.\n"
        "Exit codes: 0 answered, 3 the file holds something else, 5 cannot read.\n",
    .run = query,
};
