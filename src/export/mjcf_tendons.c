/* Tendons in MJCF: a spatial tendon through sites, with a motor that pulls it (docs/export.md). */
#include "export/mjcf_parts.h"

/* Writes a wrap surface as a massless geom without contact, and a site beside it. */
static void add_wrap(Mjcf* m, int k, int i) {
  const SceneTendonWrap* wrap = &m->model->tendons[k].source->wraps[i];
  mjcf_indent(m);
  text_add(m->out, "<geom name=\"tendon%d wrap%d\"", k, i);
  if (wrap->type == WRAP_SPHERE) {
    text_add(m->out, " type=\"sphere\"");
    xml_vector(m->out, "pos", wrap->position);
  } else {
    Vec3 half = vec3_scale(vec3_normalized(wrap->axis), wrap->radius);
    Vec3 low = vec3_sub(wrap->position, half), high = vec3_add(wrap->position, half);
    double ends[6] = {low.x, low.y, low.z, high.x, high.y, high.z};
    text_add(m->out, " type=\"cylinder\"");
    xml_numbers(m->out, "fromto", ends, 6);
  }
  xml_numbers(m->out, "size", &wrap->radius, 1);
  text_add(m->out, " contype=\"0\" conaffinity=\"0\" mass=\"0\"/>\n");
  if (!wrap->has_side) return;
  mjcf_indent(m);
  text_add(m->out, "<site name=\"tendon%d side%d\"", k, i);
  xml_vector(m->out, "pos", wrap->side);
  text_add(m->out, "/>\n");
}

void mjcf_add_tendon_sites(Mjcf* m, int index) {
  for (int k = 0; k < m->model->tendon_count; k++) {
    const SceneTendon* tendon = m->model->tendons[k].source;
    for (int i = 0; i < tendon->wrap_count; i++)
      if (tendon->wraps[i].link == index) add_wrap(m, k, i);
    for (int i = 0; i < tendon->count; i++) {
      if (tendon->points[i].link != index) continue;
      mjcf_indent(m);
      text_add(m->out, "<site name=\"tendon%d %d\"", k, i);
      xml_vector(m->out, "pos", tendon->points[i].point);
      text_add(m->out, "/>\n");
    }
  }
}

/* Writes limits and friction. MuJoCo needs a finite value for an unlimited side. */
static void add_resistance(Mjcf* m, const SceneTendon* tendon) {
  const double far = 1e6;
  double range[2] = {fmax(tendon->lower, -far), fmin(tendon->upper, far)};
  if (tendon->friction > 0) xml_numbers(m->out, "frictionloss", &tendon->friction, 1);
  if (!tendon->limited) return;
  text_add(m->out, " limited=\"true\"");
  xml_numbers(m->out, "range", range, 2);
}

/* Writes a fixed tendon: a linear combination of joint coordinates. */
static void add_fixed(Mjcf* m, int k) {
  const SceneTendon* tendon = m->model->tendons[k].source;
  text_add(m->out, "    <fixed name=\"tendon%d\"", k);
  add_resistance(m, tendon);
  text_add(m->out, ">\n");
  for (int i = 0; i < tendon->joint_count; i++) {
    const SceneCouplingTerm* joint = &tendon->joints[i];
    Text name = {0};
    mjcf_joint_name(&name, m, joint->link, joint->coordinate);
    text_add(m->out, "      <joint");
    xml_text(m->out, "joint", name.data);
    xml_numbers(m->out, "coef", &joint->ratio, 1);
    text_add(m->out, "/>\n");
    text_free(&name);
  }
  text_add(m->out, "    </fixed>\n");
}

/* Writes a tendon. In MuJoCo its spring pushes below the rest length, where a tendon of a scene is slack. Only later
 * versions of MuJoCo have a range without force. */
static void add_tendon(Mjcf* m, int k) {
  const SceneTendon* tendon = m->model->tendons[k].source;
  if (tendon->joint_count > 0) {
    add_fixed(m, k);
    return;
  }
  text_add(m->out, "    <spatial name=\"tendon%d\"", k);
  if (tendon->stiffness > 0) {
    xml_numbers(m->out, "stiffness", &tendon->stiffness, 1);
    xml_numbers(m->out, "springlength", &tendon->rest_length, 1);
    mjcf_note(m, m->model->links[tendon->end].name,
              "the tendon also pushes below its rest length in MuJoCo; later versions of MuJoCo avoid the push by "
              "'springlength' with two numbers");
  }
  add_resistance(m, tendon);
  text_add(m->out, ">\n");
  for (int i = 0; i < tendon->count; i++) {
    int wrap = tendon->points[i].wrap - 1;
    text_add(m->out, "      <site site=\"tendon%d %d\"/>\n", k, i);
    if (wrap < 0) continue;
    text_add(m->out, "      <geom geom=\"tendon%d wrap%d\"", k, wrap);
    if (tendon->wraps[wrap].has_side) text_add(m->out, " sidesite=\"tendon%d side%d\"", k, wrap);
    text_add(m->out, "/>\n");
  }
  text_add(m->out, "    </spatial>\n");
}

/* Reports all bushings in one note, because a rod has many. */
static void note_bushings(Mjcf* m) {
  const int count = m->model->bushing_count;
  Text text = {0};
  if (count == 0) return;
  text_add(&text, "%d bushing%s of the link%s left out: MuJoCo has no bushings", count, count > 1 ? "s" : "",
           count > 1 ? " and of other links are" : " is");
  mjcf_note(m, m->model->links[m->model->bushings[0].source->link[0]].name, text.data);
  text_free(&text);
}

void mjcf_add_tendons(Mjcf* m) {
  note_bushings(m);
  if (m->model->tendon_count == 0) return;
  text_add(m->out, "  <tendon>\n");
  for (int k = 0; k < m->model->tendon_count; k++) add_tendon(m, k);
  text_add(m->out, "  </tendon>\n");
}

/* Adds the tendon motors. A positive motor force lengthens the tendon, so the gear is -1. */
void mjcf_add_tendon_motors(Mjcf* m) {
  for (int k = 0; k < m->model->tendon_count; k++) {
    const Signal* signal = &m->model->tendons[k].tension;
    double value, rate;
    if (signal->source->channels == 0) continue;
    signal_eval(signal, 0.0, &value, &rate);
    text_add(&m->actuators, "    <motor name=\"tendon%d\" tendon=\"tendon%d\" gear=\"-1\"/>\n", k, k);
    text_add_numbers(&m->control, &value, 1);
    text_add(&m->names, ",tendon%d", k);
  }
}

void mjcf_add_tendon_controls(Text* out, const Model* model, double time) {
  for (int k = 0; k < model->tendon_count; k++) {
    double value, rate;
    if (model->tendons[k].tension.source->channels == 0) continue;
    signal_eval(&model->tendons[k].tension, time, &value, &rate);
    text_add(out, ","), text_add_double(out, value);
  }
}

bool mjcf_tendons_vary(const Model* model) {
  for (int k = 0; k < model->tendon_count; k++) {
    const SceneSignal* source = model->tendons[k].tension.source;
    if (source->channels > 0 && source->type != SIGNAL_CONSTANT) return true;
  }
  return false;
}
