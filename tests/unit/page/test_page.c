#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "page/page.h"
#include "support/runs.h"

/* A page taken apart: its JSON and its block of numbers, read apart from the writer. */
typedef struct {
  Text html;
  PageExtent extent;
  cJSON* run;
  char* block;
  size_t block_length;
} Page;

static int digit(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char* found = c ? strchr(digits, c) : NULL;
  return found ? (int)(found - digits) : -1;
}

static char* decoded(const char* base64, size_t* length) {
  char* out = MEMORY_NEW(char, strlen(base64) + 1);
  uint32_t bits = 0;
  int count = 0;
  *length = 0;
  for (; digit(*base64) >= 0; base64++) {
    bits = bits << 6 | (uint32_t)digit(*base64);
    count += 6;
    if (count >= 8) out[(*length)++] = (char)(bits >> (count -= 8) & 255);
  }
  return out;
}

/* Returns the content of the element with this id, up to the next end tag of its type. The caller frees it. */
static char* element(const Page* page, const char* id) {
  Text mark = {0};
  text_add(&mark, "id=\"%s\">", id);
  const char *start = strstr(page->html.data, mark.data), *end = start ? strstr(start, "</script>") : NULL;
  Text content = {0};
  if (!start || !end)
    fail_msg("the page has no element '%s'", id);
  else
    text_add_bytes(&content, start + mark.length, (size_t)(end - start) - mark.length);
  text_free(&mark);
  return content.data;
}

static bool build_has_a_page(void) {
  const char* version;
  return page_library_version(&version) != 0;
}

static Page page_of(const PageSource* source) {
  Page page = {0};
  Diagnostics diagnostics = {0};
  assert_int_equal(page_write(&page.html, source, &page.extent, &diagnostics), STATUS_OK);
  char* json = element(&page, "run");
  page.run = cJSON_Parse(json);
  assert_non_null(page.run);
  memory_free(json);
  char* block = element(&page, "block");
  page.block = decoded(block, &page.block_length);
  memory_free(block);
  return page;
}

static void page_free(Page* page) {
  cJSON_Delete(page->run);
  memory_free(page->block);
  text_free(&page->html);
}

static const cJSON* item(const cJSON* json, const char* key) {
  const cJSON* found = cJSON_GetObjectItem(json, key);
  if (!found) fail_msg("no key '%s'", key);
  return found;
}

