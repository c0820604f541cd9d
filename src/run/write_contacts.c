/* Writes contacts.csv. It has one row for each recorded step and each pair of links in contact. The force acts on link
 * b. */
#include "run/writer.h"

static bool has_contact_points(const Model* model) { return model->simulation.output & OUTPUT_CONTACT_POINTS; }

static void header(Text* row, const Model* model) {
  text_add(row, "time,a,b,gap,fx,fy,fz%s%s\n", has_contact_points(model) ? ",x,y,z,mx,my,mz" : "",
           contact_keeps_account(model) ? ",friction_load,friction_owed,friction_lost" : "");
}

static void rows(Text* out, WriterContext* context, const RunFrame* frame) {
  const ModelLink* links = context->model->links;
  const bool accounts = contact_keeps_account(context->model);
  for (int i = 0; i < frame->contact_count; i++) {
    const SimContact* contact = &frame->contacts[i];
    text_add_double(out, frame->state->time);
    text_add_bytes(out, ",", 1);
    csv_add_field(out, links[contact->a].name);
    text_add_bytes(out, ",", 1);
    csv_add_field(out, links[contact->b].name);
    const Vec3 f = contact->force, x = contact->point, m = contact->moment;
    const double values[] = {contact->gap, f.x, f.y, f.z, x.x, x.y, x.z, m.x, m.y, m.z};
    run_add_numbers(out, values, has_contact_points(context->model) ? 10 : 4);
    const double account[] = {contact->friction_load, contact->friction_owed, contact->friction_lost};
    if (accounts) run_add_numbers(out, account, 3);
    text_add_bytes(out, "\n", 1);
  }
}

const RunWriter WRITER_CONTACTS = {"contacts.csv", false, header, rows, 0};
