/* contacts.csv: one row per touching pair of links and recorded step; the force acts on b. */
#include "run/writer.h"

static void header(Text* row, const Model* model) {
  (void)model;
  text_add(row, "time,a,b,gap,fx,fy,fz\n");
}

static void rows(Text* out, WriterContext* context, const RunFrame* frame) {
  const ModelLink* links = context->model->links;
  for (int i = 0; i < frame->contact_count; i++) {
    const SimContact* contact = &frame->contacts[i];
    text_add_double(out, frame->state->time);
    text_add_bytes(out, ",", 1);
    csv_add_field(out, links[contact->a].name);
    text_add_bytes(out, ",", 1);
    csv_add_field(out, links[contact->b].name);
    const double values[4] = {contact->gap, contact->force.x, contact->force.y, contact->force.z};
    for (int k = 0; k < 4; k++) {
      text_add_bytes(out, ",", 1);
      text_add_double(out, values[k]);
    }
    text_add_bytes(out, "\n", 1);
  }
}

const RunWriter WRITER_CONTACTS = {"contacts.csv", false, header, rows, 0};