/* Number `index` of an array in the block; *count = how many it has. */
static double number(const Page* page, const cJSON* place, int index, int* count) {
  size_t offset = (size_t)cJSON_GetArrayItem(place, 0)->valueint,
         bytes = (size_t)cJSON_GetArrayItem(place, 2)->valueint;
  int length = cJSON_GetArrayItem(place, 1)->valueint;
  if (count) *count = length;
  assert_true(offset % 4 == 0 && offset + bytes * (size_t)length <= page->block_length);
  assert_in_range(index, 0, length - 1);
  const unsigned char* b = (const unsigned char*)page->block + offset + bytes * (size_t)index;
  uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8;
  if (bytes == 2) return bits;
  bits |= (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
  float single;
  memcpy(&single, &bits, sizeof single);
  return (double)single;
}

/* Names that would end an element or a string, were they written as they are. */
#define SCENE_NAME "</script><script>alert(1)</script><!-- \" ' & \\\\ name"
#define LINK_NAME "</SCRIPT \" ' & <b>"
static const char* const SCENE =
    "shapes: {h: {type: half_space}, b: {type: box, size: [1, 2, 3]}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: h}\n"
    "  - {name: box, shape: b, mass: 2, position: [0, 0, 5], color: [1, 0, 0.5]}\n";

static void rename_all(Scene* scene, void* context) {
  (void)context;
  memory_free(scene->name);
  scene->name = memory_copy_text(SCENE_NAME);
  memory_free(scene->links[1].name);
  scene->links[1].name = memory_copy_text(LINK_NAME);
}

/* The box rises and rotates about x. */
static RunPoses turning(int rows) {
  RunPoses poses = {rows, 2, MEMORY_NEW(double, rows), MEMORY_NEW(Pose, 2 * rows)};
  for (int row = 0; row < rows; row++) {
    poses.time[row] = 0.1 * row;
    poses.pose[2 * row] = pose_identity();
    poses.pose[2 * row + 1] = (Pose){mat3_from_quat(quat_about(vec3(1, 0, 0), 0.3 * row)), vec3(1, 2, 5 + row)};
  }
  return poses;
}

static int occurrences(const char* text, const char* word) {
  int count = 0;
  for (; (text = strstr(text, word)) != NULL; text += strlen(word)) count++;
  return count;
}

/* Nothing is written where this build has no page; the message says how it gets one. */
static void without_a_page_a_message(void** state) {
  (void)state;
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(2);
  Page page = {0};
  Diagnostics diagnostics = {0};
  Status status =
      page_write(&page.html, &(PageSource){.model = &run->model, .run = &poses}, &page.extent, &diagnostics);
  assert_int_equal(status, build_has_a_page() ? STATUS_OK : STATUS_IO);
  assert_true((page.html.length > 0) == build_has_a_page());
  if (!build_has_a_page()) assert_non_null(strstr(diagnostics.items[0].text, "make page"));
  text_free(&page.html);
  diagnostics_free(&diagnostics);
  run_poses_free(&poses);
  run_free(run);
}

static void names_end_no_element(void** state) {
  (void)state;
  if (!build_has_a_page()) skip();
  Run* run = run_create_edited(1, 0, rename_all, NULL, "%s", SCENE);
  RunPoses poses = turning(3);
  Page page = page_of(&(PageSource){.model = &run->model, .run = &poses});
  assert_string_equal(cJSON_GetStringValue(item(page.run, "name")), SCENE_NAME);
  const cJSON* link = cJSON_GetArrayItem(item(page.run, "links"), 1);
  assert_string_equal(cJSON_GetStringValue(item(link, "name")), LINK_NAME);
  /* run, block and the program: each element begins and ends once */
  assert_int_equal(occurrences(page.html.data, "<script"), 3);
  assert_int_equal(occurrences(page.html.data, "</script>"), 3);
  assert_int_equal(occurrences(page.html.data, "</SCRIPT"), 0);
  assert_non_null(strstr(page.html.data, "<title>&lt;/script&gt;&lt;script&gt;alert(1)"));
  page_free(&page);
  run_poses_free(&poses);
  run_free(run);
}

static void the_block_has_shapes_and_motion(void** state) {
  (void)state;
  if (!build_has_a_page()) skip();
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(6);
  Page page = page_of(&(PageSource){.model = &run->model, .run = &poses});
  const cJSON* link = cJSON_GetArrayItem(item(page.run, "links"), 1);
  int count;
  for (int k = 0; k < 24; k++) assert_true(fabs(number(&page, item(link, "vertices"), k, &count)) == 0.5 * (1 + k % 3));
  assert_int_equal(count, 24);
  number(&page, item(link, "triangles"), 35, &count);
  assert_int_equal(count, 36);
  assert_int_equal(cJSON_GetArraySize(item(page.run, "time")), 6);
  for (int row = 0; row < 6; row++) {
    assert_true(cJSON_GetArrayItem(item(page.run, "time"), row)->valuedouble == poses.time[row]);
    double place[3], turn[4];
    for (int k = 0; k < 3; k++) place[k] = number(&page, item(link, "places"), 3 * row + k, &count);
    for (int k = 0; k < 4; k++) turn[k] = number(&page, item(link, "turns"), 4 * row + k, NULL);
    compare_arrays(place, (const double[]){1, 2, 5 + row}, 3, 0, "place of row %d", row);
    const double wanted[4] = {sin(0.15 * row), 0, 0, cos(0.15 * row)};
    compare_arrays(turn, wanted, 4, 1e-7, "turn of row %d", row);
  }
  assert_int_equal(count, 18);
  number(&page, item(cJSON_GetArrayItem(item(page.run, "links"), 0), "places"), 0, &count);
  assert_int_equal(count, 3); /* what is fixed stands once */
  page_free(&page);
  run_poses_free(&poses);
  run_free(run);
}

static void moments_are_chosen_by_fps(void** state) {
  (void)state;
  if (!build_has_a_page()) skip();
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(12);
  Page page = page_of(&(PageSource){.model = &run->model, .run = &poses, .fps = 4});
  static const double wanted[5] = {0, 0.3, 0.6, 0.9, 1.1}; /* at least 1/4 s apart, and the last */
  assert_int_equal(page.extent.moments, 5);
  assert_int_equal(page.extent.recorded, 12);
  for (int i = 0; i < 5; i++)
    compare_near(cJSON_GetArrayItem(item(page.run, "time"), i)->valuedouble, wanted[i], 1e-12, "moment %d", i);
  page_free(&page);
  run_poses_free(&poses);
  run_free(run);
}

/* Half a million moments of one link would be 14 MB. */
static void a_long_run_is_thinned_below_5_MB(void** state) {
  (void)state;
  if (!build_has_a_page()) skip();
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(500001);
  Page page = page_of(&(PageSource){.model = &run->model, .run = &poses});
  assert_true(page.html.length < 5000000);
  assert_true(page.extent.moments > 10000);
  const cJSON* times = item(page.run, "time");
  assert_true(cJSON_GetArrayItem(times, page.extent.moments - 1)->valuedouble == poses.time[500000]);
  page_free(&page);
  run_poses_free(&poses);
  run_free(run);
}

static void write_file(const char* folder, const char* name, const char* content) {
  Text path = {0};
  text_add(&path, "%s/%s", folder, name);
  assert_int_equal(file_write(path.data, content, strlen(content)), STATUS_OK);
  text_free(&path);
}

/* Table rows belong to the displayed times. NaN values are omitted. */
static void tables_and_contacts_follow_the_moments(void** state) {
  (void)state;
  if (!build_has_a_page()) skip();
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(4);
  poses.time[1] = 0.1, poses.time[2] = 0.2, poses.time[3] = 0.3;
  poses.pose[2 * 3 + 1] = (Pose){mat3_identity(), vec3(1, 2, 1.5 + 1e-4)};
  char folder[] = "/tmp/sdrs-page-XXXXXX";
  assert_non_null(mkdtemp(folder));
  write_file(folder, "solver.csv",
             "step,time,outcome,smallest_gap\n1,0.1,converged,inf\n2,0.2,converged,0.5\n3,0.3,converged,1e-4\n");
  write_file(folder, "contacts.csv",
             "time,a,b,gap,fx,fy,fz,x,y,z,mx,my,mz\n0.2,ground,box,1e-4,1,2,3,0,0,0,4,5,6\n"
             "0.3,ground,box,1e-4,0,0,19.5,0,0,0,7,8,9\n");
  write_file(folder, "summary.json", "{\"name\": \"</script>\"}");
  Page page = page_of(&(PageSource){.model = &run->model, .run = &poses, .folder = folder, .fps = 6});
  assert_int_equal(page.extent.moments, 3); /* 0, 0.2, 0.3 */
  const cJSON* table = cJSON_GetArrayItem(item(page.run, "tables"), 0);
  assert_string_equal(cJSON_GetStringValue(item(table, "file")), "solver.csv");
  const cJSON* columns = item(table, "columns");
  assert_int_equal(cJSON_GetArraySize(columns), 3);
  const cJSON* gap = cJSON_GetArrayItem(columns, 2);
  int count;
  assert_string_equal(cJSON_GetStringValue(item(gap, "unit")), "m");
  assert_true(number(&page, item(gap, "values"), 0, &count) == 0.5);
  assert_int_equal(count, 2);
  const cJSON* contacts = item(page.run, "contacts");
  for (int k = 0; k < 3; k++) assert_true(number(&page, item(contacts, "forces"), k, &count) == k + 1);
  assert_int_equal(count, 6);
  for (int k = 0; k < 6; k++) assert_true(number(&page, item(contacts, "torques"), k, &count) == k + 4);
  assert_int_equal(count, 6);
  /* at 0.3 s the box lies flat: contact is at the centre of its face, within the gap; at 0.2 s there is no contact */
  const cJSON* centers = item(contacts, "centers");
  compare_near(number(&page, centers, 3, NULL), 1, 1e-6, "centre of pressure, x");
  compare_near(number(&page, centers, 4, NULL), 2, 1e-6, "centre of pressure, y");
  double height = number(&page, centers, 5, NULL);
  assert_true(height > 0 && height < 1e-4);
  for (int k = 0; k < 3; k++) assert_true(isnan(number(&page, centers, k, NULL)));
  char* summary = element(&page, "summary");
  assert_string_equal(summary, "{\"name\": \"\\u003c/script>\"}");
  memory_free(summary);
  page_free(&page);
  run_poses_free(&poses);
  run_free(run);
}

static void a_table_of_another_scene_is_refused(void** state) {
  (void)state;
  if (!build_has_a_page()) skip();
  Run* run = run_model("%s", SCENE);
  RunPoses poses = turning(2);
  char folder[] = "/tmp/sdrs-page-XXXXXX";
  assert_non_null(mkdtemp(folder));
  write_file(folder, "contacts.csv", "time,a,b,gap,fx,fy,fz\n0.1,ground,ball,1e-4,1,2,3\n");
  Text html = {0};
  PageExtent extent;
  Diagnostics diagnostics = {0};
  PageSource source = {.model = &run->model, .run = &poses, .folder = folder};
  assert_int_equal(page_write(&html, &source, &extent, &diagnostics), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.items[0].line, 2);
  assert_int_equal(html.length, 0);
  diagnostics_free(&diagnostics);
  text_free(&html);
  run_poses_free(&poses);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_page_a_message),
      cmocka_unit_test(names_end_no_element),
      cmocka_unit_test(the_block_has_shapes_and_motion),
      cmocka_unit_test(moments_are_chosen_by_fps),
      cmocka_unit_test(a_long_run_is_thinned_below_5_MB),
      cmocka_unit_test(tables_and_contacts_follow_the_moments),
      cmocka_unit_test(a_table_of_another_scene_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
