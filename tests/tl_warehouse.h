/* For tests: the lake that Timelake wrote, in a store in memory. Include after timelake_mem.h. */
#ifndef TL_WAREHOUSE_H
#define TL_WAREHOUSE_H
#include <dirent.h>
#include <sys/stat.h>

#define WAREHOUSE "tests/data/warehouse/wh"

static const char *const warehouse_tables[] = {
    "iot.trucks", "iot.trucks_json", "iot.trucks_none", "iot.hourly", "iot.monthly", "iot.created", "iot.types",
    "iot.budget_0", "iot.budget_3000", "iot.budget_9000", "iot.many", "iot.compacted", "iot.stale", "iot.unknown_codec",
    "iot.props", "dim.devices"};
#define WAREHOUSE_TABLES (sizeof warehouse_tables / sizeof warehouse_tables[0])

/* Puts every object of one table ("iot.trucks") under s3://demo-lake/wh/, and says its location. */
TL_TEST_FN tl_span warehouse_put(tl_mem *store, const char *table)
{
    static char location[256];
    char folder[512];
    const char *dot = strchr(table, '.');
    DIR *d;
    struct dirent *e;
    snprintf(location, sizeof location, "s3://demo-lake/wh/%.*s/%s", (int)(dot - table), table, dot + 1);
    snprintf(folder, sizeof folder, WAREHOUSE "/%.*s/%s/metadata", (int)(dot - table), table, dot + 1);
    d = opendir(folder);
    CHECK(d != NULL);
    while (d != NULL && (e = readdir(d)) != NULL) {
        char path[1024], key[1024];
        size_t size;
        char *data;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        snprintf(key, sizeof key, "%s/metadata/%s", location, e->d_name);
        data = tl_test_read(path, &size);
        if (data != NULL)
            tl_mem_put(store, tl_text(key), data, size);
        free(data);
    }
    if (d != NULL)
        closedir(d);
    return tl_text(location);
}

/* A key of a table: a static buffer of its own for each of four calls. */
TL_TEST_FN tl_span warehouse_key(tl_span location, const char *name)
{
    static char keys[4][512];
    static int at;
    char *key = keys[at++ % 4];
    snprintf(key, sizeof keys[0], "%.*s/metadata/%s", (int)location.size, location.data, name);
    return tl_text(key);
}
#endif
