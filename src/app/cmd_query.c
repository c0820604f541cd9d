/* sdrs query FILE.json: contact potential and distance of pairs of convex point sets. */
#include "app/command.h"
#include "app/query.h"
#include "contact/contact.h"

static void add_vector(Text* line, Vec3 v) {
  text_add(line, "[");
  json_add_number(line, v.x);
  text_add(line, ", ");
  json_add_number(line, v.y);
  text_add(line, ", ");
  json_add_number(line, v.z);
  text_add(line, "]");
}

static void add_vectors(Text* line, const char* key, const Vec3* vectors, int count) {
  text_add(line, ", \"%s\": [", key);
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(line, ", ");
    add_vector(line, vectors[i]);
  }
  text_add(line, "]");
}

static void add_answer(Text* line, const QueryPair* pair, const ContactQuery* answer, const Vec3* grad_a,
                       const Vec3* grad_b) {
  text_add(line, "{\"distance\": ");
  json_add_number(line, answer->distance);
  text_add(line, ", \"witness_a\": ");
  add_vector(line, answer->witness_a);
  text_add(line, ", \"witness_b\": ");
  add_vector(line, answer->witness_b);
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

static void answer_pair(const QueryPair* pair) {
  Vec3* grad_a = MEMORY_NEW(Vec3, pair->a_count);
  Vec3* grad_b = MEMORY_NEW(Vec3, pair->b_count);
  ContactQuery answer = {0};
  Text line = {0};
  if (contact_query(pair->a, pair->a_count, pair->b, pair->b_count, pair->support, &answer, grad_a, grad_b))
    add_answer(&line, pair, &answer, grad_a, grad_b);
  else
    text_add(&line,
             "{\"distance\": 0, \"witness_a\": null, \"witness_b\": null, \"potential\": null, \"plane\": null, "
             "\"grad_a\": null, \"grad_b\": null}\n");
  fwrite(line.data, 1, line.length, stdout);
  text_free(&line);
  memory_free(grad_a);
  memory_free(grad_b);
}

static ExitCode query(const Options* options) {
  QueryList list = {0};
  Diagnostics diagnostics = {0};
  Status status = query_read(&list, options->operands[0], &diagnostics);
  print_diagnostics(options, &diagnostics);
  for (int i = 0; status == STATUS_OK && i < list.count; i++) answer_pair(&list.pairs[i]);
  diagnostics_free(&diagnostics);
  query_free(&list);
  return status_exit_code(status);
}

const Verb VERB_QUERY = {
    .name = "query",
    .operands = "FILE.json",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "distance and contact potential of pairs, without a scene",
    .examples =
        "  echo '{\"a\": [[0,0,0],[1,0,0],[0,1,0],[0,0,-1]], \"b\": [[0,0,0.01],[1,0,1],[0,1,1],[0,0,1]],\n"
        "         \"support\": 0.02}' > pair.json\n"
        "  sdrs query pair.json\n",
    .details =
        "FILE holds a list of pairs {\"a\": [[x,y,z],...], \"b\": [[x,y,z],...], \"support\": s}, or one pair; "
        "metres.\n"
        "Answers, one JSON object a line: distance, witness_a, witness_b, potential, plane [nx, ny, nz, o] with A on\n"
        "its negative side, grad_a, grad_b (potential and gradients for stiffness 1). When the hulls meet, distance\n"
        "is 0 and everything else null.\n"
        "Exit codes: 0 answered, 3 the file is not such a list, 5 cannot read.\n",
    .run = query,
};
