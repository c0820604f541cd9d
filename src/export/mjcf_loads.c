/* Loads and gravity compensation in MJCF: motors at sites, whose controls are the forces (docs/export.md). */
#include "export/mjcf_parts.h"

/* Returns true for a load on a movable link, except for fields, which MuJoCo lacks. */
static bool is_exported(const Model* m, const ModelLoad* load) {
  return !load->field && m->links[load->link].tree >= 0;
}

/* Returns the force of gravity compensation on a link [N], zero without compensation. */
static Vec3 compensation_force(const Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  double part = link->tree >= 0 && link->mass > 0 ? link->gravity_compensation : 0;
  return vec3_scale(m->model->simulation.gravity, -part * link->mass);
}

static bool has_compensation(const Mjcf* m, int index) { return vec3_norm(compensation_force(m, index)) > 0; }

bool mjcf_has_world_loads(const Mjcf* m) {
  for (int i = 0; i < m->model->link_count; i++)
    if (has_compensation(m, i)) return true;
  for (int k = 0; k < m->model->load_count; k++)
    if (!m->model->loads[k].link_axes && is_exported(m->model, &m->model->loads[k])) return true;
  return false;
}

/* Writes a site for each load of a link, and one for its gravity compensation. */
void mjcf_add_load_sites(Mjcf* m, int index) {
  if (has_compensation(m, index)) {
    Text name = {0};
    text_add(&name, "%s/lift", m->model->links[index].name);
    mjcf_indent(m);
    text_add(m->out, "<site");
    xml_text(m->out, "name", name.data);
    xml_vector(m->out, "pos", m->model->links[index].center);
    text_add(m->out, "/>\n");
    text_free(&name);
  }
  for (int k = 0; k < m->model->load_count; k++) {
    const ModelLoad* load = &m->model->loads[k];
    if (load->link != index || !is_exported(m->model, load)) continue;
    mjcf_indent(m);
    text_add(m->out, "<site name=\"load%d\"", k);
    xml_vector(m->out, "pos", model_load_point(m->model, load));
    text_add(m->out, "/>\n");
  }
}

/* Writes a motor for each component of a force or torque at a site, along the axes of the link or of the world. The
 * control of a motor is the component. */
static void add_load_part(Mjcf* m, int number, const Signal* signal, int first) {
  static const char* const WORDS[6] = {"fx", "fy", "fz", "tx", "ty", "tz"};
  const ModelLoad* load = &m->model->loads[number];
  double value[3], rate[3];
  if (signal->source->channels == 0) return;
  signal_eval(signal, 0.0, value, rate);
  for (int k = 0; k < 3; k++) {
    double gear[6] = {0};
    gear[first + k] = 1;
    text_add(&m->actuators, "    <motor name=\"load%d %s\" site=\"load%d\"", number, WORDS[first + k], number);
    if (!load->link_axes) text_add(&m->actuators, " refsite=\"world\"");
    xml_numbers(&m->actuators, "gear", gear, 6);
    text_add(&m->actuators, "/>\n");
    text_add_numbers(&m->control, &value[k], 1);
    text_add(&m->names, ",load%d %s", number, WORDS[first + k]);
  }
}

void mjcf_add_loads(Mjcf* m) {
  for (int k = 0; k < m->model->load_count; k++) {
    const ModelLoad* load = &m->model->loads[k];
    if (load->field)
      mjcf_note(m, m->model->links[load->link].name,
                "the force field on the link is left out: MuJoCo has no force fields");
    if (!is_exported(m->model, load)) continue;
    add_load_part(m, k, &m->model->loads[k].force, 0);
    add_load_part(m, k, &m->model->loads[k].torque, 3);
  }
}

/* Writes a motor for each component of the gravity compensation; MuJoCo's attribute `gravcomp` exists in later versions
 * only. */
static void add_compensation_motors(Mjcf* m, int index) {
  Vec3 force = compensation_force(m, index);
  const double f[3] = {force.x, force.y, force.z};
  for (int k = 0; k < 3; k++) {
    if (f[k] == 0) continue;
    Text site = {0}, name = {0};
    double gear[6] = {0};
    gear[k] = 1;
    text_add(&site, "%s/lift", m->model->links[index].name);
    text_add(&name, "%s/lift %c", m->model->links[index].name, "xyz"[k]);
    text_add(&m->actuators, "    <motor");
    xml_text(&m->actuators, "name", name.data);
    xml_text(&m->actuators, "site", site.data);
    text_add(&m->actuators, " refsite=\"world\"");
    xml_numbers(&m->actuators, "gear", gear, 6);
    text_add(&m->actuators, "/>\n");
    text_add_numbers(&m->control, &f[k], 1);
    text_add(&m->names, ",");
    csv_add_field(&m->names, name.data);
    text_free(&site);
    text_free(&name);
  }
}

void mjcf_add_compensation(Mjcf* m) {
  for (int i = 0; i < m->model->link_count; i++) add_compensation_motors(m, i);
}

void mjcf_add_compensation_controls(Text* out, const Mjcf* m) {
  for (int i = 0; i < m->model->link_count; i++) {
    Vec3 force = compensation_force(m, i);
    const double f[3] = {force.x, force.y, force.z};
    for (int k = 0; k < 3; k++)
      if (f[k] != 0) text_add(out, ","), text_add_double(out, f[k]);
  }
}

void mjcf_add_load_controls(Text* out, const Model* model, double time) {
  for (int k = 0; k < model->load_count; k++) {
    const Signal* const parts[2] = {&model->loads[k].force, &model->loads[k].torque};
    for (int part = 0; part < 2 && is_exported(model, &model->loads[k]); part++) {
      double value[3], rate[3];
      if (parts[part]->source->channels == 0) continue;
      signal_eval(parts[part], time, value, rate);
      for (int i = 0; i < 3; i++) text_add(out, ","), text_add_double(out, value[i]);
    }
  }
}

bool mjcf_loads_vary(const Model* model) {
  for (int k = 0; k < model->load_count; k++)
    if (is_exported(model, &model->loads[k]) &&
        ((model->loads[k].force.source->channels > 0 && model->loads[k].force.source->type != SIGNAL_CONSTANT) ||
         (model->loads[k].torque.source->channels > 0 && model->loads[k].torque.source->type != SIGNAL_CONSTANT)))
      return true;
  return false;
}
