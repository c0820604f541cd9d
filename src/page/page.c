/* Writes a run as one HTML file: the template built into the program, with the run's data inserted. */
#include "page/parts.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <string.h>

/* Placeholders in src/page/viewer/page.html for the data and the title. */
static const char DATA_PLACEHOLDER[] = "<!--data-->";
static const char TITLE_PLACEHOLDER[] = "<!--title-->";

PageArray page_start_array(Page* page, int bytes) {
  assert(bytes == 2 || bytes == 4);
  return (PageArray){page->block.length, bytes};
}

void page_add_float(Page* page, double value) { bytes_add_float(&page->block, value); }

void page_add_vector(Page* page, Vec3 v) {
  page_add_float(page, v.x);
  page_add_float(page, v.y);
  page_add_float(page, v.z);
}

void page_add_index(Page* page, PageArray array, int value) {
  bytes_add_integer(&page->block, (uint32_t)value, array.bytes);
}

void page_end_array(Page* page, const char* key, PageArray array) {
  size_t count = (page->block.length - array.offset) / (size_t)array.bytes;
  const double place[3] = {(double)array.offset, (double)count, array.bytes};
  json_vector(&page->json, key, place, 3);
  while (page->block.length % 4 != 0) text_add_bytes(&page->block, "", 1);
}

/* Writes JSON inside a script element. Every '<' becomes \u003c, so that no string can end the element. '<' occurs only
 * in strings, where both are equivalent. */
static void add_json(Text* out, const char* id, const Text* json) {
  text_add(out, "<script type=\"application/json\" id=\"%s\">", id);
  for (size_t i = 0; i < json->length; i++) {
    if (json->data[i] == '<')
      text_add(out, "\\u003c");
    else
      text_add_bytes(out, &json->data[i], 1);
  }
  text_add(out, "</script>\n");
}

/* Embeds summary.json of a run folder, unless it is not valid JSON. */
static void add_json_file(Text* out, const char* id, const char* folder) {
  if (!folder) return;
  Text path = {0};
  text_add(&path, "%s/summary.json", folder);
  Text file = {0};
  if (file_read(path.data, &file.data, &file.length) == STATUS_OK) {
    cJSON* parsed = cJSON_ParseWithLength(file.data, file.length);
    if (parsed) add_json(out, id, &file);
    cJSON_Delete(parsed);
  }
  memory_free(file.data);
  text_free(&path);
}

static void add_live(Page* page, const PageLive* live) {
  json_open(&page->json, "live", '{');
  json_integer(&page->json, "version", live->version);
  json_open(&page->json, "columns", '[');
  for (int k = 0; k < live->column_count; k++) {
    json_open(&page->json, NULL, '{');
    json_text(&page->json, "name", live->columns[k]);
    json_text(&page->json, "unit", run_column_unit("solver.csv", live->columns[k]));
    json_close(&page->json, '}');
  }
  json_close(&page->json, ']');
  json_close(&page->json, '}');
}

static Status write_data(Page* page, PageExtent* extent) {
  json_open(&page->json, NULL, '{');
  json_integer(&page->json, "format", 1);
  if (page->source->live) add_live(page, page->source->live);
  Status status = page_select_rows(page);
  if (status == STATUS_OK) {
    page_add_scene(page);
    status = page_add_tables(page);
  }
  if (status == STATUS_OK) status = page_add_designs(page, &extent->designs);
  json_close(&page->json, '}');
  extent->moments = page->row_count;
  extent->recorded = page->source->run->row_count;
  return status;
}

static void add_data(Text* out, const Page* page) {
  add_json(out, "run", &page->text);
  add_json_file(out, "summary", page->source->folder);
  add_json_file(out, "optimization", page->source->design);
  text_add(out, "<script type=\"text/plain\" id=\"block\">");
  text_add_base64(out, page->block.data, page->block.length);
  text_add(out, "</script>\n");
}

static void add_page(Text* out, const Page* page) {
  const char* template = page_template(), *title = strstr(template, TITLE_PLACEHOLDER),
              *data = strstr(template, DATA_PLACEHOLDER);
  text_add_bytes(out, template, (size_t)(title - template));
  xml_add_escaped(out, page->source->model->scene->name);
  title += strlen(TITLE_PLACEHOLDER);
  text_add_bytes(out, title, (size_t)(data - title));
  add_data(out, page);
  data += strlen(DATA_PLACEHOLDER);
  text_add_bytes(out, data, strlen(data));
}

Status page_available(Diagnostics* diagnostics) {
  const char* version;
  if (page_library_version(&version) > 0) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){NULL, 0, 0},
                  "this build has no page: run `make page` in the source of sdrs, which has npm fetch three.js for it, "
                  "once; a .glb file "
                  "needs none of this");
  return STATUS_IO;
}

Status page_write(Text* out, const PageSource* source, PageExtent* extent, Diagnostics* diagnostics) {
  assert(source->model && source->run);
  *extent = (PageExtent){0};
  if (page_available(diagnostics) != STATUS_OK) return STATUS_IO;
  Page page = {.source = source, .diagnostics = diagnostics};
  page.json.out = &page.text;
  Status status = write_data(&page, extent);
  if (status == STATUS_OK) add_page(out, &page);
  text_free(&page.text);
  text_free(&page.block);
  memory_free(page.rows);
  return status;
}
