/* Answers questions about two point sets. */
#include "ask/ask.h"
#include "contact/contact.h"
#include "run/run.h"

static void append_vectors(Text* line, const char* key, const Vec3* vectors, int count) {
  text_add(line, ", \"%s\": [", key);
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(line, ", ");
    query_add_vector(line, vectors[i]);
  }
  text_add(line, "]");
}

static void append_answer(Text* line, const QueryPair* pair, const ContactQuery* answer, const Vec3* grad_a,
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
  append_vectors(line, "grad_a", grad_a, pair->a_count);
  append_vectors(line, "grad_b", grad_b, pair->b_count);
  text_add(line, "}\n");
}

void query_answer_pair(Text* line, const QueryPair* pair) {
  Vec3* grad_a = MEMORY_NEW(Vec3, pair->a_count);
  Vec3* grad_b = MEMORY_NEW(Vec3, pair->b_count);
  ContactQuery answer = {0};
  double support = pair->law == CONTACT_LONG_RANGE ? (double)INFINITY : pair->support;
  bool (*ask)(const Vec3*, int, const Vec3*, int, double, ContactQuery*, Vec3*, Vec3*) =
      pair->law == CONTACT_IPC ? contact_query_mesh : contact_query;
  if (ask(pair->a, pair->a_count, pair->b, pair->b_count, support, &answer, grad_a, grad_b))
    append_answer(line, pair, &answer, grad_a, grad_b);
  else
    text_add(line,
             "{\"distance\": 0, \"witness_a\": null, \"witness_b\": null, \"potential\": null, \"plane\": null, "
             "\"grad_a\": null, \"grad_b\": null}\n");
  memory_free(grad_a);
  memory_free(grad_b);
}
