/* sdrs query FILE: where pairs of bodies meet, and how that moves with them. */
#include "app/command.h"
#include "app/query.h"
#include "contact/contact.h"

static void add_vectors(Text* line, const char* key, const Vec3* vectors, int count) {
  text_add(line, ", \"%s\": [", key);
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(line, ", ");
    query_add_vector(line, vectors[i]);
  }
  text_add(line, "]");
}

static void add_answer(Text* line, const QueryPair* pair, const ContactQuery* answer, const Vec3* grad_a,
                       const Vec3* grad_b) {
  text_add(line, "{\"distance\": ");
  json_add_number(line, answer->distance);
  text_add(line, ", \"witness_a\": ");
  query_add_vector(line, answer->witness_a);
  text_add(line, ", \"witness_b\": ");
  query_add_vector(line, answer->witness_b);
  text_add(line, ", \"potential\": ");
  json_add_number(line, answer->potential);
  text_add(line, ", \"plane\": [");
  for (int k = 0; k < 4; k++) {
    if (k > 0) text_add(line, ", ");
    json_add_number(line, answer->plane[k]);
  }
  text_add(line, "]");
  add_vectors(line, "grad_a", grad_a, pair->a_count);
  add_vectors(line, "grad_b", grad_b, pair->b_count);
  text_add(line, "}\n");
}

static void answer_pair(Text* line, const QueryPair* pair) {
  Vec3* grad_a = MEMORY_NEW(Vec3, pair->a_count);
  Vec3* grad_b = MEMORY_NEW(Vec3, pair->b_count);
  ContactQuery answer = {0};
  double support = pair->law == CONTACT_LONG_RANGE ? (double)INFINITY : pair->support;
  bool (*ask)(const Vec3*, int, const Vec3*, int, double, ContactQuery*, Vec3*, Vec3*) =
      pair->law == CONTACT_IPC ? contact_query_mesh : contact_query;
  if (ask(pair->a, pair->a_count, pair->b, pair->b_count, support, &answer, grad_a, grad_b))
    add_answer(line, pair, &answer, grad_a, grad_b);
  else
    text_add(line,
             "{\"distance\": 0, \"witness_a\": null, \"witness_b\": null, \"potential\": null, \"plane\": null, "
             "\"grad_a\": null, \"grad_b\": null}\n");
  memory_free(grad_a);
  memory_free(grad_b);
}

static void answer_all(const QueryList* list) {
  QueryMemory memory = {.body = {-1, -1}};
  Text line = {0};
  for (int i = 0; i < list->count; i++) {
    line.length = 0;
    const QueryItem* item = &list->items[i];
    if (item->method == QUERY_POTENTIAL)
      answer_pair(&line, &item->pair);
    else
      query_answer(&line, list, item, &memory);
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
