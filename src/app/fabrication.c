/* sdrs export --fabrication: reports how well each link can be manufactured, the clearance of its joint, and a path on
 * which it can be removed. */
#include <assert.h>
#include "app/command.h"

static const char* const AXES = "x|y|z|-x|-y|-z";
#define OVERHANG_ANGLE (M_PI / 4)

int read_build_axis(const Options* options) {
  const char* word = option_text(options, "build");
  return words_index(AXES, word ? word : "z");
}

static Vec3 build_direction(const Options* options) {
  int k = read_build_axis(options);
  double sign = k < 3 ? 1 : -1;
  return vec3(k % 3 == 0 ? sign : 0, k % 3 == 1 ? sign : 0, k % 3 == 2 ? sign : 0);
}

static void print_removal(const PartRemoval* removal) {
  if (!removal->apart)
    printf("; does not come out: it meets another link where it stands");
  else if (!removal->found)
    printf("; no way out was found from %d places", removal->visited_count);
  else if (removal->segment_count > 0)
    printf("; comes out");
  for (int k = 0; k < removal->segment_count; k++)
    printf("%s(%.6g, %.6g, %.6g)", k == 0 ? " by " : ", ", 1e3 * removal->waypoints[k].x, 1e3 * removal->waypoints[k].y,
           1e3 * removal->waypoints[k].z);
  if (removal->segment_count > 0) printf(" mm, proved");
}

static void print_fabrication(const char* name, const FabricationReport* made, const PartRemoval* removal) {
  printf("%s: wall %.6g mm", name, 1e3 * made->wall);
  if (!isnan(made->neck)) printf(", neck %.6g mm", 1e3 * made->neck);
  printf(", overhang %.6g mm^2, %.6g x %.6g x %.6g mm", 1e6 * made->overhang, 1e3 * made->extent[0],
         1e3 * made->extent[1], 1e3 * made->extent[2]);
  if (!isnan(made->clearance)) {
    printf("; clearance %.6g mm (proved: %.6g) at", 1e3 * made->clearance, 1e3 * made->clearance_lower_bound);
    for (int k = 0; k < made->coordinates; k++) printf(" %.6g", made->at[k]);
  }
  print_removal(removal);
  printf("\n");
}

static void fabrication_json(Json* json, const char* name, const FabricationReport* made, const PartRemoval* removal) {
  json_open(json, NULL, '{');
  json_text(json, "link", name);
  json_number(json, "wall", made->wall);
  json_number(json, "neck", made->neck);
  json_number(json, "overhang", made->overhang);
  json_vector(json, "extent", made->extent, 3);
  json_number(json, "clearance", made->clearance);
  json_number(json, "clearance_at_least", made->clearance_lower_bound);
  json_vector(json, "clearance_at", made->at, made->coordinates);
  json_bool(json, "apart", removal->apart);
  json_bool(json, "comes_out", removal->found);
  json_open(json, "way_out", '[');
  for (int k = 0; k < removal->segment_count; k++) {
    double to[3];
    vec3_store(removal->waypoints[k], to);
    json_vector(json, NULL, to, 3);
  }
  json_close(json, ']');
  json_close(json, '}');
}

bool link_has_solid(const Model* model, int link) {
  assert(link >= 0 && link < model->link_count);
  for (int k = 0; k < model->links[link].hull_count; k++)
    if (model->hulls[model->links[link].hull_first + k].kind->bounded) return true;
  return false;
}

void fabrication_report(const Options* options, const Model* model, const Pose* poses, int only, Json* json) {
  assert(only >= -1 && only < model->link_count);
  for (int link = 0; link < model->link_count; link++) {
    if (!link_has_solid(model, link) || (only >= 0 && only != link)) continue;
    FabricationReport made = fabrication_measure(model, link, build_direction(options), OVERHANG_ANGLE);
    PartRemoval removal = export_removal(model, poses, link, options->threads);
    if (options->json)
      fabrication_json(json, model->links[link].name, &made, &removal);
    else
      print_fabrication(model->links[link].name, &made, &removal);
  }
}
